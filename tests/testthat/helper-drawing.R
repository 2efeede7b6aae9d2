# Plots are read back: an uncompressed PDF holds every text as it is, every dash pattern and every colour.
drawn <- function(expr, width = 7, height = 5) {
  file <- withr::local_tempfile()
  grDevices::pdf(file, width, height, compress = FALSE, useKerning = FALSE)
  tryCatch(expr, finally = grDevices::dev.off())
  readLines(file, warn = FALSE, encoding = "latin1")
}
texts <- function(page) {
  at <- grepl(") Tj", page, fixed = TRUE)
  sub("^.*\\((.*)\\) Tj.*$", "\\1", page[at])
}
times_in <- function(pattern, page) sum(grepl(pattern, page, fixed = TRUE))

sizes <- list(c(4, 3), c(6.7, 5), c(11, 7))

# Labels do not lie over one another and not beyond the page; letters can be read.
expect_sound_labels <- function(record) {
  t <- record$texts
  expect_gt(nrow(t), 0)
  expect_gte(min(t$points), 6 - 1e-9)
  expect_true(all(t$left > -0.02 & t$right < record$device[1] + 0.02))
  expect_true(all(t$bottom > -0.02 & t$top < record$device[2] + 0.02))
  hit <- outer(t$left, t$right, "<") & outer(t$bottom, t$top, "<")
  hit <- hit & t(hit) & !diag(nrow(t))
  pairs <- which(hit & upper.tri(hit), arr.ind = TRUE)
  expect_identical(sprintf("%s|%s", t$text[pairs[, 1]], t$text[pairs[, 2]]), character(0))
}
labels_of <- function(record, what) record$texts$text[record$texts$what == what]
# expr is drawn in every size; parameters of the device are as before.
in_sizes <- function(expr, check = function(record, size) NULL) {
  code <- substitute(expr)
  env <- parent.frame()
  for (size in sizes) {
    grDevices::pdf(NULL, size[1], size[2])
    before <- graphics::par("mar", "pty", "xpd", "mfrow", "cex", "las")
    record <- tryCatch(gbt:::record_drawing(eval(code, env)), error = function(e) {
      grDevices::dev.off()
      stop(e)
    })
    expect_identical(graphics::par("mar", "pty", "xpd", "mfrow", "cex", "las"), before)
    grDevices::dev.off()
    expect_sound_labels(record)
    check(record, size)
  }
}

# What is drawn on a page of the usual size.
drawn_record <- function(expr) {
  grDevices::pdf(NULL, 7, 5)
  on.exit(grDevices::dev.off())
  gbt:::record_drawing(expr)
}
