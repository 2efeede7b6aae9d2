#!/bin/sh
# Training on more data than memory has room for, under a limit of the system's: gbt and XGBoost's external memory, each
# in a control group of its own, in turns. Results: bench/results/external.md. As root, on Linux with the memory
# controller of control groups (version 1).
#
#   sh bench/external.sh PYTHON [CHUNKS] [COLUMNS] [LIMIT in MB] [REPEATS]
#
# PYTHON has numpy and xgboost. Chunks of 200,000 rows of doubles are made once, in $GBT_BENCH_CACHE/external; the
# default, 108 chunks of 100 columns, is 16 GiB under a limit of 2 GiB, and takes 40 GB of the disk in all. The last
# chunk is held out.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
python=$1
chunks=${2:-108}
columns=${3:-100}
limit=${4:-2048}
repeats=${5:-1}
folder=${GBT_BENCH_CACHE:-${TMPDIR:-/tmp}/gbt-bench/data}/external
group=/sys/fs/cgroup/memory/gbt-bench
mkdir -p "$folder"
"$python" "$root/bench/external.py" make "$folder" "$chunks" "$columns"
mkdir -p "$group"
limited() { # COMMAND...: its peak of memory goes to $folder/peak, in bytes
  echo 0 >"$group/memory.force_empty" || true
  echo $((limit << 20)) >"$group/memory.limit_in_bytes"
  # shellcheck disable=SC2016
  sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group" "$@"
}
out=$folder/results.csv
: >"$out"
for k in $(seq "$repeats"); do
  rm -rf "$folder/temp" "$folder/bins" "$folder/cache"
  mkdir -p "$folder/temp" "$folder/cache"
  TMPDIR=$folder/temp limited Rscript "$root/bench/external-gbt.R" "$folder" "$chunks" "$columns" >>"$out"
  rm -rf "$folder/temp" "$folder/bins"
  limited "$python" "$root/bench/external.py" train "$folder" "$chunks" "$columns" >>"$out"
  rm -rf "$folder/cache"
done
rmdir "$group" || true
cat "$out"
rows=$(((chunks - 1) * 200000))
model=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1)
{
  cat <<TEXT
# More data than memory

$(date +%F), gbt at $(git -C "$root" rev-parse --short HEAD), $model, $(nproc) processors.
\`sh bench/external.sh PYTHON $chunks $columns $limit $repeats\`: $rows rows of $columns doubles,
$((rows * columns / 134217728)) GiB, under a limit of $limit MB by a control group, which counts the system's cache of
files as well. 10 rounds of depth 6, 255 or 256 bins, 2 threads; the loss is that of a chunk held out.

| engine | reading and binning s | 10 rounds s | processor s | peak of the process MB | on disk MB | test logloss |
|---|---|---|---|---|---|---|
TEXT
  awk -F, '{ printf "| %s | %.0f | %.1f | %.1f | %.0f | %.0f | %.5f |\n", $1, $2, $3, $4, $5, $6, $7 }' "$out"
} >"$root/bench/results/external.md"
