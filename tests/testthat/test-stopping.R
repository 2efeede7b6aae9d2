# The twin of the engine's rule: looks back over the whole series after every value.
naive_stopping <- function(values, maximise, min_delta, patience = 0) {
  sign <- if (maximise) 1 else -1
  best <- stop <- NA_integer_
  for (i in seq_along(values)) {
    better <- !is.na(values[i]) && (is.na(best) || isTRUE(sign * values[i] - sign * values[best] > min_delta))
    if (better) best <- i
    if (patience > 0 && i - max(best, 0L, na.rm = TRUE) >= patience) {
      stop <- i
      break
    }
  }
  c(best = best, stop = stop)
}

test_that("early stopping over a series of values is the rule of a naive twin", {
  set.seed(4)
  for (case in 1:300) {
    n <- sample(0:30, 1)
    values <- round(cumsum(rnorm(n, -0.1)), 1)
    values[runif(n) < 0.1] <- sample(c(NaN, NA, Inf, -Inf), 1)
    set <- list(values, case %% 2 == 0, sample(c(0, 0.2), 1), sample(0:5, 1))
    expect_identical(do.call(gbt:::stopping_of, set), do.call(naive_stopping, set))
  }
})

test_that("a training's best and last round are those of its log, by the engine's metrics and by the user's own", {
  set.seed(1)
  x <- matrix(rnorm(900), 300)
  y <- x[, 1] + rnorm(300)
  own <- gbt_metric("own", function(pred, label, weight) mean(abs(pred - label)), maximise = FALSE)
  for (metric in list("rmse", own)) {
    for (min_delta in c(0, 0.01)) {
      m <- gbt_train(x, y, nrounds = 300, eta = 0.3, valid = 0.3, eval_metric = metric, early_stopping_rounds = 4,
                     early_stopping_min_delta = min_delta, seed = 2, threads = 1)
      log <- m$evaluation_log
      expected <- naive_stopping(log[[ncol(log)]], FALSE, min_delta, 4)
      expect_identical(c(best = m$best_round, stop = nrow(log)), expected)
    }
  }
})
