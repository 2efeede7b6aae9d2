# Times of events in sources of rows, chunks and folders.

n <- 240
d <- data.frame(a = round(sin(seq_len(n)), 3), b = seq_len(n) %% 7, time = 1 + (seq_len(n) * 7) %% 31 / 4)
d$status <- 1 + as.integer(seq_len(n) < 90 | seq_len(n) %% 3 > 0) # the first rows have no censored ones
d$start <- d$time - 0.75
scores <- function(m) predict(m, d, type = "link", threads = 1)
train <- function(...) gbt_train(..., nrounds = 3, threads = 1)
y <- structure(cbind(time = d$time, status = d$status - 1), type = "right", class = "Surv")
m <- train(d[c("a", "b")], y)

csv <- function(env = parent.frame()) {
  skip_if_not_installed("data.table")
  file <- withr::local_tempfile(fileext = ".csv", .local_envir = env)
  utils::write.csv(d, file, row.names = FALSE)
  file
}

test_that("a formula with Surv() takes its columns from a source", {
  file <- csv()
  rows <- gbt_files(file, block_bytes = 800) # several chunks
  expect_identical(scores(train(Surv(time, status) ~ a + b, rows)), scores(m))
  expect_identical(train(Surv(time, status) ~ . - start, rows)$feature_names, c("a", "b"))
  late <- train(Surv(start, time, status) ~ a + b, d)
  expect_identical(scores(train(Surv(start, time, status) ~ a + b, rows)), scores(late))
  between <- train(Surv(start + 0.75, time + b, type = "interval2") ~ a, d)
  expect_identical(scores(train(Surv(start + 0.75, time + b, type = "interval2") ~ a, rows)), scores(between))
  event <- 2
  own <- train(Surv(time, status == event) ~ a + b, rows)
  expect_identical(own$formula, "Surv(time, status == 2) ~ a + b")
  expect_identical(scores(own), scores(m))
  expect_equal(gbt_evaluate(own, d, threads = 1)$estimate, gbt_evaluate(m, d, y, threads = 1)$estimate)
  expect_error(train(Surv(time, stat) ~ a, rows), "`stat` is not a column of the source", class = "gbt_error_data")
})

test_that("a source names the columns of times and events, also those of its validation set", {
  file <- csv()
  rows <- gbt_files(file, label = c("time", "status"), columns = c("a", "b"), block_bytes = 800)
  expect_output(print(rows), "label: `time` (number), `status` (integer)", fixed = TRUE)
  expect_identical(scores(train(rows)), scores(m))
  expect_identical(scores(train(gbt_files(file, columns = c("a", "b")), c("time", "status"))), scores(m))
  late <- gbt_files(file, label = c("start", "time", "status"), columns = c("a", "b"))
  expect_identical(scores(train(late)), scores(train(Surv(start, time, status) ~ a + b, d)))
  log <- train(d[c("a", "b")], y, valid = list(x = d, y = y))$evaluation_log
  expect_equal(train(rows, valid = gbt_files(file))$evaluation_log, log)
  expect_equal(train(Surv(time, status) ~ a + b, d, valid = gbt_files(file))$evaluation_log, log)
  expect_equal(train(Surv(time, status) ~ a + b, gbt_files(file), valid = d)$evaluation_log, log)
  expect_error(gbt_files(file, label = c("time", "status", "a", "b")), "those of times and events",
               class = "gbt_error_argument")
  expect_error(train(gbt_files(file, label = c("time", "state"))), "`state`", class = "gbt_error_argument")
  expect_error(train(gbt_files(file, label = c("time", "status")), "a"), "leave one of them out",
               class = "gbt_error_argument")
  expect_error(suppressWarnings(train(gbt_files(file, label = c("time", "b")))), "missing value",
               class = "gbt_error_data")
})

test_that("chunks and folders keep times of events, of all kinds of censoring", {
  kinds <- list(right = y, counting = cbind(start = d$start, stop = d$time, status = d$status - 1),
                left = cbind(time = d$time, status = d$status - 1),
                interval = cbind(time1 = d$time, time2 = d$time + d$b, status = seq_len(n) %% 4))
  for (type in names(kinds)) {
    label <- structure(kinds[[type]], type = type, class = "Surv")
    chunk <- function(i) {
      at <- (i - 1) * 100 + 1:100
      at <- at[at <= n]
      if (length(at)) list(x = d[at, c("a", "b")], label = gbt:::surv_rows(label, at))
    }
    want <- scores(train(d[c("a", "b")], label))
    path <- file.path(withr::local_tempdir(), "bins")
    made <- gbt_data(chunk, path = path, threads = 1)
    expect_identical(scores(train(made)), want, label = type)
    opened <- gbt_open(path, threads = 1)
    expect_identical(opened$label, made$label)
    expect_identical(scores(train(opened)), want)
    expect_identical(gbt_open(path, label = d$time, threads = 1)$label, d$time)
  }
  mixed <- function(i) if (i <= 2) list(x = d["a"], label = structure(kinds[[1]], type = c("right", "left")[i],
                                                                       class = "Surv"))
  expect_error(gbt_data(mixed, threads = 1), "one type", class = "gbt_error_data")
  causes <- function(i) if (i <= 2) list(x = d["a"], label = structure(kinds[[1]], states = c("ill", "dead")[i:2],
                                                                        type = "mright", class = "Surv"))
  expect_error(gbt_data(causes, threads = 1), "other levels in chunk 2", class = "gbt_error_data")
})

test_that("strata are columns of a source, values, or a term, and folders keep them", {
  file <- csv()
  rows <- gbt_files(file, block_bytes = 800)
  want <- train(Surv(time, status) ~ a, d, strata = b)
  same <- function(m) {
    expect_identical(scores(m), scores(want))
    expect_equal(m$baseline, want$baseline, tolerance = 1e-14)
    expect_identical(m$strata, "b")
  }
  same(train(Surv(time, status) ~ a, rows, strata = b))
  same(train(Surv(time, status) ~ . - start + strata(b), rows))
  same(train(gbt_files(file, label = c("time", "status"), columns = "a"), strata = "b"))
  path <- file.path(withr::local_tempdir(), "bins")
  made <- gbt_data(gbt_files(file, columns = "a"), label = c("time", "status"), strata = "b", path = path, threads = 1)
  same(train(made))
  same(train(gbt_open(path, threads = 1)))
  values <- train(Surv(time, status) ~ a, rows, strata = d$b)
  expect_identical(scores(values), scores(want))
  log <- train(Surv(time, status) ~ a, d, strata = b, valid = d)$evaluation_log
  expect_equal(train(Surv(time, status) ~ a, d, strata = b, valid = rows)$evaluation_log, log)
  expect_equal(train(Surv(time, status) ~ a, rows, strata = b, valid = rows)$evaluation_log, log)
  expect_equal(train(Surv(time, status) ~ a, rows, strata = b, valid = d)$evaluation_log, log)
  expect_error(train(Surv(time, status) ~ a + strata(c), rows), "`c`, which is not a column", class = "gbt_error_data")
  expect_error(train(a ~ time, rows, strata = b), "times of events", class = "gbt_error_argument")
})

test_that("gbt_data() of a source takes names of its columns", {
  file <- csv()
  rows <- gbt_files(file, columns = c("a", "b"))
  expect_identical(scores(train(gbt_data(rows, label = c("time", "status"), weight = "start", threads = 1))),
                   scores(train(Surv(time, status) ~ a + b, d, weights = start)))
  expect_equal(gbt_data(rows, label = "time", threads = 1)$label, d$time, tolerance = 1e-15)
})

test_that("forged times of a folder are refused", {
  good <- gbt:::label_values(y)
  read <- function(...) gbt:::label_of_values(utils::modifyList(good, list(...), keep.null = TRUE), n,
                                              function() stop("forged"))
  expect_identical(read(), y)
  expect_error(read(value = good$value[-1]), "forged")
  expect_error(read(value = replace(good$value, 3, NA)), "forged")
  expect_error(read(value = as.integer(good$value)), "forged")
  expect_error(read(kind = "surv_counting"), "forged")
  expect_error(read(kind = "surv_both"), "forged")
  expect_error(read(classes = "a"), "forged")
  strata <- list(place = rep(1:2, n / 2), levels = c("a", "b"), names = "")
  expect_identical(attr(read(strata = strata), "strata"), strata)
  bad <- list(list(place = rep(1:3, n / 3)), list(place = 1L), list(levels = c("a", "a")), list(names = character(0)))
  for (its in bad) expect_error(read(strata = utils::modifyList(strata, its)), "forged")
  wrong <- read(value = replace(good$value, n + 5, 7)) # an event of kind 7
  expect_error(train(d["a"], wrong), "1 wrong row, the first in row 5", class = "gbt_error_data")
  turned <- structure(cbind(d$time, d$start, d$status - 1), type = "counting", class = "Surv")
  expect_error(train(d["a"], turned), "wrong row", class = "gbt_error_data")
})

test_that("other events with the same times are other responses", {
  other <- structure(cbind(time = d$time, status = rev(d$status - 1)), type = "right", class = "Surv")
  both <- lapply(list(y, other), function(y) gbt:::label_print(gbt:::settle_times(gbt:::encode_y(y), "cox", "y")$value))
  expect_false(identical(both[[1]], both[[2]]))
})
