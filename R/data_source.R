# Data that come in chunks: gbt_data(x = function(i) ...).

#' Data for training
#'
#' The kinds of data that [gbt_train()] accepts, and where larger data come from.
#'
#' * Data frames (also tibble and data.table), numeric, integer and logical matrices, sparse matrices of package Matrix,
#'   and tables of package arrow.
#' * A formula with a data frame, or a recipe with a data frame.
#' * [gbt_data()] prepares data once for many models. With `path` it keeps them in a folder, for data larger than
#'   memory; [gbt_open()] opens such a folder again.
#' * Sources of rows: [gbt_files()] (CSV and other delimited files), [gbt_query()] (databases) and [gbt_batches()]
#'   (Parquet, Arrow), see below.
#'
#' Missing values (`NA`, `NaN`) go to the side of a split that reduces the training loss more. A column that is all `NA`
#' may be of any class. `Inf` and `-Inf` are ordinary, extreme numbers. A row whose response is missing is an error:
#' leave it out, as by `subset = !is.na(y)`.
#'
#' @section Formulas:
#' A formula names the columns to use. It does not expand factors and drops no rows. `a:b` and `a * b` mean a and b,
#' since trees find interactions on their own. Transformations such as `log(a)`, `poly(a, 2)` and `offset()` are
#' evaluated again in new data. If the value of a term in a row depends on other rows, as with `rank(a)`, there is a
#' warning (class `gbt_warning_formula`). If a term calls functions of your own, the file of the model needs
#' `gbt_load(file, trust = TRUE)`. Variables that are not columns may be constants, such as k in `poly(a, k)`: up to 100
#' numbers, texts, logical values or dates, which are kept in the model.
#'
#' `weights`, `offset`, `exposure`, `mask`, `time`, `group`, `subset` and `valid` are evaluated in `data`, as in
#' `lm(weights = )`: a name means the column if `data` have one, else a variable where the call is written. So
#' `valid = test` is the column `test` of data that have one.
#'
#' @section Sources of rows:
#' ```r
#' gbt_train(gbt_files(files, label = "late"))                     # the source names the response,
#' gbt_train(late ~ carrier + distance, gbt_files(files))          # or a formula does
#' gbt_train(late ~ ., gbt_query(connection, "SELECT * FROM flights"), valid = gbt_files("later.csv"))
#' gbt_train(Surv(time, status) ~ ., gbt_files(patients))          # times of events, or
#' gbt_train(gbt_files(patients, label = c("time", "status")))
#' ```
#' Rows are read once, chunk by chunk, and the model is that of [gbt_data()] of the source, which this calls. Only bins,
#' responses, weights and the like are in memory. If the bins do not fit into memory, call [gbt_data()] with `path`
#' first. The formula can only name columns, except within `Surv()`, and `weights`, `offset`, `exposure`, `time`,
#' `group`, `strata` and `position` are names of columns or values. `valid` may be a source (with the columns of the
#' training data), but no share of the rows. Errors in arguments are found before rows are read, and wrong names of
#' columns after the first chunk.
#'
#' [gbt_cv()] and [gbt_tune()] take sources in the same way, [predict()][predict.gbt] takes them as `newdata`, and
#' [gbt_evaluate()] and [gbt_confusion()] read them in parts. All other functions need rows in memory. See
#' `vignette("larger", package = "gbt")`.
#'
#' @section Recipes:
#' `gbt_train(recipe, data)` trains the recipe with `recipes::prep()` on `data` and takes the columns of the baked rows
#' by their roles: predictors, one outcome, case weights. The model keeps the trained recipe. [predict()][predict.gbt],
#' [gbt_evaluate()] and all other functions that take data bake them first, so give *raw* rows; `valid` has raw rows,
#' too. Rows from `recipes::bake(model$recipe, data)` or `recipes::juice(model$recipe)` are marked and not baked again.
#' Rows that you baked with another recipe have no mark: they would be baked twice, with wrong results.
#'
#' Explanations ([gbt_shap()], [gbt_partial()], ...) are about the baked columns. To continue a model use
#' `gbt_train(init_model$recipe, data, init_model = )`. [gbt_cv()] and [gbt_tune()] train the recipe once, on all rows.
#' [gbt_save()] cannot store a recipe; [saveRDS()] can. A recipe that reorders new rows (`step_arrange()` without
#' `skip = TRUE`) is an error; one that makes columns of a row from other rows (`step_lag()`) gives a warning of class
#' `gbt_warning_recipe`.
#'
#' @section Parameters:
#' * `sparse_zero`: What absent entries of a sparse matrix are: `"value"` for the number 0, or `"missing"`.
#'
#' @seealso [gbt_train()], [gbt_categories]
#' @examples
#' # rows with a missing response are left out, missing predictors are fine
#' m <- gbt_train(Ozone ~ ., airquality, subset = !is.na(Ozone), nrounds = 20, threads = 1)
#' head(predict(m, airquality), 3)
#' @concept missing values
#' @concept larger than memory
#' @concept sparse matrix
#' @concept formula
#' @concept recipe
#' @concept weights
#' @name gbt_sources
NULL

# The form of a chunk that is neither a data frame nor a matrix: a list of these and numbers of its rows.
chunk_fields <- c("label", "weight", "offset", "exposure", "time", "group", "position")

is_chunk_list <- function(chunk) is.list(chunk) && !is.data.frame(chunk) && !isS4(chunk)

# The chunk as a list(x = , and its fields), or NULL after the last one.
chunk_at <- function(x, i) {
  chunk <- try_else(x(i), function(e) stop(own_error(e, "x")))
  if (is.null(chunk)) return(NULL)
  if (!is_chunk_list(chunk)) return(list(x = chunk))
  unknown <- setdiff(names(chunk), c("x", chunk_fields))
  if (is.null(chunk$x) || length(unknown) || is.null(names(chunk))) {
    stop_data(sprintf(paste("chunk %d is a list with %s; a chunk must be a data frame, a matrix, or a list with `x`",
                            "and, if needed, %s"), i, if (length(names(chunk))) enumerate(names(chunk)) else
                              "no names", enumerate(chunk_fields)), "x")
  }
  chunk
}

# Goes through all chunks once when they have fields, or are to be counted: list(n_rows = , fields = named list).
# n_rows: -1 if the rows were not counted.
gather_fields <- function(x, count) {
  chunk <- chunk_at(x, 1L)
  if (is.null(chunk)) stop_data("`x` is a function of chunks, and x(1) is NULL: there are no chunks", "x")
  names <- setdiff(names(chunk), "x")
  if (length(names) == 0L && !count) return(list(n_rows = -1, fields = list()))
  parts <- list()
  n_rows <- 0
  for (i in seq_len(.Machine$integer.max)) {
    if (is.null(chunk)) break
    if (!setequal(setdiff(names(chunk), "x"), names)) {
      stop_data(sprintf("chunk %d has other parts than chunk 1, which has %s", i, enumerate(c("x", names))), "x")
    }
    n <- n_rows_of(chunk$x)
    for (name in names) {
      if (NROW(chunk[[name]]) != n) {
        stop_data(sprintf("`%s` of chunk %d has %s for %s", name, i, counted(NROW(chunk[[name]]), "value"),
                          counted(n, "row")), name)
      }
    }
    parts[[i]] <- chunk[names]
    n_rows <- n_rows + n
    chunk <- chunk_at(x, i + 1L)
  }
  list(n_rows = n_rows, fields = stats::setNames(lapply(names, function(name) join_parts(parts, name)), names))
}

# Concatenates vectors; factors get the levels of all of them.
join_parts <- function(parts, name) {
  response <- attr(parts[[1L]][[name]], "response")
  if (!is.null(response)) return(response(join_frames(lapply(parts, `[[`, name))))
  if (inherits(parts[[1L]][[name]], "Surv")) return(join_surv(lapply(parts, `[[`, name)))
  parts <- lapply(parts, function(part) meant_values(part[[name]], sprintf("`%s` of a chunk", name), name))
  if (length(dim(parts[[1L]])) == 2L) return(do.call(rbind, lapply(parts, as.matrix)))
  if (is.factor(parts[[1L]])) return(unlist(parts, use.names = FALSE))
  do.call(c, parts)
}

join_frames <- function(frames) {
  names <- names(frames[[1L]])
  columns <- lapply(stats::setNames(nm = names), function(name) join_parts(frames, name))
  list_frame(columns, sum(vapply(frames, nrow, 0L)))
}

# The chunks with their column of this name as their exposures. keep: it stays a column.
exposed_chunks <- function(x, name, keep) {
  force(x)
  function(i) {
    chunk <- chunk_at(x, i)
    if (is.null(chunk)) return(NULL)
    value <- exposure_column(chunk$x, name, sprintf("chunk %d does not have", i))
    if (!keep) chunk$x <- without_column(chunk$x, name)
    if (!is.null(chunk$exposure)) {
      stop_argument("`exposure` is given as an argument and by the chunks; leave one of them out", "exposure")
    }
    c(chunk, list(exposure = value))
  }
}

# Rows that come in chunks: see frame_rows(). fields: what the user gave besides; exposed: the column of exposures.
chunk_rows <- function(x, fields, spec, exposed = NULL) {
  if (is_column_name(fields$exposure)) {
    exposed <- as_utf8(fields$exposure, "`exposure`")
    x <- exposed_chunks(x, exposed, !is.null(spec$reference))
    fields["exposure"] <- list(NULL)
  }
  is_given <- !vapply(fields, is.null, NA)
  gathered <- gather_fields(x, any(is_given))
  twice <- intersect(names(gathered$fields), names(fields)[is_given])
  if (length(twice)) {
    stop_argument(sprintf(paste("`%s` is given as an argument and by the chunks; leave one of them",
                                "out"), twice[1L]), twice[1L])
  }
  if (splits_rows() && any(is_given)) {
    n <- gathered$n_rows
    fields[is_given] <- part_of_fields(fields[is_given], sum_of_ranks(n), rows_before(n) + seq_len(n))
  }
  fields <- utils::modifyList(fields, gathered$fields, keep.null = TRUE)
  if (!is.null(fields$exposure)) {
    exposed <- given_or(exposed, "")
    fields$offset <- exposed_offset(fields$offset, fields$exposure, gathered$n_rows)
  }
  shape <- if (!is.null(ranks_here()) && is.null(spec$reference)) { # once: ranks may have other numbers of chunks
    shape_of_ranks(with_categories(encode_x(chunk_at(x, 1L)$x, spec$sparse_zero), spec$cat_features))
  }
  column <- NULL # names of the frame's columns
  next_frame <- function(i, wanted) {
    chunk <- if (is.null(wanted) || !inherits(x, "gbt_chunks")) chunk_at(x, i) else
      list(x = x(i, c(column[wanted], spec$cat_features)))
    if (is.null(chunk$x)) return(NULL)
    frame <- as_reference(frame_to_bin(chunk$x, spec, shape), spec$reference)
    column <<- frame$names
    frame
  }
  list(n_rows = gathered$n_rows, fields = fields, exposed = exposed, sparse_zero = spec$sparse_zero,
       x = function(i) chunk_at(x, i)$x, # the offset is that of all rows
       bin = function(weight, disk) {
         .Call(C_gbt_dataset_chunks, next_frame, gathered$n_rows, reference_ptr(spec), weight, spec$max_bin,
               spec$page_rows, enums$unseen[[spec$unseen]], resolve_threads(spec$threads), disk)
       })
}

chunked_rows <- function(x) inherits(x, c("gbt_source", "DBIResult")) || is.function(x) || is_arrow_rows(x)

# Rows of a chunk when a table is cut: enough that a call costs little, few enough for some megabytes.
rows_a_chunk <- function(x) max(1024, 4194304 %/% max(1L, ncol(x)))

# list(read = function(i) the next chunk as list(x, offset, exposure) or NULL, close = function()). offset: of all rows.
# Terms of a formula may use columns whose type the model does not know; that type is known only after the last row.
chunks_of <- function(newdata, offset, model) {
  if (!chunked_rows(newdata)) return(list(read = table_chunks(newdata, offset), close = function() NULL))
  if (inherits(newdata, "DBIResult")) newdata <- result_source(newdata)
  if (is_arrow_rows(newdata)) newdata <- gbt_batches(newdata)
  source <- if (inherits(newdata, "gbt_source")) {
    known <- is.null(model$terms$features) && is.null(recipe_of(model)) # its columns are those of the source
    if (known) stream_source(newdata, model) else read_source(newdata)
  }
  rows <- 0
  next_chunk <- function(i) {
    chunk <- if (is.null(source)) chunk_at(newdata, i) else as_chunk(source$read(i))
    if (is.null(chunk)) {
      if (!is.null(offset) && NROW(offset) != rows) {
        stop_argument(sprintf("`offset` has %s for %s", counted(NROW(offset), "row"), counted(rows, "row")), "offset")
      }
      return(NULL)
    }
    n <- n_rows_of(chunk$x)
    if (!is.null(offset) && !is.null(chunk$offset)) {
      stop_argument("`offset` is given as an argument and by the chunks; leave one of them out", "offset")
    }
    its <- if (is.null(offset)) chunk$offset else if (rows + n <= NROW(offset)) part_of_rows(offset, rows, n)
    if (!is.null(offset) && is.null(its)) {
      stop_argument(sprintf("`offset` has %s, but chunk %d ends with row %.0f", counted(NROW(offset), "row"), i,
                            rows + n), "offset")
    }
    rows <<- rows + n
    list(x = chunk$x, offset = its, exposure = chunk$exposure)
  }
  list(read = next_chunk, close = if (is.null(source)) function() NULL else source$close)
}

# Of a vector or a matrix.
part_of_rows <- function(x, before, n) {
  rows <- before + seq_len(n)
  if (length(dim(x)) == 2L) x[rows, , drop = FALSE] else x[rows]
}

table_chunks <- function(x, offset) {
  n <- if (length(dim(x)) == 2L) nrow(x) else NA
  if (is.na(n)) stop_data(sprintf("`newdata` is %s; give a data frame, a matrix or a source", describe(x)), "newdata")
  if (!is.null(offset) && NROW(offset) != n) {
    stop_argument(sprintf("`offset` has %s for %s", counted(NROW(offset), "row"), counted(n, "row")), "offset")
  }
  size <- rows_a_chunk(x)
  function(i) {
    before <- (i - 1) * size
    if (before >= n && i > 1) return(NULL)
    rows <- before + seq_len(min(size, n - before))
    list(x = x[rows, , drop = FALSE], offset = if (!is.null(offset)) part_of_rows(offset, before, length(rows)))
  }
}

# A chunk as a list, or NULL.
as_chunk <- function(chunk) if (is.null(chunk) || is_chunk_list(chunk)) chunk else list(x = chunk)

# sink: where predictions go: put(predictions of a chunk, rows before it), end() gives what predict() returns, drop() is
# called in any case. one: function(x, offset, exposure) -> predictions of a chunk by the model.
predict_by_chunks <- function(newdata, offset, sink, model, one) {
  force(sink)
  on.exit(sink$drop())
  chunks <- chunks_of(newdata, offset, model)
  on.exit(chunks$close(), add = TRUE)
  before <- 0
  warned <- character(0)
  once <- function(w) {
    if (w$kind %in% warned) invokeRestart("muffleWarning")
    warned <<- c(warned, w$kind)
  }
  for (i in seq_len(.Machine$integer.max)) {
    chunk <- chunks$read(i)
    if (is.null(chunk)) break
    predicted <- function() one(chunk$x, chunk$offset, chunk$exposure)
    watched <- function() withCallingHandlers(predicted(), gbt_warning_offset = once, gbt_warning_unseen = once)
    out <- try_else(watched(), function(e) {
      e$message <- sprintf("%s (in chunk %d, which begins with row %.0f)", conditionMessage(e), i, before + 1)
      stop(e)
    })
    sink$put(out, before)
    before <- before + NROW(out)
  }
  if (i == 1L) stop_data("`newdata` is a function of chunks, and its first one is NULL: there are no rows", "newdata")
  sink$end()
}

memory_sink <- function() {
  parts <- list()
  list(put = function(out, before) parts[[length(parts) + 1L]] <<- out, end = function() join_predictions(parts),
       drop = function() NULL)
}

join_predictions <- function(parts) {
  if (length(parts) == 1L) return(parts[[1L]])
  if (is.matrix(parts[[1L]])) return(do.call(rbind, parts))
  if (is.data.frame(parts[[1L]])) return(join_predicted_frames(parts))
  if (is.array(parts[[1L]]) && length(dim(parts[[1L]])) > 2L) return(join_arrays(parts))
  if (!is.factor(parts[[1L]])) return(unlist(parts))
  codes <- unlist(lapply(parts, function(p) stats::setNames(as.integer(p), names(p))))
  structure(codes, levels = levels(parts[[1L]]), class = class(parts[[1L]]))
}

# Data frames of chunks. Names of rows are kept where all chunks have some.
join_predicted_frames <- function(parts) {
  out <- join_frames(parts)
  labels <- lapply(parts, function(p) if (.row_names_info(p) > 0L) row.names(p))
  if (!any(vapply(labels, is.null, NA))) row.names(out) <- make.unique(unlist(labels))
  out
}

# Arrays of chunks, one below the other.
join_arrays <- function(parts) {
  d <- dim(parts[[1L]])
  flat <- do.call(rbind, lapply(parts, function(p) matrix(p, dim(p)[1L])))
  rows <- lapply(parts, function(p) dimnames(p)[[1L]])
  labels <- if (!any(vapply(rows, is.null, NA))) unlist(rows)
  array(flat, c(nrow(flat), d[-1L]), c(list(labels), dimnames(parts[[1L]])[-1L]))
}

# `...` of a function that makes a source: arguments that it does not have. known: those that it has; who: the function.
check_source_dots <- function(dots, known, who) {
  for (name in setdiff(printable(as.character(names(dots))), "")) {
    ours <- if (name %in% c("y", "labels", "response", "target")) "label" else
      if (name == "query" && "statement" %in% known) "statement" else sub("^weights$", "weight", canonical_name(name))
    if (ours %in% known) stop_argument(sprintf("`%s` is called `%s` here", name, ours), name)
    if (!is.na(ours)) {
      stop_argument(sprintf("%s has no `%s`; give it to the function that takes the rows, such as gbt_train()", who,
                            name), name)
    }
  }
  check_no_dots(dots, known)
}
