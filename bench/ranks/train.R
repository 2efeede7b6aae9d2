# One training by ranks, for run.sh: mpirun -n N Rscript train.R ROWS COLUMNS ROUNDS. Rank 0 prints a line: ranks, rows,
# seconds of binning, seconds a tree, seconds of the processor of all ranks, md5 of the model.
suppressMessages(library(gbt))
args <- as.integer(commandArgs(TRUE))
n <- args[1L]
p <- args[2L]
rounds <- args[3L]
ranks <- if (nzchar(Sys.getenv("GBT_BENCH_ALONE"))) NULL else gbt_ranks()
rank <- if (is.null(ranks)) 0L else ranks$rank
size <- if (is.null(ranks)) 1L else ranks$size

# Every rank makes its own rows: blocks of 1,000, each from a seed of its own, so any number of ranks has the same rows.
block <- function(b) {
  set.seed(b)
  x <- matrix(rnorm(1000 * p), 1000, dimnames = list(NULL, paste0("x", seq_len(p))))
  cbind(x, y = x[, 1] * x[, 2] + sin(2 * x[, 3]) + rnorm(1000))
}
blocks <- seq_len(n / 1000)
mine <- blocks[((blocks - 1L) * size) %/% length(blocks) == rank]
share <- as.data.frame(do.call(rbind, lapply(mine, block)))

train <- function(nrounds) {
  gbt_train(y ~ ., share, nrounds = nrounds, eta = 0.1, max_depth = 8, grow_policy = "depthwise", seed = 1, threads = 1,
            ranks = ranks)
}
seconds <- function(code) system.time(code)[["elapsed"]]
invisible(train(1)) # everything is loaded
one <- stats::median(replicate(3, seconds(train(1))))
used <- sum(proc.time()[1:2])
all <- seconds(model <- train(1 + rounds))
used <- sum(proc.time()[1:2]) - used
file <- tempfile()
writeBin(as.raw(model$state), file)
if (rank == 0L) {
  cat(sprintf("%d\t%d\t%.3f\t%.4f\t%.2f\t%s\n", size, n, one, (all - one) / rounds, used, unname(tools::md5sum(file))))
}
