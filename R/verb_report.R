#' A report of a model
#'
#' Renders a document about a model on data that it has not seen:
#' * the model, the parameters that differ from their defaults, those that a rule chose, and the data;
#' * the training log, and metrics with intervals, also by group;
#' * for two classes calibration, ROC, lift and gains; for several classes a confusion matrix, and recall, precision,
#'   ROC and calibration of each class against the others; for numbers observed against predicted, and residuals; for
#'   times that may be censored survival of groups of risk, and the Brier score; for ranking NDCG by length of query;
#' * importance, effects of columns, contributions and interactions.
#'
#' It needs the packages rmarkdown and knitr, and pandoc. A report in HTML is one file without scripts, of less than a
#' megabyte for most models.
#'
#' The document is made from a template of R Markdown, which is also offered by RStudio (New File, R Markdown, From
#' Template) and by `rmarkdown::draft("report.Rmd", template = "model-report", package = "gbt")`. You can change a
#' draft, or knit it as it is, with an example of [flights]. A marked block at its top shows where to put your own model
#' and data.
#'
#' @param model A model of [gbt_train()] or [gbt_calibrate()]. For a calibrated model, metrics and curves use the
#'   calibrated probabilities, importance and effects the model before calibration.
#' @param data A data frame. For models that were trained by a formula it has the response as well.
#' @param file The file to write; its folder must exist. It ends with ".html", or with ".pdf" or ".docx" where pandoc
#'   can make these.
#' @param y The response, for models that were not trained by a formula.
#' @param by Names of columns of `data`: metrics are shown for each of their values, such as by sex or region.
#' @param effects Number of columns whose effects are drawn, the most important ones first.
#' @param rows Number of rows for effects, interactions and contributions.
#' @param title The title of the document.
#' @param seed Seed of the draws of rows, permutations and bootstrap replicates.
#' @param quiet `FALSE` shows the messages of rmarkdown.
#' @param group For models of ranking: the query of every row, as values or the name of a column.
#' @param strata For models of times with strata: those of the rows, as in [gbt_evaluate()].
#' @param ... Must be empty: a misspelt argument is an error.
#' @return The path of the file, invisibly.
#' @seealso [gbt_evaluate()], [gbt_importance()], [gbt_partial()], [gbt_shap()], [gbt_interactions()], which the report
#'   is made of.
#' @examples
#' if (interactive() && requireNamespace("rmarkdown", quietly = TRUE)) {
#'   columns <- c("late", "carrier", "distance", "sched_dep_time")
#'   m <- gbt_train(late ~ ., flights[1:4000, columns], nrounds = 20, valid = 0.2, threads = 2)
#'   gbt_report(m, flights[4001:5000, columns], tempfile(fileext = ".html"), by = "carrier")
#' }
#' @export
gbt_report <- function(model, data, file, y = NULL, by = NULL, effects = 6, rows = 1000, title = "Model report",
                       seed = 1, quiet = TRUE, group = NULL, strata = NULL, ...) {
  check_no_dots(written_dots(...), names(formals(gbt_report)))
  if (missing(model)) stop_argument("`model` is missing: gbt_report(model, data, \"report.html\")", "model")
  check_model(if (inherits(model, "gbt_calibrated")) model[["model"]] else model, "model")
  if (missing(data) || !is.data.frame(data)) stop_argument("`data` must be a data frame", "data")
  if (nrow(data) < 1L) stop_data("`data` has no rows")
  if (missing(file) || !is_text(file)) stop_argument("`file` must be one text: where to write the report", "file")
  format <- switch(tolower(sub(".*[.]", "", file)), html = "html_document", pdf = "pdf_document",
                   docx = "word_document", NULL)
  if (is.null(format)) stop_argument("`file` must end with \".html\", \".pdf\" or \".docx\"", "file")
  if (!dir.exists(dirname(file))) {
    stop_argument(sprintf("the folder of `file`, \"%s\", does not exist; create it first", dirname(file)), "file")
  }
  if (!is_text(title)) stop_argument("`title` must be one text", "title")
  by <- check_report_groups(names_given("by", names(data)), data)
  group <- column_or_values(given_in_data("group", data), data, "group")
  strata <- column_or_values(given_in_data("strata", data), data)
  judged <- if (inherits(model, "gbt_calibrated")) model[["model"]] else model
  check_report_queries(judged, group)
  effects <- check_whole(effects, "effects", 0)
  rows <- check_whole(rows, "rows", 1)
  check_seed(seed)
  check_flag(quiet, "quiet")
  given_response(judged, data, y) # before the work: an error where the data have none
  for (package in c("rmarkdown", "knitr")) {
    if (!requireNamespace(package, quietly = TRUE)) {
      stop_unsupported(sprintf("reports need the package %s; install it: install.packages(\"%s\")", package, package))
    }
  }
  if (!rmarkdown::pandoc_available("2.0")) stop_unsupported("reports need the program pandoc, version 2 or newer")
  if (format == "pdf_document" && !has_latex()) {
    stop_unsupported(paste("a report in PDF needs LaTeX, which is not installed: tinytex::install_tinytex() installs",
                           "it; or give a `file` that ends with \".html\" or \".docx\""), "file")
  }
  to <- .Call(C_gbt_draft_open, full_path(file)) # before the work: it may be no file that can be written
  on.exit(.Call(C_gbt_draft_drop, to))
  work <- tempfile("report")
  dir.create(work)
  on.exit(unlink(work, recursive = TRUE), add = TRUE)
  draft <- file.path(work, "report.Rmd")
  text <- readLines(system.file("rmarkdown", "templates", "model-report", "skeleton", "skeleton.Rmd", package = "gbt"),
                    encoding = "UTF-8")
  written <- gsub("`", "\\x60", encodeString(title, quote = "\""), fixed = TRUE) # a title is no code
  text[match("title: \"Model report\"", text)] <- paste("title:", written)
  writeLines(enc2utf8(text), draft, useBytes = TRUE)
  call <- user_call()
  render <- function() {
    rmarkdown::render(draft, output_format = format, output_file = "made", output_dir = work,
                      intermediates_dir = work, envir = new.env(parent = globalenv()), quiet = quiet,
                      params = list(model = model, data = data, y = y, group = group, strata = strata, by = by,
                                    effects = effects, rows = rows, seed = seed))
  }
  # knitr tells of the chunk that failed; the error is enough
  muffle <- function(m) if (quiet) invokeRestart("muffleMessage")
  made <- try_else(withCallingHandlers(render(), message = muffle), function(e) {
    if (inherits(e, "gbt_error")) e["call"] <- list(call) # the user called none of those that the template calls
    text <- printable(conditionMessage(e))
    if (inherits(e, "gbt_error") || !grepl("^LaTeX|^pandoc", text)) stop(e)
    stop_unsupported(paste0("the report could not be written as ", sub(".*[.]", "", file), "; a `file` that ends with ",
                            "\".html\" needs less: ", text), "file")
  })
  .Call(C_gbt_draft_put, to, readBin(made, "raw", file.size(made)))
  .Call(C_gbt_draft_end, to)
  invisible(file)
}

# The program that rmarkdown makes a PDF with.
has_latex <- function() {
  nzchar(Sys.which("pdflatex")) || (has_package("tinytex") && isTRUE(get_exported("tinytex", "is_tinytex")()))
}

check_report_groups <- function(by, data) {
  if (is.null(by)) return(NULL)
  if (!is.character(by) || anyNA(by)) stop_argument("`by` must be names of columns of `data`", "by")
  lost <- setdiff(by, names(data))
  if (length(lost) > 0L) {
    stop_argument(sprintf("`data` has no column `%s`, which `by` names%s", lost[1L], suggest(lost[1L], names(data))),
                  "by")
  }
  by
}

check_report_queries <- function(model, group) {
  of_queries <- is_of_queries(model$objective)
  if (of_queries && is.null(group)) {
    stop_argument(paste("a report of a model of ranking needs `group`, the query of every row: gbt_report(model, data,",
                        "file, group = )"), "group")
  }
  if (!of_queries && !is.null(group)) {
    stop_argument(sprintf("`group` is for models of ranking, and this one has objective \"%s\"; leave it out",
                          model$objective), "group")
  }
}
