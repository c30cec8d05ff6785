#!/bin/sh
# docs/backends.md: its tutorial is run as it stands and prints what it says, it names every record and member of the
# ABI, its policies are those that messages cite, and the tests that it names are there.
. "$top_srcdir/tests/tools/lib.sh"
skip_if_short
page=$top_srcdir/docs/backends.md

# --- Every record of the golden layout and every member of it stands on the page, as code ---
named() {
  grep -v '^cp \|^sed ' "$1" | grep -o '`[a-z_0-9]*`' | tr -d '`' | sort -u
}
# unnamed PAGE: what it lacks.
unnamed() {
  named "$1" >names
  awk '{ print $1 }' "$top_srcdir/tests/backend/abi_layout.golden" | grep -vx 'size\|zero\|reserved' | sort -u |
    comm -23 - names
}
command_line='names of the ABI'
for name in timeline_wait vyre_late max_persistent; do
  sed "s/\`$name\`//g" "$page" >poorer
  [ "$(unnamed poorer)" = "$name" ] || fail "the lack of $name is not found"
done
[ -z "$(unnamed "$page")" ] || fail "the page lacks $(unnamed "$page" | tr '\n' ' ')"

# --- Policies: numbered without gaps; cited ones are there, and so are the tests of each ---
command_line='policies'
grep '^| VBP-[0-9]* |' "$page" >policies
awk '{ if ($2 != "VBP-" NR) print $2 }' policies >odd
[ -s policies ] && [ ! -s odd ] || fail "policies are not numbered from 1: $(cat odd)"
grep -oh 'VBP-[0-9]*' "$page" "$top_srcdir"/libvyre/backend/*.c | sort -u >cited
while read -r policy; do
  grep -q "^| $policy |" policies || fail "there is no $policy"
done <cited
cat "$top_srcdir"/tests/backend/*.[ch] >all_tests
awk -F ' [|] ' '{ print $NF }' policies | grep -o '[a-z]*_[a-z_]*\(\.sh\)*\|"[a-z]*"' | sort -u >tests_named
while read -r name; do
  case $name in
    null_) ;; # each slot's
    test_defects.sh) [ -e "$top_srcdir/tests/conform/$name" ] || fail "no tests/conform/$name" ;;
    test_*)
      [ -e "$top_srcdir/tests/backend/${name%.sh}.c" ] || [ -e "$top_srcdir/tests/backend/$name" ] || fail "no $name" ;;
    *.sh) [ -e "$top_srcdir/tests/house/$name" ] || fail "no tests/house/$name" ;;
    *) grep -qF -e "$name" all_tests || fail "no test has $name" ;;
  esac
done <tests_named

# --- The tutorial ---
command -v pkg-config >/dev/null || { [ "$failures" -eq 0 ] || exit 1; echo 'skipped: there is no pkg-config'; exit 77; }

# Each block of commands becomes a part of one script, with its output in a file; what it prints, a file of its own.
mkdir bin said
awk '/^## 2\. /{ exit }
  /^```sh$/ { block++; into = "tutorial"; print "block=" block "\n{" >into; next }
  /^```text$/ { into = "said/" block; next }
  /^```$/ { if (into == "tutorial") print "} >\"$said/" block ".out\" 2>&1 </dev/null" >into; into = ""; next }
  into != "" { print >into }' "$page"

# says BLOCK: each line of what is said stands in the output, in this order; ... is anything.
says() {
  awk 'NR == FNR { wanted[++count] = $0; next }
    next_one < count {
      parts = split(wanted[next_one + 1], part, /\.\.\./)
      at = 1
      for (i = 1; i <= parts; i++) {
        found = index(substr($0, at), part[i])
        if (found == 0) next
        at += found - 1 + length(part[i])
      }
      next_one++
    }
    END { if (next_one < count) { print "lacks: " wanted[next_one + 1]; exit 1 } }' "said/$1" "said/$1.out"
}
printf 'a...c\nd\n' >said/sample
printf 'a b c\nd\n' >said/sample.out
says sample >rest || fail 'what is said is not found'
printf 'd\na b c\n' >said/sample.out
! says sample >rest || fail 'what is said otherwise is found'
rm said/sample said/sample.out

# What a reader has: a checkout, vyre and its headers.
mkdir -p source/plugins source/examples
cp -R "$top_srcdir/plugins/template" source/plugins/
cp "$top_srcdir"/examples/*.vyre source/examples/
chmod -R u+w source
printf 'Name: vyre\nDescription: of this build\nVersion: 0\nCflags: -I%s\n' "$top_srcdir/libvyre/include" >bin/vyre.pc
printf '#!/bin/sh\nexec "%s" "$@"\n' "$VYRE" >bin/vyre
printf '#!/bin/sh\nexec %s "$@"\n' "$CC" >bin/cc
chmod +x bin/vyre bin/cc
command_line='the tutorial'
VYRE_SOURCE=$work/source PKG_CONFIG_PATH=$work/bin PATH=$work/bin:$PATH said=$work/said sh -e tutorial >out 2>err
status=$?
blocks=$(grep -c '^block=' tutorial)
if [ "$status" -ne 0 ]; then
  last=$(find said -name '*.out' | wc -l)
  cat "said/$last.out"
  fail "block $last of $blocks ends with $status"
fi
[ "$blocks" -ge 10 ] || fail "there are $blocks blocks of commands"
block=0
while [ "$status" -eq 0 ] && [ "$block" -lt "$blocks" ]; do
  block=$((block + 1))
  if [ -f "said/$block" ] && ! says "$block" >rest; then
    cat "said/$block.out"
    fail "block $block: $(cat rest)"
  fi
done
finish
