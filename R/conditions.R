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

# What `subject` is in an error of each kind.
subject_field <- c(argument = "parameter", unsupported = "parameter", data = "column", format = "path", io = "path")

gbt_error <- function(kind, message, subject = NULL, call = user_call()) {
  subject <- if (length(subject) == 1L && !is.na(subject) && nzchar(subject)) as.character(subject) else NA_character_
  cond <- list(message = printable(message), call = call, kind = kind, subject = subject)
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
    list(message = msg, call = user_call(), kind = kind, ...)
  ))
}

# R raises a time limit (setTimeLimit()) as a plain error wherever it happens to be, in the language of the session.
is_time_limit <- function(e) {
  limits <- c("reached elapsed time limit", "reached CPU time limit", "reached session elapsed time limit",
              "reached session CPU time limit")
  any(conditionMessage(e) %in% c(limits, gettext(limits, domain = "R")))
}

# `expr`, or `otherwise(condition)` if it fails. For code that may be somebody else's and may fail in any way; whoever
# waits for errors of gbt names their class in tryCatch(). A time limit is no failure of `expr` and goes on to the user.
try_else <- function(expr, otherwise) {
  tryCatch(expr, error = function(e) if (is_time_limit(e)) stop(e) else otherwise(e))
}

# A function of the user's, called while a model is trained. Its errors keep their class and fields and become
# gbt_error_callback as well, which run_rounds() waits for: the rounds that are finished are not lost.
user_code <- function(expr, parameter) {
  calls <- NULL
  tryCatch(withCallingHandlers(expr, error = function(e) calls <<- sys.calls()), error = function(e) {
    if (is_time_limit(e)) take_for_interrupt(e)
    stop(own_error(e, parameter, calls))
  })
}

# A time limit ends a training as Ctrl-C does, and is raised when that is done: see how_ended().
take_for_interrupt <- function(e) {
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

# A device cannot do what the CPU can. by: what comes behind, such as where the request for the device stands.
device_error <- function(problem, kind = "device", by = "") {
  cond <- gbt_error(kind, paste0(problem, "; `device = \"cpu\"` works without a device (the model is the same)", by),
                    "device")
  cond$problem <- problem
  cond
}

# Called from C (r_error.c) and from nowhere else: a failure inside the engine. cpu_can: see gbt_error of base/status.h.
raise_engine <- function(kind, message, subject, cpu_can) {
  stop(if (cpu_can) device_error(message, kind) else gbt_error(kind, message, subject))
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
  if (...length() > 0L) base::message(message) # nobody handled it: say where the fields can be had
  invokeRestart("abort")
}

# The call of the user's that led here: the outermost frame of this package, seen from the innermost without crossing
# anybody else's function. (So predict() in a user's callback inside gbt_train() is to blame for its own errors.)
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

# Which texts have bytes that are no text in their encoding.
is_broken_text <- function(x) !validEnc(x) | Encoding(x) == "bytes"

# Texts as messages can show them: bytes that are no text in their encoding become <e9>.
printable <- function(x) {
  bad <- is_broken_text(x)
  if (any(bad)) x[bad] <- iconv(x[bad], "latin1", "ASCII", sub = "byte")
  x
}

# In lower case, to compare by. R's tolower() fails on bytes that are no text, and on the last two characters of 16
# bits, which mean nothing.
lower_case <- function(x) {
  x <- printable(x)
  for (odd in c("\ufffe", "\uffff")) x <- gsub(odd, "?", x, fixed = TRUE)
  tolower(x)
}

# What is compared with names at most: the time of a comparison grows with the product of the two lengths.
longest_name <- 100L # bytes
most_names <- 50000L

# Edit distances of one text to many, with a look at Ctrl-C and time limits now and then, which adist() lacks.
edit_distances <- function(x, choices) {
  pieces <- split(choices, (seq_along(choices) - 1L) %/% 1000L)
  unlist(lapply(pieces, function(piece) {
    .Call(C_gbt_check_interrupt)
    drop(utils::adist(x, piece))
  }), use.names = FALSE)
}

# The choices that `x` was probably meant to be, best first, at most two; case and punctuation do not count. Beyond one
# mistake, common pairs of letters decide: `max_deep` is nearer to `max_depth` than to `max_drop`.
nearest_name <- function(x, choices) {
  short <- function(s) !is.na(s) & nchar(s, "bytes") <= longest_name
  choices <- utils::head(choices[short(choices)], most_names)
  if (length(choices) == 0L || length(x) != 1L || !short(x) || !nzchar(x)) return(character(0))
  x <- printable(as.vector(x)) # a matrix of one text is no choice, but may be near to one
  choices <- printable(choices)
  plain <- function(s) gsub("[^a-z0-9]", "", lower_case(s))
  far <- edit_distances(plain(x), plain(choices))
  part <- nchar(plain(x)) >= 3L & (startsWith(plain(choices), plain(x)) | endsWith(plain(choices), plain(x)))
  letters_of <- function(s) vapply(strsplit(plain(s), ""), function(l) paste(sort(l), collapse = ""), "")
  swapped <- letters_of(choices) == letters_of(x) # lable, max_dpeth
  far[part | swapped] <- pmin(far[part | swapped], 1)
  allowed <- if (nchar(x) == 1L) 0 else max(1, floor(nchar(x) * 0.4)) # one letter is near to every other
  least <- min(far)
  near <- which(far <= allowed & far <= least + (least > 1))
  if (least > 1 && length(near) > 1L) {
    alike <- pairs_shared(plain(x), plain(choices[near]))
    near <- near[alike == max(alike)]
  }
  choices[utils::head(near, 2L)]
}

# The share of pairs of neighbouring letters that a text and each of others have in common (Dice's coefficient).
pairs_shared <- function(x, others) {
  pairs <- function(s) if (nchar(s) < 2L) character(0) else substring(s, seq_len(nchar(s) - 1L), seq_len(nchar(s))[-1L])
  own <- pairs(x)
  vapply(others, function(s) {
    its <- pairs(s)
    2 * length(intersect(own, its)) / max(1L, length(own) + length(its))
  }, 0)
}

# "; did you mean `eta`?" or "".
suggest <- function(x, choices, quote = "`") {
  near <- nearest_name(x, choices)
  if (length(near) == 0L) return("")
  paste0("; did you mean ", paste0(quote, near, quote, collapse = " or "), "?")
}

# "`a`, `b`, `c` and 7 more"
enumerate <- function(x, most = 10L, quote = "`") {
  shown <- paste0(quote, utils::head(x, most), quote)
  more <- length(x) - length(shown)
  text <- paste(shown, collapse = ", ")
  if (more > 0L) text <- paste0(text, " and ", more, " more")
  text
}

# "1 value", "2 values"
counted <- function(n, noun) sprintf("%.0f %s%s", n, noun, if (n == 1) "" else "s")

# "3 missing values, the first in row 7"
counted_rows <- function(rows, noun) sprintf("%s, the first in row %.0f", counted(length(rows), noun), rows[1L])

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
                          suggest(x, choices, "\"")), parameter)
  }
  choices[hit]
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

# What `...` stand for, as it was written: an argument that nobody knows may be a column of data, and no variable.
written_dots <- function(...) as.list(substitute(list(...)))[-1L]

# `...` that a method does not know: an error with a suggestion, never silence. dots: see written_dots(), or values.
check_no_dots <- function(dots, known) {
  if (length(dots) == 0L) return(invisible())
  given <- names(dots)
  if (is.null(given)) given <- rep("", length(dots))
  if (any(given == "")) {
    stop_argument("an argument without a name was given where only named ones are possible")
  }
  of_data <- intersect(known, c("newdata", "data", "x"))
  hint <- if (given[1L] %in% c("newdata", "data", "x") && length(of_data) > 0L) {
    sprintf("; the data are `%s` here", of_data[1L])
  } else {
    suggest(given[1L], known)
  }
  stop_argument(sprintf("unknown argument `%s`%s", given[1L], hint), given[1L])
}
