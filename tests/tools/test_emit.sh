#!/bin/sh
# vyre emit: the kernel of a program as text.
. "$top_srcdir/tests/tools/lib.sh"
saxpy=$top_srcdir/examples/saxpy.vyre

expect 0 "$VYRE" emit "$saxpy" --target kernel
out_has 'kernel saxpy form 0.1 result D0'
out_has 'param 0 a: f32 at 0'
out_has 'fma %'
cp out first
expect 0 "$VYRE" emit --target kernel -o second "$saxpy"; out_is_empty; same first second

# Options of the call are in the kernel.
cat >sine.vyre <<'END'
program sine workgroup(64) {
  rw x: f32[];
  for (i in 0..4) {
    x[gid.x] = sin(x[gid.x]);
  }
}
END
expect 1 "$VYRE" emit sine.vyre --target kernel; err_has 'ulp_budget'; out_is_empty
expect 0 "$VYRE" emit sine.vyre --target kernel --ulp 2 --steps 9 --subgroup 8
out_has 'ulp(2) steps(9)'
out_has 'subgroup(8)'

# What is not understood.
expect 2 "$VYRE" emit "$saxpy"; err_has '--target is missing'; out_is_empty
expect 2 "$VYRE" emit "$saxpy" --target paper; err_has "no target 'paper'"
expect 2 "$VYRE" emit "$saxpy" --target kernel --steps 0; err_has 'wants a number'
expect 2 "$VYRE" emit "$saxpy" --target kernel --subgroup 33
expect 2 "$VYRE" emit no/such/file --target kernel
expect 1 "$VYRE" emit "$top_srcdir/tests/corpus/text/errors.vyre" --target kernel
finish
