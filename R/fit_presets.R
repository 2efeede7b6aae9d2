# Presets: rules that follow those of R/fit_defaults.R, for users who want to spend less time or want a better model.

presets <- c("default", "fast", "best")

# Does "fast" grow deep trees? Fewer layers than 8, and as they learn more in a round, smaller steps.
fast_deep <- 7
is_fast_deep <- function(facts) identical(facts$max_depth, fast_deep)

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
    function(facts, objective, preset) {
      if (preset != "fast") return(NULL)
      if (bears_depth(facts, objective)) return(list(grow_policy = "depthwise", max_depth = fast_deep))
      list(grow_policy = "symmetric", max_depth = 5)
    },
    paste("With `preset = \"fast\"` trees are symmetric and have five layers; where they would be depthwise by default",
          "they have seven."), "Presets",
    c("colsample_bynode", "num_parallel_tree", "boosting")
  ),
  new_rule(
    "eta",
    function(facts, objective, preset) {
      if (preset == "fast" && facts$stopping) list(eta = if (is_fast_deep(facts)) 0.15 else 0.3)
    },
    "With `preset = \"fast\"`, where rounds are found or stop early, 0.3, for trees of seven layers 0.15.", "Presets"
  ),
  new_rule(
    "max_bin",
    function(facts, objective, preset) {
      if (preset == "fast" && !facts$binned) list(max_bin = if (is_fast_deep(facts)) 127 else 63)
    },
    "With `preset = \"fast\"` 63, for trees of seven layers 127, unless the data are binned already.", "Presets"
  ),
  new_rule(
    "colsample_bytree",
    function(facts, objective, preset) if (preset == "fast" && !is_fast_deep(facts)) list(colsample_bytree = 0.5),
    "With `preset = \"fast\"` 0.5, every tree sees half of the features; 0.8 for trees of seven layers.", "Presets",
    c("mtry", "colsample_bylevel", "colsample_bynode")
  )
)
