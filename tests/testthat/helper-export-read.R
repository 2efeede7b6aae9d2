# What reads the files of models in the tests: C compilers, a reader of JSON, databases.

# NaN has no sign in texts, and is missing in SQLite.
bits <- function(x) writeBin(replace(as.double(x), is.na(x), NaN), raw())

c_compilers <- function() Filter(nzchar, Sys.which(c("gcc", "clang")))

# A program that reads rows (n, and a number; t, and a text that ends with NUL; m) and writes scores and responses.
c_driver <- function(name) {
  gsub("@", name, fixed = TRUE, c(
    "#include <stdio.h>", "#include <stdlib.h>",
    "int @_columns(void); double @_level(int, const char *); int @_outputs(void);",
    "const char *@_column(int); const char *@_class(int); const char *@_output(int);",
    "void @_score(const double *, const double *, double *);",
    "void @_predict(const double *, const double *, double *);",
    "int main(int n, char **arg) {",
    "  FILE *in = fopen(arg[1], \"rb\"), *out = fopen(arg[2], \"wb\"); char text[1000];",
    "  int kind, c = 0, k = @_outputs();",
    "  double *row = malloc(sizeof(double) * (size_t)(@_columns() + 1)), *score = malloc(sizeof(double) * (size_t)k);",
    "  double *given = n > 3 ? malloc(sizeof(double) * (size_t)k) : NULL;",
    "  for (int i = 0; given != NULL && i < k; i++) given[i] = atof(arg[3]);",
    "  while ((kind = getc(in)) != EOF) {",
    "    if (kind == 'n' && fread(&row[c], 8, 1, in) != 1) return 1;",
    "    if (kind == 'm') row[c] = @_level(c, NULL);",
    "    if (kind == 't') { int i = 0; while ((text[i] = (char)getc(in)) != 0) i++; row[c] = @_level(c, text); }",
    "    if (++c < @_columns()) continue;",
    "    c = 0; @_score(row, given, score); fwrite(score, 8, (size_t)k, out);",
    "    @_predict(row, given, score); fwrite(score, 8, (size_t)k, out);",
    "  }",
    "  for (int i = -1; i <= @_columns(); i++) puts(@_column(i) == NULL ? \"(none)\" : @_column(i));",
    "  for (int i = -1; i <= k; i++) puts(@_class(i) == NULL ? \"(none)\" : @_class(i));",
    "  for (int i = -1; i <= k; i++) puts(@_output(i) == NULL ? \"(none)\" : @_output(i));",
    "  return fclose(out);", "}"
  ))
}

cells_of <- function(model, rows) {
  rows <- rows[model$feature_names]
  cell <- function(v) {
    if (is.factor(v)) {
      text <- as.character(v)
      level <- function(t) if (is.na(t)) charToRaw("m") else c(charToRaw("t"), charToRaw(enc2utf8(t)), raw(1))
      return(lapply(text, level))
    }
    lapply(as.double(v), function(x) c(charToRaw("n"), writeBin(x, raw())))
  }
  columns <- lapply(rows, cell)
  unlist(lapply(seq_len(nrow(rows)), function(i) lapply(columns, `[[`, i)))
}

# list(score, predict, names): what the C source says of rows.
run_c <- function(source, model, rows, compiler, name = "model", offset = NULL) {
  folder <- withr::local_tempdir()
  main <- file.path(folder, "main.c")
  writeLines(c_driver(name), main)
  writeBin(cells_of(model, rows), file.path(folder, "rows"))
  program <- file.path(folder, "program")
  flags <- c("-std=c99", "-O2", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-ffp-contract=off")
  said <- suppressWarnings(system2(compiler, c(flags, "-o", program, main, source), stdout = TRUE, stderr = TRUE))
  expect_identical(as.character(said), character(0), info = compiler)
  names <- system2(program, c(file.path(folder, "rows"), file.path(folder, "out"), offset), stdout = TRUE)
  k <- model$n_outputs
  all <- readBin(file.path(folder, "out"), "double", 2 * k * nrow(rows))
  all <- array(all, c(k, 2, nrow(rows)))
  list(score = t(matrix(all[, 1, ], k)), predict = t(matrix(all[, 2, ], k)), names = enc2utf8(names))
}

as_rows <- function(prediction, n) unname(matrix(as.double(prediction), n))

# Raw scores by read_json.py are the bits of `want`.
expect_json <- function(model, rows, want, info) {
  script <- test_path("..", "format", "read_json.py")
  python <- Sys.which("python3")
  skip_if(!file.exists(script) || !nzchar(python), "there is no python3, or no reader")
  file <- withr::local_tempfile(fileext = ".json")
  table <- withr::local_tempfile()
  gbt_export(model, file)
  write_cells(rows, table)
  lines <- system2(python, c(shQuote(script), shQuote(file), shQuote(table)), stdout = TRUE, stderr = TRUE)
  got <- suppressWarnings(do.call(rbind, lapply(strsplit(lines, "\t", fixed = TRUE), as.double)))
  expect_identical(bits(got), bits(want), info = info)
}

# list(score, response): of a query in SQLite. NaN is NULL there.
run_sql <- function(file, model, rows, name = "model") {
  skip_if_not_installed("RSQLite", "2.2.5") # SQLite 3.35
  con <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  on.exit(DBI::dbDisconnect(con))
  rows[] <- lapply(rows, function(v) if (is.factor(v)) as.character(v) else v)
  DBI::dbWriteTable(con, paste0(name, "_rows"), cbind(rows, row_number = seq_len(nrow(rows))))
  query <- paste(readLines(file, encoding = "UTF-8"), collapse = "\n")
  got <- DBI::dbGetQuery(con, enc2utf8(query))
  got <- got[order(got$row_number), ]
  k <- if (model$n_outputs > 1) paste0("_", seq_len(model$n_outputs)) else ""
  part <- function(what) {
    its <- paste0(name, what, k)
    if (all(its %in% names(got))) unname(as.matrix(got[its])) else NULL
  }
  list(score = part("_score"), response = part("_response"))
}

# The same by DuckDB, or by PostgreSQL; NULL where they are not there.
run_sql_by <- function(where, file, model, rows, name = "model") {
  script <- test_path("..", "format", "predict_sql.py")
  python <- Sys.getenv("GBT_TEST_SQL")
  if (!nzchar(python) || !nzchar(where) || !file.exists(script)) return(NULL)
  table <- withr::local_tempfile()
  write_cells(rows, table)
  said <- withr::local_tempfile()
  lines <- suppressWarnings(system2(python, c(shQuote(script), shQuote(file), shQuote(table), name, shQuote(where)),
                                    stdout = TRUE, stderr = said))
  if (any(grepl("ModuleNotFoundError", readLines(said)))) return(NULL)
  expect_identical(readLines(said), character())
  got <- do.call(rbind, lapply(strsplit(lines, "\t", fixed = TRUE), as.double))
  k <- seq_len(model$n_outputs)
  list(score = got[, k, drop = FALSE], response = if (ncol(got) > length(k)) got[, -k, drop = FALSE])
}
