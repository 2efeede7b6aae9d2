# gbt_confusion().

d <- withr::with_seed(1, {
  x <- data.frame(a = runif(300), b = runif(300), w = sample(0:3, 300, TRUE) / 2)
  x$two <- factor(ifelse(runif(300) < x$a, "yes", "no"), c("yes", "no"))
  x$three <- factor(sample(letters[1:3], 300, TRUE, c(5, 3, 1)), c("c", "a", "b"))
  x
})
train <- 1:150
new <- d[-train, ]

test_that("counts, weights, thresholds and statistics are those of the definition", {
  two <- gbt_train(two ~ a + b, d[train, ], nrounds = 10, threads = 1)
  three <- gbt_train(three ~ a + b, d[train, ], nrounds = 10, threads = 1)
  for (t in c(0, 0.3, 0.5, 1)) for (weights in list(NULL, new$w)) {
    w <- if (is.null(weights)) rep(1, 150) else weights
    p <- factor(ifelse(predict(two, new) > t, "no", "yes"), c("yes", "no"))
    want <- tapply(w, list(predicted = p, observed = new$two), sum, default = 0)
    got <- gbt_confusion(two, new, threshold = t, weights = weights, threads = 1)
    expect_equal(unclass(got$table), want, ignore_attr = FALSE)
    metrics <- gbt_evaluate(two, new, metrics = paste0(c("accuracy", "f1"), "@", t), weights = weights)$estimate
    expect_equal(c(got$accuracy, got$classes$f1[2]), metrics)
  }
  got <- gbt_confusion(three, new, threads = 1)
  want <- table(predicted = predict(three, new, type = "class"), observed = new$three)
  expect_equal(got$table, want)
  expect_equal(got$classes$precision, unname(diag(want) / rowSums(want)))
  expect_equal(got$classes$recall, unname(diag(want) / colSums(want)))
  expect_identical(levels(got$classes$class), levels(d$three))
  fit <- gbt_calibrate(two, d[train, ], threads = 1)
  expect_equal(gbt_confusion(fit, new)$table, table(predicted = factor(ifelse(predict(fit, new) > 0.5, "no", "yes"),
                                                                       c("yes", "no")), observed = new$two))
  cv <- gbt_cv(three ~ a + b, d, folds = 3, nrounds = 5, keep_models = TRUE, seed = 1, threads = 1)
  best <- factor(levels(d$three)[max.col(cv$predictions, "first")], levels(d$three))
  expect_equal(gbt_confusion(cv, d)$table, table(predicted = best, observed = d$three))
  expect_identical(nrow(as.data.frame(got)), 9L)
  numbers <- gbt_train(a ~ b, d, nrounds = 2, threads = 1)
  expect_snapshot(gbt_confusion(two, new[1:12, ], y = rep(c("yes", "no"), 6), threads = 1))
  expect_snapshot(error = TRUE, {
    gbt_confusion()
    gbt_confusion(two)
    gbt_confusion(numbers, d)
    gbt_confusion(three, new, threshold = 0.3)
    gbt_confusion(two, new, threshold = 2)
  })
})

test_that("it is drawn in both ways", {
  three <- gbt_train(three ~ a + b, d[train, ], nrounds = 10, threads = 1)
  x <- gbt_confusion(three, new, threads = 1)
  in_sizes(plot(x), function(record, size) {
    expect_identical(labels_of(record, "mark text"), as.character(as.vector(x$table)))
  })
  skip_if_not_installed("ggplot2")
  withr::local_pdf(NULL)
  expect_s3_class(ggplot2::ggplot_build(ggplot2::autoplot(x)), "ggplot_built")
})
