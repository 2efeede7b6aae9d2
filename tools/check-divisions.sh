#!/bin/sh
# Every division, modulo and shift by a computed number, and why it cannot go wrong.
#
#   sh tools/check-divisions.sh [FOLDER]       FOLDER: the repository, default the one of this script
#   sh tools/check-divisions.sh --list         prints what is found, in the form of tools/divisions.txt
#   sh tools/check-divisions.sh --self-check   shows that the check finds what it must find
#
# A division of whole numbers by 0 ends the process, one of real numbers gives an infinity or NaN that is noticed much
# later, and a shift by more than the width of its type gives anything. tools/divisions.txt holds the reason for each
# operation why this does not happen. A fault is: an operation that is not there, one there that is no longer in the
# sources, one without a reason.
#
# What there is clang tells: its sanitizer puts a check before each such operation, with the place in the source, unless
# the right side is a constant. The objects are not run; src/cuda is read as C++ with the headers of tests/simt. For R
# it is R's parser.
set -eu

cc=${CLANG:-clang}
cached=""
if command -v ccache >/dev/null 2>&1; then cached=ccache; fi # what did not change is not compiled again
flags="-O0 -w -DNDEBUG -ffp-contract=off -fno-trapping-math -fno-math-errno -S -emit-llvm -Xclang -disable-llvm-passes
-fsanitize=integer-divide-by-zero,shift-exponent,float-divide-by-zero"
list=tools/divisions.txt

compile() { # ROOT: to $work/objects/*.ll
  mkdir -p "$work/objects"
  (cd "$1" && find src -name '*.c' -o -name '*.cu') | sort >"$work/sources"
  # shellcheck disable=SC2016
  (cd "$1" && CC="$cached $cc" FLAGS="$(echo $flags)" R_FLAGS="$(R CMD config --cppflags)" WORK="$work" \
    xargs -r -P 2 -n 1 sh -c '
    to=$WORK/objects/$(echo "$0" | tr / -).ll
    case "$0" in
      *.cu) $CC $FLAGS -x c++ -std=c++17 -Itests/simt -o "$to" "$0" ;;
      *) $CC $FLAGS -std=gnu11 $R_FLAGS -o "$to" "$0" ;;
    esac || echo "divisions: $0 does not compile"' <"$work/sources")
}

# Places of the checks that are not of constants: FILE LINE COLUMN FUNCTION, separated by tabs.
places() {
  find "$work/objects" -name '*.ll' | sort | xargs awk '
    FNR == 1 { split("", file); split("", place); constant = 0 }
    # @.src = private unnamed_addr constant [17 x i8] c"src/gbt/params.c\00", or @.str where __FILE__ made it before
    /^@\.s(rc|tr)[.0-9]* = / { split($0, part, "\""); sub(/\\00$/, "", part[2]); file[$1] = part[2] }
    # @7 = private unnamed_addr global { ... @.src, i32 LINE, i32 COLUMN ... }
    /^@[0-9]+ = / && match($0, /@\.s(rc|tr)[.0-9]*, i32 [0-9]+, i32 [0-9]+/) {
      split(substr($0, RSTART, RLENGTH), part, /, i32 /)
      place[$1] = file[part[1]] "\t" part[2] "\t" part[3]
    }
    /^define / && match($0, /@[^ (]+/) { name = substr($0, RSTART + 1, RLENGTH - 1); gsub(/"/, "", name) }
    /^  br i1 / { constant = $3 == "true," }
    /call void @__ubsan_handle_/ && !constant {
      rest = $0
      sub(/^.*@__ubsan_handle_[a-z_]*\(/, "", rest)
      if (match(rest, /@[0-9]+/)) print place[substr(rest, RSTART, RLENGTH)] "\t" name
    }' | c++filt | awk -F '\t' -v OFS='\t' '
    {
      # a path without "..", a function without types
      while (sub(/[^\/.]+\/\.\.\//, "", $1)) { }
      gsub(/\(anonymous namespace\)::/, "", $4)
      gsub(/<[^<>]*>/, "", $4)
      sub(/\(.*/, "", $4)
      sub(/^.* /, "", $4)
      sub(/^.*::/, "", $4)
    }
    $1 ~ /^src\// { print }' | sort -u
}

# With the operation read from the source: FILE, FUNCTION, OPERATION, LINE. Its right side ends at the first blank,
# comma, semicolon or closing bracket that is not within brackets (clang-format sets blanks around operators); that of
# an assignment at the semicolon. Where clang only knows the macro that an operation is an argument of, all operations
# of the argument are listed.
operations() { # ROOT
  (cd "$1" && awk -F '\t' -v OFS='\t' '
    function right_side(text, whole,    i, c, depth) {
      depth = 0
      for (i = 1; i <= length(text); i++) {
        c = substr(text, i, 1)
        if (c ~ /[(\[]/) depth++
        if (c ~ /[)\]}]/ && --depth < 0) break
        if (depth == 0 && (c == ";" || c == "," || (c == " " && !whole))) break
      }
      return substr(text, 1, i - 1)
    }
    function open_brackets(text) { return gsub(/\(/, "", text) - gsub(/\)/, "", text) }
    {
      if ($1 != open) {
        if (open != "") close(open)
        open = $1
        n = 0
        while ((getline text < open) > 0) line[++n] = text
      }
      at = $2
      text = substr(line[at], $3)
      while (at < n && (text ~ /^[^ ]* *$/ || open_brackets(text) > 0)) {
        more = line[++at]
        sub(/^ +/, "", more)
        text = (text ~ /[(\[]$/ ? text : text " ") more
      }
      in_macro = text ~ /^[A-Za-z_]/
      if (in_macro) text = substr(text, index(text, "("))
      signs = "(<<=|>>=|<<|>>|/=|%=|/|%) "
      while (match(text, (in_macro ? " " : "^") signs)) {
        sign = substr(text, RSTART, RLENGTH)
        text = substr(text, RSTART + RLENGTH)
        gsub(/ /, "", sign)
        print $1, $4, sign " " right_side(text, sign ~ /=$/), $2
        if (!in_macro) break
      }
    }')
}

# The same of R/, by R's parser. Right sides that are made of numbers alone are left out.
of_r() { # ROOT
  (cd "$1" && find R -name '*.R' | LC_ALL=C sort >"$work/r-files" && Rscript -e '
    walk <- function(file, name, e) {
      if (!is.call(e)) return(invisible())
      if (is.symbol(e[[1L]]) && length(e) == 3L) {
        sign <- as.character(e[[1L]])
        if (sign %in% c("<-", "=") && is.symbol(e[[2L]]) && name == "") name <- as.character(e[[2L]])
        computed <- length(setdiff(all.names(e[[3L]]), c("+", "-", "*", "/", "^", "("))) > 0L
        if (sign %in% c("/", "%/%", "%%", "bitwShiftL", "bitwShiftR") && computed) {
          cat(file, if (name == "") "-" else name, paste(sign, paste(deparse(e[[3L]], 500L), collapse = " ")), 0,
              sep = "\t")
          cat("\n")
        }
      }
      for (i in seq_along(e)) if (!identical(e[[i]], quote(expr = ))) walk(file, name, e[[i]])
    }
    for (file in readLines(commandArgs(TRUE))) for (e in as.list(parse(file, keep.source = FALSE))) walk(file, "", e)
  ' "$work/r-files")
}

find_all() { # ROOT: $work/found, one line an operation: FILE, FUNCTION, OPERATION, LINE
  compile "$1"
  { places | operations "$1"; of_r "$1"; } | LC_ALL=C sort -u >"$work/found"
}

# The list: a line FILE: FUNCTION(): OPERATION, then the reason, indented.
compare() { # ROOT
  (cd "$1" && awk -F '\t' -v list="$list" '
    function finish() { if (key != "" && !reason) print "divisions: " list ":" key_line ": no reason is given" }
    FILENAME == list && /^#/ { next }
    FILENAME == list && /^[^ ]/ {
      finish()
      key = $0
      key_line = FNR
      reason = 0
      if (key in said) print "divisions: " list ":" FNR ": is there twice"
      said[key] = FNR
      next
    }
    FILENAME == list { if ($0 ~ /[^ ]/) reason = 1; next }
    {
      entry = $1 ": " $2 "(): " $3
      found[entry] = 1
      if (!(entry in said) && !(entry in told)) print "divisions: " $1 ($4 > 0 ? ":" $4 : "") ": `" $3 "` in " $2 "()" \
        " is not in " list ": say there why it cannot go wrong"
      told[entry] = 1
    }
    END {
      finish()
      for (entry in said)
        if (!(entry in found)) print "divisions: " list ":" said[entry] ": is no longer in the sources: " entry
    }' "$list" "$work/found") | LC_ALL=C sort
}

check() { # ROOT
  find_all "$1"
  compare "$1"
}

self_check() {
  dir=$(mktemp -d)
  trap 'rm -rf "$dir" "$work"' EXIT
  fails=0
  try() { # EXPECTED (part of the complaint, or "fine") FILE CONTENT LIST
    rm -rf "$dir" "$work/objects"
    mkdir -p "$dir/src/gbt" "$dir/src/cuda" "$dir/R" "$dir/tools"
    echo 'static inline int in(int a, int b) { return a / b; }' >"$dir/src/gbt/x.h"
    printf '%s\n' "$3" >"$dir/$2"
    printf '%s\n' "$4" >"$dir/$list"
    got=$(check "$dir" 2>/dev/null)
    case "${got:-fine}" in
      *"$1"*) ;;
      *) echo "divisions self-check: '$3' should be '$1', is '$got'"; fails=$((fails + 1)) ;;
    esac
  }
  f='int f(int a, int b) { return a / b; }'
  try 'src/gbt/x.c:1: `/ b` in f() is not in' src/gbt/x.c "$f" ''
  try fine src/gbt/x.c "$f" '# a list
src/gbt/x.c: f(): / b
    never 0'
  try 'no reason' src/gbt/x.c "$f" 'src/gbt/x.c: f(): / b'
  try 'twice' src/gbt/x.c "$f" 'src/gbt/x.c: f(): / b
    so
src/gbt/x.c: f(): / b
    so'
  try 'no longer' src/gbt/x.c 'int f(void);' 'src/gbt/x.c: f(): / b
    so'
  try '`% b`' src/gbt/x.c 'int f(int a, int b) { return a % b; }' ''
  try '`/ b`' src/gbt/x.c 'const char *name(void) { return __FILE__; }
int f(int a, int b) { return a / b; }' ''
  try '`/= b[a + 1]`' src/gbt/x.c 'void f(int a, int *b) { a /= b[a + 1]; }' ''
  try '`<< (a + 1)`' src/gbt/x.c 'int f(int a) { return 1 << (a + 1); }' ''
  try '`>>= a`' src/gbt/x.c 'int f(int a) { int b = 7; b >>= a; return b; }' ''
  try '`/ (double)b`' src/gbt/x.c 'double f(double a, int b) { return a / (double)b * 2.0; }' ''
  try '`/ g(a, b)`' src/gbt/x.c 'int g(int, int);
int f(int a, int b) {
  return a /
         g(a,
           b);
}' ''
  try '`% b`' src/gbt/x.c '#define TRY(call) if ((call) < 0) return 1
int f(int a, int b) { TRY(a % b); return 0; }' ''
  try 'x.c does not compile' src/gbt/x.c 'int f(void) { return }' ''
  try fine src/gbt/x.c 'enum { N = 7 };
int f(int a) { return a / N % (int)sizeof(int) << (N - 3); }' ''
  try 'src/gbt/x.h:1: `/ b` in in()' src/gbt/x.c '#include "x.h"
int f(int a) { return in(a, 7); }' ''
  try '`/ b` in in()' src/cuda/x.cu '#include "../gbt/x.h"
namespace { template <int N> int t(int a, int b) { return in(a, b) / N; } }
int f(int a) { return t<3>(a, a); }' ''
  try '`%/% b` in f()' R/x.R 'f <- function(a, b) "a / b" # a / b
f <- function(a, b) a %/% b' ''
  try fine R/x.R 'f <- function(a) a / 2^20 + a %% 3L' ''
  [ "$fails" = 0 ]
}

if ! command -v "$cc" >/dev/null 2>&1; then
  echo "skipped: there is no clang"
  exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$(cd "$(dirname "$0")/.." && pwd)
case "${1:-}" in
  --self-check) self_check && echo "divisions: the check finds what it must find" ;;
  --list)
    find_all "$root"
    awk -F '\t' '{ key = $1 ": " $2 "(): " $3 } key != last { print key; last = key }' "$work/found"
    ;;
  *)
    found=$(check "${1:-$root}")
    if [ -n "$found" ]; then
      echo "$found"
      exit 1
    fi
    n=$(awk -F '\t' '{ print $1 $2 $3 }' "$work/found" | sort -u | wc -l)
    echo "divisions: $n operations, each with its reason"
    ;;
esac
