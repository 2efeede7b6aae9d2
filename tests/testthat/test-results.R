# Arguments of the wrong kind, and results whose fields were changed: errors of gbt, never R's own. The campaign
# tests/robust/arguments.sh does this for all arguments.

x <- data.frame(a = sin(1:60), b = (1:60) %% 7)
y <- x$a + x$b
model <- gbt_train(x, y, nrounds = 2, threads = 1)

test_that("a matrix of one text is none of the choices", {
  one <- matrix("link", 1, 1)
  expect_error(predict(model, x, type = one), "`type` must be one of", class = "gbt_error_argument")
  expect_error(predict(model, x, unseen = one), "`unseen` must be one of", class = "gbt_error_argument")
  for (name in c("objective", "preset", "boosting")) {
    args <- stats::setNames(list(x, y, 1, one), c("x", "y", "nrounds", name))
    expect_error(do.call(gbt_train, args), name, class = "gbt_error")
  }
})

test_that("a response of package Matrix is refused", {
  skip_if_not_installed("Matrix")
  for (odd in list(methods::as(matrix(1, 1, 1), "CsparseMatrix"), Matrix::Matrix(1:60 / 2, 60, sparse = FALSE))) {
    expect_error(gbt_train(x, odd, nrounds = 1), "is an S4 object of class", class = "gbt_error_data")
    expect_error(gbt_evaluate(model, x, odd), "is an S4 object of class", class = "gbt_error_data")
  }
  expect_error(gbt_evaluate(model, x, y, by = methods::as(matrix(1, 60, 1), "CsparseMatrix")), "`by` must be vectors",
               class = "gbt_error_argument")
})

test_that("arguments are checked where they have no effect as well", {
  expect_error(gbt_partial(model, x, "a", seed = "zzz"), "`seed` must be one", class = "gbt_error_argument")
  expect_error(gbt_interactions(model, x, seed = "zzz"), "`seed` must be one", class = "gbt_error_argument")
  expect_error(gbt_evaluate(model, x, y, seed = globalenv()), "`seed` must be one", class = "gbt_error_argument")
  expect_error(gbt_report(model, x, tempfile(fileext = ".html"), seed = "zzz"), "`seed`", class = "gbt_error_argument")
  expect_error(gbt_report(model, x, tempfile(fileext = ".html"), quiet = NA), "`quiet`", class = "gbt_error_argument")
})

test_that("arguments of the wrong kind are named", {
  argument <- function(code, text) expect_error(code, text, class = "gbt_error_argument")
  expect_error(gbt_shap(model, globalenv()), "data must be a data frame", class = "gbt_error_data")
  argument(gbt_engine_fit(x, y, sample_size = sum), "`sample_size` must be a share")
  expect_error(gbt_engine_fit(x, y, weights = list(1:2)), "`weights`", class = "gbt_error")
  long <- structure(rep(1, 60), class = "integer64") # its bits are a large number
  if (requireNamespace("bit64", quietly = TRUE)) expect_silent(gbt_engine_fit(x, y, long, nrounds = 1, threads = 1))
  by_formula <- gbt_train(a ~ b, x, nrounds = 1, threads = 1)
  argument(stats::update(by_formula, formula. = "zzz"), "`formula.` must be a formula such as")
  file <- withr::local_tempfile(lines = "a", fileext = ".csv")
  bad <- "a\xff"
  odd <- stats::setNames(1, "a\xff")
  argument(gbt_files(file, label = odd), "`label` must be the name of a column")
  expect_error(gbt_partial(model, data.frame(a = I(list(1, "b")), b = 1:2), "a"), "column `a` is a list",
               class = "gbt_error_data")
  expect_s3_class(gbt_train(x, y, nrounds = 1, max_depth = stats::setNames(2, bad), threads = 1), "gbt")
  argument(gbt_partial(model, x, "a", values = matrix(1:4, 2)), "`values` of `a` must be a vector")
  argument(gbt_evaluate(model, x, y, metrics = bad), "`metrics` must be among .*, not \"a<ff>\"")
  argument(gbt_refresh_ui(sum), "`id` must be one text, not a function")
  argument(gbt_refresh_ui(), "`id` is missing")
  argument(gbt_refresh_ui("a", 1), "`title` must be one text, not 1")
  skip_if_not_installed("RSQLite")
  db <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  withr::defer(DBI::dbDisconnect(db))
  argument(gbt_query(db, "SELECT 1", params = globalenv()), "`params` must be a list or a vector of values")
})

test_that("a result whose fields were changed is refused by its class", {
  withr::local_pdf(NULL)
  cv <- gbt_cv(x, y, folds = 2, nrounds = 2, threads = 1, keep_models = TRUE)
  refused <- function(code, class) {
    e <- expect_error(code, sprintf("this object of class \"%s\" cannot be used: .* make the object again", class),
                      class = "gbt_error_result")
    expect_s3_class(e$error, "condition")
  }
  changed <- function(object, field, value) {
    object[[field]] <- value
    object
  }
  refused(print(changed(cv, "best_round", "a")), "gbt_cv")
  refused(plot(changed(cv, "evaluation_log", list(round = 1:2, test_rmse_mean = letters))), "gbt_cv")
  shap <- gbt_shap(model, x[1:5, ], threads = 1)
  refused(summary(changed(shap, "values", sum)), "gbt_shap")
  refused(as.data.frame(changed(shap, "values", "a")), "gbt_shap")
  effect <- gbt_partial(model, x, "a", size = 3, threads = 1)
  refused(plot(changed(effect, "columns", sum)), "gbt_partial")
  for (models in list(list(1), 1, list())) {
    expect_error(gbt_conformal(changed(cv, "models", models), x, y, threads = 1), class = "gbt_error_argument")
    expect_error(gbt_importance(changed(cv, "models", models)), class = "gbt_error_argument")
  }
})

test_that("what a search chose is checked before it is trained", {
  cv <- gbt_cv(x, y, folds = 2, nrounds = 2, threads = 1)
  tuned <- gbt_tune(x, y, space = list(eta = c(0.1, 0.2)), configs = 2, folds = 2, nrounds = 2, threads = 1, seed = 1)
  refused <- function(object, field, value) {
    object[field] <- list(value)
    expect_error(gbt_refit(object, x = x, y = y, threads = 1), sprintf("the field `%s`", field),
                 class = "gbt_error_argument")
  }
  for (value in list(NULL, NA_real_, "a", sum)) refused(cv, "n_obs", value)
  for (value in list(NA_real_, 3, 1:2, "a", list())) refused(cv, "best_round", value)
  for (value in list(NULL, sum, list(raw(2)), list(0), list(NA_real_))) refused(cv, "folds", value)
  for (value in list(NULL, 1, list(1))) refused(cv, "params", value)
  for (value in list(1, "no parameter", list("eta"))) refused(cv, "by_rule", value)
  for (value in list("a", 1:3, list())) refused(cv, "rows", value)
  for (value in list(NULL, "a", 1, sum)) refused(cv, "predictions", value)
  for (value in list(NA, 99, "a")) refused(tuned, "best_config", value)
  for (value in list(NULL, data.frame(a = 1))) refused(tuned, "results", value)
  refused(tuned, "best", list(1))
  own <- list(gradient = function(score, label, weight) {
    warning("of the user's")
    score - label
  }, hessian = function(score, label, weight) rep(1, length(label)))
  suppressWarnings( # of further rounds
    expect_warning(gbt_refit(cv, x = x, y = y, objective = own, threads = 1), "of the user's"))
})

test_that("methods of results keep errors of gbt, values that are not printed, and warnings of drawing", {
  cv <- gbt_cv(x, y, folds = 2, nrounds = 2, threads = 1)
  utils::capture.output(shown <- withVisible(print(cv)))
  expect_false(shown$visible)
  expect_error(utils::capture.output(print(cv, digits = "a")), "`digits` must be", class = "gbt_error_argument")
  drawing <- simpleWarning("font width unknown", quote(text.default(1)))
  expect_warning(using_result(cv, warning(drawing)), "font width unknown")
  expect_error(using_result(cv, stop("a fault of R's")), "a fault of R's", class = "gbt_error_result")
  expect_error(using_result(list(), stop("of the user's")), "^of the user's$", class = "simpleError")
  expect_warning(using_result(cv, warn_gbt("offset", "left out")), "left out", class = "gbt_warning_offset")
})

test_that("warnings of the user's data stay warnings where a result is used", {
  data <- data.frame(text = c("1", "2", "3"), x = x$a, y = y)
  cv <- gbt_cv(y ~ as.numeric(text) + x, data, folds = 2, nrounds = 2, threads = 1, keep_models = TRUE)
  other <- transform(data, text = "none")
  bounds <- gbt_conformal(cv, data, threads = 1)
  expect_warning(expect_warning(found <- predict(bounds, other, threads = 1), "NAs introduced by coercion"), "coercion")
  expect_identical(nrow(found), 60L)
  expect_warning(gbt_refit(cv, data = other), "NAs introduced by coercion")
})
