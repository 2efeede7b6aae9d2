# Which rows a tree sees: `sampling_method` and what belongs to it, and shares by class.

# The parameters that one method alone has, and the method.
of_method <- c(top_rate = "goss", other_rate = "goss", mvs_reg = "mvs", bagging_temperature = "bayesian")

# params: the engine's, by name. shares: see class_shares(); NULL without.
check_sampling <- function(params, args, shares) {
  method <- params$sampling_method
  typed <- args$typed
  for (name in names(of_method)) {
    if (method != of_method[[name]] && params[[name]] != engine_defaults()[[name]]) {
      stop_argument(sprintf("%s is for `sampling_method = \"%s\"`; the method is \"%s\"",
                            param_text(name, typed[name]), of_method[[name]], method), name)
    }
  }
  if (method == "uniform") return(invisible())
  if (params$num_parallel_tree > 1) {
    stop_argument(sprintf(paste("`num_parallel_tree` must be 1 with `sampling_method = \"%s\"`: parallel trees would",
                                "have the same rows"), method), "num_parallel_tree")
  }
  if (!is.null(shares)) {
    stop_argument(sprintf("`subsample` by class needs `sampling_method = \"uniform\"`, not \"%s\"", method),
                  "subsample")
  }
  if (method != "mvs" && params$subsample < 1) {
    stop_argument(sprintf("%s must be 1 with `sampling_method = \"%s\"`, which %s", param_text("subsample",
                          typed["subsample"]), method,
                          if (method == "goss") "has `top_rate` and `other_rate`" else "takes all rows"), "subsample")
  }
  if (method == "goss" && params$top_rate + params$other_rate > 1) {
    stop_argument(sprintf("`top_rate` and `other_rate` add up to %s; at most 1 is possible",
                          format_number(params$top_rate + params$other_rate)), "other_rate")
  }
  if (method == "mvs" && params$subsample == 1) {
    warn_gbt("subsample", paste("`sampling_method = \"mvs\"` draws the share `subsample` of the rows, which is 1: all",
                                "rows are taken; give it, such as 0.3"))
  }
}

# "none" is CatBoost's word for taking all rows.
settle_method <- function(args) {
  if (!identical(args$value[["sampling_method"]], "none")) return(args)
  if (!is.null(args$value[["subsample"]]) && !is_same(args$value[["subsample"]], 1)) {
    stop_argument(contradiction(args$typed[["sampling_method"]], args$typed[["subsample"]], "subsample"), "subsample")
  }
  args$value[["sampling_method"]] <- "uniform"
  args
}

# The shares of the classes that a tree sees, by name in the order of labels; NULL where `wanted` is.
class_shares <- function(wanted, label, response) {
  if (is.null(wanted)) return(NULL)
  if (is.list(wanted) && !is.object(wanted)) wanted <- unlist(wanted)
  classes <- classes_of(label, response, "subsample", "give one share of all rows")
  if (!is_plain(wanted) || !is.numeric(wanted) || anyNA(wanted) || any(wanted < 0 | wanted > 1)) {
    stop_argument(sprintf(paste("`subsample` must be one share of the rows, or shares from 0 to 1 named by classes:",
                                "c(%s = 1, %s = 0.1)"), quote_name(classes[1L]), quote_name(classes[2L])), "subsample")
  }
  shares <- by_class(wanted, classes, "subsample", 1)
  if (all(shares == 0)) stop_argument("`subsample` is 0 for all classes", "subsample")
  stats::setNames(shares, classes)
}
