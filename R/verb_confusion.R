# Counts of predicted by observed classes: gbt_confusion().

#' Confusion matrix
#'
#' Counts how often each class is predicted where each class was observed, with accuracy and, by class, precision,
#' recall and F1. The predicted class is the most probable one; of two classes it is the second one if its probability
#' is above `threshold`, as for metrics `"accuracy"` and `"f1"`.
#'
#' @param model A model of classes from [gbt_train()], a calibrated one from [gbt_calibrate()], or a [gbt_cv()] with
#'   `keep_models = TRUE`, for its predictions of held-out rows.
#' @param x,data,y,weights,offset,trees,threads As in [gbt_evaluate()].
#' @param ... Must be empty: a misspelt argument is an error.
#' @param threshold For two classes: the probability of the second one above which it is predicted.
#' @return An object of class `gbt_confusion`, a list with
#'   \item{table}{a table of counts, or of sums of weights, with a row for each predicted and a column for each observed
#'     class, in the order of the model's classes}
#'   \item{classes}{data frame with a row for each class: `class`, `precision`, `recall`, `f1`, `observed` and
#'     `predicted` (counts or weights). `NaN` where a class was never predicted or observed}
#'   \item{accuracy, threshold, rows}{share of right predictions; the threshold, `NULL` with several classes; number of
#'     rows}
#'
#' with methods for `print()`, `plot()` and `as.data.frame()` (the table).
#' @seealso [gbt_evaluate()], [gbt_curve()]
#' @concept confusion matrix
#' @concept precision and recall
#' @examples
#' train <- seq_len(nrow(iris)) %% 3 > 0
#' m <- gbt_train(Species ~ ., iris[train, ], nrounds = 20, threads = 1)
#' confusion <- gbt_confusion(m, iris[!train, ], threads = 1)
#' confusion
#' plot(confusion)
#' @export
gbt_confusion <- function(model, x, y = NULL, ..., threshold = 0.5, weights = NULL, offset = NULL, trees = NULL,
                          threads = NULL, data = NULL) {
  check_no_dots(written_dots(...), names(formals(gbt_confusion)))
  if (missing(model)) stop_argument("`model` is missing: gbt_confusion(model, data)", "model")
  check_judged(model)
  refuse_columns(judged_model(model), paste("a confusion matrix takes one; of labels table(y[, 1], predict(model, x,",
                                            "type = \"class\")[, 1]) counts a column"))
  x <- rows_given(if (!missing(x)) list(x), data, "gbt_confusion", in_parts = TRUE)
  if (!is_number(threshold, 0, 1)) stop_argument("`threshold` must be a number from 0 to 1", "threshold")
  offset <- given_in_data("offset", x)
  if (chunked_rows(x)) {
    its <- read_judged(model, x, y, "weights", offset, NULL, trees, threads)
    x <- its$x
    y <- its$y
    offset <- trees <- NULL
  }
  y <- response_to_judge(y, x)
  weights <- column_or_values(given_in_data("weights", x), x)
  rows <- rows_to_judge(model, x, y, weights, offset, NULL, trees, threads)
  classes <- class_labels(rows$model)
  if (is.null(classes) || any(rows$label != floor(rows$label))) {
    stop_unsupported("a confusion matrix needs a model of classes, not of numbers; see gbt_evaluate()", "model")
  }
  if (ncol(rows$score) > 1L && !missing(threshold)) {
    stop_argument("`threshold` needs two classes; of several the most probable one is predicted", "threshold")
  }
  known <- given_or(rows$known, as_columns(responses_of(rows$model, rows$score, resolve_threads(threads))))
  predicted <- if (ncol(known) == 1L) 1L + (known[, 1L] > threshold) else
    max.col(given_or(rows$known, rows$score), "first")
  confusion_of(predicted, as.integer(rows$label) + 1L, rows$weight, classes, if (ncol(known) == 1L) threshold)
}

confusion_of <- function(predicted, observed, weight, classes, threshold) {
  n <- length(classes)
  cell <- factor(predicted + n * (observed - 1), seq_len(n * n))
  sums <- if (is.null(weight)) tabulate(cell, n * n) else as.vector(tapply(weight, cell, sum, default = 0))
  counts <- matrix(sums, n, n, dimnames = list(predicted = classes, observed = classes))
  hits <- diag(counts)
  each <- list(class = factor(classes, classes), precision = hits / rowSums(counts), recall = hits / colSums(counts),
               f1 = 2 * hits / (rowSums(counts) + colSums(counts)), observed = colSums(counts),
               predicted = rowSums(counts))
  structure(class = "gbt_confusion", list(
    table = structure(counts, class = "table"), classes = list_frame(lapply(each, unname), n),
    accuracy = sum(hits) / sum(counts), threshold = threshold, rows = length(observed)
  ))
}

#' @export
print.gbt_confusion <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  digits <- check_digits(digits, 3L)
  cat(sprintf("<gbt_confusion> %s, accuracy %s%s\n\n", counted(x$rows, "row"), format(x$accuracy, digits = digits),
              if (is.null(x$threshold)) "" else sprintf(", threshold %s", format(x$threshold))))
  print(x$table)
  cat("\n")
  print(x$classes, digits = digits, row.names = FALSE)
  invisible(x)
}

#' @export
summary.gbt_confusion <- function(object, ...) as_printed(object, list(...))

#' @export
as.data.frame.gbt_confusion <- function(x, ...) as.data.frame(x$table, responseName = "weight")
