# Numbers as categories: columns of whole numbers that `cat_features` names. Their levels are the numbers' decimal
# digits, made without R's options and the locale, so that predictions take the numbers again. The tag "category" says
# so, and of ordered factors that they are taken without their order.

# The frame with the columns `wanted` (names or places, NULL for none) as categories: whole numbers become levels,
# ordered levels lose their order, other levels are categories already.
with_categories <- function(frame, wanted) {
  if (is.null(wanted)) return(frame)
  for (j in unique(feature_places(wanted, frame$names, "cat_features"))) {
    frame <- as_category(frame, j, "`cat_features` takes whole numbers below 2^63")
  }
  frame
}

# New data for features that became categories so: the same again. was: tags of the features, NA for other columns.
align_categories <- function(frame, was) {
  for (j in which(was %in% "category")) {
    frame <- as_category(frame, j, "in training there were whole numbers below 2^63, taken as categories")
  }
  frame
}

as_category <- function(frame, j, why) {
  type <- frame$type[j]
  if (type == enums$feature_type[["categorical"]]) return(frame)
  if (type == enums$feature_type[["numeric"]]) frame <- number_levels(frame, j, why)
  frame$type[j] <- enums$feature_type[["categorical"]]
  frame$tag[j] <- "category"
  frame
}

number_levels <- function(frame, j, why) {
  name <- frame$names[j]
  if (!is.null(frame$p)) {
    stop_unsupported(sprintf(paste("column `%s` of a sparse matrix cannot be taken as categories; give the data as a",
                                   "data frame or a matrix"), name), name)
  }
  if (is_time(frame$tag[j])) {
    stop_data(sprintf("column `%s` is of class %s: %s; convert it by as.integer(x)", name,
                      time_class(frame$tag[j]), why), name)
  }
  seen <- .Call(C_gbt_number_codes, frame_column(frame, j), frame$storage[j])
  if (seen$bad > 0) {
    stop_data(sprintf("column `%s`, row %.0f: %s is not a category: %s; round the column, or make it a factor", name,
                      seen$bad, format_number(frame_column(frame, j)[seen$bad]), why), name)
  }
  n <- length(frame$names)
  if (is.null(frame$values)) frame$values <- vector("list", n) # of a matrix
  if (is.null(frame$levels)) frame$levels <- vector("list", n)
  frame$values[[j]] <- seen$codes
  frame$levels[[j]] <- seen$numbers
  frame$storage[j] <- enums$storage[["codes"]]
  frame
}

# The columns of a gbt_data are final: `cat_features` may only name columns that are categories there.
check_cat_features <- function(cat_features, features, type) {
  if (is.null(cat_features)) return(invisible())
  at <- feature_places(cat_features, features, "cat_features")
  wrong <- at[type[at] != "categorical"]
  if (length(wrong)) {
    stop_argument(sprintf(paste("`cat_features` names `%s`, which is not categorical in this gbt_data; set it when",
                                "you create it: gbt_data(x, cat_features = )"), features[wrong[1L]]), "cat_features")
  }
}
