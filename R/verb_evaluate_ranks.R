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

# Where all ranks were given the same rows (gbt_ranks(share = "split")), list(x, y, given, group, by) with those of this
# rank.
part_to_judge <- function(x, y, given, group, by) {
  n <- n_rows_of(x)
  by_row <- setdiff(names(given), c("trees", if (is_texts(given$strata) && length(given$strata) != n) "strata"))
  part <- part_of_table(x, c(list(y = y, group = group), given[by_row]))
  given[by_row] <- part$fields[by_row]
  list(x = part$x, y = part$fields$y, given = given, group = part$fields$group,
       by = part_of_fields(by, n, own_run(n, group)))
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
