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
  "neither by itself nor by a usual companion. The file of gbt has been run as it stands; those of the others follow",
  "their documentation (xgboost 3.x, lightgbm 4.x, catboost 1.2) and have not been run, as these packages were not",
  "installed.", "",
  paste("| | task |", paste(packages, collapse = " | "), "|"), "|---|---|---|---|---|---|",
  sprintf("| %d | %s | %s |", 1:20, tasks$gbt$titles, apply(cell, 1L, paste, collapse = " | ")),
  sprintf("| | all | %s |", paste(colSums(count), collapse = " | "))
), out)
