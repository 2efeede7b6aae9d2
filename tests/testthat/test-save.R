model <- function(...) gbt_train(Species ~ ., iris, nrounds = 3, threads = 1, ...)

same_model <- function(a, b) {
  a$call <- b$call <- NULL # files keep none
  identical(a, b)
}

test_that("fields of any shape survive the bytes", {
  fields <- list(params = list(eta = 0.1, flag = NA, none = NULL, text = c("a", NA, "\u00e9"), int = 1:3,
                               named = c(x = 1, y = 2), deep = list(list(1L), "b", list()), empty = character(0)),
                 classes = NULL, response = "factor")
  meta <- model_meta(fields)
  expect_true(all(vapply(meta, function(x) is.character(x) || is.double(x) || is.integer(x), NA)))
  for (name in names(fields)) expect_identical(unpack(meta, name), fields[[name]])
})

test_that("a saved and loaded model is the same object", {
  file <- withr::local_tempfile()
  for (m in list(model(), gbt_train(mpg ~ log(hp) + poly(wt, 2) + offset(cyl), mtcars, nrounds = 2, threads = 1),
                 gbt_train(mtcars[-1], mtcars$mpg, valid = 0.3, nrounds = 4, early_stopping_rounds = 2, threads = 1))) {
    expect_identical(gbt_save(m, file), m)
    expect_true(same_model(gbt_load(file), m))
    expect_identical(readBin(file, "raw", 1e6), bytes_to_save(m))
    m$by_rule <- m$named <- m$provenance <- NULL
    gbt_save(m, file)
    expect_identical(readBin(file, "raw", 1e6), m$state)
  }
})

test_that("files keep which parameters rules chose; files of before have none, and those of nobody are refused", {
  file <- withr::local_tempfile()
  m <- model(eta = 0.3, seed = 1)
  expect_true(length(m$by_rule) > 1L && !"eta" %in% m$by_rule)
  gbt_save(m, file)
  back <- gbt_load(file)
  expect_identical(back$by_rule, m$by_rule)
  expect_identical(utils::capture.output(print(back)), utils::capture.output(print(m)))
  expect_identical(predict(back, iris), predict(m, iris))
  expect_identical(back[1:2]$by_rule, m$by_rule)
  expect_same_bytes(back[1:2]$state, m[1:2]$state)
  expect_same_bytes(model(seed = 1, init_model = back)$state, model(seed = 1, init_model = m)$state)
  again <- function(...) gbt_refit(..., x = Species ~ ., data = iris, nrounds = 3, threads = 1)
  expect_identical(again(back)$by_rule, again(m)$by_rule)
  named <- do.call(model, c(m$params[m$by_rule], eta = 0.3, seed = 1))
  expect_same_bytes(named$state, m$state)
  named$named <- named$provenance <- NULL
  gbt_save(named, file)
  expect_identical(readBin(file, "raw", 1e6), m$state)
  writeBin(m$state, file) # as files were before
  expect_null(gbt_load(file)$by_rule)
  expect_true(same_model(gbt_load(file), named))
  m$note <- "a field of the user's"
  gbt_save(m, file)
  expect_identical(unclass(gbt_load(file))[c("by_rule", "note")], unclass(m)[c("by_rule", "note")])
  back$by_rule <- "lambda"
  gbt_save(back, file)
  expect_identical(gbt_load(file)$by_rule, "lambda")
  for (wrong in list("nothing", 1, list("lambda"), c("lambda", "lambda"), NA_character_)) {
    bytes <- .Call(C_gbt_model_slice, m$state, c(0, 3), model_meta(c(stored_fields(m), list(by_rule = wrong))))
    expect_error(gbt_load(bytes), "\"by_rule\" must be NULL or names of `params`", class = "gbt_error_format")
  }
})

test_that("a model survives everything that R does to objects", {
  m <- model()
  p <- predict(m, iris)
  back <- unserialize(serialize(m, NULL))
  expect_identical(predict(back, iris), p)
  expect_identical(predict(back, iris), p) # by the cache that the first call filled
  m$xNames <- "foreign"
  expect_identical(predict(m, iris), p)
  env <- new.env()
  env$m <- m
  base <- withr::local_tempfile()
  getFromNamespace("makeLazyLoadDB", "tools")(env, base)
  other <- new.env()
  lazyLoad(base, other)
  expect_identical(predict(other$m, iris), p)
  skip_if_not_installed("data.table")
  dt <- data.table::data.table(i = 1:2, m = list(m, m))
  expect_identical(predict(dt[2]$m[[1]], iris), p)
})

test_that("saving does not write the bytes twice", {
  m <- model()
  expect_lt(length(serialize(m, NULL)), length(m$state) + 20000)
})

test_that("a state that was changed by hand does not reach the pointer of the old one", {
  m <- model()
  p <- predict(m, iris)
  other <- m
  other$state[length(other$state) - 8L] <- xor(other$state[length(other$state) - 8L], as.raw(1))
  expect_error(predict(other, iris), class = "gbt_error_format")
  expect_identical(predict(m, iris), p)
  other$state <- gbt_train(Species ~ ., iris, nrounds = 1, threads = 1)$state
  other$nrounds <- 1L
  expect_identical(predict(other, iris), predict(m, iris, trees = 1))
})

test_that("files that are no models are classed errors that name the file", {
  file <- withr::local_tempfile()
  state <- model()$state
  broken <- list(raw(0), charToRaw("gbtmodel"), state[1:100], state[-length(state)], c(state, as.raw(0)), rev(state))
  for (bytes in broken) {
    writeBin(bytes, file)
    e <- tryCatch(gbt_load(file), error = identity)
    expect_s3_class(e, "gbt_error_format")
    expect_identical(e$path, file)
  }
  expect_error(gbt_load(file.path(file, "none")), class = "gbt_error_io")
  expect_error(gbt_load(tempdir()), "not a file", class = "gbt_error_io")
  expect_error(gbt_save(model(), file.path(tempdir(), "no", "folder")), class = "gbt_error_io")
})

test_that("a description that does not fit the forest is refused", {
  m <- model()
  describe <- function(...) {
    fields <- utils::modifyList(list(classes = levels(iris$Species), response = "factor",
                                     params = list(num_parallel_tree = 1), has_offset = FALSE), list(...))
    .Call(C_gbt_model_slice, m$state, c(0, 1), model_meta(fields))
  }
  refuse <- function(...) expect_error(gbt_model_from_state(describe(...)), class = "gbt_error_format")
  good <- gbt_model_from_state(describe())
  expect_identical(good$objective, "softmax") # by the bytes, whatever the description says
  expect_identical(predict(good, iris), predict(m[1], iris))
  refuse(classes = c("a", "b"))
  refuse(has_offset = NA)
  refuse(best_round = 2)
  refuse(params = 1)
  refuse(terms = list(features = 1))
  refuse(evaluation_log = list(a = 1, b = 1:2))
  bare <- .Call(C_gbt_model_slice, m$state, c(0, 1), list())
  expect_error(gbt_model_from_state(bare), class = "gbt_error_format")
})

test_that("a formula in a file runs only known functions unless trusted", {
  file <- withr::local_tempfile()
  assign("my_log", function(x) log(x), globalenv())
  withr::defer(rm("my_log", envir = globalenv()))
  m <- gbt_train(mpg ~ my_log(hp), mtcars, nrounds = 1, threads = 1)
  gbt_save(m, file)
  expect_error(gbt_load(file), "my_log", class = "gbt_error_format")
  expect_identical(predict(gbt_load(file, trust = TRUE), mtcars), predict(m, mtcars))
})

test_that("a file that cannot be written whole leaves the old one", {
  skip_on_os("windows")
  folder <- withr::local_tempdir()
  file <- file.path(folder, "model.gbt")
  m <- model()
  gbt_save(m, file)
  gbt_save(m[1], file)
  expect_identical(gbt_load(file)$nrounds, 1L)
  expect_identical(list.files(folder, all.files = TRUE, no.. = TRUE), "model.gbt")
})

test_that("a file of saveRDS() or save() is told from a damaged model", {
  m <- gbt_train(mpg ~ ., mtcars, nrounds = 1, threads = 1)
  file <- withr::local_tempfile()
  for (compress in c("gzip", "bzip2", "xz")) {
    saveRDS(m, file, compress = compress)
    expect_error(gbt_load(file), "is read by readRDS()", fixed = TRUE, class = "gbt_error_format")
  }
  for (ascii in c(TRUE, FALSE)) {
    saveRDS(m, file, ascii = ascii, compress = FALSE)
    expect_error(gbt_load(file), "is read by readRDS()", fixed = TRUE, class = "gbt_error_format")
    save(m, file = file, ascii = ascii, compress = FALSE)
    expect_error(gbt_load(file), "is read by readRDS()", fixed = TRUE, class = "gbt_error_format")
  }
  writeBin(as.raw(1:100), file)
  expect_no_match(conditionMessage(expect_error(gbt_load(file), class = "gbt_error_format")), "readRDS")
})

test_that("models come from raw vectors and go through connections, one after the other", {
  m <- model()
  m$note <- "added"
  file <- withr::local_tempfile()
  gbt_save(m, file)
  bytes <- readBin(file, "raw", 1e6)
  m <- gbt_load(file)
  expect_true(same_model(gbt_load(bytes), m))
  bare <- gbt_load(model()$state)
  for (field in only_in_files) bare[[field]] <- model()[[field]]
  expect_true(same_model(bare, model()))

  expect_identical(gbt_save(m, gzfile(file)), m) # opened and closed
  expect_identical(readBin(file, "raw", 2L), as.raw(c(0x1f, 0x8b)))
  expect_true(same_model(gbt_load(gzfile(file)), m))

  con <- rawConnection(raw(0), "wb")
  gbt_save(m, con)
  gbt_save(m[1], con)
  both <- rawConnectionValue(con)
  close(con)
  expect_identical(both[seq_along(bytes)], bytes)
  con <- rawConnection(both, "rb")
  expect_true(same_model(gbt_load(con), m))
  expect_identical(gbt_load(con)$nrounds, 1L)
  expect_error(gbt_load(con), "cut short|not a gbt model", class = "gbt_error_format")
  close(con)
  expect_error(gbt_load(con), "that was closed", class = "gbt_error_argument")
  expect_error(gbt_save(m, con), "that was closed", class = "gbt_error_argument")
})

test_that("bytes that are no model are refused from anywhere, whatever they say of their size", {
  state <- model()$state
  from_con <- function(bytes) {
    con <- rawConnection(bytes, "rb")
    on.exit(close(con))
    gbt_load(con)
  }
  huge <- replace(state, 17:24, as.raw(255))
  flipped <- replace(state, 100L, xor(state[100L], as.raw(1)))
  for (bytes in list(raw(0), state[1:20], state[1:100], huge, flipped, serialize(1, NULL))) {
    expect_error(gbt_load(bytes), "^the raw vector: ", class = "gbt_error_format")
    expect_error(from_con(bytes), class = "gbt_error_format")
  }
  text <- textConnection("gbtmodel")
  expect_error(gbt_load(text), "mode \"r\"; open it with \"rb\"", class = "gbt_error_argument")
  expect_error(gbt_save(model(), text), "\"wb\"", class = "gbt_error_argument")
  close(text)
  none <- file.path(tempdir(), "no", "file")
  for (con in list(file(none), gzfile(none))) {
    expect_error(gbt_load(con), "cannot read connection", class = "gbt_error_io")
    expect_error(gbt_save(model(), con), "cannot write connection", class = "gbt_error_io")
    close(con)
  }
  expect_error(gbt_load(list()), "one path, a connection or a raw vector", class = "gbt_error_argument")
  expect_error(gbt_load(), "missing", class = "gbt_error_argument")
})

test_that("other processes that load a file while it is replaced get one of its models", {
  skip_on_os("windows")
  file <- withr::local_tempfile()
  models <- list(model(), gbt_train(mpg ~ ., mtcars, nrounds = 40, threads = 1))
  known <- lapply(models, `[[`, "state")
  gbt_save(models[[1L]], file)
  done <- paste0(file, ".done")
  readers <- lapply(1:4, function(i) {
    parallel::mcparallel({
      wrong <- n <- 0
      repeat {
        state <- gbt_load(file)$state
        wrong <- wrong + !(identical(state, known[[1L]]) || identical(state, known[[2L]]))
        n <- n + 1
        if (file.exists(done)) break
      }
      c(wrong, n)
    })
  })
  swaps <- if (long_form()) 500 else 100 # tests/robust/files.sh has 2,000 and more
  for (i in seq_len(swaps)) gbt_save(models[[1L + i %% 2L]], file)
  file.create(done)
  seen <- parallel::mccollect(readers)
  unlink(done)
  for (one in seen) {
    expect_type(one, "double")
    expect_identical(one[1L], 0)
    expect_gt(one[2L], 0)
  }
})
