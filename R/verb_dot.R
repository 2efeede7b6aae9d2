# Trees as text in the language of Graphviz.

#' A tree as DOT text
#'
#' Writes a tree in the language of Graphviz, which draws it: `dot -Tpng tree.dot -o tree.png`.
#'
#' @param model A model from [gbt_train()].
#' @param tree Number of the tree, from 1, as in `as.data.frame(model)`.
#' @param digits Significant digits of gains, covers and values.
#' @param ... Must be empty: a misspelt argument is an error.
#' @return Text of class `gbt_dot`, one element a line; `print()` writes it out, and so does `writeLines()` to a file.
#' @seealso [plot.gbt_tree()], which draws without Graphviz; [gbt_methods] for the table of nodes
#' @examples
#' m <- gbt_train(mpg ~ ., mtcars, nrounds = 3, max_depth = 2, threads = 1)
#' gbt_dot(m, 2)
#' @export
gbt_dot <- function(model, tree = 1, digits = 4, ...) {
  check_no_dots(written_dots(...), names(formals(gbt_dot)))
  check_model(model, "model")
  digits <- check_whole(digits, "digits", 1, 15)
  info <- .Call(C_gbt_model_info, model$state, model$cache)
  tree <- check_tree(tree, model, info)
  nodes <- nodes_of_tree(model, info, tree)
  leaf <- is.na(nodes$left)
  value <- matrix(nodes$value, nrow(nodes))
  number <- function(v) vapply(v, function(one) format(one, digits = digits), "")
  value <- apply(value, 1L, function(v) paste(number(v), collapse = ", "))
  slopes <- vapply(slope_texts(nodes, digits, Inf), function(s) {
    paste0("\\n", dot_text(s), recycle0 = TRUE, collapse = "")
  }, "")
  text <- ifelse(leaf, paste0(mean_label(nodes), dot_text(value), slopes),
                 dot_text(paste(plain_text(nodes$feature), plain_text(nodes$split))))
  gain <- ifelse(leaf, "", paste0("\\ngain ", number(nodes$gain)))
  label <- paste0(text, gain, "\\ncover ", number(nodes$cover))
  split <- which(!leaf)
  edge <- function(child, word) {
    na <- ifelse(!is.na(nodes$missing[split]) & nodes$missing[split] == child, ", missing", "")
    sprintf("  n%d -> n%d [label=\"%s%s\"];", nodes$node[split], child, rep_len(word, length(split)), na)
  }
  out <- c(sprintf("digraph tree_%d {", tree), "  node [fontname=\"Helvetica\", fontsize=11];",
           "  edge [fontname=\"Helvetica\", fontsize=9];",
           sprintf("  n%d [shape=%s, label=\"%s\"];", nodes$node, ifelse(leaf, "box", "ellipse"), label),
           if (length(split)) c(edge(nodes$left[split], "yes"), edge(nodes$right[split], "no")), "}")
  structure(out, class = "gbt_dot")
}

# Text between double quotes.
dot_text <- function(x) gsub("\"", "\\\"", gsub("\\", "\\\\", x, fixed = TRUE), fixed = TRUE)

#' @export
print.gbt_dot <- function(x, ...) {
  cat(unclass(x), sep = "\n")
  invisible(x)
}
