# No request, no limit and no share of others.
undecided <- function(env = parent.frame()) {
  withr::local_options(gbt.threads = NULL, gbt.oversubscribe = NULL, mc.cores = NULL, .local_envir = env)
  none <- c("GBT_NUM_THREADS", "OMP_THREAD_LIMIT", "OMP_NUM_THREADS", "MC_CORES", "_R_CHECK_LIMIT_CORES_",
            "SLURM_CPUS_PER_TASK", "PBS_NUM_PPN", "NSLOTS", "LSB_DJOB_NUMPROC")
  withr::local_envvar(stats::setNames(rep(NA, length(none)), none), .local_envir = env)
}

test_that("requests for threads are taken in order and never exceed what the machine allows", {
  undecided()
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

test_that("without a request threads are no more than the share that others leave", {
  undecided()
  many <- function(request = NULL) count_threads(request, c(processors = 64, OMP_THREAD_LIMIT = 32))
  expect_identical(many(), 32L)
  for (name in c("OMP_NUM_THREADS", "MC_CORES", "SLURM_CPUS_PER_TASK", "PBS_NUM_PPN", "NSLOTS", "LSB_DJOB_NUMPROC")) {
    with <- function(value, request = NULL) withr::with_envvar(stats::setNames(value, name), many(request))
    expect_identical(with("3"), 3L, label = name)
    expect_identical(with("100"), 32L, label = name)
    expect_identical(with("3", 5), 5L, label = name)
    expect_identical(with("3", 50), 32L, label = name)
    for (no_number in c("", "0", "-2", "all", "NA")) expect_identical(with(no_number), 32L, label = name)
    withr::with_envvar(c(GBT_NUM_THREADS = "7"), expect_identical(with("3"), 7L))
    withr::with_options(list(gbt.threads = 8), expect_identical(with("3"), 8L))
  }
  withr::with_envvar(c(OMP_NUM_THREADS = "4,2", SLURM_CPUS_PER_TASK = "9"), expect_identical(many(), 4L))
  withr::with_envvar(c(MC_CORES = "9"), withr::with_options(list(mc.cores = 2L), expect_identical(many(), 2L)))
  for (odd in list(0L, NA_integer_, "all", 1:3, list(2), sum)) {
    withr::with_options(list(mc.cores = odd), expect_identical(many(), 32L))
  }
})

test_that("gbt_info() and jobs know the share", {
  skip_on_cran()
  undecided()
  withr::local_options(mc.cores = 1)
  expect_identical(gbt_threads(), 1L)
  expect_identical(gbt_info()$thread_limits[["mc.cores"]], 1)
  expect_output(print(gbt_info()), "threads +1 \\(limits: processors [0-9]+,.* mc.cores 1\\)")
  expect_identical(gbt_job_result(gbt_job(fun = function() gbt::gbt_threads())), 1L)
  withr::local_options(gbt.threads = 5)
  expect_false("mc.cores" %in% names(gbt_info()$thread_limits))
})

test_that("a worker of package future runs its share", {
  skip_on_cran()
  skip_if_not_installed("future")
  undecided()
  old <- future::plan("multisession", workers = 2)
  withr::defer(future::plan(old))
  paths <- .libPaths()
  child <- future::value(future::future({
    .libPaths(paths)
    c(gbt::gbt_threads(), getExportedValue("parallelly", "availableCores")())
  }, globals = list(paths = paths)))
  expect_lte(child[[1L]], child[[2L]])
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
  withr::with_envvar(c(GBT_NUM_THREADS = "\xff"), expect_error(gbt_threads(), class = "gbt_error_argument"))
  withr::with_envvar(c("_R_CHECK_LIMIT_CORES_" = "\xff"), expect_true(checking()))
  withr::with_options(list(gbt.threads = -1), expect_error(gbt_threads(), "gbt.threads"))
  withr::with_options(list(gbt.simd = "avx3"), expect_error(gbt_info(), 'not "avx3"', class = "gbt_error_argument"))
  withr::with_options(list(gbt.simd = 2), expect_error(gbt_info(), "gbt.simd", class = "gbt_error_argument"))
  withr::with_options(list(gbt.simd = "\xff"), expect_error(gbt_info(), class = "gbt_error_argument"))
})

test_that("instruction sets that the machine lacks are refused by the names of those that it has", {
  withr::with_envvar(c(GBT_SIMD = "avx2"), {
    expect_error(simd_code(c(auto = -1L, scalar = 0L)),
                 '`environment variable GBT_SIMD` .* this machine has, "auto", "scalar", not "avx2"$',
                 class = "gbt_error_argument")
  })
  withr::with_envvar(c(GBT_SIMD = "sse9"), {
    expect_error(gbt_train(mpg ~ ., mtcars, nrounds = 1), "GBT_SIMD", class = "gbt_error_argument")
  })
  withr::with_envvar(c(GBT_SIMD = "scalar"), expect_identical(gbt_info()$simd, "scalar"))
  withr::with_envvar(c(GBT_SIMD = ""), expect_identical(gbt_info()$simd, gbt_info()$simd_best))
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
  info$cuda[c("built", "emulated", "toolkit", "architectures", "ptx")] <- list(TRUE, FALSE, "13.0", "80 90", "90")
  text <- withr::with_options(list(width = 80), utils::capture.output(print(info)))
  expect_lte(max(nchar(text)), 80)
  expect_match(gsub(" +", " ", paste(text, collapse = " ")),
               "(the engine is here, built by CUDA 13.0 for compute capability 8.0, 9.0 and newer)", fixed = TRUE)
  expect_identical(capabilities_text("80 90", NA), "8.0, 9.0 and newer")
  expect_identical(capabilities_text("75 120", "75"), "7.5, 12.0 and newer") # it has code for all of them
  expect_identical(capabilities_text("80 120", "75"),
                   "8.0, 12.0; for others from 7.5 on the driver compiles it at first use")
})
