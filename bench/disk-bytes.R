# What bins take on the disk, and what packing them costs: bench/results/disk-bytes.md. DATA-FOLDER has the real sets
# of data.R.
#
#   Rscript bench/disk-bytes.R DATA-FOLDER [OUT.md [PYTHON]]
#
# PYTHON, one that has xgboost (bench/setup.sh), adds what XGBoost takes (disk-bytes.py).
library(gbt)
args <- commandArgs(TRUE)
from <- args[1L]
out <- if (length(args) > 1L) args[2L] else "bench/results/disk-bytes.md"
python <- if (length(args) > 2L) args[3L]
threads <- 2L

# Bytes a row of XGBoost's cache of external memory and of ELLPACK, as text.
peer <- function(x) {
  if (is.null(python)) return(c("", "", ""))
  file <- tempfile()
  on.exit(unlink(file))
  con <- file(file, "wb")
  for (column in x) writeBin(as.double(if (is.character(column)) factor(column) else column), con)
  close(con)
  here <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE))
  script <- file.path(dirname(here), "disk-bytes.py")
  strsplit(system2(python, c(script, nrow(x), ncol(x), file), stdout = TRUE), ",", fixed = TRUE)[[1L]]
}

sets <- list(
  higgs_sample = function() {
    d <- utils::read.csv(file.path(from, "higgs_sample.csv.gz"))
    d <- d[rep(seq_len(nrow(d)), 30L), ]
    set.seed(1)
    noise <- function(x) if (length(unique(x)) > 50L) x + stats::rnorm(length(x), 0, 0.05 * stats::sd(x)) else x
    list(x = as.data.frame(lapply(d[setdiff(names(d), c("label", "part"))], noise)), y = d$label == 1)
  },
  freMTPL2 = function() {
    d <- readRDS(file.path(from, "freMTPL2.rds"))
    list(x = d[setdiff(names(d), c("IDpol", "ClaimNb", "ClaimNbCorrected", "ClaimAmount"))], y = d$ClaimNb > 0)
  },
  nycflights13 = function() {
    d <- readRDS(file.path(from, "nycflights13.rds"))
    d <- d[!is.na(d$arr_delay), ]
    list(x = d[c("month", "day", "sched_dep_time", "carrier", "tailnum", "flight", "origin", "dest", "distance")],
         y = d$arr_delay > 15)
  },
  weatherAUS = function() {
    d <- readRDS(file.path(from, "weatherAUS.rds"))
    d <- d[!is.na(d$RainTomorrow), ]
    list(x = d[setdiff(names(d), c("RISK_MM", "RainTomorrow"))], y = d$RainTomorrow)
  },
  adult = function() {
    d <- utils::read.csv(file.path(from, "adult.csv.gz"), stringsAsFactors = TRUE)
    list(x = d[setdiff(names(d), c("income", "split"))], y = d$income)
  }
)

seconds <- function(code) system.time(code)[["elapsed"]]
least <- function(code, n = 3L) {
  code <- substitute(code)
  at <- parent.frame()
  min(vapply(seq_len(n), function(i) seconds(eval(code, at)), 0))
}
told <- function(command, args) {
  tryCatch(system2(command, args, stdout = TRUE, stderr = FALSE)[1L], error = function(e) NA)
}
lines <- c("# Bins on the disk", "",
           sprintf("%s, %s, gbt %s at %s, %s; lz4 %s, zstd %s.", Sys.Date(), sub(".*: *", "", grep("^model name",
                   readLines("/proc/cpuinfo"), value = TRUE)[1L]), gbt_info()$version,
                   told("git", c("rev-parse", "--short", "HEAD")), gbt_info()$compiler,
                   told("pkg-config", c("--modversion", "liblz4")),
                   told("pkg-config", c("--modversion", "libzstd"))), "",
           "`Rscript bench/disk-bytes.R DATA`. Bytes a row of all page files; seconds to bin and write; seconds of 30",
           "rounds (depth 6) with every page read in every pass (`memory = 0`) and with all pages kept. 2 threads, the",
           "files in the system's cache: `none` has no disk to wait for, and what codecs take longer is unpacking.",
           "A page is unpacked by one thread: data of less than two pages of 131,072 rows have one at work.",
           "higgs_sample is 30 copies of its rows, each with some noise of its own.", "",
           "XGBoost's columns: bytes a row of its cache of external memory on the CPU, and of ELLPACK, its form of",
           "bins on a GPU, where a value has as many bits as tell all bins of all columns apart.", "",
           paste("| data | rows x columns | codec | bytes a row | of raw | write s | train s, no page kept |",
                 "train s, all kept | XGBoost cache | ELLPACK |"),
           "|---|---|---|---|---|---|---|---|---|---|")
for (name in names(sets)) {
  d <- sets[[name]]()
  raw <- NULL
  xgboost <- peer(d$x)
  for (codec in names(which(gbt_info()$codecs))) {
    path <- tempfile("bins")
    wrote <- least({
      unlink(path, recursive = TRUE)
      gbt_data(d$x, d$y, path = path, compress = codec, threads = threads)
    })
    size <- sum(file.size(list.files(path, "^pages", full.names = TRUE))) / nrow(d$x)
    if (is.null(raw)) raw <- size
    train <- function(memory) {
      o <- gbt_open(path, memory = memory, threads = threads)
      least(gbt_train(o, nrounds = 30, grow_policy = "depthwise", max_depth = 6, threads = threads, verbose = FALSE),
            2L)
    }
    none <- train(0)
    all <- train("4 GB")
    lines <- c(lines, sprintf("| %s | %d x %d | %s | %.1f | %.0f %% | %.2f | %.2f | %.2f | %s | %s |", name, nrow(d$x),
                              ncol(d$x), codec, size, 100 * size / raw, wrote, none, all, xgboost[2L], xgboost[3L]))
    cat(lines[length(lines)], "\n")
    unlink(path, recursive = TRUE)
  }
}
if (!is.null(python)) lines <- c(lines, "", sprintf("XGBoost %s.", xgboost[1L]))
writeLines(lines, out)
