#!/bin/sh
# The whole numbers from 2 to MOST that are in the sources of the engine and the glue, one a line: literals and
# shifts of them (1 << 17), without comments and texts. Sizes around them are where code changes its ways.
#
#   sh tests/native/constants.sh [MOST [all | glue]]     default 2097152, all; glue: those of the glue alone
set -eu

cd "$(dirname "$0")/../.."
of="src/gbt src/r_*"
if [ "${2:-all}" = glue ]; then of="src/r_*"; fi
# shellcheck disable=SC2086
find $of -name '*.c' -o -name '*.h' -o -name '*.def' | LC_ALL=C sort | xargs awk -v most="${1:-2097152}" '
  function without_comments(s,    out, i) {
    out = ""
    while (s != "") {
      if (inside) {
        i = index(s, "*/")
        if (!i) return out
        s = substr(s, i + 2)
        inside = 0
      } else {
        i = index(s, "/*")
        if (!i) return out s
        out = out substr(s, 1, i - 1) " "
        s = substr(s, i + 2)
        inside = 1
      }
    }
    return out
  }
  function take(x) { if (x >= 2 && x <= most) seen[x] = 1 }
  FNR == 1 { inside = 0 }
  {
    s = $0
    gsub(/"([^"\\]|\\.)*"/, " ", s)
    s = without_comments(s)
    gsub(/[0-9]+\.[0-9]*(e[-+]?[0-9]+)?|[0-9]+e[-+]?[0-9]+|0x[0-9a-fA-F.p+-]+/, " ", s)
    gsub(/[A-Za-z_][A-Za-z_0-9]*/, " ", s)
    while (match(s, /[0-9]+[uUlL]*\)? << [0-9]+/)) {
      split(substr(s, RSTART, RLENGTH), part, / << /)
      take((part[1] + 0) * 2 ^ part[2])
      s = substr(s, 1, RSTART - 1) " " substr(s, RSTART + RLENGTH)
    }
    n = split(s, token, /[^0-9]+/)
    for (i = 1; i <= n; i++) if (token[i] != "") take(token[i] + 0)
  }
  END { for (x in seen) print x }' | sort -n
