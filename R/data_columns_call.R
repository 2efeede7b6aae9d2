# cbind() in the response of a formula: a response of several columns (R/data_columns.R).

# Is the expression a call of R's cbind()? from: where the formula was written, NULL where that is not known.
is_columns_call <- function(e, from = NULL) {
  if (!is.call(e) || !identical(e[[1L]], quote(cbind))) return(FALSE)
  is.null(from) || identical(get0("cbind", from, mode = "function"), cbind)
}

# Its arguments as columns of a data frame, under their names or as they are written. value: a function that evaluates
# an argument.
columns_of_call <- function(e, value, ...) {
  parts <- as.list(e)[-1L]
  labels <- given_or(names(parts), rep("", length(parts)))
  labels <- ifelse(labels == "", vapply(parts, expression_text, ""), labels)
  columns <- unlist_once(Map(columns_of_value, lapply(unname(parts), value, ...), labels))
  n <- lengths(columns)
  if (length(n) == 0L || any(n != n[1L])) {
    stop_data(sprintf("cbind() in the response has columns of %s values", enumerate(unique(n), quote = "")), "y")
  }
  list_frame(columns, n[[1L]])
}

columns_of_value <- function(v, label) {
  if (!is.data.frame(v) && length(dim(v)) != 2L) return(stats::setNames(list(v), label))
  names <- paste0(label, ".", given_or(colnames(v), seq_len(ncol(v))))
  stats::setNames(lapply(seq_len(ncol(v)), function(j) if (is.data.frame(v)) .subset2(v, j) else v[, j]), names)
}
