# Parts of data: some of the rows of anything that can be trained on, and the rows that are held out for validation.

subset_rows <- function(x, rows) {
  if (is.null(x)) return(NULL)
  if (is.data.frame(x)) {
    columns <- lapply(seq_along(x), function(j) subset_rows(.subset2(x, j), rows))
    names(columns) <- names(x)
    out <- list_frame(columns, length(rows))
    return(if (is_baked(x)) marked_baked(out) else out)
  }
  if (inherits(x, "Surv")) return(surv_rows(x, rows))
  if (isS4(x)) need_matrix(x)
  if (is.integer(rows) && is_plain_rows(x)) return(take_rows(x, rows))
  out <- if (length(dim(x)) != 2L) {
    x[rows]
  } else if (isS4(x)) {
    take_sparse_rows(x, rows)
  } else {
    .subset(x, rows, TRUE, drop = FALSE) # a class of its own may take rows in ways of its own
  }
  if (isS4(x) && !isS4(out)) { # R's `[` leaves plain numbers of it, and it is still to be refused
    attributes(out) <- attributes(x)
    out <- asS4(out)
  }
  if (inherits(x, "integer64")) class(out) <- class(x) # without bit64 loaded `[` forgets it, and the bits mean nothing
  out
}

# Vectors of classes that are known, and matrices: the glue takes their rows as R would, though where Ctrl-C is heard.
is_plain_rows <- function(x) {
  if (!typeof(x) %in% c("double", "integer", "logical", "character")) return(FALSE)
  known <- list("factor", c("ordered", "factor"), "Date", c("POSIXct", "POSIXt"), "difftime", "integer64")
  length(dim(x)) == 2L || (is.null(dim(x)) && (!is.object(x) || list(oldClass(x)) %in% known))
}

take_rows <- function(x, rows) {
  out <- .Call(C_gbt_take, x, rows)
  kept <- if (is.null(dim(x))) c("levels", "contrasts", "tzone", "units", "class")
  if (inherits(x, "integer64")) kept <- "class"
  for (name in intersect(kept, if (is.object(x)) names(attributes(x)))) attr(out, name) <- attr(x, name)
  labels <- dimnames(x)
  if (!is.null(labels[[1L]])) labels[[1L]] <- labels[[1L]][rows]
  if (!is.null(labels)) dimnames(out) <- labels
  if (is.null(dim(x)) && !is.null(names(x))) names(out) <- names(x)[rows]
  out
}

# By columns, as most are, the glue takes them; what is broken, and other classes, is for Matrix to refuse or to take.
take_sparse_rows <- function(x, rows) {
  check_sparse(x)
  if (is.integer(rows) && class(x) %in% c("dgCMatrix", "lgCMatrix", "ngCMatrix")) {
    part <- .Call(C_gbt_take_sparse, x@p, x@i, x@Dim[1L], rows)
    if (!is.null(part)) {
      if (methods::.hasSlot(x, "x")) x@x <- .Call(C_gbt_take, x@x, part$at)
      x@p <- part$p
      x@i <- part$i
      x@Dim[1L] <- length(rows)
      if (!is.null(x@Dimnames[[1L]])) x@Dimnames[[1L]] <- x@Dimnames[[1L]][rows]
      x@factors <- list()
      return(x)
    }
  }
  check_sparse(x, rows = TRUE)
  x[rows, , drop = FALSE]
}

# A share of the rows, chosen by a hash of (seed, row): the same rows for the same seed on any machine, and R's
# generator is not touched. With classes (numbers from 0) each class gives its share. With ranks (R/base_ranks.R) here
# and below n is the number of this rank's rows, and all arguments by row are theirs, as is the result, but the share is
# one of the rows of all ranks. list(held = , kept = ): numbers of rows, ascending.
held_out_rows <- function(n, share, seed, class = NULL) {
  all <- sum_of_ranks(n)
  if (all < 2) stop_single_row(share)
  if (is.null(ranks_here())) return(.Call(C_gbt_hold_out, n, share, seed, class))
  check_drawn_rows(all, "valid", "give each rank its rows to judge by: list(x = , y = )")
  held_and_kept(held_by_draws(.Call(C_gbt_row_draws, n, seed, rows_before(n)), class, share))
}

held_and_kept <- function(held) list(held = which(held), kept = which(!held))

# A draw numbers the rows of all ranks. parameter: what asks for it; advice: how to do without a draw.
check_drawn_rows <- function(n, parameter, advice) {
  if (n <= .Machine$integer.max) return(invisible())
  stop_unsupported(sprintf("rows are drawn from at most 2,147,483,647, and the ranks have %s; %s", with_commas(n),
                           advice), parameter)
}

stop_single_row <- function(share) {
  stop_argument(sprintf("`valid = %s` holds rows out, but there is only one row", format(share)), "valid")
}

# As choose_held_out(), of the rows that have a weight. Others are not held out.
hold_out_share <- function(source, response, n, share, seed) {
  weigh <- mask_of_weights(check_weight(source$weights, n, "weights"))
  if (is.null(weigh)) return(choose_held_out(source, response, n, share, seed))
  at <- rows_of_mask(weigh, TRUE)
  group <- subset_rows(source$group, at)
  own <- list(time = subset_rows(source$time, at), group = if (!is.null(group)) number_groups(group))
  response$label <- subset_rows(response$label, at)
  held_and_kept(replace(logical(n), at[choose_held_out(own, response, length(at), share, seed)$held], TRUE))
}

# The rows that `valid` as a share holds out: the last in time, whole groups, or rows. As held_out_rows().
choose_held_out <- function(source, response, n, share, seed) {
  if (!is.null(source$time)) return(latest_rows(source$time, share))
  if (!is.null(source$group)) return(held_out_groups(source$group, share, seed))
  held_out_rows(n, share, seed, if (!is.null(response$classes)) response$label)
}

# The rows of the last times, about a share of them: rows of one time stay together. time: doubles.
latest_rows <- function(time, share) {
  n <- sum_of_ranks(length(time))
  if (n < 2) stop_single_row(share)
  first <- n + 1 - min(max(round(share * n), 1), n - 1) # of those held out, in order of time
  from <- kth_smallest(time, first)
  if (from == range_of_ranks(time)[1L]) from <- range_of_ranks(c(Inf, time[time > from]))[1L]
  if (from == Inf) {
    stop_argument(sprintf("`valid = %s` holds out the rows with the latest `time`, but all rows have the same `time`",
                          format(share)), "valid")
  }
  held_and_kept(time >= from)
}

# The k-th smallest of the numbers of all rows.
kth_smallest <- function(v, k) if (is.null(ranks_here())) sort(v, partial = k)[k] else kth_of_ranks(v, k)

# The rows of a share of the groups. group: numbers from 1.
held_out_groups <- function(group, share, seed) {
  n <- count_groups(group)
  if (n < 2) {
    stop_argument(sprintf("`valid = %s` holds whole groups out, but there is only one `group`", format(share)), "valid")
  }
  held_and_kept(replace(logical(n), .Call(C_gbt_hold_out, n, share, seed, NULL)$held, TRUE)[group])
}

# Rows held out become a validation set with the labels as they were given. valid: see read_valid().
split_source <- function(source, response, valid, seed) {
  n <- length(response$label)
  check_weight(source$weights, n, "weights") # all of them, before rows are taken
  check_offset(drop_frame(source$offset), n, response$n_outputs)
  rows <- if (!is.null(valid$held)) list(held = which(valid$held), kept = which(!valid$held)) else
    hold_out_share(source, response, n, valid$share, seed)
  part <- function(rows) {
    out <- source
    for (name in c("x", "y", "weights", "offset", "time", "group", "position")) {
      out[[name]] <- subset_rows(drop_frame(source[[name]]), rows)
    }
    if (!is.null(out$group)) out$group <- number_groups(out$group)
    out
  }
  aside <- part(rows$held)
  list(train = part(rows$kept), label = subset_rows(response$label, rows$kept),
       valid = list(x = aside$x, y = aside$y, weight = aside$weights, offset = aside$offset, group = aside$group))
}

is_share <- function(valid) is.numeric(valid) && length(valid) == 1L && !is.object(valid)

# Rows of the training data: logical values, or numbers.
is_rows <- function(valid) {
  (is.logical(valid) || is.numeric(valid)) && !is.object(valid) && length(dim(valid)) < 2L && !is_share(valid)
}

# These rows as logical values, TRUE for those that are held out.
held_rows <- function(valid, n) {
  if (is.logical(valid)) {
    check_logical_rows(valid, n, "valid", "logical value")
    held <- as.vector(valid)
  } else {
    wrong <- which(is.na(valid) | valid < 1 | valid > n | valid != floor(valid) | duplicated(valid))
    if (length(wrong)) {
      stop_argument(sprintf("`valid` must be different numbers of rows from 1 to %.0f, and number %.0f of them is %s%s",
                            n, wrong[1L], format(valid[wrong[1L]]),
                            if (anyDuplicated(valid) == wrong[1L]) " once more" else ""), "valid")
    }
    held <- replace(logical(n), valid, TRUE)
  }
  if (!any_rank(any(held))) stop_argument("`valid` holds no row out; leave it out, or name some rows", "valid")
  if (!any_rank(!all(held))) stop_argument("`valid` holds all rows out, so that none are left to train on", "valid")
  held
}
