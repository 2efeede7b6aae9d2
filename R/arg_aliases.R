# Arguments in any spelling, by gbt's names. The meaning of names of other packages is in arg_foreign.R.

# How a message calls a parameter: by our name, and by the one that was typed.
param_text <- function(name, typed = name) {
  if (is.null(typed) || is.na(typed) || typed == name) return(sprintf("`%s`", name))
  sprintf("`%s` (given as `%s`)", name, typed)
}

# All that the user gave, in any spelling -> list(value = named list by our names, typed = chr by our names, of_model =
# are there the parameters of a model?).
# given: arguments, `params` among them. NULL means not given.
collect_args <- function(given) {
  params <- if (is.null(given[["params"]])) list() else given[["params"]]
  given[["params"]] <- NULL
  if (!is.list(params) || is.object(params)) {
    stop_argument("`params` must be a plain list of named parameters: params = list(eta = 0.1)", "params")
  }
  all <- c(given, member_params(params))
  all[] <- lapply(all, function(v) if (is.character(v)) printable(v) else v)
  names <- if (!is.null(names(all))) printable(names(all))
  unnamed <- function(x, names) length(x) > 0L && (is.null(names) || any(is.na(names) | names == ""))
  if (unnamed(all, names)) {
    where <- if (unnamed(params, names(params))) "`params`" else "the call"
    stop_argument(sprintf("%s has an argument without a name; only the data need none: write nrounds = 100, not 100",
                          where))
  }
  value <- list()
  typed <- character(0)
  foreign <- integer(0)
  for (i in seq_along(all)) {
    if (is.null(all[[i]])) next
    name <- canonical_name(names[i])
    if (is.na(name)) {
      foreign <- c(foreign, i)
      next
    }
    translated <- translate_arg(name, all[[i]], names[i])
    for (to in names(translated)) {
      new <- translated[[to]]
      if (is.null(value[[to]])) {
        value[[to]] <- new
        typed[to] <- names[i]
      } else if (to == "eval_metric" && typed[[to]] == names[i]) {
        value[[to]] <- c(as_metric_list(value[[to]]), as_metric_list(new)) # XGBoost's way: one entry per metric
      } else if (!same_value(value[[to]], new, to)) {
        stop_argument(contradiction(typed[[to]], names[i], to), to)
      }
    }
  }
  for (i in foreign) refuse_name(names[i], all[[i]], value)
  list(value = value, typed = typed, of_model = are_model_params(params))
}

# Arguments under gbt's names, for a second collect_args(). `alpha` becomes "reg_alpha", because some objectives have a
# parameter `alpha` as well.
rename_alpha <- function(args) {
  names(args)[names(args) == "alpha"] <- "reg_alpha"
  args
}

# Are these the parameters of a model? They have all of the engine's, by gbt's names.
are_model_params <- function(params) {
  all(c("alpha", "num_parallel_tree", "grow_policy", "seed", "grad_bits", "max_bin") %in% names(params))
}

# Those of a model that is the mean of several, whose trees of a round are those of all members.
member_params <- function(params) {
  several <- are_model_params(params) && is_number(params$ensemble, 2) && is_number(params$num_parallel_tree, 2)
  if (!several) return(params)
  params$num_parallel_tree <- params$num_parallel_tree / params$ensemble
  params
}

contradiction <- function(first, second, name) {
  if (first == second) return(sprintf("`%s` is given twice with different values", first))
  sprintf("`%s` and `%s` contradict each other: both say what `%s` is; give one of them", first, second, name)
}

# The number of the names that are not given, of parameters that are numbers by name: models have all names.
rests <- c(monotone = 0, feature_weights = 1, first_use_penalty = 0, class_weights = 1)

same_value <- function(a, b, name) {
  if (is.numeric(a) && is.numeric(b) && !is.object(a) && !is.object(b)) {
    rest <- rests[name]
    if (!is.na(rest) && length(value_names(a, name)) && length(value_names(b, name))) {
      of <- function(v, name) if (name %in% names(v)) as.double(v[[name]]) else unname(rest)
      return(all(vapply(union(names(a), names(b)), function(name) identical(of(a, name), of(b, name)), NA)))
    }
    return(length(a) == length(b) && identical(as.double(a), as.double(b)))
  }
  identical(a, b)
}
