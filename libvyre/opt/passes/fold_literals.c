/* Literals alone are computed: all that level 0 does. */
#include "opt/passes/algebra.h"

bool opt_pass_fold_literals(opt_context *c) { return opt_apply_rules(c, 0, NULL, NULL); }
