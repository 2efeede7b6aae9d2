#!/bin/sh
# bench/gpu/run.sh has one chance of ten minutes on a GPU: a step that fails, or hangs, may cost nothing but itself.
#   short  with programs that only print: steps of each kind fail once, the first ones hang once; suites of
#          tests fail, break and hang
#   long   each step fails once and hangs once, and all steps on the emulated device, with few rows
set -u
form=$1
out=$2
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$out/robust/gpu_run
passed=0
failed=0
rm -rf "$work"
mkdir -p "$work/bin"

good() { passed=$((passed + 1)); }
bad() {
  failed=$((failed + 1))
  echo "FAILED: $1"
  tail -30 "$work/said"
}
expect() { # WHAT COMMAND...
  what=$1
  shift
  if "$@" >/dev/null 2>&1; then good; else bad "$what"; fi
}

# Programs that do nothing but say that they did. `make` puts them where the real one does.
cat >"$work/train" <<'END'
#!/bin/sh
for word in "$@"; do case "$word" in shape=*) shape=${word#shape=} ;; depth=*) depth=${word#depth=} ;; esac; done
echo "$shape,100,2,$depth,3,gbt-cuda,train a round,2.5,ms,,"
echo "$shape,100,2,$depth,3,gbt-cuda,train,0.5,s,,"
echo "$shape,100,2,$depth,3,gbt-cuda,model is the CPU's,1,,,"
END
cat >"$work/micro" <<'END'
#!/bin/sh
echo "# 1980 MHz; 132 multiprocessors"
echo "read in order,4000,GB/s,,"
END
cat >"$work/bin/make" <<'END'
#!/bin/sh
mkdir -p "$BUILD/emulate"
cp "$STUBS/train" "$STUBS/micro" "$BUILD/emulate/"
chmod +x "$BUILD/emulate/train" "$BUILD/emulate/micro"
END
cat >"$work/gbt_test" <<'END'
#!/bin/sh
echo "  $1: said"
case "${FAULT:-}" in
  "$1:counted") echo "  FAILED $1/test"; echo "4 passed, 1 failed"; exit 1 ;;
  "$1:killed") kill -9 $$ ;;
  "$1:late") echo "5 passed, 0 failed"; exit 3 ;;
  "$1:hang") echo $$ >"$STUBS/pid"; exec sleep 60 ;;
esac
echo "5 passed, 0 failed"
END
chmod +x "$work/bin/make" "$work/gbt_test"

run() { # STEP...: the script with the programs above
  env PATH="$work/bin:$PATH" STUBS="$work" BUILD="$work/build" TEST_PROGRAM="$work/gbt_test" OUT="$work/out" \
    KIND=emulate COMMIT=abc LIMIT="$limit" SUITE_LIMIT="$suite_limit" ROUNDS=3 "PLANT=${plant:-}" "FAULT=${fault:-}" \
    sh "$root/bench/gpu/run.sh" 600 "$@" >"$work/said" 2>&1
}
says() { grep -q "$1" "$work/said"; }
fails() { ! "$@"; }
limit=20 suite_limit=20

steps=$(sed -n 's/^all="\(.*\)"$/\1/p' "$root/bench/gpu/run.sh")
planted=$steps
if [ "$form" = short ]; then planted="build tests micro small away"; fi
for how in fail hang; do
  word="FAILED with status 7"
  [ "$how" = hang ] && word="FAILED: it took too long"
  for step in $planted; do
    rm -rf "$work/build" "$work/out"
    beside=small
    [ "$step" = small ] && beside=higgs
    [ "$step" = build ] && beside=tests
    first=build
    [ "$step" = build ] && first=
    plant="$step:$how"
    [ "$how" = hang ] && limit=2
    # shellcheck disable=SC2086
    expect "$plant: the status is not 0" fails run $first "$step" "$beside"
    expect "$plant: the word" says "== $step: $word"
    expect "$plant: the last line" says "^failed: $step$"
    expect "$plant: the other step" says "== $beside: in order"
    [ "$step" = build ] || expect "$plant: the other's figures" grep -q "^$beside," "$work/out/train.csv"
    expect "$plant: the page" test -s "$work/out/page.md"
    expect "$plant: the table" grep -q "^| abc | emulated | .* | $step |$" "$work/build/results/GPU.md"
    plant=
    limit=20
    # shellcheck disable=SC2086
    expect "$plant: goes on with what failed" run $first "$step" "$beside"
    expect "$step: done again alone" fails says "== $beside"
    [ "$form" = short ] && [ "$how" = hang ] && [ "$step" = tests ] && break 2
  done
done
expect "nothing to do" run $steps
expect "a wrong word" fails run nonsense

rm -rf "$work/build" "$work/out"
plant=
expect "all steps" run
expect "all steps: the last line" says "^all steps were done$"
expect "all steps: a picture" grep -q "</svg>" "$work/out/times.svg"
expect "all steps: expected and measured" grep -q '^| higgs | .* | 1.25 | ' "$work/out/page.md"
expect "all steps: the table" grep -q "^| abc | emulated | .* | in order: [1-9][0-9]* passed, 0 failed | .* | none |$" \
  "$work/build/results/GPU.md"
expect "all steps: the repository's table was left alone" fails grep -q '^| abc' "$root/bench/results/GPU.md"

# A suite that fails, breaks or hangs costs itself alone; one that hangs ends with the step.
n=$(find "$root/tests/native/cuda" -name 'test_*.c*' | wc -l)
for fault in "cuda_hist:counted $((5 * n - 1))" "cuda_hist:killed $((5 * n - 5))" "cuda_memory:late $((5 * n))" \
  "cuda_sort:hang $((5 * n - 5))"; do
  rm -rf "$work/build" "$work/out"
  passes=${fault#* } fault=${fault% *} suite_limit=1
  expect "$fault: the status is not 0" fails run build tests small
  expect "$fault: others" says "^$passes passed, 1 failed$"
  expect "$fault: its name" says "  FAILED ${fault%:*}[:/]"
  expect "$fault: its status" says "^${fault%:*}: status [1-9]"
  expect "$fault: the table" grep -q "^| abc .* FAILED: $passes passed, 1 failed .* | tests |$" \
    "$work/build/results/GPU.md"
  expect "$fault: the other step" says "== small: in order"
done
rm -rf "$work/build" "$work/out" "$work/pid"
limit=3 suite_limit=20
expect "a suite that takes the step's time: the status is not 0" fails run build tests small
expect "a suite that takes the step's time: the word" says "== tests: FAILED: it took too long"
expect "a suite that takes the step's time: what others said" says "^  cuda_batch: said"
expect "a suite that takes the step's time: it was begun" test -s "$work/pid"
expect "a suite that takes the step's time: it has ended" fails kill -0 "$(cat "$work/pid")"
expect "a suite that takes the step's time: the other step" says "== small: in order"

if [ "$form" = long ]; then
  env BUILD="$work/real" KIND=emulate MOST_ROWS=300 COLS=50 ROUNDS=2 REPEATS=1 TESTS="cuda_machine cuda_sort" \
    sh "$root/bench/gpu/run.sh" 3600 >"$work/said" 2>&1
  expect "emulated: the status" test "$?" = 0
  expect "emulated: all steps" says "^all steps were done$"
  expect "emulated: models" grep -q "epsilon.*model is the CPU's,1" "$work/real/results/train.csv"
fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
