# Which parameters play a part in a model. What a parameter needs is written down here only: gbt_parameters() shows the
# text, summary() and reports list the parameters of a model for which it holds. A parameter that is not named here
# always plays a part.

# names   parameters that need the same
# text    what must be given for them
# holds   function(model): is it there? NULL where a model cannot tell, as it concerns the run only
needs_of_parameters <- local({
  need <- function(names, text, holds = NULL) list(names = names, text = text, holds = holds)
  sampled_by <- function(method) {
    function(m) identical(m$params[["sampling_method"]], method)
  }
  list(
    need(c("top_rate", "other_rate"), "sampling_method = \"goss\"", sampled_by("goss")),
    need("mvs_reg", "sampling_method = \"mvs\"", sampled_by("mvs")),
    need("bagging_temperature", "sampling_method = \"bayesian\"", sampled_by("bayesian")),
    need("linear_lambda", "leaf_model = \"linear\"", function(m) identical(m$params[["leaf_model"]], "linear")),
    need("softmax_hessian", "objective = \"softmax\"", function(m) m$objective == "softmax"),
    need("multi_strategy", "objective = \"softmax\", several quantiles or a response of several columns",
         function(m) m$objective == "softmax" || !is.null(m$columns) || !is.null(levels_of(m))),
    need("sketch", "multi_strategy = \"multi_output_tree\"",
         function(m) identical(m$params[["multi_strategy"]], "multi_output_tree")),
    need("early_stopping_rounds", "valid or mask"), need("early_stopping_min_delta", "early_stopping_rounds"),
    need("verbose_every", "verbose = 1"), need("checkpoint_seconds", "checkpoint"),
    need("feature_weights", "colsample_bytree, colsample_bylevel or colsample_bynode"),
    need(position_params, "position", function(m) !is.null(m$positions)),
    need("class_weights", "a response of classes"), need("exposure", "an objective with a log link"),
    need("sparse_zero", "a sparse matrix"), need("device_memory", "device = \"cuda\""),
    need("cat_method", "columns of categories"),
    need(c("max_cat_onehot", "cat_smooth", "cat_l2", "cat_noise", "max_cat_threshold", "min_data_per_group"),
         "cat_method \"sets\"", function(m) splits_sets(m)),
    need(c("max_cat_combine", "cat_permutations", "cat_prior", "cat_bins", "time", "group"), "cat_method \"target\"",
         function(m) has_statistics(m)),
    need("max_cat_keys", "cat_method \"target\" and max_cat_combine", function(m) isTRUE(m$params$max_cat_combine > 1)),
    need("seed", "random choices", function(m) draws_random(m)),
    need(c("rate_drop", "skip_drop", "max_drop", "normalize_type"), NA_character_, # of earlier versions
         function(m) identical(m$params[["boosting"]], "dart"))
  )
})

# The texts by the name of a parameter.
matters_with <- local({
  names <- lapply(needs_of_parameters, `[[`, "names")
  text <- rep(vapply(needs_of_parameters, `[[`, "", "text"), lengths(names))
  out <- stats::setNames(text, unlist(names))
  out[!is.na(out)]
})

# Values with which a parameter does nothing.
switched_off <- list(
  max_leaves = 0, alpha = 0, gamma = 0, min_child_weight = 0, min_data_in_leaf = 1, max_delta_step = 0, subsample = 1,
  sampling_method = "uniform", colsample_bytree = 1, colsample_bylevel = 1, colsample_bynode = 1,
  num_parallel_tree = 1, multi_strategy = "one_output_per_tree", random_strength = 0, extra_trees = 0,
  leaf_iterations = 1, path_smooth = 0, leaf_model = "constant", boosting = "plain", cat_noise = 0,
  max_cat_combine = 1, grad_bits = "auto", sketch = "auto",
  early_stopping_rounds = 0, early_stopping_min_delta = 0,
  # of earlier versions
  model_shrink_rate = c(0, 1), model_shrink_mode = "constant", tail_rounds = c(0, 1), model_size_reg = c(0, 1)
)

is_switched_off <- function(params, name) {
  value <- params[[name]]
  length(value) == 1L && !is.list(value) && value %in% switched_off[[name]]
}

# Are there columns that are split by sets of levels? Those are not in `cat_method` unless the user asked for more.
splits_sets <- function(m) {
  factors <- m$feature_names[column_kinds(m) == "factor"]
  methods <- m$params[["cat_method"]]
  any(vapply(factors, function(name) is.null(methods[[name]]) || "sets" %in% methods[[name]], NA))
}

has_statistics <- function(m) length(target_columns(m$params[["cat_method"]])) > 0L

# Does the seed decide anything? Where nothing was random it is 0, unless the user gave one.
draws_random <- function(m) {
  on <- function(name) !is.null(m$params[[name]]) && !is_switched_off(m$params, name)
  parts <- c("subsample", "sampling_method", "colsample_bytree", "colsample_bylevel", "colsample_bynode",
             "random_strength", "extra_trees", "boosting", "multi_strategy", "ensemble")
  !identical(m$params[["seed"]], 0) || has_statistics(m) || any(vapply(parts, on, NA))
}

# Names of `params` that play a part in the model.
params_in_part <- function(m) {
  params <- member_params(m$params)
  idle <- unlist(lapply(needs_of_parameters, function(need) {
    if (!is.null(need$holds) && !need$holds(m)) need$names
  }))
  Filter(function(name) !name %in% idle && !is_switched_off(params, name), names(params))
}

# The parameters of a model that play a part, and those that the user named, whether or not they do: a data frame of
# parameter, value and default as texts; origin: "given", "rule", "default", or "found" of what was drawn or follows
# from others; topic. In the order of gbt_parameters().
params_frame <- function(m) {
  params <- member_params(m$params)
  named <- given_or(m$named, character(0))
  if (!"aft_scale" %in% named && is.numeric(params$aft_scale)) params$aft_scale <- signif(params$aft_scale, 4L)
  value <- vapply(names(params), function(name) param_text_of(params[[name]], name), "")
  default <- defaults_as_text(names(params))
  derived <- c("seed", "eval_metric", "early_stopping_rounds", "early_stopping_min_delta", "cat_method",
               "aft_scale")
  differs <- !is.na(default) & value != default & !names(params) %in% derived
  rule <- names(params) %in% m$by_rule
  origin <- ifelse(rule, "rule", ifelse(names(params) %in% named | differs, "given",
                                        ifelse(names(params) %in% derived, "found", "default")))
  all <- gbt_parameters()
  place <- match(names(params), all$name)
  out <- data.frame(parameter = names(params), value = unname(value), default = given_texts(default), origin = origin,
                    topic = ifelse(is.na(place), "Of earlier versions", all$topic[place]))
  out <- out[order(place), ]
  out <- out[out$parameter %in% params_in_part(m) | out$origin == "given", ]
  rownames(out) <- NULL
  out
}

given_texts <- function(text) ifelse(is.na(text), "", text)

# The defaults that gbt_parameters() shows, without rules; NA for parameters of earlier versions.
defaults_as_text <- function(names) {
  all <- gbt_parameters()
  sub("^by rule, else ", "", all$default[match(names, all$name)])
}

# A value in a line. Fields of a model may have been changed, so a value may have any length and type that
# params_fault() lets through.
param_text_of <- function(value, name) {
  if (length(value) == 0L) return("none")
  value <- named_number(name, value)
  if (name == "eta" && length(value) > 1L) return(schedule_text(value))
  if (is.list(value) || !is.null(names(value))) {
    return(features_text(value, if (name %in% c("feature_weights", "class_weights", "subsample")) 1 else 0))
  }
  if (name %in% params_table()$name && is_switch(table_row(params_table(), match(name, params_table()$name)))) {
    return(paste(value == 1, collapse = ", "))
  }
  shown <- if (is.character(value)) value else format_number(value)
  n <- length(shown)
  if (n > 12L && !is.character(value)) shown <- c(shown[1:5], "...", sprintf("%s (%d numbers)", shown[n], n))
  paste(shown, collapse = ", ")
}

# "carat 1, depth -1" of the numbers of some features, "{a, b}, {c}" of sets of features, "a {sets, count}" of sets by
# feature.
features_text <- function(p, usual) {
  set_text <- function(set) sprintf("{%s}", enumerate(set, quote = ""))
  if (is.list(p)) return(enumerate(trimws(paste(names(p), vapply(p, set_text, ""))), quote = ""))
  p <- p[p != usual]
  if (length(p) == 0L) "none" else enumerate(paste(names(p), format_number(signif(p, 4L))), quote = "")
}
