#!/bin/sh
# Tools that read the code or watch it run. See README.md.
#   short  rules of protection for the glue; the glue under gctorture
#   long   and clang's static analyser, gcc's -fanalyzer, valgrind and the sanitizers through R
set -u
form=$1
out=$2
root=$(cd "$(dirname "$0")/../.." && pwd)
here=$root/tests/robust
work=$out/robust/analysis
passed=0
failed=0
mkdir -p "$work"
: >"$work/figures"

check() { # NAME COMMAND...: one check, with its output in $work/NAME.txt
  name=$1
  shift
  if "$@" >"$work/$name.txt" 2>&1; then
    passed=$((passed + 1))
    echo "$name: in order"
  else
    failed=$((failed + 1))
    echo "$name: FAILED"
    tail -40 "$work/$name.txt"
  fi
}

# Findings as `file<TAB>message`, against those that analysis.txt argues. Both ways: none new, none stale.
argued() { # TOOL FILE_WITH_OUTPUT
  sed -n "s/^[^ ]*src\/\([^:]*\):[0-9]*:[0-9]*: warning: /\1\t/p" "$2" | sed 's/ \[[A-Za-z0-9. -]*\]//g' |
    sort -u >"$work/$1.found"
  awk -F '\t' -v tool="$1" '$1 == tool { print $2 "\t" $3 }' "$here/analysis.txt" | sort -u >"$work/$1.argued"
  echo "$1: $(wc -l <"$work/$1.found") findings, $(wc -l <"$work/$1.argued") argued in analysis.txt"
  status=0
  comm -23 "$work/$1.found" "$work/$1.argued" | sed 's/^/new: /' | grep . && status=1
  comm -13 "$work/$1.found" "$work/$1.argued" | sed 's/^/not found any more, take it out: /' | grep . && status=1
  return "$status"
}
r_includes() { Rscript -e 'cat(R.home("include"))'; }
analyse() { # TOOL COMMAND...: on every C file; R's headers are not ours to judge
  tool=$1
  shift
  : >"$work/$tool.out"
  include=$(r_includes)
  for file in "$root"/src/*.c "$root"/src/gbt/*.c "$root"/src/gbt/*/*.c; do
    "$@" -std=gnu11 -pthread -I"$root/src" -isystem "$include" "$file" >>"$work/$tool.out" 2>&1 || return 1
  done
  argued "$tool" "$work/$tool.out"
}
by_clang() { analyse clang clang --analyze --analyzer-output text; }
by_gcc() { analyse gcc gcc -fanalyzer -O1 -c -o /dev/null; }

glue() { Rscript "$here/glue.R" "$out/lib" "$@"; }
by_valgrind() {
  R -d "valgrind -q --error-exitcode=9 --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite" \
    --vanilla --no-echo -f "$here/glue.R" --args "$out/lib"
}

# The R tests with the address and undefined-behaviour sanitizers in the package. R itself has none, so their library is
# loaded first. Tests of memory limits cannot work there: the sanitizer reserves terabytes of addresses.
sanitized_tests() {
  (cd "$root/tests/testthat" && ls test-*.R) | sed 's/^test-//; s/\.R$//' | grep -vE '^(alive|device|memory)' |
    paste -sd '|' | sed 's/.*/^(&)$/'
}
by_sanitizers() {
  rm -rf "$work/src" "$work/lib"
  mkdir -p "$work/src" "$work/lib"
  (cd "$root" && tar -cf - R src man data inst tests DESCRIPTION NAMESPACE LICENSE configure cleanup 2>/dev/null) |
    (cd "$work/src" && tar -xf -)
  rm -f "$work"/src/src/*.o "$work"/src/src/*.so "$work"/src/src/gbt/*/*.o
  flags="-g -O1 -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer"
  printf 'CFLAGS = %s -fPIC\nLDFLAGS = %s\n' "$flags" "$flags" >"$work/makevars"
  env R_MAKEVARS_USER="$work/makevars" GBT_CUDA=no \
    R CMD INSTALL --no-docs --no-test-load --library="$work/lib" "$work/src" &&
    LD_PRELOAD="$(gcc -print-file-name=libasan.so) $(gcc -print-file-name=libubsan.so)" \
    ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:abort_on_error=0 GBT_SANITIZED=1 R_LIBS="$work/lib" \
    NOT_CRAN=true Rscript "$root/tools/test.R" "$root/tests/testthat" "$work/counts" "$(sanitized_tests)"
}

check protection_rules Rscript "$root/tools/check-protect.R" --self-check
check protection Rscript "$root/tools/check-protect.R"
if [ "$form" = short ]; then
  check gctorture glue torture 1000
else
  check gctorture glue torture 20
  check clang by_clang
  check gcc by_gcc
  if command -v valgrind >/dev/null 2>&1; then
    check valgrind by_valgrind
  else
    echo "valgrind: not run, as there is none"
  fi
  check sanitizers by_sanitizers
fi
grep -h '^protection: ' "$work/protection.txt" | sed 's/^protection: /protection rules\t/' >>"$work/figures"
for tool in clang gcc; do
  if [ -f "$work/$tool.txt" ]; then
    grep "^$tool: " "$work/$tool.txt" | head -1 | sed "s/^$tool: /static analysis by $tool\t/" >>"$work/figures"
  fi
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
