# Data sets in folders: see src/gbt/disk/disk.h.

# Bytes of a memory budget: a number, or a text with a unit. Powers of 1024, as memory is counted.
memory_bytes <- function(memory, parameter = "memory") {
  if (is.null(memory)) return(2^30)
  units <- c(b = 1, kb = 2^10, mb = 2^20, gb = 2^30, tb = 2^40)
  if (is_text(memory)) {
    memory <- try_else(tolower(memory), function(e) "") # it refuses some texts
    parts <- regmatches(memory, regexec("^\\s*([0-9]+\\.?[0-9]*)\\s*([kmgt]?)i?b?\\s*$", memory))[[1L]]
    memory <- if (length(parts)) as.numeric(parts[2L]) * units[[paste0(parts[3L], "b")]] else NA
  }
  if (!is_number(memory, 0, 2^62)) {
    stop_argument(sprintf("`%s` must be a number of bytes, or a text such as \"2 GB\"", parameter), parameter)
  }
  as.numeric(memory)
}

# Where the bins of a data set are stored, as the engine's glue takes it. NULL: in memory. fields: R's fields of the
# object, which are stored in the same folder.
disk_of <- function(path, memory, fields, codec) {
  if (is.null(path)) return(NULL)
  if (!is.null(share_here())) dir_create_all(full_paths(dirname(path)))
  list(path = full_paths(path), memory = memory_bytes(memory), note = values_bytes(folder_values(fields)),
       codec = enums$codec[[codec]])
}

# The folders of this rank's share, which are within those that all ranks were given. So these may be the same for all.
own_folders <- function(path) {
  share <- share_here()
  if (is.null(share)) path else file.path(path, sprintf("rank-%04d", share[1L]))
}

full_paths <- function(path) vapply(path, full_path, "", USE.NAMES = FALSE)

# The folders of a data set.
check_folders <- function(path) {
  if (missing(path)) stop_argument("`path` is missing: give the folder of a data set, or all of its folders", "path")
  if (length(path) == 1L || !is.character(path)) return(check_path(path, "path"))
  if (!length(path) || length(path) > 256L || anyNA(path) || any(path == "") || any(Encoding(path) == "bytes")) {
    stop_argument("`path` must be one path, or a path for each folder, at most 256", "path")
  }
  twice <- anyDuplicated(full_paths(path))
  if (twice > 0L) {
    stop_argument(sprintf("`path` has %s twice; give every folder once", dQuote(printable(path[twice]), FALSE)),
                  "path")
  }
}

# Makes those folders that are not there; another rank may do the same. The engine says what is wrong.
dir_create_all <- function(path) for (one in path) dir.create(one, showWarnings = FALSE)

# The folders of a data set that is to be written. The engine finds out whether they can be written to. What is
# plainly wrong is an error here, before rows are read, which may take hours.
check_new_folders <- function(path) {
  check_folders(path)
  full <- full_paths(path)
  fail <- function(why, i) stop(gbt_error("io", sprintf(why, path[i]), path[i]))
  if (suppressWarnings(file.exists(file.path(full[1L], "gbt-dataset")))) {
    fail("\"%s\" already contains a data set; open it with gbt_open(), or give another folder", 1L)
  }
  no_folder <- suppressWarnings(file.exists(full) & !dir.exists(full))
  if (any(no_folder)) fail("\"%s\" is a file; give a folder (a new one is created)", which(no_folder)[1L])
  closed <- suppressWarnings(dir.exists(full) & file.access(full, 2L) != 0L)
  if (any(closed)) fail("cannot write to the folder \"%s\"; give another one", which(closed)[1L])
}

# The name of the codec that `compress` asks for. here: see available_codecs().
check_compress <- function(compress, path, here = available_codecs()) {
  if (is_flag(compress)) {
    compress <- if (!compress) "none" else c("zstd", "lz4")[here[c("zstd", "lz4")]][1L]
    if (is.na(compress)) {
      stop_unsupported(paste("`compress = TRUE`: this build of gbt has neither zstd nor lz4; install one of these",
                             "libraries (Debian: libzstd-dev), then gbt again, or leave `compress` out"))
    }
  }
  compress <- match_choice(compress, names(enums$codec), "compress")
  if (compress != "none" && is.null(path)) {
    stop_argument("`compress` is for data in a folder: give `path`, or leave `compress` out", "compress")
  }
  compress
}

# Fields of a gbt_data that its folder keeps; all others are the engine's.
kept_fields <- c("label", "weight", "offset", "exposed", "time", "group", "max_bin", "sparse_zero", "is_reference",
                 "start")

folder_doubles <- c("weight", "offset", "time", "group")

# These fields as plain vectors, for values_bytes(): the label by label_values(), a matrix of offsets with its number of
# columns as another field, the mark of a model as whole numbers.
folder_values <- function(fields) {
  out <- stats::setNames(lapply(kept_fields, function(name) fields[[name]]), kept_fields)
  out["label"] <- list(label_values(out$label))
  out$offset_columns <- if (length(dim(out$offset)) == 2L) ncol(out$offset) else 0L
  for (name in folder_doubles) if (!is.null(out[[name]])) out[[name]] <- as.double(out[[name]]) # without names
  if (!is.null(out$start)) out$start$model <- as.integer(out$start$model)
  out$share <- fields$share # NULL: no entry, as in folders of versions without ranks
  out$divided <- attr(fields$group, "divided") # NULL: no entry
  out$position <- if (!is.null(fields$position)) as.integer(fields$position) # likewise
  out$position_level <- levels(fields$position)
  out
}

# The fields of a gbt_data of n rows from the bytes in a folder, which anyone may have written: plain vectors, with the
# classes that they had. What else they must be is checked by data_fields_good().
fields_of_folder <- function(bytes, n, path) {
  bad <- function() stop_values(path, "make the folder again with gbt_data(path = )")
  out <- values_of_bytes(bytes, c(kept_fields, "offset_columns"), path, "make the folder again with gbt_data(path = )",
                         optional = c("share", "divided", "position", "position_level"))
  out["label"] <- list(label_of_values(out$label, n, bad))
  out["position"] <- list(position_of_values(out$position, out$position_level, n, bad))
  for (name in folder_doubles) if (!is.null(names(out[[name]]))) bad()
  if (!is.null(out$divided)) {
    if (!is_text(out$divided) || is.null(out$group)) bad()
    attr(out$group, "divided") <- out$divided
  }
  columns <- out$offset_columns
  out$offset_columns <- out$divided <- out$position_level <- NULL
  if (!is_whole(columns, 0, 2^31 - 1) || (columns > 0 && length(out$offset) != n * columns)) bad()
  if (columns > 0) dim(out$offset) <- c(n, columns)
  if (!is.null(out$start)) {
    mark <- if (is.list(out$start)) out$start[["model"]]
    if (!is.integer(mark) || anyNA(mark) || any(mark < 0L | mark > 255L)) bad()
    out$start$model <- as.raw(mark)
  }
  out
}

#' Open data that were prepared in a folder
#'
#' Opens the data that [gbt_data()] has written to a folder (`path`). During training, bins are read from the folder,
#' and at most `memory` of them is kept in memory. Models are the same, to the last bit, as from data in memory.
#'
#' Folders may be moved or copied, and opened by several processes at the same time. A later version of gbt may require
#' to make them again. Pages have checksums: for a damaged page, the error names the file and the page.
#'
#' Opening a folder never runs code from it, and the contents of the folder are checked before they are used. A folder
#' that was made to do harm gives an error or a wrong model. Do not write to the folder while it is open, see
#' `SECURITY.md` in the sources.
#'
#' @param path The folder, or all folders of data that were written to several, in any order.
#' @param label,weight,offset,exposure,time,group Values for the rows, which replace those in the folder, see
#'   [gbt_data()]. `NULL` keeps those in the folder. `offset` and `exposure` together replace the offset of the folder.
#'   `weight` does not change the cuts.
#' @param memory Memory for bins: a number of bytes, or a string such as `"2 GB"`. `NULL` is 1 GB. Some pages are always
#'   in memory. With `subsample` and similar parameters, the sampled rows may take as much again, or 8 bytes for every
#'   row of the data if that is more. In addition, labels, scores, gradients and so on take about 60 bytes per row.
#' @param ranks From [gbt_ranks()], for folders that were made with `ranks`: each rank opens its own one within `path`.
#' @param threads Number of threads, see [gbt_threads()].
#' @param ... Must be empty: a misspelt argument is an error.
#' @return An object of class `gbt_data`.
#' @seealso [gbt_data()]; `vignette("larger", package = "gbt")`
#' @concept larger than memory
#' @concept out-of-core training
#' @examples
#' folder <- file.path(tempdir(), "iris-bins")
#' gbt_data(iris[-5], label = iris$Species, path = folder, threads = 1)
#' d <- gbt_open(folder, threads = 1)
#' gbt_train(d, nrounds = 2, threads = 1)
#' unlink(folder, recursive = TRUE)
#' @export
gbt_open <- function(path, label = NULL, weight = NULL, offset = NULL, time = NULL, group = NULL, memory = NULL, ...,
                     threads = NULL, exposure = NULL, ranks = NULL) {
  told_to_ranks({
    check_no_dots(written_dots(...), names(formals(gbt_open)))
    fields <- list(label = label, weight = weight, offset = offset, exposure = exposure, time = time, group = group)
    with_ranks(check_ranks(ranks), with_row_fields(open_folders(path, memory, threads), fields), "gbt_open")
  })
}

open_folders <- function(path, memory, threads) {
  check_folders(path)
  given <- path
  path <- own_folders(path)
  none <- path[!suppressWarnings(dir.exists(full_paths(path)))] # it warns of paths that are too long
  if (length(none)) {
    stop_data(sprintf("there is no folder %s; %s", dQuote(printable(none[1L]), FALSE), how_to_make(given)), "path")
  }
  # Of folders with some of the files of a data set the engine says which are lost.
  if (!any(grepl("^(gbt-dataset$|pages-)", list.files(full_paths(path))))) {
    stop(gbt_error("io", sprintf(paste("%s holds no data set of gbt: it has no file gbt-dataset; gbt_data() makes",
                                       "one with `path`"), dQuote(printable(path[1L]), FALSE)), path[1L]))
  }
  opened <- .Call(C_gbt_dataset_open, full_paths(path), memory_bytes(memory), resolve_threads(threads))
  info <- .Call(C_gbt_dataset_info, opened[[1L]])
  out <- gbt_data_of(opened[[1L]], fields_of_folder(opened[[2L]], info$n_rows, path[1L]), path)
  if (!all(data_fields_good(unclass(out), info))) stop_values(path[1L], "make the folder again with gbt_data(path = )")
  if (!is.null(ranks_here())) check_own_share(out, dQuote(printable(path[1L]), FALSE), "path")
  out
}

# How a folder that is not there can be made. given: the paths that the user gave, which are those of all ranks.
how_to_make <- function(given) {
  if (is.null(ranks_here())) return("gbt_data() makes one with `path`")
  if (any(file.exists(file.path(full_paths(given), "gbt-dataset")))) {
    return(paste("one process made the data set that `path` has, and ranks cannot divide it: give the rows to",
                 "gbt_data(x, path = , ranks = ranks), also with `share = \"split\"`"))
  }
  "gbt_data(x, path = , ranks = ranks) makes one for each rank, and as many ranks open them"
}

# A gbt_data with other numbers of its rows. fields: see chunk_fields; NULL: those that it has.
with_row_fields <- function(x, fields) {
  exposure <- fields$exposure
  if (is_column_name(exposure)) {
    stop_argument("`exposure` must be numbers, one for each row: a folder has bins and no values", "exposure")
  }
  if (!is.null(exposure)) fields$offset <- exposed_offset(fields$offset, exposure, x$n_rows)
  checked <- check_row_fields(fields, x$n_rows)
  given <- !vapply(checked, is.null, NA)
  if (given[["offset"]]) { # scores were those of another one
    x["exposed"] <- list(if (!is.null(exposure)) "")
    x["start"] <- list(NULL)
  }
  if (given[["time"]] || given[["group"]]) given[c("time", "group")] <- TRUE
  x[names(checked)[given]] <- checked[given]
  x
}
