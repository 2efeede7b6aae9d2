# Values that nobody should give. One of each kind that has ever gone through a check or broken one.

odd_values <- function() {
  setClass("Odd", representation(a = "numeric"), where = globalenv())
  lt <- as.POSIXlt("2020-01-01", tz = "UTC")
  lying <- structure(list(), class = "lying") # says that it is long
  registerS3method("length", "lying", function(x) 5L, asNamespace("base"))
  no_text <- structure(list(1), class = "no_text") # cannot be shown
  registerS3method("format", "no_text", function(x, ...) stop("it cannot be shown"), asNamespace("base"))
  registerS3method("as.character", "no_text", function(x, ...) stop("it is no text"), asNamespace("base"))
  deep <- list(1)
  for (i in 1:60) deep <- list(deep)
  list(
    null = NULL, na = NA, na_real = NA_real_, na_integer = NA_integer_, na_text = NA_character_, nan = NaN,
    true = TRUE, false = FALSE, zero = 0, minus_one = -1, half = 0.5, one = 1L, many = 2^31, huge = 1e300, inf = Inf,
    minus_inf = -Inf, tiny = 5e-324, complex = 1i, raw = as.raw(1), empty_text = "", text = "a", blank = " ",
    bad_text = "a\xff", odd_text = "\uffff", bytes = `Encoding<-`("a\xff", "bytes"), long_text = strrep("long", 25000),
    percent = "%s%n%d", tilde = "y ~ x", no_numbers = numeric(0), no_texts = character(0), no_list = list(),
    two = c(1, 2), many_texts = letters, named = c(a = 1), list_one = list(1), nested = list(list(1, "a"), NULL),
    named_list = list(a = 1, b = "c"), unnamed_part = list(a = 1, 2), deep = deep,
    fun = function(...) NULL, primitive = sum, closure_0 = function() 1, failing = function(...) stop("it fails"),
    env = new.env(), empty_env = emptyenv(), s4 = methods::new("Odd", a = 1), pointer = methods::new("externalptr"),
    name = quote(a), call = quote(f(x)), formula = y ~ x, one_sided = ~x, expression = expression(a, b),
    factor = factor("a"), no_levels = factor(character(0)),
    broken_factor = structure(3L, levels = "a", class = "factor"),
    date = as.Date("2020-01-01"), time = as.POSIXct(0, origin = "1970-01-01", tz = "UTC"), time_lt = lt,
    span = as.difftime(1, units = "mins"), version = numeric_version("1.2"), int64 = structure(1, class = "integer64"),
    matrix = matrix(1:4, 2), array = array(1, c(1, 1, 1)), no_rows = matrix(0, 0, 2), no_columns = matrix(0, 2, 0),
    frame = data.frame(a = 1:2), no_frame = data.frame(),
    broken_frame = structure(list(a = 1:2, b = 1), class = "data.frame"),
    as_is = I(1), table = table(c(1, 1, 2)), ts = stats::ts(1:3), pairs = pairlist(a = 1), dots = as.name("..."),
    fake_model = structure(list(), class = "gbt"), fake_state = structure(list(state = as.raw(1:9)), class = "gbt"),
    fake_data = structure(list(), class = "gbt_data"), fake_metric = structure(list(name = "a"), class = "gbt_metric"),
    fake_importance = structure(list(), class = c("gbt_importance", "data.frame")),
    lying = lying, no_text = no_text, text_matrix = matrix("a", 1, 1), flag_matrix = matrix(TRUE, 1, 1),
    list_matrix = matrix(list(1, "a"), 1), raw_matrix = matrix(as.raw(1:2), 1), complex_matrix = matrix(1i, 1, 1),
    no_flags = logical(0), no_integers = integer(0), no_raw = raw(0), no_complex = complex(0), na_complex = NA_complex_,
    no_expression = expression(), na_level = factor(c("a", NA), exclude = NULL), ordered = factor("a", ordered = TRUE),
    twice = structure(list(a = 1:2, a = 3:4), class = "data.frame", row.names = 1:2),
    rows_alone = data.frame(a = 1:3)[0], list_column = data.frame(a = I(list(1, "b"))), long_range = 1:3000,
    sequence = seq_len(60),
    integer_big = .Machine$integer.max, named_fun = list(f = sum), call_list = list(quote(a), y ~ x),
    posixlt_na = as.POSIXlt(NA), connection = stdin(), bytes_name = stats::setNames(1, "a\xff"),
    texts_na = c("a", NA), cut = structure(list(1), class = "data.frame"), s4_list = list(methods::new("Odd", a = 2)),
    int64_matrix = structure(matrix(0, 2, 2), class = "integer64"), zero_span = as.difftime(numeric(0), units = "days"),
    latin = `Encoding<-`("a\xe4", "latin1"), weakref = structure(list(new.env()), class = "odd")
  )
}

# Sparse and dense matrices of package Matrix, of every class that a matrix can have there.
odd_matrices <- function() {
  if (!requireNamespace("Matrix", quietly = TRUE)) return(list())
  plain <- Matrix::Matrix(c(0, 1, 2, 0), 2, sparse = TRUE)
  one <- methods::as(matrix(1, 1, 1), "CsparseMatrix")
  as_rows <- methods::as(plain, "RsparseMatrix")
  broken <- methods::as(methods::as(plain, "generalMatrix"), "CsparseMatrix")
  broken@p <- c(0L, 9L, 1L)
  list(
    sparse_one = one, sparse = plain, sparse_rows = as_rows, sparse_triplets = methods::as(plain, "TsparseMatrix"),
    sparse_flags = plain > 0, sparse_pattern = methods::as(plain, "nMatrix"), sparse_diagonal = Matrix::Diagonal(2),
    sparse_symmetric = Matrix::forceSymmetric(plain), sparse_triangle = Matrix::triu(plain),
    sparse_permutation = methods::as(2:1, "pMatrix"), dense_matrix = Matrix::Matrix(1:4 / 2, 2, sparse = FALSE),
    sparse_vector = methods::as(c(0, 1), "sparseVector"), sparse_none = plain[0, 0, drop = FALSE],
    sparse_broken = broken
  )
}
