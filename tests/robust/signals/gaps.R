# The longest time between two looks at Ctrl-C in every job: gaps.R FORM POLLS.so REPORT
#
# On one thread, in seconds of the CPU. The promise is 0.2 s; less is allowed to the smaller data of the short form, as
# other machines are slower. R's own collections of garbage do not count. What takes longer is measured again, twice: a
# busy neighbour lengthens seconds of the CPU, and nothing shortens them.
library(gbt)
args <- commandArgs(trailingOnly = TRUE)
source(file.path(Sys.getenv("SIGNALS"), "jobs.R"))
dyn.load(args[2])
set.seed(1)
options(warn = 1)
LIMIT <- if (args[1] == "long") 0.2 else 0.15

for (group in names(jobs_of(args[1]))) {
  jobs <- jobs_of(args[1])[[group]]()
  for (name in names(jobs)) {
    for (measured in 1:3) {
      .Call("polls_begin")
      suppressMessages(jobs[[name]](1L))
      seen <- .Call("polls_end")
      if (seen[1] <= LIMIT) break
    }
    verdict <- if (seen[1] > LIMIT) "FAILED" else "ok"
    cat(sprintf("%s\tgap\t%s\t%.3f\t%.0f looks\n", verdict, name, seen[1], seen[2]), file = args[3], append = TRUE)
  }
  rm(jobs)
}
