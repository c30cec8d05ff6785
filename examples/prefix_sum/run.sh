#!/bin/sh
# Usage: run.sh [N]. Sums of N pseudo-random numbers, wrapped to 32 bits, one a line.
set -eu
here=$(dirname "$0")
count=${1:-1000}
"${VYRE:-vyre}" run "$here/prefix_sum.vyre" --quiet --threads "$count" --in x=rand:"$count":7 \
  --len totals=$(((count + 255) / 256)) --len sums="$count" --out sums=- | tr ' ' '\n'
