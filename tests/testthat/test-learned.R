# One warning where a training learns nothing or ends for a reason that its user would not guess, and none else.
x <- mtcars[-1]
y <- mtcars$mpg

# The conditions of gbt that an expression gives.
warned_of <- function(expr) {
  seen <- list()
  value <- withCallingHandlers(expr, warning = function(w) {
    seen[[length(seen) + 1L]] <<- w
    invokeRestart("muffleWarning")
  }, message = function(m) invokeRestart("muffleMessage"))
  list(value = value, seen = seen)
}

# Exactly one, of this kind and with these words; print() and summary() have it too.
expect_one <- function(expr, kind, words = "") {
  got <- warned_of(expr)
  expect_length(got$seen, 1L)
  expect_s3_class(got$seen[[1L]], paste0("gbt_warning_", kind))
  text <- conditionMessage(got$seen[[1L]])
  expect_match(text, words, fixed = TRUE)
  if (inherits(got$value, c("gbt", "gbt_cv"))) {
    expect_identical(got$value$warned, text)
    plain <- function(out) gsub("\\s+", " ", paste(out, collapse = " "))
    expect_match(plain(capture.output(print(got$value))), plain(text), fixed = TRUE)
    expect_match(plain(capture.output(print(summary(got$value)))), plain(text), fixed = TRUE)
  }
  invisible(got$value)
}

train <- function(..., rounds = 20) gbt_train(x, y, nrounds = rounds, seed = 1, threads = 1, ...)

test_that("limits that allow no split are named, however far they are off", {
  limits <- list(min_child_weight = c(17, 40, 1e3, 1e9, 1e200), min_data_in_leaf = c(17, 100, 2147483647),
                 gamma = c(1e5, 1e9, 1e200), lambda = c(1e12, 1e300), alpha = c(1e5, 1e200), max_leaves = 1)
  for (name in names(limits)) {
    for (value in limits[[name]]) expect_one(do.call(train, stats::setNames(list(value), name)), "no_split", name)
  }
  expect_one(train(first_use_penalty = 1e12), "no_split", "`first_use_penalty`")
  falling <- stats::setNames(-sign(cor(x, y)[, 1]), names(x))
  expect_one(train(monotone = falling), "no_split", "`monotone`")
  # two limits, each of which is enough: both are named, and nothing else
  text <- expect_one(train(min_child_weight = 100, min_data_in_leaf = 100), "no_split")$warned
  expect_match(text, "`min_child_weight`, `min_data_in_leaf` together", fixed = TRUE)
  for (boosting in c("plain", "ordered")) {
    expect_one(train(min_child_weight = 1e3, boosting = boosting), "no_split", "`min_child_weight = 1000`")
  }
  for (policy in c("depthwise", "lossguide", "symmetric")) {
    leaves <- if (policy == "lossguide") 8 else 0
    expect_one(train(min_data_in_leaf = 1e3, grow_policy = policy, max_leaves = leaves), "no_split", "min_data_in_leaf")
  }
  expect_one(gbt_train(Species ~ ., iris, nrounds = 3, min_child_weight = 1e3, threads = 1), "no_split", "weight")
  expect_one(gbt_train(gbt_data(x), y, nrounds = 3, min_data_in_leaf = 1e3, threads = 1), "no_split", "data_in_leaf")
  expect_one(gbt_train(x, y, min_data_in_leaf = 1e3, seed = 1, threads = 1), "no_split", "data_in_leaf") # rounds found
  expect_one(train(ensemble = 3, gamma = 1e9), "no_split", "gamma")
  expect_one(train(init_model = train(), gamma = 1e9), "no_split", "adds constants to `init_model`")
  expect_silent(train(min_data_in_leaf = 16))
})

test_that("data in which there is nothing to learn are named", {
  expect_one(gbt_train(x, rep(3, 32), nrounds = 3, threads = 1), "no_split", "same value in all 32 rows")
  expect_one(gbt_train(data.frame(a = rep(1, 32)), y, nrounds = 3, threads = 1), "no_split", "no column has two")
  even <- data.frame(a = rep(1:2, 16))
  expect_one(gbt_train(even, rep(c(1, 1, 2, 2), 8), nrounds = 3, threads = 1), "no_split", "lowers the loss")
  expect_one(gbt_train(x[1, ], y[1], nrounds = 3, threads = 1), "no_split", "one row")
  expect_silent(gbt_train(x, rep(3, 32), offset = y, nrounds = 3, threads = 1)) # the offset is to be made good
})

test_that("light weights and hessians are one warning, also in folds", {
  expect_one(train(weights = rep(1e-3, 32)), "weights", "add up to")
  own <- list(gradient = function(s, l) s - l, hessian = function(s, l) rep(0, length(s)))
  expect_one(train(objective = own), "hessian", "`objective$hessian`")
  rare <- rep(c(1, 0), c(1, 199))
  expect_one(gbt_train(data.frame(a = 1:200), rare, objective = "logistic", min_child_weight = 1, nrounds = 3,
                       threads = 1), "hessian", "objective \"logistic\"")
  cv <- function(...) gbt_cv(x, y, nrounds = 10, seed = 1, threads = 1, ...)
  expect_one(cv(weights = rep(1e-3, 32)), "weights", "in 5 of 5 folds: `weights`")
  expect_one(cv(objective = own, eval_metric = "rmse"), "hessian", "in 5 of 5 folds: `objective$hessian`")
  expect_one(cv(min_data_in_leaf = 1e3), "no_split", "in 5 of 5 folds: no tree has a split")
})

test_that("a search warns once, whatever the number of configurations and folds", {
  tune <- function(space, ...) gbt_tune(x, y, space = space, configs = 4, nrounds = 10, seed = 1, threads = 1, ...)
  expect_one(tune(list(min_child_weight = c(1e3, 2e3))), "no_split", "configurations 1, 2, 3, 4: in 5 of 5 folds")
  expect_length(warned_of(tune(list(eta = c(0.1, 0.3))))$seen, 0L)
})

test_that("a loss whose scale is far from that of the response, and steps that are too small", {
  for (objective in c("huber", "pseudo_huber", "log_cosh")) {
    m <- warned_of(gbt_train(x, 1e6 * y, objective = objective, nrounds = 50, threads = 1))
    expect_length(m$seen, 1L)
    expect_s3_class(m$seen[[1L]], "gbt_warning_flat")
    expect_silent(gbt_train(x, y, objective = objective, nrounds = 50, threads = 1))
    expect_silent(gbt_train(x, 1e-6 * y, objective = objective, nrounds = 50, threads = 1))
  }
  # scores are of another scale than the response
  times <- surv(1e6 * seq_along(y), rep(1, length(y)))
  for (objective in c("cox", "aft")) {
    expect_silent(gbt_train(x, times, objective = objective, nrounds = 5, eta = 0.1, threads = 1))
  }
  expect_silent(gbt_train(x, 1e6 * y, group = rep(1:4, length.out = length(y)), objective = "rank_pairwise",
                          min_data_in_leaf = 1, nrounds = 5, eta = 0.1, threads = 1))
  expect_one(train(objective = "huber", huber_delta = 1e-6, min_child_weight = 0), "flat", "`huber_delta`")
  expect_one(train(eta = 1e-6), "flat", "`eta = 0.000001` and 20 rounds")
  expect_one(gbt_train(Species ~ ., iris, eta = 1e-5, nrounds = 20, threads = 1), "flat", "eta")
  for (scale in 10^c(-20, -6, 6, 20)) {
    for (objective in c("squared_error", "absolute_error", "quantile", "mape", "expectile")) {
      expect_silent(gbt_train(x, scale * y, objective = objective, nrounds = 5, threads = 1))
    }
  }
  expect_silent(train(eta = 0.01, rounds = 1))
  set.seed(1) # nothing but noise is no fault of the parameters
  noise <- matrix(rnorm(40000), 4000)
  expect_silent(gbt_train(noise, rnorm(4000), nrounds = 1, eta = 0.05, threads = 1))
})

test_that("early stopping by a metric without a value", {
  d <- iris[1:100, ]
  class <- factor(d$Species == "versicolor")
  one <- list(x = d[60:70, 1:4], y = class[60:70])
  for (metric in c("auc", "pr_auc", "mcc")) {
    expect_one(gbt_train(d[1:4], class, nrounds = 300, valid = one, eval_metric = metric, early_stopping_rounds = 5,
                         threads = 1), "metric", sprintf("metric \"valid_%s\" has no value in every round", metric))
  }
  expect_one(gbt_train(d[1:4], class, valid = one, eval_metric = "auc", threads = 1), "metric", "has one value")
  own <- gbt_metric("own", function(p, y) NaN)
  expect_one(train(valid = 21:32, eval_metric = own, early_stopping_rounds = 5), "metric", "valid_own")
  endless <- gbt_metric("own", function(p, y) Inf)
  expect_one(train(valid = 21:32, eval_metric = endless, early_stopping_rounds = 5), "metric", "infinite")
  expect_one(gbt_cv(x, y, nrounds = 20, eval_metric = own, seed = 1, threads = 1), "metric", "test_own")
  k <- 0
  some <- gbt_metric("some", function(p, y) if ((k <<- k + 1) %in% 2:3) NaN else mean((p - y)^2))
  expect_length(warned_of(train(valid = 21:32, eval_metric = some, early_stopping_rounds = 19))$seen, 0L)
})

test_that("the limit of rounds: a warning where gbt has set it, a message where the user has", {
  mark <- gbt_metric("rounds", local({ k <- 0; function(p, y) (k <<- k + 1) }), maximise = TRUE) # never stops to rise
  expect_one(gbt_train(x, y, valid = 21:32, eval_metric = mark, eta = 0.5, threads = 1), "rounds",
             "valid_rounds was still improving at the limit of 1,000 rounds")
  expect_message(train(valid = 21:32, eval_metric = mark, early_stopping_rounds = 5),
                 "valid_rounds was still improving at the end of .* rounds: more `nrounds`, or a larger `eta`",
                 class = "gbt_message")
  expect_silent(train(valid = 21:32, eval_metric = mark, early_stopping_rounds = 5, verbose = 0))
})

test_that("columns whose levels are all unknown at predict", {
  d <- data.frame(f = factor(rep(letters[1:4], 25)), g = 1:100, h = rep(c("x", "y"), 50))
  d$y <- as.integer(d$f) + (d$h == "x")
  m <- gbt_train(y ~ ., d, nrounds = 20, threads = 1)
  other <- transform(d, f = factor(toupper(f)))
  expect_one(predict(m, other), "unseen", "no value of column `f` is a level of the training data")
  other$f[1:10] <- NA
  expect_one(predict(m, other, type = "leaf"), "unseen", "`f`")
  expect_one(predict(m, transform(other, h = "z")), "unseen", "columns `f`, `h`")
  expect_one(predict(m, function(i) if (i < 4) other, output = tempfile()), "unseen", "`f`")
  same <- predict(m, other, unseen = "prior") # given by name
  expect_identical(suppressWarnings(predict(m, other)), same)
  expect_silent(predict(m, other, unseen = "missing"))
  expect_silent(predict(m, other[11:25, ])) # a few new rows are the life of a model
  known <- transform(other, f = replace(as.character(f), 50, "a"))
  expect_silent(predict(m, known))
  expect_silent(predict(m, transform(d, f = NA_character_)))
  unused <- gbt_train(y ~ ., transform(d, y = g), nrounds = 1, max_depth = 1, threads = 1)
  expect_silent(predict(unused, other)) # no tree looks at it
})

test_that("nothing is said in normal use", {
  expect_silent({
    m <- gbt_train(mpg ~ ., mtcars, nrounds = 20, threads = 1)
    predict(m, mtcars)
    gbt_train(Species ~ ., iris, nrounds = 20, threads = 1)
    gbt_train(dist ~ speed, cars, nrounds = 20, threads = 1)
    gbt_cv(mpg ~ ., mtcars, nrounds = 20, seed = 1, threads = 1)
    gbt_train(mpg ~ ., mtcars, nrounds = 30, valid = 0.3, early_stopping_rounds = 5, seed = 1, verbose = 0, threads = 1)
    gbt_train(late ~ ., flights[1:2000, ], nrounds = 5, threads = 1)
    for (objective in c("poisson", "gamma", "tweedie", "huber", "quantile", "absolute_error")) {
      gbt_train(mpg ~ ., mtcars, nrounds = 10, objective = objective, threads = 1)
    }
  })
  expect_null(m$warned)
})

test_that("how the number of rounds was found is a sentence for each end of the search", {
  found <- list(by = "folds", folds = 5, stopped = "limit", rounds = 3334, score = 0.25,
                log = data.frame(held_rmse = 1))
  text <- function(stopped) gbt:::found_text(utils::modifyList(found, list(stopped = stopped)))
  expect_identical(text("early"), "early stopping in 5 folds found round 3,334 (held_rmse 0.25)")
  expect_identical(text("limit"),
                   "the search in 5 folds ended at the limit of rounds; round 3,334 was the best one (held_rmse 0.25)")
  expect_identical(text("time"),
                   "the search in 5 folds was ended by `max_seconds`; round 3,334 was the best one (held_rmse 0.25)")
})
