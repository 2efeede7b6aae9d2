library(testthat)
library(gbt)

# CRAN's rule: no more than two threads, also where the check does not ask for it.
if (!nzchar(Sys.getenv("_R_CHECK_LIMIT_CORES_"))) Sys.setenv("_R_CHECK_LIMIT_CORES_" = "true")
test_check("gbt")
