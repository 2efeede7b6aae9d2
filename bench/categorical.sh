#!/bin/sh
# Quality with categorical columns: gbt and CatBoost, LightGBM and XGBoost; writes categorical.{csv,md} in
# bench/results.
#   sh bench/categorical.sh [--sets adult,flights] [--engines gbt-sets,catboost] [--splits 1,2] [--threads 2]
#       [--again gbt-sets] [--out FOLDER]
# Goes on where it was when it is started again. The gbt that R finds is measured: R CMD INSTALL . before.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
Rscript -e 'if (!requireNamespace("gbt", quietly = TRUE)) stop("gbt is not installed: R CMD INSTALL . first")'
sh "$here/setup.sh"
Rscript "$here/categorical.R" "$@"
Rscript "$here/categorical-report.R" "$@"
