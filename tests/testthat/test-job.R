# Trainings in processes of their own.

skip_on_os("windows")

ways <- c("shell", if (requireNamespace("callr", quietly = TRUE)) "callr")

# A job that lasts longer than any test.
endless <- function(..., by = "shell") {
  set.seed(1)
  x <- matrix(rnorm(2e5), ncol = 10)
  gbt_job(x, x[, 1], nrounds = 1e6, grow_policy = "symmetric", max_depth = 6, eval_train = TRUE, threads = 1, by = by,
          ...)
}

wait_for_rounds <- function(job, n = 2L) {
  end <- Sys.time() + 600
  repeat {
    status <- gbt_job_status(job)
    if (status$state != "running" || isTRUE(status$round >= n)) return(status)
    if (Sys.time() > end) stop("no round within 600 s")
    Sys.sleep(0.02)
  }
}

process_of <- function(job) as.integer(readLines(file.path(job$folder, "pid")))

test_that("a job gives the model that training here gives", {
  here <- gbt_train(mpg ~ ., mtcars, weights = wt, nrounds = 7, eval_train = TRUE)
  for (by in ways) {
    job <- gbt_job(mpg ~ ., mtcars, weights = wt, nrounds = 7, eval_train = TRUE, by = by)
    folder <- job$folder
    there <- gbt_job_result(job)
    expect_same_bytes(there$state, here$state)
    expect_identical(there$evaluation_log, here$evaluation_log)
    expect_identical(there$call, here$call)
    expect_identical(predict(there, mtcars), predict(here, mtcars))
    expect_false(dir.exists(folder))
    expect_identical(gbt_job_log(job), here$evaluation_log)
    status <- gbt_job_status(job)
    expect_identical(status[c("state", "phase", "round", "nrounds", "message")],
                     list(state = "done", phase = "ended", round = 7L, nrounds = 7L, message = NULL))
    expect_identical(status$metrics, c(train_rmse = here$evaluation_log$train_rmse[7]))
    expect_output(print(job), "^<gbt_job> done: round 7 of 7, train_rmse [0-9.]+, [0-9.]+ s$")
  }
})

test_that("seeds are drawn as here, and the next job draws another one", {
  set.seed(5)
  here <- gbt_train(mpg ~ ., mtcars, nrounds = 3, subsample = 0.5)
  set.seed(5)
  jobs <- list(gbt_job(mpg ~ ., mtcars, nrounds = 3, subsample = 0.5),
               gbt_job(mpg ~ ., mtcars, nrounds = 3, subsample = 0.5)) # two at once
  models <- lapply(jobs, gbt_job_result)
  expect_same_bytes(models[[1L]]$state, here$state)
  expect_false(models[[2L]]$params$seed == here$params$seed)
  set.seed(5)
  gbt_job_result(gbt_job(mpg ~ ., mtcars, nrounds = 1, seed = 1))
  expect_identical(runif(1), {
    set.seed(5)
    runif(1)
  })
})

test_that("formulas and functions bring what they use", {
  assign("gbt_test_double", function(v) 2 * v, globalenv())
  f <- mpg ~ I(gbt_test_double(wt)) + hp
  heavy <- mtcars$wt > 2
  job <- gbt_job(f, data = mtcars, subset = heavy & hp > 50, nrounds = 5)
  expect_same_bytes(gbt_job_result(job)$state,
                    gbt_train(f, mtcars, subset = heavy & hp > 50, nrounds = 5)$state)

  assign("gbt_test_limit", 3, globalenv())
  assign("gbt_test_helper", function(now) now$round >= gbt_test_limit, globalenv())
  withr::defer(rm(gbt_test_double, gbt_test_limit, gbt_test_helper, envir = globalenv()))
  stops <- function(now) gbt_test_helper(now)
  own <- gbt_metric("far", function(pred, label) max(abs(pred - label)))
  model <- gbt_job_result(gbt_job(mtcars[-1], mtcars$mpg, callbacks = stops, eval_metric = list("mae", own),
                                  eval_train = TRUE))
  expect_identical(model$nrounds, 3L)
  expect_named(model$evaluation_log, c("round", "train_mae", "train_far"))
})

test_that("other functions run, and report their trainings", {
  cv <- gbt_job_result(gbt_job(mpg ~ ., mtcars, folds = 3, nrounds = 8, seed = 1, fun = gbt_cv))
  here <- gbt_cv(mpg ~ ., mtcars, folds = 3, nrounds = 8, seed = 1)
  expect_identical(cv$evaluation_log, here$evaluation_log)
  space <- list(max_depth = c(2, 4), eta = c(0.1, 0.3))
  tuned <- gbt_job_result(gbt_job(mpg ~ ., mtcars, space = space, configs = 2, nrounds = 3, weights = wt, seed = 1,
                                  fun = gbt_tune))
  here <- gbt_tune(mpg ~ ., mtcars, space = space, configs = 2, nrounds = 3, weights = wt, seed = 1)
  scores <- function(t) as.data.frame(t)[setdiff(names(as.data.frame(t)), "seconds")]
  expect_identical(scores(tuned), scores(here))
  # the calls are those that were written here
  expect_same_bytes(gbt_refit(cv)$state, gbt_refit(gbt_cv(mpg ~ ., mtcars, folds = 3, nrounds = 8, seed = 1))$state)
  expect_same_bytes(gbt_refit(tuned)$state, gbt_refit(here)$state)
  expect_identical(tuned$call[[1L]], quote(gbt_tune))
  file <- withr::local_tempfile(fileext = ".csv")
  write.csv(mtcars, file, row.names = FALSE)
  job <- gbt_job(file, fun = function(file) {
    data <- read.csv(file)
    c(gbt::gbt_train(mpg ~ ., data, nrounds = 2)$nrounds, gbt::gbt_train(mpg ~ ., data, nrounds = 4)$nrounds)
  })
  expect_identical(gbt_job_result(job), c(2L, 4L))
  expect_identical(gbt_job_status(job)[c("training", "round", "nrounds")],
                   list(training = 2L, round = 4L, nrounds = 4L))
})

test_that("times of any class are handed over", {
  days <- as.Date("2024-01-01") + c(3, 1, 2)[1 + seq_len(32) %% 3]
  cars <- transform(mtcars[-1], cyl = factor(cyl))
  here <- gbt_train(cars, mtcars$mpg, time = days, nrounds = 2, cat_method = "target", seed = 1)
  for (time in list(days, as.POSIXct(days), as.POSIXlt(days))) {
    there <- gbt_job_result(gbt_job(cars, mtcars$mpg, time = time, nrounds = 2, cat_method = "target", seed = 1))
    expect_same_bytes(there$state, here$state)
  }
})

test_that("data in a folder are opened there, with their fields; others are refused", {
  folder <- withr::local_tempdir()
  d <- gbt_data(mtcars[-1], label = mtcars$mpg, path = file.path(folder, "bins"))
  other <- gbt_open(file.path(folder, "bins"), label = rev(mtcars$mpg))
  expect_same_bytes(gbt_job_result(gbt_job(d, nrounds = 3))$state, gbt_train(d, nrounds = 3)$state)
  expect_same_bytes(gbt_job_result(gbt_job(other, nrounds = 3))$state, gbt_train(other, nrounds = 3)$state)
  memory <- gbt_data(mtcars[-1], label = mtcars$mpg)
  expect_snapshot(error = TRUE, {
    gbt_job(memory, nrounds = 3)
    gbt_job(mtcars[-1], mtcars$mpg, valid = list(a = memory))
    gbt_job(stdin(), fun = function(x) x)
    gbt_job(mpg ~ ., mtcars, fun = 3)
    gbt_job(mpg ~ ., mtcars, by = "fork")
    gbt_job_status(3)
    gbt_job_wait(gbt_job(mpg ~ ., mtcars), timeout = -1)
  })
})

test_that("a job that is cancelled gives the model so far", {
  for (by in ways) {
    job <- endless(by = by)
    status <- wait_for_rounds(job)
    expect_identical(status[c("state", "phase")], list(state = "running", phase = "training"))
    expect_gte(nrow(gbt_job_log(job)), 2)
    expect_false(gbt_job_wait(job, 0.01))
    expect_error(gbt_job_result(job, timeout = 0.01), class = "gbt_error_job")
    model <- gbt_job_cancel(job, timeout = 60) # by then it would have been killed, without a model
    expect_gte(model$nrounds, status$round)
    expect_identical(gbt_job_status(job)$state, "cancelled")
    e <- tryCatch(gbt_job_result(job), error = identity)
    expect_s3_class(e, c("gbt_error_job", "gbt_error", "error", "condition"), exact = TRUE)
    expect_identical(e$state, "cancelled")
    expect_same_bytes(e$model$state, model$state)
    expect_same_bytes(gbt_job_cancel(job)$state, model$state)
    expect_false(dir.exists(job$folder))
  }
  # one that is over stays as it is
  job <- gbt_job(mpg ~ ., mtcars, nrounds = 2)
  model <- gbt_job_result(job)
  expect_same_bytes(gbt_job_cancel(job)$state, model$state)
  expect_identical(gbt_job_status(job)$state, "done")
  # asked to end, and not waited for
  job <- endless()
  wait_for_rounds(job)
  expect_null(gbt_job_cancel(job, timeout = 0))
  expect_true(gbt_job_wait(job, 60))
  expect_identical(gbt_job_status(job)$state, "cancelled")
})

test_that("errors keep their classes and fields; warnings and messages are told once", {
  e <- tryCatch(gbt_job(mpg ~ ., mtcars, eta = -1), error = identity)
  expect_s3_class(e, "gbt_error_argument")
  expect_identical(e$parameter, "eta")
  expect_match(deparse(conditionCall(e)), "^gbt_job\\(mpg ~ ., mtcars, eta = -1\\)")
  fails <- function(now) if (now$round == 3) stop(structure(class = c("my_error", "error", "condition"),
                                                            list(message = "enough", call = NULL, extra = 7)))
  job <- gbt_job(mpg ~ ., mtcars, callbacks = fails)
  e <- tryCatch(gbt_job_result(job), my_error = identity)
  expect_identical(e$extra, 7)
  expect_identical(e$model$nrounds, 3L)
  expect_identical(e$model$call, quote(gbt_train(mpg ~ ., mtcars, callbacks = fails)))
  expect_identical(gbt_job_cancel(job)$nrounds, 3L)
  expect_match(gbt_job_status(job)$message, "^enough")
  job <- gbt_job(mpg ~ ., mtcars, nrounds = 2, weights = rep(1e-3, 32), verbose = 1)
  expect_message(expect_warning(model <- gbt_job_result(job), class = "gbt_warning_weights"), class = "gbt_message")
  expect_silent(gbt_job_result(job))
})

test_that("arguments are checked before a process is started", {
  before <- list.files(tempdir(), "^gbt-job-")
  known <- if (exists(".Random.seed", globalenv())) get(".Random.seed", globalenv())
  on.exit(if (!is.null(known)) assign(".Random.seed", known, globalenv()))
  refused <- function(expr, parameter, fun) {
    e <- tryCatch(expr, gbt_error = identity)
    expect_s3_class(e, "gbt_error")
    expect_identical(e$subject, parameter)
    expect_identical(conditionCall(e)[[1L]], quote(gbt_job))
  }
  refused(gbt_job(mpg ~ ., mtcars, max_dept = 3), "max_dept")
  refused(gbt_job(mpg ~ ., mtcars, eval_metric = "auc@"), "eval_metric")
  refused(gbt_job(mtcars[-1], c(mtcars$mpg[-1], NA)), "y")
  refused(gbt_job(mtcars[-1], mtcars$mpg[-1]), "y")
  refused(gbt_job(Species ~ ., iris, objective = "poisson"), "y")
  refused(gbt_job(mpg ~ ., data = mtcars, fun = gbt_cv, folds = 3, valid = 0.2), "valid")
  refused(gbt_job(mpg ~ ., mtcars, fun = gbt_tune, space = list(eta = c(0.1, 0.2)), nrounds = 0), "nrounds")
  refused(gbt_job(mpg ~ ., mtcars, fun = gbt_tune, space = list(eta = c(0.3, 0.2))), "eta")
  expect_identical(setdiff(list.files(tempdir(), "^gbt-job-"), before), character(0)) # those of dropped jobs may go
  expect_identical(if (exists(".Random.seed", globalenv())) get(".Random.seed", globalenv()), known)
})

test_that("the death of the process is told in words", {
  job <- endless()
  wait_for_rounds(job)
  tools::pskill(process_of(job), tools::SIGKILL)
  expect_true(gbt_job_wait(job, 60))
  e <- tryCatch(gbt_job_result(job), error = identity)
  expect_s3_class(e, "gbt_error_job")
  expect_match(conditionMessage(e), "was killed \\(signal 9\\).*\\(in round [0-9]+ of 1,000,000\\)")
  expect_false(dir.exists(job$folder))
  job <- gbt_job(fun = function() {
    cat("the last words\n")
    quit(save = "no", status = 3)
  })
  expect_error(gbt_job_result(job), "ended with status 3 and left no result\nit printed last:\nthe last words",
               class = "gbt_error_job")
})

test_that("a job whose folder is removed has failed, and its process is ended", {
  for (by in ways) {
    job <- endless(by = by)
    wait_for_rounds(job)
    ended <- job$process$alive
    unlink(job$folder, recursive = TRUE)
    expect_true(gbt_job_wait(job, 60))
    e <- tryCatch(gbt_job_result(job), error = identity)
    expect_s3_class(e, "gbt_error_job")
    expect_match(conditionMessage(e), "folder \".*\" was removed, so its result is lost")
    expect_identical(gbt_job_status(job)$state, "failed")
    if (by == "callr") expect_false(ended())
  }
  # the shell that waits for the process was ended as well: there is no status
  process <- gbt:::start_by_shell(withr::local_tempdir())
  env <- environment(process$alive)
  gbt:::wait_until(function() !is.na(env$number("pid")), 60)
  gbt:::wait_until(env$has_ended, 60) # there is nothing to do in this folder
  env$has_ended <- function() FALSE
  env$gone <- proc.time()[["elapsed"]] - 9.5
  expect_false(process$alive())
})

test_that("the clock of a job does not go back", {
  job <- endless()
  wait_for_rounds(job)
  before <- gbt_job_status(job)$seconds
  gbt_job_cancel(job)
  after <- gbt_job_status(job)$seconds
  expect_gte(after, before)
  expect_lt(after, as.double(difftime(Sys.time(), job$began, units = "secs")) + 1e-6)
  expect_identical(gbt_job_status(job)$seconds, after)
})

test_that("nothing is left behind", {
  gone <- function(pid) {
    for (i in 1:30000) {
      if (!tools::pskill(pid, 0L)) return(TRUE)
      Sys.sleep(0.02)
    }
    FALSE
  }
  job <- endless()
  wait_for_rounds(job, 1L)
  pid <- process_of(job)
  folder <- job$folder
  rm(job)
  gc()
  expect_true(gone(pid))
  expect_false(dir.exists(folder))

  # a session that is killed
  child <- start_child(quote({
    job <- gbt_job(matrix(rnorm(2e5), ncol = 10), rnorm(2e4), nrounds = 1e6, threads = 1)
    while (!file.exists(file.path(job$folder, "pid"))) Sys.sleep(0.02)
    say("job", readLines(file.path(job$folder, "pid")))
    Sys.sleep(60)
  }))
  pid <- as.integer(wait_for(child, "job")[3L])
  expect_true(tools::pskill(pid, 0L))
  tools::pskill(child$pid, tools::SIGKILL)
  expect_true(gone(pid))

  # a copy is no job
  file <- withr::local_tempfile()
  job <- gbt_job(mpg ~ ., mtcars, nrounds = 1)
  job$owner <- -1L
  expect_error(gbt_job_status(job), "was started by another process", class = "gbt_error_argument")
  job$owner <- Sys.getpid()
  expect_identical(gbt_job_result(job)$nrounds, 1L)
})

test_that("a session is known again by its number and when it began, on its own machine", {
  skip_on_os("windows")
  mark <- gbt:::mark_of_session()
  expect_false(gbt:::session_is_gone(mark))
  expect_false(gbt:::session_is_gone(NULL))
  child <- parallel::mcparallel(gbt:::mark_of_session())
  other <- parallel::mccollect(child)[[1L]]
  expect_true(gbt:::wait_until(function() gbt:::session_is_gone(other), 60))
  expect_false(gbt:::session_is_gone(utils::modifyList(other, list(machine = "elsewhere"))))
  nobody <- list(pid = 1073741824L, began = NA_character_) # above what systems give; began as without /proc
  expect_true(gbt:::session_is_gone(utils::modifyList(mark, nobody)))
  expect_false(gbt:::session_is_gone(utils::modifyList(mark, list(began = NA_character_))))
  skip_if(is.na(mark$began))
  expect_true(gbt:::session_is_gone(utils::modifyList(mark, list(began = "1")))) # its number was given again
  expect_identical(gbt:::process_start(Sys.getpid()), mark$began)
})

test_that("package mirai runs jobs as well", {
  in_use <- function(code) {
    if (gbt:::has_mirai()) return(code)
    real <- gbt:::has_mirai
    utils::assignInNamespace("has_mirai", function() TRUE, "gbt")
    on.exit(utils::assignInNamespace("has_mirai", real, "gbt"))
    with_stand_ins(list(mirai = stand_in_mirai), code)
  }
  here <- gbt_train(mpg ~ ., mtcars, weights = wt, nrounds = 7, eval_train = TRUE)
  in_use({
    job <- gbt_job(mpg ~ ., mtcars, weights = wt, nrounds = 7, eval_train = TRUE, by = "mirai")
    folder <- job$folder
    there <- gbt_job_result(job)
    expect_same_bytes(there$state, here$state)
    expect_identical(there$evaluation_log, here$evaluation_log)
    expect_identical(there$call, here$call)
    expect_false(dir.exists(folder))

    job <- endless(by = "mirai")
    status <- wait_for_rounds(job)
    expect_identical(status[c("state", "phase")], list(state = "running", phase = "training"))
    model <- gbt_job_cancel(job, timeout = 60) # by then it would have been killed, without a model
    expect_gte(model$nrounds, status$round)
    expect_identical(gbt_job_status(job)$state, "cancelled")

    e <- tryCatch(gbt_job_result(gbt_job(mpg ~ ., mtcars, eta = -1, by = "mirai")), error = identity)
    expect_s3_class(e, "gbt_error_argument")
    expect_identical(e$parameter, "eta")

    job <- endless(by = "mirai")
    wait_for_rounds(job)
    pid <- process_of(job)
    job$process$kill()
    expect_true(gbt_job_wait(job, 60))
    expect_error(gbt_job_result(job), "not run any more \\(in round [0-9]+ of 1,000,000\\)", class = "gbt_error_job")
    expect_true(gbt:::wait_until(function() !tools::pskill(pid, 0L), 60))

    # the task fails before the job begins
    lost <- withr::local_tempdir()
    process <- gbt:::start_by_mirai(lost)
    expect_true(gbt:::wait_until(function() !process$alive(), 60))
    expect_match(gbt:::last_output(file.path(lost, "output")), "connection")
    expect_identical(process$exit(), NA_integer_)
  })
  skip_if(gbt:::has_mirai())
  # a session that is killed: the daemon notices by itself
  child <- start_child(bquote({
    source(.(normalizePath(test_path("helper-standins.R"))))
    utils::assignInNamespace("has_mirai", function() TRUE, "gbt")
    with_stand_ins(list(mirai = stand_in_mirai), {
      job <- gbt_job(matrix(rnorm(2e4), ncol = 10), rnorm(2e3), nrounds = 1e6, threads = 1, by = "mirai")
      while (is.na(gbt_job_status(job)$round)) Sys.sleep(0.02)
      say("job", readLines(file.path(job$folder, "pid")), job$folder)
      Sys.sleep(60)
    })
  }))
  said <- wait_for(child, "job")
  pid <- as.integer(said[3L])
  expect_true(tools::pskill(pid, 0L))
  expect_true(dir.exists(said[4L]))
  tools::pskill(child$pid, tools::SIGKILL)
  expect_true(gbt:::wait_until(function() !dir.exists(said[4L]), 60))
  expect_true(gbt:::wait_until(function() is.na(gbt:::process_start(pid)), 60))
  expect_error(gbt_job(mpg ~ ., mtcars, by = "mirai"), "needs the package mirai", class = "gbt_error_unsupported")
})

test_that("errors and warnings of a function's own come out of a job as they are", {
  e <- tryCatch(gbt_job_result(gbt_job(1, fun = function(x) stop("enough"))), error = identity)
  expect_identical(class(e), c("simpleError", "error", "condition"))
  expect_identical(conditionMessage(e), "enough")
  job <- gbt_job(1, fun = function(x) {
    warning("NAs introduced by coercion")
    x
  })
  expect_warning(expect_identical(gbt_job_result(job), 1), "by coercion")
  expect_error(gbt_job(gbt_train(mpg ~ ., mtcars, nrounds = 1, threads = 1)), "not a model that is trained already",
               class = "gbt_error_argument")
})
