library(lightgbm) # 4.x
library(yardstick)
# 1 read a table with factors and dates, and train a classifier
d <- read.csv("flights.csv", stringsAsFactors = TRUE)
y <- as.numeric(d$late) - 1
names_of <- setdiff(names(d), "late")
rules <- lgb.convert_with_rules(d[names_of])
factors <- names_of[sapply(d[names_of], is.factor)]
make <- function(rows = seq_len(nrow(d)), ...) {
  lgb.Dataset(data.matrix(rules$data[rows, ]), label = y[rows], categorical_feature = factors, ...)
}
m <- lgb.train(list(objective = "binary"), make(), 100)
# 2 predict classes and probabilities of new rows
new <- read.csv("new.csv", stringsAsFactors = TRUE)
coded <- data.matrix(lgb.convert_with_rules(new[names_of], rules = rules$rules)$data)
p <- predict(m, coded)
k <- factor(ifelse(p > 0.5, "yes", "no"))
# 3 stop early on a fifth of the rows
held <- sample(nrow(d), nrow(d) / 5)
train <- make(-held)
valid <- lgb.Dataset.create.valid(train, data.matrix(rules$data[held, ]), label = y[held])
m <- lgb.train(list(objective = "binary"), train, 1000, valids = list(valid = valid), early_stopping_rounds = 30)
# 4 cross-validate, groups of rows kept together, and train the chosen rounds on all rows
fold <- as.integer(factor(d$date)) %% 5
folds <- lapply(0:4, function(i) which(fold == i))
cv <- lgb.cv(list(objective = "binary"), make(), 300, folds = folds, early_stopping_rounds = 30, verbose = -1)
m <- lgb.train(list(objective = "binary"), make(), cv$best_iter)
# 5 search for parameters
draw <- function() list(objective = "binary", learning_rate = exp(runif(1, log(0.02), log(0.3))),
                        num_leaves = sample(8:256, 1), lambda_l2 = exp(runif(1, log(0.1), log(30))))
tries <- lapply(1:5, function(i) draw())
runs <- lapply(tries, function(p) lgb.cv(p, make(), 100, folds = folds, early_stopping_rounds = 10, verbose = -1))
best <- which.min(sapply(runs, function(r) r$best_score))
m <- lgb.train(tries[[best]], make(), runs[[best]]$best_iter)
# 6 AUC on new rows with a 95 % interval, and by group
p <- predict(m, coded)
area <- function(i) roc_auc_vec(new$late[i], p[i], event_level = "second")
draws <- function(rows) quantile(replicate(1000, area(sample(rows, replace = TRUE))), c(0.025, 0.975))
draws(seq_along(p))
tapply(seq_along(p), new$origin, function(rows) c(area(rows), draws(rows)))
# 7 plot of importance
lgb.plot.importance(lgb.importance(m))
# 8 partial dependence with single rows' curves
library(pdp)
curves <- partial(m, "sched_dep_time", train = coded, ice = TRUE, type = "regression",
                  pred.fun = function(object, newdata) predict(object, data.matrix(newdata)))
plotPartial(curves)
# 9 summary of SHAP values
library(shapviz)
s <- shapviz(m, X_pred = coded, X = new[names_of])
sv_importance(s, kind = "beeswarm")
# 10 waterfall of one row
sv_waterfall(s, row_id = 1)
# 11 which pairs of columns interact
library(hstats)
plot(hstats(m, X = coded, pred_fun = function(m, X) predict(m, X)))
# 12 calibrated probabilities
c <- glm(new$late ~ qlogis(p), family = binomial)
predict(c, type = "response")
# 13 prediction intervals of a number
three <- c("sched_dep_time", "carrier", "origin")
data <- lgb.Dataset(data.matrix(rules$data[three]), label = d$distance, categorical_feature = three[2:3])
r <- lgb.train(list(objective = "regression"), data, 50)
error <- abs(new$distance - predict(r, coded[, three]))
half <- sort(error)[ceiling((length(error) + 1) * 0.9)]
outer(predict(r, coded[, three]), c(-half, half), "+")
# 14 counts with an exposure
counts <- read.csv("counts.csv", stringsAsFactors = TRUE)
x <- data.matrix(lgb.convert_with_rules(counts[c("carrier", "hour")])$data)
data <- lgb.Dataset(x, label = counts$n_late, init_score = log(counts$n), categorical_feature = "carrier")
m <- lgb.train(list(objective = "poisson"), data, 100)
exp(predict(m, x, type = "raw")) # init_score is not part of predictions
# 15 how many new rows have levels that training has not seen
sapply(factors, function(v) sum(!new[[v]] %in% levels(d[[v]])))
# 16 train on files that do not fit into memory: text files of numbers alone, joined and coded by you
write.table(data.matrix(cbind(y, rules$data)), "all.csv", sep = ",", row.names = FALSE, col.names = FALSE)
data <- lgb.Dataset("all.csv", params = list(two_round = TRUE, label_column = 0))
m <- lgb.train(list(objective = "binary"), data, 100)
# 17 save, and predict in another session
m <- lgb.train(list(objective = "binary"), make(), 100)
lgb.save(m, "late.txt")
saveRDS(rules$rules, "rules.rds")
coded <- data.matrix(lgb.convert_with_rules(new[names_of], rules = readRDS("rules.rds"))$data)
predict(lgb.load("late.txt"), coded)
# 18 train in the background, watch, and cancel with the finished rounds kept: no way to keep them
job <- callr::r_bg(function(x, y) lightgbm::lightgbm(x, y, nrounds = 5000, objective = "binary"), list(coded, y))
job$is_alive()
job$kill()
# 19 balance classes
m <- lgb.train(list(objective = "binary", is_unbalance = TRUE), make(), 100)
# 20 a report of a model on new data: no way but one of your own
