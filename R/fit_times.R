# Answers of a model of times for a row, besides its score: curves, quantiles, means.

# Answers of predict() that only models of times have. "survival", "cumhaz" and "cif" are of `times`, "quantile" of
# `probs`.
time_types <- c("survival", "cumhaz", "quantile", "time", "cif")

# `times` or `probs` of predict(), checked: what a type needs and no more. probs: NULL where not given.
read_times <- function(type, object, times, probs) {
  of_times <- type %in% c("survival", "cumhaz", "cif")
  if (!of_times && !is.null(times)) {
    stop_argument("`times` can only be used with types \"survival\", \"cumhaz\" and \"cif\"; leave it out", "times")
  }
  if (type != "quantile" && !is.null(probs)) {
    stop_argument("`probs` can only be used with type \"quantile\"; leave it out", "probs")
  }
  if (!type %in% time_types) return(NULL)
  if (!is_of_times(object$objective)) {
    stop_unsupported(sprintf(paste("type = \"%s\" needs a model of times, by objective \"cox\", \"aft\" or \"hazard\";",
                                   "this one has objective \"%s\""), type, object$objective), "type")
  }
  check_cause_type(type, object)
  if (of_times) check_eval_times(times, type) else if (type == "quantile") check_probs(given_or(probs, 0.5))
}

# Incidences need a model of one cause in the presence of others, which says nothing of survival.
check_cause_type <- function(type, object) {
  if (is_of_subdistribution(object$objective) == (type == "cif")) return(invisible())
  stop_unsupported(if (type == "cif") {
    sprintf(paste("type = \"cif\" needs a model of objective \"fine_gray\", and this one has \"%s\"; train one for",
                  "each cause"), object$objective)
  } else {
    sprintf(paste("type = \"%s\" needs the hazards of all causes, and this model has that of one subdistribution; use",
                  "\"cif\", the probability of an event of its cause up to a time"), type)
  }, "type")
}

check_eval_times <- function(times, type) {
  if (is.null(times)) {
    stop_argument(sprintf("type = \"%s\" needs `times`: the times at which the curve of each row is evaluated", type),
                  "times")
  }
  if (!is.numeric(times) || is.object(times) || length(times) == 0L || anyNA(times)) {
    stop_argument(sprintf("`times` must be numbers, not %s", quote_value(times)), "times")
  }
  if (any(times < 0)) stop_argument("`times` must be 0 or more", "times")
  if (is.unsorted(times)) stop_argument("`times` must be in ascending order: sort(times)", "times")
  as.double(times)
}

check_probs <- function(probs) {
  ok <- is.numeric(probs) && !is.object(probs) && length(probs) > 0L && !anyNA(probs) && all(probs > 0 & probs < 1)
  if (!ok) stop_argument(sprintf("`probs` must be numbers between 0 and 1, not %s", quote_value(probs)), "probs")
  as.double(probs)
}

# score: a matrix for several outputs.
# Scores -> a number for each row, or a matrix with a column for each of `at`.
# stratum: of each row, see places_of_strata(); NULL for models without strata.
times_of_scores <- function(score, object, type, at, stratum = NULL) {
  if (is_of_intervals(object$objective)) return(times_of_intervals(score, object$params$breaks, type, at))
  score <- as.vector(score)
  if (is_of_hazards(object$objective)) return(by_stratum(score, object$baseline, type, at, stratum))
  dist <- object$params$aft_dist
  scale <- object$params$aft_scale
  z <- function(t) (log(t) - score) / scale
  if (type == "time") return(exp(score) * aft_mean(dist, scale))
  out <- switch(type,
    survival = lapply(at, function(t) aft_survival(dist, z(t))),
    cumhaz = lapply(at, function(t) aft_cumulative(dist, z(t))),
    quantile = lapply(at, function(p) exp(score + scale * aft_quantile(dist, p)))
  )
  matrix_at(out, length(score), type, at)
}

# The mean of exp(scale Z).
aft_mean <- function(dist, scale) {
  switch(aft_dist_name(dist), normal = exp(scale^2 / 2),
         logistic = if (scale < 1) pi * scale / sin(pi * scale) else Inf, extreme = gamma(1 + scale))
}

# The distribution of Z in log T = score + scale Z: functions of probability and quantile.
aft_survival <- function(code, z) {
  switch(aft_dist_name(code), normal = stats::pnorm(z, lower.tail = FALSE),
         logistic = stats::plogis(z, lower.tail = FALSE), extreme = exp(-exp(z)))
}
aft_cumulative <- function(code, z) {
  switch(aft_dist_name(code), normal = -stats::pnorm(z, lower.tail = FALSE, log.p = TRUE),
         logistic = -stats::plogis(z, lower.tail = FALSE, log.p = TRUE), extreme = exp(z))
}
aft_quantile <- function(code, p) {
  switch(aft_dist_name(code), normal = stats::qnorm(p), logistic = stats::qlogis(p), extreme = log(-log1p(-p)))
}

# Baseline hazards --------------------------------------------------------------------------------------------------

# The cumulative hazard of a row of score 0, which models of objective "cox" keep: list(rounds = of the model whose
# scores it is made of, time = of events, hazard = its values from these times on), with strata one after the other, and
# then also strata = the number of times of each, named by it. rounds: of the model; score: of the training rows; NULL:
# those that the trainer has, which has none where the best round lies before a checkpoint.
baseline_of <- function(trainer, fit, rounds, score = NULL) {
  if (!is_of_hazards(fit$response$objective)) return(NULL)
  of <- .Call(C_gbt_trainer_hazards, trainer, fit$host$threads, score)
  if (is.null(of)) return(NULL)
  levels <- fit$response$strata$levels
  c(list(rounds = as.double(rounds)), of[c("time", "hazard")],
    if (!is.null(levels)) list(strata = stats::setNames(of$n_times, levels[of$stratum])))
}

# stratified: does the model have strata? A stratum may be without events, but not all of them.
is_baseline <- function(x, stratified) {
  if (is.null(x)) return(TRUE)
  if (!is.list(x) || is.object(x) || !identical(setdiff(names(x), "strata"), c("rounds", "time", "hazard")) ||
        !is_whole(x$rounds, 0, 2^31) || length(x$time) == 0L || stratified == is.null(x$strata)) {
    return(FALSE)
  }
  strata <- x$strata
  if (!stratified) return(are_hazard_curves(x$time, x$hazard, length(x$time)))
  is.double(strata) && !is.object(strata) && are_names(names(strata)) && all(strata %in% seq(0, length(x$time))) &&
    are_hazard_curves(x$time, x$hazard, strata)
}

# Curves one after the other, each of so many points.
are_hazard_curves <- function(time, hazard, n) {
  first <- cumsum(c(1, n))[-(length(n) + 1L)]
  rises <- function(v) {
    is.double(v) && !is.object(v) && !anyNA(v) && all(v[-1L] >= v[-length(v)] | seq_along(v)[-1L] %in% first)
  }
  sum(n) == length(time) && length(hazard) == length(time) && rises(time) && rises(hazard) && all(is.finite(time)) &&
    all(hazard >= 0)
}

# That of one stratum, by its place; the whole baseline where there are no strata.
baseline_of_stratum <- function(baseline, place) {
  if (is.null(baseline$strata)) return(baseline)
  its <- sum(baseline$strata[seq_len(place - 1L)]) + seq_len(baseline$strata[[place]])
  list(time = baseline$time[its], hazard = baseline$hazard[its])
}

# Fails unless the baseline is that of the scores of so many rounds. what: needs it.
check_baseline <- function(object, rounds, what, parameter = NULL) {
  baseline <- object$baseline
  if (!is.null(baseline) && baseline$rounds == rounds) return(baseline)
  if (is.null(baseline) && !is.null(object$imported)) {
    stop_unsupported(sprintf(paste("%s needs a baseline hazard, which the file that was imported from %s does not",
                                   "have; its predictions are relative hazards, predict(model, newdata); for survival",
                                   "curves train a model with gbt_train()"), what, printable(object$imported$program)),
                     parameter)
  }
  has <- if (is.null(baseline)) "none" else paste("that of", counted(baseline$rounds, "round"))
  stop_unsupported(sprintf(paste("%s needs the baseline hazard of these trees, and the model has %s; train one of so",
                                 "many rounds, gbt_refit(model, nrounds = %.0f)"), what, has, rounds), parameter)
}

# Metrics of survival curves.
curve_metrics <- c("brier_survival", "ibs", "dcal")

# The baseline that they need, list(time, hazard, stratum, n_times), for scores of so many rounds; NULL where none is
# needed.
baseline_of_metrics <- function(metrics, model, rounds) {
  if (!is_of_hazards(model$objective)) return(NULL)
  of_curves <- which(metrics_table()$name[metrics$code + 1L] %in% curve_metrics)
  if (length(of_curves) == 0L) return(NULL)
  its <- check_baseline(model, rounds, sprintf("metric \"%s\"", metrics$name[of_curves[1L]]))
  n_times <- given_or(its$strata, length(its$time))
  list(its$time, its$hazard, as.double(seq_along(n_times)), as.double(n_times))
}

# Scores -> answers, as times_of_scores(), each from the baseline of its stratum.
by_stratum <- function(score, baseline, type, at, stratum) {
  if (is.null(baseline$strata)) return(hazards_of_scores(score, baseline, type, at))
  if (is.null(stratum)) stop_unsupported("the model has strata, and those of the rows are not known here", "strata")
  out <- NULL
  for (place in unique(stratum)) {
    its <- which(stratum == place)
    part <- hazards_of_scores(score[its], baseline_of_stratum(baseline, place), type, at)
    if (is.null(out)) {
      out <- if (is.matrix(part)) matrix(NA_real_, length(score), ncol(part)) else rep(NA_real_, length(score))
      for (name in c("dimnames", "times", "probs")) attr(out, name) <- attr(part, name)
    }
    if (is.matrix(part)) out[its, ] <- part else out[its] <- part
  }
  if (is.null(out)) hazards_of_scores(score, baseline_of_stratum(baseline, 1L), type, at) else out
}

# baseline: of one stratum.
hazards_of_scores <- function(score, baseline, type, at) {
  risk <- exp(score)
  H <- baseline$hazard
  if (type == "time" && length(H) == 0L) return(rep(NA_real_, length(score))) # a stratum without events
  if (type == "time") { # the area below the curve up to the last event
    widths <- diff(c(0, baseline$time))
    return(vapply(risk, function(r) sum(widths * exp(-c(0, H[-length(H)]) * r)), 0))
  }
  out <- if (type == "quantile") {
    lapply(at, function(p) {
      place <- findInterval(-log1p(-p) / risk, H, left.open = TRUE) + 1L # the first with H r >= -log(1 - p)
      baseline$time[place]
    })
  } else {
    until <- lapply(c(0, H)[findInterval(at, baseline$time) + 1L], function(h) if (h == 0) 0 * score else h * risk)
    switch(type, cumhaz = until, cif = lapply(until, function(h) -expm1(-h)), lapply(until, function(h) exp(-h)))
  }
  matrix_at(out, length(score), type, at)
}

# out: a list of n numbers for each of `at`. One quantile stays a vector.
matrix_at <- function(out, n, type, at) {
  if (type == "quantile" && length(at) == 1L) return(out[[1L]])
  out <- matrix(as.double(unlist(out)), n, length(at), dimnames = list(NULL, format(at, trim = TRUE)))
  attr(out, if (type == "quantile") "probs" else "times") <- at
  out
}
