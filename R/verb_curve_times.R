# Curves of models of times against what was observed, which may be censored: gbt_curve() of types "survival",
# "calibration" with `times`, and "brier".
#
# seen: list(time, event = 0 or 1, entry or NULL, weight), a value for each row.

# Is the curve one of models of times? Fails for types that do not suit them.
is_time_curve <- function(models, type, times) {
  all(vapply(models, function(model) is_curve_of_times(judged_model(model), type, times), NA))
}

is_curve_of_times <- function(model, type, times) {
  own <- c("survival", "brier")
  if (!predicts_times(model)) {
    if (!type %in% own && is.null(times)) return(FALSE)
    what <- if (type %in% own) sprintf("type = \"%s\"", type) else "`times`"
    stop_unsupported(sprintf(paste("%s needs a model of times, by objective \"cox\", \"aft\" or \"hazard\"; this one",
                                   "has objective \"%s\""), what, model$objective),
                     if (type %in% own) "type" else "times")
  }
  if (is_of_subdistribution(model$objective)) {
    stop_unsupported(sprintf(paste("gbt_curve() does not support events of several causes, which models of objective",
                                   "\"%s\" have; use gbt_evaluate(), or predict(type = \"cif\")"), model$objective),
                     "model")
  }
  if (type %in% own) return(TRUE)
  censored <- is_surv_response(model$response)
  if (type == "calibration") {
    if (censored && is.null(times)) {
      stop_argument("the calibration of a model of times needs `times`: gbt_curve(model, data, times = 365)", "times")
    }
    return(!is.null(times))
  }
  if (censored || !is.null(times)) {
    stop_unsupported(sprintf(paste("type = \"%s\" cannot be used for a model of times; use \"survival\", \"brier\", or",
                                   "\"calibration\" with `times`"), type), "type")
  }
  FALSE
}

# rows: list(data, y, weights, offset, exposure, trees, threads, strata) as of gbt_curve(). bins: NULL where not given.
time_curve <- function(models, rows, type, times, bins) {
  if (!is.null(times)) times <- check_eval_times(times, type)
  if (type == "brier" && !is.null(bins)) {
    stop_argument("`bins` cannot be used with type \"brier\"; leave it out", "bins")
  }
  bins <- if (!is.null(bins)) check_whole(bins, "bins", 1, 1e6)
  check_curve_data(rows$data)
  if (type == "calibration" && length(models) > 1L && length(times) > 1L) {
    stop_argument("to compare the calibration of several models give one time as `times`", "times")
  }
  join_curves(lapply(models, function(one) {
    its <- judged_times(one, rows, type)
    switch(type, survival = curve_of_risks(its, times, given_or(bins, 4L)),
           calibration = curve_of_times(its, times, given_or(bins, 10L)), brier = curve_of_brier(its, times))
  }))
}

# list(seen, risk = of the rows, which falls with the time that is predicted, curves = a function of times that gives a
# matrix: the probability of each row to live longer).
judged_times <- function(model, rows, type) {
  its <- do.call(rows_to_judge, c(list(model), unname(rows)))
  seen <- seen_times(its$label, type)
  seen$weight <- given_or(its$weight, rep(1, length(seen$time)))
  curves <- if (inherits(model, "gbt_cv")) held_out_curves(model, rows, its$at) else function(times) {
    stats::predict(model, rows$data, "survival", rows$trees, rows$offset, times = times, threads = rows$threads,
                   strata = rows$strata)
  }
  list(seen = seen, risk = risk_of_scores(its$model, its$score), curves = curves)
}

# The curves of rows by the models of the folds that held them out; their mean where there are several. at: numbers of
# the rows that have any, or NULL for all.
held_out_curves <- function(cv, rows, at) {
  models <- models_of_folds(cv, "model")
  strata_of <- function(held) if (length(rows$strata) == cv$n_obs) subset_rows(rows$strata, held) else rows$strata
  function(times) {
    sum <- matrix(0, cv$n_obs, length(times))
    count <- numeric(cv$n_obs)
    for (k in seq_along(models)) {
      held <- cv$folds[[k]]
      sum[held, ] <- sum[held, ] + stats::predict(models[[k]], subset_rows(rows$data, held), "survival",
                                                 times = times, strata = strata_of(held))
      count[held] <- count[held] + 1
    }
    out <- sum / count
    if (is.null(at)) out else out[at, , drop = FALSE]
  }
}

# Labels as times of events, or censored on the right.
seen_times <- function(label, type) {
  fields <- other_fields_of_label(label)
  time <- as.double(label)
  event <- fields$event
  if (is.null(event)) {
    upper <- given_or(fields$upper, time)
    between <- which(upper != time & upper != Inf)
    if (length(between)) {
      stop_unsupported(sprintf(paste("type = \"%s\" needs times that are observed or censored on the right, and the",
                                     "response has %s"), type, counted_rows(between, "interval-censored time")), "y")
    }
    event <- as.double(upper == time)
  }
  if (type == "brier" && !is.null(fields$entry)) {
    stop_unsupported("type = \"brier\" does not support entry times, Surv(start, stop, status)", "type")
  }
  if (any(event > 1)) {
    stop_unsupported(sprintf("type = \"%s\" needs events of one kind, and the response has several causes", type), "y")
  }
  list(time = time, event = event, entry = fields$entry)
}

# Estimates of what was observed ----------------------------------------------------------------------------------

# Kaplan and Meier's estimate with 95 % intervals, by log(-log S) and Greenwood's variance: list(time = of events,
# survival, lower, upper). A row of weight 2 counts as two rows.
kaplan_meier <- function(seen) {
  at <- sort(unique(seen$time[seen$event > 0 & seen$weight > 0]))
  ended <- seen$event > 0
  deaths <- sums_at(match(seen$time[ended], at), seen$weight[ended], length(at))
  risk <- at_risk(seen, at)
  left <- risk - deaths
  left[left < 1e-12 * risk] <- 0 # sums in another order
  survival <- cumprod(left / risk)
  spread <- sqrt(cumsum(deaths / (risk * left))) / log(survival)
  bound <- function(z) ifelse(survival > 0, survival^exp(z * spread), NA_real_)
  z <- stats::qnorm(0.975)
  list(time = at, survival = survival, lower = bound(-z), upper = bound(z))
}

# Sums of weights by place, 1 to n; places that are missing are left out.
sums_at <- function(place, weight, n) {
  use <- !is.na(place)
  as.vector(tapply(weight[use], factor(place[use], seq_len(n)), sum, default = 0))
}

# The weight of rows whose time is `at` or later. With entry times `at` is too late for those who enter then.
weight_from <- function(time, weight, at) {
  order <- order(time)
  before <- c(0, cumsum(weight[order]))
  before[length(before)] - before[findInterval(at, time[order], left.open = TRUE) + 1L]
}

# The value of a step function of the estimate at times: 1 before the first event. name: of the column.
step_value <- function(km, times, name = "survival") c(1, km[[name]])[findInterval(times, km$time) + 1L]

# The chance to be still observed: list(upto = at a time, before = just before it), functions. Those who are censored at
# the time of an event leave after it.
still_observed <- function(seen) {
  lost <- seen$event == 0 & seen$weight > 0
  at <- sort(unique(seen$time[lost]))
  left <- sums_at(match(seen$time[lost], at), seen$weight[lost], length(at))
  died <- sums_at(match(seen$time[!lost], at), seen$weight[!lost], length(at))
  value <- c(1, cumprod(1 - left / (weight_from(seen$time, seen$weight, at) - died)))
  list(upto = function(t) value[findInterval(t, at) + 1L],
       before = function(t) value[findInterval(t, at, left.open = TRUE) + 1L])
}

# Curves ---------------------------------------------------------------------------------------------------------------

# Rows by ascending value in `bins` of equal weight, by numbers from 1; equal values stay together. Rows of weight 0 are
# in the bin of the next larger value.
bins_of_rows <- function(value, weight, bins) {
  at <- sort(unique(value[weight > 0]))
  bin <- bin_of_groups(sums_at(match(value, at), weight, length(at)), bins)
  place <- pmin(findInterval(value, at, left.open = TRUE) + 1L, length(at))
  match(bin[place], unique(bin))
}

# Times at which curves are drawn: at most `most` of those of events up to `last`.
curve_times <- function(seen, last, most) {
  at <- sort(unique(seen$time[seen$event > 0 & seen$weight > 0 & seen$time <= last]))
  if (length(at) > most) unique(stats::quantile(at, seq(0, 1, length.out = most), names = FALSE, type = 1L)) else at
}

# The least value up to which the weight is at least a share `p` of all.
weighted_quantile <- function(value, weight, p) {
  order <- order(value)
  upto <- cumsum(weight[order])
  value[order][match(TRUE, upto >= p * upto[length(upto)])]
}

# Calls `use(curves, which)` for some of the times after another, as all curves of many rows are large.
over_times <- function(its, times, use) {
  each <- max(1, floor(1e7 / length(its$risk)))
  for (some in split(seq_along(times), ceiling(seq_along(times) / each))) use(its$curves(times[some]), some)
}

curve_of_risks <- function(its, times, bins) {
  seen <- its$seen
  if (is.null(times)) times <- c(0, curve_times(seen, Inf, 100L))
  group <- bins_of_rows(its$risk, seen$weight, bins)
  n <- max(group)
  predicted <- matrix(0, n, length(times))
  over_times(its, times, function(S, some) predicted[, some] <<- rowsum(S * seen$weight, group))
  predicted <- predicted / sums_at(group, seen$weight, n)
  parts <- lapply(seq_len(n), function(k) seen_of(seen, which(group == k)))
  observed <- lapply(parts, kaplan_meier)
  of <- function(name) unlist(lapply(observed, step_value, times = times, name = name))
  names <- as.character(seq_len(n))
  if (n > 1L) names[c(1L, n)] <- c("1 (lowest risk)", sprintf("%d (highest risk)", n))
  list(group = factor(rep(names, each = length(times)), names), time = rep(times, n),
       predicted = as.vector(t(predicted)), observed = of("survival"), lower = of("lower"), upper = of("upper"),
       at_risk = unlist(lapply(parts, at_risk, times)))
}

# The weight of rows that are observed at times.
at_risk <- function(seen, times) {
  weight_from(seen$time, seen$weight, times) -
    if (is.null(seen$entry)) 0 else weight_from(seen$entry, seen$weight, times)
}

seen_of <- function(seen, rows) lapply(seen, function(v) v[rows])

curve_of_times <- function(its, times, bins) {
  seen <- its$seen
  each <- lapply(seq_along(times), function(k) {
    S <- its$curves(times[k])[, 1L]
    bin <- bins_of_rows(S, seen$weight, bins)
    n <- max(bin, na.rm = TRUE)
    observed <- lapply(seq_len(n), function(b) kaplan_meier(seen_of(seen, which(bin == b))))
    of <- function(name) vapply(observed, step_value, 0, times = times[k], name = name)
    weight <- sums_at(bin, seen$weight, n)
    list(time = rep(times[k], n), bin = seq_len(n), predicted = sums_at(bin, S * seen$weight, n) / weight,
         observed = of("survival"), lower = of("lower"), upper = of("upper"), rows = tabulate(bin, n), weight = weight)
  })
  do.call(Map, c(c, each))
}

curve_of_brier <- function(its, times) {
  seen <- its$seen
  if (is.null(times)) times <- curve_times(seen, weighted_quantile(seen$time, seen$weight, 0.9), 100L)
  if (length(times) == 0L) stop_data("there is no event before the 0.9 quantile of the times; give `times`", "times")
  observed <- still_observed(seen)
  all <- kaplan_meier(seen)
  before <- observed$before(seen$time)
  error <- function(S, t) { # S: of each row at time t
    gone <- seen$time <= t & seen$event > 0
    term <- ifelse(gone, S^2 / before, ifelse(seen$time > t, (1 - S)^2 / observed$upto(t), 0))
    term[seen$weight == 0] <- 0
    sum(term * seen$weight) / sum(seen$weight)
  }
  brier <- numeric(length(times))
  over_times(its, times, function(S, some) {
    brier[some] <<- vapply(seq_along(some), function(j) error(S[, j], times[some[j]]), 0)
  })
  reference <- vapply(times, function(t) error(rep(step_value(all, t), length(seen$time)), t), 0)
  list(time = times, brier = brier, reference = reference)
}
