# Makes bench/results/defaults.md and defaults.png of defaults.csv: aims and what was reached, standings of the engines,
# paired tests, a table of the sets.
#
#   Rscript bench/defaults-report.R [--out FOLDER] [--base gbt/own] [--note TEXT]
#
# --base: the configuration of gbt that the others are tested against. --note: a line at the top of the page.
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)[1]))
source(file.path(here, "common.R"))
source(file.path(here, "data.R"))
source(file.path(here, "defaults-table.R"))
source(file.path(here, "defaults-sets.R"))
source(file.path(here, "defaults-space.R"))
source(file.path(here, "defaults-tests.R"))
source(file.path(here, "plots.R"))
source(file.path(here, "defaults-plot.R"))
root <- bench_root()
folder <- arg_of("out", file.path(root, "bench", "results"))
base <- arg_of("base", "gbt/own")
half_of <- halves_of(registry)
halves <- c("all", "choosing", "confirming")

every_run <- utils::read.csv(file.path(folder, "defaults.csv"), colClasses = c(
  version = "character", commit = "character", params = "character", data = "character", wait = "character",
  error = "character"
))
every_run$who <- paste(every_run$engine, every_run$config, sep = "/")
every_run <- every_run[every_run$set %in% registry$name, ]
failed <- every_run[is.na(every_run$loss), ]
runs <- pick_tuned(every_run[!is.na(every_run$loss), ])
runs$who <- paste(runs$engine, runs$config, sep = "/")
runs$seconds <- runs$convert_s + runs$train_s + runs$predict_s
tuned_all <- unique(runs$who[runs$config == "tuned"])
gbt_all <- setdiff(unique(runs$who[runs$engine == "gbt"]), tuned_all)
if (!base %in% gbt_all) stop("no runs of ", base, call. = FALSE)
gbt_all <- c(base, setdiff(gbt_all, base))
peers_own <- intersect(c("catboost/own", "lightgbm/own", "xgboost/own"), runs$who)
peers_all <- c(peers_own, setdiff(sort(unique(runs$who[runs$engine != "gbt"])), c(peers_own, tuned_all)))

# Runs of sets that are left out by now are of no use.
n_rows <- runs$train + runs$valid + runs$test
runs <- runs[n_rows >= least_rows, ]
first_rows <- runs[!duplicated(runs$set), ]
size <- stats::setNames(vapply(first_rows$train + first_rows$valid + first_rows$test, size_of, ""), first_rows$set)

p_text <- function(p) if (p < 0.0001) "< 0.0001" else fixed(p, 4)
percent <- function(x) fixed(100 * x, 2)
in_half <- function(sets, half) if (half == "all") sets else sets[half_of[sets] == half]
of_every_half <- function(sets, line) {
  found <- lapply(halves, function(half) {
    at <- in_half(sets, half)
    if (length(at)) line(half, at)
  })
  do.call(rbind, found)
}

# ---- standings ----

# Lines for `show` among all of `who`, for each half of `sets`.
standing <- function(who, show = who, sets = registry$name) {
  figures <- figures_of(runs, who)
  ranks <- ranks_of(figures$loss)
  of_every_half(intersect(rownames(figures$loss), sets), function(half, at) {
    do.call(rbind, lapply(show, function(w) {
      behind <- figures$behind[at, w]
      data.frame(half = half, sets = length(at), engine = w, `mean gap %` = percent(mean(figures$gap[at, w])),
                 `mean gap of means %` = percent(mean(behind)),
                 `median gap %` = percent(stats::median(figures$gap[at, w])),
                 `gap in % of knowing nothing` = percent(mean(figures$share[at, w])),
                 `mean rank` = fixed(mean(ranks[at, w]), 2), wins = sum(ranks[at, w] == 1),
                 `more than 2 % behind` = sum(behind > 0.02),
                 `farthest behind` = paste0(at[which.max(behind)], " (", percent(max(behind)), ")"),
                 seconds = fixed(sum(figures$seconds[at, w]), 1), `processor s` = fixed(sum(figures$cpu[at, w]), 1),
                 check.names = FALSE)
    }))
  })
}

# ---- aims ----

# What is wanted, and what was reached on either half: gaps to the best of the three other packages, below 0 where gbt
# is better than all of them. Only sets with runs of all engines count.
aim_of <- function(what, reached, show, met) {
  at_half <- function(half) {
    value <- reached(half)
    if (is.null(value)) "" else show(value)
  }
  value <- reached("confirming")
  said <- if (is.null(value)) "not measured" else if (met(value)) "yes" else "**no**"
  data.frame(aim = what, confirming = at_half("confirming"), met = said, choosing = at_half("choosing"),
             all = at_half("all"), check.names = FALSE)
}

aim_table <- function() {
  mean_gap <- function(who) function(half) {
    gap <- gap_to_peers(runs, who, peers_own)
    gap <- 100 * gap[in_half(names(gap), half)]
    if (length(gap)) c(mean(gap), length(gap))
  }
  far <- function(half) {
    gap <- gap_to_peers(runs, base, peers_own)
    gap <- gap[in_half(intersect(names(gap), names(size)[size != "small"]), half)]
    c(sum(gap > 0.01), length(gap))
  }
  rank <- function(half) {
    ranks <- ranks_of(figures_of(runs, c(base, peers_own))$loss)
    mean(ranks[in_half(rownames(ranks), half), base])
  }
  times <- function(who, other) function(half) {
    cpu <- cpu_alike(c(who, other))
    at <- in_half(rownames(cpu), half)
    if (length(at)) c(sum(cpu[at, who]) / sum(cpu[at, other]), length(at))
  }
  gap_text <- function(v) sprintf("%+.2f %% (%d sets)", v[1L], as.integer(v[2L]))
  times_text <- function(v, digits) sprintf("%s (%d sets)", fixed(v[1L], digits), as.integer(v[2L]))
  of_gap <- function(most) function(v) v[1L] <= most
  rbind(
    aim_of("own defaults: mean gap at most -0.5 %", mean_gap(base), gap_text, of_gap(-0.5)),
    aim_of("own defaults: no set of 2,000 rows or more above +1 %", far,
           function(v) sprintf("%d of %d sets", as.integer(v[1L]), as.integer(v[2L])), of_gap(0)),
    aim_of("own defaults: mean rank of four below 1.5", rank, function(v) fixed(v, 2), function(v) v < 1.5),
    aim_of("own defaults: at most 0.1 of CatBoost's processor time", times(base, "catboost/own"),
           function(v) times_text(v, 3), of_gap(0.1)),
    aim_of("`preset = \"fast\"`: mean gap at most +1.5 %", mean_gap("gbt/fast"), gap_text, of_gap(1.5)),
    aim_of("`preset = \"fast\"`: at most half of LightGBM's processor time", times("gbt/fast", "lightgbm/own"),
           function(v) times_text(v, 2), of_gap(0.5)),
    aim_of("`preset = \"best\"`: mean gap at most -2 %", mean_gap("gbt/best"), gap_text, of_gap(-2))
  )
}

# Sets of 2,000 rows and more where gbt's own defaults are more than 1 % behind the best of the peers.
behind_lines <- function() {
  gap <- gap_to_peers(runs, base, peers_own)
  gap <- sort(gap[intersect(names(gap), names(size)[size != "small"])], decreasing = TRUE)
  gap <- gap[gap > 0.01]
  if (!length(gap)) return(NULL)
  of_sets <- paste0(names(gap), " ", sprintf("%+.1f", 100 * gap), " (", half_of[names(gap)], ")", collapse = ", ")
  c("", paste0("Sets of 2,000 rows and more above +1 %: ", of_sets, "."))
}

picture <- function() {
  gaps <- gaps_to_peers(runs, c(base, peers_own), peers_own)
  if (nrow(gaps)) plot_gaps(gaps, file.path(folder, "defaults.png"))
}

# The others of gbt's configurations, each in the place of the base among the peers' own defaults.
in_place <- function() {
  lines <- do.call(rbind, lapply(gbt_all, function(w) standing(c(w, peers_own), w)))
  lines[order(match(lines$half, halves)), ]
}

# ---- presets ----

presets_all <- gbt_all[grepl("^preset=[a-z]+$", runs$params[match(gbt_all, runs$who)])]

# Processor seconds by set, a column for each of two engines: only of splits that both ran on one day with as many
# threads, since other times do not compare. NULL where there are none.
cpu_alike <- function(who) {
  if (!all(who %in% runs$who)) return(NULL)
  key <- paste(runs$set, runs$split, runs$date, runs$threads)
  both <- intersect(key[runs$who == who[1L]], key[runs$who == who[2L]])
  if (length(both)) figures_of(runs[key %in% both & runs$who %in% who, ], who)$cpu
}

# Processor time of `who` in multiples of that of another: of all sets together, and the median of sets.
time_table <- function(who, against) {
  lines <- lapply(who, function(w) {
    lapply(setdiff(against, w), function(other) {
      cpu <- cpu_alike(c(w, other))
      if (is.null(cpu)) return(NULL)
      of_every_half(rownames(cpu), function(half, at) {
        data.frame(half = half, sets = length(at), engine = w, against = other,
                   `of all together` = fixed(sum(cpu[at, w]) / sum(cpu[at, other]), 2),
                   `median of sets` = fixed(stats::median(cpu[at, w] / cpu[at, other]), 2), check.names = FALSE)
      })
    })
  })
  lines <- do.call(rbind, unlist(lines, recursive = FALSE))
  lines[order(match(lines$half, halves)), ]
}

preset_section <- function() {
  if (!length(presets_all)) return(NULL)
  who <- c(base, presets_all, peers_own)
  pairs <- unlist(lapply(presets_all, function(w) lapply(c(base, peers_own), function(p) c(w, p))), recursive = FALSE)
  c("## Presets", "", "All of them in one table, so a gap is that to the best of these.", "",
    table_or_none(standing(who)), "", "Change of the loss by set (see *Paired tests*):", "",
    table_or_none(paired(pairs)), "",
    "Processor time, conversion and training, in multiples of that of another engine, of sets where both ran on one",
    "day with as many threads:", "",
    md_table(time_table(c(base, presets_all), intersect(c("lightgbm/own", "catboost/own"), peers_own))), "")
}

# Mean gaps by kind of set, among the peers' own defaults.
kind_table <- function() {
  by_task <- split(registry$name, factor(registry$task, unique(registry$task)))
  by_origin <- split(registry$name, ifelse(startsWith(registry$from, "made:"), "made", "real"))
  by_size <- split(names(size), factor(size, c("small", "middle", "large")))
  kinds <- c(by_task, by_origin, by_size)
  lines <- lapply(c(gbt_all, peers_own), function(w) {
    who <- if (w %in% peers_own) c(base, peers_own) else c(w, peers_own)
    gap <- figures_of(runs, who)$gap[, w]
    cells <- vapply(kinds, function(names) {
      at <- intersect(names(gap), names)
      if (length(at)) paste0(percent(mean(gap[at])), " (", length(at), ")") else ""
    }, "")
    data.frame(engine = w, t(cells), check.names = FALSE)
  })
  do.call(rbind, lines)
}

# ---- paired tests ----

# How many splits of these sets all of `who` have.
n_splits <- function(who, sets) sum(attr(wide(runs, who, "loss"), "set") %in% sets)

paired <- function(pairs) {
  of_every_half(unique(runs$set), function(half, at) {
    d <- lapply(pairs, function(pair) {
      change <- changes(runs, pair[1], pair[2])
      change[names(change) %in% at]
    })
    if (!length(unlist(d))) return(NULL) # rules are looked at one by one on the choosing half alone
    tests <- flip_tests(d)
    do.call(rbind, lapply(seq_along(pairs), function(k) {
      v <- d[[k]]
      if (!length(v)) return(NULL)
      data.frame(half = half, engine = pairs[[k]][1], against = pairs[[k]][2], sets = length(v),
                 splits = n_splits(pairs[[k]], names(v)), `mean change %` = percent(mean(v)),
                 `standard error` = percent(stats::sd(v) / sqrt(length(v))),
                 `median change %` = percent(stats::median(v)), improved = sum(v < 0), worse = sum(v > 0),
                 p = p_text(tests$p[k]), `p, the best of all` = p_text(tests$p_family[k]), check.names = FALSE)
    }))
  })
}

# A section for each rule of gbt_defaults(): what gbt's own defaults change against those in which the rule is undone.
# Such a configuration is called `without.` and one of the rule's parameters, and something more where there are
# several: --gbt without.eta:eta=0.1 --gbt without.eta.small:eta=0.03
rule_sections <- function() {
  if (!requireNamespace("gbt", quietly = TRUE)) return(NULL)
  rules <- gbt::gbt_defaults()
  lines <- lapply(which(!grepl("^(bench/|Presets$)", rules$evidence)), function(i) { # others have their page
    undone <- unlist(lapply(strsplit(rules$parameters[i], ", ", fixed = TRUE)[[1]], function(name) {
      named <- paste0("gbt/without.", name)
      gbt_all[gbt_all == named | startsWith(gbt_all, paste0(named, "."))]
    }))
    if (!length(undone)) return(NULL)
    values <- vapply(undone, function(w) runs$params[runs$who == w][1L], "")
    c(paste0("### ", rules$evidence[i]), "", paste0("`", rules$parameters[i], "`: ", rules$rule[i]), "",
      paste0("- ", undone, ": `--gbt ", sub("^gbt/", "", undone), ":", values, "`"), "",
      table_or_none(paired(lapply(undone, function(w) c(base, w)))), "")
  })
  lines <- unlist(lines)
  if (length(lines)) {
    c("## Rules", "", "What each rule of `gbt_defaults()` does: the own defaults against those in which it is undone,",
      "by `Rscript bench/defaults.R --engines gbt` with the option that is named (and `--kinds` where a rule is for",
      "some).",
      "Negative is better; *p, the best of all* looks at the configurations of one table.", "", lines)
  }
}

# ---- sets, runs ----

set_table <- function() {
  who <- c(base, peers_own)
  figures <- figures_of(runs, who)
  at <- intersect(registry$name, rownames(figures$loss))
  first <- runs[match(at, runs$set), ]
  loss <- figures$loss[at, , drop = FALSE]
  cells <- matrix(formatC(loss, digits = 5, format = "g", flag = "#"), nrow(loss), dimnames = list(NULL, who))
  best <- ranks_of(loss) == 1
  cells[best] <- paste0("**", cells[best], "**")
  data.frame(set = at, task = first$task, half = half_of[at],
             `train / valid / test` = paste(first$train, first$valid, first$test, sep = " / "),
             columns = first$columns, splits = as.vector(table(attr(wide(runs, who, "loss"), "set"))[at]), cells,
             `gap to the best peer %` = percent(gap_to_peers(runs, base, peers_own)[at]), check.names = FALSE)
}

engine_table <- function() {
  do.call(rbind, lapply(c(gbt_all, peers_all, tuned_all), function(w) {
    r <- runs[runs$who == w, ]
    one_of <- function(field) paste(unique(r[[field]]), collapse = ", ")
    data.frame(engine = w, parameters = if (nzchar(r$params[1])) paste0("`", r$params[1], "`") else "",
               version = one_of("version"), commit = one_of("commit"), runs = nrow(r),
               failed = sum(failed$who == w), `mean rounds` = fixed(mean(r$rounds), 0),
               `stopped by the limit of rounds` = sum(r$trained >= r$limit),
               `median load` = fixed(stats::median(r$load), 1), threads = one_of("threads"), wait = one_of("wait"),
               check.names = FALSE)
  }))
}

failure_lines <- function() {
  if (!nrow(failed)) return("No run failed.")
  md_table(failed[c("set", "split", "who", "error")])
}

table_or_none <- function(table) if (is.null(table)) "No set has runs of all of them." else md_table(table)
one_value <- function(field) paste(unique(runs[[field]]), collapse = " or ")
# How much of the benchmark the page has: splits with the own defaults of all engines.
complete <- rownames(wide(runs, c(base, peers_own), "loss"))
begun <- registry$name[registry$name %in% first_rows$set]
missing_sets <- setdiff(begun, sub(" .*", "", complete))
wanted <- sum(mapply(n_splits_of, first_rows$train + first_rows$valid + first_rows$test,
                     sub(":.*", "", registry[first_rows$set, "split"])))
note <- c(
  arg_of("note", NULL),
  if (length(peers_own) < 3L || length(missing_sets) || length(complete) < wanted) {
    c("**Not whole:** runs of all engines with their own defaults are there for",
      sprintf("%d of %d sets (the end of the page names the others) and %d of the %d splits of sets that were begun.",
              length(begun) - length(missing_sets), length(begun), length(complete), wanted))
  }
)
against_base <- lapply(setdiff(gbt_all, base), c, base)
against_peers <- unlist(lapply(gbt_all, function(w) lapply(peers_own, function(p) c(w, p))), recursive = FALSE)

picture()
write_results(root, "defaults", "Defaults: gbt beside CatBoost, LightGBM and XGBoost without tuning", c(
  if (length(note)) c(note, ""),
  "Held-out loss (root mean squared error, Poisson deviance, log loss, loss of a quantile) on the sets of",
  "`bench/defaults-table.R`. Every split has a test part of a fifth of the rows and a validation part of a fifth of",
  "the others; all engines get the same rows, and training stops when",
  paste(one_value("patience"), "rounds have not bettered the loss of the validation part, after", one_value("limit"),
        "rounds at most."),
  "All else is left to each engine (`own`), or to it and the parameters below.", "",
  "- *Gap*: by how much a loss exceeds the best of the engines in the same table, in the same split, divided by that",
  "  best loss (or by a hundredth of the loss of knowing nothing, if that is more). Mean over splits, then over sets.",
  "- *Mean gap of means*, *mean rank*, *wins*, *behind*: of the mean loss of a set over its splits, where the luck of",
  "  a split weighs less. *Behind* is the gap of these means.",
  "- *Seconds*: conversion, training and prediction of the test part, mean over splits, summed over sets. Processor",
  "  seconds are those of conversion and training, all threads; they mean more where the machine had other work.",
  "- *Halves*: rules are chosen on one half of the data and confirmed on the other (`halves_of()` in",
  "  `bench/defaults-sets.R`).", "",
  "## Aims and what was reached", "",
  "Gaps of the mean loss of a set over its splits to the best of the three other packages: below 0 gbt is better than",
  "all of them. The confirming half counts.",
  "", table_or_none(aim_table()), behind_lines(), "",
  "![Gap of each engine to the best of the three other packages, set by set](defaults.png)", "",
  "## Own defaults", "", table_or_none(standing(c(base, peers_own))), "",
  "Sets of 2,000 rows and more alone; on smaller ones luck weighs most:", "",
  table_or_none(standing(c(base, peers_own), sets = names(size)[size != "small"])), "",
  if (length(peers_all) > length(peers_own)) {
    c("## With the peers at a learning rate of 0.05 beside", "", table_or_none(standing(c(base, peers_all))), "")
  },
  preset_section(),
  if (length(gbt_all) > 1L) {
    c("## Configurations of gbt", "",
      "Each among the peers' own defaults, in the place of gbt's.", "", table_or_none(in_place()), "")
  },
  if (length(tuned_all)) {
    c("## Beside tuned ones", "",
      "`tuned`: for each set and split the one with the least validation loss of as many random parameter sets as the",
      "table of runs says (`bench/defaults-space.R`), and the seconds of all of them.", "",
      table_or_none(standing(c(base, presets_all, tuned_all))), "")
  },
  "## By kind", "",
  "Mean gap in % among the peers' own defaults (number of sets). Small sets have less than 2,000 rows, large ones",
  "more than 20,000.", "", table_or_none(kind_table()), "",
  "## Paired tests", "",
  "Change of the loss by set, mean over splits: the difference of two configurations in the same split, divided by",
  "the mean of both; negative is better. *p*: share of the ways to flip the signs of sets that give a mean as far from",
  "0. *p, the best of all*: the same for the farthest of all configurations of the table; it is the one that counts",
  "where the best of them was picked.", "",
  if (length(against_base)) c(paste0("Against ", base, ":"), "", table_or_none(paired(against_base)), ""),
  "Against the peers' own defaults:", "", table_or_none(paired(against_peers)), "",
  rule_sections(),
  "## Sets", "", "Mean loss over splits, own defaults; the best is bold. Rows are those of the first split.", "",
  table_or_none(set_table()), "",
  "## Runs", "", table_or_none(engine_table()), "", "Failed:", "", failure_lines(),
  if (length(missing_sets)) {
    c("", paste0("Sets that lack runs of an engine: ", paste(missing_sets, collapse = ", "), "."))
  }
), folder = folder)
