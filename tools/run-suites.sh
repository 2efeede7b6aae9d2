#!/bin/sh
# Runs suites of a driver of tests, each in a process of its own, as many at a time as there are processors. Prints
# what all of them printed, and at last "N passed, N failed", the sum. A suite that ends without a count fails.
#
#   sh tools/run-suites.sh REPORTS DRIVER "SUITE ..." ["VARIABLE=VALUE ..." ...]
#
# REPORTS: a folder for what each of them says, emptied first. All suites run once for every line of variables.
set -u
reports=$1
driver=$2
suites=$3
shift 3
export reports driver
jobs=$(nproc 2>/dev/null || echo 2)
rm -rf "$reports"
mkdir -p "$reports"
if [ $# = 0 ]; then set -- "TZ=UTC"; fi

# Those that take long come first, so that none of them is left at the end with a processor idle.
long="nomem ranks encode variant train sizes metric mask store keys checkpoint cuda_train cuda_small cuda_batch
cuda_graph cuda_codes cuda_variant cuda_checkpoint cuda_mask cuda_statistics cuda_predict_tables cuda_memory cuda_hist"
in_order() {
  for name in $long; do
    for suite in $suites; do
      if [ "${suite%%/*}" = "$name" ]; then echo "$suite"; fi
    done
  done
  for suite in $suites; do
    case " $(echo $long) " in *" ${suite%%/*} "*) ;; *) echo "$suite" ;; esac
  done
}
# shellcheck disable=SC2016
in_order | while read -r suite; do
  for how in "$@"; do echo "$suite $how"; done
done | xargs -P "$jobs" -I LINE sh -c '
  suite=${1%% *} how=${1#* }
  report=$reports/$(echo "$1" | tr " =/" "---")
  { echo "---- $1"; env $how "$driver" "$suite"; } >"$report" 2>&1 || echo "ended with status $?" >>"$report"
  times >"$report.times" # the second line is what the suite used
' run LINE
for file in "$reports"/*.times; do
  awk -v what="$(basename "$file" .times)" 'NR == 2 { gsub("[ms]", " "); print 60 * ($1 + $3) + $2 + $4, what }' "$file"
done | sort -rn >"$reports.seconds"
rm -f "$reports"/*.times
cat "$reports"/*
echo "most of the processor:"
head -8 "$reports.seconds" | while read -r seconds what; do printf '  %6.1f s  %s\n' "$seconds" "$what"; done
passed=0
failed=0
for report in "$reports"/*; do
  count=$(sed -n 's/^\([0-9][0-9]*\) passed, \([0-9][0-9]*\) failed$/\1 \2/p' "$report" | tail -1)
  if [ -z "$count" ]; then
    echo "no count: $(head -1 "$report")"
    count="0 1"
  fi
  if [ "${count#* }" = 0 ] && grep -q '^ended with status' "$report"; then count="${count% *} 1"; fi
  passed=$((passed + ${count% *}))
  failed=$((failed + ${count#* }))
done
echo "$passed passed, $failed failed"
test "$failed" = 0
