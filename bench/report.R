# From compare.csv (bench/compare.sh) to compare.md and the plots next to it.
#
#   Rscript bench/report.R [FOLDER]       default bench/results
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)[1]))
source(file.path(here, "common.R"))
source(file.path(here, "plots.R"))
folder <- commandArgs(trailingOnly = TRUE)[1]
if (is.na(folder)) folder <- file.path(here, "results")

engines <- c("gbt", "xgboost", "lightgbm", "catboost")
labels <- c(gbt = "gbt", xgboost = "XGBoost", lightgbm = "LightGBM", catboost = "CatBoost")

# ---- reading ----

read_notes <- function(path) {
  lines <- grep("^# ", readLines(path), value = TRUE)
  stats::setNames(sub("^# [a-z_]+: ", "", lines), sub("^# ([a-z_]+): .*", "\\1", lines))
}
read_runs <- function(path) {
  runs <- utils::read.csv(path, comment.char = "#", colClasses = c(job = "character"), na.strings = "")
  runs <- runs[runs$status != "end", ]
  runs$total_s <- ifelse(runs$status == "ok", runs$convert_s + runs$train_s, NA)
  runs$limit_s <- ifelse(runs$status == "over limit", runs$train_s, NA)
  runs
}
path <- file.path(folder, "compare.csv")
if (!file.exists(path)) stop("no ", path, ": run `sh bench/compare.sh` first", call. = FALSE)
notes <- read_notes(path)
runs <- read_runs(path)
jobs <- unique(runs$job)
peers <- intersect(engines[-1], runs$engine)
present <- intersect(engines, runs$engine)

pick <- function(job, phase, engine = NULL) {
  runs[runs$job %in% job & runs$phase %in% phase & (is.null(engine) | runs$engine %in% engine), ]
}

# ---- numbers as text ----

seconds <- function(x) {
  digits <- c(4, 3, 2, 0)[findInterval(x, c(0.0995, 0.995, 59.5)) + 1L]
  ifelse(is.na(x), "", fixed(x, ifelse(is.na(digits), 0, digits)))
}
times <- function(x) ifelse(is.na(x), "", ifelse(x < 9.95, fixed(x, 2), ifelse(x < 99.5, fixed(x, 1), fixed(x, 0))))
metric_text <- function(x) {
  ifelse(is.na(x), "", ifelse(abs(x) >= 1000, fixed(x, 1), ifelse(abs(x) >= 10, fixed(x, 3), fixed(x, 5))))
}
middle <- function(x) if (all(is.na(x))) NA_real_ else stats::median(x, na.rm = TRUE)
with_range <- function(x, show) {
  if (all(is.na(x))) return("")
  if (sum(!is.na(x)) < 2) return(show(middle(x)))
  sprintf("%s (%s-%s)", show(middle(x)), show(min(x, na.rm = TRUE)), show(max(x, na.rm = TRUE)))
}
table_of <- function(rows) if (length(rows)) do.call(rbind, rows)
shape_of <- function(job) {
  row <- pick(job, c("screen", "repeat", "own"))[1, ]
  count <- function(n) format(n, big.mark = ",", scientific = FALSE, trim = TRUE)
  paste(count(row$rows), "x", count(row$columns))
}
growth_of <- function(job) {
  row <- pick(job, c("screen", "repeat"))[1, ]
  paste0(if (row$leaves > 0) paste(row$leaves, "leaves") else paste("depth", row$depth), ", ", row$rounds, " rounds")
}

# ---- ratios peer / gbt, run by run ----

ratios_of <- function(job, engine, key) {
  ours <- pick(job, "repeat", "gbt")
  theirs <- pick(job, "repeat", engine)
  theirs[[key]][match(ours$repeat., theirs$repeat.)] / ours[[key]]
}
ratio_frame <- function(key) {
  table_of(unlist(lapply(jobs, function(job) {
    lapply(peers, function(engine) {
      ratio <- ratios_of(job, engine, key)
      if (!length(ratio) || all(is.na(ratio))) return(NULL)
      data.frame(job = job, engine = engine, middle = middle(ratio), low = min(ratio, na.rm = TRUE),
                 high = max(ratio, na.rm = TRUE), n = sum(!is.na(ratio)))
    })
  }), recursive = FALSE))
}

# One line per job: gbt's time, and per peer its time and the ratio.
time_table <- function(key, frame, show = seconds) {
  table_of(lapply(jobs, function(job) {
    ours <- pick(job, "repeat", "gbt")
    if (!nrow(ours)) return(NULL)
    row <- data.frame(job = job, rows = shape_of(job), trees = growth_of(job), gbt = with_range(ours[[key]], show),
                      check.names = FALSE)
    for (engine in peers) row[[labels[[engine]]]] <- peer_cell(job, engine, key, frame, show)
    best <- frame$middle[frame$job == job]
    row[["fastest peer / gbt"]] <- if (length(best)) paste0("**", times(min(best)), "**") else ""
    row
  }))
}

peer_cell <- function(job, engine, key, frame, show) {
  theirs <- pick(job, "repeat", engine)
  if (!nrow(theirs)) {
    tried <- pick(job, "screen", engine)
    limits <- tried$limit_s[!is.na(tried$limit_s)]
    return(if (length(limits)) paste(">", fixed(max(limits), 0)) else if (nrow(tried)) "failed" else "")
  }
  r <- frame[frame$job == job & frame$engine == engine, ]
  text <- if (nrow(r)) sprintf("%s: %s", show(middle(theirs[[key]])), ratio_text(r)) else "failed"
  lost <- sum(theirs$status != "ok")
  if (lost) text <- sprintf("%s, %d of %d over the limit", text, lost, nrow(theirs))
  text
}
ratio_text <- function(r) {
  if (r$n < 2) times(r$middle) else sprintf("x %s (%s-%s)", times(r$middle), times(r$low), times(r$high))
}

# ---- the other tables ----

# The lowest (or highest) figure of an engine over its variants, one run each.
screen_table <- function(key, show, best) {
  table_of(lapply(jobs, function(job) {
    row <- data.frame(job = job, rows = shape_of(job), check.names = FALSE)
    values <- vapply(present, function(engine) {
      x <- pick(job, "screen", engine)[[key]]
      if (all(is.na(x))) NA_real_ else min(x, na.rm = TRUE)
    }, 0)
    for (engine in present) row[[labels[[engine]]]] <- show(values[[engine]])
    row[[best]] <- if (is.na(values["gbt"])) "" else times(min(values[peers], na.rm = TRUE) / values[["gbt"]])
    row
  }))
}

quality_table <- function(phase) {
  table_of(lapply(jobs, function(job) {
    rows <- pick(job, phase)
    chosen <- lapply(present, function(engine) {
      mine <- rows[rows$engine == engine & !is.na(rows$value), ]
      mine[which.min(mine$total_s), ]
    })
    values <- vapply(chosen, function(r) if (nrow(r)) r$value else NA_real_, 0)
    if (all(is.na(values))) return(NULL)
    row <- data.frame(job = job, metric = stats::na.omit(rows$metric)[1], check.names = FALSE)
    for (i in seq_along(present)) {
      seconds_too <- if (phase == "own" && nrow(chosen[[i]])) paste0(" in ", seconds(chosen[[i]]$total_s), " s")
      row[[labels[[present[i]]]]] <- paste0(metric_text(values[i]), seconds_too)
    }
    ours <- values[present == "gbt"]
    row[["gbt / best peer"]] <- if (length(ours)) fixed(ours / min(values[present != "gbt"], na.rm = TRUE), 4) else ""
    row
  }))
}

single_table <- function() {
  table_of(lapply(jobs, function(job) {
    ours <- pick(job, "repeat", "gbt")
    if (!nrow(ours)) return(NULL)
    row <- data.frame(job = job, `gbt_predictor() in R` = times(middle(ours$prepared_us)),
                      `gbt, predict() in R` = times(middle(ours$single_us)), check.names = FALSE)
    for (engine in peers) row[[labels[[engine]]]] <- times(middle(pick(job, "repeat", engine)$single_us))
    row
  }))
}

# Slowdown during the other job; `beyond` when some run did not end in time, which makes it a lower bound.
busy_frame <- function() {
  table_of(unlist(lapply(jobs, function(job) {
    lapply(setdiff(present, "catboost"), function(engine) {
      alone <- pick(job, "alone", engine)$total_s
      busy <- pick(job, "busy", engine)
      if (!length(alone) || !nrow(busy) || all(is.na(alone))) return(NULL)
      times <- ifelse(is.na(busy$total_s), busy$limit_s, busy$total_s)
      if (all(is.na(times))) return(NULL)
      ratio <- times / middle(alone)
      over <- sum(busy$status == "over limit")
      data.frame(job = job, engine = engine, alone = middle(alone), busy = middle(times), middle = middle(ratio),
                 low = min(ratio, na.rm = TRUE), high = max(ratio, na.rm = TRUE), over = over, n = nrow(busy),
                 beyond = over > nrow(busy) / 2)
    })
  }), recursive = FALSE))
}

busy_table <- function(frame) {
  table_of(lapply(unique(frame$job), function(job) {
    row <- data.frame(job = job, check.names = FALSE)
    for (engine in unique(frame$engine)) {
      r <- frame[frame$job == job & frame$engine == engine, ]
      row[[labels[[engine]]]] <- if (!nrow(r)) "" else {
        sign <- if (r$beyond) "> " else ""
        sprintf("%s to %s%s s: **%s%s** (%s-%s)%s", seconds(r$alone), sign, seconds(r$busy), sign, times(r$middle),
                times(r$low), times(r$high), if (r$over) sprintf(", %d of %d ended at the limit", r$over, r$n) else "")
      }
    }
    row
  }))
}

threads_table <- function() {
  table_of(unlist(lapply(jobs, function(job) {
    lapply(present, function(engine) {
      one <- pick(job, "threads1", engine)
      two <- pick(job, "threads2", engine)
      if (!nrow(one) || !nrow(two)) return(NULL)
      data.frame(job = job, engine = labels[[engine]], `1 thread s` = with_range(one$total_s, seconds),
                 `2 threads s` = with_range(two$total_s, seconds),
                 `ratio` = times(middle(one$total_s) / middle(two$total_s)),
                 `ratio, conversion` = times(middle(one$convert_s) / middle(two$convert_s)),
                 `ratio, training` = times(middle(one$train_s) / middle(two$train_s)), check.names = FALSE)
    })
  }), recursive = FALSE))
}

variants_table <- function() {
  shown <- unique(runs[runs$phase == "screen", c("engine", "variant")])
  shown <- shown[order(match(shown$engine, engines)), ]
  table_of(lapply(jobs, function(job) {
    rows <- pick(job, "screen")
    if (!nrow(rows)) return(NULL)
    row <- data.frame(job = job, check.names = FALSE)
    for (i in seq_len(nrow(shown))) {
      r <- rows[rows$engine == shown$engine[i] & rows$variant == shown$variant[i], ]
      r <- r[nrow(r), ]
      name <- if (shown$engine[i] == "gbt") "gbt" else paste(labels[[shown$engine[i]]], shown$variant[i])
      row[[name]] <- if (!nrow(r)) "" else if (r$status == "ok") {
        paste(seconds(r$convert_s), "+", seconds(r$train_s))
      } else if (r$status == "over limit") paste(">", fixed(r$limit_s, 0)) else "failed"
    }
    row
  }))
}

# ---- what was aimed at ----

large_dense <- c("made_d6", "made_d8", "regression", "weatherAUS", "nycflights13", "freMTPL2", "factors")
other_large <- c("made_leaves255", "sparse_ones", "sparse_values", "wide", "classes", "skewed", "letter")

fastest_of <- function(frame) {
  if (is.null(frame)) return(numeric())
  vapply(split(frame$middle, factor(frame$job, unique(frame$job))), min, 0)
}
engine_of <- function(frame, engine) {
  if (is.null(frame)) return(numeric())
  mine <- frame[frame$engine == engine, ]
  stats::setNames(mine$middle, mine$job)
}
leanest_of <- function() {
  unlist(lapply(stats::setNames(nm = jobs), function(job) {
    peak <- pick(job, "screen")[c("engine", "peak_mb")]
    peak <- peak[!is.na(peak$peak_mb), ]
    if (!"gbt" %in% peak$engine || all(peak$engine == "gbt")) return(NULL)
    min(peak$peak_mb[peak$engine != "gbt"]) / peak$peak_mb[peak$engine == "gbt"][1]
  }))
}
over_jobs <- function(get) {
  x <- vapply(jobs, get, 0)
  x[!is.na(x)]
}

# One line: on how many jobs the aim is reached, the worst one, and where it is not.
aim_row <- function(text, values, bound, larger = TRUE) {
  values <- values[!is.na(values)]
  if (!length(values)) return(NULL)
  good <- if (larger) values >= bound else values <= bound
  worst <- if (larger) which.min(values) else which.max(values)
  missed <- values[!good]
  data.frame(aim = text, reached = sprintf("%d of %d", sum(good), length(values)),
             worst = paste(times(values[worst]), names(values)[worst]),
             `not reached` = paste(names(missed), times(missed), collapse = ", "), check.names = FALSE)
}

aims_table <- function() {
  fastest <- fastest_of(total)
  among <- function(x, which) x[names(x) %in% which]
  speedup <- over_jobs(function(job) {
    middle(pick(job, "threads1", "gbt")$total_s) / middle(pick(job, "threads2", "gbt")$total_s)
  })
  prepared <- over_jobs(function(job) middle(pick(job, "repeat", "gbt")$prepared_us))
  table_of(list(
    aim_row("training, dense, 100,000 rows or more: XGBoost / gbt at least 3",
            among(engine_of(total, "xgboost"), large_dense), 3),
    aim_row("the same: LightGBM / gbt at least 2", among(engine_of(total, "lightgbm"), large_dense), 2),
    aim_row("training, sparse, wide, classes, skewed, best first: fastest peer / gbt at least 1.3",
            among(fastest, other_large), 1.3),
    aim_row("training, every job: fastest peer / gbt at least 1", fastest, 1),
    aim_row("prediction of all rows: fastest peer / gbt at least 2", fastest_of(batch), 2),
    aim_row("one row by gbt_predictor(): at most 15 microseconds", prepared, 15, larger = FALSE),
    aim_row("beside another training run: at most 2.5 times the time alone", engine_of(busy, "gbt"), 2.5,
            larger = FALSE),
    aim_row("one thread / two threads at least 1.85", speedup, 1.85),
    aim_row("peak memory: leanest peer / gbt at least 1", leanest_of(), 1)
  ))
}

# How much other processes disturbed: runs in which they used more than a twentieth of a core.
quiet_note <- function() {
  seen <- runs[runs$phase %in% c("repeat", "alone", "threads1", "threads2") & !is.na(runs$total_s), ]
  wall <- seen$total_s + ifelse(is.na(seen$predict_s), 0, seen$predict_s)
  loud <- seen$foreign_s > 0.05 * wall + 0.1
  sprintf("In %d of %d timed runs other processes used more than a twentieth of a core.", sum(loud, na.rm = TRUE),
          length(loud))
}

# ---- the page ----

version_text <- function() {
  version <- vapply(present, function(engine) stats::na.omit(runs$version[runs$engine == engine])[1], "")
  paste(c(paste(labels[present], version), notes["r"]), collapse = ", ")
}
commits <- unique(stats::na.omit(runs$commit))

section <- function(title, text, table, picture = NULL) {
  if (is.null(table)) return(character())
  c(paste("##", title), "", text, "", if (!is.null(picture)) c(sprintf("![%s](%s)", title, picture), ""),
    md_table(table), "")
}
chosen_note <- paste(
  "Of each peer the fastest variant counts (see the last table). Seconds are medians; after the colon the ratio to",
  "gbt, run by run, median (lowest-highest)."
)

total <- ratio_frame("total_s")
batch <- ratio_frame("predict_s")
busy <- busy_frame()
plot_ratios(file.path(folder, "compare-train.png"), total, "Conversion and training: time of peer / time of gbt")
plot_ratios(file.path(folder, "compare-predict.png"), batch, "Prediction of all rows: time of peer / time of gbt")
plot_memory(file.path(folder, "compare-memory.png"), pick(jobs, "screen"))
if (!is.null(busy)) plot_busy(file.path(folder, "compare-busy.png"), busy)

lines <- c(
  "# Side by side", "",
  paste("- date:", notes[["date"]]),
  paste0("- machine: ", notes[["cpu"]], ", ", notes[["cores"]], " cores seen, ", notes[["memory"]], ", ",
         notes[["kernel"]]),
  paste("- versions:", version_text()),
  paste("- commit:", paste(commits, collapse = ", ")),
  "- made by: `sh bench/compare.sh`; every run is in `compare.csv`; what is measured, and how: `bench/README.md`",
  paste("-", quiet_note()), "",
  section("In short", "Medians; of the peers the fastest (leanest) variant of all.", aims_table()),
  section("Training, conversion included",
          c("From R objects (numpy, pandas, scipy objects) to a model, two threads.", chosen_note),
          time_table("total_s", total), "compare-train.png"),
  section("Prediction of all training rows", "Raw scores, two threads, from the same objects.",
          time_table("predict_s", batch), "compare-predict.png"),
  section("Prediction of one row", "Median microseconds of up to 200 calls, each of another row, one thread.",
          single_table()),
  section("Peak memory above the input", c(
    "MB, conversion and training, first run of a fresh process; of each peer the leanest variant. Last column: leanest",
    "peer / gbt."), screen_table("peak_mb", times, "leanest peer / gbt"), "compare-memory.png"),
  section("Quality on held-out rows", c(
    "Lower is better; the variant whose time counts. Matched parameters do not make engines equal: LightGBM's softmax",
    "takes larger steps, its trees grow best first up to 2^depth leaves, CatBoost's are symmetric."),
    quality_table("screen")),
  if (!is.null(busy)) section("Beside another training run on the same two cores", c(
    "Seconds alone and beside gbt training another set with two threads, and the ratio, median (lowest-highest). A run",
    "that takes 15 times as long as alone (and at least 2 s) is ended, and counts as that long."),
    busy_table(busy), "compare-busy.png"),
  section("One and two threads", "Conversion and training.", threads_table()),
  section("Own defaults", paste(
    "Rounds as in `compare.csv` (100 for most), two threads; all other parameters are each engine's own. Held-out",
    "metric and seconds, conversion included; one run."), quality_table("own")),
  section("Variants", "Seconds of conversion + training, one run each in a fresh process.", variants_table())
)
writeLines(lines, file.path(folder, "compare.md"))
message("written to ", file.path(folder, "compare.md"))
