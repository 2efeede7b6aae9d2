# Random parameter sets for `--tuned N` of defaults.R: one space for all engines, N points of it, the same points for
# all (in each library's words), from a fixed seed. The page takes, for each set and split, the one with the least loss
# of the validation part.

log_uniform <- function(n, low, high) exp(stats::runif(n, log(low), log(high)))

# A column for each parameter; a longer draw begins with the shorter ones.
space_points <- function(n) {
  points <- lapply(seq_len(n), function(k) {
    set.seed(k, kind = "Mersenne-Twister", normal.kind = "Inversion", sample.kind = "Rejection")
    data.frame(eta = log_uniform(1, 0.01, 0.2), depth = sample(3:10, 1), lambda = log_uniform(1, 0.1, 50),
               columns = stats::runif(1, 0.4, 1), rows = stats::runif(1, 0.5, 1), hessian = log_uniform(1, 0.1, 20))
  })
  do.call(rbind, points)
}

# Texts as `--gbt` takes them, named tuned01, tuned02, ...
tuned_configs <- function(engine, n) {
  if (n == 0L) return(character())
  p <- space_points(n)
  p[c("eta", "lambda", "columns", "rows", "hessian")] <- signif(p[c("eta", "lambda", "columns", "rows", "hessian")], 3)
  text <- switch(engine,
    gbt = , xgboost = sprintf("eta=%g,max_depth=%d,lambda=%g,colsample_bytree=%g,subsample=%g,min_child_weight=%g",
                              p$eta, p$depth, p$lambda, p$columns, p$rows, p$hessian),
    lightgbm = sprintf(paste0("eta=%g,max_depth=%d,num_leaves=%d,lambda_l2=%g,feature_fraction=%g,bagging_fraction=%g,",
                              "bagging_freq=1,min_sum_hessian_in_leaf=%g"), p$eta, p$depth,
                       as.integer(pmin(2^p$depth, 255)), p$lambda, p$columns, p$rows, p$hessian),
    catboost = sprintf("eta=%g,depth=%d,l2_leaf_reg=%g,rsm=%g,bootstrap_type=Bernoulli,subsample=%g", p$eta, p$depth,
                       p$lambda, p$columns, p$rows)
  )
  stats::setNames(text, sprintf("tuned%02d", seq_len(n)))
}
is_tuned <- function(config) grepl("^tuned[0-9]+$", config)

# Runs of tuned configurations become one for each engine, set and split, `tuned`: the losses of the configuration with
# the least validation loss, the seconds of all of them. Only where an engine has all the configurations it ever has.
pick_tuned <- function(runs) {
  tuned <- runs[is_tuned(runs$config), ]
  key <- paste(tuned$engine, tuned$set, tuned$split)
  most <- tapply(tuned$config, tuned$engine, function(config) length(unique(config)))
  picked <- lapply(split(tuned, key), function(r) {
    if (nrow(r) < most[[r$engine[1]]]) return(NULL)
    best <- r[which.min(r$valid_loss), ]
    for (field in c("convert_s", "train_s", "cpu_s")) best[[field]] <- sum(r[[field]])
    best[c("config", "params")] <- list("tuned", paste("the best of", nrow(r), "random ones"))
    best
  })
  rbind(runs[!is_tuned(runs$config), ], do.call(rbind, picked))
}
