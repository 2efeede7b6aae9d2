#!/bin/sh
# Other systems: each builds the engine, runs trainings, and must make the bytes that tests/native/whole/test_digests.c
# has, as x86-64 Linux does.
#
#   sh tools/check-systems.sh BUILD [SYSTEM ...]      BUILD: a folder for objects; by default the first four systems
#
#   aarch64   64-bit ARM by gcc, run by qemu
#   musl      musl's C library, by the compiler's C23; in the short form of tools/test without threads
#   windows   by mingw, run by wine. Besides, configure.win must find threads, and the glue compile without a warning,
#             for the library of R 4.1 (msvcrt) and that of newer ones (UCRT, and C23), and link, with the engine, to a
#             DLL that needs nothing but R's and Windows' own symbols. With GBT_TEST_FORM=long all suites of the host,
#             with pages in memory and in files
#   macos     for arm64 and x86_64, by zig where it is here, which has macOS's headers and lists of its symbols:
#             configure must find what is there, and the package's library compile without a warning and link with
#             nothing but R's and macOS's own symbols. Else clang checks the syntax for arm64, with musl's headers
#   i686      32-bit x86 with SSE2 (Debian: gcc-12-multilib), whose flags configure must add
#   s390x     by gcc, where the high byte of numbers comes first: trainings must be refused
#
# ZIG: the command of zig (https://ziglang.org), "zig" by default. A system whose compiler is not here is
# skipped. Ends with "N passed, N failed".
set -u

root=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
build=$(cd "$1" && pwd)
shift
if [ $# = 0 ]; then set -- aarch64 musl windows macos; fi
suites="digests stranger names math/bits_are_the_same_everywhere"
jobs=$(nproc 2>/dev/null || echo 2)
warnings="-Wall -Wextra -Wno-cast-function-type -Werror"
passed=0
failed=0

count() { # STATUS TEXT
  if [ "$1" = 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAILED: $2"; fi
}

has() { # SYSTEM PROGRAM...
  system=$1
  shift
  for program; do
    if ! command -v "$program" >/dev/null 2>&1; then echo "$system skipped: there is no $program"; return 1; fi
  done
}

add_counts() { # FILE: its last line "N passed, N failed"
  counts=$(sed -n 's/^\([0-9][0-9]*\) passed, \([0-9][0-9]*\) failed.\{0,1\}$/\1 \2/p' "$1" | tail -1)
  if [ -z "$counts" ]; then counts="0 1"; fi
  passed=$((passed + ${counts% *}))
  failed=$((failed + ${counts#* }))
}

# The native suites of a variant; their counts are added to those of this script.
native() { # VARIANT [ARGUMENT OF MAKE ...]
  variant=$1
  shift
  said=$build/$variant.txt
  GBT_TEST_CASES=few make -s -C "$root/tests/native" -j "$jobs" VARIANT="$variant" BUILD="$build" SUITES="$suites" \
    "$@" check >"$said" 2>&1
  cat "$said"
  add_counts "$said"
}

check_aarch64() {
  has aarch64 aarch64-linux-gnu-gcc qemu-aarch64-static || return 0
  native aarch64
}

check_musl() {
  has musl musl-gcc || return 0
  native musl
}

zig=${ZIG:-zig}

# The words must be those of gbti_check_byte_order().
check_s390x() {
  has s390x s390x-linux-gnu-gcc qemu-s390x-static || return 0
  make -s -C "$root/tests/native" -j "$jobs" VARIANT=other TOOL_other=s390x-linux-gnu-gcc \
    AR_other=s390x-linux-gnu-ar STD_other=-std=gnu11 BUILD="$build/s390x" SUITES=digests all >"$build/s390x.txt" 2>&1
  qemu-s390x-static "$build/s390x/other/gbt_test" digests >>"$build/s390x.txt" 2>&1
  status=0
  if ! grep -q "cannot train on this machine: it is big-endian" "$build/s390x.txt"; then
    status=1
    tail -5 "$build/s390x.txt"
  fi
  count "$status" "a machine whose high bytes come first refuses to train"
}

# An R whose compiler is another: all that configure asks.
other_r() { # FOLDER COMPILER
  mkdir -p "$1/bin"
  printf '#!/bin/sh\ncase "$3" in CC) echo "%s" ;; CFLAGS) echo "-O2 -Wall" ;; esac\n' "$2" >"$1/bin/R"
  chmod +x "$1/bin/R"
}

configured() { # FOLDER COMPILER SCRIPT: what configure says there, and its status
  rm -rf "$1"
  mkdir -p "$1"
  (cd "$root" && tar -cf - --exclude='*.o' --exclude='*.so' configure configure.win src) | (cd "$1" && tar -xf -)
  other_r "$1/r" "$2"
  (cd "$1" && R_HOME="$1/r" GBT_CUDA=no sh "./$3" >said 2>&1; echo "$?" >status; cat said)
}

# Symbols that the glue needs of R must be in R's library.
check_glue() {
  folder=$build/glue
  rm -rf "$folder"
  mkdir -p "$folder"
  include=$(Rscript -e 'cat(R.home("include"))')
  library=$(Rscript -e 'cat(file.path(R.home("lib"), "libR.so"))')
  status=0
  for file in "$root"/src/r_*.c "$root"/src/mpi/*.c; do
    $mingw -std=gnu11 -fsyntax-only -DR_NO_REMAP -DSTRICT_R_HEADERS -DGBT_NO_DLOPEN $warnings -I"$include" "$file" ||
      status=1
    $mingw -std=gnu2x -O1 -D_UCRT -DR_NO_REMAP -DSTRICT_R_HEADERS -DGBT_NO_DLOPEN $warnings -I"$include" \
      -c "$file" -o "$folder/$(basename "$file" .c).o" || status=1
  done
  count "$status" "the glue compiles for Windows"
  x86_64-w64-mingw32-nm -u "$folder"/*.o | sed -n 's/^ *U \(__imp_\)*//p' | sort -u >"$folder/needed"
  {
    echo "LIBRARY R.dll"
    echo "EXPORTS"
    nm -D --defined-only "$library" | awk '{ print $3, ($2 ~ /[BDR]/ ? "DATA" : "") }' | sort |
      join - "$folder/needed"
  } >"$folder/R.def"
  status=0
  x86_64-w64-mingw32-dlltool -d "$folder/R.def" -l "$folder/libR.a" &&
    $mingw -shared -static-libgcc -o "$folder/gbt.dll" "$folder"/*.o "$build/mingw/libgbt.a" "$folder/libR.a" \
      -Wl,-Bstatic -lpthread -Wl,-Bdynamic -lucrt || status=1
  count "$status" "the glue links for Windows"
  echo "$(($(wc -l <"$folder/R.def") - 2)) symbols of R"
}

# Every suite of the host in a process of its own. The Makefile has those that are left out (LEFT_OUT_mingw).
# Their files are in memory where the system has a folder for that: wine's server waits for the disk at every flush, and
# with it all programs that it serves.
all_by_wine() { # STORE
  files=$(mktemp -d /dev/shm/gbt-wine-XXXXXX 2>/dev/null || mktemp -d "$build/wine-XXXXXX")
  by_mingw="make -s -C $root/tests/native VARIANT=mingw BUILD=$build"
  $by_mingw -j "$jobs" all || { count 1 "all suites are built"; return; }
  printf '#!/bin/sh\nWINEDEBUG=-all wine "%s" "$@" 2>&1 | tr -d "\\r"\n' "$build/mingw/gbt_test.exe" >"$build/mingw/run"
  chmod +x "$build/mingw/run"
  sh "$root/tools/run-suites.sh" "$build/mingw-$1" "$build/mingw/run" "$($by_mingw suites)" \
    "GBT_TEST_CASES=few GBT_TEST_STORE=$1 GBT_TEST_TEMP=Z:$files" >"$build/mingw-$1.txt"
  rm -rf "$files"
  cat "$build/mingw-$1.txt"
  add_counts "$build/mingw-$1.txt"
}

check_windows() {
  mingw=x86_64-w64-mingw32-gcc
  has windows $mingw wine || return 0
  WINEPREFIX=$build/wine
  WINEDLLOVERRIDES="mscoree,mshtml="
  export WINEPREFIX WINEDLLOVERRIDES
  native mingw
  configured "$build/windows" $mingw configure.win
  status=$(cat "$build/windows/status")
  if grep -q "threads none\|one thread" "$build/windows/said"; then status=1; fi
  count "$status" "configure.win, with threads"
  if has glue Rscript; then check_glue; fi
  if [ "${GBT_TEST_FORM:-short}" = long ]; then
    for store in memory file; do all_by_wine "$store"; done
  fi
}

# The package's library by what configure has written into a folder (configured), as R's make would link it.
library_of() { # FOLDER COMPILER LIBRARY_OF_R
  cat >"$1/src/link.mk" <<END
include Makevars
CC = $2
ALL_CPPFLAGS = -I$(Rscript -e 'cat(R.home("include"))') \$(PKG_CPPFLAGS)
ALL_CFLAGS = -fPIC -O2 $warnings \$(PKG_CFLAGS)
\$(SHLIB): \$(OBJECTS); \$(CC) -shared -o \$@ \$(OBJECTS) $3 \$(PKG_LIBS)
.c.o: ; \$(CC) \$(ALL_CPPFLAGS) \$(ALL_CFLAGS) -c \$< -o \$@
END
  make -s -C "$1/src" -j "$jobs" -f link.mk SHLIB=gbt.so all
}

# What R's library has, as a text that linkers for macOS read in place of it.
symbols_of_r() {
  printf -- '--- !tapi-tbd\ntbd-version: 4\ntargets: [ x86_64-macos, arm64-macos ]\n'
  printf "install-name: '/Library/Frameworks/R.framework/Resources/lib/libR.dylib'\n"
  printf 'exports:\n  - targets: [ x86_64-macos, arm64-macos ]\n    symbols: [ '
  nm -D --defined-only "$(Rscript -e 'cat(file.path(R.home("lib"), "libR.so"))')" |
    awk '{ printf "%s_%s", s, $3; s = ", " }'
  printf ' ]\n...\n'
}

macos_by_zig() { # ARCHITECTURE
  folder=$build/macos-$1
  compiler="$zig cc -target $1-macos"
  configured "$folder" "$compiler" configure
  status=$(cat "$folder/status")
  if ! grep -q "threads in the C library" "$folder/said"; then status=1; fi
  count "$status" "configure for macOS, $1, with threads"
  symbols_of_r >"$folder/libR.tbd"
  status=0
  library_of "$folder" "$compiler" "$folder/libR.tbd" || status=1
  count "$status" "the library for macOS, $1"
}

check_macos() {
  if command -v "$zig" >/dev/null 2>&1 && command -v Rscript >/dev/null 2>&1; then
    for architecture in aarch64 x86_64; do macos_by_zig $architecture; done
  else
    syntax_for_macos
  fi
}

syntax_for_macos() {
  headers=/usr/include/x86_64-linux-musl
  has macos clang || return 0
  if [ ! -d $headers ]; then echo "macos skipped: there is no $headers"; return 0; fi
  status=0
  own=$(clang -print-resource-dir)/include
  # what Apple's headers have and show, and musl's do not
  apple="-Dst_mtimespec=st_mtim -Dst_ctimespec=st_ctim -DF_FULLFSYNC=51 -D_GNU_SOURCE"
  clang --target=arm64-apple-macos11 -fsyntax-only -std=c11 -ffp-contract=off $warnings -nostdinc -isystem "$own" \
    -isystem $headers $apple "$root"/src/gbt/*.c "$root"/src/gbt/*/*.c "$root"/src/mpi/*.c || status=1
  count "$status" "the engine for macOS"
  has glue Rscript || return 0
  status=0
  clang --target=arm64-apple-macos11 -fsyntax-only -std=gnu11 -DR_NO_REMAP -DSTRICT_R_HEADERS $warnings -nostdinc \
    -isystem "$own" -isystem $headers $apple -isystem "$(Rscript -e 'cat(R.home("include"))')" "$root"/src/r_*.c ||
    status=1
  count "$status" "the glue for macOS"
}

check_i686() {
  m32="gcc -m32 -idirafter /usr/include/x86_64-linux-gnu" # asm/, which Debian keeps there
  printf '#include <errno.h>\nint main(void) { return 0; }\n' >"$build/probe.c"
  if ! $m32 "$build/probe.c" -o "$build/probe" 2>/dev/null; then
    echo "i686 skipped: gcc -m32 does not link"
    return 0
  fi
  # a twin has numbers of 128 bits, which gcc has not there; no suite here needs it
  shared=$(cd "$root/tests/native" && ls permutation.c port*.c sweep.c twins/*.c doubles/*.c scenes/*.c |
    grep -v "naive_cuts\|/fault.c" | tr '\n' ' ')
  native o0 SHARED="$shared" TOOL_o0="$m32" CODECS=none WARN=-w \
    OPT_o0="-O2 -g1 -pthread -msse2 -mfpmath=sse -static -Wl,--unresolved-symbols=ignore-in-object-files"
  configured "$build/i686" "$m32" configure
  status=$(cat "$build/i686/status")
  if ! grep -q "PKG_CFLAGS = .* -msse2 -mfpmath=sse" "$build/i686/src/Makevars"; then status=1; fi
  count "$status" "configure adds -msse2 -mfpmath=sse"
}

processor() { # sets spent: seconds that this script and what it ran have used. Not in a subshell, which has its own
  times >"$build/times"
  spent=$(awk '{ gsub("[ms]", " "); n += 60 * ($1 + $3) + $2 + $4 } END { printf "%.0f", n }' "$build/times")
}

for name; do
  begin=$(date +%s)
  processor
  used=$spent
  case "$name" in
    aarch64 | musl | windows | macos | i686 | s390x) "check_$name" ;;
    *) echo "there is no system $name; there are aarch64, musl, windows, macos, i686, s390x" >&2; exit 2 ;;
  esac
  processor
  echo "---- $name took $(($(date +%s) - begin)) s, $((spent - used)) s of the processor"
done
echo "$passed passed, $failed failed"
test "$failed" = 0
