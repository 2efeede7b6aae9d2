# Partial dependence by the covers of a model's trees, without going through rows: gbt_partial(method = "recursion").

# type: "link"; asked: see partial_by_rows(). x: NULL, or data that the grid is taken from.
partial_by_cover <- function(model, x, asked) {
  check_constant_leaves(model, "for which there is no `method = \"recursion\"`; give `data` and leave `method` out")
  if (!is.null(model$terms$features)) {
    stop_unsupported(paste("`method = \"recursion\"` cannot be combined with a formula that computes features, such as",
                           "log(a); give `data` and leave `method` out"), "method")
  }
  info <- .Call(C_gbt_model_info, model$state, model$cache)
  info$levels <- .Call(C_gbt_model_levels, model$state, model$cache)
  columns <- check_effect_columns(asked$columns, info$names)
  at <- match(columns, info$names)
  used <- keep_rounds(model, asked$rounds)
  nodes <- .Call(C_gbt_model_nodes, used$state, used$cache)
  made <- unique(nodes$feature[!is.na(nodes$left)]) + 1L
  made <- made[info$column[made] == 0L & vapply(info$columns[made], function(c) any(c %in% at), NA)]
  if (length(made)) {
    stop_unsupported(sprintf(paste("`method = \"recursion\"` cannot compute %s at other values of `%s`: give",
                                   "`data` and leave `method` out"), enumerate(feature_labels(model, info)[made], 3L),
                             columns[match(TRUE, at %in% unlist(info$columns[made]))]), "method")
  }
  spread <- list()
  if (is.null(x)) {
    own <- lapply(at, function(j) values_of_model(nodes, info, j))
    n <- max(lengths(own))
    x <- list_frame(stats::setNames(lapply(own, function(v) subset_rows(v, rep_len(seq_along(v), n))), columns), n)
  } else {
    spread <- lapply(stats::setNames(nm = columns), function(name) spread_of(column_of(x, name)))
  }
  points <- partial_grid(x, columns, asked)
  sides <- lapply(seq_along(at), function(i) point_sides(points[[i]], nodes, info, at[i]))
  estimate <- cover_means(nodes, info, sides, .row_names_info(points, 2L))
  if (asked$centred) estimate <- estimate - rep(estimate[1L, ], each = nrow(estimate))
  found <- list(estimate = estimate, outputs = if (ncol(estimate) > 1L) output_labels(model))
  structure(class = "gbt_partial", with_scale(c(list(
    columns = columns, effects = effect_frame(points, found), ice = NULL, type = "link", centred = asked$centred,
    spread = spread, rows = NULL, n_obs = model$n_obs, seed = NULL, method = "recursion"
  ), if (has_own_units(model)) list(own_units = TRUE)), model))
}

# All values that the model tells apart: a value at every threshold and one beyond the last, or all levels; of the class
# that the column had.
values_of_model <- function(nodes, info, j) {
  tag <- info$tag[j]
  if (tag == "category") return(as.double(info$levels[[j]])) # numbers, see `cat_features`
  if (info$type[j] == "categorical") return(factor(info$levels[[j]], info$levels[[j]]))
  if (info$type[j] == "ordinal") return(factor(info$levels[[j]], info$levels[[j]], ordered = TRUE))
  if (tag == "logical") return(c(FALSE, TRUE))
  at <- sort(unique(nodes$threshold[!is.na(nodes$left) & nodes$feature + 1L == j]))
  at <- at[is.finite(at)]
  if (length(at) == 0L) {
    stop_argument(sprintf("no tree splits column `%s` by its values; give `values`", info$names[j]), "columns")
  }
  step <- if (length(at) > 1L) mean(diff(at)) else max(1, abs(at) * 0.1)
  v <- c(at, at[length(at)] + step)
  if (tag == "Date") return(structure(floor(v), class = "Date"))
  if (tag == "POSIXct") return(structure(v, class = c("POSIXct", "POSIXt"), tzone = "UTC"))
  v
}

# For each split of column j a vector by point: does it go left? By number of the node, NULL for others.
point_sides <- function(v, nodes, info, j) {
  splits <- which(!is.na(nodes$left) & nodes$feature + 1L == j)
  out <- vector("list", length(nodes$left))
  number <- point_numbers(v, info, j)
  for (i in splits) {
    set <- nodes$set[[i]]
    left <- if (length(set)) number %in% set else !is.na(nodes$threshold[i]) & number <= nodes$threshold[i]
    left[is.na(number)] <- nodes$missing_left[i]
    out[[i]] <- left
  }
  out
}

# Values as the model's trees compare them: numbers, or places of levels from 0.
point_numbers <- function(v, info, j) {
  if (info$type[j] == "numeric") {
    if (has_levels(v)) {
      stop_argument(sprintf("`values` of `%s` must be numbers, as the column was", info$names[j]), "values")
    }
    return(order_numbers(v))
  }
  text <- category_texts(v)
  place <- match(text, info$levels[[j]]) - 1
  unknown <- text[is.na(place) & !is.na(text)]
  if (length(unknown)) {
    stop_argument(sprintf("`values`: column `%s` has no level \"%s\"%s", info$names[j], unknown[1L],
                          suggest(unknown[1L], info$levels[[j]], "\"")), "values")
  }
  place
}

# Categories as texts. Those that are numbers (`cat_features`) have all digits: 100000, which R writes as 1e+05.
category_texts <- function(v) {
  text <- as.character(v)
  if (is.double(v) && !is.object(v)) {
    whole <- which(v == floor(v))
    text[whole] <- sprintf("%.0f", v[whole] + 0)
    text[is.na(v)] <- NA
  }
  text
}

# Scores of the points, a column for each output: at splits of the columns a point takes its way, at others both, in
# shares of the cover (Friedman, 2001, section 8.2).
cover_means <- function(nodes, info, sides, n) {
  value <- matrix(nodes$value, length(nodes$left))
  out <- matrix(rep_len(info$base, info$n_outputs), n, info$n_outputs, byrow = TRUE)
  per_round <- trees_of_round(info)
  for (rows in split(seq_along(nodes$tree), nodes$tree)) {
    tree <- nodes$tree[rows[1L]]
    to <- if (ncol(value) > 1L) seq_len(ncol(value)) else (tree %% per_round) %/% info$n_parallel + 1
    weight <- vector("list", length(rows))
    weight[[1L]] <- rep(1, n)
    first <- rows[1L] - 1L
    for (i in rows) {
      w <- weight[[i - first]]
      if (is.na(nodes$left[i])) {
        out[, to] <- out[, to] + w %o% value[i, ]
        next
      }
      # children are by number of node, which is the place in the tree
      child <- c(nodes$left[i], nodes$right[i]) + 1L
      side <- unlist(lapply(sides, `[[`, i))
      share <- if (is.null(side)) left_share(nodes$cover[first + child], nodes$count[first + child]) else side
      weight[[child[1L]]] <- w * share
      weight[[child[2L]]] <- w * (1 - share)
      weight[i - first] <- list(NULL)
    }
  }
  out
}

# As the engine has it for contributions.
left_share <- function(cover, count) {
  share <- cover[1L] / (cover[1L] + cover[2L])
  if (is.finite(share) && share >= 0 && share <= 1) return(share)
  if (sum(count) > 0) count[1L] / sum(count) else 0.5
}
