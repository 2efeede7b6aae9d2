# Curves of models of times by group of risk: type "survival" of gbt_curve().

# The figure: for each group a step with its band for what was observed, and a dashed line for what was predicted. A
# panel for each model.
survival_figure <- function(x, given = list()) {
  x <- as.data.frame(unclass(x))
  groups <- levels(droplevels(as.factor(x$group)))
  k <- length(groups)
  style <- series_style(k, given[["col"]])
  lwd <- rep_len(given_or(given[["lwd"]], 2), k)
  soft <- transparent(style$col, 0.15)
  key <- list(label = c(groups, "predicted", paste(groups, "band"), paste(groups, "predicted")),
              kind = rep(c("line", "box", "line"), c(k + 1L, k, k)), col = c(style$col, ink$soft, soft, style$col),
              lty = rep(c(1, 2, 1, 2), c(k, 1L, k, k)), lwd = c(lwd, 2, lwd, lwd),
              shown = seq_len(3L * k + 1L) <= k + 1L)
  models <- if (is.null(x[["model"]])) list(x) else split(x, droplevels(as.factor(x$model)))
  panels <- lapply(seq_along(models), function(i) panel(survival_marks(models[[i]], groups), names(models)[i]))
  time <- make_scale(c(0, x$time), given_or(given[["xlab"]], "time"), given[["xlim"]], extend = 0.02)
  chance <- make_scale(c(0, 1), given_or(given[["ylab"]], "survival probability"), given[["ylim"]], extend = 0.02)
  figure(given, "Survival", NULL, time, chance, panels, key,
         note = "solid: observed (Kaplan-Meier, 95 % intervals); dashed: predicted")
}

# Entries of the key: groups, "predicted", their bands, their predicted curves.
survival_marks <- function(x, groups) {
  set <- match(as.character(x$group), groups)
  k <- length(groups)
  band <- lapply(split(seq_along(set), set), function(at) {
    at <- at[!is.na(x$lower[at])]
    n <- length(at)
    stair <- at[rep(seq_len(n), each = 2L)] # bounds hold until the next time
    list(x = c(x$time[stair[-1L]], x$time[at[n]]), low = x$lower[stair], high = x$upper[stair], set = set[stair])
  })
  of <- function(name) unlist(lapply(band, `[[`, name), use.names = FALSE)
  list(mark("area", of("x"), of("low"), yend = of("high"), set = k + 1L + of("set")),
       mark("step", x$time, x$observed, set = set),
       mark("line", x$time, x$predicted, set = 2L * k + 1L + set))
}
