#!/bin/sh
# Counts what the kernels of src/cuda and trainings on a device cost, and compares it with bench/gpu/counts.txt, which
# tools/check-counts.py explains. No GPU is needed.
#
#   sh tools/counts.sh [--write] [kernels] [runs]      --write: puts what was counted into the table
#
#   kernels   registers, spills, addresses, machine code: needs nvcc, takes a minute on two cores
#   runs the calls and bytes of one round of training on an emulated device: launches, copies, bytes, additions; half a
#             minute. Then bench/gpu/model.py: no shape is expected to take more than 5 % longer than what is on record
#
# BUILD: where the objects go, out/counts by default. LIBGBT: as in bench/gpu/Makefile.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
BUILD=${BUILD:-$root/out/counts}
jobs=$(nproc 2>/dev/null || echo 2)
write=
if [ "${1:-}" = --write ]; then write=--write; shift; fi

kernels() {
  if ! command -v nvcc >/dev/null 2>&1; then
    echo "skipped: there is no nvcc, so kernels are not counted"
    return
  fi
  kept=$BUILD/kept
  rm -rf "$kept" "$BUILD/gpu/cuda"
  mkdir -p "$kept"
  make -O -s -C "$root/tests/native" -j "$jobs" VARIANT=gpu BUILD="$BUILD" GPU_ARCH="80 90" \
    NVCC_FLAGS="--keep --keep-dir $kept -Xptxas -v" "$BUILD/gpu/libdevice.a" 2>"$kept/ptxas.txt" || {
    cat "$kept/ptxas.txt"
    return 1
  }
  python3 "$root/tools/check-counts.py" $write kernels "$kept"
}

runs() {
  make -s -C "$root/bench/gpu" -j "$jobs" COUNT=1 BUILD="$BUILD/runs" counts
  env -i PATH="$PATH" "$BUILD/runs/count/counts" >"$BUILD/runs.txt"
  python3 "$root/tools/check-counts.py" $write runs "$BUILD/runs.txt"
  if [ -n "$write" ]; then python3 "$root/bench/gpu/model.py" --write; fi
  python3 "$root/bench/gpu/model.py" --check
}

for what in ${*:-kernels runs}; do
  case "$what" in
    kernels | runs) "$what" ;;
    *) sed -n 's/^# \{0,1\}//; 2,10p' "$0" >&2; exit 2 ;;
  esac
done
