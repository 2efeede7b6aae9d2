# The one table of messages for features that gbt does not offer; each gives a way out. Data, objectives, metrics and
# parameters that ask for such a feature are refused with it. `@survival` stands for it in the table of R/arg_foreign.R.
not_offered <- c(
  survival = paste("survival models of this kind are not offered; give a Surv object as the response and",
                   "`objective = \"cox\"` or `objective = \"aft\"`")
)

# A reply of the table of other packages' names, with the words for what is not offered.
reply_text <- function(reply) {
  for (topic in names(not_offered)) reply <- sub(paste0("@", topic), not_offered[[topic]], reply, fixed = TRUE)
  reply
}
