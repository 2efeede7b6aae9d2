# Every parameter of XGBoost, LightGBM and CatBoost, with all aliases, and the best known ones of scikit-learn, H2O,
# gbm, ranger and tidymodels: each means a parameter of ours, or is refused with what to do instead.
#
#   ours = names       the parameter that the names mean
#   ! values = names   refused unless the value is among these, which ask for what gbt does anyway
#   ? = names          the same where it depends on other parameters; they have tests of their own
peers <- list(
  lightgbm = "
    nrounds = max_iter n_estimators n_iter nrounds num_boost_round num_iteration num_iterations num_round
      num_rounds num_tree num_trees
    eta = eta learning_rate shrinkage_rate
    max_depth = max_depth
    max_leaves = max_leaf max_leaf_nodes max_leaves num_leaf num_leaves
    lambda = l2_regularization lambda lambda_l2 reg_lambda
    alpha = alpha l1_regularization lambda_l1 reg_alpha
    gamma = min_gain_to_split min_split_gain
    min_child_weight = min_child_weight min_hessian min_sum_hessian min_sum_hessian_in_leaf
      min_sum_hessian_per_leaf
    min_data_in_leaf = min_child_samples min_data min_data_in_leaf min_data_per_leaf min_samples_leaf
    max_delta_step = max_delta_step max_leaf_output max_tree_output
    path_smooth = path_smooth
    subsample = bagging bagging_fraction sub_row subsample
    sampling_method = data_sample_strategy
    top_rate = top_rate
    other_rate = other_rate
    colsample_bytree = colsample_bytree feature_fraction sub_feature
    colsample_bynode = colsample_bynode feature_fraction_bynode sub_feature_bynode
    max_bin = max_bin max_bins
    max_cat_onehot = max_cat_to_onehot
    cat_smooth = cat_smooth
    cat_l2 = cat_l2
    max_cat_threshold = max_cat_threshold
    min_data_per_group = min_data_per_group
    hist_memory = hist_pool_size histogram_pool_size
    seed = random_seed random_state seed
    threads = n_jobs nthread nthreads num_thread num_threads
    device = device device_type task_type
    devices = gpu_device_id_list
    boosting = boost boosting boosting_type
    objective = app application loss obj objective objective_type
    tweedie_variance_power = tweedie_variance_power
    rank_top = lambdarank_truncation_level
    rank_norm = lambdarank_norm
    position_reg = lambdarank_position_bias_regularization
    label_gain = label_gain
    num_class = num_class num_classes
    eval_metric = eval metric metric_types metrics
    eval_train = eval_train_metric is_provide_training_metric is_training_metric train_metric training_metric
    early_stopping_rounds = early_stopping early_stopping_round early_stopping_rounds n_iter_no_change
    early_stopping_min_delta = early_stopping_min_delta
    weights = weight weights
    offset = init_score
    valid = test test_data test_data_file valid valid_data valid_data_file valid_filenames valids
    monotone = mc monotone_constraint monotone_constraints monotonic_cst
    interactions = interaction_constraints
    class_weights = is_unbalance scale_pos_weight unbalance unbalanced_sets
    cat_features = cat_column cat_feature categorical_column categorical_feature categorical_features
    first_use_penalty = cegb_penalty_feature_coupled
    extra_trees = extra_tree extra_trees
    leaf_model = linear_tree linear_trees
    linear_lambda = linear_lambda
    group = group group_id query query_id
    init_model = init_model input_model model_in model_input
    callbacks = callbacks
    verbose = verbose verbosity
    verbose_every = eval_freq metric_freq output_freq
    ! = auc_mu_weights bagging_fraction_seed bagging_seed bin_construct_sample_cnt blacklist
      cegb_penalty_feature_lazy colnames config config_file convert_model
      convert_model_file convert_model_language data data_filename data_random_seed data_seed drop_seed eval_at
      extra_seed fair_c fc feature_contri feature_contrib feature_fraction_seed feature_penalty folds
      forced_splits forced_splits_file forced_splits_filename forcedbins_filename forcedsplits_filename fp fs
      group_column has_header header ignore_column ignore_feature is_pre_partition label
      label_column
      local_listen_port local_port machine_list machine_list_file
      machine_list_filename machines map_at map_eval_at max_bin_by_feature min_data_in_bin mlist model_out
      model_output name_pred ndcg_at ndcg_eval_at nodes num_grad_quant_bins
      num_iteration_predict objective_seed output_model output_result parser_config_file
      poisson_max_delta_step port pre_partition precise_float_parser pred_early_stop_freq
      pred_early_stop_margin pred_name predict_name predict_result prediction_name prediction_result
      quant_train_renew_leaf query_column reference refit_decay_rate reset_data save_name
      saved_feature_importance_type showsd start_iteration_predict stochastic_rounding stratified
      subsample_for_bin time_out top_k topk train train_data train_data_file
      two_round two_round_loading use_two_round_loading weight_column workers
    ! FALSE = bagging_by_query contrib is_predict_contrib is_predict_leaf_index
      is_predict_raw_score is_save_binary is_save_binary_file leaf_index
      pred_early_stop predict_contrib predict_disable_shape_check predict_leaf_index predict_raw_score
      predict_rawscore raw_score reg_sqrt save_binary use_quantized_grad zero_as_missing
    ? = bagging_freq first_metric_only gpu_device_id subsample_freq
    ! TRUE = boost_from_average bundle deterministic enable_bundle enable_sparse free_raw_data is_enable_bundle
      is_enable_sparse is_sparse record serializable sparse use_missing
    ! 0 = cegb_penalty_split mc_penalty monotone_penalty
      monotone_splits_penalty ms_penalty nfold
    ! 1 = cegb_tradeoff multi_error_top_k neg_bagging neg_bagging_fraction neg_sub_row neg_subsample num_gpu num_machine
      num_machines pos_bagging pos_bagging_fraction pos_sub_row pos_subsample sigmoid
    ! TRUE FALSE = feature_pre_filter force_col_wise force_row_wise gpu_use_dp uniform_drop xgboost_dart_mode
    ! 0 0.1 = drop_rate rate_drop
    ! 0 0.5 1 = skip_drop
    ! 50 = max_drop
    ! 0 -1 = gpu_platform_id
    ! 'basic' = mc_method monotone_constraining_method monotone_constraints_method
    ! -1 = save_period
    ! -1 0 = snapshot_freq
    ! 'train' = task
    ! 'serial' = tree tree_learner tree_learner_type tree_type
  ",
  xgboost = "
    class_weights = scale_pos_weight
    sampling_method = sampling_method
    nrounds = n_estimators nrounds num_boost_round num_trees
    eta = eta learning_rate
    max_depth = max_depth
    max_leaves = max_leaves
    grow_policy = grow_policy
    lambda = lambda reg_lambda
    alpha = alpha reg_alpha
    gamma = gamma min_split_loss
    min_child_weight = min_child_weight
    max_delta_step = max_delta_step
    subsample = subsample
    colsample_bytree = colsample_bytree
    colsample_bylevel = colsample_bylevel
    colsample_bynode = colsample_bynode
    num_parallel_tree = num_parallel_tree
    max_bin = max_bin
    max_cat_onehot = max_cat_to_onehot
    max_cat_threshold = max_cat_threshold
    seed = random_state seed
    threads = n_jobs nthread nthreads
    device = device
    tree_method = tree_method
    boosting = booster
    objective = obj objective
    tweedie_variance_power = tweedie_variance_power
    huber_delta = huber_slope
    rank_top = lambdarank_num_pair_per_sample
    rank_norm = lambdarank_normalization
    rank_score_norm = lambdarank_score_normalization
    bias_norm = lambdarank_bias_norm
    position = position
    expectile_alpha = expectile_alpha
    quantile_alpha = quantile_alpha
    num_class = num_class
    eval_metric = custom_metric eval_metric metrics
    early_stopping_rounds = early_stopping_rounds
    weights = sample_weight weights
    offset = base_margin
    valid = eval_set evals watchlist
    monotone = monotone_constraints
    interactions = interaction_constraints
    feature_weights = feature_weights
    group = group qid
    init_model = xgb_model
    callbacks = callbacks
    verbose = verbose verbosity
    verbose_every = print_every_n
    aft_dist = aft_loss_distribution
    aft_scale = aft_loss_distribution_scale
    ! = base_score colnames data
      feature_names feature_selector feature_types feval folds label label_lower_bound
      label_upper_bound lambdarank_pair_method max_cached_hist_node maximise
      maximize ndcg_exp_gain ntree_limit refresh_leaf
      save_name showsd shuffle sketch_eps stratified top_k train_folds
    ! FALSE = debug_synchronize extmem_single_page fail_on_invalid_gpu_id lambdarank_unbiased monitor_training
      prediction seed_per_iteration use_rmm
    ? = disable_default_eval_metric gpu_id silent verbose_eval
    ! TRUE = enable_categorical validate_parameters
    ! 0 = lambda_bias nfold
    ! 0 FALSE = one_drop
    ! 0 0.1 = rate_drop
    ! 0 0.5 1 = skip_drop
    ! 'tree' = normalize_type
    ! 'uniform' = sample_type
    ! NA = missing
    ! 1 = n_gpus
    ! 'auto' = predictor
    ! 'default' = process_type
    ! -1 = save_period
    ! TRUE FALSE = single_precision_histogram
    ! 'grow_quantile_histmaker' 'grow_histmaker' = updater
  ",
  catboost = "
    checkpoint_seconds = snapshot_interval
    sampling_method = bootstrap_type
    mvs_reg = mvs_reg
    bagging_temperature = bagging_temperature
    nrounds = iterations n_estimators num_boost_round num_trees
    eta = eta learning_rate
    max_depth = depth max_depth
    max_leaves = max_leaves num_leaves
    grow_policy = grow_policy
    lambda = l2_leaf_reg reg_lambda
    min_data_in_leaf = min_child_samples min_data_in_leaf
    leaf_iterations = leaf_estimation_iterations
    subsample = subsample
    colsample_bylevel = colsample_bylevel rsm
    max_bin = border_count max_bin
    max_cat_onehot = one_hot_max_size
    seed = random_seed random_state seed
    threads = thread_count
    device = task_type
    devices = devices
    random_strength = random_strength
    first_use_penalty = first_feature_use_penalties
    boosting = boosting_type
    objective = loss_function objective
    num_class = classes_count
    eval_metric = custom_loss custom_metric eval_metric
    early_stopping_rounds = early_stopping_rounds od_wait
    weights = sample_weight weight
    offset = baseline
    valid = eval_set evals test_pool
    monotone = monotone_constraints
    feature_weights = feature_weights
    class_weights = auto_class_weights class_weights scale_pos_weight
    cat_features = cat_features
    max_cat_combine = max_ctr_complexity
    cat_permutations = permutation_count
    time = timestamp
    group = group_id
    init_model = init_model
    callbacks = callbacks
    verbose = verbose
    verbose_every = metric_period
    ! TRUE = allow_const_label boost_from_average
    ! FALSE = allow_writing_files approx_on_full_history has_time langevin plot plot_file posterior_sampling
      return_models save_snapshot store_all_simple_ctr
    ! 2 = fold_len_multiplier
    ! 'None' = target_border
    ! = callback class_names column_description combinations_ctr
      ctr_description ctr_leaf_count_limit ctr_target_border_count data_partition delimiter
      dev_efb_max_buckets dev_score_calc_obj_block_size device_config dictionaries diffusion_temperature
      embedding_features feature_calcers
      fixed_binary_splits folds gpu_cat_features_storage
      gpu_ram_part graph group_weight has_header ignored_features input_borders inverted learn_pool
      metadata metric_update_interval name nan_mode
      output_borders pairs pairs_weight partition_random_seed per_feature_ctr per_float_feature_quantization
      per_object_feature_penalties pinned_memory_size pool shuffle simple_ctr
      snapshot_file stratified subgroup_id text_features text_processing
      tokenizers train_dir used_ram_limit y
    ! 0 1 = best_model_min_trees
    ? = leaf_estimation_backtracking logging_level silent use_best_model verbose_eval
    ! 0 = eval_fraction fold_count nfold od_pval model_shrink_rate model_size_reg
      sparse_features_conflict_fraction
    ! 'constant' = model_shrink_mode
    ! 'Median' = feature_border_type
    ! 'SkipTest' = counter_calc_method
    ! 'Sample' = ctr_history_unit
    ! 'Default' = final_ctr_computation_mode
    ! 1 = fold_permutation_block penalties_coefficient
    ! 'Newton' = leaf_estimation_method
    ! 'Iter' = od_type
    ! 'PerTree' = sampling_frequency
    ! 'Object' = sampling_unit
    ! 'NewtonL2' = score_function
    ! 'NormalWithModelSizeDecrease' = random_score_type
  ",
  others = "
    nrounds = epochs max_iter n_trees ntree ntrees num_trees rounds trees
    eta = learn_rate learning_rate shrinkage step_size
    max_depth = interaction_depth max_depth maxdepth tree_depth
    max_leaves = max_leaf_nodes
    lambda = l2_regularization
    gamma = loss_reduction
    min_data_in_leaf = min_n min_rows min_samples_leaf minbucket n_minobsinnode
    subsample = bag_fraction sample_fraction sample_rate sample_rate_per_class sample_size
    sampling_method = sampling
    colsample_bytree = col_sample_rate_per_tree
    mtry = mtry
    max_bin = max_bins nbins
    seed = random_state seed
    threads = cores n_cores num_threads
    objective = distribution family loss
    tweedie_variance_power = variance_power
    eval_metric = stopping_metric
    early_stopping_rounds = early_stopping n_iter_no_change patience stop_iter stopping_rounds
    early_stopping_min_delta = early_stopping_tolerance min_delta
    max_seconds = max_runtime_secs
    weights = case_weights
    valid = validation validation_frame
    monotone = monotone_constraints monotonic_cst var_monotone
    interactions = interaction_constraints interaction_cst
    feature_weights = feature_weight
    class_weights = balance_classes class_weight class_weights
    cat_features = categorical_features
    group = group
    verbose = verbose
    checkpoint = checkpoint
    ! FALSE = keep_data refit calibrate_model calibration_frame calibration_method center
      importance_type keep_cross_validation_fold_assignment keep_cross_validation_models
      keep_cross_validation_predictions keep_inbag local_importance localImp localimp model
      na_action na_remove na_rm normalize oob_prox oob_score pre_process preProcess preprocess proximity
      scale scale_permutation_importance standardise standardize warm_start
    ! 1 = col_sample_rate train_fraction tail_rounds learn_rate_annealing learning_rate_decay lr_decay
      score_tree_interval
    ! 0 = cv_folds nfolds
    ! FALSE 0 = do_trace trace
    ! TRUE FALSE = save_memory singular_ok
    ! 'AUTO' = histogram_type
    exposure = exposure
    ! = fobj fold_column lr max_features maxnodes min_node_size min_samples_split
      min_split_improvement nodesize offset_column prediction_type response_name size
      stopping_tolerance subset theta validation_fraction weights_column
      X always_split_variables batch_size bootstrap ccp_alpha censored class_prior class_stratify_cv
      classification classwt contrasts control controls cp criterion cutoff dependent_variable_name dropout
      dtrain dummy etastart event fold_assignment formula holdout hyper_params l1 l2
      link max_samples method mustart min_impurity_decrease min_weight_fraction_leaf minibatch minsplit
      model_id new_data newdata newx one_hot outcome param_grid penalty priors prob_model quantreg
      regularization regularization_factor replace resampling response response_column sampsize
      split_criterion split_select_weights splitrule start status status_variable_name
      Y X_train dataset labels quantile quantile_level quantiles target_column targets tau taus
      train_set training_data x_train y_train
      target task_kind test_size threshold trControl tr_control train_control training_frame tuneGrid tuneLength
      tune_grid tune_length type validation_split x x_val xlev xtest y_val ytest ytrain
    ! 'AUTO' 'Enum' = categorical_encoding
    ! 'none' FALSE = importance
    ! TRUE = probability respect_unordered_factors build_tree_one_node intercept keep_forest
      score_each_iteration write_forest
    ? = quiet
  "
)

# list of list(ours or NA, accepted values or NULL, names)
read_table <- function(text) {
  lines <- trimws(strsplit(text, "\n")[[1]])
  lines <- lines[nzchar(lines)]
  at <- cumsum(grepl(" = ", lines, fixed = TRUE))
  lapply(split(lines, at), function(part) {
    part <- strsplit(paste(part, collapse = " "), " = ", fixed = TRUE)[[1]]
    head <- strsplit(part[1], " ", fixed = TRUE)[[1]]
    list(ours = if (head[1] %in% c("!", "?")) NA else head[1], depends = head[1] == "?",
         accepted = lapply(head[-1], function(value) eval(str2lang(value))),
         names = strsplit(part[2], " ", fixed = TRUE)[[1]])
  })
}

rows <- do.call(c, unname(lapply(peers, read_table)))
ours <- Filter(function(row) !is.na(row$ours), rows)
foreign <- Filter(function(row) is.na(row$ours), rows)
named <- function(value, name) stats::setNames(list(value), name)
got <- function(value, name, ...) gbt:::collect_args(c(named(value, name), list(...)))$value

# of one kind each, so that none of them equals another by accident
values <- list(TRUE, FALSE, 1, 0, -1, 2, 0.5, 1L, 0L, 2L, "yes", "no", "TRUE", "1", "0", "None", "none", "", NA,
               NA_real_, NA_character_, NaN, "bagging", "uniform", "basic", "serial", "auto", "default", "train", "No",
               "Newton", "NewtonL2", "SkipTest", "Sample", "Default", "AUTO", "Enum", "Median", "Iter", "PerTree",
               "Object", "one_output_per_tree", "grow_histmaker", "grow_quantile_histmaker", list(1), list(), c(1, 1),
               c(TRUE, TRUE), factor("a"), factor("None"),
               as.Date("2020-01-01"), sum, quote(a), 1i, as.raw(1))

test_that("the lists are whole", {
  listed <- function(package) unique(unlist(lapply(read_table(peers[[package]]), `[[`, "names")))
  expect_gte(length(listed("lightgbm")), 308)
  expect_gte(length(listed("xgboost")), 120)
  expect_gte(length(listed("catboost")), 150)
  all <- unique(unlist(lapply(names(peers), listed)))
  known <- gbt:::foreign_names$name[gbt:::foreign_names$verb == "train"]
  expect_identical(setdiff(known, c(all, gbt:::argument_names, "interval", "se_fit", "race")),
                   character(0)) # those are of predict.lm(), and one may try "race"
  # the table says which package has the name; several have `group` and parameters of objectives, XGBoost alone has
  # `multi_strategy`
  letter <- c(xgboost = "x", lightgbm = "l", catboost = "c", others = "o")
  for (package in names(peers)) {
    has <- grepl(letter[[package]], gbt:::foreign_names$packages) & gbt:::foreign_names$verb == "train"
    elsewhere <- c("group", names(gbt:::objective_params()))
    verbs <- split(gbt:::foreign_names$name, gbt:::foreign_names$verb)
    of_objectives <- setdiff(verbs[["objective parameter"]], verbs[["train"]])
    expect_setequal(setdiff(gbt:::foreign_names$name[has], "multi_strategy"),
                    setdiff(listed(package), c(elsewhere, of_objectives)))
  }
})

test_that("names of other packages mean ours", {
  moved <- c("tree_method", "boosting", "subsample", "class_weights", "device", "objective",
             "grow_policy", "leaf_model")
  wrong <- character(0)
  for (row in ours) {
    for (name in row$names) {
      dotted <- gsub("_", ".", name, fixed = TRUE)
      if (!identical(gbt:::canonical_name(c(name, dotted)), rep(row$ours, 2))) wrong <- c(wrong, name)
      if (row$ours %in% moved || name == "border_count") next
      for (value in list(3, "a text", TRUE, list(1, "b"))) {
        if (!identical(got(value, name), named(value, row$ours))) wrong <- c(wrong, name)
      }
    }
  }
  expect_identical(wrong, character(0))
  expect_identical(got(254, "border_count"), list(max_bin = 255)) # borders lie between bins
  expect_error(got(0, "border.count"), "border.count", class = "gbt_error_argument")
  expect_error(got("a", "border_count"), "border_count", class = "gbt_error_argument")
  expect_identical(got(TRUE, "linear_tree"), list(leaf_model = "linear"))
  expect_identical(got(FALSE, "linear.trees"), list(leaf_model = "constant"))
  expect_identical(got("train", "task_type"), list())
  expect_identical(got("GPU", "task_type"), list(device = "cuda"))
})

test_that("what gbt does not have is refused, unless it is what gbt does anyway", {
  is_accepted <- function(value, row) {
    for (wanted in row$accepted) {
      same_kind <- (is.numeric(wanted) && is.numeric(value)) || typeof(wanted) == typeof(value)
      if (!is.atomic(value) || length(value) != 1L || is.object(value)) next
      if (if (is.na(wanted)) is.na(value) else same_kind && tolower(value) %in% tolower(wanted)) return(TRUE)
    }
    FALSE
  }
  is_refusal <- function(e, name) {
    inherits(e, "gbt_error_unsupported") && identical(e$parameter, name) &&
      grepl("^gbt has no `[A-Za-z0-9_.]+`: .{12,}", conditionMessage(e))
  }
  wrong <- character(0)
  for (row in foreign) {
    for (name in row$names) {
      if (!is.na(gbt:::canonical_name(name))) wrong <- c(wrong, name)
      by_turns <- if (long_form()) values else values[seq_along(values) %% 3L == nchar(name) %% 3L]
      for (value in if (row$depends) list("nonsense", NA, list(1), 0.5, factor("a"), sum) else by_turns) {
        e <- tryCatch(got(value, name), error = identity)
        right <- if (is_accepted(value, row)) identical(e, list()) else is_refusal(e, name)
        if (!right) wrong <- c(wrong, sprintf("%s = %s", name, deparse(value)[1]))
      }
      dotted <- gsub("_", ".", name, fixed = TRUE)
      if (!is_refusal(tryCatch(got("nonsense", dotted), error = identity), dotted)) wrong <- c(wrong, dotted)
    }
  }
  expect_identical(wrong, character(0))
})

test_that("what is accepted may depend on other parameters", {
  accepts <- function(value, name, ...) expect_identical(got(value, name, ...), list(...))
  refuses <- function(value, name, ...) expect_error(got(value, name, ...), class = "gbt_error_unsupported")
  # one step is never taken back, several are
  accepts("No", "leaf_estimation_backtracking")
  accepts("AnyImprovement", "leaf_estimation_backtracking", leaf_iterations = 5)
  refuses("No", "leaf_estimation_backtracking", leaf_iterations = 5)
  refuses("Armijo", "leaf_estimation_backtracking")
  # the best round is used when training stops early, and only then
  accepts(TRUE, "use_best_model", early_stopping_rounds = 5)
  refuses(FALSE, "use_best_model", early_stopping_rounds = 5)
  accepts(FALSE, "use_best_model")
  refuses(TRUE, "use_best_model")
  refuses(TRUE, "use_best_model", early_stopping_rounds = 0)
  refuses(1, "use_best_model", early_stopping_rounds = 5)
  # one metric is watched, the last
  accepts(FALSE, "first_metric_only", eval_metric = "rmse", early_stopping_rounds = 5)
  accepts(TRUE, "first_metric_only", eval_metric = "rmse", early_stopping_rounds = 5)
  accepts(TRUE, "first_metric_only", eval_metric = c("rmse", "mae"))
  refuses(FALSE, "first_metric_only", eval_metric = c("rmse", "mae"), early_stopping_rounds = 5)
  refuses(TRUE, "first_metric_only", eval_metric = c("rmse", "mae"), early_stopping_rounds = 5)
  for (name in c("bagging_freq", "subsample_freq")) {
    accepts(1, name)
    accepts(1L, name, subsample = 0.5)
    accepts(0, name)
    refuses(0, name, subsample = 0.5)
    refuses(TRUE, name)
    refuses(5, name)
  }
  for (name in c("uniform_drop", "xgboost_dart_mode")) for (value in c(TRUE, FALSE)) accepts(value, name)
  accepts(FALSE, "disable_default_eval_metric", valid = 0.3)
  accepts(TRUE, "disable_default_eval_metric", valid = 0.3, eval_metric = "mae")
  accepts(1, "disable_default_eval_metric")
  refuses(TRUE, "disable_default_eval_metric", valid = 0.3)
  refuses(TRUE, "disable_default_eval_metric", eval_train = TRUE)
  for (name in c("gpu_id", "gpu_device_id")) {
    accepts(0, name)
    accepts(-1, name, device = "cpu")
    accepts(1L, name, device = "cuda:1")
    refuses(0, name, device = "cuda:1")
    refuses(1, name, device = "cuda")
    refuses(FALSE, name)
  }
  for (name in c("silent", "quiet")) {
    accepts(TRUE, name)
    accepts(1, name, verbose = 0)
    accepts(FALSE, name, verbose = 1)
    refuses(FALSE, name)
    refuses(TRUE, name, verbose = TRUE)
    accepts(TRUE, name, verbose_every = 10)
  }
  accepts("Silent", "logging_level")
  accepts("Silent", "logging_level", verbose_every = 10)
  accepts("Verbose", "logging_level", verbose = 1)
  refuses("Verbose", "logging_level")
  refuses("Silent", "logging_level", verbose = 1)
  accepts(FALSE, "verbose_eval")
  accepts(TRUE, "verbose_eval", verbose = 1)
  refuses(TRUE, "verbose_eval")
  refuses(10, "verbose_eval", verbose = 1)
})

test_that("messages of refused parameters say what to do", {
  train <- function(...) gbt_train(iris[-5], iris$Species, ..., nrounds = 1, threads = 1)
  expect_snapshot(error = TRUE, {
    train(use_best_model = TRUE)
    train(use_best_model = FALSE, valid = 0.3, early_stopping_rounds = 5)
    train(first_metric_only = FALSE, valid = 0.3, early_stopping_rounds = 5, eval_metric = c("merror", "mlogloss"))
    train(bagging_freq = 5)
    train(verbose = 100)
    train(verbose = 0.5)
    train(border_count = 0)
  })
})
