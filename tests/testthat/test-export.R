# Files of models. What compilers make of the C source, and readers written here of the JSON, against predict().

# Names of the raw scores as predict() has them.
names_of_scores <- function(model, rows) {
  names <- colnames(predict(model, rows, type = "link", threads = 1))
  if (is.null(names)) rep("(none)", model$n_outputs) else names
}

test_that("C source compiles without a warning and gives the bits of predict(), for each kind of model", {
  compilers <- c_compilers()
  skip_if(length(compilers) == 0, "no C compiler")
  models <- export_models()
  for (kind in names(models)) {
    m <- models[[kind]]
    file <- withr::local_tempfile(fileext = ".c")
    expect_identical(gbt_export(m, file), file)
    rows <- export_rows(m, if (kind == "usual") 1500 else 300)
    for (compiler in if (long_form()) compilers else compilers[match(kind, names(models)) %% length(compilers) + 1L]) {
      its <- run_c(file, m, rows, compiler)
      expect_identical(bits(its$score), bits(as_rows(predict(m, rows, type = "link", threads = 1), nrow(rows))),
                       info = kind)
      expect_identical(bits(its$predict), bits(as_rows(predict(m, rows, threads = 1), nrow(rows))), info = kind)
      named <- if (length(m$classes) == 2) m$classes[2] else m$classes
      expect_identical(its$names, c("(none)", m$feature_names, "(none)", "(none)",
                                    if (is.null(named)) rep("(none)", m$n_outputs) else named, "(none)", "(none)",
                                    names_of_scores(m, rows),
                                    "(none)"), info = kind)
    }
  }
})

test_that("C source of imported models adds as they do, and takes offsets", {
  compilers <- c_compilers()
  skip_if(length(compilers) == 0, "no C compiler")
  for (its in c("xgb_numbers.json", "xgb_vectors.json", "xgb_codes.json", "lgb_forest.txt", "lgb_sigmoid.txt",
                "lgb_zero_missing.txt", "lgb_linear.txt", "cat_numbers.json")) {
    m <- gbt_import(test_path("imported", its))
    x <- imported_rows(m, its)
    texts <- x
    coded <- m$feature_types == "category"
    texts[coded] <- lapply(x[coded], function(v) factor(format(v, trim = TRUE), exclude = "NA"))
    for (offset in list(NULL, 0.37)) {
      file <- withr::local_tempfile(fileext = ".c")
      gbt_export(m, file, name = "M_1")
      got <- run_c(file, m, texts, compilers[[1]], "M_1", offset)
      given <- if (!is.null(offset)) matrix(offset, nrow(x), m$n_outputs)
      want <- predict(m, x, type = "link", threads = 1, offset = given)
      expect_identical(bits(got$score), bits(as_rows(want, nrow(x))), info = its)
    }
  }
})

test_that("JSON read by its description gives the bits of predict(), for each kind of model", {
  models <- export_models()
  for (kind in names(models)) {
    m <- models[[kind]]
    rows <- export_rows(m, if (kind == "usual") 1500 else 200)
    expect_json(m, rows, as_rows(predict(m, rows, type = "link", threads = 1), nrow(rows)), kind)
  }
  for (its in union("lgb_linear.txt", every(list.files(test_path("imported"), "\\.(json|ubj|txt)$"), 2))) {
    m <- gbt_import(test_path("imported", its))
    x <- imported_rows(m, its)
    want <- as_rows(predict(m, x, type = "link", threads = 1), nrow(x))
    coded <- m$feature_types == "category" & vapply(x, is.numeric, NA)
    x[coded] <- lapply(x[coded], function(v) factor(format(v, trim = TRUE), exclude = "NA"))
    texts <- vapply(x, is.character, NA)
    x[texts] <- lapply(x[texts], factor)
    expect_json(m, x, want, its)
  }
})

test_that("the format is that of the file's end, or the one that is named", {
  m <- gbt_train(mpg ~ ., mtcars, nrounds = 2, threads = 1)
  file <- withr::local_tempfile(fileext = ".C")
  gbt_export(m, file)
  expect_match(readLines(file, 1), "gradient boosted trees")
  gbt_export(m, file, format = "json", name = "cars")
  expect_match(readLines(file)[4], "\"cars\"")
  expect_error(gbt_export(m, withr::local_tempfile(fileext = ".xyz")), "give `format`", class = "gbt_error_argument")
  expect_error(gbt_export(m, file, format = "jsn"), "json", class = "gbt_error_argument")
  expect_error(gbt_export(m, file, name = "2 cars"), "letters, digits", class = "gbt_error_argument")
  expect_error(gbt_export(m, file, name = strrep("x", 65)), "at most 64", class = "gbt_error_argument")
  expect_error(gbt_export(m, file, name = c("a", "b")), "one text", class = "gbt_error_argument")
  expect_error(gbt_export(m, file, nme = "a"), class = "gbt_error_argument")
  expect_error(gbt_export(1, file), class = "gbt_error_argument")
  expect_error(gbt_export(m, file.path(tempfile(), "model.c")), class = "gbt_error_io")
})

test_that("statistics of single columns become sets of levels, those of several are refused", {
  its <- export_data()
  m <- gbt_train(its$x, its$y, nrounds = 5, cat_method = "target", threads = 1)
  expect_match(paste(as.data.frame(m)$feature, collapse = " "), "mean\\(")
  rows <- export_rows(m, 300)
  expect_json(m, rows, as_rows(predict(m, rows, type = "link", threads = 1), nrow(rows)), "statistics")
  d <- its$x[c("f", "many")]
  y <- (as.integer(d$f) %in% c(1, 4)) == (as.integer(d$many) %% 2 == 0)
  pairs <- gbt_train(d, as.double(y), nrounds = 5, cat_method = "target", max_cat_combine = 2, threads = 1)
  expect_match(paste(as.data.frame(pairs)$feature, collapse = " "), " x ")
  expect_error(gbt_export(pairs, withr::local_tempfile(fileext = ".c")), "f x many|many x f",
               class = "gbt_error_unsupported")
})

test_that("numbers that stand for missing values, columns that a formula makes, and offsets are said", {
  coded <- structure(c(1:8, 99, -5) + 0, na_values = 99, na_range = c(-9, -1),
                     class = c("haven_labelled_spss", "haven_labelled", "vctrs_vctr", "double"))
  d <- structure(list(x = coded), class = "data.frame", row.names = 1:10)
  m <- gbt_train(d, c(1:8, 20, 30), nrounds = 3, min_child_weight = 0, threads = 1)
  expect_match(m$feature_types, "coded")
  rows <- data.frame(x = c(0:9, 99, -9, -5, -1, -0.5, NA))
  expect_json(m, rows, as_rows(predict(m, rows, type = "link", threads = 1), nrow(rows)), "codes")
  for (compiler in c_compilers()) {
    file <- withr::local_tempfile(fileext = ".c")
    gbt_export(m, file)
    got <- run_c(file, m, rows, compiler)
    expect_identical(bits(got$score), bits(predict(m, rows, type = "link", threads = 1)))
  }
  made <- gbt_train(mpg ~ log(wt) + hp, mtcars, nrounds = 2, threads = 1)
  expect_message(gbt_export(made, withr::local_tempfile(fileext = ".c")), "`log\\(wt\\)`", class = "gbt_message")
  several <- mtcars
  names(several)[names(several) == "wt"] <- "the weight"
  several <- gbt_train(mpg ~ poly(hp, 2) + `the weight` + log(qsec), several, nrounds = 2, threads = 1)
  used <- unique(stats::na.omit(as.data.frame(several)$feature))
  expect_true("the weight" %in% used)
  expect_true("poly(hp, 2)1" %in% used)
  file <- withr::local_tempfile(fileext = ".sql")
  said <- expect_message(gbt_export(several, file), class = "gbt_message")
  named <- regmatches(conditionMessage(said), gregexpr("`[^`]*`", conditionMessage(said)))[[1]]
  expect_setequal(named, sprintf("`%s`", setdiff(used, "the weight")))
  lines <- readLines(file)
  expect_setequal(sub("--   number: ", "", lines[startsWith(lines, "--   number")], fixed = TRUE), used)
  plain <- gbt_train(mpg ~ wt + hp, mtcars, nrounds = 2, threads = 1)
  expect_no_message(gbt_export(plain, withr::local_tempfile(fileext = ".c")))
  waits <- data.frame(wait = as.difftime(1:50 + 0, units = "hours"), unused = as.difftime(rep(1, 50), units = "days"))
  waits <- gbt_train(waits, 1:50, nrounds = 2, threads = 1)
  for (end in c(".c", ".sql", ".pmml")) {
    file <- withr::local_tempfile(fileext = end)
    expect_message(gbt_export(waits, file), "units of the training: `wait` in hours\n$", class = "gbt_message")
    unit <- c(.c = NA, .sql = "--   number (hours): wait", .pmml = "name=\"wait\" displayName=\"hours\"")[[end]]
    if (!is.na(unit)) expect_identical(sum(grepl(unit, readLines(file), fixed = TRUE)), 1L)
  }
  offset <- gbt_train(mpg ~ wt, mtcars, offset = mtcars$hp / 100, nrounds = 2, threads = 1)
  expect_message(gbt_export(offset, withr::local_tempfile(fileext = ".c")), "with an offset: add the rows' offsets",
                 class = "gbt_message")
  exposed <- gbt_train(carb ~ wt, mtcars, objective = "poisson", exposure = hp, nrounds = 2, threads = 1)
  expect_message(gbt_export(exposed, withr::local_tempfile(fileext = ".c")),
                 "with an exposure: add the logarithms of the rows' exposures", class = "gbt_message")
  expect_error(gbt_export(exposed, withr::local_tempfile(fileext = ".sql")), "trained with an exposure",
               class = "gbt_error_unsupported")
})

# list(score, response): of the program itself. NULL where it is not there: GBT_TEST_PEERS is a Python that has it.
peer_predict <- function(program, file, model, x) {
  python <- Sys.getenv("GBT_TEST_PEERS")
  script <- test_path("..", "format", "predict_peers.py")
  if (!nzchar(python) || !file.exists(script)) return(NULL)
  table <- withr::local_tempfile()
  text <- ifelse(is.nan(x) | is.na(x), "nan", ifelse(is.infinite(x), ifelse(x > 0, "inf", "-inf"), sprintf("%a", x)))
  writeLines(apply(matrix(text, nrow(x)), 1, paste, collapse = "\t"), table)
  types <- paste(ifelse(model$feature_types %in% c("factor", "category"), "c", "q"), collapse = "")
  lines <- system2(python, c(shQuote(script), program, shQuote(file), shQuote(table), types), stdout = TRUE)
  got <- do.call(rbind, lapply(strsplit(lines, "\t", fixed = TRUE), as.double))
  k <- model$n_outputs
  list(score = got[, seq_len(k), drop = FALSE], response = got[, -seq_len(k), drop = FALSE])
}

test_that("XGBoost's files are read back and by XGBoost itself as the model with leaves of float32", {
  models <- export_models()
  for (kind in names(models)) for (format in c("xgboost", "xgboost_ubj")) {
    m <- models[[kind]]
    file <- withr::local_tempfile(fileext = if (format == "xgboost") ".json" else ".ubj")
    suppressMessages(gbt_export(m, file, format = format))
    again <- gbt_import(file)
    rows <- export_rows(m, if (kind == "usual") 1200 else 200, floats = TRUE)
    x <- peer_numbers(m, rows)
    got <- as_rows(predict(again, named_rows(again, x, m, rows), type = "link", threads = 1), nrow(rows))
    expect_equal(got, as_rows(predict(m, rows, type = "link", threads = 1), nrow(rows)), tolerance = 2e-6, info = kind)
    peer <- peer_predict("xgboost", file, m, x)
    if (is.null(peer)) next
    expect_identical(bits(peer$score), bits(got), info = kind)
    if (kind == "quantiles") next # not sorted there
    expect_equal(peer$response, as_rows(predict(again, named_rows(again, x, m, rows), threads = 1), nrow(rows)),
                 tolerance = if (kind == "logs") Inf else 1e-5, info = kind)
  }
})

test_that("LightGBM's files have the bits of the model, read back and by LightGBM itself", {
  models <- export_models()
  for (kind in names(models)) {
    m <- models[[kind]]
    file <- withr::local_tempfile(fileext = ".txt")
    suppressMessages(gbt_export(m, file))
    again <- gbt_import(file)
    rows <- export_rows(m, if (kind == "usual") 1500 else 300)
    x <- peer_numbers(m, rows)
    want <- as_rows(predict(m, rows, type = "link", unseen = "missing", threads = 1), nrow(rows))
    got <- predict(again, named_rows(again, x, m, rows), type = "link", unseen = "missing", threads = 1)
    expect_identical(bits(as_rows(got, nrow(rows)) + 0), bits(want + 0), info = kind)
    peer <- peer_predict("lightgbm", file, m, x)
    if (is.null(peer)) next
    expect_identical(bits(peer$score + 0), bits(want + 0), info = kind)
    if (kind == "quantiles") next
    expect_equal(peer$response, as_rows(predict(m, rows, unseen = "missing", threads = 1), nrow(rows)),
                 tolerance = if (kind == "logs") Inf else 1e-12, info = kind)
  }
})

# The rows of a model's file: NAME.csv in imported/, NAME.x.csv in the shared folder.
export_peer_rows <- function(path) {
  shared <- sub("\\..*$", ".x.csv", path)
  rows <- utils::read.csv(if (file.exists(shared)) shared else sub("\\..*$", ".csv", path), na.strings = "",
                          colClasses = "character")
  if (!file.exists(shared)) rows <- rows[startsWith(names(rows), "x")]
  matrix(vapply(rows, as.numeric, numeric(nrow(rows))), nrow(rows))
}

test_that("models of XGBoost and LightGBM go back to their program with the same raw scores, bit by bit", {
  files <- list.files(test_path("imported"), "^(xgb|lgb)_.*\\.(json|ubj|txt)$", full.names = TRUE)
  folder <- Sys.getenv("GBT_TEST_MODELS")
  if (nzchar(folder)) {
    files <- c(files, list.files(folder, "^(xgb|lgb)_.*\\.(json|ubj|txt)$", full.names = TRUE))
    files <- files[!grepl("gblinear|_text", files)]
  }
  expect_gte(length(files), 14)
  for (path in files) {
    m <- suppressWarnings(gbt_import(path), classes = "gbt_warning_import")
    m <- m[seq_len(m$nrounds)]
    x <- export_peer_rows(path)
    lgb <- m$imported$program == "LightGBM"
    coded <- m$feature_types == "category"
    x[, coded] <- trunc(x[, coded])
    rows <- stats::setNames(as.data.frame(x), m$feature_names)
    want <- as_rows(predict(m, rows, type = "link", threads = 1), nrow(x))
    for (format in if (lgb) "lightgbm" else c("xgboost", "xgboost_ubj")) {
      file <- withr::local_tempfile(fileext = if (lgb) ".txt" else if (format == "xgboost") ".json" else ".ubj")
      suppressMessages(gbt_export(m, file, format = format))
      again <- suppressWarnings(gbt_import(file), classes = "gbt_warning_import")
      got <- as_rows(predict(again, rows, type = "link", threads = 1), nrow(x))
      expect_identical(bits(got + 0), bits(want + 0), info = path)
      peer <- peer_predict(if (lgb) "lightgbm" else "xgboost", file, m, x)
      if (is.null(peer)) next
      score <- peer$score
      if (grepl("forest", path) && lgb) score <- score / m$nrounds
      if (grepl("sigmoid", path) && lgb && !grepl("forest", path)) score <- score * 2.5
      expect_identical(is.nan(score), is.nan(want), info = path) # the text of NaN has no sign
      known <- !is.nan(want)
      expect_identical(bits(score[known] + 0), bits(want[known] + 0), info = path)
    }
  }
})

test_that("what XGBoost and LightGBM cannot say is refused by name, and what differs is said", {
  x <- data.frame(t = 1.7e9 + 1:60)
  m <- gbt_train(x, rep(c(0, 5, 1), 20), nrounds = 5, min_child_weight = 0, max_depth = 6, threads = 1)
  file <- withr::local_tempfile(fileext = ".ubj")
  expect_error(gbt_export(m, file), "`t`.*same number in float32", class = "gbt_error_unsupported")
  expect_false(file.exists(file))
  expect_no_error(gbt_export(m, withr::local_tempfile(fileext = ".txt")))
  offset <- gbt_train(mpg ~ wt, mtcars, offset = mtcars$hp / 100, nrounds = 2, threads = 1)
  for (end in c(".ubj", ".txt")) {
    expect_error(gbt_export(offset, withr::local_tempfile(fileext = end)), "offset", class = "gbt_error_unsupported")
  }
  forest <- gbt_import(test_path("imported", "lgb_forest.txt"))
  expect_error(gbt_export(forest, file), "means", class = "gbt_error_unsupported")
  plain <- gbt_train(mpg ~ wt, mtcars, nrounds = 2, threads = 1)
  expect_message(gbt_export(plain, file), "float32", class = "gbt_message")
  xgb <- gbt_import(test_path("imported", "xgb_numbers.json"))
  expect_message(gbt_export(xgb, withr::local_tempfile(fileext = ".txt")), "adds in double", class = "gbt_message")
  expect_no_message(gbt_export(xgb, file))
  blank <- gbt_train(data.frame(`a b` = 1:20, check.names = FALSE), 1:20, nrounds = 2, threads = 1)
  expect_message(gbt_export(blank, withr::local_tempfile(fileext = ".txt")), "blanks", class = "gbt_message")
})
