# Microseconds of processor time of predict() for one row, and for 1,000: medians of 15 times of 500 calls (50 for 1,000
# rows). The usual arguments take the short way of src/r_plain.c; `trees = NULL`, which changes nothing, leads to the
# long one. 100 rounds, 30 columns; 50 rounds, 5,000 columns of a sparse matrix. See bench/results/one-row.md.
#
# The prepared predictor is gbt_predictor().
#
#   Rscript bench/one-row.R
suppressPackageStartupMessages(library(gbt))
set.seed(1)
n <- 5000
x <- matrix(rnorm(n * 30), n, dimnames = list(NULL, paste0("x", 1:30)))
y <- x[, 1] + x[, 2] * x[, 3] + rnorm(n)
frame <- data.frame(x)
for (j in 1:6) frame[[j]] <- factor(sample(letters[1:8], n, TRUE))
frame$y <- y
of_matrix <- gbt_train(x, y, nrounds = 100, threads = 1)
of_frame <- gbt_train(y ~ ., frame, nrounds = 100, threads = 1)

microseconds <- function(call, calls = 500L) {
  for (i in 1:20) call()
  once <- function(i) system.time(for (k in seq_len(calls)) call())[["user.self"]] / calls
  1e6 * stats::median(vapply(1:15, once, 0))
}
row <- x[7, , drop = FALSE]
frame_row <- frame[7, ]
rows <- x[1:1000, ]
f <- gbt_predictor(of_matrix)
f_frame <- gbt_predictor(of_frame)
vector <- row[1L, ]
cat("| rows | prepared | short way | long way |\n| --- | --- | --- | --- |\n")
line <- function(what, prepared, short, long, calls = 500L) {
  cat(sprintf("| %s | %.1f | %.0f | %.0f |\n", what, microseconds(prepared, calls), microseconds(short, calls),
              microseconds(long, calls)))
}
cat(sprintf("| one, vector with names | %.1f | | |\n", microseconds(function() f(vector))))
line("one, matrix", function() f(row), function() predict(of_matrix, row),
     function() predict(of_matrix, row, trees = NULL))
line("one, data frame with 6 factors", function() f_frame(frame_row), function() predict(of_frame, frame_row),
     function() predict(of_frame, frame_row, trees = NULL))
line("1,000, matrix, one thread", function() f(rows), function() predict(of_matrix, rows),
     function() predict(of_matrix, rows, trees = NULL, threads = 1), 50L)
if (requireNamespace("Matrix", quietly = TRUE)) {
  sparse <- Matrix::rsparsematrix(3000L, 5000L, 0.01)
  of_sparse <- gbt_train(sparse, (sparse[, 1L] > 0) + rnorm(3000L), nrounds = 50, threads = 1)
  f_sparse <- gbt_predictor(of_sparse)
  sparse_row <- sparse[7L, , drop = FALSE]
  line("one, sparse, 5,000 columns", function() f_sparse(sparse_row), function() predict(of_sparse, sparse_row),
       function() predict(of_sparse, sparse_row, trees = NULL), 50L)
}
