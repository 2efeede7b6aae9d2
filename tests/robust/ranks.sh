#!/bin/sh
# Ranks: R processes that train one model together by MPI, started by the mpirun of Open MPI and of MPICH.
#
#   sh tests/robust/ranks.sh short|long OUT      OUT/lib: the library where gbt is installed
#
# Every training of ranks/trainings.R by 2 ranks of Open MPI, and the first third of them by 3 of MPICH (long: all by 1
# to 8 of both; the native tests, too, have more, and faults are shown by 3) must give the bytes of one process, and
# every fault of ranks/faults.R must end all ranks with the message and exit status that it expects; short: those that
# are errors of R are shown by one job. Trainings by 3 ranks have a timeout, others have none: so the short form tries
# MPICH only with a timeout and Open MPI only without, the long form both with and without. Then ranks/spark.R, where
# there is a Spark. Ends with "N passed, N failed". An mpirun that is not there is skipped. MPIS names
# others: "mpich5" for a mpirun.mpich5.
set -eu

form=$1
out=$(cd "$2" && pwd)
if [ ! -d "$out/lib/gbt" ]; then
  echo "skipped: there is no gbt in $out/lib (step install)"
  exit 0
fi
here=$(cd "$(dirname "$0")" && pwd)/ranks
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
others=${R_LIBS:-}
R_LIBS=$out/lib
OMPI_ALLOW_RUN_AS_ROOT=1
OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
OMPI_MCA_rmaps_base_oversubscribe=1
export R_LIBS OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM OMPI_MCA_rmaps_base_oversubscribe

passed=0
failed=0
count() { # STATUS TEXT: 0 for passed
  if [ "$1" = 0 ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED: $2"
  fi
}

# ---- the same bytes ----

Rscript "$here/trainings.R" "$work/one" >"$work/log" 2>&1 || cat "$work/log"
test -s "$work/one-0"
# Whether the fault can be shown under this mpirun; else says why not.
can_show() { # FAULT
  case "$1" in
    wrong_launcher | second_library)
      if command -v mpirun.openmpi >/dev/null 2>&1 && command -v mpirun.mpich >/dev/null 2>&1; then return 0; fi
      echo "skipped: $1 needs the libraries of Open MPI and of MPICH" ;;
    by_rmpi)
      if [ "$mpi" != openmpi ]; then return 1; fi # Debian's Rmpi uses Open MPI
      if Rscript -e 'quit(status = !requireNamespace("Rmpi", quietly = TRUE))' >/dev/null 2>&1; then return 0; fi
      echo "skipped: $1 needs the R package Rmpi" ;;
    *) return 0 ;;
  esac
  return 1
}

# Faults that end all ranks with an R error and yet are the library's affair: how ranks start and end.
of_library() { # FAULT
  case "$1" in script_ends_early | wrong_launcher | second_library | error_in_callback) return 0 ;; esac
  return 1
}

# Those that the comparison of what is given finds, as it finds `other_parameter`.
as_others() { # FAULT
  case "$1" in other_nrounds | other_objective | other_seed | other_folds) return 0 ;; esac
  return 1
}

# How ranks start, wait, are killed and end is the library's affair; what they agree on is not.
of_start_or_end() { # FAULT
  case "$1" in quits_with_0 | hangs | killed | no_library | never_comes) return 0 ;; esac
  of_library "$1"
}

# R errors about what is given or read, after which ranks can go on: one job shows them all.
of_one_job() { # FAULT STATUS
  if [ "$form" != short ] || [ "$2" != 1 ] || of_library "$1"; then return 1; fi
  [ "$1" != missing_response ] # the one that shows the exit status
}

for mpi in ${MPIS:-openmpi mpich}; do
  # ranks wait by the processor: the more they are, the more they take of it
  sizes=2
  if [ "$mpi" = mpich ]; then sizes=3-brief; fi
  if [ "$form" = long ]; then sizes="1 2 3 4 5 8"; fi
  if ! command -v "mpirun.$mpi" >/dev/null 2>&1; then
    echo "skipped: there is no mpirun.$mpi"
    continue
  fi
  for size in $sizes; do
    n=${size%-*} expected=$work/one-0 brief=
    if [ "$size" != "$n" ]; then expected=$work/one-brief brief=brief; fi
    "mpirun.$mpi" -n "$n" Rscript "$here/trainings.R" "$work/$mpi-$n" $brief </dev/null >"$work/log" 2>&1 ||
      tail -20 "$work/log"
    rank=0
    while [ "$rank" -lt "$n" ]; do
      while read -r name digest; do
        status=0
        grep -qx "$name $digest" "$work/$mpi-$n-$rank" || status=1
        count "$status" "$name by $n ranks of $mpi: rank $rank has other bytes than one process"
      done <"$expected"
      rank=$((rank + 1))
    done
  done

  # ---- faults: short, those of one message by gbt under the first library alone, and one of a kind ----
  # FAULT STATUS EVERY TEXT: exit status ("!0": any but 0), on how many ranks the text is printed (3 of 3: all)
  together=
  while read -r fault want every text; do
    if [ "$form" = short ] && [ "$mpi" = mpich ] && ! of_start_or_end "$fault"; then continue; fi
    if [ "$form" = short ] && as_others "$fault"; then continue; fi
    can_show "$fault" || continue
    if of_one_job "$fault" "$want"; then together=$together${together:++}$fault && continue; fi
    status=0
    "mpirun.$mpi" -n 3 Rscript "$here/faults.R" "$fault" "$work/$mpi-$fault" </dev/null >"$work/log" 2>&1 || status=$?
    ok=0
    case "$want" in
      "!0") if [ "$status" = 0 ]; then ok=1; fi ;;
      *) if [ "$status" != "$want" ]; then ok=1; fi ;;
    esac
    if [ "$(grep -c -- "$text" "$work/log")" -lt "$every" ]; then ok=1; fi
    if grep -q "the job goes on" "$work/log"; then ok=1; fi
    if [ "$ok" != 0 ]; then tail -20 "$work/log"; fi
    count "$ok" "fault $fault under $mpi: status $status"
  done <"$here/faults.txt"
  if [ -z "$together" ]; then continue; fi
  status=0
  "mpirun.$mpi" -n 3 Rscript "$here/faults.R" "$together" "$work/$mpi" </dev/null >"$work/log" 2>&1 || status=$?
  if [ "$status" != 0 ]; then tail -20 "$work/log"; fi
  count "$status" "several faults under $mpi: status $status"
  while read -r fault want every text; do
    case "+$together+" in *"+$fault+"*) ;; *) continue ;; esac
    ok=0
    if [ "$(cat "$work/$mpi-$fault"-[0-2] | grep -c -- "$text")" -lt "$every" ]; then
      ok=1
      cat "$work/$mpi-$fault"-[0-2]
    fi
    count "$ok" "fault $fault under $mpi: another message"
  done <"$here/faults.txt"
done

# ---- Spark, where there is one at SPARK_HOME, and package sparklyr ----

status=0
R_LIBS="$out/lib:$others" Rscript "$here/spark.R" </dev/null >"$work/log" 2>&1 || status=$?
if grep -q "^skipped" "$work/log"; then cat "$work/log"; else
  if [ "$status" != 0 ]; then tail -50 "$work/log"; fi
  count "$status" "a run of Spark: status $status"
fi
echo "$passed passed, $failed failed"
test "$failed" = 0
