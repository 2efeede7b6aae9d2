# The data of a training, from what gbt_train() was given.

# Data of the user's as gbt_data. weight: as the user gave them, of all rows; they count when cuts are chosen. Weights
# of classes and a mask do not: gbt_data() cannot know them.
binned_source <- function(source, args, host, weight) {
  spec <- list(max_bin = as.integer(host$max_bin), level_counts = args[["level_counts"]],
               cat_features = args[["cat_features"]], sparse_zero = host$sparse_zero, unseen = "prior",
               page_rows = as.integer(host$page_rows), threads = args[["threads"]], device = host$device,
               init = args[["init_model"]])
  finish_data(frame_rows(frame_to_bin(source$x, spec), list(weight = weight), spec), spec)
}

# A gbt_data as it is: how it was made is decided.
as_prepared <- function(data, args) {
  for (name in c("max_bin", "page_rows", "sparse_zero", "level_counts")) {
    if (!is.null(args[[name]])) {
      stop_argument(sprintf("`%s` is decided when gbt_data is made: gbt_data(x, %s = )", name, name), name)
    }
  }
  check_cat_features(args[["cat_features"]], data$feature_names, .Call(C_gbt_dataset_info, data_ptr(data))$type)
  data
}
