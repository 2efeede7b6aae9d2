#!/bin/sh
# Which of the C files that tests share some tests need: those whose headers they include, directly or through others
# and the doubles of the device, and those that have no header of their own name.
#
#   sh shared.sh "SHARED FILE ..." TEST...      in this folder
set -eu
shared=$1
shift
roots=$*
for file in $shared; do
  if [ ! -f "${file%.c}.h" ]; then roots="$roots $file"; fi
done
for file in *.h */*.h */*.cuh doubles/*.cu; do
  case "$file" in *.cu) roots="$roots $file" ;; esac
  set -- "$@" "$file"
done
# shellcheck disable=SC2086
awk -v shared="$shared" -v roots="$roots" '
  function stem(name) {
    gsub(/.*\/|\.[a-z]*$/, "", name)
    return name
  }
  /^#include "/ {
    split($0, part, "\"")
    from[++n] = stem(FILENAME)
    to[n] = stem(part[2])
  }
  END {
    count = split(roots, file, " ")
    for (i = 1; i <= count; i++) wanted[stem(file[i])] = 1
    do {
      more = 0
      for (i = 1; i <= n; i++) if ((from[i] in wanted) && !(to[i] in wanted)) more = wanted[to[i]] = 1
    } while (more)
    count = split(shared, file, " ")
    for (i = 1; i <= count; i++) if (stem(file[i]) in wanted) print file[i]
  }
' "$@" $shared
