# Data and splits of the benchmark of defaults: reads what a row of defaults-table.R names and writes it once, in a form
# that R and Python both read without loss.
#
# Writes $GBT_BENCH_CACHE/defaults/SET (see data.R for the cache)
#   desc.json            as of data.R, rows counted as n_all; unordered factors are categories
#   all.f64              all rows: features (factors as codes 1, 2, ..., missing as NaN), label, offset if there is one
#   set.rds              the same as R objects: task, alpha, x, y, offset, n_splits
#   split1.part ...      one byte a row: 0 training, 1 validation, 2 test, 3 not used in this split
#
# A fifth of the rows is the test part, a fifth of the others the validation part. Needs common.R and data.R.

least_rows <- 500L # smaller sets are left out by defaults.R: a test part of less than 100 rows says little
least_class <- 10L # rows; rarer classes are left out, so that each part of a random split has each class

defaults_folder <- function(name) file.path(cache_folder(), "defaults", name)

# ---- reading ----

# Sparse text with a query number as the second field; cells that are not there are 0.
read_ranked <- function(path, width) {
  fields <- strsplit(readLines(path), " ", fixed = TRUE)
  x <- matrix(0, length(fields), width, dimnames = list(NULL, paste0("f", seq_len(width))))
  cells <- lapply(fields, `[`, -(1:2))
  cell <- do.call(rbind, strsplit(unlist(cells), ":", fixed = TRUE))
  x[cbind(rep(seq_along(cells), lengths(cells)), as.integer(cell[, 1]))] <- as.numeric(cell[, 2])
  data.frame(x, label = as.numeric(vapply(fields, `[`, "", 1L)), qid = vapply(fields, `[`, "", 2L))
}

shared_readers <- list(
  agaricus = function(folder) {
    set <- read_agaricus(folder)
    data.frame(set$x, label = set$y)
  },
  golub = function(folder) {
    set <- readRDS(file.path(folder, "golub.rds"))
    data.frame(set$x, label = set$y)
  },
  lambdarank = function(folder) {
    parts <- file.path(folder, paste0("lambdarank_", c("train", "test"), ".libsvm.gz"))
    do.call(rbind, lapply(parts, read_ranked, 300L))
  }
)

read_shared <- function(what, root) {
  folder <- data_folder(root)
  if (what %in% names(shared_readers)) {
    if (!dir.exists(folder)) return(NULL)
    return(shared_readers[[what]](folder))
  }
  if (!file.exists(file.path(folder, what))) return(NULL)
  if (endsWith(what, ".rds")) readRDS(file.path(folder, what)) else read_table(folder, what)
}

read_package <- function(what) {
  part <- strsplit(what, "::", fixed = TRUE)[[1]]
  if (!requireNamespace(part[1], quietly = TRUE)) return(NULL)
  exported <- tryCatch(getExportedValue(part[1], part[2]), error = function(e) NULL)
  if (!is.null(exported)) return(exported)
  place <- new.env()
  suppressWarnings(utils::data(list = part[2], package = part[1], envir = place))
  if (exists(part[2], place, inherits = FALSE)) get(part[2], place)
}

# scikit-learn's sets come as CSV, written once by defaults-sklearn.py.
read_sklearn <- function(what, root) {
  path <- file.path(defaults_folder("sklearn"), paste0(what, ".csv"))
  if (!file.exists(path)) {
    if (!have_peers()) return(NULL)
    dir.create(dirname(path), recursive = TRUE, showWarnings = FALSE)
    script <- file.path(root, "bench", "defaults-sklearn.py")
    status <- system2(file.path(venv_folder(), "bin", "python"), shQuote(c(script, dirname(path))))
    if (status != 0) stop("defaults-sklearn.py ended with ", status)
  }
  utils::read.csv(path)
}

# NULL where the data are not at hand.
read_source <- function(from, root) {
  where <- sub(":.*", "", from)
  what <- sub("^[^:]*:", "", from)
  data <- switch(where, shared = read_shared(what, root), R = read_package(what), sklearn = read_sklearn(what, root),
                 made = make_set(what), stop("no data are known as ", from))
  if (is.null(data)) NULL else as.data.frame(data)
}

# ---- from a table to a set ----

words <- function(text) strsplit(trimws(text), " +")[[1]]

# Columns as all engines can take them: texts are factors, logical values and dates are numbers.
plain_column <- function(column) {
  if (is.factor(column)) return(droplevels(column))
  if (is.character(column)) factor(column) else as.numeric(column)
}

response_of <- function(task, y) {
  switch(task, multiclass = factor(as.character(y), unique(as.character(sort(y)))), as.numeric(y))
}

sampled <- function(n, cap) {
  set.seed(1, kind = "Mersenne-Twister", normal.kind = "Inversion", sample.kind = "Rejection")
  if (n > cap) sort(sample.int(n, cap)) else seq_len(n)
}

rows_to_keep <- function(row, y, by) {
  keep <- !is.na(y)
  if (length(by)) keep <- keep & !is.na(by)
  frequent <- function(rows) {
    if (row$task != "multiclass") return(rows)
    size <- table(y[rows])
    rows[y[rows] %in% names(size)[size >= least_class]]
  }
  keep <- frequent(which(keep))
  frequent(keep[sampled(length(keep), row$cap)]) # again: the sample may have made a class rare
}

# list(task, alpha, x, y, offset, rule, by): `by` are times or groups of the split.
as_set <- function(row, data) {
  formula_of <- function(text) if (nzchar(text)) str2lang(text)
  y <- response_of(row$task, eval(formula_of(row$y), data))
  rule <- sub(":.*", "", row$split)
  by_name <- if (rule != "random") sub("^[^:]*:", "", row$split)
  by <- if (length(by_name)) data[[by_name]]
  if (length(by_name) && is.null(by)) stop(row$name, ": no column ", by_name)
  offset <- eval(formula_of(row$offset), data)
  drop <- c(if (nzchar(row$drop)) words(row$drop), all.vars(formula_of(row$y)), all.vars(formula_of(row$offset)),
            if (rule == "group") by_name)
  unknown <- setdiff(drop, names(data))
  if (length(unknown)) stop(row$name, ": no column ", unknown[1])
  keep <- rows_to_keep(row, y, by)
  y <- y[keep]
  x <- data[keep, setdiff(names(data), drop), drop = FALSE]
  x[] <- lapply(x, plain_column)
  list(task = row$task, alpha = row$alpha, x = x, y = if (is.factor(y)) droplevels(y) else y, offset = offset[keep],
       rule = rule, by = if (is.factor(by)) as.character(by)[keep] else by[keep])
}

size_of <- function(n) if (n < 2000) "small" else if (n <= 20000) "middle" else "large"

# ---- splits ----

n_splits_of <- function(n, rule) {
  most <- if (n < 1000) 10L else if (n < 10000) 5L else 3L
  if (rule == "time") min(most, 5L) else most
}

# 2 for the first fifth, 1 for a fifth of what is left, 0 for the others.
parts_in_order <- function(n) {
  n_test <- round(n / 5)
  n_valid <- round((n - n_test) / 5)
  rep(c(2L, 1L, 0L), c(n_test, n_valid, n - n_test - n_valid))
}

random_parts <- function(strata) {
  part <- integer(length(strata))
  for (rows in split(seq_along(strata), strata)) part[rows[sample.int(length(rows))]] <- parts_in_order(length(rows))
  part
}

group_parts <- function(group) {
  groups <- sample(unique(group))
  parts_in_order(length(groups))[match(group, groups)]
}

# Training comes before validation, validation before the test part; rows of one time stay together. Each further split
# leaves out the last 8 % of the rows that the one before had.
time_parts <- function(time, split) {
  time <- as.numeric(time)
  at <- function(rows, share) stats::quantile(rows, share, type = 1, names = FALSE)
  end <- at(time, 0.92^(split - 1L))
  used <- time[time <= end]
  part <- ifelse(time > end, 3L, ifelse(time > at(used, 0.8), 2L, ifelse(time > at(used, 0.64), 1L, 0L)))
  if (!all(0:2 %in% part)) stop("too few distinct times")
  part
}

draw_parts <- function(set, split) {
  set.seed(split, kind = "Mersenne-Twister", normal.kind = "Inversion", sample.kind = "Rejection")
  switch(set$rule, time = time_parts(set$by, split), group = group_parts(set$by),
         random_parts(if (set$task %in% c("binary", "multiclass")) set$y else rep(1L, length(set$y))))
}

split_file <- function(folder, split) file.path(folder, sprintf("split%d.part", split))
read_split <- function(folder, split) {
  as.integer(readBin(split_file(folder, split), "raw", file.size(split_file(folder, split))))
}

# ---- writing ----

write_defaults <- function(name, set, folder) {
  label <- if (is.factor(set$y)) as.integer(set$y) - 1 else set$y
  offset <- if (!is.null(set$offset)) list(set$offset)
  write_columns(file.path(folder, "all.f64"), c(as.list(set$x), list(label), offset))
  set$n_splits <- n_splits_of(length(label), set$rule)
  for (split in seq_len(set$n_splits)) writeBin(as.raw(draw_parts(set, split)), split_file(folder, split))
  write_desc(folder, name, set$task, as.list(set$x), c(all = length(label)),
             if (is.factor(set$y)) levels(set$y) else character(), length(offset) > 0L)
  saveRDS(set[setdiff(names(set), c("rule", "by"))], file.path(folder, "set.rds"), compress = FALSE)
}

# Makes the set if it is not there; done.txt has its row of the table, so that a changed row makes it anew. NULL, with a
# word, when the data are not at hand.
ensure_defaults <- function(name, root) {
  row <- registry[name, ]
  folder <- defaults_folder(name)
  text <- paste(vapply(row, as.character, ""), collapse = " | ")
  done <- file.path(folder, "done.txt")
  if (file.exists(done) && identical(readLines(done), text)) return(folder)
  data <- read_source(row$from, root)
  if (is.null(data)) {
    message(name, ": skipped, no ", row$from)
    return(NULL)
  }
  unlink(folder, recursive = TRUE)
  dir.create(folder, recursive = TRUE, showWarnings = FALSE)
  write_defaults(name, as_set(row, data), folder)
  writeLines(text, done)
  folder
}

# What the runs of a set were made of: another package's version, another row of the table give another text.
data_hash <- function(folder) {
  files <- sort(list.files(folder, "[.](f64|part)$", full.names = TRUE))
  sprintf("%08x", as.integer(text_hash(paste(tools::md5sum(files), collapse = " "))))
}

# ---- halves ----

# A hash of a text, below 2^31 and the same everywhere.
text_hash <- function(text) Reduce(function(h, code) (h * 31 + code) %% 2147483647, utf8ToInt(text), 7)

# "choosing" or "confirming" by name of the set. Data stay in one half with all their tasks. Of each pair of neighbours
# of one kind (task of the first row; made or not) one goes to either half, and the hash of the first says which.
halves_of <- function(table) {
  first <- table[!duplicated(table$from), ]
  task <- ifelse(first$task == "quantile", "regression", first$task)
  kind <- ifelse(startsWith(first$from, "made:"), "made", task)
  half <- stats::setNames(character(nrow(first)), first$from)
  for (rows in split(seq_len(nrow(first)), kind)) {
    place <- seq_along(rows) - 1L
    leader <- first$from[rows[place - place %% 2L + 1L]]
    bit <- floor(vapply(leader, text_hash, 0) / 64) %% 2
    half[rows] <- ifelse((bit + place) %% 2 == 0, "choosing", "confirming")
  }
  stats::setNames(half[table$from], table$name)
}

# ---- the sets and splits that a script's options ask for: --sets, --half, --sizes, --splits ----

sets_wanted <- function() {
  among <- function(name, all) strsplit(arg_of(name, paste(all, collapse = ",")), ",")[[1]]
  half <- halves_of(registry)
  registry$name[registry$name %in% among("sets", registry$name) & half %in% among("half", c("choosing", "confirming"))]
}

# fn(name, set, folder, split) for each of them that is at hand. splits: at most, where the user does not say.
for_wanted_splits <- function(root, splits, fn) {
  sizes <- strsplit(arg_of("sizes", "small,middle,large"), ",")[[1]]
  for (name in sets_wanted()) {
    folder <- ensure_defaults(name, root)
    if (is.null(folder)) next
    set <- readRDS(file.path(folder, "set.rds"))
    if (!size_of(length(set$y)) %in% sizes) next
    for (split in seq_len(min(set$n_splits, as.integer(arg_of("splits", splits))))) fn(name, set, folder, split)
  }
}
