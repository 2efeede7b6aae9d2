# gbt_partial(method = "recursion") against the engine: contributions by cover are made of the same means.

mixed <- withr::with_seed(1, {
  n <- 200
  d <- list2DF(list(a = round(rnorm(n), 1), g = factor(sample(c("u", "v", "w", NA), n, TRUE)),
                    o = factor(sample(c("lo", "mid", "hi"), n, TRUE), c("lo", "mid", "hi"), ordered = TRUE),
                    day = as.Date("2024-01-01") + sample(50, n, TRUE), l = runif(n) < 0.4))
  d$a[1:9] <- NA
  d$y <- ifelse(is.na(d$a), 1, d$a) * (as.integer(d$o) + d$l) + as.double(d$day) / 30 + (d$g %in% "u")
  d
})

# What a model is worth when some columns are known: by a walk down each tree on its own.
worth <- function(model, point, known) {
  nodes <- as.data.frame(model)
  base <- .Call(C_gbt_model_info, model$state, model$cache)$base
  below <- function(tree, node) {
    at <- nodes[nodes$tree == tree & nodes$node == node, ]
    if (is.na(at$left)) return(at$value)
    kids <- nodes[nodes$tree == tree & nodes$node %in% c(at$left, at$right), ]
    w <- kids$cover / sum(kids$cover)
    if (at$feature %in% known) {
      v <- point[[at$feature]]
      code <- if (is.ordered(v)) as.integer(v) - 1 else if (is.factor(v)) 0 else as.double(v)
      left <- if (is.na(v)) at$missing == at$left else
        if (is.na(at$threshold)) as.character(v) %in% at$levels[[1]] else code <= at$threshold
      w <- c(left, !left)
    }
    (if (w[1] > 0) w[1] * below(tree, at$left) else 0) + (if (w[2] > 0) w[2] * below(tree, at$right) else 0)
  }
  base + sum(vapply(seq_len(max(nodes$tree)), below, 0, node = 0))
}

test_that("means are those of a walk down each tree, for every class of column", {
  for (policy in c("depthwise", "symmetric")) {
    m <- gbt_train(y ~ ., mixed, nrounds = 4, max_depth = 3, cat_method = "sets", grow_policy = policy,
                   weights = seq(0.5, 2, length.out = 200), threads = 1)
    for (column in c("a", "g", "o", "day", "l")) {
      p <- gbt_partial(m, mixed, column, size = 4, method = "recursion")
      own <- p$effects[[column]]
      for (i in seq_along(own)) expect_equal(p$effects$estimate[i], worth(m, p$effects[i, ], column), tolerance = 1e-12)
    }
    missing <- gbt_partial(m, columns = "a", values = c(NA, 0), method = "recursion")$effects
    expect_equal(missing$estimate[1], worth(m, list(a = NA_real_), "a"), tolerance = 1e-12)
    two <- gbt_partial(m, mixed, c("a", "g"), size = 3, method = "recursion", centred = TRUE)$effects
    expect_equal(two$estimate[5] - two$estimate[1],
                 worth(m, two[5, ], c("a", "g")) - worth(m, two[1, ], c("a", "g")), tolerance = 1e-12)
  }
})

test_that("of two columns the means make up the engine's contributions, and both are the score", {
  for (pair in list(c("a", "g"), c("o", "day"), c("l", "a"))) {
    m <- gbt_train(mixed[pair], mixed$y, nrounds = 6, max_depth = 3, threads = 1)
    rows <- mixed[c(1, 20, 40), pair]
    score <- predict(m, rows, type = "link", threads = 1)
    contrib <- predict(m, rows, type = "contrib", threads = 1)
    for (i in 1:3) {
      at <- lapply(pair, function(name) {
        gbt_partial(m, columns = name, values = rows[[name]][i], method = "recursion")$effects$estimate
      })
      expect_equal(at[[1]] - at[[2]], contrib[i, pair[1]] - contrib[i, pair[2]], tolerance = 1e-10, ignore_attr = TRUE)
      both <- gbt_partial(m, columns = pair, values = as.list(rows[i, ]), method = "recursion")$effects$estimate
      expect_equal(both, score[[i]], tolerance = 1e-12)
    }
  }
  k <- gbt_train(iris[3:4], iris$Species, nrounds = 3, num_parallel_tree = 2, subsample = 0.7, seed = 1, threads = 1)
  p <- gbt_partial(k, columns = c("Petal.Length", "Petal.Width"), values = list(Petal.Length = 5, Petal.Width = 1.7),
                   method = "recursion")
  one <- data.frame(Petal.Length = 5, Petal.Width = 1.7)
  expect_equal(p$effects$estimate, as.vector(predict(k, one, type = "link", threads = 1)))
  expect_identical(as.character(p$effects$output), levels(iris$Species))
  first <- gbt_partial(k, columns = "Petal.Width", values = 1, trees = 1, method = "recursion")
  expect_equal(first$effects, gbt_partial(k[1], columns = "Petal.Width", values = 1, method = "recursion")$effects)
})

test_that("categories that are numbers stay numbers, large ones as well", {
  x <- data.frame(code = rep(c(-3, 0, 7, 100000), 25), z = seq_len(100) %% 7)
  m <- gbt_train(x, (x$code == 100000) * 3 + x$z, cat_features = "code", nrounds = 3, threads = 1)
  by_rows <- gbt_partial(m, x, "code", type = "link", threads = 1)$effects
  for (p in list(gbt_partial(m, x, "code", method = "recursion"), gbt_partial(m, columns = "code",
                                                                              method = "recursion"))) {
    expect_identical(sort(p$effects$code), c(-3, 0, 7, 100000))
    expect_equal(p$effects$estimate[match(by_rows$code, p$effects$code)], by_rows$estimate, tolerance = 0.1)
    expect_identical(p$effects$code[which.max(p$effects$estimate)], 100000)
  }
  expect_error(gbt_partial(m, columns = "code", values = 6.9, method = "recursion"), "no level \"6.9\"",
               class = "gbt_error_argument")
  missing <- gbt_partial(m, columns = "code", values = c(NA, 7), method = "recursion")$effects
  expect_identical(missing$code, c(NA, 7))
})

test_that("without data the grid is what the trees tell apart", {
  m <- gbt_train(y ~ ., mixed, nrounds = 4, max_depth = 3, threads = 1)
  p <- gbt_partial(m, columns = "day", size = 1000, method = "recursion")
  nodes <- as.data.frame(m)
  at <- sort(unique(floor(nodes$threshold[nodes$feature %in% "day"])))
  expect_s3_class(p$effects$day, "Date")
  expect_identical(as.double(p$effects$day)[seq_along(at)], at)
  expect_identical(nrow(p$effects), length(at) + 1L)
  expect_identical(as.character(gbt_partial(m, columns = "o", method = "recursion")$effects$o), c("lo", "mid", "hi"))
  expect_setequal(as.character(gbt_partial(m, columns = "g", method = "recursion")$effects$g), c("u", "v", "w"))
  expect_identical(gbt_partial(m, columns = "l", method = "recursion")$effects$l, c(FALSE, TRUE))
  expect_lte(nrow(gbt_partial(m, columns = "a", size = 3, method = "recursion")$effects), 3L)
  expect_output(print(p), "mean over training rows by cover")
  in_sizes(plot(p), function(record, size) expect_match(labels_of(record, "subtitle"), "by cover"))
  in_sizes(plot(gbt_partial(m, columns = c("a", "o"), method = "recursion")))
})

test_that("what has no way without rows is refused in words", {
  m <- gbt_train(y ~ ., mixed, nrounds = 3, threads = 1)
  s <- gbt_train(y ~ ., mixed, nrounds = 3, cat_method = "target", threads = 1)
  f <- gbt_train(y ~ exp(as.integer(l)), mixed, nrounds = 1, threads = 1)
  named <- gbt_train(list2DF(list(output = 1:40)), factor(rep(1:4, 10)), nrounds = 1, threads = 1)
  u <- gbt_train(data.frame(x = 1:40, z = 0), 1:40, nrounds = 2, threads = 1)
  expect_snapshot(error = TRUE, {
    gbt_partial(m, method = "recursion")
    gbt_partial(m, columns = "b", method = "recursion")
    gbt_partial(m, columns = c("a", "g", "o"), method = "recursion")
    gbt_partial(m, mixed, "a", ice = TRUE, method = "recursion")
    gbt_partial(m, mixed, "a", type = "response", method = "recursion")
    gbt_partial(m, columns = "g", values = "x", method = "recursion")
    gbt_partial(m, columns = "a", values = "x", method = "recursion")
    gbt_partial(s, columns = "g", method = "recursion")
    gbt_partial(f, columns = "l", method = "recursion")
    gbt_partial(u, columns = "z", method = "recursion")
    gbt_partial(m, mixed, "a", method = "recursive")
    gbt_partial(named, columns = "output", method = "recursion")
  })
})
