# Runs the tests of an installed gbt: Rscript tools/test.R FOLDER COUNT_FILE [FILTER]
# Writes "PASSED FAILED" (tests, not single expectations) and ends with status 1 when any failed. SLOWEST=20 in the
# environment prints that many of the tests and files that take the most of the processor; 5 by default.
args <- commandArgs(trailingOnly = TRUE)
library(testthat)
library(gbt)

# Seconds of the processor that each test took, of this process and of the children that it waited for.
clock <- R6::R6Class("clock", inherit = Reporter, public = list(
  files = character(), tests = character(), seconds = numeric(), file = "", began = 0,
  used = function() sum(proc.time()[-3L]),
  start_file = function(name) self$file <- name,
  start_test = function(context, test) self$began <- self$used(),
  end_test = function(context, test) {
    self$files <- c(self$files, self$file)
    self$tests <- c(self$tests, test)
    self$seconds <- c(self$seconds, self$used() - self$began)
  }
))$new()
reporter <- MultiReporter$new(reporters = list(SummaryReporter$new(), clock))
results <- as.data.frame(test_dir(args[1], package = "gbt", load_package = "installed", reporter = reporter,
                                  filter = if (length(args) > 2L) args[3], stop_on_failure = FALSE))
bad <- results$failed > 0 | results$error
skipped <- !bad & results$skipped
for (i in which(skipped)) cat("skipped:", results$file[i], "-", results$test[i], "\n")
for (i in which(bad)) cat("FAILED:", results$file[i], "-", results$test[i], "\n")
slowest <- function(what, seconds) {
  most <- utils::head(order(-seconds), as.integer(Sys.getenv("SLOWEST", "5")))
  cat(sprintf("  %6.1f s of the processor  %s\n", seconds[most], what[most]), sep = "")
}
cat("slowest:\n")
slowest(paste(clock$files, "-", clock$tests), clock$seconds)
of_files <- tapply(clock$seconds, clock$files, sum)
slowest(names(of_files), of_files)
cat(sum(results$nb), "expectations in", nrow(results), "tests,", sum(results$warning), "warnings\n")
writeLines(paste(sum(!bad & !skipped), sum(bad)), args[2])
quit(status = if (any(bad) || !nrow(results)) 1L else 0L)
