# The number of rounds where nobody says it.

rows <- function(n) {
  set.seed(7)
  x <- data.frame(a = rnorm(n), b = runif(n), f = factor(sample(letters[1:6], n, TRUE)))
  list(x = x, y = x$a + (x$f %in% c("a", "e")) + rnorm(n), held = held_out_rows(n, 0.2, 0)$held)
}
large <- rows(3200)
small <- rows(200)
quick <- function(...) suppressMessages(gbt_train(..., eta = 0.3, grow_policy = "depthwise", max_depth = 2))

# The bytes of a model that was told how many rounds there are.
without_search <- function(model) {
  model["auto_rounds"] <- list(NULL)
  model$by_rule <- NULL
  for (name in gbt:::only_in_files) model[[name]] <- NULL
  bytes_to_save(model)
}

test_that("rounds are those of early stopping on held-out rows, and all rows are trained on", {
  for (threads in 1:2) {
    m <- quick(large$x, large$y, threads = threads)
    twin <- quick(gbt_data(large$x, threads = 1), large$y, mask = !seq_len(3200) %in% large$held, nrounds = 1000,
                  early_stopping_rounds = 20, threads = 2)
    found <- m$auto_rounds
    expect_identical(found$rounds, twin$best_round)
    expect_identical(found$score, twin$best_score)
    expect_identical(found$log[[2]], twin$evaluation_log[[2]])
    expect_named(found$log, c("round", "held_out_rmse"))
    expect_identical(found[c("by", "folds", "n_train", "n_held", "patience", "limit", "stopped", "eval_metric")],
                     list(by = "split", folds = 1L, n_train = 3200 - length(large$held),
                          n_held = as.double(length(large$held)), patience = 20, limit = 1000, stopped = "early",
                          eval_metric = "rmse"))
    expect_null(m$best_round)
    expect_equal(nobs(m), 3200)
    named <- quick(large$x, large$y, nrounds = m$nrounds, threads = 1)
    expect_same_bytes(without_search(m), named$state)
  }
})

test_that("few rows are held out in folds", {
  m <- quick(small$x, small$y, threads = 1)
  cv <- gbt_cv(small$x, small$y, folds = 5, eta = 0.3, grow_policy = "depthwise", max_depth = 2, seed = 0, threads = 1)
  expect_identical(m$auto_rounds$by, "folds")
  expect_identical(m$auto_rounds$rounds, cv$best_round)
  expect_identical(m$auto_rounds$score, cv$best_score)
  expect_identical(m$auto_rounds$log$held_out_rmse, cv$evaluation_log$test_rmse_mean)
  expect_identical(c(m$auto_rounds$n_train, m$auto_rounds$n_held), c(160, 200))
  expect_same_bytes(without_search(m), quick(small$x, small$y, nrounds = m$nrounds, threads = 2)$state)
})

test_that("every form of the data and every part of a call finds the same as by hand", {
  d <- large
  mask <- rep(c(TRUE, TRUE, TRUE, FALSE), 800)
  w <- rep_len(1:3, 3200)
  number <- d$x[c("a", "b")]
  count <- round(exp(d$x$a))
  class <- factor(ifelse(d$y > 1, "high", ifelse(d$y > 0, "mid", "low")))
  own <- list(gradient = function(s, y) s - y, hessian = function(s, y) rep(1, length(y)))
  ways <- list(
    list(d$x, d$y, weights = w), list(d$x, d$y, offset = d$x$b), list(d$x, class, class_weights = "balanced"),
    list(as.matrix(number), d$y), list(Matrix::Matrix(as.matrix(number), sparse = TRUE), d$y),
    list(gbt_data(d$x, d$y, weight = w, threads = 1)), list(d$x, d$y, mask = mask),
    list(d$x, count, objective = "poisson", exposure = d$x$b + 0.5), list(d$x, d$y, objective = own,
                                                                           eval_metric = "rmse"),
    list(d$x, d$y, eta = function(round) 0.5 * 0.95^round), list(d$x, d$y, subsample = 0.5, seed = 3),
    list(d$x, d$y, group = rep(1:320, 10), cat_method = "target"), list(d$x, d$y, time = rep(1:320, 10),
                                                                       cat_method = "target")
  )
  for (way in ways) {
    call <- utils::modifyList(list(eta = 0.5, grow_policy = "depthwise", max_depth = 2, threads = 1, verbose = 0),
                              way[nzchar(names(way))])
    call <- c(if (is.null(names(way))) way else way[!nzchar(names(way))], call)
    m <- do.call(gbt_train, call)
    by <- if (!is.null(way$group)) "groups" else if (!is.null(way$time)) "time" else
      if (!is.null(way$mask)) "folds" else "split" # 2400 rows
    expect_identical(m$auto_rounds$by, by)
    expect_gt(m$auto_rounds$rounds, 1)
    expect_lt(m$auto_rounds$rounds, nrow(m$auto_rounds$log))
    named <- do.call(gbt_train, c(call[names(call) != "eval_metric"], nrounds = m$nrounds))
    expect_same_bytes(without_search(m), named$state)
    expect_identical(m$masked_out, named$masked_out)
  }
})

test_that("rows of one time or group stay together", {
  time <- rep(1:40, 80)
  plan <- function(...) {
    search_parts(list(n = 3200, source = list(...), at = NULL, mask = NULL,
                      response = list(label = large$y, classes = NULL)), 0)
  }
  last <- plan(time = as.double(time))
  expect_identical(last$held, time > 32)
  group <- rep(1:40, 80)
  apart <- plan(group = group)
  expect_identical(apart$by, "groups")
  expect_true(all(tapply(apart$held, group, function(v) all(v) || !any(v))))
  expect_equal(sum(tapply(apart$held, group, all)), 8)
  expect_null(plan(time = rep(1, 3200)))
  expect_null(plan(group = rep(1:9, length.out = 3200)))
  few <- search_parts(list(n = 3200, source = list(group = group), at = 1:100, mask = NULL,
                           response = list(label = large$y, classes = NULL)), 0)
  expect_identical(few$by, "folds")
  expect_identical(Reduce(`+`, few$folds), as.integer(seq_len(3200) <= 100))
})

test_that("one line says what was found, unless it is not wanted", {
  expect_snapshot({
    m <- gbt_train(small$x, small$y, grow_policy = "depthwise", max_depth = 2, eta = 0.5, threads = 1)
    m
    m <- gbt_train(large$x, large$y, grow_policy = "depthwise", max_depth = 2, eta = 0.5, threads = 1)
    m
    m <- gbt_train(small$x[1:9, ], small$y[1:9], threads = 1)
    m
  })
  expect_silent(gbt_train(small$x, small$y, grow_policy = "depthwise", max_depth = 2, eta = 0.5, threads = 1,
                          verbose = 0))
  expect_silent(gbt_train(small$x, small$y, grow_policy = "depthwise", max_depth = 2, eta = 0.5, threads = 1,
                          verbose = FALSE))
  lines <- character()
  withCallingHandlers(gbt_train(large$x, large$y, grow_policy = "depthwise", max_depth = 2, eta = 0.5, threads = 1,
                                verbose = 1,
                                verbose_every = 5),
                      gbt_message = function(m) {
                        lines <<- c(lines, conditionMessage(m))
                        invokeRestart("muffleMessage")
                      })
  expect_match(lines[1], "^\\[   1/1000\\] held_out_rmse")
  expect_length(grep("on all 3,200 rows", lines), 1)
  expect_match(lines[length(lines)], "s\n$")
})

test_that("what is said of rounds in other ways holds", {
  d <- large
  train <- function(...) gbt_train(d$x, d$y, grow_policy = "depthwise", max_depth = 2, threads = 1, seed = 1, ...)
  by_valid <- train(eta = 0.5, valid = 0.2)
  twin <- train(eta = 0.5, valid = 0.2, nrounds = 1000, early_stopping_rounds = 20)
  expect_same_bytes(by_valid$state, twin$state)
  expect_null(by_valid$auto_rounds)
  expect_identical(nrow(train(eta = 0.5, valid = 0.2, early_stopping_rounds = 3)$evaluation_log) -
                     train(eta = 0.5, valid = 0.2, early_stopping_rounds = 3)$best_round, 3L)
  expect_equal(train(eta = c(0.5, 0.3, 0.2))$nrounds, 3)
  expect_equal(train(eta = 0.5, valid = 0.2, nrounds = 7)$nrounds, 7)
  mask <- seq_len(3200) > 300
  watched <- train(eta = 0.5, mask = mask, early_stopping_rounds = 4)
  expect_null(watched$auto_rounds)
  expect_equal(nrow(watched$evaluation_log), watched$best_round + 4)
  m <- train(eta = 0.5, early_stopping_rounds = 3, early_stopping_min_delta = 1e-3, verbose = 0)
  expect_equal(nrow(m$auto_rounds$log), m$auto_rounds$rounds + 3)
  expect_null(m$params$early_stopping_rounds)
  two <- train(eta = 0.5, eval_metric = c("rmse", "mae"), eval_train = TRUE, verbose = 0)
  expect_named(two$auto_rounds$log, c("round", "held_out_rmse", "held_out_mae"))
  expect_named(two$evaluation_log, c("round", "train_rmse", "train_mae"))
  drawn <- drawn_log(two)
  expect_named(drawn$log, c("round", "train_rmse", "train_mae", "held_out_rmse", "held_out_mae"))
  expect_equal(nrow(drawn$log), max(two$nrounds, nrow(two$auto_rounds$log)))
  expect_identical(best_in_log(two, 1), two$auto_rounds$rounds)
})

test_that("a search that cannot be is an error that says what to do", {
  d <- small
  train <- function(...) gbt_train(d$x, d$y, threads = 1, ...)
  own <- list(gradient = function(s, y) s - y, hessian = function(s, y) 0 * s + 1, n_outputs = 2)
  first <- train(nrounds = 2)
  expect_snapshot(error = TRUE, {
    train(early_stopping_rounds = 0)
    train(init_model = first)
    train(objective = own)
    train(objective = own, valid = 0.2)
    train(eval_metric = "quantile_coverage@0.5")
    train(eval_metric = gbt_metric("bad", function(p, y) NaN, maximise = FALSE))
    gbt_cv(d$x, d$y, early_stopping_rounds = 0, threads = 1)
  })
  expect_error(train(objective = own), class = "gbt_error_argument")
  expect_error(train(init_model = first), class = "gbt_error_argument")
})

test_that("models keep how their rounds were found", {
  m <- quick(small$x, small$y, threads = 1)
  file <- withr::local_tempfile()
  gbt_save(m, file)
  back <- gbt_load(file)
  expect_identical(back$auto_rounds, m$auto_rounds)
  expect_s3_class(back$auto_rounds$log, "data.frame")
  expect_null(m[1:2]$auto_rounds)
  expect_null(suppressMessages(gbt_refit(m))$auto_rounds)
  expect_same_bytes(gbt_refit(m)$state, without_search(m))
  again <- suppressMessages(update(m, max_depth = 1))
  expect_type(again$auto_rounds, "list")
  for (part in names(m$auto_rounds)) {
    for (odd in list(NA, "x", -1, list(), c(1, 2), NULL)) {
      broken <- m
      broken$auto_rounds[part] <- list(odd)
      if (part == "score" && identical(odd, -1)) next # a metric may be below 0
      expect_error(print(broken), "`auto_rounds` must be", class = "gbt_error_argument")
    }
  }
})

test_that("limits of time, checkpoints, callbacks and Ctrl-C hold for both trainings", {
  d <- large
  train <- function(...) suppressMessages(gbt_train(d$x, d$y, grow_policy = "depthwise", max_depth = 3, threads = 1,
                                                    ...))
  seen <- new.env()
  m <- train(eta = 0.5, callbacks = gbt_cb_record(seen))
  expect_equal(nrow(seen$log), m$nrounds)
  short <- train(eta = 0.001, max_seconds = 0.2)
  expect_identical(short$auto_rounds$stopped, "time")
  expect_lt(short$auto_rounds$rounds, short$auto_rounds$limit)

  folder <- withr::local_tempdir()
  whole <- train(eta = 0.3)
  crash <- function(now) if (now$round == 2) stop("crash")
  expect_error(train(eta = 0.3, checkpoint = folder, checkpoint_seconds = 0, callbacks = crash), "crash")
  expect_true(file.exists(file.path(folder, "rounds", "gbt-checkpoint")))
  expect_same_bytes(train(eta = 0.3, checkpoint = folder, checkpoint_seconds = 0)$state, whole$state)
  expect_same_bytes(train(eta = 0.3, checkpoint = folder, checkpoint_seconds = 0)$state, whole$state) # at once

  calls <- 0
  broken <- gbt_metric("own", function(p, y) {
    calls <<- calls + 1
    if (calls == 4) stop("no more")
    mean(abs(p - y))
  }, maximise = FALSE)
  problem <- tryCatch(train(eval_metric = broken), gbt_error_callback = identity)
  expect_match(conditionMessage(problem), "no more")
  expect_lt(nobs(problem$model), 3200) # of the search
})

# A metric that does something at one of its calls.
at_call <- function(number, what) {
  calls <- 0
  gbt_metric("own", function(p, y) {
    calls <<- calls + 1
    if (calls == number) what()
    mean(abs(p - y))
  }, maximise = FALSE)
}

test_that("what ends a search in folds leaves the model of the first of them", {
  train <- function(metric) gbt_train(small$x, small$y, eta = 0.1, verbose = 0, threads = 1, eval_metric = metric)
  ends <- function(what) { # in round 5, of the third fold
    cut <- tryCatch(train(at_call(23, what)), error = identity, interrupt = identity)
    m <- gbt_last_interrupted()
    expect_identical(c(m$nrounds, m$best_round, nobs(m)), c(5L, 4L, 160L))
    first <- gbt_cv(small$x, small$y, eta = 0.1, nrounds = 5, seed = 0, threads = 1, keep_models = TRUE)$models[[1]]
    expect_identical(predict(m, small$x, trees = 5), predict(first, small$x))
    expect_identical(m$evaluation_log$held_out_own[1:4] > 0, rep(TRUE, 4))
    cut
  }
  failed <- ends(function() stop("no more"))
  expect_s3_class(failed, "gbt_error_callback")
  expect_identical(failed$model$stopped, "error")
  late <- ends(function() stop(simpleError(gettext("reached elapsed time limit", domain = "R"))))
  expect_s3_class(late, c("simpleError", "error", "condition"), exact = TRUE)
  expect_identical(gbt_last_interrupted()$stopped, "interrupt")
  skip_on_os("windows")
  skip_on_cran()
  stopped <- ends(function() {
    tools::pskill(Sys.getpid(), tools::SIGINT)
    for (i in 1:1000) Sys.sleep(0.01)
  })
  expect_s3_class(stopped, c("gbt_interrupt", "interrupt", "condition"), exact = TRUE)
  expect_same_bytes(stopped$model$state, gbt_last_interrupted()$state)
  cv <- tryCatch(gbt_cv(small$x, small$y, nrounds = 9, threads = 1, eval_metric = at_call(7, function() {
    tools::pskill(Sys.getpid(), tools::SIGINT)
    for (i in 1:1000) Sys.sleep(0.01)
  })), interrupt = identity)
  expect_s3_class(cv, "gbt_interrupt")
  expect_match(conditionMessage(cv), "cross-validation was interrupted after 2 rounds")
})

test_that("folds may lack rare classes", {
  x <- small$x
  for (rare in 2:4) { # fewer than there are folds
    y <- seq_len(200) <= rare
    m <- suppressMessages(gbt_train(x, y, eval_metric = "auc", eta = 0.3, threads = 1))
    cv <- gbt_cv(x, y, eval_metric = c("logloss", "auc"), eta = 0.3, nrounds = 7, seed = 0, threads = 1)
    log <- split(cv$fold_log$test_auc, cv$fold_log$round)
    there <- vapply(cv$folds, function(held) any(y[held]), NA)
    expect_identical(is.na(log[[7]]), !there)
    expect_identical(cv$evaluation_log$test_auc_mean[7], sum(log[[7]][there]) / rare)
    expect_identical(cv$evaluation_log$test_auc_se[7], stats::sd(log[[7]][there]) / sqrt(rare))
    expect_identical(m$auto_rounds$log$held_out_auc[1:7], cv$evaluation_log$test_auc_mean)
    expect_false(anyNA(cv$fold_log$test_logloss))
    expect_gt(m$auto_rounds$score, 0)
  }
  expect_error(gbt_train(x, seq_len(200) == 1, eval_metric = "auc", threads = 1), "no finite value",
               class = "gbt_error_data")
  y <- factor(c("z", rep_len(c("u", "v"), 199)))
  m <- suppressMessages(gbt_train(x, y, class_weights = "balanced", threads = 1))
  expect_equal(nobs(m), 200)
  expect_silent(cv <- gbt_cv(x, y, class_weights = "balanced", nrounds = 2, seed = 1, threads = 1, keep_models = TRUE))
  lone <- which(vapply(cv$folds, function(held) 1L %in% held, NA))
  counts <- table(droplevels(y[-cv$folds[[lone]]]))
  expect_equal(cv$models[[lone]]$params$class_weights, c(u = sum(counts) / 2 / counts[["u"]],
                                                         v = sum(counts) / 2 / counts[["v"]], z = 1))
})

# R gives attributes to long vectors by a wrapper, whose memory may change when R code reads it.
test_that("weights and responses may be wrapped vectors", {
  x <- as.matrix(small$x[1:2])
  y <- as.numeric(small$y > 0)
  look <- gbt_metric("own", function(p, y, w) mean(p[w > 1 & y > -9]), maximise = FALSE)
  runs <- replicate(if (long_form()) 4 else 2, simplify = FALSE, {
    gc()
    noted <- structure(y + 0, note = "of a package")
    m <- gbt_train(x, noted, objective = "logistic", class_weights = c(1, 5), eta = 0.3, verbose = 0, threads = 1)
    seen <- gbt_train(x, noted, objective = "logistic", class_weights = c(1, 5), eval_metric = look, eval_train = TRUE,
                      weights = structure(rep(1, 200), note = "of a package"), nrounds = 9, threads = 1)
    list(m$state, m$auto_rounds, seen$state)
  })
  plain <- gbt_train(x, y, objective = "logistic", class_weights = c(1, 5), eta = 0.3, verbose = 0, threads = 2)
  for (run in runs) {
    expect_identical(run, runs[[1]])
    expect_identical(run[[2]]$log, plain$auto_rounds$log)
  }
})

test_that("rows that weigh nothing are not held out", {
  for (n in c(6, 9:12, 40)) {
    w <- as.numeric(seq_len(60) > 60 - n)
    m <- suppressMessages(gbt_train(small$x[1:60, ], small$y[1:60], weights = w, eta = 0.3, threads = 1))
    expect_identical(m$auto_rounds$by, if (n < 10) "none" else "folds")
    if (n >= 10) expect_identical(m$auto_rounds$n_held, as.double(n))
  }
  group <- rep(1:12, each = 5)
  m <- suppressMessages(gbt_train(small$x[1:60, ], small$y[1:60], weights = as.numeric(group <= 11), group = group,
                                  eta = 0.3, threads = 1))
  expect_identical(m$auto_rounds$by, "folds")
  expect_error(gbt_cv(small$x[1:60, ], small$y[1:60], weights = c(rep(0, 57), 1, 1, 1), threads = 1),
               "`folds = 5` is more than the data have rows with a weight, 3", class = "gbt_error_argument")
})

test_that("a job tells that it searches, and gives the same model", {
  job <- gbt_job(large$x, large$y, eta = 0.3, grow_policy = "depthwise", max_depth = 2, threads = 1)
  m <- suppressMessages(gbt_job_result(job))
  expect_same_bytes(m$state, quick(large$x, large$y, threads = 1)$state)
})

test_that("cross-validation without rounds stops early", {
  cv <- gbt_cv(small$x, small$y, eta = 0.5, grow_policy = "depthwise", max_depth = 2, seed = 1, threads = 1)
  twin <- gbt_cv(small$x, small$y, eta = 0.5, grow_policy = "depthwise", max_depth = 2, seed = 1, threads = 1,
                 nrounds = 1000,
                 early_stopping_rounds = 20)
  expect_identical(cv$evaluation_log, twin$evaluation_log)
  expect_identical(cv$predictions, twin$predictions)
})

test_that("every small number of rows is trained on", {
  for (n in c(1:12, 15:17, 31:33)) {
    m <- suppressMessages(gbt_train(small$x[seq_len(n), ], small$y[seq_len(n)], threads = 1, eta = 0.5))
    expect_equal(nobs(m), n)
    expect_identical(m$auto_rounds$by, if (n < 10) "none" else "folds")
    if (n < 10) expect_equal(m$nrounds, 100)
  }
  for (n in 2999:3001) {
    m <- suppressMessages(gbt_train(large$x[seq_len(n), ], large$y[seq_len(n)], threads = 1, eta = 0.5,
                                    grow_policy = "depthwise", max_depth = 1))
    expect_identical(m$auto_rounds$by, if (n < 3000) "folds" else "split")
  }
  lone <- factor(c("one", rep(c("a", "b"), 10))) # a class of one row
  m <- suppressMessages(gbt_train(small$x[1:21, ], lone, threads = 1))
  expect_identical(m$classes, levels(lone))
})

test_that("the search on few rows has a limit of rounds by their number", {
  rising <- function() { # a metric that gets better in each round
    k <- 0
    gbt_metric("rising", function(p, y) (k <<- k + 1), maximise = TRUE)
  }
  limit <- function(n, eta = 0.1, ...) {
    expect_silent(m <- gbt_train(small$x[seq_len(n), ], small$y[seq_len(n)], eta = eta, grow_policy = "depthwise",
                                 max_depth = 1, threads = 1,
                                 verbose = 0, eval_metric = rising(), ...))
    expect_null(m$warned)
    expect_identical(m$auto_rounds$stopped, "limit")
    expect_gte(m$nrounds, m$auto_rounds$limit - 1L)
    m$auto_rounds$limit
  }
  expect_identical(limit(14), 280)
  expect_identical(limit(10, 0.001), 200)
  expect_identical(limit(30, weights = rep(c(1, 0), c(12, 18))), 240) # rows that weigh nothing do not count
  expect_identical(limit(30, mask = rep(c(TRUE, FALSE), c(12, 18))), 240)
  expect_warning(m <- gbt_train(small$x[1:60, ], small$y[1:60], eta = 0.5, grow_policy = "depthwise", max_depth = 1,
                                threads = 1, verbose = 0,
                                eval_metric = rising()), "still improving at the limit of 1,000 rounds",
                 class = "gbt_warning_rounds") # the limit that eta gives
  expect_identical(gbt:::limit_of_rows(3), 100)
  cv <- suppressWarnings(gbt_cv(small$x[1:14, ], small$y[1:14], eta = 0.5, grow_policy = "depthwise", max_depth = 1,
                                threads = 1, seed = 1,
                                eval_metric = rising()))
  expect_identical(nrow(cv$evaluation_log), 1000L) # who cross-validates has asked for it
})

test_that("one round is a round", {
  found <- list(by = "none")
  expect_match(gbt:::found_line(found, 1, 2000), ": 1 round on all 2,000 rows", fixed = TRUE)
  expect_match(gbt:::found_line(found, 1000, 9), ": 1,000 rounds on all 9 rows", fixed = TRUE)
})
