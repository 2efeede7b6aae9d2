# Makes plots of ggplot2 from figures (plot_kit_figure.R). A method of autoplot() is in the same file as the one of
# plot(); it is registered when ggplot2 is loaded.

#' Plots by ggplot2
#'
#' `ggplot2::autoplot()` makes of all results that have a [plot()][plot.gbt] a plot of ggplot2, to which layers, scales
#' and themes may be added. It shows the same, and has the same arguments that choose what is shown. Change title,
#' subtitle and labels by `ggplot2::labs()`, colours by scales. ggplot2 does not know the size of the page when it makes
#' a plot. So labels of axes that would overlap are left out, `top` chooses fewer rows, and trees are made for a page of
#' 7 x 5 inches; their letters grow and shrink with the page.
#'
#' @param object What `plot()` of gbt draws: a model or the result of [gbt_importance()], [gbt_cv()], [gbt_tune()],
#'   [gbt_evaluate()], [gbt_partial()], [gbt_shap()], [gbt_curve()], [gbt_calibrate()], [gbt_conformal()],
#'   [gbt_interactions()], [gbt_monitor()], [gbt_confusion()] or [gbt_tree()].
#' @param metric,from,tree,node,type,top,folds,output,row,against,by,measure,pairs,newdata,y,level,threads,name,show As
#'   in `plot()` of the class: [plot.gbt()], [plot.gbt_importance()], [plot.gbt_cv()], [plot.gbt_evaluation()],
#'   [plot.gbt_partial()], [plot.gbt_shap()], [plot.gbt_interactions()], [plot.gbt_conformal()], [plot.gbt_monitor()],
#'   [plot.gbt_tree()].
#' @param depth How many layers of splits of a tree are drawn, at most.
#' @param ... Must be empty: a misspelt argument is an error.
#' @return A plot of class `ggplot`.
#' @seealso [plot.gbt()]
#' @examples
#' if (requireNamespace("ggplot2", quietly = TRUE)) {
#'   library(ggplot2)
#'   m <- gbt_train(mpg ~ ., mtcars, nrounds = 20, valid = 0.3, eval_train = TRUE, threads = 1)
#'   print(autoplot(m) + labs(title = "Fuel consumption"))
#'   print(autoplot(gbt_importance(m), top = 5))
#' }
#' @order 1
#' @name gbt_autoplot
NULL

most_rows <- 30 # of a page
page_letters <- 75 # of labels, side by side on a page of 6.5 inches

# ...: what a method of autoplot() was given beyond its arguments, which is an error.
gg_figure <- function(fig, ...) {
  method <- sys.function(sys.parent())
  check_no_dots(written_dots(...), names(formals(method)))
  n <- length(fig$panels)
  if (n > 1L && !is.null(fig$fewer)) {
    grid <- grDevices::n2mfrow(n) # that of facet_wrap()
    fig <- fig$fewer(ceiling(most_rows / grid[1L]), ceiling(most_rows / grid[2L]))
  }
  made <- !is.null(fig$panels[[1L]]$make)
  if (made) fig <- gg_made(fig)
  own_x <- length(fig$panels) > 1L && !is.null(fig$panels[[1L]]$x)
  if (own_x) fig <- gg_own_x(fig)
  heading <- make_distinct(plain_text(given_or(unlist(lapply(fig$panels, `[[`, "heading")), "")))
  rows <- lapply(fig$panels, `[[`, "rows")
  own_rows <- length(unique(rows)) > 1L
  shift <- if (own_rows) cumsum(c(0, lengths(rows)))[seq_along(rows)] else rep(0, length(rows))
  own_y <- !is.null(fig$panels[[1L]]$y)
  y <- if (own_y && length(heading) == 1L) fig$panels[[1L]]$y else fig$y
  if (own_y && length(heading) > 1L) y$range <- NULL # which would be within the limits of all panels
  marks <- lapply(fig$panels, function(p) {
    c(p$marks, if (!is.null(p$values)) list(mark("text", p$ends, seq_along(p$values), label = p$values,
                                                 adj = c(-0.15, 0.45), col = ink$soft)))
  })
  layers <- lapply(seq_along(marks[[1L]]), function(k) gg_layer(fig, lapply(marks, `[[`, k), heading, shift))
  room <- max(20, page_letters - max(0L, nchar(unlist(rows), "width"))) # of the panels
  plot <- ggplot2::ggplot() + layers + gg_theme(made) + gg_key(fig, room) + gg_rules(marks[[1L]], fig$x) +
    ggplot2::labs(title = fig$title, subtitle = gg_lines(fig$subtitle, 70), x = gg_lines(fig$x$title, 0.8 * room),
                  y = y$title, caption = gg_lines(if (length(fig$note)) paste(fig$note, collapse = "; "), 90))
  if (made) return(plot + ggplot2::expand_limits(x = fig$x$range, y = fig$y$range))
  value <- max(0L, nchar(unlist(lapply(fig$panels, `[[`, "values"))))
  plot + gg_axis(fig$x, "x", min(value / room, 0.6)) +
    (if (is.null(rows[[1L]])) gg_axis(y, "y") else gg_rows(rows, shift, own_rows)) +
    if (length(heading) > 1L || nzchar(heading[1L])) {
      column <- own_rows || isTRUE(fig$stacked) && length(heading) < 7L
      gg_panels(own_rows || own_y, own_x, if (column) 1L else gg_columns(heading))
    }
}

# Columns of panels that have room for their headings; NULL: as many as facet_wrap() takes.
gg_columns <- function(heading) {
  most <- max(1, page_letters %/% (max(nchar(heading, "width")) + 3L))
  if (most < grDevices::n2mfrow(length(heading))[2L]) most
}

# A text in lines of so many letters, or NULL.
gg_lines <- function(text, letters) if (length(text)) paste(strwrap(text, letters), collapse = "\n")

# A figure whose panels have horizontal scales of their own: ggplot2 has one scale for all panels, so each gets a part
# of it, from 2 i to 2 i + 1, with its own ticks. Labels of long levels alternate between two lines.
gg_own_x <- function(fig) {
  scales <- lapply(fig$panels, `[[`, "x")
  place <- function(i, at) 2 * i + share_of_axis(at, scales[[i]])
  fig$panels <- lapply(seq_along(fig$panels), function(i) {
    p <- fig$panels[[i]]
    p$marks <- lapply(p$marks, function(m) {
      for (name in intersect(names(m$data), c("x", "xend"))) m$data[[name]] <- place(i, m$data[[name]])
      m
    })
    p$marks <- c(p$marks, list(mark("blank", 2 * i + c(0, 1))))
    if (!is.null(p$ends)) p$ends <- place(i, p$ends)
    p
  })
  ticks <- lapply(scales, scale_ticks, 3L)
  for (i in which(vapply(scales, function(s) s$kind == "factor" && sum(nchar(s$levels)) > 15L, NA))) {
    second <- seq_along(ticks[[i]]$label) %% 2L == 0L
    ticks[[i]]$label[second] <- paste0("\n", ticks[[i]]$label[second])
  }
  title <- unique(vapply(scales, `[[`, "", "title"))
  fig$x <- list(kind = "number", log = FALSE, title = if (length(title) == 1L) title else "",
                lim = c(2, 2 * length(scales) + 1),
                ticks = list(at = unlist(lapply(seq_along(ticks), function(i) place(i, ticks[[i]]$at))),
                             label = unlist(lapply(ticks, `[[`, "label"))))
  fig
}

gg_theme <- function(void) {
  base <- if (void) ggplot2::theme_void() else ggplot2::theme_minimal()
  base + ggplot2::theme(
    panel.grid.minor = ggplot2::element_blank(), plot.title = ggplot2::element_text(face = "bold"),
    plot.title.position = "plot", plot.subtitle = ggplot2::element_text(colour = ink$soft), legend.position = "top",
    plot.caption = ggplot2::element_text(colour = ink$soft, hjust = 0), plot.caption.position = "plot",
    plot.margin = ggplot2::margin(5.5, 12, 5.5, 5.5), # room for half of the last number below
    legend.justification = "left", legend.margin = ggplot2::margin(0, 0, 0, 0),
    strip.text = ggplot2::element_text(face = "bold", hjust = 0)
  )
}

gg_panels <- function(free_y, free_x, ncol) {
  scales <- if (free_y && free_x) "free" else if (free_y) "free_y" else if (free_x) "free_x" else "fixed"
  list(ggplot2::facet_wrap("panel", scales = scales, ncol = ncol),
       ggplot2::theme(panel.spacing = ggplot2::unit(1, "lines"),
                      panel.border = ggplot2::element_rect(colour = ink$grid, fill = NA)))
}

# Aesthetics by names of columns.
gg_aes <- function(...) do.call(ggplot2::aes, lapply(list(...), as.name))

# Labels of dates, times and levels; numbers are left to ggplot2. values: the share of the panel that texts at the right
# need.
gg_axis <- function(scale, axis, values = 0) {
  make <- if (axis == "x") ggplot2::scale_x_continuous else ggplot2::scale_y_continuous
  expand <- if (values > 0) ggplot2::expansion(c(0.05, max(0.15, min(1.2 * values / (1 - values), 1)))) else
    ggplot2::waiver()
  whole <- function(lim) Filter(function(at) at == round(at), pretty(lim))
  log <- scale$log
  ticks <- given_or(scale$ticks, if (scale$kind != "number" || log) scale_ticks(scale, 6L))
  turned <- axis == "x" && scale$kind == "factor" && sum(nchar(scale$levels)) > 50L
  guides <- if (turned) ggplot2::theme(axis.text.x = ggplot2::element_text(angle = 90, hjust = 1, vjust = 0.5)) else
    ggplot2::guides(x = ggplot2::guide_axis(check.overlap = is.null(scale$ticks)))
  list(if (!is.null(ticks)) make(breaks = ticks$at, labels = ticks$label, expand = expand,
                                 trans = if (log) "log10" else "identity")
       else make(breaks = if (isTRUE(scale$whole)) whole else ggplot2::waiver(), expand = expand),
       if (axis == "x") guides,
       if (!is.null(scale$range)) do.call(ggplot2::expand_limits, stats::setNames(list(scale$range), axis)))
}

# Rows from the top down.
gg_rows <- function(rows, shift, own) {
  if (!own) rows <- rows[1L]
  at <- unlist(Map(function(rows, shift) shift + seq_along(rows), rows, shift[seq_along(rows)]))
  list(ggplot2::scale_y_continuous(trans = "reverse", breaks = at, labels = plain_text(unlist(rows)),
                                   expand = ggplot2::expansion(add = 0.6)),
       ggplot2::guides(y = ggplot2::guide_axis(check.overlap = TRUE)),
       ggplot2::theme(panel.grid.major.y = ggplot2::element_blank()))
}

# Marks at one place of several panels, as a layer.
gg_layer <- function(fig, marks, heading, shift) {
  used <- which(!vapply(marks, function(m) is.null(m) || nrow(m$data) == 0L, NA))
  if (length(used) == 0L) return(NULL)
  m <- marks[[used[1L]]]
  data <- do.call(rbind, lapply(used, function(i) {
    d <- marks[[i]]$data
    for (name in intersect(names(d), c("y", "yend"))) d[[name]] <- d[[name]] + shift[i]
    d$panel <- rep(factor(heading[i], heading), nrow(d))
    d
  }))
  set <- if (!is.null(data$set)) "set"
  if (m$kind == "line" && !anyDuplicated(data[c("panel", set)])) return(NULL) # ggplot2 has a message for single points
  s <- mark_style(m, data, fig)
  if (!is.null(set)) data$set <- factor(key_labels(fig$key)[data$set], key_labels(fig$key))
  by <- given_or(set, if (!is.null(data$share)) "share")
  alike <- function(name) if (length(unique(s[[name]])) == 1L) s[[name]][1L] else s[[name]]
  place <- function(...) Filter(Negate(is.null), list(...)) # aesthetics
  add <- function(geom, where, aes = NULL, ...) {
    looks <- list(...)
    if (!is.null(by) && !is.null(aes)) where[[aes]] <- by else if (!is.null(aes)) looks[[aes]] <- alike("col")
    if (!is.null(set) && m$kind %in% c("line", "step")) where$linetype <- set
    else if (m$kind %in% c("line", "step", "segment", "rule")) looks$linetype <- alike("lty")
    do.call(geom, c(list(do.call(gg_aes, where), data = data, na.rm = TRUE), looks))
  }
  wide <- (if (m$kind == "rule") given_or(m$style$lwd, 1) else alike("lwd")[1L]) / 2.5
  switch(m$kind,
    line = add(ggplot2::geom_path, list(x = "x", y = "y"), "colour", linewidth = wide),
    step = add(ggplot2::geom_step, list(x = "x", y = "y"), "colour", linewidth = wide),
    point = add(ggplot2::geom_point, list(x = "x", y = "y"), "colour", shape = alike("pch"),
                size = 2.2 * given_or(m$style$cex, 1)),
    segment = add(ggplot2::geom_segment, list(x = "x", y = "y", xend = "xend", yend = "yend"), "colour",
                  linewidth = alike("lwd") / 2.5),
    rect = add(ggplot2::geom_rect, list(xmin = "x", xmax = "xend", ymin = "y", ymax = "yend"), "fill",
               colour = given_or(m$style$border, NA), linewidth = 0.3),
    area = add(ggplot2::geom_ribbon, list(x = "x", ymin = "y", ymax = "yend"), "fill"),
    blank = add(ggplot2::geom_blank, list(x = "x")),
    rug = add(ggplot2::geom_rug, list(x = "x"), sides = "b"),
    text = if (is.null(fig$made)) gg_text(data, m$style) else gg_scaled_text(data, m$style, fig),
    rule = if (is.null(data$x)) add(ggplot2::geom_hline, list(yintercept = "y"), "colour", linewidth = wide)
    else add(ggplot2::geom_vline, list(xintercept = "x"), "colour", linewidth = wide)
  )
}

gg_text <- function(data, style) {
  usual <- text_style(given_or(style$role, "mark text"))
  adj <- given_or(style$adj, usual$adj)
  ggplot2::geom_text(gg_aes(x = "x", y = "y", label = "label"), data = data, hjust = adj[1L], vjust = adj[2L],
                     size = 12 * given_or(style$cex, usual$cex) / ggplot2::.pt, colour = given_or(style$col, usual$col))
}

# Texts whose letters are as large to the page as where they were measured (gg_made()), so that they stay in their boxes
# whatever the size of the page.
gg_scaled_text <- function(data, style, fig) {
  usual <- text_style(given_or(style$role, "mark text"))
  grob <- grid::gTree(cl = "gbt_scaled_text", text = as.character(data$label), x = data$x, y = data$y,
                      adj = given_or(style$adj, usual$adj), points = 12 * given_or(style$cex, usual$cex),
                      colour = given_or(style$col, usual$col), ranges = lapply(fig[c("x", "y")], `[[`, "range"))
  ggplot2::annotation_custom(grob)
}

#' @exportS3Method grid::makeContent
makeContent.gbt_scaled_text <- function(x) {
  wide <- lapply(x$ranges, function(r) r + c(-0.05, 0.05) * diff(r)) # as ggplot2 makes axes of numbers longer
  one <- grid::unit(1, "npc")
  page <- c(grid::convertWidth(one, "inches", TRUE), grid::convertHeight(one, "inches", TRUE))
  scale <- min(page / c(diff(wide$x), diff(wide$y)))
  place <- function(at, r) grid::unit((at - r[1L]) / diff(r), "npc")
  text <- grid::textGrob(x$text, place(x$x, wide$x), place(x$y, wide$y), hjust = x$adj[1L], vjust = x$adj[2L],
                         gp = grid::gpar(fontsize = 0.9 * scale * x$points, col = x$colour))
  grid::setChildren(x, grid::gList(text))
}

# The names of vertical lines, at the right where there is room on a page of 6 inches, readable over other lines.
gg_rules <- function(marks, x) {
  named <- Filter(function(m) identical(m$kind, "rule") && !is.null(m$data$label), marks)
  lapply(seq_along(named), function(i) {
    d <- named[[i]]$data
    d$label <- paste0(" ", d$label, " ")
    ggplot2::geom_label(gg_aes(x = "x", label = "label"), data = d, y = Inf, vjust = 0.1 + 1.1 * i, size = 3,
                        label.size = 0, label.padding = ggplot2::unit(0.1, "lines"), fill = transparent("white", 0.8),
                        hjust = as.numeric(1 - share_of_axis(d$x, x) < 0.012 * nchar(d$label)), colour = ink$soft)
  })
}

key_labels <- function(key) make_distinct(plain_text(key$label))

# Scales and legends of the key or the ramp. Boxes are filled, all other marks are coloured. room: letters side by side.
gg_key <- function(fig, room) {
  if (!is.null(fig$ramp)) return(gg_ramp(fig))
  if (is.null(fig$key)) return(NULL)
  label <- key_labels(fig$key)
  listed <- given_or(fig$key$shown, rep(TRUE, length(label)))
  e <- key_entries(fig$key, seq_along(label))
  box <- e$kind == "box"
  shape <- ifelse(e$kind %in% c("point", "both"), e$pch, NA)[!box & listed]
  lty <- ifelse(e$kind %in% c("line", "both"), e$lty, 0)[!box & listed]
  make <- function(scale, values, shown) {
    scale(values = stats::setNames(values, label), breaks = label[shown & listed], drop = FALSE, name = fig$key$title)
  }
  lines <- gg_key_lines(label[listed], room)
  list(make(ggplot2::scale_colour_manual, e$col, !box), make(ggplot2::scale_linetype_manual, e$lty, !box),
       make(ggplot2::scale_fill_manual, e$col, box),
       ggplot2::guides(colour = ggplot2::guide_legend(nrow = lines, byrow = TRUE,
                                                      override.aes = list(shape = shape, linetype = lty)),
                       linetype = ggplot2::guide_legend(nrow = lines, byrow = TRUE),
                       fill = ggplot2::guide_legend(nrow = lines, byrow = TRUE)),
       if (isTRUE(fig$key$hidden)) ggplot2::theme(legend.position = "none"))
}

# Lines of the entries of a key, each with its swatch.
gg_key_lines <- function(label, room) ceiling((sum(nchar(label, "width")) + 6 * length(label)) / room)

# The colours of numbers.
gg_ramp <- function(fig) {
  ramp <- fig$ramp
  cells <- any(vapply(fig$panels[[1L]]$marks, function(m) identical(m$kind, "rect"), NA))
  scale <- if (cells) ggplot2::scale_fill_gradientn else ggplot2::scale_colour_gradientn
  scale(colours = ramp$colours, na.value = ink$none, name = ramp$title, limits = c(ramp$low, ramp$high),
        breaks = if (is.null(ramp$ends)) ggplot2::waiver() else c(ramp$low, ramp$high),
        labels = given_or(ramp$ends, ggplot2::waiver()),
        guide = ggplot2::guide_colourbar(title.position = "top", barwidth = 10, barheight = 0.6))
}

# A panel that is made for its page: for one of 6 x 4.4 inches; its letters grow with the page.
gg_made <- function(fig) {
  before <- grDevices::dev.cur()
  grDevices::pdf(NULL, 6, 4.4)
  on.exit({
    grDevices::dev.off()
    if (before > 1L) grDevices::dev.set(before)
  })
  made <- draw_page(function(page) {
    box <- inner_box(page)
    c(fig$panels[[1L]]$make(page, box), list(x = list(range = box[1:2]), y = list(range = box[3:4])))
  })
  c(fig[c("title", "subtitle")], made[c("x", "y")],
    list(note = c(fig$note, made$note), panels = list(panel(made$marks)), made = TRUE))
}
