# gbt_evaluate(ranks = ): each rank has its own rows, and all get the metrics of all rows.

# All ranks were given the same model and arguments. See evaluate().
check_evaluated_by_ranks <- function(model, given, group, by, plan) {
  if (is.null(ranks_here())) return(invisible())
  mark <- gather_ranks(list(mark = as.integer(model_mark(judged_model(model)))))
  if (length(unique(mark)) > 1L) stop_argument("the ranks have different models; give all ranks the same one", "model")
  has <- !vapply(given[names(given) != "trees"], is.null, NA)
  said <- c(names(has)[has], if (!is.null(group)) "group", if (!is.null(by)) sprintf("by = %s", names(by)),
            sprintf("trees = %s", format_number(given$trees)), sprintf("intervals = %s", format_number(plan$level)),
            sprintf("replicates = %s", format_number(plan$replicates)), sprintf("seed = %s", format_number(plan$seed)))
  check_same_on_ranks(said, "what is given", "; give all ranks the same arguments")
}

# As of rows_by_group(), the groups of the rows of all ranks. values, rows: those of this rank.
groups_of_ranks <- function(values, rows) {
  all <- lapply(stats::setNames(nm = names(values)), function(name) column_of_ranks(values[[name]], name))
  before <- rows_before(length(rows))
  groups <- rows_by_group(all, length(all[[1L]]))
  list(values = groups$values, rows = lapply(groups$rows, function(at) {
    own <- at - before
    as.integer(unlist(rows[own[own >= 1 & own <= length(rows)]])) # not NULL, which stands for all
  }))
}

# The values of a vector of all ranks, which have the same class. Levels of factors are those of all ranks.
column_of_ranks <- function(v, name) {
  kind <- class(v)
  check_same_on_ranks(kind, sprintf("the class of `%s`", name), "; give all ranks the same class")
  if (is.factor(v)) {
    levels <- unique(unlist(lapply(gather_ranks(list(v = levels(v))), `[[`, "v")))
    return(factor(rows_of_ranks(as.character(v)), levels, ordered = is.ordered(v)))
  }
  plain <- if (is.character(v)) v else as.vector(unclass(v))
  if (is.complex(plain) || is.raw(plain)) {
    stop_unsupported(sprintf("`by`: `%s` cannot be %s with `ranks`", name, describe(v)), "by")
  }
  out <- rows_of_ranks(plain)
  for (part in intersect(names(attributes(v)), c("tzone", "units", "class"))) attr(out, part) <- attr(v, part)
  out
}
