# Strata of survival data: rows of one stratum have a baseline hazard of their own, and are compared with each other
# only. They go with the times: a Surv object carries them as its attribute `strata`, list(place, levels, names), and
# what is made of it the field `stratum` of the engine, whole numbers from 1. `names` are those of the columns that they
# were, or "" where values were given. A model keeps these names, so that predict() finds the strata of new rows.
#
# In a source (see R/fit.R) `strata` is what was given, values or the name of a column, and `stratified` the names,
# until strata_in_response() has put them into the response.

# Values by row as list(place, levels). Numbers are in their order, others in that of their bytes.
read_strata_values <- function(value, n_rows) {
  if (inherits(value, "POSIXlt")) value <- as.POSIXct(value)
  value <- meant_values(value, "`strata`", "strata", character(0))
  if (!is.atomic(value) || is.complex(value) || is.raw(value) || length(dim(value)) > 1L) {
    stop_data(sprintf("`strata` must be a factor, texts or whole numbers, not %s", describe(value)), "strata")
  }
  check_row_values(value, n_rows, "strata", if (is.character(value) && length(value) == 1L) not_a_name)
  texts <- strata_texts(value)
  seen <- text_codes(texts, "a text of `strata`")
  all <- all_ranks_have(seen$texts)
  numbers <- is.numeric(value) && !is.factor(value) && !inherits(value, "integer64")
  check_same_on_ranks(if (numbers) "numbers" else "texts", "the class of `strata`", "; give all ranks the same class")
  levels <- if (numbers) all[order(as.double(all))] else sort(all, method = "radix")
  list(place = match(seen$texts, levels)[seen$codes], levels = levels)
}

strata_texts <- function(value) {
  if (is.factor(value)) return(levels(value)[value])
  if (!is.numeric(value) || inherits(value, "integer64")) return(as.character(value))
  value <- as_numbers(value, "strata")
  bad <- which(!is.finite(value) | value != floor(value) | abs(value) > 2^53)
  if (length(bad)) {
    stop_data(sprintf("`strata` as numbers must be whole numbers, and row %d has %s; make strata of it by cut()",
                      bad[1L], format(value[bad[1L]])), "strata")
  }
  sprintf("%.0f", value)
}

# The strata that columns make together, as texts: one column's own values, else "a=1, b=2".
strata_columns <- function(x, names, lacking) {
  columns <- lapply(names, function(name) {
    value <- column_of(x, name)
    if (is.null(value)) {
      stop_data(sprintf("`strata` names the column `%s`, which %s%s", name, lacking, suggest(name, names_of_table(x))),
                name)
    }
    if (anyNA(value)) {
      stop_data(sprintf("the stratum `%s` has %s; leave such rows out, or give them a value", name,
                        counted_rows(which(is.na(value)), "missing value")), name)
    }
    value
  })
  if (length(columns) == 1L) return(columns[[1L]])
  do.call(paste, c(Map(function(name, value) paste0(name, "=", strata_texts(value)), names, columns), sep = ", "))
}

# The source with values of strata. A named column is no feature.
with_strata_values <- function(source) {
  if (is.null(source[["strata"]])) return(source)
  source$stratified <- given_or(source$stratified, "")
  if (!is_column_name(source$strata)) return(source)
  if (is.null(source$x)) {
    stop_argument("`strata` must be values, one for each row: the columns of a gbt_data cannot be read", "strata")
  }
  source$stratified <- as_utf8(source$strata, "`strata`")
  source$strata <- strata_columns(source$x, source$stratified, "the data do not have")
  source$x <- without_column(source$x, source$stratified)
  source
}

# The source with its strata in the response. Collective.
strata_in_response <- function(source) {
  source$y <- with_strata(source$y, source[["strata"]], source$stratified)
  source$strata <- source$stratified <- NULL
  source
}

# A Surv object with strata, values by row. Collective.
with_strata <- function(y, strata, names = "") {
  if (is.null(strata)) return(y)
  if (is.data.frame(y) && length(y) == 1L) y <- .subset2(y, 1L)
  if (!inherits(y, "Surv")) {
    stop_strata_of_numbers()
  }
  attr(y, "strata") <- c(read_strata_values(strata, nrow(unclass(y))), list(names = names))
  y
}

stop_strata_of_numbers <- function() {
  stop_argument(paste("`strata` are for times of events, survival::Surv(time, status), as the response; to draw",
                      "folds by classes use gbt_cv(stratify = )"), "strata")
}

# The response of a source, as of label_role(), with the strata that columns make.
role_with_strata <- function(role, names) {
  if (is.null(role$response)) stop_strata_of_numbers()
  list(columns = union(role$columns, names), response = function(rows) {
    with_strata(role$response(rows), strata_columns(rows, names, "the source does not have"), names)
  })
}

# At prediction -------------------------------------------------------------------------------------------------------

# The strata of new rows as values: given, as values or the name of a column, or those of the columns that the model
# remembers. NULL where the model has none. what: what needs them.
strata_of_rows <- function(model, newdata, given, n_rows, what) {
  if (is.null(model$strata)) {
    if (is.null(given)) return(NULL)
    stop_argument("`strata` is for models that were trained with strata; leave it out", "strata")
  }
  if (is_column_name(given) && given %in% names_of_table(newdata)) {
    return(strata_columns(newdata, as_utf8(given, "`strata`"), "the data do not have"))
  }
  if (!is.null(given)) {
    if (length(given) == 1L && n_rows != 1) given <- rep(given, n_rows)
    check_row_values(given, n_rows, "strata")
    return(given)
  }
  if (all(nzchar(model$strata)) && all(model$strata %in% names_of_table(newdata))) {
    return(strata_columns(newdata, model$strata, "the data do not have"))
  }
  column <- if (all(nzchar(model$strata))) sprintf(" (%s)", enumerate(model$strata)) else ""
  stop_argument(sprintf(paste("the model was trained with strata%s, and %s needs those of the rows; give `strata`, a",
                              "value for each row"), column, what), "strata")
}

# Times of other rows, of encode_y(), with the numbers that their strata have in the training data; further ones where
# these lack them. levels: of the training data.
in_known_strata <- function(e, levels) {
  if (is.null(e$strata)) return(e$value)
  place <- match(e$strata$levels, levels)
  new <- is.na(place)
  place[new] <- length(levels) + seq_len(sum(new))
  attr(e$value, "fields")$stratum <- as.double(place[e$strata$place])
  e$value
}

# Strata of rows -> their places among those of the baseline hazard.
places_of_strata <- function(strata, baseline) {
  if (is.null(strata)) return(NULL)
  texts <- strata_texts(strata)
  place <- match(texts, names(baseline$strata))
  bad <- which(is.na(place))
  if (length(bad)) {
    stop_data(sprintf(paste("the stratum of row %d is \"%s\", which the training data do not have, so there is no",
                            "baseline hazard for it; the model has %s%s"), bad[1L], printable(texts[bad[1L]]),
                      enumerate(names(baseline$strata), quote = "\""),
                      suggest(texts[bad[1L]], names(baseline$strata), "\"")), "strata")
  }
  place
}
