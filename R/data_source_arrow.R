# Arrow's data sets, tables and readers as sources: whatever gives batches.

#' Rows of an Arrow data set
#'
#' Says where the rows of [gbt_train()] or [gbt_data()] come from: a data set, a query, a table or a reader of the
#' package arrow. So Parquet and Feather files, folders of them and partitioned data sets can be read. Rows come batch
#' by batch, once, and are kept in a temporary folder until they are binned. Dictionaries become factors, whose levels
#' are joined. arrow converts values to R: decimals become numbers, 64-bit integers `integer64`, or integers where
#' these hold all. Lists, structs and bytes are errors that name the column. Tried with arrow 25.0.1.
#'
#' @param x What `arrow::open_dataset()`, `arrow::read_parquet(as_data_frame = FALSE)` or arrow's verbs of dplyr give,
#'   or a reader with a method `read_next_batch()`, which gives its rows once. Their order is arrow's.
#' @inheritParams gbt_query
#' @return A source of rows for [gbt_train()], [gbt_data()], [predict()][predict.gbt] and others, see [gbt_sources].
#' @seealso [gbt_data()], [gbt_files()]; `vignette("larger", package = "gbt")`
#' @concept larger than memory
#' @concept Parquet
#' @examples
#' # whatever has Arrow's interface: here three batches of a data frame
#' reader <- new.env()
#' reader$left <- split(iris, rep(1:3, 50))
#' reader$read_next_batch <- function() {
#'   if (length(reader$left) == 0) return(NULL)
#'   batch <- reader$left[[1]]
#'   reader$left <- reader$left[-1]
#'   batch
#' }
#' gbt_data(gbt_batches(reader, label = "Species"), threads = 1)
#' @export
gbt_batches <- function(x, label = NULL, weight = NULL, offset = NULL, time = NULL, group = NULL, columns = NULL,
                        progress = FALSE, exposure = NULL, texts = NULL, ...) {
  check_source_dots(written_dots(...), names(formals(gbt_batches)), "gbt_batches()")
  reads <- function(x) is.environment(x) && is.function(x$read_next_batch)
  if (!reads(x) && !inherits(x, "ArrowTabular") && !is_arrow_rows(x)) {
    hint <- if (is_texts(x)) "; files are arrow::open_dataset(files)" else ""
    stop_argument(sprintf("`x` must be a data set, table or reader of package arrow, not %s%s", describe(x), hint), "x")
  }
  if (!reads(x)) need_package("arrow", "reading Arrow data")
  open <- function(texts) {
    if (reads(x)) return(open_batches(x, TRUE, NULL))
    open_batches(with_arrow_errors(arrow_reader(x)), FALSE, if (progress) arrow_rows(x))
  }
  roles <- roles_given()
  new_source(open, FALSE, roles, columns, progress, texts)
}

# Of package arrow, and not in memory as a table is.
is_arrow_rows <- function(x) inherits(x, c("Dataset", "arrow_dplyr_query", "Scanner", "RecordBatchReader"))

# How many rows there are, where that costs little, or NULL.
arrow_rows <- function(x) {
  cheap <- inherits(x, "ArrowTabular") || (inherits(x, "FileSystemDataset") &&
                                             inherits(x$format, c("ParquetFileFormat", "IpcFileFormat")))
  n <- if (cheap) try_else(nrow(x), function(e) NULL)
  if (is_number(n, 0, 2^53)) n
}

arrow_reader <- function(x) getExportedValue("arrow", "as_record_batch_reader")(x)

with_arrow_errors <- function(code) {
  try_else(code, function(e) stop_data(sprintf("Arrow says: %s", conditionMessage(e)), "x"))
}

# once: the reader is the user's, and may be at its end. n_rows: NULL where that is not known.
open_batches <- function(reader, once, n_rows) {
  begun <- FALSE
  rows_reader("the batches", function(rows) {
    batch <- with_arrow_errors(reader$read_next_batch())
    if (is.null(batch)) {
      if (once && !begun) stop_data("the reader is exhausted: it gives its rows only once; create it again", "x")
      return(NULL)
    }
    begun <<- TRUE
    with_arrow_errors(as.data.frame(batch))
  }, function() NULL, n_rows)
}
