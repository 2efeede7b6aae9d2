# Methods for other packages, called as those packages call them. docs/integrations.md says what was tried with them.

# the log says which packages were there
for (package in c("bit64", "callr", "data.table", "DBI", "generics", "knitr", "Matrix", "parsnip", "mlr3", "caret",
                  "shapviz", "treeshap", "fastshap", "R6", "recipes", "rmarkdown", "shiny", "tibble")) {
  version <- if (nzchar(system.file(package = package))) as.character(utils::packageVersion(package)) else "not there"
  cat(sprintf("\npackage %s: %s", package, version))
}
cat("\n")

m <- gbt_train(mpg ~ ., mtcars, nrounds = 10, threads = 1)
k <- gbt_train(Species ~ ., iris, nrounds = 5, threads = 1)
p <- gbt_train(cyl ~ wt + log(hp), mtcars, objective = "poisson", nrounds = 10, threads = 1)
ns <- asNamespace("gbt")
method <- function(name) get(name, ns)

test_that("parsnip's arguments become those of gbt_train()", {
  x <- mtcars[-1]
  a <- gbt_engine_fit(x, mtcars$mpg, mtry = 5, sample_size = 16, nrounds = 4, seed = 1, threads = 1)
  b <- gbt_train(x, mtcars$mpg, colsample_bynode = 0.5, subsample = 0.5, nrounds = 4, seed = 1, threads = 1)
  expect_identical(a$state, b$state)
  expect_null(a$call)
  share <- gbt_engine_fit(x, mtcars$mpg, mtry = 0.5, counts = FALSE, sample_size = 0.5, nrounds = 4, seed = 1,
                          threads = 1)
  expect_identical(share$state, b$state)
  w <- seq(0.5, 1.5, length.out = 32)
  expect_identical(gbt_engine_fit(x, mtcars$mpg, w, nrounds = 3, threads = 1)$state,
                   gbt_train(x, mtcars$mpg, weights = w, nrounds = 3, threads = 1)$state)
  s <- gbt_engine_fit(x, mtcars$mpg, stop_iter = 2, validation = 0.25, nrounds = 50, seed = 1, threads = 1)
  t <- gbt_train(x, mtcars$mpg, early_stopping_rounds = 2, valid = 0.25, nrounds = 50, seed = 1, threads = 1)
  expect_identical(s$state, t$state)
  expect_snapshot(error = TRUE, {
    gbt_engine_fit(x, mtcars$mpg, mtry = 0)
    gbt_engine_fit(x, mtcars$mpg, mtry = 3, counts = FALSE)
    gbt_engine_fit(x, mtcars$mpg, sample_size = 0)
    gbt_engine_fit(x, mtcars$mpg, validation = 1)
    gbt_engine_fit(x, mtcars$mpg, stop_iter = 0)
    gbt_engine_fit(x, mtcars$mpg, mtry = 3, colsample_bynode = 0.5)
    gbt_engine_fit(x, mtcars$mpg, sample_size = 0.5, bagging_fraction = 0.5)
    gbt_engine_fit(x, mtcars$mpg, stop_iter = 3, early_stopping_rounds = 5)
    gbt_engine_fit(x, mtcars$mpg, validation = 0.2, valid = 0.1)
    gbt_engine_fit(x, mtcars$mpg, quantile_levels = 1)
    gbt_engine_fit(x, mtcars$mpg, quantile_levels = 0.5, objective = "quantile")
  })
})

test_that("parsnip's engine cuts `mtry`, logs validation rows without early stopping and has models of quantiles", {
  x <- mtcars[-1]
  expect_warning(all <- gbt_engine_fit(x, mtcars$mpg, mtry = 11, nrounds = 2, seed = 1, threads = 1),
                 "`mtry` is 11, but there are 10 columns: all are used", class = "gbt_warning_mtry")
  expect_identical(all$params$colsample_bynode, 1)
  logged <- gbt_engine_fit(x, mtcars$mpg, validation = 0.25, nrounds = 6, seed = 1, threads = 1)
  expect_named(logged$evaluation_log, c("round", "valid_rmse"))
  expect_null(logged$best_round)
  expect_identical(logged$nrounds, 6L)
  plain <- gbt_engine_fit(x, mtcars$mpg, validation = 0, nrounds = 6, seed = 1, threads = 1)
  expect_same_bytes(plain$state, gbt_train(x, mtcars$mpg, nrounds = 6, seed = 1, threads = 1)$state)
  both <- gbt_engine_fit(x, mtcars$mpg, quantile_levels = c(0.25, 0.75), nrounds = 5, seed = 1, threads = 1)
  one <- gbt_train(x, mtcars$mpg, objective = "quantile", quantile_alpha = c(0.25, 0.75), nrounds = 5, seed = 1,
                   threads = 1)
  expect_same_bytes(both$state, one$state)
  expect_identical(dim(predict(both, x[1, ])), c(1L, 2L))
  early <- gbt_engine_fit(x, mtcars$mpg, quantile_levels = c(0.1, 0.9), stop_iter = 2, nrounds = 50, threads = 1)
  expect_false(is.null(early$best_round))
  expect_error(gbt_engine_fit(x, mtcars$mpg, quantile_levels = c(0.9, 0.1)), "ascending", class = "gbt_error_argument")
})

test_that("multi_predict() has the predictions of each number of rounds", {
  skip_if_not_installed("tibble")
  fit <- list(fit = k, lvl = c(levels(iris$Species), "none"))
  rows <- iris[c(1, 51, 101), ]
  all <- method("multi_predict._gbt")(fit, rows, type = "prob", trees = c(5, 2))$.pred
  expect_length(all, 3)
  expect_identical(all[[2]]$trees, c(2L, 5L))
  for (j in 1:2) {
    want <- predict(k, rows, type = "prob", trees = c(2, 5)[j])
    expect_identical(vapply(all, function(a) a$.pred_versicolor[j], 0), unname(want[, "versicolor"]))
  }
  expect_identical(all[[1]]$.pred_none, c(0, 0))
  classes <- method("multi_predict._gbt")(fit, rows)$.pred
  expect_identical(as.character(classes[[3]]$.pred_class), "virginica")
  expect_identical(vapply(method("multi_predict._gbt")(fit, rows, type = "prob", trees = c(9, 5))$.pred,
                          function(a) diff(a$.pred_setosa), 0), c(0, 0, 0)) # 9 of 5 rounds
  expect_error(method("multi_predict._gbt")(fit, rows, trees = -1), "at least 0", class = "gbt_error_argument")
  numbers <- method("multi_predict._gbt")(list(fit = m), mtcars[1:2, ], trees = 3)$.pred
  expect_identical(numbers[[2]]$.pred, unname(predict(m, mtcars[2, ], trees = 3)))
  expect_error(method("multi_predict._gbt")(fit, newdata = rows), class = "gbt_error_argument")
})

test_that("caret's list", {
  caret <- gbt_caret()
  grid <- expand.grid(nrounds = c(5, 20, 10), max_depth = c(2, 4), eta = 0.1, gamma = 0, colsample_bytree = 1,
                      min_data_in_leaf = 1, subsample = 1)
  loop <- caret$loop(grid)
  expect_identical(loop$loop$nrounds, c(20, 20))
  expect_identical(loop$submodels[[1]]$nrounds, c(5, 10))
  fit <- caret$fit(iris[-5], iris$Species, NULL, loop$loop[1, ], levels(iris$Species), FALSE, TRUE, threads = 1)
  expect_null(fit$call)
  out <- caret$predict(fit, iris, loop$submodels[[1]])
  expect_identical(out[[2]], as.character(predict(fit, iris, type = "class", trees = 5)))
  prob <- caret$prob(fit, iris, loop$submodels[[1]])
  expect_identical(prob[[3]]$setosa, unname(predict(fit, iris, type = "prob", trees = 10)[, 1]))
  expect_identical(sort(rownames(caret$varImp(fit))), sort(names(iris)[-5]))
  expect_error(caret$fit(iris[-5], iris$Species, NULL, loop$loop[1, ], NULL, FALSE, TRUE, learning_rate = 1),
               class = "gbt_error_argument")
  passed <- caret$fit(iris[-5], iris$Species, NULL, loop$loop[1, ], NULL, FALSE, TRUE, threads = 1, seed = 1,
                      na.action = stats::na.pass) # train(x, y, na.action = )
  expect_identical(passed$state, caret$fit(iris[-5], iris$Species, NULL, loop$loop[1, ], NULL, FALSE, TRUE, threads = 1,
                                           seed = 1)$state)
  expect_error(caret$fit(iris[-5], iris$Species, NULL, loop$loop[1, ], NULL, FALSE, TRUE, na.action = stats::na.omit),
               "`na.action` must be na.pass", class = "gbt_error_argument")
  for (len in 1:4) expect_identical(names(caret$grid(iris[-5], iris$Species, len)), caret$parameters$parameter)
  expect_identical(nrow(caret$grid(iris[-5], iris$Species, 7, "random")), 7L)
  drawn <- withr::with_seed(1, caret$grid(mtcars[-1], mtcars$mpg / 100, 50, "random"))
  expect_true(all(drawn$min_data_in_leaf == 1) && max(drawn$gamma) < 0.002)
})

test_that("tables of broom", {
  skip_if_not_installed("generics")
  expect_identical(generics::tidy(m)$feature, gbt_importance(m)$feature)
  expect_identical(generics::glance(k)$nrounds, 5L)
  a <- generics::augment(m, mtcars)
  expect_equal(a$.fitted + a$.resid, mtcars$mpg)
  b <- generics::augment(k, iris)
  expect_identical(b$.prob_virginica, unname(predict(k, iris, type = "prob")[, 3]))
  expect_identical(b$.fitted, unname(predict(k, iris, type = "class")))
  x <- as.matrix(mtcars[-1])
  plain <- gbt_train(unname(x), mtcars$mpg, nrounds = 2, threads = 1)
  expect_identical(generics::augment(plain, unname(x))$.fitted, unname(predict(plain, unname(x))))
  expect_named(generics::augment(plain, unname(x)), c(paste0("f", 1:10), ".fitted"))
  expect_error(generics::augment(plain, function(i) NULL), class = "gbt_error_unsupported")
  skip_if_not_installed("Matrix")
  sparse <- Matrix::Matrix(x, sparse = TRUE)
  gaps <- gbt_train(sparse, mtcars$mpg, nrounds = 3, sparse_zero = "missing", threads = 1)
  rows <- generics::augment(gaps, sparse)
  expect_identical(rows$.fitted, unname(predict(gaps, sparse)))
  expect_identical(rows$am, mtcars$am)
})

test_that("methods that explain and serve", {
  vi <- method("vi_model.gbt")(m, type = "cover")
  expect_identical(vi$Importance, gbt_importance(m, "cover")$cover)
  expect_identical(method("yhat.gbt")(m, mtcars), unname(predict(m, mtcars)))
  expect_identical(method("model_info.gbt")(k)$type, "multiclass")
  long <- method("get_predict.gbt")(k, iris)
  expect_identical(long$estimate[long$group == "setosa"], unname(predict(k, iris)[, 1]))
  padded <- cbind(iris[c(1, 1, 2), ], rowid = c(-1, 1, 2)) # marginaleffects numbers rows of its own below 0
  expect_identical(method("get_predict.gbt")(k, padded)$rowid, rep(c(-1, 1, 2), 3))
  expect_identical(method("get_predict.gbt")(m, cbind(mtcars[1:2, ], rowid = c(7, 9)))$rowid, c(7, 9))
  expect_warning(expect_null(method("get_data.gbt")(m)), class = "gbt_warning_no_training_data")
  expect_null(method("get_data.gbt")(m, verbose = FALSE))
  expect_identical(method("find_predictors.gbt")(p), list(conditional = c("wt", "hp")))
  expect_identical(method("find_response.gbt")(p), "cyl")
  axed <- method("axe_call.gbt")(m)
  expect_null(axed$call)
  expect_identical(predict(axed, mtcars), predict(m, mtcars))
  ptype <- method("vetiver_ptype.gbt")(gbt_train(Sepal.Length ~ ., iris, nrounds = 2, threads = 1))
  expect_identical(dim(ptype), c(0L, 4L))
  expect_identical(levels(ptype$Species), levels(iris$Species))
  expect_error(method("vetiver_ptype.gbt")(p), class = "gbt_error_argument")
  serve <- method("handler_predict.gbt")(list(model = k, prototype = NULL))
  expect_identical(serve(list(body = iris))$.pred_setosa, unname(predict(k, iris)[, 1]))
  expect_match(method("knit_print.gbt")(m), "squared_error")
})

test_that("likelihoods and draws", {
  mean <- unname(predict(p, mtcars))
  expect_equal(deviance(p, mtcars), sum(poisson()$dev.resids(mtcars$cyl, mean, 1)))
  expect_equal(as.numeric(logLik(p, mtcars)), sum(dpois(mtcars$cyl, mean, log = TRUE)))
  expect_equal(deviance(m, mtcars), sum(residuals(m, mtcars)^2))
  sure <- gbt_train(am ~ wt, transform(mtcars, am = am == 1), nrounds = 2, threads = 1)
  wrong <- deviance(sure, mtcars[1:2, ], c(TRUE, FALSE), offset = c(50, 50)) # a probability of 1 but for rounding
  expect_equal(wrong, 2 * (50 + unname(predict(sure, mtcars[2, ], "link"))), tolerance = 1e-12)
  expect_equal(as.numeric(logLik(sure, mtcars[1:2, ], c(TRUE, FALSE), offset = c(50, 50))), -wrong / 2)
  chosen <- predict(k, iris)[cbind(1:150, as.integer(iris$Species))]
  expect_equal(deviance(k, iris), -2 * sum(log(chosen)))
  s <- simulate(k, 200, seed = 1, newdata = iris[51, ])
  expect_equal(mean(unlist(s) == "versicolor"), unname(predict(k, iris[51, ])[, 2]), tolerance = 0.2)
  expect_identical(simulate(p, 2, seed = 1, newdata = mtcars), simulate(p, 2, seed = 1, newdata = mtcars))
  # what ?simulate promises: a seed leaves the generator alone, and the attribute repeats the draws
  set.seed(5)
  before <- .Random.seed
  seeded <- simulate(p, 2, seed = 3, newdata = mtcars)
  expect_identical(.Random.seed, before)
  expect_identical(attr(seeded, "seed"), structure(3, kind = as.list(RNGkind())))
  free <- simulate(p, 2, newdata = mtcars)
  expect_identical(attr(free, "seed"), before)
  expect_false(identical(.Random.seed, before))
  assign(".Random.seed", attr(free, "seed"), globalenv())
  expect_identical(simulate(p, 2, newdata = mtcars), free)
  expect_error(simulate(p, 2, seed = "a", newdata = mtcars), "set.seed", class = "gbt_error_argument")
  amount <- gbt_train(mpg ~ wt, mtcars, objective = "gamma", nrounds = 3, threads = 1)
  expect_equal(deviance(amount, mtcars), sum(Gamma()$dev.resids(mtcars$mpg, unname(predict(amount, mtcars)), 1)))
  expect_identical(attr(terms(m), "term.labels"), names(mtcars)[-1])
  expect_snapshot(error = TRUE, {
    logLik(amount, mtcars)
    simulate(m, newdata = mtcars)
    model.frame(m)
    deviance(m, mtcars[-1])
    residuals(k, iris)
  })
})

test_that("models and nodes as tables", {
  d <- data.frame(y = 1:60, g = rep(letters[1:6], each = 10))
  factors <- gbt_train(y ~ g, d, nrounds = 3, max_cat_onehot = 1, cat_method = "sets", min_data_in_leaf = 1,
                       threads = 1)
  nodes <- as.data.frame(factors)
  file <- withr::local_tempfile(fileext = ".csv")
  write.csv(nodes, file, row.names = FALSE)
  text <- read.csv(file)
  joined <- function(l) if (is.null(l)) NA_character_ else paste(l, collapse = " | ")
  expect_identical(text$levels, vapply(nodes$levels, joined, ""))
  expect_true(any(grepl(" | ", text$levels, fixed = TRUE)) && anyNA(text$levels))
  expect_identical(text$node, nodes$node)
  expect_identical(as.character(nodes[3:2, ]$levels), as.character(nodes$levels)[3:2])
  expect_type(nodes$levels[[1]], "character")
  skip_if_not_installed("knitr")
  expect_identical(knitr::kable(k), knitr::kable(as.data.frame(gbt_importance(k))))
  expect_true(any(grepl(" | ", knitr::kable(nodes, format = "latex"), fixed = TRUE)))
})

test_that("methods that compare responses refuse other forms of predictions and read responses of terms", {
  m <- gbt_train(log(mpg) ~ wt, mtcars, nrounds = 3, threads = 1)
  expect_equal(residuals(m, mtcars), log(mtcars$mpg) - predict(m, mtcars))
  expect_error(residuals(m, mtcars, type = "leaf"), "cannot be used here", class = "gbt_error_argument")
  expect_error(deviance(m, mtcars, output = "x"), "cannot be used here", class = "gbt_error_argument")
})

test_that("contributions become objects of shapviz", {
  with_stand_ins(list(shapviz = stand_in_shapviz), {
    made <- method("shapviz.gbt")(m, mtcars[1:9, ], interactions = TRUE, threads = 1)
    s <- gbt_shap(m, mtcars[1:9, ], threads = 1)
    expect_identical(made$S, s$values)
    expect_identical(made$X, mtcars[1:9, -1])
    expect_identical(made$baseline, s$base)
    expect_equal(apply(made$S_inter, 1:2, sum), made$S, ignore_attr = TRUE)
    classes <- method("shapviz.gbt_shap")(gbt_shap(k, iris, rows = 20, interaction = TRUE, threads = 1))
    expect_named(classes, levels(iris$Species))
    s <- gbt_shap(k, iris, rows = 20, threads = 1)
    for (j in 1:3) {
      expect_identical(classes[[j]]$S, s$values[, , j])
      expect_identical(classes[[j]]$baseline, s$base[[j]])
      expect_equal(apply(classes[[j]]$S_inter, 1:2, sum), s$values[, , j], ignore_attr = TRUE)
    }
    expect_identical(method("shapviz.gbt_shap")(s, which_class = 2)$S, s$values[, , 2])
    terms <- method("shapviz.gbt")(p, mtcars, threads = 1) # columns of the formula
    expect_named(terms$X, c("wt", "log(hp)"))
    expect_error(method("shapviz.gbt_shap")(s, which_class = 4), class = "gbt_error_argument")
  })
})

test_that("fastshap's explain() gives exact contributions", {
  explain <- method("explain.gbt")
  s <- gbt_shap(m, mtcars[1:5, ], threads = 1)
  got <- explain(m, X = mtcars, newdata = mtcars[1:5, ], exact = TRUE)
  expect_s3_class(got, "explain")
  expect_identical(unclass(got), structure(s$values, baseline = s$base))
  whole <- explain(m, feature_names = c("hp", "wt"), X = mtcars[1:5, ], exact = TRUE, shap_only = FALSE)
  expect_identical(whole$shapley_values, s$values[, c("hp", "wt")])
  expect_identical(whole$feature_values, mtcars[1:5, c("hp", "wt")])
  expect_identical(whole$baseline, s$base)
  expect_error(explain(k, X = iris, exact = TRUE), "one output", class = "gbt_error_unsupported")
  expect_error(explain(m, X = mtcars, nsim = 10, exact = TRUE), "`nsim` cannot be combined",
               class = "gbt_error_argument")
  expect_error(explain(m, exact = TRUE), "rows to explain", class = "gbt_error_argument")
  expect_error(explain(m, X = mtcars, feature_names = "hpp", exact = TRUE), "did you mean",
               class = "gbt_error_argument")
  # else by simulation: the next method of the class, with all arguments
  generic <- function(object, ...) UseMethod("explain")
  assign("explain.default", function(object, X = NULL, nsim = 1, ...) list(nsim, X), environment(generic))
  assign("explain.gbt", explain, environment(generic))
  expect_identical(generic(m, X = mtcars, nsim = 7), list(7, mtcars))
})

test_that("treeshap gets trees that predict raw scores", {
  unify <- method("unify.gbt")
  x <- airquality[-1]
  y <- ifelse(is.na(airquality$Ozone), 10, airquality$Ozone)
  for (parallel in c(1, 3)) {
    f <- gbt_train(x, y, nrounds = 4, num_parallel_tree = parallel, subsample = 0.8, valid = 0.3,
                   early_stopping_rounds = 1, seed = 1, threads = 1)
    u <- unify(f, x)
    expect_equal(predict_unified(u, x), unname(predict(f, x, "link")), tolerance = 1e-13)
    expect_identical(sum(u$model$Node == 0), as.integer(parallel * gbt:::rounds_used(f)))
    at <- which(!is.na(u$model$Feature))
    expect_equal(u$model$Cover[at], u$model$Cover[u$model$Yes[at]] + u$model$Cover[u$model$No[at]], tolerance = 1e-12)
    classes <- gbt_train(iris[-5], iris$Species, nrounds = 3, num_parallel_tree = parallel, threads = 1)
    all <- unify(classes, iris)
    expect_s3_class(all, "model_unified_multioutput")
    for (j in 1:3) {
      expect_equal(predict_unified(all[[j]], iris[-5]), unname(predict(classes, iris, "link")[, j]), tolerance = 1e-13)
    }
  }
  expect_equal(predict_unified(unify(p, mtcars), data.frame(wt = mtcars$wt, `log(hp)` = log(mtcars$hp),
                                                            check.names = FALSE)),
               unname(predict(p, mtcars, "link")), tolerance = 1e-13)
  factors <- gbt_train(Sepal.Length ~ ., iris, nrounds = 5, grow_policy = "depthwise", max_depth = 6, lambda = 1,
                 colsample_bytree = 1, threads = 1)
  expect_snapshot(error = TRUE, {
    unify(factors, iris)
    unify(m, mtcars[1:3])
  })
})

test_that("parsnip's registry has an engine that trains and predicts", {
  skip_if_not_installed("tibble")
  parsnip <- stand_in_parsnip()
  with_stand_ins(list(parsnip = parsnip$of), {
    method("register_parsnip")()
    method("register_parsnip")() # once more: gbt was loaded again
  })
  expect_identical(parsnip$engines$mode[parsnip$engines$engine == "gbt"],
                   c("regression", "classification", "quantile regression", "censored regression"))
  expect_setequal(names(parsnip$args), c("trees", "tree_depth", "learn_rate", "mtry", "min_n", "loss_reduction",
                                         "sample_size", "stop_iter", "lambda", "alpha", "max_leaves",
                                         "scale_pos_weight", "colsample_bytree"))
  expect_identical(parsnip$args$learn_rate$func, list(pkg = "dials", fun = "learn_rate", range = c(-3, -0.5)))
  # with a submodel tune would rate the first rounds of the longest training, whose `eta` follows from its length
  expect_false(any(vapply(parsnip$args, `[[`, NA, "has_submodel")))
  fit <- parsnip$train("regression", mtcars[-1], mtcars$mpg, trees = 7, tree_depth = 2, learn_rate = 0.2, mtry = 5,
                       min_n = 3, loss_reduction = 0.1)
  want <- gbt_train(mtcars[-1], mtcars$mpg, nrounds = 7, max_depth = 2, eta = 0.2, colsample_bynode = 0.5,
                    min_data_in_leaf = 3, gamma = 0.1, seed = fit$fit$params$seed, threads = 1)
  expect_same_bytes(fit$fit$state, want$state)
  expect_identical(parsnip$predict(fit, mtcars, "numeric"), as.vector(predict(want, mtcars)))
  y <- factor(iris$Species, c(levels(iris$Species), "none"))
  fit <- parsnip$train("classification", iris[-5], y, trees = 3)
  expect_identical(parsnip$predict(fit, iris, "class"), predict(fit$fit, iris, type = "class"))
  prob <- parsnip$predict(fit, iris, "prob")
  expect_named(prob, levels(y))
  expect_identical(prob$setosa, unname(predict(fit$fit, iris, type = "prob")[, "setosa"]))
  expect_identical(parsnip$predict(fit, iris, "raw"), predict(fit$fit, iris, type = "link"))
  fit <- parsnip$train("quantile regression", mtcars[-1], mtcars$mpg, trees = 3, quantile_levels = c(0.1, 0.9))
  expect_identical(parsnip$predict(fit, mtcars, "quantile")$.pred_quantile, predict(fit$fit, mtcars))
  d <- data.frame(time = 1:40, status = rep(c(1, 1, 0), length.out = 40), a = sin(1:40), b = c(NA, cos(2:40)))
  for (objective in c("cox", "aft")) {
    fit <- parsnip$train("censored regression", Surv(time, status) ~ ., d, trees = 3, mtry = 1)
    if (objective == "aft") fit$fit <- gbt_train(Surv(time, status) ~ ., d, objective = "aft", nrounds = 3, threads = 1)
    link <- as.vector(predict(fit$fit, d, type = "link"))
    linear <- parsnip$predict(fit, d, "linear_pred")
    expect_identical(linear, if (objective == "cox") -link else link)
    times <- parsnip$predict(fit, d, "time")
    expect_gt(stats::cor(linear, times, method = "spearman"), 0.99) # rises with time
    curves <- parsnip$predict(fit, d[1:2, ], "survival", eval_time = c(20, 0, 5))
    want <- predict(fit$fit, d[1:2, ], "survival", times = c(0, 5, 20))
    expect_identical(curves$.pred[[2]]$.eval_time, c(20, 0, 5))
    expect_identical(curves$.pred[[2]]$.pred_survival, unname(want[2, c(3, 1, 2)]))
    for (levels in list(0.5, c(0.25, 0.5))) {
      quantiles <- parsnip$predict(fit, d, "quantile", quantile_levels = levels)$.pred_quantile
      expect_identical(as.vector(quantiles), as.vector(predict(fit$fit, d, "quantile", probs = levels)))
      expect_identical(ncol(quantiles), length(levels))
    }
  }
  half <- parsnip$train("censored regression", Surv(time, status) ~ ., d, mtry = 1)$fit
  expect_equal(half$params$colsample_bynode, 0.5)
  expect_error(getFromNamespace("multi_predict._gbt", "gbt")(fit, d), "censored regression",
               class = "gbt_error_unsupported")
  older <- stand_in_parsnip(c("unknown", "regression", "classification"))
  with_stand_ins(list(parsnip = older$of), method("register_parsnip")())
  expect_identical(older$engines$mode[older$engines$engine == "gbt"], c("regression", "classification"))
})

# Learners of the stand-in, whose classes are forgotten after the test.
with_mlr3 <- function(stand, code) {
  package_state <- method("package_state")
  drop <- function() for (its in method("mlr3_kinds")) package_state[[its$class]] <- NULL
  on.exit(drop())
  drop()
  with_stand_ins(stand[c("mlr3", "paradox", "mlr3proba")], {
    method("register_mlr3")()
    code
  })
}

test_that("mlr3's learners validate and tune their rounds from within", {
  skip_if_not_installed("R6")
  stand <- stand_in_mlr3()
  d <- transform(airquality[-(5:6)], Ozone = ifelse(is.na(Ozone), 10, Ozone), w = rep(1:3, 51))
  with_mlr3(stand, {
    expect_setequal(names(stand$mlr3$mlr_learners$all), c("regr.gbt", "classif.gbt"))
    learner <- stand$mlr3$mlr_learners$all$regr.gbt()
    expect_true(all(c("validation", "internal_tuning", "weights") %in% learner$properties))
    learner$param_set$values <- list(nrounds = 60, early_stopping_rounds = 3, eta = 0.5, threads = 1, seed = 2)
    task <- stand_in_task(d, "Ozone", "w")
    learner$validate <- 0.3
    learner$train(task)
    want <- gbt_train(d[-(1:46), c("Solar.R", "Wind", "Temp")], d$Ozone[-(1:46)], weights = d$w[-(1:46)], nrounds = 60,
                      eta = 0.5, early_stopping_rounds = 3, seed = 2, threads = 1,
                      valid = list(x = d[1:46, c("Solar.R", "Wind", "Temp")], y = d$Ozone[1:46], weight = d$w[1:46]))
    expect_same_bytes(learner$model$state, want$state)
    expect_identical(learner$internal_valid_scores, list(rmse = want$best_score))
    expect_identical(learner$internal_tuned_values, list(nrounds = want$best_round))
    expect_identical(learner$predict(task)$response, unname(predict(want, d)))
    learner$use_weights <- "ignore"
    learner$param_set$values$early_stopping_rounds <- NULL
    learner$validate <- NULL
    learner$param_set$values$nrounds <- 4
    learner$train(stand_in_task(d, "Ozone", "w"))
    expect_same_bytes(learner$model$state, gbt_train(d[c("Solar.R", "Wind", "Temp")], d$Ozone, nrounds = 4, eta = 0.5,
                                                     seed = 2, threads = 1)$state)
    expect_null(learner$internal_valid_scores)
    expect_length(learner$internal_tuned_values, 0)
    learner$param_set$values$valid <- 0.1
    learner$validate <- 0.5
    expect_error(learner$train(stand_in_task(d, "Ozone")), "given twice", class = "gbt_error_argument")
    rounds <- learner$param_set$params$nrounds
    expect_identical(rounds$aggr(list(3L, 4L)), 4L)
    expect_error(rounds$in_tune_fn(list(upper = 50), list()), "early_stopping_rounds", class = "gbt_error_argument")
    expect_error(rounds$in_tune_fn(list(upper = 50), list(early_stopping_rounds = 5)), "needs `eta`",
                 class = "gbt_error_argument")
    expect_identical(rounds$in_tune_fn(list(upper = 50), list(early_stopping_rounds = 5, eta = 0.1)), 50)
    classes <- stand$mlr3$mlr_learners$all$classif.gbt()
    classes$predict_type <- "prob"
    classes$param_set$values <- list(nrounds = 3, threads = 1, trees = 2)
    classes$train(stand_in_task(iris, "Species"))
    expect_identical(classes$predict(stand_in_task(iris, "Species"))$prob,
                     predict(classes$model, as.matrix(iris[-5]), type = "prob", trees = 2))
    expect_identical(names(classes$importance()), gbt_importance(classes$model)$feature)
  })
})

test_that("mlr3's learners ask mlr3 for the weights, and have columns of class Date where mlr3 has", {
  skip_if_not_installed("R6")
  d <- transform(mtcars, w = rep(1:4, 8))
  want <- gbt_train(mtcars[-1], mtcars$mpg, weights = d$w, nrounds = 3, seed = 1, threads = 1)
  plain <- gbt_train(mtcars[-1], mtcars$mpg, nrounds = 3, seed = 1, threads = 1)
  for (newer in c(TRUE, FALSE)) {
    stand <- stand_in_mlr3(newer)
    with_mlr3(stand, {
      learner <- stand$mlr3$mlr_learners$all$regr.gbt()
      expect_identical("Date" %in% learner$feature_types, newer)
      learner$param_set$values <- list(nrounds = 3, seed = 1, threads = 1)
      expect_same_bytes(learner$train(stand_in_task(d, "mpg", "w"))$model$state, want$state)
      learner$use_weights <- "ignore"
      expect_same_bytes(learner$train(stand_in_task(d, "mpg", "w"))$model$state, plain$state)
      expect_identical(stand$asked$weights, if (newer) 2 else 0)
    })
  }
})

test_that("mlr3proba's learner of times has the model and the answers of gbt_train()", {
  skip_if_not_installed("R6")
  skip_if_not_installed("survival")
  d <- with(list(i = 1:60), data.frame(a = sin(i), b = cos(3 * i), s = c("u", "v"), time = 1 + (i * 7) %% 23,
                                       event = as.integer(i %% 3 > 0)))
  y <- survival::Surv(d$time, d$event)
  stand <- stand_in_mlr3()
  with_mlr3(stand, {
    expect_setequal(names(stand$mlr3$mlr_learners$all), c("regr.gbt", "classif.gbt"))
    method("register_mlr3proba")()
    task <- stand_in_task(d, c("time", "event"))
    for (args in list(list(), list(strata = "s"), list(objective = "aft"))) {
      learner <- stand$mlr3$mlr_learners$all$surv.gbt()
      args <- c(list(nrounds = 4, seed = 1, threads = 1), args)
      learner$param_set$values <- args
      out <- learner$train(task)$predict(task)
      want <- do.call(gbt_train, c(list(d[c("a", "b", "s")], y), args))
      expect_same_bytes(learner$model$state, want$state)
      sign <- if (want$objective == "aft") -1 else 1
      expect_identical(out$crank, sign * as.vector(predict(want, d, type = "link")))
      expect_identical(out$lp, out$crank)
      expect_identical(out$response, as.vector(predict(want, d, type = "time")))
      at <- sort(unique(d$time[d$event == 1]))
      expect_identical(colnames(out$distr), format(at, trim = TRUE))
      expect_identical(unname(out$distr[, ]), unname(predict(want, d, type = "survival", times = at)[, ]))
      learner$param_set$values <- list(threads = 1, times = c(2, 9))
      expect_identical(colnames(learner$predict(task)$distr), c("2", "9"))
      learner$param_set$values <- list(threads = 1, trees = 2)
      few <- learner$predict(task)
      expect_identical(few$crank, sign * as.vector(predict(want, d, type = "link", trees = 2)))
      expect_identical("distr" %in% names(few), want$objective == "aft")
    }
  })
  expect_identical(method("mlr3_event_times")(survival::Surv(c(1, 2, NA), c(2, 5, 4), type = "interval2")),
                   c(1, 2, 4, 5))
  times <- method("mlr3_curve_times")(list(baseline = list(time = as.double(1:1400))))
  expect_identical(range(times), c(3, 1400))
  expect_length(times, 500L)
})

test_that("a hot start of mlr3 gives the model of a whole training", {
  skip_if_not_installed("R6")
  stand <- stand_in_mlr3()
  with_mlr3(stand, {
    hot <- function(...) {
      learner <- stand$mlr3$mlr_learners$all$regr.gbt()
      values <- list(nrounds = 4, seed = 1, threads = 1, ...)
      learner$param_set$values <- values
      learner$train(stand_in_task(mtcars, "mpg"))
      learner$param_set$values$nrounds <- 12
      learner$hotstart(stand_in_task(mtcars, "mpg"))
      values$nrounds <- 12
      want <- do.call(gbt_train, c(list(mtcars[-1], mtcars$mpg), values))
      expect_identical(learner$model$nrounds, 12L)
      expect_identical(predict(learner$model, mtcars), predict(want, mtcars))
    }
    hot() # the rule for `eta` looks at the number of rounds
    hot(eta = 0.2)
  })
})

test_that("caret's grid has submodels where the first rounds of a training are the model of fewer rounds", {
  caret <- gbt_caret()
  grid <- data.frame(nrounds = c(5, 15), max_depth = 3, eta = 0.2, gamma = 0, colsample_bytree = 1,
                     min_data_in_leaf = 1, subsample = 0.7)
  loop <- caret$loop(grid)
  fit <- function(param, ...) {
    caret$fit(mtcars[-1], mtcars$mpg, NULL, param, NULL, FALSE, FALSE, threads = 1, seed = 1, ...)
  }
  both <- caret$predict(fit(loop$loop), mtcars, loop$submodels[[1]])
  expect_identical(both[[1]], caret$predict(fit(grid[2, ]), mtcars))
  expect_identical(both[[2]], caret$predict(fit(grid[1, ]), mtcars))
  other <- fit(loop$loop, valid = 0.3, early_stopping_rounds = 2)
  expect_error(caret$predict(other, mtcars, loop$submodels[[1]]), "give one value of it in `tuneGrid`",
               class = "gbt_error_unsupported")
  expect_identical(caret$predict(other, mtcars), unname(predict(other, mtcars)))
})

test_that("survex gets curves and risks of models of times", {
  survex <- list(explain_survival = function(model, data, y, ...) list(model = model, data = data, y = y, ...))
  dalex <- list(explain = function(model, data, y, ...) "by DALEX")
  y <- structure(cbind(time = mtcars$qsec, status = mtcars$am), type = "right", class = "Surv")
  with_stand_ins(list(survex = survex, DALEX = dalex), {
    for (objective in c("cox", "aft")) {
      m <- gbt_train(mtcars[1:6], y, objective = objective, nrounds = 3, threads = 1)
      e <- method("explain_survex")(m, mtcars[1:6], y, label = "mine")
      expect_identical(e[c("label", "y")], list(label = "mine", y = y))
      S <- e$predict_survival_function(m, mtcars[1:2, ], c(16, 18))
      expect_identical(S, matrix(predict(m, mtcars[1:2, ], "survival", times = c(16, 18)), 2))
      expect_equal(exp(-e$predict_cumulative_hazard_function(m, mtcars[1:2, ], c(16, 18))), S)
      times <- predict(m, mtcars, "time")
      expect_lt(stats::cor(e$predict_function(m, mtcars), times, method = "spearman"), -0.99)
      expect_identical(e$model_info$type, "survival")
    }
    expect_identical(method("explain_survex")(gbt_train(mpg ~ wt, mtcars, nrounds = 1, threads = 1)), "by DALEX")
  })
})
