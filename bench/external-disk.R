# R's part of external-disk.sh: FOLDER ROWS COLUMNS ROUNDS REPEATS. Makes the data set where FOLDER/bins is not there.
suppressMessages(library(gbt))
args <- commandArgs(TRUE)
folder <- args[1L]
rows <- as.integer(args[2L])
columns <- as.integer(args[3L])
rounds <- as.integer(args[4L])
repeats <- as.integer(args[5L])
bins <- file.path(folder, "bins")
if (!dir.exists(bins)) {
  size <- 200000L
  source <- new.env()
  source$at <- 0L
  source$read_next_batch <- function() {
    n <- min(size, rows - source$at)
    if (n == 0L) return(NULL)
    set.seed(source$at + 1L)
    source$at <- source$at + n
    x <- as.data.frame(matrix(stats::rnorm(n * columns), n))
    x$y <- as.numeric(x$V1 * x$V2 + sin(3 * x$V3) + x$V4 + stats::rnorm(n) > 0)
    x
  }
  gbt_data(gbt_batches(source, label = "y"), path = bins, memory = "128 MB", threads = 2)
  quit("no")
}
read_bytes <- function() {
  as.numeric(sub("^read_bytes: *", "", grep("^read_bytes:", readLines("/proc/self/io"), value = TRUE)))
}
# Seconds of the disk for so many bytes of the pages, past the system's cache.
disk_seconds <- function(bytes) {
  pages <- list.files(bins, full.names = TRUE)
  pages <- pages[which.max(file.size(pages))]
  block <- 8 * 2^20
  blocks <- floor(file.size(pages) / block)
  wanted <- ceiling(bytes / block)
  begin <- proc.time()[["elapsed"]]
  while (wanted > 0) {
    n <- min(wanted, blocks)
    status <- system2("dd", c(paste0("if=", pages), "of=/dev/null", "iflag=direct", "bs=8M", paste0("count=", n)),
                      stderr = FALSE)
    if (status != 0) stop("dd failed: is there O_DIRECT?")
    wanted <- wanted - n
  }
  proc.time()[["elapsed"]] - begin
}
d <- gbt_open(bins, memory = "128 MB")
for (k in seq_len(repeats)) {
  before <- read_bytes()
  time <- system.time(gbt_train(d, nrounds = rounds, objective = "logistic", max_depth = 6, grow_policy = "depthwise",
                                eta = 0.3, threads = 2, verbose = FALSE))
  bytes <- read_bytes() - before
  disk <- disk_seconds(bytes)
  cat(sprintf("%d,%g,%g,%g,%g\n", k, time[["elapsed"]], sum(time[1:2]), bytes / 2^20, disk))
}
