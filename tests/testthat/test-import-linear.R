# LightGBM's linear leaves (`linear_tree`), which read numbers.

# In R alone: nodes, and linear leaves by their numbers, added in the order of the file.
naive_linear_sums <- function(model, x) {
  nodes <- as.data.frame(model)
  leaf <- function(its, row) {
    at <- 0L
    repeat {
      node <- its[its$node == at, ]
      if (is.na(node$left)) break
      v <- row[[match(node$feature, model$feature_names)]]
      at <- if (is.na(v)) node$missing else if (v <= node$threshold) node$left else node$right
    }
    slopes <- node$slopes[[1L]]
    used <- row[match(names(slopes), model$feature_names)]
    if (is.null(slopes) || anyNA(used)) return(node$value)
    Reduce(`+`, slopes * used, node$intercept)
  }
  Reduce(`+`, lapply(split(nodes, nodes$tree), function(its) apply(x, 1L, function(row) leaf(its, row))), 0)
}

test_that("linear leaves of LightGBM read numbers: those of a naive twin, printed, drawn, saved and written again", {
  its <- imported_case("lgb_linear.txt")
  m <- its$model
  x <- its$x
  nodes <- as.data.frame(m)
  expect_gt(max(lengths(unclass(nodes$slopes))), 1)
  expect_true(all(is.na(nodes$low) | nodes$low == -Inf & nodes$high == Inf))
  expect_identical(naive_linear_sums(m, x), its$scores[, 1])
  expect_identical(naive_linear_sums(m[1:2], x), link_of(m, x, trees = 2)[, 1])
  offset <- seq_len(nrow(x)) / 3
  expect_equal(link_of(m, x, offset = offset)[, 1], its$scores[, 1] + offset)
  expect_identical(matrix(gbt_predictor(m)(x), nrow(x)), its$scores)
  expect_output(print(gbt_tree(m, 2)), "linear")
  expect_no_error(drawn(plot(m)))
  expect_s3_class(gbt_partial(m, x[1:8, ], columns = "a", threads = 1), "gbt_partial")
  file <- withr::local_tempfile(fileext = ".txt")
  gbt_export(m, file)
  expect_identical(link_of(gbt_import(file), x), its$scores)
  expect_identical(as.data.frame(gbt_import(file)), nodes)
  expect_error(predict(m, x, type = "contrib"), "contributions of linear leaves by cover need the means.*`background`",
               class = "gbt_error_unsupported")
  colnames(x) <- m$feature_names
  expect_error(predict(m, gbt_data(x[1:8, ], 1:8)), "give the rows themselves|not a cut", class = "gbt_error")
})

test_that("linear leaves of damaged files are errors", {
  text <- readChar(test_path("imported", "lgb_linear.txt"), 1e6, useBytes = TRUE)
  change <- function(from, to) {
    expect_true(grepl(from, text))
    gbt_import(charToRaw(sub(from, to, text)))
  }
  fault <- function(from, to, what) expect_error(change(from, to), what, class = "gbt_error_format")
  fault("num_features=2 2", "num_features=2 200000000", "`num_features` has an unexpected value")
  fault("num_features=2 2", "num_features=2 -1", "`num_features` has an unexpected value")
  fault("num_features=2 2", "num_features=2 1", "`leaf_features` has an unexpected value")
  fault("num_features=2 2", "num_features=2 0.5", "`num_features` has an unexpected value")
  fault("num_features=2 2", "num_features=2", "`num_features` has an unexpected value")
  fault("leaf_features=0 2", "leaf_features=0 4", "`leaf_features` has an unexpected value")
  fault("leaf_features=0 2", "leaf_features=0 -1", "`leaf_features` has an unexpected value")
  fault("leaf_coeff=-?[0-9]", "leaf_coeff=inf 1", "`leaf_coeff` has an unexpected value")
  fault("leaf_coeff=[^ ]+", "leaf_coeff=inf", "the slope of a linear leaf is not finite")
  fault("leaf_coeff=[^ ]+", "leaf_coeff=nan", "`leaf_coeff` has an unexpected value")
  fault("(num_features=2[^\n]*\n)leaf_features=[^\n]*\n", "\\1", "`num_features` has an unexpected value")
  fault("leaf_const=[^\n]*\nnum_features=2", "num_features=2", "`leaf_const` has an unexpected value")
  fault("leaf_const=[^ ]+", "leaf_const=inf", "not finite")
  fault("is_linear=1", "is_linear=2", "`is_linear`")
  other <- sub("leaf_features=0 2", "leaf_features=0 1", text)
  expect_no_error(gbt_import(charToRaw(other)))
  other <- sub("feature_infos=\\S+ \\S+", "feature_infos=[0:1] 0:1", other)
  expect_error(gbt_import(charToRaw(other)), "linear in a column of categories", class = "gbt_error_format")
  zeros <- gsub("decision_type=[^\n]*", "decision_type=6 6 6 6 6", text)
  expect_error(gbt_import(charToRaw(zeros)), "`linear_tree` with `zero_as_missing`", class = "gbt_error_unsupported")
})

test_that("contributions of LightGBM's linear leaves against a background are those of the definition", {
  its <- imported_case("lgb_linear.txt")
  x <- as.data.frame(its$x)
  names(x) <- its$model$feature_names
  finite <- x[apply(is.na(x) | abs(x) < 1e6, 1, all), ] # missing values are among them
  expect_true(anyNA(finite) && nrow(finite) > 20)
  background <- finite[rep_len(seq_len(nrow(finite)), 70), ] # more than a word
  expect_by_background(its$model, finite[c(1:12, nrow(finite)), ], background)
  expect_by_background(its$model[2:4], finite[3:5, ], finite[1:2, ])
  shap <- gbt_shap(its$model, finite, background = finite)
  expect_equal(rowSums(shap$values) + shap$base, link_of(its$model, finite)[, 1], ignore_attr = TRUE)
  expect_s3_class(gbt_importance(its$model, "shap", data = finite, background = finite), "gbt_importance_shap")
})

test_that("contributions of linear leaves of many columns, and of scaled sums, against a background", {
  i <- seq_len(40)
  x <- as.data.frame(lapply(1:9, function(j) ((i * (2 * j + 1)) %% 17 - 8) / 4))
  names(x) <- letters[1:9]
  x$c[3:9] <- NA
  text <- c("tree", "version=v4", "num_class=1", "num_tree_per_iteration=1", "label_index=0", "max_feature_idx=8",
            "objective=binary sigmoid:0.5", paste("feature_names=", paste(names(x), collapse = " "), sep = ""),
            paste("feature_infos=", paste(rep("[-2:2]", 9), collapse = " "), sep = ""), "",
            "Tree=0", "num_leaves=3", "num_cat=0", "split_feature=0 2", "split_gain=2 1", "threshold=0.5 -0.3",
            "decision_type=10 8", "left_child=1 -1", "right_child=-2 -3", "leaf_value=0.25 -1.5 3", "leaf_count=5 6 7",
            "internal_count=18 12", "is_linear=1", "leaf_const=0.5 -2 1", "num_features=9 0 3",
            "leaf_features=0 1 2 3 4 5 6 7 8   2 2 5", "leaf_coeff=0.1 -3 0.7 2 -0.7 0.3 1e-9 5 -6   0.5 0.25 1",
            "", "end of trees")
  m <- gbt_import(charToRaw(paste(text, collapse = "\n")))
  expect_by_background(m, x[c(1:6, 20), ], x)
})
