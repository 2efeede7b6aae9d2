# Calls by the workers of package future, where its user has set a plan with several of them.

# list(n = workers, shared = do they see this process's memory?): NULL where there is one worker, or no package, and
# with ranks, which workers are not part of.
future_workers <- function() {
  if (!"future" %in% loadedNamespaces() || !is.null(ranks_here())) return(NULL)
  its <- function(name) getExportedValue("future", name)
  n <- its("nbrOfWorkers")()
  if (n < 2) return(NULL)
  list(n = min(n, 256), shared = inherits(its("plan")("next"), "multicore"))
}

# The workers that can use the rows of a source, which is not binned yet: NULL where there are none, with a message
# where they are other processes and the rows are in a gbt_data. instead: what is done then.
workers_for <- function(source, instead) {
  workers <- future_workers()
  if (is.null(workers) || workers$shared || !is.null(source$x)) return(workers)
  say(paste0(instead, ": workers in other processes cannot use a gbt_data from this process; give the data ",
             "themselves, or use plan(multicore)"))
  NULL
}

# Threads of each worker if the user does not set `threads`.
worker_threads <- function(workers) max(1L, as.integer(resolve_threads(NULL)) %/% as.integer(workers$n))

# The values of functions without arguments, in order. functions: those of the user's that they call, anywhere in a
# list; what these find in the user's workspace goes along. A task's own variables are in its environment, where
# functions of the user's do not look.
by_workers <- function(tasks, functions) {
  its <- function(name) getExportedValue("future", name)
  known <- workspace_of(functions)
  failed <- function(e) {
    if (inherits(e, "gbt_error")) stop(e)
    stop(gbt_error("job", sprintf("a worker of package future failed: %s", conditionMessage(e))))
  }
  try_else({
    began <- lapply(tasks, function(task) {
      its("future")(quote(.gbt_task()), substitute = FALSE, seed = NULL, packages = "gbt",
                    globals = c(known, list(.gbt_task = task)))
    })
    lapply(began, function(one) its("value")(one))
  }, failed)
}

# Variables of the workspace that functions in a list use, and those that functions among these use, by name.
workspace_of <- function(functions) {
  is_own <- function(f) is.function(f) && !is.primitive(f) && !isNamespace(environment(f))
  inside <- function(x) if (is_own(x)) list(x) else if (is.list(x)) unlist(lapply(unname(x), inside), FALSE)
  find <- getExportedValue("globals", "findGlobals") # of a package that future needs
  out <- list()
  todo <- inside(functions)
  while (length(todo)) {
    names <- setdiff(try_else(find(todo[[1L]]), function(e) NULL), names(out))
    todo <- todo[-1L]
    for (name in names[vapply(names, exists, NA, envir = globalenv(), inherits = FALSE)]) {
      value <- get(name, envir = globalenv(), inherits = FALSE)
      out[name] <- list(value)
      todo <- c(todo, inside(value))
    }
  }
  out
}
