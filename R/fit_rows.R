# The rows of a training, with their response and what belongs to them.

# The source with these from `params` or under another name, and with exposures in the offset.
with_row_arguments <- function(source, args) {
  for (part in row_arguments) {
    if (is.null(args$value[[part]])) next
    if (!is.null(source[[part]])) stop_argument(sprintf("`%s` is given twice", part), part)
    source[[part]] <- args$value[[part]]
  }
  with_strata_values(with_exposure(source))
}

# The source with the rows of this rank, where all ranks were given the same: see gbt_ranks(share = "split"). A gbt_data
# has those of the rank, and what it came with; other numbers are of all rows. Keeps the number of all rows as n_given.
part_of_source <- function(source) {
  if (!splits_rows() || !is.null(source$n_given)) return(source)
  parts <- intersect(c("y", row_arguments), names(source))
  if (!is.null(source$x)) {
    source$n_given <- n_rows_of(source$x)
    part <- part_of_table(source$x, source[parts])
    source$x <- part$x
  } else {
    own <- source$data$n_rows
    source$n_given <- sum_of_ranks(own)
    parts <- Filter(function(name) NROW(source[[name]]) != own, parts)
    part <- list(fields = part_of_fields(source[parts], source$n_given, rows_before(own) + seq_len(own)))
  }
  source[parts] <- part$fields[parts]
  source
}

# `valid` with the rows of this rank, which has n of n_all: rows that are held out, and sets of rows that are not
# binned.
part_of_valid <- function(valid, n, n_all) {
  if (!splits_rows() || !is_rows(valid)) return(valid)
  held_rows(valid, n_all)[rows_before(n) + seq_len(n)]
}

part_of_sets <- function(sets) {
  if (!splits_rows()) return(sets)
  lapply(sets, function(set) {
    if (inherits(set, c("gbt_data", "gbt_source"))) return(set)
    part <- part_of_table(set$x, unclass(set)[setdiff(names(set), "x")])
    c(list(x = part$x), part$fields)
  })
}

# All rows of a source and their response, a list: source, with `time` and `group` checked, response, n.
rows_of_source <- function(source, request) {
  source <- strata_in_response(part_of_source(with_row_arguments(source, request$args)))
  n <- source_rows(source)
  check_time_or_group(source$time, source$group)
  source["time"] <- list(check_time(source$time, n))
  source["group"] <- list(check_group(source$group, n))
  args <- request$args$value
  response <- encode_response(source$y, request$objective, n, args[["num_class"]], source$parsed)
  metrics <- if (!is.null(args[["eval_metric"]])) { # before long work
    with_typed(resolve_metrics(args[["eval_metric"]], response), request$args$typed)
  }
  check_queries(response, metrics, source$group)
  source["position"] <- list(check_position(source$position, n))
  check_position_use(source$position, response$objective, response$param, names(args))
  check_exposed(source, response)
  by_query <- trains_on_queries(response, metrics)
  if (by_query) check_undivided(source$group)
  list(source = source, response = response, n = n, by_query = by_query)
}

# Ranking objectives and ranking metrics need the queries of rows.
check_queries <- function(response, metrics, group) {
  objective <- response$objective
  if (any_rank(!is.null(group))) return(if (is_of_queries(objective)) check_grades(response, group))
  if (is_of_queries(objective)) {
    stop_argument(sprintf(paste("objective \"%s\" needs `group`, the query of every row: gbt_train(y ~ ., data,",
                                "group = qid), where `qid` is a column of the data"), objective), "group")
  }
  by_query <- which(metrics_table()$by_query[metrics$code + 1L])
  if (length(by_query)) {
    stop_argument(sprintf("metric \"%s\" needs `group`, the query of every row", metrics$name[by_query[1L]]), "group")
  }
}

# Rows of equal labels have no order to learn.
check_grades <- function(response, group) {
  label <- response$label
  if (response$objective %in% c("rank_map", "rank_mrr")) label <- label > 0
  by_query <- order(group, label)
  n <- length(by_query)
  label <- label[by_query]
  group <- group[by_query]
  if (any_rank(n > 1L && any(group[-1L] == group[-n] & label[-1L] != label[-n]))) return(invisible())
  what <- if (is.logical(label)) "a row with label 0 and one with a label above 0" else "rows of different labels"
  single <- !any_rank(anyDuplicated(group) > 0L)
  stop_data(sprintf("no query (`group`) has %s, so there is nothing to learn%s", what,
                    if (single) "; every row has a `group` of its own" else ""), "y")
}

# Rows are held out by queries, as gradients and metrics look at whole ones. held: logical values, or NULL for none;
# how: what holds them out.
check_whole_queries <- function(held, group, by_query, how) {
  if (is.null(held) || is.null(group) || !by_query) return(invisible())
  cut <- which(held & group %in% group[!held])
  if (length(cut) == 0L) return(invisible())
  other <- which(!held & group == group[cut[1L]])[1L]
  stop_data(sprintf(paste("%s cuts a query: rows %d and %d have the same `group`, and only row %d is held out; hold",
                          "out all rows of a query or none"), how, other, cut[1L], cut[1L]), "group")
}

# Does a training look at queries: does its objective, or one of its metrics?
trains_on_queries <- function(response, metrics) {
  is_of_queries(response$objective) || any(metrics_table()$by_query[metrics$code + 1L], na.rm = TRUE)
}

# The rows to train on and those held out, a list: source (all rows of the data, but for those that `valid` takes
# away), response, n (rows of the source), mask (the rows to train on, logical values; NULL for all), at (their numbers,
# with a mask), held (with masked-out rows: those that are scored on the way, logical values), label (of the rows to
# train on), valid (named list of validation sets as they were given, or of the rows held out), seed, by_share (TRUE
# when a share of the rows is held out).
read_rows <- function(source, request) {
  out <- rows_of_source(source, request)
  source <- out$source
  response <- out$response
  if (is.null(source$held)) warn_suspects(source, response) # else it was said of all rows
  valid <- read_valid(part_of_valid(request$args$value[["valid"]], out$n, source$n_given), source)
  valid$sets <- part_of_sets(valid$sets)
  mask <- check_mask(source$mask, out$n)
  check_mask_conflicts(mask, valid)
  check_whole_queries(if (!is.null(mask)) !mask, source$group, out$by_query,
                      if (is.null(source$held)) "`mask`" else "a fold")
  check_whole_queries(valid$held, source$group, out$by_query, "`valid`")
  out <- c(out, list(label = response$label, valid = valid$sets,
                     seed = resolve_seed(request$args, request$params, !is.null(valid$share))))
  if (!is.null(valid$share) || !is.null(valid$held)) {
    parts <- split_source(source, response, valid, out$seed)
    out[c("source", "n", "label", "valid", "by_share")] <-
      list(parts$train, as.double(length(parts$label)), parts$label, list(valid = parts$valid), is.null(valid$held))
  }
  if (!is.null(mask) && is.null(source$held)) inform_masked_classes(mask, response)
  with_mask(out, mask)
}

# The rows with a mask for the engine: the user's, without the rows of weight 0. These take no part in training, so that
# whatever counts or draws rows does not see them.
with_mask <- function(rows, mask) {
  weights <- check_weight(rows$source$weights, rows$n, "weights")
  in_fold <- !is.null(rows$source$held)
  rows$held <- if (in_fold) rows$source$held else if (!is.null(mask)) !mask
  if (!is.null(mask) && !is.null(weights)) {
    check_some_weight(mask & weights != 0, if (in_fold) "outside of a fold" else "where `mask` is TRUE")
  }
  weigh <- mask_of_weights(weights)
  mask <- if (is.null(mask) || is.null(weigh)) given_or(mask, weigh) else mask & weigh
  if (is.null(mask)) return(rows)
  rows$mask <- mask
  rows$at <- rows_of_mask(mask, TRUE)
  rows$label <- subset_rows(rows$label, rows$at)
  rows
}

# Weight, offset, time and group of the rows that are trained on.
rows_trained_on <- function(rows, weight, offset) {
  own <- list(weight = weight, offset = offset, time = rows$source$time, group = rows$source$group)
  position <- rows$source$position
  if (is.null(rows$mask)) return(c(own, list(position = position)))
  own <- c(lapply(own, take_numbers, rows$at, rows$n), list(position = subset_rows(position, rows$at)))
  if (!is.null(own$group)) own$group <- number_groups(own$group)
  own
}
