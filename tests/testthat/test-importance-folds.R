# Importance by gain over the models of a cross-validation.

test_that("shares are means over the folds' models, with intervals, in tables and plots", {
  x <- withr::with_seed(1, data.frame(a = runif(120), b = runif(120), g = factor(sample(letters[1:5], 120, TRUE))))
  x$y <- x$a + 0.3 * x$b + rnorm(120, sd = 0.1)
  cv <- gbt_cv(y ~ ., x, folds = 4, nrounds = 5, seed = 1, keep_models = TRUE, threads = 1)
  for (type in c("gain", "cover", "frequency")) {
    got <- gbt_importance(cv, type, level = 0.9)
    each <- sapply(cv$models, function(m) {
      i <- gbt_importance(m)
      i[[type]][match(got$feature, i$feature)]
    })
    expect_equal(got[[type]], rowMeans(each))
    half <- qt(0.95, 3) * apply(each, 1, sd) * sqrt(1 / 4 + mean(lengths(cv$folds) / (120 - lengths(cv$folds))))
    expect_equal(got$lower, pmax(got[[type]] - half, 0))
    expect_equal(got$upper, pmin(got[[type]] + half, 1))
    expect_equal(sum(got[[type]]), 1)
    expect_false(is.unsorted(-got[[type]]))
  }
  expect_output(print(got), "means over 4 folds, intervals of 90 %")
  expect_identical(attr(head(got, 2), "folds"), 4L)
  expect_identical(names(as.data.frame(got)), c("feature", "gain", "cover", "frequency", "lower", "upper"))
  in_sizes(plot(gbt_importance(cv)))
  interval <- function(type) gbt:::importance_figure(got, 20, type)$panels[[1]]$marks[[2]]
  expect_null(interval("gain")) # sorted by frequency: intervals are not of gain
  expect_identical(interval(NULL)$data$x, got$lower)
  expect_identical(gbt_importance(cv, trees = 2)$gain, gbt_importance(cv, "gain", 2)$gain)
  made <- gbt_cv(y ~ ., x, folds = 3, nrounds = 2, seed = 1, cat_method = "target", keep_models = TRUE, threads = 1)
  expect_true("mean(g)" %in% gbt_importance(made, by = "feature")$feature)
  if (requireNamespace("ggplot2", quietly = TRUE)) {
    p <- ggplot2::autoplot(gbt_importance(cv))
    expect_equal(ggplot2::ggplot_build(p)$data[[2]]$x, gbt_importance(cv)$lower)
  }
  none <- gbt_cv(y ~ ., x, folds = 3, nrounds = 2, seed = 1, threads = 1)
  expect_snapshot(error = TRUE, {
    gbt_importance(none)
    gbt_importance(cv, level = 2)
    gbt_importance(cv, "shap", data = x)
    gbt_importance(cv, lvl = 0.9)
    gbt_importance(cv$models[[1]], level = 0.9)
    gbt_importance(cv, data = x)
    gbt_importance(cv$models[[1]], "gain", NULL, "column", NULL, 0.9)
  })
})
