# What folders of bins and checkpoints keep of R's values: plain vectors, wherever they come from.

# Files whose values are `bytes(fields)`: their checksums are right, as those of a stranger who knows the format.
with_values <- function(bytes, code) {
  real <- values_bytes
  on.exit(utils::assignInNamespace("values_bytes", real, "gbt"))
  utils::assignInNamespace("values_bytes", function(fields) bytes(fields, real), "gbt")
  force(code)
}

x <- mtcars[-1]
folder_with <- function(bytes, label = mtcars$mpg, ..., env = parent.frame()) {
  path <- file.path(withr::local_tempdir(.local_envir = env), "bins")
  with_values(bytes, gbt_data(x, label, ..., path = path, threads = 1))
  path
}
train <- function(d, ...) gbt_train(d, nrounds = 1, threads = 1, ...)

test_that("labels of every kind come back as they were", {
  keys <- list(
    mtcars$mpg, as.integer(mtcars$cyl), mtcars$am == 1, factor(mtcars$gear, 3:6), ordered(mtcars$carb),
    rep(c("z", "\u00e9", "a, \"b\""), length.out = 32), factor(rep("one", 32)), c(NaN_free = 1:32 / 7)
  )
  for (label in keys) {
    d <- gbt_open(folder_with(function(fields, real) real(fields), label), threads = 1)
    expect_identical(d$label, unname(label))
  }
  plain <- folder_with(function(fields, real) real(fields), structure(mtcars$mpg, class = "odd"))
  expect_identical(gbt_open(plain)$label, mtcars$mpg)
  skip_if_not_installed("bit64")
  long <- bit64::as.integer64(mtcars$cyl)
  expect_identical(gbt_open(folder_with(function(fields, real) real(fields), long))$label, long)
})

test_that("R's own serialisation in a folder or a checkpoint is never read", {
  code <- function(fields, real) serialize(fields, NULL)
  path <- folder_with(code)
  expect_error(gbt_open(path), "make the folder again with gbt_data\\(path = \\)", class = "gbt_error_format")
  at <- withr::local_tempdir()
  with_values(code, gbt_train(x, mtcars$mpg, nrounds = 1, seed = 1, checkpoint = at, threads = 1))
  expect_error(gbt_train(x, mtcars$mpg, nrounds = 2, seed = 1, eta = 0.3, checkpoint = at, threads = 1), "remove it",
               class = "gbt_error")
  read <- unlist(lapply(ls(asNamespace("gbt"), all.names = TRUE), function(name) {
    f <- get(name, asNamespace("gbt"))
    if (is.function(f) && any(c("unserialize", "readRDS", "load") %in% all.names(body(f)))) name
  }))
  # chunks of sources and jobs, in folders that only this user may write to
  expect_setequal(read, c("read_columns", "read_part", "start_by_callr", "start_by_mirai"))
})

test_that("values that are not what gbt writes are refused, with right checksums", {
  wrong <- list(
    label = list(1:32, "a", list(kind = "double", value = 1, classes = NULL),
                 list(kind = "double", value = rep(NA_real_, 32), classes = NULL),
                 list(kind = "factor", value = rep(3L, 32), classes = c("a", "b")),
                 list(kind = "factor", value = rep(0L, 32), classes = c("a", "b")),
                 list(kind = "factor", value = rep(1L, 32), classes = c("a", "a")),
                 list(kind = "factor", value = rep(1, 32), classes = "a"),
                 list(kind = "factor", value = rep(1L, 32), classes = NULL),
                 list(kind = "logical", value = rep(1L, 32), classes = c("no", "yes")),
                 list(kind = "integer", value = rep(1L, 32), classes = "a"),
                 list(kind = "data.frame", value = rep(1, 32), classes = NULL)),
    weight = list(1, rep(1L, 32), "a", stats::setNames(rep(1, 32), rep("a", 32)), list()),
    offset = list(1:3 / 2, list(1)), time = list(rep("a", 32)), group = list(TRUE),
    exposed = list("a", 1, NA_character_), max_bin = list(0, NA, "a", c(2, 3), NULL), sparse_zero = list("no", NULL, 1),
    is_reference = list(NA, 1, NULL), offset_columns = list(-1, 2, NA, "a", NULL),
    start = list(1, list(), list(model = 300L, score = rep(1, 32)), list(model = 1L, score = rep(Inf, 32)),
                 list(score = rep(1, 32), model = 1L), list(model = 1L, score = 1))
  )
  for (name in names(wrong)) {
    for (value in wrong[[name]]) {
      path <- folder_with(function(fields, real) {
        fields[name] <- list(value)
        real(fields)
      })
      expect_error(gbt_open(path, threads = 1), "keeps values that are damaged", class = "gbt_error_format",
                   info = paste(name, deparse(value)[1L]))
    }
    path <- folder_with(function(fields, real) real(fields[setdiff(names(fields), name)]))
    expect_error(gbt_open(path), "keeps values that are damaged", class = "gbt_error_format", info = name)
  }
})

test_that("a checkpoint's values are checked", {
  half <- gbt_metric("half", function(pred, label) 0.5, maximise = TRUE)
  run <- function(at, nrounds) {
    gbt_train(x, mtcars$mpg, nrounds = nrounds, seed = 1, eta = 0.3, eval_metric = half, eval_train = TRUE,
              checkpoint = at, checkpoint_seconds = 0, threads = 1)
  }
  wrong <- list(why = list(1, NA_character_, NULL, c("a", "b")), columns = list(1, NULL, NA_character_),
                own = list(1L, numeric(0), c(1, 2, 3), "a", NULL, c(a = 1, b = 2), list(1, 2)))
  for (name in names(wrong)) {
    for (value in wrong[[name]]) {
      at <- withr::local_tempdir()
      with_values(function(fields, real) {
        fields[name] <- list(value)
        real(fields)
      }, run(at, 2))
      expect_error(run(at, 3), "keeps values that are damaged.*remove it", class = "gbt_error_format",
                   info = paste(name, deparse(value)[1L]))
    }
  }
})

test_that("damaged values with right checksums are refused or used, and nothing else", {
  set.seed(3)
  odd <- list(as.raw(0), as.raw(255), as.raw(1), as.raw(128))
  damage <- function(bytes) {
    for (i in seq_len(sample(3, 1))) bytes[sample(length(bytes), 1)] <- if (runif(1) < 0.5) sample(odd, 1)[[1L]] else
      as.raw(sample(0:255, 1))
    bytes
  }
  outcome <- function(expr) {
    caught <- tryCatch(expr, error = identity)
    if (!inherits(caught, "error")) return("used")
    if (inherits(caught, "gbt_error")) "refused" else conditionMessage(caught)
  }
  cases <- if (long_form()) 150 else 40
  seen <- character(0)
  offset <- matrix(1:96 / 100, 32)
  for (i in seq_len(cases)) {
    path <- folder_with(function(fields, real) damage(real(fields)), factor(mtcars$cyl), weight = 1:32, offset = offset,
                        time = 1:32)
    seen <- c(seen, outcome(train(gbt_open(path, threads = 1), objective = "softmax")))
    unlink(path, recursive = TRUE)
  }
  expect_setequal(seen, c("used", "refused"))
  half <- gbt_metric("half", function(pred, label) 0.5, maximise = TRUE)
  seen <- character(0)
  at <- withr::local_tempdir()
  for (i in seq_len(cases)) {
    run <- function(n) gbt_train(x, mtcars$mpg, nrounds = n, seed = 1, eta = 0.3, eval_metric = half, eval_train = TRUE,
                                 checkpoint = at, checkpoint_seconds = 0, threads = 1)
    unlink(file.path(at, "*"))
    with_values(function(fields, real) damage(real(fields)), run(1))
    seen <- c(seen, outcome(run(2)))
  }
  expect_true(all(seen %in% c("used", "refused")), info = paste(unique(seen), collapse = "; "))
})
