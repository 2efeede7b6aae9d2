# Names of columns that were written without quotation marks: R looks for variables, which are not there.

# An argument of the function that calls that is names of columns. Without quotation marks they are variables, which are
# not there: the error says so. known: the columns of the data; NULL where they are not known.
names_given <- function(name, known = NULL, frame = parent.frame()) {
  force(frame)
  written <- eval(call("substitute", as.name(name)), frame)
  try_else(evaluated(as.name(name), frame), function(problem) stop_bare_names(problem, written, name, known))
}

stop_bare_names <- function(problem, written, name, known = NULL) {
  lost <- variable_not_found(problem, written)
  if (is.null(lost)) stop(problem)
  hint <- if (is.null(known) || lost %in% known) {
    columns <- all.vars(written)
    if (!is.null(known)) columns <- intersect(columns, known)
    quoted <- do.call(substitute, list(written, as.list(stats::setNames(nm = columns))))
    sprintf("; names of columns are texts: %s = %s", name, paste(deparse(quoted, 60L, nlines = 1L), collapse = ""))
  } else {
    near <- suggest(lost, known, "\"")
    if (nzchar(near)) near else "; names of columns are texts"
  }
  stop_argument(sprintf("`%s`: there is no object `%s`%s", name, lost, hint), name)
}

# The variable of an expression that R's error says is not there; NULL for another problem.
variable_not_found <- function(problem, written) {
  if (!class(problem)[1L] %in% c("simpleError", "getvarError")) return(NULL)
  named <- Filter(function(v) grepl(v, conditionMessage(problem), fixed = TRUE), all.vars(written))
  if (length(named)) named[1L]
}
