# Makes bench/results/categorical.md of categorical.csv: a summary, a table for each set, and every run.
#
#   Rscript bench/categorical-report.R [--out FOLDER]
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)[1]))
source(file.path(here, "common.R"))
source(file.path(here, "data.R"))
source(file.path(here, "categorical-sets.R"))
source(file.path(here, "categorical-variants.R"))
root <- bench_root()
folder <- arg_of("out", file.path(root, "bench", "results"))
runs <- utils::read.csv(file.path(folder, "categorical.csv"),
                        colClasses = c(version = "character", commit = "character"))
order_of <- function(x, known) factor(x, c(intersect(known, x), setdiff(x, known)))
runs$set <- order_of(runs$set, names(categorical_sets))
runs$engine <- order_of(runs$engine, c(names(gbt_variants), peer_engines))
runs <- runs[order(runs$set, runs$split, runs$engine), ]
runs$seconds <- runs$convert_s + runs$train_s
rownames(runs) <- NULL

standard_error <- function(x) stats::sd(x) / sqrt(length(x))
with_error <- function(x, digits) {
  error <- if (length(x) > 1L) paste0(" (", fixed(standard_error(x), digits), ")") else ""
  paste0(fixed(mean(x), digits), error)
}
by_engine <- function(d) split(d, droplevels(d$engine))

# Losses of an engine less those of another on the splits that both have.
differences <- function(a, b) {
  common <- intersect(a$split, b$split)
  a$loss[match(common, a$split)] - b$loss[match(common, b$split)]
}

# One row for each engine, the best mean loss first; engines that lack splits come last and have no rank.
set_table <- function(d) {
  engines <- by_engine(d)
  n <- vapply(engines, nrow, 0L)
  loss <- ifelse(n == max(n), vapply(engines, function(e) mean(e$loss), 0), NA)
  rank <- rank(round(loss, 5L), na.last = "keep", ties.method = "min")
  first <- engines[[which.min(loss)]]
  rows <- lapply(names(engines)[order(loss)], function(name) {
    e <- engines[[name]]
    data.frame(rank = fixed(rank[[name]], 0), engine = name, splits = nrow(e), loss = with_error(e$loss, 5),
               `behind the first` = if (identical(e, first)) "" else with_error(differences(e, first), 5),
               AUC = if (anyNA(e$auc)) "" else fixed(mean(e$auc), 5), rounds = fixed(mean(e$rounds), 0),
               seconds = fixed(mean(e$seconds), 1), `model kB` = fixed(mean(e$model_bytes) / 1000, 0),
               check.names = FALSE)
  })
  do.call(rbind, rows)
}

# Mean loss by engine and set; the best of a set is bold. Empty where an engine lacks splits.
overview <- function(d) {
  of <- list(droplevels(d$engine), droplevels(d$set))
  loss <- tapply(d$loss, of, mean)
  n <- tapply(d$loss, of, length)
  loss[is.na(n) | n < rep(apply(n, 2L, max, na.rm = TRUE), each = nrow(n))] <- NA
  loss <- round(loss, 5L)
  best <- !is.na(loss) & loss == rep(apply(loss, 2L, min, na.rm = TRUE), each = nrow(loss))
  cells <- matrix(fixed(loss, 5), nrow(loss), dimnames = list(NULL, colnames(loss)))
  cells[best] <- paste0("**", cells[best], "**")
  ranks <- apply(loss, 2L, rank, na.last = "keep", ties.method = "min")
  real <- !startsWith(colnames(loss), "made_")
  data.frame(engine = rownames(loss), cells,
             `mean rank, real sets` = fixed(rowMeans(ranks[, real, drop = FALSE]), 2),
             seconds = fixed(tapply(d$seconds, of[[1]], sum), 0), check.names = FALSE)
}

every_run <- function(d) {
  data.frame(set = d$set, split = d$split, engine = d$engine,
             `train / valid / test` = paste(d$train, d$valid, d$test, sep = " / "), rounds = fixed(d$rounds, 0),
             eta = fixed(d$eta, 4), loss = fixed(d$loss, 6), AUC = fixed(d$auc, 6), `convert s` = fixed(d$convert_s, 2),
             `train s` = fixed(d$train_s, 2), `predict s` = fixed(d$predict_s, 3),
             `model bytes` = fixed(d$model_bytes, 0), load = d$load, date = d$date, check.names = FALSE)
}

engine_table <- function(d) {
  do.call(rbind, lapply(by_engine(d), function(e) {
    data.frame(engine = e$engine[1], version = paste(unique(e$version), collapse = ", "),
               commit = paste(unique(e$commit), collapse = ", "))
  }))
}

variant_lines <- vapply(names(gbt_variants), function(name) {
  paste0("- `", name, "`: `", paste(deparse(gbt_variants[[name]], width.cutoff = 500L), collapse = " "), "`")
}, "", USE.NAMES = FALSE)

entropy <- function(p) -p * log(p) - (1 - p) * log(1 - p)
weak_loss <- function(z) entropy(stats::plogis(0.3 * z)) * stats::dnorm(z) # of made_noise, at the number z
noise_floor <- stats::integrate(weak_loss, -8, 8)$value

set_notes <- c(
  adult = "Official test part; splits differ in validation rows and seed.",
  weatherAUS = "RISK_MM dropped, the date as a number, wind directions as unordered categories.",
  nycflights13 = paste("Arrival more than 15 minutes late, from what is known before departure; carrier, tailnum,",
                       "flight, origin and dest are categories."),
  made_pair = sprintf(paste("Two columns of 2,000 levels; only the pair of their groups says something of the label.",
                            "To know nothing costs %.5f, to know all %.5f."), log(2), entropy(0.9)),
  agaricus = "The 22 attributes as categories. All engines come close to 0, so ranks mean little.",
  freMTPL2 = "Poisson deviance, exposure as offset; claims capped at 4, exposure at 1.",
  flights = "The package's own set; flight and weekday are categories beside carrier, tailnum, origin and dest.",
  made_noise = sprintf(paste("Two columns of 2,000 levels without any signal, and a weak number. To know all costs",
                             "%.5f, to know nothing %.5f."), noise_floor, log(2))
)

set_section <- function(name) {
  c("", paste("##", name), "", set_notes[[name]], "", md_table(set_table(runs[runs$set == name, ])))
}

limited <- intersect(limited_sets, levels(droplevels(runs$set)))
limited_line <- if (length(limited)) {
  c(paste0("- ", paste(limited, collapse = " and "), ": training and validation rows of a split are a sample of ",
           format(most_train_rows, big.mark = ","), ", since"),
    "  CatBoost takes three minutes a run with all; the test part is whole.")
}

write_results(root, "categorical", "Categorical columns: gbt beside CatBoost, LightGBM and XGBoost", c(
  paste("Held-out loss (log loss; Poisson deviance for freMTPL2), mean of", n_splits, "splits; lower is better, the"),
  "best of a set is bold.",
  "", md_table(overview(runs)), "",
  "- Every split: a fifth of the rows is the test part, a fifth of the others the validation part. All engines get",
  "  the same rows.",
  "- At most 1000 rounds; training stops when 50 rounds have not bettered the loss of the validation part, and the",
  "  best round counts. Two threads. The seed is the number of the split.",
  "- `catboost-own` leaves everything else to CatBoost. All others: learning rate 0.05, depth 6, lambda 1, 255 bins, a",
  "  least hessian of 1 and one row a leaf where the library has it, no sampling; LightGBM 64 leaves; CatBoost Plain",
  "  boosting, one Newton step per leaf, no random strength. Parameters of categories are each library's defaults.",
  "- Categories go in natively: a data frame with factors (gbt), pandas categories (peers). Ordered factors are",
  "  unordered categories for all engines. A missing category is missing; CatBoost takes none and gets a level for it.",
  limited_line,
  "- Seconds: conversion of the data frame and training, means of the splits (in the table above: sum of all runs).",
  "  They are rough where the machine had other work (`load`: load average of the last minute when the run ended),",
  "  which harms most those peers whose waiting threads spin. Sizes are those of files of the models, cut at the best",
  "  round.", "",
  "Variants of gbt, arguments of `gbt_train()` beside the matched ones:", "", variant_lines, "",
  md_table(engine_table(runs)), "",
  "In the tables below the standard error of the mean over splits is in brackets. `behind the first`: mean difference",
  "to the engine of rank 1 on the same splits.",
  unlist(lapply(levels(droplevels(runs$set)), set_section)),
  "", "## Every run", "", md_table(every_run(runs))
), folder = folder)
