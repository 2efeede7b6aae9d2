# Models as expressions of columns (tidypredict), by dplyr, against predict(); models of other packages in the session.

bits <- function(x) writeBin(as.double(x), raw())

# tidypredict itself is not needed: its generic passes the model on.
expression_of <- function(model) getFromNamespace("tidypredict_fit.gbt", "gbt")(model)

# Of dplyr, which the package does not suggest; the expressions themselves call dplyr::case_when().
of_dplyr <- function(name) getExportedValue("dplyr", name)
mutated <- function(model, rows) {
  rep_len(eval(bquote(.(of_dplyr("mutate"))(rows, prediction_ = .(expression_of(model)))))$prediction_, nrow(rows))
}

test_that("expressions have the bits of predict(), for each kind of model with one output", {
  skip_if_not_installed("dplyr")
  models <- Filter(function(m) m$n_outputs == 1, export_models())
  expect_gte(length(models), 9)
  for (kind in names(models)) {
    m <- models[[kind]]
    rows <- export_rows(m, 400)
    got <- mutated(m, rows)
    want <- unname(predict(m, rows, threads = 1))
    if (kind %in% c("two", "counts", "logs")) { # R's exp() is another one
      expect_equal(got, want, tolerance = 1e-14, info = kind)
    } else {
      expect_identical(bits(got + 0), bits(want + 0), info = kind)
    }
  }
})

test_that("expressions of imported models have their missing values, and their scaled sums and means", {
  skip_if_not_installed("dplyr")
  for (its in c("lgb_forest.txt", "lgb_sigmoid.txt", "lgb_codes.txt", "cat_numbers.json", "xgb_codes.json")) {
    m <- gbt_import(test_path("imported", its))
    x <- imported_rows(m, its)
    texts <- codes_as_texts(x, m)
    tolerance <- if (startsWith(its, "xgb")) 1e-6 else 1e-14 # XGBoost adds in float32
    if (startsWith(its, "xgb")) expect_message(expression_of(m), "adds in float32: scores agree to about 6 digits")
    expect_equal(suppressMessages(mutated(m, texts)), unname(predict(m, x, threads = 1)), tolerance = tolerance,
                 info = its)
  }
})

test_that("orbital has numbers, and classes and probabilities of two classes", {
  skip_if_not_installed("dplyr")
  d <- export_data()$x
  y <- export_data()$y
  orbital <- getFromNamespace("orbital.gbt", "gbt")
  evaluate <- function(text) as.vector(eval(str2lang(text), d, globalenv()))
  numbers <- gbt_train(d, y, nrounds = 5, threads = 1)
  expect_identical(orbital(numbers, mode = "regression", type = "numeric", separate_trees = FALSE, prefix = ".pred"),
                   expression_of(numbers))
  levels <- c("no \"x\"", "yes")
  two <- gbt_train(d, factor(y > 3, labels = levels), nrounds = 5, threads = 1)
  both <- orbital(two, mode = "classification", type = c("class", "prob"), lvl = levels)
  expect_named(both, c("orbital_tmp_class_name", "orbital_tmp_prob_name1", "orbital_tmp_prob_name2"))
  expect_identical(evaluate(both[["orbital_tmp_class_name"]]), as.character(predict(two, d, type = "class")))
  share <- predict(two, d)
  expect_equal(evaluate(both[["orbital_tmp_prob_name1"]]), unname(1 - share), tolerance = 1e-14)
  expect_equal(evaluate(both[["orbital_tmp_prob_name2"]]), unname(share), tolerance = 1e-14)
  expect_identical(orbital(two, mode = "classification", lvl = levels), both[1])
  for (lvl in list(NULL, NA, "a", c("a", "b", "c"), 1:2)) {
    expect_error(orbital(two, mode = "classification", type = "class", lvl = lvl), "two classes.*model\\.sql",
                 class = "gbt_error_unsupported")
  }
})

test_that("expressions of logical columns and dates, and what expressions cannot say", {
  skip_if_not_installed("dplyr")
  i <- seq_len(200)
  d <- data.frame(l = i %% 3 == 0, day = as.Date("2024-01-01") + i)
  d$l[i %% 7 == 0] <- NA
  m <- gbt_train(d, ifelse(is.na(d$l), 3, d$l * 5) + i %% 50, nrounds = 4, threads = 1)
  expect_identical(bits(mutated(m, d)), bits(predict(m, d, threads = 1)))
  refused <- "gbt_error_unsupported"
  three <- gbt_train(Species ~ ., iris, nrounds = 1, threads = 1)
  expect_error(expression_of(three), "several outputs.*model\\.sql", class = refused)
  own <- gbt_train(Species ~ ., iris, nrounds = 1, offset = matrix(0.5, 150, 3), threads = 1)
  expect_error(expression_of(own), "offset.*model\\.c", class = refused)
  spread <- gbt_train(mpg ~ wt, mtcars, nrounds = 1, objective = "dist_normal", threads = 1)
  said <- expect_error(expression_of(spread), "several parameters.*type = \"parameters\"", class = refused)
  expect_no_match(conditionMessage(said), "gbt_export")
  linear <- gbt_train(mpg ~ wt, mtcars, nrounds = 2, leaf_model = "linear", threads = 1)
  said <- expect_error(expression_of(linear), "linear leaves", class = refused)
  expect_no_match(conditionMessage(said), "gbt_export")
  offset <- gbt_train(mpg ~ wt, mtcars, offset = mtcars$hp / 100, nrounds = 2, threads = 1)
  expect_error(expression_of(offset), "offset.*model\\.c", class = refused)
  zeros <- gbt_import(test_path("imported", "lgb_zero_missing.txt"))
  expect_error(expression_of(zeros), "missing values", class = refused)
  made <- gbt_train(mpg ~ log(wt), mtcars, nrounds = 2, threads = 1)
  expect_message(expression_of(made), "`log\\(wt\\)`", class = "gbt_message")
})

test_that("an expression is compared with predict() as tidypredict does", {
  skip_if_not_installed("dplyr")
  test <- getFromNamespace("tidypredict_test.gbt", "gbt")
  m <- gbt_train(mpg ~ wt + cyl, mtcars, nrounds = 5, threads = 1)
  got <- test(m, mtcars)
  expect_s3_class(got, "tidypredict_test")
  expect_false(got$alert)
  expect_identical(got$raw_results$fit, got$raw_results$fit_te)
  expect_identical(nrow(test(m, mtcars, max_rows = 4)$raw_results), 4L)
  logs <- gbt_train(cyl ~ wt, mtcars, objective = "poisson", nrounds = 5, threads = 1)
  close <- test(logs, mtcars, threshold = 0)
  expect_identical(close$alert, any(close$raw_results$fit_diff != 0))
  expect_identical(grepl("are within it", close$message), !close$alert)
  expect_error(test(m), "`df` is missing", class = "gbt_error_argument")
  expect_error(test(m, as.matrix(mtcars)), "must be a data frame", class = "gbt_error_argument")
  expect_error(test(m, mtcars, include_intervals = TRUE), "no intervals", class = "gbt_error_unsupported")
})

test_that("expressions convert columns with units, as predict() does", {
  skip_if_not_installed("dplyr")
  hours <- (1:100) %% 24 + 0.1
  d <- data.frame(wait = as.difftime(hours, units = "hours"))
  m <- gbt_train(d, hours^2, nrounds = 3, threads = 1)
  for (unit in c("hours", "mins", "secs", "days")) {
    units(d$wait) <- unit
    expect_identical(bits(mutated(m, d)), bits(predict(m, d, threads = 1)), info = unit)
  }
  d$wait <- hours # plain numbers are in the unit of the training
  expect_identical(bits(mutated(m, d)), bits(predict(m, d, threads = 1)))
  number <- getFromNamespace("number_expression", "gbt")
  expect_identical(number(quote(v), "units:km/h", "v"),
                   str2lang("as.numeric(units::set_units(v, \"km/h\", mode = \"standard\"))"))
  expect_error(number(quote(v), "units:system('x')", "v"), "column `v`.*not the text of a unit",
               class = "gbt_error_data")
})

test_that("expressions that R could not evaluate are refused, and the largest are evaluated", {
  skip_if_not_installed("dplyr")
  own <- function(name) getFromNamespace(name, "gbt")
  many <- gbt_train(mpg ~ wt, mtcars, nrounds = 2001, max_depth = 1, min_child_weight = 0, eta = 1e-3, threads = 1)
  expect_error(expression_of(many), "2,001 trees.*2,000 at most.*model\\.sql", class = "gbt_error_unsupported")
  expect_type(expression_of(many[1:2000]), "language")
  expect_error(own("check_nesting")(1, 61), "61 layers.*60 at most", class = "gbt_error_unsupported")
  deep <- 0
  for (layer in 1:60) deep <- bquote(.(of_dplyr("case_when"))(x <= .(-layer) ~ .(layer + 0), TRUE ~ .(deep)))
  its <- own("sum_expression")(c(list(deep), rep(list(1), 1999)), list(sums = "plain", base = 0.5), 2000)
  sums <- eval(bquote(.(of_dplyr("mutate"))(data.frame(x = c(-30, -60, 5)), p = .(its))))$p
  expect_identical(sums, 1999.5 + c(30, 60, 0))
  two <- list(tree = rep(0:1, c(3, 5)), left = c(1, NA, NA, 1, NA, 3, NA, NA), right = c(2, NA, NA, 2, NA, 4, NA, NA))
  expect_identical(own("layers_of")(1:8, two), 2L)
  expect_identical(own("layers_of")(1:3, two), 1L)
})

# What the packages xgboost 3.2, lightgbm 4.6 and catboost 1.2 have in the session, as far as it is looked at: a list of
# a pointer with attributes, an R6 object, a list. y: levels of a factor as the response.
live_stand_in <- function(class, file, y = NULL) {
  if (class == "xgb.Booster") {
    own <- if (is.null(y)) class else c("xgboost", class)
    return(structure(list(ptr = NULL, file = file), class = own, params = list(nthread = 1), call = quote(f()),
                     metadata = if (!is.null(y)) list(y_levels = y, n_targets = length(y))))
  }
  if (class == "catboost.Model") return(structure(list(file = file), class = class))
  processor <- if (!is.null(y)) {
    structure(list2env(list(factor_levels = y)), class = c("lgb.DataProcessor", "R6"))
  }
  structure(list2env(list(file = file, best_iter = -1L, raw = NA, params = list(), data_processor = processor)),
            class = c(class, "R6"))
}

test_that("models of other packages in the session are saved by their package and read", {
  files <- c(xgb.Booster = "xgb_numbers.json", lgb.Booster = "lgb_numbers.txt", catboost.Model = "cat_numbers.json")
  asked <- character(0)
  saver <- function(package, name) {
    asked <<- c(asked, paste0(package, "::", name))
    function(model, path, file_format = NULL) file.copy(test_path("imported", model$file), path)
  }
  own <- list(has_package = has_package, get_exported = get_exported)
  withr::defer(for (name in names(own)) utils::assignInNamespace(name, own[[name]], "gbt"))
  utils::assignInNamespace("has_package", function(package) TRUE, "gbt")
  utils::assignInNamespace("get_exported", saver, "gbt")
  for (class in names(files)) {
    live <- live_stand_in(class, files[[class]])
    expect_identical(gbt_import(live)$state, gbt_import(test_path("imported", files[[class]]))$state, info = class)
  }
  expect_identical(asked, c("xgboost::xgb.save", "lightgbm::lgb.save", "catboost::catboost.save_model"))
  # names of the classes are in the session only
  for (class in c("xgb.Booster", "lgb.Booster")) {
    file <- c(xgb.Booster = "xgb_classes.json", lgb.Booster = "lgb_classes.txt")[[class]]
    named <- gbt_import(live_stand_in(class, file, c("u", "v\u00e9", "w")))
    expect_identical(named$classes, c("u", "v\u00e9", "w"), info = class)
    expect_identical(gbt_import(live_stand_in(class, file, c("u", "v", "w")), classes = c("a", "b", "c"))$classes,
                     c("a", "b", "c"))
    plain <- gbt_import(test_path("imported", file))
    for (odd in list(NULL, c("u", "v"), c("u", "u", "w"), c("u", NA, "w"), 1:3)) {
      expect_identical(gbt_import(live_stand_in(class, file, odd))$classes, plain$classes, info = class)
    }
    numbers <- live_stand_in(class, files[[class]], c("u", "v"))
    expect_null(gbt_import(numbers)$classes)
  }
  utils::assignInNamespace("get_exported", function(package, name) function(...) stop("no handle"), "gbt")
  expect_error(gbt_import(structure(list(), class = "xgb.Booster")), "xgboost could not save.*no handle",
               class = "gbt_error_argument")
  utils::assignInNamespace("has_package", function(package) FALSE, "gbt")
  expect_error(gbt_import(structure(list(), class = "lgb.Booster")), "lightgbm, which is not installed.*lgb.save",
               class = "gbt_error_argument")
})
