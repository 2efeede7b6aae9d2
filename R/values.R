# Values of R in files that are no models: folders of bins and checkpoints. They are vectors and lists with names, as
# the fields of a model (see pack() in R/save.R), and the bytes are of src/gbt/model/values.h. R's own serialisation is
# never read from a file that may come from somebody else: it can hold code, and objects of any class.

values_bytes <- function(fields) {
  .Call(C_gbt_values_write, do.call(c, c(list(list()), unname(Map(pack, fields, names(fields))))))
}

# The fields of these names. Bytes of another form are a gbt_error_format, whose message ends with `advice`. The caller
# checks the values.
values_of_bytes <- function(bytes, names, file, advice) {
  tryCatch({
    values <- .Call(C_gbt_values_read, bytes)
    lapply(stats::setNames(names, names), function(name) unpack(values, name))
  }, gbt_error_format = function(e) stop_values(file, advice))
}

stop_values <- function(file, advice) {
  stop_format(sprintf("\"%s\" keeps values that are damaged, or of another version of gbt; %s", printable(file),
                      advice), file)
}

# Labels ------------------------------------------------------------------------------------------------------------

# A response as plain vectors, from which label_of_values() makes one that encode_y() takes for the same: kind is one of
# response_types; value numbers, or codes from 1 of the classes.
label_values <- function(label) {
  if (is.null(label)) return(NULL)
  coded <- encode_y(label)
  if (coded$response == "integer64") {
    if (is.data.frame(label)) label <- .subset2(label, 1L)
    return(list(kind = "integer64", value = as.vector(unclass(label)), classes = NULL))
  }
  value <- coded$value
  if (!is.null(coded$classes)) value <- as.integer(value + 1)
  if (coded$response == "integer") value <- as.integer(value)
  list(kind = coded$response, value = value, classes = coded$classes)
}

# The response of n rows from values that anybody may have written; bad: called where they are no response.
label_of_values <- function(x, n, bad) {
  if (is.null(x)) return(NULL)
  if (!is.list(x) || !identical(names(x), c("kind", "value", "classes"))) bad()
  value <- x$value
  classes <- x$classes
  of_classes <- c("logical", "factor", "ordered", "character")
  if (!is_text(x$kind) || !x$kind %in% response_types || !is_plain(value) || length(value) != n) bad()
  if (typeof(value) != if (x$kind %in% c("double", "integer64")) "double" else "integer") bad()
  if (anyNA(value) && x$kind != "integer64" || !is.null(names(value)) || !is.null(names(classes))) bad()
  if (x$kind %in% of_classes) {
    if (!is_texts(classes) || anyDuplicated(classes)) bad()
    if (n > 0 && (min(value) < 1L || max(value) > length(classes))) bad()
    if (x$kind == "logical" && !identical(classes, c("FALSE", "TRUE"))) bad()
  } else if (!is.null(classes)) {
    bad()
  }
  switch(x$kind, logical = value == 2L, character = classes[value], integer64 = structure(value, class = "integer64"),
         factor = structure(value, levels = classes, class = "factor"),
         ordered = structure(value, levels = classes, class = c("ordered", "factor")), value)
}
