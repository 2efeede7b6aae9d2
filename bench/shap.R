# Contributions (SHAP values) compared with the peers: rows a second, and how exactly contributions add up to the score.
#
#   Rscript bench/shap.R [--repeats 5] [--seconds 0.5] [--jobs "depth 6;symmetric 6"] [--out FILE]
#
# Every engine trains a model of its own on the same 20,000 rows, with trees of the same shape, and then explains the
# first rows (1,000; all of them where trees are symmetric) on two threads: XGBoost `pred_contribs`, LightGBM
# `pred_contrib`, CatBoost `ShapValues`, by cover as gbt. Engines take turns, one works at a time (bench/shap.py);
# medians, and ratios run by run. XGBoost and LightGBM have no symmetric trees. Values fit in 32-bit floats, so all see
# the same numbers. Then gbt alone: with backgrounds, with interactions, few rows.
suppressMessages(library(gbt))
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)[1])), "common.R"))
root <- bench_root()
n <- 20000L
repeats <- as.integer(arg_of("repeats", "5"))
seconds <- as.numeric(arg_of("seconds", "0.5"))
out <- arg_of("out", file.path(root, "bench", "results", "shap.md"))
threads <- 2L

job <- function(depth = 0, symmetric = FALSE, leaves = 0, factors = 0, classes = 0, rounds = 100) {
  list(depth = depth, symmetric = symmetric, leaves = leaves, factors = factors, classes = classes, rounds = rounds,
       rows = if (symmetric) n else 1000L)
}
jobs <- list("depth 6" = job(6), "depth 8" = job(8), "symmetric 6" = job(6, symmetric = TRUE),
             "symmetric 8" = job(8, symmetric = TRUE), "best first, 31 leaves" = job(leaves = 31),
             "depth 6, 5 columns of 12 are factors of 30 levels" = job(6, factors = 5),
             "depth 6, 5 classes, 20 rounds" = job(6, classes = 5, rounds = 20),
             "symmetric 6, 5 classes, 20 rounds" = job(6, symmetric = TRUE, classes = 5, rounds = 20))
wanted <- arg_of("jobs", "")
if (nzchar(wanted)) jobs <- jobs[strsplit(wanted, ";", fixed = TRUE)[[1L]]]

# Numbers of 24 bits at most. Factors come first, as codes from 0.
make_set <- function(job) {
  p <- if (job$factors > 0) 12L else 28L
  set.seed(7)
  x <- matrix(round(stats::rnorm(n * p) * 4096) / 4096, n)
  for (j in seq_len(job$factors)) x[, j] <- sample.int(30L, n, replace = TRUE) - 1L
  of <- function(j) if (j <= job$factors) sin(x[, j]) else x[, j]
  score <- of(1) * of(2) + sin(3 * of(3)) + of(4) + abs(of(5)) * of(6) + stats::rnorm(n) / 4
  y <- if (job$classes > 0) as.numeric(cut(rank(score), job$classes)) - 1 else score
  list(x = x, y = y)
}

write_set <- function(set, job, folder) {
  dir.create(folder, showWarnings = FALSE)
  writeBin(as.vector(set$x), file.path(folder, "x.f32"), size = 4L, endian = "little")
  writeBin(set$y, file.path(folder, "y.f32"), size = 4L, endian = "little")
  writeLines(sprintf(paste0('{"n": %d, "p": %d, "n_factors": %d, "n_levels": 30, "classes": %d, "leaves": %d, ',
                            '"depth": %d, "symmetric": %s, "rounds": %d, "rows": %d, "threads": %d}'),
                     n, ncol(set$x), job$factors, job$classes, job$leaves, job$depth,
                     if (job$symmetric) "true" else "false", job$rounds, job$rows, threads),
             file.path(folder, "desc.json"))
}

# ---- engines ----

gbt_engine <- function(set, job) {
  x <- set$x
  colnames(x) <- paste0("c", seq_len(ncol(x)))
  if (job$factors > 0) {
    x <- as.data.frame(x)
    for (j in seq_len(job$factors)) x[[j]] <- factor(x[[j]])
  }
  y <- if (job$classes > 0) factor(set$y) else set$y
  args <- list(x, y, nrounds = job$rounds, eta = 0.1, threads = threads, verbose = FALSE)
  shape <- if (job$leaves > 0) list(grow_policy = "lossguide", max_leaves = job$leaves, max_depth = 0)
           else list(max_depth = job$depth, grow_policy = if (job$symmetric) "symmetric" else "depthwise")
  model <- do.call(gbt_train, c(args, shape))
  more <- x[1000L + seq_len(1000L), , drop = FALSE]
  x <- x[seq_len(job$rows), , drop = FALSE]
  explain <- function(...) predict(model, x, type = "contrib", threads = threads, device = "cpu", ...)
  tree <- as.data.frame(model)
  list(about = c(length(unique(tree$tree)), sum(is.na(tree$feature))), version = gbt_version(), quit = function() NULL,
       model = model, x = x, more = more, rate = function() {
         begin <- proc.time()[["elapsed"]]
         k <- 0
         while (k == 0 || proc.time()[["elapsed"]] - begin < seconds) {
           explain()
           k <- k + 1
         }
         k * job$rows / (proc.time()[["elapsed"]] - begin)
       },
       sums = function() {
         raw <- predict(model, x, type = "link")
         got <- explain()
         got <- if (length(dim(got)) == 3L) apply(got, c(1L, 3L), sum) else rowSums(got)
         max(abs(unname(got) - unname(raw))) / max(abs(raw))
       })
}

# A peer that is a process: what is written to a fifo is its stdin.
peer_engine <- function(name, folder) {
  to <- tempfile("to")
  from <- tempfile("from")
  system2("mkfifo", c(to, from))
  python <- file.path(venv_folder(), "bin", "python")
  system(sprintf("%s %s %s %s < %s > %s 2>/dev/null &", shQuote(python),
                 shQuote(file.path(root, "bench", "shap.py")), name, shQuote(folder), to, from))
  say <- fifo(to, "w", blocking = TRUE)
  hear <- fifo(from, "r", blocking = TRUE)
  answer <- function() strsplit(readLines(hear, 1L), " ", fixed = TRUE)[[1L]]
  ask <- function(...) {
    writeLines(paste(...), say)
    flush(say)
  }
  first <- answer()
  if (!identical(first[1L], "ready")) stop(name, " did not train a model")
  number <- function(...) {
    ask(...)
    as.numeric(answer()[2L])
  }
  list(about = as.numeric(first[2:3]), version = first[4L], rate = function() number("run", seconds),
       sums = function() number("sums"), quit = function() {
         ask("quit")
         close(say)
         close(hear)
         unlink(c(to, from))
       })
}

# Seconds of a call, the least of three.
least <- function(call) min(replicate(3L, system.time(call())[["elapsed"]]))

alone <- function(name, engine) {
  ask <- function(rows, ...) {
    x <- engine$x[seq_len(rows), , drop = FALSE]
    function() predict(engine$model, x, threads = threads, device = "cpu", ...)
  }
  back <- function(k) engine$more[seq_len(k), , drop = FALSE]
  s <- c(least(ask(1000L, type = "contrib")), least(ask(1000L, type = "contrib", background = back(10L))),
         least(ask(1000L, type = "contrib", background = back(100L))),
         least(ask(1000L, type = "contrib", background = back(1000L))), least(ask(1000L, type = "interaction")),
         least(ask(1L, type = "contrib")), least(ask(1L, type = "contrib", background = back(1000L))))
  data.frame(trees = name, t(formatC(1000 * s, digits = 1L, format = "f")))
}

# ---- all of it ----

versions <- NULL
table <- own <- NULL
for (name in names(jobs)) {
  job <- jobs[[name]]
  set <- make_set(job)
  folder <- tempfile("shap")
  write_set(set, job, folder)
  engines <- list(gbt = gbt_engine(set, job))
  for (peer in c(if (!job$symmetric) c("xgboost", "lightgbm"), "catboost")) engines[[peer]] <- peer_engine(peer, folder)
  rate <- replicate(repeats, vapply(engines, function(e) e$rate(), 0))
  sums <- vapply(engines, function(e) e$sums(), 0)
  of <- apply(rate, 1L, stats::median)
  peers <- setdiff(names(engines), "gbt")
  best <- peers[which.max(of[peers])]
  versions <- c(versions, vapply(names(engines), function(e) paste(e, engines[[e]]$version), ""))
  cell <- function(e) {
    if (is.null(engines[[e]])) return("")
    about <- engines[[e]]$about
    sprintf("%s (%.0f; %.0e)", formatC(signif(of[[e]], 3), big.mark = ",", format = "d"), about[2L] / about[1L],
            sums[[e]])
  }
  row <- list(trees = name, gbt = cell("gbt"), XGBoost = cell("xgboost"), LightGBM = cell("lightgbm"),
              CatBoost = cell("catboost"),
              "gbt / fastest peer" = sprintf("%.1f (%s)", stats::median(rate["gbt", ] / rate[best, ]), best))
  table <- rbind(table, as.data.frame(row, check.names = FALSE))
  own <- rbind(own, alone(name, engines$gbt))
  cat(paste(unlist(row), collapse = " | "), "\n")
  for (e in engines) e$quit()
  unlink(folder, recursive = TRUE)
}
names(own) <- c("trees", "by cover", "10 rows of background", "100", "1,000", "interactions", "one row",
                "one row, 1,000 of background")
lines <- c("# SHAP values", "",
           sprintf("%s, %s, %s, load average %s at the end. `Rscript bench/shap.R`:", Sys.Date(), commit_of(root),
                   cpu_name(), load_now()),
           "contributions by cover, 28 columns of numbers (12 with factors), 100 trees an output unless said, two",
           sprintf("threads; medians of %d runs of %.1f s in turns, ratios run by run. %s.", repeats, seconds,
                   paste(sort(unique(versions)), collapse = ", ")), "",
           "Rows a second, and in brackets leaves a tree and how far sums of contributions are from scores (the",
           "largest difference over the largest score).", "",
           md_table(table), "", "gbt alone, milliseconds a call of 1,000 rows, the least of three.", "", md_table(own))
writeLines(lines, out)
message("written to ", out)
