# Names of training parameters. Users come from other packages and type the names that they know: every one of them is
# accepted, names that mean something gbt does not offer are refused with what to do instead (not_offered.R), and
# anything else is an error with the nearest right name. Nothing is ignored in silence.

# Our name -> the names that others use. Dots and underscores are the same.
alias_list <- list(
  nrounds = c("num_iterations", "num_iteration", "n_estimators", "iterations", "num_boost_round", "num_trees", "ntrees",
              "n_trees", "ntree", "max_iter", "trees", "num_round", "num_rounds", "n_iter", "num_tree"),
  eta = c("learning_rate", "shrinkage", "shrinkage_rate", "step_size", "learn_rate"),
  max_depth = c("depth", "interaction_depth", "tree_depth"),
  max_leaves = c("num_leaves", "max_leaf_nodes", "num_leaf", "max_leaf"),
  grow_policy = character(0),
  lambda = c("reg_lambda", "l2_leaf_reg", "lambda_l2", "l2_regularization"),
  alpha = c("reg_alpha", "lambda_l1", "l1_regularization"),
  gamma = c("min_split_loss", "min_gain_to_split", "min_split_gain", "loss_reduction"),
  min_child_weight = c("min_sum_hessian_in_leaf", "min_sum_hessian", "min_sum_hessian_per_leaf", "min_hessian"),
  min_data_in_leaf = c("min_child_samples", "min_samples_leaf", "min_rows", "n_minobsinnode", "min_n", "min_data",
                       "min_data_per_leaf"),
  max_delta_step = c("max_tree_output", "max_leaf_output"),
  subsample = c("bagging_fraction", "sample_rate", "bag_fraction", "sample_size", "bagging", "sub_row",
                "sample_rate_per_class"),
  class_shares = character(0), # `subsample` by class
  sampling_method = c("data_sample_strategy", "bootstrap_type", "sampling"),
  top_rate = character(0),
  other_rate = character(0),
  mvs_reg = character(0),
  bagging_temperature = character(0),
  colsample_bytree = c("feature_fraction", "sub_feature", "col_sample_rate_per_tree"),
  colsample_bylevel = "rsm",
  colsample_bynode = c("feature_fraction_bynode", "sub_feature_bynode"),
  mtry = character(0),
  num_parallel_tree = character(0),
  multi_strategy = character(0),
  random_strength = character(0),
  model_size_reg = character(0),
  extra_trees = "extra_tree",
  ensemble = character(0),
  preset = character(0),
  leaf_iterations = "leaf_estimation_iterations",
  path_smooth = character(0),
  softmax_hessian = character(0),
  boosting = c("booster", "boosting_type", "boost"),
  rate_drop = "drop_rate",
  skip_drop = character(0),
  max_drop = character(0),
  normalize_type = character(0),
  model_shrink_rate = character(0),
  model_shrink_mode = character(0),
  tail_rounds = character(0),
  max_bin = c("max_bins", "border_count", "nbins"),
  max_cat_onehot = c("max_cat_to_onehot", "one_hot_max_size"),
  cat_smooth = character(0),
  cat_noise = character(0),
  cat_l2 = character(0),
  max_cat_threshold = character(0),
  min_data_per_group = character(0),
  cat_method = character(0),
  max_cat_combine = "max_ctr_complexity",
  max_cat_keys = character(0),
  cat_permutations = "permutation_count",
  cat_prior = character(0),
  cat_bins = character(0),
  grad_bits = character(0),
  hist_memory = c("histogram_pool_size", "hist_pool_size"),
  device_memory = character(0),
  seed = c("random_state", "random_seed"),
  threads = c("nthread", "nthreads", "num_threads", "num_thread", "n_jobs", "thread_count", "n_cores"),
  device = c("device_type", "task_type"),
  tree_method = character(0),
  objective = c("loss_function", "distribution", "loss", "app", "application", "obj", "objective_type"),
  num_class = c("num_classes", "classes_count"),
  eval_metric = c("metric", "metrics", "metric_types", "custom_loss", "custom_metric", "stopping_metric", "eval"),
  eval_train = c("eval_train_metric", "is_provide_training_metric", "is_training_metric", "training_metric",
                 "train_metric"),
  early_stopping_rounds = c("early_stopping_round", "early_stopping", "od_wait", "n_iter_no_change",
                            "stopping_rounds", "stop_iter"),
  early_stopping_min_delta = c("min_delta", "early_stopping_tolerance"),
  max_seconds = "max_runtime_secs",
  weights = c("weight", "sample_weight", "case_weights"),
  offset = c("base_margin", "init_score", "baseline"),
  exposure = character(0),
  mask = character(0),
  valid = c("evals", "watchlist", "valids", "eval_set", "test_pool", "validation", "valid_data", "valid_data_file",
            "valid_filenames", "test", "test_data", "test_data_file"),
  monotone = c("monotone_constraints", "monotone_constraint", "mc", "var_monotone", "monotonic_cst"),
  interactions = c("interaction_constraints", "interaction_cst"),
  feature_weights = "feature_weight",
  first_use_penalty = c("first_feature_use_penalties", "cegb_penalty_feature_coupled"),
  level_counts = character(0),
  class_weights = c("class_weight", "scale_pos_weight", "is_unbalance", "unbalance", "unbalanced_sets",
                    "balance_classes", "auto_class_weights"),
  cat_features = c("categorical_feature", "categorical_features", "cat_feature", "categorical_column", "cat_column"),
  time = "timestamp",
  group = character(0),
  init_model = c("xgb_model", "model_in", "model_input", "input_model"),
  callbacks = character(0),
  verbose = "verbosity",
  verbose_every = c("print_every_n", "eval_freq", "metric_period", "metric_freq", "output_freq"),
  progress = character(0),
  sparse_zero = character(0),
  page_rows = character(0),
  checkpoint = character(0),
  checkpoint_seconds = "snapshot_interval"
)

alias_of <- c(
  stats::setNames(names(alias_list), names(alias_list)),
  stats::setNames(rep(names(alias_list), lengths(alias_list)), unlist(alias_list, use.names = FALSE))
)

# The parameter that a typed name means; NA when unknown.
canonical_name <- function(typed) {
  hit <- unname(alias_of[typed])
  dotted <- is.na(hit)
  plain <- gsub(".", "_", typed[dotted], fixed = TRUE)
  hit[dotted] <- unname(alias_of[plain])
  if (anyNA(hit)) hit[dotted] <- ifelse(is.na(hit[dotted]), unname(objective_params()[plain]), hit[dotted])
  hit
}

# How a message calls a parameter: by our name, and by the one that was typed.
param_text <- function(name, typed = name) {
  if (is.null(typed) || is.na(typed) || typed == name) return(sprintf("`%s`", name))
  sprintf("`%s` (given as `%s`)", name, typed)
}

# All that the user gave, in any spelling -> list(value = named list by our names, typed = chr by our names, of_model =
# are there the parameters of a model?).
# given: arguments, `params` among them. NULL means not given.
collect_args <- function(given) {
  params <- if (is.null(given[["params"]])) list() else given[["params"]]
  given[["params"]] <- NULL
  if (!is.list(params) || is.object(params)) {
    stop_argument("`params` must be a plain list of named parameters: params = list(eta = 0.1)", "params")
  }
  all <- c(given, of_one_member(params))
  all[] <- lapply(all, function(v) if (is.character(v)) printable(v) else v)
  names <- if (!is.null(names(all))) printable(names(all))
  if (length(all) > 0L && (is.null(names) || any(is.na(names) | names == ""))) {
    where <- if (is.null(names(params)) || any(names(params) == "")) "`params`" else "the call"
    if (length(params) == 0L) where <- "the call"
    stop_argument(sprintf("%s has an argument without a name; only the data come without: write nrounds = 100, not 100",
                          where))
  }
  value <- list()
  typed <- character(0)
  foreign <- integer(0)
  for (i in seq_along(all)) {
    if (is.null(all[[i]])) next
    name <- canonical_name(names[i])
    if (is.na(name)) {
      foreign <- c(foreign, i)
      next
    }
    translated <- translate_arg(name, all[[i]], names[i])
    for (to in names(translated)) {
      new <- translated[[to]]
      if (is.null(value[[to]])) {
        value[[to]] <- new
        typed[to] <- names[i]
      } else if (to == "eval_metric" && typed[[to]] == names[i]) {
        value[[to]] <- c(as_metric_list(value[[to]]), as_metric_list(new)) # XGBoost's way: one entry per metric
      } else if (!same_value(value[[to]], new)) {
        stop_argument(contradiction(typed[[to]], names[i], to), to)
      }
    }
  }
  for (i in foreign) refuse_name(names[i], all[[i]], value)
  list(value = value, typed = typed, of_model = of_a_model(params))
}

# Arguments by gbt's names, for another collect_args(): beside some objectives `alpha` could mean a parameter of theirs.
to_read_again <- function(args) {
  names(args)[names(args) == "alpha"] <- "reg_alpha"
  args
}

# Are these the parameters of a model? They have all of the engine's, by gbt's names.
of_a_model <- function(params) {
  all(c("alpha", "num_parallel_tree", "grow_policy", "seed", "grad_bits", "max_bin") %in% names(params))
}

# Those of a model that is the mean of several, whose trees of a round are those of all members.
of_one_member <- function(params) {
  several <- of_a_model(params) && is_number(params$ensemble, 2) && is_number(params$num_parallel_tree, 2)
  if (!several) return(params)
  params$num_parallel_tree <- params$num_parallel_tree / params$ensemble
  params
}

contradiction <- function(first, second, name) {
  if (first == second) return(sprintf("`%s` is given twice with different values", first))
  sprintf("`%s` and `%s` contradict each other: both say what `%s` is; give one of them", first, second, name)
}

same_value <- function(a, b) {
  if (is.numeric(a) && is.numeric(b) && !is.object(a) && !is.object(b)) {
    return(length(a) == length(b) && identical(as.double(a), as.double(b)))
  }
  identical(a, b)
}

# Names and values whose meaning has to be moved: list of (our name = value).
translate_arg <- function(name, value, typed) {
  lower <- if (is.character(value) && length(value) == 1L && !is.na(value)) lower_case(value) else NULL
  switch(name,
    tree_method = {
      if (is.null(lower)) stop_argument("`tree_method` must be one text: \"hist\"", "tree_method")
      if (lower %in% c("hist", "auto")) return(list())
      if (lower == "gpu_hist") return(list(device = "cuda"))
      if (lower %in% c("exact", "approx", "gpu_exact", "local_exact")) {
        stop_unsupported(sprintf("`tree_method = \"%s\"` is not offered; trees are grown by histograms, \"hist\"",
                                 value), "tree_method")
      }
      stop_argument(sprintf("`tree_method` must be \"hist\", not \"%s\"", value), "tree_method")
    },
    boosting = {
      if (!is.null(lower) && lower %in% c("gbtree", "gbdt", "gbrt", "traditional")) return(list())
      if (!is.null(lower) && lower %in% c("plain", "ordered", "dart")) return(list(boosting = lower))
      if (identical(lower, "goss")) return(list(sampling_method = "goss")) # LightGBM's older way to say it
      if (typed == "boosting" && !isTRUE(lower %in% c("gblinear", "rf"))) {
        return(list(boosting = value))
      }
      stop_unsupported(sprintf("`%s = %s` is not offered; gbt boosts trees, \"plain\", \"ordered\" or \"dart\"%s",
                               typed, quote_value(value),
                               if (identical(lower, "rf")) "; for a forest use `num_parallel_tree`" else ""), typed)
    },
    normalize_type = list(normalize_type = if (is.null(lower)) value else lower),
    model_shrink_mode = list(model_shrink_mode = if (is.null(lower)) value else lower),
    max_bin = {
      if (gsub(".", "_", typed, fixed = TRUE) == "border_count") { # borders lie between bins
        info <- list(name = typed, kind = "int", low = 1, high = 65534, open_low = FALSE, open_high = FALSE, text = "")
        value <- check_number(value, info) + 1
      }
      list(max_bin = value)
    },
    device = {
      if (startsWith(typed, "task") && identical(lower, "train")) return(list()) # LightGBM's `task`
      if (!is.null(lower)) {
        value <- sub("^gpu(:[0-9]+)?$", "cuda\\1", lower)
      }
      list(device = value)
    },
    grow_policy = {
      if (!is.null(lower)) {
        if (lower == "loss_guide") lower <- "lossguide"
        if (lower %in% c("symmetrictree", "symmetric_tree", "oblivious")) lower <- "symmetric"
        value <- lower
      }
      list(grow_policy = value)
    },
    subsample = { # by class, or one share
      stats::setNames(list(value), if (length(value) == 1L && is.null(names(value))) "subsample" else "class_shares")
    },
    sampling_method = read_sampling(value, gsub(".", "_", typed, fixed = TRUE)),
    class_weights = read_class_weights(value, gsub(".", "_", typed, fixed = TRUE)),
    objective = if (is.character(value)) read_objective_text(value, typed) else list(objective = value),
    cat_features = { # LightGBM's "auto": what are factors
      if (identical(lower, "auto") && startsWith(typed, "categorical")) list() else list(cat_features = value)
    },
    stats::setNames(list(value), name)
  )
}
