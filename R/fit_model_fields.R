# The fields of a model: what each must be, checked before any method reads one. The bytes in `state` are the model; the
# other fields tell what is in them, and a user may change a list. What gbt reads of a field is what its check says,
# so that a changed field, or a file made of parts that do not belong together, is an error that names it.

# Every field of gbt's own. Those in meta_fields lie in the bytes as they are; the others follow from the model's other
# parts.
model_fields <- c("state", "cache", "objective", "classes", "response", "feature_names", "feature_types", "n_outputs",
                  "params", "nrounds", "best_round", "best_score", "evaluation_log", "has_offset", "formula", "terms",
                  "exposure", "stopped", "has_weights", "balanced", "n_queries", "n_events", "warned", "named",
                  "by_rule", "race", "provenance", "n_obs", "auto_rounds", "version", "masked_out",
                  "baseline", "strata", "positions", "imported", "columns")

# The reasons why a training ended, other than the number of rounds and early stopping.
stop_reasons <- c("time", "callback", "interrupt", "error")

# m: a model without its class. NULL, or list(field, must): the first field that is wrong, and what it must be. Raises
# gbt_error_format when the bytes are no model.
model_fault <- function(m) {
  wrong <- function(field, must) list(field = field, must = must)
  fault <- forest_fault(m, wrong)
  if (!is.null(fault)) return(fault)
  n_classes <- switch(objective_info(m$objective)$labels, CLASS = m$n_outputs,
                      BINARY = if (is.null(m$classes)) 0L else 2L, 0L)
  classes <- if (is.null(m$classes)) character(0) else m$classes
  if (!is_texts(classes) || length(classes) != n_classes || anyDuplicated(classes)) {
    return(wrong("classes", if (n_classes > 0L) sprintf("the texts of %d classes", n_classes) else "NULL"))
  }
  if (!is_text(m$response) || !m$response %in% response_types) {
    return(wrong("response", sprintf("one of %s", enumerate(response_types, quote = "\""))))
  }
  n_columns <- if (may_have_columns(m$objective) && m$n_outputs > 1L) m$n_outputs else 0L
  columns <- if (is.null(m$columns)) character(0) else m$columns
  if (!is_texts(columns) || length(columns) != n_columns || anyDuplicated(columns) ||
        (n_columns > 0L) != is_of_columns(m$response)) {
    must <- if (n_columns > 0L) sprintf("the names of %d columns of the response", n_columns) else "NULL"
    return(wrong("columns", must))
  }
  fault <- params_fault(m$params, m$nrounds)
  if (!is.null(fault)) return(wrong("params", fault))
  if (is_of_intervals(m$objective) && !are_breaks(m$params$breaks, m$n_outputs)) {
    return(wrong("params", "a list with the end of the interval of each output in `breaks`"))
  }
  if (!is.null(m$best_round) && !is_whole(m$best_round, 1, m$nrounds)) {
    return(wrong("best_round", "NULL or one of the model's rounds"))
  }
  if (!is.null(m$best_score) && !(is_plain(m$best_score) && is.numeric(m$best_score) && length(m$best_score) == 1L)) {
    return(wrong("best_score", "NULL or one number"))
  }
  if (!is.null(m$evaluation_log)) {
    fault <- log_fault(m$evaluation_log, m$params$eval_metric)
    if (!is.null(fault)) return(wrong("evaluation_log", fault))
  }
  if (!is_flag(m$has_offset)) return(wrong("has_offset", "TRUE or FALSE"))
  if (!is.null(m$formula) && !is_text(m$formula)) return(wrong("formula", "NULL or the text of a formula"))
  if (!is_design(m$terms)) return(wrong("terms", "NULL or a list of `features` and `offset`, texts of expressions"))
  exposed <- is.null(m$exposure) || (is_text(m$exposure) && m$has_offset && has_log_link(m$objective))
  if (!exposed) return(wrong("exposure", "NULL, or the name of a column in a model with an offset and a log link"))
  if (!is.null(m$stopped) && !(is_text(m$stopped) && m$stopped %in% stop_reasons)) {
    return(wrong("stopped", sprintf("NULL or one of %s", enumerate(stop_reasons, quote = "\""))))
  }
  if (!is.null(m$has_weights) && !isTRUE(m$has_weights)) return(wrong("has_weights", "NULL or TRUE"))
  if (!is.null(m$balanced) && !isTRUE(m$balanced)) return(wrong("balanced", "NULL or TRUE"))
  if (!is.null(m$n_events) && !is_whole(m$n_events, 0, 2^53)) return(wrong("n_events", "NULL or a number of events"))
  if (!is.null(m$n_queries) && !is_number(m$n_queries, 1)) return(wrong("n_queries", "NULL or a number of 1 or more"))
  if (!is.null(m$warned) && !is_text(m$warned)) return(wrong("warned", "NULL or a text"))
  if (!is.null(m$named) && !are_names(m$named)) return(wrong("named", "NULL or names of parameters"))
  if (!is.null(m$by_rule) && !(are_names(m$by_rule) && all(m$by_rule %in% names(m$params)))) {
    return(wrong("by_rule", "NULL or names of `params`"))
  }
  if (!is_race(m$race)) {
    return(wrong("race", "NULL or a data frame of `shape`, `rounds`, `loss` and `chosen`, which is TRUE in one row"))
  }
  fault <- provenance_fault(m$provenance)
  if (!is.null(fault)) return(wrong("provenance", fault))
  if (!is.null(m$n_obs) && !is_whole(m$n_obs, 0, 2^53)) return(wrong("n_obs", "NULL or a number of rows"))
  if (!is_baseline(m$baseline, !is.null(m$strata))) {
    return(wrong("baseline", "NULL or a list of `rounds`, `time`, `hazard` and, in a model with `strata`, `strata`"))
  }
  if (!is.null(m$strata) && !(is_texts(m$strata) && length(m$strata) > 0L && is_of_hazards(m$objective))) {
    return(wrong("strata", "NULL, or names of columns in a model of hazards"))
  }
  if (!is_positions(m$positions)) {
    return(wrong("positions", "NULL or a data frame of `position` and `bias`, or of `position`, `plus` and `minus`"))
  }
  fault <- imported_fault(m$imported)
  if (!is.null(fault)) return(wrong("imported", fault))
  fault <- auto_rounds_fault(m$auto_rounds)
  if (!is.null(fault)) return(wrong("auto_rounds", fault))
  if (!identical(m$version, 1L)) return(wrong("version", "1L"))
  if (!is.null(m$masked_out) && !(is.numeric(m$masked_out) && !is.object(m$masked_out))) {
    return(wrong("masked_out", "NULL or numbers"))
  }
  NULL
}

# Facts about the forest.
forest_fault <- function(m, wrong) {
  if (!is.raw(m$state) || is.object(m$state)) return(wrong("state", "the bytes of a model"))
  for (field in c("feature_names", "feature_types")) {
    if (!is_texts(m[[field]])) return(wrong(field, "texts"))
  }
  shape <- .Call(C_gbt_model_shape, m$state, m$cache, m$objective, m$feature_names, m$feature_types)
  if (!is.integer(m$n_outputs) || !is_number(m$n_outputs, shape[1L], shape[1L])) {
    return(wrong("n_outputs", sprintf("%.0fL", shape[1L])))
  }
  if (!is.integer(m$nrounds) || !is_number(m$nrounds, shape[2L], shape[2L])) {
    return(wrong("nrounds", sprintf("%.0fL", shape[2L])))
  }
  if (!is.list(m$params) || is.object(m$params) || !is_number(m$params[["num_parallel_tree"]], shape[3L], shape[3L])) {
    return(wrong("params", sprintf("a list with num_parallel_tree = %.0f", shape[3L])))
  }
  if (shape[6L] == 0) return(wrong("objective", "the name of the objective that the trees were trained for"))
  param <- objective_info(m$objective)$params$name
  for (i in seq_along(param)) {
    value <- shape[6L + i]
    its <- m$params[[param[i]]]
    if (i == 1L && may_have_levels(m$objective) && m$n_outputs > 1L) {
      if (!are_levels(its, m$n_outputs)) {
        return(wrong("params", sprintf("a list with the level of each output in `%s`, ascending", param[i])))
      }
      its <- its[1L]
    }
    if (!is_number(its, value, value)) {
      return(wrong("params", sprintf("a list with %s = %s, of the objective", param[i], format(value, digits = 15L))))
    }
  }
  if (shape[4L] == 0) return(wrong("feature_names", "the names of the features in `state`"))
  if (shape[5L] == 0) return(wrong("feature_types", "the types of the features in `state`"))
}

# NULL or what the parameters must be. They are printed, so that each must be numbers, numbers by name, texts, or sets
# of texts; those that methods read must be right.
params_fault <- function(params, nrounds) {
  if (!are_names(names(params))) return("a list of parameters by name")
  for (i in seq_along(params)) {
    if (!is_param(params[[i]])) {
      return(sprintf("a list of parameters, and `%s` numbers or texts", names(params)[i]))
    }
  }
  eta <- params[["eta"]]
  rates <- is.null(eta) || (is_plain(eta) && is.numeric(eta) && length(eta) %in% c(1L, nrounds) &&
                              all(eta > 0 & eta <= 1))
  if (!rates) return("a list with one number in `eta`, or one for each round, above 0 and at most 1")
  if (!is.null(params$eval_metric) && !is.character(params$eval_metric)) return("a list with names in `eval_metric`")
  if (!is.null(params$level_counts) && !is.character(params$level_counts)) {
    return("a list with names in `level_counts`")
  }
  if (!is.null(params$cat_method) && !(is.list(params$cat_method) && are_names(names(params$cat_method)))) {
    return("a list with a list of texts by the names of features in `cat_method`")
  }
  if (!is.null(params$cause) && !is_text(params$cause)) return("a list with a text in `cause`")
  if (!is.null(params$sparse_zero) && !identical(params$sparse_zero, "missing")) {
    return("a list in which `sparse_zero` is \"missing\" or not there")
  }
  NULL
}

is_param <- function(x) {
  if (is.list(x)) return(!is.object(x) && all(vapply(x, is_texts, NA)))
  if (is.character(x)) return(is_texts(x) && is.null(names(x)))
  is_plain(x) && (is.numeric(x) || is.logical(x)) && !anyNA(x) && (is.null(names(x)) || is_texts(names(x)))
}

# The round and the metrics of it, set by set.
log_fault <- function(log, metrics) {
  columns <- unclass(log)
  ok <- is.list(columns) && inherits(log, "data.frame") && length(columns) > 0L && are_names(names(columns)) &&
    names(columns)[1L] == "round" && all(vapply(columns, function(v) is_plain(v) && is.numeric(v), NA)) &&
    all(lengths(columns) == .row_names_info(log, 2L))
  if (!ok) return("NULL or a data frame of numbers, `round` first")
  round <- columns[[1L]]
  if (anyNA(round) || any(round %% 1 != 0 | round < 1 | round > .Machine$integer.max)) {
    return("a data frame with numbers of rounds in `round`")
  }
  shown <- names(columns)[-1L] # set by set, all metrics of each
  if (length(shown) == 0L) return(NULL)
  fits <- length(metrics) > 0L && length(shown) %% length(metrics) == 0L &&
    all(endsWith(shown, paste0("_", rep_len(metrics, length(shown)))))
  if (!fits) "a data frame with the metrics of `params$eval_metric`, set by set"
}

# Facts about a model that another program has trained, see R/verb_import.R.
imported_fault <- function(x) {
  if (is.null(x)) return(NULL)
  fields <- c("program", "version", "objective", "lacks")
  ok <- is.list(x) && !is.object(x) && identical(names(x), fields) && all(vapply(x, is_texts, NA)) &&
    all(lengths(x[1:3]) == 1L) && all(x$lacks %in% c("gain", "cover", "count"))
  if (!ok) sprintf("NULL or a list of texts: %s", enumerate(fields))
}

# Raises where a model was not trained by gbt. what: the clause that says what cannot be done.
refuse_imported <- function(model, what, parameter) {
  if (is.null(model$imported)) return(invisible())
  stop_unsupported(sprintf(paste("the model was imported from %s, and %s; use its scores as an offset:",
                                 "gbt_train(..., offset = predict(model, x, \"link\"))"),
                           printable(model$imported$program), what), parameter)
}

# How the number of rounds was found, see R/fit_rounds_auto.R.
auto_rounds_fault <- function(x) {
  if (is.null(x)) return(NULL)
  if (!is.list(x) || is.object(x) || !are_names(names(x))) return("NULL or a list by name")
  if (!is_text(x$by) || !x$by %in% names(found_by)) {
    return(sprintf("a list with `by`, one of %s", enumerate(names(found_by), quote = "\"")))
  }
  counts <- c("rounds", "n_train", if (x$by != "none") c("folds", "n_held", "patience", "limit"))
  for (name in counts) if (!is_whole(x[[name]], 1, 2^53)) return(sprintf("a list with a number in `%s`", name))
  if (x$by == "none") return(NULL)
  if (!is_number(x$score)) return("a list with a number in `score`")
  if (!is_text(x$stopped) || !x$stopped %in% names(found_how)) {
    return(sprintf("a list with `stopped`, one of %s", enumerate(names(found_how), quote = "\"")))
  }
  if (!is_texts(x$eval_metric) || length(x$eval_metric) == 0L) return("a list with names in `eval_metric`")
  fault <- log_fault(x$log, x$eval_metric)
  sets <- length(x$log) == 1L + length(x$eval_metric)
  if (!is.null(fault) || !sets) "a list with a `log`: `round`, and a column for each of `eval_metric`"
}

# The table of R/fit_race.R.
is_race <- function(x) {
  if (is.null(x)) return(TRUE)
  if (!is.data.frame(x) || !setequal(names(x), c("shape", "rounds", "loss", "chosen"))) return(FALSE)
  is_texts(x$shape) && is.numeric(x$rounds) && !is.object(x$rounds) && is.numeric(x$loss) && !is.object(x$loss) &&
    is.logical(x$chosen) && !is.object(x$chosen) && !anyNA(x$chosen) && sum(x$chosen) == 1
}

# The design of R/data_formula.R.
is_design <- function(x) {
  if (is.null(x)) return(TRUE)
  texts <- function(x) is.null(x) || is_texts(x)
  if (!is.list(x) || is.object(x)) return(FALSE)
  parts <- c("features", "offset", intersect(c("code", "columns", "levels", "by_codes", "settings"), names(x)))
  levels <- x[["levels"]]
  length(x) == length(parts) && setequal(names(x), parts) &&
    all(vapply(x[setdiff(parts, "levels")], texts, NA)) &&
    texts(names(x[["features"]])) && length(names(x[["features"]])) == length(x[["features"]]) &&
    all(x[["code"]] %in% c(x[["features"]], x[["offset"]])) && are_kinds(x[["columns"]]) &&
    (is.null(levels) || (is.list(levels) && all(vapply(levels, texts, NA)) && !anyDuplicated(names(levels)) &&
                           all(names(levels) %in% names(x[["columns"]])))) && named_settings(x[["settings"]])
}

are_kinds <- function(x) {
  if (is.null(x)) return(TRUE)
  known <- c("number", "text", "factor", "ordered", "factor:NA", "ordered:NA", "Date", "other",
             paste0("difftime:", time_units))
  zone <- startsWith(x, "POSIXct:") & vapply(sub("POSIXct:", "", x), function(zone) is_setting("TZ", zone), NA)
  are_names(names(x)) && all(x %in% known | zone)
}

named_settings <- function(x) {
  is.null(x) || (are_names(names(x)) && all(names(x) %in% names(neutral_settings)) &&
                   all(mapply(is_setting, names(x), unname(x))))
}

# Fields of the user ------------------------------------------------------------------------------------------------

# Fields that are not gbt's own: list by name.
user_fields <- function(m) {
  m <- unclass(m)
  m[!names(m) %in% model_fields]
}

# Can the bytes of a model keep it? Vectors of logical values, numbers or texts, NULL, and lists of such.
is_storable <- function(x, depth = 0L) {
  if (is.null(x)) return(TRUE)
  extra <- setdiff(names(attributes(x)), "names")
  labels <- names(x)
  if (length(extra) || !valid_texts(labels) || depth > 15L) return(FALSE)
  if (is.list(x)) return(all(vapply(x, is_storable, NA, depth = depth + 1L)))
  is.logical(x) || is.numeric(x) || (is.character(x) && valid_texts(x))
}

valid_texts <- function(x) is.null(x) || (all(validEnc(x)) && all(Encoding(x) != "bytes"))

# The user's fields that are saved. Of the others, and of attributes, a warning tells. The call stays in the session:
# update() would run what a file says.
fields_to_save <- function(model) {
  user <- user_fields(model)
  user <- user[!(names(user) %in% "call" & vapply(user, is.call, NA)) & !names(user) %in% "call_constants"]
  given <- as.character(names(user))
  twice <- duplicated(given) | duplicated(given, fromLast = TRUE)
  good <- !is.na(given) & nzchar(given) & !twice & vapply(user, is_storable, NA) & vapply(given, valid_texts, NA)
  lost <- sprintf("`%s`", printable(given[!good]))
  lost <- c(lost, sprintf("attribute \"%s\"", printable(setdiff(names(attributes(model)), c("names", "class")))))
  if (!identical(class(model), "gbt")) lost <- c(lost, "its other classes")
  if (length(lost)) {
    warn_gbt("save", sprintf(paste("the file keeps the model and the fields that were added to it, but not %s;",
                                   "saveRDS() keeps everything"), enumerate(lost, quote = "")))
  }
  user[good]
}

# The rows that were held out: of a list as above.
found_by <- list(
  split = function(found) sprintf("on %s held-out rows", with_commas(found$n_held)),
  groups = function(found) sprintf("on %s rows of held-out groups", with_commas(found$n_held)),
  time = function(found) sprintf("on the last %s rows", with_commas(found$n_held)),
  folds = function(found) sprintf("in %d folds", as.integer(found$folds)),
  none = function(found) "without held-out rows, of which there would be too few"
)
found_how <- c(early = "early stopping %s found round %s (%s %s)",
               limit = "the search %s ended at the limit of rounds; round %s was the best one (%s %s)",
               time = "the search %s was ended by `max_seconds`; round %s was the best one (%s %s)")

# "early stopping on 2,000 held-out rows found round 136 (held_out_rmse 0.512)"
found_text <- function(found) {
  at <- found_by[[found$by]](found)
  if (found$by == "none") return(at)
  sprintf(found_how[[found$stopped]], at, with_commas(found$rounds), names(found$log)[length(found$log)],
          format(found$score, digits = 5L))
}
