#!/bin/sh
# Defaults of gbt, and parameter sets of it, compared with XGBoost, LightGBM and CatBoost; writes defaults.{csv,md} in
# bench/results.
#   sh bench/defaults.sh [--sets adult,pima] [--sizes small,middle] [--splits 1] [--gbt NAME:PARAMETERS] ...
# All arguments are in defaults.R. Goes on where it was when it is started again. The gbt that R finds is measured:
# R CMD INSTALL . before.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
sh "$here/setup.sh"
Rscript "$here/defaults.R" "$@"
Rscript "$here/defaults-report.R" "$@"
