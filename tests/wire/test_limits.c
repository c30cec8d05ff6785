/* The limits of a program, each met exactly and passed by one, as bytes that anyone may send. */
#include <stdio.h>

#include "kit.h"

enum { LIT = 0x00, U32 = 0x01, U8 = 0x0E, NEG_TAG = 0x0A, NEG = 0x01, LET = 0x80, BARRIER = 0x87, BLOCK = 0x86,
       REGION = 0x8B, END = 0xFF };

static void fill(bytes *b, size_t count, unsigned value) {
  for (size_t i = 0; i < count; i++) put_byte(b, value);
}

static void refuse_rule(bytes b, const char *code) { refuse_bytes(b, VYRE_ERR_INVALID_PROGRAM, code); }

START_TEST(statements) {
  bytes b = begin_code();
  fill(&b, VYRE_MAX_STATEMENTS, BARRIER);
  accept_bytes(b);
  b = begin_code();
  fill(&b, VYRE_MAX_STATEMENTS + 1, BARRIER);
  refuse_rule(b, "V019");
}
END_TEST

static void put_params(bytes *b, uint32_t count) {
  put_number(b, count);
  for (uint32_t i = 0; i < count; i++) {
    char name[16];
    snprintf(name, sizeof name, "a%u", i);
    put_new_string(b, name);
    put_byte(b, U32);
  }
}

START_TEST(declarations) {
  bytes b = begin_program();
  put_params(&b, VYRE_MAX_DECLARATIONS);
  put_byte(&b, 0);
  accept_bytes(b);
  b = begin_program();
  put_params(&b, VYRE_MAX_DECLARATIONS - 1);
  PUT(&b, 1, 2, 'b', 0, U32, 0);
  accept_bytes(b);
  b = begin_program();
  put_params(&b, VYRE_MAX_DECLARATIONS);
  PUT(&b, 1, 2, 'b', 0, U32, 0);
  refuse_rule(b, "V141");
  b = begin_program();
  put_params(&b, VYRE_MAX_DECLARATIONS + 1);
  refuse_wire(b, "the number of parameters is 16385, at most 16384 can be");
  b = begin_program();
  put_byte(&b, 0);
  put_number(&b, VYRE_MAX_DECLARATIONS + 1);
  refuse_wire(b, "the number of buffers is 16385, at most 16384 can be");
}
END_TEST

static bytes region_of(uint32_t length) {
  bytes b = begin_code();
  put_byte(&b, REGION);
  put_number(&b, (uint64_t)length << 1);
  fill(&b, length, 'r');
  put_byte(&b, END);
  return b;
}

START_TEST(strings) {
  accept_bytes(region_of(VYRE_MAX_STRING_BYTES));
  refuse_wire(region_of(VYRE_MAX_STRING_BYTES + 1), "a string");
}
END_TEST

static bytes let_named(uint32_t length) {
  bytes b = begin_code();
  PUT(&b, LIT, U32, 1, LET);
  put_number(&b, (uint64_t)length << 1);
  fill(&b, length, 'n');
  return b;
}

static bytes program_named(uint32_t length) {
  bytes b = begin_code(), named = { 0 };
  put(&named, b.data, VYRE_WIRE_HEADER_BYTES);
  put_number(&named, (uint64_t)length << 1);
  fill(&named, length, 'n');
  put(&named, b.data + VYRE_WIRE_HEADER_BYTES + 2, b.count - VYRE_WIRE_HEADER_BYTES - 2);
  free(b.data);
  return named;
}

START_TEST(names) {
  accept_bytes(let_named(VYRE_MAX_NAME_BYTES));
  refuse_rule(let_named(VYRE_MAX_NAME_BYTES + 1), "V142");
  accept_bytes(program_named(VYRE_MAX_NAME_BYTES));
  refuse_wire(program_named(VYRE_MAX_NAME_BYTES + 1), "the program's name");
}
END_TEST

/* A program of |size| bytes, most of them a table. */
static bytes program_of(size_t size) {
  bytes b = begin_program();
  PUT(&b, 0, 1, 2, 't', 2, U8);
  size_t length = size - b.count - 4; /* its length takes four bytes */
  put_number(&b, length);
  size_t at = b.count;
  b.data = realloc(b.data, size);
  ck_assert_ptr_nonnull(b.data);
  memset(b.data + at, 7, length);
  b.count = b.capacity = size;
  return b;
}

START_TEST(program_bytes) {
  accept_bytes(program_of(VYRE_MAX_PROGRAM_BYTES));
  refuse_bytes(program_of(VYRE_MAX_PROGRAM_BYTES + 1), VYRE_ERR_LIMIT, "at most 67108864 bytes");
}
END_TEST

/* The builder knows it too, before there are bytes; parts that are used twice count twice. */
START_TEST(program_bytes_of_shared_expressions) {
  for (uint32_t doublings = 20; doublings <= 300; doublings += 280) {
    vyre_builder *b;
    vyre_program *p;
    vyre_error error = VYRE_ERROR_INIT;
    ck_assert_int_eq(vyre_builder_create("p", NULL, &b), VYRE_OK);
    vyre_expr e = vyre_build_leaf(b, VYRE_OP_GID, 0);
    for (uint32_t i = 0; i < doublings; i++) e = vyre_build_binary(b, VYRE_OP_ADD, e, e);
    vyre_build_declare(b, VYRE_STMT_LET, "x", e);
    vyre_status status = vyre_builder_finish(b, &p, &error);
    ck_assert_int_eq(status, doublings == 20 ? VYRE_OK : VYRE_ERR_INVALID_PROGRAM);
    if (status != VYRE_OK) ck_assert_ptr_nonnull(strstr(error.text, "V143"));
    else {
      bytes wire = encode_and_release(p);
      ck_assert_uint_gt(wire.count, 4u << 20);
      free(wire.data);
    }
    vyre_builder_destroy(b);
  }
}
END_TEST

static bytes negations(uint32_t depth) {
  bytes b = begin_code();
  PUT(&b, LIT, U32, 1);
  for (uint32_t i = 1; i < depth; i++) PUT(&b, NEG_TAG, NEG);
  PUT(&b, LET, 2, 'x');
  return b;
}

START_TEST(expression_depth) {
  accept_bytes(negations(VYRE_MAX_EXPR_DEPTH));
  refuse_rule(negations(VYRE_MAX_EXPR_DEPTH + 1), "V033");
  refuse_rule(negations(1000000), "V033");
}
END_TEST

/* |blocks| blocks inside |calls| regions that stand for calls. */
static bytes nested(uint32_t calls, uint32_t blocks) {
  bytes b = begin_code();
  for (uint32_t i = 0; i < calls; i++) {
    put_byte(&b, REGION);
    if (i == 0) put_new_string(&b, "call f.g");
    else put_byte(&b, 2 << 1 | 1);
  }
  fill(&b, blocks, BLOCK);
  fill(&b, calls + blocks, END);
  return b;
}

START_TEST(nesting) {
  accept_bytes(nested(0, VYRE_MAX_NESTING));
  refuse_rule(nested(0, VYRE_MAX_NESTING + 1), "V018");
  refuse_rule(nested(0, 900000), "V018");
  accept_bytes(nested(VYRE_MAX_CALL_DEPTH, VYRE_MAX_NESTING));
  refuse_rule(nested(VYRE_MAX_CALL_DEPTH + 1, 0), "V140");
  refuse_rule(nested(VYRE_MAX_CALL_DEPTH, VYRE_MAX_NESTING + 1), "V018");
}
END_TEST

/* An `else if` chain is one level, however long. */
START_TEST(chains) {
  enum { LINKS = 300000 };
  bytes b = begin_code();
  for (uint32_t i = 0; i < LINKS; i++) PUT(&b, LIT, 0x06, 1, 0x83, BARRIER, 0xFE);
  put_byte(&b, BARRIER);
  fill(&b, LINKS, END);
  accept_bytes(b);
}
END_TEST

int main(void) {
  const TTest *tests[] = { statements,    declarations, strings, names, program_bytes, program_bytes_of_shared_expressions,
                           expression_depth, nesting,   chains,  NULL };
  return run_suite("wire limits", 120, tests);
}
