# The layers of R/, read off the calls: a file's prefix names its layer, and a file uses its own layer and
# those below it.
#
#   Rscript tools/check-layers.R [FOLDER]       FOLDER: the repository, default the current one
#   Rscript tools/check-layers.R --show         also prints all circles of files
#   Rscript tools/check-layers.R --self-check   shows that the check finds what it must find
#
# A circle is a group of files of which each reaches each other one by calls. `zzz.R` and the package's own page are
# on top of all.
#
# And no function uses a name that neither R/, NAMESPACE nor R's base package has, or globalVariables() in R/ names.
# R CMD check looks for that as well, in ten times the time (long form of tools/test).

layers <- c("base", "arg", "data", "fit", "verb", "plot", "plug")
largest_circle <- 10L

layer_of <- function(file) {
  prefix <- sub("_.*", "", sub("\\.R$", "", file))
  ifelse(file %in% c("zzz.R", "gbt-package.R"), length(layers), match(prefix, layers))
}

is_assignment <- function(e) is.call(e) && is.name(e[[1L]]) && as.character(e[[1L]]) %in% c("<-", "=", "<<-")
parts <- function(e) Filter(function(x) !(is.name(x) && !nzchar(as.character(x))), as.list(e))

# Names that `e` gives a value to, functions within it left out: a call of such a name is a call of the value.
assigned <- function(e) {
  if (!is.call(e) || identical(e[[1L]], quote(`function`))) return(character())
  own <- if (is_assignment(e) && is.name(e[[2L]]) && !(is.call(e[[3L]]) && identical(e[[3L]][[1L]], e[[2L]])))
    as.character(e[[2L]])
  loop <- if (identical(e[[1L]], quote(`for`))) as.character(e[[2L]])
  unique(c(own, loop, unlist(lapply(parts(e), assigned))))
}

# Names that `e` takes from outside; `local`: those that functions around it have given a value to.
taken <- function(e, local = character()) {
  if (is.name(e)) return(setdiff(as.character(e), local))
  if (is.pairlist(e) || is.expression(e)) return(unlist(lapply(parts(e), taken, local)))
  if (!is.call(e)) return(character())
  if (identical(e[[1L]], quote(`function`))) {
    local <- c(local, names(e[[2L]]), assigned(e[[3L]]))
    return(c(taken(e[[2L]], local), taken(e[[3L]], local)))
  }
  if (is.name(e[[1L]]) && as.character(e[[1L]]) %in% c("$", "@")) return(taken(e[[2L]], local))
  if (is.name(e[[1L]]) && as.character(e[[1L]]) %in% c("::", ":::")) return(character())
  unlist(lapply(parts(e), taken, local))
}

# What each file defines and takes: list(defined =, taken =), by the names of the files.
read_files <- function(folder) {
  files <- list.files(file.path(folder, "R"), "\\.R$")
  found <- lapply(file.path(folder, "R", files), function(path) {
    top <- as.list(parse(path, keep.source = FALSE))
    named <- vapply(top, function(e) is_assignment(e) && (is.name(e[[2L]]) || is.character(e[[2L]])), NA)
    functions <- Filter(function(e) is.call(e[[3L]]) && identical(e[[3L]][[1L]], quote(`function`)), top[named])
    used <- lapply(functions, function(e) codetools::findGlobals(eval(e[[3L]], baseenv())))
    told <- Filter(function(e) is.call(e) && identical(e[[1L]], quote(utils::globalVariables)), top)
    list(defined = vapply(top[named], function(e) as.character(e[[2L]]), ""), used = unique(unlist(used)),
         told = unlist(lapply(told, function(e) eval(e[[2L]], baseenv()))),
         taken = unique(unlist(lapply(top, function(e) if (is_assignment(e)) taken(e[[3L]]) else taken(e)))))
  })
  stats::setNames(found, files)
}

# Calls between files: data frame from, to, name.
calls_of <- function(found) {
  owner <- rep(names(found), vapply(found, function(f) length(f$defined), 0L))
  names(owner) <- unlist(lapply(found, `[[`, "defined"))
  rows <- lapply(names(found), function(file) {
    name <- intersect(found[[file]]$taken, names(owner))
    data.frame(from = rep(file, length(name)), to = unname(owner[name]), name = name)
  })
  calls <- do.call(rbind, rows)
  calls[calls$from != calls$to, ]
}

# Lines "FILE: NAME" of names that nothing defines. Symbols "C_..." are those of the glue (tools/check-entries.sh).
unknown_names <- function(found, folder) {
  imports <- if (file.exists(file.path(folder, "NAMESPACE"))) {
    Filter(function(e) identical(e[[1L]], quote(importFrom)), as.list(parse(file.path(folder, "NAMESPACE"))))
  }
  imported <- lapply(imports, function(e) vapply(as.list(e)[-(1:2)], as.character, ""))
  known <- c(ls(baseenv(), all.names = TRUE), unlist(imported), unlist(lapply(found, `[`, c("defined", "told"))))
  unlist(lapply(names(found), function(file) {
    name <- setdiff(as.character(found[[file]]$used), known)
    name <- name[!startsWith(name, "C_")]
    if (length(name)) paste0(file, ": ", name)
  }))
}

# Groups of files that reach each other, largest first.
circles_of <- function(calls, files) {
  reach <- matrix(FALSE, length(files), length(files), dimnames = list(files, files))
  reach[cbind(calls$from, calls$to)] <- TRUE
  for (k in files) reach <- reach | outer(reach[, k], reach[k, ])
  both <- reach & t(reach)
  groups <- unique(lapply(files[diag(both)], function(f) files[both[f, ]]))
  groups[order(-lengths(groups))]
}

check <- function(folder, show = FALSE) {
  found <- read_files(folder)
  calls <- calls_of(found)
  layer <- layer_of(names(found))
  names(layer) <- names(found)
  no_layer <- names(layer)[is.na(layer)]
  up <- calls[!is.na(layer[calls$from]) & !is.na(layer[calls$to]) & layer[calls$from] < layer[calls$to], ]
  circles <- circles_of(calls, names(found))
  large <- Filter(function(group) length(group) > largest_circle, circles)
  if (length(no_layer))
    cat("layers: the prefix of a file names its layer (", paste0(layers, "_", collapse = ", "), "); not so: ",
        paste(no_layer, collapse = ", "), "\n", sep = "")
  if (nrow(up)) {
    pairs <- paste(up$from, "->", up$to)
    for (pair in unique(pairs))
      cat("layers: calls upwards: ", pair, ": ", paste(up$name[pairs == pair], collapse = " "), "\n", sep = "")
  }
  for (group in if (show) circles else large)
    cat("layers: a circle of ", length(group), " files: ", paste(group, collapse = " "), "\n", sep = "")
  unknown <- unknown_names(found, folder)
  for (line in unknown) cat("layers: nothing has this name: ", line, "\n", sep = "")
  invisible(!length(no_layer) && !nrow(up) && !length(large) && !length(unknown))
}

self_check <- function() {
  folder <- tempfile("layers")
  dir.create(file.path(folder, "R"), recursive = TRUE)
  on.exit(unlink(folder, recursive = TRUE))
  put <- function(file, ...) writeLines(c(...), file.path(folder, "R", file))
  put("base_a.R", "low <- function(x) x$high")
  put("verb_b.R", "high <- function(low) low(1)", "other <- function(x) { low <- low(x); low }")
  stopifnot(check(folder))
  put("base_a.R", "low <- function(x) high(x)")
  put("c.R", "c1 <- 1")
  text <- utils::capture.output(good <- check(folder, TRUE))
  stopifnot(!good, any(grepl("not so: c.R", text)), any(grepl("base_a.R -> verb_b.R: high", text)),
            any(grepl("a circle of 2 files: base_a.R verb_b.R", text)))
  put("base_a.R", "low <- function(x) { y <- x; quote(w); y + hihg(x) + z }", "z <- 1")
  put("verb_b.R", "high <- function(low) low(base::sum, C_x, ~ v)", "utils::globalVariables(\"v\")")
  unlink(file.path(folder, "R", "c.R"))
  text <- utils::capture.output(good <- check(folder))
  stopifnot(!good, identical(text, "layers: nothing has this name: base_a.R: hihg"))
  cat("layers self-check: ok\n")
}

args <- commandArgs(TRUE)
if ("--self-check" %in% args) {
  self_check()
} else {
  folder <- setdiff(args, "--show")
  if (!check(if (length(folder)) folder[1L] else ".", "--show" %in% args)) quit(status = 1L)
}
