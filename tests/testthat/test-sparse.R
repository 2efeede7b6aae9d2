# Every class of sparse matrix gives the model of its dense twin, byte for byte, and the same predictions.

sparse_twins <- function(dense) {
  column <- methods::as(dense, "CsparseMatrix")
  list(dgC = column, dgR = methods::as(column, "RsparseMatrix"), dgT = methods::as(column, "TsparseMatrix"))
}

test_that("dgC, dgR and dgT matrices equal their dense twin", {
  skip_if_not_installed("Matrix")
  loadNamespace("Matrix")
  set.seed(5)
  dense <- matrix(ifelse(runif(6000) < 0.15, round(rnorm(6000), 2), 0), 300, 20,
                  dimnames = list(NULL, paste0("v", 1:20)))
  y <- dense[, 1] - dense[, 2] * 2 + rnorm(300)
  want <- gbt_train(dense, y, nrounds = 8, threads = 1)
  twins <- sparse_twins(dense)
  expect_true(methods::is(twins$dgC, "dgCMatrix") && methods::is(twins$dgR, "dgRMatrix") &&
                methods::is(twins$dgT, "dgTMatrix"))
  for (class in names(twins)) {
    expect_identical(gbt_train(twins[[class]], y, nrounds = 8, threads = 2)$state, want$state, info = class)
    expect_identical(predict(want, twins[[class]]), predict(want, dense), info = class)
  }
})

test_that("lgC and ngC matrices equal their dense twin", {
  skip_if_not_installed("Matrix")
  loadNamespace("Matrix")
  set.seed(6)
  dense <- matrix(as.double(runif(4000) < 0.2), 200, 20, dimnames = list(NULL, paste0("v", 1:20)))
  y <- dense[, 1] - dense[, 2] * 2 + rnorm(200)
  want <- gbt_train(dense, y, nrounds = 8, threads = 1)
  logical <- methods::as(methods::as(dense, "CsparseMatrix"), "lMatrix")
  pattern <- methods::as(methods::as(dense, "CsparseMatrix"), "nMatrix")
  expect_true(methods::is(logical, "lgCMatrix") && methods::is(pattern, "ngCMatrix"))
  for (x in list(logical, pattern)) {
    got <- gbt_train(x, y, nrounds = 8, threads = 1)
    expect_identical(as.data.frame(got), as.data.frame(want), info = class(x))
    expect_identical(predict(got, x), predict(want, dense), info = class(x))
  }
})

test_that("65,535 bins are as good as values", {
  set.seed(7)
  x <- data.frame(a = rnorm(70000), b = seq_len(70000))
  y <- sin(x$a) + x$b / 70000
  m <- gbt_train(x, y, nrounds = 2, max_bin = 65535, threads = 2)
  expect_identical(gbt_train(x, y, nrounds = 2, max_bin = 65535, threads = 1)$state, m$state)
  expect_identical(predict(m, x[1:100, ]), predict(m, x)[1:100])
})

test_that("a slot that is broken is an error that names it, before anything reads the matrix", {
  skip_if_not_installed("Matrix")
  loadNamespace("Matrix")
  dense <- matrix(c(1, 0, 2, 0, 3, 4), 3, 2, dimnames = list(NULL, c("a", "b")))
  good <- methods::as(methods::as(dense, "CsparseMatrix"), "generalMatrix")
  m <- gbt_train(good, 1:3, nrounds = 1, threads = 1)
  broken <- function(slot, value) {
    x <- good
    attr(x, slot) <- value
    x
  }
  wrong <- list(
    Dim = list(broken("Dim", NULL), broken("Dim", c(3, 2)), broken("Dim", c(3L, NA)), broken("Dim", c(-3L, 2L))),
    Dimnames = list(broken("Dimnames", NULL), broken("Dimnames", list(NULL, 1:2)),
                    broken("Dimnames", list(NULL, factor(c("a", "b")))), broken("Dimnames", list(NULL, "a"))),
    p = list(broken("p", NULL), broken("p", c(0L, 2L)), broken("p", c(1L, 2L, 4L)), broken("p", c(0L, 3L, 2L)),
             broken("p", c(0L, 2L, 9L)), broken("p", c(0, 2, 4))),
    i = list(broken("i", NULL), broken("i", c(0, 2, 1, 2)), broken("i", "a")),
    x = list(broken("x", NULL), broken("x", 1:4), broken("x", c(TRUE, FALSE, TRUE, TRUE)))
  )
  for (slot in names(wrong)) {
    for (x in wrong[[slot]]) {
      said <- paste("is broken:.*slots?", slot)
      expect_error(gbt_train(x, 1:3, nrounds = 1, threads = 1), said, class = "gbt_error_data")
      expect_error(gbt_train(x, 1:3, nrounds = 1, valid = 0.4, threads = 1), said, class = "gbt_error_data")
      expect_error(gbt_train(good, 1:3, nrounds = 1, valid = list(x = x, y = 1:3), threads = 1), said,
                   class = "gbt_error_data")
      expect_error(gbt_data(x, threads = 1), said, class = "gbt_error_data")
      expect_error(predict(m, x), said, class = "gbt_error_data")
    }
  }
  expect_error(gbt_data(broken("x", c(1, 2))), "slots i and x differ", class = "gbt_error_data")
  # entries: by the engine, or here when rows are taken
  for (i in list(c(0L, 3L, 1L, 2L), c(-1L, 2L, 1L, 2L), c(0L, NA, 1L, 2L), c(2L, 0L, 1L, 2L), c(0L, 0L, 1L, 2L))) {
    x <- broken("i", i)
    expect_error(gbt_train(x, 1:3, nrounds = 1, threads = 1), "`a`", class = "gbt_error_data")
    expect_error(gbt_train(x, 1:3, nrounds = 1, valid = 0.4, threads = 1), "is broken: slot i",
                 class = "gbt_error_data")
    expect_error(predict(m, x), "`a`", class = "gbt_error_data")
  }
  # other classes are checked by package Matrix
  row <- methods::as(good, "RsparseMatrix")
  attr(row, "j") <- c(0L, 7L, 0L, 1L)
  expect_error(gbt_train(row, 1:3, nrounds = 1, valid = 0.4, threads = 1), "is broken", class = "gbt_error_data")
})
