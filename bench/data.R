# The data of the benchmarks: real sets and one made set, each with a fixed split, written once in a form that R and
# Python both read quickly.
#
#   Rscript bench/data.R [set ...]        all sets without names; `made` is the 1,000,000 x 28 one
#
# Reads   $GBT_DATA          folder with the real data; default ../shared/data next to the repository
# Writes  $GBT_BENCH_CACHE   default ${TMPDIR:-/tmp}/gbt-bench/data; per set one folder with
#   desc.json    name, task, rows, columns (name, kind numeric | factor | ordered, levels), classes, offset
#   train.f64, test.f64      little-endian doubles, column after column: the features (factors as codes 1, 2, ...,
#                            missing as NaN), then the label (classes as 0, 1, ...), then the offset if there is one
#   set.rds      the same as R objects with their own types (not for `made`)
#
# The split: rows are numbered in the order of the source; row i is a test row when (40503 i) mod 65536 < 16384, which
# spreads one row in four evenly. Sets with an official split keep it.

data_folder <- function(root) Sys.getenv("GBT_DATA", file.path(root, "..", "shared", "data"))
cache_folder <- function() {
  Sys.getenv("GBT_BENCH_CACHE", file.path(Sys.getenv("TMPDIR", "/tmp"), "gbt-bench", "data"))
}
every_fourth <- function(n) (40503 * seq_len(n)) %% 65536 < 16384

read_table <- function(folder, file) {
  utils::read.csv(file.path(folder, file), na.strings = "", stringsAsFactors = TRUE, check.names = FALSE)
}

read_libsvm <- function(path, width) {
  fields <- strsplit(readLines(path), " ", fixed = TRUE)
  x <- matrix(0, length(fields), width)
  row <- rep(seq_along(fields), lengths(fields) - 1L)
  cell <- do.call(rbind, strsplit(unlist(lapply(fields, `[`, -1L)), ":", fixed = TRUE))
  x[cbind(row, as.integer(cell[, 1]))] <- as.numeric(cell[, 2])
  list(x = x, y = as.numeric(vapply(fields, `[`, "", 1L)))
}

# Each gives list(task, x, y, test, offset): x a data.frame or matrix, y numeric (or factor for classes).
sets <- list(
  adult = function(folder) {
    d <- read_table(folder, "adult.csv.gz")
    list(task = "binary", x = d[setdiff(names(d), c("income", "split"))], y = as.numeric(d$income == ">50K"),
         test = d$split == "test")
  },
  higgs_sample = function(folder) {
    d <- read_table(folder, "higgs_sample.csv.gz")
    x <- round(as.matrix(d[setdiff(names(d), c("label", "part"))]), 3) # one part of the source is rounded to 3 places
    keep <- !duplicated(x)
    list(task = "binary", x = as.data.frame(x[keep, ]), y = as.numeric(d$label[keep]), test = every_fourth(sum(keep)))
  },
  california_housing = function(folder) {
    d <- read_table(folder, "california_housing.csv.gz")
    list(task = "regression", x = d[setdiff(names(d), "medianHouseValue")], y = as.numeric(d$medianHouseValue),
         test = every_fourth(nrow(d)))
  },
  diamonds = function(folder) {
    d <- as.data.frame(readRDS(file.path(folder, "diamonds.rds")))
    list(task = "regression", x = d[setdiff(names(d), "price")], y = as.numeric(d$price), test = every_fourth(nrow(d)))
  },
  letter = function(folder) { # the usual split: the last 4,000 rows
    d <- read_table(folder, "letter.csv.gz")
    list(task = "multiclass", x = d[setdiff(names(d), "lettr")], y = factor(d$lettr), test = seq_len(nrow(d)) > 16000)
  },
  freMTPL2 = function(folder) { # the usual cleaning: claims capped at 4, exposure at 1
    d <- readRDS(file.path(folder, "freMTPL2.rds"))
    x <- d[c("Area", "VehPower", "VehAge", "DrivAge", "BonusMalus", "VehBrand", "VehGas", "Density", "Region")]
    list(task = "poisson", x = x, y = pmin(as.numeric(d$ClaimNb), 4), test = every_fourth(nrow(d)),
         offset = log(pmin(d$Exposure, 1)))
  },
  weatherAUS = function(folder) { # RISK_MM is the answer
    d <- as.data.frame(readRDS(file.path(folder, "weatherAUS.rds")))
    d <- d[!is.na(d$RainTomorrow), ]
    list(task = "binary", x = d[setdiff(names(d), c("RISK_MM", "RainTomorrow"))],
         y = as.numeric(d$RainTomorrow == "Yes"), test = every_fourth(nrow(d)))
  },
  agaricus = function(folder) {
    train <- read_libsvm(file.path(folder, "agaricus_train.libsvm.gz"), 126)
    test <- read_libsvm(file.path(folder, "agaricus_test.libsvm.gz"), 126)
    x <- rbind(train$x, test$x)
    colnames(x) <- paste0("f", seq_len(ncol(x)))
    list(task = "binary", x = x, y = c(train$y, test$y), test = seq_len(nrow(x)) > nrow(train$x))
  },
  nycflights13 = function(folder) { # what is known before departure
    d <- readRDS(file.path(folder, "nycflights13.rds"))
    d <- d[!is.na(d$arr_delay), ]
    x <- d[c("month", "day", "sched_dep_time", "carrier", "tailnum", "flight", "origin", "dest", "distance")]
    list(task = "binary", x = x, y = as.numeric(d$arr_delay > 15), test = every_fourth(nrow(d)))
  }
)

json_text <- function(x) {
  if (!length(x)) return(character())
  x <- gsub('(["\\\\])', "\\\\\\1", enc2utf8(as.character(x)))
  paste0("\"", gsub("[[:cntrl:]]", " ", x), "\"")
}
json_list <- function(x) paste0("[", paste(x, collapse = ", "), "]")

kind_of <- function(column) if (is.ordered(column)) "ordered" else if (is.factor(column)) "factor" else "numeric"

# rows: numbers of rows by the names of the files that hold them.
write_desc <- function(folder, name, task, columns, rows, classes, offset) {
  cols <- vapply(names(columns), function(n) {
    column <- columns[[n]]
    levels <- if (is.factor(column)) paste0(", \"levels\": ", json_list(json_text(levels(column)))) else ""
    paste0("  {\"name\": ", json_text(n), ", \"kind\": \"", kind_of(column), "\"", levels, "}")
  }, "")
  writeLines(c(
    "{", paste0("\"name\": \"", name, "\", \"task\": \"", task, "\","),
    paste0(sprintf("\"n_%s\": %.0f,", names(rows), rows), collapse = " "),
    paste0("\"offset\": ", if (offset) "true" else "false", ", \"classes\": ", json_list(json_text(classes)), ","),
    "\"columns\": [", paste(cols, collapse = ",\n"), "]}"
  ), file.path(folder, "desc.json"), useBytes = TRUE)
}

write_columns <- function(path, columns) {
  file <- file(path, "wb")
  on.exit(close(file))
  for (column in columns) {
    value <- as.numeric(column) # factors as codes, dates as days
    value[is.na(value)] <- NaN
    writeBin(value, file, size = 8, endian = "little")
  }
}

write_set <- function(name, set, folder) {
  columns <- as.list(as.data.frame(set$x))
  y <- if (is.factor(set$y)) as.integer(set$y) - 1 else set$y
  part <- function(rows) c(lapply(columns, `[`, rows), list(y[rows]), if (!is.null(set$offset)) list(set$offset[rows]))
  write_columns(file.path(folder, "train.f64"), part(!set$test))
  write_columns(file.path(folder, "test.f64"), part(set$test))
  saveRDS(set, file.path(folder, "set.rds"), compress = FALSE)
  write_desc(folder, name, set$task, columns, c(train = sum(!set$test), test = sum(set$test)),
             if (is.factor(set$y)) levels(set$y) else character(), !is.null(set$offset))
}

# 1,000,000 train and 200,000 test rows of 28 numbers: normal, uniform, lognormal, rounded, correlated ones; the label
# is a coin whose odds follow a few smooth, stepped and crossed effects. Values fit in 32-bit floats, so that libraries
# that convert to float see the same numbers.
made_block <- function(n, seed) {
  set.seed(seed, kind = "Mersenne-Twister", normal.kind = "Inversion", sample.kind = "Rejection")
  x <- matrix(stats::rnorm(n * 28), n, 28)
  x[, 9:14] <- stats::pnorm(x[, 9:14])
  x[, 15:18] <- exp(x[, 15:18])
  x[, 19:21] <- round(4 * x[, 19:21])
  x[, 22:24] <- (x[, 1:3] + x[, 22:24]) / 2
  x[] <- readBin(writeBin(as.vector(x), raw(), size = 4), "double", length(x), size = 4)
  f <- 0.8 * sin(2 * x[, 1]) + x[, 2] * x[, 3] * 0.7 + 0.6 * (x[, 9] > 0.3) * (x[, 10] < 0.6) + 0.3 * log(x[, 15]) -
    0.015 * x[, 19]^2 + 0.5 * (x[, 11] - 0.5) * x[, 4] + 0.4 * abs(x[, 5]) + 0.2 * x[, 22] - 0.45
  list(x = x, y = as.numeric(stats::runif(n) < 1 / (1 + exp(-1.5 * f))))
}

write_made <- function(folder, n_train = 1e6, n_test = 2e5) {
  for (part in c("train", "test")) {
    block <- made_block(if (part == "train") n_train else n_test, if (part == "train") 1 else 2)
    write_columns(file.path(folder, paste0(part, ".f64")), list(block$x, block$y))
  }
  columns <- stats::setNames(rep(list(0), 28), sprintf("x%02d", 1:28))
  write_desc(folder, "made", "binary", columns, c(train = n_train, test = n_test), character(), FALSE)
}

# Makes the set if it is not there. NULL, with a word, when the real data are not at hand.
ensure_set <- function(name, root) {
  folder <- file.path(cache_folder(), name)
  if (file.exists(file.path(folder, "done"))) return(folder)
  if (name != "made" && !dir.exists(data_folder(root))) {
    message(name, ": skipped, no real data in ", data_folder(root), " (set GBT_DATA)")
    return(NULL)
  }
  dir.create(folder, recursive = TRUE, showWarnings = FALSE)
  if (name == "made") write_made(folder) else write_set(name, sets[[name]](data_folder(root)), folder)
  file.create(file.path(folder, "done"))
  folder
}

# A part of a set as one matrix of doubles (codes for factors), with label and offset: what the peers get.
read_part <- function(folder, part, n, n_columns, offset = FALSE) {
  file <- file(file.path(folder, paste0(part, ".f64")), "rb")
  on.exit(close(file))
  x <- matrix(readBin(file, "double", n * n_columns, size = 8, endian = "little"), n, n_columns)
  y <- readBin(file, "double", n, size = 8, endian = "little")
  list(x = x, y = y, offset = if (offset) readBin(file, "double", n, size = 8, endian = "little"))
}

if (sys.nframe() == 0L) {
  args <- commandArgs(trailingOnly = TRUE)
  here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)[1]))
  for (name in if (length(args)) args else c(names(sets), "made")) {
    if (!name %in% c(names(sets), "made")) stop("no set is called `", name, "`; see the names in this file")
    folder <- ensure_set(name, dirname(normalizePath(here)))
    if (!is.null(folder)) cat(name, folder, "\n")
  }
}
