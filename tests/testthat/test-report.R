# A text is long: a failure names the part that is missing.
expect_has <- function(text, ...) for (part in c(...)) expect_true(grepl(part, text, fixed = TRUE), label = part)
expect_lacks <- function(text, ...) for (part in c(...)) expect_false(grepl(part, text, fixed = TRUE), label = part)
text_of <- function(...) {
  file <- tempfile(fileext = ".html")
  withr::defer(unlink(file))
  expect_identical(gbt_report(..., file = file, rows = 50), file)
  words_of(file)
}
words_of <- function(file) gsub("[ \n]+", " ", paste(readLines(file, warn = FALSE), collapse = "\n"))
skip_without_pandoc <- function() {
  skip_if_not_installed("rmarkdown")
  skip_if_not(rmarkdown::pandoc_available("2.0"), "pandoc is not there")
}
drawn <- "Mean observed against mean predicted"
columns <- c("late", "carrier", "distance", "sched_dep_time")

test_that("a report is rendered for two classes, calibrated as well", {
  skip_without_pandoc()
  two <- gbt_train(late ~ ., flights[1:600, columns], nrounds = 5, valid = 0.2, seed = 1, threads = 2)
  text <- text_of(two, flights[601:900, columns], by = "carrier", title = "Late & early: \"`r 40 + 2` flights\"")
  expect_has(text, "Late &amp; early", "r 40 + 2", "Metrics by group", "sched_dep_time", "H squared", "logloss", drawn,
             "ROC curve", "Lift by share")
  cars <- transform(mtcars[c("am", "wt", "hp")], am = am == 1)
  yes <- gbt_train(am ~ ., cars, nrounds = 3, threads = 1)
  if (long_form()) expect_has(text_of(yes, cars), drawn, "ROC curve")
  expect_has(text_of(yes, cars[cars$am, ]), drawn) # one class: neither ROC nor lift
  calibrated <- gbt_calibrate(two, flights[901:1500, columns], threads = 1)
  expect_has(text_of(calibrated, flights[601:900, columns]), "gbt_calibrated", drawn)
})

test_that("a report is rendered for several classes", {
  skip_without_pandoc()
  classes <- gbt_train(Species ~ ., iris, nrounds = 3, threads = 1)
  expect_has(text_of(classes, iris), "versicolor", "Confusion matrix", "AUC against the others")
  if (long_form()) {
    codes <- gbt_train(mtcars[-2], mtcars$cyl, objective = "softmax", nrounds = 3, threads = 1)
    expect_has(text_of(codes, mtcars[-2], y = mtcars$cyl), "Confusion matrix")
  }
})

test_that("a report is rendered for numbers, with an objective of the user's as well", {
  skip_without_pandoc()
  numbers <- gbt_train(mtcars[-1], mtcars$mpg, nrounds = 5, max_depth = 2, min_child_weight = 1, threads = 1)
  expect_has(text_of(numbers, mtcars[-1], y = mtcars$mpg), "rmse", "Residuals against predicted")
  own <- list(gradient = function(score, label) score - label, hessian = function(score, label) 0 * score + 1)
  mine <- gbt_train(mpg ~ wt + hp, mtcars, objective = own, nrounds = 3, threads = 1)
  expect_has(text_of(mine, mtcars), "no metric", "Residuals against predicted")
  upper <- gbt_train(mpg ~ wt + hp, mtcars, objective = "quantile", quantile_alpha = 0.9, nrounds = 3, threads = 1)
  expect_has(text_of(upper, mtcars), "quantile of level 0.9")
  if (long_form()) {
    rate <- gbt_train(carb ~ wt + offset(log(cyl)), mtcars, objective = "poisson", nrounds = 3, threads = 1)
    expect_has(text_of(rate, mtcars), "poisson")
  }
})

test_that("a report of ranking looks at queries", {
  skip_without_pandoc()
  cars <- transform(mtcars[c("wt", "hp", "carb")], q = rep(1:8, 4))
  m <- gbt_train(carb ~ wt + hp, cars, group = q, objective = "query_rmse", nrounds = 3, threads = 1)
  text <- text_of(m, cars, group = "q", effects = 0)
  expect_has(text, "NDCG by the number of rows of a query", "ndcg@10", "mrr")
  expect_lacks(text, drawn, "Residuals")
})

test_that("a report lists the parameters that differ from their defaults, its heads are over their numbers", {
  skip_without_pandoc()
  m <- gbt_train(mpg ~ wt + hp, mtcars, nrounds = 3, max_leaves = 5, subsample = 1, threads = 1)
  text <- text_of(m, mtcars)
  table <- sub("</table>.*", "", sub("^.*that were given", "", text))
  expect_has(table, ">max_leaves<")
  expect_lacks(text, ">subsample<", ">extra_trees<", ">softmax_hessian<", ">multi_strategy<")
  expect_has(text, "Parameters that a rule chose", "th[align=\"right\"] { text-align: right; }")
  expect_lt(nchar(text), 1e6)
})

test_that("a draft of the template is knitted as it is, also the second in a folder", {
  skip_without_pandoc()
  folder <- withr::local_tempdir()
  for (name in c("first.Rmd", "second.Rmd")) {
    draft <- rmarkdown::draft(file.path(folder, name), template = "model-report", package = "gbt", edit = FALSE)
  }
  knitted <- function() {
    words_of(rmarkdown::render(draft, quiet = TRUE, envir = new.env()))
  }
  expect_has(knitted(), "This is the example of the template", "late ~ .")
  lines <- readLines(draft)
  expect_match(lines, "YOUR MODEL AND YOUR DATA GO HERE", all = FALSE)
  lines[match("model <- params$model", lines)] <- "model <- gbt_train(mpg ~ wt + hp, mtcars, nrounds = 2, threads = 1)"
  lines[match("data <- params$data", lines)] <- "data <- mtcars"
  writeLines(lines, draft)
  text <- knitted()
  expect_has(text, "rmse")
  expect_lacks(text, "This is the example of the template")
})

test_that("a report in Word is written", {
  skip_without_pandoc()
  m <- gbt_train(mpg ~ wt + hp, mtcars, nrounds = 3, threads = 1)
  file <- withr::local_tempfile(fileext = ".docx")
  expect_no_warning(gbt_report(m, mtcars, file, rows = 20))
  expect_gt(file.size(file), 1e4)
})

test_that("what gbt_report() cannot use is named", {
  m <- gbt_train(mpg ~ ., mtcars, nrounds = 2, threads = 1)
  expect_snapshot(error = TRUE, gbt_report(data = mtcars))
  expect_snapshot(error = TRUE, gbt_report(m, as.matrix(mtcars), "a.html"))
  expect_snapshot(error = TRUE, gbt_report(m, mtcars[0, ], "a.html"))
  expect_snapshot(error = TRUE, gbt_report(m, mtcars, "a.txt"))
  expect_snapshot(error = TRUE, gbt_report(m, mtcars, "no/such/folder/a.html"))
  expect_snapshot(error = TRUE, gbt_report(m, mtcars, "a.html", by = "colour"))
  expect_snapshot(error = TRUE, gbt_report(m, mtcars, "a.html", group = "cyl"))
  ranked <- gbt_train(carb ~ wt, mtcars, group = gear, objective = "query_rmse", nrounds = 2, threads = 1)
  expect_snapshot(error = TRUE, gbt_report(ranked, mtcars, "a.html"))
})

test_that("a report in PDF without LaTeX is refused before any work", {
  skip_if(gbt:::has_latex(), "there is LaTeX")
  m <- gbt_train(mpg ~ ., mtcars, nrounds = 1, threads = 1)
  expect_error(gbt_report(m, mtcars, file.path(tempdir(), "x.pdf")),
               "a report in PDF needs LaTeX, .* \".html\" or \".docx\"", class = "gbt_error_unsupported")
})
