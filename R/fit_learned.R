# Why a training has learned nothing, or has ended for a reason that its user would not guess: one warning for each
# call, whatever the number of rounds and folds, and a line of print(model).
#
#   reason    NULL, or list(kind = , text = ): the class of the warning, and what it says; of_rows = TRUE: for lack of
#             rows or of different responses, which is no surprise in some of many folds
#   fit$reason, state$reason   found before the first round, and while rounds were grown
#   reason_of(trainer, fit, state)   of a training that has ended: those, or what its trees and its log show
#
# A search for the number of rounds and the members of an ensemble after the first one say nothing: the training that
# the user asked for says it.

new_reason <- function(kind, ...) list(kind = kind, text = sprintf(...))

warn_reason <- function(reason) if (!is.null(reason)) warn_gbt(reason$kind, reason$text)

reason_of <- function(trainer, fit, state) {
  if (state$why %in% c("interrupt", "error") || state$rounds == 0) return(NULL)
  if (!is.null(state$reason)) return(state$reason)
  learned <- .Call(C_gbt_trainer_learned, trainer)
  if (learned[1L] == 0) return(given_or(fit$reason, no_split_reason(fit)))
  reason <- metric_reason(fit, state)
  if (is.null(reason)) reason <- flat_reason(fit, learned[2L], state)
  if (is.null(reason)) reason <- limit_reason(fit, state)
  reason
}

# No tree has a split ------------------------------------------------------------------------------------------------

# Values with which a parameter keeps no split away.
free_values <- list(min_child_weight = 0, min_data_in_leaf = 1, gamma = 0, lambda = 0, alpha = 0, max_leaves = 2,
                    cat_noise = 0, cat_smooth = 0, cat_l2 = 0, min_data_per_group = 1,
                    random_strength = 0, subsample = 1, colsample_bytree = 1, colsample_bylevel = 1,
                    colsample_bynode = 1, sampling_method = "uniform", boosting = "plain")

no_split_reason <- function(fit) {
  start <- if (fit$start$rounds > 0) "no tree of this training has a split, so it adds constants to `init_model`: " else
    "no tree has a split, so the model is a constant: "
  n <- fit$n_obs
  if (n < 2L) return(c(new_reason("no_split", "%sthere is one row to train on", start), of_rows = TRUE))
  if (all_same(numbers_of_label(fit$label)) && all_same(fit$data$offset)) {
    text <- "%sthe response has the same value in all %s rows"
    return(c(new_reason("no_split", text, start, with_commas(n)), of_rows = TRUE))
  }
  if (is_given(fit$response$objective)) {
    return(new_reason("no_split", paste0("%sin every round either the gradients of `objective` are the same in all ",
                                         "rows, or limits such as `min_child_weight` allow none"), start))
  }
  limits <- Filter(function(name) !identical(fit$params[[name]], free_values[[name]]), names(free_values))
  constrained <- names(Filter(Negate(is.null), fit$constraints[c("monotone", "interactions", "first_use_penalty")]))
  if (!is.null(fit$class_shares)) constrained <- c(constrained, "class_shares")
  if (!has_split(freed(fit, limits, constrained))) {
    return(new_reason("no_split", "%s%s", start, if (has_different_values(fit)) {
      "no split of any column lowers the loss"
    } else "no column has two different values"))
  }
  for (name in limits) {
    if (!has_split(freed(fit, name))) next
    how <- if (name == "max_leaves") "raise it" else
      if (name %in% c("subsample", "sampling_method", "boosting") || startsWith(name, "colsample")) "change it" else
        "lower it"
    value <- fit$params[[name]]
    if (is.numeric(value)) value <- format_number(value)
    return(new_reason("no_split", "%s`%s = %s` allows none for these data; %s", start, name, value, how))
  }
  for (name in constrained) {
    if (!has_split(freed(fit, character(0), name))) next
    typed <- if (name == "class_shares") "subsample" else name
    return(new_reason("no_split", "%s`%s` allows none for these data", start, typed))
  }
  needed <- limits # those whose values keep every split away even if all others are free
  for (name in limits) if (has_split(freed(fit, setdiff(needed, name), constrained))) needed <- setdiff(needed, name)
  left <- Filter(function(name) !has_split(freed(fit, needed, setdiff(constrained, name))), constrained)
  new_reason("no_split", "%s%s together allow none for these data; change them", start,
             enumerate(c(needed, sub("class_shares", "subsample", left)), 20L))
}

# Whether a vector, which may be empty or NULL, has one value, on all ranks the same.
all_same <- function(v) {
  if (sum_of_ranks(length(v)) == 0) return(TRUE)
  range <- range_of_ranks(v)
  range[1L] == range[2L]
}

has_different_values <- function(fit) {
  bins <- .Call(C_gbt_dataset_info, data_ptr(fit$data))$n_bins
  is.null(bins) || any(bins > 1)
}

# The training with these limits and constraints taken away, for one split.
freed <- function(fit, limits, constraints = character(0)) {
  fit$params[limits] <- free_values[limits]
  fit$params$max_depth <- 1
  fit$params$max_leaves <- if ("max_leaves" %in% limits || fit$params$max_leaves == 0) 2 else fit$params$max_leaves
  if (identical(fit$params$grow_policy, "symmetric")) fit$params$max_leaves <- 0
  fit$params$eta <- fit$params$eta[1L]
  fit$constraints[constraints] <- list(NULL)
  if ("class_shares" %in% constraints) fit["class_shares"] <- list(NULL)
  fit
}

# Has one of the trees of three rounds a split?
has_split <- function(fit) {
  fit$host$nrounds <- 3
  fit$host$max_seconds <- 0
  fit$host["checkpoint"] <- list(NULL)
  fit$valid <- list()
  fit$evaluation <- empty_evaluation()
  fit$data["masked_out"] <- list(NULL)
  trainer <- make_trainer(fit, NULL)
  on.exit(.Call(C_gbt_trainer_free, trainer))
  .Call(C_gbt_trainer_run, trainer, 3, fit$host$threads)
  .Call(C_gbt_trainer_learned, trainer)[1L] > 0
}

# Trees that move nothing --------------------------------------------------------------------------------------------

# span: the sum over trees of the span of their leaves' values, which bounds by how much predictions differ.
flat_reason <- function(fit, span, state) {
  info <- objective_info(fit$response$objective)
  if (span == 0) {
    return(new_reason("flat", paste("the leaves of every tree have one value, so the model is a constant: objective",
                                    "\"%s\" cannot be lowered by any of the splits"), info$name))
  }
  if (!state$why %in% "done" || fit$start$rounds > 0) return(NULL)
  rates <- rep_len(fit$params$eta, state$rounds)
  gone <- 1 - prod(1 - rates)
  if (gone < 0.01) {
    return(new_reason("flat", paste("the model is still close to a constant: `eta = %s` and %s go at most %s %% of the",
                                    "way to what the trees have learned; raise `eta` or `nrounds`"),
                      format_number(max(rates)), counted(state$rounds, "round"), format(100 * gone, digits = 2L)))
  }
  of_one_scale <- info$labels == "NUMBER" && info$gradient == "ROW" # scores and labels
  if (!of_one_scale || !is.null(ranks_here())) return(NULL)
  spread <- middle_half(numbers_of_label(fit$label))
  if (spread == 0 || span >= 1e-3 * spread) return(NULL)
  scale <- if (info$hessian == "BOUNDED") info$params$name
  new_reason("flat", paste("the model is still close to a constant: predictions differ by %s at most, and the middle",
                           "half of the response spans %s; %sscale the response, or give more rounds"),
             format(span, digits = 2L), format(spread, digits = 2L),
             if (length(scale) > 0L) sprintf("give a `%s` near to the errors, ", scale[1L]) else "")
}

# The middle half of numbers, of some of them where they are many.
middle_half <- function(v) {
  if (length(v) > 1e5) v <- v[seq(1, length(v), length.out = 1e5)]
  stats::IQR(v)
}

# Early stopping ------------------------------------------------------------------------------------------------------

watched_values <- function(fit, state) {
  log <- evaluation_log(fit$evaluation, fit$start, state)
  list(name = names(log)[length(log)], values = log[[length(log)]][log$round > fit$start$rounds])
}

metric_reason <- function(fit, state) {
  if (!fit$evaluation$stopping) return(NULL)
  watched <- watched_values(fit, state)
  if (any(is.finite(watched$values))) return(NULL)
  set <- fit$evaluation$data[[length(fit$evaluation$data)]]
  metric_text(watched$name, is.nan(watched$values[1L]) || is.na(watched$values[1L]), state$why == "early", state$rounds,
              all_same(numbers_of_label(set$label)))
}

metric_text <- function(name, missing, early, rounds, same) {
  new_reason("metric", "metric \"%s\" %s in every round%s, so there is no best round%s; give %s", name,
             if (missing) "has no value" else "is infinite",
             if (same) " (the response of these rows has one value)" else "",
             if (early) sprintf(" and early stopping ended the training after %s", counted(rounds, "round")) else "",
             if (same) "other validation data, or another metric" else "another metric")
}

# The limit of rounds that gbt has set itself. Where the user has set it, a message is enough.
limit_reason <- function(fit, state) {
  found <- fit$found
  if (!is.null(found)) {
    if (!is_late(found) || found$limit < fit$host$search$limit) return(NULL) # see limit_of_rows()
    return(limit_text(found$limit, names(found$log)[length(found$log)]))
  }
  if (!fit$evaluation$stopping || state$why != "done") return(NULL)
  best <- best_round(fit, state, evaluation_log(fit$evaluation, fit$start, state))$round
  if (is.null(best)) return(NULL)
  if (fit$host$rounds == "valid") {
    if (fit$start$rounds + state$rounds - best >= fit$host$early_stopping_rounds) return(NULL)
    return(limit_text(state$rounds, watched_values(fit, state)$name))
  }
  if (best - fit$start$rounds > 0.98 * state$rounds && state$rounds > 1 && fit$host$tells) {
    say(sprintf("%s was still improving at the end of %s: more `nrounds`, or a larger `eta`, may be better",
                watched_values(fit, state)$name, counted(state$rounds, "round")))
  }
  NULL
}

limit_text <- function(limit, metric) {
  new_reason("rounds", "%s was still improving at the limit of %s rounds; give `nrounds`, or a larger `eta`", metric,
             with_commas(limit))
}

# Did a search for the number of rounds end at its limit while the metric was improving?
is_late <- function(found) identical(found$stopped, "limit") && found$limit - found$rounds < found$patience

# Folds -------------------------------------------------------------------------------------------------------------

# Of each fold a reason or NULL -> one for all, or NULL.
reason_of_folds <- function(reasons) {
  has <- !vapply(reasons, is.null, NA)
  if (!all(has)) has <- has & !vapply(reasons, function(reason) isTRUE(reason$of_rows), NA)
  if (!any(has)) return(NULL)
  first <- reasons[[which(has)[1L]]]
  new_reason(first$kind, "in %s of %s: %s", format(sum(has)), counted(length(has), "fold"), first$text)
}

# Facts about the trees of a fold. The watched metric is that of the mean.
reason_of_fold <- function(trainer, fit, state) {
  fit$evaluation$stopping <- FALSE
  reason_of(trainer, fit, state)
}

# The watched metric, as means over folds. ran: see folds_in_session().
reason_of_means <- function(ran, limit) {
  if (length(ran$values) == 0L || is.na(ran$metrics$maximise)) return(NULL)
  name <- names(ran$values)[length(ran$values)]
  means <- fold_means(ran$values[[length(ran$values)]])
  if (!any(is.finite(means))) return(metric_text(name, anyNA(means), ran$why == "early", ran$rounds, FALSE))
  if (is.null(limit) || ran$why != "done" || ran$rounds < limit$rounds) return(NULL)
  best <- stopping_of(means, ran$metrics$maximise, ran$min_delta)[["best"]]
  if (ran$rounds - best < limit$patience) limit_text(ran$rounds, name)
}

# Of a search: reasons by the numbers of their configurations -> one for all, or NULL.
reason_of_configs <- function(reasons) {
  if (length(reasons) == 0L) return(NULL)
  new_reason(reasons[[1L]]$kind, "configuration%s %s: %s", if (length(reasons) > 1L) "s" else "",
             enumerate(names(reasons), 5L, ""), reasons[[1L]]$text)
}
