# Does everything with mutated models that can be done with a model: use.R FOLDER FROM TO REPORT
#
# FOLDER has FROM.bin, ... and data.rds. REPORT gets a line for each file: its number, then what was wrong, if anything.
# A condition must be of gbt's classes, whatever the bytes are; no file may take more than 5 seconds, none may run code.
# Run in a folder of its own.
library(gbt)
args <- commandArgs(trailingOnly = TRUE)
folder <- args[1]
data <- readRDS(file.path(folder, "data.rds"))
other <- data[c(1, 1, 7), ]
other$f <- factor(c("new", NA, "a"))
out <- file(args[4], "at")
grDevices::pdf(NULL)

wrong <- character(0)
note <- function(step, c) {
  if (inherits(c, "gbt_error") || inherits(c, "gbt_warning")) return(invisible())
  if (grepl("^plot", step) && grepl("conversion failure", conditionMessage(c))) return(invisible()) # the device's font
  text <- sprintf("%s: %s: %s", step, class(c)[1L], conditionMessage(c))
  wrong <<- unique(c(wrong, substr(gsub("[\n\t]", " ", text), 1L, 200L)))
}

# The value of a step, NULL when it ended with an error.
try_step <- function(step, code) {
  tryCatch(
    withCallingHandlers(code, warning = function(w) {
      note(step, w)
      tryInvokeRestart("muffleWarning")
    }),
    error = function(e) {
      note(step, e)
      NULL
    }
  )
}
expect <- function(step, ok) if (!isTRUE(ok)) wrong <<- unique(c(wrong, paste(step, "is wrong")))
quiet <- function(code) utils::capture.output(code)

predictions <- function(m, data) {
  lapply(c("response", "link", "prob", "class", "leaf"), function(type) {
    try_step(paste("predict", type), predict(m, data, type = type, threads = 1))
  })
}

use <- function(m) {
  try_step("print", quiet(print(m)))
  try_step("summary", quiet(print(summary(m))))
  try_step("str", quiet(utils::str(m)))
  try_step("plot", plot(m))
  try_step("importance", quiet(print(gbt_importance(m, type = "frequency"))))
  try_step("plot importance", plot(gbt_importance(m)))
  nodes <- try_step("as.data.frame", as.data.frame(m))
  try_step("print nodes", quiet(print(utils::head(nodes))))
  try_step("formula", formula(m))
  try_step("nobs", nobs(m))
  try_step("variable.names", variable.names(m))
  try_step("slice", quiet(print(m[seq_len(min(1L, length(m)))])))
  try_step("slice, last", quiet(print(m[length(m)])))
  try_step("slice, none", m[0])
  p <- predictions(m, data)
  predictions(m, other)
  file <- file.path(folder, paste0("again-", Sys.getpid(), ".gbt"))
  try_step("save", {
    gbt_save(m, file)
    expect("what was saved", identical(gbt_load(file)$state, m$state))
  })
  copy <- unserialize(serialize(m, NULL))
  expect("prediction of a copy", identical(predictions(copy, data), p))
  try_step("train on", gbt_train(data[intersect(variable.names(m), names(data))], data$y, nrounds = 1, init_model = m,
                                 threads = 1))
}

for (i in args[2]:args[3]) {
  cat(i, "", file = out)
  flush(out)
  wrong <- character(0)
  begun <- sum(proc.time()[1:2]) # of the processor: other processes do not count
  m <- try_step("load", gbt_load(file.path(folder, paste0(i, ".bin"))))
  if (!is.null(m)) use(m)
  expect("code from a file", !file.exists("pwned")) # what some texts ask for
  seconds <- sum(proc.time()[1:2]) - begun
  if (seconds > 5) wrong <- c(wrong, sprintf("it took %.1f seconds", seconds))
  cat(paste(c(if (is.null(m)) "refused" else "loaded", wrong), collapse = "\t"), "\n", sep = "", file = out)
  flush(out)
}
