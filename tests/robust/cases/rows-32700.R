# 32,641 to 32,767 rows: a task of columns was to hold 32768 / (rows + 128) of them, which is none; division by zero.
n <- 32700L
case <- list(
  id = 1, x = data.frame(a = seq_len(n) %% 1000, b = factor(c("x", "y", "z"))[seq_len(n) %% 3L + 1L]),
  y = seq_len(n) %% 7, new = data.frame(a = c(3, NA), b = c("y", "unseen")), own = FALSE, sets = list(),
  args = list(nrounds = 1, grow_policy = "depthwise", max_depth = 2, objective = "squared_error", seed = 1), init = 0,
  unseen = "prior",
  how = list(list(threads = 2, page_rows = 1000, simd = "auto"))
)
