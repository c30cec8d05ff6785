#!/bin/sh
# vyre emit: the kernel of a program as text, and what backends make of one.
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
expect 2 "$VYRE" emit "$saxpy" --target kernel --profile cpu_ref; err_has '--profile is for a backend'
expect 2 "$VYRE" emit "$saxpy" --target kernel --steps 0; err_has 'wants a number'
expect 2 "$VYRE" emit "$saxpy" --target kernel --subgroup 33
expect 2 "$VYRE" emit no/such/file --target kernel
expect 1 "$VYRE" emit "$top_srcdir/tests/corpus/text/errors.vyre" --target kernel

# --- A backend's own dialect: what it compiled, twice the same ---
expect 0 "$VYRE" emit "$saxpy" --target cpu_ref --steps 9; out_has 'profile cpu_ref, subgroups of 32, at most 9 steps'
out_has 'y[i] = fma(a, x[i], y[i]);'; err_is_empty
expect 0 "$VYRE" emit sine.vyre --target cpu_ref --ulp 2 --subgroup 8; out_has 'subgroups of 8, ulp 2'
expect 1 "$VYRE" emit sine.vyre --target cpu_ref; err_has 'ulp'; out_is_empty
mkdir plugins
cp "$top_builddir/plugins/template/$objdir/vyre_backend_template.so" plugins/
expect 0 "$VYRE" emit "$saxpy" --target template --backend-path plugins; cp out by_name
out_has 'profile template'; out_has '= f32 fma'; out_has 'entry 0: 256 x 1 x 1 invocations'
expect 0 "$VYRE" emit "$saxpy" --target plugins/vyre_backend_template.so -o by_path; same by_name by_path
cat >flow.vyre <<'END'
program flow workgroup(8) {
  rw x: i32[];
  shared t: f32[8];
  const k: u32[2] = {3, 9};
  t[lid.x] = f32(x[gid.x]);
  barrier;
  for (i in 0..4) {
    if (x[gid.x] > 7) {
      atomic_add(x[k[i]], 1, acq_rel, device);
    } else {
      x[gid.x] = i32(t[i]);
    }
  }
}
END
expect 0 "$VYRE" emit flow.vyre --target template --backend-path plugins
out_has 'atomic_add acq_rel device binding0['; out_has 'shared0['; out_has 'table0['; out_has 'end_loop'; out_has 'loop @'

# --- Values that are compiled in ---
expect 0 "$VYRE" emit "$saxpy" --target kernel --spec a=2 --opt-level 0; out_has 'spec 0 id 0 f32 0x40000000'; out_has '= f32 spec 0'
expect 0 "$VYRE" emit "$saxpy" --target kernel --spec a=2; out_has 'spec 0 id 0 f32 0x40000000'
if grep -q '= f32 spec\|= f32 param' out; then fail 'a value that is compiled in is read from somewhere'; fi
expect 0 "$VYRE" emit "$saxpy" --target template --backend-path plugins --spec a=2 --opt-level 0; out_has '= f32 spec 0x40000000'
expect 2 "$VYRE" emit "$saxpy" --target kernel --spec b=2; err_has '--spec b: the program has no such parameter'

# --- Profiles: by name, from a file, of another backend, of nobody ---
expect 0 "$VYRE" emit "$saxpy" --target template --backend-path plugins --profile template; same out by_name
expect 0 "$VYRE" backends --backend-path plugins --backend template --save-profile saved
expect 0 "$VYRE" emit "$saxpy" --target template --backend-path plugins --profile saved; same out by_name
expect 2 "$VYRE" emit "$saxpy" --target cpu_ref --profile saved; err_has 'profile of template'
expect 2 "$VYRE" emit "$saxpy" --target cpu_ref --profile nobody; err_has 'no such profile'
echo '{}' >empty; expect 2 "$VYRE" emit "$saxpy" --target cpu_ref --profile empty; err_has 'vyre_profile'
sed 's/"max_bindings": *[0-9]*/"max_bindings": 1/' saved >poor
expect 1 "$VYRE" emit "$saxpy" --target template --backend-path plugins --profile poor; err_has 'bind'; out_is_empty

# --- A plugin that can't work here still compiles; one without text gives bytes; one that is broken says so ---
for name in absent sound oddcompile refuses oldermajor; do
  cp "$top_builddir/tests/backend/$objdir/fake.so" "plugins/vyre_backend_$name.so"
done
expect 0 "$VYRE" emit "$saxpy" --target absent --backend-path plugins -o bytes --ulp 3; out_is_empty
grep -q 'flags 1 ulp 3' bytes || fail 'no blob'
[ "$(wc -c <bytes)" -eq 64 ] || fail 'not the whole blob'
expect 0 "$VYRE" emit "$saxpy" --target sound --backend-path plugins --ulp 3; same out bytes
expect 1 "$VYRE" emit "$saxpy" --target refuses --backend-path plugins; err_has 'unsupported(fake)'
expect 1 "$VYRE" emit "$saxpy" --target oddcompile --backend-path plugins; err_has 'VBP-15'
expect 1 "$VYRE" emit "$saxpy" --target oldermajor --backend-path plugins; err_has 'VBP-7'
expect 1 "$VYRE" emit "$saxpy" --target nobody; err_has 'vyre_backend_nobody.so'
expect 2 "$VYRE" emit "$saxpy" --target plugins/none.so; err_has 'is no backend'
expect 2 "$VYRE" emit "$saxpy" --target plugins/vyre_backend_none.so; err_has 'Fix: name one that exists'
expect 2 "$VYRE" emit "$saxpy" --target a_name_that_is_longer_than_a_backends_name_is; err_has 'is no backend'

# --- Bytes do not go to a terminal ---
if command -v python3 >/dev/null; then
  command_line='bytes on a terminal'
  python3 - "$VYRE" "$saxpy" <<'END' || fail 'bytes went to a terminal'
import os, pty, subprocess, sys
main, terminal = pty.openpty()
done = subprocess.run([sys.argv[1], "emit", sys.argv[2], "--target", "sound", "--backend-path", "plugins"],
                      stdout=terminal, stderr=subprocess.PIPE)
os.close(terminal)
assert done.returncode == 1 and b"Fix: add -o FILE" in done.stderr, done
END
fi
finish
