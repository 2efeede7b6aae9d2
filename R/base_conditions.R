# Errors and warnings. Every one that gbt raises has a class of its own and shows the call that the user wrote.
#
#   gbt_error_<kind> > gbt_error > error > condition          kind: of enums$status
#   gbt_error_callback > gbt_error > error > condition        a function of the user's failed: own_error()
#   gbt_error_result > gbt_error > error > condition          a result whose fields were changed: R/zzz.R
#   gbt_warning_<kind> > gbt_warning > warning > condition
#   gbt_interrupt > interrupt > condition                     Ctrl-C inside the engine
#
# Fields of an error: message, call, kind, subject (the parameter, column or file that it is about, NA when there is
# none), and the same again under a telling name: parameter, column or path. Where a device failed and the CPU can do
# the same, `problem` is the message without saying so: see device_error().

# The meaning of `subject` in an error of each kind.
subject_field <- c(argument = "parameter", unsupported = "parameter", data = "column", format = "path", io = "path")

gbt_error <- function(kind, message, subject = NULL, call = user_call()) {
  subject <- if (length(subject) == 1L && !is.na(subject) && nzchar(subject)) as.character(subject) else NA_character_
  cond <- list(message = shorten_quoted(printable(message)), call = call, kind = kind, subject = subject)
  if (kind %in% names(subject_field)) cond[[subject_field[[kind]]]] <- subject
  structure(class = c(paste0("gbt_error_", kind), "gbt_error", "error", "condition"), cond)
}

# A parameter is wrong. `msg` names it itself: "`eta` must be ...".
stop_argument <- function(msg, parameter = NULL) stop(gbt_error("argument", msg, parameter))

# The data are wrong: a column, a row, a response.
stop_data <- function(msg, column = NULL) stop(gbt_error("data", msg, column))

# A combination that is not offered.
stop_unsupported <- function(msg, parameter = NULL) stop(gbt_error("unsupported", msg, parameter))

# Bytes that are no model.
stop_format <- function(msg, path = NULL) stop(gbt_error("format", msg, path))

warn_gbt <- function(kind, msg, ...) {
  warning(structure(
    class = c(paste0("gbt_warning_", kind), "gbt_warning", "warning", "condition"),
    list(message = shorten_quoted(msg), call = user_call(), kind = kind, ...)
  ))
}

# A message whose quoted names, values and files are at most 200 letters long, cut in the middle. The condition's field
# `subject` has the whole name.
shorten_quoted <- function(text, most = 200L) {
  if (length(text) != 1L || is.na(text) || nchar(text, "bytes") <= most) return(text)
  for (quote in c("`", "\"")) {
    parts <- strsplit(text, quote, fixed = TRUE)[[1L]]
    inside <- seq_along(parts) %% 2L == 0L
    if (any(is_broken_text(parts)) || !any(nchar(parts[inside]) > most)) next
    ended <- if (endsWith(text, quote)) quote else ""
    parts[inside] <- shorten_letters(parts[inside], most)
    text <- paste0(paste(parts, collapse = quote), ended)
  }
  text
}

# R raises a time limit (setTimeLimit()) as a plain error wherever it happens to be, in the language of the session.
is_time_limit <- function(e) {
  limits <- c("reached elapsed time limit", "reached CPU time limit", "reached session elapsed time limit",
              "reached session CPU time limit")
  any(conditionMessage(e) %in% c(limits, gettext(limits, domain = "R")))
}

# `expr`, or `otherwise(condition)` if it fails. For code of others, which may fail in any way; a user who
# waits for errors of gbt names their class in tryCatch(). A time limit is no failure of `expr` and goes on to the user.
try_else <- function(expr, otherwise) {
  tryCatch(expr, error = function(e) if (is_time_limit(e)) stop(e) else otherwise(e))
}

# A function of the user's, called while a model is trained. Its errors keep their class and fields and become
# gbt_error_callback as well, which run_rounds() waits for: the rounds that are finished are not lost.
user_code <- function(expr, parameter) {
  calls <- NULL
  tryCatch(withCallingHandlers(expr, error = function(e) calls <<- sys.calls()), error = function(e) {
    if (is_time_limit(e)) as_interrupt(e)
    stop(own_error(e, parameter, calls))
  })
}

# A time limit ends a training as Ctrl-C does, and is raised when that is done: see end_reason().
as_interrupt <- function(e) {
  keep_error(e)
  stop(structure(class = c("interrupt", "condition"), list(message = "interrupted", call = NULL)))
}

# calls: what led to the error; R has left the user's function when the error arrives at the prompt.
own_error <- function(e, parameter, calls = NULL) {
  fields <- if (is.list(e)) unclass(e) else list(message = conditionMessage(e), call = conditionCall(e))
  if (!is.character(fields$message)) fields$message <- "an error without a message"
  fields$message <- paste(fields$message, collapse = "\n")
  if (is.null(fields$kind)) fields[c("kind", "subject", "parameter")] <- list("callback", parameter, parameter)
  fields$error <- e
  fields$calls <- calls
  its <- setdiff(class(e), c("gbt_error_callback", "gbt_error", "simpleError", "error", "condition"))
  structure(class = c(its, "gbt_error_callback", "gbt_error", "error", "condition"), fields)
}

# Raises an error about a device. by: a text that ends the message, such as where the device was asked for.
device_error <- function(problem, kind = "device", by = "") {
  cond <- gbt_error(kind, paste0(problem, "; `device = \"cpu\"` works without a device (the model is the same)", by),
                    "device")
  cond$problem <- problem
  cond
}

# Called from C (r_error.c) and from nowhere else: a failure inside the engine. cpu_can: see gbt_error of base/status.h.
# classes: of an error of R on another rank, see classes_text().
raise_engine <- function(kind, message, subject, cpu_can, classes = "") {
  error <- if (cpu_can) device_error(message, kind) else gbt_error(kind, message, subject)
  stop(if (nzchar(classes)) with_classes(error, classes) else error)
}

# The classes of an error that are no status of the engine, as a text for other ranks; "" for an error of the engine's
# kinds. At most 150 bytes, of whole names.
classes_text <- function(error) {
  classes <- setdiff(class(error), c("gbt_error", "error", "condition"))
  own <- inherits(error, "gbt_error")
  kinds <- paste0("gbt_error_", c("argument", "data", "memory", "device", "format", "io", "unsupported", "internal"))
  if (own && length(classes) == 1L && classes %in% kinds) return("")
  classes <- enc2utf8(classes[!grepl("\n", classes, fixed = TRUE)])
  classes <- classes[cumsum(nchar(classes, "bytes") + 1) <= 130]
  paste(c(classes, if (own) "gbt_error", "error"), collapse = "\n")
}

# An error with the classes that it has on the rank where it was raised. text: of classes_text().
with_classes <- function(error, text) {
  classes <- strsplit(text, "\n", fixed = TRUE)[[1L]]
  kind <- grep("^gbt_error_", classes, value = TRUE)
  if (length(kind)) error$kind <- sub("^gbt_error_", "", kind[[1L]])
  structure(error, class = c(classes, "condition"))
}

# Called from C (r_device.c): an error that R raised where it was asked for interrupts, such as a time limit. It waits
# until the engine has let go of everything.
keep_error <- function(condition) package_state$kept_error <- condition

take_kept_error <- function() {
  condition <- package_state$kept_error
  package_state$kept_error <- NULL
  condition
}

# Ctrl-C, once the engine has let go of everything. `...` are fields of the condition, such as the model so far. Never
# returns: without a handler R goes back to the prompt, as after any interrupt.
raise_interrupt <- function(message = "interrupted", ...) {
  error <- take_kept_error()
  if (!is.null(error)) stop(error)
  cond <- structure(
    class = c("gbt_interrupt", "interrupt", "condition"),
    list(message = message, call = user_call(), ...)
  )
  signalCondition(cond)
  if (...length() > 0L) base::message(message) # no handler took it: say where the fields are
  invokeRestart("abort")
}

# The call of the user's that led here: the outermost frame of this package, seen from the innermost without crossing
# another function. (So predict() in a user's callback inside gbt_train() is to blame for its own errors.)
user_call <- function() {
  home <- topenv()
  found <- NULL
  for (i in rev(seq_len(sys.nframe()))) {
    where <- environment(sys.function(i))
    if (is.null(where)) next
    where <- topenv(where)
    if (identical(where, home)) {
      found <- sys.call(i)
    } else if (!is.null(found) && !identical(where, .BaseNamespaceEnv) && !identical(where, baseenv())) {
      break
    }
  }
  tidy_call(found, home)
}

# do.call() puts whole data sets into calls; printing one would take forever. They become <data.frame>.
tidy_call <- function(call, home = topenv()) {
  if (!is.call(call)) return(call)
  head <- call[[1L]]
  if (is.function(head)) {
    name <- "FUN"
    for (candidate in ls(home)) {
      if (identical(home[[candidate]], head)) name <- candidate
    }
    call[[1L]] <- as.name(name)
  }
  parts <- as.list(call)
  for (i in seq_along(parts)[-1L]) {
    part <- parts[[i]]
    if (missing(part) || is.language(part) || is.null(part) || (is.atomic(part) && length(part) <= 10L)) next
    parts[[i]] <- as.name(paste0("<", class(part)[1L], ">"))
  }
  as.call(parts)
}
