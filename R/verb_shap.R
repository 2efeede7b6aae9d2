# Contributions of columns to predictions: SHAP values.

# The players: list(player = by feature, from 1; names; columns = by player, the columns that it is shared by).
shap_players <- function(model, by) {
  info <- .Call(C_gbt_model_info, model$state, model$cache)
  if (by == "feature") {
    label <- feature_labels(model, info)
    return(list(player = match(label, unique(label)), names = unique(label), columns = NULL))
  }
  key <- vapply(info$columns, paste, "", collapse = " ")
  more <- unique(key[lengths(info$columns) > 1L])
  keys <- c(as.character(seq_along(info$names)), more)
  list(player = match(key, keys), names = info$names,
       columns = if (length(more)) lapply(strsplit(keys, " ", fixed = TRUE), as.integer))
}

# Players that are several columns give an equal part to each. x: rows x (players and base) x outputs.
share_contributions <- function(x, columns, n_columns) {
  d <- dim(x)
  n_players <- d[2L] - 1L
  out <- x[, c(seq_len(n_columns), d[2L]), , drop = FALSE]
  for (p in seq_len(n_players)[-seq_len(n_columns)]) {
    for (c in columns[[p]]) out[, c, ] <- out[, c, ] + x[, p, ] / length(columns[[p]])
  }
  out
}

# The same for pairs. x: rows x (players and base) twice x outputs.
share_interactions <- function(x, columns, n_columns) {
  d <- dim(x)
  kept <- c(seq_len(n_columns), d[2L])
  out <- x[, kept, kept, , drop = FALSE]
  n_players <- d[2L] - 1L
  for (p in seq_len(n_players)) {
    for (q in if (p > n_columns) seq_len(n_players) else seq_len(n_players)[-seq_len(n_columns)]) {
      part <- x[, p, q, ] / (length(columns[[p]]) * length(columns[[q]]))
      for (a in columns[[p]]) for (b in columns[[q]]) out[, a, b, ] <- out[, a, b, ] + part
    }
  }
  out
}

# predict() of types "contrib" and "interaction", for a table. plan: see predict_rows().
predict_contributions <- function(object, frame, plan, offset, labels) {
  players <- shap_players(object, plan$by)
  pairs <- plan$type == "interaction"
  n <- length(if (is.null(players$columns)) players$names else players$columns)
  why <- if (has_linear_leaves(object)) why_linear
  device <- if (is.null(why)) plain_device(plan$device) else use_cpu(plan$device, why)
  out <- on_device(device, function(where) {
    .Call(C_gbt_explain, object$state, object$cache, frame, plan$background, as.integer(players$player), n,
          as.integer(pairs), plan$rounds, offset, enums$unseen[[plan$unseen]], resolve_threads(plan$threads), where)
  })
  dim(out) <- c(frame$n_rows, rep(n + 1L, if (pairs) 2L else 1L), object$n_outputs)
  if (!is.null(players$columns)) {
    out <- (if (pairs) share_interactions else share_contributions)(out, players$columns, length(players$names))
  }
  names <- c(players$names, base_label(players$names))
  several <- object$n_outputs > 1L
  if (!several) dim(out) <- dim(out)[-length(dim(out))]
  dimnames(out) <- c(list(labels, names), if (pairs) list(names), if (several) list(output_labels(object)))
  out
}

# A name for the base that differs from the names of the columns.
base_label <- function(names) {
  label <- "(base)"
  while (label %in% names) label <- paste0(label, "_")
  label
}

background_frame <- function(background, object, sparse_zero) {
  if (is.null(background)) return(NULL)
  if (chunked_rows(background)) {
    stop_argument("`background` must be a data frame or a matrix in memory; a few hundred rows of the training data do",
                  "background")
  }
  background <- bake_rows(object, background)$x
  check_newdata(background, object, "background")
  frame <- frame_for_model(apply_design(object$terms, background)$x, object, sparse_zero)
  if (frame$n_rows == 0) stop_data("`background` has no rows; give one at least", "background")
  frame
}

# A matrix with a row for each row, for files: cells of arrays side by side.
flat_contributions <- function(out) {
  d <- dim(out)
  if (length(d) == 2L) return(out)
  names <- dimnames(out)[-1L]
  for (k in seq_along(names)) if (is.null(names[[k]])) names[[k]] <- as.character(seq_len(d[k + 1L]))
  grid <- expand.grid(names, stringsAsFactors = FALSE)
  matrix(out, d[1L], dimnames = list(NULL, do.call(paste, c(unname(grid), sep = ":"))))
}

#' Contributions of columns to predictions
#'
#' SHAP values: what each column's value adds to the raw score (`type = "link"`) of a row. The contributions of a row
#' and the base add up to its score.
#'
#' They are exact Shapley values. They need the score of a row when only some of its columns are known, which
#' `background` defines. Without it (path-dependent TreeSHAP), a split on an unknown column uses both branches, weighted
#' by their covers (sums of hessians of the training rows). With it (interventional), the score is the mean over the
#' background rows, from which the unknown columns are taken. A call for many rows takes little longer with a thousand
#' background rows than with a hundred.
#'
#' The contributions of derived features (target encoding, level counts) are added to their column. The contribution of
#' a combination of columns is divided equally among its columns.
#'
#' @section Linear leaves:
#' A linear leaf (`leaf_model = "linear"`, see [gbt_parameters()]) depends on its columns as splits do. Without a
#' `background` an unknown column of the leaf has the mean of the training rows that the leaf was fitted to, weighted by
#' their hessians: with none known the leaf has its constant. A row that reaches the leaf whatever is known gets slope
#' times distance from the mean for each column, as in a linear model (Lundberg and Lee 2017, Linear SHAP), unless the
#' leaf's range cuts it. With a `background` unknown columns have the values of the background row in leaves as well. A
#' known column that is missing makes the leaf its constant, as in predictions. With linear leaves each row is compared
#' with each background row, so time grows with their product; a few hundred background rows do. Linear leaves that
#' [gbt_import()] read from LightGBM have no means, so they need a `background`; where a column is infinite, in a row or
#' in the background, their contributions may be infinite or `NaN`.
#'
#' Devices leave such models to the CPU, with a message.
#'
#' @references Lundberg, S. M. and Lee, S.-I. (2017). A unified approach to interpreting model predictions. *Advances in
#'   Neural Information Processing Systems* 30. Lundberg, S. M. and others (2020). From local explanations to global
#'   understanding with explainable AI for trees. *Nature Machine Intelligence* 2, 56-67.
#' @param model A model from [gbt_train()].
#' @param newdata The rows to explain: a data frame, a matrix or a sparse matrix.
#' @param background Rows to compare with, as `newdata`, or `NULL`.
#' @param interaction `TRUE` to compute interactions of pairs of columns as well.
#' @param rows Maximum number of rows to explain. If there are more, this number is drawn, always the same rows. `NULL`
#'   uses all.
#' @param trees,offset,exposure,unseen,threads,device As for [predict()][predict.gbt]. An exposure that is a column of
#'   `newdata` is found there.
#' @param ... Must be empty: a misspelt argument is an error.
#' @return A list of class `gbt_shap` with
#'   \item{values}{a matrix of rows by columns, or an array with outputs (classes) as third dimension}
#'   \item{base}{a number for each output, without offsets}
#'   \item{data}{the values of the columns}
#'   \item{outputs}{the names of the classes (or numbers of the outputs of your own objective), or `NULL`}
#'   \item{interaction}{an array of rows by columns by columns (by outputs), or `NULL`}
#'   \item{rows}{the numbers of the rows}
#'   \item{scale}{of models of times: the name of the scale, `"log relative hazard"` or `"log time"`}
#'   \item{own_units}{`TRUE` where outputs are in units of their own: columns of numbers of a response, parameters of a
#'     distribution}
#'
#'   `summary()` gives mean absolute contributions; where outputs are in units of their own, a column for each of them.
#'   `as.data.frame()` gives a row for each contribution: `row`,
#'   `column`, `output` (if there are several) and `contribution`.
#' @seealso [predict.gbt()] with `type = "contrib"`, [gbt_importance()]; `vignette("explaining", package = "gbt")`
#' @concept Shapley values
#' @concept SHAP
#' @concept explain a prediction
#' @examples
#' m <- gbt_train(mpg ~ ., mtcars, nrounds = 20, threads = 1)
#' s <- gbt_shap(m, mtcars, threads = 1)
#' s
#' summary(s)
#' rowSums(s$values[1:3, ]) + s$base
#' predict(m, mtcars[1:3, ], type = "link")
#' @export
gbt_shap <- function(model, newdata, background = NULL, interaction = FALSE, rows = NULL, trees = NULL, offset = NULL,
                     unseen = "prior", threads = NULL, device = NULL, exposure = NULL, ...) {
  check_all_outputs(written_dots(...), "gbt_shap")
  check_no_dots(written_dots(...), names(formals(gbt_shap)))
  check_model(model, "model")
  if (!is_flag(interaction)) stop_argument("`interaction` must be TRUE or FALSE", "interaction")
  if (missing(newdata)) stop_argument("`newdata` is missing; give the rows to explain", "newdata")
  if (chunked_rows(newdata)) {
    stop_argument(paste("`newdata` must be a data frame or a matrix here; predict(type = \"contrib\", output = ) takes",
                        "sources of rows"), "newdata")
  }
  its <- shap_rows(model, newdata, background, rows, offset, exposure)
  model <- its$model
  ask <- function(type, x = its$x, offset = its$offset, exposure = its$exposure) {
    predict(model, x, type = type, trees = trees, offset = offset, unseen = unseen, threads = threads,
            background = its$background, device = device, exposure = exposure)
  }
  all <- ask("contrib")
  columns <- seq_len(dim(all)[2L] - 1L)
  several <- length(dim(all)) == 3L
  pairs <- if (interaction) ask("interaction")
  none <- if (is.null(offset) && is.null(exposure) && !model$has_offset) all else {
    suppressWarnings(ask("contrib", its$x[seq_len(min(1L, nrow(its$x))), , drop = FALSE], NULL, NULL))
  }
  # The base of a row has its offset in it; that of an argument is left out of `none`, that of a formula here.
  own <- offset_in(model, its$x)[1L]
  base <- if (several) none[1L, length(columns) + 1L, ] else unname(none[1L, length(columns) + 1L])
  if (!is.null(own)) base <- base - own
  structure(c(list(
    values = if (several) all[, columns, , drop = FALSE] else all[, columns, drop = FALSE],
    base = base, data = shown_columns(its$x, model), outputs = output_labels(model),
    interaction = if (several) pairs[, columns, columns, , drop = FALSE] else pairs[, columns, columns, drop = FALSE],
    rows = its$taken
  ), if (!is.null(scale_words(model))) list(scale = scale_words(model)),
  if (has_own_units(model)) list(own_units = TRUE)), class = "gbt_shap")
}

# The rows to explain, `rows` of them (NULL: all), baked: list(model, x, background, offset, exposure, taken).
shap_rows <- function(model, x, background, rows, offset, exposure) {
  if (!chunked_rows(background)) background <- bake_rows(model, background)$x
  its <- bake_rows(model, x)
  check_newdata(its$x, its$model)
  check_objects(its$x, model$feature_names)
  if (!is.null(rows)) rows <- check_whole(rows, "rows", 1)
  n <- n_rows_of(its$x)
  if (n == 0) stop_data("`newdata` has no rows to explain")
  its$background <- background
  its$taken <- seq_len(n)
  its$offset <- offset
  its$exposure <- exposure_values(its$model, its$x, exposure, n)
  if (is.null(rows) || rows >= n) return(its)
  its$taken <- drawn_rows(n, rows)
  its$x <- its$x[its$taken, , drop = FALSE]
  if (!is.null(offset)) its$offset <- matrix(check_offset(offset, n, model$n_outputs), n)[its$taken, , drop = FALSE]
  its$exposure <- its$exposure[its$taken]
  its
}

# So many of n rows, ascending: those of an even grid with a jump, without R's random numbers.
drawn_rows <- function(n, rows) sort(order((seq_len(n) * 0.6180339887498949) %% 1)[seq_len(rows)])

shown_columns <- function(newdata, model) {
  x <- apply_design(model$terms, newdata)$x
  names <- model$feature_names
  if (is.data.frame(x)) return(as.data.frame(x)[names])
  x <- if (is.null(colnames(x))) x else x[, names, drop = FALSE]
  out <- as.data.frame(as.matrix(x))
  names(out) <- names
  out
}

#' @export
summary.gbt_shap <- function(object, ...) {
  own <- shap_has_units(object)
  size <- mean_contributions(object$values, own)
  top <- order(-size, seq_along(size))
  each <- if (own) {
    each <- unname(colMeans(abs(object$values)))[top, , drop = FALSE] # columns x outputs
    stats::setNames(lapply(seq_len(ncol(each)), function(k) each[, k]), object$outputs)
  } else {
    list(mean_abs = unname(size[top]))
  }
  list_frame(c(list(column = dimnames(object$values)[[2L]][top]), each), length(top))
}

shap_has_units <- function(x) {
  isTRUE(x$own_units) && length(dim(x$values)) == 3L && length(x$outputs) == dim(x$values)[3L]
}

#' @export
as.data.frame.gbt_shap <- function(x, row.names = NULL, optional = FALSE, ...) {
  d <- dim(x$values)
  columns <- dimnames(x$values)[[2L]]
  k <- max(1L, length(x$outputs))
  out <- list(row = rep(x$rows, d[2L] * k), column = rep(rep(columns, each = d[1L]), k))
  if (k > 1L) out$output <- factor(rep(x$outputs, each = d[1L] * d[2L]), x$outputs)
  out$contribution <- as.vector(x$values)
  list_frame(out, length(x$values))
}

# Of one row: its raw score by output.
shap_scores <- function(x) colSums(matrix(x$values, dim(x$values)[2L])) + as.double(x$base)

# Of one row: a line for each column with its value and contributions, the largest first.
shap_of_one <- function(x) {
  columns <- dimnames(x$values)[[2L]]
  part <- matrix(x$values, length(columns))
  order <- order(-mean_contributions(array(part, c(1L, dim(part))), shap_has_units(x)), seq_along(columns))
  value <- vapply(columns, function(name) trimws(format(.subset2(x$data, name)[1L], digits = 5L)), "")
  parts <- lapply(seq_len(ncol(part)), function(k) format(part[order, k], digits = 4L))
  names(parts) <- given_or(x$outputs, "contribution")
  list_frame(c(list(column = columns[order], value = unname(value[order])), parts), length(columns))
}

#' @export
print.gbt_shap <- function(x, top = 10L, ...) {
  top <- check_whole(top, "top", 0)
  d <- dim(x$values)
  cat(sprintf("contributions of %s for %s%s%s\n", counted(d[2L], "column"), counted(d[1L], "row"),
              if (is.null(x$outputs)) "" else sprintf(" and %s", counted(d[3L], "output")),
              if (is.null(x$interaction)) "" else ", with interactions"))
  cat(sprintf("base: %s\n", paste(format(x$base, digits = 5L), collapse = ", ")))
  if (d[1L] == 1L) {
    cat(sprintf("score: %s\n", paste(format(shap_scores(x), digits = 5L), collapse = ", ")))
    shown <- utils::head(shap_of_one(x), top)
  } else {
    own <- shap_has_units(x)
    cat(if (own) "mean absolute contributions to each output:\n" else "mean absolute contributions:\n")
    shown <- utils::head(summary(x), top)
    shown[-1L] <- lapply(shown[-1L], format, digits = 4L)
  }
  print.data.frame(shown, row.names = FALSE)
  if (d[2L] > nrow(shown)) cat(sprintf("and %d more\n", d[2L] - nrow(shown)))
  invisible(x)
}
