# Computed terms see the columns of new data as they saw those of training: factors by the levels of training, times by
# their zone, differences in their unit, texts and factors for one another.

set.seed(3)
n <- 120
kinds <- data.frame(
  f = factor(sample(c("p", "q", "r", "unused"), n, TRUE, c(1, 1, 1, 0)), levels = c("r", "p", "unused", "q")),
  o = factor(sample(c("lo", "mid", "hi"), n, TRUE), levels = c("lo", "mid", "hi"), ordered = TRUE),
  s = sample(c("3", "1", "2"), n, TRUE), a = rnorm(n), wait = as.difftime(runif(n, 1, 90), units = "mins"),
  at = as.POSIXct("2024-03-30", tz = "Europe/Berlin") + 3600 * seq_len(n), day = as.Date("2024-02-20") + seq_len(n)
)
kinds$g <- factor(sample(c("p", "q", "r"), n, TRUE), levels = levels(kinds$f))
kinds$y <- as.integer(kinds$f) + 2 * as.integer(kinds$o) + kinds$a / 9

fit_kinds <- function(formula, ...) suppressWarnings(gbt_train(formula, kinds, ..., nrounds = 8, threads = 1))

# New data in other forms that mean the same.
same_meaning <- list(
  dropped = function(d) droplevels(d[d$f != "p" & d$o != "lo", ]),
  reordered = function(d) {
    d[c("f", "g")] <- lapply(d[c("f", "g")], function(v) factor(v, levels = c("q", "more", "p", "r")))
    d$o <- factor(d$o, levels = c("hi", "lo", "mid"))
    d
  },
  texts = function(d) {
    d[c("f", "g", "o")] <- lapply(d[c("f", "g", "o")], as.character)
    d
  },
  factors = function(d) {
    d$s <- factor(d$s)
    d
  },
  one_row = function(d) droplevels(d[7, ]),
  zone = function(d) {
    attr(d$at, "tzone") <- "America/New_York"
    d
  },
  lt = function(d) {
    d$at <- as.POSIXlt(d$at, tz = "Asia/Kathmandu")
    d
  },
  units = function(d) {
    units(d$wait) <- "hours"
    d
  }
)

level_terms <- list(
  y ~ as.integer(f) + a, y ~ as.numeric(f):as.numeric(o), y ~ unclass(f) + a, y ~ I(f == "q") + I(o >= "mid"),
  y ~ relevel(f, ref = "q"), y ~ interaction(f, o) + log(abs(a) + 1), y ~ ifelse(a > 0, f, o), y ~ I(f == g),
  y ~ c(10, 20, 30)[as.integer(o)], y ~ levels(f)[f], y ~ paste(f, s) + nchar(s), y ~ as.numeric(s) + as.integer(s),
  y ~ factor(f, levels = c("p", "q")), y ~ as.integer(factor(s, levels = c("1", "2", "3"))),
  y ~ offset(as.integer(f)) + a,
  y ~ as.numeric(wait) + I(wait > 30), y ~ as.POSIXlt(at)$hour + weekdays(at), y ~ format(at, "%d %H"),
  y ~ as.integer(f) + toupper(f), as.integer(f) ~ a + o, y ~ . + as.integer(f), y ~ match(f, c("q", "p")),
  y ~ rev(rev(as.integer(f))), y ~ (o > "lo"):a + as.numeric(day)
)

test_that("terms mean the same in new data of other forms", {
  for (formula in level_terms) {
    m <- fit_kinds(formula)
    loaded <- gbt_load(m$state, trust = TRUE)
    for (form in names(same_meaning)) {
      new <- same_meaning[[form]](kinds)
      rows <- match(new$a, kinds$a)
      label <- paste(paste(deparse(formula), collapse = ""), form)
      expect_identical(unname(predict(m, new)), predict(m, kinds)[rows], label = label)
      if (form != "reordered") next
      expect_identical(predict(loaded, new), predict(m, new), label = label)
      expect_equal(suppressWarnings(gbt_evaluate(m, new, metrics = "rmse", threads = 1)$rmse),
                   suppressWarnings(gbt_evaluate(m, kinds[rows, ], metrics = "rmse", threads = 1)$rmse), label = label)
    }
  }
})

test_that("validation data and their weights are read in the same way", {
  new <- same_meaning$reordered(kinds)
  for (formula in list(y ~ as.integer(f) + a, as.integer(f) ~ a + o)) {
    log_of <- function(valid) fit_kinds(formula, valid = valid, weights = as.integer(f))$evaluation_log
    expect_identical(log_of(new), log_of(kinds))
  }
})

test_that("chunks with levels of their own are read in the same way", {
  m <- fit_kinds(y ~ as.integer(f) + a)
  chunks <- lapply(split(kinds, rep(1:6, 20)), droplevels)
  p <- predict(m, function(i) if (i <= 6) chunks[[i]])
  expect_identical(unname(p), unname(unlist(lapply(1:6, function(i) predict(m, kinds[rep(1:6, 20) == i, ])))))
})

test_that("new levels are missing values where codes count, and levels elsewhere", {
  new <- transform(kinds[1:6, ], f = factor(c("new", "p", "q", "r", "new", NA)))
  coded <- fit_kinds(y ~ as.integer(f) + a)
  missing <- transform(new, f = factor(c(NA, "p", "q", "r", NA, NA)))
  expect_identical(predict(coded, new), predict(coded, missing))
  expect_identical(predict(coded, new, unseen = "missing"), predict(coded, missing))
  e <- tryCatch(predict(coded, new, unseen = "error"), gbt_error_data = identity)
  expect_match(conditionMessage(e), "column `f`, row 1: level \"new\" was not in the training data", fixed = TRUE)
  by_text <- fit_kinds(y ~ I(substr(f, 1, 1) == "n") + relevel(f, "q"))
  expect_null(by_text$terms$by_codes)
  expect_identical(unname(predict(by_text, new, unseen = "missing")[2:4]), unname(predict(by_text, new)[2:4]))
  expect_error(predict(by_text, new, unseen = "error"), "\"new\"", class = "gbt_error_data")
})

test_that("columns of another kind are refused by name", {
  m <- fit_kinds(y ~ I(a > 0) + as.integer(f) + as.numeric(at) + nchar(s) + as.numeric(wait))
  expect_snapshot(error = TRUE, {
    predict(m, transform(kinds, a = as.character(a)))
    predict(m, transform(kinds, a = factor(a)))
    predict(m, transform(kinds, f = as.integer(f)))
    predict(m, transform(kinds, at = as.Date(at)))
    predict(m, transform(kinds, s = as.integer(s)))
  })
  missing <- transform(kinds, a = NA_character_, f = NA, s = NA, at = NA, wait = NA_character_)
  expect_length(predict(m, missing), n)
  expect_identical(predict(m, transform(kinds, at = as.numeric(at), wait = as.numeric(wait))), predict(m, kinds))
})

test_that("a level NA stays a level", {
  d <- transform(kinds, f = addNA(replace(f, 1:20, NA)))
  m <- suppressWarnings(gbt_train(y ~ as.integer(f) + a, d, nrounds = 5, threads = 1))
  again <- gbt_load(m$state, trust = TRUE)
  expect_identical(predict(again, transform(d, f = addNA(factor(as.character(f))))), predict(m, d))
})

test_that("models without computed terms keep nothing of this", {
  expect_null(fit_kinds(y ~ f + o + at)$terms)
  m <- fit_kinds(y ~ log(abs(a) + 1) + f)
  expect_identical(m$terms$columns, c(a = "number"))
  expect_setequal(names(m$terms), c("features", "offset", "columns"))
})

test_that("terms that read codes of factors are no code: files with them load without trust", {
  d <- data.frame(y = c(1, 3, 2, 5, 4, 6), f = factor(c("a", "b", "c", "a", "b", "c")))
  for (formula in list(y ~ as.numeric(f), y ~ f + offset(as.numeric(f) / 5))) {
    model <- gbt_train(formula, d, nrounds = 1, threads = 1, min_child_weight = 0)
    file <- withr::local_tempfile()
    gbt_save(model, file)
    expect_equal(predict(gbt_load(file), d), predict(model, d))
  }
})
