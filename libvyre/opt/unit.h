/* A program while it is being optimized.
 *
 * Passes work on one private copy. Its expressions are hash-consed as in a program, and the pool only grows: a handle
 * keeps its meaning through all passes, so what is unchanged costs nothing. Statements stand in pre-order and are
 * written anew by a pass that changes them (opt/edit.h). Variables are known by number; names matter again only when
 * the unit becomes a program (opt/replay.c), which goes through the builder and is valid by construction.
 *
 * A pass that runs out of memory or passes a limit sets |fault| and is undone as a whole; handles are then 0, and
 * whatever is given 0 gives 0. */
#ifndef VYRE_OPT_UNIT_H
#define VYRE_OPT_UNIT_H

#include "ir/expr_set.h"
#include "ir/program.h"
#include "ir/walk.h"
#include "opt/cost.h"

/* What an expression, with all below it, reads and does. Nothing of it: it has one value wherever its variables do. */
enum {
  OPT_READS_VAR = 1 << 0,    /* a `var`: what it gives depends on the place */
  OPT_READS_MEMORY = 1 << 1, /* an ordinary load of memory that may change */
  OPT_READS_FIXED = 1 << 2,  /* a load of a read buffer or a table: never changes, but is not free */
  OPT_EFFECT = 1 << 3,       /* must happen exactly where it stands */
  OPT_CONVERGENT = 1 << 4,   /* lanes meet in it: stays in the flow where it stands */
  OPT_ATOMIC = 1 << 5,       /* has an atomic (and OPT_EFFECT) */
  OPT_FENCE = 1 << 6,        /* ... with an order: it orders accesses of other memory, too */
  OPT_BARRIER = 1 << 7,      /* all invocations of the workgroup meet in it */
  OPT_READS = OPT_READS_VAR | OPT_READS_MEMORY,
  /* Not pure in the sense of optimizer.md, section 5: may not be duplicated or moved freely. */
  OPT_FIXED_IN_PLACE = OPT_READS | OPT_EFFECT | OPT_CONVERGENT
};

typedef struct opt_meta {
  uint64_t cost;  /* of one evaluation of the whole, in cycles of opt/cost.h; saturates */
  uint64_t reads, writes; /* opt_binding_bit of the memory that it loads and changes; atomics are both */
  uint32_t size;  /* operators evaluated, as a tree; saturates */
  uint16_t depth; /* a leaf is 1 */
  uint16_t flags; /* OPT_READS_VAR to OPT_BARRIER */
} opt_meta;

/* Bits for sets of bindings: equal bits may stand for several bindings, so that a set is never too small. */
static inline uint64_t opt_binding_bit(uint32_t binding) { return 1ull << binding % 64; }

typedef struct opt_facts opt_facts;

typedef enum opt_fault { OPT_FINE, OPT_NO_MEMORY, OPT_LIMIT } opt_fault;

typedef struct opt_unit {
  vyre_program *program; /* the copy; info, op_kinds and fingerprint are those of the source */
  const vyre_program *source;
  const opt_cost_table *costs;
  ir_expr_set set;
  VYRE_VECTOR(opt_meta) meta; /* by expression */
  uint8_t *dropped;           /* by binding: its declaration goes, since nothing uses it; NULL for none */
  opt_fault fault;
  uint32_t generation;        /* one more with each change of statements */
  VYRE_VECTOR(ir_stmt) before_stmts;  /* as they were when the present pass began, if it has changed them */
  VYRE_VECTOR(uint32_t) before_lists;
  bool has_before;
  opt_facts *facts;           /* of |facts_generation|, or NULL */
  uint32_t facts_generation;
} opt_unit;

/* False without memory; free it all the same. |source| and |costs| are borrowed. */
bool opt_unit_create(opt_unit *u, const vyre_program *source, const opt_cost_table *costs);
void opt_unit_free(opt_unit *u);

/* For commits: keeps the statements as they were before the first change of a pass, and drops those in between. The
 * unit's own are then empty. Undo brings them back and takes the fault away; forget makes the change final. */
void opt_unit_keep_before(opt_unit *u);
void opt_unit_undo(opt_unit *u);
void opt_unit_forget_before(opt_unit *u);

/* The unit as a program, built and checked by the builder.
 * Errors: NO_MEMORY, LIMIT (the result passes a limit of programs), INTERNAL (a pass has made what no program may be;
 * the text says what). */
vyre_status opt_unit_program(opt_unit *u, vyre_program **out, vyre_error *error);

/* ---- Reading --------------------------------------------------------------------------------- */

static inline const ir_expr *opt_at(const opt_unit *u, uint32_t e) { return &u->program->exprs.data[e]; }
static inline const ir_stmt *opt_stmt(const opt_unit *u, uint32_t s) { return &u->program->stmts.data[s]; }
static inline const opt_meta *opt_meta_of(const opt_unit *u, uint32_t e) { return &u->meta.data[e]; }
static inline uint32_t opt_flags(const opt_unit *u, uint32_t e) { return u->meta.data[e].flags; }
static inline vyre_type opt_type(const opt_unit *u, uint32_t e) { return (vyre_type)opt_at(u, e)->type; }
static inline bool opt_is_literal(const opt_unit *u, uint32_t e) { return opt_at(u, e)->op == VYRE_OP_LIT; }
static inline bool opt_is(const opt_unit *u, uint32_t e, vyre_op op) { return opt_at(u, e)->op == op; }
/* Nothing that forbids to evaluate it elsewhere, where its variables are visible, or more than once. */
static inline bool opt_is_pure(const opt_unit *u, uint32_t e) {
  return (opt_flags(u, e) & (OPT_FIXED_IN_PLACE | OPT_READS_FIXED)) == 0;
}
/* Whether a use of it can be left out. */
static inline bool opt_can_drop(const opt_unit *u, uint32_t e) { return (opt_flags(u, e) & OPT_EFFECT) == 0; }
/* A literal's value, sign-extended for i32 and i64. */
static inline int64_t opt_signed_value(const opt_unit *u, uint32_t e) {
  uint64_t bits = ir_literal_bits(opt_at(u, e));
  return opt_type(u, e) == VYRE_TYPE_I32 ? (int32_t)(uint32_t)bits : (int64_t)bits;
}
/* The operands of a statement of the unit; entries may be 0. */
static inline const uint32_t *opt_operands(const opt_unit *u, const ir_stmt *s, uint32_t *count) {
  return ir_operands(u->program, s, count);
}

/* ---- Making expressions ---------------------------------------------------------------------- */

/* Finds or makes an expression whose words are all set as ir/program.h says. What the language gives no form to gets
 * another one at once: an access at a literal index at or beyond a fixed length is 0, an integer divided by a literal 0
 * is what it gives. */
uint32_t opt_expr(opt_unit *u, ir_expr node);
bool opt_is_beyond(const opt_unit *u, uint32_t index, uint32_t binding);
/* The value of a literal in a form that is none, for where it may not stand and must all the same. */
uint32_t opt_hide_literal(opt_unit *u, uint32_t literal);
uint32_t opt_literal(opt_unit *u, vyre_type type, uint64_t bits);
/* An operator of unary, binary, select and fma rows; the type follows by the language's rule. Unused operands are 0. */
uint32_t opt_op(opt_unit *u, vyre_op op, uint32_t x, uint32_t y, uint32_t z);
uint32_t opt_cast(opt_unit *u, vyre_type to, uint32_t x);
uint32_t opt_var_value(opt_unit *u, uint32_t var);
/* A new variable, named after |like|; kind is VYRE_STMT_LET, VAR or FOR. UINT32_MAX without memory. */
uint32_t opt_new_var(opt_unit *u, uint32_t like, vyre_type type, vyre_stmt_op kind);
/* The same with a name of its own. */
uint32_t opt_new_named_var(opt_unit *u, const char *name, vyre_type type, vyre_stmt_op kind);

static inline uint32_t opt_add(opt_unit *u, uint32_t x, uint32_t y) { return opt_op(u, VYRE_OP_ADD, x, y, 0); }
static inline uint32_t opt_sub(opt_unit *u, uint32_t x, uint32_t y) { return opt_op(u, VYRE_OP_SUB, x, y, 0); }
static inline uint32_t opt_mul(opt_unit *u, uint32_t x, uint32_t y) { return opt_op(u, VYRE_OP_MUL, x, y, 0); }

/* ---- Mapping expressions --------------------------------------------------------------------- */

/* Applies a function bottom-up to whole expressions, each one once until the map is reset. |rewrite| gets an
 * expression whose operands are mapped already and gives what stands for it. */
typedef struct opt_map {
  opt_unit *unit;
  uint32_t (*rewrite)(void *context, uint32_t e);
  void *context;
  VYRE_VECTOR(uint64_t) known; /* by expression: epoch << 32 | result */
  uint32_t epoch;
} opt_map;

static inline opt_map opt_map_begin(opt_unit *u, uint32_t (*rewrite)(void *, uint32_t), void *context) {
  return (opt_map){ .unit = u, .rewrite = rewrite, .context = context, .epoch = 1 };
}
/* Forgets what was mapped: the function's answers have changed. */
static inline void opt_map_reset(opt_map *m) { m->epoch++; }
static inline void opt_map_end(opt_map *m) { vyre_vector_free(&m->known); }
uint32_t opt_map_expr(opt_map *m, uint32_t e);

#endif
