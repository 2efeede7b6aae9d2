# The sets of the benchmark of categorical columns and their splits, written once in a form that R and Python both read.
#
# Writes $GBT_BENCH_CACHE/categorical/SET (see data.R for the cache)
#   desc.json            as of data.R; factors are all unordered, rows are counted as n_all
#   all.f64              all rows: features (factors as codes 1, 2, ..., missing as NaN), label, offset if there is one
#   set.rds              the same as R objects
#   split1.part ...      one byte a row: 0 training, 1 validation, 2 test, 3 not used in this split
#
# A fifth of the rows is the test part, a fifth of the others the validation part, both drawn by the number of the
# split. A set with an official test part keeps it, and splits differ in their validation parts.

n_splits <- 5L
most_train_rows <- 100000 # of a set that is listed here; with all rows CatBoost takes three minutes a run
limited_sets <- "freMTPL2"

categorical_folder <- function(name) file.path(cache_folder(), "categorical", name)
unordered <- function(x) {
  is_ordered <- vapply(x, is.ordered, NA)
  x[is_ordered] <- lapply(x[is_ordered], function(column) factor(as.character(column)))
  x
}

# The 126 columns of zeros and ones back to the 22 attributes that they were made of.
read_agaricus <- function(folder) {
  map <- utils::read.delim(gzfile(file.path(folder, "agaricus_featmap.tsv.gz")), header = FALSE, quote = "")[[2]]
  attribute <- sub("=.*", "", map)
  parts <- lapply(c("train", "test"), function(part) {
    read_libsvm(file.path(folder, paste0("agaricus_", part, ".libsvm.gz")), length(map))
  })
  ones <- rbind(parts[[1]]$x, parts[[2]]$x)
  x <- lapply(split(seq_along(map), factor(attribute, unique(attribute))), function(at) {
    stopifnot(all(rowSums(ones[, at, drop = FALSE]) == 1))
    factor(sub(".*=", "", map[at])[max.col(ones[, at, drop = FALSE], "first")])
  })
  list(task = "binary", x = data.frame(x, check.names = FALSE), y = c(parts[[1]]$y, parts[[2]]$y))
}

made_rows <- 50000 # 40,000 of them for training and validation
made_levels <- 2000

draw_levels <- function(n) sample.int(made_levels, n, TRUE, 1 / seq_len(made_levels))
as_level <- function(k) factor(sprintf("v%04d", k), sprintf("v%04d", seq_len(made_levels)))

# Eight groups of levels with nearly the same number of rows: each level, from the most frequent one on, goes to the
# group that is the smallest so far.
even_groups <- function(n_groups = 8L) {
  size <- numeric(n_groups)
  group <- integer(made_levels)
  for (k in seq_len(made_levels)) {
    group[k] <- which.min(size)
    size[group[k]] <- size[group[k]] + 1 / k
  }
  group
}

# The k-th most frequent level has 1/k of the rows of the most frequent one, so that frequent pairs repeat. The label
# follows the pair of the groups: a group of one column meets four groups of the other where the label is 1 in 90 % of
# the rows and four where it is in 10 %, so that the mean of the label is 1/2 at every level of either column.
made_pair <- function() {
  set.seed(20261123, kind = "Mersenne-Twister", normal.kind = "Inversion", sample.kind = "Rejection")
  a <- draw_levels(made_rows)
  b <- draw_levels(made_rows)
  pattern <- c(TRUE, TRUE, FALSE, TRUE, FALSE, FALSE, FALSE, TRUE)
  group <- even_groups()
  high <- pattern[(group[a] + group[b]) %% 8L + 1L]
  noise <- matrix(stats::rnorm(3 * made_rows), made_rows)
  shuffled <- sample.int(made_levels) # names do not tell which levels are frequent
  list(task = "binary", y = as.numeric(stats::runif(made_rows) < ifelse(high, 0.9, 0.1)),
       x = data.frame(a = as_level(shuffled[a]), b = as_level(rev(shuffled)[b]), u1 = noise[, 1], u2 = noise[, 2],
                      u3 = noise[, 3]))
}

made_noise <- function() {
  set.seed(20261124, kind = "Mersenne-Twister", normal.kind = "Inversion", sample.kind = "Rejection")
  x <- data.frame(a = as_level(draw_levels(made_rows)), b = as_level(draw_levels(made_rows)),
                  weak = stats::rnorm(made_rows))
  list(task = "binary", x = x, y = as.numeric(stats::runif(made_rows) < stats::plogis(0.3 * x$weak)))
}

with_factor <- function(set, columns) {
  set$x[columns] <- lapply(set$x[columns], factor)
  set
}
random_test <- function(set) {
  set$test <- NULL
  set
}

# Each gives list(task, x, y, offset, test): test only where it is official.
categorical_sets <- list(
  adult = function(folder) sets$adult(folder),
  weatherAUS = function(folder) random_test(sets$weatherAUS(folder)),
  nycflights13 = function(folder) random_test(with_factor(sets$nycflights13(folder), "flight")),
  made_pair = function(folder) made_pair(),
  agaricus = function(folder) read_agaricus(folder),
  freMTPL2 = function(folder) random_test(sets$freMTPL2(folder)),
  flights = function(folder) {
    d <- gbt::flights
    with_factor(list(task = "binary", x = d[setdiff(names(d), "late")], y = as.numeric(d$late == "yes")), "flight")
  },
  made_noise = function(folder) made_noise()
)

# 0 training, 1 validation, 2 test, 3 unused, by row.
draw_split <- function(n, test, split, limit) {
  set.seed(split, kind = "Mersenne-Twister", normal.kind = "Inversion", sample.kind = "Rejection")
  part <- integer(n)
  part[if (is.null(test)) sample.int(n, round(n / 5)) else which(test)] <- 2L
  rest <- sample(which(part != 2L))
  if (length(rest) > limit) {
    part[rest[-seq_len(limit)]] <- 3L
    rest <- rest[seq_len(limit)]
  }
  part[rest[seq_len(round(length(rest) / 5))]] <- 1L
  part
}

split_file <- function(folder, split) file.path(folder, sprintf("split%d.part", split))
read_split <- function(folder, split) {
  as.integer(readBin(split_file(folder, split), "raw", file.size(split_file(folder, split))))
}

write_categorical <- function(name, set, folder) {
  n <- length(set$y)
  set$x <- unordered(as.data.frame(set$x, check.names = FALSE))
  offset <- if (!is.null(set$offset)) list(set$offset)
  write_columns(file.path(folder, "all.f64"), c(as.list(set$x), list(set$y), offset))
  for (split in seq_len(n_splits)) {
    part <- draw_split(n, set$test, split, if (name %in% limited_sets) most_train_rows else Inf)
    writeBin(as.raw(part), split_file(folder, split))
  }
  saveRDS(set, file.path(folder, "set.rds"), compress = FALSE)
  write_desc(folder, name, set$task, as.list(set$x), c(all = n), character(), length(offset) > 0L)
}

# Makes the set if it is not there. NULL, with a word, when the real data are not at hand.
ensure_categorical <- function(name, root) {
  folder <- categorical_folder(name)
  if (file.exists(file.path(folder, "done"))) return(folder)
  if (!startsWith(name, "made_") && name != "flights" && !dir.exists(data_folder(root))) {
    message(name, ": skipped, no real data in ", data_folder(root), " (set GBT_DATA)")
    return(NULL)
  }
  dir.create(folder, recursive = TRUE, showWarnings = FALSE)
  write_categorical(name, categorical_sets[[name]](data_folder(root)), folder)
  file.create(file.path(folder, "done"))
  folder
}
