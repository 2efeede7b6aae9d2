# Weights of rows and of classes, and masks: one model in every form of the data; rows of weight 0 are as if they were
# not there.

# Columns of more values than bins, so that weights decide where cuts lie.
weighted <- function(n, seed) {
  withr::with_seed(seed, {
    x <- data.frame(a = rnorm(n), b = rexp(n), c = round(runif(n), 1))
    x$b[seq(2, n, 13)] <- NA
    s <- x$a - 2 * x$c + rnorm(n)
    list(x = x, s = s, weights = sample(c(0, 0.5, 1, runif(5, 0, 3)), n, TRUE), mask = runif(n) < 0.7,
         y = factor(c("p", "q", "r")[1 + (s > -1) + (s > 1)]))
  })
}

# The data in every form, functions of the weights and further arguments of gbt_train().
forms_of <- function(x, y) {
  chunks <- function(i) {
    rows <- seq_len(nrow(x))[(seq_len(nrow(x)) - 1) %/% 70 == i - 1]
    if (length(rows)) x[rows, ]
  }
  folder <- function(weights) {
    path <- withr::local_tempdir(.local_envir = parent.frame(2))
    gbt_data(x, label = y, weight = weights, path = path, threads = 1, max_bin = 20)
    gbt_open(path, threads = 1)
  }
  data <- function(make) function(weights, ...) gbt_train(make(weights), ..., threads = 1)
  list(
    frame = function(weights, ...) gbt_train(x, y, weights = weights, ..., max_bin = 20, threads = 1),
    matrix = function(weights, ...) gbt_train(as.matrix(x), y, weights = weights, ..., max_bin = 20, threads = 2),
    data = data(function(weights) gbt_data(x, label = y, weight = weights, threads = 1, max_bin = 20)),
    chunks = data(function(weights) gbt_data(chunks, label = y, weight = weights, threads = 2, max_bin = 20)),
    folder = data(folder),
    file = data(function(weights) {
      file <- withr::local_tempfile(fileext = ".csv", .local_envir = parent.frame(2))
      digits <- as.data.frame(lapply(x, sprintf, fmt = "%.17g"))
      utils::write.csv(replace(digits, is.na(x), NA), file, row.names = FALSE, quote = FALSE)
      gbt_data(gbt_files(file), label = y, weight = weights, threads = 1, max_bin = 20)
    })
  )
}

test_that("weights, weights of classes and masks train one model from every form of the data", {
  skip_on_cran()
  for (seed in 1:8) {
    d <- weighted(150 + 20 * seed, seed)
    y <- if (seed %% 2) d$y else d$y == "p"
    weights <- if (seed %% 4 < 2) d$weights
    mask <- if (seed %in% c(1, 2, 5, 6, 8)) d$mask
    class_weights <- list("balanced", c(1, 9), c(5, 1, 2), "balanced", NULL, NULL, c(p = 4), c(2, 1))[[seed]]
    args <- list(weights, mask = mask, class_weights = class_weights, nrounds = 5, seed = seed, subsample = 0.8)
    models <- lapply(forms_of(d$x, y), function(form) do.call(form, args))
    for (other in models[-1L]) expect_same_bytes(other$state, models[[1L]]$state)
    formula <- do.call(gbt_train, c(list(y ~ ., cbind(d$x, y = y), weights = weights, max_bin = 20, threads = 1),
                                    args[-1L]))
    expect_identical(predict(formula, d$x), predict(models[[1L]], d$x)) # its bytes have the formula
    plain <- do.call(forms_of(d$x, y)$frame, replace(args, 1L, list(NULL)))
    if (!is.null(weights)) expect_false(identical(plain$state, models[[1L]]$state))
  }
  d <- weighted(200, 9)
  models <- lapply(forms_of(d$x, d$y == "p"), function(form) form(NULL, scale_pos_weight = 6, nrounds = 3, seed = 1))
  for (other in models[-1L]) expect_same_bytes(other$state, models[[1L]]$state)
})

test_that("cuts are those of the weights of rows, whatever classes weigh", {
  d <- weighted(400, 1)
  cuts <- function(...) gbt_train(d$x, d$y, ..., nrounds = 20, max_depth = 8, max_bin = 4, grow_policy = "depthwise",
                                  colsample_bytree = 1, min_child_weight = 0, threads = 1)
  at <- function(m) sort(unique(as.data.frame(m)$threshold))
  expect_true(all(at(cuts(class_weights = c(1, 1, 50))) %in% at(cuts())))
  expect_false(all(at(cuts(weights = c(1, 1, 50)[d$y])) %in% at(cuts())))
})

test_that("a fold is the training with its mask, where rules choose parameters and with weights of classes", {
  d <- weighted(51, 2)
  fold <- rep(1:3, 17)
  for (weights in list(NULL, d$weights)) {
    cv <- gbt_cv(d$x, d$y, weights = weights, class_weights = "balanced", folds = fold, nrounds = 9, seed = 1,
                 keep_models = TRUE, threads = 1)
    for (data in list(d$x, gbt_data(d$x, weight = weights, threads = 1))) {
      for (k in 1:3) {
        m <- gbt_train(data, d$y, mask = fold != k, weights = weights, class_weights = "balanced", nrounds = 9,
                       seed = 1, threads = 1)
        expect_identical(m$params$eta, cv$params$eta)
        expect_same_bytes(m$state, cv$models[[k]]$state)
      }
    }
    all <- gbt_train(d$x, d$y, weights = weights, class_weights = "balanced", nrounds = 9, seed = 1, threads = 1)
    expect_identical(all$params$eta, cv$params$eta)
    expect_same_bytes(gbt_refit(cv, nrounds = 9)$state, all$state)
  }
})

# The same data with rows of weight 0 between its own, whose values are beyond all others.
padded <- function(d, n_more, seed = 1) {
  n <- nrow(d$x)
  at <- withr::with_seed(seed, sample(n + n_more, n))
  at <- sort(at)
  more <- d$x[rep_len(seq_len(n), n_more), ]
  more$a <- 1e6 * seq_len(n_more)
  more$b <- -1e6
  put <- function(own, others) {
    out <- rep(own, length.out = n + n_more)
    out[at] <- own
    out[-at] <- others
    out
  }
  x <- as.data.frame(Map(put, d$x, more))
  list(x = x, y = put(d$y, d$y[rep_len(1L, n_more)]), s = put(d$s, 1e3), weights = put(d$weights, 0), at = at,
       put = put)
}

test_that("rows of weight 0 change nothing", {
  d <- weighted(300, 4)
  d$weights <- d$weights + 0.1
  d$x$f <- factor(letters[1 + (seq_len(300) * 7) %% 5])
  unit <- (seq_len(300) - 1) %/% 10 + 1
  p <- padded(d, 500)
  ways <- list(
    list(nrounds = 6), list(), list(nrounds = 4, valid = 0.3), list(nrounds = 4, subsample = 0.5),
    list(nrounds = 4, sampling_method = "goss"), list(nrounds = 4, sampling_method = "mvs", subsample = 0.4),
    list(nrounds = 4, sampling_method = "bayesian"), list(nrounds = 4, min_data_in_leaf = 30),
    list(nrounds = 4, cat_method = "target"), list(nrounds = 4, cat_method = c("quartiles", "count")),
    list(nrounds = 4, boosting = "ordered"), list(nrounds = 4, grow_policy = "lossguide", max_leaves = 7),
    list(nrounds = 4, objective = "quantile", quantile_alpha = 0.9), list(nrounds = 4, objective = "absolute_error"),
    list(nrounds = 4, extra_trees = TRUE), list(nrounds = 4, eval_train = TRUE, eval_metric = "mae"),
    list(nrounds = 4, leaf_iterations = 2, path_smooth = 3), list(nrounds = 4, preset = "fast")
  )
  for (way in ways) {
    for (rows in list(NULL, "group", "time")) {
      if (!is.null(rows) && !identical(way, list()) && is.null(way$valid) && !identical(way$cat_method, "target")) next
      of <- function(values) if (!is.null(rows)) stats::setNames(list(values), rows)
      of_x <- function(x) if (is.null(way$valid)) x else x[c("a", "b", "c")]
      train <- function(...) suppressMessages(gbt_train(..., threads = 1))
      one <- do.call(train, c(list(of_x(d$x), d$s, weights = d$weights, seed = 3), way, of(unit)))
      other <- do.call(train, c(list(of_x(p$x), p$s, weights = p$weights, seed = 3), way, of(p$put(unit, 31:40))))
      expect_same_bytes(other$state, one$state)
      expect_identical(other$n_obs, one$n_obs)
    }
  }
  for (way in list(list(class_weights = "balanced"), list(cat_method = "target"), list())) {
    one <- do.call(gbt_train, c(list(d$x, d$y, weights = d$weights, seed = 3, nrounds = 4, threads = 1), way))
    data <- gbt_data(p$x, weight = p$weights, threads = 1)
    for (x in list(p$x, data)) {
      other <- do.call(gbt_train, c(list(x, p$y, weights = p$weights, seed = 3, nrounds = 4, threads = 1), way))
      expect_same_bytes(other$state, one$state)
    }
  }
})

test_that("rows of weight 0 are in folds without a part in what these say", {
  d <- weighted(90, 5)
  d$weights <- d$weights + 0.1
  unit <- (seq_len(90) - 1) %/% 5 + 1
  p <- padded(d, 60)
  for (rows in list(NULL, "group", "time")) {
    of <- function(values) if (!is.null(rows)) stats::setNames(list(values), rows)
    cv <- function(...) gbt_cv(..., folds = 3, nrounds = 5, seed = 1, threads = 1)
    one <- do.call(cv, c(list(d$x, d$y, weights = d$weights), of(unit)))
    other <- do.call(cv, c(list(p$x, p$y, weights = p$weights), of(p$put(unit, 1:20))))
    expect_identical(other$evaluation_log, one$evaluation_log)
    expect_identical(other$predictions[p$at, ], one$predictions)
    if (!identical(rows, "time")) expect_false(anyNA(other$predictions))
    expect_identical(other$params, one$params)
  }
})

test_that("rows of weight 0 change nothing in what models are judged by", {
  d <- weighted(120, 6)
  d$weights <- d$weights + 0.1
  p <- padded(d, 80)
  m <- gbt_train(d$x, d$s, nrounds = 5, seed = 1, threads = 1)
  both <- function(f) expect_equal(f(p), f(d), ignore_attr = c("rows", "n_obs"))
  both(function(r) unlist(gbt_evaluate(m, r$x, r$s, weights = r$weights, intervals = 0.9, replicates = 20, seed = 1,
                                       threads = 1)[c("estimate", "lower", "upper")]))
  both(function(r) {
    out <- gbt_importance(m, data = r$x, y = r$s, type = "permutation", weights = r$weights, seed = 1, threads = 1)
    stats::setNames(out$importance, out$column)
  })
  both(function(r) {
    out <- logLik(m, r$x, r$s, weights = r$weights)
    c(out, attr(out, "nobs"))
  })
  both(function(r) gbt_partial(m, r$x, "c", weights = r$weights, rows = 30, seed = 1, values = c(0.2, 0.8),
                               threads = 1)$effects$estimate)
  both(function(r) gbt_conformal(m, r$x, r$s, weights = r$weights)$scores[r$weights > 0])
})

test_that("weights that cannot be are refused with the row's number, beside weights of 0 as well", {
  x <- data.frame(a = 1:10)
  w <- replace(rep(1, 10), c(1, 2, 7), c(0, 0, -1))
  expect_error(gbt_train(x, 1:10, weights = w, nrounds = 1), "row 7", class = "gbt_error_data")
  expect_error(gbt_train(gbt_data(x), 1:10, weights = w, nrounds = 1), "row 7", class = "gbt_error_data")
  expect_error(gbt_train(x, 1:10, weights = rep(0, 10), nrounds = 1), class = "gbt_error_data")
  expect_error(gbt_train(x, 1:10, weights = rep(0:1, 5), mask = rep(c(TRUE, FALSE), 5), nrounds = 1),
               "`weights` are 0 in all rows where `mask` is TRUE", class = "gbt_error_data")
})
