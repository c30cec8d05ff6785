#!/bin/sh
# vyre fuse: the example of docs/planning.md, its table of refusals, and what the command says and writes.
. "$top_srcdir/tests/tools/lib.sh"
page=$top_srcdir/docs/planning.md

# --- The example: each block of the page goes to the file that stands before it ---
awk '/^`[a-z]+\.vyre`:$/ { file = substr($0, 2, length($0) - 3) }
     /^`vyre fuse .*` prints$/ { file = "wanted" }
     /^```/ { open = !open; if (!open) file = ""; next }
     open && file != "" { print >file }' "$page"
for file in square.vyre shift.vyre wanted; do [ -s $file ] || fail "the page has no $file"; done
expect 0 "$VYRE" fuse square.vyre shift.vyre; same out wanted; err_is_empty
expect 0 "$VYRE" fmt --check wanted
expect 0 "$VYRE" fuse square.vyre shift.vyre --grid 1; out_has '    barrier;'
grep -q grid_barrier out && fail 'a grid barrier in a grid of one workgroup'

# It does what they do.
run() { expect 0 "$VYRE" run "$@"; }
run square.vyre --backend cpu_ref --in x=iota:200 --len y=200 --out y=@y
run shift.vyre --backend cpu_ref --set by=70 --in y=@y --len z=130 --grid 4 --out z=@z
run wanted --backend cpu_ref --verify --set by=70 --in x=iota:200 --len y=200 --len z=130 --grid 4 \
  --out y=@y2 --out z=@z2
same y y2
same z z2

# --- Where it goes ---
expect 0 "$VYRE" fuse square.vyre shift.vyre -o file; out_is_empty; same file wanted
expect 0 "$VYRE" pack square.vyre -o square.wire
expect 0 "$VYRE" fuse square.wire shift.vyre; same out wanted
expect 0 "$VYRE" fuse square.vyre shift.vyre --shared; out_has '    let i = gid.x;'; out_has '    let i_2 = gid.x;'
expect 0 "$VYRE" fuse square.vyre; out_has 'program square workgroup(64) {'

# --- Refusals: every reason of the table stands on the page, with its fix ---
reasons=$top_srcdir/libvyre/include/vyre/fuse_reasons.def
sed -n 's/^X([A-Z_]*, "\([a-z-]*\)", "\(.*\)",$/| `\1` | \2 | /p' "$reasons" >rows
sed -n 's/^  "\(.*\)")$/\1 |/p' "$reasons" | paste -d '' rows - >table
[ "$(wc -l <table)" -ge 7 ] || fail 'the table has lost its rows'
while IFS= read -r row; do grep -qxF -e "$row" "$page" || fail "docs/planning.md lacks: $row"; done <table

cat >scan.vyre <<'END'
program scan workgroup(4) {
  rw y: f32[];
  y[gid.x] = 1;
  barrier;
  y[gid.x] = y[0];
}
END
expect 1 "$VYRE" fuse square.vyre scan.vyre -o refused; out_is_empty; absent refused
err_has 'scan.vyre'; err_has 'workgroup-geometry'; err_has '[4,1,1]'; err_has '[64,1,1]'; err_has 'Fix: '
expect 2 "$VYRE" fuse; err_has 'is missing'
expect 2 "$VYRE" fuse square.vyre none.vyre; err_has 'none.vyre'
echo 'program wrong { y[0] = 1; }' >wrong.vyre
expect 1 "$VYRE" fuse square.vyre wrong.vyre; err_has 'wrong.vyre:1'
for bad in 0 x 1,2,3,4 4294967296 ''; do expect 2 "$VYRE" fuse square.vyre --grid "$bad"; err_has '--grid'; done
expect 2 "$VYRE" fuse square.vyre -o ''; err_has '--output names no file'

# --- A program for a smaller workgroup ---
cat >wide.vyre <<'END'
program wide workgroup(256) {
  rw w: u32[];
  if (gid.x < len(w)) {
    w[gid.x] = 1;
  }
}
END
expect 0 "$VYRE" fuse square.vyre wide.vyre --grid 1; out_has 'workgroup(256)'; err_is_empty
expect 0 "$VYRE" fuse square.vyre square.vyre wide.vyre; out_has 'y[i_a1]'

# --- JSON ---
if command -v python3 >/dev/null; then
  expect 0 "$VYRE" fuse square.vyre shift.vyre --json --grid 2
  python3 -c 'import json, sys
j = json.load(open("out"))
sys.exit(j["files"] != ["square.vyre", "shift.vyre"] or j["grid"] != [2, 1, 1] or j["text"] != open("wanted").read())' ||
    fail 'the JSON of what is fused'
  expect 1 "$VYRE" fuse square.vyre scan.vyre --json
  python3 -c 'import json, sys
j = json.load(open("out"))
sys.exit((j["status"], j["reason"], j["arm"], j["program"], j["own"], j["fused"]) !=
         (1, "workgroup-geometry", 1, "scan.vyre", [4, 1, 1], [64, 1, 1]) or not j["fix"])' || fail 'the JSON of a refusal'
fi
finish
