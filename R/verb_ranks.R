#' One model trained by several processes
#'
#' `gbt_ranks()` connects the R processes that `mpirun` or `srun` has started together. Each of them, a *rank*, holds a
#' share of the rows and calls `gbt_train(..., ranks = gbt_ranks())` with it. All ranks get the same model. It has the
#' bytes of a training in one process with the rows of all ranks, in the order of the ranks.
#'
#' ```
#' mpirun -n 4 Rscript train.R
#' ```
#'
#' All ranks run the same script, and `gbt_ranks()` opens the MPI library of the launcher: Open MPI, MPICH, Intel MPI,
#' and others that are compatible with one of these or with the ABI of MPI 5. gbt needs no MPI when it is installed.
#'
#' A share is a data frame, a matrix, a source such as `gbt_files()` of a rank's own files, or
#' `gbt_data(..., ranks = ranks)`. It may have no rows. Columns have the same names, order and classes on all ranks.
#' Where ranks read a database, each has a query of its own:
#' `sprintf("SELECT * FROM rows WHERE id %% %d = %d", ranks$size, ranks$rank)`.
#'
#' With `gbt_ranks(share = "split")` all ranks are given the same: data frames and matrices of all rows, or
#' [gbt_files()] of all files. Each rank takes consecutive rows, or consecutive files of about the same size in bytes.
#' Everything that belongs to the rows (`y`, `weights`, `mask`, `valid` and the like) is of all rows as well. Terms of a
#' formula are computed from all rows.
#'
#' With objectives and metrics of queries all rows of a query (`group`) belong to one rank. Where gbt splits the rows
#' itself, rows of a query that follow each other stay together.
#'
#' [gbt_cv()], [gbt_tune()], [gbt_refit()] and [gbt_evaluate()] take `ranks` as well. What they say of all rows is what
#' one process says. What has a value for each row is of the rank's own rows: `predictions` and `folds`, and `folds` of
#' your own. Folds of a model are trained one after the other. `predict()` needs no `ranks`: a rank predicts its own
#' rows.
#'
#' Rows to hold out by `valid` as a share, to find `nrounds`, or in folds are drawn from the rows of all ranks, and are
#' those of one process. Memory for this grows with the rows of the rank, the number of different groups, and for folds
#' by `time` that of different times.
#'
#' Where the processes use MPI already, by the packages Rmpi or pbdMPI, gbt uses the same library. Give `comm` for a
#' part of the processes: `Rmpi::mpi.comm.c2f(1)`, or `pbdMPI::comm.c2f()`.
#'
#' `vignette("ranks", package = "gbt")` shows runs, also with SLURM, and what to do when a machine dies.
#'
#' @section From a running session:
#' `gbt_ranks(cluster)` starts the ranks itself, one for each worker of a cluster of package parallel (also
#' `parallelly::makeClusterPSOCK()` and others of its kind). The session is no rank; it waits, and gets the model.
#'
#' ```
#' cluster <- parallel::makeCluster(c("node1", "node2"))
#' model <- gbt_train(y ~ ., data, ranks = gbt_ranks(cluster))
#' ```
#'
#' The rows of a data frame or matrix are split, and each worker gets its part, with what else has a value for each row.
#' Or give a function as `data` (or `x`), which makes the part of a rank on its worker, so that the session needs no
#' rows: `data = function(rank, size) read.csv(sprintf("rows-%d.csv", rank))`. Ranks count from 0. Functions bring the
#' variables of the workspace that they use.
#'
#' This needs a Unix, MPICH and gbt on the machines of all workers, and MPICH's `mpiexec` on that of the session
#' (Debian: `apt-get install mpich`). The machines must reach each other by their names. The workers start the ranks as
#' processes of their own, and can be used for other things afterwards. Ranks on one machine share its processors unless
#' `threads` is given. Only [gbt_train()] takes such ranks.
#'
#' [gbt_spark()] does the same with the machines of Spark, for a table of Spark.
#'
#' @section Not offered with ranks:
#' `boosting = "ordered"`, recipes, and terms of a formula with constants that follow from the rows, such as `scale(x)`,
#' unless all ranks are given all rows (`share = "split"`). A message says what to do instead. Compute a response such
#' as `scale(y)` before: a rank would take that of its own rows.
#'
#' @section Functions of your own:
#' Metrics are called on rank 0, with the rows of all ranks: for this, every rank gets the predictions of all rows of
#' the sets that are judged after each round. Objectives are called on every rank with its rows. Callbacks are called on
#' every rank; training ends if one of them returns `TRUE`. While ranks train, functions of gbt that train or compute
#' metrics do so with all of them: a callback calls these on every rank, or on none. A callback that writes files
#' should do so where `ranks$rank == 0`.
#'
#' @section Folders and checkpoints:
#' With `gbt_data(path = , ranks = )` each rank keeps the bins of its share in a folder of its own within `path`:
#' `rank-0000`, `rank-0001` and so on. `path` may be the same on all ranks, on disks of their own or on a shared one.
#' `gbt_open(path, ranks = )` opens them again, by as many ranks as made them.
#'
#' With `checkpoint` rank 0 alone writes and reads the checkpoint. Another number of ranks, or one process, can continue
#' it, as long as the rows of all ranks together are the same in the same order.
#'
#' @section When a rank fails:
#' An error or Ctrl-C on one rank ends the call on all of them, with the message and the number of the rank. The error
#' has the same class on all ranks, also one of a function of your own. An error in the arguments of the call, such as a
#' missing file in `gbt_files()`, is that of all ranks as well. A script that ends while others train is an error on
#' these, and with `timeout` so is a rank that hangs. If a process is killed, the launcher ends the job. The same
#' happens where a process cannot open the MPI library, once its script has failed. With `timeout`, a rank that waits
#' for others which never call `gbt_ranks()` ends with a message.
#'
#' @section Parameters:
#' * `ranks`: From `gbt_ranks()`: the R processes that train together. Only rank 0 prints; warnings of other ranks
#'   come at the end with the number of the rank.
#'
#' @param cluster A cluster whose workers start the ranks, see below. `NULL`: this process is a rank.
#' @param library Path or name of the MPI library. `NULL`: one that the process has opened already; else one of the
#'   launcher's kind.
#' @param comm A communicator, as the number that Fortran has for it. `NULL`: all processes that were started together.
#' @param timeout Seconds that a rank waits for the others in one operation before it fails; 0: without end. Until all
#'   have called `gbt_ranks()` it waits for 120 seconds at least. With `cluster` also how long it may take until all
#'   ranks are connected; 0: 120 seconds.
#' @param share What each rank is given: `"own"`, its own rows; or `"split"`, the same rows as all others, of which it
#'   takes a part.
#' @return An object of class `gbt_ranks`, a list with `rank` (from 0), `size` (number of ranks), `library` (its name
#'   and version), `family` (`"Open MPI"`, `"MPICH"` or `"MPI ABI"`) and `share`. With `cluster` a list with `size`, for
#'   [gbt_train()].
#' @examples
#' \dontrun{
#' # train.R, for: mpirun -n 4 Rscript train.R
#' library(gbt)
#' ranks <- gbt_ranks()
#' share <- read.csv(sprintf("rows-%d.csv", ranks$rank))
#' model <- gbt_train(y ~ ., share, ranks = ranks, nrounds = 100)
#' if (ranks$rank == 0) gbt_save(model, "model.gbt")
#'
#' # all ranks name all files, and each reads some of them
#' files <- list.files("rows", full.names = TRUE)
#' model <- gbt_train(y ~ ., gbt_files(files), ranks = gbt_ranks(share = "split"), nrounds = 100)
#' }
#' @concept distributed
#' @concept cluster
#' @concept MPI
#' @concept mpirun
#' @export
gbt_ranks <- function(cluster = NULL, library = NULL, comm = NULL, timeout = 0, share = c("own", "split")) {
  share <- match_choice(share, c("own", "split"), "share")
  check_ranks_arguments(library, timeout)
  if (!is.null(comm)) comm <- as.integer(check_whole(comm, "comm", -.Machine$integer.max)) # MPICH's may be below 0
  if (!is.null(cluster)) {
    if (!is.null(comm)) stop_argument("`comm` cannot be combined with `cluster`; leave it out", "comm")
    if (share == "split") {
      stop_argument("`share` cannot be combined with `cluster`, which splits the rows; leave it out", "share")
    }
    return(new_cluster_ranks(cluster, library, as.double(timeout)))
  }
  structure(c(open_ranks(library, comm, as.double(timeout)), list(share = share)), class = "gbt_ranks")
}

# most: numbers or bytes in one operation of MPI; 0: the usual ones.
open_ranks <- function(library, comm, timeout, most = 0L) {
  start <- if (timeout > 0) max(timeout, ranks_start_seconds) else 0
  .Call(C_gbt_ranks_open, library, comm, timeout, start, most)
}

check_ranks_arguments <- function(library, timeout) {
  if (!is.null(library) && !is_text(library)) stop_argument("`library` must be the path of an MPI library", "library")
  if (!is.numeric(timeout) || length(timeout) != 1L || is.na(timeout) || timeout < 0 || timeout > 1e9) {
    stop_argument(sprintf("`timeout` must be a number of seconds, 0 or more, not %s", quote_value(timeout)), "timeout")
  }
}

#' @export
print.gbt_cluster_ranks <- function(x, ...) {
  cat(sprintf("<gbt_ranks> %d ranks, on the workers of a cluster\n", x$size))
  invisible(x)
}

#' @export
print.gbt_ranks <- function(x, ...) {
  split <- if (identical(x$share, "split")) ", of the same rows" else ""
  cat(sprintf("<gbt_ranks> rank %d of %d, by %s (%s)%s\n", x$rank, x$size, x$library, x$family, split))
  invisible(x)
}
