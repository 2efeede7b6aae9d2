#!/bin/sh
# Results of run.sh as a page.
#
#   sh bench/gpu/report.sh FOLDER [>bench/results/gpu-run.md]
#
# Figures that were taken several times are medians. Ratios are of medians of one run of peers.py, where engines take
# turns. A file that is not there leaves its section out.
set -eu

folder=${1:?"report.sh FOLDER"}

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
  function once(list, what) { if (!((list, what) in met)) { met[list, what] = 1; list_of[list, ++length_of[list]] = what } }
'

echo "# On a GPU"
echo
echo "Made by \`bench/gpu/run.sh\`; what the words mean is in [bench/gpu](../gpu/README.md)."
echo
if [ -s "$folder/machine.txt" ]; then
  sed 's/^/- /' "$folder/machine.txt"
  [ -s "$folder/micro.csv" ] && sed -n 's/^# /- /p' "$folder/micro.csv"
fi
[ -s "$folder/steps.csv" ] && awk -F, '
  { printf "%s%s: %s after %s s", NR == 1 ? "- steps: " : "; ", $1, $3 == 0 ? "done" : "FAILED (status " $3 ")", $2 }
  END { print "" }' "$folder/steps.csv"

if [ -s "$folder/train.csv" ]; then
  printf '\n## Training\n\n'
  awk -F, "$library"'
    $6 == "gbt-cuda" || $7 == "roofline reached in training" {
      key = $1 SUBSEP $4
      once("job", key)
      rows[key] = $2 " x " $3; rounds[key] = $5 > rounds[key] ? $5 : rounds[key]
      if ($7 == "model is the CPU'"'"'s" || $7 == "predictions are the CPU'"'"'s") {
        if ($8 != 1) wrong[key] = wrong[key] " " $7 ": NO;"
        else good[key] = good[key] ? good[key] : "yes"
      }
      add(key SUBSEP $7, $8)
    }
    END {
      print "| shape | rows x columns | depth | rounds | data set s | open s | train s | ms a round | share of the " \
            "least time | device bytes a row | test logloss | the CPU'"'"'s bytes |"
      print "|---|---|---|---|---|---|---|---|---|---|---|---|"
      for (i = 1; i <= length_of["job"]; i++) {
        key = list_of["job", i]
        split(key, part, SUBSEP)
        printf "| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", part[1], rows[key], part[2], rounds[key],
               show(median(key SUBSEP "data set"), "%.3f"), show(median(key SUBSEP "open"), "%.3f"),
               show(median(key SUBSEP "train"), "%.3f"), show(median(key SUBSEP "train a round"), "%.3f"),
               show(median(key SUBSEP "roofline reached in training"), "%.2f"),
               show(median(key SUBSEP "device memory a row"), "%.1f"),
               show(median(key SUBSEP "logloss of test rows"), "%.6f"),
               wrong[key] ? wrong[key] : good[key] ? good[key] : "not compared"
      }
    }' "$folder/train.csv"
fi

if [ -s "$folder/peers.csv" ]; then
  printf '\n## Beside other engines\n\n'
  awk -F, "$library"'
    $6 == "host" { next }
    $9 == "skipped" { once("skipped", $1 ": " $6 " " $7 ": " $11); next }
    $7 == "version" { version[$6] = $8; next }
    $7 == "first use" || $7 ~ /and 1 round by/ { next }
    {
      job = $1 SUBSEP $4; key = job SUBSEP $6
      once("job", job); once(job, $6)
      rows[job] = $2 " x " $3; rounds[key] = $5 > rounds[key] ? $5 : rounds[key]
      add(key SUBSEP $7, $8)
    }
    END {
      for (v in version) printf "%s %s. ", v, version[v]
      print "Ratios: time of the engine over that of gbt.\n"
      print "| shape | rows x columns | depth | engine | rounds | data set s | train s | both s | train / gbt | both / gbt " \
            "| device bytes a row | test logloss |"
      print "|---|---|---|---|---|---|---|---|---|---|---|---|"
      for (i = 1; i <= length_of["job"]; i++) {
        job = list_of["job", i]
        split(job, part, SUBSEP)
        base = ""
        for (j = 1; j <= length_of[job]; j++) if (list_of[job, j] ~ /^gbt/) base = job SUBSEP list_of[job, j]
        for (j = 1; j <= length_of[job]; j++) {
          key = job SUBSEP list_of[job, j]
          train = median(key SUBSEP "train"); both = median(key SUBSEP "data set and train")
          printf "| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", part[1], rows[job], part[2],
                 list_of[job, j], rounds[key], show(median(key SUBSEP "data set"), "%.3f"), show(train, "%.3f"),
                 show(both, "%.3f"), base ? show(train / median(base SUBSEP "train"), "%.2f") : "",
                 base ? show(both / median(base SUBSEP "data set and train"), "%.2f") : "",
                 show(median(key SUBSEP "device memory a row by NVML"), "%.1f"),
                 show(median(key SUBSEP "logloss of test rows"), "%.6f")
        }
      }
      if (length_of["skipped"]) print "\nSkipped:\n"
      for (i = 1; i <= length_of["skipped"]; i++) print "- " list_of["skipped", i]
    }' "$folder/peers.csv"
fi

if [ -s "$folder/train.csv" ]; then
  printf '\n## Steps of a tree\n\nMilliseconds a tree and, in brackets, the share of what the memory or the banks allow.\n'
  awk -F, "$library"'
    function cell(key, step, level, share,   x) {
      x = value[key, step " level " level]
      return x == "" ? "" : sprintf("%.3f%s", x, share == "" ? "" : " (" share ")")
    }
    $6 == "gbt-cuda" && $9 == "ms a tree" {
      key = $1 SUBSEP $4
      once("job", key)
      value[key, $7] = $8
      if (match($7, / level [0-9]+$/)) {
        level = substr($7, RSTART + 7) + 0
        if (level > most[key]) most[key] = level
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
        printf "\n%s, depth %s: all steps %s ms, gradients %s, begin tree %s, finish tree %s, least time %s\n\n", part[1],
               part[2], show(value[key, "all steps"], "%.3f"), show(value[key, "gradients"], "%.3f"),
               show(value[key, "begin tree"], "%.3f"), show(value[key, "finish tree"], "%.3f"),
               show(value[key, "least time"], "%.3f")
        print "| level | histogram | search | select | partition |"
        print "|---|---|---|---|---|"
        for (level = 0; level <= most[key]; level++)
          printf "| %d | %s | %s | %s | %s |\n", level,
                 cell(key, "histogram", level, share[key, "histogram level " level]), cell(key, "search", level, ""),
                 cell(key, "select", level, ""), cell(key, "partition", level, share[key, "partition level " level])
      }
    }' "$folder/train.csv"
fi

if [ -s "$folder/micro.csv" ]; then
  printf '\n## Primitives\n\n| what | value | unit | share | of |\n|---|---|---|---|---|\n'
  grep -v '^#' "$folder/micro.csv" | tail -n +2 | sed 's/,/ | /g; s/^/| /; s/$/ |/'
fi
