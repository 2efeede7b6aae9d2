# Trainings and predictions in the middle of others: reentry.R. In a process of its own, because R with Tcl's event loop
# in it loses a Ctrl-C, and the Ctrl-C of other tests may be the one.
test_that("finalizers and timers may train and predict in the middle of a call", {
  skip_on_os("windows")
  skip_if_not(capabilities("tcltk"), "there is no tcltk")
  script <- normalizePath(test_path("reentry.R"))
  output <- suppressWarnings(withr::with_envvar(
    c(R_LIBS = paste(.libPaths(), collapse = .Platform$path.sep), TESTTHAT = ""),
    system2(file.path(R.home("bin"), "Rscript"), shQuote(c("--vanilla", script)), stdout = TRUE, stderr = TRUE)
  ))
  expect_null(attr(output, "status"), info = paste(output, collapse = "\n"))
  expect_length(grep("Test passed", output, fixed = TRUE), 4L)
})
