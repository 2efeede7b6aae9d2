# The cases of run.R: list(fn = function(n) ..., short = c(low, high, dense), long =, cuda =) by name. fn stops when
# something does not hold; a classed condition of gbt is an answer. Data are the first rows of what is made here once.
most_rows <- if (long) 1048580 else 70010
i <- as.double(seq_len(most_rows))
base <- list(
  a = (i * 7919) %% 1009, s = ((i * 31) %% 17 == 0) * ((i * 13) %% 7), k = as.integer((i * 104729) %% 11),
  f = factor(c("u", "v", NA, "w", "x")[(i * 15485863) %% 5 + 1]),
  t = c("red", "green", NA, "blue")[(i * 32452843) %% 4 + 1]
)
response <- base$a / 100 + base$k + ((i * 49979687) %% 23) / 10
matrix_base <- cbind(a = base$a, s = base$s, k = base$k)
sparse_base <- methods::as(matrix_base, "CsparseMatrix")
rm(i)

head_frame <- function(n) list2DF(lapply(base, function(v) v[seq_len(n)]), n)
head_matrix <- function(n) matrix_base[seq_len(n), , drop = FALSE]
head_sparse <- function(n) sparse_base[seq_len(n), , drop = FALSE]
head_y <- function(n) response[seq_len(n)]

hold <- function(ok, what) if (!isTRUE(ok)) stop(what, call. = FALSE)
same <- function(a, b, what) hold(identical(a, b), what)
fit <- function(x, y, nrounds = 1, max_depth = 1, ..., threads = 1) {
  gbt_train(x, y, nrounds = nrounds, grow_policy = "depthwise", max_depth = max_depth, ..., threads = threads)
}
cpu <- function(code) {
  old <- options(gbt.device = "cpu")
  on.exit(options(old))
  code
}

# A model of the data in two ways, its predictions, and the way through gbt_data().
check_data <- function(x, y, ...) {
  n <- length(y)
  m <- fit(x, y, ...)
  same(fit(x, y, ..., threads = 2)$state, m$state, "one thread and two give other models")
  if (device != "cpu") cpu(same(fit(x, y, ...)$state, m$state, "the device gives another model"))
  p <- predict(m, x, unseen = "error", threads = 1)
  hold(NROW(p) == n && !anyNA(p), "predictions are not as many as rows")
  same(predict(m, x, threads = 2), p, "one thread and two predict other numbers")
  if (n <= 2000 || n %% 7 == 0) {
    data <- gbt_data(x, label = y, threads = 2)
    same(fit(data, NULL, ...)$state, m$state, "gbt_data() gives another model")
  }
  invisible(m)
}
check_file <- function(m) {
  path <- tempfile(fileext = ".gbt")
  on.exit(unlink(path))
  gbt_save(m, path)
  same(gbt_load(path)$state, m$state, "gbt_save() and gbt_load() give another model")
}

rows_of <- function(head) {
  function(n) {
    if (long && n > 1100 && n %% 10 != 3) { # every number of rows: the least that looks at all of them
      m <- fit(head(n), head_y(n))
      hold(length(predict(m, head(n), threads = 1)) == n, "predictions are not as many as rows")
    } else {
      check_data(head(n), head_y(n))
    }
  }
}

share_of <- function(n) {
  for (share in c(0.3, 0.001)) {
    m <- fit(head_frame(n), head_y(n), valid = share)
    hold(nrow(m$evaluation_log) == 1L, "no round is logged")
  }
}

valid_rows <- function(n) {
  for (head in list(head_frame, head_sparse)) {
    m <- fit(head(60), head_y(60), valid = list(x = head(n), y = head_y(n)))
    hold(nrow(m$evaluation_log) == 1L, "no round is logged")
  }
}

kept <- new.env()
predicted_rows <- function(n) {
  if (is.null(kept$model)) {
    kept$model <- fit(head_frame(5000), head_y(5000), nrounds = 30, max_depth = 5)
    kept$scores <- predict(kept$model, head_frame(most_rows), threads = 1)
    kept$leaves <- predict(kept$model, head_frame(5000), type = "leaf", threads = 1)
  }
  same(predict(kept$model, head_frame(n), threads = 2), kept$scores[seq_len(n)], "rows are predicted in another way")
  if (n <= 5000) {
    same(predict(kept$model, head_frame(n), type = "leaf", threads = 1), kept$leaves[seq_len(n), , drop = FALSE],
         "rows reach other leaves")
  }
}

wide <- function(n, rows = 12) {
  matrix((seq_len(rows * n) * 7919) %% 10007 * ((seq_len(rows * n) * 31) %% 5 == 0), rows)
}
columns_of <- function(as) {
  function(n) {
    x <- as(wide(n))
    m <- check_data(x, head_y(12))
    hold(nrow(gbt_importance(m)) == n, "columns are missing from the importance")
    if (n %% 5 == 0) check_file(m)
  }
}
as_frame <- function(x) {
  list2DF(stats::setNames(lapply(seq_len(ncol(x)), function(j) x[, j]), paste0("x", seq_len(ncol(x)))))
}

levels_of <- function(n) {
  code <- c(seq_len(n), seq_len(min(n, 20)))
  y <- head_y(length(code))
  text <- sprintf("level %d", code)
  f <- factor(text, unique(text))
  m <- check_data(list2DF(list(f = f)), y, min_data_per_group = 1, cat_smooth = 0, max_cat_threshold = 65535)
  same(predict(fit(list2DF(list(f = text)), y, min_data_per_group = 1, cat_smooth = 0, max_cat_threshold = 65535),
               list2DF(list(f = text)), threads = 1),
       predict(m, list2DF(list(f = f)), threads = 1), "texts give another model than a factor")
  check_data(list2DF(list(f = as.ordered(f))), y)
}

classes_of <- function(n) {
  y <- factor(c(seq_len(n), seq_len(20) %% n + 1))
  x <- list2DF(list(a = head_y(length(y)), b = base$a[seq_along(y)]))
  m <- check_data(x, y)
  hold(n == 2 || ncol(predict(m, x, threads = 1)) == n, "there is no column for every class")
  same(levels(predict(m, x, type = "class", threads = 1)), levels(y), "other classes are predicted")
}

entries_of <- function(n) {
  rows <- 70000
  x <- Matrix::sparseMatrix(i = c(seq_len(n), rows), j = c(rep(1L, n), 2L), x = c(seq_len(n) %% 9 + 1, 1),
                            dims = c(rows, 2L))
  colnames(x) <- c("a", "b")
  m <- fit(x, head_y(rows))
  same(predict(m, x, threads = 1)[c(1, rows)], predict(m, x[c(1, rows), ], threads = 1), "rows are predicted otherwise")
}

texts_of <- function(n) {
  long_text <- strrep("x", n)
  x <- list2DF(stats::setNames(list(factor(paste0(long_text, c("a", "b", "c"))[1:3][(1:40) %% 3 + 1]), head_y(40)),
                               c(paste0("f", long_text), "b")))
  m <- check_data(x, head_y(40), min_data_per_group = 1)
  check_file(m)
  y <- factor(paste0(long_text, c("no", "yes"))[(1:40) %% 2 + 1])
  check_file(fit(x, y))
}

rounds_of <- function(n) {
  m <- fit(head_frame(30), head_y(30), nrounds = n)
  same(fit(head_frame(30), head_y(30), nrounds = n, threads = 2)$state, m$state, "one thread and two give other models")
  hold(m$nrounds == n, "there are not as many rounds")
  half <- m[seq_len((n + 1) %/% 2)]
  same(predict(m, head_frame(30), trees = half$nrounds, threads = 1), predict(half, head_frame(30), threads = 1),
       "the first rounds predict other numbers")
  hold(nrow(as.data.frame(half)) >= half$nrounds, "trees are missing")
}

with_parameter <- function(name, rows) {
  function(n) {
    args <- stats::setNames(list(n), name)
    x <- head_frame(rows)
    do.call(check_data, c(list(x, head_y(rows), min_child_weight = 0), args))
  }
}

threads_of <- function(n) {
  x <- head_frame(3000)
  m <- fit(x, head_y(3000))
  same(fit(x, head_y(3000), threads = n)$state, m$state, "threads give another model")
  same(predict(m, x, threads = n), predict(m, x, threads = 1), "threads predict other numbers")
}

chunks_of <- function(n) { # rounds between two lines of the log
  m <- suppressMessages(fit(head_frame(30), head_y(30), nrounds = 50, valid = 0.3, verbose = 1, verbose_every = n))
  hold(m$nrounds == 50, "there are not as many rounds")
}

# low, high, dense: see sizes_of() of run.R.
sweeps <- list(
  rows_matrix = list(fn = rows_of(head_matrix), short = c(0, 70000, 20), long = c(0, 1048578, 70000),
                     cuda = c(1, 300, 3)),
  rows_frame = list(fn = rows_of(head_frame), short = c(0, 70000, 20), long = c(0, 1048578, 70000),
                    cuda = c(1, 300, 3)),
  rows_sparse = list(fn = rows_of(head_sparse), short = c(0, 70000, 20), long = c(0, 1048578, 70000),
                     cuda = c(1, 300, 3)),
  share = list(fn = share_of, short = c(0, 70000, 20), long = c(0, 400000, 20000)),
  valid_rows = list(fn = valid_rows, short = c(0, 70000, 20), long = c(0, 400000, 20000), cuda = c(1, 70, 1)),
  predicted_rows = list(fn = predicted_rows, short = c(0, 70000, 20), long = c(0, 1048578, 20000), cuda = c(1, 70, 1)),
  columns_matrix = list(fn = columns_of(function(x) x), short = c(1, 1100, 20), long = c(1, 131074, 2000),
                        cuda = c(1, 70, 1)),
  columns_frame = list(fn = columns_of(as_frame), short = c(1, 1100, 20), long = c(1, 66000, 2000)),
  columns_sparse = list(fn = columns_of(function(x) methods::as(x, "CsparseMatrix")), short = c(1, 1100, 20),
                        long = c(1, 131074, 2000)),
  levels = list(fn = levels_of, short = c(1, 4100, 20), long = c(1, 131074, 1100), cuda = c(1, 33, 1)),
  classes = list(fn = classes_of, short = c(2, 300, 20), long = c(2, 5000, 300), cuda = c(2, 10, 2)),
  entries = list(fn = entries_of, short = c(0, 4100, 20), long = c(0, 66000, 2000)),
  texts = list(fn = texts_of, short = c(0, 4100, 20), long = c(0, 1048578, 1100)),
  rounds = list(fn = rounds_of, short = c(1, 300, 20), long = c(1, 4100, 1100)),
  trees = list(fn = with_parameter("num_parallel_tree", 30), short = c(1, 300, 20), long = c(1, 65537, 1100),
               cuda = c(1, 33, 1)),
  bins = list(fn = with_parameter("max_bin", 1500), short = c(1, 65537, 20), long = c(1, 65537, 1100)),
  leaves = list(fn = with_parameter("max_leaves", 400), short = c(0, 300, 20), long = c(0, 1100, 300)),
  least_rows = list(fn = with_parameter("min_data_in_leaf", 400), short = c(1, 500, 20), long = c(1, 70000, 500)),
  threads = list(fn = threads_of, short = c(1, 300, 5), long = c(1, 1100, 300)),
  log_every = list(fn = chunks_of, short = c(1, 70, 20), long = c(1, 70000, 300))
)
