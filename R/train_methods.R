# The ways into gbt_train(). Each makes a source (see fit.R) and hands over what else was given, in any spelling.

#' @rdname gbt_train
#' @export
gbt_train.formula <- function(x, data = NULL, ..., weights = NULL, offset = NULL, exposure = NULL, mask = NULL,
                              time = NULL, group = NULL, subset = NULL, na.action = stats::na.pass) {
  written <- as.list(substitute(list(...)))[-1L]
  names(written) <- if (is.null(names(written))) character(length(written)) else printable(names(written))
  part <- canonical_name(names(written))
  of_cv <- if ("cross" %in% names(written)) c(cv_arguments, tune_arguments) # see gbt_cv(), gbt_tune()
  unknown <- setdiff(names(written)[is.na(part)], c("", "formula", "params", of_cv))
  for (name in unknown) { # before its value is evaluated, which may be the name of a column
    if (is.null(find_foreign("train", name))) refuse_name(name)
  }
  in_rows <- part %in% row_arguments # by another name, such as `weight`; evaluated in the data as well
  here <- sys.nframe()
  env <- parent.frame()
  as_given <- function(i) {
    force(i)
    in_data(written[[i]], function() ...elt(i), written_in(names(written)[i], here))
  }
  is_valid <- part %in% "valid" # it comes when the data are known
  read_already <- names(written) %in% setdiff(of_cv, "cross") # by gbt_cv(), in the `...` of a function that called it
  given <- lapply(which(!in_rows), function(i) {
    if (is_valid[i]) as_given(i) else if (!read_already[i]) ...elt(i)
  })
  names(given) <- names(written)[!in_rows]
  if (missing(x)) { # dispatched on `formula =`
    x <- given[["formula"]]
    given[["formula"]] <- NULL
  }
  if (!inherits(x, "formula")) stop_argument("`x` must be a formula: gbt_train(y ~ ., data)", "x")
  own <- list(weights = in_data(substitute(weights), function() weights, written_in("weights", here)),
              offset = in_data(substitute(offset), function() offset, written_in("offset", here)),
              exposure = in_data(substitute(exposure), function() exposure, written_in("exposure", here)),
              mask = in_data(substitute(mask), function() mask, written_in("mask", here)),
              time = in_data(substitute(time), function() time, written_in("time", here)),
              group = in_data(substitute(group), function() group, written_in("group", here)),
              subset = in_data(substitute(subset), function() subset, written_in("subset", here)))
  for (i in which(in_rows)) {
    if (!is.null(attr(own[[part[i]]], "written"))) {
      stop_argument(contradiction(part[i], names(written)[i], part[i]), part[i])
    }
    own[[part[i]]] <- as_given(i)
  }
  x <- formula_with_constants(x, given[["cross"]]$constants, env) # of gbt_refit() and update()
  read <- read_formula(x, data, own, na.action, env)
  source <- list(x = read$x, y = read$y, weights = read$weights, offset = read$offset, exposure = read$exposure,
                 exposed = read$exposed, mask = read$mask, time = read$time, group = read$group, design = read$design,
                 formula = read$formula, parsed = x, columns = read$columns, in_rows = read$in_rows,
                 constants = read$constants)
  for (i in which(canonical_name(names(given)) %in% "valid")) {
    given[i] <- list(valid_in_data(given[[i]], read$data, read$keep))
  }
  if (is.function(given[["cross"]]$folds)) {
    given$cross["folds"] <- list(folds_in_data(given$cross$folds, read$data, read$keep))
  }
  fit_source(source, given)
}

#' @rdname gbt_train
#' @section Trees that share their splits:
#' `multi_strategy` is about classes (objective `"softmax"`) in symmetric trees. A round has a tree for every class.
#' With `"one_output_per_tree"` each of them searches for splits of its own. With `"multi_output_tree"` all of them have
#' the same splits, and each its own leaf values: a round then searches for splits once, whatever the number of classes,
#' and no tree chooses splits that suit the rows of one class alone. Each round learns less, so several times as many
#' are needed: for early stopping with 1,000 rounds or more, not for a few hundred that are stated. On near-separable
#' data separate trees may be better. Models are as large, and predict as fast, as others of as many trees.
#'
#' The splits of a round are chosen by one direction of the scores, such as "the first class against the third and
#' fourth", with weights that are drawn by `seed` anew for every round: by the first and second derivatives of the loss
#' along it (random projections of gradients: Iosipov and Vakhrushev, 2022, SketchBoost). A node that the split does not
#' suit in the tree of a class keeps its value there, as in all symmetric trees. XGBoost's strategy of this name adds up
#' the gains of all outputs instead, and has leaves with several values.
#'
#' Naming `"multi_output_tree"` makes trees symmetric; `num_parallel_tree` must be 1. It goes with `ensemble`, and with
#' `boosting` of any kind.
#' @param multi_strategy For classes: `"one_output_per_tree"` or `"multi_output_tree"`, see Trees that share their
#'   splits. There is a rule, see Defaults.
#' @export
gbt_train.data.frame <- function(x, y, ..., weights = NULL, offset = NULL, exposure = NULL, mask = NULL,
                                 time = NULL, group = NULL, objective = NULL, nrounds = NULL,
                                 preset = c("default", "fast", "best"), eta = NULL, max_depth = NULL,
                                 max_leaves = NULL, grow_policy = NULL, lambda = NULL, alpha = 0, gamma = 0,
                                 min_child_weight = NULL, min_data_in_leaf = 1, max_delta_step = 0, subsample = 1,
                                 sampling_method = c("uniform", "goss", "mvs", "bayesian"), top_rate = 0.2,
                                 other_rate = 0.1, mvs_reg = -1, bagging_temperature = 1, colsample_bytree = NULL,
                                 colsample_bylevel = 1, colsample_bynode = 1, num_parallel_tree = 1,
                                 multi_strategy = NULL, random_strength = NULL, extra_trees = FALSE,
                                 model_size_reg = 0,
                                 leaf_iterations = 1, path_smooth = 0, softmax_hessian = NULL, ensemble = 1,
                                 boosting = c("plain", "ordered", "dart"), rate_drop = 0.1, skip_drop = 0.5,
                                 max_drop = 50, normalize_type = c("tree", "forest"), model_shrink_rate = 0,
                                 model_shrink_mode = c("constant", "decreasing"), tail_rounds = 1,
                                 max_bin = 255, max_cat_onehot = 4, cat_smooth = 10, cat_l2 = 10,
                                 cat_noise = 1, max_cat_threshold = 64, min_data_per_group = 20, cat_features = NULL,
                                 cat_method = "auto", max_cat_combine = 1, max_cat_keys = 1048576,
                                 cat_permutations = 2, cat_prior = 10, cat_bins = 15, level_counts = FALSE,
                                 class_weights = NULL, monotone = NULL, interactions = NULL, feature_weights = NULL,
                                 first_use_penalty = NULL,
                                 valid = NULL, eval_metric = NULL, eval_train = NULL, early_stopping_rounds = NULL,
                                 early_stopping_min_delta = 0, max_seconds = NULL, init_model = NULL, callbacks = NULL,
                                 device = c("auto", "cpu", "cuda"), threads = NULL, seed = NULL, verbose = NULL,
                                 verbose_every = 10, progress = FALSE, sparse_zero = c("value", "missing"),
                                 grad_bits = c("auto", "16", "32"), hist_memory = 0, device_memory = 0,
                                 page_rows = NULL, checkpoint = NULL, checkpoint_seconds = 60,
                                 params = list()) {
  if (missing(x)) stop_no_x()
  given <- given_args(dots_given(x, ...), x)
  if (missing(y)) {
    y <- given[["label"]] # what other packages call it
    given[["label"]] <- NULL
  }
  if (is.null(y)) {
    stop_argument("`y` is missing: give the response, gbt_train(x, y), or a formula, gbt_train(y ~ ., data)", "y")
  }
  if (inherits(y, "formula")) {
    stop_argument(sprintf("the formula comes first, and then the data: gbt_train(%s, data)",
                          paste(deparse(y, 60L, nlines = 1L), collapse = "")), "y")
  }
  fit_source(list(x = x, y = y, recipe = attr(x, "gbt_recipe", exact = TRUE)), given)
}

#' @export
gbt_train.matrix <- function(x, ...) gbt_train.data.frame(x, ...)

#' @export
gbt_train.Matrix <- function(x, ...) gbt_train.data.frame(x, ...)

#' @export
gbt_train.dgCMatrix <- function(x, ...) gbt_train.data.frame(x, ...)

#' @export
gbt_train.dgRMatrix <- function(x, ...) gbt_train.data.frame(x, ...)

#' @export
gbt_train.ArrowTabular <- function(x, ...) gbt_train.data.frame(as.data.frame(x), ...)

#' @rdname gbt_train
#' @export
gbt_train.gbt_data <- function(x, y = NULL, ...) {
  check_data(x, "x")
  given <- dots_given(NULL, ...)
  if (is.null(y)) y <- if (is.null(given[["label"]])) x$label else given[["label"]]
  given[["label"]] <- NULL
  if (is.null(y)) stop_argument("the data have no label: gbt_data(x, label = ), or gbt_train(data, y)", "y")
  source <- list(data = x, y = y)
  said <- canonical_name(printable(given_or(names(given), character(0))))
  for (part in setdiff(c("weights", "offset", "time", "group"), said)) {
    source[[part]] <- x[[if (part == "weights") "weight" else part]]
  }
  if (!is.null(x$exposed) && "offset" %in% said) {
    stop_argument("the offset of the gbt_data has its exposure in it; make the data anew with both", "offset")
  }
  source$exposed <- x$exposed
  fit_source(source, given)
}

#' @export
gbt_train.default <- function(x, ...) {
  if (missing(x)) stop_no_x()
  if (is.character(x) && length(x) == 1L && grepl("~", printable(x), fixed = TRUE)) {
    stop_argument(sprintf("a formula has no quotation marks: gbt_train(%s, data), or as.formula(x)", printable(x)), "x")
  }
  if (is.matrix(x)) return(gbt_train.data.frame(x, ...)) # of a class of its own, such as I(x) or table()
  encode_x(x) # says what would do instead
  stop_data(sprintf("gbt_train() takes a data frame, a matrix, a sparse matrix, gbt_data or a formula, not %s",
                    describe(x)))
}

stop_no_x <- function() {
  stop_argument("`x` is missing: gbt_train(x, y) with a data frame or a matrix, or gbt_train(y ~ ., data)", "x")
}

# gbt_train(mpg, cars): a name that nothing is called, but maybe a column of what comes behind. problem: R's.
stop_lost_x <- function(problem, name, data) {
  plain <- identical(class(problem)[1L], "simpleError")
  if (!plain || !grepl(name, conditionMessage(problem), fixed = TRUE)) stop(problem)
  hint <- if (is.data.frame(data) && name %in% names(data)) {
    sprintf("; it is a column of the data, so give a formula, gbt_train(%s ~ ., data), or gbt_train(x, y)", name)
  } else ""
  stop_argument(sprintf("there is no object `%s`%s", name, hint), "x")
}

# The arguments that the call of the calling function really gave, and those in its dots. x: the data.
given_args <- function(dots, x) {
  env <- parent.frame()
  names <- setdiff(names(formals(sys.function(sys.parent()))), c("x", "y", "..."))
  given <- !vapply(names, function(name) eval(call("missing", as.name(name)), env), NA)
  value <- function(name) {
    if (!name %in% c(row_arguments, "valid")) return(get(name, envir = env))
    argument_value(function() get(name, envir = env), do.call(substitute, list(as.name(name), env)), name, x)
  }
  c(lapply(stats::setNames(nm = names[given]), value), dots)
}

# The values of `...`. x: the data.
dots_given <- function(x, ...) {
  written <- as.list(substitute(list(...)))[-1L]
  names <- if (is.null(names(written))) character(length(written)) else names(written)
  part <- canonical_name(printable(names))
  read_already <- "cross" %in% names & names %in% setdiff(c(cv_arguments, tune_arguments), "cross") # by gbt_cv()
  out <- lapply(seq_along(written), function(i) {
    if (read_already[i]) return(NULL)
    if (!part[i] %in% c(row_arguments, "valid")) return(...elt(i))
    argument_value(function() ...elt(i), written[[i]], names[i], x)
  })
  if (any(nzchar(names))) stats::setNames(out, names) else out
}
