# Models of trees of classes that share their splits: bytes of the model, processor time of training and prediction.
#
#   Rscript bench/shared-predict.R [CLASSES] [THREADS]
#
# Made data of 20 columns, 20,000 rows to train on and 200,000 to predict; 300 rounds. Prints medians of five, and the
# checksum of the scores, which other versions of gbt must have as well.
library(gbt)

given <- as.integer(commandArgs(TRUE))
classes <- if (length(given) > 0L) given[1L] else 20L
threads <- if (length(given) > 1L) given[2L] else 1L

set.seed(1)
x <- as.data.frame(matrix(stats::runif(220000 * 20), ncol = 20))
score <- x[[1L]] * 3 + sin(6 * x[[2L]]) + x[[3L]] * x[[4L]] + (x[[5L]] > 0.5) + stats::rnorm(nrow(x), sd = 0.2)
y <- factor(cut(score, stats::quantile(score, seq(0, 1, length.out = classes + 1L)), labels = FALSE,
                include.lowest = TRUE))
train <- 1:20000
old <- x[train, ]
new <- x[-train, ]

seconds <- function(expr) sum(system.time(expr)[c("user.self", "sys.self")]) # of the processor
median_of <- function(f) stats::median(vapply(1:5, function(i) seconds(f()), 0))

trained <- seconds(m <- gbt_train(old, y[train], nrounds = 300, multi_strategy = "multi_output_tree", seed = 1,
                                  threads = threads))
p <- predict(m, new, threads = threads)
cat(sprintf("classes %d, threads %d: model %.2f MB, training %.2f s\n", classes, threads, length(m$state) / 1e6,
            trained))
cat(sprintf("200,000 rows: %.3f s\n", median_of(function() predict(m, new, threads = threads))))
cat(sprintf("1,000 rows:   %.4f s\n",
            median_of(function() for (i in 1:10) predict(m, new[1:1000, ], threads = threads)) / 10))
cat(sprintf("1 row:        %.6f s\n",
            median_of(function() for (i in 1:50) predict(m, new[1L, ], threads = threads)) / 50))
cat(sprintf("log loss %.6f, sum of squares of the scores %.17g\n",
            -mean(log(p[cbind(seq_len(nrow(p)), as.integer(y[-train]))])), sum(p^2)))
