# Peak memory of training on a 1,000,000 x 28 matrix of doubles, on top of the data as R holds them (224 MB): the peak
# of the resident set since just before the call less the resident set then (VmHWM after writing 5 to clear_refs, so
# Linux only).
#
#   Rscript bench/memory.R [--rounds 100]
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)[1]))
source(file.path(here, "common.R"))
source(file.path(here, "data.R"))
root <- bench_root()
folder <- ensure_set("made", root)
common <- c("--depth", "8", "--rounds", arg_of("rounds", "100"), "--threads", "2", "--no-test")
rows <- 1e6
cells <- 28e6
bound <- 1.3 * cells + 40 * rows

runs <- list(
  gbt = function() run_gbt(root, folder, "--types", "codes", common),
  "gbt, response a factor" = function() run_gbt(root, folder, "--types", "codes", "--factor", common)
)
if (have_peers()) {
  runs[["xgboost DMatrix"]] <- function() run_peer(root, folder, "--engine", "xgboost", common)
  runs[["xgboost QuantileDMatrix"]] <- function() {
    run_peer(root, folder, "--engine", "xgboost", "--data", "quantile", common)
  }
  runs[["lightgbm"]] <- function() run_peer(root, folder, "--engine", "lightgbm", common)
}
table <- do.call(rbind, lapply(names(runs), function(name) {
  bytes <- 1024 * runs[[name]]()$peak_kb
  data.frame(engine = name, `peak MB above the data` = fixed(bytes / 1e6, 1),
             `bytes per cell` = fixed(bytes / cells, 2), `share of the bound` = fixed(bytes / bound, 2),
             check.names = FALSE)
}))
write_results(root, "memory", "Peak memory while training", c(
  sprintf("1,000,000 x 28 doubles, depth 8, 2 threads. Bound: 1.3 bytes a cell and 40 bytes a row, %.1f MB.",
          bound / 1e6),
  "", md_table(table)
))
