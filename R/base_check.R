# Checks of single arguments: each returns the value, or raises an error that names the argument.

# One of a few texts, with a suggestion. NULL takes the first.
match_choice <- function(x, choices, parameter) {
  if (is.null(x) || identical(x, choices)) return(choices[1L])
  one <- is.character(x) && length(x) == 1L && is.null(dim(x))
  if (one && !is.na(hit <- match(x, choices))) return(choices[hit])
  if (!one || is.na(x)) {
    stop_argument(sprintf("`%s` must be one of %s", parameter, enumerate(choices, 20L, "\"")), parameter)
  }
  x <- printable(x)
  hit <- match(x, choices)
  if (is.na(hit)) {
    stop_argument(sprintf("`%s` must be one of %s, not \"%s\"%s", parameter, enumerate(choices, 20L, "\""), x,
                          suggest_meaning(x, choices, "\"")), parameter)
  }
  choices[hit]
}

# One of the names that data have: no name is the usual one.
match_name <- function(x, names, parameter) {
  if (is.character(x) && length(x) == 1L) return(match_choice(x, names, parameter))
  stop_argument(sprintf("`%s` must be one of %s, not %s", parameter, enumerate(names, 20L, "\""), quote_value(x)),
                parameter)
}

# One whole number within [low, high], as an integer (or a double when it does not fit one).
check_whole <- function(x, parameter, low = -Inf, high = Inf, hint = "") {
  ok <- is.numeric(x) && !is.object(x) && length(x) == 1L && !is.na(x) && x == floor(x) && x >= low && x <= high
  if (!ok) {
    range <- if (is.finite(high)) sprintf(" from %.0f to %.0f", low, high) else sprintf(" of at least %.0f", low)
    stop_argument(sprintf("`%s` must be one whole number%s%s", parameter, range, hint), parameter)
  }
  if (abs(x) <= .Machine$integer.max) as.integer(x) else as.double(x)
}

# Digits to print, as print() of numbers takes them.
check_digits <- function(x, usual) {
  if (is.null(x)) max(3L, getOption("digits") - usual) else check_whole(x, "digits", 1, 22)
}

# TRUE or FALSE.
check_flag <- function(x, parameter) {
  if (!is.logical(x) || length(x) != 1L || is.na(x)) {
    stop_argument(sprintf("`%s` must be TRUE or FALSE", parameter), parameter)
  }
  x
}

check_share <- function(level, parameter = "level") {
  if (!is_number(level, 0, 1) || level <= 0 || level >= 1) {
    stop_argument(sprintf("`%s` must be one number between 0 and 1, such as 0.9, not %s", parameter,
                          quote_value(level)), parameter)
  }
  level
}

check_seed <- function(seed) check_whole(seed, "seed", 0, .Machine$integer.max)

# A seed that is given, or drawn from R's generator.
drawn_seed <- function(seed) {
  if (is.null(seed)) sample.int(.Machine$integer.max, 1L) else check_seed(seed)
}

check_path <- function(x, parameter, must = "one path") {
  if (missing(x)) stop_argument(sprintf("`%s` is missing: give the path of a file", parameter), parameter)
  if (!is.character(x) || length(x) != 1L || is.na(x) || x == "" || Encoding(x) == "bytes") {
    stop_argument(sprintf("`%s` must be %s, not %s", parameter, must, quote_value(x)), parameter)
  }
}

# path.expand() warns of long paths of any kind; the system has an error for those that are too long.
full_path <- function(file) if (startsWith(file, "~")) path.expand(file) else file

need_package <- function(name, what) {
  if (requireNamespace(name, quietly = TRUE)) return(invisible())
  stop_unsupported(sprintf("%s needs the package %s: install.packages(\"%s\")", what, name, name))
}

# The arguments in `...` as unevaluated expressions: an unknown argument may name a column of the data, not a variable.
written_dots <- function(...) as.list(substitute(list(...)))[-1L]

# The names of values that may be given by name; NULL: they have none. Some with a name and some without are an error.
value_names <- function(x, parameter) {
  labels <- names(x)
  if (length(labels) == 0L) return(labels)
  without <- is.na(labels) | labels == ""
  if (all(without)) return(NULL)
  if (!any(without)) return(labels)
  stop_argument(sprintf("`%s` has values with names and values without: number %d has none; name all of them or none",
                        parameter, which(without)[1L]), parameter)
}

# `...` that a method does not know: an error with a suggestion, never silence. dots: see written_dots(), or values.
check_no_dots <- function(dots, known) {
  if (length(dots) == 0L) return(invisible())
  given <- printable(given_or(names(dots), character(length(dots))))
  if (any(given %in% "")) {
    stop_argument("there is an argument without a name; give all arguments here by name, as name = value")
  }
  stop_argument(sprintf("unknown argument `%s`%s", given[1L], suggest_meaning(given[1L], setdiff(known, "..."))),
                given[1L])
}

# Words for the argument that would choose one of the outputs of a model.
output_words <- c("output", "outputs", "which_output", "class", "classes", "which_class", "which.class", "target_class")

# Functions that compute all outputs, of which plot() chooses. who: the name of the function.
check_all_outputs <- function(dots, who) {
  name <- intersect(output_words, printable(as.character(names(dots))))
  if (length(name) == 0L) return(invisible())
  stop_argument(sprintf("%s() has no `%s`: it computes all outputs; plot(result, output = ) draws some of them", who,
                        name[1L]), name[1L])
}

# An exported function of a package that is loaded. Not `::`, which would make it a declared dependency.
get_exported <- function(package, name) getExportedValue(package, name)

need_matrix <- function(x) {
  if (requireNamespace("Matrix", quietly = TRUE)) return(invisible())
  stop_data(sprintf("a matrix of class \"%s\" needs the package Matrix; please install it", class(x)[1L]))
}

# TRUE or FALSE for each of n rows. noun: what the values are.
check_logical_rows <- function(x, n, parameter, noun = "value") {
  if (length(x) != n) {
    stop_argument(sprintf("`%s` has %s for %s", parameter, counted(length(x), noun), counted(n, "row")), parameter)
  }
  if (anyNA(x)) {
    stop_argument(sprintf("`%s` has %s; say TRUE or FALSE for every row", parameter,
                          counted_rows(which(is.na(x)), "missing value")), parameter)
  }
}
