# Models are compared by their bytes; what differs would fill pages.
expect_same_bytes <- function(a, b) {
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
