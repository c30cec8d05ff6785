/* The builder's life, names, attributes and declarations. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/diag.h"
#include "base/error.h"
#include "base/utf8.h"
#include "ir/build_state.h"

enum { EXPECT_MOST = 1 << 20 };

/* ---- Life ---------------------------------------------------------------------------------- */

static bool init_program(vyre_builder *b, const char *name) {
  vyre_program *p = b->program;
  p->references = 1;
  p->workgroup[0] = p->workgroup[1] = p->workgroup[2] = 1;
  p->ulp = VYRE_ULP_UNSET;
  size_t bytes = strlen(name);
  p->op_id = ir_builder_intern(b, "", 0);
  p->name = ir_builder_intern(b, name, bytes <= VYRE_MAX_STRING_BYTES ? (uint32_t)bytes : 0);
  bool room = ir_expr_set_init(&b->expr_set) && build_reserve(b, 1) && vyre_vector_push(&p->exprs, ((ir_expr){ 0 })) &&
              vyre_vector_push(&b->meta, ((ir_expr_meta){ 0 })) &&
              vyre_vector_push(&p->stmts, ((ir_stmt){ .pos = VYRE_NO_POSITION })) &&
              vyre_vector_push(&b->blocks, ((build_block){ 0 }));
  return room && !b->out_of_memory;
}

vyre_status vyre_builder_create(const char *name, vyre_diagnostics *diagnostics, vyre_builder **out) {
  *out = NULL;
  vyre_builder *b = calloc(1, sizeof *b);
  if (b == NULL) return VYRE_ERR_NO_MEMORY;
  b->diagnostics = diagnostics;
  b->position = VYRE_NO_POSITION;
  b->first = (vyre_error)VYRE_ERROR_INIT;
  b->program = calloc(1, sizeof *b->program);
  if (b->program == NULL || !init_program(b, name != NULL ? name : "")) {
    vyre_builder_destroy(b);
    return VYRE_ERR_NO_MEMORY;
  }
  *out = b;
  ir_note_reserved_words(&b->reserved, b->program->strings.key);
  build_check_name(b, b->program->name);
  return VYRE_OK;
}

void vyre_builder_destroy(vyre_builder *b) {
  if (b == NULL) return;
  ir_program_free(b->program);
  ir_expr_set_free(&b->expr_set);
  vyre_vector_free(&b->var_values);
  vyre_vector_free(&b->param_values);
  vyre_vector_free(&b->meta);
  vyre_vector_free(&b->names);
  vyre_vector_free(&b->visible);
  vyre_vector_free(&b->blocks);
  free(b);
}

void vyre_build_position(vyre_builder *b, uint32_t offset) { b->position = offset; }

void ir_builder_expect(vyre_builder *b, uint64_t expressions, uint64_t statements) {
  uint32_t exprs = expressions < EXPECT_MOST ? (uint32_t)expressions : EXPECT_MOST;
  uint32_t stmts = statements < EXPECT_MOST ? (uint32_t)statements : EXPECT_MOST;
  vyre_program *p = b->program;
  uint32_t names = stmts / 4; /* of variables, mostly */
  bool room = build_reserve(b, exprs) && ir_expr_set_expect(&b->expr_set, p->exprs.data, exprs) &&
              vyre_vector_reserve(&p->stmts, stmts) && vyre_strings_expect(&p->strings, names) &&
              vyre_vector_reserve(&b->names, names) && vyre_vector_reserve(&p->vars, names) &&
              vyre_vector_reserve(&b->var_values, names);
  if (!room) b->out_of_memory = true;
}

/* ---- Faults -------------------------------------------------------------------------------- */

static void report(vyre_builder *b, vyre_code code, const char *fix, const char *text) {
  vyre_diag_fix(b->diagnostics, code, b->position, fix, "%s", text);
  if (vyre_code_severity(code) != VYRE_SEVERITY_ERROR || b->errors++ > 0) return;
  if (fix == NULL) fix = vyre_code_fix(code);
  vyre_fail(&b->first, VYRE_ERR_INVALID_PROGRAM, ir_builder_text(b, b->program->name), "%s: %s: %s. Fix: %s%s",
            vyre_code_name(code), vyre_code_gist(code), text, fix, fix[strlen(fix) - 1] == '?' ? "" : ".");
}

void ir_builder_report(vyre_builder *b, vyre_code code, const char *format, ...) {
  char text[384];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  report(b, code, NULL, text);
}

void ir_builder_report_fix(vyre_builder *b, vyre_code code, const char *fix, const char *format, ...) {
  char text[384];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  report(b, code, fix, text);
}

void ir_builder_out_of_memory(vyre_builder *b) { b->out_of_memory = true; }
bool ir_builder_failed(const vyre_builder *b) { return b->errors > 0 || b->out_of_memory; }
uint32_t vyre_builder_errors(const vyre_builder *b) { return b->errors; }

const char *build_type_name(vyre_type type) {
  if (type == VYRE_TYPE_NONE) return "no value";
  return (unsigned)type < VYRE_TYPE_COUNT ? vyre_type_describe(type)->spelling : "a type that does not exist";
}

/* ---- Names --------------------------------------------------------------------------------- */

uint32_t ir_builder_intern(vyre_builder *b, const char *text, uint32_t bytes) {
  uint32_t string = vyre_strings_intern(&b->program->strings, text, bytes);
  bool room = string != UINT32_MAX;
  while (room && b->names.count < b->program->strings.table.count)
    room = vyre_vector_push(&b->names, ((build_name){ 0 }));
  if (room) return string;
  b->out_of_memory = true;
  return UINT32_MAX;
}

uint32_t build_intern(vyre_builder *b, const char *text) {
  size_t bytes = text != NULL ? strlen(text) : 0;
  if (bytes > VYRE_MAX_STRING_BYTES) {
    ir_builder_report(b, VYRE_V142, "a string of %zu bytes", bytes);
    bytes = 0;
  }
  return ir_builder_intern(b, bytes > 0 ? text : "", (uint32_t)bytes);
}

const char *ir_builder_text(const vyre_builder *b, uint32_t string) {
  return string < b->program->strings.table.count ? vyre_strings_text(&b->program->strings, string) : "";
}

uint32_t ir_builder_string_count(const vyre_builder *b) { return b->program->strings.table.count; }

build_name *build_name_at(vyre_builder *b, uint32_t string) { return &b->names.data[string]; }

/* What may stand in a name: 1 anywhere, 2 not at its start. */
static const uint8_t name_bytes[256] = {
  ['a' ... 'z'] = 1, ['A' ... 'Z'] = 1, ['_'] = 1, ['0' ... '9'] = 2,
};

static bool is_identifier(const char *text, uint32_t bytes) {
  if (bytes == 0 || bytes > VYRE_MAX_NAME_BYTES || name_bytes[(uint8_t)text[0]] != 1) return false;
  for (uint32_t i = 1; i < bytes; i++)
    if (name_bytes[(uint8_t)text[i]] == 0) return false;
  return true;
}

bool build_check_name(vyre_builder *b, uint32_t string) {
  if (string >= b->names.count) return false;
  build_name *name = build_name_at(b, string);
  if (name->checked == 0) {
    const vyre_string *s = &b->program->strings.table.data[string];
    bool good = is_identifier(s->text, s->bytes) && !ir_is_reserved(&b->reserved, s);
    name->checked = good ? 1 : 2;
  }
  if (name->checked == 1) return true;
  ir_builder_report(b, VYRE_V142, "\"%.60s\" can not be a name", ir_builder_text(b, string));
  return false;
}

ir_symbol ir_builder_find(const vyre_builder *b, uint32_t name) {
  if (name >= b->names.count) return (ir_symbol){ IR_SYMBOL_NONE, 0 };
  const build_name *entry = &b->names.data[name];
  return (ir_symbol){ (ir_symbol_kind)entry->kind, entry->index };
}

/* Gives a name of the whole program to something; false if it can not be had. */
static bool claim(vyre_builder *b, uint32_t string, ir_symbol_kind kind, uint32_t index) {
  if (!build_check_name(b, string)) return false;
  build_name *name = build_name_at(b, string);
  if (name->kind != IR_SYMBOL_NONE) {
    ir_builder_report(b, VYRE_V107, "\"%s\" is declared already", ir_builder_text(b, string));
    return false;
  }
  *name = (build_name){ .kind = (uint8_t)kind, .checked = 1, .index = index };
  return true;
}

bool ir_builder_claim(vyre_builder *b, uint32_t name, uint32_t index) {
  return claim(b, name, IR_SYMBOL_OTHER, index);
}

/* ---- Attributes ---------------------------------------------------------------------------- */

void vyre_build_workgroup(vyre_builder *b, uint32_t x, uint32_t y, uint32_t z) {
  if (x == 0 || y == 0 || z == 0) {
    ir_builder_report(b, VYRE_V106, "workgroup(%u, %u, %u)", x, y, z);
    return;
  }
  uint32_t size[3] = { x, y, z };
  memcpy(b->program->workgroup, size, sizeof size);
}

void vyre_build_attributes(vyre_builder *b, uint32_t bits) {
  uint32_t known = VYRE_PROGRAM_CONTRACT | VYRE_PROGRAM_FLUSH | VYRE_PROGRAM_PROGRESS_WORKGROUPS |
                   VYRE_PROGRAM_NONCOMPOSABLE;
  if ((bits & ~known) != 0) ir_builder_report(b, VYRE_V149, "attribute bits 0x%x are unknown", bits & ~known);
  b->program->attributes |= bits & known;
}

void vyre_build_ulp(vyre_builder *b, uint32_t ulp) {
  if (ulp == VYRE_ULP_UNSET) ir_builder_report(b, VYRE_V149, "ulp(%u) is out of range", ulp);
  b->program->ulp = ulp;
}

void vyre_build_subgroup(vyre_builder *b, uint32_t size) {
  if (size == 0 || size > 32 || (size & (size - 1)) != 0) {
    ir_builder_report(b, VYRE_V149, "subgroup(%u)", size);
    return;
  }
  b->program->subgroup = size;
}

void ir_build_op(vyre_builder *b, uint32_t id) {
  if (id >= b->names.count) return;
  const vyre_string *s = &b->program->strings.table.data[id];
  if (s->bytes == 0 || s->bytes > VYRE_MAX_NAME_BYTES || !vyre_utf8_valid(s->text, s->bytes)) {
    ir_builder_report(b, VYRE_V142, "an operation id of %u bytes", s->bytes);
    return;
  }
  b->program->op_id = id;
}

void vyre_build_op(vyre_builder *b, const char *id) { ir_build_op(b, build_intern(b, id)); }

/* ---- Declarations -------------------------------------------------------------------------- */

static bool has_room(vyre_builder *b) {
  uint64_t count = (uint64_t)b->program->params.count + b->program->buffers.count;
  if (count < VYRE_MAX_DECLARATIONS) return true;
  if (count == VYRE_MAX_DECLARATIONS && !b->too_large)
    ir_builder_report(b, VYRE_V141, "declaration %u", (unsigned)count + 1);
  b->too_large = true;
  return false;
}

vyre_expr ir_build_param_value(vyre_builder *b, uint32_t index) {
  if (index >= b->program->params.count) {
    ir_builder_report(b, VYRE_V66, "there is no parameter %u", index);
    return 0;
  }
  uint8_t type = b->program->params.data[index].type;
  return build_leaf(b, &b->param_values.data[index], (ir_expr){ .op = VYRE_OP_PARAM, .type = type, .arg[3] = index });
}

vyre_expr ir_build_param(vyre_builder *b, uint32_t name, vyre_type type) {
  uint32_t index = b->program->params.count;
  if (type < VYRE_TYPE_BOOL || type > VYRE_TYPE_F64) {
    ir_builder_report(b, VYRE_V136, "a parameter can not be %s", build_type_name(type));
    return 0;
  }
  if (!has_room(b) || !claim(b, name, IR_SYMBOL_PARAM, index)) return 0;
  if (!vyre_vector_push(&b->param_values, 0) ||
      !vyre_vector_push(&b->program->params, ((ir_param){ name, (uint8_t)type }))) {
    b->out_of_memory = true;
    return 0;
  }
  return ir_build_param_value(b, index);
}

vyre_expr vyre_build_param(vyre_builder *b, const char *name, vyre_type type) {
  return ir_build_param(b, build_intern(b, name), type);
}

static uint32_t count_slots(const vyre_builder *b) {
  const vyre_program *p = b->program;
  for (uint32_t i = p->buffers.count; i > 0; i--)
    if (p->buffers.data[i - 1].slot != UINT32_MAX) return p->buffers.data[i - 1].slot + 1;
  return 0;
}

static vyre_binding add_buffer(vyre_builder *b, ir_buffer buffer) {
  vyre_binding binding = b->program->buffers.count;
  if (!has_room(b) || !claim(b, buffer.name, IR_SYMBOL_BUFFER, binding)) return VYRE_NO_BINDING;
  if (vyre_vector_push(&b->program->buffers, buffer)) return binding;
  b->out_of_memory = true;
  return VYRE_NO_BINDING;
}

static bool check_element(vyre_builder *b, vyre_type element, uint64_t length) {
  uint64_t bytes;
  if (element == VYRE_TYPE_NONE || (unsigned)element >= VYRE_TYPE_COUNT) {
    ir_builder_report(b, VYRE_V136, "element type %u", (unsigned)element);
    return false;
  }
  if (vyre_mul_u64(length, vyre_type_describe(element)->bytes, &bytes) && bytes <= INT64_MAX) return true;
  ir_builder_report(b, VYRE_V145, "a length of %llu elements does not fit 64-bit sizes", (unsigned long long)length);
  return false;
}

vyre_binding ir_build_buffer(vyre_builder *b, vyre_access access, uint32_t name, vyre_type element, uint64_t length) {
  bool bound = access == VYRE_ACCESS_READ || access == VYRE_ACCESS_WRITE || access == VYRE_ACCESS_RW;
  bool inner = access == VYRE_ACCESS_SHARED || access == VYRE_ACCESS_LOCAL;
  if (!bound && !inner) {
    ir_builder_report(b, VYRE_V145, "access %u is none that a buffer has", (unsigned)access);
    return VYRE_NO_BINDING;
  }
  if (!check_element(b, element, length)) return VYRE_NO_BINDING;
  if (inner && length == 0) {
    ir_builder_report(b, VYRE_V109, "\"%s\" has none", ir_builder_text(b, name));
    return VYRE_NO_BINDING;
  }
  return add_buffer(b, (ir_buffer){ .name = name,
                                    .access = (uint8_t)access,
                                    .element = (uint8_t)element,
                                    .slot = bound ? count_slots(b) : UINT32_MAX,
                                    .length = length });
}

vyre_binding vyre_build_buffer(vyre_builder *b, vyre_access access, const char *name, vyre_type element,
                               uint64_t length) {
  return ir_build_buffer(b, access, build_intern(b, name), element, length);
}

/* Brings each element to the form that text can write: bool words 0 or 1, and the one NaN of each float type. */
static void normalize(uint8_t *data, vyre_type element, uint64_t length) {
  static const struct { uint8_t type; uint64_t infinity, nan; } floats[] = {
    { VYRE_TYPE_F16, 0x7C00, 0x7E00 },
    { VYRE_TYPE_BF16, 0x7F80, 0x7FC0 },
    { VYRE_TYPE_F32, 0x7F800000, 0x7FC00000 },
    { VYRE_TYPE_F64, 0x7FF0000000000000u, 0x7FF8000000000000u },
  };
  vyre_type component = ir_component(element);
  uint64_t bytes = vyre_type_describe(component)->bytes, count = length * vyre_type_describe(element)->lanes;
  uint64_t sign = 1ull << (bytes * 8 - 1);
  for (size_t f = 0; f < sizeof floats / sizeof *floats; f++) {
    if (floats[f].type != component) continue;
    for (uint64_t i = 0; i < count; i++) {
      uint64_t bits = 0;
      memcpy(&bits, data + i * bytes, bytes);
      if ((bits & ~sign) > floats[f].infinity) memcpy(data + i * bytes, &floats[f].nan, bytes);
    }
  }
  if (component != VYRE_TYPE_BOOL) return;
  for (uint64_t i = 0; i < count; i++) {
    uint32_t word;
    memcpy(&word, data + i * 4, 4);
    word = word != 0;
    memcpy(data + i * 4, &word, 4);
  }
}

vyre_binding ir_build_table(vyre_builder *b, uint32_t name, vyre_type element, const void *data, uint64_t length) {
  if (!check_element(b, element, length)) return VYRE_NO_BINDING;
  uint64_t bytes = length * vyre_type_describe(element)->bytes;
  if (length == 0 || data == NULL) {
    ir_builder_report(b, VYRE_V109, "table \"%s\" has no elements", ir_builder_text(b, name));
    return VYRE_NO_BINDING;
  }
  if (bytes > VYRE_MAX_PROGRAM_BYTES) {
    ir_builder_report(b, VYRE_V143, "table \"%s\" has %llu bytes", ir_builder_text(b, name), (unsigned long long)bytes);
    return VYRE_NO_BINDING;
  }
  char *copy = vyre_arena_copy(&b->program->strings.arena, data, (size_t)bytes);
  if (copy == NULL) {
    b->out_of_memory = true;
    return VYRE_NO_BINDING;
  }
  normalize((uint8_t *)copy, element, length);
  return add_buffer(b, (ir_buffer){ .name = name,
                                    .access = VYRE_ACCESS_TABLE,
                                    .element = (uint8_t)element,
                                    .slot = UINT32_MAX,
                                    .length = length,
                                    .data = (const uint8_t *)copy });
}

vyre_binding vyre_build_table(vyre_builder *b, const char *name, vyre_type element, const void *data, uint64_t length) {
  return ir_build_table(b, build_intern(b, name), element, data, length);
}

/* ---- Looking into what is there ------------------------------------------------------------ */

const ir_expr *ir_builder_expr(const vyre_builder *b, vyre_expr e) {
  return build_expr_at(b, e < b->program->exprs.count ? e : 0);
}
const ir_expr_meta *ir_builder_meta(const vyre_builder *b, vyre_expr e) {
  return &b->meta.data[e < b->meta.count ? e : 0];
}
const ir_buffer *ir_builder_buffer(const vyre_builder *b, vyre_binding binding) {
  return build_has_buffer(b, binding) ? &b->program->buffers.data[binding] : NULL;
}
const ir_var *ir_builder_var(const vyre_builder *b, vyre_var var) {
  return var < b->program->vars.count ? &b->program->vars.data[var] : NULL;
}
uint32_t ir_builder_buffer_count(const vyre_builder *b) { return b->program->buffers.count; }
uint32_t ir_builder_param_count(const vyre_builder *b) { return b->program->params.count; }
uint32_t ir_builder_var_count(const vyre_builder *b) { return b->program->vars.count; }

vyre_type vyre_build_type_of(const vyre_builder *b, vyre_expr e) { return (vyre_type)ir_builder_expr(b, e)->type; }
vyre_type vyre_build_var_type(const vyre_builder *b, vyre_var var) {
  const ir_var *v = ir_builder_var(b, var);
  return v != NULL ? (vyre_type)v->type : VYRE_TYPE_NONE;
}

bool ir_builder_stable(const vyre_builder *b, vyre_expr e) { return ir_builder_meta(b, e)->flags == 0; }

/* ---- The end ------------------------------------------------------------------------------- */

/* Checks and digests a program whose parts are all there. */
static vyre_status complete(vyre_builder *b, const uint8_t *fingerprint, vyre_error *error) {
  vyre_program *p = b->program;
  const char *name = ir_text(p, p->name);
  if (!ir_program_seal(p, b->max_visible)) return vyre_fail_memory(error, name);
  vyre_status status = ir_validate(p, b->diagnostics, error);
  if (fingerprint != NULL) memcpy(p->fingerprint, fingerprint, VYRE_FINGERPRINT_BYTES);
  else if (status == VYRE_OK) status = ir_wire_digest(p, p->fingerprint, error);
  if (status == VYRE_ERR_LIMIT) {
    b->position = VYRE_NO_POSITION;
    ir_builder_report(b, VYRE_V143, "its wire form passes %u bytes", VYRE_MAX_PROGRAM_BYTES);
    if (error != NULL) vyre_fail(error, VYRE_ERR_INVALID_PROGRAM, name, "%s", b->first.text);
    return VYRE_ERR_INVALID_PROGRAM;
  }
  return status;
}

vyre_status vyre_builder_finish(vyre_builder *b, vyre_program **out, vyre_error *error) {
  return ir_builder_finish(b, NULL, out, error);
}

vyre_status ir_builder_finish(vyre_builder *b, const uint8_t *fingerprint, vyre_program **out, vyre_error *error) {
  *out = NULL;
  if (b->program == NULL) return vyre_fail(error, VYRE_ERR_CLOSED, "vyre_builder_finish",
                                           "The builder has finished already. Fix: make a new builder.");
  if (b->blocks.count > 1 && !ir_builder_failed(b))
    ir_builder_report(b, VYRE_V150, "%u blocks are open at the end", b->blocks.count - 1);
  if (b->out_of_memory) return vyre_fail_memory(error, ir_builder_text(b, b->program->name));
  if (b->errors > 0) return vyre_fail(error, VYRE_ERR_INVALID_PROGRAM, b->first.where, "%s", b->first.text);
  vyre_status status = complete(b, fingerprint, error);
  if (status != VYRE_OK) return status;
  *out = b->program;
  b->program = NULL;
  return VYRE_OK;
}
