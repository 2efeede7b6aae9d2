# The arithmetic of the page of defaults: losses of contestants side by side, and tests of one against another.

# The gap of a loss to the best one is divided by the best one, or by a hundredth of the loss of knowing nothing where
# that is more: on sets that are learnt perfectly 0.0002 against 0.0001 is no gap of 100 %.
floor_of <- function(null_loss) null_loss / 100

# A matrix of a field: a row for each set and split that all of `who` have, a column for each of them. Attribute `set`
# has the sets of the rows.
wide <- function(runs, who, field) {
  keys <- lapply(who, function(w) with(runs[runs$who == w, ], paste(set, split)))
  common <- Reduce(intersect, keys)
  m <- vapply(seq_along(who), function(k) runs[[field]][runs$who == who[k]][match(common, keys[[k]])],
              numeric(length(common)))
  m <- matrix(m, length(common), dimnames = list(common, who))
  attr(m, "set") <- sub(" .*", "", common)
  m
}

mean_by <- function(m, set) rowsum(m, set) / as.vector(table(set))

# Figures of contestants, a row for each set (means over the splits that all of them have), a column for each of them:
# `loss`; `gap`, mean over splits of the relative gap to the best of the split; `behind`, the relative gap of the mean
# losses, where the luck of a split weighs less; `share`, the gap in shares of the loss of knowing nothing; seconds.
figures_of <- function(runs, who) {
  loss <- wide(runs, who, "loss")
  set <- attr(loss, "set")
  null <- wide(runs, who, "null_loss")[, 1L]
  best <- apply(loss, 1L, min)
  by_set <- function(m) mean_by(m, set)
  means <- by_set(loss)
  lowest <- apply(means, 1L, min)
  nothing <- by_set(matrix(null, ncol = 1L))[, 1L]
  list(loss = means, gap = by_set((loss - best) / pmax(best, floor_of(null))),
       behind = (means - lowest) / pmax(lowest, floor_of(nothing)), share = by_set((loss - best) / null),
       seconds = by_set(wide(runs, who, "seconds")), cpu = by_set(wide(runs, who, "cpu_s")))
}
ranks_of <- function(loss) {
  t(apply(loss, 1L, function(row) rank(signif(row, 7L), ties.method = "min")))
}

# By how much the mean loss of each of `who` over the splits that all have exceeds that of the best peer of the set, in
# shares as above: below 0 where it is ahead of all peers. A row for each set, a column for each of `who`.
gaps_to_peers <- function(runs, who, peers) {
  all <- unique(c(who, peers))
  loss <- wide(runs, all, "loss")
  set <- attr(loss, "set")
  if (!nrow(loss)) return(matrix(0, 0L, length(who), dimnames = list(NULL, who)))
  means <- mean_by(loss, set)
  nothing <- mean_by(matrix(wide(runs, all, "null_loss")[, 1L], ncol = 1L), set)[, 1L]
  best <- apply(means[, peers, drop = FALSE], 1L, min)
  (means[, who, drop = FALSE] - best) / pmax(best, floor_of(nothing))
}
gap_to_peers <- function(runs, who, peers) gaps_to_peers(runs, who, peers)[, 1L]

# Relative change of the loss from `b` to `a` by set, mean over splits: the difference divided by the mean of both,
# which a single bad set cannot make larger than 2. Negative is better.
changes <- function(runs, a, b) {
  loss <- wide(runs, c(a, b), "loss")
  if (!nrow(loss)) return(numeric())
  null <- wide(runs, c(a, b), "null_loss")[, 1L]
  change <- (loss[, 1L] - loss[, 2L]) / pmax(rowMeans(loss), floor_of(null))
  mean_by(matrix(change, ncol = 1L), attr(loss, "set"))[, 1L]
}

# Signs for sets: all of them where they are few, else drawn ones, from a fixed seed.
sign_flips <- function(n, draws = 20000L) {
  if (n <= 13L) return(as.matrix(expand.grid(rep(list(c(-1, 1)), n))))
  set.seed(1, kind = "Mersenne-Twister", normal.kind = "Inversion", sample.kind = "Rejection")
  matrix(sample(c(-1, 1), draws * n, TRUE), draws)
}

# Sign-flip tests of changes, by sets: if a configuration were no better and no worse, the change of each set could as
# well have the other sign. `p` is the share of flips whose sum is as far from 0; `p_family` is that of flips where any
# of the configurations is as far out, so it holds for the one that was picked because it looked best. `d` is a list of
# changes by name of the set.
flip_tests <- function(d) {
  sets <- unique(unlist(lapply(d, names)))
  full <- vapply(d, function(v) ifelse(sets %in% names(v), v[sets], 0), numeric(length(sets)))
  full <- matrix(full, length(sets))
  scale <- sqrt(colSums(full^2))
  scale[scale == 0] <- 1
  flips <- sign_flips(length(sets))
  seen <- abs(colSums(full)) / scale
  drawn <- abs(flips %*% full) / rep(scale, each = nrow(flips))
  most <- do.call(pmax, as.data.frame(drawn))
  extra <- length(sets) > 13L # the flip that was seen counts among drawn ones
  share <- function(far, k) (sum(far >= seen[k] - 1e-12) + extra) / (nrow(flips) + extra)
  list(p = vapply(seq_along(d), function(k) share(drawn[, k], k), 0),
       p_family = vapply(seq_along(d), function(k) share(most, k), 0))
}
