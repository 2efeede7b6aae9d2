# Curves of models of several outputs: of a response of several columns one for each.

# known: predictions, label: of new_columns(). Rows without a value of a column weigh 0 there. class: a column, or NULL
# for all.
column_series <- function(known, label, weight, class) {
  m <- matrix_of_label(label)
  names <- colnames(m)
  k <- if (!is.null(class)) match(match_name(as.character(class), names, "class"), names)
  check_columns_filled(m[, given_or(k, seq_along(names)), drop = FALSE],
                       paste0("has no curve", if (is.null(k)) "; name another column as `class`"))
  absent <- is.na(m)
  m[absent] <- 0
  weigh <- function(k) {
    out <- (!absent[, k]) * given_or(weight, 1)
    if (all(out == 0)) {
      stop_data(sprintf("`weights` are 0 in all rows that have a value of column `%s` of the response", names[k]),
                names[k])
    }
    out
  }
  if (!is.null(k)) {
    return(list(observed = m[, k], predicted = known[, k], of = c(column = names[k]), weight = weigh(k)))
  }
  each <- stats::setNames(seq_along(names), names)
  list(observed = lapply(each, function(k) m[, k]), predicted = lapply(each, function(k) known[, k]),
       series = "column", weight = lapply(each, weigh))
}

refuse_outputs_of_curve <- function(model) {
  if (!is.null(levels_of(model))) {
    stop_unsupported(paste("a curve of this type takes one prediction for each row, and the model has several",
                           "quantiles; type = \"pit\" compares them with what was observed"), "model")
  }
  stop_unsupported("gbt_curve() needs one output; the model has several", "model")
}
