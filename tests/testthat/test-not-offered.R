# What messages about names of other packages say: every function and argument that they name exists, and nothing that
# an exported function does is called missing.
exports <- getNamespaceExports("gbt")
functions <- Filter(function(name) is.function(getExportedValue("gbt", name)), exports)
methods <- list(predict = gbt:::predict.gbt, print = NULL, plot = NULL, head = utils::head, summary = NULL)

formals_of <- function(name) {
  f <- methods[[name]]
  if (is.null(f)) f <- getExportedValue("gbt", name)
  own <- names(formals(f))
  if (name == "gbt_data") own <- names(formals(gbt:::gbt_data.default))
  if (name %in% c("gbt_train", "gbt_cv", "gbt_tune")) {
    own <- c(own, gbt:::argument_names, "params", names(formals(gbt:::gbt_train.formula)))
  }
  if (name == "gbt_train") own <- c(own, "y")
  if (name == "predict") own <- c(own, names(formals(gbt:::predict.gbt_conformal)))
  unique(own)
}

parameters <- unique(c(gbt:::argument_names, unname(gbt:::objective_params()),
                       unlist(lapply(functions, formals_of)), formals_of("predict"), "top"))
objectives <- gbt_objectives()$name
metrics <- gbt:::metrics_table()$name

# All calls in a text such as "gbt_data(x, path = )", a list: name, arguments.
calls_in <- function(text) {
  found <- regmatches(text, gregexpr("[A-Za-z_.][A-Za-z0-9_.]*\\((?:[^()]|\\([^()]*\\))*\\)", text))[[1]]
  inner <- unlist(lapply(found, function(one) {
    inside <- sub("^[^(]*\\(", "", sub("\\)$", "", one))
    if (grepl("(", inside, fixed = TRUE)) calls_in(inside)
  }), recursive = FALSE)
  c(lapply(found, function(one) {
    flat <- gsub("\\([^()]*\\)", "", sub("\\)$", "", sub("^[^(]*\\(", "", one)))
    args <- regmatches(flat, gregexpr("[A-Za-z_.]+(?= = )", flat, perl = TRUE))[[1]]
    list(name = sub("\\(.*$", "", one), args = args)
  }), inner)
}

# What a text names that there is not.
wrong_in <- function(text) {
  wrong <- character(0)
  for (call in calls_in(text)) {
    ours <- startsWith(call$name, "gbt_")
    if (ours && !call$name %in% functions) wrong <- c(wrong, paste0(call$name, "()"))
    if ((ours && call$name %in% functions) || call$name == "predict") {
      wrong <- c(wrong, setdiff(call$args, formals_of(call$name)))
    }
    if (!ours && !call$name %in% names(methods) && !exists(call$name, mode = "function", envir = baseenv()) &&
          !call$name %in% getNamespaceExports("stats")) {
      wrong <- c(wrong, paste0(call$name, "()"))
    }
  }
  quoted <- regmatches(text, gregexpr("`[^`]+`", text))[[1]]
  names <- sub(" = .*$", "", gsub("`", "", quoted))
  results <- "predictions" # of gbt_cv()
  c(wrong, setdiff(names, c(parameters, results, gsub("\\*", "bytree", names[grepl("_\\*$", names)]),
                            "colsample_*")))
}

foreign <- function(verb) {
  rows <- gbt:::foreign_names$verb == verb
  stats::setNames(gbt:::foreign_names$reply[rows], gbt:::foreign_names$name[rows])
}
refused <- foreign("train")[!names(foreign("train")) %in% names(gbt:::alias_of)]
texts <- c(refused, foreign("predict"), foreign("objective"), gbt:::not_offered)
texts <- vapply(texts, gbt:::reply_text, "")

test_that("functions and arguments that these texts name exist", {
  expect_identical(wrong_in("gbt_nothing(x) makes `eta`"), "gbt_nothing()") # the check can fail
  expect_identical(wrong_in("gbt_cv(nofold = 3)"), "nofold")
  expect_identical(wrong_in("`etta` is it"), "etta")
  wrong <- lapply(texts, wrong_in)
  wrong <- unlist(Map(setdiff, wrong, sub("subsample_freq", "bagging_freq", names(texts)))) # they may name themselves
  expect_identical(unname(wrong), character(0))
  quoted <- unlist(regmatches(texts, gregexpr("(?<=objective )\"[a-z_]+\"", texts, perl = TRUE)))
  expect_identical(setdiff(gsub("\"", "", quoted), objectives), character(0))
})

test_that("a name that is an argument of an exported function is not called missing", {
  words <- c("label", "y", "data", "reference", "group", "name", "callback", "plot", "importance", "subset",
             "size", "tree", "quiet", "type", "method", "model", "formula", "newdata", "holdout", "x", "status",
             "threshold", "scale") # other things here
  for (name in names(refused)) {
    its <- Filter(function(f) name %in% setdiff(names(formals(getExportedValue("gbt", f))), "..."), functions)
    if (length(its) == 0L || name %in% words) next
    text <- refused[[name]]
    named <- vapply(calls_in(text), `[[`, "", "name")
    expect_true(any(named %in% its), label = sprintf("`%s`, an argument of %s: \"%s\"", name, its[1], text))
  }
  expect_match(refused[["folds"]], "gbt_cv", fixed = TRUE)
})

test_that("no text denies what is there", {
  topics <- c("cross-validation" = "gbt_cv", interval = "gbt_conformal", "read from files" = "gbt_files",
              "standard error" = "gbt_cv", "binned data are not" = "gbt_data", "prediction interval" = "gbt_conformal")
  denied <- grep("not offered|there (is|are) no |are not |cannot ", texts, value = TRUE)
  for (topic in names(topics)) expect_identical(unname(grep(topic, denied, value = TRUE)), character(0))
  # what is not offered: nothing exported has such a name
  absent <- c("langevin", "ova", "embedding") # survival is offered: metric brier_survival
  for (topic in absent) expect_identical(grep(topic, c(functions, objectives, metrics), value = TRUE), character(0))
  aliases <- names(gbt:::objective_aliases())
  taken <- vapply(names(foreign("objective")), function(p) any(grepl(p, aliases)), NA)
  expect_identical(names(taken)[taken], "^reg:") # what is there is looked up first
  known <- unlist(gbt:::metric_names())
  expect_identical(intersect(names(foreign("metric")), known), character(0))
  near <- c(foreign("metric"), foreign("metric parameter"))
  near <- unlist(strsplit(near[!startsWith(near, "@")], " "))
  expect_identical(setdiff(near, metrics), character(0))
  expect_identical(intersect(names(foreign("predict")), names(formals(gbt:::predict.gbt))), character(0))
})

test_that("users of other packages are told what to use", {
  d <- mtcars[1:20, ]
  expect_snapshot(error = TRUE, {
    gbt_train(mpg ~ ., d, nfold = 5)
    gbt_train(mpg ~ ., d, cv.folds = 5)
    gbt_train(mpg ~ ., d, folds = 5)
    gbt_cv(mpg ~ ., d, prediction = TRUE)
    gbt_cv(mpg ~ ., d, stratified = TRUE)
    gbt_train(mpg ~ ., d, header = TRUE)
    gbt_train(mpg ~ ., d, objective = "cox")
    gbt_train(mpg ~ ., d, objective = "lambdarank")
    gbt_train(d[-1], structure(as.matrix(d[1:2]), class = "Surv"), nrounds = 2)
    gbt_train(mpg ~ ., d, max_deep = 3)
  })
  m <- gbt_train(mpg ~ ., d, nrounds = 2, threads = 1)
  expect_snapshot(error = TRUE, {
    predict(m, d, interval = "prediction")
    gbt_train(mpg ~ ., d, interval = "prediction")
    gbt_cv(mpg ~ ., d, interval = "prediction")
    predict(m, d, se.fit = TRUE)
    gbt_importance(m, top_n = 3)
    gbt_importance(m, n = 3)
  })
  cv <- gbt_cv(mpg ~ ., d, nrounds = 2, folds = 2, keep_models = TRUE, threads = 1)
  expect_snapshot(error = TRUE, {
    gbt_conformal(cv)
    gbt_refit(m, d)
    gbt_refit(cv, d)
    update(m, 3)
    gbt_partial(m, "wt")
    gbt_shap(m, d, background = 1:3)
    gbt_train(mpg ~ ., gbt_data(d))
    gbt_train(mpg ~ ., as.list(d))
  })
  expect_s3_class(gbt_cv(mpg ~ ., d, cv.folds = 3, nrounds = 2, threads = 1), "gbt_cv")
})
