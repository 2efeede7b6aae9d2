# Data sets in folders: gbt_data(path = ) and gbt_open().

n <- 3000
x <- data.frame(
  f = factor(sprintf("l%02d", seq_len(n) %% 29)), t = letters[seq_len(n) %% 7 + 1], v = sin(seq_len(n)),
  w = replace(cos(seq_len(n) / 3), seq_len(n) %% 11 == 0, NA), o = factor(seq_len(n) %% 4, ordered = TRUE),
  z = ifelse(seq_len(n) %% 50 == 0, 1, 0)
)
y <- x$v + seq_len(n) %% 29 / 10 + seq_len(n) %% 7 / 5
folder <- function() withr::local_tempdir(.local_envir = parent.frame(2L))
trees <- function(...) as.data.frame(gbt_train(..., nrounds = 5, seed = 1, threads = 1))

test_that("models of data in a folder are those of data in memory", {
  path <- file.path(folder(), "bins")
  want <- trees(x, y)
  for (memory in list(0, "100 KB", NULL)) {
    unlink(path, recursive = TRUE)
    d <- gbt_data(x, y, path = path, memory = memory, page_rows = 400, threads = 1)
    expect_identical(trees(d), want)
    expect_identical(trees(gbt_open(path, memory = memory, threads = 1)), want)
  }
  expect_setequal(sub("-.*[.]", "-ID.", list.files(path)), c("gbt-dataset", "pages-ID.bin"))
  moved <- file.path(folder(), "moved")
  expect_true(file.rename(path, moved))
  expect_identical(trees(gbt_open(moved)), want)
})

test_that("missing values that the cuts do not know are the same in memory and in a folder", {
  x <- cbind(vapply(1:4, function(k) (1:1000 %/% k) %% 2, numeric(1000)), 1:1000 %% 23)
  missing <- x
  missing[cbind(1:1000, 1 + 1:1000 %% 4)[1:1000 %% 3 == 0, ]] <- NA
  known <- gbt_data(x, threads = 1)
  y <- ifelse(is.na(missing[, 1]), 2, missing[, 1]) - ifelse(is.na(missing[, 2]), 2, missing[, 2]) + x[, 5] * x[, 3]
  for (policy in c("depthwise", "lossguide", "symmetric")) {
    train <- function(...) {
      gbt_train(gbt_data(missing, label = y, reference = known, ...), nrounds = 5, max_depth = 5, grow_policy = policy,
                threads = 1)$state
    }
    folder <- withr::local_tempfile()
    expect_same_bytes(train(), train(path = folder, memory = 1, page_rows = 64))
  }
})

test_that("sampling, growth, statistics, masks, classes and validation data work from a folder", {
  path <- folder()
  d <- gbt_data(x, y, path = file.path(path, "a"), memory = 0, page_rows = 256, threads = 1)
  m <- gbt_data(x, y, threads = 1)
  same <- function(...) expect_identical(trees(d, ...), trees(m, ...))
  same(subsample = 0.5, colsample_bytree = 0.5)
  same(grow_policy = "lossguide", max_leaves = 12)
  same(grow_policy = "symmetric", max_depth = 4)
  same(cat_method = list(f = c("sets", "target"), t = "onehot"))
  same(cat_method = "target", max_cat_combine = 2, time = seq_len(n))
  same(mask = seq_len(n) %% 3 > 0)
  same(label = factor(seq_len(n) %% 3), objective = "softmax")
  same(objective = "quantile", quantile_alpha = 0.7)
  v <- gbt_data(x[1:700, ], y[1:700], reference = d, path = file.path(path, "v"), page_rows = 100, threads = 1)
  expect_identical(trees(d, valid = v, early_stopping_rounds = 2),
                   trees(m, valid = list(x = x[1:700, ], y = y[1:700]), early_stopping_rounds = 2))
})

test_that("what belongs to rows is kept in the folder, or given anew", {
  path <- file.path(folder(), "bins")
  d <- gbt_data(x, y, weight = seq_len(n) / n, offset = x$v, group = x$t, path = path, threads = 1)
  o <- gbt_open(path, threads = 1)
  fields <- c("label", "weight", "offset", "time", "group", "max_bin", "sparse_zero", "is_reference", "level_counts")
  expect_identical(unclass(o)[fields], unclass(d)[fields])
  expect_identical(trees(o), trees(d))
  expect_output(print(o), "in the folder", fixed = TRUE)
  expect_identical(gbt_open(path, label = 2 * y)$label, 2 * y)
  timed <- gbt_open(path, time = seq_len(n))
  expect_identical(list(timed$time, timed$group), list(as.double(seq_len(n)), NULL))
  expect_identical(gbt_open(path, weight = rep(2L, n), offset = y)[["weight"]], rep(2, n))
  expect_error(gbt_open(path, label = 1:3), "`label` has 3 values for 3,000 rows", class = "gbt_error_data")
  expect_error(gbt_open(path, weight = c(1, NA)), "`weight` has 2 values", class = "gbt_error_data")
})

test_that("mistakes with folders are named", {
  at <- folder()
  path <- file.path(at, "bins")
  gbt_data(x, y, path = path, threads = 1)
  expect_error(gbt_data(x, y, path = path, threads = 1), "a data set; open it with gbt_open()", fixed = TRUE,
               class = "gbt_error_io")
  expect_error(gbt_open(file.path(at, "none")), "there is no folder", class = "gbt_error_data")
  expect_error(gbt_open(at), "holds no data set of gbt", class = "gbt_error_io")
  expect_error(gbt_open(strrep("long", 25000)), "there is no folder", class = "gbt_error_data")
  expect_error(gbt_open(), "`path` is missing", class = "gbt_error_argument")
  expect_error(gbt_open(path, memory = "much"), "a number of bytes, or a text such as", class = "gbt_error_argument")
  expect_error(gbt_open(path, memory = -1), "`memory` must be", class = "gbt_error_argument")
  expect_error(gbt_open(path, labels = y), "labels", class = "gbt_error_argument")
  expect_error(gbt_data(x, memory = 3), "give `path`", class = "gbt_error_argument")
  expect_error(gbt_data(x, path = 3), "`path` must be one path", class = "gbt_error_argument")
  expect_error(gbt_data(x, path = file.path(at, "new"), device = "cuda"), "made on the CPU",
               class = "gbt_error_unsupported")
  file <- list.files(path, "^pages", full.names = TRUE)
  bytes <- bytes_of_file(file)
  writeBin(replace(bytes, 100, xor(bytes[100], as.raw(1))), file)
  expect_error(trees(gbt_open(path)), "page 1 in .* is damaged", class = "gbt_error_format")
  writeBin(bytes[1:50], file)
  expect_error(gbt_open(path), "is cut short", class = "gbt_error_format")
  unlink(file)
  expect_error(gbt_open(path), "pages-", class = "gbt_error_io")
  writeBin(as.raw(1:200), file.path(path, "gbt-dataset"))
  expect_error(gbt_open(path), "is not a data set of gbt", class = "gbt_error_format")
})

test_that("bins may be in several folders, and packed", {
  at <- folder()
  want <- trees(x, y)
  codecs <- names(which(available_codecs()))
  expect_true("none" %in% codecs)
  for (codec in codecs) {
    for (n_folders in 1:3) {
      path <- file.path(at, paste0(codec, n_folders, letters[seq_len(n_folders)]))
      d <- gbt_data(x, y, path = path, compress = codec, memory = 0, page_rows = 400, threads = 1)
      expect_identical(trees(d), want)
      for (memory in list(0, "20 KB", NULL)) {
        expect_identical(trees(gbt_open(rev(path), memory = memory, threads = 1)), want)
      }
    }
  }
  expect_output(print(d), "in the folders \".*none3a|lz43a|zstd3a")
  file <- function(k) list.files(path[k], "^pages", full.names = TRUE)
  expect_match(file(2), "pages-[0-9a-f]{16}-2of3[.]bin$")
  expect_error(gbt_open(path[-2]), basename(file(2)), fixed = TRUE, class = "gbt_error_io")
  expect_error(gbt_open(path[-1]), "contain no data set", class = "gbt_error_io")
  moved <- file.path(at, c("m", "n", "o"))
  expect_true(all(file.rename(path, moved)))
  expect_identical(trees(gbt_open(moved[c(2, 3, 1)], threads = 1)), want)
  d <- gbt_open(moved, memory = 0, threads = 1)
  unlink(moved, recursive = TRUE)
  if (.Platform$OS.type == "unix") expect_identical(trees(d), want) # open files outlive their names
  expect_error(gbt_open(moved), "there is no folder", class = "gbt_error_data")
})

test_that("mistakes with several folders and with compression are named", {
  at <- folder()
  path <- file.path(at, c("a", "b"))
  expect_error(gbt_data(x, path = path[c(1, 1)]), "twice", class = "gbt_error_argument")
  expect_error(gbt_data(x, path = c(path, NA)), "`path` must be one path, or", class = "gbt_error_argument")
  expect_error(gbt_data(x, path = character()), "`path` must be one path", class = "gbt_error_argument")
  expect_error(gbt_data(x, path = path, compress = "gzip"), "`compress` must be one of", class = "gbt_error_argument")
  expect_error(gbt_data(x, path = path, compress = NA), "`compress` must be one of", class = "gbt_error_argument")
  expect_error(gbt_data(x, compress = "none", path = path, memory = -1), "`memory`", class = "gbt_error_argument")
  if (any(available_codecs()[c("zstd", "lz4")])) {
    expect_error(gbt_data(x, compress = TRUE), "give `path`", class = "gbt_error_argument")
  }
  here <- c(none = TRUE, lz4 = FALSE, zstd = FALSE)
  expect_error(check_compress(TRUE, path, here), "has neither zstd nor lz4", class = "gbt_error_unsupported")
  expect_identical(check_compress(TRUE, path, replace(here, "lz4", TRUE)), "lz4")
  expect_identical(check_compress(FALSE, NULL, here), "none")
  info <- gbt_info()
  expect_identical(info$codecs, available_codecs())
  info$codecs <- here
  expect_output(print(info), "compression +none in this build")
  for (codec in names(which(!available_codecs()))) {
    expect_error(gbt_data(x, path = path, compress = codec), "which this build of gbt does not support",
                 class = "gbt_error_unsupported")
  }
})

test_that("memory is a number of bytes or a text", {
  expect_identical(vapply(list(NULL, 5, "5", "2 kb", "1.5GB", "3MiB", "1t"), memory_bytes, 0),
                   c(2^30, 5, 5, 2048, 1.5 * 2^30, 3 * 2^20, 2^40))
  for (wrong in list("2 XB", "", NA, -1, Inf, c(1, 2), list(3), "1e3", "\uffff")) {
    expect_error(memory_bytes(wrong), "`memory` must be", class = "gbt_error_argument")
  }
})
