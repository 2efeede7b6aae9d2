# Masks: the trees are those of the rows of the mask, the other rows are scored on the way.

# Every value of every column is in every fold, so that the cuts of some folds are those of all rows.
folded <- function(n = 600) {
  i <- seq_len(n)
  x <- data.frame(a = (i * 7) %% 11, b = sqrt((i * 13) %% 17), f = factor(letters[(i * 3) %% 5 + 1]), z = i %% 7 == 0)
  list(x = x, y = x$a - 3 * (x$f == "c") + sin(i), fold = (i - 1) %/% (n / 3), weight = 1 + i %% 3, offset = cos(i))
}

test_that("a model of a mask is that of the rows", {
  d <- folded()
  for (policy in c("depthwise", "lossguide", "symmetric")) {
    for (subsample in c(1, 0.6)) {
      args <- list(nrounds = 6, max_depth = 4, grow_policy = policy, subsample = subsample, seed = 3, threads = 2,
                   eval_train = TRUE)
      for (k in 0:2) {
        mask <- d$fold != k
        m <- do.call(gbt_train, c(list(d$x, d$y, mask = mask, weights = d$weight, offset = d$offset), args))
        out <- list(x = d$x[!mask, ], y = d$y[!mask], weight = d$weight[!mask], offset = d$offset[!mask])
        twin <- do.call(gbt_train, c(list(d$x[mask, ], d$y[mask], weights = d$weight[mask], offset = d$offset[mask],
                                          valid = list(masked_out = out)), args))
        expect_identical(m$state, twin$state)
        expect_identical(m$evaluation_log, twin$evaluation_log)
        expect_identical(m$masked_out, predict(twin, out$x, offset = out$offset))
        expect_identical(m$n_obs, twin$n_obs)
      }
    }
  }
})

test_that("classes, their weights and the objectives that renew leaves are of the mask's rows", {
  d <- folded()
  mask <- d$fold != 1
  y <- factor(c("low", "mid", "high")[(d$x$a + d$fold) %% 3 + 1])
  m <- gbt_train(d$x, y, mask = mask, nrounds = 4, class_weights = "balanced", threads = 1)
  twin <- gbt_train(d$x[mask, ], y[mask], nrounds = 4, class_weights = "balanced", threads = 1)
  expect_identical(m$params$class_weights, twin$params$class_weights)
  expect_identical(m$masked_out, predict(twin, d$x[!mask, ]))
  m <- gbt_train(d$x, d$y, mask = mask, objective = "quantile", quantile_alpha = 0.8, nrounds = 4, threads = 1)
  twin <- gbt_train(d$x[mask, ], d$y[mask], objective = "quantile", quantile_alpha = 0.8, nrounds = 4, threads = 1)
  expect_identical(m$masked_out, predict(twin, d$x[!mask, ]))
})

test_that("classes that no row to train on has are named", {
  d <- folded(60)
  y <- factor(ifelse(d$fold == 1, "c", ifelse(d$y > 0, "a", "b")))
  fit <- function(k) gbt_train(d$x, y, mask = d$fold != k, nrounds = 1, threads = 1)
  expect_message(fit(1), 'without rows where `mask` is TRUE: "c"', class = "gbt_message")
  expect_silent(fit(2))
})

test_that("one gbt_data serves all folds, and early stopping keeps the best round's predictions", {
  d <- folded()
  data <- gbt_data(d$x, label = d$y, weight = d$weight, threads = 1)
  for (k in 0:2) {
    m <- gbt_train(data, mask = d$fold != k, nrounds = 200, eta = 1, early_stopping_rounds = 4, threads = 1)
    expect_lt(m$best_round, m$nrounds)
    expect_identical(m$masked_out, predict(m, d$x[d$fold == k, ]))
    own <- gbt_metric("own", function(pred, label, weight) sum(weight * (pred - label)^2) / sum(weight))
    twin <- gbt_train(data, mask = d$fold != k, nrounds = 200, eta = 1, early_stopping_rounds = 4, eval_metric = own,
                      threads = 1)
    expect_identical(twin$best_round, m$best_round)
    expect_identical(twin$masked_out, m$masked_out)
    expect_identical(names(twin$evaluation_log), c("round", "masked_out_own"))
  }
})

test_that("objectives and metrics of one's own see the rows of the mask, in order", {
  d <- folded(60)
  mask <- d$fold != 1
  seen <- list()
  own <- list(gradient = function(score, label, weight) {
    seen[[length(seen) + 1L]] <<- list(label, weight)
    score - label
  }, hessian = function(score, label) rep(1, length(score)))
  m <- gbt_train(d$x, d$y, mask = mask, weights = d$weight, objective = own, nrounds = 2, threads = 1)
  expect_identical(seen, rep(list(list(d$y[mask], as.double(d$weight[mask]))), 2))
  expect_identical(m$masked_out, predict(m, d$x[!mask, ]))
})

test_that("formulas take the mask from the data, with subset and na.action", {
  d <- folded()
  all <- cbind(d$x, y = d$y, fold = d$fold, w = d$weight)
  all$a[c(5, 300)] <- NA
  m <- gbt_train(y ~ a + b + f, all, mask = fold != 1, subset = z, weights = w, na.action = na.omit, nrounds = 3,
                 threads = 1)
  used <- all$z & !is.na(all$a)
  expect_identical(m$n_obs, sum(used & all$fold != 1))
  expect_identical(m$masked_out, predict(m, all[used & all$fold == 1, ]))
  twin <- gbt_train(all[used, c("a", "b", "f")], all$y[used], mask = (all$fold != 1)[used], weights = all$w[used],
                    nrounds = 3, threads = 1)
  expect_identical(predict(m, all), predict(twin, all[c("a", "b", "f")]))
  expect_error(gbt_train(y ~ a, all, mask = fold[1:10] != 1, nrounds = 1),
               "`mask` has 10 values, but the data have 600", class = "gbt_error_data")
})

test_that("init_model, sparse matrices and further validation sets go with a mask", {
  d <- folded()
  mask <- d$fold != 2
  first <- gbt_train(d$x, d$y, nrounds = 3, max_depth = 2, threads = 1)
  valid <- list(x = d$x[1:50, ], y = d$y[1:50])
  m <- gbt_train(d$x, d$y, mask = mask, init_model = first, valid = valid, nrounds = 3, threads = 1)
  expect_identical(m$masked_out, predict(m, d$x[!mask, ]))
  expect_identical(names(m$evaluation_log), c("round", "masked_out_rmse", "valid_rmse"))
  skip_if_not_installed("Matrix")
  s <- methods::as(Matrix::Matrix(cbind(a = d$x$z * d$x$a, b = as.double(d$x$z)), sparse = TRUE), "generalMatrix")
  m <- gbt_train(s, d$y, mask = mask, nrounds = 3, threads = 1)
  expect_identical(m$masked_out, predict(m, s[!mask, ]))
})

test_that("a mask of all rows is none, and the field goes with the rounds", {
  d <- folded(90)
  plain <- gbt_train(d$x, d$y, nrounds = 4, threads = 1)
  m <- gbt_train(d$x, d$y, mask = rep(TRUE, 90), nrounds = 4, threads = 1)
  same <- setdiff(names(plain), "call")
  expect_identical(unclass(m)[same], unclass(plain)[same])
  m <- gbt_train(d$x, d$y, mask = d$fold != 1, nrounds = 4, threads = 1)
  expect_null(m[1:2]$masked_out)
  file <- withr::local_tempfile()
  expect_silent(gbt_save(m, file))
  expect_null(gbt_load(file)$masked_out)
  m$masked_out <- "no"
  expect_error(predict(m, d$x), "`masked_out`", class = "gbt_error_argument")
})

test_that("what is no mask is refused", {
  d <- folded(60)
  fit <- function(mask, ...) gbt_train(d$x, d$y, mask = mask, nrounds = 1, ...)
  for (bad in list(1:60, rep("a", 60), factor(rep(c(TRUE, FALSE), 30)), list(TRUE), matrix(TRUE, 30, 2), mean)) {
    expect_error(fit(bad), "`mask` must be logical values", class = "gbt_error_argument")
  }
  expect_error(fit(which(d$fold != 1)), "seq_len\\(60\\) %in% rows", class = "gbt_error_argument")
  expect_error(fit(matrix(TRUE, 60, 1)), "not a logical matrix", class = "gbt_error_argument")
  expect_error(fit(rep(TRUE, 60), early_stopping_rounds = 2), "a `mask` that is FALSE for some",
               class = "gbt_error_argument")
  expect_error(gbt_train(d$x, d$y, nfold = 5), "gbt_cv\\(\\) cross-validates", class = "gbt_error_unsupported")
  expect_error(gbt_train(d$x, d$y, subset = d$fold != 1), "without a formula give those rows",
               class = "gbt_error_unsupported")
  expect_error(fit(c(TRUE, FALSE)), "`mask` has 2 values for 60 rows", class = "gbt_error_argument")
  expect_error(fit(logical(60)), "`mask` is FALSE for every row", class = "gbt_error_argument")
  expect_error(fit(replace(d$fold != 1, 7:8, NA)), "`mask` has 2 missing values, the first in row 7",
               class = "gbt_error_argument")
  expect_error(fit(d$fold != 1, valid = 0.2), "`mask` and `valid` as a share", class = "gbt_error_argument")
  set <- list(x = d$x, y = d$y)
  expect_error(fit(d$fold != 1, valid = list(masked_out = set)), "cannot be called", class = "gbt_error_argument")
  expect_error(fit(d$fold != 1, valid = stats::setNames(rep(list(set), 16), letters[1:16])), "at most 15 sets",
               class = "gbt_error_argument")
  expect_error(fit(d$fold != 1, params = list(mask = d$fold != 2)), "contradict|twice", class = "gbt_error_argument")
  in_fold <- d$fold == 1
  expect_error(fit(!in_fold, weights = as.numeric(in_fold)), "`weights` are 0 in all rows where `mask` is TRUE",
               class = "gbt_error_data")
  expect_error(fit(!in_fold, weights = as.numeric(!in_fold)), "`weights` are 0 in all rows where `mask` is FALSE",
               class = "gbt_error_data")
  # A class may occur in masked-out rows alone.
  y <- factor(ifelse(in_fold, "c", ifelse(d$y > 0, "a", "b")))
  expect_error(suppressMessages(gbt_train(d$x, y, mask = !in_fold, class_weights = "balanced", nrounds = 1)),
               'class "c" has no weight in the rows to train on', class = "gbt_error_data")
  # Rows are named by their numbers in the data.
  y <- replace(abs(d$y), 25, -2)
  expect_error(gbt_train(d$x, y, mask = d$fold != 1, eval_metric = "rmsle", nrounds = 1), "row 25",
               class = "gbt_error_data")
})

test_that("a mask of the rows with weights says that it is not needed", {
  w <- rep(1:0, 16)
  expect_error(gbt_train(mpg ~ ., mtcars, weights = w, mask = w > 0, nrounds = 2, threads = 1),
               "leave `mask` out: rows of weight 0 are not trained on anyway", class = "gbt_error_data")
})
