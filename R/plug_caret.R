# caret: a list for train(method = ).

#' Tune a model by caret
#'
#' `gbt_caret()` is a method for `caret::train()`. Combinations that differ only in `nrounds` share one training, with
#' the largest `nrounds`: its first rounds are the model with fewer rounds, so smaller values cost nothing. With early
#' stopping this is not so, and the grid must have one value of `nrounds`.
#'
#' Factors stay whole with the data frame form, `train(x, y, method = gbt_caret())`; caret's formula form makes dummy
#' columns of them. Weights of rows go through, and further arguments of [gbt_train()] are those of `train()`.
#'
#' @return A list as `caret::train()` takes it.
#' @seealso [gbt-integrations]
#' @examples
#' names(gbt_caret())
#' gbt_caret()$grid(iris[-5], iris$Species, len = 2)
#' \dontrun{
#' fit <- caret::train(iris[-5], iris$Species, method = gbt_caret(), threads = 1)
#' }
#' @export
gbt_caret <- function() {
  parameters <- data.frame(
    parameter = c("nrounds", "max_depth", "eta", "gamma", "colsample_bytree", "min_data_in_leaf", "subsample"),
    class = "numeric",
    label = c("Boosting Rounds", "Max Tree Depth", "Shrinkage", "Minimum Loss Reduction",
              "Subsample Ratio of Columns", "Minimum Rows of a Leaf", "Subsample Percentage"),
    stringsAsFactors = FALSE
  )
  list(
    label = "gbt", library = "gbt", type = c("Regression", "Classification"), parameters = parameters,
    grid = caret_grid, loop = caret_loop, fit = caret_fit, predict = caret_predict, prob = caret_prob,
    predictors = function(x, ...) {
      importance <- gbt_importance(x)
      importance$feature[importance$frequency > 0]
    },
    varImp = function(object, numTrees = NULL, ...) { # nolint: caret's name
      importance <- gbt_importance(object, trees = numTrees)
      data.frame(Overall = importance$gain, row.names = importance$feature)
    },
    levels = function(x) x$obsLevels,
    tags = c("Tree-Based Model", "Boosting", "Ensemble Model", "Implicit Feature Selection", "Accepts Case Weights",
             "Handle Missing Predictor Data"),
    sort = function(x) x[order(x$nrounds, x$max_depth, x$eta, x$gamma, x$colsample_bytree, x$min_data_in_leaf), ]
  )
}

# len: how many values of a parameter, or how many combinations where they are drawn.
caret_grid <- function(x, y, len = NULL, search = "grid") {
  if (search == "grid") {
    return(expand.grid(nrounds = 50 * seq_len(len), max_depth = 2 * seq_len(len),
                       eta = c(0.1, 0.3)[seq_len(min(len, 2))],
                       gamma = 0, colsample_bytree = 1, min_data_in_leaf = 1,
                       subsample = if (len > 1L) seq(0.5, 1, length.out = min(len, 3L)) else 1))
  }
  # few rows and numbers of a small range can be split, too: of a constant prediction no correlation can be had
  largest_leaf <- max(1L, min(20L, length(y) %/% 20L))
  largest_loss <- if (is.numeric(y)) min(10, sum((y - mean(y))^2) / 100) else 10
  data.frame(nrounds = sample(seq_len(1000L), len, replace = TRUE),
             max_depth = sample(seq_len(10L), len, replace = TRUE),
             eta = stats::runif(len, 0.001, 0.6), gamma = stats::runif(len, 0, largest_loss),
             colsample_bytree = stats::runif(len, 0.3, 1),
             min_data_in_leaf = sample(seq_len(largest_leaf), len, replace = TRUE),
             subsample = stats::runif(len, 0.25, 1))
}

# Combinations that differ only in nrounds share one training, with the largest nrounds.
caret_loop <- function(grid) {
  others <- setdiff(names(grid), "nrounds")
  key <- do.call(paste, c(lapply(others, function(name) format(grid[[name]], digits = 15L)), sep = "\r"))
  rows <- split(seq_len(nrow(grid)), factor(key, unique(key)))
  largest <- vapply(rows, function(at) at[which.max(grid$nrounds[at])], 1L)
  loop <- grid[largest, , drop = FALSE]
  rownames(loop) <- NULL
  smaller <- function(at, best) data.frame(nrounds = setdiff(grid$nrounds[at], grid$nrounds[best]))
  submodels <- Map(smaller, rows, largest)
  list(loop = loop, submodels = unname(submodels))
}

caret_fit <- function(x, y, wts, param, lev, last, classProbs, ...) { # nolint: caret's name
  args <- list(...)
  chosen <- as.list(param)[c("nrounds", "max_depth", "eta", "gamma", "colsample_bytree", "min_data_in_leaf",
                             "subsample")]
  twice <- intersect(names(chosen), canonical_name(names(args)))
  if (length(twice)) {
    stop_argument(sprintf("`%s` is tuned: give its values in `tuneGrid`", twice[1L]), twice[1L])
  }
  if (!is.null(wts)) args$weights <- wts
  args <- without_na_action(args)
  model <- do.call(gbt_train, c(list(if (is.data.frame(x)) as.data.frame(x) else x, y), chosen, args))
  model["call"] <- list(NULL) # would have the data in it
  model
}

# train(na.action = ) of x and y comes here: na.pass is what gbt does with missing predictors.
without_na_action <- function(args) {
  given <- args[["na.action"]]
  keeps <- list(NULL, stats::na.pass, "na.pass")
  if (!any(vapply(keeps, identical, NA, given))) {
    stop_argument(paste("`na.action` must be na.pass for train(x, y): gbt takes missing predictors as they are; leave",
                        "rows out of x and y yourself"), "na.action")
  }
  args[names(args) != "na.action"]
}

# A list by number of rounds where submodels are asked for: the fitted one first.
caret_by_rounds <- function(model, submodels, one) {
  if (is.null(submodels)) return(one(NULL)) # the best round, where training stopped early
  if (!rounds_are_models(model)) {
    stop_unsupported(paste("with early stopping one training cannot serve several `nrounds`; give one value of it in",
                           "`tuneGrid`"), "nrounds")
  }
  lapply(c(model$nrounds, submodels$nrounds), one)
}

caret_predict <- function(modelFit, newdata, submodels = NULL) { # nolint: caret's names
  classes <- !is.null(modelFit$classes)
  caret_by_rounds(modelFit, submodels, function(trees) {
    out <- predict.gbt(modelFit, newdata, type = if (classes) "class" else "response", trees = trees)
    if (classes) as.character(out) else unname(out)
  })
}

caret_prob <- function(modelFit, newdata, submodels = NULL) { # nolint: caret's names
  levels <- if (is.null(modelFit$obsLevels)) modelFit$classes else modelFit$obsLevels
  caret_by_rounds(modelFit, submodels, function(trees) {
    out <- predict.gbt(modelFit, newdata, type = "prob", trees = trees)
    all <- matrix(0, nrow(out), length(levels), dimnames = list(NULL, levels))
    all[, colnames(out)] <- out
    as.data.frame(all, optional = TRUE)
  })
}
