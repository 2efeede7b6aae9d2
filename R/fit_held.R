# The rows that a mask or a fold holds out, scored on the way as a validation set: see R/data_mask.R.

# The rows that are held out by a mask or a fold as a set of plan_evaluation() and make_trainer(). data: of all rows;
# weight, offset: theirs.
masked_out_set <- function(rows, data, weight, offset) {
  at <- rows_of_mask(rows$held, TRUE)
  label <- subset_rows(rows$response$label, at)
  weight <- take_numbers(weight, at, data$n_rows)
  if (is.null(rows$source$held)) {
    check_some_weight(weight, "where `mask` is FALSE", "leave `mask` out: rows of weight 0 are not trained on anyway")
  } else {
    check_some_weight(weight, "that a fold holds out")
  }
  offset <- take_numbers(offset, at, data$n_rows)
  group <- take_numbers(rows$source$group, at, data$n_rows)
  data$view <- dataset_view(data, rows$held, TRUE, label = label, weights = weight, offset = offset, group = group)
  data["offset"] <- list(offset)
  list(name = masked_out_name, data = data, label = label, weight = weight, rows = at)
}

# The same in a list, with the scores of the initial model; empty where no row is masked out.
masked_out_valid <- function(rows, data, init, host) {
  set <- data$masked_out
  if (is.null(set)) return(list())
  if (!is.null(init)) {
    set$score <- scores_at(init, rows, set$rows, FALSE, set$data$offset, data$sparse_zero, host$threads)
  }
  list(set)
}

# The predictions of the model for the masked-out rows, in the shape of predict(): of distributions their parameters,
# which say more than their means. They come first among the validation sets.
masked_out_responses <- function(trainer, fit, model) {
  out <- .Call(C_gbt_trainer_scores, trainer, 1L, TRUE, TRUE, fit$host$threads)
  shape_prediction(out, model, masked_out_type(model), NULL)
}

masked_out_type <- function(model) if (is_distribution(model$objective)) "parameters" else "response"
