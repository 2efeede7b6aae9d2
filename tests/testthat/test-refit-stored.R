# Training once more where no call was kept: models from files, and models whose call had the data in it.

rows <- local({
  set.seed(5)
  n <- 300
  out <- data.frame(a = rnorm(n), g = factor(sample(letters[1:5], n, TRUE)), w = runif(n), e = runif(n) + 0.1,
                    code = sample(100:110, n, TRUE))
  out$a[7] <- NA
  out$y <- out$w + (out$g == "b") + rnorm(n)
  out$two <- out$y > 0.5
  out$class <- factor(sample(c("u", "v", "x"), n, TRUE))
  out$count <- stats::rpois(n, 2 * out$e)
  out
})
fit <- function(..., nrounds = 4) gbt_train(..., nrounds = nrounds, threads = 1)

from_file <- function(m, trust = FALSE) {
  file <- withr::local_tempfile()
  gbt_save(m, file)
  gbt_load(file, trust = trust)
}

without_call <- function(m) {
  m["call"] <- list(NULL)
  m["call_constants"] <- NULL
  m
}

# Both ways to train again, by what the file and what the object without its call keep.
expect_same_again <- function(m, ...) {
  for (kept in list(from_file(m), without_call(m))) {
    expect_same_bytes(gbt_refit(kept, ..., threads = 1)$state, m$state)
    expect_same_bytes(update(kept, ..., threads = 1)$state, m$state)
  }
}

test_that("a model from a file that was trained by a formula is trained again from the data alone", {
  expect_same_again(fit(y ~ a + g, rows), data = rows)
  expect_same_again(fit(two ~ ., rows, max_depth = 3, lambda = 1, gamma = 0.01), data = rows)
  expect_same_again(fit(y ~ ., rows, preset = "best"), data = rows)
  expect_same_again(fit(y ~ ., rows, preset = "fast"), data = rows)
  expect_same_again(fit(y ~ ., rows, ensemble = 2, num_parallel_tree = 2, subsample = 0.5, seed = 3), data = rows)
  expect_same_again(fit(class ~ ., rows, class_weights = "balanced", subsample = c(u = 0.5), seed = 1), data = rows)
  expect_same_again(fit(class ~ ., rows, max_leaves = 7, max_bin = 20), data = rows)
  expect_same_again(fit(count ~ a + g, rows, objective = "poisson", exposure = e), data = rows)
  expect_same_again(fit(y ~ log(w) + g + offset(e), rows), data = rows)
  expect_same_again(fit(y ~ ., rows, objective = "huber", huber_delta = 2, extra_trees = TRUE, seed = 4), data = rows)
  expect_same_again(fit(y ~ ., rows, eta = function(round) 0.3 * 0.9^round), data = rows)
  expect_same_again(fit(y ~ ., rows, cat_features = "code", cat_method = list(g = "target"), monotone = c(w = 1),
                        interactions = list(c("a", "w"), c("g", "code")), feature_weights = c(a = 0.5),
                        level_counts = "g"), data = rows)
})

test_that("so is one that was trained by columns and response, a matrix, gbt_data() or a source of rows", {
  x <- rows[c("a", "g", "e")]
  expect_same_again(fit(x, rows$class, class_weights = c(u = 3)), x = x, y = rows$class)
  expect_same_again(fit(x, rows$count, objective = "poisson", exposure = "e"), x = x, y = rows$count)
  m <- as.matrix(rows[c("a", "w")])
  expect_same_again(fit(m, rows$y), x = m, y = rows$y)
  data <- gbt_data(x, label = rows$y, weight = rows$w, max_bin = 30, threads = 1)
  expect_same_again(fit(data, max_depth = 3), x = data)
  csv <- withr::local_tempfile(fileext = ".csv")
  utils::write.csv(rows[-1], csv, row.names = FALSE)
  expect_same_again(fit(y ~ w + e, gbt_files(csv)), data = gbt_files(csv))
  expect_same_again(fit(gbt_files(csv), "y", max_depth = 2), x = gbt_files(csv), y = "y")
})

test_that("the number of rounds is the one that early stopping had chosen, or the search", {
  stopped <- fit(y ~ ., rows, valid = 0.3, early_stopping_rounds = 2, seed = 1, nrounds = 50)
  expected <- gbt_refit(stopped, threads = 1)
  expect_identical(expected$nrounds, stopped$best_round)
  expect_same_bytes(gbt_refit(from_file(stopped), data = rows, threads = 1)$state, expected$state)
  expect_same_bytes(update(from_file(stopped), data = rows, threads = 1)$state, expected$state)
  found <- gbt_train(y ~ ., rows, seed = 2, threads = 1, verbose = 0)
  again <- gbt_refit(from_file(found), data = rows, threads = 1)
  expect_identical(again$params, found$params)
  expect_identical(predict(again, rows), predict(found, rows))
})

test_that("constants of the formula come from the terms of the file", {
  p <- 2
  m <- fit(log(count + p) ~ I(a^p) + poly(w, p) + offset(e * p), rows)
  rm(p)
  expect_same_again(m, data = rows)
  day <- as.Date("2026-01-01")
  dated <- transform(rows, on = day + seq_len(300))
  m <- fit(y ~ I(on - day), dated)
  rm(day)
  expect_same_again(m, data = dated)
})

test_that("who chose a value stays known, and changes go before what the model keeps", {
  m <- fit(y ~ a + w, rows, max_depth = 3, seed = 1)
  again <- gbt_refit(from_file(m), data = rows, threads = 1)
  expect_identical(again$by_rule, m$by_rule)
  expect_identical(again$named, m$named)
  expect_identical(again$provenance[["data"]], m$provenance[["data"]])
  expect_length(again$provenance$history, 1L)
  expect_same_bytes(gbt_refit(from_file(m), data = rows, eta = 0.05, nrounds = 2, threads = 1)$state,
                    gbt_refit(m, eta = 0.05, nrounds = 2)$state)
  expect_same_bytes(update(from_file(m), . ~ . - a, data = rows, threads = 1)$state,
                    gbt_refit(m, formula = y ~ w, threads = 1)$state)
  expect_identical(variable.names(gbt_refit(from_file(m), formula = y ~ e, data = rows, threads = 1)), "e")
  early <- m # as of a file of the first versions, which do not know
  early$named <- early$by_rule <- NULL
  again <- gbt_refit(from_file(early), data = rows, threads = 1)
  expect_same_bytes(again$state, m$state)
  expect_null(again$named)
  expect_identical(gbt_refit(from_file(early), data = rows, lambda = 2, threads = 1)$named, "lambda")
})

test_that("weights, offset, exposure and functions, which no file keeps, are asked for", {
  weighted <- from_file(fit(y ~ a, rows, weights = w))
  expect_true(weighted$has_weights)
  expect_same_again(fit(y ~ a, rows, weights = w), data = rows, weights = rows$w)
  expect_same_again(fit(y ~ a, rows, offset = e), data = rows, offset = rows$e)
  expect_same_bytes(gbt_refit(weighted, data = rows, weights = NULL, threads = 1)$state, fit(y ~ a, rows)$state)
  offset <- from_file(fit(y ~ a, rows, offset = e))
  of_formula <- from_file(fit(y ~ a + offset(e), rows))
  exposed <- from_file(fit(rows["a"], rows$count, objective = "poisson", exposure = rows$e))
  own <- list(gradient = function(score, label, weight) weight * (score - label),
              hessian = function(score, label, weight) weight)
  functions <- from_file(fit(y ~ a, rows, objective = own))
  expect_same_bytes(gbt_refit(functions, data = rows, objective = own, threads = 1)$state, functions$state)
  plain <- from_file(fit(rows["a"], rows$y))
  expect_snapshot(error = TRUE, {
    gbt_refit(weighted, data = rows)
    update(offset, data = rows)
    gbt_refit(of_formula, x = rows["a"], y = rows$y)
    gbt_refit(exposed, x = rows["a"], y = rows$count)
    gbt_refit(functions, data = rows)
    gbt_refit(plain, data = rows)
    gbt_refit(plain)
    update(weighted)
    gbt_refit(plain, rows["a"], rows$y)
    gbt_refit(plain, x = rows["a"])
  })
})

test_that("a changed formula is never evaluated", {
  m <- from_file(fit(y ~ a, rows))
  for (text in c("stop('evaluated')", "~ a", "y", "(", "{ y ~ a }")) {
    m$formula <- text
    expect_error(gbt_refit(m, data = rows), "`formula` of this model was changed", class = "gbt_error_argument")
  }
})

test_that("parameters of an earlier version are told of", {
  m <- from_file(fit(y ~ a, rows))
  m$params$tail_rounds <- 3
  expect_warning(gbt_refit(m, data = rows, threads = 1), "left out: `tail_rounds`", class = "gbt_warning_params")
})

test_that("balanced classes are balanced again in new data", {
  m <- fit(class ~ ., rows, class_weights = "balanced")
  expect_true(m$balanced)
  expect_null(fit(class ~ ., rows, class_weights = m$params$class_weights)$balanced)
  file <- withr::local_tempfile()
  gbt_save(m, file)
  stored <- gbt_load(file)
  expect_true(stored$balanced)
  expect_true(gbt_load(file)[1:2]$balanced)
  new <- rows[c(seq_len(nrow(rows)), which(rows$class == "u")), ]
  again <- gbt_refit(stored, data = new)
  twin <- gbt_refit(m, data = new)
  expect_identical(again$params$class_weights, twin$params$class_weights)
  expect_false(identical(again$params$class_weights, m$params$class_weights))
  expect_same_bytes(again$state, twin$state)
  stored$balanced <- 2
  expect_error(predict(stored, rows), "`balanced` must be NULL or TRUE", class = "gbt_error_argument")
})
