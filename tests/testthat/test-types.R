# Columns of every type of R's: what they mean, and that their meaning does not depend on how they are written down.
n <- 600
d <- withr::with_seed(8, data.frame(f = sample(sprintf("level %d", 1:30), n, TRUE), k = sample(letters[1:3], n, TRUE),
                                    v = rnorm(n)))
y <- nchar(d$f) + match(d$f, unique(d$f)) %% 4 + (d$k == "b") * d$v
train <- function(x, ...) gbt_train(x, y, ..., nrounds = 6, min_data_per_group = 5, threads = 1)
fac <- function(...) data.frame(f = factor(d$f, ...), k = factor(d$k), v = d$v)
# trees without what depends on the texts of levels
shape <- function(model) as.data.frame(model)[c("tree", "node", "feature", "threshold", "left", "right", "missing",
                                                "gain", "cover", "count", "value")]

test_that("levels in any order, and levels that no row has, give equal models and predictions", {
  model <- train(fac())
  p <- predict(model, fac())
  expect_true(any(lengths(as.data.frame(model)$levels) > 1))
  orders <- list(rev(sort(unique(d$f))), unique(d$f), c("none", sort(unique(d$f)), "nowhere"))
  for (levels in orders) {
    other <- train(fac(levels))
    expect_identical(shape(other), shape(model))
    expect_identical(predict(other, fac()), p)
    expect_identical(predict(model, fac(levels)), p)
  }
})

test_that("levels under other names give equal predictions", {
  p <- predict(train(fac()), fac())
  renamed <- fac()
  levels(renamed$f) <- rev(make.unique(rep(c("zebra", "\u00e4pfel", "NA", " "), length.out = nlevels(renamed$f))))
  model <- train(renamed)
  expect_identical(shape(model), shape(train(fac())))
  expect_identical(predict(model, renamed), p)
  merged <- fac()
  merged$f <- factor(merged$f, labels = sprintf("%03d", seq_len(nlevels(merged$f)))) # digits are texts, no numbers
  expect_identical(predict(train(merged), merged), p)
})

test_that("texts are factors", {
  model <- train(fac())
  texts <- train(d)
  expect_identical(texts$feature_types, c("character", "character", "double"))
  expect_identical(shape(texts), shape(model))
  for (x in list(d, fac(), d[n:1, ][n:1, ])) {
    expect_identical(predict(texts, x), predict(model, fac()), ignore_attr = TRUE)
    expect_identical(predict(model, x), predict(model, fac()), ignore_attr = TRUE)
  }
})

test_that("rows in another order move predictions only where gradients are rounded", {
  # the hash that rounds gradients knows the row, so trees are the same but for that rounding
  turned <- withr::with_seed(1, sample(n))
  train <- function(...) gbt_train(..., cat_method = "sets", nrounds = 1, max_depth = 2, threads = 1)
  a <- train(fac(), y)
  b <- train(fac()[turned, ], y[turned])
  expect_equal(predict(b, fac()), predict(a, fac()), tolerance = 1e-6)
})

test_that("logical values are 0 and 1, integers are doubles", {
  x <- withr::with_seed(5, data.frame(a = sample(c(TRUE, FALSE, NA), n, TRUE), b = sample(c(-3:3, NA), n, TRUE)))
  x$v <- d$v
  forms <- list(x, transform(x, a = as.integer(a)), transform(x, a = as.double(a), b = as.double(b)))
  models <- lapply(forms, train)
  for (model in models) {
    expect_identical(as.data.frame(model), as.data.frame(models[[1]]))
    for (form in forms) expect_identical(predict(model, form), predict(models[[1]], x))
  }
  expect_identical(lapply(models, `[[`, "feature_types"),
                   list(c("logical", "integer", "double"), c("integer", "integer", "double"), rep("double", 3)))
  compact <- train(data.frame(i = seq_len(n), v = d$v)) # R keeps 1:n as its ends until code needs them
  expect_identical(as.data.frame(compact), as.data.frame(train(data.frame(i = as.double(seq_len(n)), v = d$v))))
})

test_that("integer64 is the number, exact up to 2^53", {
  skip_if_not_installed("bit64")
  whole <- withr::with_seed(6, round(runif(n, -2^53, 2^53)))
  whole[1:40] <- 2^53 - (0:39)
  whole[50] <- NA
  big <- data.frame(id = bit64::as.integer64(whole), v = d$v)
  double <- data.frame(id = whole, v = d$v)
  z <- y + (rank(whole) %% 2)
  a <- gbt_train(big, z, nrounds = 5, max_bin = 1000, threads = 1)
  b <- gbt_train(double, z, nrounds = 5, max_bin = 1000, threads = 1)
  expect_identical(a$feature_types, c("integer64", "double"))
  expect_identical(as.data.frame(a), as.data.frame(b))
  for (model in list(a, b)) for (x in list(big, double)) expect_identical(predict(model, x), predict(b, double))
  expect_identical(predict(a, data.frame(id = 50L, v = 0)), predict(a, data.frame(id = bit64::as.integer64(50), v = 0)))
  held <- gbt_train(big, z, nrounds = 2, valid = 0.3, seed = 1, threads = 1)
  expect_identical(held$evaluation_log, gbt_train(double, z, nrounds = 2, valid = 0.3, seed = 1)$evaluation_log)
})

test_that("dates and times are their numbers, whatever the class, time zone or storage", {
  day <- as.Date("2020-02-25") + (seq_len(n) * 7) %% 60
  time <- as.POSIXct("2020-03-28 12:00:00", tz = "Europe/Berlin") + (seq_len(n) * 7919) %% 100000
  z <- as.integer(format(day, "%d")) + as.integer(format(time, "%H", tz = "UTC"))
  model <- gbt_train(data.frame(day, time), z, nrounds = 5, threads = 1)
  expect_identical(model$feature_types, c("Date", "POSIXct"))
  plain <- gbt_train(data.frame(day = as.numeric(day), time = as.numeric(time)), z, nrounds = 5, threads = 1)
  expect_identical(as.data.frame(plain)$threshold, as.data.frame(model)$threshold)
  p <- predict(plain, data.frame(day = as.numeric(day), time = as.numeric(time)))
  lt <- data.frame(day)
  lt$time <- as.POSIXlt(time)
  same <- list(data.frame(day, time), lt, data.frame(day = structure(as.integer(day), class = "Date"), time),
               data.frame(day, time = as.POSIXct(format(time, tz = "UTC"), tz = "UTC")))
  for (x in same) {
    expect_identical(predict(model, x), p)
    expect_same_bytes(gbt_train(x, z, nrounds = 5, threads = 1)$state, model$state)
  }
  late <- data.frame(day = as.Date(c(20000, Inf), "1970-01-01"), time = time[1])
  expect_identical(predict(model, late)[1], predict(model, late)[2])
  expect_snapshot(error = TRUE, {
    predict(model, data.frame(day = time[1], time = time[1]))
    predict(model, data.frame(day = day[1], time = day[1]))
    predict(model, data.frame(day = "2020-03-01", time = time[1]))
    predict(model, data.frame(day = factor("2020-03-01"), time = time[1]))
  })
})

test_that("spans of time are compared in the unit of training", {
  span <- as.difftime(seq_len(n) %% 100 + 0, units = "hours")
  model <- gbt_train(data.frame(span), sin(as.numeric(span) / 9), nrounds = 5, threads = 1)
  p <- predict(model, data.frame(span))
  for (unit in c("secs", "mins", "days", "weeks")) {
    other <- span
    units(other) <- unit
    expect_equal(predict(model, data.frame(span = other)), p, tolerance = 1e-12) # x / 60 * 60 may be next to x
  }
  expect_identical(predict(model, data.frame(span = as.numeric(span))), p)
  other <- span
  units(other) <- "mins"
  v <- gbt_train(data.frame(span), as.numeric(span), nrounds = 2, threads = 1,
                 valid = list(x = data.frame(span = other), y = as.numeric(span)), eval_train = TRUE)
  expect_identical(v$evaluation_log$valid_rmse, v$evaluation_log$train_rmse)
})

test_that("ordered factors are their ranks", {
  sizes <- c("XS", "S", "M", "L", "XL")
  o <- data.frame(o = factor(sample(sizes, n, TRUE), sizes, ordered = TRUE), v = d$v)
  o$o[5] <- NA
  z <- ifelse(is.na(o$o), 9, c(1, 1, 3, 3, 2)[o$o]) + o$v
  model <- gbt_train(o, z, nrounds = 6, monotone = c(o = 1), threads = 1)
  ranks <- gbt_train(transform(o, o = as.integer(o)), z, nrounds = 6, monotone = c(o = 1), threads = 1)
  parts <- c("tree", "node", "feature", "left", "right", "gain", "count", "value")
  expect_identical(as.data.frame(model)[parts], as.data.frame(ranks)[parts])
  p <- predict(model, o)
  expect_identical(predict(ranks, transform(o, o = as.integer(o))), p)
  expect_identical(predict(model, transform(o, o = as.character(o))), p)
  expect_identical(predict(model, transform(o, o = factor(o, rev(sizes)))), p) # by text, not by place
  new <- data.frame(o = factor(c("XXL", NA), c("XXL", sizes), ordered = TRUE), v = 0)
  expect_identical(predict(model, new)[1], predict(model, new)[2]) # no rank to compare: missing
})

test_that("NA and NaN are missing; Inf and -Inf are the largest and smallest of numbers", {
  v <- c(NA, NaN, -Inf, Inf, rep(c(-5, 0, 5, 10), 149))
  z <- c(7, 7, -10, 20, rep(c(-3, 0, 3, 6), 149))
  model <- gbt_train(data.frame(v), z, nrounds = 50, eta = 0.5, lambda = 0, threads = 1)
  p <- predict(model, data.frame(v = c(NA, NaN, -Inf, Inf, -5, 10)))
  expect_identical(p[1], p[2])
  expect_equal(p, c(7, 7, -10, 20, -3, 6), tolerance = 1e-3)
  expect_identical(predict(model, data.frame(v = c(NA, 3L))), predict(model, data.frame(v = c(NaN, 3))))
  finite <- data.frame(v = replace(v, !is.finite(v), 5))
  far <- predict(gbt_train(finite, z, nrounds = 3, threads = 1), data.frame(v = c(Inf, 1e300, -Inf, -1e300, 10, -5)))
  expect_identical(far[c(2, 4)], far[c(1, 3)])
  expect_identical(far[c(1, 3)], far[5:6])
  gap <- gbt_train(data.frame(f = factor(c(NA, d$k[-1]))), c(50, rep(1, n - 1)), nrounds = 30, eta = 1, lambda = 0,
                   min_child_weight = 0, threads = 1)
  expect_equal(predict(gap, data.frame(f = c(NA, "a"))), c(50, 1), tolerance = 1e-6)
  expect_identical(predict(gap, data.frame(f = factor(NA))), predict(gap, data.frame(f = NA_character_)))
})

mixed <- local({
  n <- 120
  i <- seq_len(n)
  data.frame(
    num = sin(i), whole = i %% 7L, fac = factor(letters[i %% 5 + 1]), txt = c("x", "y", "z")[i %% 3 + 1],
    ord = factor(i %% 4, ordered = TRUE), lgl = i %% 2 == 0, date = as.Date("2020-01-01") + i %% 50,
    time = as.POSIXct("2020-01-01", tz = "UTC") + 1e4 * (i %% 11), span = as.difftime(i %% 13, units = "hours")
  )
})
mixed_y <- with(mixed, num + whole / 5 + (fac == "b") + (txt == "z") + as.integer(ord) / 3 + lgl + as.numeric(span) / 9)
all_na <- function(n) {
  one <- list(NA, NA_real_, NaN, NA_integer_, NA_character_, factor(NA), factor(NA, levels = c("q", "a")),
              addNA(factor(NA)), ordered(NA), as.Date(NA), as.POSIXct(NA), as.difftime(NA_real_, units = "mins"))
  c(lapply(one, rep, n), list(structure(rep(-0.0, n), class = "integer64")))
}

test_that("NA is missing in any class: in new data, validation data and data by the cuts of others", {
  m <- gbt_train(mixed, mixed_y, nrounds = 8, threads = 1)
  cuts <- gbt_data(mixed, mixed_y, threads = 1)
  for (name in names(mixed)) {
    gone <- mixed
    gone[[name]][] <- NA # of its own class
    want <- predict(m, gone)
    own <- gbt_train(mixed, mixed_y, nrounds = 2, valid = list(x = gone, y = mixed_y), threads = 1)$evaluation_log
    same <- vapply(first_cases(every(all_na(nrow(mixed)), 2), 2L), function(v) {
      gone[[name]] <- v
      log <- gbt_train(mixed, mixed_y, nrounds = 2, valid = list(x = gone, y = mixed_y), threads = 1)$evaluation_log
      gbt_data(gone, mixed_y, reference = cuts, threads = 1)
      identical(predict(m, gone), want) && identical(predict(m, gone[3, ], unseen = "error"), want[3]) &&
        identical(log, own)
    }, NA)
    expect_true(all(same), label = name)
  }
  nulls <- matrix(NA, 2, length(mixed), dimnames = list(NULL, names(mixed)))
  expect_identical(predict(m, nulls), predict(m, as.data.frame(nulls)))
  # one value is enough to be of a class
  wrong <- mixed[1:2, ]
  wrong$fac <- c(NA, 1)
  expect_error(predict(m, wrong), "was a factor", class = "gbt_error_data")
  wrong <- mixed[1:2, ]
  wrong$num <- c(NA, "a")
  expect_error(predict(m, wrong), "was a number", class = "gbt_error_data")
})

test_that("a column that was nothing but NA in training may be anything later", {
  nothing <- mixed
  nothing$fac <- NA
  m <- gbt_train(nothing, mixed_y, nrounds = 5, threads = 1)
  expect_identical(m$feature_types[3], "missing")
  want <- predict(m, nothing)
  for (name in names(mixed)) {
    nothing$fac <- mixed[[name]]
    expect_identical(predict(m, nothing, unseen = "error"), want)
  }
  nothing$fac <- NA
  expect_s3_class(gbt_train(nothing, mixed_y, nrounds = 2, valid = list(x = mixed, y = mixed_y), threads = 1), "gbt")
  # going on: from a model that did not know it, and with data that do not have it any more
  more <- gbt_train(mixed, mixed_y, nrounds = 3, init_model = m, threads = 1)
  expect_identical(predict(more, mixed, trees = 5), want)
  nothing$fac <- NA
  back <- gbt_train(nothing, mixed_y, nrounds = 3, init_model = more, threads = 1)
  expect_identical(back$feature_types, more$feature_types)
  expect_identical(predict(back, nothing, trees = 8), predict(more, nothing))
  only <- mixed["fac"]
  only$fac <- NA
  m <- gbt_train(only, mixed_y, nrounds = 2, threads = 1)
  more <- gbt_train(mixed["fac"], mixed_y, nrounds = 3, init_model = m, threads = 1)
  expect_identical(more$feature_types, "factor")
  expect_identical(predict(more, mixed, trees = 2), predict(m, mixed))
  # the same whatever the form
  x <- cbind(a = NA, b = rep(c(TRUE, FALSE, NA), 10))
  expect_same_bytes(gbt_train(x, 1:30, nrounds = 2, threads = 1)$state,
                    gbt_train(as.data.frame(x), 1:30, nrounds = 2, threads = 1)$state)
})

test_that("a matrix may have a class of its own", {
  x <- as.matrix(mtcars[-1])
  state <- function(x, ...) gbt_train(x, mtcars$mpg, ..., nrounds = 3, threads = 1)$state
  odd <- structure(x, class = "odd")
  registerS3method("[", "odd", function(x, ...) stop("rows are taken without it"), environment())
  for (x2 in list(I(x), structure(x, class = "table"), odd)) {
    expect_same_bytes(state(x2), state(x))
    expect_same_bytes(state(x2, valid = 0.3, seed = 1), state(x, valid = 0.3, seed = 1))
    expect_same_bytes(gbt_train(gbt_data(x2, mtcars$mpg, threads = 1), nrounds = 3, threads = 1)$state, state(x))
    m <- gbt_train(x, mtcars$mpg, nrounds = 3, threads = 1)
    expect_identical(predict(m, x2), predict(m, x))
  }
  expect_same_bytes(state(scale(x)), state(scale(x)[, ]))
  count <- table(mtcars$cyl, mtcars$gear)
  expect_identical(gbt_train(count, 1:3, nrounds = 1, threads = 1)$feature_names, c("3", "4", "5"))
  own <- data.frame(mtcars[-1])
  for (name in names(own)) own[[name]] <- I(own[[name]])
  own$hp <- I(as.matrix(mtcars["hp"]))
  expect_same_bytes(state(own), state(x))
})

test_that("unseen levels go the way of most rows, count as missing, or are errors with column, level and row", {
  k <- replace(d$k, 1:30, NA)
  k[k %in% "c"] <- "a"
  z <- c(a = 1, b = 5)[k]
  z[is.na(z)] <- 20
  set <- c("a", "b", NA, "new")
  for (max_cat_onehot in c(1, 4)) {
    model <- gbt_train(data.frame(k), z, nrounds = 20, max_cat_onehot = max_cat_onehot, min_data_per_group = 1,
                       cat_smooth = 0, threads = 1)
    expect_gt(sum(k %in% "a"), sum(k %in% "b"))
    for (new in list(data.frame(k = set), data.frame(k = factor(set)))) {
      prior <- predict(model, new)
      expect_identical(prior[4], prior[1])
      expect_identical(predict(model, new, unseen = "prior"), prior)
      missing <- predict(model, new, unseen = "missing")
      expect_identical(missing[1:3], prior[1:3])
      expect_identical(missing[4], missing[3])
      expect_false(missing[4] == prior[4])
      e <- tryCatch(predict(model, new, unseen = "error"), error = identity)
      expect_s3_class(e, "gbt_error_data")
      expect_identical(e$column, "k")
      for (part in c("`k`", "\"new\"", "row 4")) expect_match(conditionMessage(e), part, fixed = TRUE)
      expect_identical(predict(model, new[1:3, , drop = FALSE], unseen = "error"), prior[1:3]) # a level without rows
    }
  }
  expect_identical(predict(train(fac()), fac(), unseen = "error"), predict(train(fac()), fac()))
})

test_that("the unseen levels of validation data follow the same three ways", {
  x <- fac()["f"]
  new <- data.frame(f = factor(c("level 1", "new", "level 2")))
  data <- gbt_data(x, threads = 1)
  expect_silent(gbt_data(new, reference = data, threads = 1))
  expect_error(gbt_data(new, reference = data, unseen = "error", threads = 1), "column `f`, row 2: the level \"new\"",
               class = "gbt_error_data")
  for (unseen in c("prior", "missing")) {
    valid <- gbt_data(new, label = c(1, 100, 2), reference = data, unseen = unseen, threads = 1)
    model <- gbt_train(data, y, valid = valid, nrounds = 3, min_data_per_group = 5, threads = 1)
    expect_equal(model$evaluation_log$valid_rmse[3],
                 sqrt(mean((predict(model, new, unseen = unseen) - c(1, 100, 2))^2)), tolerance = 1e-12)
  }
})

test_that("columns come in any order, with others among them, from any kind of frame; missing ones are listed", {
  x <- fac()
  model <- train(x)
  p <- predict(model, x)
  odd <- data.frame(v2 = 1i, v = x$v, list = I(vector("list", n)), k = x$k, raw = as.raw(1), f = x$f)
  forms <- list(x[3:1], odd, x[c("v", "f", "k")])
  kinds <- list(identity)
  if (requireNamespace("tibble", quietly = TRUE)) kinds <- c(kinds, tibble::as_tibble)
  if (requireNamespace("data.table", quietly = TRUE)) kinds <- c(kinds, data.table::as.data.table)
  for (kind in kinds) {
    for (form in forms) expect_identical(predict(model, kind(form)), p)
    expect_same_bytes(train(kind(x))$state, model$state)
  }
  expect_snapshot(error = TRUE, {
    predict(model, x["v"])
    predict(model, data.frame(V = 1, f = "a", k = "b"))
    predict(model, transform(x, v = factor(v)))
    predict(model, transform(x, k = as.integer(k)))
    predict(model, cbind(x, x))
    gbt_data(x["v"], reference = gbt_data(x, threads = 1))
  })
})

test_that("absent entries of sparse data are the number 0, or missing when asked", {
  skip_if_not_installed("Matrix")
  x <- withr::with_seed(9, matrix(rpois(n * 5, 0.6) - (runif(n * 5) < 0.1) + 0, n, dimnames = list(NULL, letters[1:5])))
  z <- 3 * (x[, 1] == 0) + x[, 2] + (x[, 3] < 0)
  S <- methods::as(x, "CsparseMatrix")
  missing <- replace(x, x == 0, NA)
  for (weights in list(NULL, rep(c(1, 3), n / 2))) {
    fit <- function(x, ...) gbt_train(x, z, weights = weights, nrounds = 8, threads = 1, ...)
    value <- fit(S)
    none <- fit(S, sparse_zero = "missing")
    expect_same_bytes(value$state, fit(x)$state)
    expect_identical(as.data.frame(none), as.data.frame(fit(missing)))
    expect_identical(predict(value, S), predict(value, x))
    expect_identical(predict(none, S), predict(none, missing))
    expect_identical(predict(value, S, sparse_zero = "missing"), predict(value, missing))
    expect_identical(predict(none, S, sparse_zero = "value"), predict(none, x))
    expect_false(identical(predict(none, S), predict(value, S)))
  }
  stored <- S
  stored@x[1:20] <- 0 # zeros that are entries are zeros
  dense <- as.matrix(stored)
  expect_same_bytes(gbt_train(stored, z, nrounds = 8, threads = 1)$state, gbt_train(dense, z, nrounds = 8)$state)
  kept <- replace(missing, cbind(S@i[1:20] + 1L, 1L), 0)
  expect_identical(sum(kept == 0, na.rm = TRUE), 20L)
  expect_identical(as.data.frame(gbt_train(stored, z, sparse_zero = "missing", nrounds = 8, threads = 1)),
                   as.data.frame(gbt_train(kept, z, nrounds = 8, threads = 1)))
})

test_that("responses of every type give the model of their numbers", {
  x <- data.frame(v = d$v, f = factor(d$k))
  fit <- function(y, ...) as.data.frame(gbt_train(x, y, nrounds = 3, min_child_weight = 0, threads = 1, ...))
  late <- y > 12
  two <- fit(as.double(late), objective = "logistic")
  expect_gt(nrow(two), 3) # trees that were split
  for (response in list(late, as.integer(late), factor(late), ifelse(late, "b", "a"), factor(late, ordered = TRUE),
                        cbind(late), data.frame(late))) {
    expect_identical(fit(response, objective = "logistic"), two)
  }
  whole <- round(y)
  expect_identical(fit(as.integer(whole)), fit(whole))
  if (requireNamespace("bit64", quietly = TRUE)) expect_identical(fit(bit64::as.integer64(whole)), fit(whole))
  three <- cut(y, 3, labels = c("low", "mid", "high"))
  same <- c("tree", "node", "feature", "threshold", "value")
  expect_identical(fit(three)[same], fit(as.integer(three) * 10, objective = "softmax")[same])
  expect_identical(fit(factor(three, ordered = TRUE)), fit(three))
})

test_that("codes of a factor that are no levels are errors with column and row, 0 like others", {
  broken <- function(code) {
    f <- c(1L, 2L, code, 2L)
    attributes(f) <- list(levels = c("a", "b"), class = "factor")
    d <- data.frame(z = 1:4)
    d$f <- f
    d
  }
  good <- broken(1L)
  m <- gbt_train(good, 1:4, nrounds = 1, threads = 1)
  for (code in c(0L, -1L, 3L)) {
    x <- broken(code)
    said <- sprintf("column `f`, row 3: there is no level %d, only 2 levels", code)
    expect_error(gbt_train(x, 1:4, nrounds = 1, threads = 1), said, fixed = TRUE, class = "gbt_error_data")
    expect_error(predict(m, x), said, fixed = TRUE, class = "gbt_error_data")
    expect_error(predict(m, x[3, ]), sub("row 3", "row 1", said), fixed = TRUE, class = "gbt_error_data")
    expect_error(gbt_data(x, reference = gbt_data(good, threads = 1), threads = 1), said, fixed = TRUE,
                 class = "gbt_error_data")
    expect_error(gbt_train(good, x$f, nrounds = 1, threads = 1), "codes without a level", class = "gbt_error_data")
  }
  expect_length(predict(m, broken(NA)), 4)
})
