# Rule: the environment is read in one place, base/env.c, which knows when it may not be trusted. The library and its
# plugins neither print (but for the log sink in base/log.c that a caller may choose), abort nor exit, and leave the
# process as it was: no signal handler, locale, umask, directory, exit handler. What an object calls is asked of the
# object, not of its text.
. "$top_srcdir/tests/house/lib.sh"

getters='(secure_)?getenv|setenv|putenv|unsetenv|clearenv|environ|__environ'
enders='abort|exit|_exit|_Exit|quick_exit|atexit|on_exit|__cxa_atexit|__assert_fail|raise|kill'
printers='stdout|stderr|(__)?v?printf(_chk)?|puts|putchar|perror|v?(err|warn)x?'
changers='signal|sigaction|setlocale|uselocale|umask|chdir|fchdir|srand|srandom'

# undefined FILE: an archive, object or shared object; "MEMBER NAME" lines of what it takes from others.
undefined() {
  case $1 in
    *.a) readelf -sW "$1" ;;
    *.o) echo "File: $1" && readelf -sW "$1" ;;
    *) echo "File: $1" && readelf --dyn-syms -W "$1" ;;
  esac | awk '/^File: / { member = $0; sub(/^File: /, "", member); next }
    $7 == "UND" && $8 != "" { sub(/@.*/, "", $8); print member, $8 }'
}

# takes_none FORBIDDEN WHY EXEMPT FILE: members whose name matches EXEMPT may.
takes_none() {
  undefined "$4" | grep -E " ($1)\$" | grep -vE "$3" | while read -r line; do
    fault "$2: $line"
  done
}

# quiet FILE
quiet() {
  takes_none "$getters" "reads the environment" '[_-]env\.o\)? ' "$1"
  takes_none "$enders" "ends the process or has it run code at its end" '^$' "$1"
  takes_none "$printers" "prints" '[_-]log\.o\)? ' "$1"
  takes_none "$changers" "changes the process" '^$' "$1"
}

# object SOURCE: one for a sample.
object() {
  printf '#include <stdio.h>\n#include <stdlib.h>\n#include <sys/stat.h>\n%s\n' "$1" >"$scratch/sample.c"
  $CC -fPIC -c -o "$scratch/sample.o" "$scratch/sample.c" || exit 99
}

for call in 'getenv("HOME")' 'exit(1)' 'abort()' 'printf("%d", 1)' 'fputs("x", stderr)' 'umask(0)' 'atexit(abort)'; do
  object "void f(void) { $call; }"
  must_find "$call" quiet "$scratch/sample.o"
done
object 'int f(char *b) { return snprintf(b, 3, "exit(1)"); } static int warn(void) { return 1; } int (*g)(void) = warn;'
must_pass "code that is quiet" quiet "$scratch/sample.o"

for archive in "$top_builddir"/libvyre/$objdir/*.a; do
  test -s "$archive" || { echo "no archive at $archive"; exit 1; }
  enforce quiet "$archive"
done
for plugin in $(plugins); do
  enforce quiet "$plugin"
done
