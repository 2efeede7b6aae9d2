train <- function(y, ..., x = data.frame(a = seq_along(y))) gbt_train(x, y, ..., nrounds = 2, threads = 1)

test_that("the response decides", {
  expect_identical(train(c(1.5, 2, 3, 4))$objective, "squared_error")
  expect_identical(train(1:4)$objective, "squared_error")
  m <- train(c("b", "a", "b", "a"))
  expect_identical(m[["objective"]], "logistic")
  expect_identical(m$classes, c("a", "b"))
  expect_identical(train(c(TRUE, FALSE))$classes, c("FALSE", "TRUE"))
  expect_identical(train(factor(c("x", "y"), levels = c("y", "x")))$classes, c("y", "x"))
  expect_identical(train(letters[1:3])$objective, "softmax")
  expect_identical(train(c(TRUE, FALSE), objective = "squared_error")$objective, "squared_error")
  expect_identical(train(data.frame(y = 1:4), x = data.frame(a = 1:4))$objective, "squared_error")
})

test_that("names of peers are understood", {
  same <- list(
    squared_error = c("reg:squarederror", "regression", "RMSE", "gaussian", "squared_error"),
    logistic = c("binary:logistic", "binary", "Logloss", "bernoulli"),
    softmax = c("multi:softprob", "multi:softmax", "multiclass", "MultiClass", "multinomial"),
    poisson = c("count:poisson", "poisson", "Poisson")
  )
  for (name in names(same)) for (other in same[[name]]) expect_identical(gbt:::objective_name(other), name)
  expect_identical(train(c(0, 1, 1, 0), loss_function = "Logloss")$objective, "logistic")
})

test_that("numbers may be classes", {
  m <- train(c(3, 1, 7, 1), objective = "multi:softprob", num_class = 3)
  expect_identical(m$classes, c("1", "3", "7"))
  expect_null(train(c(0, 1, 0.5), objective = "logistic")$classes)
})

test_that("levels without rows are dropped, with a message", {
  y <- factor(c("a", "c", "a"), levels = c("a", "b", "c"))
  expect_message(m <- train(y), "levels of the response without rows are dropped: \"b\"", class = "gbt_message")
  expect_identical(m[["objective"]], "logistic")
  expect_identical(m$classes, c("a", "c"))
})

test_that("responses that cannot be learned are errors that help", {
  expect_snapshot(error = TRUE, {
    train(c(1, NA, 3, NA))
    train(c(1, Inf))
    train(factor(c("a", "a")))
    train(c(TRUE, TRUE))
    train(1:3, x = data.frame(a = 1:4))
    train("a", x = data.frame(a = 1:4))
    train(list(1, 2))
    train(as.Date(c("2020-01-01", "2020-01-02")))
    train(c(1, -1, -2), objective = "poisson")
    train(c(1, 2, 1), objective = "logistic")
    train(c(0, 3, 1), objective = "logistic")
    train(letters[1:3], objective = "logistic")
    train(letters[1:3], objective = "poisson")
    train(c(1.5, 2), objective = "softmax")
    train(c(1, 1), objective = "softmax")
    train(1:3, objective = "survival:cox")
    train(1:3, objective = "logstic")
    train(1:3, objective = "binary:logitraw")
    train(1:3, objective = function(x) x)
    train(1:3, objective = list(gradient = function(s, l) s))
    train(1:3, objective = list(gradient = 1, hessian = 2))
    train(1:3, objective = list(gradient = function(s) s, hessian = function(s, l) s))
    train(letters[1:2], objective = list(gradient = function(s, l) s, hessian = function(s, l) s))
    train(1:3, objective = list(gradient = function(s, l) 1, hessian = function(s, l) s))
    train(1:3, objective = list(gradient = function(s, l) s * NA, hessian = function(s, l) s + 1))
    train(1:3, objective = list(gradient = function(s, l) s - l, hessian = function(s, l) s - 1))
    train(1:3, objective = list(gradient = function(s, l) replace(s, 5, Inf), hessian = function(s, l) s + 1,
                                n_outputs = 2))
    gbt_train(data.frame(a = 1))
    gbt_train(data.frame(a = numeric(0)), numeric(0))
  })
})

test_that("constant numbers are learned", {
  for (objective in c("squared_error", "poisson")) {
    m <- train(rep(3, 5), objective = objective)
    expect_equal(predict(m, data.frame(a = 1:5)), rep(3, 5))
  }
  expect_equal(predict(train(rep(0, 5), objective = "logistic"), data.frame(a = 1:5)), rep(0, 5), tolerance = 1e-6)
})

test_that("an objective of one's own: squared error", {
  own <- list(gradient = function(score, label, weight) score - label, hessian = function(score, label) score * 0 + 1)
  a <- gbt_train(mtcars[-1], mtcars$mpg - 20, objective = own, weights = mtcars$wt, nrounds = 20, threads = 1)
  expect_identical(a$objective, "custom")
  expect_identical(a$nrounds, 20L)
  # the same leaves as those of the built-in one, from the same start
  b <- gbt_train(mtcars[-1], mtcars$mpg - 20, weights = mtcars$wt, nrounds = 1, threads = 1)
  start <- predict(b[0], mtcars)[[1]]
  a <- gbt_train(mtcars[-1], mtcars$mpg - 20 - start, objective = own, weights = mtcars$wt, nrounds = 1, threads = 1)
  expect_equal(predict(a, mtcars), predict(b, mtcars) - start, tolerance = 1e-6)
})

test_that("an objective of one's own: several outputs", {
  p <- function(s) exp(s) / rowSums(exp(s))
  own <- list(
    n_outputs = 3,
    gradient = function(score, label) p(score) - outer(label, 0:2, `==`),
    hessian = function(score, label) 2 * p(score) * (1 - p(score))
  )
  a <- gbt_train(iris[-5], as.integer(iris$Species) - 1, objective = own, nrounds = 5, random_strength = 0,
                 threads = 1)
  b <- gbt_train(iris[-5], iris$Species, nrounds = 5, min_child_weight = 1, random_strength = 0, softmax_hessian = 2,
                 multi_strategy = "one_output_per_tree", threads = 1)
  expect_equal(p(predict(a, iris)), unname(predict(b, iris)), tolerance = 1e-4)
})

test_that("a hessian too small to split anything is warned of, once", {
  median_of <- function(size) list(gradient = function(s, l) sign(s - l), hessian = function(s, l) rep(size, length(s)))
  train <- function(objective, ...) gbt_train(mpg ~ ., mtcars, objective = objective, ..., nrounds = 3, threads = 1)
  warnings <- testthat::capture_warnings(m <- train(median_of(0)))
  expect_length(warnings, 1L)
  expect_true(all(as.data.frame(m)$node == 0))
  expect_snapshot(m <- train(median_of(1 / 32)))
  expect_warning(train(median_of(1), weights = rep(1 / 32, 32)), class = "gbt_warning_hessian")
  expect_no_warning({ # scores are far from all labels in these rounds, so that gradients are the same
    train(median_of(1))
    train(median_of(1 / 16))
    train(median_of(0), min_child_weight = 0)
  }, class = "gbt_warning_hessian")
})

test_that("an objective whose hessians are too small to split anything is warned of, once, with what to do", {
  set.seed(2)
  x <- data.frame(a = runif(200))
  y <- 1e6 * x$a + 1e5 * rnorm(200)
  train <- function(objective, ..., label = y, nrounds = 3) {
    gbt_train(x, label, objective = objective, ..., nrounds = nrounds, threads = 1)
  }
  for (objective in c("huber", "pseudo_huber", "log_cosh")) {
    warnings <- testthat::capture_warnings(m <- train(objective))
    expect_length(warnings, 1L)
    expect_true(all(as.data.frame(m)$node == 0))
    expect_warning(m <- train(objective), class = "gbt_warning_hessian")
    expect_identical(grepl("huber_delta", warnings), objective %in% c("huber", "pseudo_huber"))
    expect_match(warnings, "scale the response")
    expect_match(warnings, "lower `lambda`")
    without <- testthat::capture_warnings(train(objective, lambda = 0))
    expect_no_match(without, "lambda")
    expect_warning(free <- train(objective, min_child_weight = 0), class = "gbt_warning_flat") # steps are short
    expect_gt(nrow(as.data.frame(free)), 3)
    expect_warning(train(objective, init_model = free, min_child_weight = 1), class = "gbt_warning_hessian")
    expect_warning(train(objective, label = rep(5e6, 200)), "same value", class = "gbt_warning_no_split")
    expect_silent(train(objective, label = y / 1e6))
  }
  for (objective in c("absolute_error", "quantile", "mape")) { # whose hessians are the rows' weights
    expect_silent(m <- train(objective))
    expect_gt(nrow(as.data.frame(m)), 3)
  }
  expect_snapshot(m <- train("huber", huber_delta = 1.5))
  expect_silent(train("huber", huber_delta = 1e5))
  rare <- rep(c(1, 0), c(1, 199))
  expect_warning(train("logistic", label = rare, min_child_weight = 1), class = "gbt_warning_hessian")
  expect_warning(train("poisson", label = rare / 100), class = "gbt_warning_hessian")
  expect_silent(train("poisson", label = rare / 100, min_child_weight = 0))
  expect_silent(train("squared_error", label = rare, max_depth = 1))
  light <- testthat::capture_warnings(train("huber", weights = rep(1e-3, 200))) # one word is enough
  expect_length(light, 1L)
})

test_that("squared error of classes 0 and 1 is told of, unless it was asked for", {
  train <- function(y, ...) gbt_train(data.frame(x = seq_along(y)), y, ..., nrounds = 1, threads = 1)
  expect_message(m <- train(rep(0:1, 5)), "is 0 and 1, numbers, so squared error", class = "gbt_message")
  expect_identical(m$objective, "squared_error")
  expect_silent({
    train(rep(0:1, 5), objective = "squared_error")
    train(rep(0:1, 5), objective = "logistic")
    train(rep(c(FALSE, TRUE), 5))
    train(rep(c(0, 0.5, 1), 5))
    train(rep(1:2, 5))
  })
  for (one in list(1, rep(0, 5), rep(1, 5))) {
    expect_no_message(expect_warning(train(one), class = "gbt_warning_no_split"))
  }
})

# Every objective of the table, with labels that it takes.
made_y <- function(labels, n, name = "") {
  s <- sin(seq_len(n)) + seq_len(n) / n
  if (name == "aft") labels <- "POSITIVE"
  if (name %in% c("cox", "fine_gray", "hazard")) {
    y <- cbind(time = floor(4 * exp(s)), status = as.numeric(seq_len(n) %% 4 > 0))
    return(structure(y, type = if (name == "fine_gray") "mright" else "right", states = "a", class = "Surv"))
  }
  switch(labels, NUMBER = s, BINARY = as.numeric(s > 0.5), CLASS = factor(seq_len(n) %% 3),
         NOT_NEGATIVE = floor(exp(s)), COUNT = floor(exp(s)), POSITIVE = exp(s),
         SHARE = plogis(s), ABOVE_MINUS_ONE = exp(s) - 0.7)
}

# What the objectives of ranking need more: 12 queries of rows that are not in their order.
made_group <- function(name, n) if (gbt:::is_of_queries(name)) (seq_len(n) * 7) %% 12

test_that("every objective trains, predicts, is kept and is known by its other names", {
  table <- gbt:::objectives_table()
  x <- data.frame(a = seq_len(60), b = (seq_len(60) * 7) %% 11)
  for (i in which(table$name != "custom")) {
    name <- table$name[i]
    y <- made_y(table$labels[i], 60, table$name[i])
    q <- made_group(name, 60)
    m <- gbt_train(x, y, objective = name, valid = c(list(x = x, y = y), if (!is.null(q)) list(group = q)),
                   group = q, nrounds = 5, max_depth = 2, threads = 1)
    expect_identical(m$objective, name)
    link <- predict(m, x, type = "link")
    p <- predict(m, x)
    expect_true(all(is.finite(p)), label = name)
    if (is.null(dim(link))) expect_identical(order(link), order(p), label = name)
    file <- tempfile(fileext = ".gbt")
    gbt_save(m, file)
    expect_identical(predict(gbt_load(file), x), p)
    unlink(file)
    on <- gbt_train(x, y, objective = name, group = q, init_model = m, nrounds = 2, max_depth = 2, threads = 2)
    expect_identical(predict(on, x, trees = 5), p)
    for (alias in first_cases(strsplit(table$aliases[i], "|", fixed = TRUE)[[1]])) {
      expect_identical(gbt_train(x, y, objective = toupper(alias), group = q, nrounds = 1, threads = 1)$objective, name)
    }
  }
  listed <- gbt_objectives()
  expect_identical(listed$name, setdiff(table$name, "custom"))
  expect_match(listed$parameters[listed$name == "tweedie"],
               "tweedie_variance_power = 1.5 (larger than 1 and less than 2)", fixed = TRUE)
  expect_output(print(listed), "tweedie  (numbers of 0 or more)", fixed = TRUE)
  expect_output(print(listed[c("name", "response")]), "name +response")
})

test_that("parameters of objectives reach the engine, by all their names, and are kept", {
  table <- gbt:::objectives_table()
  x <- data.frame(a = seq_len(60), b = (seq_len(60) * 7) %% 11)
  n_names <- 0L
  for (i in which(lengths(lapply(table$params, `[[`, "name")) > 0)) {
    params <- as.data.frame(table$params[[i]])
    y <- made_y(table$labels[i], 60, table$name[i])
    q <- made_group(table$name[i], 60)
    place <- if ("position_reg" %in% params$name) rep(1:3, 20)
    plain_fits <- list() # without the parameter: as usual, and with a bias by ratios
    for (k in seq_len(nrow(params))) {
      name <- params$name[k]
      ratio <- if (name == "bias_norm") list(position_bias = "ratio")
      fit <- function(..., objective = table$name[i]) {
        args <- list(x, y, objective = objective, group = q, position = place, nrounds = 2, max_depth = 3, threads = 1,
                     ...)
        do.call(gbt_train, c(args, ratio))
      }
      kind <- if (is.null(ratio)) "usual" else "ratio"
      if (is.null(plain_fits[[kind]])) plain_fits[[kind]] <- fit()
      plain <- plain_fits[[kind]]
      usual <- if (name == "rank_score_norm") plain$params[[name]] else params$default[k] # a rule
      other <- usual * 0.5 + 0.5 * min(params$high[k], 2 * usual + 1)
      if (params$kind[k] == "int") other <- if (usual > 1) 2 else 1 - usual
      given <- do.call(fit, stats::setNames(list(other), name))
      expect_identical(given$params[[name]], other)
      if (name != "aft_scale") expect_identical(plain$params[[name]], params$default[k]) # 0: estimated
      expect_false(identical(given$state, plain$state))
      aliases <- setdiff(strsplit(params$aliases[k], "|", fixed = TRUE)[[1]], names(gbt:::alias_of))
      ways <- list(
        argument = function(alias) do.call(fit, stats::setNames(list(other), alias)),
        dots = function(alias) fit(params = stats::setNames(list(other), gsub("_", ".", alias))),
        text = function(alias) fit(objective = sprintf("%s:%s=%.17g", table$name[i], alias, other))
      )
      for (alias in first_cases(every(aliases, 2), 0L)) {
        n_names <- n_names + 1L
        for (way in if (long_form()) ways else ways[n_names %% 3L + 1L]) { # one by turns
          expect_same_bytes(way(alias)$state, given$state)
        }
      }
      for (bad in every(list(params$low[k] - 1, NA_real_, "1", c(1, 2)), 2)) {
        expect_error(do.call(fit, stats::setNames(list(bad), name)), name, class = "gbt_error_argument")
      }
      if (params$open_low[k]) {
        expect_error(do.call(fit, stats::setNames(list(params$low[k]), name)), name, class = "gbt_error_argument")
      }
    }
  }
})

test_that("going on from a model keeps the parameters of its objective", {
  x <- data.frame(a = seq_len(60), b = (seq_len(60) * 7) %% 11)
  y <- x$a / 7 + x$b
  fit <- function(...) gbt_train(x, y, objective = "huber", nrounds = 3, threads = 1, ...)
  first <- fit(huber_delta = 2)
  more <- fit(init_model = first)
  expect_identical(more$params$huber_delta, 2)
  expect_same_bytes(more$state, fit(init_model = first, huber_slope = 2)$state)
  expect_same_bytes(more$state, gbt_train(x, y, objective = "huber", huber_delta = 2, nrounds = 6, threads = 1)$state)
  expect_error(fit(init_model = first, huber_delta = 1), paste(
    "its `huber_delta` is 2, now it is 1; leave `huber_delta` out"), class = "gbt_error_argument")
  own <- function(n) list(gradient = function(s, l) s - l, hessian = function(s, l) s * 0 + 1, n_outputs = n)
  two <- gbt_train(x, y, objective = own(2), nrounds = 1, threads = 1)
  expect_error(gbt_train(x, y, objective = own(3), init_model = two, nrounds = 1, threads = 1),
               "its `n_outputs` is 2, now it is 3", class = "gbt_error_argument")
  expect_error(gbt_train(x, y, objective = "pseudo_huber", init_model = first, nrounds = 1),
               "its objective is \"huber\"", class = "gbt_error_argument")
})

test_that("parameters of other objectives, and names with two meanings, are refused", {
  expect_snapshot(error = TRUE, {
    train(1:9, huber_delta = 2)
    train(1:9, objective = "poisson", huber_slope = 2)
    train(1:9, objective = "huber", alpha = 0.9)
    train(1:9, objective = "expectile", alpha = 0.9)
    train(1:9, objective = "Huber:delta=a")
    train(1:9, objective = "Huber:slope=2")
    train(1:9, objective = "Poisson:alpha=2")
    train(1:9, objective = "negbin", theta = 2)
    train(1:9, fair_c = 2)
    train(letters[1:3], objective = "MultiClass_OVA")
    train(1:9, objective = "tweedie", tweedie_variance_power = 2)
    train(c(1, 0, 2), objective = "gamma")
    train(c(1, 2, 0.5), objective = "cross_entropy")
    train(1:9, objective = "gama")
  })
  expect_identical(train(1:9, objective = "huber", reg_alpha = 0.5)$params$alpha, 0.5)
})

test_that("objectives are those of the formulas, by functions of one's own", {
  set.seed(4)
  x <- data.frame(a = runif(400), b = runif(400))
  mean <- exp(x$a - x$b)
  own <- function(gradient, hessian) list(gradient = gradient, hessian = hessian)
  robust <- function(g) own(function(s, y) g(s - y), function(s, y) ifelse(s == y, 1, g(s - y) / (s - y)))
  cases <- list(
    gamma = list(y = rgamma(400, 3, 3 / mean),
                 own = own(function(s, y) 1 - y * exp(-s), function(s, y) y * exp(-s))),
    tweedie = list(y = rpois(400, mean) * rgamma(400, 2), args = list(tweedie_variance_power = 1.3),
                   own = own(function(s, y) exp(0.7 * s) - y * exp(-0.3 * s),
                             function(s, y) 0.7 * exp(0.7 * s) + 0.3 * y * exp(-0.3 * s))),
    negative_binomial = list(y = rnbinom(400, size = 2, mu = mean), args = list(dispersion = 0.5),
                             own = own(function(s, y) (exp(s) - y) / (1 + 0.5 * exp(s)),
                                       function(s, y) exp(s) * (1 + 0.5 * y) / (1 + 0.5 * exp(s))^2)),
    huber = list(y = mean + rt(400, 2), args = list(huber_delta = 0.7),
                 own = robust(function(r) pmin(pmax(r, -0.7), 0.7))),
    pseudo_huber = list(y = mean + rt(400, 2), args = list(huber_delta = 0.7),
                        own = robust(function(r) r / sqrt(1 + (r / 0.7)^2))),
    log_cosh = list(y = mean + rt(400, 2), own = robust(tanh)),
    expectile = list(y = mean + rt(400, 2), args = list(expectile_alpha = 0.8),
                     own = own(function(s, y) 2 * (s - y) * ifelse(s < y, 0.8, 0.2),
                               function(s, y) 2 * ifelse(s < y, 0.8, 0.2))),
    squared_log_error = list(y = mean - 0.3, own = own(function(s, y) s - log1p(y), function(s, y) rep(1, 400))),
    cross_entropy = list(y = plogis(mean),
                         own = own(function(s, y) plogis(s) - y, function(s, y) plogis(s) * plogis(-s)))
  )
  for (name in names(cases)) {
    case <- cases[[name]]
    fit <- function(objective, ...) {
      gbt_train(x, case$y, objective = objective, nrounds = 8, max_depth = 3, threads = 1, ...)
    }
    m <- do.call(fit, c(list(name), case$args))
    base <- predict(m, x[1, ], type = "link", trees = 0)
    twin <- fit(case$own, offset = rep(base, 400))
    expect_equal(predict(m, x, type = "link"), predict(twin, x, offset = rep(base, 400)), tolerance = 1e-3,
                 label = name)
  }
})

test_that("a training that diverges says so", {
  x <- data.frame(a = rep(0:1, c(19980, 20)), b = seq_len(20000))
  y <- rep(c(1, 0), 10000)
  y[20000] <- 2e5 # one amount that is far above its prediction
  fit <- function(...) gbt_train(x, y, objective = "poisson", ..., eta = 0.1, lambda = 1, max_depth = 6, threads = 1)
  expect_snapshot(m <- fit(nrounds = 2, min_data_in_leaf = 20))
  expect_silent(fit(nrounds = 2, min_data_in_leaf = 20, max_delta_step = 0.7))
  log <- fit(nrounds = 2, min_data_in_leaf = 20, max_delta_step = 0.7, eval_train = TRUE)$evaluation_log
  expect_true(all(diff(log$train_poisson_deviance) < 0))
  # rounds after the best one are not the model
  set.seed(1)
  d <- data.frame(a = rnorm(300))
  d$y <- rpois(300, exp(d$a))
  expect_silent(gbt_train(y ~ a, d, objective = "poisson", nrounds = 20, valid = 0.3, early_stopping_rounds = 2,
                          seed = 1, threads = 1))
  # no word where training is sound, for every objective
  for (objective in first_cases(gbt_objectives()$name, 3L)) {
    query <- made_group(objective, 300)
    shares <- objective %in% c("logistic", "cross_entropy")
    label <- if (objective == "softmax") factor(1 + d$y %% 3) else if (shares) d$y / max(d$y) else
      if (gbt:::needs_events(objective)) made_y("", 300, objective) else
        d$y + !gbt:::is_of_queries(objective) # label 0: not relevant
    for (eta in c(0.05, 1)) expect_silent(gbt_train(d["a"], label, objective = objective, group = query,
                                                    nrounds = 15, eta = eta, threads = 1))
  }
})
