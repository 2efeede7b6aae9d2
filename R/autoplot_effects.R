# autoplot() of effects, contributions, curves, intervals, drift and trees; R/autoplot.R has what is shared.

# A horizontal or vertical axis as plot() has it: dates, times, levels.
gg_axis <- function(scale, direction = "x") {
  ticks <- scale_ticks(scale, 6L)
  make <- if (direction == "x") ggplot2::scale_x_continuous else ggplot2::scale_y_continuous
  make(breaks = ticks$at, labels = ticks$label)
}

# ---- partial dependence ----

#' @rdname gbt_autoplot
#' @exportS3Method ggplot2::autoplot
autoplot.gbt_partial <- function(object, output = NULL, ...) {
  check_no_dots(written_dots(...), names(formals(autoplot.gbt_partial)))
  shown <- partial_shown(object, output)
  title <- paste("Partial dependence on", paste(plain_text(object$columns), collapse = " and "))
  if (length(object$columns) == 2L) return(gg_partial_image(object, shown, title))
  if (is_level_axis(object)) gg_partial_levels(object, shown, title) else gg_partial_lines(object, shown, title)
}

gg_partial_lines <- function(x, shown, title) {
  lines <- partial_lines(x, shown)
  at <- lines$panel$round
  outputs <- factor(given_or(shown$outputs, ""), unique(given_or(shown$outputs, "")))
  mean <- gg_frame(at = rep(at, length(outputs)), value = unlist(lines$panel$values),
                   output = rep(outputs, each = length(at)))
  p <- gg_page(mean, title, shown$text, x$columns, shown$estimate)
  if (length(lines$ice)) p <- p + gg_curves(at, lines$ice, outputs)
  several <- length(outputs) > 1L
  p <- p + if (several) {
    ggplot2::geom_line(gg_aes(x = "at", y = "value", colour = "output", linetype = "output"), linewidth = 0.9,
                       na.rm = TRUE)
  } else {
    ggplot2::geom_line(gg_aes(x = "at", y = "value"), linewidth = 0.9, na.rm = TRUE, colour = ink$band)
  }
  if (length(at) == 1L) p <- p + ggplot2::geom_point(gg_aes(x = "at", y = "value"), colour = ink$band)
  rug <- if (!is.null(x$spread[[x$columns]])) order_numbers(x$spread[[x$columns]])
  p + gg_axis(make_scale(lines$at, extend = 0.02)) + (if (several) gg_series(length(outputs))) +
    (if (several && length(lines$ice)) gg_panels("output")) + ggplot2::labs(caption = partial_notes(shown, x$columns)) +
    if (length(rug)) ggplot2::geom_rug(gg_aes(x = "at"), data = gg_frame(at = unique(rug)), inherit.aes = FALSE)
}

# The curves of rows. ice: a list by output of matrices, points by rows.
gg_curves <- function(at, ice, outputs) {
  n <- vapply(ice, ncol, 1L)
  each <- gg_frame(at = rep(at, sum(n)), value = unlist(lapply(ice, as.vector)),
                   row = rep(seq_len(sum(n)), each = length(at)), output = rep(outputs, n * length(at)))
  ggplot2::geom_line(gg_aes(x = "at", y = "value", group = "row"), data = each, na.rm = TRUE, linewidth = 0.3,
                     colour = curve_colour(max(n)))
}

gg_partial_levels <- function(x, shown, title) {
  label <- plain_text(shown$effects[[1L]][[x$columns]])
  outputs <- factor(given_or(shown$outputs, ""), unique(given_or(shown$outputs, "")))
  place <- rev(seq_along(label))
  means <- gg_frame(value = unlist(lapply(shown$effects, `[[`, "estimate")), place = rep(place, length(outputs)),
                    output = rep(outputs, each = length(label)))
  rows <- lapply(given_or(shown$ice, list()), ice_curves, x$columns, seq_along(label))
  p <- gg_page(means, title, shown$text, shown$estimate) + gg_rows(make_distinct(label), most_levels)
  if (length(rows)) {
    n <- vapply(rows, ncol, 1L)
    each <- gg_frame(value = unlist(lapply(rows, as.vector)), place = rep(place, sum(n)),
                     output = rep(outputs, n * length(label)))
    p <- p + ggplot2::geom_point(gg_aes(x = "value", y = "place"), data = each, shape = "|", size = 4,
                                 colour = curve_colour(max(n)), na.rm = TRUE)
  }
  p + ggplot2::geom_point(gg_aes(x = "value", y = "place"), colour = ink$band, size = 2, na.rm = TRUE) +
    if (length(outputs) > 1L) gg_panels("output")
}

gg_partial_image <- function(x, shown, title) {
  axes <- image_axes(x, shown)
  cells <- lapply(seq_along(shown$effects), function(i) {
    cells <- image_cells(axes, shown$effects[[i]]$estimate, c(0, 1))
    cells$output <- rep(given_or(shown$outputs, "")[i], nrow(cells))
    cells
  })
  cells <- do.call(rbind, cells)
  cells$output <- factor(cells$output, unique(cells$output))
  scales <- lapply(axes, function(axis) make_scale(axis$values))
  gg_page(cells, title, shown$text, x$columns[1L], x$columns[2L]) +
    ggplot2::geom_rect(gg_aes(xmin = "left", xmax = "right", ymin = "bottom", ymax = "top", fill = "estimate")) +
    ggplot2::scale_fill_gradientn(colours = scale_colours(64L), name = shown$estimate) +
    gg_axis(scales[[1L]]) + gg_axis(scales[[2L]], "y") + ggplot2::theme(legend.position = "right") +
    if (length(shown$effects) > 1L) gg_panels("output")
}

# ---- contributions ----

#' @rdname gbt_autoplot
#' @exportS3Method ggplot2::autoplot
autoplot.gbt_shap <- function(object, row = NULL, top = 20L, output = NULL, against = NULL, by = NULL, ...) {
  check_no_dots(written_dots(...), names(formals(autoplot.gbt_shap)))
  shown <- shap_shown(object, output)
  check_shap_choice(row, against, by, shown$columns, !missing(top))
  top <- check_whole(top, "top", 1)
  if (!is.null(against)) return(gg_shap_against(object, shown, against, by))
  if (is.null(row)) gg_shap_summary(object, shown, top) else gg_shap_row(object, shown, shap_row(object, row), top)
}

gg_ramp <- function(title) {
  ggplot2::scale_colour_gradientn(colours = shap_colours(), na.value = "#BFBFBF", limits = c(0, 1), breaks = c(0, 1),
                                  labels = c("low", "high"), name = title)
}

gg_shap_summary <- function(x, shown, top) {
  n <- nrow(shown$values[[1L]])
  rows <- dotted_rows(n)
  shares <- lapply(x$data, value_shares)
  lim <- shap_limits(unlist(shown$values))
  several <- length(shown$values) > 1L
  order <- columns_by_size(do.call(rbind, shown$values), top) # of all outputs, which share the axis
  dots <- lapply(seq_along(shown$values), function(i) {
    v <- shown$values[[i]][rows, order, drop = FALSE]
    offset <- as.vector(apply((v - lim[1L]) / diff(lim), 2L, dense_offsets))
    list(value = as.vector(v), share = unlist(lapply(shares[order], `[`, rows)),
         place = rep(rev(seq_along(order)), each = length(rows)) + offset, output = rep(i, length(v)))
  })
  dots <- do.call(Map, c(c, dots))
  if (several) dots$output <- factor(shown$outputs[dots$output], shown$outputs)
  text <- if (n > most_dots) sprintf("%.0f of %s", length(rows), counted(n, "row")) else counted(n, "row")
  gg_page(list_frame(dots, length(dots$value)), "Contributions of columns", text, "contribution to the score") +
    ggplot2::geom_vline(xintercept = 0, colour = ink$axis) +
    ggplot2::geom_point(gg_aes(x = "value", y = "place", colour = "share"), size = 1.1) +
    gg_ramp("value of the column") + gg_rows(make_distinct(plain_text(shown$columns[order]))) +
    if (several) gg_panels("output")
}

gg_shap_row <- function(x, shown, place, top) {
  label <- shap_row_labels(x, shown, place)
  ends <- shap_row_ends(shown, place)
  several <- length(shown$values) > 1L
  steps <- lapply(seq_along(shown$values), function(i) {
    s <- waterfall(shown$values[[i]][place, ], label, unname(shown$base[i]), top)
    s$place <- rev(seq_len(nrow(s)))
    s$output <- rep(if (several) paste0(plain_text(shown$outputs[i]), ": ", ends[i]) else "", nrow(s))
    s$key <- gg_keys(make_distinct(s$label), i)
    s
  })
  steps <- do.call(rbind, steps)
  steps$output <- factor(steps$output, unique(steps$output))
  steps$key <- factor(steps$key, rev(steps$key))
  steps$sign <- factor(ifelse(steps$value < 0, "below 0", "above 0"), c("below 0", "above 0"))
  steps$text <- paste0(ifelse(steps$value > 0, "+", ""), number_label(steps$value))
  steps$end <- pmax(steps$from, steps$to)
  title <- paste("Contributions in row", shap_row_name(x, place))
  gg_page(steps, title, if (!several) ends, "score") +
    ggplot2::geom_segment(gg_aes(x = "from", xend = "to", y = "key", yend = "key", colour = "sign"), linewidth = 5) +
    ggplot2::geom_text(gg_aes(x = "end", y = "key", label = "text"), hjust = -0.15, size = 3, colour = ink$soft) +
    ggplot2::scale_colour_manual(values = c(ink$band, ink$mark), drop = FALSE, guide = "none") +
    ggplot2::scale_x_continuous(expand = ggplot2::expansion(c(0.05, 0.15))) + gg_key_rows() +
    if (several) gg_panels("output", "free_y", 1L)
}

gg_shap_against <- function(x, shown, against, by) {
  a <- shap_against(x, shown, against, by)
  n <- length(a$at)
  level <- is_level(a$at)
  several <- length(a$value) > 1L
  outputs <- factor(given_or(shown$outputs, ""), unique(given_or(shown$outputs, "")))
  place <- if (level) level_dots(a$at)$place else order_numbers(a$at)
  dots <- gg_frame(at = rep(place, length(a$value)), value = unlist(a$value), output = rep(outputs, each = n),
                   share = rep(given_or(a$share, rep(NA_real_, n)), length(a$value)))
  groups <- a$groups
  if (!is.null(groups)) dots$share <- factor(groups$label[rep(groups$group, length(a$value))], groups$label)
  words <- "contribution to the score"
  title <- paste("Contributions of", plain_text(against))
  point <- function(x, y) {
    if (is.null(by)) return(ggplot2::geom_point(gg_aes(x = x, y = y), colour = ink$band, alpha = 0.6, na.rm = TRUE))
    key <- if (is.null(groups)) gg_ramp(paste("value of", by)) else
      ggplot2::scale_colour_manual(values = groups$col, name = paste("value of", by))
    list(ggplot2::geom_point(gg_aes(x = x, y = y, colour = "share"), na.rm = TRUE), key)
  }
  p <- if (level) {
    lim <- shap_limits(unlist(a$value))
    label <- level_dots(a$at)$label
    group <- paste(dots$at, as.integer(dots$output))
    dots$at <- length(label) + 1L - dots$at + stats::ave((dots$value - lim[1L]) / diff(lim), group, FUN = dense_offsets)
    gg_page(dots, title, a$text, words) + ggplot2::geom_vline(xintercept = 0, colour = ink$axis) +
      point("value", "at") + gg_rows(label, most_levels)
  } else {
    gg_page(dots, title, a$text, against, words) +
      ggplot2::geom_hline(yintercept = 0, linetype = 2, colour = ink$soft) + point("at", "value") +
      gg_axis(make_scale(a$at)) +
      ggplot2::labs(caption = shap_against_note(a, against, FALSE, shown$outputs))
  }
  p + if (several) gg_panels("output")
}

# ---- curves, calibration, intervals ----

#' @rdname gbt_autoplot
#' @exportS3Method ggplot2::autoplot
autoplot.gbt_curve <- function(object, ...) {
  check_no_dots(written_dots(...), character(0))
  shown <- curve_shown(object)
  p <- gg_curve(shown)
  if (shown$type != "lift" || length(shown$shapes) > 1L) return(p)
  share <- object$share
  bins <- gg_frame(left = c(0, share[-length(share)]), right = share, lift = object$lift)
  bars <- ggplot2::geom_rect(gg_aes(xmin = "left", xmax = "right", ymax = "lift"), data = bins, ymin = 0,
                             fill = transparent(ink$band, 0.45), colour = "white", inherit.aes = FALSE)
  p$layers <- c(list(bars), p$layers)
  p
}

#' @rdname gbt_autoplot
#' @exportS3Method ggplot2::autoplot
autoplot.gbt_calibrated <- function(object, output = NULL, ...) {
  check_no_dots(written_dots(...), names(formals(autoplot.gbt_calibrated)))
  gg_curve(calibrated_shown(object, output))
}

# shown: see curve_shown().
gg_curve <- function(shown) {
  shapes <- shown$shapes
  n <- vapply(shapes, function(s) length(s$x), 1L)
  names <- given_or(shown$names, "")
  lines <- gg_frame(x = unlist(lapply(shapes, `[[`, "x")), y = unlist(lapply(shapes, `[[`, "y")),
                    set = factor(rep(names, n), names))
  plain <- plain_of(shapes)
  several <- length(shapes) > 1L
  what <- if (shown$type == "lift" && several) "cumulative lift" else shown$words[3L]
  aes <- if (several) gg_aes(x = "x", y = "y", colour = "set", linetype = "set") else gg_aes(x = "x", y = "y")
  colour <- if (several) NULL else if (shown$type == "lift") ink$mark else ink$band
  add <- function(layer, ...) if (is.null(colour)) layer(aes, ...) else layer(aes, colour = colour, ...)
  gg_page(lines, shown$words[1L], shown$text, shown$words[2L], what) +
    (if (length(plain)) ggplot2::geom_path(gg_aes(x = "x", y = "y"), data = gg_frame(x = plain$x, y = plain$y),
                                           linetype = 2, colour = ink$soft)) +
    add(ggplot2::geom_path, linewidth = 0.8) + (if (shown$type %in% c("calibration", "lift")) add(gg_points)) +
    (if (several) gg_series(length(shapes))) +
    ggplot2::expand_limits(x = shapes[[1L]]$x_range, y = range(shapes[[1L]]$y_range))
}

gg_points <- function(aes, ...) {
  aes$linetype <- NULL
  ggplot2::geom_point(aes, ...)
}

#' @rdname gbt_autoplot
#' @exportS3Method ggplot2::autoplot
autoplot.gbt_conformal <- function(object, newdata = NULL, y = NULL, level = 0.9, threads = NULL, ...) {
  check_no_dots(written_dots(...), names(formals(autoplot.gbt_conformal)))
  level <- check_share(level)
  check_conformal_choice(newdata, y, threads)
  if (is.null(newdata)) return(gg_curve(conformal_levels(object, level)))
  shown <- conformal_rows(object, newdata, y, level, threads)
  if (gives_sets(object)) {
    return(gg_bars(list(label = shown$label, value = shown$rows), "Conformal sets", shown$text, "rows"))
  }
  rows <- gg_frame(row = seq_along(shown$estimate), estimate = shown$estimate, lower = shown$lower, upper = shown$upper)
  p <- gg_page(rows, "Conformal intervals", shown$text, "rows by estimate", "response") +
    ggplot2::geom_linerange(gg_aes(x = "row", ymin = "lower", ymax = "upper"), colour = transparent(ink$band, 0.4),
                            linewidth = max(0.4, min(2.5, 150 / nrow(rows)))) +
    ggplot2::geom_point(gg_aes(x = "row", y = "estimate"), colour = ink$band, size = 0.8)
  if (is.null(shown$observed)) return(p)
  seen <- gg_frame(row = rows$row, observed = shown$observed)
  p + ggplot2::geom_point(gg_aes(x = "row", y = "observed"), data = seen, colour = ink$mark, size = 1)
}

# ---- drift ----

#' @rdname gbt_autoplot
#' @exportS3Method ggplot2::autoplot
autoplot.gbt_monitor <- function(object, name = NULL, top = 40L, ...) {
  check_no_dots(written_dots(...), names(formals(autoplot.gbt_monitor)))
  check_monitor_choice(name, !missing(top))
  if (!is.null(name)) return(gg_monitor_bins(monitor_bins(object, name)))
  shown <- monitor_shown(object, top)
  n <- length(shown$name)
  rows <- gg_frame(psi = pmin(shown$psi, most_drift), noise = shown$noise, place = rev(seq_len(n)),
                   drift = factor(drift_words[as.integer(shown$drift)], drift_words), chance = rep("by chance", n))
  beyond <- which(shown$psi > most_drift)
  text <- gg_frame(place = rows$place[beyond], label = paste0(number_label(shown$psi[beyond]), "  "))
  gg_page(rows, "Drift", shown$text, "population stability index") +
    ggplot2::geom_vline(xintercept = drift_limits, linetype = 2, colour = ink$soft) +
    ggplot2::geom_segment(gg_aes(xend = "noise", y = "place", yend = "place", linetype = "chance"), x = 0,
                          colour = ink$axis) +
    ggplot2::scale_linetype_manual(values = 1) +
    ggplot2::geom_point(gg_aes(x = "psi", y = "place", colour = "drift"), size = 2) +
    ggplot2::scale_colour_manual(values = drift_colours(), drop = FALSE) + gg_rows(shown$name) +
    if (length(beyond)) ggplot2::geom_text(gg_aes(y = "place", label = "label"), data = text, x = most_drift, hjust = 1,
                                           size = 3)
}

gg_monitor_bins <- function(shown) {
  n <- length(shown$label)
  sides <- c("reference", "new rows")
  bins <- gg_frame(share = c(shown$reference, shown$new), side = factor(rep(sides, each = n), sides),
                   place = rep(rev(seq_len(n)), 2L) + rep(c(0.19, -0.19), each = n))
  gg_page(bins, paste("Drift of", shown$name), sprintf("PSI %s", number_label(shown$psi)), "share of rows") +
    ggplot2::geom_col(gg_aes(x = "share", y = "place", fill = "side"), width = 0.38, orientation = "y") +
    ggplot2::scale_fill_manual(values = c(ink$band, ink$mark)) + gg_rows(shown$label)
}

# ---- trees ----

#' @rdname gbt_autoplot
#' @exportS3Method ggplot2::autoplot
autoplot.gbt_tree <- function(object, show = c("gain", "cover"), depth = 4L, ...) {
  check_no_dots(written_dots(...), names(formals(autoplot.gbt_tree)))
  show <- check_tree_parts(show)
  all <- object$nodes
  nodes <- part_of_tree(all, all$node[1L], check_whole(depth, "depth", 0))
  nodes$across <- tidy_places(nodes, rep(1, nrow(nodes)), 0.1)
  lines <- node_lines(nodes, show, TRUE)
  boxes <- gg_frame(x = nodes$across, y = -nodes$depth, fill = leaf_fills(nodes, c(ink$band, ink$mark)),
                    label = vapply(lines, function(l) paste(l$text, collapse = "\n"), ""))
  child <- child_rows(nodes)
  parent <- rep(which(!is.na(child$left)), 2L)
  to <- c(child$left, child$right)
  to <- to[!is.na(to)]
  branches <- gg_frame(x = nodes$across[parent], y = -nodes$depth[parent], xend = nodes$across[to],
                       yend = -nodes$depth[to], label = branch_texts(nodes)[to],
                       wide = branch_widths(nodes)[to] * 25.4 / 96)
  branches$turn <- branches$y - 0.5
  cut <- max(nodes$depth) < max(all$depth)
  p <- gg_page(boxes, tree_title(object), tree_words(object)) +
    ggplot2::labs(caption = if (cut) "lower layers are left out: depth = has more of them") + ggplot2::theme_void() +
    ggplot2::theme(plot.title = ggplot2::element_text(face = "bold"), plot.caption = ggplot2::element_text(hjust = 0))
  if (nrow(branches)) {
    edge <- function(...) ggplot2::geom_segment(gg_aes(..., linewidth = "wide"), data = branches, colour = ink$axis)
    p <- p + edge(x = "x", y = "y", xend = "x", yend = "turn") +
      edge(x = "x", y = "turn", xend = "xend", yend = "turn") +
      edge(x = "xend", y = "turn", xend = "xend", yend = "yend") +
      ggplot2::scale_linewidth_identity(guide = "none") +
      ggplot2::geom_label(gg_aes(x = "xend", y = "turn", label = "label"), data = branches, vjust = 1, size = 2.6,
                          fill = "white", label.size = 0, label.padding = ggplot2::unit(0.1, "lines"),
                          colour = ink$soft)
  }
  p + ggplot2::geom_label(gg_aes(x = "x", y = "y", label = "label"), size = 2.8, fill = "white", label.size = 0) +
    ggplot2::geom_label(gg_aes(x = "x", y = "y", label = "label", fill = "fill"), size = 2.8, label.size = 0.2) +
    ggplot2::scale_fill_identity() + ggplot2::scale_x_continuous(expand = ggplot2::expansion(add = 0.6)) +
    ggplot2::scale_y_continuous(expand = ggplot2::expansion(add = 0.5))
}
