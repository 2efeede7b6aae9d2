# Learners of mlr3: "regr.gbt" and "classif.gbt", and "surv.gbt" of mlr3proba. R6 and paradox come with mlr3, so their
# classes are made when one is asked for.

# The differences between kinds of tasks: the name of the learner's class, the class that it extends with its package,
# the types of predictions, and properties that the other kinds lack.
mlr3_kinds <- list(
  regr = list(class = "LearnerRegrGbt", package = "mlr3", base = "LearnerRegr", types = c("response", "quantiles"),
              properties = character(0)),
  classif = list(class = "LearnerClassifGbt", package = "mlr3", base = "LearnerClassif",
                 types = c("response", "prob"), properties = c("twoclass", "multiclass")),
  surv = list(class = "LearnerSurvGbt", package = "mlr3proba", base = "LearnerSurv",
              types = c("crank", "lp", "distr", "response"), properties = character(0))
)

register_mlr3 <- function() register_learners(c("regr", "classif"))
register_mlr3proba <- function() register_learners("surv")

register_learners <- function(kinds) {
  learners <- get_exported("mlr3", "mlr_learners")
  for (kind in kinds) {
    key <- paste0(kind, ".gbt")
    if (!learners$has(key)) learners$add(key, mlr3_maker(kind))
  }
}

mlr3_maker <- function(kind) {
  force(kind)
  function() mlr3_class(kind)$new()
}

# The R6 class of one kind of tasks.
# found by R6, in `env` and in the object
utils::globalVariables(c("LearnerBase", "kind", "predict_types", "private", "self", "super"))

mlr3_class <- function(kind) {
  its <- mlr3_kinds[[kind]]
  if (!is.null(package_state[[its$class]])) return(package_state[[its$class]])
  env <- new.env(parent = environment(mlr3_class)) # R6 looks the parent up by name
  env$LearnerBase <- get_exported(its$package, its$base)
  env$kind <- kind
  env$predict_types <- mlr3_types(kind)
  validates <- "validation" %in% mlr3_properties(kind) # mlr3 0.20.0 and newer
  out <- get_exported("R6", "R6Class")(
    its$class, inherit = LearnerBase, parent_env = env,
    public = list(
      initialize = function() {
        super$initialize(
          id = paste0(kind, ".gbt"), packages = c("mlr3", "gbt"), feature_types = mlr3_feature_types(),
          predict_types = predict_types, param_set = mlr3_params(kind), properties = mlr3_properties(kind),
          man = "gbt::gbt-integrations", label = "Gradient Boosted Trees"
        )
      },
      importance = function() mlr3_importance(self),
      selected_features = function() names(which(mlr3_importance(self) > 0))
    ),
    active = if (validates) list(
      validate = function(rhs) {
        if (!missing(rhs)) private$.validate <- get_exported("mlr3", "assert_validate")(rhs)
        private$.validate
      },
      internal_valid_scores = function() self$state$internal_valid_scores,
      best_valid_scores = function() self$state$best_valid_scores,
      internal_tuned_values = function() self$state$internal_tuned_values
    ),
    private = list(
      .validate = NULL,
      .extract_internal_valid_scores = function() mlr3_valid_scores(self$model),
      .extract_best_valid_scores = function() mlr3_valid_scores(self$model),
      .extract_internal_tuned_values = function() mlr3_tuned_values(self),
      .train = function(task) mlr3_train(self, private, task, NULL),
      .predict = function(task) mlr3_predict(self, task, kind),
      .hotstart = function(task) mlr3_train(self, private, task, self$model)
    )
  )
  package_state[[its$class]] <- out
  out
}

# Properties that this version of mlr3 knows.
mlr3_properties <- function(kind) {
  want <- c("weights", "missings", "importance", "selected_features", "hotstart_forward", "offset", "validation",
            "internal_tuning", mlr3_kinds[[kind]]$properties)
  intersect(want, get_exported("mlr3", "mlr_reflections")$learner_properties[[kind]])
}

# Types of predictions; "quantiles" is one from mlr3 0.22.0 on.
mlr3_types <- function(kind) {
  known <- names(get_exported("mlr3", "mlr_reflections")$learner_predict_types[[kind]])
  setdiff(mlr3_kinds[[kind]]$types, if (!"quantiles" %in% known) "quantiles")
}

# Types of columns that this version of mlr3 knows; "Date" is one from 1.0.0 on.
mlr3_feature_types <- function() {
  intersect(c("logical", "integer", "numeric", "character", "factor", "ordered", "POSIXct", "Date"),
            get_exported("mlr3", "mlr_reflections")$task_feature_types)
}

# The parameters of gbt_train() as a set of paradox.
mlr3_params <- function(kind) {
  of <- function(name) get_exported("paradox", name)
  table <- rbind(host_table, params_table())
  table <- table[!table$name %in% c("nrounds", "verbose_every", "checkpoint_seconds"), ]
  domains <- lapply(seq_len(nrow(table)), function(i) mlr3_domain(table_row(table, i), of))
  names(domains) <- table$name
  any_value <- c("objective", "eval_metric", "monotone", "interactions", "feature_weights", "first_use_penalty",
                 "class_weights", "cat_method", "cat_features", "level_counts", "valid", "callbacks", "seed",
                 objective_params())
  for (name in setdiff(any_value, names(domains))) domains[[name]] <- of("p_uty")(tags = "train")
  domains$nrounds <- mlr3_rounds(of("p_int"))
  domains$seed <- of("p_uty")(tags = "train")
  domains$mtry <- of("p_int")(1L, tags = "train")
  domains$threads <- of("p_int")(1L, default = 1L, tags = c("train", "predict", "threads"))
  domains$device <- of("p_uty")(tags = c("train", "predict"))
  domains$early_stopping_set <- of("p_fct")(c("none", "test"), default = "none", tags = "train")
  domains$verbose <- of("p_int")(0L, 1L, default = 0L, tags = "train")
  domains$trees <- of("p_int")(0L, tags = "predict")
  domains$unseen <- of("p_fct")(names(enums$unseen), default = "prior", tags = "predict")
  if (kind == "surv") {
    domains$strata <- of("p_uty")(tags = "train")
    domains$times <- of("p_uty")(tags = "predict")
  }
  set <- do.call(of("ps"), domains)
  set$values <- list(threads = 1L)
  set
}

# Rounds may be tuned from within: early stopping finds their number for each training, whose mean is taken over folds.
mlr3_rounds <- function(p_int) {
  tags <- c("train", "hotstart")
  if (!"in_tune_fn" %in% names(formals(p_int))) return(p_int(1L, tags = tags)) # paradox before 1.0.0
  p_int(1L, tags = c(tags, "internal_tuning"),
        aggr = function(x) as.integer(ceiling(mean(unlist(x)))),
        in_tune_fn = function(domain, param_vals) {
          if (is.null(param_vals$early_stopping_rounds)) {
            stop_argument("internal tuning of `nrounds` needs `early_stopping_rounds`", "early_stopping_rounds")
          }
          if (is.null(param_vals$eta)) {
            stop_argument(paste("internal tuning of `nrounds` needs `eta`, such as 0.1: its default depends on",
                                "`nrounds`, so the final training would use another `eta`"), "eta")
          }
          domain$upper
        }, disable_in_tune = list(early_stopping_rounds = NULL))
}

# One row of the table of parameters.
mlr3_domain <- function(info, of) {
  default <- if (info$name %in% ruled_parameters()) list() # which a rule decides: there is none to be shown
  if (info$kind == "enum") {
    choices <- strsplit(info$choices, "|", fixed = TRUE)[[1L]]
    if (is.null(default)) default <- list(default = choices[info$default + 1])
    return(do.call(of("p_fct"), c(list(choices, tags = "train"), default)))
  }
  if (info$kind == "int" && abs(info$low) <= .Machine$integer.max) {
    high <- if (info$high >= .Machine$integer.max) Inf else info$high
    if (is.null(default)) default <- list(default = as.integer(info$default))
    return(do.call(of("p_int"), c(list(info$low, high, tags = "train"), default)))
  }
  if (is.null(default)) default <- list(default = info$default)
  do.call(of("p_dbl"), c(list(info$low, info$high, tags = "train"), default))
}

# init: a model to go on from, or NULL.
mlr3_train <- function(self, private, task, init) {
  args <- self$param_set$get_values(tags = "train")
  x <- as.data.frame(task$data(cols = task$feature_names))
  y <- mlr3_target(task, task$row_ids)
  args$weights <- mlr3_weights(self, private, task)
  args$offset <- mlr3_offset(task)
  if (identical(args$early_stopping_set, "test")) args$valid <- mlr3_test_rows(task)
  args$early_stopping_set <- NULL
  if (!is.null(task$internal_valid_task)) {
    if (!is.null(args$valid)) {
      stop_argument("validation data are given twice: by `validate` and by a parameter", "valid")
    }
    args$valid <- mlr3_valid_rows(self, private, task$internal_valid_task)
  }
  if (!is.null(init)) args <- mlr3_going_on(args, init)
  if (is.null(args$verbose)) args$verbose <- 0
  if (identical(self$predict_type, "quantiles")) args <- mlr3_with_levels(args, mlr3_levels(self))
  model <- do.call(gbt_train, c(list(x, y), args))
  model["call"] <- list(NULL) # would have the data in it
  if (identical(model$objective, "aft")) attr(model, "times") <- mlr3_event_times(y) # others have times of their own
  model
}

# list(probs, response): the levels of a learner of predict type "quantiles", and that of its response.
mlr3_levels <- function(self) {
  probs <- self$quantiles
  response <- given_or(self$quantile_response, if (length(probs) == 1L) probs)
  if (is.null(probs) || is.null(response)) {
    stop_argument(paste("predict type \"quantiles\" needs the learner's fields `quantiles`, such as c(0.1, 0.5, 0.9),",
                        "and `quantile_response`, such as 0.5"), "quantiles")
  }
  list(probs = probs, response = response)
}

# Arguments of a training of these levels; distributions have all quantiles.
mlr3_with_levels <- function(args, levels) {
  if (is.character(args$objective) && is_distribution(objective_name(args$objective))) return(args)
  if (!is.null(args$quantile_alpha)) {
    stop_argument("the levels are given twice: by the learner's field `quantiles` and by `quantile_alpha`; give one",
                  "quantile_alpha")
  }
  if (!is.null(args$objective) && !identical(args$objective, "quantile")) {
    stop_unsupported(paste("predict type \"quantiles\" has objective \"quantile\", or one of distributions such as",
                           "\"dist_normal\"; leave `objective` out"), "objective")
  }
  args[c("objective", "quantile_alpha")] <- list("quantile", levels$probs)
  args
}

# Quantiles with what mlr3 is to know of them.
mlr3_quantiles <- function(self, x, args) {
  levels <- mlr3_levels(self)
  model <- self$model
  one <- identical(model$objective, "quantile") && identical(levels$probs, model$params$quantile_alpha) &&
    model$n_outputs == 1L
  type <- if (!one) list(type = "quantile", probs = levels$probs)
  out <- do.call(stats::predict, c(list(model, x), type, args))
  structure(matrix(out, ncol = length(levels$probs)), probs = levels$probs, response = levels$response)
}

# The response of rows; of times it is of class Surv.
mlr3_target <- function(task, rows) {
  if (identical(task$task_type, "surv")) task$truth(rows) else task$data(rows = rows, cols = task$target_names)[[1L]]
}

# Arguments of a hot start. Where the model's rounds are not those of a longer training, all rounds are trained again: a
# hot start saves time and changes no model.
mlr3_going_on <- function(args, init) {
  if (!is.null(args$early_stopping_rounds)) {
    stop_unsupported("continuing a model (hotstart) cannot be combined with `early_stopping_rounds`; leave it out")
  }
  if (is.null(args$nrounds)) stop_argument("continuing a model (hotstart) needs `nrounds`", "nrounds")
  if (!rounds_are_models(init)) return(args)
  args$init_model <- init
  args$nrounds <- args$nrounds - init$nrounds
  args
}

# The rows that the field `validate` holds out.
mlr3_valid_rows <- function(self, private, task) {
  out <- list(x = as.data.frame(task$data(cols = task$feature_names)), y = mlr3_target(task, task$row_ids))
  out$weight <- mlr3_weights(self, private, task)
  out$offset <- mlr3_offset(task)
  out
}

# Metrics of the validation rows at the round that predictions use.
mlr3_valid_scores <- function(model) {
  log <- unclass(model$evaluation_log)
  names <- names(log)[startsWith(as.character(names(log)), "valid_")]
  at <- match(rounds_used(model), log$round)
  stats::setNames(lapply(log[names], function(v) v[at]), sub("^valid_", "", names))
}

mlr3_tuned_values <- function(self) {
  stops <- !is.null(self$state$param_vals$early_stopping_rounds)
  if (stops) list(nrounds = rounds_used(self$model)) else stats::setNames(list(), character(0))
}

# mlr3 1.0.0 and newer have a method that gives them, or NULL where the learner is to ignore them.
mlr3_weights <- function(self, private, task) {
  weights <- if (is.function(private$.get_weights)) {
    private$.get_weights(task)
  } else if (!identical(self$use_weights, "ignore")) {
    if ("weights_learner" %in% task$properties) task$weights_learner$weight else
      if ("weights" %in% task$properties) task$weights$weight
  }
  if (!is.null(weights)) as.double(weights)
}

# Known parts of the score, of a task that has any: one number a row, or a column for each class.
mlr3_offset <- function(task) {
  if (!"offset" %in% task$properties) return(NULL)
  offset <- as.matrix(task$data(cols = task$col_roles$offset))
  if (ncol(offset) == 1L) as.vector(offset) else offset
}

# Rows of role "test" as validation data.
mlr3_test_rows <- function(task) {
  rows <- task$row_roles$test
  if (!length(rows)) {
    stop_argument(paste("`early_stopping_set = \"test\"`, but the task has no rows of role \"test\"; newer versions of",
                        "mlr3 have the field `validate` of learners instead"), "early_stopping_set")
  }
  list(x = as.data.frame(task$data(rows = rows, cols = task$feature_names)), y = mlr3_target(task, rows))
}

mlr3_predict <- function(self, task, kind) {
  args <- self$param_set$get_values(tags = "predict")
  x <- as.data.frame(task$data(cols = task$feature_names))
  if (self$model$has_offset) args$offset <- mlr3_offset(task)
  if (kind == "surv") return(mlr3_survival(self$model, x, args))
  if (identical(self$predict_type, "quantiles")) return(list(quantiles = mlr3_quantiles(self, x, args)))
  prob <- kind == "classif" && self$predict_type == "prob"
  type <- if (prob) "prob" else if (kind == "classif") "class" else "response"
  out <- do.call(stats::predict, c(list(self$model, x, type = type), args))
  if (prob) {
    all <- matrix(0, nrow(out), length(task$class_names), dimnames = list(NULL, task$class_names))
    all[, colnames(out)] <- out
    return(list(prob = all))
  }
  list(response = unname(out))
}

# All that mlr3proba can ask for, whichever type the learner has, as its own learners do: its measures take any of them.
# By its convention a larger `crank` means a higher risk, and so it does for `lp`. Curves by the first trees of a model
# with a baseline are not offered, and left out.
mlr3_survival <- function(model, x, args) {
  times <- args$times
  args$times <- NULL
  answer <- function(type, ...) do.call(stats::predict, c(list(model, x, type = type, ...), args))
  risk <- risk_of_scores(model, answer("link"))
  out <- list(crank = risk, lp = risk)
  if (is_of_hazards(model$objective) && min(given_or(args$trees, Inf), rounds_used(model)) != model$baseline$rounds) {
    return(out)
  }
  if (is.null(times)) times <- mlr3_curve_times(model)
  curves <- answer("survival", times = times)
  attr(curves, "times") <- NULL
  c(out, list(distr = curves, response = as.vector(answer("time"))))
}

most_curve_times <- 500L # of more event times, as many of their order statistics

mlr3_curve_times <- function(model) {
  times <- given_or(attr(model, "times"), given_or(model$params[["breaks"]], sort(unique(model$baseline$time))))
  if (length(times) <= most_curve_times) return(times)
  times[ceiling(seq_len(most_curve_times) / most_curve_times * length(times))]
}

# Times that a response of class Surv says something of: of events, or where there are none, ends of intervals.
mlr3_event_times <- function(y) {
  y <- unclass(y)
  known <- if (ncol(y) == 2L) y[y[, 2L] == 1, 1L] else c(y[, 1L], y[y[, ncol(y)] == 3, 2L])
  sort(unique(as.double(known)))
}

mlr3_importance <- function(self) {
  if (is.null(self$model)) stop_argument("the learner has no model yet: train it first")
  importance <- gbt_importance(self$model)
  stats::setNames(importance$gain, importance$feature)
}
