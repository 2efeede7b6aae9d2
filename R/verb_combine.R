# Objects that cannot be combined. Without these methods R would make lists and matrices of the parts of the objects.

stop_combine_data <- function(...) {
  stop_unsupported(paste("gbt_data objects hold bins and cannot be combined; combine the data and call",
                         "gbt_data() on the whole"))
}

#' @export
c.gbt_data <- stop_combine_data

#' @export
rbind.gbt_data <- stop_combine_data

#' @export
cbind.gbt_data <- stop_combine_data

stop_combine_models <- function(...) {
  stop_unsupported(paste("models cannot be combined into one; list(a, b) holds several, and",
                         "gbt_train(init_model = ) continues one"))
}

#' @export
c.gbt <- stop_combine_models

#' @export
rbind.gbt <- stop_combine_models

#' @export
cbind.gbt <- stop_combine_models
