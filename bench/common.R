# What the benchmark scripts share: finding things, metrics, running the peers, writing results.
#
# Every script:  source("common.R") from its own folder, then bench_root() is the repository.

bench_root <- function() {
  file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)[1])
  dirname(dirname(normalizePath(file)))
}

# `--name value` or `--name=value` from the command line.
arg_of <- function(name, default) {
  args <- commandArgs(trailingOnly = TRUE)
  given <- grep(paste0("^--", name, "="), args, value = TRUE)
  if (length(given)) return(sub("^[^=]*=", "", given[1]))
  at <- match(paste0("--", name), args)
  if (is.na(at) || at == length(args)) default else args[at + 1L]
}
flag_of <- function(name) paste0("--", name) %in% commandArgs(trailingOnly = TRUE)

venv_folder <- function() {
  Sys.getenv("GBT_BENCH_VENV", file.path(Sys.getenv("TMPDIR", "/tmp"), "gbt-bench", "venv"))
}
have_peers <- function() file.exists(file.path(venv_folder(), "bin", "python"))

# ---- metrics: all engines' raw scores go through these ----

softplus <- function(s) pmax(s, 0) + log1p(exp(-abs(s)))

# Loss of every test row; score: vector, or matrix with one column per class.
row_loss <- function(task, score, y) {
  switch(task,
    binary = softplus(ifelse(y == 1, -score, score)),
    regression = (score - y)^2,
    poisson = 2 * (ifelse(y > 0, y * (log(pmax(y, 1)) - score), 0) - (y - exp(score))),
    multiclass = {
      top <- score[cbind(seq_len(nrow(score)), max.col(score, "first"))]
      top + log(rowSums(exp(score - top))) - score[cbind(seq_len(nrow(score)), y + 1)]
    },
    stop("unknown task ", task)
  )
}
metric_name <- function(task) {
  c(binary = "logloss", regression = "rmse", poisson = "poisson deviance", multiclass = "mlogloss")[[task]]
}
metric_of <- function(task, loss) if (task == "regression") sqrt(mean(loss)) else mean(loss)

# ---- running a process that prints `key value` lines ----

run_keys <- function(command, args, env = character()) {
  out <- suppressWarnings(system2(command, shQuote(args), stdout = TRUE, env = env))
  status <- attr(out, "status")
  if (!is.null(status) && status != 0) stop(command, " ", paste(args, collapse = " "), " ended with ", status)
  keep <- grep("^[a-z_]+ \\S+$", out, value = TRUE)
  values <- sub("^\\S+ ", "", keep)
  stats::setNames(as.list(utils::type.convert(as.list(values), as.is = TRUE)), sub(" .*$", "", keep))
}

run_peer <- function(root, folder, ...) {
  run_keys(file.path(venv_folder(), "bin", "python"), c(file.path(root, "bench", "peers.py"), folder, ...))
}

run_gbt <- function(root, folder, ...) {
  run_keys(file.path(R.home("bin"), "Rscript"), c(file.path(root, "bench", "gbt-run.R"), folder, ...))
}

read_scores <- function(path, n_rows, n_outputs = 1L) {
  x <- readBin(path, "double", n_rows * n_outputs + 1L, size = 8, endian = "little")
  if (length(x) != n_rows * n_outputs) stop(path, " holds ", length(x), " numbers, not ", n_rows * n_outputs)
  if (n_outputs > 1L) matrix(x, n_rows) else x
}

# ---- writing ----

fixed <- function(x, digits) ifelse(is.na(x), "", formatC(x, digits = digits, format = "f"))

md_table <- function(table) {
  line <- function(cells) paste0("| ", paste(cells, collapse = " | "), " |")
  body <- apply(as.matrix(table), 1L, function(row) line(ifelse(is.na(row), "", row)))
  c(line(names(table)), line(rep("---", ncol(table))), unname(body))
}

cpu_name <- function() {
  info <- tryCatch(readLines("/proc/cpuinfo"), error = function(e) character())
  model <- sub("^model name\\s*:\\s*", "", grep("^model name", info, value = TRUE))
  if (length(model)) paste0(model[1], ", ", length(model), " cores seen") else "unknown CPU"
}
commit_of <- function(root) {
  git <- function(...) suppressWarnings(system2("git", c("-C", shQuote(root), ...), stdout = TRUE, stderr = FALSE))
  id <- tryCatch(git("rev-parse", "--short=12", "HEAD"), error = function(e) character())
  if (!length(id)) return("unknown")
  paste0(id, if (length(git("status", "--porcelain", "--", "src", "R", "configure"))) " with local changes")
}
load_now <- function() {
  text <- tryCatch(readLines("/proc/loadavg"), error = function(e) "")
  sub("^(\\S+).*$", "\\1", text)
}
peer_versions <- function() {
  if (!have_peers()) return("peers not installed")
  code <- "import xgboost, lightgbm; print('XGBoost', xgboost.__version__ + ', LightGBM', lightgbm.__version__)"
  paste(system2(file.path(venv_folder(), "bin", "python"), c("-c", shQuote(code)), stdout = TRUE), collapse = " ")
}
gbt_version <- function() {
  if (requireNamespace("gbt", quietly = TRUE)) as.character(utils::packageVersion("gbt")) else "not installed"
}

write_results <- function(root, name, title, lines, folder = file.path(root, "bench", "results")) {
  path <- file.path(folder, paste0(name, ".md"))
  dir.create(folder, recursive = TRUE, showWarnings = FALSE)
  head <- c(
    paste("#", title), "",
    paste0("- date: ", format(Sys.Date())),
    paste0("- machine: ", cpu_name()),
    paste0("- load average at the end: ", load_now()),
    paste0("- commit: ", commit_of(root)),
    paste0("- versions: gbt ", gbt_version(), ", ", peer_versions(), ", ", R.version.string),
    paste0("- made by: `Rscript bench/", name, ".R`"), ""
  )
  writeLines(c(head, lines), path)
  cat(c(head, lines), sep = "\n")
  message("written to ", path)
}
