/* Literals are computed, and the rules of the table that never cost more are applied. */
#include "opt/passes/algebra.h"

bool opt_pass_const_fold(opt_context *c) { return opt_apply_rules(c, OPT_RULES_FOLD, NULL, NULL); }
