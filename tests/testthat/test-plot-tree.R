# Helpers of drawings are in helper-drawing.R.

columns <- c("late", "carrier", "origin", "sched_dep_time", "distance", "weekday", "dest")
few <- flights[seq(1, nrow(flights), 12), columns]
sets <- gbt_train(late ~ ., few, nrounds = 2, grow_policy = "depthwise", max_depth = 5, cat_method = "sets",
                  threads = 2)

test_that("a tree has the rows of as.data.frame(), whatever trees a round has", {
  classes <- gbt_train(Species ~ ., iris, nrounds = 3, grow_policy = "depthwise", max_depth = 3, threads = 1)
  forest <- gbt_train(mpg ~ ., mtcars, nrounds = 2, num_parallel_tree = 2, subsample = 0.5, seed = 1, threads = 1)
  for (m in list(classes, forest, sets, vectors())) {
    all <- as.data.frame(m)
    n <- max(all$tree)
    for (tree in seq_len(n)) {
      t <- gbt_tree(m, tree)
      own <- all[all$tree == tree, ]
      row.names(own) <- NULL
      expect_identical(as.data.frame(t)[names(own)], own)
      expect_identical(t$n_trees, n)
      expect_identical(t$nodes$leaves[1], sum(is.na(own$left)))
      expect_identical(t$output, if (!is.na(own$output[1])) own$output[1])
    }
  }
})

test_that("parts of trees keep what is above their depth and count what is below", {
  whole <- gbt_tree(sets, 1)$nodes
  for (node in c(0, 2, max(whole$node))) {
    for (depth in c(0:2, 6)) {
      part <- gbt_tree(sets, 1, node, depth)$nodes
      expect_lte(max(part$depth), depth)
      expect_identical(part$node[1], as.integer(node))
      expect_identical(sum(part$leaves[is.na(part$left)]), whole$leaves[whole$node == node])
      kind <- gbt:::node_kinds(part)
      expect_true(all(part$depth[kind == "cut"] == depth))
      expect_identical(part$leaves[kind == "split"], whole$leaves[match(part$node, whole$node)][kind == "split"])
      if (depth == 6) expect_false(any(kind == "cut"))
    }
  }
})

# A random tree as the layout sees it: children after their parents.
random_tree <- function(leaves) {
  left <- right <- NA_integer_
  depth <- 0L
  while (length(left) < 2 * leaves - 1) {
    at <- sample(rep(which(is.na(left)), 2), 1)
    n <- length(left)
    left[at] <- n
    right[at] <- n + 1L
    left <- c(left, NA, NA)
    right <- c(right, NA, NA)
    depth <- c(depth, depth[at] + 1:1, depth[at] + 1L)
  }
  data.frame(node = seq_along(left) - 1L, left = left, right = right, depth = depth)
}

test_that("siblings stand apart, parents over the middle of their children, and no layer is wider than it must be", {
  set.seed(1)
  for (leaves in c(1:9, 15:17, 31:33, 64)) {
    nodes <- random_tree(leaves)
    wide <- runif(nrow(nodes), 0.5, 2)
    at <- gbt:::tidy_places(nodes, wide, 0.25)
    expect_equal(min(at - wide / 2), 0)
    split <- which(!is.na(nodes$left))
    children <- cbind(at[nodes$left[split] + 1], at[nodes$right[split] + 1])
    expect_equal(at[split], rowMeans(children))
    expect_true(all(children[, 1] < children[, 2]))
    apart <- unlist(lapply(split(seq_along(at), nodes$depth), function(i) {
      i <- i[order(at[i])]
      if (length(i) > 1) at[i[-1]] - wide[i[-1]] / 2 - (at[i] + wide[i] / 2)[-length(i)]
    }))
    if (leaves > 1) expect_equal(min(apart), 0.25)
    order <- gbt:::preorder_rows(nodes)
    visit <- function(i) c(i, if (!is.na(nodes$left[i])) c(visit(nodes$left[i] + 1L), visit(nodes$right[i] + 1L)))
    expect_identical(order, visit(1L))
  }
})

test_that("trees of every kind are drawn with all that they show, in every size", {
  symmetric <- gbt_train(late ~ ., few, nrounds = 1, max_depth = 3, grow_policy = "symmetric", threads = 2)
  statistics <- gbt_train(late ~ ., few, nrounds = 1, max_depth = 3, cat_method = "target", threads = 2)
  classes <- gbt_train(Species ~ ., iris, nrounds = 1, grow_policy = "depthwise", max_depth = 3, threads = 1)
  for (t in list(gbt_tree(sets), gbt_tree(sets, 2, 1), gbt_tree(symmetric), gbt_tree(statistics), gbt_tree(classes, 3),
                 gbt_tree(vectors()), gbt_tree(sets, 1, max(gbt_tree(sets)$nodes$node)))) {
    for (direction in if (is.null(t$output)) "auto" else c("down", "right")) {
      in_sizes(plot(t, direction = direction), function(record, size) {
        drawn <- record$texts
        below <- sum(as.numeric(sub(" .*", "", grep("leaves", drawn$text[drawn$what == "cut"], value = TRUE))))
        leaves <- sum(drawn$what == "leaf" & !grepl("^[+]", drawn$text))
        if (!is.matrix(t$nodes$value)) expect_equal(leaves + below, t$nodes$leaves[1])
        expect_identical(below > 0, "note" %in% drawn$what)
        n <- sum(drawn$what == "branch")
        expect_identical(n, sum(grepl("yes", drawn$text[drawn$what == "branch"])) * 2L)
      })
    }
  }
  full <- drawn_record(plot(gbt_tree(statistics)))
  expect_false("note" %in% full$texts$what)
  nodes <- as.data.frame(gbt_tree(statistics))
  expect_setequal(unique(full$texts$text[full$texts$what == "branch" & grepl("NA", full$texts$text)]),
                  ifelse(na.omit(nodes$missing) %in% nodes$left, "yes, NA", "no, NA"))
  expect_identical(labels_of(drawn_record(plot(sets, tree = 2, main = "mine")), "title"), "mine")
  none <- drawn_record(plot(gbt_tree(statistics), show = NULL))
  expect_false(any(grepl("gain|cover", none$texts$text)))
})

test_that("sets of levels lose levels and say how many", {
  expect_identical(gbt:::level_set_text("a", 1L), "in a")
  expect_identical(gbt:::level_set_text(c("ab", "cd"), 8L), "in ab, cd")
  expect_identical(gbt:::level_set_text(letters, 9L), "in a, b, c, +23 more")
  expect_identical(gbt:::level_set_text(c(strrep("x", 50), "b"), 9L), paste0("in ", strrep("x", 50), ", +1 more"))
  for (most in 4:12) {
    short <- gbt:::shorten_letters(strrep("abc", 1:6), most)
    expect_true(all(nchar(short) <= most))
    expect_identical(short[1], "abc")
  }
})

test_that("branches are as wide as their cover, and wide enough to be seen", {
  nodes <- gbt_tree(sets, 1)$nodes
  nodes$cover[1:4] <- c(10, 0, NaN, 20)
  expect_equal(gbt:::branch_widths(nodes)[1:4], c(4, 0.8, 0.8, 4))
  drawn(expect_invisible(plot(sets, tree = 1, node = 0, depth = 1)))
})

test_that("the list of a tree has every node once, and what is wrong is said", {
  out <- capture.output(print(gbt_tree(sets, 2), top = 1000))
  nodes <- as.data.frame(gbt_tree(sets, 2))
  expect_setequal(as.integer(sub("^ *([0-9]+)\\).*$", "\\1", out[-1])), nodes$node)
  expect_identical(nchar(sub("^( *).*$", "\\1", out[-1])) / 2, as.double(nodes$depth[gbt:::preorder_rows(nodes)]))
  expect_output(print(gbt_tree(sets, 1), top = 2), "and [0-9]+ more")
  empty <- sets[0]
  expect_snapshot(error = TRUE, {
    gbt_tree()
    gbt_tree(sets, 3)
    gbt_tree(sets, 1, node = 1000)
    gbt_tree(sets, 1, depth = -1)
    gbt_tree(empty)
    plot(sets, tree = 1, from = 2)
    plot(gbt_tree(sets), col = "red")
    plot(gbt_tree(sets), show = "gian")
    plot(gbt_tree(sets), size = 3)
    plot(sets, depth = 2)
  })
})
