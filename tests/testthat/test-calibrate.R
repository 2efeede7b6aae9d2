# gbt_calibrate().

made <- function(n, seed, classes = 2) {
  set.seed(seed)
  x <- data.frame(a = runif(n), b = round(runif(n), 1))
  score <- x$a * classes + rnorm(n, 0, 0.5)
  x$y <- factor(pmin(pmax(floor(score), 0), classes - 1), seq_len(classes) - 1, letters[seq_len(classes)])
  x
}

# The least squares rising fit at each row, by its formula: max over beginnings of min over ends of weighted means,
# over distinct p.
naive <- function(p, y, w) {
  u <- sort(unique(p))
  value <- vapply(seq_along(u), function(i) {
    max(vapply(seq_len(i), function(j) {
      min(vapply(i:length(u), function(k) {
        at <- p >= u[j] & p <= u[k]
        sum((w * y)[at]) / sum(w[at])
      }, 0))
    }, 0))
  }, 0)
  value[match(p, u)]
}

test_that("isotonic maps are the least squares rising fit, with ties and weights", {
  set.seed(1)
  for (n in c(1:9, 15:17, 31:33)) {
    for (kind in 1:4) {
      p <- if (kind %% 2) runif(n) else sample(5, n, TRUE) / 6
      y <- as.double(runif(n) < p)
      w <- if (kind > 2) sample(4, n, TRUE) else rep(1, n)
      map <- gbt:::isotonic_map(p, y, w)
      expect_identical(gbt:::mapped(map, p), naive(p, y, w))
      expect_false(is.unsorted(map$value))
      expect_false(is.unsorted(map$p, strictly = TRUE))
      if (kind > 2) expect_identical(gbt:::isotonic_map(rep(p, w), rep(y, w), rep(1, sum(w))), map)
    }
  }
  map <- gbt:::isotonic_map(c(0.2, 0.4, 0.8), c(0, 0, 1), c(1, 1, 1))
  expect_equal(gbt:::mapped(map, c(0, 0.3, 0.5, 0.6, 1)), c(0, 0, 0.25, 0.5, 1))
  expect_lt(max(diff(gbt:::isotonic_map(1:20000 / 20001, rep(c(1, 0), 10000), rep(1, 20000))$value), 0), 1e-9)
})

test_that("logistic maps are what glm() finds, and stay finite and rising", {
  set.seed(2)
  p <- runif(300)
  y <- as.double(runif(300) < p^2)
  w <- sample(3, 300, TRUE)
  n <- c(sum(w[y == 0]), sum(w[y == 1]))
  t <- ifelse(y == 1, (n[2] + 1) / (n[2] + 2), 1 / (n[1] + 2))
  fit <- glm(t ~ qlogis(p), quasibinomial(), weights = w)
  expect_equal(gbt:::mapped(gbt:::calibration_map(p, y, w, "platt"), p), unname(fitted(fit)), tolerance = 1e-6)
  fit <- glm(t ~ log(p) + log(1 - p), quasibinomial(), weights = w)
  expect_equal(gbt:::mapped(gbt:::calibration_map(p, y, w, "beta"), p), unname(fitted(fit)), tolerance = 1e-6)
  for (method in c("platt", "beta")) {
    b <- gbt:::calibration_map(c(0, 0, 1, 1), c(0, 0, 1, 1), rep(1, 4), method)$coefficients
    expect_true(all(is.finite(b)))
    one <- gbt:::calibration_map(rep(0.3, 4), c(0, 0, 0, 1), rep(1, 4), method)
    expect_equal(gbt:::mapped(one, c(0.3, 0.3)), rep((3 / 5 + 2 / 3) / 4, 2))
  }
  # shares of 1 count as rows; weights of any size are fitted
  for (method in c("platt", "beta")) {
    plain <- gbt:::calibration_map(p, y, rep(1, 300), method)
    expect_equal(gbt:::calibration_map(p, y, rep(1 / 300, 300), method), plain, tolerance = 1e-12)
    expect_equal(gbt:::calibration_map(p, y, rep(1e-310, 300), method), plain, tolerance = 1e-12)
    many <- gbt:::calibration_map(p, y, rep(1e300, 300), method)$coefficients
    expect_equal(many, gbt:::calibration_map(p, y, rep(1e8, 300), method)$coefficients, tolerance = 1e-4)
    expect_false(isTRUE(all.equal(many, plain$coefficients, tolerance = 1e-4)))
  }
  falling <- gbt:::calibration_map(p, 1 - y, w, "beta")
  expect_true(all(falling$coefficients[-1] >= 0))
})

test_that("models of two and of more classes, with weights, in all ways to predict", {
  for (classes in 2:3) {
    x <- made(240, classes, classes)
    new <- made(30, 9, classes)
    m <- gbt_train(y ~ ., x[1:120, ], nrounds = 40, threads = 1)
    rest <- x[121:240, ]
    w <- seq_len(120) %% 3
    for (method in c("isotonic", "platt", "beta")) {
      fit <- gbt_calibrate(m, rest, method = method, weights = w, threads = 1)
      twice <- gbt_calibrate(m, rest[rep(1:120, w), ], method = method, threads = 1)
      prob <- predict(fit, new, type = "prob", threads = 1)
      expect_equal(prob, predict(twice, new, type = "prob", threads = 1), tolerance = 1e-7)
      expect_equal(unname(rowSums(prob)), rep(1, 30))
      expect_true(all(prob >= 0 & prob <= 1))
      expect_identical(colnames(prob), letters[seq_len(classes)])
      response <- predict(fit, new, threads = 1)
      expect_identical(response, if (classes == 2) prob[, 2] else prob)
      expect_identical(predict(fit, new, type = "class"), factor(letters[max.col(prob, "first")], levels(x$y)))
      alone <- lapply(1:30, function(i) unname(predict(fit, new[i, ], type = "prob", threads = 1)))
      expect_identical(do.call(rbind, alone), unname(prob))
      loss <- function(p) -sum((w * log(p[cbind(1:120, as.integer(rest$y))]))[w > 0]) / sum(w)
      expect_equal(fit$log_loss, c(before = loss(predict(m, rest, type = "prob")),
                                   after = loss(predict(fit, rest, type = "prob"))))
      if (classes == 2) expect_lt(fit$log_loss[["after"]], fit$log_loss[["before"]])
      expect_identical(gbt_calibrate(m, rest[-3], rest$y, method = method, weights = w, threads = 1)$maps, fit$maps)
    }
    file <- tempfile()
    saveRDS(fit, file)
    expect_identical(predict(readRDS(file), new, type = "prob"), prob)
    expect_output(print(fit), sprintf("method \"beta\", %d classes, 80 rows for calibration", classes))
  }
})

test_that("held-out predictions of folds calibrate the model of all rows", {
  x <- made(200, 4)
  cv <- gbt_cv(y ~ ., x, folds = 4, nrounds = 20, seed = 1, threads = 1)
  m <- gbt_refit(cv)
  fit <- gbt_calibrate(m, x, cv = cv)
  expect_identical(fit$maps[[1]], gbt:::isotonic_map(cv$predictions, as.double(x$y == "b"), rep(1, 200)))
  expect_identical(gbt_calibrate(m, y = x$y, cv = cv)$maps, fit$maps)
  expect_identical(predict(fit, x[1:9, ]), gbt:::mapped(fit$maps[[1]], predict(m, x[1:9, ])))
  number <- gbt_train(x[1:2], as.integer(x$y) - 1L, objective = "logistic", nrounds = 5, threads = 1)
  fit <- gbt_calibrate(number, x[1:2], as.integer(x$y) - 1L, trees = 3)
  expect_identical(predict(fit, x), gbt:::mapped(fit$maps[[1]], predict(number, x, trees = 3)))
  expect_true(all(predict(fit, x, type = "class") %in% 0:1))
})

test_that("what is wrong is named", {
  x <- made(60, 5)
  three <- made(60, 5, 3)
  m <- gbt_train(y ~ ., x, nrounds = 2, threads = 1)
  m3 <- gbt_train(y ~ ., three, nrounds = 2, threads = 1)
  numbers <- gbt_train(a ~ b, x, nrounds = 2, threads = 1)
  cv <- gbt_cv(y ~ ., x, folds = 2, nrounds = 2, seed = 1, threads = 1)
  fit <- gbt_calibrate(m, x)
  for (result in list(cv, fit)) expect_identical(capture.output(summary(result)), capture.output(print(result)))
  expect_error(summary(cv, digit = 3), "digit", class = "gbt_error_argument")
  expect_snapshot(error = TRUE, {
    gbt_calibrate()
    gbt_calibrate(m)
    gbt_calibrate(numbers, x)
    gbt_calibrate(cv, x)
    gbt_calibrate(m, x[x$y == "a", ])
    gbt_calibrate(m3, three[three$y != "b", ])
    gbt_calibrate(m, x, x$a)
    gbt_calibrate(m, x[0, ])
    gbt_calibrate(m, x[1:2])
    gbt_calibrate(m, x, method = "plat")
    gbt_calibrate(m, x, weights = c(-1, rep(1, 59)))
    gbt_calibrate(m, x, weights = rep(1e308, 60))
    gbt_calibrate(m, x, wieghts = 1)
    gbt_calibrate(m3, three, cv = cv)
    gbt_calibrate(m, x, cv = m)
    gbt_calibrate(m, x, cv = cv, offset = 1)
    gbt_calibrate(m, cv = cv)
    predict(fit)
    predict(fit, x, type = "link")
    predict(fit, x, trees = 1)
  })
})

test_that("numbers 0 and 1 are classes, shares are not", {
  x <- made(100, 1)
  words <- gbt_train(y ~ ., x, nrounds = 3, threads = 1)
  x$y <- as.double(x$y == "b")
  m <- gbt_train(y ~ ., x, objective = "logistic", nrounds = 3, threads = 1)
  fit <- gbt_calibrate(m, x, method = "platt", threads = 1)
  expect_identical(fit$maps, gbt_calibrate(words, x, factor(x$y, 0:1, c("a", "b")), method = "platt", threads = 1)$maps)
  x$y[3] <- 0.25
  expect_error(gbt_calibrate(m, x, threads = 1), "shares such as 0[.]25", class = "gbt_error_unsupported")
})

test_that("with `cv` other rows than those of the cross-validation are refused", {
  x <- made(60, 5)
  cv <- gbt_cv(y ~ ., x, folds = 2, nrounds = 2, seed = 1, threads = 1)
  m <- gbt_refit(cv)
  turned <- x[60:1, ]
  expect_error(gbt_calibrate(m, turned, cv = cv), "same responses in another order", class = "gbt_error_data")
  expect_error(gbt_calibrate(m, y = turned$y, cv = cv), "same responses in another order", class = "gbt_error_data")
  turned$y <- rev(factor(ifelse(turned$y == "a", "b", "a")))
  expect_error(gbt_calibrate(m, turned, cv = cv), "not the rows of the cross-validation", class = "gbt_error_data")
})

# Metrics of probabilities by plain formulas; y: the number of the class.
plain_metrics <- function(p, y, w, t) {
  p <- if (is.matrix(p)) p else cbind(1 - p, p)
  best <- if (ncol(p) == 2L) 1L + (p[, 2] > t) else max.col(p, "first")
  of <- if (ncol(p) == 2L) p[, 2] else p[cbind(seq_along(y), best)]
  hit <- if (ncol(p) == 2L) y == 2 else best == y
  sum <- function(v) base::sum(w * v) / base::sum(w)
  bin <- pmin(floor(of * 10), 9)
  c(logloss = sum(-log(p[cbind(seq_along(y), y)])), accuracy = sum(best == y),
    balanced_accuracy = mean(tapply(w * (best == y), y, base::sum) / tapply(w, y, base::sum)),
    brier = sum(if (ncol(p) == 2L) (p[, 2] - (y == 2))^2 else rowSums((p - diag(ncol(p))[y, ])^2)),
    calibration_error = base::sum(abs(tapply(w * (hit - of), bin, base::sum))) / base::sum(w))
}

test_that("calibrated models are evaluated by their probabilities, at thresholds that many of them are equal to", {
  for (classes in 2:3) for (method in c("isotonic", "platt")) {
    x <- made(600, 10 + classes, classes)
    m <- gbt_train(y ~ ., x[1:200, ], nrounds = 30, threads = 1)
    fit <- gbt_calibrate(m, x[201:400, ], method = method, threads = 1)
    new <- x[401:600, ]
    w <- rep(c(1, 2, 0.5, 3), 50)
    p <- unname(predict(fit, new, threads = 1))
    often <- if (classes == 2) as.numeric(names(which.max(table(p)))) else 0.5
    at <- if (classes == 2) p[which.min(abs(p - often))] else 0.5
    names <- c(if (classes == 2) "logloss" else "mlogloss", paste0(c("accuracy", "balanced_accuracy"), if (classes == 2)
      paste0("@", format(at, digits = 17))), if (classes == 2) "brier" else "mbrier", "calibration_error")
    e <- gbt_evaluate(fit, new, metrics = names, weights = w, threads = 1)
    expect_equal(e$estimate, unname(plain_metrics(p, as.integer(new$y), w, at)), tolerance = 1e-12)
    expect_identical(gbt_evaluate(fit, new[-3], new$y, metrics = names, weights = w, threads = 2), e)
    own <- gbt_metric("own", function(pred, label, weight) sum(pred * (1 + label) * weight))
    expect_equal(gbt_evaluate(fit, new, metrics = own, threads = 1)$estimate, sum(p * as.integer(new$y)))
    by <- gbt_evaluate(fit, new, metrics = "accuracy", by = "b", intervals = 0.8, replicates = 20, seed = 1,
                       threads = 1)
    expect_identical(sum(by$rows), 200L)
    expect_true(all(by$lower <= by$upper, na.rm = TRUE))
    expect_error(gbt_evaluate(fit, new, trees = 2), "gbt_calibrate", class = "gbt_error_argument")
  }
})

test_that("a cross-validation is evaluated by the predictions of its held-out rows", {
  x <- made(240, 4, 3)
  x$n <- x$a + x$b
  x$count <- rpois(240, 3 * x$a)
  for (way in list(c("y", "softmax"), c("n", "squared_error"), c("count", "poisson"))) {
    cv <- gbt_cv(stats::as.formula(paste(way[1], "~ a + b")), x, folds = 3, nrounds = 10, objective = way[2], seed = 1,
                 keep_models = TRUE, threads = 1)
    e <- gbt_evaluate(cv, x, threads = 1)
    if (way[1] == "y") {
      expect_equal(e$estimate[1], unname(plain_metrics(cv$predictions, as.integer(x$y), rep(1, 240), 0.5)[1]))
    } else {
      expect_equal(e$estimate[e$metric == "rmse"], sqrt(mean((x[[way[1]]] - cv$predictions)^2)))
    }
  }
  time <- gbt_cv(n ~ a + b, x, folds = 3, nrounds = 5, time = seq_len(240), keep_models = TRUE, threads = 1)
  e <- gbt_evaluate(time, x, metrics = "mae", by = "b", threads = 1) # the first block is never held out
  at <- unlist(time$folds)
  expect_equal(e$estimate, as.vector(tapply(abs(x$n - time$predictions)[at], x$b[at], mean)))
  expect_error(gbt_evaluate(time, x[240:1, ]), "another order", class = "gbt_error_data")
})

test_that("what takes a model says how to get one out of other results", {
  x <- made(60, 5)
  m <- gbt_train(y ~ ., x, nrounds = 2, threads = 1)
  cv <- gbt_cv(y ~ ., x, folds = 2, nrounds = 2, seed = 1, keep_models = TRUE, threads = 1)
  expect_snapshot(error = TRUE, {
    gbt_monitor(gbt_calibrate(m, x), x)
    gbt_report(cv, x, "report.html")
    gbt_shap(gbt_conformal(m, x), x)
    gbt_evaluate(gbt_conformal(m, x), x)
    gbt_evaluate(gbt_cv(y ~ ., x, folds = 2, nrounds = 2, seed = 1, threads = 1), x)
    gbt_evaluate(cv, x, trees = 2)
    gbt_conformal(cv, x)
  })
})
