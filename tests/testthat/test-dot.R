test_that("every node and every edge of a tree stands in its text", {
  d <- data.frame(g = factor(rep(c("a \"b\"", "c\\d", "e"), 30)), x = sin(1:90))
  m <- gbt_train(d, d$x + as.integer(d$g), nrounds = 3, max_depth = 3, threads = 1)
  nodes <- as.data.frame(m)
  for (tree in 1:3) {
    dot <- gbt_dot(m, tree)
    own <- nodes[nodes$tree == tree, ]
    expect_length(grep("shape=box", dot), sum(is.na(own$left)))
    expect_length(grep("shape=ellipse", dot), sum(!is.na(own$left)))
    edge <- regmatches(dot, regexpr("n[0-9]+ -> n[0-9]+", dot))
    split <- own[!is.na(own$left), ]
    expect_setequal(edge, sprintf("n%d -> n%d", rep(split$node, 2), c(split$left, split$right)))
    expect_length(grep("missing", dot), sum(!is.na(split$missing)))
  }
  plain <- gsub("\\\\.", "", unlist(lapply(1:3, function(tree) gbt_dot(m, tree)))) # without what is escaped
  expect_true(all(lengths(regmatches(plain, gregexpr("\"", plain))) %in% c(0, 2, 4)))
  expect_output(print(gbt_dot(m)), "digraph tree_1 \\{")
  expect_error(gbt_dot(m, 4), "`tree` must be one whole number from 1 to 3", class = "gbt_error_argument")
  dot <- Sys.which("dot")
  if (nzchar(dot)) {
    file <- withr::local_tempfile(fileext = ".dot")
    writeLines(gbt_dot(m, 2), file)
    expect_identical(system2(dot, c("-Tplain", shQuote(file)), stdout = FALSE, stderr = FALSE), 0L)
  }
  classes <- gbt_train(Species ~ ., iris, nrounds = 1, threads = 1)
  expect_match(gbt_dot(classes, 3)[1], "tree_3")
})
