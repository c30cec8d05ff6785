/* What the backends of devices share: kernels and blobs from anywhere, launch blocks, grids in pieces, diagnostics. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vyre/lower.h>
#include <vyre/text.h>

#include "../suite.h"
#include "plugins/gpu/blob.h"
#include "plugins/gpu/launch.h"

const char gpu_name[] = "test";

/* Something of everything that launching reads. */
static const char base_text[] =
  "program base workgroup(8, 2, 1) {\n"
  "  param p: bool; param q: f64; param n: u32;\n"
  "  read a: u32[]; rw b: u32[]; write c: u8[16];\n"
  "  const T: u16[3] = {1, 2, 3};\n"
  "  shared s: u32[16]; local l: f32[4];\n"
  "  var kept = a[gid.x] + T[n];\n"
  "  s[lid.x] = kept;\n"
  "  l[n] = f32(q);\n"
  "  if (p) { print(\"{} {}\", kept, l[0]); } else { s[1] = 2; }\n"
  "  loop { if (kept > n) { break; } kept += 1; if (p) { continue; } s[2] = kept; }\n"
  "  grid_barrier;\n"
  "  c[gid.y] = kept + s[lid.y];\n"
  "  atomic_add(b[n], 1);\n"
  "}\n";

static uint8_t *base;
static size_t base_bytes;
static const vyre_kernel_header *kernel;

/* Once for all tests that share a process. */
static void make_base(void) {
  vyre_error error = VYRE_ERROR_INIT;
  if (base != NULL) return;
  vyre_diagnostics *diagnostics;
  vyre_program *program;
  ck_assert_int_eq(vyre_diagnostics_create("base", base_text, strlen(base_text), &diagnostics), VYRE_OK);
  if (vyre_text_parse(base_text, strlen(base_text), NULL, diagnostics, &program, &error) != VYRE_OK)
    ck_abort_msg("%s\n%s", error.text, vyre_diagnostics_render(diagnostics));
  vyre_diagnostics_destroy(diagnostics);
  vyre_lower_options options = VYRE_LOWER_OPTIONS_INIT;
  ck_assert_msg(vyre_lower(program, &options, &base, &base_bytes, &error) == VYRE_OK, "%s", error.text);
  vyre_program_release(program);
  ck_assert_msg(gpu_kernel_open(base, base_bytes, &kernel, &error) == VYRE_OK, "%s", error.text);
}

/* ---- The host, as far as it is asked for ---- */

static void *host_alloc(void *ctx, uint64_t bytes, uint64_t align) {
  (void)ctx;
  return aligned_alloc(align, (bytes + align - 1) / align * align);
}
static vyre_status host_config(void *ctx, const char *key, char *text, uint64_t capacity, uint64_t *length) {
  (void)ctx;
  const char *value = strcmp(key, "test.number") == 0 ? "17" : strcmp(key, "test.word") == 0 ? "many" : NULL;
  if (value == NULL) return VYRE_ERR_NOT_FOUND;
  *length = (uint64_t)snprintf(text, capacity, "%s", value);
  return VYRE_OK;
}
static char logged[1024];
static void host_log(void *ctx, uint32_t level, const char *subsystem, const char *text) {
  (void)ctx, (void)level, (void)subsystem;
  snprintf(logged, sizeof logged, "%s", text);
}
static const vyre_host host = { .size = sizeof host, .alloc = host_alloc, .config_get = host_config, .log = host_log };

static uint32_t random_state = 1;
static uint32_t next_random(void) {
  random_state = random_state * 1664525u + 1013904223u;
  return random_state >> 8;
}

/* ---- Bytes ---- */

START_TEST(bytes_grow) {
  gpu_bytes b = { 0 };
  for (uint32_t i = 0; i < 10000; i++) gpu_bytes_word(&b, i);
  gpu_bytes_text(&b, "abc");
  gpu_bytes_align(&b, 16);
  ck_assert_uint_eq(b.count, 40016);
  gpu_bytes_format(&b, "%05d", 42);
  ck_assert_int_eq(memcmp(b.data + 40016, "00042", 5), 0);
  for (uint32_t i = 0; i < 10000; i++) ck_assert_int_eq(memcmp(b.data + 4 * i, &i, 4), 0);
  ck_assert_int_eq(memcmp(b.data + 40000, "abc\0\0\0\0\0\0\0\0\0\0\0\0\0", 16), 0);
  ck_assert(gpu_bytes_room(&b, (size_t)1 << 31) == NULL);
  ck_assert(b.failed);
  gpu_bytes_word(&b, 1); /* swallowed */
  ck_assert_uint_eq(b.count, 40021);
  gpu_bytes_free(&b);
}
END_TEST

/* ---- Answers ---- */

START_TEST(answers) {
  vyre_error error = VYRE_ERROR_INIT;
  ck_assert_int_eq(gpu_check_needs(VYRE_NEED_FLOAT64 | VYRE_NEED_INT64, VYRE_NEED_INT64, "p", &error),
                   VYRE_ERR_UNSUPPORTED);
  ck_assert_ptr_nonnull(strstr(error.text, "float64"));
  ck_assert_str_eq(error.where, "p");
  ck_assert_int_eq(gpu_check_needs(1ull << 63, 0, "p", &error), VYRE_ERR_UNSUPPORTED);
  ck_assert_int_eq(gpu_check_needs(VYRE_NEED_INT64, VYRE_NEED_INT64, "p", &error), VYRE_OK);
  ck_assert_int_eq(gpu_fail_vendor(&error, VYRE_ERR_DEVICE_LOST, -4, "q", "%s", "gone"), VYRE_ERR_DEVICE_LOST);
  ck_assert_int_eq(error.vendor_code, -4);
  char room[4];
  error.log = room;
  error.log_capacity = sizeof room;
  gpu_attach_log(&error, "a long log", 10);
  ck_assert_str_eq(room, "a l");
  ck_assert_uint_eq(error.log_length, 10);
  ck_assert_uint_eq(gpu_configured(&host, "number", 3), 17);
  ck_assert_uint_eq(gpu_configured(&host, "absent", 3), 3);
  ck_assert_uint_eq(gpu_configured(&host, "word", 3), 3);
  ck_assert_ptr_nonnull(strstr(logged, "`many`"));
}
END_TEST

/* ---- Kernels ---- */

START_TEST(launch_part_is_a_kernel) {
  make_base();
  gpu_bytes b = { 0 };
  const vyre_kernel_header *kept;
  vyre_error error = VYRE_ERROR_INIT;
  gpu_bytes_word(&b, 1); /* so that it has to align itself */
  gpu_kernel_keep(kernel, &b);
  ck_assert_msg(gpu_kernel_open(b.data + 8, b.count - 8, &kept, &error) == VYRE_OK, "%s", error.text);
  ck_assert_uint_eq(kept->entries.count, kernel->entries.count);
  ck_assert_uint_eq(kept->entries.count, 2);
  ck_assert_uint_eq(kept->insns.count, 0);
  ck_assert_uint_lt(kept->bytes, kernel->bytes);
  for (uint32_t i = 0; i < kernel->bindings.count; i++) {
    const vyre_kernel_binding *was = VYRE_KERNEL_AT(vyre_kernel_binding, kernel, bindings, i);
    const vyre_kernel_binding *is = VYRE_KERNEL_AT(vyre_kernel_binding, kept, bindings, i);
    ck_assert_int_eq(memcmp(was, is, sizeof *was), 0);
    ck_assert_str_eq(VYRE_KERNEL_TEXT(kernel, was->name), VYRE_KERNEL_TEXT(kept, is->name));
  }
  ck_assert_int_eq(gpu_hidden_binding(kept, VYRE_KERNEL_HIDDEN_SPILL),
                   gpu_hidden_binding(kernel, VYRE_KERNEL_HIDDEN_SPILL));
  ck_assert_int_ge(gpu_hidden_binding(kept, VYRE_KERNEL_HIDDEN_SPILL), 0);
  ck_assert_int_eq(gpu_hidden_binding(kept, VYRE_KERNEL_HIDDEN_STOP), -1);
  gpu_bytes_free(&b);
}
END_TEST

/* Reads all that opening vouches for; the sanitizers watch. */
static uint64_t use(const vyre_kernel_header *h) {
  uint64_t sum = strlen(VYRE_KERNEL_TEXT(h, h->name));
  uint64_t elements[8] = { 0 };
  uint8_t *block = malloc(h->launch_bytes + 1u);
  ck_assert_uint_le(h->bindings.count, 8);
  gpu_launch_block(&(gpu_launch){ .kernel = h, .elements = elements }, block);
  for (uint32_t i = 0; i < h->bindings.count; i++)
    sum += strlen(VYRE_KERNEL_TEXT(h, VYRE_KERNEL_AT(vyre_kernel_binding, h, bindings, i)->name));
  for (uint32_t i = 0; i < h->insns.count; i++) {
    gpu_opcode op = gpu_opcode_of(gpu_insn(h, i)->op);
    for (int k = 0; k < 4; k++) {
      uint32_t arg = gpu_insn(h, i)->arg[k];
      if (op.kind[k] == GPU_VA) sum += gpu_value(h, arg)->type.bits;
      if (op.kind[k] == GPU_AC) sum += gpu_value(h, gpu_access(h, arg)->index)->type.bits;
    }
  }
  free(block);
  return sum;
}

START_TEST(damaged_kernels) {
  make_base();
  uint64_t *copy = malloc(base_bytes);
  uint32_t refused = 0, uses = 0;
  for (uint32_t round = 0; round < 20000; round++) {
    const vyre_kernel_header *h;
    memcpy(copy, base, base_bytes);
    size_t region = round % 2 == 0 ? sizeof *kernel : base_bytes;
    for (uint32_t k = 0; k <= round % 3; k++)
      ((uint8_t *)copy)[next_random() % region] ^= (uint8_t)(1u << next_random() % 8);
    if (gpu_kernel_open(copy, base_bytes, &h, NULL) != VYRE_OK)
      refused++;
    else
      uses += use(h) > 0;
  }
  ck_assert_uint_gt(refused, 1000);
  ck_assert_uint_gt(uses, 100);
  free(copy);
}
END_TEST

START_TEST(unknown_things_are_named) {
  make_base();
  vyre_error error = VYRE_ERROR_INIT;
  uint64_t *copy = malloc(base_bytes);
  const vyre_kernel_header *h;
  memcpy(copy, base, base_bytes);
  vyre_kernel_header *own = (void *)copy;
  ((vyre_kernel_insn *)(uintptr_t)gpu_insn(own, 0))->op = 0x3FF;
  ck_assert_int_eq(gpu_kernel_open(copy, base_bytes, &h, &error), VYRE_ERR_UNSUPPORTED);
  ck_assert_ptr_nonnull(strstr(error.text, "0x3ff"));
  memcpy(copy, base, base_bytes);
  own->flags |= 1u << 30;
  ck_assert_int_eq(gpu_kernel_open(copy, base_bytes, &h, &error), VYRE_ERR_UNSUPPORTED);
  memcpy(copy, base, base_bytes);
  own->form_major++;
  ck_assert_int_eq(gpu_kernel_open(copy, base_bytes, &h, &error), VYRE_ERR_UNSUPPORTED);
  ck_assert_int_eq(gpu_kernel_open(base, base_bytes - 8, &h, &error), VYRE_ERR_INVALID_FILE);
  ck_assert_int_eq(gpu_kernel_open(NULL, 0, &h, &error), VYRE_ERR_INVALID_FILE);
  free(copy);
}
END_TEST

/* Each structure instruction and each jump, turned into something else or pointed elsewhere. */
START_TEST(blocks_that_do_not_nest) {
  make_base();
  vyre_error error = VYRE_ERROR_INIT;
  uint64_t *copy = malloc(base_bytes);
  const vyre_kernel_header *h, *own = (const void *)copy;
  uint32_t tried = 0;
  for (uint32_t i = 0; i < kernel->insns.count; i++) {
    if (gpu_insn(kernel, i)->op > VYRE_KERNEL_CONTINUE) continue;
    for (uint16_t op = VYRE_KERNEL_IF; op <= VYRE_KERNEL_RETURN; op++) {
      memcpy(copy, base, base_bytes);
      vyre_kernel_insn *in = (vyre_kernel_insn *)(uintptr_t)gpu_insn(own, i);
      if (in->op == op) in->arg[1]++;
      in->op = op;
      ck_assert_int_ne(gpu_kernel_open(copy, base_bytes, &h, &error), VYRE_OK);
      tried++;
    }
  }
  ck_assert_uint_gt(tried, 50);
  free(copy);
}
END_TEST

START_TEST(values_come_before_their_use) {
  make_base();
  uint64_t *copy = malloc(base_bytes);
  const vyre_kernel_header *h, *own = (const void *)copy;
  memcpy(copy, base, base_bytes);
  for (uint32_t i = 0; i < kernel->insns.count; i++) {
    vyre_kernel_insn *in = (vyre_kernel_insn *)(uintptr_t)gpu_insn(own, i);
    if (in->op != VYRE_KERNEL_ADD) continue;
    in->arg[0] = in->result;
    break;
  }
  ck_assert_int_eq(gpu_kernel_open(copy, base_bytes, &h, NULL), VYRE_ERR_INVALID_FILE);
  free(copy);
}
END_TEST

/* ---- Blobs ---- */

static vyre_bytes write_blob(void) {
  gpu_blob blob = { .needs = 5, .numeric = 3, .subgroup = 8, .kernel = kernel, .code = "code", .code_bytes = 4 };
  strcpy(blob.build_id, "build-1");
  strcpy(blob.profile, "test:9");
  blob.facts[2] = 77;
  gpu_digest(base, base_bytes, blob.kernel_digest);
  vyre_bytes out = { .size = sizeof out };
  ck_assert_int_eq(gpu_blob_write(&host, &blob, &out, NULL), VYRE_OK);
  return out;
}

START_TEST(blob_comes_back) {
  make_base();
  vyre_bytes bytes = write_blob(), again = write_blob();
  vyre_error error = VYRE_ERROR_INIT;
  gpu_blob blob;
  ck_assert_uint_eq(bytes.length, again.length);
  ck_assert_int_eq(memcmp(bytes.data, again.data, bytes.length), 0);
  ck_assert_msg(gpu_blob_read("build-1", bytes.data, bytes.length, &blob, &error) == VYRE_OK, "%s", error.text);
  ck_assert_str_eq(blob.profile, "test:9");
  ck_assert_uint_eq(blob.needs, 5);
  ck_assert_uint_eq(blob.numeric, 3);
  ck_assert_uint_eq(blob.subgroup, 8);
  ck_assert_uint_eq(blob.facts[2], 77);
  ck_assert_uint_eq(blob.code_bytes, 4);
  ck_assert_int_eq(memcmp(blob.code, "code", 4), 0);
  ck_assert_ptr_null(blob.machine);
  ck_assert_uint_eq(blob.kernel->bindings.count, 3);
  /* Finalized: the same with machine code, from the kept part. */
  vyre_bytes finalized = { .size = sizeof finalized };
  blob.machine = "machine";
  blob.machine_bytes = 7;
  ck_assert_int_eq(gpu_blob_write(&host, &blob, &finalized, NULL), VYRE_OK);
  ck_assert_int_eq(gpu_blob_read("build-1", finalized.data, finalized.length, &blob, &error), VYRE_OK);
  ck_assert_int_eq(memcmp(blob.machine, "machine", 7), 0);
  ck_assert_int_eq(memcmp(blob.code, "code", 4), 0);
  free(bytes.data);
  free(again.data);
  free(finalized.data);
}
END_TEST

START_TEST(damaged_blobs) {
  make_base();
  vyre_bytes bytes = write_blob();
  vyre_error error = VYRE_ERROR_INIT;
  gpu_blob blob;
  for (uint64_t at = 0; at < bytes.length; at++) {
    ((uint8_t *)bytes.data)[at] ^= 0x10;
    ck_assert_int_ne(gpu_blob_read("build-1", bytes.data, bytes.length, &blob, &error), VYRE_OK);
    ((uint8_t *)bytes.data)[at] ^= 0x10;
  }
  for (uint64_t cut = 0; cut < bytes.length; cut++)
    ck_assert_int_eq(gpu_blob_read("build-1", bytes.data, cut, &blob, &error), VYRE_ERR_INVALID_FILE);
  ck_assert_int_eq(gpu_blob_read("build-2", bytes.data, bytes.length, &blob, &error), VYRE_ERR_UNSUPPORTED);
  ck_assert_ptr_nonnull(strstr(error.text, "build-1"));
  free(bytes.data);
}
END_TEST

/* ---- Launches ---- */

START_TEST(launch_block) {
  make_base();
  uint64_t elements[] = { 11, 1ull << 40, 13 };
  uint8_t *block = malloc(kernel->launch_bytes);
  double q = 2.5;
  uint32_t n = 9;
  ck_assert_uint_eq(kernel->param_bytes, 20);
  uint8_t given[20] = { 1 };
  memcpy(given + 8, &q, 8);
  memcpy(given + 16, &n, 4);
  gpu_launch launch = { .kernel = kernel, .params = given, .elements = elements, .grid = { 3, 4, 5 },
                        .origin = { 6, 7, 8 }, .command = 42 };
  gpu_launch_block(&launch, block);
  ck_assert_int_eq(memcmp(block, given, sizeof given), 0);
  for (uint32_t i = 0; i < 3; i++)
    ck_assert_int_eq(memcmp(block + kernel->count_offset + 8 * i, &elements[i], 8), 0);
  static const struct { vyre_kernel_word kind; uint32_t value; } words[] = {
    { VYRE_KERNEL_WORD_GRID_X, 3 }, { VYRE_KERNEL_WORD_GRID_Y, 4 }, { VYRE_KERNEL_WORD_GRID_Z, 5 },
    { VYRE_KERNEL_WORD_ORIGIN_X, 6 }, { VYRE_KERNEL_WORD_ORIGIN_Y, 7 }, { VYRE_KERNEL_WORD_ORIGIN_Z, 8 },
    { VYRE_KERNEL_WORD_COMMAND, 42 },
  };
  uint32_t found = 0;
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    int at = gpu_hidden_word(kernel, words[i].kind);
    if (at < 0) continue;
    uint32_t offset = VYRE_KERNEL_AT(vyre_kernel_hidden_word, kernel, hidden_words, at)->offset;
    ck_assert_int_eq(memcmp(block + offset, &words[i].value, 4), 0);
    found++;
  }
  ck_assert_uint_gt(found, 0);
  free(block);
}
END_TEST

START_TEST(launch_limits) {
  make_base();
  vyre_error error = VYRE_ERROR_INIT;
  gpu_launch launch = { .kernel = kernel, .grid = { 65536, 65536, 65536 } };
  ck_assert_int_eq(gpu_launch_check(&launch, &error), VYRE_ERR_LIMIT); /* spill */
  launch.grid[0] = launch.grid[1] = launch.grid[2] = 2;
  ck_assert_int_eq(gpu_launch_check(&launch, &error), VYRE_OK);
  ck_assert_uint_eq(gpu_spill_bytes(kernel, launch.grid), 8 * kernel->spill_bytes);
  launch.work_budget = 1ull << 32;
  ck_assert_int_eq(gpu_launch_check(&launch, &error), VYRE_ERR_LIMIT);
}
END_TEST

/* Every workgroup is in one piece, and no piece is larger than allowed. */
START_TEST(pieces_cover_the_grid) {
  static const uint32_t grids[][3] = { { 1, 1, 1 }, { 7, 5, 3 }, { 8, 4, 4 }, { 4, 4, 4 }, { 9, 1, 1 }, { 1, 9, 2 } };
  const uint32_t limit[3] = { 4, 2, 3 };
  for (size_t g = 0; g < sizeof grids / sizeof *grids; g++) {
    const uint32_t *grid = grids[g];
    uint8_t seen[16][16][16] = { 0 };
    gpu_piece piece = { 0 };
    while (gpu_next_piece(grid, limit, &piece)) {
      for (int axis = 0; axis < 3; axis++) ck_assert(piece.size[axis] >= 1 && piece.size[axis] <= limit[axis]);
      for (uint32_t z = 0; z < piece.size[2]; z++)
        for (uint32_t y = 0; y < piece.size[1]; y++)
          for (uint32_t x = 0; x < piece.size[0]; x++)
            seen[piece.origin[2] + z][piece.origin[1] + y][piece.origin[0] + x]++;
    }
    for (uint32_t z = 0; z < 16; z++)
      for (uint32_t y = 0; y < 16; y++)
        for (uint32_t x = 0; x < 16; x++)
          ck_assert_uint_eq(seen[z][y][x], x < grid[0] && y < grid[1] && z < grid[2]);
  }
  gpu_piece none = { 0 };
  ck_assert(!gpu_next_piece((const uint32_t[]){ 3, 0, 3 }, limit, &none));
  /* To the end of 32 bits, without wrapping. */
  const uint32_t far[3] = { UINT32_MAX, 1, 1 }, wide[3] = { 1u << 31, 1, 1 };
  gpu_piece last = { 0 };
  ck_assert(gpu_next_piece(far, wide, &last) && last.size[0] == 1u << 31);
  ck_assert(gpu_next_piece(far, wide, &last) && last.size[0] == (1u << 31) - 1);
  ck_assert(!gpu_next_piece(far, wide, &last));
}
END_TEST

typedef struct left_behind {
  vyre_kernel_diagnostics d;
  uint64_t words[12];
} left_behind;

static left_behind two_prints(void) {
  left_behind b = { .d = { .print_words = 12, .print_used = 9, .prints_written = 2, .prints_dropped = 1 } };
  vyre_print_record first = { .site = 1, .arg_count = 2 }, second = { .site = 2, .arg_count = 1 };
  memcpy(b.words, &first, sizeof first);
  b.words[3] = 100;
  b.words[4] = 101;
  memcpy(b.words + 5, &second, sizeof second);
  b.words[8] = 102;
  return b;
}

START_TEST(diagnostics) {
  left_behind b = two_prints();
  b.d.trap_count = 2;
  b.d.trap_code = 7;
  b.d.trap_gid[1] = 5;
  vyre_completion c = { .size = sizeof c };
  uint64_t prints[16], used = 0;
  gpu_read_diagnostics(&b, sizeof b, &c, prints, 16, &used);
  ck_assert_uint_eq(used, 9);
  ck_assert_int_eq(memcmp(prints, b.words, 72), 0);
  ck_assert_uint_eq(c.prints_written, 2);
  ck_assert_uint_eq(c.prints_dropped, 1);
  ck_assert_uint_eq(c.trap_count, 2);
  ck_assert_uint_eq(c.trap_code, 7);
  ck_assert_uint_eq(c.trap_gid[1], 5);
  /* A second dispatch goes behind; its trap does not replace the first, and what finds no room is dropped. */
  b.d.trap_code = 8;
  gpu_read_diagnostics(&b, sizeof b, &c, prints, 16, &used);
  ck_assert_uint_eq(used, 14);
  ck_assert_uint_eq(c.prints_written, 3);
  ck_assert_uint_eq(c.prints_dropped, 3);
  ck_assert_uint_eq(c.trap_count, 4);
  ck_assert_uint_eq(c.trap_code, 7);
}
END_TEST

START_TEST(diagnostics_are_not_trusted) {
  left_behind b = two_prints();
  vyre_completion c = { .size = sizeof c };
  uint64_t prints[16], used = 0;
  b.d.print_words = b.d.prints_written = UINT32_MAX;
  vyre_print_record endless = { .arg_count = UINT32_MAX };
  memcpy(b.words + 5, &endless, sizeof endless);
  gpu_read_diagnostics(&b, sizeof b, &c, prints, 16, &used);
  ck_assert_uint_eq(used, 5);
  ck_assert_uint_eq(c.prints_written, 1);
  gpu_read_diagnostics(&b, sizeof b.d - 1, &c, prints, 16, &used);
  ck_assert_uint_eq(used, 5);
}
END_TEST

int main(void) {
  const TTest *const all[] = { bytes_grow, answers, launch_part_is_a_kernel, damaged_kernels, unknown_things_are_named,
                               blocks_that_do_not_nest, values_come_before_their_use,
                               blob_comes_back, damaged_blobs, launch_block, launch_limits, pieces_cover_the_grid,
                               diagnostics, diagnostics_are_not_trusted, NULL };
  return run_suite("gpu", 60, all);
}
