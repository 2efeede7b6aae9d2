# Values of R in files that are no models: folders of bins and checkpoints. They are vectors and lists with names, as
# the fields of a model (see pack()), and the bytes are of src/gbt/bytes/values.h. R's own serialisation is
# never read from a file that may come from anyone: it can hold code, and objects of any class.

values_bytes <- function(fields) {
  .Call(C_gbt_values_write, do.call(c, c(list(list()), unname(Map(pack, fields, names(fields))))))
}

# The fields of these names. Bytes of another form are a gbt_error_format, whose message ends with `advice`. The caller
# checks the values. optional: names of fields that need not be there; NULL then.
values_of_bytes <- function(bytes, names, file, advice, optional = NULL) {
  tryCatch({
    values <- .Call(C_gbt_values_read, bytes)
    names <- c(names, intersect(optional, names(values)))
    lapply(stats::setNames(names, names), function(name) unpack(values, name))
  }, gbt_error_format = function(e) stop_values(file, advice))
}

stop_values <- function(file, advice) {
  stop_format(sprintf("\"%s\" keeps values that are damaged, or of another version of gbt; %s", printable(file),
                      advice), file)
}

pack <- function(x, name) {
  out <- list()
  if (is.null(x)) {
    out[[paste0(name, ":null")]] <- character(0)
    return(out)
  }
  if (is.list(x)) {
    out[[paste0(name, ":list")]] <- length(x)
    items <- unname(Map(pack, unname(x), paste0(name, "/", seq_along(x), recycle0 = TRUE)))
    out <- do.call(c, c(list(out), items))
  } else if (is.logical(x)) {
    out[[paste0(name, ":lgl")]] <- as.integer(x)
  } else {
    stopifnot(is.character(x) || is.double(x) || is.integer(x), !is.object(x))
    out[[name]] <- if (is.character(x)) enc2utf8(as.vector(x)) else as.vector(x)
  }
  if (!is.null(names(x))) out[[paste0(name, ":names")]] <- enc2utf8(names(x))
  out
}

# The reverse. `meta` may come from anywhere: whatever does not fit together is an error, and nothing is evaluated.
# Entries are read one after the other, as pack() wrote them, so that the time is linear in their number.
unpack <- function(meta, name) {
  names <- names(meta)
  kinds <- c(":null", ":list", ":lgl", "")
  at <- match(paste0(name, kinds), names)
  at <- at[!is.na(at)][1L]
  take <- function(name, depth) {
    if (depth > 20L) stop_format("the model's description is nested too deeply")
    if (is.na(at) || at > length(meta)) stop_meta(name)
    x <- meta[[at]]
    kind <- match(names[at], paste0(name, kinds))
    at <<- at + 1L
    if (is.na(kind)) stop_meta(name)
    if (kind == 1L) return(NULL)
    if (kind == 2L) x <- take_items(x, name, depth)
    if (kind == 3L) x <- if (is.integer(x)) as.logical(x) else stop_meta(name)
    if (at > length(meta) || names[at] != paste0(name, ":names")) return(x)
    labels <- meta[[at]]
    at <<- at + 1L
    if (!is.character(labels) || length(labels) != length(x)) stop_meta(name)
    names(x) <- labels
    x
  }
  take_items <- function(n, name, depth) {
    if (!is.integer(n) || length(n) != 1L || is.na(n) || n < 0L || n > length(meta)) stop_meta(name)
    lapply(seq_len(n), function(i) take(paste0(name, "/", i), depth + 1L))
  }
  take(name, 0L)
}

stop_meta <- function(name, what = "is wrong") {
  stop_format(sprintf("these bytes are a model, but not one that this version of gbt can describe: \"%s\" %s", name,
                      what))
}
