# Rule: every function of a public header has a comment before it: the paragraph (lines without a blank one between)
# that declares it begins with one.
. "$top_srcdir/tests/house/lib.sh"
of_sources

# documented INCLUDE_DIRECTORY
documented() {
  for header in "$1"/vyre/*.h; do
    awk '
      /^[ \t]*$/ { comment = 0; fresh = 1; next }
      fresh || NR == 1 { comment = ($0 ~ /^[ \t]*\/[*\/]/); fresh = 0 }
      /^VYRE_API/ && !comment { print FILENAME ":" FNR ": " $0 }
      /^VYRE_API/ { seen++ }
    ' "$header" | while read -r line; do
      fault "no comment before $line"
    done
  done
}

mkdir -p "$scratch/include/vyre"
printf '/* About the file. */\n\nVYRE_API int vyre_bad(void);\n' >"$scratch/include/vyre/bad.h"
must_find "a bare prototype" documented "$scratch/include"
printf '/* What it does. */\nVYRE_API int vyre_good(void);\n' >"$scratch/include/vyre/bad.h"
must_pass "a documented one" documented "$scratch/include"

enforce documented "$top_srcdir/libvyre/include"
