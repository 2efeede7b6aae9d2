# Heavy jobs of every phase: jobs_of(form) gives groups, each a function that makes its data and returns named jobs, so
# that no more than one group's data are there at a time. A job is a function of the number of threads.
jobs_of <- function(form) {
  long <- form == "long"
  size <- function(short, full) if (long) full else short

  rows <- function() {
    n <- size(1e6, 1e7)
    x <- data.frame(a = stats::runif(n), b = sample.int(1e5, n, TRUE))
    y <- x$a + stats::rnorm(n)
    classes <- factor(y > 0.5, labels = c("low", "high"))
    texts <- rep(c("low", "high"), length.out = n)
    all <- cbind(x, y = y, f = factor(x$b %% 30))
    model <- gbt_train(x, classes, nrounds = 2, threads = 2)
    three <- gbt_train(x[1:1000, ], x$b[1:1000] %% 3, objective = "softmax", nrounds = 1, threads = 1)
    train <- function(...) function(threads) gbt_train(..., nrounds = 2, max_depth = 4, threads = threads)
    list(
      "numbers" = train(x, y), "a share held out" = train(x, y, valid = 0.3, seed = 1),
      "a share of classes, auc" = train(x, classes, valid = 0.3, eval_metric = c("auc", "logloss"), seed = 1),
      "texts as response" = train(x, texts), "weights, offset" = train(x, y > 0.5, weights = x$a, offset = y),
      "whole numbers as classes" = train(x, x$b %% 3, objective = "softmax", valid = 0.2, seed = 1),
      "a formula" = train(y ~ a + log(b) + f, all), "going on" = train(x, classes, init_model = model),
      "predict" = function(threads) predict(model, x, threads = threads),
      "predict classes" = function(threads) predict(three, x, type = "class", threads = threads),
      "predict leaves" = function(threads) predict(model, x, type = "leaf", threads = threads)
    )
  }

  texts <- function() {
    n <- size(1e6, 6e6)
    x <- data.frame(s = paste0("u", sample.int(size(3e5, 2e6), n, TRUE)))
    f <- data.frame(s = factor(x$s))
    y <- stats::rnorm(n)
    model <- gbt_train(x, y, nrounds = 1, threads = 2)
    known <- gbt_data(x, threads = 2)
    train <- function(...) function(threads) gbt_train(..., nrounds = 1, threads = threads)
    list(
      "texts" = train(x, y), "a factor" = train(f, y), "texts, a share held out" = train(x, y, valid = 0.3, seed = 1),
      "texts, going on" = train(x, y, init_model = model),
      "predict texts" = function(threads) predict(model, x, threads = threads),
      "predict a factor" = function(threads) predict(model, f, threads = threads),
      "gbt_data of known texts" = function(threads) gbt_data(x, reference = known, threads = threads)
    )
  }

  classes <- function() {
    n <- size(8000, 24000)
    x <- data.frame(a = stats::runif(n))
    y <- factor(sample.int(size(4000, 6000), n, TRUE))
    model <- gbt_train(x, y, nrounds = 1, max_depth = 2, threads = 2)
    train <- function(...) function(threads) gbt_train(x, y, nrounds = 1, max_depth = 2, ..., threads = threads)
    list(
      "thousands of classes" = train(), "thousands of classes, metrics" = train(valid = 0.3, seed = 1),
      "predict thousands of classes" = function(threads) predict(model, x, threads = threads),
      "the best of thousands" = function(threads) predict(model, x, type = "class", threads = threads)
    )
  }

  wide <- function() {
    n <- size(1000, 2000)
    k <- size(8000, 20000)
    x <- matrix(stats::rnorm(n * k) * (stats::runif(n * k) < 0.2), n)
    y <- stats::rnorm(n)
    frame <- as.data.frame(x)
    sets <- split(seq_len(k), rep(seq_len(k / 10), 10))
    out <- list(
      "a wide matrix" = function(threads) gbt_train(x, y, nrounds = 2, threads = threads),
      "a wide data frame" = function(threads) gbt_train(frame, y, nrounds = 1, threads = threads),
      "interactions" = function(threads) {
        gbt_train(x, y, nrounds = 1, max_depth = 8, colsample_bynode = 0.5, interactions = sets, threads = threads)
      }
    )
    if (requireNamespace("Matrix", quietly = TRUE)) {
      sparse <- Matrix::Matrix(x, sparse = TRUE)
      out[["a sparse matrix"]] <- function(threads) gbt_train(sparse, y, nrounds = 1, threads = threads)
      out[["sparse, a share held out"]] <- function(threads) {
        gbt_train(sparse, y, nrounds = 1, valid = 0.3, seed = 1, threads = threads)
      }
    }
    out
  }

  models <- function() {
    x <- matrix(stats::rnorm(2000 * 50), ncol = 50)
    y <- stats::rnorm(2000)
    model <- gbt_train(x, y, nrounds = 1, num_parallel_tree = size(1500, 10000), threads = 2)
    file <- tempfile()
    gbt_save(model, file)
    bytes <- serialize(model, NULL)
    list(
      "save" = function(threads) gbt_save(model, tempfile()), "load" = function(threads) gbt_load(file),
      "summary" = function(threads) summary(model), "all nodes" = function(threads) as.data.frame(model),
      "unserialize, predict" = function(threads) predict(unserialize(bytes), x, threads = threads),
      "slice" = function(threads) model[0], "importance" = function(threads) gbt_importance(model),
      "many parallel trees" = function(threads) {
        gbt_train(x, y, nrounds = 1, num_parallel_tree = size(300, 10000), threads = threads)
      }
    )
  }

  # Texts come last: those of a session make each of its collections of garbage longer.
  list(rows = rows, classes = classes, wide = wide, models = models, texts = texts)
}
