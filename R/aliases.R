# Names of training parameters. Users come from other packages and type the names that they know: every one of them is
# accepted, names that mean something gbt does not offer are refused with what to do instead, and anything else is an
# error with the nearest right name. Nothing is ignored in silence.

# Our name -> the names that others use. Dots and underscores are the same.
alias_list <- list(
  nrounds = c("num_iterations", "num_iteration", "n_estimators", "iterations", "num_boost_round", "num_trees", "ntrees",
              "n_trees", "ntree", "max_iter", "trees", "num_round", "num_rounds", "n_iter"),
  eta = c("learning_rate", "shrinkage", "shrinkage_rate", "step_size", "learn_rate"),
  max_depth = c("depth", "interaction_depth", "tree_depth"),
  max_leaves = c("num_leaves", "max_leaf_nodes", "num_leaf", "max_leaf"),
  grow_policy = character(0),
  lambda = c("reg_lambda", "l2_leaf_reg", "lambda_l2", "l2_regularization"),
  alpha = c("reg_alpha", "lambda_l1", "l1_regularization"),
  gamma = c("min_split_loss", "min_gain_to_split", "min_split_gain", "loss_reduction"),
  min_child_weight = c("min_sum_hessian_in_leaf", "min_sum_hessian"),
  min_data_in_leaf = c("min_child_samples", "min_samples_leaf", "min_rows", "n_minobsinnode", "min_n", "min_data"),
  max_delta_step = c("max_tree_output", "max_leaf_output"),
  subsample = c("bagging_fraction", "sample_rate", "bag_fraction", "sample_size", "bagging"),
  colsample_bytree = c("feature_fraction", "sub_feature", "col_sample_rate_per_tree"),
  colsample_bylevel = "rsm",
  colsample_bynode = c("feature_fraction_bynode", "sub_feature_bynode"),
  mtry = character(0),
  num_parallel_tree = character(0),
  max_bin = c("max_bins", "border_count", "nbins"),
  max_cat_onehot = c("max_cat_to_onehot", "one_hot_max_size"),
  cat_smooth = character(0),
  cat_noise = character(0),
  cat_l2 = character(0),
  max_cat_threshold = character(0),
  min_data_per_group = character(0),
  grad_bits = character(0),
  hist_memory = "histogram_pool_size",
  device_memory = character(0),
  seed = c("random_state", "random_seed"),
  threads = c("nthread", "nthreads", "num_threads", "num_thread", "n_jobs", "thread_count", "n_cores"),
  device = c("device_type", "task_type"),
  tree_method = character(0),
  booster = c("boosting", "boosting_type", "boost"),
  objective = c("loss_function", "distribution", "loss", "app", "application", "obj"),
  num_class = c("num_classes", "classes_count"),
  eval_metric = c("metric", "metrics", "custom_loss", "custom_metric", "stopping_metric",
                  "eval"),
  eval_train = "eval_train_metric",
  early_stopping_rounds = c("early_stopping_round", "od_wait", "n_iter_no_change", "stopping_rounds", "stop_iter"),
  early_stopping_min_delta = c("min_delta", "early_stopping_tolerance"),
  max_seconds = "max_runtime_secs",
  weights = c("weight", "sample_weight", "case_weights"),
  offset = c("base_margin", "init_score", "baseline"),
  valid = c("evals", "watchlist", "valids", "eval_set", "test_pool", "validation"),
  monotone = c("monotone_constraints", "monotone_constraint", "mc", "var_monotone", "monotonic_cst"),
  interactions = c("interaction_constraints", "interaction_cst"),
  feature_weights = "feature_weight",
  cat_features = c("categorical_feature", "categorical_features", "cat_feature"),
  group = c("qid", "group_id", "query", "query_id"),
  init_model = c("xgb_model", "model_in", "input_model"),
  callbacks = character(0),
  verbose = "verbosity",
  verbose_every = c("print_every_n", "eval_freq", "metric_period"),
  progress = character(0),
  sparse_zero = character(0),
  page_rows = character(0),
  checkpoint = character(0)
)

alias_of <- c(
  stats::setNames(names(alias_list), names(alias_list)),
  stats::setNames(rep(names(alias_list), lengths(alias_list)), unlist(alias_list, use.names = FALSE))
)

# Parameters of other packages that gbt does not have. `same`: values that ask for what gbt does anyway, and so are
# accepted. `instead`: what to do.
not_offered <- local({
  no <- function(instead, ...) list(same = list(...), instead = instead)
  dart <- no("dropping trees (DART) is not offered; `eta`, `subsample` and `colsample_bytree` do the same job", 0)
  goss <- no("sampling by gradient (GOSS, MVS) is not offered; `subsample` draws rows uniformly")
  weigh <- no("give the rows of the rarer class a larger weight in `weights`", 1, FALSE, "None")
  one_seed <- no("one `seed` decides every random choice")
  power <- no("the tweedie distribution is not offered; for counts use `objective = \"poisson\"`")
  linear <- no("linear leaves are not offered; leaves are constant", FALSE, 0)
  ranking <- no("ranking is not offered")
  folds <- no("cross-validation is not part of gbt_train()", 0)
  exact <- no("results never depend on threads or memory layout, so there is nothing to choose", TRUE, FALSE)
  device <- no("the number of the device is part of `device`: \"cuda:1\"", 0, -1, "0")
  child <- no("`min_data_in_leaf` is the least number of rows in a child")
  quiet <- no("`verbose = 0`, the default, is silence; `verbose = 1` writes lines of the log", TRUE, 1, "Silent")
  response <- no("the response is the second argument, or the left side of the formula")
  columns <- no("names and types of columns are those of the data; leave columns out there, or by y ~ . - column")
  bagged_classes <- no("sampling by class is not offered; use `weights`", 1)
  list(
    scale_pos_weight = weigh, is_unbalance = weigh, unbalance = weigh, class_weights = weigh, class_weight = weigh,
    auto_class_weights = weigh, balance_classes = weigh,
    rate_drop = dart, drop_rate = dart, skip_drop = dart, one_drop = dart, max_drop = dart, sample_type = dart,
    normalize_type = dart, uniform_drop = dart, xgboost_dart_mode = dart,
    tweedie_variance_power = power, variance_power = power,
    linear_tree = linear, linear_lambda = linear, feature_selector = linear,
    data_sample_strategy = c(goss["instead"], list(same = list("bagging"))),
    sampling_method = c(goss["instead"], list(same = list("uniform"))),
    sampling = c(goss["instead"], list(same = list("uniform"))),
    bootstrap_type = c(goss["instead"], list(same = list("No", "Bernoulli"))),
    top_rate = goss, other_rate = goss, mvs_reg = goss, bagging_temperature = goss,
    bagging_freq = no("`subsample` draws rows anew for every tree (`bagging_freq = 1`); leave it at 1 to draw none", 1),
    pos_bagging_fraction = bagged_classes, neg_bagging_fraction = bagged_classes,
    bagging_seed = one_seed, feature_fraction_seed = one_seed, data_random_seed = one_seed, drop_seed = one_seed,
    seed_per_iteration = one_seed,
    extra_trees = no("extremely randomised trees are not offered; use `colsample_bynode`", FALSE),
    random_strength = no("noise on split scores is not offered; use `subsample` and `colsample_bynode`", 0),
    quantile_alpha = no("quantile regression is not offered"),
    huber_slope = no("the Huber loss is not offered; give a custom objective, see ?gbt_train"),
    base_score = no("trees start from the best constant; another start is an `offset`"),
    boost_from_average = no("trees start from the best constant; another start is an `offset`", TRUE),
    updater = no("there is one way to grow trees, by histograms", "grow_quantile_histmaker", "grow_histmaker"),
    process_type = no("existing trees cannot be updated; `init_model` goes on from a model", "default"),
    refresh_leaf = no("existing trees cannot be updated; `init_model` goes on from a model"),
    refit = no("existing trees cannot be updated; `init_model` goes on from a model", FALSE),
    enable_categorical = no("factor columns are always taken as they are", TRUE),
    gpu_id = device, gpu_device_id = device, gpu_platform_id = device, devices = device,
    num_gpu = no("a training runs on one device", 1), n_gpus = no("a training runs on one device", 1),
    gpu_use_dp = exact, gpu_ram_part = no("`device_memory` bounds what a device gives, in megabytes"),
    predictor = no("`device` says where to train, and in predict() where to predict", "auto"),
    missing = no("NA and NaN are missing; set other codes to NA in the data first", NA, NaN),
    use_missing = no("missing values always get a direction of their own", TRUE),
    zero_as_missing = no("use `sparse_zero = \"missing\"` for a sparse matrix, or set zeros to NA", FALSE),
    validate_parameters = no("parameters are always checked", TRUE),
    deterministic = no("results are always the same to the last bit", TRUE),
    force_col_wise = exact, force_row_wise = exact, single_precision_histogram = exact,
    max_bin_by_feature = no("there is one `max_bin` for all features"),
    min_data_in_bin = no("cuts are exact; use `max_bin` for fewer bins"),
    bin_construct_sample_cnt = no("cuts come from all rows"),
    subsample_for_bin = no("cuts come from all rows"),
    sketch_eps = no("cuts are exact; use `max_bin`"),
    enable_bundle = no("exclusive sparse columns are always bundled, models do not depend on it", TRUE),
    feature_pre_filter = no("columns without a split are never used anyway", TRUE, FALSE),
    path_smooth = no("smoothing along the path is not offered; use `lambda`", 0),
    monotone_constraints_method = no("there is one method for monotone constraints", "basic"),
    monotone_penalty = no("there is no penalty on monotone splits", 0),
    multi_strategy = no("there is one tree for every class", "one_output_per_tree"),
    use_best_model = no("with `early_stopping_rounds` the best round is used; else all rounds are", TRUE),
    od_type = no("early stopping counts rounds: `early_stopping_rounds`", "Iter"),
    od_pval = no("early stopping counts rounds: `early_stopping_rounds`", 0),
    first_metric_only = no("the last metric of `eval_metric` is the one that is watched", FALSE),
    maximize = no("the direction of a metric is known; for your own give gbt_metric(maximise = )"),
    maximise = no("the direction of a metric is known; for your own give gbt_metric(maximise = )"),
    feval = no("give your own metric as `eval_metric = gbt_metric(name, fun)`"),
    fobj = no("give your own objective as `objective = list(gradient = , hessian = )`"),
    nfold = folds, nfolds = folds, folds = folds, cv_folds = folds, fold_column = folds,
    train_fraction = no("use `valid`: the share of rows to hold out", 1),
    validation_fraction = no("use `valid`: the share of rows to hold out"),
    lambdarank_pair_method = ranking, lambdarank_truncation_level = ranking, lambdarank_norm = ranking,
    label_gain = ranking, ndcg_eval_at = ranking, group_weight = ranking, pairs = ranking,
    keep_data = no("a model never keeps the training data", FALSE),
    task = no("gbt_train() trains; predict() predicts", "train"),
    snapshot_file = no("saving while training is not offered"),
    save_period = no("saving while training is not offered", 0),
    allow_writing_files = no("nothing is ever written", FALSE),
    exposure = no("give its logarithm as `offset`: offset = log(exposure)"),
    min_node_size = child, nodesize = child, min_samples_split = child,
    maxnodes = no("`max_leaves` is the largest number of leaves of a tree"),
    max_features = no("`colsample_bynode` is the share of the features that a split may use"),
    col_sample_rate = no("`colsample_bynode` is the share of the features that a split may use", 1),
    min_split_improvement = no("`gamma` is the least gain of a split"),
    stopping_tolerance = no("`early_stopping_min_delta` is the least improvement, in units of the metric"),
    lr = no("the learning rate is `eta`"),
    silent = quiet, quiet = quiet, logging_level = quiet,
    nan_mode = no("missing values always get a direction of their own"),
    respect_unordered_factors = no("factors are split by sets of their levels, ordered ones by their order", TRUE),
    label = response, y = response, response_name = response,
    ignored_features = columns, feature_names = columns, feature_types = columns,
    weights_column = no("give the weights themselves; with a formula, `weights = column`"),
    offset_column = no("give the offset itself; with a formula, `offset = column`"),
    leaf_estimation_method = no("leaves take one Newton step", "Newton"),
    leaf_estimation_iterations = no("leaves take one Newton step", 1),
    disable_default_eval_metric = no("only the metrics in `eval_metric` are evaluated when it is given", TRUE),
    tree_learner = no("a training runs on one machine", "serial"),
    num_machines = no("a training runs on one machine", 1),
    importance = no("gbt_importance(model) gives it afterwards", "none", FALSE),
    probability = no("a factor response gives probabilities; predict(type = \"class\") gives classes", TRUE)
  )
})

# The parameter that a typed name means; NA when unknown.
canonical_name <- function(typed) {
  hit <- unname(alias_of[typed])
  dotted <- is.na(hit)
  hit[dotted] <- unname(alias_of[gsub(".", "_", typed[dotted], fixed = TRUE)])
  hit
}

# How a message calls a parameter: by our name, and by the one that was typed.
param_text <- function(name, typed = name) {
  if (is.null(typed) || is.na(typed) || typed == name) return(sprintf("`%s`", name))
  sprintf("`%s` (given as `%s`)", name, typed)
}

# All that the user gave, in any spelling -> list(value = named list by our names, typed = chr by our names).
# given: arguments; params: the list of argument `params`. NULL means not given.
collect_args <- function(given, params = list()) {
  if (!is.list(params) || is.object(params)) {
    stop_argument("`params` must be a plain list of named parameters: params = list(eta = 0.1)", "params")
  }
  all <- c(given, params)
  all[] <- lapply(all, function(v) if (is.character(v)) printable(v) else v)
  names <- if (!is.null(names(all))) printable(names(all))
  if (length(all) > 0L && (is.null(names) || any(is.na(names) | names == ""))) {
    where <- if (is.null(names(params)) || any(names(params) == "")) "`params`" else "the call"
    if (length(params) == 0L) where <- "the call"
    stop_argument(sprintf("%s has an argument without a name; only the data come without", where))
  }
  value <- list()
  typed <- character(0)
  for (i in seq_along(all)) {
    if (is.null(all[[i]])) next
    name <- canonical_name(names[i])
    if (is.na(name)) {
      refuse_name(names[i], all[[i]])
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
  list(value = value, typed = typed)
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

# A name that is not ours: accepted when it asks for what happens anyway, else an error.
refuse_name <- function(typed, value) {
  plain <- gsub(".", "_", typed, fixed = TRUE)
  known <- not_offered[[plain]]
  if (is.null(known)) {
    near <- suggest(plain, names(alias_of))
    see <- if (nzchar(near)) " See ?gbt_train" else "; see ?gbt_train"
    stop_argument(sprintf("unknown parameter `%s`%s%s", typed, near, see), typed)
  }
  for (same in known$same) {
    if (is.atomic(value) && length(value) == 1L && isTRUE(value == same)) return(invisible())
    if (is.atomic(value) && length(value) == 1L && is.na(value) && is.na(same)) return(invisible())
  }
  stop_unsupported(sprintf("gbt has no `%s`: %s", typed, known$instead), typed)
}

# Names and values whose meaning has to be moved: list of (our name = value).
translate_arg <- function(name, value, typed) {
  lower <- if (is.character(value) && length(value) == 1L && !is.na(value)) tolower(value) else NULL
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
    booster = {
      if (!is.null(lower) && lower %in% c("gbtree", "gbdt", "gbrt", "plain", "traditional")) return(list())
      stop_unsupported(sprintf("`%s = %s` is not offered; gbt boosts trees, \"gbtree\"%s", typed, quote_value(value),
                               if (identical(lower, "rf")) "; for a forest use `num_parallel_tree`" else ""), typed)
    },
    device = {
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
    objective = list(objective = if (is.character(value)) objective_name(value, typed) else value),
    group = stop_unsupported(sprintf("`%s` belongs to ranking, which is not offered", typed), typed),
    checkpoint = stop_unsupported("`checkpoint` is not offered yet; `init_model` goes on from a model that was kept",
                                  "checkpoint"),
    stats::setNames(list(value), name)
  )
}

# A value as a user would write it, short.
quote_value <- function(value) {
  text <- if (is.atomic(value) && length(value) <= 5L) deparse(value, width.cutoff = 60L)[1L] else describe(value)
  if (nchar(text) > 60L) paste0(substr(text, 1L, 57L), "...") else text
}
