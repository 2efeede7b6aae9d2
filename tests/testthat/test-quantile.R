x <- data.frame(a = rep(c(0, 1), each = 50), b = seq_len(100))
set.seed(3)
y <- c(rnorm(50), rnorm(50, 4))

# One tree, which splits on a, and no shrinkage.
stump <- function(objective, ..., label = y) {
  gbt_train(x["a"], label, objective = objective, nrounds = 1, max_depth = 1, eta = 1, lambda = 0, threads = 1, ...)
}

test_that("leaves are quantiles of type 1", {
  of <- function(p) ave(y, x$a, FUN = function(v) quantile(v, p, type = 1))
  for (p in c(0.05, 0.25, 0.5, 0.73, 0.9)) {
    expect_equal(predict(stump("quantile", quantile_alpha = p), x), of(p), tolerance = 1e-14)
  }
  expect_equal(predict(stump("absolute_error"), x), of(0.5), tolerance = 1e-14)
  expect_equal(predict(stump("absolute_error", max_delta_step = 0.1), x) - quantile(y, 0.5, type = 1, names = FALSE),
               rep(c(-0.1, 0.1), each = 50), tolerance = 1e-13)
})

test_that("weights count as copies of rows", {
  w <- rep_len(c(0, 1, 3, 2), 100)
  of <- function(p) {
    ave(seq_along(y), x$a, FUN = function(i) quantile(rep(y[i], w[i]), p, type = 1, names = FALSE))
  }
  for (p in c(0.3, 0.8)) {
    expect_equal(predict(stump("quantile", quantile_alpha = p, weights = w), x), of(p), tolerance = 1e-14)
  }
  big <- y * 10
  m <- stump("mape", label = big, weights = w)
  p <- unique(predict(m, x))
  share <- function(a) {
    i <- x$a == a
    v <- w[i] / pmax(1, abs(big[i]))
    at <- predict(m, x)[i][1]
    c(sum(v[big[i] < at - 1e-9]), sum(v[big[i] <= at + 1e-9])) / sum(v)
  }
  expect_length(p, 2L)
  for (a in 0:1) {
    expect_lt(share(a)[1], 0.5)
    expect_gte(share(a)[2], 0.5)
  }
})

test_that("a quantile of 0.9 covers about 0.9 of new rows", {
  set.seed(4)
  made <- function(n) {
    d <- data.frame(a = runif(n), b = runif(n))
    d$y <- 3 * d$a + (0.5 + d$b) * rexp(n)
    d
  }
  m <- gbt_train(y ~ ., made(4000), objective = "quantile", quantile_alpha = 0.9, nrounds = 60, max_depth = 3,
                 eta = 0.1, threads = 1)
  new <- made(4000)
  expect_equal(mean(new$y <= predict(m, new)), 0.9, tolerance = 0.03)
  expect_gt(mean(new$y <= 3 * new$a + (0.5 + new$b) * log(10)), 0.85)
  expect_gt(cor(predict(m, new), 3 * new$a + (0.5 + new$b) * log(10)), 0.95)
})

test_that("default metrics are those of the objectives, with their level", {
  of <- function(objective, ...) {
    m <- gbt_train(x, y, objective = objective, nrounds = 1, valid = list(x = x, y = y), threads = 1, ...)
    list(log = m$evaluation_log, error = y - predict(m, x))
  }
  q <- of("quantile", quantile_alpha = 0.8)
  expect_equal(q$log$valid_quantile, mean(ifelse(q$error > 0, 0.8, -0.2) * q$error), tolerance = 1e-12)
  a <- of("absolute_error")
  expect_equal(a$log$valid_mae, mean(abs(a$error)), tolerance = 1e-12)
  p <- of("mape")
  expect_equal(p$log$valid_mape, mean(abs(p$error) / pmax(1, abs(y))), tolerance = 1e-12)
})

test_that("other packages' ways to ask for quantiles are understood", {
  a <- stump("quantile", quantile_alpha = 0.9)
  expect_identical(predict(stump("Quantile:alpha=0.9"), x), predict(a, x))
  expect_identical(predict(stump("reg:quantileerror", quantile_alpha = 0.9), x), predict(a, x))
  expect_identical(stump("laplace")$objective, "absolute_error")
  expect_error(stump("quantile", quantile_alpha = list(0.1, 0.9)), "quantile_alpha", class = "gbt_error_argument")
  expect_error(stump("quantile", alpha = 0.9), "quantile_alpha", class = "gbt_error_argument")
})

test_that("quantiles keep to monotone constraints, in the response's own unit", {
  set.seed(6)
  n <- 3000
  d <- data.frame(a = runif(n), b = runif(n))
  y <- 1000 * (d$a + (d$b > 0.5)) + 200 * sin(30 * d$a) + 200 * rexp(n)
  ladder <- function(m, column) {
    at <- d[rep(1:30, each = 50), ]
    at[[column]] <- rep(seq(-0.1, 1.1, length.out = 50), 30)
    matrix(predict(m, at), 50)
  }
  for (objective in c("quantile", "absolute_error", "mape")) {
    for (policy in c("depthwise", "lossguide", "symmetric")) {
      of <- function(...) {
        gbt_train(d, y, objective = objective, nrounds = 30, max_depth = 4, grow_policy = policy, threads = 1, ...)
      }
      free <- of()
      rising <- of(monotone = c(a = 1, b = 1))
      expect_gt(sum(diff(ladder(free, "a")) < 0), 0)
      expect_true(all(diff(ladder(rising, "a")) >= 0) && all(diff(ladder(rising, "b")) >= 0))
      expect_lt(mean(abs(y - predict(rising, d))), 0.6 * mean(abs(y - median(y))))
      expect_true(all(diff(ladder(of(monotone = c(a = -1)), "a")) <= 0))
    }
  }
})

test_that("levels share trees, whose leaves are quantiles of residuals for each level", {
  set.seed(1)
  d <- data.frame(x = runif(600), z = runif(600))
  d$y <- 5 * sin(6 * d$x) + rnorm(600) * exp(1.5 * d$z)
  alpha <- c(0.1, 0.5, 0.9)
  of <- function(..., data = d, nrounds = 20, threads = 1) {
    gbt_train(y ~ ., data, objective = "quantile", quantile_alpha = alpha, multi_strategy = "multi_output_tree",
              nrounds = nrounds, eta = 0.2, max_depth = 3, seed = 2, threads = threads, ...)
  }
  m <- of()
  nodes <- as.data.frame(m)
  expect_identical(max(nodes$tree), 20L)
  expect_identical(colnames(nodes$value), c("q0.1", "q0.5", "q0.9"))
  expect_identical(of(threads = 2)$state, m$state)
  # the first tree's leaves by hand
  base <- predict(m, d, "link", trees = 0)
  step <- predict(m, d, "link", trees = 1) - base
  leaf <- predict(m, d, "leaf", trees = 1)[, 1]
  for (k in 1:3) {
    residual <- d$y - base[, k]
    # a node without a gain for this level keeps the value of its parent
    by_leaf <- tapply(residual, leaf, function(r) sort(r)[ceiling(alpha[k] * length(r))])
    hit <- abs(step[, k] - 0.2 * by_leaf[as.character(leaf)]) < 1e-12
    expect_gt(mean(hit), 0.5)
    expect_lte(length(unique(step[!hit, k])), length(unique(leaf)))
  }
  p <- predict(m, d)
  expect_false(any(apply(p, 1, is.unsorted)))
  pinball <- function(p) {
    mean(sapply(1:3, function(k) mean(pmax(alpha[k] * (d$y - p[, k]), (alpha[k] - 1) * (d$y - p[, k])))))
  }
  expect_lt(pinball(p), 0.7 * pinball(base))
  weighted <- of(weights = rep(1:2, 300))
  expect_false(identical(weighted$state, m$state))
  file <- withr::local_tempfile()
  gbt_save(m, file)
  expect_identical(predict(gbt_load(file), d), p)
  expect_equal(rowSums(predict(m, d[1:5, ], "contrib")[, , 3]), unname(predict(m, d[1:5, ], "link")[, 3]),
               tolerance = 1e-12)
  folder <- withr::local_tempfile()
  paged <- gbt_data(d[c("x", "z")], label = d$y, path = folder, page_rows = 64, threads = 1)
  on_disk <- gbt_train(paged, objective = "quantile", quantile_alpha = alpha, multi_strategy = "multi_output_tree",
                       nrounds = 20, eta = 0.2, max_depth = 3, seed = 2, threads = 2)
  expect_identical(predict(on_disk, d, "link"), predict(m, d, "link"))
  on <- gbt_train(y ~ ., d, init_model = of(nrounds = 15), nrounds = 5, eta = 0.2, max_depth = 3,
                  objective = "quantile", quantile_alpha = alpha, multi_strategy = "multi_output_tree", threads = 1)
  expect_identical(on$nrounds, 20L)
  expect_true(all(is.finite(predict(on, d))))
  expect_error(gbt_train(y ~ ., d, objective = "quantile", quantile_alpha = 0.5, multi_strategy = "multi_output_tree",
                         nrounds = 2), "several quantiles", class = "gbt_error_argument")
})

test_that("of very many rows none has levels that cross, and the sorted scores lose less", {
  d <- withr::with_seed(1, data.frame(x = runif(2000)))
  d$y <- withr::with_seed(2, rnorm(2000)) * d$x
  alpha <- 1:9 / 10
  m <- gbt_train(y ~ x, d, objective = "quantile", quantile_alpha = alpha, nrounds = 300, eta = 0.3, seed = 1,
                 threads = 1)
  n <- if (long_form()) 1e6 else 1e5
  p <- predict(m, data.frame(x = (seq_len(n) - 0.5) / n), threads = 2)
  expect_identical(sum(p[, -1] < p[, -9]), 0L)
  raw <- predict(m, d, "link")
  expect_gt(mean(apply(raw, 1, is.unsorted)), 0.01)
  expect_identical(unname(predict(m, d)), t(apply(unname(raw), 1, sort)))
  pinball <- function(p) mean(pmax(alpha * t(d$y - p), (alpha - 1) * t(d$y - p)))
  expect_lt(pinball(predict(m, d)), pinball(raw))
  expect_equal(gbt_evaluate(m, d, d$y, metrics = "quantile")$estimate, pinball(predict(m, d)), tolerance = 1e-12)
})
