# Presets: rules that follow those of R/fit_defaults.R, for users who want to spend less time or want a better model.

presets <- c("default", "fast", "best")

# Does "fast" grow deep trees? Fewer layers than 8, since each costs more.
fast_deep <- 7
is_fast_deep <- function(facts) identical(facts$max_depth, fast_deep)

# Its steps where training stops early: deep trees cost more, so there are fewer of them. Many classes that share their
# splits take steps that are twice those of the default.
fast_eta <- function(facts, objective) {
  if (is_fast_deep(facts)) return(0.25)
  if (facts$early && shares_splits(facts, objective)) min(max(0.15, 0.02 * facts$outputs), 0.5) else 0.15
}

# Its share of the features. Trees of six layers need several: of half of a few, too many would have none that matters.
fast_share <- function(facts) signif(min(max(0.5, 8 / given_or(facts$features, 16)), 0.8), 2L)

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
    shape_parameters,
    function(facts, objective, preset) {
      if (preset == "fast" && bears_depth(facts, objective)) shape_by_rows(facts, objective, 6, fast_deep)
    },
    "With `preset = \"fast\"` trees that would be depthwise by default have seven layers.", "Presets", no_shape_with,
    around = TRUE
  ),
  new_rule(
    "eta",
    function(facts, objective, preset) {
      if (preset == "fast" && facts$stopping) list(eta = fast_eta(facts, objective))
    },
    paste("With `preset = \"fast\"`, where rounds are found or stop early, 0.15, or 0.25 for trees of seven layers. At",
          "least a fiftieth of the number of classes, but 0.5 at most, where these share their splits and training",
          "stops early."),
    "Presets"
  ),
  new_rule(
    "max_bin",
    function(facts, objective, preset) if (preset == "fast" && !facts$binned) list(max_bin = 127),
    "With `preset = \"fast\"` 127, unless the data are binned already.", "Presets"
  ),
  new_rule(
    "colsample_bytree",
    function(facts, objective, preset) {
      if (preset == "fast" && !is_fast_deep(facts)) list(colsample_bytree = fast_share(facts))
    },
    paste("With `preset = \"fast\"` 0.5, every tree sees half of the features; eight of fewer than 16, but at most",
          "0.8. 0.8 for trees of seven layers."), "Presets",
    c("mtry", "colsample_bylevel", "colsample_bynode")
  )
)
