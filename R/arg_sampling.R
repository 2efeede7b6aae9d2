# Which rows a tree sees: `sampling_method` and what belongs to it, and shares by class.

#' Sampling, randomness and ensembles
#'
#' How [gbt_train()] draws rows and features for each tree, adds noise to the choice of splits, and averages several
#' trainings. The parameters are given to [gbt_train()] by name. All random choices follow from `seed`.
#'
#' @section Sampling of rows:
#' A tree may be grown on some of the rows, which is faster and often as good. `sampling_method` says how rows are
#' drawn:
#' * `"uniform"`: every row with probability `subsample`, drawn for each tree (CatBoost's Bernoulli bootstrap). For
#'   imbalanced data `subsample` may be given by class, such as `c(no = 0.1, yes = 1)`. Predicted probabilities are not
#'   corrected for the different shares.
#' * `"mvs"`: minimal variance sampling (Ibragimov and Gusev, 2019). Rows with large gradients are drawn with a larger
#'   probability p and have the weight 1 / p, so that sums are unbiased. `subsample` is the expected share of rows; 0.1
#'   to 0.3 is often enough. p depends on \eqn{\sqrt{g^2 + \lambda h^2}}{sqrt(g^2 + lambda h^2)} for gradient g and
#'   hessian h (summed over outputs under the root), where \eqn{\lambda}{lambda} is `mvs_reg`. Also called
#'   `"gradient_based"`.
#' * `"goss"`: gradient-based one-side sampling (Ke and others, 2017). The share `top_rate` of the rows with the largest
#'   gradients is used, and the share `other_rate` of all rows is drawn from the others; these have the weight (1 -
#'   `top_rate`) / `other_rate`.
#' * `"bayesian"`: all rows with random weights \eqn{(-\log u)^t}{(-log u)^t}, where t is `bagging_temperature` and u is
#'   uniform between 0 and 1, drawn again for each round.
#'
#' `"goss"` and `"mvs"` cannot be combined with objectives whose leaves are quantiles. All methods but `"uniform"` need
#' `num_parallel_tree = 1`. `min_data_in_leaf` counts the rows that were drawn, `min_child_weight` their weighted
#' hessians.
#'
#' @section Noise in the choice of splits:
#' With `random_strength` above 0, splits are compared by \eqn{\sqrt{S} + s z}{sqrt(S) + s z}: S is the score of the
#' node plus the gain of the split (in a symmetric tree: of all leaves so far), and z is approximately normal. s is
#' `random_strength` times the standard deviation of gradients per unit of hessian. In symmetric trees every candidate
#' split has its own z, so different trees use different features and cuts that are about equally good, which makes
#' predictions smoother, as in CatBoost. In other trees only the best split of each feature has a z. The noise
#' decreases: after t rounds of `eta` on n rows s is multiplied by \eqn{n / (n + e^{\eta t})}{n / (n + exp(eta t))}.
#' Reported gains, and those compared with `gamma`, have no noise.
#'
#' With `extra_trees = TRUE` (Geurts, Ernst and Wehenkel, 2006) each feature takes part with one random split instead of
#' its best one: a cut between the smallest and largest value of the node (symmetric trees: any cut); for a factor one
#' level, or a set of levels from one end of their order. Each tree reduces the loss less, so more rounds are needed.
#'
#' @section Ensembles:
#' With `ensemble = k` the model is the mean of k models with different seeds: the mean of their scores. It is a little
#' more accurate than one of them, especially with `subsample` or `colsample_bytree` below 1, and takes k times as long.
#' Round r of the model has the trees of round r of all members, so `predict(trees = )` and `model[1:10]` mean the same
#' as for a single model. All members have the same number of rounds. If early stopping chooses it, it uses only the
#' first member, and the log and `best_score` are those of the first member; use [gbt_evaluate()] for the ensemble.
#' `max_seconds` may end training with fewer members. [gbt_cv()] and [gbt_tune()] evaluate a single member. An ensemble
#' cannot be an `init_model`.
#'
#' @section Parameters:
#' `subsample` and `colsample_bytree` are described in [gbt_train()].
#' * `sampling_method`: `"uniform"`, `"goss"`, `"mvs"` or `"bayesian"`. Also called `data_sample_strategy` and
#'   `bootstrap_type`.
#' * `top_rate`, `other_rate`: With `"goss"`: the share of rows with the largest gradients, and the share drawn from the
#'   others.
#' * `mvs_reg`: With `"mvs"`: the weight of squared hessians. Below 0 it is estimated: the mean square of the leaf
#'   values of the previous round.
#' * `bagging_temperature`: With `"bayesian"`: how much weights differ; 0 for equal weights.
#' * `colsample_bylevel`, `colsample_bynode`: Share of the tree's features that is drawn for each layer, and for each
#'   node.
#' * `mtry`: Number of features drawn for each tree, instead of `colsample_bytree`. Not if `cat_method` adds features.
#' * `feature_weights`: Weights by which `colsample_*` draw features: numbers named by feature; others have 1. Features
#'   with 0 are never used.
#' * `random_strength`: Noise in the choice of splits; 0 for none. CatBoost's default is 1.
#' * `extra_trees`: `TRUE` for extremely randomised trees.
#' * `ensemble`: Number of trainings that are averaged.
#'
#' @seealso [gbt_train()], [gbt_parameters()]
#' @examples
#' m <- gbt_train(mpg ~ ., mtcars, nrounds = 50, subsample = 0.5, colsample_bytree = 0.5, seed = 1,
#'                threads = 1)
#'
#' # fewer rows of the frequent class
#' m <- gbt_train(late ~ distance + carrier, flights, nrounds = 20,
#'                subsample = c(no = 0.2, yes = 1), seed = 1, threads = 1)
#' @concept imbalanced data
#' @concept bagging
#' @concept subsampling
#' @concept random seed
#' @concept ensemble
#' @name gbt_sampling
NULL

warn_all_rows <- function(params) {
  if (params$sampling_method == "mvs" && params$subsample == 1) {
    warn_gbt("subsample", paste("`sampling_method = \"mvs\"` draws the share `subsample` of the rows, which is 1: all",
                                "rows are taken; give it, such as 0.3"))
  }
}

# "none" is CatBoost's word for taking all rows.
settle_method <- function(args) {
  if (!identical(args$value[["sampling_method"]], "none")) return(args)
  if (!is.null(args$value[["subsample"]]) && !is_same(args$value[["subsample"]], 1)) {
    stop_argument(contradiction(args$typed[["sampling_method"]], args$typed[["subsample"]], "subsample"), "subsample")
  }
  args$value[["sampling_method"]] <- "uniform"
  args
}
