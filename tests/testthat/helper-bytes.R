# Models are compared by their bytes; what differs would fill pages.
expect_same_bytes <- function(a, b) {
  expect_type(a, "raw")
  expect_true(identical(a, b))
}
