# Ranks in tasks of Spark, as far as they need no Spark: rows on their way, what is refused, and whole trainings whose
# tasks are forks. tests/robust/ranks/spark.R has runs with Spark.

rows <- data.frame(
  i = c(3L, NA, -7L, 0L, .Machine$integer.max, -1L), d = c(0.1, NA, NaN, -Inf, 4.9406564584124654e-324, -0),
  l = c(TRUE, NA, FALSE, FALSE, TRUE, TRUE), t = c("a\tb\\t", NA, "\\N", "", "caf\u00e9\nx", "NA"),
  day = as.Date(c(0, NA, -719162, 18262, 1, 2), origin = "1970-01-01"),
  at = as.POSIXct(c(1.25, NA, -1e9, 0, 1, 2), origin = "1970-01-01", tz = "UTC"), stringsAsFactors = FALSE
)
types <- c(i = "IntegerType", d = "DoubleType", l = "BooleanType", t = "StringType", day = "DateType",
           at = "TimestampType")

# The texts that Spark makes of rows: by rank a list of texts, whose lines have any order.
as_spark <- function(rows, plan) {
  field <- function(v) {
    text <- if (is.character(v)) gsub("\n", "\\n", gsub("\t", "\\t", gsub("\\", "\\e", v, fixed = TRUE), fixed = TRUE),
                                      fixed = TRUE) else
      if (is.double(v)) sub("^inf", "Infinity", sub("^-inf", "-Infinity", sprintf("%a", v))) else
        as.character(as.integer(v))
    ifelse(is.na(v) & !is.nan(v), "\\N", text)
  }
  number <- seq_len(nrow(rows)) - 1
  plain <- lapply(rows, function(v) if (inherits(v, "Date")) as.integer(v) else if (is.factor(v)) as.character(v) else
    if (inherits(v, "POSIXct")) as.double(v) else v)
  line <- do.call(paste, c(unname(lapply(plain, field)), list(number, sep = "\t")))
  lapply(split(rev(line), rev((number * plan$size) %/% plan$n)), function(lines) {
    unname(vapply(split(lines, seq_along(lines) %/% plan$chunk), paste, "", collapse = "\n"))
  })
}
plan_of <- function(rows, types, size, chunk = 4) {
  c(spark_fields(types), list(n = as.double(nrow(rows)), size = size, chunk = chunk))
}

test_that("rows come through Spark as they are", {
  for (size in 1:6) {
    plan <- plan_of(rows, types, size)
    shares <- lapply(unname(as_spark(rows, plan)), read_share, plan)
    expect_identical(vapply(shares, `[[`, 0L, "rank"), seq_len(size) - 1L)
    data <- lapply(shares, `[[`, "data")
    for (name in names(rows)) {
      back <- do.call(c, lapply(data, `[[`, name))
      expect_identical(as.vector(back), as.vector(rows[[name]]))
      expect_identical(class(data[[1]][[name]]), class(rows[[name]]))
      expect_identical(lapply(data, row.names), lapply(data, function(d) as.character(seq_len(nrow(d)))))
    }
    back <- do.call(c, lapply(data, `[[`, "d"))
    expect_identical(is.nan(back), is.nan(rows$d))
    expect_identical(1 / back[6], -Inf)
  }
})

test_that("doubles are exact in hexadecimal", {
  set.seed(1)
  v <- c(rnorm(2000) * 10^runif(2000, -320, 308), 2^(-1074:-1000), 1 / 3, .Machine$double.xmax)
  expect_identical(value_of_field(sprintf("%a", v), "double"), v)
  java <- c("0x1.999999999999ap-4", "0x0.0000000000001p-1022", "-0x0.0p0", "0x1.fffffffffffffp1023", "NaN", "Infinity",
            "-Infinity", "0x0.fffffffffffffp-1022", "0x1.0p0") # as Java's %a writes them
  expect_identical(value_of_field(java, "double"),
                   c(0.1, 2^-1074, -0, .Machine$double.xmax, NaN, Inf, -Inf, 2^-1022 - 2^-1074, 1))
})

test_that("a task refuses rows that are not those of one rank", {
  plan <- plan_of(rows, types, 2L, chunk = 2)
  parts <- as_spark(rows, plan)
  expect_error(read_share(unlist(parts), plan), "it has 6 rows that are not those of one rank",
               class = "gbt_error_data")
  expect_error(read_share(parts[[2]][1], plan), "not those of one rank", class = "gbt_error_data")
  expect_error(read_share("1\t2\t3", plan), "a row has not come whole", class = "gbt_error_data")
})

test_that("columns become expressions of Spark by their type", {
  fields <- spark_fields(c("a`b" = "DecimalType(10,2)", n = "LongType", t = "VarcharType(3)"))
  expect_identical(fields$kinds, c("a`b" = "double", n = "double", t = "text"))
  expect_match(fields$sql[1], "if(`a``b` is null, concat(char(92), 'N'), format_string('%a', cast(`a``b` as double)))",
               fixed = TRUE)
  expect_snapshot(error = TRUE, spark_fields(c(x = "DoubleType", v = "ArrayType(DoubleType,true)")))
})

no_code <- function(model) c(code = FALSE, formula = FALSE)
and_back <- function(outcome, trusts = no_code) {
  text <- text_of_outcome(outcome)
  expect_match(text, "^[0-9a-f:]+$")
  outcome_of_text(text, trusts)
}
without_call <- function(model) {
  model$call <- model$cache <- NULL
  structure(unclass(model)[order(names(model))], class = "gbt")
}
train_iris <- function(...) gbt_train(..., data = iris, nrounds = 3, seed = 1, threads = 1)

test_that("what came of a rank is a text, and back", {
  held <- rep(c(TRUE, TRUE, FALSE), 50)
  model <- train_iris(Species ~ log(Sepal.Width) + Petal.Length, mask = held, eval_metric = "mlogloss")
  model$warned <- "something"
  model$stopped <- "time"
  warned <- list(
    structure(class = c("gbt_warning_column", "gbt_warning", "warning", "condition"),
              list(message = "a column", call = NULL, kind = "column", config = 3)),
    structure(class = c("gbt_message", "message", "condition"), list(message = "caf\u00e9\n", call = NULL))
  )
  back <- and_back(list(kind = "done", value = model, conditions = warned, seconds = 3))
  expect_equal(without_call(back$value), without_call(model))
  expect_identical(back$value$state, model$state)
  expect_identical(back[c("kind", "conditions")], list(kind = "done", conditions = warned))
  expect_identical(and_back(list(kind = "cancelled", value = NULL, conditions = list())),
                   list(kind = "cancelled", value = NULL, conditions = list()))
  regression <- train_iris(Sepal.Length ~ ., mask = held)
  expect_equal(without_call(and_back(list(kind = "cancelled", value = regression, conditions = list()))$value),
               without_call(regression))

  cause <- structure(class = c("my_error", "error", "condition"),
                     list(message = "it fails", call = NULL, at = 1:3, note = list(a = "x", b = NULL),
                          no = globalenv()))
  error <- own_error(cause, "callbacks")
  error$model <- model
  back <- and_back(list(kind = "failed", error = portable_error(error), conditions = list()))$error
  expect_s3_class(back, c("my_error", "gbt_error_callback", "gbt_error", "error", "condition"), exact = TRUE)
  expect_identical(back[c("message", "parameter", "at", "note")],
                   list(message = "it fails", parameter = "callbacks", at = 1:3, note = list(a = "x", b = NULL)))
  expect_identical(class(back$error), class(cause))
  expect_equal(without_call(back$model), without_call(model))
})

test_that("of a model from Spark only the code of the formula that was sent is run", {
  k <- 2
  assign("double_it", function(x, by = 1) x * 2 * by, globalenv())
  on.exit(rm("double_it", envir = globalenv()))
  formula <- Sepal.Length ~ double_it(Sepal.Width, by = k) + log(Petal.Width)
  model <- train_iris(formula)
  outcome <- list(kind = "done", value = model, conditions = list())
  back <- and_back(outcome, code_of_formula(formula, names(iris)))$value
  expect_identical(back$state, model$state)
  expect_identical(predict(back, iris), predict(model, iris))
  for (other in list(Sepal.Length ~ double_it(Sepal.Width, by = 3), Sepal.Length ~ double_it(Petal.Width, by = k),
                     Sepal.Length ~ log(Petal.Width), Sepal.Length ~ identity(double_it(Sepal.Width, by = 2)))) {
    expect_error(and_back(outcome, code_of_formula(other, names(iris))), "not a result of this training",
                 class = "gbt_error_format")
  }
  trusts <- code_of_formula(Sepal.Length ~ double_it(Sepal.Width, by = k) + stats::dnorm(Petal.Width, sd = 2),
                            names(iris))
  code <- function(text) trusts(list(terms = list(code = text)))[["code"]]
  expect_true(code("double_it(Sepal.Width, by = 2)"))
  expect_true(code("stats::dnorm(Petal.Width, mean = c(1, 2))")) # as a package's basis with its knots
  for (other in c("double_it(Sepal.Width)", "double_it(Sepal.Width, by = 3)", "double_it(Sepal.Width, x = 3)",
                  "dnorm(Petal.Width, sd = 2)", "stats::dnorm(Petal.Width, sd = k)")) expect_false(code(other))
  calls <- list(quote(f(a, df = 3)), quote(sapply(a, g)))
  same <- function(e) is_call_of(e, calls)
  expect_true(same(quote(f(a, knots = c(`50%` = 1.5, -2), Boundary.knots = c(0, 1), intercept = FALSE))))
  for (e in expression(f(b, df = 3), f(a, 3), f(a, df = "system"), f(a, df = c(system("x"))), sapply(a, FUN = "system"),
                       sapply(a, system), sapply(a), f(), f)) {
    expect_identical(same(e), identical(e, quote(sapply(a))), info = deparse(e))
  }
})

test_that("bytes of others in place of an outcome are refused, and nothing in them is run", {
  refused <- function(text) {
    expect_error(outcome_of_text(text, no_code), "not a result of this training", class = "gbt_error_format")
  }
  model <- train_iris(Species ~ .)
  bomb <- serialize(quote(stop("code was run")), NULL)
  values <- list(value = list(stopped = NULL, warned = NULL, masked_out = NULL), partial = NULL, kind = "done",
                 conditions = list(), error = NULL)
  text <- function(change = list(), bytes = list(model$state)) {
    values[names(change)] <- change
    paste(vapply(c(list(values_bytes(values)), bytes), digits_of_bytes, ""), collapse = ":")
  }
  expect_identical(outcome_of_text(text(), no_code)$value$state, model$state)
  for (bad in c("", ":", "zz", "abc", "00", digits_of_bytes(bomb), "\u00e9", substr(text(), 1, 100))) refused(bad)
  refused(text(bytes = list(bomb)))
  refused(text(bytes = list()))
  refused(text(bytes = list(model$state, model$state)))
  refused(text(list(kind = "gone")))
  refused(text(list(kind = "failed")))
  refused(text(list(error = list(class = c("error", "condition"), message = "x", fields = list(), error = NULL))))
  refused(text(list(value = list(NULL))))
  session <- function(...) text(list(value = utils::modifyList(values$value, list(...), keep.null = TRUE)))
  refused(session(stopped = "never"))
  refused(session(warned = 3))
  refused(session(masked_out = "text"))
  refused(session(masked_out = list(values = 1:3 + 0, size = c(2, 2), names = NULL)))
  refused(session(masked_out = list(values = c(1, 2), size = 1:2, names = "a")))
  refused(text(list(value = c(values$value, list(call = "q()")))))
  for (class in list("warning", c("data.frame", "condition"), 3, c("error", "condition"))) {
    refused(text(list(conditions = list(list(class = class, message = "x", fields = list(), error = NULL)))))
  }
  refused(text(list(conditions = list(list(class = c("message", "condition"), message = 3, fields = list(),
                                           error = NULL)))))
  fields <- list(message = "y", call = "q()", calls = "q()", model = list(nrounds = 1), error = "q()", at = 3)
  failed <- list(class = c("error", "condition"), message = "x", fields = fields, error = NULL)
  error <- outcome_of_text(text(list(kind = "failed", error = failed)), no_code)$error
  expect_identical(unclass(error), list(message = "x", call = NULL, at = 3))
  set.seed(1)
  bytes <- values_bytes(values)
  for (i in 1:60) { # damaged values and models are an error of this class, or do not matter
    change <- function(bytes) {
      at <- sample(length(bytes), 2)
      bytes[at] <- as.raw(sample(0:255, 2))
      digits_of_bytes(bytes)
    }
    parts <- if (i %% 2L) c(change(bytes), digits_of_bytes(model$state)) else
      c(digits_of_bytes(bytes), change(model$state))
    out <- tryCatch(outcome_of_text(paste(parts, collapse = ":"), no_code), gbt_error_format = identity)
    expect_true(inherits(out, "gbt_error_format") || is_model(out$value))
  }
})

# The value of code with other functions of gbt's.
with_functions <- function(others, code) {
  replace <- function(with) for (name in names(with)) utils::assignInNamespace(name, with[[name]], "gbt")
  real <- mget(names(others), envir = asNamespace("gbt"))
  on.exit(replace(real))
  replace(others)
  code
}

connection <- function(...) structure(list(), class = c("spark_connection", ...))

test_that("what Spark's ranks do not take is refused in words", {
  expect_snapshot(error = TRUE, {
    gbt_spark(3)
    gbt_spark(connection())
    gbt_spark(connection("spark_shell_connection"), timeout = -1)
  })
  table <- structure(list(), class = "tbl_spark")
  others <- list(need_package = function(...) NULL, find_hydra = function(...) "mpiexec",
                 spark_slots = function(sc) 2L)
  with_functions(others, {
    ranks <- gbt_spark(connection("spark_shell_connection"))
    expect_output(print(ranks), "up to 2 ranks, in tasks of Spark")
    expect_snapshot(error = TRUE, {
      gbt_train(mpg ~ wt, mtcars, nrounds = 2, ranks = ranks)
      gbt_train(table, mtcars$mpg, nrounds = 2, ranks = ranks)
      gbt_train(mpg ~ wt, table, valid = table, nrounds = 2, ranks = ranks)
      gbt_cv(mpg ~ wt, table, nrounds = 2, ranks = ranks)
    })
  })
  asked <- list(sdf_schema = function(x) list(list(name = "wt", type = "DoubleType")), sdf_nrow = function(x) 0,
                sdf_num_partitions = function(x) 3L)
  with_functions(c(others, list(from_sparklyr = function(name) asked[[name]])), {
    expect_error(gbt_train(mpg ~ wt, table, nrounds = 2, ranks = ranks), "has no rows", class = "gbt_error_data")
  })
})

test_that("without sparklyr a message says what to install", {
  skip_if(nzchar(system.file(package = "sparklyr")), "sparklyr is installed")
  expect_snapshot(error = TRUE, gbt_spark(connection("spark_shell_connection")))
})

# A Spark whose tasks are forks of this process. keep: of the ranks those whose task has rows.
with_forks <- function(data, types, code, size = 2L, keep = seq_len(size), others = list()) {
  start <- function(rows, task) {
    open <- lapply(rows, function(texts) {
      parallel::mcparallel(task(data.frame(gbt_text = texts, stringsAsFactors = FALSE)), silent = TRUE)
    })
    list2env(list(got = vector("list", length(open)), open = open))
  }
  look <- function(job) {
    for (i in which(lengths(job$open) > 0L)) {
      got <- parallel::mccollect(job$open[[i]], wait = FALSE, timeout = 0)
      if (!is.null(got)) {
        job$got[[i]] <- as.list(got[[1L]])
        job$open[i] <- list(NULL)
      }
    }
    all(lengths(job$open) == 0L)
  }
  call <- function(object, method, at) {
    switch(method, get = if (is.list(object)) object[[at + 1L]] else object$got, size = length(object),
           cancel = for (one in object$open) tools::pskill(one$pid), isDone = look(object))
  }
  with_functions(c(list(
    need_package = function(...) NULL, spark_slots = function(sc) size, spark_number = function(...) 1L,
    share_plan = function(table, slots) plan_of(data, types, slots, 300), drop_view = function(...) NULL,
    rows_as_text = function(table, shares, view) as_spark(data, shares)[keep], start_spark_job = start,
    call_spark = call
  ), others), code)
}

test_that("tasks that Spark would run train the model of one process", {
  skip_on_cran()
  skip_if(.Platform$OS.type == "windows", "ranks of Spark need a Unix")
  skip_if(!nzchar(tryCatch(find_hydra(), gbt_error_unsupported = function(e) "")), "there is no mpiexec of MPICH")
  set.seed(1)
  data <- data.frame(a = rnorm(900), t = sample(c(letters, NA), 900, TRUE), w = runif(900, 0.5, 1.5),
                     held = runif(900) < 0.2, stringsAsFactors = FALSE)
  data$y <- data$a + rnorm(900)
  data$class <- c("low", "mid", "high")[1 + (data$y > 0) + (data$y > 1)]
  types <- c(a = "DoubleType", t = "StringType", w = "DoubleType", held = "BooleanType", y = "DoubleType",
             class = "StringType")
  assign("own_term", function(x) x + (x > 0), globalenv())
  withr::defer(rm("own_term", envir = globalenv()))
  table <- structure(list(), class = "tbl_spark")
  ranks <- with_forks(data, types, gbt_spark(connection("spark_shell_connection")))
  train <- function(...) gbt_train(..., nrounds = 8, seed = 2, threads = 1)
  k <- 2
  formula <- class ~ own_term(a * k) + t
  here <- with_forks(data, types, train(formula, table, weights = w, valid = held, ranks = ranks))
  whole <- train(formula, data, weights = w, valid = held)
  here$provenance <- whole$provenance <- NULL
  expect_equal(without_call(here), without_call(whole))
  expect_message(here <- with_forks(data, types, train(y ~ a + t, table, valid = 0.2, verbose = 1, ranks = ranks)),
                 "valid_rmse")
  expect_identical(here$state, train(y ~ a + t, data, valid = 0.2)$state)

  expect_error(with_forks(data, types, train(y ~ a, table, eta = -1, ranks = ranks)), "`eta`",
               class = "gbt_error_argument")
  expect_error(with_forks(data, types, train(y ~ a, table, ranks = ranks, callbacks = function(now) {
    if (now$round == 3 && Sys.getenv("PMI_RANK") == "1") stop("not on this rank")
    FALSE
  })), "rank 1 of 2: .*not on this rank")
  expect_error(with_forks(data, types, train(y ~ a, table, ranks = ranks, callbacks = function(now) {
    if (now$round == 3 && Sys.getenv("PMI_RANK") == "1") tools::pskill(Sys.getpid(), tools::SIGKILL)
    FALSE
  })), "ended without a result", class = "gbt_error_job")

  session <- Sys.getpid()
  stopped <- tryCatch(with_forks(data, types, gbt_train(
    y ~ a, table, nrounds = 100000, threads = 1, ranks = ranks, callbacks = function(now) {
      if (now$round == 3 && Sys.getenv("PMI_RANK") == "0") tools::pskill(session, tools::SIGINT)
      FALSE
    })), interrupt = identity)
  expect_s3_class(stopped, "gbt_interrupt")
  expect_gte(stopped$model$nrounds, 3)

  few <- ranks
  few$timeout <- 1
  expect_error(with_forks(data, types, train(y ~ a, table, ranks = few), keep = 2L), "have not connected within 1 sec",
               class = "gbt_error_job")
  old <- work_for_spark
  other <- list(work_for_spark = function(...) utils::modifyList(old(...), list(version = "0.0.1")))
  expect_error(with_forks(data, types, train(y ~ a, table, ranks = ranks), others = other),
               "is installed, but the session has 0.0.1", class = "gbt_error_job")
  expect_identical(list.files(tempdir(), "^gbt-job-"), character(0))
})
