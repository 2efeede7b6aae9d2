#' Cross-validation
#'
#' Trains a model for every fold, on the rows outside of it, and evaluates it on the fold. The data are binned once for
#' all folds, and all folds are trained at the same time, round by round, so that early stopping uses their mean metric.
#'
#' @section Folds:
#' `folds = 5` draws five folds. For classes they are stratified, so that each fold has about the same shares of the
#' classes; for numbers `stratify = TRUE` stratifies by tenths of the response. The folds depend on `seed`. With
#' `group`, see [gbt_train()], whole groups are held out. With `time`, folds follow it (*rolling origin*): rows are
#' divided into `folds + 1` blocks by time, and fold i trains on the first i blocks and is evaluated on the next one, so
#' no model sees the future.
#'
#' Folds of your own are a value for each row (fold numbers, a factor, a character vector), a list of the rows that each
#' fold holds out, or the result of `rsample::vfold_cv()` and similar functions. `group` and `time` then only change
#' target encoding. With a formula, `folds` is evaluated in `data`, like `weights` of [gbt_train()], so it may be a
#' column, and `subset` and `na.action` drop rows together with their folds. (Row numbers in a list count the rows that
#' are left.)
#'
#' @section What is shared:
#' Cuts of numeric columns and the order of levels come from all rows, including held-out ones; they do not depend on
#' the response. Target statistics are computed for each fold. Rules for parameters (see [gbt_defaults()]) use the
#' number of all rows with a weight above 0, and all folds have the same parameters. If a race chooses the shape of
#' trees, it uses the rows that the first fold trains on. The model of a fold equals that of `gbt_train(x, y, mask = )`
#' with this shape, to the last bit.
#'
#' If a class is so rare that a fold holds out none or all of its rows, metrics that need two classes, such as `"auc"`,
#' are `NA` for this fold, and means and standard errors are over the other folds. If such a class has no row to train
#' on, `class_weights = "balanced"` balances the other classes.
#'
#' @section Several workers:
#' By default, folds are trained by the threads of this process. If package future has a plan with several workers, such
#' as `future::plan("multisession")`, the workers train the folds, each with its share of the threads unless you give
#' `threads`. The result is the same, to the last bit. Early stopping then takes about twice the work or more, since
#' each worker sees only its own folds: folds are trained for some rounds, then for twice as many until the mean stops
#' improving, and once more to the best round. Variables that your own metrics and objectives use are sent to the
#' workers; random numbers that these functions draw differ. Rounds are not printed. Only forked workers (`"multicore"`)
#' can use data in a [gbt_data()]. With `max_seconds` or `ranks`, see [gbt_ranks()], workers are not used.
#'
#' @param x,... Data and arguments of [gbt_train()], except `valid`, `mask`, `init_model`, `callbacks` and `checkpoint`.
#'   `max_seconds` is for all folds together. Without `nrounds`, early stopping is used (see `early_stopping_rounds`
#'   there).
#' @param folds The number of folds, or the folds; see below. Also called `nfold`, `nfolds`, `cv.folds` and
#'   `fold_count`.
#' @param repeats Number of repetitions with newly drawn folds.
#' @param stratify Whether drawn folds are balanced by the response; `NULL`: for classes only.
#' @param keep_models Whether to keep the model of each fold.
#'
#' @return An object of class `gbt_cv`, a list with
#'   \item{evaluation_log}{data frame: `round`, and for every metric of the held-out rows (and of the training rows with
#'     `eval_train = TRUE`) the mean over folds and its standard error, `test_rmse_mean`, `test_rmse_se`}
#'   \item{fold_log}{data frame: `fold`, `round` and the metrics of each fold}
#'   \item{best_round, best_score}{the round with the best mean of the last metric, and that mean; `NULL` where neither
#'     larger nor smaller is better}
#'   \item{one_se_round}{the first round whose mean is within one standard error of the best (Breiman and others, 1984,
#'     section 3.4.3): a smaller model that is about as good}
#'   \item{predictions}{for every row the prediction of the models that did not see it, as `predict()` gives it: a
#'     vector, or a matrix with a column for each class or other output; of distributions the parameters. With repeats
#'     it is their mean. Rows that no fold holds out have
#'     `NA`. With `early_stopping_rounds` they are those of `best_round`, else those of the last round. With `ranks`
#'     they are of this rank's rows}
#'   \item{folds}{list of the rows that each fold holds out, with `ranks` of this rank's rows}
#'   \item{models}{with `keep_models` the folds' models}
#'   \item{race}{how a race chose the shape of trees, as in a model; `NULL` without a race}
#'   \item{nrounds, params, call, rows, columns}{rounds that were trained; parameters; the call; fingerprints of the
#'     response and the columns, by which `gbt_refit()` and [gbt_conformal()] know the data again}
#' with methods for `print()`, `plot()` and `as.data.frame()` (the log). [gbt_refit()] trains the model of the chosen
#' number of rounds on all rows.
#' @seealso [gbt_train()], [gbt_refit()]; `vignette("tuning", package = "gbt")`
#' @concept cross-validation
#' @concept folds
#' @examples
#' cv <- gbt_cv(Species ~ ., iris, folds = 4, nrounds = 100, early_stopping_rounds = 10, seed = 1,
#'              threads = 1)
#' cv
#' plot(cv)
#' table(max.col(cv$predictions), iris$Species)
#' model <- gbt_refit(cv)
#' @aliases print.gbt_cv as.data.frame.gbt_cv
#' @export
gbt_cv <- function(x, ..., folds = 5, repeats = 1, stratify = NULL, keep_models = FALSE) {
  told_to_ranks({
    captured <- capture_call("gbt_cv")
    plan <- c(fold_plan(captured, repeats, stratify, "gbt_cv"),
              list(keep_models = check_flag(keep_models, "keep_models"), race = TRUE, call = captured$call))
    captured <- without_arguments(captured, cv_arguments)
    in_one_box(with_conditions_once(with_ranks(ranks_of(captured),
                                               without_model(cross_validate(captured, plan)), "gbt_cv")))
  })
}

# Arguments that are none of gbt_train().
cv_arguments <- c("folds", "repeats", "stratify", "keep_models", fold_aliases)

# How folds are made, see make_folds(); `folds` is the argument until there are data. who: the function that was called.
fold_plan <- function(captured, repeats, stratify, who) {
  refuse_misnamed(names(captured$args), who)
  folds <- Filter(function(its) !its$missing, captured$args[names(captured$args) %in% c("folds", fold_aliases)])
  if (length(folds) > 1L) stop_argument("`folds` is given twice", "folds")
  if (!is.null(stratify)) check_flag(stratify, "stratify")
  list(folds = if (length(folds)) folds[[1L]] else fixed_argument(5),
       repeats = check_whole(repeats, "repeats", 1, 1000), stratify = stratify, who = who)
}

# A name that is no parameter of training may mean an argument of gbt_cv() or gbt_tune(), which is `who`.
refuse_misnamed <- function(given, who) {
  own <- c("folds", "repeats", "stratify", if (who == "gbt_cv") "keep_models" else tune_arguments)
  known <- c(own, fold_aliases, "x", "y", "data", "formula", "subset", "na.action", "params", "")
  given <- printable(as.character(given))
  for (name in given[!given %in% known & is.na(canonical_name(given))]) {
    accepted <- length(find_foreign("train", name)$same) > 0L # some values of it are
    meant <- same_meaning(name, own)
    if (is.null(meant)) {
      meant <- intersect(nearest_name(name, c(own, names(alias_of), names(objective_params()))), own)
      replied <- !is.null(find_foreign("train", name)) # it is known to mean something else
      if (replied) meant <- meant[startsWith(meant, name)]
    }
    if (length(meant) && !accepted) {
      stop_argument(sprintf("%s() has no `%s`; did you mean `%s`?", who, name, meant[1L]), name)
    }
  }
}

# The source of a captured call and the plan with its folds.
source_and_folds <- function(captured, plan) {
  its <- source_of(captured, plan$folds)
  if (is.null(its$folds)) stop_argument("`folds` is NULL; give a number of folds, such as 5", "folds")
  plan$folds <- its$folds
  list(source = its$source, given = its$given, plan = plan)
}

# plan: of gbt_cv().
cross_validate <- function(captured, plan) {
  its <- source_and_folds(captured, plan)
  plan <- its$plan
  request <- read_request(its$given)
  check_plan_of_ranks(plan)
  rows <- cross_rows(its$source, request, plan)
  seed <- resolve_seed(request$args, request$params, draws_folds(plan))
  folds <- cross_folds(rows, plan, seed)
  workers <- fold_workers(rows, request)
  cv <- with_late_line(request$host$late, late_text(length(folds)),
                       rated_folds(rows, request, folds, seed, plan, workers))
  warn_reason(attr(cv, "reason"))
  attr(cv, "reason") <- NULL
  cv
}

draws_folds <- function(plan) !any_rank(length(plan$folds) != 1L)

# All rows and their response, a list: source, response, n.
cross_rows <- function(source, request, plan) {
  refuse_with_folds(request$args, plan$who)
  check_shares(source, request)
  check_not_by_column(request$args, source)
  if (!is.null(source$mask)) {
    stop_argument(sprintf("%s() has no `mask`: `folds` says which rows are held out", plan$who), "mask")
  }
  rows <- rows_of_source(source, request)
  warn_suspects(rows$source, rows$response)
  rows
}

cross_folds <- function(rows, plan, seed) {
  response <- rows$response
  make_folds(plan, rows$n, rows$source, if (!is.null(response$classes)) response$label, response$label, seed)
}

# The result of gbt_cv(). workers: NULL or what fold_workers() gave.
rated_folds <- function(rows, request, folds, seed, plan, workers = NULL) {
  facts <- rule_facts(rows$source, rows$n, rows$response, request)
  until <- proc.time()[["elapsed"]] + request$host$max_seconds
  raced <- if (plan$race) race_of_folds(rows, request, facts, folds, seed)
  if (!is.null(raced) && request$host$max_seconds > 0) request$host$max_seconds <- max(seconds_left(until), 0.001)
  facts$raced <- raced$shape
  if (!is.null(raced) && (is.null(workers) || workers$shared)) rows <- raced$rows
  request <- with_rules(request, facts, rows$response$objective)
  limit <- if (identical(request$host$rounds, "open")) list()
  request <- settle_cv_rounds(request)
  if (!is.null(limit)) limit <- list(rounds = request$host$nrounds, patience = request$host$early_stopping_rounds)
  plan$rows <- label_print(rows$response$label)
  plan$columns <- columns_print(rows$source$x)
  plan$constants <- rows$source$constants
  ran <- if (is.null(workers)) folds_in_session(fold_fits(rows$source, request, folds, rows$response, seed)) else
    folds_in_workers(rows, request, folds, seed, workers)
  out <- fold_results(ran, folds, plan, rows$n)
  out$race <- raced$table
  reason <- reason_of_folds(ran$reasons)
  if (is.null(reason)) reason <- reason_of_means(ran, limit)
  if (!is.null(reason)) out$warned <- reason$text
  structure(out, reason = reason)
}

# The race of a cross-validation, on the rows that the first fold trains on: list(shape, table, rows), see
# shape_of_race(), the rows with their bins. NULL where none is held. rows: see cross_rows(); searched: parameters that
# are searched; seconds: a limit of the search, or NULL.
race_of_folds <- function(rows, request, facts, folds, seed, searched = character(0), seconds = NULL) {
  task <- race_task(request, facts, rows, NULL, searched)
  if (is.null(task)) return(NULL)
  rows$source <- binned_once(rows$source, request, rows$response)
  ruled <- settle_cv_rounds(request_with_shape(task, NULL))
  first <- withCallingHandlers(fold_fits(rows$source, ruled, folds[1L], rows$response, seed)[[1L]],
                               gbt_message = function(m) invokeRestart("muffleMessage"),
                               gbt_warning = function(w) invokeRestart("muffleWarning"))
  first$host$verbose <- request$host$verbose
  if (!is.null(seconds)) first$host$max_seconds <- seconds
  race <- shape_of_race(first, task, by_valid = FALSE)
  list(shape = given_or(race$shape, shape_without_race(first, task)), table = race$table, rows = rows)
}

refuse_with_folds <- function(args, who) {
  why <- c(valid = "`folds` says which rows are held out", mask = "`folds` says which rows are held out",
           init_model = "it may have been trained on the rows that a fold holds out",
           checkpoint = "a cross-validation cannot be resumed",
           callbacks = "folds are trained at the same time; use `verbose` to see the log")
  for (name in intersect(names(why), names(args$value))) {
    if (name == "callbacks" && length(args$value$callbacks) == 0L) next
    stop_unsupported(sprintf("%s() has no `%s`: %s", who, name, why[[name]]), name)
  }
}

# The fits of all folds, see prepare(). The data are binned once.
fold_fits <- function(source, request, folds, response, seed) {
  source <- binned_once(source, request, response)
  args <- request$args$value
  args <- args[!names(args) %in% c(binning_arguments, row_arguments)]
  args$seed <- seed
  args <- with_ruled(args, request)
  if (is.null(args[["hist_memory"]])) args$hist_memory <- max(16, ceiling(1024 / length(folds))) # of all folds
  lapply(folds, function(fold) {
    source$mask <- fold$train
    source$held <- fold$held
    fit <- prepare(source, args, list())
    fit$named <- names(request$args$value)
    fit$by_rule <- request$by_rule
    fit$kept_by_name <- request$kept_by_name
    fit$lacks_class <- lacks_class(fit)
    fit
  })
}

# Folds that are trained, a list: values (of metrics, see fold_values()), lacking (see without_class()), reasons (of
# R/fit_learned.R, of each fold one or NULL), rounds, why,
# metrics, stopping (is there early stopping?), min_delta, objective, classes, models: a function of the best round, or
# NULL, that gives each fold's, once. watch: see run_folds().
folds_in_session <- function(fits, watch = NULL) {
  fit <- fits[[1L]]
  runs <- run_folds(fits, watch)
  if (is_cut(runs$why)) stop_cut_cv(runs)
  rounds <- runs$states[[1L]]$rounds
  reasons <- Map(reason_of_fold, runs$trainers, fits, runs$states)
  models <- function(best) {
    out <- Map(function(trainer, fit, state) {
      state$best <- given_or(best, NA)
      fit$evaluation$own_watched <- FALSE # the best round is that of the mean
      finish_model(trainer, fit, state)
    }, runs$trainers, fits, runs$states)
    free_trainers(runs$trainers)
    out
  }
  list(values = fold_values(fits, runs$states, rounds), lacking = folds_lack_class(fits), reasons = reasons,
       rounds = rounds, why = runs$why, metrics = fit$evaluation$metrics, stopping = fit$evaluation$stopping,
       min_delta = if (fit$evaluation$stopping) fit$host$early_stopping_min_delta else 0,
       objective = fit$response$objective, classes = fit$response$classes, models = models)
}

# ran: see folds_in_session().
fold_results <- function(ran, folds, plan, n) {
  values <- ran$values
  rounds <- ran$rounds
  chosen <- choose_rounds(values, ran$metrics, ran$min_delta)
  models <- ran$models(chosen$best_round)
  number <- seq_along(models)
  fold_log <- list_frame(c(list(fold = rep(number, each = rounds), round = rep(seq_len(rounds), length(number))),
                           lapply(values, as.vector)), rounds * length(number))
  structure(class = "gbt_cv", list(
    evaluation_log = mean_log(values, rounds), fold_log = fold_log,
    best_round = chosen$best_round, best_score = chosen$best_score, one_se_round = chosen$one_se_round,
    metric = if (length(values)) names(values)[length(values)],
    predictions = held_out_predictions(models, folds, n), folds = lapply(folds, function(fold) which(fold$held)),
    models = if (plan$keep_models) models, nrounds = as.integer(rounds), stopped = ran$why,
    early = ran$stopping, objective = ran$objective, classes = ran$classes,
    params = models[[1L]]$params, by_rule = models[[1L]]$by_rule, n_obs = n, n_all = n_all_of_ranks(n),
    rows = plan$rows, columns = plan$columns, call = plan$call, call_constants = plan$constants
  ))
}

# With ranks the number of rows of all of them, else NULL.
n_all_of_ranks <- function(n) if (!is.null(ranks_here())) sum_of_ranks(n)

# The models of a cross-validation that kept them.
models_of_folds <- function(cv, parameter) {
  check_search(cv, parameter)
  models <- cv$models
  if (is.null(models)) {
    stop_argument("the cross-validation kept no models; run gbt_cv() with `keep_models = TRUE`", parameter)
  }
  if (!is.list(models) || is.object(models) || length(models) < 1L) {
    stop_argument("the field `models` of the cross-validation was changed; run gbt_cv() again", parameter)
  }
  for (model in models) check_model(model, parameter)
  models
}

# Every row's predictions by the models that did not train on it, the mean of those that there are.
held_out_predictions <- function(models, folds, n) {
  first <- models[[1L]]$masked_out
  out <- matrix(0, n, NCOL(first), dimnames = if (is.matrix(first)) list(NULL, colnames(first)))
  times <- numeric(n)
  for (k in seq_along(models)) {
    at <- which(folds[[k]]$held)
    out[at, ] <- out[at, ] + models[[k]]$masked_out
    times[at] <- times[at] + 1
  }
  out <- out / ifelse(times == 0, NA, times)
  if (is.matrix(first)) out else as.vector(out)
}

#' @export
as.data.frame.gbt_cv <- function(x, ...) x$evaluation_log

#' @export
summary.gbt_cv <- function(object, ...) as_printed(object, list(...))

#' @export
print.gbt_cv <- function(x, digits = max(3L, getOption("digits") - 2L), ...) {
  digits <- check_digits(digits, 2L)
  rounds <- sprintf("%s%s", counted(x$nrounds, "round"),
                    switch(x$stopped, early = ", stopped early", time = ", stopped by time", ""))
  cat(sprintf("<gbt_cv> %s, %s, %s, objective \"%s\"\n", counted(length(x$folds), "fold"), rounds,
              counted(given_or(x$n_all, x$n_obs), "row"), x$objective))
  if (!is.null(x$warned)) cat(warned_lines(x$warned), sep = "\n")
  log <- x$evaluation_log
  if (length(log) < 2L || x$nrounds == 0L) return(invisible(x))
  metrics <- sub("_mean$", "", grep("_mean$", names(log), value = TRUE))
  show <- c(best = x$best_round, `one standard error` = x$one_se_round)
  if (length(show) == 0L) show <- c(last = x$nrounds)
  if (length(show) == 2L && show[1L] == show[2L]) show <- show[1L]
  if (length(metrics) > 1L) names(show)[names(show) == "best"] <- paste("best by", x$metric)
  for (i in seq_along(show)) {
    row <- show[[i]]
    text <- vapply(metrics, function(name) {
      sprintf("%s %s +- %s", name, format(log[[paste0(name, "_mean")]][row], digits = digits),
              format(log[[paste0(name, "_se")]][row], digits = 2L))
    }, "")
    cat(sprintf("round %d (%s): %s (+- standard error)\n", row, names(show)[i], paste(text, collapse = ", ")))
  }
  invisible(x)
}

# A cross-validation or a search has no model of all rows.
#' @export
predict.gbt_cv <- function(object, ...) stop_no_model_of_all(object)

#' @export
predict.gbt_tune <- function(object, ...) stop_no_model_of_all(object)

stop_no_model_of_all <- function(object) {
  stop_unsupported(sprintf(paste("a %s has no model of all rows to predict by; train one:",
                                 "predict(gbt_refit(object), newdata)"), kind_of_object(object)))
}
