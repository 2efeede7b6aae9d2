# What must hold for a case (see case.R): one model and one set of predictions, by their bytes, whatever the threads,
# pages, instructions, forms of the data and ways through files; and properties that tie predictions to training.
#
# check_case(case) returns list(outcome, failed = names of what did not hold, compared = number of comparisons). The
# outcome is what another build or device must give as well.

# IEEE operations only, so that every build computes the same gradients.
own_objective <- list(
  gradient = function(score, label) (score - label) / (1 + abs(score - label)),
  hessian = function(score, label) 1 / (1 + abs(score - label))^2
)

plain_how <- list(threads = 1, page_rows = 0, simd = "scalar")

# With the instructions of that name, or the best ones where the machine lacks them.
with_simd <- function(simd, code) {
  if (!simd %in% names(gbt:::enums$simd)) simd <- "auto"
  old <- options(gbt.simd = simd, gbt.oversubscribe = TRUE)
  on.exit(options(old))
  code
}

# A model, or the error as a text. Warnings are part of the outcome; an error without a class of gbt's is a fault.
caught <- function(code) {
  said <- character(0)
  value <- tryCatch(
    withCallingHandlers(code, warning = function(w) {
      said <<- c(said, paste(class(w)[1L], conditionMessage(w)))
      invokeRestart("muffleWarning")
    }, gbt_message = function(m) invokeRestart("muffleMessage")),
    error = function(e) paste(class(e)[1L], conditionMessage(e))
  )
  structure(list(value = value, said = unique(said)), class = "caught")
}

fit <- function(case, how = plain_how, x = case$x, y = case$y, change = list(), device = "cpu", lead = list(x, y)) {
  args <- case$args
  args[names(change)] <- change
  if (case$own) args$objective <- own_objective
  args$weights <- case$weight
  args$offset <- case$offset
  if (length(case$sets) > 0L) args$valid <- lapply(case$sets, function(set) set[!vapply(set, is.null, NA)])
  how$page_rows <- if (how$page_rows > 0) how$page_rows
  caught(with_simd(how$simd, {
    if (case$init > 0) {
      first <- args
      first[c("valid", "early_stopping_rounds", "eval_metric", "eval_train")] <- NULL
      first$nrounds <- case$init
      args$init_model <- do.call(gbt_train, c(lead, first, list(threads = 1, device = "cpu")))
    }
    do.call(gbt_train, c(lead, args, list(threads = how$threads, page_rows = how$page_rows, device = device)))
  }))
}

is_fit <- function(m) inherits(m$value, "gbt")

# What a training leaves, without what may differ in form.
bytes_of <- function(m) {
  if (!is_fit(m)) return(m$value)
  parts <- c("state", "evaluation_log", "best_round", "best_score", "nrounds", "params", "classes")
  c(unclass(m$value)[parts], list(m$said))
}

ask <- function(case, m, new = case$new, types = c("link", "leaf"), offset = case$new_offset, how = plain_how, ...) {
  caught(with_simd(how$simd, lapply(stats::setNames(types, types), function(type) {
    out <- predict(m$value, new, type = type, offset = if (type != "leaf") offset, unseen = case$unseen,
                   threads = how$threads, ...)
    dim_of <- dim(out)
    list(dim_of, as.vector(out))
  })))
}

# Of predictions of all types those that ask() gives unasked.
short <- function(p) if (is.list(p$value)) p$value[c("link", "leaf")] else p$value

# The forest without names of features and texts.
trees_of <- function(m) {
  nodes <- as.data.frame(m$value)
  nodes[setdiff(names(nodes), c("split", "feature"))]
}

# ---- other forms of the same data ----

# Forms that give the very same model, by name.
same_forms <- function(case) {
  x <- case$x
  if (is.data.frame(x)) {
    out <- list()
    if (requireNamespace("data.table", quietly = TRUE)) out$data.table <- data.table::as.data.table(x)
    if (requireNamespace("tibble", quietly = TRUE)) out$tibble <- tibble::as_tibble(x)
    if (all(vapply(x, function(v) is.double(v) && !is.object(v), NA))) out$matrix <- as.matrix(x)
    return(out)
  }
  if (is.matrix(x)) {
    named <- x
    if (is.null(colnames(x))) colnames(named) <- sprintf("f%d", seq_len(ncol(x)))
    columns <- lapply(seq_len(ncol(x)), function(j) unname(named[, j]))
    frame <- structure(columns, names = colnames(named), class = "data.frame", row.names = .set_row_names(nrow(x)))
    out <- list(frame = frame)
    if (is.double(x) && requireNamespace("Matrix", quietly = TRUE)) out$sparse <- methods::as(named, "CsparseMatrix")
    return(out)
  }
  absent <- if (identical(case$args$sparse_zero, "missing")) NA else 0
  dense <- matrix(absent, nrow(x), ncol(x), dimnames = list(NULL, colnames(x)))
  at <- methods::as(x, "TsparseMatrix")
  dense[cbind(at@i + 1L, at@j + 1L)] <- at@x
  out <- list(triplets = at, rows = methods::as(x, "RsparseMatrix"))
  if (absent %in% 0) c(out, list(matrix = dense, frame = as.data.frame(dense), dropped = Matrix::drop0(x))) else out
}

# Forms that give the same trees, whose features are remembered as being of another type.
like_forms <- function(case) {
  x <- case$x
  if (is.matrix(x)) return(if (!is.double(x)) list(doubles = x + 0) else list())
  if (!is.data.frame(x)) return(list())
  levels_turned <- texts <- numbers <- x
  for (j in seq_along(x)) {
    v <- x[[j]]
    if (is.factor(v) && !is.ordered(v)) {
      used <- levels(v)[sort(unique(as.integer(v)))]
      if (!anyNA(levels(v))) {
        levels_turned[[j]] <- factor(as.character(v), rev(used))
        texts[[j]] <- as.character(v)
      }
    } else if (is.character(v)) {
      texts[[j]] <- factor(v)
    } else if (inherits(v, "integer64")) {
      if (all(is.na(v) | abs(v) < bit64::as.integer64("9007199254740992"))) numbers[[j]] <- as.double(v)
    } else if (!is.factor(v)) {
      numbers[[j]] <- as.double(unclass(v))
    }
  }
  out <- list(levels_turned = levels_turned, texts = texts, numbers = numbers)
  out[!vapply(out, identical, NA, x)]
}

# ---- a plain walk through the table of nodes ----

# The leaves of rows of training data, by comparisons alone.
walked_leaves <- function(model, x, rows) {
  nodes <- as.data.frame(model)
  trees <- split(seq_len(nrow(nodes)), nodes$tree)
  known <- .Call(gbt:::C_gbt_model_info, model$state, model$cache)
  levels <- .Call(gbt:::C_gbt_model_levels, model$state, model$cache)
  out <- matrix(0L, length(rows), length(trees))
  columns <- lapply(seq_along(known$names), function(f) {
    v <- if (is.data.frame(x)) x[[known$names[f]]] else as.vector(x[, if (is.null(colnames(x))) f else known$names[f]])
    v <- v[rows]
    if (known$type[f] == "ordinal") match(as.character(v), levels[[f]]) - 1 # codes from 0
    else if (known$type[f] == "categorical") enc2utf8(as.character(v))
    else as.double(v)
  })
  names(columns) <- known$names
  for (t in seq_along(trees)) {
    part <- nodes[trees[[t]], ]
    for (r in seq_along(rows)) {
      at <- 1L
      while (!is.na(part$left[at])) {
        v <- columns[[part$feature[at]]][r]
        to <- if (is.na(v)) {
          part$missing[at]
        } else if (is.character(v)) {
          if (v %in% part$levels[[at]]) part$left[at] else part$right[at]
        } else if (v <= part$threshold[at]) {
          part$left[at]
        } else {
          part$right[at]
        }
        at <- to + 1L
      }
      out[r, t] <- at - 1L
    }
  }
  out
}

# Has the model statistics of the response? In training these are of the rows before, for new rows of all rows.
knows_labels_before <- function(model) any(c("target", "quartiles") %in% unlist(model$params$cat_method))

# ---- all of it ----

# What another build or device must give as well.
outcome_of <- function(case, device = "cpu", model = fit(case, device = device)) {
  out <- list(model = bytes_of(model))
  if (is_fit(model)) out$new <- ask(case, model, types = c("link", "response", "leaf"), device = device)
  out
}

check_case <- function(case) {
  failed <- character(0)
  compared <- 0
  same <- function(what, a, b) {
    compared <<- compared + 1
    if (!identical(a, b)) failed <<- c(failed, what)
  }
  model <- fit(case)
  outcome <- outcome_of(case, model = model)
  unclassed <- function(m) is.character(m$value) && !startsWith(m$value, "gbt_error")
  internal <- function(m) is.character(m$value) && startsWith(m$value, "gbt_error_internal")
  if (unclassed(model) || internal(model)) failed <- c(failed, paste("error of training:", model$value))
  for (i in seq_along(case$how)) {
    how <- case$how[[i]]
    other <- fit(case, how)
    same("threads, pages, instructions", bytes_of(other), outcome$model)
  }
  if (!is_fit(model)) return(list(outcome = outcome, failed = unique(failed), compared = compared))
  new <- outcome$new
  if (unclassed(new) || internal(new)) failed <- c(failed, paste("error of predict():", new$value))
  for (check in checks) check(case, model, outcome$new, same)
  list(outcome = outcome, failed = unique(failed), compared = compared)
}

# Each is a function(case, model, new, same); `new` is what the model predicts for case$new.
checks <- list(
  forms = function(case, model, new, same) {
    old <- ask(case, model, case$x, offset = case$offset)
    forms <- same_forms(case)
    for (form in names(forms)) {
      other <- fit(case, x = forms[[form]])
      same(paste("form", form), bytes_of(other), bytes_of(model))
      if (!is_fit(other)) next
      same(paste("form", form, "in predict()"), ask(case, model, forms[[form]], offset = case$offset), old)
    }
    forms <- if (length(case$sets) == 0L && case$init == 0) like_forms(case) # sets have the types of training
    for (form in names(forms)) {
      other <- fit(case, x = forms[[form]])
      same(paste("form", form), is_fit(other), TRUE)
      if (!is_fit(other)) next
      same(paste("trees of form", form), trees_of(other), trees_of(model))
      same(paste("predictions of form", form), ask(case, other, forms[[form]], offset = case$offset), old)
      if (form == "levels_turned") { # levels are numbered by how often they occur, then by their first row
        same("bytes of levels turned", bytes_of(other), bytes_of(model))
        same("predictions of levels turned", ask(case, other)$value, short(new))
      }
    }
  },
  prepared = function(case, model, new, same) {
    if (!is.null(case$args$valid) || case$init > 0) return()
    args <- case$args
    data <- caught(gbt_data(case$x, weight = case$weight, max_bin = if (is.null(args$max_bin)) 255 else args$max_bin,
                            sparse_zero = if (is.null(args$sparse_zero)) "value" else args$sparse_zero,
                            page_rows = if (length(case$how)) case$how[[1L]]$page_rows else 0))
    same("gbt_data", inherits(data$value, "gbt_data"), TRUE)
    case$args[c("max_bin", "sparse_zero")] <- NULL
    if (inherits(data$value, "gbt_data")) {
      other <- fit(case, lead = list(data$value, case$y))
      part <- c("state", "evaluation_log")
      same("gbt_data as x", bytes_of(other)[part], bytes_of(model)[part])
    }
  },
  formula = function(case, model, new, same) {
    if (!is.data.frame(case$x) || !is.null(case$args$valid) || length(case$sets) > 0L || case$init > 0) return()
    data <- case$x
    data[["the response"]] <- case$y
    other <- fit(case, lead = list(stats::as.formula("`the response` ~ ."), data))
    same("formula", is_fit(other), TRUE)
    if (!is_fit(other)) return()
    same("formula", trees_of(other), trees_of(model))
    same("formula", other$value$evaluation_log, model$value$evaluation_log)
    same("formula in predict()", ask(case, other)$value, short(new))
  },
  ways_through_files = function(case, model, new, same) {
    files <- c(tempfile(fileext = ".gbt"), tempfile(fileext = ".rds"))
    on.exit(unlink(files))
    gbt_save(model$value, files[1L])
    saveRDS(model$value, files[2L])
    others <- list(gbt_load = gbt_load(files[1L]), readRDS = readRDS(files[2L]),
                   serialize = unserialize(serialize(model$value, NULL)))
    for (way in names(others)) {
      other <- list(value = others[[way]], said = model$said)
      same(way, bytes_of(other), bytes_of(model))
      same(paste("predict() after", way), ask(case, other)$value, short(new))
    }
  },
  rounds = function(case, model, new, same) {
    n <- model$value$nrounds
    k <- 1L + (case$id %% n)
    first <- list(value = model$value[seq_len(k)])
    same("first rounds", ask(case, first, trees = k)$value, ask(case, model, trees = k)$value)
    if (case$init > 0) return()
    change <- list(nrounds = k, early_stopping_rounds = 0)
    if ("eta" %in% model$value$by_rule) change$eta <- model$value$params$eta # the rule looks at the number of rounds
    other <- fit(case, change = change)
    same("training of fewer rounds", is_fit(other), TRUE)
    if (is_fit(other)) same("training of fewer rounds", trees_of(other), trees_of(first))
  },
  scores = function(case, model, new, same) { # of training rows, and of others as validation rows
    if (!is.null(case$args$valid)) return()
    seen <- list()
    catch <- gbt_metric("catch", function(pred, label) {
      seen[[length(seen) + 1L]] <<- as.vector(pred)
      0
    }, type = "link")
    n <- nrow(case$new)
    set <- list(x = case$new, y = rows_of(case$y, rep(1L, n)), weight = if (!is.null(case$weight)) rep(1, n))
    set$offset <- case$new_offset
    case$sets <- list(new = set)
    case$args[c("early_stopping_rounds", "early_stopping_min_delta")] <- NULL
    other <- fit(case, change = list(eval_metric = catch, eval_train = TRUE))
    same("training with a metric", if (is_fit(other)) TRUE else other$value, TRUE)
    if (!is_fit(other)) return()
    if (!knows_labels_before(other$value)) {
      scores <- as.matrix(predict(other$value, case$x, type = "link", offset = case$offset))
      if (!is.null(case$weight)) scores <- scores[case$weight != 0, ] # rows without a weight take no part
      same("scores of training", as.vector(scores), seen[[length(seen) - 1L]])
    }
    scores <- predict(other$value, case$new, type = "link", offset = case$new_offset)
    same("scores of validation", as.vector(scores), seen[[length(seen)]])
  },
  stopping = function(case, model, new, same) { # the rule, applied to the log
    patience <- case$args$early_stopping_rounds
    log <- model$value$evaluation_log
    if (is.null(patience) || case$init > 0) return()
    metric <- log[[ncol(log)]]
    if (anyNA(metric)) return()
    if (endsWith(names(log)[ncol(log)], "_auc")) metric <- -metric
    best <- 1L
    end <- 1L
    while (end < case$args$nrounds && end - best < patience) {
      end <- end + 1L
      if (end > length(metric)) break
      if (metric[end] < metric[best]) best <- end
    }
    same("best round", c(model$value$best_round, model$value$nrounds, nrow(log)),
         c(best, end, end))
  },
  nothing = function(case, model, new, same) { # weights of 1, an offset of 0
    if (length(case$sets) > 0L || case$init > 0) return()
    if (is.null(case$weight)) {
      other <- case
      other$weight <- rep(1, nrow(case$x))
      other <- fit(other)
      same("weights of 1", is_fit(other), TRUE)
      if (is_fit(other)) same("weights of 1", trees_of(other), trees_of(model))
    }
  },
  mask = function(case, model, new, same) {
    n <- nrow(case$x)
    mask <- (seq_len(n) * 7919 + case$id) %% 5 != 0
    if (is.numeric(case$args$valid) || !any(mask) || all(mask)) return()
    other <- fit(case, change = list(mask = rep(TRUE, n)))
    same("a mask of all rows", bytes_of(other), bytes_of(model))
    other <- fit(case, change = list(mask = mask))
    if (!is_fit(other)) return() # those rows alone may be too few
    out <- which(!mask)
    p <- predict(other$value, rows_of(case$x, out), offset = rows_of(case$offset, out))
    same("predictions of masked-out rows", as.vector(other$value$masked_out), as.vector(p))
    for (how in case$how) same("a mask with threads, pages", bytes_of(fit(case, how, change = list(mask = mask))),
                               bytes_of(other))
  },
  validation = function(case, model, new, same) {
    if (!is.null(case$args$valid) || case$own) return()
    again <- list(x = case$x, y = case$y, weight = case$weight, offset = case$offset)
    case$sets <- list(again = again[!vapply(again, is.null, NA)])
    case$args["early_stopping_rounds"] <- NULL
    other <- fit(case, change = list(eval_train = TRUE))
    if (!is_fit(other)) return(same("training data as validation data", is_fit(other), TRUE))
    if (knows_labels_before(other$value)) return()
    log <- other$value$evaluation_log
    metrics <- sub("^train_", "", grep("^train_", names(log), value = TRUE))
    for (metric in metrics) {
      same("training data as validation data", log[[paste0("again_", metric)]], log[[paste0("train_", metric)]])
    }
  },
  rows = function(case, model, new, same) {
    n <- nrow(case$new)
    few <- unique(c(1L, n, 1L + case$id %% n))
    part <- function(rows) {
      as.list(ask(case, model, rows_of(case$new, rows), offset = rows_of(case$new_offset, rows))$value)
    }
    take <- function(p, rows) {
      lapply(p, function(v) {
        list(if (!is.null(v[[1L]])) c(length(rows), v[[1L]][-1L]), as.vector(matrix(v[[2L]], n)[rows, ]))
      })
    }
    all <- short(new)
    if (!is.list(new$value)) return()
    for (i in few) same("predictions row by row", part(i), take(all, i))
    turned <- n:1
    same("predictions of turned rows", part(turned), take(all, turned))
    for (how in case$how) same("predictions with threads, instructions", ask(case, model, how = how)$value, all)
  },
  walk = function(case, model, new, same) {
    if (!is.list(new$value) || case$unseen != "missing") return()
    x <- case$x
    if (!is.data.frame(x) && !is.matrix(x)) return()
    na_level <- is.data.frame(x) && any(vapply(x, function(v) anyNA(levels(v)), NA))
    if (na_level) return() # a level NA has no text to be walked by
    if (knows_labels_before(model$value)) return() # nor have statistics a column
    rows <- unique(c(1L, nrow(x), 1L + case$id %% nrow(x)))
    leaves <- predict(model$value, rows_of(x, rows), type = "leaf")
    walked <- walked_leaves(model$value, x, rows)[, seq_len(ncol(leaves))]
    same("walk through the table of nodes", as.vector(leaves), as.vector(walked))
  },
  twice = function(case, model, new, same) { # doubles twice as large are split alike
    if (!is.data.frame(case$x) || length(case$sets) > 0L || case$init > 0) return()
    doubled <- case$x
    for (j in seq_along(doubled)) {
      v <- doubled[[j]]
      if (!is.double(v) || is.object(v)) next
      if (all(is.na(v) | v == 0 | (abs(v) > 1e-290 & abs(v) < 1e290))) doubled[[j]] <- v * 2
    }
    if (identical(doubled, case$x)) return()
    other <- fit(case, x = doubled)
    same("numbers twice as large", is_fit(other), TRUE)
    if (!is_fit(other)) return()
    seen <- ask(case, other, doubled, offset = case$offset)
    same("numbers twice as large", seen, ask(case, model, case$x, offset = case$offset))
  }
)
