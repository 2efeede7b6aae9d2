# Models as files for other programs. The engine writes and checks them (src/gbt/exchange/formats.def).

#' Export a model
#'
#' Writes a model as a file that predicts without gbt: as C source, SQL, ONNX or PMML, as a model of XGBoost or
#' LightGBM, or as JSON for a program of your own. Before the file is put in place it is read again, and compared with
#' the model: every split of every tree at, next below and next above its threshold, with missing values, infinities,
#' levels and levels that the model does not know, and whole scores. A file that differs is not written.
#'
#' @section Formats:
#' - `"c"` (`model.c`): C99 source without any library. Its comments say which functions it has: with `name = "model"`
#'   `model_predict()` gives responses, `model_score()` raw scores, `model_level()` the number of a level. They are the
#'   bits of [predict()][predict.gbt]. Where the processor has fused multiplications compile with `-ffp-contract=off`.
#' - `"lightgbm"` (`model.txt`): LightGBM's text, version 4, read by LightGBM 4. It computes in double, in the order of
#'   the trees: raw scores are the bits of `predict(type = "link", unseen = "missing")`, as LightGBM takes unknown
#'   categories for missing values. Base scores are in the leaves of the first trees. Categories are numbers: the
#'   positions of levels from 0 on (the file lists the levels as Python's LightGBM does for a data frame of pandas), or,
#'   where all factors of the training were whole numbers, these.
#' - `"xgboost"` (JSON; give it `model.json` and this format), `"xgboost_ubj"` (`model.ubj`): XGBoost's files as version
#'   3.2 writes them. XGBoost compares and adds in float32. Thresholds separate the same float32 numbers, leaf values
#'   are rounded, and scores agree to about 6 digits; a message says so. A model whose thresholds would become the same
#'   number is an error. Levels have their texts in the file; Python's XGBoost refuses texts that it does not know: make
#'   them missing. XGBoost takes no infinite numbers.
#' - `"json"` (`model.json`): a format of gbt's own for programs that read JSON, described in the package's repository
#'   (`docs/json-format.md`). [gbt_import()] reads it again.
#' - `"sql"` (`model.sql`): one query that SQLite (3.35 and later), DuckDB and PostgreSQL (12 and later) take as it
#'   is. It reads the table or view `model_rows`, and its result has the columns of that table, raw scores
#'   (`model_score`, or `model_score_1` and so on) and responses (`model_response`). `NULL` and NaN are missing,
#'   levels are texts. The comment at its head names columns and outputs. Raw scores are the bits of
#'   [predict()][predict.gbt] (SQLite before 3.43 needs a `long double` wider than a double for that); responses use
#'   the database's `EXP()` and may differ in the last digits. They are left out where there are over 100 classes, and
#'   scores of several quantiles are not sorted. Dates are numbers of days since 1970-01-01; SQLite takes a text such
#'   as `2024-05-01` for the number 2024 without an error. A model with an offset is an error. As part of a larger
#'   query: `SELECT id, model_score FROM (the file's text) AS p`.
#' - `"onnx"` (`model.onnx`): ONNX of opset 21 and ai.onnx.ml 5, with doubles; onnxruntime 1.32 was tested. Each
#'   column that trees split by is an input of its name, `[N, 1]`: doubles, NaN is missing; levels are strings, `""`
#'   is missing. The outputs are `model_score` and `model_response`, `[N, outputs]`. Raw scores are the bits of
#'   [predict()][predict.gbt] where the runtime adds trees in their order, as onnxruntime does for many rows by one
#'   thread; in another order they may differ in the last digits, as responses may. Errors: a model with an offset,
#'   numbers that stand for missing values, a level `""`, and base scores of imported forests of means.
#' - `"onnx_float"` (`model.onnx` and this format): the same for runtimes that do not know ai.onnx.ml 5: opset 13 and
#'   ai.onnx.ml 3, with float32. Inputs of numbers, the sums and the outputs are float32, as in XGBoost's files:
#'   thresholds separate the same float32 numbers, leaf values are rounded, and scores agree to about 6 digits. A model
#'   whose thresholds would become the same number is an error. A split by a set of levels is a node for each level, so
#'   many levels make slow trees.
#' - `"pmml"` (`model.pmml`): PMML 4.4, a chain of sums of trees and a regression model. pypmml 1.5 (pmml4s) and
#'   jpmml_evaluator 0.16 were tested. Inputs are the columns that trees split by: doubles, and texts of levels. The
#'   outputs are `model_score` and `model_response` (or `model_score_1` and so on, displayed by the names of the
#'   outputs), and `model_class` of a model of classes. Where a column has such a name, theirs have one more `_`, and a
#'   message says so. Raw scores are the bits of [predict()][predict.gbt] where the program adds trees in their order,
#'   as these two do. Scores of several quantiles are not sorted. Errors: a model with an offset, ranges of codes for
#'   missing values, and texts with characters that XML does not have.
#'
#' @section What files have:
#' - The rounds that [predict()][predict.gbt] uses: of a model with early stopping those up to its best one. For other
#'   rounds export a part of the model, such as `model[1:10]`.
#' - Raw scores, and responses where the other program has them: a message says where its predictions are raw scores.
#' - Models of distributions (`dist_normal` and others) are not offered.
#' - Models with linear leaves (`leaf_model = "linear"`, see [gbt_parameters()]) can only be written as C, JSON or SQL.
#'   A row's number is looked up in the bins of the training there as well, so raw scores are the bits of
#'   [predict()][predict.gbt]. Those that [gbt_import()] read from LightGBM can be written as C, JSON, SQL or LightGBM's
#'   text, also with the same bits. PostgreSQL ends with an error where a number times a slope is beyond the range of
#'   doubles.
#' - Models with offsets or exposures can only be written as C or JSON, those with codes for missing values (such as 99)
#'   also as SQL and PMML.
#' - Statistics of single columns (target means, level counts) are written as sets of levels: the same rows go the same
#'   way. Statistics of several columns together are an error.
#' - Columns are those that trees split by. Terms of a formula such as `log(x)` and steps of a recipe are not in the
#'   file: give the program the columns that they make. A message says so.
#' - Time differences (`difftime`) and columns of package units are numbers in the unit of the training. A message, the
#'   head of SQL and PMML's `displayName` name the unit.
#'
#' @param model A model from [gbt_train()] or [gbt_import()].
#' @param file Path of the file. It is complete or not there; a file that was there is replaced only when the new one is
#'   complete.
#' @param format Its format, see below; `NULL` takes it from the end of `file`.
#' @param name What the file calls the model: letters, digits and `_`, beginning with a letter. C functions begin with
#'   it.
#' @param ... Must be empty: a misspelt argument is an error.
#' @return The path, invisibly.
#' @seealso [gbt_save()] for files that keep all of a model, [gbt_import()] for models of other programs and JSON
#' @concept export
#' @concept deploy a model
#' @concept C source
#' @concept SQL
#' @concept ONNX
#' @concept PMML
#' @concept export to xgboost
#' @concept export to lightgbm
#' @concept score without R
#' @examples
#' m <- gbt_train(mpg ~ ., mtcars, nrounds = 5, threads = 1)
#' file <- tempfile(fileext = ".c")
#' gbt_export(m, file)
#' head(readLines(file), 3)
#' unlink(file)
#' @export
gbt_export <- function(model, file, format = NULL, name = "model", ...) {
  check_no_dots(written_dots(...), names(formals(gbt_export)))
  check_model(model, "model")
  check_path(file, "file")
  formats <- .Call(C_gbt_export_formats)
  format <- export_format(format, file, formats)
  if (!is_text(name)) stop_argument("`name` must be one text", "name")
  made <- .Call(C_gbt_export, model$state, model$cache, as.double(rounds_used(model)), match(format, formats$name) - 1L,
                enc2utf8(name), as.integer(isTRUE(model$has_offset)), as.integer(!is.null(model$exposure)),
                as.double(levels_of(model)),
                if (model$n_outputs > 1L) enc2utf8(as.character(score_names_of(model))) else character())
  columns <- columns_of_trees(model)
  notes <- c(made$notes, made_columns_note(model, columns$names), units_note(columns))
  for (note in notes) say(paste0("gbt_export: ", note))
  .Call(C_gbt_write_file, full_path(file), made$bytes)
  invisible(file)
}

# The name of a format, given or by the end of a file's name.
export_format <- function(format, file, formats) {
  if (!is.null(format)) return(match_name(format, formats$name, "format"))
  ends <- nzchar(formats$extension)
  hit <- ends & endsWith(tolower(printable(file)), paste0(".", formats$extension))
  if (any(hit)) return(formats$name[which.max(ifelse(hit, nchar(formats$extension), 0L))])
  stop_argument(sprintf("the end of \"%s\" does not say which format it is; give `format`, one of %s", printable(file),
                        enumerate(formats$name, 20L, "\"")), "format")
}

# The columns that trees split by, as files name them: list(names, tags).
columns_of_trees <- function(model) {
  info <- .Call(C_gbt_model_info, model$state, model$cache)
  splits <- .Call(C_gbt_model_importance, model$state, model$cache, 0L, as.integer(rounds_used(model)))$splits
  at <- sort(unique(unlist(info$columns[splits > 0])))
  list(names = info$names[at], tags = info$tag[at])
}

# A clause about units of columns, which the program does not convert; NULL where there are none.
units_note <- function(columns) {
  has <- grepl("^(difftime|units):", columns$tags)
  if (!any(has)) return(NULL)
  paste("the file takes numbers in the units of the training:",
        enumerate(printable(sprintf("`%s` in %s", columns$names[has], unit_of(columns$tags[has]))), 5L, ""))
}

# A clause about columns that are made before trees see them; NULL where there are none. names: the columns of the file.
made_columns_note <- function(model, names) {
  if (!is.null(recipe_of(model))) {
    return("the file takes the columns that the model's recipe makes: bake rows first")
  }
  features <- model$terms$features
  if (is.null(features)) return(NULL)
  terms <- lapply(features, str2lang)
  made <- setdiff(names, vapply(terms[vapply(terms, is.name, NA)], as.character, ""))
  if (length(made)) {
    sprintf("the file takes columns that the model's formula makes: %s", enumerate(printable(made), 5L, "`"))
  }
}
