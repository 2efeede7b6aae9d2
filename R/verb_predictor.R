# A model as a function of rows, for services that predict one row at a time.

#' A prepared predictor
#'
#' Turns a model and what to predict into a function of rows. It gives the same numbers as [predict()][predict.gbt()],
#' and takes a quarter of the time for one row: 10 microseconds for 30 numeric columns.
#'
#' The function takes
#' * a matrix of numbers or a data frame, of one or more rows, as `predict()` does. It is quickest where columns are of
#'   the kinds that the model was trained with; other rows are left to `predict()`;
#' * a vector of numbers: one row of a model whose columns are numbers. Its names are those of the columns, in any
#'   order, or it has none, and the columns' order.
#'
#' Rows that do not fit the model are errors of `predict()`, class `gbt_error`. A predictor can be kept by a service
#' (package plumber, Shiny) for as long as it runs, and in a file: it works after [saveRDS()] and [readRDS()], and in
#' other processes. A file holds the whole model. Models of a formula with functions, a recipe, offsets or exposures are
#' predicted by `predict()` itself, in its time.
#'
#' @param model A model from [gbt_train()].
#' @param type What to predict: `"response"`, `"link"`, `"prob"`, `"class"` or `"leaf"`.
#' @param trees Number of rounds to use; `NULL` for all, or those up to the best round. See [predict()][predict.gbt()].
#' @param unseen What levels are that the model does not know, see [predict()][predict.gbt()].
#' @param threads Number of threads for many rows, see [gbt_threads()]; few are predicted by one.
#' @return A function of one argument, `rows`, that returns predictions of the `type`.
#' @concept predict
#' @examples
#' m <- gbt_train(as.matrix(iris[1:4]), iris$Species, nrounds = 10, threads = 1)
#' f <- gbt_predictor(m, type = "class", threads = 1)
#' f(c(5.1, 3.5, 1.4, 0.2))
#' f(iris[c(1, 51, 101), 1:4])
#' @export
gbt_predictor <- function(model, type = c("response", "link", "prob", "class", "leaf"), trees = NULL,
                          unseen = c("prior", "missing", "error"), threads = NULL) {
  check_model(model, "model")
  type <- if (missing(type)) "response" else check_predict_type(type, model)
  if (!type %in% plain_types) {
    stop_unsupported(sprintf("gbt_predictor() offers the types %s; use predict() for type = \"%s\"",
                             enumerate(plain_types, quote = "\""), type), "type")
  }
  usual <- missing(unseen)
  unseen <- match_choice(unseen, names(enums$unseen), "unseen")
  if (!is.null(threads)) check_threads(threads)
  rows_predictor(model, check_rounds(trees, model), type, trees, unseen, usual, threads)
}

# rounds: how many are used; usual: `unseen` was not given. All arguments are forced: a file would have the caller's
# frame otherwise, and with it the model twice.
rows_predictor <- function(model, rounds, type, trees, unseen, usual, threads) {
  code <- answer_code(type, model)
  unknown <- enums$unseen[[unseen]]
  most <- if (usual) rows_to_warn_of_unseen else .Machine$integer.max
  bare <- type %in% c("response", "link") && model$n_outputs == 1L && !of_distribution(model, type)
  force(rounds)
  force(trees)
  force(threads)
  function(rows) {
    if (is.atomic(rows) && is.null(dim(rows))) rows <- row_of_vector(rows, model)
    out <- .Call(C_gbt_predict_plain, model, rows, code, most, unknown, rounds)
    if (is.null(out)) {
      if (usual) return(predict.gbt(model, rows, type, trees, threads = threads))
      return(predict.gbt(model, rows, type, trees, unseen = unseen, threads = threads))
    }
    labels <- row_labels(rows)
    if (bare && is.null(labels)) out else shape_prediction(out, model, type, labels)
  }
}

# A matrix of one row.
row_of_vector <- function(x, model) {
  if (!is.numeric(x) && !is.logical(x) || is.object(x)) {
    stop_data("`rows` is a vector that does not hold numbers; give a data frame for columns of other kinds", "rows")
  }
  names <- names(x)
  if (is.null(names) && length(x) != length(model$feature_names)) {
    stop_data(sprintf("`rows` is a vector of %s, and the model has %s", counted(length(x), "number"),
                      counted(length(model$feature_names), "column")), "rows")
  }
  dim(x) <- c(1L, length(x)) # drops the names
  if (!is.null(names)) dimnames(x) <- list(NULL, names)
  x
}
