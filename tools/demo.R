# The part of tools/demo that runs in R: Rscript tools/demo.R FOLDER
folder <- normalizePath(commandArgs(trailingOnly = TRUE)[1])
library(gbt)

auc <- function(score, positive) { # the chance that a late flight is ranked above one in time; ties count half
  r <- rank(score)
  n1 <- sum(positive)
  (sum(r[positive]) - n1 * (n1 + 1) / 2) / (n1 * sum(!positive))
}
logloss <- function(p, positive) -mean(log(ifelse(positive, p, 1 - p)))
line <- function(...) cat(sprintf(...), "\n", sep = "")

# Whole days are held out, for flights of one day share its weather: of every five days of the year one is for testing,
# one for early stopping.
part <- c("test", "valid", "train", "train", "train")[as.integer(format(flights$date, "%j")) %% 5 + 1]
columns <- setdiff(names(flights), "late")
train <- flights[part == "train", ]
valid <- flights[part == "valid", ]
test <- flights[part == "test", ]
line("flights: %d to train on, %d to stop by, %d to test on (other days), %d columns as they are: %s",
     nrow(train), nrow(valid), nrow(test), length(columns),
     paste(unique(vapply(flights[columns], function(x) class(x)[1], "")), collapse = ", "))

begin <- proc.time()[["elapsed"]]
model <- gbt_train(late ~ ., data = train, valid = list(x = valid[columns], y = valid$late),
                   nrounds = 1000, eta = 0.05, max_depth = 6, early_stopping_rounds = 50, seed = 1)
train_s <- proc.time()[["elapsed"]] - begin
rounds <- nrow(model$evaluation_log)
line("trained: %d rounds in %.2f s (%s rows x rounds a second), the best is round %d",
     rounds, train_s, format(round(nrow(train) * rounds / train_s), big.mark = ","), model$best_round)

many <- test[rep_len(seq_len(nrow(test)), 200000), ]
begin <- proc.time()[["elapsed"]]
invisible(predict(model, many))
predict_s <- proc.time()[["elapsed"]] - begin
line("predicts: %s rows a second", format(round(nrow(many) / max(predict_s, 1e-3)), big.mark = ","))

p <- predict(model, test, type = "prob")[, "yes"]
late <- test$late == "yes"
share <- mean(train$late == "yes")
cat("\non the days held out      model   always the share of late flights\n")
line("  AUC                  %8.4f  %8.4f", auc(p, late), 0.5)
line("  logloss              %8.4f  %8.4f", logloss(p, late), logloss(rep(share, length(late)), late))
q <- quantile(p, c(0.1, 0.9))
line("  of the tenth that looks safest %.0f %% are late, of the tenth that looks worst %.0f %%",
     100 * mean(late[p <= q[1]]), 100 * mean(late[p >= q[2]]))

importance <- gbt_importance(model)
cat("\nthe most important features (share of the gain)\n")
top <- utils::head(as.data.frame(importance), 8)
for (i in seq_len(nrow(top))) {
  line("  %-16s %5.1f %%  %s", top$feature[i], 100 * top$gain[i], strrep("#", round(50 * top$gain[i])))
}

plot_file <- file.path(folder, "demo-importance.png")
grDevices::png(plot_file, width = 900, height = 500, res = 110, type = "cairo")
plot(importance, main = "What tells whether a flight will be late")
invisible(grDevices::dev.off())

model_file <- file.path(folder, "demo-model.gbt")
gbt_save(model, model_file)
again <- gbt_load(model_file)
same <- identical(predict(again, test), predict(model, test)) && identical(again$state, model$state)
cat("\n")
line("plot:   %s", plot_file)
line("model:  %s (%.2f MB)", model_file, file.size(model_file) / 1e6)
line("reloaded: predictions for %d flights are %s", nrow(test), if (same) "identical" else "NOT THE SAME")
if (!same) quit(status = 1)
