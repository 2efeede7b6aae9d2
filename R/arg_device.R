# The machine: how many threads a call may run, which instructions it uses, and what gbt_info() tells.

#' Training on a GPU, and memory
#'
#' Training and prediction can run on an NVIDIA GPU (a CUDA device). The model is the same as on the CPU, to the last
#' bit. `vignette("gpu", package = "gbt")` is an introduction.
#'
#' `device = "cuda"` uses the first device, `"cuda:1"` the second (they are counted from 0), `"cpu"` none. If the device
#' cannot be used, an error of class `gbt_error_device` or `gbt_error_memory` says what is missing; [gbt_info()] shows
#' the devices. Calls without `device` use `options(gbt.device = )`, or else the environment variable `GBT_DEVICE`; with
#' `"cpu"` in either gbt does not use GPUs. On an H100, the tests and all kinds of trainings gave the same bytes as on
#' the CPU; later changes were tested by emulation on the CPU.
#'
#' `device = "cuda", devices = "all"` trains on all GPUs of the machine together, `devices = 0:3` on these four. Each
#' has a part of the rows, and the model is the same as on one GPU. NCCL moves data between GPUs if it is installed
#' (`gbt_info()$cuda$nccl`). Several GPUs were tested only by emulation, not on hardware. Their speed is not known.
#'
#' With [gbt_ranks()], each process trains on its own device: for the first process of a machine `"cuda"` is the first
#' device, for the second process the second one, and so on. `"auto"` uses devices only if every process can use one.
#'
#' A process that was forked from one that has used CUDA, such as a worker of `parallel::mclapply()`, cannot use it.
#' Start workers as new processes, as `parallel::makePSOCKcluster()` does.
#'
#' @section Automatic choice:
#' `device = "auto"`, the default, takes the CPU unless a device should be clearly faster. `verbose = 1` reports the
#' choice and the reason where there is a device. If a device that was chosen automatically fails, a warning of class
#' `gbt_warning_device` says why, once per session, and the CPU does the work. (If it fails during training, training
#' starts again on the CPU, unless callbacks have seen rounds already.)
#'
#' For T trees of L layers on B bytes of binned data it compares
#' * CPU: B T L * 0.4 ns / `threads` (measured);
#' * device: 1 s to start it, once per session; B * 0.2 ns to copy the data; L * 60 microseconds for each batch of up to
#'   32 trees of a round; B T L * 0.002 ns; and B T L * 0.06 ns more if the data do not fit into the device's free
#'   memory or `device_memory` (measured on an H100, except for starting and copying, which are estimates).
#'
#' The CPU's time must be more than 1.5 times the device's (`margin`). T is for all `nrounds`, even if training may stop
#' early. K classes that share their splits count as 1 + K / 8 trees a round. B is about one byte per row and column,
#' less for sparse columns. `options(gbt.device_costs = )`, a list with any of `cpu_cell`, `cuda_cell`, `cuda_byte`,
#' `cuda_bus`, `cuda_layer`, `cuda_start` (in seconds) and `margin`, replaces these numbers.
#'
#' @section Installation:
#' If a working `nvcc` is found, `R CMD INSTALL` builds the CUDA engine. `install.packages(..., configure.args =
#' "--with-cuda=/usr/local/cuda")` requires it and says where the toolkit is, `"--with-cuda-arch=75,90"` says for which
#' compute capabilities (by default those of the machine's GPUs), and `"--without-cuda"` leaves it out. The environment
#' variables `GBT_CUDA` (a folder, `yes` or `no`) and `GBT_CUDA_ARCH` do the same.
#'
#' @section Parameters:
#' `device` and `threads` are described in [gbt_train()]. None of these parameters changes the model.
#' * `devices`: `"all"`, or numbers of GPUs from 0, such as `0:3`: GPUs of this machine that train together. Needs
#'   `device = "cuda"`, and no `ranks`. `NULL`: one.
#' * `device_memory`: Megabytes of a GPU's memory that training may use, 0 for no limit. Binned data that do not fit
#'   stay in page-locked memory of the host, validation data first, and the GPU reads them from there, which is slower.
#'   With data in files ([gbt_open()]) whose pages are larger than their `memory`, they may use as much as `memory`
#'   again. The remaining pages are read from the files in every pass. Rows, trees and histograms must fit; otherwise
#'   there is an error, or with `device = "auto"` training runs on the CPU. Finding cuts and binning before training
#'   needs about 30 bytes per row for one column, which is not counted.
#' * `hist_memory`: For experts: megabytes that histograms may take; those beyond are computed again instead of kept
#'   (for symmetric trees on a GPU all must fit). 0 for 1024, on a GPU for a quarter of its memory where that is more.
#'   Trees that grow by the sum of gains (`sketch = "none"`) keep at least two histograms for each output.
#' * `page_rows`: For experts: rows per page of binned data; 0 for automatic.
#'
#' @seealso [gbt_info()], [gbt_threads()], [gbt_train()]
#' @examples
#' gbt_info()$devices
#' m <- gbt_train(mpg ~ ., mtcars, nrounds = 10, device = "cpu", threads = 1)
#' @concept GPU
#' @concept CUDA
#' @concept memory
#' @concept parallel
#' @name gbt_devices
NULL

# Threads -----------------------------------------------------------------------------------------------------------

# All limits of the machine, named; NA where there is none. Read at each call: quotas change, processes fork.
thread_limits <- function(system = .Call(C_gbt_system, 1L)) {
  c(
    processors = as.double(system$n_cpus),
    cgroup = max(1, floor(system$cgroup_cpus + 1e-9)),
    OMP_THREAD_LIMIT = env_count("OMP_THREAD_LIMIT"),
    check = if (checking()) 2 else NA_real_,
    fork = if (system$forked) 1 else NA_real_
  )
}

# CRAN's rule: no more than two while a package is checked.
checking <- function() {
  value <- lower_case(Sys.getenv("_R_CHECK_LIMIT_CORES_"))
  nzchar(value) && value != "false"
}

# Limits that the environment sets for this process. They hold for the default number only; NA: no such limit.
# Package future sets `mc.cores` in its workers; package parallel takes it from MC_CORES when it is loaded.
thread_shares <- function() {
  c(
    vapply(c("OMP_NUM_THREADS", "SLURM_CPUS_PER_TASK", "PBS_NUM_PPN", "NSLOTS", "LSB_DJOB_NUMPROC"), env_count, 0),
    mc.cores = as_count(getOption("mc.cores", Sys.getenv("MC_CORES")))
  )
}

env_count <- function(name) as_count(Sys.getenv(name))

# OpenMP's variables may be lists, "4,2": the first number is the one for the outermost threads.
as_count <- function(x) {
  if (!is_text(x) && !is_number(x)) return(NA_real_)
  value <- suppressWarnings(as.numeric(sub(",.*", "", x)))
  if (is.na(value) || value < 1) NA_real_ else floor(value)
}

# The request where the argument is left out: option, then environment; NULL for all that the machine allows.
thread_request <- function() {
  request <- getOption("gbt.threads")
  if (!is.null(request)) return(check_whole(request, "options(gbt.threads = )", 1, 1024))
  text <- Sys.getenv("GBT_NUM_THREADS")
  if (!nzchar(text)) return(NULL)
  request <- if (is_text(text)) suppressWarnings(as.numeric(text)) else NA
  check_whole(request, "environment variable GBT_NUM_THREADS", 1, 1024)
}

count_threads <- function(request = NULL, limits = thread_limits()) {
  if (is.null(request)) request <- thread_request()
  if (is.null(request)) request <- thread_shares()
  else if (isTRUE(getOption("gbt.oversubscribe"))) limits[c("processors", "cgroup")] <- NA
  n <- min(limits, request, na.rm = TRUE)
  as.integer(max(1, n))
}

# Other packages take 0 or -1 for all processors; here that is to leave the argument out.
check_threads <- function(threads) {
  if (!is.null(threads)) check_whole(threads, "threads", 1, 1024, "; leave it out for all that the machine allows")
}

# The argument `threads` of any function -> what .Call takes. Results never depend on it.
resolve_threads <- function(threads = NULL) {
  structure(count_threads(check_threads(threads)), simd = simd_code())
}

# The instructions to use; here: those of this machine.
simd_code <- function(here = enums$simd) {
  request <- getOption("gbt.simd")
  from <- "options(gbt.simd = )"
  if (is.null(request)) {
    request <- Sys.getenv("GBT_SIMD")
    from <- "environment variable GBT_SIMD"
  }
  if (identical(request, "")) request <- "auto"
  if (is_text(request) && request %in% names(here)) return(here[[request]])
  stop_argument(sprintf("`%s` must be one of the instruction sets that this machine has, %s%s", from,
                        enumerate(names(here), 20L, "\""),
                        if (is.character(request) && length(request) == 1L) sprintf(", not \"%s\"", printable(request))
                        else ""), "gbt.simd")
}

#' Number of threads
#'
#' How many threads gbt runs when a function's argument `threads` is left out. The result of no function depends on the
#' number of threads.
#'
#' A number can be requested, in this order, by the argument `threads` of each function, by `gbt_threads(n)` (which sets
#' `options(gbt.threads = n)`) or by the environment variable `GBT_NUM_THREADS`.
#'
#' Without a request it is the smallest of these numbers, as far as they are there:
#' * the processors that the process may run on, and the quota of its container (cgroup);
#' * `OMP_NUM_THREADS` and `OMP_THREAD_LIMIT` in the environment, which packages that use OpenMP heed as well;
#' * `options(mc.cores = )`, or `MC_CORES` in the environment: package future sets this option in its workers to their
#'   share of the machine, which is one thread where nothing else was planned;
#' * what a scheduler of jobs gave to this one: `SLURM_CPUS_PER_TASK`, `PBS_NUM_PPN`, `NSLOTS` or `LSB_DJOB_NUMPROC`.
#'
#' A request wins over `OMP_NUM_THREADS`, `mc.cores` and the schedulers. The other limits hold for requests as well, as
#' more threads than processors only make each other wait. (`options(gbt.oversubscribe = TRUE)` keeps to a request of
#' more threads than processors, for tests.) While a package is being checked there are never more than two threads, and
#' a forked process, such as a worker of `parallel::mclapply()`, runs one.
#'
#' Workers of `parallel::makePSOCKcluster()` are new R processes. They have to load gbt before they can predict:
#' `parallel::clusterEvalQ(cluster, library(gbt))`. They do not know of each other: each runs as many threads as the
#' machine allows, unless `parallel::clusterCall(cluster, gbt::gbt_threads, 1)` says otherwise.
#'
#' Threads live for one call only. Between calls there are none, so forking is safe at any time.
#'
#' @param n A number, `NULL` to withdraw the request, or missing to ask.
#' @return `gbt_threads()` returns the number of threads; `gbt_threads(n)` sets the option and returns its old value
#'   invisibly.
#' @seealso [gbt_info()]
#' @examples
#' gbt_threads()
#' old <- gbt_threads(1)
#' gbt_threads()
#' gbt_threads(old)
#' @export
gbt_threads <- function(n) {
  if (missing(n)) return(count_threads())
  if (!is.null(n)) n <- check_whole(n, "n", 1, 1024)
  old <- getOption("gbt.threads")
  options(gbt.threads = n)
  invisible(old)
}

# Information -------------------------------------------------------------------------------------------------------

#' Information about gbt and this machine
#'
#' The version, the compiler, the instructions that gbt uses, its threads and what limits them, the devices that it
#' can train on, and the MPI library for several processes. To read the properties of a device, gbt starts CUDA on the
#' first one. Processes that are forked afterwards (`parallel::mclapply()`) cannot use it.
#'
#' @return A list of class `gbt_info` with a `print()` method:
#'   \item{version, compiler}{of gbt}
#'   \item{simd, simd_best}{instructions in use, and the best ones of the machine}
#'   \item{threads, thread_limits}{number of threads; a named vector, `NA` where there is no limit}
#'   \item{threads_started}{how many threads the system started when asked}
#'   \item{memory}{bytes that data sets, trainings and models hold outside of R's memory}
#'   \item{codecs}{how bins in folders may be packed: see `compress` of [gbt_data()]. A named vector, `FALSE` for those
#'     that this build lacks}
#'   \item{devices}{data frame: `device`, `available` and `note`}
#'   \item{cuda}{a list, see below}
#'   \item{mpi}{the MPI library that [gbt_ranks()] has opened or would open: a list of `library` (its name and version),
#'     `family`, `file`, `started` (whether gbt has started MPI in this process) and `why` (why there is none). To find
#'     out, another process opens the library for a moment}
#'
#'   The elements of `cuda`:
#'   \item{built, why, emulated}{whether this installation has the CUDA engine, or why not; whether a CPU emulates it}
#'   \item{toolkit, architectures, ptx}{the toolkit, the architectures with code in the library, and the one whose code
#'     the driver compiles for other devices}
#'   \item{library, driver, runtime}{the file, and versions (13000 for 13.0, 0 for none)}
#'   \item{n_devices}{number of devices}
#'   \item{name, capability, n_units, total_bytes, free_bytes}{of the first device; `n_units` is its number of
#'     multiprocessors}
#'   \item{offers}{which work the engine can do}
#' @seealso [gbt_threads()], [gbt_devices], [gbt_ranks()]
#' @concept GPU
#' @examples
#' gbt_info()
#' @export
gbt_info <- function() {
  threads <- count_threads()
  system <- .Call(C_gbt_system, threads)
  request <- simd_code()
  cuda <- cuda_info()
  simd <- if (request == enums$simd[["auto"]]) system$simd_best else names(enums$simd)[match(request, enums$simd)]
  structure(class = "gbt_info", list(
    version = system$version,
    compiler = system$compiler,
    simd = simd,
    simd_best = system$simd_best,
    threads = threads,
    threads_started = system$threads_started,
    thread_limits = c(thread_limits(system), if (is.null(thread_request())) thread_shares()),
    memory = system$memory,
    codecs = available_codecs(),
    devices = data.frame(
      device = c("cpu", "cuda"), available = c(TRUE, cuda$available),
      note = c(sprintf("%d thread%s, %s", threads, if (threads == 1L) "" else "s", simd), cuda$note)
    ),
    cuda = cuda[setdiff(names(cuda), c("available", "note"))],
    mpi = .Call(C_gbt_ranks_look)
  ))
}

# "80 90", "75" -> "8.0, 9.0; others from 7.5 on ..."
capabilities_text <- function(architectures, ptx) {
  shown <- function(x) gsub(" ", ", ", gsub("([0-9])\\b", ".\\1", x))
  least <- min(as.numeric(strsplit(architectures, " ")[[1L]]))
  if (is.na(ptx) || as.numeric(ptx) >= least) return(paste(shown(architectures), "and newer"))
  sprintf("%s; for others from %s on the driver compiles it at first use", shown(architectures), shown(ptx))
}

#' @export
print.gbt_info <- function(x, ...) {
  cat(sprintf("gbt %s, built by %s\n", x$version, x$compiler))
  best <- if (x$simd == x$simd_best) "" else sprintf(" (the machine has %s)", x$simd_best)
  cat(sprintf("instructions  %s%s\n", x$simd, best))
  limits <- x$thread_limits[!is.na(x$thread_limits)]
  said <- c(cgroup = "quota of the container", check = "package check", fork = "forked process")
  names(limits) <- ifelse(names(limits) %in% names(said), said[names(limits)], names(limits))
  cat(sprintf("threads       %d (limits: %s)\n", x$threads, paste(names(limits), limits, collapse = ", ")))
  if (x$threads_started < x$threads) cat(sprintf("              the system gave only %d\n", x$threads_started))
  built <- x$cuda$built && !x$cuda$emulated && !x$devices$available[2L]
  engine <- if (built) sprintf("(the engine is here, built by CUDA %s for compute capability %s)", x$cuda$toolkit,
                               capabilities_text(x$cuda$architectures, x$cuda$ptx))
  cat(sprintf("memory        %s outside of R\n", format(structure(x$memory, class = "object_size"), units = "auto")))
  packed <- names(x$codecs)[x$codecs & names(x$codecs) != "none"]
  cat(sprintf("compression   %s\n", if (length(packed)) paste(packed, collapse = ", ") else "none in this build"))
  for (i in seq_len(nrow(x$devices))) {
    note <- paste0(if (x$devices$available[i]) "yes: " else "no: ", x$devices$note[i])
    lines <- strwrap(c(note, if (x$devices$device[i] == "cuda") engine), max(40L, getOption("width") - 14L))
    cat(sprintf("%-13s %s\n", c(x$devices$device[i], rep("", length(lines) - 1L)), lines), sep = "")
  }
  lines <- strwrap(mpi_text(x$mpi), max(40L, getOption("width") - 14L))
  cat(sprintf("%-13s %s\n", c("mpi", rep("", length(lines) - 1L)), lines), sep = "")
  invisible(x)
}

mpi_text <- function(mpi) {
  if (is.na(mpi$library)) return(paste0("no: ", mpi$why))
  sprintf("%s (%s)%s", mpi$library, mpi$file, if (mpi$started) ", started" else "")
}

# Which codecs this build has, by name.
available_codecs <- function() vapply(enums$codec, function(codec) .Call(C_gbt_codec_is_here, codec), NA)
