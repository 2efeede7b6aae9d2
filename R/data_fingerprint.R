# Fingerprints of the response and of the columns of some rows: cheap, and other for other rows, or for the same in
# another order. What a cross-validation or a search was made of is known again by them.

label_print <- function(label) {
  others <- other_fields_of_label(label) # of times: their events and bounds
  m <- matrix_of_label(label)
  if (!is.null(m)) {
    m[is.na(m)] <- -1
    others <- lapply(seq_len(ncol(m))[-1L], function(j) m[, j])
    label <- m[, 1L]
  }
  label <- as.double(label)
  for (j in seq_along(others)) label <- label + (j + 0.618) * replace(others[[j]], others[[j]] == Inf, -1)
  place <- (seq_along(label) * 0.6180339887498949) %% 1
  c(length(label), sum(label), sum(label * place), sum(abs(label)))
}

# The same of the columns of a table in memory: a matrix with a column of four numbers for each. NULL for other data,
# and for columns that cannot be read (training reports them). Of values that are not finite only the positions count.
columns_print <- function(x) {
  if (!is.data.frame(x) && !is.matrix(x)) return(NULL)
  if (is.data.frame(x) && any(vapply(x, is.list, NA))) return(NULL)
  place <- (seq_len(n_rows_of(x)) * 0.6180339887498949) %% 1
  try_else({
    names <- feature_names(names_of_table(x), ncol(x))
    each <- lapply(seq_along(names), function(j) {
      column_print(if (is.data.frame(x)) .subset2(x, j) else matrix_column(x, j), place)
    })
    matrix(unlist(each), 4L, dimnames = list(NULL, names))
  }, function(e) NULL)
}

# Levels are numbered by their order as texts, since those of a factor may be in any order; the sum of all their bytes
# counts as well.
column_print <- function(v, place) {
  bytes <- 0
  if (has_levels(v)) {
    v <- if (is.factor(v)) enc2utf8(levels(v))[as.integer(v)] else enc2utf8(as.vector(v))
    texts <- distinct_texts(v)
    bytes <- sum(as.integer(charToRaw(paste(c("", texts), collapse = "\n"))))
    v <- match(v, texts, incomparables = NA)
  }
  v <- order_numbers(v)
  odd <- !is.finite(v)
  if (any(odd)) v[odd] <- 0
  c(sum(odd) + sum(place[odd]) + bytes, sum(v), sum(v * place), sum(abs(v)))
}

# As print_differs(), of columns.
columns_differ <- function(a, b) {
  if (is.null(a) || is.null(b)) return(NULL)
  absent <- setdiff(colnames(a), colnames(b))
  if (length(absent)) return(sprintf("have no column `%s` now", absent[1L]))
  more <- setdiff(colnames(b), colnames(a))
  if (length(more)) return(sprintf("have a column `%s` that was not there", more[1L]))
  b <- b[, colnames(a), drop = FALSE]
  size <- rbind(a[1L, ], matrix(a[4L, ] + b[4L, ], 3L, ncol(a), byrow = TRUE))
  same <- a == b | abs(a - b) <= 1e-13 * size # long sums differ a little from one kind of processor to another
  other <- colnames(a)[colSums(!same, na.rm = TRUE) > 0]
  if (length(other)) sprintf("have other values in %s", enumerate(other))
}

# The text about rows that differ from those of before; NULL when they are. a: of before, or NULL. Sums of doubles may
# differ in their last digits from machine to machine: those of the terms, as a centred response has a sum of 0.
print_differs <- function(a, b) {
  if (is.null(a)) return(NULL)
  if (a[1L] != b[1L]) return(sprintf("have %s now and had %.0f", counted(b[1L], "row"), a[1L]))
  same <- abs(a - b) <= 1e-9 * (a[4L] + b[4L])
  if (isTRUE(all(same))) return(NULL)
  if (isTRUE(same[2L] && same[4L])) "have the same responses in another order" else "have other responses"
}
