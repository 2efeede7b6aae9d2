# The path of a file of the real data sets, which are not part of the package: in the folder $GBT_DATA, or in
# shared/data next to one of the folders above this one. Skips the test where there is none.
real_data <- function(file) {
  folders <- Sys.getenv("GBT_DATA", NA)
  if (is.na(folders)) {
    up <- normalizePath(".", mustWork = FALSE)
    for (i in 1:8) {
      folders <- c(folders, file.path(up, "shared", "data"))
      up <- dirname(up)
    }
  }
  paths <- file.path(folders, file)
  paths <- paths[!is.na(folders) & file.exists(paths)]
  if (length(paths) == 0L) testthat::skip(paste0("the real data are not here (set GBT_DATA): ", file))
  paths[1L]
}

# The models of one training under other circumstances, none of which may show: threads, page size, instructions. The
# short form takes some of them: native suites (variant, digests, many_rows) go through all.
expect_circumstances_do_not_show <- function(train, thorough = FALSE) {
  first <- circumstance(train, 1, NULL, "scalar")
  others <- if (thorough) {
    expand.grid(threads = c(1, 2, 3, 8), page_rows = c(0, 1000, 65536), simd = setdiff(names(enums$simd), "auto"),
                stringsAsFactors = FALSE)
  } else {
    data.frame(threads = c(2, 3, 8, 1), page_rows = c(1000, 65536, 0, 1000), simd = c("avx2", "avx512", "auto", "auto"))
  }
  for (i in every(seq_len(nrow(others)), if (thorough) 5 else 2)) {
    how <- others[i, ]
    again <- circumstance(train, how$threads, if (how$page_rows > 0) how$page_rows, how$simd)
    testthat::expect_identical(again$evaluation_log, first$evaluation_log)
    testthat::expect_true(identical(again$state, first$state),
                          label = sprintf("equal bytes with %.0f threads, %.0f rows a page, %s", how$threads,
                                          how$page_rows, how$simd))
  }
  invisible(first)
}

# Wishes for threads are taken to the letter, as the machine may grant fewer. Instructions that it lacks: the best ones.
circumstance <- function(train, threads, page_rows, simd) {
  if (!simd %in% names(enums$simd)) simd <- "auto"
  withr::with_options(list(gbt.oversubscribe = TRUE, gbt.simd = simd), train(threads = threads, page_rows = page_rows))
}
