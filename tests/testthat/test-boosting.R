# Ordered boosting as the user sees it; that it follows its definition is shown by the native tests.

small <- local({
  set.seed(4, kind = "Mersenne-Twister", sample.kind = "Rejection")
  d <- data.frame(x = rnorm(400), f = factor(sample(letters[1:12], 400, TRUE)))
  d$y <- as.numeric(runif(400) < plogis(d$x + (d$f %in% c("a", "b", "c"))))
  d
})
fit <- function(..., boosting = "ordered", threads = 2) {
  gbt_train(y ~ ., small, objective = "logistic", nrounds = 8, boosting = boosting, threads = threads, seed = 3, ...)
}
score <- function(model) predict(model, small)

test_that("ordered boosting trains, predicts and is kept", {
  ordered <- fit()
  expect_identical(ordered$params$boosting, "ordered")
  expect_false(identical(score(ordered), score(fit(boosting = "plain"))))
  expect_identical(score(fit(threads = 1)), score(ordered))
  expect_identical(score(fit(boosting_type = "Ordered", boosting = NULL)), score(ordered))
  file <- withr::local_tempfile()
  gbt_save(ordered, file)
  again <- gbt_load(file)
  expect_identical(again$params$boosting, "ordered")
  expect_identical(score(again), score(ordered))
})

test_that("it goes with statistics, validation sets and an initial model", {
  expect_false(identical(score(fit(cat_method = "target")), score(fit(cat_method = "sets"))))
  half <- rep(c(TRUE, FALSE), 200)
  held <- fit(mask = half, cat_method = "target", early_stopping_rounds = 3, valid = small[!half, ])
  expect_gt(held$best_round, 0)
  first <- fit()
  more <- fit(init_model = first)
  expect_identical(more$nrounds, 16L)
  expect_false(identical(score(more), score(fit(init_model = first, boosting = "plain"))))
})

test_that("time and group are in its order", {
  when <- rep(1:40, 10)
  expect_warning(timed <- fit(time = when), NA)
  expect_warning(grouped <- fit(group = when), NA)
  expect_false(identical(score(timed), score(fit())))
  expect_false(identical(score(grouped), score(timed)))
})

test_that("what it cannot do is refused", {
  own <- list(gradient = function(score, label) score - label, hessian = function(score, label) rep(1, length(label)))
  expect_error(gbt_train(y ~ ., small, objective = own, boosting = "ordered", nrounds = 2), "boosting = \"plain\"",
               class = "gbt_error_unsupported")
  expect_error(fit(boosting = "ordred"), "boosting", class = "gbt_error_argument")
})

# Rounds that change what earlier ones count ------------------------------------------------------------------------

numbers <- local({
  set.seed(6, kind = "Mersenne-Twister", sample.kind = "Rejection")
  x <- data.frame(a = rnorm(300), b = runif(300), f = factor(sample(letters[1:8], 300, TRUE)))
  list(x = x, y = x$a + 2 * x$b + as.integer(x$f) / 4 + rnorm(300), new = rep(c(TRUE, TRUE, FALSE), 100))
})
grown <- function(..., nrounds = 12, threads = 2) {
  gbt_train(numbers$x, numbers$y, nrounds = nrounds, max_depth = 3, seed = 2, threads = threads, ...)
}
leaves <- function(model) {
  nodes <- as.data.frame(model)
  nodes[is.na(nodes$left), c("tree", "round", "node", "value")]
}
ways <- list(
  dart = list(boosting = "dart", rate_drop = 0.4, skip_drop = 0.2), shrink = list(model_shrink_rate = 0.5),
  tail = list(tail_rounds = 4),
  all = list(boosting = "dart", rate_drop = 0.4, model_shrink_rate = 0.3, model_shrink_mode = "decreasing",
             tail_rounds = 3, normalize_type = "forest")
)

test_that("dropping rounds, shrinking and averaging train, predict and are kept", {
  plain <- predict(grown(), numbers$x)
  for (way in ways) {
    model <- do.call(grown, way)
    expect_false(identical(predict(model, numbers$x), plain))
    expect_same_bytes(do.call(grown, c(way, threads = 1))$state, model$state)
    expect_identical(model$params[names(way)], way)
    file <- withr::local_tempfile()
    gbt_save(model, file)
    expect_identical(predict(gbt_load(file), numbers$x), predict(model, numbers$x))
  }
  expect_identical(grown(booster = "dart", drop_rate = 0.4, skip_drop = 0.2)$state, do.call(grown, ways$dart)$state)
  expect_identical(grown(model_shrink_rate = 0.5, model_shrink_mode = "Constant")$state,
                   do.call(grown, ways$shrink)$state)
})

test_that("a tail is the mean of its models", {
  model <- grown(tail_rounds = 4)
  plain <- grown()
  score <- sapply(9:12, function(n) predict(plain, numbers$x, trees = n, type = "link"))
  expect_equal(predict(model, numbers$x, type = "link"), rowMeans(score), tolerance = 1e-12)
  expect_equal(leaves(model)$value, leaves(plain)$value * (c(rep(1, 9), 3:1 / 4)[leaves(plain)$round]),
               tolerance = 1e-12)
  expect_equal(predict(grown(tail_rounds = 1000), numbers$x),
               rowMeans(sapply(1:12, function(n) predict(plain, numbers$x, trees = n))), tolerance = 1e-12)
})

test_that("shrinking follows its formula", {
  first <- leaves(grown(nrounds = 1, eta = 0.2))
  constant <- leaves(grown(nrounds = 2, eta = 0.2, model_shrink_rate = 0.5))
  expect_equal(constant$value[constant$round == 1], first$value * (1 - 0.5 * 0.2), tolerance = 1e-14)
  falling <- leaves(grown(nrounds = 3, model_shrink_rate = 0.5, model_shrink_mode = "decreasing", eta = 0.2))
  expect_equal(falling$value[falling$round == 1], first$value * (1 - 0.5) * (1 - 0.25), tolerance = 1e-14)
  # the constant does not shrink
  moved <- gbt_train(numbers$x, numbers$y + 1024, nrounds = 12, max_depth = 3, seed = 2, threads = 1,
                     model_shrink_rate = 0.5)
  expect_equal(predict(moved, numbers$x), predict(do.call(grown, ways$shrink), numbers$x) + 1024, tolerance = 1e-10)
})

test_that("early stopping leaves the model of the best round, and the log goes on", {
  for (way in ways) {
    call <- c(list(mask = numbers$new, early_stopping_rounds = 3, nrounds = 200, eta = 0.5), way)
    model <- do.call(grown, call)
    n <- model$best_round
    expect_identical(model$nrounds, n)
    expect_identical(nrow(model$evaluation_log), n + 3L)
    expect_identical(model$masked_out, predict(model, numbers$x[!numbers$new, ]))
    same <- do.call(grown, utils::modifyList(call, list(nrounds = n, early_stopping_rounds = 0)))
    expect_identical(predict(same, numbers$x), predict(model, numbers$x))
    if (is.null(way$tail_rounds)) {
      rmse <- sqrt(mean((model$masked_out - numbers$y[!numbers$new])^2))
      expect_equal(model$best_score, rmse, tolerance = 1e-12)
    }
    refitted <- do.call(grown, utils::modifyList(call, list(nrounds = n, early_stopping_rounds = 0, mask = NULL)))
    expect_identical(refitted$nrounds, n)
    more <- do.call(grown, c(list(init_model = model, nrounds = 2, mask = numbers$new), way))
    expect_identical(more$evaluation_log$round, seq_len(n + 2L))
    expect_identical(more$nrounds, n + 2L)
  }
})

test_that("an objective by functions sees scores without the dropped rounds", {
  own <- list(gradient = function(score, label) score - label, hessian = function(score, label) rep(1, length(label)))
  from <- rep(mean(numbers$y), 300)
  for (way in ways) {
    a <- do.call(grown, c(way, list(objective = own, offset = from)))
    b <- do.call(grown, c(way, list(offset = from, cat_method = "sets")))
    expect_equal(leaves(a), leaves(b), tolerance = 1e-9)
  }
})

test_that("folds are trainings with a mask", {
  for (way in ways) {
    cv <- do.call(gbt_cv, c(list(numbers$x, numbers$y, folds = 3, nrounds = 8, max_depth = 3, seed = 2, threads = 2,
                                 keep_models = TRUE), way))
    held <- cv$folds[[1]]
    one <- do.call(gbt_train, c(list(gbt_data(numbers$x, numbers$y, threads = 1), nrounds = 8, max_depth = 3, seed = 2,
                                     threads = 1, mask = !seq_len(300) %in% held), way))
    expect_same_bytes(cv$models[[1]]$state, one$state)
    expect_identical(cv$predictions[held], one$masked_out)
  }
})

test_that("parameters of what is not asked for are refused", {
  expect_snapshot(error = TRUE, {
    grown(rate_drop = 0.2)
    grown(boosting = "ordered", normalize_type = "forest")
    grown(model_shrink_mode = "decreasing")
    grown(boosting = "dart", normalize_type = "trees")
    grown(boosting = "dart", sample_type = "weighted")
    grown(boosting = "dart", xgboost_dart_mode = FALSE)
    grown(boosting = "dart", one_drop = 1)
    grown(model_shrink_rate = 1)
    grown(tail_rounds = 0)
  })
  expect_identical(leaves(grown(rate_drop = 0, skip_drop = 0, uniform_drop = FALSE)), leaves(grown()))
  m <- gbt_train(mpg ~ ., mtcars, nrounds = 4, threads = 1) # all parameters of a model, at their defaults too
  expect_same_bytes(gbt_train(mpg ~ ., mtcars, nrounds = 4, params = m$params, threads = 1)$state, m$state)
})
