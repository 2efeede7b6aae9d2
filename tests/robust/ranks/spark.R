# A real run of gbt_spark(): models of Spark's tasks have the bytes of one process, faults are errors of the session.
#
#   SPARK_HOME=... R_LIBS=... Rscript tests/robust/ranks/spark.R
#
# Needs the packages sparklyr and gbt, a Spark at SPARK_HOME, Java and MPICH; without them it says so and ends with 0.

has <- requireNamespace("sparklyr", quietly = TRUE) && nzchar(Sys.getenv("SPARK_HOME")) && nzchar(Sys.which("java")) &&
  nzchar(Sys.which("hydra_pmi_proxy"))
if (!has) {
  cat("skipped: needs the package sparklyr, SPARK_HOME, java and MPICH\n")
  quit(status = 0)
}
library(gbt)
setwd(tempdir()) # Spark's own files
config <- list(sparklyr.gateway.start.timeout = 120, sparklyr.connect.timeout = 120)
sc <- sparklyr::spark_connect(master = "local[4]", spark_home = Sys.getenv("SPARK_HOME"), config = config)
bad <- 0L
check <- function(what, ok) {
  cat(if (isTRUE(ok)) "ok    " else "FAILED", what, "\n")
  if (!isTRUE(ok)) bad <<- bad + 1L
}
md5 <- function(model) {
  file <- tempfile()
  writeBin(model$state, file)
  unname(tools::md5sum(file))
}
same <- function(what, a, b) {
  check(what, identical(a$state, b$state))
  cat("       md5", md5(a), md5(b), "\n")
}

set.seed(1)
n <- 5003
rows <- data.frame(
  a = ifelse(runif(n) < 0.05, NA, rnorm(n) * 10^sample(-300:300, n, TRUE)), i = sample(c(NA, -3:9), n, TRUE),
  l = sample(c(NA, TRUE, FALSE), n, TRUE),
  t = sample(c("a\tb", "\\N", "x\\ty", "new\nline", "caf\u00e9", "", NA), n, TRUE),
  day = as.Date("2020-01-01") + sample(900, n, TRUE), w = round(runif(n), 3), held = runif(n) < 0.2,
  stringsAsFactors = FALSE
)
rows$y <- ifelse(is.na(rows$a), 0, sign(rows$a)) + ifelse(is.na(rows$i), 2, rows$i) / 3 + rnorm(n)
rows$class <- c("low", "mid", "high")[1 + (rows$y > 0) + (rows$y > 1)]
rows$two <- rows$y > 0
table <- sparklyr::copy_to(sc, rows, "gbt_try", repartition = 7)
table <- dplyr::mutate(table, exact = dplyr::sql("cast(w * 3 as decimal(20, 8))"),
                       big = dplyr::sql("cast(i as bigint)"), small = dplyr::sql("cast(w as float)"),
                       at = dplyr::sql("cast('2021-01-01 00:00:01' as timestamp)"))
whole <- as.data.frame(sparklyr::collect(table))

plan <- gbt:::share_plan(table, 3L)
view <- "gbt_view"
texts <- gbt:::rows_as_text(table, plan, view)
parts <- as.data.frame(sparklyr::collect(texts))$gbt_text
rank_of <- vapply(parts, function(text) (gbt:::fields_of_text(text, plan$kinds)$rows[[1L]] * plan$size) %/% n, 0)
shares <- lapply(split(parts, rank_of), gbt:::read_share, plan)
check("rows come to the ranks as collect() has them", {
  back <- do.call(rbind, lapply(shares, `[[`, "data"))
  all(vapply(names(whole), function(name) {
    same <- identical(c(unclass(back[[name]])), c(unclass(whole[[name]])))
    if (!same) cat("       ", name, "differs:", format(c(unclass(back[[name]]))[1:2], digits = 17),
                   format(c(unclass(whole[[name]]))[1:2], digits = 17), "\n")
    same
  }, NA))
})
gbt:::drop_view(sc, view)

ranks <- gbt_spark(sc)
print(ranks)
train <- function(..., threads = 1) gbt_train(..., nrounds = 20, seed = 3, threads = threads)
same("numbers, texts, dates", train(y ~ . - class - two, table, ranks = ranks), train(y ~ . - class - two, whole))
same("weights, classes, held column",
     train(class ~ a + i + l + t + day, table, weights = w, valid = held, ranks = ranks),
     train(class ~ a + i + l + t + day, whole, weights = w, valid = held))
stops <- function(...) gbt_train(..., valid = 0.25, early_stopping_rounds = 3, seed = 1, threads = 1)
same("early stopping on a share, two classes, interaction of a formula",
     stops(two ~ I(a > 0) + log1p(w) + t, table, ranks = ranks), stops(two ~ I(a > 0) + log1p(w) + t, whole))
same("offset, subset", train(y ~ a + t, table, offset = w / 2, subset = i > 0 & !is.na(i), ranks = ranks),
     train(y ~ a + t, whole, offset = w / 2, subset = i > 0 & !is.na(i)))
few <- sparklyr::copy_to(sc, data.frame(x = 1:3, y = c(0.5, 1, 4)), "gbt_few", repartition = 7)
same("fewer rows than partitions", train(y ~ x, few, ranks = ranks),
     train(y ~ x, as.data.frame(sparklyr::collect(few))))
text <- character(0)
model <- withCallingHandlers(train(y ~ a, table, valid = 0.2, verbose = 1, ranks = ranks), message = function(m) {
  text <<- c(text, conditionMessage(m))
  invokeRestart("muffleMessage")
})
check("the first rank prints", any(grepl("valid_rmse", text)))

fails <- function(what, code, class, words) {
  e <- tryCatch(code, error = identity)
  ok <- inherits(e, class) && grepl(words, conditionMessage(e))
  check(what, ok)
  cat("      ", class(e)[[1L]], if (inherits(e, "condition")) conditionMessage(e), "\n")
}
fails("a wrong parameter", train(y ~ a, table, eta = -1, ranks = ranks), "gbt_error_argument", "eta")
fails("an error of one rank", train(y ~ a, table, ranks = ranks, callbacks = function(now) {
  if (now$round == 3 && Sys.getenv("PMI_RANK") == "2") stop("not on this rank")
  FALSE
}), "gbt_error", "rank 2 of 4: .*not on this rank")
fails("an unknown column", train(y ~ nowhere, table, ranks = ranks), "gbt_error", "nowhere")
fails("a rank is killed", train(y ~ a, table, ranks = ranks, callbacks = function(now) {
  if (now$round == 3 && Sys.getenv("PMI_RANK") == "1") tools::pskill(Sys.getpid(), tools::SIGKILL)
  FALSE
}), "gbt_error_job", "ended without a result")
fails("no such MPI library", train(y ~ a, table, ranks = gbt_spark(sc, library = "/nowhere.so")), "gbt_error",
      "nowhere")
fails("a table as `valid`", train(y ~ a, table, valid = few, ranks = ranks), "gbt_error_unsupported", "valid")
fails("a column of another type", train(y ~ a, dplyr::mutate(table, v = dplyr::sql("array(1, 2)")), ranks = ranks),
      "gbt_error_unsupported", "`v`")
fails("cross-validation", gbt_cv(y ~ a, table, ranks = ranks), "gbt_error_unsupported", "gbt_train")
fails("a rank that hangs", train(y ~ a, table, ranks = gbt_spark(sc, timeout = 5), callbacks = function(now) {
  if (now$round == 1 && Sys.getenv("PMI_RANK") == "1") Sys.sleep(60)
  FALSE
}), "gbt_error", "has waited 5 seconds")
late <- gbt_spark(sc, timeout = 5)
late$mpiexec <- tempfile()
writeLines(c("#!/bin/sh", "f=$(mktemp -u); mkfifo $f",
             "sed -u 's#^HYDRA_LAUNCH: .*--proxy-id 1 *$#HYDRA_LAUNCH: /bin/true#' <$f &",
             paste(ranks$mpiexec, "\"$@\" >$f 2>&1 & p=$!; rm $f; trap 'kill -9 $p; exit 1' TERM; wait $p")),
           late$mpiexec)
Sys.chmod(late$mpiexec, "0700")
fails("a rank that does not come", train(y ~ a, table, ranks = late), "gbt_error_job", "not connected within 5 seconds")
own_version <- gbt:::own_version
utils::assignInNamespace("own_version", function() "0.0.1", "gbt")
fails("another version on the executors", train(y ~ a, table, ranks = ranks), "gbt_error_job", "the session has 0.0.1")
utils::assignInNamespace("own_version", own_version, "gbt")

session <- Sys.getpid()
stopped <- tryCatch(gbt_train(y ~ a, table, nrounds = 100000, threads = 1, ranks = ranks, callbacks = function(now) {
  if (now$round == 5 && Sys.getenv("PMI_RANK") == "0") tools::pskill(session, tools::SIGINT)
  FALSE
}), interrupt = identity)
check("Ctrl-C ends the ranks, with the rounds so far",
      inherits(stopped, "gbt_interrupt") && inherits(stopped$model, "gbt") && stopped$model$nrounds >= 5)
tracker <- sparklyr::invoke(sparklyr::spark_context(sc), "statusTracker")
check("and no job of Spark is left", length(unlist(sparklyr::invoke(tracker, "getActiveJobIds"))) == 0L)
same("the connection can be used again", train(y ~ a, table, ranks = ranks), train(y ~ a, whole))

sparklyr::spark_disconnect(sc)
cat(if (bad) sprintf("%d FAILED\n", bad) else "all right\n")
quit(status = if (bad) 1 else 0)
