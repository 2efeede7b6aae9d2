# Weights of classes: what users say of them, and the weights of rows that follow.

#' @rdname gbt_sources
#' @name gbt_sources
#' @section Weights of rows:
#' Cuts of numeric columns are quantiles of all rows, weighted by `weights`. `class_weights` and `mask` do not change
#' them. So the model is the same, to the last bit, for a data frame, a matrix, a [gbt_data()] with the same `weight`
#' (in memory, in a folder or in chunks), and for a fold of [gbt_cv()]. (A [gbt_data()] has its cuts already: `weights`
#' that [gbt_train()] gets with it do not change them.) Where weights are so small that no node can be split, a warning
#' (class `gbt_warning_weights`) says so.
#'
#' Rows of weight 0 take no part in training. They are not drawn, and not held out by `valid` as a share or to find the
#' number of rounds. Rules ([gbt_defaults()]), `min_data_in_leaf`, statistics of categories, orders of rows and `nobs()`
#' do not count them, and your own functions do not get them. The model is the same as without these rows, with one
#' exception: the levels of columns and their order, the classes of the response, and `level_counts` come from all rows.
#' (The order of levels decides between splits with the same gain and has a part in random draws.) In [gbt_cv()] these
#' rows get predictions.
NULL

# The weights of rows times those of their classes; the attribute `classes` has the latter, by name, and `balanced` is
# TRUE where they are balanced. in_fold: these are the rows outside of a fold, where rare classes may be missing: the
# others are balanced then.
weigh_classes <- function(weight, label, response, wanted, threads, in_fold = FALSE) {
  if (is.null(wanted)) return(weight)
  classes <- classes_of(label, response, "class_weights", "use `weights`")
  given <- if (!identical(wanted, "balanced")) check_class_weights(wanted, classes)
  absent <- if (is.null(given)) absent_classes(label, length(classes), weight)
  if (length(absent) && in_fold) return(balanced_weights(weight, label, classes, absent, threads))
  if (is.null(given)) check_classes_weigh(weight, label, classes)
  out <- .Call(C_gbt_class_weights, label, weight, given, length(classes), as.integer(threads))
  structure(out$rows, classes = stats::setNames(out$classes, classes), balanced = if (is.null(given)) TRUE)
}

# Balanced weights of the classes that are there; the `absent` ones weigh 1.
balanced_weights <- function(weight, label, classes, absent, threads) {
  there <- seq_along(classes)[-absent]
  among <- match(label + 1, there, nomatch = 1L) - 1 # rows of the absent ones weigh 0
  out <- .Call(C_gbt_class_weights, as.double(among), weight, NULL, length(there), as.integer(threads))
  structure(out$rows, classes = stats::setNames(replace(rep(1, length(classes)), there, out$classes), classes))
}

# Every class has a row that weighs something. A class may have none, or none that a mask leaves in.
check_classes_weigh <- function(weight, label, classes) {
  missing <- absent_classes(label, length(classes), weight)
  if (length(missing)) {
    stop_data(sprintf("class \"%s\" has no weight in the rows to train on, so classes cannot be balanced",
                      classes[missing[1L]]), "weights")
  }
}

# Places of the classes, of labels from 0, that no row has, or no row with a weight.
absent_classes <- function(label, n_classes, weight = NULL) {
  seen <- by_parts(length(label), function(rows) {
    class <- label[rows]
    tabulate(if (is.null(weight)) class + 1 else class[weight[rows] != 0] + 1, n_classes) > 0
  })
  setdiff(seq_len(n_classes), all_ranks_have(which(Reduce(`|`, seen, logical(n_classes)))))
}

# The classes in the order of the labels 0, 1, ... parameter: what needs them; instead: what to do without classes.
classes_of <- function(label, response, parameter, instead) {
  if (length(response$classes)) return(response$classes)
  if (!is.null(response$columns)) {
    stop_unsupported(sprintf("`%s` takes a response of one column; %s", parameter, instead), parameter)
  }
  if (objective_info(response$objective)$labels == "BINARY") {
    if (all_within(label, 0, 1) && all(label == 0 | label == 1)) return(c("0", "1"))
    stop_data(sprintf("`%s` needs classes, but the response has numbers between 0 and 1; %s", parameter, instead), "y")
  }
  stop_argument(sprintf("`%s` needs classes, and objective \"%s\" has none; %s", parameter, response$objective,
                        instead), parameter)
}

# Numbers above 0, named by classes (those not named weigh 1) or one for each class in order.
check_class_weights <- function(wanted, classes) {
  fail <- function(...) stop_argument(sprintf(...), "class_weights")
  if (isTRUE(attr(wanted, "of_two")) && length(classes) != 2L) {
    fail("`scale_pos_weight` is for two classes, the response has %d; use `class_weights`, numbers named by classes",
         length(classes))
  }
  if (!is.numeric(wanted) || is.object(wanted) || anyNA(wanted) || any(wanted <= 0 | wanted == Inf)) {
    fail("`class_weights` must be \"balanced\", or numbers above 0 named by classes: c(%s = 1, %s = 3)",
         quote_name(classes[1L]), quote_name(classes[2L]))
  }
  by_class(wanted, classes, "class_weights", 1)
}

# Numbers for all classes from those that are named by classes, or one for each in order; `rest` for those not named.
by_class <- function(wanted, classes, parameter, rest) {
  fail <- function(...) stop_argument(sprintf(...), parameter)
  labels <- value_names(wanted, parameter)
  if (is.null(labels)) {
    if (length(wanted) != length(classes)) {
      fail("`%s` has %s for %d classes; name them: %s", parameter, counted(length(wanted), "number"), length(classes),
           enumerate(classes, quote = "\""))
    }
    return(as.double(wanted))
  }
  at <- match(as_utf8(labels, sprintf("a name of `%s`", parameter)), classes)
  if (anyNA(at)) {
    wrong <- labels[is.na(at)][1L]
    fail("`%s` names \"%s\", which is not a class; there are %s%s", parameter, wrong,
         enumerate(classes, quote = "\""), suggest(wrong, classes, "\""))
  }
  if (anyDuplicated(at)) fail("`%s` names \"%s\" twice", parameter, classes[at[duplicated(at)][1L]])
  replace(rep(rest, length(classes)), at, as.double(wanted))
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
