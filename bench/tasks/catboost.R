library(catboost) # 1.2
library(yardstick)
# 1 read a table with factors and dates, and train a classifier
d <- read.csv("flights.csv", stringsAsFactors = TRUE)
y <- as.numeric(d$late) - 1
x <- d[names(d) != "late"]
m <- catboost.train(catboost.load_pool(x, label = y), params = list(loss_function = "Logloss", iterations = 100))
# 2 predict classes and probabilities of new rows
new <- read.csv("new.csv", stringsAsFactors = TRUE)
pool <- catboost.load_pool(new[names(x)])
p <- catboost.predict(m, pool, prediction_type = "Probability")
k <- factor(ifelse(p > 0.5, "yes", "no"))
# 3 stop early on a fifth of the rows
held <- sample(nrow(d), nrow(d) / 5)
train <- catboost.load_pool(x[-held, ], label = y[-held])
valid <- catboost.load_pool(x[held, ], label = y[held])
m <- catboost.train(train, valid, params = list(loss_function = "Logloss", iterations = 1000, od_wait = 30))
# 4 cross-validate, groups of rows kept together, and train the chosen rounds on all rows
fold <- as.integer(factor(d$date)) %% 5
one <- function(i, p) {
  train <- catboost.load_pool(x[fold != i, ], label = y[fold != i])
  valid <- catboost.load_pool(x[fold == i, ], label = y[fold == i])
  m <- catboost.train(train, valid, params = c(list(loss_function = "Logloss", od_wait = 30), p))
  q <- catboost.predict(m, valid, prediction_type = "Probability")
  c(rounds = m$tree_count, loss = -mean(log(ifelse(y[fold == i] == 1, q, 1 - q))))
}
runs <- sapply(0:4, one, list(iterations = 300))
full <- catboost.load_pool(x, label = y)
m <- catboost.train(full, params = list(loss_function = "Logloss", iterations = round(mean(runs["rounds", ]))))
# 5 search for parameters
draw <- function() list(iterations = 100, learning_rate = exp(runif(1, log(0.02), log(0.3))),
                        depth = sample(3:10, 1), l2_leaf_reg = exp(runif(1, log(0.1), log(30))))
tries <- lapply(1:5, function(i) draw())
runs <- lapply(tries, function(p) sapply(0:4, one, p))
best <- which.min(sapply(runs, function(r) mean(r["loss", ])))
tries[[best]]$iterations <- round(mean(runs[[best]]["rounds", ]))
m <- catboost.train(full, params = c(list(loss_function = "Logloss"), tries[[best]]))
# 6 AUC on new rows with a 95 % interval, and by group
p <- catboost.predict(m, pool, prediction_type = "Probability")
area <- function(i) roc_auc_vec(new$late[i], p[i], event_level = "second")
draws <- function(rows) quantile(replicate(1000, area(sample(rows, replace = TRUE))), c(0.025, 0.975))
draws(seq_along(p))
tapply(seq_along(p), new$origin, function(rows) c(area(rows), draws(rows)))
# 7 plot of importance
barplot(sort(catboost.get_feature_importance(m, full)[, 1]), horiz = TRUE, las = 1)
# 8 partial dependence with single rows' curves
library(pdp)
score <- function(object, newdata) catboost.predict(object, catboost.load_pool(newdata))
curves <- partial(m, "sched_dep_time", train = new[names(x)], ice = TRUE, type = "regression", pred.fun = score)
plotPartial(curves)
# 9 summary of SHAP values
library(shapviz)
v <- catboost.get_feature_importance(m, pool, type = "ShapValues")
s <- shapviz(`colnames<-`(v[, -ncol(v)], names(x)), X = new[names(x)], baseline = v[1, ncol(v)])
sv_importance(s, kind = "beeswarm")
# 10 waterfall of one row
sv_waterfall(s, row_id = 1)
# 11 which pairs of columns interact
library(hstats)
plot(hstats(m, X = new[names(x)], pred_fun = score))
# 12 calibrated probabilities
c <- glm(new$late ~ qlogis(p), family = binomial)
predict(c, type = "response")
# 13 prediction intervals of a number
three <- c("sched_dep_time", "carrier", "origin")
r <- catboost.train(catboost.load_pool(d[three], label = d$distance), params = list(iterations = 50))
predicted <- catboost.predict(r, catboost.load_pool(new[three]))
half <- sort(abs(new$distance - predicted))[ceiling((nrow(new) + 1) * 0.9)]
outer(predicted, c(-half, half), "+")
# 14 counts with an exposure
counts <- read.csv("counts.csv", stringsAsFactors = TRUE)
data <- catboost.load_pool(counts[c("carrier", "hour")], label = counts$n_late, baseline = matrix(log(counts$n)))
m <- catboost.train(data, params = list(loss_function = "Poisson", iterations = 100))
catboost.predict(m, catboost.load_pool(counts[c("carrier", "hour")]), prediction_type = "Exponent")
# 15 how many new rows have levels that training has not seen
sapply(names(x)[sapply(x, is.factor)], function(v) sum(!new[[v]] %in% levels(x[[v]])))
# 16 train on files that do not fit into memory: not offered
# 17 save, and predict in another session
m <- catboost.train(full, params = list(loss_function = "Logloss", iterations = 100))
catboost.save_model(m, "late.cbm")
catboost.predict(catboost.load_model("late.cbm"), pool)
# 18 train in the background, watch, and cancel with the finished rounds kept: no way to keep them
job <- callr::r_bg(function(x, y) catboost::catboost.train(catboost::catboost.load_pool(x, label = y)), list(x, y))
job$is_alive()
job$kill()
# 19 balance classes
m <- catboost.train(full, params = list(loss_function = "Logloss", iterations = 100, auto_class_weights = "Balanced"))
# 20 a report of a model on new data: no way but one of your own
