#!/bin/sh
# vyre run: every source and destination, parameters, extents, and what is refused with which exit status.
. "$top_srcdir/tests/tools/lib.sh"
saxpy=$top_srcdir/examples/saxpy.vyre
run="$VYRE run --backend cpu_ref"
saxpy_args="--set a=2 --in x=1,2,3,4 --in y=10,20,30,40"

# The promise of the first page; which backend `auto` finds is the machine's affair.
expect 0 "$VYRE" run "$saxpy" --set a=2 --in x=1,2,3,4 --in y=10,20,30,40 --out y=-
out_is '12 24 36 48'
err_has 'auto took the backend '
expect 0 env VYRE_BACKEND_ORDER=cpu_ref "$VYRE" run "$saxpy" --set a=2 --in x=1,2,3,4 --in y=10,20,30,40 --out y=-
out_is '12 24 36 48'
err_has 'auto took the backend cpu_ref'
expect 0 $run "$saxpy" $saxpy_args --out y=-; out_is '12 24 36 48'; err_is_empty
"$VYRE" run - --set a=2 --in x=1 --in y=1 --out y=- --quiet <"$saxpy" >out 2>err; out_is 3
expect 0 "$VYRE" pack "$saxpy" -o saxpy.wire
expect 0 $run saxpy.wire $saxpy_args --out y=-; out_is '12 24 36 48'
expect 0 $run --out=y=- --set=a=2 --in=x=1 --in=y=1 -- "$saxpy"; out_is 3
expect 2 $run -- "$saxpy" --verify; err_has "'--verify' is one operand too many"
expect 0 $run "$saxpy" $saxpy_args; out_is_empty; err_has 'no --out is given'
expect 0 $run "$saxpy" $saxpy_args --quiet; err_is_empty

# One program a type, that copies: sources and destinations of each.
copy() { # TYPE
  value=$1
  printf 'program copy workgroup(64) { read a: %s[]; write b: %s[]; if (gid.x < len(b)) { b[gid.x] = a[gid.x]; } }\n' \
    "$1" "$1" >copy_"$1".vyre
}
echo_values() { # TYPE SRC N WANTED
  expect 0 $run copy_"$1".vyre --in a="$2" --len b="$3" --out b=- --quiet
  out_is "$4"
}
for type in bool u8 u16 u32 u64 i8 i16 i32 i64 f16 bf16 f32 f64 u32x2 u32x4 i32x2 i32x4 f32x2 f32x4; do
  copy $type
  expect 0 $run copy_$type.vyre --in a=zeros:2 --len b=2 --out b=@zeros.raw --quiet
  [ -s zeros.raw ] && [ -z "$(tr -d '\000' <zeros.raw)" ] || fail "zeros of $type"
  expect 0 $run copy_$type.vyre --in a=rand:5:9 --len b=5 --out b=@random.raw --quiet
  expect 0 $run copy_$type.vyre --in a=@random.raw --len b=5 --out b=@again.raw --quiet; same random.raw again.raw
  if [ $type = bf16 ]; then
    expect 2 $run copy_$type.vyre --in a=zeros:1 --len b=1 --out b=@no.npy; err_has 'bf16'; absent no.npy
  else
    expect 0 $run copy_$type.vyre --in a=@random.raw --len b=5 --out b=@random.npy --quiet
    expect 0 $run copy_$type.vyre --in a=@random.npy --len b=5 --out b=@again.raw --quiet; same random.raw again.raw
  fi
  # What is printed reads back as the same bytes.
  expect 0 $run copy_$type.vyre --in a=@random.raw --len b=5 --out b=- --quiet
  expect 0 $run copy_$type.vyre --in a="$(tr ' ' , <out)" --len b=5 --out b=@again.raw --quiet; same random.raw again.raw
done
echo_values bool 0,1,true,false 4 '0 1 1 0'
echo_values bool iota:4 4 '0 1 1 1'
echo_values u8 0,255,0x10 3 '0 255 16'
echo_values u8 iota:258 258 "$(i=0; s=; while [ $i -lt 258 ]; do s="$s$((i % 256)) "; i=$((i + 1)); done; echo ${s% })"
echo_values i8 -128,127,-1 3 '-128 127 -1'
echo_values i8 iota:130 130 "$(i=0; s=; while [ $i -lt 128 ]; do s="$s$i "; i=$((i + 1)); done; echo "$s-128 -127")"
echo_values u32 '4294967295, 0x10 ,7u32' 3 '4294967295 16 7'
echo_values u64 18446744073709551615,1 2 '18446744073709551615 1'
echo_values i64 -9223372036854775808 1 '-9223372036854775808'
echo_values f32 1.5,-0.0,inf,-inf,nan,1e10,0x1p-149,3 8 '1.5 -0.0 inf -inf nan 10000000000 1e-45 3'
echo_values f64 0.1,1e308 2 '0.1 1e+308'
echo_values f16 0.1,65504 2 '0.1 65500'
echo_values bf16 0.1,256 2 '0.1 256'
echo_values f32x2 1,2,3,4 2 '1 2 3 4'
echo_values u32x4 iota:1 1 '0 1 2 3'
# SplitMix64 started with 0 begins with 0xE220A8397B1DCDAF 0x6E789E6AA1B965F4 0x06C45D188009454F.
echo_values u64 rand:3:0 3 '16294208416658607535 7960286522194355700 487617019471545679'
echo_values u32 rand:3:0 3 '2065550767 2713282036 2148091215'
echo_values u8 rand:3:0 3 '175 244 79'
echo_values i8 rand:3:0 3 '-81 -12 79'
echo_values bool rand:3:0 3 '1 0 1'
echo_values f64 rand:1:0 1 '0.8833108082136426'
echo_values f32 rand:1:0 1 '0.8833108'
echo_values u64 rand:1:1234567 1 '6457827717110365317'
echo_values u64 rand:1:0x12D687 1 '6457827717110365317'
echo_values u32 zeros:0 0 ''
printf '' >empty.raw
echo_values u32 @empty.raw 0 ''

# Several outputs, rw buffers, --len.
cat >two.vyre <<'END'
program two workgroup(4) {
  rw a: u32[];
  write b: i32[2];
  rw c: bool[];
  a[gid.x] += gid.x + 1;
  b[gid.x] = -1;
  c[gid.x] = gid.x == 1;
}
END
expect 0 $run two.vyre --in a=10,20,30 --len c=2 --out c=- --out a=- --out b=-
out_is 'c: 0 1
a: 11 22 33
b: -1 -1'
expect 0 $run two.vyre --len a=3 --len c=1 --out a=-; out_is '1 2 3'
expect 0 $run two.vyre --len a=3 --len c=0x1 --len b=2 --out a=- --quiet; out_is '1 2 3'

# Parameters.
cat >params.vyre <<'END'
program params {
  param b: bool; param u: u32; param i: i32; param ul: u64; param il: i64; param f: f32; param d: f64;
  write bo: bool[1]; write uo: u32[1]; write io: i32[1]; write ulo: u64[1]; write ilo: i64[1]; write fo: f32[1];
  write dout: f64[1];
  bo[0] = b; uo[0] = u; io[0] = i; ulo[0] = ul; ilo[0] = il; fo[0] = f; dout[0] = d;
}
END
cat >length.vyre <<'END'
program length_of { param count: u32; write out: u32[1]; out[0] = count; }
END
expect 2 $run length.vyre --set cuont=1 --out out=-; err_has 'did you mean count?'
params() { "$VYRE" run --backend cpu_ref params.vyre "$@" --out bo=- --out uo=- --out io=- --out ulo=- --out ilo=- --out fo=- --out dout=-; }
expect 0 params --set b=true --set u=4294967295 --set i=-3 --set ul=18446744073709551615 --set il=-1 --set f=0x1p-4 --set d=0.1
out_is 'bo: 1
uo: 4294967295
io: -3
ulo: 18446744073709551615
ilo: -1
fo: 0.0625
dout: 0.1'
all="--set b=false --set u=1 --set i=1 --set ul=1 --set il=1 --set f=1 --set d=1"
for bad in b=1 b=yes b= u=-1 u=4294967296 u=x u= u=1.5 u=1i32 i=2147483648 i=-2147483649 ul=18446744073709551616 f=x f=1,2 d= 'f=1 2'; do
  name=${bad%%=*}
  rest=$(echo "$all" | sed "s/--set $name=[^ ]*//")
  expect 2 params $rest --set "$bad"; err_has "--set $name"; err_has 'Fix: '
done
expect 2 params $all --set g=1; err_has 'no such parameter'
expect 1 params --set b=true; err_has 'parameter u has no value'; out_is_empty
expect 0 params $(echo "$all" | sed 's/f=1/f=-inf/; s/ d=1/ d=nan/'); out_has 'fo: -inf'; out_has 'dout: nan'

# Names.
expect 2 $run "$saxpy" $saxpy_args --set aa=1; err_has 'such as a'
expect 2 $run "$saxpy" --set a=2 --in xx=1 --in y=1; err_has 'no such buffer'
expect 2 $run "$saxpy" $saxpy_args --out z=-; err_has 'no such buffer'
expect 2 $run "$saxpy" $saxpy_args --out x=-; err_has '--out x: it is a read buffer'
expect 2 $run "$saxpy" --set a=2 --len x=4 --in y=1; err_has '--len x: it is a read buffer'
expect 2 $run copy_u32.vyre --in a=1 --in b=1; err_has '--in b: it is a write buffer'
expect 2 $run "$saxpy" $saxpy_args --len y=4; err_has '--len and --in'
expect 2 $run "$saxpy" $saxpy_args --define N=1; err_has 'N'
expect 2 $run saxpy.wire $saxpy_args --define N=1; err_has 'wire form'
cat >shared.vyre <<'END'
program shared_names workgroup(4) { const T: u32[2] = {1, 2}; shared s: u32[4]; write b: u32[]; s[lid.x] = T[0]; b[gid.x] = s[lid.x]; }
END
expect 2 $run shared.vyre --in s=1 --len b=1; err_has 'can not be bound'
expect 2 $run shared.vyre --out T=- --len b=1; err_has 'can not be bound'

# Sources that are wrong.
for bad in '' @ x 1, ,1 1,,2 1.5 -1 4294967296 zeros: zeros:x zeros:-1 iota: iota:1:2 rand:1 rand:1: rand::1 rand:1:x rand:1:2:3 \
  zeros:99999999999999999999 @no/such/file @.; do
  expect 2 $run copy_u32.vyre --in a="$bad" --len b=1 --out b=@never; err_has 'Fix: '; absent never
done
expect 1 $run copy_u32.vyre --in a=zeros:4611686018427387904 --len b=1; err_has 'memory'
expect 1 $run copy_u32.vyre --in a=zeros:18446744073709551615 --len b=1; err_has 'memory'
expect 2 $run copy_u32x2.vyre --in a=1,2,3 --len b=1; err_has 'whole number of vectors'
expect 2 $run copy_u8.vyre --in a=256 --len b=1; err_has '256'
expect 2 $run copy_f16.vyre --in a=65520 --len b=1; err_has '65520'
printf 'abc' >ragged
expect 2 $run copy_u32.vyre --in a=@ragged --len b=1; err_has 'whole'
printf '\002\000\000\000\000\000\000\200' >bools
echo_values bool @bools 2 '1 1'

# Destinations that are wrong.
for bad in '' @ x --; do
  expect 2 $run copy_u32.vyre --in a=1 --len b=1 --out b="$bad"; err_has 'Fix: '
done

# Bindings that are missing or of the wrong size.
expect 1 $run "$saxpy" --set a=2 --in y=1; err_has 'buffer x is not bound'; err_has '--in x=SRC'
expect 1 $run "$saxpy" --set a=2 --in x=1; err_has 'buffer y is not bound'; err_has '--len y=N'
expect 1 $run copy_u32.vyre --in a=1; err_has '--len b=N'
cat >fixed.vyre <<'END'
program fixed { read a: u32[3]; rw b: u32[2]; write c: u32[1]; c[0] = a[2] + b[1]; }
END
expect 0 $run fixed.vyre --in a=1,2,3 --in b=1,4 --out c=-; out_is 7
expect 0 $run fixed.vyre --in a=1,2,3 --len b=2 --out c=-; out_is 3
expect 1 $run fixed.vyre --in a=1,2,3 --out c=-; err_has 'buffer b is not bound'
expect 1 $run fixed.vyre --in a=1,2 --in b=1,2 --out c=-; err_has 'declared with 3'
expect 1 $run fixed.vyre --in a=1,2,3,4 --in b=1,2 --out c=-; err_has 'declared with 3'
expect 1 $run fixed.vyre --in a=1,2,3 --len b=3 --out c=-; err_has 'declared with 2'
expect 1 $run fixed.vyre --in a=1,2,3 --in b=1,2 --len c=2 --out c=-; err_has 'declared with 1'
out_is_empty
expect 2 $run fixed.vyre --in a=1,2,3 --in b=1,2 --len c=x; err_has '--len c'

# Extents.
cat >ids.vyre <<'END'
program ids workgroup(4, 2) {
  rw counts: u32[1]; write nx: u32[3];
  atomic_add(counts[0], 1);
  if (gid.x == 0 && gid.y == 0 && gid.z == 0) { nx[0] = nwg.x; nx[1] = nwg.y; nx[2] = nwg.z; }
}
END
ids() { "$VYRE" run --backend cpu_ref ids.vyre --len counts=1 --out counts=- --out nx=- "$@"; }
expect 0 ids --grid 1; out_is 'counts: 8
nx: 1 1 1'
expect 0 ids --grid 2,3,1; out_is 'counts: 48
nx: 2 3 1'
expect 0 ids --threads 5,5,2; out_is 'counts: 96
nx: 2 3 2'
expect 0 ids --threads 4,2; out_is 'counts: 8
nx: 1 1 1'
expect 0 ids --grid 0; out_is 'counts: 0
nx: 0 0 0'
expect 0 ids --threads 1,0,1; out_is 'counts: 0
nx: 0 0 0'
expect 2 ids; err_has '--grid'
expect 1 ids --grid 4294967295; err_has '4294967295'
# 2^32 invocations have ids that fit u32; the next one has none, nor have those that fill up its workgroup.
expect 0 ids --threads 4294967296,4294967296,0; out_is 'counts: 0
nx: 0 0 0'
expect 1 ids --threads 4294967297,0; err_has '1073741825'; out_is_empty
expect 1 ids --threads 1,4294967297,0; err_has '2147483649'
expect 1 ids --threads 18446744073709551615; err_has '4611686018427387904'
cat >none.vyre <<'END'
program none { }
END
expect 2 $run none.vyre; err_has '--grid'
expect 0 $run none.vyre --grid 1; out_is_empty
cat >longest.vyre <<'END'
program longest workgroup(8) { read big: u32[]; rw n: u32[]; if (lid.x == 0) { atomic_add(n[0], 1); } }
END
expect 0 $run longest.vyre --in big=zeros:1000 --len n=17 --out n=@n; expect 0 $run longest.vyre --in big=zeros:1000 --len n=1 --out n=-; out_is 1
cat >reads.vyre <<'END'
program reads workgroup(8) { read big: u32[]; read more: u32[]; print("{}", big[gid.x]); }
END
expect 0 $run reads.vyre --in big=1 --in more=zeros:17; [ "$(wc -l <err)" -eq 24 ] || fail 'the longest buffer sets the grid'

# --define.
cat >define.vyre <<'END'
program define { const N: u32 = 4; const M: u32 = N * 2; write b: u32[M]; b[M - 1] = N; }
END
expect 0 $run define.vyre --out b=-; out_is '0 0 0 0 0 0 0 4'
expect 0 $run define.vyre --define N=1 --out b=-; out_is '0 1'
expect 2 $run define.vyre --define K=1 --out b=-; err_has 'K'
expect 2 $run define.vyre --define N=x --out b=-; err_has 'N'
expect 2 $run define.vyre --define N=-1 --out b=-; err_has 'N'

# print, trap, steps, ulp, timeout.
cat >print.vyre <<'END'
program print_it workgroup(2) { write b: u32[2]; print("x = {} y = {}", gid.x, gid.x == 1); b[gid.x] = 1; }
END
expect 0 $run print.vyre --out b=-; out_is '1 1'; err_has '[0,0,0] x = 0 y = false'; err_has '[1,0,0] x = 1 y = true'
cat >trap.vyre <<'END'
program trap_it workgroup(4) { write b: u32[4]; b[gid.x] = 1; if (gid.x > 1) { trap(gid.x + 40); } }
END
expect 1 $run trap.vyre --out b=-; out_is_empty; err_has '42'
expect 1 $run trap.vyre --out b=@trapped; absent trapped
cat >endless.vyre <<'END'
program endless { rw b: u32[1]; loop { b[0] += 1; if (b[0] == 0) { break; } } }
END
expect 1 $run endless.vyre --len b=1 --steps 1000 --out b=-; out_is_empty; err_has 'steps'
expect 1 $run endless.vyre --len b=1 --timeout 0.2 --out b=@late; err_has 'time'; absent late
expect 0 $run "$saxpy" $saxpy_args --steps 5 --timeout 600 --out y=-; out_is '12 24 36 48'
cat >exp.vyre <<'END'
program exponential { read a: f32[]; write b: f32[1]; b[0] = exp(a[0]); }
END
expect 1 $run exp.vyre --in a=0 --out b=-; err_has 'exp'; err_has 'ulp'; out_is_empty
expect 0 $run exp.vyre --in a=0 --ulp 0 --out b=-; out_is 1
expect 0 $run exp.vyre --in a=0 --ulp 4 --out b=-; out_is 1
printf '[run]\nulp = 0\n' >ulp.ini
expect 0 $run exp.vyre --in a=0 --config ulp.ini --out b=-; out_is 1
expect 0 env VYRE_ULP=0 "$VYRE" run exp.vyre --quiet --in a=0 --out b=-; out_is 1

# Backends.
expect 1 "$VYRE" run "$saxpy" --backend nonesuch $saxpy_args --out y=-; err_has 'nonesuch'; out_is_empty
expect 1 "$VYRE" run "$saxpy" --backend cpu_ref:7 $saxpy_args --out y=-; out_is_empty
mkdir empty_directory
expect 0 "$VYRE" run "$saxpy" --backend-path empty_directory --backend-path . $saxpy_args --out y=- --quiet; out_is '12 24 36 48'
printf '[backends]\norder = cpu_ref\n' >order.ini
expect 0 "$VYRE" run "$saxpy" --config order.ini $saxpy_args --out y=-; out_is '12 24 36 48'

# Subgroups, lanes, verify.
cat >subgroup.vyre <<'END'
program lanes workgroup(32) { write b: u32[32]; b[lid.x] = subgroup_size; }
END
expect 0 $run subgroup.vyre --subgroup 8 --out b=-; out_has '8 8 8'
expect 0 $run subgroup.vyre --subgroup 4 --verify --out b=-; out_has '4 4 4'; err_has 'equal'
cat >order.vyre <<'END'
program order workgroup(4) { rw next: u32[1]; write b: u32[4]; b[gid.x] = atomic_add(next[0], 1); }
END
expect 0 $run order.vyre --len next=1 --out b=-; out_is '0 1 2 3'
expect 0 $run order.vyre --len next=1 --lanes forward --out b=-; out_is '0 1 2 3'
expect 0 $run order.vyre --len next=1 --lanes reversed --out b=-; out_is '3 2 1 0'
expect 1 $run order.vyre --len next=1 --lanes reversed --verify --out b=@wrong --out next=-
err_has 'buffer b differs first at [0]: cpu_ref with lanes reversed gives 3 (0x00000003)'; absent wrong; out_is_empty
err_has 'cpu_ref with lanes forward gives 0 (0x00000000)'
expect 1 $run order.vyre --len next=1 --verify --out b=@wrong --out next=-
err_has 'cpu_ref with lanes forward gives 0 (0x00000000), cpu_ref with lanes reversed gives 3 (0x00000003)'
expect 1 env VYRE_CPU_REF_LANE_ORDER=reversed $run order.vyre --len next=1 --verify --out b=-
err_has 'cpu_ref with lanes reversed gives 3 (0x00000003), cpu_ref with lanes forward gives 0 (0x00000000)'
expect 0 $run "$saxpy" $saxpy_args --lanes reversed --verify --out y=-; out_is '12 24 36 48'
err_has 'the results of cpu_ref with lanes reversed equal those of cpu_ref with lanes forward'
expect 0 $run "$saxpy" $saxpy_args --verify --out y=-; out_is '12 24 36 48'
err_has 'the results of cpu_ref with lanes forward equal those of cpu_ref with lanes reversed'

# Reports.
expect 0 $run "$saxpy" $saxpy_args --report --out y=-; out_is '12 24 36 48'
err_has 'declared workgroup'; err_has '256 1 1'; err_has 'launched grid'; err_has 'subgroup size'
expect 0 $run "$saxpy" $saxpy_args --time 3 --out y=-; out_is '12 24 36 48'; err_has 'timed runs'; err_has '3'
expect 0 $run "$saxpy" $saxpy_args --time 2 --verify --report --json --out y=-
err_is_empty
if command -v python3 >/dev/null; then
  python3 -c '
import json
d = json.load(open("out"))
assert d["outputs"]["y"] == [12, 24, 36, 48], d
assert d["backend"] == "cpu_ref" and d["program"] == "saxpy" and d["verified"] is True
assert d["report"]["declared_workgroup"] == [256, 1, 1] and d["time"]["runs"] == 2
assert d["time"]["whole"]["least_ns"] <= d["time"]["whole"]["median_ns"] <= d["time"]["whole"]["most_ns"]
' || fail 'the JSON of run'
  printf 'program ends { write b: u32[1]; trap(7); }\n' >trapping.vyre
  expect 1 $run trapping.vyre --json --out b=-; cp out trap.json
  printf 'program no { y = 1; }\n' >no_program.vyre
  expect 1 $run no_program.vyre --json; cp out invalid.json
  python3 -c '
import json
f = json.load(open("trap.json"))
assert f["status"] == 1 and f["code"] == "VYRE_ERR_TRAP" and "code 7" in f["message"] and f["fix"], f
assert f["where"].startswith("trapping.vyre") and f["diagnostics"] == []
f = json.load(open("invalid.json"))
assert f["code"] == "VYRE_ERR_INVALID_PROGRAM" and f["where"].startswith("no_program.vyre:1:")
assert [d["code"] for d in f["diagnostics"]] and f["fix"]
' || fail 'the JSON of failures'
  expect 0 $run copy_f32.vyre --in a=1.5,inf,-inf,nan --len b=4 --out b=- --json
  python3 -c 'import json; assert json.load(open("out"))["outputs"]["b"] == [1.5, "inf", "-inf", "nan"]' || fail 'JSON of floats'
fi

# Programs that are none.
printf 'program broken {' >broken.vyre
expect 1 $run broken.vyre --grid 1; err_has 'broken.vyre:1'; out_is_empty
expect 2 $run no/such.vyre; err_has 'no/such.vyre'
expect 2 $run .; err_has '.'
head -c 20 saxpy.wire >cut.wire
expect 2 $run cut.wire $saxpy_args; err_has 'cut.wire'
# A grid that nobody stated covers what is written, and says so where more is read.
cat >short.vyre <<'END'
program short workgroup(4) { read x: u8[]; rw sum: u32[]; if (gid.x < len(x)) { atomic_add(sum[0], u32(x[gid.x])); } }
END
expect 0 "$VYRE" run short.vyre --in x=1,1,1,1,1,1 --len sum=1 --out sum=-; out_is 4; err_has 'x has 6 elements; --threads N'
expect 0 "$VYRE" run short.vyre --in x=1,1,1,1,1,1 --len sum=1 --out sum=- --threads 6; out_is 6; err_lacks 'elements'

# --- Values that are compiled in ---
cat >power.vyre <<'END'
program power workgroup(4) {
  param a: f32;
  param n: u32;
  rw y: f32[];
  for (i in 0..n) {
    y[gid.x] = y[gid.x] * a;
  }
}
END
expect 0 $run power.vyre --set a=2 --spec n=3 --in y=1,2,3 --out y=- --verify; out_is '8 16 24'
expect 0 $run power.vyre --spec a=2 --spec n=0x2 --in y=1,2,3 --out y=-; out_is '4 8 12'
mkdir template
cp "$top_builddir/plugins/template/$objdir/vyre_backend_template.so" template/
run_template="$VYRE run --backend template --backend-path template"
for level in 0 1 2; do
  expect 0 $run_template power.vyre --opt-level $level --spec a=2 --spec n=3 --in y=1,2,3 --out y=-; out_is '8 16 24'
  expect 0 $run_template power.vyre --opt-level $level --set a=2 --spec n=0 --in y=1,2,3 --out y=-; out_is '1 2 3'
done
expect 2 $run power.vyre --set a=2 --spec n=3 --set n=3 --in y=1 --out y=-; err_has '--set n and --spec n are both given'
expect 2 $run power.vyre --set a=2 --spec m=3 --in y=1 --out y=-; err_has '--spec m: the program has no such parameter'
expect 2 $run power.vyre --set a=2 --spec n=x --in y=1 --out y=-; err_has '--spec n=x'
expect 1 $run power.vyre --spec a=2 --in y=1 --out y=-; err_has 'parameter n has no value'
finish
