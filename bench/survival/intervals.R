# How many intervals objective "hazard" should have: held-out concordance and integrated Brier score with 5, 10 and 20
# of them, beside objective "cox", on sets of package survival. Means over 3 folds.
#
#   Rscript bench/survival/intervals.R
library(gbt)
library(survival)

keep <- c("age", "sex", "edema", "bili", "chol", "albumin", "alk.phos", "ast", "protime", "stage")
sets <- list(
  flchain = subset(flchain, futime > 0, select = -chapter),
  pbc = cbind(pbc[keep], futime = pbc$time, death = as.numeric(pbc$status == 2)),
  gbsg = cbind(subset(gbsg, select = -c(pid, rfstime, status)), futime = gbsg$rfstime, death = gbsg$status)
)
models <- list(cox = NULL, hazard_5 = 5, hazard_10 = 10, hazard_20 = 20)

judged <- function(d, breaks) {
  set.seed(1)
  fold <- sample(rep(1:3, length.out = nrow(d)))
  each <- vapply(1:3, function(k) {
    m <- gbt_train(Surv(futime, death) ~ ., d[fold != k, ], objective = if (is.null(breaks)) "cox" else "hazard",
                   breaks = breaks, seed = 1, threads = 2, verbose = 0)
    c(gbt_evaluate(m, d[fold == k, ], metrics = c("concordance", "ibs"))$estimate, m$nrounds)
  }, c(concordance = 0, ibs = 0, rounds = 0))
  rowMeans(each)
}

for (name in names(sets)) {
  cat(name, "\n", sep = "")
  print(round(t(vapply(models, function(breaks) judged(sets[[name]], breaks), numeric(3))), 4))
}
