train <- function(..., nrounds = 2) gbt_train(..., nrounds = nrounds, threads = 1)
print_of <- function(...) train(...)$provenance$data
loaded <- function(m) {
  file <- withr::local_tempfile()
  gbt_save(m, file)
  gbt_load(file)
}

mixed <- function() {
  d <- mtcars[c("disp", "hp", "wt")]
  d$disp[3] <- NA
  d$gear <- as.integer(mtcars$gear)
  d$kind <- rep(c("a", "b", NA, "c"), 8)
  d$size <- factor(rep(c("s", "m"), 16), c("s", "m"), ordered = TRUE)
  d
}

test_that("a model says when, by which version and from which data it was trained", {
  m <- train(mpg ~ ., mtcars)
  expect_identical(m$provenance[c("trained", "gbt")],
                   list(trained = "2023-11-14", gbt = as.character(utils::packageVersion("gbt"))))
  expect_match(m$provenance$data, "^[0-9a-f]{16}$")
  m$note <- "approved by QA"
  expect_snapshot(writeLines(grep("^(trained|note|history)", capture.output(summary(m)), value = TRUE)))
})

test_that("provenance survives files, RDS and slices, and is no part of `state`", {
  m <- train(mpg ~ ., mtcars, nrounds = 4)
  m$note <- "f\u00fcr Mai"
  expect_identical(loaded(m)$provenance, m$provenance)
  expect_identical(loaded(m)$note, m$note)
  expect_identical(unserialize(serialize(m, NULL))$provenance, m$provenance)
  expect_identical(gbt_load(bytes_to_save(m))$provenance, m$provenance)
  expect_identical(m[1:2]$provenance, m$provenance)
  m$note <- NULL
  expect_same_bytes(loaded(m)$state, m$state)
  files <- withr::local_tempfile(lines = c("", ""))
  files[2] <- withr::local_tempfile()
  for (file in files) gbt_save(m, file)
  expect_same_bytes(bytes_of_file(files[1]), bytes_of_file(files[2]))
  expect_null(gbt_load(m$state)$provenance) # as files of earlier versions
  expect_match(capture.output(summary(gbt_load(m$state))), "^trained   unknown$", all = FALSE)
})

test_that("the day of training is that of SOURCE_DATE_EPOCH, and never shows in `state`", {
  on <- function(set) withr::with_envvar(c(SOURCE_DATE_EPOCH = set), train(mpg ~ ., mtcars))
  expect_identical(on("0")$provenance$trained, "1970-01-01")
  expect_identical(on("951782400")$provenance$trained, "2000-02-29")
  expect_match(on(NA)$provenance$trained, format(Sys.time(), "^%Y-", tz = "UTC"))
  expect_same_bytes(on("0")$state, on("951782400")$state)
  withr::with_timezone("Pacific/Auckland", expect_identical(on("1700000000")$provenance$trained, "2023-11-14"))
  for (bad in c("today", "-1", "1e9", "123456789012")) {
    expect_warning(m <- on(bad), "SOURCE_DATE_EPOCH must be a number of seconds", class = "gbt_warning_date")
    expect_match(m$provenance$trained, "^20")
  }
})

test_that("the fingerprint is that of the data, whatever form they come in", {
  d <- mixed()
  y <- mtcars$mpg
  w <- rep(1:2, 16)
  want <- print_of(d, y, weights = w)
  folder <- withr::local_tempfile()
  chunk <- function(i) if (i < 4) list(x = d[part[[i]], ], label = y[part[[i]]], weight = w[part[[i]]])
  part <- list(1:7, 8, 9:32)
  factors <- transform(d, kind = factor(kind, c("x", "c", "b", "a")), hp = as.double(hp), gear = as.double(gear))
  forms <- list(
    print_of(factors, y, weights = w), print_of(y ~ ., cbind(d, y = y), weights = w),
    print_of(gbt_data(d, y, weight = w, threads = 2)), print_of(gbt_data(chunk)),
    print_of(gbt_data(d, y, weight = w, page_rows = 5)), print_of(gbt_data(d, path = folder), y, weights = w),
    print_of(gbt_open(folder), y, weights = w), print_of(d, y, weights = w, class_weights = NULL, eta = 0.1)
  )
  for (form in forms) expect_identical(form, want)
  m <- as.matrix(mtcars[-1])
  m[m == 0 & col(m) < 5] <- NA
  want <- print_of(m, y)
  expect_identical(print_of(as.data.frame(m), y), want)
  skip_if_not_installed("Matrix")
  expect_identical(print_of(Matrix::Matrix(m, sparse = TRUE), y), want)
  m <- as.matrix(mtcars[-1])
  missing <- replace(m, m == 0, NA)
  expect_identical(print_of(Matrix::Matrix(m, sparse = TRUE), y, sparse_zero = "missing"), print_of(missing, y))
})

test_that("the fingerprint changes with a cell, a name, the order, a response, a weight and an offset", {
  d <- mixed()
  y <- mtcars$mpg
  change <- function(column, row, value) {
    d[[column]][row] <- value
    print_of(d, y)
  }
  prints <- c(
    print_of(d, y), change("disp", 32, d$disp[32] * (1 + 2^-52)), change("disp", 32, NA), change("disp", 3, 0),
    change("hp", 1, 111), change("gear", 9, 5L), change("kind", 3, "a"), change("kind", 1, NA), change("kind", 1, "d"),
    change("size", 2, "s"), print_of(stats::setNames(d, c("a", names(d)[-1])), y), print_of(d[6:1], y),
    print_of(d[-1], y), print_of(d[32:1, ], y), print_of(d[-32, ], y[-32]), print_of(d, replace(y, 32, 15)),
    print_of(d, y, weights = rep(1:2, 16)), print_of(d, y, weights = rep(2:1, 16)),
    print_of(d, y, offset = as.double(1:32)),
    print_of(d, y, mask = rep(c(TRUE, FALSE), 16)), print_of(d, y, mask = rep(c(FALSE, TRUE), 16)),
    print_of(transform(d, size = factor(size, c("m", "s"), ordered = TRUE)), y),
    print_of(transform(d, size = "s"), y)
  )
  expect_identical(anyDuplicated(prints), 0L)
  classes <- function(y, ...) print_of(iris[-5], y, ...)
  of <- c(classes(iris$Species), classes(factor(iris$Species, labels = c("setosa", "versicolor", "other"))),
          classes(factor(iris$Species, rev(levels(iris$Species)))))
  expect_identical(anyDuplicated(of), 0L)
  expect_identical(classes(as.character(iris$Species), class_weights = "balanced", seed = 3), of[1])
  expect_identical(print_of(d, y, mask = rep(TRUE, 32)), prints[1])
})

test_that("equal trainings have the same provenance in jobs, ensembles, searches for rounds and after a kill", {
  want <- print_of(mpg ~ ., mtcars)
  expect_identical(print_of(mpg ~ ., mtcars, ensemble = 2), want)
  expect_identical(gbt_train(mpg ~ ., mtcars, threads = 1, verbose = 0)$provenance$data, want)
  folder <- withr::local_tempfile()
  short <- train(mpg ~ ., mtcars, eta = 0.3, checkpoint = folder)
  long <- train(mpg ~ ., mtcars, eta = 0.3, checkpoint = folder, nrounds = 4)
  expect_identical(list(short$provenance, long$provenance), list(train(mpg ~ ., mtcars)$provenance)[c(1, 1)])
  expect_same_bytes(long$state, train(mpg ~ ., mtcars, eta = 0.3, nrounds = 4)$state)
})

test_that("the history tells what a model was continued and refitted from", {
  first <- loaded(train(mpg ~ ., mtcars[1:20, ]))
  of <- function(m, how) sprintf("%s from the model of 2023-11-14 (gbt %s, data %s, %d rows)", how, m$provenance$gbt,
                                 m$provenance$data, nobs(m))
  more <- train(mpg ~ ., mtcars, init_model = first)
  expect_identical(more$provenance$history, of(first, "continued"))
  again <- gbt_refit(train(mpg ~ ., mtcars[1:20, ]), data = mtcars)
  expect_identical(again$provenance$history, of(first, "refitted"))
  chain <- gbt_refit(again, data = mtcars[1:10, ])
  expect_identical(loaded(chain)$provenance$history, c(of(first, "refitted"), of(again, "refitted")))
  chain$note <- "third"
  expect_match(capture.output(summary(chain)), "^history   refitted from the model of 2023", all = FALSE)
  old <- train(mpg ~ ., mtcars, init_model = gbt_load(first$state))
  expect_identical(old$provenance$history, "continued from the model of an earlier day (provenance unknown, 20 rows)")
  for (i in 1:120) chain <- with_history(chain, chain, "refitted")
  expect_identical(length(chain$provenance$history), 100L)
  expect_identical(loaded(chain)$provenance, chain$provenance)
})

test_that("forged provenance is refused, and what a later version adds is kept", {
  m <- train(mpg ~ ., mtcars)
  good <- m$provenance
  forged <- function(...) {
    provenance <- utils::modifyList(good, list(...))
    .Call(C_gbt_model_slice, m$state, c(0, 2), model_meta(c(stored_fields(m), list(provenance = provenance))))
  }
  expect_identical(gbt_load(forged(machine = "b"))$provenance, c(good, machine = "b"))
  expect_identical(loaded(gbt_load(forged(machine = "b")))$provenance, c(good, machine = "b"))
  wrong <- list(
    list(trained = "now"), list(trained = c("2020-01-01", "2020-01-01")), list(trained = NULL), list(trained = 1),
    list(gbt = ""), list(gbt = strrep("1", 65)), list(gbt = "1\n2"), list(data = "0123"), list(data = strrep("g", 16)),
    list(data = NA_character_), list(history = rep("a", 101)), list(history = strrep("a", 1001)),
    list(history = list("a"))
  )
  for (change in wrong) {
    expect_error(gbt_load(do.call(forged, change)), "\"provenance\" must be", class = "gbt_error_format")
    by_hand <- m
    by_hand$provenance <- utils::modifyList(good, change)
    expect_error(predict(by_hand, mtcars), "`provenance` must be", class = "gbt_error_argument")
  }
  for (provenance in list("a", list("a"), 1, list(list(trained = "2020-01-01")))) {
    bytes <- .Call(C_gbt_model_slice, m$state, c(0, 2), model_meta(c(stored_fields(m), list(provenance = provenance))))
    expect_error(gbt_load(bytes), "\"provenance\" must be", class = "gbt_error_format")
  }
})

test_that("a note that is broken, long or no text harms nobody", {
  m <- train(mpg ~ ., mtcars)
  for (note in list("\xff\xfe", strrep("long ", 1e5), c("a", "b"), 1, NA_character_, "", "two\nlines\x1b[31m")) {
    m$note <- note
    shown <- capture.output(summary(m))
    expect_lt(max(nchar(shown, "bytes")), 300)
    expect_false(any(grepl("\x1b", shown, fixed = TRUE)))
    back <- suppressWarnings(loaded(m))
    if (is_storable(note)) expect_identical(back$note, note)
  }
})
