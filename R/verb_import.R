# Models that other programs have trained. The engine reads the file (src/gbt/exchange) and gives the bytes of a model;
# here they get the fields that R keeps with a model. `imported` is one of them, a list of texts:
#
#   program, version    "XGBoost", "3.2.0"; "" where the file does not say
#   objective           by the program's name
#   lacks               what the file does not say of nodes: of "gain", "cover", "count"

#' Import a model of XGBoost, LightGBM or CatBoost, or gbt's JSON
#'
#' Reads a model that another program has trained, or JSON that [gbt_export()] has written. The result works like any
#' other model, for predictions, explanations, plots and [gbt_save()]. Its raw scores (`predict(type = "link")`) equal
#' those of the other program, to the last bit.
#'
#' @section XGBoost:
#' JSON and UBJ files of version 1.3 and later, from `xgb.save()` (`model.json`, `model.ubj`), or a model in the R
#' session (class `xgb.Booster`). Numeric and categorical splits, several classes or responses, forests, the booster
#' `"dart"` and leaves with a value for each response are supported. The booster `"gblinear"` has no trees and is an
#' error.
#' - XGBoost compares and adds in float32. Thresholds become the doubles that separate the same numbers, and the model
#'   adds as XGBoost does. [gbt_shap()] and `predict(type = "contrib")` add in double; their sums differ from the scores
#'   by the rounding of float32.
#' - Responses are computed in double, by XGBoost in float32, so probabilities agree to 7 digits.
#' - A model with early stopping predicts with the rounds up to the best one, as XGBoost does in R, unless you give
#'   `trees` to [predict()][predict.gbt].
#' - Raw scores of the booster `"dart"` are those of an `xgb.DMatrix`; XGBoost's own of a matrix may differ in the last
#'   bits.
#' - In gbt, entries that a sparse matrix does not store are zeros; in XGBoost's R package they are missing. For the
#'   same predictions use `predict(model, x, sparse_zero = "missing")`.
#'
#' @section LightGBM:
#' The text files that `lgb.save()` writes, or a model in the R session (`lgb.Booster`).
#' - Linear leaves (`linear_tree`) read the numbers of their columns, without bounds, where those of gbt
#'   (`leaf_model = "linear"`) read bins. A row in which one of the leaf's numbers is missing gets a constant. Such a
#'   model predicts, is drawn, saved and written as C, JSON, SQL or LightGBM's text. Contributions need a `background`:
#'   those by cover need means of the columns, which the file does not have, and are an error. So is `linear_tree` with
#'   `zero_as_missing`.
#' - Missing values are treated as in LightGBM: in a column that had none in training they are zeros, and with
#'   `zero_as_missing` zeros are missing values.
#' - A forest (`boosting = "rf"`) predicts the mean of its trees, also as `"link"`, where LightGBM's raw score is their
#'   sum. With a `sigmoid` other than 1 the link is that multiple of LightGBM's raw score: the log odds.
#' - A file has no best round: LightGBM saves only the rounds that it predicts with.
#'
#' @section CatBoost:
#' JSON files, from `catboost.save_model(model, "model.json", file_format = "json")`; with categorical columns give also
#' `pool =`, so that the file has the names of the categories. Or a model without categorical columns in the R session
#' (`catboost.Model`). Symmetric and other trees, several outputs, one-hot splits of categories (`one_hot_max_size`) and
#' splits by statistics of single categorical columns (CTR) are supported.
#' - A split by such a statistic becomes a split by a set of levels. Missing values and levels that training did not
#'   have go where CatBoost sends unknown categories. Errors: statistics of several columns together, which
#'   `max_ctr_complexity = 1` does not make, statistics of a response of several columns, and files whose tables
#'   CatBoost mixes up (one type twice in `simple_ctr`, or `per_feature_ctr`): CatBoost itself predicts other numbers
#'   after it has read such a file.
#' - The file does not have the gains of splits: [gbt_importance()] sorts by cover, where the file has it. In a
#'   symmetric tree a split of a layer counts once in it, and once a node in `"frequency"`. `"shap"` works as well.
#' - For `"Poisson"` and `"Tweedie"` responses are means, where CatBoost's `predict()` gives raw scores.
#'
#' @section gbt's own JSON:
#' Files that `gbt_export(model, "model.json")` writes, which other programs may have written or changed as well. Raw
#' scores, responses, nodes and contributions are those of the model that was written, linear leaves included; writing
#' the result gives the same file.
#' - The file has the trees and how scores become responses, and nothing of the training: not its parameters, log,
#'   formula or recipe. Statistics of categories are sets of levels. A model of hazards has no baseline, so no survival
#'   curves; distributions and discrete hazards are an error. [gbt_save()] keeps all of it.
#' - A model that was trained with an offset or an exposure wants the sum of both, on the scale of the link, as `offset`
#'   of [predict()][predict.gbt].
#'
#' @section Columns, classes and responses:
#' - Columns are matched by name. In a file of XGBoost without names they are `f0`, `f1`, ..., as in XGBoost. The
#'   columns of a matrix without names must be in the order of the training.
#' - Levels of factors are matched by name if the file has the names. Otherwise categories are the program's codes,
#'   whole numbers from 0: give numbers, or a factor whose levels are such numbers. XGBoost's package for R writes no
#'   names: for a factor `f` give `as.integer(f) - 1`. For factors or character values without any such number
#'   [predict()][predict.gbt] warns (class `gbt_warning_unseen`).
#' - An objective that gbt does not have, such as `"binary:hinge"` or `"multiclassova"`, has raw scores as its
#'   responses. A warning (class `gbt_warning_import`) says so where the other program's responses are something else.
#' - Several responses whose objective gbt has (squared errors, `"MultiRMSE"`; of labels of two classes
#'   `"binary:logistic"`, `"MultiLogloss"`) are columns of one response, as in [gbt_train()]: [gbt_evaluate()],
#'   [gbt_curve()], [gbt_conformal()] and other functions take a matrix `y` with these columns.
#' - The file does not describe the training data: `nobs()` is `NULL`, and the model cannot be refitted or used as
#'   `init_model`. To continue from it, use an offset: `gbt_train(offset = predict(model, x, "link"))`.
#'
#' A file is checked and never run as code, so files from untrusted sources are safe. A damaged file is an error of
#' class `gbt_error_format`.
#'
#' @param file Path of the file, a raw vector with its bytes, or a model of the packages xgboost, lightgbm or catboost,
#'   which that package, installed, saves to a temporary file.
#' @param classes Names of the classes, for a model that predicts classes, or of the columns of the response, for one of
#'   several responses. For classes `NULL` takes those of the file (CatBoost), of the model in the session (a factor as
#'   the response of `xgboost()` or `lightgbm()`), or the numbers 0, 1, 2, ...; for columns those of gbt's own JSON, or
#'   `y1`, `y2`, ...
#' @param ... Must be empty: a misspelt argument is an error.
#' @return A model, see [gbt_train()]. Its field `imported` is a list of `program`, `version`, `objective` and `lacks`,
#'   what the file does not say of nodes.
#' @seealso [gbt_load()] for files of [gbt_save()]
#' @concept import JSON
#' @concept import
#' @concept XGBoost model
#' @concept LightGBM model
#' @concept CatBoost model
#' @concept migrate from xgboost lightgbm catboost
#' @examples
#' file <- system.file("extdata", "xgboost.json", package = "gbt")
#' m <- gbt_import(file)
#' m
#' predict(m, mtcars[1:3, ])
#' @export
gbt_import <- function(file, classes = NULL, ...) {
  check_no_dots(written_dots(...), names(formals(gbt_import)))
  if (missing(file)) check_path(file, "file")
  if (inherits(file, "gbt")) stop_argument("`file` is a model of gbt already: use it as it is", "file")
  name <- if (is_text(file)) file else if (is_raw_vector(file)) "the raw vector" else "the model"
  shown <- if (is_text(file)) sprintf("\"%s\"", printable(file)) else name
  bytes <- if (is_raw_vector(file)) as.vector(file) else bytes_of_file(file)
  named <- function(e) stop_format(sprintf("%s: %s", shown, conditionMessage(e)), name)
  found <- tryCatch(.Call(C_gbt_import, bytes), gbt_error_format = named)
  imported_model(found, classes, if (is.null(classes)) live_classes(file))
}

# Models of these classes are saved by a function of their package, and read from its file.
live_models <- list(
  xgb.Booster = list(package = "xgboost", save = "xgb.save", end = ".ubj", call = "xgb.save(model, \"model.ubj\")"),
  lgb.Booster = list(package = "lightgbm", save = "lgb.save", end = ".txt", call = "lgb.save(model, \"model.txt\")"),
  catboost.Model = list(package = "catboost", save = "catboost.save_model", end = ".json", more = list(
    file_format = "json"), call = "catboost.save_model(model, \"model.json\", file_format = \"json\")")
)

save_live_model <- function(model, its) {
  if (!has_package(its$package)) {
    stop_argument(sprintf(paste("`file` is a model of the package %s, which is not installed here: save the model",
                                "where it is, by %s, and give the path of the file"), its$package, its$call), "file")
  }
  path <- tempfile(fileext = its$end)
  on.exit(unlink(path))
  failed <- function(e) {
    stop_argument(sprintf("%s could not save `file`: %s", its$package, printable(conditionMessage(e))), "file")
  }
  try_else(do.call(get_exported(its$package, its$save), c(list(model, path), its$more)), failed)
  bytes_of_file(path)
}

# The levels of the factor that a model of the session was trained to predict, which its file does not have: xgboost()
# and lightgbm() keep them. NULL: there are none.
live_classes <- function(model) {
  texts <- if (inherits(model, "xgb.Booster")) {
    metadata <- attr(model, "metadata", exact = TRUE)
    if (is.list(metadata)) metadata[["y_levels"]]
  } else if (inherits(model, "lgb.Booster") && is.environment(model)) {
    processor <- get0("data_processor", model, inherits = FALSE)
    if (is.environment(processor)) get0("factor_levels", processor, inherits = FALSE)
  }
  if (is_texts(texts) && !anyDuplicated(texts)) enc2utf8(texts)
}

has_package <- function(package) requireNamespace(package, quietly = TRUE)

bytes_of_file <- function(file) {
  live <- intersect(class(file), names(live_models))
  if (length(live)) return(save_live_model(file, live_models[[live[1L]]]))
  check_path(file, "file", "one path, a raw vector or a model of the packages xgboost, lightgbm or catboost")
  path <- full_path(file)
  .Call(C_gbt_check_file, path)
  readBin(path, "raw", file.size(path))
}

# found: as of r_gbt_import(); known: as of live_classes().
imported_model <- function(found, classes, known = NULL) {
  info <- .Call(C_gbt_model_info, found$state, NULL)
  rounds <- info$n_trees / trees_of_round(info)
  labels <- objective_info(info$objective)$labels
  own <- objective_info(info$objective)$params$name
  shape <- .Call(C_gbt_model_shape, found$state, NULL, info$objective, info$names, info$tag)
  columns <- if (may_have_columns(info$objective) && info$n_outputs > 1L) imported_columns(info, classes)
  named <- if (is.null(columns)) imported_classes(classes, labels, info, known, found$program == "gbt") else
    list(response = if (isTRUE(is_of_columns(info$meta[["response"]]))) info$meta[["response"]] else "matrix")
  values <- stats::setNames(as.list(shape[6L + seq_along(own)]), own)
  if (length(found$levels)) values[[1L]] <- found$levels
  linear <- !is.null(.Call(C_gbt_model_slopes, found$state, NULL))
  fields <- list(
    classes = named$texts,
    response = named$response,
    columns = columns,
    params = c(list(num_parallel_tree = as.double(info$n_parallel)), if (linear) list(leaf_model = "linear"), values),
    best_round = if (found$best_round > 0) as.integer(found$best_round),
    has_offset = found$has_offset,
    imported = found[c("program", "version", "objective", "lacks")]
  )
  if (found$raw_only) {
    warn_gbt("import", sprintf(paste("gbt has no objective such as %s's \"%s\": predictions are raw scores, without",
                                     "the transform of that objective"), found$program, printable(found$objective)))
  }
  if (nzchar(found$odd_parameter)) {
    warn_gbt("import", sprintf(paste("`%s` of %s's file is out of gbt's range: the model has gbt's default instead.",
                                     "Raw scores do not depend on it"), printable(found$odd_parameter), found$program))
  }
  gbt_model_from_state(.Call(C_gbt_model_slice, found$state, c(0, rounds), model_meta(fields)))
}

# The columns of the response: names as given, or else those of the raw scores in the file.
imported_columns <- function(info, names) {
  n <- info$n_outputs
  if (!is.null(names)) {
    if (!are_names(names) || length(names) != n) {
      stop_argument(sprintf("`classes` must be the names of the %d columns of the model's response, each once", n),
                    "classes")
    }
    return(enc2utf8(names))
  }
  texts <- info$meta[["outputs"]]
  if (length(texts) == n && !anyDuplicated(texts)) texts else paste0("y", seq_len(n))
}

# The same of gbt's own file. texts, type: what it has, or NULL; usual: where it has no classes.
own_classes <- function(texts, type, usual) {
  if (is.null(type)) {
    numbers <- is.null(texts) || !is.null(usual) && !anyNA(suppressWarnings(as.numeric(texts)))
    type <- if (numbers) "double" else "factor"
  }
  list(texts = if (is.null(texts)) usual else texts, response = type)
}

# list(texts, response): names of classes, NULL for none, and what predicted classes are. classes: as given; known:
# those of the model in the session, where it has as many. own: the file is gbt's own, whose classes were checked.
imported_classes <- function(classes, labels, info, known, own) {
  n <- switch(labels, CLASS = info$n_outputs, BINARY = 2L, 0L)
  if (n > 0L && length(known) == n) classes <- known
  if (is.null(classes)) {
    texts <- info$meta[["classes"]] # of the file
    usual <- as.character(seq_len(n) - 1L)
    if (own && n > 0L) return(own_classes(texts, info$meta[["response"]], if (labels == "CLASS") usual))
    if (length(texts) != n || anyDuplicated(texts)) texts <- usual
    if (n == 0L || (labels == "BINARY" && identical(texts, usual))) return(list(texts = NULL, response = "double"))
    numbers <- !anyNA(suppressWarnings(as.numeric(texts)))
    return(list(texts = texts, response = if (numbers) "double" else "factor"))
  }
  if (n == 0L) {
    stop_argument(sprintf("`classes` is for models of classes; this one has objective \"%s\": leave it out",
                          info$objective), "classes")
  }
  texts <- if (is.character(classes) || is.numeric(classes)) as.character(classes)
  if (!is_texts(texts) || length(texts) != n || anyDuplicated(texts)) {
    stop_argument(sprintf("`classes` must be the names of the model's %d classes, each once", n), "classes")
  }
  list(texts = enc2utf8(texts), response = "factor")
}
