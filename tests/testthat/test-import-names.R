# Names of columns of imported models.

test_that("rows with names of their own are told how to be named where the file has no names", {
  m <- gbt_import(test_path("imported", "lgb_numbers.txt"))
  n <- length(m$feature_names)
  rows <- as.data.frame(matrix(as.double(seq_len(2 * n)), 2))
  expect_identical(m$feature_names, paste0("Column_", seq_len(n) - 1L))
  advice <- "has no names of columns, so they are called `Column_0`.*colnames\\(x\\) <- variable.names\\(model\\)"
  expect_error(predict(m, rows), advice, class = "gbt_error_data")
  expect_error(predict(m, as.matrix(rows)), advice, class = "gbt_error_data")
  expect_error(gbt_shap(m, rows), advice, class = "gbt_error_data")
  expect_error(predict(m, rows[-1]), sprintf("these rows have %d", n - 1), class = "gbt_error_data")
  expect_error(predict(m, stats::setNames(rows, c("Column_0", letters[seq_len(n - 1)]))), "missing: `Column_1`")
  numbered <- gbt_import(test_path("imported", "xgb_numbers.json"))
  expect_error(predict(numbered, data.frame(a = 1)), "so they are called `f0`", class = "gbt_error_data")
  plain <- predict(m, unname(as.matrix(rows)))
  colnames(rows) <- variable.names(m)
  expect_identical(unname(predict(m, rows)), plain)
  own <- gbt_train(data.frame(f0 = 1:8), 1:8, nrounds = 1, threads = 1) # the user's names
  expect_error(predict(own, data.frame(a = 1)), "columns that the model needs are missing: `f0`$")
  named <- gbt_train(y ~ f1, data.frame(f1 = 1:8, y = 1:8), nrounds = 1, threads = 1)
  expect_error(predict(named, data.frame(F1 = 1)), "`f1`; did you mean `F1`", fixed = TRUE)
})

test_that("times are no response of an imported model of numbers", {
  skip_if_not_installed("survival")
  m <- gbt_import(test_path("imported", "lgb_numbers.txt"))
  rows <- as.data.frame(matrix(as.double(seq_len(4 * length(m$feature_names))), 4))
  names(rows) <- variable.names(m)
  times <- survival::Surv(1:4, c(0, 1, 1, 0))
  expect_error(gbt_evaluate(m, rows, times), "Surv", class = "gbt_error_data")
})
