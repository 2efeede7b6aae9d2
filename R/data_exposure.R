# Exposures: how long, or of how much, a row was observed. With a log link their logarithm is an offset, and that is all
# that training sees of them. A model stores the column's name, so that predict() finds the exposures of new rows.
#
# In a source (see R/fit.R) `exposure` is what was given, values or the name of a column, until with_exposure() has made
# an offset of it; `exposed` is then the column's name, or "" where values were given.

has_log_link <- function(objective) objective_info(objective)$response == "MEAN"

# Positive numbers, one for each row, as their logarithms. what: how a message calls them.
log_exposure <- function(exposure, n_rows, what = "`exposure`", subject = "exposure") {
  if (!is.numeric(exposure) || is.factor(exposure) || inherits(exposure, c("Date", "POSIXt"))) {
    stop_data(sprintf("%s must be numbers above 0, not %s", what, describe(exposure)), subject)
  }
  if (NCOL(exposure) != 1L || NROW(exposure) != n_rows) {
    stop_data(sprintf("%s has %s for %s", what, counted(length(exposure), "value"), counted(n_rows, "row")), subject)
  }
  if (is.object(exposure)) exposure <- as_numbers(exposure, subject)
  wrong <- which(is.na(exposure) | exposure <= 0 | is.infinite(exposure))
  if (length(wrong)) {
    stop_data(sprintf("%s must be above 0 and finite, and is %s in row %.0f%s; leave such rows out", what,
                      format(exposure[wrong[1L]]), wrong[1L],
                      if (length(wrong) > 1L) sprintf(" (and in %.0f more)", length(wrong) - 1) else ""), subject)
  }
  log(as.double(exposure))
}

# The offset with the exposures in it.
exposed_offset <- function(offset, exposure, n_rows) {
  exposed <- log_exposure(exposure, n_rows)
  check_counted_once(exposed, offset, "`offset`")
  add_offsets(offset, exposed, "`exposure`")
}

# An offset that is the logarithm of the exposure would let it count twice. exposed: that logarithm; what: how the
# message calls the offset.
check_counted_once <- function(exposed, offset, what) {
  if (is.null(exposed) || !is.numeric(offset) || length(offset) != length(exposed) || !any(exposed != 0)) {
    return(invisible())
  }
  if (is.object(offset)) offset <- as_numbers(offset, "offset")
  if (!isTRUE(all.equal(as.double(offset), exposed, tolerance = 1e-12))) return(invisible())
  stop_argument(sprintf("%s is the logarithm of `exposure`, which would count twice; leave one of the two out", what),
                "exposure")
}

# The source with its exposures in the offset. The named column is no feature.
with_exposure <- function(source) {
  exposure <- source[["exposure"]]
  if (is.null(exposure)) return(source)
  if (!is.null(source$data$exposed)) {
    stop_argument(paste("`exposure` is given, but the gbt_data has an exposure already; leave it out, or recreate the",
                        "gbt_data"),
                  "exposure")
  }
  source$exposed <- given_or(source$exposed, "")
  if (is_column_name(exposure)) {
    if (is.null(source$x)) {
      stop_argument("`exposure` must be numbers, one for each row: the columns of a gbt_data cannot be read",
                    "exposure")
    }
    source$exposed <- as_utf8(exposure, "`exposure`")
    exposure <- exposure_column(source$x, source$exposed, "the data do not have")
    source$x <- without_column(source$x, source$exposed)
  }
  n <- source_rows(source)
  source$offset <- exposed_offset(source$offset, exposure, n)
  source$exposure <- NULL
  source
}

# lacking: "the data do not have".
exposure_column <- function(x, name, lacking) {
  value <- column_of(x, name)
  if (!is.null(value)) return(value)
  stop_data(sprintf("`exposure` names the column `%s`, which %s%s", name, lacking, suggest(name, names_of_table(x))),
            name)
}

# The objective is known when the response is.
check_exposed <- function(source, response) {
  if (is.null(source$exposed)) return(invisible())
  check_log_link(response$objective)
  check_exposed_outputs(response$n_outputs)
}

# A row has one exposure; the outputs of a model may count over different times.
check_exposed_outputs <- function(n_outputs) {
  if (n_outputs == 1L) return(invisible())
  stop_unsupported(sprintf(paste("`exposure` is not offered for a response of several columns; give the logarithms of",
                                 "the exposures as `offset`, a matrix with a column for each of the %d outputs"),
                           n_outputs), "exposure")
}

check_log_link <- function(objective) {
  if (has_log_link(objective)) return(invisible())
  links <- vapply(offered_objectives(), has_log_link, NA)
  stop_argument(sprintf(paste("`exposure` multiplies what is expected, which needs an objective with a log link (%s);",
                              "this one is \"%s\""),
                        enumerate(offered_objectives()[links], quote = "\""), objective), "exposure")
}

# In a formula's data: list(name, value) of what was written, or NULL. A name, with or without quotation marks, that is
# a column is remembered.
read_exposure <- function(argument, data) {
  value <- in_data(argument, data)
  if (is.null(value)) return(NULL)
  if (is_column_name(value)) {
    value <- as_utf8(value, "`exposure`")
    return(list(name = value, value = exposure_column(data, value, "the data do not have")))
  }
  written <- argument$expression
  name <- if (is.name(written)) as.character(written) else ""
  list(name = if (name %in% names(data)) name else "", value = value)
}

# At prediction -------------------------------------------------------------------------------------------------------

# Logarithms of the exposures of new rows: given as values, one for all, or a column's name; else of the column that the
# model remembers. NULL where there are none.
exposure_offset <- function(model, newdata, given, n_rows) {
  if (!is.null(given)) {
    check_log_link(model$objective)
    check_exposed_outputs(model$n_outputs)
  }
  kept <- if (is.null(given) && nzchar(given_or(model$exposure, ""))) model$exposure
  name <- if (is_column_name(given)) as_utf8(given, "`exposure`") else kept
  if (is.null(name)) {
    if (is.null(given)) return(NULL)
    if (length(given) == 1L) given <- rep(given, n_rows)
    return(log_exposure(given, n_rows))
  }
  value <- if (is.null(given)) column_of(newdata, name) else
    exposure_column(newdata, name, "`newdata` does not have")
  if (!is.null(value)) log_exposure(value, n_rows, sprintf("the exposure `%s`", name), name)
}

# The exposures of new rows, as values; NULL if none were given.
exposure_values <- function(model, newdata, given, n_rows) {
  if (is.null(given)) return(NULL)
  if (is_column_name(given)) {
    given <- exposure_column(newdata, as_utf8(given, "`exposure`"), "the data do not have")
  }
  exposure_offset(model, newdata, given, n_rows) # which checks it
  rep_len(if (is.object(given)) as_numbers(given, "exposure") else as.double(given), n_rows)
}

# Offsets from the rows themselves: offset() terms of the formula, and the exposure.
offset_in <- function(model, newdata) {
  add_offsets(apply_design(model$terms, newdata)$offset, exposure_offset(model, newdata, NULL, NROW(newdata)))
}

warn_no_offset <- function(model) {
  if (is.null(model$exposure)) {
    warn_gbt("offset", paste("the model was trained with an offset, but none is given: predictions are those for an",
                             "offset of 0; give `offset =`"))
  } else {
    column <- if (nzchar(model$exposure)) sprintf(" (the column `%s`)", model$exposure) else ""
    warn_gbt("offset", sprintf(paste("the model was trained with an exposure%s, but there is none here: predictions",
                                     "are those for an exposure of 1; give `exposure =`, or its logarithm as",
                                     "`offset =`"), column))
  }
}
