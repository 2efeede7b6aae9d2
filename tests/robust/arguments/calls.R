# The calls whose arguments are replaced: list by name of list(f, args = a call that works, try = names of arguments).
# all: parameters by way of `params` as well.

calls_to_try <- function(all) {
  x <- data.frame(a = sin(1:60), b = (1:60) %% 7, f = factor(letters[(1:60) %% 4 + 1]))
  y <- cos(1:60) + x$b
  classes <- factor(c("no", "yes", "maybe")[(1:60) %% 3 + 1])
  d <- cbind(y = y, x)
  data <- gbt_data(x, y, threads = 1)
  m <- gbt_train(x, y, nrounds = 4, valid = 0.3, seed = 1, eval_train = TRUE, early_stopping_rounds = 3, threads = 1)
  k <- gbt_train(Species ~ log(Sepal.Length) + Sepal.Width, iris, nrounds = 2, threads = 1)
  o <- gbt_train(y ~ a + offset(b), d, nrounds = 2, threads = 1)
  i <- gbt_importance(m)
  file <- tempfile(fileext = ".gbt")
  rows_file <- tempfile(fileext = ".csv")
  utils::write.csv(data.frame(a = 1:20, b = letters[1:20], y = 20:1), rows_file, row.names = FALSE)
  db <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  DBI::dbWriteTable(db, "rows", data.frame(a = 1:20, b = letters[1:20], y = 20:1))
  batches <- function() {
    reader <- new.env()
    reader$left <- 1
    reader$read_next_batch <- function() {
      if (reader$left == 0) {
        reader$left <- 1
        return(NULL)
      }
      reader$left <- 0
      data.frame(a = 1:20, y = 20:1)
    }
    reader
  }
  folder <- tempfile("bins")
  gbt_data(x, y, path = folder, threads = 1)
  gbt_save(m, file)
  sparse <- if (requireNamespace("Matrix", quietly = TRUE)) {
    methods::as(methods::as(as.matrix(x[1:2]), "CsparseMatrix"), "generalMatrix")
  }

  call <- function(f, args, try = setdiff(names(formals(f)), "...")) list(f = f, args = args, try = try)
  usual <- list(nrounds = 2, threads = 1, max_seconds = 0.5, seed = 1)
  answer <- getS3method("predict", "gbt", envir = asNamespace("gbt"))
  own <- c(gbt_parameters()$name, "params")
  others <- c("learning_rate", "num_leaves", "tree_method", "booster", "task_type", "border_count", "is_unbalance",
              "use_best_model", "first_metric_only", "bootstrap_type", "silent", "gpu_id", "class_weights", "missing",
              "mtry", "num_class", "cat_features", "checkpoint", "group", "unheard_of", "label", "data", "formula")
  fit <- function(...) do.call(gbt_train, c(list(x, y, ...), usual))
  part <- function(name) function(value) fit(params = stats::setNames(list(value), name))
  in_set <- function(name) {
    function(value) {
      set <- list(x = x, y = y, weight = rep(1, 60), offset = rep(0, 60))
      set[name] <- list(value)
      fit(offset = rep(0, 60), valid = set)
    }
  }
  with_column <- function(value) {
    columns <- unclass(x)
    columns["a"] <- list(value)
    structure(columns, class = "data.frame", row.names = .set_row_names(60L))
  }
  column <- function(value) do.call(gbt_train, c(list(with_column(value), y), usual))
  new_column <- function(value) predict(m, with_column(value))
  metric <- function(value) {
    own <- gbt_metric("own", function(pred, label) value)
    fit(eval_metric = own, eval_train = TRUE, early_stopping_rounds = 2)
  }
  gradient <- function(value) {
    own <- list(gradient = function(score, label) value, hessian = function(score, label) rep(1, 60))
    fit(objective = own)
  }
  hessian <- function(value) {
    own <- list(gradient = function(score, label) score - label, hessian = function(score, label) value)
    fit(objective = own)
  }
  objective <- function(gradient, hessian, n_outputs) {
    own <- list(gradient = gradient, hessian = hessian, n_outputs = n_outputs)
    fit(objective = own)
  }
  callback <- function(value) fit(callbacks = function(now) value)
  print_every <- function(every) fit(callbacks = gbt_cb_print(every))
  record <- function(into, model_every) fit(callbacks = gbt_cb_record(into, model_every))
  option <- function(name) {
    function(value) {
      old <- options(stats::setNames(list(value), name))
      on.exit(options(old))
      predict(do.call(gbt_train, c(list(x, y), usual[c("nrounds", "seed")])), x)
    }
  }
  variable <- function(name) {
    function(value) {
      if (!is.character(value) || length(value) != 1L || is.na(value) || !validEnc(value)) return(invisible())
      if (Encoding(value) == "bytes") return(invisible())
      old <- Sys.getenv(name, NA)
      do.call(Sys.setenv, stats::setNames(list(value), name))
      on.exit(if (is.na(old)) Sys.unsetenv(name) else do.call(Sys.setenv, stats::setNames(list(old), name)))
      predict(do.call(gbt_train, c(list(x, y), usual[c("nrounds", "seed")])), x)
    }
  }

  out <- list(
    gbt_parameters = call(gbt_parameters, list(what = "eta")),
    gbt_train = call(gbt_train, c(list(x = x, y = y), usual), unique(c("x", "y", own, others))),
    gbt_train_classes = call(gbt_train, c(list(x = as.matrix(x[1:2]), y = classes), usual), c(
      "x", "y", "objective", "weights", "offset", "eval_metric", "valid", "init_model", "num_class")),
    gbt_train_formula = call(gbt_train, c(list(x = y ~ a + f, data = d), usual), c(
      "x", "data", "weights", "offset", "mask", "subset", "na.action", "valid", "init_model", "weight")),
    gbt_train_offset = call(gbt_train, c(list(x = y ~ a + offset(b), data = d), usual), c(
      "x", "data", "weights", "offset", "subset", "na.action", "valid")),
    gbt_train_data = call(gbt_train, c(list(x = data), usual), c(
      "x", "y", "label", "weights", "offset", "mask", "valid", "max_bin")),
    gbt_train_going_on = call(gbt_train, c(list(x = x, y = y, init_model = m), usual), c(
      "x", "y", "valid", "offset", "mask")),
    gbt_cv = call(gbt_cv, c(list(x = x, y = y, folds = 3), usual), c(
      "x", "y", "folds", "repeats", "stratify", "keep_models", "nfold", "group", "time", "weights", "offset",
      "objective", "eval_metric", "early_stopping_rounds", "valid", "mask", "seed", "threads", "nrounds")),
    gbt_refit = call(gbt_refit, list(object = gbt_train(y ~ ., d, nrounds = 2, threads = 1), data = d), c(
      "object", "rule", "nrounds", "data", "eta")),
    plot_cv = call(function(...) {
      grDevices::pdf(NULL)
      on.exit(grDevices::dev.off())
      plot(gbt_cv(y ~ ., d, nrounds = 2, folds = 2, threads = 1), ...)
    }, list(), c("metric", "folds")),
    gbt_data = call(gbt_data, list(x = x, threads = 1)),
    gbt_data_reference = call(gbt_data, list(x = x, reference = data, threads = 1), c(
      "x", "label", "weight", "offset", "unseen", "device", "y")),
    gbt_data_folder = call(function(...) {
      path <- tempfile("odd")
      on.exit(unlink(path, recursive = TRUE))
      gbt_data(x, path = path, threads = 1, ...)
    }, list(), c("compress", "memory", "page_rows")),
    gbt_open = call(gbt_open, list(path = folder, threads = 1)),
    gbt_files = call(function(...) gbt_data(gbt_files(...), threads = 1), list(files = rows_file, label = "y"),
                     names(formals(gbt_files))),
    gbt_query = call(function(...) gbt_data(gbt_query(...), threads = 1),
                     list(connection = db, statement = "SELECT * FROM rows", label = "y"), names(formals(gbt_query))),
    gbt_batches = call(function(...) gbt_data(gbt_batches(...), threads = 1), list(x = batches(), label = "y"),
                       names(formals(gbt_batches))),
    predict = call(answer, list(object = m, newdata = x, threads = 1), c(
      "object", "newdata", "type", "trees", "offset", "unseen", "threads", "sparse_zero", "device", "output",
      "ntree")),
    predict_offset = call(answer, list(object = o, newdata = d, threads = 1), c("newdata", "offset", "trees")),
    predict_formula = call(predict, list(object = k, newdata = iris, threads = 1), c("newdata", "type", "offset")),
    gbt_importance = call(gbt_importance, list(model = m)),
    gbt_metric = call(gbt_metric, list(name = "a", fun = function(pred, label) 1)),
    gbt_save = call(gbt_save, list(model = m, file = file)),
    gbt_load = call(gbt_load, list(file = file)),
    gbt_load_raw = call(gbt_load, list(file = m$state)),
    gbt_threads = call(function(threads) {
      old <- options("gbt.threads")
      on.exit(options(old))
      gbt_threads(threads)
    }, list(threads = 1)),
    gbt_cb_print = call(print_every, list(every = 1)),
    gbt_cb_record = call(record, list(into = new.env(), model_every = 1)),
    rounds = call(function(i) m[i], list(i = 1)),
    print = call(function(digits) print(m, digits = digits), list(digits = 3)),
    print_summary = call(function(digits) print(summary(m), digits = digits), list(digits = 3)),
    print_importance = call(function(digits, top) print(i, digits = digits, top = top), list(digits = 3, top = 2)),
    as_data_frame = call(function(row.names, optional) as.data.frame(m, row.names = row.names, optional = optional),
                         list(row.names = NULL, optional = FALSE)),
    metric = call(metric, list(value = 1)), gradient = call(gradient, list(value = y)),
    hessian = call(hessian, list(value = rep(1, 60))), callback = call(callback, list(value = NULL)),
    objective = call(objective, list(gradient = function(s, l) s - l, hessian = function(s, l) 0 * s + 1,
                                     n_outputs = 1)),
    column = call(column, list(value = x$a)), new_column = call(new_column, list(value = x$a))
  )
  for (name in c("x", "y", "weight", "offset")) out[[paste0("valid_", name)]] <- call(in_set(name), list(value = 1))
  if (all) for (name in own) out[[paste0("params_", name)]] <- call(part(name), list(value = NULL))
  for (name in c("gbt.threads", "gbt.device", "gbt.device_costs", "gbt.simd", "gbt.oversubscribe")) {
    out[[name]] <- call(option(name), list(value = NULL))
  }
  for (name in c("GBT_NUM_THREADS", "GBT_SIMD", "GBT_DEVICE", "OMP_THREAD_LIMIT")) {
    out[[name]] <- call(variable(name), list(value = ""))
  }
  if (!is.null(sparse)) {
    out$gbt_train_sparse <- call(gbt_train, c(list(x = sparse, y = y), usual), c(
      "y", "sparse_zero", "valid", "weights"))
  }
  out
}
