/* Comparison of results. */
#ifndef VYRE_TOOLS_COMPARE_H
#define VYRE_TOOLS_COMPARE_H

#include "data.h"

/* Whether two results of a buffer are the same, bit by bit, but that a NaN equals any NaN. If not, names the first
 * difference. */
bool compare_data(const char *buffer, const char *name, const data *found, const char *oracle_name, const data *wanted);

#endif
