# The call of a function of this package, captured before its arguments are evaluated. Training, cross-validation and
# search are plain functions of a captured call, see source_of(); no new call is built and evaluated.
#
# A captured call is a list:
#   args        what was given, by the names as typed ("" without one), each an argument as below
#   env         where the call was written
#   call        the call as models keep it, see small_call(); NULL
#   constants   variables of the formula that keep the values that they had in an earlier training, see gbt_refit()
#
# An argument is a list:
#   expression  as it was written
#   env         where it was written: not where the call was, when the calling function passes its `...` on
#   value       a function that gives the value, which is evaluated once, as R evaluates any argument
#   missing     TRUE for an argument of the calling function that was not given there

# The call of the function that calls this one. name: how models call that function; gbt::name where it was called so,
# itself or the generic that chose it.
capture_call <- function(name, frame = parent.frame(), fun = sys.function(sys.parent()),
                         call = sys.call(sys.parent()), env = parent.frame(2L)) {
  scoped <- call("::", quote(gbt), as.name(name))
  heads <- lapply(sys.calls()[sys.parent() - 1:0], `[[`, 1L)
  call[[1L]] <- if (any(vapply(heads, identical, NA, scoped))) scoped else as.name(name)
  list(args = arguments_of(frame, fun, call, env), env = env, call = small_call(call, env), constants = NULL)
}

# frame: the environment of the call of `fun`, which holds its arguments.
arguments_of <- function(frame, fun, call, env) {
  formals <- formals(fun)[setdiff(names(formals(fun)), "...")]
  own <- lapply(stats::setNames(nm = names(formals)), function(name) {
    written <- list(eval(call("substitute", as.name(name)), frame))
    is_default <- identical(written, unname(formals[name])) && eval(call("missing", as.name(name)), frame)
    if (!is_default) new_argument(written[[1L]], as.name(name), name, frame, call, env)
  })
  own <- own[lengths(own) > 0L]
  if (!"..." %in% names(formals(fun))) return(own)
  dots <- dots_of(frame)
  labels <- if (is.null(names(dots))) character(length(dots)) else names(dots)
  passed <- lapply(seq_along(dots), function(i) {
    new_argument(dots[[i]], as.name(paste0("..", i)), labels[i], frame, call, env)
  })
  c(own, stats::setNames(passed, labels))
}

# symbol: what the argument is called in `frame`, a name or ..1.
new_argument <- function(written, symbol, name, frame, call, env) {
  list(expression = written, env = argument_environment(name, call, env), value = function() evaluated(symbol, frame),
       missing = nzchar(name) && eval(call("missing", symbol), frame))
}

# As eval(), but errors that R gives the call of eval() show the user's.
evaluated <- function(expr, env) {
  withCallingHandlers(eval(expr, env), error = function(e) {
    if (!identical(conditionCall(e), quote(eval(expr, env)))) return()
    e$call <- user_call()
    stop(e)
  })
}

# The environment in which an argument was written that a call, written in `env`, has under this name. A function that
# passes on its `...` did not write what is in them: the caller of that function did.
argument_environment <- function(name, call, env) {
  while (!name %in% names(call) && has_dots(call)) {
    its <- function(env) which(vapply(sys.frames(), identical, NA, env))
    at <- c(its(dots_environment(env)), its(env), 0L)[1L]
    if (at == 0L) return(env)
    call <- sys.call(at)
    env <- sys.frame(sys.parents()[at])
  }
  env
}

# An argument that has this value whatever it was.
fixed_argument <- function(value) {
  list(expression = value, env = emptyenv(), value = function() value, missing = FALSE)
}

# An expression of a kept call as an argument.
kept_argument <- function(expression, env) {
  list(expression = expression, env = env, value = function() evaluated(expression, env), missing = FALSE)
}

# The arguments under the names that they have for a function with the formals of `fun`, `...` among them.
placed <- function(args, fun) {
  numbered <- as.call(c(quote(f), stats::setNames(as.list(seq_along(args)), names(args))))
  at <- as.list(match.call(fun, numbered))[-1L]
  stats::setNames(args[unlist(at)], names(at))
}

# A captured call without these arguments.
without_arguments <- function(captured, names) {
  captured$args <- captured$args[!names(captured$args) %in% names]
  captured
}

# Arguments as a call of a function, given by its name.
call_of <- function(args, fun) as.call(c(as.name(fun), lapply(args, `[[`, "expression")))

# A call as it can be kept, without environments and sources of functions: NULL where do.call() put the data themselves
# into it. env: where it was written, whose `...` stand for what was given as such.
small_call <- function(call, env = NULL) {
  call <- without_dots(call, env)
  plain <- function(part) {
    is.null(part) || is.name(part) || (is.call(part) && !inherits(part, "formula")) ||
      (is.atomic(part) && !is.object(part) && length(part) <= 100L) ||
      (is.list(part) && !is.object(part) && length(part) <= 100L && all(vapply(part, plain, NA)))
  }
  parts <- as.list(call)
  is_formula <- vapply(parts, inherits, NA, "formula") # of do.call()
  if (!all(is_formula | vapply(parts, plain, NA))) return(NULL)
  text <- try_else(deparse(call, 500L, control = c("keepNA", "keepInteger", "niceNames")), function(e) NULL)
  if (is.null(text) || sum(nchar(text)) > 5000L) return(NULL)
  try_else(str2lang(paste(text, collapse = "\n")), function(e) NULL)
}
