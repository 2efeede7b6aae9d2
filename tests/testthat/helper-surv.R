# Times of events for tests.

# A Surv object without package survival: gbt reads only the class and the attributes. start: entry times; a factor as
# status has causes, and "censored" as its first level.
surv <- function(time, status, start = NULL) {
  causes <- is.factor(status)
  m <- cbind(start = start, time = time, status = as.numeric(status) - causes)
  type <- paste0(if (causes) "m", if (is.null(start)) "right" else "counting")
  structure(m, type = type, states = if (causes) levels(status)[-1L], class = "Surv")
}
