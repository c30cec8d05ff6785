/* The wire form: its bytes, its law, and everything that must be refused. */
#include <stdio.h>

#include "ir/program.h"
#include "kit.h"
#include "../fail_malloc.h"
#include "../gen/random_program.h"

enum { LIT = 0x00, VAR = 0x03, LOAD = 0x04, BINARY = 0x09, UNARY = 0x0A, U32 = 0x01, F32 = 0x0B, BOOL = 0x06 };
enum { LET = 0x80, ASSIGN = 0x81, STORE = 0x82, IF = 0x83, BARRIER = 0x87, BLOCK = 0x86, REGION = 0x8B, VARIABLE = 0xA0,
       ELSE = 0xFE, END = 0xFF };

static vyre_program *finish(vyre_builder *b) {
  vyre_program *p;
  vyre_error error = VYRE_ERROR_INIT;
  vyre_status status = vyre_builder_finish(b, &p, &error);
  ck_assert_msg(status == VYRE_OK, "%s", error.text);
  vyre_builder_destroy(b);
  return p;
}

/* y[i] = a * x[i] + y[i]. */
static vyre_program *saxpy(const char *variable, uint32_t position) {
  vyre_builder *b;
  ck_assert_int_eq(vyre_builder_create("saxpy", NULL, &b), VYRE_OK);
  vyre_build_position(b, position);
  vyre_build_workgroup(b, 256, 1, 1);
  vyre_expr a = vyre_build_param(b, "a", VYRE_TYPE_F32);
  vyre_binding x = vyre_build_buffer(b, VYRE_ACCESS_READ, "x", VYRE_TYPE_F32, 0);
  vyre_binding y = vyre_build_buffer(b, VYRE_ACCESS_RW, "y", VYRE_TYPE_F32, 0);
  vyre_var i = vyre_build_declare(b, VYRE_STMT_LET, variable, vyre_build_leaf(b, VYRE_OP_GID, 0));
  vyre_expr at = vyre_build_var_value(b, i);
  vyre_build_if(b, vyre_build_binary(b, VYRE_OP_LT, at, vyre_build_len(b, VYRE_OP_LEN, y)));
  vyre_expr product = vyre_build_fma(b, a, vyre_build_load(b, VYRE_OP_LOAD, x, at), vyre_build_load(b, VYRE_OP_LOAD, y, at));
  vyre_build_store(b, y, at, product);
  vyre_build_end(b);
  return finish(b);
}

static vyre_program *random_of(uint64_t seed) {
  vyre_program *p;
  vyre_error error = VYRE_ERROR_INIT;
  vyre_status status = random_program(seed, NULL, NULL, &p, &error);
  ck_assert_msg(status == VYRE_OK, "seed %llu: %s", (unsigned long long)seed, error.text);
  return p;
}

/* ---- The bytes ----------------------------------------------------------------------------- */

START_TEST(vector_saxpy) {
  static const uint8_t header[] = { 'V', 'I', 'R', '0', 1, 0, 4, 0 };
  static const uint8_t body[] = {
    10, 's', 'a', 'x', 'p', 'y', /* new string of 5 bytes: the name */
    0,                           /* new string of 0 bytes: no operation id */
    0x80, 2, 1, 1,               /* workgroup (256, 1, 1) */
    0, 0, 0,                     /* attributes, ulp unset, any subgroup */
    1, 2, 'a', F32,              /* one parameter */
    2,                           /* two buffers: name, access, element, length */
    2, 'x', 0, F32, 0,           /* */
    2, 'y', 1, F32, 0,           /* */
    0x06, 0,                     /* gid.x */
    LET, 2, 'i',                 /* */
    VAR, 0, 0x05, 1, BINARY, 13, /* i < len(y) */
    IF,                          /* */
    VAR, 0,                      /* index: i */
    0x20, 0,                     /* a */
    VAR, 0, LOAD, 0,             /* x[i] */
    VAR, 0, LOAD, 1,             /* y[i] */
    0x10,                        /* fma */
    STORE, 1,                    /* into y */
    END,
  };
  bytes b = encode_and_release(saxpy("i", 7));
  ck_assert_uint_eq(b.count, VYRE_WIRE_HEADER_BYTES + sizeof body);
  ck_assert_mem_eq(b.data, header, sizeof header);
  ck_assert_mem_eq(b.data + VYRE_WIRE_HEADER_BYTES, body, sizeof body);
  accept_bytes(b);
}
END_TEST

/* Every way to write a literal, and what text can't tell apart from its neighbour. */
START_TEST(vector_literals) {
  static const struct {
    vyre_type type;
    uint64_t bits;
    uint8_t length, wire[12];
  } rows[] = {
    { VYRE_TYPE_BOOL, 1, 2, { 0x06, 1 } },
    { VYRE_TYPE_U32, 127, 2, { 0x01, 0x7F } },
    { VYRE_TYPE_U32, 128, 3, { 0x01, 0x80, 1 } },
    { VYRE_TYPE_U32, UINT32_MAX, 6, { 0x01, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F } },
    { VYRE_TYPE_I32, UINT32_MAX, 2, { 0x02, 1 } },
    { VYRE_TYPE_I32, 0x80000000, 6, { 0x02, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F } },
    { VYRE_TYPE_U64, UINT64_MAX, 11, { 0x03, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1 } },
    { VYRE_TYPE_I64, (uint64_t)-2, 2, { 0x12, 3 } },
    { VYRE_TYPE_F32, 0x80000000, 5, { 0x0B, 0, 0, 0, 0x80 } },
    { VYRE_TYPE_F32, 0x7FC00000, 5, { 0x0B, 0, 0, 0xC0, 0x7F } },
    { VYRE_TYPE_F64, 0x3FF8000000000000, 9, { 0x0C, 0, 0, 0, 0, 0, 0, 0xF8, 0x3F } },
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    vyre_builder *b;
    ck_assert_int_eq(vyre_builder_create("p", NULL, &b), VYRE_OK);
    vyre_build_declare(b, VYRE_STMT_LET, "x", vyre_build_literal(b, rows[i].type, rows[i].bits));
    bytes own = begin_code();
    PUT(&own, LIT);
    put(&own, rows[i].wire, rows[i].length);
    PUT(&own, LET, 2, 'x');
    seal(own.data, own.count);
    bytes theirs = encode_and_release(finish(b));
    ck_assert_uint_eq(own.count, theirs.count);
    ck_assert_mem_eq(own.data, theirs.data, own.count);
    free(theirs.data);
    accept_bytes(own);
  }
}
END_TEST

START_TEST(vector_types) {
  for (vyre_type type = VYRE_TYPE_BOOL; type < VYRE_TYPE_COUNT; type++) {
    static const uint8_t tags[VYRE_TYPE_COUNT] = {
#define X(name, spelling, size, lanes, component, value, wire) [VYRE_TYPE_##name] = wire,
#include <vyre/types.def>
#undef X
    };
    const vyre_type_info *info = vyre_type_describe(type);
    bytes b = begin_program();
    PUT(&b, 0, 1, 2, 'b', 0, tags[type]);
    if (tags[type] == 0x14) PUT(&b, tags[info->component], (uint8_t)info->lanes);
    PUT(&b, 9);
    seal(b.data, b.count);
    vyre_program *p;
    vyre_buffer_info buffer;
    ck_assert_int_eq(vyre_wire_decode(b.data, b.count, NULL, &p, NULL), VYRE_OK);
    ck_assert(vyre_program_buffer(p, 0, &buffer));
    ck_assert_int_eq(buffer.element, type);
    ck_assert_uint_eq(buffer.length, 9);
    vyre_program_release(p);
    accept_bytes(b);
  }
}
END_TEST

/* ---- The law ------------------------------------------------------------------------------- */

START_TEST(rule_round_trip) {
  for (uint64_t seed = 0; seed < 1500; seed++) {
    vyre_program *p = random_of(seed), *q;
    uint8_t *wire;
    size_t length;
    ck_assert_int_eq(vyre_wire_encode(p, &wire, &length), VYRE_OK);
    ck_assert_int_eq(vyre_wire_decode(wire, length, NULL, &q, NULL), VYRE_OK);
    ck_assert_msg(vyre_program_equal(p, q), "seed %llu", (unsigned long long)seed);
    ck_assert_mem_eq(vyre_program_fingerprint(p), vyre_program_fingerprint(q), VYRE_FINGERPRINT_BYTES);
    ck_assert_int_eq(decode_lawfully(wire, length, NULL, NULL), VYRE_OK);
    free(wire);
    vyre_program_release(p);
    vyre_program_release(q);
  }
}
END_TEST

START_TEST(rule_every_bit_flip_is_refused) {
  bytes list[] = { encode_and_release(saxpy("i", 0)), encode_and_release(random_of(3)), encode_and_release(random_of(4)) };
  for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
    bytes b = list[i];
    for (size_t bit = 0; bit < b.count * 8; bit++) {
      b.data[bit / 8] ^= (uint8_t)(1u << (bit % 8));
      ck_assert_int_eq(decode_lawfully(b.data, b.count, NULL, NULL), VYRE_ERR_INVALID_WIRE);
      b.data[bit / 8] ^= (uint8_t)(1u << (bit % 8));
    }
    accept_bytes(b);
  }
}
END_TEST

/* As they are, and with a digest that was made to fit. */
START_TEST(rule_every_truncation_is_refused) {
  bytes list[] = { encode_and_release(saxpy("i", 0)), encode_and_release(random_of(5)), encode_and_release(random_of(6)) };
  for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
    bytes b = list[i];
    for (size_t count = 0; count < b.count; count++) {
      uint8_t *part = malloc(count + 1);
      memcpy(part, b.data, count);
      ck_assert_int_eq(decode_lawfully(part, count, NULL, NULL), VYRE_ERR_INVALID_WIRE);
      seal(part, count);
      vyre_error error = VYRE_ERROR_INIT;
      vyre_status status = decode_lawfully(part, count, NULL, &error);
      if (status != VYRE_OK) ck_assert_ptr_nonnull(strstr(error.text, "Fix: "));
      free(part);
    }
    accept_bytes(b);
  }
}
END_TEST

/* Changed bodies under a digest that fits: refused, or exactly the form of what they say. */
START_TEST(rule_changed_bodies_obey_the_law) {
  random_source r = { 20240 };
  uint32_t accepted = 0;
  for (uint32_t round = 0; round < 6000; round++) {
    bytes b = encode_and_release(random_of(random_below(&r, 300)));
    for (uint32_t edits = 1 + random_below(&r, 3); edits > 0; edits--) {
      size_t at = VYRE_WIRE_HEADER_BYTES + random_below(&r, (uint32_t)(b.count - VYRE_WIRE_HEADER_BYTES));
      switch (random_below(&r, 4)) {
        case 0: b.data[at] ^= (uint8_t)(1u << random_below(&r, 8)); break;
        case 1: b.data[at] = (uint8_t)random_bits(&r); break;
        case 2: b.data[at] = b.data[VYRE_WIRE_HEADER_BYTES + random_below(&r, (uint32_t)(b.count - VYRE_WIRE_HEADER_BYTES))]; break;
        default:
          if (at + 1 < b.count) memmove(b.data + at, b.data + at + 1, --b.count - at);
          break;
      }
    }
    seal(b.data, b.count);
    vyre_error error = VYRE_ERROR_INIT;
    vyre_status status = decode_lawfully(b.data, b.count, NULL, &error);
    if (status == VYRE_OK) accepted++;
    else ck_assert(status == VYRE_ERR_INVALID_WIRE || status == VYRE_ERR_INVALID_PROGRAM);
    free(b.data);
  }
  ck_assert_uint_gt(accepted, 100);
}
END_TEST

/* ---- Refusals ------------------------------------------------------------------------------ */

static void refuse_unsealed(bytes b, const char *where, const char *words) {
  vyre_error error = VYRE_ERROR_INIT;
  ck_assert_int_eq(decode_lawfully(b.data, b.count, NULL, &error), VYRE_ERR_INVALID_WIRE);
  ck_assert_str_eq(error.where, where);
  ck_assert_msg(strstr(error.text, words) != NULL, "%s", error.text);
  free(b.data);
}

START_TEST(refuses_headers) {
  vyre_error error = VYRE_ERROR_INIT;
  ck_assert_int_eq(decode_lawfully(NULL, 0, NULL, &error), VYRE_ERR_INVALID_WIRE);
  for (unsigned i = 0; i < 4; i++) {
    bytes b = encode_and_release(saxpy("i", 0));
    b.data[i] ^= 0x20;
    refuse_unsealed(b, "byte 0", "VIR0");
  }
  static const uint8_t versions[] = { 0, 2, 6, 255 };
  for (unsigned i = 0; i < sizeof versions; i++) {
    bytes b = encode_and_release(saxpy("i", 0));
    b.data[4] = versions[i];
    refuse_unsealed(b, "byte 4", "this library reads version 1");
  }
  for (uint32_t flag = 0; flag < 16; flag++) {
    bytes b = encode_and_release(saxpy("i", 0));
    b.data[6 + flag / 8] ^= (uint8_t)(1u << (flag % 8));
    refuse_unsealed(b, "byte 6", "flags");
  }
  bytes b = encode_and_release(saxpy("i", 0));
  b.count = VYRE_WIRE_HEADER_BYTES - 1;
  refuse_unsealed(b, "byte 39", "header");
}
END_TEST

START_TEST(refuses_numbers) {
  bytes b = begin_code();
  PUT(&b, LIT, U32, 0x80, 0x00, LET, 2, 'x');
  refuse_wire(b, "more bytes than it needs");
  b = begin_code();
  PUT(&b, LIT, U32, 0x80, 0x80, 0x80, 0x80, 0x10, LET, 2, 'x');
  refuse_wire(b, "at most 4294967295");
  b = begin_code();
  PUT(&b, LIT, 0x03, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x02, LET, 2, 'x');
  refuse_wire(b, "more than 64 bits");
  b = begin_code();
  PUT(&b, LIT, 0x03, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x81, 0x00, LET, 2, 'x');
  refuse_wire(b, "more than 64 bits");
  b = begin_code();
  PUT(&b, LIT, U32, 0x80);
  refuse_wire(b, "end inside");
}
END_TEST

START_TEST(refuses_bools_other_than_0_and_1) {
  bytes b = begin_code();
  PUT(&b, LIT, BOOL, 2, LET, 2, 'x');
  refuse_wire(b, "a bool is 2");
  b = begin_program();
  PUT(&b, 0, 2, 2, 'a', 0, U32, 0, 2, 'b', 3, U32, 8);
  PUT(&b, LIT, U32, 0, LIT, U32, 0, LIT, U32, 1, 0x89, 1, 0, 2);
  refuse_wire(b, "a bool is 2");
}
END_TEST

/* What a C string would end at: "p" is no other program's name, and no operation's id is empty by its first byte. */
START_TEST(refuses_names_with_a_byte_0) {
  static const uint8_t name[] = { 6, 'p', 0, 'q', 0, 1, 1, 1, 0, 0, 0, 0, 0 };
  static const uint8_t id[] = { 2, 'p', 4, 0, 'q', 1, 1, 1, 0, 0, 0, 0, 0 };
  bytes b = begin_program();
  b.count = VYRE_WIRE_HEADER_BYTES;
  put(&b, name, sizeof name);
  refuse_wire(b, "byte 0");
  b = begin_program();
  b.count = VYRE_WIRE_HEADER_BYTES;
  put(&b, id, sizeof id);
  refuse_bytes(b, VYRE_ERR_INVALID_PROGRAM, "V142");
}
END_TEST

/* All pairs of tags that ops.def has not. */
START_TEST(refuses_unknown_operators) {
  bool known[256][256] = { 0 }, single[256] = { 0 };
#define X(name, spelling, form, arity, rule, tag, sub, effects, doc) \
  known[tag][sub] = true;                                            \
  if (sub == 0) single[tag] = true;
#include <vyre/ops.def>
#undef X
  for (unsigned tag = 0; tag < 0x80; tag++) {
    for (unsigned sub = 0; sub < 256 && !single[tag]; sub++) {
      if (known[tag][sub]) continue;
      bytes b = begin_code();
      PUT(&b, (uint8_t)tag, (uint8_t)sub);
      refuse_wire(b, "operator tag");
    }
  }
}
END_TEST

START_TEST(refuses_unknown_statements) {
  bool known[256] = { 0 };
  known[0x7E] = known[0x7F] = true; /* else and end */
#define X(name, spelling, arity, blocks, tag, doc) known[tag] = true;
#include <vyre/stmts.def>
#undef X
  for (unsigned tag = 0; tag < 0x80; tag++) {
    if (known[tag]) continue;
    bytes b = begin_code();
    put_byte(&b, 0x80 | tag);
    refuse_wire(b, "statement tag");
  }
}
END_TEST

/* Every tag that is not in types.def, reserved ones too; vectors of what has none, or under a second tag. */
START_TEST(refuses_unknown_types) {
  bool known[256] = { 0 };
#define X(name, spelling, size, lanes, component, value, wire) known[wire] = true;
#include <vyre/types.def>
#undef X
  for (unsigned tag = 0; tag < 256; tag++) {
    if (known[tag]) continue;
    bytes b = begin_program();
    PUT(&b, 0, 1, 2, 'b', 0, (uint8_t)tag, 0);
    refuse_wire(b, "is no type of version 1");
  }
  static const uint8_t vectors[][2] = { { 0x01, 2 }, { 0x01, 4 }, { 0x02, 3 },    { 0x0B, 1 },  { 0x0B, 0 }, { 0x0B, 8 },
                                        { 0x03, 2 }, { 0x06, 2 }, { 0x14, 2 },    { 0x0E, 4 },  { 0x0B, 255 }, { 0xFF, 2 } };
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
    bytes b = begin_program();
    PUT(&b, 0, 1, 2, 'b', 0, 0x14, vectors[i][0], vectors[i][1], 0);
    refuse_wire(b, "is no type of version 1");
  }
}
END_TEST

START_TEST(refuses_values_out_of_range) {
  bytes b = begin_program();
  PUT(&b, 0, 1, 2, 'b', 6, U32, 0);
  refuse_wire(b, "an access is 6");
  b = begin_code();
  PUT(&b, 0x06, 3, LET, 2, 'x');
  refuse_wire(b, "an axis is 3");
  b = begin_code();
  PUT(&b, 0xA6, 5, 0);
  refuse_wire(b, "an order is 5");
  b = begin_code();
  PUT(&b, 0xA6, 1, 3);
  refuse_wire(b, "a scope is 3");
  b = begin_code();
  PUT(&b, LIT, 0x0E, 1, LET, 2, 'x');
  refuse_wire(b, "a literal can not be u8");
  b = begin_code();
  PUT(&b, 0x20, 0, LET, 2, 'x');
  refuse_wire(b, "a parameter is 0 of 0");
  b = begin_code();
  PUT(&b, 0x05, 0, LET, 2, 'x');
  refuse_wire(b, "a buffer is 0 of 0");
  b = begin_code();
  PUT(&b, VAR, 0, LET, 2, 'x');
  refuse_wire(b, "the distance to a variable is 0 of 0");
  b = begin_code();
  PUT(&b, REGION, 5, END);
  refuse_wire(b, "string 2 of 2");
}
END_TEST

START_TEST(refuses_stacks_that_do_not_fit) {
  bytes b = begin_code();
  PUT(&b, LIT, U32, 1, BINARY, 1, LET, 2, 'x');
  refuse_wire(b, "ADD takes 2 operands, 1 are there");
  b = begin_code();
  PUT(&b, LET, 2, 'x');
  refuse_wire(b, "0 expressions stand before a statement that takes 1");
  b = begin_code();
  PUT(&b, LIT, U32, 1, LIT, U32, 1, LET, 2, 'x');
  refuse_wire(b, "2 expressions stand before a statement that takes 1");
  b = begin_code();
  PUT(&b, LIT, U32, 1, 0x84, 2, 'i', END);
  refuse_wire(b, "1 expressions stand before a statement that takes 3");
  b = begin_code();
  PUT(&b, BLOCK, LIT, U32, 1, END);
  refuse_wire(b, "1 expressions stand before the end of a block");
}
END_TEST

START_TEST(refuses_trailing_bytes) {
  bytes b = encode_and_release(saxpy("i", 0));
  put_byte(&b, END);
  refuse_wire(b, "not opened");
  b = encode_and_release(saxpy("i", 0));
  PUT(&b, LIT, U32, 1);
  refuse_wire(b, "end inside");
  b = encode_and_release(saxpy("i", 0));
  put_byte(&b, BLOCK);
  refuse_wire(b, "end inside");
  b = encode_and_release(saxpy("i", 0));
  put_byte(&b, ELSE);
  refuse_wire(b, "not opened");
}
END_TEST

/* Second ways to say the same are refused, and the place is named. */
START_TEST(refuses_other_forms) {
  vyre_error error = VYRE_ERROR_INIT;
  bytes b = begin_code();
  size_t at = b.count + 1;
  PUT(&b, REGION, 2, 'p', END); /* a string again that has a number */
  seal(b.data, b.count);
  ck_assert_int_eq(decode_lawfully(b.data, b.count, NULL, &error), VYRE_ERR_INVALID_WIRE);
  char where[32];
  snprintf(where, sizeof where, "byte %zu", at);
  ck_assert_str_eq(error.where, where);
  refuse_wire(b, "not how encode writes");

  b = begin_code();
  PUT(&b, LIT, BOOL, 1, IF, BARRIER, ELSE, END); /* an empty else */
  refuse_wire(b, "not how encode writes");
  b = begin_code(); /* a scalar beside a vector, without the splat that it stands for */
  PUT(&b, LIT, U32, 1, 0x2A, 0x04, LIT, U32, 2, BINARY, 1, LET, 2, 'x');
  refuse_bytes(b, VYRE_ERR_INVALID_PROGRAM, "V088: arithmetic on different types: + of u32x2 and u32");
  b = begin_code(); /* a vector of equal size from components, but a splat under the tag of a vector */
  PUT(&b, LIT, U32, 1, LIT, U32, 1, 0x2B, LET, 2, 'x');
  accept_bytes(b);
  b = begin_program(); /* true that is not 1 */
  PUT(&b, 0, 1, 2, 'b', 2, BOOL, 1, 2, 0, 0, 0);
  refuse_wire(b, "not how encode writes");
  b = begin_program(); /* a NaN with a payload */
  PUT(&b, 0, 1, 2, 'b', 2, F32, 1, 1, 0, 0xC0, 0x7F);
  refuse_wire(b, "not how encode writes");
}
END_TEST

/* Counts and lengths that no bytes stand behind. */
START_TEST(refuses_counts_without_bytes) {
  bytes b = begin_program();
  put_number(&b, VYRE_MAX_DECLARATIONS);
  refuse_wire(b, "end inside");
  b = begin_program();
  PUT(&b, 0);
  put_number(&b, VYRE_MAX_DECLARATIONS);
  refuse_wire(b, "end inside");
  b = begin_code();
  put_byte(&b, REGION);
  put_number(&b, (uint64_t)VYRE_MAX_STRING_BYTES << 1);
  refuse_wire(b, "end inside");
  b = begin_program();
  PUT(&b, 0, 1, 2, 'b', 2, 0x0C);
  put_number(&b, UINT64_MAX);
  refuse_wire(b, "end inside");
}
END_TEST

/* What is well formed but breaks a rule of programs is told by the rule's code. */
static void refuse_program(bytes b, vyre_code code) {
  vyre_diagnostics *d;
  vyre_diagnostic first;
  vyre_error error = VYRE_ERROR_INIT;
  ck_assert_int_eq(vyre_diagnostics_create("p", NULL, 0, &d), VYRE_OK);
  seal(b.data, b.count);
  vyre_status status = decode_lawfully(b.data, b.count, d, &error);
  ck_assert_msg(status == VYRE_ERR_INVALID_PROGRAM, "%s", error.text);
  ck_assert(vyre_diagnostics_get(d, 0, &first));
  ck_assert_str_eq(vyre_code_name(first.code), vyre_code_name(code));
  ck_assert_uint_eq(first.offset, VYRE_NO_POSITION);
  vyre_diagnostics_destroy(d);
  refuse_bytes(b, VYRE_ERR_INVALID_PROGRAM, vyre_code_name(code));
}

START_TEST(faults_of_the_program_are_diagnostics) {
  bytes b = begin_code();
  PUT(&b, BLOCK, LIT, U32, 1, LET, 2, 'x', END, VAR, 0, LET, 2, 'y');
  refuse_program(b, VYRE_V66);
  b = begin_code();
  PUT(&b, LIT, U32, 1, LET, 2, 'x', LIT, U32, 1, ASSIGN, 0);
  refuse_program(b, VYRE_V120);
  b = begin_code();
  PUT(&b, LIT, U32, 1, LET, 1);
  accept_bytes(b); /* a program's name is in a namespace of its own */
  b = begin_code();
  PUT(&b, LIT, U32, 1, VARIABLE, 4, '1', 'x');
  refuse_program(b, VYRE_V142);
  b = begin_code();
  PUT(&b, REGION, 4, 0xC3, 0x28, END);
  refuse_program(b, VYRE_V142);
  b = begin_code();
  PUT(&b, REGION, 4, 'a', 0, END);
  refuse_program(b, VYRE_V142);
  b = begin_code();
  PUT(&b, LIT, U32, 1, IF, END);
  refuse_program(b, VYRE_V123);
  b = begin_code();
  PUT(&b, BLOCK, ELSE, END);
  refuse_program(b, VYRE_V150);
  b = begin_code();
  PUT(&b, LIT, F32, 1, 0, 0xC0, 0x7F, LET, 2, 'x');
  refuse_program(b, VYRE_V145);
  b = begin_code();
  PUT(&b, 0x85, BARRIER);
  refuse_program(b, VYRE_V112);
  b = begin_code();
  b.data[VYRE_WIRE_HEADER_BYTES + 3] = 0; /* workgroup (0, 1, 1) */
  refuse_program(b, VYRE_V106);
}
END_TEST

/* ---- Memory -------------------------------------------------------------------------------- */

START_TEST(encode_without_memory) {
  vyre_program *p = random_of(11);
  for (uint64_t n = 1;; n++) {
    uint8_t *wire = (uint8_t *)&n;
    size_t length = 1;
    int64_t before = fail_malloc_live();
    fail_malloc_at(n);
    vyre_status status = vyre_wire_encode(p, &wire, &length);
    bool failed = fail_malloc_end();
    ck_assert_int_eq(status, failed ? VYRE_ERR_NO_MEMORY : VYRE_OK);
    if (failed) ck_assert(wire == NULL && length == 0);
    free(wire);
    ck_assert_int_eq(fail_malloc_live(), before);
    if (!failed) break;
  }
  vyre_program_release(p);
}
END_TEST

START_TEST(decode_without_memory) {
  bytes b = encode_and_release(random_of(12));
  for (uint64_t n = 1;; n++) {
    vyre_program *p = (vyre_program *)&b;
    vyre_error error = VYRE_ERROR_INIT;
    int64_t before = fail_malloc_live();
    fail_malloc_at(n);
    vyre_status status = vyre_wire_decode(b.data, b.count, NULL, &p, &error);
    bool failed = fail_malloc_end();
    ck_assert_int_eq(status, failed ? VYRE_ERR_NO_MEMORY : VYRE_OK);
    ck_assert(failed == (p == NULL));
    vyre_program_release(p);
    ck_assert_int_eq(fail_malloc_live(), before);
    if (!failed) break;
  }
  free(b.data);
}
END_TEST

/* ---- Identity ------------------------------------------------------------------------------ */

START_TEST(identity_is_the_digest_of_the_body) {
  for (uint64_t seed = 0; seed < 50; seed++) {
    vyre_program *p = random_of(seed);
    uint8_t digest[VYRE_DIGEST_BYTES], print[VYRE_DIGEST_BYTES];
    memcpy(print, vyre_program_fingerprint(p), sizeof print);
    bytes b = encode_and_release(p);
    vyre_digest_of(b.data + VYRE_WIRE_HEADER_BYTES, b.count - VYRE_WIRE_HEADER_BYTES, digest);
    ck_assert_mem_eq(print, digest, sizeof digest);
    ck_assert_mem_eq(b.data + 8, digest, sizeof digest);
    free(b.data);
  }
}
END_TEST

START_TEST(identity_holds_names_but_not_positions) {
  vyre_program *p = saxpy("i", 0), *moved = saxpy("i", 4711), *renamed = saxpy("j", 0);
  ck_assert(vyre_program_equal(p, moved));
  ck_assert_mem_eq(vyre_program_fingerprint(p), vyre_program_fingerprint(moved), VYRE_FINGERPRINT_BYTES);
  ck_assert(!vyre_program_equal(p, renamed));
  ck_assert_mem_ne(vyre_program_fingerprint(p), vyre_program_fingerprint(renamed), VYRE_FINGERPRINT_BYTES);
  vyre_program_release(p);
  vyre_program_release(moved);
  vyre_program_release(renamed);
}
END_TEST

/* Programs are equal exactly if their fingerprints are. */
START_TEST(identity_tells_programs_apart) {
  enum { COUNT = 40 };
  vyre_program *list[2 * COUNT];
  for (uint32_t i = 0; i < 2 * COUNT; i++) list[i] = random_of(i % COUNT);
  for (uint32_t i = 0; i < 2 * COUNT; i++) {
    for (uint32_t j = 0; j < 2 * COUNT; j++) {
      const uint8_t *a = vyre_program_fingerprint(list[i]), *b = vyre_program_fingerprint(list[j]);
      ck_assert_int_eq(memcmp(a, b, VYRE_FINGERPRINT_BYTES) == 0, i % COUNT == j % COUNT);
      ck_assert_int_eq(vyre_program_equal(list[i], list[j]), i % COUNT == j % COUNT);
    }
  }
  for (uint32_t i = 0; i < 2 * COUNT; i++) vyre_program_release(list[i]);
}
END_TEST

int main(void) {
  const TTest *tests[] = { vector_saxpy,
                           vector_literals,
                           vector_types,
                           rule_round_trip,
                           rule_every_bit_flip_is_refused,
                           rule_every_truncation_is_refused,
                           rule_changed_bodies_obey_the_law,
                           refuses_headers,
                           refuses_numbers,
                           refuses_bools_other_than_0_and_1,
                           refuses_names_with_a_byte_0,
                           refuses_unknown_operators,
                           refuses_unknown_statements,
                           refuses_unknown_types,
                           refuses_values_out_of_range,
                           refuses_stacks_that_do_not_fit,
                           refuses_trailing_bytes,
                           refuses_other_forms,
                           refuses_counts_without_bytes,
                           faults_of_the_program_are_diagnostics,
                           encode_without_memory,
                           decode_without_memory,
                           identity_is_the_digest_of_the_body,
                           identity_holds_names_but_not_positions,
                           identity_tells_programs_apart,
                           NULL };
  return run_suite("wire", 120, tests);
}
