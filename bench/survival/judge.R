# What bench/survival judges models by: the integrated Brier score, and curves from scores of hazards.

censoring <- function(time, event) { # G(t) and G(t-): censorings come after events of the same time
  at <- sort(unique(time[event == 0]))
  risk <- vapply(at, function(u) sum(time >= u) - sum(time == u & event == 1), 0)
  gone <- vapply(at, function(u) sum(time == u & event == 0), 0)
  g <- cumprod(1 - gone / risk)
  function(t, before = FALSE) c(1, g)[findInterval(t, at, left.open = before) + 1L]
}

judge_times <- function(time, event) {
  quantile(time[event == 1 & time <= quantile(time, 0.9)], (1:50) / 50, type = 1L, names = FALSE)
}

ibs <- function(curves, times, time, event) { # curves: rows x times
  g <- censoring(time, event)
  score <- vapply(seq_along(times), function(j) {
    t <- times[j]
    dead <- time <= t & event == 1
    alive <- time > t
    mean(ifelse(dead, curves[, j]^2 / g(time, TRUE), 0) + ifelse(alive, (1 - curves[, j])^2 / g(t), 0))
  }, 0)
  keep <- !duplicated(times)
  t <- times[keep]
  s <- score[keep]
  sum(diff(t) * (s[-1] + s[-length(s)]) / 2) / (max(t) - min(t))
}

step_curves <- function(risk, base_time, base, times) { # exp(-H0(t) e^s)
  h <- c(0, base)[findInterval(times, base_time) + 1L]
  exp(-outer(exp(risk), h))
}

breslow <- function(time, event, score) {
  at <- sort(unique(time[event == 1]))
  list(time = at, hazard = cumsum(vapply(at, function(t) sum(time == t & event == 1) / sum(exp(score[time >= t])), 0)))
}
