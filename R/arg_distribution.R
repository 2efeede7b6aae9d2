# Objectives whose scores are the parameters of a distribution: "dist_normal" and so on. A model has an output for each.

is_distribution <- function(name) objective_info(name)$response == "DISTRIBUTION"

# Names of the parameters as predict(type = "parameters") gives them.
parameters_of_distribution <- function(objective) {
  switch(objective, dist_normal = c("mean", "sd"), dist_student = c("mean", "scale"), dist_gamma = c("mean", "shape"),
         dist_negative_binomial = c("mean", "size"), dist_zip = c("rate", "zero"))
}

# Names of their raw scores. Contributions add up to these.
scores_of_distribution <- function(objective) {
  switch(objective, dist_normal = c("mean", "log_sd"), dist_student = c("mean", "log_scale"),
         dist_gamma = c("log_mean", "log_shape"), dist_negative_binomial = c("log_mean", "log_size"),
         dist_zip = c("log_rate", "logit_zero"))
}

# Raw scores of parameters, up to rounding: rows x 2.
scores_of_parameters <- function(known, objective) {
  names <- scores_of_distribution(objective)
  for (k in 1:2) {
    if (startsWith(names[k], "log_")) known[, k] <- log(known[, k])
    if (startsWith(names[k], "logit_")) known[, k] <- stats::qlogis(known[, k])
  }
  known
}

# Answers of the engine for two scores a row, by name of the answer. at: chances, numbers of the rows, or how
# many draws.
ask_distribution <- function(score, model, ask, at = NULL, seed = 0L, threads = 1L) {
  .Call(C_gbt_distribution, objective_object(model$objective, model$params), as.double(score),
        enums$distribution[[ask]], at, seed, threads)
}
