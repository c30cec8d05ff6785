/* The inside of the text parser: one pass from tokens to builder calls, without a tree in between.
 *
 *   text_parse.c    the whole, names, recovery        text_decl.c   header, declarations, functions
 *   text_stmt.c     statements                        text_call.c   calls, which are inlined
 *   text_expr.c     operators and brackets            text_value.c  operands and their types
 *   text_near.c     names that may have been meant
 *
 * Nesting of the text costs heap and never C stack, except for calls: a function's body is read again at each call,
 * at most VYRE_MAX_CALL_DEPTH deep. */
#ifndef VYRE_IR_TEXT_PARSER_H
#define VYRE_IR_TEXT_PARSER_H

#include <vyre/text.h>

#include "ir/builder.h"
#include "ir/text_const.h"
#include "ir/text_lex.h"

/* Reserved words: those of keywords.def, then types, then operators that are words. */
enum {
  WORD_NONE = 0,
#define X(word) WORD_##word,
#include "ir/keywords.def"
#undef X
  WORD_TYPE = 128, /* + vyre_type */
  WORD_OP = 256    /* + vyre_op */
};

/* ---- Operands ------------------------------------------------------------------------------ */

typedef enum operand_kind {
  OPERAND_FAILED = 0, /* said already; whatever is made of it fails silently */
  OPERAND_INT,        /* an integer literal or an exact computation; |type| is its suffix or NONE */
  OPERAND_FLOAT,      /* a float literal, as text; |type| is its suffix or NONE */
  OPERAND_LITERAL,    /* bits of |type| */
  OPERAND_EXPR,       /* an expression of the builder */
  OPERAND_OPEN,       /* operators on untyped operands only: one expression for each type that it can have */
  OPERAND_VOID,       /* what a call without result gives */
  OPERAND_BUFFER      /* a buffer passed to an operation by name */
} operand_kind;

enum { OPEN_FIRST = VYRE_TYPE_U32, OPEN_TYPES = VYRE_TYPE_F64 - VYRE_TYPE_U32 + 1 };

typedef enum float_word { FLOAT_DIGITS = 0, FLOAT_INF, FLOAT_NAN } float_word;

typedef struct operand {
  uint8_t kind;
  uint8_t type;
  bool bare;     /* INT, FLOAT: a token without brackets, which a minus before it belongs to */
  bool negative; /* INT, FLOAT: below zero; OPEN: an untyped part of it is */
  bool real;     /* OPEN: a part of it is a float literal */
  uint8_t word;  /* FLOAT: float_word */
  uint16_t height; /* operators one in the other that it is made of as written, which need not be built; 0 for a leaf */
  uint32_t pos;  /* byte offset for messages */
  union {
    text_int value;
    struct { const char *text; uint32_t bytes; } digits; /* in the source or a define */
    uint64_t bits;
    vyre_expr expr;
    vyre_expr open[OPEN_TYPES];
    vyre_binding binding;
  };
} operand;

/* ---- State --------------------------------------------------------------------------------- */

/* What the parser knows of a name, by string number. */
typedef struct text_name {
  bool poisoned;   /* its declaration failed: uses are silent */
  uint32_t frame;  /* the call in whose body |var| has this name; 0 for none */
  uint32_t level;  /* open blocks when it was declared */
  vyre_var var;
  uint32_t tag_frame, tag_commits, tag_flow; /* the copy_async of this tag; tag_flow 0 for none */
} text_name;

/* A declaration that the builder does not know: a scalar constant or a function. */
typedef struct text_global {
  uint32_t name;
  uint32_t function; /* UINT32_MAX for a constant */
  operand value;
} text_global;

typedef struct text_parameter {
  uint32_t name, pos;
  uint8_t type;
} text_parameter;

typedef struct text_function {
  uint32_t name, pos;
  uint32_t first, count; /* of parameters */
  uint8_t result;        /* vyre_type, NONE for none */
  bool read;             /* its body was read at a call */
  uint32_t body;         /* offset behind its { */
  uint32_t global;       /* its number; it sees what was declared before */
  uint32_t params, buffers;
} text_function;

typedef enum block_kind { BLOCK_BODY, BLOCK_IF, BLOCK_ELSE, BLOCK_LOOP, BLOCK_PLAIN, BLOCK_FUNCTION } block_kind;

typedef struct text_block {
  uint8_t kind;
  bool returned;    /* FUNCTION: its return was read */
  uint32_t pos;     /* of its statement */
  uint32_t chain;   /* builder blocks that an else-if chain has opened besides */
  uint32_t undo;    /* names of the frame to restore at its end */
  uint32_t flow;    /* number of the straight run of statements around it */
  uint32_t commits; /* p->commits at its start */
} text_block;

typedef struct text_undo {
  uint32_t name, frame, level;
  vyre_var var;
} text_undo;

typedef enum entry_kind {
  ENTRY_PREFIX, ENTRY_INFIX, ENTRY_ELSE,
  /* open brackets */
  ENTRY_PAREN, ENTRY_TERNARY, ENTRY_FUNC, ENTRY_CAST, ENTRY_BITCAST, ENTRY_VECTOR, ENTRY_LOAD, ENTRY_ACCESS_INDEX,
  ENTRY_ACCESS, ENTRY_FUNCTION, ENTRY_CALL
} entry_kind;

typedef struct text_entry {
  uint8_t kind, precedence, order, scope;
  uint16_t op;      /* vyre_op, or vyre_type */
  uint32_t pos;
  uint32_t base;    /* operands below it */
  uint32_t ref;     /* binding, function or string */
  uint32_t effects; /* p->effects when it was opened */
} text_entry;

typedef struct text_parser {
  text_lexer lex;
  text_token token;
  uint32_t name; /* the token's string if it is a name */
  uint16_t word; /* its WORD_* if it is reserved */
  vyre_builder *b;
  const vyre_text_options *options;
  bool check;    /* this run reads only bodies of functions that no call has read */
  bool skipping; /* behind a fault: what stands there is passed over in silence */
  bool full;     /* V141 was said */
  bool stop;     /* 20 errors, or no memory: leave everything */
  bool constant; /* a constant expression is being read */
  vyre_type constant_type;

  VYRE_VECTOR(uint16_t) words; /* WORD_* by string */
  VYRE_VECTOR(text_name) names;
  VYRE_VECTOR(text_global) globals;
  VYRE_VECTOR(text_function) functions;
  VYRE_VECTOR(text_parameter) parameters;
  VYRE_VECTOR(text_block) blocks;
  VYRE_VECTOR(text_undo) undo;
  VYRE_VECTOR(operand) operands;
  VYRE_VECTOR(text_entry) entries;
  VYRE_VECTOR(uint8_t) bytes;  /* a table's elements, a string's bytes */
  VYRE_VECTOR(vyre_expr) list; /* arguments of a print */
  text_name spare_name;       /* what text_name_at gives without memory */
  bool *define_used;          /* by define */
  char define_fault[400];     /* what is wrong with one; "" if nothing */
  const struct text_parser *already; /* of a checking run: the first one, which knows what was read */

  uint32_t settled;      /* operands below it keep their value whatever statements follow */
  uint32_t constants;    /* scalar ones */
  uint32_t frame;        /* the call whose body is being read; 0 outside */
  uint32_t frames;       /* calls so far */
  uint32_t function;     /* the function whose body is being read, or UINT32_MAX */
  vyre_var result;       /* the var that takes its result */
  uint32_t depth;        /* calls open */
  uint32_t temporaries;
  uint32_t effects;      /* statements with effects so far, for W2 */
  uint32_t commits;      /* groups closed so far */
  uint32_t flow, flows;  /* the straight run of statements that this is in, and how many there were */
} text_parser;

/* ---- text_parse.c: tokens, messages, names ------------------------------------------------- */

void text_advance(text_parser *p);
/* Goes to |offset| and reads the token there. */
void text_seek(text_parser *p, uint32_t offset);
static inline bool text_at(const text_parser *p, text_kind kind) { return p->token.kind == kind; }
static inline bool text_at_word(const text_parser *p, uint16_t word) { return p->word == word && word != WORD_NONE; }
/* Whether the token is this word, reserved or not. */
bool text_at_text(const text_parser *p, const char *word);
/* Passes over the token if it is |kind|. */
bool text_accept(text_parser *p, text_kind kind);
/* As accept; else reports S5, "wanted ..., found ...". */
bool text_expect(text_parser *p, text_kind kind, const char *wanted);
bool text_expect_word(text_parser *p, uint16_t word, const char *wanted);
/* Reports S5 at the token, unless it was faulted already. Gives false. */
bool text_unexpected(text_parser *p, const char *wanted);
__attribute__((format(printf, 4, 5))) void text_report(text_parser *p, vyre_code code, uint32_t pos, const char *format,
                                                       ...);
/* As report, with a fix that is closer than the code's own; NULL for that. */
__attribute__((format(printf, 5, 6))) void text_report_fix(text_parser *p, vyre_code code, uint32_t pos,
                                                           const char *fix, const char *format, ...);
void text_no_memory(text_parser *p);

/* A name that is about to be declared: reports S6 for reserved words, W4 for __. */
bool text_read_new_name(text_parser *p, uint32_t *name, uint32_t *pos);
/* The string of a string token, interned; false if it is none or its escapes are wrong. */
bool text_read_string(text_parser *p, uint32_t *string);
bool text_read_type(text_parser *p, vyre_type *type);
/* Skips to where the next statement or declaration starts. |start| is where the faulty one did. */
void text_recover(text_parser *p, uint32_t start);
/* Passes over a block whose { has been read, up to behind its }. */
bool text_skip_block(text_parser *p);

text_name *text_name_at(text_parser *p, uint32_t name);
void text_poison(text_parser *p, uint32_t name);
/* What a name stands for here, which in the body of a function is not what it stands for at the call. */
ir_symbol text_find(text_parser *p, uint32_t name);
const char *text_of(const text_parser *p, uint32_t name);
/* A fresh name with this beginning that no visible name has. */
uint32_t text_fresh_name(text_parser *p, char kind);

/* ---- text_value.c: operands ---------------------------------------------------------------- */

static inline operand operand_failed(uint32_t pos) { return (operand){ .kind = OPERAND_FAILED, .pos = pos }; }
static inline operand operand_expr(vyre_expr e, uint32_t pos) {
  return (operand){ .kind = e != 0 ? OPERAND_EXPR : OPERAND_FAILED, .pos = pos, .expr = e };
}
static inline operand operand_literal(vyre_type type, uint64_t bits, uint32_t pos) {
  return (operand){ .kind = OPERAND_LITERAL, .type = (uint8_t)type, .pos = pos, .bits = bits };
}
/* The operand of a number token. */
operand text_number(text_parser *p);
/* Applies unary minus as a token before a literal, or as an operator. */
operand text_negate(text_parser *p, operand x, uint32_t pos);
/* Applies an operator to as many operands as it has; they are used up. */
operand text_apply(text_parser *p, vyre_op op, operand *x, uint32_t pos);
/* T(x). */
operand text_convert(text_parser *p, vyre_type type, operand x, uint32_t pos);
/* What it is already: NONE if it has no type of its own. */
vyre_type text_operand_type(const text_parser *p, const operand *x);
/* The expression that the operand is where a |place| (NONE: no place) asks; 0 if it failed. */
vyre_expr text_resolve(text_parser *p, const operand *x, vyre_type place);
/* As resolve; a type other than |place| is |code|, with |what| saying what it is. */
vyre_expr text_resolve_to(text_parser *p, const operand *x, vyre_type place, vyre_code code, const char *what);
/* Types of places that ask each other: gives one type to all |count| operands, and resolves them to |out|. */
void text_resolve_together(text_parser *p, const operand *x, uint32_t count, vyre_expr *out);
/* The bits of a constant operand in |type| (a scalar arithmetic type); false and said if it has none. */
bool text_constant_bits(text_parser *p, operand x, vyre_type type, uint64_t *bits);
/* Makes an operand with a suffix a literal: |bare| no more. */
void text_firm(text_parser *p, operand *x);
/* Binds a value to a name of the compiler's, so that it stays what it is. */
vyre_expr text_bind(text_parser *p, vyre_expr value);
/* Binds every operand on the stack below |count| that what is built next could change. */
void text_settle(text_parser *p, uint32_t count);
bool text_push(text_parser *p, operand x);
operand text_pop(text_parser *p);
void text_drop(text_parser *p, uint32_t count);
/* 0 of any arithmetic type. */
vyre_expr text_zero(text_parser *p, vyre_type type);

/* ---- text_expr.c --------------------------------------------------------------------------- */

/* Reads an expression. False if its syntax is wrong, which is said. */
bool text_expression(text_parser *p, operand *out);
/* Reads a constant expression; |type| is what it will have, or NONE. */
bool text_constant(text_parser *p, vyre_type type, operand *out);
/* Reads a constant expression that is an integer of 0 to |most|. */
bool text_constant_count(text_parser *p, uint64_t most, uint64_t *out);
/* Reads `name [ index ]` up to behind the ], and leaves the index on the operand stack. A name that is no buffer is
 * |code|, and then *binding is VYRE_NO_BINDING. False if the syntax is wrong. */
bool text_element(text_parser *p, vyre_code code, vyre_binding *binding);
/* Reads one of the words for an order or a scope. */
bool text_read_order(text_parser *p, vyre_order *order);
bool text_read_scope(text_parser *p, vyre_scope *scope);
/* The component that a word after a point names; UINT32_MAX and said if it is none. The word is passed over. */
uint32_t text_read_component(text_parser *p);
/* The infix operator of a token, NONE if it is none. */
vyre_op text_infix_operator(text_kind kind);

/* Whether a word is an operator that stands alone, as gid does. */
bool text_op_is_leaf(vyre_op op);

/* ---- text_near.c --------------------------------------------------------------------------- */

/* What could have been meant where a name stands. */
enum {
  TEXT_NEAR_BUFFER = 1, TEXT_NEAR_VALUE = 2, TEXT_NEAR_VAR = 4, TEXT_NEAR_FUNCTION = 8, TEXT_NEAR_TYPE = 16,
  TEXT_NEAR_STATEMENT = 32
};
/* Reports `"name" what`, with the nearest name of those |kinds| as its fix, or else the code's. */
void text_report_near(text_parser *p, vyre_code code, uint32_t pos, uint32_t name, uint32_t kinds, const char *what);

/* ---- text_call.c --------------------------------------------------------------------------- */

/* Inlines a call whose |count| arguments are the uppermost operands; they are replaced by its value. */
void text_call_function(text_parser *p, uint32_t function, uint32_t count, uint32_t pos);
void text_call_operation(text_parser *p, uint32_t id, uint32_t count, uint32_t pos);
/* Reads the bodies of functions that no call has read. */
void text_check_functions(text_parser *p);
/* Declares a let, var or loop variable under its source name. Poisons the name if |value| is 0. */
vyre_var text_declare(text_parser *p, vyre_stmt_op op, uint32_t name, uint32_t pos, vyre_expr value);
vyre_var text_declare_for(text_parser *p, uint32_t name, uint32_t pos, const vyre_expr bounds[3]);

/* ---- text_stmt.c, text_decl.c -------------------------------------------------------------- */

bool text_push_block(text_parser *p, block_kind kind, uint32_t pos);
/* Reads statements up to behind the } of the innermost block. */
void text_block_body(text_parser *p);
bool text_at_declaration(const text_parser *p);
/* Reads `program name attributes {` declarations. */
bool text_header(text_parser *p);
void text_declarations(text_parser *p);

/* ---- text_literal.c ------------------------------------------------------------------------ */

/* Reads a whole text as one literal, with a minus before it or not; false if it is none. */
bool text_read_literal(const char *text, operand *x);
/* Its bits in a scalar arithmetic type; false if it is none of that type, or out of range. */
bool text_literal_in(vyre_type type, const operand *x, uint64_t *bits);
/* The bits of a FLOAT in f32 or f64. */
text_float_result text_operand_float(const operand *x, vyre_type type, uint64_t *bits);

#endif
