# summary() lists the parameters that play a part in a model, and all that the user named.
used <- function(...) summary(gbt_train(..., nrounds = 2, threads = 1))$parameters
named_used <- function(...) used(...)$parameter
origin_of <- function(frame, name) frame$origin[frame$parameter == name]

d <- transform(flights[1:400, ], late = late == "yes")
sets <- c("max_cat_onehot", "cat_smooth", "cat_l2", "cat_noise", "max_cat_threshold", "min_data_per_group")
target <- c("cat_permutations", "cat_prior", "cat_bins")
ruled <- c("eta", "max_depth", "grow_policy", "random_strength", "lambda", "colsample_bytree")

test_that("every kind of tree, objective and column has its parameters", {
  usual <- c("max_bin", ruled, "min_child_weight", "seed")
  expect_setequal(named_used(mpg ~ ., mtcars), usual)
  expect_setequal(named_used(mpg ~ ., mtcars, grow_policy = "symmetric"), usual)
  plain <- setdiff(usual, "random_strength")
  expect_setequal(named_used(mpg ~ ., mtcars, grow_policy = "depthwise"), plain)
  expect_setequal(named_used(mpg ~ ., mtcars, grow_policy = "lossguide", max_leaves = 5), c(plain, "max_leaves"))
  expect_setequal(named_used(am ~ wt + hp, transform(mtcars, am = am == 1)), usual)
  expect_setequal(named_used(Species ~ ., iris), c(usual, "softmax_hessian"))
  expect_setequal(named_used(Species ~ ., iris, multi_strategy = "multi_output_tree"),
                  c(usual, "softmax_hessian", "multi_strategy"))
  for (objective in c("squared_error", "poisson", "tweedie", "negative_binomial", "huber", "quantile", "expectile")) {
    own <- gbt:::objective_info(objective)$params$name
    expect_setequal(named_used(mpg ~ ., mtcars, objective = objective), c(usual, own))
  }
  expect_setequal(named_used(late ~ distance + dest, d, cat_method = "sets"), c(usual, sets, "cat_method"))
  expect_setequal(named_used(late ~ distance + dest, d, cat_method = "target"), c(usual, target, "cat_method"))
  expect_setequal(named_used(late ~ distance + dest, d, cat_method = "onehot"), c(usual, "cat_method"))
  expect_setequal(named_used(late ~ distance + dest, d), c(usual, sets, target, "cat_method"))
  expect_setequal(named_used(late ~ carrier + dest, d, cat_method = "target", max_cat_combine = 2),
                  c(usual, target, "cat_method", "max_cat_combine", "max_cat_keys"))
  all_rows <- list(grow_policy = "depthwise", max_depth = 3, colsample_bytree = 1) # nothing is random
  expect_false("seed" %in% named_used(mpg ~ ., mtcars, params = all_rows))
  expect_true(all(c("top_rate", "other_rate") %in% named_used(mpg ~ ., mtcars, sampling_method = "goss")))
  expect_true(all(c("mvs_reg", "subsample") %in% named_used(mpg ~ ., mtcars, sampling_method = "mvs",
                                                            subsample = 0.5)))
  expect_true("bagging_temperature" %in% named_used(mpg ~ ., mtcars, sampling_method = "bayesian"))
  some <- named_used(mpg ~ wt + hp, mtcars, monotone = c(wt = -1), interactions = list("wt", "hp"), ensemble = 2,
                     feature_weights = c(wt = 2), weights = 1:32)
  expect_setequal(some, c(usual, "monotone", "interactions", "feature_weights", "ensemble"))
  expect_true(all(c("eval_metric", "early_stopping_rounds") %in%
                    named_used(mpg ~ ., mtcars, valid = 0.3, early_stopping_rounds = 2)))
})

test_that("a parameter that is switched off, or needs what is not there, is listed where the user named it", {
  table <- gbt:::params_table()
  run_only <- c("hist_memory", "device_memory") # no part of a model
  for (name in setdiff(table$name, c(run_only, "multi_strategy", "softmax_hessian"))) {
    value <- gbt:::engine_defaults()[[name]]
    if (name == "seed") value <- 3
    frame <- do.call(used, c(list(mpg ~ ., mtcars), stats::setNames(list(value), name)))
    expect_identical(origin_of(frame, name), "given", label = name)
  }
  expect_identical(origin_of(used(mpg ~ ., mtcars, num_leaves = 5), "max_leaves"), "given") # by another name
  shares <- used(Species ~ ., iris, subsample = c(setosa = 0.5))
  expect_identical(shares$value[shares$parameter == "subsample"], "setosa 0.5")
  expect_identical(origin_of(shares, "subsample"), "given")
})

test_that("origins are told apart", {
  frame <- used(late ~ distance + dest, d, eta = 0.2, subsample = 0.5)
  origin <- stats::setNames(frame$origin, frame$parameter)
  expect_identical(origin[c("eta", "subsample", "lambda", "max_bin", "seed", "cat_method")],
                   c(eta = "given", subsample = "given", lambda = "rule", max_bin = "default", seed = "found",
                     cat_method = "found"))
  expect_identical(frame$default[frame$parameter == "subsample"], "1")
  # a mean of models has as many trees a round as each of them
  expect_false("num_parallel_tree" %in% named_used(mpg ~ ., mtcars, ensemble = 3))
  two <- used(mpg ~ ., mtcars, ensemble = 3, num_parallel_tree = 2)
  expect_identical(two$value[two$parameter == "num_parallel_tree"], "2")
})

test_that("parts of a model, folds and files keep what was given", {
  m <- gbt_train(mpg ~ ., mtcars, max_depth = 3, subsample = 1, nrounds = 4, threads = 1)
  expect_setequal(m$named, c("max_depth", "subsample"))
  expect_identical(m[1:2]$named, m$named)
  expect_true("max_depth" %in% gbt_refit(m, data = mtcars)$named)
  cv <- gbt_cv(mpg ~ ., mtcars, max_depth = 3, nrounds = 3, folds = 2, keep_models = TRUE, threads = 1, seed = 1)
  frame <- summary(cv$models[[1]])$parameters
  expect_identical(origin_of(frame, "max_depth"), "given")
  expect_identical(origin_of(frame, "lambda"), "rule")
  file <- withr::local_tempfile()
  gbt_save(m, file)
  back <- gbt_load(file)
  expect_identical(back$named, m$named)
  expect_same_bytes(back$state, m$state)
  expect_identical(summary(back)$parameters, summary(m)$parameters)
  m$named <- NULL # as in files of before: what differs from the default was given
  expect_identical(origin_of(summary(m)$parameters, "max_depth"), "given")
  m$named <- 3
  expect_error(print(m), "`named` must be NULL or names of parameters", class = "gbt_error_argument")
})

test_that("print() shows what changes the meaning of predictions, and nothing that was not set", {
  local_reproducible_output(width = 80)
  hide <- function(x) sub("^(by rule  ).*|^          .*", "\\1 ...", x)
  columns <- c("distance", "sched_dep_time", "carrier", "dest")
  plain <- gbt_train(flights[1:400, columns[-1]], flights$distance[1:400], objective = "quantile", nrounds = 2,
                     quantile_alpha = 0.9, seed = 1, threads = 1)
  full <- gbt_train(distance ~ sched_dep_time + carrier + dest, flights[1:400, columns], weights = rep(1:2, 200),
                    objective = "tweedie", tweedie_variance_power = 1.3, monotone = c(sched_dep_time = 1),
                    interactions = list(c("carrier", "dest"), "sched_dep_time"), first_use_penalty = c(carrier = 1),
                    max_leaves = 9, exposure = rep(1:4, 100), nrounds = 2, threads = 1)
  classes <- gbt_train(late ~ distance + dest, flights[1:400, ], class_weights = "balanced", nrounds = 2,
                       subsample = 0.5, level_counts = TRUE, seed = 1, threads = 1)
  expect_snapshot(transform = hide, {
    print(plain)
    print(full)
    print(classes)
  })
  expect_snapshot(print(summary(classes)$parameters))
  shown <- capture.output(summary(full))
  shown <- shown[seq(match("parameters (* chosen by a rule, see gbt_defaults())", shown), length(shown))]
  expect_lt(max(nchar(shown)), 81)
})

test_that("parameters that users give by name are shown by name", {
  shown <- function(frame, name) frame$value[frame$parameter == name]
  skip_if_not_installed("survival")
  y <- survival::Surv(mtcars$mpg, mtcars$am)
  frame <- used(mtcars[c("wt", "hp")], y)
  expect_identical(shown(frame, "ties"), "efron")
  expect_identical(origin_of(frame, "ties"), "default")
  frame <- used(mtcars[c("wt", "hp")], y, ties = "breslow")
  expect_identical(shown(frame, "ties"), "breslow")
  expect_identical(frame$default[frame$parameter == "ties"], "efron")
  frame <- used(mtcars[c("wt", "hp")], y, objective = "aft", aft_dist = "weibull")
  expect_identical(shown(frame, "aft_dist"), "extreme")
  expect_identical(origin_of(frame, "aft_scale"), "found") # estimated
  expect_match(shown(frame, "aft_scale"), "^[0-9]?[.]?0*[1-9][.0-9]{0,4}$") # 4 digits
  for (name in c("ties", "aft_dist", "position_bias")) {
    all <- gbt_parameters()
    expect_true(all$default[all$name == name] %in% c("efron", "normal", "additive"))
    expect_match(all$range[all$name == name], "efron|breslow|normal|logistic|extreme|additive|ratio", fixed = FALSE)
  }
  expect_identical(origin_of(used(mtcars["wt"], y, objective = "aft", aft_scale = 1), "aft_scale"), "given")
  clicks <- function(...) used(mtcars["wt"], mtcars$am, group = mtcars$gear, objective = "rank_ndcg",
                                 min_data_in_leaf = 1, ...)
  expect_identical(shown(clicks(position = mtcars$carb, position_bias = "ratio"), "position_bias"), "ratio")
  expect_false(any(gbt:::position_params %in% clicks()$parameter)) # there are no positions
})
