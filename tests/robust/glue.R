# Every entry of the glue once, small: for gctorture and valgrind, under which a fault shows at once.
#   Rscript glue.R LIBRARY [torture]
args <- commandArgs(TRUE)
library(gbt, lib.loc = args[1L])
if ("torture" %in% args) gctorture2(as.integer(args[3L]), inhibit_release = FALSE)
set.seed(1)
n <- 60L
d <- data.frame(a = c(NA, rnorm(n - 1L)), i = sample.int(5L, n, TRUE), f = factor(sample(letters[1:4], n, TRUE)),
                o = ordered(sample(3L, n, TRUE)), s = sample(c("x", "y\u00e9", NA), n, TRUE), l = rnorm(n) > 0,
                day = Sys.Date() + seq_len(n), stringsAsFactors = FALSE)
y <- d$i + ifelse(is.na(d$a), 0, d$a)
k <- factor(sample(c("p", "q", "r"), n, TRUE))
m <- gbt_train(d, y, nrounds = 2, max_depth = 2, threads = 2, valid = 0.3, eval_metric = c("rmse", "mae"))
m3 <- gbt_train(d, k, nrounds = 2, max_depth = 2, threads = 1, grow_policy = "lossguide")
data <- gbt_data(d, label = y, weight = rep(1, n), offset = rep(0.5, n), threads = 1)
invisible(capture.output(print(data)))
md <- gbt_train(data, nrounds = 1, threads = 1, grow_policy = "symmetric")
own <- list(gradient = function(score, label, weight) score - label,
            hessian = function(score, label, weight) rep(1, length(label)))
mo <- gbt_train(d, y, nrounds = 2, threads = 1, objective = own,
                eval_metric = gbt_metric("own", function(pred, label, weight) mean(abs(pred - label))))
mf <- gbt_train(y ~ log(abs(a) + 1) + f, cbind(d, y = y), nrounds = 2, threads = 1)
go <- gbt_train(d, y, nrounds = 1, init_model = m, threads = 1)
p <- predict(m, d, threads = 1)
for (type in c("response", "link", "leaf")) invisible(predict(m3, d, type = type, threads = 2))
invisible(predict(mf, cbind(d, y = y), threads = 1))
invisible(predict(m, rev(d), threads = 1, unseen = "missing"))
file <- tempfile(fileext = ".gbt")
gbt_save(m3, file)
back <- gbt_load(file)
unlink(file)
stopifnot(identical(predict(back, d, threads = 1), predict(m3, d, threads = 1)), identical(back$state, m3$state))
invisible(capture.output(print(m3), print(summary(m3)), print(gbt_importance(m3)), print(gbt_info())))
invisible(as.data.frame(m3))
first <- m3[1]
for (bad in list(quote(predict(m, d[1:2])), quote(gbt_train(d, y, nrounds = 1, max_bin = 1)),
                 quote(gbt_load("/nowhere")), quote(gbt_train(d, c(y, 1), nrounds = 1)))) {
  stopifnot(inherits(tryCatch(eval(bad), error = identity), "gbt_error"))
}
if (requireNamespace("Matrix", quietly = TRUE)) {
  s <- Matrix::sparseMatrix(i = c(1, 3, n), j = c(1, 2, 3), x = c(1, 2, 3), dims = c(n, 3),
                            dimnames = list(NULL, c("u", "v", "w")))
  ms <- gbt_train(s, y, nrounds = 1, threads = 1)
  invisible(predict(ms, s, threads = 1))
}
gctorture(FALSE)
cat("glue: all entries used\n")
