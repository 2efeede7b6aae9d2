# Ranking by gbt_train(): queries from any form of data, labels, held-out queries, places, and what is refused.
set.seed(2)
n <- 400
d <- data.frame(q = sample(paste0("q", 1:40), n, TRUE), a = rnorm(n), b = rnorm(n),
                f = factor(sample(letters[1:4], n, TRUE)))
d$rel <- pmin(3, pmax(0, round(d$a + rnorm(n) * .5 + 1)))
x <- d[c("a", "b", "f")]
train <- function(..., objective = "rank_ndcg", nrounds = 4) {
  gbt_train(..., objective = objective, nrounds = nrounds, seed = 1, threads = 1)
}
model <- train(rel ~ a + b + f, d, group = q)

test_that("queries have ids of any type, in any form of the data", {
  scores <- predict(model, d)
  same <- function(m) expect_identical(predict(m, d), scores)
  number <- match(d$q, sort(unique(d$q)))
  for (ids in list(d$q, factor(d$q), number, number - 7.5, as.Date("2024-01-01") + number)) {
    same(train(x, d$rel, group = ids))
  }
  same(train(x, d$rel, qid = d$q))
  for (two in list(d$q == "q1", as.integer(d$q == "q1"))) expect_identical(train(x, d$rel, group = two)$n_queries, 2)
  same(train(gbt_data(x, d$rel, group = d$q, threads = 1)))
  folder <- withr::local_tempdir()
  kept <- gbt_data(x, d$rel, group = d$q, threads = 1, path = file.path(folder, "bins"))
  same(train(kept))
  path <- file.path(folder, "model.gbt")
  gbt_save(model, path)
  expect_identical(gbt_load(path)$n_queries, 40)
  expect_output(print(model), "<gbt> rank_ndcg\n", fixed = TRUE)
  expect_output(print(train(x, d$rel, group = d$q, rank_top = 5)), "<gbt> rank_ndcg, rank_top 5\n", fixed = TRUE)
  expect_output(print(model), "400 in 40 queries", fixed = TRUE)
  expect_output(print(summary(model)), "400 in 40 queries", fixed = TRUE)
})

test_that("weights of pairs are divided by distances of scores by default where that orders rows better", {
  state <- function(...) train(x, d$rel > 0, group = d$q, ...)$state
  for (objective in c("rank_ndcg", "rank_map", "rank_mrr", "rank_pairwise", "pair_logit")) {
    on <- objective %in% c("rank_ndcg", "rank_map")
    expect_identical(state(objective = objective), state(objective = objective, rank_score_norm = on))
    expect_false(identical(state(objective = objective), state(objective = objective, rank_score_norm = !on)))
  }
})

test_that("labels are numbers, logical values, ordered factors, or factors of two levels", {
  same <- function(y, number, objective = "rank_ndcg") {
    expect_identical(predict(train(x, y, group = d$q, objective = objective), x),
                     predict(train(x, number, group = d$q, objective = objective), x))
  }
  same(ordered(d$rel), d$rel)
  words <- c("none", "poor", "unused", "good", "best") # a level without rows keeps its number
  same(ordered(words[c(1, 2, 4, 5)][d$rel + 1], words), c(0, 1, 3, 4)[d$rel + 1])
  same(d$rel > 1, as.numeric(d$rel > 1))
  same(factor(ifelse(d$rel > 1, "yes", "no")), as.numeric(d$rel > 1), "rank_map")
  y <- ordered(d$rel)
  m <- train(x, y, group = d$q, valid = list(x = x, y = y, group = d$q))
  expect_identical(tail(m$evaluation_log[[2]], 1), gbt_evaluate(m, x, y, group = d$q, metrics = "ndcg@10")$estimate)
})

test_that("held-out rows are whole queries", {
  held <- d$q %in% c("q1", "q2", "q3")
  by_rows <- train(x, d$rel, group = d$q, valid = held)
  by_set <- train(x[!held, ], d$rel[!held], group = d$q[!held],
                  valid = list(x = x[held, ], y = d$rel[held], group = d$q[held]))
  expect_identical(by_rows$evaluation_log, by_set$evaluation_log)
  expect_identical(by_rows$n_queries, 37)
  by_mask <- train(x, d$rel, group = d$q, mask = !held)
  judged <- gbt_evaluate(by_mask, d[held, ], group = d$q[held], y = d$rel[held], metrics = "ndcg@10")
  expect_identical(tail(by_mask$evaluation_log[[2]], 1), judged$estimate)
  cv <- gbt_cv(rel ~ a + b + f, d, group = q, objective = "rank_ndcg", nrounds = 3, seed = 1, threads = 1)
  fold <- integer(n)
  for (k in seq_along(cv$folds)) fold[cv$folds[[k]]] <- k
  expect_true(all(tapply(fold, d$q, function(v) length(unique(v))) == 1))
  expect_identical(cv$metric, "test_ndcg@10")
  m <- train(rel ~ a + b + f, d, group = q, valid = 0.3)
  expect_lt(m$n_queries, 40)
  searched <- suppressMessages(gbt_train(rel ~ a + b + f, d, group = q, objective = "rank_ndcg", seed = 1, threads = 1,
                                         early_stopping_rounds = 3, eta = 0.5))
  expect_identical(searched$n_queries, 40)
})

test_that("type = \"rank\" gives places in queries, ties share theirs", {
  p <- predict(model, d, type = "rank", group = q)
  expect_identical(p, as.integer(ave(-predict(model, d), d$q, FUN = function(v) rank(v, ties.method = "min"))))
  expect_identical(predict(model, x, "rank", group = d$q), p)
  expect_identical(predict(model, d, "rank", group = "q"), p)
  absent <- "`group` names the column \"qq\", which the data do not have; did you mean `q`?"
  expect_error(predict(model, d, "rank", group = "qq"), absent, fixed = TRUE, class = "gbt_error_data")
  expect_error(gbt_evaluate(model, d, group = "qq"), absent, fixed = TRUE, class = "gbt_error_data")
  flat <- train(rep(1, n) ~ a, transform(d, a = 0), objective = "squared_error")
  expect_identical(unique(predict(flat, d, "rank", group = q)), 1L)
  expect_identical(unname(predict(model, d[0, ], "rank", group = character(0))), integer(0))
})

# A metric of one query, or of several.
metric_of <- function(score, y, group = rep(1, length(y)), metric = "ndcg", weight = NULL) {
  response <- list(objective = "squared_error", param = numeric(0), n_outputs = 1L)
  metrics <- gbt:::read_metrics(list(metric), response)
  model <- list(objective = "squared_error", params = list(), n_outputs = 1L)
  unname(gbt:::score_metrics(metrics, model, score, y, weight, 1L, as.double(group)))
}

test_that("metrics of tied rows are their means over all orders", {
  y <- c(3, 2, 0, 1, 0)
  s <- c(.5, .9, .5, .5, .1)
  known <- c("ndcg@1" = .428571428571, "ndcg@2" = .526547881163, "ndcg@3" = .640471377480, ndcg = .762742918941,
             map = .907407407407, "map@3" = .740740740741, err = .328030056424, "err@2" = .255208333333,
             "precision@2" = .833333333333, "recall@2" = .555555555556, pair_accuracy = .722222222222)
  err <- c("err", "err@2")
  for (m in setdiff(names(known), err)) {
    expect_equal(metric_of(s, y, metric = m), known[[m]], tolerance = 1e-11, label = m)
  }
  # the largest label of the data is 4, in another query of one row, whose own value is known: 15 / 16
  for (m in err) {
    expect_equal(2 * metric_of(c(s, 1), c(y, 4), c(1, 1, 1, 1, 1, 2), m) - 15 / 16, known[[m]], tolerance = 1e-11)
  }
  orders <- as.matrix(expand.grid(1:3, 1:3, 1:3))
  orders <- orders[apply(orders, 1, anyDuplicated) == 0, ]
  for (m in names(known)) {
    mean_of <- mean(apply(orders, 1, function(o) metric_of(replace(s, c(1, 3, 4), .5 + o / 100), y, metric = m)))
    expect_equal(metric_of(s, y, metric = m), mean_of, tolerance = 1e-12, label = m)
  }
})

test_that("constant scores say the same for any order of the labels", {
  expect_identical(metric_of(rep(0, 4), c(2, 1, 0, 0)), metric_of(rep(0, 4), c(0, 0, 1, 2)))
  expect_lt(metric_of(rep(0, 4), c(2, 1, 0, 0)), 0.9)
})

test_that("a query without a relevant row is left out with its weight", {
  s <- c(.3, .2, .1, .6, .5)
  y <- c(0, 1, 2, 0, 0)
  group <- c(1, 1, 1, 2, 2)
  expect_identical(metric_of(s, y, group, weight = c(1, 1, 1, 3, 3)), metric_of(s[1:3], y[1:3]))
  expect_identical(metric_of(s[4:5], y[4:5]), NaN)
})

test_that("the order of the rows, of queries and their ids change neither metrics nor models", {
  set.seed(3)
  o <- sample(n)
  s <- round(predict(model, d), 1)
  group <- match(d$q, unique(d$q))
  for (m in gbt:::metrics_table()$name[gbt:::metrics_table()$by_query]) {
    expect_identical(metric_of(s[o], d$rel[o], group[o], m), metric_of(s, d$rel, group, m), label = m)
  }
  mixed <- d[o, ]
  mixed$q <- paste0("other", 99 - match(mixed$q, unique(d$q)))
  objectives <- gbt_objectives()
  for (name in objectives$name[startsWith(objectives$meaning, "ranking")]) {
    fit <- function(data) {
      data$rel <- if (name == "rank_map") as.numeric(data$rel > 1) else data$rel
      train(rel ~ a + f, data, group = q, objective = name, grad_bits = 32)
    }
    expect_identical(predict(fit(mixed), d), predict(fit(d), d), label = name)
  }
  drawn <- function(data) train(rel ~ a + f, data, group = q, rank_pairs = 3, grad_bits = 32)
  expect_identical(predict(drawn(mixed), d), predict(drawn(d), d))
})

test_that("gains of labels are given, and metrics take those of the objective", {
  gain <- c(0, 1, 3, 7) # 2^label - 1
  same <- function(a, b) {
    expect_identical(predict(a, d), predict(b, d))
    expect_identical(a$evaluation_log, b$evaluation_log)
    values <- lapply(list(a, b), function(m) {
      gbt_evaluate(m, x, d$rel, group = d$q, metrics = c("ndcg@3", "dcg", "err", "map"))$estimate
    })
    expect_identical(values[[1]], values[[2]])
  }
  fit <- function(...) train(x, d$rel, group = d$q, eval_train = TRUE, ...)
  same(fit(label_gain = gain), fit())
  linear <- fit(rank_linear_gain = TRUE)
  same(fit(label_gain = 0:3), linear)
  expect_false(identical(linear$evaluation_log, fit()$evaluation_log))
  odd <- fit(label_gain = c(0, 1, 1, 10))
  dcg <- function(m) gbt_evaluate(m, x, d$rel, group = d$q, metrics = "dcg@1")$estimate
  top <- tapply(seq_len(n), d$q, function(at) at[which.max(predict(odd, x[at, ]))])
  expect_equal(dcg(odd), mean(c(0, 1, 1, 10)[d$rel[top] + 1]))
  own <- gbt_metric("mine", function(pred, label) if (is.object(label)) NaN else mean(label))
  held <- d$q %in% c("q1", "q2")
  m <- fit(label_gain = c(0, 1, 1, 10), valid = held, eval_metric = list("ndcg@3", own))
  expect_identical(tail(m$evaluation_log$valid_mine, 1), mean(d$rel[held]))
  judged <- gbt_evaluate(m, x[held, ], d$rel[held], group = d$q[held], metrics = "ndcg@3")
  expect_identical(tail(m$evaluation_log[["valid_ndcg@3"]], 1), judged$estimate)
  expect_identical(m$params$label_gain, c(0, 1, 1, 10))
  expect_identical(predict(fit(params = list(label_gain = "0,1,3,7")), d), predict(fit(), d))
  on <- fit(nrounds = 2, init_model = fit(nrounds = 2, label_gain = 0:3))
  expect_identical(predict(on, d), predict(linear, d))
  file <- withr::local_tempfile()
  gbt_save(odd, file)
  expect_identical(dcg(gbt_load(file)), dcg(odd))
  expect_snapshot(error = TRUE, {
    fit(label_gain = c(0, 1, 3)) # T6 of the specification: labels beyond the gains
    fit(label_gain = c(0, 3, 1, 7))
    fit(label_gain = "all")
    fit(label_gain = 0:3, rank_linear_gain = TRUE)
    train(x, d$rel, label_gain = 0:3, objective = "squared_error")
  })
})

test_that("data sorted by label give nothing away in the first round", {
  sorted <- d[order(d$q, -d$rel), ]
  sorted$zero <- seq_len(n) %% 2
  m <- train(rel ~ zero, sorted, group = q, eval_train = TRUE, nrounds = 1)
  expect_lt(m$evaluation_log[[2]], 0.9)
})

test_that("data, labels and groups that do not fit are errors that help", {
  expect_snapshot(error = TRUE, {
    train(x, d$rel)
    train(x, d$rel, objective = "squared_error", eval_metric = "ndcg@5", eval_train = TRUE)
    train(x, d$rel, group = as.numeric(table(d$q)))
    train(x, d$rel, group = replace(d$q, 5, NA))
    train(x, d$rel, group = seq_len(n))
    train(x, rep(1, n), group = d$q)
    train(x, d$rel + 1, group = d$q, objective = "rank_map")
    train(x, d$rel - 1, group = d$q)
    train(x, d$rel / 2, group = d$q)
    train(x, d$rel * 20, group = d$q)
    train(x, factor(d$rel), group = d$q)
    train(x, as.character(d$rel), group = d$q)
    train(x, d$rel, group = d$q, weights = seq_len(n))
    train(x, d$rel, group = d$q, mask = seq_len(n) > 100)
    train(x, d$rel, group = d$q, valid = 1:100)
    gbt_cv(rel ~ a, d, group = q, objective = "rank_ndcg", nrounds = 2, folds = rep_len(1:3, n), threads = 1)
    train(x, d$rel, group = d$q, valid = list(x = x, y = d$rel))
    train(rel ~ a, d, group = q, valid = d[c("rel", "a")])
    train(x, ordered(d$rel), group = d$q, valid = list(x = x, y = ordered(d$rel + 1), group = d$q))
    train(x, d$rel, group = d$q, boosting = "ordered")
    train(x, d$rel, group = d$q, leaf_iterations = 2)
    predict(model, d, type = "rank")
    predict(model, d, group = q)
    predict(model, d, type = "rank", group = q, output = "scores.csv")
    gbt_evaluate(model, d)
  })
  long <- data.frame(a = seq_len(46001) %% 7)
  expect_error(gbt_train(long, long$a, group = rep(1, 46001), objective = "pair_logit", nrounds = 1, threads = 1),
               "query of row 1 has 46001 rows.*rank_top", class = "gbt_error_data")
})

test_that("CatBoost's metric NDCG:top=5 is ndcg@5", {
  d <- data.frame(x = (1:40 * 7) %% 11, y = (1:40 * 5) %% 3, g = rep(1:4, each = 10))
  log <- function(metric) {
    gbt_train(y ~ x, d, group = g, objective = "query_rmse", metric = metric, eval_train = TRUE, nrounds = 2,
              threads = 1)$evaluation_log
  }
  expect_identical(log("NDCG:top=5"), log("ndcg@5"))
})
