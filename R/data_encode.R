# Any x -> a frame: the description of columns as they lie in memory, which r_table.c turns into the engine's table.
# Nothing is copied but what has to be (texts to codes, POSIXlt, other units of time).
#
# A frame is a list:
#   n_rows           double
#   names            chr, UTF-8, unique
#   tag              chr, one per column: the class to remember ("double", "Date", "difftime:days", "units:km/h",
#                    "coded:98,99" for numbers with codes for missing values, "factor", ...), or
#                    "missing" for logical values that are all NA, which may stand for any class, "category" for whole
#                    numbers and ordered levels that are taken as categories (R/data_categories.R)
#   type             int: of enums$feature_type
#   storage          int: of enums$storage; logical vectors are "integer" as well, levels are "codes"
#   values           list of vectors, one per column;    or
#   matrix           a whole matrix, column after column; columns with `values` are there; or
#   p, i, x          a sparse matrix by columns; x is NULL when every entry is 1
#   levels           list of chr, or of the bits of 64-bit numbers whose digits are the texts (dbl), NULL where a column
#                    has none; NULL when none has
#   absent_missing   lgl: absent entries of a sparse matrix are missing instead of zero
#   derive           int, one per column: features besides the column (bits of enums$feature_kind); NULL for none
#   statistics       bytes of a model whose level counts are taken; NULL: those of the rows

encode_x <- function(x, sparse_zero = c("value", "missing")) {
  sparse_zero <- match_choice(sparse_zero, c("value", "missing"), "sparse_zero")
  if (inherits(x, "ArrowTabular")) x <- as.data.frame(x)
  if (is.data.frame(x)) return(encode_data_frame(x))
  if (is.matrix(x)) return(encode_matrix(x))
  if (isS4(x) && methods::is(x, "Matrix")) return(encode_sparse(x, sparse_zero))
  hint <- if (is.null(x)) {
    "was it looked up by a wrong name?"
  } else if (is_text(x) && (file.exists(x) || grepl("\\.[A-Za-z]{1,7}(\\.(gz|bz2|xz|zst))?$", x))) {
    stop_data(sprintf(paste("data must be a table, not the name of a file: read it first, as by read.csv(\"%s\"), or",
                            "let gbt_data(gbt_files(\"%s\", label = )) read it"), x, x))
  } else if (inherits(x, "connection")) {
    "read the table from it first, as by read.csv(x)"
  } else if (inherits(x, "gbt_source")) {
    paste("a source is read by gbt_train(), gbt_cv(), gbt_tune(), gbt_data(), predict() and gbt_evaluate(); take some",
          "rows as a data frame")
  } else if (in_database(x)) {
    "let gbt_query(connection, statement, label = ) read the rows of a table or query, or take them as a data frame"
  } else if (inherits(x, c("gbt", "gbt_cv", "gbt_tune"))) {
    "to train a model again use update() or gbt_refit(), to train it further `init_model`"
  } else if (inherits(x, "formula")) {
    "a formula goes to gbt_train() or gbt_cv(); here give columns, and the response as `label`"
  } else if (is.list(x)) {
    "turn it into a data frame first: as.data.frame(x)"
  } else if (is.atomic(x) && is.null(dim(x))) {
    "one row is matrix(x, nrow = 1), one column is data.frame(x = x)"
  } else {
    "turn it into a data frame or a matrix first"
  }
  stop_data(sprintf("data must be a data frame, a matrix or a sparse matrix, not %s; %s", describe(x), hint))
}

# Names of columns ------------------------------------------------------------------------------------------------

# Checked and in UTF-8. A matrix may have none: f1, f2, ...
feature_names <- function(names, n) {
  if (is.null(names)) return(if (n > 0L) paste0("f", seq_len(n)) else character(0))
  names <- as_utf8(names, "a column name")
  empty <- is.na(names) | names == ""
  if (any(empty)) {
    stop_data(sprintf("every column needs a name; without one: column %s", enumerate(which(empty), quote = "")))
  }
  if (anyDuplicated(names)) {
    twice <- unique(names[duplicated(names)])
    stop_data(sprintf("column names must be unique; more than once: %s", enumerate(twice)), twice[1L])
  }
  names
}

# Data frames -----------------------------------------------------------------------------------------------------

encode_data_frame <- function(x) {
  n_cols <- length(x)
  if (n_cols == 0L) stop_data("data have no columns")
  n_rows <- .row_names_info(x, 2L)
  names <- feature_names(names(x), n_cols)
  tag <- character(n_cols)
  type <- rep(enums$feature_type[["numeric"]], n_cols)
  storage <- rep(enums$storage[["double"]], n_cols)
  values <- levels <- vector("list", n_cols)
  for (j in seq_len(n_cols)) {
    column <- .subset2(x, j)
    if (!is.object(column) && is.double(column) && is.null(dim(column))) {
      tag[j] <- "double" # the common case first: frames can have very many columns
      values[[j]] <- column
    } else {
      e <- encode_column(column, names[j])
      tag[j] <- e$tag
      type[j] <- e$type
      storage[j] <- e$storage
      values[[j]] <- e$values
      if (!is.null(e$levels)) levels[[j]] <- e$levels
    }
    if (length(values[[j]]) != n_rows) {
      stop_data(sprintf("column `%s` has %s, but the data frame has %s", names[j],
                        counted(length(values[[j]]), "value"), counted(n_rows, "row")), names[j])
    }
  }
  list(n_rows = as.double(n_rows), names = names, tag = tag, type = type, storage = storage, values = values,
       levels = levels, absent_missing = FALSE)
}

encode_column <- function(v, name) {
  refuse <- function(what, hint) stop_data(sprintf("column `%s` is %s; %s", name, what, hint), name)
  if (inherits(v, "POSIXlt")) v <- as.POSIXct(v)
  codes <- code_tag(v)
  v <- meant_values(v, sprintf("column `%s`", name), name)
  if (is.data.frame(v)) refuse("a data frame", "make its columns columns of the outer data frame")
  if (is.list(v)) refuse("a list", "give numbers, factors, texts or times")
  if (length(dim(v)) > 1L) {
    if (length(dim(v)) > 2L || ncol(v) != 1L) {
      refuse(sprintf("a matrix of %d columns", ncol(v)), "make each of them a column of its own")
    }
    dim(v) <- NULL
  }
  if (is.factor(v)) {
    if (typeof(v) != "integer") refuse("a broken factor (its codes are not integers)", "recreate it with factor()")
    texts <- as_utf8(levels(v), sprintf("a level of column `%s`", name), name)
    twin <- .Call(C_gbt_text_twin, texts)
    if (twin > 0) {
      refuse(sprintf("a broken factor (level \"%s\" is there twice)", texts[twin]), "recreate it with factor()")
    }
    ordered <- is.ordered(v)
    return(list(tag = if (ordered) "ordered" else "factor",
                type = enums$feature_type[[if (ordered) "ordinal" else "categorical"]],
                storage = enums$storage[["codes"]], values = v, levels = texts))
  }
  if (is.character(v)) return(encode_texts(if (is.object(v)) as.vector(unclass(v)) else v, name))
  if (inherits(v, "integer64")) {
    if (typeof(v) != "double") refuse("a broken integer64", "recreate it with bit64::as.integer64()")
    return(encoded_numbers(v, "integer64"))
  }
  if (inherits(v, "difftime") && !isTRUE(attr(v, "units") %in% time_units)) {
    refuse("a difftime without a known unit", "recreate it with as.difftime()")
  }
  if (is.na(storage_of(v))) refuse(sprintf("of type %s", typeof(v)), "give numbers, factors, texts or times")
  encoded_numbers(v, if (!is.null(codes)) codes else if (is.logical(v) && all_missing(v)) "missing" else number_tag(v))
}

encoded_numbers <- function(v, tag) {
  list(tag = tag, type = enums$feature_type[["numeric"]], storage = storage_of(v), values = v)
}

# How numbers lie in memory, of enums$storage; NA for what are no numbers.
storage_of <- function(v) {
  if (inherits(v, "integer64")) return(enums$storage[["integer64"]])
  switch(typeof(v), double = enums$storage[["double"]], integer = , logical = enums$storage[["integer"]], NA_integer_)
}

time_units <- c("secs", "mins", "hours", "days", "weeks")

# The meaning of a column of numbers.
number_tag <- function(v) {
  if (inherits(v, "Date")) {
    "Date"
  } else if (inherits(v, "POSIXct")) {
    "POSIXct"
  } else if (inherits(v, "difftime")) {
    paste0("difftime:", attr(v, "units"))
  } else if (inherits(v, "units")) {
    paste0("units:", unit_text(v))
  } else {
    typeof(v)
  }
}

# Texts are a factor whose levels are the texts that occur, in order of appearance; NA is missing.
encode_texts <- function(v, name) {
  seen <- text_codes(v, sprintf("a text of column `%s`", name), name)
  list(tag = "character", type = enums$feature_type[["categorical"]], storage = enums$storage[["codes"]],
       values = seen$codes, levels = seen$texts)
}

# list(codes = , texts = ): the texts that occur, in UTF-8 and in order of appearance, and for each of `v` the place of
# its own. what, column: as for as_utf8().
text_codes <- function(v, what, column = NULL) {
  seen <- .Call(C_gbt_text_codes, v)
  texts <- as_utf8(seen$texts, what, column)
  if (seen$plain) return(list(codes = seen$codes, texts = texts))
  again <- .Call(C_gbt_text_codes, texts) # what was in two encodings is one text now
  list(codes = again$codes[seen$codes], texts = again$texts)
}

# Matrices --------------------------------------------------------------------------------------------------------

encode_matrix <- function(x) {
  if (isS4(x)) known_object(x, "the matrix", NULL, character(0))
  storage <- storage_of(x)
  if (is.na(storage)) {
    stop_data(sprintf("a matrix must hold numbers, not %s; as.data.frame(x) keeps texts and factors", typeof(x)))
  }
  n_cols <- ncol(x)
  if (n_cols == 0L) stop_data("data have no columns")
  tag <- rep(if (inherits(x, "integer64")) "integer64" else typeof(x), n_cols)
  if (is.logical(x)) {
    maybe <- if (nrow(x) == 0L) seq_len(n_cols) else which(is.na(.subset(x, 1L, TRUE)))
    tag[maybe[vapply(maybe, function(j) all_missing(matrix_column(x, j)), NA)]] <- "missing"
  }
  list(n_rows = as.double(nrow(x)), names = feature_names(colnames(x), n_cols), tag = tag,
       type = rep(enums$feature_type[["numeric"]], n_cols), storage = rep(storage, n_cols), matrix = x, levels = NULL,
       absent_missing = FALSE)
}

# A column of a frame that is not sparse.
frame_column <- function(frame, j) {
  values <- frame$values[[j]]
  if (is.null(values)) matrix_column(frame$matrix, j) else values
}

# Slots can be set to anything, or be gone, and package Matrix crashes on some of it. By columns is what we read
# ourselves: entries are checked by the engine, the shape here. The other classes Matrix converts, so it has to check
# them first. rows: is Matrix to take rows of it? Then entries are checked here as well.
check_sparse <- function(x, rows = FALSE) {
  refuse <- function(why) stop_data(sprintf("the %s is broken: %s", class(x)[1L], why))
  slot <- function(name) attr(x, name, exact = TRUE)
  d <- slot("Dim")
  if (!is.integer(d) || length(d) != 2L || anyNA(d) || any(d < 0L)) refuse("slot Dim must be two numbers, 0 or more")
  labels <- slot("Dimnames")
  fit <- is.list(labels) && length(labels) == 2L && all(lengths(labels) == 0L | lengths(labels) == d)
  if (!fit) refuse("slot Dimnames does not fit slot Dim")
  if (!all(vapply(labels, function(l) is.null(l) || is.character(l), NA))) refuse("slot Dimnames must hold texts")
  if (!inherits(x, c("dgCMatrix", "lgCMatrix", "ngCMatrix"))) {
    why <- try_else(methods::validObject(x, test = TRUE), conditionMessage)
    if (!isTRUE(why)) refuse(paste(why, collapse = "; "))
    return(invisible())
  }
  p <- slot("p")
  i <- slot("i")
  if (!is.integer(i)) refuse("slot i must be whole numbers")
  if (!is.integer(p) || length(p) != d[2L] + 1 || anyNA(p) || p[1L] != 0L || is.unsorted(p) ||
        p[length(p)] > length(i)) {
    refuse(sprintf("slot p must be %.0f numbers that ascend from 0 to the number of entries", d[2L] + 1))
  }
  if (!inherits(x, "ngCMatrix")) {
    type <- if (inherits(x, "lgCMatrix")) "logical" else "double"
    if (typeof(slot("x")) != type) refuse(sprintf("slot x must be of type %s, not %s", type, typeof(slot("x"))))
    if (length(slot("x")) != length(i)) refuse("slots i and x differ in length")
  }
  if (rows) check_sparse_rows(i, p, d[1L], refuse)
}

check_sparse_rows <- function(i, p, n_rows, refuse) {
  i <- i[seq_len(p[length(p)])]
  if (length(i) == 0L) return(invisible())
  if (anyNA(i) || min(i) < 0L || max(i) >= n_rows) {
    refuse(sprintf("slot i must hold numbers of rows from 0 to %d", n_rows - 1L))
  }
  falls <- which(diff(i) <= 0L) # but where a column begins
  if (!all(falls %in% p)) refuse("slot i must ascend within every column")
}

encode_sparse <- function(x, sparse_zero) {
  check_sparse(x)
  if (!inherits(x, c("dgCMatrix", "lgCMatrix", "ngCMatrix"))) {
    need_matrix(x)
    if (methods::is(x, "denseMatrix")) return(encode_matrix(methods::as(x, "matrix")))
    # triangular, symmetric, diagonal and permutation matrices leave out entries that they have; triplets may be doubled
    x <- methods::as(methods::as(x, "generalMatrix"), "CsparseMatrix")
  }
  n_cols <- x@Dim[2L]
  if (n_cols == 0L) stop_data("data have no columns")
  pattern <- inherits(x, "ngCMatrix")
  logical <- inherits(x, "lgCMatrix")
  list(n_rows = as.double(x@Dim[1L]), names = feature_names(x@Dimnames[[2L]], n_cols),
       tag = rep(if (logical) "logical" else "double", n_cols), type = rep(enums$feature_type[["numeric"]], n_cols),
       storage = rep(enums$storage[[if (logical) "integer" else "double"]], n_cols), p = x@p, i = x@i,
       x = if (pattern) NULL else x@x, levels = NULL, absent_missing = sparse_zero == "missing")
}
