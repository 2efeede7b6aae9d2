# Objectives whose scores are the parameters of a distribution.

spread_data <- function(n, seed = 1) {
  set.seed(seed)
  d <- data.frame(x = runif(n), z = runif(n), k = factor(sample(letters[1:3], n, TRUE)))
  d$y <- 5 * sin(6 * d$x) + rnorm(n) * exp(1.5 * d$z)
  d
}

normal_model <- function(d, ..., threads = 1) {
  gbt_train(y ~ ., d, objective = "dist_normal", nrounds = 20, eta = 0.2, max_depth = 3, seed = 2, threads = threads,
            ...)
}

test_that("a model of normal distributions gives means, deviations, quantiles and intervals", {
  d <- spread_data(2000)
  m <- normal_model(d)
  p <- predict(m, d, "parameters")
  expect_identical(colnames(p), c("mean", "sd"))
  expect_identical(unname(p[, "mean"]), predict(m, d))
  link <- predict(m, d, "link")
  expect_identical(link[, "mean"], p[, "mean"])
  expect_equal(exp(link[, "log_sd"]), p[, "sd"], tolerance = 1e-14)
  expect_gt(cor(log(p[, "sd"]), d$z), 0.9) # the scale hangs on another column than the mean
  probs <- c(0.001, 0.1, 0.5, 0.9)
  q <- predict(m, d, "quantile", probs = probs)
  expect_identical(colnames(q), c("q0.001", "q0.1", "q0.5", "q0.9"))
  for (k in seq_along(probs)) expect_equal(unname(q[, k]), unname(qnorm(probs[k], p[, 1], p[, 2])), tolerance = 1e-13)
  expect_identical(predict(m, d, "quantile"), unname(q[, "q0.5"]))
  interval <- predict(m, d, "interval", level = 0.8)
  expect_equal(interval, data.frame(lower = unname(q[, "q0.1"]), upper = unname(q[, "q0.9"])), tolerance = 1e-14)
  expect_identical(predict(m, d, "interval"), predict(m, d, "interval", level = 0.9))
  named <- d
  row.names(named) <- paste0("row", seq_len(nrow(d)))
  expect_identical(names(predict(m, named[1:2, ])), c("row1", "row2"))
  expect_identical(rownames(predict(m, named[1:2, ], "interval")), c("row1", "row2"))
  expect_identical(dim(predict(m, d[1, ], "parameters")), c(1L, 2L))
  expect_identical(dim(predict(m, d[0, ], "quantile", probs = probs)), c(0L, 4L))
})

test_that("metrics, stopping and log-likelihoods are those of the densities", {
  d <- spread_data(1500)
  held <- seq(2, 1500, 3)
  m <- normal_model(d[-held, ], valid = d[held, ], eval_metric = c("crps", "rmse", "interval_coverage@0.8", "nloglik"))
  p <- predict(m, d[held, ], "parameters", trees = 20)
  y <- d$y[held]
  z <- (y - p[, 1]) / p[, 2]
  by_hand <- c(mean(p[, 2] * (z * (2 * pnorm(z) - 1) + 2 * dnorm(z) - 1 / sqrt(pi))), sqrt(mean((y - p[, 1])^2)),
               mean(abs(z) <= qnorm(0.9)), -mean(dnorm(y, p[, 1], p[, 2], log = TRUE)))
  expect_equal(unlist(m$evaluation_log[20, -1], use.names = FALSE), by_hand, tolerance = 1e-12)
  expect_equal(as.numeric(logLik(m, d[held, ], trees = 20)), -by_hand[4] * length(held), tolerance = 1e-12)
  e <- gbt_evaluate(m, d[held, ], trees = 20)
  expect_identical(e$metric, c("nloglik", "crps", "rmse", "interval_coverage"))
  expect_equal(e$estimate[1:3], by_hand[c(4, 1, 2)], tolerance = 1e-12)
  stopped <- gbt_train(y ~ ., d[-held, ], valid = d[held, ], objective = "dist_normal", threads = 1, eta = 0.3)
  expect_false(is.null(stopped$best_round))
  expect_identical(stopped$params$eval_metric, "nloglik")
  mine <- gbt_metric("mine", function(pred, label, weight) mean(abs(pred - label)))
  own <- normal_model(d[-held, ], valid = d[held, ], eval_metric = list("mae", mine))
  expect_equal(own$evaluation_log$valid_mine, own$evaluation_log$valid_mae, tolerance = 1e-12)
})

test_that("models are the same on threads, folders, after saving and refitting, and of both devices", {
  d <- spread_data(700)
  m <- normal_model(d)
  expect_identical(normal_model(d, threads = 2)$state, m$state)
  folder <- tempfile()
  paged <- gbt_data(d[, c("x", "z", "k")], label = d$y, path = folder, threads = 1)
  on_disk <- gbt_train(paged, objective = "dist_normal", nrounds = 20, eta = 0.2, max_depth = 3, seed = 2, threads = 1)
  expect_identical(predict(on_disk, d, "link"), predict(m, d, "link"))
  file <- tempfile()
  gbt_save(m, file)
  expect_identical(predict(gbt_load(file), d, "quantile", probs = 0.3), predict(m, d, "quantile", probs = 0.3))
  again <- gbt_train(y ~ ., d, objective = "dist_normal", nrounds = 20, eta = 0.2, max_depth = 3, seed = 2,
                     threads = 1)
  expect_identical(gbt_refit(again, data = d)$state, m$state)
  masked <- normal_model(d, mask = d$x < 0.7)
  expect_identical(masked$masked_out, predict(masked, d[d$x >= 0.7, ], "parameters"))
  members <- normal_model(d, mask = d$x < 0.7, ensemble = 2)
  expect_identical(members$masked_out, predict(members, d[d$x >= 0.7, ], "parameters"))
  on <- gbt_train(y ~ ., d, objective = "dist_normal", nrounds = 3, eta = 0.2, max_depth = 3, init_model = m,
                  threads = 1)
  expect_identical(on$nrounds, 23L)
  expect_identical(predict(on, d, "parameters", trees = 20), predict(m, d, "parameters"))
  file <- tempfile(fileext = ".csv")
  predict(m, d, "quantile", probs = c(0.1, 0.9), output = file)
  expect_identical(as.matrix(utils::read.csv(file, check.names = FALSE)),
                   predict(m, d, "quantile", probs = c(0.1, 0.9)))
  by_bins <- predict(on_disk, paged, "interval")
  expect_identical(by_bins, predict(m, d, "interval"))
})

test_that("contributions are those of each parameter's score", {
  d <- spread_data(300)
  m <- normal_model(d)
  s <- predict(m, d, "contrib")
  expect_identical(dimnames(s)[[3]], c("mean", "log_sd"))
  expect_equal(apply(s, c(1, 3), sum), predict(m, d, "link"), tolerance = 1e-12)
})

test_that("draws follow the distributions and come again with their seed", {
  d <- spread_data(300)
  m <- normal_model(d)
  one <- simulate(m, 200, seed = 4, newdata = d)
  expect_identical(one, simulate(m, 200, seed = 4, newdata = d))
  expect_false(identical(one$sim_1, simulate(m, 1, seed = 5, newdata = d)$sim_1))
  p <- predict(m, d, "parameters")
  chance <- pnorm(as.matrix(one), p[, 1], p[, 2])
  expect_gt(stats::ks.test(as.vector(chance), "punif")$p.value, 1e-4)
})

test_that("the rate of the second parameter's trees is eta times eta_scale", {
  d <- spread_data(400)
  plain <- gbt_train(y ~ ., d, objective = "dist_normal", nrounds = 1, eta = 0.2, eta_scale = 1, max_depth = 2,
                     seed = 1, threads = 1, colsample_bytree = 1)
  half <- gbt_train(y ~ ., d, objective = "dist_normal", nrounds = 1, eta = 0.2, eta_scale = 0.25, max_depth = 2,
                    seed = 1, threads = 1, colsample_bytree = 1)
  base <- predict(plain, d, "link", trees = 0)
  moved <- function(m) predict(m, d, "link") - base
  expect_identical(moved(plain)[, "mean"], moved(half)[, "mean"])
  expect_equal(moved(plain)[, "log_sd"] / 4, moved(half)[, "log_sd"], tolerance = 1e-12)
})

test_that("what is not offered is refused in words", {
  d <- spread_data(60)
  m <- gbt_train(y ~ ., d, objective = "dist_normal", nrounds = 2, threads = 1)
  expect_snapshot(error = TRUE, {
    gbt_train(y ~ ., d, objective = "dist_normal", nrounds = 2, threads = 1, eval_metric = "auc")
    gbt_train(y ~ ., d, objective = "dist_normal", nrounds = 2, threads = 1, leaf_iterations = 2)
    gbt_train(y ~ ., d, objective = "dist_normal", nrounds = 2, threads = 1, boosting = "ordered")
    gbt_train(y ~ ., d, objective = "dist_normal", nrounds = 2, threads = 1, monotone = c(x = 1))
    gbt_train(y ~ ., d, objective = "dist_normal", nrounds = 2, threads = 1, offset = d$x)
    gbt_train(y ~ ., d, objective = "squared_error", nrounds = 2, threads = 1, eta_scale = 0.1)
    gbt_train(k ~ ., d, objective = "dist_normal", nrounds = 2, threads = 1)
    predict(m, d, "quantile", level = 0.5)
    predict(m, d, "interval", probs = 0.5)
    predict(m, d, "interval", level = 2)
    predict(m, d, "survival", times = 1)
    predict(gbt_train(y ~ ., d, nrounds = 2, threads = 1), d, "parameters")
    predict(gbt_train(y ~ ., d, nrounds = 2, threads = 1), d, "interval")
    gbt_export(m, tempfile(fileext = ".c"))
  })
})

test_that("student, gamma, negative binomial and zero-inflated Poisson are those of R", {
  set.seed(3)
  n <- 800
  d <- data.frame(x = runif(n), z = runif(n))
  mu <- exp(1 + sin(6 * d$x))
  size <- exp(2 * d$z)
  y <- list(dist_student = 5 * d$x + rt(n, 4) * exp(d$z), dist_gamma = rgamma(n, size, size / mu),
            dist_negative_binomial = rnbinom(n, mu = mu, size = size),
            dist_zip = ifelse(runif(n) < plogis(2 * d$z - 1), 0, rpois(n, mu)))
  below <- list(dist_student = function(q, p) pt((q - p[, 1]) / p[, 2], 4),
                dist_gamma = function(q, p) pgamma(q, p[, 2], p[, 2] / p[, 1]),
                dist_negative_binomial = function(q, p) pnbinom(q, mu = p[, 1], size = p[, 2]),
                dist_zip = function(q, p) p[, 2] + (1 - p[, 2]) * ppois(q, p[, 1]))
  density <- list(dist_student = function(y, p) dt((y - p[, 1]) / p[, 2], 4) / p[, 2],
                  dist_gamma = function(y, p) dgamma(y, p[, 2], p[, 2] / p[, 1]),
                  dist_negative_binomial = function(y, p) dnbinom(y, mu = p[, 1], size = p[, 2]),
                  dist_zip = function(y, p) p[, 2] * (y == 0) + (1 - p[, 2]) * dpois(y, p[, 1]))
  probs <- c(0.01, 0.2, 0.5, 0.9, 0.999)
  for (name in names(y)) {
    d$y <- y[[name]]
    m <- gbt_train(y ~ x + z, d, objective = name, nrounds = 30, eta = 0.2, max_depth = 3, seed = 1, threads = 1)
    p <- predict(m, d, "parameters")
    expect_identical(colnames(p), gbt:::parameters_of_distribution(name))
    expect_gt(abs(cor(p[, 2], d$z)), 0.5, label = name)
    mean <- if (name == "dist_zip") p[, 1] * (1 - p[, 2]) else p[, 1]
    expect_equal(predict(m, d), unname(mean), tolerance = 1e-14)
    expect_equal(as.numeric(logLik(m, d)), sum(log(density[[name]](d$y, p))), tolerance = 1e-10)
    q <- predict(m, d, "quantile", probs = probs)
    for (k in seq_along(probs)) {
      at <- below[[name]](q[, k], p)
      if (name %in% c("dist_student", "dist_gamma")) {
        expect_equal(at, rep(probs[k], n), tolerance = 1e-10)
      } else { # the least count whose chance is enough
        expect_true(all(at >= probs[k] - 1e-12 & (q[, k] == 0 | below[[name]](q[, k] - 1, p) < probs[k] + 1e-12)))
      }
    }
    draws <- simulate(m, 40, seed = 4, newdata = d)
    expect_equal(colMeans(draws), rep(mean(d$y), 40), tolerance = 0.25, ignore_attr = TRUE)
  }
  d$y[7] <- 0.5
  expect_snapshot(error = TRUE, gbt_train(y ~ x + z, d, objective = "dist_zip", nrounds = 2, threads = 1))
  d$y[7] <- -1
  expect_snapshot(error = TRUE, {
    gbt_train(y ~ x + z, d, objective = "dist_negative_binomial", nrounds = 2, threads = 1)
    gbt_train(y ~ x + z, d, objective = "dist_gamma", nrounds = 2, threads = 1)
    gbt_train(y ~ x + z, d, objective = "dist_student", df = 1, nrounds = 2, threads = 1)
  })
})

test_that("intervals come in chunks, simulations of no row, and small responses do not diverge", {
  d <- spread_data(300)
  m <- normal_model(d)
  part <- split(d, rep(1:3, each = 100))
  chunks <- function(i) if (i <= 3) part[[i]]
  expect_identical(predict(m, chunks, type = "interval"), predict(m, d, type = "interval"))
  expect_error(predict(m, d, type = "interval", output = tempfile()), "use type = \"quantile\"",
               class = "gbt_error_unsupported")
  expect_identical(dim(simulate(m, 2, newdata = d[0, ])), c(0L, 2L))
  d$y <- d$y / 1000 # densities above 1, so the loss is below 0
  expect_no_warning(small <- normal_model(d, eval_train = TRUE))
  expect_lt(small$evaluation_log$train_nloglik[20], 0)
})

test_that("fans of distributions have the quantiles that are asked for", {
  d <- spread_data(400)
  m <- normal_model(d)
  fan <- gbt_fan(m, d, "x", probs = c(0.9, 0.1), bins = 4, threads = 1)
  expect_identical(attr(fan, "levels"), c(0.1, 0.9))
  q <- predict(m, d, "quantile", probs = c(0.1, 0.9))
  expect_identical(attr(fan, "below"), colMeans(d$y <= q))
  expect_identical(attr(gbt_fan(m, d, threads = 1), "levels"), c(0.05, 0.25, 0.5, 0.75, 0.95))
  in_sizes(plot(fan))
  expect_snapshot(error = TRUE, {
    gbt_fan(m, d, probs = 0.5)
    gbt_fan(m, d, probs = c(0, 1))
  })
  quantiles <- gbt_train(y ~ x, d, objective = "quantile", quantile_alpha = c(0.1, 0.9), nrounds = 2, threads = 1)
  expect_snapshot(error = TRUE, gbt_fan(quantiles, d, probs = 0.5))
})

test_that("raw scores, contributions and trees are named by the scale of their parameter", {
  d <- spread_data(300)
  m <- normal_model(d)
  expect_identical(colnames(predict(m, d, "link")), c("mean", "log_sd"))
  nodes <- as.data.frame(m)
  expect_identical(unique(nodes$output), c("mean", "log_sd"))
  expect_identical(gbt_tree(m, 4)$output, "log_sd")
  expect_output(print(gbt_tree(m, 4)), "round 2, for log_sd")
  own <- nodes$output == "log_sd" & is.na(nodes$left) # leaves of this parameter alone move it
  own <- nodes[own & nodes$round == 1, ]
  expect_equal(own$value[match(predict(m, d, "leaf")[, 2], own$node)],
               unname((predict(m, d, "link", trees = 1) - predict(m, d, "link", trees = 0))[, 2]), tolerance = 1e-12)
  effect <- gbt_partial(m, d, "z", type = "parameters", values = c(0.1, 0.9), rows = NULL, threads = 1)$effects
  at <- function(z) unname(colMeans(predict(m, replace(d, "z", z), "parameters")))
  expect_equal(effect$estimate, c(rbind(at(0.1), at(0.9))), tolerance = 1e-12)
  expect_identical(levels(effect$output), c("mean", "sd"))
  in_sizes(plot(gbt_partial(m, d, "z", type = "parameters", threads = 1)))
})

# Chances of y or less, and of less, by R.
chances_by_r <- function(objective, p, y, df = 4) {
  upto <- function(q) {
    switch(objective, dist_normal = pnorm(q, p[, 1], p[, 2]), dist_student = pt((q - p[, 1]) / p[, 2], df),
           dist_gamma = pgamma(q, p[, 2], p[, 2] / p[, 1]), dist_negative_binomial = pnbinom(q, p[, 2], mu = p[, 1]),
           dist_zip = (q >= 0) * (p[, 2] + (1 - p[, 2]) * ppois(q, p[, 1])))
  }
  counts <- objective %in% c("dist_negative_binomial", "dist_zip")
  list(upto = upto(y), less = upto(if (counts) y - 1 else y))
}

responses_of_all <- function(d) {
  set.seed(3)
  n <- nrow(d)
  mu <- exp(1 + sin(6 * d$x))
  size <- exp(2 * d$z)
  list(dist_normal = d$y, dist_student = 5 * d$x + rt(n, 4) * exp(d$z), dist_gamma = rgamma(n, size, size / mu),
       dist_negative_binomial = rnbinom(n, mu = mu, size = size),
       dist_zip = ifelse(runif(n) < plogis(2 * d$z - 1), 0, rpois(n, mu)))
}

test_that("the histogram of chances is that of the distributions, and counts are spread evenly", {
  d <- spread_data(600)
  y <- responses_of_all(d)
  weight <- rep(1:2, 300)
  for (name in names(y)) {
    d$y <- y[[name]]
    m <- gbt_train(y ~ x + z, d[1:300, ], objective = name, nrounds = 20, eta = 0.2, max_depth = 3, seed = 1,
                   threads = 1)
    new <- d[301:600, ]
    curve <- gbt_curve(m, new, "pit", bins = 7, weights = weight[301:600], threads = 1)
    chance <- chances_by_r(name, predict(m, new, "parameters"), new$y)
    # by hand: each row's share of each bin
    share <- vapply(1:7, function(b) {
      each <- mapply(function(less, upto) {
        if (upto == less) return(upto <= b / 7 && (upto > (b - 1) / 7 || b == 1))
        max(0, min(upto, b / 7) - max(less, (b - 1) / 7)) / (upto - less)
      }, chance$less, chance$upto)
      sum(weight[301:600] * each) / sum(weight[301:600])
    }, 0)
    expect_equal(curve$density, 7 * share, tolerance = 1e-9, label = name)
    expect_true(all(curve$lower < curve$density & curve$density < curve$upper))
    expect_equal(sum(curve$weight), sum(weight[301:600]))
    twice <- new[rep(seq_len(300), weight[301:600]), ]
    expect_equal(gbt_curve(m, twice[sample(nrow(twice)), ], "pit", bins = 7, threads = 1)$density, curve$density,
                 tolerance = 1e-12)
  }
  in_sizes(plot(curve), function(record, size) {
    expect_identical(labels_of(record, "x title"), "probability of the observed value or less")
  })
  in_sizes(plot(gbt_curve(list(few = m[1:2], all = m), new, "pit", threads = 1)), function(record, size) {
    expect_identical(labels_of(record, "key"), c("few", "all"))
  })
  plain <- gbt_train(y ~ x, d, nrounds = 2, threads = 1)
  expect_snapshot(error = TRUE, {
    gbt_curve(plain, d, "pit")
    gbt_curve(d$y, d$x, "pit")
    gbt_curve(m, d, "pit", class = "a")
    gbt_curve(m, d, "pit", strata = "x")
  })
})

test_that("conformal intervals of distributions hold what their chances say", {
  d <- spread_data(900)
  y <- responses_of_all(d)
  fitted <- 1:300
  calibration <- 301:600
  new <- 601:900
  for (name in names(y)) {
    d$y <- y[[name]]
    m <- gbt_train(y ~ x + z, d[fitted, ], objective = name, nrounds = 40, eta = 0.3, max_depth = 3, seed = 1,
                   threads = 1)
    fit <- gbt_conformal(m, d[calibration, ], threads = 1)
    expect_identical(fit$method, "distribution")
    score <- function(at, y = d$y[at]) {
      chance <- chances_by_r(name, predict(m, d[at, ], "parameters"), y)
      -log(pmin(chance$upto, 1 - chance$less))
    }
    expect_equal(fit$scores, unname(score(calibration)), tolerance = 1e-6, label = name)
    for (level in c(0.5, 0.8, 0.95)) {
      got <- predict(fit, d[new, ], level = level, threads = 1)
      bound <- sort(fit$scores)[ceiling(301 * level)]
      inside <- d$y[new] >= got$lower & d$y[new] <= got$upper
      its <- score(new)
      clear <- abs(its - bound) > 1e-6
      expect_identical(inside[clear], unname(its <= bound)[clear], label = name)
      expect_gt(mean(inside), level - 0.1)
      expect_equal(got$estimate, unname(predict(m, d[new, ])), tolerance = 1e-14)
      expect_true(all(got$lower <= got$upper))
      if (name %in% c("dist_negative_binomial", "dist_zip")) { # ends belong to the set, what is beyond does not
        expect_true(all(c(got$lower, got$upper) %% 1 == 0))
        some <- got$lower < got$upper
        for (end in c("lower", "upper")) {
          expect_true(all(score(new, got[[end]])[some] <= bound + 1e-9))
          beyond <- got[[end]] + if (end == "lower") -1 else 1
          expect_true(all((score(new, pmax(beyond, 0)) > bound)[some & beyond >= 0]))
        }
      }
    }
    # the very rows of calibration: as many as the level says are inside
    own <- predict(fit, d[calibration, ], level = 0.8, threads = 1)
    at <- ceiling(301 * 0.8)
    expect_gte(sum(d$y[calibration] >= own$lower & d$y[calibration] <= own$upper), at)
  }
  expect_warning(wide <- predict(fit, d[1:2, ], level = 0.999), class = "gbt_warning_conformal")
  expect_identical(wide[c("lower", "upper")], data.frame(lower = c(0, 0), upper = c(Inf, Inf)))
  expect_output(print(fit), "method \"distribution\", 300 rows")
  in_sizes(plot(fit))
  expect_error(gbt_conformal(m, d, method = "absolute"), "does not suit", class = "gbt_error_argument")
})

test_that("cross-validations keep the parameters of held-out rows", {
  d <- spread_data(300)
  for (name in c("dist_normal", "dist_zip")) {
    d$y <- responses_of_all(d)[[name]]
    cv <- gbt_cv(y ~ x + z, d, objective = name, nrounds = 5, folds = 3, keep_models = TRUE, seed = 1, threads = 1)
    by_hand <- cv$predictions
    for (k in 1:3) by_hand[cv$folds[[k]], ] <- predict(cv$models[[k]], d[cv$folds[[k]], ], "parameters")
    expect_identical(cv$predictions, by_hand)
    expect_identical(colnames(by_hand), gbt:::parameters_of_distribution(name))
    mine <- gbt_metric("mine", function(pred, label, weight) mean((pred - label)^2))
    e <- gbt_evaluate(cv, d, metrics = list("nloglik", "rmse", mine))
    log <- cv$evaluation_log[5, ]
    expect_equal(e$estimate[1], mean(cv$fold_log$test_nloglik[cv$fold_log$round == 5]), tolerance = 1e-12)
    expect_equal(e$estimate[2]^2, e$estimate[3], tolerance = 1e-12)
    curve <- gbt_curve(cv, d, "pit", bins = 4)
    chance <- chances_by_r(name, by_hand, d$y)
    share <- (0.25 - chance$less) / pmax(chance$upto - chance$less, 1e-300)
    expect_equal(curve$density[1], 4 * mean(pmin(pmax(share, 0), 1)), tolerance = 1e-9)
  }
  part <- gbt_cv(y ~ x + z, d, objective = name, nrounds = 2, folds = list(1:50, 51:90), keep_models = TRUE,
                 threads = 1)
  expect_true(all(is.na(part$predictions[91:300, ])))
  expect_identical(gbt_evaluate(part, d)$rows[1], 90L)
})

test_that("marginaleffects finds one prediction for each row, or each parameter", {
  d <- spread_data(100)
  m <- normal_model(d)
  expect_identical(gbt:::get_group_names.gbt(m), "main_marginaleffect")
  expect_identical(gbt:::get_predict.gbt(m, d)$estimate, predict(m, d))
  both <- gbt:::get_predict.gbt(m, d, type = "parameters")
  expect_identical(unique(both$group), c("mean", "sd"))
  expect_identical(both$estimate, as.vector(predict(m, d, "parameters")))
})

test_that("folds that kept means, as an earlier version made them, are refused", {
  d <- spread_data(100)
  cv <- gbt_cv(y ~ ., d, objective = "dist_normal", folds = 2, nrounds = 3, seed = 1, threads = 1, keep_models = TRUE)
  cv$predictions <- cv$predictions[, 1]
  expect_error(gbt_evaluate(cv, d), "run gbt_cv\\(\\) again", class = "gbt_error_unsupported")
  expect_error(gbt_curve(cv, d, "pit"), "run gbt_cv\\(\\) again", class = "gbt_error_unsupported")
})
