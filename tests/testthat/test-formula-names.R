# Columns with names that R reads only between backticks, or that mean something else without them: wherever a formula
# may name a column, the model is that of the same column under a plain name.

odd_names <- c(
  "a-b", "a b", "a+b", "log(q)", "x^2", "my `col`", "back\\slash", "a\"b", "a'b", "(p)", "~", "y ~ z", "-", "+", ".x y",
  "%in%", "if", "function", "in", "NA", "TRUE", "NULL", "NaN", "Inf", "T", "F", "pi", "letters", "c", "log", "I",
  "offset", "poly", "1", "2x", "_u", "a$b",
  "a[1]", "z ", "a\tb", "a\nb", "stats::sd", "\u00e4", "gr\u00f6\u00dfe", "a\u20acb",
  "\u540d", "x\u00a0y"
)

plain_data <- data.frame(y = sin(1:60) + 2, a = cos(1:60), b = sin(5 * 1:60), z = (1:60) / 60,
                         odd = cos(3 * 1:60) + 1.5)

fit_named <- function(formula, data, ...) gbt_train(formula, data, ..., nrounds = 3, max_bin = 16, threads = 1)

# Formulas of the column `odd`, and the same with another name for it.
of_odd <- list(y ~ odd + log(z) + a:odd + offset(odd), y ~ log(odd) + I(odd - a) + poly(odd, 2) + offset(log(odd)),
               y ~ . - odd + log(z), log(odd) ~ . + log(z), y ~ (odd + a)^2, odd > 1.2 ~ ifelse(odd2 > 1, odd2, a))
renamed <- function(e, name) {
  if (identical(e, quote(odd))) return(as.name(name))
  if (is.call(e)) e[-1L] <- lapply(as.list(e)[-1L], renamed, name)
  e
}

test_that("a column may have any name wherever a formula names it", {
  skip_if_not(l10n_info()[["UTF-8"]])
  plain_data$odd2 <- rev(plain_data$odd)
  want <- lapply(of_odd, fit_named, plain_data)
  expected <- lapply(want, predict, plain_data)
  for (k in seq_along(odd_names)) {
    name <- odd_names[k]
    odd_data <- plain_data
    names(odd_data)[5L] <- name
    for (i in c(1L, 2L + k %% (length(of_odd) - 1L))) { # every formula meets eight names
      formula <- eval(renamed(of_odd[[i]], name))
      label <- paste(encodeString(name), "in", paste(deparse(formula), collapse = " "))
      expect_silent(got <- fit_named(formula, odd_data))
      expect_identical(predict(got, odd_data), expected[[i]], label = label)
      expect_identical(predict(gbt_load(got$state), odd_data), expected[[i]], label = label)
      expect_identical(formula(got), formula, ignore_formula_env = TRUE, label = label)
    }
  }
})

test_that("so it may in arguments that are evaluated in the data", {
  skip_if_not(l10n_info()[["UTF-8"]])
  for (name in c("a-b", "a b", "TRUE", "~", "gr\u00f6\u00dfe", "my `col`")) {
    odd_data <- plain_data
    names(odd_data)[5L] <- name
    n <- as.name(name)
    fits <- list(
      list(fit_named(y ~ a, plain_data, weights = odd), eval(bquote(fit_named(y ~ a, odd_data, weights = .(n))))),
      list(fit_named(y ~ a, plain_data, weights = odd / 2, valid = plain_data),
           eval(bquote(fit_named(y ~ a, odd_data, weights = .(n) / 2, valid = odd_data)))),
      list(fit_named(y ~ a, plain_data, subset = odd > 1), eval(bquote(fit_named(y ~ a, odd_data, subset = .(n) > 1)))),
      list(fit_named(y ~ a + log(z), plain_data, offset = odd),
           eval(bquote(fit_named(y ~ a + log(z), odd_data, offset = .(n)))))
    )
    for (both in fits) expect_same_bytes(both[[2L]]$state, both[[1L]]$state)
  }
})

test_that("a term and a column that has its text for a name are two", {
  d <- cbind(plain_data, 7)
  names(d)[6L] <- "I(a - b)"
  e <- tryCatch(suppressWarnings(fit_named(y ~ I(a - b) + `I(a - b)`, d)), gbt_error_data = identity)
  expect_match(conditionMessage(e), "more than once: `I(a - b)`", fixed = TRUE)
  names(d)[6L] <- "log(y)"
  m <- fit_named(log(y) ~ `log(y)` + a, d) # the column is not the response
  expect_identical(m$feature_names, c("log(y)", "a"))
  expect_error(fit_named(log(y) ~ log(y) + a, d), "is on the right side", class = "gbt_error_argument")
})

test_that("terms without a text are refused in training, and the term is named", {
  with_environment <- eval(bquote(y ~ I(get("a", .(new.env()))) + z))
  expect_error(fit_named(with_environment, plain_data), "has no text that can be read again",
               class = "gbt_error_argument")
  braces <- y ~ I({
    0
    2 * a + 1
  }) + z
  m <- fit_named(braces, plain_data)
  expect_identical(predict(m, plain_data), predict(fit_named(y ~ I(2 * a + 1) + z, plain_data), plain_data))
})

test_that("numbers of a formula keep all digits", {
  k <- 0.1 + 0.2
  m <- fit_named(I(y * k) ~ a, plain_data)
  expect_identical(formula(m)[[2L]][[2L]][[3L]], k)
  expect_identical(fit_named(I(y * 0.1) ~ a, plain_data)$formula, "I(y * 0.1) ~ a")
})
