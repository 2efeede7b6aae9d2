# Going on from a model: the scores that its trees give to rows.

# The model that training continues: list(model = , score = , rounds = ); NULL, NULL and 0 where there is none.
start_of <- function(init, rows, data, host) {
  if (is.null(init)) return(list(model = NULL, score = NULL, rounds = 0))
  score <- scores_at(init, rows, rows$at, is.null(rows$mask), data$offset, data$sparse_zero, host$threads)
  list(model = init, score = score, rounds = init$nrounds)
}

# Of some training rows, or all. offset: theirs.
scores_at <- function(init, rows, at, all, offset, sparse_zero, threads, name = "train") {
  x <- rows$source$x
  if (!is.null(x)) return(start_scores(init, if (all) x else subset_rows(x, at), offset, sparse_zero, threads))
  score <- prepared_scores(init, rows$source$data, rows$source$offset, threads)
  if (all) score else as.double(matrix(score, ncol = init$n_outputs)[at, , drop = FALSE])
}

# Scores of the earlier model on x, offset included, output by output.
start_scores <- function(init, x, offset, sparse_zero, threads) {
  frame <- frame_for_model(x, init, sparse_zero)
  as.double(.Call(C_gbt_predict, init$state, init$cache, frame, enums$answer[["link"]], 0L, init$nrounds,
                  if (!is.null(offset)) as.double(offset), enums$unseen[["prior"]], threads, NULL))
}

# Arguments for single columns with the names of these instead of their places, where columns were put in the order of
# the initial model. args: values by name; features: the columns in that order.
named_places <- function(args, x, features) {
  columns <- names_of_table(x)
  if (is.null(columns) || length(columns) != length(features) || identical(enc2utf8(columns), features)) return(args)
  named <- function(v) if (is.null(names(v)) && length(v) == length(columns)) stats::setNames(v, columns) else v
  for (name in intersect(c("monotone", "feature_weights", "first_use_penalty"), names(args))) {
    args[[name]] <- named(args[[name]])
  }
  if (is.list(args[["interactions"]])) {
    args$interactions <- lapply(args$interactions, function(group) {
      if (is.numeric(group)) columns[feature_places(group, columns, "interactions")] else group
    })
  }
  args
}

# ---- data that are prepared ----

# The earlier model as it predicts, for gbt_data().
check_start_model <- function(init) {
  refuse_imported(check_model(init, "init_model"), "training cannot continue it", "init_model")
  refuse_recipe(init)
  keep_rounds(init, rounds_used(init))
}

# The start in gbt_data: which model it was, and its scores. init: of check_start_model(); x: a table, or a function of
# chunks without fields; offset: of all rows, or NULL.
start_of_rows <- function(init, x, offset, sparse_zero, threads) {
  scores <- function(x, offset, exposure) start_scores(init, x, offset, sparse_zero, threads)
  by_output <- function(...) matrix(scores(...), ncol = init$n_outputs)
  list(model = model_mark(init), score = if (!is.function(x)) scores(x, offset) else
    as.double(predict_by_chunks(x, offset, memory_sink(), init, by_output)))
}

# Begins with the size of its bytes and their checksum.
model_mark <- function(model) model$state[seq_len(min(64L, length(model$state)))]

# Scores of rows that are binned: those that were kept when the data were made for this model, with the offset that
# training takes; else by their bins, which say as much where the model's splits are cuts of theirs.
prepared_scores <- function(init, data, offset, threads, name = NULL) {
  what <- if (is.null(name)) "the training data" else sprintf("validation set \"%s\"", name)
  where <- if (is.null(name)) "init_model" else "valid"
  start <- data$start
  made_for <- if (is.null(start)) "it" else if (!identical(start$model, model_mark(init))) "this model" else
    if (!identical(as.vector(offset), as.vector(data$offset))) "this offset"
  if (is.null(made_for)) {
    if (length(start$score) != data$n_rows * init$n_outputs) stop_changed_data("start", where)
    return(start$score)
  }
  tryCatch(
    as.double(.Call(C_gbt_predict_bins, init$state, init$cache, data_ptr(data), enums$answer[["link"]], 0L,
                    init$nrounds, if (!is.null(offset)) as.double(offset), enums$unseen[["prior"]], threads)),
    gbt_error_data = function(e) {
      stop_unsupported(sprintf(paste("`init_model`: %s is a gbt_data whose bins do not fit %s: %s. Recreate it by",
                                     "gbt_data(x, ..., init_model = )"), what, made_for,
                               conditionMessage(e)), where)
    })
}

# Rounds of the initial model.
rounds_before <- function(init) if (is.null(init)) 0 else rounds_used(init)
