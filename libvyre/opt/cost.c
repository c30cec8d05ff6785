/* The default costs, and that of a whole unit. */
#include "opt/cost.h"

#include "opt/facts.h"

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

uint64_t opt_unit_cost(struct opt_unit *u) {
  const opt_facts *f = opt_facts_of(u);
  return f != NULL ? f->stmt[0].cost : UINT64_MAX;
}
