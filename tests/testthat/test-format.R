# ../format/read_model.py reads models by docs/model-format.md alone. What it predicts has the bits of predict().

reader <- function(...) {
  script <- test_path("..", "format", "read_model.py")
  python <- Sys.which("python3")
  skip_if(!file.exists(script) || !nzchar(python), "there is no python3, or no reader")
  system2(python, c(shQuote(script), ...), stdout = TRUE, stderr = TRUE)
}

# Cells: n:HEXFLOAT, t:TEXT, or nothing.
write_cells <- function(data, file) {
  cells <- lapply(data, function(x) {
    out <- if (is.factor(x) || is.character(x)) paste0("t:", enc2utf8(as.character(x))) else {
      sprintf("n:%a", as.double(x))
    }
    replace(out, is.na(x), "")
  })
  rows <- do.call(paste, c(unname(cells), sep = "\t"))
  writeLines(c(paste(enc2utf8(names(data)), collapse = "\t"), rows), file, useBytes = TRUE)
}

expect_read <- function(model, data) {
  file <- withr::local_tempfile()
  table <- withr::local_tempfile()
  gbt_save(model, file)
  write_cells(data, table)
  lines <- reader("scores", shQuote(file), shQuote(table))
  want <- as.matrix(predict(model, data, type = "link"))
  expect_length(lines, nrow(want))
  got <- do.call(rbind, lapply(strsplit(lines, "\t", fixed = TRUE), as.double))
  expect_identical(unname(got), unname(want))
}

flights_like <- function(n) {
  i <- seq_len(n)
  data.frame(
    distance = round(200 + 4000 * abs(sin(i * 1.7)), 1), air_time = replace(abs(cos(i)) * 300, i %% 11 == 0, NA),
    carrier = factor(c("UA", "DL", "\u00c9A", "B6", NA)[i %% 5 + 1]),
    tail = factor(paste0("N", (i * 7919) %% 211)),
    wind = factor(c("calm", "breeze", "storm")[i %% 3 + 1], c("calm", "breeze", "storm"), ordered = TRUE),
    late = i %% 7 < 3, month = i %% 12L
  )
}

test_that("it predicts linear leaves", {
  d <- flights_like(1500)
  y <- d$distance / 100 + ifelse(is.na(d$air_time), 5, d$air_time / 50) + 3 * (d$wind == "storm")
  m <- gbt_train(d, y, nrounds = 12, max_depth = 4, leaf_model = "linear", threads = 2)
  expect_read(m, flights_like(300))
})

test_that("it predicts imported models as well, whose scores are added in other ways", {
  for (file in list.files(test_path("imported"), "\\.(json|ubj|txt)$", full.names = TRUE)) {
    m <- gbt_import(file)
    x <- as.data.frame(matrix(c(seq(-3, 3, length.out = 30), 0:29 %% 4, rep(NA, 3), 1e30, -1e30, 0.1, 1:24 / 7), 30))
    names(x) <- m$feature_names[seq_along(x)]
    for (name in setdiff(m$feature_names, names(x))) x[[name]] <- 1
    coded <- m$feature_types[match(names(x), m$feature_names)] == "category"
    x[coded] <- lapply(x[coded], function(v) pmin(trunc(abs(v)), 1e6))
    its <- imported_rows(m, basename(file))
    texts <- names(its)[vapply(its, is.character, NA)]
    x[texts] <- lapply(its[texts], function(v) factor(c(rep_len(v, 28), "unseen", NA)))
    expect_read(m, x)
  }
})

test_that("a reader written from the description alone predicts the same bits", {
  d <- flights_like(1500)
  y <- d$distance / 100 + 3 * (d$wind == "storm") + as.integer(d$tail) %% 5
  new <- flights_like(300)
  levels(new$carrier)[2] <- "new carrier"
  new$distance[c(3, 7)] <- c(Inf, -Inf)
  new$tail[5] <- NA
  more <- list(nrounds = 15, threads = 2)
  train <- function(...) do.call(gbt_train, c(list(...), more))
  expect_read(train(d, y), new)
  expect_read(train(d, factor(d$month), max_depth = 4), new)
  expect_read(train(d, factor(y > 20), grow_policy = "symmetric"), new)
  expect_read(train(d, round(y), objective = "poisson", num_parallel_tree = 3, subsample = 0.7), new)
  expect_read(train(d, y, objective = "huber", huber_delta = 0.5), new)
  expect_read(train(d, y, level_counts = TRUE), new)
  expect_read(train(d, y, cat_features = "month", max_cat_onehot = 1, min_data_per_group = 1), new)
  expect_read(train(d, y, cat_features = "month", cat_method = c("target", "count"), max_cat_combine = 3), new)
  expect_read(train(d, y, grow_policy = "lossguide", max_leaves = 40, min_data_per_group = 5), new)
  expect_read(train(d[c("carrier", "tail")], y), new)
  expect_read(train(d, y, valid = 0.2, early_stopping_rounds = 2, eta = 1), new)
  expect_read(train(d, c("a", "b", "c")[findInterval(y, quantile(y, 1:2 / 3)) + 1L],
                    multi_strategy = "multi_output_tree"), new)
})

test_that("levels beyond those that sets tell apart are missing for a reader as well", {
  d <- data.frame(f = factor(c(1:70000, 1:35000)))
  y <- as.integer(d$f) %% 7 + (seq_along(d$f) > 70000) + 4 * (as.integer(d$f) > 65534)
  m <- gbt_train(d, y, level_counts = TRUE, nrounds = 3, min_data_per_group = 1, cat_smooth = 0, threads = 2)
  expect_read(m, d[c(1:40, 34990:35010, 65500:65600), , drop = FALSE])
})

test_that("a reader finds the sections by name, and damage", {
  file <- withr::local_tempfile()
  m <- gbt_train(mpg ~ ., mtcars, nrounds = 2, threads = 1)
  gbt_save(m, file)
  expect_identical(reader("list", shQuote(file)),
                   c("numbers", "objective", "base_scores", "trees", "nodes", "gain", "cover", "count", "columns",
                     "meta", "meta_values", "texts"))
  bytes <- m$state
  bytes[length(bytes) / 2] <- xor(bytes[length(bytes) / 2], as.raw(1))
  writeBin(bytes, file)
  expect_match(suppressWarnings(reader("list", shQuote(file))), "damaged", all = FALSE)
})

vector_rows <- function(n) {
  i <- seq_len(n)
  texts <- c("niveau \u20ac0", "L1", "niveau \u20ac2", "L3", "niveau \u20ac4")
  out <- list(ordered(texts[i %% 5 + 1], texts), i %% 23 / 2 - 5, factor(c(texts, "new", NA)[i %% 7 + 1]),
              as.Date("1970-01-01") + i %% 17 - 8)
  stats::setNames(list2DF(out), c("\u00e4 0", "x1", "x2", "\u00e4 3"))
}

test_that("leaves with a value for every class are used by all methods", {
  m <- vectors()
  new <- vector_rows(200)
  expect_identical(length(m), 2L)
  expect_read(m, new)
  link <- predict(m, new, type = "link")
  expect_identical(dim(link), c(200L, 3L))
  p <- predict(m, new)
  expect_equal(p, exp(link) / rowSums(exp(link)), tolerance = 1e-12)
  expect_identical(as.integer(predict(m, new, type = "class")), max.col(p, "first"))
  leaf <- predict(m, new, type = "leaf")
  expect_identical(ncol(leaf), 2L) # a tree a round
  nodes <- as.data.frame(m)
  expect_identical(colnames(nodes$value), m$classes)
  expect_true(all(is.na(nodes$output)))
  by_hand <- matrix(.Call(C_gbt_model_info, m$state, m$cache)$base, 200, 3, byrow = TRUE)
  for (t in 1:2) {
    one <- nodes[nodes$tree == t, ]
    by_hand <- by_hand + one$value[match(leaf[, t], one$node), ]
  }
  expect_identical(unname(by_hand), unname(link))
  expect_identical(predict(m[1], new, type = "link"), predict(m, new, type = "link", trees = 1))
  splits <- table(factor(nodes$feature, m$feature_names))
  importance <- gbt_importance(m)
  expect_equal(importance$frequency, as.vector(splits[importance$feature]) / sum(splits))
  expect_output(print(summary(m)), "rounds +2")
  file <- withr::local_tempfile()
  gbt_save(m, file)
  expect_identical(predict(gbt_load(file), new), p)
  y <- factor(rep_len(m$classes, 200))
  for (strategy in c("multi_output_tree", "one_output_per_tree")) { # either goes on from such a model
    more <- gbt_train(new, y, init_model = m, nrounds = 1, threads = 1, multi_strategy = strategy)
    expect_identical(predict(more[1:2], new, type = "link"), link)
    expect_identical(length(unique(as.data.frame(more)$tree)), if (strategy == "multi_output_tree") 3L else 9L)
    expect_read(more, new)
  }
})
