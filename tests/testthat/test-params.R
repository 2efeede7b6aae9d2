X <- as.matrix(mtcars[-1])
y <- mtcars$mpg
train <- function(...) gbt_train(X, y, ..., threads = 1)

test_that("the signature has the everyday parameters, with the engine's defaults", {
  table <- gbt_parameters()
  shown <- formals(gbt:::gbt_train.data.frame)
  expect_lt(length(shown), 35)
  expect_identical(names(shown)[1:3], c("x", "y", "..."))
  shown <- shown[setdiff(names(shown), c("x", "y", "...", "params"))]
  expect_identical(setdiff(names(shown), table$name), character(0))
  for (name in intersect(names(shown), gbt:::ruled_parameters())) expect_null(shown[[name]])
  for (name in names(Filter(Negate(is.null), shown))) {
    expect_identical(as.character(eval(shown[[name]])[1L]), table$default[table$name == name], label = name)
  }
})

test_that("parameters are taken by name whether or not the signature has them", {
  by_args <- train(gamma = 0.1, alpha = 0.2, cat_smooth = 3, nrounds = 2, interactions = NULL, path_smooth = 2)
  by_list <- train(params = list(gamma = 0.1, alpha = 0.2, cat_smooth = 3, path_smooth = 2, nrounds = 2))
  expect_same_bytes(by_args$state, by_list$state)
  passed_on <- function(gamma) train(gamma = gamma, nrounds = 2) # an argument that was not given
  expect_same_bytes(passed_on()$state, train(nrounds = 2)$state)
  expect_same_bytes(train(gamma = , nrounds = 2)$state, train(nrounds = 2)$state)
  # values in the data, by names that the signature of the data frame method does not have
  d <- transform(mtcars, e = wt)
  of_column <- gbt_train(carb ~ hp, d, exposure = e, objective = "poisson", nrounds = 2, threads = 1)
  of_values <- gbt_train(d["hp"], d$carb, exposure = d$e, objective = "poisson", nrounds = 2, threads = 1)
  expect_identical(as.data.frame(of_column), as.data.frame(of_values))
  expect_error(train(gam = 1), "did you mean `gamma`", class = "gbt_error_argument")
  expect_error(train(lamb = 1), "did you mean `lambda`", class = "gbt_error_argument")
  expect_error(train(gamma = 1, gamma = 2), "given twice", class = "gbt_error_argument")
})

test_that("names of parameters are completed in a terminal", {
  gbt:::offer_names()
  complete <- function(line) {
    utils:::.assignLinebuffer(line)
    utils:::.assignEnd(nchar(line))
    utils:::.guessTokenFromLine()
    utils:::.completeToken()
    grep("=$", utils:::.retrieveCompletions(), value = TRUE) # others are objects
  }
  expect_identical(complete("gbt_train(y ~ ., d, min_ch"), "min_child_weight=")
  expect_true(all(c("cat_smooth=", "cat_l2=") %in% complete("m <- gbt_train(x, y, eta = 0.1, cat_")))
  expect_identical(complete("gbt::gbt_cv(y ~ ., d, early_stopping_m"), "early_stopping_min_delta=")
  for (verb in c("gbt_tune", "gbt_refit", "gbt_job")) {
    expect_identical(complete(sprintf("%s(x, y, path_s", verb)), "path_smooth=")
  }
  expect_identical(complete("gbt_cv(x, y, repe"), "repeats=")
  expect_identical(complete("gbt_train(y ~ ., d, na.a"), "na.action=")
})

test_that("every alias means its parameter", {
  two <- list(nrounds = 3, eta = 0.3, max_depth = 2, max_leaves = 3, lambda = 2, alpha = 0.5, gamma = 0.7,
              min_child_weight = 3, min_data_in_leaf = 4, max_delta_step = 0.4, subsample = 0.5, colsample_bytree = 0.4,
              colsample_bylevel = 0.4, colsample_bynode = 0.4, max_bin = 5, max_cat_onehot = 2, seed = 7,
              early_stopping_rounds = 2, early_stopping_min_delta = 0.1, max_seconds = 60)
  for (name in names(two)) {
    for (alias in setdiff(names(which(gbt:::alias_of == name)), "border_count")) { # counts one less, see test-peers.R
      got <- gbt:::collect_args(stats::setNames(two[name], alias))
      expect_identical(got$value, two[name], label = alias)
      expect_identical(gbt:::collect_args(stats::setNames(two[name], gsub("_", ".", alias)))$value, two[name])
    }
  }
  once <- do.call(paste, gbt:::foreign_names[c("verb", "name")])
  expect_identical(unique(once[duplicated(once)]), "objective parameter alpha")
  m <- train(n.trees = 3, shrinkage = 0.3, interaction.depth = 2, reg_lambda = 2, min_child_samples = 4,
             random_state = 9, params = list(bagging_fraction = 0.5, max.bin = 20))
  o <- train(nrounds = 3, eta = 0.3, max_depth = 2, lambda = 2, min_data_in_leaf = 4, seed = 9, subsample = 0.5,
             max_bin = 20)
  expect_same_bytes(m$state, o$state)
})

test_that("every documented alias of the peers is known", {
  peers <- c(
    "learning_rate", "shrinkage", "shrinkage_rate", "step_size", "learn_rate", "num_iterations", "n_estimators",
    "iterations", "num_boost_round", "num_trees", "ntrees", "n.trees", "max_iter", "trees", "depth",
    "interaction.depth", "tree_depth", "num_leaves", "max_leaf_nodes", "reg_lambda", "l2_leaf_reg", "lambda_l2",
    "l2_regularization",
    "reg_alpha", "lambda_l1", "min_split_loss", "min_gain_to_split", "min_split_gain", "loss_reduction",
    "min_sum_hessian_in_leaf", "min_child_samples", "min_samples_leaf", "min_rows", "n.minobsinnode", "min_n",
    "bagging_fraction", "sample_rate", "bag.fraction", "sample_size", "feature_fraction", "sub_feature", "mtry",
    "col_sample_rate_per_tree", "feature_fraction_bynode", "rsm", "max_bins", "border_count", "nbins", "nthread",
    "nthreads", "num_threads", "n_jobs", "thread_count", "device_type", "task_type", "tree_method", "loss_function",
    "distribution", "loss", "app", "metric", "custom_loss", "early_stopping_round", "od_wait", "n_iter_no_change",
    "stopping_rounds", "random_state", "random_seed", "base_margin", "init_score", "baseline", "weight",
    "sample_weight", "evals", "watchlist", "valids", "eval_set", "test_pool", "monotone_constraints", "mc",
    "var.monotone", "monotonic_cst", "cat_features", "categorical_feature", "timestamp", "max_ctr_complexity",
    "max.depth"
  )
  expect_false(anyNA(gbt:::canonical_name(peers)))
})

test_that("values of peers are moved to ours", {
  got <- function(...) gbt:::collect_args(list(...))$value
  expect_identical(got(tree_method = "hist"), list())
  expect_identical(got(tree_method = "gpu_hist"), list(device = "cuda"))
  expect_identical(got(booster = "gbtree", boosting_type = "Plain"), list(boosting = "plain"))
  expect_identical(got(booster = "gbdt"), list())
  expect_identical(got(boosting_type = "Ordered"), list(boosting = "ordered"))
  expect_identical(got(task_type = "GPU"), list(device = "cuda"))
  expect_identical(got(device = "cuda:1"), list(device = "cuda:1"))
  expect_identical(got(device = "GPU:2"), list(device = "cuda:2"))
  expect_identical(got(device = "cpu", gpu_id = 0, num_gpu = 1), list(device = "cpu"))
  expect_identical(got(grow_policy = "Lossguide"), list(grow_policy = "lossguide"))
  expect_identical(got(grow_policy = "SymmetricTree"), list(grow_policy = "symmetric"))
  expect_identical(got(grow_policy = "oblivious"), list(grow_policy = "symmetric"))
  expect_identical(got(), list())
  expect_identical(got(eta = NULL), list())
  # what asks for the usual is accepted
  expect_identical(got(silent = 1, seed_per_iteration = NULL, logging_level = "Silent", quiet = TRUE, num_machines = 1),
                   list())
  expect_identical(got(n.cores = 2, ntree = 7), list(threads = 2, nrounds = 7))
  expect_identical(got(scale_pos_weight = 1, missing = NA, enable_categorical = TRUE, bagging_freq = 1L), list())
})

test_that("a count of features becomes a share that gives the count back", {
  for (p in c(1:40, 997)) for (k in unique(pmin(p, c(1, 2, 3, 7, p)))) {
    expect_identical(floor(gbt:::share_of_features(k, p) * p + 0.5), as.double(k))
  }
  expect_identical(train(mtry = 3, nrounds = 1, seed = 1)$params$colsample_bytree, 0.3)
})

test_that("nothing is ignored in silence", {
  expect_snapshot(error = TRUE, {
    train(etta = 0.1)
    train(colsample = 0.5)
    train(100)
    train(eta = 0.1, learning_rate = 0.2)
    train(eta = 0.1, params = list(shrinkage = 0.2))
    train(params = list(0.3))
    train(params = 3)
    train(mtry = 3, colsample_bytree = 0.5)
    train(tree_method = "gpu_hist", device = "cpu")
    train(tree_method = "approx")
    train(booster = "gblinear")
    train(boosting = "rf")
    train(class_names = "a")
    train(rate_drop = 0.2)
    train(tweedie_variance_power = 1.5)
    train(silent = FALSE)
    train(nodesize = 5)
    train(label = y)
    gbt_train(mpg ~ ., mtcars, y = y)
    train(missing = -1)
    train(group = 1)
    train(qid = 1)
    train(has_time = TRUE)
    train(simple_ctr = "Borders")
    train(cat_method = "targets")
    train(checkpoint = 1)
    train(grow_policy = "SymmetricTree", depth = 0, num_leaves = 8)
    train(grow_policy = "symmetric", max_depth = 17)
    train(grow_policy = "symmetric", feature_fraction_bynode = 0.5)
    train(grow_policy = "sideways")
    train(num_class = 3)
    train(device = "gppu")
    train(gpu_id = 1)
    train(cat_features = "wt")
  })
  expect_error(train(class_names = "a"), class = "gbt_error_unsupported")
  expect_error(train(etta = 1), class = "gbt_error_argument")
  # equal values under two names are no contradiction
  expect_identical(train(eta = 0.2, learning_rate = 0.2, nrounds = 1)$params$eta, 0.2)
})

test_that("every numeric parameter is checked: type, length, range", {
  table <- rbind(gbt:::host_table, gbt:::params_table())
  numbers <- table[table$kind != "enum", ]
  for (i in seq_len(nrow(numbers))) {
    info <- numbers[i, ]
    below <- if (info$open_low) info$low else info$low - 1
    wrong <- list(below, "a", c(1, 2), NA_real_, Inf, list(1), if (info$kind == "int") 1.5)
    if (info$high < 1e9) wrong <- c(wrong, list(info$high * 2 + 1))
    for (value in wrong) {
      args <- stats::setNames(list(value), info$name)
      if (is.null(value)) next
      e <- tryCatch(do.call(train, args), gbt_error_argument = identity)
      expect_s3_class(e, "gbt_error_argument")
      expect_identical(e$parameter, info$name)
      expect_match(conditionMessage(e), info$name, fixed = TRUE)
    }
  }
  for (name in table$name[table$kind == "enum"]) {
    expect_error(do.call(train, stats::setNames(list("nonsense"), name)), name, class = "gbt_error_argument")
  }
})

test_that("messages about values help", {
  expect_snapshot(error = TRUE, {
    train(eta = 2)
    train(learning_rate = -1)
    train(eta = "0.1")
    train(max_depth = -1)
    train(max_depth = 0)
    train(max_depth = 3.5)
    train(grad_bits = 8)
    train(seed = -1)
    train(seed = 2^60)
    train(lambda = 1e308)
    train(verbose = "yes")
    train(progress = 1)
    train(threads = 0)
    train(nrounds = 9, early_stopping_min_delta = 1)
    train(nrounds = 9, early_stopping_rounds = 5)
  })
})

test_that("parameters that cannot show in a model are not kept with it", {
  m <- train(nrounds = 2, verbose = 0, hist_memory = 7, device_memory = 3000, page_rows = 10)
  expect_same_bytes(m$state, gbt_train(X, y, nrounds = 2, threads = 2)$state)
  hidden <- c("threads", "device", "page_rows", "verbose", "hist_memory", "device_memory")
  expect_length(intersect(names(m$params), hidden), 0)
})

test_that("a parameter whose name is missing has no name, in `params` or in the call", {
  for (name in c("", NA)) {
    expect_error(train(params = stats::setNames(list(3), name)), "`params` has an argument without a name",
                 class = "gbt_error_argument")
  }
  expect_error(train(params = list(3)), "`params` has an argument without a name", class = "gbt_error_argument")
})

test_that("texts that lower case fails on are wrong names like others", {
  for (odd in c("eta\uffff", "\ufffe", "et\xffa")) {
    expect_error(do.call(train, stats::setNames(list(1), odd)), "unknown parameter", class = "gbt_error_argument")
    expect_error(train(objective = odd), class = "gbt_error_argument")
    expect_error(train(eval_metric = odd, eval_train = TRUE), class = "gbt_error_argument")
    expect_error(train(tree_method = odd), class = "gbt_error_argument")
    expect_error(train(booster = odd), class = "gbt_error_unsupported")
    expect_error(train(grow_policy = odd), class = "gbt_error_argument")
    expect_error(train(device = odd), class = "gbt_error_argument")
    expect_error(train(sampling_method = odd), class = "gbt_error_argument")
    expect_error(train(monotone = stats::setNames(1, odd)), "not a feature", class = "gbt_error_argument")
  }
  # as a name of a column such a text is a text
  d <- stats::setNames(data.frame(1:8, 8:1), c("y", "\uffff"))
  expect_identical(gbt_train(y ~ ., d, nrounds = 1, threads = 1)$feature_names, "\uffff")
})

test_that("a single number that is named by a column is refused, for it would hold for all columns", {
  d <- mtcars
  info <- rbind(gbt:::params_table(), gbt:::host_table)
  by_class <- "subsample"
  for (name in setdiff(c(info$name[info$kind != "enum"], unname(gbt:::objective_params()), "mtry"), by_class)) {
    args <- gbt:::collect_args(stats::setNames(list(c(wt = 1)), name))
    e <- tryCatch(gbt:::check_not_by_column(args, list(x = d[-1])), error = identity)
    expect_match(conditionMessage(e), sprintf("`%s` is one value for all columns", name))
    expect_identical(e$parameter, name)
  }
  refused <- function(expr) expect_error(expr, "one value for all columns", class = "gbt_error_argument")
  refused(gbt_train(mpg ~ ., d, nrounds = 2, max_bin = c(wt = 10)))
  refused(gbt_train(mpg ~ log(wt) + hp, d, nrounds = 2, max_bin = c(wt = 10)))
  refused(gbt_train(mpg ~ ., d, nrounds = 2, max_bin = c(Wt = 10)))
  refused(gbt_train(as.matrix(d[-1]), d$mpg, nrounds = 2, max_bin = c(wt = 10)))
  refused(gbt_train(gbt_data(d[-1]), d$mpg, nrounds = 2, reg_lambda = c(wt = 10)))
  refused(gbt_train(d[-1], d$mpg, nrounds = 2, params = list(lambda = c(wt = 10))))
  refused(gbt_data(d[-1], max_bin = c(wt = 10)))
  refused(gbt_data(as.matrix(d[-1]), max_bin = c(wt = 10)))
  refused(gbt_cv(mpg ~ ., d, nrounds = 2, max_bin = c(wt = 10)))
  refused(gbt_tune(mpg ~ ., d, space = list(eta = c(0.1, 0.2)), configs = 2, nrounds = 2, max_bin = c(wt = 10)))
  # a name that says how the number came about is none of a column
  plain <- gbt_train(mpg ~ ., d, nrounds = 2, eta = 0.2, max_bin = 9, objective = "huber", huber_delta = 4, threads = 1)
  again <- gbt_train(mpg ~ ., d, nrounds = 2, eta = c(learning_rate = 0.2), max_bin = c(max_bin = 9),
                     objective = "huber", huber_delta = c("90%" = 4), threads = 1)
  expect_identical(again$state, plain$state)
  # those that are by column take one
  expect_identical(gbt_train(mpg ~ ., d, nrounds = 2, monotone = c(wt = -1))$params$monotone[["wt"]], -1L)
  m <- gbt_train(mpg ~ ., d, nrounds = 2, first_use_penalty = c(wt = 3))
  expect_identical(m$params$first_use_penalty[["wt"]], 3)
  m <- gbt_train(mpg ~ ., d, nrounds = 2, feature_weights = c(wt = 3))
  expect_identical(m$params$feature_weights[["wt"]], 3)
  expect_length(gbt_train(mpg ~ ., d, nrounds = 2, interactions = list(a = c("wt", "hp")))$params$interactions, 1)
})

test_that("numbers by name are those of a model where only names of the usual number differ", {
  d <- data.frame(a = 1:20 / 3, b = rep(1:4, 5), y = sin(1:20))
  train <- function(...) gbt_train(y ~ ., d, nrounds = 2, threads = 1, ...)
  m <- train(monotone = c(a = 1), feature_weights = c(b = 2))
  again <- train(params = m$params, monotone = c(a = 1), feature_weights = c(b = 2, a = 1))
  expect_same_bytes(again$state, m$state)
  expect_error(train(params = m$params, monotone = c(a = 1, b = 1)), "`monotone` is given twice with different values",
               class = "gbt_error_argument")
  for (part in c("monotone", "feature_weights", "first_use_penalty")) { # of the model, and alone
    given <- stats::setNames(list(c(a = 1, 1, 1)), part)
    for (params in list(m$params, NULL)) {
      e <- expect_error(do.call(train, c(list(params = params), given)), "number 2 has none",
                        class = "gbt_error_argument")
      expect_identical(e$parameter, part)
    }
  }
  expect_error(train(params = m$params, feature_weights = c(a = 2)), "`feature_weights` is given twice",
               class = "gbt_error_argument")
})
