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
    lying = lying, no_text = no_text
  )
}
