# Gains of labels for ranking: `label_gain`, numbers for the labels 0, 1, 2, and so on.

# As plain numbers; NULL where none are given. Those of a model to go on from are used where none are.
read_label_gain <- function(args, objective, param) {
  gain <- args$value[["label_gain"]]
  if (is.null(gain)) return(param_to_go_on(args, "label_gain", objective))
  typed <- param_text("label_gain", args$typed[["label_gain"]])
  if (!is_of_queries(objective)) {
    stop_argument(sprintf("%s is for ranking objectives, and the objective is \"%s\"", typed, objective),
                  "label_gain")
  }
  if (isTRUE(param$rank_linear_gain == 1)) {
    stop_argument(sprintf("%s and `rank_linear_gain = TRUE` both say what gains are; leave one of them out", typed),
                  "label_gain")
  }
  gain <- split_numbers(gain)
  ok <- is.numeric(gain) && is.null(dim(gain)) && length(gain) >= 2L && all(is.finite(gain))
  if (!ok || gain[1L] < 0) {
    stop_argument(sprintf("%s must be numbers of 0 or more for the labels 0, 1, 2, and so on", typed), "label_gain")
  }
  falls <- which(diff(gain) < 0)
  if (length(falls)) {
    stop_argument(sprintf("%s must not decrease, but that of label %d is %s and that of label %d is %s", typed,
                          falls[1L] - 1L, format(gain[falls[1L]]), falls[1L], format(gain[falls[1L] + 1L])),
                  "label_gain")
  }
  as.double(unname(gain))
}

# Labels with their gains, or as they are.
with_gains <- function(label, gain, what) {
  if (is.null(gain)) return(label)
  wrong <- which(!label %in% (seq_along(gain) - 1))
  if (length(wrong)) {
    stop_data(sprintf("%s is %s in row %d, but `label_gain` has gains of the labels 0 to %d; add those of higher ones",
                      what, format(label[wrong[1L]]), wrong[1L], length(gain) - 1L), "label_gain")
  }
  new_times(label, list(gain = gain[label + 1]))
}

# For functions of the user's.
without_gains <- function(label) {
  if (is.null(attr(label, "fields")$gain)) label else as.double(label)
}
