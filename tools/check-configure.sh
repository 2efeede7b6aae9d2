#!/bin/sh
# What configure makes of a CUDA toolkit: asked for or not, there or not, working or not. Toolkits are made of scripts.
#
#   sh tools/check-configure.sh [FOLDER]       FOLDER: the repository, default the one of this script
set -eu

root=${1:-$(cd "$(dirname "$0")/.." && pwd)}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
(cd "$root" && tar -cf - configure cleanup src tests/simt) | (mkdir "$work/gbt" && cd "$work/gbt" && tar -xf -)
cd "$work/gbt"
sh ./cleanup
failed=0
n=0

# A home of R that asks the real one for each of its settings once.
mkdir -p "$work/r/bin"
cat >"$work/r/bin/R" <<END
#!/bin/sh
kept=$work/r/\$3
if [ ! -f "\$kept" ]; then env -u R_HOME "$(R RHOME)/bin/R" "\$@" >"\$kept"; fi
cat "\$kept"
END
chmod +x "$work/r/bin/R"
R_HOME=$work/r
export R_HOME

# A toolkit in $work/NAME: its nvcc knows compute capabilities 75, 80, 90 and 100, and compiles or does not.
toolkit() { # NAME works|fails
  mkdir -p "$work/$1/bin"
  cat >"$work/$1/bin/nvcc" <<END
#!/bin/sh
case "\$1" in
  --version) echo "Cuda compilation tools, release 12.4, V12.4.131"; exit 0 ;;
  --list-gpu-arch) printf 'compute_75\ncompute_80\ncompute_90\ncompute_100\n'; exit 0 ;;
esac
if [ $2 = fails ]; then echo "error: unsupported GNU version" >&2; exit 1; fi
exit 0
END
  chmod +x "$work/$1/bin/nvcc"
}
toolkit good works
toolkit bad fails
toolkit "with space" works
mkdir -p "$work/mute/bin" "$work/folder/bin/nvcc"
printf '#!/bin/sh\necho "no licence for this machine"\nexit 3\n' >"$work/mute/bin/nvcc"
chmod +x "$work/mute/bin/nvcc"

# nvidia-smi in $work/NAME, of a machine with GPUs of these compute capabilities.
gpus() { # NAME CAPABILITY...
  mkdir "$work/$1"
  printf '#!/bin/sh\n' >"$work/$1/nvidia-smi"
  printf 'printf "%%s\\n"%s\n' "$(shift; printf ' "%s"' "$@")" >>"$work/$1/nvidia-smi"
  chmod +x "$work/$1/nvidia-smi"
}
gpus h100s 9.0 9.0
gpus mixed 7.5 8.0 9.0
gpus old 6.1
gpus unknown 12.1 8.0
gpus none "No devices were found"

# A folder of programs for PATH that has no nvcc and no nvidia-smi, whatever the machine has.
mkdir "$work/path"
for program in $(echo "$PATH" | tr ':' '\n' | sort -u | while read -r dir; do ls "$dir" 2>/dev/null; done | sort -u); do
  case "$program" in nvcc* | nvidia-smi) continue ;; esac
  found=$(command -v "$program" 2>/dev/null || true)
  case "$found" in /*) ln -sf "$found" "$work/path/$program" ;; esac
done

# try NAME STATUS KIND TEXT [VARIABLE=VALUE ...] -- [ARGUMENT ...]: configure ends with STATUS, has chosen KIND ("-"
# when it stopped) and says TEXT, a regular expression.
try() {
  name=$1 want_status=$2 want_kind=$3 text=$4
  shift 4
  variables=""
  while [ "$1" != -- ]; do variables="$variables $1"; shift; done
  shift
  n=$((n + 1))
  rm -f src/gbt_cuda.dcf src/Makevars src/Makevars.cuda
  status=0
  # shellcheck disable=SC2086
  env -u CUDA_HOME -u CUDA_PATH -u GBT_CUDA -u GBT_CUDA_ARCH PATH="$work/path" $variables sh ./configure "$@" \
    >"$work/said" 2>&1 || status=$?
  kind=-
  if [ -f src/gbt_cuda.dcf ]; then kind=$(sed -n 's/^Kind: //p' src/gbt_cuda.dcf); fi
  if [ -f src/Makevars.cuda ]; then sed -n 's/^CUDA = .*\.so//p; s/^CUDA = //p' src/Makevars.cuda >>"$work/said"; fi
  if [ "$status" != "$want_status" ] || [ "$kind" != "$want_kind" ] || ! grep -q "$text" "$work/said"; then
    echo "configure: $name: wanted status $want_status, $want_kind, '$text'; got status $status, $kind and:"
    cat "$work/said"
    failed=$((failed + 1))
  fi
}

system=none # what the machine has in /usr/local/cuda and its like, which cannot be hidden
for folder in /usr/local/cuda /opt/cuda /usr/lib/cuda; do
  if [ -x "$folder/bin/nvcc" ]; then system=some; fi
done
good=$work/good
bad=$work/bad
if [ "$system" = none ]; then
  try "no toolkit" 0 none "no CUDA toolkit was found" --
  try "no toolkit, but asked for" 1 - "CUDA was asked for (yes) and cannot be had" -- --with-cuda
  try "arch without a toolkit" 1 - "no CUDA toolkit was found" -- --with-cuda-arch=80
fi
try "a toolkit, not asked for" 0 nvcc \
  "CUDA by $good/bin/nvcc 12.4 with .*, for compute capability 80 90, and by PTX for others from 75 on" \
  CUDA_HOME="$good" --
codes() { # CAPABILITY... PTX: what nvcc is told to make
  while [ $# -gt 1 ]; do printf ' -gencode arch=compute_%s,code=sm_%s' "$1" "$1"; shift; done
  printf ' -gencode arch=compute_%s,code=compute_%s ' "$1" "$1"
}
try "no threads" 0 nvcc "threads none (GBT_NO_THREADS is set)" CUDA_HOME="$good" GBT_NO_THREADS=1 --
try "no GPU" 0 nvcc "static$(codes 80 90 75)" CUDA_HOME="$good" --
try "two GPUs of one kind" 0 nvcc "static$(codes 90 75)" CUDA_HOME="$good" PATH="$work/h100s:$work/path" --
try "GPUs of three kinds" 0 nvcc "static$(codes 75 80 90 75)" CUDA_HOME="$good" PATH="$work/mixed:$work/path" --
try "a GPU that is too old" 0 nvcc "static$(codes 80 90 75)" CUDA_HOME="$good" PATH="$work/old:$work/path" --
try "a GPU newer than nvcc" 0 nvcc "static$(codes 80 75)" CUDA_HOME="$good" PATH="$work/unknown:$work/path" --
try "a driver without GPUs" 0 nvcc "static$(codes 80 90 75)" CUDA_HOME="$good" PATH="$work/none:$work/path" --
try "numbers before GPUs" 0 nvcc "static$(codes 80 80)" CUDA_HOME="$good" PATH="$work/h100s:$work/path" \
  GBT_CUDA_ARCH=80 --
try "all" 0 nvcc "static$(codes 75 80 90 100 100)" CUDA_HOME="$good" PATH="$work/h100s:$work/path" -- \
  --with-cuda-arch=all
try "CUDA_PATH" 0 nvcc "CUDA by $good/bin/nvcc" CUDA_PATH="$good" --
try "in the path" 0 nvcc "CUDA by $good/bin/nvcc" PATH="$good/bin:$work/path" --
try "a folder" 0 nvcc "CUDA by $good/bin/nvcc" CUDA_HOME="$bad" -- --with-cuda="$good"
try "a folder by GBT_CUDA" 0 nvcc "CUDA by $good/bin/nvcc" CUDA_HOME="$bad" GBT_CUDA="$good" --
try "arguments before variables" 0 none "installed with --without-cuda" GBT_CUDA="$good" -- --without-cuda
try "a folder that has none" 1 - "there is no /nowhere/bin/nvcc" CUDA_HOME="$good" -- --with-cuda=/nowhere
try "one that does not work, not asked for" 0 none "does not work with R's compiler .*unsupported GNU version" \
  CUDA_HOME="$bad" --
try "one that does not work, asked for" 1 - "does not work with R's compiler" CUDA_HOME="$bad" -- --with-cuda
try "one that does not work, by GBT_CUDA" 1 - "does not work with R's compiler" CUDA_HOME="$bad" GBT_CUDA=yes --
try "one that does not say error" 1 - "does not work with R's compiler .*no licence" -- --with-cuda="$work/mute"
try "a folder of that name" 1 - "there is no $work/folder/bin/nvcc" -- --with-cuda="$work/folder"
try "a path with a space" 0 nvcc "CUDA by $work/with space/bin/nvcc 12.4" -- --with-cuda="$work/with space"
n=$((n + 1))
if ! grep -q "\"$work/with space/bin/nvcc\" -ccbin" src/Makevars.cuda; then
  echo "configure: a path with a space: the rule does not quote it"
  failed=$((failed + 1))
fi
try "without, by the R of the path" 0 none "installed with --without-cuda" CUDA_HOME="$good" R_HOME= -- --without-cuda
try "without, by GBT_CUDA" 0 none "installed with --without-cuda" CUDA_HOME="$good" GBT_CUDA=no --
try "other capabilities" 0 nvcc "static$(codes 75 100 100)" CUDA_HOME="$good" -- "--with-cuda-arch=100;sm_75"
try "capabilities by GBT_CUDA_ARCH" 0 nvcc "static$(codes 90 90)" CUDA_HOME="$good" GBT_CUDA_ARCH=9.0 --
try "a capability that nvcc does not know" 1 - "cannot build for compute capability 70; it knows 75 80" \
  CUDA_HOME="$good" -- --with-cuda-arch=70
try "a capability that is none" 1 - "'hopper' is no compute capability" CUDA_HOME="$good" -- --with-cuda-arch=hopper
try "a misspelt argument" 1 - "there is no argument --with-cuda-archs" CUDA_HOME="$good" -- --with-cuda-archs=80
try "an argument of others" 0 nvcc "the argument --enable-speed is not known" CUDA_HOME="$good" -- --enable-speed
try "emulated" 0 emulate "CUDA emulated" CUDA_HOME="$good" -- --with-cuda=emulate
rm -rf tests
try "emulated, without the emulator" 1 - "tests/simt, .* is not part of this package" -- --with-cuda=emulate

# Compilers: scripts round R's own compiler, which see its arguments as $@ and call it as `cc`.
compiler() { # NAME LINES: a home of R whose compiler is such a script
  mkdir -p "$work/$1/bin"
  printf '#!/bin/sh\nif [ "$1 $2 $3" = "CMD config CC" ]; then echo "sh %s/cc"; exit; fi\n' "$work/$1" \
    >"$work/$1/bin/R"
  printf 'exec "%s/bin/R" "$@"\n' "$R_HOME" >>"$work/$1/bin/R"
  chmod +x "$work/$1/bin/R"
  printf 'cc() { %s "$@"; }\nall=" $* "\n%s\n' "$("$R_HOME/bin/R" CMD config CC)" "$2" >"$work/$1/cc"
}
wide='-U__FLT_EVAL_METHOD__ -D__FLT_EVAL_METHOD__=2'
compiler x87 "case \"\$all\" in *' -mfpmath=sse '*) cc \"\$@\" ;; *) cc \"\$@\" $wide ;; esac"
compiler wide "cc \"\$@\" $wide"
compiler fast 'cc "$@" -ffast-math'
compiler fused 'case "$all" in *" -ffp-contract=off "*) exit 1 ;; esac; cc "$@"'
compiler warns 'case "$all" in *" -Werror "*) exit 1 ;; esac; cc "$@"'
compiler windows 'cc "$@" -D_WIN32 -Dsigset_t=none'
try "registers of x87" 0 none "strict flags .* -ffp-contract=off .* -msse2 -mfpmath=sse\$" R_HOME="$work/x87" -- \
  --without-cuda
n=$((n + 1))
if ! grep -q '^PKG_CFLAGS = .* -msse2 -mfpmath=sse$' src/Makevars; then
  echo "configure: registers of x87: the glue lacks the flags"
  failed=$((failed + 1))
fi
try "wide registers" 1 - "would differ from those of other machines" R_HOME="$work/wide" -- --without-cuda
try "wide registers, why" 1 - "^  this compiler computes doubles with extra precision" R_HOME="$work/wide" -- \
  --without-cuda
try "fast math" 1 - "^  flags such as -ffast-math" R_HOME="$work/fast" -- --without-cuda
try "no way to forbid fused products" 1 - "does not know -ffp-contract=off" R_HOME="$work/fused" -- --without-cuda
try "warnings of R's own flags" 0 none "strict flags .* -ffp-contract=off" R_HOME="$work/warns" -- --without-cuda
try "threads without signals" 0 none "threads in the C library" R_HOME="$work/windows" -- --without-cuda

# What R CMD check warns of.
CUDA_HOME="$good" sh ./configure --with-cuda >/dev/null
n=$((n + 1))
if grep -n '\$(wildcard\|\$(shell\|\$(patsubst\|:=\|+=\|ifeq\|^ifdef\|%\.o' src/Makevars; then
  echo "configure: src/Makevars has extensions of GNU make"
  failed=$((failed + 1))
fi

# Jobs: as many as there are processors, or as MAKEFLAGS says. Here make only prints what it would do.
jobs_of() { # MAKEFLAGS: what the makefile of the CUDA library is run by
  (cd src && rm -f x.mk && printf 'include Makevars\n$(GLUE):;\n$(ENGINE):;\n' >x.mk && touch gbt_engine.a &&
    env MAKEFLAGS="$1" make -f x.mk -o gbt_engine.a MAKE=echo cuda 2>&1; rm -f x.mk gbt_engine.a) | grep Makevars.cuda
}
cores=$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN)
check_jobs() { # MAKEFLAGS TEXT
  n=$((n + 1))
  said=$(jobs_of "$1" | tail -1)
  if [ "$said" != "$2-f Makevars.cuda all" ]; then
    echo "configure: jobs with MAKEFLAGS='$1': '$said'"
    failed=$((failed + 1))
  fi
}
check_jobs "" "-j$cores "
check_jobs "-k" "-j$cores "
check_jobs "-j3" ""
check_jobs "-j" ""

# The engine and the CUDA library have one build id, and another one when a header is another.
build_ids() { grep -oh 'GBT_BUILD_ID=[0-9]*u' src/Makevars src/Makevars.cuda | sort | uniq -c | tr -s ' '; }
first=$(build_ids)
echo "/* another struct */" >>src/gbt/data/cuts.h
CUDA_HOME="$good" sh ./configure --with-cuda >/dev/null
second=$(build_ids)
n=$((n + 1))
case "$first$second" in
  " 2 GBT_BUILD_ID="*" 2 GBT_BUILD_ID="*) ;;
  *) first="$second" ;;
esac
if [ "$first" = "$second" ]; then
  echo "configure: build ids: '$first' and, with another header, '$second'"
  failed=$((failed + 1))
fi
echo "$((n - failed)) passed, $failed failed"
[ "$failed" = 0 ]
