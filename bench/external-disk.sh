#!/bin/sh
# Training from pages that the system's cache has no room for, compared with what the disk needs for the same bytes: one
# training, then a plain read of as many bytes as that has read of the disk, past the cache, in turns, since the rate
# of a disk may change from minute to minute. Prints a table. As root, on Linux with the memory controller of control
# groups (version 1).
#
#   sh bench/external-disk.sh [ROWS] [COLUMNS] [LIMIT in MB] [ROUNDS] [REPEATS]
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
rows=${1:-10000000}
columns=${2:-100}
limit=${3:-768}
rounds=${4:-4}
repeats=${5:-5}
folder=${GBT_BENCH_CACHE:-${TMPDIR:-/tmp}/gbt-bench/data}/external-disk-$rows-$columns
group=/sys/fs/cgroup/memory/gbt-bench-disk
mkdir -p "$folder/temp" "$group"
TMPDIR=$folder/temp
export TMPDIR
if [ ! -d "$folder/bins" ]; then Rscript "$root/bench/external-disk.R" "$folder" "$rows" "$columns" 0 0; fi
sync
for file in "$folder"/bins/*; do dd if="$file" iflag=nocache count=0 status=none; done # out of the system's cache
echo $((limit << 20)) >"$group/memory.limit_in_bytes"
# shellcheck disable=SC2016
sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group" Rscript "$root/bench/external-disk.R" "$folder" "$rows" \
  "$columns" "$rounds" "$repeats" >"$folder/disk.csv"
rmdir "$group" || true
model=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1)
cat <<TEXT
$(date +%F), gbt at $(git -C "$root" rev-parse --short HEAD), $model, $(nproc) processors.
\`sh bench/external-disk.sh $rows $columns $limit $rounds $repeats\`: $rows rows of $columns doubles, $rounds rounds of
depth 6 under a limit of $limit MB, the system's cache included; the same bytes read by \`dd iflag=direct\` in turns.

| run | training s | processor s | read of the disk MB | the disk alone s | ratio |
|---|---|---|---|---|---|
TEXT
awk -F, '{ printf "| %d | %.1f | %.1f | %.0f | %.1f | %.2f |\n", $1, $2, $3, $4, $5, $2 / $5 }' "$folder/disk.csv"
