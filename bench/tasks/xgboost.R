library(xgboost) # 3.x
library(yardstick)
# 1 read a table with factors and dates, and train a classifier
d <- read.csv("flights.csv", stringsAsFactors = TRUE)
y <- d$late
d$late <- NULL
m <- xgboost(d, y, nrounds = 100)
# 2 predict classes and probabilities of new rows
new <- read.csv("new.csv", stringsAsFactors = TRUE)
for (v in names(d)[sapply(d, is.factor)]) new[[v]] <- factor(new[[v]], levels(d[[v]]))
p <- predict(m, new[names(d)], type = "response")
k <- predict(m, new[names(d)], type = "class")
# 3 stop early on a fifth of the rows
m <- xgboost(d, y, nrounds = 1000, eval_set = 0.2, early_stopping_rounds = 30)
# 4 cross-validate, groups of rows kept together, and train the chosen rounds on all rows
x <- xgb.DMatrix(d[names(d) != "date"], label = as.numeric(y) - 1)
fold <- as.integer(factor(d$date)) %% 5
folds <- lapply(0:4, function(i) which(fold == i))
cv <- xgb.cv(list(objective = "binary:logistic"), x, 300, folds = folds, early_stopping_rounds = 30, verbose = FALSE)
m <- xgb.train(list(objective = "binary:logistic"), x, cv$early_stop$best_iteration)
# 5 search for parameters
draw <- function() list(objective = "binary:logistic", eta = exp(runif(1, log(0.02), log(0.3))),
                        max_depth = sample(3:10, 1), lambda = exp(runif(1, log(0.1), log(30))))
tries <- lapply(1:5, function(i) draw())
runs <- lapply(tries, function(p) xgb.cv(p, x, 100, folds = folds, early_stopping_rounds = 10, verbose = FALSE))
best <- which.min(sapply(runs, function(r) min(r$evaluation_log$test_logloss_mean)))
m <- xgb.train(tries[[best]], x, runs[[best]]$early_stop$best_iteration)
# 6 AUC on new rows with a 95 % interval, and by group
p <- predict(m, xgb.DMatrix(new[setdiff(names(d), "date")]))
area <- function(i) roc_auc_vec(new$late[i], p[i], event_level = "second")
draws <- function(rows) quantile(replicate(1000, area(sample(rows, replace = TRUE))), c(0.025, 0.975))
draws(seq_along(p))
tapply(seq_along(p), new$origin, function(rows) c(area(rows), draws(rows)))
# 7 plot of importance
xgb.plot.importance(xgb.importance(model = m))
# 8 partial dependence with single rows' curves
library(pdp)
curves <- partial(m, "sched_dep_time", train = new[setdiff(names(d), "date")], ice = TRUE, type = "regression")
plotPartial(curves)
# 9 summary of SHAP values
library(shapviz)
s <- shapviz(m, X_pred = data.matrix(new[setdiff(names(d), "date")]), X = new[setdiff(names(d), "date")])
sv_importance(s, kind = "beeswarm")
# 10 waterfall of one row
sv_waterfall(s, row_id = 1)
# 11 which pairs of columns interact
library(hstats)
plot(hstats(m, X = new[setdiff(names(d), "date")], pred_fun = function(m, X) predict(m, xgb.DMatrix(X))))
# 12 calibrated probabilities
c <- glm(new$late ~ qlogis(p), family = binomial)
predict(c, type = "response")
# 13 prediction intervals of a number
r <- xgboost(d[c("sched_dep_time", "carrier", "origin")], d$distance, nrounds = 50)
error <- abs(new$distance - predict(r, new[c("sched_dep_time", "carrier", "origin")]))
half <- sort(error)[ceiling((length(error) + 1) * 0.9)]
outer(predict(r, new[c("sched_dep_time", "carrier", "origin")]), c(-half, half), "+")
# 14 counts with an exposure
counts <- read.csv("counts.csv", stringsAsFactors = TRUE)
m <- xgboost(counts[c("carrier", "hour")], counts$n_late, objective = "count:poisson", base_margin = log(counts$n),
             nrounds = 100)
predict(m, counts[c("carrier", "hour")], base_margin = numeric(nrow(counts)))
# 15 how many new rows have levels that training has not seen
raw <- read.csv("new.csv", stringsAsFactors = TRUE)
sapply(names(d)[sapply(d, is.factor)], function(v) sum(!raw[[v]] %in% levels(d[[v]])))
# 16 train on files that do not fit into memory
levels_of <- lapply(d[sapply(d, is.factor)], levels) # of all files, found by a pass of your own
files <- c("part1.csv", "part2.csv")
at <- new.env()
iterate <- xgb.DataIter(
  env = at,
  f_next = function(env) {
    if (env$i >= length(files)) return(NULL)
    env$i <- env$i + 1
    part <- read.csv(files[env$i], stringsAsFactors = TRUE)
    for (v in names(levels_of)) part[[v]] <- factor(part[[v]], levels_of[[v]])
    xgb.DataBatch(part[names(part) != "late"], label = as.numeric(part$late == "yes"))
  },
  f_reset = function(env) env$i <- 0)
at$i <- 0
m <- xgb.train(list(objective = "binary:logistic"), xgb.ExtMemDMatrix(iterate, cache_prefix = "cache"), 100)
# 17 save, and predict in another session
m <- xgboost(d, y, nrounds = 100)
xgb.save(m, "late.ubj")
saveRDS(levels_of, "levels.rds")
levels_of <- readRDS("levels.rds")
for (v in names(levels_of)) new[[v]] <- factor(new[[v]], levels_of[[v]])
predict(xgb.load("late.ubj"), xgb.DMatrix(new[names(d)]))
# 18 train in the background, watch, and cancel with the finished rounds kept: no way to keep them
job <- callr::r_bg(function(d, y) xgboost::xgboost(d, y, nrounds = 5000), list(d, y))
job$is_alive()
job$kill()
# 19 balance classes
m <- xgboost(d, y, nrounds = 100, weights = ifelse(y == "yes", sum(y == "no") / sum(y == "yes"), 1))
# 20 a report of a model on new data: no way but one of your own
