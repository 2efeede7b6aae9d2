# Several R processes that train one model: ranks (docs/ranks.md). Each has a share of the rows, in the order of the
# ranks. R exchanges values that need all rows, such as the levels of a response, through gather_ranks() and
# numbers_of_ranks(). All ranks must call these functions, and those that use them, in the same order; else the training
# fails on all of them.

# The value of code, evaluated with these ranks (from gbt_ranks()); NULL for none. A failure or Ctrl-C on one rank
# becomes that of all. Only the first rank shows messages of gbt's, and warnings; those that it did not have itself come
# at the end, with the number of the rank. Within a training with ranks the code belongs to that training. who: the
# function that the user called, which must be the same on all ranks.
with_ranks <- function(ranks, code, who) {
  if (is.null(ranks) || !is.null(package_state$ranks)) return(code)
  use_ranks(ranks)
  on.exit(use_no_ranks())
  all_or_none({
    check_same_on_ranks(c(paste0(who, "()"), sprintf("share = %s", ranks$share)), "what they call",
                        "; all ranks must run the same script, with the same `share` of gbt_ranks()")
    with_warnings_of_ranks(ranks, code)
  })
}

# package_state$ranks_used counts the times that this process has met others.
use_ranks <- function(ranks) {
  package_state$ranks_used <- given_or(package_state$ranks_used, 0) + 1
  package_state$ranks <- ranks
}

use_no_ranks <- function() {
  .Call(C_gbt_ranks_use, NULL)
  package_state$ranks <- NULL
}

# The value of code, which calls with_ranks() once the arguments are read. Where it fails before, the other ranks, which
# may be waiting in with_ranks(), get the error as well. frame: of the function that the user called.
told_to_ranks <- function(code, frame = parent.frame()) {
  if (!is.null(package_state$ranks)) return(code)
  used <- package_state$ranks_used
  failure <- NULL
  done <- FALSE
  on.exit(if (!done && identical(package_state$ranks_used, used)) tell_ranks(ranks_of_frame(frame), failure))
  value <- withCallingHandlers(code, error = function(e) failure <<- e, interrupt = function(e) failure <<- NULL)
  done <- TRUE
  value
}

# `ranks` of the call with this frame, NULL where there is none, or where it fails as well.
ranks_of_frame <- function(frame) {
  given <- function() {
    if (exists("ranks", frame, inherits = FALSE)) return(get("ranks", frame, inherits = FALSE))
    at <- match("ranks", eval(quote(...names()), frame))
    if (!is.na(at)) eval(call("...elt", at), frame)
  }
  try_else(given(), function(problem) NULL)
}

tell_ranks <- function(ranks, failure) {
  if (!inherits(ranks, "gbt_ranks") || inherits(ranks, "gbt_cluster_ranks")) return(invisible())
  use_ranks(ranks)
  on.exit(use_no_ranks())
  try_else({
    begin_ranks()
    leave_ranks(failure)
  }, function(problem) NULL) # these ranks cannot be reached
}

# The value of code, of whose warnings and messages of gbt's the first rank shows each once, for all ranks.
with_warnings_of_ranks <- function(ranks, code) {
  told <- list(kind = character(0), text = character(0))
  keep <- function(w) {
    told$kind <<- c(told$kind, w$kind)
    told$text <<- c(told$text, conditionMessage(w))
    if (ranks$rank > 0L) invokeRestart("muffleWarning")
  }
  silence <- function(m) if (ranks$rank > 0L) invokeRestart("muffleMessage")
  value <- withCallingHandlers(code, gbt_warning = keep, gbt_message = silence)
  told <- gather_ranks(told)
  if (ranks$rank == 0L) warn_of_ranks(told)
  value
}

# The value of code, which succeeds on all ranks of the training that runs or on none: a failure on one rank becomes
# that of all. Code that catches it does so on all ranks, which then go on together.
all_or_none <- function(code) {
  if (is.null(ranks_here())) return(code)
  failure <- NULL
  done <- FALSE
  begin_ranks()
  on.exit(if (!done) {
    leave_ranks(failure)
    begin_ranks()
  })
  value <- withCallingHandlers(code, error = function(e) failure <<- e, interrupt = function(e) failure <<- NULL)
  .Call(C_gbt_ranks_agree)
  done <- TRUE
  value
}

# From here on calls of the engine work with the ranks, whatever was before.
begin_ranks <- function() {
  .Call(C_gbt_ranks_use, ranks_here()$handle)
  package_state$ranks_left <- FALSE
}

# The warnings of other ranks that the first one did not have. told: by rank, list(kind = , text = ) of all warnings.
warn_of_ranks <- function(told) {
  seen <- told[[1L]]$text
  for (r in seq_along(told)[-1L]) {
    its <- told[[r]]
    for (i in which(!duplicated(its$text) & !its$text %in% seen)) {
      warn_gbt(its$kind[i], sprintf("rank %d of %d: %s", r - 1L, length(told), its$text[i]))
    }
    seen <- c(seen, its$text)
  }
}

# This rank has failed and takes part in nothing any more. The others learn why, unless they met over the failure.
# failure: an error condition; NULL for Ctrl-C. What follows may keep the model so far, as long as it needs no other
# rank.
leave_ranks <- function(failure) {
  if (is.null(ranks_here()) || package_state$ranks_left) return(invisible())
  package_state$ranks_left <- TRUE
  if (.Call(C_gbt_ranks_know)) return(invisible())
  if (is.null(failure)) return(.Call(C_gbt_ranks_fail, "cancelled", "interrupted", "", ""))
  subject <- if (is.list(failure)) failure$subject
  .Call(C_gbt_ranks_fail, sub("^gbt_error_", "", class(failure)[[1L]]), enc2utf8(conditionMessage(failure)),
        if (is_text(subject)) enc2utf8(subject) else "", classes_text(failure))
}

# The ranks of the training that runs, or NULL.
ranks_here <- function() package_state$ranks

# The number of this rank, from 0, and the number of ranks; NULL without ranks.
share_here <- function() {
  ranks <- ranks_here()
  if (!is.null(ranks)) c(ranks$rank, ranks$size)
}

# Whether all ranks are given the same rows, of which each takes its part: gbt_ranks(share = "split").
splits_rows <- function() identical(ranks_here()$share, "split")

# The numbers of this rank's rows among n rows that all ranks have. group: see cuts_of_rows().
own_run <- function(n, group = NULL) {
  share <- share_here()
  ends <- cuts_of_rows(n, share[2L], group)[share[1L] + 1:2]
  ends[1L] + seq_len(ends[2L] - ends[1L])
}

# Where n rows are cut into consecutive parts of about the same size: 0, the last row of each part but the last, n.
# group: a value for each row; rows that follow each other with the same value stay together. NULL: none.
cuts_of_rows <- function(n, size, group = NULL) {
  ends <- floor(n * (0:size) / size)
  if (!is.atomic(group) || length(group) != n || n < 2) return(ends)
  group <- unclass(group)
  follows <- c(group[-1L] == group[-n], FALSE) # whether the next row belongs to the same group
  for (i in seq_along(ends)[-1L]) {
    at <- max(ends[i], ends[i - 1L])
    while (at > 0 && isTRUE(follows[at])) at <- at + 1
    ends[i] <- at
  }
  ends
}

# Whether this process is the one that prints and writes files.
is_first_rank <- function() is.null(package_state$ranks) || package_state$ranks$rank == 0L

# These fields (a named list of vectors) of all ranks: a list of such lists, in the order of the ranks.
gather_ranks <- function(fields) {
  if (is.null(ranks_here())) return(list(fields))
  lapply(bytes_of_ranks(values_bytes(fields)), values_of_bytes, names(fields), "ranks",
         "use the same version of gbt on all of them")
}

# The raw vectors of all ranks, a list in the order of the ranks.
bytes_of_ranks <- function(mine) {
  lengths <- numbers_of_ranks(length(mine))
  all <- .Call(C_gbt_ranks_bytes, mine, lengths)
  ends <- cumsum(lengths)
  lapply(seq_along(ends), function(r) all[seq(ends[[r]] - lengths[[r]] + 1, length.out = lengths[[r]])])
}

# A number of each rank, in the order of the ranks.
numbers_of_ranks <- function(x) if (is.null(ranks_here())) x else .Call(C_gbt_ranks_numbers, as.double(x))

# The sum over all ranks of a number.
sum_of_ranks <- function(x) sum(numbers_of_ranks(x))

# The sums over all ranks of whole numbers, each by its place in a vector of the same length.
counts_of_ranks <- function(v) if (is.null(ranks_here())) as.double(v) else .Call(C_gbt_ranks_sums, as.double(v))

# The same of numbers that may be fractions.
sums_of_ranks <- function(v) Reduce(`+`, lapply(gather_ranks(list(v = as.double(v))), `[[`, "v"))

# As rows_of_ranks(), of numbers and with fewer copies: a vector, or a matrix with a row for each.
numbers_of_rows <- function(x) {
  if (is.null(ranks_here())) return(x)
  n <- numbers_of_ranks(NROW(x))
  if (!is.matrix(x)) return(.Call(C_gbt_ranks_bytes, as.double(x), n))
  vapply(seq_len(ncol(x)), function(j) .Call(C_gbt_ranks_bytes, as.double(x[, j]), n), numeric(sum(n)))
}

value_of_first_rank <- function(x) numbers_of_ranks(x)[[1L]]

# These fields (see gather_ranks()) of the first rank, which decides where a clock or a library of the machine has a
# part in them.
of_first_rank <- function(fields) gather_ranks(fields)[[1L]]

# The values of a vector with one for each row: those of all rows, in the order of the ranks. NULL stays NULL.
rows_of_ranks <- function(v) {
  if (is.null(ranks_here()) || is.null(v)) return(v)
  unlist(lapply(gather_ranks(list(v = as.vector(v))), `[[`, "v"))
}

# The number of rows of the ranks before this one, which has n.
rows_before <- function(n) if (is.null(ranks_here())) 0 else sum(numbers_of_ranks(n)[seq_len(ranks_here()$rank)])

# Of values of all rows those of this rank, which has n rows.
own_rows <- function(v, n) if (is.null(ranks_here())) v else v[rows_before(n) + seq_len(n)]

# The different values that x has on any rank: texts or numbers.
all_ranks_have <- function(x) {
  if (is.null(ranks_here())) return(x)
  unique(unlist(lapply(gather_ranks(list(x = x)), `[[`, "x")))
}

# Fails on all ranks unless x, a vector, is the same on all of them. what: its name in the message; advice: how the
# message ends.
check_same_on_ranks <- function(x, what, advice) {
  if (is.null(ranks_here())) return(invisible())
  all <- lapply(gather_ranks(list(x = as.character(x))), `[[`, "x")
  other <- which(!vapply(all, identical, NA, all[[1L]]))[1L]
  if (is.na(other)) return(invisible())
  stop_data(sprintf("the ranks differ in %s: %s%s", what, difference_of_ranks(all[[1L]], all[[other]], other - 1L),
                    advice))
}

# In words, the texts that only rank 0 or only another rank has.
difference_of_ranks <- function(first, its, rank) {
  said <- function(texts) enumerate(texts, quote = "\"")
  only <- list(setdiff(first, its), setdiff(its, first))
  if (all(lengths(only) == 0L)) only <- list(first, its) # in another order, or some of them several times
  if (length(only[[2L]]) == 0L) return(sprintf("%s on rank 0, not on rank %d", said(only[[1L]]), rank))
  if (length(only[[1L]]) == 0L) return(sprintf("%s on rank %d, not on rank 0", said(only[[2L]]), rank))
  sprintf("%s on rank 0, %s on rank %d", said(only[[1L]]), said(only[[2L]]), rank)
}

# The ranks that a captured call names, or NULL.
ranks_of <- function(captured) {
  ranks <- captured$args[["ranks"]]
  if (is.null(ranks) || ranks$missing) return(NULL)
  check_ranks(ranks$value())
}

check_ranks <- function(ranks) {
  if (inherits(ranks, "gbt_cluster_ranks")) {
    given <- if (inherits(ranks, "gbt_spark_ranks")) "gbt_spark(sc)" else "gbt_ranks(cluster)"
    stop_unsupported(sprintf(paste("`ranks = %s` is for gbt_train() only; start a script with other functions by",
                                   "mpirun, or let workers train the folds of gbt_cv() and gbt_tune() by",
                                   "future::plan()"), given), "ranks")
  }
  whole <- function(x) is.integer(x) && length(x) == 1L && !is.na(x)
  good <- inherits(ranks, "gbt_ranks") && is.list(ranks) && whole(ranks$rank) && whole(ranks$size)
  if (is.null(ranks) || good) return(ranks)
  stop_argument(sprintf("`ranks` must come from gbt_ranks(), not %s", quote_value(ranks)), "ranks")
}

# Whether the flag is TRUE on any rank.
any_rank <- function(flag) sum_of_ranks(flag) > 0

# The smallest and largest number of v on all ranks; v may be empty on some of them, and has no NA.
range_of_ranks <- function(v) {
  if (is.null(ranks_here())) return(c(min(v), max(v)))
  own <- if (length(v)) c(min(v), max(v)) else double(0)
  range(unlist(lapply(gather_ranks(list(range = own)), `[[`, "range")))
}

# In words, a group that is on several ranks; NULL for none. by_rank: the different groups of each; show: a class, as
# whose value the message has the group, or NULL.
divided_group <- function(by_rank, show = NULL) {
  all <- unlist(by_rank)
  first <- anyDuplicated(all)
  if (first == 0L) return(NULL)
  value <- if (is.integer(all)) as.double(all[first]) else all[first]
  has <- which(vapply(by_rank, function(its) value %in% its, NA)) - 1L
  ranks <- paste(c(enumerate(has[-length(has)], quote = ""), has[length(has)]), collapse = " and ")
  if (!is.null(show)) value <- format(structure(value, class = show))
  sprintf("the rows of query %s (`group`) are on ranks %s", quote_value(value), ranks)
}

# Objectives and metrics of queries look at all rows of a query together.
check_undivided <- function(group, set = NULL) {
  divided <- attr(group, "divided")
  if (is.null(divided)) return(invisible())
  stop_data(sprintf("%s%s; give all rows of a query to one rank",
                    if (is.null(set)) "" else sprintf("validation set \"%s\": ", set), divided), "group")
}
