/* A program to wire bytes, or straight to their digest.
 *
 * Everything is written in one pass: a string at its first use and by number after that, a variable where it is
 * declared, an expression in post-order before the statement that takes it. Nothing is chosen, so equal programs
 * have equal bytes. */
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/error.h"
#include "ir/program.h"
#include "ir/wire.h"

/* Where the bytes go: into memory that grows, or through a fixed window into a digest. */
typedef struct sink {
  uint8_t *data;
  size_t count, capacity;
  size_t digested;      /* bytes that left the window */
  vyre_digest *digest;  /* NULL: all bytes are kept */
  vyre_status status;   /* sticky; nothing is written after a failure */
} sink;

typedef struct frame {
  uint32_t expr, next; /* next operand to write */
} frame;

typedef struct encoder {
  const vyre_program *p;
  sink out;
  uint32_t *string_number; /* by string: 1 + its number on the wire, 0 before its first use */
  uint32_t string_count, var_count;
  VYRE_VECTOR(uint32_t) open; /* statements whose blocks are being written */
  frame stack[VYRE_MAX_EXPR_DEPTH];
} encoder;

static const uint8_t op_tag[VYRE_OP_COUNT] = {
#define X(name, spelling, form, arity, rule, tag, sub, effects, doc) [VYRE_OP_##name] = tag,
#include <vyre/ops.def>
#undef X
};

static const uint8_t op_sub[VYRE_OP_COUNT] = {
#define X(name, spelling, form, arity, rule, tag, sub, effects, doc) [VYRE_OP_##name] = sub,
#include <vyre/ops.def>
#undef X
};

static const uint8_t stmt_tag[VYRE_STMT_COUNT] = {
#define X(name, spelling, arity, blocks, tag, doc) [VYRE_STMT_##name] = tag,
#include <vyre/stmts.def>
#undef X
};

static const uint8_t type_tag[VYRE_TYPE_COUNT] = {
#define X(name, spelling, bytes, lanes, component, value, wire) [VYRE_TYPE_##name] = wire,
#include <vyre/types.def>
#undef X
};

/* ---- Bytes --------------------------------------------------------------------------------- */

static bool sink_fail(sink *s, vyre_status status) {
  s->status = status;
  return false;
}

/* Empties the window, or grows the memory, so that |need| more bytes (at most the window's size) fit. */
static bool sink_make_room(sink *s, size_t need) {
  if (s->status != VYRE_OK) return false;
  if (s->digested + s->count + need > VYRE_MAX_PROGRAM_BYTES + VYRE_WIRE_HEADER_BYTES)
    return sink_fail(s, VYRE_ERR_LIMIT);
  if (s->digest != NULL) {
    vyre_digest_add(s->digest, s->data, s->count);
    s->digested += s->count;
    s->count = 0;
    return true;
  }
  size_t capacity = s->capacity < 256 ? 256 : s->capacity * 2;
  while (capacity - s->count < need) capacity *= 2;
  uint8_t *data = realloc(s->data, capacity);
  if (data == NULL) return sink_fail(s, VYRE_ERR_NO_MEMORY);
  s->data = data;
  s->capacity = capacity;
  return true;
}

static inline bool sink_room(sink *s, size_t need) {
  return s->capacity - s->count >= need || sink_make_room(s, need);
}

/* Small parts are put together behind a pointer into room that was made for any of them: a store of a byte may touch
 * whatever the compiler can not prove apart, so counting each one in the sink would cost more than the bytes. */
enum { PART_ROOM = 32 };

static inline uint8_t *begin_part(sink *s) { return sink_room(s, PART_ROOM) ? s->data + s->count : NULL; }
static inline void end_part(sink *s, const uint8_t *at) { s->count = (size_t)(at - s->data); }

static inline uint8_t *add_u8(uint8_t *at, uint32_t value) {
  *at = (uint8_t)value;
  return at + 1;
}

static inline uint8_t *add_leb(uint8_t *at, uint64_t value) {
  for (; value >= 0x80; value >>= 7) *at++ = (uint8_t)(value | 0x80);
  return add_u8(at, (uint8_t)value);
}

static inline uint8_t *add_fixed(uint8_t *at, uint64_t value, uint32_t bytes) {
  for (uint32_t i = 0; i < bytes; i++) *at++ = (uint8_t)(value >> (8 * i));
  return at;
}

static inline uint8_t *add_type(uint8_t *at, uint8_t type) {
  at = add_u8(at, type_tag[type]);
  if (type_tag[type] != WIRE_VECTOR_TYPE) return at;
  at = add_u8(at, type_tag[ir_component(type)]);
  return add_u8(at, vyre_type_describe(type)->lanes);
}

static void put_u8(sink *s, uint32_t value) {
  uint8_t *at = begin_part(s);
  if (at != NULL) end_part(s, add_u8(at, value));
}

static void put_leb(sink *s, uint64_t value) {
  uint8_t *at = begin_part(s);
  if (at != NULL) end_part(s, add_leb(at, value));
}

static void put_type(sink *s, uint8_t type) {
  uint8_t *at = begin_part(s);
  if (at != NULL) end_part(s, add_type(at, type));
}

static void put_bytes(sink *s, const void *bytes, size_t count) {
  const uint8_t *from = bytes;
  while (count > 0) {
    size_t part = s->digest != NULL && count > s->capacity ? s->capacity : count;
    if (!sink_room(s, part)) return;
    memcpy(s->data + s->count, from, part);
    s->count += part;
    from += part;
    count -= part;
  }
}

/* ---- Parts --------------------------------------------------------------------------------- */

static void put_string(encoder *w, uint32_t string) {
  uint32_t *number = &w->string_number[string];
  if (*number != 0) {
    put_leb(&w->out, (uint64_t)(*number - 1) << 1 | 1);
    return;
  }
  *number = ++w->string_count;
  uint32_t bytes = w->p->strings.table.data[string].bytes;
  put_leb(&w->out, (uint64_t)bytes << 1);
  put_bytes(&w->out, ir_text(w->p, string), bytes);
}

/* Small magnitudes of either sign become small numbers. */
static uint64_t zigzag(int64_t value) { return (uint64_t)value << 1 ^ (uint64_t)(value >> 63); }

static uint8_t *add_literal(uint8_t *at, const ir_expr *x) {
  uint64_t bits = ir_literal_bits(x);
  at = add_type(at, x->type);
  switch (x->type) {
    case VYRE_TYPE_BOOL: return add_u8(at, (uint32_t)bits);
    case VYRE_TYPE_I32: return add_leb(at, zigzag((int32_t)(uint32_t)bits));
    case VYRE_TYPE_I64: return add_leb(at, zigzag((int64_t)bits));
    case VYRE_TYPE_F32: return add_fixed(at, bits, 4);
    case VYRE_TYPE_F64: return add_fixed(at, bits, 8);
    default: return add_leb(at, bits);
  }
}

/* A variable by its distance from the one declared last. */
static uint8_t *add_var(const encoder *w, uint8_t *at, uint32_t var) { return add_leb(at, w->var_count - 1 - var); }

/* What follows the tag of an operator. */
static uint8_t *add_details(const encoder *w, uint8_t *at, const ir_expr *x) {
  switch (x->op) {
    case VYRE_OP_LIT: return add_literal(at, x);
    case VYRE_OP_VAR: return add_var(w, at, x->arg[3]);
    case VYRE_OP_GID:
    case VYRE_OP_WID:
    case VYRE_OP_LID:
    case VYRE_OP_NWG:
    case VYRE_OP_EXTRACT: return add_u8(at, x->aux);
    case VYRE_OP_CAST: return add_type(at, x->aux);
    case VYRE_OP_BITCAST:
    case VYRE_OP_SPLAT: return add_type(at, x->type);
    case VYRE_OP_PARAM:
    case VYRE_OP_LEN:
    case VYRE_OP_LEN64:
    case VYRE_OP_LOAD:
    case VYRE_OP_GRID_UNIFORM_LOAD:
    case VYRE_OP_WORKGROUP_UNIFORM_LOAD: return add_leb(at, x->arg[3]);
    case VYRE_OP_ATOMIC_ADD:
    case VYRE_OP_ATOMIC_SUB:
    case VYRE_OP_ATOMIC_AND:
    case VYRE_OP_ATOMIC_OR:
    case VYRE_OP_ATOMIC_XOR:
    case VYRE_OP_ATOMIC_MIN:
    case VYRE_OP_ATOMIC_MAX:
    case VYRE_OP_ATOMIC_XCHG:
    case VYRE_OP_ATOMIC_CAS:
    case VYRE_OP_ATOMIC_LOAD:
    case VYRE_OP_ATOMIC_STORE: return add_u8(add_u8(add_leb(at, x->arg[3]), x->aux), x->aux2);
    default: return at;
  }
}

/* One operator, whose operands are written. */
static void put_node(encoder *w, const ir_expr *x) {
  uint8_t *at = begin_part(&w->out);
  if (at == NULL) return;
  at = add_u8(at, op_tag[x->op]);
  if (op_sub[x->op] != 0) at = add_u8(at, op_sub[x->op]);
  end_part(&w->out, add_details(w, at, x));
}

/* An expression as it is evaluated: operands, then operator. Shared parts are written at each of their uses, so the
 * walk may be far longer than the pool; the limit of the sink ends it. */
static void put_expr(encoder *w, uint32_t root) {
  uint32_t depth = 0;
  w->stack[depth++] = (frame){ root, 0 };
  while (depth > 0 && w->out.status == VYRE_OK) {
    frame *top = &w->stack[depth - 1];
    const ir_expr *x = ir_expr_at(w->p, top->expr);
    if (top->next == ir_op_arity[x->op]) {
      put_node(w, x);
      depth--;
      continue;
    }
    uint32_t operand = x->arg[top->next++];
    const ir_expr *y = ir_expr_at(w->p, operand);
    if (ir_op_arity[y->op] == 0) put_node(w, y);
    else if (depth < VYRE_MAX_EXPR_DEPTH) w->stack[depth++] = (frame){ operand, 0 };
    else sink_fail(&w->out, VYRE_ERR_LIMIT);
  }
}

/* ---- Statements ---------------------------------------------------------------------------- */

static void put_operands(encoder *w, const ir_stmt *t) {
  if (t->op == VYRE_STMT_PRINT) {
    for (uint32_t i = 0; i < t->arg[2]; i++) put_expr(w, w->p->lists.data[t->arg[3] + i]);
    return;
  }
  for (uint32_t i = 0; i < ir_stmt_arity[t->op]; i++)
    if (t->arg[i] != 0) put_expr(w, t->arg[i]); /* only the step of a for may be absent */
}

/* What follows the tag of a statement, without strings. */
static uint8_t *add_stmt_details(const encoder *w, uint8_t *at, const ir_stmt *t) {
  switch (t->op) {
    case VYRE_STMT_ASSIGN: return add_var(w, at, t->arg[4]);
    case VYRE_STMT_STORE: return add_leb(at, t->arg[4]);
    case VYRE_STMT_FENCE: return add_u8(add_u8(at, t->aux), t->aux2);
    case VYRE_STMT_COPY_ASYNC: return add_u8(add_leb(add_leb(at, t->arg[3]), t->arg[4]), t->aux);
    case VYRE_STMT_WAIT: return add_u8(at, t->aux);
    default: return at;
  }
}

static void put_stmt(encoder *w, const ir_stmt *t) {
  put_operands(w, t);
  uint8_t *at = begin_part(&w->out);
  if (at == NULL) return;
  end_part(&w->out, add_stmt_details(w, add_u8(at, WIRE_STATEMENT | stmt_tag[t->op]), t));
  switch (t->op) {
    case VYRE_STMT_LET:
    case VYRE_STMT_VAR:
    case VYRE_STMT_FOR:
      put_string(w, w->p->vars.data[t->arg[4]].name);
      w->var_count++;
      break;
    case VYRE_STMT_REGION:
    case VYRE_STMT_PRINT: put_string(w, t->arg[4]); break;
    default: break;
  }
}

static bool has_block(uint8_t op) {
  switch (op) {
    case VYRE_STMT_IF:
    case VYRE_STMT_FOR:
    case VYRE_STMT_LOOP:
    case VYRE_STMT_BLOCK:
    case VYRE_STMT_REGION: return true;
    default: return false;
  }
}

/* Ends the blocks that end here and gives the statement that goes on, 0 at the program's end. A block stands open
 * under its statement's number; the top bit says that its second block is the one being written. */
static uint32_t close_blocks(encoder *w) {
  enum { SECOND = 1u << 31 };
  while (w->open.count > 0) {
    uint32_t top = w->open.data[w->open.count - 1];
    const ir_stmt *t = ir_stmt_at(w->p, top & ~SECOND);
    if (t->orelse != 0 && (top & SECOND) == 0) {
      w->open.data[w->open.count - 1] = top | SECOND;
      put_u8(&w->out, WIRE_ELSE);
      return t->orelse;
    }
    put_u8(&w->out, WIRE_END);
    w->open.count--;
    if (t->next != 0) return t->next;
  }
  return 0;
}

static void put_stmts(encoder *w) {
  uint32_t at = ir_entry(w->p);
  while (at != 0 && w->out.status == VYRE_OK) {
    const ir_stmt *t = ir_stmt_at(w->p, at);
    put_stmt(w, t);
    if (!has_block(t->op)) {
      at = t->next != 0 ? t->next : close_blocks(w);
      continue;
    }
    if (!vyre_vector_push(&w->open, at)) sink_fail(&w->out, VYRE_ERR_NO_MEMORY);
    else at = t->body != 0 ? t->body : close_blocks(w);
  }
}

/* ---- The whole ----------------------------------------------------------------------------- */

static void put_declarations(encoder *w) {
  const vyre_program *p = w->p;
  sink *s = &w->out;
  put_leb(s, p->params.count);
  for (uint32_t i = 0; i < p->params.count; i++) {
    put_string(w, p->params.data[i].name);
    put_type(s, p->params.data[i].type);
  }
  put_leb(s, p->buffers.count);
  for (uint32_t i = 0; i < p->buffers.count; i++) {
    const ir_buffer *b = &p->buffers.data[i];
    put_string(w, b->name);
    put_u8(s, b->access);
    put_type(s, b->element);
    put_leb(s, b->length);
    if (b->access == VYRE_ACCESS_TABLE) put_bytes(s, b->data, b->length * vyre_type_describe(b->element)->bytes);
  }
}

static void put_body(encoder *w) {
  const vyre_program *p = w->p;
  sink *s = &w->out;
  put_string(w, p->name);
  put_string(w, p->op_id);
  for (int axis = 0; axis < 3; axis++) put_leb(s, p->workgroup[axis]);
  put_leb(s, p->attributes);
  put_leb(s, p->ulp == VYRE_ULP_UNSET ? 0 : (uint64_t)p->ulp + 1);
  put_leb(s, p->subgroup);
  put_declarations(w);
  put_stmts(w);
}

/* Writes the body of |p| into |out|. */
static vyre_status encode(const vyre_program *p, sink *out) {
  encoder *w = calloc(1, sizeof *w);
  uint32_t *numbers = calloc(p->strings.table.count, sizeof *numbers);
  if (w == NULL || numbers == NULL) {
    sink_fail(out, VYRE_ERR_NO_MEMORY);
  } else {
    w->p = p;
    w->out = *out;
    w->string_number = numbers;
    put_body(w);
    *out = w->out;
    vyre_vector_free(&w->open);
  }
  free(numbers);
  free(w);
  return out->status;
}

vyre_status ir_wire_digest(const vyre_program *p, uint8_t *digest, vyre_error *error) {
  vyre_digest state;
  uint8_t window[4096];
  sink out = { .data = window, .capacity = sizeof window, .digest = &state };
  vyre_digest_begin(&state);
  vyre_status status = encode(p, &out);
  size_t total = VYRE_WIRE_HEADER_BYTES + out.digested + out.count;
  if (status == VYRE_OK && total > VYRE_MAX_PROGRAM_BYTES) status = VYRE_ERR_LIMIT;
  if (status == VYRE_ERR_NO_MEMORY) return vyre_fail_memory(error, "wire form");
  if (status != VYRE_OK)
    return vyre_fail(error, status, "wire form",
                     "the program has more than %u bytes in wire form. Fix: split the program.",
                     VYRE_MAX_PROGRAM_BYTES);
  vyre_digest_add(&state, out.data, out.count);
  vyre_digest_end(&state, digest);
  return VYRE_OK;
}

/* The digest in the header is the program's fingerprint, known since it was finished. */
vyre_status vyre_wire_encode(const vyre_program *program, uint8_t **out, size_t *length) {
  *out = NULL;
  *length = 0;
  sink s = { 0 };
  put_bytes(&s, VYRE_WIRE_MAGIC, 4);
  put_bytes(&s, (const uint8_t[]){ VYRE_WIRE_VERSION, 0, WIRE_FLAGS, 0 }, 4);
  put_bytes(&s, program->fingerprint, VYRE_FINGERPRINT_BYTES);
  vyre_status status = s.status != VYRE_OK ? s.status : encode(program, &s);
  if (status != VYRE_OK) {
    free(s.data);
    return status;
  }
  *out = s.data;
  *length = s.count;
  return VYRE_OK;
}
