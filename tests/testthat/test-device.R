test_that("requests for threads are taken in order and never exceed what the machine allows", {
  withr::local_options(gbt.threads = NULL, gbt.oversubscribe = NULL)
  withr::local_envvar(GBT_NUM_THREADS = NA, OMP_THREAD_LIMIT = NA, "_R_CHECK_LIMIT_CORES_" = NA)
  granted <- gbt_threads()
  expect_gte(granted, 1L)
  expect_lte(granted, .Call(C_gbt_system, 1L)$n_cpus)
  withr::local_envvar(GBT_NUM_THREADS = "1")
  expect_identical(gbt_threads(), 1L)
  withr::local_options(gbt.oversubscribe = TRUE)
  old <- gbt_threads(5)
  expect_null(old)
  expect_identical(gbt_threads(), 5L)
  expect_identical(as.integer(resolve_threads(7)), 7L)
  expect_identical(gbt_threads(NULL), 5L)
  withr::local_envvar(OMP_THREAD_LIMIT = "3")
  expect_identical(as.integer(resolve_threads(7)), 3L)
  withr::local_envvar("_R_CHECK_LIMIT_CORES_" = "true")
  expect_identical(as.integer(resolve_threads(7)), 2L)
})

test_that("a forked process runs one thread", {
  skip_on_os("windows")
  withr::local_options(gbt.oversubscribe = TRUE)
  child <- parallel::mclapply(1:2, function(i) gbt_threads(), mc.cores = 2)
  expect_identical(child, list(1L, 1L))
  expect_false(.Call(C_gbt_system, 1L)$forked)
})

test_that("wrong requests are errors", {
  expect_error(gbt_threads(0), class = "gbt_error_argument")
  expect_error(gbt_threads(1.5), class = "gbt_error_argument")
  withr::with_envvar(c(GBT_NUM_THREADS = "many"), expect_error(gbt_threads(), "GBT_NUM_THREADS"))
  withr::with_options(list(gbt.threads = -1), expect_error(gbt_threads(), "gbt.threads"))
  withr::with_options(list(gbt.simd = "avx3"), expect_error(gbt_info(), "avx2", class = "gbt_error_argument"))
})

test_that("gbt_info() tells what is in use", {
  info <- withr::with_options(list(gbt.simd = "scalar"), gbt_info())
  expect_identical(info$simd, "scalar")
  expect_identical(info$devices$device, c("cpu", "cuda"))
  expect_identical(info$devices$available[1L], TRUE)
  expect_output(print(info), "instructions  scalar")
  expect_identical(info$version, as.character(utils::packageVersion("gbt")))
})

test_that("gbt_info() keeps to the width of the page", {
  info <- gbt_info()
  info$devices$available[2L] <- FALSE
  info$devices$note[2L] <- paste(rep("words", 40), collapse = " ")
  info$cuda[c("built", "emulated", "toolkit", "architectures")] <- list(TRUE, FALSE, "13.0", "80 90")
  text <- withr::with_options(list(width = 80), utils::capture.output(print(info)))
  expect_lte(max(nchar(text)), 80)
  expect_match(gsub(" +", " ", paste(text, collapse = " ")),
               "(the engine is here, built by CUDA 13.0 for compute capability 8.0, 9.0 and newer)", fixed = TRUE)
})
