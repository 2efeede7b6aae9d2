# Protection of R objects in the glue (src/r_*.c), by rules that a script can check.
#
#   Rscript tools/check-protect.R [FOLDER]       FOLDER: where the glue is, default src
#   Rscript tools/check-protect.R --self-check   shows that the check finds what it must find
#
# A function *allocates* when it calls one of R's allocating functions, or a function of the glue that allocates.
# In every function of the glue, read from top to bottom:
#   1  a new object that is kept in a variable is protected at once, or put into a protected object before
#      the next allocation
#   2  no two arguments of one call are new objects: the second allocation could free the first
#   3  UNPROTECT(n) before a return names all that the function has protected above it
# What is known to need none of this is listed below with its reason.

allocators <- paste0(
  "^(Rf_(alloc|mk|Scalar|cons$|lcons|lang|list|coerce|eval|duplicate|shallow_dup|setAttrib|classgets|namesgets)|",
  "R_(MakeExternalPtr|MakeWeakRef|new_altrep|NewEnv|Parse)|",
  "R_(tryEval|tryCatch|Exec|FindNamespace|RegisterC|CheckUser|alloc$|gc))"
)
# These may be given a new object: they allocate nothing, or protect it themselves.
takes_new <- c("PROTECT", "SET_VECTOR_ELT", "SET_STRING_ELT", "Rf_ScalarString", "r_handle_new", "r_cache_new")

strip <- function(lines) {
  text <- paste(lines, collapse = "\n")
  text <- gsub('"(\\\\.|[^"\\\\\n])*"', '""', text, perl = TRUE)
  hidden <- gregexpr("/\\*(?s:.*?)\\*/", text, perl = TRUE)
  regmatches(text, hidden) <- lapply(regmatches(text, hidden), function(m) gsub("[^\n]", "", m))
  strsplit(text, "\n", fixed = TRUE)[[1L]]
}

# Functions begin in the first column and end with "}" there.
functions_of <- function(file, lines) {
  ends <- which(lines == "}")
  begins <- vapply(ends, function(end) {
    above <- lines[seq_len(end)]
    open <- which(grepl("^[A-Za-z].*\\{$|^ {2,}.*\\) \\{$", above) & !grepl("^ {2}(if|for|while|switch)", above))
    max(c(0L, open[open > max(c(0L, ends[ends < end]))][1L]), na.rm = TRUE)
  }, 0L)
  keep <- begins > 0L & grepl("\\)", lines[pmax(begins, 1L)])
  lapply(which(keep), function(k) {
    first <- begins[k]
    while (!grepl("^[A-Za-z]", lines[first])) first <- first - 1L
    head <- paste(lines[first:begins[k]], collapse = " ")
    name <- sub(".*?([A-Za-z_0-9]+)\\(.*", "\\1", head)
    list(file = file, name = name, beg = begins[k], body = lines[begins[k]:ends[k]])
  })
}

called <- function(text) unique(regmatches(text, gregexpr("[A-Za-z_][A-Za-z_0-9]*(?=\\()", text, perl = TRUE))[[1L]])

# The statements of a body: list(line, text). Split at ; { } : good enough for code that is formatted by one rule.
statements_of <- function(f) {
  text <- paste(f$body, collapse = "\n")
  parts <- strsplit(text, "(?<=[;{}])", perl = TRUE)[[1L]]
  breaks <- function(p) nchar(gsub("[^\n]", "", p))
  line <- f$beg + cumsum(c(0L, breaks(parts)))[seq_along(parts)] + breaks(sub("[^ \n].*", "", parts))
  list(line = line, text = trimws(gsub("[ \n]+", " ", parts)))
}

# Arguments of every call in a statement: list of list(name, args).
calls_in <- function(text) {
  at <- gregexpr("[A-Za-z_][A-Za-z_0-9]*\\(", text)[[1L]]
  if (at[1L] < 0L) return(list())
  chars <- strsplit(text, "")[[1L]]
  lapply(seq_along(at), function(k) {
    open <- at[k] + attr(at, "match.length")[k] - 1L
    depth <- 0L
    args <- ""
    for (i in open:length(chars)) {
      if (chars[i] %in% c("(", "[")) depth <- depth + 1L
      if (chars[i] %in% c(")", "]")) depth <- depth - 1L
      if (depth == 0L) break
      if (chars[i] == "," && depth == 1L) {
        args <- c(args, "")
      } else {
        args[length(args)] <- paste0(args[length(args)], chars[i])
      }
    }
    list(name = substr(text, at[k], open - 1L), args = sub("^\\(", "", args))
  })
}

# Rule 2.
check_calls <- function(text, is_new, allocates) {
  unlist(lapply(calls_in(text), function(call) {
    if (call$name %in% c("if", "for", "while", "switch")) return(NULL)
    fresh <- sum(vapply(call$args, function(a) is_new(a) && !grepl("^ *PROTECT\\(", a), NA))
    if (fresh > 1L) return(sprintf("two arguments of %s() are new objects", call$name))
    if (fresh == 1L && allocates(call$name) && !call$name %in% takes_new) {
      sprintf("%s() allocates and gets a new object that is not protected", call$name)
    }
  }))
}

check_function <- function(f, allocates) {
  s <- statements_of(f)
  found <- character(0)
  say <- function(k, ...) found <<- c(found, sprintf("%s:%d: %s(): %s", f$file, s$line[k], f$name, sprintf(...)))
  is_new <- function(text) any(allocates(called(text)))
  names <- function(text, v) grepl(paste0("\\b", v, "\\b"), text)
  held <- character(0) # variables with new objects that nothing protects yet
  protected <- freed <- 0L
  for (k in seq_along(s$text)) {
    text <- s$text[k]
    for (what in check_calls(text, is_new, allocates)) say(k, "%s", what)
    released <- vapply(held, function(v) {
      grepl(paste0("(PROTECT|SET_VECTOR_ELT|SET_STRING_ELT|return)\\b[^;]*\\b", v, "\\b"), text)
    }, NA)
    # rule 1: an allocation while an object is held that is used later, or in this very statement
    for (v in held[is_new(text) & !grepl("^(SEXP \\w+ = )?PROTECT\\(\\w+\\)", text)]) {
      if (any(names(s$text[k:length(s$text)], v))) say(k, "`%s` is a new object that this allocation may free", v)
    }
    held <- held[!released]
    given <- regmatches(text, regexec("(?:^|SEXP )\\*?([a-z_0-9]+) = (.*)$", text, perl = TRUE))[[1L]]
    kept <- length(given) && is_new(given[3L]) && !grepl("^(PROTECT\\(|\\()", given[3L])
    if (kept && grepl("^(SEXP|[a-z]+ = (Rf_|r_|blob_|R_Make))", text)) held <- union(held, given[2L])
    # rule 3
    protected <- protected + lengths(regmatches(text, gregexpr("(?<!N)PROTECT\\(", text, perl = TRUE)))
    n <- regmatches(text, regexec("UNPROTECT\\(([0-9]+)\\)", text))[[1L]]
    if (!length(n)) next
    freed <- freed + as.integer(n[2L])
    if (as.integer(n[2L]) > protected) say(k, "UNPROTECT(%s) of %d", n[2L], protected)
    if (!any(grepl("PROTECT\\(", s$text[-seq_len(k)])) && freed != protected) {
      say(k, "%d protected, %d unprotected", protected, freed)
    }
  }
  found
}

check_sources <- function(sources) { # named list: file -> lines
  functions <- unlist(lapply(names(sources), function(f) functions_of(f, strip(sources[[f]]))), recursive = FALSE)
  known <- character(0)
  allocates <- function(names) grepl(allocators, names) | names %in% known
  repeat {
    more <- vapply(functions, function(f) {
      if (any(allocates(called(paste(f$body[-1L], collapse = "\n"))))) f$name else NA_character_
    }, "")
    more <- setdiff(more[!is.na(more)], c(known, "r_stop", "raise")) # these do not return
    if (!length(more)) break
    known <- c(known, more)
  }
  list(n = length(functions), found = unlist(lapply(functions, check_function, allocates)))
}

self_check <- function() {
  body <- function(...) list(f.c = c("SEXP f(SEXP x) {", ..., "}"))
  good <- list(
    body("  SEXP a = PROTECT(Rf_allocVector(REALSXP, 1));", "  SET_VECTOR_ELT(a, 0, Rf_ScalarReal(1));",
         "  UNPROTECT(1);", "  return a;"),
    body("  SEXP a = Rf_allocVector(REALSXP, 1);", "  SET_VECTOR_ELT(x, 0, a);",
         "  SEXP b = Rf_allocVector(REALSXP, 1);", "  return b;"),
    body("  return Rf_ScalarString(Rf_mkChar(\"a\"));")
  )
  bad <- list(
    body("  SEXP a = Rf_allocVector(REALSXP, 1);", "  SEXP b = PROTECT(Rf_allocVector(REALSXP, 1));",
         "  SET_VECTOR_ELT(b, 0, a);", "  UNPROTECT(1);", "  return b;"),
    body("  return Rf_lang3(Rf_install(\"f\"), Rf_ScalarReal(1), Rf_ScalarReal(2));"),
    body("  SEXP a = PROTECT(Rf_allocVector(REALSXP, 1));", "  SEXP b = PROTECT(Rf_allocVector(REALSXP, 1));",
         "  SET_VECTOR_ELT(a, 0, b);", "  UNPROTECT(1);", "  return a;"),
    list(f.c = c("static SEXP made(void) {", "  return Rf_allocVector(REALSXP, 1);", "}", "SEXP f(SEXP x) {",
                 "  SEXP a = made();", "  SEXP b = made();", "  SET_VECTOR_ELT(x, 0, a);", "  return b;", "}"))
  )
  stopifnot(!length(unlist(lapply(good, function(s) check_sources(s)$found))),
            all(vapply(bad, function(s) length(check_sources(s)$found) > 0L, NA)))
  cat("protection self-check: ok\n")
}

args <- commandArgs(trailingOnly = TRUE)
if (identical(args, "--self-check")) {
  self_check()
  quit(status = 0L)
}
here <- dirname(normalizePath(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)[1L])))
folder <- if (length(args)) args[1L] else file.path(dirname(here), "src")
files <- list.files(folder, "^r_.*\\.[ch]$", full.names = TRUE)
came <- check_sources(stats::setNames(lapply(files, readLines), basename(files)))
writeLines(as.character(came$found))
cat(sprintf("protection: %d functions of the glue, %d findings\n", came$n, length(came$found)))
quit(status = as.integer(length(came$found) > 0L || came$n == 0L))
