# Rule: a plugin exports vyre_backend_query and nothing else, and neither a plugin nor libvyre runs code when it is
# loaded or when the process ends: no constructor or destructor beyond those that the compiler adds.
. "$top_srcdir/tests/house/lib.sh"

# exports_query_alone FILE
exports_query_alone() {
  names=$(exported "$1" | tr '\n' ' ')
  test "$names" = "vyre_backend_query " || fault "$1 exports: ${names:-nothing}"
}

# entries FILE: how many constructors and destructors it has, without the compiler's own for __builtin_cpu_supports.
entries() {
  bytes=$(readelf -SW "$1" | sed 's/^ *\[ *[0-9]*\] *//' |
    awk '$1 ~ /^\.(init_array|fini_array|ctors|dtors|preinit_array)/ { print "0x" $5 }')
  count=0
  for size in $bytes; do
    count=$((count + size / 8))
  done
  echo $((count - $(readelf -sW "$1" | grep -c '__cpu_indicator_init$')))
}

# runs_nothing FILE: it has as many as an empty shared object of the same compiler.
runs_nothing() {
  test "$(entries "$1")" = "$(entries "$scratch/empty.so")" || fault "$1 has $(entries "$1") constructors and destructors"
}

shared_object empty.so 'int empty;'
shared_object bad.so 'int vyre_backend_query(void) { return 1; } int second(void) { return 2; }'
must_find "a second export" exports_query_alone "$scratch/bad.so"
must_find "a plugin without a query" exports_query_alone "$scratch/empty.so"
shared_object bad.so '__attribute__((constructor)) void begin(void) { __builtin_printf("x"); }'
must_find "a constructor" runs_nothing "$scratch/bad.so"
shared_object bad.so '__attribute__((destructor)) void end(void) { __builtin_printf("x"); }'
must_find "a destructor" runs_nothing "$scratch/bad.so"
must_pass "an empty shared object" runs_nothing "$scratch/empty.so"

test -n "$(plugins)" || { echo "no plugin in $VYRE_TEST_BACKENDS"; exit 1; }
for plugin in $(plugins); do
  enforce exports_query_alone "$plugin"
done
test "$VYRE_SANITIZERS" = no || skip "a sanitizer adds constructors of its own; exports were checked"
for object in "$libvyre" $(plugins); do
  enforce runs_nothing "$object"
done
