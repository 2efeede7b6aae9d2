# Cases drawn at random, each from one whole number: data, response, parameters, other rows to predict, circumstances.
#
# draw_case(id) gives the same case on every machine: one stream of R's Mersenne Twister, uniform numbers only, and what
# is computed of them by + - * / and comparisons. A case is a plain list, so that it can be cut down and printed:
#   x, y, weight, offset   the training data; x is a data frame, a matrix or a sparse matrix; y is a matrix where the
#                          response has several columns
#   sets                   validation sets: list(x, y, weight, offset)
#   new                    rows to predict: as x, with unseen levels, other types, more columns in another order
#   args                   other arguments of gbt_train(), plain values
#   own                    whether the objective is one of R functions (own_objective() of check.R)
#   init                   rounds of a model to go on from; 0: none
#   how                    circumstances that must not show: lists of threads, page_rows, simd

chance <- function(p) stats::runif(1) < p
pick <- function(...) ...elt(sample.int(...length(), 1L))
one_of <- function(v) v[[sample.int(length(v), 1L)]]
bell <- function(n) { # like a normal distribution, by additions alone
  out <- numeric(n)
  for (i in 1:12) out <- out + stats::runif(n)
  out - 6
}
some_missing <- function(v, share = 0.1) replace(v, stats::runif(length(v)) < share, NA)
texts_by <- function(n, texts) texts[1L + floor(length(texts) * stats::runif(n)^2)] # unequal frequencies

odd_texts <- c("", " ", "NA", "NaN", "TRUE", "1", "1.0", "a", "A", "a ", "\u00e4", "a\u0308", "\u4e2d\u6587", "\U1f600",
               "a\"b", "a\\b", "line\nline", "%d", "`")
in_latin1 <- function(texts) { # the same texts in another encoding, where there is one
  out <- iconv(texts, "UTF-8", "latin1")
  ifelse(is.na(out), texts, out)
}

# ---- columns: functions of the number of rows ----

odd_doubles <- c(Inf, -Inf, NaN, NA, 0, -0, 5e-324, -5e-324, 2.2250738585072014e-308, 1.7976931348623157e308,
                 -1.7976931348623157e308, 1e300, 1, 1 + 2^-52, 1 - 2^-53, 2^53, 2^53 + 2, 4294967296, -2147483648)
odd_integers <- c(NA, 2147483647L, -2147483647L, 0L, 1L, -1L, 65535L, 65536L)
integer64_of <- function(high, low) {
  bit64::as.integer64(high) * bit64::as.integer64(4294967296) + bit64::as.integer64(low)
}

number_kinds <- list(
  bell = bell,
  ties = function(n) round(bell(n) * 4) / 4,
  few = function(n) floor(stats::runif(n) * 5),
  holes = function(n) some_missing(bell(n), 0.3),
  constant = function(n) rep(2.5, n),
  nothing = function(n) rep(NA_real_, n),
  one_value_or_missing = function(n) some_missing(rep(-1, n), 0.5),
  odd = function(n) ifelse(stats::runif(n) < 0.4, odd_doubles[sample.int(length(odd_doubles), n, TRUE)], bell(n)),
  denormal = function(n) floor(stats::runif(n) * 40 - 20) * 5e-324,
  huge = function(n) (stats::runif(n) * 2 - 1) * 1.7976931348623157e308,
  neighbours = function(n) 1 + floor(stats::runif(n) * 8) * 2^-52,
  sorted = function(n) seq_len(n) + 0,
  zeros = function(n) ifelse(stats::runif(n) < 0.95, 0, bell(n)),
  signed_zeros = function(n) c(0, -0, 1, -1)[sample.int(4L, n, TRUE)],
  binary = function(n) floor(stats::runif(n) * 2)
)
other_kinds <- list(
  integer = function(n) some_missing(as.integer(floor(bell(n) * 10))),
  odd_integer = function(n) {
    ifelse(stats::runif(n) < 0.3, odd_integers[sample.int(length(odd_integers), n, TRUE)], sample.int(50L, n, TRUE))
  },
  integer64 = function(n) {
    high <- floor(stats::runif(n) * 3 - 1) * floor(stats::runif(n) * 2^30)
    v <- integer64_of(ifelse(stats::runif(n) < 0.5, 0, high), floor(stats::runif(n) * 1000))
    v[stats::runif(n) < 0.1] <- NA
    v
  },
  logical = function(n) some_missing(stats::runif(n) < 0.3),
  logical_nothing = function(n) rep(NA, n),
  factor = function(n) factor(texts_by(n, c("x", "y", "z")), c("y", "z", "x")),
  factor_unused = function(n) {
    factor(some_missing(texts_by(n, letters[1:5])), c("never", letters[5:1], "nor this", "neither"))
  },
  factor_one = function(n) factor(rep("only", n)),
  factor_na_level = function(n) addNA(factor(some_missing(texts_by(n, letters[1:4]), 0.2))),
  factor_nothing = function(n) factor(rep(NA, n), c("p", "q")),
  factor_many = function(n) factor(some_missing(texts_by(n, sprintf("l%03d", 1:300)), 0.05)),
  factor_odd = function(n) {
    texts <- texts_by(n, odd_texts)
    factor(if (chance(0.5)) in_latin1(texts) else texts)
  },
  factor_all_different = function(n) factor(sprintf("row %d", sample.int(n))),
  ordered = function(n) {
    factor(some_missing(texts_by(n, c("lo", "mid", "hi"))), c("lo", "mid", "hi", "top"), ordered = TRUE)
  },
  ordered_many = function(n) factor(texts_by(n, sprintf("%03d", 1:400)), sprintf("%03d", 1:400), ordered = TRUE),
  text = function(n) some_missing(texts_by(n, c("one", "two", "three", "NA", "", "four", "five", "six"))),
  text_odd = function(n) in_latin1(texts_by(n, odd_texts)),
  date = function(n) some_missing(structure(floor(stats::runif(n) * 3000 + 18000), class = "Date")),
  date_integer = function(n) structure(sample.int(3000L, n, TRUE), class = "Date"),
  time = function(n) structure(1.7e9 + floor(stats::runif(n) * 1e6), class = c("POSIXct", "POSIXt"), tzone = "UTC"),
  difftime = function(n) {
    units <- one_of(c("secs", "mins", "hours", "days", "weeks"))
    structure(some_missing(bell(n) * 100), class = "difftime", units = units)
  }
)
if (!requireNamespace("bit64", quietly = TRUE)) other_kinds$integer64 <- NULL

# Sizes that have edges in them: powers of two and what the engine counts in, one more and one less.
draw_rows <- function() {
  near <- function(v) max(1L, as.integer(v) + sample.int(3L, 1L) - 2L)
  u <- stats::runif(1)
  if (u < 0.08) return(sample.int(9L, 1L))
  if (u < 0.40) return(near(one_of(c(16, 32, 62, 64, 127, 128, 255, 256, 257, 512, 1000, 1024))))
  if (u < 0.94) return(10L + sample.int(500L, 1L))
  if (u < 0.97) return(near(one_of(c(2048, 4096, 8192, 10000))))
  near(one_of(c(16384, 32640, 32704, 32768, 65536)))
}

draw_frame <- function(n) {
  kinds <- c(number_kinds, other_kinds)
  few <- if (n > 5000L) 3L else 8L
  n_cols <- if (n > 5000L || chance(0.9)) sample.int(few, 1L) else 8L + sample.int(30L, 1L)
  drawn <- if (chance(0.2)) names(number_kinds) else names(kinds)
  x <- lapply(seq_len(n_cols), function(j) kinds[[one_of(drawn)]](n))
  if (n_cols > 2L && chance(0.3)) x[[n_cols]] <- x[[1L]] # all splits tie
  names(x) <- sprintf("v%d", seq_len(n_cols))
  if (chance(0.1)) names(x)[1L] <- one_of(c("a b", "\u00e4", "1", "if", "v`"))
  structure(x, class = "data.frame", row.names = .set_row_names(n))
}

draw_matrix <- function(n) {
  n_cols <- sample.int(12L, 1L)
  x <- vapply(seq_len(n_cols), function(j) number_kinds[[one_of(names(number_kinds))]](n), numeric(n))
  dim(x) <- c(n, n_cols)
  if (chance(0.3)) {
    x <- x > 0
  } else if (chance(0.4)) {
    x <- structure(as.integer(pmin(pmax(floor(x), -1e9), 1e9)), dim = dim(x))
  }
  if (chance(0.8)) colnames(x) <- sprintf("c%02d", seq_len(n_cols))
  x
}

# Explicit zeros, missing entries, columns and rows without any. Entries of groups of columns may exclude each other.
draw_sparse <- function(n) {
  n_cols <- 2L + sample.int(60L, 1L)
  if (chance(0.4)) { # one of several columns is filled in a row
    at <- cbind(seq_len(n), sample.int(n_cols, n, TRUE))
  } else {
    m <- max(1L, floor(n * n_cols * one_of(c(0.01, 0.05, 0.3))))
    at <- unique(cbind(sample.int(n, m, TRUE), sample.int(n_cols, m, TRUE)))
  }
  values <- c(1, 1, 1, 2, -1, 0, NA, 0.5, 1e300)[sample.int(9L, nrow(at), TRUE)]
  if (chance(0.4)) values <- bell(nrow(at))
  Matrix::sparseMatrix(i = at[, 1L], j = at[, 2L], x = values, dims = c(n, n_cols),
                       dimnames = list(NULL, sprintf("s%d", seq_len(n_cols))))
}

# ---- rows of anything ----

rows_of <- function(x, i) {
  if (is.null(x)) return(NULL)
  if (!is.data.frame(x)) return(if (length(dim(x)) == 2L) x[i, , drop = FALSE] else x[i])
  out <- lapply(x, function(v) v[i])
  structure(out, class = "data.frame", row.names = .set_row_names(length(i)))
}
columns_of <- function(x, j) {
  if (!is.data.frame(x)) return(x[, j, drop = FALSE])
  structure(unclass(x)[j], class = "data.frame", row.names = .set_row_names(nrow(x)))
}

# ---- responses ----

# What the response depends on: steps of the first columns.
signal_of <- function(x) {
  n <- nrow(x)
  out <- bell(n) / 2
  for (j in seq_len(min(5L, ncol(x)))) {
    v <- if (is.data.frame(x)) x[[j]] else as.vector(x[, j])
    code <- if (is.factor(v) || is.character(v)) match(v, unique(v)) %% 5 else unclass(v)
    code <- as.double(code)
    out <- out + ifelse(is.na(code), -0.7, ifelse(code > 0.3, 1, ifelse(code < -1, 0.5, 0))) * (j %% 3 - 0.8)
  }
  out
}

draw_response <- function(signal) {
  n <- length(signal)
  objective <- one_of(c("squared_error", "squared_error", "logistic", "logistic", "softmax", "poisson", "own"))
  y <- signal
  if (objective == "squared_error") {
    y <- y * one_of(c(1, 1, 1, 1e-6, 1e6, 2^-400, 2^300))
    if (chance(0.1)) y[1L] <- y[1L] * 1e7 # one gradient above all others
    if (chance(0.1)) y <- round(y)
    if (chance(0.05)) y <- rep(y[1L], n)
  } else if (objective == "logistic") {
    flag <- y > 0.2
    y <- pick(flag, factor(ifelse(flag, "yes", "no"), c("yes", "no")), ifelse(flag, "b", "a"), flag + 0,
              pmin(pmax(floor(y * 4) / 8, 0), 1))
  } else if (objective == "softmax") {
    k <- 2L + sample.int(4L, 1L)
    class <- 1L + pmin(floor(abs(y) * 2), k - 1L)
    class[seq_len(min(n, k))] <- seq_len(min(n, k)) # every class occurs, where there are rows enough
    y <- pick(factor(letters[class], letters[seq_len(k)]), letters[class], class - 1)
  } else if (objective == "poisson") {
    y <- floor(pmin(pmax(y + 1, 0), 3)^2 * one_of(c(1, 1, 10, 1e6)))
  }
  list(y = y, objective = objective)
}

# More columns of such a response: numbers, counts, labels. Some cells are missing, but none in the first row or column.
add_columns <- function(y) {
  n <- length(y)
  if (!is.numeric(y) && !is.logical(y)) y <- y %in% y[1L]
  others <- lapply(seq_len(sample.int(3L, 1L)), function(k) {
    other <- ifelse(stats::runif(n) < 0.3, y[sample.int(n)], y)
    if (chance(0.5)) other[stats::runif(n) < 0.2 & seq_len(n) > 1L] <- NA
    other
  })
  y <- do.call(cbind, c(list(y), others))
  colnames(y) <- c("u", "v", "w w", "x")[seq_len(ncol(y))]
  y
}

draw_weight <- function(n) {
  if (chance(0.6)) return(NULL)
  w <- pick(stats::runif(n) + 0.5, floor(stats::runif(n) * 3), 1 + floor(stats::runif(n) * 3), stats::runif(n) * 1e-6,
            stats::runif(n) * 1e9, ifelse(stats::runif(n) < 0.1, 1e6, 1), rep(1, n))
  if (!any(w > 0)) w[1L] <- 1
  w
}

draw_offset <- function(n, n_outputs) {
  if (chance(0.8)) return(NULL)
  offset <- bell(n * n_outputs) / 2
  if (n_outputs > 1L) matrix(offset, n) else offset
}

# ---- parameters ----

# Values worth a try; the ends of every range are added, but where they only take time.
tried <- list(
  eta = c(0.1, 0.3, 1, 1e-9), max_depth = c(0, 1, 2, 3, 6, 9), max_leaves = c(0, 2, 3, 7, 20),
  lambda = c(0, 0.5, 5), alpha = c(0, 0.5, 3), gamma = c(0, 0.1, 2), min_child_weight = c(0, 0, 1, 4),
  min_data_in_leaf = c(1, 2, 10), max_delta_step = c(0, 0.3), subsample = c(0.7, 0.1, 1e-6),
  colsample_bytree = c(0.6, 1e-6), colsample_bylevel = c(0.6, 1e-6), colsample_bynode = c(0.4, 1e-6),
  num_parallel_tree = c(2, 3), random_strength = c(0, 1, 50), extra_trees = c(FALSE, TRUE),
  leaf_iterations = c(2, 3, 8), path_smooth = c(0.5, 20), softmax_hessian = c(0, 1),
  max_cat_onehot = c(1, 10, 100), cat_smooth = c(0, 2),
  cat_l2 = c(0, 2), cat_noise = c(0, 0.1), max_cat_threshold = c(1, 3), min_data_per_group = c(1, 5, 100),
  seed = c(1, 12345, 2147483648), hist_memory = c(1, 1024)
)
end_takes_time <- c("num_parallel_tree", "max_leaves", "max_depth", "device_memory", "hist_memory")

draw_engine_args <- function() {
  args <- list()
  table <- gbt:::params_table()
  for (i in seq_len(nrow(table))) {
    name <- table$name[i]
    if (!chance(if (name %in% c("grow_policy", "max_depth", "min_child_weight")) 0.6 else 0.18)) next
    choices <- if (table$kind[i] == "enum") strsplit(table$choices[i], "|", fixed = TRUE)[[1L]] else tried[[name]]
    if (table$kind[i] != "enum" && !name %in% end_takes_time && (is.null(choices) || chance(0.1))) {
      choices <- c(if (!table$open_low[i]) table$low[i], if (!table$open_high[i]) table$high[i])
    }
    if (length(choices) > 0L) args[[name]] <- one_of(choices)
  }
  if (identical(args$grow_policy, "symmetric")) {
    args$colsample_bynode <- NULL
    if (identical(args$max_depth, 0)) args$max_depth <- NULL
  }
  if (identical(args$max_depth, 0) && (is.null(args$max_leaves) || args$max_leaves == 0)) args$max_leaves <- 12
  suit_sampling(args)
}

# Parameters of the sampling that is drawn: what belongs to others goes, but in one case of twenty, which is refused.
suit_sampling <- function(args) {
  if (chance(0.05)) return(args)
  method <- if (is.null(args$sampling_method)) "uniform" else args$sampling_method
  its <- list(uniform = "subsample", goss = c("top_rate", "other_rate"), mvs = c("subsample", "mvs_reg"),
              bayesian = "bagging_temperature")
  args[setdiff(unlist(its), its[[method]])] <- NULL
  if (method != "uniform") args$num_parallel_tree <- NULL
  if (method == "goss" && sum(args$top_rate, args$other_rate, 0.2) > 1) args[its$goss] <- list(0.3, 0.5)
  args
}

draw_constraints <- function(args, x) {
  names <- colnames(x)
  if (is.null(names)) names <- sprintf("f%d", seq_len(ncol(x)))
  is_number <- function(v) !is.character(v) && (!is.factor(v) || is.ordered(v))
  numbers <- if (is.data.frame(x)) vapply(x, is_number, NA) else TRUE
  if (chance(0.2)) {
    sign <- stats::setNames(sample.int(3L, length(names), TRUE) - 2, names)[numbers]
    if (length(sign) > 0L) args$monotone <- sign
  }
  if (chance(0.2)) {
    sets <- lapply(seq_len(sample.int(3L, 1L)), function(s) names[stats::runif(length(names)) < 0.5])
    args$interactions <- sets[lengths(sets) > 0L]
    if (length(args$interactions) == 0L) args$interactions <- NULL
  }
  if (chance(0.15)) {
    weight <- stats::setNames(ifelse(stats::runif(length(names)) < 0.2, 0, stats::runif(length(names)) + 0.01), names)
    weight[1L] <- 1
    args$feature_weights <- weight
  }
  if (chance(0.1)) {
    args$first_use_penalty <- stats::setNames(one_of(c(0.1, 3, 1e5)) * stats::runif(length(names)), names)
  }
  args
}

metrics_of <- list(squared_error = c("rmse", "mae"), logistic = c("logloss", "auc", "error"),
                   softmax = c("mlogloss", "merror"), poisson = c("poisson_deviance", "rmse", "mae"),
                   own = c("rmse", "mae"))

# ---- the case ----

# Rows to predict: values that training has not seen, columns in another order and of other types.
draw_new <- function(x) {
  if (!is.data.frame(x)) return(x)
  for (j in seq_along(x)) {
    v <- x[[j]]
    if (is.factor(v) && !is.ordered(v) && !anyNA(levels(v)) && chance(0.7)) {
      levels <- c("unseen", rev(levels(v)))
      v <- factor(replace(as.character(v), stats::runif(length(v)) < 0.4, "unseen"), levels)
      if (chance(0.3)) v <- as.character(v)
    } else if (is.character(v) && chance(0.7)) {
      v[stats::runif(length(v)) < 0.4] <- "unseen"
      if (chance(0.3)) v <- factor(v)
    } else if (is.integer(v) && !is.object(v) && chance(0.3)) {
      v <- as.double(v) + one_of(c(0, 0.5))
    } else if (is.double(v) && !is.object(v) && chance(0.2)) {
      v[stats::runif(length(v)) < 0.2] <- one_of(odd_doubles)
    }
    x[[j]] <- v
  }
  if (chance(0.3)) x <- columns_of(x, sample.int(length(x)))
  if (chance(0.2)) x[["not of the model"]] <- seq_len(nrow(x))
  x
}

draw_how <- function(i) {
  list(threads = c(2, 3, 8)[i], page_rows = one_of(c(0, 1, 7, 64, 1000, 65536)),
       simd = one_of(c("scalar", "avx2", "avx512", "auto")))
}

# Data of so many rows in all, n of them for training. Some tables have every row several times.
draw_table <- function(n, total) {
  form <- stats::runif(1)
  sparse <- form > 0.85 && requireNamespace("Matrix", quietly = TRUE)
  x <- if (sparse) draw_sparse(total) else if (form > 0.7) draw_matrix(total) else draw_frame(total)
  if (n > 4L && chance(0.15)) x <- rows_of(x, c(rep(seq_len(1L + n %/% 3L), length.out = n), (n + 1L):total))
  x
}

# Validation sets: of `all` the rows in `parts`, as far as training knows their classes.
draw_sets <- function(all, parts, known) {
  sets <- lapply(parts, function(rows) {
    rows <- rows[is.null(known) | all$y[rows] %in% known]
    if (length(rows) > 0L) lapply(all, rows_of, rows)
  })
  sets <- Filter(length, sets)
  stats::setNames(sets, sprintf("set%d", seq_along(sets)))
}

# Metrics, validation and the like.
draw_host_args <- function(args, case, objective) {
  args$nrounds <- if (nrow(case$x) > 5000L) 2 else one_of(c(1, 2, 3, 5, 9))
  if (is.null(args$seed)) args$seed <- case$id # else R's generator would be asked for one
  if (chance(0.4)) args$max_bin <- one_of(c(2, 3, 16, 62, 63, 64, 254, 255, 256, 257, 1000, 65535))
  stated <- objective == "poisson" || is.numeric(case$y) || chance(0.5)
  if (!case$own && stated) args$objective <- objective
  metrics <- metrics_of[[objective]]
  if (chance(0.5)) {
    args$eval_metric <- metrics[seq_len(sample.int(2L, 1L))]
  } else if (case$own) {
    args$eval_metric <- metrics[1L]
  }
  if (chance(0.3)) args$eval_train <- TRUE
  if (length(case$sets) > 0L && chance(0.4)) args$early_stopping_rounds <- sample.int(3L, 1L)
  numbers <- is.numeric(case$y) && objective != "softmax"
  if (length(case$sets) == 0L && nrow(case$x) > 30L && numbers && chance(0.15)) args$valid <- 0.3
  if (isS4(case$x) && chance(0.3)) args$sparse_zero <- "missing"
  has_levels <- function(v) (is.character(v) || (is.factor(v) && !is.ordered(v))) && !all(is.na(v))
  if (is.data.frame(case$x) && any(vapply(case$x, has_levels, NA)) && chance(0.5)) args$cat_method <- "sets"
  args
}

draw_case <- function(id) {
  RNGkind("Mersenne-Twister", "Inversion", "Rejection")
  set.seed(id)
  n <- draw_rows()
  n_sets <- if (chance(0.5)) 0L else sample.int(2L, 1L)
  sizes <- c(n, if (chance(0.1)) 700L else sample.int(70L, 1L), sample.int(60L, n_sets, TRUE))
  total <- sum(sizes)
  x <- draw_table(n, total)
  drawn <- draw_response(signal_of(x))
  columns <- id %% 6 == 0 && drawn$objective %in% c("squared_error", "logistic", "poisson")
  y <- if (columns) add_columns(drawn$y) else drawn$y
  classes <- !columns && (!is.numeric(y) || drawn$objective == "softmax")
  n_outputs <- if (drawn$objective == "softmax") length(unique(y[seq_len(n)])) else NCOL(y)
  all <- list(x = x, y = y, weight = draw_weight(total))
  if (!is.null(all$weight) && !any(all$weight[seq_len(n)] > 0)) all$weight[1L] <- 1
  all$offset <- if (!is.factor(y) || n_outputs == nlevels(y)) draw_offset(total, n_outputs)
  part <- split(seq_len(total), rep(seq_along(sizes), sizes))
  case <- c(list(id = id), lapply(all, rows_of, part[[1L]]))
  case$new <- draw_new(rows_of(x, part[[2L]]))
  case$new_offset <- rows_of(all$offset, part[[2L]])
  case$sets <- draw_sets(all, part[-(1:2)], if (classes) case$y)
  case$own <- drawn$objective == "own"
  case$args <- draw_host_args(draw_constraints(draw_engine_args(), x), case, drawn$objective)
  if (drawn$objective != "softmax") case$args$softmax_hessian <- NULL
  may_share <- columns || drawn$objective == "softmax"
  if (!may_share || !is.null(case$args$num_parallel_tree)) case$args$multi_strategy <- NULL
  if (case$own) case$args$leaf_iterations <- NULL # needs an objective of gbt's, as "ordered" does
  if ((case$own || columns) && identical(case$args$boosting, "ordered")) case$args$boosting <- NULL
  case$init <- if (chance(0.1)) 2 else 0
  case$unseen <- one_of(c("prior", "missing"))
  case$how <- lapply(1:3, draw_how)
  case
}
