# Rscript run.R CHILD.R FOLDER TRAININGS DATASETS: see ../kills.sh
suppressPackageStartupMessages(library(gbt))
args <- commandArgs(TRUE)
scripts <- dirname(args[1L])
folder <- normalizePath(args[2L])
source(file.path(scripts, "common.R"))
passed <- failed <- 0
check <- function(ok, ...) {
  if (isTRUE(ok)) passed <<- passed + 1 else failed <<- failed + 1
  if (!isTRUE(ok)) cat("FAILED:", ..., "\n")
}
bytes_of <- function(file) readBin(file, "raw", file.size(file))
codecs <- c("none", names(which(vapply(c("zstd", "lz4"), function(codec) {
  at <- tempfile()
  on.exit(unlink(at, recursive = TRUE))
  !inherits(tryCatch(gbt_data(data.frame(a = 1:9), 1:9, path = at, compress = codec), gbt_error = identity), "error")
}, NA))))

# Starts a child and kills it `after` seconds after its word "ready". TRUE when it was killed before it was done.
kill_child <- function(way, after) {
  way$said <- tempfile("said-", folder)
  dir.create(way$said)
  file <- file.path(way$said, "way.rds")
  saveRDS(way, file)
  log <- file.path(way$said, "log")
  pid <- as.integer(system(sprintf("exec 3>&1; Rscript --vanilla %s %s %s >%s 2>&1 3>&- & echo $!", shQuote(args[1L]),
                                   shQuote(scripts), shQuote(file), shQuote(log)), intern = TRUE))
  said <- function(what) file.exists(file.path(way$said, what))
  limit <- Sys.time() + 120
  while (!said("ready") && tools::pskill(pid, 0L) && Sys.time() < limit) Sys.sleep(0.002)
  if (!said("ready")) stop("a child did not begin: ", paste(readLines(log), collapse = "\n"))
  Sys.sleep(after)
  tools::pskill(pid, tools::SIGKILL)
  while (tools::pskill(pid, 0L)) Sys.sleep(0.002)
  killed <- !said("done")
  unlink(way$said, recursive = TRUE)
  killed
}

d <- made_rows()
whole <- trained(d$x, d$y, threads = 1)
begun <- proc.time()[[3L]]
kept <- file.path(folder, "checkpoint")
invisible(trained(d$x, d$y, checkpoint = kept, checkpoint_seconds = 0))
took <- proc.time()[[3L]] - begun

set.seed(as.integer(Sys.time()) %% 1e6L)
seed <- sample.int(1e6L, 1L)
if (nzchar(Sys.getenv("GBT_KILLS_SEED"))) seed <- as.integer(Sys.getenv("GBT_KILLS_SEED"))
set.seed(seed)
cat(sprintf("seed %d; a training takes %.2f s\n", seed, took))
a_way <- function(i) {
  list(what = "train", folders = sample(0:2, 1L, prob = c(1, 2, 2)),
       page_rows = sample(c(100L, 700L, 1024L, 10000L), 1L), compress = sample(codecs, 1L),
       memory = sample(c(1000, 2e4, 2^30), 1L), threads = sample(1:2, 1L),
       path = file.path(folder, sprintf("at-%d-%d", i, 1:2)))
}

# Trainings ----------------------------------------------------------------------------------------------------------

n_killed <- n_models <- 0
i <- 0
while (n_killed < as.integer(args[3L])) {
  unlink(kept, recursive = TRUE)
  for (k in seq_len(sample(5L, 1L))) { # so many kills of one training
    i <- i + 1
    way <- a_way(i)
    way$checkpoint <- kept
    n_killed <- n_killed + kill_child(way, runif(1L, 0, 1.5 * took))
    unlink(way$path, recursive = TRUE)
  }
  i <- i + 1
  way <- a_way(i)
  model <- trained(data_of(way), checkpoint = kept, checkpoint_seconds = 0, threads = way$threads)
  unlink(way$path, recursive = TRUE)
  n_models <- n_models + 1
  check(identical(model$state, whole$state), "seed", seed, "way", deparse(way))
}

# Data sets ----------------------------------------------------------------------------------------------------------

begun <- proc.time()[[3L]]
invisible(gbt_data(d$x, d$y, path = file.path(folder, "data-time"), page_rows = 100))
took <- proc.time()[[3L]] - begun
n_half <- n_full <- 0
for (i in seq_len(as.integer(args[4L]))) {
  way <- list(what = "data", path = file.path(folder, sprintf("data-%d-%d", i, seq_len(sample(2L, 1L)))),
              page_rows = sample(c(10L, 100L, 1000L), 1L), compress = sample(codecs, 1L))
  kill_child(way, runif(1L, 0, 1.5 * took))
  opened <- tryCatch(gbt_open(way$path), gbt_error = identity)
  if (inherits(opened, "gbt_data")) {
    n_full <- n_full + 1
  } else {
    n_half <- n_half + 1
    check(!inherits(opened, "gbt_error_internal"), "seed", seed, conditionMessage(opened))
    opened <- gbt_data(d$x, d$y, path = way$path, page_rows = 300L)
  }
  model <- trained(opened, threads = 2)
  check(identical(model$state, whole$state), "seed", seed, "data", i)
  check(!length(grep("tmp$", list.files(way$path, all.files = TRUE))), "left:", list.files(way$path, all.files = TRUE))
  rm(opened)
  unlink(way$path, recursive = TRUE)
}

cat(sprintf("%s\t%d\n", c("trainings killed", "of so many models", "data sets killed half written", "data sets whole"),
            c(n_killed, n_models, n_half, n_full)), sep = "", file = file.path(folder, "figures"))
cat(readLines(file.path(folder, "figures")), sep = "\n")
cat(sprintf("%d passed, %d failed\n", passed, failed))
quit(status = failed > 0)
