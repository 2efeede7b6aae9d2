# Responses that are times, possibly censored: objects of class Surv, as package survival makes them. Only their class
# and attributes are read, so the package is not needed.

is_surv_response <- function(response) response %in% surv_types

# Times with what belongs to them, a vector of class gbt_times: a number for each row, the label of the engine, and
# `fields`, a list of vectors by the names of the engine's fields. Rows are taken of all of them at once.
new_times <- function(label, fields) structure(as.double(label), fields = fields, class = "gbt_times")

#' @export
`[.gbt_times` <- function(x, i) {
  new_times(as.double(x)[i], lapply(attr(x, "fields"), `[`, i))
}

# The label and its fields by the engine's names; other labels have none.
fields_of_label <- function(label) {
  if (!inherits(label, "gbt_times")) return(list(label = label))
  c(list(label = as.double(label)), attr(label, "fields"))
}

other_fields_of_label <- function(label) if (inherits(label, "gbt_times")) attr(label, "fields")

# A Surv object -> list(value = times, response, classes) as encode_y() returns it; settle_times() makes of them what an
# objective needs. advice: about missing values.
encode_surv <- function(y, what, advice) {
  type <- attr(y, "type")
  m <- unclass(y)
  if (!is.matrix(m) || !is.numeric(m) || !is_text(type)) {
    stop_broken_surv(what)
  }
  if (!paste0("surv_", type) %in% surv_types) {
    stop_data(sprintf("%s is a Surv object of type \"%s\"; %s are supported", what, type,
                      enumerate(sub("surv_", "", surv_types), quote = "\"")), "y")
  }
  if (ncol(m) != length(surv_columns(type))) stop_broken_surv(what)
  bad <- which(rowSums(is.na(m)) > 0)
  if (length(bad)) {
    start <- type %in% c("counting", "mcounting")
    hint <- if (start) " (Surv() makes a row missing whose start is not before its stop)" else ""
    stop_data(sprintf("%s has %s%s; %s", what, counted_rows(bad, "missing value"), hint, advice), "y")
  }
  check_surv_rows(m, type, what)
  m[, ncol(m)] <- status_of_ranks(m[, ncol(m)], attr(y, "top"), what)
  value <- times_of_surv(m, type, what)
  strata <- attr(y, "strata")
  if (!is.null(strata)) attr(value, "fields")$stratum <- as.double(strata$place)
  list(value = value, response = paste0("surv_", type), classes = NULL, strata = strata,
       causes = if (startsWith(type, "m")) causes_of_surv(m, attr(y, "states"), what))
}

# The names of the events of a factor status, in the order of their numbers.
causes_of_surv <- function(m, states, what) {
  if (!is_texts(states) || anyDuplicated(states) || any(m[, ncol(m)] > length(states))) stop_broken_surv(what)
  check_same_on_ranks(states, paste("the levels of the status of", what), "; give all ranks factor(status, levels = )")
  as_utf8(states, "a level of the status")
}

stop_broken_surv <- function(what, why = "") {
  stop_data(sprintf("%s is a broken Surv object%s; recreate it by survival::Surv()", what, why), "y")
}

surv_columns <- function(type) {
  switch(type, counting = , mcounting = c("start", "stop", "status"), interval = c("time1", "time2", "status"),
         c("time", "status"))
}

# Surv() makes no such rows, but others may.
check_surv_rows <- function(m, type, what) {
  status <- m[, ncol(m)]
  known <- switch(type, right = , left = , counting = 0:1, interval = 0:3)
  wrong <- if (!is.null(known)) !status %in% known else status < 0 | status %% 1 != 0
  if (type %in% c("counting", "mcounting")) wrong <- wrong | m[, 1L] >= m[, 2L]
  if (type == "interval") wrong <- wrong | status == 3 & m[, 1L] > m[, 2L]
  if (any(wrong)) stop_broken_surv(what, paste(":", counted_rows(which(wrong), "wrong row")))
}

# Events are 1 where the largest number is 1, and 2 where it is 2, of the rows of all ranks. status: 0 and 1 as this
# rank read its rows; top: the largest number that it had, NULL where that is not known.
status_of_ranks <- function(status, top, what) {
  if (!any_rank(!is.null(top))) return(status)
  if (max(numbers_of_ranks(given_or(top, 0))) < 2 || given_or(top, 2) == 2 || length(status) == 0L) return(status)
  if (any(status == 0)) {
    stop_data(sprintf("%s has status 0 and 1 on one rank and 1 and 2 on another; code events alike", what), "y")
  }
  0 * status
}

# The times between which the time of a row lies: `label`, and `upper`, Inf for none. Where times can only be censored
# on the right also `event`, 0 or the number of the cause, and `entry`, where rows have one.
times_of_surv <- function(m, type, what) {
  type <- sub("^m", "", type)
  time <- as.double(m[, if (type == "counting") 2L else 1L])
  status <- m[, ncol(m)]
  of_event <- switch(type, right = , counting = list(time, ifelse(status > 0, time, Inf)))
  bounds <- given_or(of_event, switch(type,
    left = list(ifelse(status == 1, time, 0), time),
    interval = list(ifelse(status == 2, 0, time), ifelse(status == 0, Inf, ifelse(status == 3, m[, 2L], time)))
  ))
  ends <- cbind(bounds[[1L]], if (type == "interval") ifelse(status == 3, bounds[[2L]], 0),
                if (type == "counting") m[, 1L])
  infinite <- which(rowSums(!is.finite(ends)) > 0)
  if (length(infinite)) stop_data(sprintf("%s has %s", what, counted_rows(infinite, "infinite time")), "y")
  fields <- list(upper = as.double(bounds[[2L]]))
  if (!is.null(of_event)) fields$event <- as.double(status)
  if (type == "counting") fields$entry <- as.double(m[, 1L])
  new_times(as.double(bounds[[1L]]), fields)
}

# e, of encode_y(), with the fields that the objective needs. cause: the event that it is about, or NULL.
# trains: are these the rows to learn from? Others may have no events.
settle_times <- function(e, objective, what, cause = NULL, trains = TRUE) {
  if (!is.null(cause) && is.null(e$causes)) {
    stop_argument(sprintf(paste("`cause` needs several kinds of events: give %s as Surv(time, status) with a factor as",
                                "status, whose first level means censored"), what), "cause")
  }
  if (!is_surv_response(e$response)) {
    if (needs_events(objective)) {
      stop_data(sprintf(paste("objective \"%s\" needs to know which times are those of events: give %s as",
                              "survival::Surv(time, status)"), objective, what), "y")
    }
    return(e)
  }
  fields <- attr(e$value, "fields")
  if (!is_of_hazards(objective) && !is.null(e$strata)) stop_no_strata(objective)
  if (needs_events(objective)) {
    fields$event <- events_of_cause(fields$event, e$causes, cause, objective, what)
    if (is_of_subdistribution(objective) && (is.null(e$causes) || !is.null(fields$entry))) {
      stop_subdistribution(objective, what, !is.null(e$causes))
    }
    if (trains && !any_rank(any(fields$event == 1))) {
      if (length(e$causes) > 1L) stop_data(sprintf("%s has no event of cause \"%s\"", what, cause), "y")
      stop_data(paste(what, "has no event: all times are censored, so there is nothing to learn"), "y")
    }
    e$value <- new_times(e$value, fields[intersect(c("event", "entry", "stratum"), names(fields))])
  } else {
    check_positive_times(e$value, fields$upper, what)
    e$value <- new_times(e$value, fields["upper"])
  }
  e
}

stop_no_strata <- function(objective) {
  stop_argument(sprintf("objective \"%s\" cannot be combined with `strata`; use \"cox\", or make them a feature",
                        objective), "strata")
}

stop_subdistribution <- function(objective, what, has_causes) {
  if (has_causes) {
    stop_unsupported(sprintf(paste("objective \"%s\" does not support entry times, Surv(start, stop, status); use",
                                   "\"cox\" with `cause`"), objective), "y")
  }
  stop_argument(sprintf(paste("objective \"%s\" needs several kinds of events: give %s as Surv(time, status) with a",
                              "factor as status, whose first level means censored, and `cause`"), objective, what), "y")
}

# 1 for events of the cause, 0 for others: those of other causes are censored, or 2 where the objective uses them.
# causes: NULL for events of one kind.
events_of_cause <- function(event, causes, cause, objective, what) {
  if (is.null(causes)) return(event)
  if (is.null(cause) && length(causes) != 1L) {
    stop_argument(sprintf(paste("objective \"%s\" needs `cause`, the event whose hazard is modelled: %s has %s (the",
                                "first level of the status means censored); train a model for each"),
                          objective, what, enumerate(causes, quote = "\"")), "cause")
  }
  is_its <- event == if (is.null(cause)) 1 else number_of_cause(cause, causes, what)
  is_its + if (is_of_subdistribution(objective)) 2 * (event > 0 & !is_its) else 0
}

number_of_cause <- function(cause, causes, what) {
  if (!is_text(cause) || !cause %in% causes) {
    near <- if (is_text(cause)) suggest(cause, causes, "\"") else ""
    stop_argument(sprintf("`cause` must be one of the events of %s, %s, not %s%s", what,
                          enumerate(causes, quote = "\""), quote_value(cause), near), "cause")
  }
  match(cause, causes)
}

check_positive_times <- function(time, upper, what) {
  time <- as.double(time)
  low <- which(time < 0 | upper <= 0)
  if (length(low)) {
    stop_data(sprintf(paste("%s has %s; times of objective \"aft\" must be above 0 (leave such rows out, or give them",
                            "half of the least time above 0)"), what, counted_rows(low, "time of 0 or less")), "y")
  }
  zero <- which(time == 0 & upper == Inf)
  if (length(zero)) {
    stop_data(sprintf("%s has %s; leave such rows out, which say nothing", what,
                      counted_rows(zero, "time censored at 0")), "y")
  }
}

# The objective for such a response where none was named.
objective_of_surv <- function(response) if (response %in% times_of_hazards) "cox" else "aft"

times_of_hazards <- c("surv_right", "surv_counting", "surv_mright", "surv_mcounting")

# Other objectives do not know censored times, and these not all kinds.
check_surv_objective <- function(e, name) {
  if (!is_surv_response(e$response)) return(invisible())
  if (needs_events(name) && !e$response %in% times_of_hazards) {
    stop_data(sprintf(paste("objective \"%s\" takes times that are censored on the right, and the response is a Surv",
                            "object of type \"%s\"; use \"aft\""), name, sub("surv_", "", e$response)), "y")
  }
  if (objective_info(name)$response == "TIME" && !is.null(e$causes)) {
    stop_data(sprintf(paste("objective \"%s\" does not support several kinds of events; use \"cox\", or",
                            "Surv(time, status == \"%s\")"), name, e$causes[1L]), "y")
  }
  if (objective_info(name)$response == "TIME" && e$response == "surv_counting") {
    stop_data(sprintf("objective \"%s\" does not support entry times, Surv(start, stop, status); use \"cox\"", name),
              "y")
  }
  if (needs_events(name) || objective_info(name)$response == "TIME") return(invisible())
  stop_data(sprintf(paste("objective \"%s\" does not support censored times, and the response is a Surv object; use",
                          "\"cox\" or \"aft\""), name), "y")
}

# A validation set has times of the kind of the training data.
check_same_surv <- function(now, before, what) {
  if (identical(now, before) || !any(is_surv_response(c(now, before)))) return(invisible())
  kind <- function(response) {
    if (is_surv_response(response)) sprintf("a Surv object of type \"%s\"", sub("surv_", "", response)) else "numeric"
  }
  stop_data(sprintf("%s is %s, but was %s in the training data", what, kind(now), kind(before)), "y")
}

# A Surv object as plain values, and such an object of n rows again, see label_values().
surv_values <- function(y, kind) {
  m <- matrix(as.double(unclass(y)), nrow(unclass(y)), ncol(unclass(y)))
  m[, ncol(m)] <- status_of_ranks(m[, ncol(m)], attr(y, "top"), "the response")
  out <- list(kind = kind, value = as.vector(m), classes = attr(y, "states"))
  out$strata <- attr(y, "strata")
  out
}

surv_of_values <- function(x, n, bad) {
  type <- sub("surv_", "", x$kind)
  columns <- surv_columns(type)
  plain <- is.double(x$value) && is_plain(x$value) && is.null(names(x$value)) && length(x$value) == n * length(columns)
  if (!plain || anyNA(x$value)) bad()
  if (!is.null(x$classes) && (!startsWith(type, "m") || !is_texts(x$classes))) bad()
  strata <- x$strata
  good <- is.null(strata) || is.list(strata) && identical(names(strata), c("place", "levels", "names")) &&
    is.integer(strata$place) && is_plain(strata$place) && length(strata$place) == n && is_texts(strata$levels) &&
    !anyDuplicated(strata$levels) && all(strata$place %in% seq_along(strata$levels)) && is_texts(strata$names) &&
    length(strata$names) > 0L
  if (!good) bad()
  m <- matrix(x$value, n, length(columns), dimnames = list(NULL, columns))
  structure(m, type = type, states = x$classes, strata = strata, class = "Surv")
}

# Surv objects, one below the other.
join_surv <- function(parts) {
  types <- vapply(parts, function(y) if (inherits(y, "Surv")) as.character(attr(y, "type"))[1L] else NA_character_, "")
  if (anyNA(types) || length(unique(types)) > 1L) {
    stop_data("`label` must be Surv objects of one type in all chunks", "label")
  }
  states <- lapply(parts, attr, "states")
  other <- which(!vapply(states, identical, NA, states[[1L]]))
  if (length(other)) {
    stop_data(sprintf(paste("the status of `label` has other levels in chunk %d than in chunk 1; give all chunks",
                            "factor(status, levels = )"), other[1L]), "label")
  }
  out <- do.call(rbind, lapply(parts, function(y) matrix(as.double(unclass(y)), nrow(unclass(y)), ncol(unclass(y)))))
  dimnames(out) <- list(NULL, colnames(unclass(parts[[1L]])))
  structure(out, type = types[1L], states = attr(parts[[1L]], "states"), class = "Surv")
}

# Other data have strata as the training data have. strata: of encode_surv().
check_same_strata <- function(strata, stratified, what) {
  if (is.null(strata) == !isTRUE(stratified)) return(invisible())
  stop_argument(if (is.null(strata)) {
    sprintf("the training data have strata, and %s has none; give `strata`, a value for each row", what)
  } else {
    sprintf("%s has strata, and the training data have none; leave `strata` out", what)
  }, "strata")
}

# Strata without events have no hazard of their own and add nothing to a training. strata: of encode_surv().
inform_strata <- function(strata, event) {
  if (is.null(strata)) return(invisible())
  has <- all_ranks_have(strata$levels[unique(strata$place[event > 0])])
  none <- setdiff(strata$levels, has)
  if (length(none) == 0L || length(has) == 0L) return(invisible())
  say(sprintf("strata without events, from which nothing is learned: %s", enumerate(none, quote = "\"")))
}

# The number of rows, of all ranks, whose times are those of events; NULL where times cannot be censored.
count_events <- function(label) {
  fields <- other_fields_of_label(label)
  if (!any_rank(any(c("event", "upper") %in% names(fields)))) return(NULL)
  event <- if (is.null(fields$event)) as.double(label) == fields$upper else fields$event == 1
  sum_of_ranks(sum(event))
}

# Rows of a Surv object.
surv_rows <- function(y, rows) {
  m <- unclass(y)
  kept <- attributes(y)[setdiff(names(attributes(y)), c("dim", "dimnames", "class"))]
  out <- matrix(as.double(m), nrow(m), ncol(m), dimnames = list(NULL, colnames(m)))[rows, , drop = FALSE]
  if (!is.null(kept$strata)) kept$strata$place <- kept$strata$place[rows]
  attributes(out) <- c(attributes(out), kept, list(class = "Surv"))
  out
}
