# Accumulated local effects (Apley and Zhu, 2020): gbt_partial(method = "ale").
#
# An axis is what the rows are compared along:
#   values   points of the grid, elements of the column, in order      at       the rows that take part
#   low      of each step the point that it starts from; it ends at the next one
#   step     of each step the row that it is made for, a number of a row
#   mass     weight of the rows at each point, by which effects get the mean 0
# A row of a column of numbers makes one step, through its own interval. A row of a level makes two: to its level from
# the one before, and from its level to the next.

most_ale_levels <- 1000L

check_ale_request <- function(asked) {
  for (name in c("ice", "centred")) {
    if (asked[[name]]) {
      why <- c(ice = "has no curves of single rows", centred = "gives effects whose mean is 0 already")[[name]]
      stop_unsupported(sprintf("`%s = TRUE` cannot be combined with `method = \"ale\"`, which %s; leave it out", name,
                               why), name)
    }
  }
}

# list by column of list(values, unordered, ranked): values of the grid without repetition; has the column levels
# without an order; are the values already in the order of the axis? Levels are where the user gave them.
ale_grid <- function(model, x, columns, asked) {
  category <- columns %in% model$feature_names[model$feature_types == "category"] # numbers, levels for the model
  unordered <- category | vapply(columns, function(name) {
    v <- column_of(x, name)
    has_levels(v) && !is.ordered(v)
  }, NA)
  if (any(category)) asked$size <- Inf # all values
  each <- grid_columns(x, columns, asked)
  ordered <- vapply(columns, function(name) is.ordered(column_of(x, name)), NA)
  if (length(columns) == 2L && any(unordered | ordered)) {
    stop_unsupported(sprintf(paste("`method = \"ale\"` of two columns needs numbers or times, and `%s` has levels;",
                                   "give that column in a call of its own, or use `method = \"average\"`"),
                             columns[unordered | ordered][1L]), "columns")
  }
  Map(function(values, name, unordered) {
    number <- if (unordered) match(values, values) else order_numbers(values)
    if (anyNA(values) || anyNA(number)) {
      stop_argument(sprintf("`values` of `%s` must not be missing with `method = \"ale\"`; leave NA out", name),
                    "values")
    }
    values <- subset_rows(values, order(number)[!duplicated(sort(number))])
    if (!is.null(asked$values) && length(values) < 2L) {
      stop_argument(sprintf("`values` of `%s` must be at least two different ones with `method = \"ale\"`", name),
                    "values")
    }
    if (unordered && length(values) > most_ale_levels) {
      stop_data(sprintf(paste("column `%s` has %s, and `method = \"ale\"` puts at most %s in order; give some in",
                              "`values`"), name, counted(length(values), "level"),
                        with_commas(most_ale_levels)), name)
    }
    list(values = values, unordered = unordered, ranked = !unordered || !is.null(asked$values))
  }, each, columns, unordered)
}

# list(points, estimate, outputs, left_out), see partial_values(). its: of some_rows(); grid: of ale_grid().
ale_effects <- function(its, grid, plan) {
  columns <- names(grid)
  first <- predict_replaced(its$model, its$x, 1L, list(), plan, its) # checks the columns
  weight <- given_or(its$weight, rep(1, n_rows_of(its$x)))
  own <- lapply(columns, function(name) column_of(its$x, name))
  if (length(columns) == 1L) {
    of_levels <- grid[[1L]]$unordered || is.ordered(own[[1L]])
    axis <- if (of_levels) ale_level_axis(own[[1L]], grid[[1L]], weight, its, columns) else
      ale_number_axes(own, grid, weight)[[1L]]
    axes <- stats::setNames(list(axis), columns)
  } else {
    axes <- stats::setNames(ale_number_axes(own, grid, weight), columns)
  }
  points <- all_combinations(lapply(axes, `[[`, "values"))
  change <- ale_changes(its, axes, plan, ncol(first))
  estimate <- if (length(axes) == 1L) ale_first_order(axes[[1L]], change, weight) else
    ale_second_order(axes, change, weight)
  list(points = points, estimate = estimate, outputs = output_names(its$model, first),
       left_out = length(weight) - length(axes[[1L]]$at))
}

# Axes ----------------------------------------------------------------------------------------------------------------

# Of one or two columns of numbers: rows take part that have a place on each.
ale_number_axes <- function(own, grid, weight) {
  number <- lapply(own, order_numbers)
  edges <- lapply(grid, function(g) order_numbers(g$values))
  inside <- weight > 0
  for (j in seq_along(number)) {
    inside <- inside & !is.na(number[[j]]) & number[[j]] >= edges[[j]][1L] &
      number[[j]] <= edges[[j]][length(edges[[j]])]
  }
  if (!any(inside)) {
    stop_data(sprintf("no row of a weight above 0 has a value of %s within the grid; give other `values`",
                      enumerate(names(grid))), names(grid)[1L])
  }
  at <- which(inside)
  Map(function(number, edges, g) ale_number_axis(number[at], edges, g$values, at, weight[at]), number, edges, grid)
}

# number: of the rows `at`, within the edges. Edges of intervals without rows are left out.
ale_number_axis <- function(number, edges, values, at, weight) {
  filled <- unique(interval_of(number, edges))
  kept <- if (length(edges) > 1L) sort(unique(c(min(filled), filled + 1L))) else 1L
  edges <- edges[kept]
  low <- interval_of(number, edges)
  n <- length(edges)
  mass <- numeric(n)
  if (n > 1L) {
    share <- (number / 2 - edges[low] / 2) / (edges[low + 1L] / 2 - edges[low] / 2)
    share[is.nan(share)] <- 1 # from -Inf on, or up to Inf
    mass <- sums_by(c(low, low + 1L), c(weight * (1 - share), weight * share), n)
  }
  list(values = subset_rows(values, kept), at = at, low = if (n > 1L) low else integer(0),
       step = if (n > 1L) at else integer(0), mass = mass)
}

# The interval of each number, which has its upper edge; the first has both.
interval_of <- function(number, edges) pmax(1L, findInterval(number, edges, left.open = TRUE))

ale_level_axis <- function(v, g, weight, its, name) {
  values <- g$values
  level <- if (has_levels(v)) match(as.character(v), as.character(values)) else
    match(order_numbers(v), order_numbers(values))
  level[weight == 0] <- NA
  at <- which(!is.na(level))
  if (length(at) == 0L) {
    stop_data(sprintf("no row of a weight above 0 has a level of `%s` in the grid; give other `values`", name), name)
  }
  used <- sort(unique(level[at]))
  values <- subset_rows(values, used)
  level <- match(level[at], used)
  if (!g$ranked) {
    others <- setdiff(columns_of_model(its$model, its$x), name)
    order <- similar_levels(level, length(used), subset_rows(its$x, at), others, weight[at])
    values <- subset_rows(values, order)
    level <- match(level, order)
  }
  up <- level < length(used)
  down <- level > 1L
  list(values = values, at = at, low = c(level[up], level[down] - 1L), step = c(at[up], at[down]),
       mass = sums_by(level, weight[at], length(used)))
}

# Effects -------------------------------------------------------------------------------------------------------------

# By how much predictions change along the steps: a matrix, a column for each output. Of two axes it is the change along
# one of the change along the other.
ale_changes <- function(its, axes, plan, n_outputs) {
  step <- axes[[1L]]$step
  if (any(lengths(lapply(axes, `[[`, "step")) == 0L)) return(matrix(0, 0L, n_outputs))
  predict_ends <- function(i, ends) {
    values <- Map(function(axis, end) subset_rows(axis$values, axis$low[i] + end), axes, ends)
    predict_replaced(its$model, its$x, step[i], values, plan, its)
  }
  parts <- by_parts(length(step), function(i) {
    if (length(axes) == 1L) return(predict_ends(i, 1L) - predict_ends(i, 0L))
    above <- predict_ends(i, c(1L, 1L)) - predict_ends(i, c(0L, 1L))
    above - (predict_ends(i, c(1L, 0L)) - predict_ends(i, c(0L, 0L)))
  }, cells_of_call)
  do.call(rbind, parts)
}

# Means of changes by step, added up, less their mean: a row for each point.
ale_first_order <- function(axis, change, weight) {
  n <- length(axis$mass)
  if (n == 1L) return(matrix(0, 1L, ncol(change)))
  w <- weight[axis$step]
  total <- sums_by(axis$low, w, n - 1L)
  vapply(seq_len(ncol(change)), function(k) {
    effect <- c(0, cumsum(sums_by(axis$low, w * change[, k], n - 1L) / total))
    effect - sum(axis$mass * effect) / sum(axis$mass)
  }, numeric(n))
}

# The same in two directions, less the first-order effects of what results. Cells without rows have the values of cells
# around them; points that only such cells touch are missing.
ale_second_order <- function(axes, change, weight) {
  n <- vapply(axes, function(a) length(a$values), 1L)
  if (min(n) == 1L) return(matrix(0, prod(n), ncol(change)))
  d <- n - 1L
  w <- weight[axes[[1L]]$step]
  cell <- axes[[1L]]$low + (axes[[2L]]$low - 1L) * d[1L]
  total <- matrix(sums_by(cell, w, prod(d)), d[1L])
  near <- sum_of_corners(with_border(total > 0)) > 0
  vapply(seq_len(ncol(change)), function(k) {
    mean <- fill_cells(matrix(sums_by(cell, w * change[, k], prod(d)) / total, d[1L]))
    effect <- matrix(0, n[1L], n[2L])
    effect[-1L, -1L] <- t(sums_downwards(t(sums_downwards(mean))))
    rows <- main_effect(effect, total)
    columns <- main_effect(t(effect), t(total))
    effect <- effect - outer(rows, columns, "+")
    effect <- effect - sum(total * sum_of_corners(effect) / 4) / sum(total)
    effect[!near] <- NA
    as.vector(effect)
  }, numeric(prod(n)))
}

# The first-order effect of the first dimension in a matrix of effects at points; total: weights of the cells.
main_effect <- function(effect, total) {
  change <- effect[-1L, , drop = FALSE] - effect[-nrow(effect), , drop = FALSE]
  middle <- (change[, -1L, drop = FALSE] + change[, -ncol(change), drop = FALSE]) / 2
  c(0, cumsum(rowSums(total * middle) / rowSums(total)))
}

sums_downwards <- function(m) {
  for (i in seq_len(nrow(m))[-1L]) m[i, ] <- m[i - 1L, ] + m[i, ]
  m
}

# From points to cells: the sum of the four corners of each.
sum_of_corners <- function(m) {
  rows <- m[-1L, , drop = FALSE] + m[-nrow(m), , drop = FALSE]
  rows[, -1L, drop = FALSE] + rows[, -ncol(rows), drop = FALSE]
}

with_border <- function(m) rbind(0, cbind(0, m, 0), 0)

# Cells without a value get the mean of the cells around them, those nearest to known ones first.
fill_cells <- function(m) {
  around <- function(m) {
    m <- with_border(m)
    rows <- m[-c(1L, nrow(m)), , drop = FALSE] + m[-c(1L, 2L), , drop = FALSE] +
      m[-(nrow(m) - 0:1), , drop = FALSE]
    rows[, -c(1L, ncol(m)), drop = FALSE] + rows[, -c(1L, 2L), drop = FALSE] +
      rows[, -(ncol(m) - 0:1), drop = FALSE]
  }
  while (anyNA(m)) {
    known <- !is.na(m)
    n <- around(known)
    sum <- around(ifelse(known, m, 0))
    fill <- !known & n > 0
    m[fill] <- sum[fill] / n[fill]
  }
  m
}

# Sums of v by group, 1 to n.
sums_by <- function(group, v, n) {
  sums <- rowsum(v, group)
  out <- numeric(n)
  out[as.integer(rownames(sums))] <- sums
  out
}

# Order of levels -----------------------------------------------------------------------------------------------------

# Order of levels by the similarity of their rows in other columns. level: of each row, 1 to n. Which end comes first is
# decided by the order of the levels.
similar_levels <- function(level, n, x, columns, weight) {
  distance <- 0
  for (name in columns) distance <- distance + level_distances(level, n, column_of(x, name), weight)
  if (n < 3L || !any(distance > 0)) return(seq_len(n))
  place <- stats::cmdscale(distance, k = 1L)[, 1L]
  if (sum(place * seq_len(n)) < 0) place <- -place # its mean is 0
  order(round(place / max(abs(place)), 6L)) # what differs by rounding only keeps its order
}

most_ale_bins <- 100L

# Kolmogorov-Smirnov distances of levels in a column of numbers, total variation in one of levels. Missing values are
# larger than all numbers, or a level of their own.
level_distances <- function(level, n, v, weight) {
  if (length(dim(v)) > 1L) return(0)
  if (is_level(v)) {
    text <- as.character(v)
    often <- names(utils::head(sort(table(text), decreasing = TRUE), most_ale_bins))
    bin <- match(text, often, length(often) + 1L)
    bin[is.na(text)] <- length(often) + 2L
    bins <- length(often) + 2L
  } else {
    number <- order_numbers(v)
    sorted <- sort(number)
    cuts <- unique(sorted[ceiling(seq_len(most_ale_bins) / most_ale_bins * length(sorted))])
    bin <- findInterval(number, cuts, left.open = TRUE) + 1L
    bins <- length(cuts) + 1L
    bin[is.na(number)] <- bins
  }
  share <- matrix(sums_by(level + (bin - 1) * n, weight, n * bins), n)
  share <- share / rowSums(share)
  if (is_level(v)) return(stats::dist(share, "manhattan") / 2)
  stats::dist(t(sums_downwards(t(share))), "maximum")
}

# Words ---------------------------------------------------------------------------------------------------------------

ale_words <- function(x) {
  paste0(if (length(x$columns) == 2L) "second-order ", "accumulated local effects")
}

# How many rows have no place on the grid.
ale_left_out <- function(x) {
  sprintf("%s left out: %s missing or outside the grid", counted(x$left_out, "row"),
          paste(plain_text(x$columns), collapse = " or "))
}
