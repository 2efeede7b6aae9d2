# Models of other programs: imported/ has small ones with rows and raw scores, made by tests/format/make_imported.py.
# Rows of numbers are a matrix, those with texts a data frame.

imported_files <- function() list.files(test_path("imported"), "\\.(json|ubj|txt)$")

# In R alone: the nodes as as.data.frame() shows them, and the sums as the model's rule has them.
naive_float_sums <- function(model, x, base) {
  nodes <- as.data.frame(model)
  to_float <- function(v) readBin(writeBin(v, raw(), size = 4L), "double", length(v), size = 4L)
  score <- rep(to_float(base), nrow(x))
  for (tree in unique(nodes$tree)) {
    its <- nodes[nodes$tree == tree, ]
    leaf <- apply(x, 1L, function(row) {
      at <- 0L
      repeat {
        node <- its[its$node == at, ]
        if (is.na(node$left)) return(node$value)
        v <- row[[match(node$feature, model$feature_names)]]
        at <- if (is.na(v)) node$missing else if (v <= node$threshold) node$left else node$right
      }
    })
    score <- to_float(score + leaf)
  }
  score
}

test_that("imported models have the raw scores of the other program, bit by bit, however the rows come", {
  files <- imported_files()
  expect_gte(length(files), 18)
  for (file in files) {
    its <- imported_case(file)
    expect_identical(link_of(its$model, its$x), its$scores, info = file)
    one_by_one <- do.call(rbind, lapply(seq_len(nrow(its$x)), function(i) link_of(its$model, its$x[i, , drop = FALSE])))
    expect_identical(one_by_one, its$scores, info = file)
    many <- rep(seq_len(nrow(its$x)), length.out = 3000)
    packed <- predict(its$model, its$x[many, ], type = "link", threads = 2)
    expect_identical(matrix(as.double(packed), 3000), its$scores[many, , drop = FALSE], info = file)
    file <- withr::local_tempfile(fileext = ".gbt")
    gbt_save(its$model, file)
    again <- gbt_load(file)
    expect_identical(link_of(again, its$x), its$scores)
    expect_identical(again$imported, its$model$imported)
  }
})

test_that("sums in float32 are those of a naive twin, also of fewer rounds and with an offset", {
  its <- imported_case("xgb_numbers.json")
  m <- its$model
  base <- link_of(m, its$x[1, , drop = FALSE], trees = 0)[1]
  expect_identical(naive_float_sums(m, its$x, base), its$scores[, 1])
  expect_identical(naive_float_sums(m[1:2], its$x, base), link_of(m, its$x, trees = 2)[, 1])
  offset <- seq_len(nrow(its$x)) / 3
  to_float <- function(v) readBin(writeBin(v, raw(), size = 4L), "double", length(v), size = 4L)
  whole <- vapply(seq_along(offset), function(i) {
    naive_float_sums(m, its$x[i, , drop = FALSE], base + offset[i])
  }, 0)
  expect_identical(link_of(m, its$x, offset = offset)[, 1], whole)
  expect_false(identical(its$scores[, 1] + offset, whole))
  # leaves and contributions are those of the same trees
  leaves <- predict(m, its$x, type = "leaf")
  nodes <- as.data.frame(m)
  value <- vapply(seq_len(3), function(t) {
    its <- nodes[nodes$tree == t, ]
    its$value[match(leaves[, t], its$node)]
  }, numeric(nrow(leaves)))
  expect_equal(base + rowSums(value), its$scores[, 1], tolerance = 1e-6)
  parts <- predict(m, its$x, type = "contrib")
  expect_equal(rowSums(parts), its$scores[, 1], tolerance = 1e-6)
})

test_that("an imported model prints, draws, explains, and says what it does not know", {
  m <- gbt_import(test_path("imported", "xgb_codes.json"))
  expect_output(print(m), "imported  XGBoost 3.2.0, reg:squarederror")
  expect_output(print(m), "rows      unknown")
  expect_output(print(summary(m)), "importance|gain")
  expect_identical(nrow(summary(m)$parameters), 0L)
  expect_false(any(grepl("parameters", capture.output(print(summary(m))))))
  expect_null(nobs(m))
  expect_true(all(is.na(as.data.frame(m)$count)))
  expect_identical(m$feature_names, c("f0", "f1", "f2"))
  expect_identical(sum(gbt_importance(m)$gain), 1)
  pdf(NULL)
  on.exit(dev.off())
  expect_no_error(plot(gbt_importance(m)))
  expect_no_error(plot(gbt_tree(m, 1)))
  expect_no_error(plot(m))
  x <- imported_case("xgb_codes.json")$x[1:20, ]
  colnames(x) <- m$feature_names
  expect_no_error(gbt_shap(m, x))
  expect_no_error(gbt_partial(m, "f2", data = as.data.frame(x), threads = 1))
})

test_that("categories are numbers, or factors of such numbers; a fraction is none", {
  its <- imported_case("xgb_codes.json")
  x <- as.data.frame(its$x)
  names(x) <- its$model$feature_names
  x[1:2] <- lapply(x[1:2], factor)
  expect_identical(link_of(its$model, x), its$scores)
  x <- its$x
  x[3, 1] <- 2.5
  expect_error(predict(its$model, x), "row 3: 2.5 is not a category", class = "gbt_error_data")
})

test_that("zeros are missing where LightGBM took them so, numbers are zero where nothing was missing", {
  m <- gbt_import(test_path("imported", "lgb_zero_missing.txt"))
  x <- imported_case("lgb_zero_missing.txt")$x
  expect_identical(predict(m, replace(x, !is.na(x) & abs(x) <= 1.0000000180025095e-35, NA)), predict(m, x))
  m <- gbt_import(test_path("imported", "lgb_none_missing.txt"))
  expect_identical(predict(m, replace(x, is.na(x), 0)), predict(m, x))
})

test_that("scores that are scaled or means are those of a naive twin, and so are contributions", {
  leaf_sums <- function(m, x) {
    leaves <- predict(m, x, type = "leaf")
    nodes <- as.data.frame(m)
    value <- vapply(seq_len(ncol(leaves)), function(t) {
      its <- nodes[nodes$tree == t, ]
      its$value[match(leaves[, t], its$node)]
    }, numeric(nrow(leaves)))
    Reduce(`+`, asplit(value, 2), 0)
  }
  for (file in c("lgb_forest.txt", "lgb_sigmoid.txt", "cat_numbers.json")) {
    its <- imported_case(file)
    base <- link_of(its$model, its$x[1, , drop = FALSE], trees = 0)[1]
    sums <- as.numeric(leaf_sums(its$model, its$x))
    want <- switch(file, lgb_forest.txt = sums / 3, lgb_sigmoid.txt = 2.5 * sums, sums + base)
    expect_identical(want, its$scores[, 1], info = file)
    parts <- predict(its$model, its$x, type = "contrib")
    expect_equal(rowSums(parts), its$scores[, 1], info = file)
    offset <- seq_len(nrow(its$x)) / 3
    expect_identical(link_of(its$model, its$x, offset = offset)[, 1], its$scores[, 1] + offset)
  }
  forest <- imported_case("lgb_forest.txt")
  first <- as.numeric(leaf_sums(forest$model[1:2], forest$x)) / 2
  expect_identical(link_of(forest$model, forest$x, trees = 2)[, 1], first)
})

test_that("classes have the names that CatBoost's file has; without gains importance is by cover", {
  m <- gbt_import(test_path("imported", "cat_classes.json"))
  x <- imported_case("cat_classes.json")$x
  expect_identical(levels(predict(m, x, type = "class")), c("a", "b", "c"))
  expect_error(gbt_importance(m, "gain"), "type = \"cover\", \"frequency\" or \"shap\"$",
               class = "gbt_error_unsupported")
  expect_identical(gbt_importance(m), gbt_importance(m, "cover"))
  expect_output(print(gbt_importance(m)), "by cover")
  text <- rawToChar(readBin(test_path("imported", "cat_classes.json"), "raw", 1e6))
  without <- gbt_import(charToRaw(gsub("\"leaf_weights\"", "\"other\"", text)))
  expect_setequal(without$imported$lacks, c("gain", "cover", "count"))
  expect_identical(gbt_importance(without), gbt_importance(without, "frequency"))
  expect_error(gbt_importance(without, "cover"), "type = \"frequency\" or \"shap\"$",
               class = "gbt_error_unsupported")
  expect_no_error(drawn(plot(m)))
  expect_equal(sum(gbt_importance(m, "cover")$cover), 1)
  expect_output(print(summary(m)), "imported  CatBoost, MultiClass")
})

test_that("what the formats have and gbt has not is refused, or said, by name", {
  read <- function(file) rawToChar(readBin(test_path("imported", file), "raw", 1e6))
  change <- function(file, from, to) gbt_import(charToRaw(sub(from, to, read(file))))
  for (how in list(c("lgb_numbers.txt", "objective=regression", "objective=regression sqrt"),
                   c("lgb_classes.txt", "objective=multiclass ", "objective=multiclassova "),
                   c("cat_classes.json", "\"MultiClass\"", "\"MultiClassOneVsAll\""))) {
    expect_warning(m <- change(how[1], how[2], how[3]), "raw scores", class = "gbt_warning_import")
    expect_identical(m$objective, "custom")
    its <- imported_case(how[1])
    expect_identical(matrix(as.double(predict(m, its$x)), nrow(its$x)), its$scores)
  }
  expect_error(change("lgb_numbers.txt", "left_child=[^\n]*", "left_child=1 1 1 1"), "two parents|does not exist",
               class = "gbt_error_format")
  expect_error(change("lgb_numbers.txt", "num_leaves=5", "num_leaves=2000000000"), "leaves", class = "gbt_error_format")
  expect_error(gbt_import(charToRaw("CBM1xxxx")), "JSON", class = "gbt_error_unsupported")
  expect_error(gbt_import(raw(0)), "^the raw vector: the file is not a model", class = "gbt_error_format")
  own <- gbt_train(mpg ~ wt, mtcars, nrounds = 1, threads = 1)
  expect_error(gbt_import(own), "model of gbt already", class = "gbt_error_argument")
  file <- withr::local_tempfile(fileext = ".gbt")
  gbt_save(own, file)
  expect_error(gbt_import(file), "gbt_load() reads it", fixed = TRUE, class = "gbt_error_format")
  expect_error(gbt_import(list()), "one path, a raw vector or a model of the packages xgboost, lightgbm or catboost",
               class = "gbt_error_argument")
})

test_that("every model of the shared folder is reproduced by bits, or refused for the reason that is listed", {
  folder <- Sys.getenv("GBT_TEST_MODELS")
  skip_if(!nzchar(folder) || !dir.exists(folder), "GBT_TEST_MODELS names no folder of models")
  refused <- c(xgb_gblinear = "gblinear")
  files <- list.files(folder, "^(xgb|lgb|cat)_.*\\.(json|ubj|txt)$", full.names = TRUE)
  for (file in files) {
    name <- sub("\\..*$", "", basename(file))
    if (name %in% names(refused)) {
      expect_error(gbt_import(file), refused[[name]], class = "gbt_error_unsupported", info = name)
      next
    }
    m <- suppressWarnings(gbt_import(file), classes = "gbt_warning_import")
    empty <- name %in% c("xgb_cat_text", "lgb_cat_text") || grepl("^cat_(onehot|ctr)", name) # "" is a level
    x <- utils::read.csv(file.path(folder, paste0(name, ".x.csv")), na.strings = if (empty) "NA" else "",
                         encoding = "UTF-8")
    if (!all(m$feature_names %in% names(x))) names(x) <- m$feature_names
    coded <- m$feature_types[match(names(x), m$feature_names)] == "category"
    x[coded] <- lapply(x[coded], trunc) # as the other programs do
    if (name == "xgb_cat_text") x$colour[x$colour == "\u00e9"] <- "<c3>"
    want <- utils::read.csv(file.path(folder, paste0(name, ".pred.csv")))
    raw <- grep("^(margin|raw)", names(want))
    want <- as.matrix(want[if (length(raw)) raw else 1L])
    if (grepl("forest", name) && m$imported$program == "LightGBM") want <- want / m$nrounds
    if (name == "lgb_binary_sigmoid") want <- want * 2.5
    expect_identical(link_of(m, x, trees = m$nrounds), unname(want), info = name)
  }
})

test_that("classes are numbers, or have the names that are given", {
  m <- gbt_import(test_path("imported", "xgb_classes.json"))
  x <- imported_case("xgb_classes.json")$x
  expect_identical(predict(m, x, type = "class"), max.col(predict(m, x), "first") - 1)
  named <- gbt_import(test_path("imported", "xgb_classes.json"), classes = c("a", "b", "c"))
  expect_identical(levels(predict(named, x, type = "class")), c("a", "b", "c"))
  expect_identical(colnames(predict(named, x)), c("a", "b", "c"))
  two <- gbt_import(test_path("imported", "xgb_logistic.ubj"), classes = c("no", "yes"))
  expect_identical(predict(two, x, type = "class") == "yes", predict(two, x) > 0.5)
  expect_error(gbt_import(test_path("imported", "xgb_classes.json"), classes = "a"), "3 classes",
               class = "gbt_error_argument")
  expect_error(gbt_import(test_path("imported", "xgb_numbers.json"), classes = "a"), "leave it out",
               class = "gbt_error_argument")
})

test_that("counts that files repeat are compared", {
  read <- function(file) rawToChar(readBin(test_path("imported", file), "raw", 1e6))
  text <- read("lgb_numbers.txt")
  trees <- strsplit(text, "\n\nTree=|\nend of trees")[[1]]
  expect_gt(length(trees), 3)
  without <- sub(paste0("Tree=", trees[3]), "", text, fixed = TRUE)
  expect_lt(nchar(without), nchar(text))
  expect_error(gbt_import(charToRaw(without)), "`tree_sizes` is of another number", class = "gbt_error_format")
  expect_no_error(gbt_import(charToRaw(sub("tree_sizes=[^\n]*", "", without))))
  text <- read("xgb_numbers.json")
  change <- function(from, to) gbt_import(charToRaw(sub(from, to, text)))
  expect_error(change("\"num_trees\":\"[0-9]+\"", "\"num_trees\":\"2\""), "`num_trees`", class = "gbt_error_format")
  expect_error(change("\"iteration_indptr\":\\[[0-9,]*", "\"iteration_indptr\":[0,1"), "`iteration_indptr`",
               class = "gbt_error_format")
  expect_error(change("\"iteration_indptr\":\\[0,1,", "\"iteration_indptr\":[0,2,"), "different numbers of trees",
               class = "gbt_error_unsupported")
})

test_that("parameters that are out of range here are said", {
  text <- rawToChar(readBin(test_path("imported", "lgb_numbers.txt"), "raw", 1e6))
  with_alpha <- function(alpha) {
    changed <- sub("objective=regression", "objective=quantile", text)
    gbt_import(charToRaw(sub("\\[alpha: [^]]*\\]", sprintf("[alpha: %s]", alpha), changed)))
  }
  expect_no_warning(m <- with_alpha("0.25"))
  expect_identical(m$params$quantile_alpha, 0.25)
  expect_warning(m <- with_alpha("2"), "`alpha = 2` of LightGBM's file is out of gbt's range",
                 class = "gbt_warning_import")
  expect_identical(m$params$quantile_alpha, 0.5)
})

test_that("CatBoost's statistics of single columns are sets of levels, others are refused by name", {
  text <- rawToChar(readBin(test_path("imported", "cat_shares.json"), "raw", 1e6))
  change <- function(from, to, ..., all = FALSE) {
    changed <- (if (all) gsub else sub)(from, to, text, ...)
    expect_false(identical(changed, text))
    gbt_import(charToRaw(changed))
  }
  nodes <- as.data.frame(gbt_import(charToRaw(text)))
  by_set <- nodes$feature %in% c("a", "b")
  expect_true(any(by_set))
  expect_true(all(lengths(nodes$levels[by_set]) > 0))
  unsupported <- "gbt_error_unsupported"
  expect_error(change("\"cat_feature_value\"", "\"float_feature\"", all = TRUE, fixed = TRUE),
               "several columns together.*max_ctr_complexity = 1", class = unsupported)
  expect_error(change("\"(Borders|Counter)\", \"elements", "\"FeatureFreq\", \"elements", all = TRUE),
               "another type than `Borders`", class = unsupported)
  expect_error(change("cat_feature_params", "other", fixed = TRUE), "how they were made", class = unsupported)
  expect_error(change("\"per_feature_ctrs\": {}", "\"per_feature_ctrs\": {\"0\": []}", fixed = TRUE),
               "does not tell apart", class = unsupported)
  expect_error(change("\"Counter\", \"prior_est", "\"Borders\", \"prior_est", all = TRUE, fixed = TRUE),
               "does not tell apart", class = unsupported)
  expect_error(change("\"hash\": ", "\"hash\": 1", fixed = TRUE), "lacks texts", class = unsupported)
  damaged <- "gbt_error_format"
  expect_error(change("\"hash_stride\": 5", "\"hash_stride\": 4", fixed = TRUE), "`hash_map`", class = damaged)
  expect_error(change("\"18446744073709551615\"", "\"18446744073709551616\"", fixed = TRUE),
               "not a whole number of 64 bits", class = damaged)
  expect_error(change("\"prior_denomerator\": 1", "\"prior_denomerator\": 0", fixed = TRUE), "not above 0",
               class = damaged)
  expect_error(change("[0-9]+, \"split_type\": \"OnlineCtr\"", "999, \"split_type\": \"OnlineCtr\""),
               "that the file does not have", class = damaged)
  expect_error(change("\"identifier\": \"", "\"identifier\": \"x", fixed = TRUE), "`ctr_data` lacks", class = damaged)
  expect_error(change("\"6443654868583965155\"", "\"10521483699200365573\"", fixed = TRUE), "a hash twice",
               class = damaged)
  expect_error(change("\"elements\": [{\"cat_feature_index\": 0", "\"elements\": [{\"cat_feature_index\": 1",
                      fixed = TRUE), "of two columns", class = damaged)
  text <- rawToChar(readBin(test_path("imported", "cat_means.json"), "raw", 1e6)) # the last statistic:
  expect_error(change("^(.*)\"BinarizedTargetMeanValue\", \"elements", "\\1\"Borders\", \"elements"),
               "of two types", class = damaged)
})

# A file of CatBoost with statistics of rows (Counter), which are a record's count, 0 without one. tables: names and
# records. borders: data frame with the columns `table` and `border`, each of a statistic of its own; the column's
# number is `category`. splits: of each tree the numbers of borders, the last one at the root.
counter_file <- function(hash, texts, values, tables, borders, splits, leaves) {
  whole <- function(x) format(x, scientific = FALSE, trim = TRUE)
  list_of <- function(x) paste(x, collapse = ",")
  of_tables <- sprintf("\"%s\":{\"counter_denominator\":0,\"hash_map\":[%s],\"hash_stride\":2}", names(tables),
                       tables)
  n <- max(borders$category) + 1
  columns <- sprintf("{\"feature_name\":\"f%d\",\"flat_feature_index\":%d,\"values\":[%s]}", seq_len(n),
                     seq_len(n) - 1L, list_of(whole(values)))
  ctrs <- sprintf(paste0("{\"borders\":[%s],\"ctr_type\":\"Counter\",\"elements\":[{\"cat_feature_index\":%d,",
                         "\"combination_element\":\"cat_feature_value\"}],\"identifier\":\"%s\",",
                         "\"prior_denomerator\":1,\"prior_numerator\":0,\"scale\":1,\"shift\":0,",
                         "\"target_border_idx\":0}"),
                  borders$border, borders$category, borders$table)
  trees <- vapply(splits, function(its) {
    its <- sprintf("{\"border\":%s,\"split_index\":%d,\"split_type\":\"OnlineCtr\"}", borders$border[its],
                   its - 1L + n * length(values))
    sprintf("{\"leaf_values\":[%s],\"splits\":[%s]}", list_of(leaves), list_of(its))
  }, "")
  charToRaw(sprintf(paste0("{\"ctr_data\":{%s},\"features_info\":{\"cat_features_hash\":[%s],",
                           "\"categorical_features\":[%s],\"ctrs\":[%s]},\"model_info\":{\"params\":{",
                           "\"cat_feature_params\":{\"simple_ctrs\":[]}}},",
                           "\"oblivious_trees\":[%s],\"scale_and_bias\":[1,[0]]}"),
                    list_of(of_tables), list_of(sprintf("{\"hash\":%s,\"value\":\"%s\"}", whole(hash), texts)),
                    list_of(columns), list_of(ctrs), list_of(trees)))
}

test_that("each of CatBoost's statistics has its own table, whose names may be in any order", {
  for (n in c(1L, 2L, 3L, 8L, 29L)) {
    set.seed(n)
    tables <- stats::setNames(sprintf("\"7559133189996745755\",%d", seq_len(n)), strrep("t", seq_len(n) - 1L))
    borders <- data.frame(table = names(tables), category = seq_len(n) - 1L,
                          border = rep(c(-0.5, 0.5), each = n) + seq_len(n))[sample(2L * n), ]
    splits <- lapply(seq_len(n) - 1L, function(i) {
      its <- which(borders$category == i)
      its[order(borders$border[its])]
    })
    repeated <- c(tables[sample(n)], stats::setNames("\"7559133189996745755\",99", names(tables)[n])) # the first counts
    m <- gbt_import(counter_file(3193519379, "no", numeric(), repeated, borders, splits, c(0, 1, 0, 0)))
    x <- stats::setNames(as.data.frame(matrix(c("no", "other"), 2L, n)), paste0("f", seq_len(n)))
    expect_identical(predict(m, x), c(n, 0))
  }
})

test_that("borders that no level passes are empty sets, and levels times borders are bounded", {
  file <- function(n_levels, n_borders) {
    borders <- data.frame(table = "t", category = 0L, border = seq_len(n_borders))
    counter_file(seq_len(n_levels), paste0("v", seq_len(n_levels)), seq_len(n_levels), c(t = ""), borders,
                 seq_len(n_borders), c(1, 2))
  }
  m <- gbt_import(file(3, 2))
  expect_identical(predict(m, data.frame(f1 = c("v1", "v3", "other", NA))), c(2, 2, 2, 2))
  expect_identical(lengths(as.data.frame(m)$levels), integer(6))
  expect_error(gbt_import(file(65534, 1025)), "too many levels and borders", class = "gbt_error_unsupported")
})

test_that("CatBoost's categories are found by their hashes, whatever their order and sign", {
  n <- 300
  hash <- (seq_len(n) * 2654435761) %% 2^32
  signed <- ifelse(hash >= 2^31, hash - 2^32, hash)
  texts <- paste0("t", seq_len(n))
  whole <- function(x) format(x, scientific = FALSE, trim = TRUE)
  of_texts <- sprintf("{\"hash\":%s,\"value\":\"%s\"}", whole(hash), texts)
  level <- rev(seq_len(n))
  tree <- function(i) {
    sprintf(paste0("{\"leaf_values\":[0,%d],\"leaf_weights\":[1,1],\"splits\":[{\"cat_feature_index\":0,",
                   "\"split_type\":\"OneHotFeature\",\"value\":%s}]}"), i, whole(signed[i]))
  }
  file <- function(texts = of_texts, trees = seq_len(n)) {
    charToRaw(sprintf(paste0("{\"features_info\":{\"cat_features_hash\":[%s],\"categorical_features\":[{",
                             "\"feature_name\":\"f\",\"flat_feature_index\":0,\"values\":[%s]}]},",
                             "\"oblivious_trees\":[%s],\"scale_and_bias\":[1,[0]]}"),
                      paste(texts, collapse = ","), paste(whole(signed[level]), collapse = ","),
                      paste(vapply(trees, tree, ""), collapse = ",")))
  }
  m <- gbt_import(file())
  expect_identical(predict(m, data.frame(f = texts)), as.double(seq_len(n)))
  expect_identical(predict(m, data.frame(f = c("t0", "t1", NA))), c(0, 1, 0))
  first <- gbt_import(file(c(of_texts, sprintf("{\"hash\":%s,\"value\":\"again\"}", whole(hash[7])))))
  expect_identical(predict(first, data.frame(f = texts)), as.double(seq_len(n)))
  expect_error(gbt_import(file(of_texts[-9])), "lacks texts of categories", class = "gbt_error_unsupported")
})

test_that("several responses are columns, which have metrics, curves and intervals", {
  case <- imported_case("xgb_vectors.json")
  k <- ncol(case$scores)
  expect_identical(case$model$objective, "squared_error")
  expect_identical(case$model$columns, paste0("y", seq_len(k)))
  expect_identical(unname(predict(case$model, case$x)), case$scores)
  m <- gbt_import(test_path("imported", "xgb_vectors.json"), classes = c("p", "q", "r"))
  y <- case$scores + rep(c(-1, 0, 2), each = nrow(case$scores))
  colnames(y) <- c("p", "q", "r")
  found <- gbt_evaluate(m, case$x, y, metrics = c("mae@p", "mae@q", "mae@r"), threads = 1)
  expect_equal(found$estimate, c(1, 0, 2))
  expect_s3_class(gbt_curve(m, case$x, y = y, threads = 1), "gbt_curve")
  expect_named(predict(gbt_conformal(m, case$x, y, threads = 1), case$x[1:2, ], level = 0.5), c("p", "q", "r"))
  file <- withr::local_tempfile(fileext = ".gbt")
  gbt_save(m, file)
  expect_identical(predict(gbt_load(file), case$x), predict(m, case$x))
  json <- withr::local_tempfile(fileext = ".json")
  gbt_export(m, json)
  expect_identical(gbt_import(json)$columns, c("p", "q", "r"))
  expect_identical(gbt_import(json, classes = c("u", "v", "w"))$columns, c("u", "v", "w"))
  for (odd in list(c("p", "q"), c("p", "q", "q"), c("p", "q", NA), c("p", "q", ""), 1:3, list("p", "q", "r"), NA)) {
    expect_error(gbt_import(json, classes = odd), "`classes` must be the names of the 3 columns",
                 class = "gbt_error_argument")
  }
})

test_that("several labels of two classes are columns of probabilities", {
  text <- readChar(test_path("imported", "xgb_classes.json"), 1e7, useBytes = TRUE)
  case <- imported_case("xgb_classes.json")
  softmax <- "\"objective\":\\{\"name\":\"multi:softprob\",\"softmax_multiclass_param\":\\{[^}]*\\}\\}"
  text <- sub(softmax, "\"objective\":{\"name\":\"binary:logistic\",\"reg_loss_param\":{}}", text)
  m <- gbt_import(charToRaw(sub("\"base_score\":\"[^\"]*\"", "\"base_score\":\"[0.5,0.5,0.5]\"", text)))
  expect_identical(m$objective, "logistic")
  expect_identical(m$columns, c("y1", "y2", "y3"))
  expect_equal(unname(predict(m, case$x)), stats::plogis(link_of(m, case$x)))
  expect_identical(unname(predict(m, case$x, type = "class")), link_of(m, case$x) > 0)
  text <- readChar(test_path("imported", "cat_classes.json"), 1e7, useBytes = TRUE)
  case <- imported_case("cat_classes.json")
  of_loss <- c(MultiLogloss = "logistic", MultiCrossEntropy = "cross_entropy", MultiRMSE = "squared_error")
  for (loss in names(of_loss)) {
    m <- gbt_import(charToRaw(sub("\"MultiClass\"", paste0("\"", loss, "\""), text, fixed = TRUE)))
    expect_identical(m$objective, of_loss[[loss]])
    expect_identical(link_of(m, case$x), case$scores)
    expect_null(m$classes)
    want <- if (loss == "MultiRMSE") case$scores else stats::plogis(case$scores)
    expect_equal(unname(predict(m, case$x)), want)
  }
})

test_that("texts for levels that are numbers are a warning, in any number of rows", {
  m <- gbt_import(test_path("imported", "xgb_codes.json"))
  coded <- m$feature_names[m$feature_types == "category"][1]
  x <- as.data.frame(imported_case("xgb_codes.json")$x[1:3, ])
  names(x) <- m$feature_names
  x[[coded]] <- factor(c("u", "v", "u"))
  expect_warning(one <- predict(m, x[1, ]), "give the whole numbers", class = "gbt_warning_unseen")
  expect_warning(predict(m, x), coded, class = "gbt_warning_unseen")
  x[[coded]] <- c("u", "v", NA)
  expect_warning(predict(m, x), coded, class = "gbt_warning_unseen")
  expect_no_warning(predict(m, x, unseen = "prior"))
  x[[coded]] <- factor(c("u", "99", "u"))
  expect_no_warning(predict(m, x))
})

test_that("what an imported model cannot do is refused by name", {
  its <- imported_case("xgb_numbers.json")
  x <- as.data.frame(its$x)
  names(x) <- its$model$feature_names
  expect_error(gbt_train(x, its$scores[, 1], init_model = its$model, nrounds = 1, threads = 1), "imported from XGBoost",
               class = "gbt_error_unsupported")
  expect_error(gbt_refit(its$model, x = x, y = its$scores[, 1]), "imported from XGBoost",
               class = "gbt_error_unsupported")
})

test_that("files that are damaged, of others, or not offered are errors that say so", {
  path <- test_path("imported", "xgb_numbers.json")
  bytes <- readBin(path, "raw", file.size(path))
  expect_identical(gbt_import(bytes)$state, gbt_import(path)$state)
  text <- rawToChar(bytes)
  import <- function(from, to) gbt_import(charToRaw(sub(from, to, text, fixed = TRUE)))
  expect_error(gbt_import(bytes[1:1000]), "damaged", class = "gbt_error_format")
  expect_error(gbt_import(raw(0)), "not a model", class = "gbt_error_format")
  expect_error(gbt_import(charToRaw("{\"a\": [1, 2]}")), "not a model", class = "gbt_error_format")
  expect_error(import("\"gbtree\"", "\"gblinear\""), "gblinear", class = "gbt_error_unsupported")
  expect_error(import("\"left_children\":[1,", "\"left_children\":[900,"), "a child does not exist",
               class = "gbt_error_format")
  expect_error(import("\"left_children\":[1,", "\"left_children\":[0,"), "two parents", class = "gbt_error_format")
  expect_error(import("\"split_indices\":[", "\"split_indices\":[7"), "split_indices|does not exist",
               class = "gbt_error_format")
  expect_error(import("\"num_feature\":\"3\",\"num_target", "\"num_feature\":\"4000000000\",\"num_target"),
               "num_feature", class = "gbt_error_format")
  expect_error(gbt_import(withr::local_tempfile()), class = "gbt_error_io")
  expect_error(gbt_import(structure(list(), class = "xgb.Booster")), "xgb.save", class = "gbt_error_argument")
  expect_error(gbt_import(path, class = 2), class = "gbt_error_argument")
})

test_that("a device, or what plays one, does not change the scores", {
  skip_without_cuda()
  its <- imported_case("xgb_numbers.json")
  expect_identical(link_of(its$model, its$x, device = "cuda"), its$scores)
  expect_identical(predict(its$model, its$x, type = "contrib", device = "cuda"),
                   predict(its$model, its$x, type = "contrib"))
})

test_that("several quantiles are levels; what a file says is not sent to the terminal as it is", {
  case <- imported_case("xgb_classes.json")
  k <- case$model$n_outputs
  text <- readChar(test_path("imported", "xgb_classes.json"), 1e7, useBytes = TRUE)
  as_objective <- function(objective) {
    at <- regexpr("\"objective\":\\{\"name\":\"multi:softprob\",\"softmax_multiclass_param\":\\{[^}]*\\}\\}", text)
    expect_gt(at, 0)
    regmatches(text, at) <- sprintf("\"objective\":%s", objective)
    gbt_import(charToRaw(text))
  }
  quantiles <- function(alpha) {
    as_objective(sprintf("{\"name\":\"reg:quantileerror\",\"quantile_loss_param\":{\"quantile_alpha\":\"%s\"}}", alpha))
  }
  alpha <- seq_len(k) / (k + 1)
  m <- quantiles(sprintf("[%s]", paste(alpha, collapse = ",")))
  expect_identical(m$objective, "quantile")
  expect_identical(m$params$quantile_alpha, alpha)
  expect_identical(link_of(m, case$x), case$scores)
  expect_identical(unname(predict(m, case$x)), t(apply(case$scores, 1, sort)))
  file <- withr::local_tempfile(fileext = ".gbt")
  gbt_save(m, file)
  expect_identical(predict(gbt_load(file), case$x), predict(m, case$x))
  for (odd in c("[0.5]", "0.5", "[]", "[0.9,0.5,0.1]", "[0.1,0.5,1]", "[0.1,0.5,0.9,0.95,0.96]", "[0.1,0.5,0.9")) {
    expect_identical(quantiles(odd)$objective, "custom")
  }
  expect_output(print(as_objective("{\"name\":\"x\\n\\u001b[2J\",\"p\":{}}")), "x <1b>\\[2J")
})
