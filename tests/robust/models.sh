#!/bin/sh
# Mutated model files through R: loaded and used in every way, in child processes with little memory and time.
#
#   sh tests/robust/models.sh short|long OUT
#
# models/seeds.R trains models of every kind, ../fuzz/run.c mutates them (the same files in every run, checksums right),
# models/use.R uses them, and after them those of models/kept, which had a fault once. Whatever the bytes are, R must
# stay alive and every condition must have a class of gbt.
set -u
form=$1
out=$(cd "$2" && pwd)
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$out/robust/models
files=260
if [ "$form" = long ]; then files=${GBT_MODEL_FILES:-6000}; fi
begun=$(date +%s)
R_LIBS=$out/lib
export R_LIBS
rm -rf "$work/files" "$work"/report-*
mkdir -p "$work/seeds" "$work/files"

give_up() { # FILE
  tail -20 "$1"
  echo "0 passed, 1 failed"
  exit 1
}

Rscript "$root/tests/robust/models/seeds.R" "$work/seeds" >"$work/seeds.txt" 2>&1 || give_up "$work/seeds.txt"
make -s -C "$root/tests/native" -j 2 VARIANT=gcc BUILD="$out/native" fuzzers >"$work/build" 2>&1 ||
  give_up "$work/build"
"$out/native/gcc/run_model" files 0 "$files" "$work/files" "$work"/seeds/*.gbt >"$work/made" 2>&1 ||
  give_up "$work/made"
cp "$work/seeds/data.rds" "$work/files"
for kept in "$root"/tests/robust/models/kept/*.gbt; do # files that had a fault come last, as new ones may
  cp "$kept" "$work/files/$files.bin"
  files=$((files + 1))
done
cd "$work" || exit 1
rm -f pwned

# Files FROM .. TO - 1, a process for every hundred. One that dies or hangs is followed by one that begins after the
# file that it died of.
use_files() { # FROM TO REPORT
  from=$1
  : >"$3"
  while [ "$from" -lt "$2" ]; do
    to=$((from + 100))
    if [ "$to" -gt "$2" ]; then to=$2; fi
    status=0
    (ulimit -v 4194304 && exec timeout 300 Rscript "$root/tests/robust/models/use.R" "$work/files" "$from" \
      $((to - 1)) "$3") >"$3.log" 2>&1 || status=$?
    if [ "$status" = 0 ]; then
      from=$to
      continue
    fi
    last=$(sed -n '$s/ .*//p' "$3")
    if [ -z "$last" ] || [ "$last" -lt "$from" ]; then
      last=$from
      printf '%s ' "$last" >>"$3"
    fi
    printf 'killed\tthe process ended with status %s: %s\n' "$status" "$(tail -1 "$3.log")" >>"$3"
    from=$((last + 1))
  done
}

half=$((files / 2))
use_files 0 "$half" "$work/report-1" &
use_files "$half" "$files" "$work/report-2"
wait

cat "$work"/report-[12] >"$work/report"
loaded=$(grep -c ' loaded' "$work/report")
used=$(grep -c . "$work/report")
failed=$(awk -F'\t' 'NF > 1' "$work/report" | wc -l)
awk -F'\t' 'NF > 1' "$work/report" | head -40
{
  printf 'models: files\t%s\n' "$used"
  printf 'models: files that load\t%s\n' "$loaded"
  printf 'models: files with a fault\t%s\n' "$failed"
  printf 'models: seconds\t%s\n' $(($(date +%s) - begun))
} | tee "$work/figures"
[ "$used" = "$files" ] || failed=$((failed + files - used))
if [ "$loaded" = 0 ]; then failed=$((failed + 1)); fi
echo "$((files - failed)) passed, $failed failed"
[ "$failed" = 0 ]
