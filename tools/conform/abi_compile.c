/* Compiling and loading: pure where it is good, and refusing where it is not. What is broken lies at the end of a page,
 * so that one byte read too many is a crash, and a crash is the verdict. */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vyre/kernel.h>

#include "checks.h"
#include "process.h"
#include "programs.h"
#include "raw.h"

/* ---- Purity ---------------------------------------------------------------------------------- */

enum { COMPILERS = 4, TURNS = 8 };

static bool is_same_blob(const vyre_bytes *a, const vyre_bytes *b) {
  return a->length == b->length && (a->length == 0 || memcmp(a->data, b->data, a->length) == 0);
}

typedef struct compiling {
  raw *r;
  const vyre_compile_request *request;
  const vyre_bytes *wanted;
  vyre_status status;
  bool differs;
} compiling;

static void *compile_again(void *ctx) {
  compiling *c = ctx;
  for (int i = 0; i < TURNS && c->status == VYRE_OK; i++) {
    vyre_bytes blob;
    c->status = raw_compile(c->r, c->request, &blob, NULL);
    if (c->status == VYRE_OK && !is_same_blob(&blob, c->wanted)) c->differs = true;
    raw_blob_free(c->r, &blob);
  }
  return NULL;
}

static void compile_together(raw *r, const char *name, const vyre_compile_request *request, const vyre_bytes *wanted) {
  pthread_t threads[COMPILERS];
  compiling all[COMPILERS];
  int started = 0;
  for (; started < COMPILERS; started++) {
    all[started] = (compiling){r, request, wanted, VYRE_OK, false};
    if (pthread_create(&threads[started], NULL, compile_again, &all[started]) != 0) break;
  }
  for (int i = 0; i < started; i++) {
    pthread_join(threads[i], NULL);
    if (all[i].status != VYRE_OK)
      kit_fail(r->k, "%s: compile from %d threads: %s", name, COMPILERS, vyre_status_name(all[i].status));
    if (all[i].differs) kit_fail(r->k, "%s: compile from %d threads gives other bytes", name, COMPILERS);
  }
}

/* The build id is near the beginning, so that a blob can be told without knowing its form. */
static void check_head(raw *r, const char *name, const vyre_bytes *blob) {
  const char *id = r->desc->build_id;
  size_t head = blob->length < 1024 ? blob->length : 1024;
  if (memmem(blob->data, head, id, strlen(id) < 24 ? strlen(id) : 24) == NULL)
    kit_fail(r->k, "%s: the blob does not begin with the plugin's build id, %s", name, id);
  if ((uintptr_t)blob->data % 16 != 0) kit_fail(r->k, "%s: the blob is not aligned to 16 bytes", name);
}

static void check_sample(raw *r, raw *other, const sample_program *sample) {
  raw_program p;
  vyre_error error = VYRE_ERROR_INIT;
  vyre_bytes first = {0}, second = {0};
  char name[32];
  snprintf(name, sizeof name, "%.*s", (int)strcspn(sample->text + 8, " "), sample->text + 8);
  kit_doing(r->k, "compiling %s", name);
  if (!raw_program_make(r, sample->text, &p)) return;
  if (raw_wants(r, name, raw_compile(r, &p.request, &first, &error), VYRE_OK, &error)) {
    raw_wants(other, name, raw_compile(other, &p.request, &second, &error), VYRE_OK, &error);
    if (!is_same_blob(&first, &second)) kit_fail(r->k, "%s: another instance compiles it to other bytes", name);
    check_head(r, name, &first);
    compile_together(r, name, &p.request, &first);
  }
  kit_count_programs(r->k, 1);
  raw_blob_free(r, &first);
  raw_blob_free(other, &second);
  raw_program_free(&p);
}

/* The samples that the device claims to run. */
static bool can_run(const raw *r, const sample_program *sample) {
  return (sample->needs & ~r->caps.needs) == 0;
}

void check_compile_pure(kit *k) {
  raw r, other;
  if (!raw_open(k, &r) || !raw_open(k, &other)) return;
  for (uint32_t i = 0; i < sample_count; i++)
    if (can_run(&r, &sample_programs[i])) check_sample(&r, &other, &sample_programs[i]);
  raw_close(&other);
  raw_close(&r);
}

/* For a profile, with nothing of the plugin open. */
void check_compile_nowhere(kit *k) {
  raw r;
  raw_program p;
  vyre_error error = VYRE_ERROR_INIT;
  vyre_bytes blob = {.size = sizeof blob};
  if (!raw_load(k, &r)) return;
  r.caps = (vyre_capabilities){.size = sizeof r.caps};
  if (!raw_wants(&r, "profile 0", r.ops.profile(&r.host.services, 0, &r.caps, &error), VYRE_OK, &error)) return;
  if (!raw_program_make(&r, sample_programs[0].text, &p)) return;
  kit_doing(k, "compiling for profile %s before probe and open", r.caps.profile);
  vyre_status status = r.ops.compile(&r.host.services, &r.caps, &p.request, &blob, &error);
  if (raw_wants(&r, "compile for a profile", status, VYRE_OK, &error)) check_head(&r, "plain", &blob);
  raw_blob_free(&r, &blob);
  if (atomic_load(&r.host.blocks) != 0)
    kit_fail(k, "compile keeps %" PRId64 " allocations", atomic_load(&r.host.blocks));
}

/* ---- Broken input ---------------------------------------------------------------------------- */

/* What is broken: the kernel for a plugin that takes kernels, else the program's wire bytes. */
typedef struct victim {
  raw *r;
  raw_program p;
  const char *name;
  const uint8_t *whole; /* as it was */
  uint8_t *page;        /* a copy that ends with its page */
  uint64_t bytes;
  bool is_kernel;
} victim;

static bool take_victim(raw *r, const char *text, victim *out) {
  *out = (victim){.r = r, .name = text + 8};
  if (!raw_program_make(r, text, &out->p)) return false;
  out->is_kernel = out->p.kernel != NULL;
  out->whole = out->is_kernel ? out->p.kernel : out->p.wire;
  out->bytes = out->is_kernel ? out->p.request.kernel_bytes : out->p.request.wire_bytes;
  out->page = process_end_of_page(out->bytes);
  return out->page != NULL || kit_fail(r->k, "the kit has no memory");
}

/* Compiles what lies at |data|. True if it was taken, which may be right. */
static bool feed(victim *v, const uint8_t *data, uint64_t bytes) {
  vyre_error error = VYRE_ERROR_INIT;
  vyre_bytes blob = {.size = sizeof blob};
  vyre_compile_request request = v->p.request;
  if (v->is_kernel) {
    request.kernel = data;
    request.kernel_bytes = bytes;
  } else {
    request.wire = data;
    request.wire_bytes = bytes;
  }
  vyre_status status = v->r->ops.compile(&v->r->host.services, &v->r->caps, &request, &blob, &error);
  if (status != VYRE_OK) {
    raw_wants_refusal(v->r, "compile of something broken", status, &error);
    if (blob.data != NULL) kit_fail(v->r->k, "compile fails and leaves a blob (VBP-16)");
    return false;
  }
  raw_blob_free(v->r, &blob);
  return true;
}

static uint8_t *restore(victim *v) {
  return memcpy(v->page, v->whole, v->bytes);
}

/* Each number of the header takes values that lead astray. */
static void break_header(victim *v) {
  static const uint32_t values[] = {0, 1, 7, 0x7FFFFFF0, 0x80000000, 0xFFFFFFF8, 0xFFFFFFFF};
  uint64_t head = v->is_kernel ? sizeof(vyre_kernel_header) : 64;
  for (uint64_t at = 0; at + 4 <= head && at + 4 <= v->bytes; at += 4)
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
      kit_doing(v->r->k, "compiling %.*s with 0x%x at byte %" PRIu64 " of its header", (int)strcspn(v->name, " "),
                v->name, values[i], at);
      memcpy(restore(v) + at, &values[i], 4);
      feed(v, v->page, v->bytes);
    }
}

static void break_length(victim *v) {
  uint64_t step = v->bytes / 200 + 1;
  for (uint64_t bytes = 0; bytes < v->bytes; bytes += bytes < 64 ? 1 : step) {
    kit_doing(v->r->k, "compiling the first %" PRIu64 " of %" PRIu64 " bytes of %.*s", bytes, v->bytes,
              (int)strcspn(v->name, " "), v->name);
    uint8_t *start = v->page + (v->bytes - bytes) / 8 * 8; /* as near to the end as alignment lets it */
    memcpy(start, v->whole, bytes);
    if (feed(v, start, bytes))
      kit_fail(v->r->k, "compile takes the first %" PRIu64 " of %" PRIu64 " bytes", bytes, v->bytes);
    if (kit_is_full(v->r->k)) return;
  }
}

enum { RANDOM_BREAKS = 3000 };

static void break_anywhere(victim *v) {
  for (int i = 0; i < RANDOM_BREAKS; i++) {
    uint8_t *data = restore(v);
    uint64_t many = 1 + kit_random(v->r->k) % 4;
    for (uint64_t n = 0; n < many; n++) {
      uint64_t draw = kit_random(v->r->k), at = (draw >> 8) % v->bytes;
      data[at] = (uint8_t)(n % 2 == 0 ? draw : data[at] ^ 1u << draw % 8);
    }
    kit_doing(v->r->k, "compiling %.*s with random bytes, number %d of seed %" PRIu64, (int)strcspn(v->name, " "),
              v->name, i, v->r->k->settings->seed);
    feed(v, data, v->bytes);
  }
}

static void for_each_victim(kit *k, void (*act)(victim *v)) {
  raw r;
  if (!raw_open(k, &r)) return;
  for (uint32_t i = 0; i < sample_count && !kit_is_full(k); i++) {
    victim v;
    if (!can_run(&r, &sample_programs[i]) || !take_victim(&r, sample_programs[i].text, &v)) continue;
    act(&v);
    raw_program_free(&v.p);
  }
  if (atomic_load(&r.host.blocks) != 0)
    kit_fail(k, "%" PRId64 " allocations live on after failed compilations (VBP-16)", atomic_load(&r.host.blocks));
  raw_close(&r);
}

void check_broken_headers(kit *k) {
  for_each_victim(k, break_header);
}
void check_broken_lengths(kit *k) {
  for_each_victim(k, break_length);
}
void check_broken_bytes(kit *k) {
  for_each_victim(k, break_anywhere);
}

/* ---- What is not known ----------------------------------------------------------------------- */

/* One number of a kernel is one that no version of the form has. */
static void must_refuse(victim *v, const char *what, uint64_t at, uint64_t value, uint32_t bytes) {
  uint8_t *data = restore(v);
  kit_doing(v->r->k, "compiling a kernel with %s", what);
  memcpy(data + at, &value, bytes);
  if (feed(v, data, v->bytes)) kit_fail(v->r->k, "a kernel with %s: wanted a refusal, found VYRE_OK", what);
}

static bool has_order(uint16_t op) {
  return (op >= VYRE_KERNEL_ATOMIC_LOAD && op <= VYRE_KERNEL_ATOMIC_CAS) || op == VYRE_KERNEL_FENCE;
}

/* Place of a record's member in the block. */
#define PLACE(table, i, type, member) (h->table.offset + (uint64_t)(i)*h->table.stride + offsetof(type, member))

static void unknown_insns(victim *v, const vyre_kernel_header *h) {
  bool is_done = false;
  for (uint32_t i = 0; i < h->insns.count; i++) {
    const vyre_kernel_insn *in = VYRE_KERNEL_AT(vyre_kernel_insn, h, insns, i);
    if (i == 0) must_refuse(v, "the unknown opcode 0x3ff", PLACE(insns, i, vyre_kernel_insn, op), 0x3FF, 2);
    if (i == 0)
      must_refuse(v, "an opcode of matrix units", PLACE(insns, i, vyre_kernel_insn, op), VYRE_KERNEL_TILE_FIRST, 2);
    if (is_done || !has_order(in->op)) continue;
    must_refuse(v, "an unknown memory order", PLACE(insns, i, vyre_kernel_insn, aux), VYRE_ORDER_SEQ_CST + 1, 1);
    must_refuse(v, "an unknown memory scope", PLACE(insns, i, vyre_kernel_insn, aux2), VYRE_SCOPE_SYSTEM + 1, 1);
    is_done = in->op != VYRE_KERNEL_FENCE; /* both kinds are tried */
  }
}

static void unknown_parts(victim *v) {
  if (!v->is_kernel) return;
  const vyre_kernel_header *h = (const vyre_kernel_header *)(const void *)v->whole;
  must_refuse(v, "another major of the form", offsetof(vyre_kernel_header, form_major), VYRE_KERNEL_FORM_MAJOR + 1, 2);
  must_refuse(v, "an unknown flag", offsetof(vyre_kernel_header, flags), h->flags | 1u << 30, 4);
  must_refuse(v, "an unknown need", offsetof(vyre_kernel_header, needs), h->needs | 1ull << 62, 8);
  must_refuse(v, "a value of an unknown class", PLACE(values, 1, vyre_kernel_value, type), 9, 1);
  must_refuse(v, "a value of 24 bits", PLACE(values, 1, vyre_kernel_value, type) + 1, 24, 1);
  must_refuse(v, "a value of 3 lanes", PLACE(values, 1, vyre_kernel_value, type) + 2, 3, 1);
  unknown_insns(v, h);
  if (h->accesses.count == 0) return;
  must_refuse(v, "an access to an unknown space", PLACE(accesses, 0, vyre_kernel_access, space), 9, 1);
  must_refuse(v, "an access of an unknown kind of bound", PLACE(accesses, 0, vyre_kernel_access, bound_kind), 9, 1);
  must_refuse(v, "an access with an unknown flag", PLACE(accesses, 0, vyre_kernel_access, flags), 1u << 30, 4);
}

void check_unknown_parts(kit *k) {
  raw r;
  if (!raw_load(k, &r)) return;
  if ((r.desc->flags & VYRE_BACKEND_TAKES_KERNEL) == 0) {
    kit_skip(k, "it takes no kernels");
    return;
  }
  for_each_victim(k, unknown_parts);
}

/* ---- Blobs ----------------------------------------------------------------------------------- */

typedef struct stored {
  raw *r;
  vyre_bytes blob;
  uint8_t *page;
} stored;

static bool make_blob(raw *r, stored *out) {
  vyre_error error = VYRE_ERROR_INIT;
  raw_program p;
  *out = (stored){.r = r};
  if (!raw_program_make(r, sample_programs[2].text, &p)) return false;
  vyre_status status = raw_compile(r, &p.request, &out->blob, &error);
  raw_program_free(&p);
  if (!raw_wants(r, "compile", status, VYRE_OK, &error)) return false;
  out->page = process_end_of_page((out->blob.length + 15) & ~(uint64_t)15);
  return out->page != NULL || kit_fail(r->k, "the kit has no memory");
}

/* Loads what lies at |data| and destroys it again. */
static vyre_status load(raw *r, const uint8_t *data, uint64_t bytes) {
  vyre_error error = VYRE_ERROR_INIT;
  vyre_plugin_executable *executable = NULL;
  vyre_status status = r->ops.executable_load(r->device, data, bytes, &executable, &error);
  if (status == VYRE_OK && executable != NULL) {
    r->ops.executable_destroy(executable);
  } else if (status == VYRE_OK) {
    kit_fail(r->k, "executable_load succeeds without an executable (VBP-16)");
  } else {
    raw_wants_refusal(r, "executable_load of something broken", status, &error);
    if (executable != NULL) kit_fail(r->k, "executable_load fails and does not store NULL (VBP-16)");
  }
  return status;
}

void check_blob_lengths(kit *k) {
  raw r;
  stored s;
  if (!raw_open(k, &r) || !make_blob(&r, &s)) return;
  uint64_t length = s.blob.length, step = length / 300 + 1;
  if (load(&r, s.blob.data, length) != VYRE_OK) kit_fail(k, "its own blob does not load");
  for (uint64_t bytes = 0; bytes < length && !kit_is_full(k); bytes += bytes < 64 ? 1 : step) {
    kit_doing(k, "loading the first %" PRIu64 " of %" PRIu64 " bytes of a blob", bytes, length);
    uint8_t *start = s.page + ((length + 15) / 16 * 16 - bytes) / 16 * 16;
    memcpy(start, s.blob.data, bytes);
    if (load(&r, start, bytes) == VYRE_OK)
      kit_fail(k, "it loads the first %" PRIu64 " of %" PRIu64 " bytes", bytes, length);
  }
  raw_blob_free(&r, &s.blob);
  raw_close(&r);
}

/* A blob comes from a file: whatever has happened to it, nothing may crash, and what is taken may be run. */
void check_blob_bytes(kit *k) {
  raw r;
  stored s;
  if (!raw_open(k, &r) || !make_blob(&r, &s)) return;
  uint64_t length = s.blob.length, taken = 0, tried = 0;
  uint8_t *data = s.page;
  for (uint64_t round = 0; round < 2; round++)
    for (uint64_t at = 0; at < length; at += round == 0 && length < 8192 ? 1 : length / 2048 + 1) {
      memcpy(data, s.blob.data, length);
      uint64_t by = round == 0 ? 1u << kit_random(k) % 8 : 1 + kit_random(k) % 255;
      data[at] = (uint8_t)(data[at] ^ by);
      kit_doing(k, "loading a blob with byte %" PRIu64 " of %" PRIu64 " changed to 0x%02x", at, length, data[at]);
      tried++;
      taken += load(&r, data, length) == VYRE_OK;
    }
  if (taken > 0)
    kit_fail(k,
             "of %" PRIu64 " blobs with one byte changed it takes %" PRIu64
             ", and nobody knows what they would do. Fix: "
             "put a digest of the blob into it",
             tried, taken);
  raw_blob_free(&r, &s.blob);
  raw_close(&r);
}

/* What another build of the plugin made. */
void check_blob_build(kit *k) {
  raw r;
  stored s;
  if (!raw_open(k, &r) || !make_blob(&r, &s)) return;
  const char *id = r.desc->build_id;
  size_t length = strlen(id) < 24 ? strlen(id) : 24;
  memcpy(s.page, s.blob.data, s.blob.length);
  uint8_t *at = memmem(s.page, s.blob.length, id, length);
  if (at == NULL) {
    kit_fail(k, "its blob does not hold its build id, %s", id);
    return;
  }
  at[length - 1] ^= 1;
  vyre_error error = VYRE_ERROR_INIT;
  vyre_plugin_executable *executable = NULL;
  kit_doing(k, "loading a blob of another build");
  raw_wants_refusal(&r, "loading a blob of another build",
                    r.ops.executable_load(r.device, s.page, s.blob.length, &executable, &error), &error);
  raw_blob_free(&r, &s.blob);
  raw_close(&r);
}
