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

# list(texts = data frame of what (its role), text, points and its box in inches, panels = list(box, usr), device) of
# what an expression draws: the functions of the package through which all texts and panels go are watched.
record_drawing <- function(expr) {
  texts <- data.frame()
  panels <- list()
  own <- lapply(list(put_text = "put_text", set_panel = "set_panel"), get, envir = asNamespace("gbt"))
  watched <- list(
    put_text = function(page, x, y, text, role, adj = NULL, col = NULL, cex = NULL, srt = 0) {
      own$put_text(page, x, y, text, role, adj, col, cex, srt)
      if (length(text) == 0 || isTRUE(page$dry)) return(invisible())
      style <- gbt:::text_style(role)
      if (is.null(adj)) adj <- style$adj
      if (is.null(cex)) cex <- style$cex
      texts <<- rbind(texts, text_boxes(x, y, text, gbt:::letter_size(page, cex), adj, style$font, srt, role))
    },
    set_panel = function(page, box, ...) {
      own$set_panel(page, box, ...)
      panels <<- c(panels, list(list(box = box, usr = graphics::par("usr"))))
    }
  )
  replace <- function(with) for (name in names(with)) utils::assignInNamespace(name, with[[name]], "gbt")
  on.exit(replace(own))
  replace(watched)
  force(expr)
  list(texts = texts, panels = panels, device = graphics::par("din"))
}
text_boxes <- function(x, y, text, cex, adj, font, srt, what) {
  width <- graphics::strwidth(text, units = "inches", cex = cex, font = font)
  height <- graphics::strheight(text, units = "inches", cex = cex, font = font)
  turned <- srt == 90
  wide <- if (turned) height else width
  high <- if (turned) width else height
  left <- graphics::grconvertX(rep_len(x, length(text)), "user", "inches") - (if (turned) 1 - adj[2] else adj[1]) * wide
  bottom <- graphics::grconvertY(rep_len(y, length(text)), "user", "inches") - (if (turned) adj[1] else adj[2]) * high
  data.frame(what = what, text = as.character(text), left = left, right = left + wide, bottom = bottom,
             top = bottom + high, points = cex * graphics::par("cex") * graphics::par("ps"))
}
labels_of <- function(record, what) record$texts$text[record$texts$what == what]
# expr is drawn in every size; parameters of the device are as before.
in_sizes <- function(expr, check = function(record, size) NULL) {
  code <- substitute(expr)
  env <- parent.frame()
  for (size in sizes) {
    grDevices::pdf(NULL, size[1], size[2])
    before <- graphics::par("mar", "pty", "xpd", "mfrow", "cex", "las")
    record <- tryCatch(record_drawing(eval(code, env)), error = function(e) {
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
  record_drawing(expr)
}
