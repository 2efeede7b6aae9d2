test_that("errors have a class per kind, the subject and the user's call", {
  e <- tryCatch(gbt_data(iris, max_bin = 1), error = identity)
  expect_s3_class(e, c("gbt_error_argument", "gbt_error", "error", "condition"), exact = TRUE)
  expect_identical(e$kind, "argument")
  expect_identical(e$subject, "max_bin")
  expect_identical(e$parameter, "max_bin")
  expect_identical(conditionCall(e), quote(gbt_data(iris, max_bin = 1)))
})

test_that("the engine's errors show the user's call as well", {
  e <- tryCatch(gbt_data(data.frame(a = 1), weight = -1), error = identity)
  expect_s3_class(e, "gbt_error_data")
  expect_identical(conditionCall(e)[[1]], quote(gbt_data))
})

test_that("data put into a call by do.call() are not printed with it", {
  e <- tryCatch(do.call(gbt_data, list(iris, max_bin = 1)), error = identity)
  expect_identical(deparse(conditionCall(e)), "gbt_data(`<data.frame>`, max_bin = 1)")
})

test_that("the call is that of the innermost use of the package", {
  inner <- function() gbt_data(iris, max_bin = 0)
  e <- tryCatch(lapply(1, function(i) inner()), error = identity)
  expect_identical(conditionCall(e), quote(gbt_data(iris, max_bin = 0)))
})

test_that("R's own errors in arguments show the call of the user", {
  call_of_error <- function(expr) conditionCall(tryCatch(expr, error = identity))
  expect_identical(call_of_error(gbt_train(mtcars[-1], nope)), quote(gbt_train(mtcars[-1], nope)))
  expect_identical(call_of_error(gbt_cv(mpg ~ ., mtcars, eta = nope)), quote(gbt_cv(mpg ~ ., mtcars, eta = nope)))
  m <- gbt_train(mpg ~ ., mtcars, nrounds = 1, threads = 1)
  expect_identical(call_of_error(gbt_refit(m, eta = nope)), quote(gbt_refit(m, eta = nope)))
  expect_identical(call_of_error(predict(m, mtcars, offset = nope)), quote(predict.gbt(m, mtcars, offset = nope)))
  own <- function() stop("mine")
  expect_identical(call_of_error(gbt_train(mtcars[-1], own())), quote(own()))
})

test_that("texts that are too long for names are compared with nothing", {
  compared <- list()
  real <- edit_distances
  utils::assignInNamespace("edit_distances", function(x, choices) {
    compared[[length(compared) + 1L]] <<- nchar(c(x, choices))
    real(x, choices)
  }, "gbt")
  on.exit(utils::assignInNamespace("edit_distances", real, "gbt"))
  long <- strrep("x", 3e5)
  for (argument in c("eval_metric", "objective", "grow_policy", "device", "cat_method", strrep("x", 9000))) {
    call <- c(list(mtcars[-1], mtcars$mpg, nrounds = 1, threads = 1), stats::setNames(list(long), argument))
    expect_error(do.call(gbt_train, call), class = "gbt_error")
  }
  expect_error(gbt_train(mtcars[-1], mtcars$mpg, monotone = stats::setNames(1, long)), class = "gbt_error_argument")
  expect_identical(nearest_name("alpha", c(long, "alphas", NA)), "alphas")
  expect_lte(max(0, unlist(compared)), 100)
})

test_that("names are suggested by likeness", {
  choices <- c("eta", "max_depth", "max_leaves", "lambda", "label", "subsample", "nrounds")
  expect_identical(nearest_name("maxDepth", choices), "max_depth")
  expect_identical(nearest_name("max.depht", choices), "max_depth")
  expect_identical(nearest_name("lable", choices), "label")
  expect_identical(nearest_name("lamda", choices), "lambda")
  expect_identical(nearest_name("nrond", choices), "nrounds")
  expect_identical(nearest_name("sample", choices), "subsample")
  expect_identical(nearest_name("zzz", choices), character(0))
  expect_identical(nearest_name("", choices), character(0))
  expect_identical(suggest("Eta", choices), "; did you mean `eta`?")
  many <- sprintf("column %d", 1:2500)
  expect_identical(edit_distances("column 2001", many), drop(utils::adist("column 2001", many)))
  expect_identical(nearest_name("column  2001", many), "column 2001")
})

test_that("long lists are cut", {
  expect_identical(enumerate(letters, most = 2L), "`a`, `b` and 24 more")
  expect_identical(enumerate("a"), "`a`")
})

test_that("an interrupt is an interrupt, not an error", {
  seen <- tryCatch(raise_interrupt("stopped", model = 7), error = function(e) "error", interrupt = identity)
  expect_s3_class(seen, c("gbt_interrupt", "interrupt", "condition"), exact = TRUE)
  expect_identical(seen$model, 7)
})

test_that("messages for wrong arguments", {
  expect_snapshot(error = TRUE, {
    gbt_data(iris, lable = 1)
    gbt_data(iris, NULL, NULL, NULL, NULL, NULL, NULL, 255, FALSE, "value", "prior", 0, 1, 5)
    gbt_data(iris, max_bin = 2.5)
    gbt_data(iris, max_bin = "many")
    gbt_data(iris, sparse_zero = "nothing")
    gbt_data(iris, unseen = "error")
    gbt_data(iris, threads = 0)
    gbt_data(iris, label = 1:3)
    gbt_data(iris, weight = 1:3)
    gbt_data(iris, weight = "a")
    gbt_data(iris, offset = c(rep(0, 149), NA))
    gbt_save(iris, "file")
    gbt_save(1, NA)
    gbt_load(c("a", "b"))
    gbt_load()
    gbt_save(gbt_train(mpg ~ ., mtcars, nrounds = 1, threads = 1))
    gbt_save()
    gbt_importance()
    gbt_data()
    gbt_data(iris[-5], y = iris$Species)
    gbt_data(iris, weights = 1:150)
    gbt_data(iris, nthread = 2)
    gbt_data(iris, categorical_feature = "Species")
    predict(gbt_train(mpg ~ ., mtcars, nrounds = 1, threads = 1), mtcars, se.fit = TRUE)
    gbt_metric("mine")
    fitted(gbt_train(mpg ~ ., mtcars, nrounds = 1, threads = 1))
    residuals(gbt_train(mpg ~ ., mtcars, nrounds = 1, threads = 1))
    gbt_train(iris[-5], 1)
  })
})

test_that("very long names are cut in the middle of messages, and whole in `subject`", {
  long <- paste(rep("abcdefghij", 100), collapse = "")
  m <- gbt_train(mpg ~ ., mtcars, nrounds = 1, threads = 1)
  calls <- list(
    parameter = quote(do.call(gbt_train, c(list(mpg ~ ., mtcars), stats::setNames(list(1), long)))),
    argument = quote(do.call(gbt_evaluate, c(list(m, mtcars), stats::setNames(list(1), long)))),
    column = quote(gbt_partial(m, mtcars, long)),
    value = quote(gbt_importance(m, long)),
    objective = quote(gbt_train(mpg ~ ., mtcars, objective = long)),
    metric = quote(gbt_train(mpg ~ ., mtcars, valid = 0.2, eval_metric = long)),
    file = quote(gbt_load(substr(long, 1, 300))),
    term = quote(gbt_train(stats::reformulate(c(long, "wt"), "mpg"), mtcars))
  )
  for (name in names(calls)) {
    e <- tryCatch(eval(calls[[name]]), error = identity)
    expect_s3_class(e, "gbt_error")
    expect_lt(nchar(conditionMessage(e)), 520)
    expect_match(conditionMessage(e), "fghij[`\"]", label = name)
    expect_match(conditionMessage(e), "abcde.*\\.\\.\\..*fghij", label = name)
  }
  e <- tryCatch(eval(calls$parameter), error = identity)
  expect_identical(e$subject, long)
  cut <- gbt:::shorten_quoted
  prose <- paste(rep("words of a sentence", 30), collapse = " ")
  expect_identical(cut(prose), prose)
  expect_identical(cut(paste0("`a` ", prose, " \"b\"")), paste0("`a` ", prose, " \"b\""))
  expect_identical(nchar(cut(paste0("`", long, "`"))), 202L)
})
