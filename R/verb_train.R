#' Train gradient boosted trees
#'
#' Grows trees one after the other, each fitted to the gradients of the loss at the predictions so far, and returns a
#' model. The data may be a data frame, a matrix, a sparse matrix, a [gbt_data()] object, or a formula with a data
#' frame. Columns are taken as they are: numbers, factors, ordered factors, texts, logical values, dates, times; missing
#' values need no preparation.
#'
#' @section Data:
#' Factors and texts are split by sets of levels and by statistics of the response, or as `cat_method` says (see
#' Categorical columns), ordered factors by their order. Levels are kept in the model by their texts. Missing values
#' (`NA`, `NaN`) go to the side of a split that suits the training data better; a column of nothing but `NA` may be of
#' any class, whatever it was in training. A formula names the columns to use: it does not expand factors, drops no
#' rows, and `a:b` or `a * b` mean a and b, since trees find interactions on their own. Transformations such as
#' `log(a)`, `poly(a, 2)` and `offset()` terms are evaluated again in new data; those whose value in a row depends on
#' other rows, such as `rank(a)`, give a warning (class `gbt_warning_formula`), and those that call functions of your
#' own make a model whose file needs `gbt_load(file, trust = TRUE)`. Variables that are no columns may be constants,
#' such as k in `poly(a, k)`: up to 100 numbers, texts, logical values or dates, kept in the model by their values. Rows
#' whose response is missing are an error: leave them out (`subset = !is.na(y)`).
#'
#' With a formula `weights`, `offset`, `exposure`, `mask`, `time`, `group`, `subset` and `valid` are evaluated in
#' `data`, by the rule of `lm(weights = )`: a name means the column where `data` have one, else a variable of where the
#' call is written. So `valid = test` is the column `test` of data that have one, whatever is called so elsewhere.
#'
#' @section Categorical columns:
#' Factors without order and texts are categorical columns. `cat_method` says how they enter the trees:
#' * `"sets"`: a split sends a set of levels to one side; in columns of up to `max_cat_onehot` levels one level.
#' * `"onehot"`: a split sends one level to one side, however many there are.
#' * `"target"`: each level is replaced by a number, the mean response of its rows, and trees split by that number as by
#'   any other. This suits columns of many levels, where sets of levels fit the noise of rare ones. With more than two
#'   classes there is a number for each class, the share of the level's rows that have it (for the eight most frequent
#'   classes at most). Counts and amounts with a log link give rates, the response divided by exp(`offset`); other
#'   numbers are cut at their 0.001 and 0.999 quantiles first. Weights of rows count.
#' * `"count"`: each level is replaced by the number of training rows that have it.
#' * `"quartiles"`, for numbers, counts and amounts: each level is replaced by three numbers, the shares of its rows
#'   whose response lies above the first, second and third quartile of all rows.
#'
#' Several methods make several features of a column: `c("sets", "target")`. Names choose columns, and what has no name
#' is for all others: `list("auto", carrier = c("sets", "target"))`.
#'
#' `"auto"`, the default, takes for each column what was best on the data that were measured: `"sets"` and `"target"`
#' together. It takes `"sets"` alone for columns of up to 4 levels, and for those of more than 255 levels that have 30
#' training rows or more for each; `"target"` and `"count"` for those of more than 65,534 levels, which sets cannot tell
#' apart. With an objective of your own, and with `mtry`, it takes `"sets"`. The parameters of the model say what was
#' taken (`summary(model)`).
#'
#' The mean response of a level has the row's own response in it, and a tree that may split by it learns the training
#' rows by heart. So the rows are put in an order, drawn by the seed, and the statistic of a row takes the rows before
#' it alone: an *ordered target statistic* (Prokhorenkova and others, 2018, \dQuote{CatBoost: unbiased boosting with
#' categorical features}, section 3.2). Where a level has few rows before, the statistic is drawn to the mean
#' response of all rows: `cat_prior` such rows are added. Trees are grown on the statistics of one order, and the values
#' of their leaves come from those of a second order (`cat_permutations = 2`): where splits were chosen by the same
#' numbers, leaves look better than they are. Orders follow from the seed and the numbers of the rows; those of a `mask`
#' have numbers of their own. (Without `seed` and anything else that is random they are those of seed 0.) So the scores
#' of training, and with them metrics on the training data, are not quite those of [predict()][predict.gbt] for the same
#' rows, and rounds that are added by `init_model` not quite those of one longer training. With `"sets"` they are.
#'
#' New data, validation sets and masked-out rows get the statistic over all training rows. A level that the training
#' data do not have gets the mean response of all rows. Combinations of levels (see below) that single rows have share
#' one statistic, and those that no row has get it too. Missing values are a level of their own. A column that is
#' constant in the training rows has no statistics.
#'
#' `max_cat_combine = 2` looks at pairs of columns with `"target"` as well, whose levels are pairs of levels; 3 and 4 go
#' on to sets of three and four columns. It helps where the response depends on what occurs together, such as carrier
#' and airport. A statistic is made of those pairs that say clearly more of the response than each of their columns, and
#' than both added up (by four standard deviations, measured by statistics that do not know the row's own response), and
#' with three and more of what can be made of these. Of each number of columns 256 are looked at at most, those first
#' whose parts say the most; the 64 with the largest gain over their columns are kept. Levels that occur together in
#' one row only count as unknown. `max_cat_keys` bounds what a model keeps: of each combination the rarest of its levels
#' are left out, and where all of them together have more, the combinations of least gain. A combination is made only
#' where a group of `interactions` has all its columns, and it has the least of their `feature_weights`. Looking takes
#' time for each pair (10 columns have 45), so choose the columns.
#'
#' `time` says when a row was observed. A statistic then takes only rows with an earlier time, not those of the same
#' one. Give it where new data are later than the training data and the response drifts, so that training sees levels
#' as prediction will: early in their lives, with what was known then. `group` keeps rows that belong together, such
#' as the visits of a patient, out of each other's statistics. Give it where the response of such rows is nearly the
#' same and new data have other groups; else a row finds its own response in the rows beside it. Neither is kept in the
#' model, and predictions need neither. Where no column has `"target"` and `boosting` is `"plain"`, a warning (class
#' `gbt_warning_order`) says that they have no effect.
#'
#' @section Defaults:
#' Where the default is `NULL` rules choose a value by numbers of rows and rounds. [gbt_defaults()] lists them, and a
#' model shows what they chose. They draw nothing from R's generator. `model[1:20]` is not the model of `nrounds = 20`,
#' whose `eta` is larger, unless `eta` is named.
#'
#' @section Symmetric trees:
#' With `grow_policy = "symmetric"` (CatBoost's `"SymmetricTree"`, also called oblivious trees) each layer of a tree has
#' one split, the one with the largest sum of gains over its nodes (but for noise, below). Such trees are full, up to
#' `max_depth` layers (1 to 16) or as many as fit into `max_leaves`; they predict fast and are less inclined to overfit.
#' `gamma` is the least sum of gains of a layer. A node that the split does not suit (a child would miss
#' `min_child_weight` or `min_data_in_leaf`, violate a monotone constraint, or the node would gain nothing) adds nothing
#' to the sum and keeps its value: both of its children take it, those without training rows among them. In the table of
#' nodes its gain is 0. Sets of levels follow one order for the whole tree, by the gradients of all its rows.
#' `colsample_bynode` has no meaning here and must be 1.
#'
#' @section Noise in the choice of splits:
#' With `random_strength` above 0 the largest gain need not win: splits are compared by
#' \eqn{\sqrt{S} + s z}{sqrt(S) + s z}. S is the score of the node and what the split gains (in a symmetric tree: of
#' all leaves so far), z a normal deviate, nearly, and s `random_strength` times the standard deviation of gradients per
#' unit of hessian: at 1 about the error that the root of S has because the rows are a sample. In symmetric trees every
#' split of a layer has a deviate: features and cuts that are nearly as good take turns, so that a sum of trees is
#' smoother in numbers, as CatBoost's is. In others a feature enters with the best split that it has in a node. s fades:
#' after t rounds of `eta` on n rows it is multiplied by \eqn{n / (n + e^{\eta t})}{n / (n + exp(eta t))}. Gains that
#' are reported, and compared with `gamma`, are those without noise.
#'
#' With `extra_trees = TRUE` (Geurts, Ernst and Wehenkel, 2006) each feature enters with one split drawn by chance in
#' place of its best one: a numeric feature with a cut between the smallest and largest of the node's values (symmetric
#' growth: any of its cuts), a factor with one of its levels, or with a set from one end of the order of levels. Missing
#' values still go where the gain is larger. Trees differ more and each gains less, so more rounds are needed.
#'
#' @section Penalties on features:
#' `first_use_penalty` is taken off the gain of a feature until a tree of an earlier round uses its column, in any way:
#' what is left decides which feature splits a node, and must exceed `gamma`. So features whose numbers cost something
#' enter a model only where they say enough. Combinations of columns cost the sum over those not used yet. Gains are in
#' the units of `gamma` and grow with the number of rows. With `init_model` what that model uses is used.
#'
#' @section Sampling rows:
#' A tree may be grown on some of the rows, which is faster and often no worse. All rows are scored in any case. Rows
#' are drawn by a hash of the seed, the tree or round, and the row's number.
#' * `"uniform"`: every row with the chance `subsample`, anew for each tree (CatBoost's Bernoulli bootstrap).
#'   `subsample` by class draws rows of each class with a chance of their own, without a weight that makes up for it:
#'   probabilities are then those of a population with such shares of classes.
#' * `"mvs"`: minimal variance sampling (Ibragimov and Gusev, 2019): rows with large gradients have a larger chance,
#'   and a row that is drawn with the chance p counts 1 / p times, so that sums are right on average. The share
#'   `subsample` of the rows is expected; 0.1 to 0.3 are often enough. What decides over a row is
#'   \eqn{\sqrt{g^2 + \lambda h^2}}{sqrt(g^2 + lambda h^2)}, summed over outputs under the root, of its gradient and
#'   hessian; \eqn{\lambda}{lambda} is `mvs_reg`, by default the mean square of the leaf weights of the round before.
#'   Also called `"gradient_based"`.
#' * `"goss"`: gradient-based one-side sampling (Ke and others, 2017): the share `top_rate` of the rows, those with the
#'   largest gradients, and the share `other_rate` of all rows from the others, which count (1 - `top_rate`) /
#'   `other_rate` times. From the first round on.
#' * `"bayesian"`: all rows, with random weights \eqn{(-\log u)^t}{(-log u)^t}, where t is `bagging_temperature` and u
#'   is drawn evenly between 0 and 1, anew for each round.
#'
#' `"goss"` and `"mvs"` are not for objectives whose leaves are quantiles. All but `"uniform"` need
#' `num_parallel_tree = 1`. `min_data_in_leaf` counts rows that were drawn, `min_child_weight` their weighted hessians.
#'
#' @section Values of leaves:
#' The value of a leaf is one Newton step for the penalised loss of its rows, times `eta`. For a squared error that is
#' the best value; for other losses it is near it, and may be far from it where hessians change along the step: rare
#' classes, counts. With `leaf_iterations` above 1 a leaf takes further steps when its tree is grown: gradients of its
#' rows at score + value, exact sums of them, and the value that minimises the penalised loss by these. `lambda` and
#' `alpha` pull the whole value, `max_delta_step` and `monotone` bound it, and `eta` multiplies it at the end. Losses
#' are convex, so the sign of the slope says on which side of the minimum a value is: a step goes at most half the way
#' to a value that is known to be too far, and at most doubles the value. For `"softmax"` the other classes are taken
#' to answer a step as they do in the hessian of one step. Each step reads the tree's rows twice. Splits are chosen as
#' before. Where one step is exact (`"squared_error"`, `"squared_log_error"`) or leaves are quantiles nothing changes;
#' with an objective of your own it is an error.
#'
#' `path_smooth = s` draws the value of a node of n rows towards that of its parent: with weight n / (n + s) it is what
#' its own rows ask for, with weight s / (n + s) the parent's value, which is smoothed in the same way; the root's is
#' not. So small leaves say nearly what the nodes above them say, with all that these know, while `lambda` draws all
#' leaves towards 0. Rows are counted, not weighed; of those that are drawn for the tree. `monotone` holds all the same.
#' Gains of splits do not know of it, unlike in LightGBM. In symmetric trees nodes that a split does not suit have the
#' value of their parent anyway.
#'
#' @section Objectives:
#' When `objective` is left out, the response decides: two classes (a factor, texts, logical values) are `"logistic"`,
#' more are `"softmax"`, numbers are `"squared_error"` (with a message, class `gbt_message`, where all of them are 0 or
#' 1). `"logistic"` also takes numbers from 0 to 1, `"softmax"` whole numbers as classes. Levels of the response that no
#' row has are dropped with a message. The other objectives, with their parameters, which are arguments of `gbt_train()`
#' too (see [gbt_objectives()] for ranges):
#' * `"poisson"`: counts, with a log link. Where some labels are hundreds of times their mean, limit the steps by
#'   `max_delta_step = 0.7` (XGBoost's default for counts); without it predictions can become huge. A training whose
#'   loss on its own rows ends at more than ten times that of the constant warns (class `gbt_warning_diverged`).
#' * `"negative_binomial"`: counts whose variance is larger than their mean: m + a m^2 for a mean m, where a is
#'   `dispersion`, which you choose. (R's `theta` and `size` are 1 / a.)
#' * `"gamma"`: amounts above 0 whose spread grows with their mean, with a log link.
#' * `"tweedie"`: amounts of 0 or more, many of them 0, with a log link; the variance is the mean to the power
#'   `tweedie_variance_power`, between 1 and 2.
#' * `"huber"`, `"pseudo_huber"`: numbers with outliers. Errors count by their squares up to `huber_delta` and by their
#'   size beyond. It is in units of the response: choose it near the size of usual errors.
#' * `"log_cosh"`: numbers with outliers, log cosh of the error. It has no parameter and is close to `"pseudo_huber"`
#'   with `huber_delta = 1`.
#' * `"expectile"`: the expectile of level `expectile_alpha`; 0.5 is the mean.
#' * `"quantile"`: the quantile of level `quantile_alpha`, one level; 0.5 is the median.
#' * `"absolute_error"`: the median; `"mape"`: the median with weights divided by the size of the response, or by 1
#'   where that is less, which minimises the absolute percentage error.
#' * `"squared_log_error"`: numbers above -1 whose errors count by their ratio: squared error of log(1 + y). The score
#'   is on that scale, predictions are on that of y.
#' * `"cross_entropy"`: shares from 0 to 1, weights being their numbers of trials. The loss is that of `"logistic"`;
#'   the response is always a number, so there are no classes to predict.
#'
#' Trees begin at the constant that minimises the objective, or near it. Where the second derivative of a loss is 0 or
#' almost so for large errors (`"huber"`, `"pseudo_huber"`, `"log_cosh"`) an upper bound takes its place, so that every
#' step lessens the loss. The bound is smaller for larger errors, so `min_child_weight` and `lambda` have more effect
#' where `huber_delta` is small. Where hessians add up to too little for `min_child_weight` to allow any split, as with
#' errors of a million and `huber_delta = 1`, with rare classes or small means, the first round gives a warning (class
#' `gbt_warning_hessian`) that says what to do.
#'
#' For `"quantile"`, `"absolute_error"` and `"mape"` splits come from the signs of the errors, and the value of a leaf
#' is then a weighted quantile of the residuals of its (sampled) training rows: the least residual that has at least
#' the level's share of the weight at or below it, without interpolation, as `quantile(type = 1)`. `lambda` and `alpha`
#' do not shrink it; `eta` does, and `max_delta_step` limits it. With `monotone` both sides of a split on a constrained
#' feature keep to their sides of the middle of their quantiles, and so do all leaves below.
#'
#' Names that other packages use are understood: `"binary:logistic"`, `"multiclass"`, `"RMSE"`, `"gaussian"`,
#' `"count:poisson"`, `"reg:tweedie"`, `"Huber:delta=2"` and so on. (`"multi:softmax"` is `"softmax"`: ask for classes
#' with `predict(type = "class")`. `alpha` is the L1 penalty here and never a parameter of an objective or a metric, so
#' `alpha` with objective `"huber"` (LightGBM's parameter of it) or `"expectile"` (CatBoost's) is refused, as with
#' metrics `"huber"` and `"quantile"` without a number: give `huber_delta` or `expectile_alpha`, or `"quantile@0.9"`.)
#'
#' An objective of your own is `list(gradient = function(score, label, weight), hessian = function(score, label,
#' weight))`. Both functions return one number per score: the first and second derivative of the loss. `score` is a
#' vector, or a matrix of n columns when the list has an element `n_outputs = n`. Weights are multiplied in afterwards;
#' they are passed for information, and functions of two arguments do not get them. The response must be numeric, scores
#' start at 0 (or at `offset`), and predictions are scores. Hessians that add up to too little for `min_child_weight` to
#' allow any split, such as those of an absolute error, give a warning (class `gbt_warning_hessian`).
#'
#' @section Number of rounds:
#' With neither `nrounds` nor `valid` the number of rounds is found. A fifth of the rows is held out, as by `valid =
#' 0.2` (class by class when there are classes; whole groups with `group`; the last rows with `time`), early stopping
#' finds the best round on them, and then **all rows are trained on** for so many rounds. Of fewer than 3,000 rows a
#' fifth would say too little: there five folds hold all of them out in turn, and the mean of the folds decides. A
#' message (class `gbt_message`) says what was found, unless `verbose` is given as 0. The rows are drawn by the seed, 0
#' where none is given and nothing else is random, so R's generator is not touched. The model has the log of the
#' held-out rows (`model$auto_rounds`), which `plot()` draws; a call with that `nrounds` and `params = model$params`
#' grows the same trees, to the last bit. The data are binned once; it takes about twice as long as the training alone.
#'
#' `early_stopping_rounds` says after how many rounds without improvement the search ends; when left out 5 / `eta`, at
#' least 20. Its limit is 200 / `eta` rounds, 1,000 to 20,000. `eval_metric` decides by the last metric; with an
#' objective of your own one is needed. Rows that `mask` leaves out take no part, unless `early_stopping_rounds` is
#' given: then they are what early stopping watches. `max_seconds` holds for all; the search takes two fifths of it at
#' most. With `checkpoint` the search has a folder in it, `rounds`; a search in folds keeps none. `callbacks` are called
#' in the training on all rows alone. `init_model` needs `nrounds` or `valid`: it may have seen the rows that would be
#' held out. Ctrl-C during the search leaves the model of the rows not held out, in folds by the first one. Of fewer
#' than 10 rows with a weight above 0, or groups, none are held out, and there are 100 rounds.
#'
#' With `valid` and without `nrounds` training stops early, by the same patience and limit. As many learning rates in
#' `eta` as there are rounds say their number as well.
#'
#' @section Ensembles:
#' With `ensemble = k` the model is the mean of k trainings that differ in their seeds: the mean of their scores, in
#' one model. It predicts a little better than one of them, the more so the more is drawn at random (`subsample`,
#' `colsample_bytree` and the like, orders of statistics), and takes k times as long. Round r of the model has the
#' trees of round r of all members, so `predict(trees = )`, `model[1:10]` and all else mean what they mean for one
#' training; with `num_parallel_tree` it has k times as many parallel trees. The members have the same number of
#' rounds. Where it is found, on held-out rows or by early stopping on `valid`, the first member finds it; log and
#' `best_score` are its own, as `print()` and `plot()` say (those of the mean: [gbt_evaluate()]). `max_seconds` may end
#' with fewer members. [gbt_cv()] and [gbt_tune()] rate one member. An ensemble cannot be gone on from by `init_model`.
#'
#' @section Validation, early stopping and the log:
#' `valid` is a share of the rows to hold out (by a hash of the seed and the row, class by class when there are classes;
#' with `group` a share of the groups; with `time` the rows of the last times), or the rows themselves (two or more
#' numbers of rows, or `TRUE` for each row to hold out), or `list(x = , y = )` with `weight =`, `offset =` and
#' `exposure =` where needed, or a [gbt_data()] made with `reference`, or a named list of several of these. With a
#' formula rows are those of `data`, and may be told by its columns, as in `valid = year == 2020`; and `valid` may also
#' be a data frame with the same columns, in which weights, offset and exposure are evaluated as they are written. The
#' metrics in `eval_metric` are evaluated on each set after every round and logged in `model$evaluation_log`, under
#' `<set>_<metric>`.
#'
#' With a `mask` the rows where it is `FALSE` are masked out: no tree is grown on them, and they are scored in every
#' round like a validation set, under the name `masked_out`, which comes before those of `valid`. Trees, base scores,
#' balanced weights of classes and draws of `subsample` depend on the rows where it is `TRUE` alone. The cuts, the
#' classes and `level_counts` are those of all rows, and rules for parameters (see Defaults) look at the number of all
#' rows; classes that only masked-out rows have are named in a message. So cross-validation needs one [gbt_data()] and
#' a mask for each fold, and `model$masked_out` has the predictions for the fold that was left out, at the best round
#' with early stopping: the numbers that [predict()][predict.gbt] gives for these rows, without their names. A round
#' takes as long as with a validation set of so many rows. With few rounds and nothing to watch, training on the rows
#' alone and `predict()` can be quicker.
#'
#' With `early_stopping_rounds` training ends when the *last* metric of the *last* set has not improved by more than
#' `early_stopping_min_delta` for so many rounds. The model keeps all rounds that were grown, but **predicts with the
#' best round** (`model$best_round`) unless `trees` says otherwise; importance is that of the same rounds.
#' `model[seq_len(model$best_round)]` drops the others.
#'
#' @eval metrics_help()
#'
#' @section Reproducibility:
#' For given data, parameters and seed the model is the same to the last bit on any machine and for any number of
#' threads. `seed = NULL` draws a seed from R's generator if something random was asked for by name (a `subsample` or
#' `colsample` below 1, another `sampling_method` than `"uniform"`, `random_strength`, `extra_trees`, `class_shares`,
#' or `valid` as a share), so [set.seed()] decides; else the seed is 0 and R's generator is not
#' touched. (Gradients are rounded by a hash of seed, round and row.) With `max_seconds` the machine's speed decides.
#'
#' @section Checkpoints:
#' With `checkpoint`, the name of a folder, a file there keeps all that the training needs to go on, every
#' `checkpoint_seconds` and at the end. When the process is killed, the same call goes on after the last round that was
#' kept, and gives the model that it would have given, to the last bit; threads, device, `page_rows`, `max_seconds` and
#' `verbose` may differ. A training that has ended gives its model at once, or goes on for more rounds where `nrounds`
#' is larger now and `eta` was named (the rule for it looks at `nrounds`). The file is replaced in one step.
#'
#' Data, parameters and seed must be the same: a file of another training is an error, which asks to remove it. Of
#' `eta` by round the values of the rounds that are done count; those to come may be others.
#' (Functions of yours are not compared, nor is every value of the data: the response, weights, offsets and the
#' distribution of each column are.) Where something is random give `seed`, as the one that is drawn differs from call
#' to call. The file takes 8 bytes a row and class for each data set, and the trees.
#'
#' @section Devices:
#' With a CUDA device (an NVIDIA GPU) the whole training can run there: `device = "cuda"`, or `"cuda:1"` for the second
#' device (they are counted from 0). The model is the same to the last bit as on the CPU, and nothing in it says where
#' it was trained. A device that cannot be used is an error of class `gbt_error_device` (or `gbt_error_memory`) that
#' says what is missing; see also [gbt_info()]. The engine's tests and trainings of all
#' shapes have given the CPU's bytes on an H100; what was changed since is proven by emulation on the CPU.
#'
#' `"auto"`, the default, takes the CPU unless a device can be expected to be clearly faster. It compares, for T
#' trees (of all `nrounds`, even if training may stop early; K classes that share their splits count 1 + K / 8 a round)
#' of L layers on B bytes of binned data (about one per row and column; sparse columns need fewer),
#' * on the CPU: B T L * 0.4 ns / `threads`, which was measured, with
#' * on a device: 1 s to start it (once in a session), B * 0.2 ns to move the data, L * 60 microseconds for every
#'   batch of up to 32 trees of a round (all classes grow together), and B T L * 0.002 ns; and B T L * 0.06 ns
#'   more where B (2 B with splits that are shared), with 24 bytes for a row and 8 for each of its outputs, exceeds
#'   `device_memory` or what the device has free, as codes then come over the bus: what an H100 took, but for the
#'   start and the way of the data, which are estimates.
#'
#' The CPU's time must be more than 1.5 times the device's (`margin`). `options(gbt.device_costs = )`, a list with any
#' of `cpu_cell`, `cuda_cell`, `cuda_byte`, `cuda_bus`, `cuda_layer`, `cuda_start` (in seconds) and `margin`, replaces
#' these numbers by yours. Where there is a device `verbose = 1` reports the choice and its reason; where there is none
#' the CPU is taken silently. If a device that was chosen so fails, for lack of memory or because of an old driver, a
#' warning of class `gbt_warning_device` says why, once in a session, and the CPU does the work. (A device may also
#' fail later; training then begins anew on the CPU, unless there are callbacks that have seen rounds already.)
#'
#' The default for calls that leave `device` out can be set by `options(gbt.device = )` or else by the environment
#' variable `GBT_DEVICE`: `"cpu"` in either keeps gbt away from GPUs. A process forked by one that has used CUDA (a
#' worker of `parallel::mclapply()`) cannot use it: start workers as new processes, as `parallel::makePSOCKcluster()`
#' does. How to install gbt with its CUDA engine: when an `nvcc` that works is found, `R CMD INSTALL` builds it;
#' `install.packages(..., configure.args = "--with-cuda=/usr/local/cuda")` insists on it and says where the toolkit is,
#' `"--with-cuda-arch=75,90"` says for which compute capabilities (left out: those of the machine's GPUs),
#' `"--without-cuda"` leaves it out. Where no such arguments can be given the environment variables `GBT_CUDA` (a
#' folder, `yes` or `no`) and `GBT_CUDA_ARCH` do the same.
#'
#' @section Going on and stopping:
#' `init_model` is an earlier model on the same features with the same objective: new rounds are added to the ones it
#' predicts with. Parameters of the objective (`huber_delta`, say) are those of that model; others are an error. Factors
#' may have other levels than before; those that do not occur in the new data are forgotten. Earlier rounds keep the
#' statistics of categorical columns that they were grown on; new rounds have those that `cat_method` asks for, made of
#' the new data. Ctrl-C ends the training within a moment and keeps what is finished, see [gbt_last_interrupted()].
#'
#' @param x A data frame, a numeric, integer or logical matrix, a sparse matrix of package Matrix, a [gbt_data()]
#'   object, or a formula.
#' @param y The response, one value per row: numbers, a factor, texts or logical values. For [gbt_data()] its label.
#' @param data A data frame with the variables of the formula.
#' @param subset,na.action With a formula: the rows to use, evaluated in `data`; and what to do with missing values. By
#'   default nothing: missing predictors are fine.
#' @param ... All other parameters, by name: see Further parameters and [gbt_parameters()], which also has the names in
#'   other packages (`learning_rate`, `max.depth`, `nthread`) and the parameters of objectives. Unknown names are an
#'   error.
#' @param weights Weights of the rows, 0 or more. With a formula evaluated in `data`. Their size matters relative to
#'   `min_child_weight` and `lambda`, so their mean should be near 1; where they are so small that no node can be split
#'   a warning (class `gbt_warning_weights`) says so. See Weights of rows.
#' @param offset A known part of the score, such as the log of an exposure: one number per row, or a matrix with a
#'   column per class. The model remembers that there was one. With a formula evaluated in `data`.
#' @param exposure How long, or of how much, each row was observed: numbers above 0, whose logarithm is added to
#'   `offset`, which must not have it as well. For counts and amounts with a log link (`"poisson"`,
#'   `"negative_binomial"`, `"tweedie"`, `"gamma"`): what is expected is then a rate times the exposure. With a formula
#'   evaluated in `data`; or the name of a column, which is then no feature (unless a formula names it; `.` does not
#'   stand for it). Where it is a column the model keeps its name, and `predict()` finds it in new data.
#' @param mask Which rows to train on: `TRUE` or `FALSE` for every row, at least one of them `TRUE`; `NULL` for all. The
#'   others are scored on the way, see below. With a formula evaluated in `data`, where it has a value for every row of
#'   `data`: `subset` and `na.action` drop rows together with their values.
#' @param time When each row was observed, for statistics of categorical columns, see below: numbers, dates, times or an
#'   ordered factor, a value for every row. With a formula evaluated in `data`, as `mask` is.
#' @param group Which rows belong together, for statistics of categorical columns, see below: numbers, a factor or
#'   texts, a value for every row. With a formula evaluated in `data`. Not together with `time`.
#' @param objective What is minimised: `"squared_error"`, `"logistic"`, `"softmax"`, one of the others in
#'   [gbt_objectives()], or a list of functions; see below.
#' @param nrounds Number of rounds; found by early stopping where it is left out, see below.
#' @param preset A set of rules for the parameters that are not named, see [gbt_defaults()]: `"default"`; `"fast"` for
#'   less time, with a little less quality; `"best"` for an `ensemble`, which takes several times as long. What is named
#'   has the value that is given, and what [gbt_refit()] or `init_model` keeps stays as it was.
#' @param eta Shrinkage (learning rate): each tree's leaf values are multiplied by it. One number; a number for each
#'   of the `nrounds` rounds; or a function of the round, such as `function(round) 0.3 * 0.99^round`, which is asked for
#'   every round before training begins. It sees rounds as the log counts them: with `init_model` they go on behind
#'   those of that model, while a vector begins with the first new round. `NULL` for a rule, see Defaults.
#' @param max_depth Most splits between root and leaf; 0 for no limit (then `max_leaves` is needed).
#' @param max_leaves Most leaves of a tree; 0 for no limit.
#' @param lambda L2 penalty on leaf weights. There is a rule, see Defaults.
#' @param min_child_weight Least sum of hessians in a child. For classes there is a rule, see Defaults.
#' @param min_data_in_leaf Least number of training rows in a child.
#' @param subsample Share of the rows that each tree sees, drawn without replacement. For classes (`"logistic"`,
#'   `"softmax"`) also shares named by classes, such as `c(no = 0.1, yes = 1)`: rows of other classes are all taken.
#' @param colsample_bytree Share of the features that a tree may use. There is a rule, see Defaults. (`mtry`, a count,
#'   is accepted for it, but not where `cat_method` adds features.)
#' @param max_bin Most bins of a numeric column, 2 to 65535.
#' @param class_weights For classes (`"logistic"`, `"softmax"`): weights above 0, named by classes, such as
#'   `c(no = 1, yes = 5)`, where classes that are not named weigh 1; or one for each class in their order. A row weighs
#'   its weight times that of its class, in training and in metrics on the training data. `"balanced"` lets all classes
#'   weigh the same: class k of K gets W / (K W_k), with W_k the weight of its rows and W that of all.
#' @param cat_features Columns of whole numbers (integer, double, logical, `integer64`) that are categories rather than
#'   amounts, such as identifiers and codes: names or positions (from 1), in data frames and matrices. Each different
#'   number is a level, a missing value is missing, and predictions take the numbers again, whatever class they have
#'   there: `3L`, `3` and the factor level `"3"` are one level, and so are `TRUE` and `1`. Ordered factors that are
#'   named lose their order; factors without order and texts are categories already.
#' @param monotone Monotone constraints: numbers named by features, 1 for rising and -1 for falling predictions, such as
#'   `c(age = 1)`. Not for unordered factors. Of `"softmax"` the scores of all classes rise, not their probabilities.
#' @param valid Validation data, see below.
#' @param eval_metric Names of metrics (see below), [gbt_metric()] objects, or a list of both. Left out: the one of the
#'   objective.
#' @param early_stopping_rounds Stop after so many rounds without improvement; 0 for never. `NULL` for never where
#'   `nrounds` is given, else for the usual number, see below.
#' @param init_model A model to go on from. Columns may come in any order, and classes of the model may have no rows.
#'   Data of [gbt_data()] must have its cuts, or have been made for it: see `init_model` there.
#' @param callbacks A function, or a list of functions, to call after each round, see [gbt_callbacks].
#' @param device Where to train: `"cpu"`, `"cuda"`, `"cuda:1"` for another than the first device, or `"auto"`, see
#'   below.
#' @param threads Number of threads, see [gbt_threads()].
#' @param seed A whole number that decides every random choice; see below for `NULL`.
#' @param verbose 0 for silence, 1 to write lines of the log with [message()] (class `gbt_message`); left out for the
#'   one line that tells how many rounds were found.
#' @param checkpoint A folder for checkpoints, see below; it is made where there is none.
#' @param params A list of any of these arguments, under any of their names. A parameter that is given twice with
#'   different values is an error.
#'
#' @return A model: a list of class `gbt`, and a plain value (equal trainings give `identical()` models), with
#'   \item{state}{the model's bytes, a raw vector}
#'   \item{objective, classes, response}{what was minimised, the classes (`NULL` for numbers), what the response was}
#'   \item{feature_names, feature_types}{the features}
#'   \item{params}{the parameters that decided the model, the seed among them; `eta` by round where rounds differ}
#'   \item{nrounds, best_round, best_score}{rounds in the model; the round it predicts with and the metric there, `NULL`
#'     without early stopping}
#'   \item{evaluation_log}{a data frame: `round` and one column per data set and metric}
#'   \item{auto_rounds}{where the number of rounds was found on held-out rows, a list: `rounds` (the best round there),
#'     `score`, `by` (`"split"`, `"groups"`, `"time"` or `"folds"`; `"none"` for too few rows), `folds`, `n_train`,
#'     `n_held`, `patience`, `limit`, `stopped` (`"early"`, `"limit"` or `"time"`), `eval_metric` and `log`, a data
#'     frame}
#'   \item{masked_out}{with a `mask` the predictions for the masked-out rows in their order, as `predict()` gives them,
#'     though without names of rows: a vector, or a matrix with a column for each class. `NULL` without a mask or with
#'     one that is `TRUE` for all rows, after Ctrl-C, and in models that were read from files or cut to some of their
#'     rounds}
#'   \item{call}{the call, for `update()`; `NULL` where it had the data themselves in it, and in models from files}
#'   \item{exposure}{the name of the column with exposures, `""` where they were given as values, `NULL` without}
#'   \item{stopped, warned}{what ended the training before its time: `"time"`, `"callback"`, `"interrupt"`, `"error"`;
#'     why it has learned nothing, see [gbt][gbt-package]. `NULL` else, and in models that were read from files}
#'   \item{has_offset, formula, terms, n_outputs, n_obs, cache, version}{whether there was an offset; the formula as
#'     text and what it evaluates; scores per row; training rows; for internal use}
#' Methods: [predict()][predict.gbt], `print()`, `summary()`, [plot()][plot.gbt], [`[`][gbt_methods], `as.data.frame()`
#' and more.
#'
#' @seealso [predict.gbt()], [gbt_importance()], [gbt_save()], [gbt_parameters()], [gbt_objectives()],
#'   [gbt_callbacks], [gbt_methods]
#' @examples
#' # regression by a formula; the number of rounds is found
#' m <- gbt_train(mpg ~ ., mtcars, threads = 1)
#' m
#' plot(m)
#' predict(m, mtcars[1:3, ])
#'
#' # classes, with a share of the rows held out and early stopping
#' m <- gbt_train(iris[-5], iris$Species, valid = 0.3, early_stopping_rounds = 5, seed = 1,
#'                threads = 1)
#' m$best_round
#' table(predict(m, iris, type = "class"), iris$Species)
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
#' # cross-validation: the data are binned once, every fold is a mask
#' d <- gbt_data(mtcars[-1], label = mtcars$mpg, threads = 1)
#' fold <- rep_len(1:4, 32)
#' mpg <- numeric(32)
#' for (k in 1:4) {
#'   m <- gbt_train(d, mask = fold != k, nrounds = 50, min_child_weight = 3, threads = 1)
#'   mpg[fold == k] <- m$masked_out
#' }
#' sqrt(mean((mpg - mtcars$mpg)^2))
#'
#' # a learning rate that falls from round to round
#' m <- gbt_train(mpg ~ ., mtcars, nrounds = 50, eta = function(round) 0.3 * 0.95^round, threads = 1)
#' range(m$params$eta)
#'
#' # an objective of one's own: squared error once more
#' own <- list(
#'   gradient = function(score, label) score - label,
#'   hessian = function(score, label) rep(1, length(score))
#' )
#' m <- gbt_train(mtcars[-1], mtcars$mpg, objective = own, offset = rep(20, 32), nrounds = 10,
#'                threads = 1)
#'
#' @export
gbt_train <- function(x, ...) {
  if (missing(x)) { # data = , formula = : the formula decides, wherever it stands
    at <- match("formula", ...names())
    if (!is.na(at)) UseMethod("gbt_train", ...elt(at))
  } else if (is.name(name <- substitute(x))) {
    try_else(x, function(problem) stop_lost_x(problem, as.character(name), if (...length()) ...elt(1L)))
  }
  UseMethod("gbt_train")
}
