# Quantiles along a column, beside what was observed: gbt_fan().

#' Fan chart of quantiles
#'
#' The predicted quantiles along a column, or along the middle quantile, and the share of observed values below each of
#' them. For quantile 0.1 of a good model this share is about a tenth, over all rows and in each part of the axis.
#' `plot()` draws a fan chart: a band between each pair of quantiles, the middle one as a line, and the observed values.
#'
#' @param model A model of objective `"quantile"` with several levels, `quantile_alpha = c(0.1, 0.5, 0.9)`, or of
#'   distributions, such as `"dist_normal"`.
#' @param data The rows: a data frame or a matrix in memory.
#' @param x The name of a column of numbers or dates, or a number for each row. `NULL`: the middle quantile.
#' @param y What was observed; a formula's response is found in `data`. Without it there are no shares.
#' @param probs Of a model of distributions: the levels, two at least. `NULL`: 0.05, 0.25, 0.5, 0.75 and 0.95. A model
#'   of quantiles has its own.
#' @param bins Number of groups of rows along `x`, of about equal size.
#' @param offset,exposure,trees,threads As in [predict()][predict.gbt].
#' @param ... Must be empty: a misspelt argument is an error.
#' @return A data frame of class `gbt_fan` with a row for each group: `x`, the mean of its rows, the mean of each
#'   quantile (`q0.1`, ...), and `rows`. Its attribute `below` has the share of observed values that are at most the
#'   quantile, by level, and `observed` the rows' own `x` and `y`, and whether `y` is
#'   `inside` of the row's outer quantiles.
#' @seealso [gbt_objectives()] for the objective; [gbt_conformal()] for intervals with a guarantee;
#'   `vignette("uncertainty", package = "gbt")`
#' @concept fan chart
#' @concept prediction interval
#' @concept quantile regression
#' @examples
#' set.seed(1)
#' d <- data.frame(x = runif(500))
#' d$y <- d$x + rnorm(500) * (0.1 + d$x)
#' m <- gbt_train(y ~ x, d, objective = "quantile", quantile_alpha = c(0.1, 0.25, 0.5, 0.75, 0.9),
#'                nrounds = 50, eta = 0.1, max_depth = 3, threads = 1)
#' fan <- gbt_fan(m, d, "x", threads = 1)
#' fan
#' plot(fan)
#' @export
gbt_fan <- function(model, data, x = NULL, y = NULL, ..., bins = 50, offset = NULL, exposure = NULL, trees = NULL,
                    threads = NULL, probs = NULL) {
  check_no_dots(written_dots(...), names(formals(gbt_fan)))
  if (missing(model)) stop_argument("`model` is missing: gbt_fan(model, data)", "model")
  check_model(model, "model")
  levels <- fan_levels(model, probs)
  if (missing(data)) stop_argument("`data` is missing; give the rows to predict", "data")
  bins <- check_whole(bins, "bins", 1, 10000)
  rows <- explained_data(model, data)
  n <- n_rows_of(rows)
  if (n == 0) stop_data("the data have no rows", "data")
  ask <- list(model, rows, offset = given_in_data("offset", data), exposure = given_in_data("exposure", data),
              trees = trees, threads = threads)
  if (is_distribution(model$objective)) ask <- c(ask, list(type = "quantile", probs = levels))
  pred <- do.call(predict, ask, quote = TRUE)
  label <- if (!is.null(y) || has_response(model, data)) given_labels(model, data, y, n)
  written <- substitute(x)
  x <- given_in_data("x", data)
  if (is.name(written) && is.data.frame(data) && as.character(written) %in% names(data)) x <- as.character(written)
  along <- fan_axis(x, data, pred, levels)
  fan_of(along, pred, label, levels, bins)
}

# The levels of a fan, ascending.
fan_levels <- function(model, probs) {
  levels <- levels_of(model)
  if (!is_distribution(model$objective)) {
    if (is.null(levels)) {
      stop_unsupported(paste("gbt_fan() needs a model of several quantiles: objective = \"quantile\" with",
                             "`quantile_alpha = c(0.1, 0.5, 0.9)`, or of distributions, such as \"dist_normal\""),
                       "model")
    }
    if (!is.null(probs)) stop_argument("a model of quantiles has its own levels; leave `probs` out", "probs")
    return(levels)
  }
  probs <- unique(sort(check_probs(given_or(probs, c(0.05, 0.25, 0.5, 0.75, 0.95)))))
  if (length(probs) < 2L) stop_argument("`probs` must be two numbers at least", "probs")
  probs
}

# list(at = a number or date for each row, name).
fan_axis <- function(x, data, pred, levels) {
  if (is.null(x)) {
    middle <- which.min(abs(levels - 0.5))
    return(list(at = unname(pred[, middle]), name = sprintf("quantile %s", format_number(levels[middle]))))
  }
  name <- if (is_text(x) && length(x) == 1L) x else "x"
  at <- column_or_values(x, data, "x")
  if (inherits(at, "POSIXlt")) at <- as.POSIXct(at)
  fits <- (is.numeric(at) || inherits(at, c("Date", "POSIXct"))) && length(at) == nrow(pred)
  if (!fits) {
    stop_argument(sprintf(paste("`x` must be a column of numbers or dates, or a number for each of the %s, not %s"),
                          counted(nrow(pred), "row"), describe(at)), "x")
  }
  list(at = at, name = name)
}

fan_of <- function(along, pred, label, levels, bins) {
  known <- which(is.finite(as.double(along$at)))
  if (length(known) == 0L) stop_data(sprintf("column `%s` has no finite value", along$name), "x")
  at <- along$at[known]
  group <- row_groups(as.double(at), bins)
  mean_of <- function(v) as.vector(tapply(as.double(v), group, mean))
  middle <- mean_of(at)
  out <- data.frame(x = if (is.object(at)) structure(middle, class = class(at), tzone = attr(at, "tzone")) else middle)
  for (k in seq_along(levels)) out[[level_labels(levels)[k]]] <- mean_of(pred[known, k])
  out$rows <- tabulate(group)
  below <- if (!is.null(label)) colMeans(label <= pred)
  inside <- if (!is.null(label)) label >= pred[, 1L] & label <= pred[, ncol(pred)]
  structure(out, class = c("gbt_fan", "data.frame"), levels = levels, name = along$name, below = below,
            inside = if (!is.null(label)) mean(inside),
            observed = if (!is.null(label)) list(x = at, y = label[known], inside = inside[known]))
}

# Groups of about as many rows by a number, equal ones in the same group: numbers from 1 to k at most.
row_groups <- function(x, k) {
  breaks <- unique(stats::quantile(x, seq_len(k - 1L) / k, names = FALSE, type = 1L))
  as.integer(factor(findInterval(x, breaks, left.open = TRUE)))
}

# Can the response of a formula be found in the data?
has_response <- function(model, data) {
  if (is.null(model$formula) || !is.data.frame(data)) return(FALSE)
  all(all.vars(parse_formula(model$formula)[[2L]]) %in% names(data))
}

#' @export
print.gbt_fan <- function(x, ...) {
  levels <- attr(x, "levels")
  if (is.null(levels) || is.null(x[["rows"]])) return(NextMethod())
  cat(sprintf("quantiles of %s along %s\n", counted(sum(x$rows), "row"), printable(attr(x, "name"))))
  below <- attr(x, "below")
  if (is.null(below)) {
    cat(sprintf("levels %s\n", paste(format_number(levels), collapse = ", ")))
  } else {
    print(data.frame(level = levels, share_observed = round(unname(below), 4L)), row.names = FALSE)
    cat(sprintf("between the outer ones: %s\n", format(attr(x, "inside"), digits = 4L)))
  }
  invisible(x)
}
