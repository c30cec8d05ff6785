# Rule: the ir archive has no writable data, so that the oracle may link a copy of its own: no section .data, .bss,
# .tdata or .tbss with bytes in it, and no common symbol. (.data.rel.ro holds constant tables with pointers.)
. "$top_srcdir/tests/house/lib.sh"

# constant FILE: an archive or an object.
constant() {
  readelf -SW "$1" | sed -n 's/^File: \(.*\)/file \1/p; s/^ *\[ *[0-9]*\] *//p' | awk '
    $1 == "file" { file = $2; next }
    $1 ~ /^\.(data|bss|tdata|tbss|ldata|lbss)/ && $1 !~ /^\.data\.rel\.ro/ && $5 !~ /^0*$/ { print file, $1, "0x" $5, "bytes" }
  ' | while read -r line; do
    fault "writable data: $line"
  done
  readelf -sW "$1" | awk '$7 == "COM" { print $8 }' | while read -r name; do
    fault "writable data: common symbol $name"
  done
}

# object SOURCE: one for a sample.
object() {
  echo "$1" >"$scratch/sample.c"
  $CC -fPIC -c -o "$scratch/sample.o" "$scratch/sample.c" || exit 99
}

object 'static int counter; int next(void) { return ++counter; }'
must_find "a static counter" constant "$scratch/sample.o"
object 'int table[4] = {1, 2, 3, 4};'
must_find "a table without const" constant "$scratch/sample.o"
object 'int next(void) { static _Thread_local int n; return ++n; }'
must_find "thread-local data" constant "$scratch/sample.o"
object 'const char *const names[] = {"a", "b"}; const int table[] = {1, 2};'
must_pass "constant tables" constant "$scratch/sample.o"

test "$VYRE_SANITIZERS" = no || skip "a sanitizer makes every table writable"
archive=$top_builddir/libvyre/$objdir/libvyre_ir.a
test -s "$archive" || { echo "no archive at $archive"; exit 1; }
enforce constant "$archive"
