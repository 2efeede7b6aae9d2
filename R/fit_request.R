# The request: what was asked for, checked as far as no data are needed.

# The arguments, see collect_args(), with a model to go on from that is one.
read_arguments <- function(given) {
  args <- collect_args(given)
  init <- args$value[["init_model"]]
  if (!is.null(init)) refuse_imported(check_model(init, "init_model"), "training cannot continue it", "init_model")
  args
}

# The request, a list: args (see collect_args()), params and host (see prepare(); device is a request still), preset,
# objective, callbacks, cat_method (see read_cat_method()).
read_request <- function(given) {
  args <- read_arguments(given)
  refuse_alpha_of_metric(args)
  refuse_alpha_of_objective(args)
  args <- settle_method(args)
  checked <- engine_params(args)
  host <- host_params(args)
  host$threads <- resolve_threads(args$value[["threads"]])
  preset <- match_choice(args$value[["preset"]], presets, "preset")
  host$preset <- preset
  check_ensemble(host$ensemble, preset, args$value)
  host$sparse_zero <- match_choice(args$value[["sparse_zero"]], c("value", "missing"), "sparse_zero")
  host <- read_rounds(host, args, checked$eta)
  checked$eta <- read_schedule(args, checked$eta, host$nrounds, rounds_before(args$value[["init_model"]]))
  if (is_schedule(args$value[["eta"]])) args$value$eta <- rep_len(checked$eta, host$nrounds) # folds ask no function
  list(args = args, params = checked, host = host, preset = preset, objective = as_objective(args),
       callbacks = as_callbacks(args$value[["callbacks"]]), cat_method = read_cat_method(args$value[["cat_method"]]))
}
