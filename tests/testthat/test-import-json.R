# gbt_import() of what gbt_export() wrote as JSON.

# JSON of gbt_export() as text, with a part of it replaced.
own_json <- function(model, from = NULL, to = NULL) {
  file <- withr::local_tempfile(fileext = ".json")
  suppressMessages(gbt_export(model, file))
  text <- paste(readLines(file, encoding = "UTF-8"), collapse = "\n")
  if (is.null(from)) return(text)
  expect_true(grepl(from, text, fixed = TRUE), info = from)
  sub(from, to, text, fixed = TRUE)
}

test_that("JSON of gbt_export() comes back: predictions by bits, nodes, and the same file again", {
  its <- export_data()
  d <- its$x
  y <- its$y
  fit <- function(x, y, ...) gbt_train(x, y, nrounds = 6, threads = 1, ...)
  numbers <- d[c("x", "y", "f")]
  models <- c(export_models(), list(
    linear = fit(numbers, y, leaf_model = "linear"), columns = fit(d, cbind(p = y, q = -y^2)),
    labels = fit(d, cbind(p = y > 2, q = y > 4)), huber = fit(d, y, objective = "huber", huber_delta = 0.7),
    linear_classes = fit(numbers, cut(y, 3), leaf_model = "linear", num_parallel_tree = 2, subsample = 0.8),
    ranks = fit(d, y > 3, objective = "rank_pairwise", qid = rep(1:90, each = 10))
  ))
  for (kind in names(models)) {
    m <- models[[kind]]
    text <- own_json(m)
    again <- gbt_import(charToRaw(text))
    rows <- export_rows(m, 300)
    for (type in c("link", "response", "leaf")) {
      expect_identical(predict(again, rows, type = type, threads = 1),
                       predict(m, rows, type = type, threads = 1, trees = again$nrounds), info = kind)
    }
    expect_identical(own_json(again), text, info = kind)
    expect_identical(again$imported$program, "gbt")
    expect_identical(again$feature_types, m$feature_types)
    expect_identical(again$columns, m$columns)
    if (!any(grepl("\\(", as.data.frame(m)$feature))) { # no statistics, which are sets in the file
      expect_identical(as.data.frame(again), as.data.frame(m[seq_len(again$nrounds)]), info = kind)
    }
    kept <- withr::local_tempfile(fileext = ".gbt")
    gbt_save(again, kept)
    expect_identical(predict(gbt_load(kept), rows, threads = 1), predict(again, rows, threads = 1))
  }
  expect_identical(models$labels$response, "logical_matrix")
})

test_that("classes of JSON of gbt_export() are what they were, and rounds without some slopes come back", {
  d <- export_data()
  fit <- function(y, ...) gbt_train(d$x[c("x", "y", "f")], y, nrounds = 3, threads = 1, ...)
  two <- as.integer(d$y > 3)
  three <- findInterval(d$y, c(2, 4))
  models <- list(
    fit(two, objective = "logistic"), fit(two + 0, objective = "logistic"), fit(factor(two)), fit(as.character(two)),
    fit(two == 1), fit(factor(two, labels = c("10", "9"))), fit(ordered(three), objective = "softmax"),
    fit(factor(three)), fit(as.character(three)), fit(three, objective = "softmax"),
    fit(three * 7 - 3.0, objective = "softmax"), fit(cbind(p = two == 1, q = three == 0)),
    fit(cbind(p = two, q = as.integer(three == 0)), objective = "logistic")
  )
  rows <- d$x[1:50, ]
  for (m in models) {
    text <- own_json(m)
    again <- gbt_import(charToRaw(text))
    for (field in c("classes", "response", "columns")) expect_identical(again[[field]], m[[field]])
    expect_identical(predict(again, rows, type = "class"), predict(m, rows, type = "class"), info = m$response)
    expect_identical(own_json(again), text, info = m$response)
  }
  text <- own_json(models[[3]])
  without <- sub("\"class_type\": \"factor\",", "", text, fixed = TRUE)
  expect_identical(gbt_import(charToRaw(without))$response, "factor")
  expect_identical(gbt_import(charToRaw(without))$classes, c("0", "1"))
  odd <- function(type, must) {
    expect_error(gbt_import(charToRaw(sub("\"factor\"", type, text, fixed = TRUE))), must, class = "gbt_error_format")
  }
  odd("\"Surv\"", "none that is known")
  odd("\"matrix\"", "not one of its objective")
  odd("\"logical\"", "not of `class_type`")
  odd("7", "class_type")
  own <- gbt_import(charToRaw(own_json(models[[1]])), classes = c("no", "yes"))
  expect_identical(levels(predict(own, rows, type = "class")), c("no", "yes"))
  # a first round with slopes of one column, or of none; later ones have those of others
  x <- data.frame(a = seq_len(400) / 400, b = (seq_len(400) * 7919) %% 401 / 401, f = factor(rep(c("u", "v"), 200)))
  grids <- function(text) lengths(regmatches(text, gregexpr("\"cuts\"", text)))
  of_one_round <- function(x, y) {
    m <- gbt_train(x, y, nrounds = 30, eta = 0.5, max_depth = 1, leaf_model = "linear", threads = 1)
    all <- grids(own_json(m))
    m$best_round <- 1L # as after early stopping
    text <- own_json(m)
    expect_lt(grids(text), all)
    again <- gbt_import(charToRaw(text))
    expect_identical(own_json(again), text)
    expect_identical(predict(again, x), predict(m, x, trees = 1))
    text
  }
  text <- of_one_round(x[1:2], 20 * x$a^2 + x$b)
  expect_identical(grids(text), 1L)
  expect_match(text, "\"version\": 2,")
  text <- of_one_round(x, x$b + 5 * (x$f == "u"))
  expect_identical(grids(text), 0L)
  expect_match(text, "\"version\": 1,")
})

test_that("JSON of gbt_export() says what a model needs besides, and what the file lacks", {
  d <- export_data()
  m <- suppressMessages(gbt_train(d$x, round(abs(d$y)), objective = "poisson", offset = rep(0.5, nrow(d$x)),
                                  nrounds = 3, threads = 1))
  again <- gbt_import(charToRaw(own_json(m)))
  expect_true(again$has_offset)
  expect_warning(predict(again, d$x), "offset")
  expect_identical(predict(again, d$x, offset = rep(0.5, nrow(d$x))), predict(m, d$x, offset = rep(0.5, nrow(d$x))))
  expect_error(gbt_train(d$x, d$y, init_model = again, nrounds = 1), "imported from gbt",
               class = "gbt_error_unsupported")
  linear <- gbt_train(d$x["x"], d$y, nrounds = 3, leaf_model = "linear", threads = 1)
  again <- gbt_import(charToRaw(own_json(linear)))
  expect_message(predict(again, d$x["x"], device = "cuda"), "linear leaves", class = "gbt_message")
  coded <- structure(c(1:8, 99, -5) + 0, na_values = 99, na_range = c(-9, -1),
                     class = c("haven_labelled_spss", "haven_labelled", "vctrs_vctr", "double"))
  x <- structure(list(x = coded), class = "data.frame", row.names = 1:10)
  m <- gbt_train(x, c(1:8, 20, 30), nrounds = 3, min_child_weight = 0, threads = 1)
  rows <- data.frame(x = c(0:9, 99, -9, -5, -1, -0.5, NA))
  expect_identical(predict(gbt_import(charToRaw(own_json(m))), rows), predict(m, rows))
  expect_error(gbt_import(charToRaw(own_json(m, "\"missing\": [99", "\"missing\": [98"))), "what its tag says",
               class = "gbt_error_format")
  gains <- own_json(m)
  gains <- gsub("\"gain\": \\[[^]]*\\]", "\"gain\": []", gains)
  expect_error(gbt_import(charToRaw(gains)), "differ in length", class = "gbt_error_format")
})

test_that("JSON of gbt_export() that was changed is refused in words", {
  d <- export_data()
  m <- gbt_train(d$x, d$y, nrounds = 2, max_depth = 2, grow_policy = "depthwise", cat_method = "sets", threads = 1)
  refused <- function(model, from, to, must) {
    expect_error(gbt_import(charToRaw(own_json(model, from, to))), must, class = "gbt_error_format")
  }
  refused(m, "\"left\": [1,", "\"left\": [0,", "damaged")
  refused(m, "\"left\": [1,", "\"left\": [2,", "no parent|two parents|outside")
  refused(m, "\"left\": [1,", "\"left\": [1e9,", "outside")
  refused(m, "\"left\": [1,", "\"left\": [-1,", "left")
  refused(m, "\"left\": [1,", "\"left\": {\"a\": 1}, \"b\": [1,", "not a list")
  text <- sub("\"column\": \\[[0-9]+", "\"column\": [77", own_json(m))
  expect_error(gbt_import(charToRaw(text)), "`column`", class = "gbt_error_format")
  refused(m, "\"version\": 1", "\"version\": 4", "version")
  refused(m, "\"rounds\": 2", "\"rounds\": 3", "rounds")
  refused(m, "\"outputs\": 1", "\"outputs\": 2", "outputs|base")
  refused(m, "\"outputs\": 1", "\"outputs\": 2147483647", "outputs|base")
  refused(m, "\"output\": 0", "\"output\": 1", "turn|output")
  refused(m, "\"sum\": \"plain\"", "\"sum\": \"fast\"", "sum")
  refused(m, "\"response\": \"score\"", "\"response\": \"exp\"", "response")
  refused(m, "\"objective\": \"squared_error\"", "\"objective\": \"cubed_error\"", "objective")
  refused(m, "\"type\": \"number\"", "\"type\": \"text\"", "type")
  refused(m, "\"name\": \"x\"", "\"name\": \"y\"", "the raw vector: .*`y` occurs twice")
  refused(m, "[\"low\", \"mid\"", "[\"low\", \"low\"", "the raw vector: .*\"low\" occurs twice")
  replaced <- function(model, from, to, must) { # from: of the first place
    text <- own_json(model)
    expect_true(grepl(from, text), info = from)
    expect_error(gbt_import(charToRaw(sub(from, to, text))), must, class = "gbt_error_format")
  }
  replaced(m, "\"missing\": \\[[01]", "\"missing\": [2", "`missing`")
  replaced(m, "\"cover\": \\[[^,]*", "\"cover\": [null", "`cover`")
  refused(m, "\"cover\": [", "\"cover\": [1, ", "length")
  three <- gbt_train(d$x, cut(d$y, 3, labels = c("a", "b", "c")), nrounds = 1, threads = 1)
  refused(three, "\"classes\": [\"a\"", "\"classes\": [\"b\"", "`classes` has a name twice")
  refused(three, "\"classes\": [\"a\", ", "\"classes\": [", "`classes` are not as many")
  refused(three, "\"output_names\": [\"a\"", "\"output_names\": [\"b\"", "`output_names` has a name twice")
  refused(three, "\"output_names\": [\"a\", ", "\"output_names\": [", "`output_names` has not a name for each")
  refused(m, "\"classes\": []", "\"classes\": [\"a\", \"b\"]", "`classes` are not as many")
  refused(m, "\"output_names\": []", "\"output_names\": [\"a\", \"b\"]", "`output_names` has not")
  quantiles <- gbt_train(d$x, d$y, objective = "quantile", quantile_alpha = c(0.2, 0.8), nrounds = 1, threads = 1)
  refused(quantiles, "\"levels\": [0.2, 0.8]", "\"levels\": [0.8, 0.2]", "first number|ascending")
  refused(quantiles, "\"levels\": [0.2, 0.8]", "\"levels\": [0.2]", "levels")
  refused(quantiles, "\"quantile_alpha\": 0.2", "\"quantile_alpha\": 2", "quantile_alpha")
  linear <- gbt_train(d$x["x"], d$y, nrounds = 2, max_depth = 2, leaf_model = "linear", threads = 1)
  refused(linear, "\"grids\": [", "\"grid\": [", "grids")
  refused(linear, "\"cuts\": [", "\"cuts\": [9e9, ", "one position more")
  replaced(linear, "\"cuts\": \\[[^,]*", "\"cuts\": [9e9", "JSON file is damaged.*linear leaves do not ascend$")
  replaced(linear, "\"positions\": \\[[^,]*", "\"positions\": [20000", "`positions`")
  replaced(linear, "\"positions\": \\[[^,]*", "\"positions\": [0.5", "`positions`")
  grid <- regmatches(own_json(linear), regexpr("\\{\"column\": 0, [^}]*\\}", own_json(linear)))
  refused(linear, grid, paste0(grid, ", ", grid), "more grids than columns")
  refused(linear, "\"sum\": \"plain\"", "\"sum\": \"mean\"", "`sum` \"plain\"")
  leaf <- "(\"linear\": \\[(null, )*\\[)([^],]*), ([^],]*), ([^],]*), ([^],]*), ([^],]*)"
  replaced(linear, leaf, "\\1\\3, \\4, \\5, \\6", "lacks numbers")
  replaced(linear, leaf, "\\1\\3, \\5, \\4, \\6, \\7", "the JSON file is damaged.*range of a linear leaf is invalid$")
  replaced(linear, leaf, "\\1\\3, \\4, \\5, \\6, 1e300", "a slope is not finite")
  replaced(linear, leaf, "\\1\\3, \\4, \\5, 1, \\7", "`linear`")
  replaced(linear, "\"linear\": \\[null", "\"linear\": [[0, 0, 0, 0, 1]", "or is none")
  refused(linear, "\"linear\": [", "\"linear\": [null, ", "length")
  refused(linear, "\"means\": [", "\"meant\": [", "means")
  refused(linear, "\"means\": [", "\"means\": [null, ", "length")
  replaced(linear, "\"means\": \\[null", "\"means\": [[0]", "not null for the same nodes")
  mean <- "(\"means\": \\[(null, )*)\\[([^],]*)\\]"
  replaced(linear, mean, "\\1null", "not null for the same nodes")
  replaced(linear, mean, "\\1[\\3, 0]", "a mean for each slope")
  replaced(linear, mean, "\\1[16385]", "a mean is no position")
  replaced(linear, mean, "\\1[16384]", "constant at the means")
  replaced(linear, mean, "\\1[0.3]", "a mean is no position")
  replaced(linear, mean, "\\1[\"x\"]", "`means`")
  skip_if_not_installed("survival")
  hazards <- gbt_train(d$x, survival::Surv(abs(d$y) + 0.1, d$y > 2), objective = "hazard", nrounds = 2, threads = 1)
  expect_error(gbt_import(charToRaw(own_json(hazards))), "intervals of time", class = "gbt_error_unsupported")
})

test_that("a model of hazards has no baseline, which is said, and is judged on censored times", {
  skip_if_not_installed("survival")
  lung <- stats::na.omit(survival::lung[1:120, ])
  y <- survival::Surv(lung$time, lung$status)
  x <- lung[c("age", "ph.ecog")]
  m <- gbt_train(x, y, nrounds = 3, threads = 1)
  file <- withr::local_tempfile(fileext = ".json")
  gbt_export(m, file)
  imported <- gbt_import(file)
  for (type in c("survival", "cumhaz", "quantile", "time")) {
    at <- if (type %in% c("survival", "cumhaz")) 100
    expect_error(predict(imported, x, type = type, times = at), "a baseline hazard, which the file .* does not have",
                 class = "gbt_error_unsupported")
  }
  expect_error(gbt_curve(imported, x, y = y, type = "brier"), "needs a baseline hazard")
  rated <- gbt_evaluate(imported, x, y, metrics = "concordance", threads = 1)
  expect_identical(rated$estimate, gbt_evaluate(m, x, y, metrics = "concordance", threads = 1)$estimate)
  expect_error(gbt_evaluate(imported, x, lung$time), "which times are those of events")
})
