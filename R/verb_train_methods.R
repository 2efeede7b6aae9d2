# The ways into gbt_train(), which R chooses by the class of `x`. They show what can be given; the work is in
# R/fit_source.R.

#' @rdname gbt_train
#' @export
gbt_train.formula <- function(x, data = NULL, ..., weights = NULL, offset = NULL, exposure = NULL, mask = NULL,
                              time = NULL, group = NULL, strata = NULL, position = NULL, subset = NULL,
                              na.action = stats::na.pass) {
  train_here_or_there(capture_call("gbt_train"))
}

#' @rdname gbt_train
#' @export
gbt_train.data.frame <- function(x, y, ..., weights = NULL, objective = NULL, nrounds = NULL,
                                 preset = c("default", "fast", "best"), eta = NULL, max_depth = NULL,
                                 max_leaves = NULL, min_child_weight = NULL, min_data_in_leaf = NULL, lambda = NULL,
                                 subsample = 1, colsample_bytree = NULL, max_bin = 255, cat_features = NULL,
                                 class_weights = NULL, monotone = NULL, valid = NULL, eval_metric = NULL,
                                 early_stopping_rounds = NULL, init_model = NULL, callbacks = NULL, checkpoint = NULL,
                                 device = c("auto", "cpu", "cuda"), threads = NULL, seed = NULL, verbose = NULL,
                                 params = list()) {
  train_here_or_there(capture_call("gbt_train"))
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
gbt_train.gbt_data <- function(x, y = NULL, ...) train_here_or_there(capture_call("gbt_train"))

#' @export
gbt_train.default <- function(x, ...) train_here_or_there(capture_call("gbt_train"))

#' @rdname gbt_train
#' @export
gbt_train.recipe <- function(x, data = NULL, ...) train_here_or_there(capture_call("gbt_train"))

# Ranks of a cluster train in processes of their own.
train_here_or_there <- function(captured) {
  told_to_ranks({
    force(captured)
    ranks <- captured$args[["ranks"]]
    ranks <- if (!is.null(ranks) && !ranks$missing) ranks$value()
    if (inherits(ranks, "gbt_cluster_ranks")) train_on_cluster(captured, ranks) else fit_of(captured)
  }, parent.frame())
}
