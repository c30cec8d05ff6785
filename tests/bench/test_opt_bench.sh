#!/bin/sh
# opt_bench: kernels are compared, sizes are gone through, padding and wrong results are found, and what is not
# understood is refused. No time is looked at.
. "$top_srcdir/tests/tools/lib.sh"
bench=$top_builddir/bench/opt_bench
kernels=$top_srcdir/bench/kernels

expect 0 "$bench" lint; out_is '0 findings'

expect 0 "$bench" kernels crc32 route --level 0
grep -q '^geometric mean .* 1\.000' out || fail 'the geometric mean of what was not changed is not 1'
test "$(grep -c '^crc32 ' out)" = 2 || fail 'crc32 is not in two tables'
expect 0 "$bench" kernels crc32 --passes dce --directory "$kernels"; err_is_empty

mkdir kernels
cp "$kernels"/*.vyre kernels
sed 's/let p = i \* 3;/let p = i * 3 + (i \& 0);/' "$kernels/luma_histogram.vyre" >kernels/luma_histogram.vyre
sed 's/0xEDB88320/0xEDB88321/' "$kernels/crc32.vyre" >kernels/crc32.vyre
expect 1 "$bench" lint luma_histogram --directory kernels
out_has ': does nothing: i & 0'; out_has 'luma_histogram.vyre, byte '
expect 1 "$bench" kernels crc32 --directory kernels; err_has 'crc32, as written: the results are others'
expect 1 "$bench" kernels crc32 --directory nowhere; err_has 'Fix: '

expect 0 "$bench" scale lets nests --size 10000 --by-pass
out_has 'nests '; out_has ' runs '
test "$(grep -c '^lets ' out)" = 2 || fail 'lets has not two sizes'

expect 2 "$bench"; err_has 'usage: '
for words in fly 'kernels nothing' 'scale nothing' 'scale --fast 3' 'scale --size' 'scale --size 12x' \
  'kernels --level 3'; do
  # shellcheck disable=SC2086
  expect 2 "$bench" $words; out_is_empty
done
expect 2 "$bench" lint nothing; err_has 'there is no kernel nothing. Fix: '
expect 1 "$bench" kernels crc32 --passes nothing; err_has nothing
finish
