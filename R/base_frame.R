# Columns of tables: data frames, matrices and sparse matrices.

list_frame <- function(values, n_rows) {
  structure(values, class = "data.frame", row.names = .set_row_names(n_rows))
}

columns_at <- function(data, places, names = attr(data, "names")[places]) {
  columns <- lapply(places, function(j) .subset2(data, j))
  list_frame(stats::setNames(columns, names), .row_names_info(data, 2L))
}

# Columns by name, without copying them.
pick_columns <- function(data, names) {
  columns_at(data, match(names, names(data)), names)
}

# NULL where columns have no names.
names_of_table <- function(x) if (length(dim(x)) == 2L && !is.data.frame(x)) colnames(x) else names(x)

# Of a table in memory; NULL for other data.
columns_known <- function(data) if (length(dim(data)) == 2L) names_of_table(data)

# A column of a table by its name; NULL where it has none of this name.
column_of <- function(x, name) {
  if (is.data.frame(x)) {
    at <- match(name, names(x))
    return(if (!is.na(at)) .subset2(x, at))
  }
  at <- match(name, colnames(x))
  if (is.na(at)) return(NULL)
  if (isS4(x)) as.double(x[, at]) else matrix_column(x, at)
}

# The table without that column.
without_column <- function(x, name) {
  if (is.data.frame(x)) pick_columns(x, setdiff(names(x), name)) else x[, colnames(x) != name, drop = FALSE]
}

# Whatever class the matrix has. TRUE for the rows would be too long where there are none.
matrix_column <- function(x, j) .subset(x, seq_len(nrow(x)), j)

# Row names that the user gave: texts. Numbers of rows are none.
row_labels <- function(x) {
  if (is.data.frame(x)) return(if (is.character(attr(x, "row.names"))) attr(x, "row.names"))
  if (inherits(x, "ArrowTabular")) return(NULL) # they are numbers
  if (isS4(x)) x@Dimnames[[1L]] else rownames(x)
}

# A row of a table as a list: much cheaper than a data frame of one row.
table_row <- function(table, i) lapply(table, .subset2, i)

# The same data with other values in some columns, a list by name; of a sparse matrix all entries of such a column are
# there, zeros too.
with_columns <- function(x, values) {
  if (!isS4(x)) {
    n <- .row_names_info(x, 2L)
    x <- unclass(x)
    x[match(names(values), names(x))] <- values
    return(list_frame(x, n))
  }
  for (name in names(values)) x <- with_entries(x, name, seq_len(nrow(x)) - 1L, as.double(values[[name]]))
  x
}

# A sparse matrix whose column has these entries.
with_entries <- function(x, name, rows, values) {
  j <- match(name, colnames(x))
  beg <- x@p[j]
  end <- x@p[j + 1L]
  before <- seq_len(beg)
  later <- end + seq_len(length(x@i) - end)
  after <- seq_along(x@p) > j
  x@i <- c(x@i[before], rows, x@i[later])
  x@x <- c(x@x[before], values, x@x[later])
  x@p[after] <- x@p[after] + length(rows) - (end - beg)
  x@factors <- list()
  x
}

# as.data.frame() of tables that have a class and attributes of their own.
plain_table <- function(x, row.names = NULL, optional = FALSE, ...) {
  list_frame(as.list(unclass(x))[names(x)], .row_names_info(x, 2L))
}

# A response or an offset may be a table of package arrow.
drop_frame <- function(x) if (inherits(x, "ArrowTabular")) as.data.frame(x) else x
