# Level counts: a further feature of a factor. The twin of a model with counts has them as columns of numbers.

made_counts <- function(n, seed = 1) {
  set.seed(seed)
  x <- data.frame(x = rnorm(n), f = factor(sample(sprintf("l%d", 1:80), n, TRUE, prob = (1:80)^2)),
                  g = sample(letters, n, TRUE), o = ordered(sample(1:5, n, TRUE)))
  x$f[sample(n, n %/% 20)] <- NA
  x
}

# The counts of `train` for the rows of `x`, by plain R.
with_counts <- function(x, train, columns) {
  for (name in columns) {
    counts <- table(as.character(train[[name]]))
    n <- as.numeric(counts)[match(as.character(x[[name]]), names(counts))]
    n[is.na(n) & !is.na(x[[name]])] <- 0
    x[[paste0("n_", name)]] <- n
  }
  x
}

response_of <- function(x, train) {
  counted <- with_counts(x, train, c("f", "g"))
  counted$x + ifelse(is.na(counted$n_f), -1, counted$n_f / 10) + counted$n_g / 30 + sin(seq_len(nrow(x)))
}

# Counts and sets, without statistics of the response.
train <- function(...) gbt_train(..., cat_method = "sets", seed = 3)

test_that("counts are the same as columns of numbers", {
  x <- made_counts(800)
  y <- response_of(x, x)
  new <- made_counts(300, 2)
  levels(new$f) <- c(levels(new$f), "new")
  new$f[1:9] <- "new"
  for (columns in list("f", "g", c("f", "g"))) {
    for (policy in first_cases(c("depthwise", "lossguide", "symmetric"))) {
      m <- train(x, y, level_counts = columns, grow_policy = policy, nrounds = 6, threads = 2)
      twin <- train(with_counts(x, x, columns), y, grow_policy = policy, nrounds = 6, threads = 1)
      expect_identical(predict(m, x), predict(twin, with_counts(x, x, columns)))
      expect_identical(predict(m, new), predict(twin, with_counts(new, x, columns)))
      of <- gbt_importance(m, by = "feature")
      expect_true(any(of$gain[startsWith(of$feature, "count(")] > 0))
    }
  }
})

test_that("TRUE counts all factors without order and all texts", {
  x <- made_counts(400)
  y <- response_of(x, x)
  all <- train(x, y, level_counts = TRUE, nrounds = 5)
  expect_identical(predict(all, x), predict(train(x, y, level_counts = c("g", "f"), nrounds = 5), x))
  expect_setequal(gbt_importance(all, by = "feature")$feature, c("x", "f", "g", "o", "count(f)", "count(g)"))
  expect_identical(all$params$level_counts, c("f", "g"))
  none <- train(x, y, level_counts = FALSE, nrounds = 5)
  expect_identical(none$state, train(x, y, nrounds = 5)$state)
})

test_that("models with counts are printed, saved and read", {
  x <- made_counts(400)
  m <- gbt_train(x, response_of(x, x), level_counts = "f", nrounds = 5, seed = 3)
  expect_output(print(m), "4 \\(2 numeric.*level counts of `f`|level counts of `f`")
  nodes <- as.data.frame(m)
  counted <- nodes[nodes$feature %in% "count(f)", ]
  expect_gt(nrow(counted), 0)
  expect_match(counted$split, "^<= ")
  expect_identical(variable.names(m), names(x))
  file <- tempfile()
  on.exit(unlink(file))
  gbt_save(m, file)
  expect_identical(predict(gbt_load(file), x), predict(m, x))
  expect_identical(predict(unserialize(serialize(m, NULL)), x), predict(m, x))
  shuffled <- x[sample(nrow(x)), c(3, 1, 4, 2)]
  shuffled$f <- factor(shuffled$f, levels = rev(levels(x$f)))
  expect_identical(predict(m, shuffled), predict(m, x)[match(rownames(shuffled), rownames(x))])
})

test_that("gbt_data has counts, and validation data take them", {
  x <- made_counts(500)
  y <- response_of(x, x)
  d <- gbt_data(x, label = y, level_counts = TRUE, threads = 1)
  expect_output(print(d), "level counts of `f`, `g`")
  v <- made_counts(200, 5)
  m <- gbt_train(d, nrounds = 5, seed = 3, valid = gbt_data(v, label = response_of(v, x), reference = d))
  direct <- gbt_train(x, y, level_counts = TRUE, nrounds = 5, seed = 3, valid = list(x = v, y = response_of(v, x)))
  expect_identical(predict(m, v), predict(direct, v))
  expect_identical(m$evaluation_log$valid_rmse, direct$evaluation_log$valid_rmse)
  expect_error(gbt_data(v, reference = d, level_counts = TRUE), class = "gbt_error_argument")
  expect_error(gbt_train(d, level_counts = TRUE), "cannot be changed for a gbt_data", class = "gbt_error_argument")
})

test_that("going on from a model keeps its counts", {
  x <- made_counts(600)
  y <- response_of(x, x)
  first <- gbt_train(x, y, level_counts = "f", nrounds = 5, seed = 3)
  more <- made_counts(300, 9)
  levels(more$f) <- c(levels(more$f), "new")
  more$f[1:5] <- "new"
  z <- response_of(more, x)
  second <- gbt_train(more, z, init_model = first, nrounds = 4, seed = 3)
  expect_identical(second$params$level_counts, "f")
  expect_identical(predict(second, more, trees = 5L), predict(first, more))
  expect_error(gbt_train(more, z, nrounds = 2, init_model = first, level_counts = "g"), "must be those of `init_model`",
               class = "gbt_error_argument")
  plain <- gbt_train(x, y, nrounds = 2, seed = 3)
  expect_error(gbt_train(more, z, init_model = plain, level_counts = "f"), class = "gbt_error_argument")
})

test_that("what cannot be counted is said", {
  x <- made_counts(100)
  y <- x$x
  expect_error(gbt_train(x, y, level_counts = "x"), "`x`, which is not a factor", class = "gbt_error_argument")
  expect_error(gbt_train(x, y, level_counts = "o"), "`o`, which is not a factor", class = "gbt_error_argument")
  expect_error(gbt_train(x, y, level_counts = "ff"), "`ff`", class = "gbt_error_argument")
  expect_error(gbt_train(x, y, level_counts = 2), "TRUE, FALSE or names", class = "gbt_error_argument")
  expect_error(gbt_train(x, y, level_counts = NA), "TRUE, FALSE or names", class = "gbt_error_argument")
  m <- gbt_train(as.matrix(x$x), y, level_counts = TRUE, nrounds = 2) # nothing to count
  expect_null(m$params$level_counts)
})

# The features on the way to every leaf of one tree.
paths_of <- function(nodes, node = 0L, above = character(0)) {
  at <- match(node, nodes$node)
  if (is.na(nodes$left[at])) return(list(above))
  above <- c(above, nodes$feature[at])
  c(paths_of(nodes, nodes$left[at], above), paths_of(nodes, nodes$right[at], above))
}

test_that("constraints are those of the column", {
  x <- made_counts(400)
  y <- response_of(x, x)
  m <- gbt_train(x, y, level_counts = "f", nrounds = 8, seed = 3, interactions = list(c("x", "f"), c("g", "o")))
  paths <- unlist(lapply(split(as.data.frame(m), as.data.frame(m)$tree), paths_of), recursive = FALSE)
  counted <- vapply(paths, function(p) "count(f)" %in% p, NA)
  expect_true(any(counted))
  expect_false(any(vapply(paths, function(p) any(c("x", "f", "count(f)") %in% p) && any(c("g", "o") %in% p), NA)))
  off <- gbt_train(x, y, level_counts = "f", nrounds = 8, seed = 3, feature_weights = c(f = 0), colsample_bytree = 0.5)
  used <- gbt_importance(off, by = "feature")
  expect_identical(used$frequency[used$feature %in% c("f", "count(f)")], c(0, 0))
})

# As many rows as levels, and half of them twice.
many_levels <- function(n_levels) {
  codes <- c(seq_len(n_levels), seq_len(n_levels %/% 2))
  x <- data.frame(f = factor(codes, labels = sprintf("l%d", seq_len(n_levels))))
  x$y <- (codes * 7919) %% 101 / 50 + (codes <= n_levels %/% 2) + 4 * (codes > 65534)
  x
}

test_that("levels beyond those that sets tell apart are missing there, in training and prediction", {
  x <- many_levels(70000)
  for (counts in c(FALSE, TRUE)) {
    m <- gbt_train(y ~ f, x, level_counts = counts, nrounds = 4, max_depth = 3, min_data_per_group = 1, cat_smooth = 0,
                   cat_method = "sets", valid = x, eval_train = TRUE, threads = 2)
    expect_identical(m$evaluation_log$train_rmse, m$evaluation_log$valid_rmse)
    p <- predict(m, x)
    expect_equal(sqrt(mean((x$y - p)^2)), m$evaluation_log$train_rmse[4], tolerance = 1e-12)
    rare <- predict(m, x[65535:70000, ])
    missing <- predict(m, transform(x[65535:70000, ], f = factor(NA, levels(x$f))))
    if (!counts) expect_identical(missing, rare)
    expect_identical(p[65535:70000], rare)
    expect_identical(predict(m, x, unseen = "error"), p)
    expect_error(predict(m, transform(x, f = sub("l65535", "other", f)), unseen = "error"),
                 "row 65535: the level \"other\" did not occur in training", class = "gbt_error_data")
  }
})

test_that("counts that are named as features are refused with what to name instead", {
  x <- made_counts(60)
  fit <- function(...) gbt_train(x, x$x, level_counts = "f", nrounds = 1, ...)
  expect_error(fit(monotone = c("count(f)" = 1)), "a count of levels cannot have a monotone constraint",
               class = "gbt_error_argument")
  expect_error(fit(interactions = list(c("x", "count(f)"))), "name `f` instead, which applies to its count as well",
               class = "gbt_error_argument")
  expect_error(fit(feature_weights = c("count(f)" = 2)), "name `f` instead", class = "gbt_error_argument")
  expect_error(fit(monotone = c("count(h)" = 1)), "which is not a feature", class = "gbt_error_argument")
})
