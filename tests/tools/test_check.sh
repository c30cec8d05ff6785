#!/bin/sh
# vyre check: silent for what is right, exact about what is wrong, for any bytes.
. "$top_srcdir/tests/tools/lib.sh"
saxpy=$top_srcdir/examples/saxpy.vyre
expect 0 "$VYRE" check "$saxpy"; out_is_empty; err_is_empty
expect 0 "$VYRE" check "$top_srcdir"/examples/*/*.vyre; out_is_empty; err_is_empty

cat >wrong.vyre <<'END'
program wrong {
  write b: u32[4];
  b[0] = unknown;
  b[1] = 1.5;
}
END
expect 1 "$VYRE" check wrong.vyre; out_is_empty
err_has 'wrong.vyre:3:10: error'; err_has 'b[0] = unknown;'; err_has '^'; err_has 'Fix: '; err_has 'wrong.vyre:4:'
expect 1 "$VYRE" check "$saxpy" wrong.vyre; err_has 'wrong.vyre:3'
expect 2 "$VYRE" check wrong.vyre no/such/file; err_has 'wrong.vyre:3'; err_has 'no/such/file'
expect 2 "$VYRE" check .; err_has '.'
"$VYRE" check - <"$saxpy" >out 2>err || fail 'check of standard input'
"$VYRE" check - <wrong.vyre >out 2>err && fail 'check of standard input'
err_has 'standard input:3:10'

# Bytes that are no program.
: >empty.vyre
expect 1 "$VYRE" check empty.vyre
printf 'program a { // \000\n}' >nul.vyre
expect 1 "$VYRE" check nul.vyre; err_has 'nul.vyre:1:'
printf 'program a { // \377\n}' >latin.vyre
expect 1 "$VYRE" check latin.vyre; err_has 'latin.vyre:1:'
printf '\357\273\277program a {\r\n}\r\n' >crlf.vyre
expect 0 "$VYRE" check crlf.vyre; err_is_empty
printf 'program a { }' >no_line_end.vyre
expect 0 "$VYRE" check no_line_end.vyre
head -c 100000 /dev/urandom >random.vyre
expect 1 "$VYRE" check random.vyre
head -c 300000 /dev/zero >zero.vyre
expect 1 "$VYRE" check zero.vyre
printf 'VIR0' >short.wire
expect 2 "$VYRE" check short.wire
head -c 67108865 /dev/zero | tr '\000' ' ' >large.vyre
expect 1 "$VYRE" check large.vyre; err_has '67108864'

# Warnings, which --quiet drops, and constants from outside.
cat >warning.vyre <<'END'
program warning { rw b: u32[1]; let c = b[0] == 1 && atomic_add(b[0], 1) == 0; b[0] = u32(c); }
END
expect 0 "$VYRE" check warning.vyre; err_has 'warning W002'
expect 0 "$VYRE" check -q warning.vyre; err_is_empty

# A budget that a run will ask for is noted.
printf 'program sines { rw b: f32[]; b[gid.x] = sin(b[gid.x]); }\n' >sines.vyre
expect 0 "$VYRE" check sines.vyre; out_is_empty; err_has 'note: sines.vyre: it uses exp, sin, log or the like'; err_has 'ulp(N)'
expect 0 "$VYRE" check -q sines.vyre; err_is_empty
sed 's/sines/sines ulp(1)/' sines.vyre >budget.vyre
expect 0 "$VYRE" check budget.vyre; err_is_empty
expect 0 "$VYRE" check --json budget.vyre; cp out budget.json
cat >define.vyre <<'END'
program define { const N: u32 = 3; write b: u32[4]; b[N] = 1; }
END
expect 0 "$VYRE" check define.vyre
expect 1 "$VYRE" check define.vyre --define N=4; err_has 'V036'
expect 2 "$VYRE" check define.vyre --define M=5; err_has 'M'

# Against the profile of a device that need not be here.
expect 0 "$VYRE" backends --backend cpu_ref --save-profile here.profile
expect 0 "$VYRE" check --profile here.profile "$saxpy"; out_is_empty; err_is_empty
expect 0 "$VYRE" check --profile here.profile sines.vyre; err_has 'note: sines.vyre'
tr '\n' ' ' <here.profile | sed -e 's/"profile": "[^"]*"/"profile": "small:1"/' -e 's/"fma", *//' >small.profile
expect 1 "$VYRE" check --profile small.profile "$saxpy"; out_is_empty; err_has 'device small:1 lacks the capability fma'
expect 0 "$VYRE" check --profile small.profile define.vyre
expect 1 "$VYRE" check --profile small.profile --json "$saxpy" define.vyre wrong.vyre; cp out small.json
expect 2 "$VYRE" check --profile no/such/file "$saxpy"; err_has 'no/such/file'
expect 2 "$VYRE" check --profile "$saxpy" "$saxpy"; err_has 'saxpy.vyre: line 1 is no JSON'; err_has 'Fix: '
expect 2 "$VYRE" check --profile . "$saxpy"
expect 2 "$VYRE" check --profile /dev/zero "$saxpy"; err_has 'more than 1048576 bytes'

# JSON.
expect 1 "$VYRE" check --json "$saxpy" wrong.vyre
expect 0 "$VYRE" check --json "$saxpy"; cp out saxpy.json
expect 0 "$VYRE" check --json warning.vyre; cp out warning.json
expect 1 "$VYRE" check --json wrong.vyre; cp out wrong.json
printf 'program a { // \377\n}' >"$(printf 'odd\377"\\\n.vyre')"
expect 1 "$VYRE" check --json odd*; cp out odd.json
expect 2 "$VYRE" check --json no/such/file "$saxpy" short.wire; cp out files.json
if command -v python3 >/dev/null; then
  python3 -c '
import json
missing, good, short = json.load(open("files.json"))
assert missing["where"] == "no/such/file" and missing["status"] == 2 and missing["code"] == "BAD_INPUT"
assert missing["message"].startswith("No such file") and missing["fix"] and not missing["valid"]
assert good["valid"] and "message" not in good and "status" not in good
assert short["code"] == "VYRE_ERR_INVALID_WIRE" and short["status"] == 2
unfit, fit, wrong = json.load(open("small.json"))
assert unfit["valid"] and not unfit["fits"] and unfit["code"] == "VYRE_ERR_UNSUPPORTED" and "fma" in unfit["message"]
assert fit["valid"] and fit["fits"] and "message" not in fit
assert not wrong["valid"] and "fits" not in wrong
[p] = json.load(open("budget.json"))
assert p["program"]["needs"] == ["transcendental"] and p["program"]["ulp"] == 1
[p] = json.load(open("saxpy.json"))
assert p["program"]["needs"] == ["fma"]
assert p["valid"] and p["errors"] == 0 and p["diagnostics"] == []
q = p["program"]
assert q["name"] == "saxpy" and q["workgroup"] == [256, 1, 1] and len(q["fingerprint"]) == 64
assert q["params"] == [{"name": "a", "type": "f32"}]
assert q["buffers"] == [{"name": "x", "access": "read", "type": "f32"}, {"name": "y", "access": "rw", "type": "f32"}]
[p] = json.load(open("wrong.json"))
assert not p["valid"] and p["errors"] == 2 and "program" not in p
assert p["code"] == "VYRE_ERR_INVALID_PROGRAM" and p["where"] == "wrong.vyre:3:10" and p["fix"]
d = p["diagnostics"][0]
assert d["severity"] == "error" and d["line"] == 3 and d["column"] == 10 and d["fix"] and d["code"][0] in "VS"
[p] = json.load(open("warning.json"))
assert p["valid"] and p["warnings"] >= 1 and "W002" in [d["code"] for d in p["diagnostics"]]
[p] = json.load(open("odd.json"))
assert p["file"] == "odd\ufffd\"\\\n.vyre", p["file"]
' || fail 'the JSON of check'
fi
finish
