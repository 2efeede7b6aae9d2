# What drawing rows gives: test loss and seconds of uniform draws, GOSS and MVS at several shares of the rows beside all
# rows, with the same parameters.
#
#   Rscript bench/sampling.R [--sets higgs_sample,freMTPL2,made] [--shares 0.1,0.3,0.5] [--rounds 200] [--seeds 3]
#                            [--made-rows 2000000] [--threads 2] [--out FOLDER]
#
# eta 0.1, depth 6, all else as by default. GOSS takes two thirds of the share for large gradients and one third from
# the other rows (the ratio of its authors' 0.2 and 0.1). `made` is that of data.R with as many rows as asked for.
# Losses are means over the seeds (all rows: one training), `diff` is the loss less that of all rows as a share of what
# all rows gain on the constant, in percent: 0 is as good, below 0 better. Seconds are medians over the seeds of whole
# trainings from prepared data. The ways take turns. Writes sampling.csv and sampling.md.
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)[1]))
source(file.path(here, "common.R"))
source(file.path(here, "data.R"))
root <- bench_root()
names_of <- function(name, default) strsplit(arg_of(name, default), ",", fixed = TRUE)[[1]]
shares <- as.numeric(names_of("shares", "0.1,0.3,0.5"))
rounds <- as.integer(arg_of("rounds", "200"))
seeds <- seq_len(as.integer(arg_of("seeds", "3")))
threads <- as.integer(arg_of("threads", "2"))
made_rows <- as.numeric(arg_of("made-rows", "2000000"))
folder <- arg_of("out", file.path(root, "bench", "results"))
library(gbt)

# list(task, train, test): gbt_data, and list(x, y, offset).
load_set <- function(name) {
  if (name == "made") {
    block <- made_block(made_rows, 1)
    test <- made_block(5e5, 2)
    return(list(task = "binary", train = gbt_data(block$x, label = block$y, threads = threads),
                test = list(x = test$x, y = test$y, offset = NULL)))
  }
  set <- sets[[name]](data_folder(root))
  at <- set$test
  list(task = set$task,
       train = gbt_data(set$x[!at, , drop = FALSE], label = set$y[!at], offset = set$offset[!at], threads = threads),
       test = list(x = set$x[at, , drop = FALSE], y = set$y[at], offset = set$offset[at]))
}

objective_of <- c(binary = "logistic", regression = "squared_error", poisson = "poisson")

loss_of <- function(task, model, test) {
  score <- predict(model, test$x, type = "link", offset = test$offset, threads = threads)
  metric_of(task, row_loss(task, score, test$y))
}

ways <- c(list(list(method = "all", share = 1, args = list())), unlist(lapply(shares, function(s) {
  list(list(method = "uniform", share = s, args = list(subsample = s)),
       list(method = "goss", share = s,
            args = list(sampling_method = "goss", top_rate = s * 2 / 3, other_rate = s / 3)),
       list(method = "mvs", share = s, args = list(sampling_method = "mvs", subsample = s)))
}), recursive = FALSE))

measure <- function(name) {
  set <- load_set(name)
  train <- function(nrounds, seed, args) {
    do.call(gbt_train, c(list(set$train, objective = objective_of[[set$task]], nrounds = nrounds, eta = 0.1,
                              grow_policy = "depthwise", max_depth = 6, seed = seed, threads = threads), args))
  }
  none <- train(1, 1, list(lambda = 1e9)) # the constant
  constant <- loss_of(set$task, none, set$test)
  rows <- list()
  for (seed in seeds) {
    for (way in ways) {
      gc()
      seconds <- system.time(model <- train(rounds, seed, way$args))[["elapsed"]]
      loss <- loss_of(set$task, model, set$test)
      message(sprintf("%s %s %g: %.5f, %.2f s", name, way$method, way$share, loss, seconds))
      rows[[length(rows) + 1L]] <- data.frame(set = name, method = way$method, share = way$share, seed = seed,
                                              loss = loss, seconds = seconds)
    }
  }
  rows <- do.call(rbind, rows)
  all <- rows[rows$method == "all", ]
  out <- do.call(rbind, lapply(ways, function(way) {
    its <- rows[rows$method == way$method & rows$share == way$share, ]
    data.frame(set = name, rows = set$train$n_rows, method = way$method, share = way$share, loss = mean(its$loss),
               sd = stats::sd(its$loss), diff = 100 * (mean(its$loss) - mean(all$loss)) / (constant - mean(all$loss)),
               seconds = stats::median(its$seconds), times = stats::median(all$seconds) / stats::median(its$seconds))
  }))
  out
}

result <- do.call(rbind, lapply(names_of("sets", "higgs_sample,freMTPL2,made"), measure))
utils::write.csv(result, file.path(folder, "sampling.csv"), row.names = FALSE)
lines <- c(
  "# Drawing rows", "",
  sprintf("`Rscript bench/sampling.R`, %s, %d threads, %d rounds, %d seeds; see the script for what is measured.",
          format(Sys.Date()), threads, rounds, length(seeds)), "",
  "| set | rows | method | share | test loss | sd | diff % | seconds | times as fast |",
  "|---|---|---|---|---|---|---|---|---|",
  with(result, sprintf("| %s | %.0f | %s | %g | %.5f | %.5f | %.2f | %.2f | %.2f |", set, rows, method, share, loss,
                       ifelse(is.na(sd), 0, sd), diff, seconds, times))
)
writeLines(lines, file.path(folder, "sampling.md"))
cat(lines, sep = "\n")
