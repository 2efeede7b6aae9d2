# Columns that are probably there by mistake: a copy of the response, and texts that are different in every row.

# source: of rows_of_source(), whose `x` is looked at, if it has one; response: of encode_response(). With ranks what is
# said holds for the rows of all ranks.
warn_suspects <- function(source, response) {
  x <- source$x
  plain <- is.data.frame(x) || (is.matrix(x) && !is.object(x))
  looked_at <- plain && length(dim(x)) == 2L && ncol(x) >= 2L
  n <- sum_of_ranks(length(response$label))
  several <- n >= 2 && !all_same(numbers_of_label(response$label))
  m <- matrix_of_label(response$label)
  seen <- if (!is.null(m)) which(!columns_gone(m))
  copies <- on_all_ranks(if (looked_at && several) copies_of_response(x, response, seen))
  if (length(copies)) {
    one <- length(copies) == 1L
    of <- if (is.null(m)) "the response" else if (one) "a column of the response" else "columns of the response"
    warn_gbt("column", sprintf(paste("%s %s %s of %s, so the model learns nothing else%s; leave %s out of the",
                                     "predictors"), if (one) "column" else "columns", enumerate(copies),
                               if (one) "is a copy" else "are copies", of,
                               if (is.null(m)) "" else if (one) " about that" else " about those",
                               if (one) "it" else "them"), column = copies[1L])
  }
  single <- if (looked_at && is.data.frame(x) && n >= fewest_levels) {
    names(x)[vapply(seq_along(x), function(j) is_identifier(.subset2(x, j)), NA)]
  }
  single <- on_all_ranks(single)
  if (!is.null(ranks_here())) {
    single <- Filter(function(name) length(all_ranks_have(as.character(x[[name]]))) == n, single)
  }
  if (length(single)) {
    warn_gbt("column", sprintf(paste("every row has its own level in %s, so its levels say nothing of new rows; leave",
                                     "it out of the predictors"), enumerate(single)), column = single[1L])
  }
}

# Those of these names that all ranks have, in the order of the first rank.
on_all_ranks <- function(names) {
  Reduce(intersect, lapply(gather_ranks(list(names = as.character(names))), `[[`, "names"))
}

fewest_levels <- 50L # of an identifier; in fewer rows levels may well be different by chance

# Whether rows have different texts or levels. The first rows mostly answer it.
is_identifier <- function(v) {
  if (!is.character(v) && !(is.factor(v) && !is.ordered(v))) return(FALSE)
  if (is.factor(v) && nlevels(v) < length(v)) return(FALSE)
  !anyDuplicated(v[seq_len(min(fewest_levels, length(v)))]) && !anyNA(v) && !anyDuplicated(v)
}

# Names of the columns that are the response, value by value. seen: columns of the response that some row has. A rank
# without rows has nothing against any.
copies_of_response <- function(x, response, seen = NULL) {
  m <- matrix_of_label(response$label)
  if (!is.null(m)) {
    return(unique(unlist(lapply(seen, function(j) {
      there <- !is.na(m[, j])
      own <- if (all(there)) x else x[there, , drop = FALSE]
      copies_of_response(own, list(label = m[there, j]))
    }))))
  }
  label <- response$label
  n <- length(label)
  value <- if (is.null(response$classes)) label else response$classes[label + 1]
  some <- unique(round(seq(1, n, length.out = 10)))
  switched <- identical(response$classes, c("FALSE", "TRUE"))
  same <- function(v, value) {
    alike <- is.numeric(v) || is.character(value) && (is.character(v) || is.factor(v) || is.logical(v))
    if (!alike || is.object(v) && !is.factor(v) || length(dim(v)) > 1L) return(FALSE)
    if (switched && is.numeric(v)) v <- ifelse(v == 0, "FALSE", ifelse(v == 1, "TRUE", "other"))
    if (is.character(value)) v <- as.character(v)
    !anyNA(v) && all(v == value)
  }
  column <- function(j, rows) {
    if (!is.data.frame(x)) return(.subset(x, rows, j))
    v <- .subset2(x, j)
    if (is.atomic(v) && length(v) == n && (!is.object(v) || is.factor(v))) v[rows] # others are refused later
  }
  is_copy <- function(j) same(column(j, some), value[some]) && same(column(j, seq_len(n)), value)
  names <- given_or(names_of_table(x), feature_names(NULL, ncol(x)))
  if (n == 0L) names else names[vapply(seq_along(names), is_copy, NA)]
}
