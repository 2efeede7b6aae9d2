# The shape of trees by a race (R/fit_race.R).

# `cells`: a value for each of 216 cells of three columns, which deep trees learn; `sums`: sums of columns and noise.
n <- 12600
aside <- n + 1:600
set.seed(7)
all <- as.data.frame(matrix(runif(13200 * 4), 13200, dimnames = list(NULL, letters[1:4])))
cells <- rnorm(216)[1 + floor(6 * all$a) + 6 * floor(6 * all$b) + 36 * floor(6 * all$c)] + 0.1 * rnorm(13200)
sums <- all$a + all$b + rnorm(13200)
x <- all[1:n, ]
d <- cbind(x, y = cells[1:n])

# A training of few rounds that has the limit of a long one.
train <- function(y, ..., data = x, rows = 1:n, nrounds = 480, threads = 1,
                  valid = list(x = all[aside, ], y = y[aside])) {
  gbt_train(data, y[rows], nrounds = nrounds, valid = valid, early_stopping_rounds = 1, ..., threads = threads)
}
shape_of <- function(m) m$params[c("grow_policy", "max_depth", "max_leaves")]
symmetric <- list(grow_policy = "symmetric", max_depth = 6, max_leaves = 0)
layers <- list(grow_policy = "depthwise", max_depth = 8, max_leaves = 0)

# For trainings without validation data: ends them after so few rounds, the race aside.
few <- function(now) now$round == 3

# How many trainings of races `code` has, each as rounds, rows and policy.
races <- function(code) {
  watch_races(code, function(fit, shape) list(fit$host$nrounds, fit$n_obs, shape$grow_policy))
}

# Puts another function in the place of one of gbt's.
put <- function(name, value) {
  space <- asNamespace("gbt")
  unlockBinding(name, space)
  assign(name, value, space)
  lockBinding(name, space)
}

# What `look` gives for each training of a race that `code` has.
watch_races <- function(code, look) {
  seen <- list()
  own <- get("fit_of_shape", asNamespace("gbt"))
  put("fit_of_shape", function(fit, task, shape) {
    out <- own(fit, task, shape)
    seen[[length(seen) + 1L]] <<- look(out, shape)
    out
  })
  on.exit(put("fit_of_shape", own))
  force(code)
  seen
}

test_that("the data choose the shape of trees", {
  deep <- train(cells)
  expect_identical(shape_of(deep), layers)
  expect_true(all(c("grow_policy", "max_depth") %in% deep$by_rule))
  expect_output(print(deep), "by race +grow_policy depthwise, max_depth 8\nby rule +eta")
  expect_identical(deep$race$shape, c("symmetric 6", "lossguide 64", "depthwise 8"))
  expect_identical(deep$race$chosen, c(FALSE, FALSE, TRUE))
  expect_true(all(deep$race$rounds <= c(100, 50, 50)) && which.min(deep$race$loss) == 3L)
  file <- withr::local_tempfile(fileext = ".gbt")
  gbt_save(deep, file)
  expect_identical(gbt_load(file)$race, deep$race)
  expect_error(predict(replace(deep, "race", list(1)), x), "race", class = "gbt_error")
  expect_identical(shape_of(train(sums)), symmetric)
  loss <- function(...) utils::tail(train(cells, nrounds = 100, eta = 0.1, ...)$evaluation_log$valid_rmse, 1)
  expect_gt(loss(grow_policy = "symmetric"), loss(grow_policy = "depthwise", max_depth = 8))
  expect_message(train(cells, verbose = 1), "^a race of 3 shapes chose depthwise 8 \\(rmse symmetric 6: ", all = FALSE)
  # of two classes, three, and counts
  expect_false(train(cells > 0)$params$grow_policy == "symmetric")
  expect_identical(train(sums > 1)$params$grow_policy, "symmetric")
  expect_length(races(train(cut(sums, 3, labels = FALSE) - 1, objective = "softmax")), 2L)
})

test_that("trees that columns share race, unless splits come from a projection", {
  common <- function(first, ..., threads = 1, valid = list(x = all[aside, ], y = y[aside, ])) {
    y <- cbind(a = first, b = first - all$d)
    gbt_train(x, y[1:n, ], nrounds = 480, valid = valid, early_stopping_rounds = 1, threads = threads,
              multi_strategy = "multi_output_tree", ...)
  }
  deep <- common(cells)
  expect_identical(shape_of(deep), layers)
  expect_identical(deep$race$shape, c("symmetric 6", "lossguide 64", "depthwise 8"))
  expect_same_bytes(common(cells, threads = 2)$state, deep$state)
  expect_identical(shape_of(common(sums)), symmetric)
  expect_identical(shape_of(common(cells, grow_policy = "symmetric")), symmetric)
  projected <- common(cells, sketch = "projection")
  expect_null(projected$race)
  expect_identical(shape_of(projected), symmetric)
})

test_that("the choice is the same for threads, forms of the data, pages and seeds", {
  for (y in every(list(cells, sums), 2)) {
    m <- train(y)
    expect_same_bytes(train(y, threads = 2)$state, m$state)
    expect_same_bytes(train(y, data = as.matrix(x))$state, m$state)
    expect_same_bytes(train(y, page_rows = 1000)$state, m$state)
    data <- gbt_data(x, threads = 1, page_rows = 500)
    valid <- gbt_data(all[aside, ], y[aside], reference = data, threads = 1)
    expect_same_bytes(train(y, data = data, valid = valid)$state, m$state)
    expect_identical(shape_of(train(y, seed = 5)), shape_of(m))
    set.seed(3)
    before <- .Random.seed
    train(y)
    expect_identical(.Random.seed, before)
  }
  # a value that is named is the same as one that a race chose, to the byte
  m <- train(cells, seed = 1)
  expect_same_bytes(do.call(train, c(list(cells, seed = 1), m$params[m$by_rule]))$state, m$state)
})

test_that("a source of rows races as a table does", {
  m <- gbt_train(x, d$y, nrounds = 480, max_seconds = 1e5, callbacks = few, threads = 1)
  file <- withr::local_tempfile(fileext = ".csv")
  utils::write.csv(d, file, row.names = FALSE)
  d <- utils::read.csv(file)
  train <- function(...) gbt_train(..., nrounds = 480, callbacks = few, threads = 1)
  expect_identical(races(again <- train(d[1:4], d$y)), races(read <- train(gbt_files(file, label = "y"))))
  expect_same_bytes(read$state, again$state)
  expect_identical(shape_of(m), shape_of(read))
})

test_that("a race costs a known number of rounds on some of the rows", {
  seen <- races(train(cells))
  expect_identical(lapply(seen, `[[`, 3), list("symmetric", "lossguide", "depthwise"))
  expect_identical(vapply(seen, `[[`, 0, 1), c(100, 50, 50))
  drawn <- vapply(seen, `[[`, 0L, 2) # the validation set judges
  expect_lt(abs(drawn[1] / n - 0.6), 0.02)
  expect_identical(drawn, rep(drawn[1], 3))
  expect_length(races(train(sums)), 2L) # the third shape is for those that gain much
  held <- races(gbt_train(x, d$y, nrounds = 480, callbacks = few, threads = 1))[[1]][[2]]
  expect_lt(abs(held / n - 0.6), 0.02)
  many <- data.frame(a = seq_len(60000) %% 1009, b = seq_len(60000) %% 11)
  drawn <- races(gbt_train(many, many$a * many$b, nrounds = 320, threads = 1, max_seconds = 1e-3))[[1]][[2]]
  expect_lt(abs(drawn / 20000 - 1), 0.03)
})

test_that("shapes around the values that are given race", {
  raced <- function(...) {
    ran <- races(m <- train(cells, ...))
    list(n = length(ran), shape = shape_of(m))
  }
  expect_identical(raced(max_depth = 7), list(n = 2L, shape = replace(layers, "max_depth", 7)))
  expect_identical(raced(grow_policy = "depthwise"), list(n = 2L, shape = layers))
  expect_message(train(cells, max_leaves = 0, verbose = 1), "(rmse symmetric 6: ", fixed = TRUE, all = FALSE)
})

test_that("there is none where rules decide", {
  none <- function(code) expect_length(races(code), 0L)
  none(train(cells, nrounds = 479))
  none(train(cells, data = x[1:9999, ], rows = 1:9999))
  expect_length(races(train(cells, data = x[1:10000, ], rows = 1:10000)), 3L)
  none(train(cells, weights = rep(0:1, c(n - 9999, 9999))))
  none(train(cells, preset = "fast"))
  none(train(cells, objective = "quantile"))
  none(train(floor(exp(cells)), objective = "poisson"))
  none(train(cells, colsample_bynode = 0.5, seed = 1))
  none(train(cells, num_parallel_tree = 2))
  none(train(cells, grow_policy = "symmetric"))
  none(train(cells, grow_policy = "depthwise", max_depth = 6))
  none(train(cells, num_leaves = 31))
  none(train(cells, max_depth = 12))
  none(train(cells, grow_policy = "symmetric", max_depth = 5))
  none(gbt_train(x, d$y, nrounds = 20, init_model = gbt_train(x, d$y, nrounds = 1, threads = 1), threads = 1))
})

test_that("data in a folder race as those in memory do", {
  w <- rep(1:3, n / 3)
  path <- withr::local_tempdir()
  put <- function(rows, y, name, ...) gbt_data(all[rows, ], y[rows], path = file.path(path, name), threads = 1, ...)
  m <- train(cells, weights = w)
  mask <- seq_len(n) > 700
  masked <- function(data, y, ...) {
    gbt_train(data, y, nrounds = 480, mask = mask, early_stopping_rounds = 1, ..., seed = 1, threads = 1)
  }
  some <- masked(x, d$y, weights = w)
  for (page_rows in every(c(97, 4096, 0), 3)) {
    name <- paste0("rows", page_rows)
    folder <- put(1:n, cells, name, page_rows = page_rows, memory = 0, weight = w)
    valid <- put(aside, cells, paste0(name, "-valid"), page_rows = page_rows, reference = folder)
    own <- train(cells, data = folder, valid = valid, threads = 2)
    expect_same_bytes(own$state, m$state)
    expect_false(own$params$grow_policy == "symmetric")
    expect_length(races(own <- masked(folder, NULL)), 3L)
    expect_same_bytes(own$state, some$state)
  }
  classes <- train(cells > 0, class_weights = "balanced")
  folder <- put(1:n, cells > 0, "classes", page_rows = 1000)
  expect_same_bytes(train(cells > 0, data = folder, class_weights = "balanced")$state, classes$state)
})

test_that("what a race chose is repeated without another", {
  v <- cbind(all, y = cells)[aside, ]
  none <- function(code) expect_length(races(code), 0L)
  m <- gbt_train(y ~ ., d, nrounds = 480, valid = v, early_stopping_rounds = 1, threads = 1)
  expect_identical(shape_of(m), layers)
  none(again <- gbt_refit(m))
  expect_null(again$race)
  expect_identical(again$params[m$by_rule], m$params[m$by_rule])
  none(again <- update(m, eta = 0.2))
  expect_identical(shape_of(again), layers)
  none(more <- gbt_train(y ~ ., d, nrounds = 480, valid = v, early_stopping_rounds = 1, init_model = m,
                         threads = 1))
  expect_identical(shape_of(more), layers)
  # folds: one race for all of them, and the chosen model has their shape
  cv <- function(...) gbt_cv(y ~ ., d, folds = 2, nrounds = 480, early_stopping_rounds = 1, seed = 1, threads = 1, ...)
  seen <- races(folds <- cv(keep_models = TRUE))
  expect_length(seen, 3L)
  expect_lt(abs(seen[[1]][[2]] / n - 0.3), 0.02) # of the rows that the first fold trains on
  expect_identical(folds$race$shape[folds$race$chosen], "depthwise 8")
  expect_identical(nrow(folds$race), 3L)
  for (fold in folds$models) expect_identical(shape_of(fold), layers)
  none(final <- gbt_refit(folds))
  expect_identical(shape_of(final), layers)
  none(whole <- cv(grow_policy = "symmetric"))
  expect_null(whole$race)
  # a search: one race for all configurations
  tune <- function(space, ...) {
    gbt_tune(y ~ ., d, space = space, configs = 2, folds = 2, nrounds = 480, early_stopping_rounds = 1, seed = 1,
             threads = 1, ...)
  }
  expect_length(races(tuned <- tune(list(lambda = c(1, 2)))), 3L)
  expect_identical(tuned$params$max_depth, 8)
  none(final <- gbt_refit(tuned))
  expect_identical(shape_of(final), layers)
  none(tuned <- tune(list(max_depth = list(2, 3))))
  none(final <- gbt_refit(tuned))
  expect_identical(final$params$grow_policy, "symmetric")
  # a race of a search has the parameters that all configurations have
  own <- function(fit, ...) fit$params[c("subsample", "lambda", "min_child_weight")]
  seen <- watch_races(tune(list(eta = c(0.2, 0.3)), subsample = 0.5, lambda = 7, min_child_weight = 9), own)
  expect_identical(seen[[1]], list(subsample = 0.5, lambda = 7, min_child_weight = 9))
  none(tune(list(boosting = list("plain"))))
  # a file
  file <- withr::local_tempfile(fileext = ".gbt")
  gbt_save(m, file)
  none(again <- gbt_refit(gbt_load(file), data = d))
  expect_identical(shape_of(again), layers)
  # other data or another objective: the rules choose again
  none(again <- update(m, data = d[1:600, ], nrounds = 3, valid = NULL, early_stopping_rounds = 0))
  expect_identical(shape_of(again), symmetric)
  none(again <- update(m, objective = "quantile", nrounds = 3, valid = NULL, early_stopping_rounds = 0))
  expect_identical(again$params$grow_policy, "symmetric")
  expect_length(races(update(m, objective = "logistic", formula. = (y > 0) ~ ., valid = v)), 3L)
})

test_that("rounds that are found are those of the shape that was chosen", {
  seen <- races(m <- gbt_train(x, d$y, threads = 1, eta = 0.3))
  expect_length(seen, 3L)
  expect_identical(shape_of(m), list(grow_policy = "lossguide", max_depth = 0, max_leaves = 64))
  expect_identical(m$params$random_strength, 0)
  expect_identical(m$auto_rounds$by, "split")
})

test_that("a checkpoint keeps the shape", {
  folder <- withr::local_tempdir()
  go <- function(...) {
    gbt_train(x, d$y, nrounds = 480, eta = 0.3, checkpoint = folder, checkpoint_seconds = 0, callbacks = few,
              threads = 1, ...)
  }
  expect_length(races(m <- go(max_seconds = 1e5)), 3L)
  file <- file.path(folder, "gbt-shape")
  kept <- readLines(file)
  expect_identical(kept[1L], "lossguide 64")
  expect_length(races(again <- go(max_seconds = 0.001)), 0L)
  expect_identical(again$race, m$race)
  expect_output(print(again), "by race +grow_policy lossguide")
  last <- "\\t[^\\t]*$"
  broken <- list("lossguide 3", character(0), kept[1:2], sub(last, "", kept), sub(last, "\tInf", kept),
                 kept[c(1, 2, 2)], c(kept, "depthwise 3\t1\t1"), sub("symmetric", "depthwise", kept))
  for (lines in broken) {
    writeLines(lines, file)
    expect_error(go(max_seconds = 0.3), "does not hold a shape of trees", class = "gbt_error_argument")
  }
  writeLines("lossguide 64", file) # as written where no race could decide
  expect_null(go(max_seconds = 0.001)$race)
  unlink(folder, recursive = TRUE)
  # no time for a race, and for no round: the next call begins anew
  expect_message(none <- suppressWarnings(go(max_seconds = 1e-6, verbose = 1)),
                 "shape of trees is that of the rules, symmetric 6", all = FALSE)
  expect_identical(shape_of(none), symmetric)
  expect_identical(readLines(file.path(folder, "gbt-shape")), "symmetric 6")
  unlink(file.path(folder, "gbt-checkpoint"))
  expect_length(races(go(max_seconds = 1e5)), 3L)
  unlink(folder, recursive = TRUE)
  dir.create(file.path(folder, "gbt-shape.new"), recursive = TRUE)
  expect_error(go(), "cannot write .*gbt-shape", class = "gbt_error_io")
})

test_that("groups and times judge as a whole", {
  held <- function(...) {
    out <- NULL
    own <- gbt:::held_of_race(list(n = 100, source = list(...)), 1:100)
  }
  group <- rep(1:20, 5)
  by_group <- held(group = group)
  expect_true(any(by_group) && !all(by_group))
  expect_length(intersect(group[by_group], group[!by_group]), 0L)
  by_time <- held(time = as.double(100:1))
  expect_identical(which(by_time), 1:20)
  expect_null(held(group = rep(1:9, length.out = 100)))
  expect_null(held(time = rep(1, 100)))
  expect_identical(held(), gbt:::held_of_race(list(n = 100, source = list()), 1:100))
  train <- function(...) gbt_train(x, d$y, nrounds = 480, ..., max_seconds = 1e5, callbacks = few, threads = 1)
  expect_length(races(train(group = seq_len(n) %% 50)), 3L)
  expect_length(races(train(time = seq_len(n))), 3L)
})

test_that("weights, offsets, masks and classes of a training are those of its race", {
  w <- rep(1:2, n / 2)
  expect_false(train(cells, weights = w)$params$grow_policy == "symmetric")
  expect_identical(shape_of(train(cells + 100 * all$d, offset = 100 * x$d,
                                  valid = list(x = all[aside, ], y = cells[aside] + 100 * all$d[aside],
                                               offset = 100 * all$d[aside]))), layers)
  mask <- seq_len(n) > 700
  m <- gbt_train(x, d$y, nrounds = 480, mask = mask, early_stopping_rounds = 1, threads = 1)
  expect_identical(shape_of(m), layers)
  seen <- races(gbt_train(x, d$y, nrounds = 480, mask = mask, early_stopping_rounds = 1, threads = 1))
  expect_lt(abs(seen[[1]][[2]] / (n - 700) - 0.6), 0.02)
  m <- train(cells > 0, class_weights = "balanced", monotone = c(d = 1), interactions = list(c("a", "b", "c")))
  expect_false(m$params$grow_policy == "symmetric")
  # rows that judge have the weights of their classes, too
  weights <- function(fit, ...) sort(unique(fit$valid[[1]]$weight))
  seen <- watch_races(gbt_train(x, d$y > 0, nrounds = 480, class_weights = c("FALSE" = 1, "TRUE" = 3), weights = w,
                                max_seconds = 1e5, callbacks = few, threads = 1), weights)
  expect_identical(seen[[1]], c(1, 2, 3, 6))
  # those of a given set as well
  seen <- watch_races(train(cells > 0, class_weights = c("FALSE" = 1, "TRUE" = 3), max_seconds = 1e5), weights)
  expect_identical(seen[[1]], c(1, 3))
})

test_that("a shape that is behind ends early, as does one that is far behind", {
  racer <- function(losses, n) {
    list2env(list(losses = losses, fit = list(host = list(nrounds = n)), share = 0, log = NULL, loss = NA_real_))
  }
  own <- get("run_to", asNamespace("gbt"))
  on.exit(put("run_to", own))
  put("run_to", function(racer, share) {
    racer$share <- max(racer$share, share)
    racer$log <- head(racer$losses, gbt:::rounds_by(racer, racer$share))
    racer$loss <- min(racer$log)
    TRUE
  })
  duel <- function(first, second, margin = 0) {
    racers <- list(racer(first, 100), racer(second, 50))
    won <- gbt:::duel(racers[[1]], racers[[2]], margin)
    c(if (identical(won, racers[[1]])) 1 else 2, lengths(lapply(racers, `[[`, "log")))
  }
  falling <- function(n, to) to + (10 - to) * 0.8^seq_len(n)
  flat <- falling(100, 1)
  expect_identical(duel(flat, falling(50, 2)), c(1, 20, 10))
  expect_identical(duel(flat, c(rep(10, 9), falling(41, 0.5))), c(1, 20, 10))
  expect_identical(duel(flat, c(seq(10, 1.2, length.out = 10), rep(0.99, 40))), c(2, 100, 50)) # it catches up
  expect_identical(duel(flat, c(seq(10, 1.2, length.out = 10), rep(1.19, 40))), c(1, 30, 15))
  expect_identical(duel(flat, rep(0.5, 50)), c(2, 40, 20))
  expect_identical(duel(flat, rep(0.95, 50)), c(2, 100, 50))
  expect_identical(duel(flat, rep(0.95, 50), 0.1), c(1, 100, 50))
})

test_that("Ctrl-C ends a race", {
  skip_on_cran()
  child <- start_child(quote({
    set.seed(1)
    x <- matrix(rnorm(4e6), ncol = 400)
    trace("shape_of_race", quote(globalenv()$say("begin")), where = asNamespace("gbt"), print = FALSE)
    y <- x[, 1] + rnorm(1e4)
    tryCatch(gbt_train(x, y, nrounds = 1e5, threads = 1), interrupt = function(c) {
      said <- !inherits(c, "gbt_interrupt") || grepl("shape", conditionMessage(c)) # else R's own, between two trainings
      say("caught", inherits(c, "interrupt"), is.null(c$model), said)
    })
    say("after", is.null(gbt_last_interrupted()), gbt_train(x[1:600, ], y[1:600], nrounds = 2, threads = 1)$nrounds)
  }))
  wait_for(child, "begin")
  press_ctrl_c(child, "caught") # how soon: tests/robust/signals.sh
  expect_identical(wait_for(child, "caught")[3:5], c("TRUE", "TRUE", "TRUE"))
  expect_identical(wait_for(child, "after")[3:4], c("TRUE", "2"))
})

test_that("a job and its session choose the same", {
  skip_on_cran()
  job <- gbt_job(x, d$y, nrounds = 480, valid = list(x = all[aside, ], y = cells[aside]), early_stopping_rounds = 1,
                 threads = 1)
  expect_same_bytes(gbt_job_result(job, timeout = 60)$state, train(cells)$state)
})
