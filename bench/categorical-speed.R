# Time, memory and model size with large categorical columns: gbt and CatBoost, one process a run. Appends to
# bench/results/categorical-speed.csv, and makes categorical-speed.md of it.
#
#   Rscript bench/categorical-speed.R [--rows 10000000] [--engines gbt-sets,gbt-both,catboost] [--threads 2]
#       [--rounds 100] [--out FOLDER]
#
# Made data: factors of 50, 4,000 and 300,000 levels, whose frequencies fall as 1 / rank^0.7, and seven numbers. A
# tenth as many rows again are predicted; a hundredth of their levels did not occur in training.
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)[1]))
source(file.path(here, "common.R"))
source(file.path(here, "data.R"))
root <- bench_root()
threads <- arg_of("threads", "2")
rounds <- arg_of("rounds", "100")
n <- as.numeric(arg_of("rows", "10000000"))
sizes <- c(50, 4000, 300000)
n_numbers <- 7
engines <- c("gbt-auto", "gbt-sets", "gbt-target", "gbt-both", "gbt-pairs", "catboost", "catboost-pairs")
wanted <- strsplit(arg_of("engines", paste(engines, collapse = ",")), ",")[[1]]
out <- arg_of("out", file.path(root, "bench", "results"))
csv <- file.path(out, "categorical-speed.csv")
fields <- c("rows", "engine", "version", "commit", "date", "threads", "rounds", "convert_s", "train_s", "cpu_s",
            "predict_rows_s", "peak_mb", "model_bytes", "loss", "load")

# Columns as files: c1.i32 ... the codes of factors from 1, x1.f32 ... numbers, y.f32 the label; part after part.
make_rows <- function(folder, rows, seed, new_share) {
  set.seed(seed)
  dir.create(folder, recursive = TRUE, showWarnings = FALSE)
  for (beg in seq(1, rows, by = 1e6)) {
    k <- min(1e6, rows - beg + 1)
    put <- function(v, name, size = 4L) {
      con <- file(file.path(folder, name), if (beg == 1) "wb" else "ab")
      on.exit(close(con))
      writeBin(v, con, size = size)
    }
    score <- numeric(k)
    for (j in seq_along(sizes)) {
      # quantiles of a density that falls as rank^-0.7
      code <- as.integer(pmin(ceiling(sizes[j] * stats::runif(k)^(1 / 0.3)), sizes[j]))
      code[stats::runif(k) < new_share] <- as.integer(sizes[j] + 1)
      score <- score + c(0.5, 0.7, 0.9)[j] * (((code * 7919) %% 101) / 50 - 1)
      put(code, sprintf("c%d.i32", j))
    }
    for (j in seq_len(n_numbers)) {
      x <- stats::rnorm(k)
      score <- score + (j <= 3) * x * 0.3
      put(x, sprintf("x%d.f32", j))
    }
    put(as.numeric(stats::runif(k) < stats::plogis(score)), "y.f32")
  }
}
folder_of <- function(part) file.path(cache_folder(), sprintf("categorical-speed-%.0f", n), part)
for (part in c("train", "test")) {
  done <- file.path(folder_of(part), "done")
  if (file.exists(done)) next
  make_rows(folder_of(part), if (part == "train") n else n / 10, if (part == "train") 1 else 2,
            if (part == "train") 0 else 0.01)
  file.create(done)
}

run_one <- function(engine) {
  args <- c(dirname(folder_of("train")), format(n, scientific = FALSE), "--engine", engine, "--threads", threads,
            "--rounds", rounds)
  if (startsWith(engine, "catboost")) {
    run_keys(file.path(venv_folder(), "bin", "python"), c(file.path(here, "categorical-speed.py"), args),
             "PYTHONDONTWRITEBYTECODE=1")
  } else {
    run_keys(file.path(R.home("bin"), "Rscript"), c(file.path(here, "categorical-speed-gbt.R"), args))
  }
}
dir.create(out, recursive = TRUE, showWarnings = FALSE)
if (!file.exists(csv)) writeLines(paste(fields, collapse = ","), csv)
for (engine in wanted) {
  if (startsWith(engine, "catboost") && !have_peers()) next
  run <- run_one(engine)
  run[c("rows", "engine", "date", "threads", "rounds")] <-
    list(n, engine, format(Sys.Date()), as.integer(threads), as.integer(rounds))
  run$commit <- if (startsWith(engine, "gbt")) commit_of(root) else ""
  run$load <- load_now()
  text_of <- function(v) if (is.numeric(v)) format(v, digits = 6, scientific = FALSE) else as.character(v)
  cat(paste(vapply(run[fields], text_of, ""), collapse = ","), "\n", sep = "", file = csv, append = TRUE)
  message(sprintf("%s: %.1f s, %.0f MB, loss %.5f", engine, run$convert_s + run$train_s, run$peak_mb, run$loss))
}

runs <- utils::read.csv(csv, colClasses = c(version = "character", commit = "character"))
runs$engine <- factor(runs$engine, c(intersect(engines, runs$engine), setdiff(runs$engine, engines)))
page <- lapply(split(runs, -runs$rows), function(d) {
  rows <- lapply(split(d, droplevels(d$engine)), function(e) {
    mid <- function(name, digits = 0) fixed(stats::median(e[[name]]), digits)
    data.frame(engine = e$engine[1], runs = nrow(e), `convert s` = mid("convert_s", 1), `train s` = mid("train_s", 1),
               `cpu s` = mid("cpu_s", 1),
               `million rows predicted a second` = fixed(stats::median(e$predict_rows_s) / 1e6, 2),
               `peak MB` = mid("peak_mb"), `model kB` = fixed(stats::median(e$model_bytes) / 1000, 0),
               loss = mid("loss", 5), load = mid("load", 2), commit = e$commit[nrow(e)], check.names = FALSE)
  })
  c(sprintf("## %s rows, %d rounds, %d threads", format(d$rows[1], big.mark = ",", scientific = FALSE), d$rounds[1],
            d$threads[1]), "", md_table(do.call(rbind, rows)), "")
})
writeLines(c(
  "# Large categorical columns: time, memory, size", "",
  "- made by: `sh bench/categorical-speed.sh`; medians of the runs of `categorical-speed.csv`",
  sprintf("- versions: %s", paste(unique(paste(sub("-.*", "", runs$engine), runs$version)), collapse = ", ")),
  paste("- Factors of 50, 4,000 and 300,000 levels and seven numbers; binary labels; depth 6, learning rate 0.1,",
        "lambda 1, 255 bins, no sampling. Times include the conversion of a data frame; `cpu s` is that of the",
        "whole process, without reading files. `peak MB`: largest resident memory of the process, data frame and",
        "predictions included."),
  paste("- CatBoost: Plain boosting, one Newton step a leaf, statistics `Borders` with one prior and 15 bins",
        "(`-pairs`: of pairs as well), all categories by statistics. gbt: `cat_method` as the engine's name says;",
        "`-pairs` is both with `max_cat_combine = 2`."),
  "- Predicted: a tenth as many rows again, a hundredth of whose levels are unseen; with all rounds.", "",
  unlist(page, use.names = FALSE)
), file.path(out, "categorical-speed.md"))
