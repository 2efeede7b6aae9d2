# What gbt_train() makes of `cat_method`, `time` and `group`, and what it says of mistakes in them.

set.seed(13)
x <- data.frame(f = factor(sample(letters, 400, TRUE)), g = sample(c("u", "v", "w"), 400, TRUE), v = stats::rnorm(400),
                o = factor(sample(1:3, 400, TRUE), ordered = TRUE))
y <- as.integer(x$f) %% 5 + x$v
when <- as.Date("2024-01-01") + sample(100, 400, TRUE)
who <- sample(c("p", "q", "r"), 400, TRUE)
train <- function(...) gbt_train(x, y, ..., nrounds = 2, threads = 1)
bits <- function(wanted, type = c("categorical", "categorical", "numeric", "ordinal"), ...) {
  gbt:::cat_method_bits(gbt:::read_cat_method(wanted), names(x), type, ...)
}

# What the trainings within `code` hand to the engine: list of the fields of the view, training rows only.
fields_of <- function(code) {
  seen <- list()
  keep <- function(given) if ("time" %in% names(given)) seen[[length(seen) + 1L]] <<- given
  tracer <- bquote(.(keep)(list(..., label = label)))
  suppressMessages(trace("dataset_view", tracer, where = asNamespace("gbt"), print = FALSE))
  on.exit(suppressMessages(untrace("dataset_view", where = asNamespace("gbt"))))
  force(code)
  seen[[1L]]
}

test_that("methods become bits by column", {
  bit <- lapply(gbt:::enums$cat_method, function(number) bitwShiftL(1L, number))
  expect_named(bit, c("sets", "onehot", "target", "count", "quartiles"))
  expect_identical(bits(NULL, type = rep("numeric", 4)), integer(4))
  for (auto in list(NULL, "auto", list(), list(g = "sets")[0])) expect_identical(bits(auto), rep(0L, 4))
  expect_identical(bits("auto", auto = bit$sets), c(bit$sets, bit$sets, 0L, 0L))
  expect_identical(bits("target"), c(bit$target, bit$target, 0L, 0L))
  expect_identical(bits(c("count", "sets", "sets")), rep(c(bit$sets + bit$count, 0L), each = 2))
  expect_identical(bits(c(g = "onehot")), c(0L, bit$onehot, 0L, 0L))
  expect_identical(bits(c(g = "onehot"), auto = bit$sets), c(bit$sets, bit$onehot, 0L, 0L))
  expect_identical(bits(c("target", "count", g = "auto")), c(bit$target + bit$count, 0L, 0L, 0L))
  expect_identical(bits(list("sets", f = c("target", "sets"))), c(bit$sets + bit$target, bit$sets, 0L, 0L))
})

test_that("\"auto\" takes statistics beside sets where they pay", {
  made <- function(n_levels, n) {
    f <- rep_len(seq_len(n_levels), n)
    x <- data.frame(f = factor(f), v = seq_len(n) %% 7)
    gbt_train(x, (f * 7919) %% 101 + seq_len(n) %% 3, nrounds = 2, threads = 1)
  }
  method <- function(...) made(...)$params$cat_method$f
  both <- c("sets", "target")
  expect_null(method(1, 300))
  expect_null(method(4, 300))
  expect_identical(method(5, 300), both)
  expect_identical(method(5, 5), both)
  expect_identical(method(255, 30 * 300), both)
  expect_identical(method(256, 30 * 256 - 1), both)
  expect_null(method(256, 30 * 256))
  expect_identical(method(65534, 65534), both)
  expect_identical(method(65535, 65535), c("target", "count"))
  # rows of the mask alone
  f <- factor(rep_len(1:300, 10000))
  by_mask <- gbt_train(data.frame(f), as.integer(f) %% 7, mask = rep(c(TRUE, FALSE), c(8999, 1001)), nrounds = 2)
  expect_identical(by_mask$params$cat_method$f, both)
  expect_null(gbt_train(data.frame(f), as.integer(f) %% 7, nrounds = 2)$params$cat_method)
  # sets alone where statistics cannot be
  few <- train(mtry = 2)
  expect_null(few$params$cat_method)
  expect_identical(predict(few, x), predict(train(mtry = 2, cat_method = "onehot"), x)) # trees are symmetric
  expect_identical(predict(train(mtry = 2, max_cat_onehot = 4), x), predict(train(mtry = 2, cat_method = "sets"), x))
  own <- list(gradient = function(score, label) score - label, hessian = function(score, label) 1 + 0 * score)
  expect_null(train(objective = own)$params$cat_method)
  # forced by name in addition to "auto"
  expect_identical(train(cat_method = list(g = "count"))$params$cat_method, list(f = both, g = "count"))
})

test_that("a model remembers what was asked", {
  m <- train(cat_method = list("onehot", f = c("target", "sets")), cat_prior = 3)
  expect_identical(m$params$cat_method, list(f = c("sets", "target"), g = "onehot"))
  expect_identical(m$params$cat_prior, 3)
  expect_identical(train(cat_method = "target", max_cat_combine = 2)$params$max_cat_combine, 2)
  expect_output(print(m), "target encoding of `f`", fixed = TRUE)
  withr::with_options(list(width = 500), {
    expect_output(print(summary(m)), "cat_method f {sets, target}, g {onehot}", fixed = TRUE)
  })
  file <- withr::local_tempfile()
  gbt_save(m, file)
  expect_identical(gbt_load(file)$params, m$params)
  expect_identical(train(cat_method = "auto")$params$cat_method, list(f = c("sets", "target")))
  m$params$cat_method <- list("sets")
  expect_error(predict(m, x), "cat_method", class = "gbt_error_argument")
})

test_that("what is asked for reaches the trees", {
  y <- y + 20 * ((as.integer(x$f) %% 2 == 0) == (x$g == "u")) # f and g say more together
  train <- function(...) gbt_train(x, y, ..., nrounds = 5, cat_noise = 0, min_data_per_group = 1, threads = 1)
  features <- function(...) sort(gbt_importance(train(...), by = "feature")$feature)
  expect_identical(features(cat_method = c(f = "target")), sort(c("f", "g", "v", "o", "mean(f)")))
  expect_identical(predict(train(cat_method = "onehot"), x),
                   predict(train(cat_method = "sets", max_cat_onehot = 100), x))
  expect_identical(predict(train(cat_method = list("sets", f = c("sets", "target"))), x), predict(train(), x))
  pair <- train(cat_method = c("sets", "target", "count"), max_cat_combine = 2)
  expect_true(all(c("mean(f)", "mean(g)", "mean(f x g)", "rows(f)") %in% gbt_importance(pair, by = "feature")$feature))
  expect_identical(predict(train(cat_method = c("sets", "target", "count"), max_cat_combine = 2), x), predict(pair, x))
  of <- function(...) predict(train(cat_method = "target", ...), x)
  for (other in list(list(time = when), list(group = who), list(seed = 7), list(cat_prior = 1), list(cat_bins = 3),
                     list(cat_permutations = 1), list(max_cat_combine = 2))) {
    expect_false(identical(do.call(of, other), of()), label = names(other))
  }
  expect_identical(of(time = when), of(time = as.integer(when) * 2))
  expect_identical(of(time = when), of(time = when, cat_permutations = 1))
  expect_identical(of(group = who), of(group = factor(who)))
  expect_identical(of(group = rep(1, 400)), of(time = rep(1, 400))) # no row knows another one: all have the mean
  expect_error(train(cat_method = "target", mtry = 2), "colsample_bytree", class = "gbt_error_unsupported")
  expect_identical(train(cat_method = "sets", mtry = 2, seed = 1)$params$colsample_bytree, 0.5)
})

# Columns that the splits on the way to each leaf are made of, as texts: "f g".
paths <- function(model) {
  nodes <- as.data.frame(model)
  found <- character(0)
  for (tree in split(nodes, nodes$tree)) {
    above <- vector("list", nrow(tree))
    for (i in order(tree$node)) {
      if (is.na(tree$feature[i])) {
        found <- c(found, paste(above[[i]], collapse = " "))
        next
      }
      here <- strsplit(gsub("^[a-z]+\\(|\\)$", "", tree$feature[i]), " x ", fixed = TRUE)[[1]]
      for (child in match(c(tree$left[i], tree$right[i]), tree$node)) above[[child]] <- sort(union(above[[i]], here))
    }
  }
  unique(found)
}

test_that("what is asked of columns holds for their statistics", {
  x <- x[rep(seq_len(400), 10), ]
  x$h <- rep(c("k", "l", "m", "n", "o"), 800)
  even <- as.integer(x$f) %% 2 == 0
  u <- x$g == "u"
  k <- x$h %in% c("k", "l")
  y <- rep(y, 10) + 9 * (even == u) + 9 * (u == k) + 9 * ((even == u) == k) # two pairs, and a triple beyond them
  fit <- function(...) {
    gbt_train(x, y, cat_method = c("sets", "target", "count"), max_cat_combine = 3, nrounds = 20, seed = 1, threads = 1,
              ...)
  }
  free <- fit()
  expect_true(all(c("mean(f x g)", "mean(g x h)", "mean(f x g x h)") %in% gbt_importance(free, by = "feature")$feature))
  bound <- fit(interactions = list("f", c("g", "h"), c("v", "o")))
  expect_true("g h" %in% paths(bound))
  expect_identical(setdiff(paths(bound), c("", "f", "g", "h", "v", "o", "g h", "o v")), character(0))
  expect_gt(length(setdiff(paths(free), paths(bound))), 0)
  importance <- gbt_importance(bound, by = "feature")
  used <- importance$feature[importance$frequency > 0]
  expect_true("mean(g x h)" %in% used)
  expect_false(any(c("mean(f x g)", "mean(f x h)", "mean(f x g x h)") %in% used))
  expect_error(fit(interactions = list("mean(f)")), "`mean(f)`; name `f` instead, which applies to its statistics",
               fixed = TRUE, class = "gbt_error_argument")
  expect_error(fit(feature_weights = c("mean(f x h)" = 0)), "name `f`, `h` instead", class = "gbt_error_argument")
  expect_error(fit(feature_weights = c("share(f, a, b)" = 0)), "not a feature", class = "gbt_error_argument")
  expect_error(fit(feature_weights = c("share(f, a)" = 0)), "name `f` instead", class = "gbt_error_argument")
  expect_error(fit(monotone = c("rows(f)" = 1)), "cannot have a monotone constraint", class = "gbt_error_argument")
  expect_error(fit(monotone = c("mean(z)" = 1)), "`mean(z)`, which is not a feature", fixed = TRUE,
               class = "gbt_error_argument")
  none <- gbt_importance(fit(feature_weights = c(h = 0)), by = "feature")
  expect_false(any(grepl("\\bh\\b", none$feature[none$frequency > 0])))
  expect_true("mean(f x g)" %in% none$feature[none$frequency > 0])
})

test_that("combinations of noise are not made, and real ones are", {
  n <- 20000
  levels <- function(k) factor(sample(k, n, TRUE))
  d <- withr::with_seed(8, data.frame(a = levels(5000), b = levels(5000), f = levels(60), g = levels(60),
                                      v = stats::rnorm(n)))
  made <- function(y, ...) {
    m <- gbt_train(d, y, cat_method = c("sets", "target"), max_cat_combine = 3, nrounds = 30, ..., threads = 2)
    grep(" x ", gbt_importance(m, by = "feature")$feature, value = TRUE)
  }
  chance <- stats::plogis(d$v + (as.integer(d$f) %% 7 - 3) / 4)
  y <- withr::with_seed(9, list(noise = stats::rbinom(n, 1, 0.5), single = stats::rbinom(n, 1, chance),
                                pair = stats::rbinom(n, 1, 0.3 + 0.4 * ((as.integer(d$f) + as.integer(d$g)) %% 2))))
  y <- lapply(y, factor)
  expect_identical(made(y$noise), character(0))
  expect_identical(made(y$single), character(0))
  expect_identical(made(y$pair), "mean(f x g)")
  expect_identical(made(y$pair, interactions = list(c("a", "b", "f"), c("g", "v"))), character(0))
  expect_identical(made(y$pair, max_cat_keys = 100), character(0)) # too few to say something
  expect_error(made(y$pair, max_cat_keys = 0), "`max_cat_keys`", class = "gbt_error_argument")
})

test_that("quartiles of numbers are statistics of their own", {
  z <- exp(as.integer(x$f) %% 4 * x$v) + as.integer(x$f) %% 3
  methods <- list("sets", f = c("target", "quartiles"))
  fit <- function(y, ...) {
    gbt_train(x, y, ..., cat_method = methods, nrounds = 5, grow_policy = "depthwise", max_depth = 6, threads = 1)
  }
  m <- fit(z)
  features <- gbt_importance(m, by = "feature")$feature
  expect_setequal(features, c("f", "g", "v", "o", "mean(f)", sprintf("share(f, above quartile %d)", 1:3)))
  expect_identical(m$params$cat_method, list(f = c("target", "quartiles"), g = "sets"))
  # what new data get, by hand: prior 10
  share <- function(q) (tapply(z > q, x$f, sum) + 10 * mean(z > q)) / (tapply(z, x$f, length) + 10)
  deep <- gbt_train(x["f"], z, cat_method = "quartiles", nrounds = 1, grow_policy = "depthwise", max_depth = 1,
                    min_child_weight = 0, threads = 1)
  root <- as.data.frame(deep)[1, ]
  k <- as.integer(sub("share.f, above quartile ([123]).", "\\1", root$feature))
  full <- share(sort(z)[ceiling(400 * k / 4)])
  p <- predict(deep, data.frame(f = names(full)))
  expect_length(unique(p), 2)
  expect_lt(max(full[p == p[which.min(full)]]), min(full[p == p[which.max(full)]]))
  expect_no_error(fit(round(abs(z)), objective = "poisson", offset = x$v / 10, max_delta_step = 0.7))
  e <- expect_error(fit(z > 1), "\"quartiles\" of column `f` needs a response of numbers", fixed = TRUE,
                    class = "gbt_error_argument")
  expect_identical(e$subject, "f")
  expect_error(fit(cut(z, 3)), "\"quartiles\" of column `f`", class = "gbt_error_argument")
  same <- gbt_train(x["f"], rep(c(0, 1), c(399, 1)), objective = "squared_error", cat_method = "quartiles", nrounds = 1)
  expect_setequal(gbt_importance(same, by = "feature")$feature, c("f", "share(f, above quartile 1)")) # all are 0
})

test_that("a column that is constant in the training rows has no statistics", {
  n <- 60
  d <- data.frame(one = rep("u", n), none = factor(rep(NA, n), levels = "u"), v = seq_len(n) %% 7,
                  f = rep(letters[1:6], 10))
  z <- sin(seq_len(n)) + d$v
  trees <- function(x, ...) {
    label <- if (inherits(x, "gbt_data")) NULL else z
    as.data.frame(gbt_train(x, label, ..., nrounds = 5, colsample_bytree = 1, random_strength = 0, seed = 1,
                            threads = 1))
  }
  for (method in c("target", "quartiles", "count")) {
    expect_identical(trees(d[1:3], cat_method = method), trees(d["v"]))
    expect_identical(trees(d[c("one", "v")], cat_method = c(method, "target"), time = seq_len(n)), trees(d["v"]))
    pairs <- function(x) {
      suppressWarnings(trees(x, cat_method = method, max_cat_combine = 2), classes = "gbt_warning_max_cat_combine")
    }
    expect_identical(pairs(d), pairs(d[3:4]))
  }
  # other levels are in rows that are masked out
  d$one[1:3] <- c("x", NA, "y")
  expect_identical(trees(gbt_data(d[c("one", "v")], label = z), cat_method = "target", mask = seq_len(n) > 3),
                   trees(gbt_data(d["v"], label = z), mask = seq_len(n) > 3))
})

test_that("mistakes in `cat_method` are named", {
  wrong <- function(value, text, data = x) {
    e <- expect_error(gbt_train(data, y, cat_method = value, nrounds = 1, threads = 1), text, fixed = TRUE,
                      class = "gbt_error_argument")
    expect_identical(e$parameter, "cat_method")
  }
  wrong("targets", "not \"targets\"; did you mean `target`?")
  wrong(3, "or a list of these by names of columns, not 3")
  wrong(factor("target"), "not an object of class \"factor\"")
  wrong(list(f = structure("target", class = "Date")), "not an object of class \"Date\"")
  wrong(character(0), "or a list of these by names of columns")
  wrong(NA_character_, "not NA")
  wrong(list(f = 1), "`cat_method` of `f` must be \"auto\" or some of")
  wrong(list(f = character(0)), "`cat_method` of `f` must be \"auto\" or some of")
  wrong(list("sets", sum), "not a function")
  wrong(c("auto", "target"), "has \"auto\", which cannot be combined with \"target\"")
  wrong(list(f = c("sets", "onehot")), "`cat_method` of `f` has \"sets\" and \"onehot\"")
  wrong(list(f = "sets", f = "count"), "names `f` twice; give its methods together")
  wrong(c(ff = "target"), "names `ff`, which is not a feature; did you mean `f`?")
  wrong(c(v = "target"), "names `v`, a numeric column; name it in `cat_features`, or make it a factor")
  wrong(c(o = "target"), "names `o`, an ordered factor, which is split by its order; name it in `cat_features`")
  expect_identical(train(cat_method = c(o = "target"), cat_features = "o")$params$cat_method,
                   list(f = c("sets", "target"), o = "target"))
  wrong("target", "the data have no categorical column", x["v"])
  expect_error(train(max_cat_combine = 5), "at least 1 and at most 4, not 5", class = "gbt_error_argument")
  expect_error(train(max_ctr_complexity = 5), "given as `max_ctr_complexity`", class = "gbt_error_argument")
  for (wrong in list(list(cat_permutations = 9), list(cat_bins = 1), list(cat_prior = 0))) {
    e <- expect_error(do.call(train, wrong), class = "gbt_error_argument")
    expect_identical(e$parameter, names(wrong))
  }
})

test_that("times of any kind reach the engine in their order", {
  seen <- function(time) fields_of(train(time = time, cat_method = "target"))$time
  days <- as.double(when)
  expect_identical(seen(when), days)
  expect_identical(seen(as.integer(days)), days)
  expect_identical(seen(as.POSIXct(when)), 86400 * days)
  expect_identical(seen(as.POSIXlt(when, tz = "UTC")), 86400 * days)
  expect_identical(seen(when - as.Date("2024-01-01")), days - as.double(as.Date("2024-01-01")))
  expect_identical(seen(factor(days, ordered = TRUE)), as.double(factor(days)))
  expect_null(fields_of(train(cat_method = "target"))$time)
  skip_if_not_installed("bit64")
  expect_identical(seen(bit64::as.integer64(days)), days)
})

test_that("groups of any kind are numbered by their first rows", {
  seen <- function(group) fields_of(train(group = group, cat_method = "target"))$group
  numbers <- as.double(match(who, unique(who)))
  expect_identical(seen(who), numbers)
  expect_identical(seen(factor(who, levels = c("r", "p", "z", "q"))), numbers)
  expect_identical(seen(numbers * 1e10 + 0.5), numbers)
  expect_identical(seen(-as.integer(numbers)), numbers)
  expect_identical(seen(who == "p"), as.double(match(who == "p", unique(who == "p"))))
  expect_identical(seen(when), as.double(match(when, unique(when))))
  latin <- enc2utf8(c("\u00e9", "b"))[1 + (who == "p")]
  two <- latin
  two[1:200] <- iconv(latin[1:200], "UTF-8", "latin1") # the same texts in two encodings
  expect_identical(seen(two), as.double(match(latin, unique(latin))))
  skip_if_not_installed("bit64")
  near <- bit64::as.integer64("9007199254740992") + (who == "p") # 2^53 and the next one: one and the same double
  expect_identical(seen(near), as.double(match(who == "p", unique(who == "p"))))
})

test_that("rows that are left out take their times and groups with them", {
  d <- cbind(x, y = y, when = when, who = who)
  first <- seq_len(400) <= 150
  expected <- train(cat_method = "target", time = when, mask = first)
  f <- y ~ f + g + v + o
  by <- function(...) gbt_train(f, d, ..., cat_method = "target", nrounds = 2, threads = 1)
  number <- function(group) as.double(match(group, unique(group)))
  expect_identical(fields_of(by(time = when))$time, as.double(when))
  expect_identical(fields_of(by(timestamp = when))$time, as.double(when))
  expect_identical(fields_of(by(group = who))$group, number(who))
  expect_identical(fields_of(by(time = when, subset = !first))$time, as.double(when[!first]))
  expect_identical(fields_of(by(group = who, subset = !first))$group, number(who[!first]))
  masked <- fields_of(by(time = when, mask = first))
  expect_identical(masked$time, as.double(when[first]))
  expect_identical(fields_of(by(group = who, mask = first))$group, number(who)[first])
  expect_identical(predict(by(time = when, mask = first), x), predict(expected, x))
  held <- fields_of(by(time = when, valid = 0.25, seed = 4))
  expect_length(held$time, 300)
  pairs <- complex(real = as.double(when), imaginary = y)
  expect_true(all(complex(real = held$time, imaginary = held$label) %in% pairs))
  d$when[5] <- d$who[7] <- NA
  expect_error(by(time = when), "`time` has 1 missing value, the first in row 5", class = "gbt_error_data")
  expect_error(by(group = who), "`group` has 1 missing value, the first in row 7", class = "gbt_error_data")
  expect_identical(fields_of(by(time = when, na.action = na.omit))$time, as.double(when[-5]))
  expect_identical(fields_of(by(group = who, na.action = na.omit))$group, number(who[-7]))
})

test_that("groups of a part of the rows are numbered by its first rows", {
  n <- 200
  group <- rep_len(c("c", "a", "b", "d", "e"), n)
  mask <- seq_len(n) > 3 & seq_len(n) %% 7 > 0
  d <- data.frame(f = letters[seq_len(n) %% 11 + 1])
  z <- sin(seq_len(n)) + seq_len(n) %% 11
  fit <- function(...) as.data.frame(gbt_train(..., cat_method = "target", nrounds = 3, seed = 1, threads = 1))
  alone <- fit(d[mask, , drop = FALSE], z[mask], group = group[mask])
  expect_identical(fit(d, z, group = group, mask = mask), alone)
  data <- gbt_data(d, label = z, group = group)
  expect_identical(fit(data, mask = mask), alone)
  part <- gbt_data(d[mask, , drop = FALSE], label = z[mask], group = group[mask], reference = data)
  expect_identical(fit(data, mask = mask, group = group), fit(part))
  of <- function(...) fields_of(gbt_train(d, z, ..., group = group, cat_method = "target", nrounds = 1, threads = 1))
  for (held in list(of(valid = 0.4, seed = 2), of(mask = mask))) {
    expect_identical(held$group, as.double(match(held$group, unique(held$group))))
  }
})

test_that("gbt_data keeps times and groups", {
  timed <- gbt_data(x, y, time = when, threads = 1)
  grouped <- gbt_data(x, y, group = who, threads = 1)
  expect_output(print(timed), "with label, time", fixed = TRUE)
  expect_output(print(grouped), "with label, group", fixed = TRUE)
  on <- function(data, ...) fields_of(gbt_train(data, ..., cat_method = "target", nrounds = 2, threads = 1))
  expect_identical(on(timed)$time, as.double(when))
  expect_identical(on(timed, time = rev(when))$time, as.double(rev(when)))
  expect_null(on(timed, time = NULL)$time)
  expect_identical(on(grouped)$group, as.double(match(who, unique(who))))
  expect_identical(on(timed, time = NULL, group = who)$group, as.double(match(who, unique(who))))
  expect_error(on(timed, group = who), "`time` and `group` cannot be combined", class = "gbt_error_unsupported")
  expect_error(gbt_data(x, y, time = when, group = who), "cannot be combined", class = "gbt_error_unsupported")
  expect_error(gbt_data(x, time = 1:3), "`time` has 3 values for 400 rows", class = "gbt_error_data")
  expect_error(gbt_data(x, timestamp = when), "called `time` here", class = "gbt_error_argument")
  timed$time <- "today"
  expect_error(gbt_train(timed, nrounds = 1), "field `time` of `x` is not|field `time` was changed",
               class = "gbt_error_argument")
  expect_no_warning(gbt_train(grouped, nrounds = 1, threads = 1))
})

test_that("mistakes in times and groups are named", {
  wrong <- function(text, ...) {
    e <- expect_error(train(..., cat_method = "target"), text, fixed = TRUE, class = "gbt_error_data")
    expect_identical(e$subject, names(list(...)))
  }
  wrong("`time` must be numbers, dates, times or an ordered factor, not a character vector", time = who)
  wrong("not an object of class \"factor\"; see as.Date() and as.POSIXct() for texts", time = factor(who))
  wrong("give the values themselves, not the name of a column", time = "when")
  wrong("`group` has 1 value for 400 rows; give the values themselves", group = "who")
  wrong("`time` has 1 value for 400 rows", time = 3)
  wrong("`time` has 2 missing values, the first in row 3", time = replace(when, c(3, 9), NA))
  wrong("`time` has 1 infinite value, the first in row 3", time = replace(as.double(when), 3, -Inf))
  wrong("not a numeric matrix", time = matrix(0, 400, 1))
  wrong("`group` has 2 values for 400 rows; give a group for each row", group = c(150, 250))
  wrong("`group` has 1 missing value, the first in row 8", group = replace(who, 8, NA))
  wrong("`group` has 1 missing value, the first in row 8", group = replace(factor(who), 8, NA))
  wrong("`group` must be numbers, a factor or texts, not a list", group = as.list(who))
  expect_error(train(time = when, group = who), "`time` and `group` cannot be combined",
               class = "gbt_error_unsupported")
  expect_no_warning(train(time = when))
  expect_warning(train(time = when, cat_method = "sets"), "`time` has no effect", class = "gbt_warning_order")
  expect_warning(gbt_train(y ~ ., cbind(x, y = y), group = who, cat_method = "sets", nrounds = 1, threads = 1),
                 "`group` has no effect: the objective is not a ranking objective, such", class = "gbt_warning_order")
  data <- gbt_data(x, y, time = when, threads = 1)
  prepared <- function(...) gbt_train(data, ..., cat_method = "sets", nrounds = 1, threads = 1)
  expect_warning(prepared(), "`time` of the gbt_data has no effect in this training", class = "gbt_warning_order")
  expect_no_warning(prepared(time = NULL))
  expect_no_warning(gbt_train(data, cat_method = "target", nrounds = 1, threads = 1))
  expect_no_warning(gbt_refit(gbt_cv(data, folds = 3, cat_method = "sets", nrounds = 1, threads = 1)))
  expect_no_warning(train(time = when, cat_method = "sets", valid = 0.2)) # says which rows are held out
  expect_no_warning(train(group = who, cat_method = "sets", valid = 0.2))
  expect_error(gbt_train(x[1, ], y[1], time = 1, valid = 0.5, nrounds = 1), "there is only one row",
               class = "gbt_error_argument")
})

test_that("columns with any statistic of the response are told, and those that combine nothing", {
  z <- y + seq_along(y) / 100
  quartiles <- function(...) gbt_train(x, z, cat_method = "quartiles", nrounds = 2, threads = 1, ...)
  expect_no_warning(quartiles(time = when))
  expect_output(print(quartiles()), "target encoding of", fixed = TRUE)
  for (methods in list("sets", "quartiles", "count")) {
    expect_warning(gbt_train(x, z, cat_method = methods, max_cat_combine = 2, nrounds = 1, threads = 1),
                   "`max_cat_combine` has no effect", class = "gbt_warning_max_cat_combine")
  }
  expect_no_warning(gbt_train(x, z, cat_method = "sets", nrounds = 1, threads = 1))
})

test_that("labels in a small part of their range make no combinations of noise", {
  set.seed(3)
  noise <- as.data.frame(lapply(1:6, function(i) factor(sample(12, 8000, TRUE))), col.names = letters[1:6])
  m <- gbt_train(noise, 0.5 + 0.002 * rnorm(8000), objective = "logistic", cat_method = "target", max_cat_combine = 2,
                 nrounds = 1, threads = 1)
  expect_false(any(grepl(" x ", gbt_importance(m, by = "feature")$feature, fixed = TRUE)))
})

test_that("max_cat_keys leaves out as many keys as it must", {
  set.seed(4)
  cells <- expand.grid(a = 1:20, b = 1:20, again = 1:10)
  effect <- matrix(rnorm(400), 20)
  d <- data.frame(a = factor(cells$a), b = factor(cells$b))
  z <- effect[cbind(cells$a, cells$b)] + rnorm(4000) / 2
  miss <- function(keys) {
    m <- gbt_train(d, z, cat_method = "target", max_cat_combine = 2, max_cat_keys = keys, nrounds = 10, eta = 0.3,
                   threads = 1)
    mean((predict(m, d) - z)^2)
  }
  all <- miss(400)
  expect_lt(miss(399), 1.05 * all) # all keys are of ten rows
  expect_gt(miss(100), 1.2 * all)
})
