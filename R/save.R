# The model object and its bytes. What R keeps with a model (objective, classes, parameters, log, formula) lies in the
# bytes as well, so that the object is a function of `state` alone:
#
#   train:  state <- .Call(C_gbt_trainer_model, trainer, NA, model_meta(list(objective = ..., params = ..., ...)))
#           model <- gbt_model_from_state(state)
#   load:   model <- gbt_model_from_state(bytes of the file)
#
# model_meta() takes a named list of what is in meta_fields and makes of it the flat named list of texts, doubles and
# integers that the engine stores. A field is NULL, an atomic vector with or without names, or a list of such, to any
# depth. An entry's name tells what it is:  name  a vector,  name:lgl  logical,  name:names  names of name,
# name:list  length of a list whose items are name/1, name/2, ...,  name:null  NULL.

meta_fields <- c("objective", "classes", "response", "params", "best_round", "best_score", "evaluation_log",
                 "has_offset", "formula", "terms", "n_obs")

model_meta <- function(fields) {
  stopifnot(all(names(fields) %in% meta_fields))
  if (!is.null(fields$evaluation_log)) fields$evaluation_log <- as.list(fields$evaluation_log)
  fields <- fields[intersect(meta_fields, names(fields))] # one order: the bytes depend on it
  do.call(c, c(list(list()), unname(Map(pack, fields, names(fields)))))
}

pack <- function(x, name) {
  out <- list()
  if (is.null(x)) {
    out[[paste0(name, ":null")]] <- character(0)
    return(out)
  }
  if (is.list(x)) {
    out[[paste0(name, ":list")]] <- length(x)
    items <- unname(Map(pack, unname(x), paste0(name, "/", seq_along(x), recycle0 = TRUE)))
    out <- do.call(c, c(list(out), items))
  } else if (is.logical(x)) {
    out[[paste0(name, ":lgl")]] <- as.integer(x)
  } else {
    stopifnot(is.character(x) || is.double(x) || is.integer(x), !is.object(x))
    out[[name]] <- if (is.character(x)) enc2utf8(as.vector(x)) else as.vector(x)
  }
  if (!is.null(names(x))) out[[paste0(name, ":names")]] <- enc2utf8(names(x))
  out
}

# The reverse. `meta` may come from anywhere: whatever does not fit together is an error, and nothing is evaluated.
unpack <- function(meta, name, depth = 0L) {
  has <- function(suffix) paste0(name, suffix) %in% names(meta)
  if (has(":null")) return(NULL)
  if (depth > 20L) stop_format("the model's description is nested too deeply")
  x <- if (has(":list")) {
    n <- meta[[paste0(name, ":list")]]
    if (!is.integer(n) || length(n) != 1L || is.na(n) || n < 0L || n > length(meta)) bad_meta(name)
    lapply(seq_len(n), function(i) unpack(meta, paste0(name, "/", i), depth + 1L))
  } else if (has(":lgl")) {
    as.logical(meta[[paste0(name, ":lgl")]])
  } else if (has("")) {
    meta[[name]]
  } else {
    bad_meta(name)
  }
  if (has(":names")) {
    labels <- meta[[paste0(name, ":names")]]
    if (!is.character(labels) || length(labels) != length(x)) bad_meta(name)
    names(x) <- labels
  }
  x
}

bad_meta <- function(name) {
  stop_format(sprintf("these bytes are a model, but not one that this version of gbt can describe: \"%s\" is wrong",
                      name))
}

# The object --------------------------------------------------------------------------------------------------------

# state: the model's bytes, checked here. list of class gbt; see ?gbt_train for its fields.
gbt_model_from_state <- function(state) {
  info <- .Call(C_gbt_model_info, state)
  meta <- info$meta
  field <- function(name, optional = FALSE) {
    known <- any(names(meta) %in% paste0(name, c("", ":lgl", ":list", ":null")))
    if (!known && optional) NULL else unpack(meta, name)
  }
  model <- list(
    state = state,
    cache = .Call(C_gbt_model_cache, state),
    objective = field("objective"),
    classes = field("classes", optional = TRUE),
    response = field("response"),
    feature_names = info$names,
    feature_types = info$tag,
    n_outputs = info$n_outputs,
    params = field("params"),
    nrounds = as.integer(info$n_trees / (info$n_outputs * info$n_parallel)),
    best_round = field("best_round", optional = TRUE),
    best_score = field("best_score", optional = TRUE),
    evaluation_log = field("evaluation_log", optional = TRUE),
    has_offset = field("has_offset"),
    formula = field("formula", optional = TRUE),
    terms = field("terms", optional = TRUE),
    n_obs = field("n_obs", optional = TRUE),
    version = 1L
  )
  check_model_fields(model)
  if (!is.null(model$evaluation_log)) {
    model$evaluation_log <- structure(model$evaluation_log, class = "data.frame",
                                      row.names = .set_row_names(length(model$evaluation_log[[1L]])))
  }
  structure(model, class = "gbt")
}

# The description against the forest: a file may be made of parts that do not belong together.
check_model_fields <- function(m) {
  m <- unclass(m) # before every single-row prediction: no methods are looked for
  text <- function(x) is.character(x) && length(x) == 1L && !is.na(x)
  whole <- function(x, low) is.integer(x) && length(x) == 1L && !is.na(x) && x >= low
  if (!whole(m$n_outputs, 1L)) bad_meta("n_outputs")
  if (!whole(m$nrounds, 0L)) bad_meta("nrounds")
  if (!is.character(m$feature_names)) bad_meta("feature_names")
  if (!is.character(m$feature_types) || length(m$feature_types) != length(m$feature_names)) bad_meta("feature_types")
  if (!text(m$objective) || is.na(loss_code(m$objective))) bad_meta("objective")
  if (!text(m$response)) bad_meta("response")
  n_classes <- switch(m$objective, softmax = m$n_outputs, logistic = if (is.null(m$classes)) 0L else 2L, 0L)
  if (length(m$classes) != n_classes || (n_classes > 0L && (!is.character(m$classes) || anyNA(m$classes)))) {
    bad_meta("classes")
  }
  if (!m$objective %in% c("softmax", "custom") && m$n_outputs != 1L) bad_meta("objective")
  if (!is.list(m$params)) bad_meta("params")
  if (!is.logical(m$has_offset) || length(m$has_offset) != 1L || is.na(m$has_offset)) bad_meta("has_offset")
  number <- function(x, low, high) {
    is.null(x) || (is.numeric(x) && length(x) == 1L && !is.na(x) && x >= low && x <= high)
  }
  if (!number(m$best_round, 1, m$nrounds) || any(m$best_round %% 1 != 0)) bad_meta("best_round")
  if (!number(m$n_obs, 0, 2^53)) bad_meta("n_obs")
  if (!is.null(m$best_score) && !(is.numeric(m$best_score) && length(m$best_score) == 1L)) bad_meta("best_score")
  if (!is.null(m$formula) && !text(m$formula)) bad_meta("formula")
  texts <- function(x) is.null(x) || (is.character(x) && !anyNA(x))
  d <- m$terms # the design of R/formula.R
  parts <- c("features", "offset", if ("code" %in% names(d)) "code")
  if (!is.null(d) && !(is.list(d) && setequal(names(d), parts) && texts(d$features) && texts(d$offset) &&
                         texts(d$code) && length(names(d$features)) == length(d$features) &&
                         all(d$code %in% c(d$features, d$offset)))) {
    bad_meta("terms")
  }
  log <- unclass(m$evaluation_log)
  if (!is.null(log)) {
    ok <- is.list(log) && length(log) > 0L && !is.null(names(log)) && all(vapply(log, is.numeric, NA)) &&
      length(unique(lengths(log))) == 1L
    if (!ok) bad_meta("evaluation_log")
  }
  invisible()
}

is_model <- function(x) inherits(x, "gbt") && is.list(x) && is.raw(.subset2(x, "state"))

check_model <- function(x, parameter = "object") {
  if (missing(x)) stop_argument(sprintf("`%s` is missing: give a model from gbt_train()", parameter), parameter)
  if (!is_model(x)) {
    stop_argument(sprintf("`%s` must be a model from gbt_train(), not %s", parameter, describe(x)), parameter)
  }
  # `$<-` on a model is nobody's fault as long as what gbt reads stays what it was
  why <- tryCatch(check_model_fields(x), gbt_error_format = conditionMessage)
  if (!is.null(why)) {
    stop_argument(sprintf("`%s` is a model whose fields were changed: %s", parameter, sub(".*: ", "", why)), parameter)
  }
  x
}

#' Save a model to a file and load it again
#'
#' `gbt_save()` writes the bytes of a model, `gbt_load()` makes the model of them. The file is the same on every
#' machine and does not depend on R's own formats; the model that comes back predicts the very same numbers. Models
#' may just as well be kept by [saveRDS()], [save()] or any other means: they are plain R objects.
#'
#' A file is written under another name in the same folder (`.gbt-*.tmp`) and then renamed, so that a full disk or a
#' crash never leaves half a model, and who reads at that moment gets the old one or the new one. What a killed process
#' left under such a name is removed by the next save to the same file. A folder in which no file can be made is an
#' error, even where the file itself could be written to. A link stays a link: the file that it leads to is written.
#'
#' What is read is checked from the first byte to the last: a file that was cut off or changed is an error of class
#' `gbt_error_format`.
#'
#' @param model A model from [gbt_train()].
#' @param file Path of the file.
#' @param trust A model that was trained by a formula such as `y ~ log(a) + b` evaluates its right side when it
#'   predicts. Arithmetic, mathematical functions, `ifelse()`, `factor()`, `cut()`, `poly()`, functions of texts and
#'   times and other common ones are evaluated by gbt itself, over plain vectors. A term with any other function, such
#'   as your own, is code that R must run: a file with such a term is an error unless `trust = TRUE` says that you know
#'   where the file comes from. (`readRDS()` and `load()` do not ask: such files can hold any code.)
#' @return `gbt_save()` returns its model invisibly, `gbt_load()` a model.
#' @seealso [gbt_train()]
#' @examples
#' m <- gbt_train(mpg ~ ., mtcars, nrounds = 5, threads = 1)
#' file <- tempfile(fileext = ".gbt")
#' gbt_save(m, file)
#' same <- gbt_load(file)
#' identical(predict(m, mtcars), predict(same, mtcars))
#' unlink(file)
#' @export
gbt_save <- function(model, file) {
  check_model(model, "model")
  check_path(file, "file")
  .Call(C_gbt_model_info, model$state) # never write what could not be read
  .Call(C_gbt_write_file, full_path(file), model$state)
  invisible(model)
}

#' @rdname gbt_save
#' @export
gbt_load <- function(file, trust = FALSE) {
  check_path(file, "file")
  check_flag(trust, "trust")
  state <- .Call(C_gbt_read_file, full_path(file))
  named <- function(e) stop_format(sprintf("\"%s\": %s", file, conditionMessage(e)), file)
  tryCatch({
    model <- gbt_model_from_state(state)
    check_design_safe(model$terms, trust)
    check_formula_safe(model$formula, trust)
  }, gbt_error_format = named)
  model
}

# path.expand() warns of long paths of any kind; the system has an error for those that are too long.
full_path <- function(file) if (startsWith(file, "~")) path.expand(file) else file

check_path <- function(x, parameter) {
  if (missing(x)) stop_argument(sprintf("`%s` is missing: give the path of a file", parameter), parameter)
  if (!is.character(x) || length(x) != 1L || is.na(x) || x == "") {
    stop_argument(sprintf("`%s` must be one path", parameter), parameter)
  }
}
