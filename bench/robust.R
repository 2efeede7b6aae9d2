# Damaged model files: 2,000 files, each cut short somewhere or with one to eight bytes changed. Every one must give an
# error of class gbt_error_format (or gbt_error), or the very predictions of the undamaged model. Anything else - other
# predictions, an error of another class, a crash, a hang - is counted and named.
#
#   Rscript bench/robust.R [--files 2000] [--seed 1]
#
# Files are read in child processes of 100 files each, so that a crash is seen and the rest goes on.
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)[1]))
source(file.path(here, "common.R"))

# Damages bytes by recipe i of a seed; the same recipe gives the same damage.
damage <- function(bytes, i, seed) {
  set.seed(1e6 * seed + i)
  n <- length(bytes)
  if (i %% 4 == 0) return(list(bytes = bytes[seq_len(sample.int(n, 1L) - 1L)], what = "cut"))
  many <- if (i %% 4 == 1) 1L else sample.int(8L, 1L)
  at <- if (i %% 4 == 2) sample.int(min(n, 512L), many) else sample.int(n, many) # one in four in the head of the file
  bytes[at] <- xor(bytes[at], as.raw(sample.int(255L, many, replace = TRUE)))
  list(bytes = bytes, what = "flip")
}

# In the child: one line per file to `report`, flushed, so that the parent knows which one killed it.
child <- function(model_file, data_file, report, from, to, seed) {
  library(gbt)
  good <- readRDS(data_file)
  bytes <- readBin(model_file, "raw", file.size(model_file))
  file <- tempfile(fileext = ".gbt")
  out <- file(report, "at")
  for (i in from:to) {
    cat(i, "", file = out)
    flush(out)
    damaged <- damage(bytes, i, seed)
    writeBin(damaged$bytes, file)
    verdict <- tryCatch({
      p <- predict(gbt_load(file), good$x, threads = 1)
      if (identical(p, good$p)) "same" else "OTHER_PREDICTIONS"
    }, gbt_error = function(e) class(e)[1], error = function(e) {
      paste0("PLAIN_ERROR:", gsub("[^A-Za-z0-9]+", "_", conditionMessage(e)))
    })
    cat(damaged$what, verdict, "\n", file = out)
    flush(out)
  }
  close(out)
}

args <- commandArgs(trailingOnly = TRUE)
if (length(args) && args[1] == "--child") {
  child(args[2], args[3], args[4], as.integer(args[5]), as.integer(args[6]), as.integer(args[7]))
  quit(status = 0)
}

library(gbt)
root <- bench_root()
n_files <- as.integer(arg_of("files", "2000"))
seed <- as.integer(arg_of("seed", "1"))
folder <- tempfile("robust")
dir.create(folder)
files <- file.path(folder, c("model.gbt", "data.rds", "report.txt"))

x <- flights[seq(1, nrow(flights), by = 30), setdiff(names(flights), "late")]
model <- gbt_train(late ~ ., data = flights, nrounds = 30, max_depth = 5, threads = 2, seed = 1)
gbt_save(model, files[1])
saveRDS(list(x = x, p = predict(model, x, threads = 1)), files[2])

next_file <- 1L
while (next_file <= n_files) {
  to <- min(next_file + 99L, n_files)
  status <- system2(file.path(R.home("bin"), "Rscript"),
                    shQuote(c(file.path(root, "bench", "robust.R"), "--child", files, next_file, to, seed)),
                    stdout = FALSE, stderr = FALSE, timeout = 300)
  lines <- if (file.exists(files[3])) readLines(files[3], warn = FALSE)
  if (!length(lines)) stop("the child process does not start", call. = FALSE)
  last <- as.integer(sub(" .*$", "", lines[length(lines)]))
  if (status == 0) {
    next_file <- to + 1L
  } else { # the child died at the file whose line has no verdict
    cat("killed", if (status == 124) "HANG" else paste0("CRASH:", status), "\n", file = files[3], append = TRUE)
    next_file <- last + 1L
  }
}

report <- utils::read.table(files[3], col.names = c("file", "what", "verdict"),
                            colClasses = c("integer", "character", "character"))
stopifnot(identical(report$file, seq_len(n_files)))
good <- report$verdict == "same" | startsWith(report$verdict, "gbt_error")
counts <- as.data.frame(table(damage = report$what, outcome = report$verdict), stringsAsFactors = FALSE)
counts <- counts[counts$Freq > 0, ]
names(counts)[3] <- "files"
lines <- c(sprintf("%d damaged files of a model of %.0f bytes (seed %d): %d in order, %d not.", n_files,
                   file.size(files[1]), seed, sum(good), sum(!good)), "", md_table(counts))
if (any(!good)) lines <- c(lines, "", "Not in order:", "", paste("- file", report$file[!good], report$verdict[!good]))
write_results(root, "robust", "Damaged model files", lines)
quit(status = if (all(good)) 0L else 1L)
