# Drift: gbt_monitor(). Helpers of drawings are in helper-drawing.R.

# The index as books have it, by tables. Numbers are identified by how many borders are below them.
plain_psi <- function(ref, new, bins) {
  if (is.numeric(ref)) {
    s <- sort(ref)
    at <- unique(s[ceiling(seq_len(bins - 1) / bins * length(s))])
    rows <- vapply(at, function(v) sum(s == v), 0)
    often <- at[rows > length(s) / bins & (rows > 1 | length(s) == 1)]
    upper <- unique(c(at[at < max(s, -Inf)], often))
    place <- function(x) vapply(x, function(v) sum(v > upper) + sum(v >= often), 0)
    ref <- place(ref)
    new <- place(new)
  } else {
    seen <- unique(as.character(ref))
    new <- ifelse(as.character(new) %in% c(seen, NA), as.character(new), "unseen")
    ref <- as.character(ref)
  }
  all <- unique(c(as.character(ref), as.character(new)))
  e <- vapply(all, function(l) sum(as.character(ref) %in% l), 0)
  a <- vapply(all, function(l) sum(as.character(new) %in% l), 0)
  e <- pmax(e, 0.5) / sum(pmax(e, 0.5))
  a <- pmax(a, 0.5) / sum(pmax(a, 0.5))
  sum((a - e) * log(a / e))
}

drifting <- function(n, shift, seed) {
  withr::with_seed(seed, {
    x <- list2DF(list(a = round(rnorm(n) + shift, 1), b = sample(c(1:3, NA), n, TRUE),
                      g = sample(letters[1:4], n, TRUE)))
    if (shift > 0) x$g[sample(n, n %/% 3)] <- "new"
    x$f <- factor(ifelse(runif(n) < 0.1, NA, x$g))
    x$l <- runif(n) < 0.3
    x$y <- ifelse(is.na(x$b), 0, x$b) + x$a
    x
  })
}
m <- gbt_train(y ~ ., drifting(300, 0, 1), nrounds = 5, threads = 1)

test_that("the index is that of cut() and table(), for numbers, levels and scores of every size", {
  for (n in c(1:5, 7:9, 31:33, 300)) for (bins in c(2, 3, 10)) {
    old <- drifting(n, 0, n)
    new <- drifting(max(1, n - 1), 0.5, n + 1)
    d <- gbt_monitor(m, new, old, bins = bins, threads = 1)
    expect_setequal(d$name, c("score", "a", "b", "g", "f", "l"))
    expect_identical(d$kind, rep(c("score", "column"), c(1, 5)))
    want <- vapply(c("a", "b", "g", "f", "l"), function(name) plain_psi(old[[name]], new[[name]], bins), 0)
    want <- c(score = plain_psi(predict(m, old, threads = 1), predict(m, new, threads = 1), bins), want)
    expect_equal(d$psi, unname(want[d$name]), tolerance = 1e-10)
    expect_equal(d$missing, unname(c(0, vapply(new[d$name[-1]], function(v) mean(is.na(v)), 0))))
    expect_equal(d$missing_reference, unname(c(0, vapply(old[d$name[-1]], function(v) mean(is.na(v)), 0))))
    unseen <- vapply(c("g", "f"), function(name) mean(!new[[name]] %in% c(as.character(old[[name]]), NA)), 0)
    expect_equal(d$unseen[match(c("g", "f"), d$name)], unname(unseen))
    sums <- vapply(attr(d, "bins"), function(b) c(sum(b$reference), sum(b$new)), c(0, 0))
    expect_true(all(sums[1, ] == n) && all(sums[2, ] == nrow(new)))
  }
})

test_that("a number that many rows have has a bin of its own", {
  bins <- function(ref, new, ...) {
    known <- gbt:::count_reference(ref, ...)
    n <- gbt:::count_bins(new, known)
    stats::setNames(n[seq_along(known$label)], known$label)
  }
  expect_identical(bins(rep(5, 50), c(5, 5, 4.999, 7, NA), 10, 20),
                   c("< 5" = 1L, "= 5" = 2L, "> 5" = 1L, "(missing)" = 1L))
  expect_identical(bins(5, c(5, 7), 2, 20), c("< 5" = 0L, "= 5" = 1L, "> 5" = 1L, "(missing)" = 0L))
  ones <- rep(c(0, 1), c(5, 95)) # the 95 % of an indicator
  expect_identical(bins(ones, rep(0:1, c(60, 40)), 10, 20), c("< 1" = 60L, "= 1" = 40L, "> 1" = 0L, "(missing)" = 0L))
  mixed <- c(-2, -1, rep(0, 96), 1, 2)
  expect_identical(bins(mixed, c(-5, 0, 3), 10, 20), c("< 0" = 1L, "= 0" = 1L, "> 0" = 1L, "(missing)" = 0L))
  expect_identical(names(bins(rep(as.Date("2024-02-03"), 9), NULL, 4, 20))[1:3],
                   c("< 2024-02-03", "= 2024-02-03", "> 2024-02-03"))
  for (odd in c(0, -0.1, 1, -1, 1.5, 2^-1074, -2^-1074, 2^-1022, .Machine$double.xmax, -1e300, Inf)) {
    below <- gbt:::double_below(odd)
    expect_true(below < odd)
    middle <- below / 2 + odd / 2
    expect_true(middle == below || middle == odd || !is.finite(middle)) # there is nothing between
    expect_identical(unname(bins(rep(odd, 3), c(odd, below, -Inf, Inf), 10, 20)),
                     c(2L, 1L, 1L, 0L) + c(0L, 1L, -1L, 0L) * (odd == Inf))
  }
  expect_identical(unname(bins(rep(-Inf, 3), c(-Inf, 1), 10, 20)), c(1L, 1L, 0L))
  x <- data.frame(a = rep(3, 60), b = 1:60)
  w <- gbt_train(x, x$b, nrounds = 2, threads = 1)
  new <- data.frame(a = rep(4, 60), b = 31:90)
  d <- gbt_monitor(w, new, x, threads = 1)
  expect_identical(as.character(d$drift[d$name == "a"]), "large")
  expect_identical(d$unseen[match(c("a", "b"), d$name)], c(1, 0.5))
  with <- gbt_monitor_reference(w, x, threads = 1)
  expect_identical(gbt_monitor(with, new, threads = 1), d)
  older <- with # whose reference was counted by an earlier build
  for (name in names(older$monitor$columns)) older$monitor$columns[[name]]["range"] <- list(NULL)
  expect_identical(gbt_monitor(older, new, threads = 1)$unseen[match("b", d$name)], 0)
})

test_that("the same rows do not drift, and chance alone does not either", {
  old <- drifting(300, 0, 1)
  same <- gbt_monitor(m, old[sample(300), ], old, threads = 1)
  expect_identical(same$psi, numeric(6))
  expect_identical(as.character(same$drift), rep("none", 6))
  # of 200 draws of the same distribution about 1 in 20 is above the noise
  above <- withr::with_seed(1, replicate(200, {
    v <- gbt:::count_reference(rnorm(80), 10, 20)
    e <- c(v$count, 0)
    a <- gbt:::count_bins(rnorm(60), v)
    gbt:::stability_index(e, a) > gbt:::stability_noise(e, a)
  }))
  expect_true(mean(above) > 0.005 && mean(above) < 0.12)
  shifted <- gbt_monitor(m, drifting(300, 2, 2), old, threads = 1)
  expect_identical(as.character(shifted$drift[shifted$name %in% c("score", "a", "g")]), rep("large", 3))
  expect_identical(shifted$psi[-1], sort(shifted$psi[-1], decreasing = TRUE))
  expect_identical(as.character(gbt:::drift_of(c(0, 0.1, 0.24, 0.25, 0.3), c(0, 0, 0.3, 0, 0))),
                   c("none", "some", "none", "large", "large"))
})

test_that("a reference in the model is saved and loaded with it, and says the same", {
  old <- drifting(100, 0, 3)
  new <- drifting(50, 1, 4)
  want <- gbt_monitor(m, new, old, threads = 1)
  with <- gbt_monitor_reference(m, old, threads = 1)
  expect_identical(gbt_monitor(with, new, threads = 1), want)
  file <- withr::local_tempfile()
  expect_silent(gbt_save(with, file))
  expect_identical(gbt_monitor(gbt_load(file), new, threads = 1), want)
  expect_identical(gbt_monitor(unserialize(serialize(with, NULL)), new, threads = 1), want)
  expect_identical(predict(with, new, threads = 1), predict(m, new, threads = 1))
  expect_lt(length(serialize(unclass(with)$monitor, NULL)), 6000)
})

test_that("classes, terms, times, sparse rows, offsets and rare levels", {
  k <- gbt_train(Species ~ ., iris, nrounds = 3, threads = 1)
  d <- gbt_monitor(k, iris[1:50, ], iris, threads = 1)
  expect_setequal(d$name[d$kind == "score"], paste0("score (", levels(iris$Species), ")"))
  expect_true(all(d$drift[d$kind == "score"] == "large"))
  t <- gbt_train(mpg ~ log(hp) + offset(wt), mtcars, nrounds = 3, threads = 1)
  d <- gbt_monitor(t, mtcars[1:10, ], mtcars, threads = 1)
  expect_setequal(d$name, c("score", "hp", "wt"))
  expect_true(all(is.na(d$gain)))
  o <- gbt_train(as.matrix(mtcars[2:4]), mtcars$mpg, offset = mtcars$wt, nrounds = 3, threads = 1)
  d <- gbt_monitor(o, as.matrix(mtcars[2:4]), as.matrix(mtcars[2:4]), offset = mtcars$wt, newoffset = mtcars$wt + 50,
                   threads = 1)
  expect_identical(d$psi > 1, c(TRUE, FALSE, FALSE, FALSE))
  times <- data.frame(day = as.Date("2024-01-01") + 1:60, at = as.POSIXct("2024-01-01", tz = "UTC") + 3600 * (1:60))
  w <- gbt_train(times, 1:60, nrounds = 3, threads = 1)
  d <- gbt_monitor(w, times[41:60, ], times[1:40, ], bins = 4, threads = 1)
  expect_identical(attr(d, "bins")$day$label[1], "<= 2024-01-11")
  expect_identical(attr(d, "bins")$day$new[4], 20)
  skip_if_not_installed("Matrix")
  x <- Matrix::Matrix(c(0, 0, 1, 2, 0, 3, 0, 0), 4, sparse = TRUE, dimnames = list(NULL, c("u", "v")))
  s <- gbt_train(x, 1:4, nrounds = 1, min_data_in_leaf = 1, threads = 1)
  dense <- gbt_monitor(s, as.matrix(x)[3:4, ], as.matrix(x), threads = 1)
  expect_identical(gbt_monitor(s, x[3:4, ], x, threads = 1), dense)
  many <- gbt:::count_reference(rep(c("r\u00e9", letters), c(9, 26:1)), 10, 5)
  expect_identical(many$label, c("a", "b", "c", "d", "e", "(other levels)", "(missing)"))
  expect_identical(gbt:::count_bins(c("a", "z", "A", NA, "z", iconv("r\u00e9", "UTF-8", "latin1")), many),
                   c(1L, 0L, 0L, 0L, 0L, 3L, 1L, 1L))
  codes <- data.frame(code = rep(c(5, 9, 100000), 20))
  w <- gbt_train(codes, rep(1:3, 20), cat_features = "code", nrounds = 1, threads = 1)
  d <- gbt_monitor(w, rbind(codes, data.frame(code = rep(7, 20))), codes, threads = 1)
  expect_identical(d$unseen, c(0, 0.25))
  expect_identical(attr(d, "bins")$code$label[1:3], c("100000", "5", "9"))
  nan <- gbt:::count_reference(factor(c("a", "NaN", "NaN", NA)), 10, 5) # a text like others
  expect_identical(nan$label, c("NaN", "a", "(missing)"))
  expect_identical(nan$count, c(2, 1, 1))
  none <- gbt:::count_reference(rep(NA_real_, 3), 10, 5)
  expect_identical(gbt:::count_bins(c(1, NA, 2), none), c(1L, 2L))
})

test_that("drift is printed and drawn", {
  d <- gbt_monitor(m, drifting(300, 1, 2), drifting(300, 0, 1), threads = 1)
  expect_output(print(d), "300 new rows against 300 rows.*drift of the scores: large")
  expect_output(print(d, top = 1), "and 5 more")
  expect_output(print(d[1:2]), "psi|name")
  expect_identical(class(as.data.frame(d)), "data.frame")
  in_sizes(plot(d), function(record, size) {
    expect_identical(labels_of(record, "bar label"), d$name)
    expect_identical(length(labels_of(record, "beyond")), sum(d$psi > 1.04))
  })
  for (column in c("score", "a", "g")) {
    in_sizes(plot(d, column), function(record, size) {
      b <- attr(d, "bins")[[column]]
      left_out <- as.numeric(sub(" .*", "", labels_of(record, "note")))
      expect_equal(length(labels_of(record, "bar label")) + sum(left_out), sum(b$reference > 0 | b$new > 0))
    })
  }
  drawn(expect_snapshot(error = TRUE, {
    plot(d, "aa")
    plot(d, col = "red")
    plot(d[0, ])
  }))
})

test_that("what cannot be compared is refused in words", {
  old <- drifting(20, 0, 1)
  with <- gbt_monitor_reference(m, old, threads = 1)
  wrong <- with
  numbers <- old
  numbers$g <- 1
  expect_snapshot(error = TRUE, {
    gbt_monitor()
    gbt_monitor(m)
    gbt_monitor(m, old)
    gbt_monitor(with, threads = 1)
    gbt_monitor(with, old, bins = 3)
    gbt_monitor(with, old, bin = 3)
    gbt_monitor(with, old[-1], threads = 1)
    gbt_monitor(with, old[0, ], threads = 1)
    gbt_monitor(m, old, old[0, ], threads = 1)
    gbt_monitor(m, old, old, bins = 1)
    gbt_monitor_reference(m)
    gbt_monitor(with[1:2], old, threads = 1)
  })
  for (break_it in list(function(r) NULL, function(r) 3, function(r) replace(r, "rows", list("a")),
                        function(r) replace(r, "rounds", 1e9), function(r) replace(r, "scores", list(list())),
                        function(r) { r$columns$a$count[1] <- NA; r },
                        function(r) { r$columns$a$at <- rev(r$columns$a$at); r },
                        function(r) { r$columns$g$label <- 1; r }, function(r) { names(r$columns) <- NULL; r })) {
    wrong$monitor <- break_it(unclass(with)$monitor)
    expect_error(gbt_monitor(wrong, old, threads = 1), class = "gbt_error_argument")
  }
})

test_that("a column of nothing but NA is missing values of any class", {
  x <- drifting(60, 0, 1)
  m <- gbt_train(a ~ ., x, nrounds = 3, threads = 1)
  columns <- setdiff(names(x), "a")
  kept <- gbt_monitor_reference(m, x)
  for (name in columns) {
    typed <- replace(x, name, list(x[[name]][rep(NA_integer_, 60)]))
    got <- gbt_monitor(m, typed, x)
    for (empty in list(NA, NA_real_, NA_character_, factor(NA))) {
      new <- replace(x, name, list(rep(empty, 60)))
      expect_identical(gbt_monitor(m, new, x), got, label = name)
      expect_identical(as.data.frame(gbt_monitor(kept, new)), as.data.frame(got), label = name)
    }
    expect_identical(got$missing[got$name == name], 1)
  }
  filled <- gbt_monitor(m, x, replace(x, "b", list(rep(NA, 60)))) # nothing is known of it but that it was missing
  expect_identical(filled$unseen[filled$name == "b"], mean(!is.na(x$b)))
  expect_error(gbt_monitor(m, replace(x, "b", list(rep(c("u", NA), 30))), x))
})
