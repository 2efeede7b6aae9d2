# Runs the tests of an installed gbt: Rscript tools/test.R FOLDER COUNT_FILE [FILTER]
# Writes "PASSED FAILED" (tests, not single expectations) and ends with status 1 when any failed.
args <- commandArgs(trailingOnly = TRUE)
library(testthat)
library(gbt)

results <- as.data.frame(test_dir(args[1], package = "gbt", load_package = "installed", reporter = "summary",
                                  filter = if (length(args) > 2L) args[3], stop_on_failure = FALSE))
bad <- results$failed > 0 | results$error
skipped <- !bad & results$skipped
for (i in which(skipped)) cat("skipped:", results$file[i], "-", results$test[i], "\n")
for (i in which(bad)) cat("FAILED:", results$file[i], "-", results$test[i], "\n")
slow <- order(-results$real)[seq_len(min(5L, nrow(results)))]
cat("slowest:\n", sprintf("  %6.1f s  %s - %s\n", results$real[slow], results$file[slow], results$test[slow]), sep = "")
cat(sum(results$nb), "expectations in", nrow(results), "tests,", sum(results$warning), "warnings\n")
writeLines(paste(sum(!bad & !skipped), sum(bad)), args[2])
quit(status = if (any(bad) || !nrow(results)) 1L else 0L)
