#!/bin/sh
# The page bench/results/robust.md: what was done to break gbt, in figures of one run.
#
#   sh tools/test long && sh bench/robust.sh out/test "long form"
#
# Reads what the campaigns of tests/robust and the coverage step left in OUT; what was found is kept by hand in
# bench/robust-found.md.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
out=$1
form=$2
page=$root/bench/results/robust.md
cd "$root"
lines_of() { # FILES...: non-blank lines that are no comment
  cat "$@" | grep -cvE '^[[:space:]]*($|/?\*|//|#)'
}
code=$(lines_of src/*.[ch] src/gbt/*.[ch] src/gbt/*/*.[ch] src/cuda/*/*.cu src/cuda/*/*.cuh R/*.R)
tests=$(find tests -type f \( -name '*.[chR]' -o -name '*.cu' -o -name '*.cuh' -o -name '*.cc' -o -name '*.sh' \) \
  ! -path 'tests/native/build/*' -exec cat {} + | grep -cvE '^[[:space:]]*($|/?\*|//|#)')
coverage() { # WHAT
  sed -n "s/^$1: \([0-9.]*%\) (\(.*\))$/\1 (\2)/p" "$out/native/totals.txt"
}
{
  echo "# Robustness"
  echo
  echo "- date: $(date +%F)"
  echo "- machine: $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1), $(nproc) cores seen"
  echo "- commit: $(git rev-parse --short=12 HEAD)"
  echo "- versions: $(Rscript -e 'cat(R.version.string)'), $(gcc --version | head -1), $(clang --version | head -1)"
  echo "- made by: \`sh bench/robust.sh\`, from the $form of \`tools/test\`"
  echo
  cat bench/robust-found.md
  echo
  echo "## Figures of the campaigns"
  echo
  echo "| campaign | figure | value |"
  echo "| --- | --- | --- |"
  for file in "$out"/robust/*/figures; do
    name=$(basename "$(dirname "$file")")
    sed "s/^$name: //" "$file" | awk -F '\t' -v name="$name" 'NF > 1 { printf "| %s | %s | %s |\n", name, $1, $2 }'
  done
  if [ -f "$out/native/totals.txt" ]; then
    echo "| coverage of \`src/gbt\` | lines | $(coverage lines) |"
    echo "| coverage of \`src/gbt\` | branches | $(coverage branches) |"
  fi
  echo "| size | lines of code: engine, CUDA, glue, R | $code |"
  echo "| size | lines of tests | $tests |"
  echo
  echo "What the coverage does not reach is listed in [coverage.md](coverage.md)."
} >"$page"
cat "$page"
