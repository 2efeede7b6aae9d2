#!/bin/sh
# conda-build runs this in the folder of the sources.
set -eu
if [ "${cuda_compiler_version:-None}" != None ]; then
  cuda=--with-cuda="${CUDA_HOME:-${BUILD_PREFIX}}"
else
  cuda=--without-cuda
fi
${R} CMD INSTALL --build --configure-args="$cuda" .
