# One fault on rank 1 of 3: Rscript faults.R FAULT FOLDER, started by mpirun. FOLDER: is not there yet. See faults.txt.
# Several, FAULT+FAULT+...: one after the other by the same ranks, which must go on after each. What the errors say goes
# into files FOLDER-FAULT-RANK.
library(gbt)
fault <- commandArgs(TRUE)[[1L]]
place <- commandArgs(TRUE)[[2L]]
if (grepl("+", fault, fixed = TRUE)) {
  script <- parse(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
  for (name in strsplit(fault, "+", fixed = TRUE)[[1L]]) {
    own <- list2env(list(fault = name, place = paste0(place, "-", name)), parent = globalenv())
    said <- tryCatch({
      for (step in script[-(1:4)]) eval(step, own) # all that follows here
      "no error"
    }, error = conditionMessage)
    writeLines(gsub("\n", " ", said), sprintf("%s-%s-%d", place, name, own$ranks$rank))
  }
  quit()
}
open_mpi <- nzchar(Sys.getenv("OMPI_COMM_WORLD_SIZE")) # is this the launcher?
world <- switch(gbt_info()$mpi$family, "Open MPI" = 0L, MPICH = 0x44000000L, 0x101L) # MPI_COMM_WORLD in Fortran
if (fault == "by_rmpi") {
  library(Rmpi)
  invisible(mpi.comm.dup(0, 1))
  world <- mpi.comm.c2f(1)
}
early <- Sys.getenv(if (open_mpi) "OMPI_COMM_WORLD_RANK" else "PMI_RANK") == "1"
if (fault == "never_comes") utils::assignInNamespace("ranks_start_seconds", 1, "gbt")
if (fault == "never_comes" && early) {
  Sys.sleep(60)
  cat("the job goes on\n")
}
ranks <- gbt_ranks(timeout = if (fault == "never_comes") 1 else 0,
                   library = if (fault == "no_library" && early) "/nowhere.so" else if (fault == "wrong_launcher") {
                     if (open_mpi) "libmpich.so.12" else "libmpi.so.40"
                   },
                   comm = if (grepl("hangs_in_group|by_rmpi", fault)) world)
if (grepl("hangs", fault)) ranks <- gbt_ranks(timeout = 2, comm = if (fault == "hangs_in_group") world) # all are here
if (fault == "second_library") gbt_ranks(library = if (open_mpi) "libmpich.so.12" else "libmpi.so.40")
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
if (here("hangs") || here("hangs_in_group")) {
  Sys.sleep(30)
  cat("the job goes on\n")
}
if (here("killed")) tools::pskill(Sys.getpid(), tools::SIGKILL)

fails <- function(now) {
  if ((here("error_in_callback") || here("error_then_again")) && now$round == 3) {
    stop(structure(class = c("my_error", "error", "condition"), list(message = "the callback fails here", call = NULL)))
  }
  if ((here("interrupted") || here("interrupted_then_again")) && now$round == 3) {
    tools::pskill(Sys.getpid(), tools::SIGINT)
  }
  FALSE
}
if (fault == "folder_in_a_file") { # cannot be made on rank 1
  if (ranks$rank == 1L) writeLines("a file", place <- tempfile()) else dir.create(place, showWarnings = FALSE)
  gbt_data(share[c("a", "b")], label = share$y, path = file.path(place, "bins"), ranks = ranks, threads = 1)
}
if (fault == "split_of_other_rows") {
  all <- if (ranks$rank == 1L) rows[-1L, ] else rows
  gbt_train(y ~ ., all, nrounds = 2, ranks = gbt_ranks(share = "split"))
}
if (fault == "divided_query") { # 1,000 rows of a rank are 8 1/3 queries; from a folder, whose queries are numbers
  dir.create(place, showWarnings = FALSE)
  kept <- gbt_data(share["a"], share$y > 0, group = sprintf("query %d", (ranks$rank * 1000 + 0:999) %/% 120),
                   path = file.path(place, "bins"), ranks = ranks, threads = 1)
  gbt_train(gbt_open(file.path(place, "bins"), ranks = ranks), nrounds = 2, objective = "rank_ndcg", ranks = ranks)
}
if (fault == "other_positions") { # 1,000 rows of a rank are 100 queries
  at <- rep(1:10, 100)
  gbt_train(y ~ a, transform(share, y = y > 0), nrounds = 2, objective = "rank_ndcg", ranks = ranks,
            group = ranks$rank * 100 + rep(1:100, each = 10), position = if (here(fault)) letters[at] else at)
}
# Before the rows of a rank are there: the other ranks wait for them.
if (fault == "missing_file") {
  gbt_train(if (here(fault)) gbt_files("no-such-file.csv") else share, share$y, ranks = ranks)
}
if (fault == "error_in_rows") gbt_data(if (here(fault)) stop("no rows here") else share, ranks = ranks)
if (fault == "wrong_argument") gbt_cv(y ~ ., share, repeats = if (here(fault)) 0 else 1, nrounds = 2, ranks = ranks)
if (here("other_function")) gbt_cv(y ~ ., share, nrounds = 2, ranks = ranks)
if (here("other_share_of_rows")) ranks <- gbt_ranks(share = "split")
if (fault == "other_objective") {
  gbt_train(y ~ ., share, nrounds = 2, objective = if (here(fault)) "huber" else "squared_error", ranks = ranks)
}
if (fault == "other_seed") gbt_train(y ~ ., share, nrounds = 2, seed = if (here(fault)) 2 else 1, ranks = ranks)
if (fault == "sources_without_rows") {
  path <- tempfile(fileext = ".csv")
  utils::write.csv(rows[0L, ], path, row.names = FALSE)
  gbt_train(gbt_files(path, label = "y"), nrounds = 2, ranks = ranks)
}
if (fault == "folder_made_alone") {
  dir.create(place, showWarnings = FALSE)
  gbt_data(share[c("a", "b")], label = share$y, path = file.path(place, sprintf("rank-%04d", ranks$rank)), threads = 1)
  gbt_open(place, ranks = ranks)
}

# Cross-validation and search, with gradients of the script's own.
calls <- 0
own <- list(gradient = function(score, y, weights) {
  calls <<- calls + 1
  at <- switch(fault, error_in_fold = 4, error_in_configuration = 8, 0)
  if (here(fault) && calls == at) stop("the gradient fails here")
  if (here("interrupted_fold") && calls == 4) tools::pskill(Sys.getpid(), tools::SIGINT)
  score - y
}, hessian = function(score, y, weights) rep(1, length(y)))
if (fault %in% c("other_share", "other_terms", "other_folds", "empty_fold", "error_in_fold", "interrupted_fold")) {
  tryCatch(switch(fault,
    other_share = gbt_train(y ~ ., share, nrounds = 3, valid = if (here(fault)) 0.3 else 0.2, ranks = ranks),
    other_terms = gbt_train(y ~ scale(a) + b, share, nrounds = 3, ranks = ranks),
    other_folds = gbt_cv(y ~ ., share, folds = if (here(fault)) 4 else 3, nrounds = 3, ranks = ranks),
    empty_fold = gbt_cv(y ~ ., share, folds = list(1:5, integer(0)), nrounds = 3, ranks = ranks),
    gbt_cv(y ~ ., share, folds = 2, nrounds = 20, objective = own, ranks = ranks, seed = 1)
  ), gbt_interrupt = function(e) {
    cat(sprintf("interrupted: %s\n", conditionMessage(e)))
    quit(status = 3)
  })
}
if (fault == "error_in_configuration") { # it ends this configuration on all ranks, which go on with the next one
  result <- gbt_tune(y ~ ., share, configs = 3, folds = 2, nrounds = 3, early_stopping_rounds = 0, objective = own,
                     eval_metric = "rmse", ranks = ranks, seed = 1)
  cat(sprintf("rated %d, failed %s\n", sum(!is.na(result$results$estimate)), names(result$errors)))
  quit()
}

in_callback <- grepl("error_in_c|error_then|interrupted", fault)
metric <- gbt_metric("mine", function(pred, label, weight) stop("the metric fails here")) # called on rank 0
train <- function(callbacks) {
  gbt_train(y ~ ., share, nrounds = if (here("other_nrounds")) 21 else if (length(callbacks)) 2000 else 20,
            eta = if (here("other_parameter")) 0.2 else 0.1, seed = 1, threads = 1, ranks = ranks,
            callbacks = callbacks, eval_train = fault == "error_in_metric",
            eval_metric = if (fault == "error_in_metric") metric)
}
if (fault == "by_rmpi") {
  cat(sprintf("%d ranks of Rmpi trained %d rounds\n", ranks$size, train(NULL)$nrounds))
  mpi.quit()
}
if (grepl("then_again", fault)) { # all ranks go on after a training that failed
  tryCatch(train(fails), error = identity, interrupt = identity)
  cat(sprintf("trained %d rounds\n", train(NULL)$nrounds))
  quit()
}
tryCatch(train(if (in_callback) fails), gbt_interrupt = function(e) {
  cat(sprintf("partial model of class %s\n", class(e$model)))
  quit(status = 3)
}, my_error = function(e) {
  cat(sprintf("my_error after %d rounds: %s\n", e$model$nrounds, conditionMessage(e)))
  quit(status = 1)
})
