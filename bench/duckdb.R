# Memory and time of reading a query of DuckDB: by gbt_query(), which uses a temporary table, and by the package's
# own result, which is one data frame. Needs the package duckdb, and Linux for the peaks.
#
#   Rscript bench/duckdb.R [ROWS = 6000000] [MEMORY = 300MB]      MEMORY: what the database may take
args <- commandArgs(TRUE)

one <- function(how, rows, memory) {
  con <- DBI::dbConnect(duckdb::duckdb(tempfile(fileext = ".db"), shared_home = FALSE))
  DBI::dbExecute(con, sprintf("SET memory_limit = '%s'", memory))
  DBI::dbExecute(con, "SET threads = 1")
  query <- sprintf(paste("SELECT i::DOUBLE a, sin(i) b, cos(i) c, i %% 7 d, (i * 31 %% 101)::DOUBLE e,",
                         "(i %% 2)::DOUBLE y FROM range(%.0f) t(i)"), rows)
  peak <- function() as.numeric(gsub("\\D", "", grep("VmHWM", readLines("/proc/self/status"), value = TRUE))) / 1024
  before <- peak()
  began <- proc.time()[["elapsed"]]
  n <- 0
  if (how == "gbt_query") {
    reader <- gbt::gbt_query(con, query, label = "y")$open(character(0))
    while (!is.null(chunk <- reader$pull())) n <- n + nrow(chunk)
    reader$close()
  } else {
    result <- DBI::dbSendQuery(con, query)
    while (nrow(chunk <- DBI::dbFetch(result, 1e5)) > 0) n <- n + nrow(chunk)
    DBI::dbClearResult(result)
  }
  cat(sprintf("%-12s %.0f rows, %.1f s, peak %.0f MB (%.0f MB before)\n", how, n, proc.time()[["elapsed"]] - began,
              peak(), before))
  DBI::dbDisconnect(con, shutdown = TRUE)
}

if (length(args) == 3L) {
  one(args[1L], as.numeric(args[2L]), args[3L])
} else {
  rows <- if (length(args) > 0L) as.numeric(args[1L]) else 6e6
  memory <- if (length(args) > 1L) args[2L] else "300MB"
  cat(sprintf("%.0f MB of numbers; duckdb %s\n", rows * 6 * 8 / 2^20, utils::packageVersion("duckdb")))
  this <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  for (how in c("gbt_query", "dbFetch")) {
    system2(file.path(R.home("bin"), "Rscript"), c(this, how, format(rows, scientific = FALSE), memory))
  }
}
