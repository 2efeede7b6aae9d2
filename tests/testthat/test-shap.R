shap_data <- function(n = 150) {
  i <- seq_len(n)
  d <- data.frame(a = (i * 37) %% 101, b = (i * 53) %% 47, c = factor(letters[1 + (i * 7) %% 5]), e = (i * 11) %% 13)
  d$y <- d$a / 50 * d$b + 10 * (d$c == "b") + d$e
  d$a[1:10] <- NA
  d
}

# Shapley's formula over all subsets: worth(S) for S, a vector of names.
shapley <- function(names, worth) {
  n <- length(names)
  sets <- lapply(seq_len(2^n) - 1, function(s) names[bitwAnd(s, 2^(seq_len(n) - 1)) > 0])
  value <- vapply(sets, worth, 0)
  vapply(seq_len(n), function(j) {
    without <- which(bitwAnd(seq_len(2^n) - 1, 2^(j - 1)) == 0)
    size <- lengths(sets[without])
    sum(factorial(size) * factorial(n - size - 1) / factorial(n) * (value[without + 2^(j - 1)] - value[without]))
  }, 0)
}

test_that("contributions with a background are Shapley values of predictions", {
  d <- shap_data()
  back <- d[31:50, ]
  for (policy in c("depthwise", "lossguide", "symmetric")) {
    m <- gbt_train(y ~ ., d, nrounds = 8, max_depth = 4, grow_policy = policy, threads = 1)
    got <- predict(m, d[c(3, 90), ], type = "contrib", background = back)
    for (k in 1:2) {
      row <- d[c(3, 90)[k], ]
      want <- shapley(m$feature_names, function(known) {
        mixed <- back
        for (name in known) mixed[[name]] <- row[[name]][rep(1, nrow(back))]
        mean(predict(m, mixed, type = "link"))
      })
      expect_equal(unname(got[k, 1:4]), want, tolerance = 1e-12)
      expect_equal(got[[k, "(base)"]], mean(predict(m, back, type = "link")), tolerance = 1e-12)
    }
  }
})

test_that("contributions by cover are Shapley values of means along the trees", {
  d <- shap_data()
  m <- gbt_train(y ~ a + b + e, d, nrounds = 6, grow_policy = "depthwise", max_depth = 5, threads = 1)
  info <- .Call(gbt:::C_gbt_model_nodes, m$state, m$cache)
  row <- d[77, ]
  at <- function(t, i) which(info$tree == t & info$node == i)
  worth_of <- function(t, i, known) {
    j <- at(t, i)
    if (is.na(info$feature[j])) return(info$value[j])
    name <- m$feature_names[info$feature[j] + 1]
    left <- worth_of(t, info$left[j], known)
    right <- worth_of(t, info$right[j], known)
    if (name %in% known) return(if (row[[name]] <= info$threshold[j]) left else right)
    cover <- info$cover[c(at(t, info$left[j]), at(t, info$right[j]))]
    (cover[1] * left + cover[2] * right) / sum(cover)
  }
  base <- .Call(gbt:::C_gbt_model_info, m$state, m$cache)$base
  worth <- function(known) base + sum(vapply(unique(info$tree), worth_of, 0, i = 0, known = known))
  got <- predict(m, row, type = "contrib")
  expect_equal(unname(got[1, 1:3]), shapley(m$feature_names, worth), tolerance = 1e-12)
  expect_equal(got[[1, "(base)"]], worth(character()), tolerance = 1e-12)
})

test_that("contributions add up, and neither threads nor rows show", {
  d <- shap_data()
  for (policy in c("depthwise", "lossguide", "symmetric")) {
    m <- gbt_train(y ~ ., d, nrounds = 15, grow_policy = policy, num_leaves = if (policy == "lossguide") 40,
                   threads = 1)
    all <- predict(m, d, type = "contrib")
    expect_equal(rowSums(all), predict(m, d, type = "link"), tolerance = 1e-13, ignore_attr = TRUE)
    expect_identical(predict(m, d, type = "contrib", threads = 2), all)
    for (rows in list(1, 15:17, 60:129)) {
      expect_identical(unname(predict(m, d[rows, ], type = "contrib")), unname(all[rows, , drop = FALSE]))
    }
    back <- predict(m, d, type = "contrib", background = d[31:90, ], threads = 2)
    expect_equal(rowSums(back), predict(m, d, type = "link"), tolerance = 1e-13, ignore_attr = TRUE)
    for (rows in list(7, 60:129)) {
      again <- predict(m, d[rows, ], type = "contrib", background = d[c(90:31, 31:90), ], threads = 1)
      expect_identical(unname(again), unname(back[rows, , drop = FALSE]))
    }
    pairs <- predict(m, d[1:30, ], type = "interaction")
    expect_identical(unname(predict(m, d, type = "interaction", threads = 2)[1:30, , ]), unname(pairs))
    expect_identical(pairs, aperm(pairs, c(1, 3, 2)))
    expect_equal(unname(apply(pairs, 1:2, sum)), unname(all[1:30, ]), tolerance = 1e-12)
  }
  few <- predict(m, d, type = "contrib", trees = 3)
  expect_equal(rowSums(few), predict(m, d, type = "link", trees = 3), tolerance = 1e-13, ignore_attr = TRUE)
})

test_that("interactions are those of Shapley, halved", {
  d <- shap_data()
  m <- gbt_train(y ~ a + b + e, d, nrounds = 5, grow_policy = "depthwise", max_depth = 4, threads = 1)
  back <- d[31:40, ]
  row <- d[77, ]
  worth <- function(known) {
    mixed <- back
    for (name in known) mixed[[name]] <- row[[name]][rep(1, nrow(back))]
    mean(predict(m, mixed, type = "link"))
  }
  got <- predict(m, row, type = "interaction", background = back)
  both <- function(rest) worth(c("a", "b", rest)) - worth(c("a", rest)) - worth(c("b", rest)) + worth(rest)
  want <- (both(character()) + both("e")) / 4 # half of the mean over the two orders of e
  expect_equal(got[1, "a", "b"], want, tolerance = 1e-12)
})

test_that("classes, statistics of columns, sparse rows and chunks have contributions", {
  m <- gbt_train(Species ~ ., iris, nrounds = 6, threads = 1)
  x <- predict(m, iris, type = "contrib")
  expect_identical(dim(x), c(150L, 5L, 3L))
  expect_equal(apply(x, c(1, 3), sum), predict(m, iris, type = "link"), tolerance = 1e-12, ignore_attr = TRUE)
  chunks <- split(iris, rep(1:3, each = 50))
  again <- predict(m, function(i) if (i <= 3) chunks[[i]], type = "contrib")
  expect_identical(unname(again), unname(x))
  file <- tempfile(fileext = ".csv")
  predict(m, iris, type = "contrib", output = file)
  expect_equal(unname(as.matrix(read.csv(file))), matrix(x, 150L), ignore_attr = TRUE)

  d <- data.frame(u = factor(rep(letters[1:8], 40)), v = factor(rep(LETTERS[1:10], each = 32)), w = 1:320)
  d$y <- (as.integer(d$u) * as.integer(d$v)) %% 7 + d$w / 100
  m <- gbt_train(y ~ ., d, nrounds = 10, cat_method = c("target", "count"), max_cat_combine = 2, threads = 1)
  for (by in c("column", "feature")) {
    x <- predict(m, d, type = "contrib", by = by)
    expect_equal(rowSums(x), predict(m, d, type = "link"), tolerance = 1e-12, ignore_attr = TRUE)
  }
  expect_identical(colnames(predict(m, d, type = "contrib")), c("u", "v", "w", "(base)"))
  pairs <- predict(m, d[1:9, ], type = "interaction")
  expect_equal(apply(pairs, 1:2, sum), predict(m, d[1:9, ], type = "contrib"), tolerance = 1e-12, ignore_attr = TRUE)
})

test_that("gbt_shap() keeps values, base and data", {
  d <- shap_data()
  m <- gbt_train(y ~ ., d, nrounds = 5, threads = 1)
  s <- gbt_shap(m, d, interaction = TRUE, rows = 20)
  expect_s3_class(s, "gbt_shap")
  expect_identical(dim(s$values), c(20L, 4L))
  expect_identical(dim(s$interaction), c(20L, 4L, 4L))
  expect_identical(s$data$c, d$c[s$rows])
  expect_equal(rowSums(s$values) + s$base, predict(m, d[s$rows, ], type = "link"), ignore_attr = TRUE)
  expect_identical(summary(s)$mean_abs, sort(unname(colMeans(abs(s$values))), decreasing = TRUE))
  expect_output(print(s), "contributions of 4 columns for 20 rows, with interactions")
})

test_that("one row is printed with its values, signed contributions and score", {
  m <- gbt_train(mpg ~ ., mtcars, nrounds = 5, threads = 1)
  one <- mtcars[2, ]
  s <- gbt_shap(m, one, threads = 1)
  lines <- capture.output(print(s))
  score <- predict(m, one, type = "link", threads = 1)
  expect_equal(as.double(sub("score: ", "", grep("^score", lines, value = TRUE))), as.double(score), tolerance = 1e-4)
  shown <- utils::read.table(text = lines[-(1:3)], header = TRUE)
  at <- match(shown$column, colnames(s$values))
  expect_equal(shown$contribution, unname(s$values[1, at]), tolerance = 1e-4)
  expect_true(any(shown$contribution < 0))
  expect_equal(shown$value, unlist(one[shown$column], use.names = FALSE), tolerance = 1e-4)
  expect_false(is.unsorted(rev(abs(shown$contribution))))
  classes <- gbt_train(Species ~ ., iris, nrounds = 3, threads = 1)
  expect_output(print(gbt_shap(classes, iris[1, ], threads = 1)), "column +value +setosa +versicolor +virginica")
})

test_that("what contributions cannot do is said", {
  d <- shap_data(60)
  m <- gbt_train(y ~ ., d, nrounds = 2, threads = 1)
  expect_error(predict(m, d, type = "contrib", background = d[0, ]), "has no rows", class = "gbt_error_data")
  expect_error(predict(m, d, background = d), "can only be used with types", class = "gbt_error_argument")
  expect_error(predict(m, d, type = "contrib", by = "row"), "by", class = "gbt_error_argument")
  expect_error(gbt_shap(m, d, rows = 0), "rows", class = "gbt_error_argument")
  expect_error(predict(m, d, type = "contrib", background = d["a"]), "missing", class = "gbt_error_data")
})

test_that("the base has no offset of a formula in it, and rows must be there", {
  m <- gbt_train(mpg ~ wt + offset(log(disp)), mtcars, nrounds = 5, threads = 1)
  s <- gbt_shap(m, mtcars, threads = 1)
  expect_equal(s$base, gbt_shap(m, mtcars[32:1, ], threads = 1)$base)
  expect_equal(rowSums(s$values) + s$base + log(mtcars$disp), predict(m, mtcars, type = "link"), ignore_attr = TRUE)
  expect_error(gbt_shap(m, mtcars[0, ]), "no rows", class = "gbt_error_data")
})

test_that("a column may be called (base), and contributions are a data frame", {
  d <- stats::setNames(mtcars[c("mpg", "wt", "hp")], c("y", "(base)", "(base)_"))
  m <- gbt_train(d[-1], d$y, nrounds = 5, threads = 1)
  twin <- gbt_train(mtcars[c("wt", "hp")], d$y, nrounds = 5, threads = 1)
  got <- predict(m, d[-1], type = "contrib")
  expect_identical(colnames(got), c("(base)", "(base)_", "(base)__"))
  expect_identical(unname(got), unname(predict(twin, mtcars, type = "contrib")))
  s <- gbt_shap(m, d[-1], rows = 7, threads = 1)
  expect_identical(as.data.frame(s), data.frame(row = rep(s$rows, 2), column = rep(c("(base)", "(base)_"), each = 7),
                                                contribution = as.vector(s$values)))
  expect_identical(sort(gbt_importance(m, "shap", data = d[-1])$column), c("(base)", "(base)_"))
})

test_that("contributions on a device are those of the cpu", {
  skip_if_not_emulated()
  d <- shap_data()
  for (policy in c("depthwise", "symmetric")) {
    m <- gbt_train(y ~ ., d, nrounds = 4, max_depth = 4, grow_policy = policy, threads = 1, device = "cpu")
    for (type in c("contrib", "interaction")) {
      for (back in list(NULL, d[31:60, ])) {
        ask <- function(device) predict(m, d, type = type, background = back, threads = 2, device = device)
        expect_identical(ask("cuda"), ask("cpu"))
      }
    }
  }
  expect_identical(gbt_shap(m, d, threads = 1, device = "cuda"), gbt_shap(m, d, threads = 1, device = "cpu"))
  withr::local_envvar(SIMT_DEVICES = "0")
  expect_error(predict(m, d, type = "contrib", device = "cuda"), class = "gbt_error_device")
})
