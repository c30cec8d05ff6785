/* The rule table at work: rules.def says what is rewritten to what, rules.py makes the matcher of it. */
#ifndef VYRE_OPT_RULES_H
#define VYRE_OPT_RULES_H

#include "opt/fold.h"

/* Groups of rules. */
enum {
  OPT_RULES_FOLD = 1 << 0,
  OPT_RULES_STRENGTH = 1 << 1,
  OPT_RULES_CONTRACT = 1 << 2,
  OPT_RULES_EXPLORE = 1 << 3
};

typedef enum opt_exactness { OPT_BITS, OPT_EXACT, OPT_CONTRACT } opt_exactness;

typedef struct opt_rule {
  const char *id, *pattern, *result, *when, *types;
  uint32_t group;
  opt_exactness exactness;
} opt_rule;

extern const opt_rule opt_rules[];
extern const uint32_t opt_rule_count;

typedef struct opt_matcher {
  opt_unit *unit;
  uint32_t groups; /* OPT_RULES_*; 0: literals are folded, no rule is tried */
  bool bare;       /* results are put together as the rules say, and not made simple at once */
  uint32_t depth;  /* of results within results */
  /* Is told what a rule made of an expression; true takes it, false asks for what other rules make of it. NULL takes. */
  bool (*took)(void *context, const char *rule, uint32_t before, uint32_t after);
  void *context;
} opt_matcher;

/* What one rule makes of the expression, its operands being as they are; 0 if none fits. */
uint32_t opt_rule_apply(opt_matcher *m, uint32_t e);
/* The same until none fits, literals being folded in between. Gives |e| if there is nothing to do. */
uint32_t opt_simplify(opt_matcher *m, uint32_t e);

#endif
