# The columns of the shares of several ranks (R/base_ranks.R), which must be the same columns.

# The frame with the classes that its columns have on all ranks: columns of nothing but NA have those of other ranks,
# and whole numbers are numbers where another rank has fractions.
frame_of_ranks <- function(frame) {
  if (is.null(ranks_here())) return(frame)
  check_same_on_ranks(frame$names, "the names of the columns",
                      "; give all ranks the same columns in the same order")
  all <- lapply(gather_ranks(list(tag = frame$tag)), `[[`, "tag")
  tag <- Reduce(common_tags, all, rep("missing", length(frame$tag)))
  check_tags_of_ranks(frame$names, tag, all)
  frame <- with_levels_of_ranks(align_missing(frame, tag), tag)
  frame$tag <- tag
  frame
}

# By column, the tag (see the top of R/data_encode.R) that holds the values of both; that of a where there is none.
common_tags <- function(a, b) {
  a[a == "missing"] <- b[a == "missing"]
  a[a == "integer" & b == "double"] <- "double"
  a
}

# Fails where a rank has a column of a class that the common tag cannot hold. all: the tags of each rank.
check_tags_of_ranks <- function(names, tag, all) {
  for (r in seq_along(all)) {
    fits <- common_tags(all[[r]], tag) == tag
    if (all(fits)) next
    j <- which(!fits)[[1L]]
    first <- which(vapply(all, function(its) its[[j]] != "missing", NA))[[1L]]
    stop_data(sprintf("column `%s` is of class %s on rank %d and of class %s on rank %d; give all ranks the same class",
                      names[j], all[[first]][[j]], first - 1L, all[[r]][[j]], r - 1L), names[j])
  }
}

# Ordered levels where a rank has nothing but NA are those of the first rank that has some.
with_levels_of_ranks <- function(frame, tag) {
  for (j in which(tag == "ordered")) {
    all <- lapply(gather_ranks(list(levels = as.character(frame$levels[[j]]))), `[[`, "levels")
    if (length(frame$levels[[j]]) == 0L) frame$levels[[j]] <- c(all[lengths(all) > 0L], list(character(0)))[[1L]]
  }
  frame
}

# The chunks of a source (see store_chunks()) with the classes that their columns have on all ranks. Columns that are
# numbers here and texts on another rank are read again.
chunks_of_ranks <- function(chunks, source, folder) {
  if (is.null(ranks_here())) return(chunks)
  names <- names(chunks$kinds)
  check_same_on_ranks(names, "the names of the columns", "; give all ranks the same columns in the same order")
  all <- lapply(gather_ranks(list(kinds = unname(chunks$kinds))), `[[`, "kinds")
  kinds <- Reduce(function(a, b) unname(mapply(joined_kind, a, b)), all)
  bad <- which(is.na(kinds))
  if (length(bad) && any_rank(!source$retries)) check_tags_of_ranks(names[bad], rep("missing", length(bad)), all)
  kinds[bad] <- "character"
  lost <- kinds == "character" & !chunks$kinds %in% c("character", "dates", "times")
  if (any(lost) && source$retries) chunks <- store_chunks(source, folder, union(source$texts, names[lost]))
  chunks$kinds <- stats::setNames(kinds, names)
  chunks
}
