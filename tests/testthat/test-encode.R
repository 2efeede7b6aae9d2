# Frames are checked against what base R makes of the same column.

test_that("columns of a data frame are taken as they lie", {
  x <- data.frame(d = c(1.5, NA), i = c(1L, NA), l = c(TRUE, NA), f = factor(c("b", NA), c("b", "a")),
                  o = factor(c("lo", "hi"), c("lo", "hi"), ordered = TRUE), day = as.Date(c("2020-01-01", NA)))
  x$t <- as.POSIXct(c(0, 60), origin = "1970-01-01", tz = "UTC")
  x$u <- as.difftime(c(1, 2), units = "hours")
  f <- encode_x(x)
  expect_identical(f$n_rows, 2)
  expect_identical(f$names, names(x))
  expect_identical(f$tag, c("double", "integer", "logical", "factor", "ordered", "Date", "POSIXct", "difftime:hours"))
  expect_identical(f$type, c(0L, 0L, 0L, 1L, 2L, 0L, 0L, 0L))
  expect_identical(f$storage, c(0L, 1L, 1L, 3L, 3L, 0L, 0L, 0L))
  expect_identical(f$levels[4:5], list(c("b", "a"), c("lo", "hi")))
  for (j in seq_along(x)) expect_identical(f$values[[j]], x[[j]])
})

test_that("integer dates, tables of one column and integer64 are understood", {
  x <- data.frame(day = structure(1:2, class = "Date"))
  x$z <- scale(c(1, 3))
  f <- encode_x(x)
  expect_identical(f$storage, c(1L, 0L))
  expect_identical(f$values[[2]], as.vector(x$z), ignore_attr = TRUE)
  skip_if_not_installed("bit64")
  f <- encode_x(data.frame(a = bit64::as.integer64(c("9007199254740993", NA))))
  expect_identical(f$tag, "integer64")
  expect_identical(f$storage, 2L)
})

test_that("texts become codes of the texts that occur", {
  s <- c("b", NA, "a", "b", "NA")
  f <- encode_x(data.frame(s = s))
  expect_identical(f$levels[[1]][f$values[[1]]], s)
  expect_identical(f$levels[[1]], c("b", "a", "NA"))
  expect_identical(f$type, 1L)
})

test_that("POSIXlt is converted", {
  t <- as.POSIXlt("2020-02-03 04:05:06", tz = "UTC")
  x <- data.frame(a = 1)
  x$t <- t
  expect_identical(as.double(encode_x(x)$values[[2]]), as.double(as.POSIXct(t)))
})

test_that("tibbles and data.tables are data frames", {
  skip_if_not_installed("tibble")
  skip_if_not_installed("data.table")
  f <- encode_x(iris)
  expect_identical(encode_x(tibble::as_tibble(iris)), f)
  expect_identical(encode_x(data.table::as.data.table(iris)), f)
})

test_that("matrices are taken whole, with or without names", {
  m <- matrix(1:6, 3)
  f <- encode_x(m)
  expect_identical(f$names, c("f1", "f2"))
  expect_identical(f$matrix, m)
  expect_identical(f$storage, c(1L, 1L))
  expect_identical(encode_x(m > 2)$tag, c("logical", "logical"))
  colnames(m) <- c("a", "b")
  expect_identical(encode_x(m)$names, c("a", "b"))
})

test_that("every kind of sparse matrix is the same columns", {
  skip_if_not_installed("Matrix")
  dense <- function(f) {
    out <- matrix(0, f$n_rows, length(f$names))
    for (j in seq_along(f$names)) {
      at <- seq_len(f$p[j + 1] - f$p[j]) + f$p[j]
      out[f$i[at] + 1, j] <- if (is.null(f$x)) 1 else f$x[at]
    }
    out
  }
  m <- matrix(c(0, 2, 0, 2, 0, 3, 0, 3, 5), 3)
  S <- methods::as(m, "CsparseMatrix")
  kinds <- list(S, methods::as(S, "generalMatrix"), methods::as(S, "RsparseMatrix"), methods::as(S, "TsparseMatrix"),
                Matrix::forceSymmetric(S))
  for (k in kinds) expect_identical(dense(encode_x(k)), m)
  logical <- list(S != 0, methods::as(S != 0, "nMatrix"), methods::as(methods::as(S != 0, "nMatrix"), "TsparseMatrix"))
  for (k in logical) expect_identical(dense(encode_x(k)), (m != 0) + 0)
  expect_identical(dense(encode_x(Matrix::Diagonal(2))), diag(2))
  expect_identical(dense(encode_x(Matrix::triu(S))), m * upper.tri(m, TRUE))
  doubled <- methods::new("dgTMatrix", i = c(0L, 0L), j = c(0L, 0L), x = c(1, 2), Dim = c(1L, 1L))
  expect_identical(dense(encode_x(doubled)), matrix(3))
  expect_true(encode_x(S, "missing")$absent_missing)
  expect_false(encode_x(S)$absent_missing)
})

test_that("names and levels are turned into UTF-8", {
  latin <- "caf\xe9"
  Encoding(latin) <- "latin1"
  x <- data.frame(a = factor(latin))
  names(x) <- latin
  f <- encode_x(x)
  expect_identical(charToRaw(f$names), charToRaw("caf\u00e9"))
  expect_identical(charToRaw(f$levels[[1]]), charToRaw("caf\u00e9"))
  expect_identical(Encoding(f$names), "UTF-8")
})

test_that("what cannot be a column is refused by name", {
  x <- data.frame(id = 1:2)
  x$parts <- list(1, 2)
  z <- data.frame(id = 1:2)
  z$inner <- data.frame(a = 1:2)
  w <- data.frame(id = 1:2)
  w$wide <- matrix(1:4, 2)
  bytes <- data.frame(a = 1)
  names(bytes) <- "\xe9\xff"
  expect_snapshot(error = TRUE, {
    encode_x(x)
    encode_x(z)
    encode_x(w)
    encode_x(data.frame(c = 1i))
    encode_x(data.frame(r = raw(1)))
    encode_x(structure(list(a = 1:3, b = 1:2), class = "data.frame", row.names = 1:3))
    encode_x(stats::setNames(data.frame(1, 2, 3), c("a", "b", "a")))
    encode_x(stats::setNames(data.frame(1, 2, 3), c("a", "", NA)))
    encode_x(bytes)
    encode_x(data.frame())
    encode_x(matrix(0, 2, 0))
    encode_x(matrix("a"))
    encode_x(array(0, c(2, 2, 2)))
    encode_x(list(a = 1))
    encode_x(1:3)
    encode_x(NULL)
    encode_x(sum)
  })
})

test_that("times are converted to the unit of training, and never mistaken for each other", {
  f <- encode_x(data.frame(u = as.difftime(c(1, 2), units = "hours"), n = 1:2))
  expect_identical(align_frame(f, c("u", "n"), c("difftime:mins", "integer"))$values[[1]], c(60, 120))
  expect_identical(align_frame(f, c("u", "n"), c("difftime:hours", "integer")), f)
  expect_identical(align_frame(encode_x(data.frame(d = 5)), "d", "Date")$values[[1]], 5)
  expect_snapshot(error = TRUE, {
    align_frame(encode_x(data.frame(d = Sys.time())), "d", "Date")
    align_frame(encode_x(data.frame(d = Sys.Date())), "d", "double")
  })
})

test_that("a response of any kind becomes numbers and classes", {
  seen <- function(y) encode_y(y)[c("value", "response", "classes", "used")]
  expect_identical(seen(factor(c("b", "a"), c("b", "c", "a"))),
                   list(value = c(0, 2), response = "factor", classes = c("b", "c", "a"), used = c(1L, 3L)))
  expect_identical(seen(c("b", "a", "b")),
                   list(value = c(1, 0, 1), response = "character", classes = c("a", "b"), used = 1:2))
  expect_identical(seen(TRUE), list(value = 1, response = "logical", classes = c("FALSE", "TRUE"), used = 2L))
  numbers <- function(y) encode_y(y)[c("value", "response", "classes")]
  expect_identical(numbers(matrix(1:2, 2)), list(value = c(1, 2), response = "integer", classes = NULL))
  expect_identical(numbers(data.frame(y = c(1.5, 2))), list(value = c(1.5, 2), response = "double", classes = NULL))
  expect_identical(encode_y(factor(c("c", "a"), c("a", "b", "c")), classes = c("c", "a"))$value, c(0, 1))
  expect_snapshot(error = TRUE, {
    encode_y(c(1, NA, NA))
    encode_y(factor(NA))
    encode_y(Sys.Date())
    encode_y(list(1))
    encode_y(NULL)
    encode_y(1i)
    encode_y(factor("z"), classes = c("a", "b"))
    encode_y(1, classes = c("a", "b"))
  })
})

test_that("texts in several encodings, many of them, become the codes that unique() and match() give", {
  slowly <- function(v) {
    texts <- unique(v)
    texts <- texts[!is.na(texts)]
    list(codes = match(v, texts), texts = enc2utf8(texts))
  }
  set.seed(1)
  utf8 <- c("M\u00fcller", "M\u00fcnchen", "\u00e9t\u00e9", "na\u00efve")
  latin <- iconv(utf8, "UTF-8", "latin1")
  expect_identical(unique(Encoding(latin)), "latin1")
  plain <- c("a", "", "NA", NA, "Muller")
  v <- c(sample(c(latin, utf8, plain), 500, TRUE))
  for (x in list(v, rev(v), latin, utf8, plain, character(0), NA_character_, rep("a", 10))) {
    got <- gbt:::text_codes(x, "a text")
    expect_identical(got, slowly(x))
    expect_true(all(Encoding(got$texts) %in% c("unknown", "UTF-8")))
  }
  many <- paste0(c("x", "\u00fc"), sample(9e4, 1.2e5, TRUE))
  many[sample(1.2e5, 100)] <- NA
  mixed <- many
  mixed[1:1000] <- iconv(many[1:1000], "UTF-8", "latin1")
  for (x in list(many, mixed)) expect_identical(gbt:::text_codes(x, "a text"), slowly(x))
  expect_identical(encode_y(mixed[!is.na(mixed)])$classes, sort(unique(enc2utf8(many[!is.na(many)])), method = "radix"))
  bad <- c(many, "\xff")
  expect_error(gbt:::text_codes(bad, "a text"), "a text is not valid text", class = "gbt_error_data")
})

test_that("the first text that was there before is found as anyDuplicated() finds it", {
  set.seed(1)
  twin <- function(x) .Call(gbt:::C_gbt_text_twin, x)
  for (x in list(letters, c(letters, "a"), c("b", NA, "a", NA), character(0), as.character(c(1:1e5, 17, 3)))) {
    expect_identical(twin(x), as.double(anyDuplicated(x)))
  }
})

test_that("of a logical matrix those columns are missing that hold nothing but NA", {
  x <- cbind(a = c(NA, TRUE, NA), b = NA, c = c(TRUE, NA, NA), d = FALSE)
  expect_identical(encode_x(x)$tag, c("logical", "missing", "logical", "logical"))
  expect_identical(encode_x(x[3, , drop = FALSE])$tag, c("missing", "missing", "missing", "logical"))
  expect_identical(encode_x(x[0, ])$tag, rep("missing", 4))
  m <- gbt_train(x[, -2], 1:3, nrounds = 1, threads = 1)
  expect_identical(predict(m, x[0, ]), numeric(0))
})
