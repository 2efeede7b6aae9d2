# Surv() in the response of a formula. Without package survival attached it means survival::Surv(), and without the
# package a function of our own that makes the same object. It is known in no other place of a formula.

is_surv_call <- function(e) is.call(e) && any(vapply(surv_names, identical, NA, e[[1L]]))

surv_names <- list(quote(Surv), quote(survival::Surv))

# The value of an expression of a formula; from: where the formula was written, whose own Surv() comes first. Ranks take
# the function of our own, which says how events were coded: see status_of_ranks().
eval_with_surv <- function(e, data, from) {
  if (is_columns_call(e, from)) return(columns_of_call(e, function(part) eval(part, data, from)))
  if (!is_surv_call(e)) return(eval(e, data, from))
  written <- if (is.name(e[[1L]])) get0("Surv", from, mode = "function")
  if (!is.null(written) && !identical(written, known_surv())) return(eval(e, data, from))
  e[[1L]] <- quote(Surv)
  eval(e, data, list2env(list(Surv = if (is.null(ranks_here())) known_surv() else own_surv), parent = from))
}

known_surv <- function() if (requireNamespace("survival", quietly = TRUE)) survival::Surv else own_surv

# The arguments of survival::Surv().
own_surv <- function(time, time2, event, type, origin = 0) {
  values <- list(time = if (!missing(time)) time, time2 = if (!missing(time2)) time2,
                 event = if (!missing(event)) event)
  given <- !vapply(values, is.null, NA)
  if (!given[["time"]]) stop_data("Surv() needs times", "y")
  types <- c("right", "left", "interval", "counting", "interval2", "mstate")
  type <- if (!missing(type)) match_choice(type, types, "type")
  states <- identical(type, "mstate")
  if (is.null(type) || states) type <- if (all(given)) "counting" else "right"
  check_surv_arguments(values, type)
  one_time <- type %in% c("right", "left")
  status <- if (sum(given) == 1L) rep(1, length(values$time)) else
    if (one_time && !given[["event"]]) values$time2 else values$event
  if (states) status <- as.factor(status)
  times <- lapply(values[c("time", "time2"[!one_time])], function(v) as.double(unclass(v)) - origin)
  out <- switch(type, interval = surv_of_interval(times$time, times$time2, status),
                interval2 = surv_of_bounds(times$time, times$time2),
                counting = surv_of_events(list(start = times$time, stop = times$time2), status, "counting"),
                surv_of_events(list(time = times$time), status, type))
  structure(out, class = "Surv")
}

# values: `time`, `time2` and `event`, NULL where not given.
check_surv_arguments <- function(values, type) {
  given <- names(Filter(Negate(is.null), values))
  wanted <- if (type %in% c("interval", "counting")) 3L else if (type == "interval2") 2L
  if (!is.null(wanted) && length(given) != wanted || length(given) > 2L && type %in% c("right", "left")) {
    stop_data(sprintf("Surv() of type \"%s\" takes %s", type, switch(type, interval2 = "`time` and `time2`",
                                                                      right = , left = "`time` and `event`",
                                                                      "`time`, `time2` and `event`")), "y")
  }
  of_times <- if (type %in% c("right", "left")) "time" else c("time", "time2")
  for (name in intersect(of_times, given)) {
    if (!is.numeric(values[[name]]) && !inherits(values[[name]], "difftime")) {
      stop_data(sprintf("`%s` of Surv() must be numbers, not %s", name, describe(values[[name]])), "y")
    }
  }
  n <- lengths(values[given])
  if (any(n != n[1L])) {
    stop_data(sprintf("`%s` of Surv() has %s, but `time` has %d", given[n != n[1L]][1L],
                      counted(n[n != n[1L]][1L], "value"), n[1L]), "y")
  }
}

# Times that may be censored on the right (or on the left), with 0 and 1, or a factor whose first level is censored.
surv_of_events <- function(times, status, type) {
  if (type == "counting") times$start[which(times$start >= times$stop)] <- NA
  if (is.factor(status)) {
    m <- do.call(cbind, c(times, list(status = as.numeric(status) - 1)))
    return(structure(m, type = if (type == "counting") "mcounting" else "mright", states = levels(status)[-1L]))
  }
  m <- structure(do.call(cbind, c(times, list(status = zero_one_status(status)))), type = type)
  if (is.numeric(status) && !is.null(ranks_here())) attr(m, "top") <- max(0, status, na.rm = TRUE)
  m
}

zero_one_status <- function(status) {
  if (is.logical(status)) return(as.double(status))
  if (!is.numeric(status)) {
    stop_data(sprintf(paste("the status of Surv() must be 0 or 1, 1 or 2, logical values or a factor whose first level",
                            "means censored, not %s"), describe(status)), "y")
  }
  status <- as.double(status)
  top <- max(0, status, na.rm = TRUE)
  if (top == 2) status <- status - 1
  known_status(status, c(0, 1), "0 or 1, or 1 or 2")
}

# The status with other values as missing ones, which an error names with their row if the row is used.
known_status <- function(status, values, text) {
  wrong <- which(!is.na(status) & !status %in% values)
  if (length(wrong)) {
    warn_gbt("data", sprintf("the status of Surv() must be %s; it has %s, which count as missing", text,
                             counted_rows(wrong, "other value")))
    status[wrong] <- NA
  }
  status
}

surv_of_interval <- function(time, time2, status) {
  if (!is.numeric(status)) {
    stop_data(sprintf("the status of Surv() of type \"interval\" must be 0, 1, 2 or 3, not %s", describe(status)), "y")
  }
  status <- known_status(as.double(status), 0:3, "0, 1, 2 or 3 for type \"interval\"")
  status[which(status == 3 & time > time2)] <- NA
  of_intervals(time, time2, status)
}

# Intervals by their ends, of which one may be missing or infinite, for no end.
surv_of_bounds <- function(time, time2) {
  time[!is.finite(time)] <- NA
  time2[!is.finite(time2)] <- NA
  status <- ifelse(is.na(time), 2, ifelse(is.na(time2), 0, ifelse(time == time2, 1, 3)))
  status[which(time > time2 | is.na(time) & is.na(time2))] <- NA
  of_intervals(ifelse(is.na(time), time2, time), time2, status)
}

of_intervals <- function(time, time2, status) {
  structure(cbind(time1 = time, time2 = ifelse(status %in% 3, time2, 1), status = status), type = "interval")
}

# Responses of sources of rows --------------------------------------------------------------------------------------

are_label_names <- function(y) are_names(y) && length(y) %in% 1:3

# The columns of a source that make the response: list(columns = their names, response = see new_source()). y: the name
# of a column, those of the arguments of Surv(), or a call of it; columns: the names that the source has; from: where
# the call was written.
label_role <- function(y, columns = y, from = baseenv()) {
  force(columns)
  if (is.character(y) && length(y) > 1L) y <- as.call(c(quote(Surv), lapply(y, as.name)))
  if (!is.call(y)) return(list(columns = y, response = NULL))
  list(columns = intersect(variables_of(list(y)), columns),
       response = function(rows) {
         try_else(eval_with_surv(y, rows, from), function(problem) {
           stop_data(sprintf("`%s` cannot be evaluated: %s", expression_text(y), conditionMessage(problem)), "label")
         })
       })
}
