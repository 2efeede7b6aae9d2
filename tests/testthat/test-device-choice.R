# What is decided before any device is looked at, and the messages when there is none.

# Makes gbt believe that it was installed otherwise.
local_build <- function(..., env = parent.frame()) {
  state <- gbt:::package_state
  old <- gbt:::cuda_build()
  withr::defer(assign("cuda_build", old, envir = state), envir = env)
  state$cuda_build <- utils::modifyList(old, list(...))
}

train <- function(...) gbt_train(mpg ~ ., mtcars, nrounds = 2, ..., threads = 1)

test_that("requests for devices are read", {
  withr::local_envvar(GBT_DEVICE = NA)
  withr::local_options(gbt.device = NULL)
  request <- function(x) unlist(gbt:::check_device(x)[c("kind", "number")])
  is <- function(kind, number = 0L) c(kind = kind, number = as.character(number))
  expect_identical(request(NULL), is("auto"))
  expect_identical(request(c("auto", "cpu", "cuda")), is("auto"))
  expect_identical(request("cpu"), is("cpu"))
  expect_identical(request("cuda"), is("cuda"))
  expect_identical(request("cuda:12"), is("cuda", 12L))
  expect_identical(request("CPU"), is("cpu"))
  expect_identical(request("Gpu"), is("cuda"))
  withr::local_envvar(GBT_DEVICE = "cuda:2")
  expect_identical(request(NULL), is("cuda", 2L))
  withr::local_options(gbt.device = "cpu")
  expect_identical(request(NULL), is("cpu"))
  expect_identical(request("cuda"), is("cuda"))
  expect_identical(request("gpu:1"), is("cuda", 1L))
  withr::with_options(list(gbt.device = "fast"), expect_error(gbt:::check_device(NULL), "gbt.device"))
  withr::with_options(list(gbt.device = NULL), withr::with_envvar(c(GBT_DEVICE = "fast"), {
    expect_error(gbt:::check_device(NULL), "GBT_DEVICE", class = "gbt_error_argument")
  }))
  for (wrong in list("cuda:", "cuda:-1", "cuda:x", "cuda:1.5", "CPU0", 1, NA_character_, c("cpu", "cpu"))) {
    expect_error(gbt:::check_device(wrong), class = "gbt_error_argument")
  }
  expect_snapshot(error = TRUE, {
    train(device = "gppu")
    train(device = "cuda:one")
    predict(train(), mtcars, device = "cuda1")
    gbt_data(mtcars, device = 1)
  })
})

test_that("requests for several devices are read", {
  withr::local_envvar(GBT_DEVICE = NA)
  withr::local_options(gbt.device = NULL)
  request <- function(devices, device = "cuda") gbt:::check_devices(devices, gbt:::check_device(device))$devices
  expect_null(request(NULL))
  expect_identical(request("ALL"), "all")
  expect_identical(request(0:3), 0:3)
  expect_identical(request(c(2, 0)), c(2L, 0L))
  expect_identical(request("0:2:1"), c(0L, 2L, 1L))
  expect_identical(request("0,3"), c(0L, 3L))
  expect_identical(request("0-2:5"), c(0L, 1L, 2L, 5L))
  expect_null(request(0, "auto")) # the first device is the usual one
  expect_null(request("1", "cuda:1"))
  for (wrong in list("", "x", "0:", -1, 0.5, NA, c(0, NA), character(0), TRUE, c(1, 1), 1e5)) {
    expect_error(request(wrong), class = "gbt_error_argument")
  }
  for (device in c("cpu", "auto", "cuda:1")) expect_error(request(0:1, device), "device", class = "gbt_error_argument")
})

test_that("an installation without CUDA says so and goes on", {
  local_build(kind = "none", why = "no CUDA toolkit was found", library = "")
  expect_snapshot_error(train(device = "cuda"))
  expect_error(train(device = "cuda:1"), class = "gbt_error_device")
  withr::with_options(list(gbt.device = NULL), withr::with_envvar(c(GBT_DEVICE = "cuda"), {
    expect_error(train(), "\"cuda\" is what environment variable GBT_DEVICE asks for", class = "gbt_error_device")
  }))
  withr::with_options(list(gbt.device = "cuda:1"), {
    expect_error(train(), "what options(gbt.device = ) asks for", fixed = TRUE, class = "gbt_error_device")
    expect_error(gbt_data(mtcars), "asks for", class = "gbt_error_device")
    expect_silent(train(device = "cpu"))
  })
  expect_silent(train(device = "auto"))
  withr::with_options(list(gbt.device_costs = list(cpu_cell = 1)), expect_silent(train(device = "auto")))
  info <- gbt_info()
  expect_identical(info$devices$available, c(TRUE, FALSE))
  expect_identical(info$devices$note[2L], "not built: no CUDA toolkit was found")
  expect_false(info$cuda$built)
  expect_output(print(info), "cuda          no: not built: no CUDA toolkit was found")
})

test_that("what auto expects grows with the work, and small work stays on the cpu", {
  costs <- gbt:::device_costs()
  state <- gbt:::package_state
  withr::defer(assign("cuda_started", started, envir = state))
  started <- state$cuda_started
  state$cuda_started <- FALSE
  params <- gbt:::engine_params(gbt:::collect_args(list()))
  size <- function(bytes, rounds = 100, outputs = 1, ..., seconds = 0) {
    gbt:::training_size(bytes, utils::modifyList(params, list(...)), rounds, outputs, seconds)
  }
  expect_identical(size(1e6)$layers, 6)
  expect_identical(size(1e6, max_depth = 0, max_leaves = 255)$layers, 8)
  expect_identical(size(1e6, max_depth = 4, max_leaves = 255)$layers, 4)
  expect_identical(size(1e6, 100, 7, num_parallel_tree = 3)$trees, 2100)
  expect_identical(size(1e6, 100, 7, num_parallel_tree = 3)$batches, 100)
  expect_identical(size(1e6, 100, 33)$batches, 200)
  expect_identical(size(1e6, subsample = 0.5)$bytes, 5e5)
  expected <- function(...) gbt:::expected_seconds(size(...), 2, costs)
  expect_true(all(expected(2e6) > expected(1e6)))
  expect_true(all(expected(1e6, 200) > expected(1e6, 100)))
  expect_lt(gbt:::expected_seconds(size(1e8), 8, costs)[["cpu"]], gbt:::expected_seconds(size(1e8), 2, costs)[["cpu"]])
  cuda_pays <- function(...) expected(...)[["cuda"]] * costs$margin < expected(...)[["cpu"]]
  expect_false(cuda_pays(32 * 10))                       # mtcars
  expect_false(cuda_pays(32561 * 14))                    # adult
  expect_true(cuda_pays(11e6 * 28, 500, max_depth = 8))  # higgs
  expect_true(cuda_pays(115e6 * 13, 500))                # airline
  expect_lt(expected(1e6, 100, 7)[["cuda"]], 7 * expected(1e6, 100)[["cuda"]]) # classes grow together
  expect_false(cuda_pays(11e6 * 28, 500, seconds = 0.5)) # the start alone would take longer
  # codes without room on the device come over the bus
  away <- size(11e6 * 28, device_memory = 100)
  here <- size(11e6 * 28, device_memory = 1000)
  expect_identical(c(away$room, size(1)$room), c(100 * 2^20, Inf))
  passes <- 11e6 * 28 * 100 * 6
  expect_equal((gbt:::expected_seconds(away, 2, costs) - gbt:::expected_seconds(here, 2, costs)),
               c(cpu = 0, cuda = passes * costs$cuda_bus))
  expect_identical(gbt:::training_size(100, params, 1, 3, 0, rows = 10)$all, 100 + 10 * (24 + 24))
  shared <- size(1e6, 100, 8, multi_strategy = "multi_output_tree")
  expect_identical(shared[c("trees", "all")], list(trees = 200, all = 2e6))
  sums <- gbt:::training_size(100, utils::modifyList(params, list(multi_strategy = "multi_output_tree")), 5, 3, 0,
                              rows = 10, sums = TRUE)
  expect_identical(sums[c("trees", "all")], list(trees = 15, all = 100 + 10 * (3 * 24 + 24)))
  first <- expected(1e6)[["cuda"]]
  state$cuda_started <- TRUE
  expect_equal(first - expected(1e6)[["cuda"]], costs$cuda_start)
})

test_that("costs can be replaced, and wrong ones are refused", {
  withr::local_options(gbt.device_costs = list(cuda_start = 0.25))
  expect_identical(gbt:::device_costs()$cuda_start, 0.25)
  expect_identical(gbt:::device_costs()$margin, 1.5)
  for (wrong in list(list(start = 1), list(1), list(margin = -1), list(margin = "a"), "fast", list(margin = c(1, 2)))) {
    withr::local_options(gbt.device_costs = wrong)
    expect_error(gbt:::device_costs(), "gbt.device_costs", class = "gbt_error_argument")
  }
})

test_that("a model does not know where it was trained", {
  m <- train(device = "cpu")
  expect_false(any(grepl("cpu|cuda|device", unlist(lapply(list(names(m), names(m$params)), tolower)))))
})

test_that("a CUDA library on a machine without a device says what is missing; auto says nothing", {
  build <- gbt:::cuda_build()
  skip_if(build$kind != "nvcc", "gbt was installed without CUDA")
  look <- gbt:::cuda_device_state(build)
  skip_if(look$ok, "there is a device")
  e <- expect_error(train(device = "cuda"), class = "gbt_error_device")
  expect_identical(e$problem, look$problem)
  expect_identical(conditionMessage(e),
                   paste0(look$problem, "; `device = \"cpu\"` works without a device (the model is the same)"))
  expect_match(look$problem, "driver|GPU")
  expect_output(print(gbt_info()), "the engine is here, built by CUDA [0-9.]+ for compute capability\\s+[0-9.]+")
  skip_if(look$driver > 0, "there is a driver")
  expect_match(look$problem, "^no NVIDIA driver was found; ")
  withr::local_options(gbt.device_costs = list(cpu_cell = 1), gbt.device = NULL)
  withr::local_envvar(GBT_DEVICE = NA)
  expect_silent(m <- train())
  expect_same_bytes(m$state, train(device = "cpu")$state)
})
