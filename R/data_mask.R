# A mask: which rows are trained on. The others are masked out: they are scored on the way, as a validation set is, by
# the same binned data.

masked_out_name <- "masked_out" # of their set in the log

# `mask` as given -> logical values, or NULL where every row is trained on.
check_mask <- function(mask, n_rows) {
  if (is.null(mask)) return(NULL)
  if (!is.logical(mask) || is.object(mask) || length(dim(mask)) > 1L) {
    numbers <- if (is.numeric(mask)) sprintf("; `seq_len(%.0f) %%in%% rows` makes them of row numbers", n_rows)
    stop_argument(paste0("`mask` must be logical values, TRUE for the rows to train on, not ", describe(mask), numbers),
                  "mask")
  }
  check_logical_rows(mask, n_rows, "mask")
  if (!any_rank(any(mask))) {
    stop_argument("`mask` is FALSE for every row; set it to TRUE for the rows to train on", "mask")
  }
  if (any_rank(!all(mask))) as.vector(mask)
}

# Other arguments that hold rows out, or that would use the name of the masked-out rows. valid: see read_valid().
check_mask_conflicts <- function(mask, valid) {
  if (is.null(mask)) return(invisible())
  if (!is.null(valid$share) || !is.null(valid$held)) {
    stop_argument(paste("`mask` and `valid` as", if (is.null(valid$held)) "a share" else "rows", "both hold rows out;",
                        "leave out `valid`: the masked-out rows are evaluated as a validation set is"), "valid")
  }
  if (masked_out_name %in% names(valid$sets)) {
    stop_argument(sprintf(paste("with `mask` a validation set cannot be called \"%s\", the name of the masked-out",
                                "rows; rename it"),
                          masked_out_name), "valid")
  }
  if (length(valid$sets) > 15L) stop_argument("with `mask`, `valid` can have at most 15 sets", "valid")
}

# The rows that take part in training: those whose weight is not 0, logical values. NULL for all, and where the engine
# will refuse the weights, whose message numbers all rows: none is above 0, or some are below.
mask_of_weights <- function(weights) {
  if (is.null(weights) || is.null(ranks_here()) && (length(weights) == 0L || min(weights) != 0)) return(NULL)
  weigh <- as.logical(unlist(by_parts(length(weights), function(rows) weights[rows] != 0)))
  if (any_rank(any(weigh)) && any_rank(!all(weigh))) weigh
}

# How many of n rows they are.
count_weighted <- function(weights, n) {
  weigh <- mask_of_weights(weights)
  if (is.null(weigh)) n else as.double(sum(weigh))
}

# Tells of classes that only masked-out rows have: trees learn nothing about them.
inform_masked_classes <- function(mask, response) {
  classes <- response$classes
  if (!length(classes)) return(invisible())
  gone <- absent_classes(response$label, length(classes), mask)
  if (!length(gone)) return(invisible())
  say(sprintf("classes of the response without rows where `mask` is TRUE: %s", enumerate(classes[gone], quote = "\"")))
}

# Numbers of the rows where the mask is `taken`.
rows_of_mask <- function(mask, taken) {
  as.integer(unlist(by_parts(length(mask), function(rows) rows[mask[rows] == taken])))
}

# Of a vector with one number for every row, or with one for every row and output: those of some rows.
take_numbers <- function(x, rows, n_rows) {
  if (is.null(x) || length(x) == n_rows) return(subset_rows(x, rows))
  as.double(subset_rows(matrix(x, n_rows), rows))
}

# Some of the rows have a weight. The engine cannot say which rows they are. where: how a message names them; instead:
# what to do.
check_some_weight <- function(weight, where, instead = "rows without any weight can be left out of the data") {
  if (is.null(weight)) return(invisible())
  if (any_rank(any(unlist(by_parts(length(weight), function(rows) any(weight[rows] != 0)))))) return(invisible())
  stop_data(sprintf("`weights` are 0 in all rows %s; at least one must be larger (%s)", where, instead), "weights")
}
