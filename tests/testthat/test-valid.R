set.seed(4)
rows <- sample(nrow(flights), 3000)
d <- flights[rows[1:2000], ]
v <- flights[rows[2001:3000], ]
train <- function(...) gbt_train(..., nrounds = 8, eta = 0.5, max_depth = 4, threads = 1)

test_that("all ways to give validation data agree", {
  a <- train(late ~ ., d, valid = v)
  b <- train(d[-1], d$late, valid = list(x = v[-1], y = v$late))
  expect_identical(a$evaluation_log, b$evaluation_log)
  b <- train(late ~ ., d, valid = list(valid = list(x = v[10:1], y = v$late)))
  expect_identical(a$evaluation_log, b$evaluation_log)
  td <- gbt_data(d[-1], label = d$late, threads = 1)
  b <- train(td, valid = gbt_data(v, label = v$late, reference = td, threads = 1))
  expect_identical(a$evaluation_log, b$evaluation_log)
  b <- train(late ~ ., d, evals = list(first = d, second = v), metric = c("auc", "logloss"))
  expect_named(b$evaluation_log, c("round", "first_auc", "first_logloss", "second_auc", "second_logloss"))
  expect_identical(b$evaluation_log$second_logloss, a$evaluation_log$valid_logloss)
  b <- train(late ~ ., d, valid = list(v, v), eval_train = TRUE)
  expect_named(b$evaluation_log, c("round", "train_logloss", "valid1_logloss", "valid2_logloss"))
  y <- as.numeric(v$late) - 1
  p <- predict(a, v)
  expect_equal(a$evaluation_log$valid_logloss[8], -mean(y * log(p) + (1 - y) * log(1 - p)), tolerance = 1e-12)
})

test_that("weights and offsets of validation data count", {
  d <- transform(mtcars, e = log(hp))
  set <- list(x = d[1:10, c("wt", "cyl")], y = d$carb[1:10], weight = d$disp[1:10], offset = d$e[1:10])
  m <- gbt_train(d[c("wt", "cyl")], d$carb, offset = d$e, objective = "poisson", nrounds = 3, valid = set, threads = 1,
                 eval_metric = c("rmse", "poisson_deviance"))
  mu <- predict(m, d[1:10, ], offset = d$e[1:10])
  y <- d$carb[1:10]
  expect_equal(m$evaluation_log$valid_rmse[3], sqrt(weighted.mean((y - mu)^2, d$disp[1:10])))
  expect_equal(m$evaluation_log$valid_poisson_deviance[3],
               2 * weighted.mean(y * log(y / mu) - (y - mu), d$disp[1:10]))
})

test_that("a share is held out by the seed, class by class, without touching R's generator", {
  set.seed(1)
  before <- .Random.seed
  m <- train(late ~ ., d, valid = 0.25, seed = 5)
  expect_identical(.Random.seed, before)
  expect_same_bytes(train(late ~ ., d, valid = 0.25, seed = 5)$state, m$state)
  expect_false(identical(train(late ~ ., d, valid = 0.25, seed = 6)$evaluation_log, m$evaluation_log))
  label <- as.numeric(d$late) - 1
  held <- gbt:::held_out_rows(2000, 0.25, 5, label)$held
  expect_identical(tabulate(label[held] + 1), as.integer(round(0.25 * tabulate(label + 1))))
  b <- train(late ~ ., d[-held, ], valid = d[held, ], seed = 5)
  expect_identical(b$evaluation_log, m$evaluation_log)
  expect_identical(nobs(m), 2000L - length(held))
  x <- as.matrix(mtcars[-1])
  a <- train(x, mtcars$mpg, valid = 0.3, seed = 2, weights = mtcars$wt, offset = mtcars$hp / 10)
  skip_if_not_installed("Matrix")
  b <- train(Matrix::Matrix(x, sparse = TRUE), mtcars$mpg, valid = 0.3, seed = 2, weights = mtcars$wt,
             offset = mtcars$hp / 10)
  expect_same_bytes(a$state, b$state)
})

# The rows held out, as they were chosen first: by exact doubles, class by class, sorted.
multiply31 <- function(x, k) {
  high <- x %/% 65536L
  low <- x %% 65536L
  as.integer(((high * k) %% 32768 * 65536 + low * k) %% 2147483648)
}
mix31 <- function(x) {
  x <- bitwXor(x, x %/% 65536L)
  x <- multiply31(x, 0x21f0aaad)
  x <- bitwXor(x, x %/% 32768L)
  x <- multiply31(x, 0x735a2d97)
  bitwXor(x, x %/% 32768L)
}
row_hash <- function(n, seed) {
  key <- mix31(as.integer(seed %% 2147483648))
  key <- mix31(as.integer((key + seed %/% 2147483648) %% 2147483648))
  mix31(bitwXor(mix31(as.integer((seq_len(n) + as.double(key)) %% 2147483648)), key))
}
slowly_held_out <- function(n, share, seed, class = NULL) {
  rank <- row_hash(n, seed)
  if (is.null(class)) class <- integer(n)
  held <- unlist(lapply(split(seq_len(n), class), function(rows) {
    k <- min(round(share * length(rows)), length(rows) - 1)
    rows[order(rank[rows], method = "radix")[seq_len(k)]]
  }), use.names = FALSE)
  if (length(held) == 0L) held <- which.min(rank)
  held <- sort(held)
  list(held = held, kept = seq_len(n)[-held])
}

test_that("the hash of rows is a permutation and looks random", {
  h <- row_hash(1e5, 1)
  expect_false(anyDuplicated(h) > 0)
  expect_true(all(h >= 0))
  expect_lt(abs(mean(h) / 2^30 - 1), 0.01)
  expect_lt(abs(cor(h[-1], h[-1e5])), 0.01)
  expect_lt(abs(cor(h, row_hash(1e5, 2))), 0.01)
  expect_false(identical(row_hash(10, 3), row_hash(10, 3 + 2^31)))
  expect_identical(multiply31(c(0L, 1L, 123456789L, 2147483647L), 0x21f0aaad),
                   as.integer(c(0, 0x21f0aaad, 1743358257, 2147483648 - 0x21f0aaad)))
})

test_that("the rows held out are those of the slow way", {
  set.seed(1)
  for (i in 1:300) {
    n <- c(2, 3, 10, 100, 5000)[sample(5, 1)] + sample(0:3, 1)
    share <- sample(c(1e-9, 0.1, 0.25, 0.5, runif(1), 0.999999), 1)
    seed <- sample(c(0, 1, 2^31 - 1, 2^31, 2^31 + 1, 2^53, floor(runif(1) * 2^53)), 1)
    class <- if (i %% 3 > 0) as.double(sample(0:sample(c(1, 4, 300), 1), n, TRUE))
    expect_identical(gbt:::held_out_rows(n, share, seed, class), slowly_held_out(n, share, seed, class))
  }
  class <- as.double(sample(0:70000, 2e5, TRUE))
  expect_identical(gbt:::held_out_rows(2e5, 0.3, 7, class), slowly_held_out(2e5, 0.3, 7, class))
})

test_that("shares of rows in time are the last ones, and groups stay whole", {
  for (n in c(2:9, 31:33, 127:129, 1000)) {
    for (share in c(1e-9, 0.2, 0.5, 0.99)) {
      for (most in c(2, 10, 1e9)) {
        time <- withr::with_seed(n, c(0, sample(most, n - 1, TRUE)))
        rows <- gbt:::latest_rows(time, share)
        expect_identical(sort(c(rows$held, rows$kept)), seq_len(n))
        expect_gt(min(time[rows$held]), max(time[rows$kept]))
        at_least <- sum(time > min(time[rows$held])) # less without the first of the times
        expect_lt(at_least, max(round(share * n), 1))
        if (length(unique(time)) == n) expect_length(rows$held, min(max(round(share * n), 1), n - 1))
      }
    }
  }
  d <- flights[seq(1, nrow(flights), 25), ]
  d$month <- format(d$date, "%m")
  d$same <- "a"
  held <- NULL
  catch <- gbt_metric("catch", function(pred, label) {
    held <<- label
    0
  })
  by <- function(...) {
    train(late ~ carrier + dest + distance, d, ..., valid = 0.2, seed = 3, eval_metric = catch)$n_obs
  }
  cut <- sort(d$date, decreasing = TRUE)[round(0.2 * nrow(d))]
  expect_identical(by(time = date), sum(d$date < cut))
  expect_length(held, sum(d$date >= cut))
  expect_identical(as.vector(held), as.double(d$late[d$date >= cut] == "yes"))
  kept <- by(group = month)
  sizes <- table(d$month)
  held_sizes <- utils::combn(as.vector(sizes), 2, sum) # a fifth of 12 months
  expect_true((nrow(d) - kept) %in% held_sizes)
  expect_error(by(time = as.Date("2013-01-01") + 0 * distance), "all rows have the same `time`",
               class = "gbt_error_argument")
  expect_error(by(group = same), "there is only one `group`", class = "gbt_error_argument")
})

test_that("rows are taken as `[` takes them", {
  n <- 70000
  set.seed(2)
  rows <- sort(sample(n, 66000))
  number <- rnorm(n)
  texts <- paste0("t", seq_len(n) %% 1000)
  columns <- list(
    number, seq_len(n), number > 0, texts, factor(texts), factor(texts, levels = unique(texts), ordered = TRUE),
    C(factor(texts), "contr.sum"), as.Date("2020-01-01") + seq_len(n),
    structure(number * 1e8, class = c("POSIXct", "POSIXt"), tzone = "Europe/Paris"),
    as.difftime(number, units = "hours"), stats::setNames(number, texts), stats::setNames(factor(texts), texts),
    structure(number, class = "strange"), I(number), complex(real = number), as.list(number), ifelse(number > 0, NA, 1),
    c(NA, texts[-1]), array(number, n), structure(number, note = "lost")
  )
  for (x in columns) {
    for (part in list(rows, rev(rows), integer(0), 3L)) expect_identical(gbt:::subset_rows(x, part), x[part])
  }
  m <- matrix(number, ncol = 7)
  named <- m
  dimnames(named) <- list(row = texts[1:10000], column = letters[1:7])
  part <- sample(10000, 500)
  for (x in list(m, named, m > 0, named[, 0], named[, 1, drop = FALSE], matrix(texts, ncol = 7))) {
    for (rows in list(part, integer(0), 10000L)) expect_identical(gbt:::subset_rows(x, rows), x[rows, , drop = FALSE])
  }
  own <- structure(m, class = "strange")
  expect_identical(gbt:::subset_rows(own, part), m[part, ])
  expect_error(gbt:::take_rows(number, c(1L, NA)), class = "gbt_error_internal")
  expect_error(gbt:::take_rows(m, 10001L), class = "gbt_error_internal")
})

test_that("rows of sparse matrices are taken as package Matrix takes them", {
  skip_if_not_installed("Matrix")
  set.seed(3)
  dense <- matrix(rnorm(4000) * (runif(4000) < 0.3), 100)
  dense[, 7] <- 0
  x <- methods::as(Matrix::Matrix(dense, sparse = TRUE), "CsparseMatrix")
  named <- x
  dimnames(named) <- list(paste0("r", 1:100), paste0("c", 1:40))
  zero <- x
  zero@x[5] <- 0
  kinds <- list(x, named, zero, x != 0, methods::as(x, "nMatrix"), x[, 0], x[, 3, drop = FALSE],
                methods::as(x, "RsparseMatrix"), Matrix::Diagonal(100))
  for (k in kinds) {
    for (rows in list(sort(sample(100L, 30)), 1:100, 100L, integer(0), sample(100L, 30), c(2L, 2L))) {
      expect_identical(gbt:::subset_rows(k, rows), k[rows, , drop = FALSE])
    }
  }
  for (bad in c(-1L, 100L, NA)) {
    broken <- x
    broken@i[3] <- bad
    expect_error(gbt:::subset_rows(broken, 1:50), "slot i must", class = "gbt_error_data")
  }
})

test_that("early stopping keeps all rounds and predicts with the best", {
  m <- gbt_train(late ~ ., d, valid = v, eta = 0.9, early_stopping_rounds = 3, nrounds = 100, threads = 1)
  log <- m$evaluation_log$valid_logloss
  expect_identical(m$best_round, which.min(log))
  expect_identical(m$best_score, min(log))
  expect_identical(m$nrounds, m$best_round + 3L)
  expect_identical(predict(m, v), predict(m, v, trees = m$best_round))
  best <- m[seq_len(m$best_round)]
  expect_identical(predict(best, v), predict(m, v))
  expect_identical(gbt_importance(best), gbt_importance(m))
  expect_output(print(m), sprintf("%d, stopped early, predicts with the best %d", m$nrounds, m$best_round))
  expect_output(print(m[seq_len(m$nrounds - 1L)]), sprintf("%d, predicts with the best", m$nrounds - 1L))
  expect_output(print(best), sprintf("%d, the last is the best", m$best_round))
  # the last metric is the one that counts
  m <- gbt_train(late ~ ., d, valid = v, eta = 0.9, early_stopping_rounds = 3, eval_metric = c("logloss", "auc"),
                 nrounds = 100, threads = 1)
  expect_identical(m$best_round, which.max(m$evaluation_log$valid_auc))
})

test_that("early stopping by a metric of one's own follows the same rule", {
  own <- gbt_metric("own", function(pred, label) -mean(label * log(pred) + (1 - label) * log(1 - pred)))
  up <- gbt_metric("up", function(pred, label) mean(label * log(pred) + (1 - label) * log(1 - pred)), maximise = TRUE)
  stop_by <- function(metric, ...) {
    gbt_train(late ~ ., d, valid = v, eta = 0.9, early_stopping_rounds = 3, nrounds = 100, threads = 1,
              eval_metric = metric, ...)
  }
  a <- stop_by("logloss")
  for (m in list(stop_by(own), stop_by(list("auc", up)))) {
    expect_identical(m$best_round, a$best_round)
    expect_identical(m$nrounds, a$nrounds)
  }
  a <- stop_by("logloss", early_stopping_min_delta = 0.005)
  expect_identical(stop_by(own, early_stopping_min_delta = 0.005)$best_round, a$best_round)
})

test_that("rows with unseen levels are scored as predict() scores them", {
  f <- factor(rep(c(letters[1:12], NA), length.out = 390))
  train <- data.frame(f = f, v = seq_along(f) %% 7)
  y <- ifelse(is.na(f), 5, as.integer(f) %% 2) + train$v / 10
  new <- data.frame(f = factor(c("a", "new", NA, "other", "b", "new")), v = c(1, 1, 1, NA, 2, 6))
  scores <- NULL
  keep <- gbt_metric("own", function(pred, label, weight) {
    scores <<- pred
    0
  })
  for (max_cat_onehot in c(1, 20)) {
    fit <- function(x, ...) {
      gbt_train(x, ..., eval_metric = keep, nrounds = 5, subsample = 0.7, seed = 1, min_data_per_group = 5,
                max_cat_onehot = max_cat_onehot, threads = 1)
    }
    model <- fit(train, y, valid = list(x = new, y = numeric(6)))
    expect_identical(scores, predict(model, new))
    expect_false(identical(scores, predict(model, new, unseen = "missing"))) # else nothing was tested
    data <- gbt_data(train, label = y, threads = 1)
    for (unseen in c("prior", "missing")) {
      valid <- gbt_data(new, label = numeric(6), reference = data, unseen = unseen, page_rows = 4, threads = 1)
      fit(data, valid = valid)
      expect_identical(scores, predict(model, new, unseen = unseen))
    }
  }
})

test_that("a gbt_data keeps nothing of a training that it was used for", {
  x <- mtcars[-1]
  train <- gbt_data(x[1:20, ], label = mtcars$mpg[1:20], threads = 1)
  valid <- gbt_data(x[21:32, ], label = mtcars$mpg[21:32], reference = train, threads = 1)
  log <- function() gbt_train(train, valid = valid, nrounds = 3, threads = 1)$evaluation_log
  before <- log()
  gbt_train(valid, y = rev(mtcars$mpg[21:32]), weights = 1:12, offset = 12:1, nrounds = 1, threads = 1)
  expect_identical(log(), before)
  for (set in list(train, valid)) {
    expect_error(gbt_train(set, valid = set, threads = 1), "is the training data", class = "gbt_error_argument")
  }
})

test_that("rows may be named that are held out", {
  held <- c(3, 40, 17, 1999, 2000)
  logical <- seq_len(2000) %in% held
  a <- train(late ~ ., d[-held, ], valid = d[sort(held), ])
  for (rows in first_cases(list(held, as.integer(held), logical))) {
    for (b in list(train(late ~ ., d, valid = rows), train(d[-1], d$late, valid = rows))) {
      expect_identical(b$evaluation_log, a$evaluation_log)
      expect_identical(as.data.frame(b), as.data.frame(a))
    }
  }
  # rows of the data, whatever `subset` leaves of them
  kept <- rep(c(TRUE, TRUE, FALSE), length.out = 2000)
  later <- d$distance > 1000
  a <- train(late ~ ., d[kept & !later, ], valid = d[kept & later, ])
  for (rows in list(later, which(later))) {
    expect_identical(train(late ~ ., d, valid = rows, subset = kept)$evaluation_log, a$evaluation_log)
  }
  expect_identical(train(late ~ ., d, valid = distance > 1000, subset = kept)$evaluation_log, a$evaluation_log)
  named <- transform(d, rank = distance) # and rank() is a function
  expect_identical(train(late ~ . - rank, named, valid = rank > 1000, subset = kept)$evaluation_log, a$evaluation_log)
  distance <- rep(0, 2000) # the column comes first all the same
  expect_identical(train(late ~ ., d, valid = distance > 1000, subset = kept)$evaluation_log, a$evaluation_log)
  # one draw of rows by seed and these rows are the same model
  by_share <- train(late ~ ., d, valid = 0.2, seed = 3)
  share <- gbt:::held_out_rows(2000, 0.2, 3, as.numeric(d$late == "yes"))
  expect_identical(train(late ~ ., d, valid = share$held, seed = 3)$evaluation_log, by_share$evaluation_log)
})

test_that("with a formula weights and offsets of validation data are those of their own columns", {
  t0 <- mtcars[1:22, ]
  t1 <- mtcars[23:32, ]
  fit <- function(...) gbt_train(..., nrounds = 4, max_depth = 2, objective = "poisson", threads = 1)
  a <- fit(carb ~ hp + wt, t0, weights = gear, offset = log(qsec), valid = t1)
  b <- fit(t0[c("hp", "wt")], t0$carb, weights = t0$gear, offset = log(t0$qsec),
           valid = list(x = t1, y = t1$carb, weight = t1$gear, offset = log(t1$qsec)))
  expect_identical(a$evaluation_log, b$evaluation_log)
  a <- fit(carb ~ hp + wt + offset(am), t0, base_margin = log(qsec), valid = list(one = t1, two = t0))
  b <- fit(t0[c("hp", "wt")], t0$carb, offset = t0$am + log(t0$qsec), valid = list(
    one = list(x = t1, y = t1$carb, offset = t1$am + log(t1$qsec)),
    two = list(x = t0, y = t0$carb, offset = t0$am + log(t0$qsec))
  ))
  expect_identical(a$evaluation_log, b$evaluation_log)
})

test_that("validation data that do not fit are errors that help", {
  w <- mtcars$wt
  x <- as.matrix(mtcars[-1])
  y <- mtcars$mpg
  bad <- function(valid, ...) gbt_train(x, y, valid = valid, nrounds = 1, threads = 1, ...)
  expect_snapshot(error = TRUE, {
    bad(0)
    bad(1.5)
    bad("0.2")
    bad(list())
    bad(list(1, 2))
    bad(list(x = x))
    bad(list(x = x, y = y, z = 1))
    bad(list(train = list(x = x, y = y)))
    bad(list(a = list(x = x, y = y), a = list(x = x, y = y)))
    bad(mtcars)
    bad(list(x = x[, -1], y = y))
    bad(list(x = mtcars[-2], y = y))
    bad(list(x = x, y = y[-1]))
    bad(list(x = x, y = letters[seq_along(y)]))
    bad(list(x = x, y = replace(y, 5, NA)))
    bad(list(x = x, y = y, weight = 1))
    bad(list(x = x, y = y, offset = y))
    bad(list(x = x, y = y), offset = y)
    bad(list(x = x[0, ], y = y[0]))
    bad(gbt_data(x, threads = 1))
    bad(gbt_data(x, label = y, threads = 1))
    gbt_train(gbt_data(x, label = y, threads = 1), valid = 0.2)
    gbt_train(x[1, , drop = FALSE], y[1], valid = 0.2)
    gbt_train(late ~ ., d, valid = transform(v, late = factor(ifelse(late == "yes", "oh", "no"))), threads = 1)
    gbt_train(mpg ~ ., mtcars, weights = w, valid = mtcars, threads = 1)
    gbt_train(mpg ~ ., mtcars, weights = wt, valid = mtcars[-6], threads = 1)
    gbt_train(mpg ~ hp, mtcars, offset = log(wt), valid = mtcars[c(1, 4)], threads = 1)
    gbt_train(log(mpg) ~ hp, mtcars, valid = mtcars[-1], threads = 1)
    bad(c(1, 33))
    bad(c(2, 2))
    bad(c(1, 2.5))
    bad(7)
    bad(integer(0))
    bad(rep(TRUE, 32))
    bad(rep(FALSE, 32))
    bad(rep(c(TRUE, NA), 16))
    bad(c(TRUE, FALSE))
    bad(1:5, mask = rep(c(TRUE, FALSE), 16))
    gbt_train(gbt_data(x, label = y, threads = 1), valid = 1:5)
  })
})

test_that("weights and offsets that do not fit are told before rows are held out", {
  for (valid in list(NULL, 0.3)) {
    fit <- function(...) gbt_train(mtcars[-1], mtcars$mpg, valid = valid, ..., seed = 1, nrounds = 1, threads = 1)
    expect_error(fit(weights = numeric(0)), "`weights` has 0 values for 32 rows", class = "gbt_error_data")
    expect_error(fit(weights = 1:33), "`weights` has 33 values for 32 rows", class = "gbt_error_data")
    expect_error(fit(weights = c(NA, 2:32)), "the first in row 1", class = "gbt_error_data")
    expect_error(fit(offset = 1), "`offset` has 1 value for 32 rows", class = "gbt_error_data")
    expect_error(fit(offset = matrix(0, 32, 2)), "`offset` must be a vector", class = "gbt_error_data")
  }
})
