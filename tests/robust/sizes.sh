#!/bin/sh
# Sweeps over sizes: sh tests/robust/sizes.sh short|long OUT
#
# Whatever a caller can have many of (rows of a matrix, a data frame, a sparse matrix; columns, levels, classes, bins,
# rounds, trees, threads, entries, bytes of a text, ...) is taken in every size of a list, through R and in child
# processes: a size that ends R is named and the sweep goes on after it. See sizes/run.R; the engine alone is swept by
# tests/native/whole/test_sizes.c, which the native steps run, and which the long form runs in its own long form here.
#
# short: small sizes, those around powers of two, the constants of the glue, some between. (Those of the engine are in
# the sweeps of the engine alone.)
# long: every number of rows from 0 to 70,000 in each form, the neighbours of constants, two more of all, and many more
# sizes between.
set -u
form=$1
out=$2
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
mkdir -p "$out/robust/sizes"
out=$(cd "$out" && pwd)
own=$out/robust/sizes
jobs=$(nproc 2>/dev/null || echo 2)
case "$form" in short | long) ;; *) echo "usage: sh tests/robust/sizes.sh short|long OUT" >&2; exit 2 ;; esac
if [ ! -d "$out/lib/gbt" ]; then
  echo "skipped: there is no gbt in $out/lib (step install)"
  exit 0
fi
rm -f "$own"/worker-*
begin=$(date +%s)
passed=0
failed=0
constants=glue
if [ "$form" = long ]; then constants=all; fi
sh "$root/tests/native/constants.sh" 2097152 "$constants" >"$own/constants"

add() { # FILE: its last line "N passed, N failed"
  counts=$(sed -n 's/^\([0-9][0-9]*\) passed, \([0-9][0-9]*\) failed$/\1 \2/p' "$1" | tail -1)
  set -- ${counts:-0 1}
  passed=$((passed + $1))
  failed=$((failed + $2))
}

# ---- through R: each worker takes its share of every sweep ----
for worker in $(seq "$jobs"); do
  R_LIBS=$out/lib Rscript "$here/sizes/run.R" "$form" "$own/constants" cpu "$worker" "$jobs" \
    >"$own/worker-$worker.txt" 2>&1 &
done
wait
if [ -d "$out/lib-emulate/gbt" ]; then
  for worker in $(seq "$jobs"); do
    R_LIBS=$out/lib-emulate Rscript "$here/sizes/run.R" "$form" "$own/constants" cuda "$worker" "$jobs" \
      >"$own/worker-cuda-$worker.txt" 2>&1 &
  done
  wait
fi
for file in "$own"/worker-*.txt; do
  cat "$file"
  add "$file"
done
in_r=$passed
crashed=$(cat "$own"/worker-*.txt | grep -c 'ended R')

# ---- the engine alone, with sanitizers as well ----
native=0
if [ "$form" = long ]; then
  for variant in gcc asan; do
    make -s -C "$root/tests/native" -j "$jobs" VARIANT="$variant" BUILD="$out/native" SUITES=sizes all || exit 1
    GBT_SIZES=long "$out/native/$variant/gbt_test" sizes >"$own/native-$variant.txt" 2>&1
    cat "$own/native-$variant.txt"
    add "$own/native-$variant.txt"
    native=$((native + $(sed -n 's/^.*: \([0-9][0-9]*\) sizes from.*/\1/p' "$own/native-$variant.txt" |
      awk '{ n += $1 } END { print n + 0 }')))
  done
fi

{
  printf 'sizes through R\t%d\n' "$in_r"
  printf 'sizes of the engine alone\t%d\n' "$native"
  printf 'sizes that ended R\t%d\n' "$crashed"
  printf 'seconds\t%d\n' $(($(date +%s) - begin))
} >"$own/figures"
cat "$own/figures"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
