# Bars of interactions.

#' Draw interactions
#'
#' Bars of [gbt_interactions()]: columns with all others, and pairs, those of the largest size first. Several outputs
#' get a panel each.
#'
#' @param x The result of [gbt_interactions()].
#' @param measure `"size"`, what of the effects is no sum of single ones, in units of the prediction; or `"h_squared"`,
#'   its share of the variance, which may be large where effects are small.
#' @param pairs Draw pairs (`TRUE`), columns with all others (`FALSE`) or both (`NULL`)?
#' @param top Most bars.
#' @param output Names of the outputs (classes) to draw; all when left out.
#' @param ... `main`, `sub`, `xlab`, `xlim`; `col`: two colours, of columns with all others and of pairs.
#' @return `x`, invisibly.
#' @seealso [gbt_interactions()]; [plot.gbt()] about all plots
#' @examples
#' set.seed(1)
#' x <- data.frame(a = runif(300), b = runif(300), c = runif(300))
#' x$y <- x$a * x$b + x$c
#' m <- gbt_train(y ~ ., x, nrounds = 30, max_depth = 3, threads = 1)
#' plot(gbt_interactions(m, x, rows = 50, seed = 1, threads = 1))
#' @export
plot.gbt_interactions <- function(x, measure = c("size", "h_squared"), pairs = NULL, top = 20L, output = NULL, ...) {
  given <- plot_dots(list(...), c("xlim", "col"), "xlab")
  col <- check_colours(given_or(given[["col"]], c(ink$band, ink$mark)))
  if (length(col) != 2L) stop_argument("`col` must be two colours", "col")
  shown <- interactions_shown(x, measure, pairs, top, output)
  lim <- given_or(given[["xlim"]], bar_limits(range(0, unlist(lapply(shown$bars, `[[`, "value"))), "bar", 0))
  key <- list(label = interaction_kinds, col = col, kind = "box")
  draw_page(title = given_or(given[["main"]], "Interactions"), subtitle = given[["sub"]], body = function(page) {
    outer <- inner(page)
    outer[4L] <- put_titles(page, outer[1L], outer[4L], outer[2L])
    page$title <- page$subtitle <- NULL # written
    if (shown$both) outer[4L] <- put_key(page, key, outer[1L], outer[4L], outer[2L])
    one <- function(i, box) {
      bars <- shown$bars[[i]]
      box <- panel_heading(page, box, shown$outputs[i])
      size <- fit_rows(page, length(bars$value), box[4L] - box[3L])$cex
      label <- interaction_labels(bars, 0.42 * (box[2L] - box[1L]), size)
      draw_bars(page, box, list(label = label, value = bars$value, col = col[bars$kind]),
                given_or(given[["xlab"]], shown$measure), lim,
                left_out = function(k) sprintf("%s not shown for lack of room", counted(k, "further bar")))
    }
    if (length(shown$bars) == 1L) one(1L, outer) else draw_output_panels(page, outer, shown$outputs, one, c(1.8, 1.4))
  })
  invisible(x)
}

interaction_kinds <- c("with all others", "pair")

# list(bars = list by output of list(column, other, value, kind = 1 or 2), outputs = names or NULL, both = are there
# both kinds, measure = its words).
interactions_shown <- function(x, measure, pairs, top, output) {
  measure <- match_choice(measure, c("size", "h_squared"), "measure")
  if (!is.null(pairs)) check_flag(pairs, "pairs")
  top <- check_whole(top, "top", 1)
  x <- as.list(unclass(x))
  if (length(x$column) == 0L || is.null(x[[measure]])) {
    stop_argument("`x` has no rows of gbt_interactions() to draw", "x")
  }
  kind <- 1L + !is.na(x$other)
  use <- is.null(pairs) | kind == 1L + isTRUE(pairs)
  if (!any(use)) stop_argument("`x` has no pairs; gbt_interactions(top = 2) and more has", "pairs")
  which <- given_or(x$output, rep("", length(x$column)))
  outputs <- shown_outputs(output, if (!is.null(x$output)) levels(factor(which, unique(which))))
  bars <- lapply(given_or(outputs, ""), function(name) {
    at <- which(use & which == name & is.finite(x[[measure]]))
    at <- utils::head(at[order(-x[[measure]][at], kind[at], at)], top)
    list(column = plain_text(x$column[at]), other = plain_text(x$other[at]), value = x[[measure]][at],
         kind = kind[at])
  })
  if (!any(lengths(lapply(bars, `[[`, "value")))) stop_argument("there is nothing to draw: no value is finite", "x")
  list(bars = bars, outputs = outputs, both = is.null(pairs) && length(unique(kind)) == 2L,
       measure = if (measure == "size") "size of the interaction" else "H squared")
}

# "a", "a x b"; where a pair is wider than `room` inches both of its names are shortened.
interaction_labels <- function(bars, room = Inf, size = 1) {
  label <- ifelse(bars$kind == 1L, bars$column, paste(bars$column, "x", bars$other))
  if (room == Inf) return(label)
  long <- which(bars$kind == 2L & text_width(label, size) > room)
  half <- (room - text_width(" x ", size)) / 2
  label[long] <- vapply(long, function(i) {
    paste(shorten(bars$column[i], half, size), "x", shorten(bars$other[i], half, size))
  }, "")
  make_distinct(label)
}

# The outputs that were asked for, of those that there are (NULL: one without a name).
shown_outputs <- function(output, has) {
  if (is.null(output)) return(has)
  if (is.null(has)) stop_argument("`output` is for several outputs; here is one", "output")
  if (!is.character(output) || length(output) == 0L) match_choice(output, has, "output")
  unique(vapply(output, match_choice, "", choices = has, parameter = "output", USE.NAMES = FALSE))
}
