# Ranks on the workers of a cluster: processes of their own, which MPICH's mpiexec connects.

skip_on_cran()
skip_if(.Platform$OS.type == "windows", "ranks of a cluster need a Unix")
hydra <- tryCatch(find_hydra(), gbt_error_unsupported = function(e) "")
skip_if(!nzchar(hydra), "there is no mpiexec of MPICH")
cluster <- socket_workers(2)
withr::defer(parallel::stopCluster(cluster), teardown_env())
ranks <- gbt_ranks(cluster)

set.seed(1)
rows <- data.frame(a = rnorm(900), f = factor(sample(letters, 900, TRUE)), b = round(runif(900), 2),
                   w = runif(900, 0.5, 1.5))
rows$b[c(5, 700)] <- NA
rows$y <- rows$a + as.integer(rows$f) / 10 + rnorm(900)
rows$class <- factor(c("low", "mid", "high")[1 + (rows$y > 1) + (rows$y > 2)])
train <- function(...) gbt_train(..., nrounds = 8, threads = 1)
expect_same_model <- function(a, b) {
  expect_identical(a$state, b$state)
  a$call <- b$call <- a$provenance <- b$provenance <- NULL
  expect_equal(a, b)
}

test_that("ranks of a cluster give the model of one process", {
  expect_output(print(ranks), "2 ranks, on the workers of a cluster")
  expect_same_model(train(y ~ a + f + b, rows, weights = w, ranks = ranks), train(y ~ a + f + b, rows, weights = w))
  offsets <- rows$a / 2
  held <- rows$b > 0.8 & !is.na(rows$b)
  expect_same_model(train(class ~ a + f + b, rows, subset = a > -1, valid = held, ranks = ranks),
                    train(class ~ a + f + b, rows, subset = a > -1, valid = held))
  expect_same_model(train(rows[1:3], rows$y, offset = offsets, valid = list(late = list(x = rows[1:3], y = rows$y,
                                                                                       offset = offsets)),
                          ranks = ranks),
                    train(rows[1:3], rows$y, offset = offsets, valid = list(late = list(x = rows[1:3], y = rows$y,
                                                                                       offset = offsets))))
  x <- as.matrix(rows[c("a", "b")])
  expect_same_model(train(x, rows$class, valid = 0.2, early_stopping_rounds = 3, seed = 3, ranks = ranks),
                    train(x, rows$class, valid = 0.2, early_stopping_rounds = 3, seed = 3))
})

test_that("the rows of a query go to one rank", {
  rows$q <- factor(rep(c("one", "two", "three"), c(100, 700, 100)))
  rows$grade <- as.integer(rows$class) - 1
  late <- rows[seq(2, 900, 3), ]
  rank <- function(...) train(grade ~ a + b, rows, group = q, valid = late, early_stopping_rounds = 2, ...)
  expect_same_model(rank(objective = "rank_ndcg", ranks = ranks), rank(objective = "rank_ndcg"))
  its <- split_arguments(list(x = rows, group = rows$q, valid = list(x = late, y = late$grade, group = late$q)), 900, 3,
                         rows$q)
  expect_identical(lapply(its$shares, function(share) as.character(unique(share$group))),
                   list(c("one", "two"), character(0), "three"))
  expect_identical(lapply(its$shares, function(share) length(share$valid$y)), list(267L, 0L, 33L))
})

test_that("a function makes the rows of a rank where it runs", {
  part <- function(rank, size) rows[rank * 450L + 1:450, ]
  expect_same_model(train(y ~ a + f, part, weights = w, ranks = ranks), train(y ~ a + f, rows, weights = w))
  folder <- withr::local_tempdir()
  for (r in 0:1) utils::write.csv(part(r, 2)[c("a", "b", "y")], file.path(folder, paste0(r, ".csv")), row.names = FALSE)
  files <- train(y ~ a + b, function(rank, size) gbt_files(file.path(folder, paste0(rank, ".csv"))), ranks = ranks)
  whole <- train(y ~ a + b, gbt_files(file.path(folder, paste0(0:1, ".csv"))))
  expect_identical(files$state, whole$state)
  expect_error(train(y ~ a, function(rank, size) if (rank == 1) stop("no file here") else rows, ranks = ranks),
               "rank 1 of 2: no file here")
})

test_that("a cluster may be of a class whose parts are no clusters, as mirai's are", {
  registerS3method("[", "gbt_plain_cluster", function(x, ...) .subset(x, ...))
  plain <- structure(unclass(cluster), class = c("gbt_plain_cluster", "cluster"))
  expect_same_model(train(class ~ a, rows, mask = a > -1, ranks = gbt_ranks(plain)),
                    train(class ~ a, rows, mask = a > -1))
})

test_that("messages, warnings and errors are those of the ranks", {
  expect_message(gbt_train(y ~ a, rows, nrounds = 3, eval_train = TRUE, verbose = 1, threads = 1, ranks = ranks),
                 "train_rmse")
  bad <- rows
  bad$y[800] <- NA
  expect_error(train(y ~ a, bad, ranks = ranks), "rank 1 of 2: the response has 1 missing value",
               class = "gbt_error_data")
  expect_error(train(y ~ a, rows, learning_speed = 2, ranks = ranks), class = "gbt_error_argument")
  expect_error(train(y ~ a, rows, ranks = ranks, callbacks = function(now) {
    if (now$round == 3) stop("the callback fails here")
    FALSE
  }), "the callback fails here")
  expect_same_model(train(y ~ a, rows, mask = b < 0.5 | is.na(b), ranks = ranks), # the workers can be used again
                    train(y ~ a, rows, mask = b < 0.5 | is.na(b)))
})

test_that("Ctrl-C on a rank or in the session ends all, with the rounds so far", {
  stops <- function(rank, who) {
    force(c(rank, who))
    function(now) {
      if (now$round == 3 && Sys.getenv("PMI_RANK") == rank) {
        tools::pskill(if (is.na(who)) Sys.getpid() else who, tools::SIGINT)
      }
      FALSE
    }
  }
  for (callback in list(stops("1", NA), stops("0", Sys.getpid()))) {
    stopped <- tryCatch(gbt_train(y ~ a, rows, nrounds = 100000, threads = 1, ranks = ranks, callbacks = callback),
                        interrupt = identity)
    expect_s3_class(stopped, "gbt_interrupt")
    expect_s3_class(stopped$model, "gbt")
    expect_gte(stopped$model$nrounds, 3)
    expect_identical(gbt_last_interrupted()$state, stopped$model$state)
  }
})

test_that("a rank that is killed, or does not come, is an error, and nothing is left", {
  expect_error(train(y ~ a, rows, ranks = ranks, callbacks = function(now) {
    if (now$round == 3) tools::pskill(Sys.getpid(), tools::SIGKILL)
    FALSE
  }), "the ranks ended without a result", class = "gbt_error_job")
  few <- gbt_ranks(cluster, timeout = 1)
  few$mpiexec <- withr::local_tempfile(lines = c("#!/bin/sh", rep("echo HYDRA_LAUNCH: /bin/true", 2),
                                                 "echo HYDRA_LAUNCH_END", "exec sleep 300")) # starts no ranks
  Sys.chmod(few$mpiexec, "0700")
  expect_error(train(y ~ a, rows, ranks = few), "have not connected within 1 seconds", class = "gbt_error_job")
  few$mpiexec <- "/bin/false"
  expect_error(train(y ~ a, rows, ranks = few), "mpiexec does not start the ranks", class = "gbt_error_job")
  left <- function() list.files(tempdir(), "^gbt-job-")
  expect_identical(left(), character(0))
  expect_identical(unlist(parallel::clusterCall(cluster, left)), character(0))
})

test_that("other uses of a cluster are refused in words", {
  expect_snapshot(error = TRUE, {
    gbt_ranks(3)
    gbt_ranks(cluster, comm = 1)
    gbt_cv(mpg ~ ., mtcars, nrounds = 2, ranks = ranks)
    gbt_train(gbt_data(mtcars[-1], mtcars$mpg), nrounds = 2, ranks = ranks)
  })
  file <- withr::local_tempfile(lines = "y,a", fileext = ".csv")
  expect_error(gbt_train(y ~ ., gbt_files(file), nrounds = 2, ranks = ranks),
               "a function that makes the part of a rank", class = "gbt_error_unsupported")
})
