# Objectives: what is minimised, found from the response when not stated, and the response as the engine wants it.

# What the engine knows of its objectives comes from its own table (objectives.def), so adding one changes nothing here.

# By columns: name; aliases, names in other packages with | between; text; gradient, outputs, labels, hessian, size, the
# names of its rules; params, a list of tables of parameters like params_table() with their aliases.
objectives_table <- function() {
  if (is.null(package_state$objectives)) package_state$objectives <- .Call(C_gbt_objectives)
  package_state$objectives
}

objective_code <- function(name) match(name, objectives_table()$name) - 1L

# One row: list(name, labels, ..., params).
objective_info <- function(name) lapply(objectives_table(), .subset2, objective_code(name) + 1L)

# Are its gradients the user's functions?
is_given <- function(name) objective_info(name)$gradient == "GIVEN"

# As the engine takes it: its number, and its parameters in the engine's order. param: a list or vector that has them by
# their names.
objective_object <- function(name, param = list()) {
  wanted <- objective_info(name)$params$name
  list(objective_code(name), vapply(wanted, function(p) as.double(param[[p]]), 0, USE.NAMES = FALSE))
}

#' Objectives
#'
#' What [gbt_train()] can minimise: the values of its argument `objective`, the parameters that go with them, which are
#' arguments of [gbt_train()] as others are, and what other packages call them.
#'
#' @return A data frame with one row per objective: `name`; `response`, what a response may be; `parameters` with
#'   defaults and ranges; `meaning`; `aliases`, the names that other packages use. It has the class `gbt_objectives`,
#'   which prints a paragraph for each.
#' @seealso [gbt_train()]; [gbt_parameters()] for the parameters of all objectives
#' @examples
#' o <- gbt_objectives()
#' o[, c("name", "response", "parameters")]
#'
#' m <- gbt_train(mpg ~ ., mtcars, objective = "huber", huber_delta = 2, nrounds = 20, threads = 1)
#' head(predict(m, mtcars), 3)
#' @export
gbt_objectives <- function() {
  table <- objectives_table()
  params <- vapply(table$params, function(p) {
    shown <- vapply(seq_along(p$name), function(i) {
      row <- table_row(p, i)
      sprintf("%s = %s (%s): %s", row$name, format_number(row$default), range_text(row), row$text)
    }, "")
    paste(shown, collapse = "; ")
  }, "")
  takes <- c(NUMBER = "numbers", BINARY = "two classes, or numbers from 0 to 1", CLASS = "classes",
             vapply(label_ranges[c("SHARE", "NOT_NEGATIVE", "POSITIVE", "ABOVE_MINUS_ONE")], `[[`, "", "text"))
  out <- data.frame(name = table$name, response = unname(takes[table$labels]), parameters = params,
                    meaning = table$text, aliases = gsub("|", ", ", table$aliases, fixed = TRUE),
                    stringsAsFactors = FALSE)
  out <- out[table$gradient != "GIVEN", ]
  rownames(out) <- NULL
  class(out) <- c("gbt_objectives", "data.frame")
  out
}

#' @export
print.gbt_objectives <- function(x, ...) {
  if (!all(c("name", "response", "parameters", "meaning", "aliases") %in% names(x))) return(NextMethod()) # some columns
  for (i in seq_len(nrow(x))) {
    cat(sprintf("%s  (%s)\n", x$name[i], x$response[i]))
    lines <- c(x$meaning[i], x$parameters[i], if (nzchar(x$aliases[i])) paste("also:", x$aliases[i]))
    for (line in lines[nzchar(lines)]) cat(strwrap(line, indent = 4L, exdent = 4L), sep = "\n")
  }
  invisible(x)
}

offered_objectives <- function() objectives_table()$name[objectives_table()$gradient != "GIVEN"]

# Other names, in lower case -> our name. Ours are among them.
objective_aliases <- function() {
  if (is.null(package_state$objective_aliases)) {
    table <- objectives_table()
    aliases <- lapply(strsplit(table$aliases, "|", fixed = TRUE), as.character)
    all <- c(stats::setNames(table$name, table$name),
             stats::setNames(rep(table$name, lengths(aliases)), unlist(aliases)))
    package_state$objective_aliases <- all[all %in% offered_objectives()]
  }
  package_state$objective_aliases
}

# Parameters of objectives: names, and other names -> our name. Those that are names of other parameters of gbt_train()
# too, such as LightGBM's `alpha`, are left to these; see refuse_ambiguous().
objective_params <- function() {
  if (is.null(package_state$objective_params)) {
    params <- objectives_table()$params
    name <- unlist(lapply(params, `[[`, "name"))
    aliases <- strsplit(unlist(lapply(params, `[[`, "aliases")), "|", fixed = TRUE)
    all <- c(stats::setNames(name, name), stats::setNames(rep(name, lengths(aliases)), unlist(aliases)))
    all <- all[!duplicated(names(all))]
    package_state$objective_params <- all[!names(all) %in% names(alias_of)]
  }
  package_state$objective_params
}

# One text -> our name. typed: the argument's name as the user gave it.
objective_name <- function(x, typed = "objective") {
  must <- sprintf("%s must be a name in gbt_objectives(), or list(gradient = , hessian = ) of two functions",
                  param_text("objective", typed))
  if (length(x) != 1L || is.na(x)) stop_argument(must, "objective")
  low <- lower_case(x)
  name <- unname(objective_aliases()[low])
  if (!is.na(name)) return(name)
  foreign <- find_foreign("objective", low)
  if (!is.null(foreign)) {
    why <- if (nzchar(foreign$reply)) paste0(": ", foreign$reply) else ""
    stop_unsupported(sprintf(paste("objective \"%s\" is not offered%s; gbt_objectives() lists those that are, and your",
                                   "own is list(gradient = , hessian = )"), x, why), "objective")
  }
  stop_argument(sprintf("%s, not \"%s\"%s", must, x, suggest(x, names(objective_aliases()), "\"")), "objective")
}

# An objective's text as arguments of ours: list(objective = , parameters by name). CatBoost's way to write parameters,
# "Huber:delta=2;...", is understood as well.
read_objective_text <- function(x, typed = "objective") {
  if (length(x) != 1L) return(list(objective = objective_name(x, typed)))
  parts <- regmatches(x, regexec("^([A-Za-z_0-9]+):([a-z_]+=.*)$", x))[[1L]]
  if (length(parts) == 0L) return(list(objective = objective_name(x, typed)))
  name <- objective_name(parts[2L], typed)
  info <- objective_info(name)$params
  out <- list(objective = name)
  for (setting in strsplit(parts[3L], ";", fixed = TRUE)[[1L]]) {
    pair <- strsplit(setting, "=", fixed = TRUE)[[1L]]
    aliases <- strsplit(info$aliases, "|", fixed = TRUE)
    known <- mapply(function(ours, others) pair[1L] %in% c(ours, others), info$name, aliases)
    value <- suppressWarnings(as.double(pair[2L]))
    if (!any(known) || length(pair) != 2L || is.na(value)) {
      must <- if (length(info$name)) {
        sprintf("must be a parameter and its number, such as \"%s=%s\"", info$name[1L], format_number(info$default[1L]))
      } else "cannot be given: this objective has no parameters"
      stop_argument(sprintf("%s is \"%s\": \"%s\" %s", param_text("objective", typed), x, setting, must), "objective")
    }
    out[[info$name[known]]] <- value
  }
  out
}

# The objective as given (text, list of functions or NULL) -> list(name, gradient, hessian, n_outputs, args); name NULL
# when the response is to decide. args: as of collect_args(), for the objective's parameters.
as_objective <- function(args) {
  objective <- args$value[["objective"]]
  if (is.null(objective)) return(list(name = NULL, args = args))
  if (is.character(objective)) return(list(name = objective_name(objective), args = args))
  how <- paste("a custom `objective` is list(gradient = function(score, label, weight),",
               "hessian = function(score, label, weight))")
  if (!is.list(objective) || is.object(objective)) {
    stop_argument(sprintf("`objective` must be a text or a list of two functions, not %s; %s", describe(objective),
                          how), "objective")
  }
  known <- c("gradient", "hessian", "n_outputs")
  extra <- setdiff(names(objective), known)
  if (length(extra) || is.null(names(objective)) || !all(c("gradient", "hessian") %in% names(objective))) {
    about <- if (length(extra)) sprintf("%s has an unknown element `%s`; ", "`objective`", extra[1L]) else ""
    stop_argument(paste0(about, how), "objective")
  }
  for (part in c("gradient", "hessian")) {
    f <- objective[[part]]
    if (!is.function(f)) stop_argument(sprintf("`objective$%s` must be a function; %s", part, how), "objective")
    check_arity(f, c("score", "label", "weight"), sprintf("`objective$%s`", part), "objective")
  }
  n_outputs <- objective$n_outputs
  n_outputs <- if (is.null(n_outputs)) 1L else check_whole(n_outputs, "objective$n_outputs", 1, 65536)
  list(name = "custom", gradient = objective$gradient, hessian = objective$hessian, n_outputs = n_outputs,
       args = args)
}

# The parameters of objective `name`, a named list: given, or those of `init_model`, or default. Those of another
# objective are errors.
read_objective_params <- function(name, args) {
  info <- objective_info(name)$params
  for (given in intersect(names(args$value), objective_params())) {
    if (given %in% info$name) next
    owners <- Filter(function(o) given %in% objective_info(o)$params$name, offered_objectives())
    stop_argument(sprintf("%s is a parameter of objective %s, but the objective is \"%s\"",
                          param_text(given, args$typed[[given]]), paste0("\"", owners, "\"", collapse = " or "), name),
                  given)
  }
  if (!args$of_model) refuse_ambiguous(name, info, args$typed)
  out <- stats::setNames(as.list(info$default), info$name)
  init <- args$value[["init_model"]]
  if (identical(init$objective, name)) out[] <- init$params[info$name]
  for (i in given_of(info$name, args)) {
    row <- table_row(info, i)
    out[[i]] <- check_number(args$value[[row$name]], row, args$typed[row$name])
  }
  out
}

# A name such as `alpha` is a parameter of its own here, and in other packages one of this objective.
refuse_ambiguous <- function(name, info, typed) {
  for (i in seq_along(info$name)) {
    both <- intersect(strsplit(info$aliases[i], "|", fixed = TRUE)[[1L]], typed)
    for (one in both[both %in% names(alias_of)]) {
      ours <- canonical_name(one)
      other <- setdiff(names(alias_of)[alias_of == ours], c(ours, one))[1L]
      stop_argument(sprintf(paste("`%s` could mean `%s` of objective \"%s\" or `%s`, which is gbt's meaning of it;",
                                  "give one of these names"), one, info$name[i], name, other), one)
    }
  }
}

# A function of the user's must take two or three arguments by position: f(a, b) or f(a, b, c).
check_arity <- function(f, args, what, parameter) {
  takes <- names(formals(args(f)))
  if (is.null(takes)) takes <- character(0)
  if ("..." %in% takes || length(takes) >= 2L) return(invisible())
  stop_argument(sprintf("%s must be a function(%s), the last one optional", what, paste(args, collapse = ", ")),
                parameter)
}

# Calls f(a, b, c), or f(a, b) when it takes two.
call_user <- function(f, a, b, c) {
  takes <- names(formals(args(f)))
  if ("..." %in% takes || length(takes) >= 3L) f(a, b, c) else f(a, b)
}

# What a rule for labels (objectives.def) asks of numbers: text, and a function of the numbers that says which are not.
label_ranges <- list(
  NOT_NEGATIVE = list(text = "numbers of 0 or more", wrong = function(y) y < 0),
  POSITIVE = list(text = "numbers above 0", wrong = function(y) y <= 0),
  ABOVE_MINUS_ONE = list(text = "numbers above -1", wrong = function(y) y <= -1),
  SHARE = list(text = "numbers from 0 to 1", wrong = function(y) y < 0 | y > 1),
  BINARY = list(text = "numbers from 0 to 1", wrong = function(y) y < 0 | y > 1)
)

# Rows (from 1) whose label the rule of an objective does not allow.
wrong_labels <- function(value, range) {
  if (is.null(range) || !any(range$wrong(c(min(value), max(value))))) return(integer(0))
  unlist(by_parts(length(value), function(rows) rows[which(range$wrong(value[rows]))]))
}
