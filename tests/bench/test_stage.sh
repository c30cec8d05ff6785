# The folder for a machine without a build: complete, movable, and its script leaves a report with a peer in it.
. "$top_srcdir/tests/tools/lib.sh"

stage=$top_srcdir/bench/stage-gpu
skip_if_short # sanitizers bring libraries of the compiler
command -v patchelf >/dev/null || { echo "there is no patchelf"; exit 77; }

expect 2 "$stage"
expect 2 "$stage" "$work" folder
err_has "is no build directory"
mkdir there
expect 2 "$stage" "$top_builddir" there
err_has "exists already"

expect 0 "$stage" "$top_builddir" folder
# As another machine would see it: somewhere else, with nothing that is set here.
mv folder "moved folder"
for object in "moved folder/bin/vyre" "moved folder"/lib/libvyre.so.?.?.? "moved folder"/lib/vyre/backends-*/*.so; do
  expect 0 env -i PATH="$PATH" ldd "$object"
  if grep -q 'not found' out; then fail "$object lacks a library"; fi
  if grep -E 'libvyre|libsodium|libinih|libjansson' out | grep -vF "moved folder/"; then
    fail "$object takes a library from elsewhere"
  fi
done

expect 2 "moved folder/run-gpu"
"$top_srcdir/bench/peers/build" --list | grep -qw gcc || { echo "no peer can be built with gcc"; finish; }
expect 0 env -i PATH="$PATH" HOME="$work" PEERS=gcc "moved folder/run-gpu" report \
  elementwise.add.true.S.2048 --samples 2
for file in result.json result.html log.txt machine.txt peers.txt; do
  test -s "report/$file" || fail "the report has no $file"
done
grep -q '^gcc: built' report/peers.txt || fail "gcc was not built: $(cat report/peers.txt)"
grep -q '"elementwise.add.true.S.2048"' report/result.json || fail "the result has not the case"
grep -q 'fastest of those tried' report/result.json || fail "the peer did not take part"

# What fails is told by the status.
expect 2 env -i PATH="$PATH" HOME="$work" PEERS= "moved folder/run-gpu" report2 no.such.case
finish
