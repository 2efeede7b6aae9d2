# The model object and its bytes. What R keeps with a model (classes, parameters, log, formula) is also in the bytes, so
# the whole object can be made from `state`, until the user changes a field:
#
#   train:  state <- .Call(C_gbt_trainer_model, trainer, model_meta(list(params = ..., response = ..., ...)))
#           model <- gbt_model_from_state(state)
#   load:   model <- gbt_model_from_state(bytes of the file)
#
# Files have the fields of only_in_files as well. `state` never has them: its bytes depend on the values of parameters,
# not on whether the user or a rule chose them, nor on the day.
#
# model_meta() takes a named list of what is in file_fields, with `user` for what the user added, and makes of it the
# flat named list of texts, doubles and integers that the engine stores, in one order. A field is NULL, an atomic vector
# with or without names, or a list of such, to any depth. An entry's name tells what it is:  name  a vector,
# name:lgl  logical,  name:names  names of name,  name:list  length of a list whose items are name/1, name/2, ...,
# name:null  NULL.

meta_fields <- c("classes", "response", "params", "best_round", "best_score", "evaluation_log",
                 "has_offset", "formula", "terms", "exposure", "n_obs", "auto_rounds", "baseline", "strata",
                 "positions", "imported", "columns")

only_in_files <- c("by_rule", "named", "race", "has_weights", "balanced", "n_queries", "n_events",
                   "provenance")
file_fields <- c(meta_fields, only_in_files, "user")

model_meta <- function(fields) {
  stopifnot(all(names(fields) %in% file_fields))
  # bytes of models without one of these are those of before
  for (name in c("exposure", "auto_rounds", "baseline", "strata", "positions", "imported", "columns", only_in_files)) {
    if (is.null(fields[[name]])) fields[[name]] <- NULL
  }
  if (!is.null(fields$evaluation_log)) fields$evaluation_log <- as.list(fields$evaluation_log)
  if (!is.null(fields$positions)) fields$positions <- as.list(fields$positions)
  if (!is.null(fields$race)) fields$race <- as.list(fields$race)
  if (!is.null(fields$auto_rounds$log)) fields$auto_rounds$log <- as.list(fields$auto_rounds$log)
  fields <- fields[intersect(file_fields, names(fields))] # one order: the bytes depend on it
  do.call(c, c(list(list()), unname(Map(pack, fields, names(fields)))))
}

# The object --------------------------------------------------------------------------------------------------------

# As a double: a model without trees may claim to have any number of them. A leaf has a value for one output, or for
# all.
trees_of_round <- function(info) as.double(info$n_outputs) / info$n_leaf_outputs * info$n_parallel

# state: the model's bytes, checked here. list of class gbt; see ?gbt_train for its fields.
gbt_model_from_state <- function(state) {
  cache <- .Call(C_gbt_model_cache, state)
  info <- .Call(C_gbt_model_info, state, cache)
  meta <- info$meta
  field <- function(name, optional = FALSE) {
    known <- any(names(meta) %in% paste0(name, c("", ":lgl", ":list", ":null")))
    if (!known && optional) NULL else unpack(meta, name)
  }
  model <- list(
    state = state,
    cache = cache,
    objective = info$objective,
    classes = field("classes", optional = TRUE),
    response = field("response"),
    feature_names = info$names,
    feature_types = info$tag,
    n_outputs = info$n_outputs,
    params = field("params"),
    nrounds = as.integer(info$n_trees / trees_of_round(info)),
    best_round = field("best_round", optional = TRUE),
    best_score = field("best_score", optional = TRUE),
    evaluation_log = field("evaluation_log", optional = TRUE),
    has_offset = field("has_offset"),
    formula = field("formula", optional = TRUE),
    terms = field("terms", optional = TRUE),
    exposure = field("exposure", optional = TRUE),
    n_obs = field("n_obs", optional = TRUE),
    auto_rounds = field("auto_rounds", optional = TRUE),
    baseline = field("baseline", optional = TRUE),
    strata = field("strata", optional = TRUE),
    positions = field("positions", optional = TRUE),
    imported = field("imported", optional = TRUE),
    columns = field("columns", optional = TRUE),
    version = 1L
  )
  log <- model$evaluation_log
  if (is.list(log) && length(log)) model$evaluation_log <- list_frame(log, length(log[[1L]]))
  log <- if (is.list(model$auto_rounds)) model$auto_rounds[["log"]]
  if (is.list(log) && length(log)) model$auto_rounds$log <- list_frame(log, length(log[[1L]]))
  at <- model$positions
  if (is.list(at) && length(at)) model$positions <- list_frame(at, length(at[[1L]]))
  for (name in only_in_files) model[[name]] <- field(name, optional = TRUE)
  race <- model$race
  if (is.list(race) && length(race)) model$race <- list_frame(race, length(race[[1L]]))
  fault <- model_fault(model)
  if (!is.null(fault)) stop_meta(fault$field, paste("must be", fault$must))
  structure(c(model, read_user_fields(field("user", optional = TRUE))), class = "gbt")
}

read_user_fields <- function(user) {
  ok <- is.null(user) || (is.list(user) && are_names(names(user)) && !any(names(user) %in% model_fields))
  if (!ok) stop_meta("user")
  user
}

is_model <- function(x) inherits(x, "gbt") && is.list(x)

check_model <- function(x, parameter = "object") {
  if (missing(x)) stop_argument(sprintf("`%s` is missing: give a model from gbt_train()", parameter), parameter)
  if (!is_model(x)) {
    stop_argument(sprintf("`%s` must be a model from gbt_train(), not %s%s", parameter, describe(x), its_model(x)),
                  parameter)
  }
  # `$<-` on a model is allowed as long as the fields that gbt reads keep their values
  if (.Call(C_gbt_model_known, x)) return(x) # before every single-row prediction: nothing was replaced since then
  fields <- unclass(x)
  fault <- model_fault(fields)
  if (!is.null(fault)) {
    stop_argument(sprintf("`%s` is a model whose fields were changed: `%s` must be %s", parameter, fault$field,
                          fault$must), parameter)
  }
  known_model(x)
}

# The model, whose fields gbt has just made or checked: as long as none is replaced, check_model() need not look again.
# Fields that model_fault() does not read may be replaced, and are not kept: `call` may hold the data.
known_model <- function(model) {
  fields <- unclass(model)
  .Call(C_gbt_model_remember, fields, names(fields) %in% model_fields)
  model
}

# How to get a model out of a result that has one, as the end of a message.
its_model <- function(x) {
  ways <- c(gbt_calibrated = "its field `model`", gbt_cv = "gbt_refit() of it", gbt_tune = "gbt_refit() of it",
            gbt_conformal = "its field `models[[1]]`")
  way <- ways[intersect(class(x), names(ways))]
  if (length(way)) paste0("; give ", way[[1L]]) else ""
}

# The fields that the bytes keep, as they are now.
stored_fields <- function(model) {
  model <- unclass(model)
  stats::setNames(lapply(meta_fields, function(name) model[[name]]), meta_fields)
}

# The bytes of a model with its fields as they are now: those in `state` where nothing was changed or added.
bytes_to_save <- function(model) {
  as_read <- gbt_model_from_state(model$state) # never write what could not be read
  fields_of <- function(model, user) {
    c(stored_fields(model), unclass(model)[intersect(only_in_files, names(model))], if (length(user)) list(user = user))
  }
  now <- model_meta(fields_of(model, fields_to_save(model)))
  if (identical(now, model_meta(fields_of(as_read, user_fields(as_read))))) return(model$state)
  state <- .Call(C_gbt_model_slice, model$state, c(0, model$nrounds), now)
  gbt_model_from_state(state)
  state
}

#' Save a model to a file and load it again
#'
#' `gbt_save()` writes a model to a file, `gbt_load()` reads it. The file does not depend on the machine or on the
#' version of R, and the loaded model predicts the same numbers. Models are plain R objects, so [saveRDS()] and [save()]
#' work, too.
#'
#' With a path, the file is first written under another name in the same folder (`.gbt-*.tmp`) and then renamed. So a
#' full disk or a crash never leaves an incomplete model, and a process that reads at the same time gets the old model
#' or the new one. The next save to the same file removes a temporary file that a killed process left. Creating files in
#' the folder must be allowed. If the file is a link, the file that it points to is written.
#'
#' Instead of a path you can give a connection, such as [url()], [gzfile()], [socketConnection()] or [rawConnection()];
#' `gbt_load()` also takes a raw vector with the bytes of a file. An open connection must be binary (`"rb"`, `"wb"`).
#' Exactly the bytes of one model are read, so a connection may contain several models one after the other. gbt opens a
#' connection that is not open, and closes it afterwards. The protection against crashes is only for paths.
#'
#' Fields that you add to a model, such as `model$note <- "approved by QA"`, are saved if they are vectors of logical
#' values, numbers or texts, `NULL`, or lists of these. Anything else (a data frame, a function) is left out, with a
#' warning of class `gbt_warning_save` that names it.
#'
#' Saving a model of a recipe (`gbt_train(recipe, data)`) is an error, since predictions need the recipe, which the file
#' cannot contain. Use [saveRDS()], or `drop_recipe = TRUE` to save the model without its recipe: then bake rows
#' yourself before you predict, or save the recipe in another file and put it back: `model$recipe <- readRDS(...)`.
#'
#' `gbt_load()` checks the whole file: if it is incomplete or damaged, there is an error of class `gbt_error_format`.
#'
#' @param model A model from [gbt_train()].
#' @param file Path of the file, or a connection. For `gbt_load()` also a raw vector.
#' @param drop_recipe TRUE saves a model of a recipe without the recipe.
#' @param trust A model with a formula such as `y ~ log(a) + b` evaluates its right side when it predicts. gbt itself
#'   evaluates arithmetic, mathematical functions, `ifelse()`, `factor()`, `cut()`, `poly()`, functions of strings and
#'   times, and other common ones, so they are safe. Any other function, such as your own, is code that R must run, and
#'   loading a file with such a function in its formula is an error, unless you give `trust = TRUE` because you trust
#'   the file. The functions themselves are not in the file: define them, or load their package, before you predict.
#'   (`readRDS()` and `load()` have no such protection: their files can contain any code.)
#' @param ... Must be empty: a misspelt argument is an error.
#' @section Provenance:
#' `model$provenance` says where a model comes from: `trained`, the day of its training (UTC); `gbt`, the version;
#' `data`, a fingerprint of the training data; and `history`, a text for each model that it was continued (`init_model`)
#' or refitted from ([gbt_refit()], `update()`), oldest first. You can add fields of your own, such as `model$note <-
#' "approved by QA"`. [summary()][gbt_methods] and [gbt_report()] show all of it; files and [saveRDS()] keep it. For
#' models from files of earlier versions it is "unknown".
#'
#' The fingerprint covers the names, order and types (numbers, levels, ordered levels) of the columns, every value, the
#' response with its classes, weights, offset, exposure, `time`, `group`, and the order of the rows; with `mask` or
#' `valid` also which rows were trained on. It does not depend on the form of the data: data frame, matrix, sparse
#' matrix, character or factor, integer or double, chunks or folders. It does not cover parameters or separate
#' validation data. So two models with the same fingerprint were trained on the same data; to check a table, train one
#' round on it and compare the fingerprints. It finds accidental changes, but does not protect against data that were
#' changed on purpose.
#'
#' Equal trainings give the same `model$state` on any day, but files also contain the day. For files with equal bytes,
#' set the environment variable `SOURCE_DATE_EPOCH` (seconds since 1970), which then gives the day.
#'
#' @return `gbt_save()` returns its model invisibly, `gbt_load()` a model.
#' @seealso [gbt_refit()] to train a model from a file again, on new data; [gbt_monitor()]; [gbt_train()]
#' @concept save a model
#' @concept load a model
#' @concept export
#' @concept provenance
#' @concept audit trail
#' @concept model version
#' @examples
#' m <- gbt_train(mpg ~ ., mtcars, nrounds = 5, threads = 1)
#' file <- tempfile(fileext = ".gbt")
#' gbt_save(m, file)
#' same <- gbt_load(file)
#' identical(predict(m, mtcars), predict(same, mtcars))
#'
#' # which data, when, by which version
#' str(same$provenance)
#' check <- gbt_train(mpg ~ ., mtcars, nrounds = 1, threads = 1)
#' check$provenance$data == same$provenance$data # was it this table?
#' unlink(file)
#' @export
gbt_save <- function(model, file, drop_recipe = FALSE, ...) {
  check_no_dots(written_dots(...), names(formals(gbt_save)))
  check_model(model, "model")
  if (!is.null(recipe_of(model))) {
    if (!check_flag(drop_recipe, "drop_recipe")) stop_recipe_in_file()
    model$recipe <- NULL
  }
  if (!missing(file) && is_connection(file)) {
    write_model_bytes(file, bytes_to_save(model))
    return(invisible(model))
  }
  check_path(file, "file", "one path or a connection")
  .Call(C_gbt_write_file, full_path(file), bytes_to_save(model))
  invisible(model)
}

stop_recipe_in_file <- function() {
  stop_unsupported(paste("the model was trained by a recipe, which is code that the file cannot keep, and predictions",
                         "for raw rows need it: use saveRDS(model, file), or give `drop_recipe = TRUE` and bake rows",
                         "yourself before you predict"), "drop_recipe")
}

#' @rdname gbt_save
#' @export
gbt_load <- function(file, trust = FALSE, ...) {
  check_no_dots(written_dots(...), names(formals(gbt_load)))
  if (missing(file)) check_path(file, "file")
  check_flag(trust, "trust")
  name <- file
  if (is_raw_vector(file)) {
    name <- "the raw vector"
    state <- as.vector(file)
  } else if (is_connection(file)) {
    name <- connection_name(file)
    state <- read_model_bytes(file)
  } else {
    check_path(file, "file", "one path, a connection or a raw vector")
    state <- .Call(C_gbt_read_file, full_path(file))
  }
  shown <- if (is_raw_vector(file)) name else sprintf("\"%s\"", name)
  named <- function(e) stop_format(sprintf("%s: %s", shown, conditionMessage(e)), name)
  tryCatch(model_of_bytes(state, function(model) c(code = trust, formula = trust)), gbt_error_format = named)
}

# The model of bytes that may come from anyone. trusts: function(model), whether the code of its terms and the text of
# its formula may be evaluated, whatever they are; as `trust` of gbt_load().
model_of_bytes <- function(state, trusts) {
  model <- with_state_of_training(gbt_model_from_state(state))
  trust <- trusts(model)
  check_design_safe(model$terms, trust[["code"]])
  check_formula_safe(model$formula, trust[["formula"]])
  known_model(model)
}

# A model with the bytes that its training had, see the top.
with_state_of_training <- function(model) {
  extra <- unclass(model)[intersect(only_in_files, names(model))]
  if (length(extra) == 0L) return(model)
  user <- user_fields(model)
  meta <- model_meta(c(stored_fields(model), if (length(user)) list(user = user)))
  model <- gbt_model_from_state(.Call(C_gbt_model_slice, model$state, c(0, model$nrounds), meta))
  own <- unclass(model)[setdiff(names(model), names(user))]
  structure(c(own, extra, user), class = "gbt") # the user's fields come last
}
