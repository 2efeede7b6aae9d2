# Learning rates by round.

rates <- function(round) 0.4 * 0.9^round

made <- function(n = 300) {
  set.seed(7)
  x <- data.frame(a = rnorm(n), b = runif(n), f = factor(sample(letters[1:6], n, TRUE)))
  x$y <- x$a + (x$f %in% c("a", "d")) + rnorm(n, sd = 0.5)
  x
}

fit <- function(..., nrounds = 8, eta = rates, threads = 1) {
  gbt_train(y ~ ., made(), nrounds = nrounds, eta = eta, max_depth = 3, seed = 3, threads = threads,
            cat_method = "sets", ...) # statistics of categories are others when training goes on
}

test_that("a function, its values and every number of threads give the same model, and the trees have these steps", {
  m <- fit()
  expect_equal(m$params$eta, rates(1:8))
  expect_same_bytes(fit(eta = rates(1:8), threads = 2)$state, m$state)
  expect_same_bytes(fit(eta = rep(0.1, 8))$state, fit(eta = 0.1)$state)
  expect_identical(fit(eta = function(round) 0.1)$params$eta, 0.1)
  # the first tree of either sees the same gradients: its values differ by the steps alone
  values <- function(m) subset(as.data.frame(m), round == 1 & is.na(feature))$value
  expect_equal(values(m) / rates(1), values(fit(eta = 1)))
  shown <- capture.output(print(m))
  expect_match(shown, "eta +0.36 to 0.1722, by round", all = FALSE)
  expect_match(capture.output(summary(m)), "eta 0.36 to 0.1722, by round", all = FALSE)
})

test_that("the rates of rounds, one by one, are those that training in pieces with constant rates has", {
  m <- NULL
  for (round in 1:4) m <- fit(nrounds = 1, eta = rates(round), init_model = m)
  whole <- fit(nrounds = 4)
  expect_same_bytes(m$state, whole$state)
  expect_identical(m$params$eta, whole$params$eta)
})

test_that("every number of rounds has the first of the rates", {
  whole <- fit(nrounds = 65)
  for (n in c(1:3, 7:9, 15:17, 31:33, 63:65)) {
    m <- fit(nrounds = n)
    expect_same_bytes(m$state, whole[seq_len(n)]$state)
    expect_identical(m$params$eta, rates(seq_len(n)))
  }
})

test_that("going on from a model counts on, and looks back with the rates of that model", {
  for (way in list(list(), list(sampling_method = "mvs", subsample = 0.4), list(num_parallel_tree = 2))) {
    fit_this <- function(...) do.call(fit, c(list(...), way))
    whole <- fit_this(nrounds = 9)
    first <- fit_this(nrounds = 4)
    expect_same_bytes(fit_this(nrounds = 5, init_model = first)$state, whole$state)
    expect_same_bytes(fit_this(nrounds = 5, eta = rates(5:9), init_model = first)$state, whole$state)
    expect_same_bytes(whole[1:4]$state, first$state)
    expect_identical(whole[5:9]$params$eta, rates(5:9))
    expect_identical(whole[3]$params$eta, rates(3))
  }
  file <- withr::local_tempfile()
  gbt_save(whole, file)
  expect_identical(gbt_load(file)$params, whole$params)
  broken <- whole
  for (eta in list(rates(1:3), replace(rates(1:9), 2, 2), "a", rates(1:9) * NA)) {
    broken$params$eta <- eta
    expect_error(predict(broken, made()), "`params`|eta", class = "gbt_error")
  }
})

test_that("checkpoints know the rates of the rounds that are done", {
  folder <- withr::local_tempdir()
  kept <- function(...) fit(..., checkpoint = folder, checkpoint_seconds = 0)
  expect_error(kept(callbacks = function(now) if (now$round == 3) stop("crash")), "crash")
  expect_error(kept(eta = replace(rates(1:8), 2, 0.9)), "`eta` of round 2 was 0.324 and is 0.9 now",
               class = "gbt_error_argument")
  expect_same_bytes(kept(threads = 2)$state, fit()$state)
  expect_same_bytes(kept(nrounds = 11)$state, fit(nrounds = 11)$state)
})

test_that("cross-validation, search and gbt_refit() carry the rates", {
  d <- made()
  asked <- 0
  counted <- function(round) {
    asked <<- asked + 1
    rates(round)
  }
  cv <- gbt_cv(y ~ ., d, nrounds = 20, eta = counted, max_depth = 3, folds = 3, seed = 1, threads = 1)
  expect_identical(asked, 20)
  fold <- gbt_train(gbt_data(d[-4], threads = 1), d$y, mask = !seq_len(300) %in% cv$folds[[1L]], nrounds = 20,
                    eta = rates(1:20), max_depth = 3, seed = 1, threads = 1)
  expect_identical(cv$predictions[cv$folds[[1L]]], fold$masked_out)
  again <- gbt_refit(cv, nrounds = 5)
  expect_identical(again$params$eta, rates(1:5))
  expect_identical(gbt_refit(cv, nrounds = 5, eta = 0.2)$params$eta, 0.2)
  steps <- rates(1:20)
  tuned <- gbt_tune(y ~ ., d, nrounds = 20, learning_rate = steps, folds = 3, configs = 4, method = "halving",
                    reduction = 2, min_rounds = 5, space = list(max_depth = c(1, 6)), seed = 1, threads = 1)
  expect_length(tuned$errors, 0L)
  expect_identical(tuned$params$eta, rates(1:20))
  best <- gbt_refit(tuned)
  expect_identical(best$params$eta, rates(seq_len(best$nrounds)))
})

test_that("wrong rates are errors that name the round", {
  expect_snapshot(error = TRUE, {
    fit(eta = c(0.1, 0.2))
    fit(eta = numeric(0))
    fit(eta = replace(rates(1:8), 5, NA))
    fit(eta = function(round) round)
    fit(eta = function(round) if (round > 2) "fast" else 0.1)
    fit(eta = function(round) if (round > 2) stop("no idea") else 0.1)
    fit(eta = function() 0.1)
    fit(eta = 0)
  })
})
