# Strata of survival data: `strata`, strata() in a formula, baseline hazards by stratum.

a <- data.frame(time = c(2, 3, 3, 3, 5, 6, 6, 8), status = c(1, 1, 1, 0, 1, 1, 0, 1),
                s = c(.5, -.2, .3, 0, 1, -.7, .1, -1.2), w = c(1, 2, 1, .5, 1, 3, 1, 1),
                entry = c(0, 0, 1, 0, 2.5, 3, 0, 5), stratum = rep(1:2, each = 4))

made <- function(n = 300) {
  i <- seq_len(n)
  x <- data.frame(a = sin(i), b = cos(i * 2.7), centre = c("north", "south", "east")[i %% 3 + 1L])
  time <- round(-log((i * 0.6180339887) %% 1) / exp(x$a + (i %% 3)), 2) + 0.01
  data.frame(x, time = pmin(time, 3), status = as.numeric(time < 3 & i %% 5 != 0))
}

features <- c("a", "b")
train <- function(d, ..., nrounds = 5) {
  gbt_train(d[features], surv(d$time, d$status), ..., nrounds = nrounds, threads = 1)
}

test_that("the loss with weights, entry times and strata, and concordance within strata, are those of the reference", {
  y <- surv(a$time, a$status, a$entry)
  at_scores <- function(ties, ...) {
    suppressWarnings(gbt_train(a["s"], y, ties = ties, offset = a$s, weights = a$w, strata = a$stratum, nrounds = 1,
                               gamma = 1e9, eta = 1e-12, lambda = 1e9, threads = 1), classes = "gbt_warning")
  }
  loss <- function(ties) {
    gbt_evaluate(at_scores(ties), a["s"], y, offset = a$s, weights = a$w, metrics = "cox_nloglik",
                 strata = a$stratum, threads = 1)$estimate * sum(a$w * a$status)
  }
  expect_equal(loss("efron"), 10.105254162432, tolerance = 1e-10)
  expect_equal(loss("breslow"), 10.943996260526, tolerance = 1e-10)
  y <- surv(a$time, a$status)
  m <- at_scores("efron")
  expect_equal(gbt_evaluate(m, a["s"], y, offset = a$s, strata = a$stratum, metrics = "concordance",
                            threads = 1)$estimate, 0.8)
  expect_identical(m$baseline$strata, c("1" = 2, "2" = 3))
})

test_that("curves take the baseline hazard of the row's stratum, as those of coxph() with strata()", {
  skip_if_not_installed("survival")
  d <- made()
  m <- train(d, strata = d$centre)
  s <- predict(m, d, type = "link", threads = 1)
  strata <- survival::strata # coxph() knows it by this name only
  fit <- survival::coxph(survival::Surv(time, status) ~ offset(s) + strata(centre), d)
  its <- survival::basehaz(fit, centered = FALSE)
  at <- 0.4
  H <- vapply(seq_len(nrow(d)), function(i) {
    max(0, its$hazard[sub(".*=", "", its$strata) == d$centre[i] & its$time <= at])
  }, 0) * exp(s - mean(s))
  ask <- function(type, ..., strata = d$centre) predict(m, d, type = type, ..., strata = strata, threads = 1)
  expect_equal(as.vector(ask("cumhaz", times = at)), H, tolerance = 1e-9)
  expect_equal(as.vector(ask("survival", times = at)), exp(-H), tolerance = 1e-9)
  one <- which(d$centre == "east")
  alone <- list(time = m$baseline$time[1:m$baseline$strata[["east"]]],
                hazard = m$baseline$hazard[1:m$baseline$strata[["east"]]])
  expect_identical(names(m$baseline$strata)[1L], "east")
  expect_equal(ask("quantile")[one], vapply(exp(s[one]), function(r) {
    alone$time[which(alone$hazard * r >= log(2))[1L]]
  }, 0))
  expect_identical(dim(ask("quantile", probs = c(0.2, 0.5))), c(nrow(d), 2L))
  expect_identical(ask("time", strata = "east")[one], ask("time")[one])
})

test_that("every way to give strata makes the same trees and the same curves", {
  d <- made()
  m <- train(d, strata = factor(d$centre))
  curve <- function(m, ...) predict(m, d, type = "survival", times = c(0.1, 1), threads = 1, ...)
  same <- function(other, ...) {
    expect_identical(predict(other, d, type = "link", threads = 1), predict(m, d, type = "link", threads = 1))
    expect_identical(curve(other, ...), curve(m, strata = d$centre))
  }
  same(train(d, strata = match(d$centre, c("south", "east", "north"))), # the order of strata means nothing
       strata = match(d$centre, c("south", "east", "north")))
  by_name <- gbt_train(d[c(features, "centre")], surv(d$time, d$status), strata = "centre", nrounds = 5, threads = 1)
  expect_identical(by_name$feature_names, features)
  expect_identical(by_name$strata, "centre")
  same(by_name)
  same(gbt_train(gbt_data(d[c(features, "centre")], surv(d$time, d$status), strata = "centre", threads = 1),
                 nrounds = 5, threads = 1))
  same(train(d, strata = d$centre, page_rows = 64), strata = d$centre)
  Surv <- surv
  f <- gbt_train(Surv(time, status) ~ . + strata(centre), d, nrounds = 5, threads = 1)
  expect_identical(f$feature_names, features)
  same(f)
  same(gbt_train(Surv(time, status) ~ ., d, strata = centre, nrounds = 5, threads = 1))
  same(gbt_train(Surv(time, status) ~ a + b, d, strata = substr(centre, 1, 9), nrounds = 5, threads = 1),
       strata = d$centre)
  same(gbt_refit(f, data = d))
  same(update(f, . ~ .))
  file <- tempfile()
  on.exit(unlink(file))
  gbt_save(by_name, file)
  again <- gbt_load(file)
  same(again)
  same(gbt_refit(again, x = d[c(features, "centre")], y = surv(d$time, d$status)))
  d$side <- as.integer(d$b > 0)
  two <- gbt_train(Surv(time, status) ~ a + strata(centre, side), d, nrounds = 2, threads = 1)
  expect_identical(names(two$baseline$strata)[1L], "centre=east, side=0")
})

test_that("held-out rows, folds, masks and sets of rows have their strata", {
  d <- made()
  d2 <- made(200)
  Surv <- surv
  f <- Surv(time, status) ~ a + b + strata(centre)
  m <- gbt_train(f, d, valid = d2, nrounds = 3, threads = 1)
  by_hand <- gbt_evaluate(m, d2, surv(d2$time, d2$status), metrics = "cox_nloglik", threads = 1)$estimate
  expect_equal(m$evaluation_log$valid_cox_nloglik[3L], by_hand)
  listed <- train(d, strata = d$centre, nrounds = 3,
                  valid = list(x = d2, y = surv(d2$time, d2$status), strata = d2$centre))
  expect_identical(listed$evaluation_log, m$evaluation_log)
  held <- seq_len(300) %% 4 == 0
  for (masked in list(gbt_train(f, d, valid = which(held), nrounds = 3, threads = 1),
                      gbt_train(f, d, mask = !held, nrounds = 3, threads = 1))) {
    out <- d[held, ]
    expect_equal(masked$evaluation_log[[3L]][3L],
                 gbt_evaluate(masked, out, surv(out$time, out$status), metrics = "cox_nloglik", threads = 1)$estimate)
  }
  cv <- gbt_cv(f, d, folds = 2, nrounds = 3, keep_models = TRUE, seed = 1, threads = 1)
  expect_identical(gbt_cv(Surv(time, status) ~ a + b, d, strata = centre, folds = 2, nrounds = 3, seed = 1,
                          threads = 1)$fold_log, cv$fold_log)
  judged <- function(...) gbt_evaluate(cv, y = surv(d$time, d$status), metrics = "concordance", threads = 1, ...)
  expect_equal(judged(d)$estimate, judged(d[features], strata = d$centre)$estimate)
  tuned <- gbt_tune(f, d, space = list(eta = c(0.1, 0.5)), configs = 2, folds = 2, nrounds = 2, seed = 1, threads = 1)
  expect_identical(gbt_refit(tuned, data = d)$strata, "centre")
})

test_that("strata that do not fit are refused, and those without events are named", {
  d <- made(60)
  m <- train(d, strata = d$centre)
  new <- transform(d, centre = replace(centre, 7L, "west"))
  none <- transform(d, status = status * (centre != "south"))
  expect_snapshot(error = TRUE, {
    predict(m, new, type = "survival", times = 1, strata = new$centre)
    predict(m, d, type = "survival", times = 1)
    predict(m, d, strata = d$centre)
    predict(train(d), d, type = "survival", times = 1, strata = d$centre)
    train(d, strata = replace(d$centre, 5L, NA))
    train(d, strata = d$a)
    train(d, strata = "centre")
    train(d, strata = list(1))
    gbt_train(d[features], d$time, strata = d$centre, nrounds = 1)
    train(d, strata = d$centre, objective = "aft")
    train(d, strata = d$centre, valid = list(x = d, y = surv(d$time, d$status)))
    train(d, valid = list(x = d, y = surv(d$time, d$status), strata = d$centre))
    gbt_evaluate(m, d, surv(d$time, d$status), threads = 1)
    gbt_train(surv(time, status) ~ a * strata(centre), d, nrounds = 1)
    gbt_train(surv(time, status) ~ a + strata(centre), d, strata = centre, nrounds = 1)
  })
  expect_message(quiet <- train(none, strata = none$centre), "strata without events.*\"south\"")
  ask <- function(...) predict(quiet, none[none$centre == "south", ], strata = "south", threads = 1, ...)
  expect_true(all(ask(type = "survival", times = 2) == 1))
  expect_true(all(is.na(c(ask(type = "quantile"), ask(type = "time")))))
})

test_that("a baseline that cannot be of the model is refused, whatever reads the model", {
  d <- made(60)
  y <- surv(d$time, d$status)
  with_strata <- train(d, strata = d$centre)
  without <- train(d)
  curve <- function(...) list(rounds = with_strata$nrounds, time = c(1, 2), hazard = c(.1, .2), ...)
  no_times <- function(strata) replace(curve(strata = strata), c("time", "hazard"), list(numeric(0)))
  refused <- function(m, baseline) {
    m["baseline"] <- list(baseline)
    expect_error(predict(m, d[0L, ], type = "time", strata = d$centre[0L]), class = "gbt_error")
    expect_error(gbt_evaluate(m, d, y, metrics = "ibs", strata = d$centre), class = "gbt_error")
    expect_error(gbt_save(m, withr::local_tempfile()), "`baseline`", class = "gbt_error")
  }
  for (strata in list(numeric(0), stats::setNames(numeric(0), character(0)), c(a = 0), c(a = 0, b = 0))) {
    refused(with_strata, no_times(strata))
  }
  refused(with_strata, curve())
  refused(without, curve(strata = c(a = 2)))
  refused(without, list(rounds = 5, time = c(1, Inf), hazard = c(.1, .2)))
})
