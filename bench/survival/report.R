# Tables of what run.R wrote: Rscript bench/survival/report.R FILE.csv [FILE.csv ...]
#
# Means over splits with their standard errors. "gbt - best": the difference of gbt's default to the best of the other
# packages in the mean, by split, with its standard error.
results <- do.call(rbind, lapply(commandArgs(TRUE), utils::read.csv))
models <- c("gbt", "gbt_aft", "gbt_weibull", "coxph", "ranger", "xgb_cox", "xgb_aft", "cat_cox", "cat_aft", "survreg")
others <- setdiff(models, c("gbt", "gbt_aft", "gbt_weibull", "survreg")) # survreg: for comparison with gbt_aft
every <- table(results$set, results$model)[, models]
n_splits <- max(every)
results <- results[results$set %in% rownames(every)[rowSums(every == n_splits) == length(models)], ]

text_of <- function(v, digits) {
  v <- v[!is.na(v)]
  sprintf("%.*f (%.*f)", digits, mean(v), digits, stats::sd(v) / sqrt(length(v)))
}

table_of <- function(what, sign) {
  cat("| set | rows | events |", paste(models, collapse = " | "), "| gbt - best |\n|",
      strrep("---|", length(models) + 4L), "\n", sep = "")
  ahead <- 0L
  for (set in sort(unique(results$set))) {
    its <- results[results$set == set, ]
    by_split <- tapply(its[[what]], list(its$split, its$model), mean)[, models]
    best <- others[which.max(sign * colMeans(by_split[, others], na.rm = TRUE))]
    off <- by_split[, "gbt"] - by_split[, best]
    error <- stats::sd(off) / sqrt(length(off))
    ahead <- ahead + (sign * mean(off) >= -error)
    cells <- vapply(models, function(m) text_of(by_split[, m], 4L), "")
    cat("|", set, "|", its$rows[1L], "|", its$events[1L], "|", paste(cells, collapse = " | "), "|",
        sprintf("%+.4f (%.4f), %s", mean(off), error, best), "|\n")
  }
  cat(sprintf("\nOn %d of %d sets gbt's default is better than the best other, or at most a standard error worse.\n",
              ahead, length(unique(results$set))))
}

cat("Means over", n_splits, "splits.\n\n## Concordance (larger is better)\n\n")
table_of("c", 1)
cat("\n## Integrated Brier score (smaller is better)\n\n")
table_of("ibs", -1)
