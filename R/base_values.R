# Plain values: what kind they are, a default for those that were not given, long ones in parts; the session's state.

package_state <- new.env(parent = emptyenv()) # state of the session: the engine's table, the interrupted model

# The engine's enums: list of named integer vectors, such as enums$storage[["double"]]. Set when the package is loaded.
enums <- NULL

given_or <- function(value, default) if (is.null(value)) default else value

# Vectors without a class and without dimensions. Classes come first: is.numeric() dispatches.
is_plain <- function(x) !is.object(x) && is.atomic(x) && is.null(dim(x))

is_number <- function(x, low = -Inf, high = Inf) {
  is_plain(x) && is.numeric(x) && length(x) == 1L && !is.na(x) && x >= low && x <= high
}
is_whole <- function(x, low, high = Inf) is_number(x, low, high) && x %% 1 == 0
is_texts <- function(x) is_plain(x) && is.character(x) && !anyNA(x) && all(validEnc(x)) && all(Encoding(x) != "bytes")
is_text <- function(x) length(x) == 1L && is_texts(x)
is_plain_list <- function(x) is.list(x) && !is.object(x)
is_flag <- function(x) is_plain(x) && is.logical(x) && length(x) == 1L && !is.na(x)
are_names <- function(x) is_texts(x) && all(nzchar(x)) && !anyDuplicated(x)

# A connection of package DBI, or a table or query of dbplyr: gbt_query() says how to read rows from these.
in_database <- function(x) inherits(x, "tbl_sql") || (isS4(x) && methods::is(x, "DBIConnection"))

# One name of a column rather than values.
is_column_name <- function(value) is.character(value) && !is.object(value) && length(value) == 1L && !is.na(value)

not_a_name <- "; give the values themselves, not the name of a column"

# Has a column levels, whose order says nothing of distances?
has_levels <- function(v) is.factor(v) || is.character(v)

is_level <- function(v) has_levels(v) || is.logical(v)

# A total, spread or largest number as a divisor of its parts: 1 for 0.
above_0 <- function(largest) ifelse(largest > 0, largest, 1)

# Which texts have bytes that are no text in their encoding.
is_broken_text <- function(x) !validEnc(x) | Encoding(x) == "bytes"

# fn() of the numbers from 1 to n, part after part: R's own long steps do not look at Ctrl-C, so we do in between.
by_parts <- function(n, fn, size = 262144) {
  lapply(seq_len(ceiling(n / size)), function(i) {
    .Call(C_gbt_check_interrupt)
    fn(((i - 1) * size + 1):min(n, i * size))
  })
}

# unique() and match() of long numbers.
different <- function(v) unique(unlist(by_parts(length(v), function(rows) unique(v[rows]))))

place_among <- function(v, values) {
  as.double(unlist(by_parts(length(v), function(rows) match(v[rows], values))))
}

# Does the value ask for it? Of the same kind: numbers by value, texts whatever their case, and TRUE is not 1.
is_same <- function(value, wanted) {
  if (!is.atomic(value) || length(value) != 1L || is.object(value)) return(FALSE)
  if (is.na(wanted)) return(is.na(value))
  if (is.na(value)) return(FALSE)
  if (is.logical(wanted)) return(is.logical(value) && value == wanted)
  if (is.numeric(wanted)) return(is.numeric(value) && value == wanted)
  is.character(value) && lower_case(value) == lower_case(wanted)
}

# Some packages take TRUE and FALSE, some 1 and 0.
is_one_or_true <- function(value) is_same(value, TRUE) || is_same(value, 1)
is_zero_or_false <- function(value) is_same(value, FALSE) || is_same(value, 0)

# A number of rounds that is more than none; nonsense is checked where it belongs.
is_positive_count <- function(rounds) is.numeric(rounds) && length(rounds) == 1L && isTRUE(rounds > 0)
