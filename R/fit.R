# One training, from checked arguments to a model:
#
#   fit_source    source (x and y, or gbt_data) + arguments -> the pieces below -> model
#   prepare       response, rows held out, training data, validation data
#   run_somewhere chooses the device; goes back to the cpu when "auto" chose one that fails
#   make_trainer  the engine's trainer
#   run_rounds    the loop, in chunks as large as hooks allow
#   finish_model  trainer + log -> model
#
# A source is a list: x (data frame, matrix, sparse) or data (gbt_data); y, weights, offset as the method found them;
# design, formula, parsed, in_data_weights for formulas.

fit_source <- function(source, given) {
  params <- given[["params"]]
  given[["params"]] <- NULL
  args <- collect_args(given, if (is.null(params)) list() else params)
  for (part in c("weights", "offset")) {
    if (is.null(args$value[[part]])) next
    if (!is.null(source[[part]])) stop_argument(sprintf("`%s` is given twice", part), part)
    source[[part]] <- args$value[[part]]
  }
  fit <- prepare(source, args)
  run <- run_somewhere(fit)
  model <- if (run$why != "error" || run$state$rounds > 0) finish_model(run$trainer, fit, run$state)
  let_go(run$trainer, fit)
  if (run$why == "error") stop_failed(model, run$error)
  if (run$why == "interrupt") stop_interrupted(model, run$error)
  model
}

# Everything that is known before the first round.
prepare <- function(source, args) {
  params <- engine_params(args)
  host <- host_params(args)
  host$threads <- resolve_threads(args$value[["threads"]])
  host$sparse_zero <- match_choice(args$value[["sparse_zero"]], c("value", "missing"), "sparse_zero")
  objective <- as_objective(args$value[["objective"]])
  callbacks <- as_callbacks(args$value[["callbacks"]])
  valid <- read_valid(args$value[["valid"]], source)
  n_rows <- if (is.null(source$x)) source$data$n_rows else n_rows_of(source$x)
  response <- encode_response(source$y, objective, n_rows, args$value[["num_class"]], source$parsed)
  params$seed <- resolve_seed(args, params, !is.null(valid$share))
  label <- response$label
  if (!is.null(valid$share)) {
    parts <- split_source(source, response, valid$share, params$seed)
    source <- parts$train
    label <- parts$label
    valid$sets <- list(valid = parts$valid)
  }
  bytes <- bytes_of(source, host$max_bin)
  size <- training_size(bytes, params, host$nrounds, response$n_outputs, host$max_seconds)
  host$device <- settle_device(choose_device(host$device, size, as.integer(host$threads)))
  data <- training_data(source, label, response, args, host)
  check_scale(label, data$weight, data$offset, response$objective)
  warn_light_weights(data$weight, params$min_child_weight, response$objective)
  features <- data$feature_names
  params <- set_mtry(params, args, length(features))
  init <- check_init_model(args$value[["init_model"]], source, data, response, params)
  sets <- build_valid(valid$sets, data, response, init, host)
  info <- .Call(C_gbt_dataset_info, data_ptr(data))
  check_cat_features(args$value[["cat_features"]], features, info$type)
  fit <- list(source = source, args = args, params = params, host = host, objective = objective, callbacks = callbacks,
              response = response, label = label, data = data, sets = sets, init = init,
              monotone = resolve_monotone(args$value[["monotone"]], features),
              interactions = resolve_interactions(args$value[["interactions"]], features),
              feature_weights = resolve_feature_weights(args$value[["feature_weights"]], features))
  if (!is.null(init)) {
    fit$init_score <- start_scores(init, source$x, data$offset, data$sparse_zero, host$threads)
  }
  c(fit, plan_evaluation(fit))
}

n_rows_of <- function(x) {
  if (isS4(x) && methods::is(x, "Matrix")) check_sparse(x)
  n <- if (is.data.frame(x)) .row_names_info(x, 2L) else dim(x)[1L]
  if (is.null(n)) encode_x(x) # raises: neither a data frame nor a matrix
  as.double(n)
}

# About the bytes of the binned data.
bytes_of <- function(source, max_bin) {
  if (is.null(source$x)) return(.Call(C_gbt_dataset_info, data_ptr(source$data))$bytes)
  cell <- if (max_bin > 255) 2 else 1
  if (!isS4(source$x)) return(as.double(n_rows_of(source$x)) * dim(source$x)[2L] * cell)
  slots <- methods::slotNames(source$x)
  filled <- if ("i" %in% slots) length(source$x@i) else if ("j" %in% slots) length(source$x@j) else prod(dim(source$x))
  filled * (2 + cell)
}

# Rows held out become a validation set with the labels as they were given.
split_source <- function(source, response, share, seed) {
  n <- length(response$label)
  check_weight(source$weights, n, "weights") # all of them, before rows are taken
  check_offset(drop_frame(source$offset), n, response$n_outputs)
  rows <- held_out_rows(n, share, seed, if (!is.null(response$classes)) response$label)
  part <- function(rows) {
    out <- source
    for (name in c("x", "y", "weights", "offset")) out[[name]] <- subset_rows(drop_frame(source[[name]]), rows)
    out
  }
  aside <- part(rows$held)
  list(train = part(rows$kept), label = subset_rows(response$label, rows$kept),
       valid = list(x = aside$x, y = aside$y, weight = aside$weights, offset = aside$offset))
}

# A response or an offset may be a data frame of one column.
drop_frame <- function(x) if (inherits(x, "ArrowTabular")) as.data.frame(x) else x

# Training data in the engine, with label, weight and offset of this training. A gbt_data may be trained on by others at
# the same time, in a callback or a finalizer, so each training has a view of its own.
training_data <- function(source, label, response, args, host) {
  n_rows <- length(label)
  weight <- check_weight(source$weights, n_rows, "weights")
  offset <- check_offset(source$offset, n_rows, response$n_outputs)
  if (is.null(source$x)) {
    data <- source$data
    for (name in c("max_bin", "page_rows", "sparse_zero")) {
      if (!is.null(args$value[[name]])) {
        stop_argument(sprintf("`%s` is decided when gbt_data is made: gbt_data(x, %s = )", name, name), name)
      }
    }
  } else {
    frame <- encode_x(source$x, host$sparse_zero)
    init <- args$value[["init_model"]]
    if (!is.null(init)) { # its classes for columns of nothing but NA
      check_model(init, "init_model")
      was <- init$feature_types[match(frame$names, init$feature_names)]
      frame <- align_missing(frame, replace(was, was %in% "missing", NA))
    }
    data <- new_gbt_data(frame, weight = weight, max_bin = as.integer(host$max_bin),
                         page_rows = as.integer(host$page_rows), threads = args$value[["threads"]],
                         device = host$device)
  }
  data$view <- .Call(C_gbt_dataset_view, data_ptr(data), label, weight, offset)
  data$weight <- weight
  data["offset"] <- list(offset)
  data
}

# Gains are squares of sums of gradients. Where these over- or underflow no split could be found, which is said now.
check_scale <- function(label, weight, offset, objective) {
  if (objective == "custom") return(invisible())
  spread <- function(v) if (is.null(v)) 0 else max(v) - min(v)
  span <- switch(objective, squared_error = spread(label) + spread(offset), poisson = max(label), 1)
  heaviest <- if (is.null(weight)) 1 else max(weight)
  largest <- span * heaviest
  if (largest == 0 && (span == 0 || heaviest == 0)) return(invisible()) # constant: there is nothing to split for
  how <- if (length(label) * largest > 1e150) "overflow" else if (largest < 1e-150) "are nothing but 0"
  if (is.null(how)) return(invisible())
  by_weight <- abs(log(heaviest)) > abs(log(span))
  by_offset <- objective == "squared_error" && spread(offset) > spread(label)
  at <- if (by_weight) 1L else if (by_offset) 2L else 3L
  stop_data(sprintf("%s %s, with which squares of gradients %s and no split could be found; scale %s",
                    c("the largest of `weights` is", "`offset` spans", "the response spans")[at],
                    format(if (by_weight) heaviest else span), how, c("the weights", "both", "it")[at]),
            c("weights", "offset", "y")[at])
}

# Weights that were scaled to add up to 1 leave nothing to split: for these objectives a hessian is at most the weight.
warn_light_weights <- function(weight, min_child_weight, objective) {
  if (is.null(weight) || length(weight) < 2L || !objective %in% c("squared_error", "logistic", "softmax")) {
    return(invisible())
  }
  total <- sum(weight)
  if (total >= 2 * min_child_weight || total == 0) return(invisible()) # the engine has its own words for all 0
  warn_gbt("weights", sprintf(paste("`weights` add up to %s and `min_child_weight` is %s, so that no node can be split",
                                    "into two; scale the weights to a mean of 1"),
                              format(total), format_number(min_child_weight)))
}

set_mtry <- function(params, args, n_features) {
  mtry <- args$value[["mtry"]]
  if (is.null(mtry)) return(params)
  if (!is.null(args$value[["colsample_bytree"]])) {
    stop_argument(contradiction(args$typed[["colsample_bytree"]], args$typed[["mtry"]], "colsample_bytree"), "mtry")
  }
  params$colsample_bytree <- share_of_features(mtry, n_features, args$typed[["mtry"]])
  params
}

# What is evaluated after each round, and what may stop the training.
plan_evaluation <- function(fit) {
  args <- fit$args$value
  host <- fit$host
  has_valid <- length(fit$sets) > 0L
  eval_train <- args[["eval_train"]]
  if (is.null(eval_train)) eval_train <- !has_valid && !is.null(args[["eval_metric"]])
  check_flag(eval_train, "eval_train")
  stopping <- host$early_stopping_rounds > 0
  if (stopping && !has_valid && !isTRUE(args[["eval_train"]])) {
    stop_argument("`early_stopping_rounds` needs `valid`: a share of the rows to hold out, or data",
                  "early_stopping_rounds")
  }
  if (!stopping && host$early_stopping_min_delta > 0) {
    stop_argument("`early_stopping_min_delta` needs `early_stopping_rounds`", "early_stopping_min_delta")
  }
  metrics <- list(name = character(0), code = integer(0), own = list(), maximise = FALSE)
  if (has_valid || eval_train) {
    metrics <- resolve_metrics(args[["eval_metric"]], fit$response$objective, fit$response$n_outputs)
  } else if (!is.null(args[["eval_metric"]])) {
    stop_argument("`eval_metric` has nothing to be evaluated on: give `valid`, or set `eval_train = TRUE`",
                  "eval_metric")
  }
  if (length(metrics$name) == 0L) {
    if (stopping) stop_argument("`early_stopping_rounds` needs an `eval_metric` for this objective", "eval_metric")
    eval_train <- FALSE
  }
  if (eval_train) {
    train <- list(name = "train", label = fit$label, weight = fit$data$weight)
    evaluated <- c(list(train), fit$sets)
    at <- c(0L, seq_along(fit$sets))
  } else {
    evaluated <- fit$sets
    at <- seq_along(fit$sets)
  }
  columns <- log_names(list(evaluated = evaluated, metrics = metrics))
  if (anyDuplicated(columns)) {
    stop_argument(sprintf("two columns of the evaluation log would be called \"%s\": rename a set or a metric",
                          columns[anyDuplicated(columns)]), "eval_metric")
  }
  own <- any(is.na(metrics$code))
  list(metrics = metrics, eval_train = eval_train, evaluated = evaluated, evaluated_at = at, stopping = stopping,
       own_metrics = own, own_watched = stopping && is.na(metrics$code[length(metrics$code)]),
       every_round = own || fit$response$objective == "custom" || length(fit$callbacks) > 0L,
       rounds_before = if (is.null(fit$init)) 0 else fit$init$nrounds)
}

# As run_rounds(), and the trainer. A device that "auto" chose may fail when it is opened or later; the cpu then begins
# anew, for the same model. Callbacks that have been told of rounds are not told again.
run_somewhere <- function(fit) {
  device <- fit$host$device
  trainer <- on_device(device, function(where) make_trainer(fit, where))
  if (fit$host$verbose && !is.null(device$why)) say(paste0(device$why, device_use(device, trainer, length(fit$label))))
  run <- function() {
    out <- NULL
    on.exit(if (is.null(out)) let_go(trainer, fit)) # it failed
    out <- c(list(trainer = trainer), run_rounds(trainer, fit))
  }
  if (device$kind == "cpu" || !device$auto || length(fit$callbacks) > 0L) return(run())
  out <- tryCatch(run(), gbt_error_device = identity, gbt_error_memory = identity)
  if (!inherits(out, "condition")) return(out)
  give_up(device, out)
  if (fit$host$verbose) say(device$why)
  trainer <- make_trainer(fit, NULL)
  run()
}

# A trainer that is not needed any more gives its memory back now: what it holds of a device is no reason for R to
# collect garbage. Callbacks may have kept it, by their model().
let_go <- function(trainer, fit) if (length(fit$callbacks) == 0L) .Call(C_gbt_trainer_free, trainer)

# where: NULL for the cpu, see on_device().
make_trainer <- function(fit, where) {
  codes <- fit$metrics$code
  scores <- lapply(fit$sets, `[[`, "score")
  spec <- list(
    params = params_as_numbers(fit$params), loss = loss_code(fit$response$objective),
    n_outputs = as.integer(fit$response$n_outputs), train = fit$data$view,
    valid = lapply(fit$sets, function(s) s$data$view), metrics = codes[!is.na(codes)], eval_train = fit$eval_train,
    monotone = fit$monotone, interactions = fit$interactions, feature_weight = fit$feature_weights,
    init_state = fit$init$state, init_score = fit$init_score, init_valid = if (!is.null(fit$init)) scores, base = NULL,
    stop_rounds = fit$host$early_stopping_rounds, stop_min_delta = fit$host$early_stopping_min_delta,
    max_seconds = fit$host$max_seconds,
    device = where
  )
  trainer <- .Call(C_gbt_trainer_new, spec, fit$host$threads)
  if (fit$own_watched) .Call(C_gbt_trainer_watch, trainer, fit$metrics$maximise)
  trainer
}

# Trainer and log -> model. state: the environment of run_rounds().
finish_model <- function(trainer, fit, state) {
  log <- evaluation_log(fit, state)
  best <- best_round(fit, state, log)
  params <- c(fit$params[setdiff(names(fit$params), c("hist_memory", "device_memory"))],
              list(max_bin = as.double(fit$data$max_bin)))
  if (!is.null(fit$monotone)) params$monotone <- stats::setNames(fit$monotone, fit$data$feature_names)
  if (!is.null(fit$interactions)) {
    params$interactions <- lapply(fit$interactions, function(set) fit$data$feature_names[set + 1L])
  }
  if (!is.null(fit$feature_weights)) {
    params$feature_weights <- stats::setNames(fit$feature_weights, fit$data$feature_names)
  }
  if (length(fit$metrics$name)) params$eval_metric <- fit$metrics$name
  if (fit$data$sparse_zero == "missing") params$sparse_zero <- "missing"
  if (fit$stopping) {
    params$early_stopping_rounds <- fit$host$early_stopping_rounds
    params$early_stopping_min_delta <- fit$host$early_stopping_min_delta
  }
  meta <- model_meta(list(
    objective = fit$response$objective, classes = fit$response$classes, response = fit$response$response,
    params = params, best_round = best$round, best_score = best$score, evaluation_log = log,
    has_offset = !is.null(fit$data$offset),
    formula = fit$source$formula, terms = fit$source$design, n_obs = length(fit$label)
  ))
  gbt_model_from_state(.Call(C_gbt_trainer_model, trainer, NA_real_, meta))
}

# The round that the model predicts with when early stopping was on: NULL else.
best_round <- function(fit, state, log) {
  if (!fit$stopping || state$rounds == 0) return(list(round = NULL, score = NULL))
  values <- log[[length(log)]][log$round > fit$rounds_before] # the last metric of the last set
  at <- if (fit$own_watched) first_best(values, fit$metrics$maximise, fit$host$early_stopping_min_delta) else state$best
  if (is.na(at) || at < 1) return(list(round = NULL, score = NULL))
  list(round = as.integer(at + fit$rounds_before), score = values[at])
}

# The engine's rule: a value is better when it beats the best by more than min_delta.
first_best <- function(values, maximise, min_delta) {
  best <- NA_integer_
  for (i in seq_along(values)) {
    if (is.na(values[i])) next
    gain <- if (is.na(best)) Inf else if (maximise) values[i] - values[best] else values[best] - values[i]
    if (isTRUE(gain > min_delta)) best <- i # Inf - Inf is no gain
  }
  best
}

# A function of the user's failed. The same way, unless there is no round yet.
stop_failed <- function(model, error) {
  if (!is.null(model)) {
    package_state$interrupted <- model
    error$model <- model
    done <- if (model$nrounds == 1L) "1 round is" else sprintf("%d rounds are", model$nrounds)
    error$message <- sprintf("%s\n%s finished: gbt_last_interrupted() has the model so far, so has this condition",
                             error$message, done)
  }
  stop(error)
}

# Interrupted: the model so far goes with the condition, and is kept for gbt_last_interrupted().
# error: what stopped it when it was no Ctrl-C.
stop_interrupted <- function(model, error = NULL) {
  package_state$interrupted <- model
  if (!is.null(error)) stop(error)
  raise_interrupt(sprintf("training was interrupted after %d rounds; gbt_last_interrupted() has the model so far",
                          model$nrounds), model = model)
}

#' The model of the last training that was interrupted
#'
#' Ctrl-C during [gbt_train()] ends the training, and so does an error in a function of yours: a callback, a metric or
#' an objective. The rounds finished so far are a valid model: it goes with the condition (field `model`), so that
#' `tryCatch(gbt_train(...), interrupt = function(c) c$model)` or `tryCatch(gbt_train(...), gbt_error_callback =
#' function(e) e$model)` catches it, and this function returns it afterwards.
#'
#' The condition of Ctrl-C has the class `gbt_interrupt`. An error of yours keeps its classes and fields and gets the
#' class `gbt_error_callback`; it has the fields `model` (`NULL` when there was no round yet), `parameter` (which
#' argument of [gbt_train()] the function was given as), `error` (the condition as your function raised it) and `calls`
#' (the calls that led to it, as [sys.calls()] gives them). A time limit ([setTimeLimit()]) that is over is the plain
#' error that R raises; this function has the model.
#'
#' A script that `Rscript` runs ends at a Ctrl-C or an error that nobody catches, and the model goes with it. To keep
#' the rounds of a long training there, catch the condition as above and save its model, or save models in a callback.
#'
#' @return A model, or `NULL` when no training was interrupted in this session.
#' @seealso [gbt_train()]
#' @examples
#' gbt_last_interrupted()
#' @export
gbt_last_interrupted <- function() package_state$interrupted
