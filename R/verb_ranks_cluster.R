# Ranks on the workers of a cluster of package parallel, for a session that is no rank itself. MPICH's mpiexec (Hydra)
# can leave it to others to start processes: with `-launcher manual` it prints a line for each host, and waits until all
# of them have been run.
#
#   session                      worker r of the cluster               rank r
#   splits the rows        --->  writes share r to its folder
#   starts mpiexec
#   reads its lines        --->  runs line r                     --->  reads its share, trains with the others by MPI
#   waits for mpiexec                                                  writes what came of it
#   reads it of rank 0     <---  reads it from its folder
#
# A worker does nothing while ranks train, so it can be asked at any time. Folders are within the tempdir() of their
# process and only its user can enter them. So their files are this package's own, and R's serialisation is safe there.

# The words of Hydra's command, or an error that says what to install. who: what needs it, as the message names it.
find_hydra <- function(who = "`cluster`") {
  if (.Platform$OS.type == "windows") {
    stop_unsupported(sprintf("%s is not offered on Windows; start a script by mpiexec", who), "cluster")
  }
  for (name in c("mpiexec.hydra", "mpiexec.mpich", "mpiexec")) {
    path <- Sys.which(name)[[1L]]
    text <- if (nzchar(path)) try_else(suppressWarnings(system2(path, "--version", stdout = TRUE, stderr = TRUE)),
                                       function(e) "")
    if (any(grepl("HYDRA build details", text, fixed = TRUE))) return(path)
  }
  stop_unsupported(paste(who, "needs the mpiexec of MPICH on this machine, and MPICH on those of the workers;",
                         "install it (Debian: apt-get install mpich), or start a script by mpirun"), "cluster")
}

new_cluster_ranks <- function(cluster, library, timeout) {
  if (!inherits(cluster, "cluster") || length(cluster) == 0L) {
    stop_argument(sprintf(paste("`cluster` must be a cluster of workers, such as parallel::makeCluster(4) makes, not",
                                "%s"), describe(cluster)), "cluster")
  }
  structure(list(cluster = cluster, size = length(cluster), library = library, timeout = timeout,
                 mpiexec = find_hydra()), class = c("gbt_cluster_ranks", "gbt_ranks"))
}

# The value of a function on one worker, or on each: a list. Ctrl-C waits until they have answered, as an answer that is
# not read would be taken for that of the next call.
on_worker <- function(cluster, r, fun, ...) {
  one <- structure(list(cluster[[r]]), class = "cluster") # as `[` of mirai's clusters gives none
  suspendInterrupts(parallel::clusterCall(one, fun, ...)[[1L]])
}
on_workers <- function(cluster, fun, each) suspendInterrupts(parallel::clusterApply(cluster, each, fun))

own_version <- function() as.character(utils::packageVersion("gbt", dirname(getNamespaceInfo("gbt", "path"))))

# The machine of each worker, which has this version of gbt. The function uses nothing of gbt, which loads it there.
ask_workers <- function(cluster) {
  look <- function(lib) {
    here <- base::requireNamespace("gbt", lib.loc = base::c(base::.libPaths(), lib), quietly = TRUE)
    base::list(gbt = if (here) base::as.character(utils::packageVersion("gbt", base::dirname(
      base::getNamespaceInfo("gbt", "path")))), node = base::Sys.info()[["nodename"]])
  }
  environment(look) <- baseenv()
  own <- own_version()
  lib <- dirname(getNamespaceInfo("gbt", "path"))
  all <- on_workers(cluster, look, rep(list(lib), length(cluster)))
  for (r in seq_along(all)) {
    if (identical(all[[r]]$gbt, own)) next
    has <- if (is.null(all[[r]]$gbt)) "no gbt" else paste("gbt", all[[r]]$gbt)
    stop_argument(sprintf("worker %d of `cluster` (on %s) has %s; install gbt %s there", r, all[[r]]$node, has, own),
                  "cluster")
  }
  vapply(all, `[[`, "", "node")
}

train_on_cluster <- function(captured, ranks) {
  args <- without_arguments(captured, "ranks")$args
  outcome <- if (inherits(ranks, "gbt_spark_ranks")) run_on_spark(args, ranks) else {
    work <- rank_work(args, ranks)
    run_on_cluster(work, ranks, ask_workers(ranks$cluster))
  }
  for (condition in outcome$conditions) resignal_condition(condition)
  if (!any(canonical_name(names(captured$args)) %in% "seed")) stats::runif(1L) # the next training draws another seed
  own <- function(model) with_call_of_job(model, captured$call)
  if (outcome$kind == "failed") {
    error <- outcome$error
    if (is_model(error$model)) {
      error$model <- own(error$model)
      package_state$interrupted <- error$model
    }
    error["call"] <- list(user_call())
    stop(error)
  }
  if (outcome$kind == "done") return(own(outcome$value))
  if (!is_model(outcome$value)) raise_interrupt("training was interrupted before the first round")
  stop_interrupted(own(outcome$value))
}

# The arguments of each rank: list(common = what all are given, see job_work(), shares = of each rank its own values, by
# position, which are for the arguments `at`). args: captured.
rank_work <- function(args, ranks) {
  names <- names(args)
  is_late <- late_arguments(names)
  is_data <- names %in% c("x", "data")
  made_there <- vapply(seq_along(args), function(i) is_data[i] && is.function(args[[i]]$value()), NA)
  if (any(made_there)) return(work_made_there(args, is_late, which(made_there), ranks))
  values <- without_subset(training_values(args))
  refuse_data_of_session(values)
  data <- job_data(values, names(values))
  n <- n_rows_of(data)
  written <- lapply(args[names(values)], `[[`, "expression")
  has_formula <- any(vapply(values, inherits, NA, "formula"))
  columns <- names_of_table(data)
  quoted <- has_formula & canonical_name(printable(names(values))) %in% row_arguments &
    vapply(written, function(e) is.name(e) && as.character(e) %in% columns, NA)
  values[quoted] <- written[quoted]
  group <- values[canonical_name(printable(names(values))) %in% "group"]
  column <- if (length(group) && is.name(group[[1L]])) as.character(group[[1L]])
  group <- if (!is.null(column)) data[[column]] else if (length(group)) group[[1L]]
  common <- job_work(values[!quoted], NULL, "gbt_train")
  common$written <- values[quoted]
  args <- common$args
  parts <- split_arguments(args, n, ranks$size, group, column)
  common$args[parts$at] <- list(NULL)
  list(common = common, at = parts$at, shares = parts$shares)
}

# Which arguments are evaluated in the columns of the data, where there is a formula.
late_arguments <- function(names) canonical_name(printable(names)) %in% c(row_arguments, "valid") | names == "subset"

# The table is made by a function of the user's on each rank: what is evaluated in its columns goes there as it is
# written, with the variables that it uses.
work_made_there <- function(args, is_late, at, ranks) {
  values <- lapply(args[!is_late], function(argument) argument$value())
  common <- job_work(values, NULL, "gbt_train")
  found <- list2env(list(globals = common$globals, packages = common$packages), parent = emptyenv())
  for (argument in args[is_late]) find_used(argument$expression, argument$env, found)
  common$globals <- found$globals
  common$packages <- found$packages
  common$written <- lapply(args[is_late], `[[`, "expression")
  common$maker <- names(args)[at]
  list(common = common, at = integer(0), shares = rep(list(list()), ranks$size))
}

# Values without `subset`, which is applied to all values by row.
without_subset <- function(values) {
  subset <- values[["subset"]]
  values[["subset"]] <- NULL
  if (is.null(subset)) return(values)
  n <- n_rows_of(job_data(values, names(values)))
  rows <- seq_len(n)[if (is.logical(subset)) subset & !is.na(subset) else subset]
  for (i in which(is_by_row(values, n))) values[[i]] <- subset_rows(values[[i]], rows)
  if (is_rows(values[["valid"]])) values[["valid"]] <- held_rows(values[["valid"]], n)[rows]
  values
}

# Which arguments have a value, or a row, for each of n rows.
is_by_row <- function(values, n) {
  names <- names(values)
  part <- canonical_name(printable(names))
  may <- part %in% row_arguments | names %in% c("x", "y", "data", "label", "")
  rows <- vapply(values, function(v) if (is.function(v) || inherits(v, "formula")) -1 else as.double(NROW(v)), 0)
  may & rows == n & !vapply(values, function(v) is.character(v) && length(v) == 1L, NA)
}

# list(at = positions of the arguments that are split, shares = of each rank its parts of them). group: see
# cuts_of_rows(); column: its name, where it is one of the data, and so of validation sets.
split_arguments <- function(args, n, size, group = NULL, column = NULL) {
  at <- which(is_by_row(args, n))
  ends <- cuts_of_rows(n, size, group)
  valid <- match("valid", names(args))
  shares <- lapply(seq_len(size), function(r) lapply(args[at], share_of, ends, r))
  if (is.na(valid) || is_share(args[[valid]])) return(list(at = at, shares = shares))
  value <- args[[valid]]
  if (is_rows(value)) value <- held_rows(value, n)
  valids <- shares_of_valid(value, size, if (is.atomic(value)) group, column)
  list(at = c(at, valid), shares = Map(function(share, valid) c(share, list(valid = valid)), shares, valids))
}

# The rows of rank r, from 1: consecutive ones.
share_of <- function(x, ends, r) subset_rows(x, seq.int(ends[r] + 1, length.out = ends[r + 1L] - ends[r]))

# The parts of `valid`, a list by rank. group, column: see split_arguments().
shares_of_valid <- function(valid, size, group, column) {
  split <- function(x, group) {
    ends <- cuts_of_rows(n_rows_of_any(x), size, group)
    lapply(seq_len(size), function(r) share_of(x, ends, r))
  }
  if (is.null(valid)) return(vector("list", size))
  if (is.data.frame(valid) && !is.null(column)) group <- valid[[column]]
  if (is.atomic(valid) || is.data.frame(valid) || isS4(valid)) return(split(valid, group))
  if (!is.list(valid) || is.object(valid)) {
    stop_unsupported(sprintf("`valid` as %s is not offered with `cluster`; give a data frame or list(x = , y = )",
                             describe(valid)), "valid")
  }
  part <- canonical_part(given_or(names(valid), character(0)))
  of_group <- match("group", part)
  group <- if (!is.na(of_group)) valid[[of_group]]
  parts <- lapply(valid, function(its) {
    if ("x" %in% part) split(its, group) else shares_of_valid(its, size, NULL, column)
  })
  lapply(seq_len(size), function(r) lapply(parts, `[[`, r))
}

n_rows_of_any <- function(x) if (is.data.frame(x)) .row_names_info(x, 2L) else NROW(x)

refuse_data_of_session <- function(values) {
  source <- Filter(is_row_source, values)
  if (length(source) == 0L && !any(vapply(values, inherits, NA, c("gbt_data", "gbt_job_data")))) return(invisible())
  stop_unsupported(paste("`cluster` takes a data frame or a matrix, of which each worker gets a part; for other data",
                         "give a function that makes the part of a rank there: data = function(rank, size)",
                         "gbt_files(...)"), "data")
}
