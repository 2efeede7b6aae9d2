# The jobs of jobs.R, and some that are larger, with little memory: prints a line for each. Run by memory.sh under
# `ulimit -v`. gbt raises a gbt_error_memory. R itself says "cannot allocate" where its own code gets no memory.
library(gbt)
compiler::enableJIT(0) # R's compiler uses regular expressions, which end the process where they get no memory
folder <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
with_sparse <- FALSE
source(file.path(folder, "jobs.R"))
x <- matrix(sample.int(200L, 4e5, TRUE), 2e4)
y <- x[, 1L] + 0
work <- c(jobs(2L), list(
  large_data = function() dim(gbt_data(x, threads = 2)),
  large_train = function() train(x, y, nrounds = 3, threads = 2),
  large_classes = function() train(x, factor(y), nrounds = 1, max_bin = 2000, threads = 2),
  large_predict = function() predict(world$model, world$frame[rep(1:300, 60L), ], threads = 2)
))
# Texts of R's errors, compared without regular expressions.
own <- c("cannot allocate", "memory exhausted", "unable to allocate", "ut of memory", "cannot create", "stack")
of_r <- function(message) any(vapply(own, function(text) grepl(text, message, fixed = TRUE), NA))
for (i in 1:2) {
  for (name in names(work)) {
    said <- tryCatch({
      work[[name]]()
      "done"
    }, error = function(e) {
      if (inherits(e, "gbt_error_memory")) return("memory")
      if (!inherits(e, "gbt_error") && of_r(conditionMessage(e))) return("R")
      paste("other:", class(e)[1L], conditionMessage(e))
    })
    cat("job", name, said, "\n")
  }
}
rm(x, y)
invisible(gc())
stopifnot(identical(predict(world$model, world$frame[1:3, ]), predict(fresh(world$model), world$frame[1:3, ])))
cat("end\n")
