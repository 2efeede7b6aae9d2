# Models to start from, one of each kind, and the data that they were trained on: seeds.R FOLDER
library(gbt)
folder <- commandArgs(trailingOnly = TRUE)[1]
n <- 60
row <- seq_len(n)
data <- data.frame(
  a = ((row * 37) %% 61) / 7, b = row %% 13L, f = factor(letters[row %% 5 + 1]),
  w = factor(paste("level", row %% 40)), o = factor(row %% 4, ordered = TRUE), d = as.Date("2020-01-01") + row,
  t = as.POSIXct("2020-01-01", tz = "UTC") + row * 1e5,
  s = c("x", "y", NA)[row %% 3 + 1], l = row %% 2 == 0, e = as.difftime(row + 0, units = "hours")
)
data$y <- data$a + (data$f == "b") * 3 + row %% 7
data$two <- factor(ifelse(data$y > 8, "high", "low"))
data$three <- factor(c("p", "q", "r")[row %% 3 + 1])
train <- function(..., grow_policy = "depthwise") {
  gbt_train(..., nrounds = 2, grow_policy = grow_policy, max_depth = 2, threads = 1)
}
models <- list(
  train(y ~ a + b + f, data), train(y ~ log(a + 1) + poly(b, 2) + cut(a, c(-1, 2, 5, 10)), data),
  train(two ~ a + w + o, data, eval_metric = "auc", eval_train = TRUE), train(three ~ d + t + s, data),
  train(data["a"], data$b, objective = "poisson", offset = rep(0.5, n)), train(as.matrix(data[c("a", "b")]), data$y),
  train(data[c("l", "e", "f")], data$y, valid = 0.3, early_stopping_rounds = 1, monotone = c(l = 1)),
  train(data[c("a", "b", "f")], data$y, num_parallel_tree = 2, interactions = list(c("a", "b"), "f")),
  train(y ~ a + offset(b), data), train(data["w"], data$y, grow_policy = "symmetric"),
  train(data[c("a", "f", "w", "s")], data$y, cat_method = c("target", "count"), max_cat_combine = 3),
  train(data[c("f", "w")], data$three, cat_method = "target", max_cat_combine = 2)
)
for (i in seq_along(models)) gbt_save(models[[i]], file.path(folder, sprintf("%02d.gbt", i)))
saveRDS(data, file.path(folder, "data.rds"))
