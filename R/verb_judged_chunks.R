# Rows that come in chunks, to judge a model on: they are read once, and of each chunk only what metrics need is kept:
# the scores of the model, the response, weights, and the columns that arguments name.

# list(x, y) for rows_to_judge(). x: a data frame of the columns that are named, with what else was kept of the rows as
# attribute "judged": list(score or known, weight, group). y: the response; NULL: `x` has its columns.
# object: see rows_to_judge(), which gets no offset, exposure and trees then. wanted: names of arguments of the function
# that calls, which may name columns.
read_judged <- function(object, x, y, wanted, offset, exposure, trees, threads, frame = parent.frame(),
                        env = parent.frame(2L)) {
  force(env)
  check_read_in_parts(object, exposure, trees)
  model <- judged_model(object)
  lhs <- if (!is.null(model$formula)) parse_formula(model$formula)[[2L]]
  of_response <- if (!is.null(lhs)) variables_of(list(lhs))
  x <- as_row_source(x)
  roles <- if (inherits(x, "gbt_source")) check_source(x)$roles else list()
  role <- if (!is.null(model$columns) && are_names(y)) {
    list(columns = y, response = identity) # a data frame
  } else if (are_label_names(y)) {
    label_role(y)
  } else if (is.null(y) && !is.null(roles$label)) {
    list(columns = roles$label, response = x$response)
  }
  if (is.null(y) && is.null(lhs) && is.null(role) && inherits(x, "gbt_source")) {
    stop_argument(paste("`y` is missing: name the column of the response, as y = \"name\", or in the source, as",
                        "gbt_files(files, label = )"), "y")
  }
  of_roles <- c(list(y = role$columns), roles[intersect(c("weight", "group"), names(roles))])
  named <- c(lapply(stats::setNames(nm = wanted), columns_in_argument, frame, env),
             lapply(of_roles, function(names) list(texts = names)))
  columns <- unique(c(unlist(named, use.names = FALSE), of_response, setdiff(model$strata, "")))
  reader <- if (inherits(x, "gbt_source")) reader_of_all(x, model, columns) else list(read = function(i) chunk_at(x, i))
  if (!is.null(reader$close)) on.exit(reader$close())
  kept <- list()
  of_first <- NULL # which fields of its own the first chunk has
  next_chunk <- function(i) {
    chunk <- as_chunk(reader$read(i))
    if (is.null(chunk)) {
      if (i == 1L) stop_data("the data have no rows: the first chunk is NULL", "x")
      return(NULL)
    }
    if (i == 1L) check_columns_in_chunk(named, names_of_table(chunk$x))
    own <- intersect(names(chunk), own_fields)
    if (i == 1L) of_first <<- own
    if (!setequal(own, of_first)) {
      stop_data(sprintf("chunk %d has other parts than chunk 1, which has %s", i, enumerate(c("x", of_first))), "x")
    }
    here <- intersect(columns, names_of_table(chunk$x))
    values <- lapply(stats::setNames(nm = here), function(name) column_of(chunk$x, name))
    kept[[i]] <<- c(list(x = list_frame(values, n_rows_of(chunk$x))), chunk[own])
    chunk[intersect(names(chunk), c("x", "offset", "exposure"))]
  }
  judged <- list()
  if (inherits(object, "gbt_calibrated")) {
    judged$known <- as_columns(predict.gbt_calibrated(object, next_chunk, "response", offset = offset,
                                                      threads = threads))
  } else {
    judged$score <- as_columns(predict.gbt(model, next_chunk, type = "link", trees = trees, offset = offset,
                                           exposure = exposure, threads = threads))
  }
  frames <- lapply(kept, `[[`, "x")
  check_same_kinds(frames, inherits(x, "gbt_source"))
  out <- join_frames(frames)
  given <- lapply(stats::setNames(nm = of_first), join_parts, parts = kept)
  judged$weight <- if (is.null(roles$weight)) given$weight else out[[roles$weight]]
  judged$group <- if (is.null(roles$group)) given$group else out[[roles$group]]
  by_formula <- is.null(y) && !is.null(lhs) && all(of_response %in% c(names(out), base_constants))
  if (!is.null(role) && !by_formula) {
    y <- if (is.null(role$response)) out[[role$columns]] else role$response(out[role$columns])
  }
  for (name in setdiff(names(out), c(of_response, role$columns))) { # days and times of files
    if (is.character(out[[name]])) out[[name]] <- as_kind(out[[name]], kind_of_texts(out[[name]]))
  }
  list(x = structure(out, judged = judged), y = if (is.null(y)) given$label else y)
}

# A column has texts in all parts or in none: numbers would become texts of another form.
check_same_kinds <- function(frames, of_source) {
  has_texts <- function(column) if (all(is.na(column))) NA else is.character(column) || is.factor(column)
  for (name in names(frames[[1L]])) {
    texts <- vapply(frames, function(frame) has_texts(frame[[name]]), NA)
    if (any(texts, na.rm = TRUE) && !all(texts, na.rm = TRUE)) {
      stop_data(sprintf("column `%s` has texts in some parts of the rows and numbers in others; %s", name,
                        if (of_source) "name it in `texts` of the source" else "make it one of them"), name)
    }
  }
}

own_fields <- c("label", "weight", "group") # of chunks that are lists

# What is not offered of rows in parts.
check_read_in_parts <- function(object, exposure, trees) {
  if (inherits(object, "gbt_cv")) {
    stop_unsupported(paste("a gbt_cv() is judged on rows in memory, which must be those that it was made of; give them",
                           "as a data frame or a matrix"), "x")
  }
  if (!is.null(recipe_of(judged_model(object)))) {
    stop_unsupported("a model of a recipe is judged on rows in memory; give them as a data frame", "x")
  }
  if (inherits(object, "gbt_calibrated")) check_calibrated_request(exposure, trees)
}

# The names of columns that an argument of a function may have: its variables, and its texts. frame: of the call of the
# function; env: where that was written.
columns_in_argument <- function(name, frame, env) {
  written <- eval(call("substitute", as.name(name)), frame)
  variables <- all.vars(written)
  there <- all(vapply(variables, exists, NA, envir = env)) # else it is evaluated with the columns only
  value <- if (there) try_else(eval(as.name(name), frame), function(problem) NULL)
  list(variables = variables, texts = if (is_texts(value) && length(value) <= 100L) value)
}

# A text names a column, unless several are the values of rows.
check_columns_in_chunk <- function(named, columns) {
  for (name in names(named)) {
    texts <- named[[name]]$texts
    lost <- setdiff(texts, columns)
    if (length(lost) == 0L || anyDuplicated(texts) || (!name %in% c("by", "y") && length(texts) > 1L)) next
    stop_argument(sprintf("`%s` names `%s`, which is not a column of the data%s", name, lost[1L],
                          suggest(lost[1L], columns)), name)
  }
}

# list(read, close): chunks with all columns of a source; of the roles they have offset and exposure. kept: columns
# other than features that are needed.
reader_of_all <- function(source, model, kept) {
  source["columns"] <- list(NULL)
  source$roles <- source$roles[intersect(names(source$roles), c("offset", "exposure"))]
  if (is.null(model$terms$features)) stream_source(source, model, kept) else read_source(source)
}
