# Arguments of gbt_train() from what a model keeps, for gbt_refit() and update() where the model has no call: it came
# from a file, or the call had the data in it.
#
#   known from the model   the formula and its constants, objective, parameters, number of rounds, seed, class weights,
#                          columns of categories, names of the columns of exposures and strata
#   not known              data; weights, offset, exposure and strata given as values; functions of the user's: those
#                          that the training had must be given again
#   left out               what concerns held-out rows: valid, early stopping, metrics, mask; and time, group, subset

# Arguments as kept_arguments() has those of a call. captured: the user's call.
stored_arguments <- function(object, captured, who) {
  changed <- names(captured$args)
  table <- if ("x" %in% changed) try_else(captured$args[["x"]]$value(), function(problem) NULL) # training will tell
  binned <- inherits(table, "gbt_data")
  check_data_given(object, changed, who)
  check_lost_values(object, changed, table, who)
  args <- stored_parameters(object)
  if (binned) args[binning_arguments] <- NULL
  given <- object$exposure
  if (is_text(given) && nzchar(given) && !"exposure" %in% changed && !binned) args$exposure <- given
  strata <- object$strata
  of_formula <- !is.null(object$formula) && "strata" %in% all.names(parse_text(object$formula))
  named <- is_column_name(strata) && nzchar(strata) && !of_formula
  if (named && !"strata" %in% changed && !binned) args$strata <- strata
  args$objective <- object$objective
  args$nrounds <- rounds_used(object)
  if (length(args$eta) > 1L) args$eta <- schedule_to(args$eta, args$nrounds)
  c(stored_x(object, changed, captured$env), lapply(args, fixed_argument))
}

stored_x <- function(object, changed, env) {
  if (any(c("x", "formula") %in% changed)) return(list())
  recipe <- recipe_of(object)
  if (!is.null(recipe)) return(list(x = fixed_argument(recipe)))
  list(formula = kept_argument(stored_formula(object), env))
}

# As an expression, a call of `~`. as.formula() would evaluate a text that comes from a file.
stored_formula <- function(object) {
  e <- parse_text(object$formula)
  if (is_formula_call(e) && length(e) == 3L) return(e)
  stop_argument("the field `formula` of this model was changed: it must be the text of a formula such as \"y ~ a\"",
                "object")
}

check_data_given <- function(object, changed, who) {
  by_formula <- !is.null(object$formula) || !is.null(recipe_of(object))
  if ("x" %in% changed || ("data" %in% changed && (by_formula || "formula" %in% changed))) return(invisible())
  stop_argument(if ("data" %in% changed) {
    sprintf(paste("the model was trained by `x` and `y` and has no formula to find them in `data`; give both,",
                  "%s(object, x = , y = ), or a formula as well, %s(object, formula = , data = )"), who, who)
  } else {
    sprintf(paste("the call of this model was not kept: it had the data in it, or came from a file; give the data,",
                  "%s(object, %s)"), who, if (by_formula) "data = " else "x = , y = ")
  }, "object")
}

# Values for each row, and functions, are in no model: to train without them would be another model.
check_lost_values <- function(object, changed, table, who) {
  parts <- canonical_name(changed)
  by_table <- inherits(table, "gbt_data") || inherits(table, "recipe")
  of_formula <- !"x" %in% changed && length(object$terms$offset) > 0L
  lost <- c(weights = isTRUE(object$has_weights) && !by_table, exposure = identical(object$exposure, "") && !by_table,
            strata = identical(object$strata, "") && !by_table,
            offset = object$has_offset && is.null(object$exposure) && !of_formula && !by_table)
  lost <- setdiff(names(lost)[lost], parts)
  if (length(lost)) {
    first <- lost[1L]
    data <- if ("x" %in% changed) "x = , y = " else "data = "
    stop_argument(sprintf(paste("the model was trained with `%s`, whose values it does not keep; give those of the",
                                "data, %s(object, %s, %s = ), or `%s = NULL` to train without"),
                          first, who, data, first, first), first)
  }
  if (is_given(object$objective) && !"objective" %in% parts) {
    stop_argument(paste("the model was trained with an objective of your own, whose functions it does not keep; give",
                        "them again as `objective`"), "objective")
  }
}

# Values by name of those parameters that the user named, or that differ from the defaults of this version. What rules
# had chosen is not among them, see stored_by_rule(). Models of the first versions do not know who chose a value: they
# have all.
stored_parameters <- function(object) {
  params <- member_params(object$params)
  unused <- c("eval_metric", "early_stopping_rounds", "early_stopping_min_delta", object$by_rule)
  if (knows_who_chose(object)) {
    unused <- c(unused, setdiff("cat_method", object$named)) # training found it
    plain <- c(engine_defaults(), stats::setNames(as.list(host_table$default), host_table$name))
    info <- objective_info(object$objective)$params
    plain[info$name] <- as.list(info$default)
    usual <- vapply(names(params), function(name) identical(params[[name]], plain[[name]]), NA)
    unused <- c(unused, setdiff(names(params)[usual], object$named))
  }
  if (!"aft_scale" %in% object$named) unused <- c(unused, "aft_scale") # it was estimated
  params <- params[setdiff(names(params), unused)]
  params <- without_gone_parameters(params, object)
  if (isTRUE(object$balanced)) params$class_weights <- "balanced" # of the new data
  for (name in intersect(c("monotone", "first_use_penalty", "feature_weights"), names(params))) {
    differs <- params[[name]] != (name == "feature_weights")
    if (any(differs)) params[[name]] <- params[[name]][differs] # the others may be no features of the new data
  }
  coded <- object$feature_names[object$feature_types == "category"]
  if (length(coded)) params$cat_features <- coded
  params$seed <- object$params$seed
  params
}

knows_who_chose <- function(object) length(object$by_rule) > 0L || length(object$named) > 0L

# Earlier versions had parameters that this one does not have.
without_gone_parameters <- function(params, object) {
  gone <- setdiff(names(params), canonical_name(names(params)))
  told <- intersect(gone, params_in_part(object))
  if (length(told)) {
    warn_gbt("params", sprintf(paste("this version of gbt does not have these parameters of the model, which are left",
                                     "out: %s"), enumerate(told)))
  }
  params[setdiff(names(params), gone)]
}

# Values that rules had chosen, for prepare(); NULL for none.
stored_by_rule <- function(object) if (length(object$by_rule)) object$params[object$by_rule]

# The shape of trees, where rules or a race had chosen some of it.
shape_by_rule <- function(object) {
  ours <- intersect(object$by_rule, shape_parameters)
  if (length(ours)) object$params[union(ours, "grow_policy")]
}

# The constants of the formula by name, which the terms of the model have in their places: list, empty for none.
stored_constants <- function(object) {
  design <- object$terms
  if (is.null(design) || is.null(object$formula)) return(list())
  written <- names(design$features)
  stored <- design$features
  offsets <- Filter(function(at) is_offset_call(at$part), parts_of_sum(stored_formula(object)[[3L]]))
  pairs <- Map(list, lapply(written, parse_text), lapply(unname(stored), parse_text))
  if (length(offsets) == length(design$offset)) {
    pairs <- c(pairs, Map(list, lapply(offsets, function(at) at$part[[2L]]), lapply(design$offset, parse_text)))
  }
  found <- unlist(lapply(pairs, function(pair) constants_between(pair[[1L]], pair[[2L]])), recursive = FALSE)
  found <- found[!duplicated(names(found))]
  value <- function(e) try_else(own_term_value(e, list_frame(list(), 1L), strict = TRUE), function(problem) NULL)
  Filter(Negate(is.null), lapply(found, value))
}

# The expressions of the stored term at the places where the written term has a variable, by the variable's name. A
# stored term may have more arguments than the written one, as poly() has, or an argument less.
constants_between <- function(written, stored) {
  if (is.name(written)) {
    return(if (!is.name(stored)) stats::setNames(list(stored), as.character(written)) else list())
  }
  if (!is.call(written) || !is.call(stored) || length(stored) < length(written)) return(list())
  inner <- lapply(seq_along(written)[-1L], function(i) constants_between(written[[i]], stored[[i]]))
  unlist(inner, recursive = FALSE)
}
