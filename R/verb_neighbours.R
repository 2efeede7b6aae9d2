# Neighbours of rows by the leaves that they share: gbt_neighbours().

#' Rows that a model treats alike
#'
#' For each new row the rows of `data` that fall into the same leaves. The proximity of two rows is the share of the
#' trees in which both end in one leaf (Breiman, 2001, for random forests). Neighbours show by examples why a row is
#' predicted as it is, and a new row without near neighbours is unlike all that the model has seen.
#'
#' Leaves are compared exactly, all trees count alike, and of equal proximities the row that comes first in `data` is
#' taken. Rows are gone through in pieces, so memory does not grow with them.
#'
#' @param model A model from [gbt_train()].
#' @param data Rows to look for neighbours in, such as the training data, as [predict()][predict.gbt] takes them.
#' @param newdata Rows whose neighbours are looked for; `NULL` for those of `data` themselves, each without itself.
#' @param k How many neighbours.
#' @param trees,unseen,threads As in [predict()][predict.gbt].
#' @param ... Must be empty: a misspelt argument is an error.
#' @return A data frame with `k` rows for each new row: `row`, its number in `newdata`; `rank`, 1 for the nearest one;
#'   `neighbour`, its number in `data`; `proximity`, 0 to 1.
#' @seealso [predict()][predict.gbt] with `type = "leaf"`
#' @examples
#' m <- gbt_train(mpg ~ ., mtcars, nrounds = 20, threads = 1)
#' near <- gbt_neighbours(m, mtcars, mtcars["Fiat 128", ], k = 4, threads = 1)
#' near
#' mtcars[near$neighbour, c("mpg", "cyl", "wt")]
#' @export
gbt_neighbours <- function(model, data, newdata = NULL, k = 5, ..., trees = NULL,
                           unseen = c("prior", "missing", "error"), threads = NULL) {
  check_no_dots(written_dots(...), names(formals(gbt_neighbours)))
  if (missing(model)) stop_argument("`model` is missing: gbt_neighbours(model, data)", "model")
  check_model(model, "model")
  rounds <- check_rounds(trees, model)
  unseen <- match_choice(unseen, names(enums$unseen), "unseen")
  leaves <- function(x, rows) {
    out <- predict.gbt(model, subset_rows(x, rows), type = "leaf", trees = rounds, unseen = unseen, threads = threads)
    matrix(as.integer(out), length(rows))
  }
  x <- neighbour_rows(model, if (!missing(data)) data, "data")
  self <- is.null(newdata)
  new <- if (self) x else neighbour_rows(model, newdata, "newdata")
  model <- without_recipe(model)
  n <- n_rows_of(x)
  m <- n_rows_of(new)
  if (n == self) stop_data("at least two rows are needed to find neighbours; give more `data`, or `newdata`", "data")
  k <- check_whole(k, "k", 1, n - self, sprintf(": `data` has %s%s", counted(n, "row"),
                                                if (self) ", and none is its own neighbour" else ""))
  n_trees <- rounds * trees_of_round(.Call(C_gbt_model_info, model$state, model$cache))
  if (n_trees == 0) stop_argument("the model has no trees", "model")
  size <- max(1, cells_of_leaves %/% n_trees)
  found <- lapply(pieces_of(m, size), function(rows) {
    near_rows(leaves, x, n, leaves(new, rows), if (self) rows, k, size)
  })
  proximity <- unlist(lapply(found, `[[`, "count")) / n_trees
  list_frame(list(row = rep(seq_len(m), each = k), rank = rep(seq_len(k), m),
                  neighbour = unlist(lapply(found, `[[`, "row")), proximity = proximity), m * k)
}

cells_of_leaves <- 4e6 # of a matrix of leaves

neighbour_rows <- function(model, data, parameter) {
  if (is.null(data)) stop_argument("`data` is missing: rows to look for neighbours in", "data")
  data <- rows_in_memory(model, data, parameter)
  if (n_rows_of(data) == 0) stop_data("the data have no rows", parameter)
  data
}

pieces_of <- function(n, size) lapply(seq(1, n, by = size), function(beg) beg:min(n, beg + size - 1))

# The k rows of x that share most leaves with each row of `own`: list(row, count), vectors of k for each. but: the rows
# that own are themselves, or NULL.
near_rows <- function(leaves, x, n, own, but, k, size) {
  best <- NULL
  for (rows in pieces_of(n, size)) {
    index <- leaf_index(leaves(x, rows))
    for (i in seq_len(nrow(own))) {
      count <- shared_leaves(index, own[i, ])
      at <- match(but[i], rows)
      if (!is.na(at) && length(at)) count[at] <- -1L
      at <- largest_counts(count, min(k + length(but), length(rows)))
      best[[i]] <- nearest(best_of(best, i), list(row = rows[at], count = count[at]), k)
    }
  }
  list(row = unlist(lapply(best, `[[`, "row")), count = unlist(lapply(best, `[[`, "count")))
}

best_of <- function(best, i) if (length(best) < i) NULL else best[[i]]

nearest <- function(a, b, k) {
  row <- c(a$row, b$row)
  count <- c(a$count, b$count)
  at <- utils::head(order(-count, row), k)
  list(row = row[at], count = count[at])
}

# Rows by tree and leaf: those of code[j] are row[beg[j]] and `size[j]` in all.
leaf_index <- function(leaf) {
  most <- max(leaf) + 1
  code <- as.vector(leaf) + rep((seq_len(ncol(leaf)) - 1) * most, each = nrow(leaf))
  at <- order(code, method = "radix")
  code <- code[at]
  first <- which(c(TRUE, code[-1L] != code[-length(code)]))
  list(row = (at - 1L) %% nrow(leaf) + 1L, code = code[first], beg = first, size = diff(c(first, length(code) + 1L)),
       most = most, n = nrow(leaf))
}

# How many leaves each row shares with a row whose leaves are `own`.
shared_leaves <- function(index, own) {
  at <- match(ifelse(own < index$most, own + (seq_along(own) - 1) * index$most, -1), index$code)
  at <- at[!is.na(at)]
  tabulate(index$row[sequence(index$size[at], index$beg[at])], index$n)
}

# Places of the k largest counts; of equals the first ones.
largest_counts <- function(count, k) {
  if (k >= length(count)) return(seq_along(count))
  border <- sort(count, partial = length(count) - k + 1L)[length(count) - k + 1L]
  above <- which(count > border)
  c(above, utils::head(which(count == border), k - length(above)))
}
