# One tree of a model, whole or a part of it: what plot() and print() of trees show.

#' Nodes of a tree, to print or draw
#'
#' Takes one tree of a model, or the part of it below a node. `plot()` draws it, `print()` writes it as an indented
#' list.
#'
#' Cover and count of nodes are those of the rows that leaf values were fitted to. Where factors are encoded by ordered
#' statistics (`cat_method`, see [gbt_categories]), trees are grown by the statistics of one order of the rows, and
#' their values are fitted by those of another one. So a few nodes may have a cover of 0 and still have a gain.
#'
#' @param model A model from [gbt_train()].
#' @param tree Number of the tree, from 1, as in `as.data.frame(model)`.
#' @param node Number of the node that is the root of the part; 0 is the tree's.
#' @param depth How many layers of splits below that node to keep; `NULL` for all. What is below is counted.
#' @param ... Must be empty: a misspelt argument is an error.
#' @return An object of class `gbt_tree`, a list with
#'   \item{tree, n_trees, round}{number of the tree, number of trees, and the round of the tree}
#'   \item{output}{the class, column, level or parameter whose score the tree adds to, or `NULL`}
#'   \item{nodes}{rows of the table of nodes (see [gbt_methods]) with `depth`, from 0, and `leaves`, the number of
#'     leaves below (1 for a leaf). Nodes whose children are left out have `leaves` of 2 and more, and `left` is `NA`.
#'     With `leaf_model = "linear"` there are `intercept`, `slopes`, `low` and `high` of linear leaves as well}
#'
#'   `as.data.frame()` gives `nodes`.
#' @seealso [plot.gbt_tree()], [gbt_dot()] for Graphviz
#' @examples
#' m <- gbt_train(Species ~ ., iris, nrounds = 3, max_depth = 3, threads = 1)
#' gbt_tree(m, 2)
#' plot(gbt_tree(m, 2))
#' plot(gbt_tree(m, 2, node = 2))
#' @export
gbt_tree <- function(model, tree = 1, node = 0, depth = NULL, ...) {
  check_no_dots(written_dots(...), names(formals(gbt_tree)))
  if (missing(model)) stop_argument("`model` is missing: gbt_tree(model, tree)", "model")
  check_model(model, "model")
  info <- .Call(C_gbt_model_info, model$state, model$cache)
  tree <- check_tree(tree, model, info)
  nodes <- nodes_of_tree(model, info, tree)
  node <- check_whole(node, "node", 0, max(nodes$node))
  if (!is.null(depth)) depth <- check_whole(depth, "depth", 0)
  nodes$leaves <- leaves_below(nodes)
  nodes <- part_of_tree(nodes, node, given_or(depth, Inf))
  output <- nodes$output[1L]
  structure(class = "gbt_tree", list(tree = tree, n_trees = as.integer(model$nrounds * trees_of_round(info)),
                                     round = nodes$round[1L], output = if (!is.na(output)) output, nodes = nodes))
}

check_tree <- function(tree, model, info) {
  n_trees <- model$nrounds * trees_of_round(info)
  if (n_trees == 0) stop_argument("the model has no trees", "model")
  check_whole(tree, "tree", 1, n_trees)
}

# The rows of as.data.frame() for one tree. Only its round is listed: a model may have millions of nodes.
nodes_of_tree <- function(model, info, tree) {
  per_round <- trees_of_round(info)
  round <- (tree - 1) %/% per_round + 1
  nodes <- as.data.frame.gbt(model[round])
  nodes <- subset_rows(nodes, which(nodes$tree == (tree - 1) %% per_round + 1))
  nodes$tree[] <- as.integer(tree)
  nodes$round[] <- as.integer(round)
  nodes
}

# Rows of the children, NA for leaves. Children come after their parents.
child_rows <- function(nodes) {
  list(left = match(nodes$left, nodes$node), right = match(nodes$right, nodes$node))
}

leaves_below <- function(nodes) {
  child <- child_rows(nodes)
  leaves <- rep(1L, nrow(nodes))
  for (i in rev(which(!is.na(child$left)))) leaves[i] <- leaves[child$left[i]] + leaves[child$right[i]]
  leaves
}

# The nodes from `root` on, at most `most` layers below it, with their depths.
part_of_tree <- function(nodes, root, most) {
  child <- child_rows(nodes)
  depth <- rep(NA_integer_, nrow(nodes))
  depth[match(root, nodes$node)] <- 0L
  for (i in which(!is.na(child$left))) {
    if (!is.na(depth[i]) && depth[i] < most) depth[c(child$left[i], child$right[i])] <- depth[i] + 1L
  }
  nodes$depth <- depth
  nodes <- subset_rows(nodes, which(!is.na(depth)))
  cut <- which(!nodes$left %in% nodes$node)
  nodes$left[cut] <- nodes$right[cut] <- NA_integer_
  nodes
}

# Kinds of nodes: "split", "leaf", or "cut" where what is below is left out.
node_kinds <- function(nodes) ifelse(!is.na(nodes$left), "split", ifelse(nodes$leaves > 1L, "cut", "leaf"))

# How each node is reached from its parent: "yes", "no", with "NA" where missing values go; "" for the root.
branch_texts <- function(nodes) {
  out <- character(nrow(nodes))
  split <- which(!is.na(nodes$left))
  left <- match(nodes$left[split], nodes$node)
  right <- match(nodes$right[split], nodes$node)
  missing <- nodes$missing[split]
  out[left] <- ifelse(!is.na(missing) & missing == nodes$left[split], "yes, NA", "yes")
  out[right] <- ifelse(!is.na(missing) & missing == nodes$right[split], "no, NA", "no")
  out
}

# The condition of each split, at most `chars` characters after the feature. Long sets are cut between levels.
condition_texts <- function(nodes, chars = 24L) {
  out <- plain_text(nodes$split)
  for (i in which(lengths(unclass(nodes$levels)) > 0L)) out[i] <- level_set_text(unclass(nodes$levels)[[i]], chars)
  out
}

# "in a, b, +3 more"
level_set_text <- function(levels, chars) {
  levels <- plain_text(levels)
  width <- nchar(levels, "width")
  if (length(levels) > 1L) {
    shown <- max(1L, sum(cumsum(width + 2L) <= chars))
    if (shown < length(levels)) {
      return(sprintf("in %s, +%d more", paste(levels[seq_len(shown)], collapse = ", "), length(levels) - shown))
    }
  }
  paste("in", paste(levels, collapse = ", "))
}

# The value of each leaf: a text, or of vectors the `most` largest, each with its output; of linear leaves the constant,
# then `most` slopes. A list of texts.
leaf_texts <- function(nodes, digits = 3L, most = 3L) {
  value <- matrix(nodes$value, nrow(nodes), dimnames = list(NULL, colnames(nodes$value)))
  if (ncol(value) == 1L) {
    return(Map(c, paste0(mean_label(nodes), number_label(value[, 1L], digits)), slope_texts(nodes, digits, most),
               USE.NAMES = FALSE))
  }
  name <- plain_text(given_or(colnames(value), seq_len(ncol(value))))
  lapply(seq_len(nrow(value)), function(i) {
    at <- utils::head(order(-abs(value[i, ]), seq_along(name)), if (length(name) > most) most - 1L else most)
    more <- length(name) - length(at)
    c(paste0(name[at], ": ", number_label(value[i, at], digits)), if (more) sprintf("+%d more", more))
  })
}

# Before the value of each node: that of a leaf with slopes is no intercept.
mean_label <- function(nodes) {
  slopes <- unclass(nodes$slopes)
  ifelse(if (is.null(slopes)) logical(nrow(nodes)) else lengths(slopes) > 0L, "at the mean: ", "")
}

# "slope of wt: -0.5", a list of texts; those of the features that the tree split by last, which stand first.
slope_texts <- function(nodes, digits, most) {
  slopes <- unclass(nodes$slopes)
  if (is.null(slopes)) return(vector("list", nrow(nodes)))
  lapply(slopes, function(slope) {
    at <- seq_len(if (length(slope) > most) most - 1L else length(slope))
    more <- length(slope) - length(at)
    c(if (length(at)) sprintf("slope of %s: %s", shorten_letters(plain_text(names(slope)[at]), 24L),
                              number_label(slope[at], digits)), if (more) sprintf("+%d more", more))
  })
}

tree_title <- function(x) {
  root <- x$nodes$node[1L]
  paste0(sprintf("Tree %.0f of %.0f", x$tree, x$n_trees), if (root > 0L) sprintf(", below node %d", root))
}

tree_words <- function(x) {
  paste(c(sprintf("round %d", x$round), if (!is.null(x$output)) sprintf("for %s", plain_text(x$output)),
          counted(x$nodes$leaves[1L], if (x$nodes$leaves[1L] == 1L) "leaf" else "leave"),
          linear_words(x$nodes)), collapse = ", ")
}

linear_words <- function(nodes) {
  n <- sum(lengths(unclass(nodes$slopes)) > 0L)
  if (n > 0L) sprintf("%d of those shown %s linear", n, if (n == 1L) "is" else "are")
}

#' @export
as.data.frame.gbt_tree <- function(x, row.names = NULL, optional = FALSE, ...) x$nodes

#' @export
print.gbt_tree <- function(x, digits = max(3L, getOption("digits") - 3L), top = 60L, ...) {
  digits <- check_digits(digits, 3L)
  top <- check_whole(top, "top", 1)
  nodes <- x$nodes
  cat(sprintf("<gbt_tree> %s, %s\n", sub("Tree", "tree", tree_title(x), fixed = TRUE), tree_words(x)))
  at <- preorder_rows(nodes)
  shown <- utils::head(at, top)
  kind <- node_kinds(nodes)[shown]
  text <- character(length(shown))
  split <- which(kind == "split")
  number <- function(v) vapply(v, format, "", digits = digits)
  at_split <- shown[split]
  figures <- sprintf("gain %s, cover %s", number(nodes$gain[at_split]), number(nodes$cover[at_split]))
  figures[nodes$gain[at_split] == 0 & nodes$cover[at_split] == 0] <- "no rows" # frequent in symmetric trees
  text[split] <- sprintf("%s %s  (%s)", plain_text(nodes$feature[at_split]), condition_texts(nodes, 40L)[at_split],
                         figures)
  cut <- which(kind == "cut")
  text[cut] <- sprintf("%d leaves below  (cover %s)", nodes$leaves[shown[cut]], number(nodes$cover[shown[cut]]))
  leaf <- which(kind == "leaf")
  value <- vapply(leaf_texts(nodes, digits, 6L), paste, "", collapse = ", ")
  text[leaf] <- sprintf("%s  (cover %s)", value[shown[leaf]], number(nodes$cover[shown[leaf]]))
  branch <- branch_texts(nodes)[shown]
  cat(sprintf("%s%d) %s%s\n", strrep("  ", nodes$depth[shown]), nodes$node[shown],
              ifelse(nzchar(branch), paste0(branch, ": "), ""), text), sep = "")
  if (length(at) > top) cat(sprintf("and %d more\n", length(at) - top))
  invisible(x)
}

# Rows of the nodes so that each is followed by its left part, then its right one.
preorder_rows <- function(nodes) {
  child <- child_rows(nodes)
  size <- rep(1L, nrow(nodes))
  split <- which(!is.na(child$left))
  for (i in rev(split)) size[i] <- 1L + size[child$left[i]] + size[child$right[i]]
  place <- rep(1L, nrow(nodes))
  for (i in split) {
    place[child$left[i]] <- place[i] + 1L
    place[child$right[i]] <- place[i] + 1L + size[child$left[i]]
  }
  order(place)
}
