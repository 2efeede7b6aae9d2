# Trainings of many kinds, each by all ranks with their shares of the same rows. Without mpirun: by one process.
#
#   Rscript trainings.R FILE [brief]      writes FILE-RANK, a line "NAME DIGEST" for each training
#
# brief: the first third of them. Without mpirun FILE-brief is written as well, the digests of that third.
library(gbt)
file <- commandArgs(TRUE)[[1L]]
brief <- "brief" %in% commandArgs(TRUE)
alone <- !any(nzchar(Sys.getenv(c("OMPI_COMM_WORLD_SIZE", "PMI_SIZE"))))
# With a timeout all operations work in copies (src/mpi/mpi_kept.h). 3 ranks have one: in the short form of ranks.sh all
# of MPICH and none of Open MPI.
ranks <- if (!alone) gbt_ranks(timeout = if ("3" %in% Sys.getenv(c("OMPI_COMM_WORLD_SIZE", "PMI_SIZE"))) 600 else 0)
rank <- if (alone) 0L else ranks$rank
size <- if (alone) 1L else ranks$size

# A vector with a value for each row of this rank, of all rows.
of_all <- function(v) if (alone) v else gbt:::with_ranks(ranks, gbt:::rows_of_ranks(v), "of_all")
# What a result says of all rows, as bytes.
bytes_of <- function(result) {
  if (is.data.frame(result)) return(serialize(as.data.frame(result), NULL, version = 2L))
  if (is.character(result)) return(serialize(result, NULL, version = 2L))
  log <- serialize(result$evaluation_log, NULL, version = 2L)
  if (inherits(result, "gbt")) return(c(result$state, log, serialize(result$baseline, NULL, version = 2L)))
  parts <- unclass(result)[c("evaluation_log", "fold_log", "best_round", "one_se_round", "nrounds", "stopped", "params",
                             "by_rule", "best", "best_config", "errors", "warned")]
  seen <- result$results
  parts$results <- seen[names(seen) != "seconds"]
  parts$models <- lapply(result$models, `[[`, "state")
  parts$folds <- lapply(result$folds, function(at) of_all(replace(logical(result$n_obs), at, TRUE)))
  predictions <- result$predictions
  if (!is.null(predictions)) parts$predictions <- apply(as.matrix(predictions), 2L, of_all, simplify = FALSE)
  serialize(parts, NULL, version = 2L)
}
digest <- function(result) {
  path <- tempfile()
  writeBin(bytes_of(result), path)
  unname(tools::md5sum(path))
}
write_digests <- function(of) {
  writeLines(sprintf("%s %s", names(models), vapply(models, digest, "")), sprintf("%s-%s", file, of))
}

set.seed(42)
n <- 3001L
rows <- data.frame(
  a = rnorm(n), b = round(runif(n), 2), i = sample(50L, n, TRUE), l = runif(n) > 0.4,
  f = factor(sample(c(letters[1:6], "rare"), n, TRUE, c(rep(1, 6), 0.01))),
  t = sample(sprintf("town %d", 1:300), n, TRUE),
  o = factor(sample(c("low", "mid", "high"), n, TRUE), c("low", "mid", "high"), ordered = TRUE),
  when = as.Date("2024-01-01") + sample(400L, n, TRUE)
)
rows$a[sample(n, 200L)] <- NA
rows$t[sample(n, 50L)] <- NA
effect <- rows$b + (rows$f == "c") + 0.3 * (rows$o == "high") + ifelse(is.na(rows$a), 0.5, 0.4 * rows$a)
rows$number <- effect + rnorm(n)
rows$yes <- factor(ifelse(effect + rnorm(n) > 1, "yes", "no"))
rows$three <- c("red", "green", "blue")[1 + (effect + rnorm(n) > 0.5) + (effect + rnorm(n) > 1.5)]
rows$count <- rpois(n, exp(0.3 * effect))
rows$w <- sample(c(0, 0.5, 1, 2.25), n, TRUE)
rows$hours <- round(runif(n, 0.5, 2), 2)
# Queries of up to 20 rows, none of which lies on two ranks.
ends_of <- function(ranks) floor(2500 * (0:ranks) ^ 1.3 / ranks ^ 1.3)
rows$query <- findInterval(seq_len(n) - 1, sort(unique(c(seq(0, n, 20), unlist(lapply(1:8, ends_of))))))
rows$grade <- pmin(rows$count, 4)
columns <- c("a", "b", "i", "l", "f", "t", "o", "when")

# Shares of different lengths; with four ranks or more one of them is empty.
cut_rows <- function(n) {
  ends <- floor(n * (seq_len(size + 1L) - 1) ^ 1.3 / size ^ 1.3)
  if (size > 3L) ends[3L] <- ends[2L]
  ends
}
share_of <- function(x) {
  ends <- cut_rows(NROW(x))
  at <- seq_len(ends[rank + 2L] - ends[rank + 1L]) + ends[rank + 1L]
  if (is.null(dim(x))) x[at] else x[at, , drop = FALSE]
}

own <- share_of(rows[1:2500, ])
later <- share_of(rows[2501:n, ])
wide <- Matrix::rsparsematrix(2000L, 400L, 0.02)
colnames(wide) <- sprintf("v%d", 1:400)
wide_y <- as.numeric(wide[, 1L] - wide[, 2L] + 0.1 * sin(1:2000))
train <- function(y, ..., data = own) {
  gbt_train(data[columns], data[[y]], ..., nrounds = 12, threads = 2, ranks = ranks)
}
if (alone) train <- function(y, ..., data = own) gbt_train(data[columns], data[[y]], ..., nrounds = 12, threads = 2)
from_matrix <- function(x, y, ...) {
  if (alone) gbt_train(x, y, ..., nrounds = 12, threads = 2)
  else gbt_train(x, y, ..., nrounds = 12, threads = 2, ranks = ranks)
}

# Rows enough for a race of shapes, judged by the later rows or by rows held out; then a few rounds.
many <- share_of(rows[rep(1:2500, 4), ])
raced <- function(...) {
  few <- function(now) now$round == 3
  train <- function(...) {
    gbt_train(many[columns], many$number, ..., nrounds = 480, eta = 0.1, threads = 2, callbacks = few)
  }
  if (alone) train(...) else train(..., ranks = ranks)
}

# Events of two causes, or none.
causes_of <- function(d) {
  y <- times_of(d)
  at <- unclass(y)
  at[, 2L] <- at[, 2L] * (1 + round(at[, 1L] * 100) %% 2)
  structure(at, type = "mright", states = c("a", "b"), class = "Surv")
}

# Times, two thirds of them known, the others censored: as survival::Surv() has them.
times_of <- function(d, type = "right") {
  known <- as.numeric(d$i %% 3 > 0)
  if (type == "right") return(structure(cbind(time = d$hours, status = known), type = type, class = "Surv"))
  structure(cbind(time1 = d$hours, time2 = ifelse(known, d$hours + d$b, 1), status = ifelse(known, 3, d$i %% 2 * 2)),
            type = type, class = "Surv")
}

first <- train("number", seed = 1)
models <- list(
  race_by_valid = raced(early_stopping_rounds = 1, valid = list(x = later[columns], y = later$number)),
  race_by_held = raced(),
  plain = first,
  depthwise = train("number", seed = 1, grow_policy = "depthwise", max_depth = 5),
  lossguide = train("number", seed = 1, grow_policy = "lossguide", max_leaves = 20),
  classes_two = train("yes", seed = 1),
  classes_many = train("three", seed = 1),
  classes_shared = train("three", seed = 1, multi_strategy = "multi_output_tree"),
  class_weights = train("yes", seed = 1, class_weights = "balanced"),
  numbers_as_classes = train("i", seed = 1, objective = "softmax"),
  counts = train("count", seed = 1, objective = "poisson", exposure = own$hours),
  quantile = train("number", seed = 1, objective = "quantile", quantile_alpha = 0.8),
  absolute = train("number", seed = 1, objective = "absolute_error"),
  weights = train("number", seed = 1, weights = own$w),
  offset = train("number", seed = 1, offset = own$b),
  sampled = train("number", seed = 7, subsample = 0.5, colsample_bytree = 0.5),
  goss = train("number", seed = 7, sampling_method = "goss"),
  mvs = train("number", seed = 7, sampling_method = "mvs", subsample = 0.4),
  bayesian = train("number", seed = 7, sampling_method = "bayesian"),
  sets = train("yes", seed = 1, cat_method = "sets"),
  target = train("yes", seed = 1, cat_method = "target"),
  combined = train("yes", seed = 1, cat_method = "target", max_cat_combine = 2),
  ensemble = train("number", seed = 1, ensemble = 2),
  groups = train("yes", seed = 1, cat_method = "target", group = own$i),
  times_aft = from_matrix(own[columns], times_of(own), objective = "aft", seed = 1, weights = own$w, eval_train = TRUE,
                          eval_metric = c("concordance", "ibs", "aft_nloglik")),
  times_between = from_matrix(own[columns], times_of(own, "interval"), aft_dist = "weibull", seed = 1, subsample = 0.7,
                              valid = list(x = later[columns], y = times_of(later, "interval")),
                              early_stopping_rounds = 3),
  hazards = from_matrix(own[columns], times_of(own), seed = 1, weights = own$w, subsample = 0.8,
                        valid = list(x = later[columns], y = times_of(later)), early_stopping_rounds = 3,
                        eval_metric = c("concordance", "uno_c", "brier_survival@5", "dcal", "ibs", "cox_nloglik")),
  incidence = from_matrix(own[columns], causes_of(own), objective = "fine_gray", cause = "b", seed = 1,
                          weights = own$w, valid = 0.2, eval_metric = "concordance"),
  hazards_of_intervals = from_matrix(own[columns], times_of(own), objective = "hazard", breaks = 4, seed = 1,
                                     weights = own$w, valid = 0.2, eval_train = TRUE,
                                     eval_metric = c("concordance", "ibs", "dcal", "hazard_nloglik")),
  hazards_of_strata = from_matrix(own[columns], times_of(own), seed = 1, strata = own$f, subsample = 0.8,
                                  valid = 0.2, eval_metric = c("ibs", "uno_c", "concordance")),
  hazards_mean = from_matrix(own[columns], times_of(own), seed = 1, ensemble = 2, offset = own$b),
  ranking = train("grade", seed = 1, objective = "rank_ndcg", group = own$query, subsample = 0.8),
  ranking_positions = train("grade", seed = 1, objective = "rank_ndcg", group = own$query, position = own$grade),
  ranking_ratios = train("grade", seed = 1, objective = "rank_pairwise", group = own$query, position = own$i,
                         position_bias = "ratio"),
  ranking_sums = train("grade", seed = 1, objective = "query_rmse", group = factor(own$query), weights = own$w),
  by_time = train("yes", seed = 1, cat_method = "target", time = own$when),
  masked = train("number", seed = 1, mask = own$b < 0.8),
  one_metric = train("count", seed = 1, objective = "poisson", valid = list(x = later[columns], y = later$count),
                     eval_metric = c("mae", "poisson_deviance")),
  level_counts = train("yes", seed = 1, level_counts = TRUE),
  monotone = train("number", seed = 1, monotone = c(b = 1)),
  valid = train("number", seed = 1, valid = list(later = list(x = later[columns], y = later$number)),
                early_stopping_rounds = 3),
  auc = train("yes", seed = 1, valid = list(later = list(x = later[columns], y = later$yes)), weights = own$w,
              eval_metric = c("auc", "pr_auc"), eval_train = TRUE),
  gini = train("number", seed = 1, valid = list(later = list(x = later[columns], y = later$number)),
               eval_metric = "gini"),
  goes_on = train("number", seed = 1, init_model = first),
  sparse = from_matrix(share_of(wide), share_of(wide_y), seed = 1),
  dense = from_matrix(as.matrix(share_of(wide))[, 1:20], share_of(wide_y), seed = 1)
)
with_this <- function(f, ...) if (alone) f(...) else f(..., ranks = ranks)
# A rank without rows between two that have some, and one factor: no level is sent to this rank or from it.
ends <- floor(2500 * c(0, 0.4, 0.4, 1))
hole <- rows[0L, ]
if (rank < 3L) hole <- rows[seq_len(ends[rank + 2L] - ends[rank + 1L]) + ends[rank + 1L], ]
if (alone) hole <- rows[1:2500, ] else if (size == 2L) hole <- own
models$hole <- with_this(gbt_train, number ~ a + f, hole, seed = 1, nrounds = 9, threads = 2)
if (alone) write_digests("brief")
if (brief) {
  write_digests(rank)
  quit()
}

part <- tempfile(fileext = ".csv") # each rank has a file of its share
even <- floor(2500 * c(rank, rank + 1) / size)
utils::write.csv(rows[seq(even[1L] + 1, even[2L]), c(columns, "yes")], part, row.names = FALSE)
models$files <- with_this(gbt_train, gbt_files(part, label = "yes"), seed = 1, nrounds = 12, threads = 2)
data <- with_this(gbt_data, own[columns], label = own$number, threads = 2)
models$data <- with_this(gbt_train, data, seed = 1, nrounds = 12, threads = 2)
models$data_again <- with_this(gbt_train, data, own$count, objective = "poisson", seed = 1, nrounds = 12, threads = 2)
held <- with_this(gbt_data, later[columns], label = later$number, reference = data, threads = 2)
models$data_valid <- with_this(gbt_train, data, valid = held, early_stopping_rounds = 3, seed = 1, nrounds = 12,
                               threads = 2)
# Folders: the same path on all ranks, each of which has a folder of its own in it.
root <- file.path(tempdir(), "bins")
if (!alone) root <- paste0(file, "-bins")
dir.create(root, showWarnings = FALSE)
in_folder <- function(name, ...) with_this(gbt_data, ..., threads = 2, path = file.path(root, name), page_rows = 200)
kept <- in_folder("train", own[columns], label = own$number, weight = own$w, memory = 0)
again <- with_this(gbt_open, file.path(root, "train"), memory = 0)
models$folder <- with_this(gbt_train, kept, seed = 1, nrounds = 12, threads = 2)
models$folder_opened <- with_this(gbt_train, again, seed = 1, nrounds = 12, threads = 2, subsample = 0.5)
judge <- in_folder("valid", later[columns], label = later$number, reference = again, memory = 0)
models$folder_valid <- with_this(gbt_train, again, weights = NULL, valid = judge, early_stopping_rounds = 3, seed = 1,
                                 nrounds = 12, threads = 2, cat_method = "target")
models$folder_of_files <- with_this(gbt_train, in_folder("files", gbt_files(part, label = "yes")), seed = 1,
                                    nrounds = 12, threads = 2)
# Checkpoints: a training that fails in round 5 goes on by these ranks; and so does one that failed in one process.
checkpointed <- function(folder, ...) {
  train("three", seed = 1, subsample = 0.6, valid = list(x = later[columns], y = later$three), checkpoint = folder,
        early_stopping_rounds = 4, checkpoint_seconds = 0, ...)
}
fail <- function(now) if (now$round == 5) stop("fails") else FALSE
places <- paste0(file, "-checkpoint", 1:2)
of_one <- file.path(dirname(file), "checkpoint-of-one")
invisible(tryCatch(checkpointed(places[1L], callbacks = fail), error = identity))
if (alone) invisible(tryCatch(checkpointed(of_one, callbacks = fail), error = identity))
if (rank == 0L) dir.create(places[2L])
if (rank == 0L) invisible(file.copy(file.path(of_one, "gbt-checkpoint"), places[2L]))
models$checkpoint <- checkpointed(places[1L])
models$checkpoint_of_one <- checkpointed(places[2L])
models$no_checkpoint <- checkpointed(NULL)
stopifnot(identical(models$checkpoint$state, models$no_checkpoint$state),
          identical(models$checkpoint_of_one$state, models$no_checkpoint$state))

# Sources: ranks with other numbers of blocks, and ranks without rows.
csv <- function(rows) {
  path <- tempfile(fileext = ".csv")
  utils::write.csv(rows, path, row.names = FALSE)
  path
}
blocks <- function(path) gbt_files(path, label = "yes", block_bytes = 4000)
models$blocks <- with_this(gbt_train, blocks(csv(own[c(columns, "yes")])), seed = 1, nrounds = 9, threads = 2)
last <- if (rank == size - 1L) rows[1:2500, ] else rows[0, ]
models$last_file <- with_this(gbt_train, yes ~ . - when, blocks(csv(last[c(columns, "yes")])), seed = 1, nrounds = 9,
                              threads = 2, valid = blocks(csv(later[c(columns, "yes")])), early_stopping_rounds = 3)
if (requireNamespace("RSQLite", quietly = TRUE)) { # not every class of a column survives SQLite
  db <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  DBI::dbWriteTable(db, "rows", last[c("a", "b", "i", "t", "number")])
  query <- gbt_query(db, "SELECT * FROM rows", label = "number", chunk_rows = 700)
  models$last_query <- with_this(gbt_train, query, seed = 1, nrounds = 9, threads = 2)
}

# The same rows on all ranks, each of which takes a part.
split <- if (!alone) gbt_ranks(share = "split")
split_with <- function(f, ...) if (alone) f(..., threads = 2) else f(..., threads = 2, ranks = split)
whole <- rows[1:2500, ]
rest <- rows[2501:n, ]
models$split <- split_with(gbt_train, three ~ scale(a) + b + f + t + o, whole, weights = w, mask = b < 0.9,
                           valid = rest, nrounds = 9, seed = 1, early_stopping_rounds = 3)
models$split_share <- split_with(gbt_train, whole[columns], whole$number, offset = whole$b, valid = 0.2, nrounds = 9,
                                 seed = 1)
models$split_rows <- split_with(gbt_train, whole[columns], whole$number, valid = which(whole$b > 0.8), nrounds = 9,
                                group = whole$i, seed = 1, cat_method = "target")
models$split_queries <- split_with(gbt_train, whole[columns], whole$grade, objective = "rank_mrr", nrounds = 5,
                                   seed = 1, group = whole$query, valid = whole$query %% 5 == 0)
models$split_sets <- split_with(gbt_train, as.matrix(wide), wide_y, valid = list(some = list(x = wide, y = wide_y)),
                                weights = rep(1:2, 1000), nrounds = 9, seed = 1, max_depth = 3)
bins <- split_with(gbt_data, wide, label = wide_y, weight = rep(1:2, 1000))
models$split_data <- split_with(gbt_train, bins, mask = seq_along(wide_y) %% 3 > 0, nrounds = 9, seed = 1)
models$split_data_y <- split_with(gbt_train, bins, round(wide_y), nrounds = 9, seed = 1)
five <- vapply(base::split(seq_len(2500), rep(1:5, c(100, 900, 700, 300, 500))), function(at) {
  csv(whole[at, c(columns, "yes", "w")])
}, "")
models$split_files <- split_with(gbt_train, gbt_files(five, label = "yes", weight = "w"), nrounds = 9, seed = 1)
models$split_files_y <- split_with(gbt_train, gbt_files(five, columns = c("a", "b", "f")), whole$number, nrounds = 9,
                                   weights = whole$w, seed = 1)
models$split_one_file <- split_with(gbt_train, yes ~ ., gbt_files(five[2L]), nrounds = 9, seed = 1)
# Events are coded 1 and 2, and the first rank sees no 2.
whole$state <- ifelse(seq_len(2500) <= 1300, 1, 1 + (whole$i %% 3 > 0))
coded <- csv(whole[c("a", "b", "hours", "state")])
models$split_times <- split_with(gbt_train, Surv(hours, state) ~ a + b, gbt_files(coded), nrounds = 5, seed = 1)
coded <- if (alone) whole else share_of(whole)
models$formula_times <- with_this(gbt_train, survival::Surv(hours, state) ~ a + b, coded, nrounds = 5, seed = 1,
                                  threads = 2)
models$split_cv_own <- split_with(gbt_cv, three ~ a + b + f, whole, folds = i %% 3, nrounds = 5, seed = 1)
models$split_cv_rows <- split_with(gbt_cv, whole[columns], whole$number, folds = list(1:300, 200:900, 2400),
                                  nrounds = 5)
models$split_cv <- split_with(gbt_cv, whole[columns], whole$three, folds = 3, nrounds = 5, seed = 1)

# Functions of the user's: metrics see the rows of all ranks, objectives those of their rank.
middle <- gbt_metric("middle", function(pred, label, weight) stats::median(abs(pred - label)) + sum(weight) / 1e6)
several <- gbt_metric("several", function(pred, label, weight) {
  max(pred[cbind(seq_along(label), label + 1)]) + nrow(pred)
})
models$own_metric <- train("number", seed = 1, weights = own$w, eval_metric = list("mae", middle), eval_train = TRUE,
                           valid = list(late = list(x = later[columns], y = later$number)), early_stopping_rounds = 3)
models$own_metric_classes <- train("three", seed = 1, eval_metric = several,
                                   valid = list(late = list(x = later[columns], y = later$three)))
models$own_metric_mask <- train("number", seed = 1, eval_metric = middle, mask = own$b < 0.7,
                                early_stopping_rounds = 2)
squares <- list(gradient = function(score, label, weight) score - label,
                hessian = function(score, label, weight) rep(1, length(score)))
models$own_objective <- train("number", seed = 1, objective = squares, weights = own$w)
models$own_both <- train("number", seed = 1, objective = squares, eval_metric = middle, eval_train = TRUE)
formula_call <- if (alone) gbt_train(number ~ a + b + f, own, nrounds = 5, weights = w, seed = 1, threads = 2) else
  gbt_train(number ~ a + b + f, own, nrounds = 5, weights = w, seed = 1, threads = 2, ranks = ranks)
models$formula <- formula_call
models$refit <- gbt_refit(formula_call, nrounds = 7)
models$refit_stored <- with_this(gbt_refit, first, x = own[columns], y = own$number, nrounds = 6)
# The first rank alone warns and tells.
warned <- told <- 0
withCallingHandlers(
  copied <- train("i", seed = 1, objective = "squared_error", valid = list(x = later[columns], y = later$i),
                  early_stopping_rounds = 12),
  gbt_warning = function(w) {
    warned <<- warned + 1
    invokeRestart("muffleWarning")
  }, gbt_message = function(m) {
    told <<- told + 1
    invokeRestart("muffleMessage")
  })
stopifnot(warned == (rank == 0L), told == (rank == 0L))

# Rows held out by a share of them, the search for `nrounds`, cross-validation and search.
share <- function(y, ..., valid = 0.25) train(y, ..., valid = valid, early_stopping_rounds = 3, seed = 3)
models <- c(models, list(
  share = share("number"),
  share_of_classes = share("three"),
  share_without_weight = share("yes", weights = own$w),
  share_of_groups = share("number", group = own$i, weights = own$w),
  share_by_time = share("number", time = own$when),
  rows_held_out = share("number", valid = own$b > 0.8)
))
set.seed(5)
models$drawn_seed <- train("number", valid = 0.2)
few <- share_of(rows[1:600, ])
many <- share_of(rows[rep(1:n, 2), ])
find <- function(y, data, ...) {
  with_this(gbt_train, data[columns], data[[y]], ..., eta = 0.4, early_stopping_rounds = 2, seed = 1, threads = 2)
}
models <- c(models, list(
  found_in_folds = find("three", few),
  found_in_groups = find("yes", few, group = few$i, weights = few$w),
  found_by_time = find("number", few, time = few$when),
  found_in_rows = find("number", many),
  too_few_to_find = find("number", share_of(rows[1:9, ]))
))
folds <- function(y, ..., data = few, nrounds = 5) {
  with_this(gbt_cv, data[columns], data[[y]], folds = 3, ..., nrounds = nrounds, seed = 2, threads = 2)
}
own_folds <- function(y, folds) with_this(gbt_cv, few[columns], few[[y]], folds = folds, nrounds = 5, threads = 2)
models <- c(models, list(
  cv = folds("number", keep_models = TRUE),
  cv_early = folds("three", nrounds = 40, early_stopping_rounds = 1, eta = 0.5,
                   eval_metric = c("accuracy", "mlogloss")),
  cv_repeated = folds("yes", repeats = 2, eval_metric = "auc", class_weights = "balanced"),
  cv_tenths = folds("number", stratify = TRUE),
  cv_groups = folds("number", group = few$i),
  cv_time = folds("number", time = few$when),
  cv_weights = folds("number", weights = few$w),
  cv_groups_weights = folds("number", weights = few$w, group = few$i),
  cv_time_weights = folds("number", weights = few$w, time = few$when),
  cv_target = folds("yes", cat_method = "target"),
  cv_own_numbers = own_folds("yes", few$i %% 4L),
  cv_own_factor = own_folds("yes", few$f), # a class and a fold that ranks may lack
  cv_own_dates = own_folds("number", as.Date(format(few$when, "%Y-01-01"))),
  cv_own_rows = own_folds("yes", list(which(few$f == "a"), which(few$f == "rare")))
))
power <- gbt_metric("power", function(pred, y, w) sum(w * abs(pred - y)^1.5) / sum(w))
models$cv_own_metric <- folds("number", nrounds = 40, early_stopping_rounds = 2, eta = 0.5, eval_metric = power)
models$found_by_own_metric <- find("number", few, eval_metric = power)
kept <- paste0(file, "-found")
models$found_with_checkpoints <- find("number", many, checkpoint = kept)
models$found_by_checkpoints <- find("number", many, checkpoint = kept) # all is there
refit <- function(result, y) with_this(gbt_refit, result, x = few[columns], y = few[[y]])
models$cv_refit <- refit(models$cv_early, "three")
search <- function(y, ...) with_this(gbt_tune, few[columns], few[[y]], folds = 2, ..., seed = 1, threads = 2)
ends <- list(eta = c(0.05, 0.5), max_depth = c(2, 4))
models$tune <- search("number", configs = 3, nrounds = 5)
models$tune_halving <- search("yes", space = ends, method = "halving", configs = 4, nrounds = 6, min_rounds = 2)
models$tune_some_fail <- suppressWarnings(
  search("number", space = list(max_leaves = list(0, 5), max_depth = list(0, 3)), nrounds = 3)
)
if (requireNamespace("kernlab", quietly = TRUE)) {
  models$tune_bayesian <- search("number", space = ends, method = "bayesian", configs = 7, nrounds = 4)
}
models$cv_own_metric <- folds("number", eval_metric = middle, early_stopping_rounds = 2, nrounds = 9)
models$cv_own_metric_classes <- folds("three", eval_metric = several)
models$tune_refit <- refit(models$tune, "number")

# Warnings are about the rows of all ranks, and are those of one process.
texts <- character(0)
warned <- function(x, y, ...) {
  withCallingHandlers(with_this(gbt_train, x, y, ..., nrounds = 3, threads = 2), warning = function(w) {
    texts <<- c(texts, conditionMessage(w))
    invokeRestart("muffleWarning")
  })
  invisible()
}
few$copy <- few$number
few$name <- share_of(sprintf("row %d", 1:600))
few$twice <- share_of(sprintf("row %d", rep(1:300, 2))) # a rank may have each level once
warned(few[c("a", "copy", "name", "twice")], few$number)
warned(few[c("a", "b")], share_of(rep(1:4, each = 150))) # the response of a rank may have one value
warned(few[c("a", "b")], rep(1, nrow(few)))
warned(few[c("a", "b")], few$number, min_data_in_leaf = 400)
warned(few[c("a", "b")], few$number, weights = rep(1e-4, nrow(few)))
warned(few[c("a", "b")], few$number * 1e6, objective = "huber")
warned(few["a"], few$number, time = few$when)
models$warnings <- of_all(texts)

# Metrics of the rows of all ranks.
judge <- function(model, ...) with_this(gbt_evaluate, model, ..., threads = 2)
models <- c(models, list(
  judged = judge(first, own, own$number, metrics = list("rmse", "r2", "gini", middle), weights = own$w),
  judged_classes = judge(models$classes_two, own, own$yes, metrics = "all", by = c("f", "l")),
  judged_draws = judge(first, own, own$number, metrics = list("mae", middle), intervals = 0.9, replicates = 20,
                       group = own$i, seed = 1, by = list(late = own$when > as.Date("2024-07-01"))),
  judged_queries = judge(models$ranking, own, own$grade, metrics = "all", group = own$query),
  judged_split = split_with(gbt_evaluate, first, whole, whole$number, metrics = list("rmse", "gini"), weights = whole$w,
                            by = "f"),
  judged_split_queries = split_with(gbt_evaluate, models$ranking, whole, whole$grade, metrics = "ndcg",
                                    group = "query"),
  judged_times = judge(models$times_aft, own[columns], times_of(own), metrics = "all"),
  judged_intervals = judge(models$hazards_of_intervals, own[columns], times_of(own), metrics = "all")
))

# Long arrays, which go in pieces: here of 5,000 numbers or bytes. The first rank has few rows, and so sends nothing
# while it takes later pieces.
if (!alone) ranks$handle <- gbt:::open_ranks(NULL, NULL, 600, 5000L)$handle
ends <- c(0, 200, floor(seq(200, 2500, length.out = size)))[-2L]
some <- if (alone) rows[1:2500, ] else rows[seq(ends[rank + 1L] + 1, ends[rank + 2L]), ]
some$name <- sprintf("row %s, with a long name", rownames(some))
models$pieces <- suppressWarnings( # each name is there once
  with_this(gbt_train, yes ~ a + b + t + name, some, seed = 1, nrounds = 5, threads = 2, valid = 0.2, eval_train = TRUE,
            eval_metric = "auc", early_stopping_rounds = 3, cat_method = list(t = "target"))
)
models$pieces_cv <- with_this(gbt_cv, some[columns], some$number, folds = 2, nrounds = 3, seed = 1, threads = 2)

write_digests(rank)
