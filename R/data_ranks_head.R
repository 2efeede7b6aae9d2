# The columns of a source on a rank without rows: those of another rank, which sends a tag for each (see the top of
# R/data_encode.R).

# Some of the rows of this rank, or NULL: those columns without rows, from the first rank that has some; NULL where none
# has. Columns travel as their tags and the levels of ordered factors.
head_of_ranks <- function(rows) {
  columns <- lapply(given_or(rows, list()), tag_of_column)
  own <- list(has_rows = !is.null(rows), names = as.character(names(rows)),
              tag = vapply(columns, `[[`, "", "tag", USE.NAMES = FALSE),
              levels = unname(lapply(columns, `[[`, "levels")))
  all <- Filter(function(its) isTRUE(its$has_rows), gather_ranks(own))
  if (length(all)) head_of_tags(all[[1L]])
}

# The tag of a column (see the top of R/data_encode.R), and its levels where it is an ordered factor. A column that the
# encoder refuses may be one that is not used; else its own rank fails over it.
tag_of_column <- function(v) {
  none <- list(tag = "missing", levels = NULL)
  its <- try_else(encode_column(no_values(v), "column"), function(problem) none)
  list(tag = its$tag, levels = if (its$tag == "ordered") its$levels)
}

# A vector of the same class without values. (`[` would lose the class where its package is not loaded.)
no_values <- function(v) {
  if (!is.atomic(v) || isS4(v)) return(subset_rows(v, integer(0)))
  out <- vector(typeof(v), 0L)
  attributes(out) <- attributes(v)[setdiff(names(attributes(v)), c("names", "dim", "dimnames"))]
  out
}

# A data frame without rows. its: of head_of_ranks(), from another rank.
head_of_tags <- function(its) {
  n <- length(its$names)
  good <- is.character(its$names) && is.character(its$tag) && length(its$tag) == n && !anyNA(its$tag) &&
    is.list(its$levels) && length(its$levels) == n && all(vapply(its$levels, function(l) is.null(l) || is_texts(l), NA))
  if (!good) stop_format("a rank has sent invalid columns; use the same version of gbt on all ranks")
  list_frame(stats::setNames(Map(empty_column, its$tag, its$levels, USE.NAMES = FALSE), its$names), 0L)
}
