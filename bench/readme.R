# The table and the plot of speed in README.md, from the runs of bench/results/compare.csv (bench/compare.sh).
#
#   Rscript bench/readme.R     prints the table, writes man/figures/speed.png
#
# Seconds are medians of the repeated runs of one session on one machine; of each peer the fastest variant was repeated.
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)[1]))
source(file.path(here, "plots.R"))

jobs <- c(
  made_d8 = "1,000,000 x 28, depth 8, 50 rounds",
  made_leaves255 = "the same, 255 leaves best first, 30 rounds",
  regression = "200,000 x 100, regression, 50 rounds",
  sparse_ones = "300,000 x 5,000, one-hot, 50 rounds",
  sparse_values = "the same, 1 % amounts, 30 rounds",
  freMTPL2 = "freMTPL2, 508,508 x 9, counts, 100 rounds",
  adult = "adult, 32,561 x 14, 100 rounds"
)
drawn <- c("1,000,000 x 28\ndepth 8", "1,000,000 x 28\n255 leaves", "200,000 x 100\nregression",
           "300,000 x 5,000\none-hot", "300,000 x 5,000\namounts", "508,508 x 9\ncounts", "32,561 x 14\nadult")

runs <- utils::read.csv(file.path(here, "results", "compare.csv"), comment.char = "#")
runs <- runs[runs$phase == "repeat" & runs$status == "ok", ]
seconds <- sapply(names(engine_label), function(engine) {
  vapply(names(jobs), function(job) {
    its <- runs[runs$job == job & runs$engine == engine, ]
    if (nrow(its)) stats::median(its$convert_s + its$train_s) else NA_real_
  }, 0)
})
text_of <- function(x) {
  if (is.na(x)) "not run" else paste(formatC(x, digits = if (x < 0.995) 2 else 1, format = "f"), "s")
}
shown <- matrix(vapply(seconds, text_of, ""), nrow(seconds))

writeLines(c(paste("| conversion and training |", paste(engine_label, collapse = " | "), "|"),
             paste0("|", strrep(" --- |", 1 + length(engine_label))),
             sprintf("| %s | %s |", jobs, apply(shown, 1, paste, collapse = " | "))))

# A bar for each package: its time as a multiple of gbt's. The bar of gbt is 1 long everywhere.
plot_bars <- function(path, seconds, labels, shown) {
  n <- nrow(seconds)
  k <- ncol(seconds)
  open_png(path, 8, 5.6)
  on.exit(grDevices::dev.off())
  graphics::par(mar = c(3.2, 8.2, 2.6, 1), las = 1, cex = 0.9, family = "sans")
  times <- seconds / seconds[, "gbt"]
  graphics::plot.new()
  graphics::plot.window(xlim = c(0, 1.06 * max(times, na.rm = TRUE)), ylim = c(n + 0.5, 0.5), xaxs = "i", yaxs = "i")
  marks <- seq(0, floor(max(times, na.rm = TRUE)))
  graphics::abline(v = marks, col = "#E6E6E6", lwd = 0.8)
  graphics::axis(1, marks, tick = FALSE, line = -0.7)
  graphics::axis(2, seq_len(n), labels, tick = FALSE, line = -0.6)
  at <- outer(seq_len(n), (seq_len(k) - (k + 1) / 2) * 0.2, `+`)
  colour <- rep(engine_colour[colnames(seconds)], each = n)
  there <- !is.na(times)
  graphics::rect(0, (at - 0.085)[there], times[there], (at + 0.085)[there], col = colour[there], border = NA)
  graphics::text(ifelse(there, times, 0), at, shown, pos = 4, offset = 0.25, cex = 0.72, xpd = NA)
  graphics::title(xlab = "time / time of gbt", line = 1.6)
  graphics::legend(0, 0.42, engine_label[colnames(seconds)], fill = engine_colour[colnames(seconds)], border = NA,
                   horiz = TRUE, bty = "n", xpd = NA, yjust = 0, xjust = 0,
                   text.width = graphics::strwidth("LightGBM "))
}

figures <- file.path(dirname(normalizePath(here)), "man", "figures")
dir.create(figures, showWarnings = FALSE, recursive = TRUE)
plot_bars(file.path(figures, "speed.png"), seconds, drawn, shown)
