#!/bin/sh
# The direction of dependencies between the folders of the engine, read off the #include lines.
#
#   sh tools/check-arrows.sh [FOLDER]       FOLDER: the repository, default the one of this script
#   sh tools/check-arrows.sh --self-check   shows that the check finds what it must find
#
#   base <- schema, math <- objective <- metric, data, tree <- backend <- cpu | cuda <- boost
#   (an arrow points to the user)
#   base, schema, math, objective, tree and what cuts and pages are <- bytes <- disk, boost, model
#   disk keeps what data makes; nobody else in the engine knows it
#   objective <- joint <- boost
#   boost sees nothing of cpu but its door, cpu/cpu_open.h
#   model needs base, math, objective, tree and, to read the columns it predicts from, data/table.h and data/binding.h;
#   to predict rows that are binned, data/values.h
#   exchange makes models: base, schema, math, objective, tree, bytes and model/model.h
#   explain needs base, math, tree and, to read the rows, data/table.h, data/binding.h and data/job.h
#   both ask a device through backend/device.h
#   ranks are asked through base/comm.h, by all code that sums over rows
#   base/comm.h <- src/mpi <- src/r_ranks.c
#   gbt.h <- src/r_*.c, the only files that include headers of R; only src/cuda includes headers of CUDA
#   gbt.h reaches the headers in `public` alone: plain data, opaque types and what is done with them
#   in src/cuda: base <- data <- grow, encode; base <- predict, explain; door uses all of them
#   in src/cuda/grow: grow (backend.cuh, view.cuh) <- state <- rows, search, metrics <- steps <- leaves <- small <-
#   gradients <- grow (batch.cuh)
set -eu

# uses FOLDER: the folders, or single headers, that its files may include. `root` stands for params.h and params.def.
uses() {
  case "$1" in
    base) echo "base" ;;
    schema) echo "base schema" ;;
    math) echo "base math" ;;
    objective) echo "base math objective" ;;
    data) echo "base schema math objective data root" ;;
    encode) echo "base schema math objective data encode root" ;;
    tree) echo "base schema math tree root" ;;
    metric) echo "base math objective metric" ;;
    backend) echo "base schema math objective data tree metric backend root" ;;
    cpu) echo "base schema math objective data tree backend cpu root" ;;
    joint) echo "base math objective joint" ;;
    boost) echo "base schema math objective metric joint data encode tree backend cpu/cpu_open.h bytes boost root" ;;
    disk) echo "base schema math objective data bytes disk root" ;;
    bytes) echo "base schema math objective tree data/cuts.h data/page.h bytes" ;;
    model) echo "base schema math objective tree backend/device.h bytes model" ;;
    exchange) echo "base schema math objective tree bytes model/model.h exchange" ;;
    explain) echo "base schema math tree backend/device.h explain" ;;
    root) echo "base math root" ;; # params.c; gbt.h may include everything
    *) echo "" ;;
  esac
}

# wing_uses WING: what files of src/cuda/WING may include, as folders, or single headers, of src/cuda and of the engine
wing_uses() {
  case "$1" in
    base) echo "cuda/base gbt/base gbt/math" ;;
    data) echo "cuda/base cuda/data gbt/base gbt/math gbt/data" ;;
    encode) echo "cuda/base cuda/data cuda/encode gbt/base gbt/math gbt/encode" ;;
    grow/state) echo "$grow $(grow_folders state) cuda/grow/search/layer.cuh" ;;
    grow/rows | grow/search) echo "$grow $(grow_folders state "${1#grow/}")" ;;
    grow/metrics) echo "$grow $(grow_folders metrics)" ;;
    grow/steps) echo "$grow $(grow_folders state rows search steps)" ;;
    grow/leaves) echo "$grow $(grow_folders state rows search steps leaves) cuda/grow/gradients/gradient.cuh" ;;
    grow/small) echo "$grow $(grow_folders search steps leaves small) cuda/grow/gradients/gradient.cuh" ;;
    grow/gradients) echo "$grow $(grow_folders state rows leaves small gradients)" ;;
    grow) echo "$grow cuda/grow $(grow_folders state rows search steps leaves small gradients metrics)" ;;
    predict) echo "cuda/base cuda/predict gbt/base gbt/schema gbt/math gbt/tree gbt/model" ;;
    explain) echo "cuda/base cuda/explain gbt/base gbt/math gbt/tree gbt/explain" ;;
    door) echo "cuda/base cuda/data cuda/grow/batch.cuh cuda/predict cuda/explain cuda/encode cuda/door gbt/backend" ;;
    *) echo "" ;;
  esac
}

# What all files of src/cuda/grow may include, and its folders.
grow="cuda/base cuda/data cuda/grow/backend.cuh cuda/grow/view.cuh gbt/base gbt/math gbt/objective gbt/metric gbt/data
gbt/tree gbt/backend"
grow_folders() { for folder in "$@"; do printf 'cuda/grow/%s ' "$folder"; done; }

# allowed FILE INCLUDED (as folder/file): the few that the folders' rule does not say.
excepted() {
  case "$1 $2" in
    "gbt.h "*) return 0 ;;                            # the public header
    # prediction reads the host's columns
    "model/predict"*" data/table.h") return 0 ;;
    "explain/explain.h data/table.h" | "explain/"*" data/binding.h" | "explain/"*" data/job.h") return 0 ;;
    "model/answer_bins.c data/values.h") return 0 ;; # prediction of rows that are binned
    "model/predict_job.h data/binding.h" | "model/answer"*" data/binding.h") return 0 ;;
  esac
  return 1
}

public="gbt.h params.h params.def base/status.h base/mem.h base/ctx.h base/simd.h base/comm.h base/os_file.h
base/exact_sum.h base/hd.h base/rows.h base/row_fields.def schema/schema.h
schema/feature_kinds.def objective/objective.h objective/objectives.def objective/class_weight.h
objective/distribution_answers.h metric/metric.h
metric/metrics.def joint/hazards.h encode/cat_method.h encode/cat_methods.def data/table.h data/source.h
data/dataset.h disk/disk.h
disk/codec.h tree/view.h boost/metric.h boost/trainer.h boost/side_by_side.h boost/stopper.h bytes/utf8.h bytes/values.h
model/model.h model/mean.h model/answer.h model/predict.h exchange/exchange.h explain/explain.h backend/device.h
backend/phases.h"

bad=0
complain() { echo "arrows: $*"; bad=$((bad + 1)); }

# includes_of FILE: the names in its #include lines, quotes or brackets kept
includes_of() { sed -n 's/^[ \t]*#[ \t]*include[ \t]*\(["<][^">]*[">]\).*/\1/p' "$1"; }

check_engine_file() { # PATH below src/gbt
  folder=${1%/*}
  [ "$folder" = "$1" ] && folder=root
  if [ -z "$(uses "$folder")" ]; then
    complain "src/gbt/$1: the folder $folder has no rule in tools/check-arrows.sh"
    return
  fi
  for name in $(includes_of "$engine/$1"); do
    case "$name" in
      \"*) ;;
      *) continue ;;
    esac
    name=$(echo "$name" | tr -d '"')
    case "$name" in ../*) target=${name#../} ;; */*) target=$name ;; *) target=$folder/$name ;; esac
    case "$target" in */*) into=${target%/*} ;; *) into=root; target=root/$target ;; esac
    case " $(uses "$folder") " in *" $into "* | *" $target "*) continue ;; esac
    excepted "$1" "$target" || complain "src/gbt/$1 includes $target: $folder may use $(uses "$folder") only"
  done
}

check_wing_file() { # PATH below src/cuda
  wing=${1%/*}
  if [ "$wing" = "$1" ] || [ -z "$(wing_uses "$wing")" ]; then
    complain "src/cuda/$1: the folder has no rule in tools/check-arrows.sh"
    return
  fi
  for name in $(includes_of "$root/src/cuda/$1"); do
    case "$name" in \<* | '"simt.h"') continue ;; esac
    # the path below src: a folder and the ".." that leaves it go together
    into=$(echo "cuda/$wing/$name" | tr -d '"' | sed -e ':again' -e 's|[^/.][^/]*/\.\./||' -e 'tagain')
    case " $(echo $(wing_uses "$wing")) " in
      *" ${into%/*} "* | *" $into "*) ;;
      *) complain "src/cuda/$1 includes $into: $wing may use $(wing_uses "$wing") only" ;;
    esac
  done
}

# target_of FILE INCLUDED: the included file, both from src/gbt
target_of() {
  case "$2" in
    ../*) echo "${2#../}" ;;
    */*) echo "$2" ;;
    *) case "$1" in */*) echo "${1%/*}/$2" ;; *) echo "$2" ;; esac ;;
  esac
}

# Whatever gbt.h reaches is public.
check_public() {
  [ -e "$engine/gbt.h" ] || return 0
  reached=" gbt.h "
  left=gbt.h
  while [ -n "$left" ]; do
    file=${left%% *}
    left=${left#"$file"}
    left=${left# }
    case " $(echo $public) " in *" $file "*) ;; *) complain "gbt.h reaches $file, which is not public" ;; esac
    [ -e "$engine/$file" ] || continue
    case "$file" in *.def) continue ;; esac # a table includes formulas, for those who ask
    for name in $(includes_of "$engine/$file" | grep '^"' | tr -d '"'); do
      target=$(target_of "$file" "$name")
      case "$reached" in *" $target "*) continue ;; esac
      reached="$reached$target "
      left="$left${left:+ }$target"
    done
  done
}

is_r_header() {
  case "$1" in [\<\"]R.h*|[\<\"]R_ext/*|[\<\"]R[imdv]*.h*) return 0 ;; esac # Rinternals, Rmath, Rdefines, Rversion
  return 1
}
is_cuda_header() {
  case "$1" in [\<\"]cuda*|[\<\"]cub/*|[\<\"]thrust/*|[\<\"]nccl.h*|[\<\"]nv*) return 0 ;; esac
  return 1
}

check_foreign() { # PATH below src
  for name in $(includes_of "$1"); do
    short=${1#"$root"/}
    if is_r_header "$name"; then
      case "$short" in src/r_*) ;; *) complain "$short includes $name: only src/r_* may include headers of R" ;; esac
    fi
    if is_cuda_header "$name"; then
      case "$short" in src/cuda/*) ;; *) complain "$short includes $name: headers of CUDA are for src/cuda" ;; esac
    fi
    case "$short $name" in
      "src/r_ranks.c \"mpi/mpi.h\"" | "src/mpi/"*" \"mpi"*) ;;
      "src/mpi/"*" \"../gbt/base/"*) ;;
      "src/mpi/"*" \""*) complain "$short includes $name: src/mpi may use src/gbt/base only" ;;
      "src/"*" \"mpi/"*) complain "$short includes $name: src/mpi is for src/r_ranks.c" ;;
      "src/r_"*" \"gbt/gbt.h\"") ;;
      "src/r_"*" \"gbt/"*) complain "$short includes $name: glue includes gbt/gbt.h, the one public header" ;;
    esac
  done
}

check() { # ROOT
  root=$1
  engine=$root/src/gbt
  n=0
  for file in $(cd "$engine" && find . -name '*.[ch]' -o -name '*.def' | sed 's|^\./||' | sort); do
    check_engine_file "$file"
    n=$((n + 1))
  done
  for file in $(find "$root/src/cuda" -name '*.h' -o -name '*.cu' -o -name '*.cuh' 2>/dev/null | sort); do
    file=${file#"$root/src/cuda/"}
    check_wing_file "$file"
    n=$((n + 1))
  done
  for file in $(find "$root/src" -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' | sort); do check_foreign "$file"; done
  check_public
  [ "$n" -gt 0 ] || complain "no files in $engine"
}

self_check() {
  dir=$(mktemp -d)
  trap 'rm -rf "$dir"' EXIT
  fails=0
  # name, file, line that must be found (or "fine" in front when it must pass)
  try() {
    rm -rf "$dir/src"
    mkdir -p "$dir/src/gbt/base"
    mkdir -p "$dir/src/$(dirname "$2")"
    echo '#include <stdint.h>' >"$dir/src/gbt/base/mem.h"
    echo "$3" >"$dir/src/$2"
    got=fine
    (bad=0; check "$dir"; [ "$bad" = 0 ]) >/dev/null 2>&1 || got=found
    if [ "$got" != "$1" ]; then echo "arrows self-check: $2 with '$3' should be $1, is $got"; fails=$((fails + 1)); fi
  }
  try fine gbt/math/gain.h '#include "../base/hd.h"'
  try found gbt/base/x.c '#include "../math/gain.h"'
  try found gbt/math/x.h '#include "../objective/objective.h"'
  try found gbt/objective/x.c '#include "../data/dataset.h"'
  try found gbt/data/x.c '  #  include "../tree/forest.h"'
  try found gbt/tree/x.c '#include "../boost/trainer.h"'
  try found gbt/model/x.c '#include "../boost/metric.h"'
  try found gbt/model/model.c '#include "../data/dataset.h"'
  try fine gbt/model/predict.c '#include "../data/table.h"'
  try fine gbt/model/answer.c '#include "../data/binding.h"'
  try found gbt/backend/x.c '#include "../cpu/cpu.h"'
  try found gbt/boost/x.c '#include "../cpu/cpu.h"'
  try fine gbt/boost/x.c '#include "../cpu/cpu_open.h"'
  try found gbt/base/x.c '#include "../math/fixed.h"'
  try found gbt/boost/x.c '#include "../model/model.h"'
  try found gbt/new/x.c '#include <stdint.h>'
  try found gbt/base/x.c '#include <Rinternals.h>'
  try found gbt/cpu/x.c '#include <cuda_runtime.h>'
  try fine mpi/x.c '#include "../gbt/base/comm.h"'
  try found mpi/x.c '#include "../gbt/boost/trainer.h"'
  try fine r_ranks.c '#include "mpi/mpi.h"'
  try found r_data.c '#include "mpi/mpi.h"'
  try fine cuda/base/x.cu '#include <cuda_runtime.h>'
  try found cuda/x.cu '#include <cuda_runtime.h>'
  try fine cuda/grow/x.cu '#include "../data/dataset.cuh"'
  try fine cuda/grow/x.cu '#include "../../gbt/tree/draw.h"'
  try found cuda/data/x.cu '#include "../grow/backend.cuh"'
  try fine cuda/grow/steps/x.cu '#include "../search/split.cuh"'
  try fine cuda/grow/steps/x.cu '#include "../../../gbt/tree/draw.h"'
  try fine cuda/grow/steps/x.cu '#include "../backend.cuh"'
  try found cuda/grow/steps/x.cu '#include "../batch.cuh"'
  try found cuda/grow/search/x.cu '#include "../steps/ops.cuh"'
  try fine cuda/grow/leaves/x.cu '#include "../gradients/gradient.cuh"'
  try found cuda/grow/leaves/x.cu '#include "../gradients/ops.cuh"'
  try found cuda/grow/new/x.cu '#include "../view.cuh"'
  try found cuda/data/x.cu '#include "../../gbt/tree/draw.h"'
  try found cuda/base/x.cuh '#include "../data/dataset.cuh"'
  try found cuda/predict/x.cu '#include "../data/dataset.cuh"'
  try fine r_x.c '#include <R.h>'
  try found x.c '#include <R_ext/Print.h>'
  try found r_x.c '#include "gbt/tree/forest.h"'
  try fine r_x.c '#include "gbt/gbt.h"'
  try fine gbt/gbt.h '#include "tree/view.h"'
  try found gbt/gbt.h '#include "tree/forest.h"'
  [ "$fails" = 0 ] && echo "arrows self-check: ok"
  return "$fails"
}

if [ "${1:-}" = --self-check ]; then
  self_check
  exit
fi
check "${1:-$(cd "$(dirname "$0")/.." && pwd)}"
[ "$bad" = 0 ] && echo "arrows: $n files, all in order"
[ "$bad" = 0 ]
