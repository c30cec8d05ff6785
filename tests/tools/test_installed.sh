#!/bin/sh
# An installed vyre, in a place of its own: the command finds its plugin beside the library, the C example and the
# template of a backend build by pkg-config alone, and the documents are where their readers look.
. "$top_srcdir/tests/tools/lib.sh"
command -v pkg-config >/dev/null || { echo 'skipped: there is no pkg-config'; exit 77; }
: "${CC:=cc}"
root=$work/root
unset MAKEFLAGS MFLAGS LD_LIBRARY_PATH
(cd "$top_builddir" && make install DESTDIR="$root") >install.log 2>&1 || { tail -n 20 install.log; exit 1; }
command=$(find "$root" -path '*/bin/vyre')
prefix=${command%/bin/vyre}
library=$(dirname "$(find "$root" -name libvyre.so)")
LD_LIBRARY_PATH=$library
PKG_CONFIG_PATH=$library/pkgconfig
PKG_CONFIG_SYSROOT_DIR=$root
export LD_LIBRARY_PATH PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR
examples=$(dirname "$(find "$root" -name saxpy.vyre)")

expect 0 "$command" run "$examples/saxpy.vyre" --set a=2 --in x=1,2,3,4 --in y=10,20,30,40 --out y=-
out_is '12 24 36 48'
expect 0 "$command" backends; out_has "$root"
expect 0 env VYRE="$command" "$examples/run" saxpy; out_is '12 24 36 48'
# A library with a sanitizer wants programs that bring its runtime.
sanitizer=
[ "${VYRE_SANITIZERS:-no}" = no ] || sanitizer=-fsanitize=$VYRE_SANITIZERS
expect 0 $CC $sanitizer "$examples/saxpy_c/saxpy.c" $(pkg-config --cflags --libs vyre) -o saxpy
expect 0 ./saxpy; same out "$examples/saxpy_c/expected"

# The template builds as its README says: outside of the tree, against the installed headers alone.
backend="$work/my backend"
mkdir "$backend"
cp "$top_srcdir"/plugins/template/*.[ch] "$backend"
# Undefined symbols are an error, but a sanitizer's are in the program.
complete=-Wl,-z,defs
[ -z "$sanitizer" ] || complete=
cd "$backend" || exit 99
expect 0 $CC -std=gnu17 -O2 -ffp-contract=off -fvisibility=hidden -fPIC $(pkg-config --cflags vyre) -shared -pthread \
  $sanitizer ./*.c -lm $complete -o vyre_backend_template.so
cd "$work" || exit 99
expect 0 env VYRE_BACKEND_PATH="+$backend" "$command" run "$examples/saxpy.vyre" --backend template --verify \
  --set a=2 --in x=1,2,3,4 --in y=10,20,30,40 --out y=-
out_is '12 24 36 48'
for file in man/man1/vyre.1 bash-completion/completions/vyre zsh/site-functions/_vyre \
  fish/vendor_completions.d/vyre.fish; do
  [ -s "$prefix/share/$file" ] || fail "$file is not installed"
done
finish
