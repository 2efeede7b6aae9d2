# Columns and vectors whose numbers are not their values: refused by name, or taken as their class means them, wherever
# they come in.

methods::setClass("gbt_test_money", contains = "numeric", slots = c(scale = "numeric"))

money <- function(n) methods::new("gbt_test_money", rep(1, n), scale = as.double(seq_len(n)))

# What labelled_spss() of package haven makes, without the package.
declared <- function(v, values = NULL, range = NULL) {
  structure(v, na_values = values, na_range = range,
            class = c("haven_labelled_spss", "haven_labelled", "vctrs_vctr", typeof(v)))
}

n <- 40L
d <- data.frame(a = as.double(1:40), y = sin(1:40) + 1:40)
trained <- function(x, y = d$y, ...) gbt_train(x, y, ..., nrounds = 5, min_child_weight = 1, seed = 1, threads = 1)

with_column <- function(v, name = "a") {
  x <- d["a"]
  x[[name]] <- v
  x
}

test_that("an S4 object that gbt does not know is refused by name in every place", {
  m <- trained(d["a"])
  f <- gbt_train(y ~ a, d, nrounds = 5, threads = 1)
  k <- gbt_train(d["a"], factor(d$y > 20), nrounds = 5, threads = 1)
  p <- gbt_train(d["a"], d$y, objective = "poisson", exposure = rep(2, n), nrounds = 5, threads = 1)
  bad <- money(n)
  column <- with_column(bad)
  whole <- cbind(d, w = 1)
  whole$w <- bad
  data <- gbt_data(d["a"], label = d$y, threads = 1)
  calls <- list(
    predictor = quote(trained(column)), formula = quote(gbt_train(y ~ w, whole, nrounds = 2)),
    term = quote(gbt_train(y ~ w + log(a), whole, nrounds = 2)),
    predict = quote(predict(m, column)), data = quote(gbt_data(column)),
    reference = quote(gbt_data(column, reference = data)),
    chunks = quote(gbt_data(function(i) if (i == 1) column)),
    predict_chunks = quote(predict(m, function(i) if (i == 1) column)),
    share = quote(trained(column, valid = 0.3)), rows = quote(gbt_train(y ~ w, whole, subset = a > 3, nrounds = 2)),
    weights_subset = quote(gbt_train(y ~ a, whole, weights = w, subset = a > 3, nrounds = 2)),
    output = quote(predict(m, column, output = function(p, row) NULL)), some = quote(gbt_shap(m, column, rows = 3)),
    valid = quote(trained(d["a"], valid = list(x = column, y = d$y))),
    init = quote(trained(column, init_model = m)), cv = quote(gbt_cv(column, d$y, nrounds = 2)),
    response = quote(trained(d["a"], bad)), response_formula = quote(gbt_train(w ~ a, whole, nrounds = 2)),
    response_valid = quote(trained(d["a"], valid = list(x = d["a"], y = bad))),
    response_data = quote(trained(gbt_data(d["a"], label = bad), NULL)),
    weights = quote(trained(d["a"], weights = bad)),
    weights_formula = quote(gbt_train(y ~ a, whole, weights = w, nrounds = 2)),
    weights_data = quote(gbt_data(d["a"], weight = bad)),
    weights_chunks = quote(gbt_data(function(i) if (i == 1) list(x = d["a"], weight = bad))),
    weights_valid = quote(trained(d["a"], valid = list(x = d["a"], y = d$y, weight = bad))),
    offset = quote(trained(d["a"], offset = bad)),
    offset_formula = quote(gbt_train(y ~ a + offset(w), whole, nrounds = 2)),
    offset_frame = quote(trained(d["a"], offset = whole["w"])),
    offset_predict = quote(predict(m, d["a"], offset = bad)),
    exposure = quote(trained(d["a"], exposure = bad, objective = "poisson")),
    exposure_predict = quote(predict(p, d["a"], exposure = bad)),
    group = quote(trained(d["a"], group = bad)), time = quote(trained(d["a"], time = bad)),
    evaluate = quote(gbt_evaluate(m, d["a"], bad)),
    evaluate_weights = quote(gbt_evaluate(m, d["a"], d$y, weights = bad)),
    evaluate_by = quote(gbt_evaluate(m, d["a"], d$y, by = list(g = bad))),
    evaluate_group = quote(gbt_evaluate(m, d["a"], d$y, group = bad, intervals = 0.9)),
    evaluate_column = quote(gbt_evaluate(f, setNames(whole[c("y", "w")], c("y", "a")))),
    conformal = quote(gbt_conformal(m, d["a"], bad)),
    conformal_weights = quote(gbt_conformal(m, d["a"], d$y, weights = bad)),
    calibrate = quote(gbt_calibrate(k, d["a"], d$y > 20, weights = bad)),
    curve = quote(gbt_curve(bad, d$y, type = "lift")), curve_predicted = quote(gbt_curve(d$y, bad, type = "lift")),
    curve_weights = quote(gbt_curve(d$y, d$y, type = "lift", weights = bad)),
    partial = quote(gbt_partial(m, column, "a")), partial_weights = quote(gbt_partial(m, d["a"], "a", weights = bad)),
    shap = quote(gbt_shap(m, column)), unseen = quote(gbt_unseen(m, column)),
    monitor = quote(gbt_monitor(m, column, d["a"])),
    neighbours = quote(gbt_neighbours(m, column)),
    importance = quote(gbt_importance(m, type = "permutation", data = d["a"], y = bad)),
    deviance = quote(deviance(m, d["a"], d$y, weights = bad)), residuals = quote(residuals(m, d["a"], bad))
  )
  for (name in names(calls)) {
    e <- tryCatch(suppressWarnings(eval(calls[[name]])), error = identity)
    expect_s3_class(e, "gbt_error_data")
    expect_match(conditionMessage(e), "S4 object of class \"gbt_test_money\"", info = name)
  }
})

test_that("classes over numbers are taken where as.double() agrees, and refused else", {
  same <- trained(d["a"])$state
  expect_identical(trained(with_column(structure(d$a, class = "gbt_test_plain")))$state, same)
  expect_identical(trained(with_column(I(d$a)))$state, same)
  registerS3method("as.double", "gbt_test_cents", function(x, ...) unclass(x) / 100, envir = asNamespace("base"))
  registerS3method("is.na", "gbt_test_gone", function(x) unclass(x) == 3, envir = asNamespace("base"))
  cents <- structure(d$a, class = "gbt_test_cents")
  expect_error(trained(with_column(cents)), "column `a` is of class \"gbt_test_cents\"", class = "gbt_error_data")
  expect_error(trained(d["a"], cents), "the response is of class", class = "gbt_error_data")
  expect_error(trained(d["a"], weights = cents), "`weights` is of class", class = "gbt_error_data")
  gone <- structure(d$a, class = "gbt_test_gone")
  expect_identical(trained(with_column(gone))$state, trained(with_column(replace(d$a, 3, NA)))$state)
  expect_error(trained(d["a"], gone), "missing value, the first in row 3", class = "gbt_error_data")
  for (v in list(as.list(1:40), as.raw(1:40), complex(real = 1:40), numeric_version(paste0("1.", 1:40)))) {
    expect_error(trained(with_column(v)), "column `a`", class = "gbt_error_data")
    expect_error(trained(d["a"], v), "the response", class = "gbt_error_data")
    expect_error(trained(d["a"], weights = v), "`weights`", class = "gbt_error_data")
  }
})

test_that("declared codes for missing values are missing wherever they come in", {
  v <- d$a
  v[c(4, 9)] <- 99
  v[20] <- -7
  plain <- replace(v, c(4, 9, 20), NA)
  v <- declared(v, c(98, 99), c(-9, -1))
  x <- with_column(v)
  m <- trained(x)
  p <- trained(with_column(plain))
  expect_identical(m$feature_types, "coded:98,99,-9..-1")
  right <- predict(p, with_column(plain))
  expect_identical(predict(m, x), right)
  expect_identical(predict(m, with_column(as.double(unclass(v)))), right) # which has forgotten the codes
  expect_identical(unname(predict(m, matrix(as.double(unclass(v)), dimnames = list(NULL, "a")))), unname(right))
  expect_identical(predict(m, function(i) if (i == 1) x), right)
  file <- tempfile()
  gbt_save(m, file)
  expect_identical(predict(gbt_load(file), with_column(as.double(unclass(v)))), right)
  f <- gbt_train(y ~ a, cbind(x, y = d$y), nrounds = 5, min_child_weight = 1, seed = 1, threads = 1)
  expect_identical(unname(predict(f, with_column(as.double(unclass(v))))), unname(right))
  log_of <- function(x) {
    gbt_train(y ~ a + log(a), cbind(x, y = d$y), nrounds = 5, min_child_weight = 1, seed = 1, threads = 1)
  }
  expect_identical(predict(suppressWarnings(log_of(x)), x), predict(log_of(with_column(plain)), with_column(plain)))
  expect_equal(trained(d["a"], valid = list(x = x, y = d$y), init_model = NULL)$evaluation_log,
               trained(d["a"], valid = list(x = with_column(plain), y = d$y))$evaluation_log)
  expect_equal(gbt_evaluate(m, x, d$y), gbt_evaluate(p, with_column(plain), d$y))
  expect_identical(predict(trained(gbt_data(x, label = d$y), NULL), x), right)
  expect_identical(trained(x, init_model = m)$nrounds, 10L)
  expect_false(any(gbt_partial(m, x, "a")$effects$a %in% c(99, -7)))
  expect_error(trained(d["a"], v), "3 missing values, the first in row 4", class = "gbt_error_data")
  w <- declared(rep(1, n), 1)
  marked <- d
  marked$w <- w
  for (call in list(quote(trained(d["a"], weights = w)), quote(gbt_data(d["a"], weight = w)),
                    quote(trained(d["a"], offset = w)), quote(trained(d["a"], group = w)),
                    quote(trained(d["a"], time = w)), quote(gbt_evaluate(m, x, d$y, weights = w)),
                    quote(gbt_curve(d$y, w, type = "lift")), quote(gbt_curve(w, d$y, type = "lift")),
                    quote(predict(m, x, offset = w)), quote(gbt_conformal(m, x, w)),
                    quote(gbt_train(y ~ a, marked, weights = w, nrounds = 2)),
                    quote(gbt_data(function(i) if (i == 1) list(x = d["a"], weight = w))))) {
    expect_error(eval(call), "missing", class = "gbt_error_data")
  }
  texts <- declared(rep(c("p", "q", "refused", "q"), 10), "refused")
  r <- trained(with_column(ifelse(unclass(texts) == "refused", NA, texts)))
  expect_identical(trained(with_column(texts))$state, r$state)
  skip_if_not_installed("haven")
  labelled_spss <- get_exported("haven", "labelled_spss")
  expect_identical(trained(with_column(labelled_spss(as.double(unclass(v)), na_values = c(98, 99),
                                                     na_range = c(-9, -1))))$state, m$state)
  tagged <- replace(plain, is.na(plain), get_exported("haven", "tagged_na")("z"))
  expect_identical(trained(with_column(tagged))$state, p$state)
})

test_that("codes in the description of a model file are numbers or nothing", {
  expect_identical(gbt:::codes_of_tag("coded:99,x,1..y,"), list(values = 99, range = NULL))
  expect_identical(gbt:::codes_of_tag("coded:-9..-1"), list(values = numeric(0), range = c(-9, -1)))
})

test_that("new data in another unit are converted or refused, and training goes on in the first one", {
  hours <- with_column(as.difftime(d$a, units = "hours"))
  minutes <- with_column(as.difftime(d$a * 60, units = "mins"))
  m <- trained(hours)
  on <- trained(minutes, init_model = m)
  expect_identical(on$state, trained(hours, init_model = m)$state)
  expect_identical(predict(on, minutes), predict(on, hours))
  skip_if_not_installed("units")
  set_units <- get_exported("units", "set_units")
  km <- with_column(set_units(d$a, "km", mode = "standard"))
  m <- trained(km)
  expect_identical(m$feature_types, "units:km")
  expect_equal(predict(m, with_column(set_units(d$a * 1000, "m", mode = "standard"))), predict(m, km))
  expect_identical(predict(m, d["a"]), predict(m, km)) # plain numbers are taken as they are
  expect_error(predict(m, with_column(set_units(d$a, "s", mode = "standard"))),
               "column `a` is in units \"s\", but was in \"km\"", class = "gbt_error_data")
  expect_error(predict(trained(d["a"]), km), "is of class units, but was double.*as.numeric", class = "gbt_error_data")
  file <- tempfile()
  for (text in c(sprintf("file.create('%s')", file), "m*(1)", "m;m", "m\nm", "")) {
    expect_error(gbt:::in_unit(km$a, text, "a"), "not the text of a unit", class = "gbt_error_data")
  }
  expect_false(file.exists(file))
  speed <- set_units(1:2, "kg*m/s^2", mode = "standard")
  expect_identical(gbt:::unit_text(speed), "kg*m/s^2")
  skip_if_not(l10n_info()[["UTF-8"]], "package units knows units beyond ASCII in UTF-8 alone")
  celsius <- with_column(set_units(d$a, "degC", mode = "standard"))
  kelvin <- with_column(set_units(celsius$a, "K", mode = "standard"))
  expect_identical(predict(trained(celsius), celsius), predict(trained(d["a"]), d["a"]))
  expect_identical(gbt:::in_unit(kelvin$a, gbt:::unit_of(trained(celsius)$feature_types), "a"),
                   as.double(set_units(kelvin$a, "degC", mode = "standard")))
})

test_that("periods of lubridate are refused, durations are seconds", {
  skip_if_not_installed("lubridate")
  hours <- get_exported("lubridate", "hours")
  expect_error(trained(with_column(hours(1:40))), "column `a` is an S4 object of class \"Period\"",
               class = "gbt_error_data")
  expect_identical(trained(with_column(get_exported("lubridate", "dseconds")(d$a)))$state, trained(d["a"])$state)
  g <- data.frame(g = rep(letters[1:4], 10))
  expect_identical(trained(g, time = get_exported("lubridate", "dseconds")(d$a), cat_method = "target")$state,
                   trained(g, time = d$a, cat_method = "target")$state)
})

test_that("what stands in the wrong place is told what to give", {
  m <- trained(d["a"])
  expect_error(gbt_curve(m, d), "`y` is missing", fixed = TRUE, class = "gbt_error_argument")
  expect_error(gbt_curve(d$y, factor(d$a > 20)), "did you swap `observed` and `predicted`", class = "gbt_error_data")
  expect_identical(trained(d["a"], family = "poisson")$objective, "poisson")
  table <- structure(list(src = 1, lazy_query = 2), class = c("tbl_sql", "tbl_lazy", "tbl")) # of dplyr::tbl(con, )
  for (call in list(quote(gbt_train(y ~ ., table)), quote(gbt_train(table, d$y)), quote(predict(m, table)),
                    quote(gbt_evaluate(m, table, d$y)), quote(gbt_partial(m, table, "a")), quote(gbt_shap(m, table)))) {
    expect_error(eval(call), "gbt_query\\(", class = "gbt_error_data")
  }
})
