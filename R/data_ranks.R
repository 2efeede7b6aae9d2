# The columns of the shares of several ranks (R/base_ranks.R), which must be the same columns.

# The frame with the classes that its columns have on all ranks: columns of nothing but NA have those of other ranks,
# and whole numbers are numbers where another rank has fractions. shape: of shape_of_ranks(), for a chunk of a source.
frame_of_ranks <- function(frame, shape = shape_of_ranks(frame)) {
  if (is.null(shape)) return(frame)
  frame <- align_missing(frame, shape$tag)
  for (j in which(shape$tag == "ordered")) {
    if (length(frame$levels[[j]]) == 0L) frame$levels[j] <- list(shape$levels[[j]])
  }
  frame$tag <- shape$tag
  frame
}

# The classes of the columns of a frame on all ranks, list(tag, levels): see the top of R/data_encode.R. levels: of
# ordered columns, those of the first rank that has some. NULL without ranks.
shape_of_ranks <- function(frame) {
  if (is.null(ranks_here())) return(NULL)
  check_same_on_ranks(frame$names, "the names of the columns",
                      "; give all ranks the same columns in the same order")
  all <- lapply(gather_ranks(list(tag = frame$tag)), `[[`, "tag")
  tag <- Reduce(common_tags, all, rep("missing", length(frame$tag)))
  check_tags_of_ranks(frame$names, tag, all)
  levels <- vector("list", length(tag))
  for (j in which(tag == "ordered")) {
    its <- lapply(gather_ranks(list(levels = as.character(frame$levels[[j]]))), `[[`, "levels")
    levels[[j]] <- c(its[lengths(its) > 0L], list(character(0)))[[1L]]
  }
  list(tag = tag, levels = levels)
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

# The chunks of a source (see store_chunks()) with the classes that their columns have on all ranks. Columns that are
# numbers here and texts on another rank are read again. A rank without rows has the columns of the others.
chunks_of_ranks <- function(chunks, source, folder) {
  if (is.null(ranks_here())) return(chunks)
  has_rows <- chunks$n > 0L
  all <- gather_ranks(list(has_rows = has_rows, names = as.character(names(chunks$kinds)),
                           kinds = as.character(chunks$kinds)))
  all <- Filter(function(its) its$has_rows, all)
  if (length(all) == 0L) stop_data("the source has no rows on any rank", "x")
  names <- if (has_rows) names(chunks$kinds) else all[[1L]]$names
  check_same_on_ranks(names, "the names of the columns", "; give all ranks the same columns in the same order")
  kinds <- Reduce(function(a, b) unname(mapply(joined_kind, a, b)), lapply(all, `[[`, "kinds"))
  bad <- which(is.na(kinds))
  if (length(bad) && any_rank(!source$retries)) {
    its <- lapply(gather_ranks(list(kinds = kinds_or_missing(chunks, names))), `[[`, "kinds")
    check_tags_of_ranks(names[bad], rep("missing", length(bad)), lapply(its, `[`, bad))
  }
  kinds[bad] <- "character"
  lost <- has_rows & kinds == "character" & !chunks$kinds %in% c("character", "dates", "times")
  if (any(lost) && source$retries) chunks <- store_chunks(source, folder, union(source$texts, names[lost]))
  chunks$kinds <- stats::setNames(kinds, names)
  chunks
}

kinds_or_missing <- function(chunks, names) {
  kinds <- if (chunks$n > 0L) unname(chunks$kinds) else rep("missing", length(names))
  ifelse(kinds == "none", "missing", kinds)
}
