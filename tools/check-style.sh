#!/bin/sh
# Sizes and characters of the sources.
#
#   sh tools/check-style.sh [FOLDER]       FOLDER: the repository, default the one of this script
#   sh tools/check-style.sh --functions    lists C functions over 60 lines as well (a report, no fault)
#   sh tools/check-style.sh --self-check   shows that the check finds what it must find
#
# A fault is: a file of git over 1 MB, one of the sources over 600 lines, a line over 120 columns, a tab (but in
# makefiles), a byte outside ASCII, a line end CR LF or blanks at a line's end, a name of R/ that is defined twice
# (the later one would win), the words T-O-D-O, F-I-X-M-E or X-X-X, code switched off by `#if 0`; in src or R more
# lines than limit_src or limit_R with words that make sentences hard to read (vague_words): say who does what, or
# "only", "after", "in addition to"; the same, by limit_odd_src and limit_odd_R, for words that are rare in technical
# English (odd_words) and for comments that begin with What, Who or Whose: say "is", "the user", "by", "again", and
# begin with the thing or with a verb.
set -eu

max_lines=600
max_columns=120
max_function=60
vague_words='beside|behind|alone|nobody'
limit_src=25
limit_R=25
odd_words='stands?|(is|are|was) told|whoever|somebody|anybody|goes by|hence|thereof|anew'
fine_words='s/[Ss]tands\{0,1\} for//g; s/[Ss]tand-in//g'
odd_comments="(#+'?|/\*+|//|^ *\*) *(What|Who|Whose) "
limit_odd_src=3
limit_odd_R=11

sources() { # ROOT
  (
    cd "$1"
    find src R tests tools bench data-raw configure cleanup .ci -type f 2>/dev/null |
      grep -E '(\.(c|h|def|cu|cuh|R|sh|py)|^(tools/demo|tools/test|configure|cleanup|\.ci/run))$' |
      grep -v '/build/' | sort
  )
}

look_at() { # ROOT FILE...: faults, one line each
  (
    cd "$1"
    shift
    LC_ALL=C awk -v max_lines=$max_lines -v max_columns=$max_columns '
      function fault(text) { print "style: " FILENAME ":" FNR ": " text }
      function close_file() { if (n > max_lines) print "style: " name ": " n " lines, at most " max_lines }
      FNR == 1 { close_file(); name = FILENAME }
      { n = FNR }
      length($0) > max_columns { fault(length($0) " columns, at most " max_columns) }
      /\t/ { fault("a tab") }
      /\r/ { fault("a CR") }
      /[ \t]$/ { fault("blanks at the end") }
      /[\200-\377]/ { fault("a byte outside ASCII") }
      /^[ \t]*#[ \t]*if[ \t]+0([^-9.x]|$)/ { fault("code switched off") }
      /(^|[^A-Za-z_])(TO[D]O|FIX[M]E|XX[X])([^A-Za-z_]|$)/ { fault("unfinished: file an issue instead") }
      FILENAME ~ /^R\// && /^[A-Za-z.][A-Za-z0-9._]* <- / {
        if ($1 in defined) fault($1 " is defined in " defined[$1] " as well")
        defined[$1] = FILENAME
      }
      END { close_file() }' "$@"
  )
}

# C functions longer than max_function, from the line with the opening brace to the brace in the first column.
long_functions() { # ROOT FILE...
  (
    cd "$1"
    shift
    awk -v max=$max_function '
      FNR == 1 { start = 0 }
      /^[A-Za-z_].*\(/ && !/;[ \t]*$/ && !/^#/ { head = $0; head_line = FNR }
      /\{[ \t]*$/ && !start && head_line && FNR - head_line < 8 { start = head_line }
      /^\}/ && start {
        sub(/\(.*/, "", head)
        sub(/^.*[ *]/, "", head)
        if (FNR - start + 1 > max) print "style: " FILENAME ":" start ": " head "() has " FNR - start + 1 " lines"
        start = head_line = 0
      }' "$@"
  )
}

vague_lines() { # ROOT FOLDER: how many lines have a vague word
  (cd "$1" && sources . | grep "^$2/" | xargs grep -hwiE "$vague_words" 2>/dev/null | wc -l)
}

odd_lines() { # ROOT FOLDER: how many lines have an odd word, and how many comments begin with one
  (
    cd "$1"
    text=$(sources . | grep "^$2/" | xargs sed "$fine_words" 2>/dev/null) || true
    words=$(echo "$text" | grep -cwiE "$odd_words") || true
    comments=$(echo "$text" | grep -cE "$odd_comments") || true
    echo $((words + comments))
  )
}

count_vague() { # ROOT: a fault for each folder with more such lines than its limit
  for limits in src:$limit_src:$limit_odd_src R:$limit_R:$limit_odd_R; do
    folder=${limits%%:*}
    limit=${limits#*:}
    odd_limit=${limit#*:}
    limit=${limit%:*}
    n=$(vague_lines "$1" "$folder")
    if [ "$n" -gt "$limit" ]; then
      echo "style: $folder: $n lines with one of the words $vague_words, at most $limit; write plain sentences"
    fi
    n=$(odd_lines "$1" "$folder")
    if [ "$n" -gt "$odd_limit" ]; then
      echo "style: $folder: $n lines with one of the words $odd_words," \
        "or a comment that begins with What, Who or Whose, at most $odd_limit; write plain sentences"
    fi
  done
}

# The repository has sources and small tables, no data, packages or programs.
large_files() { # ROOT: files that git has or would add, of over 1 MB
  (
    cd "$1"
    git ls-files --cached --others --exclude-standard 2>/dev/null | tr '\n' '\0' |
      xargs -0 -r sh -c 'find "$@" -size +2000 2>/dev/null' find | sed 's/$/: a file of over 1 MB/; s/^/style: /'
  )
}

check() { # ROOT
  large_files "$1"
  # shellcheck disable=SC2046
  look_at "$1" $(sources "$1")
  count_vague "$1"
}

self_check() {
  dir=$(mktemp -d)
  trap 'rm -rf "$dir"' EXIT
  fails=0
  try() { # fine|found FILE CONTENT (a printf format)
    rm -rf "$dir/src" "$dir/R"
    mkdir -p "$dir/src/gbt" "$dir/R"
    echo 'int gbt_x(void);' >"$dir/src/gbt/x.h"
    # shellcheck disable=SC2059
    printf "$3" >"$dir/$2"
    if [ -z "$(check "$dir")" ]; then got=fine; else got=found; fi
    if [ "$got" != "$1" ]; then echo "style self-check: '$3' in $2 should be $1, is $got"; fails=$((fails + 1)); fi
  }
  long=$(awk 'BEGIN { for (i = 0; i < 119; i++) printf "x"; }')
  try fine src/gbt/x.c "int x; /* $(echo "$long" | cut -c1-100) */\n"
  try fine src/gbt/x.c "/${long}\n"
  try found src/gbt/x.c "//${long}\n"
  try found src/gbt/x.c '\tint x;\n'
  try found src/gbt/x.c 'int x; \n'
  try found src/gbt/x.c 'int x;\r\n'
  try found R/x.R '# caf\303\251\n'
  try found src/r_x.c "/* TO""DO: more */\n"
  try found R/x.R "# FIX""ME\n"
  try found src/gbt/x.c '#if 0\n#endif\n'
  try fine src/gbt/x.c '#if 0x1 > 2\n#endif\n'
  try fine R/x.R 'f <- function(x) x\ng <- function(x) x\n'
  try found R/x.R 'f <- function(x) x\nf <- function(x) x\n'
  try found R/x.R 'most <- 8\nmost <- 9L\n'
  awk 'BEGIN { for (i = 0; i < 601; i++) print "" }' >"$dir/many"
  try found src/gbt/x.c "$(sed 's/$/\\n/' "$dir/many" | tr -d '\n')"
  try fine src/gbt/x.c "$(sed '1d;s/$/\\n/' "$dir/many" | tr -d '\n')"
  vague() { # N WORDS: N lines of a comment
    awk -v n="$1" -v words="$2" 'BEGIN { for (i = 0; i < n; i++) printf "# %s\\n", words }'
  }
  try fine R/x.R "$(vague $limit_R 'lies behind')"
  try found R/x.R "$(vague $((limit_R + 1)) 'lies behind')"
  try found R/x.R "$(vague $((limit_R + 1)) 'Nobody, and beside it')"
  try fine R/x.R "$(vague $((limit_R + 1)) 'besides, cut_alone')"
  try fine src/gbt/x.c "$(vague $limit_src 'alone')"
  try found src/gbt/x.c "$(vague $((limit_src + 1)) 'alone')"
  try fine R/x.R "$(vague $limit_odd_R 'made anew')"
  try found R/x.R "$(vague $((limit_odd_R + 1)) 'made anew')"
  try found R/x.R "$(vague $((limit_odd_R + 1)) 'Whoever is told, stands')"
  try found R/x.R "$(vague $((limit_odd_R + 1)) 'What follows')"
  try fine R/x.R "$(vague $((limit_odd_R + 1)) 'It stands for, a stand-in, we understand what')"
  try fine src/gbt/x.c "$(vague $limit_odd_src 'made anew')"
  try found src/gbt/x.c "$(vague $((limit_odd_src + 1)) 'somebody')"
  try found src/gbt/x.c "$(vague $((limit_odd_src + 1)) x | sed 's|# x|/* Who is it */|g')"
  if command -v git >/dev/null; then
    git init -q "$dir"
    for size in 1000000:0 1030000:1; do
      head -c "${size%:*}" /dev/zero >"$dir/data.bin"
      [ "$(large_files "$dir" | wc -l)" = "${size#*:}" ] ||
        { echo "style self-check: a file of ${size%:*} bytes"; fails=$((fails + 1)); }
    done
  fi
  rm -rf "$dir/src" "$dir/R" "$dir/data.bin" "$dir/.git"
  mkdir -p "$dir/src"
  { echo 'int f(void) {'; sed '1,540d' "$dir/many"; echo '}'; echo 'int g(void) {'; echo '}'; } >"$dir/src/x.c"
  found=$(long_functions "$dir" src/x.c)
  if [ "$found" != "style: src/x.c:1: f() has 63 lines" ]; then
    echo "style self-check: functions: '$found'"
    fails=$((fails + 1))
  fi
  [ "$fails" = 0 ] && echo "style self-check: ok"
  return "$fails"
}

if [ "${1:-}" = --self-check ]; then
  self_check
  exit
fi
functions=0
if [ "${1:-}" = --functions ]; then
  functions=1
  shift
fi
root=${1:-$(cd "$(dirname "$0")/.." && pwd)}
if [ "$functions" = 1 ]; then
  # shellcheck disable=SC2046
  long_functions "$root" $(sources "$root" | grep '^src/.*\.c$')
fi
report=$(check "$root")
if [ -n "$report" ]; then
  echo "$report"
  exit 1
fi
echo "style: $(sources "$root" | wc -l) files, all in order"
