# Rule: the environment is read in one place, base/env.c, which knows when it may not be trusted. The library neither
# prints (but for the log sink in base/log.c that a caller may choose), aborts nor exits, and leaves the process as it
# was: no signal handler, locale, umask, directory.
. "$top_srcdir/tests/house/lib.sh"

getters='getenv|secure_getenv|setenv|putenv|unsetenv|environ'
enders='abort|exit|_exit|_Exit|quick_exit|atexit|on_exit|assert|printf|vprintf|puts|putchar|perror|err|errx|warn|warnx'
changers='signal|sigaction|setlocale|uselocale|umask|chdir|fchdir|srand|srandom'

# calls_none FORBIDDEN WHY FILES...
calls_none() {
  forbidden=$1
  why=$2
  shift 2
  for file in "$@"; do
    without_comments "$file" | grep -nE "(^|[^A-Za-z0-9_>.\"])($forbidden)[ ]*\\(" | while read -r line; do
      fault "$file $why: ${line#*:}"
    done
  done
}

# quiet_library FILES...
quiet_library() {
  for one in "$@"; do
    case $one in
      */base/env.c) ;;
      *) calls_none "$getters" "reads the environment" "$one" ;;
    esac
    calls_none "$enders" "prints or ends the process" "$one"
    calls_none "$changers" "changes the process" "$one"
    test "${one%/base/log.c}" = "$one" || continue
    without_comments "$one" | grep -nE '(^|[^A-Za-z0-9_])(stdout|stderr)([^A-Za-z0-9_]|$)' | while read -r line; do
      fault "$one prints: ${line#*:}"
    done
  done
}

sample=$scratch/sample.c
for line in 'x = getenv("HOME");' 'exit(1);' 'abort ();' 'printf("%d", 1);' 'fputs("x", stderr);' 'umask(0);'; do
  echo "int f(void) { $line }" >"$sample"
  must_find "$line" quiet_library "$sample"
done
echo 'int f(void) { /* getenv("X"), exit(1) */ snprintf(b, 3, "exit(1)"); vyre_print(x); s->exit(1); return 0; }' >"$sample"
must_pass "code that is quiet" quiet_library "$sample"

# shellcheck disable=SC2046
enforce quiet_library $(sources_in "$top_srcdir/libvyre" "$top_srcdir/plugins" "$top_srcdir/runtime")
