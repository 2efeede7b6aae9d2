# No message and no page denies what gbt has: a clause that says that something is missing does not name something that
# an exported function, a metric or an argument does.

# words (a regular expression) -> the exported function that does it
capabilities <- c(
  "cross-validat" = "gbt_cv", "(hyper)?parameter search|\\btuning\\b" = "gbt_tune",
  "prediction intervals?|intervals? (of|for) predictions?|conformal" = "gbt_conformal",
  "calibrat(ed|ion)" = "gbt_calibrate",
  "variable importance|feature importance|permutation importance" = "gbt_importance",
  "\\bSHAP\\b|contributions of columns" = "gbt_shap", "partial dependence|\\bICE\\b" = "gbt_partial",
  "H statistics?|interaction strength" = "gbt_interactions", "\\bROC\\b|lift curve|precision-recall" = "gbt_curve",
  "bootstrap" = "gbt_evaluate", "CSV|read(ing)? (data )?from files" = "gbt_files", "\\bSQL\\b|database" = "gbt_query",
  "larger than memory" = "gbt_data", "drift" = "gbt_monitor", "in the background" = "gbt_job",
  "own metric|custom metric" = "gbt_metric", "early stopping|class weights|exposure" = "gbt_train",
  "Shiny" = "gbt_refresh_ui", "caret" = "gbt_caret", "mlr3|parsnip|tidymodels" = "gbt_train",
  "R Markdown" = "gbt_report", "nearest neighbou?rs|similar rows" = "gbt_neighbours", "unseen levels" = "gbt_unseen",
  "start ranks|several (R )?processes|several machines" = "gbt_ranks", "confusion matri" = "gbt_confusion",
  "competing risks|several (GPUs|quantiles)" = "gbt_train", "fan charts?" = "gbt_fan",
  "accumulated local effects|\\bALE\\b" = "gbt_partial"
)
denial <- paste(c("\\bnot offered", "\\bnot yet\\b", "there (is|are) no\\b", "gbt has no\\b",
                  "\\bdoes not (offer|support)", "\\bnot (supported|available|implemented)", "\\bno support\\b",
                  "\\bnothing like\\b", "\\bno way\\b"), collapse = "|")
only_emulated <- "(proven|shown|tested) (by|in|under) emulation only|only (proven|tested) (by|in|under) emulation"

# Clauses of texts that deny something in the table.
denied_in <- function(texts) {
  texts <- gsub("`[^`]*`", "`x`", gsub("[[:space:]]+", " ", texts)) # code is no prose
  clauses <- unlist(strsplit(texts, "[.;:] |\\| |, (but|and|so) "))
  has <- vapply(names(capabilities), function(words) grepl(words, clauses), logical(length(clauses)))
  has <- if (length(clauses) == 1L) any(has) else rowSums(has) > 0
  clauses[(grepl(denial, clauses, ignore.case = TRUE) & has) | grepl(only_emulated, clauses)]
}

# All texts of a function's code; what sprintf() and paste() put together is one text.
texts_of <- function(e) {
  if (is.character(e)) return(e)
  if (is.function(e)) return(c(texts_of(formals(e)), texts_of(body(e))))
  if (!is.call(e) && !is.pairlist(e) && !is.list(e)) return(NULL)
  inner <- unlist(lapply(as.list(e), function(part) if (!identical(part, quote(expr = ))) texts_of(part)))
  together <- is.call(e) && as.character(e[[1]])[1] %in% c("paste", "paste0", "sprintf")
  if (together) paste(inner, collapse = " ") else inner
}

test_that("the search finds denials of what is there", {
  old <- c("there are no standard errors or intervals of predictions", "cross-validation in one call is not offered",
           "mlr3's own validation is not yet tried", "the GPU is proven by emulation only",
           "gbt has no calibration of probabilities", "importance is shown; partial dependence is not supported",
           "R has no way to start ranks yet", "there is no confusion matrix")
  for (text in old) expect_length(denied_in(text), 1)
  expect_length(denied_in(old), length(old))
  fine <- c("survival models are not offered yet", "cross-validation: see gbt_cv(); ranking is not offered",
            "gbt has no `calibration`: gbt_calibrate(model, data) calibrates")
  expect_identical(denied_in(fine), character(0))
  expect_identical(setdiff(capabilities, getNamespaceExports("gbt")), character(0))
})

test_that("no message denies what is there", {
  space <- asNamespace("gbt")
  code <- lapply(ls(space, all.names = TRUE), function(name) {
    value <- get(name, space)
    if (is.function(value)) texts_of(value) else if (is.character(value)) value
  })
  texts <- c(unlist(code), gbt:::not_offered, vapply(gbt:::foreign_names$reply, gbt:::reply_text, ""))
  expect_gt(length(texts), 2000)
  expect_true(any(grepl("survival models of this kind are not offered", texts)))
  expect_identical(denied_in(setdiff(texts, gbt:::foreign_text)), character(0))
})

test_that("no page denies what is there, and pages have the same numbers", {
  root <- test_path("..", "..")
  skip_if_not(file.exists(file.path(root, "docs", "features.md")), "the sources")
  files <- c(file.path(root, "README.md"), Sys.glob(file.path(root, c("docs/*.md", "vignettes/*.Rmd", "man/*.Rd"))))
  expect_gt(length(files), 50)
  pages <- lapply(files, function(file) paste(readLines(file, encoding = "UTF-8"), collapse = "\n"))
  paragraphs <- unlist(strsplit(unlist(pages), "\n[ \t]*\n|\n- |\n\\\\item"))
  expect_identical(denied_in(paragraphs), character(0))
  features <- readLines(file.path(root, "docs", "features.md"))
  cells <- strsplit(grep("^\\| .* \\|$", features, value = TRUE), " *\\| *")
  missing <- vapply(Filter(function(row) length(row) > 2, cells), `[[`, "", 3)
  expect_true("not yet" %in% missing)
  expect_identical(denied_in(paste("there is no", setdiff(missing, c("not yet", "---", "")))), character(0))
  said <- as.integer(sub("^\\| ([0-9]+) metrics.*$", "\\1", grep("^\\| [0-9]+ metrics", features, value = TRUE)))
  expect_identical(said, nrow(gbt:::metrics_table()))
})
