# Other R processes: what may be interrupted, starved or killed had better not be this one.
#
# `code` is quoted R code that runs after library(gbt). It talks by say("word", ...), which writes a line
# "TIME word ..." to a log. Everything else that it writes ends up in `output`. before: shell code; env: what the child
# must not outlive.
start_child <- function(code, before = "", interactive = FALSE, env = parent.frame()) {
  testthat::skip_on_os("windows")
  folder <- withr::local_tempdir(.local_envir = env)
  path <- function(name) file.path(folder, name)
  lines <- c(
    sprintf(".libPaths(%s)", paste(deparse(.libPaths()), collapse = "")),
    "say <- function(...) cat(sprintf('%.3f', as.numeric(Sys.time())), ..., '\\n', file = the_log, append = TRUE)",
    sprintf("the_log <- '%s'", path("log")), "say('pid', Sys.getpid())", "library(gbt)",
    vapply(as.list(code)[-1L], function(e) paste(deparse(e), collapse = "\n"), ""),
    "say('end')"
  )
  writeLines(lines, path("code.R"))
  file.create(path("log"))
  how <- if (interactive) "--interactive --no-readline" else "--no-echo"
  command <- sprintf("%s exec '%s' --vanilla %s < '%s' > '%s' 2>&1", before, file.path(R.home("bin"), "R"), how,
                     path("code.R"), path("output"))
  system(sprintf("(%s) &", command))
  child <- list(log = path("log"), output = path("output"), pid = NA)
  child$pid <- as.integer(wait_for(child, "pid")[3L])
  withr::defer(tools::pskill(child$pid, tools::SIGKILL), envir = env)
  child
}

# The fields of the n-th line of the log that says `word`. Fails when there is none within `seconds`.
wait_for <- function(child, word, n = 1L, seconds = 600) {
  end <- Sys.time() + seconds
  repeat {
    gone <- Sys.time() > end || (!is.na(child$pid) && !tools::pskill(child$pid, 0L)) # looked at before the log is read
    lines <- strsplit(whole_lines(child$log), " ", fixed = TRUE)
    said <- vapply(lines, function(l) if (length(l) > 1L) l[2L] else "", "")
    hits <- which(said == word)
    if (length(hits) >= n) return(lines[[hits[n]]])
    if (gone || "end" %in% said) {
      stop("a child process did not say \"", word, "\"; it wrote:\n",
           paste(utils::tail(readLines(child$output, warn = FALSE), 20L), collapse = "\n"))
    }
    Sys.sleep(0.02)
  }
}

# The lines of a file without the last one where that is being written.
whole_lines <- function(file) {
  text <- readChar(file, file.size(file), useBytes = TRUE)
  if (length(text) == 0L) return(character(0))
  strsplit(sub("[^\n]*$", "", text, useBytes = TRUE), "\n", fixed = TRUE)[[1L]]
}

# Presses Ctrl-C `after` seconds from now and gives the seconds until the child says `word` for the n-th time.
press_ctrl_c <- function(child, word, n = 1L, after = 0.3) {
  Sys.sleep(after)
  pressed <- as.numeric(Sys.time())
  tools::pskill(child$pid, tools::SIGINT)
  as.numeric(wait_for(child, word, n)[1L]) - pressed
}

# Workers on sockets. Their port is drawn: where it is taken, another one.
socket_workers <- function(n) {
  for (again in 1:5) {
    cluster <- tryCatch(parallel::makePSOCKcluster(n), error = identity)
    if (!inherits(cluster, "error")) return(cluster)
  }
  stop(cluster)
}
