# The rows of a table of Spark on their way to the ranks. sparklyr's barrier stage hands over one column only, takes
# long for each row, and skips partitions without rows. So many rows of the table become one row with one text:
#
#   field TAB field TAB ... TAB row number NEWLINE field TAB ...
#
# Row numbers go from 0 through the whole table. Of n rows, rank r of `size` has those with (number * size) div n = r,
# which are consecutive and at least one. Each rank's rows are one partition.
#
# Fields are exact: doubles in hexadecimal, whole numbers in digits, missing values as \N. In texts a tab, a newline and
# a backslash are written \t, \n and \e.

# How the columns of a type of Spark's travel: list(kind = , sql = ), the kind as which R reads them and the expression
# that makes the text, with %s for the column. NULL for other types.
spark_field <- function(type) {
  switch(
    sub("\\(.*", "", type),
    ByteType =, ShortType =, IntegerType = list(kind = "integer", sql = "cast(%s as string)"),
    LongType =, FloatType =, DoubleType =, DecimalType =
      list(kind = "double", sql = "format_string('%%a', cast(%s as double))"),
    BooleanType = list(kind = "logical", sql = "cast(cast(%s as int) as string)"),
    StringType =, VarcharType =, CharType = list(kind = "text", sql = paste0(
      "replace(replace(replace(cast(%s as string), char(92), concat(char(92), 'e')), char(9), concat(char(92), 't')), ",
      "char(10), concat(char(92), 'n'))"
    )),
    DateType = list(kind = "date", sql = "cast(datediff(%s, to_date('1970-01-01')) as string)"),
    TimestampType = list(kind = "time", sql = "format_string('%%a', cast(%s as double))")
  )
}

# list(names, kinds, sql) of the columns: sql makes the fields of a row. types: of sparklyr::sdf_schema(), named by the
# columns.
spark_fields <- function(types) {
  fields <- lapply(types, spark_field)
  bad <- which(vapply(fields, is.null, NA))
  if (length(bad)) {
    name <- names(types)[[bad[[1L]]]]
    stop_unsupported(sprintf("column `%s` is of Spark's type %s, which is not offered; cast it, or leave it out by %s",
                             name, types[[bad[[1L]]]], "dplyr::select()"), name)
  }
  column <- sprintf("`%s`", gsub("`", "``", names(types), fixed = TRUE))
  list(names = names(types), kinds = vapply(fields, `[[`, "", "kind"),
       sql = sprintf("if(%s is null, concat(char(92), 'N'), %s)", column,
                     mapply(function(field, its) sprintf(field$sql, its), fields, column)))
}

# How the table is split: the fields of its columns, with n, the number of rows, size, of ranks, and chunk, of rows in a
# text. slots: how many ranks there may be.
share_plan <- function(table, slots) {
  schema <- from_sparklyr("sdf_schema")(table)
  fields <- spark_fields(stats::setNames(vapply(schema, function(one) as.character(one$type)[[1L]], ""),
                                         vapply(schema, `[[`, "", "name")))
  n <- as.double(from_sparklyr("sdf_nrow")(table))
  if (n == 0) stop_data("the table of Spark has no rows", "data")
  size <- as.integer(min(from_sparklyr("sdf_num_partitions")(table), slots, n))
  c(fields, list(n = n, size = size, chunk = max(1, 200000 %/% max(1L, length(fields$names)))))
}

# The table of Spark that has a partition for each rank, with one column of texts. view: a name for a table on the way.
rows_as_text <- function(table, shares, view) {
  sc <- from_sparklyr("spark_connection")(table)
  sql <- function(...) from_sparklyr("sdf_sql")(sc, sprintf(...))
  fields <- sprintf("concat_ws(char(9), %s) as gbt_fields", paste(shares$sql, collapse = ", "))
  texts <- from_sparklyr("invoke")(from_sparklyr("spark_dataframe")(table), "selectExpr", list(fields))
  from_sparklyr("sdf_register")(from_sparklyr("sdf_with_sequential_id")(texts, "gbt_number", 0L), view)
  keys <- keys_of_partitions(sql, shares$size)
  sql(paste(
    "select gbt_text from (select /*+ REPARTITION(%1$d, gbt_key) */ gbt_text, gbt_key from (",
    "  select element_at(array(%2$s), gbt_share + 1) as gbt_key, gbt_share, gbt_chunk,",
    "    concat_ws(char(10), collect_list(gbt_line)) as gbt_text",
    "  from (select concat(gbt_fields, char(9), cast(cast(gbt_number as bigint) as string)) as gbt_line,",
    "    cast((cast(gbt_number as bigint) * %1$d) div %3$.0f as int) as gbt_share,",
    "    cast(gbt_number as bigint) div %4$.0f as gbt_chunk from %5$s)",
    "  group by gbt_share, gbt_chunk))"
  ), shares$size, paste(keys, collapse = ", "), shares$n, shares$chunk, view)
}

drop_view <- function(sc, view) {
  invisible(call_spark(call_spark(from_sparklyr("spark_session")(sc), "catalog"), "dropTempView", view))
}

# For each partition a number that Spark puts there: by pmod(hash(key), partitions).
keys_of_partitions <- function(sql, size) {
  found <- as.data.frame(from_sparklyr("collect")(sql(paste(
    "select pmod(hash(cast(id as int)), %1$d) as place, cast(min(id) as int) as gbt_key from range(%2$d) group by 1"
  ), size, 64L * size)))
  found$gbt_key[match(seq_len(size) - 1L, found$place)]
}

# In a task: list(rank = , data = ) of its texts. Fails unless they are the rows of one rank.
read_share <- function(texts, shares) {
  chunks <- lapply(texts, fields_of_text, shares$kinds)
  rows <- unlist(lapply(chunks, `[[`, "rows"))
  order <- order(rows)
  rows <- rows[order]
  rank <- (rows[1L] * shares$size) %/% shares$n
  ends <- ceiling((rank + 0:1) * shares$n / shares$size)
  if (!identical(as.double(rows), seq(ends[1L], length.out = ends[2L] - ends[1L]))) {
    stop_data(sprintf(paste("it has %s rows that are not those of one rank: the table of Spark may give other rows",
                            "each time; keep them by dplyr::compute()"), with_commas(length(rows))))
  }
  columns <- lapply(seq_along(shares$kinds), function(j) {
    with_class_of_kind(unlist(lapply(chunks, function(chunk) chunk$columns[[j]]))[order], shares$kinds[[j]])
  })
  list(rank = as.integer(rank), data = structure(columns, names = shares$names, class = "data.frame",
                                                 row.names = .set_row_names(length(rows))))
}

# list(rows = their numbers, columns = ) of a text.
fields_of_text <- function(text, kinds) {
  Encoding(text) <- "UTF-8" # whatever the locale of the task
  fields <- strsplit(strsplit(text, "\n", fixed = TRUE)[[1L]], "\t", fixed = TRUE)
  width <- length(kinds) + 1L
  if (any(lengths(fields) != width)) stop_data("a row has not come whole")
  fields <- matrix(unlist(fields), ncol = width, byrow = TRUE)
  list(rows = as.double(fields[, width]),
       columns = lapply(seq_along(kinds), function(j) value_of_field(fields[, j], kinds[[j]])))
}

value_of_field <- function(field, kind) {
  field[field == "\\N"] <- NA
  switch(
    kind,
    integer = suppressWarnings(as.integer(field)), # Spark's smallest one is NA in R
    logical = field == "1",
    text = text_of_field(field),
    as.double(field)
  )
}

text_of_field <- function(field) {
  at <- grep("\\", field, fixed = TRUE)
  some <- gsub("\\n", "\n", gsub("\\t", "\t", field[at], fixed = TRUE), fixed = TRUE)
  field[at] <- gsub("\\e", "\\", some, fixed = TRUE)
  field
}

with_class_of_kind <- function(values, kind) {
  switch(kind, date = structure(values, class = "Date"),
         time = structure(values, class = c("POSIXct", "POSIXt"), tzone = "UTC"), values)
}
