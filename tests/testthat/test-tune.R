# gbt_tune(): the search for parameters.

made <- function(n = 240) {
  set.seed(8)
  x <- data.frame(a = rnorm(n), b = runif(n), f = factor(sample(letters[1:6], n, TRUE)), g = rnorm(n))
  x$y <- x$a * (x$f %in% c("a", "e")) + x$b + 0.5 * rnorm(n)
  x
}

space <- list(eta = c(0.05, 0.4), max_depth = c(1, 5), lambda = c(0.1, 30), subsample = c(0.5, 1))
columns <- c("rounds", "estimate", "std_error", "stage")

test_that("each row is what gbt_cv() gives for its parameters, and the best one is trained by gbt_refit()", {
  d <- made()
  tuned <- gbt_tune(y ~ ., d, space = space, configs = 7, folds = 4, nrounds = 40, early_stopping_rounds = 5,
                    eval_metric = c("rmse", "mae"), seed = 3, threads = 2)
  expect_s3_class(tuned, "gbt_tune")
  expect_identical(names(tuned$results),
                   c("config", names(space), "rounds", "estimate", "std_error", "seconds", "stage"))
  expect_identical(tuned$results, as.data.frame(tuned))
  for (i in 1:7) {
    row <- tuned$results[i, ]
    cv <- gbt_cv(y ~ ., d, params = as.list(row[names(space)]), folds = 4, nrounds = 40, early_stopping_rounds = 5,
                 eval_metric = c("rmse", "mae"), seed = 3, threads = 1)
    expect_identical(row$estimate, cv$best_score)
    expect_identical(row$rounds, cv$best_round)
    expect_identical(row$std_error, cv$evaluation_log$test_mae_se[cv$best_round])
    expect_identical(cv$folds, tuned$folds)
  }
  best <- which.min(tuned$results$estimate)
  expect_identical(tuned$best_config, best)
  expect_identical(tuned$metric, "mae")
  expect_false(tuned$larger_is_better)
  expect_identical(tuned$best, as.list(tuned$results[best, names(space)]))
  model <- gbt_refit(tuned)
  hand <- gbt_train(y ~ ., d, params = tuned$best, nrounds = tuned$results$rounds[best], seed = 3, threads = 1)
  expect_same_bytes(model$state, hand$state)
  other <- gbt_refit(tuned, learning_rate = 0.5, nrounds = 3)
  expect_identical(c(other$params$eta, other$nrounds, other$params$max_depth), c(0.5, 3, tuned$best$max_depth))
})

test_that("the result follows from the seed, whatever form the data have and whatever else is in the space", {
  d <- made()
  x <- d[c("a", "b", "f", "g")]
  call <- list(space = space, configs = 4, folds = 3, nrounds = 10, seed = 5)
  one <- do.call(gbt_tune, c(list(x, d$y, threads = 1), call))
  two <- do.call(gbt_tune, c(list(gbt_data(x, label = d$y, threads = 2), threads = 2), call))
  expect_identical(one$results[columns], two$results[columns])
  more <- list(c(list(gamma = c(0, 1)), space))
  wider <- do.call(gbt_tune, c(list(x, d$y, threads = 1), replace(call, "space", more)))
  expect_identical(wider$results[names(space)], one$results[names(space)])
  longer <- do.call(gbt_tune, c(list(x, d$y, threads = 1), replace(call, "configs", 6)))
  expect_identical(longer$results[1:4, columns], one$results[columns])
  weighed <- do.call(gbt_tune, c(list(x, d$y, weights = rep(1:2, 120), mask = NULL, threads = 1), call))
  expect_false(identical(weighed$results$estimate, one$results$estimate))
  set.seed(1)
  before <- .Random.seed
  do.call(gbt_tune, c(list(x, d$y, threads = 1), replace(call, "configs", 1)))
  expect_identical(.Random.seed, before)
})

test_that("draws keep to their ranges and scales", {
  read <- gbt:::read_space(list(eta = c(0.01, 1), depth = c(2, 5), subsample = c(0.5, 1), lambda = list(0, 1, 7),
                                grow_policy = c("depthwise", "symmetric")), NULL, list())
  drawn <- gbt:::draw_configs(read, 2000, 1)
  expect_identical(names(drawn), c("eta", "max_depth", "subsample", "lambda", "grow_policy"))
  expect_true(all(drawn$eta >= 0.01 & drawn$eta <= 1) && abs(mean(drawn$eta < 0.1) - 0.5) < 0.04)
  expect_setequal(drawn$max_depth, 2:5)
  expect_true(all(abs(table(drawn$max_depth) - 500) < 80) && all(abs(table(drawn$lambda) - 2000 / 3) < 90))
  expect_true(abs(mean(drawn$subsample < 0.75) - 0.5) < 0.04)
  expect_lt(max(abs(cor(data.matrix(drawn[c("eta", "max_depth", "subsample", "lambda")])) - diag(4))), 0.08)
  plain <- gbt:::draw_configs(gbt:::read_space(list(eta = c(0.01, 1)), character(0), list()), 2000, 1)
  expect_true(abs(mean(plain$eta < 0.505) - 0.5) < 0.04)
  few <- gbt:::draw_configs(gbt:::read_space(list(max_depth = c(1, 3), lambda = c(1, 2, 3)), NULL, list()), 9, 1)
  expect_identical(nrow(unique(few)), 9L)
  some <- gbt:::draw_configs(gbt:::read_space(list(max_depth = c(1, 3), lambda = c(1, 2, 3)), NULL, list()), 8, 1)
  expect_identical(nrow(unique(some)), 8L)
  usual <- gbt:::draw_configs(gbt:::read_space(NULL, NULL, list()), 300, 4)
  expect_identical(usual$max_leaves > 0, usual$grow_policy == "lossguide")
  expect_false("max_leaves" %in% names(gbt:::read_space(NULL, NULL, list(grow_policy = "symmetric", mtry = 2))))
})

test_that("halving trains the best ones further, to what random search would say of them", {
  d <- made()
  call <- list(y ~ ., d, space = space, configs = 10, folds = 3, nrounds = 45, seed = 2, threads = 1)
  random <- do.call(gbt_tune, call)$results
  halved <- do.call(gbt_tune, c(call, method = "halving", min_rounds = 5))$results
  expect_identical(as.vector(table(halved$stage)), c(6L, 2L, 2L))
  last <- halved$stage == 3
  expect_identical(halved[last, columns[1:3]], random[last, columns[1:3]])
  expect_true(min(halved$estimate[last]) <= min(halved$estimate))
  expect_lte(max(halved$rounds[halved$stage == 1]), 5)
  stages <- function(n, rounds, by = 3) {
    gbt:::search_stages(n, rounds, list(method = "halving", reduction = by, min_rounds = 10))
  }
  for (n in c(1:4, 7:10, 26:28, 80:82)) for (rounds in c(1, 9:11, 29:31, 89:91, 500)) for (by in c(2, 3)) {
    s <- stages(n, rounds, by)
    good <- s$rounds[length(s$rounds)] == rounds && s$configs[1] == n && min(s$configs) >= 1 &&
      (length(s$rounds) == 1 || min(s$rounds) >= 10) && all(diff(s$configs) < 0) && all(diff(s$rounds) > 0)
    if (!good) fail(sprintf("stages of %d configurations, %d rounds, by %d", n, rounds, by))
  }
})

test_that("a parameter that another one leaves without a part is left out of a configuration", {
  d <- made()
  space <- list(leaf_model = c("constant", "linear"), linear_lambda = c(0.1, 10), lambda = c(1, 5))
  tuned <- gbt_tune(y ~ ., d, space = space, configs = 6, folds = 2, nrounds = 3, seed = 1, threads = 1)
  r <- tuned$results
  expect_setequal(r$leaf_model, c("constant", "linear"))
  expect_identical(is.na(r$linear_lambda), r$leaf_model == "constant")
  expect_false(anyNA(r$estimate))
  expect_identical("linear_lambda" %in% names(tuned$best), tuned$best$leaf_model == "linear")
  for (i in c(which(r$leaf_model == "constant")[1L], which(r$leaf_model == "linear")[1L])) {
    params <- Filter(Negate(is.na), as.list(r[i, names(space)]))
    cv <- gbt_cv(y ~ ., d, params = params, folds = 2, nrounds = 3, early_stopping_rounds = 20, seed = 1, threads = 1)
    expect_identical(cv$best_score, r$estimate[i])
  }
  expect_identical(gbt_refit(tuned)$params$leaf_model, tuned$best$leaf_model)
  expect_output(print(tuned, n = 6), "NA")
  in_sizes(plot(tuned))
  # of a finite space each configuration once
  finite <- list(grow_policy = c("symmetric", "depthwise"), colsample_bynode = list(0.5, 1))
  all <- gbt_tune(y ~ ., d, space = finite, configs = 9, folds = 2, nrounds = 2, seed = 1, threads = 1)
  expect_identical(nrow(all$results), 3L)
  expect_false(anyNA(all$results$estimate))
  # where it never plays a part it is refused
  expect_error(gbt_tune(y ~ ., d, space = list(linear_lambda = c(0.1, 1))),
               "`linear_lambda` in `space` needs `leaf_model = \"linear\"`; it is \"constant\"",
               class = "gbt_error_argument")
  expect_error(gbt_tune(y ~ ., d, space = list(subsample = c(0.5, 1)), sampling_method = "goss"),
               "needs `sampling_method = \"uniform\" or \"mvs\"`; it is \"goss\"", class = "gbt_error_argument")
})

test_that("a limit of each configuration is told where none of the search is given", {
  d <- made(60)
  call <- function(...) gbt_tune(y ~ ., d, configs = 2, folds = 2, nrounds = 2, seed = 1, threads = 1, ...)
  expect_message(call(max_seconds = 50), "`max_seconds = 50` limits each of the 2 configurations; `seconds` limits")
  expect_silent(suppressWarnings(call(max_seconds = 50, seconds = 60)))
})

test_that("what fails is kept, with its message", {
  d <- made()
  wide <- list(top_rate = list(0.2, 0.7), other_rate = list(0.1, 0.5)) # at most 1 together
  messages <- character(0)
  tuned <- withCallingHandlers(
    gbt_tune(y ~ ., d, space = wide, configs = 9, folds = 3, nrounds = 5, sampling_method = "goss", seed = 1,
             threads = 1),
    gbt_warning_tune = function(w) {
      messages <<- c(messages, conditionMessage(w))
      invokeRestart("muffleWarning")
    }
  )
  bad <- tuned$results$top_rate + tuned$results$other_rate > 1
  expect_identical(is.na(tuned$results$estimate), bad)
  expect_identical(sum(bad), 1L)
  expect_identical(names(tuned$errors), as.character(which(bad)))
  expect_match(messages, "configuration [1-4] failed: `top_rate` and `other_rate` add up to 1.2")
  expect_false(tuned$best_config %in% which(bad))
  messages <- capture_warnings(
    none <- gbt_tune(y ~ ., d, space = list(num_parallel_tree = list(2, 3)), sampling_method = "goss", configs = 2,
                     folds = 3, nrounds = 5, seed = 1, threads = 1)
  )
  expect_match(messages, "configuration 1 failed: `num_parallel_tree` must be 1") # once for one reason
  expect_length(none$errors, 2L)
  expect_null(none$best)
  expect_error(gbt_refit(none), class = "gbt_error_argument")
  expect_error(plot(none), class = "gbt_error_argument")
  expect_output(print(none), "2 configurations \\(2 failed\\).*\n.*was rated: `num_parallel_tree` must be 1")
})

test_that("budgets of time and Ctrl-C give what is finished", {
  d <- made()
  tuned <- gbt_tune(y ~ ., d, space = space, seconds = 0.01, folds = 3, nrounds = 2000, early_stopping_rounds = 0,
                    seed = 1, threads = 1)
  expect_identical(tuned$stopped, "time")
  expect_lt(nrow(tuned$results), 100)
  expect_true(is.finite(tuned$results$estimate[1]))
  calls <- 0
  pressed <- gbt_metric("pressed", function(p, y) {
    calls <<- calls + 1
    if (calls > 3 * 3 * 5) stop(structure(class = c("interrupt", "condition"), list(message = "", call = NULL)))
    mean(abs(p - y))
  })
  run <- function() {
    gbt_tune(y ~ ., d, space = space, configs = 9, folds = 3, nrounds = 5, eval_metric = pressed, seed = 1, threads = 1)
  }
  part <- tryCatch(run(), interrupt = function(c) c$tune)
  expect_identical(part$stopped, "interrupt")
  expect_identical(nrow(part$results), 3L)
  expect_identical(gbt_last_interrupted(), part)
  calls <- -1e9
  expect_identical(run()$results[1:3, columns], part$results[columns])
})

test_that("classes, larger metrics, lines and printing", {
  lines <- character(0)
  d <- made()
  d$two <- factor(ifelse(d$y > 0.5, "yes", "no"))
  tuned <- withCallingHandlers(
    gbt_tune(two ~ a + b + f, d, space = list(eta = c(0.1, 0.3), max_depth = list(2, 4)), configs = 3, nfold = 3,
             nrounds = 8, eval_metric = "auc", seed = 4, threads = 1, verbose = 1),
    gbt_message = function(m) {
      lines <<- c(lines, conditionMessage(m))
      invokeRestart("muffleMessage")
    }
  )
  expect_length(lines, 3)
  expect_match(lines, "^\\[[1-3]/3\\] auc 0\\.[0-9]+ \\(round [1-8]\\)  eta [0-9.]+, max_depth [24]\n$")
  expect_true(tuned$larger_is_better)
  expect_identical(max(tuned$results$estimate), tuned$results$estimate[tuned$best_config])
  expect_output(print(tuned), "larger is better")
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_identical(plot(tuned), tuned)
})

test_that("wrong arguments are named", {
  d <- made(60)
  tune <- function(...) gbt_tune(y ~ ., d, ..., configs = 2, seed = 1, threads = 1)
  expect_snapshot(error = TRUE, {
    tune(space = list())
    tune(space = list(0.1))
    tune(space = list(etta = c(0, 1)))
    tune(space = list(eta = c(0.1, 2)))
    tune(space = list(eta = c(0.3, 0.1)))
    tune(space = list(eta = c(0.1, 0.3)), learning_rate = 0.1)
    tune(space = list(eta = c(0.1, 0.3), learning_rate = 0.1))
    tune(space = list(nrounds = c(10, 100)))
    tune(space = list(max_bin = c(10, 100)))
    tune(space = list(objective = "poisson"))
    tune(space = list(grow_policy = c("depthwise", "leafwise")))
    tune(space = list(cat_method = list("sets", "every")))
    tune(space = list(eta = mean))
    tune(log_scale = "alpha")
    tune(space = list(gamma = c(0, 1)), log_scale = "gamma")
    tune(space = list(eta = list(0.1, 0.2)), log_scale = "eta")
    tune(method = "best")
    tune(reduction = 3)
    tune(seconds = -1)
    tune(valid = 0.2)
    tune(mask = rep(TRUE, 60))
    tune(eta = "a")
    tune(folds = NULL)
    tune(nfold = 3, folds = 3)
    gbt_tune(y ~ ., d, configs = 0)
  })
  bytes <- "eta\xe9"
  Encoding(bytes) <- "bytes"
  expect_error(tune(log_scale = bytes), "`log_scale` must hold names", class = "gbt_error_argument")
})

test_that("a narrow range has fewer configurations than were asked for, and the search ends", {
  tuned <- gbt_tune(mpg ~ ., mtcars, space = list(eta = c(0.1, 0.1005)), configs = 30, nrounds = 2, folds = 2,
                    seed = 1, threads = 1)
  expect_lte(nrow(tuned$results), 6)
  expect_false(anyDuplicated(tuned$results$eta) > 0)
})

test_that("a usual space without ranges has every configuration once", {
  fixed <- list(eta = 0.1, lambda = 1, min_child_weight = 1, subsample = 1, colsample_bytree = 1, max_depth = 4)
  all <- gbt:::draw_configs(gbt:::read_space(NULL, NULL, fixed), 1000, 1)
  expect_identical(as.vector(table(all$grow_policy)[c("depthwise", "lossguide", "symmetric")]), c(1L, 249L, 1L))
  expect_false(any(duplicated(all)))
})

test_that("a search is drawn by its parameters, and by its course", {
  space <- list(eta = c(0.05, 0.5), max_depth = c(2, 5), grow_policy = c("depthwise", "lossguide"),
                lambda = c(0, 1, 10))
  tuned <- gbt_tune(mpg ~ ., mtcars, space = space, configs = 7, folds = 2, nrounds = 5, min_child_weight = 1,
                    seed = 1, threads = 1)
  expect_identical(names(tuned$space), names(space))
  expect_identical(tuned$space$eta[c("low", "high", "log")], list(low = 0.05, high = 0.5, log = TRUE))
  f <- gbt:::tune_figure(tuned, "parameters")
  expect_identical(vapply(f$panels, `[[`, "", "heading"), names(space))
  expect_identical(vapply(f$panels, function(p) p$x$log, NA), c(TRUE, FALSE, FALSE, FALSE))
  expect_identical(vapply(f$panels, function(p) p$x$kind, ""), c("number", "number", "factor", "factor"))
  expect_identical(f$panels[[4]]$x$levels, c("0", "1", "10"))
  ticks <- gbt:::scale_ticks(f$panels[[2]]$x)$at
  expect_identical(ticks, round(ticks))
  best <- tuned$best_config
  rest <- f$panels[[1]]$marks[[1]]$data
  expect_setequal(rest$x, tuned$results$eta[-best])
  expect_identical(f$panels[[1]]$marks[[2]]$data$x, tuned$best$eta)
  expect_identical(f$panels[[1]]$marks[[2]]$data$y, tuned$results$estimate[best])
  expect_identical(f$key$shown, c(TRUE, TRUE, FALSE, FALSE))

  failed <- tuned
  at <- setdiff(1:7, best)[1:2]
  failed$results$estimate[at] <- NA
  marked <- gbt:::tune_figure(failed, "parameters")
  expect_identical(marked$key$shown, c(TRUE, TRUE, FALSE, TRUE))
  crosses <- marked$panels[[1]]$marks[[1]]$data
  expect_setequal(crosses$x[crosses$set == 4], tuned$results$eta[at])
  expect_match(marked$subtitle, "7 configurations, 2 failed; best: number")
  staged <- tuned
  staged$results$stage[at] <- 0L
  expect_identical(sum(gbt:::tune_figure(staged, "parameters")$panels[[2]]$marks[[1]]$data$set == 3), 2L)

  one <- gbt_tune(mpg ~ ., mtcars, space = list(eta = c(0.05, 0.5)), configs = 3, folds = 2, nrounds = 5, seed = 1,
                  threads = 1)
  expect_identical(gbt:::tune_figure(one, "parameters")$x$title, "eta")
  for (x in list(tuned, failed, staged, one)) {
    for (type in c("parameters", "course")) {
      in_sizes(plot(x, type))
      skip_if_not_installed("ggplot2")
      withr::local_pdf(NULL)
      expect_s3_class(ggplot2::ggplot_build(ggplot2::autoplot(x, type)), "ggplot_built")
    }
  }
  course <- gbt:::tune_figure(tuned, "course")
  expect_identical(course$panels[[1]]$marks[[4]]$data$y, tuned$results$estimate)
  usual <- gbt_tune(mpg ~ ., mtcars, configs = 8, folds = 2, nrounds = 4, min_child_weight = 1, seed = 1, threads = 1)
  leaves <- gbt:::tune_figure(usual, "parameters")$panels[[match("max_leaves", names(usual$space))]]
  shown <- unlist(lapply(leaves$marks, function(m) m$data$x))
  expect_setequal(shown, usual$results$max_leaves[usual$results$max_leaves > 0])
  expect_error(plot(tuned, "both"), class = "gbt_error_argument")
  expect_snapshot(plot(tuned, xlim = c(0, 1)), error = TRUE)
})

test_that("logarithmic axes have ticks at round numbers, as many as asked for", {
  for (lim in list(c(0.09, 33), c(0.02, 0.3), c(8, 256), c(1e-8, 1e9), c(2, 3))) {
    for (n in c(2, 3, 5, 8)) {
      ticks <- gbt:::scale_ticks(gbt:::make_scale(numeric(0), lim = lim, log = TRUE), n)
      expect_gte(length(ticks$at), 1)
      expect_lte(length(ticks$at), n + 3)
      expect_equal(as.numeric(gsub(",", "", ticks$label)), ticks$at)
    }
  }
})

test_that("the learning rate of widths can be tuned, for distributions only", {
  d <- made()
  tuned <- gbt_tune(y ~ ., d, space = list(eta_scale = c(0.05, 1)), configs = 3, folds = 3, nrounds = 8, seed = 1,
                    objective = "dist_normal", early_stopping_rounds = 0, threads = 1)
  expect_length(unique(tuned$results$eta_scale), 3L)
  expect_length(unique(tuned$results$estimate), 3L)
  for (i in 1:3) {
    cv <- gbt_cv(y ~ ., d, folds = tuned$folds, nrounds = 8, seed = 1, objective = "dist_normal",
                 eta_scale = tuned$results$eta_scale[i], eta = 0.3, threads = 1)
    alone <- gbt_tune(y ~ ., d, space = list(eta_scale = list(tuned$results$eta_scale[i])), eta = 0.3,
                      folds = tuned$folds, nrounds = 8, seed = 1,
                      objective = "dist_normal", early_stopping_rounds = 0, threads = 1)
    log <- cv$evaluation_log
    expect_identical(alone$results$estimate, min(log[[grep("_mean$", names(log))]]))
  }
  expect_identical(gbt_refit(tuned)$params$eta_scale, tuned$best$eta_scale)
  expect_error(gbt_tune(y ~ ., d, space = list(eta_scale = c(0.1, 1)), nrounds = 2), "is a parameter of objective",
               class = "gbt_error_argument")
  expect_error(gbt_tune(y ~ ., d, space = list(eta_scale = c(0.1, 2)), objective = "dist_normal"), "at most 1",
               class = "gbt_error_argument")
})

test_that("a time limit before the first configuration leaves no earlier result", {
  d <- made()
  ends <- function() stop(structure(class = c("interrupt", "condition"), list(message = "", call = NULL)))
  try(tryCatch(gbt_train(y ~ ., d, nrounds = 5, threads = 1, callbacks = function(now) if (now$round == 2) ends()),
               interrupt = function(c) NULL), silent = TRUE)
  expect_s3_class(gbt_last_interrupted(), "gbt")
  limit <- gbt_metric("limit", function(p, y) stop(simpleError(gettext("reached elapsed time limit", domain = "R"))))
  expect_error(gbt_tune(y ~ ., d, space = list(eta = c(0.1, 0.3)), configs = 2, nrounds = 3, eval_metric = limit,
                        threads = 1), "time limit")
  expect_null(gbt_last_interrupted())
})
