# Models whose fields were changed, and what users add to models.

classes <- gbt_train(iris[-5], iris$Species, nrounds = 3, valid = 0.3, early_stopping_rounds = 2, seed = 1,
                     threads = 1, monotone = c(Sepal.Width = 1), interactions = list(1:2, 3:4),
                     eval_metric = c("mlogloss", "merror"))
numbers <- gbt_train(mpg ~ log(hp) + wt + offset(cyl), mtcars, nrounds = 2, threads = 1)

# list by name of what may be put where a field was
odd_values <- list(
  null = NULL, na = NA, na_text = NA_character_, nan = NaN, inf = Inf, minus = -1L, zero = 0L, one = 1, half = 1.5,
  large = 1000000000L, larger = 1e300, text = "x", empty = character(0), texts = c("a", "b", "c"), twice = c("a", "a"),
  bytes = "\xff", list = list(), listed = list(1), nested = list(list("a", list(NULL))), functions = list(sum),
  model = structure(list(), class = "gbt"), empty_frame = data.frame(), frame = data.frame(round = 1:3),
  factor = factor("a"), date = as.Date("2026-01-01"), matrix = matrix(1:4, 2), raw = raw(3), complex = 1i,
  env = globalenv(), call = quote(stop("evaluated")), f = function(...) stop("called"), named = c(a = 1, b = NA),
  formula = y ~ x, posix = as.POSIXlt("2026-01-01"), half_list = structure(list(1, 2), names = c("a", NA))
)

uses <- function(data, x, y) {
  file <- withr::local_tempfile(.local_envir = parent.frame())
  list(
    print = print, str = utils::str, summary = function(m) print(summary(m)), plot = plot, formula = stats::formula,
    length = length,
    first = function(m) m[1], rest = function(m) m[-1], none = function(m) m[0], rows = stats::nobs,
    names = stats::variable.names, predict = function(m) predict(m, data),
    class = function(m) predict(m, data, type = "class"), prob = function(m) predict(m, data, type = "prob"),
    leaf = function(m) predict(m, data, type = "leaf", trees = 1), importance = gbt_importance,
    nodes = as.data.frame,
    save = function(m) gbt_load(gbt_save(m, file) |> (\(m) file)(), trust = TRUE),
    format = format, text = toString, list = as.list, cell = function(m) print(list_frame(list(list(m)), 1L)),
    on = function(m) gbt_train(x, y, init_model = m, nrounds = 1, threads = 1),
    again = function(m) update(m, x = x, y = y, nrounds = 1, evaluate = FALSE),
    description = getFromNamespace("vetiver_create_description.gbt", "gbt"),
    columns = getFromNamespace("vetiver_ptype.gbt", "gbt"), info = getFromNamespace("model_info.gbt", "gbt")
  )
}

# Every use of a changed model: a text for each that is neither a result nor an error of gbt's.
complaints <- function(m, uses, what) {
  found <- character(0)
  for (name in names(uses)) {
    note <- function(c) found <<- c(found, sprintf("%s, %s: %s", what, name, conditionMessage(c)))
    withCallingHandlers(
      tryCatch(uses[[name]](m), error = function(e) {
        if (!inherits(e, "gbt_error") || inherits(e, "gbt_error_internal")) note(e)
      }),
      warning = function(w) {
        if (!inherits(w, "gbt_warning")) note(w)
        invokeRestart("muffleWarning")
      }
    )
  }
  found
}

change <- function(x, field, value) {
  fields <- unclass(x)
  fields[field] <- list(value)
  structure(fields, class = class(x))
}

test_that("any field with any value: a result, or an error that says which", {
  skip_on_cran()
  grDevices::pdf(NULL)
  withr::defer(grDevices::dev.off())
  gc(reset = TRUE)
  found <- character(0)
  # A ninth of the values for a field, another ninth for the next one. The long form has all.
  step <- if (long_form()) 1L else 9L
  some <- function(i, step) seq_along(odd_values) %% step == i %% step
  cases <- list(list(m = classes, other = numbers$state, step = step,
                     uses = uses(iris[1:3, ], iris[-5], iris$Species)),
                list(m = numbers, other = classes$state, step = step,
                     uses = uses(mtcars[1:3, ], mtcars[-1], mtcars$mpg)))
  utils::capture.output(for (case in cases) {
    try_all <- function(m, what, uses = case$uses) found <<- c(found, complaints(m, uses, what))
    few <- case$uses[c("print", "summary", "plot", "first", "predict")]
    try_all(case$m, "nothing")
    try_all(change(case$m, "state", case$other), "state of another model")
    for (i in seq_along(case$m)) {
      field <- names(case$m)[i]
      try_all(structure(unclass(case$m)[setdiff(names(case$m), field)], class = "gbt"), paste("without", field))
      for (value in names(odd_values)[some(i, case$step)]) {
        try_all(change(case$m, field, odd_values[[value]]), paste(field, value))
      }
    }
    for (field in c("params", "evaluation_log", "terms")) for (part in names(case$m[[field]])) {
      for (value in names(odd_values)[some(match(part, names(case$m[[field]])), 2L * case$step)]) {
        inner <- unclass(case$m[[field]])
        inner[part] <- list(odd_values[[value]])
        if (field == "evaluation_log") inner <- structure(inner, class = "data.frame", row.names = 1:3)
        try_all(change(case$m, field, inner), paste(field, part, value), few)
      }
    }
  })
  expect_identical(found, character(0))
  expect_lt(gc()["Vcells", 6L], 500) # MB, at most
})

test_that("parameters with any value are shown, or are an error that says which", {
  others <- c("class_weights", "subsample", "level_counts", "cat_method", "feature_weights", "first_use_penalty",
              "ensemble", "preset", "sparse_zero", "of_a_later_version")
  frame <- function(m) if (is.null(model_fault(unclass(m)))) stopifnot(is.character(params_frame(m)$value))
  found <- character(0)
  parts <- union(names(classes$params), others)
  step <- if (long_form()) 1L else 3L # see above
  some <- function(part) names(odd_values)[seq_along(odd_values) %% step == match(part, parts) %% step]
  utils::capture.output(for (part in parts) for (value in some(part)) {
    params <- classes$params
    params[part] <- list(odd_values[[value]])
    found <- c(found, complaints(change(classes, "params", params), list(print = print, frame = frame),
                                 paste("params", part, value)))
  })
  expect_identical(found, character(0))
})

test_that("any field of a gbt_data object with any value, too", {
  make <- function(...) gbt_data(iris[1:4], label = iris$Species, offset = matrix(0, 150, 3), threads = 1, ...)
  data <- make(weight = rep(1, 150))
  held <- make(reference = data)
  uses <- list(
    print = print, dim = dim, names = dimnames, rows = function(d) d[1, ], frame = as.data.frame, summary = summary,
    train = function(d) gbt_train(d, nrounds = 1, threads = 1),
    reference = function(d) gbt_data(iris[1:4], reference = d, threads = 1)
  )
  valid <- list(valid = function(d) gbt_train(data, nrounds = 1, threads = 1, valid = d))
  found <- character(0)
  step <- if (long_form()) 1L else 3L # see above
  some <- function(field) names(odd_values)[seq_along(odd_values) %% step == match(field, names(data)) %% step]
  utils::capture.output(for (field in names(data)) {
    found <- c(found, complaints(structure(unclass(data)[setdiff(names(data), field)], class = "gbt_data"), uses,
                                 paste("without", field)))
    for (value in some(field)) {
      found <- c(found, complaints(change(data, field, odd_values[[value]]), uses, paste(field, value)),
                 complaints(change(held, field, odd_values[[value]]), valid, paste(field, value)))
    }
  })
  expect_identical(found, character(0))
  pointer <- unclass(getLoadedDLLs()[["stats"]])$handle # of something else
  expect_error(print(change(data, "ptr", pointer)), "`ptr` was changed", class = "gbt_error_argument")
  expect_error(gbt_train(change(data, "n_rows", 149)), "`n_rows` was changed", class = "gbt_error_argument")
  expect_error(gbt_data(iris[1:4], reference = change(data, "ptr", pointer)),
               "`reference` is a gbt_data object whose field `ptr` was changed", class = "gbt_error_argument")
  expect_error(gbt_data(iris[1:4], reference = change(data, "ptr", 1)), "field `ptr` of `reference`",
               class = "gbt_error_argument")
})

test_that("lists that are hardly models are told what they are", {
  for (m in list(list(), list(state = raw(0)), unclass(classes), list(1, 2))) {
    bad <- structure(unname(unclass(m)), class = "gbt")
    expect_error(predict(bad, iris), class = "gbt_error_argument")
    expect_error(length(bad), class = "gbt_error_argument")
  }
})

test_that("errors name the field", {
  expect_error(predict(change(classes, "nrounds", 1000000000L), iris), "`nrounds` must be 3L",
               class = "gbt_error_argument")
  expect_error(change(classes, "params", structure(list(), class = "gbt"))[1:2], "`params` must be",
               class = "gbt_error_argument")
  expect_error(print(change(classes, "state", numbers$state)), "`feature_names` must be|`n_outputs` must be",
               class = "gbt_error_argument")
  expect_error(plot(change(classes, "evaluation_log", 1)), "`evaluation_log` must be", class = "gbt_error_argument")
})

test_that("a file whose description lacks what methods need is refused", {
  without <- function(part, value = NULL) {
    fields <- stored_fields(classes)
    fields$params[part] <- value
    .Call(C_gbt_model_slice, classes$state, c(0, 3), model_meta(fields))
  }
  for (part in c("num_parallel_tree", "eval_metric")) {
    expect_error(gbt_model_from_state(without(part)), class = "gbt_error_format")
  }
  expect_error(gbt_model_from_state(without("num_parallel_tree", 2)), "num_parallel_tree", class = "gbt_error_format")
  expect_error(gbt_model_from_state(without("eta", list(list(1)))), "`eta`", class = "gbt_error_format")
})

test_that("a change to a checked model is seen", {
  m <- classes
  predict(m, iris)
  m$params$num_parallel_tree <- 2
  expect_error(predict(m, iris), "num_parallel_tree", class = "gbt_error_argument")
  m <- classes
  m$best_round <- 1L
  expect_identical(predict(m, iris), predict(classes, iris, trees = 1))
  m$best_round <- NULL
  expect_identical(predict(m, iris), predict(classes, iris, trees = 3))
})

test_that("reading a description takes time in proportion to its size", {
  time <- function(n) {
    items <- stats::setNames(rep(list(1L), n), paste0("params/1/", seq_len(n)))
    meta <- c(list("params:list" = 1L, "params/1:list" = as.integer(n)), items)
    once <- function() system.time(expect_identical(unpack(meta, "params"), list(rep(list(1L), n))))[["user.self"]]
    min(once(), once(), once()) # what else the machine does only adds to it
  }
  expect_lt(time(16000), 16 * max(time(2000), 0.02)) # 64 times when every item looks at all names
})

test_that("what a user adds is saved when it is plain data, else a warning names it", {
  file <- withr::local_tempfile()
  m <- classes
  m$note <- c("for May", NA, "\u00e9")
  m$numbers <- list(a = 1.5, b = list(TRUE, NA, 1:3), NULL)
  m["nothing"] <- list(NULL)
  expect_no_warning(gbt_save(m, file))
  back <- gbt_load(file)
  for (name in c("note", "numbers", "nothing")) expect_identical(back[[name]], m[[name]])
  expect_true("nothing" %in% names(back))
  expect_identical(predict(back, iris), predict(m, iris))
  first <- bytes_to_save(back)
  gbt_save(back, file)
  expect_identical(readBin(file, "raw", 1e6), first) # and again, the same bytes
  expect_identical(m[1:2]$note, m$note)
  back$note <- back$numbers <- back$nothing <- NULL
  gbt_save(back, file)
  expect_identical(readBin(file, "raw", 1e6), bytes_to_save(classes))

  m$expression <- quote(f(x))
  m$frame <- iris
  m$deep <- list(1, list(factor("a")))
  attr(m, "comment") <- "mine"
  class(m) <- c("mine", "gbt")
  expect_snapshot(invisible(gbt_save(m, file)))
  expect_identical(gbt_load(file)$note, m$note)
  expect_warning(gbt_save(m, file), class = "gbt_warning_save")
  expect_identical(m[1:2]$frame, iris)
})

test_that("a field that was changed is saved as it is now", {
  file <- withr::local_tempfile()
  m <- classes
  m$best_round <- 2L
  m$evaluation_log <- NULL
  gbt_save(m, file)
  expect_identical(gbt_load(file)$best_round, 2L)
  expect_null(gbt_load(file)$evaluation_log)
})

test_that("what a model no longer holds is freed, and fields of gbt are checked when they are replaced", {
  is_known <- function(m) .Call(C_gbt_model_known, m)
  m <- gbt_train(mpg ~ hp + wt, mtcars, nrounds = 2, threads = 1)
  expect_true(is_known(m))
  gone <- 0
  for (field in c("call", "note")) { # of the call, and of the user
    data <- new.env()
    reg.finalizer(data, function(e) gone <<- gone + 1)
    m[[field]] <- list(data)
    predict(m, mtcars)
    expect_true(is_known(m))
    m[[field]] <- NULL
    rm(data)
  }
  gc()
  expect_identical(gone, 2)
  predict(m, mtcars)
  m$call <- 1
  expect_false(is_known(m))
  predict(m, mtcars)
  m$call <- 2
  expect_true(is_known(m))
  m$nrounds <- 1
  expect_false(is_known(m))
})

test_that("fields of a file that a user would have added do not replace those of gbt", {
  crafted <- function(user) {
    .Call(C_gbt_model_slice, classes$state, c(0, 3), model_meta(c(stored_fields(classes), list(user = user))))
  }
  expect_identical(gbt_model_from_state(crafted(list(a = 1)))$a, 1)
  for (user in list(list(1), list(state = 1), list(a = 1, a = 2), 1, list(nrounds = 5L))) {
    expect_error(gbt_model_from_state(crafted(user)), class = "gbt_error_format")
  }
})

test_that("a model is a cell of a table, no vector and no table", {
  expect_identical(format(classes), "<gbt: softmax, 3 rounds, 4 features>")
  table <- data.frame(i = 1:2)
  table$model <- list(classes, numbers)
  expect_snapshot(print(table))
  expect_error(c(classes, numbers), "list(a, b)", fixed = TRUE, class = "gbt_error_unsupported")
  expect_error(rbind(classes, numbers), class = "gbt_error_unsupported")
  expect_error(cbind(classes, numbers), class = "gbt_error_unsupported")
  data <- gbt_data(iris[1:4], threads = 1)
  for (combine in list(c, rbind, cbind)) {
    expect_error(combine(data, data), "gbt_data() on the whole", fixed = TRUE, class = "gbt_error_unsupported")
  }
  skip_if_not_installed("knitr")
  expect_identical(as.character(knitr::kable(classes)), as.character(knitr::kable(gbt_importance(classes))))
  expect_gt(length(knitr::kable(as.data.frame(numbers))), 2)
})
