# Held-out loss of gbt's objectives compared with XGBoost's and LightGBM's, on real data.
#
#   Rscript bench/objectives.R DATA PYTHON [NAME ...] > bench/results/objectives.md
#
# NAME: these objectives only.
# DATA: a folder with freMTPL2.rds, diamonds.rds, weatherAUS.rds and california_housing.csv.gz (bench/README.md says
# where they are from). PYTHON: one with xgboost, lightgbm and numpy. Every engine gets the same matrix of numbers
# (factors as codes), rows and parameters: 200 rounds, learning rate 0.1, depth 6, L2 penalty 1, least hessian 1. The
# loss is computed here, from the predictions of each engine, on the held-out third of the rows, for three draws of it.
library(gbt)
args <- commandArgs(TRUE)
data_dir <- args[1]
python <- args[2]
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))

numbers <- function(d) {
  out <- vapply(d, function(v) as.double(if (is.factor(v)) as.integer(v) else v), double(nrow(d)))
  colnames(out) <- names(d)
  out
}
read <- function(name) readRDS(file.path(data_dir, paste0(name, ".rds")))

claims <- read("freMTPL2")
claims_x <- numbers(claims[c("Area", "VehPower", "VehAge", "DrivAge", "BonusMalus", "VehBrand", "VehGas", "Density",
                             "Region", "Exposure")])
diamonds <- read("diamonds")
diamonds_x <- numbers(diamonds[setdiff(names(diamonds), "price")])
weather <- subset(read("weatherAUS"), !is.na(Humidity3pm))
houses <- read.csv(gzfile(file.path(data_dir, "california_housing.csv.gz")))
houses_y <- houses$medianHouseValue / 1e5
some <- seq(1, nrow(claims), by = 4)

robust <- function(rho) function(p, y) mean(rho(p - y))
# name = list(x, y, parameters, loss of predictions p, what the peers call it)
jobs <- list(
  gamma = list(what = "prices of diamonds", x = diamonds_x,
               y = as.double(diamonds$price), loss = function(p, y) mean(y / p + log(p)),
               xgboost = list(objective = "reg:gamma"), lightgbm = list(objective = "gamma")),
  tweedie = list(what = "claim amounts up to 200,000, power 1.5", x = claims_x[some, ],
                 y = pmin(claims$ClaimAmount[some], 2e5) / 100,
                 args = list(tweedie_variance_power = 1.5), loss = function(p, y) mean(2 * sqrt(p) + 2 * y / sqrt(p)),
                 xgboost = list(objective = "reg:tweedie", tweedie_variance_power = 1.5),
                 lightgbm = list(objective = "tweedie", tweedie_variance_power = 1.5)),
  huber = list(what = "house values, delta 0.5", x = numbers(houses[setdiff(names(houses), "medianHouseValue")]),
               y = houses_y, args = list(huber_delta = 0.5),
               loss = robust(function(r) ifelse(abs(r) <= 0.5, r^2 / 2, 0.5 * (abs(r) - 0.25))),
               lightgbm = list(objective = "huber", alpha = 0.5)),
  pseudo_huber = list(what = "house values, delta 0.5", x = numbers(houses[setdiff(names(houses), "medianHouseValue")]),
                      y = houses_y, args = list(huber_delta = 0.5),
                      loss = robust(function(r) 0.25 * (sqrt(1 + (r / 0.5)^2) - 1)),
                      xgboost = list(objective = "reg:pseudohubererror", huber_slope = 0.5)),
  expectile = list(what = "house values, level 0.8", x = numbers(houses[setdiff(names(houses), "medianHouseValue")]),
                   y = houses_y, args = list(expectile_alpha = 0.8),
                   loss = function(p, y) mean(ifelse(p < y, 0.8, 0.2) * (p - y)^2),
                   xgboost = list(own = "expectile", level = 0.8), lightgbm = list(own = "expectile", level = 0.8)),
  log_cosh = list(what = "house values", x = numbers(houses[setdiff(names(houses), "medianHouseValue")]), y = houses_y,
                  loss = robust(function(r) abs(r) + log1p(exp(-2 * abs(r))) - log(2)),
                  xgboost = list(own = "log_cosh"), lightgbm = list(own = "log_cosh")),
  quantile = list(what = "house values, level 0.9", x = numbers(houses[setdiff(names(houses), "medianHouseValue")]),
                  y = houses_y, args = list(quantile_alpha = 0.9),
                  loss = function(p, y) mean(ifelse(p < y, 0.9, -0.1) * (y - p)),
                  xgboost = list(objective = "reg:quantileerror", quantile_alpha = 0.9),
                  lightgbm = list(objective = "quantile", alpha = 0.9)),
  absolute_error = list(what = "house values", x = numbers(houses[setdiff(names(houses), "medianHouseValue")]),
                        y = houses_y, loss = robust(abs),
                        xgboost = list(objective = "reg:absoluteerror"), lightgbm = list(objective = "regression_l1")),
  mape = list(what = "prices of diamonds", x = diamonds_x, y = as.double(diamonds$price),
              loss = function(p, y) mean(abs(p - y) / pmax(1, abs(y))), lightgbm = list(objective = "mape")),
  negative_binomial = list(what = "numbers of claims, dispersion 1", x = claims_x[some, ],
                           y = as.double(claims$ClaimNb[some]), args = list(dispersion = 1),
                           loss = function(p, y) mean((1 + y) * log(1 + p) - y * log(p)),
                           xgboost = list(own = "negative_binomial", level = 1),
                           lightgbm = list(own = "negative_binomial", level = 1)),
  squared_log_error = list(what = "prices of diamonds in 1,000", x = diamonds_x,
                           y = diamonds$price / 1000,
                           loss = function(p, y) mean((log1p(p) - log1p(y))^2),
                           xgboost = list(objective = "reg:squaredlogerror")),
  cross_entropy = list(what = "relative humidity", x = numbers(weather[c("Location", "MinTemp", "MaxTemp", "Rainfall",
                                                                         "WindGustSpeed", "Humidity9am", "Pressure9am",
                                                                         "Temp9am", "RainToday")]),
                       y = weather$Humidity3pm / 100, loss = function(p, y) -mean(y * log(p) + (1 - y) * log(1 - p)),
                       xgboost = list(objective = "reg:logistic"), lightgbm = list(objective = "cross_entropy"))
)

# Predictions of a peer for the held-out rows: by files, so that both sides read the same bytes.
peer <- function(engine, how, x, y, new) {
  dir <- tempfile("objective")
  dir.create(dir)
  on.exit(unlink(dir, recursive = TRUE))
  writeBin(as.vector(x), file.path(dir, "x"))
  writeBin(y, file.path(dir, "y"))
  writeBin(as.vector(new), file.path(dir, "new"))
  setting <- paste(names(how), vapply(how, format, "", digits = 15), sep = "=")
  status <- system2(python, c(file.path(here, "objectives.py"), engine, dir, ncol(x), setting))
  if (status != 0) stop(engine, " failed")
  readBin(file.path(dir, "p"), "double", nrow(new))
}

one <- function(name, job, draw) {
  set.seed(draw)
  held <- sample(nrow(job$x), nrow(job$x) %/% 3)
  x <- job$x[-held, ]
  y <- job$y[-held]
  m <- do.call(gbt_train, c(list(x, y, objective = name, nrounds = 200, eta = 0.1, grow_policy = "depthwise",
                                 max_depth = 6, lambda = 1, min_child_weight = 1, threads = 2, device = "cpu"),
                            job$args))
  out <- c(gbt = job$loss(predict(m, job$x[held, ]), job$y[held]), xgboost = NA, lightgbm = NA)
  for (engine in intersect(c("xgboost", "lightgbm"), names(job))) {
    out[[engine]] <- job$loss(peer(engine, job[[engine]], x, y, job$x[held, ]), job$y[held])
  }
  out
}

import <- "import xgboost, lightgbm; print(xgboost.__version__, lightgbm.__version__)"
version <- system2(python, c("-c", shQuote(import)), stdout = TRUE)
cat("# Objectives beside those of other packages\n\n")
cat("Held-out loss, mean of three draws of a third of the rows, in brackets the largest difference between draws.\n")
cat(sprintf("%s, gbt %s, XGBoost and LightGBM %s. `Rscript bench/objectives.R` writes this page.\n\n", Sys.Date(),
            utils::packageVersion("gbt"), sub(" ", " and ", version)))
cat("| objective | data | rows | gbt | XGBoost | LightGBM | gbt / best |\n|---|---|---|---|---|---|---|\n")
for (name in if (length(args) > 2) args[-(1:2)] else names(jobs)) {
  job <- jobs[[name]]
  loss <- vapply(1:3, function(draw) one(name, job, draw), double(3))
  shown <- apply(loss, 1, function(l) {
    if (anyNA(l)) "" else sprintf("%.5f (%.5f)", mean(l), max(l) - min(l))
  })
  best <- min(rowMeans(loss[-1, , drop = FALSE]), na.rm = TRUE)
  cat(sprintf("| %s | %s | %d | %s | %s | %s | %.4f |\n", name, job$what, nrow(job$x), shown[1], shown[2], shown[3],
              mean(loss[1, ]) / best))
}
cat("\nWhere a package has no such objective the field is empty; expectile, log_cosh and negative_binomial are",
    "functions of the script's for both.\n")
