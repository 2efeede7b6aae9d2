# Devices: which one a training runs on, and what is known of the CUDA engine.
#
#   check_device    argument, option, environment -> request: list(kind = "auto", "cpu", "cuda"; number; numbered:
#                   it was named; by = which of the three gave it)
#   choose_device   request + size of the work -> choice: list(kind, number, auto, why, problem)
#   choose_device_for_training   the same with ranks, each of which has a device of its own
#   settle_device   the choice as an environment, since it may turn out otherwise: see fall_back_to_cpu()
#   plain_device, prediction_device   from the argument of gbt_data() and of predict() to a choice
#   on_device       does a piece of work there; on the cpu when "auto" chose a device that fails
#   cuda_build      what R CMD INSTALL left in <package>/gpu: build.dcf, and gbt_cuda.so where it was built
#   cuda_device_state   opens the library and reads the state of a device
#
# A model does not record the device on which it was trained: it is the same to the last bit.

# The request --------------------------------------------------------------------------------------------------------

check_device <- function(device) {
  name <- "device"
  if (is.null(device)) {
    device <- getOption("gbt.device")
    name <- "options(gbt.device = )"
  }
  if (is.null(device) && nzchar(Sys.getenv("GBT_DEVICE"))) {
    device <- Sys.getenv("GBT_DEVICE")
    name <- "environment variable GBT_DEVICE"
  }
  if (is.character(device) && length(device) == 1L) {
    device <- sub("^gpu(:|$)", "cuda\\1", lower_case(printable(device)))
    if (grepl("^cuda:[0-9]{1,4}$", device)) {
      return(list(kind = "cuda", number = as.integer(sub("cuda:", "", device)), numbered = TRUE, by = name))
    }
    if (isTRUE(startsWith(device, "cuda:"))) {
      stop_argument(sprintf("`%s`: \"%s\" is not a device; devices are counted from 0: \"cuda:0\", \"cuda:1\"", name,
                            device), name)
    }
  }
  if (identical(device, c("auto", "cpu", "cuda"))) device <- "auto" # the default in the usage
  list(kind = match_choice(device, c("auto", "cpu", "cuda", "cuda:1"), name), number = 0L, numbered = FALSE, by = name)
}

# The request with the GPUs that share the rows of a training: "all", or their numbers, as other packages write them as
# well ("0:1:3", "0,1", "0-3"). The one that the request has in any case is no more than that.
check_devices <- function(devices, request) {
  if (is.null(devices)) return(request)
  if (is_text(devices) && grepl("^[0-9]{1,4}([:,-][0-9]{1,4})*$", devices)) {
    ends <- lapply(strsplit(strsplit(devices, "[:,]")[[1L]], "-", fixed = TRUE), as.integer)
    devices <- unlist(lapply(ends, function(e) seq(e[1L], e[length(e)])))
  }
  all <- is_text(devices) && lower_case(devices) == "all"
  whole <- is.numeric(devices) && !is.object(devices) && length(devices) > 0L && !anyNA(devices) &&
    all(devices >= 0 & devices == floor(devices) & devices < 1e4)
  if (!all && !whole) {
    stop_argument(sprintf("`devices` must be \"all\" or numbers of GPUs from 0, such as 0:3, not %s",
                          quote_value(devices)), "devices")
  }
  if (whole && anyDuplicated(devices)) {
    twice <- devices[duplicated(devices)][1L]
    stop_argument(sprintf("`devices` names GPU %d twice; name each once", as.integer(twice)), "devices")
  }
  if (whole && length(devices) == 1L && devices == request$number) return(request)
  if (request$kind != "cuda") {
    stop_argument("`devices` names GPUs that train together; give `device = \"cuda\"` as well", "devices")
  }
  if (request$numbered) {
    stop_argument(sprintf("`device = \"cuda:%d\"` and `devices` both name GPUs; give `device = \"cuda\"`",
                          request$number), "devices")
  }
  request$devices <- if (all) "all" else as.integer(devices)
  request$number <- if (all) 0L else request$devices[[1L]]
  request
}

is_device_unset <- function(device) {
  is.null(device) && is.null(getOption("gbt.device")) && !nzchar(Sys.getenv("GBT_DEVICE"))
}

# Devices ------------------------------------------------------------------------------------------------------

# list(kind = "nvcc", "emulate" or "none", why, toolkit, architectures, ptx, library)
cuda_build <- function() {
  if (is.null(package_state$cuda_build)) {
    path <- system.file("gpu", "build.dcf", package = "gbt")
    known <- c(Kind = "none", Why = "gbt was not installed by R CMD INSTALL")
    if (nzchar(path)) known <- read.dcf(path)[1L, ]
    field <- function(name) if (isTRUE(nzchar(known[name]))) unname(known[name]) else NA_character_
    package_state$cuda_build <- list(kind = field("Kind"), why = field("Why"), toolkit = field("Toolkit"),
                                     architectures = field("Architectures"), ptx = field("Ptx"),
                                     library = system.file("gpu", "gbt_cuda.so", package = "gbt"))
    if (package_state$cuda_build$kind != "none" && !nzchar(package_state$cuda_build$library)) {
      package_state$cuda_build$kind <- "none"
      package_state$cuda_build$why <- "its library is not where it was installed"
    }
  }
  package_state$cuda_build
}

# A device as it is now; `ok` is FALSE and `problem` says why when it cannot be used.
cuda_device_state <- function(build, number = 0L) .Call(C_gbt_cuda_info, build$library, number)

no_cuda_engine <- function(build) {
  how <- "install it again with --configure-args=--with-cuda where there is a CUDA toolkit"
  sprintf("this build of gbt has no CUDA engine (%s); %s", build$why, how)
}

# Is it at all likely that there is a device? For messages only: nothing is opened or started.
cuda_likely <- function() any(file.exists(c("/proc/driver/nvidia/version", "/dev/nvidiactl", "/dev/dxg")))

# The choice ---------------------------------------------------------------------------------------------------------

# The costs that `device = "auto"` assumes, in seconds. cpu_cell and cpu_walk were measured (bench/results, 1,000,000 x
# 28 and 500,000 x 50 with 20 classes). Those of cuda are what an H100 took, the slower of several shapes
# (bench/results/gpu-h100.md): cuda_cell 0.8 to 1.9 ps, cuda_layer 42 to 58 us, cuda_walk 50 to 140 ps; cuda_start and
# cuda_byte are estimates. options(gbt.device_costs = list(...)) replaces some or all.
device_costs <- function() {
  costs <- list(
    cpu_cell = 4e-10,    # one thread: a byte of binned data, a layer of a tree
    cuda_cell = 2e-12,   # the same
    cuda_byte = 2e-10,   # moving a byte of binned data to the device
    cuda_bus = 6e-11,    # the device reads a byte of them in the host's memory: PCIe 5 x16, more than once a layer
    cuda_layer = 6e-5,   # a layer of trees of any size that grow together: starting its kernels
    cpu_walk = 1e-9,     # one thread: a row through a tree, in prediction
    cuda_walk = 9e-11,   # the same
    cuda_start = 1,      # the first use of a device
    margin = 1.5,        # the device must be better by so much
    emulated = 0         # 1: a device that is only played by the CPU may be chosen (tests)
  )
  given <- getOption("gbt.device_costs")
  wrong <- !is.list(given) || anyNA(match(names(given), names(costs))) || length(names(given)) != length(given) ||
    !all(vapply(given, function(x) is.numeric(x) && length(x) == 1L && isTRUE(x >= 0), NA))
  if (!is.null(given) && wrong) {
    stop_argument(sprintf("options(gbt.device_costs = ) must be a list of numbers named %s", enumerate(names(costs))),
                  "gbt.device_costs")
  }
  utils::modifyList(costs, as.list(given))
}

start_seconds <- function(costs) if (isTRUE(package_state$cuda_started)) 0 else costs$cuda_start

# size: list(bytes of binned data that trees read, trees, batches of trees that grow together, layers, max_seconds; all:
# bytes that must be on the device, codes and a row's numbers; room: that it has). Codes without room there are read
# over the bus, all of them.
expected_seconds <- function(size, threads, costs) {
  passes <- size$bytes * size$trees * size$layers
  start <- start_seconds(costs)
  cell <- costs$cuda_cell + if (size$all > size$room) costs$cuda_bus else 0
  out <- c(cpu = passes * costs$cpu_cell / threads,
           cuda = start + size$bytes * costs$cuda_byte + size$batches * size$layers * costs$cuda_layer +
             passes * cell)
  if (size$max_seconds > 0) out <- pmin(out, size$max_seconds + c(0, start))
  out
}

# The size of a training. params: the result of engine_params(). row_bytes: device memory for a row in addition to its
# bin codes, for one tree and one output at a time (docs/gpu.md).
# sums: trees grow by the sum of gains of all outputs.
training_size <- function(bytes, params, nrounds, n_outputs, max_seconds, rows = 0, row_bytes = 24, sums = FALSE) {
  layers <- if (params$max_leaves > 0) ceiling(log2(params$max_leaves)) else params$max_depth
  if (params$max_depth > 0) layers <- min(layers, params$max_depth)
  per_round <- n_outputs * params$num_parallel_tree
  # one tree is grown, and the others cost about an eighth of it
  projected <- params$multi_strategy == "multi_output_tree" && !sums
  grown <- if (projected) 1 + n_outputs / 8 else per_round
  if (sums) row_bytes <- row_bytes + 24 * (n_outputs - 1) # all trees have their order of the rows at once
  list(bytes = bytes * params$subsample * params$colsample_bytree, trees = nrounds * grown,
       batches = nrounds * ceiling(per_round / 32), # 32: GBT_MOST_TREES
       layers = max(layers, 1), max_seconds = max_seconds,
       all = (1 + projected) * bytes + rows * (row_bytes + 8 * n_outputs),
       room = if (params$device_memory > 0) params$device_memory * 2^20 else Inf)
}

# size: list(rows, columns, trees) of a prediction. Its numbers go up in 8 bytes each.
expected_of_prediction <- function(size, threads, costs) {
  walks <- size$rows * size$trees
  c(cpu = walks * costs$cpu_walk / threads,
    cuda = start_seconds(costs) + size$rows * size$columns * 8 * costs$cuda_byte + walks * costs$cuda_walk)
}

# The device for a request: list(kind, number, auto, why, problem). why: for verbose, NULL where there is nothing to
# report; problem: what a device that would have been worth it lacks, when the user can change that.
choose_device <- function(request, size = NULL, threads = 1L, expect = expected_seconds) {
  choice <- function(kind, why = NULL, problem = NULL) {
    list(kind = kind, number = request$number, auto = request$kind == "auto", why = why, problem = problem)
  }
  if (request$kind == "cpu") return(choice("cpu"))
  build <- cuda_build()
  if (request$kind == "cuda") {
    by <- if (request$by != "device") sprintf("; \"cuda\" is what %s asks for", request$by) # not in the user's call
    if (build$kind == "none") stop(device_error(no_cuda_engine(build), by = by))
    look <- cuda_device_state(build, request$number)
    if (!look$ok) {
      stop(if (look$cpu_can) device_error(look$problem, by = by) else
        gbt_error("device", paste0(look$problem, by), "device"))
    }
    package_state$cuda_started <- TRUE
    if (is.null(request$devices)) return(choice("cuda", sprintf("training on %s", device_title(look, request$number))))
    return(choose_devices(request, build, look, choice))
  }
  if (build$kind == "none") return(choice("cpu"))
  costs <- device_costs()
  if (build$kind == "emulate" && costs$emulated == 0) return(choice("cpu"))
  seconds <- expect(size, threads, costs)
  expected <- sprintf("about %s expected, %s on a device", device_seconds_text(seconds[["cpu"]]),
                      device_seconds_text(seconds[["cuda"]]))
  if (seconds[["cuda"]] * costs$margin >= seconds[["cpu"]]) {
    return(choice("cpu", if (cuda_likely()) sprintf("training on the cpu: %s", expected)))
  }
  look <- cuda_device_state(build, request$number)
  if (!look$ok) {
    nothing <- !look$forked && (look$driver == 0L || (look$n_devices == 0L && look$driver >= look$runtime))
    return(if (nothing) choice("cpu") else choice("cpu", cpu_fallback_text(look$problem), look$problem))
  }
  if (!is.null(size$room) && look$free_bytes < size$room) { # what it has free shows once it has been looked at
    size$room <- look$free_bytes
    seconds <- expect(size, threads, costs)
    if (seconds[["cuda"]] * costs$margin >= seconds[["cpu"]]) {
      why <- "the data do not fit into the device's memory, and reading them from the host is expected to be slower"
      return(choice("cpu", paste0("training on the cpu: ", why)))
    }
  }
  package_state$cuda_started <- TRUE
  choice("cuda", sprintf("training on %s: about %s expected, %s on the cpu", device_title(look, request$number),
                         device_seconds_text(seconds[["cuda"]]), device_seconds_text(seconds[["cpu"]])))
}

# The choice of several devices, all of which can be used. look: what is known of the first one.
choose_devices <- function(request, build, look, choice) {
  numbers <- if (identical(request$devices, "all")) seq_len(look$n_devices) - 1L else request$devices
  for (number in numbers[-1L]) {
    other <- cuda_device_state(build, number)
    if (!other$ok) stop(gbt_error("device", other$problem, "devices"))
  }
  if (length(numbers) == 1L) return(choice("cuda", sprintf("training on %s", device_title(look, numbers))))
  names <- enumerate(sprintf("cuda:%d", numbers))
  c(choice("cuda", sprintf("training on %d devices: %s", length(numbers), names)), list(devices = numbers))
}

# The same for a training: with ranks the k-th rank of a machine has its k-th device, unless the request names one, and
# "auto" is a device only if it is one for all ranks. Collective.
choose_device_for_training <- function(request, size, threads) {
  if (is.null(ranks_here())) return(choose_device(request, size, threads))
  if (!is.null(request$devices)) {
    stop_unsupported("`devices` cannot be combined with `ranks`: start a rank for each GPU, which takes one by itself",
                     "devices")
  }
  check_same_on_ranks(request$kind, "`device`", "; give all ranks the same one, by number if they need different ones")
  if (request$kind == "cpu") return(choose_device(request))
  host <- Sys.info()[["nodename"]]
  hosts <- vapply(gather_ranks(list(host = host)), `[[`, "", "host")
  if (!request$numbered && cuda_build()$kind != "none") {
    before <- sum(hosts[seq_len(ranks_here()$rank)] == host)
    request$number <- as.integer(before %% max(1L, cuda_device_state(cuda_build())$n_devices))
  }
  choice <- choose_device(request, size, threads)
  if (!any_rank(choice$kind == "cpu") || choice$kind == "cpu") return(choice)
  choice$kind <- "cpu"
  choice$why <- "training on the cpu: for some of the ranks no device is expected to be faster"
  choice
}

settle_device <- function(choice) {
  if (!is.null(choice$problem)) warn_fallback(choice$problem)
  list2env(choice, envir = new.env(parent = emptyenv()))
}

# Where there is no training to weigh, "auto" is the cpu.
plain_device <- function(device) {
  if (is_device_unset(device)) return(NULL)
  request <- check_device(device)
  if (request$kind == "auto") request$kind <- "cpu"
  settle_device(choose_device(request))
}

# The same for a prediction, which is weighed. Small ones are the cpu's without a thought, which would take longer.
prediction_device <- function(device, size, threads) {
  small <- !isTRUE(size$rows * size$trees >= 1e7) && is.null(getOption("gbt.device_costs"))
  if (small && is_device_unset(device)) return(NULL)
  request <- check_device(device)
  if (request$kind == "auto" && (small || !is.finite(size$trees))) return(NULL)
  settle_device(choose_device(request, size, threads, expected_of_prediction))
}

# work(where): where is NULL for the cpu, else what the engine's entries take for a device. When the device has no room
# it is tried once more after garbage collection, which frees the memory of unused trainers.
on_device <- function(device, work) {
  if (is.null(device) || device$kind == "cpu") return(work(NULL))
  where <- list(library = cuda_build()$library, number = device$number, devices = device$devices)
  work_there <- function() {
    out <- tryCatch(work(where), gbt_error_memory = identity)
    if (!inherits(out, "gbt_error_memory")) return(out)
    gc()
    work(where)
  }
  if (!device$auto) return(work_there())
  out <- tryCatch(work_there(), gbt_error_device = identity, gbt_error_memory = identity)
  if (!inherits(out, "condition")) return(out)
  fall_back_to_cpu(device, out)
  work(NULL)
}

# Memory and codes of a training on its device: for the log.
device_use <- function(device, trainer, n_rows) {
  if (device$kind == "cpu") return("")
  info <- .Call(C_gbt_trainer_info, trainer)
  bytes <- info$device_bytes
  read <- if (info$host_bytes > 0) sprintf("; it reads %.0f MB of codes from the host's memory", info$host_bytes / 2^20)
  paste0(sprintf("; %.0f MB of its memory, %.0f bytes a row", bytes / 2^20, bytes / n_rows), read)
}

# "auto" chose a device that fails: from here on it is the cpu.
fall_back_to_cpu <- function(device, condition) {
  problem <- if (is.null(condition$problem)) conditionMessage(condition) else condition$problem
  warn_fallback(problem)
  device$kind <- "cpu"
  device$why <- cpu_fallback_text(problem)
}

cpu_fallback_text <- function(problem) paste0("training on the cpu: ", problem)

device_title <- function(look, number) {
  sprintf("cuda:%d (%s%s)", number, look$name, if (look$emulated) ", emulated" else "")
}

device_seconds_text <- function(s) if (s < 10) sprintf("%.1f s", s) else sprintf("%.0f s", s)

# "auto" goes back to the cpu: a warning, once in a session for the same reason, whatever the megabytes in it.
warn_fallback <- function(problem) {
  reason <- gsub("[0-9]+", "0", problem)
  if (reason %in% package_state$fallbacks) return(invisible())
  package_state$fallbacks <- c(package_state$fallbacks, reason)
  said <- "the cpu is used, although a device was expected to be faster (the model is the same): "
  warn_gbt("device", paste0(said, problem))
}

# gbt_info() ---------------------------------------------------------------------------------------------------------

# list(devices = rows for the table of devices, cuda = what is known)
cuda_info <- function() {
  build <- cuda_build()
  cuda <- c(list(built = build$kind != "none", emulated = build$kind == "emulate"), build[c("why", "toolkit")],
            build[c("architectures", "ptx")], list(library = if (nzchar(build$library)) build$library else NA))
  if (build$kind == "none") return(c(list(available = FALSE, note = paste0("not built: ", build$why)), cuda))
  look <- cuda_device_state(build)
  cuda <- c(cuda, look[c("driver", "runtime", "n_devices", "name", "capability", "n_units", "total_bytes", "free_bytes",
                         "offers")])
  if (!look$ok) return(c(list(available = FALSE, note = look$problem), cuda))
  nccl <- .Call(C_gbt_cuda_nccl, build$library)
  cuda$nccl <- if (nccl$ok) nccl$text else paste0("none: ", nccl$text)
  size <- function(bytes) format(structure(bytes, class = "object_size"), units = "auto", standard = "IEC")
  version <- function(v) sprintf("%d.%d", v %/% 1000L, v %% 1000L %/% 10L)
  note <- sprintf("%s, compute capability %s, %s of %s free, driver for CUDA %s, built with %s", look$name,
                  look$capability, size(look$free_bytes), size(look$total_bytes), version(look$driver),
                  version(look$runtime))
  if (look$emulated) note <- paste0("emulated by the cpu, for tests only; ", note)
  if (look$n_devices > 1L) note <- sprintf("%d devices; cuda:0 is %s", look$n_devices, note)
  c(list(available = TRUE, note = note), cuda)
}
