library(testthat)
library(gbt)

test_check("gbt")
