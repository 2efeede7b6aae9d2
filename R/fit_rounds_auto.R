# The number of rounds if `nrounds` is missing. With validation data early stopping decides. Otherwise some rows are
# held out, early stopping on them finds the number of rounds, and then a model is trained on all rows:
#
#   settle_rounds   request, rows     -> request: host$rounds says where the number comes from
#   size_rounds     request           -> request: with patience and limit, once `eta` is known
#   search_task     request, rows     -> what find_rounds() needs of a "search", kept in the fit with the data
#   find_rounds     fit               -> fit with the number, and `found`, see below
#
# The data are binned once: the rows held out are those that a mask leaves out (R/data_mask.R), so a search takes
# about as long as the training that follows. host$rounds is
#   "given"   by `nrounds`, or by as many learning rates
#   "valid"   early stopping on validation data, or on masked-out rows where it was asked for
#   "search"  as above
#
# found, a list that the model keeps as `auto_rounds`, with its log as a data frame:
#   rounds, score   the best round of the search, and the last metric there
#   by        how rows were held out, see found_by; "none": there are too few, and the number is few_rows
#   folds     their number; 1 for rows that are held out once
#   n_train, n_held   rows that the search trained on, and those that it held out; in folds all of them in turn
#   patience, limit   rounds without improvement that end the search, and the most that there could be: of few rows
#             less than host$search$limit
#   stopped   what ended it, see found_how
#   eval_metric, log  names of the metrics; data frame of round and their values on held-out rows

held_out_name <- "held_out" # of their set in the log

few_rows <- 100L # rounds where there are too few rows to hold some out

held_out_share <- 0.2
folds_below <- 3000 # with fewer rows cross-validation is used: one held-out fifth would be too few rows to decide by
search_fold_count <- 5L

# Rounds without improvement that end a training, and the most rounds, where the user says neither. With smaller steps
# progress is slower, and so are both.
usual_patience <- function(eta) max(20, ceiling(5 / eta[1L]))
usual_limit <- function(eta) min(max(1000, ceiling(200 / eta[1L])), 20000)

# The most rounds of a search on few rows, where more cost time and better nothing (bench/results/defaults-tried.md).
limit_of_rows <- function(n) max(100, 20 * n)

# The request about rounds, before the data are read: host with `rounds` ("open" where it is not known yet) and, for
# now, a limit in `nrounds`. eta: of the parameters.
read_rounds <- function(host, args, eta) {
  if (!is.null(args$value[["nrounds"]])) return(host)
  rates <- args$value[["eta"]]
  if (is.numeric(rates) && is_schedule(rates)) {
    host$nrounds <- max(1, length(rates))
    return(host)
  }
  if (identical(as.double(args$value[["early_stopping_rounds"]]), 0)) {
    stop_argument(paste("`nrounds` is needed with `early_stopping_rounds = 0`; give `nrounds`, or leave",
                        "`early_stopping_rounds` out"), "nrounds")
  }
  host$rounds <- "open"
  host$nrounds <- usual_limit(eta)
  host
}

# Where the number comes from, now that it is known which rows there are. rows: see read_rows().
settle_rounds <- function(request, rows) {
  if (request$host$rounds != "open") return(request)
  watched <- length(rows$valid) > 0L || (!is.null(rows$held) && request$host$early_stopping_rounds > 0)
  request$host$rounds <- if (watched) "valid" else "search"
  request
}

# Refuses arguments that cannot be combined with a search for the number of rounds. args: values by name.
check_searchable <- function(args) {
  if (!is.null(args[["init_model"]])) {
    stop_argument(paste("`nrounds` is needed with `init_model`, which may have been trained on the rows that would",
                        "be held out; give `nrounds`, or `valid` for early stopping"),
                  "nrounds")
  }
}

# Patience and limit, by the learning rate that rules may have chosen.
size_rounds <- function(request) {
  host <- request$host
  if (host$rounds == "given") return(request)
  eta <- request$params$eta
  if (!is_schedule(request$args$value[["eta"]])) host$nrounds <- usual_limit(eta)
  if (host$early_stopping_rounds == 0) host$early_stopping_rounds <- usual_patience(eta)
  if (host$rounds == "search") {
    host$search <- list(patience = host$early_stopping_rounds, limit = host$nrounds,
                        min_delta = host$early_stopping_min_delta)
    host$early_stopping_rounds <- 0 # of the training on all rows
    host$early_stopping_min_delta <- 0
  }
  request$host <- host
  request
}

# A cross-validation stops early if `nrounds` is missing.
settle_cv_rounds <- function(request) {
  if (!identical(request$host$rounds, "open")) return(request)
  request$host$rounds <- "valid"
  request <- size_rounds(request)
  request$args$value$nrounds <- request$host$nrounds
  request$args$value$early_stopping_rounds <- request$host$early_stopping_rounds
  request
}

# The input of find_rounds(), a list: source (the rows; search_data() adds them binned), args (by name, for prepare()),
# response, mask, at (see read_rows()), search, parts (see search_parts()). NULL where the number is known.
search_task <- function(request, rows) {
  search <- request$host$search
  if (is.null(search)) return(NULL)
  check_searchable(request$args$value)
  source <- rows$source
  task <- list(source = source, response = rows$response, mask = rows$mask, at = rows$at, n = rows$n)
  task <- search_again(task, request, rows)
  task <- c(task, list(parts = search_parts(task, rows$seed)))
  if (!is.null(task$parts)) check_search_metrics(request$args$value, request$host, rows)
  task
}

# The task with the parameters of a request; NULL for none.
search_again <- function(task, request, rows) {
  if (is.null(task)) return(NULL)
  search <- request$host$search
  search$limit <- min(search$limit, limit_of_rows(sum_of_ranks(length(rows$label))))
  args <- request$args$value
  args <- args[!names(args) %in% c(binning_arguments, row_arguments, "callbacks", "checkpoint", "eval_train")]
  args <- with_ruled(args, request)
  args$nrounds <- search$limit
  args$early_stopping_rounds <- search$patience
  args$seed <- rows$seed
  task$args <- args
  task$search <- search
  task
}

# task: of search_task(), or NULL; data: the training data as they are binned.
search_data <- function(task, data) {
  if (is.null(task)) return(NULL)
  task$source$x <- NULL
  task$source$data <- data
  task
}

# fit: of all rows, prepared. Its `host$nrounds` is the limit.
find_rounds <- function(fit) {
  task <- fit$search
  fit["search"] <- list(NULL)
  if (is.null(task)) return(fit)
  limit <- fit$host$max_seconds
  if (limit > 0) task$args$max_seconds <- 0.4 * limit # the training on all rows takes longer, though without patience
  parts <- task$parts
  found <- if (is.null(parts)) {
    list(rounds = few_rows, by = "none", n_train = fit$n_obs)
  } else if (parts$by == "folds") {
    search_folds(task, parts, fit)
  } else {
    search_split(task, parts, fit)
  }
  rounds <- if (found$by == "none") few_rows else rounds_for_all(found$rounds, found$n_train, fit$n_obs)
  fit$host$nrounds <- min(rounds, fit$host$nrounds)
  fit$params$eta <- schedule_to(fit$params$eta, fit$host$nrounds)
  if (limit > 0) fit$host$max_seconds <- max(seconds_left(fit$host$until), 0.001)
  fit$found <- found
  if (fit$host$tells) say(found_line(found, fit$host$nrounds, fit$n_obs))
  fit
}

# By the clock of the first rank.
seconds_left <- function(until) of_first_rank(list(left = until - proc.time()[["elapsed"]]))$left

# More rows bear more rounds.
rounds_for_all <- function(rounds, n_search, n_all) as.integer(rounds)

# Those of the rows `at` (NULL: all) that have a weight above 0. Others say nothing of a model.
rows_with_weight <- function(at, weights) {
  if (is.null(weights)) return(at)
  weigh <- which(weights > 0)
  if (is.null(at) && !any_rank(length(weigh) < length(weights))) return(NULL)
  if (is.null(at)) weigh else at[at %in% weigh]
}

# Which rows are held out, a list: by, see above, and held, logical values of all rows, or folds, a list of such. NULL
# where there are too few rows.
search_parts <- function(task, seed) {
  source <- task$source
  n_all <- task$n
  at <- rows_with_weight(task$at, source$weights)
  part <- function(v) if (is.null(at)) v else subset_rows(v, at)
  own <- list(time = part(source$time), group = part(source$group))
  if (!is.null(at) && !is.null(own$group)) own$group <- number_groups(own$group)
  label <- part(task$response$label)
  n <- length(label)
  all <- sum_of_ranks(n)
  class <- if (!is.null(task$response$classes)) label
  spread <- function(held) { # over all rows
    if (is.null(at)) return(held)
    replace(logical(n_all), at[held], TRUE)
  }
  if (!is.null(own$time)) {
    if (all < 10 || all_same(own$time)) return(NULL)
    held <- replace(logical(n), latest_rows(own$time, held_out_share)$held, TRUE)
    return(list(by = "time", held = spread(held)))
  }
  units <- if (is.null(own$group)) all else count_groups(own$group)
  if (units < 10) return(NULL)
  if (all < folds_below && units >= 2 * search_fold_count) {
    folds <- drawn_folds(list(repeats = 1, stratify = NULL), search_fold_count, n, own$group, class, label, seed)
    return(list(by = "folds", folds = lapply(folds, function(fold) spread(fold$held))))
  }
  rows <- choose_held_out(own, list(classes = task$response$classes, label = label), n, held_out_share, seed)
  list(by = if (is.null(own$group)) "split" else "groups", held = spread(replace(logical(n), rows$held, TRUE)))
}

# The training without the held-out rows, prepared. It has reported what it would report of data and parameters.
search_fit <- function(task, held, device) {
  task$source$mask <- !held & (if (is.null(task$mask)) TRUE else task$mask)
  task$source$held <- held
  fit <- stopping_search(withCallingHandlers(prepare(task$source, task$args, list()),
                                             gbt_message = function(m) invokeRestart("muffleMessage"),
                                             gbt_warning = function(w) invokeRestart("muffleWarning")))
  fit$evaluation$data[[1L]]$name <- held_out_name
  fit$host$device <- device
  fit$host$searching <- TRUE
  fit
}

# code: of the search for the number of rounds.
stopping_search <- function(code) {
  tryCatch(code, gbt_error_argument = stop_search, gbt_error_data = stop_search, gbt_error_unsupported = stop_search)
}

# Can the search for the number of rounds watch the last metric on rows held out?
check_search_metrics <- function(args, host, rows) {
  stopping_search({
    metrics <- resolve_metrics(args[["eval_metric"]], rows$response)
    check_watched(metrics, host)
    check_metric_labels(metrics, list(train_set(rows, list())))
  })
}

# The user has not asked for the rows that are held out, so the error says what they are for.
stop_search <- function(e) {
  e$message <- sprintf("`nrounds` is missing, and it cannot be found on held-out rows: %s; give `nrounds`, or `valid`",
                       conditionMessage(e))
  stop(e)
}

search_split <- function(task, parts, fit) {
  if (!is.null(fit$host$checkpoint)) task$args$checkpoint <- file.path(fit$host$checkpoint, "rounds")
  own <- search_fit(task, parts$held, fit$host$device)
  run <- run_with_fallback(own)
  if (!run$why %in% c("early", "done", "time")) stop_cut_search(run, own)
  log <- evaluation_log(own$evaluation, own$start, run$state)
  best <- best_round(own, run$state, log)
  free_trainer(run$trainer, own)
  held <- sum_of_ranks(sum(parts$held))
  rounds_found(task, parts$by, 1L, own$n_obs, held, log, best$round, best$score, run$why)
}

# Ctrl-C, a job that was cancelled, or an error of the user's functions: the model so far is that of the rows that were
# not held out, in folds by the first of them.
stop_cut_search <- function(run, fit) {
  model <- if (run$why != "error" || run$state$rounds > 0) finish_model(run$trainer, fit, run$state, FALSE)
  free_trainer(run$trainer, fit)
  if (run$why == "error") stop_failed(model, run$error)
  stop_interrupted(model, run$error)
}

search_folds <- function(task, parts, fit) {
  fits <- lapply(parts$folds, function(held) {
    own <- search_fit(task, held, fit$host$device)
    own$lacks_class <- lacks_class(own)
    own
  })
  runs <- run_folds(fits)
  if (is_cut(runs$why)) {
    free_trainers(runs$trainers[-1L])
    first <- list(trainer = runs$trainers[[1L]], state = runs$states[[1L]], why = runs$why, error = runs$error)
    fits[[1L]]$evaluation$own_watched <- FALSE # the best round is that of the mean
    stop_cut_search(first, fits[[1L]])
  }
  rounds <- runs$states[[1L]]$rounds
  values <- fold_values(fits, runs$states, rounds)
  free_trainers(runs$trainers)
  log <- list_frame(c(list(round = seq_len(rounds)), lapply(values, fold_means)), rounds)
  best <- choose_rounds(values, fits[[1L]]$evaluation$metrics, fits[[1L]]$host$early_stopping_min_delta)
  held <- sum_of_ranks(sum(vapply(parts$folds, sum, 0)))
  k <- length(fits)
  rounds_found(task, "folds", k, fit$n_obs - ceiling(held / k), held, log, best$best_round, best$best_score, runs$why)
}

rounds_found <- function(task, by, folds, n_train, n_held, log, rounds, score, why) {
  if (is.null(rounds)) {
    stop_search(gbt_error("data", sprintf("the metric \"%s\" has no finite value there", names(log)[length(log)])))
  }
  list(rounds = rounds, score = score, by = by, folds = folds, n_train = as.double(n_train),
       n_held = as.double(n_held), patience = task$search$patience, limit = task$search$limit,
       stopped = if (why == "done") "limit" else why,
       eval_metric = sub(paste0("^", held_out_name, "_"), "", names(log)[-1L]), log = log)
}

# The message between the two trainings.
found_line <- function(found, nrounds, n) {
  sprintf("%s: %s on %s", found_text(found), counted(nrounds, "round"),
          if (n == 1) "the only row" else sprintf("all %s rows", with_commas(n)))
}
