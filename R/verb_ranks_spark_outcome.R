# The outcome of a rank in a task of Spark, on its way to the session. It comes from another machine, so it is read as
# files are: plain values (R/base_kept_values.R), and models as the bytes of gbt_save(). R's own serialisation could
# hold code, and objects of any class.
#
#   text    part:part:...    a column of Spark's has no bytes, so each part is packed and written in hexadecimal digits
#   parts   the values; then the model of `value`, then that of `error`, where there is one
#   values  kind, conditions, error: see run_job(); value, partial: of these two models what files do not have, or NULL
#
# A condition is list(class, message, fields, error). Of its fields those travel that a model could keep
# (is_storable()); `error` is the condition that it was made of, or NULL.

# outcome: of run_job().
text_of_outcome <- function(outcome) {
  models <- list(value = if (is_model(outcome$value)) outcome$value,
                 partial = if (is.list(outcome$error) && is_model(outcome$error$model)) outcome$error$model)
  values <- c(lapply(models, fields_of_session), list(
    kind = outcome$kind, conditions = lapply(outcome$conditions, condition_values),
    error = if (!is.null(outcome$error)) condition_values(outcome$error)
  ))
  models <- Filter(Negate(is.null), models)
  paste(vapply(c(list(values_bytes(values)), lapply(unname(models), bytes_to_save)), digits_of_bytes, ""),
        collapse = ":")
}

# The outcome of a text, which anyone may have written. trusts: see model_of_bytes().
outcome_of_text <- function(text, trusts) {
  try_else({
    parts <- lapply(strsplit(text, ":", fixed = TRUE, useBytes = TRUE)[[1L]], bytes_of_digits)
    if (length(parts) == 0L) stop_outcome("it is empty")
    names <- c("value", "partial", "kind", "conditions", "error")
    values <- values_of_bytes(parts[[1L]], names, "outcome", "")
    if (!is_text(values$kind) || !values$kind %in% c("done", "failed", "cancelled")) stop_outcome("its kind is wrong")
    if (!is_bare_list(values$conditions)) stop_outcome("its conditions are wrong")
    has <- !vapply(values[c("value", "partial")], is.null, NA)
    fits <- sum(has) == length(parts) - 1L && !(values$kind == "done" && !has[[1L]]) &&
      (values$kind == "failed") == !is.null(values$error)
    if (!fits) stop_outcome("its parts do not belong together")
    model <- function(name) {
      if (has[[name]]) model_of_part(parts[[if (name == "value") 2L else length(parts)]], values[[name]], trusts)
    }
    out <- list(kind = values$kind, value = model("value"))
    if (out$kind == "failed") out$error <- condition_of_values(values$error, "error")
    if (has[["partial"]]) out$error$model <- model("partial")
    out$conditions <- lapply(values$conditions, condition_of_values, c("warning", "message"))
    out
  }, function(e) {
    stop_format(sprintf(paste("a task of Spark has returned something that is not a result of this training (%s);",
                              "install the same version of gbt on all machines of Spark"), conditionMessage(e)))
  })
}

stop_outcome <- function(why) stop_format(why)

is_bare_list <- function(x) is.list(x) && !is.object(x)

digits_of_bytes <- function(bytes) paste(as.character(memCompress(bytes, "gzip")), collapse = "")

bytes_of_digits <- function(text) {
  digits <- as.integer(charToRaw(text))
  good <- (digits >= 48L & digits <= 57L) | (digits >= 97L & digits <= 102L)
  if (length(digits) == 0L || length(digits) %% 2L || !all(good)) stop_outcome("it has other characters than digits")
  digits <- as.raw(digits - ifelse(digits > 57L, 87L, 48L))
  at <- seq(1L, length(digits), by = 2L)
  try_else(suppressWarnings(memDecompress(rawShift(digits[at], 4L) | digits[at + 1L], "gzip")), function(e) {
    stop_outcome("its bytes are damaged")
  })
}

# The fields of a model that its file does not have; of `masked_out` the values, and of a matrix its size and the names
# of its columns. The call, and the constants of its formula, are known to the session.
fields_of_session <- function(model) {
  if (is.null(model)) return(NULL)
  masked <- model$masked_out
  if (!is.null(masked)) {
    masked <- list(values = as.double(masked), size = dim(masked), names = colnames(masked))
  }
  list(stopped = model$stopped, warned = model$warned, masked_out = masked)
}

model_of_part <- function(bytes, fields, trusts) {
  model <- model_of_bytes(bytes, trusts)
  if (!is_bare_list(fields) || !setequal(names(fields), c("stopped", "warned", "masked_out"))) {
    stop_outcome("its model is not described")
  }
  for (name in c("stopped", "warned")) model[[name]] <- fields[[name]]
  model$masked_out <- masked_of_values(fields$masked_out)
  fault <- model_fault(unclass(model))
  if (!is.null(fault)) stop_outcome(sprintf("`%s` of its model must be %s", fault$field, fault$must))
  model
}

masked_of_values <- function(its) {
  if (is.null(its)) return(NULL)
  if (!is_bare_list(its)) stop_outcome("`masked_out` of its model is wrong")
  size <- its[["size"]]
  names <- its[["names"]]
  whole <- is.null(size) || (length(size) == 2L && is_whole(size[1L], 0) && is_whole(size[2L], 1) &&
                               prod(size) == length(its[["values"]]))
  named <- is.null(names) || (is_texts(names) && length(size) == 2L && length(names) == size[2L])
  if (!is.double(its[["values"]]) || !whole || !named) stop_outcome("`masked_out` of its model is wrong")
  if (is.null(size)) return(its$values)
  matrix(its$values, size[1L], size[2L], dimnames = if (!is.null(names)) list(NULL, names))
}

# Of a condition, what no field carries: it is carried otherwise, or not at all.
not_carried <- c("message", "call", "calls", "model", "error", "")

# with_cause: also of the condition that it was made of.
condition_values <- function(condition, with_cause = TRUE) {
  fields <- if (is.list(condition)) unclass(condition) else list()
  cause <- fields[["error"]]
  fields <- fields[!names(fields) %in% not_carried]
  good <- vapply(as.character(names(fields)), valid_texts, NA) & vapply(fields, is_storable, NA, depth = 8L)
  list(class = class(condition), message = paste(printable(conditionMessage(condition)), collapse = "\n"),
       fields = fields[good & !duplicated(names(fields))],
       error = if (with_cause && inherits(cause, "condition")) condition_values(cause, FALSE))
}

# kinds: what it may be.
condition_of_values <- function(its, kinds) {
  good <- is_bare_list(its) && is_texts(its[["class"]]) && "condition" %in% its$class && any(kinds %in% its$class) &&
    is_text(its[["message"]]) && is_bare_list(its[["fields"]]) &&
    (length(its$fields) == 0L || are_names(names(its$fields)))
  if (!good) stop_outcome("its conditions are wrong")
  out <- c(list(message = its$message, call = NULL), its$fields[!names(its$fields) %in% not_carried])
  if (!is.null(its[["error"]])) out$error <- condition_of_values(its$error, "error")
  structure(class = its$class, out)
}

# Which code of a model the session may run: that of the formula that it has sent. columns: names of the table's.
code_of_formula <- function(formula, columns) {
  data <- without_rows(columns)
  from <- environment(formula)
  attributes(formula) <- NULL
  calls <- lapply(unique(calls_of(formula[[3L]])), function(e) {
    try_else(parse_text(exact_text(with_constants(list(e), data, from)[[1L]])), function(problem) NULL)
  })
  of_packages <- Filter(function(e) is_of_package(e, from), calls)
  with_values <- formula
  with_values[[2L]] <- response_with_constants(formula[[2L]], data, from)
  function(model) {
    known <- vapply(lapply(model$terms$code, parse_design), is_call_of, NA, calls, of_packages)
    its <- if (!is.null(model$formula)) parse_text(model$formula)
    c(code = all(known), formula = identical(its, formula) || identical(its, with_values))
  }
}

without_rows <- function(columns) list_frame(stats::setNames(rep(list(logical(0)), length(columns)), columns), 0L)

# The outcome whose model has the constants of its call, as after a training in the session.
with_constants_of_call <- function(outcome, formula, columns) {
  constants <- constants_of(formula, without_rows(columns), environment(formula))
  if (outcome$kind == "done" && length(constants)) outcome$value$call_constants <- constants
  outcome
}

# Does the call name a function of a package? from: environment of the formula.
is_of_package <- function(call, from) {
  head <- if (is.call(call)) call[[1L]]
  fun <- if (is.name(head)) get0(as.character(head), from, mode = "function") else
    if (is_namespaced(head)) try_else(eval(head, baseenv()), function(problem) NULL)
  if (!is.function(fun) || is.primitive(fun)) return(is.primitive(fun))
  name <- as.character(if (is.name(head)) head else head[[3L]])
  home <- topenv(environment(fun))
  isNamespace(home) && identical(get0(name, home, inherits = FALSE), fun)
}

is_namespaced <- function(e) {
  is.call(e) && length(e) == 3L && (identical(e[[1L]], quote(`::`)) || identical(e[[1L]], quote(`:::`)))
}

# Is e one of the calls? Those in `changed` may have got other arguments, numbers, as predict() needs them: methods of
# stats::makepredictcall() do so with functions of their package, such as bs(), and not with those of a user.
is_call_of <- function(e, calls, changed = calls) {
  for (call in calls) if (identical(e, call)) return(TRUE)
  for (call in changed) {
    same_head <- is.call(e) && is.call(call) && length(e) > 1L && length(call) > 1L && identical(e[1:2], call[1:2])
    if (!same_head) next
    rest <- as.list(e)[-(1:2)]
    fits <- vapply(seq_along(rest), function(i) {
      name <- names(rest)[i]
      given <- if (length(name) && nzchar(name)) call[[name]]
      length(name) && nzchar(name) && (identical(rest[[i]], given) || is_numbers(rest[[i]]))
    }, NA)
    if (all(fits)) return(TRUE)
  }
  FALSE
}

# Does the expression give numbers, and nothing else?
is_numbers <- function(e) {
  if (!is.call(e)) return(is.numeric(e) || is.logical(e) || is.null(e))
  is.name(e[[1L]]) && as.character(e[[1L]]) %in% c("c", "-", ":", "(", "structure") &&
    all(vapply(as.list(e)[-1L], is_numbers, NA))
}
