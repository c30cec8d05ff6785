#!/bin/sh
# Outputs are whole or not there at all: full disks, closed pipes, directories without permission, signals.
. "$top_srcdir/tests/tools/lib.sh"
saxpy=$top_srcdir/examples/saxpy.vyre
run="$VYRE run --backend cpu_ref $saxpy --set a=2 --in x=1,2,3,4 --in y=10,20,30,40"
cat >two.vyre <<'END'
program two { write a: u32[2]; write b: u32[2]; a[0] = 1; b[0] = 2; }
END
two="$VYRE run --backend cpu_ref two.vyre --grid 1"
no_leftovers() { # DIRECTORY
  leftover=$(find "$1" -name '.*.??????' -type f)
  [ -z "$leftover" ] || fail "left over: $leftover"
}

# New files, replaced files, their modes, links.
umask 027
expect 0 $run --out y=@new
[ "$(stat -c %a new)" = 640 ] || fail "mode of a new file: $(stat -c %a new)"
[ "$(od -An -tx1 new | tr -d ' \n')" = 000040410000c0410000104200004042 ] || fail 'bytes of a new file'
echo old >old
chmod 604 old
expect 0 $run --out y=@old; same old new
[ "$(stat -c %a old)" = 604 ] || fail "mode of a replaced file: $(stat -c %a old)"
mkdir place
echo old >place/target
ln -s place/target link
expect 0 $run --out y=@link; same place/target new
[ -L link ] || fail 'a symbolic link was replaced'
no_leftovers . ; no_leftovers place
ln -s nowhere dangling
expect 0 $run --out y=@dangling; same dangling new

# Devices and pipes are written in place.
expect 0 $run --out y=@/dev/null; [ -c /dev/null ] || fail '/dev/null was replaced'
mkfifo pipe
cat pipe >from_pipe &
expect 0 $run --out y=@pipe
wait $!
same from_pipe new
[ -p pipe ] || fail 'a pipe was replaced'
"$VYRE" run --backend cpu_ref "$saxpy" --set a=2 --in x=1,2,3,4 --in y=10,20,30,40 --out y=@/dev/stdout 2>err | cat >from_stdout
same from_stdout new

# Inputs from a pipe, and a buffer that is read from and written to one file.
expect 2 sh -c "cat new | $VYRE run --backend cpu_ref $saxpy --set a=0 --in x=@- --in y=@- --out y=-"; err_has 'named twice'
expect 2 sh -c "cat new | $VYRE run --backend cpu_ref $saxpy --set a=0 --in x=@/dev/stdin --in y=@- --out y=-"; err_has 'named twice'
expect 0 sh -c "cat new | $VYRE run --backend cpu_ref $saxpy --set a=0 --in x=1,2,3,4 --in y=@/dev/stdin --out y=-"
out_is '12 24 36 48'
cp new both
expect 0 "$VYRE" run --backend cpu_ref "$saxpy" --set a=1 --in x=@both --in y=@both --out y=@both
[ "$(od -An -tf4 both | tr -s ' ')" = ' 24 48 72 96' ] || fail 'a file that is input and output'

# What can not be written.
expect 1 $run --out y=@/dev/full; err_has '/dev/full'
expect 1 $run --out y=@.; err_has 'directory'
expect 1 $run --out y=@no/such/file; err_has 'no/such/file'
expect 1 $run --out y=@new/file; err_has 'new/file'
[ -c /dev/full ] || fail '/dev/full was replaced'
expect 2 $two --out a=@one --out b=@one; err_has 'two buffers go to one'; absent one
ln -s one other
expect 2 $two --out a=@one --out b=@./one; absent one
echo x >one
expect 2 $two --out a=@one --out b=@other; [ "$(cat one)" = x ] || fail 'one was written'
if [ "$(id -u)" -ne 0 ]; then
  mkdir locked
  chmod 555 locked
  expect 1 $run --out y=@locked/file; err_has 'locked/file'; absent locked/file
  echo old >readonly
  chmod 444 readonly
  expect 1 $run --out y=@readonly; [ "$(cat readonly)" = old ] || fail 'a file without permission was replaced'
fi

# One place that fails keeps all others as they were, in either order.
echo old >kept
expect 1 $two --out a=@kept --out b=@/dev/full; [ "$(cat kept)" = old ] || fail 'a partial result'
expect 1 $two --out b=@/dev/full --out a=@kept; [ "$(cat kept)" = old ] || fail 'a partial result'
expect 1 $two --out a=@kept --out b=@no/such/file; [ "$(cat kept)" = old ] || fail 'a partial result'
no_leftovers .

# Standard output that fails.
for command in "$two --out a=- --out b=@kept" "$two --out a=- --json" "$VYRE fmt two.vyre" "$VYRE check --json two.vyre" \
  "$VYRE help" "$VYRE --help" "$VYRE --version" "$VYRE run --help" "$VYRE backends" "$VYRE pack two.vyre -o -"; do
  command_line=$command
  $command >/dev/full 2>err; [ $? -eq 1 ] || fail '/dev/full as standard output'
  err_has 'standard output: No space left'
  [ "$(grep -c 'standard output' err)" -eq 1 ] || fail 'a failure is told twice'
  $command >&- 2>err; [ $? -eq 1 ] || fail 'closed standard output'
  err_has 'standard output'
  { $command 2>err; echo $? >status; } | true
  case $(cat status) in
    0 | 1) ;; # the pipe may take it before it is closed
    *) fail "a closed pipe: status $(cat status)" ;;
  esac
done
[ "$(cat kept)" = old ] || fail 'a file was written although standard output failed'
# More than a pipe holds: now the failure is certain.
printf 'program big { write b: u32[100000]; }\n' >big.vyre
{ "$VYRE" run --backend cpu_ref big.vyre --grid 1 --out b=- 2>err; echo $? >status; } | true
[ "$(cat status)" -eq 1 ] || fail "a closed pipe: status $(cat status)"
err_has 'Broken pipe'

# Closed standard streams are no places for files.
"$VYRE" run --backend cpu_ref two.vyre --grid 1 --out a=@here <&- >&- 2>&-
[ $? -ne 2 ] || fail 'closed standard streams'
"$VYRE" run --backend cpu_ref - --grid 1 <&- 2>err; [ $? -eq 2 ] || fail 'a program from closed standard input'

# A file system limit in the midst of a file.
(
  trap '' XFSZ
  ulimit -f 1
  "$VYRE" run --backend cpu_ref big.vyre --grid 1 --out b=@limited 2>err
  echo $? >status
)
[ "$(cat status)" -eq 1 ] || fail "a file size limit: status $(cat status)"
err_has 'limited'
absent limited
no_leftovers .

# A signal during the run leaves nothing.
printf 'program endless { rw b: u32[1]; loop { b[0] += 1; if (b[0] == 0) { break; } } }\n' >endless.vyre
for signal in TERM HUP KILL; do # a shell starts what is in the background without SIGINT, nohup without SIGHUP
  env --default-signal=HUP "$VYRE" run --backend cpu_ref endless.vyre --len b=1 --out b=@interrupted 2>err &
  sleep 0.2
  kill -$signal $!
  wait $! 2>/dev/null && fail "SIG$signal was survived"
  absent interrupted
  no_leftovers .
done
finish
