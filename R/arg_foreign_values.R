# Values of other packages: what a parameter's value means in our terms. The names are in arg_foreign.R.

# Values of other packages, in lower case: our value, or a list of our arguments, empty where it asks for what gbt does
# anyway. The name is that of the parameter as it was typed, with underscores, or ours.
foreign_values <- list(
  tree_method = list(hist = list(), auto = list(), gpu_hist = list(device = "cuda")),
  boosting = list(gbtree = list(), gbdt = list(), gbrt = list(), traditional = list(), plain = "plain",
                  ordered = "ordered", goss = list(sampling_method = "goss")), # LightGBM's older way
  task_type = list(train = list()), # LightGBM's `task`
  grow_policy = list(loss_guide = "lossguide", symmetrictree = "symmetric", symmetric_tree = "symmetric",
                     oblivious = "symmetric"),
  bootstrap_type = list(bernoulli = "uniform", bayesian = "bayesian", mvs = "mvs", no = "none"),
  data_sample_strategy = list(bagging = "uniform", goss = "goss"),
  sampling_method = list(gradient_based = "mvs"),
  categorical_feature = list(auto = list()), categorical_features = list(auto = list()), # what are factors
  categorical_column = list(auto = list())
)

# Values that take more than a look-up: function(value, typed, lower) -> list of our arguments. lower: a text in lower
# case, NULL for others.
foreign_rules <- list(
  tree_method = function(value, typed, lower) {
    if (is.null(lower)) stop_argument("`tree_method` must be one text: \"hist\"", "tree_method")
    if (lower == "exact") return(list(max_bin = "exact"))
    if (lower %in% c( "approx", "gpu_exact", "local_exact")) {
      stop_unsupported(sprintf("`tree_method = \"%s\"` is not offered; trees are grown by histograms, \"hist\"", value),
                       "tree_method")
    }
    stop_argument(sprintf("`tree_method` must be \"hist\", not \"%s\"", value), "tree_method")
  },
  boosting = function(value, typed, lower) {
    if (typed == "boosting" && !isTRUE(lower %in% c("gblinear", "rf", "dart"))) return(list(boosting = value))
    instead <- switch(given_or(lower, ""), rf = "; for a forest use `num_parallel_tree`",
                      dart = "; a smaller `eta` with early stopping was better", "")
    stop_unsupported(sprintf("`%s = %s` is not offered; gbt boosts trees, \"plain\" or \"ordered\"%s", typed,
                             quote_value(value), instead), typed)
  },
  leaf_model = function(value, typed, lower) { # LightGBM's is a logical
    if (!isTRUE(value) && !isFALSE(value)) return(list(leaf_model = given_or(lower, value)))
    list(leaf_model = if (value) "linear" else "constant")
  },
  grow_policy = function(value, typed, lower) list(grow_policy = given_or(lower, value)),
  device = function(value, typed, lower) {
    list(device = if (is.null(lower)) value else sub("^gpu(:[0-9]+)?$", "cuda\\1", lower))
  },
  border_count = function(value, typed, lower) { # borders lie between bins
    info <- list(name = typed, kind = "int", low = 1, high = 65534, open_low = FALSE, open_high = FALSE, text = "")
    list(max_bin = check_number(value, info) + 1)
  },
  subsample = function(value, typed, lower) { # by class, or one share
    stats::setNames(list(value), if (length(value) == 1L && is.null(names(value))) "subsample" else "class_shares")
  },
  class_weights = function(value, typed, lower) read_class_weights(value, gsub(".", "_", typed, fixed = TRUE)),
  objective = function(value, typed, lower) {
    if (is.function(value) || inherits(value, "family")) value <- name_of_family(value, typed)
    if (is.character(value)) read_objective_text(value, typed) else list(objective = value)
  }
)

# A value in our terms: list of our arguments by name. name: ours.
translate_arg <- function(name, value, typed) {
  key <- function(table) c(intersect(gsub(".", "_", typed, fixed = TRUE), names(table)), name)[1L]
  lower <- if (is.character(value) && length(value) == 1L && !is.na(value)) lower_case(value)
  known <- if (!is.null(lower)) foreign_values[[key(foreign_values)]][[lower]]
  if (is.list(known)) return(known)
  rule <- if (is.null(known)) foreign_rules[[key(foreign_rules)]]
  if (is.null(rule)) stats::setNames(list(given_or(known, value)), name) else rule(value, typed, lower)
}

# Arguments of other packages for class weights, translated: list(class_weights = ), empty where none is given. typed:
# the name that was given, with underscores.
read_class_weights <- function(value, typed) {
  lower <- if (is.character(value) && length(value) == 1L && !is.na(value)) lower_case(value)
  if (identical(lower, "none")) return(list())
  if (typed == "scale_pos_weight") {
    if (!is_number(value, 0, .Machine$double.xmax) || value == 0) {
      stop_argument(sprintf("`scale_pos_weight` must be a number above 0, not %s", quote_value(value)), typed)
    }
    return(if (value == 1) list() else list(class_weights = structure(c(1, value), of_two = TRUE)))
  }
  if (typed %in% c("is_unbalance", "unbalance", "unbalanced_sets", "balance_classes")) {
    check_flag(value, typed)
    return(if (value) list(class_weights = "balanced") else list())
  }
  if (!is.null(lower)) {
    if (lower != "balanced") {
      stop_unsupported(sprintf("`%s = \"%s\"` is not offered; it may be \"balanced\", or numbers named by classes",
                               typed, value), typed)
    }
    return(list(class_weights = "balanced"))
  }
  if (is.list(value) && !is.object(value)) value <- unlist(value)
  list(class_weights = value)
}

# A distribution as glm() takes it, such as poisson or Gamma("log") -> its name, if the link is that of the objective.
# Any other function or object stays as it is.
name_of_family <- function(value, typed) {
  links <- c(gaussian = "identity", binomial = "logit", poisson = "log", Gamma = "log", quasipoisson = "log",
             quasibinomial = "logit", inverse.gaussian = "log")
  if (is.function(value)) {
    known <- vapply(names(links), function(name) identical(value, getExportedValue("stats", name)), NA)
    return(if (any(known)) names(links)[known] else value)
  }
  link <- links[value$family]
  if (!is.na(link) && !identical(value$link, unname(link))) {
    stop_unsupported(sprintf("%s has the link \"%s\" here, not \"%s\"; give `objective = \"%s\"`",
                             param_text("objective", typed), link, value$link, lower_case(value$family)), typed)
  }
  value$family
}
