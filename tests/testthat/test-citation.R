test_that("the package can be cited", {
  cited <- utils::citation("gbt")
  expect_identical(cited$title, "gbt: Exact Gradient Boosted Trees for Data Frames")
  expect_match(cited$note, as.character(utils::packageVersion("gbt")), fixed = TRUE)
})
