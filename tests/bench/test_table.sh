#!/bin/sh
# The table for people is the same as ever, and says no text of others as it stands.
set -u
: "${top_srcdir:?run by make check}" "${top_builddir:?run by make check}"
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
sample=$top_builddir/tests/bench/write_sample

"$sample" table >"$work/table" || exit 1
if ! diff -u "$top_srcdir/tests/bench/table.golden" "$work/table"; then
  echo "FAIL: the table changed. Fix: if that is wanted, put the new one in tests/bench/table.golden."
  exit 1
fi
"$sample" table hostile >"$work/hostile" || exit 1
if LC_ALL=C grep -nP '[\x00-\x08\x0B-\x1F\x7F]|\xE2\x80\xAE|\xFF' "$work/hostile"; then
  echo "FAIL: a text reaches the terminal raw"
  exit 1
fi
exit 0
