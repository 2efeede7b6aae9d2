# A metric of ranking by the number of rows of a query: gbt_curve() of type "query_length".

# rows: list(data, y, weights, offset, exposure, trees, threads, strata) as of gbt_curve(). bins: NULL where not given.
query_curve <- function(models, rows, group, metric, bins) {
  bins <- check_whole(given_or(bins, 10), "bins", 1, 1e6)
  check_curve_data(rows$data)
  group <- column_or_values(group, rows$data, "group")
  for (one in models) refuse_columns(judged_model(one), "type = \"query_length\" is for ranking, with one column")
  join_curves(lapply(models, function(one) {
    its <- do.call(rows_to_judge, c(list(one), unname(rows)))
    length_curve(values_of_queries(its, if (is.null(its$at)) group else subset_rows(group, its$at), metric), bins)
  }))
}

# list(metric = its name, length, value, weight) of the queries that have a value, and most, which no value exceeds. The
# weight of a query is the largest of its rows, as in the engine.
values_of_queries <- function(rows, group, metric) {
  response <- response_kind(rows$model)
  what <- fitting_metrics(read_evaluated(metric, response, TRUE), rows)
  if (length(what$code) != 1L || !metrics_table()$by_query[what$code + 1L] %in% TRUE) {
    stop_argument("`metric` must be one metric of queries, such as \"ndcg@10\"", "metric")
  }
  units <- check_group(group, length(rows$label))
  rows$group <- units
  of_query <- split(seq_along(units), units)
  value <- vapply(of_query, function(at) {
    one <- rows_taken(rows, at)
    metric_values(one, what, response, one$weight, NULL, 1L)
  }, 0, USE.NAMES = FALSE)
  weight <- if (is.null(rows$weight)) rep(1, length(value)) else as.vector(tapply(rows$weight, units, max))
  use <- is.finite(value) & weight > 0
  if (!any(use)) stop_data("no query has a value: all have rows of one label only", "group")
  list(metric = what$name, length = as.double(lengths(of_query, use.names = FALSE))[use], value = value[use],
       weight = weight[use], most = if (metrics_table()$name[what$code + 1L] == "dcg") Inf else 1)
}

length_curve <- function(queries, bins) {
  bin <- bins_of_rows(queries$length, queries$weight, bins)
  n <- max(bin)
  weight <- sums_at(bin, queries$weight, n)
  mean_of <- function(v) sums_at(bin, v * queries$weight, n) / weight
  value <- mean_of(queries$value)
  count <- tabulate(bin, n)
  far <- sums_at(bin, (queries$weight * (queries$value - value[bin]))^2, n)
  error <- ifelse(count > 1L, sqrt(far * count / pmax(count - 1, 1)) / weight, NA_real_)
  half <- stats::qnorm(0.975) * error
  list(bin = seq_len(n), length = mean_of(queries$length), metric = rep(queries$metric, n), estimate = value,
       lower = pmax(value - half, 0), upper = pmin(value + half, queries$most), queries = count, weight = weight)
}
