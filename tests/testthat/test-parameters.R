# gbt_parameters(): every parameter has its line, and is found by its names, topic and meaning.
p <- gbt_parameters()

test_that("every parameter is listed, with a line in each column", {
  numbers <- c(gbt:::host_table$name, gbt:::params_table()$name)
  known <- c(numbers, gbt:::argument_names, unlist(lapply(gbt:::objectives_table()$params, `[[`, "name")))
  expect_setequal(p$name, setdiff(known, "class_shares")) # which is `subsample` by class
  expect_false(anyDuplicated(p$name) > 0)
  for (field in c("default", "range", "meaning", "topic", "help")) {
    expect_identical(p$name[is.na(p[[field]]) | !nzchar(p[[field]])], character(0), label = field)
  }
  expect_false(anyNA(p))
  expect_identical(setdiff(names(gbt:::matters_with), p$name), character(0))
  expect_identical(setdiff(names(gbt:::help_pages), p$name), character(0))
  expect_setequal(p$name[startsWith(p$default, "by rule, else ")], gbt:::ruled_parameters())
  expect_identical(p$default[match(c("grow_policy", "sampling_method"), p$name)],
                   c("by rule, else depthwise", "uniform"))
  # all arguments of gbt_train() are there, but the data
  arguments <- names(formals(gbt:::gbt_train.data.frame))
  expect_identical(setdiff(arguments, c(p$name, "x", "y", "...", "params")), character(0))
})

test_that("where a parameter matters is what messages about it say", {
  agreed <- 0
  for (name in intersect(names(gbt:::matters_with), gbt:::params_table()$name)) {
    row <- as.list(gbt:::params_table()[gbt:::params_table()$name == name, ])
    value <- if (row$kind == "enum") strsplit(row$choices, "|", fixed = TRUE)[[1]][2] else row$low + 0.3
    args <- c(list(mtcars[-1], mtcars$mpg, nrounds = 1, threads = 1), stats::setNames(list(value), name))
    e <- tryCatch(do.call(gbt_train, args), gbt_error = conditionMessage)
    if (!is.character(e) || !grepl("is for|needs", e)) next
    matters <- p$matters[p$name == name] # the value that it needs, or the name of the parameter
    expect_match(e, if (grepl("\"", matters)) sub("^[^\"]*", "", matters) else sub(" .*", "", matters), fixed = TRUE)
    agreed <- agreed + 1
  }
  expect_gt(agreed, 3)
})

test_that("names in other packages are those of the table", {
  expect_match(p$aliases[p$name == "eta"], "learning_rate")
  expect_identical(p$lightgbm[p$name == "max_bin"], "max_bin, max_bins")
  expect_identical(p$catboost[p$name == "max_bin"], "max_bin, border_count")
  expect_identical(p$xgboost[p$name == "huber_delta"], "huber_slope")
  for (info in gbt:::objectives_table()$params) for (i in seq_along(info$name)) { # those that the engine reads
    shown <- strsplit(p$aliases[p$name == info$name[i]], ", ", fixed = TRUE)[[1]]
    expect_identical(setdiff(strsplit(info$aliases[i], "|", fixed = TRUE)[[1]], shown), character(0))
  }
  expect_identical(gbt_params(), p)
})

test_that("a whole name, in any spelling, gives one parameter; other texts are searched for", {
  for (i in seq_len(nrow(p))) expect_identical(gbt_parameters(p$name[i])$name, p$name[i])
  expect_identical(gbt_parameters("num_leaves")$name, "max_leaves")
  expect_identical(gbt_parameters("Max Depth")$name, "max_depth")
  expect_identical(gbt_parameters("early stopping")$name, "early_stopping_rounds")
  expect_true(all(c("early_stopping_rounds", "early_stopping_min_delta", "valid") %in% gbt_parameters("STOPPING")$name))
  expect_identical(gbt_parameters("min_child_")$name, c("min_child_weight", "min_data_in_leaf"))
  expect_true("hist_memory" %in% gbt_parameters("megabytes")$name)
  expect_identical(gbt_parameters("bagging_freq")$name, "subsample")
  expect_snapshot(error = TRUE, {
    gbt_parameters("lamda")
    gbt_parameters("...")
    gbt_parameters(3)
    gbt_parameters("")
  })
})

test_that("parameters are printed in at most 80 columns", {
  local_reproducible_output(width = 80)
  expect_lt(max(nchar(capture.output(print(p)))), 81)
  expect_snapshot({
    gbt_parameters("max_leaves")
    gbt_parameters("early stopping")
    gbt_parameters("penalty")
    gbt_parameters("bagging_freq")
  })
  expect_match(capture.output(print(p[1:2, c("name", "default")]))[1], "name +default")
})

# Help pages by name, each in its parsed form.
help_of_gbt <- function() {
  folder <- testthat::test_path("..", "..", "man")
  files <- list.files(folder, "[.]Rd$", full.names = TRUE)
  db <- if (length(files)) stats::setNames(lapply(files, tools::parse_Rd), basename(files)) else tools::Rd_db("gbt")
  if (length(db) == 0) skip("gbt was installed without its help")
  stats::setNames(db, sub("[.]Rd$", "", names(db)))
}
# Words in the labels of a page's items: of its arguments, and of bulleted lists whose items begin with names.
described <- function(rd) {
  text <- paste(as.character(rd), collapse = "")
  item <- c("\\\\item\\{[a-z0-9_., ]+\\}", "\\\\item +\\\\code\\{[a-z0-9_]+\\}[^:.\n]*:")
  labels <- regmatches(text, gregexpr(sprintf("(%s)", paste(item, collapse = "|")), text))[[1]]
  unlist(regmatches(labels, gregexpr("[a-z0-9_]+", labels)))
}

test_that("every parameter is described on one help page, the one that gbt_parameters() names", {
  db <- help_of_gbt()
  topics <- c("gbt_train", "gbt_parameters", "gbt_objectives", "gbt_metrics", "gbt_categories", "gbt_sampling",
              "gbt_devices", "gbt_sources", "gbt_ranks")
  expect_identical(setdiff(c(topics, sub("?", "", p$help, fixed = TRUE)), names(db)), character(0))
  items <- lapply(db[topics], described)
  own <- p$name[p$help != "?gbt_objectives" | p$name %in% c("objective", "softmax_hessian")]
  pages <- vapply(own, function(name) paste(topics[vapply(items, is.element, NA, el = name)], collapse = " "), "")
  everyday <- c(names(formals(gbt:::gbt_train.formula)), names(formals(gbt:::gbt_train.data.frame)))
  expected <- ifelse(own %in% everyday, "gbt_train", sub("?", "", p$help[match(own, p$name)], fixed = TRUE))
  expect_identical(pages, stats::setNames(expected, own))
  # the pages that say more name the parameter, and ?gbt_objectives names those of objectives
  texts <- vapply(db, function(rd) paste(as.character(rd), collapse = ""), "")
  for (i in seq_len(nrow(p))) {
    if (p$help[i] %in% c("?gbt_threads", "?gbt_callbacks", "?gbt_defaults")) next
    text <- texts[[sub("?", "", p$help[i], fixed = TRUE)]]
    expect_true(grepl(paste0("\\b", p$name[i], "\\b"), text), label = p$name[i])
  }
})

test_that("help.search() finds what users look for, and ?gbt_train stays short", {
  db <- help_of_gbt()
  of <- function(rd, tag) tolower(vapply(Filter(function(e) attr(e, "Rd_tag") == tag, rd), paste, "", collapse = ""))
  concepts <- lapply(db, of, "\\concept")
  wanted <- c("early stopping" = "gbt_metrics", "monotone" = "gbt_train", "prediction interval" = "gbt_conformal",
              importance = "gbt_importance", "missing values" = "gbt_sources", "imbalanced data" = "gbt_train",
              gpu = "gbt_devices", save = "gbt_save", "cross-validation" = "gbt_cv",
              "target encoding" = "gbt_categories", "learning rate" = "gbt_train", categorical = "gbt_categories",
              shapley = "gbt_shap", calibration = "gbt_calibrate", "larger than memory" = "gbt_sources",
              "hyperparameter tuning" = "gbt_tune", "accumulated local effects" = "gbt_partial")
  for (what in names(wanted)) {
    found <- any(grepl(what, concepts[[wanted[[what]]]], fixed = TRUE))
    expect_true(found, label = paste("a concept of its page:", what))
  }
  page <- db$gbt_train
  expect_identical(of(page, "\\name"), "gbt_train")
  expect_identical(of(page, "\\alias")[1], "gbt_train")
  words <- capture.output(tools::Rd2txt(page, options = list(underline_titles = FALSE)))
  expect_lt(length(unlist(strsplit(trimws(words), "[[:space:]]+"))), 3500)
})
