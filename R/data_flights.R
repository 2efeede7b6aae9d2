#' Flights out of New York in 2013: which arrive late?
#'
#' A sample of real flights with what is known before departure and whether the flight reached its destination more
#' than 15 minutes late. Small enough for examples, with the column types that people meet in practice: a date, an
#' ordered factor, integers, and factors with 3 to 3,485 levels.
#'
#' @format A data frame with 29,759 rows, ordered by scheduled departure, and 10 columns without missing values:
#' \describe{
#'   \item{late}{factor `no`, `yes`: arrival more than 15 minutes after the scheduled time
#'     (23.2 percent). The response.}
#'   \item{date}{`Date` of the scheduled departure.}
#'   \item{weekday}{ordered factor, `Mon` < ... < `Sun`, of that date.}
#'   \item{sched_dep_time}{integer, scheduled departure as HHMM, New York time: 1745 is 17:45.}
#'   \item{carrier}{factor with 16 levels, two-letter code of the airline.}
#'   \item{flight}{integer, number of the flight.}
#'   \item{tailnum}{factor with 3,485 levels, tail number of the plane.}
#'   \item{origin}{factor `EWR`, `JFK`, `LGA`: airport of departure.}
#'   \item{dest}{factor with 102 levels, airport of arrival.}
#'   \item{distance}{integer, miles between the airports.}
#' }
#'
#' @details Flights that were cancelled or diverted have no arrival and are left out. Of the others every 11th was taken
#'   in order of scheduled departure, which makes the sample even over the year.
#'
#' Flights of one day share its weather. Hold out whole days, not single rows, to see how well a model does on days it
#' has not seen: see the examples.
#'
#' @source Table `flights` of the CRAN package nycflights13, version 0.1 (dedicated to the public domain, CC0), made
#' from the records of the US Bureau of Transportation Statistics. In that version the scheduled departure is not a
#' column; it is the actual departure less the delay. The date, the weekday and `late` were derived here.
#'
#' @examples
#' str(flights)
#'
#' # every fifth day of the year is held out
#' held_out <- as.integer(format(flights$date, "%j")) %% 5 == 0
#' c(train = sum(!held_out), test = sum(held_out))
"flights"
