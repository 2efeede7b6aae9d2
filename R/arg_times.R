# Parameters of objective "aft": the distribution of times, by its names.

aft_names <- list(normal = c("normal", "lognormal", "gaussian"), logistic = c("logistic", "loglogistic"),
                  extreme = c("extreme", "weibull"), exponential = "exponential")

# `aft_dist` as the engine has it, a number; numbers stay. exponential is extreme with scale 1.
aft_dist_code <- function(value, typed = "aft_dist") {
  if (is.numeric(value)) return(value)
  known <- unlist(aft_names)
  if (!is.character(value) || length(value) != 1L || !lower_case(value) %in% known) {
    stop_argument(sprintf("%s must be one of %s, not %s", param_text("aft_dist", typed),
                          enumerate(known, quote = "\""), quote_value(value)), "aft_dist")
  }
  at <- which(vapply(aft_names, function(names) lower_case(value) %in% names, NA))
  c(0, 1, 2, 2)[at]
}

is_exponential <- function(value) is.character(value) && length(value) == 1L && lower_case(value) %in% "exponential"

# The arguments of an objective with a scale, as numbers. args: as of collect_args().
aft_args <- function(args) {
  dist <- args$value[["aft_dist"]]
  if (is.null(dist)) return(args)
  if (is_exponential(dist)) {
    scale <- args$value[["aft_scale"]]
    if (!is.null(scale) && !identical(as.double(scale), 1)) {
      stop_argument("`aft_dist = \"exponential\"` has scale 1; leave `aft_scale` out, or give \"weibull\"", "aft_scale")
    }
    args$value[["aft_scale"]] <- 1
    args$typed[["aft_scale"]] <- args$typed[["aft_dist"]]
  }
  args$value[["aft_dist"]] <- aft_dist_code(dist, args$typed[["aft_dist"]])
  args
}

# Its name by its number.
aft_dist_name <- function(code) names(aft_names)[code + 1L]

# `ties` of objectives of hazards as the engine has it, by its place.
ties_names <- c("efron", "breslow")

cox_args <- function(args) number_by_name(args, "ties", ties_names)

# `position_bias` of objectives by pairs, likewise.
position_names <- c("additive", "ratio")
position_args <- function(args) number_by_name(args, "position_bias", position_names)

# A parameter given by one of two names as its place, 0 or 1.
number_by_name <- function(args, parameter, names) {
  given <- args$value[[parameter]]
  if (is.null(given) || is.numeric(given) && length(given) == 1L && given %in% 0:1) return(args)
  args$value[[parameter]] <- match(match_choice(given, names, parameter), names) - 1
  args
}

# Parameters that the engine has as numbers and users as names: their names by place.
named_numbers <- list(ties = ties_names, aft_dist = names(aft_names)[1:3], position_bias = position_names)

# The name of a number, or the number where there is none. value: what a parameter is.
named_number <- function(name, value) {
  names <- named_numbers[[name]]
  at <- if (!is.null(names) && length(value) == 1L) match(value, seq_along(names) - 1L, 0L) else 0L
  if (at > 0L) names[at] else value
}
