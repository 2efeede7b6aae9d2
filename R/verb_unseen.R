# How many rows have levels that training did not have.

#' Rows with levels that training did not have
#'
#' New levels of factors and texts in validation or prediction data are common, so they give no message: argument
#' `unseen` of [predict.gbt()] and [gbt_data()] decides how they are treated. ([predict.gbt()] warns if all values of a
#' column are new.) This function counts them by column, before or after a prediction. Missing values do not count.
#'
#' @param object A model, or a [gbt_data()] that was made with a `reference`, whose rows are counted.
#' @param newdata With a model: the rows to count, as for [predict.gbt()].
#' @param threads Number of threads, see [gbt_threads()].
#' @return Numbers named by the columns with levels (factors, ordered factors, texts, `cat_features`): the rows with a
#'   level that the training data did not have.
#' @seealso [predict.gbt()]
#' @examples
#' m <- gbt_train(Petal.Width ~ ., iris[1:100, ], nrounds = 5, threads = 1)
#' gbt_unseen(m, iris)
#' @export
gbt_unseen <- function(object, newdata, threads = NULL) {
  if (inherits(object, "gbt_data")) {
    if (!missing(newdata)) {
      stop_argument(paste("`newdata` can only be used with a model; a gbt_data object has its own rows: leave",
                          "`newdata` out"), "newdata")
    }
    return(unseen_of(.Call(C_gbt_dataset_info, data_ptr(object, "object"))))
  }
  check_model(object, "object")
  if (missing(newdata)) stop_argument("`newdata` is missing: give the rows to count", "newdata")
  newdata <- bake_rows(object, newdata)$x
  check_newdata(newdata, object)
  frame <- frame_for_model(apply_design(object$terms, newdata)$x, object)
  info <- .Call(C_gbt_model_info, object$state, object$cache)
  info$unseen <- .Call(C_gbt_unseen, object$state, object$cache, frame, resolve_threads(threads))
  unseen_of(info)
}

# A column without any known value is probably coded in another way than in training ("01" for "1", labels for codes).
# A few rows may have new levels by chance.
rows_to_warn_of_unseen <- 20

warn_unseen <- function(object, frame, threads) {
  has <- which(!frame$type %in% enums$feature_type[["numeric"]])
  if (frame$n_rows < rows_to_warn_of_unseen || length(has) == 0L) return(invisible())
  n <- .Call(C_gbt_unseen, object$state, object$cache, frame, resolve_threads(threads))
  at <- Filter(function(j) n[j] > 0 && n[j] + sum(is.na(frame_column(frame, j))) == frame$n_rows, has)
  if (length(at) > 0L) {
    used <- importance_sums(object, object$nrounds, "column")
    at <- at[frame$names[at] %in% used$feature[used$frequency > 0]]
  }
  if (length(at) == 0L) return(invisible())
  warn_gbt("unseen", sprintf(paste("no value of column%s %s is a level of the training data; compare the levels, or",
                                   "give `unseen` if this is intended"),
                             if (length(at) > 1L) "s" else "", enumerate(frame$names[at])), columns = frame$names[at])
}
