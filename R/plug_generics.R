# Methods for generics of packages that summarise, explain and serve models. Each is registered when its package is
# loaded.

# ---- broom, by package generics ----

#' @exportS3Method generics::tidy
tidy.gbt <- function(x, type = c("importance", "trees"), ...) {
  check_no_dots(written_dots(...), c("type"))
  type <- match_choice(type, c("importance", "trees"), "type")
  as_tibble_if_there(if (type == "trees") as.data.frame.gbt(x) else as.data.frame(gbt_importance(x)))
}

#' @exportS3Method generics::glance
glance.gbt <- function(x, ...) {
  check_no_dots(written_dots(...), character(0))
  check_model(x, "x")
  out <- list(objective = x$objective, nrounds = x$nrounds, best_round = rounds_used(x),
              features = length(x$feature_names), outputs = x$n_outputs, nobs = as.double(x$n_obs))
  log <- if (is.null(log_of_member(x))) unclass(x$evaluation_log) # else it is not the model's
  at <- match(rounds_used(x), log$round)
  if (length(log) > 1L && !is.na(at)) out <- c(out, lapply(log[-1L], function(v) v[at]))
  as_tibble_if_there(list_frame(out, 1L))
}

#' @exportS3Method generics::augment
augment.gbt <- function(x, data = NULL, newdata = NULL, ...) {
  check_model(x, "x")
  rows <- if (is.null(newdata)) data else newdata
  if (is.null(rows)) stop_no_training_data("augment(model, data)")
  if (chunked_rows(rows)) stop_unsupported("augment() takes rows in memory; give some of them at a time", "newdata")
  fits <- bake_rows(x, rows)
  given <- fits$x # what an absent entry of a sparse matrix means only predict() knows
  if (!is.data.frame(rows)) {
    if (isS4(rows)) rows <- sparse_by_columns(rows, x)
    rows <- as.data.frame(if (isS4(rows)) as.matrix(rows) else rows)
    if (is.matrix(given) && is.null(colnames(given))) names(rows) <- x$feature_names
  }
  out <- as.list(rows)
  if (is.null(class_labels(x))) {
    fitted <- predict.gbt(fits$model, given, ...)
    out <- c(out, if (is.matrix(fitted)) columns_of(fitted, ".fitted_") else list(.fitted = unname(fitted)))
    y <- response_of_formula(x, rows)
    if (is.numeric(y) && !inherits(y, "Surv") && !is.matrix(fitted)) out$.resid <- as.double(y) - unname(fitted)
  } else {
    prob <- predict.gbt(fits$model, given, type = "prob", ...)
    index <- max.col(prob, "first")
    class <- unname(predict.gbt(fits$model, given, type = "class", ...))
    out <- c(out, list(.fitted = class), columns_of(prob, ".prob_"),
             list(.fitted_prob = prob[cbind(seq_along(index), index)]))
  }
  as_tibble_if_there(list_frame(out, nrow(rows)))
}

columns_of <- function(x, prefix) {
  names <- if (is.null(colnames(x))) seq_len(ncol(x)) else colnames(x)
  stats::setNames(lapply(seq_len(ncol(x)), function(j) unname(x[, j])), paste0(prefix, names))
}

# The response of a model that was trained by a formula, in other data; NULL where it is not there.
response_of_formula <- function(model, data) {
  if (!is.null(recipe_of(model))) return(try_else(given_response(model, data), function(e) NULL))
  if (is.null(model$formula)) return(NULL)
  name <- parse_formula(model$formula)[[2L]]
  if (is.name(name)) return(.subset2(data, as.character(name)))
  try_else(given_response(model, data), function(e) NULL) # by gbt's own evaluation of terms
}

# ---- vip, DALEX, pdp, fastshap ----

#' @exportS3Method vip::vi_model
vi_model.gbt <- function(object, type = c("gain", "cover", "frequency"), ...) {
  given <- if (missing(type)) list() else list(type = match_choice(type, c("gain", "cover", "frequency"), "type"))
  importance <- do.call(gbt_importance, c(list(object), given))
  type <- attr(importance, "type")
  out <- as_tibble_if_there(list_frame(list(Variable = importance$feature, Importance = importance[[type]]),
                                       nrow(importance)))
  structure(out, type = type, class = c("vi", class(out)))
}

get_feature_names.gbt <- function(object, ...) check_model(object)$feature_names

#' @exportS3Method DALEX::yhat
yhat.gbt <- function(X.model, newdata, ...) unname_vector(predict.gbt(X.model, newdata, ...)) # nolint: DALEX's name

unname_vector <- function(x) if (is.matrix(x)) x else unname(x)

#' @exportS3Method DALEX::model_info
model_info.gbt <- function(model, is_multiclass = FALSE, ...) {
  check_model(model, "model")
  several <- model$n_outputs > 1L || isTRUE(is_multiclass)
  type <- if (is.null(class_labels(model))) "regression" else if (several) "multiclass" else "classification"
  structure(class = "model_info",
            list(package = "gbt", ver = as.character(utils::packageVersion("gbt")), type = type))
}

# survex: models of times with their curves; others are explained by DALEX.
#' @rawNamespace S3method(survex::explain, gbt, explain_survex)
explain_survex <- function(model, data = NULL, y = NULL, ...) {
  check_model(model, "model")
  if (!predicts_times(model)) return(get_exported("DALEX", "explain")(model, data = data, y = y, ...))
  usual <- list(
    predict_function = said_by_survex(function(model, newdata) {
      exp(risk_of_scores(model, unname(predict.gbt(model, newdata, type = "link"))))
    }, "relative risk"),
    predict_survival_function = said_by_survex(curves_for_survex("survival"), "predict(type = \"survival\")"),
    predict_cumulative_hazard_function = said_by_survex(curves_for_survex("cumhaz"), "predict(type = \"cumhaz\")"),
    label = "gbt", model_info = utils::modifyList(model_info.gbt(model), list(type = "survival"))
  )
  given <- list(...)
  do.call(get_exported("survex", "explain_survival"),
          c(list(model, data = data, y = y), given, usual[setdiff(names(usual), names(given))]))
}

# A function with the words that survex prints for it.
said_by_survex <- function(f, words) structure(f, verbose_info = words, is.default = TRUE)

curves_for_survex <- function(type) {
  force(type)
  function(model, newdata, times) matrix(predict.gbt(model, newdata, type = type, times = times), NROW(newdata))
}

get_task.gbt <- function(object) if (is.null(class_labels(check_model(object)))) "regression" else "classification"

get_training_data.gbt <- function(object, ...) stop_no_training_data("pdp::partial(model, train = data)")

# ---- marginaleffects ----

# marginaleffects numbers the rows of `newdata` (`rowid`); rows that it adds itself, for levels that are not there, have
# numbers below 0, by which it takes them out again.
#' @exportS3Method marginaleffects::get_predict
get_predict.gbt <- function(model, newdata, vcov = FALSE, conf_level = 0.95, type = NULL, ...) {
  type <- if (is.null(type) || is.na(type)) "response" else type
  out <- predict.gbt(model, newdata, type = type)
  rows <- if ("rowid" %in% colnames(newdata)) newdata[["rowid"]] else seq_len(NROW(out))
  if (is.matrix(out)) {
    return(data.frame(rowid = rep(rows, ncol(out)), group = rep(output_names(model, out), each = length(rows)),
                      estimate = as.vector(out), stringsAsFactors = FALSE))
  }
  data.frame(rowid = rows, estimate = as.vector(out))
}

# There is no covariance matrix of trees.
#' @exportS3Method marginaleffects::get_vcov
get_vcov.gbt <- function(model, ...) FALSE

#' @exportS3Method marginaleffects::get_coef
get_coef.gbt <- function(model, ...) numeric(0)

#' @exportS3Method marginaleffects::set_coef
set_coef.gbt <- function(model, coefs, ...) model

#' @exportS3Method marginaleffects::get_group_names
get_group_names.gbt <- function(model, ...) {
  several <- check_model(model, "model")$n_outputs > 1L && !is_distribution(model$objective) # which predict means
  if (several) output_labels(model) else "main_marginaleffect"
}

# ---- insight ----

#' @exportS3Method insight::find_formula
find_formula.gbt <- function(x, verbose = TRUE, ...) {
  if (is.null(check_model(x, "x")$formula)) return(NULL)
  structure(list(conditional = formula.gbt(x)), class = c("insight_formula", "list"))
}

#' @exportS3Method insight::find_predictors
find_predictors.gbt <- function(x, flatten = FALSE, ...) {
  names <- predictor_names(check_model(x, "x"))
  if (isTRUE(flatten)) names else list(conditional = names)
}

#' @exportS3Method insight::find_response
find_response.gbt <- function(x, combine = TRUE, ...) {
  if (is.null(check_model(x, "x")$formula)) return(NULL)
  left <- parse_formula(x$formula)[[2L]]
  if (isTRUE(combine)) expression_text(left) else all.vars(left)
}

# Columns of the data that predictions need: those in terms such as log(a), not the terms.
predictor_names <- function(model) {
  terms <- c(model$terms$features, model$terms$offset)
  if (is.null(model$terms$features)) terms <- model$terms$offset
  expressions <- lapply(terms, parse_design)
  names <- vapply(Filter(is.name, expressions), as.character, "")
  variables <- unlist(lapply(expressions, function(e) variables_of(list(e))))
  constants <- setdiff(base_constants, c(names, names(model$terms$columns)))
  unique(c(if (is.null(model$terms$features)) model$feature_names, setdiff(variables, constants)))
}

# Families of objectives, as insight has them: what a model's information says.
#' @rawNamespace S3method(insight::model_info, gbt, model_info_insight)
model_info_insight <- function(x, ...) {
  need_package("insight", "model_info()")
  check_model(x, "x")
  family <- switch(x$objective, poisson = "poisson", negative_binomial = "negbin", gamma = "Gamma",
                   tweedie = "tweedie", logistic = "binomial", softmax = "multinomial", cross_entropy = "binomial",
                   "gaussian")
  link <- link_name(x$objective)
  list(
    is_binomial = family == "binomial", is_bernoulli = x$objective == "logistic", is_count = family %in%
      c("poisson", "negbin"), is_poisson = family == "poisson", is_negbin = family == "negbin",
    is_logit = link == "logit", is_linear = link == "identity", is_tweedie = family == "tweedie",
    is_multinomial = family == "multinomial", is_categorical = family == "multinomial", is_gam = FALSE,
    is_mixed = FALSE, is_multivariate = FALSE, is_bayesian = FALSE, is_survival = FALSE, is_anova = FALSE,
    is_zero_inflated = FALSE, is_hurdle = FALSE, is_ordinal = FALSE, family = family, link_function = link,
    n_obs = x$n_obs, model_terms = list(response = find_response.gbt(x), conditional = predictor_names(x))
  )
}

link_name <- function(objective) {
  switch(objective_info(objective)$response, PROBABILITY = , CLASSES = , INTERVALS = "logit", MEAN = "log", "identity")
}

# NULL, as insight has it for models without data: packages that build on it (marginaleffects) ask for the data even
# where the user gives them.
#' @exportS3Method insight::get_data
get_data.gbt <- function(x, verbose = TRUE, ...) {
  check_model(x, "x")
  if (isTRUE(verbose)) {
    warn_gbt("no_training_data", "a model does not keep its training data; give the data frame, as `newdata` or `data`")
  }
  NULL
}

#' @exportS3Method insight::n_obs
n_obs.gbt <- function(x, ...) check_model(x, "x")$n_obs

# ---- butcher: what a model carries in addition to its bytes ----

#' @exportS3Method butcher::axe_call
axe_call.gbt <- function(x, verbose = FALSE, ...) axed(x, "call")

#' @exportS3Method butcher::axe_fitted
axe_fitted.gbt <- function(x, verbose = FALSE, ...) axed(x, "masked_out")

#' @exportS3Method butcher::axe_ctrl
axe_ctrl.gbt <- function(x, verbose = FALSE, ...) check_model(x, "x")

#' @exportS3Method butcher::axe_data
axe_data.gbt <- function(x, verbose = FALSE, ...) check_model(x, "x") # it keeps none

#' @exportS3Method butcher::axe_env
axe_env.gbt <- function(x, verbose = FALSE, ...) check_model(x, "x") # a formula is text

axed <- function(model, field) {
  check_model(model, "x")
  model[field] <- list(NULL)
  model
}

# ---- vetiver ----

#' @exportS3Method vetiver::vetiver_create_description
vetiver_create_description.gbt <- function(model) {
  check_model(model, "model")
  sprintf("A gbt model (%s, %s)", model$objective, counted(rounds_used(model), "round"))
}

#' @exportS3Method vetiver::vetiver_create_meta
vetiver_create_meta.gbt <- function(model, metadata) {
  get_exported("vetiver", "vetiver_meta")(metadata, required_pkgs = "gbt")
}

# No rows of the columns that predictions need, as they were in training.
#' @exportS3Method vetiver::vetiver_ptype
vetiver_ptype.gbt <- function(model, ...) {
  check_model(model, "model")
  data <- list(...)$prototype_data
  if (!is.null(data)) return(as_tibble_if_there(as.data.frame(data)[0L, predictor_names(model), drop = FALSE]))
  if (length(c(model$terms$features, model$terms$offset))) {
    stop_argument(paste("the model evaluates a formula with terms: give vetiver_model(prototype_data = ), rows of the",
                        "columns that it needs"), "prototype_data")
  }
  info <- .Call(C_gbt_model_info, model$state, model$cache)
  levels <- .Call(C_gbt_model_levels, model$state, model$cache)
  columns <- lapply(seq_along(info$names), function(i) prototype_column(model$feature_types[i], levels[[i]]))
  as_tibble_if_there(list_frame(stats::setNames(columns, info$names), 0L))
}

# Texts, dates and times come as what they were, other numbers as numbers.
prototype_column <- function(type, levels) {
  empty_column(if (grepl(":", type, fixed = TRUE) || type == "integer64") "double" else type, levels)
}

#' @exportS3Method vetiver::vetiver_prepare_model
vetiver_prepare_model.gbt <- function(model) axed(axed(model, "call"), "masked_out")

#' @exportS3Method vetiver::handler_startup
handler_startup.gbt <- function(vetiver_model) {
  get_exported("vetiver", "attach_pkgs")(vetiver_model$metadata$required_pkgs)
}

# Answers requests with `.pred`, or with a column for each class.
#' @exportS3Method vetiver::handler_predict
handler_predict.gbt <- function(vetiver_model, ...) {
  ptype <- vetiver_model$prototype
  if (is.null(ptype)) ptype <- vetiver_model$ptype # older versions
  function(req) {
    new <- req$body
    if (!is.null(ptype)) {
      if (all(names(ptype) %in% names(new))) new <- new[names(ptype)] # requests may have more
      new <- get_exported("vetiver", "vetiver_type_convert")(new, ptype)
      new <- get_exported("hardhat", "scream")(new, ptype)
    }
    out <- predict.gbt(vetiver_model$model, as.data.frame(new), ...)
    if (is.matrix(out)) columns_of(out, ".pred_") else list(.pred = unname(out))
  }
}

# ---- knitr ----

#' @exportS3Method knitr::knit_print
knit_print.gbt <- function(x, ...) {
  text <- utils::capture.output(print.gbt(x))
  structure(paste(c("", "```", text, "```", ""), collapse = "\n"), class = "knit_asis", knit_cacheable = NA)
}
