# Figures, the descriptions of drawings: made without a device, and drawn by both ways.

cars <- transform(mtcars, cyl = factor(cyl), day = as.Date("2024-01-01") + seq_len(32))
m <- gbt_train(mpg ~ wt + hp + cyl + day, cars, nrounds = 8, valid = 0.3, eval_train = TRUE, seed = 1, threads = 1)
k <- gbt_train(Species ~ ., iris, nrounds = 3, threads = 1)
s <- gbt_shap(m, cars, threads = 1)
hit <- rep(c(FALSE, TRUE, TRUE), 10)
long <- structure(cbind(time = mtcars$qsec, status = mtcars$am), type = "right", class = "Surv")
times <- gbt_train(mtcars[1:6], long, nrounds = 3, threads = 1)
figures <- list(
  log = gbt:::model_log_figure(m, NULL, 1),
  cv = gbt:::cv_figure(gbt_cv(mpg ~ wt, cars, folds = 3, nrounds = 4, seed = 1, threads = 1), NULL, TRUE, 1),
  importance = gbt:::importance_figure(gbt_importance(m), 20, NULL),
  evaluation = gbt:::evaluation_figure(gbt_evaluate(m, cars, cars$mpg, by = "cyl", threads = 1), NULL, 40),
  metrics = gbt:::evaluation_figure(gbt_evaluate(m, cars, cars$mpg, threads = 1), NULL, 40),
  interactions = gbt:::interactions_figure(gbt_interactions(k, iris, rows = 8, seed = 1, threads = 1), "size", NULL, 9,
                                           NULL),
  curve = gbt:::curve_figure(gbt:::curve_shown(gbt_curve(hit, list(a = sin(1:30), b = cos(1:30)), "lift"))),
  lift = gbt:::curve_figure(gbt:::curve_shown(gbt_curve(hit, sin(1:30), "lift"))),
  survival = gbt:::figure_of_curve(gbt_curve(times, mtcars, "survival", bins = 2, y = long, threads = 1)),
  brier = gbt:::figure_of_curve(gbt_curve(times, mtcars, "brier", y = long, threads = 1)),
  intervals = gbt:::conformal_figure(gbt_conformal(m, cars, threads = 1), cars, NULL, 0.9, 1),
  lines = gbt:::partial_figure(gbt_partial(k, iris, "Petal.Width", size = 4, ice = TRUE, threads = 1), NULL),
  levels = gbt:::partial_figure(gbt_partial(m, cars, "cyl", ice = TRUE, threads = 1), NULL),
  image = gbt:::partial_figure(gbt_partial(m, cars, c("wt", "day"), size = 3, threads = 1), NULL),
  local = gbt:::partial_figure(gbt_partial(k, iris, "Petal.Width", method = "ale", threads = 1), NULL),
  summary = gbt:::shap_figure(s, gbt:::shap_shown(s, NULL), NULL, 20, NULL, NULL),
  row = gbt:::shap_figure(s, gbt:::shap_shown(s, NULL), 3, 2, NULL, NULL),
  against = gbt:::shap_figure(s, gbt:::shap_shown(s, NULL), NULL, 20, "wt", "cyl"),
  drift = gbt:::monitor_figure(gbt_monitor(k, iris[1:70, ], iris, threads = 1), NULL, 40),
  tree = gbt:::tree_figure(gbt_tree(k, 2), "gain")
)

test_that("a figure needs no device", {
  expect_null(grDevices::dev.list())
  for (f in figures) expect_true(all(c("title", "x", "y", "panels") %in% names(f)))
})

test_that("both ways draw all texts of a figure", {
  for (name in names(figures)) {
    f <- figures[[name]]
    f$subtitle <- "a subtitle"
    f$note <- "a note"
    record <- drawn_record(gbt:::draw_figure(f))
    expect_identical(labels_of(record, "title"), f$title, info = name)
    expect_match(labels_of(record, "note"), "a note", all = FALSE, info = name)
    rows <- f$panels[[1]]$rows
    shown <- labels_of(record, "bar label")[seq_along(rows)]
    whole <- !grepl("...", shown, fixed = TRUE)
    expect_identical(shown[whole], as.character(rows)[whole], info = name)
    skip_if_not_installed("ggplot2")
    p <- gbt:::gg_figure(f)
    expect_identical(p$labels[c("title", "subtitle")], f[c("title", "subtitle")], info = name)
    expect_match(p$labels$caption, "a note", info = name)
  }
})

test_that("every mark is a layer of ggplot2 with its values, and keys have the colours of plot()", {
  skip_if_not_installed("ggplot2")
  withr::local_pdf(NULL)
  for (name in setdiff(names(figures), "tree")) {
    f <- figures[[name]]
    marks <- Filter(Negate(is.null), f$panels[[1]]$marks)
    own <- if (length(f$panels) > 1) f$panels[[1]]$x # the first panel's part of the one scale that ggplot2 has
    place <- function(v) if (is.null(own)) v else 2 + gbt:::share_of_axis(v, own)
    p <- gbt:::gg_figure(f)
    layers <- Filter(function(layer) !inherits(layer$geom, "GeomBlank"), p$layers)
    expect_gte(length(layers), length(marks))
    first <- Map(function(mark, layer) {
      shown <- layer$data[layer$data$panel == layer$data$panel[1], ]
      for (column in intersect(names(mark$data), c("x", "xend"))) {
        expect_identical(shown[[column]], place(mark$data[[column]]), info = name)
      }
      if (!is.null(mark$data$set)) {
        expect_identical(as.integer(shown$set), as.integer(mark$data$set), info = name)
        expect_identical(levels(shown$set), gbt:::key_labels(f$key), info = name)
      }
    }, marks, layers[seq_along(marks)])
    colours <- p$scales$get_scales("colour")
    n <- length(f$key$label)
    if (n) expect_identical(unname(colours$palette(n)), rep_len(f$key$col, n))
    expect_s3_class(ggplot2::ggplot_build(p), "ggplot_built")
  }
})

test_that("rounds and configurations have ticks at whole numbers only", {
  for (last in 2:13) {
    scale <- gbt:::make_scale(1:last, whole = TRUE)
    for (n in 1:8) {
      at <- gbt:::scale_ticks(scale, n)$at
      expect_identical(at, round(at))
    }
    expect_gt(length(gbt:::scale_ticks(scale, 5)$at), 1)
  }
})

test_that("of many intervals some are drawn, and the page says so", {
  many <- list(estimate = 1:2500, lower = 0:2499, upper = 2:2501, observed = 1:2500, text = "all")
  f <- gbt:::intervals_figure(many, list())
  expect_identical(f$note, "300 of 2,500 intervals drawn")
  expect_identical(nrow(f$panels[[1]]$marks[[1]]$data), 300L)
  expect_null(gbt:::intervals_figure(lapply(many[1:4], head, 300), list())$note)
})

test_that("many levels without an order come by their estimates", {
  d <- data.frame(f = factor(rep(sprintf("l%02d", 1:30), 8)), y = rep(sin(1:30), 8))
  ordered <- transform(d, f = factor(f, ordered = TRUE))
  for (x in list(d, ordered, d[d$f %in% levels(d$f)[1:9], ])) {
    p <- gbt_partial(gbt_train(y ~ f, x, nrounds = 5, threads = 1), x, "f", threads = 1)
    panel <- gbt:::partial_figure(p, NULL)$panels[[1]]
    largest <- order(-p$effects$estimate)
    at <- if (nrow(p$effects) > 20 && !is.ordered(x$f)) largest else seq_along(largest)
    expect_identical(panel$rows, as.character(p$effects$f)[at])
    expect_identical(panel$marks[[2]]$data$x, p$effects$estimate[at])
  }
})
