# Contributions of one column against its values. Helpers of drawings are in helper-drawing.R.

test_that("the first levels have colours of their own, all others one, and missing values one", {
  for (n in c(1L, 7:9, 30L)) for (missing in c(FALSE, TRUE)) {
    level <- sprintf("l%02d", seq_len(n))
    g <- gbt:::by_groups(factor(c(rev(level), if (missing) NA), c("none", level)))
    own <- min(n, 8L)
    label <- c(level[seq_len(own)], if (n == 9) "1 other level", if (n == 30) "22 other levels",
               if (missing) "(missing)")
    expect_identical(g$label, label)
    expect_identical(anyDuplicated(g$col), 0L)
    expect_identical(lengths(g[c("label", "col")], use.names = FALSE), rep(length(label), 2))
    expect_identical(g$group, c(rev(pmin(seq_len(n), own + 1L)), if (missing) length(label)))
  }
})

test_that("contributions stand against values, for numbers, times and levels", {
  d <- data.frame(g = factor(rep(c("low", "high", NA), 20), c("none", "low", "high")), x = c(NA, 2:60),
                  day = as.Date("2024-01-01") + 1:60, l = rep(c(TRUE, FALSE), 30))
  m <- gbt_train(d, sin(1:60) + as.integer(d$g == "low" & !is.na(d$g)), nrounds = 8, threads = 1)
  s <- gbt_shap(m, d, threads = 1)
  for (column in names(d)) for (by in if (column %in% c("g", "x")) list(NULL, "x", "g") else list(NULL)) {
    in_sizes(plot(s, against = column, by = by), function(record, size) {
      expect_identical(labels_of(record, "title"), paste("Contributions of", column))
      if (column == "g") expect_identical(labels_of(record, "bar label"), c("low", "high", "(missing)"))
      if (column == "x") expect_match(labels_of(record, "note"), "where x is missing \\(1 row\\): ")
      expect_identical(length(labels_of(record, "colour key")) > 0, !is.null(by))
    })
  }
  shown <- gbt:::shap_shown(s, NULL)
  a <- gbt:::shap_against(s, shown, "x", "g")
  expect_identical(a$value[[1]], unname(s$values[, "x"]))
  expect_identical(a$at, as.double(d$x))
  expect_null(a$share)
  expect_identical(a$groups$label[a$groups$group], ifelse(is.na(d$g), "(missing)", as.character(d$g)))
  expect_identical(a$groups$label, c("low", "high", "(missing)"))
  k <- gbt_shap(gbt_train(Species ~ ., iris, nrounds = 2, threads = 1), iris, rows = 20, threads = 1)
  in_sizes(plot(k, against = "Petal.Width"), function(record, size) {
    left_out <- as.numeric(sub(" .*", "", grep("output", labels_of(record, "note"), value = TRUE)))
    expect_equal(length(labels_of(record, "heading")) + sum(left_out), 3)
  })
  drawn(expect_snapshot(error = TRUE, {
    plot(s, against = "xx")
    plot(s, by = "x")
    plot(s, row = 1, against = "x")
    plot(s, against = "x", by = "y")
  }))
})
