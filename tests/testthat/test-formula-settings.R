# Terms have the values of training in any session: after a file, in another time zone, in a locale without UTF-8, with
# other options. What cannot be evaluated again is refused in training.

set.seed(8)
n <- 60
sweep_data <- data.frame(
  a = c(1e5, 123456.789, round(exp(rnorm(n - 2, 6, 4)), 3)), b = rnorm(n), i = sample(c(1:9, 100000L), n, TRUE),
  s = sample(c("\u00e4rger", "Zoo", "b", "\u00c4u\u00dferst", "\u00e9t\u00e9"), n, TRUE),
  l = rep(c(TRUE, FALSE), n / 2),
  f = factor(sample(c("\u00fc", "U", "a"), n, TRUE)), text = sprintf("2024-03-%02d 00:30:00", 1 + seq_len(n) %% 30),
  at = as.POSIXct("2024-02-29 20:00:00", tz = "UTC") + 3000 * seq_len(n), day = as.Date("2023-12-20") + seq_len(n)
)
sweep_data$here <- as.POSIXct(as.numeric(sweep_data$at), origin = "1970-01-01") # in the zone of the session
attr(sweep_data$here, "tzone") <- NULL
sweep_data[["gr\u00f6\u00dfe x"]] <- abs(sweep_data$b) + 1
sweep_data$wait <- as.difftime(abs(sweep_data$b), units = "hours")
sweep_data$y <- sweep_data$b + sin(seq_len(n))

sweep_terms <- c(
  "log(a)", "a * b", "I(a^2) + b", "poly(a, 2)", "scale(b)", "splines::ns(b, 3)", "cut(b, c(-Inf, 0, Inf))",
  "a %% 7", "paste(a)", "as.character(a)", "factor(a)", "format(a)", "paste(i, b)", "format(b, digits = 3)",
  "nchar(a)", "interaction(i, f)", "as.factor(i)", "round(a, 1)", "prettyNum(a)", "formatC(a)", "sprintf('%.2f', a)",
  "signif(a, 2)", "toupper(s)", "tolower(s)", "nchar(s)", "nchar(s, 'bytes')", "substr(s, 1, 1)",
  "startsWith(s, '\u00e4')", "I(s < 'c')", "I(s == '\u00c4u\u00dferst')",
  "I(s %in% c('b', '\u00e9t\u00e9'))", "pmin(s, 'c')",
  "grepl('^[[:alpha:]]+$', s)", "I(f == '\u00fc')", "gsub('\u00e4', 'a', s)", "casefold(s, upper = TRUE)",
  "chartr('\u00e4', 'a', s)", "rank(s)", "sub('(.)', '\\\\U\\\\1', s)", "as.integer(f)", "unclass(f)",
  "levels(f)[f]", "as.integer(factor(s))", "iconv(s, 'UTF-8', 'ASCII', sub = '?')", "strftime(at, '%Y-%m')",
  "strftime(here, '%H')", "strftime(here, '%Y-%m')", "format(here)", "format(here, '%d.%m.')",
  "as.POSIXlt(here)$hour", "as.POSIXlt(at)$mday", "weekdays(here)", "months(day)", "months(here)", "quarters(here)",
  "format(day, '%B')", "as.Date(here)", "as.Date(text)", "as.POSIXct(text)", "as.POSIXlt(text)$yday",
  "as.numeric(as.POSIXct(text))", "I(here > '2024-03-01')", "I(at > as.POSIXct('2024-03-01'))",
  "difftime(here, '2024-03-01')", "here - as.POSIXct('2024-03-01')", "julian(day)", "as.numeric(here)",
  "trunc(here, 'days')", "round(here, 'hours')", "cut(here, 'day')", "strptime(text, '%Y-%m-%d %H:%M:%S')",
  "as.numeric(strftime(here, '%j'))", "ISOdate(2024, 1, i)", "month.abb[as.POSIXlt(here)$mon + 1]",
  "as.numeric(wait)", "I(wait > 1)", "format(wait)", "format(at, usetz = TRUE)", "log(`gr\u00f6\u00dfe x`)",
  "`gr\u00f6\u00dfe x` + a:`gr\u00f6\u00dfe x`", "ifelse(l, s, 'x')", "is.na(s)", "match(s, letters)", "rev(rev(b))",
  "sapply(b, function(v) v + 1)", "Reduce(`+`, list(a, b))", "get('a')", "vapply(s, nchar, 0L)",
  "as.numeric(Sys.time() - Sys.time())", "I(Sys.getlocale() != '')", "mapply(max, a, b)", "outer(a, 1:2)[, 1]",
  "do.call(pmax, list(a, b))", "local({ k <- 2; a * k })", "I(if (TRUE) a)", "(\\(v) v)(a)", "I(T * a)", "I(a * pi)",
  "bs(b)", "nowhere(a)", "a + nowhere", "stats::predict(1)", "a$b", "data$a", "list(a)", "I(NULL)", "1:60",
  "quote(a)"
)

# Model or the classed error.
sweep_fit <- function(term, ...) {
  formula <- stats::as.formula(paste("y ~ b +", term), globalenv())
  tryCatch(suppressWarnings(gbt_train(formula, sweep_data, nrounds = 5, min_child_weight = 0.01, threads = 1)),
           gbt_error = function(e) conditionMessage(e))
}

predict_in_child <- function(states, setup, prefix) {
  file <- withr::local_tempfile()
  saveRDS(list(states = states, data = sweep_data), file)
  code <- c(
    sprintf(".libPaths(%s)", paste(deparse(.libPaths()), collapse = "")), setup,
    sprintf("l <- readRDS('%s')", file),
    "one <- function(b) tryCatch(unname(predict(gbt::gbt_load(b, trust = TRUE), l$data, threads = 1)),",
    "  error = function(e) conditionMessage(e))",
    sprintf("saveRDS(suppressWarnings(lapply(l$states, one)), '%s')", file)
  )
  script <- withr::local_tempfile(lines = code)
  system(sprintf("%s '%s' --vanilla '%s'", prefix, file.path(R.home("bin"), "Rscript"), script))
  readRDS(file)
}

test_that("a term is refused in training, or has its values in every session", {
  skip_on_os("windows")
  skip_if_not(l10n_info()[["UTF-8"]])
  of_training <- list(
    plain = function(expr) expr,
    elsewhere = function(expr) withr::with_timezone("America/New_York", expr),
    options = function(expr) withr::with_options(list(scipen = 999, digits = 4, OutDec = ","), expr)
  )
  for (session in names(of_training)) {
    terms <- switch(session, plain = sweep_terms, elsewhere = grep("here|text|at\\b|2024", sweep_terms, value = TRUE),
                    options = grep("\\b[abi]\\b", sweep_terms, value = TRUE))
    of_training[[session]]({
      models <- lapply(stats::setNames(nm = terms), sweep_fit)
      models <- Filter(function(m) !is.character(m), models)
      want <- lapply(models, function(m) unname(predict(m, sweep_data)))
    })
    expect_gt(length(models), 0.6 * length(terms))
    states <- lapply(models, function(m) m$state)
    for (term in names(models)) {
      expect_identical(unname(predict(gbt_load(states[[term]], trust = TRUE), sweep_data)), want[[term]],
                       label = paste(term, "after a file, trained in", session))
    }
    others <- list(
      c("Sys.setenv(TZ = 'Asia/Tokyo')", "env LC_ALL=C"),
      c("options(scipen = -5, digits = 3, OutDec = ',', digits.secs = 3)", "env LC_ALL=C.UTF-8 TZ=Pacific/Honolulu")
    )
    for (other in if (long_form()) others else others[match(session, names(of_training)) %% 2L + 1L]) {
      got <- predict_in_child(states, other[1L], other[2L])
      for (term in names(models)) {
        expect_identical(got[[term]], want[[term]], label = paste0(term, ", trained in ", session, ", in ", other[2L]))
      }
    }
  }
})

test_that("training sees the values that predictions see", {
  for (term in setdiff(sweep_terms, "1:60")) {
    m <- sweep_fit(term)
    if (is.character(m)) next
    again <- apply_design(m$terms, sweep_data)$x
    formula <- stats::as.formula(paste("y ~ b +", term), globalenv())
    parsed <- suppressWarnings(read_formula(formula, sweep_data, list(), NULL, globalenv()))
    expect_identical(lapply(as.list(again), plain_values), lapply(as.list(parsed$x), plain_values), label = term)
  }
})

test_that("what a model keeps of its session is what its terms depend on", {
  kept <- function(term) names(sweep_fit(term)$terms$settings)
  withr::with_timezone("America/New_York", {
    expect_null(kept("log(a)"))
    expect_null(kept("paste(i)"))
    expect_null(kept("as.POSIXlt(here)$hour")) # the zone is that of the column
    expect_identical(kept("as.POSIXct(text)"), "TZ")
    expect_identical(kept("I(here > '2024-03-01')"), "TZ")
  })
  withr::with_options(list(scipen = 999), expect_identical(kept("paste(a)"), "scipen"))
})

test_that("a locale that a system does not have is warned of", {
  skip_on_os("windows")
  m <- sweep_fit("months(day)")
  m$terms$settings <- c(LC_TIME = "xx_XX.UTF-8")
  expect_warning(predict(m, sweep_data), "xx_XX.UTF-8", class = "gbt_warning_formula")
  before <- Sys.getlocale()
  suppressWarnings(predict(m, sweep_data))
  expect_identical(Sys.getlocale(), before)
  for (settings in list(c(TZ = "../../etc/passwd"), c(TZ = "/etc/passwd"), c(LC_TIME = "/tmp/x"), c(OutDec = "12"))) {
    expect_error(check_design_safe(list(features = NULL, offset = NULL, settings = settings)),
                 class = "gbt_error_format")
  }
})
