# Model files that would like to run code, to take all memory or to take for ever.

rows <- data.frame(a = c(0.5, 0.1, 0.9, 0.4, 0.7), s = letters[1:5], t = as.POSIXct("2024-01-01", "UTC") + 1:5,
                   y = c(1, 2, 3, 4, 5), stringsAsFactors = FALSE)
model <- gbt_train(y ~ log(a), rows, nrounds = 2, threads = 1)

# A file of that model with other fields. Its checksums are right.
craft <- function(..., file = withr::local_tempfile(fileext = ".gbt", .local_envir = parent.frame())) {
  fields <- stats::setNames(lapply(meta_fields, function(name) model[[name]]), meta_fields)
  given <- list(...)
  fields[names(given)] <- given
  raw <- .Call(C_gbt_model_slice, model$state, c(0, as.double(model$nrounds)), model_meta(fields))
  writeBin(raw, file)
  file
}
design <- function(text, ...) list(features = stats::setNames(text, "log(a)"), offset = NULL, ...)

canary <- file.path(withr::local_tempdir(.local_envir = testthat::teardown_env()), "canary")

# Everything that one does with a model; whatever happens, nothing may be written.
use <- function(file, trust = FALSE) {
  tryCatch({
    m <- gbt_load(file, trust = trust)
    utils::capture.output(print(m), print(summary(m)), str(m), print(formula(m)))
    m[1]
    predict(m, rows)
    "predicted"
  }, error = identity)
}

expect_refused <- function(text, file = craft(terms = design(gsub("CANARY", canary, text, fixed = TRUE)))) {
  withr::defer(unlink(file))
  for (trust in c(FALSE, TRUE)) {
    got <- use(file, trust)
    expect_true(inherits(got, "gbt_error"), label = sprintf("%s is refused", substr(text, 1L, 100L)))
  }
  expect_false(file.exists(canary), label = sprintf("%s has run", substr(text, 1L, 100L)))
}

test_that("terms out of a file that would be code are refused", {
  write <- "file.create('CANARY')"
  bibentry <- paste0(
    "structure(list(structure(list(title = 'x \\\\Sexpr{", "file.create(\"CANARY\")",
    "}', author = structure(list(list(",
    "given = 'a', family = 'b', role = NULL, email = NULL, comment = NULL)), class = 'person'), year = '2020', ",
    "note = 'n'), bibtype = 'Misc')), class = 'bibentry')"
  )
  texts <- c(
    # methods that a class brings with it
    sprintf("log(a) + 0 * nchar(format(%s))[1]", bibentry),
    sprintf("log(a) + 0 * nchar(format(%s, 'text'))[1]", bibentry),
    sprintf("log(a) + 0 * nchar(format(%s, 'html'))[1]", bibentry),
    sprintf("log(a) + 0 * nchar(format(%s, 'R'))[1]", bibentry),
    sprintf("log(a) + 0 * nchar(format(%s, 'text', macros = 'x'))[1]", bibentry),
    sprintf("log(a) + 0 * nchar(as.character(%s))[1]", bibentry), sprintf("toupper(%s)", bibentry),
    "log(a) + 0 * length(structure(list(name = 'x', path = 'y'), class = 'DLLInfo')$foo)",
    "structure(a, class = 'Date')", "structure(list(a), class = 'data.frame')", "structure(1:5, class = 'factor')",
    "format(structure(1, class = 'roman'))", "levels(structure(a, levels = quote(x)))",
    # code by itself
    write, sprintf("base::%s", write), sprintf("log(a) + %s", write), sprintf("ifelse(a > 0, a, %s)", write),
    sprintf("ifelse(a > 9, %s, a)", write), sprintf("paste(a, %s)", write), sprintf("c(a, %s)", write),
    sprintf("system('touch CANARY')"), "base::system('touch CANARY')", "'system'('touch CANARY')",
    "`system`('touch CANARY')", "base:::system('touch CANARY')", "(system)('touch CANARY')",
    "(function() file.create('CANARY'))()", "(\\() file.create('CANARY'))()", "{ file.create('CANARY'); a }",
    "if (file.create('CANARY')) a else a", "for (i in 1) file.create('CANARY')", "repeat file.create('CANARY')",
    "a <- file.create('CANARY')", "a <<- file.create('CANARY')", "a |> file.create('CANARY')",
    "function(x = file.create('CANARY')) x", "~file.create('CANARY')", "quote(file.create('CANARY'))",
    # functions by name or as values
    "do.call('file.create', list('CANARY'))", "do.call(file.create, list('CANARY'))",
    "match.fun('file.create')('CANARY')",
    "get('file.create')('CANARY')", "get0('system')", "Reduce('file.create', c('CANARY', 'CANARY'))",
    "sapply('CANARY', file.create)", "lapply('CANARY', 'file.create')", "vapply('CANARY', file.create, NA)",
    "Map('file.create', 'CANARY')", "Filter(file.create, 'CANARY')", "outer('CANARY', 1, 'file.create')",
    "mapply('file.create', 'CANARY')", "tapply('CANARY', 1, file.create)", "ave('CANARY', FUN = file.create)",
    "Recall('CANARY')", "sys.function()(1)", "UseMethod('print')", "NextMethod()",
    "switch('a', a = file.create('CANARY'))",
    "eval(parse(text = 'file.create(\"CANARY\")'))", "evalq(file.create('CANARY'))", "local(file.create('CANARY'))",
    "with(list(), file.create('CANARY'))", "Vectorize('file.create')('CANARY')", "list(f = file.create)$f('CANARY')",
    "list(file.create)[[1]]('CANARY')", "c(file.create)[[1]]('CANARY')", "log(file.create)", "c(system, a)", "a(1)",
    "s('x')",
    # environments, attributes and objects
    "environment()", "globalenv()$x", "as.environment('package:base')$system('touch CANARY')", "parent.frame()",
    "sys.frames()", "attr(a, 'class')", "attr(a, 'class') <- 'x'", "`attr<-`(a, 'class', 'bibentry')",
    "`class<-`(a, 'bibentry')",
    "`levels<-`(a, 'x')", "`names<-`(a, s)", "oldClass(a)", "unclass(a)", "methods::new('numeric')", "setClass('x')",
    "a$b", "a@b", "a$system('touch CANARY')", "as.POSIXlt(t)$zone", "as.POSIXlt(t)", "as.POSIXlt(t)@hour",
    "as.POSIXlt(file.create('CANARY'))$hour", "as.POSIXlt(t)$hour$x", "a::b", "stats::a", "splines:::ns(a)", "a[[1]]$x",
    "stats::system('x')", "base::poly(a)", "c(list(a = 1))", "list(a = 1)", "I(list(alpha = 1))",
    # the outside
    "Sys.getenv('HOME')", "Sys.setenv(A = 'b')", "file('CANARY', 'w')", "writeLines('x', 'CANARY')",
    "readLines('/etc/passwd')",
    "url('http://localhost')", "source('CANARY')", "sink('CANARY')", "cat('x', file = 'CANARY')", "dput(a, 'CANARY')",
    "save(a, file = 'CANARY')", "tools::R_user_dir('x')", "library(tools)", "loadNamespace('tools')",
    "dyn.load('x.so')",
    ".Call('x')", ".Internal(inspect(a))", ".External('x')", "Sys.sleep(1e9)", "q()", "quit('no')", "stop('x')",
    "iconv(s, 'latin1', 'UTF-8')", "regmatches(s, regexpr('a', s))", "`regmatches<-`(s, regexpr('a', s), value = 'b')",
    "sprintf('%s', a)", "sprintf('%1000000000s', s)", "gsub('(a+)+b', '', s, perl = TRUE)", "regexpr('(a*)*b', s)",
    "grepl(s, s)", "strsplit(s, '')", "set.seed(1)", "runif(5)", "sample(a)", "rm(a)", "gc()", "Sys.time()", "date()",
    # strange calls of known functions
    "log(, a)", "log()", "log(a, 2, 3)", "sqrt(a, a)", "a[, 1]", "a[1, 2]", "a[[]]", "I()", "c(recursive = a)",
    "paste(a, collapse = 'x')", "paste0(s, recycle0 = TRUE)", "as.POSIXct(t, tz = '/etc/passwd')",
    "as.POSIXct(t, '../../../../../../../../dev/zero')", "format(t, tz = ':/dev/zero')", "as.Date(t, tz = '../x')",
    "strftime(t, '%9999999999Y')", "format(t, '%1000000Y')", "format(a, justify = 'x')", "format(a, width = 1e9)",
    "mean(a, trim = 0.1)", "mean(a, 1)", "rank(a, ties.method = 'random')", "rank(a, ties.method = sum)", "scale(a)",
    "poly(a, 2)", "poly(a, 2, coefs = list(alpha = 1, norm2 = 1))", "poly(a, s, raw = TRUE)", "splines::ns(a, 3)",
    "splines::bs(a, knots = s, Boundary.knots = c(0, 1))", "factor(a, levels = list(1))", "cut(t, 'day')",
    "cut(a, breaks = s)",
    "a + s", "s + 1", "t * 2", "t + t", "-s", "!s", "1i + a", "nchar(t)", "levels(a)", "a[s]", "c(a, t)", "is.nan(s)",
    # no expressions at all
    "", "log(a", "a; file.create('CANARY')", "a b", "\\", "1 +", "#", "log(a)\nfile.create('CANARY')"
  )
  for (text in texts) expect_refused(text)
  for (text in c(write, "log(a)")) { # as an offset
    file <- craft(terms = list(features = c("log(a)" = "log(a)"), offset = gsub("CANARY", canary, text, fixed = TRUE)))
    expect_identical(inherits(use(file), "gbt_error"), text == write)
    expect_false(file.exists(canary))
  }
})

test_that("what R must evaluate needs trust, and nothing makes a file look trusted", {
  call <- sprintf("{file.create('%s'); log(a)}", canary)
  marked <- craft(terms = design(call, code = call))
  expect_error(gbt_load(marked), "trust = TRUE", class = "gbt_error_format")
  expect_false(file.exists(canary))
  expect_identical(predict(gbt_load(marked, trust = TRUE), rows), predict(model, rows))
  expect_true(file.exists(canary)) # it is what it says
  unlink(canary)
  for (terms in list(design(call, trust = TRUE), design(call, code = "log(a)"), design(call, code = NA_character_),
                     design(call, code = 1), design(call, code = list(call)), design(call, evaluator = "R"),
                     c(design(call), list(code = character(0))))) {
    expect_error(predict(gbt_load(craft(terms = terms)), rows), class = "gbt_error")
    expect_false(file.exists(canary))
  }
  # A model that was read without trust stays without: slices and copies too.
  safe <- gbt_load(craft())[1]
  expect_null(safe$terms$code)
  # The same for objects of readRDS(): text that is not marked is never R's.
  changed <- model
  changed$terms$features[] <- call
  expect_error(predict(changed, rows), "calls \\{\\(\\)", class = "gbt_error_data")
  expect_false(file.exists(canary))
})

test_that("a user's own function, and columns of other classes, are R's to evaluate", {
  file <- withr::local_tempfile()
  assign("log", function(x) base::log(x) + 1, globalenv())
  withr::defer(if (exists("log", globalenv(), inherits = FALSE)) rm("log", envir = globalenv()))
  expect_null(gbt_train(y ~ log(a), rows, nrounds = 1, threads = 1)$terms$code) # written where log() is R's
  f <- stats::as.formula("y ~ log(a) + sqrt(a)", globalenv())
  m <- gbt_train(f, rows, nrounds = 2, threads = 1)
  expect_identical(m$terms$code, "log(a)")
  p <- predict(m, rows)
  gbt_save(m, file)
  expect_error(gbt_load(file), "`log(a)`", fixed = TRUE, class = "gbt_error_format")
  expect_identical(predict(gbt_load(file, trust = TRUE), rows), p)
  rm("log", envir = globalenv())
  here <- function() {
    log <- function(x) x
    gbt_train(y ~ log(a), rows, nrounds = 2, threads = 1)
  }
  expect_error(here(), "`log()` is another one where the formula was written", fixed = TRUE,
               class = "gbt_error_argument")
  T <- 3
  expect_error(gbt_train(y ~ I(a * T), rows, nrounds = 1, threads = 1), "formula's `T` is another one", fixed = TRUE,
               class = "gbt_error_argument")

  strange <- rows
  class(strange$t) <- c("my_time", class(strange$t))
  expect_identical(gbt_train(y ~ months(t) + log(a), strange, nrounds = 1, threads = 1)$terms$code, "months(t)")
  m <- gbt_train(y ~ format(t, "%S") + log(a), rows, nrounds = 1, threads = 1)
  expect_null(m$terms$code)
  expect_identical(predict(m, strange), predict(m, rows)) # counts as what it inherits from
  strange$t <- as.POSIXlt(rows$t)
  expect_identical(predict(m, strange), predict(m, rows))
  strange$a <- structure(strange$a, class = "money")
  expect_error(predict(m, strange), "column `a` is an object of class \"money\"", class = "gbt_error_data")
})

test_that("the number of values fits the rows", {
  short <- craft(terms = design("a[1:2]"))
  expect_error(predict(gbt_load(short), rows), "has 2 values for 5 rows", class = "gbt_error_data")
  expect_error(predict(gbt_load(craft(terms = design("a + c(1, 2)"))), rows), "values of 5 and 2 rows are combined",
               class = "gbt_error_data")
  expect_error(predict(gbt_load(craft(terms = design("pi"))), rows), "has 1 value for 5 rows", class = "gbt_error_data")
})

test_that("a file cannot take all memory or all time", {
  skip_on_cran()
  long <- strrep("x", 1e6)
  nested <- function(n, f = "log(", arg = "a") paste0(strrep(f, n), arg, strrep(")", n))
  texts <- c(nested(400, "0 + ("), nested(40, "(", "1:1e9"), nested(4000), nested(4000, "("),
             paste(rep("a", 150), collapse = "^"), strrep("-", 9000),
             paste0(strrep("-", 9000), "s"), paste(rep("a", 3e5), collapse = "+"), "1:1e9", "a[1:1e8]", "1:Inf",
             "cut(a, 1e9)", "cut(a, 3, dig.lab = 1e9)", "poly(a, 1e6, raw = TRUE)", "format(a, nsmall = 1e9)",
             "format(a, digits = 1e9)", "splines::bs(a, degree = 1e6, knots = 0.5, Boundary.knots = c(0, 1))",
             sprintf("c(%s)[1:5]", paste(rep("1:1000000", 50), collapse = ", ")),
             "interaction(1:5000, 1:5000, 1:5000)[1:5]", "rep(a, 1e9)", "strrep(s, 1e9)", "seq(1, 1e9)", "numeric(1e9)",
             "vector('list', 1e9)", "matrix(0, 1e5, 1e5)", "outer(1:1e5, 1:1e5)", "expand.grid(a, a)")
  used <- sum(gc(reset = TRUE)[, 6L])
  time <- system.time(for (text in every(texts, 2)) expect_refused(text))[["user.self"]]
  expect_lt(sum(gc()[, 6L]) - used, 500) # MB at the most
  expect_lt(time, 300)
  # A long text that is pasted to every row of a large table.
  file <- craft(terms = design(sprintf("nchar(paste0(s, '%s'))", long)))
  many <- rows[rep(1:5, 1000), ]
  expect_error(predict(gbt_load(file), many), "texts of more than", class = "gbt_error_data")
})

test_that("a small file cannot make much for a single row", {
  skip_on_cran()
  label <- strrep("A", 20000)
  times <- function(n, text) paste(rep(text, n), collapse = ", ")
  texts <- c(sprintf("as.numeric(factor(1:1e5, labels = '%s'))[1]", label),
             sprintf("as.numeric(ordered(1:1e5, 1:1e5, '%s'))[1]", label),
             sprintf("nchar(paste0(1:1e5, '%s'))[1]", label),
             sprintf("nchar(pmin(%s))[1]", times(20, sprintf("paste0(1:1e5, '%s')", substr(label, 1, 500)))),
             sprintf("nchar(format(c(1:99998, '%s')))[1]", label),
             sprintf("pmin(%s)[1]", times(1000, "1:1e5 + 0")), "poly(1:1e5, 100, raw = TRUE)",
             "splines::bs(1:1e5 + 0, knots = 1:100 * 900, Boundary.knots = c(1, 1e5))",
             sprintf("as.numeric(c(%s))[1]", times(500, "factor(1, levels = 1:1e5)")))
  invisible(gc(reset = TRUE))
  for (text in every(texts, 2)) {
    m <- gbt_load(craft(terms = design(text)))
    expect_error(predict(m, rows[1, ]), "of more than 268435456 bytes", class = "gbt_error_data")
  }
  expect_lt(sum(gc()[, 6L]), 1000) # MB
})

test_that("what training makes of many rows is made of few and of more", {
  n <- 150000L
  many <- data.frame(f = factor(seq_len(n) %% 2000L), g = factor(seq_len(n) %% 75L), a = as.double(seq_len(n)),
                     s = rep_len(c("x", "y"), n), y = rep_len(c(1, 2, 5), n))
  for (formula in c(y ~ interaction(f, g), y ~ I(a %in% 1:120000))) {
    m <- gbt_train(stats::as.formula(formula), many, nrounds = 1, threads = 1)
    expect_length(predict(m, many[1:3, ]), 3L)
  }
  m <- gbt_train(y ~ paste0(s, "z") + factor(a), many[1:100, ], nrounds = 1, threads = 1)
  expect_null(m$terms$code)
  many$s[5] <- strrep("x", 20000) # one text that is much longer than the others
  expect_length(predict(m, many), n)
})

test_that("deep terms are evaluated up to the limit", {
  sum_of <- function(n) paste(rep("a", n), collapse = " + ")
  nested <- function(n) paste(rep("a", n), collapse = " ^ ") # R's parser takes up to 50 brackets
  for (text in c(sum_of(4000), paste0(strrep("-", 4000), "a"), nested(terms_depth), strrep("(", 49))) {
    if (endsWith(text, "(")) text <- paste0(text, "a", strrep(")", 49))
    check_term(str2lang(text))
    expect_identical(term_value(str2lang(text), term_scope(rows, TRUE)), eval(str2lang(text), rows))
  }
  f <- stats::as.formula(sprintf("y ~ I(%s)", nested(40 + terms_depth)))
  m <- gbt_train(f, rows, nrounds = 1, threads = 1)
  expect_length(m$terms$code, 1L)
  expect_length(predict(m, rows), 5L)
})

test_that("a formula out of a file that is none is an error that names the file", {
  for (text in c("y ~ (", "", "log(a)", "~a", "y ~ a; system('x')", "system('x')", paste("y ~", strrep("-", 1e5), "a"),
                 paste("y ~", paste(rep("a", 1e5), collapse = "+")), "\xff ~ a")) {
    file <- craft(formula = text)
    expect_error(gbt_load(file), basename(file), fixed = TRUE, class = "gbt_error_format")
  }
  broken <- model
  broken$formula <- "y ~ ("
  expect_error(formula(broken), class = "gbt_error_format")
  for (text in c("y ~ log(a", "log(a))")) {
    file <- craft(terms = design(text))
    expect_error(gbt_load(file, trust = TRUE), basename(file), fixed = TRUE, class = "gbt_error_format")
  }
})

test_that("a formula out of a file that others would evaluate calls what the language has", {
  write <- sprintf("file.create('%s')", canary)
  for (text in c("y ~ %s", "%s ~ a", "y ~ log(%s)", "y ~ a + offset(%s)", "y ~ poly(a, 2) + I(%s)",
                 "y ~ (function() %s)()", "y ~ base::system('x') + %s", "y ~ a$b(%s)",
               "y ~ sapply(a, function(x) %s)", "y ~ a ~ %s")) {
    text <- sprintf(text, write)
    file <- craft(formula = text)
    expect_error(gbt_load(file), "trust = TRUE", class = "gbt_error_format", label = text)
    expect_identical(predict(gbt_load(file, trust = TRUE), rows), predict(model, rows))
  }
  expect_false(file.exists(canary))
  for (text in c("y ~ .", "log(y) ~ . - a", "y ~ a * s + s %in% a + (a + t)^2", "factor(y > 2) ~ a:s + 0", "y ~ a - 1",
                 "y ~ poly(a, 2) + splines::ns(a, 3) + scale(a) + offset(log(a))",
               "y ~ as.POSIXlt(t)$hour + rank(a)")) {
    expect_s3_class(gbt_load(craft(formula = text)), "gbt")
  }
})

test_that("nothing in a file becomes a class or an attribute", {
  odd <- list(class = "bibentry", .Environment = "globalenv", names = "x", `class:names` = 1, levels = "b")
  m <- gbt_load(craft(params = c(model$params, odd), classes = NULL, user = c(odd, call = "q()")))
  walk <- function(v) {
    expect_true(all(names(attributes(v)) %in% "names"))
    if (is.list(v)) for (item in v) walk(item)
  }
  for (field in setdiff(names(m), c("cache", "evaluation_log"))) walk(.subset2(m, field))
})
