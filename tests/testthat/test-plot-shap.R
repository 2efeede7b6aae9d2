# Helpers of drawings are in helper-drawing.R.

test_that("the summary has columns by size, and the waterfall leads from the base to the score", {
  m <- gbt_train(mpg ~ ., mtcars, nrounds = 10, threads = 1)
  s <- gbt_shap(m, mtcars, threads = 1)
  in_sizes(plot(s), function(record, size) {
    shown <- labels_of(record, "bar label")
    left_out <- as.numeric(sub(" .*", "", labels_of(record, "note")))
    expect_equal(length(shown) + sum(left_out), 10)
    expect_identical(shown, summary(s)$column[seq_along(shown)])
    usr <- record$panels[[1]]$usr
    expect_true(usr[1] < min(s$values) && usr[2] > max(s$values))
  })
  grey <- gbt_shap(gbt_train(Sepal.Length ~ ., iris, nrounds = 3, threads = 1), iris, threads = 1)
  in_sizes(plot(grey), function(record, size) {
    expect_true("value of the column (grey: missing or no order)" %in% labels_of(record, "colour key"))
  })
  in_sizes(plot(s, top = 2), function(record, size) expect_length(labels_of(record, "bar label"), 2))
  for (top in c(1, 2, 3, 20)) {
    in_sizes(plot(s, row = 3, top = top), function(record, size) {
      expect_identical(length(labels_of(record, "bar value")), length(labels_of(record, "bar label")))
      expect_lte(length(labels_of(record, "bar label")), top)
    })
  }
  score <- predict(m, mtcars[3, ], type = "link", threads = 1)
  for (most in 1:12) {
    w <- gbt:::waterfall(s$values[3, ], colnames(s$values), unname(s$base), most)
    expect_identical(nrow(w), min(as.integer(most), 10L))
    expect_equal(w$to[1], unname(score))
    expect_equal(w$from[nrow(w)], s$base)
    expect_equal(w$to - w$from, unname(w$value))
    expect_identical(w$from[-nrow(w)], w$to[-1])
  }
  expect_match(labels_of(drawn_record(plot(s, row = "Datsun 710")), "title"), "Datsun 710")
  expect_true("cyl = 4" %in% labels_of(drawn_record(plot(s, row = 3)), "bar label"))
})

test_that("rows and outputs that are not there are refused in words", {
  m <- gbt_train(Species ~ ., iris, nrounds = 3, threads = 1)
  s <- gbt_shap(m, iris, rows = 20, threads = 1)
  drawn({
    expect_error(plot(s, row = setdiff(1:150, s$rows)[1]), "which were drawn", class = "gbt_error_argument")
    expect_error(plot(s, row = 1.5), class = "gbt_error_argument")
    expect_error(plot(s, "Petal.Width"), "give it as `against = \"Petal.Width\"`", class = "gbt_error_argument")
    expect_error(plot(s, column = "Petal.Width"), "did you mean `against`", class = "gbt_error_argument")
    expect_error(plot(s, output = "setose"), "setosa", class = "gbt_error_argument")
    expect_error(plot(s, col = "red"), "two colours", class = "gbt_error_argument")
    none <- s
    none$values <- s$values[0, , , drop = FALSE]
    expect_error(plot(none), "no rows", class = "gbt_error_argument")
  })
  expect_match(labels_of(drawn_record(plot(s, row = s$rows[5], output = "setosa")), "title"),
               paste0("row ", s$rows[5], "$"))
  for (row in list(NULL, s$rows[2])) {
    in_sizes(plot(s, row = row), function(record, size) {
      left_out <- as.numeric(sub(" .*", "", grep("output", labels_of(record, "note"), value = TRUE)))
      expect_equal(length(labels_of(record, "heading")) + sum(left_out), 3)
    })
  }
})

test_that("one row is a waterfall, by its number or without it", {
  m <- gbt_train(mpg ~ ., mtcars, nrounds = 3, threads = 1)
  s <- gbt_shap(m, mtcars[3, ], threads = 1)
  expect_identical(labels_of(drawn_record(plot(s)), "heading"),
                   labels_of(drawn_record(plot(s, row = 1)), "heading"))
  expect_match(labels_of(drawn_record(plot(s)), "title"), "Datsun 710$")
})

test_that("dots are coloured by rank, and levels and missing values have no colour", {
  expect_equal(gbt:::value_shares(c(10, NA, -1, 10, 300)), c(0.5, NA, 0, 0.5, 1))
  expect_equal(gbt:::value_shares(c(2, 2, NA)), c(0.5, 0.5, NA))
  expect_equal(gbt:::value_shares(as.Date("2024-01-01") + c(5, 0)), c(1, 0))
  expect_equal(gbt:::value_shares(factor(c("a", "b"))), c(NA_real_, NA))
  expect_equal(gbt:::value_shares(factor(c("hi", "lo"), c("lo", "hi"), ordered = TRUE)), c(1, 0))
  expect_identical(gbt:::colours_of(c(0, 1, NA, 0.5), c("#000000", "#111111", "#222222"), 0, 1),
                   c("#000000", "#222222", "#BFBFBF", "#111111"))
})

test_that("dots of one place lie beside one another, all within their line", {
  for (n in c(1:9, 100, 1001)) {
    offset <- gbt:::dense_offsets(rep(0.305, n))
    expect_identical(anyDuplicated(offset), 0L)
    expect_lte(max(abs(offset)), 0.4 + 1e-12)
  }
  expect_identical(gbt:::dense_offsets(seq(0, 0.9, 0.1)), numeric(10))
})

test_that("effects and contributions of models of times are on the scale of scores, which axes name", {
  y <- structure(cbind(time = mtcars$qsec, status = mtcars$am), type = "right", class = "Surv")
  for (objective in c("cox", "aft")) {
    words <- c(cox = "log relative hazard", aft = "log time")[[objective]]
    m <- gbt_train(mtcars[1:6], y, objective = objective, nrounds = 3, threads = 1)
    s <- gbt_shap(m, mtcars, threads = 1)
    expect_identical(gbt:::shap_figure(s, gbt:::shap_shown(s, NULL), NULL, 9, NULL, NULL)$x$title,
                     paste("contribution to the", words))
    expect_identical(gbt:::shap_figure(s, gbt:::shap_shown(s, NULL), NULL, 9, "wt", NULL)$y$title,
                     paste("contribution to the", words))
    expect_identical(gbt:::shap_figure(s, gbt:::shap_shown(s, NULL), 1, 9, NULL, NULL)$x$title, words)
    p <- gbt_partial(m, mtcars, "wt", size = 3, threads = 1)
    expect_identical(p$effects, gbt_partial(m, mtcars, "wt", size = 3, type = "link", threads = 1)$effects)
    titles <- function(...) gbt:::partial_figure(gbt_partial(m, mtcars, "wt", size = 3, threads = 1, ...), NULL)$y$title
    expect_identical(titles(), paste("mean", words))
    expect_identical(titles(type = "response"), paste("mean", sub("log ", "", words)))
    expect_identical(titles(method = "ale"), paste("effect on the", words))
    expect_identical(gbt:::partial_figure(gbt_partial(m, columns = "wt", method = "recursion"), NULL)$y$title,
                     paste("mean", words))
  }
})
