#!/bin/sh
# Time of one training by 1, 2, 4 and 8 ranks on one machine, and whether all give the same bytes.
#
#   R_LIBS=... sh bench/ranks/run.sh [MPIRUN] [ROWS] [COLUMNS] [ROUNDS]
#
# MPIRUN: mpirun.openmpi by default. Columns of the output: ranks, rows, seconds until the end of one round (binning
# and the first tree), seconds of a further tree, seconds of the first rank's processor, md5 of the model. The first
# line is one process without MPI. On a machine with fewer cores than ranks this shows overheads, not speed.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mpirun=${1:-mpirun.openmpi}
rows=${2:-200000}
columns=${3:-28}
rounds=${4:-20}
OMPI_ALLOW_RUN_AS_ROOT=1
OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM OMPI_MCA_rmaps_base_oversubscribe
printf 'ranks\trows\tfirst_s\ttree_s\tprocessor_s\tmd5\n'
GBT_BENCH_ALONE=yes Rscript "$here/train.R" "$rows" "$columns" "$rounds"
for n in 1 2 4 8; do
  "$mpirun" -n "$n" Rscript "$here/train.R" "$rows" "$columns" "$rounds" </dev/null
done
