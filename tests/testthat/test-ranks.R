# Ranks, as far as one process shows them: tests/robust/ranks.sh has several.

test_that("ranks come from gbt_ranks(), whose arguments are checked", {
  expect_snapshot(error = TRUE, {
    gbt_train(mpg ~ ., mtcars, nrounds = 2, ranks = 4)
    gbt_ranks(timeout = -1)
    gbt_ranks(library = 1)
    gbt_ranks(comm = "world")
    gbt_cv(mpg ~ ., mtcars, nrounds = 2, ranks = 4)
    gbt_tune(mpg ~ ., mtcars, nrounds = 2, ranks = 4)
  })
  expect_error(gbt_ranks(library = "/no/such/libmpi.so"), "cannot be opened", class = "gbt_error_unsupported")
})

test_that("gbt_info() tells which MPI library there is, and loads none", {
  maps <- "/proc/self/maps"
  loaded <- function() if (file.exists(maps)) any(grepl("libmpi|libmpich", readLines(maps))) else FALSE
  skip_if(loaded(), "this process uses MPI")
  mpi <- gbt_info()$mpi
  expect_named(mpi, c("library", "family", "file", "started", "why"))
  expect_identical(is.na(mpi$library), !is.na(mpi$why))
  expect_false(mpi$started)
  expect_false(loaded())
  expect_output(print(gbt_info()), "mpi +[^ ]")
  expect_identical(mpi_text(list(library = NA_character_, why = "none can be opened")), "no: none can be opened")
  expect_identical(mpi_text(list(library = "MPICH 4.0.2", file = "/lib/libmpich.so.12", started = TRUE)),
                   "MPICH 4.0.2 (/lib/libmpich.so.12), started")
})

test_that("without ranks a process has the rows of all", {
  expect_identical(gather_ranks(list(x = 1:3, y = "a")), list(list(x = 1:3, y = "a")))
  expect_identical(sum_of_ranks(5), 5)
  expect_identical(all_ranks_have(c("b", "a")), c("b", "a"))
  expect_identical(range_of_ranks(c(2, -1, 7)), c(-1, 7))
  expect_true(any_rank(TRUE))
  expect_identical(sums_of_ranks(c(0.5, 2)), c(0.5, 2))
  expect_identical(of_first_rank(list(a = "b")), list(a = "b"))
  expect_identical(rows_of_ranks(c(3, 1)), c(3, 1))
  expect_identical(own_rows(c(3, 1), 2), c(3, 1))
  expect_identical(rows_before(7), 0)
  expect_identical(count_groups(c(1L, 3L, 2L)), 3)
  expect_identical(on_all_ranks(c("b", "a")), c("b", "a"))
  expect_identical(all_or_none(5), 5)
  expect_silent(check_same_on_ranks(1:3, "a thing", ""))
})

test_that("columns of several ranks have the classes that fit all of them", {
  expect_identical(common_tags(c("missing", "integer", "double", "factor"), c("Date", "double", "integer", "missing")),
                   c("Date", "double", "double", "factor"))
  all <- list(c("double", "missing"), c("character", "factor"))
  expect_error(check_tags_of_ranks(c("a", "b"), Reduce(common_tags, all), all),
               "column `a` is of class double on rank 0 and of class character on rank 1", class = "gbt_error_data")
})

test_that("columns travel to ranks without rows as tags, which keep all that the encoder sees", {
  unit <- function(above, below) {
    its <- structure(list(numerator = above, denominator = below), class = "symbolic_units")
    structure(c(1, 2), units = its, class = "units")
  }
  day <- as.Date("2020-01-01") + 0:1
  columns <- list(
    i = 1:2, d = c(0.5, 2), l = c(TRUE, NA), none = c(NA, NA), text = c("a", "b"), factor = factor(c("u", "v")),
    ordered = factor(c("u", "v"), ordered = TRUE), day = day, time = as.POSIXct(day), lt = as.POSIXlt(day),
    span = as.difftime(1:2, units = "mins"), big = structure(c(0, 1), class = "integer64"),
    speed = unit(c("kg", "m", "m"), c("s", "s", "K")), rate = unit(character(0), "s"),
    coded = structure(c(1, 99), na_values = c(98, 99), na_range = c(-9, -1), class = "haven_labelled_spss"),
    refused = list(1, 2)
  )
  tags <- lapply(columns, tag_of_column)
  head <- head_of_ranks(list_frame(columns, 2L))
  expect_identical(dim(head), c(0L, length(columns)))
  expect_identical(lapply(head, tag_of_column), tags)
  expect_identical(vapply(tags, `[[`, "", "tag")[c("ordered", "span", "speed", "rate", "coded", "lt")],
                   c(ordered = "ordered", span = "difftime:mins", speed = "units:kg*m^2/K/s^2", rate = "units:1/s",
                     coded = "coded:98,99,-9..-1", lt = "POSIXct"))
  expect_identical(levels(head$ordered), c("u", "v"))
  expect_null(head_of_ranks(NULL))
  its <- list(names = "a", tag = "factor", levels = list(NULL))
  expect_identical(head_of_tags(its), list_frame(list(a = factor(character(0))), 0L))
  for (bad in list(list(names = 1), list(tag = NA_character_), list(levels = NULL), list(levels = list(1)))) {
    expect_error(head_of_tags(replace(its, names(bad), bad)), class = "gbt_error_format")
  }
})

# Code as the process of this number among so many would run it, as far as it asks no other process.
as_rank <- function(rank, size, code) {
  package_state$ranks <- structure(list(rank = rank, size = size), class = "gbt_ranks")
  on.exit(package_state$ranks <- NULL)
  code
}

test_that("each rank has folders of its own, and data know whose share they are", {
  expect_identical(own_folders(c("a", "b/c")), c("a", "b/c"))
  expect_identical(as_rank(2L, 4L, own_folders(c("a", "b/c"))), c("a/rank-0002", "b/c/rank-0002"))
  expect_silent(as_rank(2L, 4L, check_own_share(list(share = c(2L, 4L)), "`x`", "x")))
  expect_silent(check_own_share(list(), "`x`", "x"))
  expect_silent(check_own_share(list(share = c(0L, 1L)), "`x`", "x"))
  expect_snapshot(error = TRUE, {
    check_own_share(list(share = c(2L, 4L)), "`x`", "x")
    as_rank(0L, 2L, check_own_share(list(), "`x`", "x"))
    as_rank(1L, 2L, check_own_share(list(share = c(1L, 4L)), "validation set \"late\"", "valid"))
  })
})

test_that("a folder keeps whose share it is, which must be a rank of so many", {
  for (bad in list(2L, c(2L, 2L), c(-1L, 2L), c(0, 2), c(a = 0L, b = 2L), c(NA, 2L))) {
    expect_false(is_valid_share(bad))
  }
  expect_true(is_valid_share(c(0L, 2L)))
  kept <- function(share) {
    fields <- folder_values(list(share = share, sparse_zero = "value", max_bin = 255, is_reference = TRUE))
    fields_of_folder(values_bytes(fields), 150, "f")$share
  }
  expect_identical(kept(c(1L, 3L)), c(1L, 3L))
  expect_null(kept(NULL))
})

test_that("a folder keeps which query is on several ranks", {
  group_of <- function(divided, group = c(1, 2)) {
    fields <- folder_values(list(group = if (!is.null(group)) structure(group, divided = divided),
                                 sparse_zero = "value", max_bin = 255, is_reference = TRUE))
    fields$divided <- divided
    fields_of_folder(values_bytes(fields), 2, "f")$group
  }
  expect_identical(group_of(NULL), c(1, 2))
  expect_error(check_undivided(group_of("query \"b\" is divided")), "query \"b\" is divided", class = "gbt_error_data")
  expect_error(group_of(2), "damaged", class = "gbt_error_format")
  expect_error(group_of("query", NULL), "damaged", class = "gbt_error_format")
})

test_that("what ranks hold out must be the same share or the same kind of rows", {
  kinds <- lapply(list(NULL, 0.2, c(TRUE, FALSE), 1:2, list(x = 1, y = 2)), kind_of_valid)
  expect_identical(unlist(kinds), c("none", "the share 0.2", "rows of the data", "rows of the data", "other rows"))
})

test_that("what ranks differ in is said of both, and ranks are not made by hand", {
  expect_identical(difference_of_ranks(c("a", "b"), c("b", "c"), 2L), "\"a\" on rank 0, \"c\" on rank 2")
  expect_identical(difference_of_ranks(c("a", "b"), "b", 1L), "\"a\" on rank 0, not on rank 1")
  expect_identical(difference_of_ranks("b", c("a", "b"), 1L), "\"a\" on rank 1, not on rank 0")
  expect_match(difference_of_ranks(c("a", "b"), c("b", "a"), 1L), "on rank 0, .*on rank 1$")
  expect_error(gbt_train(mpg ~ ., mtcars, nrounds = 2, ranks = structure(list(), class = "gbt_ranks")),
               "`ranks` must come from gbt_ranks()", fixed = TRUE, class = "gbt_error_argument")
})

test_that("groups of rows of ranks are joined by their values, and a rank may have none of a group", {
  values <- list(f = factor(c("b", "a")), n = c(2, NA), d = as.Date("2020-01-01") + 1:2, t = c("x", NA),
                 l = c(TRUE, NA))
  for (name in names(values)) expect_identical(column_of_ranks(values[[name]], name), values[[name]])
  expect_error(column_of_ranks(1i, "z"), "`by`: `z` cannot be", class = "gbt_error_unsupported")
  own <- rows_by_group(list(g = c("b", "a", "b")), 3)
  expect_identical(groups_of_ranks(own$values, own$rows), own)
  expect_identical(groups_of_ranks(list_frame(list(g = c("b", "a")), 2L), list(1:3))$rows, list(integer(0), 1:3))
  expect_identical(dim(as_columns(numeric(0))), c(0L, 1L)) # predictions of a rank without rows
  expect_error(gbt_evaluate(1, mtcars, ranks = 2), class = "gbt_error_argument")
})

test_that("an error has its classes on other ranks as well, and their text is short", {
  there <- function(error) { # as raise_engine() has it there
    tryCatch(raise_engine("internal", "rank 1 of 2: no", "x", FALSE, classes_text(error)), error = identity)
  }
  own <- own_error(structure(class = c("mine", "error", "condition"), list(message = "no", call = NULL)), "callbacks")
  expect_identical(class(there(own)), class(own))
  expect_identical(there(own)$kind, "callback")
  plain <- simpleError("no")
  expect_identical(class(there(plain)), class(plain))
  expect_identical(classes_text(gbt_error("data", "no")), "")
  expect_identical(class(there(gbt_error("data", "no")))[[1L]], "gbt_error_internal") # of the status, given apart
  class(own) <- c(paste0("a", strrep("b", 20 * 1:9)), class(own))
  expect_lte(nchar(classes_text(own)), 150)
  expect_s3_class(there(own), c("gbt_error", "error", "condition"))
})

test_that("what fails before the ranks meet is told to them, once", {
  called <- function(x, ..., ranks = NULL) told_to_ranks(x)
  of_dots <- function(x, ...) told_to_ranks(x)
  expect_identical(called(5), 5)
  expect_error(called(stop("no")), "no") # without ranks
  given <- structure(list(rank = 0L, size = 1L, handle = 1), class = "gbt_ranks") # a handle that reaches no rank
  used <- package_state$ranks_used
  expect_error(called(stop("no"), ranks = given), "no")
  expect_error(of_dots(stop("no"), 1, ranks = given), "no")
  expect_identical(package_state$ranks_used, given_or(used, 0) + 2)
  expect_error(of_dots(called(stop("no"), ranks = given), ranks = given), "no") # the inner one has told it
  expect_identical(package_state$ranks_used, given_or(used, 0) + 3)
  expect_error(of_dots(stop("no"), ranks = stop("nor these")), "^no$")
  expect_null(package_state$ranks)
})

test_that("draws need numbers of rows that an integer counts", {
  expect_silent(check_drawn_rows(2^31 - 1, "folds", "give folds"))
  expect_snapshot(check_drawn_rows(2^31, "folds", "give `folds` as a fold for each row"), error = TRUE)
})

test_that("warnings that only other ranks have are shown with the number of the rank", {
  told <- list(list(kind = "column", text = "this"), list(kind = c("column", "weights"), text = c("this", "that")),
               list(kind = c("weights", "weights"), text = c("that", "other")))
  seen <- list()
  withCallingHandlers(warn_of_ranks(told), gbt_warning = function(w) {
    seen[[length(seen) + 1L]] <<- w
    invokeRestart("muffleWarning")
  })
  expect_identical(vapply(seen, conditionMessage, ""), c("rank 1 of 3: that", "rank 2 of 3: other"))
  expect_s3_class(seen[[1L]], "gbt_warning_weights")
})

test_that("draws of the rows of all ranks are those of a sort", {
  seed <- 7
  for (n in c(2, 3, 10, 257, 1000)) {
    for (classes in c(1, 2, 9)) {
      class <- if (classes > 1) as.double(.Call(C_gbt_row_draws, as.integer(n), n, 0) %% classes)
      draw <- .Call(C_gbt_row_draws, as.integer(n), seed, 0)
      for (share in c(0.001, 0.2, 0.5, 0.99)) {
        held <- .Call(C_gbt_hold_out, n, share, seed, class)$held
        expect_identical(which(held_by_draws(draw, class, share)), held)
      }
      places <- integer(n)
      places[if (is.null(class)) order(draw) else order(class, draw)] <- seq_len(n)
      for (at_once in c(7, 100, 1e6)) expect_equal(places_by_draw(draw, class, at_once), places, tolerance = 0)
    }
    few <- as.double(draw %% 5)
    for (k in unique(c(1, n %/% 2, n))) {
      expect_identical(kth_of_ranks(draw, k), as.double(sort(draw)[k]))
      expect_identical(kth_of_ranks(few, k), sort(few)[k])
    }
  }
})

test_that("draws go on with the number of the row", {
  expect_identical(.Call(C_gbt_row_draws, 4L, 3, 6), .Call(C_gbt_row_draws, 10L, 3, 0)[7:10])
})

test_that("tenths are those of quantile()", {
  for (n in c(1:40, 999, 1000, 1001)) {
    v <- .Call(C_gbt_row_draws, as.integer(n), 1, 0) %% 50
    cuts <- unique(stats::quantile(v, seq(0.1, 0.9, 0.1), names = FALSE, type = 1))
    expect_identical(tenths(v), findInterval(v, cuts))
  }
})

test_that("consecutive files go to ranks by their bytes, and consecutive rows by their number", {
  expect_identical(part_of_sizes(c(10, 90, 70, 30), 2L), c(0, 0, 1, 1))
  expect_identical(part_of_sizes(c(1, 1, 100), 3L), c(0, 0, 1))
  expect_identical(part_of_sizes(c(0, 0, 0, 0), 2L), c(0, 0, 1, 1))
  expect_identical(part_of_sizes(5, 4L), 2)
  for (size in 1:5) {
    expect_false(is.unsorted(part_of_sizes(c(5, 1, 30, 2, 2, 8, 1), size)))
    runs <- lapply(seq_len(size) - 1L, function(rank) as_rank(rank, size, own_run(13)))
    expect_equal(unlist(runs), 1:13)
  }
  expect_length(as_rank(0L, 4L, own_run(2)), 0L)
  group <- factor(c("a", "a", "a", "b", "b", "c", NA, NA, "d"))
  expect_identical(cuts_of_rows(9, 3, group), c(0, 3, 6, 9))
  expect_identical(cuts_of_rows(9, 9, group), c(0, 3, 3, 3, 5, 5, 6, 7, 8, 9))
  expect_identical(cuts_of_rows(9, 2, rep(1, 9)), c(0, 9, 9))
  expect_identical(cuts_of_rows(9, 2, "name"), c(0, 4, 9))
})

test_that("a query on two ranks is an error that names it and the ranks", {
  expect_null(divided_group(list(c(3, 2), numeric(0), 4:5)))
  expect_null(attr(number_groups(c(7, 2, 7)), "divided"))
  divided <- structure(c(1, 2), divided = divided_group(list(c(7L, 2L), 1:2, 2:1)))
  expect_error(check_undivided(divided), "the rows of query 2 (`group`) are on ranks 0, 1 and 2; give all rows",
               fixed = TRUE, class = "gbt_error_data")
  attr(divided, "divided") <- divided_group(list("a", c("a", "b"), "b"))
  expect_identical(attr(check_group(divided, 2), "divided"), attr(divided, "divided"))
  expect_error(check_undivided(divided, "late"),
               "validation set \"late\": the rows of query \"a\" (`group`) are on ranks 0 and 1", fixed = TRUE)
  expect_match(divided_group(list(18262, 18262), "Date"), "2020-01-01", fixed = TRUE)
})

test_that("what belongs to rows that ranks split is of all of them", {
  fields <- list(y = 1:4, weights = c(0.5, 1, 2, 3), offset = matrix(1:8, 4), exposure = "hours", mask = NULL)
  expect_identical(part_of_fields(fields, 4, 2:3),
                   list(y = 2:3, weights = c(1, 2), offset = matrix(c(2:3, 6:7), 2), exposure = "hours", mask = NULL))
  expect_snapshot(error = TRUE, {
    part_of_fields(list(weights = 1:2), 4, 1:2)
    part_of_fields(list(y = 1:3), 4, 1:2)
    stop_no_split()
    gbt_ranks(share = "rows")
  })
})

test_that("ranks that have no folder of their own learn how it is made", {
  folder <- withr::local_tempdir()
  open <- function() as_rank(1L, 2L, open_folders(folder, NULL, 1))
  expect_error(open(), "makes one for each rank, and as many ranks open them", class = "gbt_error_data")
  gbt_data(mtcars[-1], mtcars$mpg, path = folder, threads = 1)
  expect_error(open(), "one process made the data set that `path` has, and ranks cannot divide it",
               class = "gbt_error_data")
})
