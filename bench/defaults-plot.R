# The picture of bench/defaults-report.R: the gap of each engine to the best of the peers, set by set.

# Percentages close to 0 keep their distances, far ones are drawn together: 1 % and 100 % on one axis.
squeezed <- function(percent) asinh(percent / 1.5)

# gaps: shares, a row for each set, a column for each engine, gbt first; of a peer the gap to the best of the peers, so
# 0 where it is the best itself. Writes `path`.
plot_gaps <- function(gaps, path) {
  gaps <- 100 * gaps[order(gaps[, 1L]), , drop = FALSE]
  engines <- sub("/.*", "", colnames(gaps))
  n <- nrow(gaps)
  open_png(path, 15, 8.2)
  on.exit(grDevices::dev.off())
  graphics::par(mar = c(7.6, 4.6, 4.2, 0.8), las = 1, family = "sans", cex = 1)
  marks <- c(-50, -20, -10, -5, -2, -1, 0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
  range <- range(squeezed(gaps))
  marks <- marks[squeezed(marks) >= range[1L] - 0.3 & squeezed(marks) <= range[2L] + 0.3]
  graphics::plot.new()
  graphics::plot.window(c(0.4, n + 0.6), range(range, squeezed(marks)), xaxs = "i")
  graphics::abline(h = squeezed(marks), col = "#E2E2E2", lwd = 0.8)
  graphics::abline(v = seq(5.5, n, by = 5), col = "#F0F0F0", lwd = 0.8)
  graphics::abline(h = 0, col = "#777777", lwd = 1.6)
  shown <- ifelse(marks == 0, "0", sprintf("%+g %%", marks))
  graphics::axis(2, squeezed(marks), shown, tick = FALSE, line = -0.6, cex.axis = 1.1)
  graphics::axis(1, seq_len(n), rownames(gaps), tick = FALSE, line = -0.8, las = 2, cex.axis = 0.62)
  for (k in rev(seq_along(engines))) {
    colour <- engine_colour[[engines[k]]]
    if (k == 1L) graphics::lines(seq_len(n), squeezed(gaps[, k]), col = colour, lwd = 1.4)
    graphics::points(seq_len(n), squeezed(gaps[, k]), col = if (k == 1L) colour else paste0(colour, "C0"),
                     pch = engine_sign[[engines[k]]], cex = engine_size[[engines[k]]] * if (k == 1L) 1 else 0.8)
  }
  graphics::title(main = "Own defaults: test loss compared with the best of the three other packages", line = 2.4,
                  cex.main = 1.4, font.main = 2, adj = 0)
  graphics::mtext("Data sets are sorted by gbt's gap. Below 0: gbt is better than all three.",
                  line = 1.1, adj = 0, cex = 1.1)
  graphics::legend("topright", engine_label[engines], col = engine_colour[engines], pch = engine_sign[engines],
                   pt.cex = 1.5, cex = 1.2, bty = "n", horiz = TRUE, inset = c(0, -0.085), xpd = NA)
}
