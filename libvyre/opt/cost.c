/* The default costs. */
#include "opt/cost.h"

const opt_cost_table opt_default_costs = {
  .op = {
#define OP(cycles, name) [VYRE_OP_##name] = cycles,
#define STMT(cycles, name)
#include "opt/cost.def"
#undef OP
#undef STMT
  },
  .stmt = {
#define OP(cycles, name)
#define STMT(cycles, name) [VYRE_STMT_##name] = cycles,
#include "opt/cost.def"
#undef OP
#undef STMT
  },
  .float_mul = 1,
  .float_div = 8,
  .shared_access = 8,
};
