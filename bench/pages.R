# What training takes with bins in a folder, compared with the same bins in memory: bench/results/pages.md. The files
# stay in the system's cache; each way of growing trees goes through memory and all budgets in turns, and models are
# compared.
#
#   Rscript bench/pages.R [OUT.md] [ROWS] [REPEATS]
#
# Processor seconds are those of all threads, system calls among them: they vary less than seconds where others use the
# machine. The page says how busy it was (the load that Linux tells, before and after).
library(gbt)
args <- commandArgs(TRUE)
out <- if (length(args) > 0L) args[1L] else "bench/results/pages.md"
n <- if (length(args) > 1L) as.integer(args[2L]) else 4000000L
repeats <- if (length(args) > 2L) as.integer(args[3L]) else 5L
n_rounds <- 5L
threads <- 2L
commit <- tryCatch(system2("git", c("rev-parse", "--short", "HEAD"), stdout = TRUE)[1L], error = function(e) NA)

set.seed(1)
x <- matrix(stats::rnorm(n * 28), n)
y <- as.numeric(x[, 1] * x[, 2] + sin(3 * x[, 3]) + x[, 4] + stats::rnorm(n) > 0)
path <- tempfile("pages")
invisible(gbt_data(x, y, path = path, threads = threads))
memory <- gbt_data(x, y, threads = threads)
rm(x)
invisible(gc())
bytes <- sum(file.size(list.files(path, "^pages", full.names = TRUE)))

ways <- list("depth by depth, 8" = list(grow_policy = "depthwise", max_depth = 8),
             "depth by depth, 6" = list(grow_policy = "depthwise", max_depth = 6),
             "best first, 255 leaves" = list(grow_policy = "lossguide", max_leaves = 255, max_depth = 0),
             "best first, 31 leaves" = list(grow_policy = "lossguide", max_leaves = 31, max_depth = 0),
             "symmetric, 8" = list(grow_policy = "symmetric", max_depth = 8),
             "depth 8, half of the rows" = list(grow_policy = "depthwise", max_depth = 8, subsample = 0.5),
             "depth 8, MVS 0.1" = list(grow_policy = "depthwise", max_depth = 8, sampling_method = "mvs",
                                       subsample = 0.1))
budgets <- c("1 %" = 0.01, "40 %" = 0.4, "all" = 1.1)

train <- function(data, way) {
  args <- c(list(data, nrounds = n_rounds, objective = "binary:logistic", threads = threads, seed = 1, verbose = FALSE),
            way)
  used <- system.time(model <- do.call(gbt_train, args))
  list(seconds = used[["elapsed"]], processor = used[["user.self"]] + used[["sys.self"]], state = model$state)
}

lines <- c("# Training from pages", "",
           sprintf("%s, gbt %s at %s. `Rscript bench/pages.R`: %s rows, 28 columns of noise, %d rounds, %d threads,",
                   Sys.Date(), gbt_info()$version, commit, format(n, big.mark = ","), n_rounds, threads),
           sprintf("%.0f MB of pages in the system's cache; medians of %d runs in turns, ratios to memory taken run",
                   bytes / 2^20, repeats),
           "by run; the second ratio is that of processor seconds. A budget is `memory` of `gbt_open()`. Models: all",
           "the same to the byte.", "",
           paste("| trees | in memory s |", paste(names(budgets), "kept s | ratio | processor |", collapse = " ")),
           paste0("|---|---|", strrep("---|---|---|", length(budgets))))
load_now <- function() {
  if (file.exists("/proc/loadavg")) sub(" .*", "", readLines("/proc/loadavg")) else NA
}
load_before <- load_now()
for (name in names(ways)) {
  seconds <- processor <- NULL
  for (i in seq_len(repeats)) {
    whole <- train(memory, ways[[name]])
    paged <- vapply(budgets, function(share) {
      one <- train(gbt_open(path, memory = share * bytes, threads = threads), ways[[name]])
      stopifnot(identical(one$state, whole$state))
      c(one$seconds, one$processor)
    }, c(0, 0))
    seconds <- rbind(seconds, c(whole$seconds, paged[1L, ]))
    processor <- rbind(processor, c(whole$processor, paged[2L, ]))
  }
  of <- apply(seconds, 2L, stats::median)
  ratio <- apply(seconds[, -1L, drop = FALSE] / seconds[, 1L], 2L, stats::median)
  used <- apply(processor[, -1L, drop = FALSE] / processor[, 1L], 2L, stats::median)
  its <- paste(sprintf("%.2f | %.2f | %.2f", of[-1L], ratio, used), collapse = " | ")
  lines <- c(lines, sprintf("| %s | %.2f | %s |", name, of[1L], its))
  cat(lines[length(lines)], "\n")
}
unlink(path, recursive = TRUE)
lines <- c(lines, "", sprintf("Load of the machine (%d processors): %s before, %s after.", parallel::detectCores(),
                              load_before, load_now()))
writeLines(lines, out)
