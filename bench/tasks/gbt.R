library(gbt)
# 1 read a table with factors and dates, and train a classifier
d <- read.csv("flights.csv", stringsAsFactors = TRUE)
m <- gbt_train(late ~ ., d, nrounds = 100)
# 2 predict classes and probabilities of new rows
new <- read.csv("new.csv", stringsAsFactors = TRUE)
p <- predict(m, new, type = "prob")
k <- predict(m, new, type = "class")
# 3 stop early on a fifth of the rows
m <- gbt_train(late ~ ., d, nrounds = 1000, valid = 0.2, early_stopping_rounds = 30)
# 4 cross-validate, groups of rows kept together, and train the chosen rounds on all rows
cv <- gbt_cv(late ~ . - date, d, nrounds = 300, early_stopping_rounds = 30, group = d$date)
m <- gbt_refit(cv)
# 5 search for parameters
t <- gbt_tune(late ~ . - date, d, configs = 5, nrounds = 100, early_stopping_rounds = 10)
m <- gbt_refit(t)
# 6 AUC on new rows with a 95 % interval, and by group
gbt_evaluate(m, new, metrics = "auc", intervals = 0.95)
gbt_evaluate(m, new, metrics = "auc", intervals = 0.95, by = "origin")
# 7 plot of importance
plot(gbt_importance(m))
# 8 partial dependence with single rows' curves
plot(gbt_partial(m, new, "sched_dep_time", ice = TRUE))
# 9 summary of SHAP values
plot(gbt_shap(m, new))
# 10 waterfall of one row
plot(gbt_shap(m, new), row = 1)
# 11 which pairs of columns interact
gbt_interactions(m, new, top = 3)
# 12 calibrated probabilities
c <- gbt_calibrate(m, new)
predict(c, new)
# 13 prediction intervals of a number
m <- gbt_train(distance ~ sched_dep_time + carrier + origin, d, nrounds = 50)
predict(gbt_conformal(m, new), new, level = 0.9)
# 14 counts with an exposure
counts <- read.csv("counts.csv", stringsAsFactors = TRUE)
m <- gbt_train(n_late ~ carrier + hour + offset(log(n)), counts, objective = "poisson", nrounds = 100)
predict(m, transform(counts, n = 1))
# 15 how many new rows have levels that training has not seen
m <- gbt_train(late ~ ., d, nrounds = 100)
gbt_unseen(m, new)
# 16 train on files that do not fit into memory
big <- gbt_data(gbt_files(c("part1.csv", "part2.csv"), label = "late"), path = "bins", memory = "1 GB")
m <- gbt_train(big, nrounds = 100)
# 17 save, and predict in another session
m <- gbt_train(late ~ ., d, nrounds = 100)
gbt_save(m, "late.gbt")
predict(gbt_load("late.gbt"), new)
# 18 train in the background, watch, and cancel with the finished rounds kept
job <- gbt_job(late ~ ., d, nrounds = 5000)
gbt_job_status(job)
m <- gbt_job_cancel(job)
# 19 balance classes
m <- gbt_train(late ~ ., d, nrounds = 100, class_weights = "balanced")
# 20 a report of a model on new data
gbt_report(m, new, "report.html", by = "origin")
