# gbt_train(gbt_files(...)): training on rows that a source gives (R/data_source_read.R), with a formula or without
# one. The rows become a gbt_data, as if gbt_data() had been called first. They are read once, and reading may take
# hours, so all that can be checked without the rows is checked before.

is_row_source <- function(x) inherits(x, c("gbt_source", "DBIResult")) || is_arrow_rows(x)

# Values as of table_source(). x: a source; y: the response, the name of its column, or NULL: the source names it.
streamed_source <- function(x, args, folds) {
  args <- placed(args, function(x, y, ...) NULL)
  given <- values_of(args[!names(args) %in% c("x", "y")])
  y <- values_of(args[names(args) == "y"])[["y"]]
  check_no_formula(y)
  if (is.null(y)) y <- given[["label"]]
  given[["label"]] <- NULL
  x <- check_source(as_row_source(x))
  if (is.null(y) && is.null(x$roles$label)) {
    stop_argument(paste("the response is missing: name its column, as in gbt_files(files, label = ),",
                        "gbt_query(connection, statement, label = ) or gbt_train(y ~ ., source)"), "y")
  }
  check_without_rows(given)
  begun <- begun_source(x)
  on.exit(begun$close())
  streamed(begun, y, given, folds_as_values(folds, NULL))
}

# begun: of begun_source(); y: see above; given: the values of all other arguments by the names as typed; role: the
# columns of the response, as of label_role(), NULL where y says it.
streamed <- function(begun, y, given, folds, role = NULL) {
  x <- begun$source
  in_rows <- is_of_rows(given)
  fields <- stats::setNames(given[in_rows], sub("^weights$", "weight", names_here(given[in_rows])))
  if (is.null(role) && are_label_names(y)) role <- label_role(y)
  if (!is.null(role)) x <- with_label(x, role) else fields$label <- y
  named <- with_named_roles(x, fields)
  x <- named$source
  fields <- named$fields
  args <- collect_args(given[!in_rows])$value
  check_columns_named(x, names(begun$rows), args)
  fields <- lapply(stats::setNames(nm = c(chunk_fields, "strata")), function(name) fields[[name]])
  data <- data_of_rows(x, fields, streamed_spec(args, x))
  source <- list(data = data, y = data$label, weights = data$weight, offset = data$offset, time = data$time,
                 group = data$group, position = data$position, exposed = data$exposed, roles = x$roles,
                 response = x$response)
  list(source = source, given = without_binning(given[!in_rows]), folds = folds)
}

# By gbt's names; NA for names that it does not know.
names_here <- function(given) canonical_name(printable(given_or(names(given), character(0))))

# Which arguments have a value for each row? (`mask` belongs to a training, not to the data.)
is_of_rows <- function(given) names_here(given) %in% setdiff(row_arguments, "mask")

# Errors in the values of arguments, before rows are read. Warnings and messages come when the training is prepared.
check_without_rows <- function(given) {
  given <- given[!is_of_rows(given)]
  request <- withCallingHandlers(read_request(given), warning = function(w) invokeRestart("muffleWarning"),
                                 gbt_message = function(m) invokeRestart("muffleMessage"))
  args <- request$args$value
  make_checkpoint_folder(request$host$checkpoint)
  with_typed(for (name in Filter(is.character, as_metric_list(args[["eval_metric"]]))) metric_places(name),
             request$args$typed)
  if (is_share(args[["valid"]]) || is_rows(args[["valid"]])) stop_no_share(args[["valid"]])
}

# Errors in the names of columns, once the first rows are there. columns: of the source; args: values by gbt's names.
check_columns_named <- function(x, columns, args) {
  check_roles(x, columns, "the source")
  features <- feature_columns(x, columns)
  read_constraints(args, features)
  for (name in c("cat_features", "level_counts")) {
    if (is.character(args[[name]])) feature_places(args[[name]], features, name)
  }
}

# How rows are binned: arguments of gbt_train() that gbt_data() has as well. See data_spec().
# args: values by gbt's names.
streamed_spec <- function(args, x) {
  given <- intersect(names(args), "level_counts")
  args <- list(max_bin = given_or(args[["max_bin"]], 255), level_counts = given_or(args[["level_counts"]], FALSE),
               cat_features = args[["cat_features"]], sparse_zero = given_or(args[["sparse_zero"]], "value"),
               unseen = "prior", page_rows = given_or(args[["page_rows"]], 0), threads = args[["threads"]],
               compress = FALSE, init = args[["init_model"]], called = c(label = "y", weight = "weights"))
  data_spec(args, given, x)
}

# The values of arguments that binning has not used up.
without_binning <- function(given) {
  rest <- function(values) values[!names_here(values) %in% binning_arguments]
  if (length(given[["params"]])) given$params <- rest(given$params)
  rest(given)
}

# ---- with a formula ----

# formula: with names of columns only, `.` and `-` among them. in_rows: arguments that are evaluated in the data, by
# name, as in R/arg_call.R; given: the values of all others.
streamed_formula_source <- function(formula, x, in_rows, given, folds) {
  check_without_rows(given)
  begun <- begun_source(as_row_source(x))
  on.exit(begun$close())
  head <- begun$rows
  x <- begun$source
  if (length(formula) == 3L) {
    formula[[2L]] <- response_with_constants(formula[[2L]], head, given_or(environment(formula), globalenv()))
  }
  role <- formula_response(formula, names(head))
  by_column <- function(name) any(variables_of(list(in_rows[[name]]$expression)) %in% names(head))
  wrong <- c("subset"[!is.null(in_rows$subset)], Filter(by_column, "mask"))
  for (name in wrong) stop_no_rows_chosen(name)
  given <- c(given, lapply(in_rows, row_role, names(head)))
  terms <- if (is.null(role$response)) list(formula = formula) else take_strata(formula)
  if (length(terms$columns)) {
    lost <- setdiff(terms$columns, names(head))
    if (length(lost)) {
      stop_data(sprintf("strata() names `%s`, which is not a column of the source%s", lost[1L],
                        suggest(lost[1L], names(head))), lost[1L])
    }
    role <- role_with_strata(role, terms$columns)
  }
  taken <- c(unlist(x$roles, use.names = FALSE), unlist(Filter(is_column_name, given[names(in_rows)])), terms$columns)
  dot <- setdiff(feature_columns(x, names(head)), taken)
  plain <- plain_names(terms$formula, head, dot)
  if (is.null(plain) || length(plain$offset)) stop_no_terms(formula)
  if (is.null(role$response) && role$columns %in% plain$names) {
    stop_argument(sprintf("the response `%s` is on the right side of the formula as well", role$columns), "formula")
  }
  if (identical(x$roles$label, role$columns)) x$roles$label <- NULL
  x$columns <- plain$names
  begun$source <- x
  out <- streamed(begun, NULL, given, folds, role)
  out$source[c("formula", "parsed", "columns")] <- list(formula_text(formula), formula, names(head))
  out$source$in_rows <- role_evaluators(out$source$roles)
  out
}

# The columns of the response, as of label_role(): one column, or those that a call of Surv() names.
formula_response <- function(formula, columns) {
  if (length(formula) != 3L) stop_argument("the formula needs a response on its left side: y ~ .", "formula")
  lhs <- formula[[2L]]
  if (!is.name(lhs) && !is_surv_call(lhs)) stop_no_terms(formula)
  used <- variables_of(list(lhs))
  from <- given_or(environment(formula), globalenv())
  lost <- if (is.name(lhs)) setdiff(used, columns) else
    Filter(function(name) !name %in% columns && !exists(name, envir = from), used)
  if (length(lost)) {
    stop_data(sprintf("the response `%s` is not a column of the source%s", lost[1L], suggest(lost[1L], columns)),
              lost[1L])
  }
  label_role(if (is.name(lhs)) used else lhs, columns, from)
}

stop_no_terms <- function(formula) {
  stop_unsupported(sprintf(paste("with a source of rows the formula can only name columns, as in y ~ a + b or",
                                 "y ~ . - id, not %s; compute other terms in the query, or read the rows into a data",
                                 "frame; an offset is named in the source: gbt_files(files, offset = )"),
                           paste(deparse(formula, 60L, nlines = 1L), collapse = "")), "formula")
}

stop_no_rows_chosen <- function(name) {
  how <- if (name == "mask") "give `mask` as logical values, one for each row" else
    "leave rows out in the query or the files, or read the rows into a data frame"
  stop_unsupported(sprintf("`%s` cannot use columns of a source of rows; %s", name, how), name)
}

# The name of a column where the argument names one, else its value.
row_role <- function(argument, columns) {
  written <- argument$expression
  if (is.name(written) && as.character(written) %in% columns) return(as.character(written))
  named <- intersect(variables_of(list(written)), columns)
  if (length(named)) {
    stop_unsupported(sprintf(paste("with a source of rows an argument can only name a column, such as weights = %s,",
                                   "not %s; compute the column in the query, or give values"), named[1L],
                             expression_text(written)), "weights")
  }
  argument$value()
}

# How a validation set that is a data frame has what the training data have as columns, see row_evaluators().
role_evaluators <- function(roles) {
  roles <- roles[intersect(c("weight", "offset", "exposure"), names(roles))]
  names(roles)[names(roles) == "weight"] <- "weights"
  Map(function(columns, name) {
    function(valid) {
      absent <- setdiff(columns, names(valid))
      if (length(absent)) stop_data(sprintf("lacks %s, which `%s` needs", enumerate(absent), name), absent[1L])
      if (length(columns) == 1L) valid[[columns]] else as.matrix(valid[columns])
    }
  }, roles, names(roles))
}
