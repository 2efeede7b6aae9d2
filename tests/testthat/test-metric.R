d <- transform(mtcars, am = factor(am, labels = c("auto", "manual")))
p_of <- function(m, i) predict(m, d, trees = i)

test_that("the log is what predictions say", {
  m <- gbt_train(am ~ ., d, nrounds = 6, eval_metric = c("logloss", "error", "auc"), threads = 1)
  expect_named(m$evaluation_log, c("round", "train_logloss", "train_error", "train_auc"))
  y <- as.numeric(d$am) - 1
  for (i in 1:6) {
    p <- p_of(m, i)
    expect_equal(m$evaluation_log$train_logloss[i], -mean(y * log(p) + (1 - y) * log(1 - p)), tolerance = 1e-12)
    expect_equal(m$evaluation_log$train_error[i], mean((p > 0.5) != y))
    r <- rank(p)
    expect_equal(m$evaluation_log$train_auc[i], (sum(r[y == 1]) - 13 * 14 / 2) / (13 * 19))
  }
})

test_that("metrics of one's own are logged in their places and see weights", {
  brier <- gbt_metric("brier", function(pred, label, weight) sum(weight * (pred - label)^2) / sum(weight))
  plain <- gbt_metric("plain", function(pred, label) mean((pred - label)^2))
  link <- gbt_metric("link", function(pred, label) mean(pred), type = "link")
  m <- gbt_train(am ~ ., d, weights = wt, nrounds = 4, eval_metric = list("error", brier, "auc", plain, link),
                 threads = 1)
  expect_named(m$evaluation_log, c("round", paste0("train_", c("error", "brier", "auc", "plain", "link"))))
  y <- as.numeric(d$am) - 1
  for (i in 1:4) {
    expect_equal(m$evaluation_log$train_brier[i], weighted.mean((p_of(m, i) - y)^2, d$wt))
    expect_equal(m$evaluation_log$train_plain[i], mean((p_of(m, i) - y)^2))
    expect_equal(m$evaluation_log$train_link[i], mean(predict(m, d, type = "link", trees = i)))
  }
  own <- gbt_metric("own", function(pred, label) -mean(log(pred[cbind(seq_along(label), label + 1)])))
  k <- gbt_train(iris[-5], iris$Species, nrounds = 3, threads = 1, eval_metric = list("mlogloss", own))
  expect_equal(k$evaluation_log$train_own, k$evaluation_log$train_mlogloss)
})

test_that("metrics do not change the model", {
  a <- gbt_train(am ~ ., d, nrounds = 4, threads = 1)
  b <- gbt_train(am ~ ., d, nrounds = 4, threads = 1, eval_metric = gbt_metric("x", function(p, l) 1))
  expect_identical(as.data.frame(a), as.data.frame(b))
})

test_that("names of peers are understood, others are errors that help", {
  same <- list(rmse = c("RMSE", "root_mean_squared_error"), mae = "l1", logloss = c("binary_logloss", "Logloss"),
               auc = "AUC", error = "binary_error", mlogloss = c("multi_logloss", "MultiClass"), merror = "multi_error")
  fits <- c(rmse = "squared_error", mae = "squared_error", logloss = "logistic", auc = "logistic", error = "logistic",
            mlogloss = "softmax", merror = "softmax")
  for (name in names(same)) {
    for (other in same[[name]]) expect_identical(gbt:::metric_name(other, fits[[name]]), name)
  }
  train <- function(eval_metric) gbt_train(mtcars[-1], mtcars$mpg, eval_metric = eval_metric, nrounds = 1, threads = 1)
  expect_snapshot(error = TRUE, {
    train("rmsee")
    train("mse")
    train("poisson-nloglik")
    train("error@0.7")
    train("auc")
    gbt_train(am ~ ., mtcars, eval_metric = "auc", nrounds = 1, threads = 1)
    train(c("rmse", "RMSE"))
    train(function(p, l) 1)
    train(3)
    train(gbt_metric("two", function(p, l) 1:2))
    gbt_metric("x", 3)
    gbt_metric("", mean)
    gbt_metric("x", function(p) 1)
    gbt_train(mtcars[-1], mtcars$mpg, eval_metric = "rmse", eval_train = FALSE)
  })
  expect_output(print(gbt_metric("x", function(p, l) 1, maximise = TRUE)), "x, larger is better")
})

test_that("a metric of one's own sees the responses that predict() gives, bit by bit", {
  x <- data.frame(a = (1:60 * 7) %% 31, b = (1:60 * 11) %% 17)
  y <- list(logistic = factor(x$a > 15), poisson = x$b, softmax = factor(x$b %% 3), squared_error = x$a + x$b / 7)
  for (objective in names(y)) {
    seen <- NULL
    keep <- gbt_metric("keep", function(pred, label) {
      seen <<- pred
      0
    })
    m <- gbt_train(x, y[[objective]], objective = objective, eval_metric = list(keep), eval_train = TRUE, nrounds = 7,
                   threads = 2)
    expect_identical(as.vector(seen), as.vector(predict(m, x)), label = objective)
  }
})
