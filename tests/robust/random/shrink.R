# Cutting a case that fails down to a small one, greedily: rows, columns, sets, weights, parameters, rounds.
#
# shrink(case, fails, seconds): fails(case) tells whether a smaller case still fails; what does not is kept as it was.

half_of <- function(n) max(1L, n %/% 2L)

with_rows <- function(case, rows) {
  for (part in c("x", "y", "weight", "offset")) case[[part]] <- rows_of(case[[part]], rows)
  case
}

with_new_rows <- function(case, rows) {
  for (part in c("new", "new_offset")) case[[part]] <- rows_of(case[[part]], rows)
  case
}

with_columns <- function(case, columns) {
  names <- colnames(case$x)
  if (is.null(names)) return(case) # their names would change
  kept <- names[columns]
  case$x <- columns_of(case$x, columns)
  case$new <- columns_of(case$new, which(colnames(case$new) %in% kept))
  for (i in seq_along(case$sets)) case$sets[[i]]$x <- columns_of(case$sets[[i]]$x, columns)
  for (part in c("monotone", "feature_weights")) {
    case$args[[part]] <- case$args[[part]][names(case$args[[part]]) %in% kept]
    if (length(case$args[[part]]) == 0L) case$args[[part]] <- NULL
  }
  case$args$interactions <- Filter(length, lapply(case$args$interactions, intersect, kept))
  if (length(case$args$interactions) == 0L) case$args$interactions <- NULL
  case
}

# Leaves out parts of 1 .. n, large ones first, as long as it still fails. keep(case, numbers) is the case with those
# alone; the first numbers stand for what is in it.
fewer <- function(case, n, keep, fails) {
  at <- seq_len(n)
  size <- half_of(n)
  repeat {
    begin <- 1L
    while (begin <= length(at) && length(at) > 1L) {
      left <- at[-(begin:min(begin + size - 1L, length(at)))]
      if (length(left) > 0L && fails(keep(case, left))) at <- left else begin <- begin + size
    }
    if (size == 1L) return(keep(case, at))
    size <- half_of(size)
  }
}

shrink <- function(case, fails, seconds = 60) {
  end <- Sys.time() + seconds
  still <- function(other) Sys.time() < end && !identical(other, case) && isTRUE(fails(other))
  without <- function(part) {
    other <- case
    other[part] <- list(NULL)
    if (still(other)) case <<- other
  }
  repeat {
    before <- case
    if (length(case$sets) > 0L) without("sets")
    for (part in c("weight", "offset")) if (!is.null(case[[part]]) && length(case$sets) == 0L) without(part)
    for (name in setdiff(names(case$args), "nrounds")) {
      other <- case
      other$args[[name]] <- NULL
      if (still(other)) case <- other
    }
    for (n in c(1, case$args$nrounds %/% 2)) {
      other <- case
      other$args$nrounds <- max(1, n)
      if (case$args$nrounds > 1 && still(other)) case <- other
    }
    for (i in rev(seq_along(case$how))) {
      other <- case
      other$how[[i]] <- NULL
      if (still(other)) case <- other
    }
    other <- case
    other$init <- 0
    if (case$init > 0 && still(other)) case <- other
    case <- fewer(case, ncol(case$x), with_columns, still)
    case <- fewer(case, nrow(case$x), with_rows, still)
    case <- fewer(case, nrow(case$new), with_new_rows, still)
    if (identical(before, case) || Sys.time() >= end) return(case)
  }
}

# Whether no text is in Latin-1, which code cannot say.
in_one_encoding <- function(x) {
  if (is.list(x)) return(all(vapply(x, in_one_encoding, NA)))
  texts <- if (is.character(x)) x else levels(x)
  is.null(texts) || !any(Encoding(texts) == "latin1")
}

# The case as R code. What deparse() cannot say exactly (encodings, objects of S4) goes as bytes.
write_case <- function(case, file, failed) {
  code <- deparse(case, 110L, c("keepNA", "keepInteger", "niceNames", "showAttributes", "hexNumeric"))
  back <- tryCatch(eval(parse(text = code, encoding = "UTF-8", keep.source = FALSE)), error = function(e) NULL)
  if (in_one_encoding(case) && identical(back, case, num.eq = FALSE, single.NA = FALSE)) {
    code <- c(paste("case <-", code[1L]), code[-1L])
  } else {
    hex <- paste(memCompress(serialize(case, NULL), "xz"), collapse = "")
    lines <- substring(hex, seq(1L, nchar(hex), 100L), pmin(seq(100L, nchar(hex) + 99L, 100L), nchar(hex)))
    code <- c("case <- unserialize(memDecompress(as.raw(strtoi(regmatches(hex <- paste0(",
              paste0("  \"", lines, "\"", c(rep(",", length(lines) - 1L), "")),
              "), gregexpr(\"..\", hex))[[1]], 16L)), \"xz\"))")
  }
  writeLines(enc2utf8(c(
    paste("# Case", case$id, "made small. It failed by:", paste(gsub("\n", " ", failed), collapse = "; ")),
    "# Rscript THIS_FILE in tests/robust/random, with gbt installed, checks it again.",
    code,
    "if (sys.nframe() == 0L) {", "  library(gbt)", "  source(\"case.R\")", "  source(\"check.R\")",
    "  print(check_case(case)$failed)", "}"
  )), file, useBytes = TRUE)
}
