# Trees of classes that share their splits, for stated numbers of rounds: log loss of held-out rows with
# multi_strategy = "multi_output_tree" against "one_output_per_tree", in percent.
#
#   Rscript bench/shared-splits.R [SPLITS]
#
# Sets of package mlbench and iris; a split trains on seven tenths of the rows. What early stopping gives is in
# bench/results/splits/defaults.md.
library(gbt)

splits <- as.integer(c(commandArgs(TRUE), "2")[1L])
rounds <- c(5, 10, 20, 30, 50, 100)
set_of <- function(name) {
  where <- new.env()
  utils::data(list = name, package = "mlbench", envir = where)
  where[[name]]
}
sets <- list(Satellite = "classes", Vehicle = "Class", Vowel = "Class", Glass = "Type", LetterRecognition = "lettr",
             Soybean = "Class", iris = "Species", DNA = "Class")

log_loss <- function(p, y) -mean(log(pmax(p[cbind(seq_along(y), as.integer(y))], 1e-15)))

loss_of <- function(strategy, train, test, response, nrounds) {
  m <- gbt_train(train[names(train) != response], train[[response]], nrounds = nrounds, multi_strategy = strategy,
                 threads = 1)
  log_loss(predict(m, test), test[[response]])
}

change <- function(data, response, split, nrounds) {
  set.seed(split)
  at <- sample(nrow(data), 0.7 * nrow(data))
  loss <- vapply(c("multi_output_tree", "one_output_per_tree"), loss_of, 0, train = data[at, ], test = data[-at, ],
                 response = response, nrounds = nrounds)
  100 * log(loss[[1L]] / loss[[2L]])
}

cat("| set | classes |", paste(rounds, "|", collapse = " "), "\n| --- | --- |", rep("--- |", length(rounds)), "\n")
for (name in names(sets)) {
  data <- if (name == "iris") iris else utils::head(set_of(name), 6000)
  by_round <- vapply(rounds, function(n) mean(vapply(seq_len(splits), change, 0, data = data, response = sets[[name]],
                                                     nrounds = n)), 0)
  cat("|", name, "|", nlevels(data[[sets[[name]]]]), "|", sprintf("%+.1f |", by_round), "\n")
}
