#!/bin/sh
# vyre conform: its options, lists, reports and certificates, and plugins that only a process of their own survives.
. "$top_srcdir/tests/tools/lib.sh"
. "$top_srcdir/tests/conform/lib.sh"
template=$(plugin template)

# --- The list: ids are unique, dotted, and begin with their group ---
expect 0 "$VYRE" conform --list; cp out list
awk '{ print $1 }' list | sort | uniq -d >twice
[ ! -s twice ] || fail "twice in the list: $(cat twice)"
awk '$1 !~ /^(static|abi|resource|numeric|random)(\.[a-z0-9_]+)+$/ { print $1 }' list >odd
[ ! -s odd ] || fail "no id of a check: $(cat odd)"
[ "$(wc -l <list)" -ge 100 ] || fail 'checks are missing'
expect 0 "$VYRE" conform --list --json; cp out list.json

# --- The page has the same ---
expect 0 sh "$top_srcdir/tests/conform/table" page.md
command_line='tests/conform/table; commit what it writes'
same page.md "$top_srcdir/docs/backends.md"

# --- Which checks ---
expect 0 "$VYRE" conform "$template" --only static.exports,abi.probe
verdict_is static.exports pass; verdict_is abi.probe pass; out_has 'template passes these checks: 2 passed'
expect 0 "$VYRE" conform "$template" --only abi.time; verdict_is abi.time.waits pass
[ "$(grep -c '^pass' out)" -eq "$(grep -c '^abi\.time\.' list)" ] || fail 'not all of abi.time were run'
expect 2 "$VYRE" conform "$template" --only abi.tim; err_has "no check 'abi.tim'"; err_has 'Fix: '
expect 2 "$VYRE" conform "$template" --only abi,; err_has 'no check'

# --- Wrong usage ---
expect 2 "$VYRE" conform; err_has 'PLUGIN is missing'
expect 2 "$VYRE" conform nowhere/vyre_backend_x.so; err_has 'nowhere'
expect 2 "$VYRE" conform ./vyre_backend_x.so; err_has 'vyre_backend_x.so'
expect 2 "$VYRE" conform "$template" --seconds many; err_has '--seconds many'
expect 2 "$VYRE" conform "$template" --seed -1; err_has '--seed'
expect 2 "$VYRE" conform "$template" --device 9999999999; err_has '--device'
expect 2 "$VYRE" conform "$template" --certificate c.json --only static; err_has 'all checks'; absent c.json
expect 1 "$VYRE" conform "$template" --report nowhere/r.json; err_has 'nowhere'
expect 1 "$VYRE" conform "$template" --only abi.devices --device 7; verdict_is abi.devices fail; out_has 'device 7'

# --- Reports ---
expect 0 "$VYRE" conform "$template" --only static,abi.batch --seed 7 --report r.json; cp out table
expect 0 "$VYRE" conform "$template" --only static --json; cp out json
if command -v python3 >/dev/null; then
  expect 0 python3 - <<'EOF'
import json
listed = json.load(open("list.json"))
assert [row["id"] for row in listed] == [line.split()[0] for line in open("list")]
assert all(row["id"].split(".")[0] == row["group"] and row["what"] for row in listed)
report = json.load(open("r.json"))
assert report["seed"] == 7 and report["conforms"] and not report["whole"]
assert report["plugin"]["name"] == "template" and report["plugin"]["build_id"] and report["plugin"]["version"]
assert [c["id"] for c in report["checks"]] == [l.split()[1] for l in open("table") if l.split()[0] in ("pass", "skip")]
assert all(c["verdict"] in ("pass", "skip") and "ns" in c for c in report["checks"])
assert {c["group"] for c in json.load(open("json"))["checks"]} == {"static"}
EOF
fi

# --- Lists of known failures ---
cp "$fake" vyre_backend_abortsinprobe.so # static.constructors fails, and more
list() { printf '%s\n' "$@" >allow.ini; }
refused() {
  expect 2 "$VYRE" conform "$template" --only static --allow allow.ini
  err_has "allow.ini:$1"
  err_has "$2"
  err_has 'Fix: '
}
list '[expected failure]' 'static.nothing = 2999-01-01 why'; refused 2 "no check 'static.nothing'"
list '[expected failure]' '' '# a remark' 'static.file = 2999-02-29 why'; refused 4 'a day'
list '[expected failure]' 'static.file = soon'; refused 2 'a day'
list '[expected failure]' 'static.file = 2999-01-01x why'; refused 2 'a day'
list '[expected failure]' 'static.file = 2999-01-01'; refused 2 'no reason'
list '[expected failure]' 'static.file = 2020-02-29 why'; refused 2 'until 2020-02-29, and today is'
list 'static.file = 2999-01-01 why'; refused 1 'before a section'
list '[hopes]' 'static.file = 2999-01-01 why'; refused 1 'no section [hopes]'
list '[unsupported]' 'static.file'; refused 2 'no line of a list'
list '[unsupported]' 'static.file = 2999-01-01 a' '[expected failure]' 'static.file = 2999-01-01 b'
refused 4 'stands in line 2'
printf '[unsupported]\nstatic.file = 2999-01-01 a\0b\n' >allow.ini
expect 2 "$VYRE" conform "$template" --only static --allow allow.ini; err_has 'no text'
expect 2 "$VYRE" conform "$template" --only static --allow missing.ini; err_has 'missing.ini'

list '[expected failure]' 'static.file = 2999-01-01 nobody looked'
expect 1 "$VYRE" conform "$template" --only static --allow allow.ini --report r.json
verdict_is static.file passes; out_has 'unexpected pass'; out_has 'nobody looked'; out_has '1 passed against the list'
list '; what is known' '[expected failure]' '  abi.probe = 2999-12-31   it dies, and we know  '
expect 0 "$VYRE" conform vyre_backend_abortsinprobe.so --only abi.probe,static.file --allow allow.ini
verdict_is static.file pass; out_has 'expected failure until 2999-12-31: it dies, and we know'
out_has '1 failed as listed'

# --- Each way to die, at each moment: a verdict, and the other checks go on ---
for where in open query probe; do
  for how in crashes aborts exits corrupts quits; do
    cp "$fake" "vyre_backend_${how}in$where.so"
    expect 1 "$VYRE" conform "vyre_backend_${how}in$where.so" --only static.exports,abi.probe
    verdict_is static.exports pass; verdict_is abi.probe crash; out_has 'while: '; out_has 'VBP-27'
  done
done
expect 1 "$VYRE" conform vyre_backend_exitsinprobe.so --only abi.probe; out_has 'exit status 3 while: probing'
expect 1 "$VYRE" conform vyre_backend_quitsinquery.so --only abi.probe; out_has 'exit status 0 while: asking'
if [ "$VYRE_SANITIZERS" = no ]; then
  cp "$fake" vyre_backend_crashesinopen.so
  expect 1 "$VYRE" conform vyre_backend_crashesinopen.so --only abi.probe
  out_has 'signal 11 (Segmentation fault) while: loading'
fi
cp "$fake" vyre_backend_hangsinprobe.so
expect 1 "$VYRE" conform vyre_backend_hangsinprobe.so --only abi.probe,static.exports --timeout 1
verdict_is abi.probe timeout; verdict_is static.exports pass; out_has 'had not ended after 1 s, while: probing'
left=$(find . -name 'core*' | wc -l)
[ "$left" -eq 0 ] || fail 'core files are left'

# --- Files that are no plugins ---
echo 'no plugin' >vyre_backend_words.so
expect 1 "$VYRE" conform vyre_backend_words.so --only static; verdict_is static.file fail; out_has 'no ELF file'
head -c 3000 "$template" >vyre_backend_short.so
expect 1 "$VYRE" conform vyre_backend_short.so --only static.file; out_has 'cut off'
cp "$template" other.so
expect 1 "$VYRE" conform other.so --only static.file; verdict_is static.file fail; out_has 'found other.so'
{ head -c 18 "$template"; printf '\377'; tail -c +20 "$template"; } >vyre_backend_foreign.so
expect 1 "$VYRE" conform vyre_backend_foreign.so --only static.file; out_has 'it is for machine 255'
mkfifo vyre_backend_pipe.so
expect 2 "$VYRE" conform vyre_backend_pipe.so --only static.file; err_has 'no regular file'
mkdir vyre_backend_directory.so
expect 2 "$VYRE" conform vyre_backend_directory.so --only static.file; err_has 'no regular file'
cp "$template" vyre_backend_renamed.so
expect 1 "$VYRE" conform vyre_backend_renamed.so --only static.descriptor; out_has 'says template'; out_has 'VBP-1'
finish
