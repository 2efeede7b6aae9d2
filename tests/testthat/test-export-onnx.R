# Models as ONNX. Files are checked as they are written; what onnxruntime makes of them is seen where GBT_TEST_PEERS is
# a Python that has it.

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

test_that("ONNX of an older opset adds in float32, and float32 numbers come to the leaves of the model", {
  models <- export_models()
  for (kind in names(models)) {
    m <- models[[kind]]
    file <- withr::local_tempfile(fileext = ".onnx")
    expect_message(gbt_export(m, file, format = "onnx_float"), "adds in float32", class = "gbt_message")
    rows <- export_rows(m, 1000, floats = TRUE)
    rows$y[c(7, 11)] <- c(Inf, -Inf)
    got <- run_onnx(file, m, rows)
    if (is.null(got)) next
    expect_identical(bits(got$score), bits(float_scores(m, rows)), info = kind)
    expect_equal(got$score, as_rows(predict(m, rows, type = "link", threads = 1), nrow(rows)), tolerance = 1e-6)
    expect_equal(got$response, as_rows(predict(m, rows, threads = 1), nrow(rows)), tolerance = 1e-5, info = kind)
  }
})

test_that("models of XGBoost have their very bits in ONNX of float32, and those of numbers without a message", {
  for (its in list.files(test_path("imported"), "^xgb_.*(json|ubj)$")) {
    m <- gbt_import(test_path("imported", its))
    x <- imported_rows(m, its)
    file <- withr::local_tempfile(fileext = ".onnx")
    expect_no_message(gbt_export(m, file, format = "onnx_float"))
    got <- run_onnx(file, m, codes_as_texts(x, m))
    if (is.null(got)) next
    expect_identical(bits(got$score), bits(as_rows(predict(m, x, type = "link", threads = 1), nrow(x))), info = its)
  }
})

test_that("ONNX of float32 has infinite thresholds, trees of one leaf and sets on either side", {
  to_leaf <- function(model, rows, info) {
    file <- withr::local_tempfile(fileext = ".onnx")
    suppressMessages(gbt_export(model, file, format = "onnx_float"))
    got <- run_onnx(file, model, rows)
    if (is.null(got)) return()
    expect_equal(got$score[, 1], as.double(predict(model, rows, type = "link", threads = 1)), tolerance = 1e-6,
                 info = info)
  }
  d <- data.frame(x = rep(c(-Inf, 1, 2, Inf, NA), each = 20), z = rep(c(1, Inf), 50))
  m <- gbt_train(d, rep(c(1, 5, 2, 9, 4), each = 20) + rep(0:1, 50), nrounds = 5, min_child_weight = 0, threads = 1)
  to_leaf(m, rbind(d, data.frame(x = c(-3e38, 3e38, 0), z = c(NA, -Inf, 3.4028234663852886e38))), "infinite")
  expect_warning(one <- gbt_train(data.frame(x = 1:30), 1:30, nrounds = 2, gamma = 1e9, threads = 1), "no tree")
  to_leaf(one, data.frame(x = c(1, NA)), "leaves")
  i <- seq_len(900)
  d <- data.frame(f = factor(sprintf("level %d", i %% 40)), g = i %% 3)
  m <- gbt_train(d, as.double((i %% 40) %in% c(0:3, 9:35)) * 5 + i %% 3, nrounds = 4, cat_method = "sets",
                 threads = 1)
  rows <- d[1:120, ]
  levels(rows$f) <- c(levels(rows$f), "never seen")
  rows$f[c(4, 90)] <- c("never seen", NA)
  to_leaf(m, rows, "sets")
})

test_that("thresholds that would be one in float32 are refused", {
  x <- data.frame(t = 1.7e9 + 1:60)
  m <- gbt_train(x, rep(c(0, 5, 1), 20), nrounds = 5, min_child_weight = 0, max_depth = 6, threads = 1)
  file <- withr::local_tempfile(fileext = ".onnx")
  expect_error(gbt_export(m, file, format = "onnx_float"), "`t`.*same number in float32",
               class = "gbt_error_unsupported")
  expect_false(file.exists(file))
  expect_no_error(gbt_export(m, file))
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
