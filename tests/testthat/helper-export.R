# Models whose files are tested, and rows for them: values at, next below and next above thresholds, missing values,
# infinities, levels that are new.

export_data <- function() {
  i <- seq_len(900)
  hash <- function(k) (i * 7919 * k + (i %/% 7) * 104729) %% 1009 / 1009
  d <- data.frame(
    x = round(hash(1) * 8 - 4, 3), y = hash(2)^3 * 1e5 + 1 / 3,
    f = factor(c("a", "b", "quote\"s \\ ??/", "caf\u00e9", " ", "f6", "f7")[1 + (i * 31) %% 7]),
    many = factor(paste0("m", 100 + floor(hash(3) * 60))),
    o = factor(c("low", "mid", "high")[1 + (i * 17) %% 3], c("low", "mid", "high"), ordered = TRUE),
    flag = hash(4) < 0.4
  )
  d$x[i %% 11 == 0] <- NA
  d$f[i %% 13 == 0] <- NA
  d$o[i %% 29 == 0] <- NA
  score <- ifelse(is.na(d$x), 1, d$x) + (d$f %in% c("a", "f7")) * 2 + as.integer(d$many) / 30 +
    as.integer(d$o) %in% 3 + d$flag * (d$y > 2e4) + hash(5)
  list(x = d, y = score)
}

# By name: one of each kind that files must say. They are trained once for all tests.
export_models <- local({
  made <- NULL
  function() {
    if (is.null(made)) made <<- make_export_models()
    made
  }
})
make_export_models <- function() {
  its <- export_data()
  d <- its$x
  y <- its$y
  three <- factor(c("lo", "mid \"q\"", "hi")[1 + (y > 2) + (y > 4)])
  fit <- function(y, ..., nrounds = 8) gbt_train(d, y, nrounds = nrounds, threads = 1, ...)
  list(
    usual = fit(y), symmetric = fit(y, grow_policy = "symmetric"), lossguide = fit(y, grow_policy = "lossguide"),
    sets = fit(y, cat_method = "sets"), two = fit(factor(y > 3, labels = c("no", "yes"))), three = fit(three),
    vectors = fit(three, multi_strategy = "multi_output_tree"), counts = fit(round(abs(y)), objective = "poisson"),
    logs = fit(abs(y), objective = "squared_log_error"),
    quantiles = fit(y, objective = "quantile", quantile_alpha = c(0.1, 0.5, 0.9)),
    forest = fit(y, nrounds = 3, num_parallel_tree = 4, subsample = 0.6),
    stopped = gbt_train(d, y, nrounds = 30, eta = 1, valid = 0.3, early_stopping_rounds = 2, seed = 3, threads = 1),
    none = fit(y)[0]
  )
}

# Rows at and next to thresholds of a model, with all else that rows can have. floats: numbers that float32 has, and no
# infinities.
export_rows <- function(model, n = 1000, floats = FALSE) {
  d <- export_data()$x
  rows <- d[rep_len(seq_len(nrow(d)), n), ]
  nodes <- as.data.frame(model)
  ulp <- function(v, up) {
    bits <- 2^(floor(log2(pmax(abs(v), 2^-1000))) - 52)
    v + up * bits
  }
  to_float <- function(v) readBin(writeBin(as.double(v), raw(), size = 4L), "double", length(v), size = 4L)
  for (column in c("x", "y")) {
    t <- nodes$threshold[nodes$feature %in% column & !is.na(nodes$threshold)]
    if (length(t) == 0) t <- 0
    if (floats) {
      near <- to_float(t)
      odd <- c(near, near * (1 + 2^-23), near * (1 - 2^-24), NA, 0, -1e30, 3e38)
      odd <- to_float(odd)
    } else {
      odd <- c(t, ulp(t, 1), ulp(t, -1), NA, Inf, -Inf, 0, -0, NaN)
    }
    at <- seq(1, n, by = if (column == "x") 2 else 3)
    rows[[column]][at] <- rep_len(odd, length(at))
    if (floats) rows[[column]] <- to_float(rows[[column]])
  }
  for (column in c("f", "many")) {
    levels(rows[[column]]) <- c(levels(rows[[column]]), "never seen")
    rows[[column]][seq(5, n, by = 9)] <- "never seen"
    rows[[column]][seq(3, n, by = 10)] <- NA
  }
  row.names(rows) <- NULL
  rows
}

# The rows beside a model of the folder imported: numbers, and texts of levels.
imported_rows <- function(model, file) {
  rows <- utils::read.csv(test_path("imported", sub("\\..*$", ".csv", file)), colClasses = "character", na.strings = "")
  numbers <- startsWith(names(rows), "x")
  rows[numbers] <- lapply(rows[numbers], as.numeric)
  stats::setNames(rows[numbers | startsWith(names(rows), "c")], model$feature_names)
}

# Columns of codes as factors of their digits.
codes_as_texts <- function(x, model) {
  coded <- model$feature_types == "category"
  x[coded] <- lapply(x[coded], function(v) factor(format(v, trim = TRUE), exclude = "NA"))
  x
}

# Rows for the programs of tests/format: a cell is "n:NUMBER" or "t:TEXT", nothing is missing.
write_cells <- function(rows, file) {
  cells <- lapply(rows, function(x) {
    out <- if (is.factor(x)) paste0("t:", enc2utf8(as.character(x))) else {
      sprintf("n:%s", ifelse(is.infinite(x), ifelse(x > 0, "inf", "-inf"), sprintf("%a", as.double(x))))
    }
    replace(out, is.na(x), "")
  })
  writeLines(c(paste(enc2utf8(names(rows)), collapse = "\t"), do.call(paste, c(unname(cells), sep = "\t"))), file,
             useBytes = TRUE)
}

# Rows as predict_peers.py takes them: levels are their positions, or whole numbers of columns that are those.
peer_numbers <- function(model, rows) {
  levels <- .Call(C_gbt_model_levels, model$state, model$cache)
  out <- vapply(seq_along(model$feature_names), function(j) {
    v <- rows[[model$feature_names[j]]]
    if (is.factor(v) && model$feature_types[j] != "category") {
      code <- match(as.character(v), levels[[j]]) - 1
      return(ifelse(is.na(v), NaN, ifelse(is.na(code), length(levels[[j]]), code)))
    }
    as.double(if (is.factor(v)) as.character(v) else v)
  }, numeric(nrow(rows)))
  matrix(out, nrow(rows))
}

# The rows of a model as those of another one with the same columns, whose categories may be codes.
named_rows <- function(again, x, model, rows) {
  out <- as.data.frame(x)
  names(out) <- model$feature_names
  for (column in names(rows)) {
    at <- match(column, model$feature_names)
    if (!is.na(at) && again$feature_types[at] == "factor") out[[column]] <- rows[[column]]
  }
  out
}

# Raw scores of a model whose leaves and sums are float32: what gbt_import() makes of its file for XGBoost.
float_scores <- function(model, rows) {
  file <- withr::local_tempfile(fileext = ".ubj")
  suppressMessages(gbt_export(model, file))
  again <- gbt_import(file)
  x <- named_rows(again, peer_numbers(model, rows), model, rows)
  unname(matrix(as.double(predict(again, x, type = "link", threads = 1)), nrow(rows)))
}
