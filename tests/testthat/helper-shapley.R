# Contributions by their definition: every set of columns. value(known): of a row, with the columns `known`.
naive_shapley <- function(columns, value) {
  p <- length(columns)
  sets <- lapply(0:(2^p - 1), function(s) bitwAnd(s, 2^(seq_len(p) - 1)) > 0)
  v <- vapply(sets, value, 0)
  at <- function(known) v[1 + sum(2^(which(known) - 1))]
  with <- function(known, i, to) replace(known, i, to)
  single <- vapply(seq_len(p), function(i) {
    sum(vapply(sets, function(known) {
      if (known[i]) return(0)
      factorial(sum(known)) * factorial(p - sum(known) - 1) / factorial(p) * (at(with(known, i, TRUE)) - at(known))
    }, 0))
  }, 0)
  pairs <- matrix(0, p, p)
  for (i in seq_len(p)) for (j in seq_len(p)[-i]) {
    pairs[i, j] <- sum(vapply(sets, function(known) {
      if (known[i] || known[j]) return(0)
      both <- at(with(known, c(i, j), TRUE)) - at(with(known, i, TRUE)) - at(with(known, j, TRUE)) + at(known)
      factorial(sum(known)) * factorial(p - sum(known) - 2) / factorial(p - 1) * both / 2
    }, 0))
  }
  diag(pairs) <- single - rowSums(pairs)
  list(base = v[1], single = single, pairs = pairs)
}

# Contributions and interactions of rows against a background, by predictions of rows that are mixed of both.
expect_by_background <- function(model, rows, background) {
  columns <- model$feature_names
  p <- seq_along(columns)
  got <- predict(model, rows, type = "contrib", background = background, threads = 2)
  pairs <- predict(model, rows, type = "interaction", background = background, threads = 2)
  expect_equal(rowSums(got), predict(model, rows, type = "link", threads = 1), tolerance = 1e-12)
  for (r in seq_len(nrow(rows))) {
    want <- naive_shapley(columns, function(known) {
      mixed <- background
      mixed[columns[known]] <- rows[r, columns[known]]
      mean(predict(model, mixed, type = "link", threads = 1))
    })
    expect_equal(unname(got[r, ]), c(want$single, want$base), tolerance = 1e-10)
    expect_equal(unname(pairs[r, p, p]), want$pairs, tolerance = 1e-10)
  }
  expect_identical(predict(model, rows, type = "contrib", background = background, threads = 1), got)
  expect_identical(predict(model, rows[2, ], type = "contrib", background = background), got[2, , drop = FALSE])
}
