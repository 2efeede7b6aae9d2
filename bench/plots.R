# Pictures of bench/report.R and bench/scale.R: dots with ranges over jobs, one colour per engine, log axes.

engine_colour <- c(gbt = "#1A1A1A", xgboost = "#0072B2", lightgbm = "#009E73", catboost = "#D98200")
engine_label <- c(gbt = "gbt", xgboost = "XGBoost", lightgbm = "LightGBM", catboost = "CatBoost")
engine_sign <- c(gbt = 18, xgboost = 16, lightgbm = 15, catboost = 17)
engine_size <- c(gbt = 1.7, xgboost = 1.2, lightgbm = 1.1, catboost = 1.15)

open_png <- function(path, width, height) {
  grDevices::png(path, width = width, height = height, units = "in", res = 110, type = "cairo", bg = "white")
}

# Axis marks of a log axis that spans `range`: 1, 2, 5 times powers of ten, or powers alone when there are many.
log_marks <- function(range) {
  powers <- 10^seq(floor(log10(range[1])), ceiling(log10(range[2])))
  marks <- if (length(powers) > 5) powers else sort(c(outer(c(1, 2, 5), powers)))
  marks[marks >= range[1] & marks <= range[2]]
}
plain <- function(x) format(x, scientific = FALSE, trim = TRUE, drop0trailing = TRUE, big.mark = ",")

# The empty plot: one line per job from top to bottom, light stripes, a log axis. Gives the y of each job.
# shaded: a stretch of the axis with a tint.
job_frame <- function(jobs, range, title, axis_label, shaded = NULL, show = plain) {
  n <- length(jobs)
  graphics::par(mar = c(3.6, 9.5, 3.8, 1.2), mgp = c(2.2, 0.6, 0), las = 1, cex = 0.9, family = "sans")
  graphics::plot.new()
  graphics::plot.window(xlim = range, ylim = c(n + 0.5, 0.5), log = "x", xaxs = "i", yaxs = "i")
  stripes <- seq(1, n, by = 2)
  graphics::rect(range[1], stripes - 0.5, range[2], stripes + 0.5, col = "#F3F3F3", border = NA)
  if (!is.null(shaded)) graphics::rect(shaded[1], 0.5, shaded[2], n + 0.5, col = "#E5737322", border = NA)
  marks <- log_marks(range)
  graphics::abline(v = marks, col = "#DDDDDD", lwd = 0.8)
  graphics::axis(1, marks, vapply(marks, show, ""), tick = FALSE, line = -0.5, cex.axis = 0.9)
  graphics::axis(2, seq_len(n), jobs, tick = FALSE, line = -0.6, cex.axis = 0.95)
  graphics::title(main = title, line = 2.2, cex.main = 1.1, font.main = 2, adj = 0)
  graphics::title(xlab = axis_label, line = 1.8, cex.lab = 0.9)
  stats::setNames(seq_len(n), jobs)
}

engine_key <- function(engines) {
  usr <- graphics::par("usr")
  graphics::legend(10^usr[1], usr[4], engine_label[engines], col = engine_colour[engines], pch = engine_sign[engines],
                   horiz = TRUE, bty = "n", xpd = NA, yjust = 0.15, xjust = 0.03, pt.cex = engine_size[engines],
                   cex = 0.95, x.intersp = 0.7, text.width = graphics::strwidth("LightGBM  "))
}

# Places of several engines on one job's line, so that ranges do not lie on each other.
spread_of <- function(engine, engines) {
  n <- length(engines)
  if (n < 2) 0 else (match(engine, engines) - (n + 1) / 2) * 0.56 / n
}

dots <- function(frame, y, engines) {
  at <- y[frame$job] + spread_of(frame$engine, engines)
  if (!is.null(frame$low)) {
    graphics::segments(frame$low, at, frame$high, at, col = engine_colour[frame$engine], lwd = 2)
  }
  graphics::points(frame$middle, at, col = engine_colour[frame$engine], pch = engine_sign[frame$engine],
                   cex = engine_size[frame$engine])
  invisible(at)
}

padded <- function(x, least = NULL) {
  range <- range(c(x, least), finite = TRUE)
  range * c(1 / 1.15, 1.15)
}

plot_ratios <- function(path, frame, title) {
  if (is.null(frame)) return(invisible())
  jobs <- unique(frame$job)
  engines <- intersect(names(engine_colour), frame$engine)
  open_png(path, 8, 1.6 + 0.34 * length(jobs))
  on.exit(grDevices::dev.off())
  range <- padded(c(frame$low, frame$high), c(0.8, 5))
  y <- job_frame(jobs, range, title, "right of the line gbt is faster; median of ratios run by run, lowest to highest",
                 shaded = c(range[1], 1))
  graphics::abline(v = 1, col = engine_colour[["gbt"]], lwd = 1.6)
  dots(frame, y, engines)
  engine_key(engines)
}

plot_memory <- function(path, screened) {
  screened <- screened[!is.na(screened$peak_mb) & screened$peak_mb > 0, ]
  if (!nrow(screened)) return(invisible())
  jobs <- unique(screened$job)
  engines <- intersect(names(engine_colour), screened$engine)
  least <- stats::aggregate(peak_mb ~ job + engine, screened, min)
  names(least)[3] <- "middle"
  open_png(path, 8, 1.6 + 0.34 * length(jobs))
  on.exit(grDevices::dev.off())
  y <- job_frame(jobs, padded(least$middle), "Peak memory above the input, conversion and training",
                 "MB, the leanest variant of each engine (log axis)")
  dots(least, y, engines)
  engine_key(engines)
}

plot_busy <- function(path, frame) {
  jobs <- unique(frame$job)
  engines <- intersect(names(engine_colour), frame$engine)
  open_png(path, 8, 1.7 + 0.5 * length(jobs))
  on.exit(grDevices::dev.off())
  range <- padded(c(frame$low, frame$high), c(0.9, 20))
  y <- job_frame(jobs, range, "Beside another training run on the same two cores",
                 "time beside it / time alone (log axis); arrow: ended there, at the limit; 2 is a fair share")
  graphics::abline(v = 2, col = "#888888", lty = 2)
  at <- dots(frame, y, engines)
  far <- which(frame$over > 0)
  if (length(far)) {
    graphics::arrows(frame$high[far], at[far], frame$high[far] * 1.13, at[far], length = 0.06, lwd = 2, xpd = NA,
                     col = engine_colour[frame$engine[far]])
  }
  engine_key(engines)
}
