# A fingerprint of the response of some rows: cheap, and other for other rows, or for the same in another order. What a
# cross-validation or a search was made of is known again by it.

label_print <- function(label) {
  place <- (seq_along(label) * 0.6180339887498949) %% 1
  c(length(label), sum(label), sum(label * place), sum(abs(label)))
}

# What is told of rows that are not those of before; NULL when they are. a: of before, or NULL. Sums of doubles may
# differ in their last digits from machine to machine: those of the terms, as a centred response has a sum of 0.
print_differs <- function(a, b) {
  if (is.null(a)) return(NULL)
  if (a[1L] != b[1L]) return(sprintf("have %s now and had %.0f", counted(b[1L], "row"), a[1L]))
  same <- abs(a - b) <= 1e-9 * (a[4L] + b[4L])
  if (isTRUE(all(same))) return(NULL)
  if (isTRUE(same[2L] && same[4L])) "have the same responses in another order" else "have other responses"
}

# label: the response of rows that are to be those of a cross-validation.
check_rows_of_cv <- function(cv, label) {
  differs <- print_differs(cv$rows, label_print(label))
  if (!is.null(differs)) {
    stop_data(sprintf("these are not the rows of the cross-validation: they %s; give its data, in the same order",
                      differs), "data")
  }
}
