# What the benchmark of categorical columns runs. A variant of gbt: its name and the arguments of gbt_train() that it
# has in addition to the matched ones of categorical-gbt.R.
gbt_variants <- list(
  "gbt-auto" = list(cat_method = "auto"),
  "gbt-sets" = list(cat_method = "sets"),
  "gbt-target" = list(cat_method = "target"),
  "gbt-both" = list(cat_method = c("sets", "target")),
  "gbt-pairs" = list(cat_method = c("sets", "target"), max_cat_combine = 2)
)
peer_engines <- c("catboost-own", "catboost", "lightgbm", "xgboost")
