# A model is an R object: whatever R does to objects, it predicts the same numbers afterwards, or says why it cannot.
rows <- seq(1, nrow(flights), 40)
d <- flights[rows, ]
withr::with_seed(2, {
  d$temp <- round(rnorm(nrow(d)), 1)
  d$temp[seq(1, nrow(d), 9)] <- NA
})
# one model of each kind
models <- list(
  numbers = gbt_train(distance ~ carrier + dest + temp + date, d, nrounds = 5, threads = 1),
  binary = gbt_train(late ~ ., d, nrounds = 8, valid = 0.2, early_stopping_rounds = 3, eta = 0.8, seed = 1,
                     threads = 1),
  classes = gbt_train(origin ~ . - dest, d, nrounds = 3, num_parallel_tree = 2, colsample_bynode = 0.5, seed = 1,
                      eval_train = TRUE, threads = 1),
  counts = gbt_train(flight ~ log(distance) + carrier + offset(as.numeric(weekday) / 5), d, objective = "poisson",
                     nrounds = 3, threads = 1),
  own = gbt_train(as.matrix(d[c("distance", "temp")]), d$flight / 100, nrounds = 3, threads = 1, objective = list(
    gradient = function(score, label) score - label, hessian = function(score, label) 1 + 0 * score)),
  empty = gbt_train(late ~ ., d, nrounds = 1, threads = 1)[0]
)
new <- d[c(1:200, 5), ]
answers <- function(models) {
  lapply(models, function(m) {
    x <- if (identical(m$objective, "custom")) as.matrix(new[c("distance", "temp")]) else new
    list(predict(m, x), predict(m, x, type = "link", threads = 2), predict(m, x, type = "leaf"), as.data.frame(m),
         gbt_importance(m), utils::capture.output(print(m)), length(m), nobs(m))
  })
}
right <- answers(models)
without_call <- function(models) lapply(models, function(m) unclass(m)[setdiff(names(m), "call")])
expect_survives <- function(carry) {
  back <- carry(models)
  expect_identical(without_call(back), without_call(models))
  expect_identical(answers(back), right)
  expect_identical(answers(back), right) # by what the first calls left in the cache
}

test_that("saveRDS, save, serialize, in any of their forms", {
  file <- withr::local_tempfile()
  for (compress in list(FALSE, "gzip", "xz")) {
    expect_survives(function(m) {
      saveRDS(m, file, compress = compress)
      readRDS(file)
    })
  }
  saveRDS(models, file, ascii = TRUE, version = 2) # writes numbers with 15 digits: those of the log, not the bytes
  expect_identical(answers(readRDS(file)), right)
  expect_survives(function(m) {
    save(m, file = file)
    other <- new.env()
    load(file, other)
    other$m
  })
  expect_survives(function(m) unserialize(serialize(m, NULL, xdr = FALSE)))
})

test_that("gbt_save and gbt_load: the same object, and the same file again", {
  file <- withr::local_tempfile()
  again <- withr::local_tempfile()
  expect_survives(function(m) lapply(m, function(m) {
    gbt_save(m, file)
    back <- gbt_load(file)
    gbt_save(back, again)
    expect_identical(unname(tools::md5sum(file)), unname(tools::md5sum(again)))
    back
  }))
})

test_that("a lazy-load cache as knitr keeps it", {
  base <- file.path(withr::local_tempdir(), "chunk_1")
  expect_survives(function(m) {
    env <- list2env(list(all = m, one = m$binary, plain = 1:3))
    getFromNamespace("makeLazyLoadDB", "tools")(env, base)
    other <- new.env()
    lazyLoad(base, other)
    expect_identical(without_call(list(other$one)), without_call(list(m$binary)))
    other$all
  })
})

test_that("lists, environments and tables of models", {
  expect_survives(function(m) mget(names(m), list2env(m)))
  expect_survives(function(m) utils::modifyList(list(), m))
  expect_survives(function(m) as.list(array(m, c(2, 3), list(NULL, NULL)))[seq_along(m)] |> stats::setNames(names(m)))
  expect_survives(function(m) {
    frame <- data.frame(i = seq_along(m))
    frame$model <- unname(m)
    frame <- merge(frame, data.frame(i = rev(seq_along(m)), other = 1))
    stats::setNames(frame$model, names(m))
  })
  skip_if_not_installed("data.table")
  carry <- function(m) {
    table <- data.table::data.table(name = names(m), model = unname(m), group = 1:2)
    data.table::setkeyv(table, "name")
    table <- data.table::rbindlist(list(table[1:2], table[group == 3], table[3:6]))
    table <- table[match(names(m), name)]
    data.table::set(table, 2L, "model", list(table[2, model]))
    utils::capture.output(print(table))
    stats::setNames(data.table::copy(table)$model, table$name)
  }
  environment(carry) <- globalenv() # data.table looks where it is called from
  expect_survives(carry)
})

test_that("fields and attributes of others are kept, and nothing breaks by them", {
  expect_survives(function(m) lapply(m, function(m) {
    m$xNames <- m$feature_names # what caret writes into a fitted model
    m$problemType <- "Classification"
    m$tuneValue <- data.frame(nrounds = 3, eta = 0.1)
    m[["obsLevels"]] <- structure(c("no", "yes"), ordered = FALSE)
    m$param <- list()
    attr(m, "note") <- "mine"
    back <- unserialize(serialize(m, NULL))
    expect_identical(back$tuneValue, data.frame(nrounds = 3, eta = 0.1))
    expect_identical(attr(back, "note"), "mine")
    for (field in c("xNames", "problemType", "tuneValue", "obsLevels", "param")) m[[field]] <- NULL
    attr(m, "note") <- NULL
    m
  }))
  m <- models$binary
  class(m) <- c("mine", class(m))
  expect_identical(predict(m, new), right$binary[[1]])
  m <- models$binary
  m$cache <- NULL
  expect_identical(predict(m, new), right$binary[[1]])
})

test_that("a worker on a socket", {
  skip_on_cran()
  cluster <- socket_workers(1)
  withr::defer(parallel::stopCluster(cluster))
  parallel::clusterCall(cluster, .libPaths, .libPaths())
  work <- function(m, d, new) {
    before <- "gbt" %in% loadedNamespaces() # a model may travel through a process that does not know it
    loadNamespace("gbt")
    list(models = m, before = before, p = stats::predict(m$binary, new, threads = 2),
         state = gbt::gbt_train(late ~ ., d, nrounds = 3, threads = 2)$state)
  }
  environment(work) <- globalenv()
  there <- NULL
  expect_survives(function(m) {
    there <<- parallel::clusterCall(cluster, work, m, d, new)[[1]]
    there$models
  })
  expect_false(there$before)
  expect_identical(there$p, right$binary[[1]])
  expect_same_bytes(gbt_train(late ~ ., d, nrounds = 3, threads = 1)$state, there$state)
})

test_that("forked workers after work on two threads", {
  skip_on_cran()
  child <- start_child(quote({
    options(gbt.oversubscribe = TRUE)
    d <- flights[1:6000, ]
    data <- gbt_data(d[-1], label = d$late, threads = 2)
    m <- gbt_train(late ~ ., d, nrounds = 4, threads = 2)
    p <- predict(m, d, threads = 2)
    work <- function(i) {
      list(predict(m, d, threads = 2), gbt_train(late ~ ., d, nrounds = 4, threads = 2)$state, gbt_threads(),
           as.data.frame(gbt_train(data, nrounds = 4, threads = 2)), unserialize(serialize(m, NULL))$state)
    }
    say("begin")
    for (i in 1:2) {
      got <- parallel::mclapply(1:4, work, mc.cores = 2)
      expected <- list(p, m$state, 1L, as.data.frame(gbt_train(data, nrounds = 4, threads = 2)), m$state)
      say("same", sum(vapply(got, identical, NA, expected)))
    }
    say("after", identical(predict(m, d, threads = 2), p))
  }))
  for (i in 1:2) expect_identical(wait_for(child, "same", i)[3], "4")
  expect_identical(wait_for(child, "after")[3], "TRUE")
})

test_that("a gbt_data that was saved says what to do", {
  data <- gbt_data(d[-1], label = d$late, threads = 1)
  expect_snapshot(error = TRUE, {
    gone <- unserialize(serialize(data, NULL))
    gone
    gbt_train(gone)
    gbt_data(d[-1], reference = gone)
    gbt_train(d[-1], d$late, valid = gone)
    predict(models$binary, gone)
  })
  expect_identical(dim(gone), dim(data))
  expect_identical(dimnames(gone), dimnames(data))
})

test_that("300 damaged files are errors, or change nothing", {
  file <- withr::local_tempfile()
  m <- models$classes
  x <- new[1:20, ]
  p <- predict(m, x)
  verdict <- function(bytes) {
    writeBin(bytes, file)
    tryCatch(if (identical(predict(gbt_load(file), x, threads = 1), p)) "same" else "OTHER", error = function(e) {
      named <- grepl(basename(file), conditionMessage(e), fixed = TRUE)
      if (inherits(e, "gbt_error_format") && named) "error" else "PLAIN"
    })
  }
  n <- length(m$state)
  expect_identical(verdict(m$state), "same")
  withr::with_seed(300, for (i in 1:300) {
    bytes <- m$state
    many <- sample.int(8L, 1L)
    at <- switch(i %% 3 + 1, sample.int(n, 1L), sample.int(512L, many), sample.int(n, many))
    damaged <- switch(i %% 5 + 1, bytes[seq_len(sample.int(n, 1L) - 1L)], replace(bytes, at, as.raw(0)),
                      replace(bytes, at, as.raw(255)), replace(bytes, at, xor(bytes[at], as.raw(2^(i %% 8)))),
                      c(bytes[seq_len(at[1])], bytes[at[1]:n]))
    expect_true(verdict(damaged) %in% c("same", "error"), label = sprintf("damage %d: %s", i, verdict(damaged)))
  })
})

test_that("files of others are errors that name the file", {
  folder <- withr::local_tempdir()
  file <- function(name) file.path(folder, name)
  state <- models$classes$state
  half <- length(models$binary$state) %/% 2
  write <- function(name, bytes) writeBin(bytes, file(name))
  write("empty", raw(0))
  write("one", as.raw(0))
  write("zeros", raw(5000))
  write("text", charToRaw("tree\nversion=v4\nnum_class=1\n"))
  write("json", charToRaw("{\"learner\":{\"attributes\":{}},\"version\":[2,1,0]}"))
  write("doubled", c(state, state))
  write("spliced", c(models$binary$state[1:half], state[half:length(state)]))
  write("newer", replace(state, 9:12, as.raw(99)))
  write("noise", withr::with_seed(1, as.raw(sample(0:255, 1e5, TRUE))))
  saveRDS(models$binary, file("rds"))
  utils::write.csv(d[1:5, ], file("csv"))
  for (name in list.files(folder)) {
    e <- tryCatch(gbt_load(file(name)), error = identity)
    expect_s3_class(e, "gbt_error_format")
    expect_match(conditionMessage(e), name, fixed = TRUE)
    expect_identical(e$path, file(name))
  }
  expect_error(gbt_load(folder), class = "gbt_error_io")
  expect_error(gbt_load(file("not there")), "not there", class = "gbt_error_io")
  expect_error(gbt_load(3), class = "gbt_error_argument")
  wrong <- function(model) tryCatch(predict(model, new), error = identity)
  for (state in list(NULL, "text", list(), raw(0), raw(1000), 1:1000)) {
    m <- models$binary
    m["state"] <- list(state)
    expect_s3_class(wrong(m), "gbt_error")
  }
})

test_that("fields that were overwritten cannot hurt R", {
  # test-fields.R has more values and uses of them
  uses <- list(function(m) predict(m, new[1:3, ]), print, function(m) str(m))
  errors <- 0
  for (m in models["binary"]) for (field in setdiff(names(m), "cache")) {
    for (value in list(NULL, -1L, list(sum))) {
      bad <- unclass(m)
      bad[field] <- list(value)
      class(bad) <- "gbt"
      utils::capture.output(for (use in uses) {
        suppressWarnings(tryCatch(use(bad), error = function(e) errors <<- errors + 1))
      })
    }
  }
  expect_gt(errors, 80)
  expect_identical(answers(models), right)
})
