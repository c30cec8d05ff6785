#!/bin/sh
# The whole kit, over the oracle and the template, or the template alone where tests are short: both conform, and get a
# certificate whose digests are right.
. "$top_srcdir/tests/tools/lib.sh"
. "$top_srcdir/tests/conform/lib.sh"

digest_of() { b2sum -l 256 "$1" | cut -d ' ' -f 1; }

is_short && names=template || names='cpu_ref template'
for name in $names; do
  expect 0 "$VYRE" conform "$(plugin $name)" --seconds 1 --seed 3 --certificate $name.json
  out_has "$name conforms: "; out_has ' 0 failed'; out_has 'seed 3'
  [ "$(grep -c '^pass\|^skip' out)" -eq "$("$VYRE" conform --list | wc -l)" ] || fail 'not every check has a row'
  command -v b2sum >/dev/null || continue
  command_line="the digests of $name.json"
  # The digest of the certificate is that of everything before its own line.
  sed '/^  "digest": /,$d' $name.json >signed
  grep -q "^  \"digest\": \"$(digest_of signed)\"$" $name.json || fail 'the certificate has another digest'
  grep -q "^    \"digest\": \"$(digest_of "$(plugin $name)")\",$" $name.json || fail 'the plugin has another digest'
  grep -q "\"build_id\": \"..*\"" $name.json || fail 'no build id'
  grep -q '"failed": 0,' $name.json || fail 'it failed'
done

# --- One that fails gets none ---
cp "$(plugin template)" vyre_backend_renamed.so
list=$("$VYRE" conform --list | awk '$1 !~ /^static/ { print $1 " = 2999-01-01 not of interest" }')
printf '[unsupported]\n%s\n' "$list" >allow.ini
cp template.json none.json # of an earlier run
expect 1 "$VYRE" conform vyre_backend_renamed.so --seconds 0 --allow allow.ini --certificate none.json --timeout 20
absent none.json
finish
