# Competing risks: a factor as status, `cause`.

made <- function(n = 200) {
  i <- seq_len(n)
  d <- data.frame(a = sin(i), b = cos(i * 2.7))
  d$time <- round(-log((i * 0.6180339887) %% 1) / exp(d$a), 2) + 0.01
  d$status <- factor(c("none", "relapse", "death", "relapse")[i %% 4 + 1L], c("none", "relapse", "death"))
  d
}

train <- function(d, y = surv(d$time, d$status), ..., nrounds = 3) {
  gbt_train(d[c("a", "b")], y, ..., nrounds = nrounds, threads = 1)
}

test_that("the hazard of a cause is that of its events, with all others censored", {
  d <- made()
  link <- function(m) predict(m, d, type = "link", threads = 1)
  for (cause in c("relapse", "death")) {
    m <- train(d, cause = cause)
    other <- train(d, surv(d$time, d$status == cause))
    expect_identical(link(m), link(other))
    expect_identical(m$baseline, other$baseline)
    expect_identical(m$params$cause, cause)
    late <- d$time * 0.2
    expect_identical(link(train(d, surv(d$time, d$status, late), cause = cause)),
                     link(train(d, surv(d$time, d$status == cause, late))))
    y <- surv(d$time, d$status)
    judged <- function(m, y) gbt_evaluate(m, d, y, threads = 1)$estimate
    expect_identical(judged(m, y), judged(other, surv(d$time, d$status == cause)))
  }
  Surv <- surv
  f <- gbt_train(Surv(time, status) ~ a + b, d, cause = "death", nrounds = 3, threads = 1)
  expect_identical(link(gbt_refit(f)), link(f))
  file <- tempfile()
  on.exit(unlink(file))
  gbt_save(m, file)
  again <- gbt_load(file)
  expect_identical(again$params$cause, "death")
  expect_identical(link(gbt_refit(again, x = d[c("a", "b")], y = y)), link(m))
  more <- train(d, init_model = m)
  expect_identical(more$params$cause, "death")
  cv <- gbt_cv(Surv(time, status) ~ a + b, d, cause = "death", folds = 2, nrounds = 2, seed = 1, threads = 1)
  other <- gbt_cv(d[c("a", "b")], surv(d$time, d$status == "death"), folds = 2, nrounds = 2, seed = 1, threads = 1)
  expect_identical(cv$fold_log, other$fold_log)
  one <- droplevels(subset(d, status != "death"))
  expect_identical(link(train(one)), link(train(one, cause = "relapse"))) # one cause needs no name
})

test_that("causes that do not fit are refused", {
  d <- made(40)
  m <- train(d, cause = "death")
  expect_output(print(m), "[0-9]+ events of \"death\", [0-9]+ censored")
  broken <- surv(d$time, d$status)
  attr(broken, "states") <- "relapse"
  expect_snapshot(error = TRUE, {
    train(d)
    train(d, cause = "deaht")
    train(d, cause = 2)
    train(d, surv(d$time, d$status == "death"), cause = "death")
    gbt_train(d["a"], d$b, cause = "death", nrounds = 1)
    train(d, objective = "aft")
    train(d, broken, cause = "relapse")
    train(d, surv(d$time, factor(replace(d$status, d$status == "death", "none"), levels(d$status))), cause = "death")
    gbt_evaluate(m, d, surv(d$time, d$status == "death"), threads = 1)
    train(d, init_model = m, cause = "relapse")
  })
})

# Fine and Gray ------------------------------------------------------------------------------------------------------

test_that("fine_gray has the loss of coxph() with finegray(), and incidences of its baseline", {
  a <- data.frame(time = c(2, 3, 3, 3, 5, 6, 6, 8), s = c(.5, -.2, .3, 0, 1, -.7, .1, -1.2),
                  status = factor(c("a", "b", "a", "0", "b", "a", "0", "a"), c("0", "a", "b")))
  y <- surv(a$time, a$status)
  m <- suppressWarnings(gbt_train(a["s"], y, objective = "fine_gray", cause = "a", offset = a$s, nrounds = 1,
                                  gamma = 1e9, eta = 1e-12, lambda = 1e9, threads = 1), classes = "gbt_warning")
  loss <- gbt_evaluate(m, a["s"], y, offset = a$s, metrics = "cox_nloglik", threads = 1)$estimate
  expect_equal(loss * 4, 7.747871257339, tolerance = 1e-10)
  cif <- predict(m, a["s"], type = "cif", times = c(1, 3, 9), offset = a$s, threads = 1)
  H <- m$baseline$hazard
  expect_equal(cif[, 1:3], 1 - exp(-outer(exp(a$s), c(0, H[2L], H[4L]))), ignore_attr = TRUE, tolerance = 1e-12)
  skip_if_not_installed("survival")
  d <- made()
  y <- surv(d$time, d$status)
  m <- train(d, y, objective = "fine_gray", cause = "relapse")
  d$s <- predict(m, d, type = "link", threads = 1)
  long <- survival::finegray(survival::Surv(time, status) ~ s, d, etype = "relapse")
  fit <- survival::coxph(survival::Surv(fgstart, fgstop, fgstatus) ~ offset(s), long, weights = fgwt)
  expect_equal(gbt_evaluate(m, d, y, metrics = "cox_nloglik", threads = 1)$estimate,
               -fit$loglik[1L] / sum(d$status == "relapse"), tolerance = 1e-9)
})

test_that("n integer weights are n rows, also in the chance of being censored", {
  d <- made()
  w <- seq_len(nrow(d)) %% 3 + 1
  again <- d[rep(seq_len(nrow(d)), w), ]
  loss <- function(m, d, ...) {
    gbt_evaluate(m, d, surv(d$time, d$status), metrics = "cox_nloglik", threads = 1, ...)$estimate
  }
  for (objective in c("cox", "fine_gray")) {
    m <- train(d, objective = objective, cause = "relapse", ties = "breslow", weights = w)
    expect_equal(loss(m, d, weights = w), loss(m, again), tolerance = 1e-12)
  }
})

test_that("without other causes and with all events of one, fine_gray is cox", {
  d <- made()
  one <- transform(d, status = factor(ifelse(status == "death", "none", as.character(status)), c("none", "relapse")))
  link <- function(m) predict(m, d, type = "link", threads = 1)
  expect_identical(link(train(one, objective = "fine_gray")), link(train(one)))
  m <- train(d, objective = "fine_gray", cause = "relapse", strata = seq_len(200) %% 2)
  expect_identical(link(train(d, objective = "finegray", cause = "relapse", strata = seq_len(200) %% 2,
                              page_rows = 64)), link(m))
  # rows with another event are at risk for ever, so a pair with one is comparable
  s <- link(m)
  at <- which(d$status == "relapse")
  far <- ifelse(d$status == "death", Inf, d$time)
  pairs <- expand.grid(i = at, j = seq_along(s))
  pairs <- pairs[pairs$i %% 2 == pairs$j %% 2, ]
  pairs <- pairs[far[pairs$j] > d$time[pairs$i] | (far[pairs$j] == d$time[pairs$i] & d$status[pairs$j] == "none"), ]
  right <- sign(s[pairs$i] - s[pairs$j])
  expect_equal(gbt_evaluate(m, d, surv(d$time, d$status), metrics = "concordance", strata = seq_len(200) %% 2,
                            threads = 1)$estimate, mean((right + 1) / 2))
})

test_that("fine_gray refuses what it does not know", {
  d <- made(40)
  m <- train(d, objective = "fine_gray", cause = "death")
  cox <- train(d, cause = "death")
  expect_snapshot(error = TRUE, {
    train(d, objective = "fine_gray")
    train(d, surv(d$time, d$status == "death"), objective = "fine_gray")
    train(d, surv(d$time, d$status, d$time * 0), objective = "fine_gray", cause = "death")
    predict(m, d, type = "survival", times = 1)
    predict(m, d, type = "cif")
    predict(cox, d, type = "cif", times = 1)
    gbt_curve(m, d, "survival", y = surv(d$time, d$status))
  })
})

test_that("a rank without rows has numbers as all others", {
  for (objective in c("cox", "fine_gray")) {
    expect_identical(events_of_cause(c(0, 1, 2), c("a", "b"), "b", objective, "y"),
                     if (objective == "cox") c(0, 0, 1) else c(0, 2, 1))
    expect_identical(events_of_cause(numeric(0), c("a", "b"), "b", objective, "y"), numeric(0))
  }
  none <- list(right = matrix(0, 0, 2), counting = matrix(0, 0, 3), left = matrix(0, 0, 2), interval = matrix(0, 0, 3))
  for (type in names(none)) {
    times <- times_of_surv(none[[type]], type, "y")
    expect_identical(c(typeof(times), vapply(attr(times, "fields"), typeof, "")),
                     c("double", vapply(attr(times, "fields"), function(x) "double", "")))
  }
})
