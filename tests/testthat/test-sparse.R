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
