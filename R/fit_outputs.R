# Predictions of a model: scores and classes in the shape that predict() gives.

# Output of the engine -> requested type. at: times or chances, see read_times() and read_chances().
shape_prediction <- function(out, object, type, labels, at = NULL, stratum = NULL, threads = 1L) {
  if (of_distribution(object, type)) return(shape_distribution(out, object, type, labels, at, threads))
  if (type %in% time_types) {
    if (is_of_intervals(object$objective)) out <- matrix(out, ncol = object$n_outputs)
    out <- times_of_scores(out, object, type, at, stratum)
    if (is.null(labels)) return(out)
    if (is.matrix(out)) rownames(out) <- labels else names(out) <- labels
    return(out)
  }
  if (type == "prob" && !is.matrix(out)) out <- cbind(1 - out, out, deparse.level = 0)
  if (type == "class" && !is.null(object$columns)) {
    out <- structure(out > 0.5, dim = dim(out))
  } else if (type == "class") {
    out <- as_classes(out + 1L, object)
    if (!is.null(labels)) names(out) <- labels
    return(out)
  }
  if (is.matrix(out)) {
    columns <- if (type == "link") score_names_of(object) else if (type != "leaf") output_names_of(object)
    if (!is.null(columns) || !is.null(labels)) dimnames(out) <- list(labels, columns)
  } else if (!is.null(labels)) {
    names(out) <- labels
  }
  out
}

# The engine's answer that a type of predict() is made of.
answer_code <- function(type, object) {
  if (of_distribution(object, type)) type <- "link"
  of_response <- type %in% c("prob", "parameters") || type == "class" && !is.null(object$columns)
  enums$answer[[if (of_response) "response" else if (type %in% time_types) "link" else type]]
}

class_labels <- function(object) {
  if (is.null(object$classes) && objective_info(object$objective)$labels == "BINARY") c("0", "1") else object$classes
}

# Names of outputs that are columns of the response, classes, intervals of time, levels or parameters.
output_names_of <- function(object) {
  given_or(object$columns, given_or(class_labels(object), part_labels_of(object)))
}

# The same for raw scores, which of distributions have names of their own: "log_sd".
score_names_of <- function(object) {
  if (is_distribution(object$objective)) scores_of_distribution(object$objective) else output_names_of(object)
}

# Names of outputs that are intervals of time, levels or parameters of a distribution.
part_labels_of <- function(object) {
  if (is_distribution(object$objective)) return(parameters_of_distribution(object$objective))
  if (is_of_intervals(object$objective)) return(interval_labels(object$params$breaks))
  levels <- levels_of(object)
  if (!is.null(levels)) level_labels(levels)
}

# Are outputs in units of their own, so that they share no scale? Columns of numbers are, and parameters of
# distributions; of predicted means a distribution has one output.
has_own_units <- function(object, type = "link") {
  if (is_distribution(object$objective)) return(type %in% c("link", "parameters"))
  !is.null(object$columns) && objective_info(object$objective)$response != "PROBABILITY"
}

# Names of several raw scores, or their numbers; NULL for one.
output_labels <- function(object) {
  if (object$n_outputs < 2L) return(NULL)
  labels <- score_names_of(object)
  if (is.null(labels)) as.character(seq_len(object$n_outputs)) else labels
}

# Classes as what the response was.
as_classes <- function(index, object) {
  labels <- class_labels(object)
  switch(object$response,
    factor = structure(index, levels = labels, class = "factor"),
    ordered = structure(index, levels = labels, class = c("ordered", "factor")),
    logical = as.logical(labels)[index],
    character = labels[index],
    integer = as.integer(labels)[index],
    as.numeric(labels)[index]
  )
}

# Mean absolute contributions of columns over rows and outputs; own: outputs have units of their own, so the mean over
# outputs of a column's share in all contributions to the output. values: rows x columns (x outputs).
mean_contributions <- function(values, own) {
  size <- apply(abs(values), 2L, mean)
  if (!own) return(size)
  each <- colMeans(abs(values)) # columns x outputs
  share <- each / rep(above_0(colSums(each)), each = nrow(each))
  stats::setNames(rowMeans(share), names(size))
}
