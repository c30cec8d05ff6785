/* What a pass is given and how it answers. A pass is one function in a file of its own under passes/, and one row of
 * passes.def. */
#ifndef VYRE_OPT_PASS_H
#define VYRE_OPT_PASS_H

#include <vyre/opt.h>

#include "opt/edit.h"
#include "opt/facts.h"
#include "opt/unit.h"

typedef struct opt_context {
  opt_unit *unit;
  vyre_opt_report *report; /* takes notes; NULL for none */
  const char *pass; /* that runs */
  uint32_t round;
  uint32_t level;          /* of the whole; 0 where passes were named */
  uint64_t room;           /* by how many expressions the program may grow; what grows more is undone as a whole */
  bool explains;
  bool drops_buffers; /* VYRE_OPT_DROP_BUFFERS */
  const struct vyre_spec_constant *spec; /* parameters that are known, by ascending id */
  uint64_t spec_count;
} opt_context;

/* Notes a rewrite for who asks to have it explained. |rule| has static storage. */
void opt_note(opt_context *c, const char *rule, uint32_t position, uint64_t saved);

/* True if the pass has committed a change. Faults are the unit's. A pass finds the program valid and leaves it so; it
 * does all that it can do in one run, as far as its own rewrites do not give it new work. */
typedef bool opt_pass_function(opt_context *c);

typedef struct opt_pass_row {
  const char *name, *phase, *class_name, *family, *requires, *invalidates, *doc;
  uint32_t level;
  bool enables; /* may raise the estimated cost: what comes after it brings that back */
  opt_pass_function *run;
} opt_pass_row;

/* The registry. Tests bring tables of their own. */
extern const opt_pass_row opt_passes[];
extern const uint32_t opt_pass_count;

/* The row of the registry called so, or that of another table; UINT32_MAX if there is none. */
uint32_t opt_pass_named(const char *name, size_t bytes);
uint32_t opt_row_named(const opt_pass_row *rows, uint32_t count, const char *name, size_t bytes);
/* Whether a comma-separated list has |name|. */
bool opt_list_has(const char *list, const char *name);

enum { OPT_MAX_PASSES = 64 };

/* Puts the chosen passes in an order in which each comes after those that it requires, else in that of the table.
 * False, and *bad the row, if they go round in a circle or require what is not there. */
bool opt_pass_order(const opt_pass_row *rows, uint32_t count, const bool *chosen, uint32_t *order, uint32_t *ordered,
                    uint32_t *bad);

/* vyre_optimize with the passes of |rows|, at most OPT_MAX_PASSES. */
vyre_status opt_optimize(const opt_pass_row *rows, uint32_t count, const vyre_program *program,
                         const vyre_opt_options *options, vyre_program **out, vyre_opt_report **report,
                         vyre_error *error);

#define X(id, phase, class_name, level, enables, family, requires, invalidates, doc) opt_pass_function opt_pass_##id;
#include "opt/passes.def"
#undef X

#endif
