# Several trainings with different seeds as one model.

rows <- local({
  set.seed(8)
  n <- 400
  x <- data.frame(a = rnorm(n), b = runif(n), f = factor(sample(letters, n, TRUE)), g = factor(sample(1:9, n, TRUE)))
  list(x = x, y = x$a + (x$f %in% c("a", "e", "m")) + rnorm(n), class = factor(sample(c("u", "v", "w"), n, TRUE)))
})

# The mean of the scores of trainings that are done one by one.
by_hand <- function(k, x, y, ..., seed = 1, new = x) {
  scores <- lapply(seq_len(k), function(i) {
    m <- gbt_train(x, y, ..., seed = member_seed(seed, i), threads = 1)
    list(score = predict(m, new, type = "link"), model = m)
  })
  list(score = Reduce(`+`, lapply(scores, `[[`, "score")) / k, models = lapply(scores, `[[`, "model"))
}

test_that("the score is the mean of the members', for all kinds of trainings", {
  d <- rows
  ways <- list(
    list(d$y), list(d$class), list(d$y > 0), list(d$y, cat_method = "sets"), list(d$y, cat_method = "target"),
    list(d$y, cat_method = "target", max_cat_combine = 2), list(d$class, cat_method = c("target", "count")),
    list(d$y, num_parallel_tree = 2), list(d$y, grow_policy = "symmetric"), list(d$y, boosting = "ordered"),
    list(d$y, level_counts = TRUE), list(d$y, objective = "quantile", quantile_alpha = 0.3)
  )
  for (way in ways) {
    call <- c(list(d$x), way, list(nrounds = 6, max_depth = 3, subsample = 0.7, seed = 1))
    m <- do.call(gbt_train, c(call, list(ensemble = 3, threads = 1)))
    twin <- do.call(by_hand, c(list(3), call))
    expect_equal(predict(m, d$x, type = "link"), twin$score, tolerance = 1e-12)
    expect_equal(m$nrounds, 6)
    expect_equal(m$params$ensemble, 3)
    expect_equal(m$params$num_parallel_tree, 3 * given_or(way$num_parallel_tree, 1))
    expect_same_bytes(do.call(gbt_train, c(call, list(ensemble = 3, threads = 2)))$state, m$state)
    first <- Reduce(`+`, lapply(twin$models, predict, d$x, type = "link", trees = 2)) / 3
    expect_equal(predict(m, d$x, type = "link", trees = 2), first, tolerance = 1e-12)
    expect_equal(predict(m[1:2], d$x, type = "link"), first, tolerance = 1e-12)
    differ <- predict(twin$models[[1]], d$x, type = "link") - predict(twin$models[[2]], d$x, type = "link")
    expect_gt(max(abs(differ)), 1e-6) # seeds matter
  }
})

test_that("an ensemble is a model like others", {
  d <- rows
  m <- gbt_train(d$x, d$y, nrounds = 5, ensemble = 4, subsample = 0.5, seed = 1, threads = 1, cat_method = "target")
  file <- withr::local_tempfile()
  gbt_save(m, file)
  expect_identical(predict(gbt_load(file), d$x), predict(m, d$x))
  shares <- predict(m, d$x[1:20, ], type = "contrib")
  expect_equal(unname(rowSums(shares)), predict(m, d$x[1:20, ]), tolerance = 1e-10)
  expect_setequal(gbt_importance(m)$feature, c("a", "b", "f", "g"))
  expect_equal(max(as.data.frame(m)$tree), 20)
  expect_match(paste(capture.output(print(m)), collapse = "\n"), "5, 4 trees in each, mean of 4 models")
  refitted <- gbt_refit(m)
  expect_same_bytes(refitted$state, m$state)
  expect_equal(update(m, ensemble = 2)$params$ensemble, 2)
  expect_identical(predict(m, gbt_data(d$x, threads = 1)), predict(m, d$x))
  one <- gbt_train(d$x, d$y, nrounds = 5, ensemble = 1, seed = 1, threads = 1)
  expect_same_bytes(one$state, gbt_train(d$x, d$y, nrounds = 5, seed = 1, threads = 1)$state)
})

test_that("rounds of an ensemble are found by its first member", {
  d <- rows
  train <- function(...) suppressMessages(gbt_train(d$x, d$y, eta = 0.3, max_depth = 2, subsample = 0.8, seed = 1,
                                                    threads = 1, ...))
  one <- train(valid = 0.3)
  several <- train(valid = 0.3, ensemble = 3)
  expect_identical(several$nrounds, one$best_round)
  expect_identical(several$best_round, one$best_round)
  expect_identical(several$best_score, one$best_score)
  found <- train(ensemble = 3)
  expect_identical(found$auto_rounds, train()$auto_rounds)
  expect_equal(found$nrounds, train()$nrounds)
  expect_null(found$best_round)
})

test_that("masked-out rows are predicted by the mean", {
  d <- rows
  mask <- rep(c(TRUE, TRUE, FALSE), length.out = 400)
  for (offset in list(NULL, d$x$b)) {
    m <- gbt_train(gbt_data(d$x, threads = 1), d$class == "u", mask = mask, offset = offset, nrounds = 4, ensemble = 2,
                   subsample = 0.5, seed = 1, threads = 1)
    expect_identical(m$masked_out, predict(m, d$x[!mask, ], offset = offset[!mask]))
  }
  several <- gbt_train(gbt_data(d$x, threads = 1), d$class, mask = mask, nrounds = 4, ensemble = 2, subsample = 0.5,
                       seed = 1, threads = 1)
  expect_identical(unname(several$masked_out), unname(predict(several, d$x[!mask, ])))
})

test_that("what ends a training ends an ensemble", {
  d <- rows
  train <- function(...) gbt_train(d$x, d$y, max_depth = 3, subsample = 0.8, seed = 1, threads = 1, ...)
  stop_at_2 <- function(now) now$round == 2
  m <- train(nrounds = 9, ensemble = 3, callbacks = stop_at_2)
  expect_identical(c(m$nrounds, m$stopped), c("2", "callback"))
  expect_null(m$params$ensemble)
  late <- train(nrounds = 30, ensemble = 1000, max_seconds = 0.5)
  expect_identical(late$stopped, "time")
  expect_lt(given_or(late$params$ensemble, 1), 1000)
  own <- list(gradient = function(score, label) {
    calls <<- calls + 1
    if (calls == 9) stop("no more")
    score - label
  }, hessian = function(score, label) rep(1, length(score)))
  calls <- 0
  cut <- tryCatch(train(nrounds = 3, ensemble = 4, objective = own), gbt_error_callback = identity) # in member 3
  expect_identical(c(cut$model$stopped, cut$model$params$ensemble), c("error", "2"))
  folder <- withr::local_tempdir()
  kept <- train(nrounds = 4, ensemble = 2, checkpoint = folder, checkpoint_seconds = 0)
  expect_true(file.exists(file.path(folder, "member-2", "gbt-checkpoint")))
  expect_same_bytes(train(nrounds = 4, ensemble = 2, checkpoint = folder, checkpoint_seconds = 0)$state, kept$state)
  expect_same_bytes(kept$state, train(nrounds = 4, ensemble = 2)$state)
})

test_that("what cannot be is an error", {
  d <- rows
  first <- gbt_train(d$x, d$y, nrounds = 2, threads = 1)
  two <- gbt_train(d$x, d$y, nrounds = 2, ensemble = 2, threads = 1)
  expect_snapshot(error = TRUE, {
    gbt_train(d$x, d$y, nrounds = 2, ensemble = 2, init_model = first)
    gbt_train(d$x, d$y, nrounds = 2, init_model = two)
    gbt_train(d$x, d$y, nrounds = 2, ensemble = 0)
    gbt_train(d$x, d$y, nrounds = 2, ensemble = 1.5)
  })
})

test_that("presets are rules for what is not named", {
  d <- rows
  train <- function(...) gbt_train(d$x, d$y, nrounds = 5, seed = 1, threads = 1, ...)
  usual <- train()
  expect_same_bytes(train(preset = "default")$state, usual$state)
  best <- train(preset = "best")
  expect_gt(best$params$ensemble, 1)
  expect_true("ensemble" %in% best$by_rule)
  expect_identical(best$params$preset, "best")
  named <- do.call(train, c(best$params[setdiff(best$by_rule, "ensemble")], ensemble = best$params$ensemble))
  expect_identical(predict(named, d$x), predict(best, d$x))
  expect_equal(train(preset = "best", ensemble = 2)$params$ensemble, 2)
  expect_equal(train(preset = "best", eta = 0.3)$params$eta, 0.3)
  expect_null(train(preset = "best", ensemble = 1)$params$ensemble)
  fast <- train(preset = "fast")
  expect_identical(fast$params[c("grow_policy", "max_depth", "colsample_bytree")],
                   list(grow_policy = "symmetric", max_depth = 6, colsample_bytree = 0.8)) # of four
  expect_identical(fast$params$max_bin, 127)
  expect_true("max_bin" %in% fast$by_rule)
  data <- gbt_data(d$x, threads = 1)
  binned <- gbt_train(data, d$y, preset = "fast", nrounds = 5, seed = 1, threads = 1)
  expect_identical(binned$params$max_bin, 255)
  expect_false("max_bin" %in% binned$by_rule)
  expect_identical(gbt_refit(fast)$state, fast$state)
  cv <- gbt_cv(d$x, d$y, preset = "fast", nrounds = 5, folds = 3, seed = 1, threads = 1)
  expect_identical(cv$params$max_bin, 127)
  expect_identical(gbt_refit(cv)$params[fast$by_rule], fast$params[fast$by_rule])
  tuned <- gbt_tune(d$x, d$y, preset = "fast", space = list(lambda = c(1, 2)), configs = 2, nrounds = 5, folds = 3,
                    seed = 1, threads = 1)
  expect_identical(tuned$params$max_bin, 127)
  expect_identical(gbt_refit(tuned)$params$max_bin, 127)
  found <- gbt_train(d$x, d$y, preset = "fast", seed = 1, threads = 1)
  expect_identical(found$params[c("max_bin", "eta")], list(max_bin = 127, eta = 0.15))
  expect_identical(train(preset = "fast", init_model = train(preset = "fast"))$params$max_bin, 127)
  expect_identical(fast$params$eta, usual$params$eta) # of so many rounds, which none stop early
  expect_identical(train(preset = "fast", valid = 0.2, early_stopping_rounds = 3)$params$eta, 0.15)
  named <- do.call(train, fast$params[fast$by_rule])
  expect_identical(predict(named, d$x), predict(fast, d$x))
  own <- train(preset = "fast", depth = 3, colsample_bynode = 0.9)$params
  expect_identical(own[c("grow_policy", "max_depth", "colsample_bytree")],
                   list(grow_policy = "depthwise", max_depth = 3, colsample_bytree = 1))
  refitted <- gbt_refit(best)
  expect_identical(predict(refitted, d$x), predict(best, d$x))
  cv <- gbt_cv(d$x, d$y, preset = "best", nrounds = 5, folds = 3, seed = 1, threads = 1)
  expect_equal(gbt_refit(cv)$params$ensemble, best$params$ensemble)
  expect_snapshot(error = TRUE, {
    train(preset = "bset")
    train(preset = 1)
    train(preset = "best", init_model = usual)
  })
})

test_that("whose log an ensemble has is printed and drawn", {
  d <- rows
  train <- function(...) gbt_train(d$x, d$y, nrounds = 5, subsample = 0.5, valid = 301:400, seed = 1, threads = 1, ...)
  m <- train(ensemble = 3)
  one <- train()
  expect_identical(m$evaluation_log, one$evaluation_log)
  words <- "of the first of 3 models, not of their mean"
  printed <- grep("^log ", capture.output(print(m)), value = TRUE)
  expect_match(printed, paste0("^log +round 5: valid_rmse [0-9.]+; ", words, "$"))
  expect_no_match(capture.output(print(one)), "of the first of")
  subtitles <- function(m, ...) {
    found <- NULL
    in_sizes(plot(m, ...), function(record, size) found <<- c(found, labels_of(record, "subtitle")))
    unique(found)
  }
  expect_true(words %in% subtitles(m))
  expect_length(subtitles(one), 0L)
  expect_identical(subtitles(m, sub = "mine"), "mine")
  expect_false(isTRUE(all.equal(gbt_evaluate(m, d$x[301:400, ], d$y[301:400], metrics = "rmse", threads = 1)$estimate,
                                m$evaluation_log$valid_rmse[5]))) # the mean has another
  skip_if_not_installed("generics")
  expect_true("valid_rmse" %in% names(generics::glance(one)))
  expect_false("valid_rmse" %in% names(generics::glance(m)))
  skip_if_not_installed("ggplot2")
  expect_identical(ggplot2::autoplot(m)$labels$subtitle, words)
  expect_null(ggplot2::autoplot(one)$labels$subtitle)
})

test_that("parameters of an ensemble train another one like it", {
  for (more in list(list(mpg ~ ., mtcars), list(Species ~ ., iris, multi_strategy = "multi_output_tree"))) {
    m <- do.call(gbt_train, c(more, list(nrounds = 4, preset = "best", seed = 2, threads = 1)))
    again <- do.call(gbt_train, c(more[1:2], list(nrounds = 4, params = m$params, threads = 1)))
    expect_same_bytes(again$state, m$state)
  }
  own <- list(ensemble = 5, num_parallel_tree = 5) # a user's
  expect_identical(gbt:::member_params(own), own)
  for (objective in c("huber", "quantile", "expectile")) { # which have an `alpha` elsewhere
    m <- gbt_train(mpg ~ ., mtcars, objective = objective, nrounds = 3, reg_alpha = 0.5, threads = 1)
    again <- gbt_train(mpg ~ ., mtcars, objective = objective, nrounds = 3, params = m$params, threads = 1)
    expect_same_bytes(again$state, m$state)
    expect_error(gbt_train(mpg ~ ., mtcars, objective = objective, alpha = 0.5, threads = 1), "`alpha` could mean",
                 class = "gbt_error_argument")
    # the same parameters by searches, which read them again
    found <- suppressMessages(gbt_train(mpg ~ ., mtcars, objective = objective, params = m$params, threads = 1))
    expect_identical(found$params$alpha, 0.5)
    cv <- gbt_cv(mpg ~ ., mtcars, objective = objective, nrounds = 2, reg_alpha = 0.5, threads = 1, seed = 1)
    expect_identical(cv$params$alpha, 0.5)
    tuned <- gbt_tune(mpg ~ ., mtcars, objective = objective, nrounds = 2, reg_alpha = 0.5, threads = 1, seed = 1,
                      space = list(max_depth = 2:3), folds = 2)
    expect_false(anyNA(tuned$results$estimate))
  }
  p <- gbt_train(mpg ~ ., mtcars, nrounds = 3, threads = 1)$params
  again <- gbt_train(mpg ~ ., mtcars, eval_metric = "huber", nrounds = 3, params = p, threads = 1)
  expect_identical(again$params$alpha, 0)
})
