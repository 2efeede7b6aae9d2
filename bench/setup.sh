#!/bin/sh
# Makes the Python environment with the peers (XGBoost, LightGBM, CatBoost), outside of the repository.
#   sh bench/setup.sh
# Where: $GBT_BENCH_VENV, default ${TMPDIR:-/tmp}/gbt-bench/venv. Delete the folder to be rid of it.
set -eu

venv=${GBT_BENCH_VENV:-${TMPDIR:-/tmp}/gbt-bench/venv}
packages="xgboost-cpu lightgbm catboost numpy pandas scipy scikit-learn"

wanted='import xgboost, lightgbm, catboost, pandas, scipy, sklearn'
if [ -x "$venv/bin/python" ] && "$venv/bin/python" -c "$wanted" 2>/dev/null; then
  echo "the peers are there already, in $venv"
  exit 0
fi
command -v python3 >/dev/null || { echo "python3 is needed (with venv and pip)" >&2; exit 1; }
echo "making $venv with: $packages"
mkdir -p "$(dirname "$venv")"
[ -x "$venv/bin/python" ] || python3 -m venv "$venv"
# shellcheck disable=SC2086
"$venv/bin/pip" install --quiet --disable-pip-version-check $packages
"$venv/bin/python" -c 'import xgboost, lightgbm, catboost
print("XGBoost", xgboost.__version__, "LightGBM", lightgbm.__version__, "CatBoost", catboost.__version__)'
