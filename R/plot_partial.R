# Plots of partial dependence: lines over the curves of rows, points by level, images for two columns.

#' Draw partial dependence
#'
#' One column of numbers or times: a line for each output, and a rug of the deciles of the data. The curves of single
#' rows (ICE) have a light colour, if they were kept. One column with levels: a point for each level, with the values of
#' the rows in a light colour. Two columns: an image with a colour key. Several outputs with curves of rows, levels or
#' two columns get a panel each, all on one scale. Outputs in units of their own (columns of numbers of a response,
#' parameters of a distribution) always have a panel and a scale each; colours of images then go from the least to the
#' largest estimate of a panel, which its heading names. Accumulated local effects (`method = "ale"`) have a line at 0,
#' their mean; of two columns, points that no rows are near are grey.
#'
#' More than 12 levels of a column that is no ordered factor are sorted by their estimate, the largest first. At most 30
#' levels are drawn, fewer on small pages: those whose estimates are farthest from the mean over all levels; the foot of
#' the plot says how many. If the axis cannot show missing values, the foot of the plot gives their estimate.
#'
#' @param x The result of [gbt_partial()].
#' @param output Names of the outputs (classes) to draw; all when left out.
#' @param ... `main`, `sub`, `xlab`; `ylab` unless a column has levels; for one column `xlim` and `col`; for one of
#'   numbers `ylim`, `lty` and `lwd`.
#' @return `x`, invisibly.
#' @seealso [gbt_partial()]; [plot.gbt()] about all plots
#' @examples
#' m <- gbt_train(mpg ~ ., mtcars, nrounds = 30, threads = 1)
#' plot(gbt_partial(m, mtcars, "wt", ice = TRUE, threads = 1))
#' plot(gbt_partial(m, mtcars, c("wt", "hp"), threads = 1))
#'
#' flowers <- gbt_train(Species ~ ., iris, nrounds = 20, threads = 1)
#' plot(gbt_partial(flowers, iris, "Petal.Length", type = "prob", threads = 1))
#' @export
plot.gbt_partial <- function(x, output = NULL, ...) {
  two <- length(x$columns) == 2L
  level <- !two && is_level_axis(x)
  known <- if (two) character(0) else if (level) c("xlim", "col") else c("xlim", "ylim", "col", "lty", "lwd")
  given <- plot_dots(list(...), known, if (level) "xlab" else c("xlab", "ylab"))
  draw_figure(partial_figure(x, output, given), x)
}

#' @rdname gbt_autoplot
#' @exportS3Method ggplot2::autoplot
autoplot.gbt_partial <- function(object, output = NULL, ...) gg_figure(partial_figure(object, output), ...)

is_level_axis <- function(x) is_level(x$effects[[x$columns[1L]]])

partial_figure <- function(x, output, given = list()) {
  shown <- partial_shown(x, output)
  shown$title <- paste(if (shown$ale) "Accumulated local effects of" else "Partial dependence on",
                       paste(plain_text(x$columns), collapse = " and "))
  kind <- if (length(x$columns) == 2L) partial_image else if (is_level_axis(x)) partial_levels else partial_curves
  kind(x, shown, given)
}

# list(effects = list of data frames by output, ice = the same or NULL, outputs = names or NULL, estimate = name of
# what is averaged, own = has each output a scale of its own? text = subtitle, ale = are they accumulated
# local effects?, left_out = words or NULL).
partial_shown <- function(x, output) {
  if (!is.null(x$ice) && !is.data.frame(x$ice)) {
    stop_argument("the field `ice` of `x` was changed: it must be NULL or a data frame", "x")
  }
  effects <- as.list(x$effects)
  outputs <- shown_outputs(output, levels(effects$output))
  split_by <- function(frame) {
    if (is.null(frame)) return(NULL)
    frame <- as.list(frame)
    if (is.null(outputs)) return(list(frame))
    lapply(outputs, function(name) lapply(frame, function(v) subset_rows(v, which(frame$output == name))))
  }
  effects <- split_by(effects)
  if (!any(vapply(effects, function(e) any(is.finite(e$estimate)), NA))) {
    stop_argument("there is nothing to draw: no estimate is finite", "x")
  }
  ale <- identical(x$method, "ale")
  list(effects = effects, ice = split_by(x$ice), outputs = outputs, estimate = words_of_estimate(x, ale),
       own = isTRUE(x$own_units) && length(outputs) > 1L, text = words_of_rows(x, ale), ale = ale,
       left_out = if (ale && x$left_out > 0) ale_left_out(x))
}

words_of_estimate <- function(x, ale) {
  what <- given_or(x$scale, c(link = "score (link)", response = "prediction", prob = "probability",
                                parameters = "parameter")[[x$type]])
  if (ale) return(paste(if (length(x$columns) == 2L) "joint effect on the" else "effect on the", what))
  paste0(if (x$centred) "change of the ", "mean ", what)
}

words_of_rows <- function(x, ale) {
  if (is.null(x$rows)) return("mean over training rows, by cover")
  paste0(if (!ale) "mean over " else if (length(x$columns) == 2L) "beyond the effect of each; ",
         if (x$rows < x$n_obs) sprintf("%s of ", format(x$rows)), counted(x$n_obs, "row"))
}

# list(at = values of the grid, panel = list(metric, round, values = list by output), ice = list of matrices), all in
# the order of the values.
partial_lines <- function(x, shown) {
  name <- x$columns
  at <- axis_values(shown$effects[[1L]][[name]])
  number <- order_numbers(at)
  order <- order(number, na.last = NA)
  if (length(order) == 0L) stop_argument("there is nothing to draw: all values of the grid are missing", "x")
  list(at = at, ice = lapply(given_or(shown$ice, list()), function(i) ice_curves(i, name, order)),
       panel = list(metric = shown$estimate, round = number[order],
                    values = lapply(shown$effects, function(e) e$estimate[order])))
}

# The line of the mean, drawn over the curves of rows (ICE).
partial_curves <- function(x, shown, given) {
  name <- x$columns
  lines <- partial_lines(x, shown)
  at <- lines$panel$round
  n <- length(shown$effects)
  many <- length(lines$ice) > 1L || shown$own # a panel for each output
  style <- line_style(n, given)
  key <- c(list(label = given_or(shown$outputs, ""), ends = n > 1L && !many, hidden = n == 1L || many), style)
  scale <- make_scale(lines$at, given_or(given[["xlab"]], name), given[["xlim"]], extend = 0.02)
  vertical <- function(which) {
    visible_scale(at, c(unlist(lines$panel$values[which]), unlist(lines$ice[which])), scale,
                  given_or(given[["ylab"]], shown$estimate), given[["ylim"]])
  }
  rug <- if (!is.null(x$spread[[name]]) && !is.table(x$spread[[name]])) order_numbers(x$spread[[name]])
  one <- function(i) {
    which <- if (many) i else seq_len(n)
    ice <- if (length(lines$ice)) lines$ice[[i]]
    curves <- if (!is.null(ice)) joined_lines(at, ice)
    means <- list(round = at, values = lines$panel$values[which])
    c(list(if (shown$ale) mark("rule", y = 0, lty = 2, col = ink$soft),
           if (!is.null(ice)) mark(if (length(at) > 1L) "line" else "point", curves$x, curves$y, lwd = 0.8, cex = 0.5,
                                   col = curve_colour(ncol(ice))),
           if (length(rug)) mark("rug", unique(rug[rug >= scale$lim[1L] & rug <= scale$lim[2L]]))),
      series_marks(means, rep("l", length(which)), which))
  }
  scales <- if (shown$own) function(i) list(y = vertical(i))
  panels <- if (many) output_panels(shown$outputs, one, scales = scales) else list(panel(one(1L)))
  figure(given, shown$title, shown$text, scale, vertical(seq_len(n)), panels, key,
         note = partial_notes(shown, name, lines$ice))
}

most_curves <- 1000L

# Matrix of curves: points of the grid, in `order`, by rows; of too many an even choice.
ice_curves <- function(ice, name, order) {
  rows <- unique(ice$row)
  curves <- t(matrix(ice$estimate, length(rows)))[order, , drop = FALSE]
  curves[!is.finite(curves)] <- NA
  curves[, even_choice(ncol(curves), most_curves), drop = FALSE]
}

partial_notes <- function(shown, name, ice = list()) {
  missing <- which(is.na(shown$effects[[1L]][[name]]))
  note <- if (length(missing)) {
    value <- number_label(vapply(shown$effects, function(e) e$estimate[missing[1L]], 0))
    if (!is.null(shown$outputs)) value <- paste0(plain_text(shown$outputs), ": ", value)
    sprintf("where %s is missing: %s", plain_text(name), paste(value, collapse = ", "))
  }
  n <- length(unique(shown$ice[[1L]]$row))
  curves <- if (n > most_curves && length(ice)) sprintf("%s of %s", with_commas(ncol(ice[[1L]])), counted(n, "curve"))
  note <- paste(c(note, shown$left_out, curves), collapse = "; ")
  if (nzchar(note)) note
}

# Light however many curves lie over one another.
curve_colour <- function(n) transparent("#ABABAB", max(0.12, min(0.8, 30 / n)))

# Levels: points, drawn over the values of rows -----------------------------------------------------------------------

most_levels <- 30L # of an axis, where the page has room for so many

# Where to draw each level, as numbers of levels in the order of drawing: at most `most`, those whose estimates are
# farthest from the mean over levels. Many levels without an order of their own come by their estimates, the largest
# first. estimates: a matrix, levels by outputs.
chosen_levels <- function(estimates, ordered, most) {
  n <- nrow(estimates)
  far <- abs(sweep(estimates, 2L, colMeans(estimates, na.rm = TRUE)))
  far[!is.finite(far)] <- 0
  kept <- sort(utils::head(order(-do.call(pmax, split(far, col(far))), seq_len(n)), most))
  if (ordered || n <= 12L) kept else kept[order(-estimates[kept, 1L])]
}

# Columns in units of their own, by the length of their range: matrices that can be compared.
in_one_unit <- function(m) {
  for (j in seq_len(ncol(m))) m[, j] <- m[, j] / above_0(diff(finite_range(m[, j])))
  m
}

finite_range <- function(v) {
  v <- v[is.finite(v)]
  if (length(v)) range(v) else c(0, 1)
}

# "drawn: the 30 of 600 levels with the largest effects"
levels_note <- function(shown, n, name = NULL) {
  if (shown == n) return(NULL)
  paste0("drawn: the ", shown, " of ", counted(n, "level"), if (!is.null(name)) paste(" of", plain_text(name)),
         " with the largest effects")
}

partial_levels <- function(x, shown, given, most = most_levels) {
  label <- shown$effects[[1L]][[x$columns]]
  estimates <- do.call(cbind, lapply(shown$effects, `[[`, "estimate"))
  order <- chosen_levels(if (shown$own) in_one_unit(estimates) else estimates, is.ordered(label),
                         min(most, most_levels))
  rows <- make_distinct(plain_text(label))[order]
  ice <- lapply(given_or(shown$ice, list()), ice_curves, x$columns, order)
  scale <- function(which) {
    values <- as.double(unlist(c(list(estimates[order, which]), ice[which])))
    bar_scale(values, given_or(given[["xlab"]], shown$estimate), given[["xlim"]], FALSE)
  }
  half <- min(0.3, 2.4 / length(order) + 0.15)
  one <- function(i) {
    at <- seq_along(order)
    curves <- if (length(ice)) {
      mark("segment", as.vector(ice[[i]]), at - half, as.vector(ice[[i]]), at + half, lwd = 1.2,
           col = curve_colour(ncol(ice[[i]])))
    }
    c(if (shown$ale) list(zero_rule()), list(curves, mark("point", estimates[order, i], at, set = i)))
  }
  style <- series_style(length(shown$effects), given[["col"]])
  key <- c(list(label = given_or(shown$outputs, ""), hidden = TRUE), style)
  fewer <- function(rows, columns) partial_levels(x, shown, given, rows)
  panels <- output_panels(shown$outputs, one, rows = rows, scales = if (shown$own) function(i) list(x = scale(i)))
  c(figure(given, shown$title, shown$text, scale(seq_along(shown$effects)), rows_scale, panels, key,
           note = c(levels_note(length(order), length(label)), shown$left_out), noun = "level"), fewer = fewer)
}

# Images --------------------------------------------------------------------------------------------------------------

partial_image <- function(x, shown, given, most = c(most_levels, most_levels)) {
  axes <- image_axes(x, shown, pmin(most, most_levels))
  scales <- Map(function(axis, name, given_name) {
    scale <- make_scale(axis$values, given_or(given[[given_name]], name))
    scale$lim <- scale$range <- range(axis$beg, axis$end)
    scale
  }, axes, x$columns, c("xlab", "ylab"))
  lost <- sum(axes[[1L]]$lost | axes[[2L]]$lost)
  cells <- lapply(shown$effects, function(e) image_cells(axes, e$estimate))
  ranges <- lapply(cells, function(cell) finite_range(cell$estimate))
  range <- if (shown$own) c(0, 1) else finite_range(unlist(ranges))
  headings <- shown$outputs
  if (shown$own) {
    ends <- vapply(ranges, function(r) paste(number_label(r), collapse = " to "), "")
    headings <- paste0(plain_text(headings), ": ", ends)
  }
  one <- function(i) {
    cell <- cells[[i]]
    r <- ranges[[i]]
    share <- if (!shown$own) cell$estimate else (cell$estimate - r[1L]) / above_0(r[2L] - r[1L])
    list(mark("rect", cell$left, cell$bottom, cell$right, cell$top, share = share))
  }
  left_out <- Map(function(axis, name) levels_note(length(axis$beg), axis$n, name), axes, x$columns)
  note <- c(if (lost) sprintf("%s with missing numbers not shown", counted(lost, "point")),
            unlist(left_out, use.names = FALSE), shown$left_out,
            if (shown$ale && anyNA(unlist(lapply(cells, `[[`, "estimate")))) "grey: no rows are near")
  ramp <- list(title = shown$estimate, colours = scale_colours(), low = range[1L], high = range[2L])
  if (shown$own) ramp$ends <- c("least", "largest")
  c(figure(given, shown$title, shown$text, scales[[1L]], scales[[2L]], output_panels(headings, one), note = note,
           ramp = ramp),
    fewer = function(rows, columns) partial_image(x, shown, given, c(columns, rows)))
}

# The horizontal axis and the vertical one. most: levels of each.
image_axes <- function(x, shown, most) {
  estimates <- lapply(shown$effects, `[[`, "estimate")
  if (shown$own) estimates <- lapply(estimates, function(e) as.vector(in_one_unit(cbind(e))))
  axes <- Map(function(name, most, up) image_axis(shown$effects[[1L]][[name]], estimates, most, up),
              x$columns, most, c(FALSE, TRUE))
  if (min(lengths(lapply(axes, `[[`, "beg"))) == 0L) {
    stop_argument("there is nothing to draw: all values of the grid are missing", "x")
  }
  axes
}

# Rectangles of the points that have a place: a row each.
image_cells <- function(axes, estimate) {
  estimate[!is.finite(estimate)] <- NA
  at <- which(!is.na(axes[[1L]]$place) & !is.na(axes[[2L]]$place))
  a <- axes[[1L]]$place[at]
  b <- axes[[2L]]$place[at]
  data.frame(left = axes[[1L]]$beg[a], right = axes[[1L]]$end[a], bottom = axes[[2L]]$beg[b], top = axes[[2L]]$end[b],
             estimate = estimate[at])
}

# list(values = what the axis shows, beg, end = edges of the cells in the axis' numbers, place = cell of each point, NA
# where it is not drawn; lost = is its number missing? n = how many cells there could be). Missing levels are a level of
# their own. up: does the axis go up, with the first level at the bottom?
image_axis <- function(v, estimates = list(numeric(length(v))), most = most_levels, up = FALSE) {
  v <- axis_values(v)
  if (is_level(v)) {
    if (is.logical(v)) v <- factor(v, c(FALSE, TRUE))
    texts <- as.character(v)
    levels <- if (is.factor(v)) levels(v)[levels(v) %in% texts] else unique(texts[!is.na(texts)])
    if (anyNA(texts)) levels <- c(levels, NA)
    means <- vapply(estimates, function(e) {
      as.vector(tapply(e, factor(match(texts, levels), seq_along(levels)), mean, na.rm = TRUE))
    }, numeric(length(levels)))
    chosen <- chosen_levels(matrix(means, length(levels)), is.ordered(v), most)
    if (up && is.unsorted(chosen)) chosen <- rev(chosen)
    labels <- make_distinct(plain_text(levels))[chosen]
    n <- seq_along(chosen)
    return(list(values = factor(labels, labels), beg = n - 0.5, end = n + 0.5, place = match(texts, levels[chosen]),
                lost = rep(FALSE, length(texts)), n = length(levels)))
  }
  number <- order_numbers(v)
  known <- sort(unique(number))
  n <- length(known)
  edges <- if (n > 1L) {
    middle <- known[-n] / 2 + known[-1L] / 2
    c(known[1L] - (middle[1L] - known[1L]), middle, known[n] + (known[n] - middle[n - 1L]))
  } else if (n == 1L) {
    widen(c(known, known))
  }
  list(values = v, beg = edges[seq_len(n)], end = edges[seq_len(n) + 1L][seq_len(n)], place = match(number, known),
       lost = is.na(number), n = n)
}
