# The site's index has every topic; _pkgdown.yml is not in the built package, so this runs in the sources alone.

root <- test_path("..", "..")
index <- file.path(root, "_pkgdown.yml")

# Entries of the lists behind `contents:` in a part of the file, which begins with its name.
contents_of <- function(lines, part) {
  beg <- which(lines == paste0(part, ":"))
  end <- c(which(grepl("^[a-z]+:", lines) & seq_along(lines) > beg), length(lines) + 1)[1] - 1
  own <- grep("contents: [[]", lines[beg:end], value = TRUE)
  trimws(unlist(strsplit(sub("^.*contents: [[](.*)[]] *$", "\\1", own), ",")))
}

test_that("every help page and every article stands in the index of the site, once", {
  skip_if_not(file.exists(index) && dir.exists(file.path(root, "man")), "not in the sources")
  lines <- readLines(index)
  entries <- contents_of(lines, "reference")
  pages <- list.files(file.path(root, "man"), "[.]Rd$", full.names = TRUE)
  rd <- lapply(pages, readLines)
  aliases <- lapply(rd, function(x) sub("^.alias[{](.*)[}]$", "\\1", grep("^.alias[{]", x, value = TRUE)))
  plots <- vapply(aliases, function(a) any(startsWith(a, "plot.gbt")), NA)
  named <- vapply(aliases, function(a) sum(a %in% entries), 0)
  expect_identical(basename(pages)[named == 0 & !plots], character(0))
  expect_identical(basename(pages)[named > 1], character(0))
  expect_true("starts_with(\"plot.gbt\")" %in% entries)
  expect_identical(setdiff(entries, c(unlist(aliases), "starts_with(\"plot.gbt\")")), character(0))
  expect_identical(anyDuplicated(entries), 0L)
  names <- readLines(file.path(root, "NAMESPACE"))
  exported <- sub("^export[(](.*)[)]$", "\\1", grep("^export[(]", names, value = TRUE))
  expect_identical(setdiff(exported, unlist(aliases)), character(0))
  articles <- sub("[.]Rmd$", "", list.files(file.path(root, "vignettes"), "[.]Rmd$"))
  expect_setequal(contents_of(lines, "articles"), setdiff(articles, "gbt")) # which is "Get started"
})

# Markdown takes "[f()]: word" for the definition of a link, which is not printed.
test_that("no list of a help page has an empty item", {
  skip_if_not(dir.exists(file.path(root, "man")), "not in the sources")
  for (page in list.files(file.path(root, "man"), "[.]Rd$", full.names = TRUE)) {
    expect_false(any(grepl("^ *.item *$", readLines(page))), label = basename(page))
  }
})

test_that("pictures of README.md exist", {
  skip_if_not(file.exists(index), "not in the sources")
  text <- paste(readLines(file.path(root, "README.md")), collapse = "\n")
  pictures <- sub("^.*[(]", "", regmatches(text, gregexpr("!\\[[^]]*\\][(][^)]*", text))[[1]])
  expect_gt(length(pictures), 0)
  expect_identical(pictures[!file.exists(file.path(root, pictures))], character(0))
})

# A paragraph that was wrapped anew may have swallowed marks of its list, or ends of rows of a table.
test_that("lists and tables of pages have an item and a row a line", {
  skip_if_not(file.exists(index), "not in the sources")
  pages <- c(list.files(file.path(root, "vignettes"), "[.]Rmd$", full.names = TRUE),
             list.files(file.path(root, "docs"), "[.]md$", full.names = TRUE, recursive = TRUE),
             file.path(root, c("README.md", "NEWS.md", "SECURITY.md", "CONTRIBUTING.md", "ARCHITECTURE.md")))
  swallowed <- function(lines) {
    lines[cumsum(grepl("^ *```", lines)) %% 2 == 1] <- ""
    plain <- gsub("\\|", "", gsub("`[^`]*`", "`", lines), fixed = TRUE)
    row <- startsWith(plain, "|")
    bars <- lengths(regmatches(plain, gregexpr("|", plain, fixed = TRUE)))
    same_table <- row & c(FALSE, row[-length(row)])
    lines[grepl("[.;:)] [-*] [`*A-Z]", plain) | (same_table & bars != c(0, bars[-length(bars)]))]
  }
  broken <- c("- One. - `Two`", "", "| a | b |", "| - | - |", "| 1 | 2 | | 3 | 4 |", "", "| `a | b` |", "5 - 3. 4 - 2")
  expect_identical(swallowed(broken), broken[c(1, 5)])
  for (page in pages) expect_identical(swallowed(readLines(page, encoding = "UTF-8")), character(0), label = page)
})
