# Parameters of other packages that gbt does not have. Such a name is an error that says what to do instead, unless its
# value asks for what gbt does anyway: then it is accepted. Nothing is ignored in silence.

# The table: name, with underscores -> list of
#   instead  what to do, as the end of a sentence
#   same     values that ask for what gbt does; of the same kind, TRUE is no 1
#   holds    instead of `same` where it depends on other parameters: function(value, given by our names). These are read
#            by [[, as $ would take `verbose_every` for `verbose`
intervals_elsewhere <- "predict(gbt_conformal(model, data), newdata, level = 0.9) gives prediction intervals"

not_offered <- local({
  out <- list()
  no <- function(names, instead, ..., holds = NULL) {
    entry <- list(instead = instead, same = list(...), holds = holds)
    for (name in strsplit(names, " ", fixed = TRUE)[[1L]]) out[[name]] <<- entry
  }

  # classes and rows
  no("class_names", "classes are the levels of the response")
  no("target_border", "make the response a factor of two levels first", "None")
  by_class <- "give `subsample` by class: subsample = c(no = 0.1, yes = 1)"
  no("pos_bagging_fraction pos_bagging pos_sub_row pos_subsample", by_class, 1)
  no("neg_bagging_fraction neg_bagging neg_sub_row neg_subsample", by_class, 1)
  no("bagging_freq subsample_freq",
     "`subsample` draws rows anew for every tree (`bagging_freq = 1`); leave it at 1 to draw none",
     holds = function(value, given) {
       is_same(value, 1) || (is_same(value, 0) && is_same(given_or(given[["subsample"]], 1), 1))
     })
  no("sampling_frequency", "`subsample` draws rows anew for every tree", "PerTree")
  no("sampling_unit", "`subsample` draws rows", "Object")
  no("bagging_by_query", "ranking is not offered", FALSE)
  no(paste("bagging_seed bagging_fraction_seed feature_fraction_seed data_random_seed data_seed drop_seed extra_seed",
           "objective_seed"), "one `seed` decides every random choice")
  no("seed_per_iteration", "one `seed` decides every random choice", FALSE)

  # losses, labels, leaves
  no("one_drop", "a round may be grown with all earlier ones, see `rate_drop` and `skip_drop`", 0, FALSE)
  no("sample_type", "rounds are dropped with the same chance, `rate_drop`", "uniform")
  in_dart <- function(given) is_same(given[["boosting"]], "dart")
  no("uniform_drop", "rounds are dropped with the same chance, `uniform_drop = TRUE`",
     holds = function(value, given) if (in_dart(given)) is_yes(value) else is_no(value) || is_yes(value))
  no("xgboost_dart_mode", paste("dropped rounds are scaled as XGBoost does, `xgboost_dart_mode = TRUE`; see",
                                "`normalize_type`"),
     holds = function(value, given) if (in_dart(given)) is_yes(value) else is_no(value) || is_yes(value))
  no("fair_c", paste("the Fair loss is a metric here, eval_metric = \"fair@2\"; to minimise it give a custom",
                     "objective, see ?gbt_train"))
  no("theta size", "objective \"negative_binomial\" takes its inverse: `dispersion = 1 / theta`")
  no("poisson_max_delta_step", "`max_delta_step` bounds the weights of leaves for every objective")
  no("sigmoid", "the logistic function has no other slope", 1)
  no("reg_sqrt", "train on the root of the response: gbt_train(x, sqrt(y))", FALSE)
  no("base_score", "trees start from the best constant; another start is an `offset`")
  no("boost_from_average", "trees start from the best constant; another start is an `offset`", TRUE)
  no("leaf_estimation_method", "leaves take Newton steps, `leaf_iterations` of them", "Newton")
  no("leaf_estimation_backtracking", "with `leaf_iterations` above 1 steps that go too far are always halved",
     holds = function(value, given) {
       is_same(value, "AnyImprovement") || (is_same(value, "No") && is_same(given_or(given[["leaf_iterations"]], 1), 1))
     })
  no("allow_const_label", "numbers that are all equal are accepted, a factor of one class is not", TRUE)
  linear <- "linear leaves are not offered; leaves are constant"
  no("linear_tree linear_trees", linear, FALSE)
  no("linear_lambda lambda_bias", linear, 0)
  no("feature_selector", linear)
  ranking <- "ranking is not offered"
  no("qid group_id query query_id",
     "ranking is not offered; `group` keeps rows that belong together out of each other's statistics")
  no(paste("lambdarank_pair_method lambdarank_num_pair_per_sample lambdarank_truncation_level lambdarank_norm",
           "lambdarank_normalization lambdarank_score_normalization lambdarank_unbiased lambdarank_bias_norm",
           "lambdarank_position_bias_regularization ndcg_exp_gain label_gain ndcg_eval_at eval_at ndcg_at map_at",
           "map_eval_at group_weight subgroup_id pairs pairs_weight position group_column query_column"), ranking)
  no("label_lower_bound label_upper_bound aft_loss_distribution aft_loss_distribution_scale",
     "survival objectives are not offered")
  no("family", "`objective` names the distribution of the response, such as `objective = \"poisson\"`")
  no("posterior_sampling langevin", "stochastic gradient Langevin boosting is not offered", FALSE)
  no("diffusion_temperature", "stochastic gradient Langevin boosting is not offered")

  # splits and features
  no("random_score_type", "the noise of `random_strength` is nearly normal and fades with the rounds",
     "NormalWithModelSizeDecrease")
  no("score_function", "splits are scored by gain, with Newton's leaf weights", "NewtonL2")
  no("feature_contri feature_contrib fc fp feature_penalty cegb_penalty_feature_lazy per_object_feature_penalties",
     paste("features cost once at most, until the model uses them: `first_use_penalty`; `feature_weights` is their",
           "chance to be drawn by `colsample_*`"))
  no("cegb_tradeoff penalties_coefficient", "multiply `first_use_penalty` by it", 1)
  no("cegb_penalty_split", "`gamma` is the least gain of a split", 0)
  no(paste("forcedsplits_filename fs forced_splits forced_splits_file forced_splits_filename fixed_binary_splits",
           "forcedbins_filename"), "splits and cuts cannot be prescribed")
  no("monotone_constraints_method mc_method monotone_constraining_method",
     "there is one method for monotone constraints", "basic")
  no("monotone_penalty mc_penalty ms_penalty monotone_splits_penalty", "there is no penalty on monotone splits", 0)
  no("min_node_size nodesize min_samples_split", "`min_data_in_leaf` is the least number of rows in a child")
  no("maxnodes", "`max_leaves` is the largest number of leaves of a tree")
  no("max_features", "`colsample_bynode` is the share of the features that a split may use")
  no("col_sample_rate", "`colsample_bynode` is the share of the features that a split may use", 1)
  no("min_split_improvement", "`gamma` is the least gain of a split")
  no("updater", "there is one way to grow trees, by histograms", "grow_quantile_histmaker", "grow_histmaker")
  updating <- "existing trees cannot be updated; `init_model` goes on from a model, gbt_refit() trains anew"
  no("process_type", updating, "default")
  no("refresh_leaf refit_decay_rate", updating)
  no("refit", updating, FALSE)

  # categories
  no("enable_categorical", "factor columns are always taken as they are", TRUE)
  no("respect_unordered_factors", "factors are split by sets of their levels, ordered ones by their order", TRUE)
  ctr <- paste("statistics of columns are chosen by `cat_method`, their combinations by `max_cat_combine`, and their",
               "prior and bins by `cat_prior` and `cat_bins`")
  no("simple_ctr combinations_ctr per_feature_ctr ctr_description ctr_target_border_count", ctr)
  no("counter_calc_method", "levels are counted in the training rows alone", "SkipTest")
  no("ctr_leaf_count_limit",
     "`max_cat_keys` bounds the combinations of levels that a model keeps; the rarest are left out")
  no("store_all_simple_ctr", "a model keeps the statistics that its trees use", FALSE)
  no("ctr_history_unit", "without `group` every row is a step of its own; with it a group is", "Sample")
  no("final_ctr_computation_mode", "a model always keeps the statistics that it predicts with", "Default")
  no("fold_len_multiplier",
     "statistics are those of all rows before; models of ordered boosting have twice the rows of the one before", 2)
  no("fold_permutation_block", "orders are drawn of single rows", 1)
  no("gpu_cat_features_storage", "there is nothing to choose about how a device is used, see `device`")
  no("has_time", "give the order of the rows itself: `time`, a number, date or time for every row", FALSE)
  no("categorical_encoding", "ways to treat categorical columns are named by `cat_method`", "AUTO", "Enum")
  no("approx_on_full_history", "scores of ordered boosting come from models of at least half of the rows before", FALSE)
  no("text_features embedding_features text_processing tokenizers dictionaries feature_calcers",
     "texts are taken as categories; make numbers of long texts and embeddings first")

  # binning and missing values
  no("missing", "NA and NaN are missing; set other codes to NA in the data first", NA)
  no("use_missing", "missing values always get a direction of their own", TRUE)
  no("nan_mode", "missing values always get a direction of their own")
  no("zero_as_missing", "use `sparse_zero = \"missing\"` for a sparse matrix, or set zeros to NA", FALSE)
  no("max_bin_by_feature per_float_feature_quantization", "there is one `max_bin` for all features")
  no("min_data_in_bin", "cuts are exact; use `max_bin` for fewer bins")
  no("bin_construct_sample_cnt subsample_for_bin", "cuts come from all rows")
  no("sketch_eps", "cuts are exact; use `max_bin`")
  no("feature_border_type", "cuts are at ranks of the column", "Median")
  no("input_borders output_borders", "cuts are not read or written; gbt_data(reference = ) takes those of other data")
  no("enable_bundle is_enable_bundle bundle", "exclusive sparse columns are always bundled, models do not depend on it",
     TRUE)
  no("dev_efb_max_buckets", "exclusive sparse columns are always bundled, models do not depend on it")
  no("sparse_features_conflict_fraction", "only columns that never meet are bundled, models do not depend on it", 0)
  no("is_enable_sparse is_sparse enable_sparse sparse", "sparse matrices are always taken as they are", TRUE)
  no("feature_pre_filter", "columns without a split are never used anyway", TRUE, FALSE)
  bits <- "gradients have 16 or 32 bits in histograms, see `grad_bits`"
  no("use_quantized_grad", bits, FALSE)
  no("num_grad_quant_bins quant_train_renew_leaf stochastic_rounding", bits)

  # metrics and early stopping
  no("use_best_model",
     paste("with `early_stopping_rounds` a model predicts with its best round, without it with all;",
           "predict(model, trees = length(model)) takes all"),
     holds = function(value, given) is_same(value, is_on(given[["early_stopping_rounds"]])))
  no("best_model_min_trees", "the best round is the best of all rounds", 0, 1)
  no("eval_fraction", "use `valid`: the share of rows to hold out", 0)
  no("od_type", "early stopping counts rounds: `early_stopping_rounds`", "Iter")
  no("od_pval", "early stopping counts rounds: `early_stopping_rounds`", 0)
  no("first_metric_only", "the last metric of `eval_metric` is the one that is watched; give only that one",
     holds = function(value, given) {
       watches <- is_on(given[["early_stopping_rounds"]])
       is_flag(value) && (!watches || length(as_metric_list(given[["eval_metric"]])) <= 1L)
     })
  no("disable_default_eval_metric", "without `eval_metric` the objective's metric is evaluated where `valid` is given",
     holds = function(value, given) {
       evaluates <- !is.null(given[["valid"]]) || is_same(given[["eval_train"]], TRUE)
       is_no(value) || (is_yes(value) && (!is.null(given[["eval_metric"]]) || !evaluates))
     })
  no("stopping_tolerance", "`early_stopping_min_delta` is the least improvement, in units of the metric")
  known <- "the direction of a metric is known; for your own give gbt_metric(maximise = )"
  no("maximize maximise", known)
  no("feval", "give your own metric as `eval_metric = gbt_metric(name, fun)`")
  no("fobj", "give your own objective as `objective = list(gradient = , hessian = )`")
  no("multi_error_top_k", "give it with the metric: eval_metric = \"top_error@k\"", 1)
  no("auc_mu_weights", "this form of the metric is not offered; give a gbt_metric()")
  no("nfold nfolds cv_folds fold_count", "gbt_cv() cross-validates: gbt_cv(x, y, folds = 5)", 0)
  no("folds fold_column", "gbt_cv(folds = ) takes a number of folds, or the fold of each row")
  no("train_folds inverted", "gbt_cv(folds = ) takes a list of the rows that each fold holds out")
  no("stratified", "gbt_cv() draws folds by classes; gbt_cv(stratify = ) changes that")
  no("showsd", "gbt_cv() always gives standard errors of the means over folds")
  no("partition_random_seed", "`seed` decides how gbt_cv() draws folds")
  no("shuffle", "gbt_cv() draws rows for its folds by `seed`; give folds of your own as gbt_cv(folds = )")
  no("return_models", "gbt_cv(keep_models = TRUE) keeps the model of each fold", FALSE)
  no("prediction", "gbt_cv() always returns the predictions of held-out rows, as `predictions`", FALSE)
  no("interval se_fit", intervals_elsewhere, FALSE)
  no("subset", "without a formula give those rows of x and y, or a `mask`")
  no("train_fraction", "use `valid`: the share of rows to hold out", 1)
  no("validation_fraction", "use `valid`: the share of rows to hold out")

  # devices, machines, memory
  device <- "the number of the device is part of `device`: \"cuda:1\""
  no("gpu_id gpu_device_id devices", device, holds = function(value, given) {
    number <- sub("^(cuda|gpu):", "", if (is.character(given[["device"]])) given[["device"]][1L])
    number <- if (length(number) == 1L && grepl("^[0-9]{1,4}$", number)) as.integer(number) else 0L
    is_same(value, number) || is_same(value, format(number)) || (number == 0L && is_same(value, -1))
  })
  no("gpu_platform_id", device, 0, -1)
  no("gpu_device_id_list", "a training runs on one device")
  no("num_gpu n_gpus", "a training runs on one device", 1)
  no("gpu_ram_part", "`device_memory` bounds what a device gives, in megabytes")
  no("pinned_memory_size used_ram_limit device_config", "`hist_memory` and `device_memory` bound memory, in megabytes")
  no("max_cached_hist_node", "`hist_memory` bounds the memory of histograms, in megabytes")
  no("use_rmm extmem_single_page debug_synchronize fail_on_invalid_gpu_id",
     "there is nothing to choose about how a device is used, see `device`", FALSE)
  no("predictor", "`device` says where to train, and in predict() where to predict", "auto")
  exact <- "results never depend on threads or memory layout, so there is nothing to choose"
  no("gpu_use_dp force_col_wise force_row_wise single_precision_histogram", exact, TRUE, FALSE)
  no("dev_score_calc_obj_block_size data_partition", exact)
  no("deterministic", "results are always the same to the last bit", TRUE)
  one <- "a training runs on one machine"
  no("tree_learner tree tree_type tree_learner_type", one, "serial")
  no("num_machines num_machine", one, 1)
  no(paste("machines workers nodes machine_list_filename machine_list_file machine_list mlist local_listen_port",
           "local_port port time_out pre_partition is_pre_partition top_k topk"), one)

  # files and what is printed
  kept <- "`checkpoint` names a folder with what a training needs to go on; see also gbt_cb_record()"
  no("snapshot_file", kept)
  no("save_period", kept, -1)
  no("snapshot_freq", kept, -1, 0)
  no("save_snapshot", kept, FALSE)
  no("allow_writing_files", "files are written only where `checkpoint` asks for them", FALSE)
  no("train_dir", "files are written only where `checkpoint` asks for them")
  no("save_name output_model model_out model_output", "gbt_save(model, file) writes a model")
  no("save_binary is_save_binary is_save_binary_file", "gbt_data(x, path = ) writes binned data to a folder", FALSE)
  no("convert_model convert_model_file convert_model_language saved_feature_importance_type",
     "as.data.frame(model) gives all nodes")
  no("config config_file parser_config_file", "parameters are not read from a file; give a list, `params`")
  no(paste("header has_header delimiter two_round two_round_loading use_two_round_loading precise_float_parser",
           "column_description"), "gbt_data(gbt_files()) reads data from CSV files")
  quiet <- "`verbose = 0`, the default, is silence; `verbose = 1` writes lines of the log"
  talks <- function(given) {
    verbose <- given[["verbose"]]
    !is.null(verbose) && !is_no(verbose) && !is_same(verbose, -1)
  }
  no("silent quiet", quiet, holds = function(value, given) if (talks(given)) is_no(value) else is_yes(value))
  no("logging_level", quiet, holds = function(value, given) {
    is_same(value, if (talks(given)) "Verbose" else "Silent")
  })
  no("verbose_eval", paste0(quiet, ", one in `verbose_every` rounds"),
     holds = function(value, given) if (talks(given)) is_same(value, TRUE) else is_no(value))
  no("monitor_training", "`eval_train = TRUE` evaluates the training data", FALSE)
  no("metric_update_interval metadata name graph pool", "there is nothing like it; ?gbt_train lists the arguments")
  no("callback", "functions to call after every round are `callbacks`")
  no("plot plot_file", "plot(model) draws the log of a model", FALSE)

  # what is given elsewhere
  response <- "the response is the second argument, or the left side of the formula"
  no("label y response_name label_column", response)
  columns <- "names and types of columns are those of the data; leave columns out there, or by y ~ . - column"
  no("ignored_features ignore_column ignore_feature blacklist feature_names feature_types colnames", columns)
  no("weights_column weight_column", "give the weights themselves; with a formula, `weights = column`")
  no("offset_column", "give the offset itself; with a formula, `offset = column`")
  no("data train train_data train_data_file data_filename learn_pool",
     "the data are the first argument: gbt_train(x, y), or the second after a formula")
  no("reference", "gbt_data(reference = ) makes data with the cuts of other data")
  no("keep_data", "a model never keeps the training data", FALSE)
  no("free_raw_data", "a model never keeps the training data", TRUE)
  no("reset_data", "a model never keeps the training data")
  no("record", "the log is always kept: model$evaluation_log", TRUE)
  no("serializable", "a model can always be saved", TRUE)
  no("validate_parameters", "parameters are always checked", TRUE)
  no("task", "gbt_train() trains; predict() predicts", "train")
  no("lr", "the learning rate is `eta`")
  no("importance", "gbt_importance(model) gives it afterwards", "none", FALSE)
  no("probability", "a factor response gives probabilities; predict(type = \"class\") gives classes", TRUE)
  predicts <- "it belongs to predict(model, newdata)"
  no(paste("predict_raw_score predict_rawscore is_predict_raw_score raw_score predict_leaf_index is_predict_leaf_index",
           "leaf_index predict_contrib is_predict_contrib contrib pred_early_stop predict_disable_shape_check"),
     predicts, FALSE)
  no(paste("pred_early_stop_freq pred_early_stop_margin output_result predict_result prediction_result predict_name",
           "prediction_name pred_name name_pred prediction_type"), predicts)
  no("num_iteration_predict start_iteration_predict ntree_limit", "predict(trees = ) is the number of rounds to use")
  out
})

# Does the value ask for it? Of the same kind: numbers by value, texts whatever their case, and TRUE is not 1.
is_same <- function(value, wanted) {
  if (!is.atomic(value) || length(value) != 1L || is.object(value)) return(FALSE)
  if (is.na(wanted)) return(is.na(value))
  if (is.na(value)) return(FALSE)
  if (is.logical(wanted)) return(is.logical(value) && value == wanted)
  if (is.numeric(wanted)) return(is.numeric(value) && value == wanted)
  is.character(value) && lower_case(value) == lower_case(wanted)
}

# Some packages take TRUE and FALSE, some 1 and 0.
is_yes <- function(value) is_same(value, TRUE) || is_same(value, 1)
is_no <- function(value) is_same(value, FALSE) || is_same(value, 0)

# A number of rounds that is more than none; nonsense is checked where it belongs.
is_on <- function(rounds) is.numeric(rounds) && length(rounds) == 1L && isTRUE(rounds > 0)

# A name that is not ours: accepted when it asks for what happens anyway, else an error. given: all that is ours.
refuse_name <- function(typed, value = NULL, given = list()) {
  plain <- gsub(".", "_", typed, fixed = TRUE)
  known <- not_offered[[plain]]
  if (is.null(known)) {
    near <- suggest(plain, c(names(alias_of), names(objective_params())))
    see <- if (nzchar(near)) " See ?gbt_train" else "; see ?gbt_train"
    stop_argument(sprintf("unknown parameter `%s`%s%s", typed, near, see), typed)
  }
  if (!is.null(known$holds)) {
    if (known$holds(value, given)) return(invisible())
  } else if (any(vapply(known$same, function(wanted) is_same(value, wanted), NA))) {
    return(invisible())
  }
  stop_unsupported(sprintf("gbt has no `%s`: %s", typed, known$instead), typed)
}
