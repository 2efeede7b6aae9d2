# Cross-validation compared with one training: Rscript bench/cv.R [ROUNDS]
#
# Ten folds on one binned copy (gbt_cv) compared with one training of the same rounds and a loop of ten trainings that
# bin their rows each time, from the same data frames. Medians of three runs in turns; printed as a table. The last
# column is the processor time of gbt_cv() compared with that of the one training, of the least of the three: what the
# folds have to do, whatever else the machine does.
library(gbt)
rounds <- as.integer(c(commandArgs(TRUE), "100")[1L])
made <- function(n, p) {
  set.seed(1)
  x <- as.data.frame(matrix(rnorm(n * p), n))
  list(x = x, y = as.numeric(x[[1L]] + x[[2L]] * x[[3L]] + rnorm(n) > 0))
}
with_factors <- function() {
  d <- gbt::flights
  list(x = d[names(d) != "late"], y = d$late)
}
sets <- list(`1,000 x 10` = made(1000, 10), `20,000 x 20` = made(20000, 20), `300,000 x 28` = made(300000, 28),
             flights = with_factors())
seconds <- function(expr) {
  t <- system.time(expr)
  c(t[[3L]], t[[1L]] + t[[2L]]) # by the clock, and of the processor
}
cat("| data | one training s | gbt_cv of 10 folds s | ratio | loop of 10 trainings s | ratio | processor, ratio |\n")
cat("|---|---|---|---|---|---|---|\n")
for (name in names(sets)) {
  d <- sets[[name]]
  at <- list(objective = "logistic", nrounds = rounds, seed = 1, threads = 2)
  one <- function() do.call(gbt_train, c(list(d$x, d$y), at))
  folds <- rep_len(1:10, nrow(d$x))
  cv <- function() do.call(gbt_cv, c(list(d$x, d$y, folds = folds), at))
  loop <- function() {
    for (k in 1:10) {
      out <- folds == k
      do.call(gbt_train, c(list(d$x[!out, ], d$y[!out], valid = list(x = d$x[out, ], y = d$y[out])), at))
    }
  }
  times <- replicate(3, c(seconds(one()), seconds(cv()), seconds(loop())))
  m <- apply(times[c(1, 3, 5), ], 1L, median)
  least <- apply(times[c(2, 4), ], 1L, min)
  cat(sprintf("| %s | %.2f | %.2f | %.1f | %.2f | %.1f | %.1f |\n", name, m[1L], m[2L], m[2L] / m[1L], m[3L],
              m[3L] / m[1L], least[2L] / least[1L]))
}
