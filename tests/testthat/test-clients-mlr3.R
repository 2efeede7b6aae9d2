# mlr3 itself with its own tests of learners (it installs them in its folder testthat), and mlr3tuning, where they are
# installed. test-plug.R has a stand-in.

skip_without_mlr3 <- function() {
  skip_if_not_installed("mlr3", "1.0.0")
  lgr <- getExportedValue("lgr", "get_logger")
  for (name in c("mlr3", "bbotk")) lgr(name)$set_threshold("warn")
}

# mlr3's helpers for tests of learners, in an environment of their own.
mlr3_helpers <- function() {
  skip_if_not_installed("checkmate")
  files <- list.files(system.file("testthat", package = "mlr3"), "^helper.*[.][rR]$", full.names = TRUE)
  skip_if(!length(files), "mlr3 was installed without its tests")
  exports <- new.env(parent = globalenv()) # they call functions of these packages by their bare names
  for (package in c("testthat", "mlr3", "checkmate")) {
    names <- getNamespaceExports(package)
    list2env(mget(names, asNamespace(package), inherits = TRUE), exports)
  }
  env <- new.env(parent = exports)
  for (file in files) sys.source(file, env)
  env
}

test_that("mlr3's own checks of a learner pass for classes and numbers", {
  skip_without_mlr3()
  skip_if_not_installed("mirai")
  own <- mlr3_helpers()
  for (key in c("regr.gbt", "classif.gbt")) {
    learner <- mlr3::lrn(key, nrounds = 30L)
    own$expect_learner(learner)
    result <- own$run_autotest(learner)
    expect_true(isTRUE(result), info = result$error)
  }
  # in 5 rounds the steps of the default, at most 0.3, do not come as near as these checks want
  few <- own$run_autotest(mlr3::lrn("regr.gbt", nrounds = 5L, eta = 0.5), exclude = "feat_all")
  expect_true(isTRUE(few), info = few$error)
})

test_that("mlr3: models are those of gbt_train()", {
  skip_without_mlr3()
  task <- mlr3::as_task_regr(mtcars, target = "mpg")
  learner <- mlr3::lrn("regr.gbt", nrounds = 8, seed = 1)
  learner$train(task)
  want <- gbt_train(mtcars[task$feature_names], mtcars$mpg, nrounds = 8, seed = 1, threads = 1)
  expect_same_bytes(learner$model$state, want$state)
  expect_identical(learner$predict(task)$response, unname(predict(want, mtcars)))
  d <- transform(mtcars, day = as.Date("2020-01-01") + 1:32)
  dated <- mlr3::lrn("regr.gbt", nrounds = 8, seed = 1)$train(mlr3::as_task_regr(d, target = "mpg"))
  expect_true("day" %in% dated$model$feature_names)
  expect_identical(dated$predict_newdata(d)$response, unname(predict(dated$model, d)))
})

test_that("mlr3: predict type \"quantiles\" is a model of these levels, or of a distribution", {
  skip_without_mlr3()
  task <- mlr3::as_task_regr(mtcars, target = "mpg")
  x <- mtcars[task$feature_names]
  learner <- function(..., response = 0.5) {
    out <- mlr3::lrn("regr.gbt", nrounds = 8, seed = 1, predict_type = "quantiles", ...)
    out$quantiles <- c(0.1, 0.5, 0.9)
    if (!is.null(response)) out$quantile_response <- response
    out
  }
  got <- learner()$train(task)$predict(task)
  want <- gbt_train(x, mtcars$mpg, objective = "quantile", quantile_alpha = c(0.1, 0.5, 0.9), nrounds = 8, seed = 1,
                    threads = 1)
  expect_identical(as.vector(got$quantiles), as.vector(predict(want, x)))
  expect_identical(got$response, unname(predict(want, x)[, "q0.5"]))
  normal <- learner(objective = "dist_normal")$train(task)
  want <- gbt_train(x, mtcars$mpg, objective = "dist_normal", nrounds = 8, seed = 1, threads = 1)
  expect_identical(as.vector(normal$predict(task)$quantiles),
                   as.vector(predict(want, x, "quantile", probs = c(0.1, 0.5, 0.9))))
  one <- mlr3::lrn("regr.gbt", nrounds = 8, seed = 1, predict_type = "quantiles", quantiles = 0.9)
  want <- gbt_train(x, mtcars$mpg, objective = "quantile", quantile_alpha = 0.9, nrounds = 8, seed = 1, threads = 1)
  expect_identical(one$train(task)$predict(task)$response, unname(predict(want, x)))
  expect_error(learner(response = NULL)$train(task), "quantile_response", class = "gbt_error_argument")
  expect_error(learner(objective = "huber")$train(task), "leave `objective` out", class = "gbt_error_unsupported")
  expect_error(learner(quantile_alpha = 0.2)$train(task), "given twice", class = "gbt_error_argument")
  plain <- mlr3::lrn("regr.gbt", nrounds = 8)$train(task)
  plain$predict_type <- "quantiles"
  plain$quantiles <- 0.5
  expect_error(plain$predict(task), "needs a model of several quantiles", class = "gbt_error_unsupported")
})

test_that("mlr3: a hot start gives the model of a whole training", {
  skip_without_mlr3()
  task <- mlr3::as_task_regr(mtcars, target = "mpg")
  hot <- function(...) {
    first <- mlr3::lrn("regr.gbt", nrounds = 5L, seed = 1, ...)$train(task)
    stack <- mlr3::HotstartStack$new(first)
    learner <- mlr3::lrn("regr.gbt", nrounds = 15L, seed = 1, ...)
    learner$hotstart_stack <- stack
    expect_equal(stack$start_cost(learner, task$hash), 10)
    learner$train(task)
    whole <- mlr3::lrn("regr.gbt", nrounds = 15L, seed = 1, ...)$train(task)
    expect_identical(learner$model$nrounds, 15L)
    expect_identical(learner$predict(task)$response, whole$predict(task)$response)
    fewer <- mlr3::lrn("regr.gbt", nrounds = 2L, seed = 1, ...)
    fewer$hotstart_stack <- stack
    expect_identical(fewer$train(task)$model$nrounds, 2L)
  }
  hot()
  hot(eta = 0.3)
})

test_that("mlr3: validation rows and rounds that are tuned from within", {
  skip_without_mlr3()
  task <- mlr3::as_task_regr(mtcars, target = "mpg")
  learner <- mlr3::lrn("regr.gbt", nrounds = 30L, early_stopping_rounds = 2L, validate = 0.2, seed = 1)
  learner$train(task)
  expect_named(learner$internal_valid_scores, "rmse")
  expect_identical(learner$internal_tuned_values, list(nrounds = learner$model$best_round))
  learner$param_set$set_values(early_stopping_rounds = NULL)
  learner$train(task)
  expect_length(learner$internal_tuned_values, 0)
  expect_named(learner$internal_valid_scores, "rmse")
  skip_if_not_installed("paradox", "1.0.0")
  within <- mlr3::lrn("regr.gbt", nrounds = paradox::to_tune(upper = 100L, internal = TRUE), validate = 0.2)
  set <- within$param_set
  expect_error(set$convert_internal_search_space(set$search_space()), "early_stopping_rounds")
  set$set_values(early_stopping_rounds = 3L)
  expect_error(set$convert_internal_search_space(set$search_space()), "needs `eta`")
  set$set_values(eta = 0.2)
  expect_equal(set$convert_internal_search_space(set$search_space()), list(nrounds = 100))
  set$disable_internal_tuning("nrounds")
  expect_null(set$values$early_stopping_rounds)
})

test_that("mlr3tuning: a model that is tuned from within has the learning rate of those that were rated", {
  skip_without_mlr3()
  skip_if_not_installed("mlr3tuning", "1.0.0")
  task <- mlr3::as_task_regr(mtcars, target = "mpg")
  learner <- mlr3::lrn("regr.gbt", nrounds = paradox::to_tune(upper = 60L, internal = TRUE), eta = 0.2, seed = 1,
                       early_stopping_rounds = 3L, max_depth = paradox::to_tune(2L, 3L), validate = "test")
  measure <- mlr3::msr("internal_valid_score", select = "rmse", minimize = TRUE)
  tuned <- mlr3tuning::tune(mlr3tuning::tnr("grid_search"), task, learner, mlr3::rsmp("holdout"), measure)
  best <- tuned$result_learner_param_vals
  expect_identical(best$eta, 0.2)
  expect_null(best$early_stopping_rounds)
  final <- mlr3::lrn("regr.gbt")
  final$param_set$values <- best
  expect_identical(final$train(task)$model$nrounds, best$nrounds)
  expect_identical(final$model$params$eta, 0.2)
})

test_that("mlr3proba: predictions of all types, its measures, resampling and censoring by intervals", {
  skip_without_mlr3()
  skip_if_not_installed("mlr3proba", "0.8.9")
  loadNamespace("mlr3proba")
  d <- survival::rotterdam[seq(1, 2982, 5), setdiff(names(survival::rotterdam), c("pid", "year", "rtime", "recur"))]
  task <- mlr3proba::as_task_surv(d, time = "dtime", event = "death")
  y <- survival::Surv(d$dtime, d$death)
  for (objective in c("cox", "aft")) {
    learner <- mlr3::lrn("surv.gbt", nrounds = 20L, seed = 1, objective = objective)
    p <- learner$train(task)$predict(task)
    want <- gbt_train(d[task$feature_names], y, nrounds = 20, seed = 1, threads = 1, objective = objective)
    expect_same_bytes(learner$model$state, want$state)
    expect_identical(p$crank, (if (objective == "aft") -1 else 1) * as.vector(predict(want, d, type = "link")))
    expect_setequal(p$predict_types, c("crank", "lp", "distr", "response"))
    scores <- p$score(mlr3::msrs(c("surv.cindex", "surv.graf", "surv.dcalib")))
    expect_equal(scores[["surv.cindex"]], gbt_evaluate(want, d, y, metrics = "concordance")$estimate,
                 tolerance = 1e-3)
    expect_true(scores[["surv.graf"]] > 0.05 && scores[["surv.graf"]] < 0.2)
    at <- 1500
    expect_equal(as.vector(p$distr$survival(at)), as.vector(predict(want, d, type = "survival", times = at)),
                 tolerance = 0.05)
    rr <- mlr3::resample(task, learner, mlr3::rsmp("cv", folds = 2))
    expect_gt(rr$aggregate(mlr3::msr("surv.cindex")), 0.55)
  }
  valid <- mlr3::lrn("surv.gbt", nrounds = 50L, early_stopping_rounds = 5L, validate = 0.3, seed = 1)$train(task)
  expect_true("cox_nloglik" %in% names(valid$internal_valid_scores))
  expect_true("distr" %in% names(valid$predict(task)$data))
  strata <- mlr3::lrn("surv.gbt", nrounds = 5L, seed = 1, strata = "size")$train(task)
  expect_named(strata$model$baseline$strata)
  between <- transform(d[-(10:11)], from = floor(d$dtime / 100) * 100 + 1, to = floor(d$dtime / 100) * 100 + 100)
  between$to[d$death == 0] <- Inf
  task <- mlr3proba::as_task_surv(between, time = "from", time2 = "to", type = "interval")
  learner <- mlr3::lrn("surv.gbt", nrounds = 5L, seed = 1)$train(task)
  expect_identical(learner$model$objective, "aft")
  expect_false(anyNA(learner$predict_newdata(between)$response))
})
