#!/bin/sh
# Usage: run.sh [FILE]. Prints each distinct word of FILE, in lower case, behind its FNV-1a hash (decimal).
set -eu
here=$(dirname "$0")
file=${1:-/usr/share/common-licenses/GPL-3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
LC_ALL=C
export LC_ALL

tr -cs A-Za-z '\n' <"$file" | tr A-Z a-z | sed '/^$/d' | sort -u >"$work/words"
tr -d '\n' <"$work/words" >"$work/text"
count=$(wc -l <"$work/words")

# Where each word starts, and where the last one ends, as 32-bit little endian numbers.
printf '%b' "$(awk '
  function put(n, k) { for (k = 0; k < 4; k++) { printf "\\0%03o", n % 256; n = int(n / 256) } }
  { put(at); at += length($0) }
  END { put(at) }' "$work/words")" >"$work/starts"

"${VYRE:-vyre}" run "$here/string_hash.vyre" --quiet --in text=@"$work/text" --in starts=@"$work/starts" \
  --len hashes="$count" --out hashes=- | tr ' ' '\n' | paste -d ' ' - "$work/words"
