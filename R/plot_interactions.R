# Bars of interactions.

#' Draw interactions
#'
#' Bars of [gbt_interactions()]: columns with all others, and pairs, those of the largest size first. Several outputs
#' get a panel each, with the bars in one order. Sizes of outputs in units of their own have a scale each.
#'
#' @param x The result of [gbt_interactions()].
#' @param measure `"size"`, the part of the effects that is no sum of single ones, in units of the prediction; or
#'   `"h_squared"`, its share of the variance, which may be large where effects are small.
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
  draw_figure(interactions_figure(x, measure, pairs, top, output, given), x)
}

#' @rdname gbt_autoplot
#' @exportS3Method ggplot2::autoplot
autoplot.gbt_interactions <- function(object, measure = c("size", "h_squared"), pairs = NULL, top = 20L, output = NULL,
                                      ...) {
  gg_figure(interactions_figure(object, measure, pairs, top, output), ...)
}

interactions_figure <- function(x, measure, pairs, top, output, given = list()) {
  col <- two_colours(given)
  shown <- interactions_shown(x, measure, pairs, top, output)
  scale <- function(bars) {
    bar_scale(unlist(lapply(bars, `[[`, "value")), given_or(given[["xlab"]], shown$measure), given[["xlim"]])
  }
  panels <- Map(function(b, i) {
    panel(list(bar_mark(b$value, set = b$kind), zero_rule()), shown$outputs[i], rows = b$label,
          x = if (shown$own) scale(list(b)))
  }, shown$bars, seq_along(shown$bars))
  key <- list(label = c("with all others", "pair"), col = col, kind = "box", hidden = !shown$both)
  figure(given, "Interactions", NULL, scale(shown$bars), rows_scale, panels, key, noun = "further bar")
}

# list(bars = list by output of list(label, value, kind = 1 or 2), outputs = names or NULL, both = are there
# both kinds, own = has each output a scale of its own? measure = its words).
interactions_shown <- function(x, measure, pairs, top, output) {
  measure <- match_choice(measure, c("size", "h_squared"), "measure")
  if (!is.null(pairs)) check_flag(pairs, "pairs")
  top <- check_whole(top, "top", 1)
  own <- isTRUE(attr(x, "own_units")) && measure == "size"
  x <- as.list(unclass(x))
  named <- is.null(x$output) || has_levels(x$output) && length(x$output) == length(x$column)
  if (length(x$column) == 0L || is.null(x[[measure]]) || !named) {
    stop_argument("`x` has no rows of gbt_interactions() to draw", "x")
  }
  kind <- 1L + !is.na(x$other)
  use <- is.null(pairs) | kind == 1L + isTRUE(pairs)
  if (!any(use)) stop_argument("`x` has no pairs; compute them with gbt_interactions(top = 2) or more", "pairs")
  which <- given_or(x$output, rep("", length(x$column)))
  outputs <- shown_outputs(output, if (!is.null(x$output)) levels(factor(which, unique(which))))
  use <- use & which %in% given_or(outputs, "") & is.finite(x[[measure]])
  same <- paste(kind, x$column, x$other, sep = "\r") # bars have one order in all panels
  sizes <- ifelse(use, x[[measure]], 0)
  if (own) sizes <- sizes / above_0(stats::ave(sizes, which, FUN = max))
  sum <- stats::ave(sizes, same, FUN = sum)
  bars <- lapply(given_or(outputs, ""), function(name) {
    at <- which(use & which == name)
    at <- utils::head(at[order(-sum[at], kind[at], match(same, same)[at])], top)
    label <- function(name) shorten_letters(plain_text(name[at]), 24L)
    list(label = make_distinct(ifelse(kind[at] == 1L, label(x$column), paste(label(x$column), "x", label(x$other)))),
         value = x[[measure]][at], kind = kind[at])
  })
  if (!any(lengths(lapply(bars, `[[`, "value")))) stop_argument("there is nothing to draw: no value is finite", "x")
  list(bars = bars, outputs = outputs, own = own && length(bars) > 1L,
       both = is.null(pairs) && length(unique(kind)) == 2L,
       measure = if (measure == "size") "size of the interaction" else "H squared")
}
