# Ranks, as far as one process shows them: tests/robust/ranks.sh has several.

test_that("ranks come from gbt_ranks(), whose arguments are checked", {
  expect_snapshot(error = TRUE, {
    gbt_train(mpg ~ ., mtcars, nrounds = 2, ranks = 4)
    gbt_ranks(timeout = -1)
    gbt_ranks(library = 1)
    gbt_ranks(comm = "world")
    gbt_cv(mpg ~ ., mtcars, nrounds = 2, ranks = 4)
  })
  expect_error(gbt_ranks(library = "/no/such/libmpi.so"), "cannot be opened", class = "gbt_error_unsupported")
})

test_that("without ranks a process has the rows of all", {
  expect_identical(gather_ranks(list(x = 1:3, y = "a")), list(list(x = 1:3, y = "a")))
  expect_identical(sum_of_ranks(5), 5)
  expect_identical(all_ranks_have(c("b", "a")), c("b", "a"))
  expect_identical(range_of_ranks(c(2, -1, 7)), c(-1, 7))
  expect_true(any_rank(TRUE))
  expect_silent(check_same_on_ranks(1:3, "a thing", ""))
})

test_that("columns of several ranks have the classes that fit all of them", {
  expect_identical(common_tags(c("missing", "integer", "double", "factor"), c("Date", "double", "integer", "missing")),
                   c("Date", "double", "double", "factor"))
  all <- list(c("double", "missing"), c("character", "factor"))
  expect_error(check_tags_of_ranks(c("a", "b"), Reduce(common_tags, all), all),
               "column `a` is of class double on rank 0 and of class character on rank 1", class = "gbt_error_data")
})
