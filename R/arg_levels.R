# Several levels of one objective: `quantile_alpha = c(0.1, 0.5, 0.9)`. A model has an output for each.

most_levels_of_one <- 99L

# Has the objective a first parameter that may be several numbers?
may_have_levels <- function(name) objective_info(name)$outputs == "LEVELS"

# The name of that parameter.
name_of_levels <- function(objective) objective_info(objective)$params$name[1L]

# The levels of a model with several; NULL for others.
levels_of <- function(model) {
  if (may_have_levels(model$objective) && model$n_outputs > 1L) model$params[[name_of_levels(model$objective)]]
}

# Several levels as given -> ascending; one number is checked as any parameter. info: its row of the table.
read_levels <- function(value, info, typed) {
  levels <- split_numbers(value)
  if (length(levels) < 2L || !is.numeric(levels) || is.object(levels)) return(check_number(value, info, typed))
  levels <- vapply(unname(levels), check_number, 0, info, typed)
  if (anyDuplicated(levels)) {
    stop_argument(sprintf("%s has %s twice; leave one of them out", param_text(info$name, typed),
                          format_number(levels[duplicated(levels)][1L])), info$name)
  }
  if (length(levels) > most_levels_of_one) {
    stop_argument(sprintf("%s can have at most %d levels, not %d", param_text(info$name, typed), most_levels_of_one,
                          length(levels)), info$name)
  }
  sort(levels)
}

# Are these the levels of n outputs, as a model has them?
are_levels <- function(x, n) {
  is.double(x) && is_plain(x) && length(x) == n && all(is.finite(x)) && all(x > 0 & x < 1) && all(diff(x) > 0)
}

# "q0.1", "q0.5": names of outputs.
level_labels <- function(levels) paste0("q", format_number(levels))
