# Cox's partial likelihood: objective "cox", its metrics, baseline hazard and curves.

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

test_that("events of weight 0 count for nothing, also where they are tied with others", {
  more <- rbind(a, transform(a, w = 0, status = 1, time = c(3, 3, 6, 2, 8, 4, 5, 9)))
  y <- surv(more$time, more$status)
  m <- at_scores(surv(a$time, a$status), weights = a$w)
  loss <- gbt_evaluate(m, more["s"], y, offset = more$s, weights = more$w, metrics = "cox_nloglik", threads = 1)
  expect_equal(loss$estimate, value(m, surv(a$time, a$status), "cox_nloglik", a$w), tolerance = 1e-14)
  its <- suppressWarnings(gbt_train(more["s"], y, offset = more$s, weights = more$w, nrounds = 1, gamma = 1e9,
                                    eta = 1e-12, lambda = 1e9, threads = 1), classes = "gbt_warning")$baseline
  expect_equal(its$hazard[its$time %in% m$baseline$time], m$baseline$hazard, tolerance = 1e-12)
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

# Graf's score by its definition.
brier_at <- function(t, S, valid) {
  m <- unclass(valid$y)
  time <- m[, "time"]
  event <- m[, "status"] == 1
  w <- valid$weights
  G <- function(t, before) {
    at <- sort(unique(time[!event]))
    at <- if (before) at[at < t] else at[at <= t]
    prod(vapply(at, function(u) {
      risk <- sum(w[time > u | (time == u & !event)])
      1 - sum(w[time == u & !event]) / risk
    }, 0))
  }
  terms <- ifelse(time > t, (1 - S)^2 / G(t, FALSE), ifelse(event, S^2 / vapply(time, G, 0, before = TRUE), 0))
  sum(w * terms) / sum(w)
}

test_that("metrics of curves and Uno's concordance have the reference numbers", {
  y <- surv(a$time, a$status)
  m <- at_scores(y, ties = "breslow")
  got <- value(m, y, c("brier@2", "brier@3", "brier@5", "brier@6", "ibs", "dcal@4", "uno_c"))
  want <- c(.102293573319, .238140832522, .148508637112, .107673224330, .171239400819, 1.461505443420, .735516372796)
  expect_equal(got, want, tolerance = 1e-11)
  a$s <- c(.5, .3, .3, 0, 1, -.7, .1, .3)
  got <- gbt_evaluate(m, a["s"], y, offset = a$s, metrics = c("uno_c", "uno_c@5.5"), threads = 1)$estimate
  expect_equal(got, c(.712846347607, .815561959654), tolerance = 1e-11)
})

test_that("a log, folds and searches have the metrics of curves that gbt_evaluate() gives", {
  d <- made()
  half <- seq_len(400) %% 2 == 0
  y <- surv(d$time[half], d$status[half])
  valid <- list(x = d$x[!half, ], y = surv(d$time[!half], d$status[!half]), weights = rep(1:2, 100))
  asked <- c("concordance", "uno_c", "uno_c@2", "brier@1.5", "dcal", "ibs")
  for (objective in c("cox", "aft")) {
    m <- gbt_train(d$x[half, ], y, objective = objective, nrounds = 20, valid = valid, eval_metric = asked,
                   early_stopping_rounds = 2, threads = 2)
    log <- m$evaluation_log[m$best_round, -1]
    expect_identical(names(log)[4L], "valid_brier_survival@1.5")
    got <- gbt_evaluate(m, valid$x, valid$y, weights = valid$weights, metrics = asked, threads = 1)
    expect_identical(got$estimate, unname(unlist(log)))
    expect_identical(m$best_round, which.min(m$evaluation_log$valid_ibs))
    S <- predict(m, valid$x, type = "survival", times = 1.5, threads = 1)[, 1]
    expect_equal(got$estimate[4L], brier_at(1.5, S, valid), tolerance = 1e-10)
    all <- gbt_evaluate(m, valid$x, valid$y, metrics = "all", threads = 1)
    expect_setequal(all$metric, c(if (objective == "cox") "cox_nloglik" else "aft_nloglik", "concordance", "uno_c",
                                  "ibs", "dcal"))
    cv <- gbt_cv(d$x, surv(d$time, d$status), objective = objective, nrounds = 3, folds = 2, eval_metric = "ibs",
                 keep_models = TRUE, threads = 1)
    expect_equal(cv$evaluation_log$test_ibs_mean[3L], mean(vapply(1:2, function(k) {
      rows <- cv$folds[[k]]
      gbt_evaluate(cv$models[[k]], d$x[rows, ], surv(d$time[rows], d$status[rows]), metrics = "ibs",
                   threads = 1)$estimate
    }, 0)))
    expect_error(gbt_evaluate(cv, d$x, surv(d$time, d$status), metrics = "ibs"), class = "gbt_error_unsupported")
    # scores of folds are those of the link
    score <- log(cv$predictions)
    by_hand <- gbt:::score_metrics(gbt:::resolve_metrics("concordance", gbt:::response_kind(cv$models[[1]])),
                                   cv$models[[1]], score, gbt:::given_labels(cv$models[[1]], d$x,
                                                                             surv(d$time, d$status), 400), NULL, 1L)
    expect_equal(gbt_evaluate(cv, d$x, surv(d$time, d$status), metrics = "concordance")$estimate, unname(by_hand))
  }
})

test_that("printing a model counts its events, and files keep the number", {
  d <- made(60)
  rows <- function(m) grep("^rows", capture.output(print(m)), value = TRUE)
  train <- function(y, ...) gbt_train(d$x, y, nrounds = 2, threads = 1, ...)
  n <- sum(d$status)
  text <- sprintf("rows      60: %d events, %d censored", n, 60 - n)
  m <- train(surv(d$time, d$status))
  expect_identical(rows(m), text)
  file <- tempfile()
  on.exit(unlink(file))
  gbt_save(m, file)
  expect_identical(rows(gbt_load(file)), text)
  expect_true(text %in% capture.output(print(summary(m))))
  expect_identical(rows(train(surv(d$time, d$status), objective = "aft")), text)
  strata <- suppressMessages(train(surv(d$time, d$status), strata = rep(1:2, 30)))
  expect_identical(rows(strata), paste0(text, ", in 2 strata"))
  expect_null(train(d$time)$n_events)
  half <- seq_len(60) %% 2 == 0
  expect_equal(train(surv(d$time, d$status), mask = half)$n_events, sum(d$status[half]))
})

test_that("an event at time 0 is an event", { # a label whose sign means the event has none
  y <- surv(a$time - 2, a$status)
  expect_identical(value(at_scores(y), y, c("cox_nloglik", "concordance")),
                   value(at_scores(surv(a$time, a$status)), surv(a$time, a$status), c("cox_nloglik", "concordance")))
})

test_that("expected times of negative times are those of the times shifted", {
  d <- made(60)
  time <- function(shift) {
    m <- gbt_train(d$x, surv(d$time - shift, d$status), nrounds = 2, threads = 1)
    predict(m, d$x, type = "time", threads = 1)
  }
  expect_equal(time(4), time(0) - 4, tolerance = 1e-12)
})

test_that("metrics of curves take the baseline of each row's stratum, whatever other strata there are", {
  d <- made()
  half <- seq_len(400) %% 2 == 0
  site <- c("a", "b", "c")[seq_len(400) %% 3 + 1]
  later <- !half & site != "a"
  valid <- list(x = d$x[later, ], y = surv(d$time[later], d$status[later]), strata = site[later])
  train <- function(keep, valid, ...) {
    gbt_train(d$x[keep, ], surv(d$time[keep], d$status[keep]), strata = site[keep], nrounds = 3, valid = valid,
              eval_metric = c("uno_c", "brier@1.5", "dcal", "ibs"), threads = 1, ...)
  }
  m <- train(half, valid)
  got <- gbt_evaluate(m, valid$x, valid$y, strata = valid$strata, metrics = c("uno_c", "brier@1.5", "dcal", "ibs"),
                      threads = 1)
  expect_identical(got$estimate, unname(unlist(m$evaluation_log[3L, -1])))
  S <- predict(m, valid$x, type = "survival", times = 1.5, strata = valid$strata, threads = 1)[, 1]
  expect_equal(got$estimate[2L], brier_at(1.5, S, c(valid, list(weights = rep(1, sum(later))))), tolerance = 1e-10)
  # a stratum without a curve: no value in a log, an error where it is asked for
  few <- train(half & site != "b", valid)
  expect_true(all(is.nan(unlist(few$evaluation_log[, -(1:2)]))) && !anyNA(few$evaluation_log$valid_uno_c))
  expect_error(gbt_evaluate(few, valid$x, valid$y, strata = valid$strata, metrics = "ibs"), "row 1 is of a stratum",
               class = "gbt_error_data")
})

test_that("metrics of survival say what they need", {
  d <- made(60)
  y <- surv(d$time, d$status)
  m <- gbt_train(d$x, y, nrounds = 3, threads = 1)
  late <- surv(d$time, d$status, d$time - 0.05)
  between <- structure(cbind(time1 = d$time, time2 = d$time + 1, status = 3), type = "interval", class = "Surv")
  expect_snapshot(error = TRUE, {
    gbt_evaluate(m, d$x, y, metrics = "brier")
    gbt_evaluate(m, d$x, y, metrics = "ibs", trees = 2)
    gbt_train(d$x, y, nrounds = 2, eval_metric = "dcal@1")
    gbt_train(d$x, late, nrounds = 2, eval_metric = "ibs", eval_train = TRUE, threads = 1)
    gbt_train(d$x, between, nrounds = 2, eval_metric = "concordance", eval_train = TRUE, threads = 1)
    gbt_train(d$x, d$time, nrounds = 2, eval_metric = "uno_c")
  })
  expect_false(any(c("ibs", "concordance") %in%
                     gbt_evaluate(gbt_train(d$x, between, nrounds = 2, threads = 1), d$x, between)$metric))
  # nothing to compare in a set without events
  none <- gbt_train(d$x, y, nrounds = 2, valid = list(x = d$x, y = surv(d$time, 0 * d$status)), threads = 1,
                    eval_metric = c("concordance", "uno_c", "ibs", "dcal", "cox_nloglik"))
  expect_true(all(is.nan(unlist(none$evaluation_log[, -1]))))
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
  none <- predict(m, d$x[0L, ], type = "survival", times = 1:2, threads = 1)
  expect_identical(dim(none), c(0L, 2L))
  expect_identical(dimnames(none)[[2L]], c("1", "2"))
  expect_identical(unname(predict(m, d$x[1L, ], "survival", times = 0, offset = 1e4)[1L, ]), 1)
  m$baseline$hazard[] <- Inf # where all scores are very low
  expect_identical(unname(curve(m)[1L, ]), c(0, 0))
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
  expect_error(gbt_train(d$x, surv(d$time, d$status), ties = 3, nrounds = 1), "\"efron\", \"breslow\"",
               class = "gbt_error_argument")
})
