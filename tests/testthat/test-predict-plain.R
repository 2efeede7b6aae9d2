# predict() of few rows of the kinds of training takes a short way (src/r_plain.c). It gives what the long way gives,
# which any further argument leads to.
taken <- function(m, x) !is.null(.Call(C_gbt_predict_plain, m, x, 0L, 20L, 0L, NULL, NULL))
long_way <- function(m, x, ...) predict(m, x, trees = NULL, ...)
outcome <- function(expr) tryCatch(expr, error = conditionMessage, warning = conditionMessage)

# Columns of each kind, with missing values.
kinds <- function(n = 60) {
  i <- seq_len(n)
  data <- data.frame(
    number = c(NA, sin(i[-1L])), whole = as.integer(i %% 7), yes = i %% 3 == 0,
    f = factor(c("a", "b\u00e9", "c")[i %% 3 + 1L]), o = factor(c("low", "mid", "high")[i %% 3 + 1L],
                                                           c("low", "mid", "high"), ordered = TRUE),
    day = as.Date("2024-01-01") + i, at = as.POSIXct("2024-01-01", tz = "UTC") + 3600 * i
  )
  data$text <- c("x", "y", NA, "z\u00fc")[i %% 4 + 1L]
  data$y <- i %% 5 + ifelse(data$f == "a", 3, 0) + (data$whole > 3)
  data
}
data <- kinds()
few <- list(nrounds = 8, min_data_in_leaf = 1, min_child_weight = 0, threads = 1)
fit <- function(...) do.call(gbt_train, c(list(...), few))
model <- fit(y ~ ., data)

test_that("the short way is taken for rows of the kinds of training, and gives the same", {
  for (n in c(1, 2, 19)) {
    rows <- data[seq_len(n), ]
    expect_true(taken(model, rows))
    expect_identical(predict(model, rows), long_way(model, rows))
    expect_identical(predict(model, rows, "leaf"), long_way(model, rows, type = "leaf"))
  }
  expect_identical(predict(model, data[7, rev(names(data))]), long_way(model, data[7, ]))
  expect_identical(predict(model, data[7, ], threads = 2), long_way(model, data[7, ]))
  expect_identical(outcome(predict(model, data[7, ], threads = 0)), outcome(long_way(model, data[7, ], threads = 0)))
  named <- data[1:3, ]
  row.names(named) <- c("p", "q", "r")
  expect_true(taken(model, named))
  expect_identical(predict(model, named), long_way(model, named))
  numbers <- fit(y ~ number + whole + yes, data)
  expect_true(taken(numbers, data)) # without levels there is nothing to warn of
  expect_identical(predict(numbers, data), long_way(numbers, data))
  integers <- transform(data, number = 1L, yes = 0)
  expect_true(taken(numbers, integers))
  expect_identical(predict(numbers, integers), long_way(numbers, integers))
})

test_that("matrices", {
  x <- as.matrix(data[c("number", "whole")])
  m <- fit(x, data$y)
  for (new in list(x, x[3, , drop = FALSE], unname(x), `rownames<-`(x[1:2, ], c("p", "q")), round(x[2:9, ]) + 0L)) {
    expect_true(taken(m, new))
    expect_identical(predict(m, new), long_way(m, new))
  }
  storage.mode(x) <- "integer"
  expect_true(taken(m, x))
  expect_identical(predict(m, x), long_way(m, x))
  odd <- list(x[, 2:1], cbind(x, extra = 1), x[0, ], x[, 1, drop = FALSE], `colnames<-`(x, c("number", "other")),
              `colnames<-`(x, c("number", "number")),
              x > 0 & NA, array(1, c(2, 2, 1)), "a", 1:2, NULL, list(1, 2))
  expect_false(any(vapply(odd[-7L], function(new) taken(m, new), NA)))
  for (new in odd) expect_identical(outcome(predict(m, new)), outcome(long_way(m, new)))
})

test_that("many rows: predict() says how many threads there are, and an offset of NULL is none", {
  x <- matrix(sin(seq_len(80000)), 40000)
  m <- fit(x[1:60, ], data$y)
  asked <- 0
  threads <- function() {
    asked <<- asked + 1
    2L
  }
  short <- function(m, x, threads) .Call(C_gbt_predict_plain, m, x, 0L, 20L, 0L, NULL, threads)
  expect_null(short(m, x, NULL))
  expect_identical(short(m, x, threads), long_way(m, x, threads = 1))
  expect_identical(asked, 1)
  expect_identical(short(m, x[1:60, ], threads), short(m, x[1:60, ], NULL))
  expect_identical(asked, 1) # few rows need one thread
  expect_identical(predict(m, x, threads = 2), short(m, x, threads))
  expect_error(short(m, x, function() stop("no threads")), "no threads", fixed = TRUE)
  expect_error(predict(m, x, threads = 0), class = "gbt_error_argument")
  expect_identical(predict(m, x, offset = NULL), short(m, x, threads))
  expect_identical(predict(m, x[1:60, ], offset = NULL), short(m, x[1:60, ], NULL))
  expect_error(predict(m, x[1:60, ], offset = no_such_object), "no_such_object", fixed = TRUE)
  longer <- do.call(gbt_train, c(list(x[1:60, ], data$y), modifyList(few, list(nrounds = 250))))
  expect_null(short(longer, x, threads)) # a device might be quicker
  expect_identical(predict(longer, x), long_way(longer, x))
})

test_that("predict() takes the short way for its usual calls, and only for these", {
  space <- asNamespace("gbt")
  own <- get("predict_plain", space)
  asked <- 0
  put <- function(value) {
    unlockBinding("predict_plain", space)
    assign("predict_plain", value, space)
    lockBinding("predict_plain", space)
  }
  put(function(...) {
    asked <<- asked + 1
    own(...)
  })
  on.exit(put(own))
  ways <- function(...) {
    asked <<- 0
    predict(model, data[1:3, ], ...)
    asked
  }
  expect_identical(ways(), 1)
  expect_identical(ways("link"), 1)
  expect_identical(ways(threads = 1), 1)
  expect_identical(ways(type = "link", threads = 1), 1)
  expect_identical(ways(offset = NULL), 1)
  expect_identical(ways(type = "link", threads = 1, offset = NULL), 1)
  expect_identical(ways(offset = 1:3), 0)
  expect_identical(ways(trees = 2), 0)
  expect_identical(ways(threads = 1, trees = NULL), 0)
})

test_that("sparse matrices", {
  skip_if_not_installed("Matrix")
  i <- seq_len(60)
  x <- cbind(a = ifelse(i %% 3 == 0, sin(i), 0), b = ifelse(i %% 4 == 0, i, 0), c = ifelse(i %% 7 == 0, NA, 0), d = 0)
  sparse <- methods::as(methods::as(x, "generalMatrix"), "CsparseMatrix")
  set <- function(new, slot, value) {
    attr(new, slot) <- value
    new
  }
  y <- (i %% 3 == 0) + 2 * (i %% 4 == 0) + is.na(x[, "c"])
  for (zero in c("value", "missing")) {
    m <- fit(sparse, y, sparse_zero = zero)
    same <- list(sparse, sparse[3, , drop = FALSE], sparse[1, , drop = FALSE],
                 set(sparse, "Dimnames", list(NULL, NULL)),
                 set(sparse, "Dimnames", list(paste0("r", i), colnames(x))),
                 methods::as(sparse, "lMatrix"), methods::as(sparse, "nMatrix"),
                 methods::as(sparse[2:5, ] != 0, "nMatrix"))
    for (new in same) {
      expect_true(taken(m, new))
      expect_identical(predict(m, new), long_way(m, new))
      expect_identical(gbt_predictor(m)(new), long_way(m, new))
    }
    dense <- x
    if (zero == "missing") dense[dense == 0] <- NA
    expect_identical(unname(predict(m, sparse)), unname(predict(m, dense)))
    odd <- list(sparse[, 4:1], sparse[, -1], sparse[0, ], methods::as(sparse, "TsparseMatrix"),
                set(sparse, "Dimnames", list(NULL, letters[5:8])), set(sparse, "Dimnames", list("r", colnames(x))),
                set(sparse, "Dimnames", list(NULL)), set(sparse, "Dimnames", NULL),
                set(sparse, "p", rev(sparse@p)), set(sparse, "p", sparse@p + 1L), set(sparse, "p", sparse@p[-1]),
                set(sparse, "p", c(0L, NA, 2L, 3L, 4L)), set(sparse, "p", as.double(sparse@p)), set(sparse, "p", NULL),
                set(sparse, "i", as.double(sparse@i)), set(sparse, "x", sparse@x > 0), set(sparse, "x", sparse@x[-1]),
                set(sparse, "x", NULL), set(sparse, "Dim", c(60L, 5L)), set(sparse, "Dim", c(NA, 4L)),
                set(sparse, "Dim", c(-1L, 4L)), set(sparse, "Dim", 60))
    expect_false(any(vapply(odd, function(new) taken(m, new), NA)))
    broken <- list(set(sparse, "i", sparse@i + 1000L), set(sparse, "i", rev(sparse@i)), set(sparse, "Dim", c(9L, 4L)))
    for (new in c(odd, broken)) expect_identical(outcome(predict(m, new)), outcome(long_way(m, new)))
  }
  mixed <- fit(data[c("number", "text")], data$y)
  expect_false(taken(mixed, sparse[, 1:2]))
  m$sparse_zero <- "value" # a field of the user's that is read
  expect_false(taken(m, sparse))
})

test_that("types and several outputs", {
  for (y in list(data$f, data$o, data$yes, ifelse(data$yes, "p", "q"))) {
    m <- fit(data[c("number", "whole", "text", "day")], y)
    for (type in c("response", "link", "prob", "class", "leaf", "raw")) {
      expect_true(taken(m, data[1:5, ]))
      expect_identical(predict(m, data[1:5, ], type), long_way(m, data[1:5, ], type = type))
    }
  }
  expect_error(predict(model, data[1, ], "class"), class = "gbt_error_unsupported")
  expect_error(predict(model, data[1, ], "clas"), class = "gbt_error_argument")
  expect_identical(predict(model, data[1, ], "contrib"), long_way(model, data[1, ], type = "contrib"))
})

test_that("rows of any other kind go the long way", {
  row <- function(...) {
    new <- data[5:6, ]
    changed <- list(...)
    new[names(changed)] <- changed
    new
  }
  latin <- factor(iconv("b\u00e9", "UTF-8", "latin1"))
  broken <- "\xfc\xfc"
  Encoding(broken) <- "UTF-8"
  odd <- list(
    row(f = c("a", "c")), row(text = factor(c("x", "new"))), row(f = latin), row(f = factor(broken)),
    row(text = broken),
    row(f = 1), row(number = factor(1)), row(number = "1"), row(day = 1), row(at = as.Date("2024-01-01")),
    row(o = factor("low")), row(f = NA), row(number = NA), row(number = I(c(1, 2))), row(text = I(c("x", "y"))),
    row(f = structure(c(1L, 9L), levels = c("a", "c"), class = "factor")),
    row(f = structure(c(1L, 2L), levels = c("a", "a"), class = "factor")),
    row(f = structure(c(1, 2), levels = c("a", "c"), class = "factor")),
    row(f = structure(c(1L, 2L), levels = c("a", NA), class = "factor")),
    row(f = structure(c(1L, 2L), levels = 1:2, class = "factor")), row(f = structure(c(1L, 2L), class = "factor")),
    row(number = as.difftime(1, units = "hours")), row(number = 1i), row()[-1], row()[0, ], cbind(row(), number = 1),
    data.frame(), as.list(row()), data, row(number = list(1)),
    `[[<-`(row(), "number", value = matrix(1, 2, 1)), `[[<-`(row(), "number", value = matrix(1, 2, 2)),
    structure(row(), class = c("tbl_df", "tbl", "data.frame")),
    structure(unclass(row()), class = "data.frame", row.names = 1:3), structure(row(), row.names = 1:3)
  )
  for (new in odd) expect_identical(outcome(predict(model, new)), outcome(long_way(model, new)))
  names_of <- row()
  names(names_of)[2] <- NA
  expect_identical(outcome(predict(model, names_of)), outcome(long_way(model, names_of)))
})

test_that("models and settings that need more go the long way", {
  terms <- fit(y ~ sin(number) + whole, data)
  expect_false(taken(terms, data[1, ]))
  expect_identical(predict(terms, data[1, ]), long_way(terms, data[1, ]))
  known <- fit(data["whole"], data$y, offset = data$whole)
  expect_false(taken(known, data[1, ]))
  expect_warning(predict(known, data[1, ]), class = "gbt_warning_offset")
  before <- options(gbt.simd = "scalar")
  expect_false(taken(model, data[1, ]))
  options(before)
  old <- Sys.getenv("GBT_DEVICE", NA)
  Sys.setenv(GBT_DEVICE = "cpu")
  expect_false(taken(model, data[1, ]))
  if (is.na(old)) Sys.unsetenv("GBT_DEVICE") else Sys.setenv(GBT_DEVICE = old)
  stopped <- gbt_train(y ~ number + whole, data, nrounds = 50, valid = data[1:20, ], early_stopping_rounds = 2,
                       threads = 1, verbose = 0)
  expect_identical(predict(stopped, data[1:3, ]), predict(stopped, data[1:3, ], trees = stopped$best_round))
})

test_that("models with very many columns: names are compared by hashing", {
  x <- matrix(sin(seq_len(40 * 400)), 40, dimnames = list(NULL, paste0("v", seq_len(400))))
  m <- fit(x, x[, 1] > 0)
  frame <- as.data.frame(x)
  expect_true(taken(m, frame[1, ]))
  expect_false(taken(m, frame[1, 400:1]))
  expect_identical(predict(m, frame[1, 400:1]), predict(m, frame[1, ]))
})
