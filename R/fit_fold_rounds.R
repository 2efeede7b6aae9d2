# Folds that grow round by round side by side, and their metrics.

# Every fold's trainer some rounds further, again and again, until the mean of the watched metric says so. A list:
# trainers, states (as of run_rounds()), why and error (see end_reason()). watch: NULL, or a function of a round and
# that mean that gives the value which is watched instead, or NULL for none.
run_folds <- function(fits, watch = NULL) {
  host <- fits[[1L]]$host
  evaluation <- fits[[1L]]$evaluation
  fits <- lapply(fits, function(fit) {
    fit$evaluation$own_watched <- fit$evaluation$stopping # the host passes the value to watch, the mean
    fit$host$max_seconds <- 0
    fit
  })
  trainers <- list()
  done <- FALSE
  on.exit(if (!done) free_trainers(trainers))
  for (fit in fits) trainers <- c(trainers, on_device(fit$host$device, function(where) make_trainer(fit, where)))
  states <- lapply(fits, function(fit) {
    list2env(list(rounds = 0, best = 0, native = NULL, own = no_own_values(fit$evaluation)), parent = emptyenv())
  })
  bar <- progress_bar(host$progress, host$nrounds, isTRUE(host$searching))
  on.exit(bar$close(), add = TRUE)
  end <- end_reason(loop_folds(trainers, fits, states, host, bar, watch))
  if (is_cut(end$why)) Map(refresh_state, trainers, states)
  if (host$verbose && end$why %in% c("early", "time")) {
    text <- if (end$why == "early") "stopped early at round %d" else "`max_seconds` ended the training after round %d"
    say(sprintf(text, as.integer(states[[1L]]$rounds)))
  }
  for (state in states) state$why <- end$why
  done <- TRUE
  list(trainers = trainers, states = states, why = end$why, error = end$error)
}

# Why it ended: "done", "early", "time" or "interrupt". host: with the limit of time, which no fold has for itself.
loop_folds <- function(trainers, fits, states, host, bar, watch) {
  evaluation <- fits[[1L]]$evaluation
  plan <- list(nrounds = host$nrounds, rounds_before = 0, verbose = host$verbose, verbose_every = host$verbose_every,
               every_round = evaluation$stopping || evaluation$own || is_given(fits[[1L]]$response$objective) ||
                 host$max_seconds > 0,
               progress = host$progress || is_reporting() || is_waiting())
  began <- proc.time()[["elapsed"]]
  why <- "done"
  round <- 0
  pace <- NA_real_
  while (why == "done" && round < host$nrounds) {
    n <- value_of_first_rank(chunk_size(plan, round, pace))
    t0 <- proc.time()[["elapsed"]]
    if (!run_trainers(trainers, fits, states, n)) return("interrupt")
    now <- proc.time()[["elapsed"]]
    pace <- max(now - t0, 1e-3) / n
    round <- round + n
    means <- if (length(evaluation$data) && length(evaluation$metrics$name)) mean_row(fits, states, round)
    watched <- if (evaluation$stopping) means[[length(means)]]
    if (!is.null(watched) && !is.null(watch)) watched <- watch(round, watched)
    if (!is.null(watched)) {
      stops <- vapply(trainers, function(trainer) .Call(C_gbt_trainer_see, trainer, watched), NA)
      if (stops[1L]) why <- "early"
    }
    over <- host$max_seconds > 0 && value_of_first_rank(now - began >= host$max_seconds) > 0
    if (why == "done" && over) why <- "time"
    if (bar$set(round, function() mean_log(fold_values(fits, states, round), round))) return("interrupt")
    if (host$verbose && (round == 1 || round %% host$verbose_every == 0 || round == host$nrounds || why != "done")) {
      say(log_line(round, host$nrounds, means, now - began))
    }
  }
  why
}

is_cut <- function(why) why %in% c("interrupt", "error")

free_trainers <- function(trainers) for (trainer in trainers) .Call(C_gbt_trainer_free, trainer)

# Raises what cut a cross-validation, of which nothing is left.
stop_cut_cv <- function(runs) {
  free_trainers(runs$trainers)
  if (!is.null(runs$error)) stop(runs$error)
  raise_interrupt(sprintf("cross-validation was interrupted after %d rounds", as.integer(runs$states[[1L]]$rounds)))
}

# n rounds of all folds. Those of the CPU train side by side, whose threads so have more to do. With ranks they train
# one after the other, as the operations of all ranks have one order. FALSE when Ctrl-C ended it.
run_trainers <- function(trainers, fits, states, n) {
  first <- states[[1L]]$rounds == 0
  given <- is_given(fits[[1L]]$response$objective)
  if (given) Map(set_own_gradients, trainers, fits, states)
  threads <- fits[[1L]]$host$threads
  aside <- fits[[1L]]$host$device$kind == "cpu" && is.null(fits[[1L]]$data$path) && is.null(ranks_here())
  runs <- if (aside) .Call(C_gbt_trainers_run, trainers, n, threads)
  for (k in seq_along(trainers)) {
    run <- if (aside) runs[[k]] else .Call(C_gbt_trainer_run, trainers[[k]], n, threads)
    if (run$why == "interrupt") return(FALSE)
    states[[k]]$rounds <- run$rounds
    states[[k]]$native <- run$log
    if (first && !given) states[[k]]$reason <- small_hessian_reason(trainers[[k]], fits[[k]])
    if (fits[[k]]$evaluation$own) {
      values <- own_metric_values(trainers[[k]], fits[[k]])
      states[[k]]$own <- rbind(states[[k]]$own, values, deparse.level = 0)
    }
  }
  TRUE
}

# The metrics of a round, means over folds.
mean_row <- function(fits, states, round) {
  rows <- Map(function(fit, state) log_row(fit$evaluation, state, round), fits, states)
  out <- fold_means(without_class(matrix(unlist(rows), ncol = length(rows)), folds_lack_class(fits)))
  stats::setNames(out, test_names(names(rows[[1L]])))
}

# "masked_out_rmse" -> "test_rmse"
test_names <- function(names) sub(paste0("^", masked_out_name, "_"), "test_", names)

# The metrics by name, matrices in which a round is a row and a fold is a column; see without_class().
fold_values <- function(fits, states, rounds) {
  logs <- Map(function(fit, state) evaluation_log(fit$evaluation, fit$start, state), fits, states)
  columns <- names(logs[[1L]])[-1L]
  values <- lapply(columns, function(column) vapply(logs, function(log) as.double(log[[column]]), numeric(rounds)))
  values <- lapply(values, function(v) without_class(matrix(v, nrow = rounds), folds_lack_class(fits)))
  stats::setNames(values, test_names(columns))
}

# v: metric values, a column for each fold; lacking: does the fold lack a class? Metrics of two classes, such as "auc",
# are NaN where a fold holds out rows of one class only. Such folds, and folds that train on one class only, become NA
# in that row, so that the mean is over the other folds.
without_class <- function(v, lacking) {
  v[rowSums(is.na(v[, lacking, drop = FALSE])) > 0, lacking] <- NA
  v
}

folds_lack_class <- function(fits) vapply(fits, function(fit) isTRUE(fit$lacks_class), NA)

# Is there a class of which the rows to train on, or those held out, have none that weighs anything? Of numbers: are
# they all the same?
lacks_class <- function(fit) {
  n <- length(fit$response$classes)
  is_single <- function(label, weight) {
    if (n) return(length(absent_classes(label, n, weight)) > 0L)
    all_same(if (is.null(weight)) label else label[weight != 0])
  }
  held <- fit$data$masked_out
  is_single(fit$label, fit$data$weight) || is_single(held$label, held$weight)
}

# Of every round, over the folds that have a value, see without_class().
fold_means <- function(v) {
  none <- is.na(v) & !is.nan(v)
  if (!any(none)) return(rowMeans(v))
  rowSums(replace(v, none, 0)) / (ncol(v) - rowSums(none))
}
fold_errors <- function(v) {
  apply(v, 1L, function(x) {
    x <- x[!is.na(x) | is.nan(x)]
    stats::sd(x) / sqrt(length(x))
  })
}

# Means and standard errors of folds: test_rmse_mean, test_rmse_se, ...
mean_log <- function(values, rounds) {
  columns <- unlist(lapply(names(values), function(name) {
    v <- values[[name]]
    stats::setNames(list(fold_means(v), as.vector(fold_errors(v))), paste0(name, c("_mean", "_se")))
  }), recursive = FALSE)
  list_frame(c(list(round = seq_len(rounds)), columns), rounds)
}

# The round of the best mean of the last metric, and the first one that is within its standard error.
choose_rounds <- function(values, metrics, min_delta) {
  none <- list(best_round = NULL, best_score = NULL, one_se_round = NULL)
  maximise <- metrics$maximise
  if (length(values) == 0L || is.na(maximise)) return(none)
  v <- values[[length(values)]]
  mean <- fold_means(v)
  best <- stopping_of(mean, maximise, min_delta)[["best"]]
  if (is.na(best)) return(none)
  se <- fold_errors(v[best, , drop = FALSE])
  within <- if (maximise) mean >= mean[best] - se else mean <= mean[best] + se
  list(best_round = best, best_score = mean[best],
       one_se_round = if (is.na(se)) best else which(within)[1L])
}
