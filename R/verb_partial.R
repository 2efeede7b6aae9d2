# Partial dependence: gbt_partial().

#' Partial dependence and accumulated local effects
#'
#' The average prediction of a model when one or two columns have the same value in all rows, for a grid of values
#' (Friedman, 2001). Also the curves of single rows (ICE: individual conditional expectation, Goldstein and others,
#' 2015). `method = "ale"` gives accumulated local effects instead (ALE, Apley and Zhu, 2020), which exclude the effects
#' of correlated columns.
#'
#' At most `rows` rows of `data` are used, drawn at random by `seed`. For each value of the grid, the columns are set to
#' this value in all of these rows, features of a formula are computed again, and predictions are averaged. This
#' includes combinations of values that do not occur in the data (a heavy car with little power), so effects of strongly
#' correlated columns can mislead.
#'
#' @section Accumulated local effects:
#' Use `method = "ale"` if the column is correlated with others: each row is predicted only at the two ends of the grid
#' interval that contains its own value, which avoids rows that cannot occur. Use partial dependence if columns are
#' nearly independent, or if you want mean predictions and curves of single rows.
#'
#' The mean differences between the ends of each interval are added up from interval to interval. The curve is shifted
#' so that its mean over the rows is 0, with linear interpolation between points of the grid. Rows whose value is
#' missing, or outside `values`, are left out; `print()` and `plot()` count them. Points whose interval has no rows are
#' not in the result.
#'
#' Levels are compared with their neighbours: a difference between two levels is averaged over the rows of both.
#' Ordered factors have their order. Other levels are first put in order by the similarity of their rows, as the package
#' ALEPlot by Apley does. The distance of two levels is a sum over the other columns of the model: of the
#' Kolmogorov-Smirnov distance for numbers, and of half the sum of differences of shares for levels. The first
#' coordinate of multidimensional scaling gives the order; the response plays no part. With `values` the levels have the
#' order in which they are given. At most 1,000 levels are put in order.
#'
#' With two columns, both must be numbers or times. The result is the second-order effect: the joint effect minus the
#' sum of both separate effects, 0 everywhere without an interaction. It is missing at points of the grid without rows
#' nearby.
#'
#' @section Without rows:
#' `method = "recursion"` uses no rows. At splits on the given columns a grid point goes to one side. At other splits it
#' goes to both sides, weighted by the covers of the training rows (Friedman, 2001, section 8.2). This is as fast as
#' predicting the grid, needs no data (without `data` the grid has the values between the thresholds of the trees), and
#' averages raw scores (`type = "link"`). If columns depend on each other, the result differs from the average over
#' rows. Models with transformations in their formula, and columns with target encoding or counts, need rows.
#'
#' @param model A model from [gbt_train()].
#' @param data Rows to average over, as [predict()][predict.gbt] takes them; the training data or others.
#' @param columns Names of one or two columns of the data.
#' @param values The grid: a vector for one column, a list by column for two; `NULL` uses values of the data: all of
#'   them if there are at most `size`, and all levels of factors.
#' @param size Maximum number of values that are taken from the data for a column of numbers or times.
#' @param grid `"quantile"`: quantiles of the data; `"even"`: evenly spaced numbers or times from the smallest to the
#'   largest finite value.
#' @param type What is averaged: `"response"`, `"link"`, `"prob"`, or for distributions `"parameters"`, see
#'   [predict()][predict.gbt]. With `method = "recursion"` it is always `"link"`. For survival the default is `"link"`:
#'   the logarithm of the relative hazard (`"cox"`) or of the time (`"aft"`).
#' @param ice Whether to keep the curves of the rows. For one column.
#' @param centred Whether to subtract from each curve its first value, so that all curves start at 0 and differences
#'   between rows are visible.
#' @param weights Weights of the rows in the average: a number each, or a column of a data frame by its name.
#' @param rows Maximum number of rows to average over; `NULL` for all. The default is larger for ALE, which needs only
#'   two predictions per row.
#' @param offset,exposure,trees,unseen,threads As in [predict()][predict.gbt]. Columns of a data frame may be named as
#'   `offset` and `exposure`; if the exposure of the model is a column, `data` must have it.
#' @param seed Seed for drawing rows, a whole number; `NULL` takes one from R's generator if rows are drawn.
#' @param method `"average"` over rows, `"recursion"` through the trees, or `"ale"`: accumulated local effects. See
#'   below.
#' @param ... Must be empty: a misspelt argument is an error.
#' @return An object of class `gbt_partial`, a list with
#'   \item{columns}{names of the columns}
#'   \item{effects}{data frame: the values of the grid, `output` (if there are several, a factor of classes, columns of
#'     the response, quantiles, parameters of a distribution, or numbers of outputs of your own objective) and
#'     `estimate`}
#'   \item{ice}{data frame: `row` (its number in `data`), the column, `output` and `estimate`; or `NULL`}
#'   \item{type, centred}{as given}
#'   \item{scale}{of models of times: the name of the scale, such as `"log relative hazard"` or `"log time"`}
#'   \item{spread}{list by column: deciles of the values in the data, or numbers of rows by level}
#'   \item{rows, n_obs, seed}{rows that were averaged, rows of the data, and the seed they were drawn by (`NULL` where
#'     all were taken); with `method = "recursion"` `rows` is `NULL`, and `n_obs` the number of training rows}
#'   `as.data.frame()` gives `effects`.
#' @seealso [gbt_importance()], [predict()][predict.gbt]; `vignette("explaining", package = "gbt")`
#' @concept partial dependence
#' @concept ICE
#' @concept accumulated local effects
#' @concept ALE
#' @references Friedman, J. H. (2001) Greedy function approximation: a gradient boosting machine, *Annals of Statistics*
#'   29(5). Goldstein, A. and others (2015) Peeking inside the black box, *Journal of Computational and Graphical
#'   Statistics* 24(1). Apley, D. W. and Zhu, J. (2020) Visualizing the effects of predictor variables in black box
#'   supervised learning models, *Journal of the Royal Statistical Society B* 82(4).
#' @examples
#' m <- gbt_train(mpg ~ ., mtcars, nrounds = 30, threads = 1)
#' gbt_partial(m, mtcars, "wt", threads = 1)
#' gbt_partial(m, mtcars, c("wt", "cyl"), values = list(wt = 2:4, cyl = c(4, 8)), threads = 1)
#'
#' flowers <- gbt_train(Species ~ ., iris, nrounds = 20, threads = 1)
#' curves <- gbt_partial(flowers, iris, "Petal.Length", ice = TRUE, centred = TRUE, threads = 1)
#' head(curves$ice, 3)
#'
#' gbt_partial(m, columns = "wt", method = "recursion")
#'
#' # wt and hp are correlated
#' plot(gbt_partial(m, mtcars, "wt", method = "ale", threads = 1))
#' @export
gbt_partial <- function(model, data, columns, ..., values = NULL, size = 25, grid = c("quantile", "even"),
                        type = c("response", "link", "prob", "parameters"), ice = FALSE, centred = FALSE,
                        weights = NULL, rows = if (identical(method, "ale")) 10000 else 1000, offset = NULL,
                        trees = NULL, unseen = c("prior", "missing", "error"), seed = NULL, threads = NULL,
                        method = c("average", "recursion", "ale"), exposure = NULL) {
  check_all_outputs(written_dots(...), "gbt_partial")
  check_no_dots(written_dots(...), names(formals(gbt_partial)))
  check_model(model, "model")
  method <- match_choice(method, c("average", "recursion", "ale"), "method")
  if (missing(data)) data <- NULL
  asked <- list(columns = if (!missing(columns)) names_given("columns", columns_known(data)), values = values,
                size = check_whole(size, "size", 2, 1e5), grid = match_choice(grid, c("quantile", "even"), "grid"),
                rounds = check_rounds(trees, model), centred = check_flag(centred, "centred"),
                ice = check_flag(ice, "ice"), method = method)
  if (method == "ale") check_ale_request(asked)
  by_type <- !missing(type)
  type <- match_choice(type, c("response", "link", "prob", "parameters"), "type")
  if (method == "recursion") {
    of_rows <- c(ice = !missing(ice), weights = !is.null(given_in_data("weights", data)), rows = !missing(rows),
                 offset = !is.null(given_in_data("offset", data)), unseen = !missing(unseen), seed = !is.null(seed),
                 exposure = !is.null(given_in_data("exposure", data)), threads = !is.null(threads))
    if (any(of_rows)) {
      name <- names(of_rows)[of_rows][1L]
      stop_argument(sprintf("`%s` cannot be combined with `method = \"recursion\"`, which uses no rows; leave it out",
                            name), name)
    }
    if (by_type && type != "link") {
      stop_unsupported("`method = \"recursion\"` averages raw scores; use `type = \"link\"`", "type")
    }
    return(partial_by_cover(model, if (!is.null(data)) explained_data(model, data), asked))
  }
  its <- explain_request(model, data, given_in_data("offset", data), given_in_data("exposure", data),
                         given_in_data("weights", data))
  if (!by_type && predicts_times(its$model)) type <- "link"
  plan <- explain_plan(its$model, type, asked$rounds, unseen, threads)
  partial_by_rows(its, plan, asked, rows, seed)
}

# its: of explain_request(); asked: columns, values, size, grid, centred, ice, method.
partial_by_rows <- function(its, plan, asked, rows, seed) {
  model <- its$model
  columns <- check_effect_columns(asked$columns, columns_of_model(model, its$x))
  if (asked$ice && length(columns) == 2L) {
    stop_unsupported("`ice = TRUE` needs a single column; leave it out, or give one column", "ice")
  }
  if (its$n == 0) stop_data("the data have no rows to average over", "data")
  spread <- lapply(stats::setNames(nm = columns), function(name) {
    values <- column_of(its$x, name)
    if (is.list(values) && !inherits(values, "POSIXlt")) encode_column(values, name) # raises
    spread_of(values)
  })
  ale <- asked$method == "ale"
  grid <- if (ale) ale_grid(model, its$x, columns, asked) else partial_grid(its$x, columns, asked)
  its <- some_rows(its, rows, seed)
  found <- if (ale) ale_effects(its, grid, plan) else
    c(list(points = grid), partial_values(model, its$x, grid, plan, its$weight, its, asked$ice, asked$centred))
  out <- list(columns = columns, effects = effect_frame(found$points, found),
              ice = if (asked$ice) ice_frame(grid, found, its$at), type = plan$type, centred = asked$centred,
              spread = spread, rows = length(its$at), n_obs = its$n, seed = its$seed)
  if (has_own_units(model, plan$type)) out$own_units <- TRUE
  out <- with_scale(out, model)
  structure(class = "gbt_partial", c(out, if (ale) list(method = "ale", left_out = found$left_out)))
}

# An effect of a model of times has the name of its scale.
with_scale <- function(out, model) {
  scale <- scale_words(model, out$type)
  c(out, if (!is.null(scale)) list(scale = scale))
}

# Checks `columns`: one or two known columns. The result also has columns of other names, which these must not have.
check_effect_columns <- function(columns, known) {
  if (is.null(columns)) stop_argument("`columns` is missing; name one or two columns", "columns")
  columns <- check_known_columns(columns, known)
  if (length(columns) > 2L) {
    stop_argument(sprintf("`columns` must be one or two columns, not %d", length(columns)), "columns")
  }
  taken <- intersect(columns, c("output", "estimate", "row"))
  if (length(taken)) stop_unsupported(sprintf("a column cannot be called `%s` here; rename it", taken[1L]), "columns")
  columns
}

# Grids ---------------------------------------------------------------------------------------------------------------

# The values of a column that the grid has: elements of the column, so that they are of its class.
grid_of <- function(v, size, grid, name) {
  number <- if (!has_levels(v)) order_numbers(v)
  if (all(is.na(if (has_levels(v)) v else number))) {
    stop_data(sprintf("column `%s` has no values but missing ones; give `values`", name), name)
  }
  if (is.factor(v)) {
    used <- which(tabulate(v, nlevels(v)) > 0L)
    return(subset_rows(v, match(used, as.integer(v))))
  }
  if (is.character(v)) return(distinct_texts(v))
  at <- order(number, na.last = NA)
  first <- at[!duplicated(number[at])]
  if (length(first) <= size) return(subset_rows(v, first))
  if (grid == "even") return(even_grid(v, number, size))
  shares <- seq(0, 1, length.out = size)
  place <- pmax(1, ceiling(shares * length(at)))
  subset_rows(v, unique(at[match(number[at[place]], number[at])]))
}

even_grid <- function(v, number, size) {
  finite <- range(number[is.finite(number)])
  points <- unique(seq(finite[1L], finite[2L], length.out = size))
  if (is.integer(v)) points <- unique(as.integer(round(points)))
  if (inherits(v, "integer64")) return(bit64::as.integer64(unique(round(points))))
  if (inherits(v, "Date")) points <- unique(round(points))
  if (is.object(v)) attributes(points) <- attributes(v)[intersect(names(attributes(v)), c("class", "tzone", "units"))]
  points
}

# The points as a data frame of the columns: all combinations.
partial_grid <- function(x, columns, asked) all_combinations(grid_columns(x, columns, asked))

# list by column of the values of the grid.
grid_columns <- function(x, columns, asked) {
  values <- if (!is.null(asked$values)) check_grid_values(asked$values, columns)
  lapply(stats::setNames(nm = columns), function(name) {
    own <- column_of(x, name)
    if (inherits(own, "POSIXlt")) own <- as.POSIXct(own)
    if (is.null(values)) grid_of(own, asked$size, asked$grid, name) else as_grid(values[[name]], own, name)
  })
}

all_combinations <- function(each) {
  n <- lengths(each)
  if (prod(as.double(n)) > 1e6) {
    stop_argument(sprintf("the grid has %.0f points, more than a million; give fewer `values`", prod(as.double(n))),
                  "values")
  }
  at <- lapply(seq_along(each), function(j) {
    rep(rep(seq_len(n[j]), each = if (j == 1L) 1L else n[1L]), length.out = prod(n))
  })
  list_frame(Map(subset_rows, each, at), prod(n))
}

check_grid_values <- function(values, columns) {
  if (!is.list(values) || is.object(values) && !is.data.frame(values)) values <- list(values)
  if (is.null(names(values)) && length(values) == 1L && length(columns) == 1L) names(values) <- columns
  absent <- setdiff(columns, names(values))
  other <- setdiff(names(values), columns)
  if (length(absent) || length(other)) {
    stop_argument(sprintf("`values` must be a list with a vector for %s", enumerate(columns)), "values")
  }
  values
}

# Values that the user gave, as the column is: texts are levels of a factor, plain numbers stand for times too.
as_grid <- function(values, own, name) {
  if (length(values) == 0L || !is.atomic(values) || length(dim(values)) > 1L) {
    stop_argument(sprintf("`values` of `%s` must be a vector of at least one value", name), "values")
  }
  if (inherits(values, "POSIXlt")) values <- as.POSIXct(values)
  if (is.factor(values)) check_codes(values, name)
  if (is.character(values)) values <- as_utf8(values, sprintf("a text of `values` of `%s`", name), "values")
  if (is.factor(own) && !is.factor(values)) {
    texts <- as.character(values)
    unknown <- setdiff(texts[!is.na(texts)], levels(own))
    if (length(unknown)) {
      stop_argument(sprintf("`values`: column `%s` has no level \"%s\"%s", name, unknown[1L],
                            suggest(unknown[1L], levels(own), "\"")), "values")
    }
    return(factor(texts, levels(own), ordered = is.ordered(own)))
  }
  values
}

# A factor that the user gave as `values`.
check_codes <- function(values, name) {
  codes <- unclass(values)
  if (is.integer(codes) && all(is.na(codes) | codes >= 1L & codes <= length(levels(values)))) return(invisible())
  stop_argument(sprintf("`values` of `%s` are a broken factor; recreate it with factor()", name), "values")
}

# Where the values of a column are: deciles, elements of the column, or rows by level.
spread_of <- function(v) {
  if (has_levels(v)) return(table(v, exclude = NA)) # else R leaves out the text "NaN" as well
  if (is.logical(v)) return(table(factor(v, c(FALSE, TRUE))))
  if (inherits(v, "POSIXlt")) v <- as.POSIXct(v)
  at <- order(order_numbers(v), na.last = NA)
  if (length(at) == 0L) return(NULL)
  subset_rows(v, at[pmax(1, ceiling(seq(0, 1, 0.1) * length(at)))])
}

# Averages ------------------------------------------------------------------------------------------------------------

cells_of_call <- 262144 # rows that one call predicts, about

# list(estimate = matrix, a row for each point and a column for each output; curves = array rows x points x outputs, or
# NULL; outputs = names or NULL). A call predicts all rows for some points; a point's rows are never cut, so that their
# mean does not depend on the number of points in a call. known: offset, a matrix, and exposure of the rows, or NULL.
partial_values <- function(model, x, points, plan, weight, known, ice, centred) {
  n <- n_rows_of(x)
  n_points <- .row_names_info(points, 2L)
  at_once <- max(1, min(n_points, cells_of_call %/% n))
  curves <- estimate <- first <- outputs <- NULL
  for (beg in seq(1, n_points, by = at_once)) {
    these <- beg:min(n_points, beg + at_once - 1)
    pred <- predict_points(model, x, points, these, plan, known)
    if (is.null(estimate)) {
      outputs <- output_names(model, pred)
      estimate <- matrix(0, n_points, ncol(pred))
      if (ice) curves <- array(0, c(n, n_points, ncol(pred)))
    }
    pred <- array(pred, c(n, length(these), ncol(pred)))
    if (centred) {
      if (is.null(first)) first <- pred[, 1L, , drop = FALSE]
      pred <- pred - first[, rep(1L, length(these)), , drop = FALSE]
    }
    if (ice) curves[, these, ] <- pred
    estimate[these, ] <- means_of_rows(pred, weight)
  }
  list(estimate = estimate, curves = curves, outputs = outputs)
}

# Of a matrix of predictions: those of columns, or of the model where they have none.
output_names <- function(model, pred) if (is.null(colnames(pred))) output_labels(model) else colnames(pred)

# Predictions of all rows for some points: a matrix, row by row within point by point.
predict_points <- function(model, x, points, these, plan, known) {
  n <- n_rows_of(x)
  values <- lapply(points, function(v) subset_rows(v, rep(these, each = n)))
  predict_replaced(model, x, if (length(these) > 1L) rep(seq_len(n), length(these)), values, plan, known)
}

# Predictions of rows `at` (NULL: of all) with other values in some columns: a matrix. known: offset and exposure of x.
predict_replaced <- function(model, x, at, values, plan, known) {
  if (!is.null(at)) {
    x <- subset_rows(x, as.integer(at))
    known <- list(offset = if (!is.null(known$offset)) known$offset[at, , drop = FALSE], exposure = known$exposure[at])
  }
  pred <- predict.gbt(model, with_columns(x, values), plan$type, trees = plan$rounds, offset = known$offset,
                      unseen = plan$unseen, threads = plan$threads, exposure = known$exposure)
  if (is.matrix(pred)) pred else matrix(pred, ncol = 1L)
}

# Weighted means over the first dimension of an array: points x outputs.
means_of_rows <- function(pred, weight) {
  if (is.null(weight)) return(colMeans(pred))
  total <- sum(weight)
  matrix(colSums(pred * weight) / total, dim(pred)[2L])
}

effect_frame <- function(points, found) {
  k <- ncol(found$estimate)
  n <- nrow(found$estimate)
  out <- as.list(subset_rows(points, rep(seq_len(n), k)))
  if (k > 1L) out$output <- factor(rep(found$outputs, each = n), found$outputs)
  out$estimate <- as.vector(found$estimate)
  list_frame(out, n * k)
}

ice_frame <- function(points, found, numbers) {
  d <- dim(found$curves)
  out <- c(list(row = rep(numbers, d[2L] * d[3L])),
           as.list(subset_rows(points, rep(rep(seq_len(d[2L]), each = d[1L]), d[3L]))))
  if (d[3L] > 1L) out$output <- factor(rep(found$outputs, each = d[1L] * d[2L]), found$outputs)
  out$estimate <- as.vector(found$curves)
  list_frame(out, length(out$estimate))
}

#' @export
print.gbt_partial <- function(x, digits = max(3L, getOption("digits") - 3L), top = 20L, ...) {
  digits <- check_digits(digits, 3L)
  top <- check_whole(top, "top", 0)
  rows <- if (is.null(x$rows)) {
    "training rows by cover"
  } else if (x$rows < x$n_obs) {
    sprintf("%s of %s, drawn by seed %.0f", with_commas(x$rows), counted(x$n_obs, "row"), x$seed)
  } else {
    counted(x$n_obs, "row")
  }
  ale <- identical(x$method, "ale")
  cat(sprintf("<gbt_partial> %s, %stype \"%s\"%s, %s %s%s\n", enumerate(x$columns),
              if (ale) paste0(ale_words(x), ", ") else "", x$type, if (x$centred) ", centred" else "",
              if (ale) "over" else "mean over", rows, if (is.null(x$ice)) "" else ", with the curves of the rows"))
  if (ale && x$left_out > 0) cat(ale_left_out(x), "\n", sep = "")
  points <- effects_by_point(x)
  shown <- utils::head(points, top)
  if (nrow(shown)) print(shown, row.names = FALSE, digits = digits)
  if (nrow(points) > top) cat(sprintf("and %d more\n", nrow(points) - top))
  invisible(x)
}

# The effects with a row for each point of the grid; several outputs have a column each.
effects_by_point <- function(x) {
  outputs <- levels(x$effects[["output"]])
  if (length(outputs) < 2L) return(x$effects)
  n <- nrow(x$effects) %/% length(outputs)
  estimate <- matrix(x$effects$estimate, n, dimnames = list(NULL, outputs))
  list_frame(c(lapply(x$effects[x$columns], utils::head, n), list_of_columns(estimate)), n)
}

#' @export
as.data.frame.gbt_partial <- function(x, row.names = NULL, optional = FALSE, ...) x$effects
