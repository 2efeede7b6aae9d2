#!/bin/sh
# Quality on data with categorical columns: gbt by each of its methods beside CatBoost, LightGBM and XGBoost.
#   sh bench/categorical.sh [SET ...]
# Real sets (where the data are, see bench/data.R) and two made ones, five splits each. Runs that are in
# $GBT_BENCH_CATEGORICAL/runs.csv (default ${TMPDIR:-/tmp}/gbt-bench/categorical) are not made again, so it may be
# stopped and started anew. Writes bench/results/categorical.md. gbt must be installed. Takes hours for all sets.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
venv=${GBT_BENCH_VENV:-${TMPDIR:-/tmp}/gbt-bench/venv}
folder=${GBT_BENCH_CATEGORICAL:-${TMPDIR:-/tmp}/gbt-bench/categorical}
sh "$here/setup.sh"
Rscript "$here/categorical.R" prepare "$folder" "$@"
Rscript "$here/categorical.R" run "$folder" "$@"
PYTHONDONTWRITEBYTECODE=1 "$venv/bin/python" "$here/categorical.py" "$folder" --sets "$(echo "$@" | tr ' ' ',')"
Rscript "$here/categorical.R" report "$folder" "$here/results/categorical.md"
