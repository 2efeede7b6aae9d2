#!/bin/sh
# Random differential testing: sh tests/robust/random.sh short|long OUT
#
# Data, responses and parameters are drawn from whole numbers (random/case.R; ../native/scenes/odd_job.c) and trained in
# many ways that must not differ by a byte: threads, pages, instructions, forms of the data, builds, the emulated
# device, the slow twin, ways through files (random/check.R; ../native/boost/test_random.c). What fails is made small
# and written to OUT/robust/random/case-*.R; kept cases are in cases/.
#
# short: a fixed number of cases, some of them the same in every run, the others new every day.
# long: GBT_RANDOM_SECONDS (3600) from a number of its own, which is printed; two more builds are compared.
# GBT_RANDOM_START is the first of the numbers that change.
set -u
form=$1
out=$2
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
mkdir -p "$out/robust/random"
out=$(cd "$out" && pwd)
own=$out/robust/random
jobs=$(nproc 2>/dev/null || echo 2)
if [ ! -d "$out/lib/gbt" ]; then
  echo "skipped: there is no gbt in $out/lib (step install)"
  exit 0
fi
rm -f "$own"/case-*.R "$own"/worker-*
begin=$(date +%s)
failed=0

case "$form" in
  short)
    start=${GBT_RANDOM_START:-$((begin / 86400))000}
    seconds=0
    ranges="1:10 $start:$((start + 39))"
    ;;
  long)
    start=${GBT_RANDOM_START:-$((1000000000 + begin % 1000000000))}
    seconds=${GBT_RANDOM_SECONDS:-3600}
    ranges="$start:2147483647"
    ;;
  *)
    echo "usage: sh tests/robust/random.sh short|long OUT" >&2
    exit 2
    ;;
esac
echo "numbers from $start; GBT_RANDOM_START=$start runs the same again"

# ---- the engine and its twin, without R ----
make -s -C "$root/tests/native" -j "$jobs" VARIANT=gcc BUILD="$out/native" SUITES=random all || exit 1
native_count=0
native() { # FROM COUNT SECONDS
  GBT_RANDOM_START=$1 GBT_RANDOM_COUNT=$2 GBT_RANDOM_SECONDS=$3 "$out/native/gcc/gbt_test" random \
    >"$own/native.txt" 2>&1
  cat "$own/native.txt"
  count=$(sed -n 's/^.*: \([0-9][0-9]*\) trainings from number.*/\1/p' "$own/native.txt")
  bad=$(grep -c 'made small:' "$own/native.txt")
  if ! grep -q '^2 passed, 0 failed$' "$own/native.txt" && [ "$bad" = 0 ]; then bad=1; fi
  native_count=$((native_count + ${count:-0}))
  failed=$((failed + bad))
}
if [ "$form" = short ]; then
  native 101 200 0 # those before are what the step native_gcc tries
  native "$start" 600 0
else # a fifth of the time, in runs that end before the tests' own alarm
  end=$(($(date +%s) + seconds / 5))
  from=$start
  while left=$((end - $(date +%s))) && [ "$left" -gt 0 ] && [ "$failed" = 0 ]; do
    native "$from" 20000 "$left"
    from=$((from + 20000))
  done
fi
passed=$((native_count - failed))

# ---- the package ----
if [ "$form" = long ]; then # builds that only this campaign needs: hardly optimised; all that the machine has, FMA too
  tarball=$(find "$out" -maxdepth 1 -name 'gbt_*.tar.gz' | head -1)
  build() { # NAME CFLAGS
    if [ -z "$tarball" ]; then return; fi
    rm -rf "$out/lib-$1"
    mkdir -p "$out/lib-$1"
    printf 'CFLAGS = %s\n' "$2" >"$own/$1.mk"
    R_MAKEVARS_USER="$own/$1.mk" GBT_CUDA=no MAKEFLAGS="-j$jobs" \
      R CMD INSTALL --no-docs --no-test-load --library="$out/lib-$1" "$tarball" >"$own/build-$1.txt" 2>&1 ||
      { rm -rf "$out/lib-$1" && echo "the build $1 failed; see $own/build-$1.txt"; failed=$((failed + 1)); }
  }
  build plain "-g -O1 -fPIC"
  build fma "-g -O3 -march=native -fPIC"
fi
worker=1
pids=""
while [ "$worker" -le "$jobs" ]; do
  # shellcheck disable=SC2086
  R_LIBS="$out/lib" Rscript "$here/random/run.R" "$out" "$worker" "$jobs" "$seconds" $ranges \
    >"$own/worker-$worker" 2>&1 &
  pids="$pids $!"
  worker=$((worker + 1))
done
for pid in $pids; do wait "$pid" || failed=$((failed + 1)); done
cat "$own"/worker-*

total() { # NAME: over all workers
  sed -n "s/^cases .*/& /p" "$own"/worker-* | sed -n "s/.*\b$1 \([0-9][0-9]*\) .*/\1/p" |
    awk '{ n += $1 } END { print n + 0 }'
}
cases=$(total cases)
bad=$(total failed)
passed=$((passed + cases - bad))
failed=$((failed + bad))
took=$(($(date +%s) - begin))
{
  printf 'random: cases through R\t%s\n' "$cases"
  printf 'random: comparisons of their models and predictions\t%s\n' "$(total comparisons)"
  printf 'random: cases on the emulated device as well\t%s\n' "$(total devices)"
  printf 'random: cases that training refuses\t%s\n' "$(total refused)"
  printf 'random: trainings against the slow twin, without R\t%s\n' "$native_count"
  printf 'random: seconds\t%s\n' "$took"
  printf 'random: seconds of the processor, in R\t%s\n' "$(total cpu)"
  printf 'random: failures\t%s\n' "$failed"
} >"$own/figures"
cat "$own/figures"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
