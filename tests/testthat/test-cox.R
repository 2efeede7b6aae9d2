# Cox's partial likelihood: objective "cox", its metrics, baseline hazard and curves.

# A Surv object without package survival: gbt reads only the class and the attributes.
surv <- function(time, status, start = NULL) {
  m <- cbind(start = start, time = time, status = status)
  structure(m, type = if (is.null(start)) "right" else "counting", class = "Surv")
}

a <- data.frame(time = c(2, 3, 3, 3, 5, 6, 6, 8), status = c(1, 1, 1, 0, 1, 1, 0, 1),
                s = c(.5, -.2, .3, 0, 1, -.7, .1, -1.2), w = c(1, 2, 1, .5, 1, 3, 1, 1),
                entry = c(0, 0, 1, 0, 2.5, 3, 0, 5))

# A model whose scores are exactly `a$s`, as offsets: no split has a gain.
at_scores <- function(y, weights = NULL, ties = "efron") {
  suppressWarnings(gbt_train(a["s"], y, objective = "cox", ties = ties, offset = a$s, weights = weights, nrounds = 1,
                             gamma = 1e9, eta = 1e-12, lambda = 1e9, threads = 1), classes = "gbt_warning")
}

value <- function(model, y, metric, weights = NULL) {
  gbt_evaluate(model, a["s"], y, offset = a$s, weights = weights, metrics = metric, threads = 1)$estimate
}

made <- function(n = 400) {
  x <- data.frame(a = sin(seq_len(n)), b = cos(seq_len(n) * 2.7), c = sin(seq_len(n) * 5.1))
  u <- (seq_len(n) * 0.6180339887) %% 1
  time <- round(-log(u) / exp(x$a + 0.5 * x$b), 1) + 0.1
  list(x = x, time = pmin(time, 3), status = as.numeric(time < 3 & seq_len(n) %% 5 != 0))
}

test_that("loss and concordance are those of coxph() and concordance()", {
  y <- surv(a$time, a$status)
  m <- at_scores(y)
  expect_equal(value(m, y, "cox_nloglik"), 7.474618674647 / 6, tolerance = 1e-9)
  expect_equal(value(at_scores(y, ties = "breslow"), y, "cox_nloglik"), 7.624504543671 / 6, tolerance = 1e-9)
  expect_equal(value(at_scores(y, a$w), y, "cox_nloglik", a$w), 14.346907693250 / sum((a$w * a$status)),
               tolerance = 1e-9)
  expect_equal(value(m, y, "concordance"), 16 / 22, tolerance = 1e-12)
  expect_equal(value(m, y, "concordance", a$w), 0.75, tolerance = 1e-12)
  late <- surv(a$time, a$status, a$entry)
  expect_equal(value(at_scores(late), late, "concordance"), 9 / 14, tolerance = 1e-12)
})

test_that("the baseline hazard and curves are Breslow's", {
  y <- surv(a$time, a$status)
  m <- at_scores(y, ties = "breslow")
  expect_equal(m$baseline$time, c(2, 3, 5, 6, 8))
  expect_equal(m$baseline$hazard, c(.105948554781, .362693836697, .579086336198, 1.104586098173, 4.424703020909),
               tolerance = 1e-9)
  one <- function(...) as.vector(predict(m, data.frame(s = .3), offset = .3, threads = 1, ...))
  expect_equal(one(type = "survival", times = c(0, 3, 5.5)), c(1, .612880398896, .457634343094), tolerance = 1e-9)
  expect_equal(one(type = "cumhaz", times = 5.5), .579086336198 * exp(.3), tolerance = 1e-9)
  expect_equal(one(type = "quantile"), 5)
  expect_equal(one(type = "quantile", probs = 0.999), NA_real_)
  expect_equal(one(type = "response"), exp(.3), tolerance = 1e-9)
  S <- exp(-c(0, m$baseline$hazard[1:4]) * exp(.3))
  expect_equal(one(type = "time"), sum(c(2, 1, 2, 1, 2) * S), tolerance = 1e-9)
})

test_that("loss, concordance and baseline are those of package survival", {
  skip_if_not_installed("survival")
  d <- made()
  y <- survival::Surv(d$time, d$status)
  m <- gbt_train(d$x, y, nrounds = 20, threads = 2)
  s <- predict(m, d$x, type = "link", threads = 2)
  fit <- survival::coxph(y ~ offset(s))
  got <- gbt_evaluate(m, d$x, y, metrics = c("concordance", "cox_nloglik"), threads = 2)$estimate
  expect_equal(got[1L], unname(survival::concordance(y ~ s, reverse = TRUE)$concordance), tolerance = 1e-12)
  expect_equal(got[2L], -fit$loglik[1L] / sum(d$status), tolerance = 1e-10)
  hazard <- survival::basehaz(fit, centered = FALSE)
  expect_equal(m$baseline$hazard, hazard$hazard[match(m$baseline$time, hazard$time)] * exp(-mean(s)), tolerance = 1e-8)
})

test_that("threads, pages, entry times before all times and shifted offsets change no trees", {
  d <- made()
  y <- surv(d$time, d$status)
  train <- function(y, ...) gbt_train(d$x, y, nrounds = 5, ...)
  m <- train(y, threads = 1)
  expect_identical(train(y, threads = 3)$state, m$state)
  expect_identical(train(y, threads = 2, page_rows = 64)$state, m$state)
  link <- function(m, offset = NULL) predict(m, d$x, type = "link", offset = offset, threads = 1)
  expect_identical(link(train(surv(d$time, d$status, 0 * d$time), threads = 1)), link(m))
  zero <- train(y, threads = 1, offset = 0 * d$time)
  two <- train(y, threads = 1, offset = 0 * d$time + 2)
  expect_equal(link(two, 0 * d$time), link(zero, 0 * d$time), tolerance = 1e-12)
  expect_equal(two$baseline$hazard * exp(2), zero$baseline$hazard, tolerance = 1e-9)
})

test_that("rows of a tie get the same gradients in any order of the rows", {
  # one leaf a row, as in XGBoost's trap: rows 2 and 3 are alike, and so are their steps
  x <- data.frame(id = seq_len(8))
  y <- surv(a$time, a$status)
  m <- gbt_train(x, y, nrounds = 1, eta = 1, lambda = 0, gamma = 0, min_child_weight = 0, max_depth = 8,
                 colsample_bytree = 1, grow_policy = "depthwise", ties = "breslow", threads = 1)
  s <- predict(m, x, type = "link", threads = 1)
  expect_equal(s[2L], s[3L])
})

test_that("a formula has no features of its response; early stopping keeps the baseline of the best round", {
  skip_if_not_installed("survival")
  d <- made()
  all <- cbind(d$x, t = d$time, e = d$status)
  Surv <- survival::Surv
  m <- gbt_train(Surv(t, e) ~ ., all, nrounds = 3, threads = 1)
  expect_identical(m$objective, "cox")
  expect_identical(m$feature_names, c("a", "b", "c"))
  expect_equal(predict(m, d$x, threads = 1), exp(predict(m, d$x, type = "link", threads = 1)), tolerance = 1e-14)
  valid <- gbt_train(Surv(t, e) ~ ., all, nrounds = 30, valid = 0.3, early_stopping_rounds = 3, threads = 1)
  expect_identical(names(valid$evaluation_log), c("round", "valid_concordance", "valid_cox_nloglik"))
  expect_equal(valid$baseline$rounds, valid$best_round)
  expect_error(predict(valid, d$x, type = "survival", times = 1, trees = 1, threads = 1),
               class = "gbt_error_unsupported")
})

test_that("a model with its baseline is saved and loaded, and a slice has none that fits", {
  d <- made()
  m <- gbt_train(d$x, surv(d$time, d$status), nrounds = 4, threads = 1)
  file <- tempfile()
  on.exit(unlink(file))
  gbt_save(m, file)
  again <- gbt_load(file)
  expect_identical(again$baseline, m$baseline)
  curve <- function(m) predict(m, d$x, type = "survival", times = 1:2, threads = 1)
  expect_identical(curve(again), curve(m))
  expect_error(curve(m[1:2]), class = "gbt_error_unsupported")
})

test_that("responses that do not fit are refused", {
  d <- made(50)
  expect_error(gbt_train(d$x, d$time, objective = "cox", nrounds = 1), "which times are those of events",
               class = "gbt_error_data")
  expect_error(gbt_train(d$x, surv(d$time, 0 * d$status), nrounds = 1), "has no event", class = "gbt_error_data")
  left <- surv(d$time, d$status)
  attr(left, "type") <- "left"
  expect_error(gbt_train(d$x, left, objective = "cox", nrounds = 1), "censored on the right", class = "gbt_error_data")
  late <- surv(d$time, d$status, d$time - 0.1)
  expect_error(gbt_train(d$x, late, objective = "aft", nrounds = 1), "entry times", class = "gbt_error_data")
  broken <- late
  broken[3L] <- NA
  expect_error(gbt_train(d$x, broken, nrounds = 1), "row 3", class = "gbt_error_data")
  expect_error(gbt_train(d$x, surv(d$time, d$status), objective = "squared_error", nrounds = 1), "censored",
               class = "gbt_error_data")
  expect_error(gbt_train(d$x, surv(d$time, d$status), ties = "exact", nrounds = 1), class = "gbt_error_argument")
})
