# Positions of rows in the lists that users were shown, for ranking objectives: `position`, a value for each row.

# Parameters of objectives that only play a part with positions.
position_params <- c("position_bias", "position_reg", "bias_norm")

# As a factor, whose levels are the positions in their order: those of a factor, numbers and texts ascending.
check_position <- function(position, n_rows) {
  if (is.null(position)) return(NULL)
  position <- meant_values(position, "`position`", "position", character(0))
  wrong <- !is.atomic(position) || is.complex(position) || is.raw(position) || length(dim(position)) > 1L ||
    (is.object(position) && !is.factor(position) && !inherits(position, "integer64"))
  if (wrong) {
    stop_data(sprintf("`position` must be whole numbers, a factor or texts, not %s", describe(position)), "position")
  }
  check_row_values(position, n_rows, "position",
                   if (is.character(position) && length(position) == 1L) not_a_name)
  if (inherits(position, "integer64")) position <- as_numbers(position, "position")
  if (is.numeric(position)) {
    wrong <- which(position != trunc(position) | is.infinite(position))
    if (length(wrong)) {
      stop_data(sprintf("`position` must be whole numbers, a factor or texts; row %d has %s", wrong[1L],
                        format(position[wrong[1L]])), "position")
    }
  }
  kind <- kind_of_positions(position)
  text <- position_texts(if (is.factor(position)) levels(position) else different(position))
  all <- all_ranks_have(text)
  if (kind == "numbers") all <- all[order(as.double(all))]
  if (kind == "texts") all <- distinct_texts(all)
  codes <- if (is.factor(position)) match(text, all)[as.integer(position)] else place_among_texts(position, all)
  structure(codes, levels = all, class = "factor")
}

# Positions of n rows from plain vectors that anyone may have written; bad: called where they are none.
position_of_values <- function(code, level, n, bad) {
  if (is.null(code) && is.null(level)) return(NULL)
  good <- is.integer(code) && is_plain(code) && is.null(names(code)) && length(code) == n && is_texts(level) &&
    !anyDuplicated(level) && all(code %in% seq_along(level))
  if (!good) bad()
  structure(code, levels = level, class = "factor")
}

# "numbers", "texts" or "a factor": that of the ranks that have rows.
kind_of_positions <- function(position) {
  kind <- if (is.factor(position)) "a factor" else if (is.numeric(position)) "numbers" else "texts"
  all <- all_ranks_have(if (length(position)) kind else character(0))
  if (length(all) < 2L) return(c(all, kind)[1L])
  stop_data(sprintf("`position` is %s on some ranks and %s on others; give the same on all ranks", all[1L], all[2L]),
            "position")
}

position_texts <- function(v) if (is.numeric(v)) format_number(v) else as_utf8(as.character(v), "a text of `position`")

place_among_texts <- function(v, all) {
  values <- different(v)
  match(position_texts(values), all)[place_among(v, values)]
}

# Positions are for ranking objectives, and their parameters for positions. args: values by name.
check_position_use <- function(position, objective, param, named) {
  given <- any_rank(!is.null(position))
  if (given && !is_of_queries(objective)) {
    stop_argument(sprintf("`position` is for ranking objectives, and the objective is \"%s\"; leave `position` out",
                          objective), "position")
  }
  if (given) return(invisible())
  info <- objective_info(objective)$params
  for (name in intersect(position_params, named)) {
    if (identical(param[[name]], info$default[info$name == name])) next
    stop_argument(sprintf(paste("`%s` needs `position`, the position that every row was shown at:",
                                "gbt_train(y ~ ., data, group = , position = )"), name), name)
  }
}

# The positions of the rows that are trained on, as the engine has them: list(codes = numbers from 0, names = texts).
# Those of a model to go on from come first, with its biases.
positions_of_training <- function(position, init) {
  if (!any_rank(!is.null(position))) return(NULL)
  used <- all_ranks_have(different(as.character(position)))
  had <- init$positions$position
  names <- c(had, levels(position)[levels(position) %in% setdiff(used, had)])
  if (length(names) > 10000L) {
    stop_data(sprintf("`position` has %s different values; up to 10,000 can be used", with_commas(length(names))),
              "position")
  }
  list(codes = as.double(match(as.character(position), names)) - 1, names = names)
}

# Biases to begin with, in the engine's order; NULL: none. The last of the positions is one that rows have.
first_biases <- function(names, init, ratio) {
  had <- as.list(init$positions)
  if (length(had) == 0L || is.null(names)) return(NULL)
  values <- setdiff(names(had), "position")
  if (ratio != ("plus" %in% values)) return(NULL) # of the other kind
  new <- length(names) - length(had$position)
  unlist(lapply(had[values], c, rep(if (ratio) 1 else 0, new)), use.names = FALSE)
}

# The biases that a model keeps: a data frame of position and bias, or of position, plus and minus for ratios.
positions_of_model <- function(trainer, fit) {
  names <- fit$data$positions
  if (is.null(names)) return(NULL)
  bias <- .Call(C_gbt_trainer_biases, trainer)
  n <- length(names)
  if (length(bias) == 2L * n) {
    return(list(position = names, plus = bias[seq_len(n)], minus = bias[n + seq_len(n)]))
  }
  list(position = names, bias = bias)
}

# Of models that were trained on the same rows.
mean_of_positions <- function(all) {
  out <- all[[1L]]
  for (name in setdiff(names(out), "position")) out[[name]] <- rowMeans(vapply(all, `[[`, out[[name]], name))
  out
}

is_positions <- function(x) {
  if (is.null(x)) return(TRUE)
  values <- setdiff(names(x), "position")
  numbers <- function(v) is.double(v) && !is.object(v) && all(is.finite(v)) && length(v) == length(x$position)
  is.data.frame(x) && are_names(x$position) && length(x$position) > 0L &&
    (identical(values, "bias") || identical(values, c("plus", "minus"))) && all(vapply(x[values], numbers, NA)) &&
    (identical(values, "bias") || all(unlist(x[values]) >= 2^-10 & unlist(x[values]) <= 2^10))
}

# "1 0.52, 2 0.21, ..": for print().
positions_text <- function(x, digits) {
  digits <- min(digits, 3L)
  value <- if (is.null(x$bias)) x$plus else x$bias
  shown <- paste(x$position, vapply(value, format, "", digits = digits))
  paste0(if (is.null(x$bias)) "ratios " else "biases ", enumerate(shown, 10L, ""))
}
