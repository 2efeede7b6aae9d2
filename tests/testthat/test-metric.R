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

# The log of one metric per name, against plain formulas of predictions (p), labels (y) and weights (w).
expect_logged <- function(m, set, formulas, p, y, w, tolerance = 1e-12) {
  last <- nrow(m$evaluation_log)
  for (name in names(formulas)) {
    expect_equal(m$evaluation_log[[paste0(set, "_", name)]][last], formulas[[name]](p, y, w), tolerance = tolerance,
                 info = name)
  }
}

test_that("metrics of numbers are their formulas", {
  wmean <- function(x, w) sum(w * x) / sum(w)
  gini <- function(p, y, w) {
    rank_of <- function(x) vapply(x, function(v) sum(w[x < v]) + sum(w[x == v]) / 2, 0)
    centred <- w * (y - wmean(y, w))
    sum(centred * rank_of(p)) / sum(centred * rank_of(y))
  }
  pinball <- function(a) function(p, y, w) wmean(ifelse(y > p, a * (y - p), (1 - a) * (p - y)), w)
  huber <- function(d) function(p, y, w) wmean(ifelse(abs(y - p) <= d, (y - p)^2 / 2, d * (abs(y - p) - d / 2)), w)
  formulas <- list(
    rmse = function(p, y, w) sqrt(wmean((p - y)^2, w)), mse = function(p, y, w) wmean((p - y)^2, w),
    mae = function(p, y, w) wmean(abs(p - y), w), mape = function(p, y, w) wmean(abs(p - y) / pmax(1, abs(y)), w),
    rmsle = function(p, y, w) sqrt(wmean((log1p(p) - log1p(y))^2, w)),
    msle = function(p, y, w) wmean((log1p(p) - log1p(y))^2, w),
    r2 = function(p, y, w) 1 - sum(w * (p - y)^2) / sum(w * (y - wmean(y, w))^2),
    "huber@3" = huber(3), huber = huber(1),
    pseudo_huber = function(p, y, w) wmean(sqrt(1 + (p - y)^2) - 1, w),
    "pseudo_huber@2.5" = function(p, y, w) wmean(2.5^2 * (sqrt(1 + ((p - y) / 2.5)^2) - 1), w),
    log_cosh = function(p, y, w) wmean(log(cosh(p - y)), w),
    "fair@2" = function(p, y, w) wmean(2 * abs(p - y) - 4 * log1p(abs(p - y) / 2), w),
    quantile = pinball(0.5), "quantile@0.9" = pinball(0.9), coverage = function(p, y, w) wmean(y <= p, w),
    "expectile@0.2" = function(p, y, w) wmean(ifelse(y > p, 0.2, 0.8) * (y - p)^2, w), gini = gini
  )
  for (some in list(1:9, 10:18)) {
    m <- gbt_train(mpg ~ ., mtcars, weights = wt, nrounds = 5, eval_metric = names(formulas)[some], threads = 1)
    expect_named(m$evaluation_log, c("round", paste0("train_", names(formulas)[some])))
    expect_logged(m, "train", formulas[some], predict(m, mtcars), mtcars$mpg, mtcars$wt)
  }
})

test_that("metrics of means on the log link are their formulas", {
  y_log <- function(y, m) ifelse(y > 0, y * log(pmax(y, 1e-300) / m), 0)
  tweedie <- function(a) function(p, y, w) {
    mean(2 * (y^(2 - a) / ((1 - a) * (2 - a)) - y * p^(1 - a) / (1 - a) + p^(2 - a) / (2 - a)))
  }
  binomial <- function(a) function(p, y, w) mean(2 * (y_log(y, p) - (y + 1 / a) * log((1 + a * y) / (1 + a * p))))
  formulas <- list(
    poisson_deviance = function(p, y, w) mean(2 * (y_log(y, p) - (y - p))),
    poisson_nloglik = function(p, y, w) mean(p - y * log(p)),
    gamma_deviance = function(p, y, w) mean(2 * ((y - p) / p - log(y / p))),
    gamma_nloglik = function(p, y, w) mean(y / p + log(p)),
    tweedie_deviance = tweedie(1.5), "tweedie_deviance@1.2" = tweedie(1.2),
    tweedie_nloglik = function(p, y, w) mean(p^0.5 / 0.5 + y * p^-0.5 / 0.5),
    negative_binomial_deviance = binomial(1), "negative_binomial_deviance@0.1" = binomial(0.1), rmse =
      function(p, y, w) sqrt(mean((p - y)^2))
  )
  m <- gbt_train(carb ~ ., mtcars, objective = "poisson", nrounds = 5, eval_metric = names(formulas), threads = 1)
  expect_logged(m, "train", formulas, predict(m, mtcars), mtcars$carb, 1)
})

# Rows by actual and predicted class, weighted.
confusion <- function(actual, predicted, n, w) {
  out <- matrix(0, n, n)
  for (i in seq_along(actual)) out[actual[i], predicted[i]] <- out[actual[i], predicted[i]] + w[i]
  out
}
correlation <- function(t) {
  n <- sum(t)
  (sum(diag(t)) * n - sum(rowSums(t) * colSums(t))) / sqrt((n^2 - sum(rowSums(t)^2)) * (n^2 - sum(colSums(t)^2)))
}

test_that("metrics of two classes are their formulas", {
  set.seed(1)
  x <- data.frame(a = round(rnorm(300), 1), b = sample(4, 300, TRUE))
  y <- as.numeric(x$a + rnorm(300) > 0.4)
  w <- runif(300)
  two <- function(p, y, w, t) confusion(y + 1, (p > t) + 1, 2, w)
  average_precision <- function(p, y, w) {
    at <- sort(unique(p), decreasing = TRUE)
    hits <- vapply(at, function(t) sum(w[p >= t & y == 1]), 0)
    precision <- hits / vapply(at, function(t) sum(w[p >= t]), 0)
    sum(diff(c(0, hits)) * precision) / sum(w[y == 1])
  }
  formulas <- list(
    brier = function(p, y, w) sum(w * (p - y)^2) / sum(w),
    error = function(p, y, w) sum(w[(p > 0.5) != y]) / sum(w),
    "error@0.3" = function(p, y, w) sum(w[(p > 0.3) != y]) / sum(w),
    accuracy = function(p, y, w) sum(diag(two(p, y, w, 0.5))) / sum(w),
    "accuracy@0.7" = function(p, y, w) sum(w[(p > 0.7) == y]) / sum(w),
    f1 = function(p, y, w) 2 * two(p, y, w, 0.5)[2, 2] / (sum(w[y == 1]) + sum(w[p > 0.5])),
    "f1@0.25" = function(p, y, w) 2 * two(p, y, w, 0.25)[2, 2] / (sum(w[y == 1]) + sum(w[p > 0.25])),
    mcc = function(p, y, w) correlation(two(p, y, w, 0.5)),
    "mcc@0.6" = function(p, y, w) correlation(two(p, y, w, 0.6)),
    balanced_accuracy = function(p, y, w) mean(diag(two(p, y, w, 0.5)) / rowSums(two(p, y, w, 0.5))),
    pr_auc = average_precision,
    "calibration_error@7" = function(p, y, w) {
      sum(abs(tapply(w * (y - p), pmin(floor(p * 7), 6), sum))) / sum(w)
    }
  )
  m <- gbt_train(x, factor(y), weights = w, nrounds = 8, eval_metric = c(names(formulas), "auc", "gini"), threads = 2)
  expect_logged(m, "train", formulas, predict(m, x), y, w)
  expect_equal(m$evaluation_log$train_gini, 2 * m$evaluation_log$train_auc - 1, tolerance = 1e-14)
})

test_that("metrics of several classes are their formulas", {
  y <- as.integer(iris$Species)
  w <- iris$Petal.Width
  best <- function(p) max.col(p, "first")
  table <- function(p, y, w) confusion(y, best(p), 3, w)
  formulas <- list(
    mbrier = function(p, y, w) sum(w * rowSums((p - diag(3)[y, ])^2)) / sum(w),
    "top_error@2" = function(p, y, w) {
      sum(w[vapply(seq_along(y), function(i) sum(p[i, ] > p[i, y[i]]) >= 2, NA)]) / sum(w)
    },
    accuracy = function(p, y, w) sum(w[best(p) == y]) / sum(w),
    f1 = function(p, y, w) mean(2 * diag(table(p, y, w)) / (rowSums(table(p, y, w)) + colSums(table(p, y, w)))),
    mcc = function(p, y, w) correlation(table(p, y, w)),
    balanced_accuracy = function(p, y, w) mean(diag(table(p, y, w)) / rowSums(table(p, y, w))),
    calibration_error = function(p, y, w) {
      top <- apply(p, 1, max)
      sum(abs(tapply(w * ((best(p) == y) - top), pmin(floor(top * 10), 9), sum))) / sum(w)
    }
  )
  m <- gbt_train(iris[1:2], iris$Species, weights = w, nrounds = 6, eval_metric = names(formulas), threads = 1)
  expect_logged(m, "train", formulas, unname(predict(m, iris)), y, w)
})

test_that("the metric of an objective takes its parameter", {
  x <- mtcars[-1]
  train <- function(...) gbt_train(x, mtcars$mpg, nrounds = 3, eval_train = TRUE, threads = 1, ...)$evaluation_log[[2L]]
  expect_identical(train(objective = "tweedie", tweedie_variance_power = 1.2),
                   train(objective = "tweedie", tweedie_variance_power = 1.2, eval_metric = "tweedie_deviance@1.2"))
  expect_identical(train(objective = "huber", huber_delta = 3, eval_metric = "pseudo_huber"),
                   train(objective = "huber", huber_delta = 3, eval_metric = "pseudo_huber@3"))
  expect_false(identical(train(objective = "huber", huber_delta = 3, eval_metric = "huber"),
                         train(objective = "huber", huber_delta = 3, eval_metric = "huber@1")))
})

test_that("early stopping knows which side is better", {
  valid <- list(x = d[seq(1, 32, 3), -9], y = d$am[seq(1, 32, 3)])
  m <- gbt_train(d[-9], d$am, nrounds = 30, valid = valid, eval_metric = "mcc", early_stopping_rounds = 5, threads = 1)
  expect_identical(m$best_score, max(m$evaluation_log$valid_mcc))
  expect_identical(m$best_round, which.max(m$evaluation_log$valid_mcc))
})

test_that("accuracy is 1 - error, and early stopping takes the largest", {
  three <- iris[c(seq(1, 150, 2)), ]
  rest <- iris[c(seq(2, 150, 2)), ]
  weights <- list(NULL, seq_len(75) / 75)
  for (w in weights) for (way in list(c("error", "am"), c("merror", "Species"))) {
    classes <- way[2] == "am"
    x <- if (classes) d[-9] else three[-5]
    y <- if (classes) d$am else three$Species
    valid <- if (classes) list(x = x[1:12, ], y = y[1:12]) else list(x = rest[-5], y = rest$Species)
    m <- gbt_train(x, y, weights = w[seq_along(y)], valid = valid, nrounds = 12, eval_metric = c(way[1], "accuracy"),
                   early_stopping_rounds = 4, eval_train = TRUE, threads = 2)
    for (set in c("train_", "valid_")) {
      log <- m$evaluation_log
      expect_equal(log[[paste0(set, "accuracy")]], 1 - log[[paste0(set, way[1])]], tolerance = 1e-14)
    }
    expect_identical(m$best_score, max(m$evaluation_log$valid_accuracy))
    expect_identical(m$best_round, which.max(m$evaluation_log$valid_accuracy))
    e <- gbt_evaluate(m, x, y, metrics = c("acc", way[1]), intervals = 0.8, replicates = 50, seed = 3, threads = 1)
    expect_identical(e$metric[1], "accuracy")
    expect_equal(unlist(e[1, 2:4]), 1 - unlist(e[2, c(2, 4, 3)]), ignore_attr = TRUE)
  }
})

test_that("the table of metrics is complete and its names are known once for each kind of objective", {
  table <- gbt:::metrics_table()
  names <- gbt:::metric_names()
  for (bit in bitwShiftL(1L, seq_along(gbt:::enums$response) - 1L)) {
    expect_false(anyDuplicated(unlist(names[bitwAnd(table$outputs, bit) != 0L])) > 0)
  }
  expect_true(all(nzchar(table$text)) && !anyDuplicated(table$name))
  help <- paste(gbt:::metrics_help(), collapse = "\n")
  for (name in table$name) expect_match(help, paste0("\\code{", name), fixed = TRUE)
})

test_that("names of peers are understood, others are errors that help", {
  same <- list(rmse = c("RMSE", "root_mean_squared_error"), mae = "l1", logloss = c("binary_logloss", "Logloss"),
               auc = "AUC", error = "binary_error", accuracy = c("Accuracy", "acc"),
               mlogloss = c("multi_logloss", "MultiClass"), merror = "multi_error")
  fits <- c(rmse = "squared_error", mae = "squared_error", logloss = "logistic", auc = "logistic", error = "logistic",
            accuracy = "softmax", mlogloss = "softmax", merror = "softmax")
  response_for <- function(objective) {
    list(objective = objective, param = numeric(0), n_outputs = if (objective == "softmax") 3L else 1L)
  }
  for (name in names(same)) {
    for (other in same[[name]]) expect_identical(gbt:::read_metric(other, response_for(fits[[name]]))$name, name)
  }
  train <- function(eval_metric) gbt_train(mtcars[-1], mtcars$mpg, eval_metric = eval_metric, nrounds = 1, threads = 1)
  expect_snapshot(error = TRUE, {
    train("rmsee")
    train("smape")
    train("poisson-nloglik")
    train("accuracy")
    gbt_train(iris[-5], iris$Species, eval_metric = "accuracy@0.3", nrounds = 1, threads = 1)
    train("ndcg")
    gbt_train(iris[51:150, -5], iris$Species[51:150] == "virginica", eval_metric = "aucpr", nrounds = 1, threads = 1)
    train("Huber:slope=2")
    gbt_train(mtcars[-1], mtcars$mpg, alpha = 0.9, eval_metric = "quantile", nrounds = 1, threads = 1)
    train("error@0.7")
    train("quantile@0.5x")
    train("quantile@1")
    train("rmse@2")
    train(c("quantile", "pinball@0.5"))
    gbt_train(iris[-5], iris$Species, eval_metric = "f1@0.3", nrounds = 1, threads = 1)
    gbt_train(iris[-5], iris$Species, eval_metric = "top_error@1.5", nrounds = 1, threads = 1)
    gbt_train(mtcars[-11], mtcars$carb - 1, objective = "poisson", eval_metric = "gamma_deviance", nrounds = 1,
              threads = 1)
    gbt_train(mtcars[-1], mtcars$mpg, valid = list(mine = list(x = mtcars[-1], y = -mtcars$mpg)), eval_metric = "rmsle",
              nrounds = 1, threads = 1)
    gbt_train(mtcars[-1], mtcars$mpg, valid = 0.3, eval_metric = c("rmse", "coverage"), early_stopping_rounds = 2,
              nrounds = 1, threads = 1)
    train("auc")
    gbt_train(am ~ ., mtcars, eval_metric = "auc", nrounds = 1, threads = 1)
    train(c("rmse", "RMSE"))
    train(function(p, l) 1)
    train(3)
    train(gbt_metric("two", function(p, l) 1:2))
    gbt_metric("x", 3)
    gbt_metric("", mean)
    gbt_metric("x", function(p) 1)
    gbt_train(mtcars[-1], mtcars$mpg, nrounds = 9, eval_metric = "rmse", eval_train = FALSE)
  })
  expect_output(print(gbt_metric("x", function(p, l) 1, maximise = TRUE)), "x, larger is better")
  expect_identical(gbt:::read_metric("Quantile:alpha=0.9", response_for("squared_error"))[c("name", "param")],
                   list(name = "quantile@0.9", param = 0.9))
  expect_identical(gbt:::read_metric("Tweedie:variance_power=1.3", response_for("poisson"))$name,
                   "tweedie_nloglik@1.3")
  expect_identical(train("Huber:delta=3")$evaluation_log, train("huber@3")$evaluation_log)
  penalised <- gbt_train(mtcars[-1], mtcars$mpg, alpha = 0.9, eval_metric = "quantile@0.9", nrounds = 1, threads = 1)
  expect_identical(penalised$params$alpha, 0.9)
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

test_that("metrics of a model on data at hand are those of its log, for all metrics and own ones", {
  set.seed(2)
  n <- 300
  x <- data.frame(a = rnorm(n), b = rnorm(n))
  w <- sample(0:3, n, TRUE) / 2
  y <- list(
    squared_error = exp(x$a), logistic = factor(x$a + rnorm(n) > 0), softmax = factor(sample(letters[1:3], n, TRUE)),
    poisson = rpois(n, exp(x$a)), quantile = x$a, gamma = exp(x$b)
  )
  table <- gbt:::metrics_table()
  unless_all <- c("gamma_deviance", "gamma_nloglik", "squared_log_error", "rmsle", "msle") # labels of all signs
  half <- seq_len(n) <= 150
  own <- lapply(c("response", "link"), function(type) {
    gbt_metric(paste0("own_", type), function(pred, label, weight) sum(weight * (1 + label) * pred), type = type)
  })
  for (objective in names(y)) {
    bit <- bitwAnd(table$outputs, .Call(gbt:::C_gbt_objective_outputs, gbt:::objective_code(objective))) != 0L
    valid <- list(x = x[!half, ], y = y[[objective]][!half], weight = w[!half])
    names <- setdiff(table$name[bit & !table$by_query], unless_all)
    for (asked in split(names, seq_along(names) %/% 14)) {
      asked <- c(as.list(asked), own)
      m <- gbt_train(x[half, ], y[[objective]][half], nrounds = 4, objective = objective, valid = valid,
                     eval_metric = asked, seed = 1, threads = 1)
      label <- gbt:::given_labels(m, NULL, valid$y, sum(!half))
      score <- predict(m, valid$x, type = "link", threads = 1)
      got <- gbt:::score_metrics(gbt:::resolve_metrics(asked, gbt:::response_kind(m)),
                                 m, score, label, valid$weight, 2L)
      expect_identical(unname(got), unname(unlist(m$evaluation_log[4, -1])), info = objective)
    }
  }
})

test_that("errors of metrics have the argument's name as it was typed", {
  typed <- "`eval_metric` (given as `metrics`)"
  wrong <- list("rnse", c("rmse", "rmse"), mean, 3, NA_character_)
  for (metrics in wrong) {
    expect_error(gbt_train(mpg ~ ., mtcars, valid = 0.3, metrics = metrics, nrounds = 1, threads = 1), typed,
                 fixed = TRUE, class = "gbt_error")
    expect_error(gbt_cv(mpg ~ ., mtcars, folds = 3, metrics = metrics, nrounds = 1, threads = 1), typed, fixed = TRUE,
                 class = "gbt_error")
    expect_error(gbt_tune(mpg ~ ., mtcars, space = list(eta = c(0.1, 0.3)), folds = 3, metrics = metrics, nrounds = 1,
                          threads = 1), typed, fixed = TRUE, class = "gbt_error")
  }
  expect_error(gbt_train(mpg ~ ., mtcars, metrics = "rmse", eval_train = FALSE, nrounds = 1, threads = 1),
               paste(typed, "needs rows"), fixed = TRUE, class = "gbt_error_argument")
})

test_that("a metric of permutation importance that is NA is refused", {
  m <- gbt_train(mpg ~ ., mtcars, nrounds = 2, threads = 1)
  expect_error(gbt_importance(m, "permutation", data = mtcars, metric = NA_character_), "`metric` must not be NA",
               fixed = TRUE, class = "gbt_error_argument")
})

test_that("a number after a metric that takes none is told", {
  expect_error(gbt_train(mpg ~ wt, mtcars, eval_metric = "rmse@2"), "\"rmse\" takes no number .*write \"rmse\"",
               class = "gbt_error_argument")
  expect_error(gbt_train(cbind(mpg, hp) ~ wt, mtcars, eval_metric = "rmse@2"),
               "the response has no column `2`, only `mpg`, `hp`", class = "gbt_error_argument")
  expect_error(gbt_train(cbind(mpg, hp) ~ wt, mtcars, eval_metric = "RMSE@2"), "the response has no column `2`")
})
