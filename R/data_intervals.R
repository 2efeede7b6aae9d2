# Intervals of time, for objective "hazard": `breaks`, the ends of the intervals (0, b1], (b1, b2], and so on; there are
# two at least, so that one number is their number.

most_breaks <- 1000L

# `breaks` as given: ends of intervals, or their number, one whole number; NULL: not given, nor by a model to
# go on from.
read_breaks <- function(args, objective) {
  breaks <- args$value[["breaks"]]
  if (is.null(breaks)) return(param_to_go_on(args, "breaks", objective))
  typed <- param_text("breaks", args$typed[["breaks"]])
  if (!is_of_intervals(objective)) {
    stop_argument(sprintf(paste("%s is a parameter of objective \"hazard\", but the objective is \"%s\"; give",
                                "objective = \"hazard\""), typed, objective), "breaks")
  }
  given <- breaks
  breaks <- split_numbers(breaks)
  plain <- is.numeric(breaks) && !is.object(breaks) && is.null(dim(breaks)) && length(breaks) > 0L
  if (!plain || !all(is.finite(breaks))) {
    stop_argument(sprintf(paste("%s must be the ends of the time intervals, such as c(30, 90, 365), or their number,",
                                "one whole number, not %s"), typed, quote_value(given)), "breaks")
  }
  breaks <- as.double(unname(breaks))
  if (length(breaks) == 1L) {
    if (breaks %in% 2:most_breaks) return(as.integer(breaks))
    stop_argument(sprintf("%s is one number, so it is the number of intervals: it must be from 2 to %d, not %s",
                          typed, most_breaks, format_number(breaks)), "breaks")
  }
  if (breaks[1L] == 0 && length(breaks) > 2L) breaks <- breaks[-1L] # where the first interval begins
  wrong <- which(breaks <= c(0, breaks[-length(breaks)]))
  if (length(wrong)) {
    stop_argument(sprintf("%s must be above 0 and in ascending order, and number %d is %s", typed, wrong[1L],
                          format_number(breaks[wrong[1L]])), "breaks")
  }
  if (length(breaks) > most_breaks) {
    stop_argument(sprintf("%s can have at most %d ends of intervals, not %d", typed, most_breaks, length(breaks)),
                  "breaks")
  }
  breaks
}

# The ends of the intervals. breaks: of read_breaks(). label: with its events. Those that are not given are quantiles of
# the times of events, of all ranks, the last one being the last event.
settle_breaks <- function(breaks, label) {
  if (is.double(breaks)) return(breaks)
  if (isTRUE(breaks > 50L)) {
    say(sprintf(paste("`breaks = %d` is one number, so it is the number of intervals; ends of intervals are several",
                      "numbers, such as `breaks = c(30, 90, %d)`"), breaks, max(breaks, 91L)))
  }
  n <- given_or(breaks, 10L)
  event <- other_fields_of_label(label)$event == 1
  times <- numbers_of_rows(as.double(label)[event])
  times <- sort(times[times > 0])
  if (length(times) == 0L) {
    stop_data("all events are at time 0, so there are no intervals between them; give `breaks`", "y")
  }
  if (times[1L] == times[length(times)]) {
    stop_data(sprintf(paste("all events above 0 are at time %s, and at least two intervals are needed; give `breaks`,",
                            "or use objective \"logistic\""), format_number(times[1L])), "y")
  }
  unique(times[ceiling(seq_len(n) * as.double(length(times)) / n)]) # stats::quantile(type = 1); whole where it must be
}

# Are these the ends of n intervals, as a model has them?
are_breaks <- function(x, n) {
  is.double(x) && is_plain(x) && length(x) == n && all(is.finite(x)) && all(diff(c(0, x)) > 0)
}

# "(0,30]", "(30,90]": names of outputs.
interval_labels <- function(breaks) {
  ends <- vapply(breaks, format, "", digits = 7L, trim = TRUE)
  if (anyDuplicated(ends)) ends <- vapply(breaks, format, "", digits = 15L, trim = TRUE)
  sprintf("(%s,%s]", c("0", ends[-length(ends)]), ends)
}

# log(1 + exp(x))
softplus <- function(x) ifelse(x > 0, x, 0) + log1p(exp(-abs(x)))
