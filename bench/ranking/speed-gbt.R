# gbt in one run of speed.py, which describes the arguments: prints processor seconds of the data set and of training,
# and wall seconds of both.
library(gbt)
arg_of <- function(name) sub(".*=", "", grep(paste0("^--", name, "="), commandArgs(TRUE), value = TRUE))
number <- function(name) as.numeric(arg_of(name))
rows <- number("rows")
x <- matrix(readBin(file.path(arg_of("folder"), "x.f64"), "double", rows * 136), rows)
y <- readBin(file.path(arg_of("folder"), "y.i32"), "integer", rows)
group <- as.integer((seq_len(rows) - 1) %/% number("query"))
shape <- list(max_depth = 6, grow_policy = "depthwise")
if (number("leaves") > 0) shape <- list(max_leaves = number("leaves"), max_depth = 0, grow_policy = "lossguide")
objective <- c(ndcg = "rank_ndcg", xendcg = "rank_xendcg", rmse = "query_rmse", squared = "squared_error")
clock <- function() c(sum(proc.time()[1:2]), proc.time()[[3]])
invisible(gc())
begin <- clock()
data <- gbt_data(x, max_bin = 255, threads = 2)
made <- clock()
more <- if (arg_of("variant") == "squared") list() else list(group = group)
if (arg_of("variant") == "ndcg") more$rank_top <- 32
model <- do.call(gbt_train, c(list(data, y, objective = objective[[arg_of("variant")]], nrounds = number("rounds"),
  eta = 0.1, lambda = 1, min_child_weight = 1e-3, min_data_in_leaf = 1, colsample_bytree = 1, threads = 2),
  shape, more))
end <- clock()
cat(made[1] - begin[1], end[1] - made[1], end[2] - begin[2], "\n")
