# The input of a job: arguments as values, data in folders by their paths, functions and formulas with what they use.

# Values of the arguments of a training by name. With a formula those that are evaluated in the data are evaluated
# there.
training_values <- function(args) {
  value <- function(its) its$value()
  names <- names(args)
  part <- canonical_name(printable(names))
  late <- part %in% c(row_arguments, "valid") | names %in% c("subset", "folds", fold_aliases)
  out <- lapply(args, function(its) NULL)
  out[!late] <- lapply(args[!late], value)
  if (length(out) && is_model(out[[1L]])) {
    stop_argument(paste("gbt_job() takes the arguments of a training, not a model that is trained already:",
                        "gbt_job(y ~ ., data, nrounds = 100)"), "x")
  }
  formula <- any(vapply(out, inherits, NA, "formula"))
  data <- job_data(out, names)
  if (formula && (inherits(data, "ArrowTabular") || is.matrix(data))) data <- as.data.frame(data)
  for (i in which(late)) {
    written <- args[[i]]$expression
    is_column <- formula && part[i] %in% c("exposure", "strata") && is.name(written) &&
      as.character(written) %in% names(data)
    out[i] <- list(if (is_column) { # so that the model knows its name
      as.character(written)
    } else if (formula) {
      in_data(args[[i]], data)
    } else {
      argument_value(args[[i]], names[i], data)
    })
  }
  out
}

# The table among the arguments: `data` or `x`, or the first argument that is no formula. NULL for none.
job_data <- function(values, names) {
  is_formula <- vapply(values, inherits, NA, "formula")
  at <- which(names %in% c("data", "x") & !is_formula)
  if (length(at) == 0L) at <- which(names == "" & !is_formula)
  data <- if (length(at)) values[[at[1L]]]
  if (is.data.frame(data) || inherits(data, "ArrowTabular") || length(dim(data)) == 2L) data
}

has_own_function <- function(fun) {
  exported <- getNamespaceExports("gbt")
  name <- exported[vapply(exported, function(name) identical(fun, getExportedValue("gbt", name)), NA)]
  if (length(name)) name[1L] else NA_character_
}

# The result of a job with the user's call: the job's process knows only a call with variables of its own.
with_call_of_job <- function(value, call) {
  if (is_model(value) || inherits(value, c("gbt_cv", "gbt_tune"))) value$call <- call
  value
}

# A warning or message of the process, in this session.
resignal_condition <- function(condition) {
  if (inherits(condition, "warning")) warning(condition) else message(condition)
}

# All that the process is given: list(fun, args, globals, packages, options, seed, wd). name: of gbt's function, NA for
# one of the user's.
job_work <- function(args, fun, name) {
  found <- list2env(list(globals = list(), packages = character(0)), parent = emptyenv())
  if (is.na(name)) fun <- carried(fun, "fun", found)
  columns <- names_of_table(job_data(args, names(args)))
  if (length(args)) {
    labels <- ifelse(nzchar(names(args)), names(args), paste("argument", seq_along(args)))
    args[] <- Map(carried, args, labels, list(found), list(columns))
  }
  if (!exists(".Random.seed", globalenv(), inherits = FALSE)) stats::runif(1L)
  list(fun = if (is.na(name)) fun else name, args = args, globals = found$globals, packages = found$packages,
       options = options_of_jobs(), random = get(".Random.seed", globalenv()), folder = getwd())
}

# The options of the session that a job has as well: gbt's, and that by which its default number of threads is limited.
options_of_jobs <- function() {
  all <- options()
  all[startsWith(names(all), "gbt.") | names(all) == "mc.cores"]
}

# One value as it travels. found: collects what functions use; columns: names that are no variables to look for.
carried <- function(x, what, found, columns = NULL) {
  if (inherits(x, "gbt_data")) return(carried_data(x, what))
  if (inherits(x, "ArrowTabular")) return(as.data.frame(x))
  if (inherits(x, "formula")) return(carried_formula(x, found, columns))
  if (is.function(x)) {
    find_used(x, environment(x), found)
    return(if (is.primitive(x)) x else utils::removeSource(x))
  }
  if (typeof(x) == "externalptr" || inherits(x, "connection") || inherits(x, "DBIConnection")) {
    stop_argument(sprintf(paste("`%s` (%s) works only in this session and cannot be sent to another process; give a",
                                "function as `fun` that creates it there"), what, describe(x)), what)
  }
  if (is.list(x) && !is.data.frame(x) && !inherits(x, "gbt")) {
    x <- with_parts(x, carried, what, found, columns)
  }
  x
}

carried_data <- function(x, what) {
  check_data(x, what)
  if (is.null(x$path)) {
    stop_argument(sprintf(paste("`%s` is a gbt_data object in this session's memory, which another process cannot see;",
                                "make it with gbt_data(path = ), or give the data themselves"), what), what)
  }
  fields <- unclass(x)[c("label", "weight", "offset", "time", "group")]
  structure(list(open = c(list(path = normalizePath(full_paths(x$path))), fields), exposed = x$exposed),
            class = "gbt_job_data")
}

# The list with what f makes of its elements, of the same class: methods of `[<-` are not asked, which for times
# (POSIXlt) would take elements for times.
with_parts <- function(x, f, ...) {
  kept <- attributes(x)
  x <- lapply(unclass(x), f, ...)
  attributes(x) <- kept
  x
}

# In the process: the reverse.
restore_carried <- function(x) {
  if (inherits(x, "gbt_job_data")) {
    data <- do.call(gbt_open, x$open)
    data["exposed"] <- list(x$exposed)
    return(data)
  }
  if (is.list(x) && !is.data.frame(x) && !inherits(x, "gbt")) x <- with_parts(x, restore_carried)
  x
}

# With the variables that it names, and no more of the place where it was written.
carried_formula <- function(f, found, columns) {
  from <- environment(f)
  env <- new.env(parent = globalenv())
  local <- find_used(f, from, found, columns)
  for (name in local) assign(name, get(name, envir = from), envir = env)
  environment(f) <- env
  f
}

# Looks for the names of a function or an expression from `env` outwards. What is in the global environment goes to
# found$globals, attached packages to found$packages; names of what lies before are returned.
find_used <- function(x, env, found, skip = NULL) {
  code <- if (is.function(x)) c(list(body(x)), as.list(formals(x))) else list(x)
  names <- unique(unlist(lapply(code, all.names)))
  local <- character(0)
  for (name in setdiff(names, c(skip, names(found$globals), "", "..."))) {
    at <- where_is(name, env)
    if (is.null(at) || isNamespace(at) || identical(at, baseenv())) next
    if (identical(at, globalenv())) {
      value <- get(name, envir = at)
      found$globals[name] <- list(if (is.function(value) && !is.primitive(value)) utils::removeSource(value) else value)
      if (is.function(value)) find_used(value, environment(value), found)
    } else if (startsWith(environmentName(at), "package:")) {
      package <- sub("package:", "", environmentName(at), fixed = TRUE)
      found$packages <- unique(c(found$packages, package))
    } else {
      local <- c(local, name)
      value <- get(name, envir = at)
      looked <- found$looked
      if (is.function(value) && !is.primitive(value) && !any(vapply(looked, identical, NA, value))) {
        found$looked <- c(looked, list(value))
        find_used(value, environment(value), found)
      }
    }
  }
  local
}

# The first environment from `env` outwards that has a variable of this name; NULL when there is none.
where_is <- function(name, env) {
  while (!is.null(env) && !identical(env, emptyenv())) {
    if (exists(name, envir = env, inherits = FALSE)) return(env)
    env <- parent.env(env)
  }
  NULL
}
