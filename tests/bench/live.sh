#!/bin/sh
# Real times: a contestant that does five percent more is found by compare, and one that does the same is not. It needs
# a quiet machine, so it is no part of make check; `make check-bench-live` runs it. Three attempts, since noise is no
# fault.
set -u
: "${top_builddir:?run by make check-bench-live}"
case=elementwise.add.true.S.32
bench=$top_builddir/bench/vyre-bench
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 99
mkdir peers
for name in gcc clang pocl; do ln -s "$top_builddir/tests/bench/fake_peer" "peers/$name"; done
# gcc does GCC_WORK steps a launch, the others FAKE_WORK.
rm peers/gcc
cat >peers/gcc <<END
#!/bin/sh
FAKE_WORK=\$GCC_WORK; export FAKE_WORK
exec "$work/peers/clang"
END
chmod +x peers/gcc

measure() {
  FAKE_WORK=200000 GCC_WORK=$2 "$bench" $case --samples 40 --peers peers --json "$1" >"$1.txt" 2>&1 || cat "$1.txt"
}
# word BEFORE AFTER: what compare says of gcc.
word() {
  "$bench" compare "$1" "$2" 2>/dev/null | awk -v case=$case '$2 == case && $3 == "gcc" { print $1 }'
}

for attempt in 1 2 3; do
  measure before.json 200000
  measure same.json 200000
  measure slower.json 210000
  same=$(word before.json same.json) slower=$(word before.json slower.json)
  echo "attempt $attempt: no change: $same; five percent: $slower"
  test "$same" = same && test "$slower" = slower && exit 0
  case $same,$slower in
    slower,* | faster,* | *,faster) echo 'a change was seen that is not there, or the wrong way'; exit 1 ;;
  esac
done
echo 'the machine is too noisy to say'
exit 77
