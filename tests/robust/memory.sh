#!/bin/sh
# Memory that fails, memory that is little, threads that are refused, and gbt within gbt.
#
#   sh tests/robust/memory.sh short|long OUT
#
# memory/alloc.R   every request of gbt.so for memory fails in turn (memory/faults.c, preloaded), and every thread
# memory/limits.R  jobs under `ulimit -v`, from what R and gbt need to be loaded upwards
# memory/nested.R  forks, workers and trainings inside callbacks, metrics, objectives, timers and finalizers
set -u
form=$1
out=$(cd "$2" && pwd)
here=$(cd "$(dirname "$0")" && pwd)/memory
work=$out/robust/memory
begun=$(date +%s)
R_LIBS=$out/lib
R_DEFAULT_PACKAGES=datasets,utils,grDevices,graphics,stats,methods
R_PCRE_JIT_STACK_MAXSIZE=1 # R's regular expressions take 64 MB of addresses at first use, which would blur all sizes
export R_LIBS R_DEFAULT_PACKAGES R_PCRE_JIT_STACK_MAXSIZE
faults=3 sizes=6 least=12000 step=6000
if [ "$form" = long ]; then faults=0 sizes=80 least=0 step=1000; fi
rm -rf "$work"/*.txt "$work/figures"
mkdir -p "$work"

if ! ${CC:-cc} -O1 -Wall -Wextra -shared -fPIC -o "$work/faults.so" "$here/faults.c" -ldl >"$work/build.txt" 2>&1; then
  tail -5 "$work/build.txt"
  echo "skipped: faults cannot be preloaded here"
  exit 0
fi

# A file that ends without its count is one failure.
count() { # FILE
  sed -n 's/^\([0-9][0-9]*\) passed, \([0-9][0-9]*\) failed$/\1 \2/p' "$1" | tail -1 | grep . || echo "0 1"
}

one_alloc() { # PART
  LD_PRELOAD=$work/faults.so Rscript "$here/alloc.R" "$work/faults.so" "$faults" "$1" 2 >"$work/alloc-$1.txt" 2>&1
}
one_alloc 0 &
one_alloc 1
one_alloc sparse
wait

# Sizes in KB from the peak of an R that does nothing but load gbt. What ends R is a failure; but R's own stack, which
# cannot grow where there is no address space left, is not gbt's to mend: R says "segfault from C stack overflow". Nor
# are R's regular expressions, which use memory without a look at whether they got it: the traceback begins with them.
floor=$(Rscript -e 'library(gbt)' \
  -e 'cat(gsub("[^0-9]", "", grep("VmPeak", readLines("/proc/self/status"), value = TRUE)))')
one_limit() { # KB
  status=0
  (ulimit -v "$1" && exec timeout 300 Rscript "$here/limits.R") >"$work/limit-$1.txt" 2>&1 || status=$?
  echo "status $status" >>"$work/limit-$1.txt"
}
limits() { # FIRST: every second size from there on
  i=$1
  while [ "$i" -lt "$sizes" ]; do
    one_limit $((floor + least + i * step))
    i=$((i + 2))
  done
}
limits 0 &
limits 1
wait
limit_passed=0 limit_failed=0 limit_stack=0 limit_small=0
for file in "$work"/limit-*.txt; do
  if grep -q '^status 0$' "$file" && ! grep -q '^job .* other:' "$file"; then
    limit_passed=$((limit_passed + 1))
  elif grep -q 'C stack overflow\|C stack usage\|^ 1: \(sub\|gsub\|grepl\|regexpr\|gregexpr\|strsplit\)(' "$file"; then
    limit_stack=$((limit_stack + 1))
  elif ! grep -q '^job ' "$file" &&
    grep -q 'cannot allocate\|out of memory\|unable to load\|failed to map\|cannot map' "$file"; then
    limit_small=$((limit_small + 1)) # not even the jobs' data could be made
  else
    limit_failed=$((limit_failed + 1))
    echo "FAILED: $file"
    grep -v '^job .* done' "$file" | tail -8
  fi
done

Rscript "$here/nested.R" >"$work/nested.txt" 2>&1

passed=$limit_passed failed=$limit_failed
if [ "$limit_passed" = 0 ]; then
  failed=$((failed + 1))
  echo "FAILED: at no size of address space did all jobs end"
fi
for file in "$work"/alloc-*.txt "$work/nested.txt"; do
  grep '^FAILED\|^Error\|^Execution' "$file" | head -20
  read -r p f <<EOF
$(count "$file")
EOF
  passed=$((passed + p)) failed=$((failed + f))
done
{
  cat "$work"/alloc-*.txt |
    awk -F'\t' '/^memory: / { sum[$1] += $2 } END { for (name in sum) print name "\t" sum[name] }'
  printf 'memory: sizes of address space\t%s\n' "$((limit_passed + limit_failed + limit_stack + limit_small))"
  printf 'memory: jobs under little memory\t%s\n' "$(cat "$work"/limit-*.txt | grep -c '^job ')"
  printf 'memory: of these, gbt_error_memory\t%s\n' "$(cat "$work"/limit-*.txt | grep -c '^job .* memory')"
  printf 'memory: of these, no memory for R itself\t%s\n' "$(cat "$work"/limit-*.txt | grep -c '^job .* R ')"
  printf 'memory: sizes too small for the data of the jobs\t%s\n' "$limit_small"
  printf 'memory: sizes at which R itself broke down\t%s\n' "$limit_stack"
  printf 'memory: seconds\t%s\n' $(($(date +%s) - begun))
} | tee "$work/figures"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
