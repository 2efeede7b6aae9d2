# Partial dependence: lines with the curves of rows behind, points by level, images of two columns.

#' Draw partial dependence
#'
#' One column of numbers or times: a line for each output, the curves of single rows (ICE) behind it in a light colour
#' where they were kept, and a rug of the deciles of the data. One column with levels: a point for each level, the rows'
#' values behind it. Two columns: an image with a colour key. Several outputs with curves of rows, levels or two columns
#' get a panel each, all on one scale.
#'
#' What the grid has for missing values stands at the foot where the axis has no place for it.
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
  shown <- partial_shown(x, output)
  on <- paste(plain_text(x$columns), collapse = " and ")
  given$main <- given_or(given[["main"]], paste("Partial dependence on", on))
  given$sub <- given_or(given[["sub"]], shown$text)
  draw <- if (two) draw_partial_image else if (level) draw_partial_levels else draw_partial_lines
  draw_page(title = given$main, subtitle = given$sub, body = function(page) draw(page, x, shown, given))
  invisible(x)
}

is_level_axis <- function(x) is_level(x$effects[[x$columns[1L]]])

is_level <- function(v) has_levels(v) || is.logical(v)

# list(effects = list of data frames by output, ice = the same or NULL, outputs = names or NULL, estimate = name of
# what is averaged, text = subtitle).
partial_shown <- function(x, output) {
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
  estimate <- c(link = "mean score (link)", response = "mean prediction", prob = "mean probability")[[x$type]]
  if (x$centred) estimate <- sub("mean ", "change of the mean ", estimate, fixed = TRUE)
  text <- if (is.null(x$rows)) {
    "mean over training rows, by cover"
  } else if (x$rows < x$n_obs) {
    sprintf("mean over %s of %s", format(x$rows), counted(x$n_obs, "row"))
  } else {
    paste("mean over", counted(x$n_obs, "row"))
  }
  list(effects = effects, ice = split_by(x$ice), outputs = outputs, estimate = estimate, text = text)
}

# A column of numbers or times as the axis has it: dates and times keep their class.
axis_values <- function(v) {
  if (inherits(v, "POSIXlt")) v <- as.POSIXct(v)
  if (inherits(v, c("Date", "POSIXct")) || is_level(v)) v else order_numbers(v)
}

# Lines ---------------------------------------------------------------------------------------------------------------

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

draw_partial_lines <- function(page, x, shown, given) {
  name <- x$columns
  lines <- partial_lines(x, shown)
  at <- lines$at
  ice <- lines$ice
  panel <- lines$panel
  many <- length(ice) > 1L
  style <- line_style(length(shown$effects), given)
  outer <- inner(page)
  outer[3L] <- put_note(page, partial_notes(shown, name, ice), outer[1L], outer[3L], outer[2L])
  scale <- make_scale(at, given_or(given[["xlab"]], name), given[["xlim"]], extend = 0.02)
  each <- do.call(c, lapply(ice, function(curves) lapply(seq_len(ncol(curves)), function(j) curves[, j])))
  vertical <- visible_scale(list(round = panel$round, values = c(panel$values, each)), scale,
                            given_or(given[["ylab"]], shown$estimate), given[["ylim"]], FALSE)
  rug <- if (!is.null(x$spread[[name]]) && !is.table(x$spread[[name]])) order_numbers(x$spread[[name]])
  one <- function(outer, which, ends, heading, box) {
    box <- draw_panel(page, outer, scale, vertical, heading = heading, box = box,
                      right = if (is.null(ends)) 0 else ends$width)
    if (length(ice)) draw_curves(panel$round, ice[[which]], scale)
    draw_rug(page, rug, scale, vertical, box)
    part <- panel
    part$values <- panel$values[which]
    draw_log_lines(page, part, scale, vertical, lapply(style, `[`, which), box, list(round = NULL), ends,
                   given_or(shown$outputs, "")[which])
    box
  }
  if (many) {
    return(draw_output_panels(page, outer, shown$outputs, function(i, box) one(box, i, NULL, shown$outputs[i], NULL)))
  }
  names <- shown$outputs
  key <- list(label = names, col = style$col, lty = style$lty, lwd = style$lwd, kind = "line")
  head <- title_height(page)
  direct <- length(names) > 1L && length(names) <= 8L
  ends <- if (direct) line_ends(page, panel, names, scale, vertical, 0.6 * page$height)
  with_key <- length(names) > 0L && is.null(ends)
  if (with_key) head <- head + outer[4L] - put_key(page, key, outer[1L], outer[4L], outer[2L], draw = FALSE)
  outer[4L] <- outer[4L] - head
  box <- one(outer, seq_along(shown$effects), ends, NULL, user_box(page))
  top <- put_titles(page, outer[1L], title_top(page, box, head), outer[2L])
  if (with_key) put_key(page, key, outer[1L], top, outer[2L])
  restore_panel(page, box, scale, vertical, ends)
}

# Panels of outputs below the titles, as many as have room. one: function(number of the output, box).
draw_output_panels <- function(page, outer, outputs, one, least = c(1.6, 1.1)) {
  outer[4L] <- put_titles(page, outer[1L], outer[4L], outer[2L])
  fit <- fit_panels(page, outer, length(outputs), least)
  if (fit$left_out) {
    note <- sprintf("%s not shown for lack of room", counted(fit$left_out, "output"))
    outer[3L] <- put_note(page, note, outer[1L], outer[3L], outer[2L])
    fit$boxes <- given_or(panel_grid(page, outer, length(fit$boxes), c(0, 0)), fit$boxes)
  }
  for (i in seq_along(fit$boxes)) one(i, fit$boxes[[i]])
  invisible()
}

most_curves <- 1000L

# Matrix of curves: points of the grid, in `order`, by rows; of too many an even choice.
ice_curves <- function(ice, name, order) {
  rows <- unique(ice$row)
  curves <- t(matrix(ice$estimate, length(rows)))[order, , drop = FALSE]
  n <- ncol(curves)
  if (n > most_curves) curves <- curves[, unique(floor(seq(1, n, length.out = most_curves))), drop = FALSE]
  curves
}

partial_notes <- function(shown, name, ice = list()) {
  missing <- which(is.na(shown$effects[[1L]][[name]]))
  note <- if (length(missing)) {
    value <- number_label(vapply(shown$effects, function(e) e$estimate[missing[1L]], 0))
    if (!is.null(shown$outputs)) value <- paste0(plain_text(shown$outputs), ": ", value)
    sprintf("where %s is missing: %s", plain_text(name), paste(value, collapse = ", "))
  }
  n <- length(unique(shown$ice[[1L]]$row))
  curves <- if (n > most_curves && length(ice)) sprintf("%.0f of %s", ncol(ice[[1L]]), counted(n, "curve"))
  note <- paste(c(note, curves), collapse = "; ")
  if (nzchar(note)) note
}

# Light however many curves lie over one another.
curve_colour <- function(n) transparent("#ABABAB", max(0.12, min(0.8, 30 / n)))

draw_curves <- function(at, curves, scale) {
  inside <- at >= scale$lim[1L] & at <= scale$lim[2L]
  curves[!is.finite(curves)] <- NA
  col <- curve_colour(ncol(curves))
  if (sum(inside) == 1L) {
    at <- rep(at[inside], ncol(curves))
    return(graphics::points(at, curves[inside, ], pch = 19, cex = 0.5, col = col, xpd = FALSE))
  }
  for (j in seq_len(ncol(curves))) graphics::lines(at[inside], curves[inside, j], col = col, lwd = 0.8, xpd = FALSE)
}

# Short ticks inside the lower edge of the panel.
draw_rug <- function(page, at, x, y, box) {
  at <- at[at >= x$lim[1L] & at <= x$lim[2L]]
  if (length(at) == 0L) return(invisible())
  high <- inch_in(box, x$lim, y$lim)$below(-0.07 * page$size)
  graphics::segments(at, y$lim[1L], at, high, col = ink$text, lwd = 1, xpd = FALSE)
}

# Levels --------------------------------------------------------------------------------------------------------------

draw_partial_levels <- function(page, x, shown, given) {
  name <- x$columns
  label <- plain_text(shown$effects[[1L]][[name]])
  ice <- given_or(shown$ice, list())
  outer <- inner(page)
  values <- as.double(unlist(lapply(c(shown$effects, ice), `[[`, "estimate")))
  lim <- given_or(given[["xlim"]], bar_limits(make_scale(values, extend = 0)$lim, "point", 0))
  col <- series_style(length(shown$effects), given[["col"]])$col
  one <- function(i, box) {
    box <- panel_heading(page, box, shown$outputs[i])
    bars <- list(label = label, value = shown$effects[[i]]$estimate, col = rep_len(col[i], length(label)))
    drawn <- draw_bars(page, box, bars, given_or(given[["xlab"]], shown$estimate), lim, "point",
                       left_out = function(k) sprintf("%s not shown for lack of room", counted(k, "level")))
    if (length(ice) == 0L) return(drawn)
    curves <- ice_curves(ice[[i]], name, seq_along(label))[seq_len(drawn$n), , drop = FALSE]
    light <- curve_colour(ncol(curves))
    half <- min(0.3, 0.3 * 8 / drawn$n + 0.15)
    graphics::segments(curves, drawn$at - half, curves, drawn$at + half, col = light, lwd = 1.2, xpd = FALSE)
    graphics::points(bars$value[seq_len(drawn$n)], drawn$at, pch = 19, col = col[i], xpd = FALSE)
    drawn
  }
  if (length(shown$effects) > 1L) return(draw_output_panels(page, outer, shown$outputs, one, c(1.8, 1.4)))
  outer[4L] <- put_titles(page, outer[1L], outer[4L], outer[2L])
  one(1L, outer)
}

# Images --------------------------------------------------------------------------------------------------------------

draw_partial_image <- function(page, x, shown, given) {
  axes <- image_axes(x, shown)
  scales <- Map(function(axis, name, given_name) {
    scale <- make_scale(axis$values, given_or(given[[given_name]], name))
    scale$lim <- range(axis$beg, axis$end)
    scale
  }, axes, x$columns, c("xlab", "ylab"))
  lost <- sum(is.na(axes[[1L]]$place) | is.na(axes[[2L]]$place))
  values <- unlist(lapply(shown$effects, `[[`, "estimate"))
  range <- range(values[is.finite(values)])
  outer <- inner(page)
  note <- if (lost) sprintf("%s with missing numbers not shown", counted(lost, "point"))
  outer[3L] <- put_note(page, note, outer[1L], outer[3L], outer[2L])
  one <- function(outer, i, box = NULL) {
    box <- draw_panel(page, outer, scales[[1L]], scales[[2L]], heading = shown$outputs[i], grid = "", box = box)
    cells <- image_cells(axes, shown$effects[[i]]$estimate, range)
    graphics::rect(cells$left, cells$bottom, cells$right, cells$top, col = cells$col, border = cells$col, lwd = 0.3,
                   xpd = FALSE)
    box
  }
  key <- function(left, top, right) {
    put_colour_key(page, c(left, min(right, left + 3.2), top - colour_key_height(page), top), scale_colours(),
                   range[1L], range[2L], shown$estimate)
  }
  tall <- colour_key_height(page) + 0.6 * line_height(page, 0.8)
  if (length(shown$effects) > 1L) {
    top <- outer[4L] - title_height(page)
    key(outer[1L], top, outer[2L])
    title <- outer
    outer[4L] <- top - tall
    put_titles(page, title[1L], title[4L], title[2L])
    page$title <- page$subtitle <- NULL
    return(draw_output_panels(page, outer, shown$outputs, function(i, box) one(box, i)))
  }
  head <- title_height(page) + tall
  outer[4L] <- outer[4L] - head
  box <- one(outer, 1L, user_box(page))
  key(outer[1L], put_titles(page, outer[1L], title_top(page, box, head), outer[2L]), outer[2L])
  restore_panel(page, box, scales[[1L]], scales[[2L]], NULL)
}

image_axes <- function(x, shown) {
  axes <- lapply(x$columns, function(name) image_axis(shown$effects[[1L]][[name]]))
  if (min(lengths(lapply(axes, `[[`, "beg"))) == 0L) {
    stop_argument("there is nothing to draw: all values of the grid are missing", "x")
  }
  axes
}

# Rectangles of the points that have a place: a row each.
image_cells <- function(axes, estimate, range) {
  estimate[!is.finite(estimate)] <- NA
  at <- which(!is.na(axes[[1L]]$place) & !is.na(axes[[2L]]$place))
  a <- axes[[1L]]$place[at]
  b <- axes[[2L]]$place[at]
  data.frame(left = axes[[1L]]$beg[a], right = axes[[1L]]$end[a], bottom = axes[[2L]]$beg[b], top = axes[[2L]]$end[b],
             estimate = estimate[at],
             col = colours_of(estimate[at], scale_colours(), range[1L], range[2L]))
}

# list(values = what the axis is of, beg, end = edges of the cells in the axis' numbers, place = cell of each point, NA
# for missing numbers). Missing levels are a level of their own.
image_axis <- function(v) {
  v <- axis_values(v)
  if (is_level(v)) {
    if (is.logical(v)) v <- factor(v, c(FALSE, TRUE))
    texts <- as.character(v)
    levels <- if (is.factor(v)) levels(v)[levels(v) %in% texts] else unique(texts[!is.na(texts)])
    if (anyNA(texts)) levels <- c(levels, NA)
    n <- seq_along(levels)
    labels <- make_distinct(plain_text(levels))
    return(list(values = factor(labels, labels), beg = n - 0.5, end = n + 0.5, place = match(texts, levels)))
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
  list(values = v, beg = edges[seq_len(n)], end = edges[seq_len(n) + 1L][seq_len(n)], place = match(number, known))
}
