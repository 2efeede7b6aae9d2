# Contributions of columns: all rows in a summary, one row in a waterfall.

#' Draw contributions of columns
#'
#' Without `row` a summary: a line of dots for each column, one dot for each row of the data at its contribution, spread
#' where dots are dense, and coloured by the column's value (by its rank among the rows). Columns come by their mean
#' absolute contribution. With `row` a waterfall: how the contributions of that row lead from the base, at the bottom,
#' to its score, at the top. With `against` the contributions of one column against its values (a dependence plot), for
#' levels a line of dots each. Several outputs get a panel each.
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
  check_shap_choice(row, against, by, shown$columns, !missing(top))
  axes <- !is.null(against) && !is_level(.subset2(x$data, match(against, shown$columns)))
  given <- plot_dots(list(...), c("xlim", if (axes) "ylim", "col"), c("xlab", if (axes) "ylab"))
  top <- check_whole(top, "top", 1)
  colours <- if (!is.null(against) && is.null(by)) 1L else 2L
  if (!is.null(given[["col"]]) && length(check_colours(given[["col"]])) != colours) {
    stop_argument(sprintf("`col` must be %s", c("one colour", "two colours")[colours]), "col")
  }
  if (!is.null(against)) {
    draw_shap_against(x, shown, against, by, given)
  } else if (is.null(row)) {
    draw_shap_summary(x, shown, top, given)
  } else {
    draw_shap_row(x, shown, shap_row(x, row), top, given)
  }
  invisible(x)
}

# list(values = list of matrices by output, base = number by output, outputs = names or NULL, columns = names).
shap_shown <- function(x, output) {
  d <- dim(x$values)
  if (d[1L] == 0L || d[2L] == 0L) stop_argument("`x` has no rows or no columns to draw", "x")
  outputs <- x$outputs
  which <- if (is.null(output)) seq_along(x$base) else match(shown_outputs(output, outputs), outputs)
  values <- lapply(which, function(k) matrix(if (length(d) == 3L) x$values[, , k] else x$values, d[1L]))
  list(values = values, base = as.double(x$base)[which], outputs = outputs[which],
       columns = given_or(dimnames(x$values)[[2L]], names(x$data)))
}

check_shap_choice <- function(row, against, by, columns, top_given) {
  if (!is.null(row) && !is.null(against)) stop_argument("give `row` or `against`, not both", "against")
  if (!is.null(against) && top_given) {
    stop_argument("`top` is of the summary and of a `row`; `against` draws one column", "top")
  }
  if (is.null(against) && !is.null(by)) stop_argument("`by` colours the dots of one column: give `against`", "by")
  for (one in list(against, by)) {
    if (!is.null(one)) match_choice(one, columns, if (identical(one, against)) "against" else "by")
  }
}

# The place of a row among those of x.
shap_row <- function(x, row) {
  names <- dimnames(x$values)[[1L]]
  if (is.character(row)) {
    if (is.null(names)) stop_argument("the rows have no names; give the number of a row", "row")
    return(match(match_choice(row, names, "row"), names))
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

draw_shap_summary <- function(x, shown, top, given) {
  n <- nrow(shown$values[[1L]])
  rows <- dotted_rows(n)
  shares <- lapply(x$data, value_shares)
  ramp <- if (is.null(given[["col"]])) shap_colours() else grDevices::colorRampPalette(given[["col"]])(64L)
  text <- if (n > most_dots) sprintf("%.0f of %s", length(rows), counted(n, "row")) else counted(n, "row")
  plain <- any(vapply(shares, anyNA, NA))
  given$main <- given_or(given[["main"]], "Contributions of columns")
  lim <- given_or(given[["xlim"]], shap_limits(unlist(shown$values)))
  draw_page(title = given$main, subtitle = given_or(given[["sub"]], text), body = function(page) {
    outer <- inner(page)
    one <- function(i, box) {
      values <- shown$values[[i]]
      order <- columns_by_size(values, top)
      box <- panel_heading(page, box, shown$outputs[i])
      bars <- list(label = shown$columns[order], value = rep(NA_real_, length(order)), col = ink$band)
      drawn <- draw_bars(page, box, bars, given_or(given[["xlab"]], "contribution to the score"), lim, "point",
                         left_out = function(k) sprintf("%s not shown for lack of room", counted(k, "further column")))
      dot <- min(0.8, 0.35 + 0.5 * (drawn$box[4L] - drawn$box[3L]) / drawn$n) * page$size
      for (j in seq_len(drawn$n)) {
        v <- values[rows, order[j]]
        offset <- dense_offsets((v - lim[1L]) / diff(lim))
        col <- colours_of(shares[[order[j]]][rows], ramp, 0, 1)
        graphics::points(v, drawn$at[j] + offset, pch = 19, cex = dot, col = col, xpd = FALSE)
      }
    }
    below <- put_titles(page, outer[1L], outer[4L], outer[2L])
    page$title <- page$subtitle <- NULL # written
    what <- paste0("value of the column", if (plain) " (grey: no order)")
    wide <- max(2.4, text_width(what, letter_size(page, 0.75)) + 0.05) # so that the title is not shortened
    key <- c(outer[1L], min(outer[2L], outer[1L] + wide), below - colour_key_height(page), below)
    put_colour_key(page, key, ramp, 0, 1, what, c("low", "high"))
    outer[4L] <- key[3L] - 0.5 * line_height(page, 0.8)
    if (length(shown$values) == 1L) one(1L, outer) else draw_output_panels(page, outer, shown$outputs, one, c(1.8, 1.4))
  })
}

dotted_rows <- function(n) if (n > most_dots) unique(floor(seq(1, n, length.out = most_dots))) else seq_len(n)

columns_by_size <- function(values, top) {
  size <- colMeans(abs(values))
  utils::head(order(-size, seq_along(size)), top)
}

# Lightest ends are left out: dots lie on white.
shap_colours <- function() scale_colours(80L)[1:68]

shap_limits <- function(v) {
  v <- v[is.finite(v)]
  lim <- range(0, v)
  if (lim[1L] == lim[2L]) c(-1, 1) else widen(lim, 0.04)
}

# Ranks of values from 0 to 1; NA for levels without an order and for missing values.
value_shares <- function(v) {
  if (has_levels(v) && !is.ordered(v)) return(rep(NA_real_, length(v)))
  v <- if (is.ordered(v)) as.integer(v) else order_numbers(v)
  n <- sum(!is.na(v))
  rank <- rank(v, na.last = "keep", ties.method = "average")
  if (n > 1L && length(unique(v[!is.na(v)])) > 1L) (rank - 1) / (n - 1) else ifelse(is.na(v), NA_real_, 0.5)
}

# How far dots lie from the middle of their line, -0.4 to 0.4: those of one of 100 cells stand around the middle in
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

draw_shap_row <- function(x, shown, place, top, given) {
  given$main <- given_or(given[["main"]], paste("Contributions in row", shap_row_name(x, place)))
  label <- shap_row_labels(x, shown, place)
  col <- given_or(given[["col"]], c(ink$band, ink$mark))
  one_output <- length(shown$values) == 1L
  ends <- shap_row_ends(shown, place)
  draw_page(title = given$main, subtitle = given_or(given[["sub"]], if (one_output) ends), body = function(page) {
    outer <- inner(page)
    one <- function(i, box) {
      box <- panel_heading(page, box, if (!one_output) paste0(plain_text(shown$outputs[i]), ": ", ends[i]))
      line <- line_height(page, 0.8)
      room <- fit_rows(page, length(label), box[4L] - box[3L] - 2.5 * line)$n
      steps <- waterfall(shown$values[[i]][place, ], label, unname(shown$base[i]), min(top, room))
      number <- paste0(ifelse(steps$value > 0, "+", ""), number_label(steps$value))
      size <- letter_size(page, 0.75)
      right <- max(text_width(number, size)) + 0.3 * line
      bars <- list(label = steps$label, value = rep(NA_real_, nrow(steps)), col = "black")
      lim <- given_or(given[["xlim"]], widen(range(steps$from, steps$to), 0.05))
      inside <- box
      inside[2L] <- box[2L] - right
      drawn <- draw_bars(page, inside, bars, given_or(given[["xlab"]], "score"), lim, "point", shown$base[i])
      high <- 0.36
      graphics::rect(steps$from, drawn$at - high, steps$to, drawn$at + high, border = NA, xpd = FALSE,
                     col = ifelse(steps$value < 0, col[1L], col[2L]))
      k <- nrow(steps)
      graphics::segments(steps$to[-1L], drawn$at[-1L] - high, steps$to[-1L], drawn$at[-k] + high, col = ink$axis,
                         lwd = 0.8, xpd = FALSE)
      edge <- inch_in(drawn$box, lim, graphics::par("usr")[3:4])$right(box[2L] - drawn$box[2L])
      put_text(page, edge, drawn$at, number, 0.75, c(1, 0.45), ink$soft, what = "bar value")
    }
    if (!one_output) return(draw_output_panels(page, outer, shown$outputs, one, c(2, 1.4)))
    outer[4L] <- put_titles(page, outer[1L], outer[4L], outer[2L])
    one(1L, outer)
  })
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

# A value as it stands in a label.
one_value <- function(v) {
  if (is.numeric(v) && !is.object(v)) return(number_label(v, 7L))
  plain_text(if (is_level(v)) as.character(v) else format(v))
}
