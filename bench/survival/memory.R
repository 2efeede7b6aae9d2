# Memory a row of trainings whose gradients look at many rows (survival, ranking), beside that of squared_error.
#
#   Rscript bench/survival/memory.R [--rows=1000000] [--columns=10] [--rounds=10] [--threads=2] [--query=100]
#
# Each objective is trained by a process of its own on the same made columns. "data": the data set, its bins, labels and
# fields, by the memory of the process before and after. "training": the peak of the training above that, by the
# system's count of resident memory (Linux), which is set back before it. Both in bytes a row. query: rows of a query.
given <- commandArgs(trailingOnly = TRUE)
option <- function(name, default) {
  at <- grep(paste0("^--", name, "="), given, value = TRUE)
  if (length(at)) sub("^[^=]*=", "", at[1L]) else default
}
number <- function(name, default) as.integer(option(name, default))
objectives <- c("squared_error", "cox", "fine_gray", "aft", "rank_ndcg")
n <- number("rows", 1000000L)

status <- function(what) as.numeric(gsub("[^0-9]", "", grep(what, readLines("/proc/self/status"), value = TRUE))) * 1024

measure <- function(objective) {
  library(gbt)
  loadNamespace("survival") # 140 MB
  gc(full = TRUE)
  before <- status("VmRSS")
  threads <- number("threads", 2L)
  set.seed(1)
  p <- number("columns", 10L)
  x <- matrix(stats::rnorm(n * p), n, dimnames = list(NULL, paste0("x", seq_len(p))))
  score <- drop(x[, 1:3] %*% c(1, 0.5, -0.5))
  event <- stats::rexp(n, exp(score))
  other <- stats::rexp(n, 0.5)
  censored <- stats::rexp(n, 0.5)
  cause <- factor(ifelse(censored < pmin(event, other), "none", ifelse(event < other, "a", "b")), c("none", "a", "b"))
  y <- switch(objective,
    squared_error = score + stats::rnorm(n),
    rank_ndcg = pmin(pmax(round(score + stats::rnorm(n)), 0), 4),
    fine_gray = survival::Surv(pmin(event, other, censored), cause),
    survival::Surv(pmin(event, censored), event <= censored))
  rm(score, event, other, censored, cause)
  group <- if (objective == "rank_ndcg") rep(seq_len(ceiling(n / number("query", 100L))), length.out = n,
                                             each = number("query", 100L))
  data <- gbt_data(x, y, group = group, threads = threads)
  rm(x, y, group)
  gc(full = TRUE)
  made <- status("VmRSS")
  writeLines("5", "/proc/self/clear_refs") # sets the peak back
  gbt_train(data, nrounds = number("rounds", 10L), objective = objective, eta = 0.1, threads = threads,
            cause = if (objective == "fine_gray") "a", grow_policy = "depthwise", max_depth = 6, verbose = 0)
  cat(sprintf("%s %.0f %.0f\n", objective, (made - before) / n, (status("VmHWM") - made) / n))
}

one <- option("objective", "")
if (nzchar(one)) {
  measure(one)
} else {
  script <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  cat(sprintf("%d rows, %d columns, bytes a row\n\n", n, number("columns", 10L)))
  cat("| objective | data | training |\n|---|---|---|\n")
  for (objective in objectives) {
    lines <- system2(file.path(R.home("bin"), "Rscript"), c(script, given, paste0("--objective=", objective)),
                     stdout = TRUE, env = "MALLOC_MMAP_THRESHOLD_=65536") # blocks that are freed go back to the system
    cat("|", gsub(" ", " | ", lines[length(lines)]), "|\n")
  }
}
