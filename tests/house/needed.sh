# Rule: libvyre.so needs libc, libm, libdl, inih and libsodium, and nothing else. A plugin needs libc, libm and libdl
# (cpu_ref libsodium too): no vendor library, no libvyre. Nothing is left undefined after the link, and a plugin
# takes no vyre symbol from its host.
. "$top_srcdir/tests/house/lib.sh"

system='libc\.so\.[0-9]+|libm\.so\.[0-9]+|libdl\.so\.[0-9]+|libpthread\.so\.[0-9]+|ld-linux[-a-z0-9_]*\.so\.[0-9]+'
test "$VYRE_SANITIZERS" = no || system="$system|lib(asan|ubsan|tsan|gcc_s)\.so\.[0-9]+"
ours='libsodium\.so\.[0-9]+|libinih\.so\.[0-9]+'

# needs_only FILE ALLOWED: allowed is an extended regular expression for whole names.
needs_only() {
  needed "$1" >"$scratch/needed"
  grep -vxE "$2" "$scratch/needed" | while read -r name; do
    fault "$1 needs $name"
  done
}

# is_complete FILE: the dynamic linker finds every symbol that it wants.
is_complete() {
  ldd -r "$1" 2>&1 | grep -E 'undefined symbol|not found' | while read -r line; do
    case "$VYRE_SANITIZERS $line" in
      no\ *) fault "$1: $line" ;;
      *__asan_* | *__ubsan_* | *__tsan_* | *__sanitizer_* | *__lsan_*) ;; # the program's runtime has them
      *) fault "$1: $line" ;;
    esac
  done
}

# takes_nothing_from_host FILE
takes_nothing_from_host() {
  readelf --dyn-syms -W "$1" | awk '$7 == "UND" && $8 ~ /^_*vyre/ { print $8 }' | while read -r name; do
    fault "$1 takes $name from its host"
  done
}

shared_object libstranger.so 'int stranger(void) { return 1; }' -Wl,-soname,libstranger.so.1
ln -s libstranger.so "$scratch/libstranger.so.1"
shared_object sample.so 'int stranger(void); int sample(void) { return stranger(); }' -L"$scratch" -lstranger
must_find "a library that is not allowed" needs_only "$scratch/sample.so" "$system"
shared_object sample.so 'int stranger(void); int sample(void) { return stranger(); }'
must_find "an undefined symbol" is_complete "$scratch/sample.so"
shared_object sample.so 'int vyre_log(void); int sample(void) { return vyre_log(); }'
must_find "a symbol of the host" takes_nothing_from_host "$scratch/sample.so"
shared_object sample.so '#include <string.h>
int sample(const char *s) { return (int)strlen(s); }'
must_pass "a library with libc alone" needs_only "$scratch/sample.so" "$system"
must_pass "a complete library" is_complete "$scratch/sample.so"

enforce needs_only "$libvyre" "$system|$ours"
enforce is_complete "$libvyre"
test -n "$(plugins)" || { echo "no plugin in $VYRE_TEST_BACKENDS"; exit 1; }
for plugin in $(plugins); do
  case ${plugin##*/} in
    vyre_backend_cpu_ref.so) enforce needs_only "$plugin" "$system|libsodium\.so\.[0-9]+" ;;
    *) enforce needs_only "$plugin" "$system" ;;
  esac
  enforce is_complete "$plugin"
  enforce takes_nothing_from_host "$plugin"
done
