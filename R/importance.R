# What mattered to a model.

#' Importance of features
#'
#' How much each feature contributed to the trees of a model, or how much worse a model predicts without it.
#'
#' @section Permutation importance:
#' `type = "permutation"` measures what a model loses when the values of a column are handed to other rows at random, so
#' that they say nothing (Breiman, 2001): by how much a metric becomes worse on `data`, mean over `repeats` permutations.
#' Take data that the model was not trained on. Further arguments, by name:
#' * `y`: the response of the rows; a formula's is found in `data`.
#' * `metric`: one metric of [gbt_train()] or a [gbt_metric()]; `NULL`: that of the objective.
#' * `columns`: names of columns, or a list of sets of columns that are permuted together, such as
#'   `list(size = c("length", "width"), "colour")`: correlated columns stand in for each other, so that each alone
#'   seems to matter little. `NULL`: each column alone. They are columns of the data, also where a formula
#'   transforms them.
#' * `repeats`, `seed`: how many permutations, by hashes of `seed` and the row.
#' * `weights`, `offset`: of the rows. `threads`: see [gbt_threads()].
#' * `level`: of the intervals (Student's). Those of a model say how far the mean over permutations may be off, not what
#'   other rows would give. Of a [gbt_cv()] with `keep_models = TRUE`, with its data, each fold's model is judged by the
#'   rows that it has not seen, and intervals are over folds, widened since their training rows overlap (Nadeau and
#'   Bengio, 2003).
#'
#' A column that no tree looks at has 0 exactly, and costs nothing.
#'
#' @param model A model from [gbt_train()]; for `"permutation"` also the result of [gbt_cv()].
#' @param type What to sort by: `"gain"`, the sum of the gains of all splits on the feature; `"cover"`, the sum of the
#'   hessians (for squared error: of the rows) that came by those splits; `"frequency"`, their number. Or
#'   `"permutation"`, see below.
#' @param trees Number of rounds to look at, from the first. `NULL` takes those that the model predicts with.
#' @param by `"column"`: one row for each column of the data. What was made of it counts for it: statistics and counts
#'   of its levels, and of a combination of columns an equal part for each. `"feature"`: one row for all that trees can
#'   split by, where statistics of categorical columns stand by themselves, such as `mean(carrier)`,
#'   `share(carrier, yes)`, `rows(carrier)` and `mean(carrier x origin)`; with `.1` behind it where a column has that
#'   name.
#' @param data For `"permutation"`: rows to judge by, as [predict()][predict.gbt] takes them.
#' @param ... For `"permutation"`: further arguments, see below.
#' @return A data frame of class `gbt_importance`, one row per column or feature, the most important first: `feature`,
#'   and `gain`, `cover` and `frequency` as shares that add up to 1. Features that no tree uses have 0. `print()`
#'   shows those that are used, 20 at most (`top = `), and all rows of a part such as `head(importance, 30)`. See also
#'   [plot()][plot.gbt_importance]. For `"permutation"`: a data frame of class `gbt_importance_permutation` with `column`,
#'   `importance`, `lower` and `upper`, the most important first.
#' @seealso [gbt_train()]
#' @examples
#' m <- gbt_train(mpg ~ ., mtcars, nrounds = 20, threads = 1)
#' importance <- gbt_importance(m)
#' importance
#' head(importance, 3)
#' plot(importance, top = 5)
#'
#' fit <- gbt_train(mpg ~ ., mtcars[1:20, ], nrounds = 20, threads = 1)
#' gbt_importance(fit, "permutation", data = mtcars[21:32, ], seed = 1, threads = 1)
#' @export
gbt_importance <- function(model, type = c("gain", "cover", "frequency", "permutation"), trees = NULL,
                           by = c("column", "feature"), data = NULL, ...) {
  type <- match_choice(type, c("gain", "cover", "frequency", "permutation"), "type")
  if (!inherits(model, "gbt_cv") || type != "permutation") check_model(model, "model")
  if (type == "permutation") {
    check_no_dots(list(...)[!...names() %in% permutation_arguments], permutation_arguments)
    if (!missing(by)) stop_argument("`by` has no meaning with type = \"permutation\": see `columns`", "by")
    return(permutation_importance(model, data, trees, ...))
  }
  check_no_dots(list(...), c(names(formals(gbt_importance)), permutation_arguments))
  if (!is.null(data)) stop_argument("`data` is for type = \"permutation\"; splits are counted without", "data")
  by <- match_choice(by, c("column", "feature"), "by")
  rounds <- check_rounds(trees, model)
  sums <- .Call(C_gbt_model_importance, model$state, model$cache, 0L, rounds)
  info <- .Call(C_gbt_model_info, model$state, model$cache)
  label <- if (by == "feature") feature_labels(model, info) else info$names
  sums <- lapply(sums, function(v) if (by == "feature") sum_by(v, label) else sum_by_column(v, info$columns, label))
  share <- function(v) if (sum(v) > 0) v / sum(v) else v
  out <- list(feature = unique(label), gain = share(sums$gain), cover = share(sums$cover),
              frequency = share(sums$splits))
  ranked <- order(-out[[type]], -out$gain, seq_along(out$feature))
  out <- list_frame(lapply(out, function(v) v[ranked]), length(ranked))
  structure(out, class = c("gbt_importance", "data.frame"), type = type, n_features = length(ranked))
}

# What comes behind `data`, by name.
permutation_arguments <- c("y", "metric", "columns", "repeats", "weights", "offset", "level", "seed", "threads")

# Sums over what is made of each column. columns: of each feature, from 1.
sum_by_column <- function(v, columns, names) {
  if (length(v) == length(names)) return(v) # nothing is made of any
  size <- lengths(columns)
  column <- unlist(columns)
  out <- numeric(length(names))
  out[sort(unique(column))] <- rowsum(rep(v / size, size), column)
  out
}

# Sums over features of the same name, in the order of the names: a statistic with several priors is one, and so are
# those of a model and of the one that it went on from.
sum_by <- function(v, label) {
  if (!anyDuplicated(label)) return(v)
  as.vector(rowsum(v, match(label, unique(label)), reorder = FALSE))
}

# Has it the columns of the table, as they were made, and every feature at most once?
is_importance <- function(x) {
  all(c("feature", "gain", "cover", "frequency") %in% names(x)) && !anyNA(x$feature) && !anyDuplicated(x$feature) &&
    is.numeric(x$gain) && is.numeric(x$cover) && is.numeric(x$frequency)
}

# Rows of a table are one still, and remember of how many features they are; without one of its columns it is none.
#' @export
`[.gbt_importance` <- function(x, ...) {
  out <- NextMethod()
  if (!is.data.frame(out)) return(out)
  if (!is_importance(out)) return(as.data.frame.gbt_importance(out))
  for (name in c("type", "n_features")) attr(out, name) <- attr(x, name)
  out
}

#' @export
print.gbt_importance <- function(x, digits = max(3L, getOption("digits") - 3L), top = 20L, ...) {
  digits <- check_digits(digits, 3L)
  n_features <- attr(x, "n_features")
  whole <- identical(nrow(x), n_features)
  if (!is_importance(x) || is.null(n_features)) return(NextMethod())
  top <- if (missing(top) && !whole) nrow(x) else check_whole(top, "top", 0)
  shown <- as.data.frame(x)
  if (whole) shown <- shown[shown$frequency > 0, , drop = FALSE]
  more <- max(0L, nrow(shown) - top)
  by <- attr(x, "type")
  by <- if (!is.null(by) && isFALSE(is.unsorted(-x[[by]]))) paste(" by", by) else ""
  cat(sprintf("importance%s, %d of %d features%s\n", by, nrow(shown), n_features, if (whole) " used" else ""))
  shown <- utils::head(shown, top)
  if (nrow(shown)) {
    for (name in c("gain", "cover", "frequency")) shown[[name]] <- format(round(shown[[name]], digits), nsmall = 0)
    print.data.frame(shown, row.names = FALSE)
  }
  if (more) cat(sprintf("and %d more\n", more))
  invisible(x)
}

#' @export
as.data.frame.gbt_importance <- function(x, ...) {
  attr(x, "type") <- NULL
  attr(x, "n_features") <- NULL
  class(x) <- "data.frame"
  x
}

#' Plots of models
#'
#' `plot()` of a model draws its evaluation log, with a dashed line at the round that it predicts with; of a
#' [gbt_importance()] table, bars of the most important features.
#'
#' @param x A model from [gbt_train()], or the result of [gbt_importance()].
#' @param metric Which metric to draw, of those in the log; the last one when left out.
#' @param top Most bars.
#' @param type What the bars show: `"gain"`, `"cover"` or `"frequency"`; when left out, what the table is sorted by.
#' @param ... Further arguments of [graphics::matplot()] or [graphics::barplot()], by their names.
#' @return `x`, invisibly.
#' @seealso [gbt_train()], [gbt_importance()]
#' @examples
#' m <- gbt_train(mpg ~ ., mtcars, nrounds = 60, valid = 0.3, eval_train = TRUE, seed = 1, threads = 1)
#' plot(m)
#' plot(gbt_importance(m))
#' @export
plot.gbt <- function(x, metric = NULL, ...) {
  check_model(x, "x")
  given <- named_dots(list(...))
  log <- x$evaluation_log
  has <- x$params$eval_metric
  if (length(log) < 2L || nrow(log) == 0L || length(has) == 0L) {
    stop_argument("the model has no evaluation log to draw; train it with `valid` or with `eval_train = TRUE`")
  }
  metric <- if (is.null(metric)) has[length(has)] else match_choice(metric, has, "metric")
  sets <- names(log)[seq(1L + match(metric, has), length(log), by = length(has))] # set by set, all metrics of each
  if (!any(is.finite(unlist(log[sets])))) {
    stop_argument(sprintf("there is nothing to draw: no value of metric \"%s\" is finite", metric), "metric")
  }
  usual <- list(type = if (nrow(log) == 1L) "p" else "l", lty = 1, lwd = 2, pch = 1,
                col = grDevices::hcl.colors(max(2L, length(sets)), "Dark 3")[seq_along(sets)])
  style <- lapply(stats::setNames(nm = names(usual)), function(name) {
    rep_len(given_or(given[[name]], usual[[name]]), length(sets))
  })
  args <- list(x = log$round, y = as.matrix(log[sets]), xlab = "round", ylab = metric, bty = "l")
  do.call(graphics::matplot, utils::modifyList(c(args, style), given[!names(given) %in% names(usual)]))
  if (!is.null(x$best_round)) graphics::abline(v = x$best_round, lty = 2, col = "grey40")
  key <- legend_key(substr(sets, 1L, nchar(sets) - nchar(metric) - 1L), style)
  do.call(graphics::legend, c(list(x = free_corner(log$round, log[sets], key)), key))
  invisible(x)
}

# What the user gave for a plot: all with names, or it would go nowhere.
named_dots <- function(dots) {
  if (length(dots) > 0L && (is.null(names(dots)) || any(names(dots) == ""))) {
    stop_argument("an argument without a name was given where only named ones are possible")
  }
  dots
}

# Arguments of legend() for lines, points or both, as they are drawn.
legend_key <- function(labels, style) {
  lty <- ifelse(style$type %in% c("p", "n"), NA, style$lty)
  pch <- ifelse(style$type %in% c("p", "b", "o"), style$pch, NA)
  key <- list(legend = labels, col = style$col, bty = "n")
  if (!all(is.na(lty))) key <- c(key, list(lty = lty, lwd = style$lwd))
  if (!all(is.na(pch))) key <- c(key, list(pch = pch))
  key
}

# The corner where the legend hides the least of the lines.
free_corner <- function(round, lines, key) {
  corners <- c("topright", "bottomleft", "bottomright", "topleft")
  hidden <- vapply(corners, function(corner) {
    box <- do.call(graphics::legend, c(list(x = corner, plot = FALSE), key))$rect
    across <- round >= box$left & round <= box$left + box$w
    sum(vapply(lines, function(y) sum(across & y <= box$top & y >= box$top - box$h, na.rm = TRUE), 0))
  }, 0)
  corners[which.min(hidden)]
}

#' @rdname plot.gbt
#' @export
plot.gbt_importance <- function(x, top = 20L, type = NULL, ...) {
  given <- named_dots(list(...))
  if (!is.null(given$horiz) && !isTRUE(given$horiz)) {
    stop_unsupported("bars are horizontal; for others use barplot(x$gain, names.arg = x$feature)", "horiz")
  }
  if (is.null(type)) type <- given_or(attr(x, "type"), "gain")
  type <- match_choice(type, c("gain", "cover", "frequency"), "type")
  top <- check_whole(top, "top", 1)
  if (!is_importance(x) || nrow(x) == 0L) stop_argument("`x` has no rows of gbt_importance() to draw", "x")
  shown <- as.data.frame(x)
  shown <- utils::head(shown[order(-shown[[type]]), , drop = FALSE], top)
  n <- nrow(shown)
  shown <- shown[rev(seq_len(n)), , drop = FALSE] # the largest bar on top
  mar <- graphics::par("mar")
  if (is.null(given$main)) mar[3L] <- min(mar[3L], 1)
  labels <- bar_labels(shown$feature, n, mar)
  old <- graphics::par(mar = labels$mar)
  on.exit(graphics::par(old))
  ticks <- pretty(c(0, shown[[type]])) # an axis as long as the longest bar
  args <- list(height = shown[[type]], names.arg = shown$feature, horiz = TRUE, las = 1, border = NA,
               xlim = range(ticks), col = grDevices::hcl.colors(2L, "Dark 3")[1L], xlab = paste("share of", type),
               axisnames = !is.null(given$names.arg),
               ylim = 1.2 * c(n - max(n, 5), n) + 0.1) # a few bars are no thicker than five
  at <- do.call(graphics::barplot, utils::modifyList(args, given))
  if (is.null(given$names.arg) && is.null(given$axisnames) && !isFALSE(given$plot)) {
    graphics::axis(2, at, labels$text, tick = FALSE, line = -0.5, las = 1, gap.axis = -1, # none is left out
                   cex.axis = given_or(given$cex.names, labels$cex))
  }
  invisible(x)
}

# Labels at the left of n bars: all of them, so small that none hides another, their ends kept where they are too long
# for 45 % of the figure. list(text, cex, mar = margins with room for them).
bar_labels <- function(text, n, mar) {
  line <- graphics::par("csi") # inches
  figure <- graphics::par("fin")
  pitch <- (figure[2L] - (mar[1L] + mar[3L]) * line) / max(n, 5)
  cex <- max(min(1, 1.15 * pitch / line), 0.1)
  inches <- function(text) graphics::strwidth(text, units = "inches", cex = cex)
  room <- 0.45 * figure[1L]
  for (i in which(inches(text) > room)) {
    keep <- floor(nchar(text[i]) * room / inches(text[i])) - 3
    repeat {
      half <- max(1, keep %/% 2)
      n_chars <- nchar(text[i])
      short <- paste0(substr(text[i], 1L, keep - half), "...", substr(text[i], n_chars - half + 1, n_chars))
      if (keep <= 2 || inches(short) <= room) break
      keep <- keep - 1
    }
    text[i] <- short
  }
  mar[2L] <- max(mar[2L] - 2, max(inches(text), 0) / line + 1.2)
  list(text = text, cex = cex, mar = mar)
}
