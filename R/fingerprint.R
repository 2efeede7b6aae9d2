# A fingerprint of the response of some rows: cheap, and other for other rows, or for the same in another order. What a
# cross-validation or a search was made of is known again by it.

label_print <- function(label) {
  place <- (seq_along(label) * 0.6180339887498949) %% 1
  c(length(label), sum(label), sum(label * place))
}

# Sums of doubles may differ in their last digits from machine to machine.
same_print <- function(a, b) {
  is.null(a) || is.null(b) || isTRUE(all(abs(a - b) <= 1e-9 * (abs(a) + abs(b)) + 1e-300))
}

# What is told of rows that are not those of before; NULL when they are. a: of before.
print_differs <- function(a, b) {
  if (same_print(a, b)) return(NULL)
  if (a[1L] != b[1L]) return(sprintf("have %s now and had %.0f", counted(b[1L], "row"), a[1L]))
  if (same_print(a[2L], b[2L])) "have the same responses in another order" else "have other responses"
}
