# Plots are read back: an uncompressed PDF holds every text as it is, every dash pattern and every colour.
drawn <- function(expr, width = 7, height = 5) {
  file <- withr::local_tempfile()
  grDevices::pdf(file, width, height, compress = FALSE, useKerning = FALSE)
  tryCatch(expr, finally = grDevices::dev.off())
  readLines(file, warn = FALSE, encoding = "latin1")
}
texts <- function(page) {
  at <- grepl(") Tj", page, fixed = TRUE)
  sub("^.*\\((.*)\\) Tj.*$", "\\1", page[at])
}
times_in <- function(pattern, page) sum(grepl(pattern, page, fixed = TRUE))

importance_of <- function(names) {
  X <- as.data.frame(lapply(seq_along(names), function(j) sin(j * (1:200))))
  names(X) <- names
  gbt_importance(gbt_train(X, rowSums(X), nrounds = 5, threads = 1))
}

test_that("every bar has its label, whatever the size of the page", {
  for (n in c(1, 2, 10, 20, 30, 60)) {
    names <- paste0("feature", seq_len(n))
    i <- importance_of(names)
    for (size in list(c(7, 5), c(5, 4), c(4, 3), c(10, 8))) {
      page <- drawn(plot(i, top = n), size[1], size[2])
      expect_identical(sort(intersect(texts(page), names)), sort(names))
    }
  }
})

test_that("long labels leave room for the bars and keep both ends", {
  names <- paste0(strrep("a_long_name_", 6), 1:20)
  page <- drawn(plot(importance_of(names)))
  shown <- grep("^a_.*[.]{3}.*[0-9]$", texts(page), value = TRUE)
  expect_length(unique(shown), 20)
  expect_true(all(nchar(shown) < 60))
  drawn({
    short <- bar_labels(c("b", strrep("x", 500)), 2, c(5, 4, 1, 2))
    expect_identical(short$text[1], "b")
    expect_lte(max(graphics::strwidth(short$text, "inches", cex = short$cex)), 0.45 * graphics::par("fin")[1])
  })
})

test_that("arguments of barplot() are kept to", {
  i <- importance_of(letters[1:6])
  expect_true(all(LETTERS[1:6] %in% texts(drawn(plot(i, names.arg = LETTERS[1:6], main = "a title")))))
  expect_true("a title" %in% texts(drawn(plot(i, main = "a title"))))
  expect_false("a" %in% texts(drawn(plot(i, axisnames = FALSE))))
  before <- NULL
  drawn({
    before <- graphics::par("mar")
    plot(i)
    expect_identical(graphics::par("mar"), before)
    expect_error(plot(i, horiz = FALSE), class = "gbt_error_unsupported")
    expect_error(plot(i, 3, "gain", "red"), "without a name", class = "gbt_error_argument")
    expect_error(plot(i, top = 0), class = "gbt_error_argument")
    expect_error(plot(i, type = "nothing"), class = "gbt_error_argument")
    expect_error(plot(i[0, ]), "no rows", class = "gbt_error_argument")
  })
})

test_that("the legend shows what is drawn", {
  m <- gbt_train(mpg ~ ., mtcars, nrounds = 9, valid = 0.3, eval_train = TRUE, seed = 1, threads = 1)
  page <- drawn(plot(m))
  expect_true(all(c("train", "valid", "rmse", "round") %in% texts(page)))
  dashed <- "[ 0.00 9.00] 0 d" # lty = 3, lwd = 3: once for the line, once for the legend
  page <- drawn(plot(m, lty = c(1, 3), lwd = c(1, 3), col = c("#FF0000", "#0000FF")))
  expect_identical(times_in(dashed, page), 2L)
  for (colour in c("1.000 0.000 0.000 SCN", "0.000 0.000 1.000 SCN")) expect_identical(times_in(colour, page), 2L)
  style <- list(type = c("l", "p", "b"), lty = 1:3, lwd = 4:6, pch = 7:9, col = c("red", "blue", "green"))
  expect_identical(legend_key(c("a", "b", "c"), style),
                   list(legend = c("a", "b", "c"), col = style$col, bty = "n", lty = c(1L, NA, 3L), lwd = 4:6,
                        pch = c(NA, 8L, 9L)))
  style$type <- rep("p", 3)
  expect_named(legend_key(c("a", "b", "c"), style), c("legend", "col", "bty", "pch"))
  # one colour for all, none, and a single round, which is no line
  others <- list(list(col = "red"), list(col = NULL), list(type = "b", pch = 19), list(type = "n"), list(log = "y"))
  drawn(for (args in others) expect_invisible(do.call(plot, c(list(m), args))))
  one <- gbt_train(mpg ~ ., mtcars, nrounds = 1, eval_train = TRUE, threads = 1)
  expect_true(any(texts(drawn(plot(one))) == "train"))
})

test_that("the metric that is asked for is drawn, not one whose name ends alike", {
  half <- gbt_metric("half_rmse", function(pred, label) 1000)
  m <- gbt_train(mpg ~ ., mtcars, nrounds = 5, valid = list(a_b = list(x = mtcars, y = mtcars$mpg)), eval_train = TRUE,
                 eval_metric = list("rmse", half), threads = 1)
  page <- texts(drawn(plot(m, metric = "rmse")))
  expect_true(all(c("train", "a_b") %in% page))
  expect_false(any(grepl("half", page)) || "1000" %in% page)
  page <- texts(drawn(plot(m)))
  expect_true("half_rmse" %in% page && "a_b" %in% page)
})

test_that("what cannot be drawn is refused in words", {
  nothing <- gbt_metric("nothing", function(pred, label) NaN)
  m <- gbt_train(mpg ~ ., mtcars, nrounds = 2, eval_metric = nothing, eval_train = TRUE, threads = 1)
  drawn({
    expect_error(plot(m), "no value of metric \"nothing\" is finite", class = "gbt_error_argument")
    expect_error(plot(m, "nothing", "red"), "without a name", class = "gbt_error_argument")
  })
})
