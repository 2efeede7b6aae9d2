# What the campaign and its children have in common.

made_rows <- function(n = 6000L) {
  set.seed(5)
  f <- factor(sample(sprintf("level %d", 1:40), n, TRUE))
  x <- data.frame(a = rnorm(n), b = runif(n), f = f, g = round(rnorm(n), 1))
  x$b[seq(1L, n, 7L)] <- NA
  list(x = x, y = x$a + (as.integer(x$f) %% 3L) + rnorm(n))
}

trained <- function(x, y = NULL, ...) {
  gbt_train(x, y, nrounds = 60, max_depth = 5, seed = 4, subsample = 0.5, sampling_method = "mvs",
            colsample_bynode = 0.7, cat_method = "target", ...)
}

# The data of a way: in memory, or in one folder or two.
data_of <- function(way) {
  d <- made_rows()
  if (way$folders == 0L) return(gbt_data(d$x, d$y, page_rows = way$page_rows))
  gbt_data(d$x, d$y, page_rows = way$page_rows, path = way$path[seq_len(way$folders)], compress = way$compress,
           memory = way$memory)
}
