# Arguments for single features: monotone constraints, interaction groups, sampling weights.

# Places of a vector's values: by its names, or all features in order when it has none. Returns one value per feature.
per_feature <- function(x, default, features, parameter) {
  if (is.list(x)) x <- unlist(x)
  if (!is.numeric(x) || anyNA(x)) {
    stop_argument(sprintf("`%s` must be numbers, named by features, not %s", parameter, describe(x)), parameter)
  }
  labels <- value_names(x, parameter)
  if (is.null(labels)) {
    if (length(x) != length(features)) {
      stop_argument(sprintf("`%s` has %s for %s; name the values by the features they are for", parameter,
                            counted(length(x), "value"), counted(length(features), "feature")), parameter)
    }
    return(as.double(x))
  }
  at <- feature_places(labels, features, parameter)
  if (anyDuplicated(at)) {
    stop_argument(sprintf("`%s` names feature `%s` twice", parameter, features[at[duplicated(at)][1L]]), parameter)
  }
  out <- rep(default, length(features))
  out[at] <- as.double(x)
  out
}

# Names or 1-based places of features -> places.
feature_places <- function(x, features, parameter) {
  if (is.factor(x) && is.integer(unclass(x))) x <- as.character(levels(x))[ifelse(unclass(x) < 1L, NA, unclass(x))]
  if (is.character(x)) {
    x <- printable(x)
    at <- match(enc2utf8(x), features)
    if (anyNA(at)) {
      wrong <- x[is.na(at)][1L]
      refuse_derived(wrong, features, parameter)
      stop_argument(sprintf("`%s` names `%s`, which is not a feature%s", parameter, wrong, suggest(wrong, features)),
                    parameter)
    }
    return(at)
  }
  ok <- is.numeric(x) && !anyNA(x) && all(x == floor(x) & x >= 1 & x <= length(features))
  if (!ok) {
    stop_argument(sprintf("`%s` must hold names of features or their positions, 1 to %d", parameter, length(features)),
                  parameter)
  }
  as.integer(x)
}

# Constraints of columns also hold for features derived from them, which models show as features: "count(f)", "mean(f x
# g)", "share(f, yes)", "rows(f)".
refuse_derived <- function(name, features, parameter) {
  kind <- regmatches(name, regexpr("^(count|mean|share|rows)(?=\\(.+\\)$)", name, perl = TRUE))
  if (length(kind) == 0L) return(invisible())
  inside <- substr(name, nchar(kind) + 2L, nchar(name) - 1L)
  if (kind == "share") inside <- c(inside, sub(", [^,]*$", "", inside)) # the class
  columns <- intersect(inside, features)
  if (length(columns) == 0L) columns <- unlist(strsplit(inside[length(inside)], " x ", fixed = TRUE))
  if (!all(columns %in% features)) return(invisible())
  what <- if (kind == "count") "count" else "statistics"
  stop_argument(if (parameter == "monotone") {
    sprintf("`monotone` names `%s`, but a %s cannot have a monotone constraint", name,
            if (kind == "count") "count of levels" else "statistic of a categorical column")
  } else {
    sprintf("`%s` names `%s`; name %s instead, which applies to its %s as well", parameter, name, enumerate(columns),
            what)
  }, parameter)
}

# -1, 0, 1 per feature; NULL when nothing is constrained.
resolve_monotone <- function(monotone, features) {
  if (is.null(monotone)) return(NULL)
  if (is.character(monotone)) {
    stop_argument("`monotone` must be numbers named by features, such as c(age = 1, price = -1)", "monotone")
  }
  sign <- per_feature(monotone, 0, features, "monotone")
  if (!all(sign %in% c(-1, 0, 1))) {
    stop_argument(sprintf("`monotone` must be 1 (rising), -1 (falling) or 0 (free), not %s",
                          format(sign[!sign %in% c(-1, 0, 1)][1L])), "monotone")
  }
  if (any(sign != 0)) as.integer(sign)
}

# List of groups of 0-based features; NULL when there are none.
resolve_interactions <- function(interactions, features) {
  if (is.null(interactions)) return(NULL)
  if (!is.list(interactions)) {
    stop_argument("`interactions` must be a list of groups of features: list(c(\"a\", \"b\"), c(\"c\", \"d\"))",
                  "interactions")
  }
  groups <- lapply(unname(interactions), function(group) {
    sort(unique(feature_places(group, features, "interactions"))) - 1L
  })
  if (any(lengths(groups) == 0L)) stop_argument("`interactions` has an empty group", "interactions")
  if (length(groups)) groups
}

# The penalty of a feature until the model uses it: one number for all, or by feature; NULL when nothing costs.
resolve_first_use_penalty <- function(penalty, features) {
  if (is.null(penalty)) return(NULL)
  if (is.numeric(penalty) && length(penalty) == 1L && is.null(names(penalty))) {
    penalty <- rep(suppressWarnings(as.double(penalty)), length(features)) # integer64 warns of digits
  }
  penalty <- per_feature(penalty, 0, features, "first_use_penalty")
  wrong <- which(!(penalty >= 0 & penalty <= 1e200))
  if (length(wrong)) {
    stop_argument(sprintf("`first_use_penalty` must be from 0 to 1e200, not %s for `%s`", format(penalty[wrong[1L]]),
                          features[wrong[1L]]), "first_use_penalty")
  }
  if (any(penalty > 0)) penalty
}

# Only their ratios matter. Beyond the bounds, draws that are ordered by -log(u) / weight would over- or underflow.
resolve_feature_weights <- function(weights, features) {
  if (is.null(weights)) return(NULL)
  weights <- per_feature(weights, 1, features, "feature_weights")
  wrong <- which(!(weights == 0 | weights >= 1e-200 & weights <= 1e200))
  if (length(wrong)) {
    stop_argument(sprintf(paste("`feature_weights` must be 0 or from 1e-200 to 1e200 (only their ratios matter), not",
                                "%s for `%s`"), format(weights[wrong[1L]]), features[wrong[1L]]), "feature_weights")
  }
  if (all(weights == 0)) stop_argument("`feature_weights` are all 0; one must be larger", "feature_weights")
  weights
}
