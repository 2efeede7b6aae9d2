# Rows of files, queries and batches: the models are those of one data frame, whatever the blocks.

n <- 900
d <- source_columns(n)
y <- round(d$v + seq_len(n) %% 5 / 2, 6)
trees <- function(...) as.data.frame(gbt_train(..., nrounds = 3, seed = 1, threads = 1))
want <- function(...) trees(gbt_data(d, y, threads = 1, ...))

write_to <- function(x, path, open = file, ...) {
  con <- open(path, "wb")
  on.exit(close(con))
  utils::write.csv(x, con, row.names = FALSE, fileEncoding = "UTF-8", ...)
}
all_of <- function(y_at = seq_len(n)) cbind(d[y_at, ], y = y[y_at])

test_that("files give the model of one data frame, at any size of blocks and however they are packed", {
  skip_if_not_installed("data.table")
  folder <- withr::local_tempdir()
  path <- function(name) file.path(folder, name)
  write_to(all_of(), path("a.csv"))
  write_to(all_of(), path("a.csv.gz"), gzfile)
  write_to(all_of(), path("a.csv.bz2"), bzfile)
  write_to(all_of(1:400), path("one.csv"))
  write_to(all_of(401:401), path("two.csv"))
  write_to(all_of(402:n), path("three.csv.gz"), gzfile)
  expected <- want()
  files <- list("a.csv", "a.csv.gz", "a.csv.bz2", c("one.csv", "two.csv", "three.csv.gz"))
  for (f in files) {
    for (block in if (length(f) > 1L || long_form()) c(2^24, 4096, 997) else 997) {
      expect_identical(trees(gbt_data(gbt_files(path(f), label = "y", block_bytes = block), threads = 1)), expected)
    }
  }
  small <- path("small.csv")
  write_to(all_of(1:40), small)
  whole <- trees(gbt_data(d[1:40, ], y[1:40], threads = 1))
  for (block in c(if (long_form()) 1:40 else c(1:4, 7:9, 15:17, 31:33), 63:65, 127:129, 255:257)) {
    expect_identical(trees(gbt_data(gbt_files(small, label = "y", block_bytes = block), threads = 1)), whole)
  }
  # bins in a folder, and chosen columns
  bins <- gbt_data(gbt_files(path("a.csv"), label = "y", block_bytes = 5000), path = path("bins"), threads = 1)
  expect_identical(trees(bins), expected)
  some <- gbt_data(gbt_files(path("a.csv"), label = "y", weight = "i", columns = c("v", "t")), threads = 1)
  expect_identical(trees(some), trees(gbt_data(d[c("v", "t")], y, weight = d$i, threads = 1)))
  expect_length(list.files(tempdir(), pattern = "^gbt-rows-"), 0L)
})

test_that("zstd is read through its program", {
  skip_if_not_installed("data.table")
  skip_if(!nzchar(Sys.which("zstd")), "the program zstd is not there")
  folder <- withr::local_tempdir()
  path <- file.path(folder, "it's a file.csv")
  write_to(all_of(), path)
  system2("zstd", c("-q", shQuote(path)))
  packed <- paste0(path, ".zst")
  expect_identical(trees(gbt_data(gbt_files(packed, label = "y", block_bytes = 3000), threads = 1)), want())
  bytes <- readBin(packed, "raw", 1e7)
  writeBin(bytes[seq_len(length(bytes) %/% 2)], packed)
  expect_error(gbt_data(gbt_files(packed, label = "y"), threads = 1), "it's a file.csv.zst", class = "gbt_error")
})

test_that("line ends, marks, blanks and separators", {
  skip_if_not_installed("data.table")
  file <- withr::local_tempfile(fileext = ".csv")
  twin <- trees(gbt_data(data.frame(a = 1:60, b = rep(c("x", "y", "z"), 20)), as.double(60:1), threads = 1))
  rows <- sprintf("%d,%s,%d", 1:60, rep(c("x", "y", "z"), 20), 60:1)
  same <- function(bytes, ...) {
    writeBin(bytes, file)
    for (block in c(1e6, 50, 7)) {
      expect_identical(trees(gbt_data(gbt_files(file, label = "y", block_bytes = block, ...), threads = 1)), twin)
    }
  }
  text <- function(end, top = "a,b,y") charToRaw(paste0(paste(c(top, rows), collapse = end), end))
  same(text("\n"))
  same(text("\r\n"))
  same(utils::head(text("\n"), -1))
  same(c(as.raw(c(0xef, 0xbb, 0xbf)), text("\n")))
  same(charToRaw(paste0(paste(c("a,b,y", rows[1:9], "", rows[10:60], "", ""), collapse = "\n"))))
  same(charToRaw(gsub(",", ";", rawToChar(text("\n")))), sep = ";")
  same(text("\n"), quote = FALSE)
})

test_that("a column that turns out to be text is text from the start", {
  skip_if_not_installed("data.table")
  file <- withr::local_tempfile(fileext = ".csv")
  code <- c(sprintf("%03d", 1:200), "x1", "x2")
  writeLines(c("code,y", sprintf("%s,%d", code, seq_along(code) %% 7)), file)
  a <- gbt_data(gbt_files(file, label = "y", block_bytes = 100), threads = 1)
  b <- gbt_data(data.frame(code = code), seq_along(code) %% 7, threads = 1)
  expect_identical(a$feature_types, b$feature_types)
  expect_identical(trees(a), trees(b))
})

test_that("what a column is does not depend on blocks", {
  skip_if_not_installed("data.table")
  file <- withr::local_tempfile(fileext = ".csv")
  whole <- function(lines, ...) {
    writeLines(lines, file)
    one <- gbt:::read_source(gbt_files(file, ...))
    on.exit(one$close())
    twin <- one$read(1)
    for (block in c(1, 9, 30)) {
      parts <- gbt:::read_source(gbt_files(file, block_bytes = block, ...))
      got <- list()
      while (!is.null(part <- parts$read(length(got) + 1))) got <- c(got, list(part))
      parts$close()
      expect_identical(as.list(do.call(rbind, got)), as.list(twin))
    }
    twin
  }
  whole(c("a,b", "x,1", ",2", ",3", "y,4"), na = "NA")
  whole(c("a,b", "\"\",1", "x,2", "NA,3", ",4"))
  expect_s3_class(whole(c("a,b", "2020-01-01,1", ",2", "2020-02-01,3"))$a, "Date")
  expect_s3_class(whole(c("a,b", "2020-01-01,1", "2020-02-01 10:00:00,3"))$a, "POSIXct")
  expect_type(whole(c("a,b", "2020-01-01,1", "2020-02-31,3"))$a, "character")
  expect_type(whole(c("a,b", "3000000000,1", "1,3"))$a, "double")
  expect_type(whole(c("", "a,b", "", "TRUE,1", "1,3"))$a, "character")
  expect_type(whole(c("a", "1", "", "3"))$a, "integer")
  expect_named(whole(c("V2,,x,", "1,2,3,4")), c("V2", "V2.1", "x", "V4"))
  expect_identical(whole(c("a,b", "TRUE,T", "false,F", "True,T", ",T"))$a, c(TRUE, FALSE, TRUE, NA))
  expect_identical(whole(c("a,b", "0x1.8p3,1", "3,1", "-0x1p-1,2"))$a, c(12, 3, -0.5))
  expect_identical(whole(c("a,b", "\"NA\",1", "\"3\",1", "4,2"))$a, c(NA, 3L, 4L))
  expect_s3_class(whole(c("a,b", "\"NA\",1", "2020-01-01,1"))$a, "Date")
  expect_identical(whole(c("a,b", "\"NA\",1", "x,1", "true,1"))$a, c("NA", "x", "true"))
})

test_that("what a column is does not depend on blocks, whatever its fields are", {
  skip_if_not_installed("data.table")
  file <- withr::local_tempfile(fileext = ".csv")
  read <- function(block) {
    source <- tryCatch(read_source(gbt_files(file, block_bytes = block)), gbt_error_data = conditionMessage)
    if (is.character(source)) return(source)
    on.exit(source$close())
    got <- list()
    while (!is.null(part <- source$read(length(got) + 1))) got <- c(got, list(part))
    as.list(do.call(rbind, got))
  }
  fields <- c("1", "-2.5", "1e5", "1e400", "9007199254740993", "0x1.4p2", "0x1F", "TRUE", "false", "True", "NA",
              "\"NA\"", "\"\"", "", "2020-01-01", "\"2020-02-01\"", "2020-01-01 10:00:00", "x", "\"y\"", "inf", "NaN",
              "\"7\"", "3000000000", "007", " 5", "0x1.8P3")
  withr::local_seed(1)
  for (i in seq_len(if (long_form()) 60 else 20)) {
    some <- sample(fields, sample(4, 1))
    writeLines(c("a,b", paste0(sample(some, 8, TRUE), ",", 1:8)), file)
    expected <- read(2^24)
    for (block in c(1, 20)) expect_identical(read(block), expected, label = paste(some, collapse = " "))
  }
})

test_that("what is wrong with a file is said with its name", {
  skip_if_not_installed("data.table")
  folder <- withr::local_tempdir()
  says <- function(text, lines, ..., class = "gbt_error_data") {
    path <- file.path(folder, "rows.csv")
    if (is.raw(lines)) writeBin(lines, path) else writeLines(lines, path)
    expect_error(gbt_data(gbt_files(path, ...), threads = 1), text, class = class)
  }
  says("rows.csv\", in the lines from 2 on", c("a,b", "1,2", "3,4,5", "6,7"))
  says("is empty", raw(0))
  says("has no rows", "a,b")
  says("zero byte", c(charToRaw("a,b\n1,2\n"), as.raw(0)))
  says("two columns called `a`", c("a,a", "1,2"))
  says("`label` names `z`", c("a,b", "1,2"), label = "z", class = "gbt_error_argument")
  says("`columns` names `z`", c("a,b", "1,2"), columns = "z", class = "gbt_error_argument")
  one <- file.path(folder, "one.csv")
  two <- file.path(folder, "two.csv")
  writeLines(c("a,b", "1,2"), one)
  writeLines(c("a,c", "1,2"), two)
  expect_error(gbt_data(gbt_files(c(one, two)), threads = 1), "two.csv\" has no column `b`", class = "gbt_error_data")
  expect_error(gbt_train(gbt_files(one)), "gbt_files(files, label = )", fixed = TRUE, class = "gbt_error_argument")
  expect_error(gbt_files(file.path(folder, "none.csv")), "there is no file", class = "gbt_error_io")
  for (packed in list(list("gz", gzfile), list("bz2", bzfile), list("xz", xzfile))) {
    if (!nzchar(Sys.which(gbt:::unpackers[[packed[[1L]]]]))) next
    cut <- file.path(folder, paste0("cut.csv.", packed[[1L]]))
    write_to(all_of(), cut, packed[[2L]])
    bytes <- readBin(cut, "raw", 1e7)
    for (left in c(length(bytes) - 5, length(bytes) - 200, length(bytes) %/% 2)) {
      writeBin(bytes[seq_len(left)], cut)
      expect_error(gbt_data(gbt_files(cut, label = "y", block_bytes = 3000), threads = 1), cut, fixed = TRUE,
                   class = "gbt_error_io")
    }
  }
  for (block in c(1, 5, 1e6)) { # records of other lengths, wherever blocks end
    says("too many or too few", c("a,b,c", "1,2,3", "4,5", "6,7,8"), block_bytes = block)
    says("too many or too few", c("a,b,c", "1,2,3", "4,5,6,7", "6,7,8"), block_bytes = block)
    says("too many or too few", c("a,b,c", "1,2,3", "4,5"), block_bytes = block)
    says("too many or too few", c("a,b,c", "1,2"), block_bytes = block)
  }
  says("lose digits; name the column in `texts`", c("id,b", "9007199254740993,1", "2,3"))
  id <- gbt_data(gbt_files(file.path(folder, "rows.csv"), texts = "id"), threads = 1)
  expect_identical(id$feature_types, c("character", "integer"))
  for (odd in list(1, character(0), NA_character_, "")) expect_error(gbt_files(odd), class = "gbt_error_argument")
  expect_error(gbt_files(one, label = c("a", "b", "c", "d")), "`label`", class = "gbt_error_argument")
  expect_error(gbt_files(one, sep = "ab"), "`sep`", class = "gbt_error_argument")
  expect_length(list.files(tempdir(), pattern = "^gbt-rows-"), 0L)
})

test_that("a file of another format is named as such", {
  skip_if_not_installed("data.table")
  file <- withr::local_tempfile(fileext = ".txt")
  refused <- function(lines, text) {
    writeLines(lines, file)
    expect_error(gbt_data(gbt_files(file)), text, class = "gbt_error_data")
  }
  refused(c("2 qid:1 1:0.5 2:1e-3 # doc", "0 qid:1 1:0.25"), "format LETOR .*vignette\\(\"ranking\"")
  refused("-1 3:1", "format SVMlight")
  writeLines(c("1 a:b,y", "2,3"), file)
  expect_no_error(gbt_data(gbt_files(file, label = "y", sep = ","), threads = 1))
})

test_that("arguments that a source does not have are named, with what is meant", {
  skip_if_not_installed("data.table")
  file <- withr::local_tempfile(fileext = ".csv")
  writeLines(c("a,y", "1,2"), file)
  says <- function(text, ...) expect_error(gbt_files(file, ...), text, class = "gbt_error_argument")
  says("did you mean `label`", lable = "y")
  says("`y` is called `label` here", y = "y")
  says("`weights` is called `weight` here", weights = "a")
  says("has no `nrounds`; give it to the function that takes the rows", nrounds = 10)
  says("has no `position`; give it to", position = "a")
  says("without a name", "y", NULL, NULL, NULL, NULL, NULL, NULL, NULL, c("", "NA"), TRUE, "UTF-8", 9, FALSE, NULL, 1)
  expect_error(gbt_batches(new.env(), lable = "y"), "did you mean `label`", class = "gbt_error_argument")
  expect_error(gbt_query(1, "SELECT 1", lable = "y"), "did you mean `label`", class = "gbt_error_argument")
})

test_that("progress is told", {
  skip_if_not_installed("data.table")
  file <- withr::local_tempfile(fileext = ".csv")
  write_to(all_of(), file)
  expect_message(gbt_data(gbt_files(file, label = "y", progress = TRUE), threads = 1), "read 900 rows.*MB/s")
})

test_that("a quote that does not begin a field is a character like others, two within quotes are one", {
  skip_if_not_installed("data.table")
  file <- withr::local_tempfile(fileext = ".csv")
  text <- c("5\" pipe", "6\"\" rod", "say \"x\"", "two\nlines", "it's \"\"", "a, \"b\"\n\"c\"", "\"\"", "")
  written <- c("5\" pipe", "6\"\" rod", "\"say \"\"x\"\"\"", "\"two\nlines\"", " \"it's \"\"\"\"\"",
               "\"a, \"\"b\"\"\n\"\"c\"\"\"", "\"\"\"\"\"\"", "\"\"")
  at <- rep(seq_along(text), 12)
  value <- seq_along(at) %% 7L
  top <- c("na\"me", "\"of, \"\"y\"\"\"", "v")
  lines <- function(by) c(paste(top, collapse = by), paste(written[at], value, value, sep = by))
  d <- data.frame(text[at], value, check.names = FALSE)
  names(d) <- c("na\"me", "v")
  for (by in c(",", ";")) {
    body <- lines(by)
    for (block in c(1e6, 200, 41, 7)) {
      writeLines(body, file)
      rows <- read_source(gbt_files(file, label = "of, \"y\"", sep = by, block_bytes = block, texts = "na\"me",
                                    na = "NA"))
      got <- list()
      while (!is.null(part <- rows$read(length(got) + 1))) got <- c(got, list(part$x))
      rows$close()
      expect_identical(as.list(do.call(rbind, got)), as.list(d))
    }
  }
  # line feeds in quotes beside quotes that are characters, more records than fread() looks at to find out how
  text <- rep(c("one\ntwo, 3\" \n", "4\" x", "\n\n", "plain"), 2000)
  quoted <- function(t) paste0("\"", gsub("\"", "\"\"", t, fixed = TRUE), "\"")
  body <- ifelse(grepl("\n", text), quoted(text), text)
  writeLines(c("a,b,y", paste(body, seq_along(text), body, sep = ",")), file)
  rows <- read_source(gbt_files(file, label = "b", na = "NA"))
  expect_identical(rows$read(1)$x, data.frame(a = text, y = text))
  rows$close()
  one <- as.raw(1:31)[-c(9:13)] # all that could stand for a quote is there
  writeBin(c(charToRaw("a,b\n\"x\"\"y\",1\n"), one, charToRaw(",2\n")), file)
  expect_error(read_source(gbt_files(file)), "every control character", class = "gbt_error_data")
})

# The class of column `a` of a file, at any size of blocks, or the message of the error of a class.
class_in_file <- function(a, ..., class = "gbt_error_data", more = "") {
  file <- withr::local_tempfile(fileext = ".csv")
  one <- function(block) {
    con <- base::file(file, "wb")
    writeLines(c("a,y", sprintf("%s,%d", a, seq_along(a))), con, useBytes = TRUE)
    close(con)
    tryCatch({
      rows <- read_source(gbt_files(file, label = "y", block_bytes = block, ...))
      on.exit(rows$close())
      values <- list()
      while (!is.null(part <- rows$read(length(values) + 1))) values <- c(values, list(part$x$a))
      do.call(c, values)
    }, error = function(e) {
      expect_s3_class(e, class)
      sub(file, "FILE", conditionMessage(e), fixed = TRUE)
    })
  }
  whole <- one(2^20)
  for (block in c(1, 7, 20)) expect_identical(one(block), whole)
  whole
}

test_that("columns named in `texts` stay texts, whatever they look like", {
  skip_if_not_installed("data.table")
  for (a in list(c("2020-01-01", "2020-01-02"), c("2020-01-01 10:00:00", "2020-01-02"), c("1", "2"), c("1e400", "2"),
                 c("9007199254740993", ""), c("TRUE", "FALSE"), c("", "2020-01-01"))) {
    expect_identical(class_in_file(a, texts = "a", na = "NA"), a)
  }
  expect_match(class_in_file("1", texts = "b", class = "gbt_error_argument"), "`texts` names `b`, which is not a col")
})

test_that("numbers that a double does not hold never make a column of texts", {
  skip_if_not_installed("data.table")
  expect_identical(class_in_file(c("1.5", "1e-400", "-1e-400", "0e400")), c(1.5, 0, -0, 0))
  expect_identical(class_in_file(c("1.5", "17180008231662214", "18446744073709551616", "-9223372036854775808")),
                   c(1.5, 17180008231662214, 2^64, -2^63))
  expect_identical(class_in_file(c("1", "1e308", "4.9e-324", "0.1", "-Inf")), c(1, 1e308, 4.9e-324, 0.1, -Inf))
  expect_identical(class_in_file(c("NaN", "1.0e-0400", "2")), c(NaN, 0, 2))
  expect_match(class_in_file(c("1.5", "1e400", "-2e999")),
               "\"FILE\", row 2: column `a` has the number 1e400, which is too large", fixed = TRUE)
  for (odd in c("1.8e308", "-1e+4000000000000", strrep("9", 400))) {
    expect_match(class_in_file(c("1.5", odd, "3")), "row 2: column `a` has .* too large .*; name the column in")
  }
  for (odd in c("12345678901234567890", "-9007199254740993", "+0009007199254740993", "1234567890123456789")) {
    expect_match(class_in_file(c("1.5", "2", odd)), "row 3: column `a` has .* would lose digits; name the column in")
  }
})

test_that("numbers that a double does not hold are no error where they do no harm", {
  skip_if_not_installed("data.table")
  for (a in list(c("1", "1e400", "x"), c("x", "9007199254740993", "2"), c("2020-01-01", "1e400"), c("TRUE", "1e400"),
                 c("12345678901234567890", "1", " x"))) {
    expect_type(class_in_file(a), "character")
  }
  file <- withr::local_tempfile(lines = c("id,a,y", "9007199254740993,1,2", "1e400,2,3"), fileext = ".csv")
  some <- gbt_data(gbt_files(file, label = "y", columns = "a"), threads = 1)
  expect_identical(some$feature_names, "a")
  model <- gbt_train(data.frame(a = 1:40), 1:40, nrounds = 1, threads = 1)
  expect_length(predict(model, gbt_files(file, columns = "a"), threads = 1), 2L)
  expect_error(predict(gbt_train(data.frame(id = 1:40), 1:40, nrounds = 1, threads = 1), gbt_files(file), threads = 1),
               "row 1: column `id` has the number 9007199254740993", class = "gbt_error_data")
})

test_that("one column with blank lines has numbers in their rows", {
  skip_if_not_installed("data.table")
  file <- withr::local_tempfile(lines = c("a", "1", "", "1e-400", "", "1e400"), fileext = ".csv")
  expect_error(read_source(gbt_files(file)), "row 5: column `a` has the number 1e400", class = "gbt_error_data")
  writeLines(c("a", "1", "", "1e-400", ""), file)
  rows <- read_source(gbt_files(file))
  expect_identical(rows$read(1)$a, c(1, NA, 0, NA))
  rows$close()
})

test_that("texts that are not valid are refused with file, row and column", {
  skip_if_not_installed("data.table")
  bad <- class_in_file(c("x", "y\xe4", "z"))
  expect_match(bad, "\"FILE\", row 2: the text \"y<e4>\" in column `a` is not valid in its encoding", fixed = TRUE)
  expect_match(bad, "encoding = \"Latin-1\"", fixed = TRUE)
  expect_match(class_in_file(c("\xe4", "\"\xff\"\"\"")), "row 1: the text \"<e4>\" in column `a`", fixed = TRUE)
  expect_identical(class_in_file(c("x", "y\xe4", "z"), encoding = "Latin-1"), c("x", "y\u00e4", "z"))
  file <- withr::local_tempfile(fileext = ".csv")
  writeBin(charToRaw("a\xe4,y\n1,2\n"), file)
  expect_error(read_source(gbt_files(file)), "a column name of .* is not valid text", class = "gbt_error_data")
  writeBin(charToRaw("f,y\na\xe4,2\n"), file)
  model <- gbt_train(data.frame(f = c("a", "b")[1:40 %% 2 + 1]), 1:40, nrounds = 1, threads = 1)
  expect_error(predict(model, gbt_files(file), threads = 1), "row 1: the text \"a<e4>\" in column `f`",
               class = "gbt_error_data")
})

test_that("a folder that cannot be written to is refused before rows are read", {
  folder <- withr::local_tempdir()
  read <- 0
  rows <- function(i) {
    read <<- read + 1
    if (i == 1) data.frame(a = 1:3)
  }
  bins <- file.path(folder, "bins")
  gbt_data(rows, path = bins, threads = 1)
  read <- 0
  for (path in list(bins, c(bins, file.path(folder, "more")))) {
    expect_error(gbt_data(rows, path = path, threads = 1), "already contains a data set", class = "gbt_error_io")
  }
  file <- withr::local_tempfile(lines = "a", tmpdir = folder)
  expect_error(gbt_data(rows, path = file, threads = 1), "is a file; give a folder", class = "gbt_error_io")
  expect_identical(read, 0)
})

test_that("print() of a source has its files, their size, roles and kinds of columns, and reads one small block", {
  skip_if_not_installed("data.table")
  withr::local_dir(withr::local_tempdir())
  for (name in c("a.csv", "b.csv", "c.csv", "d.csv")) writeLines("a,y", name)
  expect_snapshot({
    print(gbt_files("a.csv"))
    print(gbt_files(c("a.csv", "b.csv", "c.csv", "d.csv"), label = "y", offset = c("u", "v"), columns = c("a", "b"),
                    texts = "a"))
    writeLines(c("y,n,k,t,day,code", "1.5,1,TRUE,x,2020-01-31,7", "2,NA,FALSE,y,2020-02-01,8"), "e.csv")
    print(gbt_files("e.csv", label = "y", texts = "code"))
    print(gbt_files("e.csv", columns = c("n", "nowhere")))
  })
  long <- c("y,n", rep("1,2", 1e5), "x,y")
  writeLines(long, "f.csv")
  expect_output(print(gbt_files("f.csv")), "`y` (integer), `n` (integer)", fixed = TRUE) # the end is not read
  broken <- gbt_files("a.csv")
  broken$roles <- list(label = 1)
  expect_error(print(broken), "whose fields were changed", class = "gbt_error_argument")
})
