# The longest time between two looks at Ctrl-C in every job: gaps.R FORM POLLS.so REPORT
#
# On one thread, in seconds of the CPU. The promise is 0.2 s; less is allowed here, as other machines are slower.
# R's own collection of garbage, which nobody can interrupt, is not gbt's: where it is long, as it is beside millions of
# texts, one is allowed on top.
library(gbt)
args <- commandArgs(trailingOnly = TRUE)
source(file.path(Sys.getenv("SIGNALS"), "jobs.R"))
dyn.load(args[2])
set.seed(1)
options(warn = 1)
LIMIT <- 0.15

for (group in names(jobs_of(args[1]))) {
  jobs <- jobs_of(args[1])[[group]]()
  for (name in names(jobs)) {
    collection <- system.time(gc())[["user.self"]]
    .Call("polls_begin")
    suppressMessages(jobs[[name]](1L))
    seen <- .Call("polls_end")
    verdict <- if (seen[1] > LIMIT + if (collection > 0.05) collection else 0) "FAILED" else "ok"
    cat(sprintf("%s\tgap\t%s\t%.3f\t%.0f looks, a collection takes %.3f s\n", verdict, name, seen[1], seen[2],
                collection), file = args[3], append = TRUE)
  }
  rm(jobs)
}
