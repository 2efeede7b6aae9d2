# Makes data/flights.rda from nycflights13.rds (see R/data_flights.R for what the columns are).
#
#   Rscript data-raw/flights.R FOLDER      FOLDER holds nycflights13.rds; default ../shared/data
#
# Systematic sample, so no random numbers: every 11th flight with a known arrival, in order of scheduled departure.
args <- commandArgs(trailingOnly = TRUE)
folder <- if (length(args)) args[1] else file.path("..", "shared", "data")

all <- readRDS(file.path(folder, "nycflights13.rds"))
known <- all[!is.na(all$arr_delay), ]
known <- known[order(known$month, known$day, known$sched_dep_time), ] # ties stay in the order of the file
kept <- known[seq(1, nrow(known), by = 11), ]

date <- as.Date(sprintf("%d-%02d-%02d", kept$year, kept$month, kept$day))
day_names <- c("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
flights <- data.frame(
  late = factor(kept$arr_delay > 15, levels = c(FALSE, TRUE), labels = c("no", "yes")),
  date = date,
  weekday = factor(day_names[as.POSIXlt(date)$wday + 7L * (as.POSIXlt(date)$wday == 0L)], levels = day_names,
                   ordered = TRUE),
  sched_dep_time = as.integer(kept$sched_dep_time),
  carrier = droplevels(kept$carrier),
  flight = kept$flight,
  tailnum = droplevels(kept$tailnum),
  origin = droplevels(kept$origin),
  dest = droplevels(kept$dest),
  distance = as.integer(kept$distance)
)
stopifnot(!anyNA(flights), !is.unsorted(flights$date))
attr(flights, "row.names") <- seq_len(nrow(flights))

save(flights, file = file.path("data", "flights.rda"), compress = "xz", version = 2)
cat(nrow(flights), "rows,", file.size(file.path("data", "flights.rda")), "bytes\n")
