# Survival sets: a list of time, event (1, or 0 for censored) and columns. data: the folder of flchain.rds and others;
# survset: that of survset.py, or NULL.

# Models and rules are chosen by these; all others only confirm.
choosing <- c("flchain", "gbsg", "pbc", "colon", "support2", "TRACE", "actg", "Dialysis", "dataDIVAT2", "follic",
              "nwtco", "UnempDur", "vlbw")

# Of SurvSet: copies of sets that are here already, a set of two columns, and one whose times are of something else.
not_of_survset <- c("flchain", "smarto", "colon", "rott2", "GBSG2", "divorce", "prostateSurvival", "acath")

survival_sets <- function(data, survset = NULL) {
  read <- function(name) as.data.frame(readRDS(file.path(data, paste0(name, ".rds"))))
  make <- function(d, time, event, drop = character(0)) {
    x <- d[setdiff(names(d), c(time, drop, attr(event, "name")))]
    x[] <- lapply(x, function(v) if (is.character(v) || is.logical(v)) factor(v) else v)
    keep <- d[[time]] > 0 & !is.na(event)
    list(time = as.double(d[[time]])[keep], event = as.numeric(event)[keep], x = x[keep, , drop = FALSE])
  }
  out <- list()
  d <- read("flchain")
  names(d) <- tolower(names(d))
  out$flchain <- make(d, "futime", d$death == 1, c("death", "chapter"))
  d <- read("smart_cvd")
  out$smart_cvd <- make(d, "TEVENT", d$EVENT == 1, "EVENT")
  d <- read("uslapse")
  cause <- grep("termination.cause", names(d), value = TRUE)
  out$uslapse <- make(d, "duration", d[[cause]] == "surrender",
                      c(cause, "issue.date", "DJIA", "surrender", "death", "other", "allcause"))
  d <- survival::rotterdam
  out$rotterdam <- make(d, "dtime", d$death, c("pid", "rtime", "recur", "death"))
  d <- survival::gbsg
  out$gbsg <- make(d, "rfstime", d$status, c("pid", "status"))
  d <- survival::pbc
  out$pbc <- make(d, "time", d$status == 2, c("id", "status"))
  d <- survival::mgus2
  out$mgus2 <- make(d, "futime", d$death, c("id", "ptime", "pstat", "death"))
  d <- survival::colon
  d <- d[d$etype == 2, ]
  out$colon <- make(d, "time", d$status, c("id", "status", "study", "etype"))
  d <- survival::nafld1
  out$nafld1 <- make(d, "futime", d$status, c("id", "case.id", "status"))
  for (file in if (!is.null(survset)) list.files(survset, "[.]csv$", full.names = TRUE)) {
    name <- sub("[.]csv$", "", basename(file))
    if (name %in% not_of_survset) next
    d <- utils::read.csv(file)
    d[startsWith(names(d), "fac_")] <- lapply(d[startsWith(names(d), "fac_")], factor)
    out[[name]] <- make(d, "time", d$event, "event")
  }
  out
}
