# Read by tools/test: runs its steps side by side, and reports how they ended. Needs no more than a shell.
#
# Uses $root, $out and $jobs; $first: steps that others give way to; $early: those that need little to begin;
# $campaigns, $alone: see there.

run_step() { # NAME: leaves its log, and its result in $out/came/NAME
  begin=$(date +%s)
  rm -f "$out/count/$1"
  status=0
  sh "$root/tools/test" --step "$1" >"$out/log/$1" 2>&1 </dev/null || status=$?
  times >"$out/came/$1.times" # of this shell and of what it has run
  p=0 f=0
  if [ -s "$out/count/$1" ]; then read -r p f <"$out/count/$1"; fi
  if [ "$status" != 0 ] && [ "$f" = 0 ]; then f=1; fi
  if [ "$status" = 0 ] && [ "$p" = 0 ] && [ "$f" = 0 ]; then p=1; fi
  processor=$(awk 'NR == 2 { gsub("[ms]", " "); printf "%.0f", 60 * ($1 + $3) + $2 + $4 }' "$out/came/$1.times")
  rm -f "$out/came/$1.times"
  echo "$p $f $(($(date +%s) - begin)) $processor" >"$out/came/$1"
}

report_step() { # NAME
  log=$out/log/$1
  p=0 f=1 seconds=0 processor=0 # a step that was killed leaves nothing
  if [ -s "$out/came/$1" ]; then read -r p f seconds processor <"$out/came/$1"; fi
  if [ "$f" = 0 ]; then word=ok; else word=FAILED; fi
  if tail -1 "$log" | grep -q '^skipped'; then word=skipped; fi
  printf '%-17s %-7s %6d passed %4d failed %5d s %5d s of processor\n' "$1" "$word" "$p" "$f" "$seconds" "$processor"
  if [ "$f" != 0 ]; then
    echo "---- the end of $log:"
    tail -60 "$log"
    echo "----"
  fi
}

# Which steps wait for which: in every line each one for the one before it, as far as both are asked for. Steps of one
# line build in the same folder, or use what was made there.
chains() { # STEP...: those that are asked for
  echo native_gcc native_simd native_store native_files native_files2 native_chunks native_simt native_simt_store \
    cuda_build robust_models robust_random robust_sizes
  echo native_gcc counts
  echo install_emulate native_simt
  echo install_emulate symbols
  echo counts native_simt_tsan
  echo native_asan native_simt_asan robust_fuzz robust_sizes
  echo native_tsan native_simt_tsan
  echo build install install_emulate tests_emulate # robust_random compares with builds that are newer than `lib`
  echo build check
  echo install cuda_build
  for step in tests twin_clang twin_nothreads $campaigns; do echo build install "$step"; done
  for step in $campaigns; do echo install_emulate "$step"; done
  last=""
  for name in $alone; do
    for step; do case " $alone " in *" ${step#robust_} "*) ;; *) echo "$step robust_$name" ;; esac; done
    last="$last robust_$name"
  done
  echo "$last"
  for step; do # what needs a C compiler alone begins before all else is installed
    case "$step" in
      deps_native) ;;
      deps) echo deps_native deps ;;
      *) case " $early " in *" $step "*) echo deps_native "$step" ;; *) echo deps "$step" ;; esac ;;
    esac
  done
}

# The first step of those that wait which may begin: every other one that it waits for has ended.
next_step() {
  for step in $waiting; do
    awk -v step="$step" -v open=" $waiting $running " '
      $2 == step && index(open, " " $1 " ") { waits = 1 }
      END { exit waits }' "$out/before" && { echo "$step"; return; }
  done
}

# One more at a time than there are processors: some steps wait for much of their time. Whenever one ends, the first of
# the list that may begin follows it. A step writes its name to the pipe when it ends.
run_steps() { # STEP...
  chains "$@" | awk -v asked="$*" '
    BEGIN { n = split(asked, step, " "); for (i = 1; i <= n; i++) is[step[i]] = 1 }
    {
      last = ""
      for (i = 1; i <= NF; i++) {
        if (!($i in is)) continue
        if (last != "") print last, $i
        last = $i
      }
    }' >"$out/before"
  rm -f "$out/ended"
  mkfifo "$out/ended"
  exec 3<>"$out/ended"
  trap 'end_all; exit 143' INT TERM HUP
  (while sleep 60; do echo look >&3; done) >/dev/null 2>&1 &
  looks=$!
  waiting="$*" running="" n_running=0
  while [ -n "$waiting$running" ]; do
    step=""
    if [ "$n_running" -le "$jobs" ]; then step=$(next_step); fi
    if [ -n "$step" ]; then
      waiting=$(without "$step" $waiting)
      running="$running $step" n_running=$((n_running + 1))
      case " $first " in *" $step "*) nice="" ;; *) nice=nice ;; esac
      # in a session of its own, so that all of it can be ended
      $(command -v setsid) sh -c '$1 sh "$2/tools/test" --run "$3"; echo "$3" >&3' run "$nice" "$root" "$step" &
      echo $! >"$out/came/$step.pid"
    elif [ "$n_running" = 0 ]; then
      echo "these steps wait for each other: $waiting" >&2
      kill "$looks"
      exit 2
    else
      read -r ended <&3
      if [ "$ended" = look ]; then ended=$(killed_step); fi
      case " $running " in
        *" ${ended:-none} "*)
          rm -f "$out/came/$ended.pid"
          running=$(without "$ended" $running) n_running=$((n_running - 1))
          report_step "$ended" ;;
      esac
    fi
  done
  kill "$looks"
  exec 3<&-
  wait
}
# All that runs.
end_all() {
  kill "$looks"
  for pid in $(cat "$out"/came/*.pid); do kill -- "-$pid" || kill "$pid"; done
} 2>/dev/null

# One of the running steps whose process is gone: the system killed it before it wrote to the pipe.
killed_step() {
  for step in $running; do
    if ! kill -0 "$(cat "$out/came/$step.pid")" 2>/dev/null; then echo "$step"; return; fi
  done
}
without() { # STEP STEP...: the others
  left=$1
  shift
  for step; do if [ "$step" != "$left" ]; then printf '%s ' "$step"; fi; done
}
