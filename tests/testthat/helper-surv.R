# Times of events for tests.

# A Surv object without package survival: gbt reads only the class and the attributes.
surv <- function(time, status, start = NULL) {
  m <- cbind(start = start, time = time, status = status)
  structure(m, type = if (is.null(start)) "right" else "counting", class = "Surv")
}
