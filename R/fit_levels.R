# Answers of a model of several levels.

# Which columns of a model's response predict(type = "quantile" or "interval") gives. probs, level: NULL where they were
# not given.
columns_of_levels <- function(model, type, probs, level) {
  levels <- levels_of(model)
  if (is.null(levels)) {
    instead <- if (type == "interval") "; gbt_conformal() makes intervals of any model" else ", or one of times"
    stop_unsupported(sprintf(paste("type = \"%s\" needs a model of several quantiles (objective \"quantile\" with",
                                   "`quantile_alpha = c(0.1, 0.5, 0.9)`)%s"), type, instead), "type")
  }
  has <- enumerate(format_number(levels), most_levels_of_one, "")
  place <- function(p) match(round(p, 12L), round(levels, 12L))
  if (type == "interval") {
    if (!is.null(probs)) stop_argument("`probs` can only be used with type \"quantile\"; leave it out", "probs")
    if (is.null(level)) return(c(1L, length(levels)))
    ends <- (1 + c(-1, 1) * check_share(level)) / 2
    at <- place(ends)
    if (!anyNA(at)) return(at)
    stop_argument(sprintf("level %s needs the quantiles %s and %s, and the model has %s", format_number(level),
                          format_number(ends[1L]), format_number(ends[2L]), has), "level")
  }
  if (is.null(probs)) return(seq_along(levels))
  at <- place(check_probs(probs))
  if (anyNA(at)) {
    stop_argument(sprintf("the model has no quantile of level %s, only %s", format_number(probs[is.na(at)][1L]), has),
                  "probs")
  }
  at
}

# pred: the model's response.
pred_of_levels <- function(pred, columns, type) {
  if (type == "quantile") return(if (length(columns) == 1L) pred[, columns] else pred[, columns, drop = FALSE])
  out <- list_frame(list(lower = unname(pred[, columns[1L]]), upper = unname(pred[, columns[2L]])), nrow(pred))
  if (!is.null(rownames(pred))) row.names(out) <- make.unique(rownames(pred))
  out
}
