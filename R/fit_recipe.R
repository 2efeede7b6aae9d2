# Models of recipes (package recipes): what was baked in training is baked in prediction.
#
# A model that was trained by gbt_train(recipe, data) has the trained recipe in its field `recipe`. Its features are
# the columns of baked rows. New data are raw rows, which each function that takes data bakes once, at its beginning,
# by bake_rows(); from there on it works with baked rows and with a model that does not bake. Rows that were baked by
# bake(model$recipe, data) carry a mark (class and attribute "gbt_baked", as functions of R keep one or the other) and
# are taken as they are.
#
# A recipe is code, so a model file never has one: gbt_save() refuses, and what a file calls `recipe` has not the
# class "recipe" and does not count.

# x: a recipe. Values as of table_source(); rows are baked.
recipe_source <- function(x, args, folds) {
  args <- placed(args, function(x, data, ...) NULL)
  data <- values_of(args[names(args) == "data"])[["data"]]
  if (is.null(data)) stop_argument("`data` is missing: gbt_train(recipe, data)", "data")
  if (inherits(data, "ArrowTabular")) data <- as.data.frame(data)
  if (!is.data.frame(data)) {
    stop_data(sprintf("a recipe takes its columns from a data frame: `data` must be one, not %s", describe(data)),
              "data")
  }
  given <- values_of(args[!names(args) %in% c("x", "data")], data)
  part <- canonical_name(printable(given_or(names(given), character(0))))
  init <- which(part %in% "init_model")
  its <- if (length(init) == 1L && is_model(given[[init]])) recipe_of(given[[init]])
  ready <- if (is.null(its)) trained_recipe(x, data) else recipe_of_init(x, its)
  rows <- if (is.null(its)) training_rows(ready) else baked(ready, data)
  if (is.null(its)) check_rows_independent(ready, data) else given[[init]] <- without_recipe(given[[init]])
  outcome <- columns_of_role(ready, "outcome", rows)
  if (length(outcome) != 1L) {
    stop_argument(sprintf("the recipe must have one column of role \"outcome\"; it has %d", length(outcome)), "x")
  }
  weights <- columns_of_role(ready, "case_weights", rows)
  if (length(weights) && !"weights" %in% part) given$weights <- as.double(rows[[weights[1L]]])
  for (i in which(part %in% "valid")) given[i] <- list(baked_valid(given[[i]], ready, outcome))
  source <- list(x = rows[columns_of_role(ready, "predictor", rows)], y = rows[[outcome]], recipe = ready)
  list(source = source, given = given, folds = folds_as_values(folds, data))
}

# The recipe as a model keeps it, trained on the data as workflows do it, whether it was trained before or not.
trained_recipe <- function(recipe, data) {
  class(recipe) <- setdiff(class(recipe), "gbt_recipe")
  ready <- recipes_function("prep")(recipe, training = data, fresh = TRUE, retain = TRUE)
  ready$template <- marked_baked(ready$template) # for juice(), which is no generic
  class(ready) <- c("gbt_recipe", class(ready))
  ready
}

# Prediction i must be that of row i, so the recipe must keep the order of new rows; and what it makes of a row should
# not depend on the other rows. Some rows are baked one by one and together, in an order that no step would give them.
check_rows_independent <- function(ready, data) {
  n <- .row_names_info(data, 2L)
  rows <- unique(round(seq(1, n, length.out = min(n, 50))))
  odd <- seq_along(rows) %% 2 == 1
  some <- subset_rows(data, c(rows[!odd], rows[odd]))
  bake_some <- function(at) {
    keeping_random(try_else(suppressWarnings(baked(ready, subset_rows(some, at))), function(problem) NULL))
  }
  together <- bake_some(seq_along(rows))
  if (is.null(together)) return(invisible()) # predict() says why
  names <- columns_of_role(ready, "predictor", together)
  at <- unique(c(1L, (length(rows) + 1L) %/% 2L, length(rows)))
  single <- lapply(at, function(i) if (length(rows) > 1L) bake_some(i)[names])
  same <- function(row, i) is.null(row) || is_row(row, together, i)
  lost <- which(!mapply(same, single, at))
  if (length(lost) == 0L) return(invisible())
  moved <- vapply(single[lost], function(row) any(vapply(seq_along(rows), function(i) same(row, i), NA)), NA)
  if (all(moved)) {
    stop_argument(paste("the recipe puts rows in another order, so predictions would not be those of their rows; give",
                        "the step that does so `skip = TRUE`, as in step_arrange(skip = TRUE)"), "x")
  }
  warn_gbt("recipe", paste("what the recipe makes of a row depends on the other rows, as with step_lag() and",
                           "step_shuffle(), so the prediction for a row does so as well; give such steps",
                           "`skip = TRUE`, or make their columns before training"))
}

training_rows <- function(ready) as.data.frame(recipes_function("bake")(ready, new_data = NULL))

columns_of_role <- function(ready, role, rows) {
  roles <- ready$term_info
  intersect(roles$variable[roles$role %in% role], names(rows))
}

# Going on from a model bakes rows by the recipe of this model: another one would give its trees columns on another
# scale.
recipe_of_init <- function(given, its) {
  if (identical(given, its)) return(its)
  stop_argument(paste("`init_model` was trained by another recipe, which its trees need: continue it by",
                      "gbt_train(init_model$recipe, data, init_model = init_model)"), "init_model")
}

# Raw rows of `valid` in any form that has some.
baked_valid <- function(valid, recipe, outcome) {
  if (is.data.frame(valid)) {
    if (skips_steps(recipe)) {
      stop_argument(paste("the recipe has steps that are skipped for new data, which may concern the response: give",
                          "`valid` as list(x = , y = ), with the response as training has it"), "valid")
    }
    rows <- baked(recipe, valid)
    if (!outcome %in% names(rows)) {
      stop_data(sprintf("the validation data lack the response, `%s`; add the column, or give list(x = , y = )",
                        outcome), outcome)
    }
    return(list(x = rows, y = rows[[outcome]]))
  }
  if (!is.list(valid) || is.object(valid)) return(valid)
  at <- match("x", canonical_part(names(valid)))
  if (is.na(at)) return(lapply(valid, baked_valid, recipe, outcome))
  if (!is.null(valid[[at]])) valid[[at]] <- baked(recipe, valid[[at]])
  valid
}

# Rows that bake() of a model's recipe gives are known again.
#' @exportS3Method recipes::bake
bake.gbt_recipe <- function(object, ...) {
  out <- NextMethod()
  if (is.data.frame(out)) marked_baked(out) else out
}
