# A device that fails in the midst of a training, at every place: what is left behind must not hurt what comes after.

made <- function(n) {
  withr::local_seed(1)
  data.frame(a = rnorm(n), f = factor(sample(letters[1:6], n, TRUE)), y = rnorm(n))
}

rows <- made(60)
fit <- function(..., device = "cuda", nrounds = 2, grow_policy = "depthwise") {
  gbt_train(y ~ ., rows, nrounds = nrounds, grow_policy = grow_policy, max_depth = 3, ..., device = device, threads = 1)
}

# The n-th call to CUDA fails, for many n: what comes of the training, and of one right after it, while the failed
# trainer is still there (nothing is collected).
expect_next_is_fine <- function(..., every, upto) {
  expected <- fit(..., device = "cpu")$state
  failed <- 0
  for (n in seq(1, upto, every)) {
    out <- withr::with_envvar(c(SIMT_FAIL = n), tryCatch(fit(...), gbt_error = identity))
    if (inherits(out, "gbt")) expect_same_bytes(out$state, expected)
    failed <- failed + inherits(out, "gbt_error")
    after <- tryCatch(fit(...), gbt_error = conditionMessage)
    if (!inherits(after, "gbt")) fail(sprintf("after call %d failed: %s", n, after))
    if (inherits(after, "gbt")) expect_same_bytes(after$state, expected)
  }
  expect_gt(failed, upto / every / 2)
}

test_that("a training that failed is no hindrance to the next one", {
  skip_if_not_emulated()
  invisible(gc()) # what other tests left
  before <- gbt_info()$cuda$free_bytes
  step <- if (long_form()) 1 else 3 # suites of cuda_* let every call fail
  expect_next_is_fine(nrounds = 3, every = 4 * step, upto = 200) # of 178 calls; a recording that fails has a way back
  expect_next_is_fine(grow_policy = "symmetric", subsample = 0.5, seed = 1, every = 3 * step, upto = 200)
  invisible(gc())
  expect_identical(gbt_info()$cuda$free_bytes, before)
})

test_that("what has no room on the device is for the cpu, with auto", {
  skip_if_not_emulated()
  withr::local_seed(2)
  wide <- data.frame(matrix(rnorm(300 * 20), 300), y = rnorm(300))
  deep <- function(device) {
    gbt_train(y ~ ., wide, nrounds = 1, max_depth = 10, grow_policy = "symmetric", hist_memory = 1, device = device,
              threads = 1)
  }
  expect_error(deep("cuda"), "lower `max_depth`; `device = \"cpu\"` works", class = "gbt_error_memory")
  free <- list(emulated = 1, cuda_start = 0, cuda_layer = 0, cuda_byte = 0, cpu_cell = 1)
  withr::local_options(gbt.device_costs = free)
  state <- gbt:::package_state
  state$fallbacks <- NULL
  expect_warning(m <- deep("auto"), "megabytes for histograms", class = "gbt_warning_device")
  expect_same_bytes(m$state, deep("cpu")$state)
})

test_that("a training leaves nothing on the device, also when nothing is collected", {
  skip_if_not_emulated()
  invisible(gc())
  free <- function() gbt_info()$cuda$free_bytes
  before <- free()
  m <- fit()
  expect_identical(free(), before)
  broken <- list(gradient = function(score, label) stop("mine"), hessian = function(score, label) 1 + 0 * score)
  expect_error(fit(objective = broken), "mine")
  expect_identical(free(), before)
  kept <- NULL
  invisible(gc()) # so that R does not collect by itself just below
  m <- fit(callbacks = function(now) kept <<- now$model) # holds the trainer
  expect_same_bytes(kept()$state, m$state)
  used <- before - free()
  expect_gt(used, 0)
  kept <- NULL
  m <- NULL
  withr::local_envvar(SIMT_MEMORY = format(used + 4096, scientific = FALSE)) # no room but the garbage's
  expect_s3_class(fit(), "gbt")
})

test_that("the CUDA library is found under any name, in any locale", {
  skip_if_not_emulated()
  child <- start_child(quote({
    folder <- file.path(tempdir(), rawToChar(as.raw(c(0x62, 0x20, 0xc3, 0xbc)))) # "b " and an umlaut of UTF-8
    dir.create(folder)
    state <- gbt:::package_state
    build <- gbt:::cuda_build()
    file.copy(build$library, folder)
    build$library <- file.path(folder, "gbt_cuda.so")
    state$cuda_build <- build
    m <- gbt_train(mpg ~ ., mtcars, nrounds = 2, device = "cuda")
    say("same", identical(m$state, gbt_train(mpg ~ ., mtcars, nrounds = 2, device = "cpu")$state))
  }), before = "LC_ALL=C")
  expect_identical(wait_for(child, "same")[3L], "TRUE")
})
