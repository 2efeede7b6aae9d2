# Data whose columns are changed one after the other, as the user has them: a model with a formula computes its
# features again from them.

# Data frames and matrices as a data frame, whose columns are replaced without a copy; sparse matrices by columns.
explained_data <- function(model, data, parameter = "data") {
  if (is.null(data)) {
    stop_argument(sprintf("`%s` is missing; a model does not keep its training data, so give rows to look at",
                          parameter), parameter)
  }
  data <- rows_in_memory(model, data, parameter)
  baked <- is_baked(data)
  check_objects(data, model$feature_names)
  if (inherits(data, "ArrowTabular")) data <- as.data.frame(data)
  if (isS4(data) && methods::is(data, "Matrix")) return(sparse_by_columns(data, model))
  if (is.matrix(data)) {
    names <- if (is.null(colnames(data))) model$feature_names else as_utf8(colnames(data), "a column name")
    values <- lapply(seq_len(ncol(data)), function(j) {
      structure(matrix_column(data, j), class = if (inherits(data, "integer64")) "integer64")
    })
    data <- list_frame(stats::setNames(values, names), nrow(data))
  }
  if (!is.data.frame(data)) encode_x(data) # says what is wrong with it
  # R itself looks names up in the encoding of the locale, where those of others may be lost
  names <- as_utf8(names(data), "a column name")
  out <- list_frame(lapply(stats::setNames(seq_along(data), names), function(j) {
    v <- .subset2(data, j)
    if (is.object(v) && is_declaring(v)) without_declared(v) else v
  }), .row_names_info(data, 2L))
  if (baked) marked_baked(out) else out
}

# The rows, baked.
rows_in_memory <- function(model, data, parameter) {
  if (chunked_rows(data)) {
    stop_data("rows must be in memory here; take some of them as a data frame or a matrix", parameter)
  }
  data <- bake_rows(model, data)$x
  check_newdata(data, model, parameter)
  data
}

sparse_by_columns <- function(x, model) {
  need_matrix(x)
  x <- methods::as(methods::as(methods::as(x, "dMatrix"), "generalMatrix"), "CsparseMatrix")
  colnames(x) <- if (is.null(colnames(x))) model$feature_names else as_utf8(colnames(x), "a column name")
  x
}

# The same data with the values of some columns handed to other rows, all in the same way: row i gets those of row
# at[i].
with_permuted <- function(x, columns, at) {
  if (!isS4(x)) {
    values <- lapply(stats::setNames(nm = columns), function(name) subset_rows(column_of(x, name), at))
    return(with_columns(x, values))
  }
  place <- order(at)
  for (name in columns) {
    j <- match(name, colnames(x))
    own <- x@p[j] + seq_len(x@p[j + 1L] - x@p[j])
    rows <- place[x@i[own] + 1L] - 1L
    x <- with_entries(x, name, rows[order(rows)], x@x[own][order(rows)])
  }
  x
}

# The user's columns from which the columns of the model are computed: list by feature_names of names.
sources_of_columns <- function(model, data) {
  names <- model$feature_names
  design <- model$terms
  if (is.null(design$features)) return(stats::setNames(as.list(names), names))
  few <- training_columns(design, subset_rows(data, seq_len(min(2L, n_rows_of(data)))))
  expressions <- lapply(unname(design$features), parse_design)
  at <- places_of_variables(expressions, names(data))
  made <- Map(function(e, at, text, label) {
    names(spread_matrix(term_of_design(e, text, design, columns_at(few, at), few), label))
  }, expressions, at, design$features, names(design$features))
  sources <- lapply(at, function(places) names(data)[places])
  stats::setNames(rep(sources, lengths(made)), unlist(made))[names]
}

# Names of the user's columns that predictions of the first rounds depend on, in their order: those of splits, and those
# of offsets in a formula.
columns_in_use <- function(model, data, rounds) {
  splits <- .Call(C_gbt_model_importance, model$state, model$cache, 0L, rounds)$splits
  info <- .Call(C_gbt_model_info, model$state, model$cache)
  used <- info$names[unique(unlist(info$columns[splits > 0]))]
  offsets <- variables_of(lapply(model$terms$offset, parse_design))
  unique(c(unlist(sources_of_columns(model, data)[used], use.names = FALSE), intersect(offsets, names_of_table(data))))
}

# All columns of the user's that the model was made of.
columns_of_model <- function(model, data) {
  offsets <- variables_of(lapply(model$terms$offset, parse_design))
  unique(c(unlist(sources_of_columns(model, data), use.names = FALSE), intersect(offsets, names_of_table(data))))
}

# `columns` as the user gave them: names that the model was made of.
check_columns <- function(columns, model, data, parameter = "columns") {
  check_known_columns(columns, columns_of_model(model, data), parameter)
}

# known: names of all columns.
check_known_columns <- function(columns, known, parameter = "columns") {
  if (!is_texts(columns) || length(columns) == 0L) {
    stop_argument(sprintf("`%s` must be names of columns, such as \"%s\", not %s", parameter, known[1L],
                          describe(columns)), parameter)
  }
  columns <- as_utf8(columns, sprintf("`%s`", parameter))
  if (anyDuplicated(columns)) {
    stop_argument(sprintf("`%s` names `%s` twice", parameter, columns[anyDuplicated(columns)]), parameter)
  }
  unknown <- setdiff(columns, known)
  if (length(unknown)) {
    stop_argument(sprintf("`%s`: the model has no column `%s`%s", parameter, unknown[1L], suggest(unknown[1L], known)),
                  parameter)
  }
  columns
}

# The k-th of many seeds, as R/data_folds.R makes them.
seed_number <- function(seed, k) (seed + (k - 1) * 1000003) %% 2147483647

# Some of n rows by a hash of seed and row, ascending; NULL where all are wanted.
sampled_rows <- function(n, rows, seed, weight = NULL) {
  among <- which(given_or(mask_of_weights(weight), FALSE)) # rows of weight 0 are not drawn
  if (length(among)) return(among[given_or(sampled_rows(length(among), rows, seed), TRUE)])
  if (is.null(rows) || rows >= n) return(NULL)
  sort(order(.Call(C_gbt_row_draws, as.integer(n), seed, 0))[seq_len(rows)])
}

# The input of explanations of rows, checked: list(model, x, n, weight, offset, exposure), of all rows.
explain_request <- function(model, data, offset, exposure, weights = NULL) {
  x <- explained_data(model, data)
  model <- without_recipe(model)
  n <- n_rows_of(x)
  list(model = model, x = x, n = n, weight = check_rating_weights(weights, n),
       offset = if (!is.null(offset)) matrix(check_offset(offset, n, model$n_outputs), n),
       exposure = exposure_values(model, x, exposure, n))
}

# How their predictions are asked for.
explain_plan <- function(model, type, rounds, unseen, threads) {
  list(type = check_predict_type(type, model), rounds = rounds,
       unseen = match_choice(unseen, names(enums$unseen), "unseen"), threads = threads)
}

# Some of the rows of explain_request(), drawn by `seed` where there are more than `rows`: with `at`, their numbers, and
# the seed that drew them or NULL.
some_rows <- function(its, rows, seed, least = 1) {
  if (!is.null(rows)) rows <- check_whole(rows, "rows", least)
  if (!is.null(seed)) check_seed(seed)
  its["seed"] <- list(if (!is.null(rows) && rows < its$n) drawn_seed(seed))
  at <- if (!is.null(its$seed)) sampled_rows(its$n, rows, its$seed, its$weight)
  its$at <- given_or(at, seq_len(its$n))
  if (!is.null(at)) its[c("x", "label", "weight", "offset", "exposure")] <- rows_at(its, at)
  its
}

# x, label, weight, offset and exposure of some rows.
rows_at <- function(rows, at) {
  list(x = subset_rows(rows$x, as.integer(at)), label = rows$label[at], weight = rows$weight[at],
       offset = if (!is.null(rows$offset)) rows$offset[at, , drop = FALSE], exposure = rows$exposure[at])
}
