#!/bin/sh
# The site, by pkgdown: reference, articles, news. Needs no network; the installed gbt is documented.
#
#   sh tools/site.sh FOLDER          builds it in FOLDER, which is made, and checks its links
#   sh tools/site.sh --links FOLDER  checks the links of a site that is there
#
# Debian: r-cran-pkgdown, pandoc. Nothing is written to the repository: it is copied first.
set -eu

here=$(cd "$(dirname "$0")/.." && pwd)

links() { # FOLDER
  Rscript - "$1" <<'END'
folder <- normalizePath(commandArgs(TRUE)[1])
pages <- list.files(folder, "[.]html$", recursive = TRUE)
anchors <- function(page) {
  doc <- xml2::read_html(file.path(folder, page))
  c(xml2::xml_attr(xml2::xml_find_all(doc, "//*[@id]"), "id"),
    xml2::xml_attr(xml2::xml_find_all(doc, "//a[@name]"), "name"))
}
ids <- sapply(pages, anchors, simplify = FALSE)
bad <- character(0)
n <- 0
for (page in pages) {
  doc <- xml2::read_html(file.path(folder, page))
  to <- c(xml2::xml_attr(xml2::xml_find_all(doc, "//a[@href]"), "href"),
          xml2::xml_attr(xml2::xml_find_all(doc, "//img[@src]"), "src"))
  to <- unique(to[!grepl("^([a-z]+:|//|$|#$|#main$|#top$)", to)])
  for (link in to) {
    n <- n + 1
    path <- utils::URLdecode(sub("[#?].*$", "", link))
    target <- if (nzchar(path)) file.path(dirname(page), path) else page
    full <- file.path(folder, target)
    if (dir.exists(full)) full <- file.path(full, "index.html")
    found <- file.exists(full)
    anchor <- if (grepl("#", link, fixed = TRUE)) utils::URLdecode(sub("^[^#]*#", "", link))
    if (found && length(anchor) && nzchar(anchor)) {
      name <- substring(normalizePath(full), nchar(folder) + 2)
      found <- anchor %in% ids[[name]]
    }
    if (!found) bad <- c(bad, sprintf("%s: %s", page, link))
  }
}
cat(sprintf("%d pages, %d links within the site, %d lead nowhere\n", length(pages), n, length(bad)))
writeLines(head(bad, 50))
quit(status = if (length(bad)) 1 else 0)
END
}

if [ "${1:-}" = --links ]; then
  links "$2"
  exit
fi
[ $# = 1 ] || { echo "usage: sh tools/site.sh FOLDER" >&2; exit 2; }
for package in pkgdown gbt; do
  Rscript -e "quit(status = !requireNamespace('$package', quietly = TRUE))" || {
    echo "skipped: there is no R package $package"
    exit 0
  }
done
mkdir -p "$1"
out=$(cd "$1" && pwd)
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
(cd "$here" && git ls-files -z DESCRIPTION NAMESPACE LICENSE NEWS.md README.md _pkgdown.yml R man vignettes inst |
  xargs -0 tar cf - --) | tar xf - -C "$copy"
cd "$copy"
# what README.md leads to: articles, news, and files of the repository, which have no page and are named instead
perl -0pi -e 's{\]\(vignettes/(\w+)[.]Rmd\)}{](articles/$1.html)}g; s{\]\(NEWS[.]md\)}{](news/index.html)}g;' \
  -e 's{(?<!!)\[([^]]*)\]\(((?!https?:|articles/|news/)[^)]*)\)}{$1 eq $2 ? "`$2`" : "$1 (`$2`)"}ge' README.md
Rscript -e 'pkgdown::check_pkgdown()'
Rscript - "$out" <<'END'
options(pkgdown.internet = FALSE)
site <- pkgdown::as_pkgdown(".", override = list(destination = commandArgs(TRUE)[1]))
pkgdown::init_site(site)
pkgdown::build_home(site, preview = FALSE)
pkgdown::build_reference(site, preview = FALSE, devel = FALSE, lazy = FALSE)
pkgdown::build_articles(site, preview = FALSE, lazy = FALSE)
pkgdown::build_news(site, preview = FALSE)
pkgdown::build_search(site)
END
links "$out"
