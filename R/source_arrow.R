# Arrow's data sets, tables and readers as sources: whatever gives batches.

#' Rows of an Arrow data set
#'
#' Says where the rows of [gbt_data()] come from: a data set, a query, a table or a reader of the package arrow, so
#' Parquet and Feather files, folders of them and partitioned data sets as well. Rows come batch by batch, once, and are
#' kept in a temporary folder until [gbt_data()] returns. Dictionaries become factors, whose levels are joined.
#'
#' @param x What `arrow::open_dataset()`, `arrow::read_parquet(as_data_frame = FALSE)` or arrow's verbs of dplyr give,
#'   or a reader with a method `read_next_batch()`.
#' @inheritParams gbt_files
#' @return A source for argument `x` of [gbt_data()].
#' @seealso [gbt_data()], [gbt_files()]
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
                        progress = FALSE) {
  reads <- function(x) is.environment(x) && is.function(x$read_next_batch)
  known <- inherits(x, c("ArrowTabular", "Dataset", "arrow_dplyr_query", "Scanner"))
  if (!reads(x) && !known) {
    stop_argument(sprintf("`x` must be a data set, table or reader of package arrow, not %s", describe(x)), "x")
  }
  if (!reads(x)) need_package("arrow", "reading Arrow data")
  new_source(function(texts) open_batches(if (reads(x)) x else arrow_says(arrow_reader(x))), FALSE, label, weight,
             offset, time, group, columns, progress)
}

arrow_reader <- function(x) getExportedValue("arrow", "as_record_batch_reader")(x)

arrow_says <- function(code) try_else(code, function(e) stop_data(sprintf("Arrow says: %s", conditionMessage(e)), "x"))

open_batches <- function(reader) {
  rows <- 0
  pull <- function() {
    batch <- arrow_says(reader$read_next_batch())
    if (is.null(batch)) return(NULL)
    chunk <- arrow_says(as.data.frame(batch))
    rows <<- rows + nrow(chunk)
    chunk
  }
  list(pull = pull, close = function() NULL, done = function() NA_real_,
       where = function() sprintf("the batches, behind row %.0f", rows))
}
