# Functions and methods that take a model, or a result of gbt's: calls as in calls.R; and results whose fields the user
# changed.

# The objects that these calls are about.
results_to_use <- function() {
  x <- data.frame(a = sin(1:60), b = (1:60) %% 7, f = factor(letters[(1:60) %% 4 + 1]))
  y <- cos(1:60) + x$b
  classes <- factor(c("no", "yes")[(sin(3 * (1:60)) > 0) + 1])
  usual <- list(nrounds = 3, threads = 1, seed = 1)
  fit <- function(...) do.call(gbt_train, c(list(...), usual))
  m <- fit(x, y, eval_train = TRUE)
  mc <- fit(x, classes)
  cv <- do.call(gbt_cv, c(list(x, y, folds = 3, keep_models = TRUE), usual))
  cv_classes <- do.call(gbt_cv, c(list(x, classes, folds = 3, keep_models = TRUE), usual))
  new <- transform(x, a = a + 1)
  columns <- fit(x[c("a", "f")], cbind(large = 1000 * y, small = x$a), objective = "squared_error")
  fan <- fit(x, y, objective = "quantile", quantile_alpha = c(0.1, 0.5, 0.9))
  list(
    x = x, y = y, classes = classes, model = m, model_classes = mc, model_formula = fit(y ~ a + b, cbind(y = y, x)),
    cv = cv, cv_classes = cv_classes, calibrated = gbt_calibrate(mc, x, classes, threads = 1),
    conformal = gbt_conformal(cv, x, y, threads = 1), evaluation = gbt_evaluate(m, x, y, threads = 1),
    evaluation_by = gbt_evaluate(m, x, y, by = "f", intervals = 0.9, replicates = 20, seed = 1, threads = 1),
    curve = gbt_curve(classes, predict(mc, x, threads = 1)), importance = gbt_importance(m),
    permutation = gbt_importance(m, type = "permutation", data = x, y = y, repeats = 2, seed = 1, threads = 1),
    importance_shap = gbt_importance(m, type = "shap", data = x, threads = 1),
    shap = gbt_shap(m, x[1:20, ], threads = 1), shap_pairs = gbt_shap(m, x[1:9, ], interaction = TRUE, threads = 1),
    partial = gbt_partial(m, x, "a", size = 4, threads = 1),
    partial_ice = gbt_partial(m, x, "a", ice = TRUE, threads = 1),
    partial_ale = gbt_partial(m, x, c("a", "b"), size = 3, method = "ale", threads = 1),
    partial_two = gbt_partial(m, x, c("a", "b"), size = 3, threads = 1),
    interactions = gbt_interactions(m, x, threads = 1), monitor = gbt_monitor(m, new, reference = x, threads = 1),
    reference = gbt_monitor_reference(m, x, threads = 1), tree = gbt_tree(m, 1), dot = gbt_dot(m, 1),
    tune = do.call(gbt_tune, c(list(x, y, configs = 2, folds = 2), usual)),
    metric = gbt_metric("own", function(p, l) 1),
    model_columns = columns, model_fan = fan, confusion = gbt_confusion(mc, x, classes, threads = 1),
    fan = gbt_fan(fan, x, "a", threads = 1),
    shap_columns = gbt_shap(columns, x[1:20, ], threads = 1),
    partial_columns = gbt_partial(columns, x, "a", size = 4, threads = 1),
    partial_columns_two = gbt_partial(columns, x, c("a", "f"), size = 3, threads = 1),
    interactions_columns = gbt_interactions(columns, x, threads = 1),
    curve_columns = gbt_curve(columns, x, y = cbind(large = 1000 * y, small = x$a), threads = 1),
    importance_columns = gbt_importance(columns, type = "shap", data = x, threads = 1),
    params = gbt_parameters(), defaults = gbt_defaults(), objectives = gbt_objectives(), info = gbt_info(),
    neighbours = gbt_neighbours(m, x, x[1:3, ], k = 2, threads = 1), data = gbt_data(x, y, threads = 1)
  )
}

drawn <- function(...) {
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  force(...)
}

method_of <- function(generic, class) get0(paste(generic, class, sep = "."), asNamespace("gbt"))

# Names of the methods that a result has.
verbs <- c("print", "summary", "plot", "as.data.frame", "format", "str",
           if (requireNamespace("ggplot2", quietly = TRUE)) "autoplot")
verbs_of <- function(object) {
  own <- grep("^(summary[.])?gbt", class(object), value = TRUE)
  Filter(function(verb) any(!vapply(own, function(class) is.null(method_of(verb, class)), NA)), verbs)
}
verb_function <- function(verb) {
  if (verb == "autoplot") getExportedValue("ggplot2", "autoplot") else if (verb == "str") utils::str else get(verb)
}

result_calls <- function(r) {
  call <- function(f, args, try = setdiff(names(formals(f)), "...")) list(f = f, args = args, try = try)
  m <- r$model
  file <- tempfile(fileext = ".html")
  out <- list(
    gbt_shap = call(gbt_shap, list(model = m, newdata = r$x, threads = 1)),
    gbt_partial = call(gbt_partial, list(model = m, data = r$x, columns = "a", size = 3, threads = 1)),
    gbt_partial_two = call(gbt_partial, list(model = m, data = r$x, columns = c("a", "f"), size = 3, threads = 1),
                           c("data", "columns", "values", "rows", "grid", "method")),
    gbt_partial_ale = call(gbt_partial, list(model = m, data = r$x, columns = "f", method = "ale", threads = 1)),
    gbt_interactions = call(gbt_interactions, list(model = m, data = r$x, threads = 1)),
    gbt_evaluate = call(gbt_evaluate, list(model = m, x = r$x, y = r$y, threads = 1)),
    gbt_evaluate_intervals = call(gbt_evaluate, list(model = m, x = r$x, y = r$y, intervals = 0.9, replicates = 5,
                                                     seed = 1, threads = 1), c("intervals", "replicates", "group",
                                                                               "seed", "by", "weights", "metrics")),
    gbt_calibrate = call(gbt_calibrate, list(model = r$model_classes, data = r$x, y = r$classes, threads = 1)),
    gbt_calibrate_cv = call(gbt_calibrate, list(model = r$model_classes, data = r$x, y = r$classes, cv = r$cv_classes,
                                                threads = 1), c("cv", "data", "y", "weights")),
    gbt_conformal = call(gbt_conformal, list(object = r$cv, data = r$x, y = r$y, threads = 1)),
    gbt_monitor = call(gbt_monitor, list(model = m, newdata = r$x, reference = r$x, threads = 1)),
    gbt_monitor_reference = call(gbt_monitor_reference, list(model = m, data = r$x, threads = 1)),
    gbt_neighbours = call(gbt_neighbours, list(model = m, data = r$x, newdata = r$x[1:3, ], k = 2, threads = 1)),
    gbt_unseen = call(gbt_unseen, list(object = m, newdata = r$x, threads = 1)),
    gbt_tree = call(gbt_tree, list(model = m, tree = 1)), gbt_dot = call(gbt_dot, list(model = m, tree = 1)),
    gbt_curve = call(gbt_curve, list(observed = r$classes, predicted = predict(r$model_classes, r$x, threads = 1))),
    gbt_curve_numbers = call(gbt_curve, list(observed = r$y, predicted = r$y + 1), c("observed", "predicted", "type",
                                                                                    "weights", "bins")),
    gbt_importance_permutation = call(gbt_importance, list(model = m, type = "permutation", data = r$x, y = r$y,
                                                           repeats = 2, seed = 1, threads = 1), c(
      "type", "trees", "by", "data", "y", "repeats", "seed", "threads", "metric", "weights", "offset", "level",
      "columns", "exposure")),
    gbt_importance_shap = call(gbt_importance, list(model = m, type = "shap", data = r$x, threads = 1), c(
      "type", "trees", "by", "data", "threads", "background", "rows")),
    gbt_confusion = call(gbt_confusion, list(model = r$model_classes, x = r$x, y = r$classes, threads = 1)),
    gbt_fan = call(gbt_fan, list(model = r$model_fan, data = r$x, x = "a", threads = 1)),
    gbt_predictor = call(function(...) gbt_predictor(...)(r$x), list(model = m, threads = 1),
                         c("model", "type", "trees", "unseen", "threads")),
    gbt_export = call(gbt_export, list(model = m, file = sub("html$", "json", file))),
    gbt_import = call(gbt_import, list(file = system.file("extdata", "xgboost.json", package = "gbt"))),
    gbt_curve_columns = call(gbt_curve, list(model = r$model_columns, data = r$x,
                                             y = cbind(large = 1000 * r$y, small = r$x$a), threads = 1),
                             c("data", "y", "type", "weights", "class", "bins")),
    gbt_partial_columns = call(gbt_partial, list(model = r$model_columns, data = r$x, columns = "f", size = 3,
                                                 threads = 1), c("columns", "values", "type", "method")),
    gbt_tune = call(gbt_tune, list(x = r$x, y = r$y, configs = 2, folds = 2, nrounds = 2, threads = 1, seed = 1), c(
      "x", "y", "space", "configs", "seconds", "method", "folds", "repeats", "stratify", "log_scale", "reduction",
      "min_rounds", "nrounds", "weights", "eval_metric", "seed")),
    gbt_engine_fit = call(gbt_engine_fit, list(x = r$x, y = r$y, nrounds = 2, threads = 1)),
    gbt_report = call(gbt_report, list(model = m, data = r$x, file = file, y = r$y), c(
      "model", "data", "file", "y", "by", "effects", "rows", "title", "seed", "quiet")),
    gbt_refit = call(gbt_refit, list(object = r$cv, x = r$x, y = r$y, threads = 1), c("object", "rule", "nrounds", "x",
                                                                                    "y", "threads")),
    gbt_job = call(gbt_job, list(fun = "gbt_train"), c("fun", "by")),
    gbt_job_status = call(gbt_job_status, list(job = NULL)), gbt_job_log = call(gbt_job_log, list(job = NULL)),
    gbt_job_result = call(gbt_job_result, list(job = NULL, timeout = 0)),
    gbt_job_wait = call(gbt_job_wait, list(job = NULL, timeout = 0)),
    gbt_job_cancel = call(gbt_job_cancel, list(job = NULL, timeout = 0)),
    update = call(stats::update, list(object = r$model_formula, formula. = y ~ a, evaluate = FALSE), c(
      "formula.", "evaluate", "nrounds")),
    simulate = call(stats::simulate, list(object = m, nsim = 1, seed = 1, newdata = r$x), c("nsim", "seed", "newdata")),
    residuals = call(stats::residuals, list(object = m), "type"),
    fitted = call(stats::fitted, list(object = m), "type"),
    predict_calibrated = call(predict, list(object = r$calibrated, newdata = r$x), c("newdata", "type", "threads")),
    predict_conformal = call(predict, list(object = r$conformal, newdata = r$x),
                             c("newdata", "level", "type", "threads"))
  )
  if (requireNamespace("shiny", quietly = TRUE)) {
    out$gbt_refresh_ui <- call(function(id, title) as.character(gbt_refresh_ui(id, title)), list(id = "a", title = "A"))
  }
  c(out, verb_calls(r))
}

# The arguments of every method of verbs().
verb_calls <- function(r) {
  out <- list()
  for (name in names(r)) {
    for (verb in verbs_of(r[[name]])) {
      own <- method_of(verb, class(r[[name]])[1L])
      try <- if (!is.null(own)) setdiff(names(formals(own))[-1L], "...")
      if (length(try)) {
        out[[paste(verb, name, sep = "_")]] <- list(f = use_verb(verb, r[[name]]), args = list(), try = try)
      }
    }
  }
  out
}

use_verb <- function(verb, object) {
  force(object)
  f <- verb_function(verb)
  function(...) {
    out <- drawn(f(object, ...))
    if (verb == "summary") print(out)
  }
}

# plain: without the matrices of package Matrix, as R itself may crash where a broken one is in a list.

# Results with one field, column or attribute replaced, or taken away: whatever has a method for them refuses them by
# name, or works. All of a result's verbs are one call, and the names of its fields are the arguments.
tampered_calls <- function(r) {
  out <- list()
  for (name in setdiff(names(r), c("x", "y", "classes", "model", "model_classes", "model_formula", "model_columns",
                              "model_fan"))) {
    object <- r[[name]]
    fields <- if (is.list(object)) names(object)
    attrs <- setdiff(names(attributes(object)), c("names", "class", "row.names"))
    try <- c(fields, if (length(attrs)) paste0("attr_", attrs))
    if (length(try)) out[[paste0("tampered_", name)]] <- list(f = use_tampered(object, r), args = list(), try = try,
                                                             plain = TRUE)
  }
  out
}

use_tampered <- function(object, r) {
  verbs <- verbs_of(object)
  force(r)
  function(...) {
    changed <- list(...)
    for (name in names(changed)) {
      if (startsWith(name, "attr_")) {
        attr(object, sub("attr_", "", name)) <- changed[[name]]
      } else {
        its <- attributes(object)
        fields <- unclass(object)
        fields[name] <- changed[name] # NULL stays a field
        its$names <- names(fields)
        attributes(fields) <- its
        object <- fields
      }
    }
    all <- c(lapply(verbs, function(verb) use_verb(verb, object)), use_elsewhere(object, r))
    # R may warn of what a field has now
    for (use in all) tryCatch(suppressWarnings(use()), gbt_error = function(e) {
      if (inherits(e, "gbt_error_internal")) stop(e)
    })
  }
}

# What else takes a result.
use_elsewhere <- function(object, r) {
  switch(class(object)[1L],
    gbt_cv = list(function() gbt_refit(object, x = r$x, y = r$y, threads = 1, max_seconds = 0.2),
                  function() gbt_conformal(object, r$x, r$y, threads = 1), function() gbt_importance(object)),
    gbt_tune = list(function() gbt_refit(object, x = r$x, y = r$y, threads = 1, max_seconds = 0.2)),
    gbt_calibrated = , gbt_conformal = list(function() predict(object, r$x, threads = 1)),
    gbt_metric = list(function() gbt_train(r$x, r$y, nrounds = 1, eval_metric = object, eval_train = TRUE,
                                           threads = 1)),
    gbt_monitor_reference = list(function() gbt_monitor(r$model, r$x, reference = object, threads = 1)),
    gbt_data = list(function() gbt_train(object, nrounds = 1, threads = 1)),
    gbt_importance = , gbt_curve = , gbt_evaluation = list(function() object[1L, ]),
    list())
}
