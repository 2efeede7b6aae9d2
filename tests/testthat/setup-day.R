# Models keep the day of their training: one day for all tests, so that snapshots stay, and midnight does not matter.
withr::local_envvar(SOURCE_DATE_EPOCH = "1700000000", .local_envir = testthat::teardown_env())
