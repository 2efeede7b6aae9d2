# All that is known of a training before its first round.

# The fit: what is known before the first round, a list of
#   params       the engine's parameters by name, seed and mtry resolved
#   host         R's own parameters by name; threads, sparse_zero and device (a choice, see R/arg_cuda.R) resolved
#   objective    the user's functions where they give the gradients, see as_objective()
#   callbacks    list of functions
#   response     what the response is: objective, classes, n_outputs, ..., see encode_response()
#   label        doubles: the response of the rows that are trained on
#   n_obs        number of these rows, with `ranks` of all ranks
#   class_shares shares of the classes that a tree sees, by name in the order of labels; NULL: `subsample` of all
#   data         gbt_data; its `view` is the engine's, of these rows, with label, weight and offset of this training
#   valid        validation sets, see build_valid(); that of the masked-out rows is the first one
#   constraints  monotone, interactions, feature_weights, first_use_penalty: in the form of the engine, or NULL
#   cat_method   methods that the engine is asked for, see cat_method_for()
#   order        which of `time` and `group` are given and have had no effect yet
#   start        model to go on from (NULL for none), its scores on the rows, and its number of rounds
#   evaluation   what is evaluated after each round and may stop the training, see plan_evaluation()
#   formula, design   of the source; NULL without a formula
#   recipe       the trained recipe that baked the rows, see R/fit_recipe.R; NULL for none
#   exposed      the column of exposures, see R/data_exposure.R; NULL for none
#   named        names of the arguments that the user gave
#   by_rule      parameters that rules have decided, or would have, by name, see R/fit_defaults.R
#   kept_by_name those among them that init_model was given by name
#   reason       why no tree can have a split, see R/fit_learned.R; NULL where one may
#   race         how the shape of trees is found, see R/fit_race.R; NULL where rules have chosen it
#   raced        how a race went, see shape_of_race(); absent where there was none
#   search       how rounds are found, see R/fit_rounds_auto.R; NULL where their number is known
#
# chosen: NULL, or a list by which an earlier training decides in place of rules: all, see `kept` of with_rules(), or
# shape, the parameters of the shape of trees only, with the objective that it was chosen for. look: NULL or a function
# of the rows.
prepare <- function(source, given, chosen = NULL, look = NULL) {
  request <- read_request(given)
  args <- request$args$value
  check_not_by_column(request$args, source)
  check_shares(source, request)
  rows <- read_rows(source, request)
  if (!is.null(look)) look(rows)
  request <- settle_rounds(request, rows)
  response <- rows$response
  facts <- rule_facts(rows$source, rows$n, response, request)
  if (!shape_fits(chosen$shape, facts$given) || !shape_still_holds(chosen, facts, request, response$objective)) {
    chosen$shape <- NULL
  }
  facts$raced <- chosen$shape
  race <- race_task(request, facts, rows, chosen)
  request <- size_rounds(with_rules(request, facts, response$objective, chosen$all))
  search <- search_task(request, rows)
  watched <- with_typed(plan_metrics(args, request$host, rows), request$args$typed)
  host <- place_training(request, rows)
  fields <- training_fields(rows, args, host)
  own <- fields$own
  check_columns_seen(rows$label)
  for_each_column(rows$label, function(label) check_scale(label, own$weight, own$offset, response$objective))
  reason <- small_weights_reason(own$weight, request$params$min_child_weight, response$objective)
  shares <- class_shares(args[["class_shares"]], rows$label, response)
  columns <- columns_of_source(rows$source, args, host)
  its <- resolve_columns(columns, request, rows$source$x)
  inform_of_no_slopes(columns$type, request$params)
  params <- set_mtry(replace(request$params, "seed", rows$seed), request, columns$n_features)
  init <- check_init_model(args[["init_model"]], rows, columns$feature_names, own$offset, params)
  labels <- valid_labels(rows$valid, columns$feature_names, response)
  make_checkpoint_folder(host$checkpoint)
  data <- training_data(rows, columns, fields, args) # this takes long: what can be checked before has been
  valid <- c(masked_out_valid(rows, data, init, host), build_valid(rows$valid, labels, data, response, init, host))
  list(params = params, host = host, objective = request$objective, callbacks = request$callbacks,
       response = response, label = rows$label, n_obs = as_row_count(sum_of_ranks(length(rows$label))),
       n_events = count_events(rows$label),
       n_queries = if (any_rank(is_of_queries(response$objective))) count_groups(own$group), data = data, valid = valid,
       constraints = its$constraints, cat_method = its$cat_method, start = start_of(init, rows, data, host),
       evaluation = with_rows_of_ranks(plan_evaluation(watched, rows, data, valid)),
       class_shares = shares, order = effective_order(rows, args),
       formula = source$formula, design = source$design, recipe = source$recipe, exposed = rows$source$exposed,
       named = names(args), by_rule = request$by_rule, kept_by_name = request$kept_by_name, reason = reason,
       race = race, search = search_data(search, data))
}

# The request's settings for single columns, a list: constraints, see read_constraints(), and cat_method, see
# cat_method_for(). columns: see columns_of_source(); x: the table that they are from, or NULL.
resolve_columns <- function(columns, request, x) {
  args <- named_places(request$args$value, x, columns$feature_names)
  list(constraints = read_constraints(args, columns$feature_names), cat_method = cat_method_for(columns, request))
}

# Linear leaves have slopes for numeric columns.
inform_of_no_slopes <- function(type, params) {
  if (!identical(params$leaf_model, "linear") || any(type == "numeric")) return(invisible())
  say("no column is numeric, so linear leaves have no slopes: they are constant, as with `leaf_model = \"constant\"`")
}

# A number of rows, which ranks together may have more of than an integer counts.
as_row_count <- function(n) if (n <= .Machine$integer.max) as.integer(n) else n

# args: values by name.
read_constraints <- function(args, features) {
  list(monotone = resolve_monotone(args[["monotone"]], features),
       interactions = resolve_interactions(args[["interactions"]], features),
       feature_weights = resolve_feature_weights(args[["feature_weights"]], features),
       first_use_penalty = resolve_first_use_penalty(args[["first_use_penalty"]], features))
}

# The request to the engine: list(bits, see cat_method_bits(); asked = for which features the user asked for it). `mtry`
# counts features, so that "auto" must not add any.
cat_method_for <- function(columns, request) {
  bits <- function(auto) cat_method_bits(request$cat_method, columns$feature_names, columns$type, auto)
  counted <- !is.null(request$args$value[["mtry"]])
  list(bits = bits(if (counted) method_bits("sets") else 0L), asked = bits(0L) != 0L)
}

# Gains are squares of sums of gradients. Where these over- or underflow no split could be found, which is reported now.
check_scale <- function(label, weight, offset, objective) {
  if (is_given(objective)) return(invisible())
  size <- objective_info(objective)$size
  spread <- function(v) if (is.null(v)) 0 else diff(range_of_ranks(v))
  span <- switch(size, SPREAD = spread(label) + spread(offset), LABEL = range_of_ranks(label)[2L], 1)
  heaviest <- if (is.null(weight)) 1 else range_of_ranks(weight)[2L]
  if (is.na(heaviest) || heaviest < 0) return(invisible()) # the check of weights refuses them
  largest <- span * heaviest
  if (largest == 0 && (span == 0 || heaviest == 0)) return(invisible()) # constant: there is nothing to split for
  how <- if (sum_of_ranks(length(label)) * largest > 1e150) "overflow" else if (largest < 1e-150) "are all 0"
  if (is.null(how)) return(invisible())
  by_weight <- abs(log(heaviest)) > abs(log(span))
  by_offset <- size == "SPREAD" && spread(offset) > spread(label)
  at <- if (by_weight) 1L else if (by_offset) 2L else 3L
  stop_data(sprintf("%s %s, so squares of gradients %s and no split can be found; scale %s",
                    c("the largest of `weights` is", "`offset` spans", "the response spans")[at],
                    format(if (by_weight) heaviest else span), how, c("the weights", "both", "it")[at]),
            c("weights", "offset", "y")[at])
}

# Weights that were scaled to add up to 1 leave nothing to split: for these objectives a hessian is at most the weight.
# A reason of R/fit_learned.R, or NULL.
small_weights_reason <- function(weight, min_child_weight, objective) {
  free <- is.null(weight) || objective_info(objective)$hessian == "FREE"
  if (free || sum_of_ranks(length(weight)) < 2) return(NULL)
  total <- sums_of_ranks(sum(weight))
  if (total >= 2 * min_child_weight || total == 0) return(NULL) # the engine has its own words for all 0
  new_reason("weights", paste("`weights` add up to %s and `min_child_weight` is %s, so no node can be split; scale the",
                              "weights to a mean of 1"), format(total), format_number(min_child_weight))
}

set_mtry <- function(params, request, n_features) {
  args <- request$args
  mtry <- args$value[["mtry"]]
  if (is.null(mtry)) return(params)
  if (derives_features(request$cat_method)) {
    stop_unsupported(paste("`mtry` cannot be combined with `cat_method` \"target\", \"quartiles\" or \"count\", which",
                           "add features; give the share of features as `colsample_bytree`"), "mtry")
  }
  if (!is.null(args$value[["colsample_bytree"]])) {
    stop_argument(contradiction(args$typed[["colsample_bytree"]], args$typed[["mtry"]], "colsample_bytree"), "mtry")
  }
  params$colsample_bytree <- share_of_features(mtry, n_features, args$typed[["mtry"]])
  params
}
