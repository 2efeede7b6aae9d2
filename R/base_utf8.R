# Texts in UTF-8.

# To UTF-8. Texts that are not valid in their encoding are an error, as they could never be matched again. Where the
# locale has no encoding of its own (LC_ALL=C), bytes of unknown origin are taken for UTF-8.
as_utf8 <- function(text, what, column = NULL) {
  text <- as.character(text)
  n <- length(text)
  if (n <= texts_at_once) return(part_as_utf8(text, what, column))
  unlist(by_parts(n, function(part) part_as_utf8(text[part], what, column), texts_at_once))
}

texts_at_once <- 65536

part_as_utf8 <- function(text, what, column) {
  locale <- l10n_info()
  if (!locale[["UTF-8"]] && !locale[["Latin-1"]] && !locale[["MBCS"]]) {
    unknown <- Encoding(text) == "unknown"
    if (any(unknown)) Encoding(text)[unknown] <- "UTF-8"
  }
  bad <- is_broken_text(text)
  if (any(bad)) {
    stop_data(sprintf("%s is not valid text in its encoding: \"%s\"; repair it with iconv()", what,
                      printable(text[which(bad)[1L]])), column)
  }
  enc2utf8(text)
}

# Evaluates an expression where texts are UTF-8.
with_utf8 <- function(expr) {
  locale <- l10n_info()
  if (locale[["UTF-8"]] || locale[["Latin-1"]] || locale[["MBCS"]]) return(expr)
  was <- Sys.getlocale("LC_CTYPE")
  on.exit(Sys.setlocale("LC_CTYPE", was))
  for (name in c("C.UTF-8", "C.utf8", "en_US.UTF-8", "UTF-8")) {
    if (nzchar(suppressWarnings(Sys.setlocale("LC_CTYPE", name)))) break
  }
  expr
}

# The texts of a vector, each once, in the order of their bytes, which is the same on every machine.
distinct_texts <- function(v) sort(unique(enc2utf8(as.vector(v[!is.na(v)]))), method = "radix")
