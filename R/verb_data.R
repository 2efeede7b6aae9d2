# gbt_data: rows prepared once (cuts found, values binned) for several models, and validation data in the terms of
# training data.

#' Data prepared for training
#'
#' Bins the data once, for several calls of [gbt_train()], or bins validation data with the cuts of the training data.
#' [gbt_train()] does the same with a data frame or a matrix, so you need this function only to save time, in several
#' trainings on the same rows, or for data larger than memory (`path`).
#'
#' Columns may be numeric, integer, logical, character (taken as factors), factors, ordered factors, `integer64`,
#' `Date`, `POSIXct` and `difftime`. `NA` and `NaN` are missing values; `-Inf` and `Inf` are ordinary, extreme numbers.
#' `cat_features` makes numeric columns categorical. A matrix without column names gets `f1`, `f2`, ...
#'
#' The object is a reference to binned rows outside of R's memory, which its copies share. So it cannot be saved or sent
#' to another process: make it again there, or keep the bins in a folder (`path`) and open it with [gbt_open()].
#' `identical()` is `FALSE` for two objects of the same data, and `options(future.globals.onReference = "error")`
#' refuses them. Models have no such limits.
#'
#' @param x A data frame (tibble, data.table), a numeric, integer or logical matrix, or a sparse matrix of package
#'   Matrix. For data that do not fit into memory: [gbt_files()] for delimited text; a connection of package DBI,
#'   [gbt_query()] or a result of `DBI::dbSendQuery()` for a database; a data set, query or reader of package arrow or
#'   [gbt_batches()] for Arrow and Parquet; or a function that returns data frames or matrices in chunks, see below.
#' @param label The response, one value per row: see `y` of [gbt_train()]. With a connection, `label`, `weight`,
#'   `offset`, `exposure`, `time` and `group` are names of columns; for survival `label` names several columns, see
#'   [gbt_files()]. With a source of rows, give the names here or in the source.
#' @param weight Weights of the rows, 0 or more, used for the cuts and in training. `weights` of [gbt_train()] replace
#'   them in training only: the cuts stay.
#' @param offset Known part of the score: a number per row, or a matrix with a column per output.
#' @param exposure Time or amount for which each row was observed, for objectives with a log link, see [gbt_train()]:
#'   numbers above 0, or the name of a column, which is then not a feature. Models store the name. The logarithm is
#'   added to the offset.
#' @param time,group When each row was observed; or which rows belong together: see [gbt_categories]. At most one of the
#'   two.
#' @param strata Strata of the rows, if `label` is a Surv object: values, or the name of a column, which is then not a
#'   feature; see [gbt_train()].
#' @param position For ranking from clicks: the position that each row was shown at, see [gbt_objectives()]: values, or,
#'   with a source of rows, the name of a column, which is then not a feature.
#' @param reference A `gbt_data` object whose cuts and factor levels are used, for validation data. Columns are
#'   matched by name, in any order; columns that it does not have are ignored.
#' @param max_bin Maximum number of bins of a numeric column, 2 to 65535, or `"exact"`, see [gbt_train()]. Not with
#'   `reference`.
#' @param level_counts Factors and character columns whose levels are counted: `TRUE` for all, or names of columns; see
#'   [gbt_categories]. Not with `reference`.
#' @param sparse_zero What entries that a sparse matrix does not store are: `"value"` for the number 0, or `"missing"`.
#' @param unseen With `reference`: what to do with levels that the training data do not have: `"prior"` (sent to the
#'   side of most training rows), `"missing"` (a missing value) or `"error"`.
#' @param page_rows Rows per page of binned data; 0: gbt chooses. Does not change models.
#' @param threads Number of threads, see [gbt_threads()].
#' @param ... Must be empty: a misspelt argument is an error. With a connection: the other arguments.
#' @param statement,columns,params,chunk_rows,n_rows,progress,texts With a connection: see [gbt_query()].
#' @param cat_features Columns of whole numbers that are categorical: names or positions (from 1); see [gbt_categories].
#'   Not with `reference`.
#' @param device Where to find the cuts and to bin: `"cpu"` or `"cuda"`, see [gbt_devices]. Does not change models.
#'   `NULL` uses `options(gbt.device = )` or `GBT_DEVICE`; without them, and for `"auto"`, the CPU.
#' @param init_model The model that [gbt_train()] will continue from with these data. Its scores of the rows are stored,
#'   8 bytes for each row and output, unless it was trained with the same cuts. Columns get the types and the order of
#'   its training data.
#' @param ranks From [gbt_ranks()]: `x` has the rows of this process, and the cuts are computed from the rows of all
#'   ranks.
#' @param path A folder for the bins, which then need not fit into memory; it is created if needed. [gbt_open()] opens
#'   it again, in this session or another one. Several folders, on different disks, share the bins and are read at the
#'   same time. `label`, `weight`, `offset`, `time`, `group` and `position` are stored there, too. With `ranks` each
#'   rank has its own folder in `path`. Does not change models.
#' @param memory With `path`: how much memory bins may take, see [gbt_open()].
#' @param compress With `path`: whether to compress the bins, which saves disk space and takes time at each reading:
#'   `"zstd"`, `"lz4"`, `TRUE` for the better one that this installation has (see [gbt_info()]), or `FALSE` and
#'   `"none"`. Pages that would become smaller by less than an eighth are not compressed. Does not change models.
#' @section Chunks:
#' `x = function(i)` returns chunk number `i`, from 1, as a data frame or a matrix, and `NULL` after the last chunk. The
#' function is called several times for each chunk: to count rows and levels, to find cuts (once for each batch of
#' columns), and to bin it. It must return the same rows every time, which is checked. Columns and their classes must be
#' the same in all chunks, and so must levels of ordered factors; other levels may differ. A chunk may be a list of `x`
#' and of `label`, `weight`, `offset`, `exposure`, `time`, `group` and `position` of its rows, which are all kept in
#' memory. The result is the same, to the last bit, as from one data frame of all rows.
#' @section How many rows:
#' Training uses at most 2,147,483,647 rows. The object may have 4,294,967,294 rows if `mask` in [gbt_train()] selects
#' fewer. Weights, labels and so on take 8 bytes per row. Several processes ([gbt_ranks()]) can have up to 2^47 rows
#' together; with `min_data_in_leaf` above 1, or factors split by sets of levels, up to 2^32 - 1.
#' @return An object of class `gbt_data`, with methods for `print()`, `dim()` and `dimnames()`.
#' @seealso [gbt_sources], [gbt_train()], [gbt_open()], [gbt_files()], [gbt_query()], [gbt_batches()];
#'   `vignette("larger", package = "gbt")`
#' @concept larger than memory
#' @concept out of memory
#' @examples
#' d <- gbt_data(iris[-5], label = iris$Species, threads = 1)
#' d
#' dim(d)
#' if (requireNamespace("RSQLite", quietly = TRUE)) {
#'   db <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
#'   DBI::dbWriteTable(db, "cars", mtcars)
#'   print(gbt_data(db, "SELECT * FROM cars WHERE hp > 90", label = "mpg", threads = 1))
#'   DBI::dbDisconnect(db)
#' }
#' @export
gbt_data <- function(x, ...) {
  if (missing(x)) stop_argument("`x` is missing: give a data frame, a matrix or a sparse matrix", "x")
  told_to_ranks(x) # its evaluation may fail
  UseMethod("gbt_data")
}

#' @rdname gbt_data
#' @exportS3Method gbt_data DBIConnection
gbt_data.DBIConnection <- function(x, statement, label = NULL, weight = NULL, offset = NULL, time = NULL, group = NULL,
                                   ..., columns = NULL, params = NULL, chunk_rows = 1e5, n_rows = NULL,
                                   progress = FALSE, exposure = NULL, texts = NULL) {
  told_to_ranks({
    gbt_data.default(gbt_query(x, statement, label, weight, offset, time, group, columns, params, chunk_rows, progress,
                               n_rows, exposure, texts), ...)
  })
}

#' @rdname gbt_data
#' @export
gbt_data.default <- function(x, label = NULL, weight = NULL, offset = NULL, time = NULL, group = NULL,
                             reference = NULL, max_bin = 255, level_counts = FALSE,
                             sparse_zero = c("value", "missing"), unseen = c("prior", "missing", "error"),
                             page_rows = 0, threads = NULL, ..., cat_features = NULL, device = NULL, path = NULL,
                             memory = NULL, compress = FALSE, init_model = NULL, exposure = NULL, ranks = NULL,
                             strata = NULL, position = NULL) {
  told_to_ranks({
    check_data_dots(written_dots(...))
    given <- c("max_bin"[!missing(max_bin)], "cat_features"[!is.null(cat_features)],
               "level_counts"[!missing(level_counts)], "unseen"[!missing(unseen)])
    spec <- list(reference = reference, max_bin = max_bin, level_counts = level_counts, cat_features = cat_features,
                 sparse_zero = sparse_zero, unseen = unseen, page_rows = page_rows, threads = threads, device = device,
                 path = path, memory = memory, compress = compress, init = init_model)
    names <- c("label", "weight", "offset", "exposure", "time", "group", "strata", "position")
    fields <- lapply(stats::setNames(nm = names), value_given, x, environment())
    with_ranks(check_ranks(ranks), {
      spec <- data_spec(spec, given, x)
      data_of_rows(x, fields, spec)
    }, "gbt_data")
  })
}

check_data_dots <- function(dots) {
  known <- names(formals(gbt_data.default))
  for (name in printable(as.character(names(dots)))) {
    here <- if (name %in% c("y", "labels")) "label" else sub("^weights$", "weight", canonical_name(name))
    if (here %in% known) stop_argument(sprintf("`%s` is called `%s` here", name, here), name)
  }
  for (name in names(dots)) {
    foreign <- if (nzchar(name) && is.null(same_meaning(name, known))) find_foreign("train", printable(name))
    if (is.null(foreign)) next
    reply <- foreign$reply
    if (grepl("^[a-z_]+$", reply)) reply <- sprintf("give gbt_train(%s = )", reply)
    stop_argument(sprintf("gbt_data() has no `%s`: %s", name, reply), name)
  }
  check_no_dots(dots, known)
}

#' @export
print.gbt_data <- function(x, ...) {
  if (is_gone(x)) {
    cat("<gbt_data> not available any more: it was saved and read again, or came from another process; recreate it\n")
    return(invisible(x))
  }
  check_data(x, "x")
  info <- .Call(C_gbt_dataset_info, x$ptr)
  cat(sprintf("<gbt_data> %s, %s, %s of bins\n", counted(info$n_rows, "row"), counted(length(info$names), "column"),
              format(structure(info$bytes, class = "object_size"), units = "auto")))
  kinds <- table(factor(info$type, c("numeric", "ordinal", "categorical")))
  kinds <- kinds[kinds > 0L]
  cat(sprintf("columns: %s\n", paste(kinds, names(kinds), collapse = ", ")))
  if (length(x$level_counts)) cat(sprintf("level counts of %s\n", enumerate(x$level_counts)))
  has <- !vapply(unclass(x)[c("label", "weight", "offset", "time", "group", "position")], is.null, NA)
  names <- names(has)[has]
  if (is_text(x$exposed)) { # it is in the offset
    names[names == "offset"] <- paste0("exposure", if (nzchar(x$exposed)) sprintf(" `%s`", printable(x$exposed)))
  }
  if (length(names)) cat(sprintf("with %s\n", paste(names, collapse = ", ")))
  if (!is.null(x$share)) cat(sprintf("the share of rank %d of %d\n", x$share[1L], x$share[2L]))
  if (!x$is_reference) cat("binned by the cuts of other data\n")
  if (is_text(x$path)) cat(sprintf("in the folder %s\n", dQuote(printable(x$path), FALSE)))
  if (is_texts(x$path) && length(x$path) > 1L) {
    cat(sprintf("in the folders %s\n", paste(dQuote(printable(x$path), FALSE), collapse = ", ")))
  }
  unseen <- unseen_of(info)
  unseen <- unseen[unseen > 0]
  if (length(unseen)) {
    rows <- vapply(unseen, counted, "", noun = "row")
    cat(sprintf("unseen levels: %s\n", paste0("`", names(unseen), "` in ", rows, collapse = ", ")))
  }
  invisible(x)
}

#' @export
`[.gbt_data` <- function(x, ...) {
  stop_unsupported(paste("a gbt_data object has bins, no rows to select; select rows of the data, then gbt_data(x,",
                         "...) again"))
}

#' @export
as.data.frame.gbt_data <- function(x, row.names = NULL, optional = FALSE, ...) {
  stop_unsupported("a gbt_data object holds bins, not values, and cannot become a data frame")
}

#' @export
dim.gbt_data <- function(x) {
  if (!is_whole(x$n_rows, 0, .Machine$integer.max)) stop_changed_data("n_rows")
  c(as.integer(x$n_rows), length(dimnames(x)[[2L]]))
}

#' @export
dimnames.gbt_data <- function(x) {
  if (!is_texts(x$feature_names)) stop_changed_data("feature_names")
  list(NULL, x$feature_names)
}
