# Training once more by a call that was kept: gbt_refit(), update().

#' Train again on all rows or with other arguments
#'
#' `gbt_refit()` trains on all rows the model that a cross-validation, a parameter search or early stopping has chosen.
#' It evaluates the call again, in the environment where you call `gbt_refit()`, with the chosen number of rounds and
#' parameters, and without folds, validation data and early stopping. Parameters that rules had chosen keep their
#' values. `update()` evaluates the call of a model again, with other arguments; it keeps the shape of trees that a rule
#' or a race had chosen, unless you give another one, or another `preset`.
#'
#' @section Models from files:
#' A model of [gbt_load()] has no call, but its file has most arguments: `gbt_refit(model, data = new)` trains it again
#' on new data, with its formula and constants, objective, parameters (also those that rules had chosen), number of
#' rounds, seed, class weights (`"balanced"` is computed from the new data), `cat_features`, and the column of the
#' exposure. `update()` does the same with other arguments. With the original data, the model has the same trees.
#' Without a formula, give `x` and `y`.
#'
#' Values for each row and functions are not in a file. If the model had `weights`, `offset` or `exposure` as values, or
#' an objective of your own, give them again, or `weights = NULL` to train without. `subset`, `mask`, `time`, `group`
#' and `valid` are not in the file either. For a calibrated model refit the field `model`, for a conformal one
#' `models[[1]]`.
#'
#' @param object The result of [gbt_cv()] or [gbt_tune()], or a model.
#' @param ... Arguments to change or to add, by name: `gbt_refit(cv, eta = 0.05)`. If the call was made by [do.call()]
#'   with the data in it, or in a function whose variables no longer exist, give the data: `gbt_refit(cv, x = , y = )`
#'   or `gbt_refit(model, data = )`. Data that differ from those of the cross-validation or search (in the number of
#'   rows, the response or, for dense data in memory, the columns) give a warning (class `gbt_warning_data`). Constants
#'   of the formula (`p` in `mpg ~ I(wt^p)`) keep their values, unless you give a new formula.
#' @param rule For a cross-validation: `"best"` takes the round of the best mean, `"one_se"` the first round within one
#'   standard error of it.
#' @param nrounds The number of rounds, instead of the chosen one.
#' @return A model, see [gbt_train()].
#' @seealso [gbt_cv()], [gbt_tune()], [gbt_train()]
#' @examples
#' m <- gbt_train(mpg ~ ., mtcars, nrounds = 200, valid = 0.3, early_stopping_rounds = 5, seed = 1,
#'                threads = 1)
#' m$best_round
#' final <- gbt_refit(m) # as many rounds, on all rows
#' nobs(final)
#' shallow <- update(final, max_depth = 2)
#' without_weight <- update(final, . ~ . - wt)
#' variable.names(without_weight)
#'
#' # a model from a file, trained again on new data
#' file <- tempfile(fileext = ".gbt")
#' gbt_save(final, file)
#' live <- gbt_load(file)
#' newer <- gbt_refit(live, data = mtcars[-1, ])
#' newer$provenance$history
#' unlink(file)
#' @concept retrain a model
#' @concept model version
#' @export
gbt_refit <- function(object, ..., rule = c("best", "one_se"), nrounds = NULL) {
  told_to_ranks({
    if (inherits(object, c("gbt_cv", "gbt_tune"))) check_search(object, "object") else check_model(object)
    rule <- match_choice(rule, c("best", "one_se"), "rule")
    chosen <- if (is.null(nrounds)) chosen_rounds(object, rule) else check_whole(nrounds, "nrounds", 1)
    left_out <- c("valid", "early_stopping_rounds", "early_stopping_min_delta", "eval_train", "eval_metric",
                  "callbacks", "max_seconds", "checkpoint", "checkpoint_seconds", "mask")
    captured <- without_arguments(capture_call("gbt_refit"), c("object", "rule", "nrounds"))
    changed <- canonical_name(names(captured$args))
    if (inherits(object, "gbt_tune")) left_out <- c(left_out, names(object$best))
    args <- kept_arguments(object, captured, left_out, "gbt_refit")
    if (is.null(nrounds)) chosen <- chosen - rounds_of_init(args)
    for (name in setdiff(names(object[["best"]]), changed)) args[[name]] <- fixed_argument(object$best[[name]])
    args <- with_kept_values(args, object$params, changed)
    args <- with_kept_schedule(args, object$params[["eta"]], chosen, changed)
    args$nrounds <- fixed_argument(chosen)
    seed <- object$params$seed
    if (is.null(args[["seed"]]$expression) && !is.null(seed)) args$seed <- fixed_argument(seed)
    data_given <- any(names(captured$args) %in% c("x", "data", "formula", "y", "subset")) ||
      any(changed %in% c("valid", "mask")) # hold out some of the rows
    prints <- if (!data_given) unclass(object)[c("rows", "columns")]
    fit_again(args, captured, object, "gbt_refit", chosen = list(all = stored_by_rule(object)),
              look = if (is.numeric(prints$rows)) function(rows) warn_other_rows(prints, rows))
  })
}

# Trains again with the arguments of `object`'s call and the changes to them. captured: the user's call, which has only
# the changes; chosen, look: see prepare(). The constants of a formula that was not changed keep their values.
fit_again <- function(args, captured, object, who, chosen = NULL, look = NULL) {
  check_call_found(args, object, who)
  stored <- is_model(object) && is.null(object$call)
  constants <- if (stored) stored_constants(object) else unclass(object)[["call_constants"]]
  changed <- any(names(captured$args) %in% c("formula", "formula.", "x"))
  if (!changed && is.list(constants) && !is.null(names(constants))) captured$constants <- constants
  changes <- canonical_name(names(captured$args))
  captured$call <- small_call(call_of(args, "gbt_train"))
  captured$args <- placed(args, function(x, ...) NULL)
  model <- fit_of(captured, chosen, look)
  if (!seed_was_given(object, changes)) { # it is that of `object`, which was drawn, or 0
    model["named"] <- list(if (length(named <- setdiff(model$named, "seed"))) named)
  }
  if (stored && !knows_who_chose(object)) {
    named <- intersect(changes, names(model$params))
    model$named <- if (length(named)) named
  }
  if (is_model(object)) model <- with_history(model, object, "refitted")
  model
}

# changes: names of parameters that the user gave now. A model knows what it was given; its call may have a seed of
# gbt_refit(). Searches may have it in their list of parameters, which is in the call as it was written.
seed_was_given <- function(object, changes) {
  if (is_model(object)) return("seed" %in% c(changes, object$named))
  call <- as.list(object$call)
  listed <- names(as.list(call$params))
  "seed" %in% c(changes, canonical_name(c(names(call), listed)))
}

# prints: of the data that the call had; rows: those that it has now.
warn_other_rows <- function(prints, rows) {
  differs <- print_differs(prints$rows, label_print(rows$response$label))
  if (is.null(differs) && is.matrix(prints$columns)) {
    differs <- columns_differ(prints$columns, columns_print(rows$source$x))
  }
  differs <- unlist(lapply(gather_ranks(list(text = differs)), `[[`, "text"))
  if (is.null(differs)) return(invisible())
  warn_gbt("data", sprintf(paste("the data of the call have changed since `object` was made: they %s; give the data",
                                 "to use as `data`, or as `x` and `y`"), differs[1L]))
}

# The data of a kept call must be found where it is evaluated again, which they are not when it was made inside of a
# function that has ended.
check_call_found <- function(args, object, who) {
  at <- c(which(names(args) %in% c("x", "y", "data", "formula")), utils::head(which(names(args) == ""), 2L))
  formula <- vapply(args[at], function(its) is_formula_call(its$expression), NA)
  lost <- unlist(lapply(args[at][!formula], function(its) lost_variable(its$expression, its$env)))
  if (length(lost) == 0L) return(invisible())
  stop_argument(sprintf(paste("the call of this %s used `%s`, which is not found here (was the call inside a",
                              "function?); give the data: %s(object, %s)"),
                        kind_of_object(object), lost[1L], who, if (any(formula)) "data = " else "x = , y = "), lost[1L])
}

# The first variable of an expression that is not found, or is a function, which is no data. Where the expression has a
# value all the same it is a column, as `year` in subset(d, year > 2000). NULL for none.
lost_variable <- function(e, env) {
  lost <- Filter(function(v) is.function(get0(v, envir = env, ifnotfound = sum)), variables_of(list(e)))
  if (length(lost) == 0L) return(NULL)
  if (is.name(e)) return(lost)
  value <- try_else(suppressWarnings(eval(e, env)), function(problem) sum)
  if (is.function(value)) lost[1L]
}

is_formula_call <- function(e) inherits(e, "formula") || (is.call(e) && identical(e[[1L]], quote(`~`)))

kind_of_object <- function(object) {
  of <- c(gbt_cv = "cross-validation", gbt_tune = "search", gbt = "model")
  of[[intersect(names(of), class(object))[1L]]]
}

# The arguments with the numbers and texts that parameters had, where the call has variables or expressions for them:
# these may be others by now. Parameters that were changed by the user stay.
with_kept_values <- function(args, params, changed) {
  for (i in seq_along(args)) {
    name <- canonical_name(names(args)[i])
    if (is.na(name) || name %in% changed || !is.language(args[[i]]$expression)) next
    value <- params[[name]]
    if (name == "num_parallel_tree") value <- value / given_or(params[["ensemble"]], 1)
    if (is.atomic(value) && length(value) == 1L && is.null(names(value)) && !is.na(value)) {
      args[[i]] <- fixed_argument(value)
    }
  }
  args
}

# Rounds of the model that a call goes on from, which are none to be trained.
rounds_of_init <- function(args) {
  at <- which(canonical_name(names(args)) %in% "init_model")
  if (length(at) == 0L) return(0L)
  init <- try_else(args[[at[1L]]]$value(), function(problem) NULL) # gbt_train() will tell
  if (is_model(init)) rounds_used(init) else 0L
}

# The first of the learning rates that there were, where they differed by round.
with_kept_schedule <- function(args, eta, nrounds, changed) {
  names <- canonical_name(names(args))
  if (length(eta) < max(2, nrounds) || "eta" %in% changed || "init_model" %in% names) return(args)
  at <- which(names == "eta")
  if (length(at)) args[[at]] <- fixed_argument(schedule_to(eta, nrounds))
  args
}

chosen_rounds <- function(object, rule) {
  if (inherits(object, "gbt_tune")) return(tuned_rounds(object, rule))
  if (!inherits(object, "gbt_cv")) {
    if (rule == "one_se") stop_argument("`rule = \"one_se\"` needs the result of gbt_cv()", "rule")
    return(rounds_used(object))
  }
  if (is.null(object$best_round)) {
    if (!is.null(object$metric) && !is.na(object$metric)) warn_no_best_round(object)
    return(object$nrounds)
  }
  if (rule == "best") object$best_round else object$one_se_round
}

# The metric of a cross-validation that was to choose the number of rounds has no finite value.
warn_no_best_round <- function(cv) {
  if (any(is.finite(cv$evaluation_log[[paste0(cv$metric, "_mean")]]))) return(invisible()) # not known what is better
  warn_gbt("metric", sprintf(paste("metric \"%s\" of the cross-validation has no finite value, so it chose no number",
                                   "of rounds; all %d are trained; give `nrounds`, or run gbt_cv() with another",
                                   "`eval_metric`"), sub("^test_", "", cv$metric), cv$nrounds))
}

tuned_rounds <- function(object, rule) {
  if (rule == "one_se") stop_argument("`rule = \"one_se\"` needs the result of gbt_cv()", "rule")
  if (is.null(object$best_config)) {
    stop_argument(paste("no configuration of `object` has a metric value, so none can be trained; run gbt_tune()",
                        "again"), "object")
  }
  object$results$rounds[match(object$best_config, object$results$config)]
}

#' @rdname gbt_refit
#' @param formula. Changes of the formula, see [stats::update.formula()].
#' @param evaluate `TRUE` to train, `FALSE` to return the call.
#' @importFrom stats update
#' @export
update.gbt <- function(object, formula., ..., evaluate = TRUE) {
  check_model(object)
  check_flag(evaluate, "evaluate")
  captured <- without_arguments(capture_call("update"), c("object", "evaluate"))
  args <- kept_arguments(object, without_arguments(captured, "formula."), character(0), "update")
  if (!missing(formula.)) {
    if (is.null(object$formula)) {
      stop_argument("the model was not trained by a formula, so there is none to update", "formula.")
    }
    if (!inherits(formula., "formula")) {
      stop_argument(sprintf("`formula.` must be a formula such as `. ~ . + x`, not %s", describe(formula.)), "formula.")
    }
    new <- stats::update.formula(expand_dot(object, captured$env), formula.)
    args <- with_formula(args, fixed_argument(new))
  }
  if (!evaluate) return(call_of(args, "gbt_train"))
  by_rule <- stored_by_rule(object)
  chosen <- if (is.null(object$call)) list(all = by_rule) else
    if (!"preset" %in% canonical_name(names(captured$args))) {
      list(shape = shape_by_rule(object), objective = object$objective)
    }
  fit_again(args, captured, object, "update", chosen = chosen)
}

# The formula of a model with all features instead of a dot: update.formula() has no data.
expand_dot <- function(model, env) {
  formula <- stats::as.formula(model$formula, env)
  if (!"." %in% all.vars(formula[[3L]])) return(formula)
  design <- model$terms
  names <- if (is.null(design$features)) lapply(model$feature_names, as.name) else lapply(design$features, str2lang)
  offsets <- lapply(design$offset, function(text) call("offset", str2lang(text)))
  strata <- Filter(is_strata_call, lapply(parts_of_sum(formula[[3L]]), `[[`, "part"))
  formula[[3L]] <- Reduce(function(a, b) call("+", a, b), c(names, offsets, strata))
  formula
}

# Arguments with their formula replaced: `formula`, `x` or the first argument. `y` is removed, since the formula names
# the response.
with_formula <- function(args, formula) {
  args <- args[names(args) != "y"]
  at <- which(names(args) %in% c("formula", "x"))
  if (length(at) == 0L) at <- which(names(args) == "")
  if (length(at)) args[[at[1L]]] <- formula else args[["formula"]] <- formula
  args
}

# The arguments of the kept call of gbt_train(), gbt_cv() or gbt_tune() that gbt_train() has, with those of `captured`,
# and without `left_out`, in any spelling.
kept_arguments <- function(object, captured, left_out, who) {
  refuse_imported(object, "it is not trained again", "object")
  call <- object$call
  changes <- captured$args
  if (!is.null(call) && (!is.call(call) || inherits(call, "formula"))) {
    stop_argument(sprintf("the field `call` of this %s was changed: it must be NULL or a call, not %s",
                          kind_of_object(object), describe(call)), "object")
  }
  if (!all(nzchar(names(changes)))) {
    stop_argument(sprintf("arguments to change need names: %s(object, data = , eta = 0.05)", who))
  }
  stored <- is.null(call) && is_model(object)
  data_given <- any(names(changes) %in% c("x", "data", "formula"))
  if (is.null(call) && !stored && !data_given) {
    stop_argument(sprintf(paste("the call of this %s was not kept: it had the data in it, or came from a file;",
                                "give the data, %s(object, x = , y = ), and its parameters"),
                          kind_of_object(object), who), "object")
  }
  args <- lapply(as.list(call)[-1L], kept_argument, captured$env)
  if (stored) args <- stored_arguments(object, captured, who)
  names(args) <- if (is.null(names(args))) character(length(args)) else names(args)
  left_out <- c(left_out, if (who == "gbt_refit") "nrounds")
  not_ours <- c(cv_arguments, if (inherits(object, "gbt_tune")) tune_arguments)
  args <- args[!names(args) %in% not_ours & !canonical_name(names(args)) %in% left_out]
  for (name in names(changes)) {
    if (name == "formula") {
      args <- with_formula(args, changes[[name]])
      next
    }
    args <- args[names(args) != name & !(canonical_name(names(args)) %in% setdiff(canonical_name(name), NA))]
    if (name %in% c("x", "y", "data")) args <- without_place(args, name)
    args[name] <- changes[name]
  }
  args
}

# Data that the user gives again replace the argument without a name at their place.
without_place <- function(args, name) {
  bare <- which(names(args) == "")
  at <- if (name == "x" || any(c("x", "formula") %in% names(args))) 1L else 2L
  if (length(bare) >= at) args[-bare[at]] else args
}
