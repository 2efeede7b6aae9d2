# A gbt_data from rows in any form: tables in memory, chunks and sources. gbt_data() makes one when it is called,
# gbt_train() when it is given a source (R/fit_streamed.R), or one as validation data (R/fit_valid.R).

# The arguments of gbt_data(), checked: a list of reference, max_bin, level_counts (NULL: as `init` has them),
# cat_features, sparse_zero, unseen, page_rows, threads, device, path, memory, codec, init, start (with `init`: a
# function that gives its scores), called (see check_row_fields()). given: which arguments were.
data_spec <- function(spec, given, x) {
  decided <- c(max_bin = "cuts", cat_features = "features", level_counts = "features")
  for (name in if (!is.null(spec$reference)) intersect(names(decided), given)) {
    stop_argument(sprintf("`%s` is decided by `reference`, whose %s are used; leave it out", name, decided[[name]]),
                  name)
  }
  if (is.null(spec$reference) && "unseen" %in% given) {
    stop_argument("`unseen` can only be used with `reference`: without it no level is unseen; leave it out", "unseen")
  }
  spec$unseen <- match_choice(spec$unseen, names(enums$unseen), "unseen")
  spec$sparse_zero <- match_choice(spec$sparse_zero, c("value", "missing"), "sparse_zero")
  refuse_by_column(spec$max_bin, "max_bin", if (!is.function(x)) names_of_table(x))
  spec$max_bin <- as.integer(read_max_bin(spec$max_bin, table_row(host_table, match("max_bin", host_table$name)),
                                          "max_bin"))
  spec$page_rows <- check_whole(spec$page_rows, "page_rows", 0, .Machine$integer.max)
  if (!is.null(spec$path)) {
    check_new_folders(spec$path)
    spec$path <- own_folders(spec$path)
    if (!is.null(ranks_here())) check_new_folders(spec$path)
  }
  if (is.null(spec$path) && !is.null(spec$memory)) {
    stop_argument(paste("`memory` can only be used with `path`, for data in a folder; give `path`, or leave `memory`",
                        "out"), "memory")
  }
  spec$codec <- check_compress(spec$compress, spec$path)
  if (!is.null(spec$path) && identical(spec$device, "cuda")) {
    stop_unsupported(paste("`device` cannot be combined with `path`: bins in a folder are made on the CPU; give it to",
                           "gbt_train()"))
  }
  if (inherits(x, "gbt_data")) stop_argument("`x` is a gbt_data object already", "x")
  if (!is.null(spec$reference)) check_data(spec$reference, "reference")
  if (is.null(spec$init)) return(spec)
  spec$init <- check_start_model(spec$init)
  spec$start <- function(x, offset, sparse_zero) {
    start_of_rows(spec$init, x, offset, sparse_zero, resolve_threads(spec$threads))
  }
  if (!"level_counts" %in% given) spec["level_counts"] <- list(NULL)
  spec
}

# Rows of packages arrow and DBI as a source; other rows as they are.
as_row_source <- function(x) {
  if (inherits(x, "DBIResult")) return(result_source(x))
  if (is_arrow_rows(x)) gbt_batches(x) else x
}

# x: as gbt_data() takes it; fields: list of label, weight, offset, exposure, time and group, or NULL; spec: of
# data_spec().
data_of_rows <- function(x, fields, spec) {
  x <- as_row_source(x)
  if (splits_rows() && !inherits(x, "gbt_source")) {
    if (is.function(x)) stop_no_split()
    part <- part_of_table(x, fields)
    x <- part$x
    fields <- part$fields
  }
  if (!inherits(x, "gbt_source")) {
    return(finish_data(if (is.function(x)) chunk_rows(x, fields, spec) else table_rows(x, fields, spec), spec))
  }
  if (are_label_names(fields$label)) {
    x <- with_label(x, label_role(fields$label))
    fields["label"] <- list(NULL)
  }
  named <- with_named_roles(x, fields)
  x <- named$source
  strata <- named$fields$strata
  source <- read_source(x)
  on.exit(source$close())
  rows <- chunk_rows(source$read, named$fields[names(named$fields) != "strata"], spec, x$roles$exposure)
  finish_data(c(rows, list(strata = strata)), spec)
}

# The source with roles for the columns that fields name: list(source, fields = those that have values).
with_named_roles <- function(source, fields) {
  for (role in names(Filter(is_column_name, fields))) {
    name <- fields[[role]]
    source <- if (role == "strata") with_strata_role(source, name) else with_role(source, role, name)
    fields[role] <- list(NULL)
  }
  list(source = source, fields = fields)
}

with_strata_role <- function(source, name) {
  role <- list(columns = source$roles$label, response = source$response)
  source$roles$label <- NULL
  with_label(source, role_with_strata(role, as_utf8(name, "`strata`")))
}
