# Rows of a model with a recipe (package recipes): see R/fit_recipe.R for how they are baked.

# The trained recipe of a model; NULL where it has none.
recipe_of <- function(model) {
  recipe <- unclass(model)[["recipe"]]
  if (inherits(recipe, "recipe")) recipe
}

# The model for rows that are baked. It still has the place of the response, see response_of_recipe().
without_recipe <- function(model) {
  recipe <- recipe_of(model)
  if (is.null(recipe)) return(model)
  outcome <- recipe$term_info$variable[recipe$term_info$role %in% "outcome"]
  model$recipe <- structure(list(outcome = outcome, skips = skips_steps(recipe)), class = "gbt_recipe_used")
  model
}

skips_steps <- function(recipe) any(vapply(recipe$steps, function(step) isTRUE(step$skip), NA))

# list(model, x): what a function works with that was given this model and these new rows. Bins (gbt_data) are those of
# baked rows. NULL stays NULL.
bake_rows <- function(model, x) {
  recipe <- recipe_of(model)
  if (is.null(recipe) || is.null(x)) return(list(model = model, x = x))
  list(model = without_recipe(model), x = if (inherits(x, "gbt_data")) x else baked(recipe, x))
}

is_baked <- function(x) inherits(x, "gbt_baked") || isTRUE(attr(x, "gbt_baked", exact = TRUE))

marked_baked <- function(x) {
  attr(x, "gbt_baked") <- TRUE
  class(x) <- c("gbt_baked", setdiff(class(x), "gbt_baked"))
  x
}

recipes_function <- function(name) {
  try_else(get_exported("recipes", name), function(problem) {
    stop_unsupported("the model needs the package recipes; install it: install.packages(\"recipes\")", "x")
  })
}

# A data frame of baked rows, one for each of x.
baked <- function(recipe, x) {
  if (is_baked(x)) return(x)
  if (inherits(x, "ArrowTabular")) x <- as.data.frame(x)
  if (!is.data.frame(x)) {
    stop_data(sprintf(paste("the model was trained by a recipe, which takes its columns from a data frame, not from",
                            "%s; give the raw rows as a data frame, or bake(model$recipe, data)"), describe(x)))
  }
  needed <- recipe$var_info$variable[recipe$var_info$role %in% "predictor"]
  absent <- setdiff(needed, as_utf8(names(x), "a column name"))
  if (length(absent)) {
    stop_data(sprintf(paste("the model was trained by a recipe, whose raw columns are missing: %s; give rows as they",
                            "were before the recipe, or bake(model$recipe, data)"), enumerate(absent)), absent[1L])
  }
  out <- try_else(recipes_function("bake")(recipe, new_data = x), function(problem) {
    if (inherits(problem, "gbt_error")) stop(problem)
    stop_data(sprintf("the recipe of the model cannot bake these rows: %s", conditionMessage(problem)))
  })
  out <- as.data.frame(out)
  n <- .row_names_info(x, 2L)
  if (nrow(out) != n) {
    stop_data(sprintf(paste("the recipe of the model leaves %.0f of %s; there is one prediction for each row, so steps",
                            "that drop rows need `skip = TRUE`"), nrow(out), counted(n, "row")))
  }
  labels <- row_labels(x)
  if (!is.null(labels)) attr(out, "row.names") <- labels
  marked_baked(out)
}

# The response in new rows, raw or baked, of a model of a recipe; NULL for other models.
response_of_recipe <- function(model, data, parameter) {
  used <- unclass(without_recipe(model))[["recipe"]]
  if (!inherits(used, "gbt_recipe_used")) return(NULL)
  if (used$skips) {
    stop_argument(sprintf(paste("`%s` is missing: the model's recipe has steps that are skipped for new data, so give",
                                "the response of the rows as training had it"), parameter), parameter)
  }
  value <- column_of(bake_rows(model, data)$x, used$outcome)
  if (is.null(value)) {
    stop_data(sprintf("the data have no `%s`, the response of the model; add it, or give `%s`", used$outcome,
                      parameter), used$outcome)
  }
  value
}

# A model with a recipe cannot be continued with rows that gbt does not bake.
refuse_recipe <- function(init) {
  if (is.null(recipe_of(init))) return(invisible())
  stop_argument(paste("`init_model` was trained by a recipe: continue it by gbt_train(init_model$recipe, data,",
                      "init_model = ); for rows that are baked already leave it out: init_model$recipe <- NULL"),
                "init_model")
}
