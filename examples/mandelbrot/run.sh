#!/bin/sh
# Usage: run.sh [WIDTH HEIGHT]. Writes a picture in the PGM format to standard output.
set -eu
here=$(dirname "$0")
width=${1:-320} height=${2:-240}
pixels=$(mktemp)
trap 'rm -f "$pixels"' EXIT
"${VYRE:-vyre}" run "$here/mandelbrot.vyre" --quiet --set width="$width" --set height="$height" \
  --threads "$width,$height" --len pixels=$((width * height)) --out pixels=@"$pixels"
printf 'P5\n%d %d\n255\n' "$width" "$height"
cat "$pixels"
