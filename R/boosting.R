# Rounds that change what those before them count: `boosting = "dart"`, `model_shrink_rate`, `tail_rounds`. The engine
# does it, see boost/factors.h; such a model has no rounds behind its best one.

# Is the model anything but the sum of its trees as they were grown? params: the engine's, by name.
rescales <- function(params) {
  params$boosting == "dart" || params$model_shrink_rate > 0 || params$tail_rounds > 1
}

# Rounds of this training that the model has. best: see best_round(); before: rounds of the model to go on from.
rounds_kept <- function(params, best, before, rounds) {
  if (is.null(best) || !rescales(params)) rounds else best - before
}

# What one way of boosting alone has. params: the engine's, by name.
check_boosting <- function(params, args) {
  given <- function(name) !is.null(args$value[[name]])
  if (params$boosting != "dart") {
    for (name in Filter(given, c("rate_drop", "skip_drop", "max_drop", "normalize_type"))) {
      if (identical(params[[name]], 0) || identical(params[[name]], engine_defaults()[[name]])) next
      stop_argument(sprintf("%s is for `boosting = \"dart\"`; it is \"%s\"", param_text(name, args$typed[name]),
                            params$boosting), name)
    }
  }
  mode_said <- given("model_shrink_mode") && params$model_shrink_mode != engine_defaults()$model_shrink_mode
  if (mode_said && params$model_shrink_rate == 0) {
    stop_argument(sprintf("%s needs a `model_shrink_rate` above 0",
                          param_text("model_shrink_mode", args$typed["model_shrink_mode"])), "model_shrink_mode")
  }
}
