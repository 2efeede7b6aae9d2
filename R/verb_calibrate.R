# Calibrated probabilities of classes: gbt_calibrate().

#' Calibrated probabilities
#'
#' Corrects the probabilities of a model, using rows that were not used in training. Many rounds of boosting, class
#' weights (`scale_pos_weight`) and sampling by class can make probabilities differ from observed frequencies, while the
#' order of the rows is still right.
#'
#' @section Methods:
#' * `"isotonic"`: isotonic regression, the best increasing function of the probability p, both for squared error and
#'   log loss (pool adjacent violators, Ayer and others, 1955). It is linear between the values of p in the data, and
#'   constant outside of them. It needs some hundreds of rows of each class, and may give probabilities of exactly 0 and
#'   1.
#' * `"platt"`: logistic regression on the model's score, log(p / (1 - p)), with the targets of Platt (1999),
#'   (N1 + 1) / (N1 + 2) and 1 / (N0 + 2) for N1 rows of the class and N0 others, which keep it finite.
#' * `"beta"`: logistic regression on log(p) and log(1 - p) (Kull and others, 2017), with the same targets. The function
#'   never decreases: a term with a coefficient of the wrong sign is left out.
#'
#' For the last two, p is kept within 1e-15 and 1 - 1e-15. More than two classes are calibrated one-vs-rest, and the
#' results divided by their sum; if all of them are 0, the probabilities of the model are kept. Each column of a
#' response of several columns is calibrated separately, with the rows that have a value there.
#'
#' @param model A model of classes from [gbt_train()] (objective `"logistic"` or `"softmax"`).
#' @param data Rows for calibration, which the model was not trained on, as for [predict()][predict.gbt]. Not needed if
#'   both `cv` and `y` are given.
#' @param y Their classes; a formula's response is found in `data`.
#' @param method One of the methods below.
#' @param cv A [gbt_cv()] of the same data. Its predictions for held-out rows are used instead of those of the model, so
#'   `model` may be trained on all rows ([gbt_refit()]). `data` and `y` are the rows of `cv`. Rows that no fold held out
#'   are ignored.
#' @param weights Weights of the rows: weight 2 is the row twice. Columns of a data frame may be named. For N1 and N0,
#'   weights that sum to less than the number of rows, such as shares of 1, count as if they summed to it.
#' @param offset For models with an offset: that of the rows; columns of a data frame may be named. For `predict()`
#'   values.
#' @param trees Number of rounds to use, see [predict()][predict.gbt].
#' @param threads Number of threads, see [gbt_threads()].
#' @param ... Must be empty: a misspelt argument is an error.
#' @return An object of class `gbt_calibrated`, which [saveRDS()] can store: a list with
#'   \item{model, method, trees}{the arguments}
#'   \item{maps}{what was learned, for the second of two classes or for each of more, or for each column}
#'   \item{n}{number of rows for calibration}
#'   \item{log_loss}{log loss of these rows, `before` and `after`}
#' @seealso [plot.gbt_calibrated()]; [gbt_evaluate()], [predict()][predict.gbt], [gbt_cv()], [gbt_conformal()]
#' @concept calibration of probabilities
#' @examples
#' set.seed(1)
#' x <- data.frame(a = runif(400), b = runif(400))
#' x$y <- factor(runif(400) < x$a, labels = c("no", "yes"))
#' train <- 1:200
#' m <- gbt_train(y ~ ., x[train, ], nrounds = 100, threads = 1)
#' fit <- gbt_calibrate(m, x[-train, ], method = "platt", threads = 1)
#' fit
#' predict(fit, data.frame(a = c(0.1, 0.9), b = 0.5), threads = 1)
#'
#' cv <- gbt_cv(y ~ ., x, folds = 4, nrounds = 20, seed = 1, threads = 1)
#' predict(gbt_calibrate(gbt_refit(cv), x, cv = cv, threads = 1), x[1:3, ], type = "prob", threads = 1)
#' @export
gbt_calibrate <- function(model, data = NULL, y = NULL, ..., method = c("isotonic", "platt", "beta"), cv = NULL,
                          weights = NULL, offset = NULL, trees = NULL, threads = NULL) {
  check_no_dots(written_dots(...), names(formals(gbt_calibrate)))
  if (missing(model)) stop_argument("`model` is missing: gbt_calibrate(model, data)", "model")
  check_calibrated_model(model)
  method <- match_choice(method, c("isotonic", "platt", "beta"), "method")
  rounds <- check_rounds(trees, model)
  weights <- given_in_data("weights", data)
  offset <- given_in_data("offset", data)
  if (is.null(cv)) {
    if (is.null(data)) stop_argument("`data` is missing: give rows that were not used in training", "data")
    prob <- predict.gbt(model, data, "prob", trees = rounds, offset = offset, threads = threads)
  } else {
    if (!is.null(offset)) {
      stop_argument("`offset` cannot be combined with `cv`, which has its predictions already; leave it out", "offset")
    }
    if (is.null(data) && is.null(y)) {
      stop_argument("the observed classes of the rows of `cv` are missing; give `data` or `y`", "y")
    }
    prob <- held_out_probabilities(cv, model)
  }
  n <- nrow(prob)
  if (n == 0) stop_data("the data have no rows", "data")
  label <- given_labels(model, data, y, n)
  if (!is.null(cv)) check_rows_of_cv(cv, label)
  weight <- check_rating_weights(given_or(weights, if (is.null(cv)) weights_kept(data)), n)
  if (is.null(weight)) weight <- rep(1, n)
  if (sum(weight) == Inf) stop_data("`weights` have an infinite sum; divide them by their mean", "weights")
  at <- which(weight > 0 & !is.na(prob[, 1L]))
  prob <- unname(prob[at, , drop = FALSE])
  label <- label[at]
  weight <- weight[at]
  maps <- if (is.null(model$columns)) maps_of_classes(prob, label, weight, method, model) else
    maps_of_columns(prob, matrix_of_label(label), weight, method)
  out <- structure(class = "gbt_calibrated", list(model = model, method = method, trees = rounds, maps = maps,
                                                  n = as.double(length(at))))
  out$log_loss <- c(before = mean_log_loss(prob, label, weight),
                    after = mean_log_loss(calibrated(out, prob), label, weight))
  out
}

maps_of_classes <- function(prob, label, weight, method, model) {
  check_each_class(label, model)
  of <- if (ncol(prob) == 2L) 2L else seq_len(ncol(prob))
  lapply(of, function(k) calibration_map(prob[, k], as.double(label == k - 1), weight, method))
}

# A map for each column of a response of labels, from the rows that have a value there. m: a matrix of 0, 1 and NA.
maps_of_columns <- function(prob, m, weight, method) {
  lapply(seq_len(ncol(m)), function(k) {
    at <- which(!is.na(m[, k]))
    y <- m[at, k]
    name <- colnames(m)[k]
    check_columns_filled(m[, k, drop = FALSE], "cannot be calibrated")
    share <- which(y != floor(y))
    if (length(share)) {
      stop_unsupported(sprintf("calibration needs labels of 0 and 1, and column `%s` has shares such as %s", name,
                               format(y[share[1L]])), "y")
    }
    if (length(unique(y)) < 2L) {
      stop_data(sprintf("column `%s` has not both values in the rows for calibration; give rows of both", name), name)
    }
    calibration_map(prob[at, k], y, weight[at], method)
  })
}

check_calibrated_model <- function(model) {
  if (inherits(model, "gbt_cv")) {
    stop_argument("`model` must be one model, not a gbt_cv(); make it with gbt_refit(), and give the gbt_cv() as `cv`",
                  "model")
  }
  check_model(model, "model")
  if (is.null(class_labels(model))) {
    stop_unsupported(sprintf(paste("calibration needs a model of classes; this one has objective \"%s\" and predicts",
                                   "numbers"), model$objective), "model")
  }
}

# The probabilities of a cross-validation's held-out rows: a column for each class.
held_out_probabilities <- function(cv, model) {
  if (!inherits(cv, "gbt_cv")) {
    stop_argument(sprintf("`cv` must be the result of gbt_cv(), not %s", describe(cv)), "cv")
  }
  if (!identical(cv$objective, model$objective) || !identical(cv$classes, model$classes)) {
    stop_argument("`cv` has another objective or other classes than `model`; train both on the same data", "cv")
  }
  pred <- cv$predictions
  if (is.matrix(pred)) pred else cbind(1 - pred, pred, deparse.level = 0)
}

check_each_class <- function(label, model) {
  labels <- class_labels(model)
  share <- which(label != floor(label)) # objective "logistic" takes them
  if (length(share)) {
    stop_unsupported(sprintf("calibration needs classes: a response of 0 and 1, not of shares such as %s",
                             format(label[share[1L]])), "y")
  }
  count <- tabulate(label + 1, length(labels))
  if (sum(count > 0) == 1L) {
    stop_data(sprintf("all rows for calibration are of class \"%s\"; give rows of every class", labels[count > 0]), "y")
  }
  if (any(count == 0)) {
    stop_data(sprintf("no row for calibration is of class %s; give rows of every class",
                      enumerate(labels[count == 0], quote = "\"")), "y")
  }
}

# Of several columns the mean over their cells.
mean_log_loss <- function(prob, label, weight) {
  m <- matrix_of_label(label)
  if (!is.null(m)) {
    there <- !is.na(m)
    loss <- -log(ifelse(m[there] == 1, prob[there], 1 - prob[there]))
    return(sum(loss * weight[row(m)[there]]) / sum(weight[row(m)[there]]))
  }
  sum(-log(prob[cbind(seq_along(label), label + 1)]) * weight) / sum(weight)
}

# Maps: what a probability becomes ------------------------------------------------------------------------------------

# p: probabilities of a class, y: 1 for rows of it, else 0. A list: knots (p, value) for "isotonic"; coefficients
# (constant, log(p), -log(1 - p)) for the others.
calibration_map <- function(p, y, weight, method) {
  if (method == "isotonic") isotonic_map(p, y, weight) else logistic_map(p, y, weight, method)
}

isotonic_map <- function(p, y, weight) {
  at <- order(p)
  p <- p[at]
  first <- !duplicated(p)
  sums <- rowsum(cbind(weight * y, weight)[at, , drop = FALSE], cumsum(first), reorder = FALSE)
  p <- p[first]
  blocks <- pool_violators(sums[, 1L], sums[, 2L])
  ends <- blocks$last
  begins <- c(1L, ends[-length(ends)] + 1L)
  both <- rbind(begins, ends)
  keep <- rbind(rep(TRUE, length(ends)), begins < ends)
  list(p = p[both[keep]], value = rep(blocks$value, each = 2L)[keep])
}

# The rising sequence that is nearest to total / weight, in squares of these weights: list(last, value) of its blocks
# of equal values. Each element joins a block once and is taken off the stack once, so time is linear.
pool_violators <- function(total, weight) {
  n <- length(total)
  last <- integer(n)
  top <- 0L
  for (i in seq_len(n)) {
    sum <- total[i]
    over <- weight[i]
    while (top > 0L && total[top] / weight[top] >= sum / over) {
      sum <- total[top] + sum
      over <- weight[top] + over
      top <- top - 1L
    }
    top <- top + 1L
    total[top] <- sum # top <= i: these have been read
    weight[top] <- over
    last[top] <- i
  }
  used <- seq_len(top)
  list(last = last[used], value = unname(total[used] / weight[used]))
}

# The fit does not depend on the scale of the weights, but its numbers would: weights of a mean of 1 are taken.
logistic_map <- function(p, y, weight, method) {
  total <- max(sum(weight), length(weight))
  weight <- weight / max(weight)
  weight <- weight / mean(weight)
  n1 <- total * mean(weight * y)
  n0 <- total * mean(weight * (1 - y))
  target <- ifelse(y == 1, (n1 + 1) / (n1 + 2), 1 / (n0 + 2))
  part <- log_parts(p)
  if (method == "platt") {
    b <- logistic_coefficients(part[, 1L] + part[, 2L], target, weight)
    return(list(coefficients = c(b[1L], b[2L], b[2L])))
  }
  used <- c(TRUE, TRUE)
  repeat {
    b <- numeric(3)
    b[c(TRUE, used)] <- logistic_coefficients(part[, used, drop = FALSE], target, weight)
    if (all(b[-1L] >= 0)) return(list(coefficients = b))
    used[which.min(b[-1L])] <- FALSE
  }
}

# log(p) and -log(1 - p), whose sum is the score.
log_parts <- function(p) {
  p <- pmin(pmax(p, 1e-15), 1 - 1e-15)
  cbind(log(p), -log1p(-p))
}

# Constant and slopes; a slope that the data leave open is 0.
logistic_coefficients <- function(x, target, weight) {
  fit <- suppressWarnings(stats::glm.fit(cbind(1, x), target, weight, family = stats::quasibinomial(),
                                         control = list(epsilon = 1e-12, maxit = 100)))
  if (!fit$converged) {
    warn_gbt("calibration", paste("logistic regression for calibration did not converge;",
                                  "`method = \"isotonic\"` does not need it"))
  }
  b <- unname(fit$coefficients)
  ifelse(is.na(b), 0, b)
}

mapped <- function(map, p) {
  b <- map$coefficients
  if (!is.null(b)) {
    part <- log_parts(p)
    return(stats::plogis(b[1L] + b[2L] * part[, 1L] + b[3L] * part[, 2L]))
  }
  if (length(map$p) == 1L) return(rep(map$value, length(p)))
  stats::approx(map$p, map$value, p, rule = 2)$y
}

# prob: the model's, a column for each class.
calibrated <- function(object, prob) {
  maps <- object$maps
  out <- prob
  if (length(maps) == 1L) {
    out[, 2L] <- mapped(maps[[1L]], prob[, 2L])
    out[, 1L] <- 1 - out[, 2L]
    return(out)
  }
  for (k in seq_along(maps)) out[, k] <- mapped(maps[[k]], prob[, k])
  if (!is.null(object$model$columns)) return(out)
  total <- rowSums(out)
  none <- which(total == 0)
  out[none, ] <- prob[none, ]
  total[none] <- 1
  out / total
}

#' @rdname gbt_calibrate
#' @param object The result of `gbt_calibrate()`.
#' @param newdata,unseen Rows to predict, see [predict()][predict.gbt].
#' @param type `"response"`: for two classes the probability of the second one, else a matrix with a column for each;
#'   `"prob"`: a matrix in any case; `"class"`: the most probable class, the first of equals.
#' @export
predict.gbt_calibrated <- function(object, newdata, type = c("response", "prob", "class"), offset = NULL,
                                   unseen = c("prior", "missing", "error"), threads = NULL, ...) {
  dots <- list(...)
  if ("trees" %in% names(dots)) {
    stop_argument("`trees` is given to gbt_calibrate(): other rounds need another calibration", "trees")
  }
  check_no_dots(dots, names(formals(predict.gbt_calibrated)))
  type <- match_choice(type, c("response", "prob", "class"), "type")
  if (missing(newdata)) stop_argument("`newdata` is missing; give the rows to predict", "newdata")
  prob <- predict.gbt(object$model, newdata, "prob", trees = object$trees, offset = offset, unseen = unseen,
                      threads = threads)
  prob <- calibrated(object, prob)
  if (!is.null(object$model$columns)) return(if (type == "class") prob > 0.5 else prob)
  if (type == "prob" || type == "response" && ncol(prob) > 2L) return(prob)
  out <- if (type == "response") unname(prob[, 2L]) else as_classes(max.col(prob, "first"), object$model)
  if (!is.null(rownames(prob))) names(out) <- rownames(prob)
  out
}

#' @export
summary.gbt_calibrated <- function(object, ...) as_printed(object, list(...))

#' @export
print.gbt_calibrated <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  digits <- check_digits(digits, 3L)
  cat(sprintf("<gbt_calibrated> method \"%s\", %s, %s for calibration\n", x$method,
              if (is.null(x$model$columns)) sprintf("%d classes", length(class_labels(x$model))) else
                columns_text(x$model$columns), counted(x$n, "row")))
  cat(sprintf("log loss of these rows: %s, before %s\n", format(x$log_loss[["after"]], digits = digits),
              format(x$log_loss[["before"]], digits = digits)))
  invisible(x)
}
