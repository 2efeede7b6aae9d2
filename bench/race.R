# What the race of shapes of trees costs, and what it chooses: default trainings on sets of defaults-table.R, as
# defaults-gbt.R makes them, with the processor time of the race taken apart. Prints a table.
#
#   Rscript bench/race.R [--sets higgs,shuttle] [--times 3] [--rounds 2000] [--patience 50]
#
# Processor time of one thread, of the race against all else that gbt_train() does; medians of several times. Sets are
# written by bench/defaults.R, which must have run for them.
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)[1]))
Sys.setenv(TZ = "UTC")
source(file.path(here, "common.R"))
source(file.path(here, "data.R"))
source(file.path(here, "categorical-sets.R"))
source(file.path(here, "defaults-table.R"))
source(file.path(here, "defaults-made.R"))
source(file.path(here, "defaults-sets.R"))
library(gbt)

usual <- c("wages_1988", "more_children", "lapses", "made_rare", "vocabulary", "flight_delay", "made_levels", "shuttle",
           "humidity", "higgs", "california", "diamonds", "rain_later", "letor", "adult", "rain", "flight_late",
           "turbine", "protein", "used_cars")
sets <- strsplit(arg_of("sets", paste(usual, collapse = ",")), ",")[[1]]
objectives <- c(regression = "squared_error", binary = "logistic", multiclass = "softmax")
processor <- function() sum(proc.time()[c("user.self", "sys.self")])

# shape_of_race() with a clock around it.
spent <- 0
space <- asNamespace("gbt")
own <- space$shape_of_race
unlockBinding("shape_of_race", space)
assign("shape_of_race", function(fit, task, by_valid) {
  begin <- processor()
  on.exit(spent <<- processor() - begin)
  own(fit, task, by_valid)
}, space)

time_of <- function(train) {
  spent <<- 0
  begin <- processor()
  model <- suppressMessages(train())
  list(model = model, rest = processor() - begin - spent, race = spent)
}

cost <- function(name) {
  folder <- defaults_folder(name)
  set <- readRDS(file.path(folder, "set.rds"))
  part <- read_split(folder, 1L)
  rows <- function(at) list(x = set$x[at, , drop = FALSE], y = set$y[at])
  train <- rows(part == 0L)
  seen <- lapply(seq_len(as.integer(arg_of("times", "3"))), function(i) time_of(function() {
    gbt_train(train$x, train$y, objective = objectives[[set$task]], nrounds = as.integer(arg_of("rounds", "2000")),
              valid = rows(part == 1L), early_stopping_rounds = as.integer(arg_of("patience", "50")), seed = 1,
              threads = 1, device = "cpu")
  }))
  median_of <- function(field) stats::median(vapply(seen, `[[`, 0, field))
  model <- seen[[1L]]$model
  race <- model$race
  cat(sprintf("| %s | %d | %s | %d | %.2f | %.3f | %.0f %% | %s | %s |\n", name, length(train$y), set$task,
              model$nrounds, median_of("rest"), median_of("race"), 100 * median_of("race") / median_of("rest"),
              if (is.null(race)) "" else paste(race$rounds, collapse = ", "),
              if (is.null(race)) "no race" else race$shape[race$chosen]))
}

cat("| set | training rows | task | rounds | training, s | race, s | race of training | rounds of shapes | chosen |\n")
cat("| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n")
for (name in sets) cost(name)
