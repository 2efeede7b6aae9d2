# Validation data: a share of the rows, some of the rows, list(x = , y = ), gbt_data, or several of them by name. With a
# formula also data frames, in which the formula is evaluated.

# `valid` in any form -> list(share = number or NULL, held = logical values of the rows or NULL, sets = named list of
# gbt_data or list(x, y, weight, offset)).
read_valid <- function(valid, source) {
  if (is.null(valid)) return(list(sets = list()))
  if (in_database(valid)) encode_x(valid) # says what to give
  if (is_share(valid) || is_rows(valid)) {
    if (is.null(source$x)) stop_no_share(valid)
    if (is_rows(valid)) return(list(held = held_rows(valid, n_rows_of(source$x)), sets = list()))
    if (is.na(valid) || valid <= 0 || valid >= 1) {
      is_row <- !is.na(valid) && valid >= 1 && valid == floor(valid)
      stop_argument(sprintf("`valid` as a share of the rows must lie between 0 and 1, not %s%s", quote_value(valid),
                            if (is_row) "; to hold out one row, give logical values, seq_len(n) == 7" else ""),
                    "valid")
    }
    return(list(share = as.double(valid), sets = list()))
  }
  one <- inherits(valid, "gbt_data") || is.data.frame(valid) || is_row_source(valid) ||
    (is.list(valid) && !is.null(names(valid)) && any(canonical_part(names(valid)) %in% c("x", "y")))
  sets <- if (one) list(valid = valid) else valid
  if (!is.list(sets) || is.object(sets) || length(sets) == 0L) {
    stop_argument(sprintf(paste("`valid` must be a share of the rows, numbers of rows or logical values,",
                                "list(x = , y = ), gbt_data, a source such as gbt_files(), or a list of such, not %s"),
                          describe(valid)), "valid")
  }
  names(sets) <- valid_names(sets)
  for (name in names(sets)) sets[[name]] <- read_valid_set(sets[[name]], name, source)
  list(sets = sets)
}

stop_no_share <- function(valid) {
  stop_unsupported(sprintf(paste("`valid` as %s needs a data frame or a matrix, not gbt_data or a source of rows; give",
                                 "other rows as a source or gbt_data(reference = ), or hold rows out by `mask`"),
                           if (is_share(valid)) "a share" else "rows"), "valid")
}

valid_names <- function(sets) {
  labels <- names(sets)
  if (is.null(labels)) labels <- character(length(sets))
  empty <- is.na(labels) | labels == ""
  labels[empty] <- if (length(sets) == 1L) "valid" else paste0("valid", seq_along(sets)[empty])
  labels <- as_utf8(labels, "the name of a validation set")
  if (anyDuplicated(labels)) {
    stop_argument(sprintf("`valid` has two sets called \"%s\"", labels[duplicated(labels)][1L]), "valid")
  }
  if ("train" %in% labels) {
    stop_argument("a validation set cannot be called \"train\"; `eval_train = TRUE` evaluates the training data",
                  "valid")
  }
  if (length(sets) > 16L) stop_argument("`valid` can have at most 16 sets", "valid")
  labels
}

# Names of the parts in other packages.
canonical_part <- function(names) {
  known <- c(x = "x", data = "x", y = "y", label = "y", weight = "weight", weights = "weight", sample_weight = "weight",
             offset = "offset", base_margin = "offset", init_score = "offset", baseline = "offset",
             exposure = "exposure", group = "group", qid = "group", query_id = "group", group_id = "group",
             strata = "strata")
  out <- unname(known[names])
  out[is.na(out)] <- names[is.na(out)]
  out
}

read_valid_set <- function(set, name, source) {
  if (inherits(set, "gbt_data")) {
    if (is.null(set$label)) {
      stop_argument(sprintf("validation set \"%s\" has no label: gbt_data(x, label = )", name), "valid")
    }
    return(set)
  }
  if (is_row_source(set)) return(source_valid_set(set, name, source))
  if (is.data.frame(set)) {
    if (is.null(source$parsed)) {
      stop_argument(sprintf("validation set \"%s\" is a data frame; its response is needed: give list(x = , y = )",
                            name), "valid")
    }
    return(formula_valid_set(set, name, source))
  }
  parts <- if (is.list(set) && !is.object(set)) canonical_part(names(set)) else NULL
  wrong <- setdiff(parts, c("x", "y", "weight", "offset", "exposure", "group", "strata"))
  if (length(parts) != length(set) || length(parts) == 0L || length(wrong) || anyDuplicated(parts) ||
        !all(c("x", "y") %in% parts)) {
    extra <- if (length(wrong)) sprintf("; it has an element `%s`", wrong[1L]) else ""
    stop_argument(sprintf(paste("validation set \"%s\" must be list(x = , y = ), with weight =, offset =,",
                                "exposure =, group = and strata = where needed%s"), name, extra), "valid")
  }
  names(set) <- parts
  set <- stratified_set(exposed_set(set, name, source), name, source)
  if (!is.null(source$design)) {
    seen <- apply_design(source$design, set$x)
    set$x <- seen$x
    set$offset <- add_offsets(set$offset, seen$offset)
  }
  set
}

# A source of rows. Columns that it gives no role have that of the training data.
source_valid_set <- function(set, name, source) {
  set <- check_source(as_row_source(set))
  if (!is.null(source$design)) {
    stop_unsupported(sprintf(paste("validation set \"%s\" is a source of rows, but the formula computes terms; read",
                                   "its rows into a data frame"), name), "valid")
  }
  roles <- given_or(source$roles, list())
  lhs <- source$parsed[[2L]]
  its <- if (!is.null(roles$label)) list(columns = roles$label, response = source$response) else
    if (is.name(lhs)) label_role(as.character(lhs)) else
      if (is_surv_call(lhs)) label_role(lhs, source$columns, environment(source$parsed))
  strata <- given_or(source$stratified, attr(source$y, "strata")$names)
  if (is.null(roles$label) && !is.null(its$response) && length(strata) && all(nzchar(strata))) {
    its <- role_with_strata(its, strata)
  }
  if (is.null(set$roles$label) && !is.null(its)) set <- with_label(set, its)
  set$roles <- utils::modifyList(roles, set$roles)
  if (is.null(set$roles$label)) {
    stop_argument(sprintf("validation set \"%s\" has no label: name its column, as in gbt_files(files, label = )",
                          name), "valid")
  }
  set
}

# A data frame with all variables of the formula.
formula_valid_set <- function(data, name, source) {
  formula <- source$parsed
  data <- without_codes(data)
  absent <- setdiff(intersect(all.vars(formula[[2L]]), source$columns), names(data))
  if (length(absent)) {
    stop_data(sprintf("validation set \"%s\" lacks the response, %s; add the column, or give list(x = , y = )", name,
                      enumerate(absent)), absent[1L])
  }
  seen <- apply_design(source$design, data)
  evaluate <- function(data) evaluate_part(formula[[2L]], data, environment(formula))
  y <- tryCatch(response_in(source$design, formula[[2L]], data, evaluate), gbt_error_data = function(e) {
    stop_data(sprintf("the response of validation set \"%s\": %s", name, conditionMessage(e)), e$subject)
  })
  needed <- setdiff(names(source$in_rows), "group") # metrics of queries say when they need it
  for (part in needed[vapply(source$in_rows[needed], is.null, NA)]) {
    stop_argument(sprintf(paste("validation set \"%s\" has no `%s`, but the training data have, as values; give",
                                "list(x = , y = , %s = ), or make it a column of both data frames"), name, part,
                          if (part == "weights") "weight" else part), "valid")
  }
  fields <- Map(function(evaluate, part) {
    tryCatch(evaluate(data), gbt_error_data = function(e) {
      stop_data(sprintf("validation set \"%s\" %s", name, conditionMessage(e)), e$subject)
    })
  }, source$in_rows[needed], needed)
  fields$group <- group_of_set(source$in_rows$group, data)
  set <- list(x = seen$x, y = y, weight = fields$weights, offset = add_offsets(seen$offset, fields$offset),
              exposure = fields$exposure, group = fields$group, strata = fields$strata)
  stratified_set(exposed_set(set, name, source), name, source)
}

# The set with its strata in the response: those given, or the columns that the training data have them in.
stratified_set <- function(set, name, source) {
  strata <- set$strata
  set$strata <- NULL
  names <- attr(source$y, "strata")$names
  if (is.null(strata) && length(names) && all(nzchar(names)) && all(names %in% names_of_table(set$x))) {
    strata <- strata_columns(set$x, names, "the data do not have")
  }
  set$y <- with_strata(set$y, strata)
  set
}

# The `group` of a validation set, by the expression of the training data; NULL where the set lacks its columns.
group_of_set <- function(evaluate, data) {
  if (is.null(evaluate)) return(NULL)
  tryCatch(evaluate(data), gbt_error_data = function(e) NULL)
}

# The set with its exposure in the offset: that which is given, or the column that the training data have it in.
exposed_set <- function(set, name, source) {
  if (is.null(source$exposed)) {
    if (is.null(set$exposure)) return(set)
    stop_argument(sprintf("validation set \"%s\" has an exposure, the training data have none", name), "valid")
  }
  exposure <- set$exposure
  if (is.null(exposure)) exposure <- if (nzchar(source$exposed)) column_of(set$x, source$exposed)
  if (is.null(exposure)) {
    column <- if (nzchar(source$exposed)) sprintf(", no column `%s`", source$exposed) else ""
    stop_data(sprintf("validation set \"%s\" has no exposure%s; give list(x = , y = , exposure = )", name, column),
              "exposure")
  }
  what <- sprintf("the exposure of validation set \"%s\"", name)
  set$offset <- add_offsets(set$offset, log_exposure(exposure, n_rows_of(set$x), what))
  set$exposure <- NULL
  set
}

# The sets as the trainer needs them: list of list(name, data = gbt_data, label, weight, score = start or NULL).
# labels: of valid_labels(); train: the training data (gbt_data); response: from encode_response(); init: the model to
# go on from, or NULL.
build_valid <- function(sets, labels, train, response, init, host) {
  check_once(sets)
  lapply(names(sets), function(name) {
    set <- sets[[name]]
    raw <- NULL
    if (inherits(set, "gbt_data")) {
      data <- set
      if (identical(data$ptr, train$ptr)) {
        stop_argument(sprintf("validation set \"%s\" is the training data; `eval_train = TRUE` evaluates those", name),
                      "valid")
      }
      check_same_features(data, train, name)
      if (!isFALSE(data$is_reference)) {
        stop_data(sprintf(paste("validation set \"%s\" has cuts of its own; make it with",
                                "gbt_data(x, label, reference = <training data>)"), name), "valid")
      }
      check_data(data, "valid")
      check_own_share(data, sprintf("validation set \"%s\"", name), "valid")
    } else if (inherits(set, "gbt_source")) {
      data <- data_of_rows(set, list(), valid_spec(train, host, init))
      if (sum_of_ranks(data$n_rows) > 0) labels[[name]] <- valid_label(data$label, response, data$n_rows, name)
    } else {
      raw <- needed_columns(set$x, train$feature_names, name)
      spec <- valid_spec(train, host)
      data <- finish_data(frame_rows(frame_for_model(raw, train), set[names(set) != "y"], spec), spec)
    }
    if (sum_of_ranks(data$n_rows) == 0) stop_data(sprintf("validation set \"%s\" has no rows", name), "valid")
    label <- labels[[name]]
    offset <- check_offset(data$offset, data$n_rows, response$n_outputs)
    check_same_offset(train, data, name)
    data$view <- dataset_view(data, NULL, TRUE, label = label, weights = data$weight, offset = offset,
                              group = data$group)
    score <- if (!is.null(init)) {
      if (is.null(raw)) prepared_scores(init, data, data$offset, host$threads, name)
      else start_scores(init, raw, data$offset, train$sparse_zero, host$threads)
    }
    list(name = name, data = data, label = label, weight = data$weight, score = score)
  })
}

# The responses of validation sets, by name, before any data are binned; NULL for sources, which are not read yet. Data
# frames and matrices have the columns that are needed. features: of the training data.
valid_labels <- function(sets, features, response) {
  lapply(stats::setNames(nm = names(sets)), function(name) {
    set <- sets[[name]]
    if (inherits(set, "gbt_source")) return(NULL)
    prepared <- inherits(set, "gbt_data")
    if (prepared) check_data(set, "valid")
    if (!prepared) needed_columns(set$x, features, name)
    n <- if (prepared) set$n_rows else n_rows_of(set$x)
    if (isTRUE(n > 0) || !is.null(ranks_here())) valid_label(if (prepared) set$label else set$y, response, n, name)
  })
}

valid_label <- function(y, response, n_rows, name) {
  encode_valid_y(y, response, n_rows, sprintf("the response of validation set \"%s\"", name))
}

# How validation data are binned, see data_spec(). init: as in build_valid(); its scores are kept.
valid_spec <- function(train, host, init = NULL) {
  spec <- list(reference = train, max_bin = 255L, unseen = "prior", page_rows = as.integer(host$page_rows),
               threads = as.integer(host$threads), device = host$device, sparse_zero = train$sparse_zero)
  if (is.null(init)) return(spec)
  spec$start <- function(x, offset, sparse_zero) start_of_rows(init, x, offset, sparse_zero, host$threads)
  spec
}

# The same gbt_data twice is a mistake: one of the two was meant to be another one.
check_once <- function(sets) {
  own <- Filter(function(set) inherits(set, "gbt_data"), sets)
  for (i in seq_along(own)) {
    for (j in seq_len(i - 1L)) {
      if (identical(own[[i]]$ptr, own[[j]]$ptr)) {
        stop_argument(sprintf("validation sets \"%s\" and \"%s\" are the same gbt_data; make another one",
                              names(own)[j], names(own)[i]), "valid")
      }
    }
  }
}

check_same_features <- function(data, train, name) {
  if (!identical(data$feature_names, train$feature_names)) {
    stop_data(sprintf(paste("validation set \"%s\" has other features than the training data; make it with",
                            "gbt_data(reference = )"), name), "valid")
  }
}

check_same_offset <- function(train, data, name) {
  has <- !is.null(data$offset)
  if (has == !is.null(train$offset)) return(invisible())
  stop_data(sprintf("validation set \"%s\" has %s offset, the training data have %s; both need one, or neither", name,
                    if (has) "an" else "no", if (has) "none" else "one"), "offset")
}

# Going on from a model ---------------------------------------------------------------------------------------------

check_same_breaks <- function(init, response, differ) {
  was <- init$params[["breaks"]]
  now <- response$param[["breaks"]]
  if (identical(was, now)) return(invisible())
  differ("its `breaks` are %s, now they are %s; leave `breaks` out", enumerate(format_number(was), quote = ""),
         enumerate(format_number(now), quote = ""))
}

# The earlier model as it predicts (up to its best round), checked against what is trained now; NULL when there is none.
# rows: see read_rows(); features, offset: of the rows that are trained on.
check_init_model <- function(init, rows, features, offset, params) {
  if (is.null(init)) return(NULL)
  response <- rows$response
  refuse_recipe(init)
  differ <- function(text, ...) {
    stop_argument(paste("`init_model` does not fit these data:", sprintf(text, ...)), "init_model")
  }
  if (init$objective != response$objective) {
    differ("its objective is \"%s\", now it is \"%s\"", init$objective, response$objective)
  }
  check_same_breaks(init, response, differ)
  for (name in setdiff(names(response$param), "breaks")) {
    was <- init$params[[name]]
    if (name == "aft_scale" && response$param[[name]] == 0) next # estimated again, from that of the model on
    if (!identical(was, response$param[[name]])) {
      differ("its `%s` is %s, now it is %s; leave `%s` out", name, enumerate(format_number(was), quote = ""),
             enumerate(format_number(response$param[[name]]), quote = ""), name)
    }
  }
  if (!identical(init$params[["cause"]], response$cause)) {
    differ("its `cause` is %s, now it is %s", quote_value(init$params[["cause"]]), quote_value(response$cause))
  }
  if (!identical(init$classes, response$classes)) {
    differ("its classes are %s, now they are %s", enumerate(init$classes, quote = "\""),
           enumerate(response$classes, quote = "\""))
  }
  if (!identical(init$columns, response$columns)) {
    differ("its response has %s, now it has %s", columns_text(init$columns), columns_text(response$columns))
  }
  if (init$n_outputs != response$n_outputs) {
    differ("its `n_outputs` is %.0f, now it is %.0f", init$n_outputs, response$n_outputs)
  }
  gone <- setdiff(init$feature_names, features)
  new <- setdiff(features, init$feature_names)
  if (length(gone)) differ("it needs %s", enumerate(gone))
  if (length(new)) differ("it does not know %s", enumerate(new))
  if (!identical(init$feature_names, features)) {
    differ("its columns are in another order: %s; make the data by gbt_data(x, ..., init_model = )",
           enumerate(init$feature_names))
  }
  if (init$has_offset && is.null(offset)) differ("it was trained with an offset")
  if (!init$has_offset && !is.null(offset)) differ("it was trained without an offset")
  if (given_or(init$params[["ensemble"]], 1) > 1) {
    stop_unsupported(sprintf(paste("`init_model` is an ensemble of %.0f models, which cannot be trained further; train",
                                   "a new model on all data"), init$params$ensemble), "init_model")
  }
  if (!identical(init$params$num_parallel_tree, params$num_parallel_tree)) {
    differ("its `num_parallel_tree` is %.0f", init$params$num_parallel_tree)
  }
  keep_rounds(init, rounds_used(init))
}
