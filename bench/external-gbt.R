# gbt's part of external.sh: FOLDER CHUNKS COLUMNS.
suppressMessages(library(gbt))
args <- commandArgs(TRUE)
folder <- args[1L]
chunks <- as.integer(args[2L])
columns <- as.integer(args[3L])
n <- 200000L
read_chunk <- function(i) {
  con <- file(file.path(folder, sprintf("x-%d-%03d.bin", columns, i)), "rb")
  on.exit(close(con))
  x <- lapply(seq_len(columns + 1L), function(j) readBin(con, "double", n))
  structure(stats::setNames(x, c(sprintf("v%d", seq_len(columns)), "y")), class = "data.frame",
            row.names = .set_row_names(n))
}
reader <- new.env()
reader$at <- 0L
reader$read_next_batch <- function() {
  if (reader$at == chunks - 1L) return(NULL)
  reader$at <- reader$at + 1L
  read_chunk(reader$at - 1L)
}
bins <- file.path(folder, "bins")
made <- system.time(d <- gbt_data(gbt_batches(reader, label = "y"), path = bins, memory = "256 MB", threads = 2))
used <- system.time(m <- gbt_train(d, nrounds = 10, objective = "logistic", grow_policy = "depthwise", max_depth = 6,
                                   eta = 0.3, threads = 2, verbose = FALSE))
test <- read_chunk(chunks - 1L)
p <- pmin(pmax(predict(m, test, threads = 2), 1e-15), 1 - 1e-15)
loss <- -mean(test$y * log(p) + (1 - test$y) * log(1 - p))
status <- readLines("/proc/self/status")
peak <- as.numeric(gsub("[^0-9]", "", grep("^VmHWM", status, value = TRUE))) / 1024
disk <- sum(file.size(list.files(bins, full.names = TRUE))) / 2^20
cat(sprintf("gbt %s,%g,%g,%g,%g,%g,%g\n", gbt_info()$version, made[["elapsed"]], used[["elapsed"]],
            sum(used[1:2]), peak, disk, loss))
