# Model files: the contents of a folder before, while and after a model is saved or loaded.

small <- gbt_train(mpg ~ ., mtcars, nrounds = 1, threads = 1)
large <- gbt_train(mpg ~ ., mtcars, nrounds = 40, threads = 1)

test_that("a name may be as long as the system allows", {
  skip_on_os("windows")
  folder <- withr::local_tempdir()
  name <- strrep("a", 255)
  file <- file.path(folder, name)
  skip_if_not(file.create(file), "names of 255 bytes are too long here")
  for (m in list(small, large)) {
    gbt_save(m, file)
    expect_identical(gbt_load(file)$state, m$state)
  }
  expect_identical(files_of(folder), name)
  expect_error(gbt_save(small, file.path(folder, strrep("a", 256))), class = "gbt_error_io")
  expect_error(gbt_save(small, strrep("a/", 5000)), class = "gbt_error_io")
})

test_that("a link is followed to the file, or to where it will be", {
  skip_on_os("windows")
  folder <- withr::local_tempdir()
  withr::local_dir(folder)
  dir.create("there")
  file.symlink("../there/model.gbt", "there/second")
  file.symlink("there/second", "first")
  gbt_save(small, "first")
  expect_identical(bytes_of_file("there/model.gbt"), bytes_to_save(small))
  gbt_save(large, file.path(folder, "first"))
  expect_identical(bytes_of_file("there/model.gbt"), bytes_to_save(large))
  expect_identical(unname(Sys.readlink(c("first", "there/second"))), c("there/second", "../there/model.gbt"))
  expect_identical(gbt_load("first")$state, large$state)
  file.symlink("there/none/model.gbt", "lost")
  expect_error(gbt_save(small, "lost"), class = "gbt_error_io")
  file.symlink("turn", "round")
  file.symlink("round", "turn")
  for (link in c("round", "turn")) {
    expect_error(gbt_save(small, link), "symbolic link in a loop", class = "gbt_error_io")
    expect_error(gbt_load(link), class = "gbt_error_io")
  }
  expect_identical(files_of(folder), c("first", "lost", "round", "there", "turn"))
  expect_identical(files_of("there"), c("model.gbt", "second"))
})

test_that("a file is looked at before memory is taken for it", {
  skip_on_os("windows")
  skip_on_cran()
  folder <- withr::local_tempdir()
  sparse <- function(name, bytes, head = raw(0)) {
    file <- file.path(folder, name)
    writeBin(head, file)
    skip_if(suppressWarnings(system2("truncate", c("-s", bytes, shQuote(file)), stderr = FALSE)) != 0, "no truncate")
    file
  }
  expect_error(gbt_load(sparse("zeros", "60000000000")), "not a gbt model", class = "gbt_error_format")
  expect_error(gbt_load(sparse("longer", "60000000000", small$state)), "followed by other bytes",
               class = "gbt_error_format")
  expect_error(gbt_load(sparse("other", "60000000000", charToRaw("RDX3\n"))), "is read by readRDS()", fixed = TRUE,
               class = "gbt_error_format")
  # 2^50 bytes are more than any machine has, and their head says that they are all there
  says <- c(small$state[1:16], as.raw(c(0, 0, 0, 0, 0, 0, 4, 0)), small$state[25:400])
  vast <- file.path(folder, "vast")
  writeBin(says, vast)
  if (suppressWarnings(system2("truncate", c("-s", "1125899906842624", shQuote(vast)), stderr = FALSE)) == 0) {
    expect_error(gbt_load(vast), class = "gbt_error_memory")
  }
})

test_that("what a killed save left is removed by the next one to the same file, and nothing else", {
  skip_on_os("windows")
  skip_on_cran()
  folder <- withr::local_tempdir()
  file <- file.path(folder, "model.gbt")
  gbt_save(small, file)
  for (attempt in 1:200) {
    child <- parallel::mcparallel(repeat gbt_save(large, file), silent = TRUE)
    Sys.sleep(stats::runif(1, 0, 0.05))
    tools::pskill(child$pid, tools::SIGKILL)
    suppressWarnings(parallel::mccollect(child))
    left <- setdiff(files_of(folder), "model.gbt")
    if (length(left)) break
  }
  expect_match(left, "^[.]gbt-.*[.]tmp$") # one
  others <- c(sub("^.gbt-.", ".gbt-x", left), sub("tmp$", "gbt", left), "a.tmp") # not of this target, not temporary
  file.create(file.path(folder, others))
  gbt_save(small, file.path(folder, "other.gbt"))
  expect_setequal(files_of(folder), c("model.gbt", "other.gbt", left, others))
  gbt_save(small, file)
  expect_setequal(files_of(folder), c("model.gbt", "other.gbt", others))
})

test_that("a limit of file sizes is an error that leaves the old file", {
  skip_on_cran()
  folder <- withr::local_tempdir()
  gbt_save(small, file.path(folder, "model.gbt"))
  child <- start_child(before = "ulimit -f 32 &&", code = bquote({
    m <- gbt_train(mpg ~ ., mtcars, nrounds = 200, threads = 1)
    caught <- tryCatch(gbt_save(m, .(file.path(folder, "model.gbt"))), error = identity)
    say("caught", class(caught)[1L])
    say("small", class(tryCatch(gbt_save(m[1], .(file.path(folder, "small.gbt"))), error = identity))[1L])
  }))
  expect_identical(wait_for(child, "caught")[3L], "gbt_error_io")
  expect_identical(wait_for(child, "small")[3L], "gbt")
  expect_setequal(files_of(folder), c("model.gbt", "small.gbt"))
  expect_identical(bytes_of_file(file.path(folder, "model.gbt")), bytes_to_save(small))
})

test_that("a file in a folder that cannot be written to stays, and the error says why", {
  skip_on_os("windows")
  folder <- withr::local_tempdir()
  file <- file.path(folder, "model.gbt")
  gbt_save(small, file)
  Sys.chmod(folder, "0555")
  withr::defer(Sys.chmod(folder, "0755"))
  skip_if(file.access(folder, 2) == 0, "root may write everywhere")
  expect_error(gbt_save(large, file), "to replace the file safely", class = "gbt_error_io")
  expect_identical(bytes_of_file(file), bytes_to_save(small))
  expect_error(gbt_save(large, file.path(folder, "new.gbt")), "cannot write", class = "gbt_error_io")
})

test_that("a file that is replaced again and again is read as the old one or the new one", {
  skip_on_os("windows")
  skip_on_cran()
  file <- withr::local_tempfile()
  gbt_save(small, file)
  writer <- parallel::mcparallel(repeat for (m in list(large, small)) gbt_save(m, file), silent = TRUE)
  withr::defer(tools::pskill(writer$pid, tools::SIGKILL))
  seen <- integer(0)
  n <- 0
  end <- Sys.time() + 600
  while (Sys.time() < end && (n < 300 || length(seen) < 2)) {
    seen <- union(seen, gbt_load(file)$nrounds)
    n <- n + 1
  }
  expect_setequal(seen, c(1L, 40L))
})

test_that("a file that is replaced keeps its mode, also the one that new files ask for", {
  skip_on_os("windows")
  file <- withr::local_tempfile()
  before <- Sys.umask("022")
  withr::defer(Sys.umask(before))
  gbt_save(small, file)
  expect_identical(format(file.mode(file)), "644")
  for (mode in c("666", "640", "600")) {
    Sys.chmod(file, mode, use_umask = FALSE)
    gbt_save(large, file)
    expect_identical(format(file.mode(file)), mode)
  }
})
