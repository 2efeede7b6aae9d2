# The table of all nodes of a model.

#' @rdname gbt_methods
#' @export
as.data.frame.gbt <- function(x, row.names = NULL, optional = FALSE, ...) {
  check_model(x, "x")
  if (identical(environmentName(topenv(parent.frame())), "knitr")) { # kable(model): megabytes of nodes
    return(as.data.frame(gbt_importance(x)))
  }
  nodes <- .Call(C_gbt_model_nodes, x$state, x$cache)
  info <- .Call(C_gbt_model_info, x$state, x$cache)
  info$levels <- .Call(C_gbt_model_levels, x$state, x$cache)
  per_round <- trees_of_round(info)
  feature <- nodes$feature + 1L
  is_leaf <- is.na(nodes$left)
  levels <- node_levels(nodes, feature, info)
  outputs <- output_labels(x)
  output <- if (is.null(outputs) || info$n_leaf_outputs > 1L) {
    rep(NA_character_, length(feature))
  } else {
    outputs[(nodes$tree %% per_round) %/% info$n_parallel + 1L]
  }
  if (is.matrix(nodes$value)) colnames(nodes$value) <- outputs
  nodes$threshold <- shown_thresholds(nodes$threshold, feature, info)
  never_missing <- lengths(info$shown)[feature] > 0L
  missing <- replace(ifelse(nodes$missing_left, nodes$left, nodes$right), is_leaf | never_missing, NA_integer_)
  out <- list(
    tree = nodes$tree + 1L, round = as.integer(nodes$tree %/% per_round) + 1L, output = output, node = nodes$node,
    feature = feature_labels(x, info)[feature], split = split_texts(nodes, feature, levels, info),
    threshold = nodes$threshold, levels = level_sets(levels), left = nodes$left, right = nodes$right, missing = missing,
    gain = replace(nodes$gain, is_leaf, NA_real_), cover = nodes$cover, count = nodes$count, value = nodes$value
  )
  for (name in x$imported$lacks) out[[name]][] <- NA # the file does not say
  list_frame(c(out, slope_columns(x, length(feature), info)), length(feature))
}

# Columns that the table of n nodes has besides where leaves are linear.
slope_columns <- function(model, n, info) {
  its <- .Call(C_gbt_model_slopes, model$state, model$cache)
  if (is.null(its) && !identical(model$params[["leaf_model"]], "linear")) return(NULL)
  none <- rep(NA_real_, n)
  if (is.null(its)) return(list(intercept = none, slopes = leaf_slopes(vector("list", n)), low = none, high = none))
  label <- feature_labels(model, info)
  slopes <- vector("list", n)
  for (i in which(lengths(its$slope) > 0L)) {
    slopes[[i]] <- stats::setNames(its$slope[[i]], label[its$feature[[i]] + 1L])
  }
  list(intercept = its$intercept, slopes = leaf_slopes(slopes), low = its$low, high = its$high)
}

# Slopes of the leaves of a table of nodes: by leaf a named vector, NULL where it has none.
leaf_slopes <- function(x) structure(x, class = c("gbt_leaf_slopes", "list"))

#' @export
`[.gbt_leaf_slopes` <- function(x, i) leaf_slopes(unclass(x)[i])

#' @export
as.character.gbt_leaf_slopes <- function(x, ...) {
  vapply(unclass(x), function(s) {
    if (is.null(s)) NA_character_ else paste(names(s), vapply(s, format, "", digits = 4L), collapse = ", ")
  }, "")
}

#' @export
format.gbt_leaf_slopes <- function(x, ...) as.character.gbt_leaf_slopes(x)

#' @export
print.gbt_leaf_slopes <- function(x, ...) {
  print(unclass(x), ...)
  invisible(x)
}

# Nodes have one value for each leaf. what: ends the message.
check_constant_leaves <- function(model, what) {
  if (!identical(model$params[["leaf_model"]], "linear")) return(invisible())
  stop_unsupported(paste("the model has linear leaves,", what), "leaf_model")
}

# Names of features. The share of a class has the class's name. A derived feature gets ".1" appended if a column has the
# same name.
feature_labels <- function(model, info) {
  labels <- name_parts(info$features, which(!is.na(info$part)), info$part, model$classes)
  repeat {
    same <- info$column == 0L & labels %in% info$names
    if (!any(same)) return(labels)
    labels[same] <- paste0(labels[same], ".1")
  }
}

# at: the features that are made of a part of the response. classes: NULL where it is a number.
name_parts <- function(labels, at, part, classes) {
  if (!length(at)) return(labels)
  labels[at] <- if (is.null(classes)) {
    sub(", ([0-9]+)\\)$", ", above quartile \\1)", labels[at])
  } else {
    paste0(sub("[0-9]+\\)$", "", labels[at]), classes[part[at]], ")")
  }
  labels
}

# Statistics are split by the number of a bin; people see the largest value of the bin.
shown_thresholds <- function(threshold, feature, info) {
  for (f in which(lengths(info$shown) > 0L)) {
    at <- which(feature == f)
    border <- info$shown[[f]]
    bin <- pmin(floor(threshold[at]), length(border)) # below 0: no bin; the last one has no border
    threshold[at] <- ifelse(bin < 0, -Inf, c(border, Inf)[pmax(bin, 0) + 1])
  }
  threshold
}

# Texts of the levels that go left; NULL where a node has none. Nodes with the same set share the texts.
node_levels <- function(nodes, feature, info) {
  out <- vector("list", length(feature))
  own <- which(lengths(nodes$set) > 0L & nodes$same_set == seq_along(feature))
  for (i in own) out[[i]] <- info$levels[[info$column[feature[i]]]][nodes$set[[i]] + 1L]
  sharing <- which(nodes$same_set < seq_along(feature))
  out[sharing] <- out[nodes$same_set[sharing]]
  out
}

split_texts <- function(nodes, feature, levels, info) {
  out <- rep(NA_character_, length(feature))
  number <- which(!is.na(nodes$threshold))
  by_feature <- split(number, feature[number])
  for (key in names(by_feature)) {
    at <- by_feature[[key]]
    column <- info$column[as.integer(key)]
    texts <- if (column > 0L) {
      threshold_texts(nodes$threshold[at], info$type[column], info$tag[column], info$levels[[column]])
    } else {
      threshold_texts(nodes$threshold[at], "numeric", "double", NULL)
    }
    out[at] <- paste("<=", texts)
  }
  sets <- which(lengths(levels) > 0L)
  own <- sets[nodes$same_set[sets] == sets]
  out[own] <- vapply(levels[own], function(l) paste("in", enumerate(l, 20L, quote = "")), "")
  out[sets] <- out[nodes$same_set[sets]]
  empty <- which(!is.na(feature) & is.na(out)) # nothing but missing values goes left
  out[empty] <- "in none"
  out
}

# Thresholds as what the column was: numbers, dates, times, levels of an ordered factor.
threshold_texts <- function(threshold, type, tag, levels) {
  if (type == "ordinal") {
    at <- pmin(pmax(floor(threshold) + 1, 0), length(levels))
    return(c("none", levels)[at + 1])
  }
  if (tag == "Date") return(format(structure(floor(threshold), class = "Date")))
  if (tag == "POSIXct") {
    return(format(structure(threshold, class = c("POSIXct", "POSIXt"), tzone = "UTC"), usetz = TRUE))
  }
  unit <- if (grepl("^(difftime|units):", tag)) paste0(" ", unit_of(tag)) else ""
  paste0(vapply(threshold, function(v) format(v, digits = 7L), ""), unit)
}

# The column `levels`: a list, as text where a table is written or shown. "list" is for vctrs, which takes no other.
level_sets <- function(x) structure(x, class = c("gbt_level_sets", "list"))

#' @export
`[.gbt_level_sets` <- function(x, i) level_sets(unclass(x)[i])

#' @export
as.character.gbt_level_sets <- function(x, ...) {
  vapply(unclass(x), function(l) if (is.null(l)) NA_character_ else paste(l, collapse = " | "), "")
}

#' @export
format.gbt_level_sets <- function(x, ...) as.character.gbt_level_sets(x)

#' @export
print.gbt_level_sets <- function(x, ...) {
  print(unclass(x), ...)
  invisible(x)
}

#' @rdname gbt_methods
#' @export
summary.gbt <- function(object, ...) {
  check_model(object)
  nodes <- .Call(C_gbt_model_nodes, object$state, object$cache)
  leaf <- is.na(nodes$left)
  leaves <- tabulate(nodes$tree[leaf] + 1L, max(nodes$tree, -1L) + 1L)
  structure(class = "summary.gbt", list(
    model = object, importance = gbt_importance(object), bytes = length(object$state),
    n_trees = length(leaves), leaves = leaves, depth = tree_depths(nodes), parameters = params_frame(object)
  ))
}
