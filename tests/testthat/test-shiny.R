# The panel that refreshes a model: its parts, and its server.

skip_on_os("windows")

rows <- function(n = 600, seed = 1, noise = FALSE) {
  set.seed(seed)
  d <- data.frame(a = runif(n), b = runif(n))
  d$y <- factor(ifelse(runif(n) < plogis(6 * d$a - 3), "yes", "no"))
  if (noise) d$y <- sample(d$y)
  d
}

spec <- function(formula = y ~ ., ..., margin = 0.05, history = 2) {
  list(formula = formula, args = list(nrounds = 10, threads = 1, seed = 1, ...), margin = margin, history = history)
}

refresh <- function(hub, data, holdout) {
  gbt:::refresh_start(hub, data, holdout)
  if (!is.null(hub$job)) gbt_job_wait(hub$job, 60)
  gbt:::refresh_look(hub)
}

test_that("models are promoted, held back, kept and restored", {
  path <- file.path(withr::local_tempdir(), "live.gbt")
  hub <- gbt:::refresh_hub(path, spec())
  newest <- rows(400, 9)
  expect_null(gbt:::live_model(hub))
  refresh(hub, rows(), newest)
  expect_identical(hub$state, "promoted")
  expect_match(hub$verdict$words, "^Promoted: there was no earlier model[.] Its logloss on 400 held-out rows is 0[.]")
  first <- gbt_load(path)
  expect_identical(first$refresh$holdout_rows, 400L)
  p <- predict(first, newest)
  expect_equal(first$refresh$loss, mean(-log(ifelse(newest$y == "yes", p, 1 - p))))
  expect_identical(nrow(gbt:::model_history(hub)), 0L)

  refresh(hub, rows(noise = TRUE), newest)
  expect_identical(hub$state, "held_back")
  expect_gt(hub$verdict$upper, hub$verdict$allowed)
  expect_same_bytes(gbt_load(path)$state, first$state)

  refresh(hub, rows(2000, 2), newest)
  expect_identical(hub$state, "promoted")
  second <- gbt_load(path)
  expect_false(identical(second$state, first$state))
  past <- gbt:::model_history(hub)
  expect_identical(nrow(past), 1L)
  expect_same_bytes(gbt_load(past$file)$state, first$state)

  gbt:::refresh_restore(hub, past$file)
  expect_identical(hub$state, "restored")
  expect_same_bytes(gbt_load(path)$state, first$state)
  expect_same_bytes(gbt_load(gbt:::model_history(hub)$file)$state, second$state)
  for (i in 1:3) gbt:::refresh_promote(hub, second)
  expect_identical(nrow(gbt:::model_history(hub)), 2L) # the newest two
  gbt:::refresh_restore(hub, NULL) # no model was chosen
  expect_match(hub$message, "not in the history")
  gbt:::refresh_restore(hub, "elsewhere")
  expect_identical(hub[["state"]], "failed")
  expect_match(hub$message, "not in the history")
})

test_that("the interval is that of the paired losses", {
  train <- rows()
  a <- gbt_train(y ~ ., train, nrounds = 3, threads = 1)
  b <- gbt_train(y ~ ., train, nrounds = 30, threads = 1)
  new <- rows(200, 5)
  loss <- function(m) -log(predict(m, new, type = "prob")[cbind(1:200, as.integer(new$y))])
  v <- gbt:::compare_models(a, b, new, spec(margin = 0.1))
  test <- t.test(loss(b) - loss(a))
  expect_equal(c(v$lower, v$upper), as.vector(test$conf.int))
  expect_equal(v$difference, unname(test$estimate))
  expect_identical(v$promote, v$upper <= 0.1 * mean(loss(a)))
  same <- gbt:::compare_models(a, a, new, spec(margin = 0))
  expect_true(same$promote)
  expect_false(gbt:::compare_models(b, a, new[1, ], spec(margin = 0.5))$promote) # one row says nothing
  expect_error(gbt:::compare_models(a, b, new[0, ], spec()), class = "gbt_error_data")
  new$y <- "maybe"
  expect_error(gbt:::compare_models(a, b, new, spec()), "does not know: 200 values, the first in row 1")
})

test_that("weights and offsets count when models are compared", {
  set.seed(3)
  d <- data.frame(a = runif(300), time = sample(1:4, 300, TRUE), w = sample(0:2, 300, TRUE))
  d$y <- rpois(300, d$time * exp(d$a))
  train <- d[1:150, ]
  new <- d[151:300, ]
  how <- spec(y ~ a, objective = "poisson", weights = quote(w), offset = quote(log(time)))
  fit <- function(rounds) gbt_train(y ~ a, train, objective = "poisson", weights = w, offset = log(time),
                                    nrounds = rounds, threads = 1)
  a <- fit(2)
  b <- fit(20)
  loss <- function(m) poisson()$dev.resids(new$y, unname(predict(m, new, offset = log(new$time))), 1)
  v <- gbt:::compare_models(a, b, new, how)
  expect_equal(v$challenger, weighted.mean(loss(b), new$w))
  expect_equal(v$champion, weighted.mean(loss(a), new$w))
  d <- loss(b) - loss(a)
  # a row of weight 2 counts more, and says no more than one row does
  fit <- lm(d ~ 1, weights = new$w)
  design <- new$w * residuals(fit)
  n <- sum(new$w > 0)
  half <- qt(0.975, n - 1) * sqrt(sum(design^2) * n / (n - 1)) / sum(new$w)
  expect_equal(c(v$lower, v$upper), unname(coef(fit)) + c(-half, half))
  plain <- gbt_train(y ~ a, train, objective = "poisson", nrounds = 2, threads = 1)
  expect_match(gbt:::compare_models(a, plain, new, spec(y ~ a))$words, "has an offset, and now there is none")
  expect_match(gbt:::compare_models(plain, b, new, how)$words, ", before ")
  new$w <- NULL
  expect_error(gbt:::compare_models(a, b, new, how), "`weights` of the held-out data", class = "gbt_error_data")
  expect_snapshot(error = TRUE, gbt_refresh_server("m", y ~ a, d, "x.gbt", weights = 1:3))
  expect_snapshot(error = TRUE, gbt_refresh_server("m", y ~ a, d, "x.gbt", objective = list(gradient = sum)))
})

test_that("exposures count when models are compared", {
  set.seed(4)
  d <- data.frame(a = runif(600), time = runif(600, 0.5, 3))
  d$y <- rpois(600, d$time * exp(2 * d$a))
  train <- d[1:300, ]
  new <- d[301:600, ]
  fit <- function(rounds, ...) gbt_train(y ~ a, train, objective = "poisson", nrounds = rounds, threads = 1, ...)
  how <- function(...) spec(y ~ a, objective = "poisson", ...)
  loss <- function(m, ...) mean(poisson()$dev.resids(new$y, unname(predict(m, new, ...)), 1))
  for (by in list(quote(time), "time")) {
    v <- gbt:::compare_models(fit(20, exposure = time), fit(1, exposure = time), new, how(exposure = by, margin = 0))
    expect_equal(c(v$champion, v$challenger), c(loss(fit(20, exposure = time)), loss(fit(1, exposure = time))))
    expect_false(v$promote)
  }
  values <- fit(20, exposure = time / 2)
  v <- gbt:::compare_models(fit(20), values, new, how(exposure = quote(time / 2)))
  expect_equal(c(v$champion, v$challenger), c(loss(fit(20)), loss(values, exposure = new$time / 2)))
  expect_match(gbt:::compare_models(values, fit(1), new, how())$words, "has an exposure, and now there is none")
  expect_match(gbt:::compare_models(fit(2, exposure = time), fit(1), new["time" != names(new)], how())$words,
               "has an exposure, and now there is none")
  expect_error(gbt:::check_spec(how(exposure = train$time)), "`exposure` must be a column",
               class = "gbt_error_argument")
  hub <- gbt:::refresh_hub(file.path(withr::local_tempdir(), "live.gbt"), how(exposure = "time"))
  for (i in 1:2) refresh(hub, train, new)
  expect_identical(hub$verdict$champion, hub$verdict$challenger)
  expect_identical(hub$last$exposure, "time")
})

test_that("models of an objective of one's own are compared by the metric", {
  d <- mtcars[c("mpg", "wt", "hp")]
  own <- list(gradient = function(pred, label) sign(pred - label), hessian = function(pred, label) rep(1, length(pred)))
  fit <- function(rounds) gbt_train(mpg ~ ., d, objective = own, nrounds = rounds, eta = 1, threads = 1)
  a <- fit(5)
  b <- fit(30)
  near <- gbt_metric("near", function(pred, label) mean(abs(pred - label) < 4), maximise = TRUE)
  v <- gbt:::compare_models(a, b, d, spec(mpg ~ ., eval_metric = list("rmse", near)))
  share <- function(m) mean(abs(predict(m, d) - d$mpg) < 4)
  expect_identical(v$metric, "near")
  expect_equal(c(v$champion, v$challenger, v$difference), c(share(a), share(b), share(a) - share(b)))
  at <- (abs(predict(a, d) - d$mpg) < 4) - (abs(predict(b, d) - d$mpg) < 4)
  expect_equal(v$upper - v$difference, qt(0.975, 31) * sd(at) / sqrt(32), tolerance = 0.15)
  expect_true(v$promote)
  expect_false(gbt:::compare_models(b, a, d, spec(mpg ~ ., eval_metric = near))$promote)
  v <- gbt:::compare_models(a, b, d, spec(mpg ~ ., eval_metric = "mae"))
  expect_equal(v$challenger, mean(abs(predict(b, d) - d$mpg)))
  expect_error(gbt:::compare_models(a, b, d, spec(mpg ~ .)), "compared by a metric", class = "gbt_error_argument")
})

test_that("losses of every objective are numbers that are least for the truth", {
  mu <- c(0.2, 0.4, 0.5, 0.8)
  for (objective in gbt_objectives()$name) {
    if (objective == "softmax") next # only with classes
    model <- list(objective = objective, params = list(quantile_alpha = 0.5))
    at <- gbt:::loss_of_numbers(model, mu, mu)$loss
    above <- gbt:::loss_of_numbers(model, mu, mu * 1.2)$loss
    below <- gbt:::loss_of_numbers(model, mu, mu * 0.8)$loss
    expect_true(all(is.finite(c(at, above, below))), label = objective)
    expect_true(all(at < above & at < below), label = objective)
  }
  model <- list(objective = "poisson", params = list())
  expect_equal(gbt:::loss_of_numbers(model, c(0, 3), c(1, 2))$loss, poisson()$dev.resids(c(0, 3), c(1, 2), 1))
})

test_that("what fails is told in words, and the live model stays", {
  path <- file.path(withr::local_tempdir(), "live.gbt")
  hub <- gbt:::refresh_hub(path, spec())
  refresh(hub, rows(), 0.25)
  expect_identical(hub$state, "promoted")
  expect_identical(hub$verdict$rows, 150L)
  live <- gbt_load(path)$state
  bad <- rows()
  bad$y[7] <- NA
  refresh(hub, bad, rows(50))
  expect_identical(hub$state, "failed")
  expect_match(hub$message, "missing value")
  for (holdout in list(0, 0.95, "a", rows(10)["a"])) {
    refresh(hub, rows(), holdout)
    expect_identical(hub$state, "failed")
  }
  refresh(hub, 3, 0.2)
  expect_match(hub$message, "must be a data frame")
  expect_same_bytes(gbt_load(path)$state, live)
  # a file that cannot be read says nothing of the job, and the model that was read before stays live
  good <- bytes_of_file(path)
  writeLines("no model", path)
  hub$state <- "running"
  expect_same_bytes(gbt:::live_model(hub)$state, live)
  expect_identical(hub$state, "running")
  expect_match(hub$unreadable, "cannot be read; the model that was read before stays in use")
  expect_same_bytes(gbt:::champion_of(hub)$state, live) # a challenger is compared with it
  writeBin(good, path)
  expect_same_bytes(gbt:::live_model(hub)$state, live)
  expect_null(hub$unreadable)
  writeLines("no model", path)
  hub$last <- NULL # another R process
  expect_null(gbt:::live_model(hub))
  hub$state <- "idle"
  refresh(hub, rows(), 0.25)
  expect_match(hub$verdict$words, "the earlier model cannot be read")
  expect_null(hub$unreadable)
  unlink(path)
  expect_null(gbt:::live_model(hub))
})

test_that("the server trains, cancels, and all sessions see the new model", {
  skip_if_not_installed("shiny")
  path <- file.path(withr::local_tempdir(), "live.gbt")
  long <- new.env()
  data <- function() rows(3000)
  app <- function(id, ...) gbt_refresh_server(id, y ~ ., data, path, holdout = 0.2, nrounds = 1e6, eval_train = TRUE,
                                              max_seconds = long$seconds, threads = 1, seed = 1, ...)
  until <- function(session, test) {
    end <- Sys.time() + 600
    while (!test()) {
      if (Sys.time() > end) stop("nothing has happened within 600 s")
      Sys.sleep(0.05)
      session$elapse(300)
    }
  }
  hub <- function() gbt:::package_state$hubs[[file.path(normalizePath(dirname(path)), basename(path))]]
  long$seconds <- 3 # long enough to be seen on a busy machine
  shiny::testServer(app, {
    expect_identical(session$returned$state(), "idle")
    expect_null(session$returned$model())
    session$setInputs(refresh = 1)
    expect_identical(session$returned$state(), "running")
    expect_true(output$state$running)
    until(session, function() isTRUE(hub()$status$round > 1))
    expect_match(output$state$text, "^round [0-9,]+ of 1,000,000")
    expect_false(output$state$held || output$state$past)
    until(session, function() session$returned$state() != "running")
    expect_identical(session$returned$state(), "promoted")
    expect_match(as.character(output$words$html), "there was no earlier model")
    expect_match(as.character(output$card$html), "Held-out logloss")
    expect_s3_class(session$returned$model(), "gbt")

    # another process replaces the file
    other <- gbt_train(y ~ ., rows(), nrounds = 2, threads = 1)
    gbt_save(other, path)
    session$elapse(1100)
    expect_same_bytes(session$returned$model()$state, gbt_load(path)$state)
    expect_identical(session$returned$model()$nrounds, 2L)
  }, args = list(id = "m"))

  long$seconds <- NULL
  shiny::testServer(app, {
    session$setInputs(refresh = 1)
    until(session, function() isTRUE(hub()$status$round > 1))
    session$setInputs(cancel = 1)
    expect_identical(session$returned$state(), "cancelled")
    expect_match(as.character(output$words$html), "Cancelled after [0-9,]+ rounds; the live model stays")
    expect_identical(session$returned$model()$nrounds, 2L)
  }, args = list(id = "m"))
  expect_error(gbt_refresh_server("m", "y ~ .", data, path), class = "gbt_error_argument")
  expect_error(gbt_refresh_server("m", y ~ ., data, path, margin = -1), class = "gbt_error_argument")
  expect_error(gbt_refresh_server("m", y ~ ., data, path, mask = TRUE), class = "gbt_error_argument")
  expect_match(as.character(gbt_refresh_ui("m", "A & B")), "A &amp; B", fixed = TRUE)
  # buttons are part of the page from the beginning and stay
  for (id in c("refresh", "cancel", "anyway", "restore")) {
    expect_match(as.character(gbt_refresh_ui("m")), sprintf("<button[^>]* id=\"m-%s\"", id))
  }
})
