# Runs the twenty tasks of a package, one after the other: which of its lines run, and how long they take.
#
#   Rscript bench/tasks-run.R PACKAGE      gbt, xgboost, lightgbm or catboost: the file of bench/tasks
#
# A folder of its own gets the files that the tasks read, made of gbt::flights. Lines of a task are evaluated one call
# at a time; the first one that fails is reported, and the next task begins. A companion that is not installed
# (yardstick, pdp, shapviz, hstats) is reported as that. On a busy machine OMP_NUM_THREADS=1 keeps threads of peers from
# waiting.
package <- commandArgs(TRUE)[1L]
lines <- readLines(file.path("bench", "tasks", paste0(package, ".R")))
set.seed(1)
flights <- gbt::flights
folder <- tempfile("tasks")
dir.create(folder)
setwd(folder)
aside <- seq(7, nrow(flights), by = 7)
write <- function(data, file) utils::write.csv(data, file, row.names = FALSE)
write(flights[-aside, ][1:6000, ], "flights.csv")
write(flights[aside, ][1:1500, ], "new.csv")
write(flights[-aside, ][1:3000, ], "part1.csv")
write(flights[-aside, ][3001:6000, ], "part2.csv")
hour <- flights$sched_dep_time %/% 100
counts <- stats::aggregate(cbind(n_late = as.numeric(flights$late == "yes"), n = 1) ~ carrier + hour,
                           data.frame(carrier = flights$carrier, hour = hour, late = flights$late), sum)
write(counts, "counts.csv")

head <- grep("^# [0-9]+ ", lines)
env <- new.env(parent = globalenv())
grDevices::pdf(NULL)
silent <- function(code) {
  sink(tempfile())
  on.exit(sink())
  suppressMessages(suppressWarnings(force(code)))
}
run <- function(text) {
  calls <- parse(text = text, keep.source = FALSE)
  for (call in as.list(calls)) {
    silent({
      out <- withVisible(eval(call, env))
      if (out$visible) print(out$value)
    })
  }
}
said <- function(e) {
  message <- strsplit(conditionMessage(e), "\n")[[1L]][1L]
  if (grepl("there is no package called", message)) sub(".*called ", "needs ", message) else paste("fails:", message)
}
tell <- function(what, text) {
  time <- system.time(outcome <- tryCatch({
    run(text)
    "ok"
  }, error = said))[["elapsed"]]
  cat(sprintf("%-4s %6.1f s  %s\n", what, time, outcome))
}
tell("load", lines[seq_len(head[1L] - 1L)])
for (i in seq_along(head)) {
  end <- if (i < length(head)) head[i + 1L] - 1L else length(lines)
  text <- lines[seq_len(end)[-seq_len(head[i])]]
  if (any(nzchar(text) & !startsWith(text, "#"))) tell(i, text) else cat(sprintf("%-4s           not offered\n", i))
}
for (name in c(package, "yardstick", "pdp", "shapviz", "hstats", "callr")) {
  there <- nzchar(system.file(package = name))
  cat(name, if (there) as.character(utils::packageVersion(name)) else "not installed", "\n")
}
