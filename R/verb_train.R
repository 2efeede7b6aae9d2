#' Train gradient boosted trees
#'
#' @description
#' Trains gradient boosted decision trees for regression, classification, counts, quantiles, ranking and survival, and
#' returns a model. Factors, character columns, dates and missing values need no preparation. Without `nrounds`, early
#' stopping finds the number of rounds.
#'
#' ```r
#' model <- gbt_train(mpg ~ ., data = mtcars)          # a formula
#' model <- gbt_train(iris[-5], iris$Species)          # predictors and response
#' model <- gbt_train(mpg ~ ., mtcars, nrounds = 500, eta = 0.05, max_depth = 4,
#'                    valid = 0.2, early_stopping_rounds = 20)
#' predict(model, mtcars)
#' plot(model)
#' ```
#'
#' This page has the common arguments; give all other parameters by name in the same way. Other pages:
#' * [gbt_parameters()]: all parameters, with their names in XGBoost, LightGBM and CatBoost
#' * [gbt_objectives()]: loss functions, called objectives
#' * [gbt_metrics]: metrics, validation data, early stopping
#' * [gbt_categories]: categorical columns, target encoding
#' * [gbt_sampling]: sampling of rows and features, ensembles
#' * [gbt_devices]: training on a GPU, memory
#' * [gbt_sources]: data, formulas, recipes, weights
#' * [gbt_defaults()]: how defaults depend on the data
#'
#' `vignette("gbt", package = "gbt")` is an introduction; `vignette("survival", package = "gbt")` and
#' `vignette("ranking", package = "gbt")` are about these.
#'
#' @param x A data frame; a numeric, integer or logical matrix; a sparse matrix of package Matrix; a [gbt_data()]
#'   object; a source of rows such as [gbt_files()]; a recipe of package recipes; or a formula. See [gbt_sources].
#' @param y The response, one value per row: numbers, a factor, a character or a logical vector. A matrix or a data
#'   frame of numbers or logical values is a response of several columns, like `cbind(y1, y2) ~ .`, see
#'   [gbt_objectives()]. For a source of rows: the name of a column.
#' @param data A data frame or a source of rows with the variables of the formula. For a recipe: the raw data.
#' @param subset,na.action For a formula: the rows to use, evaluated in `data`; and a function for rows with missing
#'   values. By default rows with missing predictors are kept.
#' @param ... All other parameters, by name, see [gbt_parameters()]. Names of other packages (`learning_rate`,
#'   `max.depth`, `nthread`) work, too. An unknown name is an error.
#' @param weights Weights of the rows, 0 or more. With a formula they are evaluated in `data`. Their mean should be near
#'   1, since `min_child_weight` and `lambda` are compared with sums of weights. See [gbt_sources].
#' @param offset A known part of the score: one number per row, or a matrix with a column per output. With a formula it
#'   is evaluated in `data`. [predict()][predict.gbt] then needs an offset, too, and warns without one.
#' @param exposure For counts and amounts with a log link (`"poisson"`, `"negative_binomial"`, `"tweedie"`, `"gamma"`):
#'   the time or amount for which each row was observed, above 0. Its logarithm is added to `offset`. With a formula it
#'   is evaluated in `data`. It may also be the name of a column, which is then not a feature unless the formula names
#'   it, and which `predict()` uses in new data.
#' @param mask Which rows to train on: `TRUE` or `FALSE` for every row; `NULL` for all. The other rows are scored after
#'   each round like validation data, see [gbt_metrics]. With a formula it is evaluated in `data`, before `subset` and
#'   `na.action` drop rows.
#' @param position Where each row was shown to users, for ranking from clicks; see [gbt_objectives()].
#' @param time,group `time`: when each row was observed (numbers, dates, times or an ordered factor). `group`: which
#'   rows belong together (numbers, a factor or a character vector), for ranking the rows of a query. Give at most one
#'   of the two. They also change target encoding, see [gbt_categories], and how rows are held out, see [gbt_metrics].
#'   With a formula they are evaluated in `data`.
#' @param strata For survival (`survival::Surv()`, objectives `"cox"` and `"fine_gray"`): groups of rows with a baseline
#'   hazard of their own. A factor, a character vector or whole numbers, one value for each row. With a formula it is
#'   evaluated in `data`; a formula may have `strata(centre)` instead. It may also be the name of a column, as for
#'   `exposure`.
#' @param objective The loss to minimise: a name of [gbt_objectives()], or a list of functions. When left out, the
#'   response decides: `"logistic"` for two classes, `"softmax"` for more, `"squared_error"` for numbers, `"cox"` for
#'   right-censored times (`survival::Surv()`), `"aft"` for other censored times. Ranking needs an objective such as
#'   `"rank_ndcg"`, and `group`.
#' @param nrounds Number of boosting rounds. When left out, it is found by early stopping, see [gbt_metrics].
#' @param preset A set of rules for the parameters that are not given, see [gbt_defaults()]: `"default"`; `"fast"` takes
#'   less time and is a little less accurate; `"best"` trains an ensemble, which takes several times as long.
#' @param eta Learning rate (shrinkage): the leaf values of each tree are multiplied by it. One number; one number per
#'   round; or a learning-rate schedule as a function of the round, such as `function(round) 0.3 * 0.99^round`, which is
#'   evaluated for all rounds before training starts. With `init_model` the function is called with the number of the
#'   round in the whole model, while a vector starts at the first new round.
#' @param max_depth Maximum depth of a tree; 0 for no limit (then `max_leaves` is needed). If you do not give
#'   `grow_policy`, it is chosen to fit, see [gbt_defaults()].
#' @param max_leaves Maximum number of leaves of a tree; 0 for no limit. If you give it, trees grow best first
#'   (`"lossguide"`) unless you give `grow_policy` as well. Trees common to several outputs stay symmetric.
#' @param lambda L2 penalty on leaf values.
#' @param min_child_weight Minimum sum of hessians in a child node.
#' @param min_data_in_leaf Minimum number of training rows in a leaf.
#' @param subsample Share of the rows that is drawn for each tree, without replacement. For classes also a share per
#'   class, such as `c(no = 0.1, yes = 1)`; classes that are not named are used whole. See [gbt_sampling].
#' @param colsample_bytree Share of the features that is drawn for each tree. (`mtry`, a number of features, can be
#'   given instead.)
#' @param max_bin Maximum number of bins of a numeric column, 2 to 65535. `"exact"`: a bin for each distinct value, so
#'   that every possible split is tried; a column with more than 65,534 distinct values is an error.
#' @param class_weights For imbalanced classes: weights above 0, named by class, such as `c(no = 1, yes = 5)`; or one
#'   for each class in their order. Classes that are not named have weight 1. `"balanced"` gives every class
#'   the same total weight: class k of K gets W / (K W_k), where W_k is the weight of its rows and W that of all rows.
#'   The weight of a row is multiplied by that of its class, in training and in metrics on the training data.
#' @param cat_features Names or positions of columns of whole numbers that are categorical, such as codes and
#'   identifiers. Factors and character columns are always categorical. See [gbt_categories].
#' @param monotone Monotone constraints: 1 (predictions rise) or -1 (they fall), named by feature, such as `c(age = 1)`.
#'   Not for unordered factors. With `"softmax"` the scores of all classes are constrained, not the probabilities.
#' @param valid Validation data: a share of the rows, such as 0.2; rows to hold out; `list(x = , y = )`; with a formula
#'   also a data frame; or a named list of several of these. See [gbt_metrics].
#' @param eval_metric Names of metrics, such as `"auc"`, [gbt_metric()] objects, or a list of both, see [gbt_metrics].
#'   The default depends on the objective.
#' @param early_stopping_rounds Stop when the last metric on the last validation set has not improved for this number of
#'   rounds; 0 for never. `NULL`: never if `nrounds` is given, otherwise a number that depends on `eta`, see
#'   [gbt_metrics].
#' @param init_model A model to continue from, see Continuing.
#' @param callbacks A function, or a list of functions, to call after each round, see [gbt_callbacks].
#' @param device `"cpu"`, `"cuda"` (an NVIDIA GPU; `"cuda:1"` for the second one) or `"auto"`: a GPU if
#'   it should be clearly faster. The model is the same. See [gbt_devices].
#' @param threads Number of threads, see [gbt_threads()]. Does not change the model.
#' @param seed Seed of all random choices, a whole number; for `NULL` see Reproducibility.
#' @param verbose 1 to report progress with [message()] (class `gbt_message`), 0 for no messages; 2 and 3 mean 1. By
#'   default there is a message only if early stopping chose the number of rounds.
#' @param checkpoint A folder for checkpoints, see Continuing. It is created if needed.
#' @param params A list of any of these arguments, under any of their names. A parameter that is given twice with
#'   different values is an error.
#'
#' @section Reproducibility:
#' For given data, parameters and seed the model is the same to the last bit on any machine and for any number of
#' threads. If `seed` is `NULL` and you give an argument that needs random numbers, a seed is drawn from R's generator,
#' so [set.seed()] works. Such arguments are `valid` as a share, a `subsample` or `colsample_*` below 1, a
#' `sampling_method` other than `"uniform"`, `random_strength` and `extra_trees`. Otherwise the seed is 0 and R's
#' generator is not used. With `max_seconds` the result depends on the speed of the machine. See `vignette("exact",
#' package = "gbt")`.
#'
#' @section Continuing:
#' `init_model` is an earlier model with the same objective and features. Training adds new rounds after the rounds that
#' this model predicts with. Its objective parameters (such as `huber_delta`) are kept; other values are an error.
#' Factors may have other levels than before; the model drops levels that do not occur in the new data. Earlier rounds
#' keep their target statistics; new rounds use statistics of the new data. Columns may be in any order, and some
#' classes may have no rows. A [gbt_data()] object must have the cuts of the model or be made with `init_model`.
#'
#' With `checkpoint`, gbt writes the state of the training to a file in this folder every `checkpoint_seconds` and at
#' the end. If the process is killed, the same call continues from there, and the model is the same as without the
#' interruption, to the last bit. Threads, device, `page_rows`, `max_seconds` and `verbose` may differ; data, parameters
#' and seed must be the same; a seed that you did not give is stored in the folder. A file of another training is an
#' error. (All values of the data are compared, in the order of the rows; functions are not.) After a complete training,
#' the same call returns its model at once, or adds rounds if `nrounds` is larger and you gave `eta`. The file has 8
#' bytes for each row and class of every data set, and the trees.
#'
#' Ctrl-C stops training within a moment, and [gbt_last_interrupted()] returns the model of the finished rounds.
#'
#' @return A model: a list of class `gbt`, which [saveRDS()] and [gbt_save()] can store. Equal trainings on the same day
#'   give `identical()` models. Its elements:
#'   \item{state}{the model's bytes, a raw vector}
#'   \item{objective, classes, response}{the objective, the classes (`NULL` for numbers), the kind of response}
#'   \item{feature_names, feature_types}{the features}
#'   \item{params, named, by_rule}{all parameters with their values, including the seed (`eta` is a vector if it differs
#'     between rounds); the names of those that you gave, and of those that a rule chose}
#'   \item{race}{how a race chose the shape of trees (see [gbt_defaults()]), a data frame: `shape`, `rounds` trained,
#'     smallest `loss`, and `chosen`. `NULL` without a race}
#'   \item{nrounds, best_round, best_score}{number of rounds; the round that predictions use and its metric (`NULL`
#'     without early stopping)}
#'   \item{evaluation_log}{a data frame: `round` and one column per data set and metric}
#'   \item{auto_rounds}{if early stopping chose the number of rounds, a list. `rounds` is the best round, `score` its
#'     metric. `by` says how rows were held out: `"split"`, `"groups"`, `"time"`, `"folds"`, or `"none"` for too few
#'     rows. `stopped` is `"early"`, `"limit"` or `"time"`. Other elements: `folds`, `n_train`, `n_held`, `patience`,
#'     `limit`, `eval_metric` and `log`, a data frame}
#'   \item{masked_out}{with a `mask`, the predictions for the rows that were left out, in their order (for distributions
#'     the parameters). `NULL` after Ctrl-C, in models from files and in slices of a model}
#'   \item{call}{the call, for `update()`; `NULL` if it contained the data, and in models from files}
#'   \item{exposure}{the column with the exposure, `""` if it was given as values, `NULL` without}
#'   \item{baseline}{for objective `"cox"`, a list: `time` of each event and `hazard`, the cumulative hazard of a row
#'     with score 0 from this time on; `rounds` of the model; and with `strata` the number of times of each stratum, one
#'     after the other}
#'   \item{columns}{the names of the columns of a response with several columns, otherwise `NULL`}
#'   \item{strata}{the columns with the strata, `""` if they were given as values, `NULL` without}
#'   \item{provenance}{when, by which version of gbt and from which data it was trained, see [gbt_save()]}
#'   \item{stopped, warned}{why training ended early (`"time"`, `"callback"`, `"interrupt"` or `"error"`); the text of a
#'     warning that nothing was learned, see [gbt][gbt-package]. `NULL` otherwise, and in models from files}
#'   \item{has_offset, formula, terms, n_outputs, n_obs, cache, version}{whether there was an offset; the formula as
#'     text and its evaluated terms; scores per row; number of training rows; for internal use}
#' Methods: [predict()][predict.gbt], `print()`, `summary()`, [plot()][plot.gbt], [`[`][gbt_methods], `as.data.frame()`
#' and more.
#'
#' @seealso [predict.gbt()]; [gbt_cv()] and [gbt_tune()] for cross-validation and hyperparameter tuning;
#'   [gbt_evaluate()], [gbt_importance()], [gbt_shap()], [gbt_partial()] and [gbt_report()] to judge and explain a
#'   model; [gbt_save()]; [gbt_methods]. Vignettes: `vignette("gbt", package = "gbt")` is an introduction; others are
#'   `"counts"` (exposures, offsets), `"survival"` and `"ranking"`.
#' @concept gradient boosting
#' @concept early stopping
#' @concept learning rate
#' @concept monotone constraints
#' @concept imbalanced data
#' @concept missing values
#' @concept classification
#' @concept regression
#' @concept checkpoint
#' @examples
#' # regression; early stopping chooses the number of rounds
#' m <- gbt_train(mpg ~ ., mtcars, threads = 1)
#' m
#' plot(m)
#' predict(m, mtcars[1:3, ])
#'
#' # classes, with 30 percent of the rows held out and early stopping
#' m <- gbt_train(iris[-5], iris$Species, valid = 0.3, early_stopping_rounds = 5, seed = 1,
#'                threads = 1)
#' m$best_round
#' table(predict(m, iris, type = "class"), iris$Species)
#'
#' # imbalanced classes, a monotone constraint, a metric
#' m <- gbt_train(late ~ sched_dep_time + distance + carrier, flights, nrounds = 50,
#'                class_weights = "balanced", monotone = c(sched_dep_time = 1),
#'                valid = 0.2, eval_metric = "auc", seed = 1, threads = 1)
#' tail(m$evaluation_log, 1)
#'
#' # counts with an exposure
#' set.seed(1)
#' d <- data.frame(age = runif(3000, 18, 80), years = runif(3000, 0.1, 1))
#' d$claims <- rpois(3000, d$years * exp(-0.02 * d$age))
#' m <- gbt_train(claims ~ age, d, exposure = years, objective = "poisson", nrounds = 50,
#'                max_depth = 2, threads = 1)
#' new <- data.frame(age = c(20, 45, 70))
#' cbind(new, predicted = predict(m, new, exposure = 1), true = exp(-0.02 * new$age))
#'
#' # a learning rate that falls from round to round
#' m <- gbt_train(mpg ~ ., mtcars, nrounds = 50, eta = function(round) 0.3 * 0.95^round, threads = 1)
#' range(m$params$eta)
#'
#' @export
gbt_train <- function(x, ...) {
  if (missing(x)) { # data = , formula = : the formula decides, wherever it is
    at <- match("formula", ...names())
    if (!is.na(at)) UseMethod("gbt_train", ...elt(at))
  } else {
    told_to_ranks(if (is.name(name <- substitute(x))) {
      try_else(x, function(problem) stop_lost_x(problem, as.character(name), if (...length()) ...elt(1L)))
    } else {
      x
    })
  }
  UseMethod("gbt_train")
}
