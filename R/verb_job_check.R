# Arguments of a training that is to be a job are checked before the process is started: parameters, objective, response
# and metrics, as far as no data are binned. What else is wrong, the process finds.

# args: values by name as typed; name: of gbt's function, NA for one of the user's.
check_job_training <- function(args, name) {
  if (!name %in% c("gbt_train", "gbt_cv", "gbt_tune") || length(args) == 0L) return(invisible())
  unnamed <- !all(nzchar(given_or(names(args), "")))
  if (unnamed && "formula" %in% names(args)) return(invisible()) # the function sorts them out
  if ("ranks" %in% names(args)) return(invisible())
  own <- args
  args <- placed(lapply(args, fixed_argument), function(x, ...) NULL)
  ours <- c(if (name != "gbt_train") cv_arguments, if (name == "gbt_tune") tune_arguments)
  captured <- list(args = args[!names(args) %in% ours], env = globalenv(), call = NULL, constants = NULL)
  if (!rows_are_here(captured$args)) return(invisible())
  withCallingHandlers({ # the process says it
    its <- source_of(captured)
    request <- if (name == "gbt_tune") tune_request(its$given) else read_request(its$given)
    if (name != "gbt_train") refuse_with_folds(request$args, name)
    if (name == "gbt_tune") read_space(own[["space"]], own[["log_scale"]], request$args$value)
    rows_of_source(its$source, request)
  }, gbt_message = function(m) invokeRestart("muffleMessage"), warning = function(w) invokeRestart("muffleWarning"))
}

# Is the data a table in memory, with which nothing has to be read?
rows_are_here <- function(args) {
  values <- lapply(args, function(its) its$value())
  x <- given_or(values[["x"]], values[["formula"]])
  table <- function(v) is.data.frame(v) || length(dim(v)) == 2L
  if (inherits(x, "formula")) {
    data <- values[["data"]]
    if (is.null(data)) data <- Find(table, values)
    return(table(data))
  }
  table(x)
}
