/* What an optimization did: the inside of vyre_opt_report. */
#ifndef VYRE_OPT_REPORT_H
#define VYRE_OPT_REPORT_H

#include <vyre/opt.h>

#include "base/vector.h"
#include "opt/pass.h"

struct vyre_opt_report {
  vyre_opt_summary summary;
  vyre_error error; /* what |summary.text| is taken from */
  vyre_opt_pass_report passes[OPT_MAX_PASSES];
  uint32_t pass_count;
  VYRE_VECTOR(vyre_opt_note) notes;
};

/* Takes over |text|, which came from malloc. False without memory. */
bool opt_report_text(vyre_opt_report *report, const char *pass, uint32_t round, char *text);

#endif
