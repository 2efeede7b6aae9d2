# Everything that can be wrong with a device, played by the emulator (tests/simt/control.h).

train <- function(..., nrounds = 2) gbt_train(mpg ~ ., mtcars, nrounds = nrounds, ..., threads = 1)

said <- function(code) {
  lines <- character(0)
  withCallingHandlers(code, gbt_message = function(m) {
    lines <<- c(lines, conditionMessage(m))
    invokeRestart("muffleMessage")
  })
  lines
}

test_that("gbt_info() knows the device", {
  skip_if_not_emulated()
  info <- gbt_info()
  expect_identical(info$devices$available, c(TRUE, TRUE))
  expect_true(info$cuda$built)
  expect_true(info$cuda$emulated)
  expect_identical(info$cuda$n_devices, 1L)
  expect_gt(info$cuda$driver, 10000L)
  expect_gt(info$cuda$free_bytes, 0)
  expect_lte(info$cuda$free_bytes, info$cuda$total_bytes)
  expect_true(info$cuda$offers[["train"]])
  expect_match(info$cuda$nccl, "^none: ")
  expect_output(print(info), "cuda          yes: emulated by the cpu, for tests only; ")
  withr::local_envvar(SIMT_DEVICES = "3")
  expect_match(gbt_info()$devices$note[2L], "^emulated .*|^3 devices; cuda:0 is ")
})

test_that("what is missing is said, with what to do", {
  skip_if_not_emulated()
  wrong <- list(
    "no driver" = list(c(SIMT_DRIVER = "none"), "cuda"), "an old driver" = list(c(SIMT_DRIVER = "old"), "cuda"),
    "no device" = list(c(SIMT_DEVICES = "0", CUDA_VISIBLE_DEVICES = NA), "cuda"),
    "none that is visible" = list(c(SIMT_DEVICES = "0", CUDA_VISIBLE_DEVICES = "7"), "cuda"),
    "no second device" = list(c(SIMT_DEVICES = "1"), "cuda:1"),
    "no third device" = list(c(SIMT_DEVICES = "2"), "cuda:2")
  )
  for (name in names(wrong)) {
    withr::with_envvar(wrong[[name]][[1L]], {
      e <- expect_error(train(device = wrong[[name]][[2L]]), class = "gbt_error_device")
      expect_identical(e$subject, "device")
      expect_snapshot(cat(name, ": ", conditionMessage(e), "\n", sep = ""))
      if (wrong[[name]][[2L]] == "cuda") {
        info <- gbt_info()
        expect_false(info$devices$available[2L])
        expect_snapshot(cat(info$devices$note[2L], "\n"))
      }
      expect_s3_class(train(device = "cpu"), "gbt") # R and gbt are as before
    })
  }
  expect_s3_class(train(device = "cuda"), "gbt")
})

test_that("another device is another device", {
  skip_if_not_emulated()
  withr::local_envvar(SIMT_DEVICES = "2")
  lines <- said(m <- train(device = "cuda:1", verbose = 1))
  expect_match(lines[1L], "^training on cuda:1 \\(.*, emulated\\)")
  expect_same_bytes(m$state, train(device = "cpu")$state)
})

test_that("auto takes a device that pays, and says so", {
  skip_if_not_emulated()
  local_eager()
  lines <- said(m <- train(verbose = 1))
  expect_match(lines[1L], "^training on cuda:0 \\(.*, emulated\\): about .* s expected, .* s on the cpu")
  expect_same_bytes(m$state, train(device = "cpu")$state)
  withr::local_options(gbt.device_costs = list(emulated = 1)) # it does not pay
  expect_no_match(paste(said(train(verbose = 1)), collapse = ""), "cuda:0")
})

test_that("auto takes a device for trees that outputs share, whatever their growth", {
  skip_if_not_emulated()
  local_eager()
  train <- function(device, formula = mpg ~ wt + hp, ...) {
    gbt_train(formula, mtcars, nrounds = 3, threads = 1, device = device, multi_strategy = "multi_output_tree", ...)
  }
  columns <- cbind(mpg, qsec) ~ wt + hp
  quantiles <- list(objective = "quantile", quantile_alpha = c(0.1, 0.9), sketch = "none")
  best_first <- list(grow_policy = "lossguide", max_leaves = 5, max_depth = 0)
  for (growth in list(list(), list(grow_policy = "depthwise", max_depth = 3), best_first))
    for (its in list(c(columns, sketch = "none"), c(columns, sketch = "projection"), quantiles)) {
      lines <- said(m <- do.call(train, c("auto", its, growth, verbose = 1)))
      expect_match(lines[1L], "^training on cuda:0")
      expect_same_bytes(m$state, do.call(train, c("cpu", its, growth))$state)
    }
})

test_that("trees that grow by the sum of gains are the same bytes on a device", {
  skip_if_not_emulated()
  x <- data.frame(a = 1:300 %% 37 + 0, b = factor(1:300 %% 11), c = c(NA, 2:300 %% 7))
  y <- cbind(p = x$a + 1:300 %% 11, q = sin(1:300), r = -x$a * (1:300 %% 5))
  y[7, 2] <- NA
  same <- function(y, ...) {
    train <- function(device, threads, policy) {
      gbt_train(x, y, nrounds = 5, max_depth = 3, threads = threads, device = device, sketch = "none",
                multi_strategy = "multi_output_tree", grow_policy = policy, valid = 0.2, seed = 4, ...)
    }
    for (policy in c("symmetric", "depthwise", "lossguide"))
      expect_same_bytes(train("cuda", 2, policy)$state, train("cpu", 1, policy)$state)
  }
  same(y)
  same(y, subsample = 0.7, weights = 1 + 1:300 %% 3, page_rows = 70)
  same(y, random_strength = 1, colsample_bylevel = 0.5)
  for (column in c(1, 3)) { # a tree whose nodes cannot be split goes on with the others, and has their features
    few <- y
    few[-(1:8), column] <- NA
    same(few, min_child_weight = 8, colsample_bylevel = 0.5)
    same(few, min_child_weight = 8, interactions = list("a", c("b", "c")))
  }
  same(factor(x$a %/% 10), sampling_method = "mvs", subsample = 0.5)
  same(factor(x$a %/% 10), boosting = "ordered")
  same(y[, 1], objective = "quantile", quantile_alpha = c(0.1, 0.5, 0.9))
})

test_that("linear leaves are the same bytes on a device, which \"auto\" does not take", {
  skip_if_not_emulated()
  local_eager()
  x <- data.frame(a = 1:300 %% 37 + 0, b = 1:300 %% 11 / 3)
  train <- function(device, ...) {
    gbt_train(x, x$a - x$b + sin(1:300), nrounds = 5, max_depth = 3, leaf_model = "linear", threads = 1,
              device = device, ...)
  }
  m <- train("cpu")
  expect_true(any(lengths(gbt_tree(m, 1)$nodes$slopes) > 0L))
  expect_same_bytes(train("cuda")$state, m$state)
  lines <- said(auto <- train("auto", verbose = 1))
  expect_no_match(paste(lines, collapse = ""), "cuda")
  expect_same_bytes(auto$state, m$state)
})

test_that("auto goes back to the cpu: in silence when there is no device, else with a warning, once", {
  skip_if_not_emulated()
  expected <- train(device = "cpu")$state
  local_eager()
  for (nothing in list(c(SIMT_DRIVER = "none"), c(SIMT_DEVICES = "0"))) {
    withr::with_envvar(nothing, expect_silent(m <- train()))
    expect_same_bytes(m$state, expected)
  }
  withr::with_envvar(c(SIMT_DRIVER = "old"), {
    w <- expect_warning(m <- train(), class = "gbt_warning_device")
    expect_snapshot(cat(conditionMessage(w), "\n"))
    expect_same_bytes(m$state, expected)
    expect_silent(train())
    expect_match(said(train(verbose = 1))[1L], "^training on the cpu: the NVIDIA driver is too old: .* CUDA toolkit\n$")
  })
  withr::with_envvar(c(SIMT_MEMORY = "4096"), {
    w <- expect_warning(m <- train(), "out of device memory", class = "gbt_warning_device")
    expect_same_bytes(m$state, expected)
  })
  withr::with_envvar(c(SIMT_MEMORY = "9000"), {
    expect_silent(train()) # for the same reason
    expect_match(said(train(verbose = 1))[1L], "^training on the cpu: out of device memory")
  })
})

test_that("out of device memory is an error that gives all back", {
  skip_if_not_emulated()
  invisible(gc()) # what other tests left
  before <- gbt_info()$cuda$free_bytes
  withr::with_envvar(c(SIMT_MEMORY = "4096"), {
    e <- expect_error(train(device = "cuda"), class = "gbt_error_memory")
    expect_match(conditionMessage(e), "out of device memory: .* MB are needed, .* are free; .*device = \"cpu\"")
  })
  invisible(gc())
  expect_identical(gbt_info()$cuda$free_bytes, before)
})

test_that("a device that is lost is an error; auto begins anew on the cpu", {
  skip_if_not_emulated()
  expected <- train(device = "cpu", nrounds = 4)$state
  n <- 0
  for (at in c(1, 5, 20, 60, 150, 400)) {
    for (how in c("", "+")) {
      withr::with_envvar(c(SIMT_FAIL = paste0(at, how)), {
        out <- tryCatch(train(device = "cuda", nrounds = 4), gbt_error_device = identity, gbt_error_memory = identity)
      })
      n <- n + inherits(out, "condition")
      if (inherits(out, "gbt")) expect_same_bytes(out$state, expected)
      local_eager()
      withr::with_envvar(c(SIMT_FAIL = paste0(at, how)), m <- suppressWarnings(train(nrounds = 4)))
      expect_same_bytes(m$state, expected)
    }
  }
  expect_gt(n, 0)
  withr::with_envvar(c(SIMT_FAIL = "100+"), {
    e <- tryCatch(train(device = "cuda", nrounds = 50), error = identity)
  })
  expect_s3_class(e, "gbt_error_device")
  expect_match(conditionMessage(e), "lost")
  expect_same_bytes(train(device = "cuda", nrounds = 4)$state, expected)
})

test_that("the memory of a device is limited by device_memory, and told", {
  skip_without_cuda()
  x <- matrix(as.double(1:60000 %% 977), 12000)
  y <- as.double(1:12000 %% 31)
  fit <- function(device, ...) gbt_train(x, y, nrounds = 2, threads = 2, device = device, ...)
  expect_error(fit("cuda", device_memory = 1), "limit of 1.0 MB of device memory", class = "gbt_error_memory")
  local_eager()
  expect_warning(m <- fit("auto", device_memory = 1), "limit of 1.0 MB", class = "gbt_warning_device")
  expect_same_bytes(m$state, fit("cpu")$state)
  expect_match(said(fit("cuda", device_memory = 100, verbose = 1))[1L], "; [0-9]+ MB of its memory, [0-9]+ bytes a row")
})

test_that("codes that have no room on a device are read from the host, and told", {
  skip_without_cuda()
  x <- matrix(as.double((1:1200000 * 7919) %% 9973), 20000)
  y <- as.double(1:20000 %% 31)
  fit <- function(device, ...) {
    gbt_train(x, y, nrounds = 1, grow_policy = "depthwise", max_depth = 2, max_bin = 63, threads = 2, device = device,
              ...)
  }
  expect_no_match(said(fit("cuda", device_memory = 6, verbose = 1))[1L], "it reads")
  expect_match(said(m <- fit("cuda", device_memory = 2, verbose = 1))[1L], "it reads [0-9]+ MB of codes from the host")
  expect_same_bytes(m$state, fit("cpu")$state)
})

test_that("trees that are too large for the device alone are the cpu's with auto", {
  skip_without_cuda()
  x <- matrix(as.double((1:12000 * 7919) %% 9973), 300)
  fit <- function(device) {
    gbt_train(x, x[, 1] + x[, 2], nrounds = 2, max_depth = 4, grow_policy = "symmetric", hist_memory = 1, threads = 2,
              device = device)
  }
  expect_error(fit("cuda"), "`hist_memory`.*device = \"cpu\"", class = "gbt_error_memory")
  local_eager()
  expect_warning(m <- fit("auto"), "`hist_memory`", class = "gbt_warning_device")
  expect_same_bytes(m$state, fit("cpu")$state)
})

test_that("callbacks that have seen rounds are not called again", {
  skip_if_not_emulated()
  local_eager()
  seen <- 0
  withr::local_envvar(SIMT_FAIL = "150+")
  expect_error(train(nrounds = 50, callbacks = function(now) {
    seen <<- now$round
    FALSE
  }), class = "gbt_error_device")
  expect_lt(seen, 50)
})

test_that("a forked process is told, and leaves its parent's device alone", {
  skip_if_not_emulated()
  skip_on_os("windows")
  kept <- gbt_data(mtcars[-1], mtcars$mpg, device = "cuda")
  withr::defer(expect_identical(dim(kept), c(32L, 10L)))
  expected <- train(device = "cuda")$state # this process has CUDA in use
  child <- parallel::mclapply(1:2, function(i) {
    e <- tryCatch(train(device = "cuda"), error = identity)
    local_eager()
    warned <- NULL
    m <- withCallingHandlers(train(), gbt_warning_device = function(w) {
      warned <<- conditionMessage(w)
      invokeRestart("muffleWarning")
    })
    invisible(gc())
    list(error = e, warned = warned, state = m$state, cpu = train(device = "cpu")$state)
  }, mc.cores = 2)[[1L]]
  expect_s3_class(child$error, "gbt_error_device")
  expect_snapshot(cat(conditionMessage(child$error), "\n"))
  expect_match(child$warned, "forked")
  expect_same_bytes(child$state, expected)
  expect_same_bytes(child$cpu, expected)
  expect_same_bytes(train(device = "cuda")$state, expected)
})

test_that("a library that is no library of gbt's is refused", {
  skip_if_not_emulated()
  refused <- function(path) { # in a new process, since a library stays open
    code <- quote({
      state <- gbt:::package_state
      build <- gbt:::cuda_build()
      build$library <- THE_PATH
      state$cuda_build <- build
      e <- tryCatch(gbt_train(mpg ~ ., mtcars, device = "cuda"), gbt_error_device = conditionMessage)
      say("said", e)
    })
    code[[4L]][[3L]] <- path
    child <- start_child(code)
    paste(wait_for(child, "said"), collapse = " ")
  }
  expect_match(refused("/nowhere/gbt_cuda.so"), "the CUDA library of gbt cannot be loaded \\(.*\\); install gbt again")
  stats <- file.path(system.file("libs", package = "stats"), paste0("stats", .Platform$dynlib.ext))
  skip_if_not(file.exists(stats))
  expect_match(refused(stats), "is not a CUDA library of gbt; install gbt again")
})

test_that("Ctrl-C ends a training on the device and leaves the rounds so far", {
  skip_if_not_emulated()
  child <- start_child(quote({
    n <- 0
    m <- tryCatch(gbt_train(mpg ~ ., mtcars, nrounds = 1e6, eta = 0.1, device = "cuda", callbacks = function(now) {
      if (now$round == 3) say("going")
      FALSE
    }), interrupt = function(c) c$model)
    say("rounds", m$nrounds)
    again <- gbt_train(mpg ~ ., mtcars, nrounds = m$nrounds, eta = 0.1, device = "cpu")
    say("same", identical(m$state, again$state))
  }))
  wait_for(child, "going")
  press_ctrl_c(child, "rounds")
  expect_gt(as.numeric(wait_for(child, "rounds")[3L]), 2)
  expect_identical(wait_for(child, "same")[3L], "TRUE")
})

test_that("several devices train the model of one", {
  skip_if_not_emulated()
  withr::local_envvar(SIMT_DEVICES = "4")
  flowers <- iris[sample.int(150L), ]
  train <- function(...) {
    gbt_train(Species ~ ., flowers, nrounds = 3, subsample = 0.7, seed = 5, valid = 0.2, eval_train = TRUE, threads = 1,
              ...)
  }
  cpu <- train(device = "cpu")
  for (devices in list("all", 0:1, c(3, 0, 2), "0:2", "1-3")) {
    cuda <- train(device = "cuda", devices = devices)
    expect_same_bytes(cuda$state, cpu$state)
    expect_identical(cuda$evaluation_log, cpu$evaluation_log)
  }
  lines <- said(one <- train(device = "cuda", devices = c(1, 2), verbose = 1))
  expect_match(lines[1L], "^training on 2 devices: `cuda:1`, `cuda:2`|^training on 2 devices: cuda:1, cuda:2")
  own <- list(gradient = function(score, y) score - y, hessian = function(score, y) rep(1, length(y)))
  m <- lapply(list(NULL, 0:2), function(devices) {
    gbt_train(mpg ~ ., mtcars, nrounds = 3, objective = own, device = "cuda", devices = devices, threads = 1)
  })
  expect_same_bytes(m[[1L]]$state, m[[2L]]$state)
})

test_that("devices that cannot train together are refused", {
  skip_if_not_emulated()
  withr::local_envvar(SIMT_DEVICES = "2")
  expect_snapshot(error = TRUE, {
    train(device = "cuda", devices = 0:2)
    train(device = "cuda:1", devices = 0:1)
    train(device = "cuda", devices = c(0, 0))
    train(device = "cuda", devices = "some")
    train(device = "cuda", devices = -1)
    train(devices = 0:1)
  })
})

test_that("several devices train from a folder, and go on from a checkpoint of another number of devices", {
  skip_if_not_emulated()
  withr::local_envvar(SIMT_DEVICES = "4")
  folder <- withr::local_tempfile()
  gbt_data(iris[-5L], iris$Species, path = folder, page_rows = 16)
  part <- withr::local_tempfile()
  train <- function(...) gbt_train(gbt_open(folder, memory = 1), subsample = 0.7, seed = 5, threads = 2, ...)
  whole <- train(nrounds = 3, device = "cpu")
  for (devices in list(0:1, 0:3)) {
    expect_same_bytes(train(nrounds = 3, device = "cuda", devices = devices)$state, whole$state)
  }
  train(nrounds = 2, device = "cuda", devices = 0:2, checkpoint = part)
  expect_same_bytes(train(nrounds = 3, device = "cuda", devices = 0:1, checkpoint = part)$state, whole$state)
})
