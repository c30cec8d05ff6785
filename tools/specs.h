/* Values of parameters that are compiled in. */
#ifndef VYRE_TOOLS_SPECS_H
#define VYRE_TOOLS_SPECS_H

#include <vyre/device.h>

#include "options.h"

/* Those of --spec, which live as long as the program. Gives an exit status; it has been said then. Free *out in any
 * case. */
int specs_read(const char *command, const parsed_options *o, const vyre_program *program, vyre_arg **out,
               uint32_t *count);

#endif
