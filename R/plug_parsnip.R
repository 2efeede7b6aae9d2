# The engine "gbt" of parsnip's boost_tree().

#' Fit for parsnip's engine "gbt"
#'
#' What `parsnip::boost_tree()` calls with engine `"gbt"`. It is not meant to be called by itself: see
#' [gbt-integrations].
#'
#' @param x A data frame, a matrix or a sparse matrix of predictors. Factors stay as they are.
#' @param y The response.
#' @param weights Case weights.
#' @param mtry Number of columns that each split may use; with `counts = FALSE` their share.
#' @param sample_size Share of the rows that each tree sees, or, above 1, their number.
#' @param stop_iter Rounds without improvement after which training ends. The share `validation` of the rows is held
#'   out for it.
#' @param validation Share of the rows that are held out when `stop_iter` is given, 0.1 when left out.
#' @param counts Is `mtry` a number of columns?
#' @param ... Arguments of [gbt_train()].
#' @return A model, see [gbt_train()].
#' @keywords internal
#' @examples
#' # boost_tree(mtry = 3, trees = 20) with engine "gbt" becomes
#' gbt_engine_fit(mtcars[-1], mtcars$mpg, mtry = 3, nrounds = 20, threads = 1)
#' @export
gbt_engine_fit <- function(x, y, weights = NULL, ..., mtry = NULL, sample_size = NULL, stop_iter = NULL,
                           validation = NULL, counts = TRUE) {
  check_flag(counts, "counts")
  args <- list(...)
  if (!is.null(mtry)) args$colsample_bynode <- share_by_engine(mtry, NCOL(x), "mtry", "columns", counts)
  if (!is.null(sample_size)) {
    args$subsample <- share_by_engine(sample_size, NROW(x), "sample_size", "rows", isTRUE(sample_size > 1))
  }
  if (!is.null(validation)) {
    if (!is_number(validation, 0) || validation >= 1) {
      stop_argument("`validation` must be a share of the rows, at least 0 and less than 1", "validation")
    }
    if (is.null(stop_iter)) stop_argument("`validation` is for `stop_iter`, which was not given", "validation")
  }
  if (!is.null(stop_iter)) {
    args$early_stopping_rounds <- stop_iter
    share <- if (is.null(validation)) 0.1 else validation
    if (is.null(args$valid)) {
      if (share > 0) args$valid <- share else args$eval_train <- TRUE # as other engines do
    }
  }
  if (!is.null(weights)) args$weights <- as.double(weights)
  if (is.null(args$verbose)) args$verbose <- 0 # a line for each resample would be too much
  model <- do.call(gbt_train, c(list(x, y), args))
  model["call"] <- list(NULL) # would have the data in it
  model
}

# A number of columns or rows as their share, or the share itself.
share_by_engine <- function(value, n, name, noun, counted) {
  if (counted) {
    if (!is_whole(value, 1, n)) {
      hint <- if (name == "mtry") "; for a share set_engine(\"gbt\", counts = FALSE)" else ", or a share of 1 or less"
      stop_argument(sprintf("`%s` must be one whole number from 1 to %.0f, the number of %s%s", name, n, noun, hint),
                    name)
    }
    return(value / n)
  }
  if (!is_number(value, 0, 1) || value == 0) {
    stop_argument(sprintf("`%s` must be a share of the %s, larger than 0 and at most 1", name, noun), name)
  }
  value
}

# boost_tree()'s arguments, what gbt_engine_fit() calls them, and the functions of dials that say their ranges, with a
# range where that of dials is not one of boosting: it lets the learning rate be 1e-10 (exponents of 10 here), and the
# share of rows a tenth.
parsnip_arguments <- list(
  trees = list("nrounds", fun = "trees"), tree_depth = list("max_depth", fun = "tree_depth"),
  learn_rate = list("eta", fun = "learn_rate", range = c(-3, -0.5)), mtry = list("mtry", fun = "mtry"),
  min_n = list("min_data_in_leaf", fun = "min_n"), loss_reduction = list("gamma", fun = "loss_reduction"),
  sample_size = list("sample_size", fun = "sample_prop", range = c(0.5, 1)),
  stop_iter = list("stop_iter", fun = "stop_iter")
)

register_parsnip <- function() {
  set <- function(name, ...) of_package("parsnip", name)(model = "boost_tree", eng = "gbt", ...)
  known <- of_package("parsnip", "get_from_env")("boost_tree")
  if ("gbt" %in% known$engine) return(invisible())
  for (mode in c("regression", "classification")) {
    of_package("parsnip", "set_model_engine")("boost_tree", mode, "gbt")
    set("set_dependency", pkg = "gbt", mode = mode)
    set("set_fit", mode = mode, value = list(
      interface = "data.frame", protect = c("x", "y", "weights"), func = c(pkg = "gbt", fun = "gbt_engine_fit"),
      defaults = list(threads = 1)
    ))
    set("set_encoding", mode = mode, options = list(
      predictor_indicators = "none", compute_intercept = FALSE, remove_intercept = FALSE, allow_sparse_x = TRUE
    ))
  }
  for (argument in names(parsnip_arguments)) {
    to <- parsnip_arguments[[argument]]
    set("set_model_arg", parsnip = argument, original = to[[1L]], func = c(list(pkg = "dials"), to[-1L]),
        has_submodel = argument == "trees")
  }
  by_predict <- function(type, post = NULL) {
    list(pre = NULL, post = post, func = c(pkg = NULL, fun = "predict"),
         args = list(object = quote(object$fit), newdata = quote(new_data), type = type))
  }
  set("set_pred", mode = "regression", type = "numeric",
      value = by_predict("response", function(x, object) as.vector(x)))
  set("set_pred", mode = "regression", type = "raw", value = by_predict("link"))
  set("set_pred", mode = "classification", type = "class", value = by_predict("class"))
  set("set_pred", mode = "classification", type = "prob",
      value = by_predict("prob", function(x, object) parsnip_probabilities(x, object$lvl)))
  set("set_pred", mode = "classification", type = "raw", value = by_predict("link"))
}

# A column for each level of the response, also for those that no training row had.
parsnip_probabilities <- function(prob, levels) {
  all <- matrix(0, nrow(prob), length(levels), dimnames = list(NULL, levels))
  all[, colnames(prob)] <- prob
  as_tibble_here(as.data.frame(all, optional = TRUE))
}

# Predictions by several numbers of rounds: for each row a table with a row for each number. By parsnip a fit has the
# class of the model behind "_".
#' @rawNamespace S3method(parsnip::multi_predict, "_gbt")
multi_predict._gbt <- function(object, new_data, type = NULL, trees = NULL, ...) {
  if ("newdata" %in% names(written_dots(...))) stop_argument("the rows to predict are `new_data`", "newdata")
  check_no_dots(written_dots(...), c("new_data", "type", "trees"))
  need_package("tibble", "multi_predict()")
  classes <- !is.null(object$lvl)
  choices <- if (classes) c("class", "prob", "raw") else c("numeric", "raw")
  type <- match_choice(type, choices, "type")
  model <- object$fit
  if (is.null(trees)) trees <- rounds_used(model)
  trees <- sort(unique(as.integer(vapply(trees, check_rounds, 1L, model))))
  parts <- lapply(trees, function(k) {
    out <- stats::predict(model, new_data, trees = k, type = switch(type, numeric = "response", raw = "link", type))
    columns <- if (type == "prob") {
      out <- parsnip_probabilities(out, object$lvl)
      stats::setNames(as.list(out), paste0(".pred_", object$lvl))
    } else if (type == "class") {
      list(.pred_class = factor(as.character(out), levels = object$lvl))
    } else if (is.matrix(out)) {
      columns_of(out, ".pred_")
    } else {
      list(.pred = as.vector(out))
    }
    c(list(trees = rep(k, NROW(out))), columns)
  })
  n <- if (is.null(dim(new_data))) length(new_data) else nrow(new_data)
  by_row <- order(rep(seq_len(n), length(trees)), rep(seq_along(trees), each = n))
  long <- lapply(stats::setNames(nm = names(parts[[1L]])), function(name) {
    columns <- lapply(parts, `[[`, name)
    if (is.factor(columns[[1L]])) factor(unlist(columns), levels = object$lvl)[by_row] else unlist(columns)[by_row]
  })
  k <- length(trees)
  tables <- lapply(seq_len(n), function(i) {
    at <- (i - 1L) * k + seq_len(k)
    tibble::new_tibble(lapply(long, `[`, at), nrow = k)
  })
  tibble::tibble(.pred = tables)
}
