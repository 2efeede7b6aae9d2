# The fields of cross-validations and searches that other functions read: a user may change a list, and a changed
# field is an error that names it. (Methods of results are guarded by R/zzz.R.)

# NULL, or list(field, must): the first field that is wrong, and what it must be. x: without its class.
search_fault <- function(x, is_cv) {
  wrong <- function(field, must) list(field = field, must = must)
  least <- if (is.null(x$n_all)) 1 else 0 # a rank may have no rows
  if (!is_whole(x$n_obs, least, 2^53)) return(wrong("n_obs", "a number of rows"))
  rows <- function(at) is_plain(at) && is.numeric(at) && !anyNA(at) && all(at >= 1 & at <= x$n_obs & at %% 1 == 0)
  if (!is.list(x$folds) || is.object(x$folds) || !all(vapply(x$folds, rows, NA))) {
    return(wrong("folds", "a list of numbers of rows"))
  }
  if (!is.list(x$params) || is.object(x$params) || !are_names(names(x$params))) return(wrong("params", "a named list"))
  if (!is.null(x$by_rule) && !(is_texts(x$by_rule) && all(x$by_rule %in% names(x$params)))) {
    return(wrong("by_rule", "NULL or names of `params`"))
  }
  if (!is.null(x$rows) && !(is_plain(x$rows) && is.numeric(x$rows) && length(x$rows) == 4L)) {
    return(wrong("rows", "NULL or four numbers"))
  }
  if (is_cv) cv_fault(x, wrong) else tune_fault(x, wrong)
}

cv_fault <- function(x, wrong) {
  if (!is_whole(x$nrounds, 0, .Machine$integer.max)) return(wrong("nrounds", "a number of rounds"))
  for (field in c("best_round", "one_se_round")) {
    if (!is.null(x[[field]]) && !is_whole(x[[field]], 1, x$nrounds)) {
      return(wrong(field, "NULL or one of the rounds"))
    }
  }
  values <- x$predictions
  if (!is.numeric(values) || is.object(values) || NROW(values) != x$n_obs) {
    return(wrong("predictions", "numbers, as many as rows"))
  }
  NULL
}

tune_fault <- function(x, wrong) {
  if (!is.data.frame(x$results) || !all(c("config", "rounds") %in% names(x$results))) {
    return(wrong("results", "a data frame with columns `config` and `rounds`"))
  }
  if (is.null(x$best_config)) return(NULL)
  at <- if (is_whole(x$best_config, 1)) match(x$best_config, x$results$config) else NA
  if (is.na(at)) return(wrong("best_config", "NULL or one of the column `config` of `results`"))
  if (!is_whole(x$results$rounds[at], 0)) return(wrong("results", "a data frame with numbers in `rounds`"))
  if (!is.list(x$best) || is.object(x$best) || !are_names(names(x$best))) return(wrong("best", "a named list"))
  NULL
}

# object: a gbt_cv or a gbt_tune.
check_search <- function(object, parameter) {
  is_cv <- inherits(object, "gbt_cv")
  fields <- unclass(object)
  fault <- if (is.list(fields)) search_fault(fields, is_cv) else list(field = "folds", must = "a list")
  if (is.null(fault)) return(invisible(object))
  maker <- if (is_cv) "gbt_cv()" else "gbt_tune()"
  stop_argument(sprintf("the field `%s` of the result of %s was changed: it must be %s; run %s again", fault$field,
                        maker, fault$must, maker), parameter)
}

# label: the response of rows that are to be those of a cross-validation.
check_rows_of_cv <- function(cv, label) {
  check_search(cv, "cv")
  differs <- print_differs(cv$rows, label_print(label))
  if (!is.null(differs)) {
    stop_data(sprintf("these are not the rows of the cross-validation: they %s; give its data, in the same order",
                      differs), "data")
  }
}
