# The program that runs random programs in bulk: a short hunt finds nothing, kept programs agree, a moved copy works,
# and wrong usage is said.
set -u
run=$top_builddir/tests/lower/random_run
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
fail() {
  echo "FAIL: $*"
  exit 1
}

# says WHAT EXIT ARGUMENTS...: it ends so, and what it says holds WHAT.
says() {
  what=$1
  wanted=$2
  shift 2
  "$run" "$@" >"$scratch/said" 2>&1
  got=$?
  test $got = "$wanted" || fail "$*: exit $got: $(cat "$scratch/said")"
  grep -q -e "$what" "$scratch/said" || fail "$*: not said: $what: $(cat "$scratch/said")"
}

says '200 programs, .* 0 differences' 0 --from 1 --count 200 --jobs 2
says ' 0 differences' 0 --from 1000 --count 10 --statements 300 --target engine,least
says ' 0 differences' 0 --from 2000 --count 40 --reuse 25
says '20 programs, 40 runs, ' 0 --count 20 --target text
says ' 0 differences' 0 --seconds 1 --count 100000000
says 'usage: ' 0 --help
says '^least \*$' 0 --list
says 'Fix: ' 2 --target nothing
says 'Fix: ' 2 --count many
says 'Fix: ' 2 --jobs 0
says 'usage: ' 2 --unknown
says 'Fix: ' 2 "$scratch/missing.vyre"
says 'kept programs, 0 differ' 0 "$top_srcdir"/tests/corpus/random/*.vyre

# Devices of plugins, where the build's plugins can be opened by a program that is not instrumented.
if test "$VYRE_SANITIZERS" = no; then
  says '30 programs, .* 0 differences' 0 --count 30 --device cpu_ref --backend-path "$VYRE_TEST_BACKENDS"
fi

# A staged folder works wherever it lies, with the libraries that lie in it.
if test "$VYRE_SANITIZERS" = no; then
  "$top_srcdir/tests/lower/stage_random" "$top_builddir" "$scratch/staged" >"$scratch/said" || fail "$(cat "$scratch/said")"
  mv "$scratch/staged" "$scratch/moved"
  run=$scratch/moved/random_run
  ldd "$run" | grep -q "libsodium.* => $scratch/moved/" || fail "it takes libraries from elsewhere: $(ldd "$run")"
  says '20 programs, .* 0 differences' 0 --count 20
  says '10 programs, .* 0 differences' 0 --count 10 --device template --backend-path "$scratch/moved/plugins"
  "$top_srcdir/tests/lower/stage_random" "$top_builddir" "$scratch/moved" 2>"$scratch/said" && fail "staged over a folder"
  grep -q 'Fix: ' "$scratch/said" || fail "$(cat "$scratch/said")"
fi
