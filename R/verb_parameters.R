# gbt_parameters(): all parameters of gbt_train(), what they are and what other packages call them. Numbers and choices
# come from the engine's table and host_table, rules from default_rules, names from arg_foreign.R, parameters of
# objectives from their table, what a parameter needs from verb_parameters_used.R. Only what none of these knows is
# written down here.

# Arguments that are neither a number nor one of the engine's choices: "name | default | range | meaning".
other_arguments <- local({
  text <- r"---(
weights | 1 | 0 or more, for each row | weights of the rows
offset | none | a number for each row, or a matrix with a column for each class | a known part of the score
exposure | none | above 0, for each row | time or amount for which a row was observed: its logarithm is an offset
mask | all rows | TRUE or FALSE, for each row | which rows to train on
sparse_zero | value | value or missing | what the absent entries of a sparse matrix are: the number 0, or missing
objective | by the response | a name in gbt_objectives(), or list(gradient = , hessian = ) | what is minimised
num_class | found | number of classes | accepted where it is the number of classes of the response
class_weights | 1 | above 0, named by classes; or "balanced" | weights of the classes
preset | default | default, fast or best | set of rules for parameters that are not given, see gbt_defaults()
init_model | none | a model | model to continue from
valid | none | a share of the rows; data; list(x, y); or a named list of these | validation data
eval_metric | that of the objective | names of metrics, gbt_metric() objects, or a list of both | metrics to evaluate
eval_train | FALSE | TRUE or FALSE | evaluate the metrics on the training data as well
tree_method | hist | hist | how trees are grown; there is one way, by histograms
mtry | none | a whole number, at least 1 | number of features drawn for each tree, instead of `colsample_bytree`
feature_weights | 1 | 0 or more, named by features | weights by which `colsample_*` draw features
monotone | none | -1, 0 or 1, named by features | predictions fall (-1) or rise (1) with a feature
interactions | none | a list of groups of features | features that may be used together on a path of a tree
first_use_penalty | 0 | 0 or more: one number, or named by features | gain that the first use of a feature costs
cat_features | factors and texts | names or positions of columns | columns of whole numbers that are categories
cat_method | auto | auto, or sets, onehot, target, count, quartiles; by columns a list | how categories enter the trees
level_counts | FALSE | TRUE, FALSE or names of columns | adds the number of rows of a level as a feature
time | none | a number, date or time for each row | order of the rows for statistics of categories
group | none | a value for each row | rows that are kept out of each other's statistics of categories
cause | none | a level of the status | the kind of events that is modelled, where there are several
strata | none | a value for each row | groups of rows whose baseline hazards differ, for times with events
breaks | 10 | numbers above 0, or how many | ends of the intervals of time of objective "hazard"
label_gain | 2^label - 1 | numbers for labels 0, 1, 2, .. | gains of labels in NDCG and DCG
position | none | a whole number, text or level for each row | where the row was shown, for ranking from clicks
ranks | none | from gbt_ranks() | R processes that train one model together, each with a share of the rows
threads | all cores | a whole number, at least 1 | number of threads; no effect on the model
device | auto | auto, cpu, cuda or cuda:1 | where to train
devices | one | "all", or numbers of GPUs from 0 | GPUs that train together; no effect on the model
verbose | 0 | 0 or 1 | write lines of the log
progress | FALSE | TRUE or FALSE | show a progress bar
callbacks | none | a function, or a list of functions | called after each round
checkpoint | none | path of a folder | folder from which an interrupted training continues
)---"
  rows <- strsplit(strsplit(trimws(text), "\n", fixed = TRUE)[[1L]], " | ", fixed = TRUE)
  column <- function(i) vapply(rows, `[[`, "", i)
  data.frame(name = column(1L), default = column(2L), range = column(3L), meaning = column(4L))
})

# The help page that describes a parameter, or says more of it: ?gbt_train for other arguments in its signature,
# ?gbt_objectives for parameters of objectives, ?gbt_parameters for the rest.
help_pages <- local({
  pages <- list(
    "?gbt_threads" = "threads", "?gbt_ranks" = "ranks", "?gbt_callbacks" = "callbacks", "?gbt_sources" = "sparse_zero",
    "?gbt_objectives" = c("objective", "softmax_hessian"), "?gbt_defaults" = "preset",
    "?gbt_metrics" = c("eval_metric", "valid", "mask", "early_stopping_rounds", "early_stopping_min_delta",
                       "eval_train", "max_seconds"),
    "?gbt_categories" = c("cat_features", "cat_method", "max_cat_onehot", "cat_smooth", "cat_l2", "cat_noise",
                          "max_cat_threshold", "min_data_per_group", "cat_prior", "cat_permutations", "cat_bins",
                          "max_cat_combine", "max_cat_keys", "level_counts", "time", "group"),
    "?gbt_sampling" = c("sampling_method", "subsample", "top_rate", "other_rate", "mvs_reg", "bagging_temperature",
                        "colsample_bylevel", "colsample_bynode", "mtry", "feature_weights", "random_strength",
                        "extra_trees", "ensemble"),
    "?gbt_devices" = c("device", "devices", "device_memory", "hist_memory", "page_rows")
  )
  stats::setNames(rep(names(pages), lengths(pages)), unlist(pages))
})

# Numbers and choices: data frame of name, default, range, meaning. table: as params_table().
shown_numbers <- function(table) {
  rows <- lapply(seq_len(nrow(table)), function(i) {
    row <- table_row(table, i)
    choices <- strsplit(row$choices, "|", fixed = TRUE)[[1L]]
    one <- if (row$kind == "enum") c(choices[row$default + 1], row$choices)
    else if (is_switch(row)) c(as.character(row$default == 1), "TRUE or FALSE")
    else if (row$name %in% names(named_numbers)) {
      c(named_number(row$name, row$default), paste(named_numbers[[row$name]], collapse = "|"))
    } else c(if (is.na(row$default)) "found" else format_number(row$default), range_text(row))
    if (row$name %in% ruled_parameters()) one[1L] <- paste("by rule, else", one[1L])
    data.frame(name = row$name, default = one[1L], range = one[2L], meaning = row$text)
  })
  do.call(rbind, rows)
}

# Parameters of objectives, each once.
shown_objective_params <- function() {
  fields <- intersect(names(params_table()), names(objectives_table()$params[[1L]]))
  all <- do.call(rbind, lapply(objectives_table()$params, function(p) as.data.frame(p[fields])))
  all <- all[!duplicated(all$name), ]
  all[c("kind", "choices")] <- list("real", NA_character_)
  shown_numbers(all)
}

# Names of a parameter in a package; "" for all.
names_elsewhere <- function(name, letter = "") {
  rows <- foreign_names$reply == name & foreign_names$verb %in% c("train", "objective parameter") &
    grepl(letter, foreign_names$packages, fixed = TRUE)
  paste(setdiff(foreign_names$name[rows], if (!nzchar(letter)) name), collapse = ", ")
}

parameters_table <- function() {
  if (is.null(package_state$parameters)) package_state$parameters <- make_parameters_table()
  package_state$parameters
}

make_parameters_table <- function() {
  objective <- shown_objective_params()
  out <- rbind(shown_numbers(rbind(host_table, params_table())), other_arguments, objective)
  rows <- foreign_names$verb == "train" & foreign_names$name == foreign_names$reply
  place <- match(out$name, foreign_names$name[rows])
  out$aliases <- vapply(out$name, names_elsewhere, "")
  out$topic <- ifelse(out$name %in% objective$name, "Objective", foreign_names$topic[rows][place])
  out$matters <- unname(matters_with[out$name])
  for (name in objective$name) {
    owners <- Filter(function(o) name %in% objective_info(o)$params$name, offered_objectives())
    out$matters[out$name == name] <- sprintf("objective = \"%s\"", paste(owners, collapse = "\" or \""))
  }
  for (package in c("xgboost", "lightgbm", "catboost")) {
    out[[package]] <- vapply(out$name, names_elsewhere, "", substr(package, 1L, 1L))
  }
  out$help <- ifelse(out$name %in% objective$name, "?gbt_objectives", unname(help_pages[out$name]))
  out <- replace(out, is.na(out), "")
  everyday <- c(names(formals(gbt_train.formula)), names(formals(gbt_train.data.frame)))
  out$help[out$help == ""] <- ifelse(out$name[out$help == ""] %in% everyday, "?gbt_train", "?gbt_parameters")
  out <- out[order(match(out$topic, foreign_names$topic), place), ]
  rownames(out) <- NULL
  structure(out, class = c("gbt_parameters", "data.frame"))
}

#' List and search the parameters
#'
#' `gbt_parameters()` lists, searches and explains all parameters of [gbt_train()]. Give them as arguments or in the
#' list `params`, by any of their names. This page also describes the parameters of trees, penalties, constraints and
#' running. Others are described in [gbt_train()] (the common ones), [gbt_objectives()], [gbt_metrics],
#' [gbt_categories], [gbt_sampling], [gbt_devices] and [gbt_sources]; column `help` of the table names the page.
#'
#' @param what `NULL` for all parameters; or one text to search for, in upper or lower case: in names, topics, meanings
#'   and names in other packages, where a dot or a space stands for an underscore. A whole name, of gbt or of another
#'   package, gives only this parameter.
#' @section Trees:
#' * `grow_policy`: `"symmetric"` splits all nodes of a layer by the same split, `"depthwise"` grows layer by layer,
#'   `"lossguide"` splits the leaf with the largest gain first. A value of `grow_policy`, `max_depth` or `max_leaves`
#'   that you give is fixed; the others are chosen around it, see [gbt_defaults()].
#' * `gamma`: Minimum gain of a split.
#' * `num_parallel_tree`: Trees per round and class on the same gradients, averaged: a boosted forest.
#' * `multi_strategy`: For `"softmax"`, several quantiles and responses of several columns: `"one_output_per_tree"` or
#'   `"multi_output_tree"`, see Trees with common splits.
#' * `sketch`: How the splits of such trees are chosen: `"none"`, `"projection"` or `"auto"`, see there.
#' * `boosting`: `"plain"`, or `"ordered"` for *ordered boosting* (Prokhorenkova and others, 2018, section 4): trees use
#'   gradients at scores of models that were trained without the row's response. Rows are ordered by `seed`, or by
#'   `time`; rows of a `group` stay together. Training takes two to three times as long. In our measurements it did not
#'   help: the test loss was 0.1 to 1.6 percent higher for classes and 7 to 8 percent for numbers
#'   (`bench/results/options.md` in the sources). Not for an objective of your own. Also called `boosting_type` and
#'   `booster`.
#'
#' @section Values of leaves:
#' * `alpha`: L1 penalty on leaf values.
#' * `max_delta_step`: Largest leaf value, before it is multiplied by `eta`; 0 for no limit.
#' * `leaf_iterations`: Number of Newton steps for the leaf values of a tree. Also called `leaf_estimation_iterations`.
#' * `path_smooth`: Shrinks the value of a node towards that of its parent; 0 for none. The value of a node of n rows
#'   has weight n / (n + `path_smooth`), the smoothed value of the parent the rest. Rows are counted, not weighted. The
#'   gains of splits do not use it, unlike in LightGBM.
#' * `leaf_model`: `"constant"` or `"linear"`, see Linear leaves. Also called `linear_tree`, `TRUE` or `FALSE`.
#' * `linear_lambda`: For linear leaves: L2 penalty on slopes, as a share of the variance of each feature within the
#'   leaf, so that the units of columns do not matter, unlike in LightGBM.
#'
#' By default the value of a leaf is one Newton step for the penalised loss of its rows, times `eta`. This is exact for
#' squared error. For other losses (rare classes, counts) it may be far from the best value, and more `leaf_iterations`
#' come closer. `lambda` and `alpha` shrink the whole value, `max_delta_step` and `monotone` bound it. Splits, quantile
#' leaves and leaves of squared error do not change. Each step reads the rows of the tree twice. It cannot be combined
#' with an objective of your own.
#'
#' @section Linear leaves:
#' With `leaf_model = "linear"` a leaf predicts a linear function of the numeric columns that its tree split by above
#' it, of the nearest six (Shi, Li and Li, 2019). A response that rises or falls smoothly then needs fewer trees.
#' Slopes are a weighted regression on the gradients of the leaf's rows. A leaf whose slopes gain no more than twice
#' what chance gives stays constant. `lambda` and `path_smooth` act on the constant part of the value alone. Slopes are
#' shrunk by `linear_lambda`, and what chance gives is taken off them. Predictions stay within those that the training
#' rows of the leaf have. A row where one of the columns of the leaf is missing gets the constant value of the leaf.
#' Splits are chosen as for constant leaves.
#'
#' The value of a column is that of its bin: the middle between two cuts, for the first and the last bin as far outside
#' as the next bin is wide. So training needs no memory for the numbers, and a row is predicted as it was trained. The
#' middles are rounded to steps of at most 1 / 8192 of the column's range. Where most values of a column lie within a
#' few such steps, give its logarithm instead. Linear leaves cannot be combined with monotone constraints, `alpha`,
#' ordered boosting, trees with common splits and objectives whose leaves are quantiles. On a device (`device = "cuda"`)
#' trees grow on the device, and the CPU computes their leaves, to the same bytes; `device = "auto"` is the CPU.
#'
#' [gbt_shap()] says what contributions of linear leaves are; [gbt_export()] writes them as C and as JSON. [gbt_tree()]
#' and the table of nodes ([gbt_methods]) have the slopes. [gbt_importance()] by gain, cover and frequency counts
#' splits, not slopes.
#'
#' @section Constraints on features:
#' * `interactions`: Interaction constraints: a list of groups of features (names or positions). Two features may be
#'   used on one path from root to leaf only if a group contains both. A feature in no group is used with no other.
#' * `first_use_penalty`: A penalty that is subtracted from the gain of a split until an earlier round of the model uses
#'   its column, for features that are expensive to collect: one number of 0 or more, or numbers named by feature (0 for
#'   others). The remaining gain must exceed `gamma`. Gains grow with the number of rows. For a combination of columns
#'   it is the sum over the columns not used yet. With `init_model` there is no penalty on the columns that this model
#'   uses. Also called `first_feature_use_penalties` and `cegb_penalty_feature_coupled`.
#'
#' @section Running:
#' * `verbose_every`: Number of rounds between two lines of the log.
#' * `progress`: `TRUE` shows a progress bar on the standard error stream, or by package progressr if it has handlers.
#'   By default (if you do not give `verbose` either), an interactive session prints one line if a search for the number
#'   of rounds, [gbt_cv()] or [gbt_tune()] takes over 5 seconds (`options(gbt.progress_after = )`); `FALSE` hides it.
#' * `checkpoint_seconds`: Seconds between two checkpoints; 0 for one after every round.
#' * `label_gain`: For ranking: gains of the labels 0, 1, 2, and so on, in NDCG and DCG; see [gbt_objectives()].
#' * `grad_bits`: For experts: bits of a gradient in histograms, `"16"`, `"32"` or `"auto"`.
#' * `breaks`: For objective `"hazard"`: the ends of the time intervals, or their number; see
#'   [gbt_objectives()].
#' * `cause`: For survival with several kinds of events (a factor as the status of `Surv()`): the name of the event to
#'   model, see [gbt_objectives()].
#' * `tree_method`, `num_class`: Accepted for compatibility with other packages: `"hist"`, and the number of classes of
#'   the response.
#'
#' @section Symmetric trees:
#' With `grow_policy = "symmetric"` (oblivious trees, CatBoost's `"SymmetricTree"`) all nodes of a layer use the same
#' split: the one with the largest sum of gains over these nodes. Trees are full, up to `max_depth` layers (1 to 16) or
#' as many as fit into `max_leaves`. They predict fast and overfit less. `gamma` is the minimum sum of gains. If the
#' split is not allowed in a node (a child would violate `min_child_weight`, `min_data_in_leaf` or a monotone
#' constraint, or there is no gain), both children have the value of the node. Its gain in the table of nodes is then 0.
#' Sets of levels use one order for the whole tree. `colsample_bynode` must be 1.
#'
#' @section Trees with common splits:
#' With three classes or more (objective `"softmax"`) a round has a tree for each class. With `"multi_output_tree"` it
#' has one tree, whose leaves hold a value for every class. Models are smaller, and training and predictions are faster.
#' Each round reduces the loss less: use it with early stopping and 1,000 rounds or more. On nearly separable data,
#' separate trees may be better. Trees are symmetric unless you give another `grow_policy`; `num_parallel_tree`
#' must be 1. Gains and covers of a tree are those of all classes together. As in symmetric trees, a split that does not
#' suit a class leaves its value as it is in both children.
#'
#' A response of several columns has a tree for each column, or with `"multi_output_tree"` one tree for all. To choose
#' splits, columns are scaled by powers of two, so that one with large numbers does not dominate. For up to eight
#' columns of numbers (`"squared_error"`), rules or a race choose the shape of these trees as for one response, see
#' [gbt_defaults()]. The same strategy serves several levels of `"quantile"`: nine levels take a third of the time of
#' separate trees, at a loss from 1 % lower to 2 % higher (`bench/results/quantiles.md` in the sources).
#'
#' `sketch` says how the splits are chosen:
#' * `"none"`: by the sum of the gains of all outputs (at most 8), as XGBoost's `"multi_output_tree"` does. For sets of
#'   levels, the levels are sorted by the gradients along one random direction, drawn in each round by `seed`.
#' * `"projection"`: only by the gradients along such a random direction (random projections: Iosipov and Vakhrushev,
#'   2022, SketchBoost). Splits are searched once per round, for any number of outputs.
#' * `"auto"`, the default: `"none"` for up to 8 columns, otherwise `"projection"`. With classes `"none"` is often
#'   better, too (`bench/results/sketch.md` in the sources), but takes longer.
#'
#' @return A data frame of class `gbt_parameters` with one row per parameter. Several rows are printed by topic, one
#'   line or two for each. A single row is printed in full. Its columns:
#'   \item{name, topic, meaning}{of the parameter}
#'   \item{default}{`"by rule"` means that a rule chooses, see [gbt_defaults()]; the default without the rule follows}
#'   \item{range}{numbers, or the choices}
#'   \item{aliases}{all names in other packages}
#'   \item{matters}{what must be given for the parameter to have an effect}
#'   \item{xgboost, lightgbm, catboost}{the names in these packages}
#'   \item{help}{the page about it}
#'
#'   `gbt_params()` is an older name of `gbt_parameters()`.
#' @seealso [gbt_train()], [gbt_defaults()], [gbt_tune()]; `vignette("tuning", package = "gbt")`
#' @concept regularization
#' @concept interaction constraints
#' @concept tree depth
#' @concept hyperparameters
#' @examples
#' gbt_parameters("stopping")
#' gbt_parameters("num_leaves")
#'
#' # as a data frame
#' p <- gbt_parameters()
#' p[p$topic == "Leaves", c("name", "default", "range")]
#' @export
gbt_parameters <- function(what = NULL) {
  all <- parameters_table()
  if (is.null(what)) return(all)
  if (!is_text(what) || !nzchar(trimws(what))) {
    stop_argument("`what` must be one text: a name, or words to search for", "what")
  }
  plain <- function(text) trimws(gsub("[^a-z0-9]+", " ", lower_case(text)))
  asked <- plain(what)
  typed <- gsub(" ", "_", asked, fixed = TRUE)
  has <- function(texts, words) Reduce(`&`, lapply(words, grepl, plain(texts), fixed = TRUE))
  whole <- function(texts) grepl(paste0(" ", asked, " "), paste0(" ", plain(texts), " "), fixed = TRUE)
  text <- paste(all$name, all$topic, all$meaning, all$aliases, all$range)
  named <- all$name %in% canonical_name(typed)
  if (any(named)) return(structure(all[named, ], also = all$name[whole(text) & !named]))
  words <- strsplit(asked, " ", fixed = TRUE)[[1L]]
  found <- length(words) > 0L & has(text, words)
  refused <- find_foreign("train", typed)
  if (!is.null(refused)) {
    told <- vapply(all$name, function(name) grepl(sprintf("`%s\\b", name), refused$reply), NA)
    return(structure(all[told | found, ], note = sprintf("gbt has no `%s`: %s", refused$name, refused$reply)))
  }
  if (!any(found)) {
    near <- suggest_parameter(what)
    stop_argument(sprintf("no parameter matches \"%s\"%s gbt_parameters() lists all", printable(what),
                          if (nzchar(near)) near else ";"), "what")
  }
  out <- all[found, ]
  out[order(!has(paste(out$name, out$aliases), words)), ]
}

#' @rdname gbt_parameters
#' @export
gbt_params <- function() gbt_parameters()

#' @export
print.gbt_parameters <- function(x, ...) {
  if (!all(c("name", "default", "range", "meaning", "topic", "matters", "xgboost", "lightgbm", "catboost", "help") %in%
             names(x))) return(NextMethod()) # some columns
  if (!is.null(attr(x, "note"))) cat(strwrap(attr(x, "note")), "", sep = "\n")
  if (nrow(x) == 1L) print_parameter(x) else for (topic in unique(x$topic)) {
    cat(topic, "\n", sep = "")
    for (i in which(x$topic == topic)) {
      cat(hanging(x$name[i], sprintf("%s [%s]", x$meaning[i], x$default[i]), 27L), sep = "\n")
    }
  }
  invisible(x)
}

# "  label   text": the text from column `from` on, in lines.
hanging <- function(label, text, from) {
  lines <- strwrap(text, max(getOption("width"), 60L) - from)
  paste0(formatC(c(paste0("  ", label), rep("", length(lines) - 1L)), width = -from), lines)
}

# One parameter in full.
print_parameter <- function(x) {
  rules <- gbt_defaults()
  rules <- rules$rule[vapply(strsplit(rules$parameters, ", ", fixed = TRUE), function(set) x$name %in% set, NA)]
  words <- function(text) strsplit(text, ", ", fixed = TRUE)[[1L]]
  others <- setdiff(words(x$aliases), unlist(lapply(x[c("xgboost", "lightgbm", "catboost")], words)))
  fields <- c(default = x$default, values = gsub("|", ", ", x$range, fixed = TRUE),
              rule = if (length(rules)) paste(rules, collapse = " "), "matters with" = x$matters, XGBoost = x$xgboost,
              LightGBM = x$lightgbm, CatBoost = x$catboost, "also called" = paste(others, collapse = ", "),
              topic = x$topic, help = x$help, "see also" = paste(attr(x, "also"), collapse = ", "))
  cat(x$name, "\n", sep = "")
  cat(hanging("", x$meaning, 2L), sep = "\n")
  for (name in names(fields)[nzchar(fields)]) cat(hanging(name, fields[[name]], 16L), sep = "\n")
}
