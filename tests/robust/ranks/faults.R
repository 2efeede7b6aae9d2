# One fault on rank 1 of 3: Rscript faults.R FAULT FOLDER, started by mpirun. FOLDER: is not there yet. See faults.txt.
library(gbt)
fault <- commandArgs(TRUE)[[1L]]
ranks <- gbt_ranks(timeout = if (fault == "hangs") 2 else 0)
here <- function(name) fault == name && ranks$rank == 1L
set.seed(1)
rows <- data.frame(a = rnorm(3000), b = round(runif(3000), 2))
rows$y <- rows$a + rnorm(3000)
share <- rows[seq(ranks$rank * 1000L + 1L, length.out = 1000L), ]

if (here("script_ends_early")) stop("this script ends early")
if (here("quits_with_0")) quit(status = 0)
if (here("missing_response")) share$y[3L] <- NA
if (here("other_columns")) names(share)[1L] <- "z"
if (here("other_type_of_column")) share$a <- as.character(share$a)
if (here("other_response")) share$y <- as.character(share$y)
if (here("hangs")) Sys.sleep(30)
if (here("killed")) tools::pskill(Sys.getpid(), tools::SIGKILL)

fails <- function(now) {
  if ((here("error_in_callback") || here("error_then_again")) && now$round == 3) stop("the callback fails here")
  if ((here("interrupted") || here("interrupted_then_again")) && now$round == 3) {
    tools::pskill(Sys.getpid(), tools::SIGINT)
  }
  FALSE
}
place <- commandArgs(TRUE)[[2L]]
if (fault == "folder_in_a_file") { # cannot be made on rank 1
  if (ranks$rank == 1L) writeLines("a file", place <- tempfile()) else dir.create(place, showWarnings = FALSE)
  gbt_data(share[c("a", "b")], label = share$y, path = file.path(place, "bins"), ranks = ranks, threads = 1)
}
if (fault == "folder_made_alone") {
  dir.create(place, showWarnings = FALSE)
  gbt_data(share[c("a", "b")], label = share$y, path = file.path(place, sprintf("rank-%04d", ranks$rank)), threads = 1)
  gbt_open(place, ranks = ranks)
}
in_callback <- grepl("error_|interrupted", fault)
train <- function(callbacks) {
  gbt_train(y ~ ., share, nrounds = if (here("other_nrounds")) 21 else if (length(callbacks)) 2000 else 20,
            eta = if (here("other_parameter")) 0.2 else 0.1, seed = 1, threads = 1, ranks = ranks,
            callbacks = callbacks)
}
if (grepl("then_again", fault)) { # all ranks go on after a training that failed
  tryCatch(train(fails), error = identity, interrupt = identity)
  cat(sprintf("trained %d rounds\n", train(NULL)$nrounds))
  quit()
}
tryCatch(train(if (in_callback) fails), gbt_interrupt = function(e) {
  cat(sprintf("partial model of class %s\n", class(e$model)))
  quit(status = 3)
})
