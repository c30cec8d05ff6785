#!/bin/sh
# Settings of a plugin that libvyre's table does not know, from vyre.ini and the environment to what the plugin does.
. "$top_srcdir/tests/tools/lib.sh"
mkdir plugins
cp "$top_builddir/plugins/template/$objdir/vyre_backend_template.so" plugins/
cat >sizes.vyre <<'END'
program sizes workgroup(64) {
  write y: u32[];
  y[gid.x] = subgroup_size;
}
END
# sizes CONFIG: of a subgroup of the template.
sizes() {
  expect 0 "$VYRE" run sizes.vyre --config "$1" --backend template --backend-path plugins --len y=1 --out y=-
}

: >none.ini
sizes none.ini; out_is 32
printf '[backend template]\nsubgroup_size = 8\n' >eight.ini
sizes eight.ini; out_is 8; err_lacks 'there is no section'
expect 0 env VYRE_BACKEND_TEMPLATE_SUBGROUP_SIZE=4 "$VYRE" run sizes.vyre --config eight.ini --backend template \
  --backend-path plugins --len y=1 --out y=-
out_is 4

# What the plugin can't read is said, and its default holds.
printf '[backend template]\nsubgroup_size = 8 lanes\n' >odd.ini
sizes odd.ini; out_is 32; err_has 'template: settings: the setting template.subgroup_size is `8 lanes`'; err_has 'Fix: '
printf '[backend template]\nmemory_limit = 1000\n' >small.ini
expect 1 "$VYRE" run sizes.vyre --config small.ini --backend template --backend-path plugins --len y=4096 --out y=-
err_has '1000'

# Another backend's section is none of its business; the oracle's has its own name, and says so.
printf '[backend other]\nsubgroup_size = 8\n' >other.ini
sizes other.ini; out_is 32; err_lacks 'other'
printf '[backend cpu_ref]\nsubgroup_size = 8\n' >wrong.ini
expect 0 "$VYRE" run sizes.vyre --config wrong.ini --backend cpu_ref --len y=1 --out y=-; out_is 32
err_has 'move `subgroup_size` into [cpu_ref]'
printf '[template]\nsubgroup_size = 8\n' >bare.ini
sizes bare.ini; out_is 32; err_has 'or write [backend template]'
finish
