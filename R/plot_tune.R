# A search for parameters: the metric by each parameter, or by configuration in the order of the search.

#' Draw a search for parameters
#'
#' `type = "parameters"` draws the metric of each configuration against each parameter of the space, a panel for each:
#' where the good values are, which parameters matter, and whether the best one is at the end of its range. Parameters
#' that were searched on a logarithmic scale have a logarithmic axis, and values to choose from are categories. The best
#' configuration is marked. Crosses at the bottom are configurations that failed. Successive halving trains most
#' configurations for few rounds, whose metrics do not compare with those of the last stage: they are grey.
#'
#' `type = "course"` draws the metric by the number of the configuration, and the best one so far as a line: whether the
#' search still finds better ones.
#'
#' @param x The result of [gbt_tune()].
#' @param type `"parameters"` or `"course"`.
#' @param ... `main`, `sub`, `ylab`, `ylim`; `col`: two colours, of the configurations and of the best one. With
#'   `type = "course"` also `xlab`, `xlim`, `log`: see [plot.gbt()].
#' @return `x`, invisibly.
#' @seealso [gbt_tune()]
#' @examples
#' tuned <- gbt_tune(mtcars[-1], mtcars$mpg, space = list(eta = c(0.05, 0.3), max_depth = c(2, 5)),
#'                   configs = 8, folds = 3, nrounds = 40, seed = 1, threads = 1)
#' plot(tuned)
#' plot(tuned, "course")
#' @export
plot.gbt_tune <- function(x, type = c("parameters", "course"), ...) {
  type <- match_choice(type, c("parameters", "course"), "type")
  course <- type == "course"
  given <- plot_dots(list(...), c(if (course) c("xlim", "log"), "ylim", "col"), c(if (course) "xlab", "ylab"))
  draw_figure(tune_figure(x, type, given), x)
}

#' @rdname gbt_autoplot
#' @exportS3Method ggplot2::autoplot
autoplot.gbt_tune <- function(object, type = c("parameters", "course"), ...) {
  gg_figure(tune_figure(object, match_choice(type, c("parameters", "course"), "type")), ...)
}

tune_figure <- function(x, type, given = list()) {
  if (!any(is.finite(x$results$estimate))) stop_argument("there is nothing to draw: no configuration was rated", "x")
  if (type == "course") tune_course_figure(x, given) else tune_parameters_figure(x, given)
}

# The estimate of each configuration, and the best one so far.
tune_course_figure <- function(x, given) {
  estimate <- x$results$estimate
  worst <- if (x$larger_is_better) -Inf else Inf
  so_far <- (if (x$larger_is_better) cummax else cummin)(ifelse(is.na(estimate), worst, estimate))
  so_far[!is.finite(so_far)] <- NA
  panel <- list(metric = x$metric, round = x$results$config, sets = c("best so far", "a configuration"),
                values = list(so_far, estimate))
  given$type <- c("s", "p")
  best <- x$best_config
  rule <- if (!is.null(best)) mark("rule", best, label = paste("best: configuration", best), lty = 2, col = ink$soft)
  log_figure(list(panel), given, "Course of the search", tune_text(x), "configuration", rule)
}

# "30 configurations, 2 failed; best: number 12 with rmse 3.42"
tune_text <- function(x) {
  failed <- sum(!is.finite(x$results$estimate))
  text <- paste0(counted(nrow(x$results), "configuration"), if (failed) sprintf(", %d failed", failed))
  at <- match(given_or(x$best_config, NA), x$results$config)
  if (is.na(at)) return(text)
  sprintf("%s; best: number %d with %s %s", text, x$best_config, x$metric, number_label(x$results$estimate[at], 4L))
}

tune_parameters_figure <- function(x, given) {
  col <- two_colours(given, ": of the configurations and of the best one")
  estimate <- as.double(x$results$estimate)
  ok <- is.finite(estimate)
  stage <- given_or(x$results$stage, rep(1L, length(estimate)))
  set <- ifelse(!ok, 4L, ifelse(stage < max(stage[ok]), 3L, 1L))
  set[ok & x$results$config == given_or(x$best_config, NA)] <- 2L
  names <- tuned_columns(x$results)
  one <- length(names) == 1L
  y <- make_scale(estimate[ok], given_or(given[["ylab"]], if (one) x$metric else ""), given[["ylim"]], extend = 0.06)
  estimate[!ok] <- axis_at(0.02, y)
  order <- setdiff(order(-set), which(set == 2L)) # the best one lies over all others
  panels <- lapply(names, function(name) {
    along <- tuned_axis(x$results[[name]], x$space[[name]], if (one) name else "")
    points <- function(at, cex) {
      at <- at[is.finite(along$at[at])]
      mark("point", along$at[at], estimate[at], set = set[at], cex = cex)
    }
    panel(list(points(order, 0.8), points(which(set == 2L), 1.3)), if (!one) name, x = along$scale)
  })
  label <- c("a configuration", "the best one", "trained for fewer rounds", "failed")
  key <- list(label = label, col = c(transparent(col[1L], 0.7), col[2L], ink$none, ink$soft), kind = "point",
              pch = c(19, 19, 19, 4), shown = c(TRUE, any(set == 2L), any(set == 3L), any(set == 4L)))
  title <- paste(plain_text(x$metric), if (one) "by parameter" else "by each parameter")
  c(figure(given, title, tune_text(x), panels[[1L]]$x, y, panels, key), panel_noun = "parameter")
}

# Names of the parameters among the columns of the results.
tuned_columns <- function(results) {
  setdiff(names(results), c("config", "rounds", "estimate", "std_error", "seconds", "stage"))
}

# list(at = numbers, NA where a value has no place, scale) of the values of a parameter. part: of the space, or NULL.
tuned_axis <- function(values, part, title) {
  number <- is.numeric(values)
  if (!is.null(part$values) || !number) {
    texts <- c(as.character(part$values), as.character(values[!is.na(values)]))
    levels <- if (number) sort(unique(values)) else unique(texts)
    f <- factor(as.character(values), as.character(levels))
    if (number) levels(f) <- vapply(levels, number_label, "")
    return(list(at = as.double(f), scale = make_scale(f, title)))
  }
  log <- isTRUE(part$log)
  whole <- all(values == round(values), na.rm = TRUE)
  place <- !is.na(values) & (!log | values > 0) # the usual space has max_leaves 0 where it has no effect
  scale <- make_scale(c(part$low, part$high, values[place]), title, log = log, extend = 0.05, whole = whole)
  list(at = ifelse(place, values, NA), scale = scale)
}
