# The data of a training, from what gbt_train() was given.

# The columns of a source before they are binned, a list: feature_names, type (of each feature), n_features (with level
# counts), and frame and spec (see data_spec()), or data, where the source is a gbt_data.
columns_of_source <- function(source, args, host) {
  if (is.null(source$x)) {
    data <- as_prepared(source$data, args)
    info <- .Call(C_gbt_dataset_info, data_ptr(data))
    return(list(feature_names = data$feature_names, type = info$type, n_features = length(info$features), data = data))
  }
  spec <- list(max_bin = as.integer(host$max_bin), level_counts = args[["level_counts"]],
               cat_features = args[["cat_features"]], sparse_zero = host$sparse_zero, unseen = "prior",
               page_rows = as.integer(host$page_rows), threads = args[["threads"]], device = host$device,
               init = args[["init_model"]])
  frame <- frame_to_bin(source$x, spec)
  type <- names(enums$feature_type)[match(frame$type, unlist(enums$feature_type))]
  list(feature_names = enc2utf8(frame$names), type = type, n_features = length(frame$names) + sum(frame$derive != 0),
       frame = frame, spec = spec)
}

# The columns as gbt_data. weight: as the user gave them, of all rows; they count when cuts are chosen. Weights of
# classes and a mask do not: gbt_data() cannot know them.
bin_columns <- function(columns, weight) {
  if (!is.null(columns$data)) return(columns$data)
  finish_data(frame_rows(columns$frame, list(weight = weight), columns$spec), columns$spec)
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

# The source with its data binned, and marked so. What can be checked without bins is checked before.
binned_once <- function(source, request, response) {
  if (isTRUE(source$binned)) return(source)
  host <- if (!is.null(source$x)) place_training(request, list(source = source, response = response))
  args <- request$args$value
  class_shares(args[["class_shares"]], response$label, response)
  columns <- columns_of_source(source, args, host)
  resolve_columns(columns, request, source$x)
  set_mtry(request$params, request, columns$n_features)
  source$data <- bin_columns(columns, check_weight(source$weights, length(response$label), "weights"))
  source$x <- NULL
  source["weights"] <- list(source$weights)
  source$binned <- TRUE
  source
}

# The parameters of R's own with the device that the training begins on.
place_training <- function(request, rows) {
  host <- request$host
  source <- rows$source
  expected <- if (host$rounds == "given") host$nrounds else ceiling(host$nrounds / 5) # the rest is a limit
  size <- training_size(bytes_of(source, host$max_bin), request$params, expected, rows$response$n_outputs,
                        host$max_seconds, rows = source_rows(source),
                        row_bytes = 24 + 8 * length(rows$response$columns), # each column has labels of its own
                        sums = grows_by_sums(rows$response, request$params))
  if (host$device$kind == "auto" && is_for_cpu_only(request$params)) host$device$kind <- "cpu"
  host$device <- settle_device(choose_device_for_training(host$device, size, as.integer(host$threads)))
  host
}

# Whether "auto" takes the CPU: for linear leaves, for which the CPU computes gradients, leaves and scores in any case.
is_for_cpu_only <- function(params) identical(params[["leaf_model"]], "linear")

# The fingerprint of a training's data. weight: as it was given; weights of classes are a parameter, no data.
fingerprint_of <- function(data, rows, own, weight, args) {
  view <- if (is.null(args[["class_weights"]])) data$view else
    dataset_view(data, rows$mask, TRUE, label = rows$label, weights = weight, offset = own$offset, time = own$time,
                 group = own$group, position = own$position)
  .Call(C_gbt_dataset_fingerprint, view, rows$response$classes)
}

# The fields of the rows of a training, a list: weight and offset of all rows, own (weight with that of classes,
# offset, time and group of the rows that are trained on), given (their weight without that of classes). args: values by
# name.
training_fields <- function(rows, args, host) {
  weight <- check_weight(rows$source$weights, rows$n, "weights")
  offset <- check_offset(rows$source$offset, rows$n, rows$response$n_outputs)
  own <- rows_trained_on(rows, weight, offset)
  positions <- positions_of_training(own$position, args[["init_model"]])
  own["position"] <- list(positions$codes)
  given <- own$weight
  own$weight <- weigh_classes(own$weight, rows$label, rows$response, args[["class_weights"]], host$threads,
                              in_fold = !is.null(rows$source$held))
  list(weight = weight, offset = offset, own = own, given = given, positions = positions$names)
}

# Training data in the engine, with label, weight, offset, time and group of this training. A gbt_data may be trained
# on by others at the same time, in a callback or a finalizer, so each training has a view of its own. columns: see
# columns_of_source(); fields: see training_fields(); args: values by name.
training_data <- function(rows, columns, fields, args) {
  weight <- fields$weight
  offset <- fields$offset
  own <- fields$own
  data <- bin_columns(columns, weight)
  if (!is.null(rows$held)) data$masked_out <- masked_out_set(rows, data, weight, offset)
  data$view <- dataset_view(data, rows$mask, TRUE, label = rows$label, weights = own$weight, offset = own$offset,
                            time = own$time, group = own$group, position = own$position)
  data["positions"] <- list(fields$positions)
  data["fingerprint"] <- list(fingerprint_of(data, rows, own, fields$given, args))
  data["at"] <- list(if (!is.null(rows$mask)) rows$at)
  data$weight <- own$weight
  data$has_weights <- !is.null(weight)
  data["offset"] <- list(own$offset)
  data
}
