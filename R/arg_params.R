# Checks of training parameters. Name, kind, range and meaning come from the engine's table, so that they are stated
# once; this file adds what only R has. Parameters that decide the model are kept with it; those that cannot
# show in it (threads, device, page_rows, verbose, ...) are not.

# The engine's parameters: data frame of name, kind, default, low, high, open_low, open_high, choices, text.
params_table <- function() {
  if (is.null(package_state$params_table)) {
    package_state$params_table <- as.data.frame(.Call(C_gbt_params_table), stringsAsFactors = FALSE)
  }
  package_state$params_table
}

# Parameters that are checked here because the engine's trainer does not see them.
host_table <- local({
  row <- function(name, kind, default, low, high, text, choices = NA_character_) {
    data.frame(name = name, kind = kind, default = default, low = low, high = high, open_low = FALSE, open_high = FALSE,
               choices = choices, text = text, stringsAsFactors = FALSE)
  }
  rbind(
    row("nrounds", "int", NA, 1, 2147483647, "number of boosting rounds; left out: found by early stopping"),
    row("ensemble", "int", 1, 1, 1000, "number of models with different seeds, whose scores are averaged"),
    row("max_bin", "int", 255, 2, 65535,
        "maximum number of bins of a numeric column; \"exact\": one for each different value"),
    row("early_stopping_rounds", "int", 0, 0, 2147483647, "rounds without improvement before training stops; 0: never"),
    row("early_stopping_min_delta", "real", 0, 0, 1e300, "an improvement must be larger than this"),
    row("max_seconds", "real", 0, 0, 1e9, "time limit: training ends after the round that reaches it; 0: no limit"),
    row("page_rows", "int", 0, 0, 2147483647, "rows in a page of binned data; 0: gbt chooses; no effect on the model"),
    row("checkpoint_seconds", "real", 60, 0, 1e9, "seconds between two checkpoints; 0: one after every round"),
    row("verbose_every", "int", 10, 1, 2147483647, "rounds between two lines of the log")
  )
})

# "larger than 0 and at most 1", from a row of the table. A very large upper end is left out.
range_text <- function(info, whole = FALSE) {
  low <- format_number(info$low)
  high <- format_number(info$high)
  from <- if (info$open_low) paste("larger than", low) else paste("at least", low)
  to <- if (info$open_high) paste("less than", high) else paste("at most", high)
  if (info$high >= 2147483647 && !whole) from else paste(from, "and", to)
}

# Numbers of the engine that are shown and given as TRUE and FALSE; 0 and 1 are taken as well.
is_switch <- function(info) info$kind == "int" & info$low == 0 & info$high == 1

# One number as a row of the table demands. typed: the name the user gave it.
check_number <- function(value, info, typed = info$name) {
  flag <- is_switch(info)
  if (flag && is_flag(value)) return(as.double(value))
  kind <- if (info$kind == "int") "one whole number" else "one number"
  plain <- is.numeric(value) && !is.object(value) # the class of an integer64 compares in ways of its own
  endless <- plain && isTRUE(value == -1) && grepl("0: no limit|0: never", info$text)
  hint <- if (endless) "; for no limit give 0" else ""
  ok <- plain && length(value) == 1L && is.finite(value)
  if (ok) {
    ok <- (if (info$open_low) value > info$low else value >= info$low) &&
      (if (info$open_high) value < info$high else value <= info$high) && (info$kind != "int" || value == floor(value))
  }
  if (!ok && flag) {
    stop_argument(sprintf("%s must be TRUE or FALSE, not %s", param_text(info$name, typed), quote_value(value)),
                  info$name)
  }
  if (!ok) {
    above <- plain && isTRUE(value > info$high)
    stop_argument(sprintf("%s must be %s, %s, not %s%s", param_text(info$name, typed), kind, range_text(info, above),
                          quote_value(value), hint), info$name)
  }
  as.double(value)
}

check_enum <- function(value, info, typed = info$name) {
  choices <- strsplit(info$choices, "|", fixed = TRUE)[[1L]]
  if (is.numeric(value) && length(value) == 1L && !is.na(value)) value <- format_number(value) # grad_bits = 16
  if (!is.character(value) || length(value) != 1L || !value %in% choices) {
    near <- if (is.character(value) && length(value) == 1L) suggest(value, choices) else ""
    stop_argument(sprintf("%s must be one of %s, not %s%s", param_text(info$name, typed), enumerate(choices, 20L, "\""),
                          quote_value(value), near), info$name)
  }
  value
}

# Refuses values named by column for parameters that apply to all columns, such as `max_bin = c(age = 10)`.
# source: see fit.R.
check_not_by_column <- function(args, source) {
  single <- c(params_table()$name, host_table$name, unname(objective_params()), "mtry")
  given <- Filter(function(name) !is.null(names(args$value[[name]])), intersect(names(args$value), single))
  if (length(given) == 0L) return(invisible())
  columns <- c(if (is.null(source$x)) source$data$feature_names else names_of_table(source$x), all.vars(source$parsed))
  for (name in given) refuse_by_column(args$value[[name]], name, columns, args$typed[name])
}

# The name of a value may be that of the parameter, as in `eta = best["eta"]`, or say how it was made ("90%").
refuse_by_column <- function(value, name, columns, typed = name) {
  label <- if (length(names(value))) printable(names(value))
  if (length(value) != 1L || length(label) != 1L || is.na(label) || canonical_name(label) %in% name) return(invisible())
  near <- if (make.names(label) == label) nearest_name(label, columns)
  if (!label %in% columns && length(near) == 0L) return(invisible())
  stop_argument(sprintf("%s is one value for all columns, but has the name `%s`; leave the name out: %s = %s",
                        param_text(name, typed), label, name, quote_value(unname(value))), name)
}

# Which of the named parameters the user gave.
given_of <- function(names, args) which(!vapply(names, function(name) is.null(args$value[[name]]), NA))

# The defaults: list by name.
engine_defaults <- function() {
  if (is.null(package_state$engine_defaults)) {
    table <- params_table()
    package_state$engine_defaults <- stats::setNames(lapply(seq_len(nrow(table)), function(i) {
      default <- as.double(table$default[i])
      if (table$kind[i] == "enum") strsplit(table$choices[i], "|", fixed = TRUE)[[1L]][default + 1] else default
    }), table$name)
  }
  package_state$engine_defaults
}

# The engine's parameters out of the collected arguments, each one checked: list by name in the order of the table,
# numbers as doubles, choices as texts. `seed` may still be NULL.
engine_values <- function(args) {
  table <- params_table()
  out <- engine_defaults()
  for (i in given_of(table$name, args)) {
    info <- table_row(table, i)
    if (info$name == "eta" && is_schedule(args$value$eta)) next # see read_schedule()
    check <- if (info$kind == "enum") check_enum else check_number
    out[[i]] <- check(args$value[[info$name]], info, args$typed[info$name])
  }
  out
}

# The same, and what must hold between parameters, which the engine checks.
engine_params <- function(args) {
  out <- engine_values(args)
  with_typed(.Call(C_gbt_params_check, params_as_numbers(out)), args$typed)
  if (is.null(args$value[["class_shares"]])) warn_all_rows(out) # else `subsample` is given, by class
  out
}

# `expr`, whose errors call parameters by the names that the user typed as well.
with_typed <- function(expr, typed) {
  tryCatch(expr, gbt_error = function(e) {
    for (name in names(typed)[names(typed) != typed]) {
      e$message <- sub(sprintf("`%s`", name), param_text(name, typed[[name]]), e$message, fixed = TRUE)
    }
    stop(e)
  })
}

# In the trainer's form: a named double vector, choices by position. Of `eta` by round the first.
params_as_numbers <- function(params) {
  table <- params_table()
  vapply(table$name, function(name) {
    value <- params[[name]]
    if (is.character(value)) {
      value <- match(value, strsplit(table$choices[table$name == name], "|", fixed = TRUE)[[1L]]) - 1
    }
    as.double(value[1L])
  }, 0)
}

# `max_bin = "exact"`: a bin for each different value. The engine has this number for it, which nobody can give.
exact_bins <- 65536

read_max_bin <- function(value, info, typed) {
  if (!is.character(value) || length(value) != 1L || is.na(value)) return(check_number(value, info, typed))
  if (lower_case(value) == "exact") return(exact_bins)
  stop_argument(sprintf("%s must be one whole number, %s, or \"exact\", a bin for each different value, not %s",
                        param_text("max_bin", typed), range_text(info), quote_value(value)), "max_bin")
}

# As users see it.
shown_max_bin <- function(max_bin) if (max_bin == exact_bins) "exact" else as.double(max_bin)

# The rest: what R itself needs, checked. list by name.
host_params <- function(args) {
  table <- host_table
  out <- stats::setNames(as.list(table$default), table$name)
  for (i in given_of(table$name, args)) {
    info <- table_row(table, i)
    read <- if (info$name == "max_bin") read_max_bin else check_number
    out[[i]] <- read(args$value[[info$name]], info, args$typed[info$name])
  }
  verbose <- args$value[["verbose"]]
  if (is.null(verbose)) verbose <- 0
  if (is_flag(verbose)) verbose <- as.integer(verbose)
  levels <- is.numeric(verbose) && !is.object(verbose) && length(verbose) == 1L && verbose %in% -1:3 # others' degrees
  if (!levels) {
    every <- if (is.numeric(verbose) && isTRUE(verbose > 3)) "; rounds between two lines are `verbose_every`" else ""
    stop_argument(sprintf("`verbose` must be 0 (silent) or 1 (log lines), not %s%s", quote_value(verbose), every),
                  "verbose")
  }
  out$verbose <- verbose > 0 && is_first_rank()
  out$tells <- is_first_rank() && (out$verbose || is.null(args$value[["verbose"]])) # one line of what was found
  out$rounds <- "given" # see R/fit_rounds_auto.R
  out["checkpoint"] <- list(check_checkpoint(args$value[["checkpoint"]]))
  out$late <- out$tells && !out$verbose && is.null(args$value[["progress"]]) # see with_late_line()
  out$progress <- check_flag(given_or(args$value[["progress"]], FALSE), "progress") && is_first_rank()
  out$device <- check_devices(args$value[["devices"]], check_device(args$value[["device"]]))
  out
}

# `mtry` counts features; the engine takes a share. The share must come back as the same count.
share_of_features <- function(mtry, n_features, typed = "mtry") {
  info <- list(name = "mtry", kind = "int", low = 1, high = n_features, open_low = FALSE, open_high = FALSE, text = "")
  check_number(mtry, info, typed) / n_features
}

# The seed: what was given; drawn from R's generator when something is random; else 0, and the generator is not touched.
resolve_seed <- function(args, params, holds_out) {
  if (!is.null(args$value[["seed"]])) return(params$seed)
  shares <- c("subsample", "colsample_bytree", "colsample_bylevel", "colsample_bynode")
  random <- holds_out || any(unlist(params[shares]) < 1) || params$sampling_method != "uniform" ||
    params$random_strength > 0 || params$extra_trees > 0 ||
    !is.null(args$value[["class_shares"]])
  if (!random) return(0)
  folder <- check_checkpoint(args$value[["checkpoint"]])
  make_checkpoint_folder(folder)
  value_of_first_rank(if (is_first_rank()) kept_seed(folder) else 0)
}

# A seed from R's generator. With checkpoints it is kept in their folder, and the same call takes it from there.
kept_seed <- function(folder) {
  file <- if (!is.null(folder)) file.path(full_path(folder), "gbt-seed")
  if (!is.null(file) && file.exists(file)) {
    seed <- suppressWarnings(as.double(readLines(file, n = 1L, warn = FALSE)))
    if (length(seed) == 1L && !is.na(seed) && seed == floor(seed) && seed >= 1 && seed <= .Machine$integer.max) {
      return(seed)
    }
    stop_argument(sprintf("\"%s\" does not hold a seed; remove it to start again, or give another folder", file),
                  "checkpoint")
  }
  seed <- as.double(sample.int(.Machine$integer.max, 1L))
  if (!is.null(file)) writeLines(format(seed, scientific = FALSE), file)
  seed
}

# The argument: a folder, which is made where there is none; NULL: no checkpoints.
check_checkpoint <- function(folder) {
  if (is.null(folder)) return(NULL)
  if (!is_text(folder) || !nzchar(folder)) {
    stop_argument(sprintf("`checkpoint` must be the name of a folder, not %s", quote_value(folder)), "checkpoint")
  }
  folder
}

# The folder, which is made where there is none. NULL: no checkpoints.
make_checkpoint_folder <- function(folder) {
  if (is.null(folder) || !is_first_rank()) return(invisible())
  if (file.exists(full_path(folder)) && !dir.exists(full_path(folder))) {
    stop_argument(sprintf("`checkpoint` must be a folder, and \"%s\" is a file; give another name", folder),
                  "checkpoint")
  }
  make <- function(path) dir.exists(path) || dir.create(path, recursive = TRUE)
  if (!suppressWarnings(make(full_path(folder)))) {
    stop(gbt_error("io", sprintf("cannot make the folder \"%s\" for checkpoints", folder), folder))
  }
}

# ---- parameters of several numbers: `label_gain`, `breaks` ----

# That of the initial model, where it has this objective; else NULL.
param_to_go_on <- function(args, name, objective) {
  init <- args$value[["init_model"]]
  if (identical(init$objective, objective)) init$params[[name]]
}

# One text such as "0,1,3,7" as numbers; all else as it is.
split_numbers <- function(x) {
  if (is.character(x) && length(x) == 1L) suppressWarnings(as.numeric(strsplit(x, ",")[[1L]])) else x
}
