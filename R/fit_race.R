# The shape of trees by a race: each of a few shapes is trained for a few large steps on some of the rows, and the one
# with the least loss on other rows is taken.
#
#   race_task     request, facts, rows -> the input of a race, see R/fit_defaults.R; NULL where rules decide
#   find_shape    fit                  -> fit with the shape that a race has chosen
#   shape_of_race fit, task            -> the shape, and how it won
#
# race_of_folds() in R/verb_cv.R holds that of a cross-validation.
#
# The choice follows from the data, the parameters and numbers of rows alone: rows are drawn by a hash of their number,
# losses are exact sums, and all ends are counts. So it is the same for all threads, devices, page sizes and ranks.

# A race takes so many steps of `eta` at most: small trees take more of them. It ends early as other trainings do.
race_eta <- 0.3
race_rounds <- c(symmetric = 100, depthwise = 50, lossguide = 50)
race_patience <- 5

# Two shapes at a time: they are compared when each has had these shares of its rounds. The second one has lost once it
# is behind, but for the first time only if its distance was not halved within the second half of these rounds. Deep
# trees are ahead in early rounds, so the first one has lost only if it is behind by so much, from this share on.
race_stages <- c(0.2, 0.3, 0.4, 1)
race_lost <- c(share = 0.4, behind = 0.1)

# A shape is taken only if its loss is lower by this share than that of the first one, or of the best one before. The
# third one runs only where the second one is clearly ahead, as it is for data with many interactions.
race_margin <- c(0, 0.003, 0.02)
race_clear <- 0.03

# Fewer rows cannot decide. Smaller validation data leave it to rows that are held out.
race_least <- c(train = 2000, judge = 500)

# Seeds of the draws: which rows are held out, and which rows take part.
race_seeds <- c(held = 1, part = 2)

# fit: prepared. With the shape that is kept in the folder of checkpoints, or else with that of a race.
find_shape <- function(fit) {
  task <- fit$race
  fit["race"] <- list(NULL)
  if (is.null(task)) return(fit)
  race <- kept_race(fit$host$checkpoint, task$shapes)
  if (is.null(race)) {
    race <- shape_of_race(fit, task, by_valid = TRUE)
    if (is.null(race)) race <- list(shape = shape_without_race(fit, task))
    keep_race(fit$host$checkpoint, race)
  }
  fit["raced"] <- list(race$table)
  fit <- fit_with_shape(fit, task, race$shape)
  fit$order <- character(0) # `time` and `group` have had an effect: they say which rows judge
  if (fit$host$max_seconds > 0) fit$host$max_seconds <- max(seconds_left(fit$host$until), 0.001)
  fit
}

# The same, where a race could not decide, which is said.
shape_without_race <- function(fit, task) {
  shape <- usual_shape(task)
  if (fit$host$verbose) {
    say(sprintf("the shape of trees is that of the rules, %s: too few rows or too little time for a race",
                shape_words(shape)))
  }
  shape
}

# The one that the rules choose without a race.
usual_shape <- function(task) {
  params <- request_with_shape(task, NULL)$params
  same <- function(shape) all(unlist(params[names(shape)]) == unlist(shape))
  Filter(same, task$shapes)[[1L]]
}

# The fit with another shape and all that rules choose with it.
fit_with_shape <- function(fit, task, shape) {
  request <- request_with_shape(task, shape)
  fit$params <- params_of_race(fit, request)
  kept <- c("device", "until") # what was found since the request
  fit$host <- c(request$host[setdiff(names(request$host), kept)], fit$host[intersect(kept, names(fit$host))])
  fit$by_rule <- request$by_rule
  fit["search"] <- list(search_again(fit$search, request, task$rows))
  fit
}

request_with_shape <- function(task, shape) {
  task$facts$raced <- shape
  size_rounds(with_rules(task$request, task$facts, task$rows$response$objective))
}

# The parameters of a request for the data of a fit.
params_of_race <- function(fit, request) {
  params <- replace(request$params, "seed", fit$params$seed)
  if (!is.null(request$args$value[["mtry"]])) params$colsample_bytree <- fit$params$colsample_bytree
  params
}

# ---- the race ----

# list(shape, table): the shape that is taken, and of each that ran `shape`, `rounds`, `loss` (the least one) and
# `chosen`. NULL where the race cannot decide: too few rows are left to judge by, losses are not finite, or the time of
# `max_seconds` is over. by_valid: do validation data that stop the training early judge?
shape_of_race <- function(fit, task, by_valid) {
  parts <- race_parts(fit, task$rows, by_valid)
  if (is.null(parts)) return(NULL)
  fit <- fit_of_race(fit, task, parts)
  racers <- list()
  on.exit(for (racer in racers) free_racer(racer))
  for (i in seq_along(task$shapes)) {
    if (i > 2L && !is_ahead(racers[[2L]]$loss, racers[[1L]]$loss, race_clear)) break
    racers[[i]] <- new_racer(fit, task, task$shapes[[i]])
    if (i > 1L) winner <- duel(if (i == 2L) racers[[1L]] else winner, racers[[i]], race_margin[i])
    if (i > 1L && is.null(winner)) return(NULL)
  }
  table <- race_table(racers, winner)
  if (fit$host$verbose) say(race_line(table, fit$evaluation$metrics$name))
  list(shape = winner$shape, table = table)
}

# A shape in a race, an environment: shape, fit, share (of its rounds that it may have had), run (see
# run_with_fallback()), log (its losses by round) and loss (the least one).
new_racer <- function(fit, task, shape) {
  own <- fit_of_shape(fit, task, shape)
  list2env(list(shape = shape, fit = own, share = 0, run = NULL, log = NULL, loss = NA_real_))
}

free_racer <- function(racer) if (!is.null(racer$run)) free_trainer(racer$run$trainer, racer$fit)

# Of two shapes the one that is taken, or NULL. margin: by which share the second one must be ahead.
duel <- function(first, second, margin) {
  for (share in race_stages) {
    if (!run_to(first, share) || !run_to(second, share)) return(NULL)
    losses <- c(loss_by(first, share), loss_by(second, share))
    if (share == 1) return(if (is_ahead(losses[2L], losses[1L], margin)) second else first)
    behind <- losses[2L] - losses[1L]
    before <- loss_by(second, share / 2) - loss_by(first, share / 2)
    if (behind > 0 && (share > race_stages[1L] || isTRUE(behind > before / 2))) return(first)
    if (share >= race_lost[["share"]] && is_ahead(losses[2L], losses[1L], race_lost[["behind"]])) return(second)
  }
}

# Has the shape had this share of its rounds, with a finite loss? Its training goes on where it was.
run_to <- function(racer, share) {
  if (racer$share >= share) return(TRUE)
  racer$share <- share
  fit <- racer$fit
  fit$host$nrounds <- rounds_by(racer, share)
  if (is.null(racer$run) || racer$run$why == "done") {
    racer$run <- if (is.null(racer$run)) run_with_fallback(fit) else go_on_with_fallback(racer$run, fit)
  }
  if (!racer$run$why %in% c("early", "done", "time")) stop_cut_race(racer$run)
  racer$log <- as.vector(racer$run$state$native)
  if (racer$run$why == "time" || !any(is.finite(racer$log))) return(FALSE)
  racer$loss <- loss_by(racer, 1)
  TRUE
}

rounds_by <- function(racer, share) round(share * racer$fit$host$nrounds)

# The least loss within a share of the rounds.
loss_by <- function(racer, share) {
  losses <- utils::head(racer$log, rounds_by(racer, share))
  min(losses[is.finite(losses)], Inf)
}

is_ahead <- function(loss, other, margin) loss < other - margin * abs(other)

race_table <- function(racers, winner) {
  of <- function(look, value) vapply(racers, look, value)
  data.frame(shape = of(function(racer) shape_words(racer$shape), ""),
             rounds = of(function(racer) as.double(length(racer$log)), 0),
             loss = of(function(racer) racer$loss, 0), chosen = of(function(racer) identical(racer, winner), NA),
             stringsAsFactors = FALSE)
}

stop_cut_race <- function(run) {
  package_state$interrupted <- NULL
  if (!is.null(run$error)) stop(run$error)
  raise_interrupt("training was interrupted before its first round, while the shape of trees was chosen", model = NULL)
}

race_line <- function(table, metric) {
  sprintf("a race of %s chose %s (%s %s)", counted(nrow(table), "shape"), table$shape[table$chosen], metric,
          paste(sprintf("%s: %s in %s", table$shape, formatC(table$loss, digits = 5L, format = "g"),
                        vapply(table$rounds, counted, "", "round")), collapse = ", "))
}

shape_words <- function(shape) {
  sprintf("%s %s", shape$grow_policy, if (isTRUE(shape$max_leaves > 0)) shape$max_leaves else shape$max_depth)
}

# ---- the rows of a race ----

# A list: train, the places of rows among those that the training has, and judge, a set as of plan_evaluation(). NULL
# where there are too few rows of either.
race_parts <- function(fit, rows, by_valid) {
  at <- given_or(fit$data$at, seq_len(rows$n))
  own <- if (is.null(fit$data$at)) NULL else replace(logical(rows$n), at, TRUE)
  most <- rows_to_train(fit$n_obs)
  set <- if (by_valid && fit$evaluation$stopping) fit$evaluation$data[[length(fit$evaluation$data)]]
  if (sum_of_ranks(length(set$label)) >= race_least[["judge"]]) {
    train <- rows_of_race(rows$n, own, most)
    judge <- judges_of_set(fit, set)
  } else {
    held <- held_of_race(rows, at)
    if (is.null(held)) return(NULL)
    train <- rows_of_race(rows$n, given_or(own, TRUE) & !held, most)
    judge <- judges_of_rows(fit, rows, rows_of_race(rows$n, given_or(own, TRUE) & held, race_rows[["judge"]]))
  }
  enough <- sums_of_ranks(c(sum(train), length(judge$label))) >= race_least
  train <- which(train[at])
  if (all(enough) && !misses_column(subset_rows(fit$label, train)) && !misses_column(judge$label)) {
    list(train = train, judge = judge)
  }
}

# About `most` of the rows that are TRUE in `among` (NULL: of all n), by a hash of their numbers: logical values.
rows_of_race <- function(n, among, most) {
  count <- sum_of_ranks(if (is.null(among)) n else sum(among))
  if (count > most) {
    drawn <- draws_below(n, most / count, race_seeds[["part"]])
    among <- if (is.null(among)) drawn else among & drawn
  }
  given_or(among, rep(TRUE, n))
}

# A share of n rows, or of n groups of all ranks: logical values.
draws_below <- function(n, share, seed, before = rows_before(n)) {
  force(before) # an operation of all ranks, those without rows too
  as.logical(unlist(by_parts(n, function(rows) {
    .Call(C_gbt_row_draws, length(rows), seed, before + rows[1L] - 1) < share * 2^31
  })))
}

# Which rows of the data judge where no validation data do: the last in time, whole groups, or rows. Logical values of
# all rows, of which those count that the training has, `at`. NULL where these are not to be divided.
held_of_race <- function(rows, at) {
  time <- rows$source$time
  group <- rows$source$group
  if (any_rank(!is.null(time))) {
    own <- time[at]
    if (all_same(own)) return(NULL)
    return(replace(logical(rows$n), at[latest_rows(own, held_out_share)$held], TRUE))
  }
  if (!any_rank(!is.null(group))) return(draws_below(rows$n, held_out_share, race_seeds[["held"]]))
  if (count_groups(group) < 10) return(NULL)
  draws_below(count_groups(group), held_out_share, race_seeds[["held"]], 0)[group]
}

# The rows of the data that are TRUE in `held` as a set.
judges_of_rows <- function(fit, rows, held) {
  at <- which(held)
  weight <- take_numbers(check_weight(rows$source$weights, rows$n, "weights"), at, rows$n)
  offset <- take_numbers(check_offset(rows$source$offset, rows$n, fit$response$n_outputs), at, rows$n)
  label <- subset_rows(rows$response$label, at)
  weight <- judging_weights(fit, weight, label)
  data <- list(view = gathered_view(fit, fit$data, held, label = label, weights = weight, offset = offset))
  list(name = held_out_name, data = data, label = label, weight = weight)
}

# The weights by which rows are judged: theirs, times those that classes have in this training (or NULL for none).
judging_weights <- function(fit, weight, label) {
  classes <- attr(fit$data$weight, "classes")
  if (is.null(classes)) return(weight)
  own <- unname(classes)[label + 1]
  if (is.null(weight)) own else weight * own
}

# Some rows of a validation set, as a set.
judges_of_set <- function(fit, set) {
  n <- length(set$label)
  drawn <- rows_of_race(n, NULL, race_rows[["judge"]])
  at <- which(drawn)
  label <- subset_rows(set$label, at)
  weight <- judging_weights(fit, subset_rows(set$weight, at), label)
  offset <- take_numbers(set$data$offset, at, n)
  mask <- if (is.null(set$rows)) drawn else replace(logical(set$data$n_rows), set$rows[at], TRUE)
  data <- list(view = gathered_view(fit, set$data, mask, label = label, weights = weight, offset = offset))
  list(name = set$name, data = data, label = label, weight = weight)
}

# The rows of `data` where `mask` is TRUE, copied to memory with their bins: pages in a folder are read once. ...: as
# for dataset_view().
gathered_view <- function(fit, data, mask, ..., label) {
  copy <- .Call(C_gbt_dataset_gather, data_ptr(data), mask, fit$host$threads)
  .Call(C_gbt_dataset_view, copy, fields_of_view(list(...), label), NULL, TRUE)
}

# ---- the trainings of a race ----

# The rows that take part and those that judge, which all trainings share.
fit_of_race <- function(fit, task, parts) {
  data <- fit$data
  at <- parts$train
  n <- length(fit$label)
  rows <- data$at
  mask <- logical(data$n_rows)
  mask[if (is.null(rows)) at else rows[at]] <- TRUE
  part <- function(v) take_numbers(v, at, n)
  of_data <- function(v) if (is.null(rows)) part(v) else subset_rows(v, rows[at])
  group <- of_data(task$rows$source$group)
  fit$label <- subset_rows(fit$label, at)
  data$weight <- part(data$weight)
  data["offset"] <- list(part(data$offset))
  data[c("masked_out", "path")] <- list(NULL)
  data$view <- gathered_view(fit, data, mask, label = fit$label, weights = data$weight, offset = data$offset,
                              time = of_data(task$rows$source$time), group = if (!is.null(group)) number_groups(group))
  fit$data <- data
  fit$n_obs <- as_row_count(sum_of_ranks(length(at)))
  fit$callbacks <- list()
  fit$valid <- list(parts$judge)
  metrics <- resolve_metrics(objective_metric(fit$response$objective), fit$response)
  fit$evaluation <- list(metrics = metrics, train = FALSE, stopping = TRUE, data = fit$valid, at = 1L, own = FALSE,
                         own_watched = FALSE)
  fit
}

# The training of one shape. fit: of the race.
fit_of_shape <- function(fit, task, shape) {
  fit$params <- params_of_race(fit, request_with_shape(task, shape))
  fit$params[c("eta", "seed")] <- list(race_eta, race_seeds[["part"]])
  fit$host <- host_of_race(fit$host, task, shape)
  fit
}

# Rounds that end early, nothing to be shown or kept, and a part of the time.
host_of_race <- function(host, task, shape) {
  host$nrounds <- race_rounds[[shape$grow_policy]]
  host$early_stopping_rounds <- race_patience
  host$early_stopping_min_delta <- 0
  host$max_seconds <- 0.1 * host$max_seconds / length(task$shapes)
  host["checkpoint"] <- list(NULL)
  host$verbose <- host$progress <- FALSE
  host$searching <- TRUE
  host
}

# ---- the race in the folder of checkpoints ----

# The file gbt-shape: the shape that is taken, and a line "shape TAB rounds TAB loss" for each that ran.

# The same call goes on with the shape that it has had, whatever the time that was left for a race: list(shape, table),
# as of shape_of_race(), the table NULL where no race could decide. NULL: none is there.
kept_race <- function(folder, shapes) {
  if (is.null(folder)) return(NULL)
  file <- file.path(full_path(folder), "gbt-shape")
  goes_on <- is_first_rank() && file.exists(file) && has_checkpoint(folder)
  kept <- of_first_rank(list(numbers = if (goes_on) numbers_of_race(file, shapes) else 0))$numbers
  if (kept[1L] < 0) {
    stop_argument(sprintf("\"%s\" does not hold a shape of trees; remove it to start again, or give another folder",
                          file), "checkpoint")
  }
  if (kept[1L] == 0) return(NULL)
  ran <- matrix(kept[-1L], 3L)
  words <- vapply(shapes, shape_words, "")
  table <- data.frame(shape = words[ran[1L, ]], rounds = ran[2L, ], loss = ran[3L, ], chosen = ran[1L, ] == kept[1L],
                      stringsAsFactors = FALSE)
  list(shape = shapes[[kept[1L]]], table = if (nrow(table)) table)
}

# Is anything there to go on from? Else a shape in the folder is one of another training, or of one without a round.
has_checkpoint <- function(folder) {
  any(grepl("^(gbt-checkpoint|rounds|member-[0-9]+)$", list.files(full_path(folder))))
}

# The place of the shape that is taken, and for each that ran its place, rounds and loss. -1 where the file has none of
# these shapes, or cannot be read.
numbers_of_race <- function(file, shapes) {
  lines <- suppressWarnings(try_else(readLines(file, n = length(shapes) + 2L, warn = FALSE), function(problem) ""))
  words <- vapply(shapes, shape_words, "")
  cells <- strsplit(lines[-1L], "\t", fixed = TRUE)
  taken <- match(lines[1L], words)
  if (is.na(taken) || !all(lengths(cells) == 3L)) return(-1)
  cells <- matrix(as.character(unlist(cells)), 3L)
  ran <- match(cells[1L, ], words)
  numbers <- suppressWarnings(as.double(cells[-1L, ]))
  if (anyNA(ran) || anyDuplicated(ran) || !all(is.finite(numbers))) return(-1)
  if (length(ran) && !taken %in% ran) return(-1)
  c(taken, rbind(ran, matrix(numbers, 2L)))
}

# The file is there whole or not at all. All ranks fail where it cannot be written.
keep_race <- function(folder, race) {
  if (is.null(folder) || is.null(race$shape)) return(invisible())
  file <- file.path(full_path(folder), "gbt-shape")
  draft <- paste0(file, ".new")
  write <- function() {
    table <- race$table
    writeLines(c(shape_words(race$shape), if (!is.null(table)) {
      sprintf("%s\t%.0f\t%.17g", table$shape, table$rounds, table$loss)
    }), draft)
    file.rename(draft, file)
  }
  failed <- is_first_rank() && !isTRUE(suppressWarnings(try_else(write(), function(problem) FALSE)))
  if (value_of_first_rank(as.double(failed)) > 0) {
    stop(gbt_error("io", sprintf("cannot write \"%s\", a file of the checkpoint", file), file))
  }
}
