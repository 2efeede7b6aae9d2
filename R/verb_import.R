# Models that other programs have trained. The engine reads the file (src/gbt/exchange) and gives the bytes of a model;
# here they get the fields that R keeps with a model. `imported` is one of them, a list of texts:
#
#   program, version    "XGBoost", "3.2.0"; "" where the file does not say
#   objective           by the program's name
#   lacks               what the file does not say of nodes: of "gain", "cover", "count"

#' Import a model of XGBoost
#'
#' Reads a model that another program has trained. The result is a model like any other: it predicts, explains, draws
#' its trees, has importance, and is saved by [gbt_save()]. Its raw scores (`predict(type = "link")`) are the very bits
#' of the other program's.
#'
#' Read are the formats JSON and UBJ of XGBoost 1.3 and later, which `xgb.save()` writes (`model.json`, `model.ubj`).
#' Trees of numbers and of categories, several classes or responses, forests, the booster `"dart"` and leaves that hold
#' a value for each response are all taken. The booster `"gblinear"` has no trees and is an error. Of a model in the R
#' session give the bytes: `gbt_import(xgboost::xgb.save.raw(model))`.
#'
#' @section What is the same, and what is not:
#' - XGBoost compares and adds in float32. Thresholds become the doubles that separate the same numbers, and the model
#'   adds as XGBoost does, so that scores are equal to the last bit. [gbt_shap()] and `predict(type = "contrib")` add
#'   in double; their sums differ from the scores by the rounding of float32.
#' - Responses are computed in double, where XGBoost computes them in float32: probabilities, say, agree to 7 digits.
#' - A model with early stopping predicts with the rounds up to the best one, as XGBoost does in R. `trees` of
#'   [predict()][predict.gbt] takes others.
#' - Columns are found by name; a file without names has `f0`, `f1`, ..., as XGBoost calls them, and a matrix without
#'   column names is taken by its order. A sparse matrix has zeros where it has no entries; XGBoost takes these for
#'   missing in R: `predict(model, x, sparse_zero = "missing")`.
#' - Levels of factors are known by their texts where the file has them. Else categories are whole numbers, XGBoost's
#'   codes from 0 on: give numbers, or a factor whose levels are such numbers.
#' - An objective that gbt does not have, such as `"binary:hinge"`, has raw scores as its responses; `print()` shows the
#'   objective's name.
#' - The file says nothing of the training data: `nobs()` is `NULL`, nodes have no numbers of rows. Training goes on
#'   from an imported model, or repeats it, only by way of an offset: `gbt_train(offset = predict(model, x, "link"))`.
#'
#' Nothing in a file is trusted or run as code: what is damaged is an error of class `gbt_error_format`.
#'
#' @param file Path of the file, or a raw vector with its bytes.
#' @param classes Names of the classes, for a model that predicts classes; `NULL` takes the numbers 0, 1, 2, ..., as
#'   XGBoost does. Two classes have names only if you give them.
#' @param ... Must be empty: a misspelt argument is an error.
#' @return A model, see [gbt_train()]. Its field `imported` is a list of `program`, `version`, `objective` and `lacks`,
#'   what the file does not say of nodes.
#' @seealso [gbt_load()] for files of gbt's own
#' @concept import
#' @concept XGBoost model
#' @concept migrate from xgboost
#' @examples
#' file <- system.file("extdata", "xgboost.json", package = "gbt")
#' m <- gbt_import(file)
#' m
#' predict(m, mtcars[1:3, ])
#' @export
gbt_import <- function(file, classes = NULL, ...) {
  check_no_dots(written_dots(...), names(formals(gbt_import)))
  if (missing(file)) check_path(file, "file")
  name <- if (is_text(file)) file else "a raw vector"
  bytes <- if (is_raw_vector(file)) as.vector(file) else bytes_of_file(file)
  named <- function(e) stop_format(sprintf("\"%s\": %s", printable(name), conditionMessage(e)), name)
  found <- tryCatch(.Call(C_gbt_import, bytes), gbt_error_format = named)
  imported_model(found, classes)
}

bytes_of_file <- function(file) {
  if (inherits(file, "xgb.Booster")) {
    stop_argument("`file` is a model of xgboost; give its bytes: gbt_import(xgboost::xgb.save.raw(model))", "file")
  }
  check_path(file, "file", "one path or a raw vector")
  path <- full_path(file)
  .Call(C_gbt_check_file, path)
  readBin(path, "raw", file.size(path))
}

# found: as of r_gbt_import().
imported_model <- function(found, classes) {
  info <- .Call(C_gbt_model_info, found$state, NULL)
  rounds <- info$n_trees / trees_of_round(info)
  labels <- objective_info(info$objective)$labels
  own <- objective_info(info$objective)$params$name
  shape <- .Call(C_gbt_model_shape, found$state, NULL, info$objective, info$names, info$tag)
  fields <- list(
    classes = imported_classes(classes, labels, info),
    response = if (is.null(classes)) "double" else "factor",
    params = c(list(num_parallel_tree = as.double(info$n_parallel)),
               stats::setNames(as.list(shape[6L + seq_along(own)]), own)),
    best_round = if (found$best_round > 0) as.integer(found$best_round),
    has_offset = FALSE,
    imported = found[c("program", "version", "objective", "lacks")]
  )
  gbt_model_from_state(.Call(C_gbt_model_slice, found$state, c(0, rounds), model_meta(fields)))
}

imported_classes <- function(classes, labels, info) {
  n <- switch(labels, CLASS = info$n_outputs, BINARY = 2L, 0L)
  if (is.null(classes)) return(if (labels == "CLASS") as.character(seq_len(n) - 1L))
  if (n == 0L) {
    stop_argument(sprintf("`classes` is for models of classes; this one has objective \"%s\": leave it out",
                          info$objective), "classes")
  }
  texts <- if (is.character(classes) || is.numeric(classes)) as.character(classes)
  if (!is_texts(texts) || length(texts) != n || anyDuplicated(texts)) {
    stop_argument(sprintf("`classes` must be the names of the model's %d classes, each once", n), "classes")
  }
  enc2utf8(texts)
}

# Raises where a model was not trained by gbt. what: the clause that says what cannot be done.
refuse_imported <- function(model, what, parameter) {
  if (is.null(model$imported)) return(invisible())
  stop_unsupported(sprintf(paste("the model was imported from %s, and %s; take its scores as an offset:",
                                 "gbt_train(..., offset = predict(model, x, \"link\"))"),
                           printable(model$imported$program), what), parameter)
}
