#!/bin/sh
# Compares gbt with XGBoost, LightGBM and CatBoost on the same sets and writes bench/results/compare.{csv,md} and plots.
#   sh bench/compare.sh [--sets a,b] [--phases compare,own,busy,threads] [--repeats 5] [--rounds-scale 1] [--quick]
#       [--engines gbt,xgboost,lightgbm,catboost] [--resume] [--budget MINUTES] [--out FOLDER]
# bench/README.md says what is measured and how. The gbt that R finds is measured: R CMD INSTALL . before.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
venv=${GBT_BENCH_VENV:-${TMPDIR:-/tmp}/gbt-bench/venv}
Rscript -e 'if (!requireNamespace("gbt", quietly = TRUE)) stop("gbt is not installed: R CMD INSTALL . first")'
sh "$here/setup.sh"
PYTHONDONTWRITEBYTECODE=1 exec "$venv/bin/python" "$here/compare.py" "$@"
