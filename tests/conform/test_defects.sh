#!/bin/sh
# Copies of the template with one thing wrong each: the check that is for it fails, and says so. (What goes wrong with
# numbers is in the tests of the numeric checks.)
. "$top_srcdir/tests/tools/lib.sh"
. "$top_srcdir/tests/conform/lib.sh"
skip_if_short # nor could a plugin be built here with the sanitizer of the build

# spoil FILE EXPRESSION: a copy of the template's file, changed by sed; it must change.
spoil() {
  sed "$2" "$top_srcdir/plugins/template/$1" >"$1"
  if cmp -s "$1" "$top_srcdir/plugins/template/$1"; then fail "$2 changes nothing in $1"; fi
}
# found ID TEXT: the check fails with that, and nothing is left.
found() {
  template
  expect 1 "$VYRE" conform vyre_backend_template.so --only "$1"
  grep -q "^\(fail\|crash\|timeout\) *$1" out || fail "$1 does not find it"
  out_has "$2"
  rm -f ./*.c
}

# --- The file ---
echo '__attribute__((visibility("default"))) int second(void) { return 1; }' >more.c; found static.exports second
echo '__attribute__((constructor)) static void begin(void) { extern int getpid(void); getpid(); }' >more.c
found static.constructors 'a constructor, begin'
echo '__attribute__((destructor)) static void end(void) { extern int getpid(void); getpid(); }' >more.c
found static.constructors 'a destructor, end'
echo 'int atexit(void (*)(void)); static void end(void) {} void more(void) { atexit(end); }' >more.c
found static.constructors 'atexit'
echo 'int strange(void) { return 1; }' >stranger.x
$CC -shared -fPIC -x c stranger.x -o libstranger.so.1 -Wl,-soname,libstranger.so.1
echo 'extern int strange(void); int more(void) { return strange(); }' >more.c
FLAGS="$PWD/libstranger.so.1 -Wl,-rpath,$PWD"; found static.needed 'needs libstranger.so.1'
FLAGS='-Wl,-z,undefs'
echo 'extern int vyre_log_wants(void); int more(void) { return vyre_log_wants(); }' >more.c
found static.imports 'takes vyre_log_wants from its host'
FLAGS='-Wl,-z,execstack'
found static.segments 'an executable stack'
FLAGS=

# --- The descriptor ---
spoil plugin.c 's/^  \.flags = VYRE_BACKEND_TAKES_KERNEL,/  .flags = 1u << 9,/'; found static.descriptor 'VBP-9'
spoil plugin.c 's/TAKEN(PARAM), TAKEN(SPEC)/{ 0x3FF, 0, 1 }, TAKEN(SPEC)/'; found static.opcodes 'no opcode 0x3ff'
spoil plugin.c '/^  \.timeline_wait = /d'; found static.slots 'timeline_wait'
spoil plugin.c 's/^  (void)request;$/  static vyre_backend_desc c[2]; static int i; c[i ^= 1] = desc; return \&c[i];/'
found static.query 'another descriptor'

# --- Records and flags ---
spoil objects.c 's/  if (given > bytes) given = bytes;/  given = bytes;/'; found abi.records.short 'VBP-13'
spoil objects.c 's/  if (room > bytes) room = bytes;/  room = bytes;/'; found abi.records.outputs 'was written'
spoil objects.c 's/  if ((flags & ~known) == 0) return VYRE_OK;/  return VYRE_OK;/'
found abi.flags 'a queue with an unknown flag'
spoil plugin.c 's/^    c\.binding_alignment = 16;/    c.subgroup_size = 3;/'; found abi.devices 'subgroup_size 3'

# --- Compiling and loading ---
spoil code.c 's/    return in->aux <= VYRE_ORDER_SEQ_CST && in->aux2 <= VYRE_SCOPE_SYSTEM;/    return true;/'
found abi.compile.unknown 'an unknown memory scope'
spoil plugin.c 's/  if (digest(&header, kernel) != header\.digest).*/  ;/'; found abi.load.bytes 'one byte changed'
spoil code.c 's/^  else engine_free(code);$/  else code = NULL;/'; found resource.refused 'allocations of its own'
spoil code.c 's/^static vyre_status broken(.*/&\n  extern void abort(void); abort();/'
found abi.compile.headers 'signal 6 (Aborted)'
spoil plugin.c 's/^  if (bytes == NULL) return backend_no_memory(error);$//'; found resource.host_memory 'signal 11'
spoil objects.c 's/^    free(executable);$//; s/^    backend_set_destroy(set);$//'
found resource.own_memory 'allocations live on'

# --- Work ---
spoil objects.c 's/  if (device->process == getpid()) return VYRE_OK;/  return VYRE_OK;/'
found abi.fork 'child process'
spoil execute.c 's/    if (set->binds\[slot\]\.flags & VYRE_BIND_ZERO/    if (set->binds[slot].flags \& (1u << 20)/'
found abi.batch.zero 'zero first'
spoil execute.c 's/^    completion->clamped_extents++;$//'; found abi.batch.indirect clamped_extents
spoil queue.c 's/(device->queues < BACKEND_MAX_QUEUES/(device->queues < 9999/'
found abi.time.limit 'above max_queues'
spoil code.c 's/invocations \* e->workgroup\[2\] > 65536/invocations * e->workgroup[2] > 512/'
found abi.launch.limits 'it refuses a program'
spoil queue.c 's/^    backend_execute(&s->work);$/    signal_all(device, s); backend_execute(\&s->work);/'
found abi.time.records 'is not filled'

# Beside a persistent launch, which the template takes once it says so, loading may be refused by BUSY, with a way out
# and not for ever.
claims='s/^    c\.can = /    c.max_persistent = BACKEND_MAX_PERSISTENT; c.can = VYRE_CAN_PERSISTENT | /'
# refuses CONDITION REASON
refuses() {
  spoil plugin.c "$claims; s/^  status = read_blob(blob, bytes, &code, error);/  static int times; \
if (device->persistent_queues > 0 \&\& $1) return backend_fail(error, VYRE_ERR_BUSY, \"template\", \"$2\"); &/"
}
refuses 'times++ >= 0' 'It runs. Fix: wait.'; found abi.launch.persistent 'after its end: wanted VYRE_ERR_OK'
refuses 'times++ == 0' 'It runs.'; found abi.launch.persistent 'does not say what to do'
refuses 'times++ == 0' 'It runs. Fix: wait.'
template
expect 0 "$VYRE" conform vyre_backend_template.so --only abi.launch.persistent
out_has 'it loads nothing beside a persistent launch'
rm -f ./*.c
spoil plugin.c 's/^static vyre_status probe(/#include <stdio.h>\n&/; s/^  (void)host, (void)error;$/  puts("hello");/'
found abi.probe 'prints nothing'
spoil plugin.c 's/^static vyre_status probe(/#include <stdio.h>\n&/; s/^  (void)host, (void)error;$/  putchar(0);/'
found abi.probe 'this one printed (VBP-27): ?'

# --- What is the host's ---
opening() { spoil plugin.c "s/^static vyre_status probe(/#include <$1>\n&/; s/^  (\*out)->host = host;\$/&\n  $2/"; }
opening signal.h 'sigset_t s; sigfillset(\&s); sigprocmask(SIG_BLOCK, \&s, 0);'
found abi.reopen 'changes the blocked signals of its host'
opening unistd.h 'close(0);'; found abi.reopen 'closes 1 files of its host'
opening unistd.h 'chdir("\/");'; found abi.reopen 'changes the current directory of its host'
opening sys\\/stat.h 'umask(7);'; found abi.reopen 'changes the mode mask of its host'
opening fenv.h 'fesetround(FE_UPWARD);'; found abi.reopen 'changes the rounding of floats of its host'
spoil plugin.c 's/| VYRE_CAN_TIMESTAMP;/& c.can |= VYRE_CAN_STORAGE_READ;/'; found abi.devices 'claims storage_read'

# --- A file that is not the same to its end ---
spoil plugin.c 's/^static vyre_status probe(/#include <stdio.h>\n&/
s/^  (void)host, (void)error;$/  FILE *f = fopen("vyre_backend_template.so", "ab"); putc(0, f); fclose(f);/'
template
expect 1 "$VYRE" conform vyre_backend_template.so --only abi.probe; err_has 'was changed while it was checked'
finish
