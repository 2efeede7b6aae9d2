# Contributions in the form of packages that draw or compute them: shapviz, fastshap, treeshap.

#' @exportS3Method shapviz::shapviz
shapviz.gbt_shap <- function(object, X = object$data, which_class = NULL, collapse = NULL, ...) { # nolint: its names
  check_no_dots(written_dots(...), c("X", "which_class", "collapse"))
  one <- function(k) {
    at <- function(x) if (is.null(object$outputs)) x else array(slice_of(x, k), dim(x)[-length(dim(x))],
                                                                  dimnames(x)[-length(dim(x))])
    get_exported("shapviz", "shapviz")(at(object$values), X = X, baseline = unname(object$base[k]), collapse = collapse,
                                       S_inter = if (!is.null(object$interaction)) at(object$interaction))
  }
  n <- length(object$outputs)
  if (!is.null(which_class)) return(one(check_whole(which_class, "which_class", 1, max(1L, n))))
  if (n == 0L) return(one(1L))
  get_exported("shapviz", "mshapviz")(lapply(stats::setNames(seq_len(n), object$outputs), one))
}

# The k-th slice of an array by its last dimension.
slice_of <- function(x, k) {
  size <- prod(dim(x)[-length(dim(x))])
  x[(k - 1L) * size + seq_len(size)]
}

#' @exportS3Method shapviz::shapviz
shapviz.gbt <- function(object, X_pred, X = NULL, which_class = NULL, collapse = NULL, # nolint: its names
                        interactions = FALSE, ...) {
  contributions <- gbt_shap(object, X_pred, interaction = interactions, ...)
  if (is.null(X)) X <- contributions$data # nolint: its name
  shapviz.gbt_shap(contributions, X = X, which_class = which_class, collapse = collapse)
}

# exact = TRUE: those of gbt_shap(), of the rows in `newdata`, or in X where there are none.
#' @exportS3Method fastshap::explain
explain.gbt <- function(object, feature_names = NULL, X = NULL, nsim = 1, pred_wrapper = NULL, # nolint: its names
                        newdata = NULL, adjust = FALSE, baseline = NULL, shap_only = TRUE, parallel = FALSE,
                        exact = FALSE, ...) {
  if (!isTRUE(exact)) return(NextMethod())
  simulated <- c(nsim = !missing(nsim), pred_wrapper = !is.null(pred_wrapper), adjust = !missing(adjust),
                 baseline = !is.null(baseline))
  if (any(simulated)) {
    name <- names(which(simulated))[1L]
    stop_argument(sprintf(paste("`%s` cannot be combined with `exact = TRUE`, which simulates nothing; leave one of",
                                "them out"), name), name)
  }
  rows <- if (is.null(newdata)) X else newdata
  if (is.null(rows)) stop_argument("give the rows to explain: `newdata`, or `X`", "newdata")
  contributions <- gbt_shap(object, rows, ...)
  if (!is.null(contributions$outputs)) {
    stop_unsupported(paste("`exact = TRUE` works here for models with one output only; gbt_shap() gives the values of",
                           "every class"), "exact")
  }
  values <- contributions$values
  if (!is.null(feature_names)) {
    absent <- setdiff(feature_names, colnames(values))
    if (length(absent)) {
      stop_argument(sprintf("`feature_names`: the model has no column `%s`%s", absent[1L],
                            suggest(absent[1L], colnames(values))), "feature_names")
    }
    values <- values[, feature_names, drop = FALSE]
  }
  base <- contributions$base
  if (isFALSE(shap_only)) {
    return(structure(class = "explain", list(shapley_values = values, baseline = base,
                                             feature_values = contributions$data[colnames(values)])))
  }
  structure(values, baseline = base, class = c("explain", class(values)))
}

# Trees as treeshap needs them: a row for each node. It supports only numeric splits. The base is added to the leaves of
# the first tree, so that its predictions are raw scores. Covers are sums of hessians, as in gbt_shap(), or counts of
# rows of `data` with recalculate = TRUE.
#' @exportS3Method treeshap::unify
unify.gbt <- function(model, data, recalculate = FALSE, ...) {
  check_model(model, "model")
  check_no_dots(written_dots(...), c("data", "recalculate"))
  check_flag(recalculate, "recalculate")
  check_constant_leaves(model, "which treeshap does not support")
  if (!is.data.frame(data) && !is.matrix(data)) stop_argument("`data` must be a data frame or a matrix", "data")
  data <- bake_rows(model, data)$x
  data <- as.data.frame(apply_design(model$terms, data)$x)
  absent <- setdiff(model$feature_names, names(data))
  if (length(absent)) stop_data(sprintf("`data` has no column `%s`", absent[1L]), absent[1L])
  nodes <- as.data.frame.gbt(model)
  nodes <- subset_rows(nodes, which(nodes$round <= rounds_used(model)))
  split <- !is.na(nodes$feature)
  foreign <- which(split & (is.na(nodes$threshold) | !nodes$feature %in% model$feature_names))
  if (length(foreign)) {
    stop_unsupported(sprintf(paste("treeshap supports only numeric splits, but tree %d splits `%s` %s; gbt_shap()",
                                   "supports all trees"), nodes$tree[foreign[1L]], nodes$feature[foreign[1L]],
                             nodes$split[foreign[1L]]), "model")
  }
  outputs <- output_labels(model)
  info <- .Call(C_gbt_model_info, model$state, model$cache)
  base <- info$base
  parallel <- info$n_parallel # trees of an output in a round
  one <- function(k) {
    mine <- if (is.null(outputs) || is.matrix(nodes$value)) nodes else {
      subset_rows(nodes, which(((nodes$tree - 1L) %/% parallel) %% length(outputs) == k - 1L))
    }
    value <- if (is.matrix(mine$value)) mine$value[, k] else mine$value
    unified(mine, value, base[k], model, data[model$feature_names], recalculate)
  }
  if (is.null(outputs)) return(one(1L))
  structure(lapply(stats::setNames(seq_along(outputs), outputs), one), class = "model_unified_multioutput")
}

# nodes: of the trees of one output; value: of their leaves.
unified <- function(nodes, value, base, model, data, recalculate) {
  leaf <- is.na(nodes$feature)
  tree <- match(nodes$tree, unique(nodes$tree)) - 1L
  row_of <- function(child) {
    at <- match(paste(tree, child), paste(tree, nodes$node))
    ifelse(leaf, NA_real_, as.double(at))
  }
  decision <- factor(ifelse(leaf, NA_character_, "<="), levels = c("<=", "<"))
  value <- value + ifelse(tree == 0L, base, 0)
  out <- structure(list(
    model = data.frame(Tree = tree, Node = nodes$node, Feature = nodes$feature, Decision.type = decision,
                       Split = ifelse(leaf, NA_real_, nodes$threshold), Yes = row_of(nodes$left),
                       No = row_of(nodes$right), Missing = row_of(nodes$missing),
                       Prediction = ifelse(leaf, value, NA_real_), Cover = nodes$cover, stringsAsFactors = FALSE),
    data = data, feature_names = model$feature_names
  ), class = "model_unified", missing_support = TRUE, model = "gbt")
  if (recalculate) get_exported("treeshap", "set_reference_dataset")(out, data) else out
}
