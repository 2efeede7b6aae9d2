# Checks of a training by several ranks (R/base_ranks.R): what they must have in common, and what is not offered.

# Before the rows are read: all ranks were given the same arguments, and none that needs the rows of all of them.
check_shares <- function(source, request) {
  if (is.null(source$x)) check_own_share(source$data, "`x`", "x")
  if (is.null(ranks_here())) return(invisible())
  host <- request$host
  args <- request$args$value
  has <- function(names) names[!vapply(source[names], is.null, NA)]
  check_same_on_ranks(c(has(row_arguments), sort(names(args))),
                      "what is given", "; give all ranks the same arguments")
  check_values_of_ranks(args)
  check_same_on_ranks(format_number(host$nrounds), "`nrounds`", "; give all ranks the same number of rounds")
  check_terms_of_ranks(source$design)
  if (!is.null(source$recipe)) {
    stop_unsupported(paste("a recipe is not offered with `ranks`: its steps learn from the rows of one rank; give",
                           "baked columns"), "x")
  }
  check_same_on_ranks(kind_of_valid(args[["valid"]]), "`valid`",
                      "; give all ranks the same share, or the same kind of rows")
}

differ_by_rank <- c("valid", row_arguments, "threads", "device", "devices", "device_memory", "hist_memory", "page_rows",
                   "verbose", "verbose_every", "progress", "checkpoint", "checkpoint_seconds", "max_seconds")

# Plain values of parameters, such as numbers and names of metrics, are the same on all ranks. Of others, such as
# functions, the engine compares what follows from them.
check_values_of_ranks <- function(args) {
  args <- Filter(is.atomic, args[setdiff(names(args), differ_by_rank)])
  args <- args[order(names(args))]
  said <- vapply(args, function(value) paste(deparse(value), collapse = " "), "")
  check_same_on_ranks(sprintf("%s = %s", names(args), said), "what is given", "; give all ranks the same arguments")
}

# Terms such as scale(x) and poly(x, 2) have constants that follow from the rows, so ranks would make other columns of
# the same values. design: of the formula, or NULL.
check_terms_of_ranks <- function(design) {
  terms <- c(design$features, design$offset)
  all <- lapply(gather_ranks(list(terms = as.character(terms))), `[[`, "terms")
  if (length(unique(lengths(all))) > 1L) return(invisible()) # their names differ, which is an error later
  differs <- which(vapply(seq_along(terms), function(j) length(unique(vapply(all, `[[`, "", j))) > 1L, NA))
  if (length(differs) == 0L) return(invisible())
  written <- names(terms)[differs[1L]]
  if (!nzchar(written)) written <- "offset()"
  stop_data(sprintf(paste("the term `%s` of the formula depends on the rows, and each rank has other ones; compute it",
                          "for all rows before training, and name its columns in the formula"), written), written)
}

# How folds are made and configurations are chosen, see fold_plan() and gbt_tune(): all ranks were given the same.
check_plan_of_ranks <- function(plan) {
  if (is.null(ranks_here())) return(invisible())
  if (are_folds(plan$folds)) plan$folds <- "of the rows"
  plan <- plan[setdiff(names(plan), c("who", "call"))]
  said <- vapply(plan, function(value) paste(deparse(value), collapse = " "), "")
  check_same_on_ranks(sprintf("%s = %s", names(plan), said), "what is given", "; give all ranks the same arguments")
}

# The kind of `valid`, which all ranks must have in common, as a text: of a share its value.
kind_of_valid <- function(valid) {
  if (is.null(valid)) "none" else if (is_share(valid)) sprintf("the share %s", format(valid, digits = 15L)) else
    if (is_rows(valid)) "rows of the data" else "other rows"
}

# Own metrics get the rows of all ranks, so every data set has their labels and weights as well, as `all`.
with_rows_of_ranks <- function(evaluation) {
  if (is.null(ranks_here()) || !evaluation$own) return(evaluation)
  evaluation$data <- lapply(evaluation$data, function(one) {
    if (sum_of_ranks(length(one$label)) > .Machine$integer.max) {
      stop_unsupported(sprintf(paste("`eval_metric` with functions of your own takes up to %s rows of all ranks; give",
                                     "\"%s\" fewer rows, or the names of metrics"), with_commas(.Machine$integer.max),
                               one$name), "eval_metric")
    }
    weight <- if (is.null(one$weight)) rep(1, length(one$label)) else one$weight
    one$all <- list(label = numbers_of_rows(one$label), weight = numbers_of_rows(weight))
    one
  })
  evaluation
}
