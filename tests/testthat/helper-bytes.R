# Those of testthat write each expression as text and look for differences part by part, also where there are none. Here
# they are called only where there is one, and say what they always say.
expect_identical <- function(object, expected, ..., label = NULL, expected.label = NULL) {
  if (identical(object, expected)) return(succeed_with(object))
  testthat::expect_identical(object, expected, ..., label = given_label(label, substitute(object)),
                             expected.label = given_label(expected.label, substitute(expected)))
}
expect_true <- function(object, ..., label = NULL) {
  if (identical(object, TRUE)) return(succeed_with(object))
  testthat::expect_true(object, ..., label = given_label(label, substitute(object)))
}
expect_false <- function(object, ..., label = NULL) {
  if (identical(object, FALSE)) return(succeed_with(object))
  testthat::expect_false(object, ..., label = given_label(label, substitute(object)))
}
succeed_with <- function(object) {
  testthat::succeed()
  invisible(object)
}
given_label <- function(label, expr) if (is.null(label)) paste(deparse(expr), collapse = "\n") else label

# Models are compared by their bytes; what differs would fill pages.
expect_same_bytes <- function(a, b) {
  if (is.raw(a) && identical(a, b)) return(succeed_with(a))
  expect_type(a, "raw")
  expect_true(identical(a, b))
}

bytes_of_file <- function(file) readBin(file, "raw", file.size(file))
files_of <- function(folder) list.files(folder, all.files = TRUE, no.. = TRUE)

# Training makes no trees whose leaves hold a value for every class; vectors.bin is model_seed(13) of tests/native.
vectors <- function() {
  state <- readBin(test_path("vectors.bin"), "raw", 1e5)
  fields <- list(classes = c("a", "b", "c"), response = "factor", params = list(num_parallel_tree = 1),
                 has_offset = FALSE)
  gbt_model_from_state(.Call(C_gbt_model_slice, state, c(0, 2), model_meta(fields)))
}

# Whether tests take all cases: `sh tools/test long`. Sweeps that campaigns or other tests make as well are short else.
long_form <- function() Sys.getenv("GBT_TEST_FORM") == "long"
# Of such cases: one in n, the first among them, or all in the long form.
every <- function(cases, n) if (long_form()) cases else cases[seq_along(cases) %% n == 1L %% n]
