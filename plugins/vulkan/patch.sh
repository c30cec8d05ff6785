#!/bin/sh
# Words of an assembly as C numbers: patch.sh patch.spvasm >patch.inc. The word that names the assembler is 0, so that
# each version of it gives the same.
set -e
echo "/* Words of $(basename "$1"); made by patch.sh. */"
spirv-as --target-env spv1.3 -o - "$1" | od -A n -v -t x4 -w32 | sed 's/ \([0-9a-f]*\)/0x\1, /g; s/ $//' |
  sed '1s/^\(0x[0-9a-f]*, 0x[0-9a-f]*, \)0x[0-9a-f]*/\10x00000000/'
