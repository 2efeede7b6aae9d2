# Responses that are times, possibly censored: objects of class Surv, as package survival makes them. Only their class
# and attributes are read, so the package is not needed.

is_surv_response <- function(response) response %in% surv_types

# Times with what belongs to them, a vector of class gbt_times: a number for each row, the label of the engine, and
# `fields`, a list of vectors by the names of the engine's fields. Rows are taken of all of them at once.
new_times <- function(label, fields) structure(as.double(label), fields = fields, class = "gbt_times")

#' @export
`[.gbt_times` <- function(x, i) {
  new_times(as.double(x)[i], lapply(attr(x, "fields"), `[`, i))
}

# The label and its fields by the engine's names; other labels have none.
fields_of_label <- function(label) {
  if (!inherits(label, "gbt_times")) return(list(label = label))
  c(list(label = as.double(label)), attr(label, "fields"))
}

upper_of_label <- function(label) if (inherits(label, "gbt_times")) attr(label, "fields")[["upper"]]

# A Surv object -> list(value = times, response, classes) as encode_y() returns it. advice: about missing values.
encode_surv <- function(y, what, advice) {
  type <- attr(y, "type")
  m <- unclass(y)
  if (!is.matrix(m) || !is.numeric(m) || !is_text(type)) {
    stop_data(paste(what, "is a broken Surv object; recreate it by survival::Surv()"), "y")
  }
  if (!paste0("surv_", type) %in% surv_types) {
    stop_data(sprintf(paste("%s is a Surv object of type \"%s\"; types \"right\", \"left\" and \"interval\" are",
                            "supported"), what, type), "y")
  }
  bad <- which(rowSums(is.na(m)) > 0)
  if (length(bad)) stop_data(sprintf("%s has %s; %s", what, counted_rows(bad, "missing value"), advice), "y")
  list(value = times_of_surv(m, type, what), response = paste0("surv_", type), classes = NULL)
}

# The times between which the time of a row lies: `label`, and `upper`, Inf for none.
times_of_surv <- function(m, type, what) {
  time <- as.double(m[, 1L])
  status <- m[, ncol(m)]
  bounds <- switch(type,
    right = list(time, ifelse(status == 1, time, Inf)),
    left = list(ifelse(status == 1, time, 0), time),
    interval = list(ifelse(status == 2, 0, time), ifelse(status == 0, Inf, ifelse(status == 3, m[, 2L], time)))
  )
  ends <- c(bounds[[1L]], if (type == "interval") bounds[[2L]][status == 3])
  if (!all(is.finite(ends))) {
    stop_data(sprintf("%s has %s", what, counted_rows(which(!is.finite(bounds[[1L]])), "infinite time")), "y")
  }
  low <- which(bounds[[1L]] < 0 | bounds[[2L]] <= 0)
  if (length(low)) {
    stop_data(sprintf(paste("%s has %s; times of objective \"aft\" must be above 0 (leave such rows out, or give them",
                            "half of the least time above 0)"), what, counted_rows(low, "time of 0 or less")), "y")
  }
  zero <- which(bounds[[1L]] == 0 & bounds[[2L]] == Inf)
  if (length(zero)) {
    stop_data(sprintf("%s has %s; leave such rows out, which say nothing", what,
                      counted_rows(zero, "time censored at 0")), "y")
  }
  new_times(bounds[[1L]], list(upper = as.double(bounds[[2L]])))
}

# The objective for such a response where none was named.
objective_of_surv <- function(response) {
  if (response != "surv_right") return("aft")
  stop_argument("for times that are censored on the right give `objective = \"aft\"`", "objective")
}

# Other objectives do not know censored times.
check_surv_objective <- function(e, name) {
  if (!is_surv_response(e$response) || objective_info(name)$response == "TIME") return(invisible())
  stop_data(sprintf("objective \"%s\" does not know censored times, and the response is a Surv object; use \"aft\"",
                    name), "y")
}

# A validation set has times of the kind of the training data.
check_same_surv <- function(now, before, what) {
  if (identical(now, before) || !any(is_surv_response(c(now, before)))) return(invisible())
  kind <- function(response) {
    if (is_surv_response(response)) sprintf("a Surv object of type \"%s\"", sub("surv_", "", response)) else "numeric"
  }
  stop_data(sprintf("%s is %s, but was %s in the training data", what, kind(now), kind(before)), "y")
}

# Rows of a Surv object.
surv_rows <- function(y, rows) {
  m <- unclass(y)
  kept <- attributes(y)[setdiff(names(attributes(y)), c("dim", "dimnames", "class"))]
  out <- matrix(as.double(m), nrow(m), dimnames = list(NULL, colnames(m)))[rows, , drop = FALSE]
  attributes(out) <- c(attributes(out), kept, list(class = "Surv"))
  out
}
