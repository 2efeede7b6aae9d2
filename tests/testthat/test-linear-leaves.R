# Linear leaves: leaf_model = "linear".

sloped <- function(n, seed = 1) {
  set.seed(seed, kind = "Mersenne-Twister", normal.kind = "Inversion", sample.kind = "Rejection")
  d <- data.frame(a = stats::runif(n, -3, 3), b = stats::rnorm(n), f = factor(sample(letters[1:5], n, TRUE)))
  d$y <- 2 * d$a + ifelse(d$f == "a", -1, 1) * d$b + stats::rnorm(n) / 5
  d$b[sample(n, n / 20)] <- NA
  d
}

fit <- function(data, ...) {
  gbt_train(y ~ ., data, nrounds = 15, max_depth = 3, leaf_model = "linear", seed = 3, verbose = 0, ...)
}

test_that("a slope needs fewer trees than steps do", {
  d <- sloped(2000)
  new <- sloped(1000, 2)
  rmse <- function(m) sqrt(mean((predict(m, new) - new$y)^2))
  constant <- gbt_train(y ~ ., d, nrounds = 15, max_depth = 3, leaf_model = "constant", seed = 3, threads = 2)
  expect_lt(rmse(fit(d, threads = 2)), 0.8 * rmse(constant))
})

test_that("constant leaves are what they are without the parameter", {
  d <- sloped(500)
  train <- function(...) gbt_train(y ~ ., d, nrounds = 5, max_depth = 3, threads = 1, ...)
  expect_same_bytes(train(leaf_model = "constant")$state, train()$state)
})

test_that("threads, pages, masks of rows and files do not show", {
  d <- sloped(1500)
  m <- fit(d, threads = 1)
  p <- predict(m, d)
  expect_same_bytes(fit(d, threads = 3)$state, m$state)
  expect_same_bytes(fit(d, threads = 2, page_rows = 100)$state, m$state)
  folder <- withr::local_tempfile()
  by_folder <- gbt_train(gbt_data(d[1:3], d$y, path = folder, page_rows = 200), nrounds = 15, max_depth = 3,
                         leaf_model = "linear", seed = 3, threads = 2)
  expect_identical(predict(by_folder, d), p)
  file <- withr::local_tempfile(fileext = ".gbt")
  gbt_save(m, file)
  expect_identical(predict(gbt_load(file), d), predict(m, d))
})

test_that("predictions are the scores of training, many rows or few", {
  d <- sloped(1500)
  for (share in c(1, 0.5)) {
    m <- gbt_train(d[1:2], d$y, nrounds = 10, leaf_model = "linear", subsample = share, eval_train = TRUE, threads = 2)
    p <- predict(m, d[1:2])
    expect_equal(sqrt(mean((p - d$y)^2)), m$evaluation_log$train_rmse[10L], tolerance = 1e-12)
    expect_identical(vapply(1:20, function(i) predict(m, d[i, 1:2]), 0), p[1:20])
    expect_identical(predict(m, gbt_data(d[1:2], d$y)), p)
  }
})

test_that("predictions stay within those of the training rows", {
  d <- sloped(1500)
  m <- gbt_train(d[1:3], d$y, nrounds = 1, eta = 1, max_depth = 3, leaf_model = "linear", threads = 2)
  far <- data.frame(a = c(-1e9, 1e9, Inf, -Inf), b = c(1e9, -1e9, 0, 0), f = "a")
  expect_true(all(predict(m, far) >= min(predict(m, d)) & predict(m, far) <= max(predict(m, d))))
  expect_gt(length(unique(predict(m, d))), 100L)
})

test_that("a row that lacks a column of the leaf gets the constant", {
  d <- sloped(1500)
  m <- gbt_train(d["a"], d$y, nrounds = 1, eta = 1, max_depth = 2, leaf_model = "linear", threads = 1)
  constant <- gbt_train(d["a"], d$y, nrounds = 1, eta = 1, max_depth = 2, leaf_model = "constant", threads = 1)
  none <- data.frame(a = NA_real_)
  expect_identical(predict(m, none), predict(constant, none))
  expect_gt(length(unique(predict(m, d))), 10L * length(unique(predict(constant, d))))
})

test_that("objectives with gradients have linear leaves, others say why not", {
  d <- sloped(600)
  responses <- list(logistic = factor(d$y > 0), poisson = round(exp(d$y / 3)), gamma = exp(d$y / 3), huber = d$y,
                    softmax = cut(d$y, 3, labels = c("low", "mid", "high")))
  for (objective in names(responses)) {
    train <- function(leaves) {
      gbt_train(d[1:3], responses[[objective]], objective = objective, nrounds = 5, leaf_model = leaves, threads = 2)
    }
    expect_false(identical(predict(train("linear"), d), predict(train("constant"), d)))
    expect_true(all(is.finite(predict(train("linear"), d, type = "link"))))
  }
  expect_snapshot(error = TRUE, {
    fit(d, threads = 1, objective = "quantile")
    fit(d, threads = 1, monotone = c(a = 1))
    fit(d, threads = 1, alpha = 1)
    fit(d, threads = 1, boosting = "ordered")
    gbt_train(y ~ ., d, nrounds = 1, linear_lambda = 1, threads = 1)
    gbt_train(y ~ ., d, nrounds = 1, leaf_model = "cubic", threads = 1)
  })
})

# What the node in row i of a table of nodes adds for a row of data.
added <- function(nodes, i, row) {
  slopes <- unclass(nodes$slopes)[[i]]
  if (is.null(slopes) || anyNA(row[names(slopes)])) return(nodes$value[i])
  min(max(nodes$intercept[i] + sum(slopes * unlist(row[names(slopes)])), nodes$low[i]), nodes$high[i])
}

test_that("the table of nodes has intercepts and slopes in the units of the columns", {
  set.seed(8, kind = "Mersenne-Twister", normal.kind = "Inversion", sample.kind = "Rejection")
  x <- data.frame(a = sample(0:40, 800, TRUE) / 2, b = 1000 + 7 * sample(0:9, 800, TRUE)) # middles of bins
  x$a[1:40] <- NA
  y <- ifelse(is.na(x$a), 5, x$a) - 0.02 * x$b * (1:800 %% 2 + 1)
  m <- gbt_train(x, y, nrounds = 2, eta = 1, max_depth = 3, leaf_model = "linear", threads = 1)
  nodes <- as.data.frame(m)
  leaf <- predict(m, x, type = "leaf", threads = 1)
  sums <- vapply(1:800, function(r) {
    sum(vapply(1:2, function(t) added(nodes, which(nodes$tree == t & nodes$node == leaf[r, t]), x[r, ]), 0))
  }, 0)
  expect_lt(diff(range(predict(m, x, type = "link", threads = 1) - sums)), 1e-9) # the base score
  linear <- lengths(unclass(nodes$slopes)) > 0L
  expect_gt(sum(linear), 1L)
  expect_true(all(is.na(nodes$feature[linear])))
  expect_identical(is.na(nodes$intercept), !linear)
  expect_identical(unclass(gbt_tree(m, 2)$nodes$slopes), unclass(nodes$slopes)[nodes$tree == 2])
  expect_match(format(nodes$slopes)[linear], "^(a|b) -?[0-9]")
  expect_null(as.data.frame(gbt_train(x, y, nrounds = 1, threads = 1))$slopes)
  expect_identical(is.na(as.character(nodes$slopes)), !linear)
})

test_that("trees show slopes: print(), plot(), gbt_dot()", {
  d <- sloped(800)
  m <- gbt_train(d["a"], d$y, nrounds = 2, eta = 1, max_depth = 2, leaf_model = "linear", threads = 1)
  tree <- gbt_tree(m, 1)
  expect_output(print(tree), "slope of a: ")
  expect_output(print(tree), "of those shown (is|are) linear")
  said <- unlist(lapply(node_lines(tree$nodes, character(0), TRUE), `[[`, "text"))
  expect_identical(sum(grepl("^slope of a: [0-9.]+$", said)), sum(lengths(unclass(tree$nodes$slopes)) > 0L))
  expect_match(paste(gbt_dot(m, 1), collapse = ""), "\\nslope of a: ", fixed = TRUE)
  constant <- gbt_train(d["a"], d$y, nrounds = 2, threads = 1)
  expect_no_match(paste(capture.output(print(gbt_tree(constant, 1))), collapse = ""), "slope|linear")
  expect_output(print(gbt_importance(m)), "what slopes of linear leaves gain is not counted")
  expect_no_match(paste(capture.output(print(gbt_importance(constant))), collapse = ""), "slopes")
})

test_that("what models with linear leaves cannot do is refused", {
  d <- sloped(600)
  m <- fit(d, threads = 1)
  expect_snapshot(error = TRUE, {
    gbt_export(m, tempfile(fileext = ".onnx"))
    gbt_train(y ~ ., d, nrounds = 1, init_model = m, threads = 1)
    gbt_partial(m, columns = "a", method = "recursion")
  })
})

# Numbers at the middles of bins, so that a leaf's X are the numbers themselves, and a factor, which has no slopes.
contribution_data <- function(n = 1600) {
  set.seed(11, kind = "Mersenne-Twister", normal.kind = "Inversion", sample.kind = "Rejection")
  x <- data.frame(a = sample(0:40, n, TRUE) / 2, b = 1000 + 7 * sample(0:9, n, TRUE), c = sample(0:12, n, TRUE),
                  f = factor(sample(letters[1:5], n, TRUE)))
  x$y <- x$a * (x$f %in% c("a", "d") + 1) / 3 - 0.02 * x$b * (x$c > 5) + x$c * (x$a < 15) / 3 + stats::rnorm(n) / 9
  x$a[seq(5, n, by = 23)] <- NA
  x
}

# What tree t of a model of d is worth for a row of which the columns `known` are known, by cover. weights: of the rows.
worth_by_cover <- function(model, d, t, weights = rep(1, nrow(d))) {
  nodes <- as.data.frame(model)
  nodes <- nodes[nodes$tree == t, ]
  leaf <- predict(model, d, type = "leaf", threads = 1)[, t]
  above <- function(at) {
    parent <- nodes[match(at, c(nodes$left, nodes$right)) - (at %in% nodes$right) * nrow(nodes), ]
    if (at == 0) character() else unique(c(parent$feature, above(parent$node)))
  }
  mean_of <- function(column, at) { # of rows that have all numbers of columns on the way
    rows <- leaf == at & stats::complete.cases(d[Filter(function(k) is.numeric(d[[k]]), above(at))])
    sum(weights[rows] * d[[column]][rows]) / sum(weights[rows])
  }
  worth <- function(row, known, at = 0) {
    node <- nodes[nodes$node == at, ]
    if (is.na(node$left)) {
      slopes <- unclass(node$slopes)[[1L]]
      own <- names(slopes)
      if (is.null(slopes) || anyNA(unlist(row[intersect(own, known)]))) return(node$value)
      x <- vapply(own, function(column) if (column %in% known) row[[column]] else mean_of(column, at), 0)
      return(min(max(node$intercept + sum(slopes * x), node$low), node$high))
    }
    children <- c(node$left, node$right)
    if (node$feature %in% known) {
      v <- row[[node$feature]]
      left <- if (is.factor(v)) v %in% unclass(node$levels)[[1L]] else v <= node$threshold
      return(worth(row, known, if (is.na(v)) node$missing else children[2L - left]))
    }
    cover <- nodes$cover[match(children, nodes$node)]
    share <- if (sum(cover) > 0) cover / sum(cover) else c(0.5, 0.5) # of a split that no row came by
    sum(share * vapply(children, function(k) worth(row, known, k), 0))
  }
  worth
}

# Contributions and interactions of rows by cover, with the weights of each tree's training rows.
expect_by_cover <- function(model, d, rows, weights = list(), tolerance = 1e-6) {
  columns <- model$feature_names
  p <- seq_along(columns)
  trees <- lapply(seq_len(length(model)), function(t) {
    worth_by_cover(model, d, t, if (length(weights) == 0) rep(1, nrow(d)) else weights[[t]])
  })
  got <- predict(model, rows, type = "contrib", threads = 2)
  pairs <- predict(model, rows, type = "interaction", threads = 2)
  expect_equal(rowSums(got), predict(model, rows, type = "link", threads = 1), tolerance = 1e-12)
  for (r in seq_len(nrow(rows))) {
    want <- naive_shapley(columns, function(known) {
      sum(vapply(trees, function(worth) worth(rows[r, ], columns[known]), 0))
    })
    expect_equal(unname(got[r, p]), want$single, tolerance = tolerance)
    expect_equal(unname(pairs[r, p, p]), want$pairs, tolerance = tolerance)
  }
  expect_identical(predict(model, rows, type = "contrib", threads = 1), got)
  expect_identical(do.call(rbind, lapply(seq_len(nrow(rows)), function(r) {
    predict(model, rows[r, ], type = "contrib")
  })), got)
  expect_equal(apply(pairs, 1:2, sum)[, p], got[, p], tolerance = 1e-12, ignore_attr = TRUE)
}

n_terms <- function(model) lengths(unclass(as.data.frame(model)$slopes))

test_that("contributions by cover are those of the definition: unknown columns of a leaf have its rows' means", {
  d <- contribution_data()
  columns <- c("a", "b", "c", "f")
  m <- gbt_train(d[columns], d$y, nrounds = 3, eta = 0.7, max_depth = 4, grow_policy = "depthwise",
                 colsample_bytree = 1, cat_method = "sets", leaf_model = "linear", threads = 1)
  expect_gt(sum(n_terms(m) > 1L), 4L)
  expect_true(any(as.data.frame(m)$feature %in% "f"))
  expect_by_cover(m, d, d[c(1:5, 28), columns]) # rows 5 and 28 lack `a`
})

test_that("means of linear leaves are weighted by the hessians", {
  d <- contribution_data()
  columns <- c("a", "b", "c", "f")
  m <- gbt_train(d[columns], factor(d$y > stats::median(d$y)), nrounds = 3, eta = 0.7, max_depth = 3,
                 grow_policy = "depthwise", colsample_bytree = 1, cat_method = "sets", leaf_model = "linear",
                 threads = 1)
  expect_gt(sum(n_terms(m)[as.data.frame(m)$tree > 1] > 0L), 2L)
  hessians <- lapply(1:3, function(t) {
    p <- stats::plogis(if (t == 1) rep(0, nrow(d)) else predict(m, d, type = "link", trees = t - 1))
    p * (1 - p)
  })
  expect_by_cover(m, d, d[1:4, columns], hessians, tolerance = 1e-4) # hessians are rounded
})

test_that("contributions of leaves with four to six slopes", {
  set.seed(12, kind = "Mersenne-Twister", normal.kind = "Inversion", sample.kind = "Rejection")
  d <- as.data.frame(replicate(7, sample(0:12, 3000, TRUE)))
  y <- as.matrix(d) %*% c(5, 4, 4, -4, 4, 3, 3) / 10 + d$V1 * d$V2 / 40 + stats::rnorm(3000) / 9
  m <- gbt_train(d, drop(y), nrounds = 1, eta = 0.8, max_depth = 6, grow_policy = "depthwise", colsample_bytree = 1,
                 leaf_model = "linear", threads = 2)
  expect_gt(sum(n_terms(m) >= 4L), 4L)
  expect_true(any(n_terms(m) == 6L))
  rows <- d[1:2, ]
  rows$V3[2] <- NA
  expect_by_cover(m, d, rows)
  expect_by_background(m, rows, d[100:120, ])
})

test_that("contributions against a background are those of the definition", {
  d <- contribution_data()
  columns <- c("a", "b", "c", "f")
  background <- d[600:670, columns] # more than a word, with missing values
  rows <- d[c(1:6, 5), columns] # row 5 lacks `a`
  rows$c[7] <- NA
  for (depth in c(2, 4)) {
    m <- gbt_train(d[columns], d$y, nrounds = 3, eta = 0.7, max_depth = depth, cat_method = "sets",
                   leaf_model = "linear", threads = 1)
    expect_by_background(m, rows, background)
  }
})

test_that("contributions of linear leaves: classes, parallel trees, ranges of leaves, many rows, gbt_shap()", {
  d <- sloped(900)
  m <- gbt_train(d[1:3], cut(d$y, 3, labels = c("u", "v", "w")), nrounds = 4, num_parallel_tree = 2, subsample = 0.8,
                 leaf_model = "linear", threads = 2)
  got <- predict(m, d, type = "contrib", threads = 2)
  expect_equal(apply(got, c(1, 3), sum), predict(m, d, type = "link"), tolerance = 1e-12, ignore_attr = TRUE)
  expect_identical(predict(m, d[200:300, ], type = "contrib", threads = 1), got[200:300, , ])
  m <- fit(d, threads = 2)
  far <- data.frame(a = c(-1e9, 1e9, Inf, NA), b = c(1e9, NA, 0, NA), f = "a")
  for (background in list(NULL, d[1:100, ])) {
    expect_equal(rowSums(predict(m, far, type = "contrib", background = background)), predict(m, far, type = "link"),
                 tolerance = 1e-12)
  }
  shap <- gbt_shap(m, d[1:50, ], interaction = TRUE)
  expect_equal(rowSums(shap$values) + shap$base, predict(m, d[1:50, ], type = "link"), tolerance = 1e-12,
               ignore_attr = TRUE)
  expect_equal(apply(shap$interaction, 1:2, sum), shap$values, tolerance = 1e-12, ignore_attr = TRUE)
  expect_message(expect_identical(predict(m, d[1:5, ], type = "contrib", device = "cuda"),
                                  predict(m, d[1:5, ], type = "contrib")), "linear leaves", class = "gbt_message")
  file <- withr::local_tempfile(fileext = ".json")
  gbt_export(m, file)
  expect_identical(predict(gbt_import(file), d[1:50, ], type = "contrib"), predict(m, d[1:50, ], type = "contrib"))
})

test_that("predict() says where it does not use the device that it is given", {
  d <- sloped(300)
  m <- fit(d, threads = 1)
  p <- predict(m, d)
  expect_message(expect_identical(predict(m, d, device = "cuda"), p), "on the cpu, .* the model has linear leaves",
                 class = "gbt_message")
  for (device in c("cpu", "auto")) expect_no_message(predict(m, d, device = device))
  withr::with_options(list(gbt.device = "cuda"), expect_no_message(predict(m, d)))
  expect_error(predict(m, d, device = "tpu"), class = "gbt_error_argument")
  bins <- gbt_data(d[1:3], d$y)
  m <- gbt_train(bins, nrounds = 2, threads = 1)
  expect_message(predict(m, bins, device = "cuda"), "a gbt_data object", class = "gbt_message")
  xgb <- gbt_import(test_path("imported", "xgb_numbers.json"))
  x <- stats::setNames(as.data.frame(matrix(0, 3, length(xgb$feature_names))), xgb$feature_names)
  expect_message(predict(xgb, x, device = "cuda"), "adds as XGBoost", class = "gbt_message")
})

test_that("an ensemble is the mean of its members", {
  d <- sloped(800)
  train <- function(...) {
    gbt_train(d[1:2], d$y, leaf_model = "linear", nrounds = 5, max_depth = 3, eta = 0.2, subsample = 0.5, threads = 2,
              ...)
  }
  members <- vapply(1:2, function(i) predict(train(seed = member_seed(1, i)), d), numeric(800))
  m <- train(seed = 1, ensemble = 2)
  expect_gt(max(abs(members[, 1] - members[, 2])), 0.01)
  expect_lt(max(abs(predict(m, d) - rowMeans(members))), 1e-12) # sums of halves, in another order
  expect_gt(length(unique(predict(m, d))), 700L)
})

test_that("a training goes on from linear leaves, by the cuts that these have", {
  d <- sloped(800)
  train <- function(...) {
    gbt_train(d[1:2], d$y, leaf_model = "linear", max_depth = 3, eta = 0.2, threads = 1, seed = 1, ...)
  }
  whole <- train(nrounds = 8)
  first <- train(nrounds = 5)
  rest <- train(nrounds = 3, init_model = first)
  expect_identical(predict(rest, d), predict(whole, d))
  other <- sloped(900, 5)
  expect_error(gbt_train(other[1:2], other$y, nrounds = 1, leaf_model = "linear", init_model = first, threads = 1),
               "other cuts", class = "gbt_error_argument")
})

test_that("linear_tree of LightGBM is leaf_model", {
  d <- sloped(400)
  train <- function(...) gbt_train(y ~ ., d, nrounds = 3, max_depth = 3, threads = 1, ...)
  expect_identical(predict(train(linear_tree = TRUE), d), predict(train(leaf_model = "linear"), d))
  expect_identical(predict(train(linear_tree = FALSE), d), predict(train(), d))
})

test_that("without a numeric column a message says that leaves are constant", {
  d <- sloped(200)
  expect_message(gbt_train(y ~ f, d, nrounds = 2, leaf_model = "linear", threads = 1), "no column is numeric")
  expect_no_message(gbt_train(y ~ f + a, d, nrounds = 2, leaf_model = "linear", threads = 1))
})
