#!/bin/sh
# Every example gives its expected output; the figures are also computed by other tools, and on other input.
. "$top_srcdir/tests/tools/lib.sh"
examples=$top_srcdir/examples
export VYRE
expect 2 "$examples/run"; err_has saxpy
expect 2 "$examples/run" nonesuch
expect 0 "$examples/run" saxpy; same out "$examples/saxpy/expected"
expect 0 "$top_builddir/examples/saxpy_c/saxpy"; same out "$examples/saxpy_c/expected"

# Counts of bytes and lines, by od and wc.
count() {
  echo "lines $(wc -l <"$1")"
  od -An -v -tu1 "$1" | tr -s ' ' '\n' | sed '/^$/d' | sort -n | uniq -c | awk '{ print $2, $1 }'
}
# FNV-1a of words, by awk, whose numbers are exact below 2^53: the prime is 2^24 + 403, and of what is multiplied by
# 2^24 only the last byte counts.
hash() {
  tr -cs A-Za-z '\n' <"$1" | tr A-Z a-z | sed '/^$/d' | LC_ALL=C sort -u | awk '
    function xor(a, b,   bit, result) {
      for (bit = 1; bit < 256; bit *= 2) if (int(a / bit) % 2 != int(b / bit) % 2) result += bit
      return result + 0
    }
    BEGIN { for (i = 0; i < 26; i++) code[substr("abcdefghijklmnopqrstuvwxyz", i + 1, 1)] = 97 + i }
    {
      hash = 2166136261
      for (i = 1; i <= length($0); i++) {
        last = hash % 256
        changed = xor(last, code[substr($0, i, 1)])
        hash = ((hash - last + changed) * 403 + changed * 16777216) % 4294967296
      }
      printf "%.0f %s\n", hash, $0
    }'
}
# The checksum of |input| tells whether the stored answer is the one for it.
known=3972dc9744f6499f0f9b2dbf76696f2ae7ad8af9b23dde66d6af86c9dfb36986
license=/usr/share/common-licenses/GPL-3
printf 'one\ntwo\000three\377\n\nOne' >small
head -c 5000 /dev/zero >zeros
: >empty
for file in small zeros empty "$license"; do
  [ -r "$file" ] || continue
  expect 0 "$examples/run" text_stats "$file"
  count "$file" >counted; same out counted
done
printf 'the quick brown fox, The end' >words
for file in words "$license"; do
  [ -r "$file" ] || continue
  expect 0 "$examples/run" string_hash "$file"
  hash "$file" >hashed; same out hashed
done
if [ -r "$license" ] && [ "$(sha256sum <"$license" | cut -d ' ' -f 1)" = $known ]; then
  expect 0 "$examples/run" text_stats; same out "$examples/text_stats/expected"
  expect 0 "$examples/run" string_hash
  [ "$(sha256sum <out | cut -d ' ' -f 1)" = "$(cat "$examples/string_hash/expected.sha256")" ] || fail 'the checksum of the hashes'
fi
[ "$(cat "$examples/text_stats/expected.sha256")" = $known ] || fail 'the stored checksum of the licence'

expect 0 "$examples/run" mandelbrot
[ "$(sha256sum <out | cut -d ' ' -f 1)" = "$(cat "$examples/mandelbrot/expected.sha256")" ] || fail 'the checksum of the picture'
expect 0 "$examples/run" mandelbrot 3 2
[ "$(head -n 3 out)" = 'P5
3 2
255' ] || fail 'the header of the picture'
[ "$(wc -c <out)" -eq 17 ] || fail 'the size of the picture'

# Running sums, by awk on the same numbers.
expect 0 "$examples/run" prefix_sum; same out "$examples/prefix_sum/expected"
printf 'program copy { read a: u32[]; write b: u32[]; b[gid.x] = a[gid.x]; }\n' >copy.vyre
for n in 1 255 256 257 1000; do
  expect 0 "$VYRE" run --backend cpu_ref copy.vyre --in a=rand:$n:7 --len b=$n --out b=-
  tr ' ' '\n' <out | awk '{ sum = (sum + $1) % 4294967296; printf "%.0f\n", sum }' >summed
  expect 0 "$examples/run" prefix_sum $n; same out summed
done
finish
