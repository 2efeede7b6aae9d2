# Metrics by round: the log of a model, and of a cross-validation.

#' Plots of models
#'
#' `plot()` of a model draws its evaluation log, a panel for each metric, a line for each data set, and a dashed line at
#' the round that early stopping found the best. Where the number of rounds was found on held-out rows (see
#' [gbt_train()]) their log is drawn as well, and the line stands at the best round there. The log of an ensemble is
#' that of its first member, as the subtitle says.
#'
#' @section Plots of gbt:
#' All are drawn by package graphics into one figure, so they keep to `par(mfrow = )` and [graphics::layout()], and give
#' `par()` back as it was. Margins follow from the labels, letters are never smaller than 6 points, and what has no room
#' on a device is left out and counted at the foot. Colours are told apart without seeing red or green, and in grey. A
#' plot with a single panel of at least 4.5 x 3.6 inches lies where the margins of `par("mar")` have it, as far as
#' labels fit there, so that `abline()`, `points()` and so on hit its coordinates.
#'
#' All plots take `main` and `sub`, and those with titles of axes `xlab` and `ylab`. What a plot has no use for is an
#' error.
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
    if (!is.null(metric) || !missing(from)) stop_argument("`metric` and `from` are of the log, not of a `tree`", "tree")
    plot.gbt_tree(gbt_tree(x, tree, node, depth), ...)
    return(invisible(x))
  }
  check_no_tree_part(missing(node), missing(depth))
  given <- plot_dots(list(...), c("xlim", "ylim", "log", "col", "lty", "lwd", "pch", "type"))
  panels <- log_panels(x, metric, check_whole(from, "from", 1))
  names <- panels[[1L]]$sets
  style <- line_style(length(names), given)
  given$main <- given_or(given[["main"]], if (length(panels) == 1L) "Evaluation log" else "Evaluation logs")
  given$sub <- given_or(given[["sub"]], log_of_member(x))
  best <- best_in_log(x, from)
  draw_log(panels, names, style, given, list(round = best, label = "best round"))
  invisible(x)
}

# `node` and `depth` choose a part of a tree.
check_no_tree_part <- function(no_node, no_depth) {
  if (no_node && no_depth) return(invisible())
  name <- if (no_node) "depth" else "node"
  stop_argument(sprintf("`%s` chooses a part of a tree: give the number of the `tree` as well", name), name)
}

# list by metric of list(metric, round, sets, values = list by set). from: the first round.
log_panels <- function(model, metric, from = 1) {
  drawn <- drawn_log(model)
  log <- drawn$log
  has <- drawn$metric
  if (length(log) < 2L || nrow(log) == 0L || length(has) == 0L) {
    stop_argument("the model has no evaluation log to draw; train it with `valid` or with `eval_train = TRUE`")
  }
  metric <- if (is.null(metric)) has else check_metrics(metric, has)
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

# The log of the training and, beside it, that of the held-out rows that its number of rounds was found on:
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

check_metrics <- function(metric, has) {
  if (!is.character(metric) || length(metric) == 0L) return(match_choice(metric, has, "metric"))
  unique(vapply(metric, match_choice, "", choices = has, parameter = "metric", USE.NAMES = FALSE))
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

log_axes <- function(log) {
  if (is.null(log)) return(c(x = FALSE, y = FALSE))
  if (!is_text(log) || !log %in% c("", "x", "y", "xy", "yx")) {
    stop_argument("`log` must be \"x\", \"y\", \"xy\" or \"\"", "log")
  }
  c(x = grepl("x", log), y = grepl("y", log))
}

# mark: list(round = NULL or where the vertical line stands, label). One panel gets its names at the ends of the lines.
draw_log <- function(panels, names, style, given, mark) {
  logs <- log_axes(given[["log"]])
  one <- length(panels) == 1L
  draw_page(title = given$main, subtitle = given[["sub"]], body = function(page) {
    outer <- inner(page)
    direct <- one && length(names) <= 8L
    key <- list(label = names, col = style$col, lty = style$lty, lwd = style$lwd, pch = style$pch,
                kind = c(l = "line", s = "line", p = "point", b = "both", o = "both", n = "none")[style$type])
    if (one) {
      p <- panels[[1L]]
      head <- title_height(page)
      x <- make_scale(p$round, given_or(given[["xlab"]], "round"), given[["xlim"]], logs[["x"]], 0.02)
      y <- visible_scale(p, x, given_or(given[["ylab"]], p$metric), given[["ylim"]], logs[["y"]])
      ends <- if (direct) line_ends(page, p, names, x, y, 0.6 * page$height)
      if (is.null(ends)) head <- head + outer[4L] - put_key(page, key, outer[1L], outer[4L], outer[2L], draw = FALSE)
      outer[4L] <- outer[4L] - head
      box <- draw_panel(page, outer, x, y, right = if (is.null(ends)) 0 else ends$width, box = user_box(page))
      draw_log_lines(page, p, x, y, style, box, mark, ends, names)
      left <- outer[1L]
      top <- put_titles(page, left, title_top(page, box, head), outer[2L])
      if (is.null(ends)) put_key(page, key, left, top, outer[2L])
      return(restore_panel(page, box, x, y, ends, logs))
    }
    top <- put_titles(page, outer[1L], outer[4L], outer[2L])
    outer[4L] <- if (length(names) > 1L) put_key(page, key, outer[1L], top, outer[2L]) else top
    fit <- fit_panels(page, outer, length(panels))
    note <- if (fit$left_out) sprintf("%s not shown for lack of room", counted(fit$left_out, "metric"))
    if (length(note)) {
      outer[3L] <- put_note(page, note, outer[1L], outer[3L], outer[2L])
      fit$boxes <- fit_panels(page, outer, length(panels) - fit$left_out)$boxes
    }
    for (i in seq_along(fit$boxes)) {
      p <- panels[[i]]
      x <- make_scale(p$round, given_or(given[["xlab"]], "round"), given[["xlim"]], logs[["x"]], 0.02)
      y <- visible_scale(p, x, given_or(given[["ylab"]], ""), given[["ylim"]], logs[["y"]])
      box <- draw_panel(page, fit$boxes[[i]], x, y, heading = p$metric)
      draw_log_lines(page, p, x, y, style, box, mark, NULL, names)
    }
  })
}

# Where titles of `head` inches begin: not far above their panel.
title_top <- function(page, box, head) {
  min(page$height - 0.08 * page$size, box[4L] + 1.6 * line_height(page, 0.8) + head)
}

# The last plot region is the panel's again, for what the user adds.
restore_panel <- function(page, box, x, y, ends, logs = c(x = FALSE, y = FALSE)) {
  right <- if (is.null(ends)) 0 else ends$width
  xlim <- x$lim
  if (right > 0) xlim[2L] <- beyond(xlim, (box[2L] - box[1L]) / max(box[2L] - box[1L] - right, 0.2), x$log)
  graphics::par(plt = c(box[1:2] / page$width, box[3:4] / page$height))
  graphics::par(xlog = FALSE, ylog = FALSE)
  graphics::plot.window(xlim, y$lim, log = log_letters(x, y), xaxs = "i", yaxs = "i")
}

# The vertical scale of what lies within the horizontal limits.
visible_scale <- function(panel, x, title, lim, log) {
  seen <- panel$round >= x$lim[1L] & panel$round <= x$lim[2L]
  values <- unlist(lapply(panel$values, function(v) v[seen]))
  make_scale(as.double(values), title, lim, log, 0.05)
}

line_ends <- function(page, panel, names, x, y, inches) {
  at <- vapply(panel$values, function(v) {
    ok <- which(is.finite(v) & panel$round <= x$lim[2L] & (!y$log | v > 0))
    if (length(ok)) v[max(ok)] else NA_real_
  }, 0)
  shown <- which(is.finite(at))
  if (length(shown) == 0L) return(NULL)
  ends <- end_labels(page, names[shown], at[shown], inches, y$lim, y$log, room = 0.3 * page$width)
  if (is.null(ends)) return(NULL)
  c(ends, list(shown = shown))
}

draw_log_lines <- function(page, panel, x, y, style, box, mark, ends, names) {
  one_round <- length(panel$round) == 1L
  if (!is.null(mark$round) && mark$round >= x$lim[1L] && mark$round <= x$lim[2L]) {
    graphics::segments(mark$round, y$lim[1L], mark$round, y$lim[2L], lty = 2, col = ink$soft, xpd = FALSE)
  }
  for (i in seq_along(panel$values)) {
    v <- panel$values[[i]]
    v[!is.finite(v)] <- NA
    lone <- one_round || sum(!is.na(v)) == 1L
    if (style$type[i] %in% c("l", "b", "o", "s") && !lone) {
      at <- within_limits(panel$round, v, x)
      graphics::lines(at$x, at$y, type = if (style$type[i] == "s") "s" else "l", col = style$col[i],
                      lty = style$lty[i], lwd = style$lwd[i], xpd = FALSE)
    }
    if (style$type[i] %in% c("p", "b", "o") || (lone && style$type[i] != "n")) {
      graphics::points(panel$round, v, col = style$col[i], pch = style$pch[i], cex = 0.8, xpd = FALSE)
    }
  }
  inch <- inch_in(box, x$lim, y$lim, x$log, y$log)
  if (!is.null(mark$round) && mark$round >= x$lim[1L] && mark$round <= x$lim[2L]) {
    put_mark_label(page, sprintf("%s %s", mark$label, format(mark$round, big.mark = ",")), mark$round, x, y, box)
  }
  if (!is.null(ends)) {
    ends <- c(line_ends(page, panel, names, x, y, box[4L] - box[3L]), list())
    if (is.null(ends$y)) return(invisible())
    full <- box[2L] - box[1L] - ends$width
    reach <- beyond(x$lim, 1 + 0.1 / max(full, 0.2), x$log)
    put_text(page, reach, ends$y, ends$text, 0.8, c(0, 0.45), col = readable(style$col[ends$shown]), what = "end label")
  }
}

# Only what lies within the limits is drawn: the direct labels beside it keep free.
within_limits <- function(x, y, scale) {
  keep <- x >= scale$lim[1L] & x <= scale$lim[2L]
  list(x = x[keep], y = y[keep])
}

# Colours of letters: as dark as letters need to be on white.
readable <- function(col) {
  vapply(col, function(one) {
    for (dark in c(1, 0.85, 0.7, 0.55, 0.4)) {
      rgb <- grDevices::col2rgb(one)[, 1L] * dark
      shade <- grDevices::rgb(rgb[1L], rgb[2L], rgb[3L], maxColorValue = 255)
      if (luminance(shade) < 0.22) break
    }
    shade
  }, "", USE.NAMES = FALSE)
}

# The name of a vertical line, at the top of the panel, on the side where it has room.
put_mark_label <- function(page, text, at, x, y, box) {
  size <- letter_size(page, 0.75)
  inches <- box[2L] - box[1L]
  share <- axis_inches(at, x, 1)
  wide <- text_width(text, size) + 0.1
  on_right <- (1 - share) * inches > wide || share < 0.5
  gap <- (if (on_right) 0.05 else -0.05) / inches
  place <- beyond(x$lim, share + gap, x$log)
  inch <- inch_in(box, x$lim, y$lim, x$log, y$log)
  top <- inch$above(-0.1 * line_height(page, 0.75))
  put_text(page, place, top, text, 0.75, c(if (on_right) 0 else 1, 1), ink$soft, what = "mark")
}

#' Draw a cross-validation
#'
#' Draws the mean of a metric over the folds by round, with a band of one standard error to either side and, thin, the
#' folds; the mean of the training rows as well, where `eval_train = TRUE` had it evaluated. A dashed line stands at the
#' best round, a dotted one at the first round within one standard error of it.
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
  check_flag(folds, "folds")
  shown <- cv_lines(x, metric, check_whole(from, "from", 1))
  draw_page(title = given_or(given[["main"]], "Cross-validation"), subtitle = given_or(given[["sub"]], shown$text),
            body = function(page) draw_cv(page, x, shown, folds, given))
  invisible(x)
}

# list(name, round, mean, se, each = matrix by fold, train = mean or NULL, text).
cv_lines <- function(cv, metric, from = 1) {
  log <- cv$evaluation_log
  has <- sub("_mean$", "", grep("_mean$", names(log), value = TRUE))
  if (length(has) == 0L || nrow(log) == 0L) stop_argument("there is no log to draw: no metric was evaluated", "x")
  metric <- if (is.null(metric)) has[length(has)] else match_choice(metric, has, "metric")
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

draw_cv <- function(page, cv, shown, folds, given) {
  logs <- log_axes(given[["log"]])
  outer <- inner(page)
  col <- series_style(2L, given[["col"]])$col
  key <- list(label = c("mean of held-out rows", if (!is.null(shown$train)) "mean of training rows",
                        if (folds) "a fold"),
              col = c(col[1L], if (!is.null(shown$train)) col[2L], if (folds) "#9A9A9A"),
              lty = 1, lwd = c(2.5, if (!is.null(shown$train)) 2, if (folds) 0.8), kind = "line")
  head <- title_height(page) + outer[4L] - put_key(page, key, outer[1L], outer[4L], outer[2L], draw = FALSE)
  each <- if (folds) lapply(seq_len(ncol(shown$each)), function(k) shown$each[, k])
  panel <- list(round = shown$round,
                values = c(list(shown$mean - shown$se, shown$mean + shown$se), list(shown$train), each))
  x <- make_scale(shown$round, given_or(given[["xlab"]], "round"), given[["xlim"]], logs[["x"]], 0.02)
  y <- visible_scale(panel, x, given_or(given[["ylab"]], shown$name), given[["ylim"]], logs[["y"]])
  outer[4L] <- outer[4L] - head
  box <- draw_panel(page, outer, x, y, box = user_box(page))
  ok <- is.finite(shown$mean)
  graphics::polygon(c(shown$round[ok], rev(shown$round[ok])),
                    bounded(c((shown$mean - shown$se)[ok], rev((shown$mean + shown$se)[ok])), y), border = NA,
                    col = transparent(col[1L], 0.2), xpd = FALSE)
  if (folds) graphics::matlines(shown$round, shown$each, lty = 1, lwd = 0.8, col = "#9A9A9A", xpd = FALSE)
  if (!is.null(shown$train)) graphics::lines(shown$round, shown$train, lwd = 2, col = col[2L], xpd = FALSE)
  if (sum(ok) == 1L) graphics::points(shown$round, shown$mean, pch = 19, col = col[1L], xpd = FALSE)
  graphics::lines(shown$round, shown$mean, lwd = 2.5, col = col[1L], xpd = FALSE)
  draw_cv_rounds(page, cv, x, y, box)
  top <- put_titles(page, outer[1L], title_top(page, box, head), outer[2L])
  put_key(page, key, outer[1L], top, outer[2L])
  restore_panel(page, box, x, y, NULL)
}

bounded <- function(v, y) if (y$log) pmax(v, y$lim[1L] / 10) else v

# Lines at the best round and at the one of the rule, each named in a row of its own.
draw_cv_rounds <- function(page, cv, x, y, box) {
  marks <- list(list(cv$best_round, "best", 2), list(cv$one_se_round, "one standard error", 3))
  marks <- Filter(function(m) !is.null(m[[1L]]) && m[[1L]] >= x$lim[1L] && m[[1L]] <= x$lim[2L], marks)
  if (length(marks) == 2L && marks[[1L]][[1L]] == marks[[2L]][[1L]]) {
    marks <- list(list(marks[[1L]][[1L]], "best, one standard error", 2))
  }
  step <- line_height(page, 0.75)
  for (i in seq_along(marks)) {
    m <- marks[[i]]
    graphics::segments(m[[1L]], y$lim[1L], m[[1L]], y$lim[2L], lty = m[[3L]], col = ink$soft, xpd = FALSE)
    lower <- box
    lower[4L] <- box[4L] - (i - 1) * step
    put_mark_label(page, sprintf("%s: round %s", m[[2L]], format(m[[1L]], big.mark = ",")), m[[1L]], x,
                   list(lim = shrunk(y, box, lower), log = y$log), lower)
  }
}

# Limits of the part of a panel below a lower upper edge.
shrunk <- function(y, box, lower) {
  c(y$lim[1L], beyond(y$lim, (lower[4L] - lower[3L]) / (box[4L] - box[3L]), y$log))
}
