# Presets: rules that follow those of R/fit_defaults.R, for users who want to spend less time or want a better model.

presets <- c("default", "fast", "best")

preset_rules <- list(
  new_rule(
    "ensemble", function(facts, objective, preset) if (preset == "best") list(ensemble = 5),
    "With `preset = \"best\"` the model is the mean of 5.", "bench/results/presets.md"
  ),
  new_rule(
    "random_strength",
    function(facts, objective, preset) {
      if (preset == "best" && identical(facts$grow_policy, "symmetric") && objective != "poisson") {
        list(random_strength = 1)
      }
    },
    "With `preset = \"best\"` 1 in symmetric trees but for \"poisson\": members of the ensemble differ by their noise.",
    "Presets"
  ),
  new_rule(
    c("grow_policy", "max_depth", "max_leaves"),
    function(facts, objective, preset) if (preset == "fast") list(grow_policy = "symmetric", max_depth = 5),
    "With `preset = \"fast\"` trees are symmetric and have five layers.", "Presets",
    c("colsample_bynode", "num_parallel_tree", "boosting")
  ),
  new_rule(
    "eta", function(facts, objective, preset) if (preset == "fast" && facts$stopping) list(eta = 0.3),
    "With `preset = \"fast\"`, where rounds are found or stop early, 0.3.", "Presets"
  ),
  new_rule(
    "max_bin", function(facts, objective, preset) if (preset == "fast" && !facts$binned) list(max_bin = 63),
    "With `preset = \"fast\"` 63, unless the data are binned already.", "Presets"
  ),
  new_rule(
    "colsample_bytree", function(facts, objective, preset) if (preset == "fast") list(colsample_bytree = 0.5),
    "With `preset = \"fast\"` 0.5: every tree sees half of the features.", "Presets",
    c("mtry", "colsample_bylevel", "colsample_bynode")
  )
)
