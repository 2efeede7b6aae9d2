# Configurations of gbt_tune() side by side, by package future, where its user has set a plan with several workers. What
# a configuration's estimate is does not depend on where it is computed.

# The parts of a search that a worker needs: NULL where there are no workers. raw: the rows as they were before they
# were binned.
future_plan <- function(raw, binned, args, folds, seed) {
  workers <- workers_for(raw$source, "configurations are rated one after the other")
  if (is.null(workers)) return(NULL)
  list(n = workers$n, threads = if (is.null(args[["threads"]])) worker_threads(workers),
       work = list(rows = if (workers$shared) binned else raw, binned = workers$shared, folds = folds, seed = seed,
                   id = basename(tempfile("search"))))
}

# Ratings (see rate()) of several configurations. all: their arguments, a list for each.
rate_side_by_side <- function(plan, all) {
  tasks <- lapply(all, function(args) {
    if (!is.null(plan$threads)) args$threads <- plan$threads
    rating_task(plan$work, args)
  })
  by_workers(tasks, all[1L]) # whose functions are those of all
}

rating_task <- function(work, args) {
  force(work)
  force(args)
  function() rate_in_worker(work, args)
}

# In a worker, which bins the data for the first of the configurations that it rates.
rate_in_worker <- function(work, args) {
  rows <- rows_in_worker(work, read_request(args))
  rate(rows, work$folds, work$seed, args[!names(args) %in% binning_arguments])
}

# The rows with their bins, which a worker makes once for all of the same work.
rows_in_worker <- function(work, request) {
  rows <- work$rows
  if (work$binned) return(rows)
  kept <- package_state$search
  if (!identical(kept$id, work$id)) {
    rows$source <- binned_once(rows$source, request, rows$response)
    kept <- package_state$search <- list(id = work$id, rows = rows)
  }
  kept$rows
}
