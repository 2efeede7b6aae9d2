# Memory that the engine holds outside of R's.

test_that("what nobody holds any more is given back, and gbt_info() tells what is held", {
  gc()
  before <- gbt_info()$memory
  data <- gbt_data(data.frame(a = runif(1e5), b = runif(1e5)), label = runif(1e5), threads = 1)
  held <- gbt_info()$memory - before
  expect_gt(held, 2e5)
  expect_lt(held, 5e5)
  model <- gbt_train(data, nrounds = 2, threads = 1)
  p <- predict(model, data.frame(a = runif(1e4), b = runif(1e4)), threads = 1)
  expect_error(gbt_train(data, runif(1e5), nrounds = 2, eta = -1), class = "gbt_error")
  rm(data, model)
  gc()
  expect_identical(gbt_info()$memory, before)
  expect_output(print(gbt_info()), "memory +[0-9.]+ [A-Za-z]+ outside of R")
})

test_that("R collects data sets that nobody holds before memory runs out", {
  skip_on_cran()
  skip_if_not(file.exists("/proc/self/status") && nzchar(Sys.which("prlimit")), "memory cannot be limited here")
  child <- start_child(quote({
    x <- list2DF(rep(list(sample.int(2000L, 1e5, TRUE)), 100L)) # bins of 20 MB
    names(x) <- paste0("c", 1:100)
    used <- function(what) {
      line <- grep(what, readLines("/proc/self/status"), value = TRUE)
      as.numeric(gsub("[^0-9]", "", line)) * 1024
    }
    invisible(gc())
    system(sprintf("prlimit --pid %d --as=%.0f", Sys.getpid(), used("VmSize") + 110e6))
    for (i in 1:12) {
      say("made", tryCatch(class(gbt_data(x, max_bin = 2000, threads = 2))[1L], error = function(e) class(e)[1L]))
    }
    all <- lapply(1:12, function(i) {
      tryCatch(gbt_data(x, max_bin = 2000, threads = 2), error = function(e) class(e)[1L])
    })
    say("held", unique(unlist(Filter(is.character, all))))
  }))
  for (i in 1:12) expect_identical(wait_for(child, "made", i)[3L], "gbt_data")
  expect_identical(wait_for(child, "held")[3L], "gbt_error_memory") # these were needed
})
