# The right side of a formula: what is in it by our walk is what R's terms() finds, and the work is linear in the
# number of columns.

parts_data <- data.frame(y = 1, a = 1, b = 1, c = 1, d = 1, e = 1)

test_that("variables are those that R's terms() leaves in, in its order", {
  random_part <- function(depth) {
    pick <- function(...) sample(c(...), 1L)
    if (depth <= 0L) return(pick("a", "b", "c", "d", "e", "log(a)", "I(b + c)", "."))
    inner <- function() random_part(depth - sample(2L, 1L))
    op <- pick("+", "+", "+", "-", ":", "*", "%in%", "/", "(", "^")
    if (op == "(") return(sprintf("(%s)", inner()))
    if (op == "^") return(sprintf("(%s + %s)^2", inner(), inner()))
    sprintf(if (op %in% c("+", "-")) "%s %s %s" else "(%s) %s (%s)", inner(), op, inner())
  }
  set.seed(5)
  read <- function(f, formula) {
    tryCatch(f(formula, parts_data, names(parts_data)), gbt_error_argument = function(e) NULL)
  }
  compared <- 0L
  for (k in 1:400) {
    text <- paste(replicate(sample(3L, 1L), random_part(sample(0:3, 1L))), collapse = sample(c(" + ", " - "), 1L))
    text <- paste(text, sample(c("", "- 1", "+ offset(e)", "- a", "- a:b", "- (a + log(a))"), 1L))
    formula <- stats::as.formula(paste("y ~", text))
    want <- read(parts_of_terms, formula)
    got <- read(formula_parts, formula)
    compared <- compared + !is.null(want)
    expect_identical(got, want, label = text)
  }
  expect_gt(compared, 300L)
})

test_that("plain names are those of the general walk", {
  for (text in c("a + b", ". - a", ". - a + a", "a - a + b + .", "-a + .", "+a + b - 1", "a + offset(b) + c",
                 "b + a + 0", "a + -b + c", "-(a + b) + .")) {
    formula <- stats::as.formula(paste("y ~", text))
    plain <- plain_names(formula, parts_data, names(parts_data))
    general <- parts_of_terms(formula, parts_data, names(parts_data))
    expect_identical(is.null(plain), text == "-(a + b) + .", label = text)
    if (is.null(plain)) next
    expect_setequal(plain$names, vapply(general$features, as.character, ""))
    expect_identical(plain$offset, general$offset, label = text)
  }
})

# How many names and columns the functions that look at columns were given, in a training and a prediction.
looked_at <- function(formula, n_columns, computed = NULL) {
  d <- as.data.frame(matrix(sin(seq_len(12 * n_columns)) + 2, 12))
  names(d) <- paste0("x", seq_len(n_columns))
  d$y <- d[[1]]
  count <- 0
  watched <- c("own_term_value", "evaluate_part", "places_of_variables", "variable_keys",
               "columns_at", "pick_columns", "parts_of_sum", "part_of_formula", "check_found_again", "is_own_term")
  real <- mget(c(watched, "read_terms"), envir = asNamespace("gbt"))
  on.exit(for (name in names(real)) utils::assignInNamespace(name, real[[name]], "gbt"))
  counted <- function(name, f) {
    force(name)
    force(f)
    function(...) {
      args <- list(...)
      lists <- vapply(args, function(v) is.vector(v) || is.data.frame(v), NA)
      if (name == "columns_at") lists <- 2L # the places that are wanted
      count <<- count + 1 + sum(lengths(args[lists]))
      f(...)
    }
  }
  for (name in watched) utils::assignInNamespace(name, counted(name, real[[name]]), "gbt")
  utils::assignInNamespace("read_terms", function(...) {
    tt <- real$read_terms(...)
    count <<- count + length(attr(tt, "factors"))
    tt
  }, "gbt")
  m <- gbt_train(formula, d, nrounds = 1, threads = 1)
  predict(m, d, threads = 1)
  count
}

test_that("the work of a formula is linear in the number of columns", {
  all_of <- function(form, n) stats::reformulate(sprintf(form, seq_len(n)), "y")
  formulas <- list(
    function(n) y ~ ., function(n) y ~ . - x1, function(n) y ~ . + log(x1), function(n) y ~ . + log(x1) - x2,
    function(n) y ~ poly(x1, 2) + ., function(n) y ~ x1 * x2 + ., function(n) y ~ .:x1 + offset(log(x2)),
    function(n) y ~ (. - x3) + sqrt(x3), function(n) all_of("x%d", n), function(n) all_of("log(x%d)", n)
  )
  for (make in every(formulas, 2)) {
    few <- looked_at(make(150), 150)
    many <- looked_at(make(600), 600)
    expect_lt(many, 4.4 * few, label = paste("columns looked at for", substr(deparse(make(150))[1L], 1L, 40L)))
  }
})

test_that("random effects are refused, and `|` of logical columns is not", {
  d <- data.frame(y = c(1, 2, 3, 5), a = c(1, 2, 4, 3), g = c(1, 1, 2, 2), p = c(TRUE, FALSE, TRUE, FALSE),
                  q = c(TRUE, TRUE, FALSE, FALSE))
  train <- function(formula) gbt_train(formula, d, nrounds = 1, threads = 1)
  for (formula in list(y ~ (1 | g), y ~ a + (1 | g), y ~ (a | g), y ~ (1 + a | g), y ~ (a || g), y ~ . + (0 + a | g))) {
    expect_error(train(formula), "is a random effect, .* give `g` as a column", class = "gbt_error_argument")
  }
  expect_error(gbt_cv(y ~ (1 | g), d), "random effect")
  expect_identical(variable.names(train(y ~ a + (p | q))), c("a", "p | q"))
  expect_identical(variable.names(train(y ~ I(a | g))), "I(a | g)")
  cars <- function(formula) variable.names(gbt_train(formula, mtcars, nrounds = 1, threads = 1))
  expect_identical(cars(mpg ~ wt + (hp > 100 | cyl > 4)), c("wt", "hp > 100 | cyl > 4"))
  expect_identical(cars(mpg ~ wt + (is.na(hp) | wt > 3)), c("wt", "is.na(hp) | wt > 3"))
  expect_identical(cars(mpg ~ wt + (vs | am)), c("wt", "vs | am"))
  expect_error(cars(mpg ~ wt + (wt | cyl / gear)), "random effect", class = "gbt_error_argument")
  expect_error(cars(eval(bquote(mpg ~ wt + (.(function(x) x)(hp))))), "function", class = "gbt_error_argument")
})

test_that("smooth terms are not needed", {
  for (formula in list(mpg ~ s(wt), mpg ~ hp + te(wt, qsec), mpg ~ lo(wt))) {
    expect_error(gbt_train(formula, mtcars), "trees need no smooth terms", class = "gbt_error_argument")
  }
})
