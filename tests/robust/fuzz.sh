#!/bin/sh
# Mutated models and tables against the engine, under the address and undefined behaviour sanitizers: see ../fuzz.
#
#   sh tests/robust/fuzz.sh short|long OUT
#
# short: the corpus and every input that ever found a fault once, then the same mutations in every run, by two
# processes. long: that with clang's sanitizers as well, which see more, and libFuzzer for GBT_FUZZ_SECONDS (default
# 14,400) a fuzzer, both at the same time; what it finds new is left in OUT/robust/fuzz. GBT_FUZZ_INPUTS: mutations of
# models for either process, and of files for each reader (default 1,000,000). The long form also forges folders of
# bins, by ../native/disk/test_disk_forged.c, about nine tenths as many.
set -u
form=$1
out=$(cd "$2" && pwd)
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$out/robust/fuzz
fuzz=$root/tests/fuzz
seconds=${GBT_FUZZ_SECONDS:-14400}
begun=$(date +%s)
passed=0 failed=0 inputs=0
n_formats=$(grep -c '^GBT_FORMAT(' "$root/src/gbt/exchange/formats.def")
mkdir -p "$work"
: >"$work/figures"

figure() { printf '%s\t%s\n' "$1" "$2" | tee -a "$work/figures"; }

build() { # VARIANT
  make -s -C "$root/tests/native" -j 2 VARIANT="$1" BUILD="$out/native" fuzzers >"$work/build-$1" 2>&1 && return
  tail -20 "$work/build-$1"
  echo "0 passed, 1 failed"
  exit 1
}

# Starts a command in the folder NAME of its own.
start() { # NAME COMMAND...
  folder=$work/$1
  shift
  rm -rf "$folder"
  mkdir -p "$folder"
  (cd "$folder" && exec "$@" >report 2>&1) &
  pid=$!
}

# Waits for the command in folder NAME. Its report ends with "N inputs, N accepted", or tells of a fault.
reap() { # NAME PID
  if wait "$2"; then
    passed=$((passed + 1))
    n=$(sed -n 's/^\([0-9]*\) inputs, .*/\1/p' "$work/$1/report")
    inputs=$((inputs + n))
    echo "$1: $(tail -1 "$work/$1/report")"
  else
    failed=$((failed + 1))
    echo "$1: a fault; the input is $work/$1/fault"
    tail -40 "$work/$1/report"
  fi
}

pair() { # NAME, then two commands with -- between them: both at the same time
  name=$1 first=""
  shift
  while [ "$1" != -- ]; do
    first="$first '$1'"
    shift
  done
  shift
  eval start "$name-1" "$first"
  one=$pid
  start "$name-2" "$@"
  reap "$name-1" "$one"
  reap "$name-2" "$pid"
}

both() { # VARIANT MODELS TABLES FILES: so many mutations in each of two processes, and of files for each reader
  m=$out/native/$1/run_model t=$out/native/$1/run_table
  pair "$1-once" "$m" once "$fuzz"/*/model/* -- "$t" once "$fuzz"/*/table/* # corpus and found
  pair "$1-model" "$m" mutate 0 "$2" "$fuzz"/corpus/model/* -- "$m" mutate "$2" $((2 * $2)) "$fuzz"/corpus/model/*
  pair "$1-table" "$t" mutate 0 "$3" "$fuzz"/corpus/table/* -- "$t" mutate "$3" $((2 * $3)) "$fuzz"/corpus/table/*
  readers "$1" "$4"
}

# Files of other programs by their readers, then files that gbt wrote by those that check them. These have the formats
# by turns: written FORMAT.
readers() { # VARIANT INPUTS
  x=$out/native/$1/run_import w=$out/native/$1/run_written i=$root/tests/testthat/imported seeds=$work/seeds-$1
  pair "$1-files-once" "$x" once "$fuzz"/found/import/* -- "$w" once "$fuzz"/found/import/* # of any format
  pair "$1-xgboost" "$x" mutate 0 "$2" "$i"/xgb_*.json -- "$x" mutate 0 "$2" "$i"/xgb_*.ubj
  pair "$1-lightgbm-catboost" "$x" mutate 0 "$2" "$i"/lgb_*.txt -- "$x" mutate 0 "$2" "$i"/cat_*.json
  rm -rf "$seeds" "$seeds-import"
  mkdir -p "$seeds" "$seeds-import"
  "$x" seeds "$seeds-import" || failed=$((failed + 1))
  own=$(grep -l '"format":"gbt"' "$seeds-import"/*.bin)
  pair "$1-own-json" "$x" mutate 0 "$2" $own -- "$x" mutate "$2" $((2 * $2)) $own
  "$w" seeds "$seeds" || failed=$((failed + 1))
  for f in $(seq 0 2 $((n_formats - 1))); do
    last=$((f + 1 < n_formats ? f + 1 : f)) # twice where their number is odd
    pair "$1-written-$f" "$w" mutate 0 "$2" $(written "$f") -- "$w" mutate 0 "$2" $(written "$last")
  done
}

written() { # FORMAT
  n=$1
  while [ -f "$seeds/$n.bin" ]; do
    echo "$seeds/$n.bin"
    n=$((n + n_formats))
  done
}

# libFuzzer goes on from what it found before.
hunt() { # KIND
  kept=$work/found-$1
  mkdir -p "$kept"
  ASAN_OPTIONS=quarantine_size_mb=4:malloc_context_size=1:max_malloc_fill_size=256 \
    "$out/native/fuzz/libfuzzer_$1" -max_len=8192 -timeout=20 -rss_limit_mb=2048 -print_final_stats=1 \
    -max_total_time="$seconds" -artifact_prefix="$work/fault-$1-" "$kept" "$fuzz/corpus/$1" \
    >"$work/hunt-$1" 2>&1
}

hunted() { # KIND STATUS
  tail -3 "$work/hunt-$1"
  if [ "$2" = 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
  n=$(sed -n 's/^stat::number_of_executed_units: *//p' "$work/hunt-$1")
  inputs=$((inputs + ${n:-0}))
  last=$(grep -E '^#[0-9]+.* cov: ' "$work/hunt-$1" | tail -1)
  figure "fuzz: edges covered by libFuzzer, $1" "$(echo "$last" | sed 's/.* cov: \([0-9]*\).*/\1/')"
  figure "fuzz: edges and counts (ft), $1" "$(echo "$last" | sed 's/.* ft: \([0-9]*\).*/\1/')"
  figure "fuzz: edges in the program, $1" \
    "$(sed -n 's/^INFO: Loaded . modules *(\([0-9]*\) .*/\1/p' "$work/hunt-$1" | head -1)"
}

build asan
if [ "$form" = short ]; then
  both asan 20000 6000 3000 # native_asan mutates models as well: ../native/model/test_fuzz.c
else
  each=${GBT_FUZZ_INPUTS:-1000000}
  both asan "$each" $((each / 2)) "$each"
  if GBT_FUZZ=$((each / 1000 + 1)) make -s -C "$root/tests/native" -j 2 VARIANT=asan BUILD="$out/native" \
    SUITES=disk_forged check >"$work/folders" 2>&1; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
  tail -3 "$work/folders"
  build fuzz
  both fuzz "$each" $((each / 2)) $((each / 10))
  hunt model &
  first=$!
  hunt table &
  second=$!
  wait "$first"
  hunted model $?
  wait "$second"
  hunted table $?
fi

figure "fuzz: inputs" "$inputs"
figure "fuzz: faults" "$failed"
figure "fuzz: seconds" $(($(date +%s) - begun))
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
