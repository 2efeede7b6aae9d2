# Presets and ensembles of gbt side by side on sets of defaults-table.R: training and validation part are one,
# no rounds are given, the test part judges. Writes bench/results/presets.csv, from which it prints a table.
#
#   Rscript bench/presets.R [--sets pima,ames] [--half choosing] [--sizes small,middle] [--splits 2] [--threads 2]
#       [--out FOLDER]
#
# The loss is the change of the test loss against the first configuration, in percent: mean and median over sets; cpu is
# processor time, of all runs together, in multiples of it.
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)[1]))
Sys.setenv(TZ = "UTC")
for (file in c("common", "data", "categorical-sets", "defaults-table", "defaults-made", "defaults-sets")) {
  source(file.path(here, paste0(file, ".R")))
}
library(gbt)
root <- bench_root()
csv <- file.path(arg_of("out", file.path(root, "bench", "results")), "presets.csv")
threads <- as.integer(arg_of("threads", "2"))
objectives <- c(regression = "squared_error", poisson = "poisson", binary = "logistic", multiclass = "softmax",
                quantile = "quantile")
shape <- list(grow_policy = "symmetric", max_depth = 6, lambda = 3, colsample_bytree = 0.8, eta = 0.05)
with <- function(...) utils::modifyList(shape, list(...))
configs <- list(
  symmetric = shape, ensemble_5 = with(ensemble = 5), rows_0.8 = with(subsample = 0.8),
  ensemble_5_rows_0.8 = with(ensemble = 5, subsample = 0.8),
  ensemble_5_bayesian = with(ensemble = 5, sampling_method = "bayesian"),
  ensemble_5_rows_0.8_eta_0.03 = with(ensemble = 5, subsample = 0.8, eta = 0.03),
  ensemble_10_rows_0.8 = with(ensemble = 10, subsample = 0.8),
  ensemble_5_rows_0.8_depthwise = with(ensemble = 5, subsample = 0.8, grow_policy = "depthwise"),
  eta_0.2_all_columns = with(eta = 0.2, colsample_bytree = 1),
  eta_0.15_bins_63 = with(eta = 0.15, max_bin = 63),
  like_lightgbm = list(eta = 0.1, grow_policy = "lossguide", max_leaves = 31, max_depth = 0, lambda = 0,
                       colsample_bytree = 1, min_data_in_leaf = 20, min_child_weight = 0.001)
)

rows_of <- function(set, rows) list(x = set$x[rows, , drop = FALSE], y = set$y[rows], offset = set$offset[rows])

try_one <- function(set, all, test, split, config) {
  call <- c(all, config, list(objective = objectives[[set$task]], threads = threads, seed = split, verbose = 0))
  if (set$task == "quantile") call$quantile_alpha <- set$alpha
  begin <- proc.time()
  model <- do.call(gbt_train, call)
  cpu <- sum((proc.time() - begin)[c("user.self", "sys.self")])
  rated <- as.data.frame(gbt_evaluate(model, test$x, test$y, offset = test$offset, threads = threads))
  data.frame(rounds = model$nrounds, loss = rated$estimate[1], cpu = cpu)
}

for_wanted_splits(root, "2", function(name, set, folder, split) {
  part <- read_split(folder, split)
  for (config in names(configs)) {
    before <- if (file.exists(csv)) utils::read.csv(csv)
    if (any(before$set == name & before$split == split & before$config == config)) next
    one <- try_one(set, rows_of(set, part < 2L), rows_of(set, part == 2L), split, configs[[config]])
    row <- data.frame(set = name, split = split, rows = sum(part < 2L), config = config, one)
    utils::write.table(row, csv, append = !is.null(before), sep = ",", row.names = FALSE, col.names = is.null(before))
  }
  message(name, " ", split)
})

runs <- utils::read.csv(csv)
runs <- runs[runs$set %in% sets_wanted(), ]
base <- runs[runs$config == names(configs)[1], ]
at <- match(paste(runs$set, runs$split), paste(base$set, base$split))
runs$change <- 100 * (runs$loss / base$loss[at] - 1)
runs$base_cpu <- base$cpu[at]
for (config in names(configs)) {
  own <- runs[runs$config == config, ]
  by_set <- tapply(own$change, own$set, mean)
  cat(sprintf("| %s | %.2f | %.2f | %d of %d | %.2f |\n", config, mean(by_set), stats::median(by_set), sum(by_set < 0),
              length(by_set), sum(own$cpu) / sum(own$base_cpu)))
}
