# Does the cost grow linearly? The engine alone (bench/engine, no R) on made data: 1, 2, 4, 8 million rows x 28, and 10
# to 1,000 columns x 100,000 rows; seconds per value, which a straight line keeps level.
#
#   Rscript bench/scale.R [--repeats 3] [--rounds 10] [--threads 2] [--engine PROGRAM] [--out FOLDER] [--quick]
#
# Writes bench/results/scale.md and scale.png. Needs make and a C compiler, or a built PROGRAM. --quick: a tenth of it.
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)[1]))
source(file.path(here, "common.R"))
source(file.path(here, "plots.R"))
root <- bench_root()
quick <- flag_of("quick")
repeats <- arg_of("repeats", if (quick) "1" else "3")
rounds <- arg_of("rounds", if (quick) "2" else "10")
threads <- arg_of("threads", "2")
folder <- arg_of("out", file.path(root, "bench", "results"))

engine_path <- function() {
  given <- arg_of("engine", "")
  if (nzchar(given)) return(given)
  if (system2("make", c("-s", "-C", shQuote(file.path(here, "engine")))) != 0) stop("the engine cannot be built")
  file.path(here, "engine", "build", "engine")
}

# The first number after a word in a line such as `dataset 0.170  train 0.912 (gradient ...)  predict 0.045 ...`.
number_after <- function(lines, word) {
  as.numeric(sub(paste0("^.*\\b", word, " +([0-9.]+).*$"), "\\1", lines))
}

measure <- function(engine, rows, columns, depth) {
  args <- c(format(rows, scientific = FALSE), columns, depth, rounds, threads, repeats)
  out <- system2(engine, args, stdout = TRUE)
  lines <- grep("dataset +[0-9.]+ .*train +[0-9.]+ .*predict +[0-9.]+", out, value = TRUE)
  if (!length(lines)) stop("the engine said nothing that is known: ", paste(out, collapse = " "), call. = FALSE)
  peaks <- strsplit(sub("^.*peak MB +", "", lines[1]), " +")[[1]]
  row <- data.frame(rows = rows, columns = columns, depth = depth,
                    dataset = stats::median(number_after(lines, "dataset")),
                    train = stats::median(number_after(lines, "train")),
                    predict = stats::median(number_after(lines, "predict")),
                    peak_mb = max(as.numeric(peaks[1:2])))
  message(sprintf("%.0f x %.0f: data set %.3f, training %.3f, prediction %.3f s", rows, columns, row$dataset,
                  row$train, row$predict))
  row
}

per_value <- function(frame) {
  values <- frame$rows * frame$columns
  frame$dataset_ns <- 1e9 * frame$dataset / values
  frame$train_ns <- 1e9 * frame$train / values / as.numeric(rounds)
  frame$predict_ns <- 1e9 * frame$predict / frame$rows / as.numeric(rounds)
  frame$bytes <- 1e6 * frame$peak_mb / values
  frame
}

# Exponent of size in time = c size^k: the slope of a line through the logarithms.
exponent <- function(size, time) {
  seen <- time > 0
  if (sum(seen) > 1) stats::coef(stats::lm(log(time[seen]) ~ log(size[seen])))[[2]] else NA
}

table_of <- function(frame) {
  whole <- function(x) format(x, big.mark = ",", scientific = FALSE, trim = TRUE)
  data.frame(rows = whole(frame$rows), columns = whole(frame$columns), `data set s` = fixed(frame$dataset, 3),
             `training s` = fixed(frame$train, 3), `prediction s` = fixed(frame$predict, 3),
             `data set, ns per value` = fixed(frame$dataset_ns, 2),
             `training, ns per value and round` = fixed(frame$train_ns, 3),
             `prediction, ns per row and tree` = fixed(frame$predict_ns, 1),
             `peak bytes per value` = fixed(frame$bytes, 2), check.names = FALSE)
}

panel <- function(size, frame, title, label) {
  top <- 1.4 * max(frame$dataset_ns, frame$train_ns)
  graphics::plot.new()
  graphics::plot.window(range(size) * c(0.85, 1.18), c(0, top), log = "x", yaxs = "i")
  marks <- pretty(c(0, top))
  graphics::abline(h = marks, col = "#DDDDDD", lwd = 0.8)
  graphics::axis(1, size, plain_size(size), tick = FALSE, line = -0.5)
  graphics::axis(2, marks, tick = FALSE, line = -0.6)
  graphics::title(main = title, adj = 0, cex.main = 1.05)
  graphics::title(xlab = label, line = 1.8)
  graphics::title(ylab = "ns", line = 2)
  colours <- c("#0072B2", "#1A1A1A")
  graphics::lines(size, frame$dataset_ns, type = "b", pch = 16, lwd = 2, col = colours[1])
  graphics::lines(size, frame$train_ns, type = "b", pch = 18, cex = 1.3, lwd = 2, col = colours[2])
  graphics::legend("topleft", c("data set: per value", "training: per value and round"), col = colours, lwd = 2,
                   pch = c(16, 18), bty = "n", cex = 0.9)
}
plain_size <- function(x) {
  ifelse(x >= 1e6, paste0(x / 1e6, " M"), format(x, big.mark = ",", trim = TRUE, scientific = FALSE))
}

draw <- function(path, by_rows, by_columns) {
  open_png(path, 8.5, 3.6)
  on.exit(grDevices::dev.off())
  graphics::par(mfrow = c(1, 2), mar = c(3.2, 3.4, 2.4, 0.8), mgp = c(2.2, 0.6, 0), las = 1, cex = 0.85)
  panel(by_rows$rows, by_rows, "More rows: x 28 columns, depth 8", "rows")
  panel(by_columns$columns, by_columns, "More columns: x 100,000 rows, depth 6", "columns")
}

engine <- engine_path()
shrink <- if (quick) 10 else 1
by_rows <- per_value(do.call(rbind, lapply(c(1, 2, 4, 8) * 1e6 / shrink, function(n) measure(engine, n, 28, 8))))
by_columns <- per_value(do.call(rbind, lapply(c(10, 30, 100, 300, 1000), function(m) {
  measure(engine, 1e5 / shrink, m, 6)
})))
draw(file.path(folder, "scale.png"), by_rows, by_columns)
slope <- function(frame, size) {
  sprintf("time grows with size to the power of %s (data set) and %s (training)",
          fixed(exponent(frame[[size]], frame$dataset), 2), fixed(exponent(frame[[size]], frame$train), 2))
}
write_results(root, "scale", "Cost against size", c(
  paste0("The engine alone, ", threads, " threads, ", rounds, " rounds, median of ", repeats, "."), "",
  "![Cost against size](scale.png)", "",
  "## Rows", "", paste0("Depth 8: ", slope(by_rows, "rows"), "; prediction: ",
                        fixed(exponent(by_rows$rows, by_rows$predict), 2), "."), "", md_table(table_of(by_rows)), "",
  "## Columns", "", paste0("Depth 6: ", slope(by_columns, "columns"), "."), "", md_table(table_of(by_columns))
), folder)
