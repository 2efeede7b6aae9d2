# Choosing parameters: gbt_tune(). See R/verb_tune_space.R for the space, R/verb_cv.R for how a configuration is rated.

#' Tune parameters
#'
#' Searches for good parameters, by random search, successive halving or Bayesian search. Each configuration is
#' evaluated by cross-validation with early stopping, see [gbt_cv()], on the same folds. [gbt_refit()] then trains the
#' best one on all rows.
#'
#' @section The space:
#' `space` is a list by names of parameters, in any of their spellings. Two numbers are a range, `eta = c(0.02, 0.3)`;
#' anything else is a set of values: `max_depth = list(4, 6)`, `lambda = c(0, 1, 10)`, `grow_policy = c("depthwise",
#' "symmetric")`. Each value must be a single one, so a schedule of `eta` can only be given in `...`. Other parameters
#' have the values in `...`, or their defaults. If the space has at most `configs` configurations, all of them are
#' evaluated.
#'
#' A parameter that has no effect in a configuration, or is not allowed there, is left out (`NA` in the results):
#' `linear_lambda` with constant leaves, `sketch` without common trees, `colsample_bynode` in symmetric trees, and
#' `subsample`, `top_rate`, `other_rate`, `mvs_reg` and `bagging_temperature` with other sampling methods.
#'
#' The default space is `eta` 0.02 to 0.3, `grow_policy`, `max_depth` 3 to 10 and, with `"lossguide"`, `max_leaves` 8 to
#' 256, `lambda` and `min_child_weight` 0.1 to 30, `subsample` 0.5 to 1, `colsample_bytree` 0.4 to 1, except those that
#' you give in `...`.
#'
#' Ranges above 0 of `eta`, `lambda`, `min_child_weight` and similar parameters are drawn on a logarithmic scale;
#' `log_scale` changes which. All configurations have the same bins (`max_bin`, `cat_features`), objective and metrics.
#'
#' @section Successive halving:
#' `method = "halving"` (Jamieson and Talwalkar, 2016) first trains all configurations for few rounds; the best third (1
#' / `reduction`) continue to `reduction` times as many rounds, and so on, up to `nrounds`. It spends most of the time
#' on good configurations, but the first stages are biased against a small `eta`, which needs more rounds. The first
#' stage has at least `min_rounds` rounds. A configuration that stopped early is not trained again.
#'
#' @section Bayesian search:
#' `method = "bayesian"` draws the first configurations at random, like random search (a third of `configs`, at least 5
#' and at most 2 p + 1 for p parameters). Then it fits a Gaussian process to the estimates so far, and evaluates, one
#' after the other, the configuration with the largest expected improvement among 1,000 random candidates (Jones,
#' Schonlau and Welch, 1998). Package kernlab must be installed. The search depends on `seed`, and on the last digits of
#' linear algebra, which may differ between machines.
#'
#' @section Several processes:
#' If package future has a plan with several workers, such as `future::plan(future::multisession, workers = 4)`, each
#' worker evaluates one configuration at a time. The result is the same as in one process, to the last digit, except for
#' the times. Workers in other processes (`multisession`, `cluster`) receive the data and bin them once; only
#' `multicore` can use a [gbt_data()] of this process. By default, the threads are divided among the workers. Bayesian
#' search evaluates one configuration after the other. Without a plan, threads share the work.
#'
#' @section Failures and interruption:
#' A configuration that fails has the estimate `NA`. The first failure for each reason gives a warning (class
#' `gbt_warning_tune`) with the message, and `errors` has all messages. After Ctrl-C, [gbt_last_interrupted()] returns
#' the finished configurations, which are also in the field `tune` of the condition.
#'
#' @param x,... The data and fixed parameters, as in [gbt_cv()]. `nrounds` is the maximum number of rounds (default
#'   500), and `early_stopping_rounds` has the default 20; the last metric in `eval_metric` is optimised. With `verbose
#'   = 1` there is a line for each configuration. `max_seconds` is for each configuration, `seconds` for the search.
#' @param space The space to search, see below.
#' @param configs Number of configurations. Default: 30, or with `seconds` as many as the time allows, at most 10,000
#'   (for halving always 30).
#' @param seconds Time limit; `NULL` for none. After it no further configuration begins, and the current one ends after
#'   its round. At least one is evaluated. The result then depends on the speed of the machine.
#' @param method `"random"`, `"halving"` or `"bayesian"`, see below.
#' @param folds,repeats,stratify See [gbt_cv()]. Folds are drawn once.
#' @param log_scale Names of parameters whose ranges are drawn on a logarithmic scale, instead of the usual ones.
#' @param reduction,min_rounds See successive halving.
#' @return An object of class `gbt_tune`, a list with
#'   \item{results}{data frame, a row for each configuration: `config`, and a column for each parameter. `rounds` is the
#'     best number of rounds, `estimate` the mean of the metric over folds there, with `std_error`. `seconds` is the
#'     time that it took, `stage` the last stage that it was trained in (1 without halving). There are fewer rows where
#'     the time was over}
#'   \item{metric, larger_is_better}{the metric that was optimised}
#'   \item{space}{the search space: a list by parameter of `values`, or of `low`, `high`, `whole` (whole numbers only)
#'     and `log` (drawn on a logarithmic scale)}
#'   \item{best, best_config}{parameters of the best configuration, a list, and its number; `NULL` when all failed}
#'   \item{errors}{messages of failures, named by number of configuration}
#'   \item{folds, params, stopped, method, objective, n_obs, rows, call}{list of the rows that each fold holds out; the
#'     seed; `"done"`, `"time"` or `"interrupt"`; the rest as in [gbt_cv()]}
#' with methods for `print()`, `plot()` and `as.data.frame()` (the results).
#' @seealso [gbt_cv()], [gbt_refit()], [gbt_parameters()]; `vignette("tuning", package = "gbt")`
#' @concept hyperparameter tuning
#' @concept hyperparameter search
#' @concept Bayesian optimization
#' @examples
#' space <- list(eta = c(0.05, 0.3), max_depth = c(2, 5), lambda = c(0.1, 10))
#' tuned <- gbt_tune(mpg ~ ., mtcars, space = space, configs = 6, folds = 4, nrounds = 80,
#'                   min_child_weight = 3, seed = 1, threads = 1)
#' tuned
#' plot(tuned)
#' model <- gbt_refit(tuned)
#' @aliases print.gbt_tune as.data.frame.gbt_tune
#' @export
gbt_tune <- function(x, ..., space = NULL, configs = NULL, seconds = NULL, method = c("random", "halving", "bayesian"),
                     folds = 5, repeats = 1, stratify = NULL, log_scale = NULL, reduction = 3, min_rounds = 10) {
  told_to_ranks({
    method <- match_choice(method, c("random", "halving", "bayesian"), "method")
    if (method == "bayesian") check_bayesian()
    if (method != "halving" && !(missing(reduction) && missing(min_rounds))) {
      given <- if (missing(reduction)) "min_rounds" else "reduction"
      stop_argument(sprintf("`%s` needs `method = \"halving\"`", given), given)
    }
    if (!is.null(seconds) && (!is_number(seconds, 0) || seconds == 0)) {
      stop_argument(sprintf("`seconds` must be one number above 0, or NULL for no limit, not %s", quote_value(seconds)),
                    "seconds")
    }
    if (!is.null(configs)) configs <- check_whole(configs, "configs", 1, 10000)
    usual <- if (is.null(seconds) || method == "halving") 30L else 10000L
    captured <- capture_call("gbt_tune")
    plan <- c(fold_plan(captured, repeats, stratify, "gbt_tune"), list(
      space = space, configs = given_or(configs, usual), seconds = seconds, method = method, log_scale = log_scale,
      reduction = check_whole(reduction, "reduction", 2, 100),
      min_rounds = check_whole(min_rounds, "min_rounds", 1, .Machine$integer.max), call = captured$call
    ))
    captured <- without_arguments(captured, c(cv_arguments, tune_arguments))
    in_one_box(with_conditions_once(with_ranks(ranks_of(captured), tune(captured, plan), "gbt_tune")))
  })
}

# Arguments that are none of gbt_cv().
tune_arguments <- c("space", "configs", "seconds", "method", "log_scale", "reduction", "min_rounds")

# plan: of gbt_tune().
tune <- function(captured, plan) run_search(without_model(search_of(captured, plan)))

# What run_search() takes.
search_of <- function(captured, plan) {
  began <- proc.time()[["elapsed"]]
  its <- source_and_folds(captured, plan)
  plan <- its$plan
  request <- tune_request(its$given)
  check_plan_of_ranks(plan)
  args <- request$args$value
  space <- read_space(plan$space, plan$log_scale, args)
  tell_limits(request$host$max_seconds, plan)
  rows <- cross_rows(its$source, request, plan)
  if ("eta_scale" %in% names(space)) { # else each configuration would say so
    read_objective_params(rows$response$objective, list(value = list(eta_scale = 1), typed = c(eta_scale = "eta_scale"),
                                                        of_model = TRUE))
  }
  metrics <- resolve_metrics(args[["eval_metric"]], rows$response)
  last <- length(metrics$name)
  if (last == 0L || is.na(metrics$maximise)) {
    with_typed(stop_argument(paste("gbt_tune() compares configurations by the last metric of `eval_metric`; give one",
                                   "for which larger or smaller values are better"), "eval_metric"),
               request$args$typed)
  }
  seed <- args[["seed"]]
  if (is.null(seed)) seed <- value_of_first_rank(as.double(sample.int(.Machine$integer.max, 1L)))
  folds <- cross_folds(rows, plan, seed)
  configs <- of_first_rank(list(v = as.list(draw_configs(space, plan$configs, seed))))$v # logarithms, by libraries
  configs <- list_frame(configs, length(configs[[1L]]))
  args <- args[!names(args) %in% row_arguments]
  args$seed <- seed
  args$verbose <- 0
  facts <- rule_facts(rows$source, rows$n, rows$response, request) # the same for all stages and configurations
  if ("sketch" %in% names(space)) facts$sums <- FALSE # some configurations have a projection
  preset <- match_choice(args[["preset"]], presets, "preset")
  request$preset <- preset
  facts$grow_policy <- given_or(args[["grow_policy"]], facts$grow_policy)
  named <- c(counts_as_named(args), names(space))
  open <- if (any(shape_parameters %in% names(space))) shape_parameters # by configuration
  rules <- function(shape = NULL, without = NULL) {
    facts$given <- replace(facts$given, names(shape), shape)
    facts$grow_policy <- given_or(shape$grow_policy, facts$grow_policy)
    rules_of(facts, rows$response$objective, preset, c(named, without))
  }
  request$host$max_bin <- given_or(rules(without = open)$max_bin, request$host$max_bin)
  raw <- rows # binned rows have no `x` any more
  rows$source <- binned_once(rows$source, request, rows$response)
  if (is.null(open)) {
    own <- replace(request, "params", list(engine_values(request$args)))
    facts$raced <- race_of_folds(rows, own, facts, folds, seed, names(space), plan$seconds)$shape
  }
  chosen <- rules(without = open) # the same, too; what goes with the shape of one configuration is not among it
  args[names(chosen)] <- chosen
  side <- future_plan(raw, rows, args, folds, seed)
  if (is.null(side) || side$work$binned) args <- args[!names(args) %in% binning_arguments]
  list(rows = rows, folds = folds, args = args, request = request, configs = configs,
       space = space, side = side, columns = columns_print(raw$source$x),
       metric = metrics$name[last], maximise = metrics$maximise, plan = plan, seed = seed, rules = rules,
       verbose = request$host$verbose, n_all = n_all_of_ranks(rows$n),
       until = if (is.null(plan$seconds)) Inf else began + plan$seconds)
}

# max_seconds alone is a limit of each configuration, where one of the search may be meant.
tell_limits <- function(max_seconds, plan) {
  if (max_seconds == 0 || !is.null(plan$seconds) || plan$configs == 1L || !is_first_rank()) return(invisible())
  say(sprintf(paste("`max_seconds = %s` limits each of the %s; `seconds` limits the whole search"),
              format_number(max_seconds), counted(plan$configs, "configuration")))
}

# The common parts of all configurations, as read_request(), whose checks of parameters together are those of a
# configuration.
tune_request <- function(given) {
  args <- read_arguments(given)
  if (is.null(args$value[["nrounds"]])) args$value$nrounds <- 500
  if (is.null(args$value[["early_stopping_rounds"]])) args$value$early_stopping_rounds <- 20
  engine_values(settle_method(args))
  host <- host_params(args)
  host$threads <- resolve_threads(args$value[["threads"]])
  host$sparse_zero <- match_choice(args$value[["sparse_zero"]], c("value", "missing"), "sparse_zero")
  if (is_schedule(args$value[["eta"]])) {
    args$value$eta <- rep_len(read_schedule(args, NULL, host$nrounds, 0), host$nrounds)
  }
  list(args = args, params = engine_defaults(), host = host, objective = as_objective(args),
       cat_method = read_cat_method(args$value[["cat_method"]]))
}

# Stages of successive halving, a list: rounds, and how many configurations go into each.
search_stages <- function(n, nrounds, plan) {
  if (plan$method != "halving") return(list(rounds = nrounds, configs = n))
  more <- 0
  while (n > plan$reduction^(more + 1) - 1 && nrounds >= plan$min_rounds * plan$reduction^(more + 1)) more <- more + 1
  shrunk <- plan$reduction^seq(0, more)
  list(rounds = ceiling(nrounds / rev(shrunk)), configs = ceiling(n / shrunk))
}

# All configurations, stage by stage. What is finished is kept whatever happens.
run_search <- function(search) {
  n <- .row_names_info(search$configs, 2L)
  state <- new.env(parent = emptyenv())
  state$done <- list_frame(list(rounds = rep(NA_integer_, n), estimate = rep(NA_real_, n),
                                std_error = rep(NA_real_, n), seconds = rep(0, n), stage = rep(0L, n),
                                ended = rep(FALSE, n)), n)
  state$configs <- search$configs
  state$errors <- character(0)
  state$reasons <- list()
  state$stopped <- "done"
  text <- late_tune_text(search, state)
  run <- function() with_late_line(search$request$host$late, text, run_stages(search, state, n))
  outcome <- tryCatch(withCallingHandlers(run(), error = function(e) { # a time limit, mostly
    package_state$interrupted <- if (any(state$done$stage > 0L)) search_result(search, state, "time")
  }), interrupt = identity)
  if (!inherits(outcome, "condition")) {
    warn_reason(reason_of_configs(state$reasons))
    return(search_result(search, state, state$stopped))
  }
  result <- search_result(search, state, "interrupt")
  package_state$interrupted <- result
  raise_interrupt(sprintf("tuning was interrupted after %s; gbt_last_interrupted() has what is finished",
                          counted(nrow(result$results), "configuration")), tune = result)
}

run_stages <- function(search, state, n) {
  stages <- search_stages(n, search$request$host$nrounds, search$plan)
  for (stage in seq_along(stages$rounds)) {
    at <- ranked(state$done, search$maximise)
    at <- if (stage == 1L) seq_len(n) else utils::head(at[state$done$stage[at] == stage - 1L], stages$configs[stage])
    for (batch in batches(search, at)) {
      if (any(state$done$stage > 0L) && is.finite(search$until) && seconds_left(search$until) <= 0) {
        state$stopped <- "time"
        return(NULL)
      }
      if (!choose_config(search, state, batch)) return(NULL)
      try_configs(search, state, batch[!state$done$ended[batch]], stages$rounds[stage])
      state$done$stage[batch] <- stage
      if (search$verbose) for (config in batch) say(config_line(search, state, config, length(stages$rounds)))
    }
  }
  NULL
}

# The line of with_late_line() for a search.
late_tune_text <- function(search, state) {
  function(round, nrounds, searching) {
    done <- sum(state$done$stage > 0L)
    sprintf(paste("tuning has rated %d of %s; `configs = ` or `seconds = ` limits the search, `verbose = 1` prints a",
                  "line for each configuration, `progress = FALSE` hides this line"), done,
            counted(.row_names_info(state$configs, 2L), "configuration"))
  }
}

# Which configurations are rated at a time: one, or as many as there are workers. What is proposed knows what was rated
# before it, so these come one by one wherever they are rated.
batches <- function(search, at) {
  width <- if (is.null(search$side)) 1L else search$side$n
  single <- search$plan$method == "bayesian" & at > bayes_start(search$space, length(at))
  unname(split(at, ifelse(single, length(at) + seq_along(at), (seq_along(at) - 1L) %/% width)))
}

# Bayesian search: the configuration that comes next. FALSE when there is none that was not tried.
choose_config <- function(search, state, batch) {
  config <- batch[1L]
  drawn <- bayes_start(search$space, .row_names_info(search$configs, 2L))
  all <- space_size(search$space) <= search$plan$configs # of a finite space, in the order that was drawn
  if (search$plan$method != "bayesian" || config <= drawn || all) return(TRUE)
  before <- seq_len(config - 1L)
  tried <- list_frame(lapply(state$configs, `[`, before), length(before))
  chosen <- of_first_rank(list( # of package kernlab, whose numbers depend on the machine's libraries
    config = propose_config(search$space, tried, state$done$estimate[before], search$maximise, search$seed)
  ))$config
  if (is.null(chosen)) return(FALSE)
  for (name in names(chosen)) state$configs[[name]][config] <- chosen[[name]]
  TRUE
}

# Numbers of the configurations that have an estimate, the best first; of equals those of the earlier number.
ranked <- function(done, maximise) {
  order <- order(if (maximise) -done$estimate else done$estimate)
  order[!is.na(done$estimate[order])]
}

# Rates some configurations. What fails fails again with more rounds.
try_configs <- function(search, state, at, rounds) {
  all <- lapply(at, config_arguments, search = search, state = state, rounds = rounds)
  found <- if (is.null(search$side) || length(at) < 2L) {
    here <- function(args) rate(search$rows, search$folds, search$seed, args[!names(args) %in% binning_arguments])
    lapply(all, here)
  } else {
    rate_side_by_side(search$side, all)
  }
  Map(function(config, one) {
    done <- state$done
    done$seconds[config] <- done$seconds[config] + one$seconds
    if (!is.null(one$error)) {
      told <- one$error %in% state$errors
      state$errors[as.character(config)] <- one$error
      done[config, c("rounds", "estimate", "std_error")] <- NA
      done$ended[config] <- TRUE
      state$done <- done
      if (!told && is_first_rank()) { # the message of a rank that failed names no rank
        warn_gbt("tune", sprintf("configuration %d failed: %s", config, one$error), config = config)
      }
      return(NULL)
    }
    if (!is.null(one$reason)) state$reasons[[as.character(config)]] <- one$reason
    done$rounds[config] <- one$rounds
    done$estimate[config] <- one$estimate
    done$std_error[config] <- one$std_error
    done$ended[config] <- one$ended
    state$done <- done
  }, at, found)
}

# The values of a configuration: a list by name of parameters, without those that play no part in it.
config_values <- function(configs, config) Filter(function(v) !is.na(v), lapply(configs, `[`, config))

# The arguments of gbt_train() for a configuration, by name.
config_arguments <- function(config, search, state, rounds) {
  args <- search$args
  args <- args[!names(args) %in% names(state$configs)]
  chosen <- config_values(state$configs, config)
  args[names(chosen)] <- chosen
  args$nrounds <- rounds
  if (length(args[["eta"]]) > 1L) args$eta <- args$eta[seq_len(rounds)]
  if (is.finite(search$until)) {
    left <- max(seconds_left(search$until), 0.001)
    own <- search$request$host$max_seconds
    args$max_seconds <- if (own > 0) min(own, left) else left
  }
  rename_alpha(args)
}

# A configuration by cross-validation, as gbt_cv() does it: list(seconds, and error, a message, or rounds, estimate,
# std_error and ended, whether early stopping ended it). rows: see cross_rows(), binned.
rate <- function(rows, folds, seed, args) {
  t0 <- proc.time()[["elapsed"]]
  out <- try_else(all_or_none({
    cv <- rated_folds(rows, read_request(args), folds, seed, list(keep_models = FALSE, race = FALSE))
    log <- cv$evaluation_log
    if (is.null(cv$best_round)) list(error = "the metric has no finite value") else {
      list(rounds = cv$best_round, estimate = cv$best_score, std_error = log[[length(log)]][cv$best_round],
           ended = cv$stopped == "early", reason = attr(cv, "reason"))
    }
  }), function(problem) list(error = conditionMessage(problem)))
  c(out, seconds = proc.time()[["elapsed"]] - t0)
}

config_line <- function(search, state, config, n_stages) {
  done <- state$done
  values <- vapply(config_values(state$configs, config), format, "", digits = 4L)
  what <- if (is.na(done$estimate[config])) "failed" else {
    sprintf("%s %s (round %d)", search$metric, formatC(done$estimate[config], digits = 6L, format = "g", flag = "#"),
            done$rounds[config])
  }
  n <- .row_names_info(state$configs, 2L)
  stage <- if (n_stages > 1L) sprintf(" stage %d/%d", done$stage[config], n_stages) else ""
  sprintf("[%*d/%d]%s %s  %s", nchar(n), config, n, stage, what,
          paste(names(values), trimws(values), sep = " ", collapse = ", "))
}

search_result <- function(search, state, stopped) {
  done <- state$done
  seen <- which(done$stage > 0L)
  best <- ranked(done, search$maximise)[1L]
  shape <- state$configs[intersect(shape_parameters, names(state$configs))]
  chosen <- search$rules(if (!is.na(best)) lapply(shape, `[`, best))
  same <- intersect(names(chosen), names(search$args)) # those of all configurations
  chosen[same] <- search$args[same]
  columns <- c(list(config = seq_along(done$stage)), as.list(state$configs), as.list(done)[names(done) != "ended"])
  structure(class = "gbt_tune", list(
    results = list_frame(lapply(columns, `[`, seen), length(seen)), metric = search$metric,
    larger_is_better = search$maximise,
    space = lapply(stats::setNames(nm = names(search$space)), function(name) search$space[[name]][-1L]),
    best = if (!is.na(best)) config_values(state$configs, best),
    best_config = if (!is.na(best)) best, errors = state$errors, method = search$plan$method, stopped = stopped,
    folds = lapply(search$folds, function(fold) which(fold$held)),
    params = c(list(seed = search$seed), if (length(search$args[["eta"]]) > 1L) search$args["eta"], chosen),
    by_rule = names(chosen),
    objective = search$rows$response$objective, n_obs = search$rows$n, n_all = search$n_all,
    rows = label_print(search$rows$response$label), columns = search$columns,
    call = search$plan$call,
    call_constants = search$rows$source$constants
  ))
}

#' @export
as.data.frame.gbt_tune <- function(x, ...) x$results

#' @export
summary.gbt_tune <- function(object, ...) as_printed(object, list(...))

#' @export
print.gbt_tune <- function(x, n = 5, digits = max(3L, getOption("digits") - 2L), ...) {
  digits <- check_digits(digits, 2L)
  n <- check_whole(n, "n", 0)
  results <- x$results
  cat(sprintf("<gbt_tune> %s%s%s, %s, %s, objective \"%s\"\n", counted(nrow(results), "configuration"),
              if (length(x$errors)) sprintf(" (%d failed)", length(x$errors)) else "",
              switch(x$stopped, time = ", stopped by time", interrupt = ", interrupted", ""),
              counted(length(x$folds), "fold"), counted(given_or(x$n_all, x$n_obs), "row"), x$objective))
  if (is.null(x$best_config)) {
    why <- if (length(x$errors)) sprintf(": %s", x$errors[1L])
    cat(sprintf("no configuration was rated%s\n", given_or(why, "")))
    return(invisible(x))
  }
  at <- match(x$best_config, results$config)
  cat(sprintf("best: configuration %d, round %d, %s %s +- %s (%s is better)\n", x$best_config, results$rounds[at],
              x$metric, format(results$estimate[at], digits = digits), format(results$std_error[at], digits = 2L),
              if (x$larger_is_better) "larger" else "smaller"))
  shown <- utils::head(results[ranked(results, x$larger_is_better), , drop = FALSE], n)
  for (name in setdiff(names(shown), c("config", "rounds", "stage"))) {
    if (is.numeric(shown[[name]])) {
      shown[[name]] <- vapply(shown[[name]], format, "", digits = if (name == "estimate") digits else 3L)
    }
  }
  more <- nrow(results) - nrow(shown)
  if (x$method != "halving") shown$stage <- NULL
  if (nrow(shown)) print(shown, row.names = FALSE)
  if (more > 0L) cat(sprintf("and %d more\n", more))
  invisible(x)
}
