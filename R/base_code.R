# Expressions and calls of R: their texts, and the names in them.

expression_text <- function(e) {
  if (is.name(e)) return(as.character(e))
  paste(deparse(e, width.cutoff = 500L, backtick = TRUE), collapse = " ")
}

# An expression of a text, NULL when there is none, or when it is nested so deeply that R's deparse() or all.vars()
# would overflow the stack.
parse_text <- function(text, most = 20000L) {
  e <- try_else(with_utf8(str2lang(text)), function(problem) NULL)
  if (nchar(text, "bytes") <= most) return(e) # every level takes a letter
  within <- list(e)
  for (level in seq_len(most)) {
    within <- within[vapply(within, is.call, NA) | vapply(within, is.pairlist, NA)]
    if (length(within) == 0L) return(e)
    within <- do.call(c, lapply(within, as.list))
  }
  NULL
}

# All calls within an expression, layer by layer: a sum of thousands is a call as deep as that.
calls_of <- function(e) {
  found <- list()
  level <- list(e)
  while (length(level)) {
    calls <- level[vapply(level, is.call, NA)]
    found <- c(found, calls)
    level <- do.call(c, lapply(calls, as.list))
  }
  found
}

# Names of the variables that are used, without fields as in t$hour.
variables_of <- function(expressions) {
  is_field <- function(call) is.name(call[[1L]]) && as.character(call[[1L]]) %in% c("$", "@")
  of_one <- function(e) {
    if (!any(c("$", "@") %in% all.names(e))) return(all.vars(e))
    parts <- lapply(calls_of(e), function(call) if (is_field(call)) as.list(call)[2L] else as.list(call)[-1L])
    parts <- do.call(c, parts)
    vapply(parts[vapply(parts, is.name, NA)], as.character, "")
  }
  found <- unique(unlist(lapply(expressions, of_one)))
  found[nzchar(found)]
}

# Names of the functions that are called, "name" or "package::name"; a function that is computed, as in f()(x), is given
# as its text.
functions_of <- function(expressions) {
  is_scoped <- function(e) is.call(e) && is.name(e[[1L]]) && as.character(e[[1L]]) %in% c("::", ":::")
  of_call <- function(call) {
    head <- call[[1L]]
    if (is_scoped(call)) return(expression_text(call))
    if (is.name(head)) as.character(head) else if (!is_scoped(head)) expression_text(head)
  }
  calls <- unlist(lapply(expressions, calls_of), recursive = FALSE)
  unique(unlist(lapply(calls, of_call)))
}

has_dots <- function(call) any(vapply(as.list(call), identical, NA, quote(...)))

# The environment of the function whose `...` are seen from `env`; the empty one where there is none.
dots_environment <- function(env) {
  while (!identical(env, emptyenv()) && !exists("...", env, inherits = FALSE)) env <- parent.env(env)
  env
}

# The arguments in `...` of this function, as the user wrote them.
dots_of <- function(env) as.list(eval(quote(substitute(list(...))), env))[-1L]

# A call with what `...` stands for in a function that passes it on.
without_dots <- function(call, env) {
  if (is.null(env) || !has_dots(call)) return(call)
  home <- dots_environment(env)
  at <- which(vapply(as.list(call), identical, NA, quote(...)))[1L]
  given <- if (!identical(home, emptyenv())) dots_of(home)
  as.call(c(as.list(call)[seq_len(at - 1L)], given, as.list(call)[-seq_len(at)]))
}

# The elements of all lists as one.
unlist_once <- function(lists) do.call(c, c(list(list()), unname(lists)))

# Evaluates an expression that leaves R's random numbers as they were.
keeping_random <- function(expr) {
  random <- get0(".Random.seed", globalenv(), inherits = FALSE)
  on.exit(if (!is.null(random)) assign(".Random.seed", random, globalenv()))
  expr
}
