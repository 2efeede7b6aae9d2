# Several quantiles in one model.

made <- function(n, seed = 1) {
  withr::with_seed(seed, {
    d <- data.frame(x = runif(n), z = runif(n), f = factor(sample(letters[1:3], n, TRUE)))
    d$y <- sin(6 * d$x) + rnorm(n) * (0.2 + d$x)
    d
  })
}
d <- made(600)
levels <- c(0.1, 0.5, 0.9)
of <- function(levels, ..., data = d, nrounds = 15) {
  gbt_train(y ~ ., data, objective = "quantile", quantile_alpha = levels, nrounds = nrounds, seed = 1, threads = 1, ...)
}
pinball <- function(q, y, a) mean(ifelse(y > q, a * (y - q), (1 - a) * (q - y)))
plain <- list(colsample_bytree = 1, random_strength = 0, grad_bits = 32) # nothing depends on the number of a tree
m <- of(levels, params = plain)

test_that("each level is the model of this level alone; responses are sorted by row", {
  link <- predict(m, d, type = "link")
  expect_identical(dimnames(link), list(NULL, c("q0.1", "q0.5", "q0.9")))
  for (k in 1:3) expect_identical(unname(link[, k]), predict(of(levels[k], params = plain), d))
  got <- predict(m, d)
  expect_identical(unname(got), t(apply(unname(link), 1, sort)))
  expect_identical(colnames(got), colnames(link))
  rough <- of(c(0.45, 0.5, 0.55), nrounds = 60, max_depth = 6, eta = 0.3) # scores that cross
  expect_gt(mean(apply(predict(rough, d, type = "link"), 1, is.unsorted)), 0.05)
  expect_false(any(apply(predict(rough, made(2000, 2)), 1, is.unsorted)))
  expect_identical(dim(predict(m, d[1, ])), c(1L, 3L))
  one <- of(0.9)
  expect_same_bytes(of(c(q = 0.9))$state, one$state)
  expect_null(dim(predict(one, d)))
})

test_that("levels may be in any order and as text of other packages", {
  expect_same_bytes(of(c(0.9, 0.1, 0.5), params = plain)$state, m$state)
  expect_identical(m$params$quantile_alpha, levels)
  text <- gbt_train(y ~ ., d, objective = "MultiQuantile:alpha=0.1,0.5,0.9", nrounds = 15, seed = 1, threads = 1,
                    params = plain)
  expect_same_bytes(text$state, m$state)
  expect_output(print(m), "quantile, quantile_alpha 0.1, 0.5, 0.9", fixed = TRUE)
})

test_that("metrics are the mean pinball loss, that of one level, and the share between the outer ones", {
  metrics <- c("quantile@0.5", "coverage", "quantile")
  log <- of(levels, eval_metric = metrics, eval_train = TRUE)
  q <- predict(log, d)
  want <- c(pinball(q[, 2], d$y, 0.5), mean(d$y >= q[, 1] & d$y <= q[, 3]),
            mean(c(pinball(q[, 1], d$y, 0.1), pinball(q[, 2], d$y, 0.5), pinball(q[, 3], d$y, 0.9))))
  expect_equal(unlist(log$evaluation_log[15, -1], use.names = FALSE), want, tolerance = 1e-14)
  expect_equal(gbt_evaluate(log, d, metrics = metrics, threads = 1)$estimate, want, tolerance = 1e-14)
  expect_identical(gbt_evaluate(log, d, threads = 1)$metric, c("quantile", "coverage"))
  w <- rep(1:2, 300)
  twice <- gbt_evaluate(log, d[rep(seq_len(600), w), ], threads = 1)$estimate
  expect_equal(gbt_evaluate(log, d, weights = w, threads = 1)$estimate, twice, tolerance = 1e-14)
  own <- gbt_metric("width", function(pred, label, weight) mean(pred[, 3] - pred[, 1]))
  expect_equal(of(levels, eval_metric = own)$evaluation_log$train_width[15], mean(q[, 3] - q[, 1]))
})

test_that("early stopping, folds, saving, going on, updating and refitting know levels", {
  early <- of(levels, nrounds = 300, eta = 0.3, valid = 0.3, early_stopping_rounds = 5)
  expect_lt(early$best_round, 300)
  expect_named(early$evaluation_log, c("round", "valid_quantile"))
  file <- withr::local_tempfile()
  gbt_save(m, file)
  expect_identical(predict(gbt_load(file), d), predict(m, d))
  expect_identical(predict(unserialize(serialize(m, NULL)), d), predict(m, d))
  on <- gbt_train(y ~ ., d, objective = "quantile", init_model = m, nrounds = 5, params = plain, seed = 1, threads = 1)
  expect_same_bytes(on$state, of(levels, params = plain, nrounds = 20)$state)
  expect_identical(update(m, data = d, nrounds = 3)$params$quantile_alpha, levels)
  expect_identical(predict(gbt_refit(m, data = d, threads = 1), d), predict(m, d))
  cv <- gbt_cv(y ~ ., d, objective = "quantile", quantile_alpha = levels, nrounds = 5, folds = 3, seed = 1, threads = 1)
  expect_identical(colnames(cv$predictions), c("q0.1", "q0.5", "q0.9"))
  mean <- of(levels, nrounds = 4, ensemble = 2)
  expect_identical(mean$params$quantile_alpha, levels)
  expect_error(gbt_train(y ~ ., d, objective = "quantile", quantile_alpha = c(0.1, 0.9), init_model = m, nrounds = 1),
               "0.1, 0.5, 0.9", class = "gbt_error_argument")
})

test_that("offsets, weights, contributions and bins have a column for each level", {
  offset <- matrix(c(0, 1, 2), 600, 3, byrow = TRUE)
  exact <- transform(d, y = round(y * 2^20) / 2^20) # sums of such numbers are exact
  moved <- of(levels, data = exact, params = plain, eta = 0.5, offset = offset)
  still <- of(levels, data = exact, params = plain, eta = 0.5)
  expect_identical(predict(moved, d, type = "link", offset = offset), predict(still, d, type = "link"))
  expect_error(of(levels, offset = rep(1, 600)), "600 x 3", class = "gbt_error_data")
  contrib <- predict(m, d[1:5, ], type = "contrib")
  expect_identical(dimnames(contrib)[[3]], c("q0.1", "q0.5", "q0.9"))
  expect_equal(apply(contrib, c(1, 3), sum), predict(m, d[1:5, ], type = "link"), ignore_attr = TRUE)
  bins <- gbt_data(d[c("x", "z", "f")], label = d$y, threads = 1)
  same <- gbt_train(bins, objective = "quantile", quantile_alpha = levels, nrounds = 15, seed = 1, threads = 1,
                    params = plain)
  expect_identical(predict(same, bins, threads = 1), predict(m, d))
})

test_that("pairs of levels are intervals, and conformal ones hold what they promise", {
  q <- predict(m, d)
  expect_identical(predict(m, d, type = "interval"), data.frame(lower = unname(q[, 1]), upper = unname(q[, 3])))
  expect_identical(predict(m, d, type = "interval", level = 0.8), predict(m, d, type = "interval"))
  expect_identical(predict(m, d, type = "quantile", probs = c(0.9, 0.1)), q[, c(3, 1)])
  expect_identical(predict(m, d, type = "quantile", probs = 0.5), q[, 2])
  fit <- gbt_conformal(m, made(1000, 2), threads = 1)
  expect_identical(fit$method, "quantile")
  new <- made(4000, 3)
  p <- predict(fit, new, level = 0.7, threads = 1)
  expect_equal(mean(new$y >= p$lower & new$y <= p$upper), 0.7, tolerance = 0.06)
  expect_identical(p$estimate, unname(predict(m, new)[, 2]))
  rows <- made(1000, 2)
  bounds <- predict(m, rows)
  expect_identical(fit$scores, unname(pmax(bounds[, 1] - rows$y, rows$y - bounds[, 3])))
})

test_that("a fan has means of the quantiles by groups of rows, and shares below them", {
  fan <- gbt_fan(m, d, "x", bins = 7, threads = 1)
  q <- predict(m, d)
  group <- gbt:::row_groups(d$x, 7)
  expect_equal(fan$x, as.vector(tapply(d$x, group, mean)))
  expect_equal(fan$q0.9, as.vector(tapply(q[, 3], group, mean)))
  expect_identical(sum(fan$rows), 600L)
  expect_equal(unname(attr(fan, "below")), unname(colMeans(d$y <= q)))
  expect_output(print(fan), "between the outer ones")
  expect_identical(attr(gbt_fan(m, d, threads = 1), "name"), "quantile 0.5")
  in_sizes(plot(fan), function(record, size) {
    expect_identical(labels_of(record, "key"), c("0.1 to 0.9", "0.5", "observed", "outside"))
    expect_identical(labels_of(record, "x title"), "x")
  })
  for (bins in c(1, 2, 600, 5000)) drawn(expect_no_error(plot(gbt_fan(m, d, "z", bins = bins, threads = 1))))
  drawn(expect_no_error(plot(gbt_fan(of(c(0.2, 0.8)), d[c("x", "z", "f")], "x", threads = 1))))
})

test_that("what has no meaning is refused", {
  expect_snapshot(error = TRUE, {
    of(c(0.1, 0.1))
    of(c(0.1, 1))
    of((1:100) / 101)
    of(levels, eval_metric = "rmse")
    of(levels, eval_metric = "quantile@0.3")
    of(levels, sampling_method = "mvs", subsample = 0.5)
    predict(m, d, type = "interval", level = 0.7)
    predict(m, d, type = "quantile", probs = 0.3)
    predict(of(0.5), d, type = "interval")
    predict(m, d, level = 0.8)
    gbt_fan(of(0.5), d)
    gbt_fan(m, d, "f")
    gbt_fan(m, d, "a")
  })
})

test_that("levels that are all new within computed terms give the warning, too", {
  d <- data.frame(f = factor(rep(c("a", "b", "c"), 20)), w = sin(1:60))
  d$y <- as.integer(d$f) + d$w
  new <- transform(d, f = factor(paste0("new", f)))
  few <- list(nrounds = 3, threads = 1, min_data_in_leaf = 1)
  fit <- function(formula) do.call(gbt_train, c(list(formula, d), few))
  for (formula in list(y ~ as.integer(f) + w, y ~ (f == "c") + w, y ~ w + offset(as.numeric(f %in% "c")), y ~ f + w)) {
    m <- fit(formula)
    expect_warning(predict(m, new), "column `f` is a level", class = "gbt_warning_unseen")
    expect_warning(predict(m, transform(new, f = as.character(f))), class = "gbt_warning_unseen")
    expect_no_warning(predict(m, new[1:19, ]))
    expect_no_warning(predict(m, new, unseen = "prior"))
    expect_no_warning(predict(m, rbind(new, d[1, ])))
    expect_no_warning(predict(m, transform(new, f = factor(NA, levels = "a"))))
    expect_no_warning(predict(m, d))
  }
  m <- gbt_train(y ~ as.integer(f) + w, transform(d, y = w), nrounds = 1, grow_policy = "depthwise", max_depth = 1,
                 colsample_bytree = 1, threads = 1) # no tree looks at f
  expect_no_warning(predict(m, new))
})
