# What every function does with models of several outputs: responses of several columns, labels, quantiles and
# distributions. Each of these works, or is refused by an error of gbt's that says what to do.

d <- withr::with_seed(1, {
  n <- 300
  d <- data.frame(a = rnorm(n), b = rnorm(n), f = factor(sample(letters[1:3], n, TRUE)))
  d$y1 <- d$a + rnorm(n) / 4
  d$y2 <- d$b + rnorm(n) / 4
  d$size <- exp(d$a / 2 + rnorm(n) / 4)
  d$count <- rpois(n, d$size)
  d
})
x <- d[1:3]
numbers <- as.matrix(d[c("y1", "y2")])
labels <- cbind(p = d$a > 0, q = d$b > 0)
with_gaps <- function(m) {
  m[1:20, 1] <- NA
  m
}
kinds <- list(
  columns = list(with_gaps(numbers)), common = list(numbers, multi_strategy = "multi_output_tree"),
  labels = list(with_gaps(labels)), levels = list(d$y1, objective = "quantile", quantile_alpha = c(0.1, 0.5, 0.9)),
  normal = list(d$y1, objective = "dist_normal"), student = list(d$y1, objective = "dist_student"),
  gamma = list(d$size, objective = "dist_gamma"), negbin = list(d$count, objective = "dist_negative_binomial"),
  zip = list(d$count, objective = "dist_zip")
)
fit <- function(f, kind, ...) do.call(f, c(list(x), kind, list(seed = 1, threads = 1, verbose = 0, ...)))
tuned <- function(kind) fit(gbt_tune, kind, space = list(eta = 0.1), configs = 1, folds = 2, nrounds = 2)
short <- function(ext) file.path(withr::local_tempdir(.local_envir = parent.frame()), paste0("f", ext))
models <- lapply(kinds, function(kind) fit(gbt_train, kind, nrounds = 5))
folds <- lapply(kinds, function(kind) fit(gbt_cv, kind, nrounds = 4, folds = 3, keep_models = TRUE))

# Columns: the kinds. + works, - is refused. m: model, cv: cross-validation, y: response, kind: arguments.
sweep <- '
predict                 +++++++++  predict(m, x)
predict_link            +++++++++  predict(m, x, "link")
predict_prob            --+------  predict(m, x, "prob")
predict_class           --+------  predict(m, x, "class")
predict_quantile        ---++++++  predict(m, x, "quantile", probs = c(0.1, 0.9))
predict_interval        ---++++++  predict(m, x, "interval")
predict_parameters      ----+++++  predict(m, x, "parameters")
predict_contrib         +++++++++  predict(m, x[1:5, ], "contrib")
predict_interaction     +++++++++  predict(m, x[1:5, ], "interaction")
predict_leaf            +++++++++  predict(m, x[1:5, ], "leaf")
predict_output          +++++++++  predict(m, x, output = short(".csv"))
simulate                --+-+++++  simulate(m, 2, seed = 1, newdata = x)
residuals               +++-+++++  residuals(m, x, y)
fitted                  +++++++++  fitted(m, x)
logLik                  ----+++++  logLik(m, x, y)
deviance                ---------  deviance(m, x, y)
evaluate                +++++++++  gbt_evaluate(m, x, y, by = "f", intervals = 0.9, replicates = 20, seed = 1)
evaluate_cv             +++++++++  plot(gbt_evaluate(cv, x, y, by = "f"))
confusion               ---------  gbt_confusion(m, x, y)
calibrate               --+------  plot(gbt_calibrate(m, x, y))
calibrate_cv            --+------  gbt_evaluate(gbt_calibrate(m, x, y, cv = cv), x, y)
conformal               ++-++++++  predict(gbt_conformal(m, x, y), x)
conformal_cv            ++-------  predict(gbt_conformal(cv, x, y), x)
curve_calibration       +++-+++++  plot(gbt_curve(m, x, "calibration", y = y))
curve_roc               --+------  plot(gbt_curve(cv, x, "roc", y = y))
curve_pr                --+------  plot(gbt_curve(m, x, "pr", y = y))
curve_lift              --+---+++  plot(gbt_curve(m, x, "lift", y = y))
curve_gains             --+---+++  plot(gbt_curve(m, x, "gains", y = y))
curve_pit               ---++++++  plot(gbt_curve(m, x, "pit", y = y))
curve_brier             ---------  gbt_curve(m, x, "brier", y = y)
curve_query             ---------  gbt_curve(m, x, "query_length", y = y, group = rep(1:30, 10))
fan                     ---++++++  plot(gbt_fan(m, x, "a", y))
importance              +++++++++  plot(gbt_importance(m))
importance_cv           +++++++++  gbt_importance(cv)
importance_permutation  +++++++++  plot(gbt_importance(m, "permutation", data = x, y = y, seed = 1, repeats = 2))
importance_folds        +++++++++  gbt_importance(cv, "permutation", data = x, y = y, seed = 1, repeats = 2)
importance_shap         +++++++++  plot(gbt_importance(m, "shap", data = x))
interactions            +++++++++  plot(gbt_interactions(m, x, rows = 30))
partial                 +++++++++  plot(gbt_partial(m, x, "a"))
partial_ice             +++++++++  plot(gbt_partial(m, x, "a", ice = TRUE, rows = 20))
partial_ale             +++++++++  plot(gbt_partial(m, x, "a", method = "ale"))
partial_recursion       +++++++++  plot(gbt_partial(m, x, "a", method = "recursion"))
partial_prob            --+------  gbt_partial(m, x, "a", type = "prob")
shap                    +++++++++  plot(gbt_shap(m, x[1:50, ]))
monitor                 +++++++++  plot(gbt_monitor(m, x, reference = x))
monitor_reference       +++++++++  gbt_monitor(gbt_monitor_reference(m, x), x)
neighbours              +++++++++  gbt_neighbours(m, x, x[1:3, ])
tree                    +++++++++  plot(gbt_tree(m, 1))
dot                     +++++++++  gbt_dot(m, 1)
unseen                  +++++++++  gbt_unseen(m, x)
refit                   +++++++++  do.call(gbt_refit, c(list(cv, x = x, y = y), kind[-1]))
refit_leaves            +++++++++  gbt_refit(m, x = x, y = y)
update                  +++++++++  update(m, x = x, y = y, nrounds = 3)
go_on                   +++++++++  fit(gbt_train, kind, nrounds = 2, init_model = m)
tune                    +++++++++  plot(tuned(kind))
save                    +++++++++  { f <- withr::local_tempfile(); gbt_save(m, f); gbt_load(f) }
export_json             ++++-----  gbt_export(m, short(".json"))
export_onnx             ++++-----  gbt_export(m, short(".onnx"))
export_sql              ++++-----  gbt_export(m, short(".sql"))
export_pmml             ++++-----  gbt_export(m, short(".pmml"))
combine                 ---------  c(m, m)
print                   +++++++++  { print(m); print(summary(m)); str(m); plot(m) }
print_cv                +++++++++  { print(cv); print(summary(cv)); plot(cv) }
as_frame                +++++++++  as.data.frame(m)
glance                  +++++++++  generics::glance(m)
tidy                    +++++++++  generics::tidy(m)
augment                 +++++++++  generics::augment(m, x)
marginaleffects         +++++++++  { get_predict.gbt(m, x); get_group_names.gbt(m) }
DALEX                   +++++++++  { yhat.gbt(m, x); model_info.gbt(m) }
vip                     +++++++++  vi_model.gbt(m)
tidypredict             ---------  tidypredict_fit.gbt(m)
report                  +++++++++  gbt_report(m, x, short(".html"), y = y, effects = 1, rows = 20)
'

test_that("each function works for models of several outputs, or says what to do", {
  withr::local_pdf(NULL)
  skip_if_not_installed("generics")
  report <- requireNamespace("rmarkdown", quietly = TRUE) && rmarkdown::pandoc_available("2.0") && long_form()
  lines <- strsplit(trimws(sweep), "\n", fixed = TRUE)[[1L]]
  part <- regmatches(lines, regexec("^(\\S+) +([-+]+) +(.*)$", lines))
  for (one in part) {
    if (one[2L] == "report" && !report) next
    code <- str2lang(one[4L])
    got <- vapply(names(kinds), function(name) {
      its <- list2env(list(m = models[[name]], cv = folds[[name]], y = kinds[[name]][[1L]], kind = kinds[[name]]),
                      parent = environment())
      env <- new.env(parent = its)
      out <- "+"
      withr::with_output_sink(nullfile(), {
        tryCatch(suppressMessages(withCallingHandlers(eval(code, env), warning = function(w) {
          if (!inherits(w, "gbt_warning")) out <<- paste("warning:", conditionMessage(w))
          invokeRestart("muffleWarning")
        })), gbt_error = function(e) out <<- "-", error = function(e) out <<- paste("error:", conditionMessage(e)))
      })
      out
    }, "")
    expect_identical(paste(got, collapse = ""), one[3L], info = one[2L])
  }
})

# Twins: a column of a model of several is the model of this column alone.
m <- fit(gbt_train, list(numbers), nrounds = 15)
own <- lapply(1:2, function(k) fit(gbt_train, list(numbers[, k]), nrounds = 15))
new <- x[1:7, ]
gone <- with_gaps(numbers)
there <- 21:300
two <- fit(gbt_train, list(labels), nrounds = 15)
first <- fit(gbt_train, list(labels[, 1]), nrounds = 15)

test_that("intervals of columns are those of a model of each, from the rows with a value", {
  all <- gbt_conformal(m, x, gone, threads = 1)
  got <- predict(all, new, level = 0.8)
  expect_named(got, c("y1", "y2"))
  expect_identical(got$y1, predict(gbt_conformal(own[[1]], x[there, ], numbers[there, 1]), new, level = 0.8))
  expect_identical(got$y2, predict(gbt_conformal(own[[2]], x, numbers[, 2]), new, level = 0.8))
  expect_identical(lapply(got, `[`, 1L, ), predict(all, new[1, ], level = 0.8))
  expect_identical(nrow(predict(all, new[0, ])$y2), 0L)
  w <- rep(1:2, 150)
  one <- gbt_conformal(own[[1]], x[there, ], numbers[there, 1], weights = w[there])
  expect_identical(predict(gbt_conformal(m, x, gone, weights = w), new, weights = 2)$y1, predict(one, new, weights = 2))
  expect_output(print(all), "y1: absolute residual at level .*\ny2: absolute residual at level")
  expect_warning(predict(gbt_conformal(m, x[1:22, ], gone[1:22, ]), new, level = 0.8), "there are 2",
                 class = "gbt_warning_conformal")
  cv <- fit(gbt_cv, list(numbers), nrounds = 8, folds = 3, keep_models = TRUE)
  one <- fit(gbt_cv, list(numbers[, 2]), nrounds = 8, folds = cv$folds, keep_models = TRUE)
  expect_identical(predict(gbt_conformal(cv, x, numbers), new)$y2, predict(gbt_conformal(one, x, numbers[, 2]), new))
  withr::local_pdf(NULL)
  plot(all, output = "y2")
  plot(all, x, gone, output = "y1", level = 0.8)
  expect_snapshot(error = TRUE, {
    plot(all)
    plot(all, output = "y3")
    plot(gbt_conformal(own[[1]], x, numbers[, 1]), output = "y1")
    gbt_conformal(m, x, gone, scale = own[[1]])
    gbt_conformal(m, x, gone, method = "scaled")
    gbt_conformal(list(lower = m, upper = m), x, gone)
    gbt_conformal(models$labels, x, labels)
    plot(all, output = c("y1", "y2"))
  })
})

test_that("errors and warnings about one column name it", {
  w <- rep(1:0, c(20, 280)) # no weight where y1 is there
  empty <- replace(numbers, cbind(1:300, 2L), NA)
  none <- replace(labels, cbind(1:300, 2L), NA)
  one <- replace(labels, cbind(1:300, 2L), TRUE)
  expect_snapshot(error = TRUE, {
    gbt_curve(two, x, "roc", y = one)
    gbt_curve(two, x, "roc", y = one, class = "q")
    gbt_curve(two, x, "roc", y = none)
    gbt_curve(two, x, "roc", y = none, class = "q")
    gbt_curve(two, x, "roc", y = labels, class = c("p", "q"))
    gbt_curve(m, x, "lift", y = abs(numbers) - c(0, 9))
    gbt_curve(m, x, "calibration", y = gone, weights = w)
    gbt_conformal(m, x, empty)
    gbt_calibrate(two, x, none)
    gbt_train(x, cbind(y1 = d$y1, y2 = 1e200 * d$y2), nrounds = 1)
    gbt_evaluate(m, x, numbers, metrics = "rmsle")
  })
  expect_warning(gbt_evaluate(m, x, empty), "column `y2` of the response is missing in all rows, so its metrics",
                 class = "gbt_warning_column")
  expect_no_warning(gbt_evaluate(m, x, gone))
  expect_no_error(gbt_curve(two, x, "roc", y = none, class = "p"))
  few <- gbt_conformal(m, x[1:22, ], gone[1:22, ])
  told <- character(0)
  withCallingHandlers(predict(few, new, level = 0.99), gbt_warning_conformal = function(w) {
    told <<- c(told, conditionMessage(w))
    invokeRestart("muffleWarning")
  })
  expect_match(told[1], "^column `y1` of the response: level 0.99 needs at least 99 rows for calibration, there are 2")
  expect_match(told[2], "^column `y2` of the response: level 0.99 needs at least 99 rows for calibration, there are 22")
  three <- gbt_train(Species ~ Sepal.Width, iris, nrounds = 2, threads = 1)
  expect_error(gbt_curve(three, iris[1:100, ], "roc"), "class \"virginica\": .*all rows of the response have one class",
               class = "gbt_error_data")
})

test_that("missing columns of other rows are told as such, before missing cells", {
  three <- cbind(numbers, y3 = sin(1:300))
  holes <- three
  holes[5, 1:2] <- NA
  valid <- function(y) gbt_train(x, three, valid = list(x = x, y = y), nrounds = 1, threads = 1)
  expect_snapshot(error = TRUE, {
    valid(holes[, 1:2])
    valid(unname(holes[, 1:2]))
    valid(cbind(holes, y4 = 1))
    valid(cbind(holes[, 1:2], y33 = 1:300))
    valid(holes[, 1])
    gbt_evaluate(m, x, holes)
  })
  expect_no_error(valid(holes[, 3:1]))
})

test_that("a logical column beside numbers is called logical", {
  said <- function(y) testthat::capture_messages(gbt_train(x, y, nrounds = 1, threads = 1))
  n <- as.numeric(d$a > 0)
  expect_match(said(data.frame(n, yes = d$b > 0)), "logical columns (`yes`)", fixed = TRUE, all = FALSE)
  expect_match(said(data.frame(n, k = as.numeric(d$b > 0))), "are 0 and 1, numbers", all = FALSE)
})

test_that("probabilities of labels are calibrated by column", {
  for (method in c("isotonic", "platt", "beta")) {
    all <- gbt_calibrate(two, x, with_gaps(labels), method = method, threads = 1)
    one <- gbt_calibrate(first, x[there, ], labels[there, 1], method = method, threads = 1)
    p <- predict(all, new)
    expect_identical(unname(p[, 1]), predict(one, new))
    expect_identical(dimnames(p), list(NULL, c("p", "q")))
    expect_identical(predict(all, new, "class"), p > 0.5)
    expect_identical(predict(all, new, "prob"), p)
  }
  p <- predict(all, x)
  expect_equal(all$log_loss[["after"]], -mean(log(ifelse(labels, p, 1 - p))[!is.na(with_gaps(labels))]))
  expect_equal(gbt_evaluate(all, x, with_gaps(labels), metrics = "logloss")$estimate, all$log_loss[["after"]])
  expect_output(print(all), "the columns `p`, `q`, 300 rows", fixed = TRUE)
  expect_error(gbt_calibrate(two, x, cbind(p = labels[, 1], q = TRUE)), "column `q` has not both values",
               class = "gbt_error_data")
})

test_that("curves of columns are those of each, of quantiles a histogram between levels", {
  w <- rep(1:3, 100)
  plain <- function(x) lapply(stats::setNames(nm = names(x)), function(name) x[[name]])
  for (type in c("calibration", "roc", "pr", "lift", "gains")) {
    bins <- if (type %in% c("calibration", "lift")) list(bins = 5)
    all <- do.call(gbt_curve, c(list(two, x, type, y = with_gaps(labels), weights = w), bins))
    one <- do.call(gbt_curve, c(list(first, x[there, ], type, y = labels[there, 1], weights = w[there], class = NULL),
                                bins))
    mine <- as.data.frame(all[all$column == "p", ])
    expect_identical(plain(mine[names(one)]), plain(one))
    picked <- do.call(gbt_curve, c(list(two, x, type, y = with_gaps(labels), weights = w, class = "p"), bins))
    expect_identical(plain(picked), plain(one))
    expect_identical(attr(all, "area")["p"], if (is.null(attr(one, "area"))) NULL else c(p = attr(one, "area")))
  }
  expect_output(print(gbt_curve(two, x, "roc", y = labels)), "each column of the response")
  expect_output(print(gbt_curve(two, x, "roc", y = labels, class = "q")), "column \"q\"")
  both <- gbt_curve(list(a = two, b = two), x, "roc", y = labels, class = "q")
  expect_identical(levels(both$model), c("a", "b"))
  q <- predict(models$levels, x)
  h <- gbt_curve(models$levels, x, "pit", y = d$y1)
  counts <- c(sum(d$y1 <= q[, 1]), sum(d$y1 > q[, 1] & d$y1 <= q[, 2]), sum(d$y1 > q[, 2] & d$y1 <= q[, 3]),
              sum(d$y1 > q[, 3]))
  expect_equal(h$weight, counts)
  expect_equal(h$density, counts / 300 / c(0.1, 0.4, 0.4, 0.1))
  expect_equal(h$from, c(0, 0.1, 0.5, 0.9))
  expect_snapshot(error = TRUE, {
    gbt_curve(models$levels, x, "pit", y = d$y1, bins = 5)
    gbt_curve(models$levels, x, "calibration", y = d$y1)
    gbt_curve(two, x, "roc", y = labels, class = "r")
    gbt_curve(list(a = two, b = two), x, "roc", y = labels)
    gbt_curve(two, x, "pit", y = labels)
    gbt_confusion(two, x, labels)
    logLik(m, x, numbers)
    residuals(models$levels, x, d$y1)
  })
})

test_that("permutation importance looks at all cells, or at a column by its metric; residuals are a matrix", {
  of <- function(m, y, metric) {
    out <- gbt_importance(m, "permutation", data = x, y = y, metric = metric, seed = 3, repeats = 3, threads = 1)
    stats::setNames(out$importance, out$column)[c("a", "b", "f")]
  }
  expect_equal(of(m, numbers, "rmse@y2"), of(own[[2]], numbers[, 2], "rmse"), tolerance = 1e-12)
  plain <- gbt_importance(m, "permutation", data = x, y = gone, seed = 3, threads = 1)
  expect_identical(attr(plain, "metric"), "rmse")
  expect_equal(attr(plain, "base"), sqrt(mean((predict(m, x) - gone)^2, na.rm = TRUE)))
  expect_identical(residuals(m, x, gone), gone - predict(m, x))
  expect_equal(residuals(two, x, labels), labels - predict(two, x))
})

test_that("outputs in units of their own have a scale each, and shares do not depend on the units", {
  numbers <- numbers + cbind(2 * (d$f == "b") * d$b, 2 * (d$f == "a") * d$a)
  fit_units <- function(k) gbt_train(x, numbers * rep(k, each = nrow(x)), nrounds = 20, seed = 1, threads = 1)
  m <- fit_units(c(1, 1))
  large <- fit_units(c(1, 1024)) # a power of two: the same trees
  rows <- seq_len(60)
  # importance and orders
  shares <- gbt_importance(m, "shap", data = x, threads = 1)
  expect_identical(gbt_importance(large, "shap", data = x, threads = 1), shares)
  expect_equal(sum(shares$importance), 1)
  each <- gbt_shap(large, x[rows, ], threads = 1)
  plain <- gbt_shap(m, x[rows, ], threads = 1)
  expect_identical(names(summary(each)), c("column", "y1", "y2"))
  expect_identical(summary(each)$column, summary(plain)$column)
  expect_equal(summary(each)$y2, 1024 * summary(plain)$y2)
  by_hand <- rowMeans(apply(colMeans(abs(plain$values)), 2L, function(v) v / sum(v)))
  expect_identical(summary(plain)$column, names(sort(-by_hand)))
  pairs <- function(m) gbt_interactions(m, x, rows = 30, seed = 1, threads = 1)
  expect_identical(pairs(large)$column, pairs(m)$column)
  expect_identical(pairs(large)$other, pairs(m)$other)
  # each panel has a scale of its output
  of <- function(fig, axis) lapply(fig$panels, function(p) p[[axis]]$lim)
  check <- function(make, axis) {
    one <- of(make(m), axis)
    two <- of(make(large), axis)
    expect_length(one, 2L)
    expect_equal(two[[1L]], one[[1L]])
    expect_equal(two[[2L]], 1024 * one[[2L]], tolerance = 1e-6)
  }
  partial <- function(columns, ...) {
    function(m) gbt:::partial_figure(gbt_partial(m, x[rows, ], columns, size = 5, threads = 1, ...), NULL)
  }
  check(partial("a"), "y")
  check(partial("a", ice = TRUE), "y")
  check(partial("a", method = "ale"), "y")
  check(partial("f"), "x")
  shap <- function(...) {
    function(m) {
      s <- gbt_shap(m, x[rows, ], threads = 1)
      gbt:::shap_figure(s, gbt:::shap_shown(s, NULL), top = 20, ...)
    }
  }
  check(shap(row = NULL, against = NULL, by = NULL), "x")
  check(shap(row = 3, against = NULL, by = NULL), "x")
  check(shap(row = NULL, against = "a", by = "b"), "y")
  check(shap(row = NULL, against = "f", by = NULL), "x")
  check(function(m) gbt:::interactions_figure(pairs(m), "size", NULL, 9, NULL), "x")
  expect_null(gbt:::interactions_figure(pairs(m), "h_squared", NULL, 9, NULL)$panels[[1L]]$x)
  curve <- function(k) {
    m <- if (k == 1) m else large
    gbt_curve(m, x, y = numbers * rep(c(1, k), each = nrow(x)), threads = 1)
  }
  bends <- lapply(c(1, 1024), function(k) gbt:::figure_of_curve(curve(k)))
  expect_equal(bends[[2L]]$panels[[2L]]$y$lim, 1024 * bends[[1L]]$panels[[2L]]$y$lim, tolerance = 1e-6)
  expect_length(gbt:::figure_of_curve(gbt_curve(m, x, "lift", y = numbers^2, threads = 1))$panels, 1L)
  # images: colours of a panel go from its least to its largest estimate
  image <- partial(c("a", "b"))(large)
  for (p in image$panels) expect_identical(range(p$marks[[1L]]$data$share), c(0, 1))
  expect_match(image$panels[[2L]]$heading, "^y2: .* to ")
  # one of the outputs, labels and means share what they have
  one <- gbt:::partial_figure(gbt_partial(large, x[rows, ], "a", size = 5, threads = 1), "y2")
  expect_length(one$panels, 1L)
  expect_null(one$panels[[1L]]$y)
  expect_length(gbt:::partial_figure(gbt_partial(models$labels, x[rows, ], "a", threads = 1), NULL)$panels, 1L)
  expect_length(gbt:::partial_figure(gbt_partial(models$gamma, x[rows, ], "a", threads = 1), NULL)$panels, 1L)
  shape <- gbt_partial(models$gamma, x[rows, ], "a", type = "parameters", threads = 1)
  expect_length(gbt:::partial_figure(shape, NULL)$panels, 2L)
  for (drawn in list(shape, each, gbt_partial(large, x[rows, ], c("a", "f"), size = 3, threads = 1), curve(1024))) {
    in_sizes(plot(drawn))
    if (requireNamespace("ggplot2", quietly = TRUE)) {
      withr::with_pdf(NULL, expect_no_error(print(ggplot2::autoplot(drawn))))
    }
  }
})
