# Trains until it is ended by a signal.
library(gbt)
x <- matrix(rnorm(2e6), ncol = 20)
cat("ready\n")
repeat gbt_train(x, x[, 1], nrounds = 100, threads = 2)
