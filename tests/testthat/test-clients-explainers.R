# Packages that explain or slim models, where they are installed. test-plug.R tests the methods without them.

m <- gbt_train(mpg ~ ., mtcars, nrounds = 20, seed = 1, threads = 1)
k <- gbt_train(Species ~ ., iris, nrounds = 5, seed = 1, threads = 1)

test_that("hstats has the partial dependence and the H statistics of gbt", {
  skip_if_not_installed("hstats", "1.0.0")
  h <- hstats::hstats(m, X = mtcars[-1], n_max = 32, verbose = FALSE)
  own <- as.data.frame(gbt_interactions(m, mtcars, threads = 1))
  all <- own[is.na(own$other), ]
  expect_equal(hstats::h2_overall(h)$M[all$column, 1], all$h_squared, ignore_attr = TRUE, tolerance = 1e-6)
  pairs <- own[!is.na(own$other), ]
  theirs <- hstats::h2_pairwise(h)$M[, 1]
  in_order <- paste(pairs$column, pairs$other, sep = ":")
  at <- ifelse(in_order %in% names(theirs), in_order, paste(pairs$other, pairs$column, sep = ":"))
  expect_equal(theirs[at], pairs$h_squared, ignore_attr = TRUE, tolerance = 1e-6)
  curve <- as.data.frame(gbt_partial(m, mtcars, "wt", threads = 1))
  other <- hstats::partial_dep(m, v = "wt", X = mtcars[-1], grid = curve[[1L]])$data
  expect_equal(other$y, curve[[2L]], tolerance = 1e-12)
})

test_that("shapviz takes models, of classes and with interactions, too", {
  skip_if_not_installed("shapviz", "0.9.0")
  s <- shapviz::shapviz(m, X_pred = mtcars[1:5, ], interactions = TRUE)
  expect_equal(rowSums(s$S) + s$baseline, predict(m, mtcars[1:5, ]), ignore_attr = TRUE)
  expect_equal(apply(s$S_inter, 1:2, sum), s$S, ignore_attr = TRUE)
  several <- shapviz::shapviz(k, X_pred = iris[c(1, 51, 101), ])
  link <- predict(k, iris[c(1, 51, 101), ], type = "link")
  for (j in 1:3) expect_equal(rowSums(several[[j]]$S) + several[[j]]$baseline, link[, j], ignore_attr = TRUE)
})

test_that("vip has gbt's importance, of a fit of parsnip as well", {
  skip_if_not_installed("vip", "0.4.0")
  own <- gbt_importance(m)
  expect_identical(vip::vi(m)$Importance, own$gain)
  expect_identical(vip::vi(m)$Variable, own$feature)
  skip_if_not_installed("parsnip", "1.2.0")
  spec <- parsnip::set_engine(parsnip::boost_tree("regression", trees = 20), "gbt", seed = 1)
  expect_identical(vip::vi(parsnip::fit(spec, mpg ~ ., mtcars))$Importance, own$gain)
})

test_that("a model without its call predicts the same (butcher)", {
  skip_if_not_installed("butcher")
  slim <- butcher::butcher(m)
  expect_null(slim$call)
  expect_identical(predict(slim, mtcars), predict(m, mtcars))
})
