#!/bin/sh
# Usage: run.sh [FILE]. Prints the number of lines, then each byte that occurs (decimal) with its count.
set -eu
here=$(dirname "$0")
file=${1:-/usr/share/common-licenses/GPL-3}
# A file called *.npy would be read as an array, so that the bytes come from standard input.
"${VYRE:-vyre}" run "$here/text_stats.vyre" --quiet --grid 8 --in text=@/dev/stdin \
  --len counts=256 --len lines=1 --out lines=- --out counts=- <"$file" |
  awk '$1 == "lines:" { print "lines", $2 }
       $1 == "counts:" { for (i = 2; i <= NF; i++) if ($i) print i - 2, $i }'
