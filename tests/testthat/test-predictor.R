# gbt_predictor() gives what predict() gives, for every kind of model and row.
outcome <- function(expr) tryCatch(expr, error = function(e) c(class(e)[1:2], conditionMessage(e)))
few <- list(nrounds = 8, min_data_in_leaf = 1, min_child_weight = 0, threads = 1)
fit <- function(...) do.call(gbt_train, c(list(...), few))
i <- 1:60
data <- data.frame(number = c(NA, sin(i[-1L])), whole = as.integer(i %% 7), yes = i %% 3 == 0,
                   f = factor(c("a", "b\u00e9", "c")[i %% 3 + 1L]), day = as.Date("2024-01-01") + i)
data$text <- c("x", "y", NA, "z\u00fc")[i %% 4 + 1L]
data$y <- i %% 5 + ifelse(data$f == "a", 3, 0) + (data$whole > 3)
numbers <- as.matrix(data[c("number", "whole")])

same <- function(model, rows, types = c("response", "link", "leaf"), ...) {
  for (type in types) {
    f <- gbt_predictor(model, type, ...)
    for (n in c(1, 2, nrow(rows))) {
      some <- rows[seq_len(n), , drop = FALSE]
      expect_identical(f(some), predict(model, some, type, ...))
    }
  }
}

test_that("all kinds of models", {
  same(fit(y ~ ., data), data)
  same(fit(numbers, data$y), numbers)
  all <- c("response", "link", "prob", "class", "leaf")
  for (y in list(data$f, data$yes, data$text)) {
    same(fit(data[c("number", "whole", "day")], ifelse(is.na(y), "none", as.character(y))), data, all)
  }
  same(fit(cbind(a = y, b = number) ~ whole + f, transform(data, number = sin(i))), data)
  same(fit(numbers, data$y, objective = "quantile", quantile_alpha = c(0.1, 0.5, 0.9)), numbers)
  same(fit(numbers, data$y, objective = "dist_normal"), numbers)
  same(fit(numbers, data$y, leaf_model = "linear"), numbers)
  same(fit(y ~ sin(number) + f, data), data)
  same(fit(numbers, data$y), numbers, trees = 3)
  imported <- gbt_import(test_path("imported", "lgb_numbers.txt"))
  rows <- utils::read.csv(test_path("imported", "lgb_numbers.csv"), colClasses = "character")[1:3]
  same(imported, unname(vapply(rows, as.numeric, numeric(nrow(rows)))))
})

test_that("vectors are rows of columns of numbers", {
  m <- fit(numbers, data$y)
  f <- gbt_predictor(m)
  expect_identical(f(numbers[5, ]), predict(m, unname(numbers[5, , drop = FALSE])))
  expect_identical(f(unname(numbers[5, ])), f(numbers[5, ]))
  expect_identical(f(rev(numbers[5, ])), f(numbers[5, ]))
  expect_identical(f(c(1L, 2L)), f(c(1, 2)))
  expect_identical(f(c(NA, 2)), f(c(NaN, 2)))
  expect_error(f(1), "1 number, and the model has 2 columns", class = "gbt_error_data")
  expect_error(f(c("1", "2")), "does not hold numbers", class = "gbt_error_data")
  expect_error(f(factor(1:2)), class = "gbt_error_data")
  expect_error(f(NULL), class = "gbt_error_data")
  expect_error(f(c(number = 1, other = 2)), "whole", class = "gbt_error")
  expect_error(gbt_predictor(fit(y ~ ., data))(1:6), class = "gbt_error")
})

test_that("wrong rows are errors of predict()", {
  in_rows <- function(out) if (is.character(out)) gsub("`newdata`", "`rows`", out) else out
  m <- fit(y ~ ., data)
  f <- gbt_predictor(m)
  for (rows in list(data[1, -1], transform(data[1, ], number = "a"), transform(data[1, ], f = 1), list(1), data[0, ])) {
    expect_identical(outcome(f(rows)), in_rows(outcome(predict(m, rows))))
  }
  expect_identical(class(outcome(f(data[1, -1]))), "character")
})

test_that("offsets and exposures are arguments of the function", {
  known <- cos(i)
  m <- fit(numbers, data$y, offset = known)
  f <- gbt_predictor(m)
  expect_identical(f(numbers, offset = known), predict(m, numbers, offset = known))
  expect_identical(f(numbers[3, ], offset = 0.5), predict(m, unname(numbers[3, , drop = FALSE]), offset = 0.5))
  expect_false(identical(f(numbers[3, ], offset = 0.5), suppressWarnings(f(numbers[3, ]))))
  expect_warning(f(numbers[3, ]), class = "gbt_warning_offset")
  expect_error(f(numbers, offset = 1:2), "2 values for 60 rows", class = "gbt_error_data")
  plain <- fit(numbers, data$y)
  expect_identical(gbt_predictor(plain)(numbers, offset = known), predict(plain, numbers, offset = known))
  count <- transform(data, years = 1 + i %% 3)
  m <- fit(whole ~ number + f, count, objective = "poisson", exposure = "years")
  f <- gbt_predictor(m)
  expect_identical(f(count), predict(m, count))
  expect_identical(f(count[1:3, c("number", "f")], exposure = 2), predict(m, count[1:3, ], exposure = 2))
  inside <- fit(whole ~ number + offset(log(years)), count, objective = "poisson")
  expect_identical(gbt_predictor(inside)(count), predict(inside, count))
  expect_error(gbt_predictor(plain, offset = 1), "f(rows, offset = )", fixed = TRUE, class = "gbt_error_argument")
  expect_error(gbt_predictor(plain, thraeds = 1), "did you mean `threads`", class = "gbt_error_argument")
})

test_that("messages name the argument of the function", {
  m <- fit(numbers, data$y)
  f <- gbt_predictor(m)
  e <- expect_error(f(list(1)), "^`rows` is a list", class = "gbt_error_data")
  expect_identical(c(e$subject, e$column), c("rows", "rows"))
  expect_identical(e$call[[1L]], quote(f))
  expect_error(f(gbt_data(numbers, threads = 1), exposure = 1), class = "gbt_error")
  expect_error(f(), "`rows` is missing", class = "gbt_error_argument")
  expect_error(f(unname(numbers[, 1, drop = FALSE])), "`rows` has no column names", class = "gbt_error_data")
  expect_error(gbt_predictor(m, "respons"), "must be one of \"response\", \"link\", \"prob\", \"class\", \"leaf\", not",
               class = "gbt_error_argument")
  expect_output(print(f), "^<gbt_predictor> type \"response\", objective \"squared_error\", 2 columns\nf\\(rows, ")
  expect_true(is.function(f))
  expect_identical(gbt_predictor(m, "raw")(numbers), predict(m, numbers, "link"))
  expect_error(gbt_predictor(m, "shap"), "predict\\(\\) for type = \"contrib\"", class = "gbt_error_unsupported")
  expect_identical(f(array(c(1, 2), 2L)), f(c(1, 2)))
  expect_identical(f(array(c(2, 1), 2L, list(c("whole", "number")))), f(c(1, 2)))
  expect_error(f(array(1:8, c(2, 2, 2))), class = "gbt_error_data")
  terms <- fit(y ~ sin(number) + whole, data)
  f <- gbt_predictor(terms)
  expect_error(f(c(1, 2)), "without names, and the model has a formula", class = "gbt_error_data")
  expect_identical(f(c(whole = 2, number = 1)), predict(terms, data.frame(number = 1, whole = 2)))
  two <- fit(numbers, data$f == "a", objective = "logistic")
  calibrated <- gbt_calibrate(two, numbers, data$f == "a")
  expect_error(gbt_predictor(calibrated), "does not take calibrated models; use predict()", fixed = TRUE,
               class = "gbt_error_unsupported")
  expect_error(gbt_predictor(gbt_conformal(m, numbers, data$y)), "conformal", class = "gbt_error_unsupported")
})

test_that("unseen levels", {
  m <- fit(y ~ ., data)
  new <- transform(data[1:3, ], f = factor("new"))
  for (unseen in c("prior", "missing")) {
    expect_identical(gbt_predictor(m, unseen = unseen)(new), predict(m, new, unseen = unseen))
  }
  expect_identical(gbt_predictor(m)(new), predict(m, new))
  expect_error(gbt_predictor(m, unseen = "error")(new), "new", class = "gbt_error_data")
  many <- transform(data, f = factor("new"))
  expect_warning(gbt_predictor(m)(many), class = "gbt_warning_unseen")
  expect_no_warning(gbt_predictor(m, unseen = "prior")(many))
})

test_that("early stopping, row names and arguments", {
  stopped <- gbt_train(y ~ number + whole, data, nrounds = 50, valid = data[1:20, ], early_stopping_rounds = 2,
                       threads = 1, verbose = 0)
  same(stopped, `row.names<-`(data, paste0("r", i)))
  expect_error(gbt_predictor(1), class = "gbt_error_argument")
  expect_error(gbt_predictor(stopped, "contrib"), "predict\\(\\)", class = "gbt_error_unsupported")
  expect_error(gbt_predictor(stopped, "class"), class = "gbt_error_unsupported")
  expect_error(gbt_predictor(stopped, trees = 51), class = "gbt_error_argument")
  expect_error(gbt_predictor(stopped, threads = 0), class = "gbt_error_argument")
  expect_error(gbt_predictor(stopped, unseen = "x"), class = "gbt_error_argument")
})

test_that("a predictor survives a file, its model's variable and other models", {
  m <- fit(y ~ ., data)
  want <- predict(m, data[1:2, ])
  f <- gbt_predictor(m)
  file <- withr::local_tempfile()
  saveRDS(f, file)
  rm(m)
  gc()
  again <- readRDS(file)
  model <- environment(again)$model
  expect_lt(length(serialize(again, NULL)), length(serialize(model, NULL)) + length(model$state) / 2) # not twice in it
  expect_identical(f(data[1:2, ]), want)
  expect_identical(again(data[1:2, ]), want)
  expect_identical(again(data[1:2, ]), want)
})

test_that("few rows of a factor with many levels", {
  levels <- c(NA, sprintf("l\u00e9vel %d", 1:599), iconv("caf\u00e9", "UTF-8", "latin1"))
  f <- factor(rep(levels, 3), exclude = NULL)
  many <- data.frame(f = f, g = as.integer(f) %% 11)
  many$y <- as.integer(f) %% 7 + many$g
  m <- fit(many[c("f", "g")], many$y)
  new <- many
  levels(new$f)[c(17, 18)] <- c("new", "newer")
  new$f[3] <- NA
  for (rows in list(many, new)) {
    long <- predict(m, rows, unseen = "prior")
    for (p in list(gbt_predictor(m), function(r) predict(m, r))) {
      for (i in list(3, 17:18, c(5, 5, 600), 1:149, 1:150, 1:151, 452:601)) {
        expect_identical(unname(suppressWarnings(p(rows[i, ]))), long[i])
      }
    }
  }
  forged <- structure(7000L, levels = levels(f)[2:600], class = "factor")
  expect_identical(outcome(gbt_predictor(m)(list2DF(list(f = forged, g = 1)))),
                   outcome(predict(m, list2DF(list(f = forged, g = 1)), unseen = "prior")))
})
