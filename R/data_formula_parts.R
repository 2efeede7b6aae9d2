# The right side of a formula, taken apart: which variables it uses, and what is in its offset() terms. A formula is a
# sum of parts, and a table may have tens of thousands of columns, so each part is looked at once: `.` is all columns at
# once, and R's terms() is called only for single parts with `*`, `:`, `^`, `/` or `%in%`.

# The parts of a sum in their order: list(part = , sign = 1 or -1) for each. A sum of thousands is a call as deep as
# that, so nothing is recursive but parentheses. in_parentheses: are sums in them parts of this sum?
parts_of_sum <- function(e, in_parentheses = FALSE) {
  open <- list(list(part = e, sign = 1L))
  n_open <- 1L # the next one is the last of these
  parts <- list()
  while (n_open > 0L) {
    at <- open[[n_open]]
    n_open <- n_open - 1L
    inner <- inner_parts(at$part, at$sign, in_parentheses, first = length(parts) == 0L)
    if (is.null(inner)) parts[[length(parts) + 1L]] <- at
    for (part in rev(inner)) open[[n_open <- n_open + 1L]] <- part
  }
  parts
}

# The parts of one part, in their order; NULL when it is one by itself. first: does no other part come before it?
inner_parts <- function(e, sign, in_parentheses, first) {
  is_op <- function(name, n) is.call(e) && length(e) == n && identical(e[[1L]], as.name(name))
  given <- function(part, sign) list(part = part, sign = sign)
  if (is_op("+", 3L)) return(list(given(e[[2L]], sign), given(e[[3L]], sign)))
  if (is_op("+", 2L)) return(list(given(e[[2L]], sign)))
  if (sign > 0L && is_op("-", 3L)) return(list(given(e[[2L]], sign), given(e[[3L]], -sign)))
  if (sign > 0L && is_op("-", 2L)) return(list(given(e[[2L]], -sign)))
  if (!in_parentheses || !is_op("(", 2L)) return(NULL)
  inner <- parts_of_sum(e[[2L]], TRUE)
  only_adds <- all(vapply(inner, `[[`, 0L, "sign") > 0L) # a + (b - a) leaves a in, (b - a) + a as well
  if (only_adds || (first && sign > 0L)) lapply(inner, function(part) given(part$part, sign * part$sign))
}

# A part as lme4 writes random effects, (1 | g) or (x || g / h). Between conditions, and columns of logical values or of
# 0 and 1, `|` is "or".
refuse_random_effects <- function(parts, data) {
  for (part in parts) {
    if (!is.call(part) || !identical(part[[1L]], quote(`(`)) || !is.call(part[[2L]])) next
    bar <- part[[2L]]
    if (length(bar) != 3L || !is.name(bar[[1L]]) || !as.character(bar[[1L]]) %in% c("|", "||")) next
    if (!names_groups(bar[[3L]])) next
    effects <- parts_of_sum(bar[[2L]])
    numbers <- any(vapply(effects, function(at) is.numeric(at$part), NA))
    plain <- all(vapply(effects, function(at) is.numeric(at$part) || names_groups(at$part), NA))
    columns <- intersect(all.vars(bar), names(data))
    if (!plain || (!numbers && all(vapply(columns, function(name) is_yes_no(.subset2(data, name)), NA)))) next
    group <- expression_text(bar[[3L]])
    stop_argument(sprintf(paste("`%s` is a random effect, which gbt does not have; give `%s` as a column, best as a",
                                "factor: its levels become categories"), expression_text(part), group), "formula")
  }
}

# Names of columns, joined by `:` or `/`?
names_groups <- function(e) {
  if (is.name(e)) return(TRUE)
  is.call(e) && length(e) == 3L && (identical(e[[1L]], quote(`:`)) || identical(e[[1L]], quote(`/`))) &&
    names_groups(e[[2L]]) && names_groups(e[[3L]])
}

is_yes_no <- function(column) is.logical(column) || (is.numeric(column) && all(column %in% c(0, 1, NA)))

is_offset_call <- function(e) is.call(e) && identical(e[[1L]], quote(offset)) && length(e) == 2L

is_intercept <- function(e) is.numeric(e) && length(e) == 1L && e %in% c(0, 1) # it means nothing to trees

# Which of these are in after all of them were added (sign 1) or left out (sign -1), one after the other?
left_in <- function(keys, signs) unique(keys[!duplicated(keys, fromLast = TRUE) & signs > 0L])

# list(names, offset) when the right side names plain columns only; else NULL. dot: the columns that `.` may stand for.
plain_names <- function(formula, data, dot) {
  parts <- parts_of_sum(formula[[3L]])
  signs <- vapply(parts, `[[`, 0L, "sign")
  parts <- lapply(parts, `[[`, "part")
  refuse_random_effects(parts, data)
  is_dot <- vapply(parts, identical, NA, quote(.))
  is_column <- vapply(parts, is.name, NA) & !is_dot
  is_offset <- vapply(parts, is_offset_call, NA)
  known <- ((is_dot | is_offset) & signs > 0L) | is_column | vapply(parts, is_intercept, NA)
  if (!all(known)) return(NULL)
  all <- setdiff(dot, all.vars(formula[[2L]]))
  named <- lapply(which(is_dot | is_column), function(i) if (is_dot[i]) all else as.character(parts[[i]]))
  sign <- rep(signs[is_dot | is_column], lengths(named))
  named <- as.character(unlist(named))
  names <- intersect(unique(c(if (any(is_dot)) all, named)), left_in(named, sign))
  if (length(names) == 0L) stop_argument("the formula names no features on its right side", "formula")
  absent <- setdiff(c(names, named), names(data))
  if (length(absent)) {
    stop_data(sprintf("the formula names columns that the data do not have: %s%s", enumerate(absent),
                      suggest(absent[1L], names(data))), absent[1L])
  }
  if (any(vapply(match(names, names(data)), function(j) NCOL(.subset2(data, j)) != 1L, NA))) return(NULL)
  list(names = names, offset = lapply(parts[is_offset], function(e) e[[2L]]))
}

# The same for any formula, by the rules of R's terms(): list(features, offset), expressions. A variable is a feature
# when a term with it is left in. Variables come in the order in which they are written.
formula_parts <- function(formula, data, dot) {
  parts <- parts_of_sum(formula[[3L]], in_parentheses = TRUE)
  parts <- parts[!vapply(parts, function(at) is_intercept(at$part), NA)]
  is_offset <- vapply(parts, function(at) is_offset_call(at$part) && at$sign > 0L, NA)
  read <- lapply(parts[!is_offset], function(at) c(part_of_formula(at$part), sign = at$sign))
  if (needs_all_terms(read)) return(parts_of_terms(formula, data, dot))
  all <- lapply(setdiff(dot, all.vars(formula[[2L]])), as.name)
  variables <- lapply(read, function(part) {
    do.call(c, lapply(part$variables, function(e) if (identical(e, dot_name)) all else list(e)))
  })
  variables <- do.call(c, c(list(list()), variables))
  keys <- variable_keys(variables)
  variables <- variables[!duplicated(keys)]
  terms <- lapply(read, `[[`, "terms")
  signs <- rep(vapply(read, `[[`, 0L, "sign"), lengths(terms))
  terms <- do.call(c, c(list(list()), terms))
  dot_key <- variable_keys(list(dot_name))
  in_dot <- variable_keys(all)
  single <- lengths(terms) == 1L
  singles <- lapply(terms[single], function(term) if (term == dot_key) in_dot else term)
  sets <- vapply(terms[!single], function(term) paste(sort(term), collapse = "\n"), "")
  left <- terms[!single][match(left_in(sets, signs[!single]), sets)]
  used <- c(left_in(unlist(singles), rep(signs[single], lengths(singles))), unlist(left))
  if (dot_key %in% used) used <- c(used, in_dot)
  features <- variables[unique(keys) %in% used]
  if (length(features) == 0L) stop_argument("the formula names no features on its right side", "formula")
  list(features = features, offset = lapply(parts[is_offset], function(at) at$part[[2L]]))
}

dot_name <- as.name("all columns") # stands for `.` in what terms() reads

variable_keys <- function(variables) {
  vapply(variables, function(e) {
    if (is.name(e)) paste0("`", as.character(e)) else paste(deparse(e, width.cutoff = 500L), collapse = " ")
  }, "")
}

# One part: list(variables = expressions in their order, terms = for each term the keys of its variables).
part_of_formula <- function(e) {
  operators <- c("+", "-", "*", ":", "^", "/", "%in%", "(", "~", "offset")
  composed <- is.call(e) && is.name(e[[1L]]) && as.character(e[[1L]]) %in% operators
  if (!composed && (is.name(e) || is.call(e))) {
    if (identical(e, quote(.))) e <- dot_name
    return(list(variables = list(e), terms = list(variable_keys(list(e)))))
  }
  tt <- read_terms(call("~", put_dot(e)))
  variables <- as.list(attr(tt, "variables"))[-1L]
  keys <- variable_keys(variables)
  factors <- attr(tt, "factors")
  inner <- all.names(e)
  all_columns <- sum(inner == ".")
  list(variables = variables,
       whole = !is.null(attr(tt, "offset")) || "~" %in% inner || (all_columns > 0L && "-" %in% inner),
       pairs = all_columns > 1L || (all_columns > 0L && "^" %in% inner),
       terms = lapply(seq_len(NCOL(factors) * (length(factors) > 0L)), function(j) keys[factors[, j] > 0]))
}

# `.` within operators; in a function it is no sum of columns.
put_dot <- function(e) {
  if (identical(e, quote(.))) return(dot_name)
  operators <- c("+", "-", "*", ":", "^", "/", "%in%", "(")
  if (!is.call(e) || !is.name(e[[1L]]) || !as.character(e[[1L]]) %in% operators) return(e)
  e[-1L] <- lapply(as.list(e)[-1L], put_dot)
  e
}

# Parts that cannot be read one by one: with an offset, a formula or all columns but some within them; and, where
# something is left out, combinations of all columns that it may be one of.
needs_all_terms <- function(read) {
  dot_key <- variable_keys(list(dot_name))
  combined <- lapply(read, function(part) part$terms[lengths(part$terms) > 1L])
  with_dot <- vapply(combined, function(terms) any(vapply(terms, function(term) dot_key %in% term, NA)), NA)
  left_out <- vapply(read, `[[`, 0L, "sign") < 0L
  is <- function(what) any(vapply(read, function(part) isTRUE(part[[what]]), NA))
  is("whole") || (any(left_out) && is("pairs")) || (any(left_out & lengths(combined) > 0L) && any(with_dot))
}

read_terms <- function(formula, data = NULL) {
  try_else(stats::terms(eval(formula), data = data), function(problem) {
    stop_argument(sprintf("R's terms() cannot read the formula: %s; write arithmetic with numbers in I(), %s",
                          conditionMessage(problem), "such as I(2 * a)"), "formula")
  })
}

# All by R's own rules, in a time that grows with the square of the number of variables.
parts_of_terms <- function(formula, data, dot) {
  tt <- read_terms(formula, pick_columns(data, dot))
  variables <- as.list(attr(tt, "variables"))[-1L]
  factors <- attr(tt, "factors")
  used <- if (length(factors)) which(rowSums(factors) > 0) else integer(0)
  at_offset <- attr(tt, "offset")
  features <- variables[setdiff(used, at_offset)]
  if (length(features) == 0L) stop_argument("the formula names no features on its right side", "formula")
  list(features = features, offset = lapply(variables[at_offset], function(e) e[[2L]]))
}

# strata() terms of the right side of a formula whose response is a Surv object: list(formula without them, columns).
take_strata <- function(formula) {
  if (!"strata" %in% all.names(formula[[3L]])) return(list(formula = formula, columns = character(0)))
  parts <- parts_of_sum(formula[[3L]])
  is_strata <- vapply(parts, function(at) is_strata_call(at$part), NA)
  rest <- parts[!is_strata]
  inside <- any(vapply(rest, function(at) "strata" %in% all.names(at$part), NA))
  columns <- unlist(lapply(parts[is_strata], function(at) as.list(at$part)[-1L]))
  if (inside || any(vapply(parts[is_strata], `[[`, 0L, "sign") < 0L) || !all(vapply(columns, is.name, NA))) {
    stop_argument(paste("strata() in a formula must be a term by itself that names columns, as in",
                        "y ~ age + strata(centre); make other strata a column first"), "formula")
  }
  if (length(rest) == 0L) stop_argument("the formula names no features on its right side", "formula")
  formula[[3L]] <- Reduce(function(sum, at) {
    if (is.null(sum)) return(if (at$sign > 0L) at$part else call("-", at$part))
    call(if (at$sign > 0L) "+" else "-", sum, at$part)
  }, rest, NULL)
  list(formula = formula, columns = unique(vapply(columns, as.character, "")))
}

is_strata_call <- function(e) {
  is.call(e) && length(e) > 1L && (identical(e[[1L]], quote(strata)) || identical(e[[1L]], quote(survival::strata)))
}
