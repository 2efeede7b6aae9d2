# A model of the folder imported, the rows beside it, and its raw scores by the other program.
imported_case <- function(file) {
  m <- gbt_import(test_path("imported", file))
  rows <- utils::read.csv(test_path("imported", sub("\\..*$", ".csv", file)), colClasses = "character", na.strings = "")
  numbers <- function(prefix) {
    v <- vapply(rows[startsWith(names(rows), prefix)], as.numeric, numeric(nrow(rows)))
    unname(matrix(v, nrow(rows)))
  }
  texts <- startsWith(names(rows), "c")
  x <- if (any(texts)) imported_rows(m, file) else numbers("x")
  list(model = m, x = x, scores = numbers("s"))
}

link_of <- function(model, x, ...) matrix(as.double(predict(model, x, type = "link", ..., threads = 1)), nrow(x))
