# Ranking from clicks with `position`: what is estimated, in any form of the data, what models keep, what is refused.
set.seed(4)
n <- 600
d <- data.frame(q = rep(seq_len(n / 6), each = 6), a = rnorm(n), b = rnorm(n))
d$pos <- as.integer(ave(-(d$b + rnorm(n)), d$q, FUN = rank))
d$click <- as.numeric(runif(n) < plogis(d$a) / d$pos)
train <- function(data = d, ..., nrounds = 5) {
  gbt_train(click ~ a + b, data, group = q, ..., objective = "rank_ndcg", nrounds = nrounds, seed = 1, threads = 1)
}
model <- train(position = pos)

test_that("biases fall with the position, and models with them follow what matters", {
  expect_identical(model$positions$position, as.character(1:6))
  expect_lt(model$positions$bias[6], model$positions$bias[1])
  by_a <- function(m) cor(predict(m, d), d$a, method = "kendall")
  expect_gt(by_a(train(position = pos, nrounds = 20)), by_a(train(nrounds = 20)))
  ratio <- train(position = pos, position_bias = "ratio")$positions
  expect_named(ratio, c("position", "plus", "minus"))
  expect_identical(c(ratio$plus[1], ratio$minus[1]), c(1, 1))
  expect_lt(ratio$plus[6], ratio$plus[1])
  expect_lt(max(abs(train(position = pos, position_reg = 10)$positions$bias)), max(abs(model$positions$bias)))
  expect_output(print(model), "positions biases 1 ", fixed = TRUE)
  expect_output(print(summary(model)), "positions biases 1 ", fixed = TRUE)
  expect_no_match(capture.output(print(train()))[1], "position")
})

test_that("positions come in any form, and the order of rows plays no part", {
  same <- function(m) {
    expect_identical(m$positions$bias, model$positions$bias)
    expect_identical(predict(m, d), predict(model, d))
  }
  x <- d[c("a", "b")]
  fit <- function(x, ...) gbt_train(x, ..., objective = "rank_ndcg", nrounds = 5, seed = 1, threads = 1)
  ordered <- function(data) train(data, position = pos, grad_bits = 32)
  expect_identical(ordered(d[sample(n), ])$positions, ordered(d)$positions)
  same(fit(x, d$click, group = d$q, position = factor(letters[7 - d$pos], letters[6:1])))
  same(fit(x, d$click, group = d$q, position = letters[d$pos]))
  same(fit(gbt_data(x, d$click, group = d$q, threads = 1, page_rows = 100), position = d$pos))
  for (ratio in c("additive", "ratio")) {
    whole <- train(position = pos, position_bias = ratio, threads = 1)
    expect_identical(gbt_train(click ~ a + b, d, group = q, position = pos, position_bias = ratio, nrounds = 5,
                               objective = "rank_ndcg", seed = 1, threads = 2)$state, whole$state)
  }
  out <- train(position = ifelse(q <= 20, 99, pos), mask = q > 20)
  expect_identical(out$positions$position, model$positions$position) # those of the rows that are trained on
})

test_that("models keep biases and go on from them", {
  file <- withr::local_tempfile()
  gbt_save(model, file)
  expect_identical(gbt_load(file)$positions, model$positions)
  on <- train(position = pos, nrounds = 2, init_model = train(position = pos, nrounds = 3))
  expect_identical(on$positions, model$positions)
  expect_identical(predict(on, d), predict(model, d))
  folder <- withr::local_tempdir()
  for (how in c("additive", "ratio")) {
    stop_at <- function(env) if (env$round == 3) stop("no power")
    path <- file.path(folder, how)
    try(train(position = pos, position_bias = how, checkpoint = path, checkpoint_seconds = 0,
              callbacks = stop_at), silent = TRUE)
    again <- train(position = pos, position_bias = how, checkpoint = path, checkpoint_seconds = 0)
    expect_identical(again$positions, train(position = pos, position_bias = how)$positions)
  }
  expect_null(gbt:::keep_rounds(model, 2)$positions)
  two <- train(position = pos, ensemble = 2)
  expect_identical(dim(two$positions), c(6L, 2L))
  expect_identical(two$n_queries, model$n_queries)
  others <- train(position = pos + 6, position_bias = "ratio", nrounds = 2, init_model =
                    train(position = pos, position_bias = "ratio", nrounds = 1))$positions
  expect_false(any(others$plus[8:12] == 1)) # learned without rows of the first position
  expect_no_warning(train(position = replace(pos, 1, 1e300), nrounds = 1)) # a whole number
  broken <- model
  broken$positions$bias[1] <- NA
  expect_error(predict(broken, d), "positions", class = "gbt_error")
  cv <- gbt_cv(click ~ a + b, d, group = q, position = pos, objective = "rank_ndcg", nrounds = 2, seed = 1, threads = 1)
  plain <- gbt_cv(click ~ a + b, d, group = q, objective = "rank_ndcg", nrounds = 2, seed = 1, threads = 1)
  expect_false(identical(cv$evaluation_log, plain$evaluation_log))
})

test_that("positions that do not fit are errors that help", {
  expect_snapshot(error = TRUE, {
    train(position_reg = 1)
    train(position = replace(pos, 3, NA))
    train(position = pos / 2)
    train(position = replace(pos, 2, Inf))
    train(position = as.Date("2024-01-01") + pos)
    train(position = 1:3)
    train(position = pos, rank_pairs = 3, position_bias = "ratio")
    train(position = pos, position_bias = "product")
    train(position = pos, lambdarank_unbiased = TRUE)
    gbt_train(click ~ a, d, position = pos, objective = "squared_error", nrounds = 2, threads = 1)
  })
  file <- withr::local_tempfile(fileext = ".csv")
  write.csv(d, file, row.names = FALSE)
  expect_error(gbt_train(click ~ a, gbt_files(file, group = "q"), position = pos + 1, objective = "rank_ndcg"),
               "can only name a column", class = "gbt_error_unsupported")
  expect_error(gbt_train(gbt_data(d["a"], d$click, position = d$pos, threads = 1), objective = "squared_error"),
               "`position` is for ranking objectives", class = "gbt_error_argument")
  expect_error(gbt_data(d["a"], position = 1:2), "`position` has 2 values for 600 rows", class = "gbt_error_data")
})

test_that("sources name the column of positions, and prepared data and folders keep them", {
  file <- withr::local_tempfile(fileext = ".csv")
  write.csv(transform(d, place = letters[pos]), file, row.names = FALSE)
  same <- function(x, ...) {
    m <- gbt_train(x, ..., objective = "rank_ndcg", nrounds = 5, seed = 1, threads = 1)
    expect_identical(m$positions$bias, model$positions$bias)
    expect_identical(predict(m, d), predict(model, d))
  }
  files <- gbt_files(file, group = "q", columns = c("a", "b", "click", "pos", "place"))
  same(click ~ a + b, files, position = pos)
  same(click ~ a + b, files, position = d$pos)
  read <- function() gbt_files(file, label = "click", group = "q", columns = c("a", "b"))
  same(read(), position = "place")
  x <- d[c("a", "b")]
  prepared <- gbt_data(x, d$click, group = d$q, position = d$pos, threads = 1)
  expect_output(print(prepared), "with label, group, position", fixed = TRUE)
  same(prepared)
  same(prepared, position = letters[d$pos])
  expect_null(gbt_train(prepared, position = NULL, objective = "rank_ndcg", nrounds = 1, threads = 1)$positions)
  same(gbt_data(function(i) if (i <= 2) {
    at <- 300 * (i - 1) + 1:300
    list(x = x[at, ], label = d$click[at], group = d$q[at], position = factor(d$pos[at]))
  }, threads = 1))
  folder <- withr::local_tempdir()
  path <- file.path(folder, "bins")
  gbt_data(read(), position = "place", threads = 1, path = path)
  same(gbt_open(path))
  broken <- prepared
  levels(broken$position)[2] <- NA
  expect_error(gbt_train(broken), "field `position` was changed", class = "gbt_error_argument")
  for (bad in list(c(1, 2), c(1L, 3L), c(1L, NA), 1L, c(a = 1L, b = 2L))) {
    expect_error(gbt:::position_of_values(bad, c("a", "b"), 2, function() stop("bad")), "bad")
  }
  expect_error(gbt:::position_of_values(1:2, c("a", "a"), 2, function() stop("bad")), "bad")
})
