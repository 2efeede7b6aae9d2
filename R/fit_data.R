# The data of a training, from what gbt_train() was given.

# The data of a source as gbt_data. weight: as the user gave them, of all rows; they count when cuts are chosen. Weights
# of classes and a mask do not: gbt_data() cannot know them.
data_of_source <- function(source, args, host, weight) {
  if (is.null(source$x)) return(as_prepared(source$data, args))
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
      stop_argument(sprintf(paste("`%s` cannot be changed for a gbt_data; set it when you create the data:",
                                  "gbt_data(x, %s = )"), name, name), name)
    }
  }
  check_cat_features(args[["cat_features"]], data$feature_names, .Call(C_gbt_dataset_info, data_ptr(data))$type)
  data
}

# The source with its data binned.
binned_once <- function(source, request, response) {
  args <- request$args$value
  host <- if (!is.null(source$x)) place_training(request, list(source = source, response = response))
  source$data <- data_of_source(source, args, host, check_weight(source$weights, length(response$label), "weights"))
  source$x <- NULL
  source["weights"] <- list(source$weights)
  source
}

# The parameters of R's own with the device that the training begins on.
place_training <- function(request, rows) {
  host <- request$host
  source <- rows$source
  expected <- if (host$rounds == "given") host$nrounds else ceiling(host$nrounds / 5) # the rest is a limit
  size <- training_size(bytes_of(source, host$max_bin), request$params, expected, rows$response$n_outputs,
                        host$max_seconds, rows = source_rows(source))
  host$device <- settle_device(choose_device(host$device, size, as.integer(host$threads)))
  host
}

# The fingerprint of a training's data. weight: as it was given; weights of classes are a parameter, no data.
fingerprint_of <- function(data, rows, own, weight, args) {
  view <- if (is.null(args[["class_weights"]])) data$view else
    dataset_view(data, rows$mask, TRUE, label = rows$label, weights = weight, offset = own$offset, time = own$time,
                 group = own$group)
  .Call(C_gbt_dataset_fingerprint, view, rows$response$classes)
}

# Training data in the engine, with label, weight, offset, time and group of this training. A gbt_data may be trained
# on by others at the same time, in a callback or a finalizer, so each training has a view of its own. args: values by
# name.
training_data <- function(rows, args, host) {
  source <- rows$source
  weight <- check_weight(source$weights, rows$n, "weights")
  offset <- check_offset(source$offset, rows$n, rows$response$n_outputs)
  own <- rows_trained_on(rows, weight, offset)
  given <- own$weight
  own$weight <- weigh_classes(own$weight, rows$label, rows$response, args[["class_weights"]], host$threads,
                              in_fold = !is.null(source$held))
  data <- data_of_source(source, args, host, weight)
  if (!is.null(rows$held)) data$masked_out <- masked_out_set(rows, data, weight, offset)
  data$view <- dataset_view(data, rows$mask, TRUE, label = rows$label, weights = own$weight, offset = own$offset,
                            time = own$time, group = own$group)
  data["fingerprint"] <- list(fingerprint_of(data, rows, own, given, args))
  data$weight <- own$weight
  data$has_weights <- !is.null(weight)
  data["offset"] <- list(own$offset)
  data
}
