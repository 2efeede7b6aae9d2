# Models with linear leaves as C, JSON and SQL, against predict(): gbt's own, which read bins, and LightGBM's, which
# read numbers.

test_that("linear leaves: C by compilers, JSON by its description and SQL by databases give the bits of predict()", {
  set.seed(5, kind = "Mersenne-Twister", normal.kind = "Inversion", sample.kind = "Rejection")
  coded <- structure(replace(sample(0:20, 600, TRUE), 1:30, 99) + 0, na_values = 99,
                     class = c("haven_labelled_spss", "haven_labelled", "vctrs_vctr", "double"))
  x <- structure(list(a = sample(-30:30, 600, TRUE) / 4, b = stats::rnorm(600), f = factor(rep(letters[1:4], 150)),
                      d = as.Date("2024-01-01") + sample(0:99, 600, TRUE), c = coded),
                 class = "data.frame", row.names = 1:600)
  x$a[31:60] <- NA
  y <- ifelse(is.na(x$a), 0, x$a) + x$b^2 - as.numeric(unclass(coded)) / 9 * (x$f == "a") + as.numeric(x$d) / 40
  models <- list(
    numbers = gbt_train(x, y, nrounds = 8, max_depth = 4, leaf_model = "linear", threads = 1),
    classes = gbt_train(x[1:3], cut(y, 3, labels = c("u", "v", "w")), nrounds = 3, num_parallel_tree = 2,
                        subsample = 0.8, leaf_model = "linear", threads = 1),
    constant = gbt_train(x["f"], y, nrounds = 2, leaf_model = "linear", threads = 1)
  )
  borders <- (-31:31) / 4 + 1 / 8 # where bins of `a` end
  edge <- c(borders, borders * (1 + 2^-52), borders * (1 - 2^-53), NA, Inf, -Inf, 0, -0, 1e300)
  n <- length(edge)
  rows <- data.frame(a = edge, b = rep_len(c(stats::rnorm(20), NA, Inf, -Inf), n), f = rep_len(letters[1:4], n),
                     d = rep_len(as.Date("2024-01-01") + c(-9:120, NA), n), c = rep_len(c(0:21, 99, 0.5, NA), n))
  rows$f <- factor(rows$f, letters[1:4])
  numbers <- replace(rows, "d", list(as.numeric(rows$d)))
  for (kind in names(models)) {
    m <- models[[kind]]
    want <- as_rows(predict(m, rows, type = "link", threads = 1), n)
    its <- numbers[m$feature_names]
    for (compiler in c_compilers()) {
      file <- withr::local_tempfile(fileext = ".c")
      gbt_export(m, file)
      expect_identical(bits(run_c(file, m, its, compiler)$score), bits(want), info = kind)
    }
    for (format in c("onnx", "xgboost", "lightgbm", "pmml")) {
      if (kind == "constant") next
      expect_error(gbt_export(m, withr::local_tempfile(), format = format),
                   "it has linear leaves; use \"c\", \"json\" or \"sql\" instead", class = "gbt_error_unsupported")
    }
    expect_json(m, its, want, kind)
    file <- withr::local_tempfile(fileext = ".sql")
    suppressMessages(gbt_export(m, file))
    expect_identical(any(grepl("model_x1", readLines(file))), kind != "constant")
    expect_identical(bits(run_sql(file, m, its)$score), bits(want), info = kind)
    for (where in c("duckdb", Sys.getenv("GBT_TEST_POSTGRES"))) {
      got <- run_sql_by(where, file, m, its)
      if (!is.null(got)) expect_identical(bits(got$score), bits(want), info = paste(kind, where))
    }
  }
  expect_gt(sum(lengths(unclass(as.data.frame(models$numbers)$slopes))), 20L)
})

# Rows of numbers at, next below and next above thresholds, missing, infinite, zero and large, in many combinations.
rows_at_thresholds <- function(model, n, odd) {
  t <- stats::na.omit(unique(as.data.frame(model)$threshold))
  all <- c(t, t * (1 + 2^-52), t * (1 - 2^-53), NA, Inf, -Inf, 0, -0, 1, -2.5, odd)
  at <- lapply(seq_along(model$feature_names), function(j) all[1 + (seq_len(n) * (2 * j + 1) + j) %% length(all)])
  stats::setNames(as.data.frame(at), model$feature_names)
}

test_that("linear leaves of LightGBM as C, JSON and SQL: the bits of predict()", {
  folder <- Sys.getenv("GBT_TEST_MODELS")
  n_nan <- 0
  files <- c(test_path("imported", "lgb_linear.txt"), if (nzchar(folder)) file.path(folder, "lgb_linear.txt"))
  for (path in files) {
    all <- gbt_import(path)
    for (m in list(all, all[2:3])) {
      small <- rows_at_thresholds(m, 300, c(1e-9, 1e9))
      rows <- rbind(small, rows_at_thresholds(m, 300, c(1e300, -1e308, 5e-324)))
      want <- as_rows(predict(m, rows, type = "link", threads = 1), nrow(rows))
      expect_true(any(is.infinite(want)) && sum(is.finite(want)) > 50)
      n_nan <- n_nan + sum(is.nan(want))
      file <- withr::local_tempfile(fileext = ".c")
      gbt_export(m, file)
      for (compiler in c_compilers()) {
        expect_identical(bits(run_c(file, m, rows, compiler)$score), bits(want), info = path)
      }
      expect_json(m, rows, want, path)
      file <- withr::local_tempfile(fileext = ".sql")
      gbt_export(m, file)
      expect_identical(bits(run_sql(file, m, rows)$score), bits(want), info = path)
      for (where in c("duckdb", Sys.getenv("GBT_TEST_POSTGRES"))) { # `small`: PostgreSQL has errors beyond doubles
        got <- run_sql_by(where, file, m, small)
        if (!is.null(got)) expect_identical(bits(got$score), bits(want[seq_len(nrow(small)), ]), info = where)
      }
    }
  }
  expect_gt(n_nan, 0)
})

test_that("linear leaves of LightGBM come back from JSON: nodes, predictions, and the same file", {
  m <- gbt_import(test_path("imported", "lgb_linear.txt"))
  file <- withr::local_tempfile(fileext = ".json")
  gbt_export(m, file)
  expect_match(readLines(file)[3], "\"version\": 3")
  again <- gbt_import(file)
  expect_identical(as.data.frame(again), as.data.frame(m))
  rows <- rows_at_thresholds(m, 200, 1e300)
  expect_identical(predict(again, rows), predict(m, rows))
  second <- withr::local_tempfile(fileext = ".json")
  gbt_export(again, second)
  expect_identical(readLines(second), readLines(file))
  text <- paste(readLines(file), collapse = "\n")
  fault <- function(from, to, what) {
    changed <- sub(from, to, text)
    expect_false(identical(changed, text))
    expect_error(gbt_import(charToRaw(changed)), what, class = "gbt_error_format")
  }
  leaf <- "(\"linear\": \\[(null, )*\\[)([^],]*), ([^],]*), ([^],]*)"
  fault(leaf, "\\1\\3, \\4", "lacks numbers")
  fault(leaf, "\\1\\3, 4, \\5", "`linear`")
  fault(leaf, "\\1\\3, -1, \\5", "`linear`")
  fault(leaf, "\\1\\3, 0.5, \\5", "`linear`")
  fault(leaf, "\\1\\3, \\4, 1e300", "a slope is not finite")
  fault("\"linear\": \\[null", "\"linear\": [[0, 0, 1]", "or is none")
  fault("\"linear\": \\[", "\"linear\": [null, ", "length")
  fault("\"linear\": ", "\"lines\": ", "`linear` is not a list")
  fault("\"version\": 3", "\"version\": 4", "`version`")
  fault("\"sum\": \"plain\"", "\"sum\": \"float32\"", "float32")
  mean <- sub("\"sum\": \"plain\"", "\"sum\": \"mean\"", text)
  means <- gbt_import(charToRaw(mean))
  expect_equal(predict(means, rows[1:20, ], type = "link"), predict(m, rows[1:20, ], type = "link") / m$nrounds)
  for (end in c(".c", ".sql")) expect_no_error(gbt_export(means, withr::local_tempfile(fileext = end)))
})

test_that("formats that cannot say LightGBM's linear leaves name those that can", {
  m <- gbt_import(test_path("imported", "lgb_linear.txt"))
  for (format in c("onnx", "onnx_float", "xgboost", "xgboost_ubj", "pmml")) {
    expect_error(gbt_export(m, withr::local_tempfile(), format = format),
                 "linear leaves of LightGBM.*use \"c\", \"json\", \"sql\" or \"lightgbm\" instead",
                 class = "gbt_error_unsupported")
  }
  text <- readChar(test_path("imported", "lgb_linear.txt"), 1e6, useBytes = TRUE)
  wide <- sub("leaf_const=[^\n]*\nnum_features=2([^\n]*)\nleaf_features=0 2",
              paste0("leaf_const=0 0 0 0 0 0\nnum_features=502\\1\nleaf_features=", strrep("0 ", 500), "0 2"), text)
  wide <- sub("(leaf_features=0 0 [^\n]*\nleaf_coeff=)", paste0("\\1", strrep("0.5 ", 500)), wide)
  m <- gbt_import(charToRaw(wide))
  expect_error(gbt_export(m, withr::local_tempfile(fileext = ".sql")), "linear in 502 columns",
               class = "gbt_error_unsupported")
  expect_no_error(gbt_export(m, withr::local_tempfile(fileext = ".c")))
})
