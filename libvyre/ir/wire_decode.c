/* Wire bytes to a program.
 *
 * The bytes drive the builder like a stack machine: an expression's operator takes its operands from the stack and
 * leaves a handle, a statement takes what is on the stack and leaves nothing. So decoding is one loop without
 * recursion, no count decides an allocation, and what the bytes say is checked by the rules that hold for text and C.
 *
 * Only the form that encode writes is read, so the digest in the header, once it is that of the bytes, is that of the
 * program. Numbers and tags have one form each (ir/wire_read.c), and what is left is refused where it stands
 * (refuse_form): a string that has a number already, table elements that no program has, an else without statements. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/error.h"
#include "ir/builder.h"
#include "ir/wire.h"
#include "ir/wire_read.h"

typedef struct decoder {
  wire_reader in;
  vyre_builder *b;
  VYRE_VECTOR(uint32_t) strings; /* the builder's number, by number on the wire */
  VYRE_VECTOR(vyre_var) vars;    /* the builder's variable, in order of declaration */
  VYRE_VECTOR(vyre_expr) stack;
  uint32_t open;                 /* blocks */
  bool empty;                    /* the empty string has a number */
  const uint8_t *else_end;       /* behind the else that was read last */
} decoder;

/* Operators by tag and second tag; a tag whose row 0 is empty has second tags. */
static const uint8_t op_of_tag[WIRE_TAGS][WIRE_TAGS] = {
#define X(name, spelling, form, arity, rule, tag, sub, effects, doc) [tag][sub] = VYRE_OP_##name,
#include <vyre/ops.def>
#undef X
};

static const uint8_t stmt_of_tag[WIRE_TAGS] = {
#define X(name, spelling, arity, blocks, tag, doc) [tag] = VYRE_STMT_##name,
#include <vyre/stmts.def>
#undef X
};

/* Refuses a second way to say something, unless what it says is at fault already. */
static void refuse_form(decoder *d, const uint8_t *at, const char *what) {
  if (!ir_builder_failed(d->b)) wire_refuse(&d->in, at, "%s, which is not how encode writes it", what);
}

/* ---- Parts --------------------------------------------------------------------------------- */

/* A string: its number if it stood before, else its bytes. */
static uint32_t read_string(decoder *d) {
  wire_reader *r = &d->in;
  const uint8_t *at = r->at;
  uint64_t head = wire_leb(r, (uint64_t)VYRE_MAX_STRING_BYTES << 1 | 1, "the length or number of a string");
  if (r->status != VYRE_OK) return 0;
  uint32_t value = (uint32_t)(head >> 1);
  if (head & 1) {
    if (value < d->strings.count) return d->strings.data[value];
    wire_refuse(r, at, "string %u of %u", value, d->strings.count);
    return 0;
  }
  if (value > wire_left(r)) return wire_truncated(r);
  uint32_t known = ir_builder_string_count(d->b), string = ir_builder_intern(d->b, (const char *)r->at, value);
  r->at += value;
  if (string < known && (string != 0 || d->empty)) refuse_form(d, at, "a string is spelled again");
  d->empty |= string == 0; /* the builder knows the empty string before it is read */
  if (!vyre_vector_push(&d->strings, string)) wire_out_of_memory(r);
  return string;
}

/* A reference to one of |count| declared things. */
static uint32_t read_index(decoder *d, uint32_t count, const char *what) {
  const uint8_t *at = d->in.at;
  uint32_t index = wire_leb32(&d->in, UINT32_MAX, what);
  if (index >= count) wire_refuse(&d->in, at, "%s is %u of %u", what, index, count);
  return index;
}

static uint32_t read_binding(decoder *d) { return read_index(d, ir_builder_buffer_count(d->b), "a buffer"); }

static vyre_var read_var(decoder *d) {
  uint32_t back = read_index(d, d->vars.count, "the distance to a variable");
  return back < d->vars.count ? d->vars.data[d->vars.count - 1 - back] : VYRE_NO_VAR;
}

static void add_var(decoder *d, vyre_var var) {
  if (!vyre_vector_push(&d->vars, var)) wire_out_of_memory(&d->in);
}

static int64_t unzigzag(uint64_t value) { return (int64_t)(value >> 1) ^ -(int64_t)(value & 1); }

static vyre_expr read_literal(decoder *d) {
  wire_reader *r = &d->in;
  vyre_type type = wire_type(r);
  uint64_t bits;
  switch (type) {
    case VYRE_TYPE_BOOL: bits = wire_small(r, 1, "a bool"); break;
    case VYRE_TYPE_U32: bits = wire_leb(r, UINT32_MAX, "a u32"); break;
    case VYRE_TYPE_U64: bits = wire_leb(r, UINT64_MAX, "a u64"); break;
    case VYRE_TYPE_I32: bits = (uint32_t)unzigzag(wire_leb(r, UINT32_MAX, "an i32")); break;
    case VYRE_TYPE_I64: bits = (uint64_t)unzigzag(wire_leb(r, UINT64_MAX, "an i64")); break;
    case VYRE_TYPE_F32: bits = wire_fixed(r, 4); break;
    case VYRE_TYPE_F64: bits = wire_fixed(r, 8); break;
    default: wire_refuse(r, r->at, "a literal can not be %s", vyre_type_describe(type)->spelling); return 0;
  }
  return vyre_build_literal(d->b, type, bits);
}

/* ---- Expressions --------------------------------------------------------------------------- */

static vyre_expr read_atomic(decoder *d, vyre_op op, const vyre_expr *x) {
  vyre_binding binding = read_binding(d);
  vyre_order order = (vyre_order)wire_small(&d->in, VYRE_ORDER_SEQ_CST, "an order");
  vyre_scope scope = (vyre_scope)wire_small(&d->in, VYRE_SCOPE_SYSTEM, "a scope");
  if (d->in.status != VYRE_OK) return 0;
  uint32_t arity = ir_op_arity[op];
  return vyre_build_atomic(d->b, op, binding, x[0], arity > 1 ? x[1] : 0, arity > 2 ? x[2] : 0, order, scope);
}

static vyre_expr read_vector(decoder *d, const vyre_expr *x, uint32_t lanes) {
  vyre_type type = ir_vector_of(vyre_build_type_of(d->b, x[0]), lanes);
  return x[0] != 0 ? vyre_build_vector(d->b, type, x, lanes) : 0;
}

/* What follows the tag of |op|, built with its operands |x|. */
static vyre_expr read_operator(decoder *d, vyre_op op, const vyre_expr *x) {
  vyre_builder *b = d->b;
  wire_reader *r = &d->in;
  switch (op) {
    case VYRE_OP_LIT: return read_literal(d);
    case VYRE_OP_VAR: return vyre_build_var_value(b, read_var(d));
    case VYRE_OP_PARAM: return ir_build_param_value(b, read_index(d, ir_builder_param_count(b), "a parameter"));
    case VYRE_OP_GID:
    case VYRE_OP_WID:
    case VYRE_OP_LID:
    case VYRE_OP_NWG: return vyre_build_leaf(b, op, wire_small(r, 2, "an axis"));
    case VYRE_OP_LANE:
    case VYRE_OP_SUBGROUP_SIZE:
    case VYRE_OP_SUBGROUP_ID:
    case VYRE_OP_NUM_SUBGROUPS:
    case VYRE_OP_CLOCK_NS:
    case VYRE_OP_SHOULD_STOP: return vyre_build_leaf(b, op, 0);
    case VYRE_OP_LEN:
    case VYRE_OP_LEN64: return vyre_build_len(b, op, read_binding(d));
    case VYRE_OP_LOAD:
    case VYRE_OP_GRID_UNIFORM_LOAD:
    case VYRE_OP_WORKGROUP_UNIFORM_LOAD: return vyre_build_load(b, op, read_binding(d), x[0]);
    case VYRE_OP_CAST: return vyre_build_cast(b, wire_type(r), x[0]);
    case VYRE_OP_BITCAST: return vyre_build_bitcast(b, wire_type(r), x[0]);
    case VYRE_OP_SPLAT: return vyre_build_vector(b, wire_type(r), x, 1);
    case VYRE_OP_VEC2: return read_vector(d, x, 2);
    case VYRE_OP_VEC4: return read_vector(d, x, 4);
    case VYRE_OP_EXTRACT: return vyre_build_extract(b, x[0], wire_small(r, 3, "a component"));
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
    case VYRE_OP_ATOMIC_STORE: return read_atomic(d, op, x);
    default: return ir_build_operator(b, op, x);
  }
}

static vyre_op read_op(wire_reader *r, uint32_t tag) {
  const uint8_t *at = r->at - 1;
  uint32_t sub = 0;
  vyre_op op = tag < WIRE_TAGS ? (vyre_op)op_of_tag[tag][0] : VYRE_OP_NONE;
  if (op == VYRE_OP_NONE) {
    sub = wire_u8(r);
    if (tag < WIRE_TAGS && sub < WIRE_TAGS) op = (vyre_op)op_of_tag[tag][sub];
  }
  if (op == VYRE_OP_NONE) wire_refuse(r, at, "operator tag 0x%02x 0x%02x is unknown", tag, sub);
  return op;
}

static void read_expression(decoder *d, uint32_t tag) {
  const uint8_t *at = d->in.at - 1;
  vyre_op op = read_op(&d->in, tag);
  if (op == VYRE_OP_NONE) return;
  uint32_t arity = ir_op_arity[op];
  if (d->stack.count < arity) {
    wire_refuse(&d->in, at, "%s takes %u operands, %u are there", vyre_op_describe(op)->name, arity, d->stack.count);
    return;
  }
  const vyre_expr *x = d->stack.data + (d->stack.count -= arity);
  vyre_expr e = read_operator(d, op, x);
  if (!vyre_vector_push(&d->stack, e)) wire_out_of_memory(&d->in);
}

/* ---- Statements ---------------------------------------------------------------------------- */

static void read_declaration(decoder *d, vyre_stmt_op op, const vyre_expr *x) {
  uint32_t name = read_string(d);
  add_var(d, ir_build_declare(d->b, op, name, x[0]));
}

static void read_for(decoder *d, const vyre_expr *x, uint32_t count) {
  uint32_t name = read_string(d);
  add_var(d, ir_build_for(d->b, name, x[0], x[1], count > 2 ? x[2] : 0));
}

static void read_copy(decoder *d, const vyre_expr *x) {
  vyre_binding to = read_binding(d), from = read_binding(d);
  bool workgroup = wire_small(&d->in, 1, "a bool") == 1;
  vyre_build_copy_async(d->b, workgroup, to, x[0], from, x[1], x[2]);
}

static void read_fence(decoder *d) {
  vyre_order order = (vyre_order)wire_small(&d->in, VYRE_ORDER_SEQ_CST, "an order");
  vyre_build_fence(d->b, order, (vyre_scope)wire_small(&d->in, VYRE_SCOPE_SYSTEM, "a scope"));
}

/* What follows the tag of |op|, built with the |count| expressions |x|. */
static void read_body(decoder *d, vyre_stmt_op op, const vyre_expr *x, uint32_t count) {
  vyre_builder *b = d->b;
  switch (op) {
    case VYRE_STMT_LET:
    case VYRE_STMT_VAR: read_declaration(d, op, x); break;
    case VYRE_STMT_ASSIGN: vyre_build_assign(b, read_var(d), x[0]); break;
    case VYRE_STMT_STORE: vyre_build_store(b, read_binding(d), x[0], x[1]); break;
    case VYRE_STMT_EVAL: vyre_build_eval(b, x[0]); break;
    case VYRE_STMT_IF: vyre_build_if(b, x[0]); break;
    case VYRE_STMT_FOR: read_for(d, x, count); break;
    case VYRE_STMT_LOOP: vyre_build_loop(b); break;
    case VYRE_STMT_BLOCK: vyre_build_block(b); break;
    case VYRE_STMT_REGION: ir_build_region(b, read_string(d)); break;
    case VYRE_STMT_FENCE: read_fence(d); break;
    case VYRE_STMT_TRAP: vyre_build_trap(b, x[0]); break;
    case VYRE_STMT_PRINT: ir_build_print(b, read_string(d), x, count); break;
    case VYRE_STMT_COPY_ASYNC: read_copy(d, x); break;
    case VYRE_STMT_WAIT: vyre_build_wait(b, wire_u8(&d->in)); break;
    case VYRE_STMT_PAUSE: vyre_build_pause(b, x[0]); break;
    default: vyre_build_simple(b, op); break;
  }
}

static bool opens_block(vyre_stmt_op op) {
  return op == VYRE_STMT_IF || op == VYRE_STMT_FOR || op == VYRE_STMT_LOOP || op == VYRE_STMT_BLOCK ||
         op == VYRE_STMT_REGION;
}

/* Whether a statement takes |count| expressions: print any number, for a step or none. */
static bool takes(vyre_stmt_op op, uint32_t count) {
  uint32_t arity = ir_stmt_arity[op];
  return op == VYRE_STMT_PRINT || count == arity || (op == VYRE_STMT_FOR && count == arity - 1);
}

static void read_statement(decoder *d, uint32_t tag) {
  const uint8_t *at = d->in.at - 1;
  uint32_t count = d->stack.count;
  tag -= WIRE_STATEMENT;
  vyre_stmt_op op = tag < WIRE_TAGS ? (vyre_stmt_op)stmt_of_tag[tag] : VYRE_STMT_NONE;
  if (op == VYRE_STMT_NONE) {
    wire_refuse(&d->in, at, "statement tag 0x%02x is unknown", tag);
    return;
  }
  if (!takes(op, count)) {
    wire_refuse(&d->in, at, "%u expressions stand before a statement that takes %u", count, ir_stmt_arity[op]);
    return;
  }
  d->stack.count = 0;
  d->open += opens_block(op);
  read_body(d, op, d->stack.data, count);
}

/* Else and end of a block. */
static void read_bracket(decoder *d, uint32_t byte) {
  const uint8_t *at = d->in.at - 1;
  if (d->stack.count > 0) wire_refuse(&d->in, at, "%u expressions stand before the end of a block", d->stack.count);
  else if (d->open == 0) wire_refuse(&d->in, at, "the end of a block that was not opened");
  else if (byte == WIRE_ELSE) {
    vyre_build_else(d->b);
    d->else_end = d->in.at;
  } else {
    if (at == d->else_end) refuse_form(d, at, "an else is empty");
    vyre_build_end(d->b);
    d->open--;
  }
}

static void read_code(decoder *d) {
  if (!vyre_vector_reserve(&d->stack, 64)) wire_out_of_memory(&d->in);
  while (d->in.at < d->in.end) {
    uint32_t byte = *d->in.at++;
    if (byte < WIRE_STATEMENT) read_expression(d, byte);
    else if (byte < WIRE_ELSE) read_statement(d, byte);
    else read_bracket(d, byte);
  }
  if (d->stack.count > 0 || d->open > 0) wire_truncated(&d->in);
}

/* ---- Declarations -------------------------------------------------------------------------- */

/* The program's name stands first and makes the builder. */
static void read_name(decoder *d, vyre_diagnostics *diagnostics) {
  wire_reader *r = &d->in;
  const uint8_t *at = r->at;
  char name[VYRE_MAX_NAME_BYTES + 1];
  uint32_t head = wire_leb32(r, VYRE_MAX_NAME_BYTES << 1 | 1, "the length of the program's name");
  uint32_t bytes = head >> 1;
  if (head & 1) wire_refuse(r, at, "a string is used before there is one");
  else if (bytes > wire_left(r)) wire_truncated(r);
  else if (memchr(r->at, 0, bytes) != NULL) wire_refuse(r, at, "the program's name has a byte 0");
  if (r->status != VYRE_OK) return;
  memcpy(name, r->at, bytes);
  name[bytes] = 0;
  r->at += bytes;
  if (vyre_builder_create(name, diagnostics, &d->b) != VYRE_OK ||
      !vyre_vector_push(&d->strings, ir_builder_intern(d->b, name, bytes))) {
    wire_out_of_memory(r);
    return;
  }
  ir_builder_expect(d->b, wire_left(r) / 4, wire_left(r) / 8);
}

static void read_attributes(decoder *d) {
  wire_reader *r = &d->in;
  uint32_t op_id = read_string(d), size[3];
  for (int axis = 0; axis < 3; axis++) size[axis] = wire_leb32(r, UINT32_MAX, "the workgroup's size");
  uint32_t attributes = wire_leb32(r, UINT32_MAX, "the attributes");
  uint32_t ulp = wire_leb32(r, UINT32_MAX, "the ulp budget"), subgroup = wire_leb32(r, UINT32_MAX, "the subgroup size");
  if (r->status != VYRE_OK) return;
  if (op_id != 0) ir_build_op(d->b, op_id); /* 0: the empty string */
  vyre_build_workgroup(d->b, size[0], size[1], size[2]);
  vyre_build_attributes(d->b, attributes);
  if (ulp > 0) vyre_build_ulp(d->b, ulp - 1);
  if (subgroup > 0) vyre_build_subgroup(d->b, subgroup);
}

static void read_params(decoder *d) {
  uint32_t count = wire_leb32(&d->in, VYRE_MAX_DECLARATIONS, "the number of parameters");
  for (uint32_t i = 0; i < count && d->in.status == VYRE_OK; i++) {
    uint32_t name = read_string(d);
    vyre_type type = wire_type(&d->in);
    if (d->in.status == VYRE_OK) ir_build_param(d->b, name, type);
  }
}

static void read_table(decoder *d, uint32_t name, vyre_type element, uint64_t length) {
  wire_reader *r = &d->in;
  uint32_t size = vyre_type_describe(element)->bytes;
  if (length > wire_left(r) / size) {
    wire_truncated(r);
    return;
  }
  const uint8_t *at = r->at;
  const ir_buffer *table = ir_builder_buffer(d->b, ir_build_table(d->b, name, element, at, length));
  r->at += length * size;
  if (table != NULL && memcmp(table->data, at, length * size) != 0)
    refuse_form(d, at, "an element of a table is a bool above 1 or one of many NaNs");
}

static void read_buffers(decoder *d) {
  wire_reader *r = &d->in;
  uint32_t count = wire_leb32(r, VYRE_MAX_DECLARATIONS, "the number of buffers");
  for (uint32_t i = 0; i < count && r->status == VYRE_OK; i++) {
    uint32_t name = read_string(d);
    vyre_access access = (vyre_access)wire_small(r, VYRE_ACCESS_LOCAL, "an access");
    vyre_type element = wire_type(r);
    uint64_t length = wire_leb(r, UINT64_MAX, "a length");
    if (r->status != VYRE_OK) return;
    if (access == VYRE_ACCESS_TABLE) read_table(d, name, element, length);
    else ir_build_buffer(d->b, access, name, element, length);
  }
}

/* ---- The whole ----------------------------------------------------------------------------- */

static uint32_t u16_at(const uint8_t *bytes) { return bytes[0] | (uint32_t)bytes[1] << 8; }

/* Magic, version, flags and digest; leaves the reader at the body. */
static void read_header(wire_reader *r) {
  const uint8_t *h = r->at;
  uint8_t digest[VYRE_DIGEST_BYTES];
  if (wire_left(r) < 4 || memcmp(h, VYRE_WIRE_MAGIC, 4) != 0) {
    wire_refuse(r, h, "it does not begin with " VYRE_WIRE_MAGIC);
  } else if (wire_left(r) < VYRE_WIRE_HEADER_BYTES) {
    wire_refuse(r, r->end, "the header has %u bytes, %zu are there", VYRE_WIRE_HEADER_BYTES, wire_left(r));
  } else if (u16_at(h + 4) != VYRE_WIRE_VERSION) {
    wire_refuse(r, h + 4, "version %u, this library reads version %u", u16_at(h + 4), VYRE_WIRE_VERSION);
  } else if (u16_at(h + 6) != WIRE_FLAGS) {
    wire_refuse(r, h + 6, "flags 0x%04x, wanted 0x%04x", u16_at(h + 6), WIRE_FLAGS);
  } else {
    r->at += VYRE_WIRE_HEADER_BYTES;
    vyre_digest_of(r->at, wire_left(r), digest);
    if (!vyre_digest_equal(digest, h + WIRE_DIGEST_AT))
      wire_refuse(r, h + WIRE_DIGEST_AT, "the digest does not belong to what follows: the bytes are cut or changed");
  }
}

/* Declarations, then statements. Later parts refer to earlier ones by number, so one that failed ends it. */
static void read_program(decoder *d, vyre_diagnostics *diagnostics, vyre_program **out) {
  read_name(d, diagnostics);
  if (d->in.status == VYRE_OK) read_attributes(d);
  if (d->in.status == VYRE_OK) read_params(d);
  if (d->in.status == VYRE_OK) read_buffers(d);
  if (d->in.status != VYRE_OK) return;
  if (!ir_builder_failed(d->b)) read_code(d);
  if (d->in.status == VYRE_OK)
    d->in.status = ir_builder_finish(d->b, d->in.start + WIRE_DIGEST_AT, out, d->in.error);
}

vyre_status vyre_wire_decode(const uint8_t *bytes, size_t length, vyre_diagnostics *diagnostics, vyre_program **out,
                             vyre_error *error) {
  *out = NULL;
  if (length > VYRE_MAX_PROGRAM_BYTES)
    return vyre_fail(error, VYRE_ERR_LIMIT, "wire form", "A program has at most %u bytes in wire form, found %zu. "
                     "Fix: split the program.", VYRE_MAX_PROGRAM_BYTES, length);
  if (length == 0) bytes = (const uint8_t *)"";
  decoder d = { .in = { .start = bytes, .at = bytes, .end = bytes + length, .error = error } };
  read_header(&d.in);
  if (d.in.status == VYRE_OK) read_program(&d, diagnostics, out);
  vyre_builder_destroy(d.b);
  vyre_vector_free(&d.strings);
  vyre_vector_free(&d.vars);
  vyre_vector_free(&d.stack);
  return d.in.status;
}
