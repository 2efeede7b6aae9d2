# The ways into gbt_train(), which R chooses by the class of `x`. They show what can be given; what comes of it is in
# R/fit_source.R.

#' @rdname gbt_train
#' @export
gbt_train.formula <- function(x, data = NULL, ..., weights = NULL, offset = NULL, exposure = NULL, mask = NULL,
                              time = NULL, group = NULL, subset = NULL, na.action = stats::na.pass) {
  fit_of(capture_call("gbt_train"))
}

#' @rdname gbt_train
#' @section Further parameters:
#' These are given by name as the others are, and so are those of objectives, see [gbt_objectives()].
#' [gbt_parameters()] has defaults and ranges; the other sections say more of many of them.
#'
#' * `sparse_zero`: What the absent entries of a sparse matrix are: `"value"` for the number 0, `"missing"`.
#' * `softmax_hessian`: For `"softmax"`: the hessian of a class is so many times p (1 - p), p being its probability. A
#'   rule says how many, see Defaults. 2 never steps too far; 0 is K / (K - 1) for K classes, as LightGBM has it.
#' * `ensemble`: How many trainings with different seeds the model is the mean of.
#' * `boosting`: `"plain"`, or `"ordered"` for *ordered boosting* (Prokhorenkova and others, 2018, section 4): trees are
#'   grown by gradients at scores of models that have not seen the row's response, and the values of leaves are those of
#'   all rows. For small data, up to about 50,000 rows: training takes two to three times as long. Rows are taken in an
#'   order drawn by `seed`, or in that of `time`; rows of a `group` stay together. It did not pay on the data that were
#'   measured: with classes the test loss was 0.1 to 1.6 percent higher, with numbers 7 to 8 percent
#'   (`bench/results/options.md` in the sources), so compare. Not for an objective of your own. Also called
#'   `boosting_type` and `booster`.
#' * `eval_train`: Evaluate the metrics on the training data as well? By default only when `eval_metric` is given and
#'   neither `valid` nor `mask` holds rows out.
#' * `early_stopping_min_delta`: An improvement must be larger than this.
#' * `max_seconds`: End with the round in which this time is over; `NULL` or 0 for no limit.
#' * `grow_policy`: `"depthwise"` grows layer by layer, `"lossguide"` splits the leaf with the largest gain first,
#'   `"symmetric"` splits all nodes of a layer by one and the same split. Where one of it, `max_depth` and `max_leaves`
#'   is named, the others are `"depthwise"`, 6 and 0.
#' * `gamma`: Least gain of a split.
#' * `num_parallel_tree`: Trees per round and class on the same gradients, averaged: a boosted forest.
#' * `multi_strategy`: For classes: `"one_output_per_tree"` or `"multi_output_tree"`, see Trees that share their splits.
#'   There is a rule, see Defaults.
#' * `random_strength`: Noise by which splits compete; 0 for none. There is a rule, see Defaults; CatBoost's default is
#'   1.
#' * `extra_trees`: `TRUE` for extremely randomised trees: a feature is split at a place drawn by chance.
#' * `alpha`: L1 penalty on leaf weights.
#' * `max_delta_step`: Largest leaf weight, before shrinkage; 0 for no limit.
#' * `leaf_iterations`: Newton steps for the values of a tree's leaves: 1 as ever, more for losses that one step does
#'   not minimise. Also called `leaf_estimation_iterations`.
#' * `path_smooth`: So many rows of its parent's value are mixed into the value of each node; 0 for none.
#' * `sampling_method`: How rows are drawn: `"uniform"`, `"goss"`, `"mvs"` or `"bayesian"`. Also called
#'   `data_sample_strategy` and `bootstrap_type`.
#' * `top_rate`, `other_rate`: With `"goss"`: shares of the rows that are taken for their large gradients, and that are
#'   drawn of the others.
#' * `mvs_reg`: With `"mvs"`: the weight of squared hessians in what decides over a row; below 0 for an estimate.
#' * `bagging_temperature`: With `"bayesian"`: how far weights differ; 0 for not at all.
#' * `colsample_bylevel`, `colsample_bynode`: Share of the tree's features that each of its layers, and each of its
#'   nodes, may use.
#' * `feature_weights`: Chance of features to be drawn by `colsample_*`: numbers named by features; those not named have
#'   1. Only ratios matter; features with 0 are never used.
#' * `interactions`: Interaction constraints: a list of groups of features (names or positions). Two features are used
#'   on one path from root to leaf only if a group has both; a feature in no group is used with no other.
#' * `first_use_penalty`: What a feature costs until the model uses it: one number of 0 or more, or numbers named by
#'   features, the others costing nothing. Also called `first_feature_use_penalties` and `cegb_penalty_feature_coupled`.
#' * `cat_method`: How categorical columns enter the trees: `"auto"`, or some of `"sets"`, `"onehot"`, `"target"`,
#'   `"count"` and `"quartiles"`; or a list of these by names of columns.
#' * `max_cat_onehot`: Factors with up to so many levels are split one level against the rest.
#' * `cat_smooth`, `cat_l2`, `cat_noise`, `max_cat_threshold`, `min_data_per_group`: Splits of larger factors by sets of
#'   levels: smoothing of the order of levels (levels with fewer rows in a node take no part in it), extra L2 penalty,
#'   multiple of the gain that pure noise would have which is taken off a set's gain, most levels in the smaller set,
#'   least rows on either side.
#' * `max_cat_combine`: Most columns with method `"target"` that are combined to one; 1 for no combinations.
#' * `max_cat_keys`: Most levels that all combinations of a model have together, 2 bytes each in its file, or more:
#'   about one for each class.
#' * `cat_permutations`: Orders of the rows in which statistics of categories are computed: 2 for a second one that the
#'   values of leaves come from; 1 is faster. With `time`, and with an objective of your own, there is one.
#' * `cat_prior`: Rows with the mean response that are added to those of a level in its statistic: more of them draw
#'   rare levels closer to the mean.
#' * `cat_bins`: Most bins of a statistic, 2 to 255.
#' * `level_counts`: Factors (without order) and texts whose levels are counted, which makes a further feature of each
#'   such column, shown as `count(column)`: how many training rows have the row's level. `TRUE` for all, or names of
#'   columns. Helps where rare levels behave unlike frequent ones. A level that the training data do not have counts as
#'   0, a missing value as missing. With `init_model` the counts are those of that model. `interactions` and
#'   `feature_weights` of the column hold for its count, which has no monotone constraint of its own; `colsample_*` and
#'   `mtry` count it as a feature.
#' * `grad_bits`: For experts: bits of a gradient in histograms, `"16"`, `"32"` or `"auto"`.
#' * `hist_memory`: For experts: megabytes that histograms may take; those beyond are built again instead of kept (of
#'   symmetric trees on a GPU all must fit). 0 for 1024, on a GPU for a quarter of its memory where that is more.
#' * `device_memory`: Megabytes of a GPU's memory that training may take, 0 for no limit. Codes of rows that have no
#'   room within it, or on the GPU, first of validation data, stay in page-locked memory of the host, and the GPU reads
#'   them from there, which takes more time. Of data in files ([gbt_open()]) whose pages are larger than their `memory`
#'   they may take as much again as `memory`; the others are read from the files in every pass, one for a step of
#'   growth, or, where rows are drawn (`subsample` and the like) and those have room on the GPU, two for a tree. What
#'   rows, trees and histograms need must have room: if not, that is an error, or, with `device = "auto"`, training on
#'   the CPU. Not counted is what finding cuts and binning take before: some 30 bytes a row of one column. Does not
#'   change the model.
#' * `page_rows`: For experts: rows per page of binned data; by default gbt chooses. Does not change the model.
#' * `verbose_every`: Number of rounds between two lines.
#' * `progress`: Show a progress bar? On the standard error stream, or by the package progressr when it has handlers.
#' * `checkpoint_seconds`: Seconds between two checkpoints; 0 for one after every round.
#'
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
#' @export
gbt_train.data.frame <- function(x, y, ..., weights = NULL, objective = NULL, nrounds = NULL,
                                 preset = c("default", "fast", "best"), eta = NULL, max_depth = NULL,
                                 max_leaves = NULL, min_child_weight = NULL, min_data_in_leaf = 1, lambda = NULL,
                                 subsample = 1, colsample_bytree = NULL, max_bin = 255, cat_features = NULL,
                                 class_weights = NULL, monotone = NULL, valid = NULL, eval_metric = NULL,
                                 early_stopping_rounds = NULL, init_model = NULL, callbacks = NULL, checkpoint = NULL,
                                 device = c("auto", "cpu", "cuda"), threads = NULL, seed = NULL, verbose = NULL,
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

#' @rdname gbt_train
#' @section Recipes:
#' `gbt_train(recipe, data)` trains the recipe with `recipes::prep()` on `data` and takes the columns of the baked rows
#' by their roles: predictors, one outcome, case weights. The model keeps the trained recipe.
#' [predict()][predict.gbt], [gbt_evaluate()] and all other functions that take data bake the data first, so give *raw*
#' rows, as they were before the recipe; `valid` has raw rows, too. Rows from `recipes::bake(model$recipe, data)` or
#' `recipes::juice(model$recipe)` carry a mark and are not baked again. Rows that you baked with another recipe have no
#' mark, so they would be baked twice, with wrong results.
#'
#' Explanations ([gbt_shap()], [gbt_partial()], ...) are about the baked columns; use the names of these.
#' `gbt_train(init_model$recipe, data, init_model = )` goes on from a model, with its recipe as it is. In [gbt_cv()] and
#' [gbt_tune()] the recipe is trained once, on all rows. [gbt_save()] cannot keep a recipe; [saveRDS()] can.
#' A recipe that puts new rows in another order (`step_arrange()` without `skip = TRUE`) is an error; one that makes the
#' columns of a row from other rows (`step_lag()`) gives a warning of class `gbt_warning_recipe`.
#' @export
gbt_train.recipe <- function(x, data = NULL, ...) fit_of(capture_call("gbt_train"))
