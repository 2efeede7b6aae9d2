# Where predictions are made: what "auto" weighs, and what happens when the device fails.

model <- gbt_train(mpg ~ ., mtcars, nrounds = 20, device = "cpu", threads = 1)

test_that("small predictions are the cpu's without a look at the machine", {
  withr::local_envvar(GBT_DEVICE = NA)
  withr::local_options(gbt.device = NULL, gbt.device_costs = NULL)
  size <- list(rows = 1e5, columns = 10, trees = 99)
  expect_null(gbt:::prediction_device(NULL, size, 1L))
  expect_null(gbt:::prediction_device("auto", size, 1L))
  expect_null(gbt:::prediction_device("auto", list(rows = 1e9, columns = 1, trees = Inf), 1L)) # nobody knows how many
  expect_null(gbt:::prediction_device(NULL, list(rows = 0, columns = 1, trees = Inf), 1L))
  expect_identical(gbt:::prediction_device("cpu", size, 1L)$kind, "cpu")
  expect_error(predict(model, mtcars, device = "gppu"), class = "gbt_error_argument")
})

test_that("what auto expects grows with the work, and the start counts once", {
  state <- gbt:::package_state
  old <- state$cuda_started
  withr::defer(assign("cuda_started", old, envir = state))
  costs <- gbt:::device_costs()
  expected <- function(rows, columns, trees, threads = 2) {
    gbt:::expected_of_prediction(list(rows = rows, columns = columns, trees = trees), threads, costs)
  }
  state$cuda_started <- NULL
  expect_true(all(expected(2e6, 28, 500) > expected(1e6, 28, 500)))
  expect_true(all(expected(1e6, 28, 501) > expected(1e6, 28, 500)))
  expect_gt(expected(1e6, 29, 500)[["cuda"]], expected(1e6, 28, 500)[["cuda"]])
  expect_lt(expected(1e6, 28, 500, 8)[["cpu"]], expected(1e6, 28, 500, 2)[["cpu"]])
  pays <- function(...) expected(...)[["cuda"]] * costs$margin < expected(...)[["cpu"]]
  expect_false(pays(1e6, 28, 500))
  expect_true(pays(20e6, 28, 500))
  state$cuda_started <- TRUE
  expect_true(pays(1e6, 28, 500))
  expect_false(pays(1e6, 2000, 500)) # moving the numbers would take longer
})

test_that("auto takes a device that pays, and goes back to the cpu when it fails", {
  skip_if_not_emulated()
  expected <- predict(model, mtcars, device = "cpu")
  leaves <- predict(model, mtcars, type = "leaf", device = "cpu")
  local_eager()
  expect_identical(gbt:::prediction_device(NULL, list(rows = 1, columns = 1, trees = 1), 1L)$kind, "cuda")
  expect_silent(got <- predict(model, mtcars))
  expect_identical(got, expected)
  withr::with_envvar(c(SIMT_MEMORY = "4096"), {
    expect_error(predict(model, mtcars, device = "cuda"), "device memory", class = "gbt_error_memory")
    expect_warning(got <- predict(model, mtcars), "device memory", class = "gbt_warning_device")
    expect_identical(got, expected)
  })
  withr::with_envvar(c(SIMT_DRIVER = "none"), {
    expect_error(predict(model, mtcars, device = "cuda"), "driver", class = "gbt_error_device")
    expect_silent(got <- predict(model, mtcars))
    expect_identical(got, expected)
  })
  for (at in c(1, 3, 8, 15, 25, 40)) {
    withr::with_envvar(c(SIMT_FAIL = paste0(at, "+")), {
      got <- suppressWarnings(predict(model, mtcars, type = "leaf"), classes = "gbt_warning_device")
    })
    expect_identical(got, leaves)
  }
  expect_identical(predict(model, mtcars, device = "cuda"), expected)
})
