#!/bin/sh
# Model files when something goes wrong: sh tests/robust/files.sh short|long OUT
#
#   faults   every system call of a save and of a load fails in turn, in several ways (files/fault.c, by LD_PRELOAD)
#   kill     kill -9 at random moments of saving: 50, long 1,000
#   race     two writers and four readers of one file: 1,000 swaps, long 1,000,000, in memory where /dev/shm is one
#   full, disk, folder, limit   a full disk, a read-only one, a read-only folder, a limit of file sizes
#
# A file must hold the old model or the new one, to the byte; every error must have a class of gbt; nothing may be left
# in the folder, no descriptor be left open.
set -u
form=$1
out=$(cd "$2" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
work=$out/robust/files
mkdir -p "$work"
figures=$work/figures
: >"$figures"
case "$form" in
  short) kills=50 swaps=1000 ;;
  long) kills=1000 swaps=${GBT_SWAPS:-1000000} ;;
  *) echo "usage: sh tests/robust/files.sh short|long OUT" >&2; exit 2 ;;
esac
if [ ! -d "$out/lib/gbt" ]; then
  echo "skipped: there is no gbt in $out/lib (step install)"
  exit 0
fi
R_LIBS=$out/lib
export R_LIBS
begun=$(date +%s)
passed=0
failed=0

shared=
swapped=
# What is mounted goes when this ends, also by a signal.
clean_up() {
  umount "$work/full" "$work/disk" 2>/dev/null
  if [ -n "$shared" ] && [ "$shared" != "$work" ]; then rm -rf "$shared"; fi
  if [ -n "$swapped" ]; then rm -rf "$swapped"; fi
}
trap clean_up EXIT
trap 'exit 1' HUP INT TERM

new_folder() { # NAME
  rm -rf "$work/${1:?}"
  mkdir -p "$work/$1"
}

# Runs a part in the folder $work/PART, by the command before Rscript, if any.
part() { # PART ARGUMENTS... ; `before` is the command
  name=$1
  shift
  # shellcheck disable=SC2086
  ${before:-} Rscript --vanilla "$here/files/check.R" "$name" "$work/$name" "$figures" "$@" >"$work/$name.txt" 2>&1
  cat "$work/$name.txt"
  counts=$(sed -n 's/^\([0-9][0-9]*\) passed, \([0-9][0-9]*\) failed$/\1 \2/p' "$work/$name.txt" | tail -1)
  set -- ${counts:-0 1}
  passed=$((passed + $1))
  failed=$((failed + $2))
}

# ---- faults ----
new_folder faults
if ${CC:-cc} -shared -fPIC -O1 -o "$work/fault.so" "$here/files/fault.c" -ldl 2>"$work/fault.log"; then
  before="env LD_PRELOAD=$work/fault.so" part faults "$work/fault.so"
else
  cat "$work/fault.log"
  failed=$((failed + 1))
fi

# ---- kill, race ----
new_folder kill
part kill "$kills"
new_folder race
if [ "$form" = long ] && [ -w /dev/shm ]; then # where flushing to the disk costs nothing
  swapped=$(mktemp -d /dev/shm/gbt-swaps-XXXXXX)
  rmdir "$work/race"
  mkdir "$swapped/race"
  ln -s "$swapped/race" "$work/race"
fi
part race "$swaps"
if [ -n "$swapped" ]; then rm -rf "$swapped" "$work/race"; fi

# ---- a limit of file sizes: 64 blocks of 512 or 1024 bytes ----
new_folder limit
limited() { (ulimit -f 64 && exec "$@"); }
before=limited part limit

# ---- a full disk and a read-only one: only where something may be mounted ----
new_folder full
if mount -t tmpfs -o size=128k gbt "$work/full" 2>/dev/null; then
  part full
  umount "$work/full"
else
  echo "no full disk: nothing can be mounted here"
fi
new_folder disk
if mount -t tmpfs gbt "$work/disk" 2>/dev/null; then
  Rscript --vanilla "$here/files/check.R" old "$work/disk" "$figures" >"$work/old.txt" 2>&1
  if mount -o remount,ro "$work/disk"; then part disk; else echo "no read-only disk: it stays writable here"; fi
  umount "$work/disk"
else
  echo "no read-only disk: nothing can be mounted here"
fi

# ---- a read-only folder with a file that may be written to: root may write everywhere, so another user is used ----
if [ "$(id -u)" = 0 ]; then
  shared=$(mktemp -d)
else
  shared=$work
fi
mkdir -p "$shared/folder"
Rscript --vanilla "$here/files/check.R" old "$shared/folder" "$figures" >"$work/old.txt" 2>&1
chmod 755 "$shared"
chmod 666 "$shared/folder/model.gbt"
chmod 555 "$shared/folder"
rm -rf "$work/folder"
if [ "$(id -u)" != 0 ]; then
  part folder
elif setpriv --reuid=65534 --regid=65534 --clear-groups test -r "$out/lib/gbt/DESCRIPTION" -a -r "$here/files/check.R" \
  2>/dev/null; then
  ln -s "$shared/folder" "$work/folder"
  nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
  before=nobody part folder
else
  echo "no read-only folder: nobody else can be asked"
fi
chmod 755 "$shared/folder"
rm -rf "$shared/folder" "$work/folder"

printf 'seconds\t%s\n' $(($(date +%s) - begun)) >>"$figures"
cat "$figures"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
