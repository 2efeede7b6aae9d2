m <- gbt_train(mpg ~ ., mtcars, nrounds = 10, eval_train = TRUE, threads = 1)
k <- gbt_train(Species ~ ., iris, nrounds = 5, valid = 0.2, seed = 1, num_parallel_tree = 2, threads = 1)

test_that("print and summary", {
  # sizes and results may change with the engine, their messages do not
  expect_snapshot(transform = function(x) gsub("[0-9]+\\.[0-9]+", "<number>", x), {
    print(m)
    print(k)
    print(gbt_train(am ~ wt + offset(hp / 100), transform(mtcars, am = am == 1), nrounds = 2, threads = 1))
    summary(gbt_train(mpg ~ wt + cyl, mtcars, nrounds = 2, monotone = c(wt = -1), threads = 1))
    print(m[0])
  })
  expect_output(str(m), "Model of class 'gbt'")
  utils::capture.output(expect_invisible(print(m)))
})

test_that("plain facts", {
  expect_identical(length(m), 10L)
  expect_identical(nobs(m), 32L)
  expect_identical(variable.names(m), names(mtcars)[-1])
  expect_identical(formula(m), mpg ~ ., ignore_formula_env = TRUE)
  expect_error(formula(gbt_train(mtcars[-1], mtcars$mpg, nrounds = 1, threads = 1)), class = "gbt_error_argument")
})

test_that("a model behaves as a list, whatever its length", {
  expect_true(is.list(m))
  expect_identical(names(lapply(m, class)), names(unclass(m)))
  m$mine <- 1:3
  expect_identical(m$mine, 1:3)
  expect_identical(length(m), 10L)
  expect_identical(predict(m, mtcars)[1:2], predict(m, mtcars[1:2, ]))
  expect_true(isTRUE(all.equal(m, m)))
})

test_that("rounds can not be replaced, fields can", {
  expect_error(m[1] <- 3, "cannot be replaced", class = "gbt_error_unsupported")
  expect_error(m[] <- list(), "cannot be replaced", class = "gbt_error_unsupported")
  expect_error(length(m) <- 3, "cannot be set", class = "gbt_error_unsupported")
  other <- m
  other["best_score"] <- list(3)
  expect_identical(other$best_score, 3)
  expect_s3_class(other, "gbt")
})

test_that("rounds can be cut out", {
  a <- m[1:4]
  expect_same_bytes(a$state, gbt_train(mpg ~ ., mtcars, nrounds = 4, eta = m$params$eta, eval_train = TRUE,
                                       threads = 1)$state)
  expect_same_bytes(m[-(5:10)]$state, a$state)
  expect_same_bytes(m[rep(c(TRUE, FALSE), c(4, 6))]$state, a$state)
  expect_same_bytes(head(m, 4)$state, a$state)
  expect_same_bytes(m[]$state, m$state)
  expect_same_bytes(m[1:10]$state, m$state)
  b <- m[5:10]
  expect_identical(b$evaluation_log$train_rmse, m$evaluation_log$train_rmse[5:10])
  expect_equal(predict(a, mtcars) + predict(b, mtcars) - predict(m[0], mtcars), predict(m, mtcars))
  expect_identical(length(k[2:3]), 2L)
  expect_identical(predict(k[1:3], iris), predict(k, iris, trees = 3))
  expect_snapshot(error = TRUE, {
    m[c(1, 3)]
    m[2:1]
    m[11]
    m["a"]
    m[NA]
    m[1.5]
  })
})

test_that("the table of nodes is the model", {
  # trees walked by hand
  walk <- function(nodes, row) {
    at <- 1L
    while (!is.na(nodes$feature[at])) {
      x <- row[[nodes$feature[at]]]
      to <- if (is.na(x)) {
        nodes$missing[at]
      } else if (!is.na(nodes$threshold[at])) {
        if (x <= nodes$threshold[at]) nodes$left[at] else nodes$right[at]
      } else {
        if (as.character(x) %in% nodes$levels[[at]]) nodes$left[at] else nodes$right[at]
      }
      at <- to + 1L
    }
    list(value = nodes$value[at], node = nodes$node[at])
  }
  rows <- seq(1, nrow(flights), 7)
  d <- flights[rows, -1]
  d$distance[c(2, 5)] <- NA
  d$dest[3] <- NA
  d$weekday <- as.integer(d$weekday) - 1L
  f <- gbt_train(d, flights$late[rows], nrounds = 3, cat_method = "sets", threads = 1)
  nodes <- as.data.frame(f)
  expect_true(any(lengths(nodes$levels) > 1) && any(!is.na(nodes$threshold)))
  leaf <- predict(f, d, type = "leaf")
  link <- predict(f, d, type = "link")
  base <- predict(f[0], d[1, ], type = "link")
  trees <- split(nodes, nodes$tree)
  for (i in c(1:6, 100, 500)) {
    hits <- lapply(trees, walk, lapply(d, `[`, i))
    expect_identical(unname(vapply(hits, `[[`, 0L, "node")), leaf[i, ])
    expect_identical(Reduce(`+`, vapply(hits, `[[`, 0, "value"), base), link[i])
  }
  expect_identical(nodes$count[nodes$node == 0], rep(as.double(nrow(d)), 3))
  split_at <- which(!is.na(nodes$feature) & nodes$tree == 1)
  below <- nodes$count[nodes$left[split_at] + 1] + nodes$count[nodes$right[split_at] + 1]
  expect_identical(nodes$count[split_at], below)
})

test_that("splits are texts that people can read", {
  d <- data.frame(
    day = as.Date("2024-01-01") + 0:39, time = as.POSIXct("2024-01-01", tz = "UTC") + 0:39 * 3600,
    size = factor(rep(c("S", "M", "L", "XL"), 10), levels = c("S", "M", "L", "XL"), ordered = TRUE),
    colour = rep(c("red", "green", "blue", "black"), each = 10)
  )
  text <- function(y, column) {
    nodes <- as.data.frame(gbt_train(d[column], y, nrounds = 1, max_depth = 1, threads = 1))
    nodes$split[1]
  }
  expect_identical(text(rep(0:1, each = 20), "day"), "<= 2024-01-20")
  expect_match(text(rep(0:1, each = 20), "time"), "<= 2024-01-01 19:30:00 UTC")
  expect_identical(text(rep(c(0, 0, 1, 1), 10), "size"), "<= M")
  expect_match(text(rep(c(0, 1, 0, 0), each = 10), "colour"), "in green|in red, blue, black")
  nodes <- as.data.frame(k)
  expect_identical(sort(unique(nodes$output)), sort(levels(iris$Species)))
  expect_identical(max(nodes$round), 5L)
  expect_identical(max(nodes$tree), 30L)
  expect_identical(nrow(as.data.frame(m[0])), 0L)
})

test_that("importance adds up", {
  i <- gbt_importance(m)
  expect_named(i, c("feature", "gain", "cover", "frequency"))
  expect_setequal(i$feature, names(mtcars)[-1])
  for (part in c("gain", "cover", "frequency")) {
    expect_equal(sum(i[[part]]), 1)
    expect_false(is.unsorted(-gbt_importance(m, part)[[part]]))
  }
  nodes <- as.data.frame(m)
  nodes <- nodes[!is.na(nodes$feature), ]
  by <- tapply(nodes$gain, nodes$feature, sum)
  expect_equal(i$gain[match(names(by), i$feature)], as.vector(by / sum(by)))
  by <- table(nodes$feature)
  expect_equal(i$frequency[match(names(by), i$feature)], as.vector(by / sum(by)))
  expect_identical(gbt_importance(m, trees = 3), gbt_importance(m[1:3]))
  expect_true(all(gbt_importance(m[0])$gain == 0))
  expect_output(print(i), "importance by gain, [0-9]+ of 10 features used")
  expect_named(attributes(as.data.frame(i)), c("names", "row.names", "class"), ignore.order = TRUE)
  expect_identical(class(as.data.frame(i)), "data.frame")
  expect_error(gbt_importance(3), class = "gbt_error_argument")
  expect_error(gbt_importance(m, "gian"), "did you mean \"gain\"", class = "gbt_error_argument")
})

test_that("a part of the importances is shown as what it is", {
  i <- gbt_importance(gbt_train(mpg ~ ., mtcars, nrounds = 3, max_depth = 2, threads = 1))
  first <- function(x) capture.output(print(x))[1L]
  rows <- function(x) length(capture.output(print(x))) - 2L
  used <- sum(i$frequency > 0)
  expect_lt(used, 9)
  expect_identical(first(i), sprintf("importance by gain, %d of 10 features used", used))
  expect_identical(rows(i), used)
  expect_identical(first(head(i, 2)), "importance by gain, 2 of 10 features")
  expect_identical(first(i[2:1, ]), "importance, 2 of 10 features")
  expect_identical(first(i[i$gain < 0, ]), "importance by gain, 0 of 10 features")
  expect_identical(first(subset(i, gain > 0)), sprintf("importance by gain, %d of 10 features", used))
  expect_identical(rows(head(i, 9)), 9L) # those that are not used as well: they were asked for
  expect_identical(rows(tail(i, 3)), 3L)
  shuffled <- i[10:1, ]
  expect_identical(first(shuffled), sprintf("importance, %d of 10 features used", used))
  expect_identical(rows(shuffled), used)
  expect_identical(capture.output(print(i, top = 1))[c(1, 4)],
                   c(first(i), sprintf("and %d more", used - 1L)))
  expect_identical(capture.output(print(head(i, 9), top = 1))[4], "and 8 more")
  # what is no such table any more is a plain data frame
  for (plain in list(i[c("feature", "gain")], i[1:2, 2:4], i["gain"])) expect_identical(class(plain), "data.frame")
  expect_identical(i[1, "feature"], i$feature[1])
  for (twice in list(rbind(i, i), rbind(head(i, 2), head(i, 2)))) expect_output(print(twice), "^ *feature")
  expect_output(print(i[c(1, 11), ]), "NA")
  expect_output(print(transform(i, gain = sprintf("%.0f %%", 100 * gain))), "^ *feature")
  capture.output(expect_invisible(print(head(i))))
  expect_silent({
    grDevices::pdf(NULL)
    plot(head(i, 2))
    grDevices::dev.off()
  })
})

test_that("plots are drawn", {
  file <- tempfile(fileext = ".pdf")
  grDevices::pdf(file)
  on.exit({
    grDevices::dev.off()
    unlink(file)
  })
  expect_invisible(plot(m))
  expect_invisible(plot(k, metric = "mlogloss", main = "a title"))
  expect_invisible(plot(gbt_importance(m), top = 3))
  expect_invisible(plot(gbt_importance(m), type = "cover", col = "red"))
  expect_error(plot(m, metric = "auc"), class = "gbt_error_argument")
  bare <- gbt_train(mpg ~ ., mtcars, nrounds = 1, threads = 1)
  expect_error(plot(bare, metric = "rmse"), "no evaluation log", class = "gbt_error_argument")
})

test_that("print() names what was asked for", {
  d <- mtcars
  shown <- function(..., formula = mpg ~ .) {
    paste(capture.output(print(gbt_train(formula, d, nrounds = 3, seed = 1, threads = 1, ...))), collapse = "\n")
  }
  of_times <- c("aft", "cox", "fine_gray", "hazard") # whose values are words; of ranking those are shown that are given
  for (name in setdiff(Filter(Negate(gbt:::is_of_queries), gbt_objectives()$name), of_times)) {
    params <- gbt:::objective_info(name)$params
    label <- switch(gbt:::objective_info(name)$labels, CLASS = factor(d$cyl), BINARY = , SHARE = d$am,
                    COUNT = round(d$mpg), d$mpg)
    m <- gbt_train(d[-1], label, objective = name, nrounds = 2, threads = 1)
    text <- paste(capture.output(print(m)), collapse = "\n")
    for (p in params$name) {
      expect_match(text, sprintf("%s, .*%s %s", name, p, gbt:::format_number(m$params[[p]])))
    }
  }
  expect_match(shown(objective = "quantile", quantile_alpha = 0.9), "quantile, quantile_alpha 0.9", fixed = TRUE)
  expect_match(shown(objective = "tweedie", tweedie_variance_power = 1.3), "power 1.3", fixed = TRUE)
  expect_match(shown(monotone = c(wt = -1, hp = 0, qsec = 1)), "monotone  wt falling, qsec rising", fixed = TRUE)
  expect_no_match(shown(), "monotone|weight")
  expect_match(shown(weights = d$wt), "rows      32, weighted", fixed = TRUE)
  d$am <- factor(d$am, labels = c("automatic", "manual"))
  text <- shown(formula = am ~ ., class_weights = c(automatic = 1, manual = 2.5))
  expect_match(text, "weights of classes: automatic 1, manual 2.5", fixed = TRUE)
  expect_no_match(text, "weighted")
})

test_that("summary() shows the parameters that had a part in the model", {
  shown <- function(...) {
    paste(capture.output(summary(gbt_train(..., nrounds = 3, seed = 1, threads = 1))), collapse = "\n")
  }
  text <- shown(mpg ~ ., mtcars)
  expect_match(text, "max_depth")
  expect_no_match(text, "drop|top_rate|mvs_reg|bagging_temperature|softmax|cat_|multi_strategy")
  expect_match(shown(mpg ~ ., mtcars, sampling_method = "goss"), "top_rate")
  expect_match(shown(Species ~ ., iris), "softmax_hessian")
  d <- transform(mtcars, cyl = factor(cyl))
  expect_match(shown(mpg ~ ., d), "cat_smooth")
  expect_no_match(shown(mpg ~ ., d, cat_method = "sets"), "cat_prior")
  expect_match(shown(mpg ~ ., d, cat_method = "target"), "cat_prior")
  expect_match(shown(mpg ~ ., mtcars, path_smooth = 2), "path_smooth")
})
