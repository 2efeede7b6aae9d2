# Data that come in chunks: gbt_data(x = function(i) ...).

n <- 2000
d <- data.frame(
  f = factor(sprintf("l%02d", seq_len(n) %% 23)), t = letters[seq_len(n) %% 9 + 1], v = sin(seq_len(n)),
  w = replace(cos(seq_len(n)), seq_len(n) %% 13 == 0, NA), k = seq_len(n) %% 6L,
  o = factor(seq_len(n) %% 3, ordered = TRUE)
)
y <- d$v + seq_len(n) %% 23 / 8
weights <- 1 + seq_len(n) %% 4
trees <- function(...) as.data.frame(gbt_train(..., nrounds = 4, seed = 1, threads = 1))

# Rows of d in chunks of so many, levels that do not occur left out; more: see chunk_at().
in_chunks <- function(rows, more = function(at) NULL, x = d) {
  force(more)
  function(i) {
    at <- seq_len(nrow(x))[(seq_len(nrow(x)) - 1) %/% rows == i - 1]
    if (length(at) == 0L) return(NULL)
    chunk <- x[at, , drop = FALSE]
    chunk$f <- droplevels(chunk$f)
    if (is.null(more(at))) chunk else c(list(x = chunk), more(at))
  }
}

test_that("data in chunks are those of one data frame", {
  want <- trees(d, y)
  for (rows in c(7, 256, 1999, 2000, 5000)) {
    expect_identical(trees(gbt_data(in_chunks(rows), y, threads = 1)), want)
  }
  few <- d[1:60, ]
  expect_identical(trees(gbt_data(in_chunks(1, x = few), y[1:60], threads = 1)), trees(few, y[1:60]))
  same <- function(...) {
    expect_identical(trees(gbt_data(in_chunks(300), y, ..., threads = 1)), trees(gbt_data(d, y, ..., threads = 1)))
  }
  same(max_bin = 9)
  same(cat_features = "k")
  same(level_counts = "f")
  reference <- gbt_data(in_chunks(500), y, threads = 1)
  valid <- function(x, ...) gbt_data(x, y[1:200], reference = reference, threads = 1, ...)
  expect_identical(trees(reference, valid = valid(in_chunks(90, x = d[1:200, 6:1])), early_stopping_rounds = 1),
                   trees(reference, valid = valid(d[1:200, ]), early_stopping_rounds = 1))
})

test_that("matrices, sparse ones too, come in chunks", {
  m <- as.matrix(d[3:5])
  by <- function(x) function(i) if (i <= 4) x[(i - 1) * 500 + 1:500, , drop = FALSE]
  expect_identical(trees(gbt_data(by(m), y, threads = 1)), trees(m, y))
  skip_if_not_installed("Matrix")
  s <- Matrix::Matrix(replace(m, is.na(m) | abs(m) < 0.9, 0), sparse = TRUE)
  expect_identical(trees(gbt_data(by(s), y, threads = 1)), trees(s, y))
  expect_identical(trees(gbt_data(by(s), y, sparse_zero = "missing", threads = 1)),
                   trees(s, y, sparse_zero = "missing"))
})

test_that("labels, weights and the like come with the chunks", {
  lists <- in_chunks(450, function(at) list(label = y[at], weight = weights[at], offset = d$v[at], group = d$t[at]))
  a <- gbt_data(lists, threads = 1)
  b <- gbt_data(d, y, weight = weights, offset = d$v, group = d$t, threads = 1)
  fields <- c("label", "weight", "offset", "time", "group", "max_bin", "sparse_zero", "is_reference")
  expect_identical(unclass(a)[fields], unclass(b)[fields])
  expect_identical(trees(a), trees(b))
  path <- file.path(withr::local_tempdir(), "bins")
  expect_identical(trees(gbt_data(lists, path = path, memory = 0, page_rows = 300, threads = 1)), trees(b))
  expect_identical(trees(gbt_open(path, threads = 1)), trees(b))
  classes <- factor(c("u", "v", "w")[seq_len(n) %% 3 + 1])
  parts <- in_chunks(2, function(at) list(label = droplevels(classes[at])))
  expect_identical(gbt_data(parts, threads = 1)$label, factor(classes, unique(as.character(classes))))
  expect_identical(gbt_data(in_chunks(450), weight = weights, threads = 1)$weight, weights)
})

test_that("mistakes with chunks are named, and a function's own errors come through", {
  wrong <- function(x, text, class = "gbt_error_data", ...) {
    expect_error(gbt_data(x, ..., threads = 1), text, fixed = TRUE, class = class)
  }
  up_to <- function(n, chunk) function(i) if (i <= n) chunk(i)
  wrong(function(i) NULL, "there are no chunks")
  wrong(up_to(2, function(i) 5), "must be a data frame, a matrix or a sparse matrix")
  wrong(up_to(2, function(i) stats::setNames(data.frame(1), c("x", "y")[i])), "column 1 is `y`, in the first chunk it")
  wrong(up_to(1, function(i) list(d, 3)), "chunk 1 is a list with no names")
  wrong(up_to(1, function(i) list(x = d, labels = y)), "chunk 1 is a list with `x`, `labels`")
  wrong(up_to(2, function(i) if (i == 1) list(x = d, label = y) else d), "chunk 2 has other parts than chunk 1")
  wrong(up_to(2, function(i) list(x = d, label = 1:3)), "`label` of chunk 1 has 3 values for 2,000 rows")
  wrong(in_chunks(500), "`label` has 3 values for 2,000 rows", label = 1:3)
  wrong(in_chunks(500), "`weight` has 1 value for 2,000 rows", weight = 2)
  wrong(in_chunks(500, function(at) list(label = y[at])), "argument and by the chunks", "gbt_error_argument",
        label = y)
  times <- 0
  wrong(up_to(2, function(i) data.frame(v = (times <<- times + 1) + 1:50)), "every pass must yield the same rows")
  for (at in 1:4) {
    reader <- function(i) if (i == at) stop("the reader's own words") else if (i < 5) d[1:40, ]
    expect_error(gbt_data(reader, threads = 1), "the reader's own words", class = "gbt_error_callback")
  }
  late <- 0
  reader <- function(i) {
    late <<- late + 1
    if (late == 12) stop("in a later pass")
    in_chunks(500)(i)
  }
  path <- file.path(withr::local_tempdir(), "bins")
  expect_error(gbt_data(reader, path = path, threads = 1), "in a later pass", class = "gbt_error_callback")
  expect_false(file.exists(path)) # nothing is left
  expect_error(gbt_data(function(i) signalCondition(structure(class = c("own", "condition"), list(message = "m"))),
                        threads = 1), class = "gbt_error_data")
  inside <- gbt_data(function(i) if (i < 3) {
    gbt_train(d[1:50, ], y[1:50], nrounds = 1, threads = 1) # gbt inside of a reader
    d[1:40, ]
  }, threads = 1)
  expect_identical(dim(inside), c(80L, 6L))
})
