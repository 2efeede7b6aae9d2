#!/bin/sh
# The example app of gbt_refresh_server() in a headless Chromium: every button is pressed, in windows of three widths.
#
#   sh tests/robust/shiny.sh short|long OUT
#
# Screenshots are left in OUT/robust/shiny. The long form presses them ten times over. See README.md.
set -u
here=$(cd "$(dirname "$0")" && pwd)
form=$1
out=$(cd "$2" && pwd)
R_LIBS="$out/lib${R_LIBS:+:$R_LIBS}"
export R_LIBS

browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
if [ -z "$browser" ]; then
  echo "skipped: there is no chromium"
  exit 0
fi
if ! Rscript -e 'if (!requireNamespace("shiny", quietly = TRUE)) quit(status = 1)'; then
  echo "skipped: there is no shiny"
  exit 0
fi
exec python3 "$here/shiny/drive.py" "$form" "$browser" "$out/robust/shiny"
