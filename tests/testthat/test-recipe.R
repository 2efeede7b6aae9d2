# Models of recipes bake raw rows. Each test runs with package recipes where it is installed, and with a stand-in of
# what gbt takes of it.

# recipes 1.0: a recipe that centres and scales `hp`, adds `wk` = wt^2 and has `id` as another role. Training it keeps
# the numbers of the training rows.
stand_in_recipes <- function() {
  transform <- function(object, x) {
    stopifnot(is.data.frame(x))
    absent <- setdiff(object$var_info$variable[object$var_info$role != "outcome"], names(x))
    if (length(absent)) stop("The following required columns are missing from `new_data`: ", absent[1L])
    x <- x[intersect(object$var_info$variable, names(x))]
    x$hp <- (x$hp - object$mean) / object$sd
    x$wk <- x$wt^2
    rownames(x) <- NULL
    x
  }
  bake <- function(object, new_data, ...) {
    out <- if (is.null(new_data)) object$template else transform(object, new_data)
    if (inherits(object, "gbt_recipe")) gbt:::marked_baked(out) else out # as gbt's method does for the generic
  }
  prep <- function(x, training, fresh = FALSE, retain = TRUE, ...) {
    stopifnot(fresh, retain, inherits(x, "recipe"), !inherits(x, "gbt_recipe"))
    x$mean <- mean(training$hp)
    x$sd <- sd(training$hp)
    x$term_info <- rbind(x$var_info, data.frame(variable = "wk", role = "predictor"))
    x$template <- transform(x, training)
    x
  }
  list(bake = bake, prep = prep)
}

recipe_data <- function() {
  d <- mtcars[c("mpg", "hp", "wt")]
  d$id <- rownames(mtcars)
  d
}

# test: function(recipe, bake, d)
with_recipes <- function(test) {
  d <- recipe_data()
  roles <- c("outcome", "predictor", "predictor", "id")
  plain <- structure(list(var_info = data.frame(variable = names(d), role = roles), steps = list(list(skip = FALSE))),
                     class = "recipe")
  stand_in <- stand_in_recipes()
  with_stand_ins(list(recipes = stand_in), test(plain, stand_in$bake, d))
  if (!has_package("recipes")) return(invisible())
  real <- get_exported("recipes", "recipe")(mpg ~ ., d)
  real <- get_exported("recipes", "update_role")(real, id, new_role = "id")
  real <- get_exported("recipes", "step_mutate")(get_exported("recipes", "step_normalize")(real, hp), wk = wt^2)
  test(real, get_exported("recipes", "bake"), d)
}

train_recipe <- function(r, d, ...) gbt_train(r, d, ..., nrounds = 20, seed = 1, threads = 1)

test_that("predict() bakes raw rows, and rows of bake(model$recipe, ) are taken as they are", {
  with_recipes(function(r, bake, d) {
    m <- train_recipe(r, d)
    expect_identical(sort(m$feature_names), c("hp", "wk", "wt"))
    b <- as.data.frame(bake(m$recipe, d))
    plain <- gbt_train(b[m$feature_names], d$mpg, nrounds = 20, seed = 1, threads = 1)
    expect_identical(m$state, plain$state) # the recipe is no part of the bytes
    right <- unname(predict(plain, b))
    expect_identical(predict(m, d), stats::setNames(right, rownames(d)))
    expect_identical(unname(predict(m, d[7:3, 4:1])), right[7:3])
    expect_identical(unname(predict(m, bake(m$recipe, d))), right)
    expect_identical(unname(predict(m, bake(m$recipe, d)[5:9, ])), right[5:9])
    expect_identical(unname(predict(m, bake(m$recipe, d)[m$feature_names])), right)
    expect_identical(unname(predict(m, as.data.frame(bake(m$recipe, d)))), right)
    expect_identical(unname(predict(m, bake(m$recipe, NULL))), right)
    expect_identical(predict(m, d, type = "contrib")[, m$feature_names], {
      all <- predict(plain, b, type = "contrib")[, m$feature_names]
      rownames(all) <- rownames(d)
      all
    })
    expect_identical(predict(m[1:5], d[1, ]), predict(m, d[1, ], trees = 5))
    chunks <- split(d, rep(1:4, each = 8))
    expect_identical(unname(predict(m, function(i) if (i <= 4) chunks[[i]])), right)
    kept <- NULL
    predict(m, d, output = function(p, row) kept <<- c(kept, p))
    expect_identical(unname(kept), right)
  })
})

test_that("a model of a recipe refuses rows that it cannot bake", {
  with_recipes(function(r, bake, d) {
    m <- train_recipe(r, d)
    expect_error(predict(m, d[-2]), "raw columns are missing: `hp`; give rows as they were", class = "gbt_error_data")
    expect_error(predict(m, d[-4]), "recipe of the model cannot bake these rows.*id", class = "gbt_error_data")
    expect_error(predict(m, as.matrix(d[2:3])), "data frame, not from a numeric matrix", class = "gbt_error_data")
    expect_error(gbt_train(d[2:3], d$mpg, init_model = m, nrounds = 1), "`init_model` was trained by a recipe",
                 class = "gbt_error_argument")
    expect_error(gbt_data(d[2:3], init_model = m), "`init_model` was trained by a recipe", class = "gbt_error_argument")
    other <- r
    expect_error(train_recipe(other, d, init_model = m), "trained by another recipe", class = "gbt_error_argument")
  })
})

test_that("functions that take data bake raw rows", {
  with_recipes(function(r, bake, d) {
    m <- train_recipe(r, d)
    b <- as.data.frame(unclass(as.data.frame(bake(m$recipe, d)))[c(m$feature_names, "mpg")])
    p <- gbt_train(b[m$feature_names], d$mpg, nrounds = 20, seed = 1, threads = 1)
    same <- function(a, b) expect_equal(a, b, ignore_attr = TRUE)
    same(gbt_evaluate(m, d, threads = 1), gbt_evaluate(p, b, d$mpg, threads = 1))
    same(gbt_evaluate(m, d, d$mpg, by = "id", threads = 1)$estimate,
         gbt_evaluate(p, b, d$mpg, by = d$id, threads = 1)$estimate)
    same(gbt_partial(m, d, "hp")$effects, gbt_partial(p, b, "hp")$effects)
    same(gbt_partial(m, d, "hp", method = "recursion", type = "link")$effects,
         gbt_partial(p, b, "hp", method = "recursion", type = "link")$effects)
    same(gbt_interactions(m, d, seed = 1), gbt_interactions(p, b, seed = 1))
    same(gbt_shap(m, d, background = d[1:5, ])$values, gbt_shap(p, b, background = b[1:5, ])$values)
    same(gbt_importance(m, type = "shap", data = d), gbt_importance(p, type = "shap", data = b))
    same(gbt_importance(m, type = "permutation", data = d, seed = 1),
         gbt_importance(p, type = "permutation", data = b, y = d$mpg, seed = 1))
    same(gbt_neighbours(m, d, d[3:4, ], threads = 1), gbt_neighbours(p, b, b[3:4, ], threads = 1))
    same(gbt_unseen(m, d), gbt_unseen(p, b))
    same(gbt_monitor(m, d, d[1:20, ])$scores, gbt_monitor(p, b, b[1:20, ])$scores)
    same(predict(gbt_conformal(m, d), d[1:3, ]), predict(gbt_conformal(p, b, d$mpg), b[1:3, ]))
    same(residuals(m, d), residuals(p, b, d$mpg))
    same(deviance(m, d), deviance(p, b, d$mpg))
    if (requireNamespace("generics", quietly = TRUE)) {
      out <- generics::augment(m, d)
      same(out$.fitted, predict(p, b))
      same(out$hp, d$hp)
    }
    expect_error(gbt_evaluate(m, d[-1]), "no `mpg`, the response", class = "gbt_error_data")
  })
})

test_that("a recipe goes through classes, calibration, folds and refits", {
  with_recipes(function(r, bake, d) {
    cls <- d
    cls$mpg <- factor(d$mpg > 20)
    m <- train_recipe(r, cls)
    expect_identical(predict(gbt_calibrate(m, cls), cls[1:3, ]),
                     predict(gbt_calibrate(m, bake(m$recipe, cls)), cls[1:3, ]))
    cv <- gbt_cv(r, d, folds = 4, nrounds = 10, keep_models = TRUE, seed = 1, threads = 1)
    b <- as.data.frame(unclass(as.data.frame(bake(cv$models[[1]]$recipe, d))))
    plain <- gbt_cv(b[c("hp", "wt", "wk")], d$mpg, folds = 4, nrounds = 10, keep_models = TRUE, seed = 1, threads = 1)
    expect_equal(cv$fold_log, plain$fold_log)
    expect_equal(unname(predict(cv$models[[2]], d)), predict(plain$models[[2]], b))
    expect_equal(predict(gbt_conformal(cv, d), d[1:3, ]), predict(gbt_conformal(plain, y = d$mpg), b[1:3, ]),
                 ignore_attr = TRUE)
    again <- gbt_refit(cv, data = d)
    expect_false(is.null(again$recipe))
    expect_identical(again$nrounds, 10L)
    m <- train_recipe(r, d, ensemble = 2)
    expect_false(is.null(m$recipe))
    up <- update(m, data = d[1:20, ], nrounds = 3)
    expect_identical(up$n_obs, 20L)
    expect_equal(unname(predict(up, d[21, ])), unname(predict(up, bake(up$recipe, d[21, ]))))
  })
})

test_that("validation data of a recipe are raw, and training goes on with the model's own recipe", {
  with_recipes(function(r, bake, d) {
    m <- train_recipe(r, d[1:20, ], valid = d[21:32, ])
    expect_equal(tail(m$evaluation_log[[2]], 1), sqrt(mean((predict(m, d[21:32, ]) - d$mpg[21:32])^2)))
    n <- train_recipe(r, d[1:20, ], valid = list(x = d[21:32, -1], y = d$mpg[21:32]))
    expect_identical(n$evaluation_log, m$evaluation_log)
    expect_error(train_recipe(r, d, valid = d[-1]), "lack the response, `mpg`", class = "gbt_error_data")
    on <- train_recipe(m$recipe, d, init_model = m)
    expect_identical(on$nrounds, 40L)
    expect_identical(on$recipe, m$recipe)
    expect_identical(predict(on, d, trees = 20), predict(m, d))
    fresh <- train_recipe(m$recipe, d) # trained anew, on all rows
    expect_identical(fresh$n_obs, 32L)
    expect_equal(predict(fresh, d), predict(train_recipe(r, d), d))
  })
})

test_that("files do not lose a recipe in silence, and have none", {
  with_recipes(function(r, bake, d) {
    m <- train_recipe(r, d)
    file <- tempfile(fileext = ".gbt")
    expect_error(gbt_save(m, file), "recipe.*saveRDS.*drop_recipe = TRUE", class = "gbt_error_unsupported")
    expect_false(file.exists(file))
    gbt_save(m, file, drop_recipe = TRUE)
    k <- gbt_load(file)
    expect_null(k$recipe)
    expect_identical(unname(predict(k, bake(m$recipe, d))), unname(predict(m, d)))
    k$recipe <- m$recipe
    expect_identical(predict(k, d), predict(m, d))
    saveRDS(m, file)
    expect_identical(predict(readRDS(file), d), predict(m, d))
  })
  m <- gbt_train(mtcars[-1], mtcars$mpg, nrounds = 2, threads = 1)
  m$recipe <- list(steps = "system('true')", template = 1)
  file <- tempfile(fileext = ".gbt")
  gbt_save(m, file)
  k <- gbt_load(file)
  expect_identical(k$recipe, m$recipe) # a list like any other
  expect_identical(predict(k, mtcars), predict(m, mtcars))
})

test_that("a recipe that puts rows in another order is refused, one whose rows depend on others is warned of", {
  d <- recipe_data()
  roles <- c("outcome", "predictor", "predictor", "id")
  r <- structure(list(var_info = data.frame(variable = names(d), role = roles), steps = list()), class = "recipe")
  stand_in <- stand_in_recipes()
  baking <- function(change) {
    bake <- function(object, new_data, ...) {
      out <- stand_in$bake(object, new_data, ...)
      if (is.null(new_data)) out else change(out)
    }
    list(recipes = list(bake = bake, prep = stand_in$prep))
  }
  for (rows in list(seq_len(nrow(d)), order(d$wt), order(-d$wt))) {
    with_stand_ins(baking(function(x) x[order(x$wt, x$hp), ]), {
      expect_error(train_recipe(r, d[rows, ]), "puts rows in another order", class = "gbt_error_argument")
    })
  }
  with_stand_ins(baking(function(x) transform(x, wk = c(NA, wk[-nrow(x)]))), {
    expect_warning(train_recipe(r, d), "depends on the other rows", class = "gbt_warning_recipe")
  })
  with_stand_ins(baking(identity), {
    set.seed(1)
    before <- .Random.seed
    expect_no_warning(train_recipe(r, d))
    expect_identical(.Random.seed, before)
  })
})
