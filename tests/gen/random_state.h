/* What the two halves of the generator share: random_program.c makes declarations and statements, random_expr.c
 * expressions. No call and no initializer draws two random numbers side by side: compilers differ in the order. */
#ifndef VYRE_TESTS_RANDOM_STATE_H
#define VYRE_TESTS_RANDOM_STATE_H

#include "random_program.h"

/* How far a value is equal, or a flow common. */
typedef enum level { DIVERGENT, SUBGROUP, WORKGROUP, GRID } level;

typedef struct variable {
  vyre_var var;
  vyre_type type;
  vyre_stmt_op kind;
  level level; /* of every value that it may have */
} variable;

/* What a buffer is used for, which is what keeps programs free of races. */
typedef enum usage {
  INPUT,   /* read, table: any index */
  OWN,     /* write, rw: the invocation's own element */
  COUNTER, /* rw, shared: one commutative atomic, result dropped */
  STAGE,   /* shared: own element, or others' between barriers */
  PRIVATE  /* local: any index */
} usage;

typedef struct memory {
  vyre_binding binding;
  vyre_access access;
  vyre_type element;
  uint64_t length;
  usage role;
  vyre_op counts; /* the operator of a COUNTER */
  bool busy;      /* copies into it are under way */
} memory;

enum { MAX_MEMORIES = 24, MAX_PARAMS = 6, MAX_VARIABLES = 256, MAX_KNOWN = 64, REUSE_DEPTH = 3 };

typedef struct parameter {
  vyre_expr value;
  vyre_type type;
} parameter;

/* An expression that may be evaluated again wherever its variables are visible. */
typedef struct known {
  vyre_expr value;
  vyre_type type;
  level level;
} known;

typedef struct generator {
  random_source random;
  random_program_options options;
  vyre_builder *b;
  uint32_t size[3]; /* of the workgroup */
  parameter params[MAX_PARAMS];
  uint32_t param_count;
  memory memories[MAX_MEMORIES];
  uint32_t memory_count, shared_bytes;
  variable variables[MAX_VARIABLES]; /* visible ones, innermost last */
  uint32_t variable_count;
  known known[MAX_KNOWN];
  uint32_t known_count, known_first; /* all that are visible; the first of this block */
  uint32_t once;              /* expressions so far that are evaluated in one place alone */
  vyre_expr self, local_self; /* linear number of the invocation in the grid and in its workgroup */
  level flow;                 /* at this place */
  level cap;                  /* what returns before this place left of it */
  uint32_t budget, spent;     /* statements */
  uint32_t depth, loops;      /* open blocks and loops */
  bool top;                   /* outside of every if and loop */
  bool stays;                 /* nobody leaves before the open copies are waited for */
  bool still;                 /* no expression changes memory */
} generator;

static inline uint32_t pick(generator *g, uint32_t n) { return random_below(&g->random, n); }
static inline bool chance(generator *g, uint32_t percent) { return random_chance(&g->random, percent); }
static inline bool avoids(const generator *g, uint32_t need) { return (g->options.avoid & need) != 0; }
static inline level weaker(level a, level b) { return a < b ? a : b; }

/* Whether values, or elements, of |type| may occur. */
bool type_allowed(const generator *g, vyre_type type);
/* A type that values may have; a scalar one. */
vyre_type pick_type(generator *g);
vyre_type pick_scalar(generator *g);

/* An expression of |type|, at most |depth| operators deep, whose value is at least as uniform as |want|. */
vyre_expr make_expr(generator *g, vyre_type type, level want, uint32_t depth);
vyre_expr make_literal(generator *g, vyre_type type);
/* Bits of a random value of |type|, as an element or literal has them. */
uint64_t make_bits(generator *g, vyre_type type);
/* Any index, and one that only this invocation has. */
vyre_expr make_index(generator *g, const memory *m, level want, uint32_t depth);
vyre_expr make_own_index(generator *g, const memory *m);
/* A use of atomic operator |op| at |index|. */
vyre_expr make_atomic(generator *g, vyre_op op, const memory *m, vyre_expr index);
/* Any memory of a role and, unless NONE, with this value type; NULL if there is none. */
const memory *pick_memory(generator *g, usage role, vyre_type value);

#endif
