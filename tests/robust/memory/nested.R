# gbt within gbt: forks, workers and trainings inside of callbacks, objectives, metrics, timers and finalizers. Each
# result is the one of the same call alone.
n_threads <- function() length(list.files("/proc/self/task"))
n_others <- n_threads() # some libraries that R is linked with have threads of their own
library(gbt)
library(parallel)
folder <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
with_sparse <- FALSE # which nothing here takes, and collections are faster without
source(file.path(folder, "jobs.R"))
frame <- world$frame
data <- world$data
model <- world$model
y <- world$y
passed <- 0L
failed <- 0L
check <- function(what, value, expected) {
  if (identical(value, expected)) {
    passed <<- passed + 1L
    return(invisible())
  }
  failed <<- failed + 1L
  cat("FAILED", what, if (inherits(value, "condition")) conditionMessage(value), "\n")
}
attempt <- function(code) tryCatch(code, error = identity)

plain <- train(data, y, nrounds = 3, threads = 2)
other <- train(data, rank(y), nrounds = 2, weights = world$w, threads = 2)
scores <- predict(model, frame)
inner <- function() train(data, rank(y), nrounds = 2, weights = world$w, threads = 2)
forked <- function(f, n = 2L) mclapply(seq_len(n), function(i) f(), mc.cores = 2L)
never <- function(f) {
  force(f)
  function(...) {
    f()
    FALSE
  }
}

things <- list(
  training = function() check("a training inside", inner(), other),
  prediction = function() check("a prediction inside", predict(model, frame), scores),
  forks = function() check("forks inside", forked(inner), list(other, other)),
  forks_of_forks = function() {
    check("forks of forks inside", forked(function() forked(inner)), rep(list(list(other, other)), 2L))
  },
  files = function() {
    file <- tempfile()
    gbt_save(model, file)
    check("a file inside", predict(gbt_load(file), frame), scores)
  },
  collection = function() invisible(gc())
)
with_metric <- function(metric) train(data, y, nrounds = 3, eval_train = TRUE, eval_metric = list(metric), threads = 2)
with_zero <- with_metric(gbt_metric("mine", function(prediction, label, weight) 0))
for (name in names(things)) {
  f <- things[[name]]
  check(paste("callback:", name), attempt(train(data, y, nrounds = 3, callbacks = list(never(f)), threads = 2)), plain)
  metric <- gbt_metric("mine", function(prediction, label, weight) {
    f()
    0
  })
  check(paste("metric:", name), attempt(with_metric(metric)), with_zero)
  objective <- absolute
  objective$gradient <- function(score, label, weight) {
    f()
    absolute$gradient(score, label, weight)
  }
  check(paste("objective:", name), attempt(train(data, y, objective = objective, nrounds = 3, threads = 2)),
        train(data, y, objective = absolute, nrounds = 3, threads = 2))
}

# Timers and finalizers, in the middle of the engine's work.
check("threads left", n_threads(), n_others)
if (suppressWarnings(requireNamespace("tcltk", quietly = TRUE))) {
  x <- matrix(rnorm(1e5), 1e4)
  long <- function() train(x, x[, 1L], nrounds = 30, threads = 2)
  alone <- long()
  tcltk::tcl("after", 1L, function() NULL)
  n_others <- n_threads() # Tcl has one of its own
  for (name in names(things)) {
    for (by in c("timer", "finalizer")) {
      left <- 3L
      fire <- function() {
        left <<- left - 1L
        if (left < 0L) return(invisible())
        if (by == "timer") things[[name]]() else reg.finalizer(new.env(), function(e) things[[name]]())
        if (by == "finalizer") gc()
        tcltk::tcl("after", 30L, fire)
      }
      tcltk::tcl("after", 1L, fire)
      check(paste0(by, ": ", name), attempt(long()), alone)
      left <- 0L
    }
  }
}

workers <- makePSOCKcluster(2L)
started <- clusterCall(workers, function(paths) {
  .libPaths(paths)
  library(gbt)
}, .libPaths())
check("workers predict", clusterApply(workers, 1:4, function(i, model, x) predict(model, x), model, frame),
      rep(list(scores), 4L))
check("workers train", clusterApply(workers, 1:2, function(i, x, y) gbt_train(x, y, nrounds = 5, seed = 5)$state,
                                    frame, y), rep(list(train(frame, y, nrounds = 5)), 2L))
gone <- clusterApply(workers, 1L, function(i, data) tryCatch(gbt_train(data, nrounds = 1), error = class), data)[[1L]]
check("a gbt_data cannot be sent", gone[1L], "gbt_error_data")
stopCluster(workers)
check("threads left", n_threads(), n_others)
cat(sprintf("%d passed, %d failed\n", passed, failed))
