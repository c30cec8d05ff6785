#!/bin/sh
# What is kept as evidence is some: it reads by the current schema, no gate failed, and its directory is named by what
# is in it. keep-evidence is tried first with what it has to refuse.
set -u
: "${top_srcdir:?run by make check}" "${top_builddir:?run by make check}" "${VYRE:?run by make check}"
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
fail() {
  echo "FAIL: $*"
  exit 1
}

# A tree of its own, so that nothing is put into the real one.
mkdir -p "$work/bench" "$work/docs/evidence" "$work/out"
cp "$top_srcdir/bench/keep-evidence" "$work/bench/"
keep=$work/bench/keep-evidence
"$top_builddir/tests/bench/write_sample" json >"$work/sample.json" || fail "the sample is not written"
"$top_builddir/tests/bench/write_sample" html >"$work/out/result.html" || fail "the sample is not written"

# refused REASON EDIT: the sample after that edit is not kept.
refused() {
  sed "$2" "$work/sample.json" >"$work/out/result.json"
  ! cmp -s "$work/sample.json" "$work/out/result.json" || fail "$2 changes nothing"
  if "$keep" "$work/out" >"$work/said" 2>&1; then fail "kept, though $1"; fi
  grep -qF "$1" "$work/said" || fail "$(cat "$work/said") does not say: $1"
  grep -qF 'Fix: ' "$work/said" || fail "$(cat "$work/said") has no way out"
}

refused 'the tree was changed' 's/"dirty": false/"dirty": true/'
refused 'names no commit' '/"commit": /d'
refused 'a gate failed' 's/"verdict": "pass"$/"verdict": "fail"/'
refused 'was not judged' '/^ *"verdict": "\(pass\|absent\)",*$/d'
refused 'names directories of a machine' 's|"compiler": "|"compiler": "/tmp/compilers/|'
cp "$work/sample.json" "$work/out/result.json"
place=$("$keep" "$work/out") || fail "a good result is not kept"
test "${place##*/}" = 2026-11-30-0123456789ab-cuda-sample-cpu || fail "kept as $place"
cmp -s "$work/sample.json" "$place/result.json" && test -s "$place/result.html" || fail "it is not what was kept"
if "$keep" "$work/out" >"$work/said" 2>&1; then fail "a second result of the same commit is kept"; fi
grep -qF 'is there already' "$work/said" || fail "$(cat "$work/said")"

# holds DIRECTORY: whether it is evidence.
holds() {
  name=${1##*/}
  "$VYRE" bench compare "$1/result.json" "$1/result.json" >"$work/said" 2>&1 || { cat "$work/said"; return 1; }
  grep -q '"verdict": "fail",*$' "$1/result.json" && { echo "$name: a gate failed"; return 1; }
  test -s "$1/result.html" || { echo "$name: it has no result.html"; return 1; }
  commit=$(sed -n 's/^ *"commit": "\(.\{12\}\).*/\1/p' "$1/result.json" | head -n 1)
  day=$(sed -n 's/^ *"time": "\(.\{10\}\).*/\1/p' "$1/result.json" | head -n 1)
  case $name in
    "$day-$commit-"*) ;;
    *) echo "$name: it is of $day, commit $commit"; return 1 ;;
  esac
}

holds "$place" || fail "the sample does not hold"
moved=$work/docs/evidence/2026-11-29-0123456789ab-cuda
mv "$place" "$moved"
if holds "$moved" >/dev/null; then fail "self-test: a wrong date is not found"; fi
echo '{}' >"$moved/result.json"
if holds "$moved" >/dev/null; then fail "self-test: what is no result is not found"; fi

for directory in "$top_srcdir"/docs/evidence/*/; do
  test -d "$directory" || continue
  holds "${directory%/}" || fail "$directory is no evidence"
done
exit 0
