#!/bin/sh
# Writes the shaders as one header: arrays of words, spv_NAME. usage: shaders.sh OUTPUT
set -eu
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

shader() { # NAME SOURCE OPTION...
  name=$1 source=$here/$2
  shift 2
  glslangValidator -V --quiet --target-env vulkan1.2 "-I$here" "$@" --vn "spv_$name" -o "$scratch/one.h" "$source" >&2
  sed '/#pragma once/d; s/^const /static const /' "$scratch/one.h" >>"$scratch/all.h"
}

printf '#include <stdint.h>\n' >"$scratch/all.h"
shader saxpy saxpy.comp
shader saxpy_fma saxpy.comp -DFUSED
shader saxpy_emulated saxpy.comp -DFUSED -DEMULATED
shader reduce reduce.comp
shader mandelbrot mandelbrot.comp
shader histogram histogram.comp
shader matmul matmul.comp
shader matmul_fma matmul.comp -DFUSED
shader matmul_emulated matmul.comp -DFUSED -DEMULATED
shader small small.comp
mv "$scratch/all.h" "$1"
