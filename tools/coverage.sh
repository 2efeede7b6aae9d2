#!/bin/sh
# Line and branch coverage of src/gbt by the native tests, from gcov's counters.
#
#   sh tools/coverage.sh OUT [PAGE]      OUT: build folder (out/test/native)
#
# Prints the totals and what is not reached, and fails below 98 % of lines or 90 % of branches. PAGE: a Markdown file
# for the same. The build has one copy of every inline function per source file: a branch of a function that the
# compiler would specialise counts once, not once for every constant that the function is given.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
out=$(cd "$1" && pwd)
page=${2:-}
least_lines=98
least_branches=90

if ! command -v gcovr >/dev/null 2>&1; then
  echo "skipped: there is no gcovr"
  exit 0
fi
jobs=$(nproc 2>/dev/null || echo 2)
# All suites but sizes, which sweeps what the others test.
suites=$(make -s -C "$root/tests/native" suites | tr ' ' '\n' | grep -vx sizes | tr '\n' ' ')
make -s -C "$root/tests/native" -j "$jobs" VARIANT=cov BUILD="$out" SUITES="$suites" all
find "$out/cov" -name '*.gcda' -delete
status=0
sh "$root/tools/run-suites.sh" "$out/cov-runs" "$out/cov/gbt_test" "$suites" >"$out/cov.txt" || status=$?
if [ "$status" != 0 ]; then
  tail -40 "$out/cov.txt"
  exit 1
fi

cd "$root"
# Where threads lost counts gcov may find that a branch was taken less often than never: such lines are left out.
counts() { # FORMAT...
  gcovr -r . --filter 'src/gbt/' --exclude-unreachable-branches --gcov-ignore-parse-errors "$@" "$out/cov/gbt"
}
counts --branches -s --txt "$out/branches.txt" >"$out/totals.txt"
counts >"$out/missing.txt"
cat "$out/totals.txt"
# gcovr's tables: file, all, reached, share, numbers of lines
not_reached() { # FILE: files with anything left, as Markdown
  awk '$1 ~ /^src\// {
         n = $2 - $3
         open = n > 0
         if (open) printf "| %s | %d of %d | %s |\n", $1, n, $2, $5
         next
       }
       NF == 1 && open && $1 ~ /^[0-9,-]+$/ { printf "| | | %s |\n", $1 }' "$1"
}
report() {
  echo "Lines that no native test reaches:"
  echo
  echo "| file | lines | which |"
  echo "| --- | --- | --- |"
  not_reached "$out/missing.txt"
  echo
  echo "Lines with a branch that no native test takes:"
  echo
  echo "| file | branches | in lines |"
  echo "| --- | --- | --- |"
  not_reached "$out/branches.txt"
}
report
if [ -n "$page" ]; then
  {
    echo "# Coverage of the engine"
    echo
    echo "By \`sh tools/coverage.sh out/test/native PAGE\` on $(date +%F), commit $(git rev-parse --short=12 HEAD):"
    echo "the native tests of \`src/gbt\`, gcc's counters at -O0, an inline function counted once a file."
    echo
    grep -E '^(lines|functions|branches):' "$out/totals.txt" | sed 's/^/- /'
    echo
    report
  } >"$page"
fi
counts --fail-under-line "$least_lines" --fail-under-branch "$least_branches" >/dev/null
