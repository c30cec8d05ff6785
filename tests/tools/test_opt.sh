#!/bin/sh
# vyre opt: the optimized program, the account of it, the passes; and the level at which programs are compiled.
. "$top_srcdir/tests/tools/lib.sh"
saxpy=$top_srcdir/examples/saxpy.vyre
cat >sums.vyre <<'END'
program sums workgroup(64) {
  read a: u32[];
  write b: u32[];
  let n = (gid.x + 0) * 1;
  if (n < len(b)) {
    b[n] = a[n] + 0 + (1 + 2);
  }
}
END

# --- The program, to wherever it goes ---
expect 0 "$VYRE" opt sums.vyre; out_has 'b[gid.x] = a[gid.x] + 3;'; err_is_empty
cp out wanted
expect 0 "$VYRE" opt sums.vyre -o file; out_is_empty; same file wanted
expect 0 "$VYRE" opt sums.vyre -O2; same out wanted
expect 0 "$VYRE" opt --level 2 sums.vyre; same out wanted
expect 0 "$VYRE" pack sums.vyre -o sums.wire
expect 0 "$VYRE" opt sums.wire; same out wanted
"$VYRE" opt - <sums.vyre >out 2>err || fail 'opt of standard input'
same out wanted
expect 0 "$VYRE" fmt --check wanted
expect 0 "$VYRE" opt wanted; same out wanted
expect 0 "$VYRE" opt sums.vyre -O0; out_has 'a[n] + 0 + 3'
expect 0 "$VYRE" opt sums.vyre --passes const_fold; out_has 'let n = gid.x;'; out_has 'b[n] = a[n] + 3;'
expect 0 "$VYRE" opt sums.vyre --passes ''; out_has 'let n = (gid.x + 0) * 1;'
cat >constant.vyre <<'END'
program constant {
  write b: u32[];
  const n: u32 = 2;
  b[gid.x] = n + 1;
}
END
expect 0 "$VYRE" opt constant.vyre --define n=7; out_has 'b[gid.x] = 8;'

# --- Why ---
expect 0 "$VYRE" opt sums.vyre --explain; same out wanted
err_has 'sums.vyre:4:7: const_fold: add_zero, saves 1'; err_has 'sums.vyre:4:7: const_fold: mul_one'
err_has 'sums.vyre:6:5: const_fold: '
grep -Eq '^const_fold +[1-9]' err || fail 'no row of const_fold'
grep -Eq '^cost +[0-9]+ -> [0-9]+$' err || fail 'no cost'
grep -Eq '^accesses with a check +[0-9]+ of 2 -> [0-9]+ of 2$' err || fail 'no checks'
if grep -q '^loop_fission ' err; then fail 'a pass that did not run has a row'; fi
# Places of what was copied are one line, with their number.
cat >loop.vyre <<'END'
program turns {
  rw b: u32[];
  for (i in 0..4) {
    /* ä */ b[i] = (gid.x + i) * 1;
  }
}
END
expect 0 "$VYRE" opt loop.vyre --passes loop_unroll,const_fold --explain; err_has 'loop.vyre:3:8: loop_unroll: unrolled'
err_has 'loop.vyre:4:13: const_fold: mul_one, 4 times, saves 16'
expect 0 "$VYRE" opt sums.wire --explain; err_has 'sums.wire: const_fold: add_zero'
name=$(printf 'odd\033.vyre')
cp sums.vyre "$name"
expect 0 "$VYRE" opt "$name" --explain; err_has 'odd\x1B.vyre:4:7'

# --- Step by step ---
expect 0 "$VYRE" opt sums.vyre --print-after all; same out wanted; err_has '// after const_fold, round 1'
expect 0 "$VYRE" opt sums.vyre --print-after dce,cse; err_lacks 'after const_fold'
expect 0 "$VYRE" opt sums.vyre --passes const_fold --print-after const_fold
sed 1d err | sed '$d' >step
same step out

# --- The passes ---
expect 0 "$VYRE" opt --list; err_is_empty
for pass in const_fold dce loop_unroll strip_mine; do grep -Eq "^$pass +[A-Z]" out || fail "$pass is not listed"; done
grep -Eq '^strip_mine +Loop +AbiPreserving +- ' out || fail 'strip_mine has a level'
passes=$(grep -c '^X(' "$top_srcdir/libvyre/opt/passes.def")
[ "$(($(wc -l <out) - 2))" -eq "$passes" ] || fail 'not every pass is listed'

# --- JSON ---
if command -v python3 >/dev/null; then
  expect 0 "$VYRE" opt sums.vyre --json; err_is_empty
  python3 - wanted <<'END' || fail 'the JSON of opt'
import json, sys
d = json.load(open("out"))
assert d["file"] == "sums.vyre" and d["text"] == open(sys.argv[1]).read(), d
assert {"pass": "const_fold", "rule": "add_zero", "line": 4, "column": 7, "count": 1, "saved": 1} in d["rewrites"], d
assert d["texts"] == [] and any(p["name"] == "const_fold" and p["changed"] >= 1 for p in d["passes"]), d
s = d["summary"]
assert s["outcome"] == "done" and s["cost"]["after"] < s["cost"]["before"] and s["accesses"]["after"] == 2, s
assert s["checks"]["after"] <= s["checks"]["before"] and s["rounds"] >= 1, s
END
  expect 0 "$VYRE" opt sums.vyre --json --print-after const_fold -o file; same file wanted
  python3 -c 'import json; d = json.load(open("out"))
assert "text" not in d and d["texts"][0]["pass"] == "const_fold"' || fail 'the JSON of texts'
  expect 0 "$VYRE" opt --list --json
  python3 -c 'import json; d = {p["name"]: p for p in json.load(open("out"))}
assert d["dce"]["level"] == 1 and "level" not in d["strip_mine"] and d["dce"]["doc"]' || fail 'the JSON of --list'
  expect 1 "$VYRE" opt --json "$top_srcdir/tests/corpus/text/errors.vyre"
  python3 -c 'import json; d = json.load(open("out")); assert d["status"] == 1 and d["diagnostics"]' ||
    fail 'the JSON of a failure'
fi

# --- What is not understood ---
expect 2 "$VYRE" opt; err_has 'the program is missing'
expect 2 "$VYRE" opt --list sums.vyre; err_has '--list is about no program'
expect 2 "$VYRE" opt sums.vyre -O3; err_has 'wants 0, 1 or 2'
expect 2 "$VYRE" opt sums.vyre --level ''; err_has 'wants 0, 1 or 2'
expect 2 "$VYRE" opt sums.vyre -O1 --passes dce; err_has '--passes stands instead'
expect 2 "$VYRE" opt sums.vyre --passes dce,dcee; err_has 'dcee'; err_has 'vyre opt --list'; out_is_empty
expect 2 "$VYRE" opt sums.vyre --print-after nothing; err_has 'nothing'
expect 2 "$VYRE" opt sums.vyre -o ''; err_has 'names no file'
expect 2 "$VYRE" opt no/such/file
expect 1 "$VYRE" opt "$top_srcdir/tests/corpus/text/errors.vyre"; out_is_empty

# --- Compiling: the call, then the environment, then the file, then 2 ---
mkdir plugins
cp "$top_builddir/plugins/template/$objdir/vyre_backend_template.so" plugins/
template="--target template --backend-path plugins"
for level in 0 1 2; do
  expect 0 "$VYRE" emit sums.vyre --target kernel --opt-level $level; cp out kernel.$level
  # shellcheck disable=SC2086
  expect 0 "$VYRE" emit sums.vyre $template --opt-level $level; cp out blob.$level
done
cmp -s kernel.0 kernel.2 && fail 'the kernel is the same at each level'
cmp -s blob.0 blob.2 && fail 'the blob is the same at each level'
expect 0 "$VYRE" emit sums.vyre --target kernel; same out kernel.2
printf '[optimizer]\nlevel = 0\n' >level.ini
expect 0 "$VYRE" emit sums.vyre --target kernel --config level.ini; same out kernel.0
expect 0 env VYRE_OPT_LEVEL=0 "$VYRE" emit sums.vyre --target kernel; same out kernel.0
expect 0 env VYRE_OPT_LEVEL=0 "$VYRE" emit sums.vyre --target kernel --opt-level 2; same out kernel.2
# shellcheck disable=SC2086
expect 0 "$VYRE" emit sums.vyre $template; same out blob.2
# shellcheck disable=SC2086
expect 0 env VYRE_OPT_LEVEL=0 "$VYRE" emit sums.vyre $template; same out blob.0
# A step limit counts the turns of the loops that are written.
expect 0 "$VYRE" emit sums.vyre --target kernel --steps 5 --opt-level 0; cp out steps.0
expect 0 "$VYRE" emit sums.vyre --target kernel --steps 5 --opt-level 2; same out steps.0
# shellcheck disable=SC2086
expect 0 "$VYRE" emit sums.vyre $template --steps 5 --opt-level 0; cp out blob.steps
# shellcheck disable=SC2086
expect 0 "$VYRE" emit sums.vyre $template --steps 5 --opt-level 2; same out blob.steps
expect 2 "$VYRE" emit sums.vyre --target kernel --opt-level 3; err_has 'wants a number from 0 to 2'
expect 2 "$VYRE" run sums.vyre --opt-level x; err_has '0 to 2'

# --- Running: the oracle's results at each level, prints of what was copied and of what stayed ---
cat >prints.vyre <<'END'
program prints workgroup(1) {
  read a: u32[];
  write b: u32[];
  if (a[0] == 77) {
    print("never {}", a[0]);
  }
  if (false) {
    print("not at all");
  }
  for (i in 0..3) {
    print("turn {} has {}", i, a[i]);
    b[i] = a[i] * 8;
  }
  print("end");
}
END
for level in 0 1 2; do
  run="$VYRE run prints.vyre --backend-path plugins --in a=4,5,6 --len b=3 --out b=- --grid 1 --opt-level $level"
  # shellcheck disable=SC2086
  expect 0 $run --backend template --verify; out_is '32 40 48'
  grep '^\[' err >printed
  # shellcheck disable=SC2086
  expect 0 $run --backend cpu_ref
  grep '^\[' err >wanted_prints
  same printed wanted_prints
done
# Every example, by the oracle's judgement.
cat >verified <<END
#!/bin/sh
exec "$VYRE" "\$@" --backend template --backend-path "$work/plugins" --verify
END
chmod +x verified
for example in saxpy prefix_sum 'mandelbrot 40 30' "text_stats $top_srcdir/LICENSE" "string_hash $top_srcdir/LICENSE"; do
  # shellcheck disable=SC2086
  expect 0 env VYRE="$work/verified" "$top_srcdir/examples/run" $example; err_is_empty
  [ -s out ] || fail 'there is no output'
done
for debug in verify roundtrip print; do
  expect 0 env VYRE_OPT=$debug "$VYRE" run sums.vyre --backend template --backend-path plugins --in a=1,2 --len b=2 \
    --out b=-
  out_is '4 5'
done
err_has 'After const_fold, round 1'; err_has 'program sums'
expect 2 env VYRE_OPT=loud "$VYRE" run sums.vyre --backend template --backend-path plugins --in a=1 --len b=1
finish
