# Twenty tasks of an analyst and the lines that are typed for each: bench/results/tasks.md.
#
#   Rscript bench/tasks.R [OUT.md]
#
# bench/tasks has a file for each package. A line "# N text" begins task N; other lines that are not empty are counted,
# but not those of nothing but a comment. A task without lines is one that the package does not do.
args <- commandArgs(TRUE)
out <- if (length(args) > 0L) args[1L] else "bench/results/tasks.md"
packages <- c("gbt", "xgboost", "lightgbm", "catboost")
read <- function(package) {
  lines <- trimws(readLines(file.path("bench", "tasks", paste0(package, ".R"))))
  head <- grepl("^# [0-9]+ ", lines)
  task <- cumsum(head)
  counted <- nzchar(lines) & !startsWith(lines, "#") & task > 0L
  list(lines = tabulate(task[counted], 20L), titles = sub("^# [0-9]+ ", "", lines[head]))
}
tasks <- lapply(stats::setNames(packages, packages), read)
stopifnot(lengths(lapply(tasks, `[[`, "titles")) == 20L)
count <- vapply(tasks, `[[`, numeric(20L), "lines")
cell <- ifelse(count == 0, "-", count)
writeLines(c(
  "# Twenty tasks", "",
  "`Rscript bench/tasks.R` counts the lines of the files in `bench/tasks`, one for each package: what an analyst types",
  "in R, with the packages that are usual beside it where it has no way of its own (pdp, shapviz, hstats, yardstick,",
  "callr). Packages are loaded and data made ready where they are first needed. `-` is what a package does not do,",
  "neither by itself nor by a usual companion. `Rscript bench/tasks-run.R PACKAGE` runs a file, task by task, on data",
  "made of `gbt::flights`. On R 4.2.2 all tasks ran of gbt, of xgboost (the R code of 3.1.2 on the library of 3.2.0)",
  "and of lightgbm (4.6.0 on 4.7.0), with yardstick 1.1.0, pdp 0.8.2, shapviz 0.10.1, hstats 1.2.2 and callr 3.7.3,",
  "but for the waterfall of shapviz in both, which needs the package gggenes that was not there. Of both packages",
  "the glue alone was compiled, against the libraries of their Python wheels; xgboost's was patched for R 4.2 (a",
  "plain list in place of its ALTLIST). catboost's file follows its documentation (1.2) and has not been run, for lack",
  "of its R package.", "",
  paste("| | task |", paste(packages, collapse = " | "), "|"), "|---|---|---|---|---|---|",
  sprintf("| %d | %s | %s |", 1:20, tasks$gbt$titles, apply(cell, 1L, paste, collapse = " | ")),
  sprintf("| | all | %s |", paste(colSums(count), collapse = " | "))
), out)
