# A model is a value: two equal ones are identical() whatever was done with them, and no reference can be found in one.
# Results hold models, so they are values, too.
d <- transform(mtcars, am = factor(am))
regression <- function(...) gbt_train(mpg ~ wt + log(hp), d, nrounds = 5, seed = 1, threads = 1, ...)
binary <- function() gbt_train(am ~ wt + hp, d, nrounds = 5, seed = 1, threads = 1)
cross <- function(...) gbt_cv(mpg ~ wt + hp, d, nrounds = 3, folds = 3, seed = 1, threads = 1, ...)

# External pointers, weak references and environments that serialize() meets anywhere in x.
references <- function(x) {
  found <- character(0)
  serialize(x, NULL, refhook = function(r) {
    found <<- c(found, typeof(r))
    "reference"
  })
  found
}

results <- list(
  formula = regression,
  matrix = function() gbt_train(as.matrix(mtcars[-1]), mtcars$mpg, nrounds = 3, threads = 1),
  stopped_early = function() regression(valid = 0.3, early_stopping_rounds = 2),
  ensemble = function() regression(ensemble = 2),
  own_objective = function() gbt_train(mpg ~ wt, mtcars, nrounds = 2, threads = 1, objective = list(
    gradient = function(score, label) score - label, hessian = function(score, label) 1 + 0 * score)),
  callback = function() regression(eval_train = TRUE, callbacks = list(gbt_cb_record(new.env()))),
  slice = function() regression()[2:3],
  going_on = function() regression(init_model = regression()),
  read = function() gbt_load(regression()$state),
  update = function() update(regression(), nrounds = 2),
  engine = function() gbt_engine_fit(mtcars[-1], mtcars$mpg, trees = 3, threads = 1),
  cv = cross,
  cv_models = function() cross(keep_models = TRUE),
  refit = function() gbt_refit(cross()),
  calibrated = function() gbt_calibrate(binary(), d),
  conformal = function() gbt_conformal(regression(), d),
  conformal_cv = function() gbt_conformal(cross(keep_models = TRUE), d),
  summary = function() summary(regression()),
  evaluation = function() gbt_evaluate(regression(), d),
  importance = function() gbt_importance(regression()),
  shap = function() gbt_shap(regression(), d),
  partial = function() gbt_partial(regression(), d, "wt"),
  interactions = function() gbt_interactions(regression(), d, seed = 1),
  monitor = function() gbt_monitor(regression(), d, d),
  monitor_reference = function() gbt_monitor_reference(regression(), d),
  neighbours = function() gbt_neighbours(regression(), d)
)

test_that("two results of one call are identical, byte by byte when written, and hold no reference", {
  for (name in names(results)) {
    a <- results[[name]]()
    b <- results[[name]]()
    expect_identical(references(a), character(0), label = name)
    expect_true(identical(a, b), label = name)
    expect_true(isTRUE(all.equal(a, b)), label = name)
    expect_true(identical(serialize(a, NULL), serialize(b, NULL)), label = name)
    expect_true(identical(object.size(a), object.size(b)), label = name)
    expect_true(identical(unserialize(serialize(a, NULL)), a), label = name)
  }
})

test_that("what is done with a model does not show in it", {
  m <- regression()
  fresh <- regression()
  bytes <- serialize(m, NULL)
  file <- withr::local_tempfile()
  uses <- list(
    predict = function(m) predict(m, d, threads = 1), leaf = function(m) predict(m, d, type = "leaf", threads = 1),
    nodes = as.data.frame, print = function(m) utils::capture.output(print(m)), importance = gbt_importance,
    data = function(m) predict(m, gbt_data(d[c("wt", "hp")], threads = 1), threads = 1),
    save = function(m) gbt_save(m, file), copy = function(m) {
      m$note <- 1
      predict(m, d, threads = 1)
    }
  )
  for (name in names(uses)) {
    try(uses[[name]](m), silent = TRUE)
    expect_true(identical(m, fresh), label = name)
    expect_true(identical(serialize(m, NULL), bytes), label = name)
    expect_identical(references(m), character(0), label = name)
  }
  for (version in 2:3) {
    back <- unserialize(serialize(m, NULL, version = version))
    expect_true(identical(back, fresh))
    predict(back, d, threads = 1)
    expect_true(identical(back, fresh))
    expect_true(identical(serialize(back, NULL), bytes))
  }
  saveRDS(m, file)
  expect_true(identical(readRDS(file), fresh))
  expect_false(identical(m, regression(eta = 0.5)))
})

test_that("copies of a model and a model that was read are opened once", {
  held <- function() gbt_info()$memory
  opened <- function(m, times) {
    before <- held()
    for (i in seq_len(times)) predict(m, d, threads = 1)
    held() - before
  }
  m <- regression()
  opened(m, 20) # after some rows an opened model keeps its trees in another form, too
  gc()
  expect_identical(opened(m, 5), 0)
  copy <- m
  copy$note <- "mine"
  expect_identical(opened(copy, 5), 0)
  for (version in 2:3) {
    back <- unserialize(serialize(m, NULL, version = version))
    gc()
    expect_gt(opened(back, 20), 0)
    expect_identical(opened(back, 5), 0)
    all <- list(one = back, other = 1)
    expect_identical(opened(all$one, 5), 0)
  }
  skip_if_not_installed("data.table")
  table <- data.table::copy(data.table::data.table(model = list(m))) # copies to the last element
  expect_gt(opened(table$model[[1L]], 20), 0)
  expect_identical(opened(table$model[[1L]], 5), 0)
})

test_that("models that nobody holds any more leave nothing behind", {
  skip_on_cran()
  bytes <- serialize(gbt_train(mpg ~ wt, mtcars, nrounds = 1, threads = 1), NULL)
  one <- as.matrix(mtcars[1, "wt", drop = FALSE])
  use <- function(m) predict(m, one, threads = 1)
  p <- use(unserialize(bytes))
  gc()
  before <- gbt_info()$memory
  same <- 0
  n <- if (long_form()) 300 else 100
  for (i in seq_len(n)) same <- same + identical(use(unserialize(bytes)), p)
  for (i in 1:20) use(gbt_train(mpg ~ wt, mtcars, nrounds = 1, threads = 1))
  gc()
  expect_identical(same, n)
  expect_identical(gbt_info()$memory, before)
})

test_that("files of versions that kept an external pointer in a model are read", {
  m <- regression()
  p <- predict(m, d, threads = 1)
  pointer <- unclass(gbt_data(d["wt"], threads = 1))$ptr
  text <- rawToChar(serialize(pointer, NULL, ascii = TRUE))
  expect_match(text, "11\ngbt_dataset\n", fixed = TRUE)
  empty <- unserialize(charToRaw(sub("11\ngbt_dataset\n", "9\ngbt_model\n", text, fixed = TRUE)))
  old <- unclass(m)
  for (cache in list(empty, pointer, methods::new("externalptr"), NULL, raw(3), 1:3, "text", list())) {
    old["cache"] <- list(cache)
    expect_identical(predict(structure(old, class = "gbt"), d, threads = 1), p)
  }
  swapped <- regression()
  swapped$cache <- regression(eta = 0.9)$cache
  expect_identical(predict(swapped, d, threads = 1), p)
})

test_that("what is written to a cache is a copy's alone", {
  m <- regression()
  cache <- m$cache
  expect_identical(cache, raw(0))
  attr(cache, "mine") <- 1
  expect_null(attributes(m$cache))
  expect_identical(c(cache, as.raw(1)), as.raw(1))
  expect_identical(cache[1], as.raw(0))
  expect_identical(rev(m$cache), raw(0))
  noted <- unserialize(serialize(m, NULL))
  attr(noted$cache, "mine") <- 1
  predict(noted, d, threads = 1)
  expect_identical(attr(noted$cache, "mine"), 1)
})

test_that("models go into futures where references are forbidden", {
  skip_if_not_installed("future")
  withr::local_options(future.globals.onReference = "error")
  m <- regression()
  predict(m, d, threads = 1)
  f <- future::future(nchar(paste(names(m), collapse = "")), lazy = TRUE, globals = list(m = m))
  expect_identical(future::value(f), nchar(paste(names(m), collapse = "")))
  expect_error(future::value(future::future(names(x), lazy = TRUE, globals = list(x = gbt_data(d["wt"], threads = 1)))),
               "reference")
})

test_that("models stay what they are when the package is unloaded and loaded again", {
  skip_on_cran()
  child <- start_child(quote({
    model <- gbt_train(mtcars[-1], mtcars$mpg, nrounds = 2, threads = 1)
    before <- predict(model, mtcars, threads = 1)
    bytes <- serialize(model, NULL)
    for (i in 1:2) {
      unloadNamespace("gbt")
      gone <- unserialize(bytes)
      gc()
      say("unloaded", identical(serialize(model, NULL), bytes) && identical(gone, model))
      library(gbt)
      say("loaded", identical(predict(model, mtcars, threads = 1), before))
    }
    rm(model, gone)
    unloadNamespace("gbt")
    gc()
    say("collected")
  }))
  for (i in 1:2) for (word in c("unloaded", "loaded")) expect_identical(wait_for(child, word, i)[3L], "TRUE")
  expect_length(wait_for(child, "collected"), 2L)
})
