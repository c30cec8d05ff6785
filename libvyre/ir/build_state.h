/* The builder's own state, shared by builder.c, build_expr.c and build_stmt.c. */
#ifndef VYRE_IR_BUILD_STATE_H
#define VYRE_IR_BUILD_STATE_H

#include "ir/builder.h"
#include "ir/expr_set.h"

/* One open block: a statement list that is being appended to. */
typedef struct build_block {
  uint32_t owner;   /* the statement that it belongs to; 0 for the program's body */
  uint32_t last;    /* its last statement so far, 0 if empty */
  uint32_t names;   /* how many names were visible when it was opened */
  uint16_t nesting; /* levels within the innermost call region */
  uint16_t deepest; /* deepest level seen inside, of the same budget */
  uint8_t calls;    /* call regions around it */
  bool in_else;     /* it is the owner's second block */
  bool chain;       /* all it has is an if: with the else before it, that is one level */
  bool in_loop;     /* break and continue have a target */
  bool ended;       /* its last statement is a jump */
} build_block;

/* What a name stands for, by string number. */
typedef struct build_name {
  uint8_t kind;    /* ir_symbol_kind */
  uint8_t checked; /* 1: a good name, 2: not one, 0: not looked at */
  uint32_t index;
  uint32_t level;  /* open blocks when it was declared */
} build_name;

struct vyre_builder {
  vyre_program *program; /* under construction; NULL once finished */
  vyre_diagnostics *diagnostics;
  uint32_t position;
  uint32_t errors;
  bool out_of_memory;
  vyre_error first; /* the first error, for finish */

  ir_reserved reserved;
  ir_expr_set expr_set;
  VYRE_VECTOR(ir_expr_meta) meta;    /* by expression */
  VYRE_VECTOR(vyre_expr) var_values, param_values; /* by variable and parameter: its expression, 0 until it is used */
  vyre_expr leaves[VYRE_OP_SHOULD_STOP + 1][3];    /* the same of other leaves, by operator and axis */
  VYRE_VECTOR(build_name) names;  /* by string */
  VYRE_VECTOR(uint32_t) visible;  /* strings of the variables in scope, innermost last */
  VYRE_VECTOR(build_block) blocks;
  uint32_t closed; /* no variable from this one on has gone out of scope */
  uint32_t max_visible;
  uint64_t expr_uses; /* expressions as written */
  bool too_many_statements, too_large, too_deep; /* said already */
};

/* A leaf that names something, whose expression is kept in |*known|: 0 if it was not used yet. */
vyre_expr build_new_leaf(vyre_builder *b, vyre_expr *known, ir_expr e);
static inline vyre_expr build_leaf(vyre_builder *b, vyre_expr *known, ir_expr e) {
  return *known != 0 ? *known : build_new_leaf(b, known, e);
}
/* Makes room for |more| expressions; false without memory. */
bool build_reserve(vyre_builder *b, uint32_t more);
/* Says, once, that no wire form can hold what the program has (V143). */
void build_too_large(vyre_builder *b);
/* Whether |binding| exists. */
static inline bool build_has_buffer(const vyre_builder *b, vyre_binding binding) {
  return binding < b->program->buffers.count;
}
/* Name of a type for messages; "no value" for NONE. */
const char *build_type_name(vyre_type type);
/* Whether an index is u32 or u64 and, if constant, below a fixed length; reports |code| or V36. */
bool build_check_index(vyre_builder *b, const ir_buffer *buffer, vyre_expr index, vyre_code code);
/* Whether |string| may be a name; reports V142. */
bool build_check_name(vyre_builder *b, uint32_t string);
/* Interns what a caller in C gave: NULL is the empty string, and so is a text beyond the limit (V142). */
uint32_t build_intern(vyre_builder *b, const char *text);
build_name *build_name_at(vyre_builder *b, uint32_t string);
static inline build_block *build_top(vyre_builder *b) { return &b->blocks.data[b->blocks.count - 1]; }
static inline const ir_expr *build_expr_at(const vyre_builder *b, vyre_expr e) { return &b->program->exprs.data[e]; }
static inline vyre_type build_type_of(const vyre_builder *b, vyre_expr e) {
  return (vyre_type)build_expr_at(b, e)->type;
}

/* Whether |e| may stand here: it exists and its variables are visible. Handle 0 may not, and was reported when it
 * came to be. */
bool build_look_closer(vyre_builder *b, vyre_expr e);
static inline bool build_allowed(vyre_builder *b, vyre_expr e) {
  bool known = e - 1 < b->program->exprs.count - 1 && b->meta.data[e].newest - 1 >= b->closed; /* 0 - 1: none in it */
  return known || build_look_closer(b, e);
}
/* The same, and it has a value. */
bool build_refuse_valueless(vyre_builder *b);
static inline bool build_usable(vyre_builder *b, vyre_expr e) {
  return build_allowed(b, e) && (build_type_of(b, e) != VYRE_TYPE_NONE || build_refuse_valueless(b));
}

#endif
