# What a wrong name is taken for: first by its meaning, in other packages as well, then by its letters where they are
# near, and never for something far-fetched.

reads <- function(text) {
  lines <- strsplit(trimws(strsplit(trimws(text), "\n")[[1]]), " +-> +")
  stats::setNames(vapply(lines, function(l) if (length(l) > 1) l[2] else "", ""), vapply(lines, `[[`, "", 1))
}

# What the error of an expression suggests: "", or the text in quotes after "did you mean".
suggested <- function(expr) {
  message <- tryCatch({
    expr
    "no error"
  }, error = conditionMessage)
  if (!grepl("did you mean", message)) return(if (message == "no error") message else "")
  gsub("[`\"]", "", sub("\\?.*$", "", sub("^.*did you mean ", "", message)))
}

d <- mtcars
m <- gbt_train(mpg ~ ., d, nrounds = 2, threads = 1)

test_that("parameters of training are suggested by near letters only", {
  expected <- reads("
    max_deep -> max_depth
    max_dpeth -> max_depth
    lerning_rate -> learning_rate (here eta)
    nround -> nrounds
    nclass -> num_class
    num_leafs -> num_leaf (here max_leaves)
    early_stop -> early_stopping_rounds or early_stopping_min_delta
    validate -> valid_data (here valid)
    monotonic -> monotonic_cst (here monotone)
    iter -> iterations (here nrounds)
    sub.sample -> subsample
    save
    training_fraem
    do_traces
    outcomes
    zz
    cost
    verbouse -> verbose
  ")
  got <- vapply(names(expected), function(typed) suggested(gbt:::refuse_name(typed)), "")
  expect_identical(got, expected)
})

test_that("arguments of functions are suggested by their meaning", {
  cv <- function(name) do.call(gbt_cv, c(list(mpg ~ wt, d), stats::setNames(list(1), name)))
  tune <- function(name) do.call(gbt_tune, c(list(mpg ~ wt, d), stats::setNames(list(1), name)))
  shown <- function(x) function(name) do.call(plot, c(list(x), stats::setNames(list(1), name)))
  of <- function(fun, ...) function(name) do.call(fun, c(list(...), stats::setNames(list(1), name)))
  table <- list(
    list(of(gbt_importance, m), "
      newdata -> data
      X -> data
      nperm -> repeats
      importance_type -> type
      loss -> metric
      n.trees -> trees
      num_threads -> threads
      zz"),
    list(of(gbt_partial, m, d, "wt"), "
      pred.var -> columns
      i.var -> columns
      feature -> columns
      newdata -> data
      train -> data
      grid.resolution -> size
      center -> centred
      n.trees -> trees
      which.class
      plot"),
    list(of(gbt_evaluate, m, d), "
      metric -> metrics
      truth -> y
      label -> y
      weight -> weights
      conf_level -> intervals
      nboot -> replicates
      group_by -> by
      zz"),
    list(of(gbt_interactions, m, d), "
      top_n -> top
      features -> columns
      sample_size -> rows"),
    list(of(gbt_neighbours, m, d, d), "
      n_neighbors -> k
      K -> k"),
    list(of(gbt_shap, m, d), "
      background_data -> background
      nthread -> threads
      features"),
    list(of(gbt_shap, m), "
      X -> newdata"),
    list(of(gbt_tree, m), "
      i.tree -> tree
      max_depth -> depth"),
    list(of(gbt_dot, m), "
      tree_idx -> tree"),
    list(of(gbt_save, m), "
      path -> file
      fname -> file"),
    list(of(gbt_load), "
      path -> file"),
    list(of(gbt_data, d), "
      response -> label
      folder -> path"),
    list(of(gbt_calibrate, m), "
      newdata -> data
      type -> method"),
    list(shown(gbt_importance(m)), "
      top_n -> top
      max_display -> top"),
    list(cv, "
      k -> folds
      v -> folds
      times -> repeats
      stratified -> stratify
      return_models"),
    list(tune, "
      trials -> configs
      n_trials -> configs
      tuneLength -> configs
      grid -> space
      tuneGrid -> space
      param_distributions -> space
      max_time -> seconds
      cv -> folds"),
    list(of(predict, m, d), "
      tpye -> type
      zz
      X -> newdata")
  )
  for (row in table) {
    expected <- reads(row[[2]])
    expect_identical(vapply(names(expected), function(name) suggested(row[[1]](name)), ""), expected)
  }
})

test_that("values out of a list are suggested by their meaning", {
  expected <- reads("
    gain: importance_gain
    gain: weight -> frequency
    gain: permute -> permutation
    gain: impurity -> gain
    link: numeric -> response
    link: probabilities -> prob
    link: leaves -> leaf
  ")
  choices <- list(gain = c("gain", "cover", "frequency", "permutation", "shap"),
                  link = c("response", "link", "prob", "class", "leaf", "contrib", "interaction"))
  for (row in names(expected)) {
    row <- strsplit(row, ": ")[[1]]
    its <- suggested(gbt:::match_choice(row[2], choices[[row[1]]], "type"))
    expect_identical(its, expected[[paste(row, collapse = ": ")]], label = paste(row, collapse = ": "))
  }
  for (type in c("raw", "margin", "probability", "shap")) {
    expect_no_error(gbt:::check_predict_type(type, gbt_train(Species ~ ., iris, nrounds = 1, threads = 1)))
  }
})

test_that("names that are no text in their encoding are unknown arguments like others", {
  m <- gbt_train(mpg ~ ., mtcars, nrounds = 1, threads = 1)
  odd <- stats::setNames(list(1), "et\xe9")
  calls <- list(list(predict, m), list(plot, m), list(gbt_evaluate, m, mtcars), list(gbt_curve, m, mtcars),
                list(gbt_importance, m), list(gbt_refit, m), list(gbt_train, mpg ~ ., mtcars))
  words <- vapply(calls, function(call) {
    tryCatch(do.call(call[[1L]], c(call[-1L], odd)), gbt_error_argument = conditionMessage)
  }, "")
  expect_true(all(grepl("et<e9>", words, fixed = TRUE)))
})

test_that("columns and levels are suggested by their letters only", {
  expect_identical(gbt:::suggest("my age", c("my.age", "y")), "; did you mean `my.age`?")
  expect_identical(suggested(gbt_partial(m, d, "Wt")), "wt")
  expect_identical(suggested(gbt_partial(m, d, "weight")), "")
  expect_identical(suggested(gbt_partial(m, d, "response")), "")
  expect_identical(gbt:::nearest_name("\u540d\u524d", c("\u5e74\u9f62", "\u5024")), character(0))
  expect_identical(gbt:::nearest_name("..", c("--", "a")), character(0))
  expect_match(tryCatch(gbt_partial(m, "wt"), error = conditionMessage), "`data`", fixed = TRUE)
})

test_that("a distribution of glm() is an objective, if its link is that of the objective", {
  bytes <- function(...) gbt_train(carb ~ wt, d, ..., nrounds = 2, threads = 1)$state
  same <- bytes(objective = "poisson")
  expect_identical(bytes(family = "poisson"), same)
  expect_identical(bytes(family = poisson), same)
  expect_identical(bytes(family = poisson()), same)
  expect_identical(bytes(objective = poisson()), same)
  expect_identical(bytes(family = gaussian()), bytes())
  expect_identical(bytes(family = Gamma("log")), bytes(objective = "gamma"))
  expect_snapshot(error = TRUE, {
    gbt_train(carb ~ wt, d, family = Gamma())
    gbt_train(carb ~ wt, d, family = poisson("sqrt"))
    gbt_train(carb ~ wt, d, family = quasi())
  })
})

test_that("types of predictions of packages for survival are suggested by their meaning", {
  expected <- reads("
    median -> quantile
    risk -> response
    hazard -> cumhaz
    chf -> cumhaz
    rmst -> time
    surv -> survival
    cuminc -> cif
    lp -> link")
  got <- vapply(names(expected), function(type) suggested(predict(m, d, type = type)), "")
  expect_identical(got, expected)
})

test_that("functions without further arguments suggest the right name as well", {
  says <- function(expr, text) expect_error(expr, text, class = "gbt_error_argument")
  says(gbt_report(m, d, "x.html", effcts = 3), "did you mean `effects`")
  says(gbt_unseen(m, d, thraeds = 1), "did you mean `threads`")
  says(gbt_predictor(m, unsen = "missing"), "did you mean `unseen`")
  says(gbt_metric("a", function(p, y) 1, maximize = TRUE), "did you mean `maximise`")
})

test_that("arguments of gbt_tune() and gbt_cv() are found by near letters as well", {
  told <- function(fun, name) {
    tryCatch(do.call(fun, c(list(mpg ~ wt, d), stats::setNames(list(1), name))), gbt_error = conditionMessage)
  }
  expect_match(told(gbt_tune, "config"), "no `config`; did you mean `configs`")
  expect_match(told(gbt_tune, "nconfig"), "did you mean `configs`")
  expect_match(told(gbt_tune, "spaces"), "did you mean `space`")
  expect_match(told(gbt_tune, "second"), "did you mean `seconds`")
  expect_match(told(gbt_tune, "min_round"), "did you mean `min_rounds`")
  expect_match(told(gbt_cv, "repetitions"), "did you mean `repeats`")
  expect_match(told(gbt_cv, "keep_model"), "did you mean `keep_models`")
  expect_match(told(gbt_cv, "config"), "not read from a file") # gbt_cv() has none
  expect_match(told(gbt_cv, "max_deep"), "did you mean `max_depth`")
})

test_that("an argument that would choose an output leads to the one that does", {
  for (name in c("output", "class", "which.class")) {
    given <- stats::setNames(list("a"), name)
    expect_error(do.call(gbt_partial, c(list(m, d, "wt"), given)), "computes all outputs; plot\\(result, output = \\)")
    expect_error(do.call(gbt_shap, c(list(m, d), given)), "computes all outputs")
    expect_error(do.call(gbt_interactions, c(list(m, d), given)), "computes all outputs")
  }
  expect_error(gbt_curve(m, d, output = "a"), "`output` is called `class` here", class = "gbt_error_argument")
})

test_that("classes that weights and shares name, and levels of quantiles, are suggested", {
  says <- function(expr, text) expect_error(expr, text, fixed = TRUE)
  d$y <- rep(c("No", "Yes"), 16)
  says(gbt_train(y ~ wt, d, class_weights = c(yes = 2)), "there are \"No\", \"Yes\"; did you mean \"Yes\"?")
  says(gbt_train(y ~ wt, d, subsample = c(yes = 0.5)), "did you mean \"Yes\"?")
  for (name in c("quantiles", "tau", "quantile.level")) {
    given <- stats::setNames(list(c(0.1, 0.9)), name)
    says(do.call(gbt_train, c(list(mpg ~ wt, d, objective = "quantile"), given)), "`quantile_alpha`")
  }
  for (alpha in list(0.9, c(0.1, 0.9))) {
    says(gbt_train(mpg ~ wt, d, objective = "quantile", alpha = alpha), "`alpha` could mean `quantile_alpha`")
  }
})

test_that("arguments of sources of rows and of reports are suggested", {
  expect_error(gbt_query(1, query = "SELECT"), "`query` is called `statement` here")
  expect_error(gbt_files("x.csv", query = "q"), "`query` is called `group` here")
  expect_error(gbt_files("x.csv", colClasses = "character"), "did you mean `texts`")
  expect_error(gbt_files("x.csv", cols = "a"), "did you mean `columns`")
  expect_error(gbt_batches(function(reset) NULL, queries = "q"), "did you mean `group`")
  expect_error(gbt_report(m, d, "x.html", qid = 1), "did you mean `group`")
  expect_error(gbt_report(m, d, "x.html", top = 1), "did you mean `effects`")
})
