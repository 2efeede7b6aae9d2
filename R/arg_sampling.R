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
