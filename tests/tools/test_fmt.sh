#!/bin/sh
# vyre fmt: canonical text to standard output or in place; comments stay; formatting twice changes nothing.
. "$top_srcdir/tests/tools/lib.sh"
cp "$top_srcdir/examples/saxpy.vyre" saxpy.vyre
expect 0 "$VYRE" fmt saxpy.vyre; same out saxpy.vyre; err_is_empty
for program in "$top_srcdir"/examples/*.vyre "$top_srcdir"/examples/*/*.vyre; do
  expect 0 "$VYRE" fmt --check "$program"; err_is_empty; out_is_empty
done
printf 'program a{write b:u32[1];/* kept */b[0]=1+2;// and this\n}' >ugly.vyre
cp ugly.vyre before.vyre
expect 0 "$VYRE" fmt ugly.vyre; out_has 'kept'; out_has 'and this'; out_has '  b[0] = 1 + 2;'; same ugly.vyre before.vyre
cp out pretty.vyre
"$VYRE" fmt - <ugly.vyre >out 2>err || fail 'fmt of standard input'
same out pretty.vyre
expect 1 "$VYRE" fmt --check ugly.vyre; err_has 'ugly.vyre'; out_is_empty; same ugly.vyre before.vyre
expect 1 "$VYRE" fmt --check saxpy.vyre ugly.vyre; err_lacks 'saxpy.vyre'
chmod 600 ugly.vyre
expect 0 "$VYRE" fmt -w ugly.vyre saxpy.vyre; same ugly.vyre pretty.vyre; out_is_empty; err_is_empty
[ "$(stat -c %a ugly.vyre)" = 600 ] || fail 'the mode changed'
expect 0 "$VYRE" fmt --check ugly.vyre
# A file that is right already is not written.
inode=$(stat -c %i saxpy.vyre)
expect 0 "$VYRE" fmt --write saxpy.vyre
[ "$(stat -c %i saxpy.vyre)" = "$inode" ] || fail 'an unchanged file was written'
expect 0 "$VYRE" check ugly.vyre

printf 'program a { b = "open; }' >broken.vyre
cp broken.vyre before.vyre
expect 1 "$VYRE" fmt -w broken.vyre; err_has 'broken.vyre:1'; same broken.vyre before.vyre
expect 1 "$VYRE" fmt broken.vyre; out_is_empty
# What has the words of a program, but is none, has no layout either.
printf 'program a { write b: u32[1]; b[0] = what; }' >broken.vyre
cp broken.vyre before.vyre
expect 1 "$VYRE" fmt broken.vyre; out_is_empty; err_has 'broken.vyre:1:37'; err_has 'V066'
expect 1 "$VYRE" fmt -w broken.vyre saxpy.vyre; err_has 'V066'; same broken.vyre before.vyre
expect 1 "$VYRE" fmt --check broken.vyre; out_is_empty; err_has 'V066'
expect 2 "$VYRE" fmt no/such/file
expect 0 "$VYRE" pack saxpy.vyre -o saxpy.wire
expect 2 "$VYRE" fmt saxpy.wire; err_has 'vyre unpack'; out_is_empty
printf 'program a {\r\n}\r\n' >crlf.vyre
expect 0 "$VYRE" fmt crlf.vyre; grep -q "$(printf '\r')" out && fail 'carriage returns stay'
finish
