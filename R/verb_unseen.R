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
#' @param ... Must be empty: a misspelt argument is an error.
#' @return Numbers named by the columns with levels (factors, ordered factors, texts, `cat_features`): the rows with a
#'   level that the training data did not have.
#' @seealso [predict.gbt()]
#' @examples
#' m <- gbt_train(Petal.Width ~ ., iris[1:100, ], nrounds = 5, threads = 1)
#' gbt_unseen(m, iris)
#' @export
gbt_unseen <- function(object, newdata, threads = NULL, ...) {
  check_no_dots(written_dots(...), names(formals(gbt_unseen)))
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
# A few rows may have new levels by chance, but not texts for numbers.
rows_to_warn_of_unseen <- 20

# data: the new rows, in which the terms of a formula were evaluated.
warn_unseen <- function(object, frame, data, threads) {
  has <- which(!frame$type %in% enums$feature_type[["numeric"]])
  texts <- texts_for_numbers(object, frame, has)
  few <- frame$n_rows < rows_to_warn_of_unseen
  if (few) has <- texts
  if (few && length(has) == 0L) return(invisible())
  n <- if (length(has)) .Call(C_gbt_unseen, object$state, object$cache, frame, resolve_threads(threads))
  at <- Filter(function(j) n[j] > 0 && n[j] + sum(is.na(frame_column(frame, j))) == frame$n_rows, has)
  within <- if (few) character(0) else unknown_in_terms(object$terms, data)
  if (length(at) + length(within) == 0L) return(invisible())
  sums <- importance_sums(object, object$nrounds, "column")
  used <- sums$feature[sums$frequency > 0]
  design <- object$terms
  terms <- lapply(c(design$features[names(design$features) %in% used], design$offset), parse_design)
  columns <- union(intersect(frame$names[at], used), intersect(within, variables_of(terms)))
  if (length(columns) == 0L) return(invisible())
  how <- if (all(columns %in% frame$names[texts])) {
    "give the whole numbers that the model takes for levels, such as `as.integer(x) - 1` of a factor `x`,"
  } else {
    "compare the levels,"
  }
  warn_gbt("unseen", sprintf(paste("no value of column%s %s is a level of the training data; %s or give `unseen` if",
                                   "this is intended"),
                             if (length(columns) > 1L) "s" else "", enumerate(columns), how), columns = columns)
}

# Columns of levels in computed terms of which no value is known.
unknown_in_terms <- function(design, data) {
  if (!is.data.frame(data)) return(character(0))
  Filter(function(name) {
    v <- .subset2(data, match(name, names(data)))
    texts <- if (is.factor(v)) levels(v)[unique(as.integer(v))] else unique(as.character(v))
    texts <- texts[!is.na(texts)]
    length(texts) > 0L && !any(as_utf8(texts, sprintf("a level of column `%s`", name), name) %in% design$levels[[name]])
  }, intersect(names(design$levels), names(data)))
}

# Of the columns `at` those whose levels are whole numbers for the model, and texts, none of them a number, here.
texts_for_numbers <- function(object, frame, at) {
  at <- at[object$feature_types[match(frame$names[at], object$feature_names)] %in% "category"]
  Filter(function(j) is.character(frame$levels[[j]]) && !any(grepl("^-?[0-9]+$", frame$levels[[j]])), at)
}
