# gbt_importance(type = "shap").

test_that("importances are the means of absolute contributions, whatever the rows come in", {
  m <- gbt_train(mpg ~ ., mtcars, nrounds = 20, threads = 1)
  got <- gbt_importance(m, "shap", data = mtcars, threads = 2)
  expect_s3_class(got, c("gbt_importance_shap", "data.frame"), exact = TRUE)
  contrib <- predict(m, mtcars, type = "contrib", threads = 1)
  want <- sort(colMeans(abs(contrib[, colnames(contrib) != "(base)"])), decreasing = TRUE)
  expect_setequal(got$column, names(want))
  expect_equal(stats::setNames(got$importance, got$column), want[got$column], tolerance = 1e-14)
  expect_false(is.unsorted(-got$importance))
  expect_output(print(got, top = 2), "raw score, 32 rows.*and 8 more")

  few <- gbt_importance(m, "shap", data = mtcars, rows = 7, background = mtcars[1:5, ], trees = 3, threads = 1)
  s <- gbt_shap(m, mtcars, rows = 7, background = mtcars[1:5, ], trees = 3, threads = 1)
  expect_equal(as.data.frame(few), stats::setNames(summary(s), c("column", "importance")))

  x <- as.matrix(mtcars[-1])
  m <- gbt_train(x, mtcars$mpg, nrounds = 5, threads = 1)
  of_matrix <- gbt_importance(m, "shap", data = x, threads = 1)
  expect_identical(gbt_importance(m, "shap", data = mtcars[-1], threads = 1), of_matrix)
})

test_that("of several outputs they are means over outputs, and offsets go with their rows", {
  m <- gbt_train(Species ~ ., iris, nrounds = 5, threads = 1)
  got <- gbt_importance(m, "shap", data = iris, threads = 1)
  size <- apply(abs(gbt_shap(m, iris, threads = 1)$values), 2, mean)
  expect_equal(got$importance, unname(size[got$column]))
  expect_output(print(got), "150 rows and 3 outputs")
  offset <- matrix(0, 150, 3)
  expect_identical(gbt_importance(m, "shap", data = iris, offset = offset, rows = 20, threads = 1),
                   gbt_importance(m, "shap", data = iris, rows = 20, threads = 1))
})

test_that("they are drawn, largest first", {
  m <- gbt_train(mpg ~ ., mtcars, nrounds = 20, threads = 1)
  i <- gbt_importance(m, "shap", data = mtcars, threads = 1)
  in_sizes(plot(i, top = 3), function(record, size) {
    expect_identical(labels_of(record, "bar label"), i$column[1:3])
  })
  i$importance[2] <- Inf
  grDevices::pdf(NULL)
  withr::defer(grDevices::dev.off())
  expect_error(plot(i), "not finite", class = "gbt_error_argument")
})

test_that("what cannot be asked is refused", {
  m <- gbt_train(mpg ~ ., mtcars, nrounds = 2, threads = 1)
  expect_error(gbt_importance(m, "shap"), "`data` is missing", class = "gbt_error_argument")
  expect_error(gbt_importance(m, "shap", data = mtcars[0, ]), "no rows", class = "gbt_error_data")
  expect_error(gbt_importance(m, "shap", data = mtcars, by = "feature"), "cannot be combined",
               class = "gbt_error_argument")
  expect_error(gbt_importance(m, "shap", data = mtcars, repeats = 2), "repeats", class = "gbt_error_argument")
  expect_error(gbt_importance(m, "shap", data = mtcars, rows = 0), "`rows`", class = "gbt_error_argument")
})
