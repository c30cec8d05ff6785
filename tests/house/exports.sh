# Rule: what the public headers declare, what libvyre.map lists, what exports.golden lists and what libvyre.so exports
# is one set of names. After a change of headers: tests/house/update-headers, then review the difference.
. "$top_srcdir/tests/house/lib.sh"

# same_names WHAT FILE FILE
same_names() {
  diff "$2" "$3" >"$scratch/difference" || fault "$1 differ: $(grep '^[<>]' "$scratch/difference" | head -20 | tr '\n' ' ')"
}

printf 'vyre_a\nvyre_b\n' >"$scratch/one"
printf 'vyre_a\n' >"$scratch/two"
must_find "a missing name" same_names sample "$scratch/one" "$scratch/two"
shared_object sample.so 'int vyre_a; int vyre_b(void) { return 1; } __attribute__((visibility("hidden"))) int vyre_c;'
exported "$scratch/sample.so" | grep vyre >"$scratch/two"
must_pass "the exports of a sample" same_names sample "$scratch/one" "$scratch/two"

sh "$house/exports-of-headers" "$CC" "$top_srcdir/libvyre/include" >"$scratch/headers" || exit 99
sed -n 's/^    \([A-Za-z0-9_]*\);$/\1/p' "$top_srcdir/libvyre/libvyre.map" >"$scratch/map"
exported "$libvyre" >"$scratch/library"

enforce same_names "the prototypes of the headers (<) and exports.golden (>)" "$scratch/headers" "$house/exports.golden"
enforce same_names "libvyre.map (<) and exports.golden (>)" "$scratch/map" "$house/exports.golden"
enforce same_names "the exports of libvyre.so (<) and exports.golden (>)" "$scratch/library" "$house/exports.golden"
if sed '/local:/d' "$top_srcdir/libvyre/libvyre.map" | grep '\*;'; then
  echo "libvyre.map has a wildcard that exports"
  exit 1
fi
