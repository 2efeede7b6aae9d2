# Contributions of columns: all rows in a summary, one row in a waterfall.

#' Draw contributions of columns
#'
#' Draws a summary: a line of dots for each column, one dot for each row of the data at its contribution. Dots are
#' spread where they are dense, and coloured by the column's value (by its position in the sorted values). Columns come
#' by their mean absolute contribution. With `row`, or if there is only one row, draws a waterfall: how the
#' contributions of that row lead from the base, at the bottom, to its score, at the top. With `against` the
#' contributions of one column against its values (a dependence plot), for levels a line of dots each. Several outputs
#' get a panel each, with a scale of its own where they are in units of their own; columns then come by the mean over
#' outputs of their shares in all contributions.
#'
#' Levels of factors and texts have no order: in the summary their dots are grey, as are those of missing values. Where
#' such a column is `by`, the first levels have colours of their own, and all further ones are grey.
#'
#' @param x The result of [gbt_shap()].
#' @param row The row to draw: its number in `newdata` of [gbt_shap()], or its name.
#' @param against The name of a column.
#' @param by With `against`: the name of another column, by whose values dots are coloured, or `NULL` for one colour.
#' @param top Most columns, without `against`; the waterfall adds up the others.
#' @param output Names of the outputs (classes) to draw; all when left out.
#' @param ... `main`, `sub`, `xlab`, `xlim`, with `against` a column of numbers also `ylab` and `ylim`; `col`: two
#'   colours, for low and high values (those of levels lie between them), or for contributions below and above 0; one
#'   with `against` and without `by`.
#' @return `x`, invisibly.
#' @seealso [gbt_shap()]; [plot.gbt()] about all plots
#' @examples
#' m <- gbt_train(mpg ~ ., mtcars, nrounds = 20, threads = 1)
#' s <- gbt_shap(m, mtcars, threads = 1)
#' plot(s)
#' plot(s, row = 3)
#' plot(s, against = "wt", by = "hp")
#' @export
plot.gbt_shap <- function(x, row = NULL, top = 20L, output = NULL, against = NULL, by = NULL, ...) {
  shown <- shap_shown(x, output)
  against <- names_given("against", shown$columns)
  by <- names_given("by", shown$columns)
  check_shap_choice(row, against, by, shown$columns, !missing(top))
  axes <- !is.null(against) && !is_level(.subset2(x$data, match(against, shown$columns)))
  given <- plot_dots(list(...), c("xlim", if (axes) "ylim", "col"), c("xlab", if (axes) "ylab"))
  colours <- if (!is.null(against) && is.null(by)) 1L else 2L
  if (!is.null(given[["col"]]) && length(check_colours(given[["col"]])) != colours) {
    stop_argument(sprintf("`col` must be %s", c("one colour", "two colours")[colours]), "col")
  }
  draw_figure(shap_figure(x, shown, row, top, against, by, given), x)
}

#' @rdname gbt_autoplot
#' @exportS3Method ggplot2::autoplot
autoplot.gbt_shap <- function(object, row = NULL, top = 20L, output = NULL, against = NULL, by = NULL, ...) {
  shown <- shap_shown(object, output)
  against <- names_given("against", shown$columns)
  by <- names_given("by", shown$columns)
  check_shap_choice(row, against, by, shown$columns, !missing(top))
  gg_figure(shap_figure(object, shown, row, top, against, by), ...)
}

shap_figure <- function(x, shown, row, top, against, by, given = list()) {
  top <- check_whole(top, "top", 1)
  if (!is.null(against)) return(shap_against_figure(x, shown, against, by, given))
  if (is.null(row) && dim(x$values)[1L] > 1L) return(shap_summary_figure(x, shown, top, given))
  place <- if (is.null(row)) 1L else shap_row(x, row, shown$columns) # of one row the waterfall says more
  shap_row_figure(x, shown, place, top, given)
}

# list(values = list of matrices by output, base = number by output, outputs = names or NULL, own = has each output a
# scale of its own? columns = names).
shap_shown <- function(x, output) {
  d <- dim(x$values)
  if (d[1L] == 0L || d[2L] == 0L) stop_argument("`x` has no rows or no columns to draw", "x")
  outputs <- x$outputs
  which <- if (is.null(output)) seq_along(x$base) else match(shown_outputs(output, outputs), outputs)
  values <- lapply(which, function(k) matrix(if (length(d) == 3L) x$values[, , k] else x$values, d[1L]))
  list(values = values, base = as.double(x$base)[which], outputs = outputs[which],
       own = shap_has_units(x) && length(which) > 1L,
       columns = given_or(dimnames(x$values)[[2L]], names(x$data)))
}

check_shap_choice <- function(row, against, by, columns, top_given) {
  if (!is.null(row) && !is.null(against)) stop_argument("give `row` or `against`, not both", "against")
  if (!is.null(against) && top_given) {
    stop_argument("`top` cannot be combined with `against`, which draws one column; leave one of them out", "top")
  }
  if (is.null(against) && !is.null(by)) {
    stop_argument("`by` colours the dots of the plot against one column: give `against` as well", "by")
  }
  for (one in list(against, by)) {
    if (!is.null(one)) match_name(one, columns, if (identical(one, against)) "against" else "by")
  }
}

# The place of a row among those of x, which has these columns.
shap_row <- function(x, row, columns) {
  names <- dimnames(x$values)[[1L]]
  if (is_text(row) && !row %in% names && row %in% columns) {
    stop_argument(sprintf("`%s` is a column, not a row; give it as `against = \"%s\"`", row, row), "row")
  }
  if (is.character(row)) {
    if (is.null(names)) stop_argument("the rows have no names; give the number of a row", "row")
    return(match(match_name(row, names, "row"), names))
  }
  row <- check_whole(row, "row", 1)
  rows <- given_or(x$rows, seq_len(dim(x$values)[1L]))
  place <- match(row, rows)
  if (is.na(place)) {
    drawn <- !identical(as.double(rows), as.double(seq_along(rows)))
    stop_argument(sprintf("row %.0f is not among the %s of `x`%s", row, counted(length(rows), "row"),
                          if (drawn) ", which were drawn; their numbers are in `x$rows`" else ""), "row")
  }
  place
}

# Summary -------------------------------------------------------------------------------------------------------------

most_dots <- 2000L # rows in a summary

# "2000 of 9999 rows"
dots_text <- function(n) if (n > most_dots) sprintf("%d of %s", most_dots, counted(n, "row")) else counted(n, "row")

shap_summary_figure <- function(x, shown, top, given) {
  n <- nrow(shown$values[[1L]])
  rows <- even_choice(n, most_dots)
  shares <- lapply(x$data, value_shares)
  order <- columns_by_size(shown$values, top, shown$own)
  scale <- function(which) shap_scale(shown$values[which], given, shap_title(x))
  all <- scale(seq_along(shown$values))
  title <- paste0("value of the column", if (any(vapply(shares, anyNA, NA))) " (grey: missing or no order)")
  one <- function(i) {
    v <- shown$values[[i]][rows, order, drop = FALSE]
    offset <- apply(share_of_axis(v, if (shown$own) scale(i) else all), 2L, dense_offsets)
    list(zero_rule(), mark("point", as.vector(v), rep(seq_along(order), each = length(rows)) + as.vector(offset),
                           share = unlist(lapply(shares[order], `[`, rows)), cex = 0.85 * dot_size(length(rows))))
  }
  panels <- output_panels(shown$outputs, one, rows = make_distinct(plain_text(shown$columns[order])),
                          scales = if (shown$own) function(i) list(x = scale(i)))
  figure(given, "Contributions of columns", dots_text(n), all, rows_scale, panels, ramp = shap_ramp(title, given),
         noun = "further column")
}

shap_title <- function(x) paste("contribution to the", given_or(x$scale, "score"))

shap_scale <- function(values, given, title) {
  v <- unlist(values)
  scale <- make_scale(c(0, v), given_or(given[["xlab"]], title), given[["xlim"]], extend = 0.04)
  if (is.null(given[["xlim"]]) && scale$range[1L] == scale$range[2L]) scale$lim <- c(-1, 1)
  scale
}

# Lightest ends are left out: dots lie on white.
shap_ramp <- function(title, given) {
  colours <- if (is.null(given[["col"]])) scale_colours(80L)[1:68] else grDevices::colorRampPalette(given[["col"]])(64L)
  list(title = title, colours = colours, low = 0, high = 1, ends = c("low", "high"))
}

dot_size <- function(n) max(0.4, min(1, 1.2 - 0.25 * log10(max(n, 1))))

# values: list of matrices by output.
columns_by_size <- function(values, top, own) {
  d <- dim(values[[1L]])
  size <- mean_contributions(array(unlist(values), c(d, length(values))), own)
  utils::head(order(-size, seq_along(size)), top)
}

# Ranks of values from 0 to 1; NA for levels without an order and for missing values.
value_shares <- function(v) {
  if (has_levels(v) && !is.ordered(v)) return(rep(NA_real_, length(v)))
  v <- if (is.ordered(v)) as.integer(v) else order_numbers(v)
  n <- sum(!is.na(v))
  rank <- rank(v, na.last = "keep", ties.method = "average")
  if (n > 1L && length(unique(v[!is.na(v)])) > 1L) (rank - 1) / (n - 1) else ifelse(is.na(v), NA_real_, 0.5)
}

# How far dots lie from the middle of their line, -0.4 to 0.4: those of one of 100 cells are around the middle in
# turn, and the fullest cell takes the whole height. share: places on the axis, 0 to 1.
dense_offsets <- function(share) {
  cell <- floor(share * 100)
  turn <- stats::ave(seq_along(share), cell, FUN = seq_along)
  steps <- (turn %/% 2L) * ifelse(turn %% 2L == 0L, 1, -1)
  most <- max(abs(steps), 0)
  if (most == 0) return(numeric(length(share)))
  steps * min(0.1, 0.4 / most)
}

# Waterfall -----------------------------------------------------------------------------------------------------------

shap_row_figure <- function(x, shown, place, top, given) {
  label <- shap_row_labels(x, shown, place)
  ends <- shap_row_ends(shown, place)
  several <- length(shown$values) > 1L
  one <- function(i, most) {
    base <- unname(shown$base[i])
    s <- waterfall(shown$values[[i]][place, ], label, base, most)
    k <- nrow(s)
    at <- seq_len(k)
    marks <- list(mark("rect", s$from, at - 0.36, s$to, at + 0.36, set = 1L + (s$value >= 0)),
                  mark("segment", s$to[-1L], at[-1L] - 0.36, s$to[-1L], at[-k] + 0.36, col = ink$axis, lwd = 0.8),
                  zero_rule(base))
    panel(marks, if (several) paste0(plain_text(shown$outputs[i]), ": ", ends[i]), rows = make_distinct(s$label),
          values = paste0(ifelse(s$value > 0, "+", ""), number_label(s$value)), ends = pmax(s$from, s$to),
          fewer = function(room) one(i, min(top, room)))
  }
  scale <- function(panels) {
    reach <- unlist(lapply(panels, function(p) p$marks[[1L]]$data[c("x", "xend")]))
    make_scale(reach, given_or(given[["xlab"]], given_or(x$scale, "score")), given[["xlim"]], extend = 0.05)
  }
  panels <- lapply(seq_along(shown$values), one, most = top)
  all <- scale(panels)
  if (shown$own) panels <- lapply(panels, function(p) c(p, list(x = scale(list(p)))))
  key <- list(label = c("below 0", "above 0"), col = given_or(given[["col"]], c(ink$band, ink$mark)), kind = "box",
              hidden = TRUE)
  figure(given, paste("Contributions in row", shap_row_name(x, place)), if (!several) ends, all, rows_scale, panels,
         key)
}

shap_row_name <- function(x, place) {
  plain_text(given_or(dimnames(x$values)[[1L]][place], format(given_or(x$rows, seq_len(place))[place])))
}

# "wt = 2.6"
shap_row_labels <- function(x, shown, place) {
  value <- vapply(x$data, function(v) one_value(subset_rows(v, place)), "")
  paste(plain_text(shown$columns), "=", value)
}

# "base 20.1, score 23.4", one for each output
shap_row_ends <- function(shown, place) {
  score <- shown$base + vapply(shown$values, function(v) sum(v[place, ]), 0)
  sprintf("base %s, score %s", number_label(shown$base, 4L), number_label(score, 4L))
}

# A data frame of steps, the largest first: label, value, from, to. The last begins at the base, the first ends at the
# score. Those beyond `most` are added up.
waterfall <- function(value, label, base, most) {
  order <- order(-abs(value), seq_along(value))
  if (length(order) > most) {
    rest <- order[seq(most, length(order))]
    order <- order[seq_len(most - 1L)]
    label <- c(label[order], counted(length(rest), if (most > 1L) "other column" else "column"))
    value <- c(value[order], sum(value[rest]))
  } else {
    label <- label[order]
    value <- value[order]
  }
  value <- unname(value)
  to <- base + rev(cumsum(rev(value)))
  list_frame(list(label = label, value = value, from = c(to[-1L], base), to = to), length(value))
}

# A value as it is in a label.
one_value <- function(v) {
  if (is.numeric(v) && !is.object(v)) return(number_label(v, 7L))
  plain_text(if (is_level(v)) as.character(v) else format(v))
}

# One column against its values ---------------------------------------------------------------------------------------

# list(at = values of the drawn rows, value = list by output of contributions, share = ranks of the colouring column or
# NULL, plain = has it rows without a rank?, groups = by_groups() where it has levels without an order, else NULL,
# text).
shap_against <- function(x, shown, against, by) {
  n <- nrow(shown$values[[1L]])
  rows <- even_choice(n, most_dots)
  j <- match(against, shown$columns)
  colours <- if (!is.null(by)) .subset2(x$data, match(by, shown$columns))
  groups <- if (has_levels(colours) && !is.ordered(colours)) by_groups(subset_rows(colours, rows))
  share <- if (!is.null(by) && is.null(groups)) value_shares(colours)[rows]
  list(at = axis_values(subset_rows(.subset2(x$data, j), rows)), value = lapply(shown$values, function(v) v[rows, j]),
       share = share, plain = anyNA(share), groups = groups, text = dots_text(n))
}

# Dots by levels: list(group = number of each dot's, label, col). The first levels that occur have colours of their own,
# all further ones the same grey.
by_groups <- function(v) {
  dots <- level_dots(v)
  missing <- anyNA(v)
  n <- length(dots$label) - missing
  k <- min(n, length(palette_colours))
  more <- n - k
  group <- ifelse(dots$place > n, k + (more > 0L) + 1L, pmin(dots$place, k + 1L))
  list(group = as.integer(group),
       label = c(dots$label[seq_len(k)], if (more) counted(more, "other level"), if (missing) dots$label[n + 1L]),
       col = c(palette_colours[seq_len(k)], if (more) ink$none, if (missing) ink$text))
}

shap_against_figure <- function(x, shown, against, by, given) {
  a <- shap_against(x, shown, against, by)
  title <- paste("Contributions of", plain_text(against))
  groups <- a$groups
  two <- length(given[["col"]]) == 2L
  if (!is.null(groups) && two) groups$col <- grDevices::colorRampPalette(given[["col"]])(length(groups$label))
  key <- if (!is.null(groups)) c(groups[c("label", "col")], kind = "point", title = paste("value of", by))
  ramp <- if (!is.null(a$share)) shap_ramp(paste0("value of ", by, if (a$plain) " (grey: missing)"), given)
  dots <- function(x, y) {
    col <- transparent(given_or(if (!two) given[["col"]], ink$band), 0.6)
    mark("point", x, y, set = groups$group, share = a$share, col = if (is.null(by)) col,
         cex = dot_size(length(a$at)))
  }
  if (is_level(a$at)) {
    level <- level_dots(a$at)
    scale <- function(which) shap_scale(a$value[which], given, shap_title(x))
    all <- scale(seq_along(a$value))
    one <- function(i) {
      share <- share_of_axis(a$value[[i]], if (shown$own) scale(i) else all)
      offset <- stats::ave(share, level$place, FUN = dense_offsets)
      list(zero_rule(), dots(a$value[[i]], level$place + offset))
    }
    panels <- output_panels(shown$outputs, one, rows = level$label,
                            scales = if (shown$own) function(i) list(x = scale(i)))
    return(figure(given, title, a$text, all, rows_scale, panels, key, ramp, noun = "level"))
  }
  scale <- make_scale(a$at, given_or(given[["xlab"]], against), given[["xlim"]])
  vertical <- function(which) {
    make_scale(unlist(a$value[which]), given_or(given[["ylab"]], shap_title(x)), given[["ylim"]], extend = 0.05)
  }
  one <- function(i) list(mark("rule", y = 0, lty = 2, col = ink$soft), dots(order_numbers(a$at), a$value[[i]]))
  panels <- output_panels(shown$outputs, one, scales = if (shown$own) function(i) list(y = vertical(i)))
  figure(given, title, a$text, scale, vertical(seq_along(a$value)), panels, key, ramp,
         shap_against_note(a, against, shown$outputs))
}

# Values that have no place on the axis.
shap_against_note <- function(a, against, outputs) {
  missing <- is.na(order_numbers(a$at))
  if (!any(missing)) return(NULL)
  mean <- vapply(a$value, function(v) number_label(mean(v[missing])), "")
  if (!is.null(outputs)) mean <- paste0(plain_text(outputs), ": ", mean)
  mean <- paste(mean, collapse = ", ")
  sprintf("where %s is missing (%s): %s", plain_text(against), counted(sum(missing), "row"), mean)
}

# The dots of each level in a line, in the order of the levels; of texts in that of their bytes, as everywhere.
level_dots <- function(at) {
  at <- if (is.factor(at)) factor(at, levels(at)[levels(at) %in% as.character(at)]) else
    factor(at, if (is.character(at)) distinct_texts(at) else sort(unique(at)))
  text <- c(plain_text(levels(at)), if (anyNA(at)) "(missing)")
  place <- as.integer(at)
  place[is.na(place)] <- length(text)
  list(label = make_distinct(text), place = place)
}
