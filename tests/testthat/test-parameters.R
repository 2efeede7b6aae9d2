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
  expect_identical(setdiff(sub("?", "", p$help, fixed = TRUE), c(getNamespaceExports("gbt"), "gbt_callbacks")),
                   character(0))
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

test_that("the help of gbt_train() says what each parameter does", {
  page <- testthat::test_path("..", "..", "man", "gbt_train.Rd")
  db <- if (file.exists(page)) list(gbt_train.Rd = tools::parse_Rd(page)) else tools::Rd_db("gbt")
  if (is.null(db[["gbt_train.Rd"]])) skip("gbt was installed without its help")
  text <- paste(as.character(db[["gbt_train.Rd"]]), collapse = "")
  items <- regmatches(text, gregexpr("(\\\\item\\{[a-z_.,]+\\}|\\\\item +[^:]*:)", text))[[1]]
  said <- unlist(regmatches(items, gregexpr("[a-z0-9_]+", items)))
  own <- setdiff(p$name[p$help != "?gbt_objectives" | p$name == "objective"], c("tree_method", "num_class", "mtry"))
  expect_identical(setdiff(own, said), character(0))
})
