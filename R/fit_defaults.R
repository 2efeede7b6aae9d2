# Rules for parameters that the user does not name: what holds for them follows from the data. The engine has one plain
# default for each parameter (src/gbt/params.def), which holds where no rule says more. A parameter that the user names,
# under any of its names, has the value that he gave, and rules choose the others around it.
#
# Rules were chosen on one half of the sets of bench/defaults.R and confirmed on the other; `evidence` is the section of
# bench/results/defaults.md that shows why.

# parameters   what the rule sets
# value        function(facts, objective, preset) -> list by name of some of these; NULL where the rule does not hold.
#              facts: see rule_facts(); objective: its name; preset: "fast", "default" or "best"
# unless       parameters any of which the user must not have named
# text         the rule, in a sentence
# around       does the rule choose its other parameters where some of them are named?
new_rule <- function(parameters, value, text, evidence, unless = parameters, around = FALSE) {
  list(parameters = parameters, value = value, text = text, evidence = evidence,
       unless = if (around) unless else union(parameters, unless))
}

# The step size eta. With early stopping small steps only cost more rounds; with a given `nrounds` eta is as small as
# these rounds allow. `reach` is about the product of eta and rounds after which the data are learned, which deep trees
# do sooner. With many classes that share their splits, a round improves each of them little. NDCG of few queries moves
# by chance, so small steps are often stopped too early.
eta_of <- function(facts, objective) {
  reach <- (if (is_fine(facts)) 7 else 10) * (facts$rows / 1000)^0.45
  least <- if (!facts$stopping) 0.02 else if (objective == "rank_ndcg") 0.1 else 0.06
  many <- facts$early && objective == "softmax" && shares_splits(facts, objective)
  if (many) least <- max(least, 0.01 * facts$outputs)
  min(max(signif(reach / facts$nrounds, 2L), least), 0.3)
}

class_objectives <- c("logistic", "softmax")

# ---- the shape of trees ----

shape_parameters <- c("grow_policy", "max_depth", "max_leaves")
no_shape_with <- c("colsample_bynode", "num_parallel_tree", "boosting") # parameters with which no rule chooses it

# Are other trees than symmetric ones of six layers worth a try? Many classes are better with splits that they share,
# and so are quantiles with leaves of many rows. Other objectives were not measured, nor were common trees of other
# responses than columns (bench/results/sketch.md), or of splits by a projection.
may_be_fine <- function(facts, objective) {
  if (facts$outputs > 10) return(FALSE)
  if (has_common_trees(facts)) return(isTRUE(facts$sums) && objective == "squared_error")
  objective %in% c("squared_error", "poisson", class_objectives)
}

has_common_trees <- function(facts) identical(facts$strategy, "multi_output_tree")

# Whether outputs share trees whose splits are chosen by the sum of their gains (src/gbt/boost/together.c).
grows_by_sums <- function(response, params) {
  sketch <- params[["sketch"]]
  few_columns <- !is.null(response$columns) && response$n_outputs <= 8L # GBTI_TOGETHER_MOST
  identical(params[["multi_strategy"]], "multi_output_tree") &&
    (identical(sketch, "none") || few_columns && !identical(sketch, "projection"))
}

# Are there rows enough for trees of 256 leaves? Symmetric trees learn too little of many rows with interactions, while
# deep trees learn the noise of few.
deep_from <- 20000
deep <- 8
bears_depth <- function(facts, objective) facts$rows >= deep_from && may_be_fine(facts, objective)

# Has a rule chosen trees of so many leaves?
is_fine <- function(facts) {
  !identical(facts$grow_policy, "symmetric") &&
    (identical(facts$max_depth, deep) || identical(facts$max_leaves, best_first_leaves))
}

# Symmetric trees are full, so more layers are for other policies.
most_layers <- 8
best_first_leaves <- 64

# The policy that is given, or that goes with what is given; NULL where several do.
given_policy <- function(given) {
  if (!is.null(given$grow_policy)) return(given$grow_policy)
  if (isTRUE(given$max_leaves > 0)) return("lossguide")
  if (isTRUE(given$max_depth > most_layers)) "depthwise"
}

# The shape by the number of rows, around what is given. flat, fine: layers of trees of few rows and of many.
shape_by_rows <- function(facts, objective, flat, fine) {
  many <- bears_depth(facts, objective)
  policy <- given_or(given_policy(facts$given), if (many) "depthwise" else "symmetric")
  depth <- if (isTRUE(facts$given$max_leaves == 0)) 6 else 0 # trees need one limit
  switch(policy, lossguide = list(grow_policy = policy, max_depth = depth, max_leaves = best_first_leaves),
         depthwise = list(grow_policy = policy, max_depth = if (many) fine else max(flat, 6)),
         list(grow_policy = policy, max_depth = flat))
}

# Does a shape that was chosen before go with what is given now? shape: list by name, of some of its parameters.
shape_fits <- function(shape, given) {
  policy <- shape$grow_policy
  if (is.null(policy)) return(TRUE)
  if (policy == "lossguide") return(given_or(given$grow_policy, policy) == policy && !isTRUE(given$max_leaves == 0))
  given_or(given_policy(given), policy) == policy
}

# ---- where a race chooses it (R/fit_race.R) ----

# A race is for data of so many rows: with fewer, symmetric trees were best on all sets.
race_from <- 10000

# Rows that shapes are trained on and judged by, about, as rows are drawn. The first are at most this share of all.
race_rows <- c(train = 20000, judge = 5000)
race_share <- 0.6

# A race costs about a sixth of so many rounds on its rows, or less. The training must cost more.
race_worth <- 800

# Objectives for which a race was right (bench/results/shapes.md).
race_objectives <- c("squared_error", class_objectives)

# The shapes to choose from, around what is given, as whole ones, in the order in which they are raced.
shapes_around <- function(given) {
  policy <- given_policy(given)
  named <- lapply(given[setdiff(names(given), "grow_policy")], as.double)
  layers <- function(policy, n) list(grow_policy = policy, max_depth = n)
  best_first <- list(grow_policy = "lossguide", max_depth = 0, max_leaves = best_first_leaves)
  shapes <- switch(given_or(policy, "any"), symmetric = list(layers(policy, 6)), lossguide = list(best_first),
                   depthwise = list(layers(policy, 6), layers(policy, deep)),
                   list(layers("symmetric", 6), if (length(named) == 0L) best_first, layers("depthwise", deep)))
  unique(lapply(Filter(length, shapes), utils::modifyList, named))
}

# The input of a race, a list: shapes, request (without what rules chose), facts, rows. NULL where none is held: the
# shape is given or kept, rules do not choose it, too little is known of its objective, or there are too few rows or
# rounds. searched: parameters whose values a search chooses, so that a shape for all of them may not go with them.
race_task <- function(request, facts, rows, chosen, searched = character(0)) {
  named <- c(counts_as_named(request$args$value), searched)
  if (any(c("multi_strategy", "sketch") %in% searched)) return(NULL)
  objective <- rows$response$objective
  kept <- !is.null(chosen$all) || !is.null(chosen$shape) || !is.null(request$args$value[["init_model"]])
  if (kept || request$preset == "fast" || any(no_shape_with %in% named)) return(NULL)
  if (!objective %in% race_objectives || !may_be_fine(facts, objective)) return(NULL)
  if (!is_worth_a_race(facts)) return(NULL)
  shapes <- shapes_around(facts$given)
  if (length(shapes) < 2L) return(NULL)
  list(shapes = shapes, request = request, facts = facts, rows = rows)
}

is_worth_a_race <- function(facts) {
  facts$rows >= race_from && facts$rows <= .Machine$integer.max &&
    facts$rows * facts$nrounds >= race_worth * rows_to_train(facts$rows)
}

# Does the shape of the model that update() trains again suit what is trained now? Else rules and a race choose again.
# chosen: list(shape, objective).
shape_still_holds <- function(chosen, facts, request, objective) {
  is.null(chosen$objective) || (identical(chosen$objective, objective) && request$preset != "fast" &&
    facts$rows >= race_from && may_be_fine(facts, objective))
}

# Of data with n rows.
rows_to_train <- function(n) min(race_share * n, race_rows[["train"]])

pair_objective <- function(objective) is_of_queries(objective) && objective_info(objective)$hessian == "FREE"
many_classes <- function(facts, objective) objective == "softmax" && facts$outputs > 2

# Whether trees of classes share their splits, by name or by rule.
shares_splits <- function(facts, objective) {
  if (!is.null(facts$strategy)) return(identical(facts$strategy, "multi_output_tree"))
  many_rounds <- facts$early && facts$nrounds >= 1000
  many_classes(facts, objective) && many_rounds && identical(facts$grow_policy, "symmetric")
}

default_rules <- list(
  new_rule(
    shape_parameters,
    function(facts, objective, preset) {
      if (length(facts$raced)) return(facts$raced)
      shape_by_rows(facts, objective, if (is_of_hazards(objective)) 4 else 6, deep)
    },
    paste("By a race with 10,000 rows and 480 rounds or more, see `?gbt_defaults`. Without a race, from 20,000",
          "rows on, \"depthwise\" and `max_depth` 8 for \"squared_error\", \"poisson\" and up to ten classes",
          "whose trees do not share their splits: so many rows allow finer trees. Else \"symmetric\", one split",
          "for all nodes of a layer, which is more stable on few rows, and 6, or 4 for \"cox\" and \"fine_gray\". A",
          "value that you give is fixed; the others are chosen around it. So `max_leaves` makes trees",
          "\"lossguide\" without a limit of depth, \"lossguide\" alone those of 64 leaves, and `max_depth` above",
          "8 makes them \"depthwise\", as symmetric ones are full."),
    "Shape of trees", no_shape_with, around = TRUE
  ),
  new_rule(
    "eta", function(facts, objective, preset) list(eta = eta_of(facts, objective)),
    paste("10 (rows / 1000)^0.45 / `nrounds`, at most 0.3, and at least 0.02, or 0.06 (for \"rank_ndcg\" 0.1) with",
          "early stopping or `checkpoint`: fewer rounds need larger steps, and more rows allow larger ones. 7 instead",
          "of 10 where a rule makes trees of eight layers. At least a hundredth of the number of classes where these",
          "share their splits and training stops early."),
    "Step size"
  ),
  new_rule("lambda",
           function(facts, objective, preset) {
             list(lambda = if (pair_objective(objective)) 1 else if (is_of_hazards(objective)) 10 else 3)
           },
           paste("3; 1 for ranking objectives by pairs of rows, whose hessians are small; 10 for \"cox\" and",
                 "\"fine_gray\", whose hessians count events."), "Penalty on leaves"),
  new_rule("colsample_bytree", function(facts, objective, preset) list(colsample_bytree = 0.8),
           "0.8: every tree sees four fifths of the features.", "Features of a tree",
           c("mtry", "colsample_bylevel", "colsample_bynode")),
  new_rule("min_child_weight",
           function(facts, objective, preset) {
             if (objective %in% class_objectives) list(min_child_weight = 0.1) else if (pair_objective(objective)) {
               list(min_child_weight = 0)
             }
           },
           paste("0.1 for classes, whose hessians are 0.25 a row at most and fall as probabilities near 0 or 1.",
                 "0 for ranking objectives by pairs of rows, whose hessians are of the size of changes in a metric."),
           "Classes and counts"),
  new_rule("min_data_in_leaf",
           function(facts, objective, preset) if (pair_objective(objective)) list(min_data_in_leaf = 20),
           "20 for ranking objectives by pairs of rows, instead of `min_child_weight`.", "Ranking"),
  new_rule("random_strength",
           function(facts, objective, preset) {
             if (!identical(facts$grow_policy, "symmetric")) return(NULL)
             strength <- if (objective %in% class_objectives) 1 else if (objective == "poisson") 0.25 else 0.5
             list(random_strength = strength)
           },
           paste("In symmetric trees 1 for classes, 0.25 for \"poisson\", else 0.5: splits that are nearly as good",
                 "take turns. 0 in others."), "Noise"),
  new_rule("multi_strategy",
           function(facts, objective, preset) {
             if (shares_splits(facts, objective)) list(multi_strategy = "multi_output_tree")
           },
           paste("For \"softmax\" with three classes or more, in symmetric trees, where training stops early or rounds",
                 "are found and may be 1,000 or more: \"multi_output_tree\"."),
           "Classes and counts", "num_parallel_tree"),
  new_rule("max_cat_onehot",
           function(facts, objective, preset) {
             if (isTRUE(facts$categories) && identical(facts$grow_policy, "symmetric")) list(max_cat_onehot = 255)
           },
           paste("255 in symmetric trees of data with categorical columns: a split sends one level to one side. Sets",
                 "of levels would have one order for a whole tree."), "bench/results/shapes.md",
           c("cat_method", "cat_smooth", "cat_l2", "cat_noise", "max_cat_threshold", "min_data_per_group")),
  new_rule("softmax_hessian",
           function(facts, objective, preset) if (many_classes(facts, objective)) list(softmax_hessian = 1.3),
           "1.3 for \"softmax\" with three classes or more: longer steps than with 2, so fewer rounds.",
           "Classes and counts")
)

# The input of rules, a list: rows (of the data, masked-out ones among them, so that a fold has the parameters of its
# cross-validation; without those of weight 0), features, categories (is one of them categorical?), binned (are they
# gbt_data?), outputs (scores of a row), nrounds (at most), grow_policy (as named, or by the rules before), early (does
# training end when rounds do not help?), stopping (may rounds be added until they do not help: early, or from a
# checkpoint), strategy (multi_strategy as named), sums (see grows_by_sums()), given (parameters of the shape of trees
# as named, a list). Later also raced, the shape that a race or an earlier training has chosen, and max_depth and
# max_leaves by the rules before.
rule_facts <- function(source, n_rows, response, request) {
  host <- request$host
  features <- if (is.null(source$x)) length(source$data$feature_names) else dim(source$x)[2L]
  early <- host$early_stopping_rounds > 0 || host$rounds != "given"
  weights <- check_weight(source$weights, n_rows, "weights")
  list(rows = sum_of_ranks(count_weighted(weights, n_rows)), features = as.double(features),
       categories = has_categories(source, request$args$value), binned = is.null(source$x),
       outputs = response$n_outputs, nrounds = host$nrounds, grow_policy = request$params$grow_policy, early = early,
       stopping = early || !is.null(host$checkpoint), strategy = request$args$value[["multi_strategy"]],
       sums = grows_by_sums(response, request$args$value), given = given_shape(request$args$value, response))
}

# Is a column of the data categorical? args: values by name.
has_categories <- function(source, args) {
  if (is.null(source$x)) return(any(.Call(C_gbt_dataset_info, data_ptr(source$data))$type == "categorical"))
  is_category <- function(column) is.character(column) || (is.factor(column) && !is.ordered(column))
  length(args[["cat_features"]]) > 0L || (is.data.frame(source$x) && any(vapply(source$x, is_category, NA)))
}

# Parameters of the shape as named, with what they imply. args: values by name.
given_shape <- function(args, response) {
  given <- args[names(args) %in% shape_parameters]
  facts <- list(strategy = args[["multi_strategy"]], sums = grows_by_sums(response, args), outputs = response$n_outputs)
  c(given, implied_policy(facts, response$objective, names(given)))
}

all_rules <- function() c(default_rules, preset_rules) # see R/fit_presets.R

# Those whose default no table can show.
ruled_parameters <- function() unique(unlist(lapply(default_rules, `[[`, "parameters")))

# The parameters that count as named. A value that means no change, such as one tree a round, does not count. values: of
# parameters, by name.
counts_as_named <- function(values) {
  plain <- list(boosting = "plain", num_parallel_tree = 1, colsample_bynode = 1, cat_method = "auto")
  if (is.list(values$cat_method)) values$cat_method <- unique(unlist(values$cat_method))
  said <- vapply(names(plain), function(name) isTRUE(all.equal(values[[name]], plain[[name]])), NA)
  setdiff(names(values), names(plain)[said])
}

# The rules that remain when the user sets these parameters.
remaining_rules <- function(named) Filter(function(rule) !any(rule$unless %in% named), all_rules())

# Trees that share their splits are symmetric by default, whichever other parameters are given, unless other shapes
# were measured.
implied_policy <- function(facts, objective, named) {
  symmetric <- has_common_trees(facts) && !may_be_fine(facts, objective)
  if (symmetric && !"grow_policy" %in% named) list(grow_policy = "symmetric")
}

# The values that the rules choose, a list by name of parameters.
rules_of <- function(facts, objective, preset = "default", named = character(0)) {
  out <- c(list(), implied_policy(facts, objective, named))
  facts$grow_policy <- given_or(out$grow_policy, facts$grow_policy)
  for (rule in remaining_rules(named)) {
    value <- rule$value(facts, objective, preset)
    value <- value[setdiff(names(value), named)]
    out[names(value)] <- value
    for (name in shape_parameters) facts[[name]] <- given_or(value[[name]], facts[[name]])
  }
  out
}

# Parameters that rules set for symmetric trees only.
of_symmetric_trees <- c("random_strength", "multi_strategy", "max_cat_onehot")

# The values of an earlier training, `params`, for parameters that rules would decide now. What goes with the shape of
# trees or with one objective does not go on into others, nor does a shape that does not go with what is named now.
rules_kept <- function(params, named, objective, facts) {
  ruled <- setdiff(unlist(lapply(remaining_rules(named), `[[`, "parameters")), c(binning_arguments, named))
  if (!shape_fits(params, facts$given)) ruled <- setdiff(ruled, shape_parameters)
  out <- params[names(params) %in% ruled]
  if (length(out[["eta"]]) > 1L) out$eta <- out$eta[length(out$eta)] # that of the last round
  out <- out[vapply(out, function(v) length(v) == 1L && is.null(names(v)), NA)]
  if (objective != "softmax") out$softmax_hessian <- out$multi_strategy <- NULL
  implied <- implied_policy(facts, objective, named)
  out[names(implied)] <- implied
  policies <- c(given_or(params$grow_policy, "symmetric"), given_or(out$grow_policy, facts$grow_policy))
  symmetric <- policies == "symmetric"
  if (symmetric[1L] != symmetric[2L]) out[of_symmetric_trees] <- NULL # rules choose again
  if (identical(out$max_leaves, 0)) out$max_leaves <- NULL # 0 is the default
  out
}

# The values that are kept, with those that rules choose again around them. value: of all rules; kept: of the earlier
# training, by name.
kept_and_chosen <- function(value, kept, named, request, facts, objective) {
  shape <- if (!shape_fits(kept, facts$given)) value[names(value) %in% shape_parameters]
  facts$grow_policy <- given_or(shape$grow_policy, facts$grow_policy)
  kept <- c(rules_kept(kept, named, objective, facts), shape)
  facts$grow_policy <- given_or(kept$grow_policy, facts$grow_policy)
  again <- rules_of(facts, objective, request$preset, c(named, shape_parameters))
  again <- again[setdiff(intersect(names(again), of_symmetric_trees), names(kept))]
  ours <- value[names(value) %in% host_table$name] # folds have no ensembles, and what is refitted does
  bins <- request$args$value[["init_model"]]$params[["max_bin"]]
  if (!is.null(ours$max_bin) && !is.null(bins)) ours$max_bin <- if (identical(bins, "exact")) exact_bins else bins
  list(kept = setdiff(names(kept), names(shape)), value = utils::modifyList(ours, c(kept, again)))
}

# The request with what the rules say among its parameters, and as `by_rule`. kept: values to be taken instead, of the
# training that is done again or, with `init_model`, gone on from.
with_rules <- function(request, facts, objective, kept = NULL) {
  named <- counts_as_named(request$args$value)
  init <- request$args$value[["init_model"]]
  goes_on <- is.null(kept) && !is.null(init)
  if (goes_on) kept <- init$params
  value <- rules_of(facts, objective, request$preset, named)
  if (!is.null(kept)) {
    both <- kept_and_chosen(value, kept, named, request, facts, objective)
    value <- both$value
    if (goes_on) request$kept_by_name <- setdiff(both$kept, init$by_rule)
  }
  request$by_rule <- value
  ours <- names(value) %in% host_table$name # of R itself, such as `ensemble`
  request$host[names(value)[ours]] <- value[ours]
  request$params[names(value)[!ours]] <- value[!ours]
  request
}

# Arguments with what the rules chose, for trainings on data that are binned.
with_ruled <- function(args, request) {
  said <- request$by_rule[!names(request$by_rule) %in% binning_arguments]
  args[names(said)] <- said
  rename_alpha(args)
}

# "by rule   grow_policy symmetric, max_depth 6, eta 0.06" of a model that is printed, in lines. by: "rule" or "race".
chosen_lines <- function(values, by) {
  shown <- function(v) paste(if (is.numeric(v)) format_number(signif(v, 4L)) else unlist(v), collapse = " ")
  text <- vapply(values, shown, "")
  if (length(text)) labelled_lines(paste("by", by), paste(names(values), text))
}

#' Defaults that follow from the data
#'
#' The rules by which [gbt_train()] chooses parameters that you do not set. They were measured on many data sets. They
#' use the objective, the numbers of rows and rounds, whether columns are categorical and how training ends. Only the
#' shape of trees depends on the response, see Race. The number of rows counts all rows of the data with a weight above
#' 0, including those that a `mask` or a fold holds out. `print()` of a model shows the parameters that rules have
#' chosen; its `params` have their values, and `by_rule` their names.
#'
#' A value that you give is fixed, and the rules choose the other parameters to fit it. For example, with `max_depth =
#' 4` the number of rows or a race chooses `grow_policy`; with `grow_policy = "depthwise"` rules choose the depth;
#' `max_leaves = 31` means best-first trees (`"lossguide"`) with 31 leaves. To grow the same trees as in another
#' package, give `grow_policy`, `max_depth` and, for `"lossguide"`, `max_leaves`. Some parameters switch off rules for
#' others: see `unless` below. `boosting = "plain"`, `num_parallel_tree = 1`, `colsample_bynode = 1` and `cat_method =
#' "auto"` are defaults, so setting them changes nothing. Parameters without a rule that applies have the defaults that
#' [gbt_parameters()] lists. With `init_model`, parameters with a rule keep the values of that model; give all others
#' (constraints among them) again. [gbt_refit()] keeps the values that rules had chosen for a cross-validation, a search
#' or early stopping.
#'
#' `preset = "fast"` and `preset = "best"` add rules: `"fast"` uses a larger `eta` and fewer bins, and each symmetric
#' tree uses half of the features (at least eight, but at most four fifths of all); `"best"` trains an `ensemble`.
#' Arguments that you give take precedence over the preset.
#'
#' Rules do not use R's random numbers. `eta` and the race depend on `nrounds`, so `model[1:20]` of a longer training is
#' not the model of `nrounds = 20`, unless you give `eta` and the shape of trees.
#'
#' @section Race:
#' No shape of trees is best for all data. So gbt trains two or three shapes for a few rounds with a large `eta` on some
#' of the rows, and chooses by the loss on other rows: symmetric trees with six layers, or best-first trees
#' (`"lossguide"`) with 64 leaves if their loss is lower by 0.3 percent. If it is lower by 3 percent, depthwise trees
#' with eight layers are tried as well, and must be 2 percent better than these. Symmetric trees are trained for at most
#' 100 rounds, others for 50, with `eta` 0.3, on at most 20,000 rows and 60 percent of all rows. A shape that is clearly
#' worse after 20, 30 or 40 percent of its rounds is stopped, and early stopping applies as in training. A race takes 3
#' to 20 percent of the time of most trainings, and up to 30 percent of those that stop after few rounds
#' (`bench/results/shapes.md` in the sources).
#'
#' The rows of a race are drawn by a hash of their numbers, and copied to memory if the data are in a folder. The loss
#' is measured on at most 5,000 rows: of the last validation set (or the masked-out rows) if it is used for early
#' stopping and has 500 rows or more, otherwise of training rows that are held out of the race (whole groups with
#' `group`, the latest with `time`). The choice is the same for any number of threads and ranks, on any device, and for
#' any `seed`, but it depends on the order of the rows.
#'
#' There is a race with 10,000 rows or more, for the objectives `"squared_error"` (also of up to ten columns, or of up
#' to eight with common trees), `"logistic"`, and `"softmax"` with up to ten classes, if `nrounds` (or the limit of
#' rounds) is at least 480, or from 33,333 rows on 16,000,000 / rows. Rows that a share of `valid` holds out do not
#' count. There is none with `preset = "fast"`, with `init_model`, and if you give `colsample_bynode`,
#' `num_parallel_tree` or `boosting`. Only shapes with the values that you give are compared: with `max_depth` up to 8,
#' symmetric and depthwise trees of this depth; with `grow_policy = "depthwise"`, six and eight layers. To train
#' without a race, give the whole shape: `grow_policy = "symmetric"` or `"lossguide"`, or `"depthwise"` with
#' `max_depth`. With `max_seconds` a race takes at most a tenth of this time; if that is too short, rules decide.
#' `verbose = 1` shows the losses, and `model$race` has them.
#'
#' [gbt_cv()] and [gbt_tune()] run one race, on the rows that the first fold trains on, which other folds hold out.
#' [gbt_refit()] and a call that continues from its `checkpoint` keep the shape without a race. So does `update()` with
#' the same objective and 10,000 rows or more. To use the same parameters elsewhere, give `params =
#' model$params[model$by_rule]`.
#'
#' @return A data frame with one row per rule: `parameters`, `rule`, `unless` (parameters which, when named, switch it
#'   off) and `evidence` (the section of `bench/results/defaults.md` in the sources that shows why, or another page). It
#'   has the class `gbt_defaults`, which prints a paragraph for each.
#' @seealso [gbt_train()], [gbt_parameters()]
#' @concept default parameters
#' @concept learning rate
#' @concept symmetric trees
#' @examples
#' gbt_defaults()
#'
#' m <- gbt_train(mpg ~ ., mtcars, nrounds = 20, threads = 1)
#' m
#' m$params[m$by_rule]
#' @export
gbt_defaults <- function() {
  texts <- function(field) vapply(all_rules(), function(rule) paste(rule[[field]], collapse = ", "), "")
  out <- data.frame(parameters = texts("parameters"), rule = texts("text"), unless = texts("unless"),
                    evidence = texts("evidence"), stringsAsFactors = FALSE)
  class(out) <- c("gbt_defaults", "data.frame")
  out
}

#' @export
print.gbt_defaults <- function(x, ...) {
  if (!all(c("parameters", "rule", "unless") %in% names(x))) return(NextMethod()) # some columns
  for (i in seq_len(nrow(x))) {
    cat(x$parameters[i], "\n", sep = "")
    cat(strwrap(x$rule[i], indent = 4L, exdent = 4L), sep = "\n")
    cat(strwrap(paste("not applied if you give:", x$unless[i]), indent = 4L, exdent = 4L), sep = "\n")
  }
  invisible(x)
}
