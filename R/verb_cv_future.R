# Folds of gbt_cv() side by side, by package future, where its user has set a plan with several workers. The result is
# that of folds which are trained here, to the last bit. Early stopping uses the mean of all folds, which no worker has.
# So folds are trained for some rounds, and for twice as many while their mean has not shown where to stop. Then they
# are trained once more, and get the means.

# NULL where folds are trained here. rows: not binned yet.
fold_workers <- function(rows, request) {
  if (request$host$max_seconds > 0) return(NULL) # which is of all folds together
  workers_for(rows$source, "folds are trained in this process")
}

# As folds_in_session() of R/verb_cv.R. request: with what the rules chose.
folds_in_workers <- function(rows, request, folds, seed, workers) {
  host <- request$host
  if (workers$shared) rows$source <- binned_once(rows$source, request, rows$response)
  if (is.null(request$args$value[["threads"]])) request$args$value$threads <- worker_threads(workers)
  if (is.null(request$args$value[["hist_memory"]])) { # of all workers
    request$args$value$hist_memory <- max(16, ceiling(1024 / workers$n))
  }
  request$args$value[c("verbose", "progress")] <- list(0, FALSE)
  work <- list(rows = rows, binned = workers$shared, request = request, folds = folds, seed = seed,
               id = basename(tempfile("folds")))
  if (host$verbose) {
    say(sprintf("%s by %s of package future", counted(length(folds), "fold"), counted(workers$n, "worker")))
  }
  if (host$early_stopping_rounds == 0) return(joined_folds(fold_futures(work, host$nrounds), "done"))
  asked <- max(32, 4 * host$early_stopping_rounds)
  again <- FALSE
  repeat {
    asked <- min(asked, host$nrounds)
    ran <- joined_folds(fold_futures(work, asked, quiet = again), "done")
    again <- TRUE
    means <- fold_means(ran$values[[length(ran$values)]])
    end <- stopping_of(means, ran$metrics$maximise, host$early_stopping_min_delta, host$early_stopping_rounds)[["stop"]]
    if (!is.na(end) || asked == host$nrounds) break
    asked <- 2 * asked
  }
  rounds <- if (is.na(end)) host$nrounds else end
  means <- means[seq_len(rounds)]
  best <- choose_rounds(lapply(ran$values, function(v) v[seq_len(rounds), , drop = FALSE]), ran$metrics,
                        host$early_stopping_min_delta)$best_round
  joined_folds(fold_futures(work, rounds, means, best, quiet = TRUE), if (is.na(end)) "done" else "early")
}

# Results of fold_in_worker(), a list of all folds. quiet: warnings have been given.
fold_futures <- function(work, rounds, means = NULL, best = NULL, quiet = FALSE) {
  tasks <- lapply(seq_along(work$folds), function(k) fold_task(work, k, rounds, means, best, quiet))
  by_workers(tasks, work$request$args$value)
}

fold_task <- function(work, k, rounds, means, best, quiet) {
  force(list(work, k, rounds, means, best))
  function() {
    there <- function() fold_in_worker(work, k, rounds, means, best)
    if (quiet) suppressWarnings(there(), classes = "gbt_warning") else there()
  }
}

# The k-th fold after so many rounds, in a worker, which bins the data for the first fold that it trains.
fold_in_worker <- function(work, k, rounds, means, best) {
  rows <- rows_in_worker(work, work$request)
  request <- work$request
  request$args$value <- request$args$value[!names(request$args$value) %in% binning_arguments]
  fits <- fold_fits(rows$source, request, work$folds[k], rows$response, work$seed)
  fits[[1L]]$host$nrounds <- rounds
  fits[[1L]]$params$eta <- schedule_to(fits[[1L]]$params$eta, rounds)
  ran <- folds_in_session(fits, watch = function(round, own) if (!is.null(means)) means[[round]])
  ran$models <- ran$models(best)
  ran
}

# One result of those of folds. The last round's models stand for those of early stopping until it has ended.
joined_folds <- function(ran, why) {
  out <- ran[[1L]]
  out$lacking <- unlist(lapply(ran, `[[`, "lacking"))
  out$values <- lapply(do.call(Map, c(cbind, unname(lapply(ran, `[[`, "values")))), without_class, out$lacking)
  out$reasons <- do.call(c, lapply(ran, `[[`, "reasons"))
  models <- unlist(lapply(ran, `[[`, "models"), recursive = FALSE)
  out$models <- function(best) models
  out$why <- why
  out
}
