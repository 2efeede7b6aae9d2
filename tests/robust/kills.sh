#!/bin/sh
# Trainings and data sets that kill -9 ends: sh tests/robust/kills.sh short|long OUT
#
#   train   a training that keeps checkpoints is killed at random moments and gone on with, every time from pages of
#           another size, in one folder or two, packed or not, with another budget and other threads: the bytes of the
#           model must be those of a training in memory that nothing came between
#   data    a data set is killed while it is written: the folder opens whole or not at all, and can be written again
#
# Short: 6 kills of trainings and 4 of data sets; long: GBT_KILLS of each, 100 by default.
set -u
form=$1
out=$(cd "$2" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
work=$out/robust/kills
rm -rf "$work"
mkdir -p "$work"
case "$form" in
  short) trainings=6 datasets=4 ;;
  long) trainings=${GBT_KILLS:-100} datasets=${GBT_KILLS:-100} ;;
  *) echo "usage: sh tests/robust/kills.sh short|long OUT" >&2; exit 2 ;;
esac
if [ ! -d "$out/lib/gbt" ]; then
  echo "skipped: there is no gbt in $out/lib (step install)"
  exit 0
fi
R_LIBS=$out/lib
export R_LIBS
Rscript --vanilla "$here/kills/run.R" "$here/kills/child.R" "$work" "$trainings" "$datasets"
status=$?
rm -rf "$work"/at-* "$work"/data-*
exit "$status"
