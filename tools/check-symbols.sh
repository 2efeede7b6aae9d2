#!/bin/sh
# The external symbols of the engine's objects, and whether they hold anything mutable.
#
#   sh tools/check-symbols.sh [FOLDER]           FOLDER: the repository, default the one of this script
#   sh tools/check-symbols.sh --built FOLDER     FOLDER: src/gbt of a package that was built there, where constants with
#                                                addresses are in .data.rel.ro
#   sh tools/check-symbols.sh --self-check       shows that the check finds what it must find
#
# Compiles src/gbt/**.c without assertions, as the package does (-O0 takes the least time, and leaves all calls in place
# that an optimiser could drop), and reads the objects with objdump. With --built, which tools/test uses where it builds
# the package (a whole run), it reads the package's own objects. They are optimised: calls that the optimiser drops are
# found only by `tools/test quick` or `tools/test symbols`.
# Allowed are symbols that another engine object defines and those of the list below. Not there, and so found: anything
# of R, printing (printf, puts, stdout, ...), dying (abort, exit, __assert_fail), rand, and libm (exp, log, pow, ...:
# results would depend on the machine's library). Variables that can be written to (data, bss, thread-local) are found
# as well.
set -eu

cc=${CC:-gcc}
if command -v ccache >/dev/null 2>&1; then cc="ccache $cc"; fi # what did not change is not compiled again
flags="-std=c11 -O0 -w -DNDEBUG -fno-pic -ffp-contract=off -fno-trapping-math -fno-math-errno -pthread"

allowed="
memcpy memmove memset memcmp memchr strlen strcmp strncmp strchr strrchr strstr strcspn
malloc free calloc realloc aligned_alloc posix_memalign
vsnprintf snprintf __vsnprintf_chk __snprintf_chk __memcpy_chk __memset_chk __memmove_chk
__errno_location __xpg_strerror_r strerror_r
pthread_create pthread_join pthread_mutex_init pthread_mutex_destroy pthread_mutex_lock pthread_mutex_unlock
pthread_cond_init pthread_cond_destroy pthread_cond_wait pthread_cond_timedwait pthread_cond_signal
pthread_cond_broadcast pthread_condattr_init pthread_condattr_destroy pthread_condattr_setclock
pthread_attr_init pthread_attr_destroy pthread_attr_setstacksize pthread_sigmask sigfillset sched_yield
clock_gettime nanosleep sysconf
open close pread pwrite fsync ftruncate unlink rename mmap munmap madvise
open64 pread64 pwrite64 stat stat64 fstat fstat64 lstat lstat64 fcntl fcntl64 fchmod access readlink
mkdir rmdir link posix_fadvise posix_fadvise64
ftruncate64 opendir readdir readdir64 closedir flock
sigemptyset sigaddset sigpending sigismember sigwait
LZ4_compress_default LZ4_decompress_safe ZSTD_compress ZSTD_decompress ZSTD_isError
__popcountdi2 __cpu_model __cpu_indicator_init __stack_chk_fail _GLOBAL_OFFSET_TABLE_
"

# look_at OBJECTS...: what is wrong with them, one line each
look_at() {
  objdump -t "$@" >"$work/symbols"
  awk -v allowed="$allowed" '
    BEGIN { n = split(allowed, a, /[ \n]+/); for (i = 1; i <= n; i++) ok[a[i]] = 1 }
    # "file.o:     file format ...", then lines of: value, seven flags, section, size, name
    / file format / { file = $1; sub(/:$/, "", file); sub(/^.*\/objects\//, "", file) }
    !/^[0-9a-f]+ ....... / { next }
    {
      flags = substr($0, index($0, " ") + 1, 7)
      section = substr($0, index($0, " ") + 9)
      sub(/[ \t].*/, "", section)
    }
    section == "*UND*" { wants[file " " $NF] = 1; next }
    flags ~ /[fd]/ { next } # names of files and sections
    section ~ /^(\.data|\.bss|\.tdata|\.tbss|\*COM\*)/ && section !~ /^\.data\.rel\.ro/ {
      print "symbols: " file " holds the writable variable " $NF
      next
    }
    flags ~ /^[gu!]/ || flags ~ /^.w/ { here[$NF] = 1 }
    END {
      for (k in wants) {
        split(k, p, " ")
        if (!(p[2] in here) && !(p[2] in ok)) print "symbols: " p[1] " needs " p[2]
      }
    }' "$work/symbols" | sort
}

compile() { # ROOT: objects to $work/objects
  mkdir -p "$work/objects"
  (cd "$1/src" && find gbt -name '*.c' | sort) | while read -r file; do
    echo "$1/src/$file"
    echo "$work/objects/$(echo "$file" | tr '/' '-' | sed 's/\.c$/.o/')"
  done >"$work/pairs"
  # shellcheck disable=SC2016
  xargs -n 2 -P 2 sh -c "$cc $flags"' -c "$0" -o "$1" || echo "symbols: $0 does not compile"' <"$work/pairs"
}

check() { # ROOT; prints complaints, sets n
  compile "$1"
  n=$(find "$work/objects" -name '*.o' | wc -l)
  [ "$n" -gt 0 ] || { echo "symbols: there are no engine objects"; return; }
  look_at "$work"/objects/*.o
}

self_check() {
  fails=0
  try() { # fine|found CODE
    rm -rf "$work/objects" "$work/root"
    mkdir -p "$work/root/src/gbt/base"
    printf '%s\n' "$2" >"$work/root/src/gbt/base/x.c"
    echo 'int gbt_other(int x) { return x + 1; }' >"$work/root/src/gbt/base/y.c"
    case "$(check "$work/root")" in "") got=fine ;; *"does not compile"*) got="no C" ;; *) got=found ;; esac
    if [ "$got" != "$1" ]; then echo "symbols self-check: '$2' should be $1, is $got"; fails=$((fails + 1)); fi
  }
  try fine '#include <string.h>
int gbt_other(int); int f(const char *s) { return gbt_other((int)strlen(s)); }'
  try fine 'static const char *const names[] = {"a", "b"}; const char *f(int i) { return names[i]; }'
  try found '#include <math.h>
double f(double x) { return exp(x); }'
  try found '#include <math.h>
double f(double x) { return pow(x, 0.3); }'
  try found '#include <stdio.h>
void f(int x) { printf("%d", x); }'
  try found '#include <stdio.h>
void f(void) { puts("x"); }'
  try found '#include <stdio.h>
void f(void) { fputc(0, stderr); }'
  try found '#include <stdlib.h>
void f(void) { abort(); }'
  try found '#include <stdlib.h>
int f(void) { return rand(); }'
  try found '#undef NDEBUG
#include <assert.h>
void f(int x) { assert(x); }'
  try found 'void Rf_error(const char *, ...); void f(void) { Rf_error("x"); }'
  try found 'void R_CheckUserInterrupt(void); void f(void) { R_CheckUserInterrupt(); }'
  try found 'static int calls; int f(void) { return ++calls; }'
  try found 'int gbt_level = 3;'
  try found 'static _Thread_local int calls; int f(void) { return ++calls; }'
  # As the package is compiled: constants with addresses are allowed, a variable whose address one of them is, is found.
  flags="$flags -fPIC"
  try fine 'static const int a = 3; const int *const p[] = {&a};'
  try found 'static int a; int *const p[] = {&a};'
  got=$(look_at "$work/objects/gbt-base-x.o")
  if [ "$got" != "symbols: gbt-base-x.o holds the writable variable a" ]; then
    echo "symbols self-check: only \`a\` should be found, not '$got'"
    fails=$((fails + 1))
  fi
  [ "$fails" = 0 ] && echo "symbols self-check: ok"
  return "$fails"
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ "${1:-}" = --self-check ]; then
  self_check
  exit
fi
if [ "${1:-}" = --built ]; then
  mkdir -p "$work/objects"
  (cd "$2" && find . -name '*.c' | sort) | while read -r file; do
    cp "$2/${file%.c}.o" "$work/objects/$(echo "${file#./}" | tr / - | sed 's/\.c$/.o/')" ||
      echo "symbols: there is no object of $file"
  done >"$work/report"
  look_at "$work"/objects/*.o >>"$work/report"
else
  check "${1:-$(cd "$(dirname "$0")/.." && pwd)}" >"$work/report"
fi
cat "$work/report"
[ -s "$work/report" ] && exit 1
echo "symbols: $(find "$work/objects" -name '*.o' | wc -l) objects, all in order"
