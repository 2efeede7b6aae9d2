#!/bin/sh
# Figures of the sources: what to look at before and after a change of their structure. Prints a table, judges nothing.
#
#   sh tools/house.sh [FOLDER]       FOLDER: the repository, default the one of this script
#   sh tools/house.sh --self-check   shows that the figures of a small made source are right
#
# Needs a C compiler and nm: circles are found in the symbols that compiled files take from each other.
set -eu
LC_ALL=C
export LC_ALL
cc=${CC:-cc}
MOST=${MOST:-5} # how many of the largest are shown

# FILES: the sources of a kind, relative to $root
engine() { find src/gbt -name '*.[ch]' | sort; }
c_sources() { find src -name '*.c' -o -name '*.h' -o -name '*.cu' -o -name '*.cuh' | grep -v 'src/\.' | sort; }
r_sources() { find R -name '*.R' 2>/dev/null | sort; }
tests() { find tests -name '*.[chR]' -o -name '*.cu' -o -name '*.cuh' 2>/dev/null | grep -v '/build/' | sort; }

# Fields of every struct type: "COUNT NAME FILE". Commas within parentheses belong to a pointer to a function.
struct_fields() {
  c_sources | xargs awk '
    { line = $0
      if (in_comment) { if (line !~ /\*\//) next; sub(/^.*\*\//, "", line); in_comment = 0 }
      gsub(/\/\*[^*]*(\*[^\/][^*]*)*\*\//, "", line)
      if (line ~ /\/\*/) { sub(/\/\*.*/, "", line); in_comment = 1 } }
    FNR == 1 { open = 0 }
    !open && line ~ /^(typedef )?struct [a-z_0-9]* \{/ { open = 1; n = 0; text = ""; split(line, w, " ")
      name = w[1] == "typedef" ? w[3] : w[2]; if (line ~ /\}/) open = 0; next }
    open && line ~ /^\}/ { print n, name, FILENAME; open = 0; next }
    open && line !~ /^#/ { text = text " " line
      if (text !~ /;/) next
      while (sub(/\([^()]*\)/, "", text)) { }
      gsub(/\{[^{}]*\}/, "", text)
      n += gsub(/[,;]/, "", text); text = "" }' | sort -k1,1nr -k2
}

# Lines of every function: "LINES NAME FILE". A body ends at a brace in the first column.
function_lines() {
  c_sources | xargs awk '
    FNR == 1 { open = 0; head = "" }
    !open && /^[A-Za-z].*\(/ { head = $0 }
    !open && /\{$/ && head != "" && !/^(typedef|struct|enum|union|extern)/ {
      name = head; sub(/\(.*/, "", name); sub(/.*[ *]/, "", name); open = 1; first = FNR }
    /^\}/ { if (open) print FNR - first + 1, name, FILENAME; open = 0; head = "" }
    !open && /^$/ { head = "" }' | sort -k1,1nr -k2
}

# Headers that FILE reaches, itself left out.
reached() {
  $cc -std=c11 -MM "$1" 2>/dev/null | tr -d '\\' | tr ' ' '\n' | grep '\.[hd]e*f*$' |
    sed -e ':again' -e 's|/[^/.][^/]*/\.\./|/|' -e 'tagain' | grep -v "^$1\$" | sort -u
}

# Prototypes in headers that are in a block of lines without any comment.
bare_prototypes() {
  find src -name '*.h' -o -name '*.cuh' | sort | xargs awk '
    function flush() { if (n > 0 && !commented) for (i = 1; i <= n; i++) print found[i]; n = 0; commented = 0 }
    FNR == 1 { flush() }
    /^$/ { flush() }
    /\/\*|\*\// { commented = 1 }
    /^[a-z][A-Za-z0-9_ *]*[ *][a-z_0-9]+\(/ && !/^(static|typedef|return|else|extern "C")/ && !/=/ && !/\{/ {
      name = $0; sub(/\(.*/, "", name); sub(/.*[ *]/, "", name); found[++n] = name " " FILENAME }
    END { flush() }'
}

# Groups of files of the engine that need each other, by symbols: "SIZE FILES".
circles() {
  work=$1
  mkdir -p "$work"
  for file in $(engine | grep '\.c$'); do
    echo "$file" "$work/$(echo "$file" | tr '/' '@').o"
  done | xargs -P 4 -n 2 sh -c "$cc"' -std=c11 -w -O0 -c "$0" -o "$1" || echo "house: $0 does not compile" >&2'
  for o in "$work"/*.o; do
    nm "$o" | awk -v file="$(basename "$o" .c.o)" 'NF == 3 && $2 ~ /[TDRBC]/ { print "def", file, $3 }
      NF == 2 && $1 == "U" { print "use", file, $2 }'
  done | awk '
    $1 == "def" { from[$3] = $2; if (!($2 in files)) list[++n_files] = $2; files[$2] = 1 }
    $1 == "use" { want[++n] = $3; who[n] = $2 }
    END {
      for (i = 1; i <= n; i++) if (want[i] in from && from[want[i]] != who[i]) reach[who[i], from[want[i]]] = 1
      for (k in files) for (a in files) if ((a, k) in reach) for (b in files) if ((k, b) in reach) reach[a, b] = 1
      for (a in files) {
        if (!((a, a) in reach) || (a in done)) continue
        text = ""; size = 0
        for (i = 1; i <= n_files; i++) {
          b = list[i]
          if ((a, b) in reach && (b, a) in reach) { done[b] = 1; size++; text = text " " b ".c" }
        }
        gsub(/src@gbt@/, "", text); gsub(/@/, "/", text); print size text
      } }' | sort -k1,1nr
}

lines_of() { xargs cat 2>/dev/null | grep -c '[^[:space:]]' || true; }
indent() { sed 's/^/    /'; }

show() {
  root=$1
  cd "$root"
  echo "structs with most fields"
  struct_fields | head -"$MOST" | indent
  echo "functions with most lines"
  function_lines | head -"$MOST" | indent
  echo "files with most lines"
  { c_sources; r_sources; } | xargs wc -l | grep -v ' total$' | sort -k1,1nr | head -"$MOST" | sed 's/^ */    /'
  headers=$(reached src/gbt/gbt.h)
  wide=$(echo "$headers" | xargs cat | wc -l | tr -d ' ')
  echo "headers reached from gbt.h: $(echo "$headers" | grep -c .), $wide lines"
  echo "files that read resident pages (->page[): $(engine | xargs grep -l -- '->page\[' | wc -l | tr -d ' ')"
  branches=$(c_sources | grep -v 'src/gbt/objective/' |
    xargs grep -E 'case GBT_OBJ_|[!=]= GBT_OBJ_|case GBT_LOSS_|[!=]= GBT_LOSS_' /dev/null || true)
  echo "lines that branch on the objective: $(echo "$branches" | grep -c . || true)," \
    "in $(echo "$branches" | cut -d: -f1 | sort -u | grep -c . || true) files"
  policies=$(c_sources | grep -v 'src/gbt/tree/' |
    xargs grep -E '(GBT_DEPTHWISE|GBT_LOSSGUIDE|GBT_SYMMETRIC)\>' /dev/null | grep -v 'src/gbt/params.h' || true)
  echo "lines outside tree/ that name a growth policy: $(echo "$policies" | grep -c . || true)"
  echo "circles of files by symbols"
  circles "$scratch/objects" | indent
  echo "assertions in the engine: $(engine | xargs cat | grep -c 'GBT_ASSERT(' || true)"
  code=$({ c_sources; r_sources; } | lines_of)
  test_lines=$(tests | lines_of)
  share=$(awk -v t="$test_lines" -v c="$code" 'BEGIN { printf "%.2f", c ? t / c : 0 }')
  echo "lines of tests for a line of code: $share ($test_lines, $code)"
  echo "lines wider than 90 columns: $({ c_sources; r_sources; } | xargs awk 'length($0) > 90' | wc -l | tr -d ' ')"
  bare=$(bare_prototypes)
  echo "prototypes without comment: $(echo "$bare" | grep -c . || true)"
  echo "$bare" | head -"$MOST" | grep . | indent || true
}

self_check() {
  mkdir -p "$scratch/made/src/gbt/base" "$scratch/made/R" "$scratch/made/tests"
  cat >"$scratch/made/src/gbt/gbt.h" <<'END'
#include "base/a.h"
#include "base/../base/a.h"
int commented(void); /* says so */

int bare(int x,
         int y);
END
  cat >"$scratch/made/src/gbt/base/a.h" <<'END'
#pragma once
typedef struct thing {
  int a, b; /* c, d */
  void (*fn)(int x, int y,
             int z);
  double e[3];
} thing;
END
  echo 'int b(void); int a(void) { return b(); }' >"$scratch/made/src/gbt/base/a.c"
  echo 'int a(void); int b(void) { return a(); }' >"$scratch/made/src/gbt/base/b.c"
  cat >"$scratch/made/src/gbt/base/c.c" <<'END'
static int long_one(const int *page) {
  /* assertion */
  if (page[0] == GBT_OBJ_SQUARED) return 1;
  return 0;
}
END
  echo 'enum { GBT_OBJ_SQUARED }; static int x; int *f(void) { return &x; }' >"$scratch/made/src/gbt/base/d.c"
  sed -i '1i enum { GBT_OBJ_SQUARED };' "$scratch/made/src/gbt/base/c.c"
  echo 'x <- 1' >"$scratch/made/R/x.R"
  (show "$scratch/made") >"$scratch/got" 2>&1
  bad=0
  for want in "4 thing src/gbt/base/a.h" "5 long_one src/gbt/base/c.c" "reached from gbt.h: 1, 7 lines" \
    "branch on the objective: 1, in 1 files" "2 base/a.c base/b.c" "prototypes without comment: 1" \
    "bare src/gbt/gbt.h" "wider than 90 columns: 0"; do
    if ! grep -qF "$want" "$scratch/got"; then
      echo "house self-check: no line with: $want"
      bad=$((bad + 1))
    fi
  done
  [ "$bad" = 0 ] || { cat "$scratch/got"; return 1; }
  echo "house self-check: ok"
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
if [ "${1:-}" = --self-check ]; then
  self_check
  exit
fi
show "$(cd "${1:-$(dirname "$0")/..}" && pwd)"
