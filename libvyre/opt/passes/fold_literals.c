/* Literals alone are computed: all that level 0 does. From level 1 on const_fold does it, with all else. */
#include "opt/passes/algebra.h"

bool opt_pass_fold_literals(opt_context *c) {
  return c->level == 0 && opt_apply_rules(c, 0, NULL, NULL);
}
