# What users do with gbt, in small: a named list of functions, each of which gives a value that must be the same every
# time. What a job needs is made before, in `world`. Package Matrix alone takes more memory than all else together:
# with_sparse <- FALSE beforehand does without it.
if (!exists("with_sparse")) with_sparse <- TRUE

set.seed(3)
n <- 300L
world <- list(
  n = n, frame = data.frame(a = round(rnorm(n), 2), b = sample(9L, n, TRUE), f = factor(sample(letters[1:7], n, TRUE)),
                     o = factor(sample(3L, n, TRUE), ordered = TRUE), t = sample(c("u", "v", NA), n, TRUE)),
  y = rnorm(n), two = factor(sample(c("no", "yes"), n, TRUE)), three = factor(sample(3L, n, TRUE)),
  count = rpois(n, 2), w = runif(n)
)
world$numbers <- as.matrix(world$frame[1:2])
if (with_sparse) {
  world$sparse <- Matrix::sparseMatrix(i = sample(n, 400, TRUE), j = rep(1:20, 20), x = 1 + runif(400), dims = c(n, 20),
                                       dimnames = list(NULL, paste0("s", 1:20)))
}
world$data <- gbt_data(world$frame, label = world$y, threads = 1)
world$model <- gbt_train(world$frame, world$three, nrounds = 3, threads = 1)
world$by_formula <- gbt_train(y ~ log(b + 1) + a + f, cbind(world$frame, y = world$y), nrounds = 3, threads = 1)
if (with_sparse) world$of_sparse <- gbt_train(world$sparse, world$y, nrounds = 3, threads = 1)
world$file <- tempfile(fileext = ".gbt")
gbt_save(world$model, world$file)

bytes <- function(model) model$state
train <- function(...) bytes(gbt_train(..., seed = 5))
fresh <- function(model) unserialize(serialize(model, NULL)) # has not predicted yet
absolute <- list(gradient = function(score, label, weight) sign(score - label),
                 hessian = function(score, label, weight) rep(1, length(score)))
bias <- gbt_metric("bias", function(prediction, label, weight) mean(prediction - label))

all_jobs <- function(threads) with(world, list(
  data = function() utils::capture.output(print(gbt_data(frame, label = y, weight = w, threads = threads))),
  data_wide = function() dim(gbt_data(frame, max_bin = 1000, page_rows = 64, threads = threads)),
  data_sparse = function() dim(gbt_data(sparse, threads = threads)),
  data_reference = function() dim(gbt_data(frame[1:99, ], label = y[1:99], reference = data, threads = threads)),
  depthwise = function() train(frame, y, nrounds = 2, weights = w, threads = threads),
  lossguide = function() train(frame, two, nrounds = 2, grow_policy = "lossguide", max_leaves = 9, threads = threads),
  symmetric = function() train(frame, three, nrounds = 2, grow_policy = "symmetric", max_depth = 3, threads = threads),
  sparse = function() train(sparse, y, nrounds = 2, threads = threads),
  wide = function() train(numbers, y, nrounds = 2, max_bin = 2000, page_rows = 100, threads = threads),
  forest = function() {
    train(frame, count, objective = "poisson", nrounds = 2, num_parallel_tree = 3, subsample = 0.7,
          colsample_bynode = 0.5, offset = rep(0.1, n), threads = threads)
  },
  constraints = function() {
    train(numbers, y, nrounds = 2, monotone = c(a = 1), interactions = list("a", "b"), min_data_in_leaf = 5,
          threads = threads)
  },
  valid = function() {
    m <- gbt_train(frame, two, valid = 0.3, nrounds = 8, eval_metric = c("logloss", "error", "auc"), eval_train = TRUE,
                   early_stopping_rounds = 2, seed = 5, threads = threads)
    list(bytes(m), m$evaluation_log)
  },
  own_objective = function() train(frame, y, objective = absolute, nrounds = 2, threads = threads),
  own_metric = function() train(frame, y, valid = 0.2, eval_metric = list(bias), nrounds = 2, threads = threads),
  on_data = function() train(data, y, nrounds = 2, threads = threads),
  callback = function() {
    kept <- NULL
    keep <- function(env) {
      kept <<- bytes(env$model())
      FALSE
    }
    list(train(data, nrounds = 2, callbacks = list(keep), threads = threads), kept)
  },
  going_on = function() train(frame, three, nrounds = 2, init_model = model, threads = threads),
  formula = function() train(y ~ log(b + 1) + a + f, cbind(frame, y = y), nrounds = 2, threads = threads),
  response = function() predict(fresh(model), frame, threads = threads),
  class = function() predict(fresh(model), frame[1:5, ], type = "class", threads = threads),
  link = function() predict(model, frame, type = "link", threads = threads),
  leaf = function() predict(fresh(model), frame, type = "leaf", threads = threads),
  predict_sparse = function() predict(fresh(of_sparse), sparse, threads = threads),
  predict_formula = function() predict(fresh(by_formula), frame, threads = threads),
  save = function() {
    file <- tempfile(fileext = ".gbt")
    on.exit(unlink(file))
    gbt_save(model, file)
    readBin(file, "raw", 1e6)
  },
  load = function() bytes(gbt_load(file)),
  slice = function() bytes(fresh(model)[1:2]),
  summary = function() utils::capture.output(print(summary(fresh(model)))),
  print = function() utils::capture.output(print(fresh(by_formula))),
  nodes = function() as.data.frame(fresh(model)),
  importance = function() gbt_importance(fresh(model)),
  info = function() gbt_info()$version
))

jobs <- function(threads) {
  all <- all_jobs(threads)
  if (with_sparse) all else all[!grepl("sparse", names(all))]
}
