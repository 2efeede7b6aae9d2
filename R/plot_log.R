# Metrics by round: the log of a model, and of a cross-validation.

#' Plots of models
#'
#' `plot()` of a model draws its evaluation log: a panel for each metric, and a line for each data set. A dashed line is
#' at the best round that early stopping found. Where the number of rounds was found on held-out rows (see
#' [gbt_train()]) their log is drawn as well, and the line is at the best round of that log. For an ensemble the log of
#' its first member is drawn, as the subtitle says.
#'
#' A model without a log (`nrounds` given, no validation data) gets the bars of its importance in place of it, as the
#' subtitle says; then `...` are those of [plot.gbt_importance()]. `metric` and `from` need a log.
#'
#' @section Plots of gbt:
#' All are drawn by package graphics into one figure, so they keep to `par(mfrow = )` and [graphics::layout()], and give
#' `par()` back as it was. Margins follow from the labels, letters are never smaller than 6 points, and what has no room
#' on a device is left out and counted at the foot. Colours are distinguished without seeing red or green, and in grey.
#' A plot with a single panel of at least 4.5 x 3.6 inches is within the margins of `par("mar")`, as far as labels fit
#' there. So `abline()`, `points()` and so on hit its coordinates.
#'
#' All plots take `main` and `sub`, and those with titles of axes `xlab` and `ylab`. An argument that a plot cannot use
#' is an error.
#'
#' @param x A model from [gbt_train()].
#' @param metric Which metrics to draw, of those in the log; all when left out.
#' @param from The first round to draw: early rounds often differ so much that nothing else can be seen.
#' @param tree,node,depth Number of a tree to draw in place of the log; the node from which on, and how many layers of
#'   splits: see [gbt_tree()].
#' @param ... `main`, `sub`, `xlab`, `ylab`; `xlim`, `ylim`; `log` (`"x"`, `"y"`, `"xy"`); `col`, `lty`, `lwd`, `pch`
#'   and `type` (`"l"`, `"p"`, `"b"`, `"s"`), one for each data set. With `tree` what [plot.gbt_tree()] takes.
#' @return `x`, invisibly.
#' @seealso [gbt_train()], [plot.gbt_importance()], [plot.gbt_cv()], [plot.gbt_tree()]
#' @examples
#' m <- gbt_train(mpg ~ ., mtcars, nrounds = 60, valid = 0.3, eval_train = TRUE, seed = 1, threads = 1)
#' plot(m)
#' plot(m, from = 20, main = "Fuel consumption")
#' plot(gbt_importance(m))
#' @export
plot.gbt <- function(x, metric = NULL, ..., from = 1, tree = NULL, node = 0, depth = NULL) {
  check_model(x, "x")
  if (!is.null(tree)) {
    check_no_log_part(metric, missing(from))
    plot.gbt_tree(gbt_tree(x, tree, node, depth), ...)
    return(invisible(x))
  }
  check_no_tree_part(missing(node), missing(depth))
  if (lacks_log(x) && is.null(metric) && missing(from)) {
    return(draw_figure(no_log_figure(x, bar_dots(list(...))), x))
  }
  given <- plot_dots(list(...), c("xlim", "ylim", "log", "col", "lty", "lwd", "pch", "type"))
  draw_figure(model_log_figure(x, metric, from, given), x)
}

#' @rdname gbt_autoplot
#' @exportS3Method ggplot2::autoplot
autoplot.gbt <- function(object, metric = NULL, ..., from = 1, tree = NULL, node = 0, depth = 4L) {
  check_model(object, "object")
  if (!is.null(tree)) {
    check_no_log_part(metric, missing(from))
    return(autoplot.gbt_tree(gbt_tree(object, tree, node), depth = depth, ...))
  }
  check_no_tree_part(missing(node), missing(depth))
  alone <- lacks_log(object) && is.null(metric) && missing(from)
  gg_figure(if (alone) no_log_figure(object) else model_log_figure(object, metric, from), ...)
}

# Is there no value in the log that could be drawn?
lacks_log <- function(model) {
  log <- drawn_log(model)$log
  !any(is.finite(unlist(unclass(log)[-1L])))
}

# Importance in place of a log, or a page that says why there is none.
no_log_figure <- function(x, given = list()) {
  log <- drawn_log(x)$log
  why <- if (length(log) < 2L || nrow(log) == 0L) "no evaluation log to draw: train with `valid` for one" else
    "no value of the evaluation log is finite"
  shown <- gbt_importance(x)
  type <- Filter(function(type) all(is.finite(shown[[type]])) && any(shown[[type]] > 0),
                 c(attr(shown, "type"), "frequency"))
  if (length(type)) return(importance_figure(shown, 20L, type[1L], given, why))
  words_figure(given, "Importance", why, "no tree has a split: the score is the same for all rows")
}

check_no_log_part <- function(metric, no_from) {
  if (is.null(metric) && no_from) return(invisible())
  stop_argument("`metric` and `from` choose a part of the log and cannot be used with `tree`", "tree")
}

# `node` and `depth` choose a part of a tree.
check_no_tree_part <- function(no_node, no_depth) {
  if (no_node && no_depth) return(invisible())
  name <- if (no_node) "depth" else "node"
  stop_argument(sprintf("`%s` chooses a part of a tree: give the number of the `tree` as well", name), name)
}

model_log_figure <- function(x, metric, from, given = list()) {
  panels <- log_panels(x, metric, check_whole(from, "from", 1))
  best <- best_in_log(x, from)
  rule <- if (!is.null(best)) mark("rule", best, label = paste("best round", with_commas(best)), lty = 2,
                                   col = ink$soft)
  title <- if (length(panels) == 1L) "Evaluation log" else "Evaluation logs"
  log_figure(panels, given, title, log_of_member(x), "round", rule)
}

# The figure of log_panels(). rule: the mark of the best round, or NULL. One panel gets its names at the ends of the
# lines.
log_figure <- function(panels, given, title, subtitle, xlab, rule) {
  logs <- log_axes(given[["log"]])
  style <- line_style(length(panels[[1L]]$sets), given)
  one <- length(panels) == 1L
  x <- make_scale(unlist(lapply(panels, `[[`, "round")), given_or(given[["xlab"]], xlab), given[["xlim"]],
                  logs[["x"]], 0.02, whole = TRUE)
  key <- c(list(label = panels[[1L]]$sets, ends = one,
                kind = c(l = "line", s = "line", p = "point", b = "both", o = "both", n = "none")[style$type]), style)
  if (!one && length(key$label) == 1L) key$hidden <- TRUE
  drawn <- lapply(panels, function(p) {
    y <- visible_scale(p$round, unlist(p$values), x, given_or(given[["ylab"]], if (one) p$metric else ""),
                       given[["ylim"]], logs[["y"]])
    panel(c(list(rule), series_marks(p, style$type)), if (!one) p$metric, y = y)
  })
  c(figure(given, title, subtitle, x, drawn[[1L]]$y, drawn, key), panel_noun = "metric")
}

# list by metric of list(metric, round, sets, values = list by set). from: the first round.
log_panels <- function(model, metric, from = 1) {
  drawn <- drawn_log(model)
  log <- drawn$log
  has <- drawn$metric
  if (length(log) < 2L || nrow(log) == 0L || length(has) == 0L) {
    stop_argument("the model has no evaluation log to draw; train it with `valid` or with `eval_train = TRUE`")
  }
  metric <- if (is.null(metric)) has else match_choices(metric, has, "metric")
  keep <- which(log$round >= from)
  if (length(keep) == 0L) {
    stop_argument(sprintf("`from` is %.0f, and the log ends with round %d", from, max(log$round)), "from")
  }
  panels <- lapply(metric, function(name) {
    sets <- names(log)[seq(1L + match(name, has), length(log), by = length(has))] # set by set, all metrics of each
    list(metric = name, round = log$round[keep], sets = substr(sets, 1L, nchar(sets) - nchar(name) - 1L),
         values = lapply(sets, function(set) log[[set]][keep]))
  })
  finite <- vapply(panels, function(p) any(is.finite(unlist(p$values))), NA)
  if (!all(finite) && (length(metric) == 1L || !any(finite))) {
    stop_argument(sprintf("there is nothing to draw: no value of metric \"%s\" is finite", metric[!finite][1L]),
                  "metric")
  }
  panels[finite]
}

# The log of the training, together with the log on the held-out rows that decided the number of rounds, if any:
# list(log, metric = names).
drawn_log <- function(model) {
  log <- model$evaluation_log
  metric <- model$params$eval_metric
  found <- model$auto_rounds$log
  if (is.null(found)) return(list(log = log, metric = metric))
  if (length(log) < 2L || nrow(log) == 0L) return(list(log = found, metric = model$auto_rounds$eval_metric))
  rounds <- seq_len(max(log$round, found$round))
  filled <- lapply(list(log, found), function(one) lapply(unclass(one)[-1L], `[`, match(rounds, one$round)))
  list(log = list_frame(c(list(round = rounds), filled[[1L]], filled[[2L]]), length(rounds)), metric = metric)
}

# The best round of a log, where it is drawn.
best_in_log <- function(model, from) {
  best <- if (is.null(model$auto_rounds$log)) model$best_round else model$auto_rounds$rounds
  if (!is.null(best) && best >= from) best
}

log_axes <- function(log) {
  if (is.null(log)) return(c(x = FALSE, y = FALSE))
  if (!is_text(log) || !log %in% c("", "x", "y", "xy", "yx")) {
    stop_argument("`log` must be \"x\", \"y\", \"xy\" or \"\"", "log")
  }
  c(x = grepl("x", log), y = grepl("y", log))
}

#' Draw a cross-validation
#'
#' Draws the mean of a metric over the folds by round, with a band of one standard error to either side, and the folds
#' as thin lines. With `eval_train = TRUE` it draws the mean of the training rows as well. A dashed line marks the best
#' round, a dotted one the first round within one standard error of it.
#'
#' @param x The result of [gbt_cv()].
#' @param metric Which column to draw, such as `"test_rmse"`; the last metric on held-out rows when left out.
#' @param folds Draw the folds as well?
#' @param from The first round to draw.
#' @param ... `main`, `sub`, `xlab`, `ylab`, `xlim`, `ylim`, `log`, `col`: see [plot.gbt()].
#' @return `x`, invisibly.
#' @seealso [gbt_cv()]
#' @examples
#' cv <- gbt_cv(mpg ~ ., mtcars, folds = 4, nrounds = 60, seed = 1, threads = 1)
#' plot(cv)
#' @export
plot.gbt_cv <- function(x, metric = NULL, folds = TRUE, ..., from = 1) {
  given <- plot_dots(list(...), c("xlim", "ylim", "log", "col"))
  draw_figure(cv_figure(x, metric, folds, from, given), x)
}

#' @rdname gbt_autoplot
#' @exportS3Method ggplot2::autoplot
autoplot.gbt_cv <- function(object, metric = NULL, folds = TRUE, ..., from = 1) {
  gg_figure(cv_figure(object, metric, folds, from), ...)
}

cv_figure <- function(x, metric, folds, from, given = list()) {
  check_flag(folds, "folds")
  from <- check_whole(from, "from", 1)
  shown <- cv_lines(x, metric, from)
  logs <- log_axes(given[["log"]])
  col <- series_style(2L, given[["col"]])$col
  train <- !is.null(shown$train)
  key <- list(label = c("mean of held-out rows", if (train) "mean of training rows", if (folds) "a fold"),
              col = c(col[1L], if (train) col[2L], if (folds) ink$line), lwd = c(2.5, if (train) 2, if (folds) 0.8))
  low <- shown$mean - shown$se
  high <- shown$mean + shown$se
  at <- shown$round
  scale <- make_scale(at, given_or(given[["xlab"]], "round"), given[["xlim"]], logs[["x"]], 0.02, whole = TRUE)
  vertical <- visible_scale(at, c(low, high, shown$train, if (folds) shown$each), scale,
                            given_or(given[["ylab"]], shown$name), given[["ylim"]], logs[["y"]])
  ok <- is.finite(shown$mean)
  each <- joined_lines(at, shown$each)
  means <- list(round = at, values = list(shown$mean, shown$train)[c(TRUE, train)])
  marks <- c(list(mark("area", at[ok], low[ok], yend = high[ok], col = transparent(col[1L], 0.2)),
                  if (folds) mark("line", each$x, each$y, set = length(key$label), lwd = 0.8)),
             series_marks(means, rep("l", 1L + train)), cv_rules(x, from))
  figure(given, "Cross-validation", shown$text, scale, vertical, list(panel(marks)), key)
}

# Lines at the best round and at the one of the rule.
cv_rules <- function(cv, from) {
  at <- c(cv$best_round, cv$one_se_round)
  name <- c("best", "one standard error")[!c(is.null(cv$best_round), is.null(cv$one_se_round))]
  if (length(at) == 2L && at[1L] == at[2L]) {
    at <- at[1L]
    name <- "best, one standard error"
  }
  lapply(which(at >= from), function(i) {
    mark("rule", at[i], label = sprintf("%s: round %s", name[i], with_commas(at[i])), col = ink$soft,
         lty = if (startsWith(name[i], "best")) 2 else 3)
  })
}

# list(name, round, mean, se, each = matrix by fold, train = mean or NULL, text).
cv_lines <- function(cv, metric, from = 1) {
  log <- cv$evaluation_log
  has <- sub("_mean$", "", grep("_mean$", names(log), value = TRUE))
  if (length(has) == 0L || nrow(log) == 0L) stop_argument("there is no log to draw: no metric was evaluated", "x")
  metric <- if (is.null(metric)) has[length(has)] else match_name(metric, has, "metric")
  keep <- which(log$round >= from)
  if (length(keep) == 0L) {
    stop_argument(sprintf("`from` is %.0f, and the log ends with round %d", from, max(log$round)), "from")
  }
  mean <- log[[paste0(metric, "_mean")]][keep]
  if (!any(is.finite(mean))) {
    stop_argument(sprintf("there is nothing to draw: no value of \"%s\" is finite", metric), "metric")
  }
  se <- log[[paste0(metric, "_se")]][keep]
  se[!is.finite(se)] <- 0
  train <- sub("^test_", "train_", metric)
  train <- if (train != metric) log[[paste0(train, "_mean")]][keep]
  each <- matrix(cv$fold_log[[metric]], nrow = nrow(log))[keep, , drop = FALSE]
  list(name = sub("^(test|train)_", "", metric), round = log$round[keep], mean = mean, se = se, each = each,
       train = train, text = sprintf("%s; band: one standard error of the mean", counted(ncol(each), "fold")))
}
