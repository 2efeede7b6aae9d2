#!/bin/sh
# Odd arguments: sh tests/robust/arguments.sh short|long OUT
#
# Every argument of every exported function and method gets every value of arguments/values.R: texts that are no text,
# numbers beyond all bounds, lists, functions, environments, S4 objects, matrices of package Matrix, broken factors,
# objects that lie about themselves, models and results of gbt in the wrong place. So does every field and attribute of
# every result (arguments/results.R), what functions of the user's return (metrics, objectives, callbacks), columns and
# options. What comes back is a value or a condition of gbt's own, and never an internal error, an error or a warning of
# R's, or a call that does not end within 20 s.
#
# short: each argument alone, with one value in GBT_ARGUMENTS_STEP (150). long: with all of them, also by way of
# `params`, then pairs of arguments, drawn at random for GBT_ARGUMENTS_SECONDS (3600); GBT_ARGUMENTS_START draws the
# same again. GBT_ARGUMENTS_ONLY takes the calls whose names match a regular expression, GBT_ARGUMENTS_FIRST other
# values in the short form: GBT_ARGUMENTS_STEP=13 takes some 11,000 calls.
set -u
form=$1
out=$2
here=$(cd "$(dirname "$0")" && pwd)
case "$form" in
  short) seconds=0 ;;
  long) seconds=${GBT_ARGUMENTS_SECONDS:-3600} ;;
  *)
    echo "usage: sh tests/robust/arguments.sh short|long OUT" >&2
    exit 2
    ;;
esac
mkdir -p "$out/robust/arguments"
out=$(cd "$out" && pwd)
own=$out/robust/arguments
if [ ! -d "$out/lib/gbt" ]; then
  echo "skipped: there is no gbt in $out/lib (step install)"
  exit 0
fi
rm -f "$own"/now-* "$own"/shard-*
begin=$(date +%s)
jobs=$(nproc 2>/dev/null || echo 2)
shard=0
while [ "$shard" -lt "$jobs" ]; do
  (cd "$here/arguments" && R_LIBS="$out/lib" Rscript run.R "$form" "$own" "$seconds" "$shard" "$jobs") \
    >"$own/shard-$shard.txt" 2>"$own/shard-$shard.err" &
  shard=$((shard + 1))
done
wait

singles=0
pairs=0
faults=0
shard=0
while [ "$shard" -lt "$jobs" ]; do
  grep -v '^total ' "$own/shard-$shard.txt"
  total=$(grep '^total ' "$own/shard-$shard.txt")
  if [ -z "$total" ]; then
    echo "R ended in $(cat "$own/now-$shard" 2>/dev/null):"
    tail -n 5 "$own/shard-$shard.err"
    faults=$((faults + 1))
  else
    set -- $total
    singles=$((singles + $2))
    pairs=$((pairs + $3))
    faults=$((faults + $4))
  fi
  shard=$((shard + 1))
done
{
  printf 'odd values as an argument\t%s\n' "$singles"
  printf 'pairs of them\t%s\n' "$pairs"
  printf 'conditions that are not of gbt, or ends of R\t%s\n' "$faults"
  printf 'seconds\t%s\n' $(($(date +%s) - begin))
} >"$own/figures"
echo "$((singles + pairs - faults)) passed, $faults failed"
[ "$faults" -eq 0 ]
