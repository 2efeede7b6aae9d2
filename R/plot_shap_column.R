# Contributions of one column against its values.

# list(at = values of the drawn rows, value = list by output of contributions, share = ranks of the colouring column or
# NULL, plain = has it rows without a rank?, groups = by_groups() where it has levels without an order, else NULL,
# rows = how many there are).
shap_against <- function(x, shown, against, by) {
  n <- nrow(shown$values[[1L]])
  rows <- dotted_rows(n)
  j <- match(against, shown$columns)
  colours <- if (!is.null(by)) .subset2(x$data, match(by, shown$columns))
  groups <- if (has_levels(colours) && !is.ordered(colours)) by_groups(subset_rows(colours, rows))
  share <- if (!is.null(by) && is.null(groups)) value_shares(colours)[rows]
  list(at = axis_values(subset_rows(.subset2(x$data, j), rows)), value = lapply(shown$values, function(v) v[rows, j]),
       share = share, plain = anyNA(share), groups = groups, rows = n,
       text = if (n > most_dots) sprintf("%.0f of %s", length(rows), counted(n, "row")) else counted(n, "row"))
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
       col = c(palette_colours[seq_len(k)], if (more) "#BFBFBF", if (missing) ink$text))
}

draw_shap_against <- function(x, shown, against, by, given) {
  a <- shap_against(x, shown, against, by)
  two <- length(given[["col"]]) == 2L
  ramp <- if (two) grDevices::colorRampPalette(given[["col"]])(64L) else shap_colours()
  groups <- a$groups
  if (!is.null(groups) && two) {
    groups$col <- grDevices::colorRampPalette(given[["col"]])(length(groups$label))
  }
  col <- if (!is.null(groups)) groups$col[groups$group] else
    if (is.null(a$share)) rep(transparent(given_or(given[["col"]], ink$band), 0.6), length(a$at)) else
      colours_of(a$share, ramp, 0, 1)
  level <- is_level(a$at)
  note <- shap_against_note(a, against, level, shown$outputs)
  draw_page(title = given_or(given[["main"]], paste("Contributions of", plain_text(against))),
            subtitle = given_or(given[["sub"]], a$text), body = function(page) {
    outer <- inner(page)
    outer[3L] <- put_note(page, note, outer[1L], outer[3L], outer[2L])
    outer[4L] <- put_titles(page, outer[1L], outer[4L], outer[2L])
    page$title <- page$subtitle <- NULL # written
    if (!is.null(groups)) {
      key <- c(list(label = groups$label, kind = "point"), groups["col"])
      size <- letter_size(page, 0.75)
      set_inches(page)
      title <- shorten(paste("value of", plain_text(by)), outer[2L] - outer[1L], size)
      put_text(page, outer[1L], outer[4L], title, 0.75, c(0, 1), what = "colour key")
      outer[4L] <- put_key(page, key, outer[1L], outer[4L] - 1.1 * line_height(page, 0.75), outer[2L])
    } else if (!is.null(a$share)) {
      key <- c(outer[1L], min(outer[2L], outer[1L] + 2.4), outer[4L] - colour_key_height(page), outer[4L])
      title <- paste0("value of ", by, if (a$plain) " (grey: missing)")
      put_colour_key(page, key, ramp, 0, 1, title, c("low", "high"))
      outer[4L] <- key[3L] - 0.5 * line_height(page, 0.8)
    }
    one <- function(i, box) {
      v <- a$value[[i]]
      if (level) draw_level_dots(page, panel_heading(page, box, shown$outputs[i]), a, v, col, given) else
        draw_value_dots(page, box, against, shown$outputs[i], a, v, col, given)
    }
    if (length(a$value) == 1L) one(1L, outer) else draw_output_panels(page, outer, shown$outputs, one, c(1.8, 1.4))
  })
}

# What the axis has no place for.
shap_against_note <- function(a, against, level, outputs) {
  if (level) return(NULL)
  missing <- is.na(order_numbers(a$at))
  if (!any(missing)) return(NULL)
  mean <- vapply(a$value, function(v) number_label(mean(v[missing])), "")
  if (!is.null(outputs)) mean <- paste0(plain_text(outputs), ": ", mean)
  mean <- paste(mean, collapse = ", ")
  sprintf("where %s is missing (%s): %s", plain_text(against), counted(sum(missing), "row"), mean)
}

draw_value_dots <- function(page, box, against, heading, a, v, col, given) {
  x <- make_scale(a$at, given_or(given[["xlab"]], against), given[["xlim"]], extend = 0.03)
  y <- make_scale(v, given_or(given[["ylab"]], "contribution to the score"), given[["ylim"]], extend = 0.05)
  box <- draw_panel(page, box, x, y, heading = heading)
  graphics::segments(x$lim[1L], 0, x$lim[2L], 0, lty = 2, col = ink$soft, xpd = FALSE)
  graphics::points(order_numbers(a$at), v, pch = 19, cex = dot_size(length(v)) * page$size, col = col, xpd = FALSE)
  box
}

dot_size <- function(n) max(0.4, min(1, 1.2 - 0.25 * log10(max(n, 1))))

# The dots of each level in a line, in the order of the levels; of texts in that of their bytes, as everywhere.
level_dots <- function(at) {
  at <- if (is.factor(at)) factor(at, levels(at)[levels(at) %in% as.character(at)]) else
    factor(at, if (is.character(at)) distinct_texts(at) else sort(unique(at)))
  text <- c(plain_text(levels(at)), if (anyNA(at)) "(missing)")
  place <- as.integer(at)
  place[is.na(place)] <- length(text)
  list(label = make_distinct(text), place = place)
}

draw_level_dots <- function(page, box, a, v, col, given) {
  dots <- level_dots(a$at)
  lim <- given_or(given[["xlim"]], shap_limits(unlist(a$value)))
  bars <- list(label = dots$label, value = rep(NA_real_, length(dots$label)), col = ink$band)
  drawn <- draw_bars(page, box, bars, given_or(given[["xlab"]], "contribution to the score"), lim, "point",
                     left_out = function(k) sprintf("%s not shown for lack of room", counted(k, "level")))
  for (j in seq_len(drawn$n)) {
    at <- which(dots$place == j)
    graphics::points(v[at], drawn$at[j] + dense_offsets((v[at] - lim[1L]) / diff(lim)), pch = 19,
                     cex = dot_size(length(v)) * page$size, col = col[at], xpd = FALSE)
  }
  drawn$box
}
