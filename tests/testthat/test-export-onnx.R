# Models as ONNX. Files are checked as they are written; what onnxruntime makes of them is seen where GBT_TEST_PEERS is
# a Python that has it.

bits <- function(x) writeBin(as.double(x), raw())

as_rows <- function(prediction, n) unname(matrix(as.double(prediction), n))

# list(score, response): of onnxruntime; NULL where it is not there.
run_onnx <- function(file, model, rows) {
  python <- Sys.getenv("GBT_TEST_PEERS")
  script <- test_path("..", "format", "predict_onnx.py")
  if (!nzchar(python) || !file.exists(script)) return(NULL)
  table <- withr::local_tempfile()
  write_cells(rows, table)
  lines <- system2(python, c(shQuote(script), shQuote(file), shQuote(table)), stdout = TRUE)
  got <- do.call(rbind, lapply(strsplit(lines, "\t", fixed = TRUE), as.double))
  k <- seq_len(model$n_outputs)
  list(score = got[, k, drop = FALSE], response = got[, -k, drop = FALSE])
}

expect_onnx <- function(model, rows, info, x = rows) {
  file <- withr::local_tempfile(fileext = ".onnx")
  gbt_export(model, file)
  expect_gt(file.size(file), 200)
  got <- run_onnx(file, model, rows)
  if (is.null(got)) return()
  expect_identical(bits(got$score), bits(as_rows(predict(model, x, type = "link", threads = 1), nrow(x))), info = info)
  expect_equal(got$response, as_rows(predict(model, x, threads = 1), nrow(x)), tolerance = 1e-13, info = info)
}

test_that("onnxruntime computes the bits of raw scores, for each kind of model", {
  models <- export_models()
  for (kind in names(models)) expect_onnx(models[[kind]], export_rows(models[[kind]], 1000), kind)
})

test_that("ONNX of imported models has their missing values, and their sums", {
  for (its in c("lgb_sigmoid.txt", "cat_numbers.json")) {
    m <- gbt_import(test_path("imported", its))
    x <- imported_rows(m, its)
    texts <- codes_as_texts(x, m)
    expect_onnx(m, texts, its, x)
  }
})

test_that("what ONNX cannot say is refused", {
  file <- withr::local_tempfile(fileext = ".onnx")
  i <- seq_len(200)
  empty <- gbt_train(data.frame(f = factor(c("", "b", "c")[1 + i %% 3])), i %% 3, nrounds = 2, threads = 1)
  expect_error(gbt_export(empty, file), "level \"\"", class = "gbt_error_unsupported")
  offset <- gbt_train(mpg ~ wt, mtcars, offset = mtcars$hp / 100, nrounds = 2, threads = 1)
  expect_error(gbt_export(offset, file), "offset", class = "gbt_error_unsupported")
  named <- gbt_train(data.frame(m_score = i), i, nrounds = 2, threads = 1)
  expect_error(gbt_export(named, file, name = "m"), "give another `name`", class = "gbt_error_unsupported")
  expect_false(file.exists(file))
  expect_onnx(named, data.frame(m_score = c(1, 100, NA)), "names")
})
