#!/bin/sh
# vyre backends: what can be used, and exactly why the rest can not.
. "$top_srcdir/tests/tools/lib.sh"
expect 0 "$VYRE" backends; out_has 'cpu_ref'; out_has 'usable'; out_has 'subgroups'; err_is_empty
expect 0 "$VYRE" backends --backend cpu_ref; out_has 'cpu_ref'
expect 1 "$VYRE" backends --backend nonesuch; out_is_empty; err_has 'nonesuch'
mkdir plugins
echo 'no plugin' >plugins/vyre_backend_broken.so
expect 0 "$VYRE" backends --backend-path plugins; out_has 'cpu_ref'
grep -q broken out && fail 'a plugin that can not be used is shown without --all'
expect 0 "$VYRE" backends --backend-path plugins --all; out_has 'vyre_backend_broken.so'; out_has 'refused'
expect 0 "$VYRE" backends --backend-path plugins --all --json; cp out all.json
expect 1 "$VYRE" backends --backend-path plugins --all --backend broken; out_has 'refused'
odd=$(printf 'odd\033[31m\007')
mkdir "$odd"
echo 'no plugin' >"$odd/vyre_backend_broken.so"
expect 0 "$VYRE" backends --backend-path "$odd" --all; out_has 'odd\x1B[31m\x07/vyre_backend_broken.so'
LC_ALL=C grep -q '[[:cntrl:]]' out && fail 'a control character reaches the terminal'
expect 2 "$VYRE" check "$odd"; LC_ALL=C grep -q '[[:cntrl:]]' err && fail 'a control character reaches the terminal'
expect 0 "$VYRE" backends --save-profile cpu.profile; out_is_empty; grep -q '"cpu_ref' cpu.profile || fail 'no profile'
expect 1 "$VYRE" backends --save-profile no/such/file
expect 1 "$VYRE" backends --backend nonesuch --save-profile never; absent never
printf '[backends]\nenable = ^cpu_ref\n' >without.ini
expect 0 "$VYRE" backends --json; cp out usable.json
if command -v python3 >/dev/null; then
  python3 -c '
import json
rows = json.load(open("usable.json"))
cpu = [r for r in rows if r["name"] == "cpu_ref"]
assert len(cpu) == 1 and cpu[0]["verdict"] == "usable" and cpu[0]["path"].startswith("/")
device = cpu[0]["devices"][0]
assert "int64" in device["programs"] and device["subgroup_sizes"] == ["1", "2", "4", "8", "16", "32"]
assert device["max_workgroup_invocations"] >= 1024 and device["max_shared_bytes"] >= 65536
rows = json.load(open("all.json"))
bad = [r for r in rows if r["name"] == "broken"]
assert len(bad) == 1 and bad[0]["verdict"] == "refused" and "Fix" in bad[0]["reason"] and bad[0]["devices"] == []
json.load(open("cpu.profile"))
' || fail 'the JSON of backends'
fi
finish
