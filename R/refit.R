# Training once more by a call that was kept: gbt_refit(), update().

#' Train once more
#'
#' `gbt_refit()` trains the model that a cross-validation, a search for parameters or early stopping has chosen, on
#' all rows: the call is evaluated again where `gbt_refit()` is called, with the chosen number of rounds (and
#' parameters; those that rules had chosen keep their values) and without folds, validation data and early
#' stopping. `update()` evaluates the call of a model again, with other arguments.
#'
#' @param object The result of [gbt_cv()] or [gbt_tune()], or a model.
#' @param ... Arguments to change or to add: `gbt_refit(cv, eta = 0.05)`. Where the call was made by [do.call()] with
#'   the data in it, it is not kept; give the data, `gbt_refit(cv, x = , y = )`. So do where it was made inside of a
#'   function whose variables are gone. Data that are others than those of the cross-validation or search (by number
#'   of rows, response and, where they are in memory and not sparse, columns) give a warning (class `gbt_warning_data`).
#'   Constants of the formula (`p` in `mpg ~ I(wt^p)`) keep their values, unless a new formula is given.
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
#' @export
gbt_refit <- function(object, ..., rule = c("best", "one_se"), nrounds = NULL) {
  if (inherits(object, c("gbt_cv", "gbt_tune"))) check_search(object, "object") else check_model(object)
  rule <- match_choice(rule, c("best", "one_se"), "rule")
  chosen <- if (is.null(nrounds)) chosen_rounds(object, rule) else check_whole(nrounds, "nrounds", 1)
  left_out <- c("valid", "early_stopping_rounds", "early_stopping_min_delta", "eval_train", "eval_metric", "callbacks",
                "max_seconds", "checkpoint", "checkpoint_seconds", "mask")
  changes <- match.call(expand.dots = FALSE)$...
  if (inherits(object, "gbt_tune")) left_out <- c(left_out, names(object$best))
  again <- call_again(object, changes, left_out, "gbt_refit")
  if (is.null(nrounds)) chosen <- chosen - rounds_of_init(again, parent.frame())
  for (name in setdiff(names(object[["best"]]), canonical_name(names(changes)))) again[[name]] <- object$best[[name]]
  again <- with_kept_values(again, object$params, canonical_name(names(changes)))
  again <- with_kept_schedule(again, object$params[["eta"]], chosen, canonical_name(names(changes)))
  again$nrounds <- chosen
  seed <- object$params$seed
  if (is.null(again$seed) && !is.null(seed)) again$seed <- seed
  data_given <- any(names(changes) %in% c("x", "data", "formula", "y", "subset")) ||
    any(canonical_name(names(changes)) %in% c("valid", "mask")) # hold out some of the rows
  by_rule <- if (length(object$by_rule)) object$params[object$by_rule]
  again$cross <- refit_plan(object, if (!data_given) unclass(object)[c("rows", "columns")], names(changes), by_rule)
  check_call_found(again, parent.frame(), object, "gbt_refit")
  run_call(again, parent.frame())
}

# What a training by a kept call is told of what `object` was made of, see fit_source(): fingerprints of the data, the
# constants of a formula that was not changed, and parameters that rules chose. NULL for nothing.
refit_plan <- function(object, prints, changed, chosen = NULL) {
  constants <- unclass(object)[["call_constants"]]
  if (any(changed %in% c("formula", "x")) || !is.list(constants) || is.null(names(constants))) constants <- NULL
  plan <- list(rows = if (is.numeric(prints$rows)) prints$rows, columns = prints$columns, constants = constants,
               chosen = chosen)
  if (any(lengths(plan) > 0L)) structure(class = "gbt_refit_plan", plan)
}

# plan: with the fingerprints of the data that the call had; rows: those that it has now.
warn_other_rows <- function(plan, rows) {
  differs <- print_differs(plan$rows, label_print(rows$response$label))
  if (is.null(differs) && is.matrix(plan$columns)) differs <- columns_differ(plan$columns, columns_print(rows$source$x))
  if (is.null(differs)) return(invisible())
  warn_gbt("data", sprintf(paste("the data of the call are not those that `object` was made of: they %s; give `data`",
                                 "or `x` and `y` to say which are meant"), differs))
}

# The data of a kept call must be found where it is evaluated again, which they are not when it was made inside of a
# function that has ended.
check_call_found <- function(call, env, object, who) {
  names <- names_of_call(call)
  bare <- which(names == "")[-1L]
  at <- c(which(names %in% c("x", "y", "data", "formula")), utils::head(bare, 2L))
  lost <- unlist(lapply(as.list(call)[at], function(e) if (!is_formula_call(e)) lost_variable(e, env)))
  if (length(lost) == 0L) return(invisible())
  formula <- any(vapply(as.list(call)[at], is_formula_call, NA))
  stop_argument(sprintf(paste("the call of this %s used `%s`, which is not found from here; it was made inside of a",
                              "function, perhaps. Give the data: %s(object, %s)"),
                        kind_of_object(object), lost[1L], who, if (formula) "data = " else "x = , y = "), lost[1L])
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

# A call with the numbers and texts that its parameters had, where it has variables or expressions for them: these may
# be others by now. Parameters that were changed by the user stay.
with_kept_values <- function(call, params, changed) {
  for (i in seq_along(call)[-1L]) {
    name <- canonical_name(names_of_call(call)[i])
    if (is.na(name) || name %in% changed || !is.language(call[[i]])) next
    value <- params[[name]]
    if (name == "num_parallel_tree") value <- value / given_or(params[["ensemble"]], 1)
    if (is.atomic(value) && length(value) == 1L && is.null(names(value)) && !is.na(value)) call[[i]] <- value
  }
  call
}

# Rounds of the model that a call goes on from, which are none to be trained.
rounds_of_init <- function(call, env) {
  at <- which(canonical_name(names_of_call(call)) %in% "init_model")
  if (length(at) == 0L) return(0L)
  init <- try_else(eval(call[[at[1L]]], env), function(problem) NULL) # gbt_train() will tell
  if (is_model(init)) rounds_used(init) else 0L
}

# The call with the first of the learning rates that there were, where they differed by round.
with_kept_schedule <- function(call, eta, nrounds, changed) {
  names <- canonical_name(names_of_call(call))
  if (length(eta) < max(2, nrounds) || "eta" %in% changed || "init_model" %in% names) return(call)
  at <- which(names == "eta")
  if (length(at)) call[[at]] <- schedule_to(eta, nrounds)
  call
}

chosen_rounds <- function(object, rule) {
  if (inherits(object, "gbt_tune")) return(tuned_rounds(object, rule))
  if (!inherits(object, "gbt_cv")) {
    if (rule == "one_se") stop_argument("`rule = \"one_se\"` is for cross-validations, see gbt_cv()", "rule")
    return(rounds_used(object))
  }
  if (is.null(object$best_round)) return(object$nrounds)
  if (rule == "best") object$best_round else object$one_se_round
}

tuned_rounds <- function(object, rule) {
  if (rule == "one_se") stop_argument("`rule = \"one_se\"` is for cross-validations, see gbt_cv()", "rule")
  if (is.null(object$best_config)) {
    stop_argument("no configuration of `object` was rated: there is none to train", "object")
  }
  object$results$rounds[match(object$best_config, object$results$config)]
}

#' @rdname gbt_refit
#' @param formula. Changes of the formula, see [stats::update.formula()].
#' @param evaluate Train, or return the call?
#' @importFrom stats update
#' @export
update.gbt <- function(object, formula., ..., evaluate = TRUE) {
  check_model(object)
  check_flag(evaluate, "evaluate")
  again <- call_again(object, match.call(expand.dots = FALSE)$..., character(0), "update")
  if (!missing(formula.)) {
    if (is.null(object$formula)) {
      stop_argument("the model was not trained by a formula, so there is none to update", "formula.")
    }
    if (!inherits(formula., "formula")) {
      stop_argument(sprintf("`formula.` must be a formula such as `. ~ . + x`, not %s", describe(formula.)), "formula.")
    }
    again <- with_formula(again, stats::update.formula(written_out(object, parent.frame()), formula.))
  }
  if (!evaluate) return(again)
  changed <- c(names(match.call(expand.dots = FALSE)$...), if (!missing(formula.)) "formula")
  again$cross <- refit_plan(object, NULL, changed)
  check_call_found(again, parent.frame(), object, "update")
  run_call(again, parent.frame())
}

# The formula of a model with all features instead of a dot: update.formula() knows no data.
written_out <- function(model, env) {
  formula <- stats::as.formula(model$formula, env)
  if (!"." %in% all.vars(formula[[3L]])) return(formula)
  design <- model$terms
  names <- if (is.null(design$features)) lapply(model$feature_names, as.name) else lapply(design$features, str2lang)
  offsets <- lapply(design$offset, function(text) call("offset", str2lang(text)))
  formula[[3L]] <- Reduce(function(a, b) call("+", a, b), c(names, offsets))
  formula
}

# The call with another formula where it has its own: as `formula`, as `x`, or first. A response of its own has no place
# beside it.
with_formula <- function(call, formula) {
  call <- without_argument(call, "y")
  names <- names_of_call(call)
  at <- which(names %in% c("formula", "x"))
  if (length(at) == 0L) at <- which(names[-1L] == "") + 1L
  if (length(at)) call[[at[1L]]] <- formula else call[["formula"]] <- formula
  call
}

# A call of gbt_train() where its variables are, whether the package is attached or not.
run_call <- function(call, env) {
  call[[1L]] <- gbt_train
  eval(call, env)
}

# The kept call of gbt_train() or gbt_cv() as one of gbt_train(), with `changes` (expressions by name) and without
# `left_out`, in any spelling.
call_again <- function(object, changes, left_out, who) {
  call <- object$call
  if (!is.null(call) && (!is.call(call) || inherits(call, "formula"))) {
    stop_argument(sprintf("the field `call` of this %s was changed: it must be NULL or a call, not %s",
                          kind_of_object(object), describe(call)), "object")
  }
  data_given <- any(names(changes) %in% c("x", "data", "formula"))
  if (is.null(call) && !data_given) {
    stop_argument(sprintf(paste("the call of this %s was not kept: it had the data in it, or came from a file;",
                                "give the data, %s(object, x = , y = ), and its parameters"),
                          kind_of_object(object), who), "object")
  }
  if (is.null(call)) call <- quote(gbt_train())
  names <- names_of_call(call)
  canonical <- canonical_name(names)
  not_ours <- c(cv_arguments, if (inherits(object, "gbt_tune")) tune_arguments)
  drop <- names %in% not_ours | canonical %in% left_out | (canonical %in% "nrounds" & who == "gbt_refit")
  drop[1L] <- FALSE
  call <- call[!drop]
  changed <- canonical_name(names(changes))
  for (i in seq_along(changes)) {
    name <- names(changes)[i]
    if (is.null(name) || name == "") {
      stop_argument(sprintf("arguments to change need names: %s(object, data = , eta = 0.05)", who))
    }
    if (name == "formula") {
      call <- with_formula(call, changes[[i]])
      next
    }
    same <- names_of_call(call) == name | (!is.na(changed[i]) & canonical_name(names_of_call(call)) %in% changed[i])
    same[1L] <- FALSE
    if (any(same)) call <- call[!same]
    if (name %in% c("x", "y", "data")) call <- without_place(call, name)
    call[name] <- changes[i] # NULL is a value
  }
  call[[1L]] <- quote(gbt_train)
  call
}

# Data that are given anew replace what stands without a name at their place.
without_place <- function(call, name) {
  bare <- which(names_of_call(call)[-1L] == "") + 1L
  at <- if (name == "x" || any(c("x", "formula") %in% names_of_call(call))) 1L else 2L
  if (length(bare) >= at) call[-bare[at]] else call
}
