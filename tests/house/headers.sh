# Rule: each public header compiles alone, as C11, C17 and C++17, without a warning; each is installed.
. "$top_srcdir/tests/house/lib.sh"
: "${CXX:?run this through make check}"

# compiles LABEL COMPILER...: a file that includes nothing but $header.
compiles() {
  label=$1
  shift
  printf '#include <%s>\n#include <%s>\n' "$header" "$header" >"$scratch/alone.c"
  "$@" -pedantic -Wall -Wextra -Werror -fsyntax-only -I"$include" "$scratch/alone.c" ||
    fault "$header does not compile alone as $label"
}

# headers_stand_alone INCLUDE_DIRECTORY
headers_stand_alone() {
  include=$1
  for path in "$include"/vyre/*.h; do
    header=vyre/${path##*/}
    # shellcheck disable=SC2086
    {
      compiles C11 $CC -std=c11
      compiles C17 $CC -std=c17
      compiles C++17 $CXX -std=c++17 -x c++
    }
  done
}

# all_installed INCLUDE_DIRECTORY NAMES: the directory and the list of vyreinclude_HEADERS hold the same files.
all_installed() {
  for path in "$1"/vyre/*.h "$1"/vyre/*.def; do
    case " $2 " in
      *"/${path##*/} "*) ;;
      *) fault "${path##*/} is not in vyreinclude_HEADERS" ;;
    esac
  done
}

mkdir -p "$scratch/include/vyre"
echo 'size_t vyre_bad(void);' >"$scratch/include/vyre/bad.h"
must_find "a header that needs another" headers_stand_alone "$scratch/include"
echo 'static inline int *vyre_bad(void *p) { return p; }' >"$scratch/include/vyre/bad.h"
must_find "a header that is no C++" headers_stand_alone "$scratch/include"
must_find "a header that is not installed" all_installed "$scratch/include" "include/vyre/ir.h"

enforce headers_stand_alone "$top_srcdir/libvyre/include"
enforce all_installed "$top_srcdir/libvyre/include" "$vyreinclude_HEADERS"
