# Models of bench/survival: each is a function of (train, test, times) to list(life = larger for longer lives, curves).

filled <- function(train, test) {
  for (name in names(train)) {
    v <- train[[name]]
    if (is.factor(v)) {
      fill <- function(w) {
        w <- as.character(w)
        w[is.na(w) | !w %in% as.character(v)] <- "none"
        factor(w, unique(c(levels(droplevels(v)), "none")))
      }
      train[[name]] <- droplevels(fill(v))
      test[[name]] <- factor(as.character(fill(test[[name]])), levels(train[[name]]))
      test[[name]][is.na(test[[name]])] <- names(which.max(table(train[[name]])))
    } else {
      middle <- median(v, na.rm = TRUE)
      if (anyNA(v)) {
        train[[paste0(name, "_none")]] <- as.numeric(is.na(v))
        test[[paste0(name, "_none")]] <- as.numeric(is.na(test[[name]]))
      }
      train[[name]] <- as.double(ifelse(is.na(v), middle, v))
      test[[name]] <- as.double(ifelse(is.na(test[[name]]), middle, test[[name]]))
    }
  }
  several <- vapply(train, function(v) length(unique(v)) > 1L, NA)
  list(train = train[several], test = test[several])
}

# arguments of gbt_train() beside the data -> model
gbt_model <- function(...) {
  args <- list(...)
  function(train, test, times) {
    y <- Surv(train$time, train$event)
    m <- do.call(gbt_train, c(list(train$x, y, seed = 1, threads = 1, verbose = 0), args))
    life <- predict(m, test$x, type = "link")
    list(life = if (m$objective == "cox") -life else life,
         curves = predict(m, test$x, type = "survival", times = times))
  }
}

# engine of peers.py -> scores of the training and the held-out rows
run_peer <- function(train, test, engine) {
  folder <- tempfile("peer")
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  write <- function(d, name) {
    utils::write.table(d, file.path(folder, name), sep = ",", row.names = FALSE, col.names = FALSE, qmethod = "double")
  }
  x <- rbind(train$x, test$x)
  write(x, "x.csv")
  writeLines(ifelse(vapply(x, is.factor, NA), "category", "number"), file.path(folder, "roles.csv"))
  write(cbind(train$time, train$event), "y.csv")
  if (system2(python, c(file.path(here, "peers.py"), folder, engine)) != 0) stop(engine)
  list(train = scan(file.path(folder, "train.out"), quiet = TRUE),
       test = scan(file.path(folder, "test.out"), quiet = TRUE))
}

peer_aft <- function(engine) function(train, test, times) {
  s <- run_peer(train, test, engine)$test
  list(life = s, curves = vapply(times, function(t) pnorm(log(t) - s, lower.tail = FALSE), s))
}

peer_cox <- function(engine) function(train, test, times) {
  s <- run_peer(train, test, engine)
  base <- breslow(train$time, train$event, s$train)
  list(life = -s$test, curves = step_curves(s$test, base$time, base$hazard, times))
}

most_times <- 200L # of ranger, whose time and memory grow with the number of different times

models <- list(
  gbt = gbt_model(), # objective "cox"
  gbt_before = gbt_model(lambda = 3, grow_policy = "symmetric", max_depth = 6),
  gbt_aft = gbt_model(objective = "aft"),
  gbt_weibull = gbt_model(objective = "aft", aft_dist = "extreme"),
  xgb_cox = peer_cox("xgb_cox"),
  xgb_aft = peer_aft("xgb_aft"),
  cat_cox = peer_cox("cat_cox"),
  cat_aft = peer_aft("cat_aft"),
  coxph = function(train, test, times) {
    x <- filled(train$x, test$x)
    d <- cbind(x$train, .time = train$time, .event = train$event)
    m <- suppressWarnings(coxph(Surv(.time, .event) ~ ., d))
    b <- ifelse(is.na(coef(m)), 0, coef(m))
    design <- function(x) model.matrix(~ ., x)[, -1, drop = FALSE]
    s <- list(train = drop(design(x$train) %*% b), test = drop(design(x$test) %*% b))
    middle <- mean(s$train)
    base <- breslow(train$time, train$event, s$train - middle)
    list(life = -s$test, curves = step_curves(s$test - middle, base$time, base$hazard, times))
  },
  survreg = function(train, test, times) {
    x <- filled(train$x, test$x)
    d <- cbind(x$train, .time = train$time, .event = train$event)
    m <- suppressWarnings(survreg(Surv(.time, .event) ~ ., d, dist = "lognormal"))
    b <- ifelse(is.na(coef(m)), 0, coef(m))
    s <- drop(model.matrix(~ ., x$test) %*% b)
    list(life = s, curves = vapply(times, function(t) pnorm((log(t) - s) / m$scale, lower.tail = FALSE), s))
  },
  ranger = function(train, test, times) {
    x <- filled(train$x, test$x)
    at <- unique(quantile(train$time, (1:most_times) / most_times, type = 1L, names = FALSE))
    d <- cbind(x$train, .time = at[findInterval(train$time, at, left.open = TRUE) + 1L], .event = train$event)
    m <- ranger::ranger(Surv(.time, .event) ~ ., d, num.trees = 300, num.threads = 1, seed = 1, verbose = FALSE)
    p <- predict(m, x$test, num.threads = 1, verbose = FALSE)
    curves <- cbind(1, p$survival)[, findInterval(times, p$unique.death.times) + 1L, drop = FALSE]
    list(life = -rowSums(p$chf), curves = curves)
  }
)

