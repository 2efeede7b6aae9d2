# How much columns act together: gbt_interactions().

#' Interactions of columns
#'
#' How much of the joint effect of columns on predictions is not the sum of the effects of single columns: the H
#' statistic of Friedman and Popescu (2008, section 8.1), from partial dependence as [gbt_partial()] has it.
#'
#' For a pair of columns, `h_squared` is a share of the variance of their joint partial dependence: what is left when
#' the partial dependence of each of the two is subtracted. For one column against all others it is a share of the
#' variance of predictions: what is left when the effect of the column and the effect of the others are subtracted. All
#' are means over the same rows, and 0 means that effects just add up. A pair with a small effect may have a large
#' share, so look at `size` as well. It is the root mean square of what is left, in units of the prediction. Sampling
#' and closely related columns can make a share larger than 1.
#'
#' N rows need up to N^2 predictions for each column and each pair (fewer where values repeat), so `rows` of the data
#' are drawn. What is within 1e-10 of the largest prediction counts as rounding, and as 0.
#'
#' @param model A model from [gbt_train()].
#' @param data Rows to average over, as [predict()][predict.gbt] takes them; the training data or others.
#' @param columns Names of columns of the data; `NULL` takes all that trees use.
#' @param top Pairs are made of so many of these columns, those that act most together with others.
#' @param rows Rows to average over at most; `NULL` for all.
#' @param type The scale of predictions: on `"link"` what a model of `max_depth = 1` does adds up exactly.
#' @param offset,exposure,trees,unseen,threads As in [predict()][predict.gbt]. Columns of a data frame may be named as
#'   `offset` and `exposure`; if the exposure of the model is a column, `data` must have it.
#' @param seed A whole number by which rows are drawn; `NULL` takes one from R's generator where rows are drawn.
#' @param ... Must be empty: a misspelt argument is an error.
#' @return A data frame of class `gbt_interactions`. Columns against all others come first, then pairs, each sorted by
#'   size in decreasing order; of a response of several columns of numbers by the size relative to the spread of each
#'   prediction. Its columns:
#'   \item{column}{a column of the data}
#'   \item{other}{the second column of a pair, or `NA` for all other columns}
#'   \item{output}{a factor of classes, where there are several outputs}
#'   \item{h_squared}{share of the variance, `NA` where the variance is 0}
#'   \item{size}{in units of the prediction, see below}
#' @seealso [plot.gbt_interactions()]; [gbt_partial()], [gbt_importance()]; `vignette("explaining", package = "gbt")`
#' @concept interactions
#' @examples
#' set.seed(1)
#' x <- data.frame(a = runif(300), b = runif(300), c = runif(300))
#' x$y <- x$a * x$b + x$c
#' m <- gbt_train(y ~ ., x, nrounds = 30, max_depth = 3, threads = 1)
#' gbt_interactions(m, x, rows = 50, seed = 1, threads = 1)
#' @export
gbt_interactions <- function(model, data, columns = NULL, ..., top = 5, rows = 200,
                             type = c("link", "response", "prob"), offset = NULL, trees = NULL,
                             unseen = c("prior", "missing", "error"), seed = NULL, threads = NULL,
                             exposure = NULL) {
  check_all_outputs(written_dots(...), "gbt_interactions")
  check_no_dots(written_dots(...), names(formals(gbt_interactions)))
  if (missing(model)) stop_argument("`model` is missing: gbt_interactions(model, data)", "model")
  check_model(model, "model")
  if (missing(data)) data <- NULL
  columns <- names_given("columns", columns_known(data))
  its <- explain_request(model, data, given_in_data("offset", data), given_in_data("exposure", data))
  top <- check_whole(top, "top", 0)
  plan <- explain_plan(its$model, match_choice(type, c("link", "response", "prob"), "type"),
                       check_rounds(trees, model), unseen, threads)
  if (its$n < 2) stop_data("interactions need at least two rows", "data")
  used <- columns_in_use(its$model, its$x, plan$rounds)
  columns <- if (is.null(columns)) used else check_columns(columns, its$model, its$x)
  its <- some_rows(its, rows, seed, 2)
  found <- interaction_parts(its$model, its$x, columns, used, top, plan, its)
  structure(interaction_table(found), class = c("gbt_interactions", "data.frame"), type = plan$type,
            rows = length(its$at), n_obs = its$n, seed = its$seed, own_units = if (found$own) TRUE)
}

# A list of what is left of columns and of pairs, list(column, other, h_squared, size), numbers by output; outputs:
# their names, or NULL; own: have they units of their own? Columns that no tree uses are not looked at: they
# are 0. known: as of partial_values().
interaction_parts <- function(model, x, columns, used, top, plan, known) {
  n <- n_rows_of(x)
  whole <- predict.gbt(model, x, plan$type, trees = plan$rounds, offset = known$offset, unseen = plan$unseen,
                       threads = plan$threads, exposure = known$exposure)
  whole <- unname_rows(whole)
  own_units <- has_own_units(model, plan$type)
  unit <- if (own_units) above_0(sqrt(colMeans(centred_columns(whole)^2))) else 1
  noise <- n * (1e-10 * apply(abs(whole), 2L, max))^2
  all <- centred_columns(whole)
  nothing <- numeric(ncol(whole))
  part <- function(column, other, left, of) {
    squares <- colSums(left^2)
    squares[squares <= noise] <- 0
    total <- colSums(of^2)
    total[total <= noise] <- NA # the effects of related columns may cancel in all rows
    share <- ifelse(squares == 0, 0, squares / total)
    list(column = column, other = other, h_squared = share, size = sqrt(squares / n))
  }
  own <- list()
  singles <- lapply(columns, function(name) {
    if (!name %in% used) return(list(column = name, other = NA_character_, h_squared = nothing, size = nothing))
    means <- point_means(model, x, name, plan, known, ncol(whole))
    own[[name]] <<- means$own
    part(name, NA_character_, all - means$own - means$rest, all)
  })
  singles <- by_size(singles, unit)
  first <- vapply(singles, function(single) single$column, "")
  first <- columns[columns %in% utils::head(first, top)]
  pairs <- if (length(first) > 1L) utils::combn(first, 2L, simplify = FALSE)
  pairs <- lapply(pairs, function(pair) {
    if (!all(pair %in% used)) return(list(column = pair[1L], other = pair[2L], h_squared = nothing, size = nothing))
    joint <- point_means(model, x, pair, plan, known, ncol(whole))$own
    part(pair[1L], pair[2L], joint - own[[pair[1L]]] - own[[pair[2L]]], joint)
  })
  list(parts = c(singles, by_size(pairs, unit)), outputs = output_names(model, whole), n_outputs = ncol(whole),
       own = own_units)
}

unname_rows <- function(pred) {
  if (!is.matrix(pred)) return(matrix(pred, ncol = 1L))
  rownames(pred) <- NULL
  pred
}

centred_columns <- function(m) m - rep(colMeans(m), each = nrow(m))

# unit: what sizes of each output are divided by where outputs have units of their own.
by_size <- function(parts, unit) {
  parts[order(-vapply(parts, function(part) sum((part$size / unit)^2), 0), seq_along(parts))]
}

# Partial dependence of the rows, centred: `own`, of some columns at each row's values, and `rest`, of all other columns
# at theirs. Matrices of a column for each output. Both are means of the same predictions, those of all rows for all
# distinct values of the columns.
point_means <- function(model, x, columns, plan, known, n_outputs) {
  n <- n_rows_of(x)
  values <- lapply(stats::setNames(nm = columns), function(name) {
    v <- column_of(x, name)
    if (inherits(v, "POSIXlt")) as.POSIXct(v) else v
  })
  code <- value_codes(values[[1L]])
  for (v in values[-1L]) code <- value_codes(code + (value_codes(v) - 1) * n)
  first <- which(!duplicated(code))
  count <- tabulate(code, length(first))
  points <- list_frame(lapply(values, subset_rows, first), length(first))
  own <- matrix(0, length(first), n_outputs)
  rest <- matrix(0, n, n_outputs)
  at_once <- max(1, min(length(first), cells_of_call %/% n))
  for (beg in seq(1, length(first), by = at_once)) {
    these <- beg:min(length(first), beg + at_once - 1)
    pred <- array(predict_points(model, x, points, these, plan, known), c(n, length(these), n_outputs))
    own[these, ] <- colMeans(pred)
    for (k in seq_len(n_outputs)) rest[, k] <- rest[, k] + matrix(pred[, , k], n) %*% count[these]
  }
  list(own = centred_columns(own[code, , drop = FALSE]), rest = centred_columns(rest / n))
}

# Numbers of the distinct values of a column in the order in which they come. Those of an integer64 may be no doubles,
# so each row counts as another one.
value_codes <- function(v) {
  if (inherits(v, "integer64")) return(as.double(seq_along(v)))
  v <- if (is.factor(v)) as.integer(v) else if (is.character(v)) as.vector(v) else order_numbers(v)
  as.double(match(v, unique(v)))
}

interaction_table <- function(found) {
  parts <- found$parts
  k <- found$n_outputs
  text <- function(name) rep(vapply(parts, function(part) part[[name]], ""), each = k)
  number <- function(name) as.vector(vapply(parts, function(part) as.double(part[[name]]), numeric(k)))
  out <- list(column = text("column"), other = text("other"))
  if (k > 1L) out$output <- factor(rep(found$outputs, length(parts)), found$outputs)
  out$h_squared <- number("h_squared")
  out$size <- number("size")
  list_frame(out, length(parts) * k)
}

#' @export
print.gbt_interactions <- function(x, digits = max(3L, getOption("digits") - 3L), top = 20L, ...) {
  digits <- check_digits(digits, 3L)
  top <- check_whole(top, "top", 0)
  if (is.null(attr(x, "rows"))) return(NextMethod())
  rows <- if (is.null(attr(x, "seed"))) {
    counted(attr(x, "n_obs"), "row")
  } else {
    sprintf("%s of %s, drawn by seed %.0f", with_commas(attr(x, "rows")), counted(attr(x, "n_obs"), "row"),
            attr(x, "seed"))
  }
  cat(sprintf("interactions: H squared of columns with all others and of pairs, type \"%s\"\n%s\n", attr(x, "type"),
              rows))
  shown <- utils::head(as.data.frame(x), top)
  shown$other[is.na(shown$other)] <- "(all others)"
  for (name in c("h_squared", "size")) shown[[name]] <- format(shown[[name]], digits = digits)
  if (nrow(shown)) print.data.frame(shown, row.names = FALSE)
  if (nrow(x) > top) cat(sprintf("and %d more\n", nrow(x) - top))
  invisible(x)
}

#' @export
as.data.frame.gbt_interactions <- plain_table
