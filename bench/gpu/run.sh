#!/bin/sh
# Everything that a machine with a GPU is for, in order of worth, within a limit of time.
#
#   sh bench/gpu/run.sh SECONDS [STEP ...]        all steps without names
#
# A step is not begun when its least time is not left, and is ended at the limit; one that has been done is not done
# again (delete $BUILD/done), so several calls go on where the last one ended. Results are in $BUILD/results, and, at
# the end of every step, in $OUT when that is set: machine.txt, steps.csv, log.txt, micro.csv, train.csv, peers.csv.
# Then: sh bench/gpu/report.sh FOLDER.
#
#   build      engine, backend and programs (make)
#   micro      the device's primitives
#   tests      the tests of tests/native on the GPU
#   sanitize   small trainings, then suites of tests/native, under memcheck, racecheck, initcheck, synccheck
#   small, higgs, covertype, epsilon, airline     trainings of depth 8 and 6
#   peers      beside XGBoost, LightGBM and CatBoost, what is there of them ($PYTHON, $PYTHONPATH)
#
# BUILD: bench/gpu/build. ROUNDS: 500. SCALE: rows are divided by it, 1. MAKEFLAGS: as for make. KIND: cuda, or emulate
# to try this script without a GPU. COMMIT: what is measured, asked of git otherwise.
set -u

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
seconds=${1:?"run.sh SECONDS [STEP ...]"}
shift
BUILD=${BUILD:-$here/build}
KIND=${KIND:-cuda}
ROUNDS=${ROUNDS:-500}
SCALE=${SCALE:-1}
PYTHON=${PYTHON:-python3}
all="build micro tests small higgs covertype sanitize peers_first epsilon airline peers"
steps=${*:-$all}
results=$BUILD/results
begun=$(date +%s)
jobs=$(nproc 2>/dev/null || echo 2)
mkdir -p "$results" "$BUILD/done"

arch=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -1 | tr -d .)
arch=${arch:-90}
emulate=
[ "$KIND" = emulate ] && emulate=EMULATE=1

left() { echo $((seconds - ($(date +%s) - begun))); }

machine() {
  echo "date: $(date -u +%Y-%m-%d)"
  echo "commit: ${COMMIT:-$(git -C "$root" rev-parse --short=12 HEAD 2>/dev/null || echo unknown)}"
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
  shape=$1 rows=$(($2 / SCALE)) depth=$3
  shift 3
  "$BUILD/$KIND/train" shape="$shape" rows="$rows" depth="$depth" rounds="$ROUNDS" "$@" >"$results/now.train.csv"
  status=$?
  grep -v ' layer ' "$results/now.train.csv"
  keep train.csv
  return "$status"
}
both_depths() { # SHAPE ROWS REPEATS
  train "$1" "$2" 8 repeats="$3" && train "$1" "$2" 6 repeats="$3"
}

do_build() { make -s -j "$jobs" -C "$here" BUILD="$BUILD" $emulate all; }
do_micro() { "$BUILD/$KIND/micro" 7 >"$results/micro.csv" && cat "$results/micro.csv"; }
do_tests() {
  target=gpu_tests
  [ "$KIND" = emulate ] && target=simt
  make -s -j "$jobs" -C "$root/tests/native" GPU_ARCH="$arch" $target
}
do_sanitize() {
  command -v compute-sanitizer >/dev/null || { echo "compute-sanitizer is not there: skipped"; return 0; }
  for tool in memcheck racecheck initcheck synccheck; do
    for job in "shape=small rows=3000 depth=5 rounds=3" "shape=covertype rows=800 depth=4 rounds=1"; do
      # shellcheck disable=SC2086
      compute-sanitizer --tool "$tool" --error-exitcode 9 "$BUILD/$KIND/train" $job steps=0 || return
    done
  done
  make -s -j "$jobs" -C "$root/tests/native" GPU_ARCH="$arch" gpu_checked
}
do_small() { both_depths small 100000 5; }
do_higgs() { both_depths higgs 11000000 3; }
do_covertype() { both_depths covertype 581000 2; }
do_epsilon() { both_depths epsilon 400000 1; }
do_airline() { both_depths airline 115000000 1; }
peers() { # SHAPES
  command -v "$PYTHON" >/dev/null || { echo "$PYTHON is not there: no engine is compared"; return 0; }
  "$PYTHON" "$here/peers.py" --shapes "$1" --seconds $(($(left) - 10)) --rounds "$ROUNDS" \
    --program "$BUILD/$KIND/train" --made "$BUILD/libmade.so" --scale "$(awk "BEGIN { print 1 / $SCALE }")" \
    >"$results/now.peers.csv"
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
    build) echo 20 420 ;;
    micro) echo 15 90 ;;
    tests) echo 60 300 ;;
    sanitize) echo 60 240 ;;
    small) echo 15 60 ;;
    higgs) echo 40 120 ;;
    covertype) echo 30 120 ;;
    epsilon) echo 60 180 ;;
    airline) echo 60 240 ;;
    peers_first) echo 60 240 ;;
    peers) echo 90 480 ;;
    *) return 1 ;;
  esac
}

# A step by itself: run.sh calls itself, so that `timeout` can end all of it.
if [ -n "${GBT_GPU_STEP:-}" ]; then
  "do_$GBT_GPU_STEP"
  exit
fi

for step in $steps; do
  limits "$step" >/dev/null || { echo "$step is no step of: $all" >&2; exit 2; }
done
machine >"$results/machine.txt"
cat "$results/machine.txt"
failed=0
for step in $steps; do
  # shellcheck disable=SC2046
  set -- $(limits "$step")
  [ -e "$BUILD/done/$step" ] && continue
  if [ "$(left)" -lt "$1" ]; then
    echo "== $step: not begun, $(left) s are left, it takes $1 at least"
    continue
  fi
  most=$2
  [ "$most" -gt $(($(left) - 5)) ] && most=$(($(left) - 5))
  echo "== $step (at most $most s)"
  from=$(date +%s)
  GBT_GPU_STEP=$step timeout -k 5 "$most" sh "$0" "$most" >"$results/step.txt" 2>&1
  status=$?
  keep train.csv
  keep peers.csv
  tail -n 60 "$results/step.txt"
  { echo "== $step"; tail -n 400 "$results/step.txt"; } >>"$results/log.txt"
  rm -f "$results/step.txt"
  echo "$step,$(($(date +%s) - from)),$status" >>"$results/steps.csv"
  echo "== $step: status $status after $(($(date +%s) - from)) s"
  if [ "$status" = 0 ]; then : >"$BUILD/done/$step"; else failed=$((failed + 1)); fi
  if [ -n "${OUT:-}" ]; then mkdir -p "$OUT" && cp "$results"/* "$OUT"/; fi
  if [ "$step" = build ] && [ "$status" != 0 ]; then break; fi
done
[ "$failed" = 0 ]
