# A time limit (setTimeLimit()) is a plain error of R that can come anywhere. Nobody takes it for a failure of his own.

limit <- function() stop(simpleError(gettext("reached elapsed time limit", domain = "R")))
train <- function(formula, data = mtcars, ...) gbt_train(formula, data, ..., nrounds = 1, threads = 1)
expect_limit <- function(expr) {
  caught <- tryCatch(expr, error = identity)
  expect_s3_class(caught, "simpleError")
  expect_true(is_time_limit(caught))
}
define <- function(name, f, frame = parent.frame()) {
  assign(name, f, globalenv())
  withr::defer(if (exists(name, globalenv(), inherits = FALSE)) rm(list = name, envir = globalenv()), frame)
}

test_that("R's time limits are known", {
  real <- tryCatch({
    setTimeLimit(elapsed = 0.05, transient = TRUE)
    repeat Sys.sleep(0.01)
  }, error = identity, finally = setTimeLimit())
  expect_true(is_time_limit(real))
  withr::with_envvar(c(LANGUAGE = "de"), {
    real <- tryCatch({
      setTimeLimit(cpu = 0.05, transient = TRUE)
      repeat NULL
    }, error = identity, finally = setTimeLimit())
    expect_true(is_time_limit(real))
  })
  expect_false(is_time_limit(simpleError("argument is no time limit")))
})

test_that("they pass through the terms of a formula", {
  define("slow", function(x) limit())
  expect_limit(train(mpg ~ slow(wt)))
  expect_limit(train(slow(mpg) ~ wt))
  expect_limit(train(mpg ~ wt + offset(slow(wt))))
  expect_limit(train(mpg ~ wt, weights = slow(wt)))
  expect_limit(train(mpg ~ wt, subset = slow(wt)))
  by_value <- function(w) train(mpg ~ wt, weights = w)
  expect_limit(by_value(slow(1)))
  define("slow_alone", function(x) if (length(x) == 1L) limit() else x) # while rows are evaluated alone
  expect_limit(train(mpg ~ slow_alone(wt)))
  define("slow", function(x) x)
  m <- train(mpg ~ slow(wt))
  assign("slow", function(x) limit(), globalenv())
  expect_limit(predict(m, mtcars))
  define("sleeps", function(x) {
    for (i in 1:1000) Sys.sleep(0.01)
    x
  })
  expect_limit({
    setTimeLimit(elapsed = 0.2, transient = TRUE)
    withr::defer(setTimeLimit())
    train(mpg ~ sleeps(wt))
  })
})

test_that("the check of a model's fields calls no methods, and takes no limit for a fault of the model", {
  for (name in c("Ops", "is.na", "length", "names", "as.character")) {
    define(paste0(name, ".slow_number"), function(...) limit())
  }
  m <- train(mpg ~ wt)
  changed <- m
  changed$best_round <- structure(1, class = "slow_number")
  expect_error(predict(changed, mtcars), "fields were changed: `best_round`", class = "gbt_error_argument")
  expect_error(summary(changed), "fields were changed: `best_round`", class = "gbt_error_argument")
  caught <- vapply(1:40, function(i) {
    found <- tryCatch({
      setTimeLimit(elapsed = 0.001 * i, transient = TRUE)
      repeat {
        m$params <- as.list(m$params) # so that it is checked again
        check_model(m)
      }
    }, error = identity, finally = setTimeLimit())
    is_time_limit(found)
  }, NA)
  expect_true(all(caught))
})

# user_code() is for callbacks and has tests of its own.
test_that("errors of any class are caught in few places only", {
  catches_all <- function(e) {
    if (is.pairlist(e)) return(any(vapply(as.list(e), catches_all, NA)))
    if (missing(e) || !is.call(e)) return(FALSE)
    caught <- identical(e[[1L]], quote(tryCatch)) && any(c("error", "condition") %in% names(e))
    if (caught || identical(e[[1L]], quote(try))) return(TRUE)
    any(vapply(as.list(e), catches_all, NA))
  }
  home <- topenv(environment(try_else))
  everything <- ls(home, all.names = TRUE)
  found <- Filter(function(name) is.function(home[[name]]) && catches_all(body(home[[name]])), everything)
  expect_identical(sort(found), c("spark_task", "start_line", "try_else", "user_code"))
})

test_that("a training that ends before its first round leaves no model of an earlier one", {
  interrupted <- function() {
    stops <- function(env) if (env$round == 2L) stop("enough")
    try(gbt_train(mpg ~ wt, mtcars, nrounds = 4, callbacks = list(stops), threads = 1), silent = TRUE)
    expect_s3_class(gbt_last_interrupted(), "gbt")
  }
  define("slow", function(x) limit())
  interrupted()
  expect_limit(train(mpg ~ slow(wt)))
  expect_null(gbt_last_interrupted())
  interrupted()
  expect_limit(gbt_cv(mpg ~ slow(wt), mtcars))
  expect_null(gbt_last_interrupted())
  interrupted()
  expect_limit(gbt_tune(mpg ~ slow(wt), mtcars))
  expect_null(gbt_last_interrupted())
  interrupted()
  define("stopped", function(x) stop(structure(class = c("interrupt", "condition"), list(message = "", call = NULL))))
  tryCatch(train(mpg ~ stopped(wt)), interrupt = identity)
  expect_null(gbt_last_interrupted())
  interrupted()
  tryCatch(gbt_train(mpg ~ stopped(wt), mtcars, init_model = gbt_last_interrupted()), interrupt = identity)
  expect_s3_class(gbt_last_interrupted(), "gbt") # what it was to go on from
  # other errors end no training
  expect_error(train(mpg ~ nothing), class = "gbt_error_data")
  expect_s3_class(gbt_last_interrupted(), "gbt")
})
