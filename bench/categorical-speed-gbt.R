# One run of gbt on the files of categorical-speed.R; prints what it took, one `key value` per line.
#
#   Rscript bench/categorical-speed-gbt.R FOLDER ROWS --engine gbt-both [--rounds 100] [--threads 2]
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)[1]))
source(file.path(here, "common.R"))
library(gbt)
folder <- commandArgs(trailingOnly = TRUE)[1]
n <- as.numeric(commandArgs(trailingOnly = TRUE)[2])
threads <- as.integer(arg_of("threads", "2"))
methods <- list("gbt-auto" = list(), "gbt-sets" = list(cat_method = "sets"),
                "gbt-target" = list(cat_method = "target"),
                "gbt-both" = list(cat_method = c("sets", "target")),
                "gbt-pairs" = list(cat_method = c("sets", "target"), max_cat_combine = 2))

# Levels that training has, and one that it has not.
read_rows <- function(part, rows) {
  file <- function(name) file.path(folder, part, name)
  x <- list()
  for (j in 1:3) {
    n_levels <- c(50, 4000, 300000)[j]
    code <- readBin(file(sprintf("c%d.i32", j)), "integer", rows)
    x[[paste0("c", j)]] <- structure(code, levels = sprintf("v%d", seq_len(n_levels + 1)), class = "factor")
  }
  for (j in 1:7) x[[paste0("x", j)]] <- readBin(file(sprintf("x%d.f32", j)), "numeric", rows, size = 4)
  list(x = structure(x, row.names = c(NA, -as.integer(rows)), class = "data.frame"),
       y = readBin(file("y.f32"), "numeric", rows, size = 4))
}
train <- read_rows("train", n)
before <- proc.time()
m <- do.call(gbt_train, c(list(train$x, train$y, objective = "logistic", nrounds = as.integer(arg_of("rounds", "100")),
                               eta = 0.1, grow_policy = "depthwise", max_depth = 6, lambda = 1, max_bin = 255,
                               threads = threads, seed = 1, device = "cpu"), methods[[arg_of("engine", "gbt-both")]]))
after <- proc.time() - before
rm(train)
test <- read_rows("test", n / 10)
invisible(predict(m, test$x[1:1000, ], threads = threads))
begin <- proc.time()[["elapsed"]]
p <- predict(m, test$x, threads = threads)
predict_s <- proc.time()[["elapsed"]] - begin
file <- tempfile()
gbt_save(m, file)
peak <- as.numeric(gsub("[^0-9]", "", grep("VmHWM", readLines("/proc/self/status"), value = TRUE))) / 1024
out <- list(version = as.character(packageVersion("gbt")), convert_s = 0, train_s = after[["elapsed"]],
            cpu_s = after[["user.self"]] + after[["sys.self"]], predict_rows_s = length(p) / predict_s, peak_mb = peak,
            model_bytes = file.size(file), loss = -mean(log(ifelse(test$y == 1, p, 1 - p))))
for (key in names(out)) cat(key, " ", format(out[[key]], digits = 10, scientific = FALSE), "\n", sep = "")
