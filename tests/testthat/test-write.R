# Files that the user names are written in one way: models, predictions, packed or not, and reports.

model <- gbt_train(mtcars[-1], mtcars$mpg, nrounds = 1, threads = 1)
ways <- list(
  model.gbt = function(file) gbt_save(model, file),
  p.csv = function(file) predict(model, mtcars, output = file, threads = 1),
  p.csv.gz = function(file) predict(model, mtcars, output = file, threads = 1)
)
reports <- requireNamespace("rmarkdown", quietly = TRUE) && rmarkdown::pandoc_available("2.0")
if (reports && nzchar(Sys.getenv("NOT_CRAN"))) {
  ways$r.html <- function(file) gbt_report(model, mtcars[-1], file, y = mtcars$mpg, effects = 0, rows = 5)
}

test_that("pipes, devices and folders are not written to, links are followed, modes are kept", {
  skip_on_os("windows")
  for (name in names(ways)) {
    write <- ways[[name]]
    folder <- withr::local_tempdir()
    at <- function(x) file.path(folder, x)
    skip_if(suppressWarnings(system2("mkfifo", shQuote(at(paste0("pipe-", name))), stderr = FALSE)) != 0, "no mkfifo")
    dir.create(at(paste0("folder-", name)))
    for (odd in c(paste0("pipe-", name), paste0("folder-", name))) {
      expect_error(write(at(odd)), "is not a file", class = "gbt_error_io", info = name)
    }
    if (tools::file_ext(name) == "csv") expect_error(write("/dev/null"), "is not a file", class = "gbt_error_io")
    expect_length(files_of(folder), 2)
    expect_identical(file.info(at(paste0("pipe-", name)))$size, 0)

    write(at(name))
    whole <- bytes_of_file(at(name))
    dir.create(at("there"))
    target <- file.path(at("there"), name)
    writeLines("old", target)
    Sys.chmod(target, "0600")
    link <- at(paste0("link-", name))
    file.symlink(file.path("there", name), link)
    write(link)
    expect_identical(unname(Sys.readlink(link)), file.path("there", name))
    if (name != "r.html") expect_identical(bytes_of_file(target), whole, info = name)
    expect_false(identical(readLines(target, 1, warn = FALSE), "old"))
    expect_identical(format(file.mode(target)), "600")
    expect_identical(files_of(at("there")), name)
  }
})

test_that("what is no path is named", {
  texts <- list("", NA_character_, c("a", "b"))
  shown <- c("\"\"", "NA_character_", "c(\"a\", \"b\")")
  for (i in seq_along(texts)) {
    expect_error(predict(model, mtcars, output = texts[[i]]), paste("the path of a file, or NULL, not", shown[i]),
                 fixed = TRUE, class = "gbt_error_argument")
  }
})

test_that("a report that cannot be written is refused before it is made", {
  skip_if_not(reports, "no rmarkdown or pandoc")
  folder <- withr::local_tempdir()
  file <- file.path(folder, "r.html")
  wrong <- data.frame(none = 1:9)
  expect_error(gbt_report(model, wrong, file, y = 1:9), class = "gbt_error_data")
  expect_identical(files_of(folder), character(0))
  dir.create(file)
  expect_error(gbt_report(model, wrong, file, y = 1:9), "is not a file", class = "gbt_error_io")
})

test_that("what a process has open is not replaced, as by /dev/stdout", {
  file <- withr::local_tempfile()
  con <- file(file, "w")
  on.exit(close(con))
  links <- list.files("/proc/self/fd", full.names = TRUE)
  opened <- links[Sys.readlink(links) %in% normalizePath(file)]
  skip_if(length(opened) != 1L, "no /proc")
  link <- withr::local_tempfile()
  file.symlink(opened, link)
  for (name in intersect(names(ways), c("model.gbt", "p.csv"))) {
    for (path in c(opened, file.path("/dev/fd", basename(opened)), link)) {
      expect_error(ways[[name]](path), "that a process has open", class = "gbt_error_io", info = path)
    }
  }
  expect_identical(file.size(file), 0)
})

test_that("a draft is never one that is there, is removed when its writer was killed, and is a fork's of the parent", {
  skip_on_os("windows")
  skip_on_cran()
  for (name in names(ways)) {
    folder <- withr::local_tempdir()
    file <- file.path(folder, name)
    killed <- parallel::mcparallel({
      draft <- .Call(C_gbt_draft_open, file)
      tools::pskill(Sys.getpid(), tools::SIGKILL)
      repeat Sys.sleep(1)
    }, silent = TRUE)
    suppressWarnings(parallel::mccollect(killed))
    left <- files_of(folder)
    expect_match(left, "^[.]gbt-.*[.]tmp$")
    other <- file.path(folder, "other")
    writeLines("precious", other)
    file.symlink(other, file.path(folder, sub("[.]tmp$", "0.tmp", left)))
    for (i in 1:200) { # the lock goes with the killed process, which may still be ending
      ways[[name]](file)
      if (!left %in% files_of(folder)) break
      Sys.sleep(0.05)
    }
    expect_identical(readLines(other), "precious")
    expect_false(left %in% files_of(folder))
    expect_true(name %in% files_of(folder))
  }
  file <- withr::local_tempfile()
  draft <- .Call(C_gbt_draft_open, file)
  .Call(C_gbt_draft_put, draft, c("a", "b"))
  child <- parallel::mcparallel(.Call(C_gbt_draft_drop, draft), silent = TRUE)
  parallel::mccollect(child)
  .Call(C_gbt_draft_put, draft, as.raw(c(99, 10)))
  .Call(C_gbt_draft_end, draft)
  expect_identical(readLines(file), c("a", "b", "c"))
  expect_error(.Call(C_gbt_draft_put, draft, "d"), "written already")
  expect_error(.Call(C_gbt_draft_end, draft), "written already")
  .Call(C_gbt_draft_drop, draft)
  expect_true(file.exists(file))
})

test_that("a draft that is not ended leaves nothing, however it is left", {
  folder <- withr::local_tempdir()
  file <- file.path(folder, "a.csv")
  draft <- .Call(C_gbt_draft_open, file)
  .Call(C_gbt_draft_put, draft, "text")
  .Call(C_gbt_draft_drop, draft)
  expect_identical(files_of(folder), character(0))
  draft <- .Call(C_gbt_draft_open, file)
  .Call(C_gbt_draft_put, draft, raw(2e5))
  rm(draft)
  gc()
  expect_identical(files_of(folder), character(0))
  stops <- function(i) if (i < 3) mtcars else stop("no more")
  expect_error(predict(model, stops, output = file), "no more")
  expect_identical(files_of(folder), character(0))
})

test_that("packed files may have many members, and are what every reader takes", {
  file <- withr::local_tempfile(fileext = ".gz")
  lines <- c("", sprintf("line %d, %s", 1:5000, strrep("x", 1:5000 %% 50)), "\u00e9")
  for (most in c(1, 100, 1e4, 1e9)) {
    draft <- .Call(C_gbt_draft_open, file)
    writer <- gzip_writer(draft, most)
    for (part in split(lines, seq_along(lines) %/% 7)) writer$put(part)
    writer$end()
    .Call(C_gbt_draft_end, draft)
    expect_identical(enc2utf8(readLines(file, encoding = "UTF-8")), lines)
    if (nzchar(Sys.which("gzip"))) {
      expect_identical(system2("gzip", c("-t", shQuote(file))), 0L)
      expect_length(system2("gzip", c("-dc", shQuote(file)), stdout = TRUE), length(lines))
    }
  }
  expect_identical(.Call(C_gbt_gzip_tail, charToRaw("123456789")), as.raw(c(0x26, 0x39, 0xf4, 0xcb, 9, 0, 0, 0)))
})

test_that("text is made in small pieces, between which Ctrl-C and time limits end the work", {
  skip_on_os("windows")
  expect_lte(25 * 5 * csv_rows_at_once(matrix(0, 1e5, 5)), 2^20)
  expect_identical(csv_rows_at_once(factor(strrep("x", 3e6))), 1)
  x <- matrix(1:3e5 / 7, 1e5, 3, dimnames = list(NULL, c("a", "b", "c")))
  wide <- gbt_train(x[1:500, ], x[1:500, 1], nrounds = 1, threads = 1)
  pieces <- 0
  cut_at <- Inf
  real <- csv_lines
  utils::assignInNamespace("csv_lines", function(out) {
    pieces <<- pieces + 1
    if (pieces == cut_at) tools::pskill(Sys.getpid(), tools::SIGINT)
    real(out)
  }, "gbt")
  on.exit(utils::assignInNamespace("csv_lines", real, "gbt"))
  file <- file.path(withr::local_tempdir(), "p.csv")
  for (end in c("", ".gz")) {
    pieces <- 0
    cut_at <- Inf
    predict(wide, x, output = paste0(file, end), threads = 1)
    all <- pieces
    expect_gt(all, 2)
    expect_length(readLines(paste0(file, end)), 1e5 + 1)
    pieces <- 0
    cut_at <- 2
    caught <- tryCatch(predict(wide, x, output = paste0(file, end), threads = 1), interrupt = identity)
    expect_s3_class(caught, "interrupt")
    expect_identical(pieces, 2)
  }
  expect_identical(files_of(dirname(file)), c("p.csv", "p.csv.gz"))
})
