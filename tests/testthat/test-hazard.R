# Objective "hazard": a hazard for each interval of time.

made <- function(n = 150) {
  i <- seq_len(n)
  d <- data.frame(a = sin(i), b = round(cos(i * 2.7), 1))
  d$time <- round(-log((i * 0.6180339887) %% 1) / exp(d$a), 2)
  d$status <- as.numeric(i %% 4 > 0)
  d$entry <- ifelse(i %% 3 == 0, d$time * 0.4, -1)
  d
}

ends <- c(0.2, 0.5, 1, 2)

train <- function(d, y = surv(d$time, d$status), ..., nrounds = 3) {
  gbt_train(d[c("a", "b")], y, objective = "hazard", ..., nrounds = nrounds, threads = 1)
}

# What is known of rows in intervals: 1, 0 or NA.
labels_of <- function(d, ends, entry = rep(-1, nrow(d))) {
  low <- c(0, ends[-length(ends)])
  vapply(seq_along(ends), function(k) {
    seen <- pmin(d$time, ends[k]) - pmax(entry, low[k])
    own <- ifelse(seen >= (ends[k] - low[k]) / 2, 0, NA)
    ifelse(d$status == 1 & d$time <= ends[k], ifelse(d$time > low[k] | k == 1, 1, NA), own)
  }, numeric(nrow(d)))
}

test_that("gradients are logistic losses of the intervals in which a row is at risk", {
  d <- made()
  w <- rep(c(1, 2, 0.5), length.out = nrow(d))
  for (entry in list(rep(-1, nrow(d)), d$entry)) {
    label <- labels_of(d, ends, entry)
    known <- !is.na(label)
    base <- qlogis(colSums(label * w, na.rm = TRUE) / colSums(known * w))
    own <- list(
      gradient = function(score, label_of_row) ifelse(known, plogis(score) - label, 0),
      hessian = function(score, label_of_row) ifelse(known, plogis(score) * plogis(-score), 0), n_outputs = length(ends)
    )
    values <- list(eta = 0.5, max_depth = 3, lambda = 1, min_child_weight = 0.1, grow_policy = "depthwise", seed = 1,
                   colsample_bytree = 1, random_strength = 0, weights = w, threads = 1)
    y <- if (all(entry == -1)) surv(d$time, d$status) else surv(d$time, d$status, pmin(entry, d$time - 0.001))
    m <- do.call(gbt_train, c(list(d[c("a", "b")], y, objective = "hazard", breaks = ends, nrounds = 3), values))
    twin <- do.call(gbt_train, c(list(d[c("a", "b")], d$time, objective = own, nrounds = 3,
                                      offset = matrix(base, nrow(d), length(ends), byrow = TRUE)), values))
    link <- predict(m, d, type = "link")
    expect_equal(unname(link), unname(predict(twin, d, type = "link", offset = matrix(base, nrow(d), 4, TRUE))),
                 tolerance = 1e-5)
    p <- predict(m, d)
    expect_identical(dimnames(p), list(NULL, c("(0,0.2]", "(0.2,0.5]", "(0.5,1]", "(1,2]")))
    expect_equal(unname(p), unname(plogis(link)), tolerance = 1e-12)
    loss <- sum(w * ifelse(known, -log(ifelse(label == 1, p, 1 - p)), 0)) / sum(w)
    judged <- gbt_evaluate(m, d, y, weights = w)
    expect_identical(judged$metric, c("hazard_nloglik", "concordance"))
    expect_equal(judged$estimate[1], loss, tolerance = 1e-12)
  }
})

test_that("curves, quantiles and times follow from the hazards", {
  d <- made(60)
  m <- train(d, breaks = ends)
  p <- predict(m, d)
  S <- cbind(1, t(apply(1 - p, 1, cumprod))) # at 0 and at the ends
  expect_equal(unname(predict(m, d, type = "survival", times = c(0, ends))[, ]), unname(S), tolerance = 1e-12)
  expect_equal(predict(m, d, type = "survival", times = c(0.35, 1.25, 99))[, ],
               cbind("0.35" = sqrt(S[, 2] * S[, 3]), "1.25" = S[, 4]^0.75 * S[, 5]^0.25, "99.00" = S[, 5]),
               tolerance = 1e-12)
  expect_equal(predict(m, d, type = "cumhaz", times = 1.5), -log(predict(m, d, type = "survival", times = 1.5)),
               tolerance = 1e-12)
  area <- vapply(1:3, function(i) {
    curve <- function(t) predict(m, d[i, ], type = "survival", times = sort(t))[1, rank(t)]
    sum(mapply(function(a, b) integrate(curve, a, b)$value, c(0, ends[-4]), ends))
  }, 0)
  expect_equal(predict(m, d[1:3, ], type = "time"), area, tolerance = 1e-6)
  q <- predict(m, d, type = "quantile", probs = c(0.05, 0.5, 0.99))
  expect_identical(is.na(q[, 3]), S[, 5] > 0.01)
  for (i in which(!is.na(q[, 2]))[1:5]) {
    expect_equal(predict(m, d[i, ], type = "survival", times = q[i, 1:2])[1, ], c(0.95, 0.5), tolerance = 1e-9,
                 ignore_attr = TRUE)
  }
  expect_equal(gbt:::risk_of_scores(m, predict(m, d, type = "link")),
               log(rowSums(predict(m, d, type = "cumhaz", times = ends))), tolerance = 1e-12)
  expect_identical(dimnames(predict(m, d[1:2, ], type = "contrib"))[[3]], colnames(p))
  expect_identical(nrow(predict(m, d[0, ], type = "survival", times = 1:2)), 0L)
  brier <- gbt_curve(m, d, y = surv(d$time, d$status), type = "brier", times = c(0.3, 1.1))$brier
  of_metric <- gbt_evaluate(m, d, surv(d$time, d$status), metrics = c("brier_survival@0.3", "brier_survival@1.1"))
  expect_equal(of_metric$estimate, brier, tolerance = 1e-12)
})

test_that("intervals are quantiles of the times of events, or given", {
  d <- made()
  events <- sort(d$time[d$status == 1 & d$time > 0])
  expect_identical(train(d)$params$breaks, unique(unname(quantile(events, 1:10 / 10, type = 1))))
  expect_identical(gbt:::settle_breaks(100L, structure(1:100, fields = list(event = rep(1, 100)), class = "gbt_times")),
                   as.double(1:100))
  expect_message(many <- train(d, breaks = 60), "`breaks = 60` is one number, so it is the number of intervals")
  expect_output(print(summary(many)), "\\.\\.\\., [0-9.]+ \\([0-9]+ numbers\\)")
  expect_no_message(m <- train(d, breaks = 4))
  expect_identical(m$params$breaks, unname(quantile(events, 1:4 / 4, type = 1)))
  expect_identical(m$n_outputs, 4L)
  same <- function(other) expect_identical(predict(other, d, threads = 1), predict(m, d, threads = 1))
  same(train(d, breaks = m$params$breaks))
  same(train(d, params = list(breaks = paste(m$params$breaks, collapse = ","))))
  same(train(d, params = m$params))
  same(gbt_refit(m, x = d[c("a", "b")], y = surv(d$time, d$status)))
  file <- tempfile()
  on.exit(unlink(file))
  gbt_save(m, file)
  again <- gbt_load(file)
  expect_identical(again$params$breaks, m$params$breaks)
  expect_identical(predict(again, d, type = "time"), predict(m, d, type = "time"))
  expect_output(print(again), "hazard, 4 intervals up to ", fixed = TRUE)
  on <- train(d, init_model = m, nrounds = 2)
  expect_identical(on$params$breaks, m$params$breaks)
  expect_identical(predict(on, d, trees = 3), predict(m, d))
  same(train(d, breaks = c(0, m$params$breaks))) # where the first one begins may be given
})

test_that("a cause is that of its events, and pages and threads do not show", {
  d <- made()
  d$what <- factor(c("none", "a", "b")[ifelse(d$status == 0, 1, 2 + seq_along(d$status) %% 2)], c("none", "a", "b"))
  both <- structure(cbind(time = d$time, status = as.numeric(d$what) - 1), type = "mright", states = c("a", "b"),
                    class = "Surv")
  m <- train(d, both, cause = "b", breaks = ends)
  other <- train(d, surv(d$time, d$what == "b"), breaks = ends)
  expect_identical(predict(m, d), predict(other, d))
  expect_output(print(m), "hazard, cause \"b\", 4 intervals up to 2", fixed = TRUE)
  expect_identical(gbt_evaluate(m, d, both)$estimate, gbt_evaluate(other, d, surv(d$time, d$what == "b"))$estimate)
  paged <- gbt_train(d[c("a", "b")], both, objective = "hazard", cause = "b", breaks = ends, nrounds = 3, threads = 2,
                     page_rows = 64)
  expect_identical(paged$state, m$state)
  data <- gbt_data(d[c("a", "b")], both, threads = 1)
  expect_identical(gbt_train(data, objective = "hazard", cause = "b", breaks = ends, nrounds = 3, threads = 1)$state,
                   m$state)
  cv <- gbt_cv(d[c("a", "b")], surv(d$time, d$status), objective = "hazard", breaks = 3, nrounds = 4, folds = 3,
               seed = 1, eval_metric = c("concordance", "ibs", "hazard_nloglik"), keep_models = TRUE, threads = 1)
  breaks <- lapply(cv$models, function(m) m$params$breaks)
  expect_identical(breaks, rep(breaks[1], 3)) # of all rows
  y <- surv(d$time, d$status)
  held <- do.call(rbind, lapply(1:3, function(k) predict(cv$models[[k]], d[cv$folds[[k]], ], "survival", times = 0.4)))
  of_all <- gbt_evaluate(cv, d[c("a", "b")], y, metrics = c("brier_survival@0.4", "ibs"))$estimate
  seen <- list(time = d$time, event = d$status, weight = rep(1, nrow(d)))
  seen <- lapply(seen, `[`, unlist(cv$folds))
  error <- gbt:::curve_of_brier(list(seen = seen, risk = seen$time, curves = function(t) held), 0.4)$brier
  expect_equal(of_all[1], error, tolerance = 1e-12)
  expect_false(is.na(of_all[2]))
})

test_that("what a hazard of intervals cannot be is refused", {
  d <- made(40)
  m <- train(d, breaks = ends)
  y <- surv(d$time, d$status)
  expect_snapshot(error = TRUE, {
    train(d, breaks = c(1, 1, 2))
    train(d, breaks = c(0, 1))
    train(d, breaks = 2.5)
    train(d, breaks = 1)
    train(d, breaks = "a")
    train(d, breaks = 1:1001)
    train(d, d$time)
    train(d, strata = d$status)
    train(d, surv(d$time - 1, d$status))
    train(d, surv(d$time, 0 * d$status))
    train(d, surv(0 * d$time, d$status))
    train(d, surv(0 * d$time + 3, d$status))
    train(d, init_model = m, breaks = c(1, 2))
    train(d, breaks = ends, leaf_iterations = 2)
    train(d, breaks = ends, boosting = "ordered")
    train(d, breaks = ends, eval_metric = "cox_nloglik")
    gbt_train(d[c("a", "b")], y, objective = "cox", breaks = 3)
    train(d, breaks = c(1e-5, 1e-4))
    train(d, surv(d$time + 9, d$status, d$time + 8), breaks = ends)
    train(d, breaks = ends, weights = 1 - d$status)
    train(d, breaks = ends, mask = d$status == 0)
    train(d, breaks = ends, offset = rep(0.1, 40))
    predict(m, d, type = "cif", times = 1)
    predict(m, d, type = "class")
    predict(replace(m, "params", list(replace(m$params, "breaks", list(c(2, 1, 3, 4))))), d)
  })
})
