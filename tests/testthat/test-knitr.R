# Output in documents of knitr.
messages_of <- function(expr) {
  out <- character(0)
  withCallingHandlers(expr, message = function(m) {
    out <<- c(out, conditionMessage(m))
    invokeRestart("muffleMessage")
  })
  out
}
train <- function(...) gbt_train(mpg ~ ., mtcars, nrounds = 30, verbose = 1, eval_train = TRUE, threads = 1, ...)

test_that("in a document of knitr the lines of a training are one message", {
  lines <- messages_of(train())
  expect_length(lines, 4)
  withr::local_options(knitr.in.progress = TRUE)
  expect_identical(messages_of(train()), paste(lines, collapse = ""))
  expect_length(messages_of(train(verbose_every = 1000)), 1)
  expect_length(messages_of(gbt_cv(mpg ~ ., mtcars, folds = 2, nrounds = 30, verbose = 1, seed = 1, threads = 1)), 1)
  expect_length(messages_of(suppressMessages(train())), 0)
})

test_that("lines before an error or a warning are shown before it", {
  withr::local_options(knitr.in.progress = TRUE)
  seen <- character(0)
  note <- function(what) function(c) seen <<- c(seen, what)
  stop_at <- function(now) if (now$round == 20) stop("enough")
  try(withCallingHandlers(train(callbacks = stop_at), message = function(m) {
    seen <<- c(seen, "message")
    invokeRestart("muffleMessage")
  }, error = note("error")), silent = TRUE)
  expect_identical(seen[seq_len(min(2, length(seen)))], c("message", "error"))
})

test_that("a document with everything has a box for each result", {
  skip_if_not_installed("knitr")
  text <- c("```{r}", "library(gbt)", "m <- gbt_train(mpg ~ ., mtcars, nrounds = 30, verbose = 1, threads = 1)", "m",
            "gbt_evaluate(m, mtcars, threads = 1)", "```", "```{r}",
            "knitr::kable(gbt_evaluate(m, mtcars, threads = 1), digits = 3)", "knitr::kable(gbt_importance(m))", "```")
  out <- knitr::knit(text = text, quiet = TRUE)
  expect_identical(lengths(regmatches(out, gregexpr("## \\[ ?1/30\\]", out))), 1L)
  boxes <- strsplit(out, "```", fixed = TRUE)[[1]]
  expect_identical(sum(grepl("/30]", boxes, fixed = TRUE)), 1L)
  expect_match(out, "|metric | estimate| rows|", fixed = TRUE)
  expect_match(out, "|feature |", fixed = TRUE)
})
