# gbt_curve() of models of times and by the length of queries. Helpers of drawings are in helper-drawing.R.

a <- data.frame(time = c(2, 3, 3, 3, 5, 6, 6, 8), status = c(1, 1, 1, 0, 1, 1, 0, 1),
                s = c(.5, -.2, .3, 0, 1, -.7, .1, -1.2), w = c(1, 2, 1, .5, 1, 3, 1, 1),
                entry = c(0, 0, 1, 0, 2.5, 3, 0, 5))
# A model whose scores are `a$s`, as offsets.
at_scores <- suppressWarnings(
  gbt_train(a["s"], surv(a$time, a$status), objective = "cox", ties = "breslow", offset = a$s, nrounds = 1,
            gamma = 1e9, eta = 1e-12, lambda = 1e9, threads = 1), classes = "gbt_warning")

n <- 200
x <- data.frame(a = sin(seq_len(n)), b = cos(seq_len(n) * 2.7))
time <- round(-log((seq_len(n) * 0.6180339887) %% 1) / exp(x$a), 1) + 0.1
y <- surv(pmin(time, 2), as.numeric(time < 2 & seq_len(n) %% 5 != 0))
cox <- gbt_train(x, y, nrounds = 5, threads = 1)
aft <- gbt_train(x, y, objective = "aft", nrounds = 5, threads = 1)

test_that("Brier scores are those of the formulas, and their area is the integrated one", {
  b <- gbt_curve(at_scores, a["s"], "brier", y = surv(a$time, a$status), offset = a$s, times = c(2, 3, 5, 6))
  expect_equal(b$brier, c(.102293573319, .238140832522, .148508637112, .107673224330), tolerance = 1e-9)
  expect_equal(attr(b, "area"), .171239400819, tolerance = 1e-9)
  expect_output(print(b), "integrated Brier score 0.171", fixed = TRUE)
})

test_that("observed curves are those of Kaplan and Meier, with weights and entry times", {
  seen <- list(time = a$time, event = a$status, entry = NULL, weight = rep(1, 8))
  km <- gbt:::kaplan_meier(seen)
  expect_equal(km[1:2], list(time = c(2, 3, 5, 6, 8), survival = c(7 / 8, 5 / 8, 15 / 32, 5 / 16, 0)))
  expect_equal(km$upper[5], NA_real_)
  whole <- c(1, 2, 0, 3, 1, 2, 0, 1)
  twice <- lapply(seen, function(v) v[rep(1:8, whole)])
  expect_equal(gbt:::kaplan_meier(utils::modifyList(seen, list(weight = whole))), gbt:::kaplan_meier(twice))
  skip_if_not_installed("survival")
  for (late in list(seen, utils::modifyList(seen, list(entry = a$entry)))) {
    y <- if (is.null(late$entry)) survival::Surv(a$time, a$status) else survival::Surv(a$entry, a$time, a$status)
    fit <- summary(survival::survfit(y ~ 1, conf.type = "log-log"))
    km <- gbt:::kaplan_meier(late)
    expect_equal(unname(km), fit[c("time", "surv", "lower", "upper")], ignore_attr = TRUE)
    expect_equal(gbt:::at_risk(late, km$time), fit$n.risk)
  }
})

test_that("groups of risk have the mean of their curves; weights are rows", {
  for (m in list(cox, aft)) {
    risk <- predict(m, x, "link", threads = 1) * (if (m$objective == "cox") 1 else -1)
    s <- gbt_curve(m, x, "survival", y = y, bins = 2, times = c(0, 0.5, 1), threads = 1)
    high <- gbt:::bins_of_rows(risk, rep(1, n), 2) == 2
    expect_gt(min(risk[high]), max(risk[!high]))
    curves <- predict(m, x, "survival", times = c(0, 0.5, 1), threads = 1)
    expect_equal(s$predicted, c(colMeans(curves[!high, ]), colMeans(curves[high, ])), ignore_attr = TRUE)
    expect_identical(levels(s$group), c("1 (lowest risk)", "2 (highest risk)"))
    expect_equal(s$at_risk[c(1, 4)], c(sum(!high), sum(high)))
    expect_gt(s$observed[3], s$observed[6])
    at <- gbt_curve(m, x, times = c(0.5, 1), y = y, bins = 4, threads = 1)
    bin <- gbt:::bins_of_rows(curves[, 3], rep(1, n), 4)
    expect_equal(at$predicted[5:8], as.vector(tapply(curves[, 3], bin, mean)))
    count <- rep(c(0, 1, 2, 3), 50)
    twice <- rep(seq_len(n), count)
    for (type in c("survival", "calibration", "brier")) {
      times <- if (type == "calibration") 1
      weighted <- gbt_curve(m, x, type, count, y = y, times = times, threads = 1)
      same <- setdiff(names(weighted), "rows")
      expect_equal(weighted[same], gbt_curve(m, x[twice, ], type, y = gbt:::surv_rows(y, twice), times = times,
                                             threads = 1)[same], ignore_attr = TRUE)
    }
  }
  both <- gbt_curve(list(cox = cox, aft = aft), x, "brier", y = y, times = 1:2 / 2, threads = 1)
  expect_equal(as.list(both[both$model == "aft", -1]),
               as.list(gbt_curve(aft, x, "brier", y = y, times = 1:2 / 2, threads = 1)), ignore_attr = TRUE)
})

test_that("rows of folds have the curves and the scores of the models that held them out", {
  cv <- gbt_cv(x, y, folds = 3, nrounds = 3, keep_models = TRUE, seed = 1, threads = 1)
  S <- matrix(0, n, 2)
  for (k in 1:3) S[cv$folds[[k]], ] <- predict(cv$models[[k]], x[cv$folds[[k]], ], "survival", times = 1:2, threads = 1)
  s <- gbt_curve(cv, x, "survival", y = y, bins = 1, times = 1:2, threads = 1)
  expect_equal(s$predicted, colMeans(S))
  skip_if_not_installed("survival")
  loss <- gbt_evaluate(cv, x, y, metrics = "cox_nloglik", threads = 1)$estimate
  known <- survival::Surv(unclass(y)[, 1], unclass(y)[, 2])
  fit <- survival::coxph(known ~ offset(log(cv$predictions)))
  expect_equal(loss, -fit$loglik[1] / sum(unclass(y)[, 2]), tolerance = 1e-10)
})

test_that("queries have their metric by their length", {
  size <- rep(c(3, 9, 4, 30), 6)
  q <- rep(seq_along(size), size)
  r <- data.frame(v = sin(seq_along(q) * 7.1), q = q, w = rep(rep_len(c(1, 2, 0.5), 24), size))
  r$y <- round(2 * (r$v + cos(seq_along(q))) %% 4)
  m <- gbt_train(y ~ v, r, group = q, objective = "rank_ndcg", nrounds = 3, threads = 1)
  value <- function(rows, ...) {
    gbt_evaluate(m, r[rows, ], group = r$q[rows], metrics = "ndcg@5", ..., threads = 1)$estimate
  }
  one <- gbt_curve(m, r, "query_length", bins = 1, group = "q", metric = "ndcg@5", threads = 1)
  expect_equal(one$estimate, value(seq_along(q)))
  expect_identical(one$queries, 24L)
  each <- gbt_curve(m, r, "query_length", weights = r$w, bins = 3, group = q, metric = "ndcg@5", threads = 1)
  expect_identical(each$length[3], 30)
  expect_equal(each$estimate[3], value(which(rep(size, size) == 30), weights = r$w[rep(size, size) == 30]))
  single <- vapply(which(size == 30), function(k) value(which(q == k)), 0)
  sums <- gbt_curve(m, r, "query_length", bins = 2, group = q, metric = "dcg@5", threads = 1) # not bounded by 1
  expect_true(all(sums$estimate > 1 & sums$lower < sums$estimate & sums$estimate < sums$upper))
  plain <- gbt_curve(m, r, "query_length", bins = 4, group = q, metric = "ndcg@5", threads = 1)
  expect_equal((plain$upper - plain$lower)[nrow(plain)], 2 * qnorm(0.975) * sd(single) / sqrt(6))
  in_sizes(plot(gbt_curve(list(a = m, b = m), r, "query_length", group = q)), function(record, size) {
    expect_identical(labels_of(record, "y title"), "ndcg@10")
  })
})

test_that("curves of times are drawn", {
  draw <- function(...) plot(gbt_curve(..., y = y, threads = 1))
  in_sizes(draw(cox, x, "survival"), function(record, size) {
    expect_identical(labels_of(record, "key"), c("1 (lowest risk)", "2", "3", "4 (highest risk)", "predicted"))
  })
  in_sizes(draw(list(cox = cox, aft = aft), x, "survival", bins = 2), function(record, size) {
    expect_identical(labels_of(record, "heading"), c("cox", "aft"))
  })
  in_sizes(draw(cox, x, times = 1, bins = 4), function(record, size) {
    expect_identical(labels_of(record, "subtitle"), "time 1")
  })
  in_sizes(draw(cox, x, times = c(0.5, 1), bins = 4), function(record, size) {
    expect_identical(labels_of(record, "key"), c("time 0.5", "time 1"))
  })
  in_sizes(draw(list(cox = cox, aft = aft), x, "brier"))
  s <- gbt_curve(cox, x, "survival", y = y, bins = 2, threads = 1)
  marks <- gbt:::survival_figure(s)$panels[[1]]$marks
  expect_identical(marks[[2]]$data$y, s$observed)
  band <- marks[[1]]$data[marks[[1]]$data$set == 4, ]
  first <- which(s$group == levels(s$group)[1])
  expect_identical(band$y[c(TRUE, FALSE)], s$lower[first]) # bounds hold until the next time
  expect_identical(band$x[c(FALSE, TRUE)], c(s$time[first][-1], max(s$time)))
})

test_that("what has no curve of times or of queries is refused in words", {
  m <- gbt_train(mpg ~ wt, mtcars, nrounds = 1, threads = 1)
  late <- surv(a$time, a$status, a$entry)
  between <- structure(cbind(time1 = 1:8, time2 = 2:9, status = 3), type = "interval", class = "Surv")
  train <- function(y) gbt_train(a["s"], y, nrounds = 1, min_data_in_leaf = 1, threads = 1)
  expect_snapshot(error = TRUE, {
    gbt_curve(m, mtcars, "survival")
    gbt_curve(m, mtcars, times = 3)
    gbt_curve(cox, x, y = y)
    gbt_curve(cox, x, "roc", y = y)
    gbt_curve(cox, x, "brier", y = y, bins = 3)
    gbt_curve(cox, x, "survival", y = y, class = "a")
    gbt_curve(cox, x, "survival", y = y, times = 2:1)
    gbt_curve(cox, x, "survival", y = y, group = 1)
    gbt_curve(list(a = cox, b = aft), x, y = y, times = 1:2)
    gbt_curve(train(late), a["s"], "brier", y = late)
    gbt_curve(train(between), a["s"], "survival", y = between)
    gbt_curve(list(a = m, b = cox), x, times = 1, y = y)
    gbt_curve(list(a = cox, b = m), x, times = 1, y = y)
    gbt_curve(m, mtcars, "query_length")
    gbt_curve(m, mtcars, "query_length", group = "cyl", metric = "rmse")
    gbt_curve(m, mtcars, metric = "map")
    gbt_curve(m, transform(mtcars, mpg = 0), "query_length", group = "cyl", metric = "mrr")
    gbt_curve(1:3, 1:3, "brier")
  })
})

test_that("strata that are no column are given as values, with folds as well", {
  by <- seq_len(n) %% 2
  v <- cbind(x, by = by)
  named <- gbt_train(v, y, strata = "by", nrounds = 3, threads = 1)
  values <- gbt_train(x, y, strata = by, nrounds = 3, threads = 1)
  for (type in c("survival", "brier")) {
    want <- gbt_curve(named, v, type, y = y, threads = 1)
    expect_identical(gbt_curve(values, x, type, y = y, strata = by, threads = 1), want)
    expect_identical(gbt_curve(values, v, type, y = y, strata = "by", threads = 1), want)
  }
  folds <- function(...) gbt_cv(..., nrounds = 2, folds = 2, seed = 1, keep_models = TRUE, threads = 1)
  expect_identical(gbt_curve(folds(x, y, strata = by), x, "brier", y = y, strata = by),
                   gbt_curve(folds(v, y, strata = "by"), v, "brier", y = y))
  expect_error(gbt_curve(values, x, "brier", y = y), "give `strata`", class = "gbt_error_argument")
  expect_error(gbt_curve(cox, x, "brier", y = y, strata = by), "leave it out", class = "gbt_error_argument")
  expect_error(gbt_curve(at_scores$objective == "cox", 1, strata = 1), "needs a model", class = "gbt_error_argument")
})
