# The plots of gbt by ggplot2: autoplot(). What is drawn is prepared by the functions that plot() uses (`..._shown()`
# and their like); here are layers alone. Methods are registered when ggplot2 is loaded.

#' Plots by ggplot2
#'
#' `ggplot2::autoplot()` makes of all results that have a [plot()][plot.gbt] a plot of ggplot2, to which layers, scales
#' and themes may be added. It shows the same, and takes the same arguments that choose what is shown; title, subtitle
#' and labels are changed by `ggplot2::labs()`, colours by scales. ggplot2 does not know the size of the page when it
#' makes a plot, so labels may overlap where there are many: `top` and `depth` take fewer.
#'
#' @param object What `plot()` of gbt draws: a model or the result of [gbt_importance()], [gbt_cv()], [gbt_tune()],
#'   [gbt_evaluate()], [gbt_partial()], [gbt_shap()], [gbt_curve()], [gbt_calibrate()], [gbt_conformal()],
#'   [gbt_interactions()], [gbt_monitor()] or [gbt_tree()].
#' @param metric,from,tree,node,type,top,folds,output,row,against,by,measure,pairs,newdata,y,level,threads,name,show As
#'   in `plot()` of the class: [plot.gbt()], [plot.gbt_importance()], [plot.gbt_cv()], [plot.gbt_evaluation()],
#'   [plot.gbt_partial()], [plot.gbt_shap()], [plot.gbt_interactions()], [plot.gbt_conformal()], [plot.gbt_monitor()],
#'   [plot.gbt_tree()].
#' @param depth How many layers of splits of a tree are drawn.
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
#' @name gbt_autoplot
NULL

# ---- what all share ----

# Aesthetics by names of columns.
gg_aes <- function(...) do.call(ggplot2::aes, lapply(list(...), as.name))

gg_theme <- function() {
  ggplot2::theme_minimal() + ggplot2::theme(
    panel.grid.minor = ggplot2::element_blank(), plot.title = ggplot2::element_text(face = "bold"),
    plot.title.position = "plot", plot.subtitle = ggplot2::element_text(colour = ink$soft), legend.position = "top",
    legend.justification = "left", strip.text = ggplot2::element_text(face = "bold", hjust = 0)
  )
}

gg_page <- function(data, title, subtitle = NULL, x = NULL, y = NULL) {
  ggplot2::ggplot(data) + ggplot2::labs(title = title, subtitle = subtitle, x = x, y = y, colour = NULL, fill = NULL,
                                        linetype = NULL) + gg_theme()
}

gg_frame <- function(...) {
  values <- list(...)
  list_frame(values, length(values[[1L]]))
}

# Lines of series by the colours and patterns of plot().
gg_series <- function(n) {
  style <- series_style(n)
  list(ggplot2::scale_colour_manual(values = style$col), ggplot2::scale_linetype_manual(values = style$lty))
}

# Labels at 1, 2, ... from the top down. most: of more rows every k-th has its label.
gg_rows <- function(label, most = Inf) {
  n <- length(label)
  at <- seq(1L, n, by = max(1L, ceiling(n / most)))
  left_out <- n - length(at)
  list(ggplot2::scale_y_continuous(breaks = n + 1L - at, labels = label[at], limits = c(0.4, n + 0.6),
                                   expand = c(0, 0)),
       ggplot2::theme(panel.grid.major.y = ggplot2::element_blank()),
       if (left_out) ggplot2::labs(caption = paste(counted(left_out, "level"), "without a label for lack of room")))
}

most_levels <- 30L # of a column, with a label each

# A key whose entries are points, lines or both. shape: NA for none; lty: 0 for none.
gg_key_shapes <- function(shape, lty) {
  ggplot2::guides(colour = ggplot2::guide_legend(override.aes = list(shape = shape, linetype = lty)))
}

# Facets with rows of their own: `key` is "label|number of the output".
gg_keys <- function(label, output) sprintf("%s|%d", label, output)

gg_key_rows <- function() {
  list(ggplot2::scale_y_discrete(labels = function(key) sub("[|][0-9]+$", "", key)),
       ggplot2::theme(panel.grid.major.y = ggplot2::element_blank()))
}

gg_panels <- function(by, free = "fixed", ncol = NULL) {
  list(ggplot2::facet_wrap(as.name(by), scales = free, ncol = ncol),
       ggplot2::theme(panel.spacing = ggplot2::unit(1, "lines"),
                      panel.border = ggplot2::element_rect(colour = ink$grid, fill = NA)))
}

# A vertical line with its name, on the side where the axis has more room. along: values of the axis.
gg_mark <- function(at, label, along, lty = 2, line = 1) {
  if (is.null(at)) return(NULL)
  text <- gg_frame(at = at, label = paste0(" ", label, " ", format(at, big.mark = ","), " "))
  list(ggplot2::geom_vline(xintercept = at, linetype = lty, colour = ink$soft),
       ggplot2::geom_text(gg_aes(x = "at", label = "label"), data = text, y = Inf,
                          hjust = as.numeric(at > mean(range(along))), vjust = 0.2 + 1.3 * line, colour = ink$soft,
                          size = 3, inherit.aes = FALSE))
}

gg_bars <- function(shown, title, subtitle, x, interval = FALSE) {
  n <- length(shown$value)
  shown$place <- rev(seq_len(n))
  bars <- list_frame(shown[lengths(shown) == n], n)
  p <- gg_page(bars, title, subtitle, x) + gg_rows(shown$label)
  if (!interval) {
    p <- p + ggplot2::geom_col(gg_aes(x = "value", y = "place"), fill = ink$band, width = 0.72, orientation = "y")
    if (is.null(bars$lower)) return(p)
    return(p + ggplot2::geom_linerange(gg_aes(xmin = "lower", xmax = "upper", y = "place"), na.rm = TRUE))
  }
  p <- p + ggplot2::geom_vline(xintercept = 0, colour = ink$axis)
  if (any(is.finite(bars$lower))) {
    p <- p + ggplot2::geom_segment(gg_aes(x = "lower", xend = "upper", y = "place", yend = "place"), colour = ink$band,
                                   linewidth = 0.8, na.rm = TRUE)
  }
  p + ggplot2::geom_point(gg_aes(x = "value", y = "place"), colour = ink$band, size = 2, na.rm = TRUE)
}

# ---- logs, cross-validation, tuning ----

#' @rdname gbt_autoplot
#' @exportS3Method ggplot2::autoplot
autoplot.gbt <- function(object, metric = NULL, ..., from = 1, tree = NULL, node = 0, depth = 4L) {
  check_model(object, "object")
  if (!is.null(tree)) {
    if (!is.null(metric) || !missing(from)) stop_argument("`metric` and `from` are of the log, not of a `tree`", "tree")
    return(autoplot.gbt_tree(gbt_tree(object, tree, node), depth = depth, ...))
  }
  check_no_tree_part(missing(node), missing(depth))
  check_no_dots(written_dots(...), names(formals(autoplot.gbt)))
  panels <- log_panels(object, metric, check_whole(from, "from", 1))
  best <- best_in_log(object, from)
  title <- if (length(panels) == 1L) "Evaluation log" else "Evaluation logs"
  gg_log(panels, title, "round", log_of_member(object)) + gg_mark(best, "best round", panels[[1L]]$round)
}

# A line for each set, a panel for each metric.
gg_log <- function(panels, title, x, subtitle = NULL) {
  each <- lapply(panels, function(p) {
    k <- length(p$sets)
    list(metric = rep(p$metric, k * length(p$round)), set = rep(p$sets, each = length(p$round)),
         round = rep(p$round, k), value = unlist(p$values))
  })
  lines <- as.list(do.call(Map, c(c, each)))
  lines$metric <- factor(lines$metric, unique(lines$metric))
  lines$set <- factor(lines$set, unique(lines$set))
  lines$value[!is.finite(lines$value)] <- NA
  one <- length(panels) == 1L
  layer <- if (length(unique(lines$round)) == 1L) ggplot2::geom_point else ggplot2::geom_line
  gg_page(list_frame(lines, length(lines$set)), title, subtitle, x, if (one) panels[[1L]]$metric else NULL) +
    layer(gg_aes(x = "round", y = "value", colour = "set", linetype = "set"), na.rm = TRUE) +
    gg_series(nlevels(lines$set)) + if (!one) gg_panels("metric", "free_y")
}

#' @rdname gbt_autoplot
#' @exportS3Method ggplot2::autoplot
autoplot.gbt_cv <- function(object, metric = NULL, folds = TRUE, ..., from = 1) {
  check_no_dots(written_dots(...), names(formals(autoplot.gbt_cv)))
  check_flag(folds, "folds")
  shown <- cv_lines(object, metric, check_whole(from, "from", 1))
  n <- length(shown$round)
  sets <- c("mean of held-out rows", if (!is.null(shown$train)) "mean of training rows")
  style <- series_style(length(sets))
  keys <- c(sets, if (folds) "a fold")
  lines <- gg_frame(round = rep(shown$round, length(sets)), value = c(shown$mean, shown$train),
                    set = factor(rep(sets, each = n), keys))
  band <- gg_frame(round = shown$round, low = shown$mean - shown$se, high = shown$mean + shown$se)
  each <- gg_frame(round = rep(shown$round, ncol(shown$each)), value = as.vector(shown$each),
                   fold = rep(seq_len(ncol(shown$each)), each = n),
                   set = factor(rep("a fold", length(shown$each)), keys))
  marks <- Filter(function(m) !is.null(m[[1L]]) && m[[1L]] >= from,
                  list(list(object$best_round, "best: round", 2, 1), list(object$one_se_round,
                                                                           "one standard error: round", 3, 2)))
  gg_page(lines, "Cross-validation", shown$text, "round", shown$name) +
    ggplot2::geom_ribbon(gg_aes(x = "round", ymin = "low", ymax = "high"), data = band, fill = ink$band, alpha = 0.2) +
    (if (folds) ggplot2::geom_line(gg_aes(x = "round", y = "value", group = "fold", colour = "set", linetype = "set"),
                                   data = each, linewidth = 0.3)) +
    ggplot2::geom_line(gg_aes(x = "round", y = "value", colour = "set", linetype = "set"), linewidth = 0.9) +
    ggplot2::scale_colour_manual(values = c(style$col, if (folds) "#9A9A9A"), limits = keys) +
    ggplot2::scale_linetype_manual(values = c(style$lty, if (folds) 1), limits = keys) +
    lapply(marks, function(m) gg_mark(m[[1L]], m[[2L]], shown$round, m[[3L]], m[[4L]]))
}

#' @rdname gbt_autoplot
#' @exportS3Method ggplot2::autoplot
autoplot.gbt_tune <- function(object, ...) {
  check_no_dots(written_dots(...), character(0))
  p <- tune_panels(object)[[1L]]
  parts <- lapply(1:2, function(i) {
    gg_frame(round = p$round, value = p$values[[i]], set = factor(rep(p$sets[i], length(p$round)), p$sets))
  })
  gg_page(parts[[1L]], "Configurations", NULL, "configuration", p$metric) +
    ggplot2::geom_step(gg_aes(x = "round", y = "value", colour = "set"), linewidth = 0.9, na.rm = TRUE) +
    ggplot2::geom_point(gg_aes(x = "round", y = "value", colour = "set"), data = parts[[2L]], na.rm = TRUE) +
    ggplot2::scale_colour_manual(values = palette_colours[1:2], limits = p$sets) + gg_key_shapes(c(NA, 19), c(1, 0)) +
    gg_mark(object$best_config, "best", p$round)
}

# ---- importance, evaluation, interactions ----

#' @rdname gbt_autoplot
#' @exportS3Method ggplot2::autoplot
autoplot.gbt_importance <- function(object, top = 20L, type = NULL, ...) {
  check_no_dots(written_dots(...), names(formals(autoplot.gbt_importance)))
  shown <- importance_shown(object, top, type)
  gg_bars(list(label = shown$feature, value = shown$value, lower = shown$lower, upper = shown$upper), "Importance",
          NULL, paste("share of", shown$type))
}

#' @rdname gbt_autoplot
#' @exportS3Method ggplot2::autoplot
autoplot.gbt_importance_permutation <- function(object, top = 20L, ...) {
  check_no_dots(written_dots(...), names(formals(autoplot.gbt_importance_permutation)))
  shown <- permutation_shown(object, top)
  gg_bars(list(label = shown$column, value = shown$importance, lower = shown$lower, upper = shown$upper),
          "Permutation importance", NULL, permutation_words(object), interval = TRUE)
}

#' @rdname gbt_autoplot
#' @exportS3Method ggplot2::autoplot
autoplot.gbt_importance_shap <- function(object, top = 20L, ...) {
  check_no_dots(written_dots(...), names(formals(autoplot.gbt_importance_shap)))
  shown <- shap_importance_shown(object, top)
  gg_bars(list(label = shown$column, value = shown$importance), "Importance by contributions", NULL,
          "mean absolute contribution")
}

#' @rdname gbt_autoplot
#' @exportS3Method ggplot2::autoplot
autoplot.gbt_evaluation <- function(object, metric = NULL, top = 40L, ...) {
  check_no_dots(written_dots(...), names(formals(autoplot.gbt_evaluation)))
  shown <- evaluation_shown(object, metric, top)
  names(shown)[names(shown) == "estimate"] <- "value"
  p <- gg_bars(shown, "Evaluation", shown$text, shown$metric, interval = TRUE)
  p$layers <- p$layers[-1L] # no line at 0
  p
}

#' @rdname gbt_autoplot
#' @exportS3Method ggplot2::autoplot
autoplot.gbt_interactions <- function(object, measure = c("size", "h_squared"), pairs = NULL, top = 20L, output = NULL,
                                      ...) {
  check_no_dots(written_dots(...), names(formals(autoplot.gbt_interactions)))
  shown <- interactions_shown(object, measure, pairs, top, output)
  part <- function(i) {
    b <- shown$bars[[i]]
    n <- length(b$value)
    list(label = interaction_labels(b), value = b$value, kind = factor(interaction_kinds[b$kind], interaction_kinds),
         place = rev(seq_len(n)), output = rep(given_or(shown$outputs, "")[i], n))
  }
  bars <- do.call(Map, c(c, lapply(seq_along(shown$bars), part)))
  n <- length(bars$value)
  bars$output <- factor(bars$output, unique(bars$output))
  key <- gg_keys(bars$label, as.integer(bars$output))
  bars$key <- factor(key, rev(key))
  gg_page(list_frame(bars, n), "Interactions", NULL, shown$measure, NULL) +
    ggplot2::geom_col(gg_aes(x = "value", y = "key", fill = "kind"), width = 0.72) +
    ggplot2::scale_fill_manual(values = c(ink$band, ink$mark), drop = !shown$both) + gg_key_rows() +
    (if (!shown$both) ggplot2::guides(fill = "none")) +
    if (!is.null(shown$outputs)) gg_panels("output", "free_y", 1L)
}
