#!/bin/sh
# Installs what is missing on Debian 12 (or a relative of it), and only that.
#
#   sh tools/install-deps.sh native   a C compiler: what the tests of the engine need
#   sh tools/install-deps.sh run      R and a C compiler: what tools/demo needs
#   sh tools/install-deps.sh test     that and what tools/test needs
#   sh tools/install-deps.sh long     that and what the long form of tools/test needs
#
# As root, or through sudo. Nothing is fetched when all is there.
set -eu

native="gcc libc6-dev make libzstd-dev liblz4-dev ccache"
run="r-base-core r-cran-matrix gcc libc6-dev make libzstd-dev liblz4-dev"
# g++ compiles the CUDA sources for the CPU, clang and its sanitizer runtime are for the native tests, and without
# devscripts, qpdf and tidy R CMD check --as-cran warns; gcovr adds up the coverage; python3 runs the reader of models
# in tests/format, chromium the Shiny app, both mpirun start ranks; ccache compiles once what several steps compile;
# the last two lines are for tools/check-systems.sh: ARM, musl, Windows
test="$run r-cran-testthat r-cran-withr r-cran-knitr r-cran-rmarkdown pandoc r-cran-data.table r-cran-tibble
r-cran-bit64 r-cran-callr r-cran-generics r-cran-dbi r-cran-rsqlite r-cran-shiny r-cran-ggplot2
r-cran-kernlab r-cran-survival r-cran-rsample r-cran-future r-cran-progressr openmpi-bin mpich zstd g++ ccache clang
libclang-rt-14-dev gcovr python3 chromium devscripts qpdf tidy
gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user-static musl-tools
gcc-mingw-w64-x86-64 wine wine64"
long="$test valgrind"

case "${1:-}" in
  native) wanted=$native ;;
  run) wanted=$run ;;
  test) wanted=$test ;;
  long) wanted=$long ;;
  *) echo "usage: sh tools/install-deps.sh native|run|test|long" >&2; exit 2 ;;
esac

if ! command -v dpkg-query >/dev/null 2>&1; then
  echo "this is no Debian: please install the likes of these yourself:" >&2
  echo "  $wanted" >&2
  # what is there may do; the scripts that need it will say what is not
  exit 0
fi

missing=""
for package in $wanted; do
  state=$(dpkg-query -W -f='${db:Status-Abbrev}' "$package" 2>/dev/null || true)
  case "$state" in ii*) ;; *) missing="$missing $package" ;; esac
done
if [ -z "$missing" ]; then
  echo "all packages that are needed are there"
  exit 0
fi

if [ "$(id -u)" = 0 ]; then
  as_root=""
elif command -v sudo >/dev/null 2>&1; then
  as_root="sudo"
else
  echo "missing:$missing" >&2
  echo "run this as root: apt-get install --no-install-recommends$missing" >&2
  exit 1
fi

echo "installing with apt-get:$missing"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt() { $as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o Dpkg::Use-Pty=0 "$@" >"$log" 2>&1; }
# an old or empty package list is the usual reason for a failure: then once more with a fresh one
# shellcheck disable=SC2086
if ! apt install --no-install-recommends $missing; then
  if ! apt update || ! apt install --no-install-recommends $missing; then
    tail -30 "$log" >&2
    exit 1
  fi
fi
echo "installed"
