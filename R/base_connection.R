# Models through connections: exactly the bytes of one model are read, so several may follow one another.

is_connection <- function(x) inherits(x, "connection")

is_raw_vector <- function(x) is.raw(x) && !is.object(x)

# Its name in messages.
connection_name <- function(con, parameter = "file") {
  printable(try_else(summary(con)$description, function(e) {
    stop_argument(sprintf("`%s` is a connection that was closed; create it again", parameter), parameter)
  }))
}

# Runs code(con) with `file` open in `mode`, "rb" or "wb". A connection that is not open is opened and then closed.
with_connection <- function(con, mode, parameter, code) {
  name <- connection_name(con, parameter)
  verb <- if (mode == "rb") "read" else "write"
  fail <- function(why) stop(gbt_error("io", sprintf("cannot %s connection \"%s\": %s", verb, name, why), name))
  checked_file <- function(code) {
    withCallingHandlers(try_else(code, function(e) fail(conditionMessage(e))),
                        warning = function(w) fail(conditionMessage(w)))
  }
  if (summary(con)$opened != "opened") {
    checked_file(open(con, mode))
    on.exit(close(con))
  }
  about <- summary(con)
  if (about[[if (mode == "rb") "can read" else "can write"]] != "yes" || about$text != "binary") {
    stop_argument(sprintf("`%s` is a connection of mode \"%s\"; open it with \"%s\"", parameter, about$mode, mode),
                  parameter)
  }
  checked_file(code(con))
}

# The bytes of a model, or all that there are where they are none: the head says how many there should be.
read_model_bytes <- function(con) {
  with_connection(con, "rb", "file", function(con) {
    state <- read_bytes(con, 24)
    if (length(state) < 24L || !identical(state[1:8], charToRaw("gbtmodel"))) return(state)
    total <- sum(as.integer(state[17:24]) * 256^(0:7))
    c(state, read_bytes(con, total - 24))
  })
}

# At most n bytes. In parts, as the number may be of a head that lies.
read_bytes <- function(con, n) {
  parts <- list()
  while (n > 0) {
    part <- readBin(con, "raw", min(n, 2^22))
    if (length(part) == 0L) break
    parts[[length(parts) + 1L]] <- part
    n <- n - length(part)
  }
  if (length(parts) == 0L) raw(0) else do.call(c, parts)
}

write_model_bytes <- function(con, bytes) {
  with_connection(con, "wb", "file", function(con) {
    for (at in seq(1, length(bytes), by = 2^22)) writeBin(bytes[at:min(at + 2^22 - 1, length(bytes))], con)
  })
}
