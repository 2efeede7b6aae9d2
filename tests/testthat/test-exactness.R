# One model everywhere: bytes do not depend on threads, page size, instructions, or the form in which the data come.

# Columns of every kind, missing and infinite values among them. 7,000 rows are seven pages of 1,000.
made <- function(n = 7000) {
  withr::with_seed(11, {
    d <- data.frame(
      a = rnorm(n), b = round(rnorm(n), 1), c = rpois(n, 2), d = runif(n) < 0.3,
      e = factor(sample(c("x", "y", "z"), n, TRUE)), f = factor(sample(sprintf("l%02d", 1:60), n, TRUE, (1:60)^-1)),
      g = factor(sample(c("lo", "mid", "hi"), n, TRUE), c("lo", "mid", "hi"), ordered = TRUE),
      h = as.Date("2024-01-01") + sample(0:99, n, TRUE)
    )
    d$i <- sample(c(letters, NA), n, TRUE)
    d$j <- as.POSIXct("2024-01-01", tz = "UTC") + sample(1e6, n)
    for (j in c(1, 2, 3, 4, 5, 6, 7)) d[[j]][sample(n, n / 15)] <- NA
    d$a[1:4] <- c(Inf, -Inf, NaN, 1e300)
    s <- ifelse(is.na(d$a), 0.5, sin(2 * pmax(-5, pmin(5, d$a)))) + 0.3 * (d$e %in% "y") + as.integer(d$f) %% 3 / 4 +
      0.4 * (d$i %in% letters[1:9]) + 0.2 * d$d
    s[is.na(s)] <- 0
    list(x = d, s = s + rnorm(n, 0, 0.3), w = sample(c(0, 1, 2.5, runif(20)), n, TRUE), o = rnorm(n, 0, 0.2))
  })
}
m <- made()
number <- m$s
binary <- m$s > 0.6
class <- cut(m$s, c(-Inf, -0.2, 0.4, 0.9, Inf), c("p", "q", "r", "s"))
count <- floor(exp(pmin(m$s, 3)))
on_frame <- function(y, ...) {
  args <- list(x = m$x, y = y, nrounds = 4, eval_train = TRUE, ...)
  function(...) do.call(gbt_train, c(args, list(...)))
}

test_that("no circumstance shows in a model: every combination", {
  skip_on_cran()
  fit <- on_frame(binary, seed = 5, subsample = 0.8, grow_policy = "depthwise", max_depth = 6, lambda = 1,
                  colsample_bytree = 1)
  model <- expect_circumstances_do_not_show(fit, thorough = TRUE)
  expect_setequal(gbt_importance(model)$feature[gbt_importance(model)$gain > 0], names(m$x))
})

test_that("no circumstance shows in a model: objectives", {
  expect_circumstances_do_not_show(on_frame(number, eval_metric = c("mae", "rmse")))
  expect_circumstances_do_not_show(on_frame(number, weights = m$w, offset = m$o))
  expect_circumstances_do_not_show(on_frame(binary, weights = m$w, eval_metric = c("error", "auc", "logloss")))
  expect_circumstances_do_not_show(on_frame(class, weights = m$w, eval_metric = c("merror", "mlogloss")))
  expect_circumstances_do_not_show(on_frame(class, offset = cbind(m$o, 0, -m$o, 1)))
  expect_circumstances_do_not_show(on_frame(count, objective = "poisson", offset = m$o))
  own <- list(gradient = function(score, label) tanh(score - label), hessian = function(score, label) 1 + 0 * score)
  expect_circumstances_do_not_show(on_frame(number, objective = own))
})

test_that("no circumstance shows in a model: trees", {
  expect_circumstances_do_not_show(on_frame(number, grow_policy = "lossguide", max_depth = 0, max_leaves = 40))
  expect_circumstances_do_not_show(on_frame(number, max_depth = 12, min_data_in_leaf = 5, gamma = 0.1, alpha = 0.3))
  expect_circumstances_do_not_show(on_frame(binary, max_bin = 40000, max_cat_onehot = 100))
  expect_circumstances_do_not_show(on_frame(binary, max_cat_onehot = 1, max_bin = 2, max_delta_step = 0.3))
  expect_circumstances_do_not_show(on_frame(number, grad_bits = "32"))
  expect_circumstances_do_not_show(on_frame(number, grad_bits = "16", hist_memory = 1))
  expect_circumstances_do_not_show(on_frame(number, monotone = c(a = 1, c = -1, g = 1)))
  expect_circumstances_do_not_show(on_frame(number, interactions = list(c("a", "b", "e"), c("b", "f", "i"))))
})

test_that("no circumstance shows in a model: sampling", {
  expect_circumstances_do_not_show(on_frame(number, subsample = 0.4, seed = 1))
  expect_circumstances_do_not_show(on_frame(number, colsample_bytree = 0.7, colsample_bylevel = 0.7,
                                            colsample_bynode = 0.7, feature_weights = c(a = 4, f = 0.5), seed = 2))
  expect_circumstances_do_not_show(on_frame(class, num_parallel_tree = 3, subsample = 0.6, colsample_bynode = 0.6,
                                            seed = 3))
  expect_circumstances_do_not_show(on_frame(binary, valid = 0.3, early_stopping_rounds = 2, eta = 0.9, seed = 4))
})

test_that("no circumstance shows in a model: going on from another one", {
  first <- on_frame(binary)(threads = 1)
  expect_circumstances_do_not_show(on_frame(binary, init_model = first, subsample = 0.5, seed = 9))
})

test_that("a gradient far above all others changes nothing about that", {
  y <- replace(number, 17, 1e7) # histograms take wider gradients then
  expect_circumstances_do_not_show(on_frame(y))
  expect_circumstances_do_not_show(on_frame(number * 1e-140))
  expect_circumstances_do_not_show(on_frame(number * 1e140))
})

test_that("many rows: the default page and one of 65,536 are several", {
  skip_on_cran()
  many <- made(150000)
  big <- function(...) gbt_train(many$x, many$s, weights = many$w, nrounds = 2, max_depth = 9, ...)
  model <- expect_circumstances_do_not_show(big)
  p <- predict(model, many$x, threads = 1)
  expect_identical(circumstance(function(threads, ...) predict(model, many$x, threads = threads), 3, NULL, "avx2"), p)
})

test_that("data frame, matrix and sparse matrix give one model", {
  skip_if_not_installed("Matrix")
  x <- withr::with_seed(3, {
    x <- matrix(rpois(5000 * 12, 0.3) * round(rnorm(5000 * 12), 1), 5000)
    x[sample(length(x), 900)] <- NA
    x[, 12] <- rnorm(5000) # nearly dense
    x[, 11] <- 0
    x
  })
  colnames(x) <- sprintf("c%02d", 1:12)
  y <- ifelse(is.na(x[, 1]), 1, x[, 1]) + (x[, 12] > 0.3) * ifelse(is.na(x[, 2]), 2, x[, 2]) + m$s[1:5000]
  w <- m$w[1:5000]
  forms <- list(x, as.data.frame(x), methods::as(x, "CsparseMatrix"), methods::as(x, "RsparseMatrix"),
                methods::as(x, "TsparseMatrix"))
  data <- list(gbt_data(x), gbt_data(forms[[3]], page_rows = 700))
  weighted <- list(gbt_data(x, weight = w), gbt_data(forms[[4]], weight = w)) # weights count when cuts are chosen
  settings <- list(list(y = y), list(y = y > 1, weights = w, subsample = 0.7, seed = 1),
                   list(y = cut(y, 5), grow_policy = "lossguide", max_leaves = 9),
                   list(y = floor(abs(y)), objective = "poisson", offset = m$o[1:5000], colsample_bynode = 0.5,
                        seed = 2))
  for (setting in settings) {
    with_data <- c(forms, if (is.null(setting$weights)) data else weighted)
    states <- lapply(with_data, function(form) do.call(gbt_train, c(list(form, nrounds = 4), setting))$state)
    expect_length(unique(states), 1)
  }
  model <- gbt_train(x, y, nrounds = 10)
  for (form in forms) {
    for (type in c("link", "leaf")) expect_identical(predict(model, form, type = type), predict(model, x, type = type))
  }
})

test_that("integer, logical and double columns give the same trees", {
  skip_if_not_installed("Matrix")
  x <- withr::with_seed(4, matrix(rpois(3000 * 6, 0.4), 3000))
  y <- x[, 1] * x[, 2] + m$s[1:3000]
  same <- function(...) {
    models <- lapply(list(...), gbt_train, y, nrounds = 4)
    for (model in models) {
      expect_identical(as.data.frame(model), as.data.frame(models[[1]]))
      for (other in list(...)) expect_identical(predict(model, other), predict(models[[1]], list(...)[[1]]))
    }
  }
  double <- x + 0
  same(double, x, as.data.frame(x) |> stats::setNames(paste0("f", 1:6)), methods::as(double, "CsparseMatrix"))
  flag <- x > 0
  sparse <- methods::as(flag, "lMatrix")
  same(flag + 0, flag, flag + 0L, sparse, methods::as(sparse, "RsparseMatrix"), methods::as(sparse, "TsparseMatrix"),
       methods::as(methods::as(flag, "nMatrix"), "CsparseMatrix"))
})

# But for statistics of the response: in training they know the rows before alone.
test_that("predictions of training rows are the scores of training, bit by bit", {
  scores <- function(...) {
    seen <- NULL
    catch <- gbt_metric("catch", function(pred, label) {
      seen <<- pred
      0
    }, type = "link")
    model <- gbt_train(m$x, ..., nrounds = 6, eval_metric = catch, eval_train = TRUE, threads = 2)
    list(model = model, seen = seen)
  }
  for (args in list(list(number, seed = 1, subsample = 0.5), list(binary, max_bin = 1000), list(class),
                    list(number, num_parallel_tree = 3, colsample_bynode = 0.5, seed = 1),
                    list(number, monotone = c(a = 1), grow_policy = "lossguide", max_leaves = 20))) {
    run <- do.call(scores, c(args, cat_method = "sets"))
    expect_identical(predict(run$model, m$x, type = "link"), run$seen, ignore_attr = TRUE)
  }
  run <- scores(count, objective = "poisson", offset = m$o, cat_method = "sets")
  expect_identical(predict(run$model, m$x, type = "link", offset = m$o), run$seen)
})

test_that("predictions do not depend on how rows come together, nor on threads and instructions", {
  model <- gbt_train(m$x, class, nrounds = 12, threads = 1)
  for (type in c("link", "response", "leaf")) {
    all <- circumstance(function(...) predict(model, m$x, type = type, threads = 1), 1, NULL, "scalar")
    for (simd in setdiff(names(enums$simd), "auto")) {
      for (threads in c(1, 2, 8)) {
        again <- circumstance(function(threads, ...) predict(model, m$x, type = type, threads = threads), threads, NULL,
                              simd)
        expect_true(identical(again, all))
      }
    }
    chunks <- split(seq_len(7000), rep(1:9, c(1, 2, 63, 64, 65, 1000, 5, 800, 5000)))
    parts <- lapply(chunks, function(rows) predict(model, m$x[rows, ], type = type))
    expect_identical(do.call(rbind, unname(parts)), all, ignore_attr = TRUE)
    shuffled <- withr::with_seed(1, sample(7000))
    expect_identical(predict(model, m$x[shuffled, ], type = type)[order(shuffled), ], all, ignore_attr = TRUE)
    for (i in c(1:5, 17, 7000)) expect_identical(predict(model, m$x[i, ], type = type)[1, ], all[i, ])
  }
})

test_that("real data: no circumstance shows", {
  skip_on_cran()
  w <- readRDS(real_data("weatherAUS.rds"))
  w <- as.data.frame(w)[seq(1, nrow(w), 9), ]
  w <- w[!is.na(w$RainTomorrow), setdiff(names(w), "RISK_MM")]
  rain <- function(...) {
    gbt_train(RainTomorrow ~ ., w, nrounds = 5, valid = 0.2, seed = 1, colsample_bytree = 0.8, ...)
  }
  expect_circumstances_do_not_show(rain)
  d <- readRDS(real_data("diamonds.rds"))
  price <- function(...) gbt_train(price ~ ., d, nrounds = 5, grow_policy = "depthwise", max_depth = 8, ...)
  expect_circumstances_do_not_show(price)
})
