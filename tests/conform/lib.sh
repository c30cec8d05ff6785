# Helpers of the kit's tests; sourced behind tests/tools/lib.sh.
#   plugin NAME           path of the plugin of that name in the build tree
#   verdict_is ID WORD    wants this verdict of a check in ./out
#   template              builds ./vyre_backend_template.so of the template's sources and those that lie here, which
#                         stand for those of the same name; FLAGS is added to the link. Not with a sanitizer
fake=$top_builddir/tests/backend/$objdir/fake.so
plugin() { printf '%s\n' "$top_builddir/plugins/$1/$objdir/vyre_backend_$1.so"; }

verdict_is() { grep -q "^$2 *$1 " out || fail "$1 is not: $2"; }

# compile SOURCE OBJECT
compile() {
  $CC -std=gnu17 -D_GNU_SOURCE -O1 -w -ffp-contract=off -fvisibility=hidden -fPIC -pthread \
    -I"$top_srcdir/plugins/template" -I"$top_srcdir/libvyre/include" -c "$1" -o "$2" || fail "$1 does not compile"
}

template() {
  mkdir -p whole changed
  rm -f changed/*
  for source in "$top_srcdir"/plugins/template/*.c; do
    object=$(basename "$source" .c).o
    [ -e "whole/$object" ] || compile "$source" "whole/$object"
    cp "whole/$object" changed/
  done
  for source in ./*.c; do
    [ ! -e "$source" ] || compile "$source" "changed/$(basename "$source" .c).o"
  done
  # shellcheck disable=SC2086
  $CC -shared -pthread changed/*.o -lm -Wl,-z,defs ${FLAGS-} -o vyre_backend_template.so || fail 'it does not link'
}
