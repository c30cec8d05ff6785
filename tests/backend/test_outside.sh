#!/bin/sh
# Plugins from outside, and plugins that only a process of their own survives. test_faults.c has the list of faults.
. "$top_srcdir/tests/tools/lib.sh"
fake=$top_builddir/tests/backend/$objdir/fake.so
mkdir plugins

# has_verdict NAME VERDICT...: its row has one of these.
has_verdict() {
  name=$1
  shift
  for verdict in "$@"; do
    if grep -q "^$name .*: $verdict" out; then return; fi
  done
  fail "$name is none of: $*"
}

# --- A backend is built outside the tree, by the public headers alone ---
mkdir include outside
cp -R "$top_srcdir/libvyre/include/vyre" include/
cp "$top_srcdir/tests/backend/fake_plugin.c" "$top_srcdir/tests/backend/slot_names.h" outside/
if [ "$VYRE_SANITIZERS" = no ]; then
  # shellcheck disable=SC2086
  (cd outside && $CC -std=c17 -D_GNU_SOURCE -Wall -Werror -I../include -fPIC -shared -fvisibility=hidden -Wl,-z,defs \
    fake_plugin.c -o vyre_backend_outside.so) || fail 'it does not compile'
  expect 0 "$VYRE" backends --backend-path outside --backend outside; out_has 'usable, version 1.0'

  # --- One that borrows the entry of its sibling ---
  cp "$fake" plugins/fake.so
  echo 'int nothing;' >leaning.c
  # shellcheck disable=SC2016
  $CC -shared -fPIC leaning.c -o plugins/vyre_backend_leaning.so -Wl,--no-as-needed -Lplugins \
    -l:fake.so '-Wl,-rpath,$ORIGIN' || fail 'it does not link'
  expect 0 "$VYRE" backends --backend-path plugins --all
  has_verdict leaning refused; out_has 'comes from a library that this one depends on'
  rm plugins/*
fi

# --- Each way to die, at each moment: it is told, and the others go on ---
for where in open query probe; do
  for how in crashes aborts exits hangs corrupts quits; do
    cp "$fake" "plugins/vyre_backend_${how}in$where.so"
  done
done
cp "$fake" plugins/vyre_backend_sound.so
cp "$fake" plugins/vyre_backend_absent.so
cp "$fake" plugins/vyre_backend_manydevices.so
echo 'no plugin' >plugins/vyre_backend_words.so
printf '[backends]\nprobe_timeout = 3 s\nenable = ^left_out\n' >vyre.ini
cp "$fake" plugins/vyre_backend_left_out.so
expect 0 "$VYRE" backends --config vyre.ini --backend-path plugins --probe-isolated
for where in open query probe; do
  # A sanitizer ends the process itself, by an exit.
  has_verdict "crashesin$where" 'crashed$' 'exited$'
  has_verdict "abortsin$where" 'crashed$' 'exited$'
  has_verdict "corruptsin$where" 'crashed$' 'exited$'
  has_verdict "exitsin$where" 'exited$'
  has_verdict "quitsin$where" 'exited$'
  has_verdict "hangsin$where" 'hung$'
done
has_verdict sound 'usable, version 1.0'
has_verdict cpu_ref 'usable'
has_verdict absent 'unavailable'
has_verdict words 'refused'
has_verdict left_out 'disabled$'
out_has 'with exit status 3. Fix: '
out_has 'with exit status 0. Fix: '
out_has 'had not answered after 3 s. Fix: '
out_has 'backends.probe_timeout'
out_has 'device 2999: Fake device 2999'
if [ "$VYRE_SANITIZERS" = no ]; then
  has_verdict crashesinprobe 'crashed$'; out_has 'by signal 11 ('
  has_verdict abortsinquery 'crashed$'; out_has 'by signal 6 ('
fi
left=$(find . -name 'core*' | wc -l)
[ "$left" -eq 0 ] || fail 'core files are left'

# --- The same as JSON, and for one alone ---
rm plugins/vyre_backend_*in*.so plugins/vyre_backend_manydevices.so
cp "$fake" plugins/vyre_backend_exitsinprobe.so
expect 0 "$VYRE" backends --config vyre.ini --backend-path plugins --probe-isolated --json; cp out all.json
expect 1 "$VYRE" backends --config vyre.ini --backend-path plugins --probe-isolated --backend exitsinprobe
has_verdict exitsinprobe 'exited$'
expect 0 "$VYRE" backends --config vyre.ini --backend-path plugins --probe-isolated --backend sound
[ "$(grep -c '^[a-z]' out)" -eq 1 ] || fail 'more than one row'
expect 2 "$VYRE" backends --probe-isolated --save-profile p; absent p
if command -v python3 >/dev/null; then
  python3 -c '
import json
rows = {r["name"]: r for r in json.load(open("all.json"))}
assert rows["exitsinprobe"]["verdict"] == "exited" and rows["exitsinprobe"]["status"] == "VYRE_ERR_BROKEN_PLUGIN"
assert "Fix: " in rows["exitsinprobe"]["reason"] and rows["exitsinprobe"]["devices"] == []
assert rows["sound"]["verdict"] == "usable"
assert [d["name"] for d in rows["sound"]["devices"]] == ["Fake device 0", "Fake device 1"]
assert rows["left_out"]["verdict"] == "disabled"
' || fail 'the JSON of isolated rows'
fi

# --- A path that a search path can not name ---
mkdir 'a:b'
cp "$fake" 'a:b/vyre_backend_sound.so'
expect 2 "$VYRE" backends --backend-path 'a:b' --probe-isolated; err_has 'colon'

# --- The same hardware through two backends is said to be ---
rm plugins/*
mkdir plugins/uuids
cp "$fake" plugins/uuids/vyre_backend_alpha.so
cp "$fake" plugins/uuids/vyre_backend_beta.so
expect 0 "$VYRE" backends --backend-path plugins/uuids; out_has 'the same as beta:1'; out_has 'the same as alpha:0'
expect 0 "$VYRE" backends --backend-path plugins/uuids --json
[ "$(grep -c '"beta:1"' out)" -eq 1 ] || fail 'same_as does not name the device'
finish
