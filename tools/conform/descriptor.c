/* Checks of the descriptor and of the function that gives it. libvyre refuses a plugin by most of these rules; here
 * each is named, and what libvyre can't tell is tried. */
#include <inttypes.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <vyre/lower.h>

#include "checks.h"
#include "process.h"
#include "raw.h"

enum { FROZEN_BYTES = offsetof(vyre_backend_desc, opcodes), MOST_TEXT = 255 };

/* ---- What it says ---------------------------------------------------------------------------- */

static bool is_text(const char *text) {
  return text != NULL && text[0] != '\0' && strnlen(text, MOST_TEXT + 1) <= MOST_TEXT;
}

static void check_versions(kit *k, const vyre_backend_desc *d) {
  const uint32_t known = VYRE_BACKEND_TAKES_PROGRAM | VYRE_BACKEND_TAKES_KERNEL;
  if (d->abi_major != VYRE_ABI_MAJOR)
    kit_fail(k, "abi_major: wanted %u, found %u (VBP-7)", VYRE_ABI_MAJOR, d->abi_major);
  if (d->min_host_minor > VYRE_ABI_MINOR)
    kit_fail(k, "min_host_minor: wanted at most %u, found %u (VBP-7)", VYRE_ABI_MINOR, d->min_host_minor);
  if (d->sanitizer != VYRE_ABI_SANITIZER)
    kit_fail(k, "sanitizer: wanted %u as this host has, found %u (VBP-8)", VYRE_ABI_SANITIZER, d->sanitizer);
  if ((d->flags & ~known) != 0) kit_fail(k, "flags: 0x%x are not known (VBP-9)", d->flags & ~known);
  if ((d->flags & known) == 0) kit_fail(k, "flags: it takes neither programs nor kernels (VBP-9)");
}

static void check_texts(kit *k, const vyre_backend_desc *d) {
  if (!is_text(d->name))
    kit_fail(k, "name: wanted a text of 1 to 255 bytes (VBP-10)");
  else if (strcmp(d->name, k->settings->name) != 0)
    kit_fail(k, "name: the descriptor says %s, the file's name %s (VBP-1)", d->name, k->settings->name);
  if (!is_text(d->version))
    kit_fail(k, "version: wanted a text of 1 to 255 bytes (VBP-10)");
  else if (strspn(d->version, "0123456789.") == 0)
    kit_fail(k, "version: wanted dotted numbers, found %s (VBP-10)", d->version);
  if (!is_text(d->build_id)) kit_fail(k, "build_id: wanted a text of 1 to 255 bytes (VBP-10)");
}

void check_descriptor(kit *k) {
  raw r;
  if (!raw_load(k, &r)) return;
  check_versions(k, r.desc);
  check_texts(k, r.desc);
  if (r.desc->size < sizeof *r.desc && (r.desc->flags & VYRE_BACKEND_TAKES_KERNEL) != 0)
    kit_fail(k, "size: %u bytes end before the opcodes that it takes", r.desc->size);
}

/* ---- Opcodes --------------------------------------------------------------------------------- */

static uint64_t known_types(void) {
  uint64_t types = 0;
#define X(name, class, width, count) types |= VYRE_KERNEL_TYPE_BIT(name);
#include <vyre/kernel_types.def>
#undef X
  return types;
}

/* Whether an opcode has neither values nor elements: its row lists it, and says nothing of types. */
static bool is_typeless(uint32_t op) {
  enum { NO, VA, OV, AC, SL, PA, BI, SP, HW, IN, LI, IM };
  enum rule { NONE, VALUE, ARITH, ARITH1, INT, INT1, LOGIC, LOGIC1, SHIFT, FLOAT1, FSCALAR, FMA, EQUAL, ORDER, SELECT,
              VECTOR, EXTRACT, RESIZE, TO_FLOAT, TO_INT, REFLOAT, BITCAST, HALF, TO_HALF, U32, U64, BOOL, LENGTH, SLOT,
              LOAD, STORE, ATOMIC0, ATOMIC1, ATOMIC2, ATOMIC_S, VOTE, BALLOT, LANES, LANES_INT, SHUFFLE, COND, OPT_COND,
              CODE, COUNT, COPY };
  switch (op) {
#define X(name, number, spelling, rule, k0, k1, k2, k3, effects, doc) \
  case number: return (rule) == NONE && (k0) == NO;
#include <vyre/kernel_ops.def>
#undef X
    default: return false;
  }
}

/* UINT64_MAX is "every type that the form gives it". */
static bool are_types(uint32_t op, uint64_t types) {
  return is_typeless(op) || types == UINT64_MAX || (types & known_types()) != 0;
}

void check_opcodes(kit *k) {
  raw r;
  if (!raw_load(k, &r)) return;
  if ((r.desc->flags & VYRE_BACKEND_TAKES_KERNEL) == 0) {
    kit_skip(k, "it takes no kernels");
    return;
  }
  if (r.desc->opcodes == NULL || r.desc->opcode_count == 0) kit_fail(k, "it takes kernels, and lists no opcode");
  for (uint64_t i = 0; r.desc->opcodes != NULL && i < r.desc->opcode_count && !kit_is_full(k); i++) {
    const vyre_opcode_support *row = &r.desc->opcodes[i];
    kit_doing(k, "reading row %" PRIu64 " of its opcodes", i);
    const char *name = vyre_kernel_op_describe(row->opcode).spelling;
    if (name == NULL)
      kit_fail(k, "row %" PRIu64 ": there is no opcode 0x%x", i, row->opcode);
    else if (!are_types(row->opcode, row->types))
      kit_fail(k, "row %" PRIu64 ", %s: no type of the form is among 0x%" PRIx64, i, name, row->types);
  }
}

/* ---- Slots ----------------------------------------------------------------------------------- */

/* In the order of the table; whether it may be NULL. */
#define SLOTS(X)                                                                                                       \
  X(probe, 0)                                                                                                          \
  X(profile, 0) X(compile, 0) X(finalize, 1) X(disassemble, 1) X(open, 0) X(close, 0) X(device_count, 0)               \
      X(device_describe, 0) X(device_open, 0) X(device_close, 0) X(executable_load, 0) X(executable_destroy, 0)        \
          X(executable_report, 0) X(max_resident, 0) X(buffer_create, 0) X(buffer_destroy, 0) X(buffer_map, 0)         \
              X(buffer_flush, 0) X(buffer_invalidate, 0) X(buffer_export, 1) X(set_create, 0) X(set_destroy, 0)        \
                  X(batch_create, 0) X(batch_destroy, 0) X(queue_create, 0) X(queue_destroy, 0) X(submit, 0)           \
                      X(timeline_create, 0) X(timeline_destroy, 0) X(timeline_value, 0) X(timeline_signal, 0)          \
                          X(timeline_wait, 0) X(storage_read, 1) X(native, 1)
#define COUNT_SLOT(name, optional) +1
_Static_assert(sizeof(vyre_backend_ops) == 8 + 8 * (0 SLOTS(COUNT_SLOT)), "every slot is listed");

void check_slots(kit *k) {
  raw r;
  if (!raw_load(k, &r)) return;
  uint32_t size = r.desc->ops->size;
  if (size < 8 || size % 8 != 0 || size > 4096) kit_fail(k, "size: wanted that of a table, found %u", size);
#define CHECK_SLOT(name, optional)                                                                                     \
  if (!(optional) && r.ops.name == NULL)                                                                               \
    kit_fail(k, "the mandatory slot " #name " is empty, or beyond its %u bytes", size);
  SLOTS(CHECK_SLOT)
#undef CHECK_SLOT
}

/* ---- Purity ---------------------------------------------------------------------------------- */

enum { ASKERS = 8, TIMES = 1000 };

typedef struct asking {
  vyre_backend_query_fn query;
  const vyre_backend_desc *first;
  bool differs;
} asking;

static vyre_backend_request usual_request(void) {
  return (vyre_backend_request){.size = sizeof(vyre_backend_request),
                                .sanitizer = VYRE_ABI_SANITIZER,
                                .host_major_min = VYRE_ABI_MAJOR,
                                .host_major_max = VYRE_ABI_MAJOR,
                                .host_minor = VYRE_ABI_MINOR,
                                .fingerprint = VYRE_ABI_FINGERPRINT};
}

static void *ask(void *ctx) {
  asking *a = ctx;
  vyre_backend_request request = usual_request();
  for (int i = 0; i < TIMES; i++)
    if (a->query(&request) != a->first) a->differs = true;
  return NULL;
}

/* From many threads at once. */
static void ask_together(kit *k, const asking *model) {
  pthread_t threads[ASKERS];
  asking asked[ASKERS];
  int started = 0;
  kit_doing(k, "asking for the descriptor from %d threads", ASKERS);
  for (; started < ASKERS; started++) {
    asked[started] = *model;
    if (pthread_create(&threads[started], NULL, ask, &asked[started]) != 0) break;
  }
  for (int i = 0; i < started; i++) {
    pthread_join(threads[i], NULL);
    if (asked[i].differs) kit_fail(k, "it gives another descriptor when it is asked again, or at the same time");
  }
}

/* Hosts of other times: it declines or answers, and a short request is read no further than its size. */
static void ask_as_others(kit *k, const asking *a) {
  const struct {
    const char *what;
    uint32_t minimum, maximum;
  } hosts[] = {{"an older host", 0, 0},
               {"a newer host", VYRE_ABI_MAJOR + 1, VYRE_ABI_MAJOR + 9},
               {"a host of every ABI", 0, UINT32_MAX}};
  for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
    vyre_backend_request request = usual_request();
    kit_doing(k, "asking for the descriptor as %s", hosts[i].what);
    request.host_major_min = hosts[i].minimum;
    request.host_major_max = hosts[i].maximum;
    const vyre_backend_desc *d = a->query(&request);
    if (d != NULL && d->magic != VYRE_ABI_MAGIC) kit_fail(k, "%s gets a descriptor without the magic", hosts[i].what);
  }
  uint32_t *short_request = process_end_of_page(8);
  if (short_request == NULL) return;
  short_request[0] = 8;
  short_request[1] = VYRE_ABI_SANITIZER;
  kit_doing(k, "asking for the descriptor with a request of 8 bytes (VBP-13)");
  a->query((const vyre_backend_request *)(const void *)short_request);
}

void check_query(kit *k) {
  raw r;
  if (!raw_load(k, &r)) return;
  asking a = {.first = r.desc};
  void *symbol = process_symbol(r.library, VYRE_BACKEND_SYMBOL);
  memcpy(&a.query, &symbol, sizeof a.query);
  vyre_backend_desc before = {0};
  memcpy(&before, r.desc, r.desc->size < sizeof before ? r.desc->size : sizeof before);
  process_state now, then;
  process_look(&then);
  ask(&a);
  process_look(&now);
  if (a.differs) kit_fail(k, "it gives another descriptor when it is asked again");
  process_compare(k, "vyre_backend_query", &then, &now, PROCESS_ALL);
  ask_together(k, &a);
  ask_as_others(k, &a);
  if (memcmp(&before, r.desc, r.desc->size < sizeof before ? r.desc->size : sizeof before) != 0)
    kit_fail(k, "its descriptor has changed");
}
