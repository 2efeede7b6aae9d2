# Learning rates by round. `eta` is a number, a number for each round, or a function of the round. Training sees
# numbers: one where all rounds have the same, else one for each of `nrounds`. A function is asked before training, so
# that a schedule is data: kept in the model, in checkpoints, and by the folds of a cross-validation.

is_schedule <- function(eta) {
  is.function(eta) || (is.numeric(eta) && !is.object(eta) && length(eta) != 1L)
}

# args: see collect_args(); eta: the checked number where `eta` is none of these; before: rounds of the model to go on
# from, which a function's rounds are counted from.
read_schedule <- function(args, eta, nrounds, before) {
  given <- args$value[["eta"]]
  if (!is_schedule(given)) return(eta)
  what <- param_text("eta", args$typed["eta"])
  if (is.function(given)) {
    given <- asked_schedule(given, nrounds, before, what)
  } else if (length(given) != nrounds) {
    stop_argument(sprintf(paste("%s has %s and `nrounds` is %.0f; give one number, a number for each round, or a",
                                "function of the round"), what, counted(length(given), "value"), nrounds), "eta")
  }
  wrong <- which(is.na(given) | given <= 0 | given > 1)
  if (length(wrong)) {
    stop_argument(sprintf("%s of round %.0f is %s; it must be larger than 0 and at most 1", what, before + wrong[1L],
                          format(given[wrong[1L]])), "eta")
  }
  plain_schedule(given)
}

asked_schedule <- function(f, nrounds, before, what) {
  if (length(formals(args(f))) == 0L) {
    stop_argument(sprintf("%s as a function must take the number of the round: function(round) 0.3 * 0.99^round", what),
                  "eta")
  }
  vapply(before + seq_len(nrounds), function(round) {
    value <- try_else(f(round), function(problem) {
      stop_argument(sprintf("%s failed for round %.0f: %s", what, round, conditionMessage(problem)), "eta")
    })
    if (!is.numeric(value) || is.object(value) || length(value) != 1L) {
      stop_argument(sprintf("%s as a function must return one number for each round, not %s, as it does for round %.0f",
                            what, quote_value(value), round), "eta")
    }
    as.double(value)
  }, 0)
}

# One number where all are the same.
plain_schedule <- function(eta) {
  eta <- unname(as.double(eta))
  if (length(eta) && all(eta == eta[1L])) eta[1L] else eta
}

# The learning rates of the first n rounds of a schedule.
schedule_to <- function(eta, n) if (length(eta) > 1L) plain_schedule(eta[seq_len(n)]) else eta

# `params$eta` of a model: those of all of its rounds. start: see start_of(); rounds: those of this training.
eta_of_model <- function(eta, start, rounds) {
  before <- given_or(start$model$params[["eta"]], eta[1L])
  own <- rep_len(eta, max(rounds, length(eta)))[seq_len(rounds)]
  all <- c(rep_len(before, start$rounds), own)
  if (length(all)) plain_schedule(all) else eta[1L]
}

# The learning rate of the last round of the initial model, which estimates that look back need.
eta_before <- function(start) {
  eta <- start$model$params[["eta"]]
  if (start$rounds > 0 && length(eta)) eta[length(eta)]
}

# "0.3 to 0.01, by round"
schedule_text <- function(eta) {
  ends <- format_number(signif(eta[c(1L, length(eta))], 4L))
  sprintf("%s to %s, by round", ends[1L], ends[2L])
}
