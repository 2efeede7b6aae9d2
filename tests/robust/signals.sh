#!/bin/sh
# Ctrl-C and other signals at any moment of heavy jobs: heard soon, and nothing is lost by it.
#
#   sh tests/robust/signals.sh short|long OUT
#
# signals/gaps.R measures the longest time between two looks at Ctrl-C in every job, signals/signals.R sends signals at
# random moments (GBT_SIGNALS_SEED), here a training gets signals that end a process. Seconds are those of the CPU, so
# that a loaded machine fails no promise of 0.2 s.
set -u
form=$1
out=$(cd "$2" && pwd)
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$out/robust/signals
tries=2
if [ "$form" = long ]; then tries=${GBT_SIGNALS_TRIES:-30}; fi
begun=$(date +%s)
SIGNALS=$root/tests/robust/signals
R_LIBS=$out/lib
export R_LIBS SIGNALS
if ! [ -r /proc/self/task ]; then
  echo "skipped: there is no /proc here to read the CPU's seconds from"
  exit 0
fi
mkdir -p "$work"
rm -f "$work"/report-*
cp "$SIGNALS/polls.c" "$work"
(cd "$work" && R CMD SHLIB -o polls.so polls.c) >"$work/build" 2>&1 || {
  tail "$work/build"
  echo "0 passed, 1 failed"
  exit 1
}

run() { # REPORT SCRIPT ARGUMENT...
  report=$1
  shift
  : >"$report"
  Rscript "$@" "$report" >"$report.log" 2>&1 ||
    printf 'FAILED\tended\t%s\t0\t%s\n' "$1" "$(tail -3 "$report.log" | tr '\n\t' '  ')" >>"$report"
}

# A training in a process of its own gets a signal: the process ends, and not by a fault of ours. The signal's default
# action is put back first: under nohup this script, and what it starts, ignores SIGHUP. SIGUSR1 is left out: R's
# handler of it runs R code at once, wherever the process is. Within malloc() that fails, whichever code called it.
ended_by() { # SIGNAL STATUS...
  (cd "$work" && exec env "--default-signal=$1" Rscript --no-save "$SIGNALS/victim.R") >"$work/victim.log" 2>&1 &
  pid=$!
  tenths=0
  until grep -q ready "$work/victim.log" || [ $tenths -gt 600 ]; do
    sleep 0.1
    tenths=$((tenths + 1))
  done
  sleep 0.5
  kill "-$1" "$pid"
  tenths=0
  while kill -0 "$pid" 2>/dev/null && [ $tenths -lt 600 ]; do
    sleep 0.1
    tenths=$((tenths + 1))
  done
  kill -KILL "$pid" 2>/dev/null
  status=0
  wait "$pid" || status=$?
  signal=$1
  shift
  verdict=FAILED
  for good; do
    if [ "$status" = "$good" ]; then verdict=ok; fi
  done
  printf '%s\tended by\tSIG%s\t0\tstatus %s\n' "$verdict" "$signal" "$status" >>"$work/report-ended"
}

run "$work/report-gaps" "$SIGNALS/gaps.R" "$form" "$work/polls.so" &
run "$work/report-signals" "$SIGNALS/signals.R" "$form" "$tries" "$work/polls.so"
ended_by TERM 143
ended_by HUP 1 129
ended_by INT 1 130
wait

cat "$work/report-gaps" "$work/report-signals" "$work/report-ended" >"$work/report"
passed=$(grep -c '^ok' "$work/report")
failed=$(grep -vc '^ok' "$work/report")
grep -v '^ok' "$work/report"
of() { awk -F'\t' -v what="$1" '$2 == what' "$work/report"; }
largest() { of "$1" | awk -F'\t' '$4 > most { most = $4 } END { printf "%.3f", most }'; }
{
  printf 'signals: jobs whose looks at Ctrl-C were timed\t%s\n' "$(of gap | wc -l)"
  printf 'signals: longest time between two looks, seconds\t%s\n' "$(largest gap)"
  printf 'signals: jobs that were interrupted\t%s\n' "$(of interrupt | wc -l)"
  printf 'signals: interrupts in each\t%s\n' "$tries"
  printf 'signals: latest interrupt, seconds of the CPU\t%s\n' "$(largest interrupt)"
  printf 'signals: faults\t%s\n' "$failed"
  printf 'signals: seconds\t%s\n' $(($(date +%s) - begun))
} | tee "$work/figures"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
