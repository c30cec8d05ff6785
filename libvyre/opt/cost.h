/* What a program is estimated to cost: abstract cycles of each operator, times the turns of the loops around it. */
#ifndef VYRE_OPT_COST_H
#define VYRE_OPT_COST_H

#include <vyre/ir.h>

enum { OPT_UNKNOWN_TRIP = 8 };

/* Plain data, so that a backend may bring its own. */
typedef struct opt_cost_table {
  uint16_t op[VYRE_OP_COUNT];     /* on 32-bit integers and f32; more lanes and 64 bits count as often */
  uint16_t stmt[VYRE_STMT_COUNT]; /* beside its operands */
  uint16_t float_mul, float_div;  /* MUL and DIV of floats */
  uint16_t shared_access;         /* load or store of shared or local memory */
} opt_cost_table;

extern const opt_cost_table opt_default_costs;

#endif
