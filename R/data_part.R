# The rows of this rank among those that all ranks were given: gbt_ranks(share = "split").

# Rows and what belongs to them, where all ranks were given the same: those of this rank. x: a table; fields: named list
# of vectors or matrices with a value or row for each of its rows, NULL and names of columns as they are.
part_of_table <- function(x, fields) {
  n <- n_rows_of(x)
  check_same_on_ranks(format_number(n), "the number of rows",
                      "; with `share = \"split\"` give all ranks the same rows")
  rows <- own_run(n, fields$group)
  list(x = subset_rows(x, rows), fields = part_of_fields(fields, n, rows))
}

# n: rows of all ranks; rows: the numbers of this rank's.
part_of_fields <- function(fields, n, rows) {
  for (name in names(fields)) {
    v <- fields[[name]]
    if (is.null(v) || is_column_name(v) && n != 1) next
    if (NROW(v) != n) {
      stop_argument(sprintf("%s has %s for %s; with `share = \"split\"` give those of all rows",
                            if (name == "y") "the response" else sprintf("`%s`", name), counted(NROW(v), "value"),
                            counted(n, "row")), name)
    }
    fields[[name]] <- subset_rows(v, rows)
  }
  fields
}
