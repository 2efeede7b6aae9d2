# R never hangs and never dies: Ctrl-C, and limits of the system.
skip_on_cran()

# The promise is 0.2 s, which tests/robust/signals.sh measures in seconds of the processor. Here are those of the clock,
# to which a busy machine adds.
SOON <- 200

test_that("Ctrl-C stops binning and predicting", {
  child <- start_child(quote({
    options(gbt.oversubscribe = TRUE)
    caught <- function(expr) tryCatch(expr, interrupt = function(c) say("caught", class(c)[1], names(c)))
    set.seed(1)
    x <- matrix(rnorm(4e6), ncol = 10)
    y <- x[, 1] + rnorm(4e5)
    model <- gbt_train(x[1:10000, ], y[1:10000], nrounds = 400, max_depth = 8, eta = 0.01, threads = 2)
    part <- x[1:1000, ]
    p <- predict(model, part)
    for (threads in c(1, 2, 3, 1, 2, 3)) {
      say("begin")
      caught(repeat gbt_data(x, max_bin = 60000, threads = threads))
      say("begin")
      caught(repeat gbt_train(x, y, nrounds = 1, max_depth = 1, max_bin = 60000, threads = threads))
      say("begin")
      caught(repeat predict(model, x, threads = threads))
    }
    say("after", identical(predict(model, part), p))
  }))
  class <- character(0)
  for (i in 1:18) {
    wait_for(child, "begin", i)
    took <- press_ctrl_c(child, "caught", i)
    expect_lt(took, SOON, label = sprintf("seconds until Ctrl-C no %d was heard", i))
    class[i] <- wait_for(child, "caught", i)[3]
  }
  # the engine was stopped, unless Ctrl-C came in the moment between two calls
  for (i in 1:3) expect_true("gbt_interrupt" %in% class[seq(i, 18, 3)])
  expect_identical(wait_for(child, "after")[3], "TRUE")
})

test_that("Ctrl-C stops training after whole rounds, which are a model", {
  child <- start_child(quote({
    options(gbt.oversubscribe = TRUE)
    set.seed(1)
    x <- matrix(rnorm(4e5), ncol = 10)
    y <- x[, 1] + rnorm(4e4)
    v <- list(x = x[1:5000, ], y = y[1:5000] + 1)
    own <- list(gradient = function(score, label) score - label, hessian = function(score, label) 1 + 0 * score)
    settings <- list(list(eval_train = TRUE, eval_metric = c("rmse", "mae")),
                     list(valid = v, subsample = 0.5, seed = 1), list(objective = own))
    layers <- list(grow_policy = "depthwise", max_depth = 6) # else a race chooses, for many rounds only
    for (how in settings) {
      train <- function(nrounds, threads) {
        do.call(gbt_train, c(list(x, y, nrounds = nrounds, eta = 0.1, threads = threads), layers, how))
      }
      seen <- tryCatch(withCallingHandlers(
        do.call(gbt_train, c(list(x, y, nrounds = 1e6, eta = 0.1, threads = 2, verbose = 1), layers, how)),
        gbt_message = function(m) {
          if (grepl("^\\[ *1/", conditionMessage(m))) say("begin")
          invokeRestart("muffleMessage")
        }
      ), interrupt = function(c) {
        say("caught", class(c)[1])
        c
      })
      m <- seen$model
      say("model", m$nrounds, nrow(m$evaluation_log), identical(gbt_last_interrupted()$state, m$state),
          identical(train(m$nrounds, 1)$state, m$state))
    }
  }))
  for (i in 1:3) {
    wait_for(child, "begin", i)
    expect_lt(press_ctrl_c(child, "caught", i), SOON)
    expect_identical(wait_for(child, "caught", i)[3], "gbt_interrupt")
    model <- wait_for(child, "model", i)
    expect_gt(as.numeric(model[3]), 1)
    expect_identical(model[4:6], c(model[3], "TRUE", "TRUE"))
  }
})

test_that("at the prompt Ctrl-C leads back to it, and says where the model is", {
  child <- start_child(quote({
    tell <- function(now) if (now$round == 2) say("begin")
    m <- gbt_train(late ~ ., flights, nrounds = 1e6, threads = 2, callbacks = tell)
    say("prompt", exists("m"), gbt_last_interrupted()$nrounds > 1)
  }), interactive = TRUE)
  wait_for(child, "begin")
  expect_lt(press_ctrl_c(child, "prompt"), SOON)
  expect_identical(wait_for(child, "prompt")[3:4], c("FALSE", "TRUE"))
  wait_for(child, "end")
  expect_match(readLines(child$output), "interrupted after [0-9]+ rounds; gbt_last_interrupted\\(\\) has", all = FALSE)
})

# Lets a child set limits on itself, by a shell that was started before there were any.
limits <- quote({
  shell <- pipe("sh", "w")
  done <- tempfile()
  file.create(done)
  limit <- function(what, value) {
    before <- file.size(done)
    value <- format(value, scientific = FALSE)
    cat(sprintf("prlimit --pid %d --%s=%s: && echo >>%s\n", Sys.getpid(), what, value, done), file = shell)
    flush(shell)
    while (file.size(done) == before) Sys.sleep(0.002)
  }
  deep <- function(n) if (n > 0) deep(n - 1) + 1 else 0
  deep(400) # the stack grows now: under a limit that would be fatal to R, whoever does it
  address_space <- function() {
    line <- grep("^VmSize:", readLines("/proc/self/status"), value = TRUE)
    1024 * as.numeric(gsub("[^0-9]", "", line))
  }
  outcome <- function(expr, expected) tryCatch({
    if (identical(expr, expected)) "same" else "DIFFERENT"
  }, gbt_error = function(e) class(e)[1], error = function(e) {
    if (grepl("cannot allocate", conditionMessage(e))) "R_memory" else gsub("[^A-Za-z]+", "_", conditionMessage(e))
  })
})
skip_without_prlimit <- function() {
  skip_if(Sys.which("prlimit") == "" || !file.exists("/proc/self/status"), "there is no prlimit here")
}

test_that("without memory there are errors, with a little more there are models", {
  skip_without_prlimit()
  child <- start_child(bquote({
    .(limits)
    options(gbt.oversubscribe = TRUE)
    x <- matrix((seq_len(1.2e6) * 7919) %% 10007 / 7, ncol = 20)
    y <- sqrt(x[, 1]) + (x[, 2] > 500)
    jobs <- list(
      data = function(threads) dim(gbt_data(x, threads = threads)),
      train = function(threads) gbt_train(x, y, nrounds = 3, max_depth = 8, threads = threads)$state,
      predict = local({
        model <- gbt_train(x, y, nrounds = 3, threads = 1)
        function(threads) predict(model, x, threads = threads)
      })
    )
    for (job in names(jobs)) {
      expected <- jobs[[job]](1)
      for (megabytes in c(0, 0.5, 1, 2, 4, 8, 16, 500)) {
        gc()
        limit("as", round(address_space() + megabytes * 2^20))
        got <- outcome(jobs[[job]](3), expected)
        limit("as", "unlimited")
        say(job, got)
      }
    }
    say("after", identical(jobs$train(2), jobs$train(1)))
  }), before = "export MALLOC_MMAP_THRESHOLD_=65536 MALLOC_TRIM_THRESHOLD_=0 MALLOC_ARENA_MAX=1;")
  expect_identical(wait_for(child, "after")[3], "TRUE")
  said <- utils::read.table(text = readLines(child$log), fill = TRUE, col.names = c("time", "what", "got"))
  for (job in c("data", "train", "predict")) {
    got <- said$got[said$what == job]
    expect_length(got, 8)
    expect_true(all(got %in% c("gbt_error_memory", "R_memory", "same")), label = paste(got, collapse = " "))
    if (job != "predict") expect_true("gbt_error_memory" %in% got) # which needs next to nothing
    expect_identical(got[8], "same", label = job)
  }
})

test_that("where no more threads are to be had there are fewer, and the same model", {
  skip_without_prlimit()
  child <- start_child(bquote({
    .(limits)
    options(gbt.oversubscribe = TRUE)
    x <- matrix((seq_len(4e5) * 7919) %% 10007 / 7, ncol = 20)
    y <- sqrt(x[, 1])
    train <- function() gbt_train(x, y, nrounds = 5, threads = 8)$state
    expected <- train()
    gbt_threads(8)
    for (gigabytes in c(8.5, 2.5, 0.5)) {
      limit("as", round(address_space() + gigabytes * 2^30))
      say("same", identical(train(), expected), gbt_info()$threads_started)
      limit("as", "unlimited")
    }
  }), before = "ulimit -s 1048576;") # the stack of each thread takes so many kilobytes of the address space
  got <- vapply(1:3, function(i) wait_for(child, "same", i)[3:4], c("", ""))
  expect_identical(got, rbind("TRUE", c("8", "3", "1")))
})

test_that("a full disk is an error, and the old file stays", {
  skip_without_prlimit()
  child <- start_child(bquote({
    .(limits)
    folder <- tempfile("models")
    dir.create(folder)
    file <- file.path(folder, "m.gbt")
    small <- gbt_train(late ~ distance, flights, nrounds = 1, threads = 1)
    large <- gbt_train(late ~ ., flights, nrounds = 30, threads = 1)
    gbt_save(small, file)
    limit("fsize", 20000)
    got <- outcome(gbt_save(large, file), 1)
    limit("fsize", "unlimited")
    say("got", got, length(large$state) > 40000, identical(gbt_load(file)$state, small$state),
        identical(list.files(folder, all.files = TRUE, no.. = TRUE), "m.gbt"))
  }), before = "trap '' XFSZ;")
  expect_identical(wait_for(child, "got")[3:6], c("gbt_error_io", "TRUE", "TRUE", "TRUE"))
})
