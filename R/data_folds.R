# Folds of cross-validation: a list of list(train = , held = ), logical values for all rows; see gbt_cv().

# plan: see gbt_cv(); source: as prepared by cross_validate(), with time and group checked; class: numbers from 0 of the
# rows' classes, or NULL.
make_folds <- function(plan, n, source, class, label, seed) {
  folds <- plan$folds
  if (are_folds(folds)) {
    if (plan$repeats != 1) {
      stop_argument("`repeats` cannot be combined with given folds; give `folds` as a number", "repeats")
    }
    if (!is.null(plan$stratify)) {
      stop_argument("`stratify` cannot be combined with given folds; give `folds` as a number", "stratify")
    }
    out <- part_of_folds(given_folds(folds, given_or(source$n_given, n)), n)
  } else {
    k <- check_whole(folds, "folds", 2)
    if (!is.null(source$time) && plan$repeats != 1) {
      stop_argument("`repeats` cannot be combined with `time`, which decides the folds; leave `repeats` out", "repeats")
    }
    out <- folds_of_weighed(plan, k, n, source, class, label, seed)
  }
  trained <- sums_of_ranks(vapply(out, function(fold) any(fold$train), NA))
  if (any(trained == 0)) {
    stop_argument(sprintf("fold %d holds out all rows; leave rows to train on", which(trained == 0)[1L]), "folds")
  }
  out
}

# Whether `folds` are folds, not their number. A rank of one row has one value of them.
are_folds <- function(folds) {
  any_rank(inherits(folds, "rset") || is.list(folds) || is.factor(folds) || is.character(folds) || length(folds) > 1L)
}

# Folds by number, drawn as if the rows of weight 0 were not there. These are in the fold of their group or time, if it
# has one, else in any: they take no part in training or metrics, and get predictions. With ranks the draws are from the
# rows of all ranks; arguments and results are of this rank's rows.
folds_of_weighed <- function(plan, k, n, source, class, label, seed) {
  weigh <- mask_of_weights(check_weight(source$weights, n, "weights"))
  if (is.null(weigh)) {
    if (!is.null(source$time)) return(folds_by_time(source$time, k))
    return(drawn_folds(plan, k, n, source$group, class, label, seed))
  }
  at <- rows_of_mask(weigh, TRUE)
  others <- rows_of_mask(weigh, FALSE)
  if (!is.null(source$time)) {
    time <- source$time
    return(lapply(folds_by_time(time[at], k), function(fold) {
      ends <- range_of_ranks(time[at][fold$held])
      list(train = time < ends[1L], held = time >= ends[1L] & time <= ends[2L])
    }))
  }
  group <- source$group
  own <- drawn_folds(plan, k, length(at), if (!is.null(group)) number_groups(group[at]), class[at], label[at], seed,
                     " with a weight")
  before <- rows_before(length(others))
  weighed <- if (!is.null(group)) all_ranks_have(group[at])
  lapply(seq_along(own), function(i) {
    held <- replace(logical(n), at, own[[i]]$held)
    mine <- (before + seq_along(others)) %% k == i %% k
    if (!is.null(group)) {
      aside <- all_ranks_have(group[held])
      mine <- ifelse(group[others] %in% weighed, group[others] %in% aside, group[others] %% k == i %% k)
    }
    held[others] <- mine
    list(train = !held, held = held)
  })
}

# Folds by number: the same for a seed on any machine. which: what a message adds to "rows".
drawn_folds <- function(plan, k, n, group, class, label, seed, which = "") {
  if (!is.null(group) && isTRUE(plan$stratify)) {
    stop_argument("`stratify` and `group` cannot be combined; leave one out", "stratify")
  }
  units <- if (is.null(group)) sum_of_ranks(n) else count_groups(group)
  if (k > units) {
    what <- if (is.null(group)) "row" else "group"
    stop_argument(sprintf("`folds = %.0f` is more than the data have %ss%s, %.0f", as.double(k), what, which, units),
                  "folds")
  }
  check_drawn_rows(units, "folds", "give `folds` as a fold for each row")
  unit_class <- if (is.null(group)) classes_to_balance(plan, class, label)
  unlist(lapply(seq_len(plan$repeats), function(again) {
    fold <- drawn_in_turn(k, if (is.null(group)) n else units, unit_class, (seed + (again - 1) * 1000003) %% 2147483647,
                          is.null(group) && !is.null(ranks_here()))
    if (!is.null(group)) fold <- fold[group]
    lapply(seq_len(k), function(i) list(train = fold != i, held = fold == i))
  }), recursive = FALSE)
}

# A number from 1 to k for each of n units, which get them in turn, in the order of their classes and draws. shared:
# whether all ranks have some of the units.
drawn_in_turn <- function(k, n, class, seed, shared) {
  draw <- .Call(C_gbt_row_draws, as.integer(n), seed, if (shared) rows_before(n) else 0)
  if (shared) return(as.integer((places_by_draw(draw, class) - 1) %% k) + 1L)
  at <- if (is.null(class)) order(draw) else order(class, draw)
  fold <- integer(n)
  fold[at] <- rep_len(seq_len(k), n)
  fold
}

# A value for each row, of which drawn folds get equal shares: its class, or a tenth of all numbers; NULL for none.
classes_to_balance <- function(plan, class, label) {
  if (!is.null(class)) return(if (!isFALSE(plan$stratify)) class)
  if (!isTRUE(plan$stratify)) return(NULL)
  if (!is.null(matrix_of_label(label))) {
    stop_unsupported("`stratify` takes a response of one column; leave it out", "stratify")
  }
  tenths(label)
}

# In which tenth of all numbers each one is, from 0, by their quantiles of type 1.
tenths <- function(v) {
  at <- sum_of_ranks(length(v)) * seq(0.1, 0.9, 0.1)
  below <- floor(at + 4 * .Machine$double.eps)
  at <- pmax(below + (at > below), 1)
  all <- if (is.null(ranks_here())) sort(v)
  findInterval(v, unique(if (is.null(ranks_here())) all[at] else vapply(at, kth_of_ranks, 0, v = v)))
}

# Rolling origin: rows are cut into k + 1 blocks by time; fold i trains on the first i blocks and holds out the next.
folds_by_time <- function(time, k) {
  at <- sort(all_ranks_have(unique(time)))
  if (length(at) < k + 1) {
    stop_argument(sprintf("%.0f folds by `time` need %.0f different times, the rows have %d",
                          as.double(k), k + 1, length(at)), "folds")
  }
  before <- cumsum(sums_of_ranks(tabulate(match(time, at), length(at)))) # rows up to each time
  last <- findInterval(seq_len(k) / (k + 1) * before[length(at)], before, left.open = TRUE) + 1
  last <- pmin(pmax(last, seq_len(k)), length(at) - k - 1 + seq_len(k)) # every block has a time of its own
  for (i in seq_along(last)[-1L]) last[i] <- max(last[i], last[i - 1L] + 1)
  block <- findInterval(match(time, at), last, left.open = TRUE) + 1
  lapply(seq_len(k), function(i) list(train = block <= i, held = block == i + 1))
}

# Folds as the user gave them: a fold for each row, a list of the rows that each fold holds out, or a set of package
# rsample. With ranks these are of the rows of this rank.
# Folds of all rows, where ranks split them: those of this rank, which has n rows.
part_of_folds <- function(folds, n) {
  if (!splits_rows()) return(folds)
  rows <- rows_before(n) + seq_len(n)
  lapply(folds, lapply, `[`, rows)
}

given_folds <- function(folds, n) {
  if (!is.list(folds) || !(inherits(folds, "rset") || !is.object(folds))) return(folds_by_value(folds, n))
  its <- if (is.object(folds)) folds$splits else folds
  if (length(its) < 1L) stop_argument("`folds` is an empty list; give the rows that each fold holds out", "folds")
  check_same_on_ranks(length(its), "the number of folds", "; give all ranks the same folds")
  out <- lapply(seq_along(its), function(i) {
    if (is.object(folds)) return(rsample_fold(its[[i]], i, n))
    held <- replace(logical(n), row_numbers(its[[i]], n, i), TRUE)
    list(train = !held, held = held)
  })
  none <- which(sums_of_ranks(vapply(out, function(fold) any(fold$held), NA)) == 0)
  if (length(none)) {
    stop_argument(sprintf("fold %d holds out no row; give each fold rows on some rank", none[1L]), "folds")
  }
  out
}

# folds: a value for each of n rows.
folds_by_value <- function(folds, n) {
  if (is.list(folds) || length(folds) != n) {
    stop_argument(sprintf(paste("`folds` must be a number, a fold for each of the %.0f rows, a list of the rows",
                                "that each fold holds out, or folds of package rsample, not %s of length %d"),
                          n, describe(folds), length(folds)), "folds")
  }
  if (anyNA(folds)) {
    stop_argument(sprintf("`folds` has %s; every row needs a fold", counted_rows(which(is.na(folds)), "missing value")),
                  "folds")
  }
  if (is.factor(folds)) {
    check_same_on_ranks(levels(folds), "the levels of `folds`", "; give all ranks factor(folds, levels = )")
    folds <- as.integer(folds)
  } else if (is.object(folds) && !is.null(ranks_here())) {
    folds <- order_numbers(folds)
  }
  known <- sort(all_ranks_have(unique(folds)))
  if (length(known) < 2L) stop_argument("`folds` puts all rows into one fold; there must be two or more", "folds")
  number <- match(folds, known)
  lapply(seq_along(known), function(i) list(train = number != i, held = number == i))
}

row_numbers <- function(rows, n, i) {
  if (is.logical(rows) && length(rows) == n && !anyNA(rows)) rows <- which(rows)
  some <- length(rows) > 0L || !is.null(ranks_here()) # a rank may have none of a fold's rows
  good <- is.numeric(rows) && !is.object(rows) && some && !anyNA(rows) && all(rows == floor(rows)) &&
    all(rows >= 1 & rows <= n) && !anyDuplicated(rows)
  if (!good) {
    stop_argument(sprintf("element %d of `folds` must be different numbers of rows from 1 to %.0f: those held out", i,
                          n), "folds")
  }
  rows
}

# A split of package rsample: rows to train on, and the others or those that it says.
rsample_fold <- function(split, i, n) {
  train <- split$in_id
  wrong <- if (anyDuplicated(train)) "takes rows more than once" else if (NROW(split$data) != n)
    sprintf("was made of %.0f rows, but the data have %.0f", as.double(NROW(split$data)), n)
  if (!is.null(wrong)) {
    stop_argument(sprintf(paste("split %d of `folds` %s; folds of the same data without repeated rows are needed, such",
                                "as those of rsample::vfold_cv()"), i, wrong), "folds")
  }
  held <- split$out_id
  if (length(held) == 0L || anyNA(held)) held <- setdiff(seq_len(n), train)
  list(train = replace(logical(n), train, TRUE), held = replace(logical(n), held, TRUE))
}

fold_aliases <- c("nfold", "nfolds", "fold_count", "n_folds", "nfold_cv", "cv_folds", "cv.folds")
