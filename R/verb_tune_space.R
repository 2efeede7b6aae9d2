# The search of gbt_tune(): the space of parameters, and the configurations drawn from it.
#
# space: a list by name of parameters, each a list: name, values (a vector of those to choose from), or low, high, whole
#        (whole numbers only), log (drawn on a logarithmic scale)
# A draw depends only on the seed, the parameter and the number of the configuration.

# Parameters of which configurations may differ: what decides how trees are grown from data that are binned already.
tunable_parameters <- function() {
  c(setdiff(params_table()$name, c("seed", "grad_bits", "hist_memory", "device_memory")), "cat_method", "eta_scale")
}

# Ranges of these that begin above 0 are drawn on a logarithmic scale: what matters there are ratios.
log_parameters <- c("eta", "eta_scale", "max_leaves", "lambda", "alpha", "gamma", "min_child_weight",
                    "min_data_in_leaf", "max_delta_step", "leaf_iterations", "path_smooth", "cat_smooth", "cat_l2",
                    "cat_prior", "min_data_per_group", "mvs_reg")

# Where the user gives none.
usual_space <- list(
  eta = c(0.02, 0.3), grow_policy = c("depthwise", "lossguide", "symmetric"), max_depth = c(3, 10),
  max_leaves = c(8, 256), lambda = c(0.1, 30), min_child_weight = c(0.1, 30), subsample = c(0.5, 1),
  colsample_bytree = c(0.4, 1)
)

# The usual space without what the user has fixed. fixed: values by name.
space_without <- function(fixed) {
  out <- usual_space[!names(usual_space) %in% names(fixed)]
  no_subsample <- !is.null(fixed[["class_shares"]]) || given_or(fixed[["sampling_method"]], "uniform") != "uniform"
  if (no_subsample) out$subsample <- NULL
  if (!is.null(fixed[["mtry"]])) out$colsample_bytree <- NULL
  if (identical(fixed[["multi_strategy"]], "multi_output_tree")) out$grow_policy <- out$max_leaves <- NULL
  if (given_or(fixed[["grow_policy"]], "lossguide") != "lossguide") out$max_leaves <- NULL
  out
}

# space: as the user gave it, or NULL; log_scale: names of parameters, or NULL; fixed: values by name.
read_space <- function(space, log_scale, fixed) {
  usual <- is.null(space)
  if (usual) space <- space_without(fixed)
  good <- is.list(space) && !is.object(space) && length(space) > 0L && !is.null(names(space)) &&
    !anyNA(names(space)) && all(nzchar(names(space)))
  if (is.data.frame(space)) {
    stop_argument(paste("`space` must be a list, not a data frame; for all combinations give the values of each",
                        "parameter: list(eta = c(0.05, 0.1, 0.2), max_depth = list(4, 6, 8))"), "space")
  }
  if (!good) {
    stop_argument(paste("`space` must be a list of parameters by name, each with a range or values:",
                        "list(eta = c(0.02, 0.3), max_depth = list(4, 6, 8))"), "space")
  }
  names <- vapply(names(space), tuned_name, "", USE.NAMES = FALSE)
  twice <- c(names[duplicated(names)], intersect(names, names(fixed)))
  if (length(twice)) {
    where <- if (anyDuplicated(names)) "twice in `space`" else "in `space` and as an argument; leave one out"
    stop_argument(sprintf("`%s` is given %s", twice[1L], where), twice[1L])
  }
  check_parts_of_space(names, names(space), fixed)
  scale <- if (!is.null(log_scale)) read_log_scale(log_scale, names)
  out <- lapply(seq_along(space), function(i) read_range(names[i], names(space)[i], space[[i]], scale))
  structure(stats::setNames(out, names), usual = usual)
}

# Our name of a parameter that may be tuned.
tuned_name <- function(typed) {
  name <- canonical_name(printable(typed))
  if (is.na(name)) {
    refuse_name(typed)
    stop_argument(sprintf("unknown parameter `%s` in `space`", typed), typed)
  }
  if (name %in% tunable_parameters()) return(name)
  why <- if (name == "nrounds") {
    "cross-validation chooses the number of rounds; give the largest one as the argument `nrounds`"
  } else if (name %in% binning_arguments) {
    "the data are binned once, for all configurations"
  } else {
    "only parameters of how trees are grown can be; give it as an argument"
  }
  stop_argument(sprintf("%s cannot be tuned: %s", param_text(name, typed), why), name)
}

read_log_scale <- function(log_scale, names) {
  if (!is_texts(log_scale)) {
    stop_argument("`log_scale` must hold names of parameters, or be character(0) for none", "log_scale")
  }
  ours <- canonical_name(log_scale)
  wrong <- log_scale[is.na(ours) | !ours %in% names]
  if (length(wrong)) {
    stop_argument(sprintf("`log_scale` names `%s`, which is not in the space", wrong[1L]), "log_scale")
  }
  ours
}

# One parameter of the space. value: two numbers for a range, or the values.
read_range <- function(name, typed, value, scale) {
  table <- if (name == "eta_scale") objective_info("dist_normal")$params else params_table()
  at <- match(name, table$name)
  info <- if (!is.na(at)) table_row(table, at)
  if (name == "eta_scale") info$kind <- "real"
  if (!(is.atomic(value) || is.list(value)) || is.object(value) || length(value) == 0L || !is.null(dim(value))) {
    stop_argument(sprintf("%s in `space` must be a range, c(low, high), or a list of values, not %s",
                          param_text(name, typed), describe(value)), name)
  }
  number <- !is.null(info) && info$kind != "enum"
  if (!(number && is.numeric(value) && length(value) == 2L)) {
    if (name %in% scale) {
      stop_argument(sprintf("`log_scale` needs a range, c(low, high), but `%s` has values", name), "log_scale")
    }
    values <- lapply(value, check_tuned_value, info, typed)
    return(list(name = name, values = unique(unlist(values))))
  }
  ends <- vapply(value, check_number, 0, info = info, typed = typed)
  if (ends[1L] >= ends[2L]) {
    stop_argument(sprintf("%s in `space` is a range, c(low, high), so the first must be less than the second, not %s",
                          param_text(name, typed), quote_value(value)), name)
  }
  log <- if (is.null(scale)) name %in% log_parameters && ends[1L] > 0 else name %in% scale
  if (log && ends[1L] <= 0) {
    stop_argument(sprintf("`log_scale` needs ranges above 0, but the range of `%s` begins at %s", name,
                          format_number(ends[1L])), "log_scale")
  }
  list(name = name, low = ends[1L], high = ends[2L], whole = info$kind == "int", log = log)
}

# info: NULL for `cat_method`.
check_tuned_value <- function(value, info, typed) {
  if (is.null(info)) {
    if (!is_text(value)) {
      stop_argument(sprintf("values of `cat_method` in `space` must be one text each, not %s", quote_value(value)),
                    "cat_method")
    }
    read_cat_method(value)
    return(value)
  }
  (if (info$kind == "enum") check_enum else check_number)(value, info, typed)
}

# How many configurations there are, those counted twice that the usual space has of other growth than best-first.
space_size <- function(space) {
  prod(vapply(space, function(part) {
    if (!is.null(part$values)) length(part$values) else if (part$whole) part$high - part$low + 1 else Inf
  }, 0))
}

# The first n configurations, all different: a data frame with a column for each parameter. All there are, in a drawn
# order, where the space has no more than n. Drawn numbers have four digits, so a narrow range may have fewer than n:
# then those that ten draws for each found.
draw_configs <- function(space, n, seed) {
  if (space_size(space) <= n) {
    all <- expand.grid(lapply(space, function(part) {
      if (!is.null(part$values)) part$values else seq(part$low, part$high)
    }), KEEP.OUT.ATTRS = FALSE, stringsAsFactors = FALSE)
    all <- without_idle(space, all)
    all <- all[!duplicated(all), , drop = FALSE]
    order <- order(.Call(C_gbt_row_draws, nrow(all), seed_of_part(seed, 0), 0))
    return(list_frame(lapply(all, `[`, order), nrow(all)))
  }
  tried <- n
  repeat {
    drawn <- without_idle(space, lapply(space, draw_part, tried, seed))
    fresh <- which(!duplicated(list_frame(drawn, tried)))
    if (length(fresh) >= n || tried >= 10 * n) break
    tried <- min(2 * tried, 10 * n)
  }
  n <- min(n, length(fresh))
  list_frame(lapply(drawn, `[`, fresh[seq_len(n)]), n)
}

# In the default space max_leaves limits lossguide trees only, and max_depth all others. Parameters that another one
# leaves without a part are NA.
without_idle <- function(space, drawn) {
  if (isTRUE(attr(space, "usual")) && length(drawn$grow_policy) && length(drawn$max_leaves)) {
    drawn$max_leaves[drawn$grow_policy != "lossguide"] <- 0
  }
  for (name in intersect(names(drawn), names(tuned_with))) {
    need <- tuned_with[[name]]
    if (need$of %in% names(drawn)) drawn[[name]][!drawn[[need$of]] %in% need$values] <- NA
  }
  drawn
}

# Parameters that play a part, or may be given, with some values of another one only.
tuned_with <- local({
  with <- function(of, ...) list(of = of, values = c(...))
  list(top_rate = with("sampling_method", "goss"), other_rate = with("sampling_method", "goss"),
       mvs_reg = with("sampling_method", "mvs"), bagging_temperature = with("sampling_method", "bayesian"),
       subsample = with("sampling_method", "uniform", "mvs"), linear_lambda = with("leaf_model", "linear"),
       sketch = with("multi_strategy", "multi_output_tree"),
       colsample_bynode = with("grow_policy", "depthwise", "lossguide"))
})

# A parameter of the space that the fixed arguments leave without a part in all configurations.
check_parts_of_space <- function(names, typed, fixed) {
  for (i in which(names %in% names(tuned_with))) {
    need <- tuned_with[[names[i]]]
    now <- given_or(fixed[[need$of]], engine_defaults()[[need$of]])
    if (need$of %in% c(names, if (is.null(fixed[[need$of]])) "grow_policy") || now %in% need$values) next
    wanted <- paste0("\"", need$values, "\"", collapse = " or ")
    stop_argument(sprintf("%s in `space` needs `%s = %s`; it is \"%s\"", param_text(names[i], typed[i]), need$of,
                          wanted, now), names[i])
  }
}

seed_of_part <- function(seed, k) (seed + (k + 1) * 1000033) %% 9007199254740881

draw_part <- function(part, n, seed) {
  seed <- seed_of_part(seed, match(part$name, tunable_parameters()))
  u <- (.Call(C_gbt_row_draws, as.integer(n), seed, 0) + 0.5) / 2^31
  if (!is.null(part$values)) return(part$values[pmin(floor(u * length(part$values)) + 1, length(part$values))])
  low <- part$low
  high <- part$high + part$whole # a whole number stands for what lies between it and the next
  v <- if (part$log) exp(log(low) + u * (log(high) - log(low))) else low + u * (high - low)
  pmin(pmax(if (part$whole) floor(v) else signif(v, 4L), low), part$high)
}
