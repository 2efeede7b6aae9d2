#!/bin/sh
# Counts what the kernels of src/cuda and trainings on a device cost, and compares it with bench/gpu/counts.txt, which
# tools/check-counts.py explains. No GPU is needed.
#
#   sh tools/counts.sh [--write] [kernels]      --write: puts what was counted into the table
#
#   kernels   registers, spills, addresses, machine code: needs nvcc, takes a minute on two cores
#
# BUILD: where the objects go, out/counts by default.
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

for what in ${*:-kernels}; do
  case "$what" in
    kernels) "$what" ;;
    *) sed -n 's/^# \{0,1\}//; 2,9p' "$0" >&2; exit 2 ;;
  esac
done
