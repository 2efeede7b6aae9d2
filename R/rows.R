# Parts of data: some of the rows of anything that can be trained on, and the rows that are held out for validation.

subset_rows <- function(x, rows) {
  if (is.null(x)) return(NULL)
  if (is.data.frame(x)) {
    columns <- lapply(seq_along(x), function(j) subset_rows(.subset2(x, j), rows))
    names(columns) <- names(x)
    return(list_frame(columns, length(rows)))
  }
  if (isS4(x) && !requireNamespace("Matrix", quietly = TRUE)) {
    stop_data(sprintf("a matrix of class \"%s\" needs the package Matrix; please install it", class(x)[1L]))
  }
  out <- if (length(dim(x)) != 2L) {
    x[rows]
  } else if (isS4(x)) {
    x[rows, , drop = FALSE]
  } else {
    .subset(x, rows, TRUE, drop = FALSE) # a class of its own may take rows in ways of its own
  }
  if (inherits(x, "integer64")) class(out) <- class(x) # without bit64 loaded `[` forgets it, and the bits mean nothing
  out
}

# A share of the rows, chosen by a hash of (seed, row): the same rows for the same seed on any machine, and R's
# generator is not touched. With classes each class gives its share. Returns the rows held out, ascending.
held_out_rows <- function(n, share, seed, class = NULL) {
  if (n < 2) stop_argument(sprintf("`valid = %s` holds rows out, but there is only one row", format(share)), "valid")
  rank <- row_hash(n, seed)
  if (is.null(class)) class <- integer(n)
  held <- unlist(lapply(split(seq_len(n), class), function(rows) {
    k <- min(round(share * length(rows)), length(rows) - 1)
    rows[order(rank[rows], method = "radix")[seq_len(k)]]
  }), use.names = FALSE)
  if (length(held) == 0L) held <- which.min(rank)
  sort(held)
}

# 31 bits per row. Rows get different numbers: every step is a bijection of [0, 2^31).
row_hash <- function(n, seed) {
  key <- mix31(as.integer(seed %% 2147483648))
  key <- mix31(as.integer((key + seed %/% 2147483648) %% 2147483648))
  mix31(bitwXor(mix31(as.integer((seq_len(n) + as.double(key)) %% 2147483648)), key))
}

# Multiply and xor-shift, twice.
mix31 <- function(x) {
  x <- bitwXor(x, x %/% 65536L)
  x <- multiply31(x, 0x21f0aaad)
  x <- bitwXor(x, x %/% 32768L)
  x <- multiply31(x, 0x735a2d97)
  bitwXor(x, x %/% 32768L)
}

# x * k modulo 2^31, exact in doubles: no product below reaches 2^53.
multiply31 <- function(x, k) {
  high <- x %/% 65536L
  low <- x %% 65536L
  as.integer(((high * k) %% 32768 * 65536 + low * k) %% 2147483648)
}
