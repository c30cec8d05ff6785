/* What the optimizer did to a program, for people and as JSON. */
#ifndef VYRE_TOOLS_EXPLAIN_H
#define VYRE_TOOLS_EXPLAIN_H

#include <vyre/opt.h>

#include "json.h"
#include "program.h"

/* Accesses of the kernel that compiled backends get, and those of them whose index is compared with a length. */
typedef struct explain_checks {
  bool is_known; /* false for what can't be lowered: more than a kernel holds */
  uint64_t accesses, checked;
} explain_checks;

/* One optimization. */
typedef struct explain {
  const loaded_program *before;
  const vyre_program *after;
  const vyre_opt_report *report;
  explain_checks checks_before, checks_after;
} explain;

/* Gives an exit status. Lowers both programs to count checks. */
int explain_count(explain *e);
/* The texts that the report holds, on stderr. */
void explain_print_texts(const vyre_opt_report *report);
/* Places and rules, passes, figures of the whole, on stderr. Gives an exit status. */
int explain_text(const explain *e);
/* The same as members of the object that |j| is in. Gives an exit status. */
int explain_json(const explain *e, json_writer *j);

/* The passes that there are, on stdout. */
void explain_list_text(void);
void explain_list_json(void);

#endif
