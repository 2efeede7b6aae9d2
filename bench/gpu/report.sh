#!/bin/sh
# Results of run.sh as a page, as a picture, and as a line of what is proven.
#
#   sh bench/gpu/report.sh FOLDER [>bench/results/gpu-run.md]
#   sh bench/gpu/report.sh --picture FOLDER >times.svg     seconds of training compared with those that model.py expects
#   sh bench/gpu/report.sh --proven FOLDER FILE            puts the commit into the table of FILE (bench/results/GPU.md)
#
# Figures that were taken several times are medians. Ratios are of medians of one run of peers.py, where engines take
# turns. A file that is not there leaves its section out. Of a step that was done again the last time counts.
set -eu

mode=page
case "${1:-}" in --picture | --proven) mode=${1#--}; shift ;; esac
folder=${1:?"report.sh [--picture | --proven] FOLDER [FILE]"}

fact() { sed -n "s/^$1: //p" "$folder/machine.txt" | tr '|' '/'; }
status_of() { # STEP: of its last line; nothing when it was not begun
  [ ! -s "$folder/steps.csv" ] || awk -F, -v step="$1" '$1 == step { s = $3 } END { print s }' "$folder/steps.csv"
}
word_of() { # STEP
  case "$(status_of "$1")" in
    "") echo "not run" ;;
    0) echo "in order" ;;
    124 | 137) echo "took too long" ;;
    *) echo "FAILED" ;;
  esac
}

# A line for the commit on this device in the table that begins with "| commit |"; one that is there is replaced.
proven() { # FILE
  counted=$(awk '/^== / { of = $2 } of == "tests" && /^[0-9]+ passed, [0-9]+ failed$/ { n = $0 } END { print n }' \
    "$folder/log.txt")
  device=$(fact gpu)
  key="| $(fact commit) | ${device:-emulated} |"
  failed=$(awk -F, '{ s[$1] = $3 } END { for (i in s) if (s[i] != 0) print i }' "$folder/steps.csv" | sort |
    tr '\n' ' ' | sed 's/ $//')
  line="$key $(fact date) | $(fact nvcc) | $(word_of equal) | $(word_of tests)${counted:+: $counted} |"
  line="$line $(word_of sanitize) | ${failed:-none} |"
  awk -v key="$key" -v line="$line" '
    index($0, key) == 1 || /^\| none yet / { next }
    { print }
    /^\| commit \|/ { in_table = 1; next }
    in_table && /^\| *---/ { print line; in_table = 0; found = 1 }
    END { exit !found }' "$1" >"$folder/proven.new" || { echo "there is no table of commits in $1" >&2; return 1; }
  cat "$folder/proven.new" >"$1"
  rm -f "$folder/proven.new"
}

# Lines SHAPE FAST SLOW MEASURED: seconds of the rounds that the model speaks of, at its depth; measured may be empty.
beside_expected() {
  [ -s "$folder/expected.csv" ] || return 0
  train=$folder/train.csv
  [ -s "$train" ] || train=/dev/null
  awk -F, '
    FNR == NR { order[++n] = $1; fast[$1] = $2; slow[$1] = $3; rounds[$1] = $4; next }
    $6 == "gbt-cuda" && $7 == "train a round" && $4 == ($1 == "small" ? 6 : 8) && $1 in fast { took[$1] = $8 }
    END { for (i = 1; i <= n; i++) { k = order[i]
      print k, fast[k], slow[k], k in took ? took[k] / 1e3 * rounds[k] : "" } }' "$folder/expected.csv" "$train"
}

# Bars of a common logarithmic scale: what is expected as a range, what was measured as a line.
picture() {
  beside_expected | awk '
    function at(x) { return 130 + 140 * (log(x) / log(10) + 2) }
    { y = 30 * NR + 10
      body = body sprintf("<text x=\"10\" y=\"%d\">%s</text>\n", y + 12, $1)
      body = body sprintf("<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"16\" fill=\"#bbd\"/>\n",
                          at($2), y, at($3) - at($2))
      if ($4 > 0)
        body = body sprintf("<rect x=\"%.1f\" y=\"%d\" width=\"3\" height=\"24\" fill=\"#b00\"/>\n", at($4), y - 4) }
    END {
      printf "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"720\" height=\"%d\" ", 30 * NR + 80
      print "font-family=\"sans-serif\" font-size=\"13\">"
      print "<text x=\"10\" y=\"20\">Seconds of training: expected (bar), measured (line)</text>"
      for (e = -2; e <= 2; e++) {
        x = 130 + 140 * (e + 2)
        printf "<line x1=\"%d\" x2=\"%d\" y1=\"30\" y2=\"%d\" stroke=\"#ddd\"/>\n", x, x, 30 * NR + 45
        printf "<text x=\"%d\" y=\"%d\">%g s</text>\n", x - 10, 30 * NR + 62, 10 ^ e
      }
      print body "</svg>"
    }'
}

case "$mode" in
  picture) picture; exit ;;
  proven) proven "${2:?"report.sh --proven FOLDER FILE"}"; exit ;;
esac

# Columns of train.csv and peers.csv: shape,rows,cols,depth,rounds,engine,name,value,unit,share,of
library='
  function add(key, x) { n[key]++; all[key, n[key]] = x + 0 }
  function median(key,   i, j, t, k) {
    k = n[key]
    if (!k) return ""
    for (i = 2; i <= k; i++)
      for (j = i; j > 1 && all[key, j - 1] > all[key, j]; j--) {
        t = all[key, j]; all[key, j] = all[key, j - 1]; all[key, j - 1] = t
      }
    return k % 2 ? all[key, (k + 1) / 2] : (all[key, k / 2] + all[key, k / 2 + 1]) / 2
  }
  function show(x, format) { return x == "" ? "" : sprintf(format, x) }
  function once(list, what) {
    if ((list, what) in met) return
    met[list, what] = 1
    list_of[list, ++length_of[list]] = what
  }
  # A table: header("a|b"), then for each line cell(x) ... and end_line().
  function cell(x, format) { printf "%s %s |", in_line++ ? "" : "|", show(x, format ? format : "%s") }
  function end_line() { in_line = 0; print "" }
  function header(names,   part, k, i) {
    k = split(names, part, "|")
    for (i = 1; i <= k; i++) cell(part[i])
    end_line()
    for (i = 1; i <= k; i++) printf "|---"
    print "|"
  }
'

echo "# On a GPU"
echo
echo "Made by \`bench/gpu/run.sh\`; what the words mean is in [bench/gpu](../gpu/README.md)."
echo
if [ -s "$folder/machine.txt" ]; then
  sed 's/^/- /' "$folder/machine.txt"
  [ -s "$folder/micro.csv" ] && sed -n 's/^# /- /p' "$folder/micro.csv"
fi
if [ -s "$folder/steps.csv" ]; then
  awk -F, '
    { if (!($1 in took)) order[++n] = $1; took[$1] = $2; status[$1] = $3 }
    END {
      for (i = 1; i <= n; i++) { k = order[i]; s = status[k]
        word = s == 0 ? "done" : s == 124 || s == 137 ? "TOOK TOO LONG, ended" : "FAILED (status " s ")"
        printf "%s%s: %s after %s s", i == 1 ? "- steps: " : "; ", k, word, took[k] }
      print "" }' "$folder/steps.csv"
fi

if [ -s "$folder/expected.csv" ]; then
  printf '\n## Expected and measured\n\n'
  echo "Seconds of training. What \`model.py\` expects is reckoned from counts, and, where they are there, from the"
  echo "primitives below; a factor of 1.5 beyond the range is no surprise."
  printf '\n| shape | expected s | measured s | measured / slow |\n|---|---|---|---|\n'
  beside_expected | awk '{ printf "| %s | %.3g to %.3g | %s | %s |\n", $1, $2, $3, $4 == "" ? "" : sprintf("%.3g", $4),
    $4 == "" ? "" : sprintf("%.2f", $4 / $3) }'
fi

if [ -s "$folder/train.csv" ]; then
  printf '\n## Training\n\n'
  awk -F, "$library"'
    $6 == "gbt-cuda" || $7 == "roofline reached in training" {
      key = $1 SUBSEP $4
      once("job", key)
      rows[key] = $2 " x " $3
      if ($7 == "train") rounds[key] = $5
      if ($7 == "model is the CPU'"'"'s" || $7 == "predictions are the CPU'"'"'s") {
        if ($8 != 1) wrong[key] = wrong[key] " " $7 ": NO;"
        else good[key] = good[key] ? good[key] : "yes"
      }
      add(key SUBSEP $7, $8)
    }
    END {
      header("shape|rows x columns|depth|rounds|data set s|open s|train s|ms a round|of the least time|" \
             "device bytes a row|test logloss|the CPU'"'"'s bytes")
      for (i = 1; i <= length_of["job"]; i++) {
        key = list_of["job", i]
        split(key, part, SUBSEP)
        cell(part[1]); cell(rows[key]); cell(part[2]); cell(rounds[key])
        cell(median(key SUBSEP "data set"), "%.3f")
        cell(median(key SUBSEP "open"), "%.3f")
        cell(median(key SUBSEP "train"), "%.3f")
        cell(median(key SUBSEP "train a round"), "%.3f")
        cell(median(key SUBSEP "roofline reached in training"), "%.2f")
        cell(median(key SUBSEP "device memory a row"), "%.1f")
        cell(median(key SUBSEP "logloss of test rows"), "%.6f")
        cell(wrong[key] ? wrong[key] : good[key] ? good[key] : "not compared")
        end_line()
      }
    }' "$folder/train.csv"
fi

if [ -s "$folder/peers.csv" ]; then
  printf '\n## Beside other engines\n\n'
  awk -F, "$library"'
    function ratio(x, of) { return x == "" || !of ? "" : x / of }
    $6 == "host" { next }
    $9 == "skipped" { once("skipped", $1 ": " $6 " " $7 ": " $11); next }
    $7 == "version" { version[$6] = $8; next }
    $7 == "first use" || $7 ~ /and 1 round by/ { next }
    {
      job = $1 SUBSEP $4; key = job SUBSEP $6
      once("job", job)
      rows[job] = $2 " x " $3
      if ($7 == "train") {
        once(job, $6)
        rounds[key] = $5
      }
      add(key SUBSEP $7, $8)
    }
    END {
      for (v in version) printf "%s %s. ", v, version[v]
      print "Ratios: time of the engine over that of gbt.\n"
      header("shape|rows x columns|depth|engine|rounds|data set s|train s|both s|train / gbt|both / gbt|" \
             "device bytes a row|test logloss")
      for (i = 1; i <= length_of["job"]; i++) {
        job = list_of["job", i]
        split(job, part, SUBSEP)
        base = ""
        for (j = 1; j <= length_of[job]; j++) if (list_of[job, j] ~ /^gbt/) base = job SUBSEP list_of[job, j]
        for (j = 1; j <= length_of[job]; j++) {
          key = job SUBSEP list_of[job, j]
          train = median(key SUBSEP "train"); both = median(key SUBSEP "data set and train")
          cell(part[1]); cell(rows[job]); cell(part[2]); cell(list_of[job, j]); cell(rounds[key])
          cell(median(key SUBSEP "data set"), "%.3f")
          cell(train, "%.3f")
          cell(both, "%.3f")
          cell(ratio(train, median(base SUBSEP "train")), "%.2f")
          cell(ratio(both, median(base SUBSEP "data set and train")), "%.2f")
          cell(median(key SUBSEP "device memory a row by NVML"), "%.1f")
          cell(median(key SUBSEP "logloss of test rows"), "%.6f")
          end_line()
        }
      }
      if (length_of["skipped"]) print "\nSkipped:\n"
      for (i = 1; i <= length_of["skipped"]; i++) print "- " list_of["skipped", i]
    }' "$folder/peers.csv"
fi

if [ -s "$folder/train.csv" ]; then
  printf '\n## Steps of a tree\n\n'
  echo "Milliseconds a tree and, in brackets, the share of what the memory or the banks allow."
  awk -F, "$library"'
    function timed(key, step, layer, of,   x) {
      x = value[key, step " layer " layer]
      return x == "" ? "" : sprintf("%.3f%s", x, of == "" ? "" : " (" of ")")
    }
    $6 == "gbt-cuda" && $9 == "ms a tree" {
      key = $1 SUBSEP $4
      once("job", key)
      value[key, $7] = $8
      if (match($7, / layer [0-9]+$/)) {
        layer = substr($7, RSTART + 7) + 0
        if (layer > most[key]) most[key] = layer
      }
    }
    $6 == "gbt-cuda" && ($7 ~ / least bytes$/ || $7 ~ / additions$/) {
      key = $1 SUBSEP $4
      name = $7
      sub(/ (least bytes|additions)$/, "", name)
      if ($10 != "" && $10 + 0 > share[key, name] + 0) share[key, name] = $10
    }
    END {
      for (i = 1; i <= length_of["job"]; i++) {
        key = list_of["job", i]
        split(key, part, SUBSEP)
        printf "\n%s, depth %s:", part[1], part[2]
        k = split("all steps|gradients|begin tree|finish tree|least time", title, "|")
        for (j = 1; j <= k; j++)
          if (value[key, title[j]] != "") printf "%s %s %.3f", (j > 1 ? "," : ""), title[j], value[key, title[j]]
        print "\n"
        header("layer|histogram|search|select|partition")
        for (layer = 0; layer <= most[key]; layer++) {
          cell(layer)
          cell(timed(key, "histogram", layer, share[key, "histogram layer " layer]))
          cell(timed(key, "search", layer, ""))
          cell(timed(key, "select", layer, ""))
          cell(timed(key, "partition", layer, share[key, "partition layer " layer]))
          end_line()
        }
      }
    }' "$folder/train.csv"
fi

if [ -s "$folder/micro.csv" ]; then
  printf '\n## Primitives\n\n| what | value | unit | share | of |\n|---|---|---|---|---|\n'
  grep -v '^#' "$folder/micro.csv" | tail -n +2 | sed 's/,/ | /g; s/^/| /; s/$/ |/'
fi
