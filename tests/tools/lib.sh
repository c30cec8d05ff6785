# Helpers of the command's tests. A test sources this first; it then stands in an empty directory of its own.
#   expect STATUS WORD...   runs a command, with its output in ./out and ./err, and wants this exit status
#   out_is TEXT             wants exactly this on standard output (a line end is added)
#   out_has TEXT, err_has TEXT   want it somewhere
#   err_is_empty, out_is_empty
#   absent FILE...          wants that none of them is there
#   is_short                whether long tests are to be short: VYRE_SHORT_TESTS is set, or there are sanitizers
#   skip_if_short           ends a test that can't be short
#   finish                  ends the test; its last line
# A failed wish is told and the test goes on; finish then fails.
set -u
: "${top_srcdir:?run by make check}" "${VYRE:?run by make check}"
# The command itself, where $VYRE leads to libtool's script around it, which takes ten times as long to start.
if [ -x "$top_builddir/tools/.libs/vyre" ] && [ "$VYRE" -ef "$top_builddir/tools/vyre" ]; then
  VYRE=$top_builddir/tools/.libs/vyre
  LD_LIBRARY_PATH=$top_builddir/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
  export LD_LIBRARY_PATH
fi
work=$(mktemp -d) || exit 99
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
cd "$work" || exit 99
HOME=$work
XDG_CONFIG_HOME=$work/config
VYRE_CONFIG=
export HOME XDG_CONFIG_HOME VYRE_CONFIG
failures=0
command_line=

is_short() { [ -n "${VYRE_SHORT_TESTS:-}" ] || [ "$VYRE_SANITIZERS" != no ]; }
skip_if_short() {
  ! is_short || { echo 'skipped: it takes minutes, and short tests are asked for (VYRE_SHORT_TESTS, or sanitizers)'; exit 77; }
}

fail() {
  echo "FAIL: $command_line"
  echo "      $*"
  if [ -f out ]; then head -c 2000 out | sed 's/^/  out| /'; fi
  if [ -f err ]; then head -c 2000 err | sed 's/^/  err| /'; fi
  failures=$((failures + 1))
}

expect() {
  wanted=$1
  shift
  command_line=$*
  "$@" >out 2>err </dev/null
  status=$?
  [ "$status" -eq "$wanted" ] || fail "exit status $status, wanted $wanted"
  # Whatever is refused is refused with a way out.
  if [ "$wanted" -ne 0 ] && [ "$1" = "$VYRE" ] && [ ! -s err ]; then fail "failed without a message"; fi
}

out_is() {
  printf '%s\n' "$1" >wanted_out
  cmp -s wanted_out out || fail "standard output is not: $1"
}
out_has() { grep -qF -e "$1" out || fail "standard output lacks: $1"; }
err_has() { grep -qF -e "$1" err || fail "standard error lacks: $1"; }
err_lacks() { if grep -qF -e "$1" err; then fail "standard error has: $1"; fi; }
out_is_empty() { [ ! -s out ] || fail "standard output is not empty"; }
err_is_empty() { [ ! -s err ] || fail "standard error is not empty"; }
same() { cmp -s "$1" "$2" || fail "$1 and $2 differ"; }
absent() {
  for file in "$@"; do
    if [ -e "$file" ] || [ -L "$file" ]; then fail "$file is there"; fi
  done
}

finish() {
  [ "$failures" -eq 0 ] || { echo "$failures wishes failed"; exit 1; }
  exit 0
}
