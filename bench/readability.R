# How many sentences of help, vignettes, README, docs and comments have more than 30 words.
#
#   Rscript bench/readability.R [FOLDER] [--list PART] [--words N]
#
# FOLDER is the repository, by default the working directory. --list prints the long sentences of one part (help,
# vignettes, README, docs, notes, src, R, tests, tools, bench), --words changes the limit. Needs only R.
#
# A word is text between blanks that has a letter or a digit; a piece of code or a formula counts as one. A sentence
# ends with a full stop, a question mark or an exclamation mark before a capital letter or a backtick, and with the
# paragraph, the item of a list, the heading or the cell of a table. Examples, usage and blocks of code do not count.

sentences <- function(paragraphs) {
  text <- gsub("[[:space:]]+", " ", paragraphs)
  code <- gregexpr("`[^`]+`", text)
  regmatches(text, code) <- lapply(regmatches(text, code), gsub, pattern = " ", replacement = "~") # one word
  text <- gsub("\\]\\([^)]*\\)", "]", text) # the address of a link
  text <- gsub("\\b(e\\.g|i\\.e|vs|cf)\\.", "\\1", text, perl = TRUE)
  parts <- unlist(strsplit(text, "(?<=[.!?])[)\"'*_]*\\s+(?=[(\"'*_\\[]*[A-Z0-9`])", perl = TRUE))
  parts <- trimws(parts)
  parts[grepl("[A-Za-z]", parts)]
}

count_words <- function(x) lengths(lapply(strsplit(x, " ", fixed = TRUE), function(w) grep("[[:alnum:]]", w)))

# ---- paragraphs of each kind of file ----

skipped_tags <- c("\\usage", "\\examples", "\\preformatted", "\\name", "\\alias", "\\keyword", "\\concept", "\\docType",
  "\\seealso", "COMMENT", "\\author", "\\format", "\\deqn", "\\method", "\\S3method", "\\figure", "\\out")
code_tags <- c("\\code", "\\link", "\\eqn", "\\url", "\\href", "\\verb", "\\pkg", "\\file")
breaking_tags <- c("\\item", "\\section", "\\subsection", "\\describe", "\\itemize", "\\enumerate", "\\title",
  "\\description", "\\details", "\\value", "\\arguments", "\\note", "\\tabular", "\\tab", "\\cr", "\\references")

rd_text <- function(node) {
  tag <- attr(node, "Rd_tag")
  if (is.null(tag)) tag <- ""
  if (tag %in% skipped_tags) return("")
  if (is.character(node)) return(paste(node, collapse = ""))
  if (tag %in% code_tags) return(paste0(" `", gsub("`", "'", paste(unlist(node), collapse = "")), "` "))
  inner <- paste(vapply(node, rd_text, ""), collapse = if (tag == "\\item") "\n\n" else "")
  if (tag %in% breaking_tags) paste0("\n\n", inner, "\n\n") else inner
}

split_paragraphs <- function(text) unlist(strsplit(text, "\n[[:space:]]*\n"))

paragraphs_of_rd <- function(file) {
  text <- rd_text(tools::parse_Rd(file, encoding = "UTF-8", permissive = TRUE))
  split_paragraphs(gsub("` +([,.;:)!?'])", "`\\1", text))
}

paragraphs_of_markdown <- function(file) {
  lines <- readLines(file, encoding = "UTF-8", warn = FALSE)
  if (length(lines) && lines[[1]] == "---") lines <- lines[-seq_len(which(lines == "---")[[2]])]
  fence <- grepl("^\\s*```", lines)
  lines <- lines[cumsum(fence) %% 2 == 0 & !fence]
  lines <- sub("^(\\s*)([-*+]|[0-9]+\\.)\\s+", "\n\n", lines)
  heading <- grepl("^#", lines)
  lines[heading] <- paste0("\n\n", sub("^#+", "", lines[heading]), "\n\n")
  cells <- grepl("^\\s*\\|", lines)
  lines[cells] <- gsub("|", "\n\n", lines[cells], fixed = TRUE)
  split_paragraphs(paste(lines, collapse = "\n"))
}

# Lines of comments that follow each other are one text. A blank comment line, an item ("- ") or code ends a paragraph.
paragraphs_of_lines <- function(is_comment, text) {
  text[!is_comment] <- ""
  text <- sub("^\\s*([-*]|[0-9]+\\.)\\s+", "\n\n", text)
  drawing <- grepl("[|+]--|--[|+>]|  +[|]|[[:alnum:]]   +[[:alnum:]]|^\\s*#?\\s*\\$ ", text) # pictures, tables
  text[drawing] <- ""
  split_paragraphs(paste(text, collapse = "\n"))
}

paragraphs_of_hash_comments <- function(file) {
  lines <- readLines(file, encoding = "UTF-8", warn = FALSE)
  is_comment <- grepl("^\\s*#([^!']|$)", lines)
  after <- !is_comment & grepl(" # ", lines) & !grepl("[\"'].* # ", lines)
  text <- sub("^\\s*#+", "", lines)
  text[after] <- paste0("\n\n", sub("^.* # ", "", lines[after]), "\n\n")
  paragraphs_of_lines(is_comment | after, text)
}

paragraphs_of_c <- function(file) {
  text <- paste(readLines(file, encoding = "UTF-8", warn = FALSE), collapse = "\n")
  found <- regmatches(text, gregexpr("(?s)/\\*.*?\\*/|(?m)//[^\n]*$", text, perl = TRUE))[[1]]
  found <- gsub("^(/\\*+|//+)|\\*+/$", "", found)
  lines <- unlist(lapply(found, function(x) c(strsplit(x, "\n")[[1]], "")))
  paragraphs_of_lines(rep(TRUE, length(lines)), sub("^\\s*\\*( |$)", "", lines))
}

# ---- the parts ----

files_in <- function(root, folders, pattern) {
  list.files(file.path(root, folders), pattern, recursive = TRUE, full.names = TRUE)
}

sentences_of <- function(files, read) {
  unlist(lapply(files, function(file) {
    found <- sentences(read(file))
    stats::setNames(found, rep(basename(file), length(found)))
  }))
}

parts <- list(
  help = function(root) sentences_of(files_in(root, "man", "\\.Rd$"), paragraphs_of_rd),
  vignettes = function(root) sentences_of(files_in(root, "vignettes", "\\.Rmd$"), paragraphs_of_markdown),
  README = function(root) sentences_of(file.path(root, "README.md"), paragraphs_of_markdown),
  docs = function(root) sentences_of(files_in(root, "docs", "\\.md$"), paragraphs_of_markdown),
  notes = function(root) {
    files <- file.path(root, c("ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "NEXT.md"))
    sentences_of(files[file.exists(files)], paragraphs_of_markdown)
  },
  src = function(root) sentences_of(files_in(root, "src", "\\.(c|h|cu|cuh|def)$"), paragraphs_of_c),
  R = function(root) sentences_of(files_in(root, "R", "\\.R$"), paragraphs_of_hash_comments),
  tests = function(root) {
    c(
      sentences_of(files_in(root, "tests", "\\.(R|sh|py)$"), paragraphs_of_hash_comments),
      sentences_of(files_in(root, "tests", "\\.(c|h|cu|cuh)$"), paragraphs_of_c)
    )
  },
  tools = function(root) sentences_of(files_in(root, "tools", "(\\.(R|sh|py)|/test)$"), paragraphs_of_hash_comments),
  bench = function(root) sentences_of(files_in(root, "bench", "\\.(R|sh|py)$"), paragraphs_of_hash_comments)
)

main <- function(args) {
  value_of <- function(name, default) {
    at <- match(name, args)
    if (is.na(at)) default else args[[at + 1L]]
  }
  limit <- as.integer(value_of("--words", "30"))
  list_part <- value_of("--list", "")
  options_at <- match(c("--words", "--list"), args)
  taken <- stats::na.omit(c(options_at, options_at + 1L))
  roots <- if (length(taken)) args[-taken] else args
  root <- if (length(roots)) roots[[1]] else "."
  if (nzchar(list_part)) {
    found <- parts[[list_part]](root)
    n <- count_words(found)
    long <- n > limit
    cat(sprintf("%s: %d: %s\n", names(found)[long], n[long], gsub("~", " ", found[long])), sep = "")
    return(invisible())
  }
  cat(sprintf("| part | sentences | over %d words | share | mean words |\n| --- | --- | --- | --- | --- |\n", limit))
  for (name in names(parts)) {
    n <- count_words(parts[[name]](root))
    cat(sprintf("| %s | %d | %d | %.1f %% | %.1f |\n", name, length(n), sum(n > limit), 100 * mean(n > limit), mean(n)))
  }
}

main(commandArgs(TRUE))
