#!/bin/sh
# The command as a whole: names and options, a run beside peers of every kind, what comes of it, and two runs compared.
. "$top_srcdir/tests/tools/lib.sh"
skip_if_short
bench=$top_builddir/bench/vyre-bench
case=elementwise.add.true.S.32
VYRE_BACKEND_PATH=$VYRE_TEST_BACKENDS
export VYRE_BACKEND_PATH

# peers NAME...: a directory ./peers in which each of them is the fake peer.
peers() {
  rm -rf peers
  mkdir peers
  for name in "$@"; do ln -s "$top_builddir/tests/bench/fake_peer" "peers/$name"; done
}

# What there is.
expect 0 "$VYRE" bench list; out_has "$case "; out_has 'suite: '; err_is_empty
expect 0 "$bench" list; out_has "$case "
expect 0 "$VYRE" bench list --tier S; out_has "$case "
if grep -q '\.H\.' out; then fail 'tier H is among tier S'; fi
expect 0 "$VYRE" bench list --variant shape; out_has elementwise.add.shape.L.1000000
expect 0 "$VYRE" bench list integer; out_has integer.strength_reduction.true.S.1024
if grep -q elementwise out; then fail 'elementwise is among integer'; fi
expect 0 "$VYRE" bench list smoke; out_has elementwise.add.true.L.1048576

# What is refused, with a way out.
for words in frob 'elementwise.ad' '--tier Q' '--variant nope' 'smoke deep' 'elementwise.add.u8 --tier S' \
  'list frob'; do
  # shellcheck disable=SC2086
  expect 2 "$VYRE" bench $words; err_has 'Fix: '; out_is_empty
done
for words in '--samples 1' '--samples x' '--samples 100001' '--seed -1' '--device 0' '--device 0 --backend auto' \
  '--peers no/such/place' 'compare' 'compare a' 'compare a b c' \
  'compare a b --json c' 'compare a b --html c' '--samples' '--frob'; do
  # shellcheck disable=SC2086
  expect 2 "$VYRE" bench $words; err_has 'Fix: '; out_is_empty
done
expect 1 "$VYRE" bench $case --json no/such/place.json; err_has no/such/place.json
expect 1 "$VYRE" bench $case --backend frob; err_has vyre_backend_frob.so
expect 2 "$VYRE" bench compare /dev/null /dev/null; err_has '/dev/null'
printf '{"schema": 1}' >half.json
expect 2 "$VYRE" bench compare half.json half.json; err_has half.json
expect 2 "$VYRE" bench compare none.json none.json; err_has none.json
mkdir none
expect 1 "$VYRE" bench probe; err_has 'there are none'

# Digests without a device.
expect 0 "$VYRE" bench verify --tier S; out_has 'as written down'
if grep -q 'not written down\|WRONG' out; then fail 'a digest is not written down'; fi

# A run without peers.
expect 0 "$VYRE" bench $case --samples 5 --peers none --json alone.json --html alone.html
out_has 'vyre '; out_has 'it is not built here'
grep -q '<svg' alone.html || fail 'alone.html has no picture'
expect 0 "$VYRE" bench $case --samples 5 --peers none --json -; out_has '"schema": 1'

# One that is right, and others that are not: each costs its own row.
peers gcc clang pocl vulkan cub cublas
FAKE_clang=wrong FAKE_pocl=crash FAKE_vulkan=refuse FAKE_cub=nan
export FAKE_clang FAKE_pocl FAKE_vulkan FAKE_cub
expect 0 env VYRE_BACKENDS=none "$VYRE" bench $case --samples 5 --peers peers --json run.json
unset FAKE_clang FAKE_pocl FAKE_vulkan FAKE_cub
out_has 'untested: no compiled backend'
out_has 'o[31] is 0x'
out_has 'was ended by signal 6'
out_has 'it does not know how'
out_has 'time nan -'
out_has 'it is not built here' # cuda
out_has 'fake device'          # probes by those that have them
for text in '"name": "gcc"' '"ratios"' '"wanted"' c03c499aee5e219b '"launches"' '"probes"' '"seed"' '"cold_ns"'; do
  grep -q -- "$text" run.json || fail "run.json lacks $text"
done
expect 0 "$VYRE" bench compare run.json run.json

# One that spoils the inputs: nothing after it counts.
FAKE_gcc=spoils-inputs
export FAKE_gcc
expect 1 "$VYRE" bench $case --samples 5 --peers peers; out_has 'an input was changed'
unset FAKE_gcc

# One that hangs as it ends holds nobody up for long.
FAKE_gcc=stays
export FAKE_gcc
expect 0 "$VYRE" bench $case --samples 5 --peers peers
unset FAKE_gcc

# Files stay as they were if something fails.
echo old >kept.json
expect 1 "$VYRE" bench $case --samples 5 --peers none --json kept.json --backend frob
[ "$(cat kept.json)" = old ] || fail 'a failed run wrote its file'

# Five percent in one contestant are found; other noise of the same size is not.
peers gcc clang pocl
FAKE_NS=1000 FAKE_SEED=1
export FAKE_NS FAKE_SEED
expect 0 "$VYRE" bench $case --samples 30 --peers peers --json before.json
FAKE_SEED=2
expect 0 "$VYRE" bench $case --samples 30 --peers peers --json same.json
rm peers/gcc
cat >peers/gcc <<END
#!/bin/sh
FAKE_NS=1050; export FAKE_NS
exec "$PWD/peers/clang"
END
chmod +x peers/gcc
expect 0 "$VYRE" bench $case --samples 30 --peers peers --json slower.json
# vyre's own times are real, so only the words of the fake ones are certain
"$VYRE" bench compare before.json same.json >out 2>err
grep -q "^same *$case *gcc " out || fail 'a change is seen where there is none'
"$VYRE" bench compare before.json slower.json >out 2>err
grep -q "^slower *$case *gcc " out || fail 'five percent are not seen'
grep -q "^same *$case *pocl " out || fail 'another contestant is blamed'
"$VYRE" bench compare slower.json before.json >out 2>err
grep -q "^faster *$case *gcc " out || fail 'five percent the other way are not seen'
finish
