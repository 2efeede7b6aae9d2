# Draws and order statistics of the rows of all ranks (R/base_ranks.R), in memory that grows with the rows of a rank
# only. They give what one process finds by sorting: C_gbt_hold_out, order() and sort(). draw: of this rank's rows,
# whole numbers from 0 to 2^31 - 1, different on all ranks; class: of the same rows, numbers from 0, or NULL.

# The k-th smallest of the numbers that all ranks have. Each step looks at the median of the ranks' medians and leaves
# at most three quarters of the numbers.
kth_of_ranks <- function(v, k) {
  repeat {
    middle <- if (length(v)) sort(v, partial = (length(v) + 1L) %/% 2L)[(length(v) + 1L) %/% 2L]
    all <- gather_ranks(list(middle = as.double(middle), n = length(v)))
    n <- unlist(lapply(all, `[[`, "n"))
    middle <- unlist(lapply(all, `[[`, "middle"))
    at <- order(middle)
    pivot <- middle[at][which(2 * cumsum(as.double(n[n > 0L])[at]) >= sum(n))[1L]]
    count <- counts_of_ranks(c(sum(v < pivot), sum(v == pivot)))
    if (k > count[1L] && k <= count[1L] + count[2L]) return(pivot)
    above <- k > count[1L]
    v <- if (above) v[v > pivot] else v[v < pivot]
    if (above) k <- k - sum(count)
  }
}

# The rows with the smallest draws of their class, a share of each: logical values. The last draw that is held out is
# found by its digits, the first ones first.
held_by_draws <- function(draw, class, share) {
  class <- class_places(draw, class)
  count <- counts_of_ranks(tabulate(class$at, class$n))
  left <- pmin(round(share * count), count - 1)
  some <- left > 0
  last <- numeric(class$n)
  for (shift in c(2^23, 2^15, 2^7, 1)) {
    base <- if (shift == 1) 2^7 else 2^8
    digits <- draw %/% shift
    among <- which(some[class$at] & digits %/% base == last[class$at])
    cell <- (class$at[among] - 1) * base + digits[among] %% base + 1
    counts <- matrix(counts_of_ranks(tabulate(cell, class$n * base)), base)
    up_to <- apply(counts, 2L, cumsum)
    digit <- colSums(up_to < rep(left, each = base)) # of the last one, where there are some
    left <- left - (up_to - counts)[cbind(digit + 1, seq_len(class$n))]
    last <- last * base + digit
  }
  held <- draw <= ifelse(some, last, -1)[class$at]
  if (any_rank(any(held))) held else draw == kth_of_ranks(draw, 1)
}

# The places of the rows among all of them in the order of class and draw, from 1. at_once: about how many rows of all
# ranks are compared at a time.
places_by_draw <- function(draw, class, at_once = 2^20) {
  class <- class_places(draw, class)
  count <- counts_of_ranks(tabulate(class$at, class$n))
  next_place <- cumsum(count) - count # of each class
  parts <- ceiling(sum(count) / at_once)
  part <- split(seq_along(draw), factor(draw %/% ceiling(2^31 / parts), seq_len(parts) - 1))
  place <- numeric(length(draw))
  for (mine in part) {
    own <- class$at[mine]
    all <- rows_of_ranks(own)
    at <- order(all, rows_of_ranks(draw[mine]))
    counts <- tabulate(all, class$n)
    before <- cumsum(counts) - counts # of the classes, in this part
    among <- numeric(length(all))
    among[at] <- seq_along(at)
    place[mine] <- (next_place - before)[own] + own_rows(among, length(mine))
    next_place <- next_place + counts
  }
  place
}

# The classes from 1, and how many there are on all ranks.
class_places <- function(draw, class) {
  if (is.null(class)) return(list(at = rep(1L, length(draw)), n = 1L))
  list(at = as.integer(class) + 1L, n = as.integer(max(numbers_of_ranks(max(-1, class)))) + 1L)
}
