# The ways into gbt_train(), which R chooses by the class of `x`. They show what can be given; what comes of it is in
# R/fit_source.R.

#' @rdname gbt_train
#' @export
gbt_train.formula <- function(x, data = NULL, ..., weights = NULL, offset = NULL, exposure = NULL, mask = NULL,
                              time = NULL, group = NULL, subset = NULL, na.action = stats::na.pass) {
  fit_of(capture_call("gbt_train"))
}

#' @rdname gbt_train
#' @section Trees that share their splits:
#' `multi_strategy` is about classes (objective `"softmax"`) in symmetric trees. A round has a tree for every class.
#' With `"one_output_per_tree"` each of them searches for splits of its own. With `"multi_output_tree"` all of them have
#' the same splits, and each its own leaf values: a round then searches for splits once, whatever the number of classes,
#' and no tree chooses splits that suit the rows of one class alone. Each round learns less, so several times as many
#' are needed: for early stopping with 1,000 rounds or more, not for a few hundred that are stated. On near-separable
#' data separate trees may be better. Models are as large, and predict as fast, as others of as many trees.
#'
#' The splits of a round are chosen by one direction of the scores, such as "the first class against the third and
#' fourth", with weights that are drawn by `seed` anew for every round: by the first and second derivatives of the loss
#' along it (random projections of gradients: Iosipov and Vakhrushev, 2022, SketchBoost). A node that the split does not
#' suit in the tree of a class keeps its value there, as in all symmetric trees. XGBoost's strategy of this name adds up
#' the gains of all outputs instead, and has leaves with several values.
#'
#' Naming `"multi_output_tree"` makes trees symmetric; `num_parallel_tree` must be 1. It goes with `ensemble`, and with
#' `boosting` of any kind.
#' @param multi_strategy For classes: `"one_output_per_tree"` or `"multi_output_tree"`, see Trees that share their
#'   splits. There is a rule, see Defaults.
#' @export
gbt_train.data.frame <- function(x, y, ..., weights = NULL, offset = NULL, exposure = NULL, mask = NULL,
                                 time = NULL, group = NULL, objective = NULL, nrounds = NULL,
                                 preset = c("default", "fast", "best"), eta = NULL, max_depth = NULL,
                                 max_leaves = NULL, grow_policy = NULL, lambda = NULL, alpha = 0, gamma = 0,
                                 min_child_weight = NULL, min_data_in_leaf = 1, max_delta_step = 0, subsample = 1,
                                 sampling_method = c("uniform", "goss", "mvs", "bayesian"), top_rate = 0.2,
                                 other_rate = 0.1, mvs_reg = -1, bagging_temperature = 1, colsample_bytree = NULL,
                                 colsample_bylevel = 1, colsample_bynode = 1, num_parallel_tree = 1,
                                 multi_strategy = NULL, random_strength = NULL, extra_trees = FALSE,
                                 model_size_reg = 0,
                                 leaf_iterations = 1, path_smooth = 0, softmax_hessian = NULL, ensemble = 1,
                                 boosting = c("plain", "ordered", "dart"), rate_drop = 0.1, skip_drop = 0.5,
                                 max_drop = 50, normalize_type = c("tree", "forest"), model_shrink_rate = 0,
                                 model_shrink_mode = c("constant", "decreasing"), tail_rounds = 1,
                                 max_bin = 255, max_cat_onehot = 4, cat_smooth = 10, cat_l2 = 10,
                                 cat_noise = 1, max_cat_threshold = 64, min_data_per_group = 20, cat_features = NULL,
                                 cat_method = "auto", max_cat_combine = 1, max_cat_keys = 1048576,
                                 cat_permutations = 2, cat_prior = 10, cat_bins = 15, level_counts = FALSE,
                                 class_weights = NULL, monotone = NULL, interactions = NULL, feature_weights = NULL,
                                 first_use_penalty = NULL,
                                 valid = NULL, eval_metric = NULL, eval_train = NULL, early_stopping_rounds = NULL,
                                 early_stopping_min_delta = 0, max_seconds = NULL, init_model = NULL, callbacks = NULL,
                                 device = c("auto", "cpu", "cuda"), threads = NULL, seed = NULL, verbose = NULL,
                                 verbose_every = 10, progress = FALSE, sparse_zero = c("value", "missing"),
                                 grad_bits = c("auto", "16", "32"), hist_memory = 0, device_memory = 0,
                                 page_rows = NULL, checkpoint = NULL, checkpoint_seconds = 60,
                                 params = list()) {
  fit_of(capture_call("gbt_train"))
}

#' @export
gbt_train.matrix <- gbt_train.data.frame

#' @export
gbt_train.Matrix <- gbt_train.data.frame

#' @export
gbt_train.dgCMatrix <- gbt_train.data.frame

#' @export
gbt_train.dgRMatrix <- gbt_train.data.frame

#' @export
gbt_train.ArrowTabular <- gbt_train.data.frame

#' @rdname gbt_train
#' @export
gbt_train.gbt_data <- function(x, y = NULL, ...) fit_of(capture_call("gbt_train"))

#' @export
gbt_train.default <- function(x, ...) fit_of(capture_call("gbt_train"))
