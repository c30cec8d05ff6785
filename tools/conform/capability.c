/* Capabilities: what a device claims is run, and what it does not claim is refused: by libvyre, which must name it, and
 * by the plugin itself, which gets the program all the same. */
#include <stdio.h>
#include <string.h>

#include "numeric.h"

/* Statements that need a capability and little else, with i = gid.x, inputs x: u32[] and results y: u32[], and what
 * else they declare. A capability of needs.def without a line here does not build. */
#define NEEDS_INT64 "", "", "let w = u64(x[i]) * 0x100000003 / 7; y[i] = u32(w >> 32) ^ u32(w);"
#define NEEDS_FLOAT64 "", "", "y[i] = u32(sqrt(f64(x[i])) * 1000.0 / 3.0);"
#define NEEDS_SUBGROUP "", "", "y[i] = subgroup_add(x[i]) + subgroup_ballot(x[i] % 2 == 0);"
#define NEEDS_ATOMIC64 "", "rw w: u64[1];", "atomic_add(w[0], u64(x[i]) << 20); y[i] = 1;"
#define NEEDS_ATOMIC_F32_ADD "", "rw f: f32[1];", "atomic_add(f[0], 0.5); y[i] = 1;"
#define NEEDS_ATOMIC_LOAD128                                                                                           \
  "", "rw v: u32x4[4];", "let q = atomic_load(v[i % 4]); y[i] = q.x + q.y + q.z + q.w + x[i];"
#define NEEDS_SEQ_CST "", "rw a: u32[1];", "atomic_add(a[0], x[i], seq_cst); fence(seq_cst, device); y[i] = 1;"
#define NEEDS_CLOCK "", "", "let a = clock_ns(); let b = clock_ns(); y[i] = u32(b >= a) + x[i];"
#define NEEDS_GRID_BARRIER "", "rw a: u32[128];", "a[i] = x[i]; grid_barrier; y[i] = a[127 - i];"
#define NEEDS_GRID_SYNC                                                                                                \
  "", "rw a: u32[128];",                                                                                               \
      "for (k in 0..len(x) / 32) { a[i] = x[i] + k; grid_barrier; y[i] += a[127 - i]; grid_barrier; }"
#define NEEDS_PROGRESS                                                                                                 \
  "progress(workgroups)", "rw a: u32[1];",                                                                             \
      "if (lid.x == 0) { let me = atomic_add(a[0], 1); loop { if (atomic_load(a[0]) > me) { break; } } }"              \
      "y[i] = x[i];"
#define NEEDS_ULP "ulp(4)", "", "y[i] = u32(exp2(f32(x[i] % 8)) > 0.5);"
#define NEEDS_FMA "", "", "y[i] = bitcast<u32>(fma(f32(x[i]), 1.1, -0.7));"
#define NEEDS_TRAP "", "", "if (i == 70) { trap(1234); } y[i] = x[i];"
#define NEEDS_PRINT "", "", "if (i % 64 == 5) { print(\"{} and {}\", i, x[i]); } y[i] = x[i];"
#define NEEDS_ASYNC_COPY                                                                                               \
  "", "shared s: u32[64];", "copy_async s[lid.x], x[i], 1; commit; wait 0; barrier; y[i] = s[63 - lid.x];"
#define NEEDS_SHOULD_STOP "", "", "loop { if (should_stop()) { break; } y[i] += x[i]; break; }"
#define NEEDS_FLOAT16 "", "", "y[i] = bitcast<u32>(f16(f32(x[i]) * 0.1)) ^ bitcast<u32>(bf16(f32(x[i]) * 0.1));"
#define NEEDS_STORAGE8                                                                                                 \
  "", "rw b: u8[128]; rw c: i8[128];", "b[i] = x[i]; c[i] = i32(x[i] >> 8); y[i] = b[i] + u32(c[i]);"
#define NEEDS_STORAGE16                                                                                                \
  "", "rw b: u16[128]; rw c: i16[128];", "b[i] = x[i]; c[i] = i32(x[i] >> 8); y[i] = b[i] + u32(c[i]);"

typedef struct capability_row {
  const char *spelling;
  uint64_t bit;
  const char *attributes, *declarations, *statements;
} capability_row;

static const capability_row capabilities[] = {
#define X(name, bit, spelling, use) {spelling, 1ull << (bit), NEEDS_##name},
#include <vyre/needs.def>
#undef X
};

enum { INVOCATIONS = 128 };

static vyre_program *make_program(kit *k, const capability_row *row) {
  char text[NUMERIC_TEXT];
  vyre_program_info info;
  numeric_print(text, "program p workgroup(64) %s { read x: u32[]; rw y: u32[]; %s let i = gid.x; %s }",
                row->attributes, row->declarations, row->statements);
  vyre_program *program = kit_parse(k, text);
  if (!program) return NULL;
  vyre_program_describe(program, &info);
  if ((info.needs & row->bit) != 0) return program;
  kit_fail(k, "the kit's own program for %s does not need it", row->spelling);
  vyre_program_release(program);
  return NULL;
}

static bool run_claimed(kit *k, const capability_row *row, vyre_program *program) {
  uint32_t x[INVOCATIONS];
  char name[96];
  kit_buffer buffers[4] = {{.name = "x", .in = x, .elements = INVOCATIONS}, {.name = "y", .elements = INVOCATIONS}};
  uint32_t count = 2;
  vyre_buffer_info info;
  for (uint32_t i = 0; i < INVOCATIONS; i++) x[i] = (uint32_t)(kit_random(k) >> 36);
  for (uint32_t slot = 2; vyre_program_slot(program, slot, &info); slot++)
    buffers[count++] = (kit_buffer){.name = info.name, .elements = info.length};
  snprintf(name, sizeof name, "%s, which is claimed", row->spelling);
  kit_case c = {.name = name, .program = program, .buffers = buffers, .buffer_count = count, .grid = {2, 1, 1}};
  return numeric_try(k, &c, false) != NUMERIC_DIFFERS;
}

/* Whether libvyre refuses by name what the record does not claim, and the plugin what it gets in spite of that. */
static bool refuse_unclaimed(kit *k, const capability_row *row, vyre_program *program) {
  vyre_error error = VYRE_ERROR_INIT;
  vyre_executable *executable;
  vyre_status status = vyre_compile(k->device, program, NULL, &executable, &error);
  if (status == VYRE_OK) vyre_executable_destroy(executable);
  if (status != VYRE_ERR_UNSUPPORTED || strstr(error.text, row->spelling) == NULL)
    return kit_fail(k, "%s, which is not claimed: wanted a refusal that names it, found %s: %s", row->spelling,
                    vyre_status_name(status), error.text);
  error = (vyre_error)VYRE_ERROR_INIT;
  status = kit_plugin_compile(k, program, NULL, &error);
  if (status == VYRE_ERR_UNSUPPORTED && error.text[0] != '\0') return true;
  return kit_fail(k,
                  "%s, which is not claimed: the plugin gets a program that needs it: wanted the status "
                  "UNSUPPORTED with a reason, found %s: %s (VBP-25, VBP-28)",
                  row->spelling, vyre_status_name(status), error.text);
}

/* The record may not contradict itself. */
static void check_consistency(kit *k) {
  const vyre_capabilities *c = k->caps;
  bool claims_progress = (c->needs & VYRE_NEED_PROGRESS) != 0;
  if (claims_progress != (c->forward_progress >= VYRE_PROGRESS_WORKGROUPS))
    kit_fail(k, "the capability progress is%s claimed, and forward_progress is %u (VBP-28)",
             claims_progress ? "" : " not", c->forward_progress);
  if ((c->needs & VYRE_NEED_FMA) != 0 && (c->numeric & VYRE_NUMERIC_FMA) == 0)
    kit_note(k, "fma is claimed, but not that it is rounded once");
}

void check_capabilities(kit *k) {
  uint32_t claimed = 0, unclaimed = 0;
  for (size_t n = 0; n < sizeof capabilities / sizeof *capabilities && !kit_is_full(k); n++) {
    const capability_row *row = &capabilities[n];
    vyre_program *program = make_program(k, row);
    if (!program) continue;
    bool is_claimed = (k->caps->needs & row->bit) != 0;
    if (is_claimed)
      run_claimed(k, row, program);
    else
      refuse_unclaimed(k, row, program);
    claimed += is_claimed;
    unclaimed += !is_claimed;
    vyre_program_release(program);
  }
  check_consistency(k);
  kit_note(k, "%u capabilities are claimed, %u are not", claimed, unclaimed);
}
