# The made sets of the benchmark of defaults: each of known structure, drawn from a seed of its own, so that a set stays
# what it is when others are added. Each gives a data frame with the response `y`.

# `x` is a matrix, its columns become x1, x2, ...
made_frame <- function(x, y, ...) {
  colnames(x) <- paste0("x", seq_len(ncol(x)))
  data.frame(x, ..., y = y)
}
uniforms <- function(n, p) matrix(stats::runif(n * p), n)
normals <- function(n, p) matrix(stats::rnorm(n * p), n)
coin <- function(score) as.numeric(stats::runif(length(score)) < stats::plogis(score))

# Levels with chances of 1, 1/2, 1/3, ...: a few are frequent, most are rare.
zipf <- function(n, levels) sample.int(levels, n, TRUE, 1 / seq_len(levels))

# Fifteen columns, five of them with a smooth or kinked effect of their own and nothing else.
made_additive <- function(n = 6000) {
  x <- uniforms(n, 15)
  f <- 3 * sin(5 * x[, 1]) + 4 * (x[, 2] - 0.5)^2 * 3 + 2 * abs(x[, 3] - 0.4) * 3 + exp(x[, 4]) + 2 * x[, 5]
  made_frame(x, f + stats::rnorm(n))
}

# Products of two and three columns, no column says much by itself.
made_interactions <- function(n = 6000) {
  x <- uniforms(n, 12)
  z <- 2 * x - 1
  f <- 4 * z[, 1] * z[, 2] + 4 * sin(3 * z[, 3]) * z[, 4] + 5 * (z[, 5] > 0) * z[, 6] * z[, 7]
  made_frame(x, f + 0.5 * stats::rnorm(n))
}

# A checkerboard in two of ten directions, none of them along a column.
made_rotated <- function(n = 5000) {
  z <- normals(n, 10)
  turn <- qr.Q(qr(normals(10, 10)))
  made_frame(z %*% turn, coin(4 * tanh(3 * z[, 1]) * tanh(3 * z[, 2]) + z[, 3]))
}

# Nine tenths of the variance are noise, 20 of 30 columns too.
made_noisy <- function(n = 4000) {
  x <- normals(n, 30)
  f <- x[, 1] + x[, 2] * (x[, 3] > 0) + rowSums(x[, 4:10]) * 0.3
  made_frame(x, f + 3 * stats::sd(f) * stats::rnorm(n))
}

# 300 columns of amounts, 97 % of the cells are 0.
made_sparse <- function(n = 5000, p = 300) {
  x <- matrix(0, n, p)
  at <- stats::runif(n * p) < 0.03
  x[at] <- stats::rexp(sum(at))
  effect <- stats::rnorm(p) * (seq_len(p) <= 60)
  made_frame(x, coin(as.vector(x %*% effect) * 1.5 + 2 * (x[, 61] > 0 | x[, 62] > 0) - 0.5))
}

# Three columns of 30, 500 and 3,000 levels, each level with an effect of its own, and three numbers.
made_levels <- function(n = 20000) {
  sizes <- c(a = 30, b = 500, c = 3000)
  codes <- lapply(sizes, function(k) zipf(n, k))
  effects <- Map(function(code, k) stats::rnorm(k)[code], codes, sizes)
  x <- normals(n, 3)
  score <- 0.8 * effects$a + 0.8 * effects$b + 0.6 * effects$c + 0.7 * x[, 1] * (x[, 2] > 0)
  named <- Map(function(code, k) factor(sprintf("v%04d", sample.int(k))[code]), codes, sizes)
  made_frame(x, coin(score), a = named$a, b = named$b, c = named$c)
}

made_small <- function(n = 160) {
  x <- normals(n, 8)
  made_frame(x, x[, 1] + (x[, 2] > 0) * 2 + x[, 3]^2 + stats::rnorm(n))
}

# More columns than rows, correlated in blocks of ten; ten of them count.
made_wide <- function(n = 500, p = 1000) {
  common <- normals(n, p / 10)[, rep(seq_len(p / 10), each = 10)]
  x <- 0.6 * common + 0.8 * normals(n, p)
  made_frame(x, coin(rowSums(x[, seq(1, 91, 10)]) * 0.8))
}

# One row in 60 is a 1.
made_rare <- function(n = 20000) {
  x <- normals(n, 12)
  made_frame(x, coin(-5.6 + x[, 1] + 1.2 * x[, 2] * (x[, 3] > 0) + abs(x[, 4]) + 0.5 * x[, 5]))
}

# Effects wander and columns shift with time, so that the last rows are unlike the first ones.
made_drift <- function(n = 8000) {
  time <- seq_len(n) / n
  x <- normals(n, 10)
  x[, 1] <- x[, 1] + 2 * time
  f <- x[, 1] + (2 - 3 * time) * x[, 2] + cos(4 * time) * x[, 3] * x[, 4] + abs(x[, 5])
  made_frame(x, f + 0.7 * stats::rnorm(n), time = seq_len(n))
}

# Steps that only go up, in whole numbers and in fractions.
made_steps <- function(n = 5000) {
  x <- uniforms(n, 8)
  x[, 3] <- round(20 * x[, 3])
  f <- floor(5 * x[, 1]) + 2 * (x[, 2] > 0.7) + (x[, 3] > 4) + (x[, 3] > 15) * 2 + 3 * (x[, 4] > 0.5) * (x[, 5] > 0.5)
  made_frame(x, f + stats::rnorm(n))
}

# Noise with a variance, and no fourth moment (Student, 2.5 degrees of freedom); columns with long tails as well.
made_tails <- function(n = 5000) {
  x <- cbind(exp(normals(n, 5)), normals(n, 5))
  made_frame(x, log(x[, 1]) * 2 + sqrt(x[, 2]) * (x[, 6] > 0) + x[, 7] + stats::rt(n, 2.5))
}

# What trees are worst at: a plain sum of twenty correlated numbers.
made_linear <- function(n = 3000) {
  x <- normals(n, 20) + stats::rnorm(n)
  made_frame(x, as.vector(x %*% stats::rnorm(20)) + 2 * stats::rnorm(n))
}

# Rates of events over times of unequal length, more spread than Poisson's.
made_counts <- function(n = 10000) {
  x <- normals(n, 10)
  exposure <- stats::runif(n, 0.05, 1)
  rate <- exp(-1 + 0.5 * x[, 1] + 0.4 * x[, 2] * (x[, 3] > 0) - 0.3 * abs(x[, 4]))
  made_frame(x, stats::rpois(n, rate * exposure * stats::rgamma(n, 2, 2)), exposure = exposure)
}

# Ten classes, each with three places in ten dimensions; a row has the class of the nearest place, or any (one in ten).
made_classes <- function(n = 6000) {
  x <- normals(n, 10)
  places <- normals(30, 10)
  nearest <- max.col(tcrossprod(x, places) - rep(rowSums(places^2) / 2, each = n), "first")
  y <- (nearest - 1) %% 10
  any <- stats::runif(n) < 0.1
  y[any] <- sample.int(10, sum(any), TRUE) - 1
  made_frame(x, y)
}

# The parity of the signs of three columns out of eight: no column and no pair says anything.
made_parity <- function(n = 6000) {
  x <- normals(n, 8)
  odd <- (x[, 1] > 0) + (x[, 2] > 0) + (x[, 3] > 0)
  made_frame(x, coin(ifelse(odd %% 2 == 1, 2, -2)))
}

# A third of the cells is missing, more often so where the value is large: to be missing says something.
made_missing <- function(n = 6000) {
  x <- normals(n, 12)
  score <- x[, 1] + x[, 2] * x[, 3] + (x[, 4] > 0.5)
  x[stats::runif(length(x)) < stats::plogis(x - 0.8)] <- NA
  made_frame(x, coin(1.5 * score))
}

# The spread depends on other columns than the middle.
made_spread <- function(n = 6000) {
  x <- uniforms(n, 10)
  made_frame(x, 3 * x[, 1] + sin(6 * x[, 2]) + exp(1.5 * x[, 3] - 1 + (x[, 4] > 0.6)) * stats::rnorm(n))
}

# 200 groups with a level and columns of their own; test rows are of new groups.
made_groups <- function(n = 6000, groups = 200) {
  g <- sample.int(groups, n, TRUE)
  x <- cbind(normals(n, 6), normals(groups, 4)[g, ])
  made_frame(x, x[, 1] + x[, 2] * x[, 7] + x[, 8] + stats::rnorm(groups)[g] + stats::rnorm(n), g = g)
}

made_sets <- list(
  additive = made_additive, interactions = made_interactions, rotated = made_rotated, noisy = made_noisy,
  sparse = made_sparse, levels = made_levels, small = made_small, wide = made_wide, rare = made_rare,
  drift = made_drift, steps = made_steps, tails = made_tails, linear = made_linear, counts = made_counts,
  classes = made_classes, parity = made_parity, missing = made_missing, spread = made_spread, groups = made_groups
)

make_set <- function(name) {
  # by the name, not by the place in the list
  set.seed(20261125 + sum(utf8ToInt(name) * seq_len(nchar(name))), kind = "Mersenne-Twister",
           normal.kind = "Inversion", sample.kind = "Rejection")
  made_sets[[name]]()
}
