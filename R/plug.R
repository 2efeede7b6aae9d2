# Other packages' interfaces, registered without depending on any. Methods of their generics are registered with delay
# by NAMESPACE (@exportS3Method). Tables of models that are no S3 (parsnip, mlr3) are filled when such a package is
# loaded, now or later, by a hook.

# Functions that are called with the package's name when it is loaded. Each may be called again, when gbt is loaded
# again.
plug_hooks <- function() {
  list(parsnip = register_parsnip, mlr3 = register_mlr3, mlr3proba = register_mlr3proba,
       pdp = function() register_inner("pdp", list(get_task = get_task.gbt, get_training_data = get_training_data.gbt)),
       vip = function() register_inner("vip", list(get_feature_names = get_feature_names.gbt)))
}

# Methods for generics that a package does not export, and that another version of it may not have.
register_inner <- function(package, methods) {
  space <- asNamespace(package)
  for (generic in names(methods)) {
    if (exists(generic, space, inherits = FALSE)) registerS3method(generic, "gbt", methods[[generic]], envir = space)
  }
}

watch_packages <- function() {
  hooks <- plug_hooks()
  for (package in names(hooks)) {
    register <- hooks[[package]]
    setHook(packageEvent(package, "onLoad"), plug_hook(register))
    if (isNamespaceLoaded(package)) register()
  }
}

plug_hook <- function(register) {
  force(register)
  function(...) register()
}

# Is a training of fewer or more rounds, alike in all else, one with the same first rounds? Not where the rule for `eta`
# looked at the number of rounds, and with early stopping, whose model predicts with the best round. Only then may one
# training serve several numbers of rounds.
rounds_are_models <- function(model) {
  !"eta" %in% model$by_rule && is.null(model$best_round)
}

# A tibble where the package is there, as it is for all who ask for one.
as_tibble_if_there <- function(x) {
  if (requireNamespace("tibble", quietly = TRUE)) tibble::as_tibble(x, .name_repair = "minimal") else x
}

#' Models and other packages
#'
#' Models of gbt work with the packages below. None of them is needed by gbt, and there is nothing to switch on: methods
#' are registered when the package is loaded. Tried with parsnip 1.6.0, tune 2.1.0, workflows 1.3.0, dials 1.4.4,
#' mlr3 1.8.0, mlr3tuning 1.6.1, paradox 1.0.1, caret 6.0-93, marginaleffects 0.32.0, insight 1.5.2, DALEX 2.5.3, vip
#' 0.4.1, shapviz 0.10.1, hstats 1.2.1, vetiver 0.2.7 and butcher 0.4.0; `docs/integrations.md` in the sources says what
#' was tried.
#'
#' @section tidymodels:
#' Engine `"gbt"` of `parsnip::boost_tree()`, for regression, classification and censored regression, and with parsnip
#' 1.6.0 and newer for quantile regression (one model of all levels, which never cross). All
#' arguments are understood: `trees`, `tree_depth`, `learn_rate`, `mtry` (a number of columns for each split, cut to all
#' of them with a warning; with `counts = FALSE` a share), `min_n` (least rows of a leaf), `loss_reduction`,
#' `sample_size` (a share, or above 1 a number of rows), `stop_iter` (at least 1; the share `validation` of the rows is
#' held out, 0.1 when left out). `validation` without `stop_iter` adds the metrics of these rows to the model's
#' `evaluation_log`. Further arguments of [gbt_train()] go to `set_engine()`; `threads` is 1 when left out. Tuning draws
#' `learn_rate` from 0.001 to 0.32 and `sample_size` from a half on, as for other engines, and has ranges for `lambda`,
#' `alpha`, `max_leaves`, `colsample_bytree` and `scale_pos_weight` in `set_engine()`. Factors stay whole; sparse
#' matrices are trained on; weights of cases count. Types of predictions: numeric, class, prob, quantile, raw. Several
#' outcomes, `cbind(y1, y2) ~ .` or a matrix or data frame for `fit_xy()`, are a model of several columns, whose
#' predictions are `.pred_y1` and `.pred_y2`; parsnip lets such a response be of numbers only.
#'
#' Tuning of `trees` trains a model for each value, so that what is rated is what `fit()` gives: where `learn_rate` is
#' left out it follows from the number of trees ([gbt_defaults()]). `multi_predict(trees = )` has predictions by the
#' first rounds of one model; more trees than the model predicts with count as all of them.
#' ```r
#' spec <- boost_tree(trees = 200, learn_rate = 0.05, mode = "regression") |> set_engine("gbt")
#' fit(spec, mpg ~ ., mtcars) |> predict(mtcars[1:3, ])
#' ```
#' Censored regression takes a `Surv` response in a formula and trains objective `"cox"`; give
#' `set_engine("gbt", objective = "aft")` for the other one. Its types are those of package censored, which is not
#' needed: `"survival"` with `eval_time` (a list column of tables with `.eval_time` and `.pred_survival`), `"time"`
#' (expected), `"linear_pred"` (rises with time), `"raw"` (the score), and with parsnip 1.6.0 and newer `"quantile"`.
#' Rows with missing predictors are kept.
#'
#' In other modes parsnip's formula form drops rows with missing predictors; a recipe or `fit_xy()` keeps them. Without
#' parsnip, `gbt_train(recipe, data)` trains a recipe and takes columns by their roles, and the model bakes raw rows
#' wherever it is given data, see [gbt_sources]; `model$recipe` is the trained recipe. `tidy()`, `glance()` and
#' `augment()` are those of broom.
#'
#' @section mlr3:
#' Learners `regr.gbt` and `classif.gbt`, with gbt's parameters as a set of paradox, weights, importance, selected
#' features and hot starts: `lrn("classif.gbt", nrounds = 100, predict_type = "prob")$train(tsk("iris"))`. The field
#' `validate` (mlr3 0.20.0 and newer) says what is validation data; `internal_valid_scores` are those of the round that
#' predictions use. With `early_stopping_rounds` and `eta` the rounds can be tuned from within: `nrounds =
#' to_tune(upper = 500, internal = TRUE)`, and `internal_tuned_values` has them. `eta` must be set for this: where it is
#' left out it follows from `nrounds`, so the final model would not be the one that was rated. For the same reason a hot
#' start continues a model whose `eta` was set, and otherwise trains all rounds again. The model is the same as without
#' a hot start. Columns may be of class Date (mlr3 1.0.0 and newer). Older versions of mlr3 have rows of role `"test"`:
#' `early_stopping_set = "test"`. `threads` is 1 unless it is set.
#'
#' `regr.gbt` has the predict type `"quantiles"` (mlr3 0.22.0 and newer): set the fields `quantiles` and
#' `quantile_response`, and one model of these levels is trained, or with `objective = "dist_normal"` and other
#' distributions a model that has all quantiles. mlr3 has no tasks of several targets.
#'
#' With mlr3proba there is `surv.gbt`, for tasks of times: objective `"cox"`, or `objective = "aft"`, which also takes
#' times censored on the left or in intervals. Its predictions have all types: `crank` and `lp` (the logarithm of the
#' relative hazard, for `"aft"` the score with its sign turned: higher means earlier), `distr` (probabilities to
#' survive beyond the event times of training, or 500 of them, or the times of the parameter `times`) and `response`
#' (the expected time, see [predict.gbt()]). `strata` names a column. Curves of models of hazards are left out with
#' `trees`.
#' ```r
#' lrn("surv.gbt")$train(tsk("rats"))$predict(tsk("rats"))$score(msrs(c("surv.cindex", "surv.graf")))
#' ```
#'
#' @section caret:
#' `train(x, y, method = gbt_caret())`, see [gbt_caret()].
#'
#' @section Explanations:
#' `vip::vip(model)`; `DALEX::explain(model, data, y)`, for models of times `survex::explain(model,
#' data, y)` with `y` a `Surv` object; `pdp::partial(model, "wt", train = data)`. For marginaleffects
#' give `options(marginaleffects_model_classes = "gbt")` once, and the data with each call; columns of a response,
#' quantiles and, with `type = "parameters"`, parameters of a distribution are groups:
#' `predictions(model, newdata = data)`; there are no standard errors, and slopes of trees are 0 nearly everywhere, so
#' `comparisons()` over a step says more. insight: `find_formula()`, `find_predictors()`, `find_response()`,
#' `model_info()`, `n_obs()`. [gbt_shap()] has exact contributions by itself; `shapviz::shapviz()` takes what it gives,
#' or the model and rows, `shapviz(model, X_pred = data)`; `fastshap::explain(model, newdata = data, exact = TRUE)` has
#' the same, of models of one output; `treeshap::unify(model, data)` takes trees that split numbers.
#'
#' @section Serving:
#' `vetiver::vetiver_model(model, "name")` and `vetiver_api()`: answers have `.pred`, or `.pred_` and the class for more
#' than two classes; `handler_predict()` takes arguments of [predict()][predict.gbt]. `butcher::butcher(model)` leaves
#' the call and the predictions for masked-out rows out; there is nothing else to leave out. `saveRDS()` keeps models;
#' `bundle::bundle()`, which has no method for them, gives them back as they are.
#'
#' @section In a database:
#' `tidypredict::tidypredict_fit(model)` is an expression of columns for `dplyr::mutate()`, for models of one output:
#' the response, to the bit where no `exp()` is in it; of models imported from XGBoost, which adds in float32, to about
#' 6 digits. Models have up to 2,000 trees of 60 layers. dbplyr and orbital write numbers with 15 digits, by which a row
#' next to a threshold may go another way: `gbt_export(model, "model.sql")` writes all digits, and several outputs.
#' `tidypredict::tidypredict_test(model, data)` compares the expression with `predict()`. `orbital::orbital()` takes
#' fits of parsnip and workflows: numbers, and the classes and probabilities of two classes.
#'
#' @section knitr:
#' A model that is printed in a document is shown as [print()] shows it. `kable(model)` is the table of
#' [gbt_importance()], `kable(as.data.frame(model))` that of all nodes of all trees.
#'
#' @examples
#' m <- gbt_train(mpg ~ ., mtcars, nrounds = 10, threads = 1)
#' if (requireNamespace("generics", quietly = TRUE)) print(generics::glance(m))
#' @name gbt-integrations
NULL
