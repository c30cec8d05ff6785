/* The inside of the builder: what the text parser and the wire decoder use beyond vyre/ir.h. */
#ifndef VYRE_IR_BUILDER_H
#define VYRE_IR_BUILDER_H

#include "ir/program.h"

/* What a name stands for. One namespace; nothing may be shadowed. */
typedef enum ir_symbol_kind {
  IR_SYMBOL_NONE = 0,
  IR_SYMBOL_PARAM,  /* index: parameter */
  IR_SYMBOL_BUFFER, /* index: binding */
  IR_SYMBOL_VAR,    /* index: variable */
  IR_SYMBOL_OTHER   /* index: the caller's own (a constant or function of the text form) */
} ir_symbol_kind;

typedef struct ir_symbol {
  ir_symbol_kind kind;
  uint32_t index;
} ir_symbol;

/* What is known of an expression as a whole, kept beside it while building. */
typedef struct ir_expr_meta {
  uint32_t uses;   /* nodes as a tree, saturating */
  uint32_t newest; /* 1 + the youngest variable in it, 0 if it has none: if that is visible, all are */
  uint16_t depth;  /* a leaf is 1 */
  uint16_t flags;  /* VYRE_EFFECT_* of the whole tree; READS not for lets and loop variables, tables and read buffers */
} ir_expr_meta;

/* Interns a string of the program; UINT32_MAX (recorded as out of memory) on failure. */
uint32_t ir_builder_intern(vyre_builder *b, const char *text, uint32_t bytes);
const char *ir_builder_text(const vyre_builder *b, uint32_t string);
uint32_t ir_builder_string_count(const vyre_builder *b);

/* What a name stands for here; IR_SYMBOL_NONE if nothing visible has it. */
ir_symbol ir_builder_find(const vyre_builder *b, uint32_t name);
/* Takes a name in the program's scope for something that only the caller knows; false (and V107 or V142) if it is
 * taken. */
bool ir_builder_claim(vyre_builder *b, uint32_t name, uint32_t index);

/* As their counterparts in vyre/ir.h, with interned names. Tables copy |data|. */
vyre_expr ir_build_param(vyre_builder *b, uint32_t name, vyre_type type);
vyre_binding ir_build_buffer(vyre_builder *b, vyre_access access, uint32_t name, vyre_type element, uint64_t length);
vyre_binding ir_build_table(vyre_builder *b, uint32_t name, vyre_type element, const void *data, uint64_t length);
vyre_var ir_build_declare(vyre_builder *b, vyre_stmt_op op, uint32_t name, vyre_expr value);
vyre_var ir_build_for(vyre_builder *b, uint32_t name, vyre_expr from, vyre_expr to, vyre_expr step);
void ir_build_region(vyre_builder *b, uint32_t name);
void ir_build_print(vyre_builder *b, uint32_t format, const vyre_expr *args, uint32_t count);
void ir_build_op(vyre_builder *b, uint32_t id);

/* Operator |op| of unary, binary, select or fma on as many operands as it has, as they stand in a program: a scalar
 * beside a vector is no vector here, but a fault. */
vyre_expr ir_build_operator(vyre_builder *b, vyre_op op, const vyre_expr *x);

/* Parameter |index| as an expression (what ir_build_param gave). */
vyre_expr ir_build_param_value(vyre_builder *b, uint32_t index);

/* Looks into the pools under construction. */
const ir_expr *ir_builder_expr(const vyre_builder *b, vyre_expr e);
const ir_expr_meta *ir_builder_meta(const vyre_builder *b, vyre_expr e);
const ir_buffer *ir_builder_buffer(const vyre_builder *b, vyre_binding binding); /* NULL if there is none */
const ir_var *ir_builder_var(const vyre_builder *b, vyre_var var);               /* NULL if there is none */
uint32_t ir_builder_buffer_count(const vyre_builder *b);
uint32_t ir_builder_param_count(const vyre_builder *b);
uint32_t ir_builder_var_count(const vyre_builder *b);

/* Makes room ahead for about so many distinct expressions and statements. */
void ir_builder_expect(vyre_builder *b, uint64_t expressions, uint64_t statements);

/* As vyre_builder_finish, for a caller who knows the digest of the program's wire form (NULL: it is computed). */
vyre_status ir_builder_finish(vyre_builder *b, const uint8_t *fingerprint, vyre_program **out, vyre_error *error);

/* Records a finding at the builder's position and counts it. */
__attribute__((format(printf, 3, 4))) void ir_builder_report(vyre_builder *b, vyre_code code, const char *format, ...);
/* The same with a fix that is closer than the code's own (NULL: that). */
__attribute__((format(printf, 4, 5))) void ir_builder_report_fix(vyre_builder *b, vyre_code code, const char *fix,
                                                                 const char *format, ...);
/* Notes that memory ran out; finish then says NO_MEMORY. */
void ir_builder_out_of_memory(vyre_builder *b);
bool ir_builder_failed(const vyre_builder *b); /* an error or out of memory */

/* True if evaluating |e| later in the same block, after any statement, gives the same value and nothing else:
 * it has no effect and reads nothing that can change. */
bool ir_builder_stable(const vyre_builder *b, vyre_expr e);

#endif
