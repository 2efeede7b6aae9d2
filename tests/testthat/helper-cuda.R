# What this installation has of CUDA: "cuda" (a GPU that works), "emulated" (--with-cuda=emulate), "none".
cuda_here <- function() {
  cuda <- gbt_info()
  if (!cuda$devices$available[cuda$devices$device == "cuda"]) return("none")
  if (cuda$cuda$emulated) "emulated" else "cuda"
}

skip_without_cuda <- function() {
  if (cuda_here() == "none") testthat::skip(paste("no CUDA device:", gbt_info()$devices$note[2L]))
}

# The emulator plays drivers, numbers of devices and sizes of memory as the environment says.
skip_if_not_emulated <- function() {
  if (gbt:::cuda_build()$kind != "emulate") testthat::skip("not installed with --with-cuda=emulate")
}

# "auto" takes the emulated device for any work, and says so again in every test.
local_eager <- function(env = parent.frame()) {
  free <- list(emulated = 1, cuda_start = 0, cuda_layer = 0, cuda_byte = 0, cpu_cell = 1, cpu_walk = 1)
  withr::local_options(gbt.device = NULL, gbt.device_costs = free, .local_envir = env)
  withr::local_envvar(GBT_DEVICE = NA, .local_envir = env)
  state <- gbt:::package_state
  state$fallbacks <- NULL
}

# One training on the cpu and on the device: the same model, to the byte, and it was the device.
expect_same_on_cuda <- function(...) {
  said <- character(0)
  cpu <- gbt_train(..., device = "cpu", threads = 2)
  cuda <- withCallingHandlers(gbt_train(..., device = "cuda", threads = 2, verbose = 1, verbose_every = 1e6),
                              gbt_message = function(m) {
                                said <<- c(said, conditionMessage(m))
                                invokeRestart("muffleMessage")
                              })
  testthat::expect_match(said[1L], "^training on cuda:0")
  expect_same_bytes(cuda$state, cpu$state)
  testthat::expect_identical(cuda$evaluation_log, cpu$evaluation_log)
  invisible(cuda)
}

# The first of some cases where all work is on an emulated device, which is slow; the CPU goes through all of them.
first_cases <- function(cases, n = 1L) {
  emulated <- nzchar(Sys.getenv("GBT_DEVICE")) && gbt:::cuda_build()$kind == "emulate"
  if (emulated && !long_form()) utils::head(cases, n) else cases
}
