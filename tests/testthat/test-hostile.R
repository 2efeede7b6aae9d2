# What nobody would do on purpose: each of these once crashed R, hung, lied or raised an error that explained nothing.

x <- iris[1:4]
y <- iris$Sepal.Length
fit <- function(...) gbt_train(x, y, nrounds = 2, threads = 1, ...)

test_that("a model's bytes are kept alive themselves, not a copy of them", {
  model <- gbt_train(x, y, nrounds = 1, threads = 1, num_parallel_tree = 3000)
  used <- function() sum(gc(full = TRUE)["Vcells", 1L]) * 8
  before <- used()
  models <- lapply(1:5, function(i) gbt_train(x, y, nrounds = 1, threads = 1, num_parallel_tree = 3000, seed = i))
  bytes <- sum(vapply(models, function(m) length(m$state), 0))
  expect_gt(bytes, 5e6)
  expect_lt(used() - before, 1.3 * bytes)
})

test_that("a training within a callback may use the same data with other labels", {
  data <- gbt_data(x, label = iris$Species, threads = 1)
  plain <- gbt_train(data, nrounds = 5, threads = 1)
  inner <- function(now) {
    gbt_train(data, as.double(1:150) * 1e9, nrounds = 1, weights = rep(1:2, 75), threads = 1)
    gc()
    FALSE
  }
  expect_identical(gbt_train(data, nrounds = 5, threads = 1, callbacks = inner)$state, plain$state)

  held <- gbt_data(x, label = iris$Species, reference = data, threads = 1)
  other <- held
  other$label <- as.double(1:150) * 1e9
  logged <- function(...) gbt_train(data, nrounds = 5, threads = 1, valid = held, eval_metric = "merror", ...)
  again <- logged(callbacks = function(now) {
    gbt_train(data, as.double(1:150), nrounds = 1, valid = other, threads = 1)
    FALSE
  })
  expect_identical(again$evaluation_log, logged()$evaluation_log)
  expect_error(gbt_train(data, nrounds = 1, threads = 1, valid = list(a = held, b = held)), "same gbt_data",
               class = "gbt_error_argument")
})

test_that("a time limit is R's error, not an interrupt", {
  skip_on_cran()
  n <- 20000
  big <- matrix(stats::runif(20 * n), n)
  before <- gbt_last_interrupted()
  limited <- function(seconds) {
    setTimeLimit(elapsed = seconds, transient = TRUE)
    on.exit(setTimeLimit())
    gbt_train(big, big[, 1L], nrounds = 1e6, grow_policy = "symmetric", max_depth = 6, threads = 1)
  }
  for (seconds in c(0.3, 3, 30)) { # time for a round, also where the machine is busy
    caught <- tryCatch(limited(seconds), error = function(e) e, interrupt = function(c) c)
    expect_s3_class(caught, "simpleError")
    expect_match(conditionMessage(caught), gettext("reached elapsed time limit", domain = "R"), fixed = TRUE)
    if (!is.null(gbt_last_interrupted()) && !identical(gbt_last_interrupted(), before)) break
  }
  expect_gt(length(gbt_last_interrupted()), 0)
  expect_equal(nobs(gbt_last_interrupted()), n)
  expect_null(take_kept_error())
})

test_that("gbt_save replaces files and nothing else", {
  skip_on_os("windows")
  folder <- withr::local_tempdir()
  model <- fit()
  pipe <- file.path(folder, "pipe")
  skip_if(suppressWarnings(system2("mkfifo", shQuote(pipe), stderr = FALSE)) != 0, "no mkfifo")
  expect_error(gbt_save(model, pipe), "is not a file", class = "gbt_error_io")
  expect_error(gbt_save(model, folder), "is not a file", class = "gbt_error_io")
  expect_identical(list.files(folder), "pipe")
  expect_true(is.na(file.info(pipe)$size) || !utils::file_test("-f", pipe) || file.size(pipe) == 0)

  file <- file.path(folder, "model.gbt")
  link <- file.path(folder, "link")
  gbt_save(model, file)
  Sys.chmod(file, "0600")
  file.symlink(file, link)
  gbt_save(model[1], link)
  expect_true(nzchar(Sys.readlink(link)))
  expect_identical(length(gbt_load(file)), 1L)
  expect_identical(format(file.mode(file)), "600")
})

test_that("a pipe where a file is expected is refused, and nothing waits for its other end", {
  skip_on_os("windows")
  folder <- withr::local_tempdir()
  bins <- file.path(folder, "bins")
  gbt_data(mtcars[-1], mtcars$mpg, path = bins, threads = 1)
  copies <- file.path(folder, c("index", "pages", "checkpoint", "draft"))
  for (copy in copies) {
    dir.create(copy)
    if (basename(copy) %in% c("index", "pages")) file.copy(list.files(bins, full.names = TRUE), copy)
  }
  pages <- basename(list.files(bins, "^pages"))
  pipes <- file.path(folder, c("index/gbt-dataset", file.path("pages", pages), "checkpoint/gbt-checkpoint",
                               "draft/gbt-checkpoint.new", "model.gbt", "a.csv", "a.csv.gz"))
  unlink(pipes)
  made <- vapply(pipes, function(pipe) suppressWarnings(system2("mkfifo", shQuote(pipe), stderr = FALSE)) == 0, NA)
  skip_if_not(all(made), "no mkfifo")
  child <- start_child(bquote({ # where it waited, no error would come and the child be ended
    class_of <- function(word, code) say(word, class(tryCatch(code, error = identity))[1L])
    train <- function(...) gbt_train(..., nrounds = 1, seed = 1, threads = 1)
    class_of("index", gbt_open(.(copies[1L])))
    class_of("pages", train(gbt_open(.(copies[2L]))))
    class_of("checkpoint", train(mpg ~ ., mtcars, checkpoint = .(copies[3L])))
    class_of("draft", train(mpg ~ ., mtcars, checkpoint = .(copies[4L])))
    class_of("model", gbt_load(.(pipes[5L])))
    if (requireNamespace("data.table", quietly = TRUE)) {
      class_of("text", gbt_data(gbt_files(.(pipes[6L]), label = "y")))
      class_of("packed", gbt_data(gbt_files(.(pipes[7L]), label = "y")))
      class_of("folder", gbt_data(gbt_files(.(folder), label = "y")))
    }
  }))
  words <- c("index", "pages", "checkpoint", "draft", "model",
             if (requireNamespace("data.table", quietly = TRUE)) c("text", "packed", "folder"))
  for (word in words) expect_identical(wait_for(child, word)[3L], "gbt_error_io", info = word)
})

test_that("broken factors are refused", {
  column <- function(codes, levels) data.frame(a = 1:4, z = structure(codes, levels = levels, class = "factor"))
  train <- function(codes, levels) gbt_train(column(codes, levels), 1:4, nrounds = 1, threads = 1)
  latin1 <- "\xe9"
  Encoding(latin1) <- "latin1"
  expect_error(train(c(1L, 2L, 1L, 2L), c("a", "a")), "there twice", class = "gbt_error_data")
  expect_error(train(c(1L, 2L, 1L, 2L), c(latin1, "\u00e9")), "there twice", class = "gbt_error_data")
  expect_error(train(c(1L, 9L, 1L, 2L), c("a", "b")), "no level 9", class = "gbt_error_data")

  classes <- function(codes, levels) {
    gbt_train(data.frame(a = 1:4), structure(codes, levels = levels, class = "factor"), nrounds = 1, threads = 1)
  }
  expect_error(classes(c(1L, 2L, 1L, 2L), c("a", "a")), "there twice", class = "gbt_error_data")
  expect_error(classes(c(1L, 9L, 1L, 2L), c("a", "b")), "without a level", class = "gbt_error_data")
  expect_error(classes(c(0L, 1L, 1L, 2L), c("a", "b")), "without a level", class = "gbt_error_data")
  expect_error(classes(c(1L, 2L, 1L, 2L), c("a", NA)), "level NA", class = "gbt_error_data")
})

test_that("odd columns are refused by their names", {
  train <- function(v) gbt_train(data.frame(a = 1:4, z = v), 1:4, nrounds = 1, threads = 1)
  expect_error(train(structure(1:4 + 0, class = "difftime", units = "fortnights")), "`z`.*unit",
               class = "gbt_error_data")
  expect_error(train(structure(1:4 + 0, class = "difftime")), "`z`.*unit", class = "gbt_error_data")
  expect_s3_class(train(structure(letters[1:4], class = "Date")), "gbt") # texts, whatever they say they are
})

test_that("sparse matrices with broken slots are refused before package Matrix sees them", {
  skip_if_not_installed("Matrix")
  make <- function(class, ..., dim = c(4L, 2L), names = list(NULL, c("a", "b"))) {
    m <- methods::new(methods::getClass(class, where = asNamespace("Matrix")))
    slots <- list(..., Dim = dim, Dimnames = names)
    for (s in names(slots)) methods::slot(m, s, check = FALSE) <- slots[[s]]
    m
  }
  by_column <- function(p = c(0L, 2L, 3L), i = c(0L, 2L, 1L), x = c(1, 2, 3), ...) {
    make("dgCMatrix", p = p, i = i, x = x, ...)
  }
  train <- function(m, ...) gbt_train(m, 1:4, nrounds = 1, threads = 1, ...)
  model <- train(by_column())
  broken <- list(
    by_column(p = c(0L, 2L, 9L)), by_column(p = c(0L, 3L, 2L)), by_column(p = c(0L, NA, 3L)), by_column(p = c(0L, 2L)),
    by_column(p = c(1L, 2L, 3L)), by_column(x = c(1, 2)), by_column(dim = c(-4L, 2L)), by_column(dim = c(4L, NA)),
    by_column(names = list(NULL, c("a", "b", "c"))),
    make("dgRMatrix", p = c(0L, 1L, 9L, 2L, 3L), j = c(0L, 1L, 5L), x = c(1, 2, 3)), # crashes Matrix
    make("dgTMatrix", i = c(0L, 7L), j = c(0L, 1L), x = c(1, 2))
  )
  for (m in broken) {
    expect_error(train(m), "is broken", class = "gbt_error_data")
    expect_error(train(m, valid = 0.5), "is broken", class = "gbt_error_data")
    expect_error(predict(model, m), "is broken", class = "gbt_error_data")
  }
})

test_that("a validation matrix without names needs as many columns", {
  m <- matrix(stats::runif(8), 4)
  for (k in c(1L, 3L)) {
    expect_error(gbt_train(m, 1:4, nrounds = 1, threads = 1, valid = list(x = matrix(1, 4, k), y = 1:4)),
                 "must have the 2 columns", class = "gbt_error_data")
  }
})

test_that("arguments of any type are refused by name", {
  odd <- list(mean, globalenv(), quote(a), list(1), 1i, iris)
  for (v in odd) {
    expect_error(do.call(fit, list(eta = v), quote = TRUE), "`eta`", class = "gbt_error_argument")
    expect_error(do.call(gbt_train, list(Species ~ ., iris, subset = v, nrounds = 1), quote = TRUE), "subset",
                 class = "gbt_error")
  }
  for (v in list(NA, 5, list(1), "", "no_such_function")) {
    expect_error(gbt_train(Species ~ ., iris, na.action = v, nrounds = 1), "`na.action`", class = "gbt_error_argument")
  }
  first <- function(d) d[1:10, ]
  expect_error(gbt_train(Species ~ ., iris, na.action = first, nrounds = 1), "`na.action` must say",
               class = "gbt_error_argument")
  expect_error(gbt_train(Species ~ ., iris, subset = c(-1, 1), nrounds = 1), "`subset`", class = "gbt_error_argument")
  expect_error(gbt_train(x, iris$Species, num_class = 1e300), "`num_class", class = "gbt_error_argument")
  expect_error(fit()[c(-1, 1)], class = "gbt_error_argument")
})

test_that("a metric may be infinite", {
  endless <- function(value, maximise) {
    gbt_train(x, y, nrounds = 9, valid = 0.3, seed = 1, early_stopping_rounds = 2, threads = 1,
              eval_metric = gbt_metric("m", function(pred, label) value, maximise))
  }
  expect_identical(endless(Inf, FALSE)$best_round, 1L)
  expect_identical(endless(-Inf, TRUE)$best_round, 1L)
})

test_that("columns of the log are told apart", {
  own <- list(gbt_metric("b_c", function(pred, label) 1), gbt_metric("c", function(pred, label) 2))
  sets <- list(a = list(x = x, y = y), a_b = list(x = x, y = y))
  expect_error(fit(valid = sets, eval_metric = own), "\"a_b_c\"", class = "gbt_error_argument")
  expect_error(fit(valid = stats::setNames(sets, c("\xff", "b"))), "not valid text", class = "gbt_error_data")
})

test_that("integer64 weights and offsets count as what they are", {
  skip_if_not_installed("bit64")
  bits <- function(n) structure(rep(n * 2^-1074, 150), class = "integer64")
  expect_identical(predict(fit(weights = bits(5)), x), predict(fit(weights = rep(5, 150)), x))
  expect_identical(fit(offset = bits(5))$state, fit(offset = rep(5, 150))$state)
})

test_that("models with changed fields are refused, not believed", {
  model <- gbt_train(Species ~ ., iris, nrounds = 2, threads = 1)
  changed <- function(field, value) {
    m <- unclass(model)
    m[field] <- list(value)
    structure(m, class = "gbt")
  }
  fields <- c("objective", "classes", "response", "feature_names", "feature_types", "n_outputs", "nrounds", "params",
              "has_offset", "best_round", "terms")
  for (field in fields) {
    for (value in list(NA, 1e9, list(1), 1.5)) {
      if (field == "params" && is.list(value)) next
      m <- changed(field, value)
      expect_error(predict(m, iris), "fields were changed", class = "gbt_error_argument")
      expect_error(gbt_importance(m), "fields were changed", class = "gbt_error_argument")
      for (judged in list(m, list(changed = m))) { # asked without a prediction
        expect_error(gbt_curve(judged, iris), "fields were changed", class = "gbt_error_argument")
      }
      expect_error(gbt_confusion(m, iris), "fields were changed", class = "gbt_error_argument")
      expect_error(gbt_train(iris[-5], iris$Species, init_model = m), "fields were changed",
                   class = "gbt_error_argument")
    }
  }
  swapped <- model
  swapped$cache <- fit()$cache
  expect_identical(predict(swapped, iris), predict(model, iris))
})

test_that("formulas may be long, and nonsense is refused", {
  wide <- as.data.frame(matrix(stats::runif(4000 * 10), 10))
  long <- stats::reformulate(names(wide), "y")
  wide$y <- 1:10
  expect_identical(variable.names(gbt_train(long, wide, nrounds = 1, threads = 1)), setdiff(names(wide), "y"))
  expect_identical(variable.names(gbt_train(y ~ V3 + . - V1 - (V2) - y, wide, nrounds = 1, threads = 1))[1:2],
                   c("V3", "V4"))
  for (f in list(mpg ~ "wt", mpg ~ 5, mpg ~ ~wt, mpg ~ mpg + wt, log(mpg) ~ wt + log(mpg))) {
    expect_error(gbt_train(f, mtcars, nrounds = 1, threads = 1), class = "gbt_error_argument")
  }
})

test_that("arguments of odd kinds are refused in words", {
  refused <- function(expr, text) expect_error(expr, text, fixed = TRUE, class = "gbt_error_argument")
  m <- gbt_train(mtcars[-1], mtcars$mpg, nrounds = 1, threads = 1)
  big <- structure(1, class = "integer64") # of bits that mean 4.6e18
  refused(gbt_train(mtcars[-1], mtcars$mpg, lambda = big, threads = 1), "`lambda` must be one number")
  refused(gbt_cb_print(big), "`every` must be one whole number")
  for (digits in list(NA, FALSE, -1, "a", 1i, as.raw(1), 2^31, factor("a"), matrix(1:4, 2))) {
    refused(print(m, digits = digits), "`digits` must be one whole number from 1 to 22")
    refused(print(summary(m), digits = digits), "`digits`")
    refused(print(gbt_importance(m), digits = digits), "`digits`")
  }
  expect_output(print(m, digits = NULL), "<gbt>")
  refused(gbt_cb_record(emptyenv()), "`into` is an environment that cannot be written to")
  locked <- new.env()
  lockEnvironment(locked)
  refused(gbt_cb_record(locked), "`into` is an environment that cannot be written to")
  for (na.action in list(sum, function() 1, strrep("long", 3000), `Encoding<-`("a\xff", "bytes"), stats::na.fail)) {
    gaps <- transform(mtcars, hp = ifelse(hp > 200, NA, hp))
    refused(gbt_train(mpg ~ hp, gaps, na.action = na.action, nrounds = 1, threads = 1), "`na.action`")
  }
  broken <- structure(3L, levels = "a", class = "factor")
  refused(gbt_train(mtcars[-1], mtcars$mpg, cat_features = broken, threads = 1), "`cat_features` names `NA`")
  refused(gbt_train(structure(list(), class = "gbt_data"), 1:3), "a gbt_data object is expected")
  refused(gbt_save(m, `Encoding<-`("a\xff", "bytes")), "`file` must be one path")
  refused(gbt_train(mtcars[-1], mtcars$mpg, device = "\uffff"), "`device` must be one of")
})

test_that("lists, classes that lie and broken factors are refused where vectors are wanted", {
  m <- gbt_train(mpg ~ wt + cyl, mtcars, nrounds = 2, threads = 1)
  lying <- structure(list(), class = "gbt_test_lying")
  registerS3method("length", "gbt_test_lying", function(x) 5L, asNamespace("base"))
  expect_error(gbt_curve(mtcars$mpg, mtcars$wt, weights = list(1)), "`weights` must be numbers, not a list",
               class = "gbt_error_data")
  expect_error(gbt_curve(m, mtcars, weights = list()), "`weights` must be numbers, not a list",
               class = "gbt_error_data")
  expect_error(gbt_evaluate(m, mtcars, by = lying), "`by` must be vectors or names of columns",
               class = "gbt_error_argument")
  expect_error(gbt_importance(m, "permutation", data = mtcars, columns = lying), "`columns` must be names of columns",
               class = "gbt_error_argument")
  x <- data.frame(f = factor(c("a", "b", "a", "b")), b = 1:4)
  k <- gbt_train(x, c(1, 2, 1, 2), nrounds = 2, threads = 1)
  broken <- structure(3L, levels = "a", class = "factor")
  expect_error(gbt_partial(k, x, "f", values = broken, method = "ale"), "`values` of `f` are a broken factor",
               class = "gbt_error_argument")
  expect_error(gbt_partial(k, x, "f", values = `Encoding<-`("a\xff", "bytes")), "not valid text",
               class = "gbt_error_data")
  expect_error(gbt_partial(k, x["f"], "f", method = "ale"), "`b`", class = "gbt_error_data")
  classes <- gbt_train(Species ~ ., iris, nrounds = 2, threads = 1)
  for (odd in list(sum, globalenv(), list(1), broken)) {
    expect_error(gbt_curve(classes, iris, class = odd), "`class` must be one class", class = "gbt_error_argument")
  }
  expect_error(gbt_export(m, "a\xff"), class = "gbt_error_argument")
  fan <- gbt_train(mpg ~ wt, mtcars, objective = "quantile", quantile_alpha = c(0.1, 0.5, 0.9), nrounds = 2,
                   threads = 1)
  expect_error(gbt_fan(fan, mtcars, "wt", offset = quote(a)), class = "gbt_error")
  drawn <- gbt_fan(fan, mtcars, "wt", threads = 1)
  drawn$rows <- "many"
  expect_error(plot(drawn), class = "gbt_error_result")
  both <- gbt_train(mtcars[3:6], mtcars[1:2], objective = "squared_error", nrounds = 2, threads = 1)
  acting <- gbt_interactions(both, mtcars, threads = 1)
  acting$output <- 1
  expect_error(plot(acting), "no rows of gbt_interactions", class = "gbt_error_argument")
})
