# Checks of a training by several ranks (R/base_ranks.R): what they must have in common, and what is not offered.

# Before the rows are read: all ranks were given the same arguments, and none that needs the rows of all of them.
check_shares <- function(source, request) {
  if (is.null(source$x)) check_own_share(source$data, "`x`", "x")
  if (is.null(ranks_here())) return(invisible())
  host <- request$host
  args <- request$args$value
  has <- function(names) names[!vapply(source[names], is.null, NA)]
  check_same_on_ranks(c(has(c("weights", "offset", "exposure", "mask", "time", "group")), sort(names(args))),
                      "what is given", "; give all ranks the same arguments")
  check_same_on_ranks(format_number(host$nrounds), "`nrounds`", "; give all ranks the same number of rounds")
  if (!is.null(host$checkpoint)) refuse_of_ranks("checkpoint", "give it to a training in one process")
  if (is_share(args[["valid"]])) refuse_of_ranks("valid", "give each rank its rows to judge by: list(x = , y = )")
}

# After the rows are read, as only then it is known whether the number of rounds is to be found.
refuse_search_of_ranks <- function(request) {
  if (!is.null(ranks_here()) && request$host$rounds == "search") {
    refuse_of_ranks("nrounds", "give `nrounds`, or `valid` for early stopping")
  }
}

# name: the argument that cannot be given with `ranks`; way_out: advice.
refuse_of_ranks <- function(name, way_out) {
  what <- if (name == "nrounds") "finding the number of rounds" else sprintf("`%s`", name)
  stop_unsupported(sprintf("%s is not offered with `ranks`: %s", what, way_out), name)
}

# The user's own metrics are refused, as they would get the rows of one rank only.
refuse_own_metrics_of_ranks <- function(evaluation) {
  if (!is.null(ranks_here()) && evaluation$own) refuse_of_ranks("eval_metric", "give the names of metrics")
  evaluation
}
