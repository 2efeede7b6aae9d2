# Presets: rules that follow those of R/defaults.R, for users who want to spend less time or want a better model.

presets <- c("default", "fast", "best")

preset_rules <- list(
  new_rule(
    "ensemble", function(facts, objective, preset) if (preset == "best") list(ensemble = 5),
    "With `preset = \"best\"` the model is the mean of 5.", "bench/results/presets.md"
  ),
  new_rule(
    "subsample", function(facts, objective, preset) if (preset == "best") list(subsample = 0.8),
    "With `preset = \"best\"` 0.8, so that members of the ensemble differ.", "bench/results/presets.md",
    c("sampling_method", "class_shares")
  ),
  new_rule(
    "eta", function(facts, objective, preset) if (preset == "fast" && facts$stopping) list(eta = 0.2),
    "With `preset = \"fast\"`, where rounds are found or stop early, 0.2.", "bench/results/presets.md"
  )
)
