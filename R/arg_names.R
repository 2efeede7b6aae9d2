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
    shown <- quoted_names(written, known)
    paste0("; names of columns are texts", if (!is.null(shown)) sprintf(": %s = %s", name, shown))
  } else {
    near <- suggest(lost, known, "\"")
    if (nzchar(near)) near else "; names of columns are texts"
  }
  stop_argument(sprintf("`%s`: there is no object `%s`%s", name, lost, hint), name)
}

# A name, or c() of names, with quotation marks around what names columns; NULL for other code.
quoted_names <- function(written, known) {
  parts <- if (is.call(written) && identical(written[[1L]], quote(c))) as.list(written)[-1L] else list(written)
  if (!all(vapply(parts, function(part) is.name(part) || is.character(part), NA))) return(NULL)
  columns <- all.vars(written)
  if (!is.null(known)) columns <- intersect(columns, known)
  quoted <- do.call(substitute, list(written, as.list(stats::setNames(nm = columns))))
  paste(deparse(quoted, 60L, nlines = 1L), collapse = "")
}

# The variable of an expression that R's error says is not there; NULL for another problem, such as an error of the
# user's own with the same letters.
variable_not_found <- function(problem, written) {
  if (!class(problem)[1L] %in% c("simpleError", "getvarError")) return(NULL)
  said <- function(v) gettextf("object '%s' not found", v, domain = "R") # in the language of the session
  named <- Filter(function(v) identical(conditionMessage(problem), said(v)), all.vars(written))
  if (length(named)) named[1L]
}
