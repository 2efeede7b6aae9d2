#!/bin/sh
# Everything that a machine with a GPU is for, in order of worth, within a limit of time: first whether the device is
# right, then its primitives, then the shapes, of which the first say most.
#
#   sh bench/gpu/run.sh SECONDS [STEP ...]        all steps without names; 580 for a machine that gives ten minutes
#
# A step is not begun when its least time is not left, and is ended at the limit; one that has been done is not done
# again (delete $BUILD/done), so several calls go on where the last one ended. One that fails or takes too long costs
# itself alone; what it has measured so far is kept, and the last lines and the exit status say what failed. Results
# are in $BUILD/results, and, at the end of every step, in $OUT when that is set: machine.txt, steps.csv, log.txt,
# micro.csv, train.csv, away.csv, peers.csv, page.md (report.sh), times.svg. What is proven goes into the table of
# $PROVEN.
#
#   build      engine, backend and programs (make)
#   equal      small trainings of all shapes, whose models and predictions must have the CPU's bytes
#   tests      the tests of tests/native on the GPU
#   micro      the device's primitives; calibrates model.py
#   away       higgs whose codes have no room in the device's memory: kernels read them over the bus
#   higgs, small, airline, covertype, epsilon     trainings of depth 8 and 6
#   sanitize   small trainings, then suites of tests/native, under memcheck, racecheck, initcheck, synccheck
#   peers      compared with XGBoost, LightGBM and CatBoost, what is there of them ($PYTHON, $PYTHONPATH)
#
# BUILD: bench/gpu/build. ROUNDS: 500. MOST_ROWS: no shape has more. COLS: of epsilon, 2000. REPEATS: of micro, 7.
# PREBUILT=1: programs were built elsewhere, by `make -C bench/gpu` and `make -C tests/native gpu_programs`.
# MAKEFLAGS: as for make. KIND: cuda, or emulate to try this script without a GPU. TESTS: suites, all by default.
# TEST_PROGRAM: of tests/native, as built.
# COMMIT: what is measured, read from git otherwise. PROVEN: bench/results/GPU.md, or a copy of it in the results when
# the device is emulated. LIMIT: most seconds of any step. SUITE_LIMIT: of a suite of tests, 100. PLANT: STEP:fail or
# STEP:hang, to see that this costs that step alone.
set -u

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
seconds=${1:?"run.sh SECONDS [STEP ...]"}
shift
BUILD=${BUILD:-$here/build}
KIND=${KIND:-cuda}
ROUNDS=${ROUNDS:-500}
MOST_ROWS=${MOST_ROWS:-115000000}
COLS=${COLS:-2000}
REPEATS=${REPEATS:-7}
TESTS=${TESTS:-}
LIMIT=${LIMIT:-600}
SUITE_LIMIT=${SUITE_LIMIT:-100}
PREBUILT=${PREBUILT:-}
variant=gpu
[ "$KIND" = emulate ] && variant=simt
TEST_PROGRAM=${TEST_PROGRAM:-$root/tests/native/build/$variant/gbt_test}
PYTHON=${PYTHON:-python3}
all="build equal tests micro higgs small airline covertype epsilon away sanitize peers_first peers"
steps=${*:-$all}
results=$BUILD/results
begun=$(date +%s)
jobs=$(nproc 2>/dev/null || echo 2)
mkdir -p "$results" "$BUILD/done"
PROVEN=${PROVEN:-$root/bench/results/GPU.md}
if [ "$KIND" = emulate ]; then
  [ -e "$results/GPU.md" ] || cp "$PROVEN" "$results/GPU.md"
  PROVEN=$results/GPU.md
fi

arch=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -1 | tr -d .)
arch=${arch:-90}
emulate=
[ "$KIND" = emulate ] && emulate=EMULATE=1

left() { echo $((seconds - ($(date +%s) - begun))); }

machine() {
  echo "date: $(date -u +%Y-%m-%d)"
  echo "commit: ${COMMIT:-$(git -C "$root" describe --always --dirty --exclude '*' 2>/dev/null || echo unknown)}"
  echo "kind: $KIND"
  echo "cpu: $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1), $jobs cores seen"
  echo "gpu: $(nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader 2>/dev/null | head -1)"
  echo "nvcc: $(nvcc --version 2>/dev/null | sed -n 's/.*release \([^,]*\),.*/\1/p')"
}

# keep FILE: figures of now.FILE go to FILE, also those of a program that was ended.
keep() {
  [ -e "$results/now.$1" ] || return 0
  cat "$results/now.$1" >>"$results/$1"
  rm -f "$results/now.$1"
}

# train SHAPE ROWS DEPTH [name=value ...]: figures to train.csv
train() {
  shape=$1 rows=$2 depth=$3
  shift 3
  [ "$rows" -gt "$MOST_ROWS" ] && rows=$MOST_ROWS
  "$BUILD/$KIND/train" shape="$shape" rows="$rows" depth="$depth" rounds="$ROUNDS" "$@" >"$results/now.train.csv"
  status=$?
  grep -v ' layer ' "$results/now.train.csv"
  keep train.csv
  return "$status"
}
both_depths() { # SHAPE ROWS REPEATS
  train "$1" "$2" 8 repeats="$3" && train "$1" "$2" 6 repeats="$3"
}

do_build() {
  [ -n "$PREBUILT" ] && { ls -l "$BUILD/$KIND/micro" "$BUILD/$KIND/train"; return; }
  make -s -j "$jobs" -C "$here" BUILD="$BUILD" $emulate all
}
do_equal() {
  worst=0
  for job in "higgs rows=20000 depth=8" "airline rows=20000 depth=8" "covertype rows=5000 depth=6" \
    "epsilon rows=1000 cols=200 depth=6" "small rows=20000 depth=6" \
    "small rows=5000 depth=0 grow_policy=1 max_leaves=64" \
    "small rows=5000 depth=5 grow_policy=2 subsample=0.7"; do
    rows=${job#*rows=} rows=${rows%% *}
    [ "$rows" -gt "$MOST_ROWS" ] && job=$(echo "$job" | sed "s/rows=$rows/rows=$MOST_ROWS/")
    # shellcheck disable=SC2086
    "$BUILD/$KIND/train" shape=$job rounds=10 check=10 steps=0 >"$results/now.one" || worst=1
    grep "'s," "$results/now.one" || worst=1
  done >"$results/now.equal"
  cat "$results/now.equal"
  grep -q "'s,[^1]" "$results/now.equal" && worst=1
  return "$worst"
}
do_micro() {
  "$BUILD/$KIND/micro" "$REPEATS" >"$results/now.micro.csv"
  status=$?
  cat "$results/now.micro.csv"
  keep micro.csv
  return "$status"
}
# Suites of the device. Each is a process of its own: one that hangs or breaks the device costs itself alone. Four at a
# time, but those that look at the device's memory or at its devices, alone. What a suite says is shown when it ends:
# a step that takes too long keeps what was done. `--foreground`, or those that run would outlive the step.
suites() {
  if [ -n "$TESTS" ]; then echo "$TESTS" | tr ' ' '\n'; return; fi
  find "$root/tests/native/cuda" -name 'test_*.c*' | sed 's|.*/test_||; s|\.cu*$||' | sort
}
alone="cuda_memory|cuda_devices|cuda_machine|cuda_stage|cuda_once"
counts='^[0-9]+ passed, [0-9]+ failed$'
one_suite='timeout --foreground -k 5 "$1" "$2" "$3" >"$4.$3" 2>&1 || echo "$3: status $?" >>"$4.$3"
grep -vE "$5" "$4.$3"'
do_tests() {
  [ -n "$PREBUILT" ] ||
    make -s -j "$jobs" -C "$root/tests/native" VARIANT=$variant GPU_ARCH="$arch" \
      SUITES="$(suites | tr '\n' ' ')" all || return
  rm -f "$results"/now.suite.*
  for at_once in 4 1; do
    suites | awk -v alone="^($alone)$" -v want="$at_once" '(($0 ~ alone) ? 1 : 4) == want' |
      xargs -P "$at_once" -I NAME \
        sh -c "$one_suite" sh "$SUITE_LIMIT" "$TEST_PROGRAM" NAME "$results/now.suite" "$counts"
  done
  for suite in $(suites); do
    file=$results/now.suite.$suite
    touch "$file"
    case "$(sed -nE "/$counts/s/.*, ([0-9]+) failed/\1/p" "$file") $(grep -c "^$suite: status" "$file")" in
      "0 0" | [1-9]*) continue ;; # its checks held and it ended well, or it has counted those that did not
    esac
    echo "  FAILED $suite: it did not end well"
    echo "0 passed, 1 failed" >>"$file"
  done
  cat "$results"/now.suite.* | awk -v counts="$counts" '$0 ~ counts { p += $1; f += $3 }
    END { print p + 0 " passed, " f + 0 " failed"; exit !(p > 0 && f == 0) }'
}
do_sanitize() {
  command -v compute-sanitizer >/dev/null || { echo "compute-sanitizer is not there: skipped"; return 0; }
  for tool in memcheck racecheck initcheck synccheck; do
    for job in "shape=small rows=3000 depth=5 rounds=3" "shape=covertype rows=800 depth=4 rounds=1"; do
      # shellcheck disable=SC2086
      compute-sanitizer --tool "$tool" --error-exitcode 9 "$BUILD/$KIND/train" $job steps=0 || return
    done
  done
  [ -n "$PREBUILT" ] || { make -s -j "$jobs" -C "$root/tests/native" GPU_ARCH="$arch" gpu_checked; return; }
  status=0
  for tool in "memcheck --report-api-errors no" racecheck initcheck synccheck; do # as the target gpu_checked does
    echo "$tool"
    # shellcheck disable=SC2046,SC2086
    compute-sanitizer --tool $tool --error-exitcode 9 "$TEST_PROGRAM" \
      $(suites | grep -vE '^cuda_(train|grid|models)') || status=$?
  done
  return "$status"
}
do_small() { both_depths small 100000 5; }
do_higgs() { both_depths higgs 11000000 3; }
do_covertype() { both_depths covertype 581000 2; }
do_epsilon() { train epsilon 400000 8 repeats=1 cols="$COLS" && train epsilon 400000 6 repeats=1 cols="$COLS"; }
# By section 5 of ARCHITECTURE a row takes 29 bytes in addition to its codes and their copy, and codes 32: room for 44
# (hardly any codes) and for 52 (half of them), and 64 MB; all rows, and a tenth of them, which is gathered on the
# device. In a file of its own, as train.csv has one line for a shape and depth.
do_away() {
  rows=11000000 status=0
  [ "$rows" -gt "$MOST_ROWS" ] && rows=$MOST_ROWS
  : >"$results/away.csv"
  for room in 44 52; do
    for share in 1 0.1; do
      echo "# room for $room bytes a row, subsample $share" >>"$results/away.csv"
      "$BUILD/$KIND/train" shape=higgs rows="$rows" depth=8 rounds="$ROUNDS" steps=0 subsample="$share" \
        device_memory=$((rows * room / 1048576 + 64)) >>"$results/away.csv" || status=$?
    done
  done
  cat "$results/away.csv"
  return "$status"
}
do_airline() { both_depths airline 115000000 1; }
peers() { # SHAPES
  [ "$KIND" = cuda ] || { echo "engines are compared on a device alone"; return 0; }
  command -v "$PYTHON" >/dev/null || { echo "$PYTHON is not there: no engine is compared"; return 0; }
  "$PYTHON" "$here/peers.py" --shapes "$1" --seconds $(($(left) - 10)) --rounds "$ROUNDS" \
    --program "$BUILD/$KIND/train" --made "$BUILD/libmade.so" >"$results/now.peers.csv"
  status=$?
  cat "$results/now.peers.csv"
  keep peers.csv
  return "$status"
}
do_peers_first() { peers higgs,small; }
do_peers() { peers covertype,airline,epsilon; }

# Least and most seconds of a step.
limits() {
  case "$1" in
    build) echo 20 180 ;;
    equal) echo 10 45 ;;
    tests) echo 45 180 ;;
    micro) echo 10 60 ;;
    higgs) echo 30 110 ;;
    small) echo 10 45 ;;
    airline) echo 60 200 ;;
    covertype) echo 20 100 ;;
    epsilon) echo 40 150 ;;
    away) echo 30 400 ;;
    sanitize) echo 60 240 ;;
    peers_first) echo 60 240 ;;
    peers) echo 90 480 ;;
    *) return 1 ;;
  esac
}

# A step by itself: run.sh calls itself, so that `timeout` can end all of it.
if [ -n "${GBT_GPU_STEP:-}" ]; then
  case "${PLANT:-}" in
    "$GBT_GPU_STEP:fail") exit 7 ;;
    "$GBT_GPU_STEP:hang") sleep 100; exit 8 ;;
  esac
  "do_$GBT_GPU_STEP"
  exit
fi

# The result of a step: its line of steps.csv, what it has measured, its output.
end_step() { # STEP STATUS SECONDS
  keep micro.csv
  keep train.csv
  keep peers.csv
  tail -n 60 "$results/step.txt"
  { echo "== $1"; tail -n 400 "$results/step.txt"; } >>"$results/log.txt"
  rm -f "$results/step.txt" "$results"/now.*
  echo "$1,$3,$2" >>"$results/steps.csv"
  case "$2" in
    0) word="in order"; : >"$BUILD/done/$1" ;;
    124 | 137) word="FAILED: it took too long" ;;
    *) word="FAILED with status $2" ;;
  esac
  [ "$2" = 0 ] || failed="$failed $1"
  echo "== $1: $word after $3 s"
}

# The page, the picture and the table of what is proven, as far as there is anything to show.
show_results() {
  if command -v "$PYTHON" >/dev/null; then
    measured=
    [ -s "$results/micro.csv" ] && [ "$KIND" = cuda ] && measured=$results/micro.csv
    # shellcheck disable=SC2086
    "$PYTHON" "$here/model.py" --seconds $measured >"$results/expected.csv" || rm -f "$results/expected.csv"
  fi
  sh "$here/report.sh" --picture "$results" >"$results/times.svg" || echo "there is no picture" >&2
  sh "$here/report.sh" "$results" >"$results/page.md" || echo "there is no page" >&2
  sh "$here/report.sh" --proven "$results" "$PROVEN" || echo "$PROVEN was not changed" >&2
  [ -n "${OUT:-}" ] || return 0
  mkdir -p "$OUT"
  for file in machine.txt steps.csv log.txt micro.csv train.csv away.csv peers.csv page.md times.svg; do
    [ -s "$results/$file" ] && cp "$results/$file" "$OUT/$file"
  done
  return 0
}

for step in $steps; do
  limits "$step" >/dev/null || { echo "$step is no step of: $all" >&2; exit 2; }
done
machine >"$results/machine.txt"
cat "$results/machine.txt"
failed= late=
for step in $steps; do
  # shellcheck disable=SC2046
  set -- $(limits "$step")
  [ -e "$BUILD/done/$step" ] && continue
  case "$step: $failed " in
    tests:*) ;; # are built by themselves
    *" build "*) late="$late $step"; continue ;;
  esac
  if [ "$(left)" -lt "$1" ]; then
    echo "== $step: not begun, $(left) s are left, it takes $1 at least"
    late="$late $step"
    continue
  fi
  most=$2
  [ "$most" -gt "$LIMIT" ] && most=$LIMIT
  [ "$KIND" = emulate ] && most=$LIMIT
  [ "$most" -gt $(($(left) - 5)) ] && most=$(($(left) - 5))
  echo "== $step (at most $most s)"
  from=$(date +%s)
  GBT_GPU_STEP=$step timeout -k 5 "$most" sh "$0" "$most" >"$results/step.txt" 2>&1
  end_step "$step" "$?" $(($(date +%s) - from))
  show_results
done
[ -z "$late" ] || echo "not begun:$late"
[ -z "$failed" ] || echo "failed:$failed"
[ -z "$failed$late" ] && echo "all steps were done"
[ -z "$failed" ]
