# Settings of the session that a term of a formula may depend on: names of months and the order of texts on the locale,
# as.POSIXct("2024-05-01") on the time zone, paste(a) on options(scipen = ). Terms are evaluated for new data in neutral
# settings, whatever the session has; where training saw other values in its own settings, the design keeps these
# (`settings`, texts by name) and they come back for new data.
#
# Texts are UTF-8 in terms, in a session whose locale knows no characters beyond ASCII (LC_ALL=C) as well.

neutral_settings <- c(TZ = "UTC", LC_COLLATE = "C", LC_TIME = "C", scipen = "0", digits = "7", OutDec = ".",
                      digits.secs = "")
setting_options <- c("scipen", "digits", "OutDec", "digits.secs")

session_settings <- function() {
  options <- vapply(setting_options, function(name) {
    value <- getOption(name)
    if (is.null(value)) "" else as.character(value)[1L]
  }, "")
  c(TZ = Sys.getenv("TZ"), LC_COLLATE = Sys.getlocale("LC_COLLATE"), LC_TIME = Sys.getlocale("LC_TIME"),
    options)
}

# The name of the session's time zone; "UTC" where it has none that is known.
session_zone <- function() {
  zone <- Sys.getenv("TZ")
  if (!nzchar(zone)) {
    file <- normalizePath("/etc/localtime", mustWork = FALSE)
    zone <- if (grepl("/zoneinfo/", file, fixed = TRUE)) sub(".*/zoneinfo/", "", file) else
      try_else(suppressWarnings(Sys.timezone()), function(problem) NA)
  }
  if (is_setting("TZ", zone)) zone else "UTC"
}

# Is this a value that a setting can have? Model files may come from anywhere, and other names of time zones and locales
# are paths of files.
is_setting <- function(name, value) {
  if (!is_text(value)) return(FALSE)
  form <- switch(name, TZ = "^[A-Za-z0-9_+-]+(/[A-Za-z0-9_+-]+)*$", LC_COLLATE = , LC_TIME = "^[A-Za-z0-9_.@ ()-]+$",
                 OutDec = "^[^0-9A-Za-z]$", digits.secs = "^[0-6]?$", scipen = "^-?[0-9]{1,4}$",
                 digits = "^[0-9]{1,2}$")
  nchar(value, "bytes") <= 100L && !is.null(form) && grepl(form, value)
}

# Evaluates an expression in these settings, those that differ from the session's.
with_settings <- function(settings, expr) {
  was <- session_settings()[names(settings)]
  differ <- names(settings)[settings != was]
  if (length(differ) == 0L) return(expr)
  zone <- Sys.getenv("TZ", NA)
  back <- c(lapply(c(LC_COLLATE = "LC_COLLATE", LC_TIME = "LC_TIME"), Sys.getlocale), options()[setting_options])
  names(back) <- c("LC_COLLATE", "LC_TIME", setting_options)
  on.exit({
    if ("TZ" %in% differ) if (is.na(zone)) Sys.unsetenv("TZ") else Sys.setenv(TZ = zone)
    for (name in setdiff(differ, "TZ")) set_setting(name, back[[name]])
  })
  for (name in differ) {
    value <- settings[[name]]
    if (name %in% setdiff(setting_options, "OutDec")) value <- if (nzchar(value)) as.integer(value)
    if (!set_setting(name, value)) {
      warn_gbt("formula", sprintf(paste("terms of the formula were trained in the locale \"%s\" (%s), which this",
                                        "system does not have: their values may differ here"), value, name))
    }
  }
  expr
}

set_setting <- function(name, value) {
  if (name == "TZ") return(Sys.setenv(TZ = value))
  if (!name %in% c("LC_COLLATE", "LC_TIME")) {
    options(stats::setNames(list(value), name))
    return(TRUE)
  }
  nzchar(suppressWarnings(Sys.setlocale(name, value)))
}

# The settings of this session that the terms depend on: texts by name, NULL for none. evaluate: list of functions that
# evaluate the terms; zoned: may the time zone matter although the values here do not show it?
settings_in_use <- function(evaluate, zoned) {
  values <- function(settings) {
    lapply(evaluate, function(f) {
      plain_values(try_else(suppressWarnings(with_settings(settings, f())), function(problem) NULL))
    })
  }
  if (length(evaluate) == 0L) return(NULL)
  now <- session_settings()
  now[["TZ"]] <- session_zone()
  was <- values(character(0))
  matters <- function(name) {
    neutral <- neutral_settings[name]
    if (name != "TZ") {
      return(now[[name]] != neutral && !identical(values(neutral), was))
    }
    in_zone <- function(zone) identical(values(c(TZ = zone)), was)
    zoned || !in_zone("Etc/GMT+11") || !in_zone("Etc/GMT-13")
  }
  kept <- Filter(matters, names(neutral_settings))
  lost <- Filter(function(name) !is_setting(name, now[[name]]), kept)
  for (name in lost) {
    warn_gbt("formula", sprintf(paste("terms of the formula depend on the session's %s, \"%s\", which a model cannot",
                                      "keep: their values may differ in other sessions"), name, printable(now[[name]])))
  }
  kept <- setdiff(kept, lost)
  if (length(kept)) now[kept]
}

# Is a term of the language arithmetic of numbers, which depends on no setting? kinds: of its columns.
is_arithmetic <- function(e, kinds) {
  plain <- c("+", "-", "*", "/", "^", "%%", "%/%", "<", ">", "<=", ">=", "==", "!=", "&", "|", "xor", "!", "(", "I",
             "log", "log2", "log10", "log1p", "exp", "expm1", "sqrt", "sin", "cos", "tan", "abs", "sign", "floor",
             "ceiling", "trunc", "round", "min", "max", "pmin", "pmax", "mean", "is.na", "ifelse", "poly", "ns", "bs",
             "scale", "c", "list", "findInterval", "stats::poly", "splines::ns", "splines::bs", "tanh", "atan", "::")
  all(kinds == "number") && all(functions_of(list(e)) %in% plain) && !any(vapply(constants_in(e), is.character, NA))
}

constants_in <- function(e) {
  parts <- unlist_once(lapply(c(list(call("c", e)), calls_of(e)), function(call) as.list(call)[-1L]))
  Filter(Negate(is.language), parts)
}

# May a term with such columns depend on the time zone? Texts that times are compared with are read in it.
is_zoned <- function(e, kinds) {
  any(startsWith(kinds, "POSIXct")) &&
    any(functions_of(list(e)) %in% c("<", ">", "<=", ">=", "==", "!=", "difftime", "%in%", "match", "cut"))
}
