# Stand-ins for packages that CI does not have: of each the interface that gbt uses, as the version named here has it,
# and what the package would do with what it is given. docs/integrations.md says what was tried with the packages
# themselves.

# get_exported() gives these while `code` runs.
with_stand_ins <- function(packages, code) {
  real <- gbt:::get_exported
  utils::assignInNamespace("get_exported", function(package, name) {
    if (is.null(packages[[package]])) return(real(package, name))
    if (is.null(packages[[package]][[name]])) stop("the stand-in for ", package, " has no ", name)
    packages[[package]][[name]]
  }, "gbt")
  on.exit(utils::assignInNamespace("get_exported", real, "gbt"))
  code
}

# shapviz 0.10: shapviz() of a matrix of contributions with the names of columns of X; mshapviz() of a named list.
stand_in_shapviz <- list(
  shapviz = function(object, X, baseline = 0, collapse = NULL, S_inter = NULL, ...) {
    stopifnot(is.matrix(object), all(colnames(object) %in% colnames(X)), nrow(X) == nrow(object),
              is.numeric(baseline), length(baseline) == 1L)
    if (!is.null(S_inter)) {
      stopifnot(identical(dim(S_inter), c(dim(object), ncol(object))),
                identical(dimnames(S_inter)[-1L], list(colnames(object), colnames(object))))
    }
    structure(list(S = object, X = as.data.frame(X)[colnames(object)], baseline = baseline, S_inter = S_inter),
              class = "shapviz")
  },
  mshapviz = function(object, ...) {
    stopifnot(is.list(object), all(vapply(object, inherits, NA, "shapviz")), !is.null(names(object)))
    structure(object, class = "mshapviz")
  }
)

# treeshap 0.3.1: what is.model_unified() asks for, and predict() of it: rows go to `Yes` where the feature is at most
# the split, to `Missing` where it is not there.
predict_unified <- function(u, x) {
  m <- u$model
  stopifnot(inherits(u, "model_unified"), is.data.frame(u$data), is.character(attr(u, "model")),
            isTRUE(attr(u, "missing_support")), is.numeric(m$Tree), is.numeric(m$Node), is.character(m$Feature),
            identical(levels(m$Decision.type), c("<=", "<")), is.numeric(m$Split), is.numeric(m$Yes), is.numeric(m$No),
            is.numeric(m$Missing), is.numeric(m$Prediction), is.numeric(m$Cover), all(m$Feature %in% c(NA, names(x))))
  total <- numeric(nrow(x))
  for (root in which(m$Node == 0)) {
    total <- total + vapply(seq_len(nrow(x)), function(i) {
      at <- root
      while (!is.na(m$Feature[at])) {
        v <- as.numeric(x[[m$Feature[at]]][i])
        at <- if (is.na(v)) m$Missing[at] else if (v <= m$Split[at]) m$Yes[at] else m$No[at]
      }
      m$Prediction[at]
    }, 0)
  }
  total
}

# parsnip 1.0 to 1.6: the functions that register an engine, with their checks, and what fit() and predict() do with it.
# modes: those of boost_tree(); versions before 1.6 do not have the last one.
stand_in_parsnip <- function(modes = c("unknown", "regression", "classification", "quantile regression",
                                       "censored regression")) {
  env <- new.env()
  env$modes <- modes
  env$engines <- data.frame(engine = "xgboost", mode = "regression")
  env$args <- env$fit <- env$pred <- env$encoding <- list()
  is_call <- function(f) identical(sort(names(f)), c("fun", "pkg")) || all(names(f) %in% c("fun", "pkg", "range"))
  of <- list(
    get_from_env = function(items) switch(items, boost_tree = env$engines, boost_tree_modes = env$modes),
    matrix_to_quantile_pred = function(x, object) list(.pred_quantile = x),
    set_model_engine = function(model, mode, eng) {
      stopifnot(model == "boost_tree", mode %in% env$modes)
      env$engines <- rbind(env$engines, data.frame(engine = eng, mode = mode))
    },
    set_dependency = function(model, eng, pkg, mode) stopifnot(pkg == "gbt"),
    set_fit = function(model, mode, eng, value) {
      fields <- c("interface", "protect", "func", "defaults", if (value$interface == "formula") "data")
      stopifnot(setequal(names(value), fields), is_call(value$func),
                value$interface %in% c("data.frame", "formula", "matrix"), is.list(value$defaults))
      env$fit[[mode]] <- value
    },
    set_encoding = function(model, mode, eng, options) {
      stopifnot(setequal(names(options), c("predictor_indicators", "compute_intercept", "remove_intercept",
                                           "allow_sparse_x")))
      env$encoding[[mode]] <- options
    },
    set_model_arg = function(model, eng, parsnip, original, func, has_submodel) {
      stopifnot(is.character(original), length(original) == 1L, is.vector(func), is_call(func),
                is.character(func$pkg), is.character(func$fun), is.logical(has_submodel))
      env$args[[parsnip]] <- list(original = original, func = func, has_submodel = has_submodel)
    },
    set_pred = function(model, mode, eng, type, value) {
      stopifnot(setequal(names(value), c("pre", "post", "func", "args")), value$func[["fun"]] == "predict")
      env$pred[[paste(mode, type)]] <- value
    }
  )
  env$of <- of
  # fit_xy() of boost_tree(...): arguments by their original names, over the engine's defaults
  env$train <- function(mode, x, y, ..., quantile_levels = NULL) {
    how <- env$fit[[mode]]
    how$defaults <- lapply(how$defaults, eval, list(quantile_levels = quantile_levels))
    args <- list(...)
    names(args) <- vapply(names(args), function(name) env$args[[name]]$original, "")
    data <- list(x = x, y = y) # a formula and data by the names that are said for them
    if (how$interface == "formula") names(data) <- how$data[c("formula", "data")]
    fit <- do.call(getExportedValue(how$func[["pkg"]], how$func[["fun"]]),
                   c(data, args, how$defaults[setdiff(names(how$defaults), names(args))]))
    list(fit = fit, lvl = if (mode == "classification") levels(y), spec = list(mode = mode))
  }
  # predict(type = ) of a fit: expressions in `args` see the fit as `object` and the rows as `new_data`
  env$predict <- function(object, new_data, type, eval_time = NULL, quantile_levels = NULL) {
    how <- env$pred[[paste(object$spec$mode, type)]]
    object$spec$quantile_levels <- quantile_levels
    seen <- list(object = object, new_data = new_data, eval_time = eval_time, quantile_levels = quantile_levels)
    out <- do.call(stats::predict, lapply(unname_first(how$args), eval, seen))
    if (is.null(how$post)) out else how$post(out, object)
  }
  unname_first <- function(args) stats::setNames(args, c("", "", names(args)[-(1:2)]))
  env
}

# mlr3 1.1, mlr3proba 0.8.9 and paradox 1.0.1: tasks, learners and parameters, as far as a learner sees of them.
# gives_weights: as versions from 1.0 on, has learners a method that gives the weights? `asked` counts its calls.
stand_in_mlr3 <- function(gives_weights = TRUE) {
  asked <- new.env()
  asked$weights <- 0
  domain <- function(type) {
    function(..., default = NULL, tags = character(0), aggr = NULL, in_tune_fn = NULL, disable_in_tune = NULL) {
      stopifnot(is.null(in_tune_fn) == !"internal_tuning" %in% tags, is.null(aggr) || is.function(aggr))
      list(type = type, given = list(...), default = default, tags = tags, aggr = aggr, in_tune_fn = in_tune_fn)
    }
  }
  paradox <- list(p_int = domain("int"), p_dbl = domain("dbl"), p_fct = domain("fct"), p_uty = domain("uty"),
                  ps = function(...) {
                    set <- new.env()
                    set$params <- list(...)
                    set$values <- list()
                    set$get_values <- function(tags) {
                      stopifnot(all(names(set$values) %in% names(set$params)))
                      set$values[vapply(names(set$values), function(n) tags %in% set$params[[n]]$tags, NA)]
                    }
                    set
                  })
  base <- function(task_type) {
    getExportedValue("R6", "R6Class")(paste0("Learner", task_type), public = list(
      id = NULL, state = NULL, param_set = NULL, properties = NULL, feature_types = NULL, predict_types = NULL,
      predict_type = "response",
      use_weights = "use",
      initialize = function(id, packages, feature_types, predict_types, param_set, properties, man, label) {
        self$id <- id
        self$feature_types <- feature_types
        self$param_set <- param_set
        self$properties <- properties
        self$predict_types <- predict_types
      },
      # what learner_train() does: the validation task is made by `validate`, and there only while .train() runs
      train = function(task) {
        set_apart <- self$validate
        if (is.numeric(set_apart)) {
          n <- length(task$row_ids)
          k <- round(n * set_apart)
          task$internal_valid_task <- task$with_rows(task$row_ids[seq_len(k)])
          task <- task$with_rows(task$row_ids[-seq_len(k)], task$internal_valid_task)
        }
        model <- private$.train(task)
        self$state <- list(model = model, param_vals = self$param_set$values)
        if (!is.null(set_apart)) self$state$internal_valid_scores <- private$.extract_internal_valid_scores()
        self$state$internal_tuned_values <- private$.extract_internal_tuned_values()
        invisible(self)
      },
      hotstart = function(task) {
        self$state$model <- private$.hotstart(task)
        invisible(self)
      },
      predict = function(task) private$.predict(task)
    ), private = if (gives_weights) list(
      .get_weights = function(task) {
        asked$weights <- asked$weights + 1
        if (self$use_weights == "use" && "weights_learner" %in% task$properties) task$weights_learner$weight
      }
    ), active = list(model = function() self$state$model))
  }
  learners <- new.env()
  learners$all <- list()
  learners$has <- function(key) key %in% names(learners$all)
  learners$add <- function(key, make) learners$all[[key]] <- make
  known <- c("weights", "missings", "importance", "selected_features", "hotstart_forward", "offset", "validation",
             "internal_tuning")
  mlr3 <- list(
    mlr_learners = learners, LearnerRegr = base("Regr"), LearnerClassif = base("Classif"),
    mlr_reflections = list(learner_properties = list(regr = known, classif = c(known, "twoclass", "multiclass"),
                                                   surv = known),
                           task_feature_types = c("logical", "integer", "numeric", "character", "factor", "ordered",
                                                  "POSIXct", if (gives_weights) "Date")),
    assert_validate = function(x) {
      stopifnot(is.null(x) || x %in% c("test", "predefined") || is.numeric(x) && x > 0 && x < 1)
      x
    }
  )
  list(mlr3 = mlr3, paradox = paradox, mlr3proba = list(LearnerSurv = base("Surv")), asked = asked)
}

# A task of mlr3: data() gives columns of the rows in use; offset and weights are columns with roles. Two targets are
# time and event of a task of mlr3proba.
stand_in_task <- function(data, target, weights = NULL, row_ids = seq_len(nrow(data)), valid = NULL) {
  task <- new.env()
  task$row_ids <- row_ids
  task$feature_names <- setdiff(names(data), c(target, weights))
  task$target_names <- target
  task$class_names <- levels(data[[target[1L]]])
  if (length(target) == 2L) {
    task$task_type <- "surv"
    task$truth <- function(rows = row_ids) survival::Surv(data[[target[1L]]][rows], data[[target[2L]]][rows])
  }
  task$properties <- if (!is.null(weights)) "weights_learner"
  task$weights_learner <- if (!is.null(weights)) list(weight = data[[weights]][row_ids])
  task$data <- function(cols, rows = row_ids) data[rows, cols, drop = FALSE]
  task$internal_valid_task <- valid
  task$with_rows <- function(rows, valid = NULL) stand_in_task(data, target, weights, rows, valid)
  task
}

# mirai 1.0 to 2.7, without daemons: a task is an environment that has its value as `data` when it is resolved. It is
# evaluated by a process of its own, which sees nothing but `.args`; an error becomes a text of class miraiError.
stand_in_mirai <- local({
  resolved <- function(x, value) {
    saveRDS(value, paste0(x$files[2L], ".new"))
    file.rename(paste0(x$files[2L], ".new"), x$files[2L])
  }
  child <- paste(
    "f <- commandArgs(TRUE); task <- readRDS(f[1])",
    "value <- tryCatch(eval(task$expr, list2env(task$args, parent = globalenv())), error = function(e)",
    "structure(conditionMessage(e), class = c('miraiError', 'errorValue', 'try-error')), interrupt = function(c)",
    "structure('', class = c('miraiInterrupt', 'errorValue', 'try-error')))",
    "saveRDS(value, paste0(f[2], '.new')); file.rename(paste0(f[2], '.new'), f[2])"
  )
  child <- sub(" value <-", "; value <-", sub(" saveRDS", "; saveRDS", child))
  list(
    mirai = function(.expr, ..., .args = list(), .timeout = NULL, .compute = NULL) {
      expr <- substitute(.expr)
      if (is.symbol(expr) && exists(as.character(expr), envir = parent.frame()) && is.language(.expr)) expr <- .expr
      stopifnot(is.list(.args), !is.null(names(.args)), ...length() == 0L)
      files <- tempfile(c("task-", "value-"))
      saveRDS(list(expr = expr, args = .args), files[1L])
      system2(file.path(R.home("bin"), "Rscript"), c("-e", shQuote(child), shQuote(files)), wait = FALSE,
              stdout = FALSE, stderr = FALSE)
      structure(list2env(list(files = files)), class = c("mirai", "recvAio"))
    },
    unresolved = function(x) {
      stopifnot(inherits(x, "mirai"))
      if (!file.exists(x$files[2L])) return(TRUE)
      x$data <- readRDS(x$files[2L])
      FALSE
    },
    stop_mirai = function(x) {
      open <- !file.exists(x$files[2L])
      if (open) resolved(x, structure(20L, class = "errorValue"))
      open
    }
  )
})
