# Models as PMML: what an evaluator of the standard makes of the file (tests/format/predict_pmml.py), against predict().
# GBT_TEST_PMML is a Python that may have pypmml and jpmml_evaluator, with Java.

# list(score, response): of an evaluator. "" is the one that needs only Python; NULL where another one is not there.
run_pmml <- function(file, model, rows, evaluator = "") {
  script <- test_path("..", "format", "predict_pmml.py")
  python <- if (nzchar(evaluator)) Sys.getenv("GBT_TEST_PMML") else Sys.which("python3")
  if (!nzchar(python) && nzchar(evaluator)) return(NULL)
  skip_if(!file.exists(script) || !nzchar(python), "there is no python3, or no evaluator")
  table <- withr::local_tempfile()
  write_cells(rows, table)
  said <- if (nzchar(evaluator)) withr::local_tempfile() else ""
  lines <- suppressWarnings(system2(python, c(shQuote(script), shQuote(file), shQuote(table), evaluator),
                                    stdout = TRUE, stderr = said))
  if (nzchar(evaluator) && any(grepl("ModuleNotFoundError", readLines(said)))) return(NULL)
  got <- do.call(rbind, lapply(strsplit(lines, "\t", fixed = TRUE), as.double))
  k <- seq_len(model$n_outputs)
  list(score = got[, k, drop = FALSE], response = got[, -k, drop = FALSE])
}

# x: the rows as predict() takes them, where these are others.
expect_pmml <- function(model, rows, info, x = rows, name = "model") {
  file <- withr::local_tempfile(fileext = ".pmml")
  suppressMessages(gbt_export(model, file, name = name))
  score <- as_rows(predict(model, x, type = "link", threads = 1), nrow(x))
  response <- as_rows(predict(model, x, threads = 1), nrow(x))
  for (evaluator in c("", "pypmml", "jpmml")) {
    got <- run_pmml(file, model, rows, evaluator)
    if (is.null(got)) next
    expect_identical(bits(got$score + 0), bits(score + 0), info = paste(info, evaluator))
    if (length(model$params$quantile_alpha) > 1) got$response <- t(apply(got$response, 1, sort))
    expect_equal(got$response, response, tolerance = 1e-13, info = paste(info, evaluator))
  }
}

test_that("PMML has the bits of raw scores, for each kind of model", {
  models <- export_models()
  for (kind in names(models)) {
    expect_pmml(models[[kind]], export_rows(models[[kind]], if (kind == "usual") 1000 else 150), kind)
  }
})

test_that("PMML of imported models has their missing values, and their scaled sums and means", {
  for (its in c("lgb_forest.txt", "lgb_sigmoid.txt", "lgb_classes.txt", "cat_numbers.json", "cat_classes.json")) {
    m <- gbt_import(test_path("imported", its))
    x <- imported_rows(m, its)
    texts <- codes_as_texts(x, m)
    expect_pmml(m, texts, its, x, "M_1")
  }
})

test_that("PMML has levels with any characters, single numbers that are missing values, and names as they are", {
  i <- seq_len(700)
  d <- data.frame(f = factor(c("a\\", "\\", "b\"", "", " c ", "\\\"", "<&>'")[1 + i %% 7]), g = (i * 37) %% 101)
  names(d)[2] <- "<g> & \"h\"; '\u00e9'"
  m <- gbt_train(d, (i * 7919) %% 11 + 3 * as.integer(d$f), nrounds = 4, cat_method = "sets", cat_noise = 0,
                 threads = 1)
  expect_true("f" %in% as.data.frame(m)$feature)
  rows <- d[1:70, ]
  levels(rows$f) <- c(levels(rows$f), "never seen")
  rows$f[c(3, 9)] <- c("never seen", NA)
  expect_pmml(m, rows, "texts")
  coded <- structure(c(1:8, 99, -5) + 0, na_values = c(99, -5),
                     class = c("haven_labelled_spss", "haven_labelled", "vctrs_vctr", "double"))
  d <- structure(list(x = coded), class = "data.frame", row.names = 1:10)
  m <- gbt_train(d, c(1:8, 20, 30), nrounds = 3, min_child_weight = 0, threads = 1)
  expect_pmml(m, data.frame(x = c(0:9, 99, -9, -5, -1, -0.5, NA, Inf, -Inf)), "codes")
})

test_that("PMML has infinite thresholds and trees of one leaf", {
  d <- data.frame(x = rep(c(-Inf, 1, 2, Inf, NA), each = 20), z = rep(c(1, Inf), 50))
  m <- gbt_train(d, rep(c(1, 5, 2, 9, 4), each = 20) + rep(0:1, 50), nrounds = 5, min_child_weight = 0, threads = 1)
  expect_pmml(m, rbind(d, data.frame(x = c(-1e308, 1e308, 0), z = c(NA, -Inf, 1.7976931348623157e308))), "infinite")
  expect_warning(one <- gbt_train(data.frame(x = 1:30), 1:30, nrounds = 2, gamma = 1e9, threads = 1), "no tree")
  expect_pmml(one, data.frame(x = c(1, NA)), "leaves")
})

test_that("what PMML cannot say is refused, and the formats that can say it are named", {
  file <- withr::local_tempfile(fileext = ".pmml")
  offset <- gbt_train(mpg ~ wt, mtcars, offset = mtcars$hp / 100, nrounds = 2, threads = 1)
  expect_error(gbt_export(offset, file), "; use \"c\" or \"json\" instead", class = "gbt_error_unsupported")
  zeros <- gbt_import(test_path("imported", "lgb_zero_missing.txt"))
  expect_error(gbt_export(zeros, file), "range of numbers.*; use \"c\", \"json\" or \"sql\" instead",
               class = "gbt_error_unsupported")
  i <- seq_len(100)
  d <- data.frame(f = factor(c("a", "b\001", "c")[1 + i %% 3]))
  odd <- gbt_train(d, as.double(i %% 3), nrounds = 1, cat_noise = 0, threads = 1)
  expect_error(gbt_export(odd, file), "level . of column `f`", class = "gbt_error_unsupported")
  for (name in c("b\001", "b\ufffe")) {
    for (classes in list(c("a", name), c("a", "c", name))) {
      y <- factor(classes[1 + i %% length(classes)], classes)
      odd <- gbt_train(data.frame(i %% 6), y, nrounds = 1, threads = 1)
      expect_error(gbt_export(odd, file), sprintf("the name of class %d has", length(classes)),
                   class = "gbt_error_unsupported")
    }
  }
  expect_false(file.exists(file))
})

test_that("columns of PMML are called as they like, and outputs show their names", {
  i <- seq_len(100)
  d <- data.frame(m_score = (i * 37) %% 101, m__response_2 = rev(i), m_sum = i %% 7, model = i %% 5)
  named <- gbt_train(d, data.frame(`a<b` = i, two = i %% 7 + i %% 5, check.names = FALSE), nrounds = 3, threads = 1)
  rows <- rbind(d[c(1, 50, 100), ], NA)
  file <- withr::local_tempfile(fileext = ".pmml")
  expect_message(gbt_export(named, file, name = "m"), "names of the outputs have more \"_\"")
  text <- paste(readLines(file), collapse = "")
  for (k in 1:2) {
    shown <- c("a&lt;b", "two")[k]
    expect_match(text, sprintf("name=\"m___score_%d\" displayName=\"%s\"", k, shown), fixed = TRUE)
    expect_match(text, sprintf("name=\"m___response_%d\" displayName=\"%s\"", k, shown), fixed = TRUE)
  }
  expect_pmml(named, rows, "names", name = "m")
  expect_pmml(named, rows, "other names")
})
