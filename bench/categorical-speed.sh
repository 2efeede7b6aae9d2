#!/bin/sh
# Time, memory and model size with factors of 50, 4,000 and 300,000 levels: gbt and CatBoost; appends to
# bench/results/categorical-speed.csv and makes categorical-speed.md of it.
#   sh bench/categorical-speed.sh [--rows 10000000] [--engines gbt-sets,gbt-both,catboost] [--threads 2] [--rounds 100]
#       [--out FOLDER]
# 10,000,000 rows need 8 GB of memory and 500 MB of disk. The gbt that R finds is measured: R CMD INSTALL . before.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
Rscript -e 'if (!requireNamespace("gbt", quietly = TRUE)) stop("gbt is not installed: R CMD INSTALL . first")'
sh "$here/setup.sh"
Rscript "$here/categorical-speed.R" "$@"
