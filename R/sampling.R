# Which rows a tree sees: `sampling_method` and what belongs to it, and shares by class.

warn_all_rows <- function(params) {
  if (params$sampling_method == "mvs" && params$subsample == 1) {
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
