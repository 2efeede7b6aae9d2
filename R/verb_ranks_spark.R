# Ranks in tasks of Spark, which package sparklyr reaches. Spark runs the tasks of a barrier stage at the same time. A
# task does what a worker of a cluster does (R/verb_ranks_cluster.R): it runs a line of mpiexec, and so starts its rank.
#
#   session                         task of Spark                              rank
#   splits the table by rows  --->  reads its share, writes it to its folder
#   (verb_ranks_spark_rows.R)       runs the line of its rank            --->  reads its share, trains by MPI
#   waits for the job         <---  returns what came of it              <---  writes what came of it

#' One model trained by Spark
#'
#' `gbt_spark()` lets [gbt_train()] train on a table of Spark, in tasks of Spark. The session gets the model; no rows go
#' through it. The model has the bytes of a training in one process with all rows, in the order of the table.
#'
#' ```
#' sc <- sparklyr::spark_connect(master = "yarn")
#' model <- gbt_train(y ~ a + b, dplyr::tbl(sc, "rows"), ranks = gbt_spark(sc))
#' ```
#'
#' The tasks are the ranks of `?gbt_ranks`: they run at the same time, in one barrier stage of Spark, and exchange sums
#' by MPI. There are as many as the table has partitions, but not more than Spark can run at the same time
#' (`defaultParallelism`), nor than there are rows. For fewer ranks reduce the partitions by
#' `sparklyr::sdf_coalesce(table, 4)`. Each rank uses `spark.task.cpus` threads unless `threads` is given.
#'
#' Give a formula, and the table as `data`. `weights`, `offset`, `mask`, `group`, `time`, `subset` and the like are
#' columns, or expressions in columns. `valid` is a share, or a column. For other parts of [gbt_train()], such as
#' metrics of your own, see `?gbt_ranks`.
#'
#' All columns of the table are sent to the ranks, so leave out by `dplyr::select()` what is not needed. Numbers,
#' logical values, texts, dates and times are those that `sparklyr::collect()` gives; columns of other types are
#' refused. Texts are categories, as in a data frame.
#'
#' The rows are numbered in the order that the table has when it is computed. A query of Spark without an order can have
#' another one each time, and then another model. The table is computed three times, so let Spark keep the result of a
#' long query by `dplyr::compute()`.
#'
#' @section What is needed:
#' * On the machine of the session: a Unix, the package sparklyr with a connection in which the session runs the driver
#'   (not by Livy or Spark Connect), and the `mpiexec` of MPICH (Debian: `apt-get install mpich`).
#' * On the machines of the executors: R, this version of gbt, and MPICH of the version that the session's machine has.
#' * Spark 3.0 or later, without dynamic allocation, which has no barrier stages.
#' * All these machines reach each other by their names.
#'
#' @section When a rank fails:
#' An error or Ctrl-C on one rank ends the training on all of them. Ctrl-C in the session ends the ranks and the job of
#' Spark; [gbt_last_interrupted()] has the rounds so far. If an executor is lost, the training fails; Spark may start
#' the stage again, but not the ranks. With `checkpoint` on a disk that all machines share, another call goes on.
#'
#' @param sc A connection to Spark, from `sparklyr::spark_connect()`.
#' @param library Path or name of the MPI library on the machines of the executors. `NULL`: MPICH.
#' @param timeout Seconds that a rank waits for the others in one operation before it fails; 0: without end. Also how
#'   long it may take until all ranks are connected, from when the first one has started; 0: 120 seconds.
#' @return An object of class `gbt_ranks`, for the argument `ranks` of [gbt_train()].
#' @seealso `vignette("ranks", package = "gbt")` shows a run.
#' @examples
#' \dontrun{
#' sc <- sparklyr::spark_connect(master = "local[2]")
#' table <- sparklyr::copy_to(sc, gbt::flights, "flights", repartition = 2)
#' model <- gbt_train(late ~ carrier + distance, table, valid = 0.2, ranks = gbt_spark(sc))
#' }
#' @concept distributed
#' @concept Spark
#' @export
gbt_spark <- function(sc, library = NULL, timeout = 0) {
  check_ranks_arguments(library, timeout)
  if (!inherits(sc, "spark_connection")) {
    stop_argument(sprintf("`sc` must be a connection of sparklyr::spark_connect(), not %s", describe(sc)), "sc")
  }
  if (!inherits(sc, c("spark_shell_connection", "spark_gateway_connection"))) {
    stop_unsupported(paste("`sc` must be a connection in which this session runs the driver of Spark: those by Livy",
                           "and Spark Connect have no barrier stages"), "sc")
  }
  need_package("sparklyr", "gbt_spark()")
  structure(list(sc = sc, library = library, timeout = as.double(timeout), mpiexec = find_hydra("gbt_spark()")),
            class = c("gbt_spark_ranks", "gbt_cluster_ranks", "gbt_ranks"))
}

#' @export
print.gbt_spark_ranks <- function(x, ...) {
  cat(sprintf("<gbt_ranks> up to %d ranks, in tasks of Spark\n", spark_slots(x$sc)))
  invisible(x)
}

from_sparklyr <- function(name) get_exported("sparklyr", name)

# A method of an object of Spark's, which Ctrl-C does not cut off: sparklyr would end all jobs of the connection.
call_spark <- function(object, ...) suspendInterrupts(from_sparklyr("invoke")(object, ...))

# The value of a setting of Spark's as a number.
spark_number <- function(sc, name, otherwise) {
  as.integer(call_spark(call_spark(from_sparklyr("spark_context")(sc), "getConf"), "get", name, otherwise))
}

# How many tasks Spark can run at the same time.
spark_slots <- function(sc) {
  cores <- call_spark(from_sparklyr("spark_context")(sc), "defaultParallelism")
  max(1L, as.integer(cores %/% spark_number(sc, "spark.task.cpus", "1")))
}

# The outcome of the training of captured arguments, see run_job().
run_on_spark <- function(args, ranks) {
  table <- table_of_spark(args)
  shares <- share_plan(table, spark_slots(ranks$sc))
  work <- work_for_spark(args, ranks, shares)
  home <- new_job_folder()
  process <- job <- NULL
  view <- basename(tempfile("gbt_rows_"))
  on.exit(suspendInterrupts({
    if (!is.null(process)) end_mpiexec(process)
    if (!is.null(job) && !call_spark(job, "isDone")) call_spark(job, "cancel", TRUE)
    drop_view(ranks$sc, view)
    unlink(home, recursive = TRUE)
  }))
  rows <- rows_as_text(table, shares, view)
  ranks$size <- shares$size
  start <- c("sh", "-c", "eval \"exec $GBT_RANK\"") # the command of the rank, which its task knows
  process <- start_by_shell(home, mpiexec_words(ranks, rep(list(start), shares$size)))
  task <- spark_task(hydra_lines(process, home, shares$size), work)
  job <- start_spark_job(rows, task)
  late <- wait_for_spark(job, process, home, ranks)
  formula <- args$x$value()
  outcome <- outcome_of_job(job, code_of_formula(formula, names(shares$kinds)))
  if (!is.null(outcome)) return(with_constants_of_call(outcome, formula, names(shares$kinds)))
  if (!is.null(late)) stop_not_connected(home, late)
  failed_job("the ranks ended without a result", last_said(home))
}

# The table that the arguments name.
table_of_spark <- function(args) {
  value <- function(name) if (name %in% names(args) && !args[[name]]$missing) args[[name]]$value()
  table <- value("data")
  if (!inherits(table, "tbl_spark") || !inherits(value("x"), "formula")) {
    stop_argument(paste("with `ranks = gbt_spark(sc)` give a formula and a table of Spark:",
                        "gbt_train(y ~ a + b, table, ranks = )"), "data")
  }
  for (name in names(args)[late_arguments(names(args))]) {
    its <- if (is.name(args[[name]]$expression)) try_else(args[[name]]$value(), function(e) NULL)
    if (inherits(its, "tbl_spark")) {
      stop_unsupported(sprintf("`%s` cannot be a table of Spark; give a column of `data`%s", name,
                               if (name == "valid") ", or a share such as `valid = 0.2`" else ""), name)
    }
  }
  table
}

# The work of each rank, see job_work(), without its rows.
work_for_spark <- function(args, ranks, shares) {
  args <- args[names(args) != "data"]
  work <- work_made_there(args, late_arguments(names(args)), NULL, list(size = shares$size))$common
  work$maker <- NULL
  work$args["data"] <- list(NULL)
  work$ranks <- list(library = ranks$library, timeout = ranks$timeout, size = shares$size,
                     threads = spark_number(ranks$sc, "spark.task.cpus", "1"))
  work$shares <- shares
  work$version <- own_version()
  work
}

# The function that Spark runs on each partition. It brings along what it needs, as Spark knows nothing of gbt. It never
# fails, as Spark would start the stage again.
spark_task <- function(lines, work) {
  lib <- dirname(getNamespaceInfo("gbt", "path"))
  task <- function(rows) {
    tryCatch({
      package <- loadNamespace("gbt", lib.loc = c(.libPaths(), lib))
      get("rank_of_spark", envir = package)(rows, lines, work)
    }, error = function(e) {
      data.frame(problem = paste0("on ", Sys.info()[["nodename"]], ": ", conditionMessage(e)), outcome = "",
                 stringsAsFactors = FALSE)
    })
  }
  environment(task) <- list2env(list(lines = lines, work = work, lib = lib), parent = baseenv())
  task
}

# In a task of Spark: trains with the other tasks. rows: a table of one column of texts. Rank 0 returns the model, and
# others what failed, as rows of a table.
rank_of_spark <- function(rows, lines, work) {
  if (!identical(work$version, own_version())) {
    stop_unsupported(sprintf("gbt %s is installed, but the session has %s", own_version(), work$version))
  }
  folder <- new_job_folder()
  on.exit(unlink(folder, recursive = TRUE))
  share <- read_share(rows[[1L]], work$shares)
  work$ranks$rank <- share$rank
  work$shares <- NULL
  words <- receive_share(folder, work, which(names(work$args) == "data"), list(share$data))
  rank <- share$rank
  rm(share, rows)
  Sys.setenv(GBT_RANK = paste(shQuote(words), collapse = " "))
  run_apart(hydra_command(lines[[rank + 1L]], folder), file.path(folder, "line"))
  outcome <- read_part(folder, "outcome")
  keep <- !is.null(outcome) && (rank == 0L || outcome$kind == "failed")
  data.frame(problem = "", outcome = if (keep) text_of_outcome(outcome) else "", stringsAsFactors = FALSE)
}

# Waits for a command of the shell, which ends with this process. Hydra's proxy needs a group of processes of its own.
run_apart <- function(command, folder) {
  dir.create(folder)
  process <- start_by_shell(folder, c("sh", "-c", paste("exec", command)))
  while (process$alive()) Sys.sleep(0.05)
}

# The job of Spark that runs the task on each partition: a JavaFutureAction.
start_spark_job <- function(rows, task) {
  result <- from_sparklyr("spark_apply")(rows, task, columns = list(problem = "character", outcome = "character"),
                                         barrier = TRUE, packages = FALSE)
  call_spark(call_spark(from_sparklyr("spark_dataframe")(result), "javaRDD"), "collectAsync")
}

# Until the job has ended. Returns the seconds in which the ranks have not connected, if that is why.
wait_for_spark <- function(job, process, home, ranks) {
  is_done <- function() call_spark(job, "isDone")
  limit <- Inf # when the job must have ended, as mpiexec has
  busy <- function() {
    if (!process$alive() && is.infinite(limit)) limit <<- proc.time()[["elapsed"]] + spark_end_seconds
    !is_done() && proc.time()[["elapsed"]] < limit
  }
  late <- NULL
  give_up <- function(seconds) {
    late <<- seconds
    end_mpiexec(process)
    wait_until(is_done, spark_end_seconds)
  }
  watch_ranks(busy, process$interrupt, home, ranks$timeout, give_up, at_once = FALSE)
  if (!is_done() && is.null(late)) {
    stop(gbt_error("job", paste0("the ranks ended, but not the job of Spark", last_said(home)),
                   call = NULL))
  }
  late
}

spark_end_seconds <- 30

failed_job <- function(...) list(kind = "failed", error = gbt_error("job", paste0(...), call = NULL))

# The outcome that the tasks returned: of rank 0, or why it failed; NULL if there is none. trusts: see model_of_bytes().
outcome_of_job <- function(job, trusts) {
  if (!call_spark(job, "isDone")) return(NULL)
  rows <- with_whole_errors(try_else(call_spark(job, "get"), identity))
  if (inherits(rows, "error")) return(failed_job("the job of Spark failed: ", reason_of_spark(conditionMessage(rows))))
  rows <- lapply(seq_len(call_spark(rows, "size")) - 1L, function(i) call_spark(rows, "get", i)) # lists
  text <- function(column) vapply(rows, function(row) as.character(row[[column]]), "")
  problems <- Filter(nzchar, text(1L))
  if (length(problems)) return(failed_job("a task of Spark could not start its rank ", problems[[1L]]))
  outcomes <- Filter(nzchar, text(2L))
  if (length(outcomes)) outcome_of_text(outcomes[[1L]], trusts)
}

# The value of code, in which sparklyr's errors have all that Spark says.
with_whole_errors <- function(code) {
  old <- options(sparklyr.simple.errors = TRUE)
  on.exit(options(old))
  code
}

# The first reason in an error of Spark's, without the calls that led there.
reason_of_spark <- function(message) {
  lines <- strsplit(message, "\n", fixed = TRUE)[[1L]]
  at <- grep("^Caused by: ", lines)
  lines <- if (length(at)) lines[seq(at[[1L]], length(lines))] else lines
  calls <- which(startsWith(lines, "\tat "))
  paste(sub("^Caused by: ", "", utils::head(lines, c(calls, 21L)[[1L]] - 1L)), collapse = "\n")
}
