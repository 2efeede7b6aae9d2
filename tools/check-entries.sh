#!/bin/sh
# The table of what R may call, src/r_entries.h. It is made from the definitions of r_gbt_NAME() in src/r_*.c, which R
# calls as .Call(C_gbt_NAME, ...), and is committed.
#
#   sh tools/check-entries.sh --write        makes src/r_entries.h anew, after an entry point was added or changed
#   sh tools/check-entries.sh [FOLDER]       FOLDER: the repository, default the one of this script. Faults are: a table
#                                            that is not what --write would make, a call in R/ of what is not in it, an
#                                            entry point that nothing in R/ calls
#   sh tools/check-entries.sh --self-check   shows that the check finds what it must find
set -eu
LC_ALL=C
export LC_ALL

# definitions ROOT: "NAME N_ARGS PROTOTYPE", one line each, by name. A definition begins in the first column and its
# parameters, on one line or several, are followed by " {".
definitions() {
  cat "$1"/src/r_*.c | awk '
    /^SEXP r_gbt_[A-Za-z0-9_]*\(/ { head = "" ; open = 1 }
    open {
      line = $0
      sub(/^ +/, " ", line)
      head = head line
      if (head ~ /\) \{/) {
        open = 0
        sub(/ \{.*/, "", head)
        name = head
        sub(/^SEXP r_gbt_/, "", name)
        sub(/\(.*/, "", name)
        parameters = head
        sub(/^[^(]*\(/, "", parameters)
        n = parameters == "void)" ? 0 : gsub(/,/, ",", parameters) + 1
        print name, n, head ";"
      }
    }' | sort
}

table() { # ROOT
  cat <<'END'
/* Functions for R: prototypes and the table that R_init_gbt() registers. Made by `sh tools/check-entries.sh --write`
 * from the definitions in r_*.c; do not edit. X(name, number of arguments). */
#ifndef R_ENTRIES_H
#define R_ENTRIES_H

END
  definitions "$1" | awk '
    { # lines to 120 columns, broken after a comma
      rest = substr($0, length($1) + length($2) + 3)
      indent = index(rest, "(")
      pad = ""
      while (length(pad) + length(rest) > 120) {
        cut = 120 - length(pad)
        while (substr(rest, cut, 2) != ", ") cut--
        print pad substr(rest, 1, cut)
        rest = substr(rest, cut + 2)
        pad = sprintf("%" indent "s", "")
      }
      print pad rest
    }'
  printf '\n#define R_ENTRIES(X)'
  definitions "$1" | awk '{ printf " \\\n  X(%s, %d)", $1, $2 } END { print "\n\n#endif" }'
}

check() { # ROOT: faults, one line each
  work=$(mktemp -d)
  table "$1" >"$work/table"
  cmp -s "$work/table" "$1/src/r_entries.h" ||
    echo "entries: src/r_entries.h is not what src/r_*.c define: run sh tools/check-entries.sh --write"
  definitions "$1" | cut -d ' ' -f 1 >"$work/defined"
  cat "$1"/R/*.R | sed 's/^ *#.*//' | grep -o 'C_gbt_[A-Za-z0-9_]*' | sed 's/^C_gbt_//' | sort -u >"$work/called" || :
  comm -13 "$work/defined" "$work/called" | sed 's/.*/entries: R calls C_gbt_&, which is not defined in src\/r_*.c/'
  comm -23 "$work/defined" "$work/called" | sed 's/.*/entries: r_gbt_&() is called by nothing in R\//'
  rm -rf "$work"
}

self_check() {
  dir=$(mktemp -d)
  trap 'rm -rf "$dir"' EXIT
  fails=0
  expect() { # WHAT PATTERN: the report must have the pattern; "" for no report
    got=$(check "$dir")
    if [ -z "$2" ] && [ -z "$got" ]; then return; fi
    if [ -n "$2" ] && echo "$got" | grep -q "$2"; then return; fi
    echo "entries self-check: $1: expected '$2', got '$got'"
    fails=$((fails + 1))
  }
  mkdir -p "$dir/src" "$dir/R"
  printf 'SEXP r_gbt_two(SEXP a,\n               SEXP b) {\n}\nSEXP r_gbt_none(void) {\n}\n' >"$dir/src/r_a.c"
  printf '.Call(C_gbt_two, 1, 2)\n  # .Call(C_gbt_comment)\nf(.Call(C_gbt_none))\n' >"$dir/R/a.R"
  : >"$dir/src/r_entries.h"
  expect "no table" "run sh tools"
  table "$dir" >"$dir/src/r_entries.h"
  expect "a fresh table" ""
  grep -q 'X(two, 2)' "$dir/src/r_entries.h" && grep -q '^SEXP r_gbt_two(SEXP a, SEXP b);' "$dir/src/r_entries.h" &&
    grep -q 'X(none, 0)' "$dir/src/r_entries.h" || expect "what the table has" "two and none"
  printf 'SEXP r_gbt_new(SEXP x) { return x; }\n' >"$dir/src/r_b.c"
  expect "a new definition" "run sh tools"
  table "$dir" >"$dir/src/r_entries.h"
  expect "an entry nobody calls" "r_gbt_new() is called by nothing"
  printf '.Call(C_gbt_new, 1); .Call(C_gbt_other)\n' >"$dir/R/b.R"
  expect "a call of nothing" "R calls C_gbt_other"
  [ "$fails" = 0 ] && echo "entries self-check: ok"
  return "$fails"
}

if [ "${1:-}" = --self-check ]; then
  self_check
  exit
fi
here=$(cd "$(dirname "$0")/.." && pwd)
if [ "${1:-}" = --write ]; then
  table "$here" >"$here/src/r_entries.h.new"
  mv "$here/src/r_entries.h.new" "$here/src/r_entries.h"
  exit
fi
root=${1:-$here}
report=$(check "$root")
if [ -n "$report" ]; then
  echo "$report"
  exit 1
fi
echo "entries: $(definitions "$root" | wc -l) entry points, all in order"
