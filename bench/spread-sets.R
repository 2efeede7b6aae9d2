# Sets of regression with spreads that differ between rows, for bench/distributions.R and bench/quantiles.R: `sets`, by
# name a function that gives list(x, y), and split_rows(). folder: of the sets.

read <- function(file) utils::read.csv(gzfile(file.path(folder, file)))
numbers <- function(d) as.data.frame(lapply(d, function(v) as.double(if (is.numeric(v)) v else as.integer(factor(v)))))

split_off <- function(d, y, drop = y) list(x = numbers(d[setdiff(names(d), drop)]), y = as.double(d[[y]]))
sets <- list(
  california = function() split_off(read("california_housing.csv.gz"), "medianHouseValue"),
  turbine = function() split_off(read("gas_turbine.csv.gz"), "CO", c("CO", "NOX")),
  diamonds = function() split_off(readRDS(file.path(folder, "diamonds.rds")), "price"),
  protein = function() split_off(read("protein_casp.csv.gz"), "RMSD"),
  air = function() {
    d <- read("beijing_air.csv.gz")
    d <- d[!is.na(d$PM2.5), ]
    split_off(d, "PM2.5", c("No", "PM2.5", "PM10", "SO2", "NO2", "CO", "O3"))
  },
  cars = function() split_off(read("uk_used_cars.csv.gz"), "price")
)

# 6,400 rows to train, 1,600 that stop the training, up to 8,000 to judge.
split_rows <- function(n) {
  set.seed(1)
  at <- sample(n, min(16000L, n))
  list(train = at[1:6400], stops = at[6401:8000], test = at[-(1:8000)])
}
