#!/bin/sh
# vyre pack and unpack: text to wire and back, and wire bytes that were changed.
. "$top_srcdir/tests/tools/lib.sh"
for program in "$top_srcdir"/examples/*.vyre "$top_srcdir"/examples/*/*.vyre; do
  expect 0 "$VYRE" pack "$program" -o a.wire; out_is_empty; err_is_empty
  [ "$(head -c 4 a.wire)" = VIR0 ] || fail 'no VIR0'
  expect 0 "$VYRE" unpack a.wire; cp out a.vyre
  expect 0 "$VYRE" check a.wire
  expect 0 "$VYRE" pack a.vyre -o b.wire; same a.wire b.wire
  expect 0 "$VYRE" unpack b.wire -o b.vyre; out_is_empty; same a.vyre b.vyre
  expect 0 "$VYRE" pack a.wire -o c.wire; same a.wire c.wire
done
saxpy=$top_srcdir/examples/saxpy.vyre
"$VYRE" pack - -o - <"$saxpy" >a.wire 2>err || fail 'pack of standard input'
expect 0 "$VYRE" pack "$saxpy" --output=b.wire; same a.wire b.wire
expect 0 "$VYRE" pack -ob.wire "$saxpy"; same a.wire b.wire
"$VYRE" unpack - <a.wire >out 2>err || fail 'unpack of standard input'
out_has 'program saxpy'
printf 'program d { const N: u32 = 4; write b: u32[1]; b[0] = N; }' >define.vyre
expect 0 "$VYRE" pack define.vyre -o four.wire
expect 0 "$VYRE" pack define.vyre --define N=5 -o five.wire
cmp -s four.wire five.wire && fail '--define has no effect on pack'
expect 2 "$VYRE" pack define.vyre --define K=5 -o never.wire; absent never.wire

expect 2 "$VYRE" unpack "$saxpy"; out_is_empty
expect 2 "$VYRE" unpack no/such/file
expect 1 "$VYRE" pack a.wire -o no/such/file
printf 'program x {' >broken.vyre
expect 1 "$VYRE" pack broken.vyre -o never.wire; absent never.wire
size=$(wc -c <a.wire)
at=0
while [ $at -lt "$size" ]; do
  head -c $at a.wire >cut.wire
  expect 2 "$VYRE" unpack cut.wire; out_is_empty
  { head -c $at a.wire; printf '\252'; tail -c +$((at + 2)) a.wire; } >changed.wire
  cmp -s a.wire changed.wire || { expect 2 "$VYRE" unpack changed.wire; out_is_empty; }
  at=$((at + 7))
done
cp a.wire longer.wire
printf 'x' >>longer.wire
expect 2 "$VYRE" unpack longer.wire
expect 1 "$VYRE" unpack a.wire -o /dev/full

# What unpack prints is clean, names that inlining made included.
cat >calls.vyre <<'END'
program calls {
  read x: f32[]; rw y: f32[];
  fn square(v: f32) -> f32 { let w = v * v; return w; }
  fn clamped(v: f32) -> f32 { var w = v; if (w > 1.0) { w = 1.0; } return w; }
  fn store(at: u32, v: f32) { y[at] = v; }
  for (i in 0..len(y)) { store(i, square(x[i]) + square(y[i])); }
  y[1] = clamped(square(x[0])) + x[1];
}
END
expect 0 "$VYRE" pack calls.vyre -o calls.wire
expect 0 "$VYRE" unpack calls.wire -o again.vyre; grep -q 'let __' again.vyre || fail 'no name of the compiler to see'
expect 0 "$VYRE" check again.vyre; out_is_empty; err_is_empty
finish
