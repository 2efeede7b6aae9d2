# Sets with responses of several columns, for targets.R and sketch.R; `folder` is theirs.

read <- function(file) utils::read.csv(gzfile(file.path(folder, file)))
codes <- function(x) {
  x[] <- lapply(x, function(v) if (is.character(v) || is.factor(v)) as.integer(factor(v)) else v)
  x
}

# 40,000 made rows of 20 columns and n responses, from four hidden numbers.
made_columns <- function(n) {
  set.seed(1)
  x <- as.data.frame(matrix(stats::rnorm(40000 * 20), 40000))
  hidden <- sin(as.matrix(x) %*% matrix(stats::rnorm(20 * 4), 20) / 2)
  y <- hidden %*% matrix(stats::rnorm(4 * n), 4) + matrix(stats::rnorm(40000 * n), 40000) / 2
  list(x = x, y = unname(y), test = seq_len(40000) %% 4 == 0)
}

# name -> list(x, y, test): test says which rows targets.R holds out.
targets_sets <- list(
  turbine = function() {
    d <- read("gas_turbine.csv.gz")
    list(x = d[setdiff(names(d), c("CO", "NOX", "TEY"))], y = as.matrix(d[c("CO", "NOX")]), test = d$year >= 2014)
  },
  sgemm = function() {
    d <- read("sgemm_gpu.csv.gz")
    y <- grep("^Run", names(d), value = TRUE)
    list(x = d[setdiff(names(d), y)], y = log(as.matrix(d[y])), test = seq_len(nrow(d)) %% 4 == 0)
  },
  air = function() {
    d <- read("beijing_air.csv.gz")
    y <- c("PM2.5", "PM10", "SO2", "NO2", "CO", "O3")
    d <- d[stats::complete.cases(d[y]), ]
    list(x = codes(d[setdiff(names(d), y)]), y = as.matrix(d[y]), test = d$year >= 2016)
  },
  flights = function() {
    d <- readRDS(file.path(folder, "nycflights13.rds"))
    y <- c("dep_delay", "arr_delay", "air_time")
    d <- as.data.frame(d[stats::complete.cases(d[y]), ])
    x <- d[c("month", "day", "sched_dep_time", "carrier", "origin", "dest", "distance", "flight")]
    list(x = codes(x), y = as.matrix(d[y]), test = d$month >= 10)
  },
  weather = function() { # the afternoon from the morning
    d <- readRDS(file.path(folder, "weatherAUS.rds"))
    y <- c("MaxTemp", "WindGustSpeed", "WindSpeed3pm", "Humidity3pm", "Pressure3pm", "Temp3pm")
    d <- as.data.frame(d[stats::complete.cases(d[y]), ])
    year <- as.integer(format(as.Date(d$Date), "%Y"))
    x <- d[c("Location", "MinTemp", "WindDir9am", "WindSpeed9am", "Humidity9am", "Pressure9am", "Cloud9am", "Temp9am")]
    x$month <- as.integer(format(as.Date(d$Date), "%m"))
    list(x = codes(x), y = as.matrix(d[y]), test = year >= 2015)
  },
  tmc2007 = function() {
    d <- read("tmc2007_500.csv.gz")
    y <- grep("^class", names(d), value = TRUE)
    list(x = d[setdiff(names(d), y)], y = as.matrix(d[y]) > 0.5, test = seq_len(nrow(d)) %% 4 == 0)
  },
  made16 = function() made_columns(16)
)
