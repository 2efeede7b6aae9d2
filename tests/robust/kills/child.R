# A process that is killed: Rscript child.R FOLDER_OF_SCRIPTS WAY.rds
suppressPackageStartupMessages(library(gbt))
args <- commandArgs(TRUE)
source(file.path(args[1L], "common.R"))
way <- readRDS(args[2L])
say <- function(what) writeLines(what, file.path(way$said, what))
if (way$what == "data") {
  d <- made_rows()
  say("ready")
  gbt_data(d$x, d$y, page_rows = way$page_rows, path = way$path, compress = way$compress)
} else {
  x <- data_of(way)
  say("ready")
  trained(x, checkpoint = way$checkpoint, checkpoint_seconds = 0, threads = way$threads)
}
say("done")
