# Champion against challenger: which of two models is better on held-out rows. See R/verb_refresh.R.
#
# Objectives of gbt's own have a loss for each row, and models are compared row by row. One of the user's has none: its
# models are compared by a metric, and the interval of the difference is that of bootstrap draws.

# Arguments of gbt_train() that comparing needs, by gbt's names, each NULL or as given.
compared_args <- function(args) {
  names <- canonical_name(names(args))
  lapply(stats::setNames(nm = c("weights", "offset", "exposure", "eval_metric", "objective")), function(name) {
    at <- match(name, names)
    if (!is.na(at)) args[[at]]
  })
}

# Checks before a job starts, so that it does not run for nothing.
check_spec <- function(spec) {
  given <- compared_args(spec$args)
  for (name in c("weights", "offset", "exposure")) {
    value <- given[[name]]
    if (is.null(value) || is.language(value) || is_text(value)) next
    stop_argument(sprintf(paste("`%s` must be a column, so that the held-out rows have values too, not %s:",
                                "%s = quote(column)"), name, describe(value), name), name)
  }
  if (!is.null(given$objective) && !is.character(given$objective)) need_metric(given$eval_metric)
}

need_metric <- function(eval_metric) {
  if (length(eval_metric)) return(invisible())
  stop_argument(paste("models with a custom objective are compared by a metric: give `eval_metric`, such as a",
                      "gbt_metric()"), "eval_metric")
}

# list(metric, rows, champion, challenger (mean losses, or values of the metric), difference (how much worse the
# challenger is), lower, upper (its 95 % interval), allowed, promote, words). The challenger is promoted when the upper
# end is at most `margin` times the champion's value. unreadable: why the champion cannot be read, or NULL.
compare_models <- function(champion, challenger, holdout, spec, unreadable = NULL) {
  if (!nrow(holdout)) stop_data("the held-out data have no rows, so models cannot be compared", "holdout")
  rows <- comparison_data(challenger, holdout, spec)
  judge <- if (is_given(challenger$objective)) evaluate_by_metric else evaluate_by_loss
  new <- judge(challenger, rows)
  out <- list(metric = new$metric, rows = nrow(holdout), champion = NA_real_, challenger = new$value,
              difference = NA_real_, lower = NA_real_, upper = NA_real_, allowed = NA_real_, promote = TRUE)
  text <- function(x) trimws(formatC(x, digits = 4L, format = "g")) # a 0 is padded
  why <- why_not_comparable(champion, challenger, rows, unreadable)
  old <- if (is.null(why)) tryCatch(judge(champion, rows), gbt_error = identity)
  if (inherits(old, "condition")) why <- "the earlier model cannot predict these data"
  if (!is.null(why)) {
    out$words <- sprintf("Promoted: %s. Its %s on %s is %s.", why, out$metric, counted(out$rows, "held-out row"),
                         text(out$challenger))
    return(out)
  }
  worse <- new$worse(old)
  out$champion <- old$value
  out$difference <- worse$mean
  out$lower <- worse$mean - worse$half
  out$upper <- worse$mean + worse$half
  out$allowed <- spec$margin * abs(out$champion)
  out$promote <- isTRUE(out$upper <= out$allowed)
  out$words <- sprintf("%s: %s on %s is %s, before %s; %s %s (95 %% interval %s to %s), allowed up to %s.",
                       if (out$promote) "Promoted" else "Held back", out$metric, counted(out$rows, "held-out row"),
                       text(out$challenger), text(out$champion), if (new$larger) "worse by" else "difference",
                       text(out$difference), text(out$lower), text(out$upper), text(out$allowed))
  out
}

# NULL, or why there is nothing to compare with.
why_not_comparable <- function(champion, challenger, rows, unreadable) {
  if (is.null(champion)) {
    return(if (is.null(unreadable)) "there was no earlier model" else "the earlier model cannot be read")
  }
  same <- identical(champion$objective, challenger$objective) && identical(champion$n_outputs, challenger$n_outputs)
  if (!same) return("the earlier model has another objective or other classes")
  if (takes_offset(champion) && is.null(champion$exposure) && is.null(rows$offset)) {
    return("the earlier model has an offset, and now there is none")
  }
  its <- champion$exposure # the name of a column, or ""
  lost <- !is.null(its) && is.null(rows$exposure) && is.null(column_of(rows$data, its))
  if (lost) "the earlier model has an exposure, and now there is none"
}

# Was it trained with the argument `offset`, or an exposure? (A formula's offset is in its terms.)
takes_offset <- function(model) model$has_offset && is.null(model$terms$offset)

# The data on which models are compared: list(data, y, weight or NULL, offset or NULL, exposure or NULL, eval_metric).
comparison_data <- function(challenger, data, spec) {
  of <- environment(spec$formula)
  value <- function(expression, what) {
    if (is_text(expression)) expression <- as.name(expression)
    try_else(eval(expression, data, of), function(e) {
      stop_data(sprintf("%s of the held-out data cannot be evaluated: %s", what, conditionMessage(e)), "holdout")
    })
  }
  given <- compared_args(spec$args)
  y <- value(spec$formula[[2L]], "the response")
  if (anyNA(y)) {
    stop_data(sprintf("the response of the held-out data has %s", counted_rows(which(is.na(y)), "missing value")),
              "holdout")
  }
  n <- nrow(data)
  weight <- if (!is.null(given$weights)) check_rating_weights(value(given$weights, "`weights`"), n)
  offset <- if (!is.null(given$offset)) check_offset(value(given$offset, "`offset`"), n, challenger$n_outputs)
  exposure <- if (!is.null(given$exposure)) value(given$exposure, "`exposure`")
  list(data = data, y = y, weight = weight, offset = offset, exposure = exposure, eval_metric = given$eval_metric)
}

predict_held_out <- function(model, rows, type = "response") {
  predict.gbt(model, rows$data, type, offset = if (takes_offset(model)) rows$offset,
              exposure = if (!is.null(model$exposure)) rows$exposure)
}

weighted_mean <- function(x, weight) if (is.null(weight)) mean(x) else sum(weight * x) / sum(weight)

# Both judges give list(metric, value, larger = is larger better?, worse = function(the other model's judgement) ->
# list(mean, half): how much worse this model is, and half the width of the interval of that).

evaluate_by_loss <- function(model, rows) {
  its <- row_losses(model, rows)
  weight <- rows$weight
  list(metric = its$metric, value = weighted_mean(its$loss, weight), larger = FALSE, loss = its$loss,
       worse = function(other) {
         d <- its$loss - other$loss
         mean <- weighted_mean(d, weight)
         w <- if (is.null(weight)) rep(1, length(d)) else weight
         n <- sum(w > 0)
         if (n < 2L) return(list(mean = mean, half = Inf))
         error <- sqrt(sum((w * (d - mean))^2) * n / (n - 1)) / sum(w) # that of a mean where weights are equal
         list(mean = mean, half = stats::qt(0.975, n - 1) * error)
       })
}

bootstrap_draws <- 200L

evaluate_by_metric <- function(model, rows) {
  need_metric(rows$eval_metric)
  response <- response_kind(model)
  metric <- resolve_metrics(utils::tail(as_metric_list(rows$eval_metric), 1L), response) # which stops early, too
  if (is.na(metric$maximise)) {
    stop_argument(sprintf("neither larger nor smaller values of metric \"%s\" are better; name another one",
                          metric$name), "eval_metric")
  }
  n <- nrow(rows$data)
  label <- encode_valid_y(rows$y, response, n, "the response of the held-out data")
  matrix_of <- function(type) matrix(as.double(predict_held_out(model, rows, type)), n)
  own <- metric$own[[1L]]
  its <- list(label = label, weight = rows$weight, score = matrix_of("link"),
              pred = if (!is.null(own) && own$type == "response") matrix_of("response"),
              baseline = baseline_of_metrics(metric, model, rounds_used(model)))
  value <- function(part, count = NULL) {
    weight <- if (is.null(count)) part$weight else if (is.null(part$weight)) as.double(count) else part$weight * count
    if (!is.null(weight) && !any(weight > 0)) return(NaN)
    metric_values(part, metric, response, weight, count, resolve_threads(NULL))
  }
  sign <- if (metric$maximise) -1 else 1
  list(metric = metric$name, value = value(its), larger = metric$maximise, rows = its, worse = function(other) {
    mean <- sign * (value(its) - value(other$rows))
    drawn <- vapply(seq_len(bootstrap_draws), function(i) {
      count <- drawn_counts(n, NULL, 1, i, rows$weight)
      sign * (value(its, count) - value(other$rows, count))
    }, 0)
    k <- count_weighted(rows$weight, n)
    list(mean = mean, half = if (k < 2) Inf else stats::qt(0.975, k - 1) * stats::sd(drawn[is.finite(drawn)]))
  })
}

# list(metric, loss for each row): what the objective minimises, or what is nearest to it row by row; smaller is better.
row_losses <- function(model, rows) {
  p <- predict_held_out(model, rows)
  if (!is.null(model$classes)) {
    class <- match(as.character(rows$y), model$classes)
    bad <- which(is.na(class))
    if (length(bad)) {
      stop_data(sprintf("the response of the held-out data has classes that the model does not know: %s",
                        counted_rows(bad, "value")), "holdout")
    }
    chosen <- if (is.matrix(p)) p[cbind(seq_along(class), class)] else ifelse(class == 2L, p, 1 - p)
    return(list(metric = "logloss", loss = -log(pmax(chosen, 1e-15))))
  }
  levels <- levels_of(model)
  if (is.null(levels)) return(loss_of_numbers(model, as.double(rows$y), as.double(p)))
  each <- lapply(seq_along(levels), function(k) quantile_loss(as.double(rows$y), as.double(p[, k]), levels[k]))
  list(metric = "quantile loss", loss = Reduce(`+`, each) / length(levels))
}

quantile_loss <- function(y, p, level) pmax(level * (y - p), (level - 1) * (y - p))

loss_of_numbers <- function(model, y, p) {
  log_ratio <- function(a, b) ifelse(a == 0, 0, a * log(a / b))
  level <- model$params$quantile_alpha
  switch(model$objective,
    logistic = , cross_entropy = {
      p <- pmin(pmax(p, 1e-15), 1 - 1e-15)
      list(metric = "logloss", loss = -y * log(p) - (1 - y) * log(1 - p))
    },
    poisson = , negative_binomial = , tweedie = list(metric = "Poisson deviance",
                                                     loss = 2 * (log_ratio(y, p) - y + p)),
    gamma = list(metric = "gamma deviance", loss = 2 * (y / p - 1 - log(y / p))),
    quantile = list(metric = "quantile loss", loss = quantile_loss(y, p, level)),
    absolute_error = , mape = , huber = , pseudo_huber = , log_cosh = list(metric = "absolute error",
                                                                           loss = abs(y - p)),
    squared_log_error = list(metric = "squared log error", loss = (log1p(y) - log1p(p))^2),
    list(metric = "squared error", loss = (y - p)^2)
  )
}
