# Drift of new rows against those that a model was trained on: gbt_monitor().
#
# A reference is a plain list, so that a model's file keeps it as field `monitor`:
#   rows, rounds        rows that were counted, and rounds of the scores
#   columns, scores     lists by name of what is known of each: list(kind = "number" or "level", at = borders of bins
#                       or texts of levels, others = texts of rarer levels, range = the least and the largest number,
#                       label = names of the bins, count = rows in them; the last one is of missing values)

#' Drift of columns and scores
#'
#' Compares new rows with those that a model was trained on. The population stability index (PSI) compares the
#' distributions of each column and of the model's scores. Shares of missing and of new values are compared as well.
#'
#' A model does not contain its training data. `gbt_monitor_reference()` stores a summary of them in the model, a few
#' numbers for each column, as field `monitor`, which [gbt_save()] and [saveRDS()] keep. Or give the data as
#' `reference`.
#'
#' @section What is computed:
#' Numbers and times are divided into `bins` with equal numbers of reference rows. Each of the `levels` most frequent
#' levels (also of `cat_features`) has a bin of its own, and there is one bin each for the other levels, for missing
#' values, and for levels that the reference does not have. Numbers beyond those of the reference are in the first or
#' the last bin; column `unseen` has their share. A number with more rows than a bin should have gets its own bin. With
#' the shares e of the reference and a of the new rows, PSI is the sum of (a - e) log(a / e) over bins, the symmetric
#' divergence of Jeffreys (1946) as used in credit scoring (Siddiqi, 2006). An empty bin counts as half a row.
#'
#' Column `drift` uses the common limits: below 0.1 `"none"`, from 0.25 `"large"`, between `"some"`. With few rows, PSI
#' is large just by chance. Without drift it is about (1 / n + 1 / m) times a chi-squared value with k - 1 degrees of
#' freedom, for k bins, n and m rows (Yurdakul and Naranjo, 2020). Column `noise` is its 95 % quantile; a smaller PSI
#' counts as `"none"`.
#'
#' Drift of a column that the model hardly uses matters little (`gain` has its share); drift of the scores is the effect
#' on the model. Drift does not mean that predictions became worse: to measure that, use observed responses, see
#' [gbt_evaluate()].
#'
#' @param model A model from [gbt_train()].
#' @param newdata New rows, as [predict()][predict.gbt] takes them.
#' @param reference The data that the model was trained on (or others to compare with), or `NULL` where
#'   `gbt_monitor_reference()` has counted them.
#' @param data The training data.
#' @param bins Maximum number of bins of a numeric column.
#' @param levels Maximum number of levels with a bin of their own.
#' @param offset,newoffset For models with an offset: that of the reference and that of `newdata`. Columns of a data
#'   frame may be named.
#' @param exposure,newexposure With a log link: that of the reference and that of `newdata`, as in
#'   [predict()][predict.gbt]. By default the column that the model was trained with, if the rows have it. Columns of a
#'   data frame may be named, with quotation marks or without.
#' @param threads Number of threads, see [gbt_threads()].
#' @param ... Must be empty: a misspelt argument is an error.
#' @return `gbt_monitor()`: a data frame of class `gbt_monitor`. Scores come before columns, the largest PSI first. Its
#'   columns:
#'   \item{name}{of the column or score}
#'   \item{kind}{`"score"` or `"column"`}
#'   \item{psi, noise, drift}{the PSI; its 95 % quantile without drift; a factor}
#'   \item{missing, missing_reference}{shares of rows}
#'   \item{unseen}{the share of rows with a level that the reference does not have, or with a number below or above all
#'     numbers of the reference}
#'   \item{gain}{the share of the model's gain. `NA` for scores and for columns inside terms of a formula}
#'
#'   `print()` shows it, `plot()` draws it, and `attr(, "bins")` is a named list of the bins.
#'
#'   `gbt_monitor_reference()`: the model, with field `monitor`.
#' @references Siddiqi, N. (2006) *Credit Risk Scorecards*, Wiley. Yurdakul, B. and Naranjo, J. (2020) Statistical
#'   properties of the population stability index, *Journal of Risk Model Validation* 14(4).
#' @seealso [plot.gbt_monitor()], [gbt_evaluate()], [gbt_refresh_server()]; `vignette("refresh", package = "gbt")`
#' @concept drift
#' @examples
#' train <- flights$date < as.Date("2013-07-01")
#' columns <- c("late", "carrier", "origin", "sched_dep_time", "distance")
#' m <- gbt_train(late ~ ., flights[train, columns], nrounds = 10, threads = 1)
#' m <- gbt_monitor_reference(m, flights[train, columns], threads = 1)
#' drift <- gbt_monitor(m, flights[!train, columns], threads = 1)
#' drift
#' plot(drift)
#' plot(drift, "carrier")
#' @export
gbt_monitor <- function(model, newdata, reference = NULL, ..., bins = 10, levels = 20, offset = NULL, newoffset = NULL,
                        threads = NULL, exposure = NULL, newexposure = NULL) {
  check_no_dots(written_dots(...), names(formals(gbt_monitor)))
  if (missing(model)) stop_argument("`model` is missing: gbt_monitor(model, newdata)", "model")
  check_model(model, "model")
  if (missing(newdata)) newdata <- NULL
  rows <- if (is.null(reference)) newdata else reference
  its <- list(offset = given_in_data("offset", rows), exposure = given_in_data("exposure", rows))
  if (is.null(reference)) {
    if (!missing(bins) || !missing(levels) || any(lengths(its) > 0L)) {
      stop_argument(paste("`bins`, `levels`, `offset` and `exposure` need a `reference`: the model's own reference is",
                          "complete; give `reference`, or leave them out"), "reference")
    }
    reference <- stored_reference(model)
  } else {
    reference <- monitor_reference(model, reference, bins, levels, its, threads, "reference")
  }
  its <- list(offset = given_in_data("newoffset", newdata), exposure = given_in_data("newexposure", newdata))
  new <- monitored_values(model, newdata, reference$rounds, its, threads, "newdata", names(reference$columns))
  compare_monitored(model, reference, new)
}

#' @rdname gbt_monitor
#' @export
gbt_monitor_reference <- function(model, data, ..., bins = 10, levels = 20, offset = NULL, threads = NULL,
                                  exposure = NULL) {
  check_no_dots(written_dots(...), names(formals(gbt_monitor_reference)))
  if (missing(model)) stop_argument("`model` is missing: gbt_monitor_reference(model, data)", "model")
  check_model(model, "model")
  if (missing(data)) data <- NULL
  its <- list(offset = given_in_data("offset", data), exposure = given_in_data("exposure", data))
  model$monitor <- monitor_reference(model, data, bins, levels, its, threads, "data")
  model
}

# Counting ------------------------------------------------------------------------------------------------------------

# list(n, columns, scores): vectors by name, of the rows and of their scores. columns: those to take, NULL for all that
# the model was made of; its: list(offset, exposure) of the rows.
monitored_values <- function(model, data, rounds, its, threads, parameter, columns = NULL) {
  its_rows <- bake_rows(model, data)
  model <- its_rows$model
  data <- its_rows$x
  x <- explained_data(model, data, parameter)
  n <- n_rows_of(x)
  if (n == 0) stop_data("the data have no rows to look at", parameter)
  if (is.null(columns)) columns <- columns_of_model(model, x)
  absent <- setdiff(columns, names_of_table(x))
  if (length(absent)) {
    stop_data(sprintf("the data have no column `%s`, which the reference has", absent[1L]), absent[1L])
  }
  score <- predict.gbt(model, data, type = "link", trees = rounds, offset = its$offset, threads = threads,
                       exposure = exposure_values(model, data, its$exposure, n))
  label <- if (is.matrix(score)) sprintf("score (%s)", given_or(colnames(score), seq_len(ncol(score)))) else "score"
  score <- matrix(score, n)
  scores <- stats::setNames(lapply(seq_len(ncol(score)), function(k) score[, k]), label)
  category <- model$feature_names[model$feature_types == "category"] # numbers that the model takes for levels
  value <- function(name) if (name %in% category) category_texts(column_of(x, name)) else column_of(x, name)
  list(n = n, columns = lapply(stats::setNames(nm = columns), value), scores = scores)
}

monitor_reference <- function(model, data, bins, levels, its, threads, parameter) {
  bins <- check_whole(bins, "bins", 2, 1000)
  levels <- check_whole(levels, "levels", 1, 1000)
  rounds <- rounds_used(model)
  values <- monitored_values(model, data, rounds, its, threads, parameter)
  count <- function(v) count_reference(v, bins, levels)
  list(rows = as.double(values$n), rounds = as.double(rounds), columns = lapply(values$columns, count),
       scores = lapply(values$scores, count))
}

# See the top of the file.
count_reference <- function(v, bins, levels) {
  if (is_level(v)) {
    text <- level_texts(v)
    n <- table(text, dnn = NULL, exclude = NA) # else R leaves out the text "NaN" as well
    ranked <- as.character(names(n)) # NULL where all are missing
    ranked <- ranked[order(-as.vector(n), ranked, method = "radix")]
    out <- list(kind = "level", at = utils::head(ranked, levels), others = utils::tail(ranked, -levels))
    out$label <- c(plain_text(out$at), if (length(out$others)) "(other levels)", "(missing)")
  } else {
    sorted <- sort(order_numbers(v))
    borders <- number_borders(sorted, bins)
    out <- list(kind = "number", at = borders$at, others = character(0),
                range = if (length(sorted)) sorted[c(1L, length(sorted))])
    out$label <- c(if (length(sorted)) border_labels(borders, v), "(missing)")
  }
  out$count <- as.double(count_bins(v, out)[seq_along(out$label)])
  out
}

# Borders of bins of equal numbers of rows: list(at, value, below). Each is the largest number of its bin; the last bin
# is open. A number that has more rows than a bin is to have gets one of its own, whose lower border is the next smaller
# double: `below` is TRUE there, and `value` the number. sorted: ascending.
number_borders <- function(sorted, bins) {
  k <- length(sorted)
  if (k == 0L) return(list(at = numeric(0), value = numeric(0), below = logical(0)))
  at <- unique(sorted[ceiling(seq_len(bins - 1) / bins * k)])
  rows <- findInterval(at, sorted) - findInterval(at, sorted, left.open = TRUE)
  often <- rows * bins > k & (rows > 1L | k == 1L)
  upper <- at[at < sorted[k] | often]
  lower <- at[often & at > -Inf]
  below <- rep(c(TRUE, FALSE), c(length(lower), length(upper)))
  value <- c(lower, upper)
  at <- c(vapply(lower, double_below, 0), upper)
  order <- order(at, value) # a border may be there twice, with an empty bin between
  list(at = at[order], value = value[order], below = below[order])
}

# The next smaller double; -Inf has none.
double_below <- function(x) {
  if (x == 0) return(-2^-1074)
  if (is.infinite(x)) return(if (x > 0) .Machine$double.xmax else x)
  step <- 2^(max(floor(log2(abs(x))), -1022) - 52)
  below <- x - step / 2 # a power of two has smaller steps below it
  if (below < x) below else x - step
}

# Of a logical value "TRUE" and "FALSE"; NA where it is missing.
level_texts <- function(v) {
  text <- as.character(v)
  if (is.character(v) || is.factor(v)) text <- enc2utf8(text)
  text
}

# borders: of number_borders(); v: the column.
border_labels <- function(borders, v) {
  value <- borders$value
  if (length(value) == 0L) return("(all)")
  text <- if (is.object(v) && !inherits(v, "integer64") && !inherits(v, "difftime")) {
    like <- if (inherits(v, "POSIXlt")) as.POSIXct(v) else v
    attributes(value) <- attributes(like)[intersect(names(attributes(like)), c("class", "tzone"))]
    format(value)
  } else {
    number_label(value, 6L)
  }
  n <- length(text)
  single <- c(FALSE, borders$below[-n] & borders$value[-n] == borders$value[-1L]) # a bin of one number
  c(paste(ifelse(borders$below, "<", ifelse(single, "=", "<=")), text), paste(">", text[n]))
}

# Rows in each bin of what is known of a column; the last two are of missing values and of levels that it has not.
count_bins <- function(v, known) {
  k <- length(known$label)
  if (known$kind == "number") {
    number <- order_numbers(v)
    if (k == 1L) return(c(sum(is.na(number)), sum(!is.na(number)))) # all were missing
    bin <- findInterval(number, known$at, left.open = TRUE) + 1L
    bin[is.na(number)] <- k
    return(c(tabulate(bin, k), 0L))
  }
  text <- level_texts(v)
  bin <- match(text, known$at)
  bin[is.na(bin) & text %in% known$others] <- length(known$at) + 1L
  bin[is.na(bin)] <- k + 1L
  bin[is.na(text)] <- k
  tabulate(bin, k + 1L)
}

# Comparing -----------------------------------------------------------------------------------------------------------

compare_monitored <- function(model, reference, new) {
  known <- c(reference$scores, reference$columns)
  values <- c(new$scores, new$columns)
  if (!identical(names(known), names(values))) {
    stop_data(paste("the reference belongs to another model: its scores have other names; make it again for this",
                    "model"), "reference")
  }
  bins <- Map(function(known, v, name) {
    missing <- is.na(v)
    if (all(missing)) v <- rep(NA_real_, length(missing)) # of any class, as predict() takes it
    kind <- if (all(missing)) known$kind else if (is_level(v)) "level" else "number"
    if (length(known$label) == 1L) known$kind <- kind # all were missing
    if (kind != known$kind) {
      stop_data(sprintf("column `%s` has %ss in the reference and %ss now", name, known$kind, kind), name)
    }
    both <- list(label = c(known$label, "(not in the reference)"), reference = c(known$count, 0),
                 new = as.double(count_bins(v, known)))
    list_frame(both, length(both$label))
  }, known, values, names(known))
  of <- function(f) unname(vapply(bins, f, 0))
  beyond <- unname(mapply(share_beyond, known, values))
  k <- length(known)
  gain <- gbt_importance(model, trees = reference$rounds)
  psi <- of(function(b) stability_index(b$reference, b$new))
  noise <- of(function(b) stability_noise(b$reference, b$new))
  out <- list(name = names(known), kind = rep(c("score", "column"), c(length(new$scores), length(new$columns))),
              psi = psi, noise = noise, drift = drift_of(psi, noise),
              missing = of(function(b) b$new[nrow(b) - 1L] / sum(b$new)),
              missing_reference = of(function(b) b$reference[nrow(b) - 1L] / sum(b$reference)),
              unseen = of(function(b) b$new[nrow(b)] / sum(b$new)) + beyond,
              gain = gain$gain[match(names(known), gain$feature)])
  out$gain[out$kind == "score"] <- NA
  ranked <- order(out$kind != "score", -psi, seq_len(k))
  structure(list_frame(lapply(out, `[`, ranked), k), class = c("gbt_monitor", "data.frame"), bins = bins[ranked],
            rows = c(reference = reference$rows, new = as.double(new$n)))
}

# The share of rows whose number is below or above all those of the reference.
share_beyond <- function(known, v) {
  if (known$kind != "number" || length(known$range) != 2L || is_level(v)) return(0)
  number <- order_numbers(v)
  sum(number < known$range[1L] | number > known$range[2L], na.rm = TRUE) / max(length(number), 1)
}

# e, a: rows in each bin.
stability_index <- function(e, a) {
  use <- e > 0 | a > 0
  share <- function(n) {
    n <- ifelse(n[use] == 0, 0.5, n[use])
    n / sum(n)
  }
  sum((share(a) - share(e)) * log(share(a) / share(e)))
}

# The 95 % quantile of the index where nothing has changed.
stability_noise <- function(e, a) {
  k <- sum(e > 0 | a > 0)
  if (k < 2L) 0 else stats::qchisq(0.95, k - 1) * (1 / sum(e) + 1 / sum(a))
}

drift_limits <- c(some = 0.1, large = 0.25)

drift_of <- function(psi, noise) {
  step <- 1L + findInterval(psi, drift_limits)
  factor(c("none", names(drift_limits))[ifelse(psi <= noise, 1L, step)], c("none", names(drift_limits)))
}

# The reference that gbt_monitor_reference() stored in the model, whose file may come from anyone.
stored_reference <- function(model) {
  r <- unclass(model)$monitor
  if (is.null(r)) {
    stop_argument(paste("`reference` is missing: give the training data, or let gbt_monitor_reference(model, data)",
                        "count them once"), "reference")
  }
  numbers <- function(v, n = length(v)) is.numeric(v) && length(v) == n && !anyNA(v)
  entry <- function(one) {
    is.list(one) && is_text(one$kind) && one$kind %in% c("number", "level") && is.character(one$label) &&
      numbers(one$count, length(one$label)) && all(one$count >= 0) && length(one$label) > 0L &&
      is.character(one$others) && !anyNA(one$others) && (is.null(one$range) || numbers(one$range, 2L)) &&
      if (one$kind == "level") is.character(one$at) && !anyNA(one$at) else numbers(one$at) && !is.unsorted(one$at)
  }
  part <- function(p) is.list(p) && length(p) == length(names(p)) && all(vapply(p, entry, NA))
  ok <- is.list(r) && numbers(r$rows, 1L) && numbers(r$rounds, 1L) && part(r$columns) && part(r$scores) &&
    length(r$scores) > 0L && r$rounds >= 0 && r$rows > 0
  if (!ok) {
    stop_argument("field `monitor` of the model is not a reference made by gbt_monitor_reference()", "reference")
  }
  if (r$rounds > model$nrounds) {
    stop_argument(sprintf(paste("the model's reference has scores of %s, but the model has %.0f now; make it again by",
                                "gbt_monitor_reference(model, data)"), counted(r$rounds, "round"),
                          model$nrounds), "reference")
  }
  r
}

#' @export
as.data.frame.gbt_monitor <- plain_table

#' @export
print.gbt_monitor <- function(x, digits = max(3L, getOption("digits") - 4L), top = 20L, ...) {
  digits <- check_digits(digits, 4L)
  top <- check_whole(top, "top", 0)
  rows <- attr(x, "rows")
  if (is.null(rows) || is.null(x$drift) || is.null(x$kind)) return(NextMethod())
  cat(sprintf("<gbt_monitor> %s against %s of the reference\n", counted(rows[["new"]], "new row"),
              counted(rows[["reference"]], "row")))
  drifting <- x$name[x$drift != "none" & x$kind == "column"]
  cat(sprintf("drift of the scores: %s; %s of %d drift%s\n",
              paste(unique(as.character(x$drift[x$kind == "score"])), collapse = ", "),
              counted(length(drifting), "column"), sum(x$kind == "column"),
              if (length(drifting)) paste0(": ", enumerate(printable(drifting), 6L)) else ""))
  shown <- utils::head(as.data.frame(x), top)
  for (name in names(shown)[vapply(shown, is.double, NA)]) shown[[name]] <- signif(shown[[name]], digits)
  if (nrow(shown)) print.data.frame(shown[setdiff(names(shown), "kind")], row.names = FALSE)
  if (nrow(x) > top) cat(sprintf("and %d more\n", nrow(x) - top))
  invisible(x)
}
