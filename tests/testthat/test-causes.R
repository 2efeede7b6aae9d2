# Competing risks: a factor as status, `cause`.

# As survival::Surv() makes it of a factor as status; start: entry times.
surv <- function(time, status, start = NULL) {
  m <- cbind(start = start, time = time, status = as.numeric(status) - 1)
  structure(m, type = if (is.null(start)) "mright" else "mcounting", states = levels(status)[-1L], class = "Surv")
}

of_one <- function(time, event, start = NULL) {
  structure(cbind(start = start, time = time, status = as.numeric(event)), class = "Surv",
            type = if (is.null(start)) "right" else "counting")
}

made <- function(n = 200) {
  i <- seq_len(n)
  d <- data.frame(a = sin(i), b = cos(i * 2.7))
  d$time <- round(-log((i * 0.6180339887) %% 1) / exp(d$a), 2) + 0.01
  d$status <- factor(c("none", "relapse", "death", "relapse")[i %% 4 + 1L], c("none", "relapse", "death"))
  d
}

train <- function(d, y = surv(d$time, d$status), ..., nrounds = 3) {
  gbt_train(d[c("a", "b")], y, ..., nrounds = nrounds, threads = 1)
}

test_that("the hazard of a cause is that of its events, with all others censored", {
  d <- made()
  link <- function(m) predict(m, d, type = "link", threads = 1)
  for (cause in c("relapse", "death")) {
    m <- train(d, cause = cause)
    other <- train(d, of_one(d$time, d$status == cause))
    expect_identical(link(m), link(other))
    expect_identical(m$baseline, other$baseline)
    expect_identical(m$params$cause, cause)
    late <- d$time * 0.2
    expect_identical(link(train(d, surv(d$time, d$status, late), cause = cause)),
                     link(train(d, of_one(d$time, d$status == cause, late))))
    y <- surv(d$time, d$status)
    judged <- function(m, y) gbt_evaluate(m, d, y, threads = 1)$estimate
    expect_identical(judged(m, y), judged(other, of_one(d$time, d$status == cause)))
  }
  Surv <- surv
  f <- gbt_train(Surv(time, status) ~ a + b, d, cause = "death", nrounds = 3, threads = 1)
  expect_identical(link(gbt_refit(f)), link(f))
  file <- tempfile()
  on.exit(unlink(file))
  gbt_save(m, file)
  again <- gbt_load(file)
  expect_identical(again$params$cause, "death")
  expect_identical(link(gbt_refit(again, x = d[c("a", "b")], y = y)), link(m))
  more <- train(d, init_model = m)
  expect_identical(more$params$cause, "death")
  cv <- gbt_cv(Surv(time, status) ~ a + b, d, cause = "death", folds = 2, nrounds = 2, seed = 1, threads = 1)
  other <- gbt_cv(d[c("a", "b")], of_one(d$time, d$status == "death"), folds = 2, nrounds = 2, seed = 1, threads = 1)
  expect_identical(cv$fold_log, other$fold_log)
  one <- droplevels(subset(d, status != "death"))
  expect_identical(link(train(one)), link(train(one, cause = "relapse"))) # one cause needs no name
})

test_that("causes that do not fit are refused", {
  d <- made(40)
  m <- train(d, cause = "death")
  broken <- surv(d$time, d$status)
  attr(broken, "states") <- "relapse"
  expect_snapshot(error = TRUE, {
    train(d)
    train(d, cause = "deaht")
    train(d, cause = 2)
    train(d, of_one(d$time, d$status == "death"), cause = "death")
    gbt_train(d["a"], d$b, cause = "death", nrounds = 1)
    train(d, objective = "aft")
    train(d, broken, cause = "relapse")
    train(d, surv(d$time, factor(replace(d$status, d$status == "death", "none"), levels(d$status))), cause = "death")
    gbt_evaluate(m, d, of_one(d$time, d$status == "death"), threads = 1)
    train(d, init_model = m, cause = "relapse")
  })
})
