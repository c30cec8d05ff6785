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

# With nothing to show, the places that were searched are told, each with what it has.
mkdir empty other
touch other/readme other/vyre_backend_X.so plugins/vyre_backend_old.so.1 plugins/vyre_backend_broken.la
path=$work/empty:$work/other:$work/missing
expect 1 env VYRE_BACKEND_PATH="$path" "$VYRE" backends; out_is_empty; err_has 'Fix: '
err_has "searched $work/empty (VYRE_BACKEND_PATH): It is empty."
err_has "searched $work/other (VYRE_BACKEND_PATH): No file in it is called vyre_backend_<name>.so; 2 are called otherwise, such as vyre_backend_X.so."
err_has "searched $work/missing (VYRE_BACKEND_PATH): No such file or directory."
err_has 'beside libvyre): It was not searched, because VYRE_BACKEND_PATH stands for every place. Fix: begin that with +'
expect 1 env VYRE_BACKEND_PATH="$work/empty" "$VYRE" backends --all; out_is_empty; err_has 'It is empty.'
err_has 'Fix: install one'
expect 0 "$VYRE" backends --backend-path empty --all; out_has "searched $work/empty (--backend-path): It is empty."
out_has '(beside libvyre): It has '
expect 0 "$VYRE" backends --backend-path plugins --all
out_has "searched $work/plugins (--backend-path): It has 1 plugin; others are not called so, such as vyre_backend_old.so.1."

# Failures as JSON.
expect 1 env VYRE_BACKEND_PATH="$work/empty" "$VYRE" backends --json; cp out none.json; err_has 'no usable backend'
expect 1 "$VYRE" backends --json --backend nonesuch; cp out unknown.json
expect 2 "$VYRE" backends --jsno --json; cp out usage.json
printf '[backends]\nenable = ^cpu_ref\n' >without.ini
expect 0 "$VYRE" backends --json; cp out usable.json
if command -v python3 >/dev/null; then
  python3 -c '
import json
rows = json.load(open("usable.json"))
cpu = [r for r in rows if r["name"] == "cpu_ref"]
assert len(cpu) == 1 and cpu[0]["verdict"] == "usable" and cpu[0]["path"].startswith("/")
device = cpu[0]["devices"][0]
assert "int64" in device["programs"] and device["subgroup_sizes"] == [1, 2, 4, 8, 16, 32]
assert device["max_workgroup_invocations"] >= 1024 and device["max_shared_bytes"] >= 65536
rows = json.load(open("all.json"))
bad = [r for r in rows if r["name"] == "broken"]
assert len(bad) == 1 and bad[0]["verdict"] == "refused" and "Fix" in bad[0]["reason"] and bad[0]["devices"] == []
json.load(open("cpu.profile"))
for name, status, code in [("none", 1, "FAILED"), ("unknown", 1, "FAILED"), ("usage", 2, "BAD_INPUT")]:
    f = json.load(open(name + ".json"))
    assert (f["status"], f["code"], f["diagnostics"]) == (status, code, []), f
    assert f["message"] and f["fix"] and "where" in f, f
' || fail 'the JSON of backends'
fi
finish
