# Helpers of drawings are in helper-drawing.R.

importance_of <- function(names) {
  X <- as.data.frame(lapply(seq_along(names), function(j) sin(j * (1:200))))
  names(X) <- names
  gbt_importance(gbt_train(X, rowSums(X), nrounds = 5, threads = 1))
}

test_that("every bar has its label, or the page says how many bars are left out", {
  for (n in c(1, 2, 10, 30, 60)) {
    i <- importance_of(paste0("feature", seq_len(n)))
    in_sizes(plot(i, top = n), function(record, size) {
      bars <- labels_of(record, "bar label")
      expect_identical(bars, i$feature[seq_along(bars)])
      left_out <- sub(" .*", "", labels_of(record, "note"))
      expect_equal(length(bars) + sum(as.numeric(left_out)), min(n, nrow(i)))
    })
  }
})

test_that("long labels leave room for the bars, keep both ends and stay distinct", {
  i <- importance_of(paste0(strrep("a_long_name_", 6), 1:20))
  in_sizes(plot(i), function(record, size) {
    shown <- labels_of(record, "bar label")
    expect_match(shown, "^a_.*[.]{3}.*[0-9]")
    expect_identical(anyDuplicated(shown), 0L)
    box <- record$panels[[1]]$box
    expect_gt(box[2] - box[1], 0.4 * size[1])
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
  expect_identical(times_in(dashed, page), 1L) # named at its end
  for (colour in c("1.000 0.000 0.000 SCN", "0.000 0.000 1.000 SCN")) expect_identical(times_in(colour, page), 1L)
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
  expect_true(all(c("half_rmse", "rmse", "a_b") %in% page))
})

test_that("what cannot be drawn is refused in words", {
  nothing <- gbt_metric("nothing", function(pred, label) NaN)
  m <- gbt_train(mpg ~ ., mtcars, nrounds = 2, eval_metric = nothing, eval_train = TRUE, threads = 1)
  drawn({
    expect_error(plot(m, "nothing"), "no value of metric \"nothing\" is finite", class = "gbt_error_argument")
    expect_identical(labels_of(record_drawing(plot(m)), "subtitle"), "no value of the evaluation log is finite")
    expect_error(plot(m, "nothing", "red"), "without a name", class = "gbt_error_argument")
  })
})

test_that("logs are drawn in every size, with the best round, and can be added to", {
  m <- gbt_train(Species ~ ., iris, nrounds = 30, valid = 0.3, eval_train = TRUE, eval_metric = c("merror", "mlogloss"),
                 early_stopping_rounds = 5, seed = 1, threads = 1)
  in_sizes(plot(m), function(record, size) expect_setequal(labels_of(record, "heading"), c("merror", "mlogloss")))
  in_sizes(plot(m, "mlogloss", from = 3, log = "y"), function(record, size) {
    expect_setequal(labels_of(record, "end label"), c("train", "valid"))
    expect_match(labels_of(record, "mark"), paste("best round", m$best_round))
  })
  expect_error(plot(m, from = 1000), "the log ends", class = "gbt_error_argument")
  expect_error(plot(m, xlm = 1), "`xlim`", class = "gbt_error_argument")
  grDevices::pdf(NULL, 7, 5)
  withr::defer(grDevices::dev.off())
  plot(m, "mlogloss")
  expect_equal(graphics::par("plt") * graphics::par("fin")[c(1, 1, 2, 2)],
               c(0, 7, 0, 5) + c(1, -1, 1, -1) * graphics::par("mai")[c(2, 4, 1, 3)])
  expect_lt(abs(graphics::par("usr")[1] - 1), 1.5)
})

test_that("pages that are too small are refused in words, and values that are infinite do no harm", {
  grDevices::pdf(NULL, 1, 0.8)
  withr::defer(grDevices::dev.off())
  i <- importance_of(letters[1:3])
  expect_error(plot(i), "the figure is 1.0 x 0.8 inches", class = "gbt_error_unsupported")
  odd <- gbt_metric("odd", function(pred, label) if (stats::runif(1) < 0.5) Inf else 1)
  m <- gbt_train(mpg ~ ., mtcars, nrounds = 9, eval_metric = odd, eval_train = TRUE, threads = 1)
  in_sizes(plot(m))
  constant <- gbt_metric("constant", function(pred, label) 1)
  m <- gbt_train(mpg ~ ., mtcars, nrounds = 9, eval_metric = constant, eval_train = TRUE, threads = 1)
  in_sizes(plot(m))
})

test_that("permutation importance shows its intervals", {
  p <- structure(data.frame(column = c("b", "a"), importance = c(1, 2), lower = c(0.5, 1), upper = c(1.5, 3)),
                 class = c("gbt_importance_permutation", "data.frame"))
  in_sizes(plot(p), function(record, size) {
    expect_identical(labels_of(record, "bar label"), c("a", "b"))
    usr <- record$panels[[1]]$usr
    expect_true(usr[1] < 0.5 && usr[2] > 3)
  })
  p$importance <- NaN
  grDevices::pdf(NULL)
  withr::defer(grDevices::dev.off())
  expect_error(plot(p), "no importance is finite", class = "gbt_error_argument")
})

test_that("places are spread apart as little as need be", {
  expect_equal(gbt:::spread_apart(c(5, 5), 1, 0, 10), c(4.5, 5.5))
  expect_equal(gbt:::spread_apart(c(9, 10, 1), 2, 0, 10), c(8, 10, 1))
  expect_null(gbt:::spread_apart(1:5, 3, 0, 10))
  for (n in 1:20) {
    at <- gbt:::spread_apart(cos(3 * seq_len(n)), 0.05, -1, 1)
    expect_true(all(diff(sort(at)) > 0.05 - 1e-9) && all(abs(at) <= 1 + 1e-9))
  }
})

test_that("neighbouring colours differ in lightness", {
  light <- gbt:::luminance(gbt:::palette_colours)
  expect_true(all(abs(diff(light)) > 0.1))
  expect_false(is.unsorted(gbt:::luminance(gbt:::scale_colours(64))))
})

test_that("permutation importance of a model is drawn", {
  m <- gbt_train(mpg ~ ., mtcars, nrounds = 10, threads = 1)
  p <- gbt_importance(m, type = "permutation", data = mtcars, seed = 1)
  in_sizes(plot(p, top = 3), function(record, size) expect_length(labels_of(record, "bar label"), 3))
})

test_that("evaluations have a panel for each metric and a point for each group; groups without room are counted", {
  m <- gbt_train(mpg ~ ., mtcars, nrounds = 10, threads = 1)
  e <- gbt_evaluate(m, mtcars, mtcars$mpg, by = "cyl")
  in_sizes(plot(e), function(record, size) {
    shown <- labels_of(record, "heading") # a small page says how many metrics have no room
    left_out <- as.numeric(c(sub(" .*", "", labels_of(record, "note")), 0)[1])
    expect_identical(shown, head(unique(e$metric), 3 - left_out))
    expect_identical(labels_of(record, "bar label"), rep(c("4", "6", "8"), length(shown)))
  })
  in_sizes(plot(e, metric = "mae"), function(record, size) expect_identical(labels_of(record, "heading"), "mae"))
  many <- structure(data.frame(g = paste("group", 1:200), metric = "rmse", estimate = 1:200, lower = 0:199,
                               upper = 2:201, rows = 5), class = c("gbt_evaluation", "data.frame"))
  in_sizes(plot(many, top = 200), function(record, size) {
    left_out <- as.numeric(sub(" .*", "", labels_of(record, "note")))
    expect_equal(length(labels_of(record, "bar label")) + left_out, 200)
  })
  expect_error(plot(many, metric = "mae"), "\"rmse\"", class = "gbt_error_argument")
  expect_error(plot(e, xlim = c(0, 1)), "single metric", class = "gbt_error_argument")
})

test_that("evaluations without groups have intervals or bars, and their numbers in the headings", {
  two <- transform(mtcars, am = factor(am))
  m <- gbt_train(am ~ wt + hp, two, nrounds = 10, threads = 1)
  plain <- gbt_evaluate(m, two, threads = 1)
  figure <- gbt:::evaluation_figure(plain, NULL, 40)
  headings <- vapply(figure$panels, `[[`, "", "heading")
  expect_identical(headings, paste0(plain$metric, "  ", gbt:::number_label(plain$estimate, 4L)))
  for (k in seq_along(figure$panels)) {
    expect_identical(figure$panels[[k]]$marks[[1]]$kind, "rect")
    expect_identical(figure$panels[[k]]$marks[[1]]$data$xend, plain$estimate[k])
    if (plain$metric[k] != "logloss") expect_identical(figure$panels[[k]]$x$lim, c(0, 1))
  }
  drawn <- gbt_evaluate(m, two, intervals = 0.8, replicates = 40, seed = 1, threads = 1)
  figure <- gbt:::evaluation_figure(drawn, NULL, 40)
  expect_identical(figure$subtitle, "80 % intervals")
  for (k in seq_along(figure$panels)) {
    marks <- Filter(Negate(is.null), figure$panels[[k]]$marks)
    expect_identical(vapply(marks, `[[`, "", "kind"), c("segment", "point"))
    expect_identical(unlist(marks[[1]]$data[c("x", "xend")], use.names = FALSE), c(drawn$lower[k], drawn$upper[k]))
  }
  in_sizes(plot(drawn), function(record, size) expect_length(labels_of(record, "heading"), 4))
  in_sizes(plot(gbt_evaluate(m, two, metrics = "all", threads = 1)), function(record, size) {
    left_out <- as.numeric(c(sub(" .*", "", labels_of(record, "note")), 0)[1])
    expect_equal(length(labels_of(record, "heading")) + left_out, 15)
  })
  none <- gbt_evaluate(m, two[two$am == "1", ], metrics = c("auc", "brier"), threads = 1)
  expect_identical(gbt:::evaluation_figure(none, NULL, 40)$note, "without a value: auc")
  expect_error(plot(none, "auc"), "no value of metric \"auc\"", class = "gbt_error_argument")
})

test_that("a model without a log is drawn by its importance, and one without splits in words", {
  train <- function(...) gbt_train(mpg ~ ., mtcars, nrounds = 3, threads = 1, ...)
  bare <- train()
  file <- withr::local_tempfile()
  gbt_save(bare, file)
  classes <- gbt_train(Species ~ ., iris, nrounds = 2, threads = 1)
  for (x in list(bare, gbt_load(file), train(ensemble = 2), bare[1], classes, gbt_refit(bare))) {
    record <- drawn_record(plot(x))
    expect_identical(labels_of(record, "title"), "Importance")
    expect_match(labels_of(record, "subtitle"), "no evaluation log")
    expect_identical(labels_of(record, "bar label")[1], gbt_importance(x)$feature[1])
  }
  expect_identical(labels_of(drawn_record(plot(bare, main = "mine", sub = "my words")), "title"), "mine")
  expect_snapshot(plot(bare, ylim = c(0, 1)), error = TRUE)
  suppressWarnings(constant <- gbt_train(mpg ~ ., transform(mtcars, mpg = 1), nrounds = 2, threads = 1))
  in_sizes(plot(constant), function(record, size) {
    expect_match(record$texts$text, "no tree has a split|no evaluation log|Importance")
  })
  logged <- train(valid = 0.3)
  expect_identical(labels_of(drawn_record(plot(logged)), "title"), "Evaluation log")
  skip_if_not_installed("ggplot2")
  expect_match(ggplot2::autoplot(bare)$labels$subtitle, "no evaluation log")
  expect_s3_class(ggplot2::autoplot(constant), "ggplot")
  expect_match(ggplot2::autoplot(logged)$labels$title, "Evaluation log")
})
