# One training, from what the user gave to a model. Each step takes and returns named things, and changes none:
#
#   source_of       captured call                        -> source, and the values of all other arguments
#   read_request    these values                         -> request: checked, as far as no data are needed
#   read_rows       source, request                      -> rows: response, mask, rows held out, validation sets
#   settle_rounds   request, rows                        -> request: with what says how many rounds there are
#   with_rules      request, facts of rows               -> request: with the parameters that the user left to the rules
#   place_training  request, rows                        -> host: with the device that is chosen
#   training_data   rows, request, host                  -> gbt_data with the label, weight and offset of this training
#   prepare         all of the above                     -> fit: what is known before the first round
#   find_rounds     fit                                  -> fit: with the number of rounds, where nobody said it
#   run_somewhere   fit -> make_trainer, run_rounds; goes back to the cpu when "auto" chose a device that fails
#   finish_model    trainer, fit and log                 -> model
#   with_members    model, fit                           -> model: the mean of several, where it is an ensemble
#
# A source is what source_of() found, a list: x (data frame, matrix, sparse) or data (gbt_data); y, weights,
# offset, exposure, mask, time, group; for formulas design, formula, parsed, columns, in_rows.

# The model that a captured call asks for. chosen, look: see prepare().
fit_of <- function(captured, chosen = NULL, look = NULL) {
  its <- source_of(captured)
  fit <- prepare(its$source, its$given, chosen, look)
  if (fit$host$max_seconds > 0) fit$host$until <- proc.time()[["elapsed"]] + fit$host$max_seconds
  fit <- find_rounds(fit)
  run <- run_somewhere(fit)
  whole <- run$why != "interrupt"
  model <- if (run$why != "error" || run$state$rounds > 0) finish_model(run$trainer, fit, run$state, whole)
  reason <- if (!is.null(model)) reason_of(run$trainer, fit, run$state)
  let_go(run$trainer, fit)
  if (whole) {
    warn_unused_order(fit$order, fit$params$boosting, model$params$cat_method)
    warn_unused_combine(fit$params$max_cat_combine, model$params$cat_method)
  }
  if (run$why == "error") stop_failed(model, run$error)
  if (run$why == "interrupt") stop_interrupted(model, run$error)
  model <- with_members(model, fit)
  model$warned <- reason$text # no part of the bytes
  warn_reason(reason)
  model$call <- captured$call
  constants <- its$source$constants
  if (length(constants)) model$call_constants <- constants # no part of the bytes, as the call is none
  model
}

# The fit: what is known before the first round, a list of
#   params       the engine's parameters by name, seed and mtry resolved
#   host         R's own parameters by name; threads, sparse_zero and device (a choice, see R/cuda.R) resolved
#   objective    the user's functions where they give the gradients, see as_objective()
#   callbacks    list of functions
#   response     what the response is: objective, classes, n_outputs, ..., see encode_response()
#   label        doubles: the response of the rows that are trained on
#   class_shares shares of the classes that a tree sees, by name in the order of labels; NULL: `subsample` of all
#   data         gbt_data; its `view` is the engine's, of these rows, with label, weight and offset of this training
#   valid        validation sets, see build_valid(); that of the masked-out rows is the first one
#   constraints  monotone, interactions, feature_weights, first_use_penalty: as the engine wants them, or NULL
#   cat_method   methods that the engine is asked for, see cat_method_for()
#   order        which of `time` and `group` are given and have had no effect yet
#   start        model to go on from (NULL for none), its scores on the rows, and its number of rounds
#   evaluation   what is evaluated after each round and may stop the training, see plan_evaluation()
#   formula, design   of the source; NULL without a formula
#   recipe       the trained recipe that baked the rows, see R/train_recipe.R; NULL for none
#   exposed      the column of exposures, see R/exposure.R; NULL for none
#   by_rule      parameters that rules have decided, or would have, by name, see R/defaults.R
#   kept_by_name those among them that init_model was given by name
#   reason       why no tree can have a split, see R/learned.R; NULL where one may
#   search       how rounds are found, see R/rounds_auto.R; NULL where their number is known
#
# chosen: values for parameters that rules would decide, see with_rules(); NULL: the rules decide. look: NULL or a
# function of the rows.
prepare <- function(source, given, chosen = NULL, look = NULL) {
  request <- read_request(given)
  args <- request$args$value
  check_not_by_column(request$args, source)
  rows <- read_rows(with_row_arguments(source, request$args), request)
  if (!is.null(look)) look(rows)
  request <- settle_rounds(request, rows)
  response <- rows$response
  facts <- facts_of(rows$source, rows$n, response, request)
  request <- size_rounds(with_rules(request, facts, response$objective, chosen))
  host <- place_training(request, rows)
  data <- training_data(rows, args, host)
  check_scale(rows$label, data$weight, data$offset, response$objective)
  reason <- light_weights(data$weight, request$params$min_child_weight, response$objective)
  n_features <- length(.Call(C_gbt_dataset_info, data_ptr(data))$features)
  params <- set_mtry(replace(request$params, "seed", rows$seed), request, n_features)
  init <- check_init_model(args[["init_model"]], rows, data, params)
  valid <- c(masked_out_valid(rows, data, init, host), build_valid(rows$valid, data, response, init, host))
  list(params = params, host = host, objective = request$objective, callbacks = request$callbacks,
       response = response, label = rows$label, data = data, valid = valid,
       constraints = read_constraints(named_places(args, rows$source$x, data$feature_names), data),
       cat_method = cat_method_for(data, request), start = start_of(init, rows, data, host),
       evaluation = plan_evaluation(args, host, rows, data, valid),
       class_shares = class_shares(args[["class_shares"]], rows$label, response), order = order_in_doubt(rows, args),
       formula = source$formula, design = source$design, recipe = source$recipe, exposed = rows$source$exposed,
       by_rule = request$by_rule, kept_by_name = request$kept_by_name, reason = reason,
       search = search_task(request, rows, data))
}

# The arguments, see collect_args(), with a model to go on from that is one.
read_arguments <- function(given) {
  args <- collect_args(given)
  init <- args$value[["init_model"]]
  if (!is.null(init)) check_model(init, "init_model")
  args
}

# What was asked for, a list: args (see collect_args()), params and host (see prepare(); device is a request still),
# preset, objective, callbacks, cat_method (see read_cat_method()).
read_request <- function(given) {
  args <- read_arguments(given)
  refuse_alpha_of_metric(args)
  args <- settle_method(args)
  checked <- engine_params(args)
  host <- host_params(args)
  host$threads <- resolve_threads(args$value[["threads"]])
  preset <- match_choice(args$value[["preset"]], presets, "preset")
  host$preset <- preset
  check_ensemble(host$ensemble, preset, args$value)
  host$sparse_zero <- match_choice(args$value[["sparse_zero"]], c("value", "missing"), "sparse_zero")
  host <- read_rounds(host, args, checked$eta)
  checked$eta <- read_schedule(args, checked$eta, host$nrounds, rounds_before(args$value[["init_model"]]))
  if (is_schedule(args$value[["eta"]])) args$value$eta <- rep_len(checked$eta, host$nrounds) # folds ask no function
  list(args = args, params = checked, host = host, preset = preset, objective = as_objective(args),
       callbacks = as_callbacks(args$value[["callbacks"]]), cat_method = read_cat_method(args$value[["cat_method"]]))
}

# The source with these from `params` or under another name, and with exposures in the offset.
with_row_arguments <- function(source, args) {
  for (part in row_arguments) {
    if (is.null(args$value[[part]])) next
    if (!is.null(source[[part]])) stop_argument(sprintf("`%s` is given twice", part), part)
    source[[part]] <- args$value[[part]]
  }
  with_exposure(source)
}

# Rows and their response, a list: source (all rows of the data, but for those that `valid` takes away), response, n
# (rows of the source), mask (the rows to train on, logical values; NULL for all), at (their numbers, with a mask), held
# (with masked-out rows: those that are scored on the way, logical values), label (of the rows to train on), valid
# (named list of validation sets as they were given, or of the rows held out), seed, by_share (TRUE when a share of the
# rows is held out).
read_rows <- function(source, request) {
  args <- request$args
  valid <- read_valid(args$value[["valid"]], source)
  n_rows <- if (is.null(source$x)) source$data$n_rows else n_rows_of(source$x)
  mask <- check_mask(source$mask, n_rows)
  check_mask_beside(mask, valid)
  check_time_or_group(source$time, source$group)
  source["time"] <- list(check_time(source$time, n_rows))
  source["group"] <- list(check_group(source$group, n_rows))
  response <- encode_response(source$y, request$objective, n_rows, args$value[["num_class"]], source$parsed)
  check_exposed(source, response$objective)
  out <- list(source = source, response = response, n = n_rows, label = response$label, valid = valid$sets,
              seed = resolve_seed(args, request$params, !is.null(valid$share)))
  if (!is.null(valid$share) || !is.null(valid$held)) {
    parts <- split_source(source, response, valid, out$seed)
    out[c("source", "n", "label", "valid", "by_share")] <-
      list(parts$train, as.double(length(parts$label)), parts$label, list(valid = parts$valid), is.null(valid$held))
  }
  if (!is.null(mask) && is.null(source$held)) tell_masked_classes(mask, response)
  with_mask(out, mask)
}

# The rows with a mask for the engine: the user's, without the rows of weight 0. These take no part in training, so that
# whatever counts or draws rows does not see them.
with_mask <- function(rows, mask) {
  weights <- check_weight(rows$source$weights, rows$n, "weights")
  in_fold <- !is.null(rows$source$held)
  rows$held <- if (in_fold) rows$source$held else if (!is.null(mask)) !mask
  if (!is.null(mask) && !is.null(weights)) {
    check_some_weight(mask & weights != 0, if (in_fold) "outside of a fold" else "where `mask` is TRUE")
  }
  weigh <- mask_of_weights(weights)
  mask <- if (is.null(mask) || is.null(weigh)) given_or(mask, weigh) else mask & weigh
  if (is.null(mask)) return(rows)
  rows$mask <- mask
  rows$at <- rows_of_mask(mask, TRUE)
  rows$label <- subset_rows(rows$label, rows$at)
  rows
}

# The parameters of R's own with the device that the training begins on.
place_training <- function(request, rows) {
  host <- request$host
  source <- rows$source
  n_rows <- if (is.null(source$x)) source$data$n_rows else n_rows_of(source$x)
  expected <- if (host$rounds == "given") host$nrounds else ceiling(host$nrounds / 5) # the rest is a limit
  size <- training_size(bytes_of(source, host$max_bin), request$params, expected, rows$response$n_outputs,
                        host$max_seconds, rows = n_rows)
  host$device <- settle_device(choose_device(host$device, size, as.integer(host$threads)))
  host
}

# args: values by name.
read_constraints <- function(args, data) {
  features <- data$feature_names
  list(monotone = resolve_monotone(args[["monotone"]], features),
       interactions = resolve_interactions(args[["interactions"]], features),
       feature_weights = resolve_feature_weights(args[["feature_weights"]], features),
       first_use_penalty = resolve_first_use_penalty(args[["first_use_penalty"]], features))
}

# What the engine is asked for: list(bits, see cat_method_bits(); asked = for which features the user asked for it).
# `mtry` counts features, so that "auto" must not add any.
cat_method_for <- function(data, request) {
  type <- .Call(C_gbt_dataset_info, data_ptr(data))$type
  bits <- function(auto) cat_method_bits(request$cat_method, data$feature_names, type, auto)
  counted <- !is.null(request$args$value[["mtry"]])
  list(bits = bits(if (counted) method_bits("sets") else 0L), asked = bits(0L) != 0L)
}

# Training data in the engine, with label, weight, offset, time and group of this training. A gbt_data may be trained
# on by others at the same time, in a callback or a finalizer, so each training has a view of its own. args: values by
# name.
training_data <- function(rows, args, host) {
  source <- rows$source
  weight <- check_weight(source$weights, rows$n, "weights")
  offset <- check_offset(source$offset, rows$n, rows$response$n_outputs)
  own <- rows_trained_on(rows, weight, offset)
  own$weight <- weigh_classes(own$weight, rows$label, rows$response, args[["class_weights"]], host$threads,
                              in_fold = !is.null(source$held))
  data <- if (is.null(source$x)) {
    as_prepared(source$data, args)
  } else {
    binned_source(source, args, host, weight)
  }
  if (!is.null(rows$held)) data$masked_out <- masked_out_set(rows, data, weight, offset)
  data$view <- dataset_view(data, rows$mask, TRUE, label = rows$label, weights = own$weight, offset = own$offset,
                            time = own$time, group = own$group)
  data$weight <- own$weight
  data$has_weights <- !is.null(weight)
  data["offset"] <- list(own$offset)
  data
}

# Weight, offset, time and group of the rows that are trained on.
rows_trained_on <- function(rows, weight, offset) {
  own <- list(weight = weight, offset = offset, time = rows$source$time, group = rows$source$group)
  if (is.null(rows$mask)) return(own)
  own <- lapply(own, take_numbers, rows$at, rows$n)
  if (!is.null(own$group)) own$group <- number_groups(own$group)
  own
}

# Gains are squares of sums of gradients. Where these over- or underflow no split could be found, which is said now.
check_scale <- function(label, weight, offset, objective) {
  if (is_given(objective)) return(invisible())
  size <- objective_info(objective)$size
  spread <- function(v) if (is.null(v)) 0 else max(v) - min(v)
  span <- switch(size, SPREAD = spread(label) + spread(offset), LABEL = max(label), 1)
  heaviest <- if (is.null(weight)) 1 else max(weight)
  largest <- span * heaviest
  if (largest == 0 && (span == 0 || heaviest == 0)) return(invisible()) # constant: there is nothing to split for
  how <- if (length(label) * largest > 1e150) "overflow" else if (largest < 1e-150) "are nothing but 0"
  if (is.null(how)) return(invisible())
  by_weight <- abs(log(heaviest)) > abs(log(span))
  by_offset <- size == "SPREAD" && spread(offset) > spread(label)
  at <- if (by_weight) 1L else if (by_offset) 2L else 3L
  stop_data(sprintf("%s %s, with which squares of gradients %s and no split could be found; scale %s",
                    c("the largest of `weights` is", "`offset` spans", "the response spans")[at],
                    format(if (by_weight) heaviest else span), how, c("the weights", "both", "it")[at]),
            c("weights", "offset", "y")[at])
}

# Weights that were scaled to add up to 1 leave nothing to split: for these objectives a hessian is at most the weight.
# A reason of R/learned.R, or NULL.
light_weights <- function(weight, min_child_weight, objective) {
  if (is.null(weight) || length(weight) < 2L || objective_info(objective)$hessian == "FREE") {
    return(NULL)
  }
  total <- sum(weight)
  if (total >= 2 * min_child_weight || total == 0) return(NULL) # the engine has its own words for all 0
  new_reason("weights", paste("`weights` add up to %s and `min_child_weight` is %s, so that no node can be split into",
                              "two; scale the weights to a mean of 1"), format(total), format_number(min_child_weight))
}

set_mtry <- function(params, request, n_features) {
  args <- request$args
  mtry <- args$value[["mtry"]]
  if (is.null(mtry)) return(params)
  if (derives_features(request$cat_method)) {
    stop_unsupported(paste("`mtry` counts features, and `cat_method` adds some whose number is known in training only;",
                           "give their share, `colsample_bytree`"), "mtry")
  }
  if (!is.null(args$value[["colsample_bytree"]])) {
    stop_argument(contradiction(args$typed[["colsample_bytree"]], args$typed[["mtry"]], "colsample_bytree"), "mtry")
  }
  params$colsample_bytree <- share_of_features(mtry, n_features, args$typed[["mtry"]])
  params
}

# What is evaluated after each round and may stop the training, a list:
#   metrics      see resolve_metrics()
#   data         the data sets that are evaluated: list of list(name, label, weight, ...), the training data first if so
#   at           their numbers in the trainer: 0 for the training data
#   train        are the training data among them?
#   stopping     is there early stopping? It watches the last metric of the last data set
#   own          are there metrics of the user's?         own_watched   is one of them the watched one?
plan_evaluation <- function(args, host, rows, data, valid) {
  eval_train <- args[["eval_train"]]
  searches <- host$rounds == "search" # whose metrics are those of its held-out rows
  if (is.null(eval_train)) eval_train <- length(valid) == 0L && !is.null(args[["eval_metric"]]) && !searches
  check_flag(eval_train, "eval_train")
  stopping <- check_stopping(args, host, length(valid) > 0L)
  metrics <- no_metrics
  if (length(valid) > 0L || eval_train) {
    metrics <- resolve_metrics(args[["eval_metric"]], rows$response)
  } else if (!is.null(args[["eval_metric"]]) && !searches) {
    stop_argument("`eval_metric` has nothing to be evaluated on: give `valid`, or set `eval_train = TRUE`",
                  "eval_metric")
  }
  if (length(metrics$name) == 0L && stopping) {
    what <- if (host$rounds == "valid") "`nrounds` is missing, and early stopping" else "`early_stopping_rounds`"
    stop_argument(paste(what, "needs an `eval_metric` for this objective"), "eval_metric")
  }
  if (stopping && is.na(metrics$maximise)) {
    stop_argument(sprintf(paste("early stopping watches the last metric, but neither larger nor smaller values of",
                                "\"%s\" are better; name another metric after it"), metrics$name[length(metrics$name)]),
                  "eval_metric")
  }
  train <- eval_train && length(metrics$name) > 0L
  evaluation <- list(
    metrics = metrics, train = train, stopping = stopping,
    data = c(if (train) list(train_set(rows, data)), valid),
    at = c(if (train) 0L, seq_along(valid)),
    own = any(is.na(metrics$code)), own_watched = stopping && is.na(metrics$code[length(metrics$code)])
  )
  check_metric_labels(metrics, evaluation$data)
  columns <- log_names(evaluation)
  if (anyDuplicated(columns)) {
    stop_argument(sprintf("two columns of the evaluation log would be called \"%s\"; rename a metric or a data set",
                          columns[anyDuplicated(columns)]), "eval_metric")
  }
  evaluation
}

# The training data as a set that is evaluated.
train_set <- function(rows, data) {
  list(name = "train", label = rows$label, weight = data$weight, rows = rows$at)
}

# Is there early stopping, and something to watch?
check_stopping <- function(args, host, has_valid) {
  stopping <- host$early_stopping_rounds > 0
  if (stopping && !has_valid && !isTRUE(args[["eval_train"]])) {
    stop_argument(paste("`early_stopping_rounds` needs `valid`, a share of the rows to hold out or data, or a `mask`",
                        "that is FALSE for some rows"), "early_stopping_rounds")
  }
  if (!stopping && host$early_stopping_min_delta > 0) {
    stop_argument("`early_stopping_min_delta` needs `early_stopping_rounds`", "early_stopping_min_delta")
  }
  stopping
}

# As run_rounds(), and the trainer. A device that "auto" chose may fail when it is opened or later; the cpu then begins
# anew, for the same model. Callbacks that have been called for rounds are not called for them again.
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
  evaluation <- fit$evaluation
  codes <- evaluation$metrics$code
  spec <- list(
    params = params_as_numbers(fit$params), objective = objective_object(fit$response$objective, fit$response$param),
    n_outputs = as.integer(fit$response$n_outputs), train = fit$data$view,
    valid = lapply(fit$valid, function(s) s$data$view), metrics = codes[!is.na(codes)],
    metric_params = evaluation$metrics$param[!is.na(codes)], eval_train = evaluation$train,
    monotone = fit$constraints$monotone, interactions = fit$constraints$interactions,
    feature_weight = fit$constraints$feature_weights, first_use_penalty = fit$constraints$first_use_penalty,
    class_rate = fit$class_shares, cat_method = fit$cat_method$bits,
    init_state = fit$start$model$state, init_score = fit$start$score,
    eta = if (length(fit$params$eta) > 1L) fit$params$eta, init_eta = eta_before(fit$start),
    init_valid = if (!is.null(fit$start$model)) lapply(fit$valid, `[[`, "score"), base = NULL,
    keep_best = if (!is.null(fit$data$masked_out) && (evaluation$stopping || rescales(fit$params))) 1L,
    stop_rounds = fit$host$early_stopping_rounds, stop_min_delta = fit$host$early_stopping_min_delta,
    max_seconds = fit$host$max_seconds, checkpoints = !is.null(fit$host$checkpoint), device = where
  )
  trainer <- .Call(C_gbt_trainer_new, spec, fit$host$threads)
  if (evaluation$own_watched) .Call(C_gbt_trainer_watch, trainer, evaluation$metrics$maximise)
  trainer
}

# Trainer and log -> model. state: the environment of run_rounds(); whole: did the last round end? Else scores may be
# those of half a round.
finish_model <- function(trainer, fit, state, whole = TRUE) {
  log <- evaluation_log(fit$evaluation, fit$start, state)
  best <- best_round(fit, state, log)
  methods <- chosen_methods(trainer, fit$data$feature_names, fit$cat_method$asked)
  rounds <- rounds_kept(fit$params, best$round, fit$start$rounds, state$rounds)
  meta <- model_meta(list(
    classes = fit$response$classes, response = fit$response$response, params = kept_params(fit, methods, rounds),
    best_round = best$round, best_score = best$score, evaluation_log = log, has_offset = !is.null(fit$data$offset),
    formula = fit$formula, terms = fit$design, exposure = fit$exposed, n_obs = length(fit$label),
    auto_rounds = fit$found
  ))
  model <- gbt_model_from_state(.Call(C_gbt_trainer_model, trainer, meta, fit$host$threads))
  if (length(fit$by_rule)) { # no part of the bytes, which are those of named parameters, but of files
    by_rule <- intersect(setdiff(names(fit$by_rule), fit$kept_by_name), names(model$params))
    if (length(by_rule)) model$by_rule <- by_rule
  }
  if (given_or(state$why, "done") %in% stop_reasons) model$stopped <- state$why # no part of the bytes
  if (!is.null(fit$recipe)) model$recipe <- fit$recipe # code, so no part of bytes or files
  if (isTRUE(fit$data$has_weights)) model$has_weights <- TRUE # nor this
  if (whole && !is.null(fit$data$masked_out)) model$masked_out <- masked_out_responses(trainer, fit, model)
  model
}

# The parameters that decided the model, by name. methods: see chosen_methods(); rounds: of this training, in the model.
kept_params <- function(fit, methods, rounds) {
  features <- fit$data$feature_names
  constraints <- fit$constraints
  params <- c(fit$params[setdiff(names(fit$params), c("hist_memory", "device_memory"))],
              list(max_bin = as.double(fit$data$max_bin)), fit$response$param)
  params$eta <- eta_of_model(fit$params$eta, fit$start, rounds)
  if (!is.null(constraints$monotone)) params$monotone <- stats::setNames(constraints$monotone, features)
  if (!is.null(constraints$interactions)) {
    params$interactions <- lapply(constraints$interactions, function(group) features[group + 1L])
  }
  if (!is.null(constraints$feature_weights)) {
    params$feature_weights <- stats::setNames(constraints$feature_weights, features)
  }
  if (!is.null(constraints$first_use_penalty)) {
    params$first_use_penalty <- stats::setNames(constraints$first_use_penalty, features)
  }
  if (length(methods)) params$cat_method <- methods
  if (fit$host$preset != "default") params$preset <- fit$host$preset
  if (length(fit$evaluation$metrics$name)) params$eval_metric <- fit$evaluation$metrics$name
  if (fit$data$sparse_zero == "missing") params$sparse_zero <- "missing"
  params$class_weights <- attr(fit$data$weight, "classes")
  if (!is.null(fit$class_shares)) params$subsample <- fit$class_shares
  if (length(fit$data$level_counts)) params$level_counts <- fit$data$level_counts
  if (fit$evaluation$stopping) {
    params$early_stopping_rounds <- fit$host$early_stopping_rounds
    params$early_stopping_min_delta <- fit$host$early_stopping_min_delta
  }
  params
}

# The round that the model predicts with when early stopping was on: NULL else.
best_round <- function(fit, state, log) {
  evaluation <- fit$evaluation
  if (!evaluation$stopping || state$rounds == 0) return(list(round = NULL, score = NULL))
  values <- log[[length(log)]][log$round > fit$start$rounds] # the last metric of the last data set
  at <- if (evaluation$own_watched) {
    stopping_of(values, evaluation$metrics$maximise, fit$host$early_stopping_min_delta)[["best"]]
  } else {
    state$best
  }
  if (is.na(at) || at < 1) return(list(round = NULL, score = NULL))
  list(round = as.integer(at + fit$start$rounds), score = values[at])
}
