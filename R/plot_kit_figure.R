# The description of a drawing. Each plot has one function that makes it, without a device; draw_figure() draws it by
# package graphics, gg_figure() by ggplot2. It can be read in tests.
#
#   figure  list(title, subtitle, note = texts or NULL, x, y = scales (plot_kit_scale.R), panels, key, ramp,
#           noun = what a row is; panel_noun = what a panel is; stacked = TRUE: panels below one another, if they fit;
#           fewer = function(rows, columns) that makes the figure with at most so many levels on its axes, or NULL)
#   key     list(label, col, kind = "line", "point", "both", "box" or "none", lty, lwd, pch: one for each entry or one
#           for all; title; ends = TRUE: may be at the ends of the lines instead; shown: which entries are listed,
#           all when left out), or NULL
#   ramp    list(title, colours, low, high, ends = words for both ends or NULL): a key of colours for numbers, or NULL
#   panel   list(heading, marks, rows = names of the rows or NULL, x, y = scales of its own or NULL;
#           values = texts next to rows; fewer = function(most) that makes the panel with fewer rows;
#           make = function(page, box) that gives list(marks, note) in inches)
#   mark    list(kind, data = data frame of x, y, xend, yend, label, set = entry of the key, share = number on the ramp,
#           style = list(col, lwd, lty, pch, cex, ...)), or NULL. Marks at one place of several panels are one layer.
#
# Kinds of marks: "line" (NA breaks it), "step", "point", "segment", "rect", "area" (from y to yend), "rug", "text", and
# "rule", a line across the whole panel at an x or a y, which may have a label.
# A panel with rows has its first row at 1, on top.

figure <- function(given, title, subtitle, x, y, panels, key = NULL, ramp = NULL, note = NULL, noun = "row") {
  list(title = if ("main" %in% names(given)) given[["main"]] else title, subtitle = given_or(given[["sub"]], subtitle),
       x = x, y = y, panels = panels, key = key, ramp = ramp, note = note, noun = noun)
}

panel <- function(marks, heading = NULL, ...) list(marks = marks, heading = heading, ...)

mark <- function(kind, x = NULL, y = NULL, xend = NULL, yend = NULL, label = NULL, set = NULL, share = NULL, ...) {
  data <- list(x = x, y = y, xend = xend, yend = yend, label = label, set = set, share = share)
  data <- data[!vapply(data, is.null, NA)]
  n <- if (any(lengths(data) == 0L)) 0L else max(lengths(data))
  list(kind = kind, data = list_frame(lapply(data, rep_len, n), n), style = Filter(Negate(is.null), list(...)))
}

# One panel for each output. one: function(number of the output) that gives marks; scales: NULL, or function(number)
# that gives a list of the panel's own scales, where outputs are in units of their own.
output_panels <- function(outputs, one, ..., scales = NULL) {
  lapply(seq_len(max(1L, length(outputs))), function(i) {
    c(panel(one(i), outputs[i], ...), if (!is.null(scales)) scales(i))
  })
}

# Horizontal bars from 0 to `value`, one for each row.
bar_mark <- function(value, ..., at = seq_along(value), half = 0.36) {
  mark("rect", 0, at - half, ifelse(is.finite(value), value, 0), at + half, ...)
}

zero_rule <- function(x = 0) mark("rule", x = x, col = ink$axis, lty = 1, lwd = 1)

# Lines and points of list(round, values = list by set). A single value of a set is a point. entry: of the key.
series_marks <- function(p, type, entry = seq_along(p$values)) {
  finite <- vapply(p$values, function(v) sum(is.finite(v)), 0)
  lone <- finite <= 1 & type != "n"
  of <- function(kind, sets) {
    if (!any(sets)) return(NULL)
    v <- unlist(p$values[sets])
    v[!is.finite(v)] <- NA
    mark(kind, rep(p$round, sum(sets)), v, set = rep(entry[sets], each = length(p$round)), cex = 0.8)
  }
  list(of("line", type %in% c("l", "b", "o") & !lone), of("step", type == "s" & !lone),
       of("point", type %in% c("p", "b", "o") | lone))
}

# The figure of bars, or of points with intervals, one for each row: importance, evaluations.
# shown: list(label, value, lower, upper (or NULL)).
rows_figure <- function(shown, given, title, subtitle, xlab, bars, zero = bars, noun = "further column") {
  if (!is.null(given$names.arg)) {
    if (length(given$names.arg) != length(shown$label)) {
      stop_argument(sprintf("`names.arg` must be %s, one for each bar", counted(length(shown$label), "text")),
                    "names.arg")
    }
    shown$label <- as.character(given$names.arg)
  }
  col <- check_colours(given_or(given[["col"]], ink$band))
  at <- seq_along(shown$value)
  x <- bar_scale(unlist(shown[c("value", "lower", "upper")]), given_or(given[["xlab"]], xlab), given[["xlim"]], bars)
  marks <- row_marks(shown, bars, col, given_or(given[["border"]], NA), zero)
  rows <- if (isFALSE(given$axisnames)) rep("", length(at)) else shown$label
  figure(given, title, subtitle, x, rows_scale, list(panel(marks, rows = rows)), noun = noun)
}

# A bar or a point for each row, with its interval.
row_marks <- function(shown, bars, col, border = NA, zero = bars) {
  at <- seq_along(shown$value)
  list(if (bars) bar_mark(shown$value, col = col, border = border),
       if (any(is.finite(shown$lower))) mark("segment", shown$lower, at, shown$upper, at,
                                             col = if (bars) ink$text else col, lwd = if (bars) 1.2 else 2),
       if (!bars) mark("point", shown$value, at, col = col), if (zero) zero_rule())
}

# A page with words in place of a picture.
words_figure <- function(given, title, subtitle, words) {
  make <- function(page, box) {
    list(marks = list(mark("text", mean(box[1:2]), mean(box[3:4]), label = words, role = "words", col = ink$soft)))
  }
  none <- list(title = NULL)
  figure(given, title, subtitle, none, none, list(panel(NULL, make = make)))
}

# Thinning ------------------------------------------------------------------------------------------------------------

# An even choice of 1, ..., n: at most `most`.
even_choice <- function(n, most) if (n > most) unique(floor(seq(1, n, length.out = most))) else seq_len(n)

# Lines of one mark: the columns of a matrix, with NA between them.
joined_lines <- function(x, y) list(x = rep(c(x, NA), ncol(y)), y = as.vector(rbind(y, NA)))

# Colours -------------------------------------------------------------------------------------------------------------
# Those of series differ for people who see no red or no green, and neighbours differ in lightness, so that they are
# distinguished in print without colour; lines have patterns as well from the fourth on.

ink <- list(text = "#222222", soft = "#666666", grid = "#E6E6E6", axis = "#8C8C8C", band = "#0072B2", mark = "#D55E00",
            none = "#BFBFBF", line = "#9A9A9A")

palette_colours <- c("#0072B2", "#E69F00", "#7A1F5C", "#56B4E9", "#004D40", "#CC79A7", "#5C4A1F", "#B2DF8A")

# n colours and line types for series, distinguished by both.
series_style <- function(n, col = NULL, lty = NULL) {
  i <- seq_len(n)
  k <- length(palette_colours)
  list(col = if (is.null(col)) palette_colours[(i - 1L) %% k + 1L] else rep_len(check_colours(col), n),
       lty = if (is.null(lty)) c(1, 2, 4, 5)[((i - 1L) %/% 3L + (i - 1L) %/% k) %% 4L + 1L] else rep_len(lty, n))
}

line_style <- function(n, given) {
  style <- series_style(n, given[["col"]], given[["lty"]])
  style$lwd <- rep_len(given_or(given[["lwd"]], 2), n)
  style$pch <- rep_len(given_or(given[["pch"]], 19), n)
  style$type <- rep_len(given_or(given[["type"]], "l"), n)
  bad <- setdiff(style$type, c("l", "p", "b", "o", "s", "n"))
  if (length(bad)) stop_argument("`type` must hold \"l\", \"p\", \"b\", \"o\", \"s\" or \"n\"", "type")
  style
}

transparent <- function(col, alpha) grDevices::adjustcolor(col, alpha)

# Colours of numbers from low (dark) to high (light): lightness grows throughout, so grey shows the order.
scale_colours <- function(n = 256L) grDevices::hcl.colors(n, "viridis")

# Colours of values on [low, high]; NA is grey. All values equal: the middle.
colours_of <- function(v, colours, low, high) {
  n <- length(colours)
  t <- if (high > low) (pmin(pmax(v, low), high) - low) / (high - low) else rep(0.5, length(v))
  out <- colours[1L + round(t * (n - 1L))]
  out[is.na(v)] <- ink$none
  out
}

# Colours of letters: as dark as letters need to be on white. Their relative luminance is that of screens (WCAG).
readable <- function(col) {
  vapply(col, function(one) {
    for (dark in c(1, 0.85, 0.7, 0.55, 0.4)) {
      shade <- grDevices::rgb(t(grDevices::col2rgb(one) * dark), maxColorValue = 255)
      if (luminance(shade) < 0.22) break
    }
    shade
  }, "", USE.NAMES = FALSE)
}

luminance <- function(col) {
  rgb <- grDevices::col2rgb(col) / 255
  linear <- ifelse(rgb <= 0.03928, rgb / 12.92, ((rgb + 0.055) / 1.055)^2.4)
  drop(c(0.2126, 0.7152, 0.0722) %*% linear)
}

# Arguments -----------------------------------------------------------------------------------------------------------

# Arguments that only some plots have.
drawing_arguments <- c("xlab", "ylab", "xlim", "ylim", "log", "col", "lty", "lwd", "pch", "type", "border")

# The user's arguments in the dots of a plot(): all with names of arguments of the plot. labels: titles of axes that it
# has; own: arguments of the method, one of which may have been meant.
plot_dots <- function(dots, known = character(0), labels = c("xlab", "ylab"),
                      own = names(formals(sys.function(sys.parent())))) {
  usual <- c("main", "sub", labels)
  if (length(dots) > 0L && (is.null(names(dots)) || any(names(dots) == ""))) {
    stop_argument("there is an argument without a name; give all arguments here by name, as name = value")
  }
  idle <- setdiff(intersect(names(dots), drawing_arguments), c(usual, known))
  if (length(idle)) {
    stop_argument(sprintf("`%s` has no meaning for this plot; it takes %s", idle[1L], enumerate(c(usual, known))),
                  idle[1L])
  }
  check_no_dots(dots[!names(dots) %in% c(usual, known)], c(setdiff(own, "x"), usual, known))
  for (name in intersect(names(dots), usual)) {
    if (!is.null(dots[[name]]) && !(is.character(dots[[name]]) && length(dots[[name]]) == 1L)) {
      stop_argument(sprintf("`%s` must be one text", name), name)
    }
  }
  for (name in intersect(names(dots), c("xlim", "ylim"))) {
    if (!is.null(dots[[name]])) check_limits(dots[[name]], name)
  }
  dots
}

check_limits <- function(lim, parameter) {
  v <- if (is.object(lim)) unclass(lim) else lim
  if (!is.numeric(v) || length(v) != 2L || !all(is.finite(v)) || v[1L] == v[2L]) {
    stop_argument(sprintf("`%s` must be two different numbers, such as c(10, 100)", parameter), parameter)
  }
}

# A colour or several.
check_colours <- function(col, parameter = "col") {
  ok <- try_else(ncol(grDevices::col2rgb(col)) > 0L, function(e) FALSE)
  if (!ok) stop_argument(sprintf("`%s` must hold colours, such as \"steelblue\" or \"#0072B2\"", parameter), parameter)
  col
}

# Two colours, the usual ones unless the user gave others. which: what they are, for the message.
two_colours <- function(given, which = "") {
  col <- check_colours(given_or(given[["col"]], c(ink$band, ink$mark)))
  if (length(col) != 2L) stop_argument(paste0("`col` must be two colours", which), "col")
  col
}

# The outputs that were asked for, of those that there are (NULL: one without a name).
shown_outputs <- function(output, has) {
  if (is.null(output)) return(has)
  if (is.null(has)) {
    stop_argument("`output` selects one of several outputs, but there is only one; leave it out", "output")
  }
  match_choices(output, has, "output")
}

# Several of the choices, each once.
match_choices <- function(x, choices, parameter) {
  if (!is.character(x) || length(x) == 0L) return(match_choice(x, choices, parameter))
  unique(vapply(x, match_choice, "", choices = choices, parameter = parameter, USE.NAMES = FALSE))
}
