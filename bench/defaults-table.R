# The sets of the benchmark of defaults, one row each. What the columns mean:
#
#   name     of the set; the results and the folder of its files go by it
#   from     where the data are: shared:FILE (data_folder(), see data.R; `shared:agaricus`, `golub` and `lambdarank` are
#            read by functions of defaults-sets.R), R:PACKAGE::NAME, sklearn:NAME (defaults-sklearn.py), made:NAME
#            (defaults-made.R)
#   task     regression (root mean squared error), poisson (deviance), binary and multiclass (log loss), quantile (loss
#            of level `alpha`)
#   y        the response, an expression of the columns. Rows where it is missing are left out
#   drop     columns that are no features: what gives the answer away, numbers of rows. The columns that y, offset and
#            the group of the split name are dropped as well
#   split    random (by class, where the response has classes), time:COLUMN, group:COLUMN
#   cap      rows, training, validation and test together; larger sets are sampled
#   offset   an expression, for counts with an exposure
#
# Rules of defaults are chosen on one half of the data and confirmed on the other. Which half data are in follows from
# this table (halves_of() in defaults-sets.R): by pairs of data of one kind, in the order of their rows. So nothing may
# be moved or taken away, and what is new goes to the end of the section of its kind.

set_row <- function(name, from, task, y, drop = "", split = "random", cap = 20000, offset = "", alpha = NA_real_) {
  if (task == "quantile" && is.na(alpha)) stop(name, " needs alpha")
  data.frame(name = name, from = from, task = task, y = y, drop = drop, split = split, cap = cap, offset = offset,
             alpha = alpha)
}

leaks_of_flights <- "dep_time dep_delay arr_time arr_delay air_time hour minute year" # known after departure
flights_features <- paste(leaks_of_flights, "day") # with a split by time the day of the month is the row's number

registry <- do.call(rbind, list(
  # ---- regression ----
  set_row("california", "shared:california_housing.csv.gz", "regression", "medianHouseValue / 1e5", cap = 20640),
  set_row("california_q90", "shared:california_housing.csv.gz", "quantile", "medianHouseValue / 1e5", alpha = 0.9),
  set_row("california_q50", "shared:california_housing.csv.gz", "quantile", "medianHouseValue / 1e5", alpha = 0.5),
  set_row("diamonds", "shared:diamonds.rds", "regression", "price", cap = 53940),
  set_row("diamonds_log", "shared:diamonds.rds", "regression", "log(price)"),
  set_row("diamonds_q10", "shared:diamonds.rds", "quantile", "price", alpha = 0.1),
  set_row("letor", "shared:yandex_letor.csv.gz", "regression", "relevance", "split label group_id", "group:qid",
          cap = 40000),
  set_row("lambdarank", "shared:lambdarank", "regression", "label", split = "group:qid"),
  set_row("lambdarank_classes", "shared:lambdarank", "multiclass", "label", split = "group:qid"),
  set_row("boston", "R:MASS::Boston", "regression", "medv"),
  set_row("diabetes", "sklearn:diabetes", "regression", "target"),
  set_row("ames", "R:modeldata::ames", "regression", "log(Sale_Price)"),
  set_row("ames_q90", "R:modeldata::ames", "quantile", "Sale_Price", alpha = 0.9),
  set_row("concrete", "R:modeldata::concrete", "regression", "compressive_strength"),
  set_row("car_prices", "R:modeldata::car_prices", "regression", "Price"),
  set_row("sacramento", "R:modeldata::Sacramento", "regression", "log(price)"),
  set_row("biomass", "R:modeldata::biomass", "regression", "HHV", "sample dataset"),
  set_row("meats", "R:modeldata::meats", "regression", "fat", "water protein"),
  set_row("chicago", "R:modeldata::Chicago", "regression", "ridership", split = "time:date"),
  set_row("chicago_q10", "R:modeldata::Chicago", "quantile", "ridership", split = "time:date", alpha = 0.1),
  set_row("check_times", "R:modeldata::check_times", "regression", "log(check_time)", "package status"),
  set_row("salaries_it", "R:modeldata::stackoverflow", "regression", "log(Salary)"),
  set_row("mpg", "R:ggplot2::mpg", "regression", "hwy", "cty"),
  set_row("txhousing", "R:ggplot2::txhousing", "regression", "median", split = "time:date"),
  set_row("math_achieve", "R:nlme::MathAchieve", "regression", "MathAch", split = "group:School"),
  set_row("remifentanil", "R:nlme::Remifentanil", "regression", "conc", "ID", "group:Subject"),
  set_row("pupils", "R:nlme::bdf", "regression", "langPOST", "pupilNR aritPOST", "group:schoolNR"),
  set_row("chick_weight", "R:datasets::ChickWeight", "regression", "weight", split = "group:Chick"),
  set_row("quakes", "R:datasets::quakes", "regression", "mag"),
  set_row("ozone", "R:mlbench::Ozone", "regression", "V4"),
  set_row("wages_1988", "R:AER::CPS1988", "regression", "log(wage)"),
  set_row("wages_1988_q90", "R:AER::CPS1988", "quantile", "wage", alpha = 0.9),
  set_row("wages_panel", "R:AER::PSID7682", "regression", "log(wage)", split = "group:id"),
  set_row("house_prices", "R:AER::HousePrices", "regression", "log(price)"),
  set_row("college", "R:AER::CollegeDistance", "regression", "score"),
  set_row("vocabulary", "R:carData::GSSvocab", "regression", "vocab"),
  set_row("flight_delay", "shared:nycflights13.rds", "regression", "pmin(arr_delay, 180)", flights_features,
          "time:month"),
  set_row("flight_delay_q90", "shared:nycflights13.rds", "quantile", "arr_delay", leaks_of_flights, alpha = 0.9),
  set_row("humidity", "shared:weatherAUS.rds", "regression", "Humidity3pm", "RISK_MM RainTomorrow", "time:Date"),
  set_row("protein", "shared:protein_casp.csv.gz", "regression", "RMSD", cap = 50000),
  set_row("kernel_times", "shared:sgemm_gpu.csv.gz", "regression", "log((Run1_ms + Run2_ms + Run3_ms + Run4_ms) / 4)",
          cap = 100000),
  set_row("used_cars", "shared:uk_used_cars.csv.gz", "regression", "log(price)", cap = 100000),
  set_row("turbine", "shared:gas_turbine.csv.gz", "regression", "NOX", "CO year", cap = 40000),
  set_row("particles", "shared:beijing_air.csv.gz", "regression", "log(PM2.5)", "PM10 SO2 NO2 CO O3", cap = 100000),

  # ---- counts ----
  set_row("claims", "shared:freMTPL2.rds", "poisson", "pmin(ClaimNb, 4)", "IDpol ClaimNbCorrected ClaimAmount",
          cap = 100000, offset = "log(pmin(Exposure, 1))"),
  set_row("doctor_visits", "R:AER::DoctorVisits", "poisson", "visits"),
  set_row("office_visits", "R:AER::NMES1988", "poisson", "visits", "nvisits ovisits novisits"),
  set_row("medicaid", "R:AER::Medicaid1986", "poisson", "visits"),
  set_row("articles", "R:AER::PhDPublications", "poisson", "articles"),
  set_row("trips", "R:AER::RecreationDemand", "poisson", "trips"),
  set_row("children", "R:AER::GSS7402", "poisson", "kids"),
  set_row("solder", "R:survival::solder", "poisson", "skips"),
  set_row("stations", "R:datasets::quakes", "poisson", "stations"),
  set_row("affairs", "R:AER::Affairs", "poisson", "affairs"),
  set_row("seizures", "R:MASS::epil", "poisson", "y", "lbase lage V4", "group:subject"),
  set_row("injuries", "shared:msha_injuries.csv.gz", "poisson", "NUM_INJURIES", "EMP_HRS_TOTAL", cap = 60000,
          offset = "log(EMP_HRS_TOTAL / 2000)"),

  # ---- two classes ----
  set_row("adult", "shared:adult.csv.gz", "binary", "income == '>50K'", "split", cap = 48842),
  set_row("higgs", "shared:higgs_sample.csv.gz", "binary", "label == 1", "part"),
  set_row("rain", "shared:weatherAUS.rds", "binary", "RainTomorrow == 'Yes'", "RISK_MM", cap = 50000),
  set_row("rain_later", "shared:weatherAUS.rds", "binary", "RainTomorrow == 'Yes'", "RISK_MM", "time:Date", 40000),
  set_row("flight_late", "shared:nycflights13.rds", "binary", "arr_delay > 15", leaks_of_flights, cap = 50000),
  set_row("agaricus", "shared:agaricus", "binary", "label"),
  set_row("light_chain", "shared:flchain.rds", "binary", "ifelse(death == 0 & futime < 3650, NA, death == 1)",
          "futime chapter"),
  set_row("light_chain_years", "shared:flchain.rds", "regression", "futime / 365.25", "death chapter"),
  set_row("golub", "shared:golub", "binary", "label == 'AML'"),
  set_row("breast_cancer", "sklearn:breast_cancer", "binary", "target == 1"),
  set_row("spam", "R:kernlab::spam", "binary", "type == 'spam'"),
  set_row("musk", "R:kernlab::musk", "binary", "Class == '1'"),
  set_row("caravan", "R:kernlab::ticdata", "binary", "CARAVAN == 'insurance'"),
  set_row("churn", "R:modeldata::mlc_churn", "binary", "churn == 'yes'"),
  set_row("churn_telco", "R:modeldata::wa_churn", "binary", "churn == 'Yes'"),
  set_row("credit", "R:modeldata::credit_data", "binary", "Status == 'bad'"),
  set_row("loans", "R:modeldata::lending_club", "binary", "Class == 'bad'"),
  set_row("attrition", "R:modeldata::attrition", "binary", "Attrition == 'Yes'"),
  set_row("cells", "R:modeldata::cells", "binary", "class == 'PS'", "case"),
  set_row("alzheimer", "R:modeldata::ad_data", "binary", "Class == 'Impaired'"),
  set_row("speech", "R:modeldata::pd_speech", "binary", "class == 'PD'"),
  set_row("german_credit", "R:caret::GermanCredit", "binary", "Class == 'Bad'"),
  set_row("ionosphere", "R:mlbench::Ionosphere", "binary", "Class == 'bad'"),
  set_row("sonar", "R:mlbench::Sonar", "binary", "Class == 'M'"),
  set_row("pima", "R:mlbench::PimaIndiansDiabetes2", "binary", "diabetes == 'pos'"),
  set_row("votes", "R:mlbench::HouseVotes84", "binary", "Class == 'democrat'"),
  set_row("colon", "R:survival::colon", "binary", "status == 1", "study time etype", "group:id"),
  set_row("rotterdam", "R:survival::rotterdam", "binary", "recur == 1", "pid rtime dtime death"),
  set_row("wilms", "R:survival::nwtco", "binary", "rel == 1", "seqno edrel in.subcohort"),
  set_row("mortgages", "R:AER::HMDA", "binary", "deny == 'yes'"),
  set_row("more_children", "R:AER::Fertility2", "binary", "morekids == 'yes'", cap = 30000),
  set_row("smokers", "R:AER::SmokeBan", "binary", "smoker == 'yes'"),
  set_row("arrests", "R:carData::Arrests", "binary", "released == 'No'"),
  set_row("wells", "R:carData::Wells", "binary", "switch == 'yes'"),
  set_row("cancellations", "shared:hotel_bookings.csv.gz", "binary", "is_canceled == 1",
          "reservation_status reservation_status_date", cap = 120000),
  set_row("lapses", "shared:uslapse.rds", "binary", "surrender == 1",
          "duration termination.cause DJIA death other allcause", cap = 30000),

  # ---- several classes ----
  set_row("letter", "shared:letter.csv.gz", "multiclass", "lettr"),
  set_row("digits", "sklearn:digits", "multiclass", "target"),
  set_row("iris", "sklearn:iris", "multiclass", "target"),
  set_row("wine", "sklearn:wine", "multiclass", "target"),
  set_row("satellite", "R:mlbench::Satellite", "multiclass", "classes"),
  set_row("shuttle", "R:mlbench::Shuttle", "multiclass", "Class"),
  set_row("dna", "R:mlbench::DNA", "multiclass", "Class"),
  set_row("vehicle", "R:mlbench::Vehicle", "multiclass", "Class"),
  set_row("vowel", "R:mlbench::Vowel", "multiclass", "Class"),
  set_row("glass", "R:mlbench::Glass", "multiclass", "Type"),
  set_row("soybean", "R:mlbench::Soybean", "multiclass", "Class"),
  set_row("hpc_jobs", "R:modeldata::hpc_data", "multiclass", "class"),
  set_row("income", "R:kernlab::income", "multiclass", "INCOME"),
  set_row("chile", "R:carData::Chile", "multiclass", "vote"),
  set_row("storms", "R:dplyr::storms", "multiclass", "status", "category wind pressure", "group:name"),
  set_row("penguins", "R:modeldata::penguins", "multiclass", "species", "island"),
  set_row("forest", "shared:covtype_sample.csv.gz", "multiclass", "Cover_Type", cap = 100000),
  set_row("connect_four", "shared:connect_4.csv.gz", "multiclass", "target", cap = 70000),
  set_row("sleep", "shared:sleep_stages.csv.gz", "multiclass", "target", cap = 110000),

  # ---- made ----
  set_row("made_additive", "made:additive", "regression", "y"),
  set_row("made_interactions", "made:interactions", "regression", "y"),
  set_row("made_rotated", "made:rotated", "binary", "y"),
  set_row("made_noisy", "made:noisy", "regression", "y"),
  set_row("made_sparse", "made:sparse", "binary", "y"),
  set_row("made_levels", "made:levels", "binary", "y"),
  set_row("made_small", "made:small", "regression", "y"),
  set_row("made_wide", "made:wide", "binary", "y"),
  set_row("made_rare", "made:rare", "binary", "y"),
  set_row("made_drift", "made:drift", "regression", "y", split = "time:time"),
  set_row("made_steps", "made:steps", "regression", "y"),
  set_row("made_tails", "made:tails", "regression", "y"),
  set_row("made_tails_q50", "made:tails", "quantile", "y", alpha = 0.5),
  set_row("made_linear", "made:linear", "regression", "y"),
  set_row("made_counts", "made:counts", "poisson", "y", offset = "log(exposure)"),
  set_row("made_classes", "made:classes", "multiclass", "y"),
  set_row("made_parity", "made:parity", "binary", "y"),
  set_row("made_missing", "made:missing", "binary", "y"),
  set_row("made_spread_q90", "made:spread", "quantile", "y", alpha = 0.9),
  set_row("made_groups", "made:groups", "regression", "y", split = "group:g")
))
rownames(registry) <- registry$name
stopifnot(!anyDuplicated(registry$name))
