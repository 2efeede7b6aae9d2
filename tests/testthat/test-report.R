test_that("a report is rendered for numbers, two classes, more classes, and both forms of data", {
  skip_if_not_installed("rmarkdown")
  skip_if_not(rmarkdown::pandoc_available("2.0"), "pandoc is not there")
  text_of <- function(...) {
    file <- tempfile(fileext = ".html")
    withr::defer(unlink(file))
    expect_identical(gbt_report(..., file = file, rows = 50), file)
    paste(readLines(file, warn = FALSE), collapse = "\n")
  }
  columns <- c("late", "carrier", "distance", "sched_dep_time")
  two <- gbt_train(late ~ ., flights[1:600, columns], nrounds = 5, valid = 0.2, seed = 1, threads = 2)
  text <- text_of(two, flights[601:900, columns], by = "carrier", title = "Late & early: \"`r 40 + 2` flights\"")
  for (part in c("Late &amp; early", "r 40 + 2", "Metrics by group", "sched_dep_time", "H squared", "logloss")) {
    expect_match(text, part, fixed = TRUE)
  }
  numbers <- gbt_train(mtcars[-1], mtcars$mpg, nrounds = 5, max_depth = 2, min_child_weight = 1, threads = 1)
  expect_match(text_of(numbers, mtcars[-1], y = mtcars$mpg), "rmse", fixed = TRUE)
  classes <- gbt_train(Species ~ ., iris, nrounds = 3, threads = 1)
  expect_match(text_of(classes, iris), "versicolor", fixed = TRUE)
  drawn <- "Mean of the observed against mean of the predicted"
  expect_match(text, drawn, fixed = TRUE)
  cars <- transform(mtcars[c("am", "wt", "hp")], am = am == 1)
  yes <- gbt_train(am ~ ., cars, nrounds = 3, threads = 1)
  expect_match(text_of(yes, cars), drawn, fixed = TRUE)
  codes <- gbt_train(mtcars[-2], mtcars$cyl, objective = "softmax", nrounds = 3, threads = 1)
  expect_match(text_of(codes, mtcars[-2], y = mtcars$cyl), drawn, fixed = TRUE)
})

test_that("what gbt_report() cannot use is named", {
  m <- gbt_train(mpg ~ ., mtcars, nrounds = 2, threads = 1)
  expect_snapshot(error = TRUE, gbt_report(data = mtcars))
  expect_snapshot(error = TRUE, gbt_report(m, as.matrix(mtcars), "a.html"))
  expect_snapshot(error = TRUE, gbt_report(m, mtcars[0, ], "a.html"))
  expect_snapshot(error = TRUE, gbt_report(m, mtcars, "a.txt"))
  expect_snapshot(error = TRUE, gbt_report(m, mtcars, "no/such/folder/a.html"))
  expect_snapshot(error = TRUE, gbt_report(m, mtcars, "a.html", by = "colour"))
})
