# Where a model comes from: a list of texts, which models keep as `provenance`, and files, but not `state`. So equal
# trainings give equal bytes on any day. See ?gbt_save.
#
#   trained   the day on which the training ended, in UTC       gbt      the version of gbt
#   data      the fingerprint of the training data, 16 digits; absent where it is not known: data in a folder that an
#             earlier version of gbt has written
#   history   a text for each model that this one was continued or refitted from, oldest first; absent for none

most_history <- 100L

provenance_of <- function(fit) {
  data <- fit$data$fingerprint
  c(list(trained = day_of_training(), gbt = getNamespaceVersion("gbt")[[1L]]), if (!is.null(data)) list(data = data))
}

# With SOURCE_DATE_EPOCH, seconds since 1970, it is that day, as for everything else that is to be made again to the
# byte: see reproducible-builds.org.
day_of_training <- function() {
  set <- Sys.getenv("SOURCE_DATE_EPOCH")
  now <- Sys.time()
  if (grepl("^[0-9]+$", set) && nchar(set) <= 11L) {
    now <- .POSIXct(as.double(set))
  } else if (nzchar(set)) {
    warn_gbt("date", sprintf(paste("the environment variable SOURCE_DATE_EPOCH must be a number of seconds, not",
                                   "\"%s\"; the model has today's date"), printable(set)))
  }
  format(now, "%Y-%m-%d", tz = "UTC")
}

# A model with the history of the one that it was made of. how: "continued" or "refitted".
with_history <- function(model, from, how) {
  rows <- if (!is.null(from$n_obs)) counted(from$n_obs, "row")
  its <- from$provenance
  made <- paste(c(if (is.null(its)) "provenance unknown" else made_by(its), rows), collapse = ", ")
  line <- sprintf("%s from the model of %s (%s)", how, given_or(its[["trained"]], "an earlier day"), made)
  model$provenance$history <- utils::tail(c(its[["history"]], model$provenance[["history"]], line), most_history)
  model
}

made_by <- function(from) c(paste("gbt", from[["gbt"]]), paste("data", given_or(from[["data"]], "unknown")))

# The provenance as it is shown: a text for each of `trained` and, where they exist, `history` and the user's `note`.
# Texts of files may be of any length.
provenance_texts <- function(model) {
  from <- model$provenance
  short <- function(text) {
    text <- gsub("[[:cntrl:]]", "?", gsub("[[:space:]]+", " ", printable(text)))
    if (nchar(text) > 200L) paste0(substr(text, 1L, 197L), "...") else text
  }
  note <- unclass(model)[["note"]]
  c(trained = if (is.null(from)) "unknown" else paste(c(from[["trained"]], made_by(from)), collapse = ", "),
    if (length(from[["history"]])) c(history = short(rev(from[["history"]])[1L])),
    if (is_text(note)) c(note = short(note)))
}

# The fault of a provenance, which a file or the user may have set to any value, or NULL; names that a later version
# adds are no fault.
provenance_fault <- function(x) {
  if (is.null(x)) return(NULL)
  ok <- is.list(x) && !is.object(x) && are_names(names(x)) && all(vapply(x, is_texts, NA))
  if (!ok) return("NULL or a list of texts by name")
  # without repetitions such as {16}, for which R's regular expressions take much memory
  one <- function(name, pattern, sizes) {
    is_text(x[[name]]) && nchar(x[[name]], "bytes") %in% sizes && grepl(pattern, x[[name]])
  }
  if (!one("trained", "^[0-9]+-[0-9][0-9]-[0-9][0-9]$", 10:11)) {
    return("a list with a day such as 2026-01-31 in `trained`")
  }
  if (!one("gbt", "^[0-9A-Za-z.-]+$", 1:64)) return("a list with the version of gbt in `gbt`")
  if (!is.null(x[["data"]]) && !one("data", "^[0-9a-f]+$", 16L)) return("a list with 16 hexadecimal digits in `data`")
  if (length(x[["history"]]) > most_history || any(nchar(x[["history"]], "bytes") > 1000L)) {
    return(sprintf("a list with at most %d texts in `history`, of at most 1,000 bytes", most_history))
  }
}
