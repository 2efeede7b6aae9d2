# The engine "gbt" of parsnip's boost_tree().

#' Fit for parsnip's engine "gbt"
#'
#' `parsnip::boost_tree()` calls this function with engine `"gbt"`. It is not meant to be called directly: see
#' [gbt-integrations].
#'
#' @param x A data frame, a matrix or a sparse matrix of predictors. Factors stay as they are. In the mode "censored
#'   regression" the formula.
#' @param y The response; with a formula the data.
#' @param weights Case weights.
#' @param mtry Number of columns that each split may use; with `counts = FALSE` their share. A number above that of the
#'   columns is cut to it, with a warning.
#' @param sample_size Share of the rows that each tree sees, or, above 1, their number.
#' @param stop_iter Rounds without improvement after which training ends. The share `validation` of the rows is held
#'   out for it.
#' @param validation Share of the rows that are held out, 0.1 when left out and `stop_iter` is given. Without
#'   `stop_iter` the model's `evaluation_log` has their metrics.
#' @param counts Is `mtry` a number of columns?
#' @param quantile_levels Levels of the mode "quantile regression", ascending.
#' @param ... Arguments of [gbt_train()].
#' @return A model, see [gbt_train()].
#' @keywords internal
#' @examples
#' # boost_tree(mtry = 3, trees = 20) with engine "gbt" becomes
#' gbt_engine_fit(mtcars[-1], mtcars$mpg, mtry = 3, nrounds = 20, threads = 1)
#' @export
gbt_engine_fit <- function(x, y, weights = NULL, ..., mtry = NULL, sample_size = NULL, stop_iter = NULL,
                           validation = NULL, counts = TRUE, quantile_levels = NULL) {
  check_flag(counts, "counts")
  args <- list(...)
  check_not_twice(args, c(mtry = "colsample_bynode", sample_size = "subsample", stop_iter = "early_stopping_rounds",
                          validation = "valid"), list(mtry, sample_size, stop_iter, validation))
  size <- engine_size(x, y)
  if (!is.null(mtry)) args$colsample_bynode <- share_by_engine(mtry, size$columns, "mtry", "columns", counts)
  if (!is.null(sample_size)) {
    counted <- is_number(sample_size) && sample_size > 1
    args$subsample <- share_by_engine(sample_size, size$rows, "sample_size", "rows", counted)
  }
  args <- with_held_out(args, stop_iter, validation)
  plain <- is.numeric(weights) && !inherits(weights, "integer64") # as.double() warns of its digits
  if (!is.null(weights)) args$weights <- if (plain) as.double(weights) else weights
  if (is.null(args$verbose)) args$verbose <- 0 # a line for each resample would be too much
  if (!is.null(quantile_levels)) return(fit_quantiles(x, y, args, quantile_levels))
  engine_model(x, y, args)
}

# Rows and columns of predictors; with a formula x is the formula and y the data.
engine_size <- function(x, y) {
  if (!inherits(x, "formula")) return(list(rows = NROW(x), columns = NCOL(x)))
  terms <- stats::terms(x, data = y, specials = "strata")
  list(rows = NROW(y), columns = length(attr(terms, "term.labels")) - length(attr(terms, "specials")$strata))
}

engine_model <- function(x, y, args) {
  model <- do.call(gbt_train, c(list(x, y), args))
  model["call"] <- list(NULL) # would have the data in it
  model
}

# names: of gbt_train()'s arguments, named as parsnip has them; values: what parsnip was given for each.
check_not_twice <- function(args, names, values) {
  twice <- which(!vapply(values, is.null, NA) & names %in% canonical_name(names(args)))
  if (length(twice)) {
    at <- twice[1L]
    typed <- names(args)[match(names[at], canonical_name(names(args)))]
    stop_argument(sprintf("`%s` and `%s` are the same; give one of them", names(names)[at], typed), names(names)[at])
  }
}

# Arguments with early stopping and validation rows.
with_held_out <- function(args, stop_iter, validation) {
  if (!is.null(validation) && (!is_number(validation, 0) || validation >= 1)) {
    stop_argument("`validation` must be a share of the rows, at least 0 and less than 1", "validation")
  }
  if (!is.null(stop_iter)) {
    if (!is_whole(stop_iter, 1, .Machine$integer.max)) {
      stop_argument("`stop_iter` must be one whole number, at least 1; leave it out to train all `trees`", "stop_iter")
    }
    args$early_stopping_rounds <- stop_iter
  }
  if (!is.null(args$valid)) return(args)
  share <- if (!is.null(validation)) validation else if (is.null(stop_iter)) 0 else 0.1
  if (share > 0) args$valid <- share else if (!is.null(stop_iter)) args$eval_train <- TRUE # as other engines do
  args
}

# A number of columns or rows as their share, or the share itself.
share_by_engine <- function(value, n, name, noun, counted) {
  if (counted) {
    if (name == "mtry" && is_whole(value, n + 1, .Machine$integer.max)) {
      warn_gbt("mtry", sprintf("`mtry` is %.0f, but there are %s: all are used", value, counted(n, "column")))
      value <- n
    }
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

# One model of all levels.
fit_quantiles <- function(x, y, args, levels) {
  fixed <- intersect(c("objective", "quantile_alpha"), canonical_name(names(args)))
  if (length(fixed)) {
    stop_argument(sprintf("`%s` is fixed in mode \"quantile regression\"; give levels by set_mode(quantile_levels = )",
                          fixed[1L]), fixed[1L])
  }
  if (!is.numeric(levels) || anyNA(levels) || !all(levels > 0 & levels < 1) || is.unsorted(levels, strictly = TRUE)) {
    stop_argument("`quantile_levels` must be numbers larger than 0 and less than 1, ascending", "quantile_levels")
  }
  engine_model(x, y, c(args, list(objective = "quantile", quantile_alpha = levels)))
}

# boost_tree()'s arguments, what gbt_engine_fit() calls them, and the functions of dials that say their ranges, with a
# range where that of dials is not one of boosting: it lets the learning rate be 1e-10 (exponents of 10 here), and the
# share of rows a tenth. Those below are arguments of set_engine(), listed here so that tune() has a range for them.
#
# No argument has submodels, `trees` neither: the rule for `eta` looks at the number of rounds, and with early stopping
# the first rounds of a long training are not the model of fewer rounds. tune would rate models by the first
# rounds of the longest training, which fit() with these `trees` does not give.
parsnip_arguments <- list(
  trees = list("nrounds", fun = "trees"), tree_depth = list("max_depth", fun = "tree_depth"),
  learn_rate = list("eta", fun = "learn_rate", range = c(-3, -0.5)), mtry = list("mtry", fun = "mtry"),
  min_n = list("min_data_in_leaf", fun = "min_n"), loss_reduction = list("gamma", fun = "loss_reduction"),
  sample_size = list("sample_size", fun = "sample_prop", range = c(0.5, 1)),
  stop_iter = list("stop_iter", fun = "stop_iter"),

  lambda = list("lambda", fun = "penalty_L2"), alpha = list("alpha", fun = "penalty_L1"),
  max_leaves = list("max_leaves", fun = "num_leaves"),
  scale_pos_weight = list("scale_pos_weight", fun = "scale_pos_weight"),
  colsample_bytree = list("colsample_bytree", fun = "sample_prop", range = c(0.3, 1))
)

register_parsnip <- function() {
  set <- function(name, ...) get_exported("parsnip", name)(model = "boost_tree", eng = "gbt", ...)
  from <- get_exported("parsnip", "get_from_env")
  if ("gbt" %in% from("boost_tree")$engine) return(invisible())
  quantiles <- "quantile regression" %in% from("boost_tree_modes") # parsnip 1.6.0 and newer
  censored <- "censored regression" %in% from("boost_tree_modes")
  for (mode in c("regression", "classification", if (quantiles) "quantile regression",
                 if (censored) "censored regression")) {
    levels <- if (mode == "quantile regression") list(quantile_levels = quote(quantile_levels))
    get_exported("parsnip", "set_model_engine")("boost_tree", mode, "gbt")
    set("set_dependency", pkg = "gbt", mode = mode)
    set("set_fit", mode = mode, value = c(parsnip_interface(mode == "censored regression"), list(
      func = c(pkg = "gbt", fun = "gbt_engine_fit"), defaults = c(list(threads = 1), levels)
    )))
    set("set_encoding", mode = mode, options = list(
      predictor_indicators = "none", compute_intercept = FALSE, remove_intercept = FALSE, allow_sparse_x = TRUE
    ))
  }
  for (argument in names(parsnip_arguments)) {
    to <- parsnip_arguments[[argument]]
    set("set_model_arg", parsnip = argument, original = to[[1L]], func = c(list(pkg = "dials"), to[-1L]),
        has_submodel = FALSE)
  }
  by_predict <- function(type, post = NULL) {
    list(pre = NULL, post = post, func = c(pkg = NULL, fun = "predict"),
         args = list(object = quote(object$fit), newdata = quote(new_data), type = type))
  }
  set("set_pred", mode = "regression", type = "numeric",
      value = by_predict("response", function(x, object) {
        if (is.matrix(x)) as.data.frame(x, optional = TRUE) else as.vector(x) # a column for each of the response
      }))
  set("set_pred", mode = "regression", type = "raw", value = by_predict("link"))
  set("set_pred", mode = "classification", type = "class", value = by_predict("class"))
  set("set_pred", mode = "classification", type = "prob",
      value = by_predict("prob", function(x, object) parsnip_probabilities(x, object$lvl)))
  set("set_pred", mode = "classification", type = "raw", value = by_predict("link"))
  if (quantiles) {
    as_levels <- get_exported("parsnip", "matrix_to_quantile_pred")
    set("set_pred", mode = "quantile regression", type = "quantile",
        value = by_predict("response", function(x, object) as_levels(as.matrix(x), object)))
  }
  if (censored) set_censored_predictions(set, by_predict, quantiles)
}

# parsnip gives models of times the formula and the data: it has no other form for them.
parsnip_interface <- function(by_formula) {
  if (!by_formula) return(list(interface = "data.frame", protect = c("x", "y", "weights")))
  list(interface = "formula", protect = c("formula", "data", "weights"),
       data = c(formula = "x", data = "y", weights = "weights"))
}

# Types of mode "censored regression", by the conventions of package censored. set, by_predict: of register_parsnip().
# quantiles: does parsnip have quantile_levels?
set_censored_predictions <- function(set, by_predict, quantiles) {
  mode <- "censored regression"
  plain <- function(x, object) as.vector(x)
  set("set_pred", mode = mode, type = "time", value = by_predict("time", plain))
  set("set_pred", mode = mode, type = "raw", value = by_predict("link"))
  set("set_pred", mode = mode, type = "linear_pred", value = by_predict("link", function(x, object) {
    -risk_of_scores(object$fit, x) # rises with time
  }))
  curves <- by_predict("survival", function(x, object) { # called where parsnip has the times as they were given
    parsnip_curves(x, get0("eval_time", parent.frame(), inherits = FALSE))
  })
  curves$args$times <- quote(sort(eval_time))
  set("set_pred", mode = mode, type = "survival", value = curves)
  if (!quantiles) return(invisible())
  as_levels <- get_exported("parsnip", "matrix_to_quantile_pred")
  times <- by_predict("quantile", function(x, object) {
    as_levels(matrix(x, ncol = length(object$spec$quantile_levels)), object)
  })
  times$args$probs <- quote(quantile_levels)
  set("set_pred", mode = mode, type = "quantile", value = times)
}

# A matrix of curves as a list of tables, one for each row. times: in the order that is wanted.
parsnip_curves <- function(x, times) {
  need_package("tibble", "predict(type = \"survival\")")
  x <- x[, match(times, attr(x, "times")), drop = FALSE]
  each <- lapply(seq_len(nrow(x)), function(i) {
    tibble::new_tibble(list(.eval_time = times, .pred_survival = unname(x[i, ])), nrow = length(times))
  })
  tibble::tibble(.pred = each)
}

# A column for each level of the response, also for those that no training row had.
parsnip_probabilities <- function(prob, levels) {
  all <- matrix(0, nrow(prob), length(levels), dimnames = list(NULL, levels))
  all[, colnames(prob)] <- prob
  as_tibble_if_there(as.data.frame(all, optional = TRUE))
}

# Predictions by several numbers of rounds: for each row a table with a row for each number. By parsnip a fit has the
# class of the model after "_". A number above the rounds that predictions use counts as these.
#' @rawNamespace S3method(parsnip::multi_predict, "_gbt")
multi_predict._gbt <- function(object, new_data, type = NULL, trees = NULL, ...) {
  if ("newdata" %in% names(written_dots(...))) stop_argument("the rows to predict are `new_data`", "newdata")
  check_no_dots(written_dots(...), c("new_data", "type", "trees"))
  need_package("tibble", "multi_predict()")
  if (identical(object$spec$mode, "censored regression")) {
    stop_unsupported("multi_predict() is not offered for censored regression; train a model with fewer `trees`", "type")
  }
  classes <- !is.null(object$lvl)
  choices <- if (classes) c("class", "prob", "raw") else c("numeric", "raw")
  type <- match_choice(type, choices, "type")
  model <- object$fit
  last <- rounds_used(model)
  if (is.null(trees)) trees <- last
  if (!is.numeric(trees) || !length(trees) || !all(is.finite(trees) & trees >= 0 & trees == floor(trees))) {
    stop_argument("`trees` must be whole numbers, at least 0", "trees")
  }
  trees <- sort(unique(as.integer(pmin(trees, .Machine$integer.max))))
  parts <- lapply(trees, function(k) {
    out <- stats::predict(model, new_data, trees = min(k, last),
                          type = switch(type, numeric = "response", raw = "link", type))
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
