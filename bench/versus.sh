#!/bin/sh
# Compares two installed versions of gbt on jobs of compare.sh, in turns: conversion, training and prediction.
#   sh bench/versus.sh OLD_LIBRARY NEW_LIBRARY [--sets a,b] [--turns 5] [--repeats 3] [--out FOLDER]
# A library is a folder into which a version was installed: R CMD INSTALL --library=FOLDER . in its sources.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
venv=${GBT_BENCH_VENV:-${TMPDIR:-/tmp}/gbt-bench/venv}
sh "$here/setup.sh"
PYTHONDONTWRITEBYTECODE=1 exec "$venv/bin/python" "$here/versus.py" "$@"
