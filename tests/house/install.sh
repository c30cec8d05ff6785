# Rule: what `make install` puts somewhere works there, and still works when the whole prefix is moved: the command
# finds the library, the library finds the plugins that belong to it, and programs compile against vyre.pc.
. "$top_srcdir/tests/house/lib.sh"
: "${PKG_CONFIG:?run this through make check}"

make=${MAKE:-make}
$make -s -C "$top_builddir" install DESTDIR="$scratch/stage" >"$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }
command=$(find "$scratch/stage" -path '*/bin/vyre')
prefix=${command%/bin/vyre}
test -n "$prefix" || { echo "no command was installed"; exit 1; }

# works_in PREFIX: runs a program there, by a plugin from there.
works_in() {
  answer=$("$1/bin/vyre" run "$top_srcdir/examples/saxpy.vyre" --set a=2 --in x=1,2,3,4 --in y=10,20,30,40 --out y=- \
    2>"$scratch/log") || fault "$1/bin/vyre fails: $(cat "$scratch/log")"
  test "$answer" = "12 24 36 48" || fault "$1/bin/vyre answers \"$answer\""
  "$1/bin/vyre" backends | grep -qF "$1/" || fault "$1/bin/vyre takes its plugins from elsewhere"
}

# takes_settings_from PREFIX: the file that was installed there counts, if its place belongs to the prefix.
takes_settings_from() {
  settings=$(find "$1" -path '*/vyre/vyre.ini')
  test -n "$settings" || return 0
  cp "$settings" "$scratch/vyre.ini"
  printf '\n[run]\nupl = 1\n' >>"$settings"
  HOME=$scratch XDG_CONFIG_HOME= "$1/bin/vyre" backends 2>&1 |
    grep -qF "$(realpath "$settings"):" || fault "$1/bin/vyre does not read $settings"
  cp "$scratch/vyre.ini" "$settings"
}

# compiles_against PREFIX
compiles_against() {
  flags=$(PKG_CONFIG_PATH=$(dirname "$(find "$1" -name vyre.pc)") $PKG_CONFIG --define-prefix --cflags --libs vyre) ||
    fault "pkg-config does not find vyre"
  libraries=$(dirname "$(find "$1" -name libvyre.so)")
  echo '#include <vyre/vyre.h>
int main() { return vyre_status_name(VYRE_OK) == nullptr; }' >"$scratch/user.cc"
  # shellcheck disable=SC2086
  {
    $CC -o "$scratch/user_c" "$top_srcdir/examples/saxpy_c/saxpy.c" $flags || fault "the C example does not compile"
    $CXX -o "$scratch/user_cc" "$scratch/user.cc" $flags || fault "a C++ program does not compile"
  }
  for program in user_c user_cc; do
    LD_LIBRARY_PATH=$libraries "$scratch/$program" >"$scratch/log" 2>&1 || fault "$program: $(cat "$scratch/log")"
  done
}

enforce works_in "$prefix"
enforce takes_settings_from "$prefix"
mv "$prefix" "$scratch/moved to"
enforce works_in "$scratch/moved to"
enforce takes_settings_from "$scratch/moved to"
if test "$VYRE_SANITIZERS" = no; then
  mv "$scratch/moved to" "$scratch/moved"
  enforce compiles_against "$scratch/moved"
fi
find "$scratch" -name 'vyre_backend_*.so' -exec mv {} "$scratch/unreachable" \;
must_find "an installation without plugins" works_in "$scratch/moved"
